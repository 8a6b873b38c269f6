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
#include <endian.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET_INFO = TCP_INFO };	/* conf.h defines a TCP_INFO that logs */
#undef TCP_INFO
#define TCP_INFO(conf, ...)	OBJ_INFO((conf)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)

#define OTHERS_NS (300 * CLOCK_NS_PER_MS)	/* until the side connects that was connected to */
#define BACKOFF_MAX 20				/* ticks between two connects, at most */
#define PROBE_NS (900 * CLOCK_NS_PER_MS)	/* of a connect by a rail that has proven nothing: one packet */
#define CONNECT_NS (3 * CLOCK_NS_PER_S)		/* of each fourth to a peer that has proven itself: it may be far */
#define CONNECT_EACH 4
#define ANSWER_NS (5 * CLOCK_NS_PER_S)		/* until the program there answers */
#define SILENT_MS 500				/* without an ACK, while segments are retransmitted */
#define SILENT_TRIES 2				/* retransmissions by then */

static const struct tcp_wireup join_wireup;

/* ---- what a connection has --------------------------------------------------------- */

static uint64_t limit_ns(const struct tcp_conn *conn)
{
	return (uint64_t) conn->link->conf->keepalive.unacked_ms * CLOCK_NS_PER_MS;
}

/* ---- making one --------------------------------------------------------------------- */

/* give_socket - of @conn, whose handshake is done, to @rec.  @conn is closed.
 * Returns the path; NULL: there are TCP_LANES_MAX.
 */
static struct tcp_path *give_socket(struct tcp_conn *conn, struct tcp_recover *rec)
{
	struct tcp_path *path = NULL;
	int fd = conn->src.fd;

	chan_src_want(&conn->poller->base, &conn->src, 0);
	conn->src.fd = -1;
	if (tcp_path_open(rec, fd, tcp_path_event, &path))
		close(fd);
	tcp_conn_close(conn);
	return path;
}

/* rail_of - the rail that @conn is a connect for; NULL: it is one at the peer's address. */
static struct tcp_rail *rail_of(const struct tcp_conn *conn)
{
	struct tcp_rail *rail;

	if (!conn->first)
		return NULL;
	for (rail = conn->first->rec->ex.rail; rail < conn->first->rec->ex.rail + CHAN_RAILS_MAX; rail++)
		if (rail->join.conn == conn)
			return rail;
	return NULL;
}

static void welcome_main(struct tcp_conn *conn, struct tcp_recover *rec)
{
	struct tcp_path *path = give_socket(conn, rec);

	if (path)
		tcp_path_made(path);
}

/* welcome_rail - a process that answers without our key is not the peer. */
static void welcome_rail(struct tcp_conn *conn, struct tcp_recover *rec, const struct tcp_rail *rail,
			 const struct tcp_hello *hello, const void *data)
{
	struct tcp_wire_proof proof;
	struct tcp_path *path;
	char text[NET_ADDR_TEXT_MAX];

	memset(&proof, 0, sizeof(proof));
	if (hello->data_len == sizeof(proof))
		memcpy(&proof, data, sizeof(proof));
	if (le64toh(proof.hash) != siphash(&rec->ex.ours, &rail->join.nonce, sizeof(rail->join.nonce))) {
		TCP_WARN_SPARSE(conn->link->conf, "%s does not prove that it is the peer: no rail goes there\n",
				net_addr_text(&conn->peer.sa, text));
		tcp_conn_close(conn);
		return;
	}
	path = give_socket(conn, rec);
	if (!path)
		return;
	path->proves = true;
	path->proof = siphash(&rec->ex.theirs, &proof.nonce, sizeof(proof.nonce));
	tcp_path_made(path);
}

static void on_join_welcome(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_conn *first = conn->first;
	struct tcp_rail *rail = rail_of(conn);

	if (!first || first->state != TCP_CONN_READY)
		tcp_conn_close(conn);
	else if (rail)
		welcome_rail(conn, first->rec, rail, hello, data);
	else
		welcome_main(conn, first->rec);
}

/* on_join_refused - the peer's endpoint has no such connection: its process is another, or has ended it.  Of a rail
 * that says nothing: it may be another process.
 */
