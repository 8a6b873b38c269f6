# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/engine/amo.c \
	prov/util/engine/aside.c \
	prov/util/engine/aside.h \
	prov/util/engine/atomic.c \
	prov/util/engine/atomic.h \
	prov/util/engine/cm.c \
	prov/util/engine/cross.h \
	prov/util/engine/engine.h \
	prov/util/engine/ep.c \
	prov/util/engine/ep.h \
	prov/util/engine/fabric.c \
	prov/util/engine/flow.c \
	prov/util/engine/flow.h \
	prov/util/engine/grp.c \
	prov/util/engine/grp.h \
	prov/util/engine/ids.c \
	prov/util/engine/ids.h \
	prov/util/engine/inbox.c \
	prov/util/engine/inbox.h \
	prov/util/engine/lent.c \
	prov/util/engine/lent.h \
	prov/util/engine/link.h \
	prov/util/engine/match.c \
	prov/util/engine/match.h \
	prov/util/engine/minifloat.h \
	prov/util/engine/mrecv.c \
	prov/util/engine/near.c \
	prov/util/engine/near.h \
	prov/util/engine/note.c \
	prov/util/engine/note.h \
	prov/util/engine/offer.c \
	prov/util/engine/offer.h \
	prov/util/engine/packet.c \
	prov/util/engine/packet.h \
	prov/util/engine/peek.c \
	prov/util/engine/peer.c \
	prov/util/engine/peer.h \
	prov/util/engine/pep.c \
	prov/util/engine/pump.c \
	prov/util/engine/pump.h \
	prov/util/engine/recv.c \
	prov/util/engine/recv.h \
	prov/util/engine/recv_life.c \
	prov/util/engine/rma.c \
	prov/util/engine/send.c \
	prov/util/engine/sep.c \
	prov/util/engine/serve.c \
	prov/util/engine/serve.h \
	prov/util/engine/serve_amo.c \
	prov/util/engine/sink.c \
	prov/util/engine/srx.c \
	prov/util/engine/sink.h \
	prov/util/engine/timer.h \
	prov/util/engine/trig.c \
	prov/util/engine/trig.h \
	prov/util/engine/tx.c \
	prov/util/engine/tx.h \
	prov/util/engine/unexp.c \
	prov/util/engine/wire.c \
	prov/util/engine/wire.h

engine_test_libs = prov/util/libutil.la src/base/libbase.la $(CMOCKA_LIBS)
engine_tests = \
	prov/util/engine/atomic_test \
	prov/util/engine/cm_test \
	prov/util/engine/comp_test \
	prov/util/engine/ids_test \
	prov/util/engine/loss_test \
	prov/util/engine/match_test \
	prov/util/engine/mix_test \
	prov/util/engine/model_test \
	prov/util/engine/mrecv_test \
	prov/util/engine/owner_test \
	prov/util/engine/recv_test \
	prov/util/engine/rma_test \
	prov/util/engine/send_test \
	prov/util/engine/sep_test \
	prov/util/engine/srx_test \
	prov/util/engine/trig_test \
	prov/util/engine/wire_test

if HAVE_CMOCKA
check_PROGRAMS += $(engine_tests)
TESTS += $(engine_tests)
prov_util_engine_atomic_test_SOURCES = prov/util/engine/atomic_test.c
prov_util_engine_atomic_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_atomic_test_LDADD = $(engine_test_libs)
prov_util_engine_ids_test_SOURCES = prov/util/engine/ids_test.c
prov_util_engine_ids_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_ids_test_LDADD = $(engine_test_libs)
prov_util_engine_match_test_SOURCES = prov/util/engine/match_test.c
prov_util_engine_match_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_match_test_LDADD = $(engine_test_libs)
prov_util_engine_wire_test_SOURCES = prov/util/engine/wire_test.c prov/util/engine/wire_check.h
prov_util_engine_wire_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_wire_test_LDADD = $(engine_test_libs)

