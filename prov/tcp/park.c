/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Parking: where descriptors run short, the connection that was idle longest is closed
 * until somebody needs it again.
 *
 * Both sides agree on it (wire.h), so that nothing is in flight when a descriptor
 * closes, and both then know that the peer lives.  The next packet, from either side,
 * makes another connection, whose greeting says that it goes on where the last one
 * ended; if only one side thinks so, that one has lost its peer.
 *
 * The end of a connection is how a peer's death is noticed.  So those that an operation
 * waits on are the last to go, when nobody could be reached otherwise; and while one
 * waits for a peer that is parked, the peer is called now and then.
 */
#include <rdma/fi_errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <linux/sockios.h>

#include "link.h"

#define MUST 2				/* connections to park where somebody waits for a descriptor */
#define WANT_MAX 8			/* connections that are asked for at a time */
#define PAUSE_NS (2 * CLOCK_NS_PER_MS)	/* between two looks whether there is room */
#define STAY_NS (100 * CLOCK_NS_PER_MS)	/* a peer that said STAY is left alone for so long */
#define RESERVE_MIN 2
#define RESERVE_MAX 64

static _Atomic int open_conns;		/* of all RDM endpoints of the process */

/* ---- how many there are ------------------------------------------------------------ */

static rlim_t fd_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

bool tcp_park_reserved(int fd)
{
	rlim_t limit = fd_limit(), reserve = limit / 8;

	if (limit == RLIM_INFINITY)
		return false;
	if (reserve < RESERVE_MIN)
		reserve = RESERVE_MIN;
	if (reserve > RESERVE_MAX)
		reserve = RESERVE_MAX;
	return (rlim_t) fd + reserve >= limit;
}

bool tcp_park_must(struct tcp_poller *poller)
{
	poller->park_must = true;
	return tcp_park_want(poller, MUST);
}

bool tcp_park_want(struct tcp_poller *poller, unsigned cnt)
{
	if (list_empty(&poller->parkable))
		return false;
	if (cnt > WANT_MAX)
		cnt = WANT_MAX;
	if (poller->park_want < cnt)
		poller->park_want = cnt;
	if (list_empty(&poller->park_timer.node))
		tcp_timer_set(poller, &poller->park_timer, clock_ns() + PAUSE_NS);
	return true;
}

bool tcp_park_full(const struct tcp_conf *conf)
{
	return conf->max_conns && atomic_load(&open_conns) >= conf->max_conns;
}

bool tcp_park_any(void)
{
	return atomic_load(&open_conns) > 0;
}

void tcp_park_opened(struct tcp_conn *conn)
{
	int max = conn->link->conf->max_conns, cnt, want = 0;

	if (conn->wireup->kind != TCP_WIRE_RDM)
		return;
	cnt = atomic_fetch_add(&open_conns, 1) + 1;
	if (max && cnt > max)
		want = cnt - max;
	else if (tcp_park_reserved(conn->src.fd))
		want = 1;
	if (want)
		tcp_park_want(conn->poller, (unsigned) want);
}

void tcp_park_closed(struct tcp_conn *conn)
{
	struct tcp_poller *poller = conn->poller;

	if (conn->wireup->kind != TCP_WIRE_RDM)
		return;
	atomic_fetch_sub(&open_conns, 1);
	if (poller->short_of_fds)
		tcp_timer_set(poller, &poller->park_timer, 0);
}

void tcp_park_ready(struct tcp_conn *conn, uint8_t features)
{
	conn->used_seq = conn->poller->seq;
	if (features & TCP_WIRE_CAN_PARK)
		list_add_tail(&conn->park_node, &conn->poller->parkable);
}

/* ---- parking ------------------------------------------------------------------------ */

static bool rx_idle(const struct tcp_rx *rx)
{
	return rx->body == TCP_BODY_NONE && !rx->stash_len && !rx->kept;
}

/* may_park - nothing is on its way from here, as far as we know. */
static bool may_park(const struct tcp_conn *conn)
{
	struct tcp_chan *chan = conn->chan;

	return chan->conn == conn && chan->state == TCP_CHAN_READY && list_empty(&chan->txq) &&
	       !conn->tx.stage && !conn->tx.blocked && !conn->tx.shut && rx_idle(&conn->rx) &&
	       !conn->link->closing;
}

/* parked - both sides are done with the channel's connection; the caller closes it. */
static void parked(struct tcp_chan *chan)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_INFO(chan->link->conf, "the idle connection to %s is closed until it is needed\n",
		 net_addr_text(eng_peer_addr(tcp_chan_peer(chan)), text));
	chan->conn = NULL;
	chan->loop = NULL;
	tcp_chan_set_state(chan, TCP_CHAN_PARKED);
	chan->resumes = true;
	tcp_park_check(chan);
}

