/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sim_net.h - a network in simulated time, in place of dg.c.
 *
 * Chance comes from one seed, time is a number.  Addresses are 10.0.0.1 and a port.
 */
#ifndef RXD_SIM_NET_H
#define RXD_SIM_NET_H

#include <stdbool.h>

#include "rxd.h"

#define SIM_PORTS 80

struct sim_conf {
	double loss;		/* of 1 */
	double burst;		/* mean length of a run of losses, packets; 0: single ones */
	double dup, corrupt;
	uint64_t delay_ns;	/* one way */
	uint64_t jitter_ns;	/* on top, at random: reorders */
	uint64_t rate;		/* bytes per second into each port; 0: no limit */
	uint64_t queue;		/* bytes that wait at the bottleneck */
	uint32_t mtu;		/* longer ones vanish; 0: none do */
	uint32_t dgram_max;	/* of the interfaces */
};

extern struct sim_conf sim_conf;
extern uint64_t sim_now;
extern uint64_t sim_sent, sim_dropped;

/* sim_start - an empty network.  Frees what the last one held. */
void sim_start(uint64_t seed, const struct sim_conf *conf);
uint64_t sim_rnd(uint64_t n);
bool sim_chance(double p);

/* sim_cut - nothing gets from port @from to port @to until @until_ns. */
void sim_cut(unsigned from, unsigned to, uint64_t until_ns);

/* sim_next - when the next datagram arrives at any port; UINT64_MAX: none is under way. */
uint64_t sim_next(void);

/* sim_forge - a datagram of the test's making to port @to. */
void sim_forge(unsigned to, const void *buf, size_t len);

#endif
