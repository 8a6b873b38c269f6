# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/udp/configure.m4 prov/udp/README.md
udp_sources = \
	prov/udp/ep.c \
	prov/udp/ask.c \
	prov/udp/csock.c \
	prov/udp/dev.c \
	prov/udp/mc.c \
	prov/udp/poll.c \
	prov/udp/prov.c \
	prov/udp/rx.c \
	prov/udp/source.c \
	prov/udp/train.c \
	prov/udp/tx.c \
	prov/udp/ep.h \
	prov/udp/wire.c \
	prov/udp/wire.h

if HAVE_UDP
if HAVE_UDP_DL
# the tests find it where it was built
AM_TESTS_ENVIRONMENT += FI_PROVIDER_PATH='$(abs_top_builddir)/.libs'; export FI_PROVIDER_PATH;
pkglib_LTLIBRARIES += libudp-fi.la
libudp_fi_la_SOURCES = $(udp_sources)
libudp_fi_la_CPPFLAGS = $(dl_prov_cppflags)
libudp_fi_la_LIBADD = $(dl_prov_libs)
libudp_fi_la_LDFLAGS = $(dl_prov_ldflags)
else
noinst_LTLIBRARIES += prov/udp/libudp.la
prov_udp_libudp_la_SOURCES = $(udp_sources)
builtin_prov_libs += prov/udp/libudp.la
endif

udp_world_tests = \
	prov/udp/burst_test \
	prov/udp/calls_test \
	prov/udp/ecn_test \
	prov/udp/mc_test \
	prov/udp/pair_test \
	prov/udp/prov_test \
	prov/udp/receive_test \
	prov/udp/source_test \
	prov/udp/wait_test
udp_world_libs = src/libfabric.la $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += prov/udp/wire_test $(udp_world_tests)
TESTS += prov/udp/wire_test $(udp_world_tests)
prov_udp_wire_test_SOURCES = prov/udp/wire_test.c prov/udp/test/wire_oracle.h prov/udp/wire.c
prov_udp_wire_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_udp_wire_test_LDADD = $(CMOCKA_LIBS)
prov_udp_burst_test_SOURCES = prov/udp/burst_test.c prov/udp/test/world.h
prov_udp_burst_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -fvisibility=default
prov_udp_burst_test_LDFLAGS = -export-dynamic
prov_udp_burst_test_LDADD = $(udp_world_libs)
prov_udp_calls_test_SOURCES = prov/udp/calls_test.c prov/udp/test/world.h
prov_udp_calls_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_udp_calls_test_LDADD = $(udp_world_libs)
prov_udp_receive_test_SOURCES = prov/udp/receive_test.c prov/udp/test/world.h
prov_udp_receive_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_udp_receive_test_LDADD = $(udp_world_libs)
prov_udp_ecn_test_SOURCES = prov/udp/ecn_test.c prov/udp/test/world.h
prov_udp_ecn_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_udp_ecn_test_LDADD = $(udp_world_libs)
prov_udp_mc_test_SOURCES = prov/udp/mc_test.c prov/udp/test/world.h
prov_udp_mc_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_udp_mc_test_LDADD = $(udp_world_libs)
prov_udp_pair_test_SOURCES = prov/udp/pair_test.c prov/udp/test/world.h
prov_udp_pair_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_udp_pair_test_LDADD = $(udp_world_libs)
prov_udp_prov_test_SOURCES = prov/udp/prov_test.c prov/udp/test/world.h
prov_udp_prov_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_udp_prov_test_LDADD = $(udp_world_libs)
prov_udp_source_test_SOURCES = prov/udp/source_test.c prov/udp/test/world.h
prov_udp_source_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_udp_source_test_LDADD = $(udp_world_libs)
prov_udp_wait_test_SOURCES = prov/udp/wait_test.c prov/udp/test/world.h
prov_udp_wait_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_udp_wait_test_LDADD = $(udp_world_libs)
endif
endif

# The fuzzer needs clang: make prov/udp/test/fuzz_wire CC=clang
EXTRA_PROGRAMS += prov/udp/test/fuzz_wire
prov_udp_test_fuzz_wire_SOURCES = prov/udp/test/fuzz_wire.c prov/udp/test/wire_oracle.h prov/udp/wire.c
prov_udp_test_fuzz_wire_CFLAGS = $(AM_CFLAGS) -fsanitize=fuzzer,address
