/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * How a connection comes about: it is made when a peer is first spoken to, from
 * either side.
 *
 * When two call each other at once, the call of the one with the lower address
 * stands: it turns the other's down as crossed, and that one waits.  So which of
 * the two arrives first does not matter, and a call that arrives late, after the
 * connection stands, is turned down by the same rule.  A caller of another epoch
 * is a new process at that address, whatever stood before.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ib_addr.h"
#include "base/net_addr.h"
#include "conn.h"

#define BACKOFF_FIRST_NS (5 * CLOCK_NS_PER_MS)
#define BACKOFF_MAX_SHIFT 5	/* 160 ms */
#define AWAIT_NS (CLOCK_NS_PER_S / 2)
#define TIMEOUT_NS ((uint64_t) rxm_conf.conn_timeout_ms * CLOCK_NS_PER_MS)

/* ---- what is said about ourselves ------------------------------------------------- */

static size_t introduce(struct rxm_link *link, uint8_t *out, bool with_addr)
{
	struct rxm_hello hello = {
		.epoch = link->epoch,
		.buf_size = (uint32_t) rxm_conf.buf_size,
		.credits = (uint16_t) rxm_conf.credits,
		.longs = RXM_LONGS,
		.addr_len = with_addr ? (uint16_t) link->addr_len : 0,
	};

	memcpy(hello.addr, link->addr, hello.addr_len);
	return rxm_put_hello(out, &hello);
}

static void heed(struct rxm_conn *conn, const struct rxm_hello *hello)
{
	conn->peer_epoch = hello->epoch;
	conn->credits += hello->credits;	/* some may have been returned already */
	conn->buf_size = hello->buf_size < rxm_conf.buf_size ? hello->buf_size :
							       (unsigned) rxm_conf.buf_size;
	conn->longs = hello->longs < RXM_LONGS ? hello->longs : RXM_LONGS;
}

static int wake(struct rxm_conn *conn)
{
	return conn->state == RXM_IDLE ? timers_join(&conn->link->poller->timers) : 0;
}

/* ---- calling -------------------------------------------------------------------------- */

static bool worth_repeating(int err)
{
	return err == FI_ECONNREFUSED || err == FI_ECONNRESET || err == FI_EAGAIN ||
	       err == FI_EMFILE || err == FI_EADDRNOTAVAIL || err == FI_ETIMEDOUT;
}

/* A peer that computes looks like one that is not there: the endpoint below may give it
 * less time than we do.
 */
static uint64_t repeat_until(const struct rxm_conn *conn, int err)
{
	return conn->first_ns + (err == FI_ETIMEDOUT ? TIMEOUT_NS :
				 (uint64_t) rxm_conf.conn_retry_ms * CLOCK_NS_PER_MS);
}

void rxm_call_ended(struct rxm_conn *conn, int err, bool final)
{
	uint64_t now = clock_ns();
	unsigned shift = conn->tries < BACKOFF_MAX_SHIFT ? conn->tries : BACKOFF_MAX_SHIFT;
	uint64_t due;

	rxm_conn_drop_socks(conn);
	conn->err = err;
	conn->tries++;
	conn->give_up = final || !worth_repeating(err) || now >= repeat_until(conn, err);
	due = conn->give_up ? 0 : now + (BACKOFF_FIRST_NS << shift);
	rxm_conn_set_state(conn, RXM_WAITING);
	timer_set(&conn->link->poller->timers, &conn->timer, due);
	obj_prog_moved(conn->link->poller->base.prog, due);
}

static void set_deadline(struct rxm_conn *conn, uint64_t ns)
{
	uint64_t due = clock_ns() + ns;

	timer_set(&conn->link->poller->timers, &conn->timer, due);
	obj_prog_moved(conn->link->poller->base.prog, due);
}

/* The listener's address, but for the port: that is taken. */
static struct fi_info *info_to(struct rxm_link *link, const void *addr)
{
	struct fi_info *info = fi_dupinfo(link->info);

	if (!info)
		return NULL;
	free(info->dest_addr);
	info->dest_addr = malloc(link->addr_len);
	if (!info->dest_addr) {
		fi_freeinfo(info);
		return NULL;
	}
	memcpy(info->dest_addr, addr, link->addr_len);
	info->dest_addrlen = link->addr_len;
	if (info->src_addr && info->addr_format == FI_SOCKADDR_IB) {
		ib_sa_set_port(info->src_addr, 0);
	} else if (info->src_addr && net_addr_len(info->src_addr)) {
		net_addr_set_port(info->src_addr, 0);
	} else {
		free(info->src_addr);
		info->src_addr = NULL;
		info->src_addrlen = 0;
	}
	return info;
}

static int dial(struct rxm_conn *conn)
{
	const void *addr = eng_peer_addr(rxm_conn_peer(conn));
	struct rxm_link *link = conn->link;
	uint8_t data[sizeof(struct rxm_hello)];
	struct fi_info *info = info_to(link, addr);
	int ret;

	if (!info)
		return -FI_ENOMEM;
	ret = rxm_sock_open(link->dom, info, conn, &conn->sock);
	fi_freeinfo(info);
	if (ret)
		return ret;
	return fi_connect(conn->sock->ep, addr, data, introduce(link, data, true));
}

