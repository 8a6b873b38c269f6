/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.c - connections over librdmacm: obj/cm.h decides which call is allowed and reports the
 * outcome, this file does the steps.
 *
 *   fi_connect()   resolve address -> resolve route -> connect -> ESTABLISHED
 *   fi_accept()    accept -> ESTABLISHED
 *
 * All events of a fabric arrive in one channel, which the group of its listeners polls: reading an
 * event queue makes progress for connections, reading a completion queue does not.
 *
 * A queue pair is made before there is a peer, so that receives can be posted.  For that the id is
 * bound to the endpoint's own address first, which names the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/tclass.h"
#include "progress/thread.h"
#include "verbs/cm.h"

#define RESOLVE_MS 2000		/* timeout of one lookup */
#define RESOLVE_TRIES 5		/* lookups of one kind before the connection fails */
#define RESOLVE_NOW 10		/* fi_connect() itself waits at most so many times 10 ms */
#define RETRY_CNT 7		/* retransmissions by the device */
#define RNR_FOREVER 7		/* the device retries for ever when the peer has no receive posted */
#define RD_ATOMIC 16u		/* reads and atomics in flight at most */

struct cm_poller {
	struct obj_poller base;		/* first */
	struct rdma_event_channel *channel;
};

static const struct obj_poller_ops cm_poller_ops;

/* ---- events of an endpoint ------------------------------------------------------ */

static unsigned param_at_most(unsigned value, unsigned limit)
{
	return value < limit ? value : limit;
}

struct rdma_conn_param vrb_cm_param(struct vrb_ep *ep, uint32_t qp_num, const void *data, size_t len)
{
	const struct ibv_device_attr *attr = &ep->domain->attr;

	return (struct rdma_conn_param) {
		.private_data = len ? data : NULL,
		.private_data_len = (uint8_t) len,
		.responder_resources = (uint8_t) param_at_most((unsigned) attr->max_qp_rd_atom, RD_ATOMIC),
		.initiator_depth = (uint8_t) param_at_most((unsigned) attr->max_qp_init_rd_atom,
							   RD_ATOMIC),
		.flow_control = 1,
		.retry_count = RETRY_CNT,
		.rnr_retry_count = RNR_FOREVER,
		.srq = ep->base.srx != NULL,
		.qp_num = qp_num,
	};
}

struct rdma_conn_param vrb_cm_answer(struct vrb_ep *ep, const struct vrb_connreq *cr, uint32_t qp_num,
				     const void *data, size_t len)
{
	struct rdma_conn_param param = vrb_cm_param(ep, qp_num, data, len);

	param.responder_resources = (uint8_t) param_at_most(param.responder_resources, cr->responder);
	param.initiator_depth = (uint8_t) param_at_most(param.initiator_depth, cr->initiator);
	return param;
}

static const struct vrb_kind *ep_kind(const struct vrb_ep *ep)
{
	return ep->domain->kind;
}

static int cm_resolve(struct vrb_ep *ep)
{
	return vrb_cm.resolve_addr(ep->cm.id, NULL, &ep->dest.sa, RESOLVE_MS) ? cm_errno() : 0;
}

/* The reason of a reject: a code of the InfiniBand specification (12.6.7.2); on iWARP an errno,
 * negated.
 */
static const char *reject_reason(int status)
{
	switch (status) {
	case 3:
		return "the peer's system has no resources for a connection";
	case 8:
		return "no listener at this address";
	case 10:
		return "the peer's system still holds an earlier connection of the same queue pair "
		       "number; connect from another endpoint";
	case 28:
		return "the program rejected it, or its backlog is full (FI_BACKLOG)";
	default:
		return status < 0 ? fi_strerror(-status) : "see the InfiniBand specification";
	}
}

void vrb_cm_refused(struct vrb_ep *ep, int err, int status, const void *data, size_t len)
{
	obj_cm_refused(&ep->base, OBJ_CM_SHUT, err, status, data, len);
	ep_kind(ep)->shut(ep);
}

