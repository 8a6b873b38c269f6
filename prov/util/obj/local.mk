# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/obj/addr/av.c \
	prov/util/obj/av.h \
	prov/util/obj/addr/av_key.c \
	prov/util/obj/av_key.h \
	prov/util/obj/addr/av_range.c \
	prov/util/obj/addr/av_set.c \
	prov/util/obj/addr/av_shared.c \
	prov/util/obj/av_shared.h \
	prov/util/obj/addr/av_table.c \
	prov/util/obj/av_table.h \
	prov/util/obj/addr/av_user.c \
	prov/util/obj/av_user.h \
	prov/util/obj/endpoint/by_msg.c \
	prov/util/obj/endpoint/by_msg.h \
	prov/util/obj/endpoint/cm.c \
	prov/util/obj/cm.h \
	prov/util/obj/event/cntr.c \
	prov/util/obj/cntr.h \
	prov/util/obj/event/cq.c \
	prov/util/obj/event/cq_ring.h \
	prov/util/obj/event/cq_write.c \
	prov/util/obj/cq.h \
	prov/util/obj/domain.c \
	prov/util/obj/domain.h \
	prov/util/obj/endpoint/ep.c \
	prov/util/obj/ep.h \
	prov/util/obj/endpoint/ep_bind.c \
	prov/util/obj/endpoint/ep_ctl.c \
	prov/util/obj/event/eq.c \
	prov/util/obj/eq.h \
	prov/util/obj/fabric.c \
	prov/util/obj/fabric.h \
	prov/util/obj/inspect/listener.c \
	prov/util/obj/inspect/listener.h \
	prov/util/obj/inspect/rank.h \
	prov/util/obj/inspect/record.h \
	prov/util/obj/inspect/server.c \
	prov/util/obj/inspect/server.h \
	prov/util/obj/inspect/shown.c \
	prov/util/obj/inspect/shown.h \
	prov/util/obj/inspect/user.h \
	prov/util/obj/lease.c \
	prov/util/obj/lease.h \
	prov/util/obj/log.c \
	prov/util/obj/log.h \
	prov/util/obj/mr.c \
	prov/util/obj/mr_key.c \
	prov/util/obj/memory/copy.c \
	prov/util/obj/memory/share.c \
	prov/util/obj/mr.h \
	prov/util/obj/ops.c \
	prov/util/obj/ops.h \
	prov/util/obj/endpoint/pep.c \
	prov/util/obj/pep.h \
	prov/util/obj/event/poll.c \
	prov/util/obj/poll.h \
	prov/util/obj/ref.c \
	prov/util/obj/ref.h \
	prov/util/obj/endpoint/security.c \
	prov/util/obj/endpoint/stx.c \
	prov/util/obj/event/waitset.c \
	prov/util/obj/waitset.h

noinst_HEADERS += prov/util/obj/test/av_make.h prov/util/obj/test/calls.h prov/util/obj/test/log_catch.h \
	prov/util/obj/test/waits.h
EXTRA_DIST += prov/util/obj/README.md

# The objects under test, and the library for what they call in the core.
obj_test_libs = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
obj_test_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
obj_fake = prov/util/obj/test/fake.c prov/util/obj/test/fake.h prov/util/obj/test/slow.h
obj_tests = \
	prov/util/obj/addr/av_shared_test \
	prov/util/obj/addr/av_test \
	prov/util/obj/endpoint/cm_test \
	prov/util/obj/event/cntr_test \
	prov/util/obj/event/cq_read_test \
	prov/util/obj/event/cq_test \
	prov/util/obj/endpoint/by_msg_test \
	prov/util/obj/endpoint/ep_test \
	prov/util/obj/event/eq_test \
	prov/util/obj/log_test \
	prov/util/obj/inspect/shown_test prov/util/obj/lease_test \
	prov/util/obj/fabric_test \
	prov/util/obj/mr_test \
	prov/util/obj/ops_test \
	prov/util/obj/event/poll_test \
	prov/util/obj/ref_test \
	prov/util/obj/event/wait_test \
	prov/util/obj/event/waiters_test \
	prov/util/obj/event/waitset_test

