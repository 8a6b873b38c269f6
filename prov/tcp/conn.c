/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tclass.h"
#include "types.h"

#define BIT(state) (1u << (state))
#define ACK_CHECKS 8		/* within the time that a peer may be silent */
#define ACK_EVERY_MIN_NS (10 * CLOCK_NS_PER_MS)
#define CLOSING_NS (1 * CLOCK_NS_PER_S)	/* a peer has this long to end its stream */

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

/* enter_refused - one that was never more than half open only waits for its peer's end.  leave_refused - it has ended. */
static void enter_refused(struct tcp_conn *conn)
{
	conn->refused = true;
	conn->link->listener.refused_cnt++;
	list_add_tail(&conn->state_node, &conn->link->listener.refused);
}

static void leave_refused(struct tcp_conn *conn)
{
	conn->link->listener.refused_cnt--;
	list_del(&conn->state_node);
}

/* What belongs to a state is undone when the connection leaves it: the place among the half-open
 * ones or those that were refused, the candidacy for parking, the buffers of the handshake.
 */
void tcp_conn_set_state(struct tcp_conn *conn, enum tcp_conn_state state)
{
	enum tcp_conn_state was = conn->state;

	assert((state == TCP_CONN_CLOSED || edges[was] & BIT(state)) &&
	       "a connection changes along its edges");
	conn->state = state;
	if (was == TCP_CONN_HALF_OPEN)
		conn->link->listener.half_open--;
	if (was == TCP_CONN_HALF_OPEN && state == TCP_CONN_CLOSING)
		enter_refused(conn);
	if (was == TCP_CONN_CLOSING && conn->refused)
		leave_refused(conn);
	if (was == TCP_CONN_READY) {
		list_del(&conn->park.node);
		conn->poller->ready_cnt--;
	}
	if (state == TCP_CONN_READY)
		conn->poller->ready_cnt++;
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

	if (conn->rec)
		return 0;	/* its paths are watched */
	if (!conn->rx.kept && !conn->rx.masked && !conn->detached)
		events |= TCP_CONN_IN;
	if (conn->tx.blocked)
		events |= POLLOUT;
	return chan_src_want(&conn->poller->base, &conn->src, events);
}

/* ---- the end of the stream -------------------------------------------------------------- */

bool tcp_conn_peer_closed(const struct tcp_conn *conn)
{
	struct pollfd pfd = { .fd = conn->src.fd, .events = POLLRDHUP };

	return poll(&pfd, 1, 0) > 0;
}

/* wait_peer_close - discard input until the peer has ended its stream. */
static void wait_peer_close(struct chan_src *src, uint32_t events)
{
	struct tcp_conn *conn = container_of(src, struct tcp_conn, src);
	uint8_t discarded[4096];
	ssize_t ret = recv(src->fd, discarded, sizeof(discarded), MSG_DONTWAIT);

	if (!ret || (ret < 0 && errno != EAGAIN && errno != EINTR))
		tcp_conn_close(conn);
}

/* stop_waiting - handle what arrived in time, although this process polls only now. */
static void stop_waiting(struct timer *timer, uint64_t now)
{
	struct tcp_conn *conn = container_of(timer, struct tcp_conn, timer);

	wait_peer_close(&conn->src, POLLIN);
	if (conn->state == TCP_CONN_CLOSING)
		tcp_conn_fail(conn, FI_ETIMEDOUT, false);
}

void tcp_conn_half_close(struct tcp_conn *conn)
{
	tcp_conn_set_state(conn, TCP_CONN_CLOSING);
	conn->chan = NULL;
	conn->src.event = wait_peer_close;
	conn->timer.fire = stop_waiting;
	shutdown(conn->src.fd, SHUT_WR);
	chan_src_want(&conn->poller->base, &conn->src, TCP_CONN_IN);
	chan_poller_timer(&conn->poller->base, &conn->timer, chan_poller_now(&conn->poller->base) + CLOSING_NS);
}

/* ---- begin ------------------------------------------------------------------------------ */

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
	list_init(&conn->ends);
	list_add_tail(&conn->node, &link->conns);
	if (!conn->ours)
		link->listener.half_open++;
	if (link->kind == TCP_WIRE_RDM)
		chan_park_opened(&link->poller->base, fd, link->conf->max_conns);
	*conn_p = conn;
	return 0;
}

/* ---- while it stands --------------------------------------------------------------------- */

void tcp_conn_inactive(struct tcp_conn *conn)
{
	struct tcp_poller *poller = conn->poller;

	if (!conn->active)
		return;
	conn->active = false;
	conn->detached = false;
	conn->streak = 0;
	poller->active = NULL;
	obj_poller_set_active(&poller->base.base, false);
}

