/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include "base/test/verify.h"

#include "engine/sim/world.h"

#define TURNS 100000

const struct sim_conf sim_ideal = {
	.eager_limit = 500, .seg_size = 1000,
};

const struct sim_conf sim_rough = {
	.delay = 12, .queue_pct = 40, .once_not_pct = 50, .partial_pct = 50, .nohold_pct = 10,
	.eager_limit = 500, .seg_size = 300,
};

const struct sim_conf sim_whole = {
	.delay = 12, .queue_pct = 40, .once_not_pct = 50, .partial_pct = 50, .nohold_pct = 10,
	.eager_limit = 500, .seg_size = 300, .whole = true,
};

/* The pools' only allocation; the linker leads it here.  A sanitizer's library asks for
 * the wrapped name too, so it is not hidden.
 */
#pragma GCC visibility push(default)
int __real_posix_memalign(void **out, size_t align, size_t size);
int __wrap_posix_memalign(void **out, size_t align, size_t size);
#pragma GCC visibility pop
long sim_fail_after;

int __wrap_posix_memalign(void **out, size_t align, size_t size)
{
	if (sim_fail_after == 1)
		return ENOMEM;
	if (sim_fail_after > 1)
		sim_fail_after--;
	return __real_posix_memalign(out, align, size);
}

void pattern_fill(void *buf, size_t len, uint64_t seed)
{
	uint8_t *at = buf;
	size_t i;

	for (i = 0; i < len; i++)
		at[i] = (uint8_t) ((seed * 31 + i * 7) ^ (seed >> 5) ^ (i >> 8));
}

bool pattern_ok(const void *buf, size_t len, uint64_t seed)
{
	const uint8_t *at = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (at[i] != (uint8_t) ((seed * 31 + i * 7) ^ (seed >> 5) ^ (i >> 8)))
			return false;
	return true;
}

void world_seeds(int argc, char **argv, uint64_t *from, uint64_t *cnt)
{
	const char *many = argc > 2 ? argv[2] : getenv("ENGINE_SEEDS");

	if (argc > 1)
		*from = strtoull(argv[1], NULL, 0);
	if (many)
		*cnt = strtoull(many, NULL, 0);
}

void world_fill_av(struct world *w, struct fid_av *av)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	fi_addr_t fi_addr;
	int i;

	for (i = 0; i < w->cnt; i++) {
		sin.sin_addr.s_addr = htonl(0x0a000001);
		sin.sin_port = htons(PORT(i));
		assert_int_equal(fi_av_insert(av, &sin, 1, &fi_addr, 0, NULL), 1);
		assert_int_equal(fi_addr, i);
	}
}

void node_open(struct world *w, int i)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_NONE };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_cntr_attr cntr_attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE };
	struct fi_info *info = sim_info(FI_EP_RDM, PORT(i));
	struct node *n = &w->node[i];

	if (n->caps)
		info->caps = info->tx_attr->caps = info->rx_attr->caps = n->caps;
	if (n->tx_size)
		info->tx_attr->size = n->tx_size;
	if (n->rx_size)
		info->rx_attr->size = n->rx_size;
	info->tx_attr->op_flags = n->tx_op_flags;
	info->rx_attr->op_flags = n->rx_op_flags;
	assert_int_equal(fi_cq_open(w->domain, &cq_attr, &n->cq, NULL), 0);
	n->av = n->given;
	if (!n->av)
		assert_int_equal(fi_av_open(w->domain, &av_attr, &n->av, NULL), 0);
	assert_int_equal(fi_cntr_open(w->domain, &cntr_attr, &n->tx_cntr, NULL), 0);
	assert_int_equal(fi_cntr_open(w->domain, &cntr_attr, &n->rx_cntr, NULL), 0);
	assert_int_equal(fi_endpoint(w->domain, info, &n->ep, NULL), 0);
	assert_int_equal(fi_ep_bind(n->ep, &n->cq->fid, FI_TRANSMIT | FI_RECV | n->bind_flags), 0);
	assert_int_equal(fi_ep_bind(n->ep, &n->av->fid, 0), 0);
	assert_int_equal(fi_ep_bind(n->ep, &n->tx_cntr->fid, FI_SEND), 0);
	assert_int_equal(fi_ep_bind(n->ep, &n->rx_cntr->fid, FI_RECV), 0);
	if (w->before_enable)
		w->before_enable(w, i);
	assert_int_equal(fi_enable(n->ep), 0);
	if (!n->given)
		world_fill_av(w, n->av);
	fi_freeinfo(info);
}

