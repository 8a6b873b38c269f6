# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/obj/auto.c \
	prov/util/obj/auto.h \
	prov/util/obj/av.c \
	prov/util/obj/av.h \
	prov/util/obj/av_range.c \
	prov/util/obj/av_set.c \
	prov/util/obj/av_shared.c \
	prov/util/obj/av_shared.h \
	prov/util/obj/av_table.c \
	prov/util/obj/av_table.h \
	prov/util/obj/av_user.c \
	prov/util/obj/av_user.h \
	prov/util/obj/cntr.c \
	prov/util/obj/cntr.h \
	prov/util/obj/cq.c \
	prov/util/obj/cq.h \
	prov/util/obj/domain.c \
	prov/util/obj/domain.h \
	prov/util/obj/ep.c \
	prov/util/obj/ep.h \
	prov/util/obj/ep_bind.c \
	prov/util/obj/ep_ctl.c \
	prov/util/obj/eq.c \
	prov/util/obj/eq.h \
	prov/util/obj/fabric.c \
	prov/util/obj/fabric.h \
	prov/util/obj/lease.c \
	prov/util/obj/lease.h \
	prov/util/obj/mr.c \
	prov/util/obj/mr.h \
	prov/util/obj/ops.c \
	prov/util/obj/ops.h \
	prov/util/obj/pep.c \
	prov/util/obj/pep.h \
	prov/util/obj/poll.c \
	prov/util/obj/poll.h \
	prov/util/obj/poller.c \
	prov/util/obj/prog.c \
	prov/util/obj/prog.h \
	prov/util/obj/ref.c \
	prov/util/obj/ref.h \
	prov/util/obj/stx.c \
	prov/util/obj/wait.c \
	prov/util/obj/wait.h \
	prov/util/obj/waitset.c \
	prov/util/obj/waitset.h

EXTRA_DIST += prov/util/obj/README.md

# The objects under test, and the library for what they call in the core.
obj_test_libs = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
obj_test_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
obj_fake = prov/util/obj/fake.c prov/util/obj/fake.h prov/util/obj/slow.h
obj_tests = \
	prov/util/obj/auto_test \
	prov/util/obj/av_test \
	prov/util/obj/cntr_test \
	prov/util/obj/cq_test \
	prov/util/obj/ep_test \
	prov/util/obj/eq_test \
	prov/util/obj/mr_test \
	prov/util/obj/ops_test \
	prov/util/obj/poll_test \
	prov/util/obj/prog_test \
	prov/util/obj/wait_test

if HAVE_CMOCKA
check_PROGRAMS += $(obj_tests)
TESTS += $(obj_tests)
prov_util_obj_auto_test_SOURCES = prov/util/obj/auto_test.c $(obj_fake)
prov_util_obj_auto_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_auto_test_LDADD = $(obj_test_libs)
prov_util_obj_av_test_SOURCES = prov/util/obj/av_test.c
prov_util_obj_av_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_av_test_LDADD = $(obj_test_libs)
prov_util_obj_cntr_test_SOURCES = prov/util/obj/cntr_test.c $(obj_fake)
prov_util_obj_cntr_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_cntr_test_LDADD = $(obj_test_libs)
prov_util_obj_cq_test_SOURCES = prov/util/obj/cq_test.c $(obj_fake)
prov_util_obj_cq_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_cq_test_LDADD = $(obj_test_libs)
prov_util_obj_ep_test_SOURCES = prov/util/obj/ep_test.c $(obj_fake)
prov_util_obj_ep_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_ep_test_LDADD = $(obj_test_libs)
prov_util_obj_eq_test_SOURCES = prov/util/obj/eq_test.c $(obj_fake)
prov_util_obj_eq_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_eq_test_LDADD = $(obj_test_libs)
prov_util_obj_mr_test_SOURCES = prov/util/obj/mr_test.c
prov_util_obj_mr_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_mr_test_LDADD = $(obj_test_libs)
prov_util_obj_ops_test_SOURCES = prov/util/obj/ops_test.c $(obj_fake)
prov_util_obj_ops_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_ops_test_LDADD = $(obj_test_libs)
prov_util_obj_poll_test_SOURCES = prov/util/obj/poll_test.c $(obj_fake)
prov_util_obj_poll_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_poll_test_LDADD = $(obj_test_libs)
prov_util_obj_prog_test_SOURCES = prov/util/obj/prog_test.c $(obj_fake)
prov_util_obj_prog_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_prog_test_LDADD = $(obj_test_libs)
prov_util_obj_wait_test_SOURCES = prov/util/obj/wait_test.c $(obj_fake)
prov_util_obj_wait_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_wait_test_LDADD = $(obj_test_libs)
endif
