# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/udp/configure.m4
udp_sources =

if HAVE_UDP
if HAVE_UDP_DL
pkglib_LTLIBRARIES += libudp-fi.la
libudp_fi_la_SOURCES = $(udp_sources)
libudp_fi_la_CPPFLAGS = $(AM_CPPFLAGS) -DFI_PROV_DL
libudp_fi_la_LIBADD = $(prov_util_libs) src/libfabric.la
libudp_fi_la_LDFLAGS = -module -avoid-version -shared -export-dynamic
else
noinst_LTLIBRARIES += prov/udp/libudp.la
prov_udp_libudp_la_SOURCES = $(udp_sources)
builtin_prov_libs += prov/udp/libudp.la
endif
endif
