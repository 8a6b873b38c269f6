/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tclass.h"
#include "link.h"

#define BIT(state) (1u << (state))
#define ACKS_EVERY 32		/* events of input between two times that ACKs are delayed */

/* The legal edges; CLOSED may follow any state. */
static const unsigned edges[] __attribute__((unused)) = {
	[TCP_CONN_CONNECTING] = BIT(TCP_CONN_HELLO_SENT) | BIT(TCP_CONN_FAILED),
	[TCP_CONN_HELLO_SENT] = BIT(TCP_CONN_READY) | BIT(TCP_CONN_FAILED),
	[TCP_CONN_HALF_OPEN] = BIT(TCP_CONN_READY) | BIT(TCP_CONN_REQUESTED) | BIT(TCP_CONN_CLOSING) |
			   BIT(TCP_CONN_FAILED),
	[TCP_CONN_REQUESTED] = BIT(TCP_CONN_READY) | BIT(TCP_CONN_CLOSING),
	[TCP_CONN_READY] = BIT(TCP_CONN_FAILED) | BIT(TCP_CONN_CLOSING),
	[TCP_CONN_CLOSING] = BIT(TCP_CONN_FAILED),
	[TCP_CONN_FAILED] = 0,
	[TCP_CONN_CLOSED] = 0,
};

static bool is_connecting(enum tcp_conn_state state)
{
	return state == TCP_CONN_CONNECTING || state == TCP_CONN_HELLO_SENT;
}

/* What belongs to a state is undone when the connection leaves it: the place among the half-open
 * ones, the candidacy for parking, the buffers of the handshake.
 */
void tcp_conn_set_state(struct tcp_conn *conn, enum tcp_conn_state state)
{
	enum tcp_conn_state was = conn->state;

	assert((state == TCP_CONN_CLOSED || edges[was] & BIT(state)) &&
	       "a connection changes along its edges");
	conn->state = state;
	if (was == TCP_CONN_HALF_OPEN)
		conn->link->listener.half_open--;
	if (was == TCP_CONN_READY)
		list_del(&conn->park.node);
	if (state == TCP_CONN_READY || state == TCP_CONN_CLOSED) {
		free(conn->handshake);
		conn->handshake = NULL;
	}
}

/* Input is not watched while what has arrived cannot be taken, nor output while nothing waits:
 * otherwise each poll would return at once with an event without effect.
 */
int tcp_conn_watch(struct tcp_conn *conn)
{
	uint32_t events = 0;

	if (!conn->rx.kept && !conn->rx.masked && !conn->detached)
		events |= TCP_CONN_IN;
	if (conn->tx.blocked)
		events |= POLLOUT;
	return chan_src_want(&conn->poller->base, &conn->src, events);
}

void tcp_conn_timed_out(struct timer *timer, uint64_t now)
{
	tcp_conn_handshake_timeout(container_of(timer, struct tcp_conn, timer));
}

/* few_acks - a peer on the same host that sends and gets nothing, as in many collectives, would be sent an
 * ACK for each packet that is read; it needs none of them soon.
 */
static void few_acks(struct tcp_conn *conn)
{
	if (conn->same_host && conn->state == TCP_CONN_READY && !(conn->acks++ % ACKS_EVERY))
		net_sock_delay_acks(conn->src.fd);
}

/* Output first: it may end the connection, and input is then read no more. */
static void on_ready_event(struct tcp_conn *conn, uint32_t events)
{
	if (events & POLLOUT)
		tcp_tx_pump(conn);
	if (conn->state == TCP_CONN_READY && !conn->rx.kept && events & ~(uint32_t) POLLOUT) {
		tcp_poller_activate(conn->poller, conn);
		tcp_rx_read(conn, OBJ_POLL_BUDGET);
		few_acks(conn);
	}
	if (conn->state == TCP_CONN_READY && conn->rx.body == TCP_BODY_OTHERS && !conn->rx.masked) {
		conn->rx.masked = true;
		tcp_conn_watch(conn);
	}
	/* the peer has reset the connection, and what it announced is not wanted yet */
	if (conn->stream && conn->rx.masked && events & POLLERR)
		tcp_conn_fail(conn, FI_ECONNRESET, false);
	/* nothing is read now, so the end of the stream is found later: ask for no event until then */
	if (conn->state == TCP_CONN_READY && (conn->rx.kept || conn->rx.masked) &&
	    events & (POLLHUP | POLLERR))
		chan_src_want(&conn->poller->base, &conn->src, 0);
}

static void on_event(struct chan_src *src, uint32_t events)
{
	struct tcp_conn *conn = container_of(src, struct tcp_conn, src);

	if (events & (POLLRDHUP | POLLHUP | POLLERR))
		conn->peer_ended = true;
	if (conn->state == TCP_CONN_READY && conn->first)
		tcp_lane_event(conn, events);
	else if (conn->state == TCP_CONN_READY)
		on_ready_event(conn, events);
	else
		tcp_conn_handshake_event(conn, events);
}

/* The state begins in CONNECTING (we connect) or HALF_OPEN (accepted). */
int tcp_conn_new(struct tcp_link *link, const struct tcp_wireup *wireup, int fd,
		 enum tcp_conn_state state, struct tcp_conn **conn_p)
{
	struct tcp_conn *conn = calloc(1, sizeof(*conn));

