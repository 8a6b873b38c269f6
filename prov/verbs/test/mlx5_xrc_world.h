/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_xrc_world.h - for mlx5_xrc_test: a device that delivers each request to the shared queue
 * whose number it has, and processes with their connections.  A fabric stands for a process:
 * two of them know of each other's queue pairs by their numbers alone.
 */
#ifndef VRB_MLX5_XRC_WORLD_H
#define VRB_MLX5_XRC_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "mlx5_cm.h"
#include "mlx5_kernel.h"
#include "mlx5_model.h"
#include "verbs/xrc/share.h"

#define PROCS 4			/* two on each of two hosts */
#define LINKS 8
#define BUFS 32u
#define BUF 512u
#define MEM 65536u

struct proc {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *srx;
	struct fid_pep *pep;
	struct fid_mr *mr;
	struct sockaddr_in name;
	char in[BUFS][BUF];
	char mem[MEM];
};

/* A connection: the connecting and the accepting endpoint. */
struct link {
	struct proc *from, *to;
	struct fid_ep *a, *b;
};

static char file[] = "/tmp/mlx5_xrc.XXXXXX";
static struct fi_info *infos[2];		/* XRC, on either host */
static struct proc procs[PROCS];
static struct proc *const p = procs;

/* ---- the device ----------------------------------------------------------------- */

static struct model_cq cqs[KERNEL_MAX];
static struct model_srq srqs[KERNEL_MAX];
static struct model_qp inis[KERNEL_MAX];
static bool broken[KERNEL_MAX];
static unsigned executed;

static struct model_cq *cq_of(uint32_t at)
{
	const struct kernel_cq *k = &kernel_cqs[at];

	if (cqs[at].buf != k->buf)
		cqs[at] = (struct model_cq) { .buf = k->buf, .cnt = k->cnt, .dbrec = k->dbrec };
	return &cqs[at];
}

static struct model_srq *srq_of(uint32_t at)
{
	const struct kernel_srq *k = &kernel_srqs[at];

	if (srqs[at].buf != k->buf)
		srqs[at] = (struct model_srq) { k->buf, k->cnt, k->stride, k->dbrec, 0, 0 };
	return &srqs[at];
}

static struct model_qp *ini_of(uint32_t at)
{
	const struct kernel_qp *k = &kernel_qps[at];

	if (!inis[at].sq)
		inis[at] = (struct model_qp) {
			.qpn = k->qpn, .uidx = k->uidx, .dbrec = k->dbrec, .sq = k->sq,
			.sq_size = k->sq_cnt * 64, .cq = cq_of(k->cq), .xrc = true,
		};
	return &inis[at];
}

/* Where @k leads; what the kernel would not have allowed is a fault. */
static const struct kernel_qp *target_of(const struct kernel_qp *k)
{
	const struct kernel_qp *t = &kernel_qps[k->dest - KERNEL_QPN];

	if (k->state != IBV_QPS_RTS || k->dest - KERNEL_QPN >= kernel_qp_cnt ||
	    t->kind != IBV_QPT_XRC_RECV || t->state != IBV_QPS_RTS || t->dest != k->qpn ||
	    t->rq_psn != k->sq_psn)
		model_fault = "a queue pair leads nowhere";
	return t;
}

/* Does it stand still until a receive is posted? */
static bool waits(const struct model_wqe *x, const struct model_srq *srq)
{
	return (x->op == 0x0a || x->op == 0x0b || x->op == 0x09) &&
	       ((be32toh(*srq->dbrec) - srq->received) & 0xffff) == 0;
}

static bool fails(struct model_qp *m, uint32_t at, const struct model_wqe *x, unsigned syndrome)
{
	broken[at] = true;
	model_complete(m, 13, m->eaten, 0, 0, syndrome, NULL);
	m->eaten += (x->segs + 3) / 4;
	return true;
}

/* The next request of an initiator.  Returns false if there is none that can go on. */
static bool step(uint32_t at)
{
	const struct kernel_qp *k = &kernel_qps[at], *target;
	struct model_qp *m = ini_of(at);
	const struct kernel_srq *srq;
	uint32_t completed = m->cq->completed;
	struct model_wqe x;
	struct model_qp to;

	if (((be32toh(m->dbrec[1]) - m->eaten) & 0xffff) == 0)
		return false;
	model_decode(m, m->eaten, &x);
	executed++;
	if (broken[at] || k->state == IBV_QPS_ERR)
		return fails(m, at, &x, 0x05);
	target = target_of(k);
	srq = &kernel_srqs[x.srqn - 1];
	if (!x.srqn || x.srqn > kernel_srq_cnt || srq->gone || !target->users ||
	    srq->xrcd != target->xrcd)
		return fails(m, at, &x, 0x12);
	if (waits(&x, srq_of(x.srqn - 1)))
		return executed--, false;
	to = (struct model_qp) { .qpn = target->qpn, .uidx = srq->uidx, .cq = cq_of(srq->cq),
				 .srq = srq_of(x.srqn - 1) };
	model_step(m, &to, &x);
	if (m->cq->completed == completed)
		model_fault = "a request is not signalled";
	else	/* in error? */
		broken[at] = (m->cq->buf[(m->cq->completed - 1) % m->cq->cnt * 64 + 63] >> 4 & 15) == 13;
	return true;
}

