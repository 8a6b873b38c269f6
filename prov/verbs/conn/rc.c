/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rc.c - endpoints with a queue pair of their own, which librdmacm connects; and the choice between
 * the kinds.
 */
#include <errno.h>
#include <rdma/fi_errno.h>

#include "verbs/cm.h"
#include "verbs/kind.h"
#include "verbs/private.h"

#if HAVE_VERBS_XRC
extern const struct vrb_kind vrb_xrc_kind;	/* xrc/kind.c */
#define XRC_KIND (&vrb_xrc_kind)
#else
#define XRC_KIND NULL
#endif

/* ---- the domain, and endpoints -------------------------------------------------- */

static bool rc_supported(struct ibv_context *ctx)
{
	return true;
}

static int rc_domain_open(struct vrb_domain *domain)
{
	return 0;
}

static void rc_domain_close(struct vrb_domain *domain)
{
}

static int rc_open(struct vrb_ep *ep)
{
	return 0;
}

static void rc_nothing(struct vrb_ep *ep)
{
}

static int rc_srq_open(struct vrb_ep *srx, struct ibv_srq_init_attr *init)
{
	srx->srq = vrb_ibv.create_srq(srx->domain->pd, init);
	return srx->srq ? 0 : -errno;
}

static void rc_srq_close(struct vrb_ep *srx)
{
	vrb_ibv.destroy_srq(srx->srq);
}

/* ---- requests and answers ------------------------------------------------------- */

static int rc_connect(struct vrb_ep *ep)
{
	uint8_t data[VRB_CM_DATA];
	size_t len = vrb_private_put(data, ep->param, ep->param_len);
	struct rdma_conn_param param = vrb_cm_param(ep, ep->qp->qp_num, data, len);

	return vrb_cm.connect(ep->cm.id, &param) ? cm_errno() : 0;
}

static int rc_accept(struct vrb_ep *ep, const struct vrb_connreq *cr, const void *data, size_t len)
{
	uint8_t buf[VRB_CM_DATA];
	struct rdma_conn_param param;

	len = vrb_private_put(buf, data, len);
	param = vrb_cm_answer(ep, cr, ep->qp->qp_num, buf, len);
	return vrb_cm.accept(ep->cm.id, &param) ? cm_errno() : 0;
}

static int rc_request(const struct obj_fabric *fabric, const struct rdma_cm_event *event,
		      struct vrb_xrc_req **part_p, const void **data_p, size_t *len_p)
{
	*part_p = NULL;
	*data_p = vrb_private_get(*data_p, len_p);
	return 0;
}

static void rc_request_free(struct vrb_xrc_req *part)
{
}

/* ---- events --------------------------------------------------------------------- */

/* librdmacm completes the connection by itself where it has the queue pair. */
static void rc_on_response(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
}

/* The kernel leaves the delay before a sender retries without a posted receive at its maximum. */
static void set_rnr_timer(struct vrb_ep *ep)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = (uint8_t) vrb_conf.min_rnr_timer };

	if (ep->domain->ctx->device->transport_type != IBV_TRANSPORT_IWARP)
		vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_MIN_RNR_TIMER);
}

static void rc_on_established(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	size_t len = event->param.conn.private_data_len;
	const void *data;

	if (obj_cm_state(&ep->base) != OBJ_CM_CONNECTING)
		return;
	set_rnr_timer(ep);
	data = vrb_private_get(event->param.conn.private_data, &len);
	obj_cm_connected(&ep->base, data, len);
}

static bool rc_on_rejected(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	return false;
}

static void rc_on_removal(struct vrb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_STATE);
}

const struct vrb_kind vrb_rc_kind = {
	.name = "RC",
	.suffix = "",
	.data_max = VRB_CM_DATA - VRB_PRIVATE_HEAD,
	.supported = rc_supported,
	.domain_open = rc_domain_open,
	.domain_close = rc_domain_close,
	.open = rc_open,
	.free = rc_nothing,
	.start = vrb_ep_start,
	.leave = rc_nothing,
	.srq_open = rc_srq_open,
	.srq_close = rc_srq_close,
	.connect = rc_connect,
	.accept = rc_accept,
	.request = rc_request,
	.request_free = rc_request_free,
	.put_reject = vrb_private_put,
	.reject_data = vrb_private_get,
	.on_response = rc_on_response,
	.on_established = rc_on_established,
	.on_rejected = rc_on_rejected,
	.on_removal = rc_on_removal,
	.event_done = rc_nothing,
	.shut = rc_nothing,
};

/* ---- which kind ----------------------------------------------------------------- */

const struct vrb_kind *vrb_kind_of(uint32_t protocol)
{
	return protocol == FI_PROTO_RDMA_CM_IB_XRC ? XRC_KIND : &vrb_rc_kind;
}

int vrb_kind_of_info(const struct fi_info *info, const struct vrb_kind **kind_p)
{
	*kind_p = vrb_kind_of(info->ep_attr ? info->ep_attr->protocol : FI_PROTO_UNSPEC);
	if (*kind_p)
		return 0;
	VRB_WARN(FI_LOG_FABRIC, "this library was built without XRC (configure "
		 "--disable-verbs-xrc): leave ep_attr->protocol open, or ask for "
		 "FI_PROTO_RDMA_CM_IB_RC\n");
	return -FI_EOPNOTSUPP;
}
