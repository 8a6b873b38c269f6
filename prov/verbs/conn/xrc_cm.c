/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connections of XRC endpoints: xrc.h has the whole of it.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"
#include "verbs/cm.h"
#include "verbs/xrc.h"

#define TRIES 3u
#define MADE_UP 0x800000u	/* no device has so many queue pairs */

/* The kernel refuses a second connection with the same number of the peer's, and for a while
 * after the end of the first.
 */
static uint32_t made_up(void)
{
	uint32_t num;

	if (getrandom(&num, sizeof(num), GRND_NONBLOCK) != sizeof(num))
		num = (uint32_t) clock_ns();
	return MADE_UP | (num & (MADE_UP - 1));
}

static uint32_t own_srqn(const struct vrb_ep *ep)
{
	return container_of(ep->base.srx, struct vrb_ep, base)->xrc->srqn;
}

static void refuse(struct rdma_cm_id *id, enum vrb_hello_kind kind)
{
	struct vrb_hello hello = { .kind = kind };
	uint8_t data[VRB_HELLO_SIZE];

	vrb_cm.reject(id, data, (uint8_t) vrb_hello_put(data, &hello, NULL, 0));
}

/* ---- queue pairs ------------------------------------------------------------------------ */

/* Leave out what is of the other kind, and add what the connection cannot know. */
static void shape(struct ibv_qp_attr *attr, int *mask, bool sends, uint32_t dest, uint32_t psn)
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

/* @psn: number of the first packet, from the initiator to the target */
static int make_ready(struct ibv_qp *qp, struct rdma_cm_id *id, bool sends, uint32_t dest,
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
			shape(&attr, &mask, sends, dest, psn);
			ret = vrb_ibv.modify_qp(qp, &attr, mask);
		}
		if (ret) {
			VRB_WARN(FI_LOG_EP_CTRL, "the device does not set up an XRC queue pair that %s "
				 "(state %u): %s\n", sends ? "sends" : "receives", state,
				 fi_strerror(ret));
			return -ret;
		}
	}
	return 0;
}

/* ---- leaving, and what becomes of others ----------------------------------------------------- */

static void forget(struct vrb_ep *ep);

static void call_or_tell(struct vrb_ep *ep)
{
	int ret = vrb_xrc_call(ep);

	if (ret)
		vrb_cm_gave_up(ep, -ret, 0, NULL, 0);
}

/* Where the initiator leads is known, or will never be: who waited for that goes on. */
static void wake(struct vrb_ini *ini)
{
	struct list *pos;
	struct vrb_xrc *xrc;

	while ((pos = list_pop(&ini->waiting))) {
		xrc = container_of(pos, struct vrb_xrc, node);
		xrc->waits = false;
		xrc->ini = NULL;
		call_or_tell(xrc->ep);
	}
}

/* The connection of @leader did not come about.  It is on ini->eps still. */
static void lead_failed(struct vrb_ini *ini, const struct vrb_ep *leader)
{
	struct obj_prog *prog = leader->base.prog;
	struct list *pos, *next;
	struct vrb_ep *ep;

	lock_get(&prog->lock);
	if (ini->state != VRB_INI_SHUT)
		vrb_ini_set_state(ini, VRB_INI_SHUT);
	ini->leader = NULL;
	vrb_ini_unlist(ini);
	lock_put(&prog->lock);
	wake(ini);
	list_for_each_safe(pos, next, &ini->eps) {
		ep = container_of(pos, struct vrb_xrc, node)->ep;
		if (ep != leader) {
			vrb_cm.disconnect(ep->cm.id);
			vrb_cm_gave_up(ep, FI_ECONNABORTED, 0, NULL, 0);
		}
	}
}

/* No connection: nothing is under way by the initiator. */
static void forget(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_ini *ini = xrc->ini;

	if (!ini)
		return;
	if (xrc->waits) {
		list_del(&xrc->node);
		xrc->waits = false;
		xrc->ini = NULL;
		return;
	}
	if (ini->leader == ep)
		lead_failed(ini, ep);
	lock_get(&ep->base.prog->lock);
	vrb_ini_leave(ep);
	lock_put(&ep->base.prog->lock);
}