void node_close(struct world *w, int i)
{
	struct node *n = &w->node[i];

	if (n->ep)
		assert_int_equal(fi_close(&n->ep->fid), 0);
	if (!n->given)
		assert_int_equal(fi_close(&n->av->fid), 0);
	assert_int_equal(fi_close(&n->tx_cntr->fid), 0);
	assert_int_equal(fi_close(&n->rx_cntr->fid), 0);
	assert_int_equal(fi_close(&n->cq->fid), 0);
	n->ep = NULL;
	n->cq = NULL;
}

void world_open_domain(struct world *w, uint64_t seed, const struct sim_conf *conf)
{
	struct fi_info *info = sim_info(FI_EP_RDM, 0);

	sim_start(seed, conf);
	assert_int_equal(sim_fabric_open(&w->fabric), 0);
	assert_int_equal(fi_domain(w->fabric, info, &w->domain, NULL), 0);
	fi_freeinfo(info);
}

void world_open_nodes(struct world *w, int cnt)
{
	int i;

	w->cnt = cnt;
	for (i = 0; i < cnt; i++)
		node_open(w, i);
}

void world_open(struct world *w, int cnt, uint64_t seed, const struct sim_conf *conf)
{
	world_open_domain(w, seed, conf);
	world_open_nodes(w, cnt);
}

void world_close(struct world *w)
{
	int i;

	for (i = 0; i < w->cnt; i++)
		if (w->node[i].cq)
			node_close(w, i);
	assert_int_equal(fi_close(&w->domain->fid), 0);
	assert_int_equal(fi_close(&w->fabric->fid), 0);
	assert_true(sim_end());
}

void world_poll(struct world *w)
{
	int i;

	for (i = 0; i < w->cnt; i++)
		if (w->node[i].cq)
			fi_cq_read(w->node[i].cq, NULL, 0);
}

static bool read_error(struct node *n, struct comp *c)
{
	struct fi_cq_err_entry err = { 0 };

	assert_int_equal(fi_cq_readerr(n->cq, &err, 0), 1);
	assert_int_not_equal(err.err, 0);
	c->e = (struct fi_cq_tagged_entry) { err.op_context, err.flags, err.len, err.buf,
					     err.data, err.tag };
	c->src = err.src_addr;
	c->err = err.err;
	c->olen = err.olen;
	return true;
}

bool node_read(struct node *n, struct comp *c)
{
	ssize_t ret;

	memset(c, 0, sizeof(*c));
	ret = fi_cq_readfrom(n->cq, &c->e, 1, &c->src);
	if (ret == 1)
		return true;
	if (ret == -FI_EAVAIL)
		return read_error(n, c);
	assert_int_equal(ret, -FI_EAGAIN);
	return false;
}

void node_wait(struct world *w, struct node *n, struct comp *c)
{
	int i;

	for (i = 0; i < TURNS; i++) {
		if (node_read(n, c))
			return;
		world_poll(w);
	}
	fail_msg("no completion after %d turns", TURNS);
}

void node_expect(struct world *w, struct node *n, void *context, uint64_t flags, size_t len)
{
	struct comp c;

	node_wait(w, n, &c);
	assert_int_equal(c.err, 0);
	assert_ptr_equal(c.e.op_context, context);
	assert_true(c.e.flags == flags);
	if (flags & FI_RECV)
		assert_int_equal(c.e.len, len);
}

void node_expect_err(struct world *w, struct node *n, void *context, int err)
{
	struct comp c;

	node_wait(w, n, &c);
	assert_int_equal(c.err, err);
	assert_ptr_equal(c.e.op_context, context);
}

void node_none(struct world *w, struct node *n)
{
	struct comp c;
	int i;

	for (i = 0; i < 300; i++)
		world_poll(w);
	assert_false(node_read(n, &c));
}

void world_settle(struct world *w)
{
	int i;

	for (i = 0; i < TURNS; i++) {
		world_poll(w);
		if (sim_idle())
			break;
	}
	assert_true(i < TURNS);
	for (i = 0; i < 20; i++)
		world_poll(w);
}
