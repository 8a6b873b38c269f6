# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/util/layer/README.md
prov_util_libutil_la_SOURCES += prov/util/layer/dom.c prov/util/layer/dom.h \
	prov/util/layer/getinfo.c prov/util/layer/getinfo.h \
	prov/util/layer/mem.c prov/util/layer/mem.h

if HAVE_CMOCKA
check_PROGRAMS += prov/util/layer/dom_test prov/util/layer/getinfo_test prov/util/layer/mem_test
TESTS += prov/util/layer/dom_test prov/util/layer/getinfo_test prov/util/layer/mem_test
prov_util_layer_getinfo_test_SOURCES = prov/util/layer/getinfo_test.c
prov_util_layer_getinfo_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_layer_getinfo_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
prov_util_layer_dom_test_SOURCES = prov/util/layer/dom_test.c
prov_util_layer_dom_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_layer_dom_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
prov_util_layer_mem_test_SOURCES = prov/util/layer/mem_test.c
prov_util_layer_mem_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_layer_mem_test_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
endif
