# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

noinst_LTLIBRARIES += src/base/libbase.la
src_base_libbase_la_SOURCES = \
	src/base/clock.h \
	src/base/hmap.c \
	src/base/hmap.h \
	src/base/iov.c \
	src/base/iov.h \
	src/base/list.h \
	src/base/lock.h \
	src/base/pool.c \
	src/base/pool.h
EXTRA_DIST += src/base/README.md
