/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * world.h - endpoints on the simulated network, for the engine's tests.
 */
#ifndef ENG_SIM_WORLD_H
#define ENG_SIM_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_tagged.h>

#include "engine/ep.h"
#include "engine/sim/link.h"

#define NODES_MAX 20
#define PORT(i) ((uint16_t) (1000 + (i)))

struct node {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_eq *eq;
	struct fid_cntr *tx_cntr, *rx_cntr;
	uint64_t caps;		/* of info, 0: all */
	uint64_t tx_op_flags, rx_op_flags;
	uint64_t bind_flags;	/* FI_SELECTIVE_COMPLETION */
	size_t tx_size, rx_size;
	struct fid_av *given;	/* the test's: used instead of one of our own */
};

struct world {
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct node node[NODES_MAX];
	int cnt;
	/* More to bind, called before an endpoint is enabled; may be NULL. */
	void (*before_enable)(struct world *w, int i);
};

/* An entry of either kind. */
struct comp {
	struct fi_cq_tagged_entry e;
	fi_addr_t src;
	int err;		/* not 0: from err on it is an error entry */
	size_t olen;
};

extern const struct sim_conf sim_ideal;	/* no delay, nothing in pieces */
extern const struct sim_conf sim_rough;
extern const struct sim_conf sim_whole;	/* rough, and packets go whole */

/* world_open - @cnt RDM endpoints that know each other: fi_addr_t is the number. */
void world_open(struct world *w, int cnt, uint64_t seed, const struct sim_conf *conf);
void world_close(struct world *w);

/* world_open_domain, world_open_nodes - the same in two steps. */
void world_open_domain(struct world *w, uint64_t seed, const struct sim_conf *conf);
void world_open_nodes(struct world *w, int cnt);

/* world_fill_av - insert the addresses of all nodes. */
void world_fill_av(struct world *w, struct fid_av *av);

/* node_open - one endpoint again, after node_close(); options of @n stay. */
void node_open(struct world *w, int i);
void node_close(struct world *w, int i);

/* world_poll - poll every endpoint once, without reading anything. */
void world_poll(struct world *w);

/* node_read - a completion, or false. */
bool node_read(struct node *n, struct comp *c);

/* node_wait - the next completion of @n; fails the test if none comes. */
void node_wait(struct world *w, struct node *n, struct comp *c);

/* node_expect - the next completion, which must be the success of @context; @len of a receive. */
void node_expect(struct world *w, struct node *n, void *context, uint64_t flags, size_t len);
/* node_expect_err - the next completion, which must be its failure with @err. */
void node_expect_err(struct world *w, struct node *n, void *context, int err);

/* node_none - many polls, and nothing completes. */
void node_none(struct world *w, struct node *n);

/* world_settle - until nothing is in flight any more. */
void world_settle(struct world *w);

/* pattern - fill or check message bytes by a seed. */
void pattern_fill(void *buf, size_t len, uint64_t seed);
bool pattern_ok(const void *buf, size_t len, uint64_t seed);

/* world_seeds - the seeds of a run: arguments [first [how many]], or ENGINE_SEEDS, how many.
 * Both stay as they are where nothing is given.
 */
void world_seeds(int argc, char **argv, uint64_t *from, uint64_t *cnt);

/* Let the @n-th pool growth from now on fail, and all that follow until 0 is set. */
extern long sim_fail_after;

static inline struct eng_ep *eng_of(struct node *n)
{
	return eng_ep_of(n->ep);
}

#endif
