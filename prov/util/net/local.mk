# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/net/net_addr.c \
	prov/util/net/net_addr.h \
	prov/util/net/net_choose.c \
	prov/util/net/net_choose.h \
	prov/util/net/net_getinfo.c \
	prov/util/net/net_getinfo.h \
	prov/util/net/net_iface.c \
	prov/util/net/net_iface.h \
	prov/util/net/net_ifaddrs.c \
	prov/util/net/net_ioctl.c \
	prov/util/net/net_name.c \
	prov/util/net/net_netlink.c \
	prov/util/net/net_nic.c \
	prov/util/net/net_nic.h \
	prov/util/net/net_opt.h \
	prov/util/net/net_params.c \
	prov/util/net/net_read.h \
	prov/util/net/net_resolve.c \
	prov/util/net/net_sock.c \
	prov/util/net/net_sock.h \
	prov/util/net/net_sysfs.c \
	prov/util/net/net_want.c \
	prov/util/obj/caps.c \
	prov/util/obj/check.c \
	prov/util/obj/check.h \
	prov/util/obj/explain.c \
	prov/util/obj/explain.h

# Here are also the tests of obj/check.h and obj/explain.h.  They link the library
# itself: the answers are fi_info that it copies and prints.
net_test_libs = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
net_test_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
net_tests = \
	prov/util/net/net_addr_test \
	prov/util/net/net_choose_test \
	prov/util/net/net_getinfo_test \
	prov/util/net/net_iface_test \
	prov/util/net/net_nic_test \
	prov/util/net/net_ns_test \
	prov/util/net/net_sock_test \
	prov/util/obj/caps_test \
	prov/util/obj/check_test \
	prov/util/obj/explain_test

noinst_HEADERS += \
	prov/util/net/net_fake_prov.h \
	prov/util/net/net_list_make.h \
	prov/util/obj/log_catch.h \
	prov/util/obj/test_calls.h
EXTRA_DIST += prov/util/net/README.md

if HAVE_CMOCKA
check_PROGRAMS += $(net_tests)
TESTS += $(net_tests)
prov_util_net_net_addr_test_SOURCES = prov/util/net/net_addr_test.c
prov_util_net_net_addr_test_CFLAGS = $(net_test_cflags)
prov_util_net_net_addr_test_LDADD = $(net_test_libs)
prov_util_net_net_choose_test_SOURCES = prov/util/net/net_choose_test.c
prov_util_net_net_choose_test_CFLAGS = $(net_test_cflags)
prov_util_net_net_choose_test_LDADD = $(net_test_libs)
prov_util_net_net_getinfo_test_SOURCES = prov/util/net/net_getinfo_test.c
prov_util_net_net_getinfo_test_CFLAGS = $(net_test_cflags)
prov_util_net_net_getinfo_test_LDADD = $(net_test_libs)
prov_util_net_net_iface_test_SOURCES = prov/util/net/net_iface_test.c
prov_util_net_net_iface_test_CFLAGS = $(net_test_cflags)
prov_util_net_net_iface_test_LDADD = $(net_test_libs)
prov_util_net_net_nic_test_SOURCES = prov/util/net/net_nic_test.c
prov_util_net_net_nic_test_CFLAGS = $(net_test_cflags)
prov_util_net_net_nic_test_LDADD = $(net_test_libs)
prov_util_net_net_ns_test_SOURCES = prov/util/net/net_ns_test.c
prov_util_net_net_ns_test_CFLAGS = $(net_test_cflags)
prov_util_net_net_ns_test_LDADD = $(net_test_libs)
prov_util_net_net_sock_test_SOURCES = prov/util/net/net_sock_test.c
prov_util_net_net_sock_test_CFLAGS = $(net_test_cflags)
prov_util_net_net_sock_test_LDADD = $(net_test_libs)
prov_util_obj_caps_test_SOURCES = prov/util/obj/caps_test.c
prov_util_obj_caps_test_CFLAGS = $(net_test_cflags)
prov_util_obj_caps_test_LDADD = $(net_test_libs)
prov_util_obj_check_test_SOURCES = prov/util/obj/check_test.c
prov_util_obj_check_test_CFLAGS = $(net_test_cflags)
prov_util_obj_check_test_LDADD = $(net_test_libs)
prov_util_obj_explain_test_SOURCES = prov/util/obj/explain_test.c
prov_util_obj_explain_test_CFLAGS = $(net_test_cflags)
prov_util_obj_explain_test_LDADD = $(net_test_libs)
endif
