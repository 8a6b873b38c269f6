/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * vrb_info.h - offers, and what a device makes of them.
 */
#ifndef VRB_INFO_H
#define VRB_INFO_H

#include "obj/check.h"
#include "vrb_dev.h"

/* What is offered on the whole, to be narrowed; for endpoints of each kind. */
extern const struct fi_info vrb_offer_msg, vrb_offer_dgram;
extern struct obj_limits vrb_limits;

/* vrb_info_narrow - to what the device of a port can do. */
void vrb_info_narrow(struct fi_info *info, const struct vrb_port *port);

#endif
