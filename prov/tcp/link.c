/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link: what the engine calls, for an endpoint and for a listener.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/sockios.h>

#include "engine/api.h"
#include "engine/near.h"
#include "info/getinfo.h"
#include "frame.h"
#include "link.h"

static struct tcp_link *link_of(struct eng_link *base)
{
	return container_of(base, struct tcp_link, base);
}

/* ---- opening ------------------------------------------------------------------------ */

static uint64_t random_epoch(void)
{
	uint64_t epoch = 0;

	while (!epoch)
		if (getrandom(&epoch, sizeof(epoch), 0) != sizeof(epoch))
			epoch = clock_ns();
	return epoch;
}

static int link_new(struct obj_prog *prog, const struct fi_provider *prov,
		    const struct fi_info *info, enum tcp_wire_kind kind, struct tcp_link **link_p)
{
	struct tcp_link *link = calloc(1, sizeof(*link));
	int ret;

	if (!link)
		return -FI_ENOMEM;
	link->conf = tcp_conf_of(prov);
	link->kind = kind;
	link->epoch = random_epoch();
	link->listener.src.fd = -1;
	list_init(&link->conns);
	list_init(&link->chans);
	if (info->src_addr && net_addr_copy(info->src_addr, info->src_addrlen, &link->addr)) {
		TCP_WARN(link->conf, "src_addr of the endpoint's fi_info is no IP address\n");
		free(link);
		return -FI_EINVAL;
	}
	link->name = link->addr;
	ret = tcp_poller_get(prog, link->conf, &link->poller);
	if (ret) {
		free(link);
		return ret;
	}
	link->base.ops = &tcp_link_ops;
	link->base.prog = prog;
	link->base.attr = (struct eng_link_attr) {
		.max_payload = TCP_PAYLOAD_MAX,
		.eager_limit = link->conf->eager_size,
		.seg_size = TCP_PAYLOAD_MAX,
		.addr_len = net_addr_len(&link->addr.sa),
	};
	*link_p = link;
	return 0;
}

static int open_rdm(struct tcp_link *link, const struct fi_info *info)
{
	int ret;

	if (!link->base.attr.addr_len) {
		net_addr_any(info->addr_format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_INET,
			     &link->addr);
		link->base.attr.addr_len = net_addr_len(&link->addr.sa);
	}
	ret = tcp_listener_bind(link);
	if (!ret)
		ret = tcp_listener_start(link, 0);
	if (ret)
		tcp_listener_close(link);
	return ret;
}

static int link_open(struct eng_ep *ep, struct eng_link **link_p)
{
	struct obj_ep *base = eng_ep_base(ep);
	enum tcp_wire_kind kind = base->type == FI_EP_MSG ? TCP_WIRE_MSG : TCP_WIRE_RDM;
	struct tcp_link *link;
	int ret;

	ret = link_new(base->prog, base->prov, base->info, kind, &link);
	if (ret)
		return ret;
	link->base.ep = ep;
	if (kind == TCP_WIRE_RDM)
		ret = open_rdm(link, base->info);
	if (ret) {
		free(link);
		return ret;
	}
	*link_p = &link->base;
	return 0;
}

static int pep_open(struct eng_pep *pep, struct eng_link **link_p)
{
	struct obj_pep *base = eng_pep_base(pep);
	struct tcp_link *link;
	int ret;

	ret = link_new(base->prog, base->fabric->prov, base->info, TCP_WIRE_MSG, &link);
	if (ret)
		return ret;
	link->base.pep = pep;
	if (!link->base.attr.addr_len)
		net_addr_any(base->info->addr_format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_INET,
			     &link->addr);
	ret = tcp_listener_bind(link);
	if (ret) {
		free(link);
		return ret;
	}
	*link_p = &link->base;
	return 0;
}

static int link_listen(struct eng_link *base, int backlog)
{
	return tcp_listener_start(link_of(base), backlog);
}

/* ---- closing -------------------------------------------------------------------------- */

/* unsent - bytes that the other host has not acknowledged: closing a socket that
 * has unread input would throw them away.
 */
static bool unsent(const struct tcp_conn *conn)
{
	int bytes = 0;

	return !ioctl(conn->src.fd, SIOCOUTQ, &bytes) && bytes > 0;
}

static bool any_unsent(const struct tcp_conn *conn)
{
	const struct tcp_lanes *lanes = conn->lanes;
	unsigned i;

	for (i = 1; lanes && i < lanes->cnt; i++)
		if (lanes->conn[i] && unsent(lanes->conn[i]))
			return true;
	return unsent(conn);
}

/* finish - true when all that was sent is in the other host's care.  What comes in
 * meanwhile is read and dropped by poll(), so that closing provokes no reset.
 */
static bool finish(struct tcp_chan *chan)
{
	struct tcp_conn *conn = chan->conn;

	if (chan->state != TCP_CHAN_READY)
		return list_empty(&chan->txq);
	if (conn->state != TCP_CONN_READY)
		return true;
	conn->tx.shut = true;
	tcp_tx_pump(conn);
	return tcp_tx_idle(conn) && !any_unsent(conn);
}

