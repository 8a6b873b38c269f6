/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* sim_attack.h - protected endpoints in simulated time, and an attacker on the path, who has every datagram. */
#ifndef RXD_SIM_ATTACK_H
#define RXD_SIM_ATTACK_H

#include "rxd/secure/state.h"
#include "sim_nodes.h"

#define MESSAGE 64
#define WHILE_NS (20 * CLOCK_NS_PER_S)
#define CAPTURE_MAX 4096

static const char *level;

/* ---- what the attacker has ------------------------------------------------------------------ */

static struct captured {
	unsigned from, to;
	size_t len;
	uint8_t data[2048];
} captured[CAPTURE_MAX];
static unsigned captured_cnt;

static inline void capture(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	struct captured *c = &captured[captured_cnt];

	if (captured_cnt == CAPTURE_MAX || len > sizeof(c->data))
		return;
	captured_cnt++;
	c->from = from;
	c->to = to;
	c->len = len;
	memcpy(c->data, data, len);
}

static inline uint8_t type_of(const uint8_t *data)
{
	return data[offsetof(struct rxd_hdr, type)];
}

static inline bool is_sealed(const uint8_t *data, size_t len)
{
	return rxd_sec_is_sealed(data, len);
}

/* ---- three nodes: 0 connects to 1, and 2 is a bystander of 1 ----------------------------------- */

static inline void begin(void)
{
	struct snet_conf good = { .dgram_max = 1456, .delay_ns = 50000 };
	unsigned i;

	nodes_seed = 0;
	nodes_level = level;
	snet_attack = NULL;
	snet_tap = capture;
	captured_cnt = 0;
	snet_start(1, &good);
	nodes_downs = 0;
	rxd_conf.checksum = 0;
	for (i = 0; i < 3; i++) {
		node_open(i);
		nodes[i]->later = 0;
	}
}

static inline void finish(void)
{
	unsigned i;

	snet_attack = NULL;
	snet_tap = NULL;
	nodes_downs = 0;
	for (i = 0; i < 3; i++)
		node_close(i);
}

/* run_until - until @from's messages have come to @to, or their connection is lost. */
static inline bool run_until(unsigned from, unsigned to)
{
	uint64_t end = snet_now + WHILE_NS, downs = nodes_downs;

	while (!nodes_got_all(from, to) && nodes_downs == downs && snet_now < end) {
		nodes_turn();
		snet_now = nodes_soonest();
	}
	return nodes_downs == downs && nodes_got_all(from, to);
}

static inline void quiet(uint64_t ns)
{
	uint64_t end = snet_now + ns, next;

	while (snet_now < end) {
		nodes_turn();
		next = nodes_soonest();
		snet_now = next < end ? next : end;
	}
}

static inline bool say(unsigned from, unsigned to)
{
	node_send(nodes[from], &nodes[from]->peers[to], MESSAGE);
	return run_until(from, to);
}

/* bystander - its connection goes on. */
static inline void bystander(void)
{
	uint64_t downs = nodes_downs;

	CHECK(say(2, 1) && say(1, 2) && nodes_downs == downs);
}

static inline struct rxd_sec *sec_of(unsigned node, unsigned peer)
{
	return rxd_sec_of((struct rxd_conn *) nodes[node]->peers[peer].chan);
}

static inline void connected(void)
{
	begin();
	CHECK(say(2, 1) && say(1, 2) && say(0, 1) && say(1, 0));
	quiet(CLOCK_NS_PER_S);
}

#endif
