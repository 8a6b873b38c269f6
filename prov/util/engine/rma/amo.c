/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * amo.c - the ten calls that change a peer's memory atomically.
 *
 * Operands are copied into the request: there are few.  Old values come back as
 * DATA.
 */
#include <rdma/fi_atomic.h>

#include "base/iov.h"
#include "engine/dev.h"
#include "engine/atomic.h"
#include "engine/serve.h"
#include "engine/trig.h"
#include "engine/tx.h"
#include "obj/endpoint/by_msg.h"

/* One call. */
struct amo {
	struct eng_op op;
	bool dev;		/* memory of a device is in its lists: op's descs say where */
	size_t size;		/* bytes of an element; set by amo_check() */
	size_t len;		/* bytes of all elements; set by amo_check() */
};

/* Three kinds: without a result, with the old values, and with operands to compare.  Lists are
 * in elements; their sums must agree.
 */
static bool is_base(const struct amo *a)
{
	return a->op.type == FI_OP_ATOMIC;
}

static bool is_compare(const struct amo *a)
{
	return a->op.type == FI_OP_COMPARE_ATOMIC;
}

/* SIZE_MAX: more than any call takes, so the sum cannot wrap. */
static size_t ioc_elements(const struct fi_ioc *list, size_t cnt)
{
	size_t sum = 0;

	while (cnt--) {
		if (list[cnt].count > ENG_ATOMIC_MAX)
			return SIZE_MAX;
		sum += list[cnt].count;
	}
	return sum;
}

static bool reads_only(const struct amo *a)
{
	return a->op.type == FI_OP_FETCH_ATOMIC && a->op.atomic.op == FI_ATOMIC_READ;
}

/* All that can be wrong with a call, before the lock is taken.  Sets size and len. */
static int amo_check(struct eng_ep *ep, struct amo *a)
{
	const struct fi_msg_compare *compare = &a->op.compare;
	const struct fi_msg_atomic *msg = &a->op.atomic;
	const struct fi_msg_fetch *fetch = &a->op.fetch;
	enum eng_atomic_form form = is_base(a) ? ENG_ATOMIC_BASE :
				    is_compare(a) ? ENG_ATOMIC_COMPARE : ENG_ATOMIC_FETCH;
	size_t i, cnt = 0;
	int ret = eng_atomic_valid(form, msg->datatype, msg->op);

	if (ret)
		return ret;
	a->size = eng_atomic_size(msg->datatype);
	if (!msg->rma_iov_count || msg->rma_iov_count > WIRE_RMA_MAX ||
	    msg->iov_count > ENG_IOV_MAX || compare->iov_count > ENG_IOV_MAX ||
	    fetch->iov_count > ENG_IOV_MAX)
		return -FI_EINVAL;
	for (i = 0; i < msg->rma_iov_count; i++) {
		if (msg->rma_iov[i].count > SIZE_MAX / a->size - cnt ||
		    iov_wraps(msg->rma_iov[i].addr, msg->rma_iov[i].count * a->size))
			return -FI_EINVAL;
		cnt += msg->rma_iov[i].count;
	}
	if (cnt > ENG_ATOMIC_MAX / a->size)
		return -FI_EMSGSIZE;
	if (!cnt || (!reads_only(a) && ioc_elements(msg->msg_iov, msg->iov_count) != cnt) ||
	    (is_compare(a) && ioc_elements(compare->msg_iov, compare->iov_count) != cnt) ||
	    (!is_base(a) && ioc_elements(fetch->msg_iov, fetch->iov_count) != cnt))
		return -FI_EINVAL;
	a->len = cnt * a->size;
	return (a->op.flags & FI_INJECT) && a->len > ep->inject_size ? -FI_EMSGSIZE : 0;
}

/* Lists of elements become lists of bytes, as the payload of the packet is. */
static size_t to_iov(struct iovec *iov, const struct fi_ioc *list, size_t cnt, size_t size)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		iov[i] = (struct iovec) { list[i].addr, list[i].count * size };
	return cnt;
}

/* amo_gather - the elements of a list, of which some may be memory of a device.  Operands are copied at
 * the call, since atomics are short.
 */
static int amo_gather(const struct amo *a, const struct fi_ioc *list, void *const *desc, size_t cnt,
		      char *copy)
{
	struct obj_mr *mrs[ENG_IOV_MAX];
	struct iovec iov[ENG_IOV_MAX];
	struct obj_mr_list all = { iov, mrs, cnt };

	to_iov(iov, list, cnt, a->size);
	if (__builtin_expect(a->dev, 0)) {
		obj_mr_name(mrs, desc, cnt);
		return hmem_errno(obj_mr_gather(&all, 0, copy, a->len));
	}
	iov_gather(iov, cnt, 0, copy, a->len);
	return 0;
}