/* The connection failed.  A reject may carry private data. */
static void connect_refused(struct vrb_ep *ep, int err, const struct rdma_cm_event *event)
{
	bool rejected = event->event == RDMA_CM_EVENT_REJECTED;
	size_t len = rejected ? event->param.conn.private_data_len : 0;
	char text[VRB_SA_TEXT_MAX];
	const void *data = NULL;

	VRB_INFO(FI_LOG_EP_CTRL, "connection to %s failed: %s, status %d%s%s\n",
		 vrb_sa_text(&ep->dest.sa, text), vrb_cm.event_str(event->event), event->status,
		 rejected ? ": " : "", rejected ? reject_reason(event->status) : "");
	if (rejected)
		data = ep_kind(ep)->reject_data(event->param.conn.private_data, &len);
	vrb_cm_refused(ep, err, event->status, data, len);
}

/* The route is resolved: send the connection request.  Events of a connection that has ended
 * meanwhile are ignored, here as below.
 */
static void on_route(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	int ret;

	if (!ep->resolving || obj_cm_state(&ep->base) != OBJ_CM_CONNECTING)
		return;
	ep->resolving = false;
	ret = ep_kind(ep)->connect(ep);
	if (ret)
		connect_refused(ep, -ret, event);
}

int vrb_cm_reconnect(struct vrb_ep *ep)
{
	int ret;

	vrb_cm.destroy_id(ep->cm.id);
	ep->cm.id = NULL;
	ep->resolving = true;
	ret = vrb_cm_bind(ep);
	return ret ? ret : cm_resolve(ep);
}

/* Lookups of addresses and routes time out under load: retry. */
static void on_unresolved(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	int ret = -FI_EHOSTUNREACH;

	if (++ep->tries < RESOLVE_TRIES)
		ret = event->event == RDMA_CM_EVENT_ADDR_ERROR ? cm_resolve(ep) :
		      vrb_cm.resolve_route(ep->cm.id, RESOLVE_MS) ? cm_errno() : 0;
	if (ret)
		connect_refused(ep, event->status == -ETIMEDOUT ? FI_ETIMEDOUT : FI_EHOSTUNREACH, event);
}

/* The peer has disconnected, or the connection is lost.  An endpoint that shares a queue pair which
 * was not up yet reports that its connection failed.
 */
static void on_disconnected(struct vrb_ep *ep)
{
	enum obj_cm_state was = obj_cm_state(&ep->base);
	bool given_up = ep_kind(ep)->shares && was == OBJ_CM_CONNECTING;

	if (!given_up)
		obj_cm_shut(&ep->base);
	vrb_cm.disconnect(ep->cm.id);	/* flushes what is posted */
	if (given_up) {
		vrb_cm_refused(ep, FI_ECONNABORTED, 0, NULL, 0);
		return;
	}
	ep_kind(ep)->shut(ep);
	if (was == OBJ_CM_CONNECTED)
		obj_cm_ended(&ep->base);
}

/* The device is being removed: flush what is posted, and end the connection. */
static void on_cm_removal(struct vrb_ep *ep)
{
	VRB_WARN(FI_LOG_EP_CTRL, "device %s is being removed: the connection of endpoint %p ends\n",
		 ep->base.domain->attr->name, (void *) ep);
	ep_kind(ep)->on_removal(ep);
	on_disconnected(ep);
}

