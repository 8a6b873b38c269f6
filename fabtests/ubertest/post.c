/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* One operation of a combination, by the call that it names. */
#include "uber.h"

enum uber_class uber_class_of(enum uber_func func)
{
	return func < FUNC_WRITE ? CLASS_MSG : func < FUNC_ATOMIC ? CLASS_RMA : CLASS_ATOMIC;
}

bool uber_injects(enum uber_func func)
{
	return func == FUNC_INJECT || func == FUNC_INJECTDATA || func == FUNC_INJECT_WRITE ||
	       func == FUNC_INJECT_WRITEDATA || func == FUNC_INJECT_ATOMIC;
}

static bool takes_flags(enum uber_func func)
{
	return func == FUNC_SENDMSG || func == FUNC_WRITEMSG || func == FUNC_READMSG ||
	       func == FUNC_ATOMICMSG || func == FUNC_FETCHMSG || func == FUNC_COMPAREMSG;
}

bool uber_with_data(const struct uber_case *c)
{
	enum uber_func func = c->v[KEY_FUNC];

	return func == FUNC_SENDDATA || func == FUNC_INJECTDATA || func == FUNC_WRITEDATA ||
	       func == FUNC_INJECT_WRITEDATA ||
	       ((func == FUNC_SENDMSG || func == FUNC_WRITEMSG) &&
		c->v[KEY_MSG_FLAGS] & FI_REMOTE_CQ_DATA);
}

static bool is_selective(const struct uber_case *c, enum uber_key bind)
{
	return c->v[KEY_COMP] == COMP_CNTR || c->v[bind] & FI_SELECTIVE_COMPLETION;
}

bool uber_tx_shows(const struct uber_case *c)
{
	enum uber_func func = c->v[KEY_FUNC];

	if (uber_injects(func))
		return false;
	return !is_selective(c, KEY_TX_BIND) ||
	       (takes_flags(func) ? c->v[KEY_MSG_FLAGS] : c->v[KEY_TX_OP]) & FI_COMPLETION;
}

bool uber_rx_shows(const struct uber_case *c)
{
	return !is_selective(c, KEY_RX_BIND) ||
	       (c->v[KEY_FUNC] == FUNC_SENDMSG ? c->v[KEY_MSG_FLAGS] : c->v[KEY_RX_OP]) & FI_COMPLETION;
}

/* ---- pieces ---- */

/* A buffer as one piece or two; returns their number. */
static size_t buf_pieces(struct iovec *iov, void **desc, char *p, size_t len, void *d, size_t limit)
{
	size_t cnt = len > 1 && limit > 1 ? 2 : 1, half = cnt == 2 ? len / 2 : len;

	iov[0] = (struct iovec) { p, half };
	iov[1] = (struct iovec) { p + half, len - half };
	desc[0] = desc[1] = d;
	return cnt;
}

static size_t atom_pieces(struct fi_ioc *ioc, void **desc, char *p, size_t cnt, size_t size, void *d,
			  size_t limit)
{
	size_t n = cnt > 1 && limit > 1 ? 2 : 1, half = n == 2 ? cnt / 2 : cnt;

	ioc[0] = (struct fi_ioc) { p, half };
	ioc[1] = (struct fi_ioc) { p + half * size, cnt - half };
	desc[0] = desc[1] = d;
	return n;
}

/* ---- messages ---- */

