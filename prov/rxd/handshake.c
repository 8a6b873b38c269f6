/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The handshake: HELLO, RETRY, WELCOME and REFUSE.
 *
 *	connecting peer                     accepting peer
 *	  HELLO, no cookie       ------->
 *	                         <-------   RETRY: a cookie.  No state is kept
 *	  HELLO with the cookie  ------->   ready
 *	  ready                  <-------   WELCOME
 *	  any packet             ------->   confirmed
 *
 * The cookie shows that the connecting peer receives at the address that it claims.  No
 * reply is longer than the packet that it answers, so that an endpoint cannot be used to
 * amplify a flood.  The connecting peer retransmits HELLO until an answer arrives.
 * Source: the idea of RFC 9000 section 8.1.
 */
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/net_addr.h"
#include "conn.h"
#include "rxd/sealed.h"

#define COOKIE_TRIES 8			/* HELLOs without an answer before another cookie */
#define ASK_TRIES 4			/* HELLOs without an answer, 0.3 s, before the peer's system is asked */
#define SILENCE_NS (2 * CLOCK_NS_PER_S)	/* without any answer, after which it is logged */

/* ---- writing ---------------------------------------------------------------------- */

static struct rxd_hello hello_of(struct rxd_conn *conn)
{
	struct rxd_link *link = rxd_conn_link(conn);
	struct rxd_hello hello = {
		.cid = conn->cid,
		.epoch = link->base.epoch,
		.serial = conn->chan.serial,
		.window = rxd_rx_window(conn),
		.dgram_max = (uint32_t) link->dg->dgram_max,
		.engine = WIRE_VERSION,
		.engine_oldest = WIRE_OLDEST,
		.oldest = link->guard ? RXD_SEALED_OLDEST : RXD_OLDEST,
		.release = rxd_release_of(release_ours()),
		.kind = (uint8_t) rxd_link_kind(link),
		.addr_len = (uint8_t) link->base.addr_len,
	};

	memcpy(hello.addr, link->addr, link->base.addr_len);
	if (conn->handshake) {
		hello.cookie = conn->handshake->cookie;
		hello.data_len = conn->handshake->data_len;
	}
	return hello;
}

/* put_hello - @hello as a packet.  That of a protected endpoint is sealed once the key is proven, and before has
 * bytes of the handshake in place of private data.   Returns its length.
 */
static size_t put_hello(struct rxd_conn *conn, struct rxd_hello *hello, uint8_t *buf)
{
	struct rxd_sec *sec = rxd_conn_link(conn)->guard ? rxd_sec_of(conn) : NULL;
	const uint8_t *data = conn->handshake->data;
	size_t len;

	if (sec && rxd_sec_is_open(sec)) {
		hello->cookie = (struct rxd_cookie) { 0 };
		len = rxd_put_hdr(buf, RXD_HELLO, RXD_F_SUM, conn->peer_cid, 0);
		return rxd_put_hello(buf, len, hello, data);
	}
	if (sec)
		hello->data_len = (uint16_t) rxd_sec_first(sec, &data);
	/* the first one only asks for a cookie */
	if (!hello->cookie.mac)
		hello->data_len = 0;
	len = rxd_put_hdr(buf, RXD_HELLO, RXD_F_SUM, 0, 0);
	return rxd_put_hello(buf, len, hello, data);
}

/* shake_send - what a protected endpoint has to say to a peer whose id it knows.  Returns false: HELLO, too. */
static bool shake_send(struct rxd_conn *conn)
{
	struct rxd_sec *sec = rxd_conn_link(conn)->guard ? rxd_sec_of(conn) : NULL;

	if (!sec || !rxd_sec_knows_peer(sec))
		return false;
	rxd_sec_speak(sec);
	return !rxd_sec_is_open(sec);
}

static void hello_send(struct rxd_conn *conn, uint64_t now)
{
	struct rxd_hello hello = hello_of(conn);
	uint8_t buf[RXD_HANDSHAKE_MAX];

	conn->handshake->sent_ns = now;
	if (shake_send(conn))
		return;

	if (hello.window < conn->rcv_limit)
		hello.window = conn->rcv_limit;
	conn->rcv_limit = hello.window;
	rxd_conn_control(conn, buf, put_hello(conn, &hello, buf));
}

