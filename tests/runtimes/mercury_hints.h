/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#ifndef TESTS_MERCURY_HINTS_H
#define TESTS_MERCURY_HINTS_H

/* Mercury NA-OFI, and DAOS over it, use the same hints. */

#include "rt.h"

struct mercury_class {
	const char *prov;
	uint32_t protocol;
	uint32_t addr_format;
	enum fi_progress progress;
	uint64_t extra_caps;
};

/* mercury_hints - the hints for one class, for fi_freeinfo(). */
struct fi_info *mercury_hints(const struct mercury_class *class, enum fi_threading threading);

/* The class of plain tcp. */
extern const struct mercury_class mercury_tcp;

#endif
