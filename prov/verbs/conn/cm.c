/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connections, by librdmacm.  All events of a fabric come in one channel, which the group
 * of its listeners polls: whoever reads an event queue drives connections, and whoever
 * reads a completion queue pays nothing for them.
 *
 * A queue pair is made before there is a peer, so that receives can be posted; for that
 * the id is bound to the endpoint's own address first, which names the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj/auto.h"
#include "verbs/cm.h"

#define RESOLVE_MS 2000
#define RESOLVE_TRIES 5
#define RESOLVE_NOW 10		/* so often 10 ms fi_connect() itself waits at most */
#define RETRY_CNT 7
#define RNR_FOREVER 7		/* a peer that has no receive yet is waited for */
#define RD_ATOMIC 16u

struct cm_poller {
	struct obj_poller base;		/* first */
	struct rdma_event_channel *channel;
};

static const struct obj_poller_ops cm_poller_ops;

/* ---- events for the program -------------------------------------------------------------- */

void vrb_cm_tell(struct obj_eq *eq, uint32_t what, struct fid *fid, struct fi_info *info,
		 const void *param, size_t len)
{
	size_t size = sizeof(struct fi_eq_cm_entry) + len;
	struct fi_eq_cm_entry *entry = calloc(1, size);
	int ret = -FI_ENOMEM;

	if (entry) {
		entry->fid = fid;
		entry->info = info;
		if (len)
			memcpy(entry->data, param, len);
		ret = obj_eq_write(eq, what, entry, size, 0);
	}
	if (ret) {
		VRB_WARN(FI_LOG_EP_CTRL, "a connection event is lost: %s\n", fi_strerror(-ret));
		fi_freeinfo(info);
	}
	free(entry);
}

static void tell_error(struct vrb_ep *ep, int err, int status, const void *param, size_t len)
{
	struct fi_eq_err_entry entry = {
		.fid = &ep->base.h.fid.fid,
		.context = ep->base.h.fid.fid.context,
		.err = err,
		.prov_errno = status,
	};

	obj_eq_write_err(ep->base.eq, &entry, param, len);
}

/* ---- events of an endpoint ---------------------------------------------------------------- */

static unsigned at_most(unsigned value, unsigned limit)
{
	return value < limit ? value : limit;
}

struct rdma_conn_param vrb_cm_param(struct vrb_ep *ep, const void *data, size_t len)
{
	const struct ibv_device_attr *attr = &ep->domain->attr;

	return (struct rdma_conn_param) {
		.private_data = len ? data : NULL,
		.private_data_len = (uint8_t) len,
		.responder_resources = (uint8_t) at_most((unsigned) attr->max_qp_rd_atom, RD_ATOMIC),
		.initiator_depth = (uint8_t) at_most((unsigned) attr->max_qp_init_rd_atom,
						     RD_ATOMIC),
		.flow_control = 1,
		.retry_count = RETRY_CNT,
		.rnr_retry_count = RNR_FOREVER,
		.srq = ep->base.srx != NULL,
		.qp_num = ep->xrc ? ep->xrc->num : ep->qp->qp_num,
	};
}

static int resolve(struct vrb_ep *ep)
{
	return vrb_cm.resolve_addr(ep->cm.id, NULL, &ep->dest.sa, RESOLVE_MS) ? cm_errno() : 0;
}

/* Why a call was turned down: a reason of the InfiniBand specification (12.6.7.2); of iWARP
 * an error of the system, negated.
 */
static const char *why_rejected(int status)
{
	switch (status) {
	case 3:
		return "the peer's system has no room for a connection";
	case 8:
		return "nobody listens there";
	case 10:
		return "the peer's system still holds an earlier connection of the same queue pair "
		       "number; a call from another endpoint will do";
	case 28:
		return "the program there turned it down, or has too many that wait (FI_BACKLOG)";
	default:
		return status < 0 ? fi_strerror(-status) : "a reason of the connection manager";
	}
}

