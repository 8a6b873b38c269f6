/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * recv.c - the six calls that post a receive.
 */
#include "engine/recv.h"

#include <string.h>

#include "base/iov.h"
#include "engine/dev.h"
#include "engine/trig.h"
#include "obj/av_key.h"

#define RECV_FLAGS (FI_COMPLETION | FI_MORE | FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD | \
		    FI_REMOTE_CQ_DATA | FI_MSG | FI_TAGGED | FI_RECV)

/* One call. */
struct call {
	const struct iovec *iov;
	size_t cnt;
	fi_addr_t src;
	uint64_t tag;
	uint64_t ignore;
	uint64_t flags;
	void *context;
	bool tagged;
	void *const *desc;	/* memory of a device is among @iov; or NULL */
};

/* name_call - what every call says, of a receive that is cleared. */
static inline __attribute__((always_inline)) void
name_call(struct eng_recv *recv, struct eng_ep *ep, const struct call *c)
{
	recv->m.tag = c->tag;
	recv->m.ignore = c->ignore;
	recv->ep = ep;
	recv->rxc = ep->rxc;
	recv->context = c->context;
	recv->cq_flags = FI_RECV | (c->tagged ? FI_TAGGED : FI_MSG);
	recv->asked = (c->flags & FI_COMPLETION) != 0;
	recv->want_comp = obj_ep_want_rx_comp(&ep->base, c->flags);
}

static void recv_fill(struct eng_recv *recv, struct eng_ep *ep, const struct call *c)
{
	eng_recv_clear(recv);
	name_call(recv, ep, c);
	recv->multi = (c->flags & FI_MULTI_RECV) != 0;
	recv->min = ep->base.min_multi_recv;
	recv->slow = (c->flags & (FI_MULTI_RECV | ENG_OP_WORK)) != 0;
	recv->iov_cnt = (uint16_t) c->cnt;
	if (c->cnt)
		memcpy(recv->iov, c->iov, c->cnt * sizeof(*c->iov));
	recv->room = iov_total(c->iov, c->cnt);
}

static int recv_refuse(struct eng_ep *ep, const struct call *c)
{
	if (ep->rx_ret)
		return ep->rx_ret;
	if (c->cnt > ENG_IOV_MAX)
		return -FI_EINVAL;
	if ((c->flags & FI_MULTI_RECV) && c->cnt != 1)
		return -FI_EINVAL;
	return iov_asked(c->iov, c->cnt) == SIZE_MAX ? -FI_EINVAL : 0;
}

/* recv_aim - @recv takes messages of @peer only, and has a reference to it. */
static inline void recv_aim(struct eng_recv *recv, struct eng_peer *peer)
{
	recv->sink.name.peer = peer;
	recv->m.src = eng_peer_key(peer);
	eng_peer_ref(peer);
}

/* A receive from one source only. */
static int recv_direct(struct eng_recv *recv, fi_addr_t src)
{
	int ret = 0;
	struct eng_peer *peer = eng_peer_get(recv->ep->hub, src, &ret);

	if (!peer)
		return ret;
	recv_aim(recv, peer);
	return 0;
}

/* No message yet: into the matcher.  -FI_EAGAIN: the queue is full. */
static int recv_keep(struct eng_recv *recv, struct match *m)
{
	struct eng_ep *ep = recv->ep;
	struct eng_rxc *rxc = recv->rxc;

	if (__builtin_expect(obj_cm_state(&ep->base) == OBJ_CM_SHUT, 0))
		return -FI_ENOTCONN;
	if (__builtin_expect(rxc->posted >= rxc->max, 0))
		return -FI_EAGAIN;
	eng_recv_set_state(recv, ENG_RECV_POSTED);
	match_post(m, &recv->m);
	rxc->posted++;
	if (__builtin_expect(recv->sink.name.peer != NULL, 0))
		eng_peer_probe(recv->sink.name.peer);
	return 0;
}

/* Fill a buffer that was just posted with what has come already.  A shortage of
 * memory half way closes it early: a message that is left behind must not be
 * overtaken by the next one.
 */
