/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_dgram_world.h - for tests: three datagram endpoints on the real libmlx5, and the device
 * between them, which looks at every request byte by byte and delivers what is well
 * addressed.  Skips without libmlx5.
 */
#ifndef VRB_MLX5_DGRAM_WORLD_H
#define VRB_MLX5_DGRAM_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>

#include "base/clock.h"
#include "mlx5_cm.h"
#include "mlx5_kernel.h"
#include "mlx5_model.h"
#include "verbs/dgram.h"
#include "verbs/ud.h"

#define SIZE 8192u
#define MTU 4096u
#define SKIP 77
#define ENDS 3

struct fi_provider *fi_verbs_ini(void);

struct end {
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	fi_addr_t to[ENDS];		/* the others, and itself, in its av */
	union {
		struct sockaddr_in in;
		struct ib_ud ud;
	} name;
	struct model_cq model_cq;
	struct model_qp model;
	char in[SIZE], out[SIZE];
};

static struct fi_info *ip_infos[2], *ud_infos[2];	/* at 127.0.0.1 and 127.0.0.2 */
static struct fi_info **infos = ip_infos;		/* those of this case */
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_mr *mr;
static struct end ends[ENDS];
static struct end *const a = &ends[0], *const b = &ends[1], *const c = &ends[2];

/* ---- ends ----------------------------------------------------------------------- */

static inline void model_of(struct end *e)
{
	const struct kernel_qp *qp = &kernel_qps[kernel_qp_cnt - 1];
	const struct kernel_cq *cq = &kernel_cqs[qp->cq];

	e->model_cq = (struct model_cq) { cq->buf, cq->cnt, cq->dbrec, 0, 0 };
	e->model = (struct model_qp) {
		.qpn = qp->qpn, .uidx = qp->uidx, .dbrec = qp->dbrec, .sq = qp->sq, .rq = qp->rq,
		.sq_size = qp->sq_cnt * 64, .rq_cnt = qp->rq_cnt, .rq_stride = qp->rq_stride,
		.cq = &e->model_cq, .short_data = true, .ud = true, .qkey = qp->qkey,
		.gid = { [10] = 0xff, 0xff },
	};
	if (infos == ud_infos)
		memcpy(e->model.gid, e->name.ud.gid, sizeof(e->model.gid));
	else
		memcpy(e->model.gid + 12, &e->name.in.sin_addr, 4);
	assert_int_equal(qp->qkey, CM_QKEY);
}

static inline void open_end(struct end *e, struct fi_info *info)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	size_t len = infos == ud_infos ? sizeof(e->name.ud) : sizeof(e->name.in);

	assert_int_equal(fi_cq_open(domain, &cq_attr, &e->cq, NULL), 0);
	assert_int_equal(fi_av_open(domain, &av_attr, &e->av, NULL), 0);
	assert_int_equal(fi_endpoint(domain, info, &e->ep, NULL), 0);
	assert_int_equal(fi_ep_bind(e->ep, &e->av->fid, 0), 0);
	assert_int_equal(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(e->ep), 0);
	assert_int_equal(fi_getname(&e->ep->fid, &e->name, &len), 0);
	model_of(e);
}

static inline void close_end(struct end *e)
{
	if (!e->ep)
		return;
	assert_int_equal(fi_close(&e->ep->fid), 0);
	assert_int_equal(fi_close(&e->av->fid), 0);
	assert_int_equal(fi_close(&e->cq->fid), 0);
	e->ep = NULL;
}

static inline void introduce(struct end *e, unsigned i)
{
	assert_int_equal(fi_av_insert(e->av, &ends[i].name, 1, &e->to[i], 0, NULL), 1);
}

/* The endpoints share a group, and on the direct path a completion queue, unless they have
 * queues of their own: each has.
 */
static inline int open_all(uint64_t caps, const char *doorbell)
{
	unsigned i, k;

	model_fault = NULL;
	memset(ends, 0, sizeof(ends));
	vrb_conf.doorbell = (char *) doorbell;
	for (i = 0; i < 2; i++)
		infos[i]->caps = FI_MSG | FI_SEND | FI_RECV | caps;
	assert_int_equal(vrb_prov.fabric(infos[0]->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, infos[0], &domain, NULL), 0);
	assert_int_equal(fi_mr_reg(domain, ends, sizeof(ends), FI_SEND | FI_RECV, 0, 0, 0, &mr,
				   NULL), 0);
	for (i = 0; i < ENDS; i++)
		open_end(&ends[i], infos[i % 2]);
	for (i = 0; i < ENDS; i++)
		for (k = 0; k < ENDS; k++)
			introduce(&ends[i], k);
	return 0;
}

static inline int set_up(void **state)
{
	infos = ip_infos;
	return open_all(0, *state);
}

static inline int set_up_sources(void **state)
{
	infos = ip_infos;
	return open_all(FI_SOURCE, *state);
}

/* By queue pair. */
static inline int set_up_ud(void **state)
{
	infos = ud_infos;
	return open_all(0, *state);
}

static inline int set_up_ud_sources(void **state)
{
	infos = ud_infos;
	return open_all(FI_SOURCE | FI_SOURCE_ERR, *state);
}

