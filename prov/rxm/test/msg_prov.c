/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "rxm/test/msg_prov.h"

#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/opt.h"
#include "obj/test/calls.h"
#include "rxm/test/msg_queue.h"

#define LAST_ROOM 65536

struct msg_pep {
	struct fid_pep fid;	/* first */
	struct list node;	/* on peps */
	struct sockaddr_in addr;
	bool listening;
};

struct msg_ep {
	struct fid_ep fid;	/* first */
	struct msg_ep *peer;	/* NULL: not connected, or to the test */
	bool connected;
	struct msg_req *req;	/* opened with it */
	struct sockaddr_in addr;
	struct list recvs;	/* struct msg_op */
	uint8_t *last;
	size_t last_len;
};

struct msg_mr {
	struct fid_mr fid;	/* first */
	struct list node;	/* on mrs */
	const void *buf;
	size_t len;
};

struct msg_prov msg_prov;
static struct list peps = { &peps, &peps }, mrs = { &mrs, &mrs };
static struct list held = { &held, &held };
static struct msg_req *blackholed;
static uint16_t next_port, blackhole;
static uint64_t clock_now;

/* ---- the virtual clock ------------------------------------------------------------------- */

int clock_gettime(clockid_t id, struct timespec *ts)
{
	*ts = (struct timespec) { .tv_sec = (time_t) (clock_now / CLOCK_NS_PER_S),
				  .tv_nsec = (long) (clock_now % CLOCK_NS_PER_S) };
	return 0;
}

int nanosleep(const struct timespec *ts, struct timespec *left)
{
	msg_prov_sleep((uint64_t) ts->tv_sec * CLOCK_NS_PER_S + (uint64_t) ts->tv_nsec);
	return 0;
}

void msg_prov_sleep(uint64_t ns)
{
	clock_now += ns;
}

/* ---- connections ------------------------------------------------------------------------------ */

static struct msg_pep *find_pep(uint16_t port)
{
	struct msg_pep *pep;

	list_for_each_entry(pep, &peps, node)
		if (pep->listening && ntohs(pep->addr.sin_port) == port)
			return pep;
	return NULL;
}

bool msg_prov_listens(uint16_t port)
{
	return find_pep(port) != NULL;
}

void msg_prov_blackhole(uint16_t port)
{
	blackhole = port;
}

static struct msg_req *request(struct msg_pep *pep, struct msg_ep *from,
				const struct sockaddr_in *addr, const void *data, size_t len)
{
	struct msg_req *req = calloc(1, sizeof(*req));
	struct msg_event *ev = msg_event_new(FI_CONNREQ, &pep->fid.fid, data, len);

	req->tests = !from;
	req->from = from;
	if (from)
		from->req = req;
	ev->info = msg_prov_info(ntohs(pep->addr.sin_port));
	ev->info->dest_addr = malloc(sizeof(*addr));
	memcpy(ev->info->dest_addr, addr, sizeof(*addr));
	ev->info->dest_addrlen = sizeof(*addr);
	ev->info->handle = &req->fid;
	return req;
}

struct msg_req *msg_prov_request(uint16_t port, const struct sockaddr_in *from, const void *data,
				  size_t len)
{
	struct msg_pep *pep = find_pep(port);

	CHECK(pep);
	return request(pep, NULL, from, data, len);
}

static void refuse(struct msg_ep *ep, int err, const void *data, size_t len)
{
	msg_event_new(0, &ep->fid.fid, data, len)->err = err;
}

/* end_request - it is answered, or will never be. */
static void end_request(struct msg_req *req)
{
	if (req->from)
		req->from->req = NULL;
	if (req->to)
		req->to->req = NULL;
	free(req);
}

void msg_prov_free(struct msg_req *req)
{
	end_request(req);
}

/* give_up - @req is closed without an answer. */
static void give_up(struct msg_req *req)
{
	req->rejected = !req->accepted;
	if (req->from)
		refuse(req->from, FI_ECONNREFUSED, NULL, 0);
	if (!req->tests)
		end_request(req);
}

