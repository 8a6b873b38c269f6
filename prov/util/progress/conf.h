/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* conf.h - how long threads poll: FI_SPIN_US. */
#ifndef PROGRESS_CONF_H
#define PROGRESS_CONF_H

#include <stdint.h>

/* obj_spin_limit_ns - FI_SPIN_US.
 * obj_spin_wait_ns - the same for a thread that would sleep else: 0 where there is one processor only, since it would
 * be in the way of the others.
 */
uint64_t obj_spin_limit_ns(void);
uint64_t obj_spin_wait_ns(void);

#endif
