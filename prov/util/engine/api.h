/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * api.h - the engine's upper edge: what a provider calls.
 *
 * A provider over the engine is a struct eng_link_ops (link.h) and what it offers
 * (offer.h); its fabric is opened with
 *
 *	return eng_fabric_open(&tcp_prov, &tcp_link_ops, NULL, attr, fabric, context);
 *
 * All endpoint types, all data-transfer calls and all options are then there.  One
 * that has to do more when something is opened has an ops table of its own for its
 * domains, and calls eng_ep_open() and its like from there.
 */
#ifndef ENG_ENGINE_H
#define ENG_ENGINE_H

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "engine/link.h"
#include "obj/ep.h"
#include "obj/pep.h"

/* ---- what the engine brings to any link ----------------------------------- */

#define ENG_TX_CAPS (FI_MSG | FI_TAGGED | FI_SEND | FI_RMA | FI_READ | FI_WRITE | FI_ATOMIC | \
		     FI_FENCE | FI_TRIGGER)
#define ENG_RX_CAPS (FI_MSG | FI_TAGGED | FI_RECV | FI_DIRECTED_RECV | FI_MULTI_RECV |	\
		     FI_SOURCE | FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_ATOMIC |	\
		     FI_RMA_EVENT | FI_TRIGGER)
#define ENG_CTX_MAX 1024	/* contexts of a scalable endpoint, each way */
#define ENG_TX_OP_FLAGS (FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
			 FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)
#define ENG_RX_OP_FLAGS (FI_COMPLETION | FI_MULTI_RECV)
/* Packets of a pair are served in order, writes in place before the next packet is
 * looked at; reads are answered one after another, but later than a write that
 * follows them.
 */
#define ENG_MSG_ORDER (FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW | FI_ORDER_WAS |		\
		       FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS |				\
		       FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW |		\
		       FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR |	\
		       FI_ORDER_ATOMIC_WAW)
#define ENG_MAX_ORDER_RAW_SIZE SIZE_MAX	/* ep_attr->max_order_*_size */
#define ENG_MAX_ORDER_WAW_SIZE SIZE_MAX
#define ENG_MAX_ORDER_WAR_SIZE ENG_ATOMIC_MAX	/* among atomics */
#define ENG_IOV_LIMIT ENG_IOV_MAX
#define ENG_RMA_IOV_LIMIT 8
#define ENG_MAX_MSG_SIZE ((size_t) INT64_MAX)
#define ENG_CQ_DATA_SIZE 8
#define ENG_MEM_TAG_FORMAT UINT64_C(0xaaaaaaaaaaaaaaaa)
#define ENG_ATOMIC_MAX 4096	/* bytes of operands of one atomic call */
#define ENG_INJECT_MAX 4096	/* largest tx_attr->inject_size a template may offer */

/* ---- opening -------------------------------------------------------------- */

/* What a provider does about its domains and names, beside the packets of its link.  May be NULL, each. */
struct eng_domain_ops {
	/* named - a copy of @info, of which an endpoint is about to be made, with the
	 * address that it may be asked for before it is enabled.  NULL: there is
	 * none, or @info has it.
	 * Errors: NULL, no memory.
	 */
	struct fi_info *(*named)(const struct fi_info *info);

	/* mr_expose, mr_conceal - let peers reach a region of the program through what is below
	 * the link, too; as obj_domain_ops has them.  Both, or none.
	 */
	int (*mr_expose)(struct obj_mr *mr, uint64_t *key_p);
	int (*mr_conceal)(struct obj_mr *mr);

	/* protects - as obj_fabric_ops has it: a link over another provider asks that. */
	bool (*protects)(const struct fi_info *info);

	/* fini - the domain closes. */
	void (*fini)(struct obj_domain *domain);
};

/* eng_fabric_open - what a provider's fi_provider.fabric calls: a fabric under which
 * domains and endpoints are the engine's over @link, and passive endpoints where
 * @link has connection requests.
 *
 * @link:   transport; must stay valid for ever
 * @domain: the same; NULL: none of it
 * Errors: those of obj_fabric_open().
 */