static void on_join_refused(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_conn *first = conn->first;
	struct tcp_rail *rail = rail_of(conn);

	if (rail && (hello->reason == CHAN_NOT_YET || hello->reason == CHAN_BUSY))
		rail->base.tries = 0;
	tcp_conn_close(conn);
	if (first && !rail && hello->reason != CHAN_BUSY && hello->reason != CHAN_NOT_YET)
		tcp_conn_fail(first, FI_ECONNRESET, false);
}

/* on_join_lost - a host that refuses each connect has no such process any more, or is about to have it again. */
static void on_join_lost(struct tcp_conn *conn)
{
	struct tcp_conn *first = conn->first;
	uint64_t now = chan_poller_now(&conn->poller->base);
	struct tcp_rail *rail = rail_of(conn);
	bool refused = conn->err == ECONNREFUSED;

	if (rail && conn->was == TCP_CONN_HELLO_SENT)
		rail->base.tries = 0;	/* it is there, and does not answer yet */
	tcp_conn_close(conn);
	if (rail || !first)
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

static void end_join(struct tcp_conn_end *end, struct tcp_conn *conn, void (*how)(struct tcp_conn *))
{
	container_of(end, struct tcp_join, end)->conn = NULL;
	conn->first = NULL;
	list_del(&end->node);
}

/* join_begin - connect.  @from, @data: of a rail; else NULL. */
static int join_begin(struct tcp_recover *rec, struct tcp_join *join, const struct net_rail *from,
		      const struct sockaddr *to, const struct tcp_wire_proof *data)
{
	struct tcp_conn *conn = rec->conn;
	struct tcp_hello hello = {
		.type = TCP_WIRE_HELLO, .serial = conn->serial, .lane = 1,
		.data_len = data ? sizeof(*data) : 0,
	};
	int ret = tcp_conn_connect(conn->link, &join_wireup, NULL, from, to, &hello, data, &join->conn);

	if (ret)
		return ret;
	join->conn->first = conn;
	join->end.end = end_join;
	list_add_tail(&join->end.node, &join->conn->ends);
	return 0;
}

static void main_connect(struct tcp_recover *rec)
{
	if (join_begin(rec, &rec->join, NULL, eng_peer_addr(chan_peer(&rec->conn->chan->base)), NULL))
		rec->tries++;
}

static void rail_connect(struct tcp_recover *rec, struct tcp_rail *rail, uint64_t now)
{
	const struct net_rail *from = &rec->conn->link->rails->rail[rail->base.ours];
	const struct sockaddr *to = &rec->ex.their[rail->base.theirs].sa;
	struct tcp_wire_proof ask = { .hash = 0 };
	char text[NET_ADDR_TEXT_MAX];
	int ret;

	if (getrandom(&rail->join.nonce, sizeof(rail->join.nonce), GRND_NONBLOCK) != sizeof(rail->join.nonce))
		return;
	ask.nonce = rail->join.nonce;
	rec->ex.probes += !rail->base.proven;
	chan_rail_tried(&rail->base, now);
	ret = join_begin(rec, &rail->join, from, to, &ask);
	TCP_INFO(rec->conn->link->conf, "a rail is tried by %s to %s (attempt %u)%s%s\n", from->iface, net_addr_text(to, text),
		 rail->base.tries, ret ? ": " : "", ret ? fi_strerror(-ret) : "");
}

/* ---- accepting one ------------------------------------------------------------------- */

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
		welcome_main(conn, first->rec);
}

/* find_joined - the connection that @hello names; it has to prove that it is of the same peer. */
static struct tcp_conn *find_joined(const struct tcp_link *link, const struct tcp_hello *hello)
{
	struct tcp_conn *conn;

	list_for_each_entry(conn, &link->conns, node)
		if (conn->rec && conn->rec->ex.on && may_join(conn, conn->chan, hello))
			return conn;
	return NULL;
}

