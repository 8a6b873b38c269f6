/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * send.c - the twelve calls that send a message, tagged or not.
 *
 * They differ in where their arguments come from; post() does the work.
 */
#include <rdma/fi_tagged.h>
#include <string.h>

#include "base/iov.h"
#include "engine/recv.h"
#include "engine/tx.h"

#define SEND_FLAGS (FI_REMOTE_CQ_DATA | FI_COMPLETION | FI_MORE | FI_INJECT | FI_FENCE |	\
		    FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |		\
		    FI_MATCH_COMPLETE | FI_COMMIT_COMPLETE | FI_MSG | FI_TAGGED |	\
		    FI_SEND)
#define ACK_FLAGS (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_COMMIT_COMPLETE)

/* Post without a completion, and so without a context: fi_inject() and its kin. */
#define QUIET (1ULL << 63)

/* One call. */
struct send {
	const struct iovec *iov;
	size_t cnt;
	size_t len;
	fi_addr_t dest;
	uint64_t tag;
	uint64_t data;
	uint64_t flags;		/* of the operation, QUIET */
	void *context;
	uint8_t wire;		/* WIRE_F_TAG, WIRE_F_DATA */
};

/* What cannot be sent at once for a reason that is not memory. */
static int refuse(struct eng_ep *ep, const struct send *s)
{
	if (ep->state == ENG_EP_OPEN)
		return -FI_EOPBADSTATE;
	if (s->len > ep->max_msg_size || s->cnt > ENG_IOV_MAX)
		return s->cnt > ENG_IOV_MAX ? -FI_EINVAL : -FI_EMSGSIZE;
	if ((s->flags & FI_INJECT) && s->len > ep->inject_size)
		return -FI_EMSGSIZE;
	return 0;
}

static inline uint8_t ack_wanted(const struct eng_ep *ep, const struct send *s)
{
	if (__builtin_expect(!(s->flags & ACK_FLAGS), 1))
		return 0;
	/* Nobody can see when an inject is done, unless it is counted. */
	if ((s->flags & QUIET) && !ep->base.cntrs[OBJ_CNTR_SEND])
		return 0;
	return s->flags & (FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE) ?
	       WIRE_F_DELIVERED : WIRE_F_MATCHED;
}

/* Where the message is: in the request if it is short or injected. */
static inline int attach(struct eng_tx *tx, struct eng_grp *grp, const struct send *s)
{
	char *copy = (char *) tx->data;

	tx->bounce = NULL;
	tx->pkt.len = s->len;
	if (s->len > ENG_TX_INLINE) {
		if (!(s->flags & FI_INJECT)) {
			memcpy(tx->pkt.iov, s->iov, s->cnt * sizeof(*s->iov));
			tx->pkt.iov_cnt = (uint16_t) s->cnt;
			return 0;
		}
		copy = tx->bounce = pool_get(&grp->bounces);
		if (!copy)
			return -FI_EAGAIN;
	}
	if (s->cnt == 1 && s->len)
		memcpy(copy, s->iov->iov_base, s->len);
	else if (s->len)
		iov_gather(s->iov, s->cnt, 0, copy, s->len);
	tx->pkt.iov[0].iov_base = copy;
	tx->pkt.iov[0].iov_len = s->len;
	tx->pkt.iov_cnt = s->len != 0;
	tx->pkt.flags |= ENG_PKT_INLINE;
	return 0;
}

/* Turn the packet into an announcement; the message stays listed in pkt.iov. */
static void announce(struct eng_tx *tx)
{
	tx->pkt.hdr[0] = WIRE_RTS;
	tx->iov_cnt = tx->pkt.iov_cnt;
	tx->pkt.iov_cnt = 0;
	tx->pkt.len = 0;
	tx->pkt.flags &= ~ENG_PKT_INLINE;
	tx->copied = (tx->pkt.iov[0].iov_base == tx->data || tx->bounce) && tx->len;
	tx->ep->inject_out += tx->copied;
}