	if (conn)
		conn->handshake = malloc(sizeof(*conn->handshake));
	if (!conn || !conn->handshake || timers_join(&link->poller->base.timers)) {
		if (conn)
			free(conn->handshake);
		free(conn);
		return -FI_ENOMEM;
	}
	conn->handshake->rdm = (struct xnet_rdm) { 0 };
	conn->handshake->have = 0;
	conn->handshake->out_len = 0;
	conn->src.fd = fd;
	conn->src.event = on_event;
	conn->state = state;
	conn->ours = is_connecting(state);
	conn->wireup = wireup;
	conn->poller = link->poller;
	conn->link = link;
	conn->since_ns = chan_poller_now(&link->poller->base);
	list_init(&conn->state_node);
	list_init(&conn->tx.dirty_node);
	list_init(&conn->park.node);
	list_init(&conn->unacked_node);
	list_add_tail(&conn->node, &link->conns);
	conn->timer.fire = tcp_conn_timed_out;
	if (!conn->ours)
		link->listener.half_open++;
	if (link->kind == TCP_WIRE_RDM)
		chan_park_opened(&link->poller->base, fd, link->conf->max_conns);
	*conn_p = conn;
	return 0;
}

/* The channel is marked at once, so that a packet sent before the next poll gets the error. */
void tcp_conn_fail(struct tcp_conn *conn, int err, bool clean)
{
	if (conn->state == TCP_CONN_FAILED || conn->state == TCP_CONN_CLOSED)
		return;
	conn->was = conn->state;
	conn->err = err;
	conn->clean_end = clean;
	if (conn->chan && conn->chan->base.conn == conn) {
		conn->chan->base.failed = true;
		conn->chan->base.err = err;
	}
	tcp_conn_set_state(conn, TCP_CONN_FAILED);
	timer_off(&conn->poller->base.timers, &conn->timer);
	list_del(&conn->unacked_node);
	tcp_poller_deactivate(conn->poller, conn);
	chan_src_want(&conn->poller->base, &conn->src, 0);
	list_del(&conn->state_node);
	list_add_tail(&conn->state_node, &conn->poller->base.failed);
	chan_poller_kick(&conn->poller->base);
}

/* The payload being received is reported last: that upcall may open another connection. */
void tcp_conn_close(struct tcp_conn *conn)
{
	if (conn->state == TCP_CONN_CLOSED)
		return;
	tcp_lane_end(conn, tcp_conn_close);
	tcp_stream_end(conn);
	tcp_conn_set_state(conn, TCP_CONN_CLOSED);
	timers_leave(&conn->poller->base.timers);
	timer_off(&conn->poller->base.timers, &conn->timer);
	list_del(&conn->unacked_node);
	tcp_poller_deactivate(conn->poller, conn);
	tcp_tx_drop(conn);
	chan_src_want(&conn->poller->base, &conn->src, 0);
	if (conn->link->kind == TCP_WIRE_RDM)
		chan_park_closed(&conn->poller->base);
	close(conn->src.fd);
	conn->src.fd = -1;
	list_del(&conn->node);
	list_del(&conn->state_node);
	list_add_tail(&conn->state_node, &conn->poller->dead);
	tcp_rx_drop(conn, conn->err ? conn->err : FI_ECANCELED);
}

/* What the socket does not take now is lost with the peer, which the engine has forgotten. */
void tcp_conn_close_orderly(struct tcp_conn *conn)
{
	if (conn->state == TCP_CONN_READY)
		tcp_tx_flush(conn);
	if (conn->state != TCP_CONN_READY) {
		tcp_conn_close(conn);
		return;
	}
	tcp_lane_end(conn, tcp_conn_close_orderly);
	tcp_stream_end(conn);
	tcp_tx_drop(conn);
	list_del(&conn->state_node);
	tcp_poller_deactivate(conn->poller, conn);
	tcp_conn_half_close(conn);
	tcp_rx_drop(conn, FI_ECANCELED);
}

void tcp_conn_free(struct tcp_conn *conn)
{
	free(conn->handshake);
	free(conn->lanes);
	tcp_stream_free(conn->stream);
	free(conn);
}

/* The class is a wish: a connection without it is no failure. */
void tcp_conn_set_class(const struct tcp_link *link, int fd)
{
	int family = AF_INET, ret;
	socklen_t len = sizeof(family);

	if (link->tclass == FI_TC_UNSPEC)
		return;
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len);
	ret = net_tclass_set(fd, family, link->tclass);
	if (ret)
		FI_INFO(link->base.prov, FI_LOG_EP_CTRL, "traffic class 0x%x is not set: %s\n",
			link->tclass, fi_strerror(-ret));
}

int tcp_conn_attach(struct tcp_conn *conn, struct tcp_link *link)
{
	if (timers_join(&link->poller->base.timers)) {
		close(conn->src.fd);
		tcp_conn_free(conn);
		return -FI_ENOMEM;
	}
	conn->link = link;
	conn->poller = link->poller;
	list_add_tail(&conn->node, &link->conns);
	tcp_conn_set_class(link, conn->src.fd);
	return 0;
}

/* Between detach and attach a connection belongs to no group: no poll sees it, and it needs no
 * lock.
 */
void tcp_conn_detach(struct tcp_conn *conn)
{
	timer_off(&conn->poller->base.timers, &conn->timer);
	timers_leave(&conn->poller->base.timers);
	list_del(&conn->unacked_node);
	chan_src_want(&conn->poller->base, &conn->src, 0);
	list_del(&conn->node);
	conn->link = NULL;
	conn->poller = NULL;
}
