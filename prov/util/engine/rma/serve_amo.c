/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * serve_amo.c - atomics on our memory.
 *
 * All memory that an atomic needs, its answer's included, is taken before the
 * first element changes: it is done once or not at all.
 */
#include <pthread.h>

#include "engine/atomic.h"
#include "engine/dev.h"
#include "engine/flow.h"
#include "engine/serve.h"

/* Memory for a result in flight. */
#define RESULT_COST (sizeof(struct eng_out) + ENG_AMO_ROOM)

/* One atomic, taken apart. */
struct amo {
	enum eng_atomic_form form;
	enum fi_datatype type;
	enum fi_op op;
	size_t size;		/* bytes of an element */
	size_t len;		/* bytes of all elements */
};

static const char *amo_parse(const struct wire_msg *msg, struct amo *a)
{
	size_t i, cnt = 0, want;

	a->form = msg->amo.kind == WIRE_AMO_BASE ? ENG_ATOMIC_BASE :
		  msg->amo.kind == WIRE_AMO_FETCH ? ENG_ATOMIC_FETCH : ENG_ATOMIC_COMPARE;
	a->type = (enum fi_datatype) msg->amo.type;
	a->op = (enum fi_op) msg->amo.op;
	if (eng_atomic_valid(a->form, a->type, a->op))
		return "atomic operation that does not exist";
	a->size = eng_atomic_size(a->type);
	for (i = 0; i < msg->rma_cnt; i++) {
		if (msg->rma[i].len > ENG_ATOMIC_MAX / a->size - cnt)
			return "atomic on more elements than one call may have";
		cnt += msg->rma[i].len;
	}
	if (!cnt)
		return "atomic on nothing";
	a->len = cnt * a->size;
	want = a->form == ENG_ATOMIC_COMPARE ? 2 * a->len :
	       a->op == FI_ATOMIC_READ ? 0 : a->len;
	return msg->len != want ? "atomic with operands of a wrong length" : NULL;
}

static uint64_t access_of(const struct amo *a)
{
	if (a->form == ENG_ATOMIC_BASE)
		return FI_REMOTE_WRITE;
	return a->op == FI_ATOMIC_READ ? FI_REMOTE_READ : FI_REMOTE_READ | FI_REMOTE_WRITE;
}

static int target_enter(struct eng_peer *peer, const struct amo *a, const struct wire_msg *msg,
			const struct wire_rma *r, struct iovec *iov, size_t *cnt_p,
			struct obj_mr_use *use)
{
	struct obj_ep *base = &eng_ep_rx(peer->ep, msg->ctx)->base;
	size_t i;
	int ret = obj_mr_enter(base->domain, base, r->key, r->addr, r->len * a->size,
			       access_of(a), iov, cnt_p, use);

	if (ret)
		return ret;
	/* An element may not lie across two pieces of a region. */
	for (i = 0; i < *cnt_p; i++)
		if (iov[i].iov_len % a->size)
			ret = -FI_EINVAL;
	if (ret)
		obj_mr_leave(use);
	return ret;
}

/* What an atomic changes, one entry a range. */
struct targets {
	struct eng_uses uses;
	size_t cnt[WIRE_RMA_MAX];
	struct iovec iov[WIRE_RMA_MAX][OBJ_MR_IOV_MAX];
};

/* On 0 the caller leaves t->uses. */
static int targets_enter(struct eng_peer *peer, const struct amo *a, const struct wire_msg *msg,
			 struct targets *t)
{
	unsigned i;
	int ret;

	t->uses.cnt = 0;
	for (i = 0; i < msg->rma_cnt; i++) {
		ret = target_enter(peer, a, msg, &msg->rma[i], t->iov[i], &t->cnt[i], &t->uses.use[i]);
		if (ret) {
			eng_uses_leave(&t->uses);
			return ret;
		}
		t->uses.cnt++;
	}
	return 0;
}

/* Do it to @target, which the operands and results from byte @at on belong to. */
static void apply_to(const struct amo *a, void *target, size_t len, const char *operand, size_t at,
		     char *result)
{
	eng_atomic_apply(a->type, a->op, target, a->op == FI_ATOMIC_READ ? NULL : operand + at,
			 a->form == ENG_ATOMIC_COMPARE ? operand + a->len + at : NULL,
			 result ? result + at : NULL, len / a->size);
}

/* Memory of a device comes to the host, is changed, and goes back; one after another in the
 * whole process, for another group may serve the same region.
 */