static inline void write_header(struct eng_tx *tx, const struct send *s, uint8_t flags,
				uint32_t id)
{
	size_t len = wire_put_base(tx->pkt.hdr, WIRE_EAGER, flags, 0, id, s->len);

	if (flags & WIRE_F_TAG)
		len = wire_put_word(tx->pkt.hdr, len, s->tag);
	if (flags & WIRE_F_DATA)
		len = wire_put_word(tx->pkt.hdr, len, s->data);
	tx->pkt.hdr_len = (uint16_t) len;
}

static int start(struct eng_tx *tx, struct eng_peer *peer, uint64_t flags)
{
	tx->fence = (flags & FI_FENCE) != 0;
	if (__builtin_expect(tx->fence && peer->tx_cnt > 1, 0))
		peer->slow |= ENG_PEER_FENCED;
	if (__builtin_expect(!(peer->slow & ENG_PEER_FENCED), 1))
		return eng_tx_start(tx);
	eng_tx_hold(tx);
	return 0;
}

/* Whose it is and what completes with it. */
static inline void describe(struct eng_tx *tx, struct eng_ep *ep, struct eng_peer *peer,
			    const struct send *s)
{
	tx->ep = ep;
	tx->name = (struct eng_name) { .peer = peer, .kind = ENG_NAME_TX };
	tx->context = s->context;
	tx->cq_flags = FI_SEND | (s->wire & WIRE_F_TAG ? FI_TAGGED : FI_MSG);
	tx->len = s->len;
	tx->cntr = OBJ_CNTR_SEND;
	tx->pieces = 0;
	tx->copied = false;
	tx->listed = false;
}

/* From here on the request counts as outstanding; finish() in tx.c undoes it. */
static inline void count(struct eng_tx *tx)
{
	eng_peer_ref(tx->name.peer);
	tx->name.peer->tx_cnt++;
	tx->ep->tx_out++;
}

/* Make the request and send it.  Caller holds the lock; there is room for it. */
static inline int send_one(struct eng_ep *ep, struct eng_peer *peer, const struct send *s)
{
	struct eng_grp *grp = ep->grp;
	uint8_t ack = ack_wanted(ep, s);
	bool rts = s->len > ep->hub->eager_limit || (peer->slow & ENG_PEER_XOFF);
	struct eng_tx *tx = pool_get(&grp->txs);
	int ret = -FI_EAGAIN;

	if (!tx)
		return ret;
	describe(tx, ep, peer, s);
	tx->state = ENG_TX_NEW;
	tx->pkt_out = false;
	tx->want_ack = ack != 0;
	tx->want_comp = !(s->flags & QUIET) && obj_ep_want_tx_comp(&ep->base, s->flags);
	tx->pkt.flags = s->flags & FI_MORE ? ENG_PKT_MORE : 0;
	if (attach(tx, grp, s))
		goto free_tx;
	if (__builtin_expect(rts || ack, 0) && !eng_name_make(grp, &tx->name))
		goto free_bounce;
	write_header(tx, s, s->wire | ack, tx->name.id);
	if (__builtin_expect(rts, 0))
		announce(tx);
	count(tx);
	ret = start(tx, peer, s->flags);
	if (__builtin_expect(!ret, 1))
		return 0;
	/* The link is about to say that the channel broke; then we call again. */
	if (ret < 0 && !ep->hub->only)
		ret = -FI_EAGAIN;
	ep->tx_out--;
	peer->tx_cnt--;
	ep->inject_out -= tx->copied;
	eng_tx_free(tx);
	eng_peer_unref(peer);
	return ret;

free_bounce:
	if (tx->bounce)
		pool_put(&grp->bounces, tx->bounce);
free_tx:
	pool_put(&grp->txs, tx);
	return ret;
}

