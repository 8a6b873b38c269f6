/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Parking: where descriptors run short, the connection that was idle longest is closed until
 * a packet needs it again.
 *
 * Both peers consent (wire.h), so that nothing is in flight when a descriptor is closed, and
 * both know that the other lives.  The next packet, from either peer, makes another
 * connection, whose handshake says that it continues the parked one; where only one side says
 * so, the other has been restarted, and its peer is declared lost.
 *
 * The death of a peer is noticed by the end of its connection.  So a connection that an
 * operation waits on is parked only where a connection waits for a descriptor; and while an
 * operation waits for a parked peer, the peer is connected to from time to time.
 */
#include <rdma/fi_errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <linux/sockios.h>

#include "link.h"

#define MUST 2				/* connections to park where one waits for a descriptor */
#define WANT_MAX 8			/* connections to park at a time */
#define PAUSE_NS (2 * CLOCK_NS_PER_MS)	/* between two checks whether there is room */
#define NACK_NS (100 * CLOCK_NS_PER_MS)	/* after PARK_NACK a peer is not asked again for so long */
#define RESERVE_MIN 2
#define RESERVE_MAX 64
#define PROGRAM_SHARE 128		/* of the descriptors are left to the program */
#define PROGRAM_MAX 16

static _Atomic int open_conns;		/* of all RDM endpoints of the process */

/* ---- how many there are ------------------------------------------------------------ */

rlim_t tcp_park_fd_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

bool tcp_park_reserved(int fd)
{
	rlim_t limit = tcp_park_fd_limit(), reserve = limit / 8;

	if (limit == RLIM_INFINITY)
		return false;
	if (reserve < RESERVE_MIN)
		reserve = RESERVE_MIN;
	if (reserve > RESERVE_MAX)
		reserve = RESERVE_MAX;
	return (rlim_t) fd + reserve >= limit;
}

bool tcp_park_last(int fd)
{
	rlim_t limit = tcp_park_fd_limit(), rest = limit / PROGRAM_SHARE;

	return limit != RLIM_INFINITY && (rlim_t) fd + (rest < PROGRAM_MAX ? rest : PROGRAM_MAX) >= limit;
}

bool tcp_park_must(struct tcp_poller *poller)
{
	poller->park_must = true;
	return tcp_park_want(poller, MUST);
}

bool tcp_park_want(struct tcp_poller *poller, unsigned cnt)
{
	if (!poller->can_park || list_empty(&poller->parkable))
		return false;
	if (cnt > WANT_MAX)
		cnt = WANT_MAX;
	if (poller->park_want < cnt)
		poller->park_want = cnt;
	if (!poller->park_timer.at)
		chan_poller_timer(&poller->base, &poller->park_timer, chan_poller_now(&poller->base) + PAUSE_NS);
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

	if (conn->link->kind != TCP_WIRE_RDM)
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

	if (conn->link->kind != TCP_WIRE_RDM)
		return;
	atomic_fetch_sub(&open_conns, 1);
	if (poller->base.hold_connects)
		chan_poller_timer(&poller->base, &poller->park_timer, 0);
}

void tcp_park_ready(struct tcp_conn *conn, uint8_t features)
{
	conn->used_seq = conn->poller->base.seq;
	if (features & TCP_WIRE_CAN_PARK)
		list_add_tail(&conn->park_node, &conn->poller->parkable);
}

/* ---- parking ------------------------------------------------------------------------ */

static bool rx_idle(const struct tcp_rx *rx)
{
	return rx->body == TCP_BODY_NONE && !rx->stash_len && !rx->kept;
}

/* may_park - has @conn nothing to send and nothing half received? */
static bool may_park(const struct tcp_conn *conn)
{
	struct tcp_chan *chan = conn->chan;

	return chan->base.conn == conn && chan->base.state == CHAN_READY && list_empty(&chan->base.pending) &&
	       !conn->tx.stage && !conn->tx.blocked && !conn->tx.shut && rx_idle(&conn->rx) &&
	       !conn->link->base.closing;
}

uint64_t tcp_park_check_ns(const struct tcp_link *link)
{
	return link->conf->keepalive_on ? link->conf->keepalive.idle_s * CLOCK_NS_PER_S : 0;
}