static inline int tear_down(void **state)
{
	unsigned i;

	cm_hold(false);
	for (i = 0; i < ENDS; i++)
		close_end(&ends[i]);
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	assert_int_equal(kernel_ahs, 0);
	return 0;
}

/* ---- steps ---------------------------------------------------------------------- */

/* Deliver all requests of @e. */
static inline unsigned run_device(struct end *e, struct model_wqe *last)
{
	struct model_wqe x;
	unsigned i, done = 0;
	struct end *to;

	for (;;) {
		to = &ends[0];
		if (((be32toh(e->model.dbrec[1]) - e->model.eaten) & 0xffff) == 0)
			return done;
		model_decode(&e->model, e->model.eaten, &x);
		for (i = 0; i < ENDS; i++)
			if (ends[i].ep && ends[i].model.qpn == x.dqpn)
				to = &ends[i];
		assert_true(model_step(&e->model, &to->model, &x));
		assert_null(model_fault);
		if (last)
			*last = x;
		done++;
	}
}

static inline void post(struct end *e, size_t len)
{
	assert_int_equal(fi_recv(e->ep, e->in, len, fi_mr_desc(mr), FI_ADDR_UNSPEC, e), 0);
}

static inline ssize_t try_send(struct end *from, unsigned to, size_t len)
{
	return fi_senddata(from->ep, from->out, len, fi_mr_desc(mr), len, from->to[to], from);
}

static inline void send_to(struct end *from, unsigned to, size_t len)
{
	assert_int_equal(try_send(from, to, len), 0);
}

static inline struct fi_cq_data_entry taken_from(struct end *e, fi_addr_t *from)
{
	uint64_t end = clock_ns() + 20 * CLOCK_NS_PER_S;
	struct fi_cq_data_entry entry;
	ssize_t ret;

	while ((ret = fi_cq_readfrom(e->cq, &entry, 1, from)) == -FI_EAGAIN && clock_ns() < end)
		;
	assert_int_equal(ret, 1);
	return entry;
}

static inline struct fi_cq_data_entry taken(struct end *e)
{
	fi_addr_t from;

	return taken_from(e, &from);
}

static inline void nothing(struct end *e)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_read(e->cq, &entry, 1), -FI_EAGAIN);
}

/* A datagram from @from arrives at @to; returns the source that fi_cq_readfrom() reports. */
static inline fi_addr_t arrives(struct end *from, struct end *to, size_t len)
{
	struct fi_cq_data_entry entry;
	fi_addr_t source = 77;

	post(to, SIZE / 2);
	send_to(from, (unsigned) (to - ends), len);
	assert_int_equal(run_device(from, NULL), 1);
	taken(from);
	entry = taken_from(to, &source);
	assert_int_equal(entry.len, len);
	assert_memory_equal(from->out, to->in, len);
	return source;
}

static inline void fill(struct end *e, unsigned seed)
{
	unsigned i;

	for (i = 0; i < SIZE; i++)
		e->out[i] = (char) (i * 7 + seed + (i >> 8));
}

/* ---- start ---------------------------------------------------------------------- */

static inline int start(void)
{
	static const char *const nodes[] = { "127.0.0.1", "127.0.0.2" };
	struct fi_info *hints;
	int i, ret = 0;

	if (!cm_boot())
		return SKIP;
	fi_verbs_ini();
	hints = fi_allocinfo();
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->caps = FI_MSG | FI_SOURCE;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	for (i = 0; !ret && i < 2; i++)
		ret = vrb_getinfo(FI_VERSION(2, 6), nodes[i], NULL, FI_SOURCE, hints, &ip_infos[i]);
	hints->addr_format = FI_ADDR_IB_UD;
	hints->caps |= FI_SOURCE_ERR;
	for (i = 0; !ret && i < 2; i++)
		ret = vrb_getinfo(FI_VERSION(2, 6), nodes[i], NULL, FI_SOURCE, hints, &ud_infos[i]);
	fi_freeinfo(hints);
	return ret ? SKIP : 0;
}

/* The end of main(). */
static inline int ended(int ret)
{
	kernel_halt();
	return ret;
}

#define CASE(name, set_up_, way) { #name " (" way ")", name, set_up_, tear_down, (void *) way }
#define EACH(name) CASE(name, set_up, "direct"), CASE(name, set_up, "extended"), \
		   CASE(name, set_up, "post")
#define SOURCES(name) CASE(name, set_up_sources, "direct"), CASE(name, set_up_sources, "extended"), \
		      CASE(name, set_up_sources, "post")

#define UD_CASE(name, set_up_, way) \
	{ #name " (by queue pair, " way ")", name, set_up_, tear_down, (void *) way }
#define EACH_UD(name) UD_CASE(name, set_up_ud, "direct"), UD_CASE(name, set_up_ud, "extended"), \
		      UD_CASE(name, set_up_ud, "post")
#define SOURCES_UD(name) UD_CASE(name, set_up_ud_sources, "direct"), \
	UD_CASE(name, set_up_ud_sources, "extended"), UD_CASE(name, set_up_ud_sources, "post")

#endif
