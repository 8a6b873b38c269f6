# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

noinst_LTLIBRARIES += src/base/libbase.la
src_base_libbase_la_SOURCES =
