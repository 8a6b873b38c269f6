# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

noinst_LTLIBRARIES += prov/util/libutil.la
prov_util_libutil_la_SOURCES =
prov_util_libutil_la_CFLAGS = $(AM_CFLAGS)

include prov/util/hmem/local.mk
include prov/util/net/local.mk
include prov/util/progress/local.mk
include prov/util/obj/local.mk
include prov/util/xpu/local.mk
include prov/util/info/local.mk
include prov/util/engine/local.mk
include prov/util/channel/local.mk
include prov/util/foreign/local.mk
include prov/util/coll/local.mk
include prov/util/mr/local.mk
include prov/util/layer/local.mk
include prov/util/secure/local.mk