static void run_device(void)
{
	bool any;
	uint32_t i;

	do {
		for (any = false, i = 0; i < kernel_qp_cnt; i++)
			if (kernel_qps[i].kind == IBV_QPT_XRC_SEND && kernel_qps[i].users &&
			    kernel_qps[i].real == (int) i)
				any = step(i) || any;
	} while (any);
	assert_null(model_fault);
}

/* ---- processes ------------------------------------------------------------------ */

static void bind_all(const struct proc *of, struct fid_ep *ep)
{
	assert_int_equal(fi_ep_bind(ep, &of->eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &of->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &of->srx->fid, 0), 0);
}

static void give_buf(struct proc *of, char *buf)
{
	assert_int_equal(fi_recv(of->srx, buf, BUF, fi_mr_desc(of->mr), 0, buf), 0);
}

static void open_proc(struct proc *of, struct fi_info *info)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA };
	struct fi_rx_attr rx_attr = { .size = 100, .op_flags = FI_COMPLETION };
	size_t len = sizeof(of->name);

	memset(of, 0, sizeof(*of));
	of->info = info;
	assert_int_equal(vrb_prov.fabric(info->fabric_attr, &of->fabric, NULL), 0);
	assert_int_equal(fi_domain(of->fabric, info, &of->domain, NULL), 0);
	assert_int_equal(fi_eq_open(of->fabric, &eq_attr, &of->eq, NULL), 0);
	assert_int_equal(fi_cq_open(of->domain, &cq_attr, &of->cq, NULL), 0);
	assert_int_equal(fi_srx_context(of->domain, &rx_attr, &of->srx, NULL), 0);
	assert_int_equal(fi_mr_reg(of->domain, of, sizeof(*of), FI_SEND | FI_RECV | FI_REMOTE_READ |
				   FI_REMOTE_WRITE, 0, 0, 0, &of->mr, NULL), 0);
	assert_int_equal(fi_passive_ep(of->fabric, info, &of->pep, NULL), 0);
	assert_int_equal(fi_pep_bind(of->pep, &of->eq->fid, 0), 0);
	assert_int_equal(fi_listen(of->pep), 0);
	assert_int_equal(fi_getname(&of->pep->fid, &of->name, &len), 0);
}

static void close_proc(struct proc *of)
{
	assert_int_equal(fi_close(&of->pep->fid), 0);
	assert_int_equal(fi_close(&of->srx->fid), 0);
	assert_int_equal(fi_close(&of->cq->fid), 0);
	assert_int_equal(fi_close(&of->mr->fid), 0);
	assert_int_equal(fi_close(&of->eq->fid), 0);
	assert_int_equal(fi_close(&of->domain->fid), 0);
	assert_int_equal(fi_close(&of->fabric->fid), 0);
}

union told {
	struct fi_eq_cm_entry entry;
	char room[sizeof(struct fi_eq_cm_entry) + 64];
};

/* Events that came before the one that was waited for. */
static struct {
	const struct proc *of;
	uint32_t what;
	union told told;
} early[64];

static int set_up(void **state)
{
	unsigned i;

	model_fault = NULL;
	executed = 0;
	memset(early, 0, sizeof(early));
	for (i = 0; i < PROCS; i++)
		open_proc(&procs[i], infos[i / 2]);
	return 0;
}

/* Nothing is left, in the kernel either. */
static int tear_down(void **state)
{
	unsigned i;

	for (i = 0; i < PROCS; i++)
		close_proc(&procs[i]);
	assert_int_equal(kernel_alive(IBV_QPT_XRC_SEND), 0);
	assert_int_equal(kernel_alive(IBV_QPT_XRC_RECV), 0);
	assert_int_equal(kernel_xrcds, 0);
	return 0;
}

/* ---- connections ---------------------------------------------------------------- */

static bool take_early(const struct proc *of, uint32_t what, union told *told)
{
	unsigned i;

	for (i = 0; i < 64; i++)
		if (early[i].of == of && early[i].what == what) {
			*told = early[i].told;
			early[i].of = NULL;
			return true;
		}
	return false;
}

