# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.

lib_LTLIBRARIES += src/ffi/libfabric-ffi.la
src_ffi_libfabric_ffi_la_SOURCES = src/ffi/twins.c
src_ffi_libfabric_ffi_la_LIBADD = src/libfabric.la
src_ffi_libfabric_ffi_la_LDFLAGS = -version-info 2:0:1 \
	-Wl,--version-script=$(top_srcdir)/src/ffi/libfabric-ffi.map
EXTRA_src_ffi_libfabric_ffi_la_DEPENDENCIES = src/ffi/libfabric-ffi.map
EXTRA_DIST += src/ffi/README.md src/ffi/libfabric-ffi.map

if HAVE_CMOCKA
check_PROGRAMS += src/ffi/twins_test
TESTS += src/ffi/twins_test
src_ffi_twins_test_SOURCES = src/ffi/twins_test.c
src_ffi_twins_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_ffi_twins_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
src/ffi/twins_test-twins_test.$(OBJEXT) \
src/ffi/src_ffi_twins_test-twins_test.$(OBJEXT): tests/abi/abi_names.inc tests/abi/abi_calls.inc
endif
