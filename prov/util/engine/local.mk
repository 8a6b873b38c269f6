# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/engine/rma/amo.c \
	prov/util/engine/msg/oob.c \
	prov/util/engine/msg/cancel.c \
	prov/util/engine/oob.h \
	prov/util/engine/rma/atomic.c \
	prov/util/engine/rma/element.h \
	prov/util/engine/atomic.h \
	prov/util/engine/dev.h \
	prov/util/engine/hmem/calls.c \
	prov/util/engine/hmem/chunk.c \
	prov/util/engine/hmem/in.c \
	prov/util/engine/hmem/out.c \
	prov/util/engine/hmem/share.c \
	prov/util/engine/conn/cm.c \
	prov/util/engine/api.h \
	prov/util/engine/conn/ep.c \
	prov/util/engine/ep.h \
	prov/util/engine/conn/fabric.c \
	prov/util/engine/msg/flow.c \
	prov/util/engine/msg/format.c \
	prov/util/engine/flow.h \
	prov/util/engine/conn/grp.c \
	prov/util/engine/grp.h \
	prov/util/engine/conn/ids.c \
	prov/util/engine/ids.h \
	prov/util/engine/conn/inbox.c \
	prov/util/engine/inbox.h \
	prov/util/engine/msg/imported.c \
	prov/util/engine/imported.h \
	prov/util/engine/link.h \
	prov/util/engine/msg/match.c \
	prov/util/engine/match.h \
	prov/util/engine/minifloat.h \
	prov/util/engine/msg/multi_recv.c \
	prov/util/engine/msg/ctl.c \
	prov/util/engine/ctl.h \
	prov/util/engine/conn/offer.c \
	prov/util/engine/offer.h \
	prov/util/engine/msg/packet.c \
	prov/util/engine/packet.h \
	prov/util/engine/msg/peek.c \
	prov/util/engine/conn/peer.c \
	prov/util/engine/conn/query.c \
	prov/util/engine/query.h \
	prov/util/engine/peer.h \
	prov/util/engine/conn/pep.c \
	prov/util/engine/rma/pump.c \
	prov/util/engine/pump.h \
	prov/util/engine/msg/recv.c \
	prov/util/engine/recv.h \
	prov/util/engine/msg/recv_life.c \
	prov/util/engine/rma/calls.c \
	prov/util/engine/msg/send.c \
	prov/util/engine/conn/sep.c \
	prov/util/engine/rma/serve.c \
	prov/util/engine/serve.h \
	prov/util/engine/rma/serve_amo.c \
	prov/util/engine/rma/serve_share.c \
	prov/util/engine/rma/sink.c \
	prov/util/engine/msg/srx.c \
	prov/util/engine/sink.h \
	prov/util/engine/msg/trig.c \
	prov/util/engine/trig.h \
	prov/util/engine/msg/tx.c \
	prov/util/engine/tx.h \
	prov/util/engine/msg/unexp.c \
	prov/util/engine/conn/profile.c \
	prov/util/engine/conn/seen.c \
	prov/util/engine/seen.h \
	prov/util/engine/msg/wire.c \
	prov/util/engine/wire.h

engine_test_libs = prov/util/libutil.la src/base/libbase.la $(CMOCKA_LIBS)
engine_tests = \
	prov/util/engine/rma/atomic_test \
	prov/util/engine/conn/cm_test \
	prov/util/engine/sim/comp_test \
	prov/util/engine/sim/flood_test \
	prov/util/engine/sim/wrap_test \
	prov/util/engine/hmem/dev_test \
	prov/util/engine/hmem/fail_test \
	prov/util/engine/conn/ids_test \
	prov/util/engine/conn/inbox_test \
	prov/util/engine/conn/peer_test \
	prov/util/engine/msg/cancel_test \
	prov/util/engine/msg/flow_test \
	prov/util/engine/msg/format_test \
	prov/util/engine/sim/loss_test \
	prov/util/engine/msg/match_test \
	prov/util/engine/sim/mix_test \
	prov/util/engine/sim/mix_ids_test \
	prov/util/engine/sim/model_test \
	prov/util/engine/sim/model_ids_test \
	prov/util/engine/msg/multi_recv_test \
	prov/util/engine/sim/owner_test \
	prov/util/engine/sim/revoke_test \
	prov/util/engine/msg/oob_test \
	prov/util/engine/conn/query_test \
	prov/util/engine/msg/packet_test \
	prov/util/engine/msg/peek_test \
	prov/util/engine/msg/recv_test \
	prov/util/engine/msg/recv_life_test \
	prov/util/engine/rma/calls_test \
	prov/util/engine/rma/refuse_test \
	prov/util/engine/msg/send_test \
	prov/util/engine/conn/sep_test \
	prov/util/engine/msg/srx_test \
	prov/util/engine/msg/trig_test \
	prov/util/engine/msg/tx_test \
	prov/util/engine/msg/unexp_test \
	prov/util/engine/msg/wire_test \
	prov/util/engine/rma/pump_test \
	prov/util/engine/rma/serve_test \
	prov/util/engine/rma/sink_test

