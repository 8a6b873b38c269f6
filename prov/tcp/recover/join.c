/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * join.c - the paths of a connection that recovers: they are made, watched and lost.
 *
 * A path is a connection whose HELLO has the epoch and serial of the one that it belongs to, and a lane number:
 * 64 random bits of the endpoint that has made it.  Either side makes one when none stands: at once the side that
 * made the first, the other after a while, since it may be the one that is reached.
 *
 * A path is lost by evidence of its own: an error or the end of its socket, or segments that the peer's kernel does
 * not acknowledge while another path is made or acknowledges.  A peer that takes nothing keeps its paths: its
 * kernel answers.
 */
#include "tcp/recover/state.h"

#include <errno.h>
#include <linux/tcp.h>		/* has more of struct tcp_info than netinet/tcp.h */
#include <netinet/in.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET_INFO = TCP_INFO };	/* conf.h defines a TCP_INFO that logs */
#undef TCP_INFO
#define TCP_INFO(conf, ...)	OBJ_INFO((conf)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)

#define OTHERS_NS (300 * CLOCK_NS_PER_MS)	/* until the side connects that was connected to */
#define BACKOFF_MAX 20				/* ticks between two connects, at most */
#define SILENT_MS 1500				/* without an ACK, while segments are retransmitted */
#define SILENT_TRIES 3				/* retransmissions by then */

static const struct tcp_wireup join_wireup;

/* ---- what a connection has --------------------------------------------------------- */

static uint64_t limit_ns(const struct tcp_conn *conn)
{
	return (uint64_t) conn->link->conf->keepalive.unacked_ms * CLOCK_NS_PER_MS;
}

/* ---- making one --------------------------------------------------------------------- */

/* give_socket - of @conn, whose handshake is done, to @rec.  @conn is closed. */
static void give_socket(struct tcp_conn *conn, struct tcp_recover *rec)
{
	struct tcp_conn *first = rec->conn;
	char text[NET_ADDR_TEXT_MAX];
	int fd = conn->src.fd, ret;

	chan_src_want(&conn->poller->base, &conn->src, 0);
	conn->src.fd = -1;
	ret = tcp_path_open(rec, fd);
	if (ret)
		close(fd);
	else
		TCP_INFO(first->link->conf, "%s: a path is made, %u stand\n", net_addr_text(&first->peer.sa, text),
			 tcp_recover_paths(first));
	tcp_conn_close(conn);
}

static void on_join_welcome(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_conn *first = conn->first;

	if (first && first->state == TCP_CONN_READY)
		give_socket(conn, first->rec);
	else
		tcp_conn_close(conn);
}

/* on_join_refused - the peer's endpoint has no such connection: its process is another, or has ended it. */
static void on_join_refused(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_conn *first = conn->first;

	tcp_conn_close(conn);
	if (first && hello->reason != CHAN_BUSY && hello->reason != CHAN_NOT_YET)
		tcp_conn_fail(first, FI_ECONNRESET, false);
}

/* on_join_lost - a host that refuses each connect has no such process any more, or is about to have it again. */
static void on_join_lost(struct tcp_conn *conn)
{
	struct tcp_conn *first = conn->first;
	uint64_t now = chan_poller_now(&conn->poller->base);
	bool refused = conn->err == ECONNREFUSED;

	tcp_conn_close(conn);
	if (!first)
		return;
	first->rec->tries++;
	if (!refused)
		first->rec->refused_ns = 0;
	else if (!first->rec->refused_ns)
		first->rec->refused_ns = now;
	else if (first->rec->down_ns &&
		 now - first->rec->refused_ns >= (uint64_t) first->link->conf->conn_retry_ms * CLOCK_NS_PER_MS)
		tcp_conn_fail(first, FI_ECONNRESET, false);
}

static const struct tcp_wireup join_wireup = {
	.welcome = on_join_welcome,
	.refused = on_join_refused,
	.lost = on_join_lost,
};

static void end_joining(struct tcp_conn_end *end, struct tcp_conn *conn, void (*how)(struct tcp_conn *))
{
	if (conn->first)
		conn->first->rec->joining = NULL;
	conn->first = NULL;
	list_del(&end->node);
}

