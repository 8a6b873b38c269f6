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
#include "engine/atomic.h"
#include "engine/serve.h"
#include "engine/trig.h"
#include "engine/tx.h"
#include "obj/ops.h"

/* One call.  Lists are in elements until check() has looked at them. */
struct amo {
	enum wire_atomic_kind kind;
	enum fi_datatype type;
	enum fi_op op;
	const struct fi_ioc *operand, *compare;
	size_t operand_cnt, compare_cnt, result_cnt;
	const struct fi_ioc *result;
	const struct fi_rma_ioc *rma;
	size_t rma_cnt;
	size_t size;		/* bytes of an element; set by check() */
	size_t len;		/* bytes of all elements; set by check() */
	fi_addr_t dest;
	uint64_t data;
	uint64_t flags;
	void *context;
};

static enum eng_atomic_form form_of(enum wire_atomic_kind kind)
{
	return kind == WIRE_AMO_BASE ? ENG_ATOMIC_BASE :
	       kind == WIRE_AMO_FETCH ? ENG_ATOMIC_FETCH : ENG_ATOMIC_COMPARE;
}

static size_t elements(const struct fi_ioc *list, size_t cnt)
{
	size_t sum = 0;

	while (cnt--)
		sum += list[cnt].count;
	return sum;
}

static bool reads_only(const struct amo *a)
{
	return a->kind == WIRE_AMO_FETCH && a->op == FI_ATOMIC_READ;
}

static int check(struct eng_ep *ep, struct amo *a)
{
	size_t i, cnt = 0;
	int ret = eng_atomic_valid(form_of(a->kind), a->type, a->op);

	if (ret)
		return ret;
	a->size = eng_atomic_size(a->type);
	if (!a->rma_cnt || a->rma_cnt > WIRE_RMA_MAX || a->operand_cnt > ENG_IOV_MAX ||
	    a->compare_cnt > ENG_IOV_MAX || a->result_cnt > ENG_IOV_MAX)
		return -FI_EINVAL;
	for (i = 0; i < a->rma_cnt; i++) {
		if (a->rma[i].count > ENG_ATOMIC_MAX / a->size - cnt)
			return -FI_EMSGSIZE;
		cnt += a->rma[i].count;
	}
	if (!cnt || (!reads_only(a) && elements(a->operand, a->operand_cnt) != cnt))
		return -FI_EINVAL;
	if (a->kind == WIRE_AMO_COMPARE && elements(a->compare, a->compare_cnt) != cnt)
		return -FI_EINVAL;
	if (a->kind != WIRE_AMO_BASE && elements(a->result, a->result_cnt) != cnt)
		return -FI_EINVAL;
	a->len = cnt * a->size;
	return (a->flags & FI_INJECT) && a->len > ep->inject_size ? -FI_EMSGSIZE : 0;
}

static size_t to_iov(struct iovec *iov, const struct fi_ioc *list, size_t cnt, size_t size)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		iov[i] = (struct iovec) { list[i].addr, list[i].count * size };
	return cnt;
}

/* Operands, then comparands, in memory of the request's own. */
static int attach(struct eng_tx *tx, const struct amo *a)
{
	size_t len = reads_only(a) ? 0 : a->kind == WIRE_AMO_COMPARE ? 2 * a->len : a->len;
	struct iovec iov[ENG_IOV_MAX];
	char *copy = (char *) tx->data;

	if (len > ENG_TX_INLINE || a->result_cnt >= ENG_IOV_MAX) {
		copy = tx->amo = pool_get(&tx->ep->grp->amos);
		if (!copy)
			return -FI_EAGAIN;
	}
	if (len)
		iov_gather(iov, to_iov(iov, a->operand, a->operand_cnt, a->size), 0, copy, a->len);
	if (a->kind == WIRE_AMO_COMPARE)
		iov_gather(iov, to_iov(iov, a->compare, a->compare_cnt, a->size), 0,
			   copy + a->len, a->len);
	tx->pkt.flags |= len <= ENG_TX_INLINE ? ENG_PKT_INLINE : 0;
	tx->pkt.iov[0] = (struct iovec) { copy, len };
	tx->pkt.iov_cnt = len != 0;
	tx->pkt.len = len;
	return 0;
}

