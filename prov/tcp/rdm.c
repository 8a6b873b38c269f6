/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * RDM endpoints: a channel gets its connection when it is first used, from
 * either side, and gets a new one after it was lost.
 *
 * A call that is refused is repeated for conn_retry_ms: nobody listens there
 * while the peer is being restarted, or it is out of descriptors for a moment.
 * A host that does not answer at all has conn_timeout_ms, once; a program that does
 * not has all the time in the world (greet.c).  One that has called us, too, and
 * promised that its own call counts, is asked again until that is here.  Every
 * failure is reported from a timer, and so from poll().
 */
#include <rdma/fi_errno.h>

#include "cross.h"
#include "link.h"

#define BACKOFF_FIRST_NS (5 * CLOCK_NS_PER_MS)
#define BACKOFF_MAX_SHIFT 5	/* 160 ms */
#define CROSSED_NS (500 * CLOCK_NS_PER_MS)	/* until a call that was promised is asked after */

/* ---- calling -------------------------------------------------------------------- */

static bool worth_repeating(int err)
{
	switch (err) {
	case FI_ECONNREFUSED:
	case FI_ECONNRESET:
	case FI_EADDRNOTAVAIL:	/* no free port: the ones in TIME_WAIT come back */
	case FI_EAGAIN:
	case FI_EMFILE:
	case ENFILE:
	case ENOBUFS:
		return true;
	default:
		return false;
	}
}

/* call_failed - try again a little later, or have the failure reported. */
static void call_failed(struct tcp_chan *chan, int err, bool final)
{
	struct tcp_link *link = chan->link;
	uint64_t now = clock_ns(), end;
	unsigned shift = chan->tries < BACKOFF_MAX_SHIFT ? chan->tries : BACKOFF_MAX_SHIFT;

	if (!chan->tries)
		chan->first_ns = now;
	end = chan->first_ns + (uint64_t) link->conf->conn_retry_ms * CLOCK_NS_PER_MS;
	if (chan->busy && link->conf->conn_timeout_ms > link->conf->conn_retry_ms)
		end = chan->first_ns + (uint64_t) link->conf->conn_timeout_ms * CLOCK_NS_PER_MS;
	chan->err = err;
	chan->told |= err == FI_EPROTO;	/* whoever finds that says what it is */
	chan->give_up = final || !worth_repeating(err) || now >= end;
	chan->tries++;
	tcp_chan_set_state(chan, TCP_CHAN_BACKOFF);
	tcp_timer_set(link->poller, &chan->timer,
		      chan->give_up ? 0 : now + (BACKOFF_FIRST_NS << shift));
}

static void wait_turn(struct tcp_chan *chan)
{
	if (chan->state != TCP_CHAN_WAITING)
		tcp_chan_set_state(chan, TCP_CHAN_WAITING);
	list_del(&chan->node);
	list_add_tail(&chan->node, &chan->link->poller->waiting);
}

/* no_room - there is no descriptor for a call: until idle connections are parked it
 * waits, for as long as connecting may take.
 */
static bool no_room(struct tcp_chan *chan, int err)
{
	struct tcp_link *link = chan->link;

	if (err != FI_EMFILE && err != ENFILE)
		return false;
	chan->busy |= tcp_park_any();
	if (!tcp_park_must(link->poller))
		return false;
	link->poller->short_of_fds = true;
	if (!chan->tries++)
		chan->first_ns = clock_ns();
	else if (clock_ns() - chan->first_ns >
		 (uint64_t) link->conf->conn_timeout_ms * CLOCK_NS_PER_MS)
		return false;
	wait_turn(chan);
	return true;
}

static void call(struct tcp_chan *chan)
{
	struct tcp_link *link = chan->link;
	struct tcp_hello hello = {
		.type = TCP_WIRE_HELLO,
		.prev = chan->peer_serial,
		.features = chan->resumes ? TCP_WIRE_RESUMES : 0,
	};
	int ret;

	if (link->poller->dialing >= link->poller->dial_max || link->poller->short_of_fds) {
		wait_turn(chan);
		return;
	}
	hello.serial = ++link->serial;
	ret = tcp_conn_dial(link, &tcp_rdm_wireup, chan, eng_peer_addr(tcp_chan_peer(chan)),
			    &hello, NULL, &chan->dial);
	if (!ret)
		tcp_chan_set_state(chan, TCP_CHAN_DIALING);
	else if (!no_room(chan, -ret))
		call_failed(chan, -ret, false);
}

