/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * calls.c - the nine calls that read and write a peer's memory.
 */
#include <rdma/fi_rma.h>
#include <string.h>

#include "base/iov.h"
#include "engine/dev.h"
#include "engine/trig.h"
#include "engine/tx.h"
#include "obj/ops.h"

/* One call. */
struct rma {
	struct fi_msg_rma msg;
	size_t len;		/* of either list; set by rma_check() */
	uint64_t flags;		/* of the operation, ENG_TX_QUIET */
	void *const *desc;	/* memory of a device is in the local list; or NULL */
};

/* remote_asked - as iov_asked() is for a local list; UINT64_MAX: an entry, or the sum, reaches beyond the address space. */
static uint64_t remote_asked(const struct fi_rma_iov *iov, size_t cnt)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (iov_wraps(iov[i].addr, iov[i].len) || iov[i].len > UINT64_MAX - sum)
			return UINT64_MAX;
		sum += iov[i].len;
	}
	return sum;
}

static int rma_check(struct eng_ep *ep, struct rma *r)
{
	uint64_t sum;

	if (r->msg.iov_count > ENG_IOV_MAX || !r->msg.rma_iov_count ||
	    r->msg.rma_iov_count > WIRE_RMA_MAX)
		return -FI_EINVAL;
	r->len = iov_asked(r->msg.msg_iov, r->msg.iov_count);
	if (r->len == SIZE_MAX)
		return -FI_EINVAL;
	sum = remote_asked(r->msg.rma_iov, r->msg.rma_iov_count);
	if (sum > WIRE_LEN_MAX)
		return sum == UINT64_MAX ? -FI_EINVAL : -FI_EMSGSIZE;
	if (r->len != sum)
		return -FI_EINVAL;
	if (__builtin_expect(r->len >= ep->rma_long, 0)) {
		if (r->len > ep->max_msg_size)
			return -FI_EMSGSIZE;
		r->flags |= ENG_TX_ANSWERED;
	}
	return (r->flags & FI_INJECT) && r->len > ep->inject_size ? -FI_EMSGSIZE : 0;
}

/* A request with what reads and writes have in common. */
static struct eng_tx *new_tx(struct eng_ep *ep, struct eng_peer *peer, const struct rma *r,
			     uint64_t cq_flag, enum obj_ep_cntr cntr)
{
	struct eng_tx *tx = pool_get(&ep->grp->txs);

	if (!tx)
		return NULL;
	eng_tx_describe(tx, ep, peer, r->msg.context, FI_RMA | cq_flag, cntr, r->len);
	tx->want_comp = eng_tx_wants_comp(ep, r->flags);
	eng_tx_as_work(tx, r->flags);
	tx->pkt.flags = r->flags & FI_MORE ? ENG_PKT_MORE : 0;
	return tx;
}

/* ---- native RMA of the link ----------------------------------------------------- */

/* rma_native - by rma() of the link, if it has that and no earlier operation must complete first.
 * Returns 1: done; 0: use packets; -FI_EAGAIN; -FI_EFAULT: it is to complete with that error;
 * -FI_EACCES: use packets, the peer will refuse them.
 */
static int rma_native(struct eng_ep *ep, struct eng_peer *peer, const struct rma *r, enum eng_rma what,
		      bool *notify_p)
{
	const struct eng_link_native *ops = peer->ops->native;
	int ret;

	*notify_p = false;
	if (!ops || r->desc || r->msg.rma_iov_count != 1 || !r->len || (peer->slow & ~ENG_PEER_XOFF) ||
	    ((r->flags & FI_FENCE) && peer->tx_cnt) || (r->flags & ENG_OP_WORK) ||
	    eng_ep_ctx(ep, r->msg.addr))
		return 0;
	ret = ops->rma(peer->chan, what, r->msg.msg_iov, r->msg.iov_count, r->msg.rma_iov, notify_p);
	if (__builtin_expect(ret == -FI_EAGAIN, 0))
		obj_prog_poll_locked(ep->base.prog);
	return ret;
}

