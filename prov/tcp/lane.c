/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Lanes: several connections to one peer, over which long payload is striped.
 *
 * A network may give each connection only a part of its bandwidth.  The first lane carries
 * every frame, and with it the order; the further lanes carry only their parts of the payload
 * that a frame on the first announces, so they need no headers and nothing is reordered
 * (wire.h).  A striped packet is complete when all parts are.
 *
 * The side that made the first connection makes the others in the poll after the first long packet that is
 * sent or received.  If any of them fails, all payload stays on the first.  Once all are READY,
 * the loss of one is the loss of the peer.  An orderly close of a further lane is not a loss:
 * the first lane reports it when it has been read to its end.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "link.h"

static const struct tcp_wireup lane_wireup;

static void lane_on_event(struct chan_src *src, uint32_t events);

static void remove_lane(struct tcp_conn *conn)
{
	struct tcp_lanes *lanes = conn->first->lanes;
	unsigned i;

	for (i = 1; tcp_lane(lanes, i) != conn; i++)
		;
	list_del(&lanes->lane_end[i].node);
	chan_path_remove(&lanes->base, conn);
	conn->first = NULL;
}

static void end_lane(struct tcp_conn_end *end, struct tcp_conn *conn, void (*how)(struct tcp_conn *))
{
	remove_lane(conn);
}

/* end_lanes - the first lane ends, and the further ones with it. */
static void end_lanes(struct tcp_conn_end *end, struct tcp_conn *conn, void (*how)(struct tcp_conn *))
{
	struct tcp_lanes *lanes = container_of(end, struct tcp_lanes, end);
	struct tcp_conn *lane;
	unsigned i;

	if (lanes->joined) {
		lanes->joined = false;
		timer_off(&conn->poller->base.timers, &lanes->timer);
		timers_leave(&conn->poller->base.timers);
	}
	for (i = 1; i < lanes->base.cnt; i++) {
		lane = tcp_lane(lanes, i);
		if (!lane)
			continue;
		remove_lane(lane);
		how(lane);
	}
	chan_paths_fini(&lanes->base);
}

static void free_lanes(struct tcp_conn_end *end)
{
	free(container_of(end, struct tcp_lanes, end));
}

static void add_lane(struct tcp_conn *first, struct tcp_conn *conn, unsigned lane)
{
	struct tcp_conn_end *end = &first->lanes->lane_end[lane];

	conn->first = first;
	conn->wireup = &lane_wireup;
	chan_path_add(&first->lanes->base, lane, conn);
	end->end = end_lane;
	list_add_tail(&end->node, &conn->ends);
}

static bool may_connect(const struct tcp_conn *conn)
{
	return !conn->lanes->tried && conn->state == TCP_CONN_READY && !conn->link->base.closing &&
	       !conn->poller->base.hold_connects;
}

/* connect_lanes - a payload that is long enough was sent or received in this poll or before it. */
static void connect_lanes(struct timer *timer, uint64_t now)
{
	struct tcp_lanes *lanes = container_of(timer, struct tcp_lanes, timer);
	struct tcp_conn *conn = tcp_lane(lanes, 0), *lane;
	struct tcp_hello hello = { .type = TCP_WIRE_HELLO, .serial = conn->serial };
	const struct chan_path *path;
	struct tcp_link *link;
	int ret = 0;

	if (!may_connect(conn))
		return;
	lanes->tried = true;
	for (hello.lane = 1; !ret && hello.lane < lanes->base.cnt; hello.lane++) {
		path = &lanes->base.path[hello.lane];
		link = tcp_link_of(path->link);
		ret = chan_park_full(link->conf->max_conns) ? -FI_EMFILE :
		      tcp_conn_connect(link, &lane_wireup, NULL, NULL, &path->to.sa, &hello, NULL, &lane);
		if (!ret)
			add_lane(conn, lane, hello.lane);
	}
	if (ret)
		TCP_INFO(conn->link->conf, "no further lane to a peer: %s%s%s\n", TCP_WHY(-ret));
}

