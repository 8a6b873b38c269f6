/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link: what the engine calls, for an endpoint and for a listener, and where
 * datagrams come in.
 */
#include "config.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel/select.h"
#include "base/net_addr.h"
#include "conn.h"

/* ---- input ------------------------------------------------------------------------ */

/* Every packet but DATA. */
static void on_control(struct rxd_link *link, struct rxd_conn *conn, const struct rxd_pkt *pkt,
		       uint64_t source)
{
	if (pkt->type == RXD_HELLO)
		rxd_on_hello(link, pkt);
	else if (pkt->type == RXD_PROBE)
		rxd_on_probe(link, pkt);
	/* the others are about a connection; one that is not known gets no answer, which could be
	 * misused
	 */
	else if (!conn)
		return;
	else if (pkt->type == RXD_RETRY)
		rxd_on_retry(conn, pkt);
	else if (pkt->type == RXD_WELCOME)
		rxd_on_welcome(conn, pkt);
	else if (pkt->type == RXD_REFUSE)
		rxd_on_refuse(conn, pkt);
	else if (pkt->type == RXD_RESET)
		rxd_on_reset(conn, pkt);
	else if (pkt->type == RXD_PATH_CHALLENGE)
		rxd_on_path_challenge(conn, pkt);
	else if (pkt->type == RXD_PATH_RESPONSE)
		rxd_on_path_response(conn, pkt, source);
}

/* Datagrams that are read together have arrived together. */
static uint64_t input_time(struct rxd_poller *poller)
{
	if (!poller->input_ns)
		poller->input_ns = rxd_now(poller);
	return poller->input_ns;
}

void rxd_link_input(void *owner, const uint8_t *buf, size_t len, struct rxd_meta meta)
{
	struct rxd_link *link = owner;
	struct rxd_poller *poller = rxd_link_poller(link);
	_Alignas(8) uint8_t control[RXD_HANDSHAKE_MAX];
	struct rxd_conn *conn;
	struct rxd_pkt pkt;
	const char *why;

	/* a handshake has addresses within; in a train a datagram begins at any byte */
	if (__builtin_expect(len >= sizeof(struct rxd_hdr) && len <= sizeof(control) &&
			     buf[offsetof(struct rxd_hdr, type)] != RXD_DATA, 0))
		buf = memcpy(control, buf, len);
	why = rxd_parse(buf, len, &pkt);

	if (poller->deferred)
		rxd_rx_deferred(poller);
	if (__builtin_expect(why != NULL, 0)) {
		CHAN_WARN_SPARSE(&link->base, "dropped a datagram of %zu bytes: %s\n", len, why);
		return;
	}
	conn = hmap_find(&link->by_cid, pkt.conn);
	if (__builtin_expect(pkt.type != RXD_DATA, 0))
		on_control(link, conn, &pkt, meta.source);
	else if (conn && rxd_conn_alive(conn))
		rxd_on_data(conn, &pkt, meta, input_time(poller));
}

/* To an address that need not be a peer's, so nothing of it is kept. */
void rxd_link_reply(struct rxd_link *link, const void *addr, uint8_t *buf, size_t len)
{
	struct iovec iov = { buf, len };
	fi_addr_t to;

	if (rxd_dg_peer(link->dg, addr, &to))
		return;
	rxd_seal(buf, len, NULL, 0);
	rxd_dg_send(link->dg, to, &iov, 1);
	rxd_dg_forget(link->dg, to);
}

/* ---- opening ---------------------------------------------------------------------- */

/* The name is known from here on: port 0 has become a number. */
static int open_dg(struct rxd_link *link, const struct fi_info *info)
{
	int ret = rxd_dg_open(rxd_link_poller(link), info, link, &link->dg);

	if (ret)
		return ret;
	link->base.addr = link->addr;
	link->base.addr_len = sizeof(link->addr);
	ret = rxd_dg_name(link->dg, link->addr, &link->base.addr_len);
	if (ret)
		rxd_dg_close(link->dg);
	return ret;
}

