/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * name.h - addresses of endpoints: text, FI_ADDR_STR, with the NUL.
 *
 *	fi_loop://PID/SERVICE	the endpoint of a service that the program has chosen
 *	fi_loop://PID:N		the N-th endpoint of the process that was given no service
 *	fi_loop://PID		in a fi_info: any endpoint of the process
 */
#ifndef LOOP_NAME_H
#define LOOP_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "inbox.h"

struct fi_info;

/* loop_name_make - the name that fi_getinfo() gives for a node and a service; either may be
 * NULL.  A node with "://" is the whole name.
 * Errors: -FI_ENODATA: the node is not this host; -FI_EINVAL: too long.
 */
int loop_name_make(const char *node, const char *service, char name[LOOP_NAME_MAX]);

/* loop_name_here - can it be an endpoint of this process? */
bool loop_name_here(const char *name);

/* loop_name_hint - an address in a fi_info that is a name, or NULL. */
const char *loop_name_hint(const void *addr, size_t len);

/* loop_name_own - eng_domain_ops.named: a copy of @info whose source address is that of one
 * endpoint alone.
 */
struct fi_info *loop_name_own(const struct fi_info *info);

#endif
