/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sep.c - scalable endpoints: one address, several contexts.
 *
 * The scalable endpoint has the link, the peers and all the matchers; a transmit
 * context has its requests, a receive context its posted receives and one of the
 * matchers.  Each has its own queues and counters.  A message names the matcher by
 * its number, so what comes for a context that is not open yet waits there for it.
 */
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/flow.h"
#include "engine/peer.h"
#include "engine/recv.h"
#include "engine/trig.h"
#include "engine/tx.h"
#include "obj/ops.h"

/* ---- contexts --------------------------------------------------------------- */

/* Where the scalable endpoint has the context; NULL there means that it is not open. */
static struct eng_ep **slot_of(struct eng_ep *ctx)
{
	struct eng_ep *sep = ctx->hub;

	return ctx->base.h.fid.fid.fclass == FI_CLASS_TX_CTX ?
	       &sep->tx_ctx[ctx->base.index] : &sep->rx_ctx[ctx->base.index];
}

/* The first context that is enabled enables the scalable endpoint, which opens the link. */
static int ctx_enable(struct obj_ep *base)
{
	struct eng_ep *ctx = (struct eng_ep *) base;
	int ret = obj_ep_enable(&ctx->hub->base);

	if (ret)
		return ret;
	if (base->h.fid.fid.fclass == FI_CLASS_TX_CTX) {
		eng_ep_set_fast(ctx);
		ctx->tx_ret = 0;
	} else {
		ctx->rx_ret = 0;
	}
	lock_get(&base->prog->lock);
	eng_ep_set_state(ctx, ENG_EP_READY);
	ctx->grp = ctx->hub->grp;
	lock_put(&base->prog->lock);
	return 0;
}

/* The link uses the program's memory until nothing is in flight. */
static bool in_flight(struct eng_ep *ctx)
{
	if (ctx->tx_out)
		eng_tx_leave(ctx);
	return ctx->tx_out || ctx->rx_busy;
}

/* A peer that does not take or give what is in flight: its connection is closed. */
static void cut_off(struct eng_ep *ctx)
{
	struct eng_ep *sep = ctx->hub;
	char text[ENG_PEER_TEXT];
	struct eng_peer *peer;

	list_for_each_entry(peer, &sep->peers, node) {
		if (!peer->refs || (peer->slow & ENG_PEER_IDLE))
			continue;
		ENG_WARN(sep, "%s: a context closes with transfers that the peer does not "
			 "finish; the connection is given up\n", eng_peer_text(peer, text));
		eng_peer_cut(peer, FI_ECONNABORTED);
	}
}

/* The others go on: only what this context has in flight must end. */
static void ctx_stop(struct eng_ep *ctx)
{
	uint64_t end = clock_deadline(ENG_LINGER_MS);
	struct obj_prog *prog = ctx->base.prog;
	bool busy = true, left;

	lock_get(&prog->lock);
	eng_trig_drop(ctx);
	eng_ep_set_state(ctx, ENG_EP_CLOSED);
	if (ctx->rxc)
		eng_recv_flush(ctx->rxc, FI_ECANCELED);
	left = in_flight(ctx);
	lock_put(&prog->lock);
	while (left) {
		if (!busy)
			poll(NULL, 0, 1);
		lock_get(&prog->lock);
		busy = obj_prog_poll_locked(prog) > 0;
		if (in_flight(ctx) && clock_ns() >= end)
			cut_off(ctx);
		left = in_flight(ctx);
		lock_put(&prog->lock);
	}
}

static int ctx_close(struct fid *fid)
{
	struct eng_ep *ctx = eng_ep_of_fid(fid);
	int ret;

	if (obj_inherited(&ctx->base.refs))
		return 0;
	ret = obj_ep_busy(&ctx->base);
	if (ret)
		return ret;
	obj_ep_quiesce(&ctx->base);
	if (ctx->state != ENG_EP_OPEN)
		ctx_stop(ctx);
	lock_get(&ctx->hub->base.prog->lock);
	*slot_of(ctx) = NULL;
	lock_put(&ctx->hub->base.prog->lock);
	eng_ep_free(ctx);
	return 0;
}

static const struct obj_ep_ops ctx_base_ops = {
	.enable = ctx_enable,
	.late = OBJ_LATE_CNTR | OBJ_LATE_CQ,
};

