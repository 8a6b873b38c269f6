# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/util/mr/README.md
prov_util_libutil_la_SOURCES += prov/util/mr/cache.c prov/util/mr/cache.h \
	prov/util/mr/imported.c prov/util/mr/imported.h \
	prov/util/mr/watch.c prov/util/mr/watch.h

if HAVE_CMOCKA
check_PROGRAMS += prov/util/mr/cache_test
TESTS += prov/util/mr/cache_test
prov_util_mr_cache_test_SOURCES = prov/util/mr/cache_test.c \
	prov/util/mr/test/unmapping.c prov/util/mr/test/unmapping.h
prov_util_mr_cache_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_mr_cache_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
# A sanitizer has an allocator of its own; there the case is skipped.
if !SANITIZED
prov_util_mr_cache_test_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=free
prov_util_mr_cache_test_CPPFLAGS = $(AM_CPPFLAGS) -DMR_UNMAPPING
else
prov_util_mr_cache_test_CPPFLAGS = $(AM_CPPFLAGS)
endif
endif
