/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * send.c - the twelve calls that send a message, tagged or not.
 *
 * They differ in where their arguments come from; send_post() does the work.
 */
#include <rdma/fi_tagged.h>
#include <string.h>

#include "base/copy.h"
#include "base/iov.h"
#include "engine/dev.h"
#include "engine/recv.h"
#include "engine/trig.h"
#include "engine/tx.h"
#include "obj/ops.h"

#define SEND_FLAGS (ENG_TX_CALL_FLAGS | FI_MSG | FI_TAGGED | FI_SEND)

/* One call. */
struct send {
	const struct iovec *iov;
	size_t cnt;
	size_t len;
	fi_addr_t dest;
	uint64_t tag;
	uint64_t data;
	uint64_t flags;		/* of the operation, ENG_TX_QUIET */
	void *context;
	uint8_t wire;		/* WIRE_F_TAG, WIRE_F_DATA */
};

/* What cannot be sent at once for a reason that is not memory. */
static int send_refuse(struct eng_ep *ep, const struct send *s)
{
	if (ep->tx_ret)
		return ep->tx_ret;
	if (s->len > ep->max_msg_size || s->cnt > ENG_IOV_MAX)
		return s->cnt > ENG_IOV_MAX || iov_asked(s->iov, s->cnt) == SIZE_MAX ? -FI_EINVAL :
		       -FI_EMSGSIZE;
	if ((s->flags & FI_INJECT) && s->len > ep->inject_size)
		return -FI_EMSGSIZE;
	return 0;
}

/* is_first - is it not known whether the peer has the receive context?  Then the message asks for an ACK that waits
 * for no receive; a peer without that context answers by a NACK, as it does to announcements.
 */
static inline bool is_first(const struct eng_ep *ep, const struct eng_peer *peer, const struct send *s)
{
	uint16_t ctx = eng_ep_ctx(ep, s->dest);

	return ctx && ctx >= peer->ctx_known;
}

static inline uint8_t send_ack_wanted(const struct eng_ep *ep, const struct send *s)
{
	if (__builtin_expect(!(s->flags & ENG_TX_ACK_FLAGS), 1))
		return 0;
	/* The end of an inject is invisible, unless it is counted. */
	if ((s->flags & ENG_TX_QUIET) && !ep->base.cntrs[OBJ_CNTR_SEND])
		return 0;
	return s->flags & (FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE) ?
	       WIRE_F_DELIVERED : WIRE_F_MATCHED;
}

/* send_write_header - Returns its length, wire_fast_len(). */
static inline __attribute__((always_inline)) size_t
send_write_header(uint8_t *hdr, const struct send *s, uint8_t flags, uint16_t ctx, uint32_t id)
{
	size_t len = wire_put_base(hdr, WIRE_EAGER, flags, ctx, id, s->len);

	if (flags & WIRE_F_TAG)
		len = wire_put_word(hdr, len, s->tag);
	if (flags & WIRE_F_DATA)
		len = wire_put_word(hdr, len, s->data);
	return len;
}

static inline uint64_t comp_flags(const struct send *s)
{
	return FI_SEND | (s->wire & WIRE_F_TAG ? FI_TAGGED : FI_MSG);
}

/* send_announces - is the message announced instead of sent?  What the link keeps could not be called back
 * if the receiver asked for announcements, so beyond the guaranteed size of the queue, and beyond
 * ep->ahead bytes, messages are announced unasked.  A short payload costs the receiver as little memory
 * as an announcement, and is never announced for want of it.
 * @kept: the link will keep it, if it has no room
 */
static bool send_announces(const struct eng_ep *ep, const struct eng_peer *peer, size_t len, bool kept)
{
	const struct eng_link_attr *attr = &peer->link->attr;

	if (eng_peer_is_whole(peer))
		return false;
	if (len > attr->eager_limit)
		return true;
	if (len <= ENG_TX_INLINE)
		return false;
	if (peer->slow & ENG_PEER_XOFF)
		return true;
	return kept && (ep->tx_out >= ep->tx_size || len > ep->ahead / (peer->tx_cnt + 1)) &&
	       (peer->format == ENG_FORMAT_ANNOUNCES || attr->eager_limit < attr->max_payload);
}

/* ---- one packet that wants no answer ------------------------------------------
 *
 * Most messages are.  The link is given a request of which only the packet is filled in; what
 * else it needs to live on follows if the link keeps it.
 */