void rxd_welcome_send(struct rxd_conn *conn, uint64_t now)
{
	struct rxd_hello hello = hello_of(conn);
	uint8_t buf[RXD_HANDSHAKE_MAX], list[RXD_DATA_MAX], *data = conn->handshake ? conn->handshake->data : list;
	size_t len;

	if (!conn->handshake && conn->chan.paths)	/* to a HELLO with a list: the answer is not longer */
		hello.data_len = (uint16_t) rxd_rails_list(conn, list);
	hello.cookie = (struct rxd_cookie) { 0 };
	hello.peer_cid = conn->peer_cid;
	hello.window = conn->rcv_limit;
	len = rxd_put_hdr(buf, RXD_WELCOME, RXD_F_SUM, conn->peer_cid, 0);
	len = rxd_put_hello(buf, len, &hello, data);
	if (conn->handshake) {
		conn->handshake->sent_ns = now;
		conn->handshake->tries++;
	}
	rxd_conn_control(conn, buf, len);
}

void rxd_refuse_send(struct rxd_link *link, const struct rxd_hello *hello,
		     enum chan_reason reason, const void *data, size_t len)
{
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(struct rxd_refuse) + RXD_DATA_MAX];
	size_t at = rxd_put_hdr(buf, RXD_REFUSE, RXD_F_SUM, hello->cid, 0);

	at = rxd_put_refuse(buf, at, reason, data, len);
	if (link->guard)
		buf[sizeof(struct rxd_hdr) + offsetof(struct rxd_refuse, oldest)] = RXD_SEALED_OLDEST;
	rxd_link_reply(link, hello->addr, buf, at);
}

static void cookie_send(struct rxd_link *link, const struct rxd_hello *hello)
{
	struct rxd_cookie cookie = rxd_cookie_make(&link->key, hello, rxd_now(rxd_link_poller(link)));
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(cookie)];
	size_t len = rxd_put_hdr(buf, RXD_RETRY, RXD_F_SUM, hello->cid, 0);

	len = rxd_put_u64(buf, len, cookie.mac);
	rxd_put_u64(buf, len, cookie.stamp);
	_Static_assert(sizeof(buf) < sizeof(struct rxd_hello), "no amplification");
	rxd_link_reply(link, hello->addr, buf, sizeof(buf));
}

/* ---- versions ----------------------------------------------------------------------- */

/* versions_ours - protected endpoints have one of their own. */
static struct chan_version versions_ours(const struct rxd_link *link)
{
	return link->guard ? chan_version_ours(RXD_SEALED_VERSION, RXD_SEALED_OLDEST) :
			     chan_version_ours(RXD_VERSION, RXD_OLDEST);
}

static bool version_agrees(const struct rxd_link *link, const struct rxd_pkt *pkt)
{
	struct chan_version ours = versions_ours(link);

	return chan_version_agree(&ours, &pkt->version, NULL);
}

/* is_protection - is it that one side protects its connections and the other does not?  Versions that are not known
 * here may be of either kind.
 */
static bool is_protection(const struct rxd_link *link, const struct chan_version *theirs)
{
	return link->guard ? theirs->link_oldest < RXD_SEALED_OLDEST : theirs->link == RXD_SEALED_VERSION;
}

/* version_text - the difference as a clause, for the log. */
static const char *version_text(const struct rxd_link *link, struct chan_version theirs,
				char buf[CHAN_VERSION_TEXT_MAX])
{
	struct chan_version ours = versions_ours(link);

	if (!is_protection(link, &theirs))
		return chan_version_text(&ours, &theirs, buf);
	return link->guard ? "it does not protect connections, and FI_SECURITY or a key here asks for that: set the "
			     "same there" :
			     "its connections are protected and ours are not: set FI_SECURITY and the key as there";
}

