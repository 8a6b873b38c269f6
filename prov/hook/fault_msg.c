/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The calls that send a datagram.  Each chooses the impairments of its datagram; a datagram
 * that is not passed on at once is copied.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/iov.h"
#include "fault.h"

#define RETRY_NS CLOCK_NS_PER_MS	/* until the next attempt when the provider returns -FI_EAGAIN */
#define DELAYED_MAX 65536			/* further copies of an endpoint are dropped */
#define IMPAIR_COPY (1u << 8)		/* no impairment, but earlier copies wait: keep the order */

/* ---- copies -------------------------------------------------------------------------- */

static const struct fi_ops_msg *real_msg_ops(struct fault_ep *ep)
{
	return hook_table_of(ep->ep->msg)->real;
}

void fault_copy_free(struct fault_copy *copy)
{
	if (copy && copy->mr)
		fi_close(&copy->mr->fid);
	free(copy);
}

static struct fault_copy *copy_of(struct fault_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	size_t len = iov_total(msg->msg_iov, msg->iov_count);
	struct fault_copy *copy = malloc(sizeof(*copy) + len);

	if (!copy)
		return NULL;
	list_init(&copy->node);
	copy->mr = NULL;
	copy->len = len;
	copy->to = msg->addr;
	copy->data = msg->data;
	copy->has_data = flags & FI_REMOTE_CQ_DATA;
	copy->addr_len = sizeof(copy->addr);
	iov_gather(msg->msg_iov, msg->iov_count, 0, copy->bytes, len);
	if (!fi_av_lookup(ep->av, msg->addr, copy->addr, &copy->addr_len))
		return copy;
	free(copy);
	return NULL;
}

/* Too long for an inject: the provider owns the copy until its completion (fault_cq.c). */
static ssize_t send_long(struct fault_ep *ep, struct fault_copy *copy, fi_addr_t to)
{
	struct iovec iov = { copy->bytes, copy->len };
	struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = to, .context = copy, .data = copy->data,
	};
	void *desc = NULL;
	ssize_t ret;

	if (!ep->cq)
		return -FI_ENOSYS;
	if (ep->dom->registers && !copy->mr) {
		ret = fi_mr_reg(ep->dom->domain, copy->bytes, copy->len, FI_SEND, 0, 0, 0,
				&copy->mr, NULL);
		if (ret)
			return ret;
	}
	desc = copy->mr ? fi_mr_desc(copy->mr) : NULL;
	msg.desc = &desc;
	ret = real_msg_ops(ep)->sendmsg(ep->ep, &msg, FI_COMPLETION |
					(copy->has_data ? FI_REMOTE_CQ_DATA : 0));
	if (!ret)
		list_add_tail(&copy->node, &ep->cq->copies);
	return ret;
}

static ssize_t send_to(struct fault_ep *ep, struct fault_copy *copy, fi_addr_t to)
{
	if (copy->len > ep->inject_max)
		return send_long(ep, copy, to);
	if (copy->has_data)
		return real_msg_ops(ep)->injectdata(ep->ep, copy->bytes, copy->len, copy->data, to);
	return real_msg_ops(ep)->inject(ep->ep, copy->bytes, copy->len, to);
}

/* The program may have removed the address since, and its index may now be another peer's. So
 * the address is compared, and inserted again for this send if it differs.
 */
static ssize_t send_copy(struct fault_ep *ep, struct fault_copy *copy)
{
	uint8_t addr[FAULT_ADDR_MAX];
	size_t len = sizeof(addr);
	fi_addr_t to;
	ssize_t ret;

	if (!fi_av_lookup(ep->av, copy->to, addr, &len) && len == copy->addr_len &&
	    !memcmp(addr, copy->addr, len))
		return send_to(ep, copy, copy->to);
	if (fi_av_insert(ep->av, copy->addr, 1, &to, 0, NULL) != 1)
		return -FI_EINVAL;
	ret = send_to(ep, copy, to);
	fi_av_remove(ep->av, &to, 1, 0);
	return ret;
}

