# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/net/net_addr.h \
	prov/util/net/net_getinfo.h \
	prov/util/net/net_iface.h \
	prov/util/net/net_nic.h \
	prov/util/net/net_sock.h \
	prov/util/obj/check.h \
	prov/util/obj/explain.h
