# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/rxd/configure.m4 prov/rxd/README.md

# State alone: no I/O, no clock.
rxd_pure_sources = \
	prov/rxd/recovery/bbr.c \
	prov/rxd/recovery/bbr.h \
	prov/rxd/recovery/cc.c \
	prov/rxd/recovery/cc.h \
	prov/rxd/cookie.c \
	prov/rxd/cookie.h \
	prov/rxd/recovery/ecn.c \
	prov/rxd/recovery/ecn.h \
	prov/rxd/recovery/loss.c \
	prov/rxd/recovery/loss.h \
	prov/rxd/recovery/mtu.c \
	prov/rxd/recovery/mtu.h \
	prov/rxd/recovery/ranges.c \
	prov/rxd/recovery/ranges.h \
	prov/rxd/recovery/rtt.h \
	prov/rxd/addresses/list.h \
	prov/rxd/addresses/packet.c \
	prov/rxd/addresses/wire.h \
	prov/rxd/sealed.h \
	prov/rxd/wire.c \
	prov/rxd/wire.h

# The link; all it knows of the world is dg.h.
rxd_link_sources = \
	prov/rxd/cm.c \
	prov/rxd/conf.c \
	prov/rxd/conf.h \
	prov/rxd/conn.c \
	prov/rxd/conn.h \
	prov/rxd/dg.h \
	prov/rxd/handshake.c \
	prov/rxd/life.c \
	prov/rxd/link.c \
	prov/rxd/link.h \
	prov/rxd/migration.c \
	prov/rxd/rails/join.c \
	prov/rxd/addresses/list.c \
	prov/rxd/rails/open.c \
	prov/rxd/rails/share.c \
	prov/rxd/rails/state.h \
	prov/rxd/route.c \
	prov/rxd/secure.h \
	prov/rxd/secure/control.c \
	prov/rxd/secure/reset.c \
	prov/rxd/secure/seal.c \
	prov/rxd/secure/shake.c \
	prov/rxd/secure/state.h \
	prov/rxd/poll.c \
	prov/rxd/probe.c \
	prov/rxd/retransmit.c \
	prov/rxd/rx.c \
	prov/rxd/rx_ack.c \
	prov/rxd/stream.c \
	prov/rxd/timer.c \
	prov/rxd/tx.c

rxd_prov_sources = prov/rxd/dg.c prov/rxd/dom.c prov/rxd/dom.h prov/rxd/prov.c prov/rxd/rails/choose.c

if HAVE_RXD
noinst_LTLIBRARIES += prov/rxd/librxdlink.la
prov_rxd_librxdlink_la_SOURCES = $(rxd_pure_sources) $(rxd_link_sources)

if HAVE_RXD_DL
pkglib_LTLIBRARIES += librxd-fi.la
librxd_fi_la_SOURCES = $(rxd_prov_sources)
librxd_fi_la_CPPFLAGS = $(dl_prov_cppflags)
librxd_fi_la_LIBADD = prov/rxd/librxdlink.la $(dl_prov_libs)
librxd_fi_la_LDFLAGS = $(dl_prov_ldflags)
else
noinst_LTLIBRARIES += prov/rxd/librxd.la
prov_rxd_librxd_la_SOURCES = $(rxd_prov_sources)
prov_rxd_librxd_la_LIBADD = prov/rxd/librxdlink.la
builtin_prov_libs += prov/rxd/librxd.la
endif

dist_check_SCRIPTS += prov/rxd/test/lossy_test
TESTS += prov/rxd/test/lossy_test

rxd_tests = \
	prov/rxd/recovery/bbr_test \
	prov/rxd/recovery/cc_test \
	prov/rxd/cookie_test \
	prov/rxd/addresses/list_test \
	prov/rxd/recovery/ecn_test \
	prov/rxd/recovery/loss_test \
	prov/rxd/test/foreign_test \
	prov/rxd/mix_test \
	prov/rxd/mix_ids_test \
	prov/rxd/model_test \
	prov/rxd/model_ids_test \
	prov/rxd/test/migration_test \
	prov/rxd/recovery/mtu_test \
	prov/rxd/recovery/ranges_test \
	prov/rxd/test/restart_test \
	prov/rxd/test/sim_cm_test \
	prov/rxd/test/sim_guest_test \
	prov/rxd/test/sim_migration_test \
	prov/rxd/test/sim_protected_test \
	prov/rxd/test/sim_rails_test \
	prov/rxd/test/sim_test \
	prov/rxd/retransmit_test \
	prov/rxd/rx_test \
	prov/rxd/stream_test \
	prov/rxd/tx_test \
	prov/rxd/wire_test

