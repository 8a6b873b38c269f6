/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * RDM endpoints: the handshakes of a channel; and for MSG endpoints too, its losses.
 *
 * The channel layer (channel/chan.h) decides when to connect, when to retry, and which of two
 * simultaneous connects counts.  Here its decisions become HELLO, WELCOME and REFUSE, and a
 * READY connection is given to its channel.  Timeouts: handshake.c.
 */
#include <rdma/fi_errno.h>

#include "link.h"

static struct chan_id id_of(const struct tcp_hello *hello)
{
	return (struct chan_id) { hello->epoch, hello->serial, hello->prev };
}

int tcp_connect(struct chan *base)
{
	struct tcp_chan *chan = tcp_chan_of(base);
	struct tcp_hello hello = {
		.type = TCP_WIRE_HELLO,
		.serial = base->serial,
		.prev = base->peer_serial,
		.features = base->resumes ? TCP_WIRE_RESUMES : 0,
	};

	return tcp_conn_connect(tcp_link_of(base->link), &tcp_rdm_wireup, chan, NULL,
			     eng_peer_addr(chan_peer(base)), &hello, NULL, &chan->attempt);
}

/* ---- the answer to our request ------------------------------------------------------ */

/* use_conn - @conn is READY: it carries the packets of @chan from now on. */
static void use_conn(struct tcp_conn *conn, struct tcp_chan *chan, const struct tcp_hello *hello)
{
	struct chan_id id = id_of(hello);
	int ret;

	conn->chan = chan;
	conn->src.event = tcp_event;
	chan->attempt = NULL;
	chan->check.asking = NULL;
	tcp_stream_begin(conn);
	tcp_route_said(chan, hello);
	ret = tcp_recover_begin(conn, chan, hello);
	chan_up(&chan->base, conn, &id, conn->ours);
	tcp_stream_up(conn);
	conn->used_seq = conn->poller->base.seq;
	if (ret)
		tcp_conn_fail(conn, -ret, false);
	if (ret || conn->rec) {
		tcp_tx_pump(conn);
		return;
	}
	if (hello->features & TCP_WIRE_CAN_PARK)
		chan_park_add(&conn->poller->base, &conn->park, &chan->base);
	tcp_lane_agree(conn, hello->lanes);
	tcp_tx_pump(conn);
}

/* hello_continues - does the sender of @hello continue where the parked connection ended? */
static bool hello_continues(const struct tcp_chan *chan, const struct tcp_hello *hello)
{
	struct chan_id id = id_of(hello);

	return chan_continues(&chan->base, &id, hello->features & TCP_WIRE_RESUMES);
}

static void connect_on_welcome(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_chan *chan = conn->chan;

	if (chan->base.resumes && !hello_continues(chan, hello))
		chan_forget(&chan->base);
	else
		use_conn(conn, chan, hello);
}

/* refuses_always - another implementation gives no reason.  It refuses where its own request counts,
 * which then arrives; one that keeps refusing has another reason.
 */
static bool refuses_always(const struct tcp_conn *conn, const struct tcp_hello *hello)
{
	uint64_t limit = (uint64_t) conn->link->conf->conn_timeout_ms * CLOCK_NS_PER_MS;

	return !hello->epoch && chan_now(&conn->link->base) > conn->chan->base.first_ns + limit;
}

static void connect_on_refused(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_chan *chan = conn->chan;

	chan->attempt = NULL;
	chan->base.busy = hello->features & TCP_WIRE_CAN_PARK;
	if (refuses_always(conn, hello))
		chan_connect_failed(&chan->base, FI_ECONNREFUSED, true);
	else
		chan_refused(&chan->base, hello->reason);
	tcp_conn_close(conn);
}

/* ---- requests of peers ----------------------------------------------------------------- */

/* settle_addr - the address under which the connecting peer is known.  In the place of a
 * wildcard it is the address that it connects from; any other must equal that, or an endpoint
 * could claim to be another.
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

/* welcome_request - accept the request: @conn becomes the channel's connection. */
static void welcome_request(struct tcp_conn *conn, struct tcp_chan *chan, const struct tcp_hello *hello)
{
	int ret = tcp_conn_welcome(conn, hello->serial,
				   chan->base.resumes ? TCP_WIRE_RESUMES : 0, NULL, 0);

	if (ret) {
		tcp_conn_fail(conn, -ret, false);
		return;
	}
	chan_taken(&chan->base);
	use_conn(conn, chan, hello);
}

/* welcome_self - accept the request of this very endpoint. */
static void welcome_self(struct tcp_conn *conn, struct tcp_chan *chan,
			 const struct tcp_hello *hello)
{
	int ret = tcp_conn_welcome(conn, hello->serial, hello->features & TCP_WIRE_RESUMES,
				   NULL, 0);

	if (ret) {
		tcp_conn_fail(conn, -ret, false);
		return;
	}
	conn->chan = chan;
	conn->src.event = tcp_event;
	chan->loop = conn;
}

/* addr_order - our address against that of a peer of another implementation, which sees the address that it
 * connects to.
 */
static int addr_order(const struct tcp_conn *conn, const union net_sa *addr)
{
	union net_sa own;

	if (net_sock_name(conn->src.fd, &own))
		own = conn->link->name;
	net_addr_set_port(&own.sa, net_addr_port(&conn->link->name.sa));
	return net_addr_cmp(&own.sa, &addr->sa);
}