/* The peer has refused us, or answered, in another version. */
static void other_version(struct rxd_conn *conn, struct chan_version theirs)
{
	char peer[CHAN_TEXT_MAX], text[CHAN_VERSION_TEXT_MAX];
	struct rxd_link *link = rxd_conn_link(conn);

	CHAN_WARN_SPARSE(conn->chan.link, "no connection to %s: %s\n",
			 chan_peer_text(&conn->chan, peer), version_text(link, theirs, text));
	rxd_attempt_fail(conn, chan_reason_errno(is_protection(link, &theirs) ? CHAN_INSECURE : CHAN_VERSION_BAD));
}

/* ---- the connecting peer -------------------------------------------------------------- */

int rxd_handshake_data(struct rxd_conn *conn, const void *data, size_t len)
{
	free(conn->handshake);
	conn->handshake = calloc(1, sizeof(*conn->handshake));
	if (!conn->handshake)
		return -FI_ENOMEM;
	conn->handshake->data_len = (uint16_t) len;
	if (len)
		memcpy(conn->handshake->data, data, len);
	return 0;
}

int rxd_hello_start(struct chan *chan)
{
	struct rxd_conn *conn = rxd_conn_of_chan(chan);
	int ret = 0;

	if (!conn->handshake)
		ret = rxd_handshake_data(conn, NULL, 0);
	if (!ret)
		ret = rxd_conn_open(conn, eng_peer_addr(chan_peer(chan)));
	if (ret) {
		free(conn->handshake);
		conn->handshake = NULL;
		return ret;
	}
	if (!chan->link->msg)
		conn->handshake->data_len = (uint16_t) rxd_rails_list(conn, conn->handshake->data);
	hello_send(conn, rxd_now(rxd_conn_poller(conn)));
	chan_timer_set(chan, rxd_hello_due(conn));
	return 0;
}

/* log_silence - once for each attempt; a program that starts slowly does this, too. */
static void log_silence(struct rxd_conn *conn, uint64_t now)
{
	struct rxd_handshake *handshake = conn->handshake;
	uint64_t silent_ns = now - conn->chan.first_ns;
	char peer[CHAN_TEXT_MAX];

	if (handshake->answered || handshake->silence_logged || silent_ns < SILENCE_NS)
		return;
	handshake->silence_logged = true;
	CHAN_WARN_SPARSE(conn->chan.link, "no answer from %s for %u.%u s: see that the peer runs and "
			 "makes progress, that it uses ofi_rxd of this library, and that no firewall "
			 "drops its datagrams or ours; connecting goes on for %d s "
			 "(FI_OFI_RXD_CONN_TIMEOUT)\n", chan_peer_text(&conn->chan, peer),
			 (unsigned) (silent_ns / CLOCK_NS_PER_S),
			 (unsigned) (silent_ns / (CLOCK_NS_PER_S / 10) % 10),
			 rxd_conf.conn_timeout_ms / 1000);
}

/* begin_again - with another cookie, and another handshake of a protected endpoint.  One whose request may be with
 * the program there is not repeated.
 */
static void begin_again(struct rxd_conn *conn)
{
	struct rxd_sec *sec = rxd_conn_link(conn)->guard ? rxd_sec_of(conn) : NULL;

	if (sec && rxd_sec_is_open(sec) && conn->chan.link->msg)
		return;
	if (sec && rxd_conn_again(conn))
		return;		/* no memory: the one that there is goes on */
	conn->handshake->cookie = (struct rxd_cookie) { 0 };
}

void rxd_hello_timeout(struct rxd_conn *conn, uint64_t now)
{
	log_silence(conn, now);
	/* as for a connection, no answer in the clear counts for a protected one */
	if (conn->handshake->answered && conn->handshake->tries >= ASK_TRIES && !rxd_conn_link(conn)->guard)
		rxd_ask_connecting(conn);
	if (rxd_give_up_due(conn) <= now) {
		if (rxd_has_looked(rxd_conn_poller(conn), rxd_give_up_due(conn)))
			rxd_attempt_fail(conn, FI_ETIMEDOUT);
		return;
	}
	conn->handshake->tries++;
	/* a cookie expires, or the peer that made it was restarted */
	if (conn->handshake->tries % COOKIE_TRIES == 0)
		begin_again(conn);
	hello_send(conn, now);
}