void vrb_xrc_shut(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = ep->xrc;

	if (!xrc->live) {
		forget(ep);
		return;
	}
	xrc->live = false;
	if (--xrc->ini->live)
		return;
	lock_get(&ep->base.prog->lock);
	vrb_ini_unlist(xrc->ini);	/* its target may be gone with the last peer */
	lock_put(&ep->base.prog->lock);
}

void vrb_xrc_removed(struct vrb_ep *ep)
{
	struct obj_prog *prog = ep->base.prog;

	if (!ep->poller)
		return;
	lock_get(&prog->lock);
	if (ep->xrc->live && ep->xrc->ini->state != VRB_INI_SHUT)
		vrb_ini_fail(ep->xrc->ini);
	lock_put(&prog->lock);
}

void vrb_xrc_quit(struct vrb_ep *ep)
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

/* ---- coming up ---------------------------------------------------------------------------- */

static void settle(struct vrb_ini *ini)
{
	struct vrb_xrc *xrc;
	struct list *pos;

	list_for_each(pos, &ini->eps) {
		xrc = container_of(pos, struct vrb_xrc, node);
		if (!xrc->joined || xrc->live)
			continue;
		xrc->live = true;
		ini->live++;
		obj_cm_connected(&xrc->ep->base, xrc->ep->param, xrc->ep->param_len);
	}
}

/* The connection of @ep is there. */
static void joined(struct vrb_ep *ep)
{
	struct vrb_ini *ini = ep->xrc->ini;

	ep->xrc->joined = true;
	if (ini->leader == ep) {
		lock_get(&ep->base.prog->lock);
		vrb_ini_set_state(ini, VRB_INI_UP);
		ini->leader = NULL;
		lock_put(&ep->base.prog->lock);
	}
	if (ini->state != VRB_INI_UP)
		return;
	settle(ini);
	wake(ini);
}

/* ---- who calls ------------------------------------------------------------------------------- */

static int send_call(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_ini *ini = xrc->ini;
	struct vrb_hello hello = {
		.kind = xrc->asks_afresh ? VRB_HELLO_CALL_AFRESH : VRB_HELLO_CALL,
		.srqn = own_srqn(ep),
		.initiator = ini->sq.qp->qp_num,
		.yours = ini->state == VRB_INI_CONNECTING ? 0 : ini->target,
		.mine = xrc->target->qp->qp_num,
	};
	uint8_t data[VRB_CM_DATA];
	size_t len = vrb_hello_put(data, &hello, ep->param, ep->param_len);
	struct rdma_conn_param param;

	xrc->num = made_up();
	param = vrb_cm_param(ep, data, len);
	return vrb_cm.connect(ep->cm.id, &param) ? cm_errno() : 0;
}

/* Returns 1 if it has to wait. */
static int find_initiator(struct vrb_ep *ep)
{
	const struct sockaddr *here = rdma_get_local_addr(ep->cm.id);
	const struct sockaddr *there = rdma_get_peer_addr(ep->cm.id);
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_ini *ini = xrc->afresh ? NULL : vrb_ini_find(ep, here, there, false);
	int ret = 0;

	if (ini && ini->state == VRB_INI_CONNECTING) {
		xrc->ini = ini;
		xrc->waits = true;
		list_add_tail(&xrc->node, &ini->waiting);
		return 1;
	}
	if (!ini)
		ret = vrb_ini_new(ep, here, there, &ini);
	if (!ret)
		vrb_ini_join(ini, ep);
	return ret;
}

int vrb_xrc_call(struct vrb_ep *ep)
{
	struct obj_prog *prog = ep->base.prog;
	int ret;

	ep->xrc->calls = true;
	lock_get(&prog->lock);
	ret = find_initiator(ep);
	lock_put(&prog->lock);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = vrb_target_new(ep->domain->xrcd, &ep->xrc->target);
	return ret ? ret : send_call(ep);
}

/* What both shared a moment ago is gone, at one end: once more, when the event is dealt with. */
static bool call_again(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = ep->xrc;

	if (!xrc->calls || ++xrc->tries > TRIES)
		return false;
	forget(ep);
	vrb_target_put(xrc->target);
	xrc->target = NULL;
	xrc->again = true;
	return true;
}

