/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* host.h - which host this is, so that peers can tell whether they share it. */
#ifndef CHAN_HOST_H
#define CHAN_HOST_H

#include <stdint.h>

/* chan_host_mark - a number that all containers of this host have in common, and another host almost
 * certainly does not: a hash of the kernel's boot id, which it does not disclose.
 * Returns 0: not known.  Threading: any.
 */
uint32_t chan_host_mark(void);

/* chan_host_mark_of - the same of a boot id as text; at least 65536, or 0 for an empty one. */
uint32_t chan_host_mark_of(const char *boot_id);

#endif