/* send_challenge - answer the nonce in @data, and ask for the hash of another one. */
static void send_challenge(struct tcp_conn *conn, struct tcp_recover *rec, const struct tcp_hello *hello, const void *data)
{
	struct tcp_wire_proof theirs, ours;
	struct tcp_path *path;
	uint64_t answer;
	int ret;

	memcpy(&theirs, data, sizeof(theirs));
	if (getrandom(&ours.nonce, sizeof(ours.nonce), GRND_NONBLOCK) != sizeof(ours.nonce)) {
		tcp_conn_refuse(conn, CHAN_BUSY, NULL, 0);
		return;
	}
	ours.hash = htole64(siphash(&rec->ex.theirs, &theirs.nonce, sizeof(theirs.nonce)));
	answer = siphash(&rec->ex.ours, &ours.nonce, sizeof(ours.nonce));
	ret = tcp_conn_welcome(conn, hello->serial, 0, &ours, sizeof(ours));
	if (ret) {
		tcp_conn_fail(conn, -ret, false);
		return;
	}
	path = give_socket(conn, rec);
	if (!path)
		return;
	path->unproven = true;
	path->answer = answer;
}

bool tcp_rails_joins(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_conn *first;

	if (!conn->link->rails || !hello->lane || hello->type != TCP_WIRE_HELLO ||
	    hello->data_len != sizeof(struct tcp_wire_proof))
		return false;
	first = find_joined(conn->link, hello);
	if (!first)
		tcp_conn_refuse(conn, CHAN_NO_USE, NULL, 0);
	else if (!first->rec->ex.got)
		tcp_conn_refuse(conn, CHAN_NOT_YET, NULL, 0);
	else if (tcp_recover_paths(first) == TCP_LANES_MAX)
		tcp_conn_refuse(conn, CHAN_BUSY, NULL, 0);
	else
		send_challenge(conn, first->rec, hello, data);
	return true;
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
	if (!tcp_path_stands(path) || getsockopt(path->src.fd, IPPROTO_TCP, SOCKET_INFO, &info, &len) || !info.tcpi_unacked)
		return false;
	*waits_p = true;
	return info.tcpi_retransmits >= SILENT_TRIES && info.tcpi_last_ack_recv >= SILENT_MS;
}

/* drop_mute - paths that take nothing any more, and have nothing that has arrived: their ends may never come. */
static void drop_mute(struct tcp_recover *rec)
{
	struct tcp_path *path = rec->path;
	int bytes = 0;

	for (; path < rec->path + TCP_LANES_MAX; path++)
		if (tcp_path_stands(path) && path->mute && (ioctl(path->src.fd, SIOCINQ, &bytes) || !bytes))
			tcp_path_lost(path, EPIPE);
}

/* drop_silent - paths that are silent while another stands that is not.  Returns how many are neither silent nor mute. */
static unsigned drop_silent(struct tcp_recover *rec, bool *waits_p)
{
	bool silent[TCP_LANES_MAX];
	unsigned good = 0, i;

	for (i = 0; i < TCP_LANES_MAX; i++) {
		silent[i] = is_silent(&rec->path[i], waits_p);
		good += tcp_path_stands(&rec->path[i]) && !silent[i] && !rec->path[i].mute;
	}
	for (i = 0; i < TCP_LANES_MAX && good; i++)
		if (silent[i])
			tcp_path_lost(&rec->path[i], ETIMEDOUT);
	return good;
}

/* others_first - no path stands, and the side that made the first connection is given time to make one. */
static bool others_first(const struct tcp_recover *rec, uint64_t now)
{
	return !rec->conn->ours && rec->down_ns && since_ns(now, rec->down_ns) < OTHERS_NS;
}

/* backoff_over - after the first failures each tick connects again, later each twentieth. */
static bool backoff_over(const struct tcp_recover *rec, uint64_t now)
{
	uint64_t ticks = now / TCP_RECOVER_TICK_NS;

	return rec->tries < BACKOFF_MAX || ticks % BACKOFF_MAX == 0;
}

/* wants_main - is a connect at the peer's address wanted, where @good paths stand and are not silent? */
static bool wants_main(const struct tcp_recover *rec, unsigned good)
{
	return !good || (!rec->ex.got && rec->conn->ours && rec->busy && good < rec->want);
}

/* wants_rails - are they to be made?  The side that made the first connection does, for long payload; either, where
 * no path stands.
 */
static bool wants_rails(struct tcp_recover *rec, unsigned good)
{
	return rec->conn->link->rails && (!good || (rec->conn->ours && rec->busy)) && tcp_rails_wait(rec);
}

static bool may_connect(const struct tcp_recover *rec)
{
	return !rec->conn->link->base.closing && !rec->conn->poller->base.hold_connects;
}