if HAVE_CMOCKA
check_PROGRAMS += $(obj_tests)
TESTS += $(obj_tests)
prov_util_obj_addr_av_shared_test_SOURCES = prov/util/obj/addr/av_shared_test.c
prov_util_obj_addr_av_shared_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_addr_av_shared_test_LDADD = $(obj_test_libs)
prov_util_obj_addr_av_test_SOURCES = prov/util/obj/addr/av_test.c
prov_util_obj_addr_av_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_addr_av_test_LDADD = $(obj_test_libs)
prov_util_obj_endpoint_cm_test_SOURCES = prov/util/obj/endpoint/cm_test.c $(obj_fake)
prov_util_obj_endpoint_cm_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_endpoint_cm_test_LDADD = $(obj_test_libs)
prov_util_obj_event_cntr_test_SOURCES = prov/util/obj/event/cntr_test.c $(obj_fake)
prov_util_obj_event_cntr_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_event_cntr_test_LDADD = $(obj_test_libs)
prov_util_obj_event_cq_read_test_SOURCES = prov/util/obj/event/cq_read_test.c $(obj_fake)
prov_util_obj_event_cq_read_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_event_cq_read_test_LDADD = $(obj_test_libs)
prov_util_obj_event_cq_test_SOURCES = prov/util/obj/event/cq_test.c $(obj_fake)
prov_util_obj_event_cq_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_event_cq_test_LDADD = $(obj_test_libs)
prov_util_obj_endpoint_by_msg_test_SOURCES = prov/util/obj/endpoint/by_msg_test.c $(obj_fake)
prov_util_obj_endpoint_by_msg_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_endpoint_by_msg_test_LDADD = $(obj_test_libs)
prov_util_obj_endpoint_ep_test_SOURCES = prov/util/obj/endpoint/ep_test.c $(obj_fake)
prov_util_obj_endpoint_ep_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_endpoint_ep_test_LDADD = $(obj_test_libs)
prov_util_obj_event_eq_test_SOURCES = prov/util/obj/event/eq_test.c $(obj_fake)
prov_util_obj_event_eq_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_event_eq_test_LDADD = $(obj_test_libs)
prov_util_obj_log_test_SOURCES = prov/util/obj/log_test.c prov/util/obj/log.c
prov_util_obj_log_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_obj_log_test_LDADD = $(CMOCKA_LIBS)
prov_util_obj_inspect_shown_test_SOURCES = prov/util/obj/inspect/shown_test.c
prov_util_obj_inspect_shown_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_inspect_shown_test_LDADD = $(obj_test_libs)
prov_util_obj_lease_test_SOURCES = prov/util/obj/lease_test.c
prov_util_obj_lease_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_lease_test_LDADD = $(obj_test_libs)
prov_util_obj_fabric_test_SOURCES = prov/util/obj/fabric_test.c
prov_util_obj_fabric_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_fabric_test_LDADD = $(obj_test_libs)
prov_util_obj_mr_test_SOURCES = prov/util/obj/mr_test.c
prov_util_obj_mr_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_mr_test_LDADD = $(obj_test_libs)
prov_util_obj_ops_test_SOURCES = prov/util/obj/ops_test.c $(obj_fake)
prov_util_obj_ops_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_ops_test_LDADD = $(obj_test_libs)
prov_util_obj_event_poll_test_SOURCES = prov/util/obj/event/poll_test.c $(obj_fake)
prov_util_obj_event_poll_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_event_poll_test_LDADD = $(obj_test_libs)
prov_util_obj_ref_test_SOURCES = prov/util/obj/ref_test.c prov/util/obj/ref.c
prov_util_obj_ref_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_obj_ref_test_LDADD = $(CMOCKA_LIBS)
prov_util_obj_event_wait_test_SOURCES = prov/util/obj/event/wait_test.c $(obj_fake)
prov_util_obj_event_wait_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_event_wait_test_LDADD = $(obj_test_libs)
prov_util_obj_event_waiters_test_SOURCES = prov/util/obj/event/waiters_test.c $(obj_fake)
prov_util_obj_event_waiters_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_event_waiters_test_LDADD = $(obj_test_libs)
prov_util_obj_event_waitset_test_SOURCES = prov/util/obj/event/waitset_test.c $(obj_fake)
prov_util_obj_event_waitset_test_CFLAGS = $(obj_test_cflags)
prov_util_obj_event_waitset_test_LDADD = $(obj_test_libs)
endif
