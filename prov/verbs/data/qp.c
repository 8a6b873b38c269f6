/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * qp.c - making queue pairs that send: of connected, datagram and XRC endpoints.
 */
#include <errno.h>

#include "verbs/dgram.h"
#include "verbs/ep.h"
#include "verbs/ud.h"

/* The operations of the extended interface must be named when the queue pair is created. */
static uint64_t send_ops(const struct vrb_ep *ep)
{
	uint64_t ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

	if (ep->dgram)
		return ops;
	ops |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
	       IBV_QP_EX_WITH_RDMA_READ;
	if (ep->domain->attr.atomic_cap != IBV_ATOMIC_NONE)
		ops |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	return ops;
}

int vrb_qp_create(struct vrb_ep *ep, struct ibv_qp_init_attr_ex *attr, struct ibv_qp **qp_p)
{
	struct verbs_context *verbs = verbs_get_ctx_op(ep->domain->ctx, create_qp_ex);

	errno = 0;
	if (verbs)
		*qp_p = verbs->create_qp_ex(ep->domain->ctx, attr);
	else if (attr->comp_mask & ~(uint32_t) IBV_QP_INIT_ATTR_PD)
		return EOPNOTSUPP;
	else	/* struct ibv_qp_init_attr is the beginning of the extended one */
		*qp_p = vrb_ibv.create_qp(attr->pd, (struct ibv_qp_init_attr *) attr);
	return *qp_p ? 0 : errno ? errno : EIO;
}

/* librdmacm makes a queue pair that it is to connect, on the id, which names the device. */
static int qp_create_any(struct vrb_ep *ep, struct ibv_qp_init_attr_ex *attr, struct ibv_qp **qp_p)
{
	if (ep->dgram && ep->dgram->ud)
		return vrb_ud_qp(ep, ep->dgram->ud, attr, qp_p);
	if (attr->qp_type == IBV_QPT_XRC_SEND)
		return vrb_qp_create(ep, attr, qp_p);
	if (vrb_cm.create_qp_ex(ep->cm.id, attr))
		return errno ? errno : EIO;
	*qp_p = ep->cm.id->qp;
	return 0;
}

int vrb_qp_make(struct vrb_ep *ep, struct ibv_qp_init_attr_ex *attr, struct vrb_sq *sq)
{
	static const uint32_t cut[] = { UINT32_MAX, 64, 0 };
	struct ibv_qp_init_attr_ex wanted = *attr;
	struct ibv_qp *qp;
	unsigned i;
	int ret = 0, extended;

	for (i = 0; i < 3; i++) {
		for (extended = !ep->direct && !vrb_conf_doorbell("post"); extended >= 0; extended--) {
			*attr = wanted;
			attr->comp_mask = IBV_QP_INIT_ATTR_PD;
			if (extended) {
				attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
				attr->send_ops_flags = send_ops(ep);
			}
			if (attr->cap.max_inline_data > cut[i])
				attr->cap.max_inline_data = cut[i];
			ret = qp_create_any(ep, attr, &qp);
			if (!ret) {
				vrb_sq_init(sq, qp, extended,
					    ep->domain->attr.vendor_id == VRB_VENDOR_RXE);
				return 0;
			}
		}
	}
	*attr = wanted;
	return -ret;
}