/* Old values will come: where to?  The packet needs one entry of its list. */
static int ask(struct eng_tx *tx, const struct amo *a)
{
	struct iovec *iov = tx->amo ? (void *) ((char *) tx->amo + ENG_AMO_RESULTS) :
			    &tx->pkt.iov[1];

	return eng_tx_ask(tx, iov, to_iov(iov, a->result, a->result_cnt, a->size), a->len);
}

static void write_header(struct eng_tx *tx, const struct amo *a, uint8_t flags, uint32_t id)
{
	struct wire_atomic head = { .kind = (uint8_t) a->kind, .op = (uint8_t) a->op,
				    .type = (uint8_t) a->type };
	size_t i, at = wire_put_base(tx->pkt.hdr, WIRE_ATOMIC, flags, eng_ep_ctx(tx->ep, a->dest),
				     id, tx->pkt.len);

	if (flags & WIRE_F_DATA)
		at = wire_put_word(tx->pkt.hdr, at, a->data);
	__builtin_memcpy(tx->pkt.hdr + at, &head, sizeof(head));
	at += sizeof(head);
	for (i = 0; i < a->rma_cnt; i++)
		at = wire_put_rma(tx->pkt.hdr, at, a->rma[i].addr, a->rma[i].count, a->rma[i].key);
	tx->pkt.hdr_len = (uint16_t) at;
}

static bool ack_wanted(const struct eng_ep *ep, const struct amo *a)
{
	if (a->kind != WIRE_AMO_BASE ||
	    !(a->flags & (FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE | FI_MATCH_COMPLETE)))
		return false;
	return !(a->flags & ENG_TX_QUIET) || ep->base.cntrs[OBJ_CNTR_WRITE];
}

static int post_locked(struct eng_ep *ep, struct eng_peer *peer, const struct amo *a)
{
	bool base = a->kind == WIRE_AMO_BASE;
	struct eng_tx *tx = pool_get(&ep->grp->txs);
	uint8_t flags = a->flags & FI_REMOTE_CQ_DATA ? WIRE_F_DATA : 0;
	int ret;

	if (!tx)
		return -FI_EAGAIN;
	eng_tx_describe(tx, ep, peer, a->context, FI_ATOMIC | (base ? FI_WRITE : FI_READ),
			base ? OBJ_CNTR_WRITE : OBJ_CNTR_READ, a->len);
	tx->want_comp = eng_tx_wants_comp(ep, a->flags);
	eng_tx_as_work(tx, a->flags);
	tx->want_ack = ack_wanted(ep, a);
	if (tx->want_ack)
		flags |= WIRE_F_DELIVERED;
	tx->pkt.flags = a->flags & FI_MORE ? ENG_PKT_MORE : 0;
	ret = attach(tx, a);
	if (!ret)
		ret = !base ? ask(tx, a) : eng_name_make(ep->grp, &tx->name) ? 0 : -FI_ENOMEM;
	if (ret) {
		eng_tx_free(tx);
		return -FI_EAGAIN;
	}
	write_header(tx, a, flags, base ? tx->name.id : tx->sink.name.id);
	return eng_tx_launch(tx, a->flags);
}

static ssize_t post(struct fid_ep *fid, struct amo *a)
{
	struct eng_ep *ep = eng_ep_of(fid);
	struct eng_peer *peer;
	int ret = check(ep, a);

	if (!ret)
		ret = eng_tx_enter(ep, a->dest, &peer);
	if (ret)
		return ret;
	ret = post_locked(ep, peer, a);
	lock_put(&ep->base.prog->lock);
	return ret;
}

/* ---- the calls -------------------------------------------------------------- */

static uint64_t default_flags(struct fid_ep *fid)
{
	return obj_ep_handle_of(fid)->tx_op_flags & ~FI_REMOTE_CQ_DATA;
}

/* Lists of local elements, one remote range. */
static ssize_t post_lists(struct fid_ep *fid, struct amo *a, uint64_t addr, uint64_t key)
{
	struct fi_rma_ioc remote = { .addr = addr, .key = key };

	remote.count = reads_only(a) ? elements(a->result, a->result_cnt) :
		       elements(a->operand, a->operand_cnt);
	a->rma = &remote;
	a->rma_cnt = 1;
	a->flags |= default_flags(fid);
	return post(fid, a);
}

#define MSG_FLAGS (ENG_TX_CALL_FLAGS | FI_ATOMIC | FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC)

