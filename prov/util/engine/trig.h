/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * trig.h - operations that start when a counter has reached a value.
 *
 * Two ways in: a call with FI_TRIGGER, whose lists are copied, and FI_QUEUE_WORK,
 * whose structures stay the program's to keep.  Either waits as a threshold of the
 * counter and on its domain's list; the thread that moves the counter posts it to its
 * group's inbox, and the poll starts it like a call that was just made.
 *
 * Work has a separate counter for its end and reports nothing else unless it is
 * asked to; so the request carries it until then.
 */
#ifndef ENG_TRIG_H
#define ENG_TRIG_H

#include <rdma/fi_trigger.h>

#include "engine/ep.h"

struct eng_trig;

/* An operation as its message call has it; lists are pointed to. */
struct eng_op {
	enum fi_op_type type;
	uint64_t flags;			/* of the operation, ENG_OP_WORK */
	union {
		struct fi_msg_tagged msg;	/* send and receive, tagged or not */
		struct fi_msg_rma rma;
		struct fi_msg_atomic atomic;
	};
	struct fi_msg_fetch fetch;	/* atomics: no list for the forms without */
	struct fi_msg_compare compare;
};

/* eng_op_msg - an untagged message as a tagged one with tag 0. */
static inline struct fi_msg_tagged eng_op_msg(const struct fi_msg *msg)
{
	return (struct fi_msg_tagged) {
		.msg_iov = msg->msg_iov, .desc = msg->desc, .iov_count = msg->iov_count,
		.addr = msg->addr, .context = msg->context, .data = msg->data,
	};
}

/* eng_trig_call - a message call with FI_TRIGGER: @op waits, or starts at once.
 *
 * Errors: -FI_EBADFLAGS without the capability, -FI_EINVAL no counter of this domain,
 * -FI_ENOSYS other triggers than thresholds, -FI_EAGAIN no memory.
 */
ssize_t eng_trig_call(struct eng_ep *ep, const struct eng_op *op);

/* eng_trig_msg - the same for a send or receive. */
ssize_t eng_trig_msg(struct fid_ep *ep, enum fi_op_type type, const struct fi_msg_tagged *msg,
		     uint64_t flags);

/* eng_trig_cancel - take back a call with @context that has not started; reported as
 * cancelled.  False: there is none.  Caller holds prog->lock.
 */
bool eng_trig_cancel(struct eng_ep *ep, void *context);

/* eng_trig_drop - @ep closes: forget what has not started.  Caller holds prog->lock. */
void eng_trig_drop(struct eng_ep *ep);

/* eng_trig_done - work whose request is over, with 0 or @err (positive); @trig is gone. */
void eng_trig_done(struct eng_trig *trig, int err);

/* eng_trig_work - what a request that is just being started is part of: work, or NULL.
 * @flags: of the operation
 * @quiet_p: [out] it reports successes to no queue
 */
struct eng_trig *eng_trig_work(struct eng_grp *grp, uint64_t flags, bool *quiet_p);

/* ---- starting (each in the file of its calls); caller holds prog->lock -------- */

/* Return as the call does; -FI_EAGAIN: nothing has changed. */
int eng_send_start(struct eng_ep *ep, const struct eng_op *op);
int eng_recv_start(struct eng_ep *ep, const struct eng_op *op);
int eng_rma_start(struct eng_ep *ep, const struct eng_op *op);
int eng_amo_start(struct eng_ep *ep, const struct eng_op *op);

/* In the flags of an operation that is started as work. */
#define ENG_OP_WORK (1ULL << 62)

#endif
