/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/rail.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_v4_special(const struct sockaddr_in *in)
{
	uint32_t ip = ntohl(in->sin_addr.s_addr);

	return ip >> 24 == 0 || ip >> 28 >= 14;		/* this network; multicast, reserved, broadcast */
}

/* An IPv4 address in the form of IPv6 would pass by the rules for IPv4.  IN6_IS_ADDR_V4COMPAT() of musl looks at
 * the last byte alone, so that ::192.0.2.1 is none to it.
 */
static bool is_v6_special(const struct sockaddr_in6 *in6)
{
	static const uint8_t zero[12];

	return IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) || !memcmp(&in6->sin6_addr, zero, sizeof(zero));
}

bool chan_rail_may_list(const struct sockaddr *sa)
{
	const union net_sa *addr = (const union net_sa *) sa;

	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return false;
	if (sa->sa_family == AF_INET ? is_v4_special(&addr->in) : is_v6_special(&addr->in6))
		return false;
	return net_addr_port(sa) && !net_addr_is_any(sa) && !net_addr_is_loopback(sa) && !net_addr_is_multicast(sa) &&
	       !net_addr_is_link_local(sa);
}

struct pairing {
	unsigned theirs;
	bool reaches[CHAN_RAILS_MAX][CHAN_RAILS_MAX];
	int of[CHAN_RAILS_MAX];		/* which of ours an address of the peer belongs to; -1: none */
	bool seen[CHAN_RAILS_MAX];
};

static bool pair_take(struct pairing *p, unsigned our, unsigned their)
{
	p->of[their] = (int) our;
	return true;
}

/* pair_find - the first address for @our that is free; where none is, that of another one which finds a further one. */
static bool pair_find(struct pairing *p, unsigned our)
{
	unsigned i;

	for (i = 0; i < p->theirs; i++)
		if (p->reaches[our][i] && p->of[i] < 0)
			return pair_take(p, our, i);
	for (i = 0; i < p->theirs; i++) {
		if (!p->reaches[our][i] || p->seen[i])
			continue;
		p->seen[i] = true;
		if (pair_find(p, (unsigned) p->of[i]))
			return pair_take(p, our, i);
	}
	return false;
}

unsigned chan_rails_pair(unsigned ours, unsigned theirs,
			 bool (*reaches)(void *arg, unsigned our, unsigned their), void *arg, struct chan_rail *rail)
{
	struct pairing p = { .theirs = theirs };
	unsigned cnt = 0, i, k;

	for (k = 0; k < CHAN_RAILS_MAX; k++)
		p.of[k] = -1;
	for (i = 0; i < ours; i++)
		for (k = 0; k < theirs; k++)
			p.reaches[i][k] = reaches(arg, i, k);
	for (i = 0; i < ours; i++) {
		memset(p.seen, 0, sizeof(p.seen));
		pair_find(&p, i);
	}
	for (i = 0; i < ours; i++)
		for (k = 0; k < theirs; k++)
			if (p.of[k] == (int) i)
				rail[cnt++] = (struct chan_rail) { .ours = (uint8_t) i, .theirs = (uint8_t) k };
	return cnt;
}

bool chan_rail_due(const struct chan_rail *rail, uint64_t now)
{
	return (rail->proven || rail->tries < CHAN_RAIL_PROBES) && now >= rail->due_ns;
}

void chan_rail_tried(struct chan_rail *rail, uint64_t now)
{
	rail->tries++;
	rail->due_ns = now + CHAN_RAIL_EVERY_NS;
}

void chan_rail_failed(struct chan_rail *rail, uint64_t now)
{
	if (rail->made_ns && now - rail->made_ns >= CHAN_RAIL_STEADY_NS)
		rail->soon = 0;
	else if (rail->made_ns && rail->soon < CHAN_RAIL_SOON_MAX)
		rail->soon++;
	rail->due_ns = now + (CHAN_RAIL_EVERY_NS << (rail->made_ns && rail->soon ? rail->soon - 1 : 0));
	rail->made_ns = 0;
}

void chan_rail_made(struct chan_rail *rail, uint64_t now)
{
	rail->proven = true;
	rail->tries = 0;
	rail->made_ns = now;
}
