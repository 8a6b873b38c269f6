# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.

abi_dir = $(top_srcdir)/tests/abi
abi_tables = \
	tests/abi/abi-old-aliases.tsv \
	tests/abi/abi-old-structs.tsv \
	tests/abi/enums.tsv \
	tests/abi/exported-symbols.tsv \
	tests/abi/inlines.tsv \
	tests/abi/macros-other.tsv \
	tests/abi/macros.tsv \
	tests/abi/prototypes.tsv \
	tests/abi/slots.tsv \
	tests/abi/soname.tsv \
	tests/abi/structs.tsv \
	tests/abi/tostr.tsv \
	tests/abi/typedefs.tsv
EXTRA_DIST += $(abi_tables) tests/abi/README.md tests/abi/gen_abi.py

abi_incs = \
	tests/abi/abi_calls.inc \
	tests/abi/abi_layout.inc \
	tests/abi/abi_names.inc \
	tests/abi/abi_tostr.inc
CLEANFILES += $(abi_incs)

if HAVE_CMOCKA
abi_programs = \
	tests/abi/abi_calls_test \
	tests/abi/abi_layout_test \
	tests/abi/abi_tostr_test \
	tests/abi/providers_test
check_PROGRAMS += $(abi_programs)
TESTS += $(abi_programs)

tests_abi_abi_calls_test_SOURCES = tests/abi/abi_calls_test.c tests/abi/abi_calls.h
tests_abi_abi_calls_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_abi_abi_calls_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)

tests_abi_abi_layout_test_SOURCES = tests/abi/abi_layout_test.c tests/abi/abi_row.h
tests_abi_abi_layout_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_abi_abi_layout_test_LDADD = $(CMOCKA_LIBS)

tests_abi_abi_tostr_test_SOURCES = tests/abi/abi_tostr_test.c
tests_abi_abi_tostr_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_abi_abi_tostr_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)

tests_abi_providers_test_SOURCES = tests/abi/providers_test.c
tests_abi_providers_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_abi_providers_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)

# Automake knows no dependencies of the first build: say which object needs
# which table. It has named such objects in two ways, and we name both.
tests/abi/abi_calls_test-abi_calls_test.$(OBJEXT) \
tests/abi/tests_abi_abi_calls_test-abi_calls_test.$(OBJEXT): tests/abi/abi_calls.inc
tests/abi/abi_layout_test-abi_layout_test.$(OBJEXT) \
tests/abi/tests_abi_abi_layout_test-abi_layout_test.$(OBJEXT): tests/abi/abi_layout.inc
tests/abi/abi_tostr_test-abi_tostr_test.$(OBJEXT) \
tests/abi/tests_abi_abi_tostr_test-abi_tostr_test.$(OBJEXT): tests/abi/abi_tostr.inc
endif

$(abi_incs): tests/abi/gen_abi.py $(abi_tables)
	@if test '$(PYTHON)' = :; then \
		echo 'tests/abi: python3 makes these tests: install it and run configure again' >&2; \
		exit 1; \
	fi
	$(AM_V_at)$(MKDIR_P) tests/abi
	$(AM_V_GEN)mode=`basename $@ .inc | sed s/abi_//`; \
	$(PYTHON) $(abi_dir)/gen_abi.py $$mode $(abi_dir) >$@.tmp && mv -f $@.tmp $@

abi_scripts = tests/abi/abi_symbols_test.py tests/abi/headers_alone_test.py tests/abi/link_test \
	tests/abi/processor_test
dist_check_SCRIPTS += $(abi_scripts)
TESTS += $(abi_scripts)