/* done_at_once - it is complete on every level. */
static int done_at_once(struct eng_ep *ep, const struct rma *r, uint64_t cq_flag,
			enum obj_ep_cntr cntr)
{
	obj_ep_comp_tx(&ep->base, eng_tx_wants_comp(ep, r->flags), r->msg.context, FI_RMA | cq_flag,
		       r->len, cntr);
	return 0;
}

/* failed_at_once - the kernel could not copy: one of the buffers is not there, or may not be accessed so. */
static int failed_at_once(struct eng_ep *ep, const struct rma *r, uint64_t cq_flag, enum obj_ep_cntr cntr)
{
	struct fi_cq_err_entry entry = obj_cq_err(r->msg.context, FI_RMA | cq_flag, FI_EFAULT);

	entry.src_addr = r->msg.addr;
	obj_ep_err_tx(&ep->base, &entry, NULL, 0, cntr);
	return 0;
}

/* put_ranges - where bytes @off .. @off + @len of the request are; with @all also the ranges
 * without any of them.  Returns the header's length.
 */
static size_t put_ranges(uint8_t *hdr, size_t at, const struct rma *r, size_t off, size_t len,
			 bool all)
{
	const struct fi_rma_iov *rma = r->msg.rma_iov;
	size_t i, skip, part;

	for (i = 0; i < r->msg.rma_iov_count; i++) {
		skip = off < rma[i].len ? off : rma[i].len;
		part = rma[i].len - skip;
		if (part > len)
			part = len;
		off -= skip;
		len -= part;
		if (part || all)
			at = wire_put_rma(hdr, at, rma[i].addr + skip, part, rma[i].key);
	}
	return at;
}

/* ---- reads ------------------------------------------------------------------ */

static int read_one(struct eng_ep *ep, struct eng_peer *peer, const struct rma *r)
{
	uint8_t flags = r->len ? 0 : WIRE_F_DELIVERED;
	struct eng_tx *tx;
	size_t at;
	bool notify;
	int ret;

	ret = rma_native(ep, peer, r, ENG_RMA_READ, &notify);
	if (ret == -FI_EFAULT)
		return failed_at_once(ep, r, FI_READ, OBJ_CNTR_READ);
	if (ret && ret != -FI_EACCES)
		return ret < 0 ? ret : done_at_once(ep, r, FI_READ, OBJ_CNTR_READ);
	tx = new_tx(ep, peer, r, FI_READ, OBJ_CNTR_READ);
	if (!tx)
		return -FI_EAGAIN;
	if (r->len) {
		memcpy(tx->pkt.iov, r->msg.msg_iov, r->msg.iov_count * sizeof(*r->msg.msg_iov));
		ret = r->desc && !eng_dev_of_tx(tx, r->desc, r->msg.iov_count) ? -FI_ENOMEM :
		      eng_tx_ask(tx, tx->pkt.iov, r->msg.iov_count, r->len);
	} else {
		tx->want_ack = true;
		ret = eng_name_make(ep->grp, &tx->name) ? 0 : -FI_ENOMEM;
	}
	if (ret) {
		eng_tx_free(tx);
		return -FI_EAGAIN;
	}
	tx->pkt.iov_cnt = 0;
	tx->pkt.len = 0;
	if (r->desc && r->msg.rma_iov_count == 1 && eng_dev_announces(peer, r->len))
		flags = eng_dev_accept(ep, &tx->sink);
	at = wire_put_base(tx->pkt.hdr, WIRE_READ, flags,
			   eng_ep_ctx(ep, r->msg.addr), r->len ? tx->sink.name.id : tx->name.id, r->len);
	tx->pkt.hdr_len = (uint16_t) put_ranges(tx->pkt.hdr, at, r, 0, r->len, true);
	return eng_tx_launch(tx, r->flags);
}

/* ---- writes ----------------------------------------------------------------- */

/* The header of bytes @off .. @off + @len of a write.  The last piece names all
 * ranges, so that the target knows whose events to raise.
 */
