# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/info/caps.c \
	prov/util/info/check.c \
	prov/util/info/check.h \
	prov/util/info/choose.c \
	prov/util/info/choose.h \
	prov/util/info/getinfo.c \
	prov/util/info/getinfo.h \
	prov/util/info/params.c \
	prov/util/info/params.h \
	prov/util/info/rails.c \
	prov/util/info/rails.h \
	prov/util/info/want.c

info_tests = prov/util/info/caps_test prov/util/info/check_test prov/util/info/choose_test \
	prov/util/info/getinfo_test prov/util/info/ns_test prov/util/info/order_test \
	prov/util/info/params_test
noinst_HEADERS += prov/util/info/test/fake_prov.h
EXTRA_DIST += prov/util/info/README.md

if HAVE_CMOCKA
check_PROGRAMS += $(info_tests)
TESTS += $(info_tests)
prov_util_info_caps_test_SOURCES = prov/util/info/caps_test.c
prov_util_info_caps_test_CFLAGS = $(net_test_cflags)
prov_util_info_caps_test_LDADD = $(net_test_libs)
prov_util_info_check_test_SOURCES = prov/util/info/check_test.c
prov_util_info_check_test_CFLAGS = $(net_test_cflags)
prov_util_info_check_test_LDADD = $(net_test_libs)
prov_util_info_choose_test_SOURCES = prov/util/info/choose_test.c
prov_util_info_choose_test_CFLAGS = $(net_test_cflags)
prov_util_info_choose_test_LDADD = $(net_test_libs)
prov_util_info_getinfo_test_SOURCES = prov/util/info/getinfo_test.c
prov_util_info_getinfo_test_CFLAGS = $(net_test_cflags)
prov_util_info_getinfo_test_LDADD = $(net_test_libs)
prov_util_info_ns_test_SOURCES = prov/util/info/ns_test.c
prov_util_info_ns_test_CFLAGS = $(net_test_cflags)
prov_util_info_ns_test_LDADD = $(net_test_libs)
prov_util_info_order_test_SOURCES = prov/util/info/order_test.c
prov_util_info_order_test_CFLAGS = $(net_test_cflags)
prov_util_info_order_test_LDADD = $(net_test_libs)
prov_util_info_params_test_SOURCES = prov/util/info/params_test.c
prov_util_info_params_test_CFLAGS = $(net_test_cflags)
prov_util_info_params_test_LDADD = $(net_test_libs)
endif
