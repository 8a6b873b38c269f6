# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# All of the core, so that its tests can reach what the library hides.
noinst_LTLIBRARIES += src/core/libcore.la
src_core_libcore_la_SOURCES = \
	src/core/answer.c src/core/answer.h \
	src/core/ask.c src/core/ask.h \
	src/core/builtin.c src/core/builtin.h \
	src/core/compat.c src/core/compat.h \
	src/core/env.c src/core/env.h \
	src/core/export.h \
	src/core/fabric.c src/core/fabric.h \
	src/core/getinfo.c src/core/getinfo.h \
	src/core/hook.c src/core/hook.h \
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

lib_LTLIBRARIES += src/libfabric.la
src_libfabric_la_SOURCES =
src_libfabric_la_LIBADD = src/core/libcore.la $(builtin_prov_libs) $(prov_util_libs)
src_libfabric_la_DEPENDENCIES = $(top_srcdir)/libfabric.map src/core/libcore.la \
	$(builtin_prov_libs) $(prov_util_libs)
src_libfabric_la_LDFLAGS = -version-info $(FI_SONAME_INFO) -no-undefined \
	-Wl,--version-script=$(top_srcdir)/libfabric.map -Wl,-z,nodelete -Wl,--gc-sections
EXTRA_DIST += libfabric.map src/core/README.md

if HAVE_CMOCKA
include src/core/testprov/local.mk

core_tests = src/core/ask_test src/core/compat_test src/core/env_test \
	src/core/getinfo_test src/core/info_test src/core/log_test \
	src/core/open_test src/core/param_test src/core/registry_test \
	src/core/strerror_test src/core/tostr_test src/core/words_test
check_PROGRAMS += $(core_tests)
TESTS += $(core_tests)
core_test_libs = src/libfabric.la $(CMOCKA_LIBS)
core_listen_sources = src/core/child_test.h src/core/testprov/listen.h

src_core_ask_test_SOURCES = src/core/ask_test.c src/core/child_test.h
# Inside the library; without -static, so that --disable-static builds it too.
src_core_ask_test_LDADD = src/core/libcore.la $(builtin_prov_libs) \
	$(prov_util_libs) $(core_test_libs)
src_core_compat_test_SOURCES = src/core/compat_test.c $(core_listen_sources)
src_core_compat_test_LDADD = $(core_test_libs)
src_core_compat_test_LDFLAGS = -export-dynamic
# Every row of the table of old layouts, as an assertion on compat.h.
src/core/compat_rows.inc: $(top_srcdir)/tests/abi/abi-old-structs.tsv
	$(AM_V_GEN)$(MKDIR_P) src/core && awk -F'\t' 'NR > 1 { \
		printf "ROW(%s, %s, %s, %s, %s)\n", $$2, $$3, $$4, $$5, $$6 }' \
		$(top_srcdir)/tests/abi/abi-old-structs.tsv > $@
src/core/compat_test.$(OBJEXT): src/core/compat_rows.inc
CLEANFILES += src/core/compat_rows.inc

src_core_env_test_SOURCES = src/core/env_test.c src/core/child_test.h
src_core_env_test_LDADD = $(CMOCKA_LIBS)
src_core_getinfo_test_SOURCES = src/core/getinfo_test.c $(core_listen_sources)
src_core_getinfo_test_LDADD = $(core_test_libs)
src_core_getinfo_test_LDFLAGS = -export-dynamic
src_core_info_test_SOURCES = src/core/info_test.c src/core/child_test.h
src_core_info_test_LDADD = $(core_test_libs)
src_core_log_test_SOURCES = src/core/log_test.c src/core/child_test.h
src_core_log_test_LDADD = $(core_test_libs)
src_core_open_test_SOURCES = src/core/open_test.c src/core/child_test.h
src_core_open_test_LDADD = $(core_test_libs)
src_core_param_test_SOURCES = src/core/param_test.c src/core/child_test.h
src_core_param_test_LDADD = $(core_test_libs)
src_core_registry_test_SOURCES = src/core/registry_test.c $(core_listen_sources)
src_core_registry_test_LDADD = $(core_test_libs)
src_core_registry_test_LDFLAGS = -export-dynamic
src_core_strerror_test_SOURCES = src/core/strerror_test.c src/core/child_test.h
src_core_strerror_test_LDADD = $(core_test_libs)
src_core_tostr_test_SOURCES = src/core/tostr_test.c src/core/child_test.h
src_core_tostr_test_LDADD = src/base/libbase.la $(core_test_libs)
src_core_words_test_SOURCES = src/core/words_test.c src/core/child_test.h
src_core_words_test_LDADD = src/core/libcore.la $(CMOCKA_LIBS)
endif
