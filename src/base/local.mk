# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# a part of each provider that is a file of its own
noinst_LTLIBRARIES += src/base/libcalls.la
src_base_libcalls_la_SOURCES = src/base/module/calls.c src/base/module/calls.h

noinst_LTLIBRARIES += src/base/libbase.la
src_base_libbase_la_SOURCES = \
	src/base/array.h \
	src/base/clock.h \
	src/base/copy.c \
	src/base/copy.h \
	src/base/explain.c \
	src/base/explain.h \
	src/base/hmap.c \
	src/base/hmap.h \
	src/base/ib_addr.c \
	src/base/ib_addr.h \
	src/base/iov.c \
	src/base/iov.h \
	src/base/line.h \
	src/base/list.h \
	src/base/lock.c \
	src/base/lock.h \
	src/base/module/calls.h \
	src/base/monitor.h \
	src/base/net_addr.c \
	src/base/net_addr.h \
	src/base/pool.c \
	src/base/pool.h \
	src/base/relax.h \
	src/base/probe.h \
	src/base/sealed.h \
	src/base/thread.h \
	src/base/provider.h \
	src/base/release.c \
	src/base/release.h \
	src/base/hash/siphash.c \
	src/base/hash/siphash.h \
	src/base/hash/crc32c.c \
	src/base/hash/crc32c.h \
	src/base/timer.c \
	src/base/timer.h \
	src/base/os/alarm.h \
	src/base/os/barrier.h \
	src/base/os/event.h \
	src/base/os/memory.h \
	src/base/os/process.h \
	src/base/os/word.h
if PORTABLE
src_base_libbase_la_SOURCES += \
	src/base/os/posix/alarm.c \
	src/base/os/posix/barrier.c \
	src/base/os/posix/event.c \
	src/base/os/posix/memory.c \
	src/base/os/posix/process.c \
	src/base/os/posix/word.c
else
src_base_libbase_la_SOURCES += \
	src/base/os/linux/alarm.c \
	src/base/os/linux/barrier.c \
	src/base/os/linux/event.c \
	src/base/os/linux/memory.c \
	src/base/os/linux/process.c \
	src/base/os/linux/word.c
endif
EXTRA_DIST += src/base/README.md src/base/os/README.md src/base/calls.def src/base/release.sh

# The commit of the sources: looked up at each make, written when it has changed.
BUILT_SOURCES += src/base/commit.h
CLEANFILES += src/base/commit.h
PHONY_EXTRA += commit-now
src/base/release.lo: src/base/commit.h
src/base/commit.h: commit-now
	@mkdir -p src/base
	@printf '#define RELEASE_COMMIT "%s"\n' "`$(SHELL) $(srcdir)/src/base/release.sh $(srcdir)`" > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

base_test_libs = src/base/libbase.la $(CMOCKA_LIBS)
base_tests = \
	src/base/copy_test \
	src/base/explain_test \
	src/base/hmap_test \
	src/base/ib_addr_test \
	src/base/iov_test \
	src/base/list_test \
	src/base/lock_test \
	src/base/net_addr_test \
	src/base/os/os_test \
	src/base/pool_test \
	src/base/release_test \
	src/base/hash/crc32c_test \
	src/base/hash/siphash_test \
	src/base/timer_test \
	src/base/verify_test

if HAVE_CMOCKA
check_PROGRAMS += $(base_tests)
TESTS += $(base_tests)
src_base_hmap_test_SOURCES = src/base/hmap_test.c
src_base_hmap_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_hmap_test_LDADD = $(base_test_libs)
src_base_copy_test_SOURCES = src/base/copy_test.c
src_base_copy_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_copy_test_LDADD = $(base_test_libs)
src_base_ib_addr_test_SOURCES = src/base/ib_addr_test.c
src_base_ib_addr_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_ib_addr_test_LDADD = $(base_test_libs)
src_base_iov_test_SOURCES = src/base/iov_test.c
src_base_iov_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_iov_test_LDADD = $(base_test_libs)
src_base_list_test_SOURCES = src/base/list_test.c
src_base_list_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_list_test_LDADD = $(base_test_libs)
src_base_lock_test_SOURCES = src/base/lock_test.c
src_base_lock_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_lock_test_LDADD = $(base_test_libs)
src_base_os_os_test_SOURCES = src/base/os/os_test.c
src_base_os_os_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_os_os_test_LDADD = $(base_test_libs)
src_base_pool_test_SOURCES = src/base/pool_test.c
src_base_pool_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_pool_test_LDADD = $(base_test_libs)
src_base_release_test_SOURCES = src/base/release_test.c
src_base_release_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_release_test_LDADD = $(base_test_libs)
src_base_hash_crc32c_test_SOURCES = src/base/hash/crc32c_test.c
src_base_hash_crc32c_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_hash_crc32c_test_LDADD = $(base_test_libs)
src_base_hash_siphash_test_SOURCES = src/base/hash/siphash_test.c
src_base_hash_siphash_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_hash_siphash_test_LDADD = $(base_test_libs)
src_base_timer_test_SOURCES = src/base/timer_test.c
src_base_timer_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_timer_test_LDADD = $(base_test_libs)
src_base_verify_test_SOURCES = src/base/verify_test.c src/base/test/swap.h src/base/test/value.h src/base/test/verify.h
src_base_verify_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_verify_test_LDADD = $(CMOCKA_LIBS)
src_base_explain_test_SOURCES = src/base/explain_test.c
src_base_explain_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_explain_test_LDADD = src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
src_base_net_addr_test_SOURCES = src/base/net_addr_test.c
src_base_net_addr_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
src_base_net_addr_test_LDADD = src/base/libbase.la src/libfabric.la $(CMOCKA_LIBS)
endif