void vrb_xrc_handled(struct vrb_ep *ep)
{
	int ret;

	if (!ep->xrc || !ep->xrc->again)
		return;
	ep->xrc->again = false;
	ret = vrb_cm_again(ep);
	if (ret)
		vrb_cm_gave_up(ep, -ret, 0, NULL, 0);
}

bool vrb_xrc_on_rejected(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	struct vrb_hello hello;

	if (!vrb_hello_parse(event->param.conn.private_data, event->param.conn.private_data_len,
			     &hello) || hello.kind != VRB_HELLO_GONE)
		return false;
	ep->xrc->afresh = true;
	return call_again(ep);
}

/* @num: the peer's made up one
 * Errors: -FI_ENOENT: one of us has to make a queue pair after all.
 */
static int take_answer(struct vrb_ep *ep, const struct vrb_hello *hello, uint32_t num)
{
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_ini *ini = xrc->ini;
	struct vrb_target *other;
	int ret = 0;

	if (ini->state == VRB_INI_SHUT) {
		xrc->afresh = true;
		return -FI_ENOENT;
	}
	if (ini->leader == ep) {
		ini->target = hello->mine;
		ret = make_ready(ini->sq.qp, ep->cm.id, true, hello->mine, xrc->num);
	} else if (ini->target != hello->mine) {
		ret = -FI_EPROTO;
	}
	if (ret)
		return ret;
	xrc->srqn = hello->srqn;
	if (hello->yours == xrc->target->qp->qp_num)
		return make_ready(xrc->target->qp, ep->cm.id, false, hello->initiator, num);
	if (vrb_target_open(ep->domain->xrcd, hello->yours, &other)) {
		xrc->asks_afresh = true;
		return -FI_ENOENT;
	}
	vrb_target_put(xrc->target);
	xrc->target = other;
	return 0;
}

static void keep_data(struct vrb_ep *ep, const void *data, size_t len)
{
	ep->param_len = len < sizeof(ep->param) ? len : sizeof(ep->param);
	if (ep->param_len)
		memcpy(ep->param, data, ep->param_len);
}

void vrb_xrc_on_answer(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	struct rdma_cm_id *id = ep->cm.id;
	struct vrb_hello hello;
	int ret = -FI_EPROTO;

	if (!ep->xrc || !ep->xrc->ini)
		return;
	if (vrb_hello_parse(conn->private_data, conn->private_data_len, &hello) &&
	    hello.kind == VRB_HELLO_ANSWER)
		ret = take_answer(ep, &hello, conn->qp_num);
	if (!ret && vrb_cm.establish(id))
		ret = cm_errno();
	if (!ret) {
		/* Where the call's was, which is of no more use. */
		keep_data(ep, (const char *) conn->private_data + VRB_HELLO_SIZE,
			  conn->private_data_len - VRB_HELLO_SIZE);
		joined(ep);
		return;
	}
	refuse(id, VRB_HELLO_GONE);
	if (ret == -FI_ENOENT && call_again(ep))
		return;
	VRB_WARN(FI_LOG_EP_CTRL, "endpoint %p: %s\n", (void *) ep, ret == -FI_EPROTO ?
		 "who answered is no XRC endpoint, or of another version; both ends are to be opened "
		 "with FI_PROTO_RDMA_CM_IB_XRC" : fi_strerror(-ret));
	vrb_cm_gave_up(ep, -ret, 0, NULL, 0);
}

/* ---- who is called ----------------------------------------------------------------------------- */

void vrb_xrc_asked_free(struct vrb_asked *asked)
{
	if (!asked)
		return;
	vrb_target_put(asked->target);
	if (asked->xrcd)
		vrb_xrcd_put(asked->xrcd);
	free(asked);
}

