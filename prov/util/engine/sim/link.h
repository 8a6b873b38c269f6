/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * link.h - a network inside the test program.
 *
 * Time is a number that each poll moves on by one; chance comes from one seed.
 * Packets of a pair keep their order, those of different pairs do not.  Payload
 * may arrive in pieces, holds may be refused, packets may stay with the link for
 * a while, connections break, and endpoints come back at their old address.
 * Everything runs in one thread.
 */
#ifndef ENG_SIM_LINK_H
#define ENG_SIM_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/api.h"

#define SIM_HOST 0x0a000001	/* 10.0.0.1: where every endpoint is */

struct sim_conf {
	unsigned delay;		/* most ticks that a packet is in flight */
	unsigned queue_pct;	/* chance that send() keeps the packet */
	unsigned once_not_pct;	/* chance that send() wants to keep a packet that must not be kept */
	unsigned partial_pct;	/* chance that payload arrives in pieces */
	unsigned nohold_pct;	/* chance that hold() is refused */
	size_t eager_limit;
	size_t seg_size;
	bool same_host;
	bool whole;		/* ENG_FORMAT_WHOLE, which is not known before the first poll of a channel */
};

/* The link: link.c, or what another directory has in its place. */
extern const struct eng_link_ops *const sim_transport;

/* sim_start - an empty network. */
void sim_start(uint64_t seed, const struct sim_conf *conf);

/* sim_end - true if nothing of the network is left; prints what is. */
bool sim_end(void);

/* sim_rnd - a number below @n out of the same seed. */
uint64_t sim_rnd(uint64_t n);

/* sim_break - the connection between two ports breaks: what is in flight is
 * lost, beyond a random point.  Returns false if there is none.
 */
bool sim_break(uint16_t a, uint16_t b);

/* sim_fail_post - the next packet that is put in a slot finds its connection broken. */
void sim_fail_post(void);

/* sim_stall - from now on links keep what they are given, and of the payload of a packet
 * only half arrives; until false is given.
 */
void sim_stall(bool on);

/* sim_crash - when the endpoint at @port closes, it does so like a process that
 * is killed: nothing is pushed out.
 */
void sim_crash(uint16_t port);

/* sim_inject_packet - @from sends a packet of the test's making to @to. */
void sim_inject_packet(uint16_t from, uint16_t to, const void *hdr, size_t hdr_len,
		       const void *data, size_t len);

/* sim_idle - nothing is in flight or waiting in a link. */
bool sim_idle(void);

/* Packets by engine operation (enum wire_op) since sim_start(). */
extern unsigned sim_ops[256];

/* sim_fabric_open, sim_info - a provider over the network, and an fi_info of it
 * for an endpoint at @port.
 */
int sim_fabric_open(struct fid_fabric **fabric_p);
struct fi_info *sim_info(enum fi_ep_type type, uint16_t port);

/* Further capabilities in sim_info(); with FI_HMEM, FI_MR_HMEM too. */
extern uint64_t sim_caps;

#endif