static void of_msg(struct amo *a, const struct fi_msg_atomic *msg, uint64_t flags)
{
	a->type = msg->datatype;
	a->op = msg->op;
	a->operand = msg->msg_iov;
	a->operand_cnt = msg->iov_count;
	a->rma = msg->rma_iov;
	a->rma_cnt = msg->rma_iov_count;
	a->dest = msg->addr;
	a->data = msg->data;
	a->context = msg->context;
	a->flags = flags;
}

static ssize_t trigger(struct fid_ep *fid, const struct amo *a, const struct fi_msg_atomic *msg,
		       uint64_t flags)
{
	struct eng_op op = {
		.type = a->kind == WIRE_AMO_BASE ? FI_OP_ATOMIC :
			a->kind == WIRE_AMO_FETCH ? FI_OP_FETCH_ATOMIC : FI_OP_COMPARE_ATOMIC,
		.flags = flags, .atomic = *msg,
		.fetch = { .msg_iov = (struct fi_ioc *) a->result, .iov_count = a->result_cnt },
		.compare = { .msg_iov = a->compare, .iov_count = a->compare_cnt },
	};

	return eng_trig_call(eng_ep_of(fid), &op);
}

static ssize_t post_msg(struct fid_ep *fid, struct amo *a, const struct fi_msg_atomic *msg,
			uint64_t flags)
{
	if (__builtin_expect((flags & FI_TRIGGER) != 0, 0))
		return trigger(fid, a, msg, flags);
	if (flags & ~MSG_FLAGS)
		return -FI_EBADFLAGS;
	of_msg(a, msg, flags);
	return post(fid, a);
}

int eng_amo_start(struct eng_ep *ep, const struct fi_msg_atomic *msg,
		  const struct fi_msg_fetch *fetch, const struct fi_msg_compare *compare,
		  uint64_t flags)
{
	struct amo a = { .kind = compare ? WIRE_AMO_COMPARE : fetch ? WIRE_AMO_FETCH :
				 WIRE_AMO_BASE };
	struct eng_peer *peer;
	int ret;

	if (flags & ~(MSG_FLAGS | ENG_OP_WORK))
		return -FI_EBADFLAGS;
	of_msg(&a, msg, flags);
	if (fetch) {
		a.result = fetch->msg_iov;
		a.result_cnt = fetch->iov_count;
	}
	if (compare) {
		a.compare = compare->msg_iov;
		a.compare_cnt = compare->iov_count;
	}
	ret = check(ep, &a);
	if (!ret)
		ret = eng_tx_find(ep, a.dest, &peer);
	return ret ? ret : post_locked(ep, peer, &a);
}

static ssize_t amo_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc, size_t cnt,
			  fi_addr_t dest, uint64_t addr, uint64_t key, enum fi_datatype type,
			  enum fi_op op, void *context)
{
	struct amo a = { .kind = WIRE_AMO_BASE, .type = type, .op = op, .operand = iov,
			 .operand_cnt = cnt, .dest = dest, .context = context };

	return post_lists(ep, &a, addr, key);
}

static ssize_t amo_write(struct fid_ep *ep, const void *buf, size_t cnt, void *desc,
			 fi_addr_t dest, uint64_t addr, uint64_t key, enum fi_datatype type,
			 enum fi_op op, void *context)
{
	struct fi_ioc ioc = { .addr = (void *) buf, .count = cnt };

	return amo_writev(ep, &ioc, NULL, 1, dest, addr, key, type, op, context);
}

static ssize_t amo_inject(struct fid_ep *ep, const void *buf, size_t cnt, fi_addr_t dest,
			  uint64_t addr, uint64_t key, enum fi_datatype type, enum fi_op op)
{
	struct fi_ioc ioc = { .addr = (void *) buf, .count = cnt };
	struct amo a = { .kind = WIRE_AMO_BASE, .type = type, .op = op, .operand = &ioc,
			 .operand_cnt = 1, .dest = dest, .flags = FI_INJECT | ENG_TX_QUIET };

	return post_lists(ep, &a, addr, key);
}

static ssize_t amo_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg, uint64_t flags)
{
	struct amo a = { .kind = WIRE_AMO_BASE };

	return post_msg(ep, &a, msg, flags);
}

static ssize_t amo_readwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
			      size_t cnt, struct fi_ioc *resultv, void **result_desc,
			      size_t result_cnt, fi_addr_t dest, uint64_t addr, uint64_t key,
			      enum fi_datatype type, enum fi_op op, void *context)
{
	struct amo a = { .kind = WIRE_AMO_FETCH, .type = type, .op = op, .operand = iov,
			 .operand_cnt = cnt, .result = resultv, .result_cnt = result_cnt,
			 .dest = dest, .context = context };