/* An epoch and the key of cookies are of this life of the endpoint: a restarted one at the same
 * address has others, by which peers notice.
 */
static void init(struct rxd_link *link, enum rxd_kind kind)
{
	struct chan_conf conf = { .conn_timeout_ms = rxd_conf.conn_timeout_ms };

	link->base.msg = kind == RXD_KIND_MSG;
	while (!link->base.epoch)
		link->base.epoch = rxd_dg_random();
	chan_link_init(&link->base, &rxd_chan_ops, &conf, rxd_conf.prov);
	link->key.k[0] = rxd_dg_random();
	link->key.k[1] = rxd_dg_random();
	link->mean = RXD_DGRAM_MIN;
	hmap_init(&link->by_cid);
	list_init(&link->migrations);
	list_init(&link->requests);
	hmap_init(&link->request_by);
}

int rxd_link_make(struct obj_prog *prog, const struct fi_info *info, enum rxd_kind kind,
		  struct rxd_link **link_p)
{
	struct rxd_link *link = calloc(1, sizeof(*link));
	struct rxd_poller *poller;
	int ret;

	if (!link)
		return -FI_ENOMEM;
	init(link, kind);
	ret = rxd_poller_get(prog, &poller);
	if (!ret) {
		link->base.poller = &poller->base;
		ret = open_dg(link, info);
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
	*link_p = link;
	return 0;
}

void rxd_link_free(struct rxd_link *link)
{
	rxd_dg_close(link->dg);
	hmap_destroy(&link->by_cid);
	hmap_destroy(&link->request_by);
	free(link);
}

/* The fi_info of a connection request names the listener's port, which is taken. */
static int make_beside(struct obj_prog *prog, const struct fi_info *info, struct rxd_link **link_p)
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
	ret = rxd_link_make(prog, own, RXD_KIND_MSG, link_p);
	fi_freeinfo(own);
	return ret;
}

static int ep_open(struct eng_ep *ep, struct eng_link **link_p)
{
	struct obj_ep *base = eng_ep_base(ep);
	const struct fi_info *info = base->info;
	struct rxd_link *link;
	int ret;

	if (base->type != FI_EP_MSG)
		ret = rxd_link_make(base->prog, info, RXD_KIND_RDM, &link);
	else if (info->handle && info->dest_addr && info->src_addr)
		ret = make_beside(base->prog, info, &link);
	else
		ret = rxd_link_make(base->prog, info, RXD_KIND_MSG, &link);
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

	ret = rxd_link_make(base->prog, base->info, RXD_KIND_MSG, &link);
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
	rxd_link_free(link);
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

static void flush(struct eng_link *base)
{
	struct rxd_poller *poller = rxd_link_poller(rxd_link_of(chan_link_of(base)));

	if (!list_empty(&poller->base.dirty))
		rxd_poller_flush(poller, rxd_now(poller));
}

static const struct eng_link_cm cm_ops = {
	.data_size = RXD_DATA_MAX,
	.listen = link_listen,
	.connect = rxd_cm_connect,
	.accept = rxd_cm_accept,
	.reject = rxd_cm_reject,
	.shutdown = rxd_cm_shutdown,
};

const struct eng_link_ops rxd_link_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "ofi_rxd",
	.chan_size = sizeof(struct rxd_conn),
	.open = link_open,
	.close = link_close,
	.getname = chan_getname,
	.setname = chan_setname_none,
	.look = chan_look,
	.peer_get = chan_peer_get,
	.peer_put = chan_peer_put,
	.send = send_pkt,
	.slot = rxd_tx_slot,
	.post = rxd_tx_post,
	.flush = flush,
	.held = { .hold = rxd_rx_hold, .pull = chan_pull, .drop = chan_drop, .unplace = rxd_rx_unplace },
	.cm = &cm_ops,
};