static struct fi_ops ctx_fid_ops = {
	.close = ctx_close,
	.bind = obj_ep_bind,
	.control = obj_ep_control,
};
OBJ_OPS_TABLE(ctx_fid_ops, fid)

/* ---- opening contexts ------------------------------------------------------- */

static int check_index(struct eng_ep *sep, const char *kind, int index, size_t cnt,
		       struct eng_ep *const *slots)
{
	if (index >= 0 && (size_t) index < cnt && !slots[index])
		return 0;
	if (index >= 0 && (size_t) index < cnt) {
		ENG_WARN(sep, "%s context %d of the scalable endpoint %p is open already\n", kind,
			 index, (void *) sep);
		return -FI_EBUSY;
	}
	ENG_WARN(sep, "no %s context %d: the scalable endpoint %p was opened with %zu of them "
		 "(ep_attr->%s_ctx_cnt)\n", kind, index, (void *) sep, cnt,
		 slots == sep->tx_ctx ? "tx" : "rx");
	return -FI_EINVAL;
}

static int open_ctx(struct eng_ep *sep, size_t fclass, int index, const struct fi_info *info,
		    struct eng_ep **ctx_p, void *context)
{
	struct eng_ep *ctx;
	int ret = eng_ep_new(fclass, &sep->base.domain->fid, info, &ctx_base_ops, sep->link_ops,
			     context, &ctx);

	if (ret)
		return ret;
	obj_ep_set_context(&ctx->base, &sep->base, (unsigned) index);
	ctx->hub = sep;
	ctx->base.h.fid.fid.ops = &ctx_fid_ops;
	eng_ep_set_tables(ctx);
	lock_get(&sep->base.prog->lock);
	*slot_of(ctx) = ctx;
	lock_put(&sep->base.prog->lock);
	*ctx_p = ctx;
	return 0;
}

/* What a program leaves out of a context's attributes is the endpoint's. */
#define INHERIT(attr, from, field) \
	do { if (!(attr)->field) (attr)->field = (from)->field; } while (0)

/* side_caps - the capabilities of a context.  Programs pass what stands in info->caps: what is of
 * the other side is left out, what the endpoint was not opened with is refused.
 * @asked: 0: those of the endpoint on this side, @side
 */
static int side_caps(const struct eng_ep *sep, uint64_t asked, uint64_t side, uint64_t *caps_p)
{
	uint64_t more = asked & ~(sep->base.caps | side);

	*caps_p = asked ? asked & side : side;
	if (!more && (*caps_p || !side))
		return 0;
	ENG_WARN(sep, "no context of the scalable endpoint %p with the capabilities %#llx: %s %#llx\n",
		 (void *) sep, (unsigned long long) asked,
		 more ? "it was opened without" : "this side has only",
		 (unsigned long long) (more ? more : side));
	return -FI_EINVAL;
}

static int sep_tx_ctx(struct fid_ep *fid, int index, struct fi_tx_attr *attr,
		      struct fid_ep **tx_ep, void *context)
{
	struct eng_ep *ctx, *sep = eng_ep_of(fid);
	struct fi_info info = *sep->base.info;
	struct fi_tx_attr tx = attr ? *attr : *info.tx_attr;
	int ret = check_index(sep, "transmit", index, info.ep_attr->tx_ctx_cnt, sep->tx_ctx);

	if (ret)
		return ret;
	ret = side_caps(sep, tx.caps, info.tx_attr->caps, &tx.caps);
	if (ret)
		return ret;
	INHERIT(&tx, info.tx_attr, inject_size);
	INHERIT(&tx, info.tx_attr, size);
	INHERIT(&tx, info.tx_attr, iov_limit);
	INHERIT(&tx, info.tx_attr, rma_iov_limit);
	INHERIT(&tx, info.tx_attr, msg_order);
	info.tx_attr = &tx;
	ret = open_ctx(sep, FI_CLASS_TX_CTX, index, &info, &ctx, context);
	if (ret)
		return ret;
	ctx->rx_ret = -FI_ENOSYS;
	if (attr)
		*attr = tx;
	*tx_ep = &ctx->base.h.fid;
	return 0;
}

static int sep_rx_ctx(struct fid_ep *fid, int index, struct fi_rx_attr *attr,
		      struct fid_ep **rx_ep, void *context)
{
	struct eng_ep *ctx, *sep = eng_ep_of(fid);
	struct fi_info info = *sep->base.info;
	struct fi_rx_attr rx = attr ? *attr : *info.rx_attr;
	int ret = check_index(sep, "receive", index, sep->rxc_cnt, sep->rx_ctx);