void tcp_park_check(struct tcp_chan *chan)
{
	const struct tcp_conf *conf = chan->link->conf;

	if (chan->resumes && chan->state == TCP_CHAN_PARKED && conf->keepalive_on)
		tcp_timer_set(chan->link->poller, &chan->timer,
			      clock_ns() + conf->keepalive.idle_s * CLOCK_NS_PER_S);
}

static void recall(struct tcp_chan *chan)
{
	if (!list_empty(&chan->txq))
		tcp_rdm_call(chan);
}

/* park_loop - both ends are ours: no need to ask, if nothing is between them. */
static void park_loop(struct tcp_chan *chan)
{
	struct tcp_conn *conn = chan->conn, *loop = chan->loop;
	int out = 1, in = 1;

	if (!rx_idle(&loop->rx) || ioctl(conn->src.fd, SIOCOUTQ, &out) || out ||
	    ioctl(loop->src.fd, SIOCINQ, &in) || in)
		return;
	parked(chan);
	tcp_conn_close(conn);
	tcp_conn_close(loop);
}

static void ask(struct tcp_conn *conn)
{
	conn->asked_ns = clock_ns();
	if (conn->chan->loop)
		park_loop(conn->chan);
	else if (tcp_tx_word(conn, TCP_WIRE_PARK) && conn->state == TCP_CONN_READY)
		tcp_chan_set_state(conn->chan, TCP_CHAN_PARKING);
}

static uint64_t last_use(const struct tcp_conn *conn)
{
	uint64_t in = conn->hot ? conn->poller->seq - conn->misses : conn->used_seq;

	return in > conn->tx.seq ? in : conn->tx.seq;
}

static struct tcp_conn *least_used(struct tcp_poller *poller, uint64_t now, bool waits)
{
	struct tcp_conn *conn, *best = NULL;
	struct list *pos;

	list_for_each(pos, &poller->parkable) {
		conn = container_of(pos, struct tcp_conn, park_node);
		if ((!best || last_use(conn) < last_use(best)) && may_park(conn) &&
		    now - conn->asked_ns > STAY_NS &&
		    eng_peer_waits(tcp_chan_peer(conn->chan)) == waits)
			best = conn;
	}
	return best;
}

static void make_room(struct tcp_timer *timer, uint64_t now)
{
	struct tcp_poller *poller = container_of(timer, struct tcp_poller, park_timer);
	struct tcp_conn *conn;
	unsigned left;

	poller->short_of_fds = false;	/* calls that wait are tried again after this */
	for (left = poller->park_want; left; left--) {
		conn = least_used(poller, now, false);
		if (!conn && poller->park_must)
			conn = least_used(poller, now, true);
		if (!conn)
			break;
		ask(conn);
	}
	poller->park_want = 0;
	poller->park_must = false;
}

void tcp_park_init(struct tcp_poller *poller)
{
	rlim_t limit = fd_limit();

	list_init(&poller->parkable);
	tcp_timer_init(&poller->park_timer, make_room);
	/* calls must leave descriptors for callers */
	poller->dial_max = limit / 4 < TCP_DIAL_MAX ? (unsigned) (limit / 4) : TCP_DIAL_MAX;
	if (!poller->dial_max)
		poller->dial_max = 1;
}

/* ---- what the peer says ---------------------------------------------------------------- */

static void on_park(struct tcp_conn *conn)
{
	struct tcp_chan *chan = conn->chan;

	if (conn->link->closing)
		return;			/* the end of the stream is the answer */
	if (chan->state == TCP_CHAN_PARKING) {	/* both asked at once */
		parked(chan);
		tcp_conn_close(conn);
		recall(chan);
	} else if (may_park(conn) && tcp_tx_word(conn, TCP_WIRE_PARKED)) {
		parked(chan);
		tcp_conn_part(conn);
	} else if (!tcp_tx_word(conn, TCP_WIRE_STAY)) {
		tcp_conn_fail(conn, FI_ENOMEM, false);
	}
}

static void on_parked(struct tcp_conn *conn)
{
	struct tcp_chan *chan = conn->chan;

	parked(chan);
	tcp_conn_close(conn);
	recall(chan);
}

static void on_stay(struct tcp_conn *conn)
{
	tcp_chan_set_state(conn->chan, TCP_CHAN_READY);
	conn->asked_ns = clock_ns();
	tcp_tx_pump(conn);
}

bool tcp_park_word(struct tcp_conn *conn, unsigned word)
{
	if (list_empty(&conn->park_node) || !word)
		return false;
	if (word == TCP_WIRE_PARK) {
		on_park(conn);
		return true;
	}
	if (conn->chan->state != TCP_CHAN_PARKING)
		return false;
	if (word == TCP_WIRE_PARKED)
		on_parked(conn);
	else
		on_stay(conn);
	return true;
}