static int serve_multi(struct eng_recv *recv, struct match *m)
{
	struct eng_out *ctls[3];
	struct eng_recv *part;
	struct match_msg *found;
	struct eng_msg *msg;
	bool last, any = false;

	while ((found = match_find_msg(m, recv->m.tag, recv->m.ignore, recv->m.src))) {
		msg = container_of(found, struct eng_msg, m);
		if (!eng_recv_ctl_get(recv->ep->grp, &msg->env, ctls))
			break;
		part = eng_mrecv_part(recv, msg->env.len);
		if (!part) {
			eng_recv_ctl_put(ctls);
			break;
		}
		any = true;
		last = recv->state == ENG_RECV_CLOSING;
		eng_unexp_take(part, msg, ctls);
		if (last)
			return 0;
	}
	if (!found)
		return 0;
	match_unpost(m, &recv->m);
	recv->rxc->posted--;
	if (!any)
		return -FI_EAGAIN;
	eng_mrecv_close(recv);
	return 0;
}

/* Take the oldest message that fits, or wait for one. */
static int recv_serve(struct eng_recv *recv, struct match *m)
{
	struct eng_out *ctls[3];
	struct match_msg *found;
	struct eng_msg *msg;

	while ((found = match_find_msg(m, recv->m.tag, recv->m.ignore, recv->m.src))) {
		msg = container_of(found, struct eng_msg, m);
		if (!eng_recv_ctl_get(recv->ep->grp, &msg->env, ctls))
			return -FI_EAGAIN;
		if (!eng_unexp_take(recv, msg, ctls))
			return 0;
	}
	return recv_keep(recv, m);
}

/* A claimed message is out of the matcher: it is found by the context of the peek. */
/* Receive what an earlier peek has claimed. */
static int serve_claim(struct eng_recv *recv)
{
	struct eng_msg *msg = eng_unexp_claimed(recv->rxc, recv->context);
	struct eng_out *ctls[3];

	if (!msg)
		return -FI_EINVAL;
	if (!eng_recv_ctl_get(recv->ep->grp, &msg->env, ctls))
		return -FI_EAGAIN;
	return eng_unexp_take(recv, msg, ctls);
}

static void as_work(struct eng_recv *recv, uint64_t flags)
{
	recv->trig = eng_trig_work(recv->ep->grp, flags, &recv->quiet);
	recv->want_comp = recv->want_comp && !recv->quiet;
}

static __attribute__((noinline)) int recv_post_locked(struct eng_ep *ep, const struct call *c)
{
	struct match *m = eng_rxc_match(ep->rxc, c->tagged);
	struct eng_recv *recv = eng_recv_get(ep->grp);
	int ret = 0;

	if (!recv)
		return -FI_EAGAIN;
	recv_fill(recv, ep, c);
	if (__builtin_expect(c->flags & ENG_OP_WORK, 0))
		as_work(recv, c->flags);
	if (__builtin_expect(c->desc != NULL, 0) && !eng_dev_describe(recv, c->desc, c->cnt))
		ret = -FI_EAGAIN;
	if (__builtin_expect(ep->directed && c->src != FI_ADDR_UNSPEC, 0) && !ret)
		ret = recv_direct(recv, c->src);
	if (__builtin_expect(ret, 0))
		goto out;
	if (__builtin_expect(c->flags & (FI_CLAIM | FI_MULTI_RECV), 0)) {
		if (c->flags & FI_CLAIM) {
			recv->multi = false;
			ret = serve_claim(recv);
		} else {
			ret = recv_keep(recv, m);
			if (!ret)
				ret = serve_multi(recv, m);
		}
	} else {
		ret = __builtin_expect(m->msg_cnt, 0) ? recv_serve(recv, m) : recv_keep(recv, m);
	}
out:
	if (__builtin_expect(ret, 0))
		eng_recv_free(recv);
	return ret;
}

/* A peek posts nothing: the receive is a model of what to look for, on the stack. */
static int peek_locked(struct eng_ep *ep, const struct call *c)
{
	struct eng_recv model;
	int ret = 0;

	recv_fill(&model, ep, c);
	if (ep->directed && c->src != FI_ADDR_UNSPEC)
		ret = recv_direct(&model, c->src);
	if (!ret)
		ret = eng_peek(&model, eng_rxc_match(ep->rxc, c->tagged), c->flags);
	if (model.sink.name.peer)
		eng_peer_unref(model.sink.name.peer);
	return ret;
}

static __attribute__((noinline)) ssize_t recv_post(struct eng_ep *ep, const struct call *c)
{
	int ret = recv_refuse(ep, c);

	if (__builtin_expect(ret, 0))
		return ret;
	lock_get(&ep->base.prog->lock);
	if (__builtin_expect(c->flags & (FI_PEEK | FI_DISCARD), 0))
		ret = peek_locked(ep, c);
	else
		ret = recv_post_locked(ep, c);
	lock_put(&ep->base.prog->lock);
	return ret;
}

