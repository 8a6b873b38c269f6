# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/util/xpu/README.md
prov_util_libutil_la_SOURCES += \
	prov/util/xpu/count.c \
	prov/util/xpu/ctx.c \
	prov/util/xpu/ctx.h \
	prov/util/xpu/ep.c \
	prov/util/xpu/name.c \
	prov/util/xpu/name.h \
	prov/util/xpu/native.c \
	prov/util/xpu/native.h \
	prov/util/xpu/open.c \
	prov/util/xpu/post.c \
	prov/util/xpu/proxy.c \
	prov/util/xpu/queue.c \
	prov/util/xpu/ring.c \
	prov/util/xpu/ring.h \
	prov/util/xpu/show.c \
	prov/util/xpu/api.h

if HAVE_CMOCKA
check_PROGRAMS += prov/util/xpu/api_test prov/util/xpu/group_test prov/util/xpu/ring_test
TESTS += prov/util/xpu/api_test prov/util/xpu/group_test prov/util/xpu/ring_test
prov_util_xpu_api_test_SOURCES = prov/util/xpu/api_test.c
prov_util_xpu_api_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_xpu_api_test_LDADD = src/libfabric.la $(CMOCKA_LIBS) -lpthread
prov_util_xpu_group_test_SOURCES = prov/util/xpu/group_test.c
prov_util_xpu_group_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_xpu_group_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS) \
	-lpthread
prov_util_xpu_ring_test_SOURCES = prov/util/xpu/ring_test.c
prov_util_xpu_ring_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_xpu_ring_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS) \
	-lpthread
endif

# The fuzzer needs clang: make prov/util/xpu/fuzz_record CC=clang
EXTRA_PROGRAMS += prov/util/xpu/fuzz_record
prov_util_xpu_fuzz_record_SOURCES = prov/util/xpu/fuzz_record.c
prov_util_xpu_fuzz_record_CFLAGS = $(AM_CFLAGS) -fsanitize=fuzzer,address
prov_util_xpu_fuzz_record_LDFLAGS = -fsanitize=fuzzer,address
prov_util_xpu_fuzz_record_LDADD = src/libfabric.la -lpthread