void vrb_cm_gave_up(struct vrb_ep *ep, int err, int status, const void *data, size_t len)
{
	vrb_ep_set_state(ep, VRB_EP_SHUT);
	if (ep->xrc)
		vrb_xrc_shut(ep);
	tell_error(ep, err, status, data, len);
}

static void refused(struct vrb_ep *ep, int err, const struct rdma_cm_event *event)
{
	const char *data = event->param.conn.private_data;
	size_t len = event->param.conn.private_data_len;
	char text[VRB_SA_TEXT_MAX];
	struct vrb_hello hello;
	bool said = event->event == RDMA_CM_EVENT_REJECTED;

	VRB_INFO(FI_LOG_EP_CTRL, "no connection to %s: %s, status %d%s%s\n",
		 vrb_sa_text(&ep->dest.sa, text), vrb_cm.event_str(event->event), event->status,
		 said ? ": " : "", said ? why_rejected(event->status) : "");
	if (ep->xrc && said)
		len = vrb_hello_parse(data, len, &hello) ? len - VRB_HELLO_SIZE : 0;
	if (ep->xrc && data)
		data += VRB_HELLO_SIZE;
	vrb_cm_gave_up(ep, err, event->status, said ? data : NULL, said ? len : 0);
}

static int call(struct vrb_ep *ep)
{
	struct rdma_conn_param param = vrb_cm_param(ep, ep->param, ep->param_len);

	return vrb_cm.connect(ep->cm.id, &param) ? cm_errno() : 0;
}

static void on_route(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	int ret;

	vrb_ep_set_state(ep, VRB_EP_CONNECTING);
	ret = ep->xrc ? vrb_xrc_call(ep) : call(ep);
	if (ret)
		refused(ep, -ret, event);
}

int vrb_cm_again(struct vrb_ep *ep)
{
	int ret;

	vrb_cm.destroy_id(ep->cm.id);
	ep->cm.id = NULL;
	vrb_ep_set_state(ep, VRB_EP_RESOLVING);
	ret = vrb_cm_bind(ep);
	return ret ? ret : resolve(ep);
}

/* Under load queries of addresses and routes time out, and work the next time. */
static void on_unresolved(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	int ret = -FI_EHOSTUNREACH;

	if (++ep->tries < RESOLVE_TRIES)
		ret = event->event == RDMA_CM_EVENT_ADDR_ERROR ? resolve(ep) :
		      vrb_cm.resolve_route(ep->cm.id, RESOLVE_MS) ? cm_errno() : 0;
	if (ret)
		refused(ep, event->status == -ETIMEDOUT ? FI_ETIMEDOUT : FI_EHOSTUNREACH, event);
}

/* The kernel leaves the time that a sender waits for a receive at its longest. */
static void set_rnr_timer(struct vrb_ep *ep)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = (uint8_t) vrb_conf.min_rnr_timer };

	if (ep->domain->ctx->device->transport_type != IBV_TRANSPORT_IWARP)
		vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_MIN_RNR_TIMER);
}

void vrb_cm_connected(struct vrb_ep *ep, const void *data, size_t len)
{
	vrb_ep_set_state(ep, VRB_EP_CONNECTED);
	vrb_cm_tell(ep->base.eq, FI_CONNECTED, &ep->base.h.fid.fid, NULL, data, len);
}

static void on_established(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	if (ep->xrc) {
		vrb_xrc_on_established(ep);
		return;
	}
	set_rnr_timer(ep);
	vrb_cm_connected(ep, conn->private_data, conn->private_data ? conn->private_data_len : 0);
}

static void on_disconnected(struct vrb_ep *ep)
{
	int was = atomic_load(&ep->state);

	vrb_ep_set_state(ep, VRB_EP_SHUT);
	vrb_cm.disconnect(ep->cm.id);	/* all that is posted is given back */
	if (ep->xrc && was == VRB_EP_CONNECTING) {
		vrb_cm_gave_up(ep, FI_ECONNABORTED, 0, NULL, 0);
		return;
	}
	if (ep->xrc)
		vrb_xrc_shut(ep);
	if (was == VRB_EP_CONNECTED)
		vrb_cm_tell(ep->base.eq, FI_SHUTDOWN, &ep->base.h.fid.fid, NULL, NULL, 0);
}

