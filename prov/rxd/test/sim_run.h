/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sim_run.h - networks with every kind of fault, and three nodes that talk over each: every message arrives once,
 * whole and in order, or its connection is reported lost.
 */
#ifndef RXD_SIM_RUN_H
#define RXD_SIM_RUN_H

#include "sim_nodes.h"

static inline struct snet_conf some_conf(void)
{
	static const double losses[] = { 0, 0, 0.001, 0.01, 0.05, 0.2, 0.5 };
	static const uint32_t dgrams[] = { 1456, 8956, 65491 };
	struct snet_conf conf = { .dgram_max = dgrams[snet_rnd(3)] };

	conf.loss = losses[snet_rnd(7)];
	conf.burst = snet_rnd(3) ? 0 : 1 + (double) snet_rnd(8);
	conf.dup = snet_rnd(3) ? 0 : 0.1;
	conf.corrupt = snet_rnd(4) ? 0 : 0.02;
	conf.delay_ns = 10000u << snet_rnd(15);		/* 10 us to 164 ms */
	if (!snet_rnd(10))
		conf.delay_ns = 500 * CLOCK_NS_PER_MS;
	conf.jitter_ns = snet_rnd(2) ? 0 : snet_rnd(conf.delay_ns * 2) + 1;
	conf.mtu = snet_rnd(3) ? 0 : 1100 + (uint32_t) snet_rnd(8000);
	if (!snet_rnd(4)) {
		conf.rate = 1000000u << snet_rnd(7);
		conf.queue = 20000 + snet_rnd(200000);
		conf.mark = snet_rnd(conf.queue);
	}
	conf.marks = snet_rnd(3) ? SNET_MARKS_KEPT : (enum snet_marks) snet_rnd(SNET_MARKS_CNT);
	return conf;
}

static inline void mishap(uint64_t kind)
{
	unsigned a = (unsigned) snet_rnd(node_cnt), b = (unsigned) snet_rnd(node_cnt);

	switch (kind) {
	case 0:		/* one way only */
		snet_cut(PORT(a), PORT(b), snet_now + snet_rnd(20 * CLOCK_NS_PER_S));
		break;
	case 1:
		node_close(a);
		node_open(a);
		break;
	case 2:		/* the path becomes narrower */
		snet_conf.mtu = 1100 + (uint32_t) snet_rnd(3000);
		break;
	case 3:		/* a second address, which is used from now on */
		snet_move(PORT(a), false);
		break;
	default:
		break;
	}
}

/* A node that sent to a peer that ended afterwards notices it when it sends again. */
static inline void poke(void)
{
	unsigned i, j;

	for (i = 0; i < node_cnt; i++)
		for (j = 0; j < node_cnt; j++)
			if (!nodes_got_all(i, j) && !nodes[i]->peers[j].out)
				node_send(nodes[i], &nodes[i]->peers[j], 10);
}

#define POKE_NS (130 * CLOCK_NS_PER_S)

/* heal - the network is good again; all that was not reported lost must arrive. */
static inline void heal(void)
{
	uint64_t poked = snet_now, end = snet_now + 6000 * CLOCK_NS_PER_S;
	unsigned quiet = 0, i;

	while (!nodes_all_there() && snet_now < end) {
		if (snet_now > poked + POKE_NS) {
			poked = snet_now;
			poke();
		}
		nodes_turn();
		snet_now = nodes_soonest();
		if (snet_now > poked + POKE_NS)
			snet_now = poked + POKE_NS + 1;	/* what was given up waits for nothing else */
		if (snet_next() == UINT64_MAX && ++quiet > 200000)
			break;
	}
	for (i = 0; i < node_cnt; i++)
		nodes[i]->later = 0;
	for (quiet = 0; quiet < 50 && !nodes_all_there(); quiet++) {
		nodes_turn();
		snet_now += CLOCK_NS_PER_MS;
	}
	CHECK(nodes_all_there());
}

/* sim_run - one network, by its seed. */
static inline void sim_run(uint64_t number)
{
	struct snet_conf good = { .dgram_max = 1456 }, conf;
	unsigned steps = 20 + (unsigned) (number % 60), i;
	bool trouble;

	nodes_seed = number;
	snet_start(number, &good);
	for (i = 0; i < 10; i++)
		snet_rnd(2);
	conf = some_conf();
	snet_conf = conf;
	trouble = !snet_rnd(3);
	rxd_conf.checksum = conf.corrupt > 0 || snet_rnd(2);
	rxd_conf.cc = snet_rnd(2) ? RXD_CC_CUBIC : (enum rxd_cc_kind) snet_rnd(3);
	for (i = 0; i < node_cnt; i++)
		node_open(i);
	for (i = 0; i < steps; i++) {
		unsigned from = (unsigned) snet_rnd(node_cnt), to = (unsigned) snet_rnd(node_cnt), cnt;

		for (cnt = 1 + (unsigned) snet_rnd(6); cnt--;)
			node_send(nodes[from], &nodes[from]->peers[to], nodes_length());
		for (cnt = (unsigned) snet_rnd(20); cnt--;) {
			nodes_turn();
			if (nodes_soonest() != UINT64_MAX)	/* all connections were given up */
				snet_now = nodes_soonest();
		}
		if (trouble && !snet_rnd(10))
			mishap(snet_rnd(4));
	}
	heal();
	/* a run of losses may last longer than an attempt to connect */
	if (!trouble && conf.loss < (conf.burst > 1 ? 0.1 : 0.4))
		CHECK(!nodes_downs);
	nodes_downs = 0;
	for (i = 0; i < node_cnt; i++)
		node_close(i);
}

#endif
