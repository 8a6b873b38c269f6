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
	prov/util/net/net_netlink.c \
	prov/util/net/net_nic.c \
	prov/util/net/net_nic.h \
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