/* forget - events of an object that is closed. */
static void forget(struct fid *fid)
{
	struct msg_event *ev;

	while ((ev = msg_event_take(fid))) {
		if (ev->info)
			give_up(container_of(ev->info->handle, struct msg_req, fid));
		fi_freeinfo(ev->info);
		free(ev);
	}
}

static int ep_connect(struct fid_ep *fid, const void *addr, const void *data, size_t len)
{
	struct msg_ep *ep = container_of(fid, struct msg_ep, fid);
	const struct sockaddr_in *to = addr;
	struct msg_pep *pep = find_pep(ntohs(to->sin_port));

	if (len > MSG_CM_DATA)
		return -FI_EINVAL;
	if (ntohs(to->sin_port) == blackhole) {
		blackholed = calloc(1, sizeof(*blackholed));
		blackholed->from = ep;
		ep->req = blackholed;
		memcpy(blackholed->data, data, len);
		blackholed->len = len;
	} else if (pep) {
		request(pep, ep, &ep->addr, data, len);
	} else {
		refuse(ep, FI_ECONNREFUSED, NULL, 0);
	}
	return 0;
}

bool msg_prov_answer(bool accept, const void *data, size_t len)
{
	struct msg_req *req = blackholed;

	if (!req || !req->from)
		return false;
	blackholed = NULL;
	if (accept) {
		req->from->connected = true;
		msg_event_new(FI_CONNECTED, &req->from->fid.fid, data, len);
	} else {
		refuse(req->from, FI_ECONNREFUSED, data, len);
	}
	end_request(req);
	return true;
}

static void answer(struct msg_req *req, const void *data, size_t len)
{
	CHECK(!req->accepted && !req->rejected && len <= MSG_CM_DATA);
	memcpy(req->data, data, len);
	req->len = len;
}

static int ep_accept(struct fid_ep *fid, const void *data, size_t len)
{
	struct msg_ep *ep = container_of(fid, struct msg_ep, fid), *from;
	struct msg_req *req = ep->req;

	CHECK(req && req->to == ep);
	if (msg_prov.accept_err)
		return -msg_prov.accept_err;
	answer(req, data, len);
	req->accepted = true;
	from = req->from;
	if (req->tests)		/* msg_prov_confirm() follows, or nothing */
		return 0;
	end_request(req);
	if (!from) {
		refuse(ep, FI_ECONNRESET, NULL, 0);
		return 0;
	}
	ep->peer = from;
	from->peer = ep;
	ep->connected = from->connected = true;
	msg_event_new(FI_CONNECTED, &from->fid.fid, data, len);
	msg_event_new(FI_CONNECTED, &ep->fid.fid, NULL, 0);
	return 0;
}

void msg_prov_confirm(struct msg_req *req)
{
	CHECK(req->accepted && req->to);
	req->to->connected = true;
	msg_event_new(FI_CONNECTED, &req->to->fid.fid, NULL, 0);
}

static int pep_reject(struct fid_pep *pep, fid_t handle, const void *data, size_t len)
{
	struct msg_req *req = container_of(handle, struct msg_req, fid);

	CHECK(!req->to);
	answer(req, data, len);
	req->rejected = true;
	if (req->from)
		refuse(req->from, FI_ECONNREFUSED, data, len);
	if (!req->tests)
		end_request(req);
	return 0;
}

/* ---- data transfer ------------------------------------------------------------------------------ */

static bool has_room(int *room)
{
	return *room < 0 || (*room)-- > 0;
}

static ssize_t ep_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t from,
		       void *context)
{
	struct msg_ep *ep = container_of(fid, struct msg_ep, fid);

	if (msg_prov.rx_room >= 0 && !has_room(&msg_prov.rx_room)) {
		msg_prov.rx_room = 0;
		return -FI_EAGAIN;
	}
	list_add_tail(&msg_op_new(ep, buf, len, context)->node, &ep->recvs);
	return 0;
}

