# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# All of the core, so that its tests can reach what the library hides.
noinst_LTLIBRARIES += src/core/libcore.la
src_core_libcore_la_SOURCES = \
	src/core/discover/answer.c src/core/answer.h \
	src/core/discover/ask.c src/core/ask.h \
	src/core/load/builtin.c src/core/builtin.h \
	src/core/discover/compat.c src/core/compat.h \
	src/core/settings/env.c src/core/env.h \
	src/core/export.h \
	src/core/discover/addrformat.c \
	src/core/discover/fabric.c src/core/fabric.h \
	src/core/discover/getinfo.c src/core/getinfo.h \
	src/core/discover/hook.c src/core/hook.h \
	src/core/load/import.c src/core/import.h \
	src/core/discover/info.c src/core/info.h \
	src/core/init.c src/core/init.h \
	src/core/layout.h \
	src/core/logging/log.c src/core/log.h \
	src/core/logging/logfile.c src/core/logfile.h \
	src/core/load/module.c src/core/module.h \
	src/core/load/monitor.c src/core/monitor.h \
	src/core/discover/mrmode.c src/core/mrmode.h \
	src/core/format/names.c src/core/names.h \
	src/core/discover/nic.c src/core/nic.h \
	src/core/discover/open.c \
	src/core/discover/openfabric.c src/core/openfabric.h \
	src/core/settings/ownparams.c \
	src/core/settings/param.c src/core/param.h \
	src/core/settings/removed.c \
	src/core/load/provpath.c src/core/provpath.h \
	src/core/discover/reason.c src/core/reason.h \
	src/core/load/registry.c src/core/registry.h \
	src/core/format/strerror.c \
	src/core/format/text.c src/core/text.h \
	src/core/format/tostr.c src/core/tostr.h \
	src/core/format/tostr_addr.c src/core/format/tostr_info.c src/core/format/tostr_obj.c \
	src/core/discover/why.c src/core/why.h \
	src/core/settings/words.c src/core/words.h

lib_LTLIBRARIES += src/libfabric.la
src_libfabric_la_SOURCES =
src_libfabric_la_LIBADD = src/core/libcore.la $(builtin_prov_libs) $(prov_util_libs)
src_libfabric_la_DEPENDENCIES = $(top_srcdir)/libfabric.map src/core/libcore.la \
	$(builtin_prov_libs) $(prov_util_libs)
src_libfabric_la_LDFLAGS = -version-info $(FI_SONAME_INFO) -no-undefined \
	-Wl,--version-script=$(top_srcdir)/libfabric.map -Wl,-z,nodelete -Wl,--gc-sections \
	$(OFI_SYMBOLIC)
EXTRA_DIST += libfabric.map src/core/README.md

if HAVE_CMOCKA
include src/core/test/local.mk

core_tests = src/core/discover/addrformat_test src/core/discover/ask_test \
	src/core/discover/compat_test src/core/settings/env_test \
	src/core/discover/getinfo_test src/core/discover/info_test src/core/logging/log_test \
	src/core/discover/open_test src/core/settings/param_test src/core/discover/reason_test \
	src/core/load/registry_test \
	src/core/format/strerror_test src/core/format/tostr_test src/core/settings/words_test
check_PROGRAMS += $(core_tests)
TESTS += $(core_tests)
core_test_libs = src/libfabric.la $(CMOCKA_LIBS)
core_listen_sources = src/core/test/child_test.h src/core/test/listen.h

src_core_discover_addrformat_test_SOURCES = src/core/discover/addrformat_test.c \
	$(core_listen_sources)
src_core_discover_addrformat_test_LDADD = $(core_test_libs)
src_core_discover_addrformat_test_LDFLAGS = -export-dynamic
src_core_discover_ask_test_SOURCES = src/core/discover/ask_test.c src/core/test/child_test.h
# Inside the library; without -static, so that --disable-static builds it too.
src_core_discover_ask_test_LDADD = src/core/libcore.la $(builtin_prov_libs) \
	$(prov_util_libs) $(core_test_libs)
src_core_discover_compat_test_SOURCES = src/core/discover/compat_test.c $(core_listen_sources)
src_core_discover_compat_test_LDADD = $(core_test_libs)
src_core_discover_compat_test_LDFLAGS = -export-dynamic
# Every row of the table of old layouts, as an assertion on compat.h.
src/core/compat_rows.inc: $(top_srcdir)/tests/abi/abi-old-structs.tsv
	$(AM_V_GEN)$(MKDIR_P) src/core && awk -F'\t' 'NR > 1 && $$4 !~ /^[(]/ { \
		printf "ROW(%s, %s, %s, %s, %s)\n", $$2, $$3, $$4, $$5, $$6 }' \
		$(top_srcdir)/tests/abi/abi-old-structs.tsv > $@
src/core/discover/compat_test.$(OBJEXT): src/core/compat_rows.inc
CLEANFILES += src/core/compat_rows.inc

src_core_settings_env_test_SOURCES = src/core/settings/env_test.c src/core/test/child_test.h
# The program has env.c itself, so the library's is left out.
src_core_settings_env_test_LDADD = $(src_core_discover_ask_test_LDADD)
src_core_discover_getinfo_test_SOURCES = src/core/discover/getinfo_test.c $(core_listen_sources)
src_core_discover_getinfo_test_LDADD = $(core_test_libs)
src_core_discover_getinfo_test_LDFLAGS = -export-dynamic
src_core_discover_info_test_SOURCES = src/core/discover/info_test.c src/core/test/child_test.h
src_core_discover_info_test_LDADD = $(core_test_libs)
src_core_logging_log_test_SOURCES = src/core/logging/log_test.c src/core/test/child_test.h
src_core_logging_log_test_LDADD = $(core_test_libs)
src_core_discover_open_test_SOURCES = src/core/discover/open_test.c src/core/test/child_test.h
src_core_discover_open_test_LDADD = $(core_test_libs)
src_core_settings_param_test_SOURCES = src/core/settings/param_test.c src/core/test/child_test.h
src_core_settings_param_test_LDADD = $(core_test_libs)
src_core_discover_reason_test_SOURCES = src/core/discover/reason_test.c src/core/test/child_test.h
src_core_discover_reason_test_LDADD = $(core_test_libs)
src_core_load_registry_test_SOURCES = src/core/load/registry_test.c $(core_listen_sources)
src_core_load_registry_test_LDADD = $(core_test_libs)
src_core_load_registry_test_LDFLAGS = -export-dynamic
src_core_format_strerror_test_SOURCES = src/core/format/strerror_test.c src/core/test/child_test.h
src_core_format_strerror_test_LDADD = $(core_test_libs)
src_core_format_tostr_test_SOURCES = src/core/format/tostr_test.c src/core/test/child_test.h
src_core_format_tostr_test_LDADD = src/base/libbase.la $(core_test_libs)
src_core_settings_words_test_SOURCES = src/core/settings/words_test.c src/core/test/child_test.h
src_core_settings_words_test_LDADD = src/core/libcore.la $(CMOCKA_LIBS)
endif