	return post_lists(ep, &a, addr, key);
}

static ssize_t amo_readwrite(struct fid_ep *ep, const void *buf, size_t cnt, void *desc,
			     void *result, void *result_desc, fi_addr_t dest, uint64_t addr,
			     uint64_t key, enum fi_datatype type, enum fi_op op, void *context)
{
	struct fi_ioc ioc = { .addr = (void *) buf, .count = cnt };
	struct fi_ioc old = { .addr = result, .count = cnt };

	return amo_readwritev(ep, &ioc, NULL, 1, &old, NULL, 1, dest, addr, key, type, op,
			      context);
}

static ssize_t amo_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				struct fi_ioc *resultv, void **result_desc, size_t result_cnt,
				uint64_t flags)
{
	struct amo a = { .kind = WIRE_AMO_FETCH, .result = resultv, .result_cnt = result_cnt };

	return post_msg(ep, &a, msg, flags);
}

static ssize_t amo_compwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
			      size_t cnt, const struct fi_ioc *comparev, void **compare_desc,
			      size_t compare_cnt, struct fi_ioc *resultv, void **result_desc,
			      size_t result_cnt, fi_addr_t dest, uint64_t addr, uint64_t key,
			      enum fi_datatype type, enum fi_op op, void *context)
{
	struct amo a = { .kind = WIRE_AMO_COMPARE, .type = type, .op = op, .operand = iov,
			 .operand_cnt = cnt, .compare = comparev, .compare_cnt = compare_cnt,
			 .result = resultv, .result_cnt = result_cnt, .dest = dest,
			 .context = context };

	return post_lists(ep, &a, addr, key);
}

static ssize_t amo_compwrite(struct fid_ep *ep, const void *buf, size_t cnt, void *desc,
			     const void *compare, void *compare_desc, void *result,
			     void *result_desc, fi_addr_t dest, uint64_t addr, uint64_t key,
			     enum fi_datatype type, enum fi_op op, void *context)
{
	struct fi_ioc ioc = { .addr = (void *) buf, .count = cnt };
	struct fi_ioc cmp = { .addr = (void *) compare, .count = cnt };
	struct fi_ioc old = { .addr = result, .count = cnt };

	return amo_compwritev(ep, &ioc, NULL, 1, &cmp, NULL, 1, &old, NULL, 1, dest, addr, key,
			      type, op, context);
}

static ssize_t amo_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				const struct fi_ioc *comparev, void **compare_desc,
				size_t compare_cnt, struct fi_ioc *resultv, void **result_desc,
				size_t result_cnt, uint64_t flags)
{
	struct amo a = { .kind = WIRE_AMO_COMPARE, .compare = comparev,
			 .compare_cnt = compare_cnt, .result = resultv,
			 .result_cnt = result_cnt };

	return post_msg(ep, &a, msg, flags);
}

/* ---- what is there ----------------------------------------------------------- */

static int valid(enum eng_atomic_form form, enum fi_datatype type, enum fi_op op, size_t *cnt)
{
	int ret = eng_atomic_valid(form, type, op);

	if (!ret && cnt)
		*cnt = ENG_ATOMIC_MAX / eng_atomic_size(type);
	return ret;
}

static int amo_writevalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *cnt)
{
	return valid(ENG_ATOMIC_BASE, type, op, cnt);
}

static int amo_readwritevalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
			      size_t *cnt)
{
	return valid(ENG_ATOMIC_FETCH, type, op, cnt);
}

static int amo_compwritevalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
			      size_t *cnt)
{
	return valid(ENG_ATOMIC_COMPARE, type, op, cnt);
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
	.write = amo_write,
	.writev = amo_writev,
	.writemsg = amo_writemsg,
	.inject = amo_inject,
	.readwrite = amo_readwrite,
	.readwritev = amo_readwritev,
	.readwritemsg = amo_readwritemsg,
	.compwrite = amo_compwrite,
	.compwritev = amo_compwritev,
	.compwritemsg = amo_compwritemsg,
	.writevalid = amo_writevalid,
	.readwritevalid = amo_readwritevalid,
	.compwritevalid = amo_compwritevalid,
};
OBJ_OPS_TABLE(eng_amo_ops, atomic)
