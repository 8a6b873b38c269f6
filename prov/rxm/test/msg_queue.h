/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * msg_queue.h - the completion queue and the event queue of the provider of msg_prov.h: one of each, in
 * which all endpoints report.
 */
#ifndef RXM_TEST_MSG_QUEUE_H
#define RXM_TEST_MSG_QUEUE_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "rxm/test/msg_prov.h"

/* A posted receive, a read that is held, or a completion. */
struct msg_op {
	struct list node;
	void *context;
	struct msg_ep *ep;
	void *buf;
	size_t len;
	uint64_t addr;
	int err;
};

struct msg_event {
	struct list node;
	uint32_t event;		/* 0: an error */
	struct fid *fid;
	struct fi_info *info;
	int err;
	uint8_t data[MSG_CM_DATA];
	size_t len;
};

/* msg_op_new - an operation that is on no list.
 * Ownership: the caller's, until msg_op_complete().
 */
struct msg_op *msg_op_new(struct msg_ep *ep, void *buf, size_t len, void *context);

/* msg_op_complete - report @op with @err, positive; 0: success.
 * @op: on a list of the caller, or on none
 * Ownership: takes @op.
 */
void msg_op_complete(struct msg_op *op, int err);

/* msg_event_new - report @event of @fid, with private data.  0: an error, which the caller sets.
 * Ownership: the queue's.
 */
struct msg_event *msg_event_new(uint32_t event, struct fid *fid, const void *data, size_t len);

/* msg_event_take - the oldest event of @fid leaves the queue.  Returns NULL if there is none.
 * Ownership: the caller's, with its info.
 */
struct msg_event *msg_event_take(struct fid *fid);

/* The functions of the domain and the fabric. */
int msg_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq_p, void *context);
int msg_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq_p, void *context);
int msg_trywait(struct fid_fabric *fabric, struct fid **fids, int count);

/* msg_queues_reset - for msg_prov_reset(): both queues must be empty. */
void msg_queues_reset(void);

#endif
