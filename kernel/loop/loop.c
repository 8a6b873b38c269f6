// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * loop.c - endpoints that reach each other within one kernel and network namespace: the
 * smallest provider, and the one to read first.
 *
 * Names are texts, "loop:NUMBER".  A transfer is a copy in the context of the call that
 * completes the pair: of the send, or of the receive that a send has waited for.
 *
 * An endpoint that is being used by a transfer has users; its close makes it gone, so that
 * it gets no new ones, and waits for the others.
 */
#include <linux/slab.h>

#include <kofi/obj.h>

#define NAME_FMT	"loop:%u"
#define PORT_FIRST	49152
#define CM_DATA_MAX	256
#define SRX_USERS	1024	/* endpoints of a shared receive context; a figure to be asked for */

enum loop_state {
	LOOP_IDLE,
	LOOP_CONNECTING,	/* the request waits for its answer */
	LOOP_CONNECTED,
	LOOP_ENDED
};

/* An endpoint, or with ep.ep.fid.fclass FI_CLASS_PEP in its place, what listens. */
struct loop_name {
	struct list_head	node;		/* in names */
	struct net		*net;
	char			text[FI_NAME_MAX];
};

struct loop_ep {
	struct kofi_ep		ep;
	struct loop_name	name;
	enum loop_state		state;		/* under lock; so are the next three */
	struct loop_ep		*peer;		/* while connected */
	struct loop_req		*req;		/* to accept, or sent by us */
	int			users;
	bool			gone;
	wait_queue_head_t	unused;		/* users has become 0 */
	spinlock_t		pending_lock;
	struct list_head	pending;	/* sends that wait at a peer */
};

/* A send. */
struct loop_op {
	struct kofi_op		op;
	struct kofi_arrival	arrival;
	struct list_head	pending;
	struct loop_ep		*target;
};

struct loop_pep {
	struct fid_pep		pep;
	struct kofi_fabric_obj	*fabric;
	struct loop_name	name;
	struct fi_info		*info;
	struct kofi_eq		*eq;
	bool			listening;
	struct list_head	reqs;		/* not answered yet */
};

/* A connection request. */
struct loop_req {
	struct fid		fid;
	struct list_head	node;
	struct loop_pep		*pep;
	struct loop_ep		*from;		/* NULL: has gone */
};

static DEFINE_SPINLOCK(lock);		/* names, states, connections */
static LIST_HEAD(eps);			/* RDM endpoints: loop_ep::name */
static LIST_HEAD(peps);			/* loop_pep::name */
static unsigned int port_next = PORT_FIRST;

static struct loop_ep *loop_of(struct kofi_ep *ep)
{
	return container_of(ep, struct loop_ep, ep);
}

static struct loop_ep *loop_fid(struct fid_ep *ep)
{
	return container_of(ep, struct loop_ep, ep.ep);
}

/* ---- names ---- */

static struct loop_name *find(struct list_head *names, struct net *net, const char *text)
{
	struct loop_name *name;

	list_for_each_entry(name, names, node)
		if (net_eq(name->net, net) && !strncmp(name->text, text, FI_NAME_MAX))
			return name;
	return NULL;
}

static int name_set(struct loop_name *name, const void *text, size_t len)
{
	unsigned int port;
	char copy[FI_NAME_MAX + 1] = "";

	memcpy(copy, text, min_t(size_t, len, FI_NAME_MAX));
	if (sscanf(copy, NAME_FMT, &port) != 1 || strlen(copy) >= FI_NAME_MAX)
		return -FI_EINVAL;
	memcpy(name->text, copy, FI_NAME_MAX);
	return 0;
}

/* Names that the caller did not choose, and "loop:0", get a number that is free. */
static int name_add(struct list_head *names, struct loop_name *name)
{
	int ret = 0;

	spin_lock_bh(&lock);
	if (*name->text && strcmp(name->text, "loop:0")) {
		if (find(names, name->net, name->text))
			ret = -FI_EADDRINUSE;
	} else {
		do {
			snprintf(name->text, sizeof(name->text), NAME_FMT, port_next++);
		} while (find(names, name->net, name->text));
	}
	if (!ret)
		list_add(&name->node, names);
	spin_unlock_bh(&lock);
	return ret;
}