/* parked - both peers have consented: close the channel's connection by @end. */
static void parked(struct tcp_chan *chan, void (*end)(struct tcp_conn *conn))
{
	struct tcp_conn *conn = chan->base.conn, *loop = chan->loop;

	chan->base.conn = NULL;
	chan->loop = NULL;
	end(conn);
	if (loop)
		end(loop);
	chan_parked(&chan->base, tcp_park_check_ns(tcp_link_of(chan->base.link)));
}

/* park_loop - an endpoint connected to itself: park if nothing is in flight between its ends. */
static void park_loop(struct tcp_chan *chan)
{
	struct tcp_conn *conn = chan->base.conn, *loop = chan->loop;
	int out = 1, in = 1;

	if (!rx_idle(&loop->rx) || ioctl(conn->src.fd, SIOCOUTQ, &out) || out ||
	    ioctl(loop->src.fd, SIOCINQ, &in) || in)
		return;
	parked(chan, tcp_conn_close);
}

static void request_park(struct tcp_conn *conn)
{
	conn->nack_ns = chan_poller_now(&conn->poller->base);
	if (conn->chan->loop)
		park_loop(conn->chan);
	else if (tcp_tx_ctl(conn, TCP_WIRE_PARK) && conn->state == TCP_CONN_READY)
		chan_set_state(&conn->chan->base, CHAN_PARKING);
}

static uint64_t last_use(const struct tcp_conn *conn)
{
	uint64_t in = conn->used_seq;

	return in > conn->tx.seq ? in : conn->tx.seq;
}

static struct tcp_conn *least_used(struct tcp_poller *poller, uint64_t now, bool waits)
{
	struct tcp_conn *conn, *best = NULL;

	list_for_each_entry(conn, &poller->parkable, park_node) {
		if ((!best || last_use(conn) < last_use(best)) && may_park(conn) &&
		    now - conn->nack_ns > NACK_NS &&
		    eng_peer_waits(chan_peer(&conn->chan->base)) == waits)
			best = conn;
	}
	return best;
}

static void make_room(struct timer *timer, uint64_t now)
{
	struct tcp_poller *poller = container_of(timer, struct tcp_poller, park_timer);
	struct tcp_conn *conn;
	unsigned left;

	poller->base.hold_connects = false;	/* connects that wait are tried again after this */
	for (left = poller->park_want; left; left--) {
		conn = least_used(poller, now, false);
		if (!conn && poller->park_must)
			conn = least_used(poller, now, true);
		if (!conn)
			break;
		request_park(conn);
	}
	poller->park_want = 0;
	poller->park_must = false;
}

void tcp_park_init(struct tcp_poller *poller)
{
	rlim_t limit = tcp_park_fd_limit();

	list_init(&poller->parkable);
	poller->park_timer.fire = make_room;
	poller->can_park = !timers_join(&poller->base.timers);
	/* connects must leave descriptors for connecting peers */
	poller->base.connecting_max = limit / 4 < TCP_CONNECTING_MAX ? (unsigned) (limit / 4) :
				      TCP_CONNECTING_MAX;
	if (!poller->base.connecting_max)
		poller->base.connecting_max = 1;
}

/* ---- control frames -------------------------------------------------------------------- */

static void on_park(struct tcp_conn *conn)
{
	struct tcp_chan *chan = conn->chan;

	if (conn->link->base.closing)
		return;			/* the end of the stream answers it */
	if (chan->base.state == CHAN_PARKING) {	/* simultaneous requests */
		parked(chan, tcp_conn_close);
	} else if (may_park(conn) && tcp_tx_ctl(conn, TCP_WIRE_PARK_ACK)) {
		parked(chan, tcp_conn_close_orderly);
	} else if (!tcp_tx_ctl(conn, TCP_WIRE_PARK_NACK)) {
		tcp_conn_fail(conn, FI_ENOMEM, false);
	}
}

static void on_park_nack(struct tcp_conn *conn)
{
	chan_set_state(&conn->chan->base, CHAN_READY);
	conn->nack_ns = chan_poller_now(&conn->poller->base);
	tcp_tx_pump(conn);
}

bool tcp_park_ctl(struct tcp_conn *conn, unsigned ctl)
{
	if (list_empty(&conn->park_node) || !ctl)
		return false;
	if (ctl == TCP_WIRE_PARK) {
		on_park(conn);
		return true;
	}
	if (conn->chan->base.state != CHAN_PARKING)
		return false;
	if (ctl == TCP_WIRE_PARK_ACK)
		parked(conn->chan, tcp_conn_close);
	else
		on_park_nack(conn);
	return true;
}
