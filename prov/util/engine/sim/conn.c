/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/sim/conn.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/iov.h"
#include "engine/wire.h"

struct sim sim;
unsigned sim_ops[256];

uint64_t sim_rnd(uint64_t n)
{
	sim.rnd = sim.rnd * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (sim.rnd >> 33) % n;
}

bool sim_chance(unsigned pct)
{
	return sim_rnd(100) < pct;
}

/* Printed by assertions (base/test/verify.h); a fuzzer has none. */
__attribute__((weak)) uint64_t verify_seed;

void sim_start(uint64_t seed, const struct sim_conf *conf)
{
	sim.conf = *conf;
	sim.rnd = seed * 2654435761u + 12345;
	verify_seed = seed;
	sim.now = 1;
	sim.frames = 0;
	sim.stalled = false;
	list_init(&sim.links);
	list_init(&sim.conns);
	memset(sim_ops, 0, sizeof(sim_ops));
}

void sim_frame_free(struct frame *f)
{
	list_del(&f->node);
	free(f->data);
	free(f);
	sim.frames--;
}

void sim_conn_free(struct conn *c)
{
	struct frame *f;
	int i;

	for (i = 0; i < 2; i++)
		while ((f = list_pop_entry(&c->to[i], struct frame, node))) {
			if (f->held)
				f->lost = f->avail < f->len;
			else
				sim_frame_free(f);
		}
	list_del(&c->node);
	free(c);
}

bool sim_end(void)
{
	struct conn *c, *tmp;

	list_for_each_entry_safe(c, tmp, &sim.conns, node)
		if (!c->end[0] && !c->end[1])
			sim_conn_free(c);
	if (sim.frames || !list_empty(&sim.links) || !list_empty(&sim.conns))
		fprintf(stderr, "sim: %zu packets, links %s, connections %s\n", sim.frames,
			list_empty(&sim.links) ? "none" : "left",
			list_empty(&sim.conns) ? "none" : "left");
	return !sim.frames && list_empty(&sim.links) && list_empty(&sim.conns);
}

bool sim_idle(void)
{
	struct conn *c;
	struct sim_link *link;
	struct chan *chan;

	list_for_each_entry(c, &sim.conns, node)
		if (!list_empty(&c->to[0]) || !list_empty(&c->to[1]) || c->fin || c->err)
			return false;
	list_for_each_entry(link, &sim.links, node)
		list_for_each_entry(chan, &link->chans, node)
			if (!list_empty(&chan->out))
				return false;
	return true;
}

struct sim_link *sim_find(const struct sockaddr_in *addr)
{
	struct sim_link *link;

	list_for_each_entry(link, &sim.links, node)
		if (link->addr.sin_port == addr->sin_port)
			return link;
	return NULL;
}

struct conn *sim_conn_new(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
	struct conn *c = calloc(1, sizeof(*c));

	c->addr[0] = *from;
	c->addr[1] = *to;
	list_init(&c->to[0]);
	list_init(&c->to[1]);
	list_add_tail(&c->node, &sim.conns);
	return c;
}

void sim_join(struct conn *c, int side, struct sim_link *link, struct chan *chan)
{
	c->end[side] = chan;
	chan->conn = c;
	chan->side = side;
	chan->shut = false;
	chan->unformed = sim.conf.whole;
	list_init(&chan->out);
	list_add_tail(&chan->node, &link->chans);
}

void sim_transmit(struct conn *c, int to, const void *hdr, size_t hdr_len,
		  const struct iovec *iov, size_t cnt, size_t len)
{
	struct frame *f = calloc(1, sizeof(*f));
	size_t done;

	sim.frames++;
	memcpy(f->hdr, hdr, hdr_len);
	f->hdr_len = hdr_len;
	f->len = len;
	f->data = malloc(len ? len : 1);
	done = iov_gather(iov, cnt, 0, f->data, len);
	if (done != len) {	/* with NDEBUG too */
		fprintf(stderr, "sim: a packet of %zu bytes has a list of %zu\n", len, done);
		abort();
	}
	f->at = sim.now + sim_rnd(sim.conf.delay + 1);
	if (f->at < c->last[to])
		f->at = c->last[to];
	c->last[to] = f->at;
	list_add_tail(&f->node, &c->to[to]);
	sim_ops[f->hdr[0]]++;
}

void sim_inject_packet(uint16_t from, uint16_t to, const void *hdr, size_t hdr_len,
		       const void *data, size_t len)
{
	struct iovec iov = { (void *) data, len };
	struct conn *c;

	list_for_each_entry(c, &sim.conns, node) {
		int i;

		for (i = 0; i < 2; i++)
			if (ntohs(c->addr[i].sin_port) == to &&
			    ntohs(c->addr[!i].sin_port) == from && c->end[i]) {
				sim_transmit(c, i, hdr, hdr_len, &iov, 1, len);
				return;
			}
	}
	assert(!"the two are connected");
}

/* ---- endings ---------------------------------------------------------------- */

/* Lose what is in flight from a random point on. */
void sim_truncate(struct list *to)
{
	struct frame *f, *tmp;
	bool lost = false;

	list_for_each_entry_safe(f, tmp, to, node) {
		lost = lost || (!f->shown && !sim_rnd(4));
		if (lost && !f->shown)
			sim_frame_free(f);
	}
}

bool sim_break(uint16_t a, uint16_t b)
{
	struct conn *c;

	list_for_each_entry(c, &sim.conns, node) {
		uint16_t p0 = ntohs(c->addr[0].sin_port), p1 = ntohs(c->addr[1].sin_port);

		if (c->err || c->fin || !((p0 == a && p1 == b) || (p0 == b && p1 == a)))
			continue;
		sim_truncate(&c->to[0]);
		sim_truncate(&c->to[1]);
		c->err = FI_ECONNRESET;
		return true;
	}
	return false;
}

void sim_crash(uint16_t port)
{
	struct sockaddr_in addr = { .sin_port = htons(port) };

	sim_find(&addr)->crash = true;
}

/* Packets and placements of an end that goes. */
void sim_chan_fail(struct sim_link *sl, struct chan *chan, int status)
{
	struct conn *c = chan->conn;
	struct eng_pkt *pkt;
	struct frame *f;

	chan->conn = NULL;
	chan->losing = true;
	while ((pkt = list_pop_entry(&chan->out, struct eng_pkt, node)))
		pkt->done(pkt, status);
	while ((f = list_pop_entry(&c->to[chan->side], struct frame, node))) {
		void *cookie = f->placing ? f->cookie : NULL;

		if (f->held) {
			f->lost = f->avail < f->len;
			continue;
		}
		sim_frame_free(f);
		if (cookie)
			eng_on_placed(&sl->link, cookie, status);
	}
	chan->losing = false;
	c->end[chan->side] = NULL;
	c->gone[chan->side] = true;
	list_del(&chan->node);
	/* What was sent waits for an end that has not shown up yet. */
	if (!c->end[!chan->side] &&
	    (c->gone[!chan->side] || c->err || !sim_find(&c->addr[!chan->side])))
		sim_conn_free(c);
}