/* The device goes: its queue pairs do nothing more, and say so. */
static void on_removal(struct vrb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	VRB_WARN(FI_LOG_EP_CTRL, "device %s is being removed: endpoint %p is at its end\n",
		 ep->base.domain->attr->name, (void *) ep);
	if (ep->xrc)
		vrb_xrc_removed(ep);
	else
		vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_STATE);
	on_disconnected(ep);
}

static void on_ep_event(struct vrb_ep *ep, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ep->tries = 0;
		if (vrb_cm.resolve_route(ep->cm.id, RESOLVE_MS))
			refused(ep, -cm_errno(), event);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		on_route(ep, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		on_unresolved(ep, event);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		vrb_xrc_on_answer(ep, event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		on_established(ep, event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		if (!ep->xrc || !vrb_xrc_on_rejected(ep, event))
			refused(ep, FI_ECONNREFUSED, event);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		refused(ep, FI_ETIMEDOUT, event);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		refused(ep, FI_ECONNABORTED, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		on_disconnected(ep);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		on_removal(ep);
		break;
	default:
		VRB_INFO(FI_LOG_EP_CTRL, "endpoint %p: %s\n", (void *) ep,
			 vrb_cm.event_str(event->event));
		break;
	}
}

/* ---- the channel ------------------------------------------------------------------------------ */

static void on_event(struct rdma_cm_event *event)
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
	if (ret == -FI_ENOMEM) {
		VRB_WARN(FI_LOG_EP_CTRL, "a connection request is refused: out of memory\n");
		vrb_cm.reject(id, NULL, 0);
	}
	if (ret)
		vrb_cm.destroy_id(id);
	if (ep)
		vrb_xrc_handled(ep);
}

static int cm_poll(struct obj_poller *base, unsigned budget)
{
	struct cm_poller *p = container_of(base, struct cm_poller, base);
	struct rdma_cm_event *event;
	int done = 0;

	while ((unsigned) done < budget && !vrb_cm.get_cm_event(p->channel, &event)) {
		on_event(event);
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
		VRB_WARN(FI_LOG_EP_CTRL, "no channel for connection events: %s. See that the module "
			 "rdma_ucm is loaded and /dev/infiniband/rdma_cm may be used by you\n",
			 fi_strerror(-ret));
		free(p);
		return ret;
	}
	p->base.fd = p->channel->fd;
	fcntl(p->base.fd, F_SETFL, fcntl(p->base.fd, F_GETFL) | O_NONBLOCK);
	ret = obj_prog_add(prog, &p->base);
	if (ret)
		cm_close(&p->base);
	return ret;
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

int vrb_cm_drive(struct obj_domain *domain, struct obj_prog *prog)
{
	struct vrb_fabric *fabric = container_of(domain->fabric, struct vrb_fabric, base);
	int ret = 0;

	if (domain->attr->control_progress == FI_PROGRESS_MANUAL)
		return 0;
	lock_get(&prog->lock);
	if (!fabric->autop)
		ret = obj_auto_start(domain, &fabric->autop);
	lock_put(&prog->lock);
	return ret ? ret : obj_auto_watch(fabric->autop, prog);
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
		 id->verbs ? fi_strerror(-ret) : "it is not of an interface with an RDMA device");
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

	return vrb_cm_bind_in(ep->cm_prog, &ep->cm, info->src_addr ? info : ep->base.domain->info);
}

/* ---- names -------------------------------------------------------------------------------------- */

static int addr_out(struct sockaddr *sa, uint16_t port, void *addr, size_t *len)
{
	size_t room = *len, need = vrb_sa_len(sa);
	union vrb_sa out;

	if (!need)
		return -FI_EADDRNOTAVAIL;
	memcpy(&out, sa, need);
	vrb_sa_set_port(&out.sa, port);
	if (addr && room)
		memcpy(addr, &out, room < need ? room : need);
	*len = need;
	return room < need ? -FI_ETOOSMALL : 0;
}

int vrb_cm_name(struct rdma_cm_id *id, const struct fi_info *info, void *addr, size_t *len)
{
	if (id)
		return addr_out(rdma_get_local_addr(id), ntohs(vrb_cm.get_src_port(id)), addr, len);
	if (!info->src_addr)
		return -FI_EOPBADSTATE;
	return addr_out(info->src_addr, vrb_sa_port(info->src_addr), addr, len);
}

static int ep_getname(fid_t fid, void *addr, size_t *len)
{
	struct vrb_ep *ep = vrb_ep_of(container_of(fid, struct fid_ep, fid));
	int ret;

	if (!len || (!addr && *len))
		return -FI_EINVAL;
	lock_get(&ep->cm_prog->lock);
	ret = vrb_cm_name(ep->cm.id, ep->base.info, addr, len);
	lock_put(&ep->cm_prog->lock);
	return ret;
}

static int ep_getpeer(struct fid_ep *fid, void *addr, size_t *len)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	int ret = -FI_ENOTCONN;

	if (!len || (!addr && *len))
		return -FI_EINVAL;
	lock_get(&ep->cm_prog->lock);
	if (atomic_load(&ep->state) == VRB_EP_CONNECTED)
		ret = addr_out(rdma_get_peer_addr(ep->cm.id), ntohs(vrb_cm.get_dst_port(ep->cm.id)),
			       addr, len);
	lock_put(&ep->cm_prog->lock);
	return ret;
}

/* ---- calls ---------------------------------------------------------------------------------------- */

int vrb_cm_check_param(const void *param, size_t len, size_t room)
{
	if (len <= room && (param || !len))
		return 0;
	VRB_WARN(FI_LOG_EP_CTRL, "%zu bytes of private data; at most %zu go with a connection request "
		 "(FI_OPT_CM_DATA_SIZE)\n", len, room);
	return -FI_EINVAL;
}

static int connect_locked(struct vrb_ep *ep, const void *param, size_t len)
{
	int ret;

	switch (atomic_load(&ep->state)) {
	case VRB_EP_IDLE:
		break;
	case VRB_EP_CONNECTED:
		return -FI_EISCONN;
	case VRB_EP_SHUT:
		return -FI_EOPBADSTATE;
	default:
		return -FI_EALREADY;
	}
	if (ep->connreq)
		return -FI_EOPBADSTATE;
	if (len)
		memcpy(ep->param, param, len);
	ep->param_len = len;
	ret = resolve(ep);
	if (!ret)
		vrb_ep_set_state(ep, VRB_EP_RESOLVING);
	return ret;
}

/* Finding the way takes a moment and then the request is out: do it now, so that a program
 * that waits at the other end need not read this end's event queue for it.
 */
static void send_request(struct vrb_ep *ep)
{
	struct obj_poller *base = obj_prog_find(ep->cm_prog, &cm_poller_ops);
	struct pollfd pfd = { .fd = base->fd, .events = POLLIN };
	int i;

	for (i = 0; i < RESOLVE_NOW && atomic_load(&ep->state) == VRB_EP_RESOLVING; i++) {
		poll(&pfd, 1, 10);
		cm_poll(base, OBJ_POLL_BUDGET);
	}
}

static int ep_connect(struct fid_ep *fid, const void *addr, const void *param, size_t len)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	int ret = vrb_cm_check_param(param, len, vrb_cm_room(ep->xrc));

	if (!addr)
		addr = ep->base.info->dest_addr;
	if (!ret)
		ret = addr ? vrb_sa_copy(addr, vrb_sa_len(addr), &ep->dest) : -FI_EINVAL;
	if (!ret)
		ret = obj_ep_enable(&ep->base);
	if (ret)
		return ret;
	lock_get(&ep->cm_prog->lock);
	ret = connect_locked(ep, param, len);
	if (!ret)
		send_request(ep);
	lock_put(&ep->cm_prog->lock);
	return ret;
}