int vrb_xrc_asked(const struct obj_fabric *fabric, const struct rdma_cm_event *event,
		  struct vrb_asked **asked_p)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	struct vrb_asked *asked = calloc(1, sizeof(*asked));
	struct vrb_hello *hello;
	int ret;

	if (!asked)
		return -FI_ENOMEM;
	hello = &asked->hello;
	if (!vrb_hello_parse(conn->private_data, conn->private_data_len, hello) ||
	    (hello->kind != VRB_HELLO_CALL && hello->kind != VRB_HELLO_CALL_AFRESH)) {
		VRB_WARN(FI_LOG_EP_CTRL, "a connection request is refused: who calls is no XRC "
			 "endpoint, or of another version\n");
		vrb_cm.reject(event->id, NULL, 0);
		free(asked);
		return -FI_EPROTO;
	}
	asked->num = conn->qp_num;
	ret = vrb_xrcd_get(fabric, event->id->verbs, &asked->xrcd);
	if (!ret && hello->yours)
		ret = vrb_target_open(asked->xrcd, hello->yours, &asked->target);
	if (!ret) {
		*asked_p = asked;
		return 0;
	}
	refuse(event->id, asked->xrcd ? VRB_HELLO_GONE : VRB_HELLO_NO);
	vrb_xrc_asked_free(asked);
	return -FI_ENOENT;
}

/* The target that the caller's initiator leads to. */
static int take_target(struct vrb_ep *ep, struct vrb_asked *asked)
{
	struct vrb_xrc *xrc = ep->xrc;
	int ret;

	if (asked->target) {
		xrc->target = asked->target;
		asked->target = NULL;
		return 0;
	}
	ret = vrb_target_new(ep->domain->xrcd, &xrc->target);
	return ret ? ret : make_ready(xrc->target->qp, ep->cm.id, false, asked->hello.initiator,
				      asked->num);
}

/* And ours, to where the caller is. */
static int take_initiator(struct vrb_ep *ep, const struct vrb_hello *hello)
{
	const struct sockaddr *here = rdma_get_local_addr(ep->cm.id);
	const struct sockaddr *there = rdma_get_peer_addr(ep->cm.id);
	struct vrb_ini *ini = NULL;
	int ret;

	if (hello->kind != VRB_HELLO_CALL_AFRESH)
		ini = vrb_ini_find(ep, here, there, true);
	if (ini) {
		vrb_ini_join(ini, ep);
		return 0;
	}
	ret = vrb_ini_new(ep, here, there, &ini);
	if (ret)
		return ret;
	vrb_ini_join(ini, ep);
	ini->target = hello->mine;
	vrb_ini_set_state(ini, VRB_INI_ANSWERED);
	return make_ready(ini->sq.qp, ep->cm.id, true, hello->mine, ep->xrc->num);
}

int vrb_xrc_accept(struct vrb_ep *ep, const struct vrb_connreq *cr, struct rdma_conn_param *param)
{
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_hello answer = { .kind = VRB_HELLO_ANSWER, .srqn = own_srqn(ep) };
	uint8_t data[VRB_CM_DATA];
	int ret;

	xrc->srqn = cr->xrc->hello.srqn;
	xrc->num = param->qp_num = made_up();
	ret = take_target(ep, cr->xrc);
	if (!ret) {
		lock_get(&ep->base.prog->lock);
		ret = take_initiator(ep, &cr->xrc->hello);
		lock_put(&ep->base.prog->lock);
	}
	if (!ret) {
		answer.initiator = xrc->ini->sq.qp->qp_num;
		answer.yours = xrc->ini->target;
		answer.mine = xrc->target->qp->qp_num;
		param->private_data_len = (uint8_t) vrb_hello_put(data, &answer, param->private_data,
								  param->private_data_len);
		param->private_data = data;
		ret = vrb_cm.accept(ep->cm.id, param) ? cm_errno() : 0;
	}
	if (ret)
		forget(ep);
	return ret;
}

void vrb_xrc_on_established(struct vrb_ep *ep)
{
	if (!ep->xrc->ini)
		return;		/* it is no more, and that was told */
	ep->param_len = 0;
	if (ep->xrc->ini->state != VRB_INI_SHUT) {
		joined(ep);
		return;
	}
	vrb_cm.disconnect(ep->cm.id);
	vrb_cm_gave_up(ep, FI_ECONNABORTED, 0, NULL, 0);
}