void rxd_on_retry(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	struct rxd_handshake *handshake = conn->handshake;
	uint64_t now = rxd_now(rxd_conn_poller(conn));

	if (conn->chan.state != CHAN_CONNECTING || handshake->cookie.mac == pkt->cookie.mac)
		return;
	handshake->answered = true;
	conn->refusals = 0;
	handshake->ambiguous |= handshake->cookie.mac != 0;
	handshake->cookie = pkt->cookie;
	handshake->tries = 0;
	hello_send(conn, now);
	rxd_conn_rearm(conn, now);
}

void rxd_on_shake(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	struct rxd_sec *sec = rxd_sec_of(conn);
	uint64_t now = rxd_now(rxd_conn_poller(conn));

	if (conn->chan.state != CHAN_CONNECTING || !conn->handshake->cookie.mac)
		return;
	switch (rxd_sec_take(sec, pkt)) {
	case RXD_TOOK_NOTHING:
		return;
	case RXD_TOOK_BAD:
		rxd_attempt_fail(conn, FI_EACCES);
		return;
	default:
		conn->peer_cid = pkt->cid;
		conn->handshake->answered = true;
		/* WELCOME answers the first HELLO under the new keys, which is sent now */
		conn->handshake->ambiguous = !rxd_sec_is_open(sec);
		conn->handshake->tries = 0;
		hello_send(conn, now);
		rxd_conn_rearm(conn, now);
	}
}

/* A listener's answer comes from the endpoint that accepted.  Returns false: no such address. */
static bool follow_listener(struct rxd_conn *conn, const struct rxd_hello *hello)
{
	struct rxd_link *link = rxd_conn_link(conn);
	fi_addr_t to;

	if (hello->addr_len != link->base.addr_len || rxd_dg_peer(link->dg, hello->addr, &to))
		return false;
	rxd_dg_forget(link->dg, conn->to);
	conn->to = to;
	return true;
}

static void handshake_connected(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	struct rxd_handshake *handshake = conn->handshake;

	if (!handshake->tries && !handshake->ambiguous)
		rxd_rtt_sample(&conn->rtt, now - handshake->sent_ns, 0);
	free(handshake);
	conn->handshake = NULL;
	conn->confirmed = true;
	rxd_conn_ready(conn, &pkt->hello, now);
	if (!rxd_conn_alive(conn))
		return;
	if (conn->mtu.most == conn->mtu.base)
		rxd_tx_ping(conn, now);		/* else a path MTU probe confirms the connection */
	if (conn->chan.link->msg)
		eng_on_connected(&conn->chan.link->base, chan_peer(&conn->chan), pkt->data, pkt->len);
	else
		rxd_rails_begin(conn, pkt->data, pkt->len);
	rxd_conn_rearm(conn, now);
}

void rxd_on_welcome(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	uint64_t now = rxd_now(rxd_conn_poller(conn));

	if (rxd_conn_alive(conn) && conn->peer_cid == pkt->hello.cid) {
		rxd_tx_ping(conn, now);		/* it does not know yet that its WELCOME has arrived */
		rxd_conn_rearm(conn, now);
		return;
	}
	if (conn->chan.state != CHAN_CONNECTING || pkt->hello.peer_cid != conn->cid)
		return;
	if (!version_agrees(rxd_conn_link(conn), pkt))
		other_version(conn, pkt->version);
	else if (pkt->hello.kind != rxd_link_kind(rxd_conn_link(conn)))
		rxd_attempt_fail(conn, FI_EPROTO);
	else if (!conn->chan.link->msg || follow_listener(conn, &pkt->hello))
		handshake_connected(conn, pkt, now);
}

