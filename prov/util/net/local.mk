# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/net/iface.c \
	prov/util/net/iface.h \
	prov/util/net/name.c \
	prov/util/net/name.h \
	prov/util/net/nic.c \
	prov/util/net/nic.h \
	prov/util/net/io.h \
	prov/util/net/opt.h \
	prov/util/net/rail.c \
	prov/util/net/rail.h \
	prov/util/net/read.h \
	prov/util/net/resolve.c \
	prov/util/net/resolve.h \
	prov/util/net/inherit.c \
	prov/util/net/inherit.h \
	prov/util/net/sock.c \
	prov/util/net/sock.h \
	prov/util/net/sysfs.c \
	prov/util/net/tclass.c \
	prov/util/net/tclass.h
if PORTABLE
prov_util_libutil_la_SOURCES += prov/util/net/ifaddrs.c
else
prov_util_libutil_la_SOURCES += prov/util/net/ioctl.c prov/util/net/netlink.c prov/util/net/route.c
endif

# They link the library itself: the answers are fi_info that it copies and prints.
net_test_libs = prov/util/libutil.la src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
net_test_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
net_tests = prov/util/net/iface_test prov/util/net/inherit_test prov/util/net/name_test \
	prov/util/net/nic_test prov/util/net/rail_test prov/util/net/resolve_test \
	prov/util/net/sock_test prov/util/net/tclass_test
noinst_HEADERS += prov/util/net/test/list_make.h
EXTRA_DIST += prov/util/net/README.md

if HAVE_CMOCKA
check_PROGRAMS += $(net_tests)
TESTS += $(net_tests)
prov_util_net_iface_test_SOURCES = prov/util/net/iface_test.c
prov_util_net_iface_test_CFLAGS = $(net_test_cflags)
prov_util_net_iface_test_LDADD = $(net_test_libs)
prov_util_net_inherit_test_SOURCES = prov/util/net/inherit_test.c
prov_util_net_inherit_test_CFLAGS = $(net_test_cflags)
prov_util_net_inherit_test_LDADD = $(net_test_libs)
prov_util_net_name_test_SOURCES = prov/util/net/name_test.c
prov_util_net_name_test_CFLAGS = $(net_test_cflags)
prov_util_net_name_test_LDADD = $(net_test_libs)
prov_util_net_nic_test_SOURCES = prov/util/net/nic_test.c
prov_util_net_nic_test_CFLAGS = $(net_test_cflags)
prov_util_net_nic_test_LDADD = $(net_test_libs)
prov_util_net_rail_test_SOURCES = prov/util/net/rail_test.c
prov_util_net_rail_test_CFLAGS = $(net_test_cflags)
prov_util_net_rail_test_LDADD = $(net_test_libs)
prov_util_net_resolve_test_SOURCES = prov/util/net/resolve_test.c
prov_util_net_resolve_test_CFLAGS = $(net_test_cflags)
prov_util_net_resolve_test_LDADD = $(net_test_libs)
prov_util_net_sock_test_SOURCES = prov/util/net/sock_test.c
prov_util_net_sock_test_CFLAGS = $(net_test_cflags)
prov_util_net_sock_test_LDADD = $(net_test_libs)
prov_util_net_tclass_test_SOURCES = prov/util/net/tclass_test.c
prov_util_net_tclass_test_CFLAGS = $(net_test_cflags)
prov_util_net_tclass_test_LDADD = $(net_test_libs)
endif