static bool finish_all(void *arg)
{
	struct tcp_link *link = arg;
	struct list *pos, *next;
	bool all = true;

	list_for_each_safe(pos, next, &link->chans)
		all &= finish(container_of(pos, struct tcp_chan, link_node));
	return all;
}

static void link_close(struct eng_link *base, int linger_ms)
{
	struct tcp_link *link = link_of(base);

	tcp_listener_close(link);
	link->closing = true;
	obj_poller_drain(&link->poller->base, finish_all, link, linger_ms);
	while (!list_empty(&link->chans))
		tcp_chan_put(container_of(link->chans.next, struct tcp_chan, link_node));
	while (!list_empty(&link->conns))
		tcp_conn_close(container_of(link->conns.next, struct tcp_conn, node));
	tcp_poller_reap(link->poller);
	free(link);
}

static void pep_close(struct eng_link *base)
{
	link_close(base, 0);
}

/* ---- names ------------------------------------------------------------------------------- */

static int link_getname(struct eng_link *base, void *addr, size_t *len)
{
	struct tcp_link *link = link_of(base);
	struct tcp_conn *conn;
	union net_sa name;

	/* a connected endpoint has the address of its socket */
	if (link->listener.src.fd < 0 && !list_empty(&link->conns)) {
		conn = container_of(link->conns.next, struct tcp_conn, node);
		if (!net_sock_name(conn->src.fd, &name))
			return tcp_addr_out(&name, addr, len);
	}
	return tcp_addr_out(&link->name, addr, len);
}

static int link_setname(struct eng_link *base, const void *addr, size_t len)
{
	struct tcp_link *link = link_of(base);
	union net_sa was = link->addr, name;
	int ret;

	ret = net_addr_copy(addr, len, &name);
	if (ret)
		return ret;
	if (!list_empty(&link->conns) || link->listener.src.event)
		return -FI_EOPBADSTATE;
	link->addr = name;
	if (link->listener.src.fd < 0)
		return 0;
	tcp_listener_close(link);
	ret = tcp_listener_bind(link);
	if (ret) {
		link->addr = was;
		tcp_listener_bind(link);
	}
	return ret;
}

/* ---- peers and packets ---------------------------------------------------------------------- */

static int peer_get(struct eng_link *base, struct eng_peer *peer)
{
	struct tcp_link *link = link_of(base);

	if (link->kind == TCP_WIRE_MSG)
		return 0;	/* fi_connect() and fi_accept() do it */
	return tcp_rdm_get(link, tcp_chan_of(link, peer));
}

static void peer_put(struct eng_link *base, struct eng_peer *peer)
{
	struct tcp_chan *chan = eng_peer_chan(peer);

	if (chan->link)
		tcp_chan_put(chan);
}

static int send_pkt(struct eng_link *base, struct eng_peer *peer, struct eng_pkt *pkt)
{
	struct tcp_chan *chan = eng_peer_chan(peer);

	if (__builtin_expect(chan->state == TCP_CHAN_READY, 1))
		return tcp_tx_send(chan->conn, pkt);
	if (chan->state == TCP_CHAN_IDLE)
		return -FI_ENOTCONN;
	tcp_tx_queue(chan, pkt);
	if (chan->state == TCP_CHAN_PARKED)
		tcp_rdm_call(chan);
	return 0;
}

static void flush(struct eng_link *base)
{
	tcp_poller_flush(link_of(base)->poller);
}

static void *hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	return tcp_rx_hold(link_of(base)->poller, rx);
}

static int pull(struct eng_link *base, void *token, const struct iovec *iov, size_t iov_cnt,
		void *cookie)
{
	return tcp_rx_pull(token, iov, iov_cnt, cookie);
}

static void drop(struct eng_link *base, void *token)
{
	tcp_rx_release(token);
}

static const struct eng_link_ops *near_link(struct eng_ep *ep)
{
#if HAVE_SHM
	if (tcp_conf_of(eng_ep_base(ep)->prov)->local)
		return &shm_near_ops;
#endif
	return NULL;
}

const struct eng_link_ops tcp_link_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "tcp",
	.chan_size = sizeof(struct tcp_chan),
	.open = link_open,
	.close = link_close,
	.getname = link_getname,
	.setname = link_setname,
	.peer_get = peer_get,
	.peer_put = peer_put,
	.send = send_pkt,
	.slot = tcp_tx_slot,
	.post = tcp_tx_post,
	.flush = flush,
	.hold = hold,
	.pull = pull,
	.drop = drop,
	.pep_open = pep_open,
	.pep_close = pep_close,
	.listen = link_listen,
	.connect = tcp_cm_connect,
	.accept = tcp_cm_accept,
	.reject = tcp_cm_reject,
	.req_drop = tcp_cm_req_drop,
	.shutdown = tcp_cm_shutdown,
	.getpeer = tcp_cm_getpeer,
	.cm_data_size = TCP_WIRE_DATA_MAX,
	.near = near_link,
};