/* Operands, then comparands, in memory of the request's own. */
static int amo_attach(struct eng_tx *tx, const struct amo *a)
{
	size_t len = reads_only(a) ? 0 : is_compare(a) ? 2 * a->len : a->len;
	const struct fi_msg_compare *compare = &a->op.compare;
	const struct fi_msg_atomic *msg = &a->op.atomic;
	char *copy = (char *) tx->data;
	int ret = 0;

	if (len > ENG_TX_INLINE || a->op.fetch.iov_count >= ENG_IOV_MAX) {
		copy = tx->amo = pool_get(&tx->ep->grp->amos);
		if (!copy)
			return -FI_EAGAIN;
	}
	if (len)
		ret = amo_gather(a, msg->msg_iov, msg->desc, msg->iov_count, copy);
	if (!ret && is_compare(a))
		ret = amo_gather(a, compare->msg_iov, compare->desc, compare->iov_count, copy + a->len);
	tx->pkt.flags |= len <= ENG_TX_INLINE ? ENG_PKT_INLINE : 0;
	tx->pkt.iov[0] = (struct iovec) { copy, len };
	tx->pkt.iov_cnt = len != 0;
	tx->pkt.len = len;
	return ret;
}

/* Old values will come: where to?  The packet needs one entry of its list. */
static int amo_ask(struct eng_tx *tx, const struct amo *a)
{
	struct iovec *iov = tx->amo ? (void *) ((char *) tx->amo + ENG_AMO_RESULTS) :
			    &tx->pkt.iov[1];

	if (a->dev && !eng_dev_of_tx(tx, a->op.fetch.desc, a->op.fetch.iov_count))
		return -FI_EAGAIN;
	return eng_tx_ask(tx, iov, to_iov(iov, a->op.fetch.msg_iov, a->op.fetch.iov_count, a->size),
			  a->len);
}

/* @len: of all operands
 * @id:  the request's for an ACK, or its sink's for the old values; 0: no answer is wanted
 */
static void amo_write_header(struct eng_pkt *pkt, const struct amo *a, uint16_t ctx, uint8_t flags,
			     uint32_t id, size_t len)
{
	const struct fi_msg_atomic *msg = &a->op.atomic;
	struct wire_atomic head = {
		.kind = is_base(a) ? WIRE_AMO_BASE : is_compare(a) ? WIRE_AMO_COMPARE : WIRE_AMO_FETCH,
		.op = (uint8_t) msg->op,
		.type = (uint8_t) msg->datatype,
	};
	size_t i, at = wire_put_base(pkt->hdr, WIRE_ATOMIC, flags, ctx, id, len);

	if (flags & WIRE_F_DATA)
		at = wire_put_word(pkt->hdr, at, msg->data);
	__builtin_memcpy(pkt->hdr + at, &head, sizeof(head));
	at += sizeof(head);
	for (i = 0; i < msg->rma_iov_count; i++)
		at = wire_put_rma(pkt->hdr, at, msg->rma_iov[i].addr, msg->rma_iov[i].count,
				  msg->rma_iov[i].key);
	pkt->hdr_len = (uint16_t) at;
}

static bool amo_ack_wanted(const struct eng_ep *ep, const struct amo *a)
{
	if (!is_base(a) || !(a->op.flags & ENG_TX_ACK_FLAGS))
		return false;
	return !(a->op.flags & ENG_TX_QUIET) || ep->base.cntrs[OBJ_CNTR_WRITE];
}

/* amo_once - send an atomic without a result, whose operands are in one buffer, without a request, where
 * the link need not keep it: see write_once() in calls.c.
 */
static int amo_once(struct eng_ep *ep, struct eng_peer *peer, const struct amo *a)
{
	const struct fi_msg_atomic *msg = &a->op.atomic;
	struct iovec iov = { msg->msg_iov->addr, a->len };
	struct eng_pkt pkt;
	int ret;

	if (!eng_peer_takes_once(peer, a->len) || !is_base(a) || a->dev || msg->iov_count != 1 ||
	    (a->op.flags & ENG_TX_LONG_WAY) || peer->slow)
		return -FI_ENOBUFS;
	amo_write_header(&pkt, a, eng_ep_ctx(ep, msg->addr),
			 a->op.flags & FI_REMOTE_CQ_DATA ? WIRE_F_DATA : 0, 0, a->len);
	ret = eng_peer_send_once(peer, &pkt, &iov, 1, a->len);
	if (ret > 0)
		obj_ep_comp_tx(&ep->base, eng_tx_wants_comp(ep, a->op.flags), msg->context,
			       FI_ATOMIC | FI_WRITE, a->len, OBJ_CNTR_WRITE);
	return ret;
}

