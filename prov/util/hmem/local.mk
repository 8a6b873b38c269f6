# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/util/hmem/README.md
prov_util_libutil_la_SOURCES += prov/util/hmem/mem.h prov/util/hmem/kind.h prov/util/hmem/share.h \
	prov/util/hmem/start.c prov/util/hmem/cuda.c prov/util/hmem/cuda_copy.c prov/util/hmem/cuda.h \
	prov/util/hmem/rocr.c prov/util/hmem/ze.c \
	prov/util/hmem/fdonly.c prov/util/hmem/gdr.c prov/util/hmem/share.c

if HAVE_CMOCKA
check_PROGRAMS += prov/util/hmem/copy_test prov/util/hmem/start_test
TESTS += prov/util/hmem/copy_test prov/util/hmem/start_test
prov_util_hmem_copy_test_SOURCES = prov/util/hmem/copy_test.c tests/fakegpu/use.h \
	fabtests/common/device.c fabtests/common/device.h
prov_util_hmem_copy_test_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
prov_util_hmem_copy_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_hmem_copy_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
prov_util_hmem_copy_test_DEPENDENCIES = $(prov_util_hmem_copy_test_LDADD) $(fakegpu_libs)

check_PROGRAMS += prov/util/hmem/share_test
TESTS += prov/util/hmem/share_test
prov_util_hmem_share_test_SOURCES = prov/util/hmem/share_test.c tests/fakegpu/use.h \
	fabtests/common/device.c fabtests/common/device.h
prov_util_hmem_share_test_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
prov_util_hmem_share_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_hmem_share_test_LDADD = $(prov_util_hmem_copy_test_LDADD)
prov_util_hmem_share_test_DEPENDENCIES = $(prov_util_hmem_copy_test_DEPENDENCIES)
prov_util_hmem_start_test_SOURCES = prov/util/hmem/start_test.c
prov_util_hmem_start_test_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
prov_util_hmem_start_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_hmem_start_test_LDADD = $(prov_util_hmem_copy_test_LDADD)
prov_util_hmem_start_test_DEPENDENCIES = $(prov_util_hmem_start_test_LDADD) $(fakegpu_libs)
endif
