# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

bin_PROGRAMS += util/fi_info util/fi_keygen util/fi_strerror util/fi_pingpong util/fi_top
EXTRA_DIST += util/README.md util/quick_libtool util/steps.sh

# The dissector for Wireshark, one file: fi_tuning(7) says how it is used.
dissectdir = $(pkgdatadir)
dissect_DATA = util/dissect/libfabric.lua
dissect_parts = util/dissect/names.lua util/dissect/engine.lua util/dissect/tcp.lua util/dissect/rxd.lua
EXTRA_DIST += $(dissect_parts)
CLEANFILES += $(dissect_DATA)
util/dissect/libfabric.lua: $(dissect_parts)
	$(AM_V_GEN)$(MKDIR_P) util/dissect && for part in $(dissect_parts); do cat $(top_srcdir)/$$part || exit; done > $@.new && \
		mv $@.new $@

util_fi_keygen_SOURCES = util/fi_keygen.c

util_fi_strerror_SOURCES = util/fi_strerror.c
util_fi_strerror_LDADD = src/libfabric.la

# The grammar of the reasons is the providers' own (obj/explain.c).
util_info_sources = \
	util/info/dump.c util/info/dump.h \
	util/info/echo.c util/info/echo.h \
	util/info/explain.c util/info/explain.h \
	util/info/names.c util/info/names.h \
	util/info/options.c util/info/options.h \
	util/info/path.c util/info/path.h \
	util/info/print.c util/info/print.h \
	util/info/routes.c util/info/routes.h \
	util/json.c util/json.h
util_fi_info_SOURCES = util/info/fi_info.c $(util_info_sources)
util_fi_info_LDADD = $(prov_util_libs) src/libfabric.la

util_fi_top_SOURCES = \
	util/json.c util/json.h \
	util/top/find.c util/top/find.h \
	util/top/fi_top.c \
	util/top/fold.c util/top/fold.h \
	util/top/gather.c util/top/gather.h \
	util/top/metrics.c \
	util/top/remote.c util/top/remote.h \
	util/top/screen.c util/top/screen.h \
	util/top/show.c util/top/show.h \
	util/top/since.c util/top/since.h \
	util/top/view.c util/top/view.h \
	util/top/waits.c
util_fi_top_LDADD = src/base/libbase.la

util_fi_pingpong_SOURCES = \
	util/json.c util/json.h \
	util/pingpong/ctrl.c util/pingpong/ctrl.h \
	util/pingpong/fabric.c util/pingpong/fabric.h \
	util/pingpong/fi_pingpong.c \
	util/pingpong/measure.c util/pingpong/measure.h \
	util/pingpong/options.c util/pingpong/options.h \
	util/pingpong/path.h \
	util/pingpong/path_fabric.c \
	util/pingpong/path_socket.c \
	util/pingpong/report.c util/pingpong/report.h
util_fi_pingpong_LDADD = src/libfabric.la

if HAVE_CMOCKA
util_tests = util/json_test util/info/names_test util/info/options_test \
	util/info/explain_test util/info/routes_test util/pingpong/options_test util/pingpong/ctrl_test \
	util/top/fold_test
check_PROGRAMS += $(util_tests)
TESTS += $(util_tests)
util_json_test_SOURCES = util/json_test.c util/json.c
util_json_test_LDADD = $(CMOCKA_LIBS)
util_info_names_test_SOURCES = util/info/names_test.c util/info/names.c
util_info_names_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
util_info_options_test_SOURCES = util/info/options_test.c util/info/options.c util/info/names.c
util_info_options_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
util_info_explain_test_SOURCES = util/info/explain_test.c util/info/explain.c util/json.c
util_info_explain_test_LDADD = $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
util_info_routes_test_SOURCES = util/info/routes_test.c util/info/routes.c
util_info_routes_test_LDADD = $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
util_pingpong_options_test_SOURCES = util/pingpong/options_test.c util/pingpong/options.c
util_pingpong_options_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
util_pingpong_ctrl_test_SOURCES = util/pingpong/ctrl_test.c util/pingpong/ctrl.c util/pingpong/options.c
util_pingpong_ctrl_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
util_top_fold_test_SOURCES = util/top/fold_test.c util/top/fold.c
util_top_fold_test_LDADD = $(CMOCKA_LIBS)
endif

# The fuzzer needs clang: make util/top/fuzz_answer CC=clang
EXTRA_PROGRAMS += util/top/fuzz_answer
util_top_fuzz_answer_SOURCES = util/top/fuzz_answer.c util/json.c util/top/find.c util/top/gather.c util/top/metrics.c \
	util/top/remote.c util/top/show.c util/top/since.c util/top/waits.c
util_top_fuzz_answer_CFLAGS = $(AM_CFLAGS) -fsanitize=fuzzer,address
util_top_fuzz_answer_LDFLAGS = -fsanitize=fuzzer,address
util_top_fuzz_answer_LDADD = src/base/libbase.la
