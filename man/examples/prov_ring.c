/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* [page */
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 64		/* receives of an endpoint, entries of a queue */

struct recv {
	void *buf, *context;
	size_t len;
};

/* Every object begins with its fid, so a pointer to one is a pointer to the other. */
struct ring_cq {
	struct fid_cq cq;
	struct fi_cq_tagged_entry entry[DEPTH];
	unsigned int head, tail;	/* read at head, written at tail */
};

struct ring_ep {
	struct fid_ep ep;
	struct ring_cq *tx, *rx;
	struct recv recv[DEPTH];	/* in the order in which they were posted */
	unsigned int head, tail;
};

static int close_any(struct fid *fid)
{
	free(fid);
	return 0;
}

/* A table tells its size; members that are left out are NULL. */
static struct fi_ops plain_ops = { .size = sizeof(struct fi_ops), .close = close_any };

static void *new_object(size_t size, size_t fclass, struct fi_ops *ops, void *context)
{
	struct fid *fid = calloc(1, size);

	if (fid)
		*fid = (struct fid) { .fclass = fclass, .context = context, .ops = ops };
	return fid;
}

/* ---- completion queue: a ring ---- */

static ssize_t cq_read(struct fid_cq *cq_fid, void *buf, size_t count)
{
	struct ring_cq *cq = (struct ring_cq *) cq_fid;
	struct fi_cq_tagged_entry *to = buf;
	size_t n = 0;

	while (n < count && cq->head != cq->tail)
		to[n++] = cq->entry[cq->head++ % DEPTH];
	return n ? (ssize_t) n : -FI_EAGAIN;
}

/* Nothing fails here, so no error entry is ever there to be read. */
static ssize_t cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry, uint64_t flags)
{
	(void) cq, (void) entry, (void) flags;
	return -FI_EAGAIN;
}

static int cq_full(const struct ring_cq *cq)
{
	return cq->tail - cq->head == DEPTH;
}

static void cq_add(struct ring_cq *cq, void *context, uint64_t flags, void *buf, size_t len)
{
	cq->entry[cq->tail++ % DEPTH] = (struct fi_cq_tagged_entry) {
		.op_context = context, .flags = flags, .buf = buf, .len = len };
}

static int cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		   void *context)
{
	static struct fi_ops_cq ops = { .size = sizeof(ops), .read = cq_read, .readerr = cq_readerr };

	(void) domain;
	if (attr->format != FI_CQ_FORMAT_TAGGED || attr->wait_obj != FI_WAIT_NONE)
		return -FI_ENOSYS;
	*cq = new_object(sizeof(struct ring_cq), FI_CLASS_CQ, &plain_ops, context);
	if (!*cq)
		return -FI_ENOMEM;
	(*cq)->ops = &ops;
	return 0;
}

/* ---- address vector: there is one address, and its number is 0 ---- */

static int av_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *fi_addr,
		     uint64_t flags, void *context)
{
	(void) av, (void) addr, (void) flags, (void) context;
	for (size_t i = 0; fi_addr && i < count; i++)
		fi_addr[i] = 0;
	return (int) count;
}

static int av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
		   void *context)
{
	static struct fi_ops_av ops = { .size = sizeof(ops), .insert = av_insert };

	(void) domain, (void) attr;
	*av = new_object(sizeof(struct fid_av), FI_CLASS_AV, &plain_ops, context);
	if (!*av)
		return -FI_ENOMEM;
	(*av)->ops = &ops;
	return 0;
}

/* ---- endpoint: what it sends goes to its own oldest receive ---- */

static ssize_t ep_recv(struct fid_ep *ep_fid, void *buf, size_t len, void *desc, fi_addr_t src,
		       void *context)
{
	struct ring_ep *ep = (struct ring_ep *) ep_fid;

	(void) desc, (void) src;
	if (ep->tail - ep->head == DEPTH)
		return -FI_EAGAIN;
	ep->recv[ep->tail++ % DEPTH] = (struct recv) { buf, context, len };
	return 0;
}

/* Where there is no room, nothing has happened, and the program tries again. */
static ssize_t ep_send(struct fid_ep *ep_fid, const void *buf, size_t len, void *desc,
		       fi_addr_t dest, void *context)
{
	struct ring_ep *ep = (struct ring_ep *) ep_fid;
	struct recv *to = &ep->recv[ep->head % DEPTH];

	(void) desc, (void) dest;
	if (ep->head == ep->tail || cq_full(ep->tx) || ep->rx->tail - ep->rx->head > DEPTH - 2)
		return -FI_EAGAIN;
	if (len > to->len)
		return -FI_EMSGSIZE;
	memcpy(to->buf, buf, len);
	ep->head++;
	cq_add(ep->rx, to->context, FI_MSG | FI_RECV, to->buf, len);
	cq_add(ep->tx, context, FI_MSG | FI_SEND, NULL, 0);
	return 0;
}

