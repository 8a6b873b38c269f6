# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# The providers of the tests.  They are modules, each in a directory that is an
# entry of FI_PROVIDER_PATH; -rpath makes libtool build them shared.
testprov_ldflags = -module -avoid-version -shared -rpath $(abs_builddir)
testprov_cppflags = $(AM_CPPFLAGS) -DFI_PROV_DL
testprov_libs = src/libfabric.la
testprov_sources = src/core/test/testprov.c src/core/test/testprov.h

check_LTLIBRARIES += \
	src/core/test/one/libalpha-fi.la \
	src/core/test/one/libgamma-fi.la \
	src/core/test/one/libofi_over-fi.la \
	src/core/test/two/libalpha-fi.la \
	src/core/test/future/libfuture-fi.la \
	src/core/test/own/libown-fi.la

# alpha 1.0, which brings beta along
src_core_test_one_libalpha_fi_la_SOURCES = $(testprov_sources)
src_core_test_one_libalpha_fi_la_CPPFLAGS = $(testprov_cppflags) \
	-DTESTPROV_NAME='"alpha"' -DTESTPROV_SECOND='"beta"' \
	-DTESTPROV_VERSION='FI_VERSION(1,0)' -DTESTPROV_TAG=1
src_core_test_one_libalpha_fi_la_LDFLAGS = $(testprov_ldflags)
src_core_test_one_libalpha_fi_la_LIBADD = $(testprov_libs)

src_core_test_one_libgamma_fi_la_SOURCES = $(testprov_sources)
src_core_test_one_libgamma_fi_la_CPPFLAGS = $(testprov_cppflags) \
	-DTESTPROV_NAME='"gamma"' -DTESTPROV_VERSION='FI_VERSION(1,0)' \
	-DTESTPROV_INTERFACE='FI_VERSION(1,9)' -DTESTPROV_TAG=2
src_core_test_one_libgamma_fi_la_LDFLAGS = $(testprov_ldflags)
src_core_test_one_libgamma_fi_la_LIBADD = $(testprov_libs)

# a layer
src_core_test_one_libofi_over_fi_la_SOURCES = $(testprov_sources)
src_core_test_one_libofi_over_fi_la_CPPFLAGS = $(testprov_cppflags) \
	-DTESTPROV_NAME='"ofi_over"' -DTESTPROV_VERSION='FI_VERSION(1,0)' -DTESTPROV_TAG=3
src_core_test_one_libofi_over_fi_la_LDFLAGS = $(testprov_ldflags)
src_core_test_one_libofi_over_fi_la_LIBADD = $(testprov_libs)

# alpha 2.0, newer than the one above
src_core_test_two_libalpha_fi_la_SOURCES = $(testprov_sources)
src_core_test_two_libalpha_fi_la_CPPFLAGS = $(testprov_cppflags) \
	-DTESTPROV_NAME='"alpha"' -DTESTPROV_VERSION='FI_VERSION(2,0)' -DTESTPROV_TAG=4
src_core_test_two_libalpha_fi_la_LDFLAGS = $(testprov_ldflags)
src_core_test_two_libalpha_fi_la_LIBADD = $(testprov_libs)

# written for an interface that does not exist yet
src_core_test_future_libfuture_fi_la_SOURCES = $(testprov_sources)
src_core_test_future_libfuture_fi_la_CPPFLAGS = $(testprov_cppflags) \
	-DTESTPROV_NAME='"future"' -DTESTPROV_VERSION='FI_VERSION(1,0)' \
	-DTESTPROV_INTERFACE='FI_VERSION(99,0)' -DTESTPROV_TAG=5
src_core_test_future_libfuture_fi_la_LDFLAGS = $(testprov_ldflags)
src_core_test_future_libfuture_fi_la_LIBADD = $(testprov_libs)

# as the providers of this tree are: it calls the library that has loaded it
src_core_test_own_libown_fi_la_SOURCES = $(testprov_sources)
src_core_test_own_libown_fi_la_CPPFLAGS = $(testprov_cppflags) -DTESTPROV_OWN \
	-DTESTPROV_NAME='"own"' -DTESTPROV_VERSION='FI_VERSION(1,0)' -DTESTPROV_TAG=6
src_core_test_own_libown_fi_la_LDFLAGS = $(testprov_ldflags) -Wl,-z,defs
src_core_test_own_libown_fi_la_LIBADD = src/base/libcalls.la