static void name_del(struct loop_name *name)
{
	spin_lock_bh(&lock);
	list_del_init(&name->node);
	spin_unlock_bh(&lock);
}

/* ---- transfers ---- */

static struct loop_ep *target_get(struct loop_ep *ep, const struct kofi_op *op)
{
	char text[FI_NAME_MAX];
	struct loop_ep *target;
	struct loop_name *name;
	size_t len;

	if (ep->ep.type == FI_EP_MSG) {
		spin_lock_bh(&lock);
		target = ep->peer;
	} else {
		if (!kofi_av_get(ep->ep.av, op->addr, text, sizeof(text), &len))
			return ERR_PTR(-FI_EADDRNOTAVAIL);
		spin_lock_bh(&lock);
		name = find(&eps, ep->name.net, text);
		target = name ? container_of(name, struct loop_ep, name) : NULL;
	}
	if (target && target->gone)
		target = NULL;
	if (target)
		target->users++;
	spin_unlock_bh(&lock);
	return target;
}

static void target_put(struct loop_ep *ep)
{
	spin_lock_bh(&lock);
	if (!--ep->users)
		wake_up_all(&ep->unused);
	spin_unlock_bh(&lock);
}

static void pending_del(struct loop_op *lop)
{
	struct loop_ep *ep = loop_of(lop->op.ep);

	spin_lock_bh(&ep->pending_lock);
	list_del_init(&lop->pending);
	spin_unlock_bh(&ep->pending_lock);
}

static void deliver(struct loop_op *lop, struct kofi_op *rx)
{
	struct kofi_op *op = &lop->op;
	struct kofi_recvd recvd = {
		.len = op->segs.len, .flags = op->flags & FI_REMOTE_CQ_DATA, .data = op->data,
		.tag = op->tag, .src = lop->arrival.src,
	};

	pending_del(lop);
	kofi_segs_copy(&rx->segs, 0, &op->segs, 0, min(op->segs.len, rx->segs.len));
	kofi_rx_done(rx, 0, &recvd);
	kofi_tx_done(op, 0);
}

static void send(struct loop_ep *ep, struct loop_op *lop, struct loop_ep *target)
{
	struct kofi_op *rx;

	lop->target = target;
	lop->arrival.tagged = lop->op.type == KOFI_TSEND;
	lop->arrival.tag = lop->op.tag;
	lop->arrival.len = lop->op.segs.len;
	lop->arrival.src = target->ep.av ? kofi_av_find(target->ep.av, ep->name.text, FI_NAME_MAX) :
			   FI_ADDR_NOTAVAIL;
	spin_lock_bh(&ep->pending_lock);
	list_add_tail(&lop->pending, &ep->pending);
	spin_unlock_bh(&ep->pending_lock);
	rx = kofi_rx_arrive(&target->ep, &lop->arrival);
	if (IS_ERR(rx)) {
		pending_del(lop);
		kofi_tx_done(&lop->op, FI_ECONNRESET);
	} else if (rx) {
		deliver(lop, rx);
	}
}

static int rma_one(struct kofi_domain *domain, struct kofi_op *op, const struct fi_rma_iov *range,
		   size_t off)
{
	bool write = op->type == KOFI_WRITE;
	struct kofi_mr *mr;
	size_t at;

	if (kofi_mr_get(domain, range->key, range->addr, range->len,
			write ? FI_REMOTE_WRITE : FI_REMOTE_READ, &mr, &at))
		return FI_EACCES;
	if (write)
		kofi_segs_copy(&mr->segs, at, &op->segs, off, range->len);
	else
		kofi_segs_copy(&op->segs, off, &mr->segs, at, range->len);
	kofi_mr_put(mr);
	return 0;
}

static void rma(struct loop_op *lop, struct loop_ep *target)
{
	struct kofi_op *op = &lop->op;
	size_t off = 0;
	int err = 0;
	u32 i;

	for (i = 0; i < op->rma_cnt && !err; off += op->rma[i++].len)
		err = rma_one(target->ep.domain, op, &op->rma[i], off);
	if (!err)
		err = -kofi_remote_done(&target->ep, FI_RMA | (op->flags & FI_REMOTE_CQ_DATA) |
					(op->type == KOFI_WRITE ? FI_REMOTE_WRITE :
								  FI_REMOTE_READ),
					op->segs.len, op->data);
	kofi_tx_done(op, err);
}

