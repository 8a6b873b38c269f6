# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/progress/fdset.h

if PORTABLE_POLL
prov_util_libutil_la_SOURCES += prov/util/progress/fdset_poll.c
else
prov_util_libutil_la_SOURCES += prov/util/progress/fdset.c
endif

EXTRA_DIST += prov/util/progress/README.md

progress_tests = prov/util/progress/fdset_test

if HAVE_CMOCKA
check_PROGRAMS += $(progress_tests)
TESTS += $(progress_tests)
prov_util_progress_fdset_test_CFLAGS = $(obj_test_cflags)
prov_util_progress_fdset_test_LDADD = $(obj_test_libs)
endif