/* post_simple - one buffer that waits for one message, which has not come yet: most
 * receives.  Returns false if it is not so simple; then nothing has been done.
 * @directed: known where it is called: it names a source
 */
static inline __attribute__((always_inline)) bool
post_simple(struct eng_ep *ep, const struct call *c, const bool directed)
{
	struct eng_rxc *rxc = ep->rxc;
	struct eng_peer *peer = NULL;
	struct match *m;
	struct eng_recv *recv = NULL;
	int ret;

	lock_get(&ep->base.prog->lock);
	m = eng_rxc_match(rxc, c->tagged);
	if (directed)
		peer = eng_peer_get(ep->hub, c->src, &ret);
	if (__builtin_expect(!m->msg_cnt && rxc->posted < rxc->max &&
			     obj_cm_state(&ep->base) != OBJ_CM_SHUT &&
			     (!directed || (peer && !(peer->slow & ENG_PEER_LOST))), 1))
		recv = eng_recv_fast_get(ep->grp);
	if (__builtin_expect(recv != NULL, 1)) {
		name_call(recv, ep, c);
		if (directed)
			recv_aim(recv, peer);
		recv->iov[0] = *c->iov;
		recv->room = c->iov->iov_len;
		eng_recv_set_state(recv, ENG_RECV_POSTED);
		match_post(m, &recv->m);
		rxc->posted++;
	}
	lock_put(&ep->base.prog->lock);
	return recv != NULL;
}

static __attribute__((noinline)) ssize_t
recv_post_buf(struct eng_ep *ep, void *buf, size_t len, fi_addr_t src, uint64_t tag, uint64_t ignore,
	      uint64_t flags, void *context, bool tagged)
{
	struct iovec iov = { buf, len };
	struct call c = { &iov, 1, src, tag, ignore, flags, context, tagged, NULL };

	return recv_post(ep, &c);
}

/* post_one - one buffer.  One that is longer than half of the address space is for recv_post() to refuse.
 * @directed: known where it is called: @src is a source
 */
static inline __attribute__((always_inline)) ssize_t
post_one(struct eng_ep *ep, void *buf, size_t len, fi_addr_t src, uint64_t tag, uint64_t ignore,
	 uint64_t flags, void *context, bool tagged, const bool directed)
{
	struct iovec iov = { buf, len };
	struct call c = { &iov, 1, src, tag, ignore, flags, context, tagged, NULL };

	PROBE2(post_recv, ep, tag);
	if (__builtin_expect(!(flags & FI_MULTI_RECV) && (ssize_t) len >= 0 && !ep->rx_ret && post_simple(ep, &c, directed), 1))
		return 0;
	return recv_post_buf(ep, buf, len, src, tag, ignore, flags, context, tagged);
}

static inline bool is_directed(const struct eng_ep *ep, fi_addr_t src)
{
	return ep->directed && src != FI_ADDR_UNSPEC;
}

/* ---- the calls -------------------------------------------------------------- */

/* Default flags for calls without; a buffer for many tagged messages has to be
 * asked for by its own capability.
 */
static inline uint64_t msg_flags(struct fid_ep *fid)
{
	return obj_ep_handle_of(fid)->rx_op_flags;
}

static inline uint64_t tagged_flags(struct fid_ep *fid)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);

	return h->ep->caps & FI_TAGGED_MULTI_RECV ? h->rx_op_flags :
	       h->rx_op_flags & ~FI_MULTI_RECV;
}

static inline struct call call_of_msg(const struct fi_msg_tagged *msg, uint64_t flags, bool tagged)
{
	return (struct call) { msg->msg_iov, msg->iov_count, msg->addr, msg->tag, msg->ignore,
			       flags, msg->context, tagged, NULL };
}

/* recv_seldom - of @msg with FI_TRIGGER, or with FI_AUTH_KEY: from all that have the key, which are all peers. */
static __attribute__((noinline)) ssize_t recv_seldom(struct fid_ep *fid, const struct fi_msg_tagged *msg,
						     uint64_t flags, bool tagged)
{
	struct call c = call_of_msg(msg, flags & ~FI_AUTH_KEY, tagged);

	if (flags & FI_TRIGGER)
		return eng_trig_msg(fid, tagged ? FI_OP_TRECV : FI_OP_RECV, msg, flags);
	if (c.flags & ~RECV_FLAGS)
		return -FI_EBADFLAGS;
	if (!obj_keys_in_av(eng_ep_of(fid)->base.domain) || c.src != OBJ_AV_KEY_ADDR)
		return -FI_EINVAL;
	c.src = FI_ADDR_UNSPEC;
	return recv_post(eng_ep_of(fid), &c);
}