static void atomic(struct kofi_op *op, struct loop_ep *target)
{
	const struct kofi_atomic atomic = {
		.type = op->type, .datatype = op->datatype, .op = op->amo,
		.flags = op->flags & FI_REMOTE_CQ_DATA, .data = op->data,
		.rma_cnt = op->rma_cnt, .rma = op->rma, .operand = &op->segs,
		.compare = &op->compare, .result = op->type == KOFI_ATOMIC ? NULL : &op->result,
	};
	int ret = kofi_atomic_serve(&target->ep, &atomic);

	kofi_tx_done(op, ret == -FI_ENOKEY ? FI_EACCES : -ret);
}

static int loop_tx(struct kofi_ep *kep, struct kofi_op *op)
{
	struct loop_op *lop = container_of(op, struct loop_op, op);
	struct loop_ep *ep = loop_of(kep), *target;

	target = target_get(ep, op);
	if (IS_ERR(target))
		return PTR_ERR(target);
	if (!target) {
		if (kep->type == FI_EP_MSG)
			return -FI_ENOTCONN;
		kofi_tx_done(op, FI_ECONNREFUSED);
		return 0;
	}
	if (op->type == KOFI_SEND || op->type == KOFI_TSEND)
		send(ep, lop, target);
	else if (op->type < KOFI_ATOMIC)
		rma(lop, target);
	else
		atomic(op, target);
	target_put(target);
	return 0;
}

static void loop_rx_match(struct kofi_ep *ep, struct kofi_op *op, struct kofi_arrival *arrival)
{
	deliver(container_of(arrival, struct loop_op, arrival), op);
}

/* ---- end of an endpoint ---- */

/* Sends of ours that wait at a peer. */
static void cancel_pending(struct loop_ep *ep)
{
	struct loop_op *lop, *next;
	LIST_HEAD(mine);

	spin_lock_bh(&ep->pending_lock);
	list_for_each_entry_safe(lop, next, &ep->pending, pending)
		if (kofi_arrival_cancel(&lop->target->ep, &lop->arrival))
			list_move(&lop->pending, &mine);
	spin_unlock_bh(&ep->pending_lock);
	while (!list_empty(&mine)) {
		lop = list_first_entry(&mine, struct loop_op, pending);
		list_del_init(&lop->pending);
		kofi_tx_done(&lop->op, FI_ECANCELED);
	}
}

/* Sends of others that wait here. The endpoint takes no more by now. */
static void refuse_arrivals(struct loop_ep *ep)
{
	struct kofi_arrival *arrival;
	struct loop_op *lop;
	int i;

	for (i = 0; i < 2; i++) {
		while ((arrival = list_first_entry_or_null(&ep->ep.arrivals[i],
							   struct kofi_arrival, node))) {
			if (!kofi_arrival_cancel(&ep->ep, arrival))
				continue;
			lop = container_of(arrival, struct loop_op, arrival);
			pending_del(lop);
			kofi_tx_done(&lop->op, FI_ECONNRESET);
		}
	}
}

static void end_one(struct loop_ep *ep)
{
	cancel_pending(ep);
	kofi_ep_down(&ep->ep, FI_ECANCELED);
	refuse_arrivals(ep);
}

/* Both sides of a connection end; the peer is held over it. */
static void disconnect(struct loop_ep *ep)
{
	struct loop_ep *peer;

	spin_lock_bh(&lock);
	peer = ep->peer;
	if (peer) {
		peer->users++;
		peer->peer = NULL;
		ep->peer = NULL;
		peer->state = LOOP_ENDED;
		kofi_ep_ended(&peer->ep);
		kofi_ep_ended(&ep->ep);
	}
	ep->state = LOOP_ENDED;
	if (ep->req && ep->req->from == ep)
		ep->req->from = NULL;
	ep->req = NULL;
	spin_unlock_bh(&lock);
	end_one(ep);
	if (peer) {
		end_one(peer);
		target_put(peer);
	}
}

