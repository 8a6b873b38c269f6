# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/progress/asked.h \
	prov/util/progress/conf.c \
	prov/util/progress/conf.h \
	prov/util/progress/fdset.h \
	prov/util/progress/group.c \
	prov/util/progress/group.h \
	prov/util/progress/policy.c \
	prov/util/progress/policy.h \
	prov/util/progress/poller.c \
	prov/util/progress/sleep.c \
	prov/util/progress/thread.c \
	prov/util/progress/thread.h \
	prov/util/progress/wait.c \
	prov/util/progress/wait.h \
	prov/util/progress/wake.h \
	prov/util/progress/waker.c

if PORTABLE
prov_util_libutil_la_SOURCES += prov/util/progress/fdset_poll.c
else
prov_util_libutil_la_SOURCES += prov/util/progress/fdset.c
endif

EXTRA_DIST += prov/util/progress/README.md

progress_tests = prov/util/progress/fdset_test prov/util/progress/group_test prov/util/progress/policy_test \
	prov/util/progress/thread_test prov/util/progress/wake_test

if HAVE_CMOCKA
check_PROGRAMS += $(progress_tests)
TESTS += $(progress_tests)
prov_util_progress_fdset_test_CFLAGS = $(obj_test_cflags)
prov_util_progress_fdset_test_LDADD = $(obj_test_libs)
prov_util_progress_group_test_SOURCES = prov/util/progress/group_test.c $(obj_fake)
prov_util_progress_group_test_CFLAGS = $(obj_test_cflags)
prov_util_progress_group_test_LDADD = $(obj_test_libs)
prov_util_progress_policy_test_CFLAGS = $(obj_test_cflags)
prov_util_progress_policy_test_LDADD = $(obj_test_libs)
prov_util_progress_thread_test_SOURCES = prov/util/progress/thread_test.c $(obj_fake)
prov_util_progress_thread_test_CFLAGS = $(obj_test_cflags)
prov_util_progress_thread_test_LDADD = $(obj_test_libs)
prov_util_progress_wake_test_CFLAGS = $(obj_test_cflags)
prov_util_progress_wake_test_LDADD = $(obj_test_libs)
endif
