/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link: what the engine calls, for an endpoint and for a listener, and what the channel layer does.
 */
#include "config.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel/select.h"
#include "base/net_addr.h"
#include "secure/policy.h"
#include "link.h"

/* ---- what the channel layer calls --------------------------------------------------- */

static void fire_alive(struct rxd_conn *conn, uint64_t now)
{
	if (conn->chan.paths && rxd_rails_heard(conn, now))
		rxd_conn_schedule(conn);
	if (rxd_dead_due(conn) <= now && !(conn->chan.paths && rxd_rails_live(conn, now)) &&
	    rxd_has_looked(rxd_conn_poller(conn), rxd_dead_due(conn))) {
		rxd_conn_fail(conn, FI_ETIMEDOUT, false);
		return;
	}
	if (rxd_welcome_due(conn) <= now)
		rxd_welcome_send(conn, now);
	if (rxd_keepalive_due(conn) <= now)
		rxd_tx_ping(conn, now);
	/* an ACK may be due, or pacing allows more */
	if (conn->ack_cnt || conn->nxt != conn->end || conn->retransmit.cnt || conn->no_memory)
		rxd_conn_schedule(conn);
	if (rxd_tx_due(conn, now) <= now)
		rxd_tx_timeout(conn, now);
	if (!conn->loss.out_cnt)
		rxd_loss_idle(&conn->loss);
}

static void on_timer(struct chan *chan, uint64_t now)
{
	struct rxd_conn *conn = rxd_conn_of_chan(chan);

	if (conn->report_up) {	/* of a MSG endpoint; fi_accept() cannot report it itself */
		conn->report_up = false;
		if (!chan->link->closing)
			eng_on_connected(&chan->link->base, chan_peer(chan), NULL, 0);
	}
	if (chan->state == CHAN_CONNECTING && rxd_hello_due(conn) <= now)
		rxd_hello_timeout(conn, now);
	else if (rxd_conn_alive(conn))
		fire_alive(conn, now);
	rxd_conn_rearm(conn, now);
}

static void on_close(struct chan *chan, int err, bool orderly)
{
	if (chan->paths)
		rxd_rails_end(rxd_conn_of_chan(chan));
	rxd_conn_release(rxd_conn_of_chan(chan), err);
}

static void on_abort(struct chan *chan)
{
	rxd_conn_release(rxd_conn_of_chan(chan), FI_ECANCELED);
}

static const char *link_advice(const struct chan *chan, int err)
{
	if (err == FI_ETIMEDOUT && chan->state == CHAN_BACKOFF)
		return "no answer: see that the peer runs, that it uses ofi_rxd of this library, "
		       "and that no firewall drops its datagrams";
	if (err == FI_ETIMEDOUT)
		return "the peer does not answer, or its program makes no progress "
		       "(FI_OFI_RXD_PEER_TIMEOUT)";
	return err == FI_ECONNRESET ? "the peer has ended, or has been restarted" : NULL;
}

static const struct chan_ops chan_ops = {
	.init = rxd_conn_init,
	.connect = rxd_hello_start,
	.abort = on_abort,
	.close = on_close,
	.finish = rxd_conn_finish,
	.timer = on_timer,
	.advice = link_advice,
	.route = rxd_route,
	.nap = rxd_dg_nap,
};

/* ---- opening ---------------------------------------------------------------------- */

/* check_guard - keys alone prove a peer over datagrams. */
static int check_guard(struct rxd_link *link, const struct sec_policy *policy)
{
	if (!policy || !policy->certs)
		return 0;
	CHAN_WARN(&link->base, "certificates (FI_TLS_CERT) do not protect datagrams: set FI_AUTH_KEY_FILE, or use tcp\n");
	return -FI_EACCES;
}

/* The name is known from here on: port 0 has become a number. */
static int open_dg(struct rxd_link *link, const struct fi_info *info, struct sec_policy *policy)
{
	int ret = check_guard(link, policy);

	if (!ret)
		ret = rxd_dg_open(rxd_link_poller(link), info, link, &link->dg);
	if (ret == -FI_ENODATA && policy) {
		CHAN_WARN(&link->base, "no endpoint is made: FI_SECURITY or a key asks for protection, which datagrams of udp "
			  "alone have; see fi_security(7)\n");
		return -FI_EACCES;
	}
	if (ret)
		return ret;
	link->base.addr = link->addr;
	link->base.addr_len = sizeof(link->addr);
	ret = rxd_dg_name(link->dg, link->addr, &link->base.addr_len);
	if (!ret)
		ret = rxd_guard_open(link, policy);
	if (ret)
		rxd_dg_close(link->dg);
	return ret;
}

/* An epoch and the key of cookies are of this life of the endpoint: a restarted one at the same
 * address has others, by which peers notice.
 */
static void link_init(struct rxd_link *link, enum rxd_kind kind)
{
	struct chan_conf conf = { .conn_timeout_ms = rxd_conf.conn_timeout_ms };

	link->base.msg = kind == RXD_KIND_MSG;
	while (!link->base.epoch)
		link->base.epoch = rxd_dg_random();
	chan_link_init(&link->base, &chan_ops, &conf, rxd_conf.prov);
	link->key.k[0] = rxd_dg_random();
	link->key.k[1] = rxd_dg_random();
	link->mean = RXD_DGRAM_MIN;
	hmap_init(&link->by_cid);
	list_init(&link->migrations);
	list_init(&link->requests);
	hmap_init(&link->request_by);
}