static void keep_early(const struct proc *of, uint32_t what, const union told *told)
{
	unsigned i = 0;

	while (early[i].of)
		assert_true(++i < 64);
	early[i].of = of;
	early[i].what = what;
	early[i].told = *told;
}

/* The next event of @at, if there is one, and what is wanted of @of; or kept for later. */
static bool look(const struct proc *at, const struct proc *of, uint32_t wanted, union told *told)
{
	uint32_t what;
	ssize_t ret;

	memset(told, 0, sizeof(*told));
	ret = fi_eq_read(at->eq, &what, told, sizeof(*told), 0);
	if (ret < 0)
		return ret == -FI_EAVAIL && at == of && !wanted;
	if (at == of && what == wanted)
		return true;
	keep_early(at, what, told);
	return false;
}

/* Wait for this event of @of, with progress for all; 0: an error. */
static void wait_for(const struct proc *of, uint32_t wanted, union told *told)
{
	unsigned i;

	if (take_early(of, wanted, told))
		return;
	for (i = 0; i < 1000; i++) {
		if (look(of, of, wanted, told))
			return;
		if (of != &procs[i % PROCS] && look(&procs[i % PROCS], of, wanted, told))
			return;
		usleep(i);
	}
	fail_msg("event %u does not come", wanted);
}

static struct fid_ep *open_ep(struct proc *of, struct fi_info *info)
{
	struct fid_ep *ep;

	assert_int_equal(fi_endpoint(of->domain, info, &ep, NULL), 0);
	bind_all(of, ep);
	return ep;
}

static void call(struct link *l, struct proc *from, struct proc *to)
{
	*l = (struct link) { .from = from, .to = to, .a = open_ep(from, from->info) };
	assert_int_equal(fi_connect(l->a, &to->name, "who?", 4), 0);
}

static void answer(struct link *l)
{
	union told told;

	wait_for(l->to, FI_CONNREQ, &told);
	assert_memory_equal(told.entry.data, "who?", 4);
	l->b = open_ep(l->to, told.entry.info);
	fi_freeinfo(told.entry.info);
	assert_int_equal(fi_accept(l->b, "me", 2), 0);
}

static void is_connected(struct proc *of, struct fid_ep *ep, const char *data)
{
	union told told;

	wait_for(of, FI_CONNECTED, &told);
	assert_ptr_equal(told.entry.fid, &ep->fid);
	assert_memory_equal(told.entry.data, data, strlen(data));
}

static void connect_link(struct link *l, struct proc *from, struct proc *to)
{
	call(l, from, to);
	answer(l);
	is_connected(from, l->a, "me");
	is_connected(to, l->b, "");
}

static void close_ep(struct fid_ep *ep)
{
	if (ep)
		assert_int_equal(fi_close(&ep->fid), 0);
}

static void close_link(struct link *l)
{
	run_device();
	close_ep(l->a);
	close_ep(l->b);
}

static void no_events(struct proc *of)
{
	union told told;
	uint32_t what;

	while (take_early(of, FI_SHUTDOWN, &told))
		;
	while (fi_eq_read(of->eq, &what, &told, sizeof(told), 0) >= 0)
		assert_int_equal(what, FI_SHUTDOWN);
}

static const struct vrb_ini *ini(struct fid_ep *ep)
{
	return vrb_ep_of(ep)->xrc->ini;
}

/* ---- data ----------------------------------------------------------------------- */

static struct fi_cq_data_entry taken(struct proc *of)
{
	struct fi_cq_data_entry e = { 0 };

	assert_int_equal(fi_cq_read(of->cq, &e, 1), 1);
	return e;
}

static void nothing(struct proc *of)
{
	struct fi_cq_data_entry e;

	assert_int_equal(fi_cq_read(of->cq, &e, 1), -FI_EAGAIN);
}

/* A message of @len bytes with @data, in either way. */
static void message(struct proc *from, struct fid_ep *ep, struct proc *to, size_t len, uint64_t data)
{
	struct fi_cq_data_entry e;
	char *in = to->in[0];

	memset(from->mem, (int) data, BUF);
	memset(in, 0, BUF);
	give_buf(to, in);
	assert_int_equal(fi_senddata(ep, from->mem, len, fi_mr_desc(from->mr), data, 0, ep), 0);
	run_device();
	e = taken(from);
	assert_ptr_equal(e.op_context, ep);
	e = taken(to);
	assert_ptr_equal(e.op_context, in);
	assert_int_equal(e.len, len);
	assert_int_equal(e.data, data);
	assert_int_equal(e.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
	assert_memory_equal(in, from->mem, len);
	assert_true(len == BUF || !in[len]);
}

static void both_ways(struct link *l, uint64_t data)
{
	message(l->from, l->a, l->to, data * 37 % BUF, data);
	message(l->to, l->b, l->from, data * 53 % BUF, data + 1);
}

#endif
