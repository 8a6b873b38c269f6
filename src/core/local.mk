# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

lib_LTLIBRARIES += src/libfabric.la
src_libfabric_la_SOURCES = src/core/fabric.c
src_libfabric_la_LIBADD = $(builtin_prov_libs) $(prov_util_libs)
src_libfabric_la_DEPENDENCIES = libfabric.map $(builtin_prov_libs) $(prov_util_libs)
src_libfabric_la_LDFLAGS = -version-info $(FI_SONAME_INFO) -Wl,--version-script=$(top_srcdir)/libfabric.map
EXTRA_DIST += libfabric.map
