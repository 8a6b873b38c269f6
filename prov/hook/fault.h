/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fault.h - ofi_hook_fault: shared by fault.c (opening), fault_msg.c (sending) and fault_cq.c
 * (completions).
 *
 * A datagram without an impairment is passed to the provider.  For any other the hook keeps
 * copies and sends them when they are due: by an inject where they are short enough, because an
 * inject generates no completion.  The provider does not see the program's operation then, so
 * the hook generates its completion.
 */
#ifndef HOOK_FAULT_H
#define HOOK_FAULT_H

#include <pthread.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "base/list.h"
#include "base/os/alarm.h"
#include "impair.h"
#include "intern.h"

#define FAULT_ADDR_MAX 128

/* A domain with datagram endpoints.  Its lock protects all state below and serializes sends. */
struct fault_dom {
	pthread_mutex_t lock;
	struct impair impair;
	struct fid_domain *domain;
	bool registers;		/* FI_MR_LOCAL */
	struct list eps;	/* struct fault_ep */
	struct list cqs;	/* struct fault_cq */
};

struct fault_ep {
	struct list node;	/* on dom->eps */
	struct fault_dom *dom;
	struct impair impair;	/* private copy of the parameters: its random choices do not depend
				 * on other endpoints */
	struct fid_ep *ep;
	struct fid_av *av;
	struct fid_cntr *cntr;	/* transmit counter; NULL: none */
	struct fault_cq *cq;	/* transmit completion queue; NULL: none */
	bool selective;
	uint64_t op_flags;
	size_t inject_max, prefix, dgram_max;
	struct list delayed;	/* struct fault_copy, sorted by due time */
	unsigned delayed_cnt;
	struct fault_copy *held;	/* reordered: sent after the next datagram */
};

struct fault_cq {
	struct list node;	/* on dom->cqs */
	struct fault_dom *dom;
	struct fid_cq *cq;
	enum fi_cq_format format;
	enum fi_wait_obj wait_obj;
	unsigned waiters;	/* threads in the provider's blocking read */
	struct list pending;	/* struct fault_comp, not yet read */
	struct list copies;	/* struct fault_copy whose completions this queue gets from the
				 * provider */
	int fd;			/* the set that replaces the provider's wait descriptor, or -1 */
	struct os_alarm alarm;	/* in it */
};

/* A copy of a datagram that is sent later. */
struct fault_copy {
	struct fi_context2 context;	/* first: some providers write to it */
	struct list node;
	uint64_t due_ns;
	uint64_t data;
	bool has_data;
	fi_addr_t to;
	uint8_t addr[FAULT_ADDR_MAX];	/* the address of @to at the time of the send */
	size_t addr_len;
	struct fid_mr *mr;
	size_t len;
	uint8_t bytes[];
};

/* A completion that the hook reports instead of the provider. */
struct fault_comp {
	struct list node;
	void *context;
};

/* The tables whose functions replace the provider's. */
extern const struct fi_ops_msg fault_msg_ops;
extern const struct fi_ops_cq fault_cq_ops;
extern const struct fi_ops fault_cq_fid_ops;

/* fault_copy_free - free a copy and its registration; NULL is allowed. */
void fault_copy_free(struct fault_copy *copy);

/* fault_send_due - send the copies that are due.  Threading: caller holds dom->lock. */
void fault_send_due(struct fault_dom *dom);

/* fault_due - when the next copy is due; UINT64_MAX: none.  Threading: caller holds dom->lock. */
uint64_t fault_due(const struct fault_dom *dom);

/* fault_complete - queue a completion of @ep.
 * Ownership: takes over @pending.  Threading: caller holds dom->lock.
 */
void fault_complete(struct fault_ep *ep, struct fault_comp *pending);

/* fault_wake - make blocked readers recompute their timeout.  Threading: caller holds dom->lock. */
void fault_wake(struct fault_dom *dom);

/* fault_cq_ready - true when a read would return or send something.  Threading: caller holds
 * dom->lock.
 */
bool fault_cq_ready(const struct fault_cq *cq);

/* The state of this hook for an object. */
static inline struct fault_ep *fault_ep_of(struct fid_ep *ep)
{
	return hook_table_of(ep->msg)->obj->priv;
}

static inline struct fault_cq *fault_cq_of(struct fid_cq *cq)
{
	return hook_table_of(cq->ops)->obj->priv;
}

#endif