static void join_connect(struct tcp_recover *rec)
{
	struct tcp_conn *conn = rec->conn, *joining;
	struct tcp_hello hello = { .type = TCP_WIRE_HELLO, .serial = conn->serial, .lane = 1 };
	int ret = tcp_conn_connect(conn->link, &join_wireup, NULL, eng_peer_addr(chan_peer(&conn->chan->base)),
				   &hello, NULL, &joining);

	if (ret) {
		rec->tries++;
		return;
	}
	joining->first = conn;
	rec->joining = joining;
	rec->joining_end.end = end_joining;
	list_add_tail(&rec->joining_end.node, &joining->ends);
}

static bool may_join(const struct tcp_conn *first, const struct tcp_chan *chan, const struct tcp_hello *hello)
{
	return first->state == TCP_CONN_READY && first->serial == hello->serial &&
	       chan->base.peer_epoch == hello->epoch;
}

void tcp_recover_join(struct tcp_conn *conn, struct tcp_chan *chan, const struct tcp_hello *hello)
{
	struct tcp_conn *first = tcp_chan_conn(chan);
	int ret;

	if (!may_join(first, chan, hello)) {
		tcp_conn_refuse(conn, CHAN_NO_USE, NULL, 0);
		return;
	}
	if (tcp_recover_paths(first) == TCP_LANES_MAX) {
		tcp_conn_refuse(conn, CHAN_BUSY, NULL, 0);
		return;
	}
	ret = tcp_conn_welcome(conn, hello->serial, 0, NULL, 0);
	if (ret)
		tcp_conn_fail(conn, -ret, false);
	else
		give_socket(conn, first->rec);
}

/* ---- watching them --------------------------------------------------------------------- */

/* since_ns - a timer's time may be before the one that was read last. */
static uint64_t since_ns(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

/* is_silent - does the peer's kernel acknowledge nothing of what is retransmitted over it?
 * @waits_p: [out] set if there is something to be acknowledged
 */
static bool is_silent(const struct tcp_path *path, bool *waits_p)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (path->src.fd < 0 || getsockopt(path->src.fd, IPPROTO_TCP, SOCKET_INFO, &info, &len) || !info.tcpi_unacked)
		return false;
	*waits_p = true;
	return info.tcpi_retransmits >= SILENT_TRIES && info.tcpi_last_ack_recv >= SILENT_MS;
}

/* drop_silent - paths that are silent while another stands that is not.  Returns how many are not silent. */
static unsigned drop_silent(struct tcp_recover *rec, bool *waits_p)
{
	bool silent[TCP_LANES_MAX];
	unsigned good = 0, i;

	for (i = 0; i < TCP_LANES_MAX; i++) {
		silent[i] = is_silent(&rec->path[i], waits_p);
		good += rec->path[i].src.fd >= 0 && !silent[i];
	}
	for (i = 0; i < TCP_LANES_MAX && good; i++)
		if (silent[i])
			tcp_path_lost(&rec->path[i], ETIMEDOUT);
	return good;
}

/* backoff_over - after the first failures each tick connects again, later each twentieth. */
static bool backoff_over(const struct tcp_recover *rec, uint64_t now)
{
	uint64_t ticks = now / TCP_RECOVER_TICK_NS;

	if (!rec->conn->ours && rec->down_ns && since_ns(now, rec->down_ns) < OTHERS_NS)
		return false;
	return rec->tries < BACKOFF_MAX || ticks % BACKOFF_MAX == 0;
}

/* wants_path - where @good paths stand and are not silent. */
static bool wants_path(const struct tcp_recover *rec, unsigned good)
{
	return !good || (rec->conn->ours && rec->busy && good < rec->want);
}

