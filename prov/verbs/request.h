/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * request.h - what all data calls share.  Each fills in a struct request and calls request_post(), which
 * finds a slot in the ring and builds the request.  The device completes requests in order, so
 * the ring needs no more than a head and a tail.
 *
 * All functions are inline: @dgram and @device are constants of each caller, so that a connected
 * endpoint with memory of the host pays for neither.
 *
 * Threading: post_any() and request_post() take the lock of the progress group; request_prepare() and post_locked()
 * need it; the others touch the request alone.
 * Ownership: until a call returns 0 the buffers are the program's; then they are the device's until
 * the completion, but for inline data and what was copied to scratch.
 */
#ifndef VRB_REQUEST_H
#define VRB_REQUEST_H

#include <rdma/fi_errno.h>
#include <string.h>

#include "base/iov.h"

#include "dgram.h"
#include "ep.h"

#define MSG_FLAGS (FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
		   FI_REMOTE_CQ_DATA | FI_FENCE | FI_MORE)

/* A data call before it has a slot in the ring. */
struct request {
	struct vrb_wr wr;		/* as the device gets it */
	struct ibv_sge sge[VRB_IOV_MAX];	/* wr.sge */
	size_t len;			/* sum over @sge */
	void *context;			/* op_context of the completion */
	uint64_t flags;			/* of the call, or the endpoint's defaults */
	uint64_t comp;			/* flags of the completion */
	enum obj_ep_cntr cntr;		/* counter of successes */
	bool want;			/* a success is reported in the completion queue */
	/* Only of requests with memory of a device: their buffers, with the regions. */
	const struct obj_mr_list *list;
};

/* vrb_stage - copy a request's memory of a device to the scratch of its slot, as use_scratch() does
 * for memory of the host.  Errors: -FI_EOPNOTSUPP it cannot be copied, or CUDA may not be called;
 * the device's.   Threading: locked.
 */
int vrb_stage(struct vrb_ep *ep, struct request *c);

/* lkey_of - of the region whose fi_mr_desc() is @desc; data that is inline needs none. */
static inline uint32_t lkey_of(const void *desc)
{
	return desc ? ((const struct ibv_mr *) desc)->lkey : 0;
}

/* set_buf - the data is one buffer. */
static inline void set_buf(struct request *c, const void *buf, size_t len, void *desc)
{
	c->sge[0] = (struct ibv_sge) { (uintptr_t) buf, (uint32_t) len, lkey_of(desc) };
	c->wr.sge = c->sge;
	c->wr.sge_cnt = 1;
	c->len = len;
}

/* set_iov - the data is a list of buffers.
 * @desc: a descriptor for each, or NULL: none has one, so the data must be inline or injected
 * Errors: -FI_EINVAL: more than VRB_IOV_MAX, or they reach beyond the address space.
 */
static inline int set_iov(struct request *c, const struct iovec *iov, void **desc, size_t cnt)
{
	size_t i;

	if (cnt > VRB_IOV_MAX)
		return -FI_EINVAL;
	c->len = iov_asked(iov, cnt);
	if (__builtin_expect(c->len == SIZE_MAX, 0))
		return -FI_EINVAL;
	for (i = 0; i < cnt; i++)
		c->sge[i] = (struct ibv_sge) { (uintptr_t) iov[i].iov_base,
					       (uint32_t) iov[i].iov_len,
					       lkey_of(desc ? desc[i] : NULL) };
	c->wr.sge = c->sge;
	c->wr.sge_cnt = (unsigned) cnt;
	return 0;
}

/* scratch_of - memory of the next slot of the ring; it is free until that slot is. */
static inline char *scratch_of(const struct vrb_ep *ep)
{
	return ep->scratch + (size_t) (ep->tx_tail & ep->tx_mask) * ep->stride;
}

/* use_scratch - data that does not fit inline is copied to registered memory of the endpoint, so
 * that the buffers are free on return.  The slot keeps it until the request completes.
 */
