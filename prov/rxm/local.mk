# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/rxm/configure.m4 prov/rxm/README.md

rxm_link_sources = \
	prov/rxm/compat.h \
	prov/rxm/compat/amo.c \
	prov/rxm/compat/life.c \
	prov/rxm/compat/rma.c \
	prov/rxm/compat/rx.c \
	prov/rxm/compat/tx.c \
	prov/rxm/conf.c \
	prov/rxm/conf.h \
	prov/rxm/conn.c \
	prov/rxm/conn.h \
	prov/rxm/connect.c \
	prov/rxm/dom.c \
	prov/rxm/dom.h \
	prov/rxm/home.c \
	prov/rxm/link.c \
	prov/rxm/route.c \
	prov/rxm/poll.c \
	prov/rxm/rma.c \
	prov/rxm/rx.c \
	prov/rxm/tx.c \
	prov/rxm/wire.c \
	prov/rxm/wire.h

if HAVE_RXM
noinst_LTLIBRARIES += prov/rxm/librxmlink.la
prov_rxm_librxmlink_la_SOURCES = $(rxm_link_sources)

if HAVE_RXM_DL
pkglib_LTLIBRARIES += librxm-fi.la
librxm_fi_la_SOURCES = prov/rxm/prov.c
librxm_fi_la_CPPFLAGS = $(dl_prov_cppflags)
librxm_fi_la_LIBADD = prov/rxm/librxmlink.la $(dl_prov_libs)
librxm_fi_la_LDFLAGS = $(dl_prov_ldflags)
else
noinst_LTLIBRARIES += prov/rxm/librxm.la
prov_rxm_librxm_la_SOURCES = prov/rxm/prov.c
prov_rxm_librxm_la_LIBADD = prov/rxm/librxmlink.la
builtin_prov_libs += prov/rxm/librxm.la
endif

# Tests of the link run over a fake provider, under the fake engine.
rxm_rig = prov/rxm/test/rig.h prov/rxm/test/msg_prov.c prov/rxm/test/msg_prov.h \
	prov/rxm/test/msg_queue.c prov/rxm/test/msg_queue.h \
	prov/util/channel/test/fake_engine.h prov/util/obj/test/fake_prog.h
rxm_rig_libs = prov/rxm/librxmlink.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
# The test as a peer in the compatible format.
rxm_peer = prov/rxm/compat/test/peer.h prov/util/foreign/test/hex.h
rxm_tests = \
	prov/rxm/api_test \
	prov/rxm/compat/peer_conn_test \
	prov/rxm/compat/peer_msg_test \
	prov/rxm/compat/peer_rma_test \
	prov/rxm/compat/peer_unsupported_test \
	prov/rxm/conn_test \
	prov/rxm/connect_test \
	prov/rxm/dom_test \
	prov/rxm/poll_test \
	prov/rxm/rma_test \
	prov/rxm/rx_test \
	prov/rxm/tx_test \
	prov/rxm/wire_test

if HAVE_CMOCKA
check_PROGRAMS += $(rxm_tests)
TESTS += $(rxm_tests)
prov_rxm_api_test_SOURCES = prov/rxm/api_test.c
prov_rxm_api_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_api_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_rxm_compat_peer_conn_test_SOURCES = prov/rxm/compat/peer_conn_test.c $(rxm_peer)
prov_rxm_compat_peer_conn_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_compat_peer_conn_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_rxm_compat_peer_msg_test_SOURCES = prov/rxm/compat/peer_msg_test.c $(rxm_peer)
prov_rxm_compat_peer_msg_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_compat_peer_msg_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_rxm_compat_peer_rma_test_SOURCES = prov/rxm/compat/peer_rma_test.c $(rxm_peer)
prov_rxm_compat_peer_rma_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_compat_peer_rma_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_rxm_compat_peer_unsupported_test_SOURCES = prov/rxm/compat/peer_unsupported_test.c $(rxm_peer)
prov_rxm_compat_peer_unsupported_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_compat_peer_unsupported_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_rxm_conn_test_SOURCES = prov/rxm/conn_test.c $(rxm_rig)
prov_rxm_conn_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_conn_test_LDADD = $(rxm_rig_libs)
prov_rxm_connect_test_SOURCES = prov/rxm/connect_test.c $(rxm_rig)
prov_rxm_connect_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_connect_test_LDADD = $(rxm_rig_libs)
prov_rxm_dom_test_SOURCES = prov/rxm/dom_test.c $(rxm_rig)
prov_rxm_dom_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_dom_test_LDADD = $(rxm_rig_libs)
prov_rxm_poll_test_SOURCES = prov/rxm/poll_test.c $(rxm_rig)
prov_rxm_poll_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_poll_test_LDADD = $(rxm_rig_libs)
prov_rxm_rma_test_SOURCES = prov/rxm/rma_test.c $(rxm_rig)
prov_rxm_rma_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_rma_test_LDADD = $(rxm_rig_libs)
prov_rxm_rx_test_SOURCES = prov/rxm/rx_test.c $(rxm_rig)
prov_rxm_rx_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_rx_test_LDADD = $(rxm_rig_libs)
prov_rxm_rx_test_LDFLAGS = -Wl,--wrap=calloc
prov_rxm_tx_test_SOURCES = prov/rxm/tx_test.c $(rxm_rig)
prov_rxm_tx_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_tx_test_LDADD = $(rxm_rig_libs)
prov_rxm_wire_test_SOURCES = prov/rxm/wire_test.c prov/rxm/wire.c prov/rxm/wire.h
prov_rxm_wire_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_rxm_wire_test_LDADD = $(prov_util_libs) $(CMOCKA_LIBS)
endif

# The fuzzer needs clang: make prov/rxm/test/fuzz_wire CC=clang
EXTRA_PROGRAMS += prov/rxm/test/fuzz_wire
prov_rxm_test_fuzz_wire_SOURCES = prov/rxm/test/fuzz_wire.c prov/rxm/wire.c prov/rxm/wire.h \
	prov/util/channel/handshake.c src/base/iov.c src/base/release.c src/base/net_addr.c
prov_rxm_test_fuzz_wire_CFLAGS = $(AM_CFLAGS) -fsanitize=fuzzer,address
endif
