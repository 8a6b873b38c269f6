# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/shm/configure.m4 prov/shm/README.md

# The link, which knows the engine's lower edge only; prov.c puts both together.
shm_link_sources = \
	prov/shm/cma.c \
	prov/shm/cma.h \
	prov/shm/conf.c \
	prov/shm/conf.h \
	prov/shm/conn.c \
	prov/shm/conn.h \
	prov/shm/connect.c \
	prov/shm/handshake.c \
	prov/shm/handshake.h \
	prov/shm/link.c \
	prov/shm/link.h \
	prov/shm/listen.c \
	prov/shm/listen.h \
	prov/shm/local.c \
	prov/shm/name.c \
	prov/shm/name.h \
	prov/shm/poll.c \
	prov/shm/poll.h \
	prov/shm/ring.c \
	prov/shm/ring.h \
	prov/shm/rma.c \
	prov/shm/rma.h \
	prov/shm/rx.c \
	prov/shm/memory/route.c \
	prov/shm/memory/seg.c \
	prov/shm/secure/proof.c \
	prov/shm/secure/proof.h \
	prov/shm/seg.h \
	prov/shm/split.c \
	prov/shm/split.h \
	prov/shm/memory/tenant.c \
	prov/shm/memory/unread.c \
	prov/shm/tenant.h \
	prov/shm/tx.c \
	prov/shm/wire.h

if HAVE_SHM
# The link serves other providers, too: channel/select.h.
noinst_LTLIBRARIES += prov/shm/libshmlink.la
local_link_libs += prov/shm/libshmlink.la
prov_shm_libshmlink_la_SOURCES = $(shm_link_sources)

if HAVE_SHM_DL
pkglib_LTLIBRARIES += libshm-fi.la
libshm_fi_la_SOURCES = prov/shm/prov.c
libshm_fi_la_CPPFLAGS = $(dl_prov_cppflags)
libshm_fi_la_LIBADD = $(dl_prov_libs)
libshm_fi_la_LDFLAGS = $(dl_prov_ldflags)
else
noinst_LTLIBRARIES += prov/shm/libshm.la
prov_shm_libshm_la_SOURCES = prov/shm/prov.c
builtin_prov_libs += prov/shm/libshm.la
endif

shm_test_libs = $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
shm_tests = \
	prov/shm/bell_test \
	prov/shm/cma_test \
	prov/shm/connect_test \
	prov/shm/handshake_test \
	prov/shm/link_test \
	prov/shm/listen_test \
	prov/shm/local_test \
	prov/shm/name_test \
	prov/shm/proof_test \
	prov/shm/ring_test \
	prov/shm/rma_test \
	prov/shm/slow_test \
	prov/shm/split_procs_test \
	prov/shm/split_test \
	prov/shm/api_test
shm_fakes = prov/shm/test/fake.h prov/util/channel/test/fake_engine.h prov/util/obj/test/fake_prog.h

if HAVE_CMOCKA
check_PROGRAMS += $(shm_tests)
TESTS += $(shm_tests)
prov_shm_bell_test_SOURCES = prov/shm/bell_test.c
prov_shm_bell_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_bell_test_LDADD = $(shm_test_libs)
prov_shm_cma_test_SOURCES = prov/shm/cma_test.c
prov_shm_cma_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_cma_test_LDADD = $(shm_test_libs)
prov_shm_connect_test_SOURCES = prov/shm/connect_test.c $(shm_fakes)
prov_shm_connect_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov
prov_shm_connect_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_connect_test_LDADD = $(shm_test_libs)
prov_shm_handshake_test_SOURCES = prov/shm/handshake_test.c
prov_shm_handshake_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_handshake_test_LDADD = $(shm_test_libs)
prov_shm_link_test_SOURCES = prov/shm/link_test.c $(shm_fakes)
prov_shm_link_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov
prov_shm_link_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_link_test_LDADD = $(shm_test_libs)
prov_shm_slow_test_SOURCES = prov/shm/slow_test.c $(shm_fakes)
prov_shm_slow_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov
prov_shm_slow_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_slow_test_LDADD = $(shm_test_libs)
prov_shm_listen_test_SOURCES = prov/shm/listen_test.c
prov_shm_listen_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_listen_test_LDADD = $(shm_test_libs)
prov_shm_listen_test_LDFLAGS = -Wl,--wrap=listen
prov_shm_local_test_SOURCES = prov/shm/local_test.c
prov_shm_local_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_local_test_LDADD = $(shm_test_libs)
prov_shm_name_test_SOURCES = prov/shm/name_test.c
prov_shm_name_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_name_test_LDADD = $(shm_test_libs)
prov_shm_proof_test_SOURCES = prov/shm/proof_test.c $(shm_fakes)
prov_shm_proof_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov
prov_shm_proof_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_proof_test_LDADD = $(shm_test_libs)
prov_shm_ring_test_SOURCES = prov/shm/ring_test.c prov/shm/test/ring_check.h
prov_shm_ring_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_ring_test_LDADD = $(shm_test_libs)
prov_shm_rma_test_SOURCES = prov/shm/rma_test.c prov/shm/test/calls.h
prov_shm_rma_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_rma_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_shm_split_procs_test_SOURCES = prov/shm/split_procs_test.c prov/shm/test/split.h $(shm_fakes)
prov_shm_split_procs_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov
prov_shm_split_procs_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_split_procs_test_LDADD = $(shm_test_libs)
prov_shm_split_test_SOURCES = prov/shm/split_test.c prov/shm/test/split.h $(shm_fakes)
prov_shm_split_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov
prov_shm_split_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_split_test_LDADD = $(shm_test_libs)
prov_shm_api_test_SOURCES = prov/shm/api_test.c prov/shm/test/calls.h
prov_shm_api_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_api_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
endif

# The fuzzer needs clang: "make prov/shm/test/fuzz_ring CC=clang".
EXTRA_PROGRAMS += prov/shm/test/fuzz_ring
prov_shm_test_fuzz_ring_SOURCES = prov/shm/test/fuzz_ring.c prov/shm/test/ring_check.h prov/shm/ring.c \
	src/base/copy.c
prov_shm_test_fuzz_ring_CFLAGS = $(AM_CFLAGS) -g -fsanitize=fuzzer,address
EXTRA_PROGRAMS += prov/shm/test/fuzz_handshake
prov_shm_test_fuzz_handshake_SOURCES = prov/shm/test/fuzz_handshake.c prov/shm/handshake.c \
	prov/util/channel/handshake.c src/base/release.c
prov_shm_test_fuzz_handshake_CFLAGS = $(AM_CFLAGS) -g -fsanitize=fuzzer,address
endif