static inline __attribute__((always_inline)) void
rma_put_header(struct eng_pkt *pkt, const struct rma *r, uint16_t ctx, uint32_t id, uint8_t flags,
	       size_t off, size_t len)
{
	size_t at = wire_put_base(pkt->hdr, WIRE_WRITE, flags, ctx, id, len);

	if (flags & WIRE_F_DATA)
		at = wire_put_word(pkt->hdr, at, r->msg.data);
	if (flags & WIRE_F_TOTAL)
		at = wire_put_word(pkt->hdr, at, r->len);
	pkt->hdr_len = (uint16_t) put_ranges(pkt->hdr, at, r, off, len, flags & WIRE_F_LAST);
}

/* All pieces but the last, each with its slice of the payload. */
static int rma_cut(struct eng_tx *tx, const struct rma *r, size_t seg, size_t *off_p)
{
	struct eng_pkt *pkt;
	size_t off;

	for (off = 0; r->len - off > seg; off += seg) {
		pkt = eng_tx_piece(tx);
		if (!pkt)
			return -FI_EAGAIN;
		rma_put_header(pkt, r, eng_ep_ctx(tx->ep, r->msg.addr), tx->name.id, 0, off, seg);
		pkt->flags = ENG_PKT_MORE;
		pkt->iov_cnt = (uint16_t) iov_slice(r->msg.msg_iov, r->msg.iov_count, off, seg, pkt->iov);
		pkt->len = seg;
	}
	*off_p = off;
	return 0;
}

static __attribute__((noinline)) bool rma_ack_asked(const struct eng_ep *ep, const struct eng_peer *peer,
						    const struct rma *r, bool placed)
{
	if (!(r->flags & ENG_TX_ACK_FLAGS))
		return !placed && !eng_peer_is_whole(peer);
	return !(r->flags & ENG_TX_QUIET) || ep->base.cntrs[OBJ_CNTR_WRITE];
}

/* rma_ack_wanted - is a write complete when the target has answered?  A long one is, on every level, so that its
 * refusal is known by then: see eng_tx_on_nack() for the others.
 * @placed: its bytes are there already
 */
static inline bool rma_ack_wanted(const struct eng_ep *ep, const struct eng_peer *peer, const struct rma *r, bool placed)
{
	return __builtin_expect((r->flags & (ENG_TX_ACK_FLAGS | ENG_TX_ANSWERED)) != 0, 0) &&
	       rma_ack_asked(ep, peer, r, placed);
}

/* The payload of a write, or of its last piece: what is before @off_p has gone into
 * pieces of its own.
 */
static int rma_attach(struct eng_tx *tx, const struct rma *r, size_t seg, size_t *off_p)
{
	struct iovec last[ENG_IOV_MAX];
	size_t cnt;

	if ((r->flags & FI_INJECT) || r->len <= seg)
		return eng_tx_attach(tx, r->msg.msg_iov, r->msg.iov_count, r->len, r->flags & FI_INJECT);
	if (rma_cut(tx, r, seg, off_p))
		return -FI_EAGAIN;
	cnt = iov_slice(r->msg.msg_iov, r->msg.iov_count, *off_p, r->len - *off_p, last);
	return eng_tx_attach(tx, last, cnt, r->len - *off_p, false);
}

/* rma_stage - the payload of a write from a device, in the host's memory.  At once: what follows
 * must stay behind the write.
 */
static int rma_stage(struct eng_tx *tx, const struct rma *r, struct rma *host, struct iovec *iov)
{
	*host = *r;
	host->msg.msg_iov = iov;
	host->msg.iov_count = 1;
	return eng_dev_stage(tx, r->msg.msg_iov, r->desc, r->msg.iov_count, r->len, iov);
}

