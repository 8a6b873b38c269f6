/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* remote.h - processes on other hosts, as they have answered peers on this one (INSPECT_REMOTE). */
#ifndef UTIL_TOP_REMOTE_H
#define UTIL_TOP_REMOTE_H

#include "gather.h"

/* remote_add - to the answers of processes of this host those that they have had from peers, unless the process
 * has answered itself.
 */
void remote_add(struct answers *answers);

/* remote_asked - does a process of this host wait for answers of its peers? */
bool remote_asked(const struct answers *answers);

#endif