static void loop_stop(struct kofi_ep *kep)
{
	struct loop_ep *ep = loop_of(kep);

	name_del(&ep->name);
	spin_lock_bh(&lock);
	ep->gone = true;
	spin_unlock_bh(&lock);
	disconnect(ep);
	wait_event(ep->unused, !READ_ONCE(ep->users));
	/* The last user may still hold the lock that it woke us under. */
	spin_lock_bh(&lock);
	spin_unlock_bh(&lock);
	refuse_arrivals(ep);
}

static void loop_free(struct kofi_ep *kep)
{
	kfree(loop_of(kep));
}

/* RDM endpoints are found by name from now on. */
static int loop_enable(struct kofi_ep *kep)
{
	struct loop_ep *ep = loop_of(kep);

	return kep->type == FI_EP_MSG ? 0 : name_add(&eps, &ep->name);
}

static const struct kofi_ep_ops loop_ep_ops = {
	.tx_op_size = sizeof(struct loop_op),
	.rx_op_size = sizeof(struct kofi_op),
	.tx = loop_tx,
	.rx_match = loop_rx_match,
	.enable = loop_enable,
	.stop = loop_stop,
	.free = loop_free,
};

/* ---- connections ---- */

static struct loop_req *req_make(struct loop_ep *ep, struct loop_pep *pep,
				 struct kofi_event **event_p)
{
	struct kofi_event *event = kofi_event_alloc(CM_DATA_MAX, GFP_ATOMIC);
	struct loop_req *req = kzalloc(sizeof(*req), GFP_ATOMIC);

	if (!event || !req) {
		kfree(event);
		kfree(req);
		return NULL;
	}
	req->fid.fclass = FI_CLASS_CONNREQ;
	req->pep = pep;
	req->from = ep;
	*event_p = event;
	return req;
}

/* The event's info is made before the lock is taken: it is the listener's, as it was opened. */
static int request(struct loop_ep *ep, const char *text, struct fi_info *info, const void *param,
		   size_t paramlen)
{
	struct kofi_event *event;
	struct loop_name *name;
	struct loop_pep *pep;
	struct loop_req *req;

	name = find(&peps, ep->name.net, text);
	if (!name)
		return -FI_ECONNREFUSED;
	pep = container_of(name, struct loop_pep, name);
	req = req_make(ep, pep, &event);
	if (!req)
		return -FI_ENOMEM;
	list_add_tail(&req->node, &pep->reqs);
	ep->state = LOOP_CONNECTING;
	ep->req = req;
	info->handle = &req->fid;
	event->info = info;
	event->event = FI_CONNREQ;
	event->fid = &pep->pep.fid;
	kofi_event_data(event, param, paramlen);
	kofi_eq_post(pep->eq, event);
	return 0;
}

static int loop_connect(struct fid_ep *fid, const void *addr, const void *param, size_t paramlen)
{
	struct loop_ep *ep = loop_fid(fid);
	struct fi_info *info;
	int ret;

	if (!ep->ep.enabled)
		return -FI_EOPBADSTATE;
	if (!addr || paramlen > CM_DATA_MAX)
		return -FI_EINVAL;
	ret = kofi_ep_events(&ep->ep, CM_DATA_MAX);
	if (ret)
		return ret;
	info = fi_allocinfo();
	if (!info)
		return -FI_ENOMEM;
	info->caps = ep->ep.caps;
	info->addr_format = FI_ADDR_STR;
	info->ep_attr->type = FI_EP_MSG;
	info->ep_attr->max_msg_size = ep->ep.max_msg_size;
	info->tx_attr->size = info->rx_attr->size = 256;
	info->tx_attr->iov_limit = ep->ep.tx_iov_limit;
	info->rx_attr->iov_limit = ep->ep.rx_iov_limit;
	info->tx_attr->rma_iov_limit = ep->ep.rma_iov_limit;
	info->tx_attr->inject_size = ep->ep.inject_size;
	info->dest_addr = kmemdup(ep->name.text, FI_NAME_MAX, GFP_KERNEL);
	info->dest_addrlen = info->dest_addr ? FI_NAME_MAX : 0;
	spin_lock_bh(&lock);
	ret = ep->state == LOOP_IDLE && !ep->req ? request(ep, addr, info, param, paramlen) :
	      -FI_EOPBADSTATE;
	spin_unlock_bh(&lock);
	if (ret)
		fi_freeinfo(info);
	return ret;
}