static ssize_t send_msg(struct uber *u, size_t len, void *ctx)
{
	struct ft *ft = &u->ft;
	struct ft_ep *e = &ft->ep;
	struct iovec iov[2];
	void *desc[2];
	size_t cnt = buf_pieces(iov, desc, ft->tx.p, len, ft->tx.desc, ft->info->tx_attr->iov_limit);
	struct fi_msg msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = e->peer,
			      .context = ctx, .data = UBER_DATA };

	switch (u->c.v[KEY_FUNC]) {
	case FUNC_SEND: return fi_send(e->ep, ft->tx.p, len, ft->tx.desc, e->peer, ctx);
	case FUNC_SENDV: return fi_sendv(e->ep, iov, desc, cnt, e->peer, ctx);
	case FUNC_SENDMSG: return fi_sendmsg(e->ep, &msg, u->c.v[KEY_MSG_FLAGS]);
	case FUNC_INJECT: return fi_inject(e->ep, ft->tx.p, len, e->peer);
	case FUNC_INJECTDATA: return fi_injectdata(e->ep, ft->tx.p, len, UBER_DATA, e->peer);
	default: return fi_senddata(e->ep, ft->tx.p, len, ft->tx.desc, UBER_DATA, e->peer, ctx);
	}
}

static ssize_t send_tagged(struct uber *u, size_t len, void *ctx)
{
	struct ft *ft = &u->ft;
	struct ft_ep *e = &ft->ep;
	struct iovec iov[2];
	void *desc[2];
	size_t cnt = buf_pieces(iov, desc, ft->tx.p, len, ft->tx.desc, ft->info->tx_attr->iov_limit);
	struct fi_msg_tagged msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = e->peer,
				     .tag = FT_TAG, .context = ctx, .data = UBER_DATA };

	switch (u->c.v[KEY_FUNC]) {
	case FUNC_SEND: return fi_tsend(e->ep, ft->tx.p, len, ft->tx.desc, e->peer, FT_TAG, ctx);
	case FUNC_SENDV: return fi_tsendv(e->ep, iov, desc, cnt, e->peer, FT_TAG, ctx);
	case FUNC_SENDMSG: return fi_tsendmsg(e->ep, &msg, u->c.v[KEY_MSG_FLAGS]);
	case FUNC_INJECT: return fi_tinject(e->ep, ft->tx.p, len, e->peer, FT_TAG);
	case FUNC_INJECTDATA:
		return fi_tinjectdata(e->ep, ft->tx.p, len, UBER_DATA, e->peer, FT_TAG);
	default:
		return fi_tsenddata(e->ep, ft->tx.p, len, ft->tx.desc, UBER_DATA, e->peer, FT_TAG, ctx);
	}
}

static fi_addr_t recv_source(const struct uber *u)
{
	return u->c.v[KEY_CAPS] & FI_DIRECTED_RECV ? u->ft.ep.peer : FI_ADDR_UNSPEC;
}

static ssize_t recv_msg(struct uber *u, size_t len, void *ctx)
{
	struct ft *ft = &u->ft;
	struct iovec iov[2];
	void *desc[2];
	size_t cnt = buf_pieces(iov, desc, ft->rx.p, len, ft->rx.desc, ft->info->rx_attr->iov_limit);
	struct fi_msg msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = recv_source(u),
			      .context = ctx };

	switch (u->c.v[KEY_FUNC]) {
	case FUNC_SENDV: return fi_recvv(ft->ep.ep, iov, desc, cnt, recv_source(u), ctx);
	case FUNC_SENDMSG: return fi_recvmsg(ft->ep.ep, &msg, u->c.v[KEY_MSG_FLAGS] & FI_COMPLETION);
	default: return fi_recv(ft->ep.ep, ft->rx.p, len, ft->rx.desc, recv_source(u), ctx);
	}
}

static ssize_t recv_tagged(struct uber *u, size_t len, void *ctx)
{
	struct ft *ft = &u->ft;
	struct iovec iov[2];
	void *desc[2];
	size_t cnt = buf_pieces(iov, desc, ft->rx.p, len, ft->rx.desc, ft->info->rx_attr->iov_limit);
	struct fi_msg_tagged msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt,
				     .addr = recv_source(u), .tag = FT_TAG, .context = ctx };

	switch (u->c.v[KEY_FUNC]) {
	case FUNC_SENDV: return fi_trecvv(ft->ep.ep, iov, desc, cnt, recv_source(u), FT_TAG, 0, ctx);
	case FUNC_SENDMSG: return fi_trecvmsg(ft->ep.ep, &msg, u->c.v[KEY_MSG_FLAGS] & FI_COMPLETION);
	default: return fi_trecv(ft->ep.ep, ft->rx.p, len, ft->rx.desc, recv_source(u), FT_TAG, 0, ctx);
	}
}