if HAVE_CMOCKA
check_PROGRAMS += $(engine_tests)
TESTS += $(engine_tests)
prov_util_engine_rma_atomic_test_SOURCES = prov/util/engine/rma/atomic_test.c
prov_util_engine_rma_atomic_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_rma_atomic_test_LDADD = $(engine_test_libs)
prov_util_engine_conn_ids_test_SOURCES = prov/util/engine/conn/ids_test.c
prov_util_engine_conn_ids_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_conn_ids_test_LDADD = $(engine_test_libs)
prov_util_engine_msg_match_test_SOURCES = prov/util/engine/msg/match_test.c
prov_util_engine_msg_match_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_match_test_LDADD = $(engine_test_libs)
prov_util_engine_msg_wire_test_SOURCES = prov/util/engine/msg/wire_test.c prov/util/engine/sim/wire_check.h
prov_util_engine_msg_wire_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_wire_test_LDADD = $(engine_test_libs)

# Endpoints on a simulated network.  Allocations of pools can be made to fail.
check_LTLIBRARIES += prov/util/engine/sim/libsim.la
prov_util_engine_sim_libsim_la_SOURCES = \
	prov/util/engine/sim/cm.c \
	prov/util/engine/sim/conn.c prov/util/engine/sim/conn.h \
	prov/util/engine/sim/link.c prov/util/engine/sim/link.h \
	prov/util/engine/sim/prov.c \
	prov/util/engine/sim/world.c prov/util/engine/sim/world.h
prov_util_engine_sim_libsim_la_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
engine_sim_libs = $(engine_test_libs) src/libfabric.la
engine_sim_ldflags = -Wl,--wrap=posix_memalign
engine_world_libs = prov/util/engine/sim/libsim.la $(engine_sim_libs)
prov_util_engine_conn_inbox_test_SOURCES = prov/util/engine/conn/inbox_test.c
prov_util_engine_conn_inbox_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_conn_inbox_test_LDADD = $(engine_sim_libs)
prov_util_engine_conn_cm_test_SOURCES = prov/util/engine/conn/cm_test.c
prov_util_engine_conn_cm_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_conn_cm_test_LDADD = $(engine_world_libs)
prov_util_engine_conn_cm_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_sim_comp_test_SOURCES = prov/util/engine/sim/comp_test.c prov/util/engine/sim/case.h
prov_util_engine_sim_comp_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_comp_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_comp_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_hmem_dev_test_SOURCES = prov/util/engine/hmem/dev_test.c \
	prov/util/engine/hmem/test/dev.h tests/fakegpu/use.h fabtests/common/device.c fabtests/common/device.h
prov_util_engine_hmem_dev_test_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
prov_util_engine_hmem_dev_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_hmem_dev_test_LDADD = $(engine_world_libs)
prov_util_engine_hmem_dev_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_hmem_dev_test_DEPENDENCIES = $(engine_world_libs) $(fakegpu_libs)
prov_util_engine_hmem_fail_test_SOURCES = prov/util/engine/hmem/fail_test.c \
	prov/util/engine/hmem/test/dev.h tests/fakegpu/use.h fabtests/common/device.c fabtests/common/device.h