static __attribute__((noinline)) void send_kept(struct eng_tx *tx, struct eng_ep *ep,
						struct eng_peer *peer, const struct send *s, bool want)
{
	eng_tx_describe(tx, ep, peer, s->context, comp_flags(s), OBJ_CNTR_SEND, s->len);
	tx->want_comp = want;
	eng_tx_adopt(tx);
}

/* send_attach - a payload that is short is copied, a long one stays where it is. */
static inline void send_attach(struct eng_tx *tx, const struct send *s)
{
	struct eng_pkt *pkt = &tx->pkt;

	pkt->len = s->len;
	if (s->len > ENG_TX_INLINE) {
		memcpy(pkt->iov, s->iov, s->cnt * sizeof(*s->iov));
		pkt->iov_cnt = (uint16_t) s->cnt;
		return;
	}
	pkt->flags |= ENG_PKT_INLINE;
	pkt->iov[0] = (struct iovec) { tx->data, s->len };
	pkt->iov_cnt = s->len != 0;
	if (__builtin_expect(s->cnt == 1, 1))
		memcpy(tx->data, s->iov->iov_base, s->len);
	else if (s->len)
		iov_gather(s->iov, s->cnt, 0, tx->data, s->len);
}

/* send_plain - Returns as the link's send() does, but 1 where the packet was kept.
 * @once: it is not to be kept
 */
static inline __attribute__((always_inline)) int
send_plain(struct eng_ep *ep, struct eng_peer *peer, const struct send *s, bool once)
{
	bool want = eng_tx_wants_comp(ep, s->flags);
	struct pool *pool = &ep->grp->txs;
	struct eng_tx *tx = pool_get(pool);
	int ret;

	if (__builtin_expect(!tx, 0))
		return -FI_EAGAIN;
	tx->pkt.flags = once ? ENG_PKT_ONCE : 0;
	send_attach(tx, s);
	tx->pkt.done = eng_tx_done;
	tx->pkt.hdr_len = (uint16_t) send_write_header(tx->pkt.hdr, s, s->wire, eng_ep_ctx(ep, s->dest), 0);
	ret = peer->ops->send(peer->chan, &tx->pkt);
	if (__builtin_expect(ret == ENG_SEND_KEPT, 0)) {
		send_kept(tx, ep, peer, s, want);
		return 1;
	}
	pool_put(pool, tx);
	if (__builtin_expect(ret > 0, 1))
		obj_ep_comp_tx(&ep->base, want, s->context, comp_flags(s), s->len, OBJ_CNTR_SEND);
	return ret;
}

/* is_plain - what the link keeps needs a copy of the payload of an inject, so that a long one is
 * sent without one only where the link need not keep it.
 */
static inline bool is_plain(const struct eng_peer *peer, const struct send *s, bool copied)
{
	return !(s->flags & ENG_TX_LONG_WAY) && !peer->slow &&
	       (!copied || eng_peer_takes_once(peer, s->len));
}

/* ---- any other ------------------------------------------------------------------ */

/* send_launch - make the request and send it.
 * @rts: the message is announced
 */
static int send_launch(struct eng_ep *ep, struct eng_peer *peer, const struct send *s,
		       void *const *desc, bool rts, bool in_place, uint8_t ack)
{
	struct eng_tx *tx = pool_get(&ep->grp->txs);
	int ret;

	if (!tx)
		return -FI_EAGAIN;
	eng_tx_describe(tx, ep, peer, s->context, comp_flags(s), OBJ_CNTR_SEND, s->len);
	tx->want_ack = ack != 0;
	tx->want_comp = eng_tx_wants_comp(ep, s->flags);
	eng_tx_as_work(tx, s->flags);
	tx->pkt.flags = s->flags & FI_MORE ? ENG_PKT_MORE : 0;
	ret = __builtin_expect(desc != NULL, 0) ?
	      eng_dev_attach(tx, s->iov, desc, s->cnt, s->len, s->flags & FI_INJECT, in_place) :
	      eng_tx_attach(tx, s->iov, s->cnt, s->len, s->flags & FI_INJECT);
	if (!ret && (rts || ack) && !eng_name_make(ep->grp, &tx->name))
		ret = -FI_EAGAIN;
	if (__builtin_expect(ret, 0)) {
		eng_tx_free(tx);
		return ret;
	}
	if (__builtin_expect(in_place, 0))
		ack |= eng_dev_offer(tx);
	tx->pkt.hdr_len = (uint16_t) send_write_header(tx->pkt.hdr, s, s->wire | ack,
						       eng_ep_ctx(ep, s->dest), tx->name.id);
	if (rts)
		eng_tx_announce(tx);
	return eng_tx_launch(tx, s->flags);
}

