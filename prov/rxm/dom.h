/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dom.h - the provider below: its domain and queues, which the links of a progress group
 * share, and its connected endpoints with their receive buffers.
 *
 * The provider below may name the context of an operation until its completion has been
 * read, after the endpoint is closed as well.  So the memory of a closed endpoint (receive
 * buffers, messages in flight, RDMA) is kept on dom->closed, and is freed when the
 * completion queue was found empty once since: no completion can name it then.
 *
 * Threading: everything under the lock of the progress group.
 */
#ifndef RXM_DOM_H
#define RXM_DOM_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/list.h"
#include "layer/dom.h"

struct rxm_conn;
struct rxm_poller;

/* A domain below, with what its endpoints share. */
struct rxm_dom {
	struct layer_dom base;		/* first; on poller->doms; its buffers are struct rxm_tx_buf */
	struct fid_cq *cq;
	struct fid_eq *eq;
	size_t inject_max;		/* bytes that fi_inject() takes below */
	uint64_t delivered;		/* FI_DELIVERY_COMPLETE, unless writes below do not take it */
	const _Atomic bool *staged;	/* NET_OPT_STAGED of its endpoints; NULL: not known */
	unsigned eq_polls;		/* polls since the event queue was read */
	uint64_t eq_due_ns;		/* when it is read in any case */
	struct hmap fids;		/* struct fid of open endpoints and listeners -> owner */
	struct list closed;		/* struct rxm_ep that a completion may still name */
	struct list links;		/* struct rxm_link */
};

enum rxm_op_kind {
	RXMF_OP_RECV,			/* in a struct rxm_rx_buf */
	RXMF_OP_SEND,			/* in a struct rxm_tx_buf */
	RXMF_OP_RMA,			/* in a struct rxm_rma */
};

/* What the context of every operation below points to. */
struct rxm_op {
	enum rxm_op_kind kind;
	struct rxm_ep *ep;		/* on which it was posted */
};

/* A receive buffer. */
struct rxm_rx_buf {
	struct rxm_op op;		/* first */
	struct list node;		/* full: on conn->rxq; not posted: on ep->idle */
	size_t len;			/* of the message in it */
	size_t at;			/* offset of the next frame */
	uint32_t id;			/* of an atomic in it (compatible format) */
	bool ctrl;			/* a control message: it consumed no credit */
	uint8_t *data;			/* RXM_ROOM bytes */
};

/* A message to be sent, or in flight. */
struct rxm_tx_buf {
	struct layer_buf buf;		/* first; on ep->sends while it is in flight */
	struct rxm_op op;
	size_t len;			/* bytes filled in */
	uint8_t data[];
};

/* A connected endpoint of the provider below. */
struct rxm_ep {
	struct list node;		/* on dom->closed */
	struct rxm_dom *dom;
	struct rxm_conn *conn;		/* whose endpoint; NULL: closed */
	struct fid_ep *fid;		/* NULL: closed */
	uint8_t *mem;			/* of all receive buffers */
	struct fid_mr *mem_mr;		/* its registration, where the domain wants one */
	struct rxm_rx_buf *bufs;
	struct list idle;		/* struct rxm_rx_buf that could not be posted */
	struct list sends;		/* struct rxm_tx_buf in flight */
	struct list rmas;		/* struct rxm_rma that are not complete */
};

/* rxm_dom_get - the domain of @info below; links of one group share it, and with @home those of
 * several groups.
 * Ownership: one layer_dom_put() each; the last one frees what its endpoints left.
 * Errors:    those of the provider below, -FI_ENOMEM.
 */
int rxm_dom_get(struct rxm_poller *poller, const struct fi_info *info, struct layer_home *home,
		struct rxm_dom **dom_p);

/* rxm_dom_arm - prepare to sleep on the descriptors of its queues.
 * Returns 0; -FI_EAGAIN: there is work, poll instead.
 */
int rxm_dom_arm(struct rxm_dom *dom);

/* rxm_dom_stages - may something that was sent wait for the next poll of the provider below? */
static inline bool rxm_dom_stages(const struct rxm_dom *dom)
{
	return !dom->staged || atomic_load_explicit(dom->staged, memory_order_relaxed);
}

/* rxm_dom_reap - the completion queue is empty: free what closed endpoints left. */
void rxm_dom_reap(struct rxm_dom *dom);

/* rxm_ep_open - an endpoint of @info, enabled, with its receive buffers posted.
 * @info: its handle, of a connection request, is used up: NULL afterwards, unless
 *        there was not even an endpoint
 * @conn: whose
 * Errors: those of the provider below, -FI_ENOMEM.
 */
int rxm_ep_open(struct rxm_dom *dom, struct fi_info *info, struct rxm_conn *conn,
		struct rxm_ep **ep_p);

/* rxm_ep_close - close it below; what it leaves is freed by rxm_dom_reap(). */
void rxm_ep_close(struct rxm_ep *ep);

/* rxm_ep_post - post a receive buffer again.  Returns false if the provider below does not
 * take it now: it is on ep->idle.
 */
bool rxm_ep_post(struct rxm_ep *ep, struct rxm_rx_buf *buf);

/* rxm_ep_sent - the send of @buf is complete: the buffer is free. */
void rxm_ep_sent(struct rxm_tx_buf *buf);

#endif