static inline ssize_t recv_post_msg(struct fid_ep *fid, const struct fi_msg_tagged *msg,
				    uint64_t flags, bool tagged)
{
	struct call c = call_of_msg(msg, flags, tagged);

	if (__builtin_expect((flags & (FI_TRIGGER | FI_AUTH_KEY)) != 0, 0))
		return recv_seldom(fid, msg, flags, tagged);
	if (flags & ~RECV_FLAGS)
		return -FI_EBADFLAGS;
	PROBE2(post_recv, eng_ep_of(fid), c.tag);
	return recv_post(eng_ep_of(fid), &c);
}

/* The two ways of a call, with its own parameters, so that it needs no stack to go on there. */
static __attribute__((noinline)) ssize_t recv_any(struct fid_ep *ep, void *buf, size_t len, void *desc,
						  fi_addr_t src, void *context)
{
	return post_one(eng_ep_of(ep), buf, len, src, 0, 0, msg_flags(ep), context, false, false);
}

static __attribute__((noinline)) ssize_t recv_from(struct fid_ep *ep, void *buf, size_t len, void *desc,
						   fi_addr_t src, void *context)
{
	return post_one(eng_ep_of(ep), buf, len, src, 0, 0, msg_flags(ep), context, false, true);
}

static __attribute__((noinline)) ssize_t trecv_any(struct fid_ep *ep, void *buf, size_t len, void *desc,
						   fi_addr_t src, uint64_t tag, uint64_t ignore,
						   void *context)
{
	return post_one(eng_ep_of(ep), buf, len, src, tag, ignore, tagged_flags(ep), context, true, false);
}

static __attribute__((noinline)) ssize_t trecv_from(struct fid_ep *ep, void *buf, size_t len, void *desc,
						    fi_addr_t src, uint64_t tag, uint64_t ignore,
						    void *context)
{
	return post_one(eng_ep_of(ep), buf, len, src, tag, ignore, tagged_flags(ep), context, true, true);
}

ssize_t eng_recv_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
		      void *context)
{
	return is_directed(eng_ep_of(ep), src) ? recv_from(ep, buf, len, desc, src, context) :
						 recv_any(ep, buf, len, desc, src, context);
}

ssize_t eng_recv_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
		       fi_addr_t src, void *context)
{
	struct call c = { iov, cnt, src, 0, 0, msg_flags(ep), context, false, NULL };

	PROBE2(post_recv, eng_ep_of(ep), c.tag);
	return recv_post(eng_ep_of(ep), &c);
}

ssize_t eng_recv_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct fi_msg_tagged tagged = eng_op_msg(msg);

	return recv_post_msg(ep, &tagged, flags, false);
}

ssize_t eng_recv_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
		       uint64_t tag, uint64_t ignore, void *context)
{
	return is_directed(eng_ep_of(ep), src) ?
	       trecv_from(ep, buf, len, desc, src, tag, ignore, context) :
	       trecv_any(ep, buf, len, desc, src, tag, ignore, context);
}

ssize_t eng_recv_trecvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			fi_addr_t src, uint64_t tag, uint64_t ignore, void *context)
{
	struct call c = { iov, cnt, src, tag, ignore, tagged_flags(ep), context, true, NULL };

	PROBE2(post_recv, eng_ep_of(ep), c.tag);
	return recv_post(eng_ep_of(ep), &c);
}

ssize_t eng_recv_trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return recv_post_msg(ep, msg, flags, true);
}

ssize_t eng_dev_recv(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags,
		     bool tagged)
{
	struct call c = call_of_msg(msg, flags, tagged);

	c.desc = msg->desc;
	return flags & ~RECV_FLAGS ? -FI_EBADFLAGS : recv_post(eng_ep_of(fid), &c);
}

int eng_recv_start(struct eng_ep *ep, const struct eng_op *op)
{
	struct call c = call_of_msg(&op->msg, op->flags, op->type == FI_OP_TRECV);
	int ret;

	if (obj_mr_device_any(op->msg.desc, op->msg.iov_count))
		c.desc = op->msg.desc;
	ret = op->flags & ~(RECV_FLAGS | ENG_OP_WORK) ? -FI_EBADFLAGS : recv_refuse(ep, &c);

	return ret ? ret : recv_post_locked(ep, &c);
}