void tcp_rdm_next(struct tcp_poller *poller)
{
	struct tcp_chan *chan;

	while (tcp_poller_may_call(poller)) {
		chan = container_of(poller->waiting.next, struct tcp_chan, node);
		call(chan);
	}
}

static void report_unreachable(struct tcp_chan *chan)
{
	struct tcp_link *link = chan->link;
	struct eng_peer *peer = tcp_chan_peer(chan);
	char text[NET_ADDR_TEXT_MAX];

	if (!chan->told)
		TCP_WARN_SPARSE(link->conf, "cannot connect to %s: %s%s%s\n",
				net_addr_text(eng_peer_addr(peer), text), TCP_WHY(chan->err));
	tcp_chan_set_state(chan, TCP_CHAN_IDLE);
	tcp_chan_drain(chan, chan->err);
	if (!link->closing)
		eng_on_down(&link->base, peer, chan->err);
}

/* BACKOFF: the pause is over; CROSSED: the other side's call, which was to replace
 * ours, did not come, so it may have failed since: ask again.  PARKED: if something waits
 * for the peer, see whether it lives.
 */
void tcp_rdm_timer(struct tcp_timer *timer, uint64_t now)
{
	struct tcp_chan *chan = container_of(timer, struct tcp_chan, timer);

	if (chan->state == TCP_CHAN_PARKED && !eng_peer_waits(tcp_chan_peer(chan)))
		tcp_park_check(chan);
	else if (chan->state == TCP_CHAN_PARKED)
		tcp_rdm_call(chan);
	else if (chan->state == TCP_CHAN_BACKOFF && chan->give_up)
		report_unreachable(chan);
	else
		call(chan);
}

void tcp_rdm_call(struct tcp_chan *chan)
{
	chan->tries = 0;
	chan->told = false;
	chan->busy = false;
	call(chan);
}

int tcp_rdm_get(struct tcp_link *link, struct tcp_chan *chan)
{
	if (chan->state == TCP_CHAN_IDLE)
		tcp_rdm_call(chan);
	return 0;
}

/* ---- a connection ends ------------------------------------------------------------ */

static void log_loss(const struct tcp_conn *conn)
{
	char text[NET_ADDR_TEXT_MAX];

	net_addr_text(&conn->peer.sa, text);
	if (conn->clean_end && conn->chan && eng_peer_waits(tcp_chan_peer(conn->chan)))
		TCP_WARN_SPARSE(conn->link->conf, "%s closed the connection while operations "
				"waited for it; has that process ended?\n", text);
	else if (conn->clean_end)
		TCP_INFO(conn->link->conf, "%s closed the connection\n", text);
	else if (conn->err != FI_EPROTO)	/* whoever found that has said what it is */
		TCP_WARN_SPARSE(conn->link->conf, "lost the connection to %s: %s%s%s\n", text,
				TCP_WHY(conn->err));
}

/* lose - the channel's connection is gone: whatever waits for the peer ends. */
static void lose(struct tcp_chan *chan, int err)
{
	struct eng_peer *peer = tcp_chan_peer(chan);
	struct tcp_conn *conn = chan->conn, *loop = chan->loop;
	struct tcp_link *link = chan->link;

	chan->conn = NULL;
	chan->loop = NULL;
	if (loop)
		tcp_conn_close(loop);
	if (conn) {
		conn->err = err;
		tcp_conn_close(conn);
	}
	if (chan->state != TCP_CHAN_READY && chan->state != TCP_CHAN_PARKING)
		return;		/* only the far end of a loop; our call goes on */
	tcp_chan_set_state(chan, TCP_CHAN_IDLE);
	tcp_chan_drain(chan, err);
	if (!link->closing)
		eng_on_down(&link->base, peer, err);
}

/* forget - @chan was parked, and the peer knows nothing of that: it has lost us, or is
 * another process by now.
 */
static void forget(struct tcp_chan *chan)
{
	struct eng_peer *peer = tcp_chan_peer(chan);
	struct tcp_conn *dial = chan->dial;
	struct tcp_link *link = chan->link;

	chan->dial = NULL;
	tcp_chan_set_state(chan, TCP_CHAN_IDLE);
	if (dial)
		tcp_conn_close(dial);
	tcp_chan_drain(chan, FI_ECONNRESET);
	if (!link->closing)
		eng_on_down(&link->base, peer, FI_ECONNRESET);
}

