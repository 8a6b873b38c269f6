/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conn.c - connections of XRC endpoints.  share.h describes the handshake and its order.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"
#include "verbs/xrc/share.h"

#define TRIES 3u		/* connection requests after a stale handshake */
#define RANDOM_BASE 0x800000u	/* no device has so many queue pairs */

/* The kernel refuses a second connection with the same queue pair number, also for a while after
 * the first has ended.  Connections of XRC endpoints have no queue pair, so the number is random.
 */
static uint32_t random_num(void)
{
	uint32_t num;

	if (getrandom(&num, sizeof(num), GRND_NONBLOCK) != sizeof(num))
		num = (uint32_t) clock_ns();
	return RANDOM_BASE | (num & (RANDOM_BASE - 1));
}

static uint32_t own_srqn(const struct vrb_ep *ep)
{
	return container_of(ep->base.srx, struct vrb_ep, base)->xrc->srqn;
}

static void xrc_refuse(struct rdma_cm_id *id, enum vrb_handshake_kind kind)
{
	struct vrb_handshake hs = { .kind = kind };
	uint8_t data[VRB_HANDSHAKE_SIZE];

	vrb_cm.reject(id, data, (uint8_t) vrb_handshake_put(data, &hs, NULL, 0));
}

/* ---- queue pairs ---------------------------------------------------------------- */

/* Remove attributes of the other kind of queue pair, and add those that librdmacm does not know. */
static void adjust_attr(struct ibv_qp_attr *attr, int *mask, bool sends, uint32_t dest, uint32_t psn)
{
	switch (attr->qp_state) {
	case IBV_QPS_INIT:
		attr->qp_access_flags = sends ? 0 : IBV_ACCESS_REMOTE_WRITE |
					IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
		*mask |= IBV_QP_ACCESS_FLAGS;
		break;
	case IBV_QPS_RTR:
		attr->dest_qp_num = dest;
		attr->rq_psn = psn & 0xffffff;
		attr->min_rnr_timer = (uint8_t) vrb_conf.min_rnr_timer;
		*mask |= IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
		if (sends)
			*mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
		else
			*mask |= IBV_QP_MIN_RNR_TIMER;
		break;
	default:
		attr->sq_psn = psn & 0xffffff;
		*mask |= IBV_QP_SQ_PSN;
		if (!sends)
			*mask &= ~(IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
		break;
	}
}

/* Move a queue pair from RESET to RTS with the attributes of the connection.
 * @psn: number of the first packet from the initiator to the target
 */
static int xrc_to_rts(struct ibv_qp *qp, struct rdma_cm_id *id, bool sends, uint32_t dest,
		      uint32_t psn)
{
	struct ibv_qp_attr attr;
	unsigned state;
	int mask, ret;

	for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		memset(&attr, 0, sizeof(attr));
		attr.qp_state = (enum ibv_qp_state) state;
		ret = vrb_cm.init_qp_attr(id, &attr, &mask) ? -cm_errno() : 0;
		if (!ret) {
			adjust_attr(&attr, &mask, sends, dest, psn);
			ret = vrb_ibv.modify_qp(qp, &attr, mask);
		}
		if (ret) {
			VRB_WARN(FI_LOG_EP_CTRL, "XRC queue pair that %s: cannot move it to state "
				 "%u: %s\n", sends ? "sends" : "receives", state,
				 fi_strerror(ret));
			return -ret;
		}
	}
	return 0;
}

/* ---- the end of a connection ---------------------------------------------------- */

static void leave_ini(struct vrb_ep *ep);

static void connect_or_fail(struct vrb_ep *ep)
{
	int ret = vrb_xrc_connect(ep);

	if (ret)
		vrb_cm_refused(ep, -ret, 0, NULL, 0);
}

/* The initiator's target is known, or never will be: endpoints that waited for it connect. */
static void resume_waiting(struct vrb_ini *ini)
{
	struct vrb_xrc *xrc;

	while ((xrc = list_pop_entry(&ini->waiting, struct vrb_xrc, node))) {
		xrc->waiting = false;
		xrc->ini = NULL;
		connect_or_fail(xrc->ep);
	}
}

/* The connection of @leader failed, and the initiator with it: so do those of all endpoints that
 * joined it.  @leader is still on ini->eps.
 */
static void leader_failed(struct vrb_ini *ini, const struct vrb_ep *leader)
{
	struct obj_prog *prog = leader->base.prog;
	struct vrb_xrc *xrc, *next;
	struct vrb_ep *ep;

	lock_get(&prog->lock);
	if (ini->state != VRB_INI_SHUT)
		vrb_ini_set_state(ini, VRB_INI_SHUT);
	ini->leader = NULL;
	vrb_ini_unshare(ini);
	lock_put(&prog->lock);
	resume_waiting(ini);
	list_for_each_entry_safe(xrc, next, &ini->eps, node) {
		ep = xrc->ep;
		if (ep != leader) {
			vrb_cm.disconnect(ep->cm.id);
			vrb_cm_refused(ep, FI_ECONNABORTED, 0, NULL, 0);
		}
	}
}

