# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/secure/cert.c \
	prov/util/secure/cert.h \
	prov/util/secure/channel.c \
	prov/util/secure/channel.h \
	prov/util/secure/crypto.c \
	prov/util/secure/crypto.h \
	prov/util/secure/handshake.c \
	prov/util/secure/handshake.h \
	prov/util/secure/key.c \
	prov/util/secure/key.h \
	prov/util/secure/level.c \
	prov/util/secure/level.h \
	prov/util/secure/policy.c \
	prov/util/secure/policy.h \
	prov/util/secure/record.c \
	prov/util/secure/record.h \
	prov/util/secure/secret.c \
	prov/util/secure/secret.h \
	prov/util/secure/tls.c \
	prov/util/secure/tls.h \
	prov/util/secure/window.c
EXTRA_DIST += prov/util/secure/README.md

secure_tests = \
	prov/util/secure/cert_test \
	prov/util/secure/channel_test \
	prov/util/secure/handshake_test \
	prov/util/secure/key_test \
	prov/util/secure/policy_test \
	prov/util/secure/record_test
secure_test_libs = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += $(secure_tests)
TESTS += $(secure_tests)
prov_util_secure_cert_test_SOURCES = prov/util/secure/cert_test.c
prov_util_secure_cert_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_secure_cert_test_LDADD = $(secure_test_libs)
prov_util_secure_channel_test_SOURCES = prov/util/secure/channel_test.c
prov_util_secure_channel_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_secure_channel_test_LDADD = $(secure_test_libs)
prov_util_secure_handshake_test_SOURCES = prov/util/secure/handshake_test.c
prov_util_secure_handshake_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_secure_handshake_test_LDADD = $(secure_test_libs)
prov_util_secure_key_test_SOURCES = prov/util/secure/key_test.c
prov_util_secure_key_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_secure_key_test_LDADD = $(secure_test_libs)
prov_util_secure_policy_test_SOURCES = prov/util/secure/policy_test.c
prov_util_secure_policy_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_secure_policy_test_LDADD = $(secure_test_libs)
prov_util_secure_record_test_SOURCES = prov/util/secure/record_test.c
prov_util_secure_record_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_secure_record_test_LDADD = $(secure_test_libs)
endif

# The fuzzer needs clang: "make prov/util/secure/test/fuzz_parse CC=clang".
EXTRA_PROGRAMS += prov/util/secure/test/fuzz_parse
prov_util_secure_test_fuzz_parse_SOURCES = prov/util/secure/test/fuzz_parse.c prov/util/secure/cert.c prov/util/secure/channel.c \
	prov/util/secure/crypto.c prov/util/secure/handshake.c prov/util/secure/key.c \
	prov/util/secure/record.c prov/util/secure/tls.c src/base/iov.c src/base/net_addr.c
prov_util_secure_test_fuzz_parse_CFLAGS = $(AM_CFLAGS) -g -fsanitize=fuzzer,address
EXTRA_PROGRAMS += prov/util/secure/test/fuzz_shake
prov_util_secure_test_fuzz_shake_SOURCES = prov/util/secure/test/fuzz_shake.c prov/util/secure/cert.c \
	prov/util/secure/crypto.c prov/util/secure/handshake.c prov/util/secure/key.c prov/util/secure/tls.c src/base/net_addr.c
prov_util_secure_test_fuzz_shake_CFLAGS = $(AM_CFLAGS) -g -fsanitize=fuzzer,address
