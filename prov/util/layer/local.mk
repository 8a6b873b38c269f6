# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/util/layer/README.md
prov_util_libutil_la_SOURCES += prov/util/layer/layer.c prov/util/layer/layer.h \
	prov/util/layer/mem.c prov/util/layer/mem.h
