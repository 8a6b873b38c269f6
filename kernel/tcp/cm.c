// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * cm.c - connected endpoints and what listens for them.
 */
#include <linux/slab.h>
#include <net/sock.h>

#include "tcp.h"

static struct tcp_ep *msg_ep_of(struct fid_ep *ep)
{
	return container_of(ep, struct tcp_ep, ep.ep);
}

static struct tcp_pep *msg_pep_of(struct kofi_pep *pep)
{
	return container_of(pep, struct tcp_pep, pep);
}

/* ---- what a connection tells ---- */

/* The event is posted before the connection can end, and after it can send. */
static bool msg_set_up(struct tcp_conn *conn, enum conn_state from, const void *data, size_t len)
{
	bool ok;

	spin_lock_bh(&conn->lock);
	ok = conn->state == from;
	if (ok) {
		conn->state = CONN_UP;
		kofi_ep_connected(&conn->ep->ep, 0, data, len);
	}
	spin_unlock_bh(&conn->lock);
	return ok;
}

static int msg_accepted(struct tcp_conn *conn)
{
	return msg_set_up(conn, CONN_WAIT_RESPONSE, tcp_cm_data(conn), tcp_cm_data_len(conn)) ? 0 :
	       -FI_ECONNABORTED;
}

static void msg_ended(struct tcp_conn *conn, enum conn_state was, int err)
{
	bool refused = err == FI_ECONNREFUSED && was == CONN_WAIT_RESPONSE;
	struct tcp_ep *ep = conn->ep;

	kofi_ep_down(&ep->ep, FI_ECANCELED);
	if (READ_ONCE(ep->ep.closing))
		return;
	if (was == CONN_UP)
		kofi_ep_ended(&ep->ep);
	else
		kofi_ep_connected(&ep->ep, err, refused ? tcp_cm_data(conn) : NULL,
				  refused ? tcp_cm_data_len(conn) : 0);
}

static const struct tcp_owner msg_owner = {
	.accepted = msg_accepted,
	.ended = msg_ended,
};

/* ---- connecting ---- */

static int msg_adopt(struct tcp_ep *ep, struct tcp_conn *conn)
{
	int ret = 0;

	spin_lock_bh(&ep->lock);
	if (ep->conn) {
		ret = -FI_EOPBADSTATE;
	} else {
		ep->conn = conn;
		tcp_conn_own(conn, &msg_owner, ep);
		list_add_tail(&conn->node, &ep->conns);
	}
	spin_unlock_bh(&ep->lock);
	return ret;
}

static int msg_connect(struct fid_ep *fid, const void *addr, const void *param, size_t paramlen)
{
	struct tcp_ep *ep = msg_ep_of(fid);
	struct sockaddr_storage to = {};
	struct tcp_conn *conn;
	int ret;

	if (ep->ep.type != FI_EP_MSG || !ep->ep.enabled)
		return -FI_EOPBADSTATE;
	if (!addr || !kofi_ip_len(addr) || paramlen > WIRE_CM_DATA_MAX)
		return -FI_EINVAL;
	memcpy(&to, addr, kofi_ip_len(addr));
	ret = kofi_ep_events(&ep->ep, WIRE_CM_DATA_MAX);
	if (ret)
		return ret;
	conn = tcp_conn_new(CONN_CONNECTING, tcp_serve, GFP_KERNEL);
	if (!conn)
		return -FI_ENOMEM;
	conn->cm_len = paramlen;
	memcpy(conn->cm, param, paramlen);
	ret = msg_adopt(ep, conn);
	if (ret) {
		tcp_conn_put(conn);
		return ret;
	}
	ret = tcp_sock_connect(conn, kofi_domain_net(ep->ep.domain), &ep->name, &to);
	/* The outcome is an event, and an early one is no exception. */
	if (ret)
		tcp_conn_end(conn, -ret);
	return 0;
}

int tcp_msg_claim(struct tcp_ep *ep, const struct fi_info *info)
{
	struct kofi_req *req;
	int ret = kofi_ep_take(&ep->ep, info, &req);

	if (ret || !req)
		return ret;
	return msg_adopt(ep, container_of(req, struct tcp_conn, req));
}

static bool conn_is_requested(struct tcp_conn *conn)
{
	return conn && READ_ONCE(conn->state) == CONN_REQUESTED;
}

static int msg_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct tcp_ep *ep = msg_ep_of(fid);
	struct tcp_conn *conn = READ_ONCE(ep->conn);
	int ret;

	if (ep->ep.type != FI_EP_MSG || !ep->ep.enabled)
		return -FI_EOPBADSTATE;
	if (paramlen > WIRE_CM_DATA_MAX)
		return -FI_EINVAL;
	if (!conn || (conn->state != CONN_REQUESTED && conn->state != CONN_DEAD))
		return -FI_EOPBADSTATE;
	ret = kofi_ep_events(&ep->ep, WIRE_CM_DATA_MAX);
	if (ret)
		return ret;
	/* The work item sends nothing before the state is CONN_UP. */
	ret = conn_is_requested(conn) ? tcp_cm_write(conn, WIRE_CM_RESPONSE, param, paramlen) :
	      -FI_ECONNABORTED;
	if (ret || !msg_set_up(conn, CONN_REQUESTED, NULL, 0)) {
		tcp_conn_end(conn, FI_ECONNABORTED);
		return -FI_ECONNABORTED;
	}
	tcp_conn_kick(conn);
	return 0;
}

