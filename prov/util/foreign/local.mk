# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/util/foreign/README.md

foreign_xnet_sources = \
	prov/util/foreign/xnet/cm.c \
	prov/util/foreign/xnet/cm.h \
	prov/util/foreign/xnet/frame.c \
	prov/util/foreign/xnet/frame.h \
	prov/util/foreign/xnet/rdm.c \
	prov/util/foreign/xnet/rdm.h
foreign_rxmf_sources = \
	prov/util/foreign/rxmf/cm.c \
	prov/util/foreign/rxmf/cm.h \
	prov/util/foreign/rxmf/packet.c \
	prov/util/foreign/rxmf/packet.h
prov_util_libutil_la_SOURCES += $(foreign_xnet_sources) $(foreign_rxmf_sources) \
	prov/util/foreign/op.h \
	prov/util/foreign/rxmf/translate.c \
	prov/util/foreign/rxmf/translate.h \
	prov/util/foreign/xnet/translate.c \
	prov/util/foreign/xnet/translate.h

foreign_tests = \
	prov/util/foreign/rxmf/cm_test \
	prov/util/foreign/rxmf/packet_test \
	prov/util/foreign/rxmf/translate_test \
	prov/util/foreign/xnet/codec_test \
	prov/util/foreign/xnet/translate_test

if HAVE_CMOCKA
check_PROGRAMS += $(foreign_tests)
TESTS += $(foreign_tests)
foreign_test_libs = $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_util_foreign_rxmf_cm_test_SOURCES = prov/util/foreign/rxmf/cm_test.c prov/util/foreign/test/hex.h
prov_util_foreign_rxmf_cm_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_foreign_rxmf_cm_test_LDADD = $(foreign_test_libs)
prov_util_foreign_rxmf_packet_test_SOURCES = prov/util/foreign/rxmf/packet_test.c \
	prov/util/foreign/rxmf/test/captured.h prov/util/foreign/test/hex.h
prov_util_foreign_rxmf_packet_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_foreign_rxmf_packet_test_LDADD = $(foreign_test_libs)
prov_util_foreign_rxmf_translate_test_SOURCES = prov/util/foreign/rxmf/translate_test.c \
	prov/util/foreign/rxmf/test/captured.h prov/util/foreign/test/hex.h
prov_util_foreign_rxmf_translate_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_foreign_rxmf_translate_test_LDADD = $(foreign_test_libs)
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
EXTRA_PROGRAMS += prov/util/foreign/xnet/test/fuzz_codec prov/util/foreign/rxmf/test/fuzz_packet
prov_util_foreign_xnet_test_fuzz_codec_SOURCES = prov/util/foreign/xnet/test/fuzz_codec.c $(foreign_xnet_sources)
prov_util_foreign_xnet_test_fuzz_codec_CFLAGS = $(foreign_fuzz_flags)
prov_util_foreign_rxmf_test_fuzz_packet_SOURCES = prov/util/foreign/rxmf/test/fuzz_packet.c $(foreign_rxmf_sources)
prov_util_foreign_rxmf_test_fuzz_packet_CFLAGS = $(foreign_fuzz_flags)