/* The queue is full: see whether something has finished. */
static bool make_room(struct eng_ep *ep)
{
	if (ep->link && ep->link_ops->flush)
		ep->link_ops->flush(ep->link);
	obj_prog_poll_locked(ep->base.prog);
	return ep->tx_out < ep->tx_size;
}

static __attribute__((noinline)) ssize_t post(struct eng_ep *ep, const struct send *s)
{
	struct eng_peer *peer;
	int ret = refuse(ep, s);

	if (__builtin_expect(ret, 0))
		return ret;
	lock_get(&ep->base.prog->lock);
	peer = eng_peer_get(ep->hub, s->dest, &ret);
	if (__builtin_expect(!peer, 0))
		goto out;
	if (__builtin_expect(ep->tx_out >= ep->tx_size, 0) && !make_room(ep)) {
		ret = -FI_EAGAIN;
		goto out;
	}
	if (__builtin_expect(peer->slow & (ENG_PEER_IDLE | ENG_PEER_CLOSED), 0)) {
		ret = peer->slow & ENG_PEER_CLOSED ? -FI_ENOTCONN : eng_peer_start(peer);
		if (ret)
			goto out;
	}
	ret = send_one(ep, peer, s);
out:
	lock_put(&ep->base.prog->lock);
	return ret;
}

/* ---- short messages ---------------------------------------------------------
 *
 * Most sends are short, want nothing special and leave at once.  These touch no
 * more of the request than the link reads; what else it needs to live on is
 * filled in only if the link keeps the packet.
 */

/* Flags with which a send takes the long way. */
#define LONG_WAY (ACK_FLAGS | FI_FENCE | FI_MORE)

static __attribute__((noinline)) int kept(struct eng_tx *tx, struct eng_ep *ep,
					  struct eng_peer *peer, const struct send *s, bool want)
{
	describe(tx, ep, peer, s);
	tx->state = ENG_TX_EAGER;
	tx->pkt_out = true;
	tx->want_ack = false;
	tx->want_comp = want;
	tx->fence = false;
	tx->bounce = NULL;
	count(tx);
	return 0;
}

static inline int send_short(struct eng_ep *ep, struct eng_peer *peer, const struct send *s)
{
	struct pool *pool = &ep->grp->txs;
	struct eng_tx *tx = pool_get(pool);
	bool want = !(s->flags & QUIET) && obj_ep_want_tx_comp(&ep->base, s->flags);
	int ret;

	if (__builtin_expect(!tx, 0))
		return -FI_EAGAIN;
	tx->pkt.flags = ENG_PKT_INLINE;
	tx->pkt.len = s->len;
	tx->pkt.iov[0].iov_base = tx->data;
	tx->pkt.iov[0].iov_len = s->len;
	tx->pkt.iov_cnt = s->len != 0;
	tx->pkt.done = eng_tx_done;
	if (s->len)
		memcpy(tx->data, s->iov->iov_base, s->len);
	write_header(tx, s, s->wire, 0);
	ret = ep->link_ops->send(peer->link, peer, &tx->pkt);
	if (__builtin_expect(!ret, 0))
		return kept(tx, ep, peer, s, want);
	pool_put(pool, tx);
	if (__builtin_expect(ret < 0, 0))
		return ep->hub->only ? ret : -FI_EAGAIN;
	obj_ep_comp_tx(&ep->base, want, s->context,
		       FI_SEND | (s->wire & WIRE_F_TAG ? FI_TAGGED : FI_MSG), s->len,
		       OBJ_CNTR_SEND);
	return 0;
}

/* ---- the calls -------------------------------------------------------------- */

