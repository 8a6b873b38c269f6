# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += tests/secure/README.md tests/secure/levels tests/secure/make_certs

if HAVE_CMOCKA
if HAVE_TCP
secure_api_tests = tests/secure/attack_test tests/secure/av_key_test tests/secure/capture_test tests/secure/crowd_test \
	tests/secure/long_test \
	tests/secure/memory_test tests/secure/paths_test \
	tests/secure/refuse_test tests/secure/region_test tests/secure/rotate_test
check_PROGRAMS += $(secure_api_tests)
TESTS += $(secure_api_tests)
tests_secure_attack_test_SOURCES = tests/secure/attack_test.c tests/secure/proxy.h tests/secure/side.h
tests_secure_attack_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_attack_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
tests_secure_av_key_test_SOURCES = tests/secure/av_key_test.c tests/secure/side.h
tests_secure_av_key_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_av_key_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
tests_secure_capture_test_SOURCES = tests/secure/capture_test.c tests/secure/side.h
tests_secure_capture_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_capture_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
tests_secure_crowd_test_SOURCES = tests/secure/crowd_test.c tests/secure/ends.h tests/secure/relay.h tests/secure/side.h
tests_secure_crowd_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_crowd_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
tests_secure_long_test_SOURCES = tests/secure/long_test.c tests/secure/ends.h tests/secure/relay.h tests/secure/side.h
tests_secure_long_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_long_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
tests_secure_memory_test_SOURCES = tests/secure/memory_test.c tests/secure/side.h
tests_secure_memory_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_memory_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
tests_secure_paths_test_SOURCES = tests/secure/paths_test.c tests/secure/ends.h tests/secure/relay.h tests/secure/side.h
tests_secure_paths_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_paths_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
tests_secure_refuse_test_SOURCES = tests/secure/refuse_test.c
tests_secure_refuse_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_refuse_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
check_LTLIBRARIES += tests/secure/libplain-fi.la
tests_secure_libplain_fi_la_SOURCES = tests/secure/plain.c
tests_secure_libplain_fi_la_CPPFLAGS = $(testprov_cppflags)
tests_secure_libplain_fi_la_LDFLAGS = $(testprov_ldflags)
tests_secure_libplain_fi_la_LIBADD = $(testprov_libs)
tests_secure_region_test_SOURCES = tests/secure/region_test.c tests/secure/side.h
tests_secure_region_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_region_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
tests_secure_rotate_test_SOURCES = tests/secure/rotate_test.c tests/secure/side.h
tests_secure_rotate_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_rotate_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
if HAVE_RXD
if HAVE_SHM
check_PROGRAMS += tests/compat/rpc
tests_compat_rpc_SOURCES = tests/compat/rpc.c tests/compat/meet.c tests/compat/meet.h
tests_compat_rpc_LDADD = src/libfabric.la
dist_check_SCRIPTS += tests/secure/rpc_test
TESTS += tests/secure/rpc_test
endif
check_PROGRAMS += tests/secure/inject_test
TESTS += tests/secure/inject_test
tests_secure_inject_test_SOURCES = tests/secure/inject_test.c tests/secure/side.h
tests_secure_inject_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_secure_inject_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
endif
endif
endif