void tcp_lane_agree(struct tcp_conn *conn, uint8_t theirs)
{
	unsigned cnt = (unsigned) conn->link->conf->lanes;
	struct tcp_lanes *lanes;

	if (cnt > theirs)
		cnt = theirs;
	if (cnt < 2 || conn->chan->base.peer_epoch == conn->link->base.epoch)
		return;			/* one connection, or an endpoint connected to itself */
	lanes = calloc(1, sizeof(*lanes));
	if (!lanes || timers_join(&conn->poller->base.timers)) {
		free(lanes);
		return;			/* further lanes are refused */
	}
	conn->lanes = lanes;
	chan_paths_init(&lanes->base, &conn->chan->base, cnt);
	lanes->timer.fire = connect_lanes;
	lanes->joined = true;
	lanes->end.end = end_lanes;
	lanes->end.free = free_lanes;
	list_add_tail(&lanes->end.node, &conn->ends);
}

static bool may_join(const struct tcp_conn *first, const struct tcp_chan *chan,
		    const struct tcp_hello *hello)
{
	const struct tcp_lanes *lanes = first ? first->lanes : NULL;

	return lanes && !first->ours && first->state == TCP_CONN_READY &&
	       first->serial == hello->serial && chan->base.peer_epoch == hello->epoch &&
	       chan_path_free(&lanes->base, hello->lane);
}

void tcp_lane_join(struct tcp_conn *conn, struct tcp_chan *chan, const struct tcp_hello *hello)
{
	int ret;

	if (!may_join(tcp_chan_conn(chan), chan, hello) || chan_park_full(conn->link->conf->max_conns)) {
		tcp_conn_refuse(conn, CHAN_NO_USE, NULL, 0);
		return;
	}
	ret = tcp_conn_welcome(conn, hello->serial, 0, NULL, 0);
	if (ret) {
		tcp_conn_fail(conn, -ret, false);
		return;
	}
	conn->peer = tcp_chan_conn(chan)->peer;
	conn->src.event = lane_on_event;
	add_lane(chan->base.conn, conn, hello->lane);
}

/* check_early - input that no frame has announced yet, or the end of the stream, can wait; an error
 * cannot.
 */
static void check_early(struct tcp_conn *conn)
{
	char byte;
	ssize_t ret = recv(conn->src.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (ret < 0 && errno != EAGAIN && errno != EINTR) {
		tcp_conn_fail(conn, errno, false);
	} else if (ret >= 0) {
		conn->rx.masked = true;
		tcp_conn_watch(conn);
	}
}

static void lane_on_event(struct chan_src *src, uint32_t events)
{
	struct tcp_conn *conn = container_of(src, struct tcp_conn, src), *first = conn->first;

	tcp_conn_note_end(conn, events);
	if (first->state != TCP_CONN_READY)
		return;			/* the next poll closes it, and this one with it */
	if (events & POLLOUT) {
		tcp_tx_pump_lane(conn);
		tcp_tx_pump(first);
	}
	if (conn->state != TCP_CONN_READY || conn->first != first ||
	    first->state != TCP_CONN_READY || !(events & ~(uint32_t) POLLOUT))
		return;
	if (conn->rx.body != TCP_BODY_NONE)
		tcp_rx_read(conn, OBJ_POLL_BUDGET);
	else
		check_early(conn);
}

/* ---- handshakes --------------------------------------------------------------------- */

static void on_welcome(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	conn->src.event = lane_on_event;
}

static void lane_on_refused(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	TCP_INFO(conn->link->conf, "a peer refused a further lane: %s\n",
		 chan_reason_text(hello->reason));
	tcp_conn_close(conn);
}

/* A connect that fails only means that there are no further lanes. */
static void lane_on_lost(struct tcp_conn *conn)
{
	if (conn->first && conn->was == TCP_CONN_READY)
		tcp_conn_fail(conn->first, conn->err, false);
	tcp_conn_close(conn);
}

static const struct tcp_wireup lane_wireup = {
	.welcome = on_welcome,
	.refused = lane_on_refused,
	.lost = lane_on_lost,
};