/* send_write - by packets; @placed: the bytes are there, the peer is to be notified. */
static int send_write(struct eng_ep *ep, struct eng_peer *peer, const struct rma *r, bool placed)
{
	struct eng_tx *tx = new_tx(ep, peer, r, FI_WRITE, OBJ_CNTR_WRITE);
	size_t off = placed ? r->len : 0;
	uint8_t flags = WIRE_F_LAST;
	struct iovec host_iov;
	struct rma host;
	int ret;

	if (!tx)
		return -FI_EAGAIN;
	ret = eng_name_make(ep->grp, &tx->name) ? 0 : -FI_EAGAIN;
	if (__builtin_expect(r->desc != NULL, 0) && !ret) {
		ret = rma_stage(tx, r, &host, &host_iov);
		r = &host;
	}
	if (!ret)
		ret = placed ? eng_tx_attach(tx, NULL, 0, 0, false) :
		      rma_attach(tx, r, eng_peer_seg(peer), &off);
	if (ret) {
		eng_tx_free(tx);
		return ret;
	}
	tx->want_ack = rma_ack_wanted(ep, peer, r, placed);
	if (tx->want_ack)
		flags |= WIRE_F_DELIVERED;
	if (r->flags & FI_REMOTE_CQ_DATA)
		flags |= WIRE_F_DATA;
	if (off)
		flags |= WIRE_F_TOTAL;
	if (placed)
		tx->pkt.flags |= ENG_PKT_NOTICE;
	rma_put_header(&tx->pkt, r, eng_ep_ctx(ep, r->msg.addr), tx->name.id, flags, off,
		       r->len - off);
	return eng_tx_launch(tx, r->flags);
}

/* announce_write - the payload stays with the device until the target asks for it.  What follows
 * is held meanwhile, so that it stays behind the write.
 */
static int announce_write(struct eng_ep *ep, struct eng_peer *peer, const struct rma *r)
{
	struct eng_tx *tx = new_tx(ep, peer, r, FI_WRITE, OBJ_CNTR_WRITE);
	uint8_t flags = WIRE_F_LAST | WIRE_F_DELIVERED | WIRE_F_ANNOUNCED;
	int ret;

	if (!tx)
		return -FI_EAGAIN;
	ret = eng_name_make(ep->grp, &tx->name) ?
	      eng_dev_attach(tx, r->msg.msg_iov, r->desc, r->msg.iov_count, r->len, false, true) :
	      -FI_EAGAIN;
	if (ret) {
		eng_tx_free(tx);
		return ret;
	}
	flags |= eng_dev_offer(tx);
	if (r->flags & FI_REMOTE_CQ_DATA)
		flags |= WIRE_F_DATA;
	eng_tx_announce(tx);
	rma_put_header(&tx->pkt, r, eng_ep_ctx(ep, r->msg.addr), tx->name.id, flags, 0, r->len);
	tx->pkt.flags &= ~ENG_PKT_MORE;
	tx->want_ack = true;
	tx->barrier = true;
	return eng_tx_launch(tx, r->flags);
}

/* write_once - send a write into one range without a request, where the link need not keep it.
 * What such a write has lost when the peer refuses it is its name: the refusal is logged in either case.
 * Returns as the link's send(); -FI_ENOBUFS: it needs a request.
 */
static int write_once(struct eng_ep *ep, struct eng_peer *peer, const struct rma *r)
{
	uint8_t flags = WIRE_F_LAST | (r->flags & FI_REMOTE_CQ_DATA ? WIRE_F_DATA : 0);
	struct eng_pkt pkt;
	int ret;

	if (r->desc || r->msg.rma_iov_count != 1 || !eng_peer_takes_once(peer, r->len) ||
	    (r->flags & ENG_TX_LONG_WAY) || peer->slow)
		return -FI_ENOBUFS;
	rma_put_header(&pkt, r, eng_ep_ctx(ep, r->msg.addr), 0, flags, 0, r->len);
	ret = eng_peer_send_once(peer, &pkt, r->msg.msg_iov, r->msg.iov_count, r->len);
	if (ret > 0)
		done_at_once(ep, r, FI_WRITE, OBJ_CNTR_WRITE);
	return ret;
}

/* write_native - Returns as rma_native().  A short write completes earlier as a packet, unless the target must
 * acknowledge it or takes no packets.
 */
