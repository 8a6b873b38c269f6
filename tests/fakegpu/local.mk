# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# Fakes of the libraries of devices, under the names that programs open.
fakegpu_libs = tests/fakegpu/libcuda.la tests/fakegpu/libhsa-runtime64.la \
	tests/fakegpu/libze_loader.la tests/fakegpu/libgdrapi.la tests/fakegpu/libdmabuf_mr.la
check_LTLIBRARIES += $(fakegpu_libs)
fakegpu_cppflags = -DFAKEGPU_DIR=\"$(abs_top_builddir)/tests/fakegpu/.libs\"
fakegpu_dev = tests/fakegpu/dev.c tests/fakegpu/dev.h
fakegpu_ldflags = $(AM_LDFLAGS) -shared -rpath /nowhere
EXTRA_DIST += tests/fakegpu/README.md

tests_fakegpu_libcuda_la_SOURCES = tests/fakegpu/cuda.c $(fakegpu_dev)
tests_fakegpu_libcuda_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
tests_fakegpu_libcuda_la_LDFLAGS = $(fakegpu_ldflags) -version-info 1:0:0
tests_fakegpu_libhsa_runtime64_la_SOURCES = tests/fakegpu/hsa.c $(fakegpu_dev)
tests_fakegpu_libhsa_runtime64_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
tests_fakegpu_libhsa_runtime64_la_LDFLAGS = $(fakegpu_ldflags) -version-info 1:0:0
tests_fakegpu_libze_loader_la_SOURCES = tests/fakegpu/ze.c $(fakegpu_dev)
tests_fakegpu_libze_loader_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
tests_fakegpu_libze_loader_la_LDFLAGS = $(fakegpu_ldflags) -version-info 1:0:0
tests_fakegpu_libgdrapi_la_SOURCES = tests/fakegpu/gdr.c $(fakegpu_dev)
tests_fakegpu_libgdrapi_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
tests_fakegpu_libgdrapi_la_LDFLAGS = $(fakegpu_ldflags) -version-info 2:0:0
tests_fakegpu_libdmabuf_mr_la_SOURCES = tests/fakegpu/dmabuf_mr.c tests/fakegpu/dev.h
tests_fakegpu_libdmabuf_mr_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
tests_fakegpu_libdmabuf_mr_la_LDFLAGS = $(fakegpu_ldflags) -avoid-version