/* send_one - Caller holds the lock; there is room for a request.
 * @desc: memory of a device is among s->iov; or NULL
 */
static int send_one(struct eng_ep *ep, struct eng_peer *peer, const struct send *s,
		    void *const *desc)
{
	bool in_place = desc && s->len > ENG_DEV_SHORT && !(s->flags & FI_INJECT) && !eng_peer_is_whole(peer);
	bool again = !desc && eng_tx_may_refuse(ep, peer, s->flags, s->len);
	bool rts = send_announces(ep, peer, s->len, !again) || in_place;
	bool copied = s->flags & FI_INJECT && s->len > ENG_TX_INLINE;
	uint8_t ack = send_ack_wanted(ep, s);
	int ret;

	if (!rts)
		ep->unpolled += s->len;
	if (!rts && !ack && __builtin_expect(is_first(ep, peer, s), 0))
		ack = WIRE_F_ARRIVED;
	if (!rts && !ack && !desc && is_plain(peer, s, copied)) {
		ret = send_plain(ep, peer, s, again || copied);
		if (__builtin_expect(ret > 0, 1))
			return 0;
		if (again && ret == -FI_EAGAIN)
			return eng_tx_refuse(ep);
		if (ret != -FI_ENOBUFS && !(copied && ret == -FI_EAGAIN))
			return eng_tx_not_sent(ep, ret);
		rts = send_announces(ep, peer, s->len, true);
	}
	return send_launch(ep, peer, s, desc, rts, in_place, rts && ack == WIRE_F_ARRIVED ? 0 : ack);
}

static __attribute__((noinline)) ssize_t send_post(struct eng_ep *ep, const struct send *s,
						   void *const *desc)
{
	struct eng_peer *peer;
	int ret = send_refuse(ep, s);

	PROBE4(post_send, ep, s->len, s->tag, s->dest);
	if (!ret)
		ret = eng_tx_enter(ep, s->dest, &peer);
	if (ret)
		return ret;
	ret = send_one(ep, peer, s, desc);
	lock_put(&ep->base.prog->lock);
	return ret;
}

/* ---- short messages ---------------------------------------------------------
 *
 * Most sends are short, want nothing special and leave at once.  These need no request
 * where the link has a slot for them.
 */

/* report_sent - what is left to do once the peer can see the message. */
static __attribute__((noinline)) void report_sent(struct eng_ep *ep, bool want, void *context,
						  uint64_t flags, size_t len)
{
	obj_ep_comp_tx(&ep->base, want, context, flags, len, OBJ_CNTR_SEND);
}

/* ---- the calls -------------------------------------------------------------- */

static inline struct send of_buf(const struct iovec *iov, fi_addr_t dest, uint64_t tag,
				 uint64_t data, void *context, uint64_t flags, uint8_t wire)
{
	return (struct send) {
		.iov = iov, .cnt = 1, .len = iov->iov_len, .dest = dest, .tag = tag,
		.data = data, .flags = flags, .context = context, .wire = wire,
	};
}

static __attribute__((noinline)) ssize_t
post_long(struct eng_ep *ep, const void *buf, size_t len, fi_addr_t dest, uint64_t tag,
	  uint64_t data, void *context, uint64_t flags, uint8_t wire)
{
	struct iovec iov = { (void *) buf, len };
	struct send s = of_buf(&iov, dest, tag, data, context, flags, wire);

	return send_post(ep, &s, NULL);
}

/* not_once - the link had no room for a message that it was not to keep. */
static __attribute__((noinline, cold)) int not_once(struct eng_ep *ep, struct eng_peer *peer,
						    const struct send *s, int ret)
{
	if (ret == -FI_EAGAIN)
		return eng_tx_refuse(ep);
	if (ret == -FI_ENOBUFS)
		ret = send_plain(ep, peer, s, false);
	return ret > 0 ? 0 : eng_tx_not_sent(ep, ret);
}

