/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * kind.h - the two kinds of connected endpoints.
 *
 *  RC   a queue pair of its own for each endpoint (conn/rc.c)
 *  XRC  endpoints share queue pairs (folder xrc/, left out by configure --disable-verbs-xrc)
 *
 * The protocol of fi_ep_attr chooses the kind of a domain, and of a passive endpoint.  The rest of
 * the provider calls a kind by its table and knows nothing of the folder but the names of two structures.
 *
 * Threading: calls about connections hold the lock of connections (base.cm.prog), calls about
 * requests that of the progress group; see ep.h.
 */
#ifndef VRB_KIND_H
#define VRB_KIND_H

#include "ep.h"

#define VRB_SUFFIX_MAX 8		/* bytes of a suffix at most, with its 0 */

struct vrb_kind {
	const char *name;		/* in messages */
	const char *suffix;		/* of the names of its domains, behind that of the device */
	size_t data_max;		/* private data of the program in a request and its answers */
	bool shares;			/* endpoints share queue pairs: every request is signalled, and
					 * receives are shared ones */

	/* supported - does the device have this kind? */
	bool (*supported)(struct ibv_context *ctx);

	/* domain_open - Errors: the system's, logged.   domain_close - the last endpoint is closed. */
	int (*domain_open)(struct vrb_domain *domain);
	void (*domain_close)(struct vrb_domain *domain);

	/* ---- endpoints --------------------------------------------------------------- */

	/* open - the kind's part of an endpoint, without a queue pair.  Errors: -FI_ENOMEM.
	 * free - free that part; also where open has failed.
	 */
	int (*open)(struct vrb_ep *ep);
	void (*free)(struct vrb_ep *ep);

	/* start - make all that is needed to post.  Threading: both locks.
	 * Errors: -FI_EINVAL: what is bound does not suit the kind, logged; the device's.
	 */
	int (*start)(struct vrb_ep *ep);

	/* leave - the endpoint closes: complete its requests, and leave what it shares.
	 * Threading: the lock of connections.
	 */
	void (*leave)(struct vrb_ep *ep);

	/* srq_open, srq_close - the queue of a shared receive context, as srx->srq.
	 * Errors: the device's.   Threading: no lock.
	 */
	int (*srq_open)(struct vrb_ep *srx, struct ibv_srq_init_attr *init);
	void (*srq_close)(struct vrb_ep *srx);

	/* ---- completions; kinds that share alone ------------------------------------- */

	/* receiver - an endpoint whose queue reports the receives of @srx; NULL: there is none. */
	struct vrb_ep *(*receiver)(const struct vrb_ep *srx);

	/* sent, failed - the device has completed this request. */
	void (*sent)(const struct vrb_tx *tx);
	void (*failed)(const struct vrb_tx *tx, const struct vrb_wc *wc);

	/* ---- connections ------------------------------------------------------------- */

	/* connect - the route is resolved: send the request, with the data in ep->param.
	 * accept - answer @cr.   Errors: to be reported to the program, and returned to it.
	 */
	int (*connect)(struct vrb_ep *ep);
	int (*accept)(struct vrb_ep *ep, const struct vrb_connreq *cr, const void *data, size_t len);

	/* request - a connection request has come to a listener.
	 *
	 * @part_p: [out] the kind's part of it, or NULL; released by request_free
	 * @data_p: [in] private data as they came, [out] those of the program; @len_p: their bytes
	 * Errors: -FI_ENOMEM; others: it is no request of this kind, and has been rejected.
	 */
	int (*request)(const struct obj_fabric *fabric, const struct rdma_cm_event *event,
		       struct vrb_xrc_req **part_p, const void **data_p, size_t *len_p);
	void (*request_free)(struct vrb_xrc_req *part);

	/* put_reject - write the private data of a reject.   Returns their bytes. */
	size_t (*put_reject)(uint8_t *out, const void *data, size_t len);

	/* reject_data - the program's part of a reject. */
	const void *(*reject_data)(const void *data, size_t *len_p);

	/* Events of librdmacm; all other events do not depend on the kind.
	 * on_rejected - returns true if a new request follows, and nothing is to be reported.
	 * on_removal - the device is being removed: flush what is posted.
	 * event_done - the event is acknowledged: an id may be destroyed now.
	 */
	void (*on_response)(struct vrb_ep *ep, const struct rdma_cm_event *event);
	void (*on_established)(struct vrb_ep *ep, const struct rdma_cm_event *event);
	bool (*on_rejected)(struct vrb_ep *ep, const struct rdma_cm_event *event);
	void (*on_removal)(struct vrb_ep *ep);
	void (*event_done)(struct vrb_ep *ep);

	/* shut - the connection has ended, or was not established. */
	void (*shut)(struct vrb_ep *ep);
};

extern const struct vrb_kind vrb_rc_kind;

/* vrb_kind_of - the kind that serves a protocol of fi_ep_attr; NULL: it was left out. */
const struct vrb_kind *vrb_kind_of(uint32_t protocol);

/* vrb_kind_of_info - the same of an offer; without ep_attr it is RC.
 * Errors: -FI_EOPNOTSUPP: the kind was left out, logged.
 */
int vrb_kind_of_info(const struct fi_info *info, const struct vrb_kind **kind_p);

#endif