/* judge_request - @hello: the serial of a peer of another implementation is filled in */
static enum chan_verdict judge_request(const struct tcp_conn *conn, const struct chan *base,
				       struct tcp_hello *hello, const union net_sa *addr)
{
	struct chan_id id = id_of(hello);
	enum chan_verdict verdict;

	if (!conn->stream)
		return chan_decide(base, net_addr_cmp(&conn->link->name.sa, &addr->sa), &id);
	verdict = chan_decide_published(base, addr_order(conn, addr), (uint32_t) hello->epoch, &id);
	hello->serial = id.serial;
	return verdict == CHAN_SELF ? CHAN_REFUSE : verdict;
}

/* has_ended - may the connection of @chan be replaced: is its end known?  With FI_TCP_FIREWALL_ADDR peers may
 * be behind address translation, where they cannot be asked: each request is believed.
 */
static bool has_ended(const struct tcp_chan *chan)
{
	return !chan_check_stands(&chan->base) || tcp_conn_peer_closed(tcp_chan_conn(chan)) ||
	       tcp_chan_conn(chan)->link->conf->firewall_addr;
}

/* decide_request - NULL: the request has been answered. */
static struct tcp_chan *decide_request(struct tcp_conn *conn, struct tcp_chan *chan,
				       struct tcp_hello *hello, const union net_sa *addr)
{
	struct tcp_link *link = conn->link;
	size_t len = net_addr_len(&addr->sa);
	struct chan *base = &chan->base;

	switch (judge_request(conn, base, hello, addr)) {
	case CHAN_REFUSE:
		tcp_conn_refuse(conn, CHAN_SIMULTANEOUS, NULL, 0);
		return NULL;
	case CHAN_SELF:
		welcome_self(conn, chan, hello);
		return NULL;
	case CHAN_REPLACE:
		if (tcp_conn_peer_closed(conn)) {
			tcp_conn_close(conn);	/* the peer has aborted the request */
			return NULL;
		}
		if (!has_ended(chan)) {
			chan_check_start(base, &chan->check);
			tcp_conn_refuse(conn, CHAN_NOT_YET, NULL, 0);
			return NULL;
		}
		base = chan_replace(base, addr, len);
		break;
	default:
		if (base->resumes && !hello_continues(chan, hello)) {
			chan_forget(base);
			base = chan_find(&link->base, addr, len);
		}
		break;
	}
	if (!base)
		tcp_conn_refuse(conn, CHAN_BUSY, NULL, 0);
	return base ? tcp_chan_of(base) : NULL;
}

static void refuse_addr(struct tcp_conn *conn, const char *why)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "refused a connection from %s: its endpoint claims %s\n",
			net_addr_text(&conn->peer.sa, text), why);
	tcp_conn_refuse(conn, CHAN_ADDR_BAD, NULL, 0);
}

static void connect_on_hello(struct tcp_conn *conn, const struct tcp_hello *request, const void *data)
{
	struct tcp_link *link = conn->link;
	struct tcp_hello copy = *request, *hello = &copy;
	union net_sa addr = hello->addr;
	struct tcp_chan *chan;
	struct chan *base;

	if (tcp_rails_joins(conn, hello, data))
		return;
	if (!settle_addr(conn, &addr)) {
		refuse_addr(conn, "another host's address (FI_TCP_FIREWALL_ADDR=1 permits that)");
		return;
	}
	if (conn->stream && !net_addr_cmp(&addr.sa, &link->name.sa)) {
		refuse_addr(conn, "the address of this endpoint");
		return;
	}
	base = chan_find(&link->base, &addr, net_addr_len(&addr.sa));
	if (!base) {
		tcp_conn_refuse(conn, CHAN_BUSY, NULL, 0);
		return;
	}
	chan = tcp_chan_of(base);
	if (hello->type == TCP_WIRE_CHECK) {
		tcp_check_answer(conn, chan, hello);
		return;
	}
	if (hello->lane && tcp_chan_conn(chan) && tcp_chan_conn(chan)->rec) {
		tcp_recover_join(conn, chan, hello);
		return;
	}
	if (hello->lane) {
		tcp_lane_join(conn, chan, hello);
		return;
	}
	if (base->state == CHAN_PARKING && hello_continues(chan, hello)) {
		tcp_conn_refuse(conn, CHAN_NOT_YET, NULL, 0);	/* its consent is in flight */
		return;
	}
	chan = decide_request(conn, chan, hello, &addr);
	if (!chan)
		return;
	conn->peer = addr;	/* log lines name its endpoint's address from now on */
	welcome_request(conn, chan, hello);
}

/* ---- a connection is lost ------------------------------------------------------------------ */

void tcp_connect_lost(struct tcp_conn *conn)
{
	struct tcp_chan *chan = conn->chan;

	switch (conn->was) {
	case TCP_CONN_READY:
		if (chan->base.state == CHAN_READY || chan->base.state == CHAN_PARKING)
			chan_lost(&chan->base, conn->err, conn->clean_end);
		else
			chan->loop = NULL;	/* our own request is still in flight */
		break;
	case TCP_CONN_CONNECTING:
	case TCP_CONN_HELLO_SENT:
		chan->attempt = NULL;
		chan_connect_failed(&chan->base, conn->err, false);
		break;
	default:
		break;
	}
	tcp_conn_close(conn);
}

const struct tcp_wireup tcp_rdm_wireup = {
	.hello = connect_on_hello,
	.welcome = connect_on_welcome,
	.refused = connect_on_refused,
	.lost = tcp_connect_lost,
};