static int ep_getname(fid_t fid, void *addr, size_t *len)
{
	size_t room = *len;

	(void) fid;
	*len = sizeof("ring");
	memcpy(addr, "ring", room < *len ? room : *len);
	return room < *len ? -FI_ETOOSMALL : 0;
}

static int ep_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
	struct ring_ep *ep = (struct ring_ep *) fid;

	if (other->fclass == FI_CLASS_AV)
		return 0;
	if (other->fclass != FI_CLASS_CQ)
		return -FI_EINVAL;
	if (flags & FI_TRANSMIT)
		ep->tx = (struct ring_cq *) other;
	if (flags & FI_RECV)
		ep->rx = (struct ring_cq *) other;
	return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct ring_ep *ep = (struct ring_ep *) fid;

	(void) arg;
	if (command != FI_ENABLE)
		return -FI_ENOSYS;
	return ep->tx && ep->rx ? 0 : -FI_ENOCQ;
}

static int endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		    void *context)
{
	static struct fi_ops fid_ops = { .size = sizeof(fid_ops), .close = close_any,
					 .bind = ep_bind, .control = ep_control };
	static struct fi_ops_ep ops = { .size = sizeof(ops) };
	static struct fi_ops_cm cm = { .size = sizeof(cm), .getname = ep_getname };
	static struct fi_ops_msg msg = { .size = sizeof(msg), .recv = ep_recv, .send = ep_send };

	(void) domain, (void) info;
	*ep = new_object(sizeof(struct ring_ep), FI_CLASS_EP, &fid_ops, context);
	if (!*ep)
		return -FI_ENOMEM;
	(*ep)->ops = &ops;
	(*ep)->cm = &cm;
	(*ep)->msg = &msg;
	return 0;
}

/* ---- domain, fabric, and what is offered ---- */

static int domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
		  void *context)
{
	static struct fi_ops_domain ops = { .size = sizeof(ops), .av_open = av_open,
					    .cq_open = cq_open, .endpoint = endpoint };

	(void) fabric, (void) info;
	*domain = new_object(sizeof(struct fid_domain), FI_CLASS_DOMAIN, &plain_ops, context);
	if (!*domain)
		return -FI_ENOMEM;
	(*domain)->ops = &ops;
	return 0;
}

static int fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	static struct fi_ops_fabric ops = { .size = sizeof(ops), .domain = domain };

	(void) attr;
	*fabric = new_object(sizeof(struct fid_fabric), FI_CLASS_FABRIC, &plain_ops, context);
	if (!*fabric)
		return -FI_ENOMEM;
	(*fabric)->ops = &ops;
	return 0;
}

/* Every wish of the hints that cannot be met means: nothing to offer. */
static int fits(const struct fi_info *hints)
{
	const struct fi_domain_attr *d = hints->domain_attr;

	return !(hints->caps & ~(uint64_t) (FI_MSG | FI_SEND | FI_RECV)) &&
	       (!hints->ep_attr || hints->ep_attr->type == FI_EP_UNSPEC ||
		hints->ep_attr->type == FI_EP_RDM) &&
	       (!d || d->threading == FI_THREAD_UNSPEC || d->threading == FI_THREAD_DOMAIN);
}

static int getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		   const struct fi_info *hints, struct fi_info **info_p)
{
	struct fi_info *info;

	(void) version, (void) node, (void) service, (void) flags;
	if (hints && !fits(hints))
		return -FI_ENODATA;
	info = fi_allocinfo();
	if (!info)
		return -FI_ENOMEM;
	info->caps = info->tx_attr->caps = info->rx_attr->caps = FI_MSG | FI_SEND | FI_RECV;
	info->tx_attr->size = info->rx_attr->size = DEPTH;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = 1;
	info->ep_attr->type = FI_EP_RDM;
	info->ep_attr->max_msg_size = SIZE_MAX;
	info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
	info->domain_attr->name = strdup("ring");
	info->domain_attr->threading = FI_THREAD_DOMAIN;
	info->domain_attr->progress = FI_PROGRESS_MANUAL;
	info->domain_attr->av_type = FI_AV_TABLE;
	info->fabric_attr->name = strdup("ring");
	info->fabric_attr->prov_name = strdup("ring");
	*info_p = info;
	return 0;
}

static void cleanup(void)
{
}

FI_EXT_INI
{
	static struct fi_provider prov = {
		.version = FI_VERSION(1, 0),
		.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
		.name = "ring",
		.getinfo = getinfo,
		.fabric = fabric,
		.cleanup = cleanup,
	};

	return &prov;
}
/* page] */