int eng_fabric_open(const struct fi_provider *prov, const struct eng_link_ops *link,
		    const struct eng_domain_ops *domain, const struct fi_fabric_attr *attr,
		    struct fid_fabric **fabric_p, void *context);

/* eng_ep_open - fi_endpoint() of a provider: FI_EP_MSG and FI_EP_RDM.
 *
 * @info: as the program passed it.  info->handle may be the handle of a
 *        connection request (then fi_accept() answers it), or a passive
 *        endpoint, whose address the new endpoint takes over.
 * @link: transport; must stay valid for ever
 *
 * Ownership: fi_close() frees the endpoint.
 * Threading: no lock held.
 * Errors:    -FI_EINVAL, -FI_ENOMEM, -FI_ENOSYS (endpoint type).
 */
int eng_ep_open(struct fid_domain *domain, struct fi_info *info,
		const struct eng_link_ops *link, uint64_t flags,
		struct fid_ep **ep_p, void *context);

/* eng_sep_open - fi_scalable_ep() of a provider: obj_domain_ops.scalable_ep; FI_EP_RDM.
 * Errors: -FI_EINVAL, -FI_ENOMEM, -FI_ENOSYS (endpoint type).
 */
int eng_sep_open(struct fid_domain *domain, struct fi_info *info,
		 const struct eng_link_ops *link, struct fid_ep **sep_p, void *context);

/* eng_srx_open - fi_srx_context() of a provider: obj_domain_ops.srx_ctx.
 * Errors: -FI_ENOMEM, -FI_EINVAL (obj_domain_may_share).
 */
int eng_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr,
		 struct fid_ep **rx_ep_p, void *context);

/* eng_pep_open - fi_passive_ep() of a provider with a connected link.
 * Binds at once, so that fi_getname() gives the address before fi_listen().
 * Errors: -FI_EINVAL, -FI_ENOMEM, those of link->open.
 */
int eng_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		 const struct eng_link_ops *link, struct fid_pep **pep_p, void *context);

/* eng_query_atomic - fi_query_atomic() of a provider: obj_domain_ops.query_atomic. */
int eng_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags);

/* eng_domain_control - fi_control() of a domain, for deferred work: obj_domain_ops.control.
 * FI_QUEUE_WORK, FI_CANCEL_WORK (-FI_ENOENT: it has started), FI_FLUSH_WORK (of a struct
 * fid_cntr *, or all).
 */
int eng_domain_control(struct obj_domain *domain, int command, void *arg);

/* What implements FI_COLLECTIVE (prov/util/coll), attached by registration. */
struct eng_coll_ops {
	/* attach - @ep has FI_COLLECTIVE and is not enabled: set its ops tables.
	 * Called before the endpoint is handed to the program; no lock held.
	 */
	void (*attach)(struct eng_ep *ep);
	/* query - fi_query_collective(). */
	int (*query)(struct fid_domain *domain, enum fi_collective_op coll,
		     struct fi_collective_attr *attr, uint64_t flags);
};

/* eng_coll_register - collectives of all endpoints that are opened from now on.
 * Called from a provider's initialisation, which the core serialises; the same table
 * may be registered again.
 *
 * @ops: must stay valid for ever
 */
void eng_coll_register(const struct eng_coll_ops *ops);

/* eng_coll_attach - call ops->attach(), where collectives have been registered. */
void eng_coll_attach(struct eng_ep *ep);

/* ---- for links ------------------------------------------------------------ */

/* eng_ep_base - the shared part: info, domain, prog, caps. */
static inline struct obj_ep *eng_ep_base(struct eng_ep *ep)
{
	return (struct obj_ep *) ep;	/* its first member */
}

static inline struct obj_pep *eng_pep_base(struct eng_pep *pep)
{
	return (struct obj_pep *) pep;	/* its first member */
}

#endif