/* is_main - does @rail go to the address by which the peer is known, as the main connect does? */
static bool is_main(const struct tcp_recover *rec, const struct tcp_rail *rail)
{
	return net_addr_same_host(&rec->ex.their[rail->base.theirs].sa, eng_peer_addr(chan_peer(&rec->conn->chan->base)));
}

/* joins_main - is a connect to that address in progress? */
static bool joins_main(const struct tcp_recover *rec)
{
	const struct tcp_rail *rail = rec->ex.rail;

	while (rail < rec->ex.rail + rec->ex.rail_cnt && !(rail->join.conn && is_main(rec, rail)))
		rail++;
	return rec->join.conn || rail < rec->ex.rail + rec->ex.rail_cnt;
}

/* make_rail - try one, at most; an attempt at a time. */
static void make_rail(struct tcp_recover *rec, uint64_t now)
{
	struct tcp_rail *rail = rec->ex.rail;

	for (; rail < rec->ex.rail + rec->ex.rail_cnt; rail++) {
		if (rail->join.conn || !chan_rail_due(&rail->base, now) || tcp_rail_stands(rec, rail->base.ours) ||
		    (rec->join.conn && is_main(rec, rail)))
			continue;
		rail_connect(rec, rail, now);
		return;
	}
}

/* connect_limit - how long a connect is given, of which there were @tries in a row.  The system repeats a lost packet
 * after 1, then 2, then 4 s: a new connect is sooner where an interface has come back meanwhile.
 */
static uint64_t connect_limit(const struct tcp_conn *conn, unsigned tries, bool proven)
{
	if (conn->state == TCP_CONN_HELLO_SENT)
		return ANSWER_NS;
	return proven && tries % CONNECT_EACH == 0 ? CONNECT_NS : PROBE_NS;
}

static void end_join_late(struct tcp_join *join, unsigned tries, bool proven, uint64_t now)
{
	if (join->conn && since_ns(now, join->conn->since_ns) >= connect_limit(join->conn, tries, proven))
		tcp_conn_fail(join->conn, FI_ETIMEDOUT, false);
}

/* end_late - connects that are not answered in time end: those to an address that has proven nothing before the system
 * repeats them.
 */
static void end_late(struct tcp_recover *rec, uint64_t now)
{
	struct tcp_rail *rail = rec->ex.rail;

	end_join_late(&rec->join, rec->tries, true, now);
	for (; rail < rec->ex.rail + rec->ex.rail_cnt; rail++)
		end_join_late(&rail->join, rail->base.tries, rail->base.proven, now);
}

/* drop_down - paths by interfaces that are down, or have lost their address; the peer is told. */
static void drop_down(struct tcp_recover *rec)
{
	const struct tcp_rails *rails = rec->conn->link->rails;
	struct tcp_path *path;

	for (path = rec->path; rails && path < rec->path + TCP_LANES_MAX; path++) {
		if (!tcp_path_stands(path) || path->ours < 0 || net_rail_up(&rails->rail[path->ours]))
			continue;
		rec->ex.down |= 1u << path->ours;
		tcp_path_lost(path, ENETDOWN);
	}
}

/* check_down - since when does no path stand?  False: too long. */
static bool check_down(struct tcp_recover *rec, unsigned good, uint64_t now)
{
	uint64_t limit = limit_ns(rec->conn);

	if (good)
		rec->down_ns = 0;
	else if (!rec->down_ns)
		rec->down_ns = now;
	return !rec->down_ns || !limit || since_ns(now, rec->down_ns) < limit;
}

/* comes_more - has something come since the last look, or is something missing in front of what has?  Who receives and sends
 * nothing finds that its interface is down, too, and says so to the sender.
 */
static bool comes_more(struct tcp_recover *rec)
{
	bool more = rec->reads != rec->looked || rec->got.ahead.cnt;

	rec->looked = rec->reads;
	return more;
}

