/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* slow.h - is this program run by valgrind? */
#ifndef OBJ_SLOW_H
#define OBJ_SLOW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What takes time takes many times more then, and a lowered limit of descriptors is
 * not kept by accept4().
 */
static inline bool under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

#endif