/* link_make - for an endpoint or a listener, with its datagram endpoint.  Errors: those of rxd_dg_open(). */
static int link_make(struct obj_prog *prog, const struct fi_info *info, struct sec_policy *policy, enum rxd_kind kind,
		     struct rxd_link **link_p)
{
	struct rxd_link *link = calloc(1, sizeof(*link));
	struct rxd_poller *poller;
	int ret;

	if (!link)
		return -FI_ENOMEM;
	link_init(link, kind);
	ret = rxd_poller_get(prog, &poller);
	if (!ret) {
		link->base.poller = &poller->base;
		ret = open_dg(link, info, policy);
	}
	if (ret) {
		free(link);
		return ret;
	}
	link->base.base.ops = &rxd_link_ops;
	link->base.base.prog = prog;
	link->base.base.attr = (struct eng_link_attr) {
		.max_payload = RXD_PAYLOAD_MAX,
		.eager_limit = rxd_conf.eager_size,
		.seg_size = RXD_PAYLOAD_MAX,
		.addr_len = link->base.addr_len,
	};
	rxd_rails_open(link, info);
	*link_p = link;
	return 0;
}

/* link_free - all connections are closed. */
static void link_free(struct rxd_link *link)
{
	rxd_guard_close(link);
	rxd_rails_close(link);
	rxd_dg_close(link->dg);
	hmap_destroy(&link->by_cid);
	hmap_destroy(&link->request_by);
	free(link);
}

/* The fi_info of a connection request names the listener's port, which is taken. */
static int make_beside(struct obj_prog *prog, const struct fi_info *info, struct sec_policy *policy,
		       struct rxd_link **link_p)
{
	struct fi_info *own = fi_dupinfo(info);
	int ret;

	if (!own)
		return -FI_ENOMEM;
	if (net_addr_family(own->addr_format) >= 0) {
		net_addr_set_port(own->src_addr, 0);
	} else {
		free(own->src_addr);
		own->src_addr = NULL;
		own->src_addrlen = 0;
	}
	ret = link_make(prog, own, policy, RXD_KIND_MSG, link_p);
	if (!ret && net_addr_family(info->addr_format) >= 0)
		(*link_p)->listener_port = net_addr_port(info->src_addr);
	fi_freeinfo(own);
	return ret;
}

/* An endpoint that accepts a request has the name of the listener, as a socket has, though its datagrams have
 * a port of their own.
 */
static int link_getname(struct eng_link *base, struct eng_peer *peer, void *addr, size_t *len_p)
{
	struct rxd_link *link = rxd_link_of(chan_link_of(base));
	union net_sa name;

	if (peer || !link->listener_port || link->base.addr_len > sizeof(name))
		return chan_getname(base, peer, addr, len_p);
	memcpy(&name, link->addr, link->base.addr_len);
	net_addr_set_port(&name.sa, link->listener_port);
	return obj_cm_copy_name(&name, link->base.addr_len, addr, len_p);
}

static int ep_open(struct eng_ep *ep, struct eng_link **link_p)
{
	struct obj_ep *base = eng_ep_base(ep);
	const struct fi_info *info = base->info;
	struct rxd_link *link;
	int ret;

	if (base->type != FI_EP_MSG)
		ret = link_make(base->prog, info, base->sec, RXD_KIND_RDM, &link);
	else if (base->cm.req && info->src_addr)
		ret = make_beside(base->prog, info, base->sec, &link);
	else
		ret = link_make(base->prog, info, base->sec, RXD_KIND_MSG, &link);
	if (ret)
		return ret;
	link->base.base.ep = ep;
	if (!link->base.msg && rxd_conf.local)
		chan_select_open(ep, &link->base);
	*link_p = &link->base.base;
	return 0;
}

static int pep_open(struct eng_pep *pep, struct eng_link **link_p)
{
	struct obj_pep *base = eng_pep_base(pep);
	struct rxd_link *link;
	int ret;

	ret = link_make(base->prog, base->info, base->sec, RXD_KIND_MSG, &link);
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
	rxd_link_of(chan_link_of(base))->listening = true;
	return 0;
}

/* ---- closing ------------------------------------------------------------------------ */

static void link_close(struct eng_link *base, int linger_ms)
{
	struct rxd_link *link = rxd_link_of(chan_link_of(base));

	chan_link_end(&link->base, linger_ms > 0 ? linger_ms : 0);
	rxd_cm_forget(link);
	link_free(link);
}

/* ---- packets ------------------------------------------------------------------------------ */

/* While the connection is made, or after it was lost, packets wait with the channel. */
static int send_pkt(void *chan, struct eng_pkt *pkt)
{
	struct rxd_conn *conn = chan;

	if (__builtin_expect(rxd_conn_alive(conn), 1))
		return rxd_tx_send(conn, pkt);
	pkt->link_priv = rxd_frame(pkt->hdr_len, pkt->len);
	return chan_queue(&conn->chan, pkt);
}

static const struct eng_link_cm cm_ops = {
	.data_size = RXD_DATA_MAX,
	.listen = link_listen,
	.connect = rxd_cm_connect,
	.answer = rxd_cm_answer,
	.shutdown = rxd_cm_shutdown,
};

const struct eng_link_ops rxd_link_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "ofi_rxd",
	.chan_size = sizeof(struct rxd_conn),
	.secures = true,
	.open = link_open,
	.close = link_close,
	.getname = link_getname,
	.setname = chan_setname_none,
	.look = chan_look,
	.peer_get = chan_peer_get,
	.peer_put = chan_peer_put,
	.send = send_pkt,
	.slot = rxd_tx_slot,
	.post = rxd_tx_post,
	.held = { .hold = rxd_rx_hold, .pull = chan_pull, .unplace = rxd_rx_unplace },
	.cm = &cm_ops,
};