static void on_tick(struct timer *timer, uint64_t now)
{
	struct tcp_recover *rec = container_of(timer, struct tcp_recover, timer);
	struct tcp_conn *conn = rec->conn;
	bool waits = false;
	unsigned good;

	if (conn->state != TCP_CONN_READY)
		return;
	good = drop_silent(rec, &waits);
	if ((good && !waits && !wants_path(rec, good)) || tcp_recover_has_all(rec))
		return;			/* tcp_recover_watch() goes on */
	if (!good && !rec->down_ns)
		rec->down_ns = now;
	if (good)
		rec->down_ns = 0;
	if (rec->down_ns && limit_ns(conn) && since_ns(now, rec->down_ns) >= limit_ns(conn)) {
		tcp_conn_fail(conn, FI_ETIMEDOUT, false);
		return;
	}
	if (wants_path(rec, good) && !rec->joining && !conn->link->base.closing && !conn->poller->base.hold_connects &&
	    backoff_over(rec, now))
		join_connect(rec);
	tcp_recover_set_tick(rec, now + TCP_RECOVER_TICK_NS);
}

/* ---- begin and end --------------------------------------------------------------------- */

/* leave_socket - the connection ends in order: its last path is its socket again, which waits for the peer. */
static void leave_socket(struct tcp_recover *rec)
{
	struct tcp_path *path = rec->path;

	rec->ended = true;
	tcp_paths_push(rec);
	while (path < rec->path + TCP_LANES_MAX && path->src.fd < 0)
		path++;
	if (path == rec->path + TCP_LANES_MAX)
		return;
	chan_src_want(&rec->conn->poller->base, &path->src, 0);
	rec->conn->src.fd = path->src.fd;
	path->src.fd = -1;
}

static void end_recover(struct tcp_conn_end *end, struct tcp_conn *conn, void (*how)(struct tcp_conn *))
{
	struct tcp_recover *rec = container_of(end, struct tcp_recover, end);
	unsigned i;

	if (rec->joining)
		tcp_conn_close(rec->joining);
	if (how == tcp_conn_close_orderly && conn->src.fd < 0)
		leave_socket(rec);
	if (rec->joined) {
		rec->joined = false;
		timer_off(&conn->poller->base.timers, &rec->timer);
		timers_leave(&conn->poller->base.timers);
	}
	for (i = 0; i < TCP_LANES_MAX; i++)
		tcp_path_close(&rec->path[i]);
}

static void free_recover(struct tcp_conn_end *end)
{
	struct tcp_recover *rec = container_of(end, struct tcp_recover, end);

	free(rec->kept.ring);
	free(rec->got.ring);
	free(rec);
}

static struct tcp_recover *recover_new(struct tcp_conn *conn)
{
	struct tcp_recover *rec = calloc(1, sizeof(*rec));
	unsigned i;

	if (!rec)
		return NULL;
	chan_kept_init(&rec->kept, TCP_WIRE_WINDOW);
	chan_got_init(&rec->got, TCP_WIRE_WINDOW);
	rec->kept.ring = malloc(TCP_WIRE_WINDOW);
	rec->got.ring = malloc(TCP_WIRE_WINDOW);
	rec->conn = conn;
	rec->want = 1;
	rec->end.end = end_recover;
	rec->end.free = free_recover;
	rec->timer.fire = on_tick;
	for (i = 0; i < TCP_LANES_MAX; i++) {
		rec->path[i].src.fd = -1;
		rec->path[i].rec = rec;
	}
	if (rec->kept.ring && rec->got.ring && !timers_join(&conn->poller->base.timers)) {
		rec->joined = true;
		return rec;
	}
	free_recover(&rec->end);
	return NULL;
}

int tcp_recover_begin(struct tcp_conn *conn, const struct tcp_chan *chan, const struct tcp_hello *hello)
{
	struct tcp_recover *rec;
	int fd = conn->src.fd, ret;

	if (!(hello->features & TCP_WIRE_RECOVERS) || !conn->link->conf->recover || conn->sec || conn->stream ||
	    hello->epoch == conn->link->base.epoch)
		return 0;
	rec = recover_new(conn);
	if (!rec)
		return -FI_ENOMEM;
	list_add_tail(&rec->end.node, &conn->ends);
	chan_src_want(&conn->poller->base, &conn->src, 0);
	conn->src.fd = -1;
	conn->rec = rec;
	conn->tx.indirect = true;
	rec->want = hello->lanes < conn->link->conf->lanes ? hello->lanes : (unsigned) conn->link->conf->lanes;
	ret = tcp_path_open(rec, fd);
	if (ret)
		close(fd);
	return ret;
}