static void on_ep_event(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ep->tries = 0;
		if (vrb_cm.resolve_route(ep->cm.id, RESOLVE_MS))
			connect_refused(ep, -cm_errno(), event);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		on_route(ep, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		on_unresolved(ep, event);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		ep_kind(ep)->on_response(ep, event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		ep_kind(ep)->on_established(ep, event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		if (!ep_kind(ep)->on_rejected(ep, event))
			connect_refused(ep, FI_ECONNREFUSED, event);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		connect_refused(ep, FI_ETIMEDOUT, event);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		connect_refused(ep, FI_ECONNABORTED, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		on_disconnected(ep);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		on_cm_removal(ep);
		break;
	default:
		VRB_INFO(FI_LOG_EP_CTRL, "endpoint %p: %s\n", (void *) ep,
			 vrb_cm.event_str(event->event));
		break;
	}
}

/* ---- the channel ---------------------------------------------------------------- */

/* An id is destroyed only after its events are acknowledged: rdma_destroy_id() waits for that. */
static void on_cm_event(struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;
	struct vrb_id *cm = event->listen_id ? event->listen_id->context : id->context;
	struct vrb_ep *ep = NULL;
	int ret = 0;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		ret = vrb_pep_on_request(container_of(cm, struct vrb_pep, cm), event);
	else if (cm && cm->kind == VRB_ID_EP)
		on_ep_event(ep = container_of(cm, struct vrb_ep, cm), event);
	vrb_cm.ack_cm_event(event);
	if (ret == -FI_ENOMEM)
		vrb_cm_reject(id);
	if (ret)
		vrb_cm.destroy_id(id);
	if (ep)
		ep_kind(ep)->event_done(ep);
}

static int cm_poll(struct obj_poller *base, unsigned budget)
{
	struct cm_poller *p = container_of(base, struct cm_poller, base);
	struct rdma_cm_event *event;
	int done = 0;

	while ((unsigned) done < budget && !vrb_cm.get_cm_event(p->channel, &event)) {
		on_cm_event(event);
		done++;
	}
	return done;
}

static int cm_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	return 0;
}

static void cm_close(struct obj_poller *base)
{
	struct cm_poller *p = container_of(base, struct cm_poller, base);

	vrb_cm.destroy_event_channel(p->channel);
	free(p);
}

static const struct obj_poller_ops cm_poller_ops = {
	.poll = cm_poll,
	.arm = cm_arm,
	.close = cm_close,
};

static int cm_poller_new(struct obj_prog *prog)
{
	struct cm_poller *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return -FI_ENOMEM;
	p->base.ops = &cm_poller_ops;
	p->base.key = &cm_poller_ops;
	p->channel = vrb_cm.create_event_channel();
	if (!p->channel) {
		ret = cm_errno();
		VRB_WARN(FI_LOG_EP_CTRL, "cannot create a channel for connection events: %s. See that "
			 "the module rdma_ucm is loaded and that you may use /dev/infiniband/rdma_cm\n",
			 fi_strerror(-ret));
		free(p);
		return ret;
	}
	p->base.fd = p->channel->fd;
	fcntl(p->base.fd, F_SETFL, fcntl(p->base.fd, F_GETFL) | O_NONBLOCK);
	obj_prog_add(prog, &p->base);
	return 0;
}

int vrb_cm_open(struct obj_fabric *fabric, struct obj_prog **prog_p)
{
	int ret = obj_fabric_prog(fabric, prog_p);

	if (ret)
		return ret;
	lock_get(&(*prog_p)->lock);
	if (!obj_prog_find(*prog_p, &cm_poller_ops))
		ret = cm_poller_new(*prog_p);
	lock_put(&(*prog_p)->lock);
	if (ret)
		obj_prog_put(*prog_p);
	return ret;
}

int vrb_cm_auto(struct obj_domain *domain, struct obj_prog *prog)
{
	struct vrb_fabric *fabric = container_of(domain->fabric, struct vrb_fabric, base);
	int ret = 0;

	if (domain->attr->control_progress == FI_PROGRESS_MANUAL)
		return 0;
	lock_get(&prog->lock);
	if (!fabric->autop)
		ret = obj_auto_start(domain->prov, domain->attr->name, &fabric->autop);
	lock_put(&prog->lock);
	return ret ? ret : obj_auto_watch(fabric->autop, prog);
}

void vrb_cm_set_class(struct rdma_cm_id *id, const struct fi_info *info)
{
	uint32_t tclass = net_tclass_of(info);
	uint8_t octet = net_tclass_octet(tclass);

	if (tclass == FI_TC_UNSPEC || !vrb_cm.set_option)
		return;
	if (vrb_cm.set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &octet, sizeof(octet)))
		VRB_INFO(FI_LOG_EP_CTRL, "traffic class 0x%x is not set: %s\n", tclass,
			 fi_strerror(errno));
}

int vrb_cm_bind_id(struct rdma_event_channel *channel, const struct fi_info *info, void *context,
		   enum rdma_port_space ps, struct rdma_cm_id **id_p)
{
	char text[VRB_SA_TEXT_MAX];
	struct rdma_cm_id *id;
	union vrb_sa sa;
	int ret;

	if (!info->src_addr)
		return -FI_EADDRNOTAVAIL;
	ret = vrb_sa_copy(info->src_addr, info->src_addrlen, &sa);
	if (!ret && vrb_cm.create_id(channel, &id, context, ps))
		ret = cm_errno();
	if (ret)
		return ret;
	if (!vrb_cm.bind_addr(id, &sa.sa) && id->verbs) {
		*id_p = id;
		return 0;
	}
	ret = cm_errno();
	VRB_WARN(FI_LOG_EP_CTRL, "cannot use the address %s: %s\n", vrb_sa_text(&sa.sa, text),
		 id->verbs ? fi_strerror(-ret) : "no interface with an RDMA device has it");
	vrb_cm.destroy_id(id);
	return ret;
}

int vrb_cm_bind_in(struct obj_prog *prog, struct vrb_id *cm, const struct fi_info *info)
{
	struct cm_poller *p = container_of(obj_prog_find(prog, &cm_poller_ops), struct cm_poller,
					   base);

	return vrb_cm_bind_id(p->channel, info, cm, RDMA_PS_TCP, &cm->id);
}

int vrb_cm_bind(struct vrb_ep *ep)
{
	const struct fi_info *info = ep->base.info;

	int ret = vrb_cm_bind_in(ep->base.cm.prog, &ep->cm,
				 info->src_addr ? info : ep->base.domain->info);

	if (!ret)
		vrb_cm_set_class(ep->cm.id, info);
	return ret;
}

/* ---- names ---------------------------------------------------------------------- */

static int addr_out(const struct sockaddr *sa, uint16_t port, void *addr, size_t *len)
{
	size_t size = vrb_sa_len(sa);
	union vrb_sa out;

	if (!size)
		return -FI_EADDRNOTAVAIL;
	memcpy(&out, sa, size);
	vrb_sa_set_port(&out.sa, port);
	return obj_cm_copy_name(&out, size, addr, len);
}

int vrb_cm_name(struct rdma_cm_id *id, const struct fi_info *info, void *addr, size_t *len)
{
	if (id)
		return addr_out(rdma_get_local_addr(id), ntohs(vrb_cm.get_src_port(id)), addr, len);
	return obj_cm_info_name(info, addr, len);
}

static struct vrb_ep *ep_of(struct obj_ep *base)
{
	return container_of(base, struct vrb_ep, base);
}

static int cm_getname(struct obj_ep *base, void *addr, size_t *len)
{
	return vrb_cm_name(ep_of(base)->cm.id, base->info, addr, len);
}

static int cm_getpeer(struct obj_ep *base, void *addr, size_t *len)
{
	struct rdma_cm_id *id = ep_of(base)->cm.id;

	return addr_out(rdma_get_peer_addr(id), ntohs(vrb_cm.get_dst_port(id)), addr, len);
}

/* ---- calls ---------------------------------------------------------------------- */

/* Address and route are resolved within milliseconds.  Wait for them here, so that the request is
 * sent even if the program does not read its event queue meanwhile.
 */
static void push_request(struct vrb_ep *ep)
{
	struct obj_poller *base = obj_prog_find(ep->base.cm.prog, &cm_poller_ops);
	struct pollfd pfd = { .fd = base->fd, .events = POLLIN };
	int i;

	for (i = 0; i < RESOLVE_NOW && ep->resolving &&
	     obj_cm_state(&ep->base) == OBJ_CM_CONNECTING; i++) {
		poll(&pfd, 1, 10);
		cm_poll(base, OBJ_POLL_BUDGET);
	}
}

static int cm_connect(struct obj_ep *base, const void *addr, const void *param, size_t len)
{
	struct vrb_ep *ep = ep_of(base);
	int ret = vrb_sa_copy(addr, vrb_sa_len(addr), &ep->dest);

	if (ret)
		return ret;
	if (len)
		memcpy(ep->param, param, len);
	ep->param_len = len;
	ret = cm_resolve(ep);
	if (ret)
		return ret;
	ep->resolving = true;
	push_request(ep);
	return 0;
}

static int cm_accept(struct obj_ep *base, void *req, const void *data, size_t len)
{
	struct vrb_ep *ep = ep_of(base);
	struct vrb_connreq *cr = req;
	int ret = ep_kind(ep)->accept(ep, cr, data, len);

	vrb_connreq_free(cr);
	return ret;
}

static int cm_shutdown(struct obj_ep *base)
{
	struct vrb_ep *ep = ep_of(base);
	int ret;

	lock_get(&base->prog->lock);
	vrb_ep_drain(ep);
	lock_put(&base->prog->lock);
	obj_cm_shut(base);
	ret = vrb_cm.disconnect(ep->cm.id) ? cm_errno() : 0;
	ep_kind(ep)->shut(ep);
	return ret;
}

static void take_id(struct vrb_ep *ep, struct rdma_cm_id **id_p)
{
	ep->cm.id = *id_p;
	ep->cm.id->context = &ep->cm;
	*id_p = NULL;
}

static int cm_take_pep(struct obj_ep *base, struct obj_pep *pep)
{
	take_id(ep_of(base), &container_of(pep, struct vrb_pep, base)->cm.id);
	return 0;
}

/* The id names the device, and its queue pair is made when the endpoint is enabled. */
static int cm_take_req(struct obj_ep *base, void *req)
{
	struct vrb_connreq *cr = req;
	struct vrb_ep *ep = ep_of(base);

	if (cr->kind != ep_kind(ep)) {
		VRB_WARN(FI_LOG_EP_CTRL, "a connection request of an %s endpoint cannot be answered in "
			 "a domain of the other kind\n", cr->kind->name);
		return -FI_EINVAL;
	}
	take_id(ep, &cr->id);
	return 0;
}

/* The fast path is open while the endpoint is connected. */
static void cm_changed(struct obj_ep *base, enum obj_cm_state state)
{
	struct vrb_ep *ep = ep_of(base);

	atomic_store(&ep->fast_room, state == OBJ_CM_CONNECTED ? ep->fast_depth : 0);
	if (ep->native)
		vrb_native_connected(ep, state == OBJ_CM_CONNECTED);
}

void vrb_cm_close(struct vrb_ep *ep)
{
	if (ep->base.cm.req) {
		vrb_cm_reject(ep->cm.id);
		obj_cm_drop(&ep->base);
	}
	if (!ep->cm.id)
		return;
	if (vrb_connected(ep))
		vrb_cm.disconnect(ep->cm.id);
	if (ep->qp)
		vrb_cm.destroy_qp(ep->cm.id);
	vrb_cm.destroy_id(ep->cm.id);
	ep->cm.id = NULL;
}

const struct obj_cm_ops vrb_cm_ops = {
	.getname = cm_getname,
	.getpeer = cm_getpeer,
	.connect = cm_connect,
	.accept = cm_accept,
	.shutdown = cm_shutdown,
	.take_pep = cm_take_pep,
	.take_req = cm_take_req,
	.changed = cm_changed,
};
