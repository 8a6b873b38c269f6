# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/tcp/configure.m4
tcp_sources =

if HAVE_TCP
if HAVE_TCP_DL
pkglib_LTLIBRARIES += libtcp-fi.la
libtcp_fi_la_SOURCES = $(tcp_sources)
libtcp_fi_la_CPPFLAGS = $(AM_CPPFLAGS) -DFI_PROV_DL
libtcp_fi_la_LIBADD = $(prov_util_libs) src/libfabric.la
libtcp_fi_la_LDFLAGS = -module -avoid-version -shared -export-dynamic
else
noinst_LTLIBRARIES += prov/tcp/libtcp.la
prov_tcp_libtcp_la_SOURCES = $(tcp_sources)
builtin_prov_libs += prov/tcp/libtcp.la
endif
endif