static int loop_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct loop_ep *ep = loop_fid(fid), *from;
	struct loop_req *req;
	int ret;

	if (!ep->ep.enabled || paramlen > CM_DATA_MAX)
		return ep->ep.enabled ? -FI_EINVAL : -FI_EOPBADSTATE;
	ret = kofi_ep_events(&ep->ep, CM_DATA_MAX);
	if (ret)
		return ret;
	spin_lock_bh(&lock);
	req = ep->req;
	if (ep->state != LOOP_IDLE || !req) {
		spin_unlock_bh(&lock);
		return -FI_EOPBADSTATE;
	}
	ep->req = NULL;
	from = req->from;
	if (from) {
		from->peer = ep;
		ep->peer = from;
		from->req = NULL;
		from->state = ep->state = LOOP_CONNECTED;
		kofi_ep_connected(&from->ep, 0, param, paramlen);
		kofi_ep_connected(&ep->ep, 0, NULL, 0);
	} else {
		ep->state = LOOP_ENDED;
		ret = -FI_ECONNABORTED;
	}
	spin_unlock_bh(&lock);
	kfree(req);
	return ret;
}

/* Under lock. */
static void req_refuse(struct loop_req *req, const void *param, size_t paramlen)
{
	struct loop_ep *from = req->from;

	list_del(&req->node);
	if (from) {
		from->state = LOOP_ENDED;
		from->req = NULL;
		kofi_ep_connected(&from->ep, FI_ECONNREFUSED, param, paramlen);
	}
	kfree(req);
}

static int loop_reject(struct fid_pep *fid, fid_t handle, const void *param, size_t paramlen)
{
	struct loop_pep *pep = container_of(fid, struct loop_pep, pep);
	struct loop_req *req;
	int ret = -FI_EINVAL;

	if (paramlen > CM_DATA_MAX)
		return ret;
	spin_lock_bh(&lock);
	list_for_each_entry(req, &pep->reqs, node) {
		if (&req->fid == handle) {
			req_refuse(req, param, paramlen);
			ret = 0;
			break;
		}
	}
	spin_unlock_bh(&lock);
	return ret;
}

static int loop_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct loop_ep *ep = loop_fid(fid);

	if (flags)
		return -FI_EBADFLAGS;
	if (READ_ONCE(ep->state) != LOOP_CONNECTED)
		return -FI_ENOTCONN;
	disconnect(ep);
	return 0;
}

static struct loop_name *name_of(fid_t fid)
{
	return fid->fclass == FI_CLASS_PEP ? &container_of(fid, struct loop_pep, pep.fid)->name :
					     &container_of(fid, struct loop_ep, ep.ep.fid)->name;
}

static int loop_setname(fid_t fid, void *addr, size_t addrlen)
{
	return name_set(name_of(fid), addr, addrlen);
}

static int loop_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return kofi_name_copy(addr, addrlen, name_of(fid)->text, FI_NAME_MAX);
}

static int loop_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct loop_ep *ep = loop_fid(fid);
	char text[FI_NAME_MAX];
	bool connected;

	spin_lock_bh(&lock);
	connected = ep->peer;
	if (connected)
		memcpy(text, ep->peer->name.text, FI_NAME_MAX);
	spin_unlock_bh(&lock);
	return connected ? kofi_name_copy(addr, addrlen, text, FI_NAME_MAX) : -FI_ENOTCONN;
}

static int loop_listen(struct fid_pep *fid)
{
	struct loop_pep *pep = container_of(fid, struct loop_pep, pep);
	int ret;

	if (!pep->eq)
		return -FI_ENOEQ;
	if (pep->listening)
		return -FI_EOPBADSTATE;
	ret = name_add(&peps, &pep->name);
	pep->listening = !ret;
	return ret;
}

static struct fi_ops_cm loop_cm = {
	.size = offsetofend(struct fi_ops_cm, shutdown),
	.setname = loop_setname,
	.getname = loop_getname,
	.getpeer = loop_getpeer,
	.connect = loop_connect,
	.listen = loop_listen,
	.accept = loop_accept,
	.reject = loop_reject,
	.shutdown = loop_shutdown,
};