prov_util_engine_hmem_fail_test_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
prov_util_engine_hmem_fail_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_hmem_fail_test_LDADD = $(engine_world_libs)
prov_util_engine_hmem_fail_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_hmem_fail_test_DEPENDENCIES = $(engine_world_libs) $(fakegpu_libs)
prov_util_engine_sim_flood_test_SOURCES = prov/util/engine/sim/flood_test.c prov/util/engine/sim/case.h
prov_util_engine_sim_flood_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_flood_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_flood_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_sim_wrap_test_SOURCES = prov/util/engine/sim/wrap_test.c prov/util/engine/sim/case.h
prov_util_engine_sim_wrap_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_wrap_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_wrap_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_sim_loss_test_SOURCES = prov/util/engine/sim/loss_test.c prov/util/engine/sim/case.h
prov_util_engine_sim_loss_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_loss_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_loss_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_sim_mix_test_SOURCES = prov/util/engine/sim/mix_test.c
prov_util_engine_sim_mix_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_mix_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_mix_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_sim_model_test_SOURCES = prov/util/engine/sim/model_test.c
prov_util_engine_sim_model_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_model_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_model_test_LDFLAGS = $(engine_sim_ldflags)
# The same with ids that are soon used again.
engine_small_ids_ldflags = $(engine_sim_ldflags) -Wl,--wrap=ids_put
prov_util_engine_sim_mix_ids_test_SOURCES = prov/util/engine/sim/mix_test.c prov/util/engine/sim/small_ids.c
prov_util_engine_sim_mix_ids_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_mix_ids_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_mix_ids_test_LDFLAGS = $(engine_small_ids_ldflags)
prov_util_engine_sim_model_ids_test_SOURCES = prov/util/engine/sim/model_test.c prov/util/engine/sim/small_ids.c
prov_util_engine_sim_model_ids_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_model_ids_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_model_ids_test_LDFLAGS = $(engine_small_ids_ldflags)
prov_util_engine_msg_multi_recv_test_SOURCES = prov/util/engine/msg/multi_recv_test.c prov/util/engine/sim/case.h
prov_util_engine_msg_multi_recv_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_multi_recv_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_multi_recv_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_sim_owner_test_SOURCES = prov/util/engine/sim/owner_test.c
prov_util_engine_sim_owner_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_owner_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_owner_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_recv_test_SOURCES = prov/util/engine/msg/recv_test.c prov/util/engine/sim/case.h
prov_util_engine_msg_recv_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_recv_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_recv_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_rma_calls_test_SOURCES = prov/util/engine/rma/calls_test.c
prov_util_engine_rma_calls_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_rma_calls_test_LDADD = $(engine_world_libs)
prov_util_engine_rma_calls_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_rma_refuse_test_SOURCES = prov/util/engine/rma/refuse_test.c prov/util/engine/sim/case.h
prov_util_engine_rma_refuse_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_rma_refuse_test_LDADD = $(engine_world_libs)
prov_util_engine_rma_refuse_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_sim_revoke_test_SOURCES = prov/util/engine/sim/revoke_test.c prov/util/engine/sim/case.h
prov_util_engine_sim_revoke_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_sim_revoke_test_LDADD = $(engine_world_libs)
prov_util_engine_sim_revoke_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_send_test_SOURCES = prov/util/engine/msg/send_test.c prov/util/engine/sim/case.h
prov_util_engine_msg_send_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_send_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_send_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_conn_sep_test_SOURCES = prov/util/engine/conn/sep_test.c
prov_util_engine_conn_sep_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_conn_sep_test_LDADD = $(engine_world_libs)
prov_util_engine_conn_sep_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_srx_test_SOURCES = prov/util/engine/msg/srx_test.c
prov_util_engine_msg_srx_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_srx_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_srx_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_trig_test_SOURCES = prov/util/engine/msg/trig_test.c
prov_util_engine_msg_trig_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_trig_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_trig_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_conn_peer_test_SOURCES = prov/util/engine/conn/peer_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_conn_peer_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_conn_peer_test_LDADD = $(engine_world_libs)
prov_util_engine_conn_peer_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_format_test_SOURCES = prov/util/engine/msg/format_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_msg_format_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_format_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_format_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_flow_test_SOURCES = prov/util/engine/msg/flow_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_msg_flow_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_flow_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_flow_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_packet_test_SOURCES = prov/util/engine/msg/packet_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_msg_packet_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_packet_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_packet_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_cancel_test_SOURCES = prov/util/engine/msg/cancel_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_msg_cancel_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_cancel_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_cancel_test_LDFLAGS = $(engine_sim_ldflags) -Wl,--wrap=clock_gettime
prov_util_engine_conn_query_test_SOURCES = prov/util/engine/conn/query_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_conn_query_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_conn_query_test_LDADD = $(engine_world_libs)
prov_util_engine_conn_query_test_LDFLAGS = $(engine_sim_ldflags)

prov_util_engine_msg_oob_test_SOURCES = prov/util/engine/msg/oob_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_msg_oob_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_oob_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_oob_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_peek_test_SOURCES = prov/util/engine/msg/peek_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_msg_peek_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_peek_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_peek_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_recv_life_test_SOURCES = prov/util/engine/msg/recv_life_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_msg_recv_life_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_recv_life_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_recv_life_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_tx_test_SOURCES = prov/util/engine/msg/tx_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_msg_tx_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_tx_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_tx_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_msg_unexp_test_SOURCES = prov/util/engine/msg/unexp_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_msg_unexp_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_msg_unexp_test_LDADD = $(engine_world_libs)
prov_util_engine_msg_unexp_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_rma_pump_test_SOURCES = prov/util/engine/rma/pump_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_rma_pump_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_rma_pump_test_LDADD = $(engine_world_libs)
prov_util_engine_rma_pump_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_rma_serve_test_SOURCES = prov/util/engine/rma/serve_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_rma_serve_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_rma_serve_test_LDADD = $(engine_world_libs)
prov_util_engine_rma_serve_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_engine_rma_sink_test_SOURCES = prov/util/engine/rma/sink_test.c prov/util/engine/sim/case.h prov/util/engine/sim/tap.h
prov_util_engine_rma_sink_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_rma_sink_test_LDADD = $(engine_world_libs)
prov_util_engine_rma_sink_test_LDFLAGS = $(engine_sim_ldflags)
endif

# The fuzzer needs clang; build it with "make fuzz_wire CC=clang".
EXTRA_PROGRAMS += prov/util/engine/sim/fuzz_wire
prov_util_engine_sim_fuzz_wire_SOURCES = prov/util/engine/sim/fuzz_wire.c prov/util/engine/sim/wire_check.h \
	prov/util/engine/msg/wire.c
prov_util_engine_sim_fuzz_wire_CFLAGS = $(AM_CFLAGS) -fsanitize=fuzzer,address
EXTRA_DIST += prov/util/engine/README.md