/* The program at the peer has rejected the request. */
static void request_rejected(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	struct eng_peer *peer = chan_peer(&conn->chan);
	struct chan_link *link = conn->chan.link;

	chan_put(&conn->chan, FI_ECONNREFUSED);
	if (!link->closing)
		eng_on_refused(&link->base, peer, FI_ECONNREFUSED, pkt->data, pkt->len);
}

void rxd_on_refuse(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	if (conn->chan.state != CHAN_CONNECTING || pkt->reason == CHAN_BUSY)
		return;		/* busy: HELLO is retransmitted until the attempt times out */
	if (pkt->reason == CHAN_VERSION_BAD) {
		other_version(conn, pkt->version);
	} else if (pkt->reason != CHAN_REJECTED) {
		rxd_conn_release(conn, FI_ECANCELED);
		chan_refused(&conn->chan, pkt->reason);
	} else if (conn->chan.link->msg) {
		request_rejected(conn, pkt);
	}
}

/* ---- the accepting peer ----------------------------------------------------------------- */

/* is_old - is it the HELLO of an earlier attempt than the one that the connection stands on? */
static bool is_old(const struct rxd_conn *conn, const struct rxd_hello *hello)
{
	return hello->epoch == conn->gone_epoch ||
	       (hello->epoch == conn->chan.peer_epoch && hello->serial < conn->chan.peer_newest);
}

static struct rxd_conn *conn_for(struct rxd_link *link, const struct rxd_hello *hello)
{
	struct chan *chan = chan_find(&link->base, hello->addr, hello->addr_len);

	return chan ? rxd_conn_of_chan(chan) : NULL;
}

/* conn_replace - a new request ends the connection that stands: the peer has been restarted, or has
 * declared it lost.  Returns the connection for the request, NULL as chan_find().
 */
static struct rxd_conn *conn_replace(struct rxd_conn *conn, const struct rxd_hello *hello)
{
	struct rxd_link *link = rxd_conn_link(conn);

	if (hello->epoch != conn->chan.peer_epoch && conn->chan.peer_epoch)
		conn->gone_epoch = conn->chan.peer_epoch;
	if (conn->chan.failed)
		rxd_conn_lost(conn);
	else if (rxd_conn_alive(conn))
		chan_lost(&conn->chan, FI_ECONNRESET, false);
	else
		return conn;
	return conn_for(link, hello);
}

static void accept_hello(struct rxd_link *link, const struct rxd_pkt *pkt, uint64_t now)
{
	const struct rxd_hello *hello = &pkt->hello;
	struct rxd_conn *conn = conn_for(link, hello);

	if (conn && rxd_conn_alive(conn) && hello->cid == conn->peer_cid) {
		rxd_welcome_send(conn, now);
		return;
	}
	if (conn && is_old(conn, hello))
		return;
	if (conn)
		conn = conn_replace(conn, hello);
	if (!conn || rxd_conn_accept(conn, hello->addr)) {
		rxd_refuse_send(link, hello, CHAN_BUSY, NULL, 0);
		return;
	}
	free(conn->handshake);
	conn->handshake = NULL;
	rxd_conn_ready(conn, hello, now);
	if (!rxd_conn_alive(conn))
		return;
	rxd_rails_begin(conn, pkt->data, pkt->len);
	rxd_welcome_send(conn, now);
	rxd_conn_rearm(conn, now);
}

static void refuse_version(struct rxd_link *link, const struct rxd_pkt *pkt)
{
	char peer[CHAN_TEXT_MAX], text[CHAN_VERSION_TEXT_MAX];

	CHAN_WARN_SPARSE(&link->base, "refused a connection from %s: %s\n",
			 chan_text(&link->base, pkt->hello.addr, pkt->hello.addr_len, peer),
			 version_text(link, pkt->version, text));
	rxd_refuse_send(link, &pkt->hello, CHAN_VERSION_BAD, NULL, 0);
}