/* ---- opening ---- */

/* An endpoint for a request takes the request. */
static int claim(struct loop_ep *ep, const struct fi_info *info)
{
	struct fid *handle = kofi_info_handle(info, FI_CLASS_CONNREQ);
	struct loop_req *req;

	if (!handle)
		return 0;
	req = container_of(handle, struct loop_req, fid);
	spin_lock_bh(&lock);
	list_del_init(&req->node);
	ep->req = req;
	spin_unlock_bh(&lock);
	return 0;
}

static int loop_endpoint(struct kofi_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
			 void *context)
{
	struct loop_ep *ep;
	int ret;

	ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	if (!ep)
		return -FI_ENOMEM;
	init_waitqueue_head(&ep->unused);
	spin_lock_init(&ep->pending_lock);
	INIT_LIST_HEAD(&ep->pending);
	INIT_LIST_HEAD(&ep->name.node);
	ep->name.net = kofi_domain_net(domain);
	ret = info->src_addr ? name_set(&ep->name, info->src_addr, info->src_addrlen) : 0;
	if (!ret)
		ret = kofi_ep_init(&ep->ep, domain, info, &loop_ep_ops, &loop_cm, context);
	if (ret) {
		kfree(ep);
		return ret;
	}
	claim(ep, info);
	*ep_p = &ep->ep.ep;
	return 0;
}

static int pep_close(struct fid *fid)
{
	struct loop_pep *pep = container_of(fid, struct loop_pep, pep.fid);
	struct loop_req *req, *next;

	name_del(&pep->name);
	spin_lock_bh(&lock);
	list_for_each_entry_safe(req, next, &pep->reqs, node)
		req_refuse(req, NULL, 0);
	spin_unlock_bh(&lock);
	if (pep->eq) {
		kofi_eq_purge(pep->eq, fid);
		atomic_dec(&pep->eq->refs);
	}
	atomic_dec(&pep->fabric->refs);
	fi_freeinfo(pep->info);
	kfree(pep);
	return 0;
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct loop_pep *pep = container_of(fid, struct loop_pep, pep.fid);

	if (bfid->fclass != FI_CLASS_EQ || flags || pep->eq)
		return -FI_EINVAL;
	pep->eq = container_of(bfid, struct kofi_eq, eq.fid);
	atomic_inc(&pep->eq->refs);
	return 0;
}

static struct fi_ops pep_ops = {
	.size = offsetofend(struct fi_ops, bind),
	.close = pep_close,
	.bind = pep_bind,
};

static int loop_passive_ep(struct kofi_fabric_obj *fabric, struct fi_info *info,
			   struct fid_pep **pep_p, void *context)
{
	struct loop_pep *pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	int ret;

	if (!pep)
		return -FI_ENOMEM;
	pep->info = fi_dupinfo(info);
	ret = pep->info ? 0 : -FI_ENOMEM;
	if (!ret && info->src_addr)
		ret = name_set(&pep->name, info->src_addr, info->src_addrlen);
	if (ret) {
		fi_freeinfo(pep->info);
		kfree(pep);
		return ret;
	}
	pep->pep.fid.fclass = FI_CLASS_PEP;
	pep->pep.fid.context = context;
	pep->pep.fid.ops = &pep_ops;
	pep->pep.cm = &loop_cm;
	pep->fabric = fabric;
	pep->name.net = fabric->fabric.net;
	INIT_LIST_HEAD(&pep->name.node);
	INIT_LIST_HEAD(&pep->reqs);
	atomic_inc(&fabric->refs);
	*pep_p = &pep->pep;
	return 0;
}

static const struct kofi_obj_ops loop_obj_ops = {
	.endpoint = loop_endpoint,
	.passive_ep = loop_passive_ep,
	.srx = true,
};

/* ---- the provider ---- */