/* Returns false when the provider returned -FI_EAGAIN and the copy waits for another attempt. */
static bool send_delayed(struct fault_ep *ep, struct fault_copy *copy, uint64_t now)
{
	ssize_t ret = send_copy(ep, copy);

	if (ret == -FI_EAGAIN) {
		copy->due_ns = now + RETRY_NS;
		list_add_head(&copy->node, &ep->delayed);
		return false;
	}
	ep->delayed_cnt--;
	if (!ret && ep->cntr)
		fi_cntr_add(ep->cntr, (uint64_t) -1);	/* the program's send was counted already */
	if (list_empty(&copy->node))
		fault_copy_free(copy);
	return true;
}

static struct fault_copy *first_delayed(const struct fault_ep *ep)
{
	return container_of(ep->delayed.next, struct fault_copy, node);
}

void fault_send_due(struct fault_dom *dom)
{
	uint64_t now = clock_ns();
	struct fault_copy *copy;
	struct fault_ep *ep;

	list_for_each_entry(ep, &dom->eps, node)
		while (!list_empty(&ep->delayed) && first_delayed(ep)->due_ns <= now) {
			copy = first_delayed(ep);
			list_del(&copy->node);
			if (!send_delayed(ep, copy, now))
				break;
		}
}

uint64_t fault_due(const struct fault_dom *dom)
{
	uint64_t due = UINT64_MAX;
	struct fault_ep *ep;

	list_for_each_entry(ep, &dom->eps, node)
		if (!list_empty(&ep->delayed) && first_delayed(ep)->due_ns < due)
			due = first_delayed(ep)->due_ns;
	return due;
}

/* ---- impairments -------------------------------------------------------------------- */

static void delay_until(struct fault_ep *ep, struct fault_copy *copy, uint64_t due)
{
	if (ep->delayed_cnt >= DELAYED_MAX) {
		fault_copy_free(copy);
		return;
	}
	copy->due_ns = due;
	list_add_tail(&copy->node, &ep->delayed);
	ep->delayed_cnt++;
}

static void flip_a_bit(struct fault_ep *ep, struct fault_copy *copy)
{
	size_t room = copy->len - ep->prefix;

	if (copy->len > ep->prefix)
		copy->bytes[ep->prefix + impair_random(&ep->impair, room)] ^=
			(uint8_t) (1 << impair_random(&ep->impair, 8));
}

/* schedule_copy - queue @copy and its duplicate (either may be NULL) for sending.
 *
 * A reordered datagram is held back until the next one has been queued before it.
 */
static void schedule_copy(struct fault_ep *ep, unsigned actions, struct fault_copy *copy,
		 struct fault_copy *dup)
{
	uint64_t due = clock_ns() + (uint64_t) (ep->impair.delay * (double) CLOCK_NS_PER_MS);
	struct fault_copy *held = ep->held;

	if (copy && actions & IMPAIR_CORRUPT)
		flip_a_bit(ep, copy);
	if (copy && actions & IMPAIR_REORDER && !held) {
		ep->held = copy;
		copy = NULL;
	}
	if (copy)
		delay_until(ep, copy, due);
	if (dup)
		delay_until(ep, dup, due);
	if (held && copy) {
		ep->held = NULL;
		delay_until(ep, held, due);
	}
}

static bool wants_completion(const struct fault_ep *ep, uint64_t flags)
{
	return ep->cq && (!ep->selective || flags & FI_COMPLETION);
}

/* send_impaired - handle a datagram that is not passed to the provider unchanged.
 *
 * All memory is allocated first, so that -FI_EAGAIN (no memory) leaves no trace.
 * Returns 0 or -FI_EAGAIN.
 */
static ssize_t send_impaired(struct fault_ep *ep, unsigned actions, const struct fi_msg *msg,
			     uint64_t flags, bool completes)
{
	struct fault_copy *copy = NULL, *dup = NULL;
	struct fault_comp *pending = NULL;

	if (completes) {
		pending = calloc(1, sizeof(*pending));
		if (!pending)
			return -FI_EAGAIN;
		pending->context = msg->context;
	}
	if (!(actions & IMPAIR_DROP)) {
		copy = copy_of(ep, msg, flags);
		dup = actions & IMPAIR_DUP ? copy_of(ep, msg, flags) : NULL;
	}
	if (!(actions & IMPAIR_DROP) && (!copy || (actions & IMPAIR_DUP && !dup))) {
		free(copy);
		free(dup);
		free(pending);
		return -FI_EAGAIN;
	}
	if (ep->cntr)
		fi_cntr_add(ep->cntr, 1);
	schedule_copy(ep, actions, copy, dup);
	if (pending)
		fault_complete(ep, pending);
	fault_send_due(ep->dom);
	fault_wake(ep->dom);
	return 0;
}

