# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/tcp/configure.m4 prov/tcp/README.md

# The link, which knows the engine's lower edge only; prov.c puts both together.
tcp_link_sources = \
	prov/tcp/chan.c \
	prov/tcp/check.c \
	prov/tcp/cm.c \
	prov/tcp/stream/common.c \
	prov/tcp/common.h \
	prov/tcp/stream.h \
	prov/tcp/stream/life.c \
	prov/tcp/stream/rx.c \
	prov/tcp/stream/state.h \
	prov/tcp/stream/tx.c \
	prov/tcp/conf.c \
	prov/tcp/conf.h \
	prov/tcp/conn.c \
	prov/tcp/conn.h \
	prov/tcp/connect.c \
	prov/tcp/frame.h \
	prov/tcp/handshake.c \
	prov/tcp/hello.c \
	prov/tcp/hello.h \
	prov/tcp/lane.c \
	prov/tcp/link.c \
	prov/tcp/link.h \
	prov/tcp/listen.c \
	prov/tcp/route.c \
	prov/tcp/poll.c \
	prov/tcp/poll.h \
	prov/tcp/read.c \
	prov/tcp/recover.h \
	prov/tcp/recover/join.c \
	prov/tcp/recover/event.c \
	prov/tcp/recover/path.c \
	prov/tcp/recover/proof.c \
	prov/tcp/recover/rails.c \
	prov/tcp/recover/state.h \
	prov/tcp/recover/stream.c \
	prov/tcp/recover/watch.c \
	prov/tcp/rx.c \
	prov/tcp/secure.h \
	prov/tcp/secure/records.c \
	prov/tcp/secure/shake.c \
	prov/tcp/secure/state.h \
	prov/tcp/tx.c \
	prov/tcp/types.h \
	prov/tcp/unacked.c \
	prov/tcp/wire.h

if HAVE_TCP
noinst_LTLIBRARIES += prov/tcp/libtcplink.la
prov_tcp_libtcplink_la_SOURCES = $(tcp_link_sources)

if HAVE_TCP_DL
pkglib_LTLIBRARIES += libtcp-fi.la
libtcp_fi_la_SOURCES = prov/tcp/prov.c
libtcp_fi_la_CPPFLAGS = $(dl_prov_cppflags)
libtcp_fi_la_LIBADD = prov/tcp/libtcplink.la $(dl_prov_libs)
libtcp_fi_la_LDFLAGS = $(dl_prov_ldflags)
else
noinst_LTLIBRARIES += prov/tcp/libtcp.la
prov_tcp_libtcp_la_SOURCES = prov/tcp/prov.c
prov_tcp_libtcp_la_LIBADD = prov/tcp/libtcplink.la
builtin_prov_libs += prov/tcp/libtcp.la
endif

tcp_test_libs = prov/tcp/libtcplink.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
tcp_tests = \
	prov/tcp/stream_test \
	prov/tcp/stream_rdm_harm_test \
	prov/tcp/stream_rdm_peer_test \
	prov/tcp/stream_rdm_test \
	prov/tcp/conn_test \
	prov/tcp/connect_test \
	prov/tcp/hello_test \
	prov/tcp/lane_test \
	prov/tcp/link_test \
	prov/tcp/park_test \
	prov/tcp/rails_test \
	prov/tcp/recover_test \
	prov/tcp/rx_test \
	prov/tcp/tx_test \
	prov/tcp/unacked_test \
	prov/tcp/api_test

tcp_fakes = prov/util/channel/test/fake_engine.h prov/util/obj/test/fake_prog.h prov/tcp/test/fake.h prov/tcp/test/script.h
tcp_rdm_peer = prov/tcp/test/rdm_peer.h prov/tcp/test/rdm.h prov/util/foreign/test/hex.h
tcp_far = prov/tcp/test/far.h prov/tcp/test/stream_check.h $(tcp_fakes)

