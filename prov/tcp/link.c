/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * struct eng_link_ops: what the engine asks of this link, for endpoints and passive endpoints.
 */
#include "config.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/api.h"
#include "channel/select.h"
#include "net/opt.h"
#include "net/tclass.h"
#include "obj/cm.h"
#include "link.h"

#define BACKOFF_NS (5 * CLOCK_NS_PER_MS)
#define YIELD_NS (500 * CLOCK_NS_PER_MS)

static struct tcp_link *link_of(struct eng_link *base)
{
	return container_of(base, struct tcp_link, base.base);
}

/* ---- opening ------------------------------------------------------------------------ */

/* set_addr - the address to bind: that of @info; where a listener has none, the wildcard. */
static int set_addr(struct tcp_link *link, const struct fi_info *info, bool listens)
{
	if (info->src_addr && net_addr_copy(info->src_addr, info->src_addrlen, &link->addr)) {
		TCP_WARN(link->conf, "src_addr of the endpoint's fi_info is no IP address\n");
		return -FI_EINVAL;
	}
	if (info->domain_attr && info->domain_attr->name)
		snprintf(link->iface, sizeof(link->iface), "%s", info->domain_attr->name);
	if (listens && !net_addr_len(&link->addr.sa))
		net_addr_any(info->addr_format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_INET, &link->addr);
	link->name = link->addr;
	return listens ? tcp_listener_bind(link) : 0;
}

/* link_new - @listens: a passive endpoint or an RDM endpoint, which binds its socket here. */
static int link_new(struct obj_prog *prog, const struct fi_provider *prov,
		    const struct fi_info *info, struct sec_policy *sec, enum tcp_wire_kind kind,
		    bool listens, struct tcp_link **link_p)
{
	const struct tcp_conf *env = tcp_conf_of(prov);
	struct chan_conf conf = {
		.retry_ms = env->conn_retry_ms,
		.conn_timeout_ms = env->conn_timeout_ms,
		.backoff_ns = BACKOFF_NS,
		.yield_ns = YIELD_NS,
		.parked_check_ns = env->keepalive_on ? env->keepalive.idle_s * CLOCK_NS_PER_S : 0,
	};
	struct tcp_link *link = calloc(1, sizeof(*link));
	int ret;

	if (!link)
		return -FI_ENOMEM;
	link->conf = env;
	link->kind = kind;
	link->sec = sec;
	link->base.msg = kind == TCP_WIRE_MSG;
	chan_link_init(&link->base, &tcp_chan_ops, &conf, prov);
	link->listener.base.src.fd = -1;
	link->tclass = net_tclass_of(info);
	link->tags = info->ep_attr && info->ep_attr->protocol == NET_PROTO_TCP_TAGS;
	list_init(&link->conns);
	list_init(&link->listener.refused);
	ret = tcp_poller_get(prog, link->conf, &link->poller);
	if (!ret)
		ret = set_addr(link, info, listens);
	if (ret) {
		free(link);
		return ret;
	}
	if (sec && env->recover)
		TCP_WARN(env, "FI_RECOVER has no effect where FI_SECURITY protects connections: one that is cut is lost\n");
	if (sec || env->recover)
		link->poller->protects = link->poller->rx_slow = true;
	link->base.poller = &link->poller->base;
	link->base.base.ops = &tcp_link_ops;
	link->base.base.prog = prog;
	link->base.base.attr = (struct eng_link_attr) {
		.max_payload = TCP_PAYLOAD_MAX,
		.eager_limit = link->conf->eager_size,
		.seg_size = TCP_PAYLOAD_MAX,
		.addr_len = listens ? net_addr_len(&link->addr.sa) : sizeof(union net_sa),
	};
	*link_p = link;
	return 0;
}

static int ep_open(struct eng_ep *ep, struct eng_link **link_p)
{
	struct obj_ep *base = eng_ep_base(ep);
	bool rdm = base->type != FI_EP_MSG;
	struct tcp_link *link;
	int ret;

	ret = link_new(base->prog, base->prov, base->info, base->sec,
		       rdm ? TCP_WIRE_RDM : TCP_WIRE_MSG, rdm, &link);
	if (ret)
		return ret;
	link->base.base.ep = ep;
	if (rdm)
		ret = tcp_listener_start(link, 0);
	if (rdm && !ret)
		tcp_rails_open(link);
	if (ret) {
		tcp_listener_close(link);
		free(link);
		return ret;
	}
	if (rdm && link->conf->local)
		chan_select_open(ep, &link->base);
	*link_p = &link->base.base;
	return 0;
}