static void call(struct rxm_conn *conn)
{
	int ret = dial(conn);

	if (ret) {
		rxm_call_ended(conn, -ret, false);
		return;
	}
	conn->ours = true;
	rxm_conn_set_state(conn, RXM_CALLING);
	set_deadline(conn, TIMEOUT_NS);
}

int rxm_call(struct rxm_conn *conn)
{
	int ret = wake(conn);

	if (ret)
		return ret;
	conn->first_ns = clock_ns();
	conn->tries = 0;
	conn->told = false;
	call(conn);
	return 0;
}

static void report_unreachable(struct rxm_conn *conn)
{
	struct rxm_link *link = conn->link;
	struct eng_peer *peer = rxm_conn_peer(conn);
	char text[RXM_TEXT];
	int err = conn->err;

	if (!conn->told && !link->closing)
		RXM_WARN_SPARSE("cannot connect to %s: %s%s\n", rxm_conn_text(conn, text),
				fi_strerror(err), err == FI_ECONNREFUSED ?
				"; no endpoint of this layer is there, or its process has ended" :
				err == FI_ETIMEDOUT ? "; its program makes no progress, or a "
				"firewall is between" : "");
	rxm_conn_put(conn, err);
	if (!link->closing)
		eng_on_down(&link->base, peer, err);
}

void rxm_call_timer(struct rxm_conn *conn, uint64_t now)
{
	if (conn->state == RXM_TAKING)
		rxm_conn_fail(conn, FI_ETIMEDOUT);
	else if (conn->state == RXM_AWAITING && now < conn->first_ns + TIMEOUT_NS)
		call(conn);	/* the peer may have ended before its call was here */
	else if (conn->state == RXM_CALLING || conn->state == RXM_AWAITING)
		rxm_call_ended(conn, FI_ETIMEDOUT, true);
	else if (conn->state == RXM_WAITING && conn->give_up)
		report_unreachable(conn);
	else if (conn->state == RXM_WAITING && !conn->link->closing)
		call(conn);
}

/* ---- it stands ----------------------------------------------------------------------------- */

static void stands(struct rxm_conn *conn)
{
	timer_off(&conn->link->poller->timers, &conn->timer);
	rxm_conn_set_state(conn, RXM_READY);
	rxm_conn_touch(conn);
	if (!conn->link->closing)
		eng_on_up(&conn->link->base, rxm_conn_peer(conn));
	if (conn->state == RXM_READY)
		rxm_rx_run(conn);
}

void rxm_on_connected(struct rxm_sock *sock, const void *data, size_t len)
{
	struct rxm_conn *conn = sock->conn;
	struct rxm_hello hello;
	char text[RXM_TEXT];
	const char *why;

	if (sock == conn->loop)
		return;
	if (conn->state == RXM_TAKING) {
		stands(conn);
		return;
	}
	if (conn->state != RXM_CALLING)
		return;
	why = rxm_parse_hello(data, len, &hello);
	if (why) {
		RXM_WARN_SPARSE("%s took our call, but %s\n", rxm_conn_text(conn, text), why);
		conn->told = true;
		rxm_call_ended(conn, FI_EPROTO, true);
		return;
	}
	heed(conn, &hello);
	stands(conn);
}

void rxm_on_refused(struct rxm_sock *sock, int err, const void *data, size_t len)
{
	struct rxm_conn *conn = sock->conn;
	enum rxm_reason reason = rxm_parse_no(data, len);
	char text[RXM_TEXT];

	if (sock == conn->loop || conn->state != RXM_CALLING) {
		rxm_on_ended(sock);
		return;
	}
	if (reason == RXM_CROSSED) {
		rxm_conn_drop_socks(conn);
		rxm_conn_set_state(conn, RXM_AWAITING);
		set_deadline(conn, AWAIT_NS);
	} else if (reason == RXM_OTHER) {
		RXM_WARN_SPARSE("%s is of another version of this library: use the same on all "
				"hosts\n", rxm_conn_text(conn, text));
		conn->told = true;
		rxm_call_ended(conn, FI_EPROTO, true);
	} else {
		rxm_call_ended(conn, err ? err : FI_ECONNREFUSED, false);
	}
}

/* The endpoint below is at its end.  What it had received is here by now. */
void rxm_on_ended(struct rxm_sock *sock)
{
	struct rxm_conn *conn = sock->conn;

	if (conn->state == RXM_CALLING) {
		rxm_call_ended(conn, FI_ECONNRESET, false);
	} else {
		conn->ended = true;
		rxm_rx_run(conn);
	}
}

/* ---- being called ------------------------------------------------------------------------------ */

static void turn_down(struct rxm_link *link, struct fi_info *info, enum rxm_reason reason)
{
	uint8_t data[sizeof(struct rxm_no)];

	fi_reject(link->pep, info->handle, data, rxm_put_no(data, reason));
}

