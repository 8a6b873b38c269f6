/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * proof.c - the exchange of addresses, and the keys that prove them.
 *
 * Each side sends a key and its addresses over the first path.  The key proves to the side that made it who answers
 * at an address: only the peer's endpoint has it.  A number that names the connection proves nothing, since each
 * attempt shows it to the process at the address.
 */
#include "tcp/recover/state.h"

#include <endian.h>
#include <string.h>
#include <sys/random.h>

/* ---- our list -------------------------------------------------------------------------- */

void tcp_exchange_begin(struct tcp_recover *rec)
{
	const struct tcp_rails *rails = rec->conn->link->rails;
	struct tcp_exchange *ex = &rec->ex;
	unsigned i;

	if (getrandom(&ex->ours, sizeof(ex->ours), GRND_NONBLOCK) != sizeof(ex->ours))
		return;			/* no key, no rails */
	ex->on = true;
	for (i = 0; i < 2; i++)
		ex->list.key[i] = htole64(ex->ours.k[i]);
	for (i = 0; i < rails->cnt; i++)
		tcp_addr_pack(&rails->listener[i].at, &ex->list.addr[i]);
	ex->list_len = TCP_RAILS_KEY_SIZE + rails->cnt * sizeof(struct tcp_wire_addr);
}

/* ---- the peer's ------------------------------------------------------------------------ */

/* add_theirs - one that cannot be, or would be a way out of our networks, is left out and keeps its place. */
static bool add_theirs(struct tcp_recover *rec, const struct tcp_wire_addr *addr)
{
	struct tcp_exchange *ex = &rec->ex;
	union net_sa *sa = &ex->their[ex->their_cnt];
	char text[NET_ADDR_TEXT_MAX];

	if (tcp_addr_unpack(addr, sa))
		return false;
	if (!chan_rail_may_list(&sa->sa)) {
		TCP_WARN_SPARSE(rec->conn->link->conf, "a peer lists the address %s, which is not used\n",
				sa->sa.sa_family ? net_addr_text(&sa->sa, text) : "none");
		memset(sa, 0, sizeof(*sa));
	}
	ex->their_cnt++;
	return true;
}

static bool rail_reaches(void *arg, unsigned our, unsigned their)
{
	const struct tcp_recover *rec = arg;
	const struct sockaddr *sa = &rec->ex.their[their].sa;

	return sa->sa_family && net_rail_reaches(&rec->conn->link->rails->rail[our], sa);
}

static void pair_rails(struct tcp_recover *rec)
{
	const struct tcp_rails *rails = rec->conn->link->rails;
	struct tcp_exchange *ex = &rec->ex;
	struct chan_rail found[CHAN_RAILS_MAX];
	char text[NET_ADDR_TEXT_MAX];
	unsigned i;

	ex->rail_cnt = chan_rails_pair(rails->cnt, ex->their_cnt, rail_reaches, rec, found);
	for (i = 0; i < ex->rail_cnt; i++) {
		ex->rail[i].base = found[i];
		TCP_INFO(rec->conn->link->conf, "a rail may go by %s to %s\n", rails->rail[found[i].ours].iface,
			 net_addr_text(&ex->their[found[i].theirs].sa, text));
	}
}

bool tcp_exchange_came(struct tcp_recover *rec, const void *list, size_t len)
{
	struct tcp_exchange *ex = &rec->ex;
	struct tcp_wire_rails theirs;
	size_t cnt = (len - TCP_RAILS_KEY_SIZE) / sizeof(struct tcp_wire_addr), i;

	if (ex->got || !rec->conn->link->rails)
		return true;
	memcpy(&theirs, list, len);
	for (i = 0; i < 2; i++)
		ex->theirs.k[i] = le64toh(theirs.key[i]);
	for (i = 0; i < cnt; i++)
		if (!add_theirs(rec, &theirs.addr[i]))
			return false;
	ex->got = true;
	pair_rails(rec);
	return true;
}

/* ---- which rails there are ------------------------------------------------------------- */

struct tcp_rail *tcp_rail_find(struct tcp_recover *rec, int ours)
{
	unsigned i;

	for (i = 0; i < rec->ex.rail_cnt; i++)
		if (rec->ex.rail[i].base.ours == ours)
			return &rec->ex.rail[i];
	return NULL;
}

bool tcp_rail_stands(const struct tcp_recover *rec, int ours)
{
	unsigned i;

	for (i = 0; i < TCP_LANES_MAX; i++)
		if (tcp_path_stands(&rec->path[i]) && !rec->path[i].mute && rec->path[i].ours == ours)
			return true;
	return false;
}

bool tcp_rails_wait(struct tcp_recover *rec)
{
	const struct tcp_rail *rail = rec->ex.rail;

	for (; rail < rec->ex.rail + rec->ex.rail_cnt; rail++)
		if (chan_rail_due(&rail->base, UINT64_MAX) && !tcp_rail_stands(rec, rail->base.ours))
			return true;
	return false;
}
