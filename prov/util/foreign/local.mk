# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/util/foreign/README.md

foreign_xnet_sources = \
	prov/util/foreign/xnet/cm.c \
	prov/util/foreign/xnet/cm.h \
	prov/util/foreign/xnet/frame.c \
	prov/util/foreign/xnet/frame.h \
	prov/util/foreign/xnet/rdm.c \
	prov/util/foreign/xnet/rdm.h
foreign_rxm_sources = \
	prov/util/foreign/rxm/cm.c \
	prov/util/foreign/rxm/cm.h \
	prov/util/foreign/rxm/packet.c \
	prov/util/foreign/rxm/packet.h
prov_util_libutil_la_SOURCES += $(foreign_xnet_sources) $(foreign_rxm_sources) \
	prov/util/foreign/op.h \
	prov/util/foreign/rxm/translate.c \
	prov/util/foreign/rxm/translate.h \
	prov/util/foreign/xnet/translate.c \
	prov/util/foreign/xnet/translate.h

foreign_tests = \
	prov/util/foreign/rxm/cm_test \
	prov/util/foreign/rxm/packet_test \
	prov/util/foreign/rxm/translate_test \
	prov/util/foreign/xnet/codec_test \
	prov/util/foreign/xnet/translate_test

if HAVE_CMOCKA
check_PROGRAMS += $(foreign_tests)
TESTS += $(foreign_tests)
foreign_test_libs = $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_util_foreign_rxm_cm_test_SOURCES = prov/util/foreign/rxm/cm_test.c prov/util/foreign/test/hex.h
prov_util_foreign_rxm_cm_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_foreign_rxm_cm_test_LDADD = $(foreign_test_libs)
prov_util_foreign_rxm_packet_test_SOURCES = prov/util/foreign/rxm/packet_test.c \
	prov/util/foreign/rxm/test/captured.h prov/util/foreign/test/hex.h
prov_util_foreign_rxm_packet_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_foreign_rxm_packet_test_LDADD = $(foreign_test_libs)
prov_util_foreign_rxm_translate_test_SOURCES = prov/util/foreign/rxm/translate_test.c \
	prov/util/foreign/rxm/test/captured.h prov/util/foreign/test/hex.h
prov_util_foreign_rxm_translate_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_foreign_rxm_translate_test_LDADD = $(foreign_test_libs)
prov_util_foreign_xnet_codec_test_SOURCES = prov/util/foreign/xnet/codec_test.c \
	prov/util/foreign/xnet/test/captured.h prov/util/foreign/test/hex.h
prov_util_foreign_xnet_codec_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_foreign_xnet_codec_test_LDADD = $(foreign_test_libs)
prov_util_foreign_xnet_translate_test_SOURCES = prov/util/foreign/xnet/translate_test.c \
	prov/util/foreign/xnet/test/captured.h prov/util/foreign/xnet/test/captured_rdm.h \
	prov/util/foreign/test/hex.h
prov_util_foreign_xnet_translate_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_foreign_xnet_translate_test_LDADD = $(foreign_test_libs)
endif

# The fuzzers need clang: make prov/util/foreign/xnet/test/fuzz_codec CC=clang
foreign_fuzz_flags = $(AM_CFLAGS) -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
EXTRA_PROGRAMS += prov/util/foreign/xnet/test/fuzz_codec prov/util/foreign/rxm/test/fuzz_packet
prov_util_foreign_xnet_test_fuzz_codec_SOURCES = prov/util/foreign/xnet/test/fuzz_codec.c $(foreign_xnet_sources)
prov_util_foreign_xnet_test_fuzz_codec_CFLAGS = $(foreign_fuzz_flags)
prov_util_foreign_rxm_test_fuzz_packet_SOURCES = prov/util/foreign/rxm/test/fuzz_packet.c $(foreign_rxm_sources)
prov_util_foreign_rxm_test_fuzz_packet_CFLAGS = $(foreign_fuzz_flags)