/* The endpoint is not connected, so none of its requests is in flight. */
static void leave_ini(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_ini *ini = xrc->ini;

	if (!ini)
		return;
	if (xrc->waiting) {
		list_del(&xrc->node);
		xrc->waiting = false;
		xrc->ini = NULL;
		return;
	}
	if (ini->leader == ep)
		leader_failed(ini, ep);
	lock_get(&ep->base.prog->lock);
	vrb_ini_leave(ep);
	lock_put(&ep->base.prog->lock);
}

void vrb_xrc_shut(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = ep->xrc;

	if (!xrc->connected) {
		leave_ini(ep);
		return;
	}
	xrc->connected = false;
	if (--xrc->ini->connected)
		return;
	lock_get(&ep->base.prog->lock);
	vrb_ini_unshare(xrc->ini);	/* its target may be destroyed with the last peer */
	lock_put(&ep->base.prog->lock);
}

void vrb_xrc_on_removal(struct vrb_ep *ep)
{
	struct obj_prog *prog = ep->base.prog;

	if (!ep->poller)
		return;
	lock_get(&prog->lock);
	if (ep->xrc->connected && ep->xrc->ini->state != VRB_INI_SHUT)
		vrb_ini_fail(ep->xrc->ini);
	lock_put(&prog->lock);
}

void vrb_xrc_leave(struct vrb_ep *ep)
{
	struct obj_prog *prog = ep->base.prog;

	if (!ep->poller)
		return;
	lock_get(&prog->lock);
	vrb_ep_drain(ep);
	ep->closing = true;
	list_del(&ep->xrc->srx_node);
	lock_put(&prog->lock);
	vrb_xrc_shut(ep);
	if (!ep->xrc->ini)
		return;
	lock_get(&prog->lock);
	vrb_ini_leave(ep);
	lock_put(&prog->lock);
}

/* ---- established ---------------------------------------------------------------- */

/* The initiator is up: report all endpoints whose own connection is established. */
static void report_connected(struct vrb_ini *ini)
{
	struct vrb_xrc *xrc;

	list_for_each_entry(xrc, &ini->eps, node) {
		if (!xrc->established || xrc->connected)
			continue;
		xrc->connected = true;
		ini->connected++;
		obj_cm_connected(&xrc->ep->base, xrc->ep->param, xrc->ep->param_len);
	}
}

/* The connection of @ep is established.  That of the leader proves that the target is ready. */
static void xrc_established(struct vrb_ep *ep)
{
	struct vrb_ini *ini = ep->xrc->ini;

	ep->xrc->established = true;
	if (ini->leader == ep) {
		lock_get(&ep->base.prog->lock);
		vrb_ini_set_state(ini, VRB_INI_UP);
		ini->leader = NULL;
		lock_put(&ep->base.prog->lock);
	}
	if (ini->state != VRB_INI_UP)
		return;
	report_connected(ini);
	resume_waiting(ini);
}

/* ---- the endpoint that connects ------------------------------------------------- */

static int send_connect(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_ini *ini = xrc->ini;
	struct vrb_handshake hs = {
		.kind = xrc->peer_new_ini ? VRB_HANDSHAKE_CONNECT_NEW : VRB_HANDSHAKE_CONNECT,
		.srqn = own_srqn(ep),
		.initiator = ini->sq.qp->qp_num,
		.your_target = ini->state == VRB_INI_CONNECTING ? 0 : ini->target,
		.my_target = xrc->target->qp->qp_num,
	};
	uint8_t data[VRB_CM_DATA];
	size_t len = vrb_handshake_put(data, &hs, ep->param, ep->param_len);
	struct rdma_conn_param param;

	xrc->num = random_num();
	param = vrb_cm_param(ep, xrc->num, data, len);
	return vrb_cm.connect(ep->cm.id, &param) ? cm_errno() : 0;
}

/* Returns 1 if the endpoint has to wait for the leader of an initiator. */
static int find_initiator(struct vrb_ep *ep)
{
	const struct sockaddr *here = rdma_get_local_addr(ep->cm.id);
	const struct sockaddr *there = rdma_get_peer_addr(ep->cm.id);
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_ini *ini = xrc->new_ini ? NULL : vrb_ini_find(ep, here, there, false);
	int ret = 0;

	if (ini && ini->state == VRB_INI_CONNECTING) {
		xrc->ini = ini;
		xrc->waiting = true;
		list_add_tail(&xrc->node, &ini->waiting);
		return 1;
	}
	if (!ini)
		ret = vrb_ini_new(ep, here, there, &ini);
	if (!ret)
		vrb_ini_join(ini, ep);
	return ret;
}

