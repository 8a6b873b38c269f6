# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

lib_LTLIBRARIES += src/libfabric.la
src_libfabric_la_SOURCES = \
	src/core/answer.c src/core/answer.h \
	src/core/ask.c src/core/ask.h \
	src/core/builtin.c src/core/builtin.h \
	src/core/compat.c src/core/compat.h \
	src/core/env.c src/core/env.h \
	src/core/export.h \
	src/core/fabric.c src/core/fabric.h \
	src/core/getinfo.c src/core/getinfo.h \
	src/core/import.c src/core/import.h \
	src/core/info.c src/core/info.h \
	src/core/init.c src/core/init.h \
	src/core/layout.h \
	src/core/log.c src/core/log.h \
	src/core/logfile.c src/core/logfile.h \
	src/core/module.c src/core/module.h \
	src/core/monitor.c src/core/monitor.h \
	src/core/mrmode.c src/core/mrmode.h \
	src/core/names.c src/core/names.h \
	src/core/nic.c src/core/nic.h \
	src/core/open.c \
	src/core/openfabric.c src/core/openfabric.h \
	src/core/ownparams.c \
	src/core/param.c src/core/param.h \
	src/core/provpath.c src/core/provpath.h \
	src/core/registry.c src/core/registry.h \
	src/core/strerror.c \
	src/core/text.c src/core/text.h \
	src/core/tostr.c src/core/tostr.h \
	src/core/tostr_addr.c src/core/tostr_info.c src/core/tostr_obj.c \
	src/core/why.c src/core/why.h \
	src/core/words.c src/core/words.h
src_libfabric_la_LIBADD = $(builtin_prov_libs) $(prov_util_libs)
src_libfabric_la_DEPENDENCIES = $(top_srcdir)/libfabric.map $(builtin_prov_libs) $(prov_util_libs)
src_libfabric_la_LDFLAGS = -version-info $(FI_SONAME_INFO) -no-undefined \
	-Wl,--version-script=$(top_srcdir)/libfabric.map -Wl,-z,nodelete -Wl,--gc-sections
EXTRA_DIST += libfabric.map
