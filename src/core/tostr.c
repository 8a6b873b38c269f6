/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdio.h>
#include <rdma/fabric.h>
#include "core/export.h"
CORE_EXPORT
char *fi_tostr_r(char *buf, size_t len, const void *data, enum fi_type datatype)
{
	snprintf(buf, len, "?");
	return buf;
}
CORE_EXPORT
char *fi_tostr(const void *data, enum fi_type datatype)
{
	static _Thread_local char buf[8192];
	return fi_tostr_r(buf, sizeof(buf), data, datatype);
}