int vrb_xrc_connect(struct vrb_ep *ep)
{
	struct obj_prog *prog = ep->base.prog;
	int ret;

	ep->xrc->connects = true;
	lock_get(&prog->lock);
	ret = find_initiator(ep);
	lock_put(&prog->lock);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = vrb_target_new(ep->domain->xrcd, &ep->xrc->target);
	return ret ? ret : send_connect(ep);
}

/* A shared queue pair was destroyed at one end meanwhile: connect again, once the event is
 * acknowledged.
 */
static bool reconnect_later(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = ep->xrc;

	if (!xrc->connects || ++xrc->tries > TRIES)
		return false;
	leave_ini(ep);
	vrb_target_put(xrc->target);
	xrc->target = NULL;
	xrc->reconnect = true;
	return true;
}

void vrb_xrc_event_done(struct vrb_ep *ep)
{
	int ret;

	if (!ep->xrc->reconnect)
		return;
	ep->xrc->reconnect = false;
	ret = vrb_cm_reconnect(ep);
	if (ret)
		vrb_cm_refused(ep, -ret, 0, NULL, 0);
}

bool vrb_xrc_on_rejected(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	struct vrb_handshake hs;

	if (!vrb_handshake_parse(event->param.conn.private_data, event->param.conn.private_data_len,
			     &hs) || hs.kind != VRB_HANDSHAKE_STALE)
		return false;
	ep->xrc->new_ini = true;
	return reconnect_later(ep);
}

/* Connect both queue pairs as the accept says.
 * @num: the random queue pair number of the peer
 * Errors: -FI_ENOENT: a queue pair that was to be shared does not exist any more.
 */
static int take_answer(struct vrb_ep *ep, const struct vrb_handshake *hs, uint32_t num)
{
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_ini *ini = xrc->ini;
	struct vrb_target *other;
	int ret = 0;

	if (ini->state == VRB_INI_SHUT) {
		xrc->new_ini = true;
		return -FI_ENOENT;
	}
	if (ini->leader == ep) {
		ini->target = hs->my_target;
		ret = xrc_to_rts(ini->sq.qp, ep->cm.id, true, hs->my_target, xrc->num);
	} else if (ini->target != hs->my_target) {
		ret = -FI_EPROTO;
	}
	if (ret)
		return ret;
	xrc->srqn = hs->srqn;
	if (hs->your_target == xrc->target->qp->qp_num)
		return xrc_to_rts(xrc->target->qp, ep->cm.id, false, hs->initiator, num);
	if (vrb_target_open(ep->domain->xrcd, hs->your_target, &other)) {
		xrc->peer_new_ini = true;
		return -FI_ENOENT;
	}
	vrb_target_put(xrc->target);
	xrc->target = other;
	return 0;
}

static void save_data(struct vrb_ep *ep, const void *data, size_t len)
{
	ep->param_len = len < sizeof(ep->param) ? len : sizeof(ep->param);
	if (ep->param_len)
		memcpy(ep->param, data, ep->param_len);
}

void vrb_xrc_on_response(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	struct rdma_cm_id *id = ep->cm.id;
	struct vrb_handshake hs;
	int ret = -FI_EPROTO;

	if (!ep->xrc->ini)
		return;
	if (vrb_handshake_parse(conn->private_data, conn->private_data_len, &hs) &&
	    hs.kind == VRB_HANDSHAKE_ACCEPT)
		ret = take_answer(ep, &hs, conn->qp_num);
	if (!ret && vrb_cm.establish(id))
		ret = cm_errno();
	if (!ret) {
		/* It replaces the data of the request, which is not needed any more. */
		save_data(ep, (const char *) conn->private_data + VRB_HANDSHAKE_SIZE,
			  conn->private_data_len - VRB_HANDSHAKE_SIZE);
		xrc_established(ep);
		return;
	}
	xrc_refuse(id, VRB_HANDSHAKE_STALE);
	if (ret == -FI_ENOENT && reconnect_later(ep))
		return;
	VRB_WARN(FI_LOG_EP_CTRL, "endpoint %p: %s\n", (void *) ep, ret == -FI_EPROTO ?
		 "the peer is not an XRC endpoint, or has another version; open both ends with "
		 "FI_PROTO_RDMA_CM_IB_XRC" : fi_strerror(-ret));
	vrb_cm_refused(ep, -ret, 0, NULL, 0);
}

/* ---- the endpoint that accepts -------------------------------------------------- */

void vrb_xrc_request_free(struct vrb_xrc_req *req)
{
	if (!req)
		return;
	vrb_target_put(req->target);
	if (req->xrcd)
		vrb_xrcd_put(req->xrcd);
	free(req);
}