static inline __attribute__((always_inline)) ssize_t
post_short(struct eng_ep *ep, const struct send *s)
{
	struct eng_peer *peer;
	int ret = 0;

	if (__builtin_expect(s->len > ENG_TX_INLINE || (s->flags & LONG_WAY) ||
			     ep->state == ENG_EP_OPEN || s->len > ep->short_max, 0))
		return post(ep, s);
	lock_get(&ep->base.prog->lock);
	peer = eng_peer_get(ep->hub, s->dest, &ret);
	if (__builtin_expect(!peer, 0))
		goto out;
	if (__builtin_expect(peer->slow || ep->tx_out >= ep->tx_size, 0)) {
		lock_put(&ep->base.prog->lock);
		return post(ep, s);
	}
	ret = send_short(ep, peer, s);
out:
	lock_put(&ep->base.prog->lock);
	return ret;
}

static inline __attribute__((always_inline)) ssize_t post_buf(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
			       uint64_t tag, uint64_t data, void *context, uint64_t flags,
			       uint8_t wire)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);
	struct iovec iov = { (void *) buf, len };
	struct send s = {
		.iov = &iov, .cnt = 1, .len = len, .dest = dest, .tag = tag, .data = data,
		.flags = flags | h->tx_op_flags, .context = context, .wire = wire,
	};

	return post_short((struct eng_ep *) h->ep, &s);
}

static inline ssize_t post_iov(struct fid_ep *fid, const struct iovec *iov, size_t cnt,
			       fi_addr_t dest, uint64_t tag, uint64_t data, void *context,
			       uint64_t flags, uint8_t wire)
{
	struct send s = {
		.iov = iov, .cnt = cnt, .len = iov_total(iov, cnt), .dest = dest, .tag = tag,
		.data = data, .flags = flags, .context = context, .wire = wire,
	};

	if (flags & FI_REMOTE_CQ_DATA)
		s.wire |= WIRE_F_DATA;
	return post(eng_ep_of(fid), &s);
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			fi_addr_t dest, void *context)
{
	return post_buf(ep, buf, len, dest, 0, 0, context, 0, 0);
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t dest, void *context)
{
	return post_iov(ep, iov, cnt, dest, 0, 0, context,
			obj_ep_handle_of(ep)->tx_op_flags & ~FI_REMOTE_CQ_DATA, 0);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	if (flags & ~SEND_FLAGS)
		return -FI_EBADFLAGS;
	return post_iov(ep, msg->msg_iov, msg->iov_count, msg->addr, 0, msg->data,
			msg->context, flags, 0);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest)
{
	return post_buf(ep, buf, len, dest, 0, 0, NULL, FI_INJECT | QUIET, 0);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest, void *context)
{
	return post_buf(ep, buf, len, dest, 0, data, context, 0, WIRE_F_DATA);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest)
{
	return post_buf(ep, buf, len, dest, 0, data, NULL, FI_INJECT | QUIET, WIRE_F_DATA);
}

static ssize_t tagged_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			   fi_addr_t dest, uint64_t tag, void *context)
{
	return post_buf(ep, buf, len, dest, tag, 0, context, 0, WIRE_F_TAG);
}

static ssize_t tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			    fi_addr_t dest, uint64_t tag, void *context)
{
	return post_iov(ep, iov, cnt, dest, tag, 0, context,
			obj_ep_handle_of(ep)->tx_op_flags & ~FI_REMOTE_CQ_DATA, WIRE_F_TAG);
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	if (flags & ~SEND_FLAGS)
		return -FI_EBADFLAGS;
	return post_iov(ep, msg->msg_iov, msg->iov_count, msg->addr, msg->tag, msg->data,
			msg->context, flags, WIRE_F_TAG);
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest,
			     uint64_t tag)
{
	return post_buf(ep, buf, len, dest, tag, 0, NULL, FI_INJECT | QUIET, WIRE_F_TAG);
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			       uint64_t data, fi_addr_t dest, uint64_t tag, void *context)
{
	return post_buf(ep, buf, len, dest, tag, data, context, 0, WIRE_F_TAG | WIRE_F_DATA);
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				 fi_addr_t dest, uint64_t tag)
{
	return post_buf(ep, buf, len, dest, tag, data, NULL, FI_INJECT | QUIET,
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