static void on_tick(struct timer *timer, uint64_t now)
{
	struct tcp_recover *rec = container_of(timer, struct tcp_recover, timer);
	struct tcp_conn *conn = rec->conn;
	bool waits = comes_more(rec);
	unsigned good;

	list_del(&rec->watch_node);
	if (conn->state != TCP_CONN_READY)
		return;
	drop_mute(rec);
	drop_down(rec);
	good = drop_silent(rec, &waits);
	tcp_paths_push(rec);		/* what was sent over those goes again */
	end_late(rec, now);
	if ((good && !waits && !wants_main(rec, good) && !wants_rails(rec, good)) || tcp_recover_has_all(rec))
		return;			/* tcp_recover_watch() goes on */
	if (!check_down(rec, good, now)) {
		tcp_conn_fail(conn, FI_ETIMEDOUT, false);
		return;
	}
	if (may_connect(rec) && !others_first(rec, now)) {
		if (wants_main(rec, good) && !joins_main(rec) && backoff_over(rec, now))
			main_connect(rec);
		if (wants_rails(rec, good))
			make_rail(rec, now);
	}
	if (good && !wants_main(rec, good) && !wants_rails(rec, good))
		tcp_recover_watch(rec);
	else
		tcp_recover_set_tick(rec, now + TCP_RECOVER_TICK_NS);
}

/* ---- begin and end --------------------------------------------------------------------- */

/* leave_socket - the connection ends in order: its last path is its socket again, which waits for the peer. */
static void leave_socket(struct tcp_recover *rec)
{
	struct tcp_path *path = rec->path;

	rec->ended = true;
	tcp_paths_push(rec);
	while (path < rec->path + TCP_LANES_MAX && !tcp_path_stands(path))
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

	if (rec->join.conn)
		tcp_conn_close(rec->join.conn);
	for (i = 0; i < rec->ex.rail_cnt; i++)
		if (rec->ex.rail[i].join.conn)
			tcp_conn_close(rec->ex.rail[i].join.conn);
	if (how == tcp_conn_close_orderly && conn->src.fd < 0)
		leave_socket(rec);
	list_del(&rec->watch_node);
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

/* window_of - how many bytes may be in flight with the peer whose handshake is @hello. */
static uint64_t window_of(const struct tcp_conn *conn, const struct tcp_hello *hello)
{
	return conn->link->rails && hello->features & TCP_WIRE_RAILS && hello->features & TCP_WIRE_WIDE ?
	       TCP_WIRE_WINDOW_WIDE : TCP_WIRE_WINDOW;
}

/* short_max_of - what waits is given to one path alone up to so many bytes. */
static size_t short_max_of(const struct tcp_recover *rec)
{
	size_t most = rec->conn->link->conf->rail_min;

	if (!rec->ex.on)
		return rec->want <= 1 ? TCP_RECORD_MAX : 0;
	return most > TCP_RECORD_MAX ? TCP_RECORD_MAX : most ? most - 1 : 0;
}

static struct tcp_recover *recover_new(struct tcp_conn *conn, uint64_t window)
{
	struct tcp_recover *rec = calloc(1, sizeof(*rec));
	unsigned i;

	if (!rec)
		return NULL;
	chan_kept_init(&rec->kept, window);
	chan_got_init(&rec->got, window);
	rec->kept.ring = malloc(window);
	rec->got.ring = malloc(window);
	rec->conn = conn;
	rec->want = 1;
	rec->end.end = end_recover;
	rec->end.free = free_recover;
	rec->timer.fire = on_tick;
	list_init(&rec->watch_node);
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
	struct tcp_path *path;
	int fd = conn->src.fd, ret;

	if (!(hello->features & TCP_WIRE_RECOVERS) || !(conn->link->conf->recover || conn->link->rails) || conn->sec || conn->stream ||
	    hello->epoch == conn->link->base.epoch)
		return 0;
	rec = recover_new(conn, window_of(conn, hello));
	if (!rec)
		return -FI_ENOMEM;
	list_add_tail(&rec->end.node, &conn->ends);
	chan_src_want(&conn->poller->base, &conn->src, 0);
	conn->src.fd = -1;
	conn->rec = rec;
	conn->tx.indirect = true;
	conn->tx.stage_head = conn->tx.stage_pos = conn->tx.stage_end = TCP_RECORD_SIZE;
	rec->want = hello->lanes < conn->link->conf->lanes ? hello->lanes : (unsigned) conn->link->conf->lanes;
	if (hello->features & TCP_WIRE_RAILS && conn->link->rails)
		tcp_exchange_begin(rec);
	rec->short_max = short_max_of(rec);
	ret = tcp_path_open(rec, fd, tcp_path_event, &path);
	if (ret)
		close(fd);
	else
		tcp_path_made(path);
	return ret;
}