/* One packet, whatever the length: ENG_ATOMIC_MAX bounds it, and the target does it at once or
 * not at all.  A fetching atomic is complete when the old values are in place, the others when
 * their packet is back or acknowledged.
 */
static int amo_post_locked(struct eng_ep *ep, struct eng_peer *peer, const struct amo *a)
{
	uint64_t op_flags = a->op.flags;
	uint8_t flags = op_flags & FI_REMOTE_CQ_DATA ? WIRE_F_DATA : 0;
	bool base = is_base(a);
	struct eng_tx *tx;
	int ret;

	ret = amo_once(ep, peer, a);
	if (ret != -FI_EAGAIN && ret != -FI_ENOBUFS)
		return ret > 0 ? 0 : eng_tx_not_sent(ep, ret);
	tx = pool_get(&ep->grp->txs);
	if (!tx)
		return -FI_EAGAIN;
	eng_tx_describe(tx, ep, peer, a->op.atomic.context, FI_ATOMIC | (base ? FI_WRITE : FI_READ),
			base ? OBJ_CNTR_WRITE : OBJ_CNTR_READ, a->len);
	tx->want_comp = eng_tx_wants_comp(ep, op_flags);
	eng_tx_as_work(tx, op_flags);
	tx->want_ack = amo_ack_wanted(ep, a);
	if (tx->want_ack)
		flags |= WIRE_F_DELIVERED;
	tx->pkt.flags = op_flags & FI_MORE ? ENG_PKT_MORE : 0;
	ret = amo_attach(tx, a);
	if (!ret)
		ret = !base ? amo_ask(tx, a) : eng_name_make(ep->grp, &tx->name) ? 0 : -FI_EAGAIN;
	if (ret) {
		eng_tx_free(tx);
		return ret == -FI_ENOMEM ? -FI_EAGAIN : ret;
	}
	amo_write_header(&tx->pkt, a, eng_ep_ctx(ep, a->op.atomic.addr), flags,
			 base ? tx->name.id : tx->sink.name.id, tx->pkt.len);
	return eng_tx_launch(tx, op_flags);
}

/* Does a list of the call have memory of a device?  Only with FI_HMEM a desc tells. */
static bool on_device(const struct eng_op *op)
{
	return obj_mr_device_any(op->atomic.desc, op->atomic.iov_count) ||
	       obj_mr_device_any(op->fetch.desc, op->fetch.iov_count) ||
	       obj_mr_device_any(op->compare.desc, op->compare.iov_count);
}

static ssize_t amo_post(struct fid_ep *fid, struct amo *a)
{
	struct eng_ep *ep = eng_ep_of(fid);
	struct eng_peer *peer;
	int ret = amo_check(ep, a);

	a->dev = !ret && __builtin_expect((ep->base.caps & FI_HMEM) != 0, 0) && on_device(&a->op);

	if (!ret)
		ret = eng_tx_enter(ep, a->op.atomic.addr, &peer);
	if (ret)
		return ret;
	ret = amo_post_locked(ep, peer, a);
	lock_put(&ep->base.prog->lock);
	return ret;
}

/* ---- the calls -------------------------------------------------------------------
 *
 * Calls without flags are made of these by obj/endpoint/by_msg.h.
 */

#define MSG_FLAGS (ENG_TX_CALL_FLAGS | FI_ATOMIC | FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC)

static ssize_t amo_post_msg(struct fid_ep *fid, struct amo *a, const struct fi_msg_atomic *msg,
			    uint64_t flags)
{
	a->op.atomic = *msg;
	a->op.flags = flags;
	if (__builtin_expect((flags & FI_TRIGGER) != 0, 0))
		return eng_trig_call(eng_ep_of(fid), &a->op);
	return flags & ~MSG_FLAGS ? -FI_EBADFLAGS : amo_post(fid, a);
}

