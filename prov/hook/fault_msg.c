/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The calls that send a datagram: its fate is drawn, and what the provider is not given
 * as it stands is copied.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/iov.h"
#include "fault.h"

#define AGAIN_NS CLOCK_NS_PER_MS	/* when the provider has no room */
#define LATE_MAX 65536			/* more of an endpoint's than that are lost */
#define FATE_COPY (1u << 8)		/* nothing happens to it, but it is not first */

/* ---- copies -------------------------------------------------------------------------- */

static const struct fi_ops_msg *provider(struct fault_ep *ep)
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

/* Too long for an inject: the provider has it until it tells us on the queue. */
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
	ret = provider(ep)->sendmsg(ep->ep, &msg, FI_COMPLETION |
				    (copy->has_data ? FI_REMOTE_CQ_DATA : 0));
	if (!ret)
		list_add_tail(&copy->node, &ep->cq->out);
	return ret;
}

static ssize_t send_to(struct fault_ep *ep, struct fault_copy *copy, fi_addr_t to)
{
	if (copy->len > ep->inject_max)
		return send_long(ep, copy, to);
	if (copy->has_data)
		return provider(ep)->injectdata(ep->ep, copy->bytes, copy->len, copy->data, to);
	return provider(ep)->inject(ep->ep, copy->bytes, copy->len, to);
}

/* The program may have removed the address meanwhile, and another may stand there. */
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

/* Returns false when the provider has no room, and the copy waits. */
static bool leaves(struct fault_ep *ep, struct fault_copy *copy, uint64_t now)
{
	ssize_t ret = send_copy(ep, copy);

	if (ret == -FI_EAGAIN) {
		copy->due_ns = now + AGAIN_NS;
		list_add_head(&copy->node, &ep->late);
		return false;
	}
	ep->late_cnt--;
	if (!ret && ep->cntr)
		fi_cntr_add(ep->cntr, (uint64_t) -1);	/* the program's was counted */
	if (list_empty(&copy->node))
		fault_copy_free(copy);
	return true;
}

static struct fault_copy *first(const struct fault_ep *ep)
{
	return container_of(ep->late.next, struct fault_copy, node);
}

void fault_send_late(struct fault_dom *dom)
{
	uint64_t now = clock_ns();
	struct fault_copy *copy;
	struct fault_ep *ep;
	struct list *at;

	for (at = dom->eps.next; at != &dom->eps; at = at->next) {
		ep = container_of(at, struct fault_ep, node);
		while (!list_empty(&ep->late) && first(ep)->due_ns <= now) {
			copy = first(ep);
			list_del(&copy->node);
			if (!leaves(ep, copy, now))
				break;
		}
	}
}

uint64_t fault_due(const struct fault_dom *dom)
{
	uint64_t due = UINT64_MAX;
	struct fault_ep *ep;
	struct list *at;

	for (at = dom->eps.next; at != &dom->eps; at = at->next) {
		ep = container_of(at, struct fault_ep, node);
		if (!list_empty(&ep->late) && first(ep)->due_ns < due)
			due = first(ep)->due_ns;
	}
	return due;
}

/* ---- fates --------------------------------------------------------------------------- */

static void goes(struct fault_ep *ep, struct fault_copy *copy, uint64_t due)
{
	if (ep->late_cnt >= LATE_MAX) {
		fault_copy_free(copy);
		return;
	}
	copy->due_ns = due;
	list_add_tail(&copy->node, &ep->late);
	ep->late_cnt++;
}

static void flip_a_bit(struct fault_ep *ep, struct fault_copy *copy)
{
	size_t room = copy->len - ep->prefix;

	if (copy->len > ep->prefix)
		copy->bytes[ep->prefix + fate_rnd(&ep->dice, room)] ^=
			(uint8_t) (1 << fate_rnd(&ep->dice, 8));
}

/* meet - @copy and its double, either may be NULL, on their way. */
static void meet(struct fault_ep *ep, unsigned fate, struct fault_copy *copy,
		 struct fault_copy *twin)
{
	uint64_t due = clock_ns() + (uint64_t) (ep->dice.delay * (double) CLOCK_NS_PER_MS);
	struct fault_copy *held = ep->held;