bool rxd_on_hello(struct rxd_link *link, const struct rxd_pkt *pkt)
{
	const struct rxd_hello *hello = &pkt->hello;
	uint64_t now = rxd_now(rxd_link_poller(link));

	/* a reply must not be longer than the HELLO */
	if (hello->addr_len != link->base.addr_len || link->base.closing)
		return false;
	if (!version_agrees(link, pkt))
		refuse_version(link, pkt);
	else if (hello->kind != rxd_link_kind(link) || (link->base.msg && !link->base.base.pep))
		rxd_refuse_send(link, hello, CHAN_KIND_BAD, NULL, 0);
	else if (!rxd_cookie_good(&link->key, hello, now))
		cookie_send(link, hello);
	else if (link->guard)
		rxd_guest_on_hello(link, pkt);
	else if (link->base.msg)
		return link->listening;
	else
		accept_hello(link, pkt, now);
	return false;
}

/* ---- the accepting peer, protected ------------------------------------------------------- */

/* is_ours_first - of two attempts that are in flight to each other, does ours count?  Both sides know both epochs. */
static bool is_ours_first(const struct rxd_conn *conn, const struct rxd_hello *hello)
{
	return conn->cid && !rxd_conn_alive(conn) && !conn->chan.failed &&
	       conn->chan.link->epoch < hello->epoch;
}

/* accept_self - an endpoint that connects to itself: both ends are one connection. */
static void accept_self(struct rxd_conn *conn, struct rxd_sec *guest, const struct rxd_hello *hello, uint64_t now)
{
	struct rxd_hello other = *hello;

	if (!conn || conn->chan.state != CHAN_CONNECTING || !rxd_sec_is_open(rxd_sec_of(conn)))
		return;
	free(conn->handshake);
	conn->handshake = NULL;
	conn->confirmed = true;
	other.cid = rxd_sec_join(guest, conn);
	rxd_conn_ready(conn, &other, now);
	rxd_conn_rearm(conn, now);
}

/* is_repeated - is it the attempt that the connection stands on, begun again since no WELCOME has arrived? */
static bool is_repeated(const struct rxd_conn *conn, const struct rxd_hello *hello)
{
	return rxd_conn_alive(conn) && !conn->confirmed && hello->epoch == conn->chan.peer_epoch &&
	       hello->serial == conn->chan.peer_newest;
}

/* accept_repeated - the connection stays: nothing of its streams has arrived, so all is sent under the new keys. */
static void accept_repeated(struct rxd_conn *conn, struct rxd_sec *guest, const struct rxd_hello *hello, uint64_t now)
{
	if (rxd_sec_adopt(guest, conn))
		return;		/* no memory: its HELLO is repeated */
	conn->peer_cid = hello->cid;
	rxd_sec_named(conn, hello->addr);
	rxd_welcome_send(conn, now);
}

/* accept_guest - as accept_hello(), for one that has proven the key. */
static void accept_guest(struct rxd_link *link, struct rxd_sec *guest, const struct rxd_hello *hello, uint64_t now)
{
	struct rxd_conn *conn = conn_for(link, hello);

	if (hello->epoch == link->base.epoch) {
		accept_self(conn, guest, hello, now);
		return;
	}
	if (conn && (is_old(conn, hello) || is_ours_first(conn, hello)))
		return;
	if (conn && is_repeated(conn, hello)) {
		accept_repeated(conn, guest, hello, now);
		return;
	}
	if (conn)
		conn = conn_replace(conn, hello);
	if (!conn || rxd_conn_adopt(conn, guest, hello->addr))
		return;		/* no memory: its HELLO is repeated */
	free(conn->handshake);
	conn->handshake = NULL;
	rxd_conn_ready(conn, hello, now);
	if (!rxd_conn_alive(conn))
		return;
	rxd_welcome_send(conn, now);
	rxd_conn_rearm(conn, now);
}

bool rxd_on_sealed_hello(struct rxd_link *link, struct rxd_sec *guest, const struct rxd_pkt *pkt)
{
	const struct rxd_hello *hello = &pkt->hello;

	if (link->base.closing || !rxd_guest_is(guest, hello) || hello->kind != rxd_link_kind(link))
		return false;
	if (link->base.msg)
		return link->listening;
	accept_guest(link, guest, hello, rxd_now(rxd_link_poller(link)));
	return false;
}
