# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/shm/configure.m4 prov/shm/README.md

# The link, which knows the engine's lower edge only; shm_prov.c puts both together.
shm_link_sources = \
	prov/shm/shm_chan.c \
	prov/shm/shm_conf.c \
	prov/shm/shm_conf.h \
	prov/shm/shm_conn.c \
	prov/shm/shm_conn.h \
	prov/shm/shm_door.c \
	prov/shm/shm_door.h \
	prov/shm/shm_link.c \
	prov/shm/shm_link.h \
	prov/shm/shm_name.c \
	prov/shm/shm_name.h \
	prov/shm/shm_near.c \
	prov/shm/shm_near.h \
	prov/shm/shm_poll.c \
	prov/shm/shm_poll.h \
	prov/shm/shm_pull.c \
	prov/shm/shm_pull.h \
	prov/shm/shm_reach.c \
	prov/shm/shm_reach.h \
	prov/shm/shm_ring.c \
	prov/shm/shm_ring.h \
	prov/shm/shm_rx.c \
	prov/shm/shm_seg.c \
	prov/shm/shm_seg.h \
	prov/shm/shm_share.c \
	prov/shm/shm_share.h \
	prov/shm/shm_tx.c \
	prov/shm/shm_wireup.c \
	prov/shm/wire.h

if HAVE_SHM
# The link serves other providers, too: engine/near.h.
noinst_LTLIBRARIES += prov/shm/libshmlink.la
near_libs += prov/shm/libshmlink.la
prov_shm_libshmlink_la_SOURCES = $(shm_link_sources)

if HAVE_SHM_DL
pkglib_LTLIBRARIES += libshm-fi.la
libshm_fi_la_SOURCES = prov/shm/shm_prov.c
libshm_fi_la_CPPFLAGS = $(AM_CPPFLAGS) -DFI_PROV_DL
libshm_fi_la_LIBADD = $(prov_util_libs) src/libfabric.la
libshm_fi_la_LDFLAGS = -module -avoid-version -shared -export-dynamic
else
noinst_LTLIBRARIES += prov/shm/libshm.la
prov_shm_libshm_la_SOURCES = prov/shm/shm_prov.c
builtin_prov_libs += prov/shm/libshm.la
endif

shm_test_libs = $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
shm_tests = \
	prov/shm/shm_lease_test \
	prov/shm/shm_link_test \
	prov/shm/shm_ring_test \
	prov/shm/shm_share_test \
	prov/shm/shm_test

if HAVE_CMOCKA
check_PROGRAMS += $(shm_tests)
TESTS += $(shm_tests)
prov_shm_shm_link_test_SOURCES = prov/shm/shm_link_test.c prov/shm/shm_fake.h \
	prov/tcp/fake_engine.h
prov_shm_shm_link_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov
prov_shm_shm_link_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_shm_link_test_LDADD = $(shm_test_libs)
prov_shm_shm_ring_test_SOURCES = prov/shm/shm_ring_test.c prov/shm/shm_ring_check.h
prov_shm_shm_ring_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_shm_ring_test_LDADD = $(shm_test_libs)
prov_shm_shm_share_test_SOURCES = prov/shm/shm_share_test.c prov/shm/shm_fake.h \
	prov/tcp/fake_engine.h
prov_shm_shm_share_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov
prov_shm_shm_share_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_shm_share_test_LDADD = $(shm_test_libs)
prov_shm_shm_lease_test_SOURCES = prov/shm/shm_lease_test.c prov/shm/shm_calls.h
prov_shm_shm_lease_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_shm_lease_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_shm_shm_test_SOURCES = prov/shm/shm_test.c prov/shm/shm_calls.h
prov_shm_shm_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_shm_shm_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
endif

# The fuzzer needs clang: "make prov/shm/fuzz_ring CC=clang".
EXTRA_PROGRAMS += prov/shm/fuzz_ring
prov_shm_fuzz_ring_SOURCES = prov/shm/fuzz_ring.c prov/shm/shm_ring_check.h prov/shm/shm_ring.c
prov_shm_fuzz_ring_CFLAGS = $(AM_CFLAGS) -g -fsanitize=fuzzer,address
endif