static inline int write_native(struct eng_ep *ep, struct eng_peer *peer, const struct rma *r, bool *notify_p)
{
	enum eng_rma what = ENG_RMA_WRITE;

	if (r->len < peer->link->attr.rma_min) {
		if (r->flags & FI_REMOTE_CQ_DATA)
			return 0;
		what = rma_ack_wanted(ep, peer, r, false) ? ENG_RMA_WRITE : ENG_RMA_SHORT;
	}
	return rma_native(ep, peer, r, what, notify_p);
}

/* send_or_refuse - by packets. */
static int send_or_refuse(struct eng_ep *ep, struct eng_peer *peer, const struct rma *r)
{
	int ret = write_once(ep, peer, r);

	if (__builtin_expect(ret > 0, 1))
		return 0;
	if (ret == -FI_EAGAIN && eng_tx_may_refuse(ep, peer, r->flags, r->len))
		return eng_tx_refuse(ep);
	if (ret != -FI_EAGAIN && ret != -FI_ENOBUFS)
		return eng_tx_not_sent(ep, ret);
	return send_write(ep, peer, r, false);
}

static int write_one(struct eng_ep *ep, struct eng_peer *peer, const struct rma *r)
{
	bool data = r->flags & FI_REMOTE_CQ_DATA, notify;
	int ret = write_native(ep, peer, r, &notify);

	if (__builtin_expect(r->desc != NULL, 0) && r->msg.rma_iov_count == 1 &&
	    !(r->flags & FI_INJECT) && eng_dev_announces(peer, r->len))
		return announce_write(ep, peer, r);
	if (!ret)
		return send_or_refuse(ep, peer, r);
	if (ret < 0)
		return ret == -FI_EFAULT ? failed_at_once(ep, r, FI_WRITE, OBJ_CNTR_WRITE) :
		       ret == -FI_EACCES ? send_write(ep, peer, r, false) : ret;
	if (data || notify)
		return send_write(ep, peer, r, true);
	return done_at_once(ep, r, FI_WRITE, OBJ_CNTR_WRITE);
}

/* ---- the calls -------------------------------------------------------------- */

static ssize_t rma_post(struct fid_ep *fid, struct rma *r,
			int (*op)(struct eng_ep *, struct eng_peer *, const struct rma *))
{
	struct eng_ep *ep = eng_ep_of(fid);
	struct eng_peer *peer;
	int ret = rma_check(ep, r);

	if (!ret)
		ret = eng_tx_enter(ep, r->msg.addr, &peer);
	if (ret)
		return ret;
	ret = op(ep, peer, r);
	lock_put(&ep->base.prog->lock);
	return ret;
}

static uint64_t default_flags(struct fid_ep *fid)
{
	return obj_ep_handle_of(fid)->tx_op_flags & ~FI_REMOTE_CQ_DATA;
}

/* One buffer on either side. */
static ssize_t rma_post_buf(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
			    uint64_t addr, uint64_t key, uint64_t data, void *context,
			    uint64_t flags,
			    int (*op)(struct eng_ep *, struct eng_peer *, const struct rma *))
{
	struct iovec iov = { (void *) buf, len };
	struct fi_rma_iov remote = { .addr = addr, .len = len, .key = key };
	struct rma r = { .msg = { .msg_iov = &iov, .iov_count = 1, .addr = dest,
				  .rma_iov = &remote, .rma_iov_count = 1,
				  .context = context, .data = data },
			 .flags = flags | default_flags(fid) };

	return rma_post(fid, &r, op);
}

static ssize_t rma_post_iov(struct fid_ep *fid, const struct iovec *iov, size_t cnt, fi_addr_t dest,
			    uint64_t addr, uint64_t key, void *context,
			    int (*op)(struct eng_ep *, struct eng_peer *, const struct rma *))
{
	struct fi_rma_iov remote = { .addr = addr, .len = iov_asked(iov, cnt), .key = key };
	struct rma r = { .msg = { .msg_iov = iov, .iov_count = cnt, .addr = dest,
				  .rma_iov = &remote, .rma_iov_count = 1, .context = context },
			 .flags = default_flags(fid) };

	return rma_post(fid, &r, op);
}