if HAVE_CMOCKA
check_PROGRAMS += $(rxd_tests)
TESTS += $(rxd_tests)
rxd_pure_libs = prov/rxd/librxdlink.la src/base/libbase.la $(CMOCKA_LIBS)
prov_rxd_recovery_bbr_test_SOURCES = prov/rxd/recovery/bbr_test.c
prov_rxd_recovery_bbr_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_recovery_bbr_test_LDADD = $(rxd_pure_libs)
prov_rxd_recovery_cc_test_SOURCES = prov/rxd/recovery/cc_test.c
prov_rxd_recovery_cc_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_recovery_cc_test_LDADD = $(rxd_pure_libs)
prov_rxd_recovery_ecn_test_SOURCES = prov/rxd/recovery/ecn_test.c
prov_rxd_recovery_ecn_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_recovery_ecn_test_LDADD = $(rxd_pure_libs)
prov_rxd_recovery_loss_test_SOURCES = prov/rxd/recovery/loss_test.c
prov_rxd_recovery_loss_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_recovery_loss_test_LDADD = $(rxd_pure_libs)
prov_rxd_recovery_mtu_test_SOURCES = prov/rxd/recovery/mtu_test.c
prov_rxd_recovery_mtu_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_recovery_mtu_test_LDADD = $(rxd_pure_libs)
prov_rxd_recovery_ranges_test_SOURCES = prov/rxd/recovery/ranges_test.c
prov_rxd_recovery_ranges_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_recovery_ranges_test_LDADD = $(rxd_pure_libs)
prov_rxd_recovery_ranges_test_LDFLAGS = -Wl,--wrap=realloc
prov_rxd_cookie_test_SOURCES = prov/rxd/cookie_test.c
prov_rxd_cookie_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_cookie_test_LDADD = $(rxd_pure_libs)
prov_rxd_stream_test_SOURCES = prov/rxd/stream_test.c
prov_rxd_stream_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_stream_test_LDADD = prov/rxd/librxdlink.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_rxd_wire_test_SOURCES = prov/rxd/wire_test.c prov/rxd/test/foreign.h
prov_rxd_wire_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_wire_test_LDADD = $(rxd_pure_libs)
prov_rxd_test_foreign_test_SOURCES = prov/rxd/test/foreign_test.c prov/rxd/test/foreign.h \
	prov/rxd/test/side.h
prov_rxd_test_foreign_test_LDADD = src/libfabric.la
prov_rxd_test_migration_test_SOURCES = prov/rxd/test/migration_test.c prov/rxd/test/side.h
prov_rxd_test_migration_test_LDADD = src/libfabric.la
prov_rxd_test_restart_test_SOURCES = prov/rxd/test/restart_test.c prov/rxd/test/side.h
prov_rxd_test_restart_test_LDADD = src/libfabric.la
rxd_sim_sources = prov/util/obj/test/fake_prog.h prov/rxd/test/sim_nodes.c prov/rxd/test/sim_nodes.h prov/rxd/test/sim_net.c prov/rxd/test/sim_net.h \
	prov/rxd/test/foreign.h
rxd_sim_libs = prov/rxd/librxdlink.la $(prov_util_libs) src/libfabric.la
prov_rxd_addresses_list_test_SOURCES = prov/rxd/addresses/list_test.c
prov_rxd_addresses_list_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_addresses_list_test_LDADD = $(rxd_sim_libs) $(CMOCKA_LIBS)
prov_rxd_test_sim_protected_test_SOURCES = prov/rxd/test/sim_protected_test.c prov/rxd/test/sim_attack.h \
	prov/rxd/test/sim_run.h prov/rxd/test/log_text.h $(rxd_sim_sources)