if HAVE_CMOCKA
check_PROGRAMS += $(tcp_tests)
TESTS += $(tcp_tests)
prov_tcp_stream_test_SOURCES = prov/tcp/stream_test.c prov/util/foreign/test/hex.h
prov_tcp_stream_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_stream_test_LDADD = src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
prov_tcp_stream_rdm_harm_test_SOURCES = prov/tcp/stream_rdm_harm_test.c $(tcp_rdm_peer)
prov_tcp_stream_rdm_harm_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_stream_rdm_harm_test_LDADD = src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
prov_tcp_stream_rdm_peer_test_SOURCES = prov/tcp/stream_rdm_peer_test.c $(tcp_rdm_peer) \
	prov/util/foreign/xnet/test/captured_rdm.h
prov_tcp_stream_rdm_peer_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_stream_rdm_peer_test_LDADD = src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
prov_tcp_stream_rdm_test_SOURCES = prov/tcp/stream_rdm_test.c prov/tcp/test/rdm.h
prov_tcp_stream_rdm_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_stream_rdm_test_LDADD = src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
prov_tcp_connect_test_SOURCES = prov/tcp/connect_test.c $(tcp_fakes)
prov_tcp_connect_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_connect_test_LDADD = $(tcp_test_libs)
prov_tcp_hello_test_SOURCES = prov/tcp/hello_test.c prov/tcp/test/hello_check.h
prov_tcp_hello_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_hello_test_LDADD = $(tcp_test_libs)
prov_tcp_lane_test_SOURCES = prov/tcp/lane_test.c prov/tcp/test/stream_check.h \
	$(tcp_fakes)
prov_tcp_lane_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_lane_test_LDADD = $(tcp_test_libs)
prov_tcp_link_test_SOURCES = prov/tcp/link_test.c prov/tcp/test/stream_check.h \
	$(tcp_fakes)
prov_tcp_link_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_link_test_LDADD = $(tcp_test_libs)
prov_tcp_park_test_SOURCES = prov/tcp/park_test.c $(tcp_fakes)
prov_tcp_park_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_park_test_LDADD = $(tcp_test_libs)
prov_tcp_rails_test_SOURCES = prov/tcp/rails_test.c prov/tcp/test/cuts.h prov/tcp/test/record_check.h $(tcp_fakes)
prov_tcp_rails_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_rails_test_LDADD = $(tcp_test_libs)
prov_tcp_recover_test_SOURCES = prov/tcp/recover_test.c prov/tcp/test/cuts.h $(tcp_fakes)
prov_tcp_recover_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_recover_test_LDADD = $(tcp_test_libs)
prov_tcp_conn_test_SOURCES = prov/tcp/conn_test.c $(tcp_far)
prov_tcp_conn_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_conn_test_LDADD = $(tcp_test_libs)
prov_tcp_rx_test_SOURCES = prov/tcp/rx_test.c $(tcp_far)
prov_tcp_rx_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_rx_test_LDADD = $(tcp_test_libs)
prov_tcp_tx_test_SOURCES = prov/tcp/tx_test.c $(tcp_far)
prov_tcp_tx_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_tx_test_LDADD = $(tcp_test_libs)
prov_tcp_unacked_test_SOURCES = prov/tcp/unacked_test.c $(tcp_far)
prov_tcp_unacked_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_unacked_test_LDADD = $(tcp_test_libs)
prov_tcp_unacked_test_LDFLAGS = -Wl,--wrap=getsockopt
prov_tcp_api_test_SOURCES = prov/tcp/api_test.c
prov_tcp_api_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_tcp_api_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
endif

# Many processes, several hosts, dying peers; arguments make them long.
tcp_world_tests = \
	tests/tcp/bare \
	tests/tcp/busy \
	tests/tcp/close \
	tests/tcp/crowd \
	tests/tcp/hosts \
	tests/tcp/huge \
	tests/tcp/idle \
	tests/tcp/kill \
	tests/tcp/near \
	tests/tcp/rails