static unsigned next_actions(struct fault_ep *ep)
{
	unsigned actions = impair_next(&ep->impair);
	bool waits = ep->held || !list_empty(&ep->delayed) || ep->impair.delay > 0;

	return actions == IMPAIR_NONE && waits ? IMPAIR_COPY : actions;
}

/* is_sendable - true for a datagram that the provider would accept.  Others are passed on, so that
 * the provider reports the error.
 */
static bool is_sendable(struct fault_ep *ep, const struct fi_msg *msg)
{
	uint8_t addr[FAULT_ADDR_MAX];
	size_t len = sizeof(addr);

	return ep->av && iov_total(msg->msg_iov, msg->iov_count) <= ep->dgram_max &&
	       !fi_av_lookup(ep->av, msg->addr, addr, &len) && len <= sizeof(addr);
}

/* ---- the calls ------------------------------------------------------------------------- */

/* send_msg - all send calls but inject, as a sendmsg.
 *
 * FI_MORE is cleared: if the last datagram of a burst were dropped, the provider would keep the
 * others waiting for it.
 */
static ssize_t send_msg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags,
			bool completes)
{
	struct fault_ep *ep = fault_ep_of(fid);
	unsigned actions = IMPAIR_NONE;
	ssize_t ret;

	pthread_mutex_lock(&ep->dom->lock);
	if (is_sendable(ep, msg))
		actions = next_actions(ep);
	ret = actions == IMPAIR_NONE ? real_msg_ops(ep)->sendmsg(fid, msg, flags & ~FI_MORE) :
				  send_impaired(ep, actions, msg, flags, completes);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static ssize_t fault_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return send_msg(ep, msg, flags, wants_completion(fault_ep_of(ep), flags));
}

static ssize_t fault_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			   size_t count, fi_addr_t dest, void *context)
{
	struct fault_ep *ep = fault_ep_of(fid);
	struct fi_msg msg = {
		.msg_iov = iov, .desc = desc, .iov_count = count, .addr = dest, .context = context,
	};

	return send_msg(fid, &msg, ep->op_flags, wants_completion(ep, ep->op_flags));
}

static ssize_t fault_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			  fi_addr_t dest, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return fault_sendv(ep, &iov, &desc, 1, dest, context);
}

static ssize_t fault_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			      uint64_t data, fi_addr_t dest, void *context)
{
	struct fault_ep *ep = fault_ep_of(fid);
	struct iovec iov = { (void *) buf, len };
	struct fi_msg msg = {
		.msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = dest, .context = context,
		.data = data,
	};

	return send_msg(fid, &msg, ep->op_flags | FI_REMOTE_CQ_DATA,
			wants_completion(ep, ep->op_flags));
}

/* An inject never generates a completion.  A flag of sendmsg cannot say that for an endpoint
 * whose sends all complete, so inject and injectdata are passed on as such.
 */
static ssize_t send_inject(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
			   uint64_t flags, fi_addr_t dest)
{
	struct fault_ep *ep = fault_ep_of(fid);
	struct iovec iov = { (void *) buf, len };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = dest, .data = data };
	unsigned actions = IMPAIR_NONE;
	ssize_t ret;

	pthread_mutex_lock(&ep->dom->lock);
	if (is_sendable(ep, &msg) && len <= ep->inject_max)
		actions = next_actions(ep);
	if (actions != IMPAIR_NONE)
		ret = send_impaired(ep, actions, &msg, flags, false);
	else if (flags)
		ret = real_msg_ops(ep)->injectdata(fid, buf, len, data, dest);
	else
		ret = real_msg_ops(ep)->inject(fid, buf, len, dest);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static ssize_t fault_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest)
{
	return send_inject(ep, buf, len, 0, 0, dest);
}

static ssize_t fault_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				fi_addr_t dest)
{
	return send_inject(ep, buf, len, data, FI_REMOTE_CQ_DATA, dest);
}

const struct fi_ops_msg fault_msg_ops = {
	.size = sizeof(fault_msg_ops),
	.send = fault_send,
	.sendv = fault_sendv,
	.sendmsg = fault_sendmsg,
	.inject = fault_inject,
	.senddata = fault_senddata,
	.injectdata = fault_injectdata,
};
