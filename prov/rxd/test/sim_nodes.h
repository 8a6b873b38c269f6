/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sim_nodes.h - endpoints of this provider in simulated time (sim_net.h), under an engine
 * that checks what it is given: every message once, whole and in order.
 *
 * Its messages contain their sender.  They are received at random in each way that an engine
 * may choose: in place, placed, held and pulled, dropped, or refused for a while.
 */
#ifndef RXD_SIM_NODES_H
#define RXD_SIM_NODES_H

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_net.h"

#define NODES 65
#define NODES_FEW 3
#define PORT(i) ((unsigned) (1 + (i)))

#define CHECK(cond)								\
	do {									\
		if (!(cond)) {							\
			fprintf(stderr, "%s:%d: seed %llu, %.6f s: %s\n", __FILE__, __LINE__, \
				(unsigned long long) nodes_seed, (double) snet_now / 1e9, #cond); \
			abort();						\
		}								\
	} while (0)

struct eng_peer {
	struct eng_ep *ep;
	struct sockaddr_in addr;
	bool started;
	/* to it */
	uint64_t gen, sent, out;
	/* from it */
	uint64_t from_life, from_gen, next;
	_Alignas(16) uint8_t chan[sizeof(struct rxd_conn)];
};

struct eng_ep {
	struct obj_ep base;	/* first */
	struct fi_info info;
	struct sockaddr_in addr;
	struct obj_prog prog;
	struct eng_link *link;
	uint64_t life;
	struct eng_peer peers[NODES];
	struct list held;
	unsigned placing;
	uint64_t later;		/* percent of packets refused for now */
	/* of a MSG endpoint */
	unsigned connected, refused, shut;	/* how often each was reported */
	int refused_err;
	uint8_t cm_data[RXD_DATA_MAX];		/* private data of the last report */
	size_t cm_len;
};

/* A listener. */
struct eng_pep {
	struct obj_pep base;	/* first */
	struct fi_info info;
	struct sockaddr_in addr;
	struct obj_prog prog;
	struct eng_link *link;
	void *req;		/* the last request */
	unsigned req_cnt;
	uint8_t cm_data[RXD_DATA_MAX];
	size_t cm_len;
};

extern uint64_t nodes_seed;		/* printed by CHECK */
extern uint64_t nodes_downs;		/* peers that were reported lost */
extern int nodes_last_err;		/* why the last of them was */
extern uint64_t nodes_delivered;	/* messages */
extern uint64_t nodes_failed;		/* whose sends ended with an error */
extern unsigned node_cnt;		/* NODES_FEW at first */
extern struct eng_ep *nodes[NODES];
extern struct fi_provider nodes_prov;

/* How nodes and listeners that are opened from now on are protected: a value of FI_SECURITY, and a key; NULL: not at
 * all.
 */
extern const char *nodes_level;
extern uint8_t nodes_key[32];
extern uint64_t nodes_key_bytes;	/* after which a key is exchanged; 0: as in programs */

/* nodes_can_protect - whether they can be protected here; says why not. */
bool nodes_can_protect(void);

/* node_open - at PORT(no).  node_close - as if its process was killed: no packet is sent. */
void node_open(unsigned no);
void node_close(unsigned no);

/* node_open_msg - the same with a MSG endpoint.  node_listen - a listener at PORT(no); it is no
 * node.  node_unlisten - close it.
 */
void node_open_msg(unsigned no);
struct eng_pep *node_listen(unsigned no);
void node_unlisten(struct eng_pep *pep);

/* nodes_poll_group - one poll of the endpoints of @prog.  Returns what it did. */
int nodes_poll_group(struct obj_prog *prog);

/* node_poll - one poll.  Returns what it did. */
int node_poll(struct eng_ep *ep);

/* nodes_bytes - the @len bytes of message number @seq, up to RXD_PAYLOAD_MAX. */
const uint8_t *nodes_bytes(uint64_t seq, size_t len);

/* node_send - one message of @len bytes. */
void node_send(struct eng_ep *ep, struct eng_peer *peer, size_t len);

/* nodes_turn - poll all of them, and pull some of the held messages. */
void nodes_turn(void);

/* nodes_soonest - the time of the next event. */
uint64_t nodes_soonest(void);

/* nodes_length - of a message, at random: most are short. */
size_t nodes_length(void);

/* nodes_got_all - has @j all that @i sent to it? */
bool nodes_got_all(unsigned i, unsigned j);

/* nodes_all_there - has every node received everything? */
bool nodes_all_there(void);

#endif
