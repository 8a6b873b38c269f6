/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_peer.h - one provider working inside the objects of another.
 *
 * The owner is the provider that the program opened; it opens the same kind of
 * object in the peer with FI_PEER and passes one of the fi_peer_*_context here
 * as the context.  The peer then reports into the owner's object through the
 * owner's ops.  The context may go when the open returns; the fid_peer_* in it
 * stays until the peer's object is closed.
 */
#ifndef FI_PEER_H
#define FI_PEER_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_ext.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fi_peer_av_set;
struct fi_peer_rx_entry;
struct fid_peer_av;
struct fid_peer_av_set;
struct fid_peer_cntr;
struct fid_peer_cq;
struct fid_peer_srx;

/* ---- address vector ------------------------------------------------------ */

/* Called by the peer; size is that of the structure where the owner was compiled, here and below. */
struct fi_ops_av_owner {
	size_t	size;
	/* current attributes of the owner's */
	int (*query)(struct fid_peer_av *av, struct fi_av_attr *attr);
	/* fi_addr_t of a local endpoint, or FI_ADDR_NOTAVAIL */
	fi_addr_t (*ep_addr)(struct fid_peer_av *av, struct fid_ep *ep);
};

/* The owner's; its members are set before the peer's object is opened. */
struct fid_peer_av {
	struct fid		fid;
	struct fi_ops_av_owner	*owner_ops;
};

/* The context of fi_av_open() with FI_PEER. */
struct fi_peer_av_context {
	size_t			size;
	struct fid_peer_av	*av;
};

/* ---- address vector set -------------------------------------------------- */

/* Called by the peer. */
struct fi_ops_av_set_owner {
	size_t	size;
	/* all members; -FI_ETOOSMALL stores how many in *count */
	int (*members)(struct fid_peer_av_set *av_set, fi_addr_t *addr,
			size_t *count);
};

struct fid_peer_av_set {
	struct fid			fid;
	struct fi_ops_av_set_owner	*owner_ops;
};

/* The context of fi_av_set() with FI_PEER. */
struct fi_peer_av_set_context {
	size_t			size;
	struct fi_peer_av_set	*av_set;
};

/* ---- completion queue ---------------------------------------------------- */

/* The owner locks, signals and copes with a full queue. */
struct fi_ops_cq_owner {
	size_t	size;
	/* an entry of success; buf: where the message is, for FI_CQ_FORMAT_DATA */
	ssize_t (*write)(struct fid_peer_cq *cq, void *context, uint64_t flags,
			size_t len, void *buf, uint64_t data, uint64_t tag,
			fi_addr_t src);
	/* an entry of failure, which is copied */
	ssize_t (*writeerr)(struct fid_peer_cq *cq,
			const struct fi_cq_err_entry *err_entry);
};

struct fid_peer_cq {
	struct fid		fid;
	struct fi_ops_cq_owner	*owner_ops;
};

/* The context of fi_cq_open() with FI_PEER. */
struct fi_peer_cq_context {
	size_t			size;
	struct fid_peer_cq	*cq;
};

/* ---- counter ------------------------------------------------------------- */

/* Called by the peer, for each operation that the counter counts. */
struct fi_ops_cntr_owner {
	size_t	size;
	/* success */
	void (*inc)(struct fid_peer_cntr *cntr);
	/* failure */
	void (*incerr)(struct fid_peer_cntr *cntr);
};

struct fid_peer_cntr {
	struct fid			fid;
	struct fi_ops_cntr_owner	*owner_ops;
};

/* The context of fi_cntr_open() with FI_PEER. */
struct fi_peer_cntr_context {
	size_t			size;
	struct fid_peer_cntr	*cntr;
};

/* ---- domain and event queue: the owner's object itself ------------------- */

/* The context of fi_domain() with FI_PEER. */
struct fi_peer_domain_context {
	size_t			size;
	struct fid_domain	*domain;
};

/* The context of fi_eq_open() with FI_PEER. */
struct fi_peer_eq_context {
	size_t		size;
	struct fid_eq	*eq;
};

/* ---- shared receive context ---------------------------------------------- */

/* A receive of the owner, while the peer fills it. */
struct fi_peer_rx_entry {
	struct fid_peer_srx	*srx;
	fi_addr_t		addr;		/* source */
	size_t			msg_size;	/* bytes received */
	uint64_t		tag;
	uint64_t		cq_data;
	uint64_t		flags;
	void			*context;	/* the program's */
	size_t			count;		/* pieces in iov */
	void			**desc;
	void			*peer_context;	/* the peer's, to find its held message by */
	void			*owner_context;	/* the owner's */
	struct iovec		*iov;		/* where the message goes */
};

/* What the peer knows of a message when it asks for a receive. */
struct fi_peer_match_attr {
	fi_addr_t	addr;		/* source, or FI_ADDR_UNSPEC while not known */
	size_t		msg_size;	/* bytes */
	uint64_t	tag;
};

/* Called by the peer. get_*: 0 with the matching receive; -FI_ENOENT with an
 * entry that the peer queues as unexpected, keeping the payload. */
struct fi_ops_srx_owner {
	size_t	size;
	int (*get_msg)(struct fid_peer_srx *srx,
			struct fi_peer_match_attr *attr,
			struct fi_peer_rx_entry **entry);
	int (*get_tag)(struct fid_peer_srx *srx,
			struct fi_peer_match_attr *attr,
			struct fi_peer_rx_entry **entry);
	/* the entry of -FI_ENOENT is ready: the owner matches later receives with it */
	int (*queue_msg)(struct fi_peer_rx_entry *entry);
	int (*queue_tag)(struct fi_peer_rx_entry *entry);
	/* asks for the source of each entry that had none */
	void (*foreach_unspec_addr)(struct fid_peer_srx *srx,
			fi_addr_t (*get_addr)(struct fi_peer_rx_entry *));
	/* the receive has completed, or the message is dropped */
	void (*free_entry)(struct fi_peer_rx_entry *entry);
};

/* Called by the owner on a queued entry: a receive now matches, or it is
 * dropped. */
struct fi_ops_srx_peer {
	size_t	size;
	int (*start_msg)(struct fi_peer_rx_entry *entry);
	int (*start_tag)(struct fi_peer_rx_entry *entry);
	int (*discard_msg)(struct fi_peer_rx_entry *entry);
	int (*discard_tag)(struct fi_peer_rx_entry *entry);
};

struct fid_peer_srx {
	struct fid_ep		ep_fid;
	struct fi_ops_srx_owner	*owner_ops;	/* the owner's */
	struct fi_ops_srx_peer	*peer_ops;	/* the peer's, set before its open returns */
};

/* The context of fi_srx_context() with FI_PEER. */
struct fi_peer_srx_context {
	size_t			size;
	struct fid_peer_srx	*srx;
};

/* ---- endpoint for transfers only (FI_PEER_TRANSFER) ---------------------- */

/* The peer passes completed transfers to the endpoint that posted them. */
struct fi_ops_transfer_peer {
	size_t	size;
	ssize_t (*complete)(struct fid_ep *ep, struct fi_cq_tagged_entry *buf,
			fi_addr_t src_addr);
	ssize_t (*comperr)(struct fid_ep *ep, struct fi_cq_err_entry *buf);
};

struct fi_peer_transfer_context {
	size_t				size;
	struct fi_info			*info;
	struct fid_ep			*ep;	/* the owner's */
	struct fi_ops_transfer_peer	*peer_ops;
};

#ifdef __cplusplus
}
#endif

#endif /* FI_PEER_H */