static int pep_open(struct eng_pep *pep, struct eng_link **link_p)
{
	struct obj_pep *base = eng_pep_base(pep);
	struct tcp_link *link;
	int ret;

	ret = link_new(base->prog, base->fabric->prov, base->info, base->sec, TCP_WIRE_MSG, true, &link);
	if (ret)
		return ret;
	link->base.base.pep = pep;
	*link_p = &link->base.base;
	return 0;
}

static int link_open(struct eng_ep *ep, struct eng_pep *pep, struct eng_link **link_p)
{
	return ep ? ep_open(ep, link_p) : pep_open(pep, link_p);
}

static int link_listen(struct eng_link *base, int backlog)
{
	return tcp_listener_start(link_of(base), backlog);
}

/* ---- closing -------------------------------------------------------------------------- */

static void link_close(struct eng_link *base, int linger_ms)
{
	struct tcp_link *link = link_of(base);

	/* no new connections first; then the old ones send what they have, in @linger_ms at most */
	tcp_listener_close(link);
	tcp_rails_close(link);
	chan_link_end(&link->base, linger_ms);
	while (!list_empty(&link->conns))
		tcp_conn_close(container_of(link->conns.next, struct tcp_conn, node));
	tcp_poller_reap(link->poller);
	free(link);
}

/* ---- names ------------------------------------------------------------------------------- */

static int link_getname(struct eng_link *base, struct eng_peer *peer, void *addr, size_t *len)
{
	struct tcp_link *link = link_of(base);
	union net_sa name = link->name;
	struct tcp_conn *conn;

	if (peer)
		return tcp_cm_getpeer(peer, addr, len);
	/* a MSG endpoint has the address of its socket */
	if (link->listener.base.src.fd < 0 && !list_empty(&link->conns)) {
		conn = container_of(link->conns.next, struct tcp_conn, node);
		if (net_sock_name(conn->src.fd, &name))
			name = link->name;
	}
	return net_addr_len(&name.sa) ? obj_cm_copy_name(&name, net_addr_len(&name.sa), addr, len) :
					-FI_EADDRNOTAVAIL;
}

/* The old socket is closed first, since both may want one port; if the new address cannot be bound,
 * the endpoint has its old one again.
 */
static int link_setname(struct eng_link *base, const void *addr, size_t len)
{
	struct tcp_link *link = link_of(base);
	union net_sa was = link->addr, name;
	int ret;

	ret = net_addr_copy(addr, len, &name);
	if (ret)
		return ret;
	if (!list_empty(&link->conns) || link->listener.base.poller)
		return -FI_EOPBADSTATE;
	link->addr = name;
	if (link->listener.base.src.fd < 0)
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

/* A channel that is not connected keeps packets, and sends them when the handshake is done. */
static int send_pkt(void *chan_p, struct eng_pkt *pkt)
{
	struct tcp_chan *chan = chan_p;
	struct tcp_conn *conn = chan->base.conn;

	if (__builtin_expect(chan->base.state != CHAN_READY, 0))
		return tcp_tx_queue(chan, pkt);
	if (__builtin_expect(conn->stream != NULL, 0))
		return tcp_stream_send(conn, pkt);
	return tcp_tx_send(conn, pkt);
}

static void *link_hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	return tcp_rx_hold(link_of(base)->poller, rx);
}

static const struct eng_link_cm cm_ops = {
	.data_size = TCP_WIRE_DATA_MAX,
	.listen = link_listen,
	.connect = tcp_cm_connect,
	.answer = tcp_cm_answer,
	.shutdown = tcp_cm_shutdown,
};

const struct eng_link_ops tcp_link_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "tcp",
	.chan_size = sizeof(struct tcp_chan),
	.open = link_open,
	.close = link_close,
	.getname = link_getname,
	.setname = link_setname,
	.look = chan_look,
	.peer_get = chan_peer_get,
	.peer_put = chan_peer_put,
	.send = send_pkt,
	.slot = tcp_tx_slot,
	.post = tcp_tx_post,
	.held = { .hold = link_hold, .pull = chan_pull, .unplace = tcp_rx_unplace },
	.cm = &cm_ops,
	.secures = true,
};
