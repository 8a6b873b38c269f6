/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * world.h - shared by the tests of this provider: a domain on the loopback interface with some
 * endpoints that know each other's addresses, and calls that fail the test instead of returning
 * an error.
 *
 * Uses the public interface only.
 */
#ifndef UDP_WORLD_H
#define UDP_WORLD_H

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include "base/test/verify.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "net/opt.h"

#define ENDS_MAX 16

/* The parameters of a world; all zero is the default. */
struct conf {
	int family;			/* AF_INET (or 0), AF_INET6 */
	unsigned ends;			/* 0: two */
	uint64_t caps;			/* in addition to FI_MSG */
	enum fi_threading threading;
	enum fi_progress progress;	/* 0: manual */
	enum fi_wait_obj wait;		/* 0: none */
	uint64_t cq_flags;		/* in addition to FI_SEND | FI_RECV at bind */
	bool counters;
	bool eq;
	bool strangers;			/* the endpoints' AVs are empty */
	bool framed;			/* NET_PROTO_UDP_FRAMED */
	size_t max_msg;			/* ask for messages so long; 0: do not ask */
	bool trains;			/* as prov/rxd sets them: NET_OPT_TRAINS, NET_OPT_ECN; implies
					 * framed */
	bool sources;			/* with trains: NET_OPT_SOURCE */
	bool no_ecn;			/* with trains: without NET_OPT_ECN */
	const char *iface;		/* NULL: lo */
};

struct end {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_cntr *sent, *received;
	struct fid_eq *eq;
	struct sockaddr_in6 name;	/* either family */
	size_t name_len;
	fi_addr_t to[ENDS_MAX];		/* addresses of the others, by index */
};

struct world {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct end end[ENDS_MAX];
	unsigned ends;
};

#define OK(call)								\
	do {									\
		long ok_ret_ = (call);						\
		if (ok_ret_)							\
			fail_msg("%s: %ld (%s)", #call, ok_ret_,		\
				 fi_strerror((int) -ok_ret_));			\
	} while (0)

static inline struct fi_info *world_info(const struct conf *c)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	assert_non_null(hints);
	hints->caps = FI_MSG | c->caps;
	hints->addr_format = c->family == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->ep_attr->protocol = c->framed || c->trains ? NET_PROTO_UDP_FRAMED : FI_PROTO_UDP;
	hints->ep_attr->max_msg_size = c->max_msg;
	hints->fabric_attr->prov_name = strdup("udp");
	hints->domain_attr->name = strdup(c->iface ? c->iface : "lo");
	hints->domain_attr->threading = c->threading;
	hints->domain_attr->data_progress = c->progress ? c->progress : FI_PROGRESS_MANUAL;
	hints->domain_attr->control_progress = hints->domain_attr->data_progress;
	OK(fi_getinfo(FI_VERSION(2, 6), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static inline void world_cntr(struct world *w, struct fid_cntr **cntr)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };

	OK(fi_cntr_open(w->domain, &attr, cntr, NULL));
}

static inline void world_trains(struct fid_ep *ep, bool sources, bool with_ecn)
{
	size_t least = NET_TRAIN_MAX;
	int on = 1, ecn = NET_ECN_NOT;

	OK(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, NET_OPT_TRAINS, &on, sizeof(on)));
	OK(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof(least)));
	if (with_ecn)
		OK(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, NET_OPT_ECN, &ecn, sizeof(ecn)));
	if (sources)
		OK(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, NET_OPT_SOURCE, &on, sizeof(on)));
}

