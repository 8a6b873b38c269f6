/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * world.h - groups on the simulated network, for the tests of collectives.
 */
#ifndef COLL_COLL_WORLD_H
#define COLL_COLL_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"
#include <rdma/fi_collective.h>

#include "coll/group.h"
#include "coll/register.h"
#include "engine/sim/world.h"

#define COLL_CAPS (ENG_TX_CAPS | ENG_RX_CAPS | FI_COLLECTIVE)

struct cworld {
	struct world w;
	struct fid_eq *eq[NODES_MAX];
};

static inline void bind_eq(struct world *w, int i)
{
	struct cworld *cw = container_of(w, struct cworld, w);

	assert_int_equal(fi_ep_bind(w->node[i].ep, &cw->eq[i]->fid, 0), 0);
}

static inline void cworld_open(struct cworld *cw, int cnt, uint64_t seed,
			       const struct sim_conf *conf)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_NONE };
	int i;

	memset(cw, 0, sizeof(*cw));
	coll_register();
	cw->w.before_enable = bind_eq;
	world_open_domain(&cw->w, seed, conf);
	for (i = 0; i < cnt; i++) {
		assert_int_equal(fi_eq_open(cw->w.fabric, &attr, &cw->eq[i], NULL), 0);
		cw->w.node[i].caps = COLL_CAPS;
	}
	world_open_nodes(&cw->w, cnt);
}

static inline void cworld_close(struct cworld *cw)
{
	int i;

	for (i = 0; i < cw->w.cnt; i++) {
		if (cw->w.node[i].cq)
			node_close(&cw->w, i);
		assert_int_equal(fi_close(&cw->eq[i]->fid), 0);
	}
	world_close(&cw->w);
}

/* The members of @list (or 0 .. cnt - 1), as addresses of node @i. */
static inline struct fid_av_set *make_set(struct cworld *cw, int i, const int *list, int cnt)
{
	struct fi_av_set_attr attr = { .start_addr = FI_ADDR_NOTAVAIL,
				       .end_addr = FI_ADDR_NOTAVAIL };
	struct fid_av_set *set;
	int k;

	assert_int_equal(fi_av_set(cw->w.node[i].av, &attr, &set, NULL), 0);
	for (k = 0; k < cnt; k++)
		assert_int_equal(fi_av_set_insert(set, list ? (fi_addr_t) list[k] : (fi_addr_t) k),
				 0);
	return set;
}

/* Start a join; the set is closed at once, since a group does not need it. */
static inline struct fid_mc *start_join(struct cworld *cw, int i, const int *list, int cnt,
					fi_addr_t coll_addr)
{
	struct fid_av_set *set = make_set(cw, i, list, cnt);
	struct fid_mc *mc = NULL;

	assert_int_equal(fi_join_collective(cw->w.node[i].ep, coll_addr, set, 0, &mc, set), 0);
	assert_non_null(mc);
	assert_int_equal(fi_close(&set->fid), 0);
	return mc;
}

/* The next event of node @i: 0 and the group, or a positive error. */
static inline int wait_join(struct cworld *cw, int i, struct fid_mc *mc)
{
	struct fi_eq_err_entry bad = { 0 };
	struct fi_eq_entry entry = { 0 };
	uint32_t event = 0;
	ssize_t ret;
	int join_no;

	for (join_no = 0; join_no < 100000; join_no++) {
		ret = fi_eq_read(cw->eq[i], &event, &entry, sizeof(entry), 0);
		if (ret == sizeof(entry)) {
			assert_int_equal(event, FI_JOIN_COMPLETE);
			assert_ptr_equal(entry.fid, &mc->fid);
			assert_ptr_equal(entry.context, mc->fid.context);
			return 0;
		}
		if (ret == -FI_EAVAIL) {
			assert_int_equal(fi_eq_readerr(cw->eq[i], &bad, 0), sizeof(bad));
			assert_ptr_equal(bad.fid, &mc->fid);
			assert_int_not_equal(bad.err, 0);
			return bad.err;
		}
		assert_int_equal(ret, -FI_EAGAIN);
		world_poll(&cw->w);
	}
	fail_msg("node %d: no event of joining", i);
	return -1;
}

/* All of @list join; mc[] is indexed as the list. */
static inline void join_all(struct cworld *cw, const int *list, int cnt, fi_addr_t *parents,
			    struct fid_mc **mc)
{
	int k;

	for (k = 0; k < cnt; k++)
		mc[k] = start_join(cw, list ? list[k] : k, list, cnt,
				   parents ? parents[k] : FI_ADDR_NOTAVAIL);
	for (k = 0; k < cnt; k++)
		assert_int_equal(wait_join(cw, list ? list[k] : k, mc[k]), 0);
}

static inline void leave_all(struct fid_mc **mc, int cnt)
{
	int k;

	for (k = 0; k < cnt; k++)
		assert_int_equal(fi_close(&mc[k]->fid), 0);
}

static inline struct fid_ep *ep_of(struct cworld *cw, int i)
{
	return cw->w.node[i].ep;
}

/* The context of node i's operation. */
static int context[NODES_MAX];

/* A completion of node @i with this context. */
static inline void expect(struct cworld *cw, int i, void *ctx)
{
	struct comp c;

	node_wait(&cw->w, &cw->w.node[i], &c);
	if (c.err)
		fail_msg("node %d: %s", i, fi_strerror(c.err));
	assert_int_equal(c.e.flags, FI_COLLECTIVE);
	assert_ptr_equal(c.e.op_context, ctx);
}

static inline void expect_all(struct cworld *cw, int cnt)
{
	int i;

	for (i = 0; i < cnt; i++)
		expect(cw, i, &context[i]);
}

#endif