/* The link has no slot for it just now, or never. */
static __attribute__((noinline)) int
send_packet(struct eng_ep *ep, struct eng_peer *peer, const void *buf, size_t len,
	    uint64_t tag, uint64_t data, void *context, uint64_t flags, uint8_t wire)
{
	struct iovec iov = { (void *) buf, len };
	struct send s = of_buf(&iov, FI_ADDR_UNSPEC, tag, data, context, flags, wire);
	bool again = __builtin_expect(ep->retries, 0) && eng_tx_may_refuse(ep, peer, flags, len);
	int ret = send_plain(ep, peer, &s, again);

	if (__builtin_expect(ret > 0, 1))
		return 0;
	return again ? not_once(ep, peer, &s, ret) : eng_tx_not_sent(ep, ret);
}

/* put_in_slot - write the message where the link takes it from.  Returns as its post()
 * does, or 0: there is no slot.
 */
static inline __attribute__((always_inline)) int
put_in_slot(struct eng_peer *peer, const void *buf, size_t len, uint64_t tag, uint64_t data,
	    uint8_t wire)
{
	const struct eng_link_ops *ops = peer->ops;
	size_t hdr_len = wire_fast_len(wire);
	struct send s = { .len = len, .tag = tag, .data = data };
	uint8_t *slot;

	slot = ops->slot ? ops->slot(peer->chan, hdr_len + len) : NULL;
	if (__builtin_expect(!slot, 0))
		return 0;
	send_write_header(slot, &s, wire, 0, 0);
	if (len)
		copy_short(slot + hdr_len, buf, len);
	return ops->post(peer->chan, hdr_len, len);
}

/* A message from one buffer.  What the commonest one passes is here in one piece, with
 * @wire known to the compiler; the peer sees it before anything else is done.
 */
static inline __attribute__((always_inline)) ssize_t
send_post_buf(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest, uint64_t tag,
	      uint64_t data, void *context, uint64_t flags, uint8_t wire)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);
	struct eng_ep *ep = (struct eng_ep *) h->ep;
	struct eng_peer *peer;
	int ret = 0;
	bool want;

	flags |= h->tx_op_flags;
	/* Before fi_enable() nothing is short enough. */
	if (__builtin_expect(len > ENG_TX_INLINE || (flags & ENG_TX_LONG_WAY) ||
			     len >= ep->fast_end, 0))
		return post_long(ep, buf, len, dest, tag, data, context, flags, wire);
	lock_get(&ep->base.prog->lock);
	peer = eng_peer_get(ep->hub, dest, &ret);
	if (__builtin_expect(!peer, 0))
		goto out;
	if (__builtin_expect(peer->slow || ep->tx_out >= ep->tx_size, 0)) {
		lock_put(&ep->base.prog->lock);
		return post_long(ep, buf, len, dest, tag, data, context, flags, wire);
	}
	PROBE4(post_send, ep, len, tag, dest);
	ret = put_in_slot(peer, buf, len, tag, data, wire);
	if (__builtin_expect(ret > 0, 1)) {
		want = eng_tx_wants_comp(ep, flags);
		if (want || ep->base.cntrs[OBJ_CNTR_SEND])
			report_sent(ep, want, context,
				    FI_SEND | (wire & WIRE_F_TAG ? FI_TAGGED : FI_MSG), len);
		ret = 0;
	} else {
		ret = ret ? eng_tx_not_sent(ep, ret) :
			    send_packet(ep, peer, buf, len, tag, data, context, flags, wire);
	}
out:
	lock_put(&ep->base.prog->lock);
	return ret;
}

static inline struct send of_iov(const struct iovec *iov, size_t cnt, fi_addr_t dest,
				 uint64_t tag, uint64_t data, void *context, uint64_t flags,
				 uint8_t wire)
{
	struct send s = {
		.iov = iov, .cnt = cnt, .len = iov_asked(iov, cnt), .dest = dest, .tag = tag,
		.data = data, .flags = flags, .context = context, .wire = wire,
	};

	if (flags & FI_REMOTE_CQ_DATA)
		s.wire |= WIRE_F_DATA;
	return s;
}

static inline ssize_t send_post_iov(struct fid_ep *fid, const struct iovec *iov, size_t cnt,
				    fi_addr_t dest, uint64_t tag, uint64_t data, void *context,
				    uint64_t flags, uint8_t wire)
{
	struct send s = of_iov(iov, cnt, dest, tag, data, context, flags, wire);

	return send_post(eng_ep_of(fid), &s, NULL);
}

static inline struct send send_of_msg(const struct fi_msg_tagged *msg, uint64_t flags, bool tagged)
{
	return of_iov(msg->msg_iov, msg->iov_count, msg->addr, msg->tag, msg->data, msg->context,
		      flags, tagged ? WIRE_F_TAG : 0);
}