tcp_world_common = tests/tcp/node.c tests/tcp/node.h
check_PROGRAMS += $(tcp_world_tests)
TESTS += $(tcp_world_tests)
tests_tcp_bare_SOURCES = tests/tcp/bare.c $(tcp_world_common)
tests_tcp_bare_LDADD = src/libfabric.la
tests_tcp_busy_SOURCES = tests/tcp/busy.c $(tcp_world_common)
tests_tcp_busy_LDADD = src/libfabric.la
tests_tcp_close_SOURCES = tests/tcp/close.c $(tcp_world_common)
tests_tcp_close_LDADD = src/libfabric.la
tests_tcp_crowd_SOURCES = tests/tcp/crowd.c $(tcp_world_common)
tests_tcp_crowd_LDADD = src/libfabric.la
tests_tcp_hosts_SOURCES = tests/tcp/hosts.c $(tcp_world_common)
tests_tcp_hosts_LDADD = src/libfabric.la
tests_tcp_huge_SOURCES = tests/tcp/huge.c $(tcp_world_common)
tests_tcp_huge_LDADD = src/libfabric.la
tests_tcp_idle_SOURCES = tests/tcp/idle.c $(tcp_world_common)
tests_tcp_idle_LDADD = src/libfabric.la
tests_tcp_kill_SOURCES = tests/tcp/kill.c $(tcp_world_common)
tests_tcp_kill_LDADD = src/libfabric.la
tests_tcp_near_SOURCES = tests/tcp/near.c $(tcp_world_common)
tests_tcp_near_LDADD = src/libfabric.la
tests_tcp_rails_SOURCES = tests/tcp/rails.c $(tcp_world_common)
tests_tcp_rails_LDADD = src/libfabric.la

# The fuzzers need clang: "make prov/tcp/test/fuzz_hello prov/tcp/test/fuzz_stream CC=clang".
tcp_fuzz_flags = $(AM_CFLAGS) -g -fsanitize=fuzzer,address
tcp_fuzz_libs = prov/util/libutil.la src/base/libbase.la src/libfabric.la
EXTRA_PROGRAMS += prov/tcp/test/fuzz_hello prov/tcp/test/fuzz_stream
prov_tcp_test_fuzz_hello_SOURCES = prov/tcp/test/fuzz_hello.c prov/tcp/test/hello_check.h \
	prov/tcp/hello.c
prov_tcp_test_fuzz_hello_CFLAGS = $(tcp_fuzz_flags)
prov_tcp_test_fuzz_hello_LDADD = $(tcp_fuzz_libs)
prov_tcp_test_fuzz_stream_SOURCES = prov/tcp/test/fuzz_stream.c \
	prov/util/channel/test/fake_engine.h prov/util/obj/test/fake_prog.h prov/tcp/test/fake.h \
	prov/tcp/test/stream_check.h $(tcp_link_sources)
prov_tcp_test_fuzz_stream_CFLAGS = $(tcp_fuzz_flags)
prov_tcp_test_fuzz_stream_LDADD = $(tcp_fuzz_libs)
EXTRA_PROGRAMS += prov/tcp/test/fuzz_record
prov_tcp_test_fuzz_record_SOURCES = prov/tcp/test/fuzz_record.c prov/tcp/test/record_check.h \
	prov/util/channel/test/fake_engine.h prov/util/obj/test/fake_prog.h prov/tcp/test/fake.h $(tcp_link_sources)
prov_tcp_test_fuzz_record_CFLAGS = $(tcp_fuzz_flags)
prov_tcp_test_fuzz_record_LDADD = $(tcp_fuzz_libs)
EXTRA_PROGRAMS += prov/tcp/test/fuzz_rdm
prov_tcp_test_fuzz_rdm_SOURCES = prov/tcp/test/fuzz_rdm.c prov/tcp/prov.c $(tcp_link_sources)
prov_tcp_test_fuzz_rdm_CFLAGS = $(tcp_fuzz_flags)
prov_tcp_test_fuzz_rdm_LDADD = $(tcp_fuzz_libs)
EXTRA_PROGRAMS += prov/tcp/test/fuzz_inspect
prov_tcp_test_fuzz_inspect_SOURCES = prov/tcp/test/fuzz_inspect.c prov/tcp/prov.c $(tcp_link_sources) \
	prov/util/obj/inspect/listener.c prov/util/obj/inspect/server.c prov/util/obj/inspect/shown.c \
	prov/util/engine/conn/seen.c
prov_tcp_test_fuzz_inspect_CFLAGS = $(tcp_fuzz_flags)
prov_tcp_test_fuzz_inspect_LDADD = $(tcp_fuzz_libs)
endif