static int accept_locked(struct vrb_ep *ep, const void *data, size_t len)
{
	struct rdma_conn_param param = vrb_cm_param(ep, data, len);
	struct vrb_connreq *cr = ep->connreq;
	int ret;

	if (!cr || atomic_load(&ep->state) != VRB_EP_IDLE)
		return -FI_EOPBADSTATE;
	param.responder_resources = (uint8_t) at_most(param.responder_resources, cr->responder);
	param.initiator_depth = (uint8_t) at_most(param.initiator_depth, cr->initiator);
	ep->connreq = NULL;
	ret = ep->xrc ? vrb_xrc_accept(ep, cr, &param) :
	      vrb_cm.accept(ep->cm.id, &param) ? cm_errno() : 0;
	vrb_connreq_free(cr);
	if (!ret)
		vrb_ep_set_state(ep, VRB_EP_CONNECTING);
	return ret;
}

static int ep_accept(struct fid_ep *fid, const void *param, size_t len)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	int ret = vrb_cm_check_param(param, len, vrb_cm_room(ep->xrc));

	if (!ret)
		ret = obj_ep_enable(&ep->base);
	if (ret)
		return ret;
	lock_get(&ep->cm_prog->lock);
	ret = accept_locked(ep, param, len);
	lock_put(&ep->cm_prog->lock);
	return ret;
}