void tcp_conn_unstage(struct tcp_conn *conn)
{
	pool_put(&conn->poller->stages, conn->tx.stage);
	conn->tx.stage = NULL;
	conn->tx.stage_pos = conn->tx.stage_head;
	conn->tx.stage_end = conn->tx.stage_head;
}

uint64_t tcp_conn_ack_every_ns(const struct tcp_conf *conf)
{
	uint64_t limit = conf->keepalive_on ? conf->keepalive.unacked_ms * CLOCK_NS_PER_MS : 0;
	uint64_t every = limit / ACK_CHECKS;

	return limit && every < ACK_EVERY_MIN_NS ? ACK_EVERY_MIN_NS : every;
}

void tcp_conn_await_ack(struct tcp_conn *conn)
{
	struct tcp_poller *poller = conn->poller;
	uint64_t every_ns = tcp_conn_ack_every_ns(poller->conf);

	if (!every_ns)
		return;
	conn->silent_ns = conn->taken_ns = 0;
	conn->stall_logged = false;
	list_add_tail(&conn->unacked_node, &poller->unacked);
	if (poller->unacked_due_ns != UINT64_MAX)
		return;
	poller->unacked_due_ns = clock_coarse_ns() + every_ns;
	tcp_poller_check_by(poller, poller->unacked_due_ns);
}

bool tcp_lanes_are(const struct tcp_conn *conn, enum tcp_conn_state state)
{
	const struct tcp_lanes *lanes = conn->lanes;
	const struct tcp_conn *lane;
	unsigned i;

	for (i = 1; lanes && i < lanes->base.cnt; i++) {
		lane = tcp_lane(lanes, i);
		if (!lane || (lane->state != TCP_CONN_READY && lane->state != state))
			return false;
	}
	return lanes != NULL;
}

/* ---- end --------------------------------------------------------------------------------- */

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
	tcp_conn_inactive(conn);
	chan_src_want(&conn->poller->base, &conn->src, 0);
	list_del(&conn->state_node);
	list_add_tail(&conn->state_node, &conn->poller->base.failed);
	chan_poller_kick(&conn->poller->base);
}

static void call_ends(struct tcp_conn *conn, void (*how)(struct tcp_conn *))
{
	struct tcp_conn_end *end, *next;

	list_for_each_entry_safe(end, next, &conn->ends, node)
		end->end(end, conn, how);
}

static void drop_output(struct tcp_conn *conn)
{
	list_del(&conn->tx.dirty_node);
	if (conn->tx.stage)
		tcp_conn_unstage(conn);
	if (conn->tx.blocked) {
		conn->tx.blocked = false;
		conn->poller->blocked--;
	}
}

/* drop_input - every placement that was promised is reported with -@err.  That upcall may open another
 * connection, so it is the last that is done.
 */
static void drop_input(struct tcp_conn *conn, int err)
{
	struct tcp_rx *rx = &conn->rx;

	if (conn->poller->rest == conn)
		tcp_rx_rest_end(conn->poller);
	free(rx->kept);
	rx->kept = NULL;
	rx->body = TCP_BODY_NONE;
	rx->fault = false;
	rx->masked = false;
	chan_sink_end(&rx->sink, &conn->link->base.base, err);
}

void tcp_conn_close(struct tcp_conn *conn)
{
	if (conn->state == TCP_CONN_CLOSED)
		return;
	call_ends(conn, tcp_conn_close);
	tcp_conn_set_state(conn, TCP_CONN_CLOSED);
	timers_leave(&conn->poller->base.timers);
	timer_off(&conn->poller->base.timers, &conn->timer);
	list_del(&conn->unacked_node);
	tcp_conn_inactive(conn);
	drop_output(conn);
	chan_src_want(&conn->poller->base, &conn->src, 0);
	if (conn->link->kind == TCP_WIRE_RDM)
		chan_park_closed(&conn->poller->base);
	close(conn->src.fd);
	conn->src.fd = -1;
	list_del(&conn->node);
	list_del(&conn->state_node);
	list_add_tail(&conn->state_node, &conn->poller->dead);
	drop_input(conn, conn->err ? conn->err : FI_ECANCELED);
}

/* What the socket does not take now is lost with the peer, which the engine has forgotten. */
void tcp_conn_close_orderly(struct tcp_conn *conn)
{
	if (conn->state != TCP_CONN_READY) {
		tcp_conn_close(conn);
		return;
	}
	call_ends(conn, tcp_conn_close_orderly);
	drop_output(conn);
	list_del(&conn->state_node);
	tcp_conn_inactive(conn);
	tcp_conn_half_close(conn);
	drop_input(conn, FI_ECANCELED);
}

void tcp_conn_free(struct tcp_conn *conn)
{
	struct tcp_conn_end *end;

	while ((end = list_pop_entry(&conn->ends, struct tcp_conn_end, node)))
		end->free(end);
	free(conn->handshake);
	free(conn);
}

/* ---- between two links ------------------------------------------------------------------- */

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