static inline void use_scratch(struct vrb_ep *ep, struct request *c)
{
	char *copy = scratch_of(ep);
	unsigned i;
	size_t at = 0;

	for (i = 0; i < c->wr.sge_cnt; i++) {
		memcpy(copy + at, (void *) (uintptr_t) c->sge[i].addr, c->sge[i].length);
		at += c->sge[i].length;
	}
	c->sge[0] = (struct ibv_sge) { (uintptr_t) copy, (uint32_t) at, ep->scratch_mr->lkey };
	c->wr.sge_cnt = 1;
}

/* carries_data - may data of this operation be inline?  That of reads and atomics is written by the
 * device.
 */
static inline bool carries_data(enum vrb_op op)
{
	return op <= VRB_OP_WRITE_IMM;
}

/* must_signal - a completion retires all requests before it.  Of those that are not reported, one in
 * tx_unsignalled_max is signalled, so that the ring does not fill up.
 */
static inline bool must_signal(const struct vrb_ep *ep, bool want, enum obj_ep_cntr cntr)
{
	return __builtin_expect(want, 1) || cntr == OBJ_CNTR_NONE || ep->base.cntrs[cntr] ||
	       ep->tx_unsignalled >= ep->tx_unsignalled_max;
}

/* advance_tail - the request has its slot in the ring, and the device has it, or gets it with the
 * next ring of the doorbell.   @signalled: a completion will retire it and all before it
 */
static inline void advance_tail(struct vrb_ep *ep, bool signalled)
{
	ep->tx_tail++;
	ep->tx_unsignalled = signalled ? 0 : ep->tx_unsignalled + 1;
}

/* request_prepare - check that the request can be posted, and set its flags.
 * @device: a constant of the caller: c->list has memory of a device, which is never inline
 * Errors: -FI_ENOTCONN, -FI_EOPBADSTATE: not enabled; -FI_EAGAIN: the ring is full; with @device
 *         those of vrb_stage().
 */
static inline int request_prepare(struct vrb_ep *ep, struct request *c, const bool device)
{
	int ret;

	if (__builtin_expect(!vrb_connected(ep), 0))
		return ep->tx ? -FI_ENOTCONN : -FI_EOPBADSTATE;
	if (ep->tx_tail - ep->tx_head >= ep->tx_depth)
		return -FI_EAGAIN;
	if (device) {
		ret = c->flags & FI_INJECT ? vrb_stage(ep, c) : 0;
		if (ret)
			return ret;
	} else if (carries_data(c->wr.op) && c->len <= ep->max_inline) {
		c->wr.flags |= IBV_SEND_INLINE;
	} else if (c->flags & FI_INJECT) {
		use_scratch(ep, c);
	}
	if (c->flags & FI_FENCE)
		c->wr.flags |= IBV_SEND_FENCE;
	if (must_signal(ep, c->want, c->cntr))
		c->wr.flags |= IBV_SEND_SIGNALED;
	return 0;
}

/* post_locked - take a slot, build the request, ring the doorbell unless more follow (FI_MORE).
 * Errors: those of request_prepare() and of the device; nothing has changed then.
 */
static inline int post_locked(struct vrb_ep *ep, struct request *c, const bool device)
{
	struct vrb_tx *tx = &ep->tx[ep->tx_tail & ep->tx_mask];
	int ret = request_prepare(ep, c, device);

	if (__builtin_expect(ret, 0))
		return ret;
	tx->context = c->context;
	tx->flags = (uint32_t) c->comp;
	tx->at = ep->tx_tail;
	tx->len = (uint32_t) c->len;
	tx->cntr = (uint8_t) c->cntr;
	tx->want = c->want;
	c->wr.wr_id = (uintptr_t) tx;
	ret = ep->sq.ops->build(&ep->sq, &c->wr);
	if (__builtin_expect(ret, 0))
		return ret;
	advance_tail(ep, c->wr.flags & IBV_SEND_SIGNALED);
	if (!(c->flags & FI_MORE))
		ep->sq.ops->ring(&ep->sq);
	return 0;
}