/* ---- remote memory ---- */

static ssize_t rma_msg(struct uber *u, const struct iovec *iov, void **desc, size_t cnt, size_t len,
		       void *ctx)
{
	struct ft_ep *e = &u->ft.ep;
	struct fi_rma_iov to = { u->ft.remote.addr, len, u->ft.remote.key };
	struct fi_msg_rma msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = e->peer,
				  .rma_iov = &to, .rma_iov_count = 1, .context = ctx,
				  .data = UBER_DATA };

	return u->c.v[KEY_FUNC] == FUNC_WRITEMSG ? fi_writemsg(e->ep, &msg, u->c.v[KEY_MSG_FLAGS]) :
	       fi_readmsg(e->ep, &msg, u->c.v[KEY_MSG_FLAGS] & ~FI_REMOTE_CQ_DATA);
}

static ssize_t post_rma(struct uber *u, size_t len, void *ctx)
{
	struct ft *ft = &u->ft;
	struct fid_ep *ep = ft->ep.ep;
	fi_addr_t peer = ft->ep.peer;
	uint64_t addr = ft->remote.addr, key = ft->remote.key;
	struct iovec iov[2];
	void *p = ft->tx.p, *d = ft->tx.desc, *desc[2];
	size_t cnt = buf_pieces(iov, desc, p, len, d, ft->info->tx_attr->iov_limit);

	switch (u->c.v[KEY_FUNC]) {
	case FUNC_WRITE: return fi_write(ep, p, len, d, peer, addr, key, ctx);
	case FUNC_WRITEV: return fi_writev(ep, iov, desc, cnt, peer, addr, key, ctx);
	case FUNC_WRITEDATA: return fi_writedata(ep, p, len, d, UBER_DATA, peer, addr, key, ctx);
	case FUNC_INJECT_WRITE: return fi_inject_write(ep, p, len, peer, addr, key);
	case FUNC_INJECT_WRITEDATA:
		return fi_inject_writedata(ep, p, len, UBER_DATA, peer, addr, key);
	case FUNC_READ: return fi_read(ep, p, len, d, peer, addr, key, ctx);
	case FUNC_READV: return fi_readv(ep, iov, desc, cnt, peer, addr, key, ctx);
	default: return rma_msg(u, iov, desc, cnt, len, ctx);
	}
}

/* ---- atomics: operands at tx, results at tx + len, comparands at tx + 2 len ---- */

struct atom {
	struct fi_ioc arg[2], res[2], cmp[2];
	void *desc[2];
	size_t cnt, n;			/* elements; pieces of each list */
	void *p, *r, *c;
	enum fi_datatype type;
	enum fi_op op;
};

static void atom_of(struct uber *u, size_t len, struct atom *a)
{
	struct ft_buf *b = &u->ft.tx;
	size_t size, limit = u->ft.info->tx_attr->iov_limit;

	a->type = u->c.v[KEY_DATATYPE];
	a->op = u->c.v[KEY_OP];
	size = uber_size(a->type);
	a->cnt = len / size;
	a->p = b->p;
	a->r = b->p + len;
	a->c = b->p + 2 * len;
	a->n = atom_pieces(a->arg, a->desc, a->p, a->cnt, size, b->desc, limit);
	atom_pieces(a->res, a->desc, a->r, a->cnt, size, b->desc, limit);
	atom_pieces(a->cmp, a->desc, a->c, a->cnt, size, b->desc, limit);
}