static void deliver(struct msg_ep *to, const void *data, size_t len)
{
	struct msg_op *recv = container_of(to->recvs.next, struct msg_op, node);

	CHECK(!list_empty(&to->recvs) && "credits promise a receive buffer");
	CHECK(len <= recv->len);
	memcpy(recv->buf, data, len);
	recv->len = len;
	msg_op_complete(recv, 0);
}

static ssize_t transmit(struct msg_ep *ep, const void *data, size_t len)
{
	if (!ep->connected)
		return -FI_ENOTCONN;
	if (!has_room(&msg_prov.tx_room)) {
		msg_prov.tx_room = 0;
		return -FI_EAGAIN;
	}
	msg_prov.sends++;
	CHECK(len <= LAST_ROOM);
	if (!ep->last)
		ep->last = malloc(LAST_ROOM);
	memcpy(ep->last, data, len);
	ep->last_len = len;
	if (ep->peer)
		deliver(ep->peer, data, len);
	return 0;
}

static ssize_t ep_send(struct fid_ep *fid, const void *data, size_t len, void *desc, fi_addr_t to,
		       void *context)
{
	struct msg_ep *ep = container_of(fid, struct msg_ep, fid);
	ssize_t ret = transmit(ep, data, len);

	if (!ret)
		msg_op_complete(msg_op_new(ep, NULL, len, context), 0);
	return ret;
}

static ssize_t ep_inject(struct fid_ep *fid, const void *data, size_t len, fi_addr_t to)
{
	CHECK(len <= MSG_INJECT);
	return transmit(container_of(fid, struct msg_ep, fid), data, len);
}

void msg_prov_deliver(struct fid_ep *fid, const void *data, size_t len)
{
	deliver(container_of(fid, struct msg_ep, fid), data, len);
}

void msg_prov_fail_recv(struct fid_ep *fid, int err)
{
	struct list *first = container_of(fid, struct msg_ep, fid)->recvs.next;

	msg_op_complete(container_of(first, struct msg_op, node), err);
}

const uint8_t *msg_prov_last(struct fid_ep *fid, size_t *len_p)
{
	struct msg_ep *ep = container_of(fid, struct msg_ep, fid);

	*len_p = ep->last_len;
	return ep->last;
}

static bool registered(const struct msg_op *op, uint64_t key)
{
	struct msg_mr *mr;

	list_for_each_entry(mr, &mrs, node)
		if (mr->fid.key == key)
			return op->addr >= (uintptr_t) mr->buf &&
			       op->addr + op->len <= (uintptr_t) mr->buf + mr->len;
	return false;
}

static ssize_t ep_read(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t from,
		       uint64_t addr, uint64_t key, void *context)
{
	struct msg_ep *ep = container_of(fid, struct msg_ep, fid);
	struct msg_op *op;

	CHECK(len && len <= msg_prov.max_msg_size);
	if (!ep->connected)
		return -FI_ENOTCONN;
	if (!has_room(&msg_prov.tx_room)) {
		msg_prov.tx_room = 0;
		return -FI_EAGAIN;
	}
	op = msg_op_new(ep, buf, len, context);
	op->addr = addr;
	CHECK(registered(op, key));
	msg_prov.reads++;
	list_add_tail(&op->node, &held);
	if (!msg_prov.hold_reads)
		msg_prov_reads(0);
	return 0;
}

void msg_prov_reads(int err)
{
	struct msg_op *op;

	while ((op = list_pop_entry(&held, struct msg_op, node))) {
		if (!err)
			memcpy(op->buf, (const void *) (uintptr_t) op->addr, op->len);
		msg_op_complete(op, err);
	}
}

/* ---- objects -------------------------------------------------------------------------------------- */

void msg_prov_shutdown(struct fid_ep *fid)
{
	struct msg_ep *ep = container_of(fid, struct msg_ep, fid);

	ep->connected = false;
	msg_event_new(FI_SHUTDOWN, &ep->fid.fid, NULL, 0);
}

static void drop_held(struct msg_ep *ep)
{
	struct msg_op *op, *next;

	list_for_each_entry_safe(op, next, &held, node)
		if (op->ep == ep)
			msg_op_complete(op, FI_ECANCELED);
}