int eng_amo_start(struct eng_ep *ep, const struct eng_op *op)
{
	struct amo a = { .op = *op };
	struct eng_peer *peer;
	int ret = op->flags & ~(MSG_FLAGS | ENG_OP_WORK) ? -FI_EBADFLAGS : amo_check(ep, &a);

	a.dev = !ret && on_device(op);
	if (!ret)
		ret = eng_tx_find(ep, op->atomic.addr, &peer);
	return ret ? ret : amo_post_locked(ep, peer, &a);
}

static ssize_t amo_inject(struct fid_ep *ep, const void *buf, size_t cnt, fi_addr_t dest,
			  uint64_t addr, uint64_t key, enum fi_datatype type, enum fi_op op)
{
	struct fi_rma_ioc remote = { .addr = addr, .count = cnt, .key = key };
	struct fi_ioc ioc = { .addr = (void *) buf, .count = cnt };
	struct amo a = { .op = {
		.type = FI_OP_ATOMIC,
		.flags = FI_INJECT | ENG_TX_QUIET |
			 (obj_ep_handle_of(ep)->tx_op_flags & ~FI_REMOTE_CQ_DATA),
		.atomic = { .msg_iov = &ioc, .iov_count = 1, .addr = dest, .rma_iov = &remote,
			    .rma_iov_count = 1, .datatype = type, .op = op },
	} };

	return amo_post(ep, &a);
}

static ssize_t amo_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg, uint64_t flags)
{
	struct amo a = { .op.type = FI_OP_ATOMIC };

	return amo_post_msg(ep, &a, msg, flags);
}

static ssize_t amo_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				struct fi_ioc *resultv, void **result_desc, size_t result_cnt,
				uint64_t flags)
{
	struct amo a = { .op = { .type = FI_OP_FETCH_ATOMIC,
				 .fetch = { .msg_iov = resultv, .desc = result_desc,
					     .iov_count = result_cnt } } };

	return amo_post_msg(ep, &a, msg, flags);
}

static ssize_t amo_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				const struct fi_ioc *comparev, void **compare_desc,
				size_t compare_cnt, struct fi_ioc *resultv, void **result_desc,
				size_t result_cnt, uint64_t flags)
{
	struct amo a = { .op = { .type = FI_OP_COMPARE_ATOMIC,
				 .fetch = { .msg_iov = resultv, .desc = result_desc,
					     .iov_count = result_cnt },
				 .compare = { .msg_iov = comparev, .desc = compare_desc,
						 .iov_count = compare_cnt } } };

	return amo_post_msg(ep, &a, msg, flags);
}

/* ---- what is there ----------------------------------------------------------- */

static int amo_valid(enum eng_atomic_form form, enum fi_datatype type, enum fi_op op, size_t *cnt)
{
	int ret = eng_atomic_valid(form, type, op);

	if (!ret && cnt)
		*cnt = ENG_ATOMIC_MAX / eng_atomic_size(type);
	return ret;
}

static int amo_writevalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *cnt)
{
	return amo_valid(ENG_ATOMIC_BASE, type, op, cnt);
}

static int amo_readwritevalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
			      size_t *cnt)
{
	return amo_valid(ENG_ATOMIC_FETCH, type, op, cnt);
}

static int amo_compwritevalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
			      size_t *cnt)
{
	return amo_valid(ENG_ATOMIC_COMPARE, type, op, cnt);
}

int eng_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags)
{
	enum eng_atomic_form form = flags & FI_FETCH_ATOMIC ? ENG_ATOMIC_FETCH :
				    flags & FI_COMPARE_ATOMIC ? ENG_ATOMIC_COMPARE : ENG_ATOMIC_BASE;
	int ret;

	if (flags & ~(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC | FI_TAGGED) ||
	    (flags & FI_FETCH_ATOMIC && flags & FI_COMPARE_ATOMIC))
		return -FI_EBADFLAGS;
	if (flags & FI_TAGGED)
		return -FI_EOPNOTSUPP;
	ret = eng_atomic_valid(form, datatype, op);
	if (!ret && attr) {
		attr->size = eng_atomic_size(datatype);
		attr->count = ENG_ATOMIC_MAX / attr->size;
	}
	return ret;
}

struct fi_ops_atomic eng_amo_ops = {
	.writemsg = amo_writemsg,
	.inject = amo_inject,
	.readwritemsg = amo_readwritemsg,
	.compwritemsg = amo_compwritemsg,
	.writevalid = amo_writevalid,
	.readwritevalid = amo_readwritevalid,
	.compwritevalid = amo_compwritevalid,
};
OBJ_OPS_TABLE_BY_MSG(eng_amo_ops, atomic)