/* goes_on - does a connection to the endpoint that sent @hello continue a parked one? */
static bool goes_on(const struct tcp_chan *chan, const struct tcp_hello *hello)
{
	return hello->features & TCP_WIRE_RESUMES && hello->epoch == chan->peer_epoch;
}

static void on_lost(struct tcp_conn *conn)
{
	struct tcp_chan *chan = conn->chan;

	switch (conn->was) {
	case TCP_CONN_READY:
		log_loss(conn);
		lose(chan, conn->err);
		break;
	case TCP_CONN_DIALING:
	case TCP_CONN_GREETING:
		chan->dial = NULL;
		call_failed(chan, conn->err, false);
		break;
	default:
		break;
	}
	tcp_conn_close(conn);
}

/* ---- wire-up --------------------------------------------------------------------- */

/* take_up - @conn is READY: it carries @chan from now on. */
static void take_up(struct tcp_conn *conn, struct tcp_chan *chan, const struct tcp_hello *hello)
{
	bool resumes = chan->resumes;

	tcp_chan_up(chan, conn, hello->epoch);
	tcp_park_ready(conn, hello->features);
	tcp_lane_agree(conn, hello->lanes);
	tcp_tx_pump(conn);
	if (conn->state == TCP_CONN_READY && !conn->link->closing && !resumes)
		eng_on_up(&conn->link->base, tcp_chan_peer(chan));
}

static void on_welcome(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_chan *chan = conn->chan;

	chan->peer_newest = hello->prev;
	if (chan->resumes && !goes_on(chan, hello))
		forget(chan);
	else
		take_up(conn, chan, hello);
}

static void on_refused(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_chan *chan = conn->chan;
	struct tcp_link *link = conn->link;
	char text[NET_ADDR_TEXT_MAX];

	chan->dial = NULL;
	if (hello->reason == TCP_WIRE_NOT_YET) {
		chan->tries = 0;
		call_failed(chan, FI_EAGAIN, false);
	} else if (hello->reason == TCP_WIRE_CROSSED) {
		chan->tries = 0;
		tcp_chan_set_state(chan, TCP_CHAN_CROSSED);
		tcp_timer_set(link->poller, &chan->timer, clock_ns() + CROSSED_NS);
	} else {
		TCP_WARN_SPARSE(link->conf, "%s refused our connection: %s\n",
				net_addr_text(&conn->peer.sa, text),
				tcp_hello_reason_text(hello->reason));
		chan->told = true;
		chan->busy = hello->features & TCP_WIRE_CAN_PARK;
		call_failed(chan, tcp_hello_errno(hello->reason),
			    hello->reason != TCP_WIRE_BUSY);
	}
	tcp_conn_close(conn);
}

/* is_stale - a call that crossed with the one for the connection that is parked by now:
 * its sender has given it up.
 */
static bool is_stale(const struct tcp_chan *chan, const struct tcp_hello *hello)
{
	return chan->resumes && hello->epoch == chan->peer_epoch &&
	       hello->serial <= chan->peer_newest;
}

/* settle_addr - the address under which the caller is known.  One that gave a
 * wildcard is known by where it calls from; anything else must match that, or an
 * endpoint could pass itself off as another.
 */
static bool settle_addr(const struct tcp_conn *conn, union net_sa *addr)
{
	if (!net_addr_len(&addr->sa) || addr->sa.sa_family != conn->peer.sa.sa_family)
		return false;
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_scope_id = conn->peer.in6.sin6_scope_id;
	if (net_addr_is_any(&addr->sa)) {
		uint16_t port = net_addr_port(&addr->sa);

		*addr = conn->peer;
		net_addr_set_port(&addr->sa, port);
	}
	return conn->link->conf->firewall_addr || net_addr_same_host(&addr->sa, &conn->peer.sa);
}