/* post_memory - post a request; when there is no room, poll and try once more.
 * @dgram, @device: constants of the caller; @dest is used for datagrams only
 * Errors: -FI_EOPBADSTATE: not enabled; -FI_EMSGSIZE; those of post_locked() and of resolving @dest.
 * Nothing was posted then, but requests with FI_MORE before it are with the device.
 */
static inline ssize_t post_memory(struct vrb_ep *ep, struct request *c, fi_addr_t dest,
				  const bool dgram, const bool device)
{
	struct obj_prog *prog = ep->base.prog;
	size_t max = c->flags & FI_INJECT ? ep->inject_size : ep->base.info->ep_attr->max_msg_size;
	int ret = 0, to = 0;

	if (__builtin_expect(!prog, 0))
		return -FI_EOPBADSTATE;
	lock_get(&prog->lock);
	if (__builtin_expect(c->len > max, 0))
		ret = -FI_EMSGSIZE;
	else if (dgram)
		ret = to = vrb_dgram_to(ep, dest, &c->wr);
	if (__builtin_expect(!ret, 1))
		ret = post_locked(ep, c, device);
	if (__builtin_expect(ret, 0)) {
		/* Requests with FI_MORE wait for this one: ring the doorbell for them.  Completions
		 * make room for one more try.
		 */
		if (ep->qp)
			ep->sq.ops->ring(&ep->sq);
		if (ret == -FI_EAGAIN && vrb_poller_run(ep->poller, OBJ_POLL_BUDGET) && !to)
			ret = post_locked(ep, c, device);
	}
	lock_put(&prog->lock);
	return ret;
}

/* post_any - the same of a request with memory of the host. */
static inline ssize_t post_any(struct vrb_ep *ep, struct request *c, fi_addr_t dest,
			       const bool dgram)
{
	return post_memory(ep, c, dest, dgram, false);
}

/* request_post - the same of a connected endpoint. */
static inline ssize_t request_post(struct vrb_ep *ep, struct request *c)
{
	return post_any(ep, c, FI_ADDR_UNSPEC, false);
}

/* with_defaults - a call without a flags parameter: the defaults of the handle.
 * FI_REMOTE_CQ_DATA is not one of them: the call has data, or not.
 */
static inline void with_defaults(struct request *c, struct fid_ep *fid, void *context)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);

	c->context = context;
	c->flags = h->tx_op_flags & ~FI_REMOTE_CQ_DATA;
	c->want = obj_ep_want_tx_comp(h->ep, h->tx_op_flags);
	/* FI_INJECT as a default applies to what fits. */
	if ((c->flags & FI_INJECT) && c->len > container_of(h->ep, struct vrb_ep, base)->inject_size)
		c->flags &= ~FI_INJECT;
}

/* with_flags - a call with a flags parameter, which replaces the defaults of the handle.
 * Errors: -FI_EBADFLAGS.
 */
static inline int with_flags(struct request *c, struct fid_ep *fid, void *context, uint64_t flags)
{
	if (flags & ~(uint64_t) MSG_FLAGS)
		return -FI_EBADFLAGS;
	c->context = context;
	c->flags = flags;
	c->want = obj_ep_want_tx_comp(obj_ep_of(fid), flags);
	return 0;
}

/* with_cq_data - add remote CQ data.  Only for operations that have such a form: sends and writes. */
static inline void with_cq_data(struct request *c, uint64_t data)
{
	c->wr.op++;	/* enum vrb_op: each form with data follows the one without */
	c->wr.imm = (uint32_t) data;
}

/* REQUEST - declare a request.  Members that every call sets are left out, and the array of entries
 * is not cleared, which would cost more than posting it.
 */
#define REQUEST(name, op_, comp_, cntr_)						\
	struct request name;							\
	name.wr.op = (op_);							\
	name.wr.flags = 0;							\
	name.wr.imm = 0;							\
	name.comp = (comp_);							\
	name.cntr = (cntr_)

/* as_inject - fi_inject() and the like: the message is counted, but has no completion. */
static inline void as_inject(struct request *c, const void *buf, size_t len)
{
	set_buf(c, buf, len, NULL);
	c->context = NULL;
	c->flags = FI_INJECT;
	c->want = false;
}

#endif