int vrb_xrc_request(const struct obj_fabric *fabric, const struct rdma_cm_event *event,
		    struct vrb_xrc_req **req_p, const void **data_p, size_t *len_p)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	struct vrb_xrc_req *req = calloc(1, sizeof(*req));
	struct vrb_handshake *hs;
	int ret;

	if (!req)
		return -FI_ENOMEM;
	hs = &req->hs;
	if (!vrb_handshake_parse(conn->private_data, conn->private_data_len, hs) ||
	    (hs->kind != VRB_HANDSHAKE_CONNECT && hs->kind != VRB_HANDSHAKE_CONNECT_NEW)) {
		VRB_WARN(FI_LOG_EP_CTRL, "a connection request is rejected: the peer is not an XRC "
			 "endpoint, or has another version\n");
		vrb_cm.reject(event->id, NULL, 0);
		free(req);
		return -FI_EPROTO;
	}
	req->num = conn->qp_num;
	ret = vrb_xrcd_get(fabric, event->id->verbs, &req->xrcd);
	if (!ret && hs->your_target)
		ret = vrb_target_open(req->xrcd, hs->your_target, &req->target);
	if (!ret) {
		*req_p = req;
		*data_p = (const char *) *data_p + VRB_HANDSHAKE_SIZE;
		*len_p -= VRB_HANDSHAKE_SIZE;
		return 0;
	}
	xrc_refuse(event->id, req->xrcd ? VRB_HANDSHAKE_STALE : VRB_HANDSHAKE_REJECT);
	vrb_xrc_request_free(req);
	return -FI_ENOENT;
}

/* The target of the connecting endpoint's initiator: opened already, or new. */
static int take_target(struct vrb_ep *ep, struct vrb_xrc_req *req)
{
	struct vrb_xrc *xrc = ep->xrc;
	int ret;

	if (req->target) {
		xrc->target = req->target;
		req->target = NULL;
		return 0;
	}
	ret = vrb_target_new(ep->domain->xrcd, &xrc->target);
	return ret ? ret : xrc_to_rts(xrc->target->qp, ep->cm.id, false, req->hs.initiator,
				      req->num);
}

/* An initiator to the connecting endpoint's host: shared, or a new one to the offered target. */
static int take_initiator(struct vrb_ep *ep, const struct vrb_handshake *hs)
{
	const struct sockaddr *here = rdma_get_local_addr(ep->cm.id);
	const struct sockaddr *there = rdma_get_peer_addr(ep->cm.id);
	struct vrb_ini *ini = NULL;
	int ret;

	if (hs->kind != VRB_HANDSHAKE_CONNECT_NEW)
		ini = vrb_ini_find(ep, here, there, true);
	if (ini) {
		vrb_ini_join(ini, ep);
		return 0;
	}
	ret = vrb_ini_new(ep, here, there, &ini);
	if (ret)
		return ret;
	vrb_ini_join(ini, ep);
	ini->target = hs->my_target;
	vrb_ini_set_state(ini, VRB_INI_ANSWERED);
	return xrc_to_rts(ini->sq.qp, ep->cm.id, true, hs->my_target, ep->xrc->num);
}

int vrb_xrc_accept(struct vrb_ep *ep, const struct vrb_connreq *cr, const void *data, size_t len)
{
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_handshake answer = { .kind = VRB_HANDSHAKE_ACCEPT, .srqn = own_srqn(ep) };
	struct rdma_conn_param param;
	uint8_t buf[VRB_CM_DATA];
	int ret;

	xrc->srqn = cr->xrc->hs.srqn;
	xrc->num = random_num();
	ret = take_target(ep, cr->xrc);
	if (!ret) {
		lock_get(&ep->base.prog->lock);
		ret = take_initiator(ep, &cr->xrc->hs);
		lock_put(&ep->base.prog->lock);
	}
	if (!ret) {
		answer.initiator = xrc->ini->sq.qp->qp_num;
		answer.your_target = xrc->ini->target;
		answer.my_target = xrc->target->qp->qp_num;
		param = vrb_cm_answer(ep, cr, xrc->num, buf, vrb_handshake_put(buf, &answer, data, len));
		ret = vrb_cm.accept(ep->cm.id, &param) ? cm_errno() : 0;
	}
	if (ret)
		leave_ini(ep);
	return ret;
}

void vrb_xrc_on_established(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	if (!ep->xrc->ini)
		return;		/* it has failed, and that was reported */
	ep->param_len = 0;
	if (ep->xrc->ini->state != VRB_INI_SHUT) {
		xrc_established(ep);
		return;
	}
	vrb_cm.disconnect(ep->cm.id);
	vrb_cm_refused(ep, FI_ECONNABORTED, 0, NULL, 0);
}
