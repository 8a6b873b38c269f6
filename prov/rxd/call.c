/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Who talks to whom: HELLO, RETRY, WELCOME and REFUSE, and the question whether a
 * silent peer still knows us.  A call makes no state here before its cookie has come
 * back, and no answer is longer than its question.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

#define HELLO_FIRST_NS (20 * CLOCK_NS_PER_MS)
#define HELLO_MAX_SHIFT 6		/* 1.3 s */

/* ---- writing ---------------------------------------------------------------------- */

static struct rxd_hello hello_of(struct rxd_conn *conn)
{
	struct rxd_link *link = conn->link;
	struct rxd_hello hello = {
		.cid = conn->cid,
		.epoch = link->epoch,
		.serial = conn->serial,
		.window = rxd_rx_window(conn),
		.dgram_max = (uint32_t) link->dg->dgram_max,
		.engine = WIRE_VERSION,
		.kind = (uint8_t) link->kind,
		.addr_len = (uint8_t) link->addr_len,
	};

	memcpy(hello.addr, link->addr, link->addr_len);
	if (conn->call) {
		hello.cookie = conn->call->cookie;
		hello.data_len = conn->call->data_len;
	}
	return hello;
}

static void post(struct rxd_conn *conn, uint8_t *buf, size_t len)
{
	struct iovec iov = { buf, len };

	rxd_seal(buf, len, NULL, 0);
	rxd_dg_send(conn->link->dg, conn->to, &iov, 1);
}

static void send_hello(struct rxd_conn *conn, uint64_t now)
{
	struct rxd_hello hello = hello_of(conn);
	uint8_t buf[RXD_CALL_MAX];
	size_t len;

	if (hello.window < conn->rcv_limit)
		hello.window = conn->rcv_limit;
	conn->rcv_limit = hello.window;
	/* the first one only fetches a cookie */
	if (!hello.cookie.mac)
		hello.data_len = 0;
	len = rxd_put_hdr(buf, RXD_HELLO, RXD_F_SUM, 0, 0);
	len = rxd_put_hello(buf, len, &hello, conn->call->data);
	conn->call->sent_ns = now;
	post(conn, buf, len);
}

void rxd_call_welcome(struct rxd_conn *conn, uint64_t now)
{
	struct rxd_hello hello = hello_of(conn);
	uint8_t buf[RXD_CALL_MAX];
	size_t len;

	hello.cookie = (struct rxd_cookie) { 0 };
	hello.peer_cid = conn->peer_cid;
	hello.window = conn->rcv_limit;
	len = rxd_put_hdr(buf, RXD_WELCOME, RXD_F_SUM, conn->peer_cid, 0);
	len = rxd_put_hello(buf, len, &hello, conn->call ? conn->call->data : NULL);
	conn->asked_ns = now;
	if (conn->call)
		conn->call->tries++;
	post(conn, buf, len);
}

void rxd_call_probe(struct rxd_conn *conn, uint64_t now)
{
	struct rxd_link *link = conn->link;
	struct rxd_probe probe = { .cid = htole64(conn->cid), .addr_len = (uint8_t) link->addr_len };
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(probe)];
	size_t len = rxd_put_hdr(buf, RXD_PROBE, RXD_F_SUM, conn->peer_cid, 0);

	memcpy(probe.addr, link->addr, link->addr_len);
	memcpy(buf + len, &probe, sizeof(probe));
	post(conn, buf, sizeof(buf));
}

static void refuse(struct rxd_link *link, const struct rxd_hello *hello, enum rxd_reason reason)
{
	struct rxd_refuse body = { .reason = htole32(reason) };
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(body)];
	size_t len = rxd_put_hdr(buf, RXD_REFUSE, RXD_F_SUM, hello->cid, 0);

	memcpy(buf + len, &body, sizeof(body));
	rxd_link_answer(link, hello->addr, buf, sizeof(buf));
}

/* ---- the caller --------------------------------------------------------------------- */

int rxd_call_start(struct rxd_conn *conn, const void *addr, const void *data, size_t len)
{
	uint64_t now = rxd_dg_now();
	int ret;

	conn->call = calloc(1, sizeof(*conn->call));
	if (!conn->call)
		return -FI_ENOMEM;
	ret = rxd_conn_open(conn, addr);
	if (ret) {
		free(conn->call);
		conn->call = NULL;
		return ret;
	}
	conn->call->since_ns = now;
	conn->call->data_len = (uint16_t) len;
	if (len)
		memcpy(conn->call->data, data, len);
	send_hello(conn, now);
	rxd_conn_rearm(conn, now);
	return 0;
}

static uint64_t give_up_at(const struct rxd_conn *conn)
{
	return conn->call->since_ns + (uint64_t) rxd_conf.conn_timeout_ms * CLOCK_NS_PER_MS;
}