	if (copy && fate & FATE_CORRUPT)
		flip_a_bit(ep, copy);
	if (copy && fate & FATE_HOLD && !held) {
		ep->held = copy;
		copy = NULL;
	}
	if (copy)
		goes(ep, copy, due);
	if (twin)
		goes(ep, twin, due);
	if (held && copy) {
		ep->held = NULL;
		goes(ep, held, due);
	}
}

static bool wants_completion(const struct fault_ep *ep, uint64_t flags)
{
	return ep->cq && (!ep->selective || flags & FI_COMPLETION);
}

/* fated - the datagram does not go to the provider as it stands.
 * Returns 0; -FI_EAGAIN: no memory.
 */
static ssize_t fated(struct fault_ep *ep, unsigned fate, const struct fi_msg *msg,
		     uint64_t flags, bool completes)
{
	struct fault_copy *copy = NULL, *twin = NULL;
	struct fault_owed *owed = NULL;

	if (completes) {
		owed = calloc(1, sizeof(*owed));
		if (!owed)
			return -FI_EAGAIN;
		owed->context = msg->context;
	}
	if (!(fate & FATE_DROP)) {
		copy = copy_of(ep, msg, flags);
		twin = fate & FATE_DUP ? copy_of(ep, msg, flags) : NULL;
	}
	if (!(fate & FATE_DROP) && (!copy || (fate & FATE_DUP && !twin))) {
		free(copy);
		free(twin);
		free(owed);
		return -FI_EAGAIN;
	}
	if (ep->cntr)
		fi_cntr_add(ep->cntr, 1);
	meet(ep, fate, copy, twin);
	if (owed)
		fault_owe(ep, owed);
	fault_send_late(ep->dom);
	fault_wake(ep->dom);
	return 0;
}

static unsigned draw(struct fault_ep *ep)
{
	unsigned fate = fate_draw(&ep->dice);

	return fate == FATE_SEND && (ep->held || !list_empty(&ep->late) || ep->dice.delay > 0) ?
	       FATE_COPY : fate;
}

/* known - is it a datagram that could be sent?  The provider says what is wrong else. */
static bool known(struct fault_ep *ep, const struct fi_msg *msg)
{
	uint8_t addr[FAULT_ADDR_MAX];
	size_t len = sizeof(addr);

	return ep->av && iov_total(msg->msg_iov, msg->iov_count) <= ep->dgram_max &&
	       !fi_av_lookup(ep->av, msg->addr, addr, &len) && len <= sizeof(addr);
}

/* ---- the calls ------------------------------------------------------------------------- */

/* send_msg - all of them, as a sendmsg.  A burst is sent one by one: its last may get
 * lost, and the others would wait for it.
 */
static ssize_t send_msg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags,
			bool completes)
{
	struct fault_ep *ep = fault_ep_of(fid);
	unsigned fate = FATE_SEND;
	ssize_t ret;

	pthread_mutex_lock(&ep->dom->lock);
	if (known(ep, msg))
		fate = draw(ep);
	ret = fate == FATE_SEND ? provider(ep)->sendmsg(fid, msg, flags & ~FI_MORE) :
				  fated(ep, fate, msg, flags, completes);
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

/* An inject has no completion, which no flag of a sendmsg says where all others have one:
 * so these two are passed on by their own name.
 */
static ssize_t inject(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
		      uint64_t flags, fi_addr_t dest)
{
	struct fault_ep *ep = fault_ep_of(fid);
	struct iovec iov = { (void *) buf, len };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = dest, .data = data };
	unsigned fate = FATE_SEND;
	ssize_t ret;

	pthread_mutex_lock(&ep->dom->lock);
	if (known(ep, &msg) && len <= ep->inject_max)
		fate = draw(ep);
	if (fate != FATE_SEND)
		ret = fated(ep, fate, &msg, flags, false);
	else if (flags)
		ret = provider(ep)->injectdata(fid, buf, len, data, dest);
	else
		ret = provider(ep)->inject(fid, buf, len, dest);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static ssize_t fault_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest)
{
	return inject(ep, buf, len, 0, 0, dest);
}

static ssize_t fault_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				fi_addr_t dest)
{
	return inject(ep, buf, len, data, FI_REMOTE_CQ_DATA, dest);
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