prov_rxd_test_sim_protected_test_LDADD = $(rxd_sim_libs)
prov_rxd_test_sim_guest_test_SOURCES = prov/rxd/test/sim_guest_test.c prov/rxd/test/sim_attack.h $(rxd_sim_sources)
prov_rxd_test_sim_guest_test_LDADD = $(rxd_sim_libs)
prov_rxd_test_sim_test_SOURCES = prov/rxd/test/sim_test.c prov/rxd/test/sim_run.h prov/rxd/test/log_text.h $(rxd_sim_sources)
prov_rxd_test_sim_test_LDADD = $(rxd_sim_libs)
prov_rxd_test_sim_cm_test_SOURCES = prov/rxd/test/sim_cm_test.c $(rxd_sim_sources)
prov_rxd_test_sim_cm_test_LDADD = $(rxd_sim_libs)
prov_rxd_test_sim_migration_test_SOURCES = prov/rxd/test/sim_migration_test.c $(rxd_sim_sources)
prov_rxd_test_sim_migration_test_LDADD = $(rxd_sim_libs)
prov_rxd_test_sim_rails_test_SOURCES = prov/rxd/test/sim_rails_test.c prov/rxd/test/sim_run.h prov/rxd/test/log_text.h $(rxd_sim_sources)
prov_rxd_test_sim_rails_test_LDADD = $(rxd_sim_libs)

# A connection in simulated time whose peer is the test.
prov_rxd_retransmit_test_SOURCES = prov/rxd/retransmit_test.c prov/rxd/test/scripted.h $(rxd_sim_sources)
prov_rxd_retransmit_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_retransmit_test_LDADD = $(rxd_sim_libs) $(CMOCKA_LIBS)
prov_rxd_rx_test_SOURCES = prov/rxd/rx_test.c prov/rxd/test/scripted.h $(rxd_sim_sources)
prov_rxd_rx_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_rx_test_LDADD = $(rxd_sim_libs) $(CMOCKA_LIBS)
prov_rxd_tx_test_SOURCES = prov/rxd/tx_test.c prov/rxd/test/scripted.h $(rxd_sim_sources)
prov_rxd_tx_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_tx_test_LDADD = $(rxd_sim_libs) $(CMOCKA_LIBS)

# The engine's tests over simulated datagrams.
rxd_lossy_sources = \
	prov/rxd/test/sim_lossy.c \
	prov/rxd/test/foreign.h prov/rxd/test/sim_net.c prov/rxd/test/sim_net.h \
	prov/util/engine/sim/link.h \
	prov/util/engine/sim/prov.c \
	prov/util/engine/sim/world.c prov/util/engine/sim/world.h
rxd_lossy_libs = prov/rxd/librxdlink.la $(engine_sim_libs)
prov_rxd_mix_test_SOURCES = prov/util/engine/sim/mix_test.c $(rxd_lossy_sources)
prov_rxd_mix_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_mix_test_LDADD = $(rxd_lossy_libs)
prov_rxd_mix_test_LDFLAGS = $(engine_sim_ldflags)
prov_rxd_model_test_SOURCES = prov/util/engine/sim/model_test.c $(rxd_lossy_sources)
prov_rxd_model_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_model_test_LDADD = $(rxd_lossy_libs)
prov_rxd_model_test_LDFLAGS = $(engine_sim_ldflags)
prov_rxd_mix_ids_test_SOURCES = $(prov_rxd_mix_test_SOURCES) prov/util/engine/sim/small_ids.c
prov_rxd_mix_ids_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_mix_ids_test_LDADD = $(rxd_lossy_libs)
prov_rxd_mix_ids_test_LDFLAGS = $(engine_small_ids_ldflags)
prov_rxd_model_ids_test_SOURCES = $(prov_rxd_model_test_SOURCES) prov/util/engine/sim/small_ids.c
prov_rxd_model_ids_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxd_model_ids_test_LDADD = $(rxd_lossy_libs)
prov_rxd_model_ids_test_LDFLAGS = $(engine_small_ids_ldflags)
endif

# The fuzzer needs clang: make prov/rxd/test/fuzz_wire CC=clang
EXTRA_PROGRAMS += prov/rxd/test/fuzz_wire
prov_rxd_test_fuzz_wire_SOURCES = prov/rxd/test/fuzz_wire.c prov/rxd/addresses/packet.c prov/rxd/wire.c prov/rxd/wire.h \
	src/base/hash/crc32c.c src/base/hash/crc32c.h src/base/release.c src/base/net_addr.c
prov_rxd_test_fuzz_wire_CFLAGS = $(AM_CFLAGS) -fsanitize=fuzzer,address
endif
