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

#include "engine/near.h"
#include "base/net_addr.h"
#include "conn.h"

static struct rxd_link *link_of(struct eng_link *base)
{
	return container_of(base, struct rxd_link, base);
}

/* ---- input ------------------------------------------------------------------------ */

static void on_call(struct rxd_link *link, struct rxd_conn *conn, const struct rxd_pkt *pkt,
		    size_t size, uint64_t source)
{
	if (pkt->type == RXD_HELLO)
		rxd_on_hello(link, pkt, size);
	else if (pkt->type == RXD_PROBE)
		rxd_on_probe(link, pkt);
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
	else if (pkt->type == RXD_WHERE)
		rxd_on_where(conn, pkt);
	else if (pkt->type == RXD_HERE)
		rxd_on_here(conn, pkt, source);
}

/* What is read together has arrived together. */
static uint64_t input_time(struct rxd_poller *poller)
{
	if (!poller->input_ns)
		poller->input_ns = rxd_dg_now();
	return poller->input_ns;
}

void rxd_link_input(void *owner, const uint8_t *buf, size_t len, struct rxd_came came)
{
	struct rxd_link *link = owner;
	struct rxd_conn *conn;
	struct rxd_pkt pkt;
	_Alignas(8) uint8_t call[RXD_CALL_MAX];
	const char *why;

	/* calls have addresses within; in a train a datagram begins anywhere */
	if (__builtin_expect(len >= sizeof(struct rxd_hdr) && len <= sizeof(call) &&
			     buf[offsetof(struct rxd_hdr, type)] != RXD_DATA, 0))
		buf = memcpy(call, buf, len);
	why = rxd_parse(buf, len, &pkt);

	if (link->poller->after)
		rxd_rx_after(link->poller);
	if (__builtin_expect(why != NULL, 0)) {
		RXD_WARN_SPARSE("dropped a datagram of %zu bytes: %s\n", len, why);
		return;
	}
	conn = hmap_find(&link->by_cid, pkt.conn);
	if (__builtin_expect(pkt.type != RXD_DATA, 0))
		on_call(link, conn, &pkt, len, came.source);
	else if (conn && conn->state == RXD_READY)
		rxd_on_data(conn, &pkt, came, input_time(link->poller));
}

void rxd_link_answer(struct rxd_link *link, const void *addr, uint8_t *buf, size_t len)
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

static int open_dg(struct rxd_link *link, const struct fi_info *info)
{
	int ret = rxd_dg_open(link->poller, info, link, &link->dg);

	if (ret)
		return ret;
	link->addr_len = sizeof(link->addr);
	ret = rxd_dg_name(link->dg, link->addr, &link->addr_len);
	if (ret)
		rxd_dg_close(link->dg);
	return ret;
}

int rxd_link_make(struct obj_prog *prog, const struct fi_info *info, enum rxd_kind kind,
		  struct rxd_link **link_p)
{
	struct rxd_link *link = calloc(1, sizeof(*link));
	int ret;

	if (!link)
		return -FI_ENOMEM;
	link->kind = kind;
	while (!link->epoch)
		link->epoch = rxd_dg_random();
	link->key.k[0] = rxd_dg_random();
	link->key.k[1] = rxd_dg_random();
	link->mean = RXD_DGRAM_MIN;
	hmap_init(&link->by_cid);
	list_init(&link->conns);
	list_init(&link->moves);
	list_init(&link->asked);
	hmap_init(&link->asked_by);
	ret = rxd_poller_get(prog, &link->poller);
	if (!ret)
		ret = open_dg(link, info);
	if (ret) {
		free(link);
		return ret;
	}
	list_add_tail(&link->node, &link->poller->links);
	link->base.ops = &rxd_link_ops;
	link->base.prog = prog;
	link->base.attr = (struct eng_link_attr) {
		.max_payload = RXD_PAYLOAD_MAX,
		.eager_limit = rxd_conf.eager_size,
		.seg_size = RXD_PAYLOAD_MAX,
		.addr_len = link->addr_len,
	};
	*link_p = link;
	return 0;
}

void rxd_link_free(struct rxd_link *link)
{
	rxd_dg_close(link->dg);
	list_del(&link->node);
	hmap_destroy(&link->by_cid);
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

static int link_open(struct eng_ep *ep, struct eng_link **link_p)
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
	link->base.ep = ep;
	*link_p = &link->base;
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
	link->base.pep = pep;
	*link_p = &link->base;
	return 0;
}

static int link_listen(struct eng_link *base, int backlog)
{
	link_of(base)->listening = true;
	return 0;
}

/* ---- closing ------------------------------------------------------------------------ */

static struct rxd_conn *conn_at(struct list *node)
{
	return container_of(node, struct rxd_conn, node);
}

/* has_all - the peer has all that was sent.  Of a peer whose own end is here the
 * acknowledgement of ours is not waited for: it may be gone.
 */
static bool has_all(const struct rxd_conn *conn)
{
	return rxd_tx_idle(conn) || (conn->ended && list_empty(&conn->pending) &&
				     conn->una + RXD_FRAME_SIZE >= conn->end);
}