static int ep_close(struct fid *fid)
{
	struct msg_ep *ep = container_of(fid, struct msg_ep, fid.fid);

	forget(fid);
	while (!list_empty(&ep->recvs))
		msg_op_complete(container_of(ep->recvs.next, struct msg_op, node), FI_ECANCELED);
	drop_held(ep);
	if (ep->peer) {
		ep->peer->peer = NULL;
		msg_prov_shutdown(&ep->peer->fid);
	}
	if (ep->req && ep->req == blackholed) {
		blackholed = NULL;
		end_request(ep->req);
	} else if (ep->req && ep->req->from == ep) {
		ep->req->from = NULL;	/* the request is at the listener */
	} else if (ep->req) {
		ep->req->to = NULL;
		give_up(ep->req);
	}
	free(ep->last);
	free(ep);
	msg_prov.eps--;
	return 0;
}

static int bind_any(struct fid *fid, struct fid *to, uint64_t flags)
{
	return 0;
}

static int enable(struct fid *fid, int command, void *arg)
{
	return 0;
}

static struct fi_ops_cm cm_ops = {
	.size = sizeof(cm_ops), .connect = ep_connect, .accept = ep_accept, .reject = pep_reject,
};
static struct fi_ops_msg msg_ops = {
	.size = sizeof(msg_ops), .recv = ep_recv, .send = ep_send, .inject = ep_inject,
};
/* The peer is gone, and only this call says so. */
static ssize_t ep_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	return -FI_ENOTCONN;
}

static struct fi_ops_rma rma_ops = {
	.size = sizeof(rma_ops), .read = ep_read, .writemsg = ep_writemsg,
};
/* NET_OPT_STAGED: each message is sent at once. */
static int ep_getopt(struct fid *fid, int level, int name, void *val, size_t *len)
{
	static const _Atomic bool staged;

	CHECK(name == NET_OPT_STAGED && *len == sizeof(&staged));
	memcpy(val, &(const _Atomic bool *) { &staged }, *len);
	return 0;
}

static struct fi_ops_ep ep_ops = { .size = sizeof(ep_ops), .getopt = ep_getopt };
static struct fi_ops ep_fid_ops = {
	.size = sizeof(struct fi_ops), .close = ep_close, .bind = bind_any, .control = enable,
};

static int open_ep(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		   void *context)
{
	struct msg_ep *ep;

	if (msg_prov.ep_room >= 0 && !has_room(&msg_prov.ep_room)) {
		msg_prov.ep_room = 0;
		return -FI_EMFILE;
	}
	ep = calloc(1, sizeof(*ep));
	ep->fid = (struct fid_ep) {
		.fid = { .fclass = FI_CLASS_EP, .context = context, .ops = &ep_fid_ops },
		.ops = &ep_ops, .cm = &cm_ops, .msg = &msg_ops, .rma = &rma_ops,
	};
	ep->addr = msg_prov_addr(next_port++);
	list_init(&ep->recvs);
	if (info->handle) {
		ep->req = container_of(info->handle, struct msg_req, fid);
		ep->req->to = ep;
	}
	msg_prov.eps++;
	*ep_p = &ep->fid;
	return 0;
}

static int mr_close(struct fid *fid)
{
	struct msg_mr *mr = container_of(fid, struct msg_mr, fid.fid);

	list_del(&mr->node);
	free(mr);
	msg_prov.mrs--;
	return 0;
}

static struct fi_ops mr_fid_ops = { .size = sizeof(struct fi_ops), .close = mr_close };

static int mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
		  uint64_t key, uint64_t flags, struct fid_mr **mr_p, void *context)
{
	static uint64_t last_key;
	struct msg_mr *mr = calloc(1, sizeof(*mr));

	mr->fid = (struct fid_mr) {
		.fid = { .fclass = FI_CLASS_MR, .ops = &mr_fid_ops }, .key = ++last_key,
	};
	mr->buf = buf;
	mr->len = len;
	list_add_tail(&mr->node, &mrs);
	msg_prov.mrs++;
	*mr_p = &mr->fid;
	return 0;
}