uint64_t rxd_call_due(const struct rxd_conn *conn)
{
	unsigned shift = conn->call->tries < HELLO_MAX_SHIFT ? conn->call->tries : HELLO_MAX_SHIFT;
	uint64_t due = conn->call->sent_ns + (HELLO_FIRST_NS << shift);

	return due < give_up_at(conn) ? due : give_up_at(conn);
}

void rxd_call_again(struct rxd_conn *conn, uint64_t now)
{
	if (now >= give_up_at(conn)) {
		rxd_conn_fail(conn, FI_ETIMEDOUT, false);
		return;
	}
	conn->call->tries++;
	/* a cookie grows old, or its maker was restarted */
	if (conn->call->tries % 8 == 0)
		conn->call->cookie = (struct rxd_cookie) { 0 };
	send_hello(conn, now);
}

void rxd_on_retry(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	uint64_t now = rxd_dg_now();

	if (conn->state != RXD_CALLING || conn->call->cookie.mac == pkt->cookie.mac)
		return;
	conn->call->unclear |= conn->call->cookie.mac != 0;
	conn->call->cookie = pkt->cookie;
	conn->call->tries = 0;
	send_hello(conn, now);
	rxd_conn_rearm(conn, now);
}

void rxd_on_welcome(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	struct rxd_link *link = conn->link;
	uint64_t now = rxd_dg_now();
	fi_addr_t to;

	if (conn->state == RXD_READY && conn->peer_cid == pkt->hello.cid) {
		rxd_tx_ping(conn, now);		/* it has not heard that we have its answer */
		rxd_conn_rearm(conn, now);
		return;
	}
	if (conn->state != RXD_CALLING || pkt->hello.peer_cid != conn->cid)
		return;
	if (pkt->hello.engine != WIRE_VERSION || pkt->hello.kind != link->kind) {
		rxd_conn_fail(conn, FI_EPROTO, false);
		return;
	}
	/* a listener's answer comes from the endpoint that took the call */
	if (link->kind == RXD_KIND_MSG) {
		if (pkt->hello.addr_len != link->addr_len ||
		    rxd_dg_peer(link->dg, pkt->hello.addr, &to))
			return;
		rxd_dg_forget(link->dg, conn->to);
		conn->to = to;
	}
	if (!conn->call->tries && !conn->call->unclear)	/* else it may answer an earlier one */
		rxd_rtt_sample(&conn->rtt, now - conn->call->sent_ns, 0);
	free(conn->call);
	conn->call = NULL;
	conn->confirmed = true;
	rxd_conn_ready(conn, &pkt->hello, now);
	if (conn->mtu.most == conn->mtu.base)
		rxd_tx_ping(conn, now);		/* else a path probe says that we are here */
	if (link->kind == RXD_KIND_RDM && !link->closing)
		eng_on_up(&link->base, rxd_conn_peer(conn));
	if (link->kind == RXD_KIND_MSG)
		eng_on_connected(&link->base, rxd_conn_peer(conn), pkt->data, pkt->len);
	if (conn->state == RXD_READY)
		rxd_conn_rearm(conn, now);
}

static const char *why_refused(uint32_t reason)
{
	switch (reason) {
	case RXD_VERSION_BAD:
		return "its engine speaks another version: use one release on both sides";
	case RXD_KIND_BAD:
		return "one side has an FI_EP_RDM endpoint and the other an FI_EP_MSG one";
	default:
		return "it is short of memory";
	}
}

void rxd_on_refuse(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	struct rxd_link *link = conn->link;
	struct eng_peer *peer = rxd_conn_peer(conn);
	char text[RXD_TEXT];

	if (conn->state != RXD_CALLING || pkt->reason == RXD_BUSY)
		return;
	if (pkt->version != RXD_VERSION) {
		RXD_WARN("%s refuses the call: it speaks version %u of the protocol of ofi_rxd, this "
			 "library version %u: use one release on both sides\n",
			 rxd_conn_text(conn, text), pkt->version, RXD_VERSION);
		rxd_conn_fail(conn, FI_EPROTO, false);
		return;
	}
	if (pkt->reason != RXD_REJECTED) {
		RXD_WARN("%s refuses the call: %s\n", rxd_conn_text(conn, text),
			 why_refused(pkt->reason));
		rxd_conn_fail(conn, FI_EPROTO, false);
		return;
	}
	if (link->kind != RXD_KIND_MSG)
		return;
	rxd_conn_put(conn, FI_ECONNREFUSED);
	if (!link->closing)
		eng_on_refused(&link->base, peer, FI_ECONNREFUSED, pkt->data, pkt->len);
}

/* ---- the called ------------------------------------------------------------------------ */