static inline void world_add(struct world *w, struct end *e, const struct conf *c)
{
	struct fi_cq_attr cq = {
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = c->wait ? c->wait : FI_WAIT_NONE,
	};
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_eq_attr eq = { .wait_obj = FI_WAIT_UNSPEC };

	OK(fi_endpoint(w->domain, w->info, &e->ep, e));
	OK(fi_cq_open(w->domain, &cq, &e->cq, e));
	OK(fi_av_open(w->domain, &av, &e->av, e));
	OK(fi_ep_bind(e->ep, &e->cq->fid, FI_SEND | FI_RECV | c->cq_flags));
	OK(fi_ep_bind(e->ep, &e->av->fid, 0));
	if (c->counters) {
		world_cntr(w, &e->sent);
		world_cntr(w, &e->received);
		OK(fi_ep_bind(e->ep, &e->sent->fid, FI_SEND));
		OK(fi_ep_bind(e->ep, &e->received->fid, FI_RECV));
	}
	if (c->eq) {
		OK(fi_eq_open(w->fabric, &eq, &e->eq, e));
		OK(fi_ep_bind(e->ep, &e->eq->fid, 0));
	}
	if (c->trains)
		world_trains(e->ep, c->sources, !c->no_ecn);
	OK(fi_enable(e->ep));
	e->name_len = sizeof(e->name);
	OK(fi_getname(&e->ep->fid, &e->name, &e->name_len));
}

static inline void world_open(struct world *w, const struct conf *c)
{
	unsigned i, j;

	memset(w, 0, sizeof(*w));
	w->info = world_info(c);
	OK(fi_fabric(w->info->fabric_attr, &w->fabric, NULL));
	OK(fi_domain(w->fabric, w->info, &w->domain, NULL));
	w->ends = c->ends ? c->ends : 2;
	for (i = 0; i < w->ends; i++)
		world_add(w, &w->end[i], c);
	for (i = 0; i < w->ends && !c->strangers; i++)
		for (j = 0; j < w->ends; j++)
			assert_int_equal(fi_av_insert(w->end[i].av, &w->end[j].name, 1,
						      &w->end[i].to[j], 0, NULL), 1);
}

static inline void world_close(struct world *w)
{
	unsigned i;

	for (i = 0; i < w->ends; i++) {
		OK(fi_close(&w->end[i].ep->fid));
		if (w->end[i].sent) {
			OK(fi_close(&w->end[i].sent->fid));
			OK(fi_close(&w->end[i].received->fid));
		}
		if (w->end[i].eq)
			OK(fi_close(&w->end[i].eq->fid));
		OK(fi_close(&w->end[i].cq->fid));
		OK(fi_close(&w->end[i].av->fid));
	}
	OK(fi_close(&w->domain->fid));
	OK(fi_close(&w->fabric->fid));
	fi_freeinfo(w->info);
}

static inline uint64_t ms_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000 + (uint64_t) ts.tv_nsec / 1000000;
}

/* Read one completion and its source within five seconds; -FI_EAVAIL for an error. */
static inline ssize_t wait_from(struct fid_cq *cq, struct fi_cq_data_entry *e, fi_addr_t *src)
{
	uint64_t end = ms_now() + 5000;
	ssize_t ret;

	for (;;) {
		ret = fi_cq_readfrom(cq, e, 1, src);
		if (ret != -FI_EAGAIN || ms_now() >= end)
			return ret;
		sched_yield();	/* a progress thread may need the processor */
	}
}

static inline void wait_one(struct fid_cq *cq, struct fi_cq_data_entry *e)
{
	fi_addr_t src;

	assert_int_equal(wait_from(cq, e, &src), 1);
}

/* Read the error that is next in the queue. */
static inline void wait_err(struct fid_cq *cq, struct fi_cq_err_entry *err)
{
	struct fi_cq_data_entry e;
	fi_addr_t src;

	assert_int_equal(wait_from(cq, &e, &src), -FI_EAVAIL);
	memset(err, 0, sizeof(*err));
	assert_int_equal(fi_cq_readerr(cq, err, 0), 1);
}

/* Nothing arrives within the time in which the loopback would have delivered it. */
static inline void wait_none(struct fid_cq *cq)
{
	struct fi_cq_data_entry e;
	int i;

	for (i = 0; i < 100; i++)
		assert_int_equal(fi_cq_read(cq, &e, 1), -FI_EAGAIN);
}

static inline void pattern(char *buf, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (char) (i * 7 + seed + i / 251);
}

static inline void check_pattern(const char *buf, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != (char) (i * 7 + seed + i / 251))
			fail_msg("byte %zu of %zu is wrong", i, len);
}

#endif
