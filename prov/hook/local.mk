# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/hook/README.md

# Always built in: a hook is asked for when a program misbehaves, not when it is built.
noinst_LTLIBRARIES += prov/hook/libhook.la
builtin_prov_libs += prov/hook/libhook.la
prov_hook_libhook_la_SOURCES = \
	prov/hook/calls.c \
	prov/hook/impair.c \
	prov/hook/impair.h \
	prov/hook/fault.c \
	prov/hook/fault.h \
	prov/hook/fault_cq.c \
	prov/hook/fault_msg.c \
	prov/hook/watch.h \
	prov/hook/intern.h \
	prov/hook/object.c \
	prov/hook/perf.c \
	prov/hook/profile.c \
	prov/hook/trace.c

if HAVE_CMOCKA
hook_tests = prov/hook/impair_test prov/hook/fault_test prov/hook/api_test \
	prov/hook/object_test
check_PROGRAMS += $(hook_tests)
TESTS += $(hook_tests)
prov_hook_impair_test_SOURCES = prov/hook/impair_test.c
prov_hook_impair_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_hook_impair_test_LDADD = prov/hook/libhook.la $(prov_util_libs) src/libfabric.la \
	$(CMOCKA_LIBS)
prov_hook_fault_test_SOURCES = prov/hook/fault_test.c prov/udp/test/world.h
prov_hook_fault_test_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/prov $(CMOCKA_CFLAGS)
prov_hook_fault_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_hook_api_test_SOURCES = prov/hook/api_test.c
prov_hook_api_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_hook_api_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_hook_object_test_SOURCES = prov/hook/object_test.c
prov_hook_object_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_hook_object_test_LDADD = prov/hook/libhook.la $(prov_util_libs) src/libfabric.la \
	$(CMOCKA_LIBS)
endif
