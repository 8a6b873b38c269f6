/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* getinfo.h - discovery: ask the providers and sort their results. */
#ifndef CORE_GETINFO_H
#define CORE_GETINFO_H

#include <rdma/fabric.h>

/* core_getinfo - fi_getinfo() in the present layout. */
int core_getinfo(uint32_t version, const char *node, const char *service,
		 uint64_t flags, const struct fi_info *hints,
		 struct fi_info **info_p);

#endif