#define MSG_FLAGS (ENG_TX_CALL_FLAGS | FI_RMA | FI_READ | FI_WRITE)
/* A read fills memory of the program's; its peer needs no notification. */
#define NOT_READ (FI_INJECT | FI_REMOTE_CQ_DATA)

static ssize_t rma_post_msg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags,
			    int (*op)(struct eng_ep *, struct eng_peer *, const struct rma *))
{
	struct rma r = { .msg = *msg, .flags = flags };

	if (__builtin_expect((flags & FI_TRIGGER) != 0, 0)) {
		struct eng_op later = { .type = op == read_one ? FI_OP_READ : FI_OP_WRITE,
					.flags = flags, .rma = *msg };

		return eng_trig_call(eng_ep_of(fid), &later);
	}
	return flags & ~MSG_FLAGS ? -FI_EBADFLAGS : rma_post(fid, &r, op);
}

/* Of the tables of endpoints with FI_HMEM: msg->desc names memory of a device. */
ssize_t eng_dev_rma(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags, bool write)
{
	struct rma r = { .msg = *msg, .flags = flags, .desc = msg->desc };

	if ((flags & ~MSG_FLAGS) || (!write && (flags & NOT_READ)))
		return -FI_EBADFLAGS;
	return rma_post(fid, &r, write ? write_one : read_one);
}

int eng_rma_start(struct eng_ep *ep, const struct eng_op *op)
{
	struct rma r = { .msg = op->rma, .flags = op->flags,
			 .desc = obj_mr_device_any(op->rma.desc, op->rma.iov_count) ? op->rma.desc : NULL };
	bool write = op->type == FI_OP_WRITE;
	struct eng_peer *peer;
	int ret;

	if ((r.flags & ~(MSG_FLAGS | ENG_OP_WORK)) || (!write && (r.flags & NOT_READ)))
		return -FI_EBADFLAGS;
	ret = rma_check(ep, &r);
	if (!ret)
		ret = eng_tx_find(ep, r.msg.addr, &peer);
	if (ret)
		return ret;
	return write ? write_one(ep, peer, &r) : read_one(ep, peer, &r);
}

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			uint64_t addr, uint64_t key, void *context)
{
	return rma_post_buf(ep, buf, len, src, addr, key, 0, context, 0, read_one);
}

static ssize_t rma_readv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, uint64_t addr, uint64_t key, void *context)
{
	return rma_post_iov(ep, iov, cnt, src, addr, key, context, read_one);
}

static ssize_t rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	if (flags & NOT_READ)
		return -FI_EBADFLAGS;
	return rma_post_msg(ep, msg, flags, read_one);
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	return rma_post_buf(ep, buf, len, dest, addr, key, 0, context, 0, write_one);
}

static ssize_t rma_writev(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			  fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	return rma_post_iov(ep, iov, cnt, dest, addr, key, context, write_one);
}

static ssize_t rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return rma_post_msg(ep, msg, flags, write_one);
}

static ssize_t rma_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest,
			  uint64_t addr, uint64_t key)
{
	return rma_post_buf(ep, buf, len, dest, addr, key, 0, NULL, FI_INJECT | ENG_TX_QUIET,
			    write_one);
}

static ssize_t rma_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest, uint64_t addr, uint64_t key,
			     void *context)
{
	return rma_post_buf(ep, buf, len, dest, addr, key, data, context, FI_REMOTE_CQ_DATA,
			    write_one);
}

static ssize_t rma_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest, uint64_t addr, uint64_t key)
{
	return rma_post_buf(ep, buf, len, dest, addr, key, data, NULL,
			    FI_INJECT | ENG_TX_QUIET | FI_REMOTE_CQ_DATA, write_one);
}

struct fi_ops_rma eng_rma_ops = {
	.read = rma_read,
	.readv = rma_readv,
	.readmsg = rma_readmsg,
	.write = rma_write,
	.writev = rma_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};
OBJ_OPS_TABLE(eng_rma_ops, rma)