static int ep_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	int ret = -FI_ENOTCONN;

	if (flags)
		return -FI_EINVAL;
	lock_get(&ep->cm_prog->lock);
	if (atomic_load(&ep->state) == VRB_EP_CONNECTED) {
		lock_get(&ep->base.prog->lock);
		vrb_ep_drain(ep);
		lock_put(&ep->base.prog->lock);
		vrb_ep_set_state(ep, VRB_EP_SHUT);
		ret = vrb_cm.disconnect(ep->cm.id) ? cm_errno() : 0;
		if (ep->xrc)
			vrb_xrc_shut(ep);
	}
	lock_put(&ep->cm_prog->lock);
	return ret;
}

int vrb_cm_take(struct vrb_ep *ep, struct fid *handle)
{
	struct vrb_connreq *cr = container_of(handle, struct vrb_connreq, fid);

	if (handle->fclass == FI_CLASS_PEP)
		return vrb_pep_yield(handle, ep);
	if (handle->fclass != FI_CLASS_CONNREQ || handle->ops != &vrb_connreq_fid_ops)
		return -FI_EINVAL;
	if (!cr->xrc != !ep->xrc) {
		VRB_WARN(FI_LOG_EP_CTRL, "a connection request of an %s endpoint is not for a domain of "
			 "the other kind\n", cr->xrc ? "XRC" : "RC");
		return -FI_EINVAL;
	}
	if (cr->ep)
		return -FI_EBUSY;
	lock_get(&ep->cm_prog->lock);
	cr->ep = ep;
	ep->connreq = cr;
	ep->cm.id = cr->cm.id;
	ep->cm.id->context = &ep->cm;
	lock_put(&ep->cm_prog->lock);
	return 0;
}

void vrb_cm_close(struct vrb_ep *ep)
{
	struct vrb_connreq *cr = ep->connreq;

	if (cr) {
		vrb_cm.reject(ep->cm.id, NULL, 0);
		vrb_connreq_free(cr);
		ep->connreq = NULL;
	}
	if (!ep->cm.id)
		return;
	if (atomic_load(&ep->state) == VRB_EP_CONNECTED)
		vrb_cm.disconnect(ep->cm.id);
	if (ep->qp)
		vrb_cm.destroy_qp(ep->cm.id);
	vrb_cm.destroy_id(ep->cm.id);
	ep->cm.id = NULL;
}

struct fi_ops_cm vrb_cm_ops = {
	.getname = ep_getname,
	.getpeer = ep_getpeer,
	.connect = ep_connect,
	.accept = ep_accept,
	.shutdown = ep_shutdown,
};

void vrb_cm_init_ops(void)
{
	vrb_pep_init_ops();
	OBJ_OPS_FILL(&vrb_cm_ops, cm);
}