static int apply_on_device(const struct amo *a, struct obj_mr *mr, const struct iovec *part,
			   const char *operand, size_t at, char *result)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t copy[ENG_ATOMIC_MAX / sizeof(uint64_t)] __attribute__((aligned(16)));
	struct obj_mr_list list = { part, &mr, 1 };
	int ret;

	pthread_mutex_lock(&lock);
	ret = obj_mr_gather(&list, 0, copy, part->iov_len);
	if (!ret) {
		apply_to(a, copy, part->iov_len, operand, at, result);
		if (a->op != FI_ATOMIC_READ)
			ret = obj_mr_scatter(&list, 0, copy, part->iov_len);
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Do it; @result may be NULL.  Errors: the device's. */
static int amo_apply(const struct amo *a, const struct targets *t, const char *operand, char *result)
{
	size_t i, j, at = 0;
	struct obj_mr *mr;
	int ret = 0;

	for (i = 0; i < t->uses.cnt && !ret; i++) {
		mr = t->uses.use[i].mr;
		for (j = 0; j < t->cnt[i] && !ret; j++) {
			const struct iovec *part = &t->iov[i][j];

			if (__builtin_expect(mr->loc.iface != FI_HMEM_SYSTEM, 0))
				ret = apply_on_device(a, mr, part, operand, at, result);
			else
				apply_to(a, part->iov_base, part->iov_len, operand, at, result);
			at += part->iov_len;
		}
	}
	return ret;
}

static void on_result_sent(struct eng_pkt *pkt, int status)
{
	struct eng_out *out = container_of(pkt, struct eng_out, pkt);

	eng_flow_release(out->peer, RESULT_COST);
	pool_put(&out->grp->amos, out->owner);
	pool_put(&out->grp->outs, out);
}

static void send_result(struct eng_peer *peer, struct eng_out *out, uint32_t id, char *result,
			size_t len)
{
	struct eng_pkt *pkt = &out->pkt;

	pkt->hdr_len = (uint16_t) wire_put_word(pkt->hdr,
		wire_put_base(pkt->hdr, WIRE_DATA, 0, 0, id, len), 0);
	pkt->flags = 0;
	pkt->iov[0] = (struct iovec) { result, len };
	pkt->iov_cnt = 1;
	pkt->len = len;
	pkt->done = on_result_sent;
	out->owner = result;
	out->peer = peer;
	eng_flow_charge(peer, RESULT_COST);
	if (eng_peer_send(peer, pkt))
		on_result_sent(pkt, 0);
}

/* All operands are here.  @ctl and @result are used up. */
static void amo_perform(struct eng_peer *peer, const struct wire_msg *msg, const char *operand,
			struct eng_out *ctl, char *result)
{
	struct targets t;
	struct amo a;
	int ret;

	amo_parse(msg, &a);
	ret = targets_enter(peer, &a, msg, &t);
	if (!ret) {
		ret = amo_apply(&a, &t, operand, result);
		eng_uses_leave(&t.uses);
	}
	if (ret) {
		if (result)
			pool_put(&peer->ep->grp->amos, result);
		eng_serve_failed(peer, msg, ret, ctl);
		return;
	}
	eng_serve_events(peer, msg, access_of(&a), FI_ATOMIC, a.len);
	if (result)
		send_result(peer, ctl, msg->id, result, a.len);
	else if (ctl)
		eng_ctl_send(ctl, peer, WIRE_ACK, WIRE_F_DELIVERED, msg->id, 0, 0);
}

static void on_operands(struct eng_sink *sink, int status)
{
	struct eng_serve *sv = container_of(sink, struct eng_serve, sink);

	if (!status) {
		amo_perform(sv->peer, &sv->msg, sv->amo, sv->ctl, sv->bounce);
		sv->ctl = NULL;
		sv->bounce = NULL;
	}
	if (sv->bounce)
		pool_put(&sv->peer->ep->grp->amos, sv->bounce);
	sv->bounce = NULL;
	eng_serve_put(sv);
}

static enum eng_rx_verdict wait_for_operands(struct eng_peer *peer, struct eng_rx *rx,
					     const struct wire_msg *msg, struct eng_out *ctl,
					     char *result)
{
	struct eng_serve *sv = eng_serve_get(peer, msg);

	if (!sv)
		return ENG_RX_LATER;
	sv->amo = pool_get(&peer->ep->grp->amos);
	if (!sv->amo) {
		eng_serve_put(sv);
		return ENG_RX_LATER;
	}
	sv->ctl = ctl;
	sv->bounce = result;
	sv->sink.done = on_operands;
	eng_sink_expect(&sv->sink);
	rx->iov[0] = (struct iovec) { sv->amo, rx->len };
	rx->iov_cnt = 1;
	rx->cookie = &sv->sink;
	return ENG_RX_PLACE;
}

enum eng_rx_verdict eng_serve_atomic(struct eng_peer *peer, struct eng_rx *rx,
				     const struct wire_msg *msg, const char **why_p)
{
	struct eng_grp *grp = peer->ep->grp;
	enum eng_rx_verdict verdict = ENG_RX_LATER;
	struct eng_out *ctl = NULL;
	struct targets t;
	char *result = NULL;
	struct amo a;
	int ret;

	*why_p = amo_parse(msg, &a);
	if (*why_p)
		return ENG_RX_BAD;
	ret = targets_enter(peer, &a, msg, &t);
	if (ret)
		return eng_serve_refuse(peer, msg, ret);
	eng_uses_leave(&t.uses);	/* until the operands are here */
	if (a.form != ENG_ATOMIC_BASE || (msg->flags & WIRE_F_DELIVERED)) {
		ctl = eng_ctl_get(grp);
		if (!ctl)
			goto later;
	}
	if (a.form != ENG_ATOMIC_BASE) {
		result = pool_get(&grp->amos);
		if (!result)
			goto later;
	}
	if (rx->avail == rx->len) {
		amo_perform(peer, msg, (const char *) rx->data, ctl, result);
		return ENG_RX_DONE;
	}
	verdict = wait_for_operands(peer, rx, msg, ctl, result);
	if (verdict == ENG_RX_PLACE)
		return verdict;
later:
	if (ctl)
		eng_ctl_put(ctl);
	if (result)
		pool_put(&grp->amos, result);
	return verdict;
}