/* The address under which the caller is known.  One that listens at a wildcard is
 * known by where it calls from; anything else must match that, or an endpoint could
 * pass itself off as another.
 */
static const char *settle_addr(struct rxm_link *link, const struct fi_info *info,
			       struct rxm_hello *hello)
{
	const struct sockaddr *from = info->dest_addr;
	union net_sa own;

	if (hello->addr_len != link->addr_len)
		return "its address is of another kind";
	if (!from || !net_addr_len(from))
		return NULL;	/* no address that we could compare */
	memcpy(&own, hello->addr, hello->addr_len);
	if (net_addr_len(&own.sa) != hello->addr_len || own.sa.sa_family != from->sa_family)
		return "its address is of another family";
	if (net_addr_is_any(&own.sa)) {
		uint16_t port = net_addr_port(&own.sa);

		memcpy(&own, from, net_addr_len(from));
		net_addr_set_port(&own.sa, port);
		memcpy(hello->addr, &own, hello->addr_len);
	}
	return net_addr_same_host(&own.sa, from) ? NULL : "it claims another host's address";
}

/* take - the caller becomes the peer's connection, or the far end of our own. */
static int take(struct rxm_conn *conn, struct fi_info *info, const struct rxm_hello *hello,
		bool self)
{
	struct rxm_link *link = conn->link;
	struct rxm_sock **sock_p = self ? &conn->loop : &conn->sock;
	uint8_t data[sizeof(struct rxm_hello)];
	int ret = wake(conn);

	if (ret)
		return ret;
	ret = rxm_sock_open(link->dom, info, conn, sock_p);
	if (!ret) {
		if (!self) {
			heed(conn, hello);
			conn->ours = false;
			rxm_conn_set_state(conn, RXM_TAKING);
			set_deadline(conn, TIMEOUT_NS);
		}
		ret = fi_accept((*sock_p)->ep, data, introduce(link, data, false));
		if (ret)
			rxm_conn_fail(conn, -ret);
		return 0;
	}
	if (conn->state == RXM_IDLE)
		timers_leave(&link->poller->timers);
	return ret;
}

static bool our_call_stands(struct rxm_link *link, const struct rxm_hello *hello)
{
	return memcmp(link->addr, hello->addr, link->addr_len) < 0;
}

enum verdict { TAKE, TAKE_SELF, REPLACE, REFUSE };

static enum verdict judge(struct rxm_conn *conn, const struct rxm_hello *hello)
{
	struct rxm_link *link = conn->link;

	if (hello->epoch == link->epoch)
		return conn->loop ? REFUSE : TAKE_SELF;
	if (conn->state == RXM_CALLING)
		return our_call_stands(link, hello) ? REFUSE : TAKE;
	if (conn->state == RXM_READY && conn->peer_epoch == hello->epoch && conn->ours &&
	    !conn->ended && our_call_stands(link, hello))
		return REFUSE;
	return conn->state == RXM_READY || conn->state == RXM_TAKING || conn->state == RXM_FAILED ?
	       REPLACE : TAKE;
}

static void replace(struct rxm_conn *conn)
{
	struct rxm_link *link = conn->link;
	struct eng_peer *peer = rxm_conn_peer(conn);

	rxm_conn_put(conn, FI_ECONNRESET);
	eng_on_down(&link->base, peer, FI_ECONNRESET);
}

static void answer(struct rxm_link *link, struct fi_info *info, const struct rxm_hello *hello)
{
	struct eng_peer *peer = eng_peer_find(&link->base, hello->addr, hello->addr_len);
	enum verdict verdict = peer ? judge(rxm_conn_of(link, peer), hello) : TAKE;

	if (verdict == REPLACE) {
		replace(eng_peer_chan(peer));
		peer = eng_peer_find(&link->base, hello->addr, hello->addr_len);
	}
	if (verdict == REFUSE) {
		turn_down(link, info, RXM_CROSSED);
		return;
	}
	if (peer && verdict == TAKE)
		rxm_conn_drop_socks(rxm_conn_of(link, peer));
	if (!peer || take(rxm_conn_of(link, peer), info, hello, verdict == TAKE_SELF))
		turn_down(link, info, RXM_BUSY);
}

/* Ownership: @info is the caller's. */
void rxm_on_connreq(struct rxm_link *link, struct fi_info *info, const void *data, size_t len)
{
	struct rxm_hello hello;
	const char *why = rxm_parse_hello(data, len, &hello);
	char text[RXM_TEXT] = "an unknown address";

	if (link->closing) {
		turn_down(link, info, RXM_BUSY);
		return;
	}
	if (!why)
		why = settle_addr(link, info, &hello);
	if (!why) {
		answer(link, info, &hello);
		return;
	}
	if (info->dest_addr)
		rxm_addr_text(info->dest_addr, info->dest_addrlen, text);
	RXM_WARN_SPARSE("refused a connection from %s: %s\n", text, why);
	turn_down(link, info, RXM_OTHER);
}
