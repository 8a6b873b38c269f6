# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/hook/README.md prov/hook/calls.def

# Always built in: a hook is asked for when a program misbehaves, not when it is built.
noinst_LTLIBRARIES += prov/hook/libhook.la
builtin_prov_libs += prov/hook/libhook.la
prov_hook_libhook_la_SOURCES = \
	prov/hook/calls.c \
	prov/hook/hook.h \
	prov/hook/intern.h \
	prov/hook/object.c \
	prov/hook/perf.c \
	prov/hook/profile.c \
	prov/hook/trace.c

if HAVE_CMOCKA
check_PROGRAMS += prov/hook/hook_test prov/hook/object_test
TESTS += prov/hook/hook_test prov/hook/object_test
prov_hook_hook_test_SOURCES = prov/hook/hook_test.c
prov_hook_hook_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_hook_hook_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
prov_hook_object_test_SOURCES = prov/hook/object_test.c
prov_hook_object_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_hook_object_test_LDADD = prov/hook/libhook.la $(prov_util_libs) src/libfabric.la \
	$(CMOCKA_LIBS)
endif