# Endpoints on a simulated network.  Allocations of pools can be made to fail.
check_LTLIBRARIES += prov/util/engine/libsim.la
prov_util_engine_libsim_la_SOURCES = \
	prov/util/engine/sim_cm.c \
	prov/util/engine/sim_conn.c prov/util/engine/sim_conn.h \
	prov/util/engine/sim_link.c prov/util/engine/sim_link.h \
	prov/util/engine/sim_prov.c \
	prov/util/engine/sim_world.c prov/util/engine/sim_world.h
prov_util_engine_libsim_la_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
engine_sim_libs = $(engine_test_libs) src/libfabric.la
engine_sim_ldflags = -Wl,--wrap=posix_memalign
engine_world_libs = prov/util/engine/libsim.la $(engine_sim_libs)
prov_util_engine_cm_test_SOURCES = prov/util/engine/cm_test.c
prov_util_engine_cm_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_cm_test_LDADD = $(engine_world_libs)
prov_util_engine_cm_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_comp_test_SOURCES = prov/util/engine/comp_test.c prov/util/engine/engine_case.h
prov_util_engine_comp_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_comp_test_LDADD = $(engine_world_libs)
prov_util_engine_comp_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_loss_test_SOURCES = prov/util/engine/loss_test.c prov/util/engine/engine_case.h
prov_util_engine_loss_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_loss_test_LDADD = $(engine_world_libs)
prov_util_engine_loss_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_mix_test_SOURCES = prov/util/engine/mix_test.c
prov_util_engine_mix_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_mix_test_LDADD = $(engine_world_libs)
prov_util_engine_mix_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_model_test_SOURCES = prov/util/engine/model_test.c
prov_util_engine_model_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_model_test_LDADD = $(engine_world_libs)
prov_util_engine_model_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_mrecv_test_SOURCES = prov/util/engine/mrecv_test.c prov/util/engine/engine_case.h
prov_util_engine_mrecv_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_mrecv_test_LDADD = $(engine_world_libs)
prov_util_engine_mrecv_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_owner_test_SOURCES = prov/util/engine/owner_test.c
prov_util_engine_owner_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_owner_test_LDADD = $(engine_world_libs)
prov_util_engine_owner_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_recv_test_SOURCES = prov/util/engine/recv_test.c prov/util/engine/engine_case.h
prov_util_engine_recv_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_recv_test_LDADD = $(engine_world_libs)
prov_util_engine_recv_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_rma_test_SOURCES = prov/util/engine/rma_test.c
prov_util_engine_rma_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_rma_test_LDADD = $(engine_world_libs)
prov_util_engine_rma_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_send_test_SOURCES = prov/util/engine/send_test.c prov/util/engine/engine_case.h
prov_util_engine_send_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_send_test_LDADD = $(engine_world_libs)
prov_util_engine_send_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_sep_test_SOURCES = prov/util/engine/sep_test.c
prov_util_engine_sep_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sep_test_LDADD = $(engine_world_libs)
prov_util_engine_sep_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_srx_test_SOURCES = prov/util/engine/srx_test.c
prov_util_engine_srx_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_srx_test_LDADD = $(engine_world_libs)
prov_util_engine_srx_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_trig_test_SOURCES = prov/util/engine/trig_test.c
prov_util_engine_trig_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_trig_test_LDADD = $(engine_world_libs)
prov_util_engine_trig_test_LDFLAGS = $(engine_sim_ldflags)
endif

# The fuzzer needs clang; build it with "make fuzz_wire CC=clang".
EXTRA_PROGRAMS += prov/util/engine/fuzz_wire
prov_util_engine_fuzz_wire_SOURCES = prov/util/engine/fuzz_wire.c prov/util/engine/wire_check.h \
	prov/util/engine/wire.c
prov_util_engine_fuzz_wire_CFLAGS = $(AM_CFLAGS) -fsanitize=fuzzer,address
EXTRA_DIST += prov/util/engine/README.md