static int msg_reject(struct fid_pep *fid, fid_t handle, const void *param, size_t paramlen)
{
	struct tcp_conn *conn;
	struct kofi_req *req;

	if (paramlen > WIRE_CM_DATA_MAX)
		return -FI_EINVAL;
	req = kofi_pep_take(container_of(fid, struct kofi_pep, pep), handle);
	if (!req)
		return -FI_EINVAL;
	conn = container_of(req, struct tcp_conn, req);
	if (conn_is_requested(conn))
		tcp_cm_write(conn, WIRE_CM_REFUSAL, param, paramlen);
	tcp_serve_stop(conn, FI_ESHUTDOWN);
	tcp_conn_put(conn);
	return 0;
}

static int msg_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct tcp_ep *ep = msg_ep_of(fid);
	struct tcp_conn *conn = READ_ONCE(ep->conn);

	if (flags)
		return -FI_EBADFLAGS;
	if (!conn || READ_ONCE(conn->state) != CONN_UP)
		return -FI_ENOTCONN;
	tcp_conn_end(conn, FI_ESHUTDOWN);
	flush_work(&conn->io);
	return 0;
}

/* ---- names ---- */

static struct sockaddr_storage *msg_name_of(fid_t fid)
{
	return fid->fclass == FI_CLASS_PEP ? &container_of(fid, struct tcp_pep, pep.pep.fid)->name :
					     &container_of(fid, struct tcp_ep, ep.ep.fid)->name;
}

static int msg_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct sockaddr_storage *name = msg_name_of(fid);

	if (addrlen < sizeof(sa_family_t) || !kofi_ip_len(addr) || addrlen < kofi_ip_len(addr))
		return -FI_EINVAL;
	memset(name, 0, sizeof(*name));
	memcpy(name, addr, kofi_ip_len(addr));
	return 0;
}

static int msg_getname(fid_t fid, void *addr, size_t *addrlen)
{
	const struct sockaddr_storage *name = msg_name_of(fid);

	return name->ss_family ? kofi_name_copy(addr, addrlen, name, kofi_ip_len(name)) :
				 -FI_EADDRNOTAVAIL;
}

static int msg_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct tcp_conn *conn = READ_ONCE(msg_ep_of(fid)->conn);

	if (!conn || READ_ONCE(conn->state) != CONN_UP)
		return -FI_ENOTCONN;
	return kofi_name_copy(addr, addrlen, &conn->addr, kofi_ip_len(&conn->addr));
}

/* ---- listening ---- */

/* The request becomes an event; its info is the listener's, with the peer's address. */
static int pep_on_request(struct tcp_listener *listener, struct tcp_conn *conn)
{
	struct tcp_pep *pep = container_of(listener, struct tcp_pep, listener);
	struct fi_info *info = kofi_pep_info(&pep->pep, &conn->addr);
	int ret;

	if (!info)
		return -FI_ENOMEM;
	ret = kofi_req_post(&pep->pep, &conn->req, info, tcp_cm_data(conn), tcp_cm_data_len(conn),
			    GFP_KERNEL);
	if (ret)
		fi_freeinfo(info);
	return ret;
}

static int pep_listen(struct kofi_pep *kpep)
{
	struct tcp_pep *pep = msg_pep_of(kpep);

	return tcp_listen(&pep->listener, kpep->fabric->fabric.net, &pep->name, pep_on_request);
}

/* It is in one list at any time, so that a close finds it. */
static bool pep_leave(struct kofi_pep *pep, struct kofi_req *req)
{
	return tcp_listener_take(&msg_pep_of(pep)->listener, container_of(req, struct tcp_conn, req));
}

static void pep_stop(struct kofi_pep *pep)
{
	tcp_listen_stop(&msg_pep_of(pep)->listener);
}

static void pep_refuse(struct kofi_req *req)
{
	struct tcp_conn *conn = container_of(req, struct tcp_conn, req);

	tcp_serve_stop(conn, FI_ECONNABORTED);
	tcp_conn_put(conn);
}

static void pep_free(struct kofi_pep *pep)
{
	kfree(msg_pep_of(pep));
}

static const struct kofi_pep_ops pep_ops = {
	.listen = pep_listen,
	.stop = pep_stop,
	.refuse = pep_refuse,
	.free = pep_free,
	.leave = pep_leave,
};

struct fi_ops_cm tcp_cm = {
	.size = offsetofend(struct fi_ops_cm, shutdown),
	.setname = msg_setname,
	.getname = msg_getname,
	.getpeer = msg_getpeer,
	.connect = msg_connect,
	.listen = kofi_pep_listen,
	.accept = msg_accept,
	.reject = msg_reject,
	.shutdown = msg_shutdown,
};

int tcp_passive_ep(struct kofi_fabric_obj *fabric, struct fi_info *info, struct fid_pep **pep_p,
		   void *context)
{
	struct tcp_pep *pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	int ret;

	if (!pep)
		return -FI_ENOMEM;
	if (info->src_addr)
		memcpy(&pep->name, info->src_addr, min(info->src_addrlen, sizeof(pep->name)));
	ret = kofi_pep_init(&pep->pep, fabric, info, &pep_ops, &tcp_cm, context);
	if (ret) {
		kfree(pep);
		return ret;
	}
	*pep_p = &pep->pep.pep;
	return 0;
}