static enum tcp_cross_verdict judge(const struct tcp_conn *conn, const struct tcp_chan *chan,
				    const struct tcp_hello *hello, const union net_sa *addr)
{
	struct tcp_cross cross = {
		.have = TCP_HAVE_NOTHING,
		.self = { &conn->link->name.sa, conn->link->epoch },
		.peer = { &addr->sa, hello->epoch },
		.peer_epoch = chan->peer_epoch,
	};
	enum tcp_cross_verdict verdict;

	if (chan->conn && chan->conn->state == TCP_CONN_FAILED)
		return TCP_CROSS_REPLACE;
	if (chan->conn) {
		cross.have = chan->conn->ours ? TCP_HAVE_OURS : TCP_HAVE_THEIRS;
		cross.serial = chan->conn->serial;
	} else if (chan->dial && chan->dial->state == TCP_CONN_GREETING) {
		cross.have = TCP_HAVE_HELLO;
	}
	verdict = tcp_cross_judge(&cross, hello);
	return verdict == TCP_CROSS_ACCEPT && is_stale(chan, hello) ? TCP_CROSS_REFUSE : verdict;
}

/* take_in - @conn becomes the channel's connection. */
static void take_in(struct tcp_conn *conn, struct tcp_chan *chan, const struct tcp_hello *hello)
{
	struct tcp_conn *dial = chan->dial;
	int ret = tcp_conn_welcome(conn, hello->serial, chan->resumes ? TCP_WIRE_RESUMES : 0,
				   NULL, 0);

	if (ret) {
		tcp_conn_fail(conn, -ret, false);
		return;
	}
	chan->dial = NULL;
	if (dial)
		tcp_conn_close(dial);
	chan->peer_serial = hello->serial;
	chan->peer_newest = hello->serial;
	take_up(conn, chan, hello);
}

static void take_in_self(struct tcp_conn *conn, struct tcp_chan *chan,
			 const struct tcp_hello *hello)
{
	int ret = tcp_conn_welcome(conn, hello->serial, hello->features & TCP_WIRE_RESUMES,
				   NULL, 0);

	if (ret) {
		tcp_conn_fail(conn, -ret, false);
		return;
	}
	conn->chan = chan;
	chan->loop = conn;
}

static void on_hello(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_link *link = conn->link;
	union net_sa addr = hello->addr;
	char text[NET_ADDR_TEXT_MAX];
	struct eng_peer *peer;
	struct tcp_chan *chan;

	if (!settle_addr(conn, &addr)) {
		TCP_WARN_SPARSE(link->conf, "refused a connection from %s: its endpoint claims "
				"another host's address (FI_TCP_FIREWALL_ADDR=1 admits that)\n",
				net_addr_text(&conn->peer.sa, text));
		tcp_conn_refuse(conn, TCP_WIRE_ADDR_BAD, NULL, 0);
		return;
	}
	peer = eng_peer_find(&link->base, &addr, net_addr_len(&addr.sa));
	if (!peer) {
		tcp_conn_refuse(conn, TCP_WIRE_BUSY, NULL, 0);
		return;
	}
	chan = tcp_chan_of(link, peer);
	if (hello->lane) {
		tcp_lane_join(conn, chan, hello);
		return;
	}
	if (chan->state == TCP_CHAN_PARKING && goes_on(chan, hello)) {
		tcp_conn_refuse(conn, TCP_WIRE_NOT_YET, NULL, 0);	/* its answer is on the way */
		return;
	}
	switch (judge(conn, chan, hello, &addr)) {
	case TCP_CROSS_REFUSE:
		tcp_conn_refuse(conn, TCP_WIRE_CROSSED, NULL, 0);
		return;
	case TCP_CROSS_SELF:
		take_in_self(conn, chan, hello);
		return;
	case TCP_CROSS_REPLACE:
		if (tcp_conn_ended(conn)) {
			tcp_conn_close(conn);	/* the caller is gone again */
			return;
		}
		lose(chan, FI_ECONNRESET);
		break;
	default:
		if (!chan->resumes || goes_on(chan, hello))
			break;
		forget(chan);
		break;
	}
	/* the engine may have forgotten it */
	peer = eng_peer_find(&link->base, &addr, net_addr_len(&addr.sa));
	if (!peer) {
		tcp_conn_refuse(conn, TCP_WIRE_BUSY, NULL, 0);
		return;
	}
	conn->peer = addr;	/* from now on it goes by its endpoint's name in the log */
	take_in(conn, tcp_chan_of(link, peer), hello);
}

const struct tcp_wireup tcp_rdm_wireup = {
	.kind = TCP_WIRE_RDM,
	.hello = on_hello,
	.welcome = on_welcome,
	.refused = on_refused,
	.lost = on_lost,
};
