/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fault.h - ofi_hook_fault: between fault.c, which opens, fault_msg.c, which sends,
 * and fault_cq.c, which reads.
 *
 * A datagram that meets no fault is sent by the provider as it stands.  For any other the
 * hook keeps copies, which leave when they shall, by an inject where they are short enough;
 * and it owes the program the completion that the provider never hears of.
 */
#ifndef HOOK_FAULT_H
#define HOOK_FAULT_H

#include <pthread.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "base/list.h"
#include "fate.h"
#include "intern.h"

#define FAULT_ADDR_MAX 128

/* A domain for datagrams; its lock guards all below, and what is sent. */
struct fault_dom {
	pthread_mutex_t lock;
	struct fate_dice dice;
	struct fid_domain *domain;
	bool registers;		/* FI_MR_LOCAL */
	struct list eps;	/* struct fault_ep */
	struct list cqs;	/* struct fault_cq */
};

struct fault_ep {
	struct list node;	/* on dom->eps */
	struct fault_dom *dom;
	struct fate_dice dice;	/* its own, so that its choices do not depend on others */
	struct fid_ep *ep;
	struct fid_av *av;
	struct fid_cntr *cntr;	/* of what is sent; NULL: none */
	struct fault_cq *cq;	/* the same */
	bool selective;
	uint64_t op_flags;
	size_t inject_max, prefix, dgram_max;
	struct list late;	/* struct fault_copy, by time */
	unsigned late_cnt;
	struct fault_copy *held;	/* waits for the next one */
};

struct fault_cq {
	struct list node;	/* on dom->cqs */
	struct fault_dom *dom;
	struct fid_cq *cq;
	enum fi_cq_format format;
	enum fi_wait_obj wait_obj;
	unsigned sleepers;	/* threads in the provider's blocking read */
	struct list owed;	/* struct fault_owed */
	struct list out;	/* struct fault_copy that the provider completes here */
	int fd, timer;		/* what a program sleeps on instead of the provider's; or -1 */
};

/* A datagram on its way. */
struct fault_copy {
	struct fi_context2 context;	/* first: some providers write to it */
	struct list node;
	uint64_t due_ns;
	uint64_t data;
	bool has_data;
	fi_addr_t to;
	uint8_t addr[FAULT_ADDR_MAX];	/* what @to was */
	size_t addr_len;
	struct fid_mr *mr;
	size_t len;
	uint8_t bytes[];
};

/* A completion that the program waits for. */
struct fault_owed {
	struct list node;
	void *context;
};

/* The tables that stand in the provider's place. */
extern const struct fi_ops_msg fault_msg_ops;
extern const struct fi_ops_cq fault_cq_ops;
extern const struct fi_ops fault_cq_fid_ops;

/* fault_copy_free - a copy, its registration included. */
void fault_copy_free(struct fault_copy *copy);

/* fault_send_late - what is due leaves.  With dom->lock held. */
void fault_send_late(struct fault_dom *dom);

/* fault_due - when the next one leaves; UINT64_MAX: none waits.  With dom->lock held. */
uint64_t fault_due(const struct fault_dom *dom);

/* fault_owe - a completion for @ep's program, taken from memory that was had before. */
void fault_owe(struct fault_ep *ep, struct fault_owed *owed);

/* fault_wake - sleepers look at the time again.  With dom->lock held. */
void fault_wake(struct fault_dom *dom);

/* fault_cq_ready - has a read something to do now?  With dom->lock held. */
bool fault_cq_ready(const struct fault_cq *cq);

/* The objects' own. */
static inline struct fault_ep *fault_ep_of(struct fid_ep *ep)
{
	return hook_table_of(ep->msg)->obj->own;
}

static inline struct fault_cq *fault_cq_of(struct fid_cq *cq)
{
	return hook_table_of(cq->ops)->obj->own;
}

#endif