static int set_text(void **addr, size_t *addrlen, const char *service)
{
	unsigned int port;

	*addr = kzalloc(FI_NAME_MAX, GFP_KERNEL);
	if (!*addr)
		return -FI_ENOMEM;
	*addrlen = FI_NAME_MAX;
	if (!strncmp(service, "loop:", 5))
		service += 5;
	if (kstrtouint(service, 10, &port))
		return -FI_EINVAL;
	snprintf(*addr, FI_NAME_MAX, NAME_FMT, port);
	return 0;
}

static int offer(const struct kofi_query *query, enum fi_ep_type type, struct fi_info **info_p)
{
	struct fi_info *info = fi_allocinfo();
	int ret = 0;

	if (!info)
		return -FI_ENOMEM;
	info->caps = FI_MULTI_RECV | FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_RECV | FI_READ |
		     FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_LOCAL_COMM |
		     (type == FI_EP_RDM ? FI_SOURCE | FI_DIRECTED_RECV : 0);
	info->addr_format = FI_ADDR_STR;
	info->tx_attr->op_flags = FI_COMPLETION | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |
				  FI_INJECT_COMPLETE;
	info->tx_attr->msg_order = info->rx_attr->msg_order = FI_ORDER_STRICT;
	info->tx_attr->inject_size = 128;
	info->tx_attr->size = info->rx_attr->size = 256;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = KOFI_IOV_MAX;
	info->tx_attr->rma_iov_limit = KOFI_RMA_MAX;
	info->ep_attr->type = type;
	info->ep_attr->protocol_version = 1;
	info->ep_attr->max_msg_size = 1UL << 30;
	info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
	info->domain_attr->threading = FI_THREAD_SAFE;
	info->domain_attr->control_progress = info->domain_attr->data_progress = FI_PROGRESS_AUTO;
	info->domain_attr->resource_mgmt = FI_RM_ENABLED;
	info->domain_attr->av_type = FI_AV_TABLE;
	info->domain_attr->mr_key_size = info->domain_attr->cq_data_size = 8;
	info->domain_attr->mr_iov_limit = 1 << 20;
	info->domain_attr->max_ep_srx_ctx = SRX_USERS;
	info->domain_attr->max_ep_tx_ctx = info->domain_attr->max_ep_rx_ctx = 1;
	info->domain_attr->name = kstrdup("loop", GFP_KERNEL);
	info->fabric_attr->name = kstrdup("loop", GFP_KERNEL);
	if (!info->domain_attr->name || !info->fabric_attr->name)
		ret = -FI_ENOMEM;
	if (!ret && query->service && query->flags & FI_SOURCE)
		ret = set_text(&info->src_addr, &info->src_addrlen, query->service);
	else if (!ret && query->service)
		ret = set_text(&info->dest_addr, &info->dest_addrlen, query->service);
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	*info_p = info;
	return 0;
}

/* A node is another host, but for an empty or our own name. */
static int loop_query(const struct kofi_query *query, struct fi_info **list_p)
{
	int ret;

	if (query->node && *query->node && strcmp(query->node, "loop"))
		return -FI_ENODATA;
	ret = offer(query, FI_EP_MSG, list_p);
	if (ret)
		return ret == -FI_EINVAL ? -FI_ENODATA : ret;
	ret = offer(query, FI_EP_RDM, &(*list_p)->next);
	if (ret) {
		fi_freeinfo(*list_p);
		*list_p = NULL;
	}
	return ret;
}

static int loop_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
		       void *context)
{
	return kofi_obj_fabric(&loop_obj_ops, attr, fabric_p, context);
}

static const struct kofi_provider loop_provider = {
	.size = sizeof(struct kofi_provider),
	.name = "loop",
	.version = FI_VERSION(1, 0),
	.max_tx_size = 4096,
	.max_rx_size = 8192,
	.owner = THIS_MODULE,
	.query = loop_query,
	.fabric = loop_fabric,
};

static int __init loop_init(void)
{
	return kofi_provider_register(FI_VERSION(2, 6), &loop_provider);
}

static void __exit loop_exit(void)
{
	WARN_ON(kofi_provider_deregister(&loop_provider));
}

module_init(loop_init);
module_exit(loop_exit);
MODULE_DESCRIPTION("kOFI provider: endpoints within one kernel");
MODULE_AUTHOR("the libfabric authors");
MODULE_LICENSE("Dual BSD/GPL");