static int pep_close(struct fid *fid)
{
	struct msg_pep *pep = container_of(fid, struct msg_pep, fid.fid);

	forget(fid);
	list_del(&pep->node);
	free(pep);
	return 0;
}

static int pep_name(fid_t fid, void *addr, size_t *len)
{
	struct msg_pep *pep = container_of(fid, struct msg_pep, fid.fid);

	CHECK(*len >= sizeof(pep->addr));
	*len = sizeof(pep->addr);
	memcpy(addr, &pep->addr, *len);
	return 0;
}

static int pep_listen(struct fid_pep *fid)
{
	container_of(fid, struct msg_pep, fid)->listening = true;
	return 0;
}

static struct fi_ops pep_fid_ops = {
	.size = sizeof(struct fi_ops), .close = pep_close, .bind = bind_any,
};
static struct fi_ops_cm pep_cm_ops = {
	.size = sizeof(pep_cm_ops), .getname = pep_name, .listen = pep_listen, .reject = pep_reject,
};

static int open_pep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep_p,
		    void *context)
{
	struct msg_pep *pep = calloc(1, sizeof(*pep));

	pep->fid = (struct fid_pep) {
		.fid = { .fclass = FI_CLASS_PEP, .context = context, .ops = &pep_fid_ops },
		.cm = &pep_cm_ops,
	};
	memcpy(&pep->addr, info->src_addr, sizeof(pep->addr));
	list_add_tail(&pep->node, &peps);
	*pep_p = &pep->fid;
	return 0;
}

static int close_static(struct fid *fid)
{
	return 0;
}

static struct fi_ops static_fid_ops = {
	.size = sizeof(struct fi_ops), .close = close_static, .bind = bind_any,
};
static struct fi_ops_domain domain_ops = {
	.size = sizeof(domain_ops), .cq_open = msg_cq_open, .endpoint = open_ep,
};
static struct fi_ops_mr mr_ops = { .size = sizeof(mr_ops), .reg = mr_reg };
static struct fid_domain the_domain = {
	.fid = { .fclass = FI_CLASS_DOMAIN, .ops = &static_fid_ops },
	.ops = &domain_ops, .mr = &mr_ops,
};

static int open_domain(struct fid_fabric *fabric, struct fi_info *info,
		       struct fid_domain **domain_p, void *context)
{
	*domain_p = &the_domain;
	return 0;
}

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(fabric_ops), .domain = open_domain, .passive_ep = open_pep,
	.eq_open = msg_eq_open, .trywait = msg_trywait,
};
static struct fid_fabric the_fabric = {
	.fid = { .fclass = FI_CLASS_FABRIC, .ops = &static_fid_ops }, .ops = &fabric_ops,
};

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p, void *context)
{
	*fabric_p = &the_fabric;
	return 0;
}

/* ---- for the test --------------------------------------------------------------------------------- */

struct sockaddr_in msg_prov_addr(uint16_t port)
{
	return (struct sockaddr_in) {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

struct fi_info *msg_prov_info(uint16_t port)
{
	struct sockaddr_in addr = msg_prov_addr(port ? port : next_port++);
	struct fi_info *info = fi_allocinfo();

	info->src_addr = malloc(sizeof(addr));
	memcpy(info->src_addr, &addr, sizeof(addr));
	info->src_addrlen = sizeof(addr);
	info->addr_format = FI_SOCKADDR_IN;
	info->ep_attr->max_msg_size = msg_prov.max_msg_size;
	info->tx_attr->inject_size = MSG_INJECT;
	info->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	info->domain_attr->name = strdup("fake");
	info->fabric_attr->prov_name = strdup("fake");
	return info;
}

void msg_prov_reset(void)
{
	CHECK(list_empty(&held));
	msg_queues_reset();
	msg_prov = (struct msg_prov) {
		.ep_room = -1, .tx_room = -1, .rx_room = -1, .max_msg_size = 1 << 20,
	};
	next_port = 1000;
	blackhole = 0;
	clock_now = CLOCK_NS_PER_S;
}