/* finish - true when the peer has all that was sent, or will never have it, and
 * knows what has arrived here: it may be waiting to close, too.
 */
static bool finish(struct rxd_conn *conn)
{
	if (conn->state == RXD_CALLING)
		return list_empty(&conn->pending);
	if (conn->state != RXD_READY)
		return true;
	rxd_tx_shut(conn);
	if (!conn->shut || !has_all(conn))
		return false;
	if (!conn->ack_cnt)
		return true;
	conn->ack_now = true;
	rxd_conn_touch(conn);
	return false;
}

static bool finish_all(struct rxd_link *link)
{
	struct list *pos, *next;
	bool all = true;

	list_for_each_safe(pos, next, &link->conns)
		all &= finish(conn_at(pos));
	return all;
}

/* linger - at most @ms, until everything that was sent has been acknowledged. */
static void linger(struct rxd_link *link, int ms)
{
	uint64_t deadline = rxd_dg_now() + (uint64_t) (ms > 0 ? ms : 0) * CLOCK_NS_PER_MS;
	struct obj_poller *poller = &link->poller->base;
	uint64_t nap_ns = 20000;

	while (!finish_all(link) && rxd_dg_now() < deadline) {
		if (poller->ops->poll(poller, OBJ_POLL_BUDGET))
			continue;
		rxd_dg_nap(nap_ns);
		if (nap_ns < CLOCK_NS_PER_MS)
			nap_ns *= 2;
	}
}

static void link_close(struct eng_link *base, int linger_ms)
{
	struct rxd_link *link = link_of(base);

	link->closing = true;
	linger(link, linger_ms);
	while (!list_empty(&link->conns))
		rxd_conn_put(conn_at(link->conns.next), FI_ECANCELED);
	rxd_cm_forget(link);
	rxd_link_free(link);
}

static void pep_close(struct eng_link *base)
{
	link_close(base, 0);
}

/* ---- names ---------------------------------------------------------------------------- */

static int link_getname(struct eng_link *base, void *addr, size_t *len)
{
	struct rxd_link *link = link_of(base);
	size_t room = *len;

	*len = link->addr_len;
	if (room && addr)
		memcpy(addr, link->addr, room < link->addr_len ? room : link->addr_len);
	return room < link->addr_len ? -FI_ETOOSMALL : 0;
}

/* ---- peers and packets ------------------------------------------------------------------ */

static int peer_get(struct eng_link *base, struct eng_peer *peer)
{
	struct rxd_link *link = link_of(base);
	struct rxd_conn *conn = rxd_conn_of(link, peer);

	if (link->kind == RXD_KIND_MSG || conn->state != RXD_IDLE)
		return 0;	/* fi_connect() and fi_accept() do it; or it stands */
	return rxd_call_start(conn, eng_peer_addr(peer), NULL, 0);
}

static void peer_put(struct eng_link *base, struct eng_peer *peer)
{
	struct rxd_conn *conn = eng_peer_chan(peer);

	if (conn->link)
		rxd_conn_put(conn, FI_ECANCELED);
}

static int send_pkt(struct eng_link *base, struct eng_peer *peer, struct eng_pkt *pkt)
{
	struct rxd_conn *conn = eng_peer_chan(peer);

	if (__builtin_expect(conn->state == RXD_READY, 1))
		return rxd_tx_send(conn, pkt);
	if (conn->state == RXD_FAILED)
		return -conn->err;
	if (conn->state == RXD_IDLE)
		return -FI_ENOTCONN;
	rxd_tx_queue(conn, pkt);
	return 0;
}

static void flush(struct eng_link *base)
{
	struct rxd_poller *poller = link_of(base)->poller;

	if (!list_empty(&poller->dirty))
		rxd_poller_flush(poller, rxd_dg_now());
}

static void *hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	return rxd_rx_hold(link_of(base)->poller, rx);
}

static int pull(struct eng_link *base, void *token, const struct iovec *iov, size_t iov_cnt,
		void *cookie)
{
	return rxd_rx_pull(token, iov, iov_cnt, cookie);
}

static void drop(struct eng_link *base, void *token)
{
	rxd_rx_release(token);
}

static const struct eng_link_ops *near_link(struct eng_ep *ep)
{
#if HAVE_SHM
	if (rxd_conf.local)
		return &shm_near_ops;
#endif
	return NULL;
}

const struct eng_link_ops rxd_link_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "ofi_rxd",
	.chan_size = sizeof(struct rxd_conn),
	.open = link_open,
	.close = link_close,
	.getname = link_getname,
	.peer_get = peer_get,
	.peer_put = peer_put,
	.send = send_pkt,
	.slot = rxd_tx_slot,
	.post = rxd_tx_post,
	.flush = flush,
	.hold = hold,
	.pull = pull,
	.drop = drop,
	.pep_open = pep_open,
	.pep_close = pep_close,
	.listen = link_listen,
	.connect = rxd_cm_connect,
	.accept = rxd_cm_accept,
	.reject = rxd_cm_reject,
	.req_drop = rxd_cm_req_drop,
	.shutdown = rxd_cm_shutdown,
	.getpeer = rxd_cm_getpeer,
	.cm_data_size = RXD_DATA_MAX,
	.near = near_link,
};
