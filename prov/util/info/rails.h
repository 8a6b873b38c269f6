/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rails.h - what the environment says of rails, the same for each provider that has them: FI_RAILS, FI_RAIL_MIN and
 * FI_RAILS_IFACES; and the interfaces that this chooses.
 */
#ifndef INFO_RAILS_H
#define INFO_RAILS_H

#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>
#include <stdbool.h>
#include <stddef.h>

#include "net/rail.h"

struct info_rails {
	int most;		/* interfaces that an endpoint uses; 1: no rails */
	size_t min;		/* bytes that wait before others than the best one take some */
	const char *ifaces;	/* which, with commas; ^ in front: all but these; NULL: those that are fit */
};

#define INFO_RAILS_DEFAULT { .most = 1, .min = 65536 }

/* info_rails_read - make the variables known (fi_info -e), and read those that are set into @conf. */
void info_rails_read(const struct fi_provider *prov, struct info_rails *conf);

/* info_rails_note - a program asks fi_getinfo() for these: does it name an interface or a source address?  Then its
 * endpoints use one interface.   info_rails_named - has one done so?   Threading: any.
 */
void info_rails_note(const char *node, uint64_t flags, const struct fi_info *hints);
bool info_rails_named(void);

/* info_rails_choose - the interfaces with addresses of @family, the best first; those that are left out are logged.
 * @rail: [out] room for NET_RAILS_MAX.   Returns how many.
 */
unsigned info_rails_choose(const struct fi_provider *prov, const struct info_rails *conf, int family,
			   struct net_rail *rail);

#endif
