/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * by_msg.h - calls without flags, made as calls with flags.
 *
 * An alias (fi_ep_alias) may have default flags that only the calls with flags of a provider
 * know: FI_TRIGGER, FI_FENCE, FI_MORE, FI_PEEK and the like.  Its tables turn fi_send() into
 * fi_sendmsg() of the endpoint with those flags, and so on for every call that takes none.
 * Endpoints themselves, and aliases with the usual flags, keep the provider's tables: they pay
 * nothing.  Sources: fi_endpoint(3) "Operation flags", fi_trigger(3).
 */
#ifndef OBJ_BY_MSG_H
#define OBJ_BY_MSG_H

#include <stdbool.h>

#include "obj/ep.h"

/* obj_by_msg - give @alias these tables, or those of its endpoint.
 * Calls of the inject kind have no context, hence no such flags: they go on unchanged.
 * Threading: no other thread uses @alias.
 */
void obj_by_msg(struct fid_ep *alias, bool on);

#endif
