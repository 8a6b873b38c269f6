/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sim_net.h - a network in simulated time, in place of dg.c.
 *
 * One seed determines all random choices, and time is a variable.  Addresses are 10.0.0.1 and a
 * port.
 */
#ifndef RXD_SIM_NET_H
#define RXD_SIM_NET_H

#include <stdbool.h>

#include "rxd/link.h"

#define SNET_PORTS 80
#define SNET_RAIL 20			/* ports from an endpoint's to that of its next rail */
#define SNET_OUTER 256			/* outer numbers of ports */
#define SNET_STRANGER (SNET_OUTER - 1)	/* no endpoint has it; forged packets come from it */

enum snet_marks {
	SNET_MARKS_NONE,	/* the sockets do not support ECN */
	SNET_MARKS_KEPT,
	SNET_MARKS_CLEARED,
	SNET_MARKS_ALL,		/* every packet is marked CE */
	SNET_MARKS_LOST,	/* marked packets are dropped */
	SNET_MARKS_CNT
};

struct snet_conf {
	double loss;		/* of 1 */
	double burst;		/* mean length of a run of losses, packets; 0: single ones */
	double dup, corrupt;
	uint64_t delay_ns;	/* one way */
	uint64_t jitter_ns;	/* on top, at random: reorders */
	uint64_t rate;		/* bytes per second into each port; 0: no limit */
	uint64_t queue;		/* bytes that wait at the bottleneck */
	uint64_t mark;		/* queued bytes above which ECT packets are marked CE; 0: none are */
	enum snet_marks marks;	/* what the path does to marks */
	uint32_t mtu;		/* longer ones are dropped; 0: none are */
	uint32_t rail_mtu[4];	/* of the path by rail i, and of its interfaces; 0: it has no other than these */
	uint64_t rail_rate[4];	/* likewise, in place of rate; its queue is 20 ms long */
	bool mtu_known;		/* the systems refuse what is longer than that */
	uint32_t dgram_max;	/* of the interfaces */
	double held;		/* share of datagrams that wait for the end of a cut, as behind ARP */
	double stolen;		/* share of datagrams of which a copy arrives from SNET_STRANGER */
	uint64_t stolen_ns;	/* by how much later that copy arrives; 0: first */
	unsigned foreign;	/* the endpoint at this port has another version; 0: none has */
	bool foreign_engine;	/* it is the engine's, not the link's */
};

extern struct snet_conf snet_conf;
extern unsigned snet_base;	/* address of port 0 */
extern uint64_t snet_now;
extern uint64_t snet_sent, snet_dropped, snet_marked;

/* snet_start - an empty network.  Frees the datagrams of the last one. */
void snet_start(uint64_t seed, const struct snet_conf *conf);
uint64_t snet_rnd(uint64_t n);
bool snet_chance(double p);

/* Interfaces of an endpoint that is opened from now on; 0 and 1: it has no rails.  Its rail i, from 1, has its port and i times
 * SNET_RAIL more, and reaches rails i alone.
 */
extern unsigned snet_rails;
extern unsigned snet_down;		/* a bit for each interface that the system reports as down, at all endpoints */

/* snet_cut - no datagram arrives from port @from at port @to until @until_ns, or until @from is
 * opened again.
 */
void snet_cut(unsigned from, unsigned to, uint64_t until_ns);

/* snet_move - port @no has another address from now on.  @gone: and is not reached at the old one.
 */
void snet_move(unsigned no, bool gone);

/* snet_seen_as - the outer number of port @no. */
unsigned snet_seen_as(unsigned no);

/* Bytes that came from SNET_STRANGER, and that went there. */
extern uint64_t snet_strange_out, snet_strange_in;

/* snet_next - when the next datagram arrives at any port; UINT64_MAX: none is in flight. */
uint64_t snet_next(void);

/* snet_link - the link at port @no, or NULL. */
struct rxd_link *snet_link(unsigned no);

/* Called when @poller polls for datagrams, to advance the time.  May be NULL. */
extern void (*snet_before_look)(struct rxd_poller *poller);

/* Polls that leave the sockets out, as those do that a provider below takes for idle; none after rxd_dg_arm(). */
extern unsigned snet_skips;

/* Called with each datagram that an endpoint sends, before the network may drop it.  May be NULL. */
extern void (*snet_tap)(unsigned from, unsigned to, const uint8_t *data, size_t len);

/* Called likewise, after snet_tap: an attacker on the path.  Returns true when the datagram is dropped.  May be NULL. */
extern bool (*snet_attack)(unsigned from, unsigned to, const uint8_t *data, size_t len);

/* Does a system say that a port has no socket (ICMP)?  Else its host is gone. */
extern bool snet_refuses;

/* snet_refuse - say so to port @to, about its datagram @buf. */
void snet_refuse(unsigned to, const void *buf, size_t len);

/* snet_forge - a datagram of the test's making to port @to, as if @from had sent it. */
void snet_forge(unsigned from, unsigned to, const void *buf, size_t len);

#endif