static void send_cookie(struct rxd_link *link, const struct rxd_hello *hello)
{
	struct rxd_cookie cookie = rxd_cookie_make(&link->key, hello, rxd_dg_now());
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(cookie)];
	size_t len = rxd_put_hdr(buf, RXD_RETRY, RXD_F_SUM, hello->cid, 0);

	len = rxd_put_u64(buf, len, cookie.mac);
	rxd_put_u64(buf, len, cookie.stamp);
	_Static_assert(sizeof(buf) < sizeof(struct rxd_hello), "no amplifier");
	rxd_link_answer(link, hello->addr, buf, sizeof(buf));
}

/* An answer must fit into what was asked with. */
static bool can_answer(const struct rxd_link *link, const struct rxd_hello *hello)
{
	return hello->addr_len == link->addr_len;
}

/* Is it the call that the connection stands on, or an older one? */
static bool is_old(const struct rxd_conn *conn, const struct rxd_hello *hello)
{
	return hello->epoch == conn->gone_epoch ||
	       (hello->epoch == conn->peer_epoch && hello->serial < conn->peer_serial);
}

static bool is_same(const struct rxd_conn *conn, const struct rxd_hello *hello)
{
	return conn->state == RXD_READY && hello->cid == conn->peer_cid;
}

/* The peer has begun anew, and does not know the connection any more. */
static void replace(struct rxd_conn *conn, const struct rxd_hello *hello)
{
	if (hello->epoch != conn->peer_epoch && conn->peer_epoch)
		conn->gone_epoch = conn->peer_epoch;
	if (conn->state == RXD_READY)
		rxd_conn_fail(conn, FI_ECONNRESET, false);
	if (conn->state == RXD_FAILED)
		rxd_conn_lost(conn);
}

static void take_call(struct rxd_link *link, const struct rxd_hello *hello, uint64_t now)
{
	struct eng_peer *peer = eng_peer_find(&link->base, hello->addr, hello->addr_len);
	struct rxd_conn *conn = peer ? rxd_conn_of(link, peer) : NULL;

	if (!conn) {
		refuse(link, hello, RXD_BUSY);
		return;
	}
	if (is_same(conn, hello)) {
		rxd_call_welcome(conn, now);
		return;
	}
	if (is_old(conn, hello))
		return;
	replace(conn, hello);
	if (conn->state == RXD_IDLE && rxd_conn_open(conn, hello->addr)) {
		refuse(link, hello, RXD_BUSY);
		return;
	}
	free(conn->call);
	conn->call = NULL;
	rxd_conn_ready(conn, hello, now);
	eng_on_up(&link->base, peer);
	rxd_call_welcome(conn, now);
	rxd_conn_rearm(conn, now);
}

static void refuse_foreign(struct rxd_link *link, const struct rxd_pkt *pkt)
{
	char text[RXD_TEXT];

	RXD_WARN_SPARSE("refused a call by %s: it speaks version %u of the protocol of ofi_rxd, this "
			"library version %u: use one release on both sides\n",
			rxd_addr_text(pkt->hello.addr, pkt->hello.addr_len, text), pkt->version,
			RXD_VERSION);
	refuse(link, &pkt->hello, RXD_VERSION_BAD);
}

void rxd_on_hello(struct rxd_link *link, const struct rxd_pkt *pkt, size_t size)
{
	const struct rxd_hello *hello = &pkt->hello;
	uint64_t now = rxd_dg_now();

	if (!can_answer(link, hello) || link->closing)
		return;
	if (pkt->version != RXD_VERSION)
		refuse_foreign(link, pkt);
	else if (hello->engine != WIRE_VERSION)
		refuse(link, hello, RXD_VERSION_BAD);
	else if (hello->kind != link->kind || (link->kind == RXD_KIND_MSG && !link->base.pep))
		refuse(link, hello, RXD_KIND_BAD);
	else if (!rxd_cookie_good(&link->key, hello, now))
		send_cookie(link, hello);
	else if (link->kind == RXD_KIND_RDM)
		take_call(link, hello, now);
	else if (link->listening)
		rxd_cm_hello(link, pkt);
}

/* ---- who is there? ------------------------------------------------------------------------ */

void rxd_on_probe(struct rxd_link *link, const struct rxd_pkt *pkt)
{
	struct rxd_conn *conn = hmap_find(&link->by_cid, pkt->conn);
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(struct rxd_reset)];
	uint64_t now = rxd_dg_now();
	size_t len;

	if (conn && conn->state == RXD_READY && conn->peer_cid == pkt->cid) {
		conn->heard_ns = now;
		rxd_tx_ping(conn, now);
		rxd_conn_rearm(conn, now);
		return;
	}
	if (conn || pkt->addr_len != link->addr_len)
		return;
	len = rxd_put_hdr(buf, RXD_RESET, RXD_F_SUM, pkt->cid, 0);
	rxd_put_u64(buf, len, pkt->conn);
	rxd_link_answer(link, pkt->addr, buf, sizeof(buf));
}

void rxd_on_reset(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	if (conn->state == RXD_READY && conn->peer_cid == pkt->cid)
		rxd_conn_fail(conn, FI_ECONNRESET, conn->shut);
}