static inline ssize_t send_post_msg(struct fid_ep *fid, const struct fi_msg_tagged *msg,
				    uint64_t flags, bool tagged)
{
	struct send s;

	if (__builtin_expect((flags & FI_TRIGGER) != 0, 0))
		return eng_trig_msg(fid, tagged ? FI_OP_TSEND : FI_OP_SEND, msg, flags);
	if (flags & ~SEND_FLAGS)
		return -FI_EBADFLAGS;
	s = send_of_msg(msg, flags, tagged);
	return send_post(eng_ep_of(fid), &s, NULL);
}

ssize_t eng_dev_send(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags,
		     bool tagged)
{
	struct send s = send_of_msg(msg, flags, tagged);

	return flags & ~SEND_FLAGS ? -FI_EBADFLAGS : send_post(eng_ep_of(fid), &s, msg->desc);
}

int eng_send_start(struct eng_ep *ep, const struct eng_op *op)
{
	struct send s = send_of_msg(&op->msg, op->flags, op->type == FI_OP_TSEND);
	struct eng_peer *peer;
	int ret = op->flags & ~(SEND_FLAGS | ENG_OP_WORK) ? -FI_EBADFLAGS : send_refuse(ep, &s);

	if (!ret)
		ret = eng_tx_find(ep, s.dest, &peer);
	if (ret)
		return ret;
	return send_one(ep, peer, &s, obj_mr_device_any(op->msg.desc, op->msg.iov_count) ? op->msg.desc :
			NULL);
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			fi_addr_t dest, void *context)
{
	return send_post_buf(ep, buf, len, dest, 0, 0, context, 0, 0);
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t dest, void *context)
{
	return send_post_iov(ep, iov, cnt, dest, 0, 0, context,
			     obj_ep_handle_of(ep)->tx_op_flags & ~FI_REMOTE_CQ_DATA, 0);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct fi_msg_tagged tagged = eng_op_msg(msg);

	return send_post_msg(ep, &tagged, flags, false);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest)
{
	return send_post_buf(ep, buf, len, dest, 0, 0, NULL, FI_INJECT | ENG_TX_QUIET, 0);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest, void *context)
{
	return send_post_buf(ep, buf, len, dest, 0, data, context, 0, WIRE_F_DATA);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest)
{
	return send_post_buf(ep, buf, len, dest, 0, data, NULL, FI_INJECT | ENG_TX_QUIET, WIRE_F_DATA);
}

static ssize_t tagged_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			   fi_addr_t dest, uint64_t tag, void *context)
{
	return send_post_buf(ep, buf, len, dest, tag, 0, context, 0, WIRE_F_TAG);
}

static ssize_t tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			    fi_addr_t dest, uint64_t tag, void *context)
{
	return send_post_iov(ep, iov, cnt, dest, tag, 0, context,
			     obj_ep_handle_of(ep)->tx_op_flags & ~FI_REMOTE_CQ_DATA, WIRE_F_TAG);
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return send_post_msg(ep, msg, flags, true);
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest,
			     uint64_t tag)
{
	return send_post_buf(ep, buf, len, dest, tag, 0, NULL, FI_INJECT | ENG_TX_QUIET, WIRE_F_TAG);
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			       uint64_t data, fi_addr_t dest, uint64_t tag, void *context)
{
	return send_post_buf(ep, buf, len, dest, tag, data, context, 0, WIRE_F_TAG | WIRE_F_DATA);
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				 fi_addr_t dest, uint64_t tag)
{
	return send_post_buf(ep, buf, len, dest, tag, data, NULL, FI_INJECT | ENG_TX_QUIET,
			     WIRE_F_TAG | WIRE_F_DATA);
}

struct fi_ops_msg eng_send_msg_ops = {
	.recv = eng_recv_recv,
	.recvv = eng_recv_recvv,
	.recvmsg = eng_recv_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};
OBJ_OPS_TABLE(eng_send_msg_ops, msg)

struct fi_ops_tagged eng_send_tagged_ops = {
	.recv = eng_recv_trecv,
	.recvv = eng_recv_trecvv,
	.recvmsg = eng_recv_trecvmsg,
	.send = tagged_send,
	.sendv = tagged_sendv,
	.sendmsg = tagged_sendmsg,
	.inject = tagged_inject,
	.senddata = tagged_senddata,
	.injectdata = tagged_injectdata,
};
OBJ_OPS_TABLE(eng_send_tagged_ops, tagged)
