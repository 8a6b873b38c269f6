# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/loop/configure.m4 prov/loop/README.md

# The link, which knows the engine's lower edge only; prov.c puts both together.
loop_link_sources = \
	prov/loop/inbox.c \
	prov/loop/inbox.h \
	prov/loop/link.c \
	prov/loop/link.h \
	prov/loop/name.c \
	prov/loop/name.h
loop_sources = $(loop_link_sources) prov/loop/prov.c

if HAVE_LOOP
if HAVE_LOOP_DL
pkglib_LTLIBRARIES += libloop-fi.la
libloop_fi_la_SOURCES = $(loop_sources)
libloop_fi_la_CPPFLAGS = $(dl_prov_cppflags)
libloop_fi_la_LIBADD = $(dl_prov_libs)
libloop_fi_la_LDFLAGS = $(dl_prov_ldflags)
else
noinst_LTLIBRARIES += prov/loop/libloop.la
prov_loop_libloop_la_SOURCES = $(loop_sources)
builtin_prov_libs += prov/loop/libloop.la
endif

loop_tests = prov/loop/inbox_test prov/loop/link_test prov/loop/api_test

if HAVE_CMOCKA
check_PROGRAMS += $(loop_tests)
TESTS += $(loop_tests)
prov_loop_inbox_test_SOURCES = prov/loop/inbox_test.c prov/loop/inbox.c prov/loop/name.c
prov_loop_inbox_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_loop_inbox_test_LDADD = $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_loop_link_test_SOURCES = prov/loop/link_test.c $(loop_link_sources) \
	prov/loop/test/fake.h prov/util/channel/test/fake_engine.h prov/util/obj/test/fake_prog.h
prov_loop_link_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_loop_link_test_LDADD = $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_loop_api_test_SOURCES = prov/loop/api_test.c
prov_loop_api_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_loop_api_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
endif
endif