static ssize_t atomic_msg(struct uber *u, struct atom *a, void *ctx)
{
	struct ft_ep *e = &u->ft.ep;
	struct fi_rma_ioc to = { u->ft.remote.addr, a->cnt, u->ft.remote.key };
	struct fi_msg_atomic msg = { .msg_iov = a->arg, .desc = a->desc, .iov_count = a->n,
				     .addr = e->peer, .rma_iov = &to, .rma_iov_count = 1,
				     .datatype = a->type, .op = a->op, .context = ctx };
	uint64_t flags = u->c.v[KEY_MSG_FLAGS] & ~FI_REMOTE_CQ_DATA;

	switch (u->c.v[KEY_FUNC]) {
	case FUNC_FETCHMSG: return fi_fetch_atomicmsg(e->ep, &msg, a->res, a->desc, a->n, flags);
	case FUNC_COMPAREMSG:
		return fi_compare_atomicmsg(e->ep, &msg, a->cmp, a->desc, a->n, a->res, a->desc, a->n,
					    flags);
	default: return fi_atomicmsg(e->ep, &msg, flags);
	}
}

static ssize_t post_atomic(struct uber *u, size_t len, void *ctx)
{
	struct fid_ep *ep = u->ft.ep.ep;
	fi_addr_t peer = u->ft.ep.peer;
	uint64_t addr = u->ft.remote.addr, key = u->ft.remote.key;
	void *d = u->ft.tx.desc;
	struct atom a;

	atom_of(u, len, &a);
	switch (u->c.v[KEY_FUNC]) {
	case FUNC_ATOMIC:
		return fi_atomic(ep, a.p, a.cnt, d, peer, addr, key, a.type, a.op, ctx);
	case FUNC_ATOMICV:
		return fi_atomicv(ep, a.arg, a.desc, a.n, peer, addr, key, a.type, a.op, ctx);
	case FUNC_INJECT_ATOMIC:
		return fi_inject_atomic(ep, a.p, a.cnt, peer, addr, key, a.type, a.op);
	case FUNC_FETCH:
		return fi_fetch_atomic(ep, a.p, a.cnt, d, a.r, d, peer, addr, key, a.type, a.op, ctx);
	case FUNC_FETCHV:
		return fi_fetch_atomicv(ep, a.arg, a.desc, a.n, a.res, a.desc, a.n, peer, addr, key,
					a.type, a.op, ctx);
	case FUNC_COMPARE:
		return fi_compare_atomic(ep, a.p, a.cnt, d, a.c, d, a.r, d, peer, addr, key, a.type,
					 a.op, ctx);
	case FUNC_COMPAREV:
		return fi_compare_atomicv(ep, a.arg, a.desc, a.n, a.cmp, a.desc, a.n, a.res, a.desc,
					  a.n, peer, addr, key, a.type, a.op, ctx);
	default:
		return atomic_msg(u, &a, ctx);
	}
}

/* ---- any of them ---- */

static ssize_t post_any(struct uber *u, size_t len, void *ctx)
{
	switch (u->c.v[KEY_CLASS]) {
	case CLASS_MSG: return send_msg(u, len, ctx);
	case CLASS_TAGGED: return send_tagged(u, len, ctx);
	case CLASS_RMA: return post_rma(u, len, ctx);
	default: return post_atomic(u, len, ctx);
	}
}

void uber_post(struct uber *u, size_t len, struct fi_context2 *ctx)
{
	FT_POST(&u->ft.ep, post_any(u, len, ctx));
	u->tx_ops++;
	if (uber_tx_shows(&u->c))
		u->ft.ep.tx_posted++;
}

void uber_post_rx(struct uber *u, size_t len, struct fi_context2 *ctx)
{
	if (u->c.v[KEY_CLASS] == CLASS_TAGGED)
		FT_POST(&u->ft.ep, recv_tagged(u, len, ctx));
	else
		FT_POST(&u->ft.ep, recv_msg(u, len, ctx));
	u->rx_ops++;
	if (uber_rx_shows(&u->c))
		u->ft.ep.rx_posted++;
}