	if (ret)
		return ret;
	ret = side_caps(sep, rx.caps, info.rx_attr->caps, &rx.caps);
	if (ret)
		return ret;
	INHERIT(&rx, info.rx_attr, size);
	INHERIT(&rx, info.rx_attr, iov_limit);
	INHERIT(&rx, info.rx_attr, msg_order);
	info.rx_attr = &rx;
	ret = open_ctx(sep, FI_CLASS_RX_CTX, index, &info, &ctx, context);
	if (ret)
		return ret;
	ctx->tx_ret = -FI_ENOSYS;
	ctx->rxc = &sep->rxc[index];
	ctx->rxc_cnt = 1;
	if (rx.size) {
		ctx->rxc->size = rx.size;
		ctx->rxc->max = eng_flow_rx_max(rx.size);
	}
	if (attr)
		*attr = rx;
	*rx_ep = &ctx->base.h.fid;
	return 0;
}

/* ---- the scalable endpoint -------------------------------------------------- */

static int sep_enable(struct obj_ep *base)
{
	struct eng_ep *sep = (struct eng_ep *) base;
	int ret = eng_ep_start_hub(sep);

	sep->fast_rx = !ret && !sep->source_err;
	return ret;
}

static const struct obj_ep_ops sep_base_ops = {
	.enable = sep_enable,
	.av_removed = eng_peer_removed,
};

static struct fi_ops_ep sep_ops = {
	.getopt = obj_ep_getopt,
	.setopt = obj_ep_setopt,
	.tx_ctx = sep_tx_ctx,
	.rx_ctx = sep_rx_ctx,
};
OBJ_OPS_TABLE(sep_ops, ep)

static int check_counts(struct eng_ep *sep)
{
	struct fi_ep_attr *attr = sep->base.info->ep_attr;

	if (sep->base.type != FI_EP_RDM) {
		ENG_WARN(sep, "scalable endpoints are of type FI_EP_RDM only\n");
		return -FI_ENOSYS;
	}
	if (!attr->tx_ctx_cnt)
		attr->tx_ctx_cnt = 1;
	if (!attr->rx_ctx_cnt)
		attr->rx_ctx_cnt = 1;
	if (attr->tx_ctx_cnt <= ENG_CTX_MAX && attr->rx_ctx_cnt <= ENG_CTX_MAX)
		return 0;
	ENG_WARN(sep, "a scalable endpoint has at most %d transmit and %d receive contexts, and "
		 "none of them shared\n", ENG_CTX_MAX, ENG_CTX_MAX);
	return -FI_EINVAL;
}

static int sep_set_up(struct eng_ep *sep)
{
	const struct fi_info *info = sep->base.info;
	int ret = check_counts(sep);

	if (ret)
		return ret;
	sep->tx_ret = sep->rx_ret = -FI_ENOSYS;	/* its contexts do that */
	sep->tx_ctx = calloc(info->ep_attr->tx_ctx_cnt, sizeof(*sep->tx_ctx));
	sep->rx_ctx = calloc(info->ep_attr->rx_ctx_cnt, sizeof(*sep->rx_ctx));
	if (!sep->tx_ctx || !sep->rx_ctx)
		return -FI_ENOMEM;
	ret = eng_ep_own_rxc(sep, (unsigned) info->ep_attr->rx_ctx_cnt, info->rx_attr->size);
	return ret ? ret : obj_ep_prog(&sep->base);
}

int eng_sep_open(struct fid_domain *domain, struct fi_info *info, const struct eng_link_ops *link,
		 struct fid_ep **sep_p, void *context)
{
	struct eng_ep *sep;
	int ret = obj_domain_may_share(obj_domain_of(domain), "a scalable endpoint");

	if (!ret)
		ret = eng_ep_new(FI_CLASS_SEP, domain, info, &sep_base_ops, link, context, &sep);
	if (ret)
		return ret;
	ret = sep_set_up(sep);
	if (ret) {
		eng_ep_free(sep);
		return ret;
	}
	sep->base.h.fid.fid.ops = &eng_ep_fid_ops;
	eng_ep_set_tables(sep);
	sep->base.h.fid.ops = &sep_ops;
	*sep_p = &sep->base.h.fid;
	return 0;
}
