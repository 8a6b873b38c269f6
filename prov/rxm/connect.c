/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * How a connection is made: our attempts, the requests of peers, and the handshakes that
 * are their private data.  When to connect, when to try again, and which of two
 * simultaneous connects counts is decided by the channel layer.
 *
 *	connecting endpoint                      accepting endpoint
 *	fi_connect(handshake, address)  ------>  FI_CONNREQ: chan_decide()
 *	                                         fi_accept(handshake), ACCEPTING
 *	FI_CONNECTED: READY             <------
 *	                                         FI_CONNECTED: READY
 *	error event: chan_refused()     <------  or fi_reject(refusal)
 *
 * Over IP, unless FI_OFI_RXM_WIRE says otherwise, the request is that of the compatible format, and
 * our handshake is behind it, where other implementations ignore it.  The answer tells which the peer
 * is.  There is no room for an address then: the peer knows where the request comes from, and the
 * request has the port.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel/route.h"
#include "base/ib_addr.h"
#include "base/net_addr.h"
#include "compat.h"
#include "conn.h"
#include "foreign/rxmf/cm.h"

/* ---- handshakes ------------------------------------------------------------------------ */

/* put_handshake - ours, for a request or an acceptance.
 *
 * @id:   its serial and prev
 * @addr: with our address: the peer does not know who connects
 */
static size_t put_handshake(struct rxm_link *link, const struct chan_id *id, bool addr, uint8_t *out)
{
	struct rxm_handshake hs = {
		.id = { .epoch = link->chan.epoch, .serial = id->serial, .prev = id->prev },
		.buf_size = (uint32_t) rxm_conf.buf_size,
		.credits = (uint16_t) rxm_conf.credits,
		.rndvs = RXM_RNDVS,
		.addr_len = addr ? (uint8_t) link->chan.addr_len : 0,
	};

	memcpy(hs.addr, link->addr, hs.addr_len);
	return rxm_handshake_put(out, &hs);
}

static bool is_ip(const struct rxm_link *link)
{
	return net_addr_len((const struct sockaddr *) (const void *) link->addr) == link->chan.addr_len;
}

static uint32_t process_id(const struct rxm_link *link)
{
	uint32_t id = (uint32_t) link->chan.epoch;	/* random, of this endpoint's life */

	return id ? id : 1;
}

/* put_request - Returns the length. */
static size_t put_request(struct rxm_link *link, const struct chan_id *id, uint8_t *out)
{
	struct rxmf_cm_request request = {
		.credits = RXMF_CM_CREDITS_OFF,
		.eager_limit = (uint32_t) rxm_conf.buf_size,
		.rx_size = (uint32_t) rxm_conf.rx_size,
		.process = process_id(link),
		.conn_id = RXM_COMPAT_ID,
	};
	size_t len;

	if (rxm_conf.wire == RXM_WIRE_NATIVE || !is_ip(link))
		return put_handshake(link, id, true, out);
	request.port = net_addr_port((const struct sockaddr *) (const void *) link->addr);
	len = rxmf_cm_put_request(out, &request);
	if (rxm_conf.wire != RXM_WIRE_COMPATIBLE || link->secured)
		len += put_handshake(link, id, false, out + len);
	return len;
}

/* put_acceptance - in the format of the connection. */
static size_t put_acceptance(struct rxm_conn *conn, const struct chan_id *id, uint8_t *out)
{
	struct rxm_link *link = rxm_conn_link(conn);
	struct rxmf_cm_accept accept = {
		.credits = RXMF_CM_CREDITS_OFF,
		.rx_size = (uint32_t) rxm_conf.rx_size,
		.process = process_id(link),
		.conn_id = RXM_COMPAT_ID,
	};

	return conn->compat ? rxmf_cm_put_accept(out, &accept) : put_handshake(link, id, false, out);
}

/* apply_limits - what the peer's handshake says about its buffers.  Messages that overtook
 * the event of the handshake may have returned credits already.
 */
static void apply_limits(struct rxm_conn *conn, const struct rxm_handshake *hs)
{
	chan_route_said(&conn->chan, chan_version_ours(RXM_VERSION, RXM_OLDEST), &hs->version, 0);
	conn->credits += hs->credits;
	conn->buf_size = hs->buf_size < rxm_conf.buf_size ? hs->buf_size :
							    (unsigned) rxm_conf.buf_size;
	conn->rndv_max = hs->rndvs < RXM_RNDVS ? hs->rndvs : RXM_RNDVS;
}

static void log_version(struct rxm_link *link, const char *peer, struct chan_version theirs)
{
	struct chan_version ours = chan_version_ours(RXM_VERSION, RXM_OLDEST);
	char text[CHAN_VERSION_TEXT_MAX];

	CHAN_WARN_SPARSE(&link->chan, "no connection with %s: %s\n", peer,
			 chan_version_text(&ours, &theirs, text));
}

/* ---- our attempts ------------------------------------------------------------------------- */

/* set_timer - until the answer is overdue. */
static void set_timer(struct chan *chan)
{
	chan_timer_set(chan, chan_now(chan->link) +
		       (uint64_t) chan->link->conf.conn_timeout_ms * CLOCK_NS_PER_MS);
}

/* info_to - of an endpoint that connects to @addr: the listener's, with another port. */
static struct fi_info *info_to(struct rxm_link *link, const void *addr)
{
	struct fi_info *info = fi_dupinfo(link->info);

	if (!info)
		return NULL;
	free(info->dest_addr);
	info->dest_addr = malloc(link->chan.addr_len);
	if (!info->dest_addr) {
		fi_freeinfo(info);
		return NULL;
	}
	memcpy(info->dest_addr, addr, link->chan.addr_len);
	info->dest_addrlen = link->chan.addr_len;
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

static int connect_ep(struct rxm_conn *conn)
{
	const void *addr = eng_peer_addr(chan_peer(&conn->chan));
	struct rxm_link *link = rxm_conn_link(conn);
	struct fi_info *info = info_to(link, addr);
	struct chan_id id = { .serial = conn->chan.serial, .prev = conn->chan.peer_serial };
	uint8_t data[RXMF_CM_REQUEST + RXM_HANDSHAKE_MAX];
	int ret;

	if (!info)
		return -FI_ENOMEM;
	ret = rxm_ep_open(link->dom, info, conn, &conn->ep);
	fi_freeinfo(info);
	if (!ret)
		ret = fi_connect(conn->ep->fid, addr, data, put_request(link, &id, data));
	return ret;
}

static int connect_attempt(struct chan *chan)
{
	struct rxm_conn *conn = rxm_conn_of(chan);
	int ret;

	/* on the wire 0 is no serial */
	if (!(uint32_t) chan->serial)
		chan->serial = ++chan->link->serial;
	ret = connect_ep(conn);
	if (ret) {
		rxm_conn_close_eps(conn);
		return ret;
	}
	chan->asked = true;
	set_timer(chan);
	return 0;
}

static void abort_attempt(struct chan *chan)
{
	chan->failed = false;
	rxm_conn_close_eps(rxm_conn_of(chan));
}

void rxm_attempt_failed(struct rxm_conn *conn, int err, bool final)
{
	rxm_conn_close_eps(conn);
	chan_connect_failed(&conn->chan, err, final);
}

/* retry_ms - a peer that computes, without progress, looks like one that is not there, and
 * the provider below may wait less long for it than we do.
 */
static int retry_ms(const struct chan *chan, int err)
{
	switch (err) {
	case FI_ETIMEDOUT:
		return chan->link->conf.conn_timeout_ms;
	case FI_ECONNREFUSED:
	case FI_ECONNRESET:
	case FI_EADDRNOTAVAIL:
	case FI_EAGAIN:
	case FI_EMFILE:
		return chan->link->conf.retry_ms;
	default:
		return 0;
	}
}

/* on_overdue - the provider below reports a peer that it cannot reach, so this one is there, and its
 * program makes no progress.  It is waited for, and no longer counts as one of the attempts in flight.
 */
static void on_overdue(struct chan *chan, uint64_t now)
{
	char text[CHAN_TEXT_MAX];

	if (chan->state != CHAN_CONNECTING)
		return;
	chan_overdue(chan);
	CHAN_WARN_SPARSE(chan->link, "%s does not answer: its program makes no progress (it computes, or "
			 "is stopped), or a firewall is between; waiting for it\n",
			 chan_peer_text(chan, text));
}

static const char *connect_advice(const struct chan *chan, int err)
{
	if (chan->state == CHAN_READY)
		return NULL;
	if (err == FI_ECONNREFUSED)
		return "no endpoint of this layer is there, or its process has ended";
	if (err == FI_ETIMEDOUT)
		return "its program makes no progress, or a firewall is between";
	return NULL;
}

static void conn_init(struct chan *chan)
{
	struct rxm_conn *conn = rxm_conn_of(chan);

	list_init(&conn->work_node);
	list_init(&conn->dirty_node);
	list_init(&conn->starved_node);
	list_init(&conn->rndvs);
	hmap_init(&conn->rndv_ids);
	list_init(&conn->early);
	list_init(&conn->rxq);
	list_init(&conn->holds);
}

const struct chan_ops rxm_chan_ops = {
	.init = conn_init,
	.connect = connect_attempt,
	.abort = abort_attempt,
	.close = rxm_conn_close,
	.finish = rxm_conn_finish,
	.retry_ms = retry_ms,
	.timer = on_overdue,
	.advice = connect_advice,
	.route = rxm_route,
};

/* ---- the outcome ------------------------------------------------------------------------------ */

static void conn_established(struct rxm_conn *conn, const struct chan_id *id, bool ours)
{
	char text[CHAN_TEXT_MAX];

	CHAN_INFO(conn->chan.link, "connected with %s, in the %s wire format\n",
		  chan_peer_text(&conn->chan, text), conn->compat ? "compatible" : "native");
	chan_up(&conn->chan, conn->ep, id, ours);
	if (!conn->chan.conn)
		return;
	eng_on_format(chan_peer(&conn->chan), conn->compat ? ENG_FORMAT_WHOLE : ENG_FORMAT_ANNOUNCES,
		      &conn->chan.pending);
	rxm_conn_dirty(conn);
	rxm_rx_run(conn);
}

/* accepted_compat - the peer's answer is of another implementation.
 * Returns false if it is not.
 */
static bool accepted_compat(struct rxm_conn *conn, const void *data, size_t len)
{
	struct rxmf_cm_accept accept;
	struct chan_id id = { .serial = conn->chan.serial };
	struct rxm_link *link = rxm_conn_link(conn);

	if (rxm_conf.wire == RXM_WIRE_NATIVE || !is_ip(link) || link->secured ||
	    rxmf_cm_get_accept(data, len, &accept))
		return false;
	if (rxm_compat_start(conn, accept.conn_id, rxm_conf.buf_size)) {
		rxm_attempt_failed(conn, FI_ENOMEM, false);
		return true;
	}
	id.epoch = accept.process;
	conn_established(conn, &id, true);
	return true;
}

/* request_accepted - the peer's answer to our request. */
static void request_accepted(struct rxm_conn *conn, const void *data, size_t len)
{
	struct rxm_link *link = rxm_conn_link(conn);
	char text[CHAN_TEXT_MAX];
	struct rxm_handshake hs;
	enum chan_reason reason = rxm_handshake_parse(data, len, &hs);

	if (reason == CHAN_MALFORMED && accepted_compat(conn, data, len))
		return;
	if (reason) {
		chan_peer_text(&conn->chan, text);
		if (reason == CHAN_VERSION_BAD)
			log_version(link, text, hs.version);
		else
			CHAN_WARN_SPARSE(&link->chan, "%s accepted our connection with a malformed "
					 "handshake\n", text);
		rxm_attempt_failed(conn, FI_EPROTO, true);
		return;
	}
	apply_limits(conn, &hs);
	conn_established(conn, &hs.id, true);
}

void rxm_on_connected(struct rxm_ep *ep, const void *data, size_t len)
{
	struct rxm_conn *conn = ep->conn;
	struct chan *chan = &conn->chan;
	struct chan_id id = { .epoch = chan->peer_epoch, .serial = chan->serial };

	if (ep == conn->self || chan->failed)
		return;
	if (chan->state == CHAN_ACCEPTING)
		conn_established(conn, &id, false);
	else if (chan->state == CHAN_CONNECTING)
		request_accepted(conn, data, len);
}

void rxm_on_refused(struct rxm_ep *ep, int err, const void *data, size_t len)
{
	struct rxm_conn *conn = ep->conn;
	struct chan_version theirs;
	enum chan_reason reason;
	char text[CHAN_TEXT_MAX];

	if (ep == conn->self || conn->chan.state != CHAN_CONNECTING) {
		rxm_on_ended(ep);
		return;
	}
	reason = rxm_refusal_parse(data, len, &theirs);
	if (reason == CHAN_OK && rxmf_cm_get_reject(data, len) == RXMF_CM_EXISTS)
		reason = CHAN_SIMULTANEOUS;
	if (reason == CHAN_OK) {
		rxm_attempt_failed(conn, err ? err : FI_ECONNREFUSED, false);
	} else if (reason == CHAN_VERSION_BAD) {
		log_version(rxm_conn_link(conn), chan_peer_text(&conn->chan, text), theirs);
		rxm_attempt_failed(conn, chan_reason_errno(reason), true);
	} else {
		rxm_conn_close_eps(conn);
		chan_refused(&conn->chan, reason);
	}
}

void rxm_on_ended(struct rxm_ep *ep)
{
	struct rxm_conn *conn = ep->conn;

	if (conn->chan.state == CHAN_CONNECTING) {
		rxm_attempt_failed(conn, FI_ECONNRESET, false);
	} else {
		conn->ended = true;
		rxm_rx_run(conn);
	}
}

/* ---- requests of peers -------------------------------------------------------------------------- */

/* A request, decoded. */
struct asked {
	struct rxm_handshake hs;	/* of the compatible format: addr alone */
	struct rxmf_cm_request compat;	/* process 0: the native format */
	int order;			/* our address against the peer's, as both sides compare them */
};

/* request_refuse - if the handle of the request was not used up by an endpoint that failed: then
 * the provider below has refused it, without a reason.
 */
static void request_refuse(struct rxm_link *link, struct fi_info *info, const struct asked *asked,
			   enum chan_reason reason)
{
	uint8_t data[sizeof(struct rxm_wire_refusal)];
	size_t len = asked->compat.process ?
		     rxmf_cm_put_reject(data, reason == CHAN_SIMULTANEOUS ? RXMF_CM_EXISTS : RXMF_CM_REFUSED) :
		     rxm_refusal_put(data, reason);

	if (info->handle)
		fi_reject(link->pep, info->handle, data, len);
}

/* addr_of_port - the address of the connecting peer, which listens at @port of the host from which it
 * connects.  Sets asked->order as well: both sides know both ends of the connection.
 */
static enum chan_reason addr_of_port(struct rxm_link *link, const struct fi_info *info, uint16_t port,
				     struct asked *asked)
{
	const struct sockaddr *own = (const struct sockaddr *) (const void *) link->addr;
	union net_sa peer, self;

	if (!is_ip(link) || !info->dest_addr ||
	    net_addr_copy(info->dest_addr, info->dest_addrlen, &peer) ||
	    net_addr_len(&peer.sa) != link->chan.addr_len ||
	    !info->src_addr || net_addr_copy(info->src_addr, info->src_addrlen, &self))
		return CHAN_ADDR_BAD;
	net_addr_set_port(&peer.sa, port);
	net_addr_set_port(&self.sa, net_addr_port(own));
	asked->order = net_addr_cmp(&self.sa, &peer.sa);
	asked->hs.addr_len = (uint8_t) link->chan.addr_len;
	memcpy(asked->hs.addr, &peer, link->chan.addr_len);
	return CHAN_OK;
}

/* settle_addr - the address by which the connecting peer is known.  One that listens at a
 * wildcard address is known by the one that it connects from; any other has to be on the
 * host that connects, or an endpoint could pass itself off as another.
 */
static enum chan_reason settle_addr(struct rxm_link *link, const struct fi_info *info,
				    struct rxm_handshake *hs)
{
	const struct sockaddr *from = info->dest_addr;
	union net_sa own;

	if (hs->addr_len != link->chan.addr_len)
		return CHAN_ADDR_BAD;
	if (!from || !net_addr_len(from))
		return CHAN_OK;		/* no address that could be compared */
	memcpy(&own, hs->addr, hs->addr_len);
	if (net_addr_len(&own.sa) != hs->addr_len || own.sa.sa_family != from->sa_family)
		return CHAN_ADDR_BAD;
	if (net_addr_is_any(&own.sa)) {
		uint16_t port = net_addr_port(&own.sa);

		memcpy(&own, from, net_addr_len(from));
		net_addr_set_port(&own.sa, port);
		memcpy(hs->addr, &own, hs->addr_len);
	}
	return net_addr_same_host(&own.sa, from) ? CHAN_OK : CHAN_ADDR_BAD;
}

/* request_answer - accept the request with a new endpoint.
 * Errors: those of the provider below; *@ep_p is not set.
 */
static int request_answer(struct rxm_conn *conn, struct fi_info *info, const struct chan_id *id,
			  struct rxm_ep **ep_p)
{
	struct chan_id ours = { .serial = id->serial, .prev = conn->chan.link->serial };
	struct rxm_link *link = rxm_conn_link(conn);
	uint8_t data[RXM_HANDSHAKE_MAX];
	size_t len = put_acceptance(conn, &ours, data);
	struct rxm_ep *ep;
	int ret = rxm_ep_open(link->dom, info, conn, &ep);

	if (ret)
		return ret;
	ret = fi_accept(ep->fid, data, len);
	if (ret)
		rxm_ep_close(ep);
	else
		*ep_p = ep;
	return ret;
}

/* accept_self - the endpoint connects to itself: the new endpoint is the accepting end.
 * There is one connection, so the request of an attempt that has ended is of no use.
 */
static enum chan_reason accept_self(struct rxm_conn *conn, struct fi_info *info,
				    const struct chan_id *id)
{
	if (conn->self || conn->chan.state != CHAN_CONNECTING ||
	    (uint32_t) id->serial != (uint32_t) conn->chan.serial)
		return CHAN_NO_USE;
	return request_answer(conn, info, id, &conn->self) ? CHAN_BUSY : CHAN_OK;
}

/* start_compat - in the format of the request, before it is answered: the peer may send at once. */
static int start_compat(struct rxm_conn *conn, const struct rxmf_cm_request *request)
{
	if (!request->process)
		return 0;
	return rxm_compat_start(conn, request->conn_id, request->eager_limit);
}

static enum chan_reason accept_peer(struct rxm_conn *conn, struct fi_info *info,
				    const struct asked *asked)
{
	const struct rxm_handshake *hs = &asked->hs;
	struct chan *chan = &conn->chan;
	int ret;

	chan_taken(chan);
	ret = start_compat(conn, &asked->compat);
	if (!ret)
		ret = request_answer(conn, info, &hs->id, &conn->ep);
	if (ret) {
		rxm_compat_end(conn, -ret);
		/* the attempt that gave way has to be made again */
		if (chan->state == CHAN_CONNECTING || chan->state == CHAN_ACCEPTING)
			chan_connect_failed(chan, -ret, false);
		return CHAN_BUSY;
	}
	if (!conn->compat)
		apply_limits(conn, hs);
	chan_accepting(chan, &hs->id);
	return CHAN_OK;
}

/* conn_stands - is nothing known of an end of the connection?  Any process of the peer's host can send a
 * handshake that says that it has ended, or that the peer was restarted, so that proves nothing.  The
 * provider below reports the end, of what is sent over a connection that the peer no longer has at the
 * latest; until then the request is refused, and the peer repeats it.
 */
static bool conn_stands(const struct rxm_conn *conn)
{
	return conn->chan.state == CHAN_READY && !conn->chan.failed && !conn->ended;
}

/* request_decide - accept the request, or say why not. */
static enum chan_reason request_decide(struct rxm_link *link, struct fi_info *info, struct asked *asked)
{
	struct rxm_handshake *hs = &asked->hs;
	struct chan *chan = chan_find(&link->chan, hs->addr, hs->addr_len);
	bool compat = asked->compat.process;
	enum chan_verdict verdict;

	if (!chan)
		return CHAN_BUSY;
	if (!compat && hs->id.epoch == chan->peer_epoch)
		hs->id.serial = rxm_serial(chan->peer_serial, (uint32_t) hs->id.serial);
	if (hs->id.prev)
		hs->id.prev = rxm_serial(link->chan.serial, (uint32_t) hs->id.prev);
	verdict = compat ? chan_decide_published(chan, asked->order, asked->compat.process, &hs->id) :
			   chan_decide(chan, asked->order, &hs->id);
	switch (verdict) {
	case CHAN_SELF:
		return accept_self(rxm_conn_of(chan), info, &hs->id);
	case CHAN_REFUSE:
		return CHAN_SIMULTANEOUS;
	case CHAN_REPLACE:
		if (conn_stands(rxm_conn_of(chan))) {
			rxm_tx_probe(rxm_conn_of(chan));
			return CHAN_NOT_YET;
		}
		chan = chan_replace(chan, hs->addr, hs->addr_len);
		break;
	case CHAN_ACCEPT:
		break;
	}
	return chan ? accept_peer(rxm_conn_of(chan), info, asked) : CHAN_BUSY;
}

/* read_native - the request is our handshake alone.  Both sides compare the same bytes: those of the
 * handshakes, before a wildcard address is settled.
 */
static enum chan_reason read_native(struct rxm_link *link, const struct fi_info *info,
				    const void *data, size_t len, struct asked *asked)
{
	enum chan_reason reason = rxm_handshake_parse(data, len, &asked->hs);

	if (reason)
		return reason;
	asked->order = memcmp(link->addr, asked->hs.addr, link->chan.addr_len);
	return settle_addr(link, info, &asked->hs);
}

/* read_common - the request is in the compatible format; our handshake is behind it if the peer runs
 * this library, in the same version.  That has one byte order; compatible packets have that of their sender,
 * and are not turned.
 */
static enum chan_reason read_common(struct rxm_link *link, const struct fi_info *info,
				    const uint8_t *data, size_t len, struct asked *asked)
{
	enum chan_reason reason = addr_of_port(link, info, asked->compat.port, asked);
	struct rxm_handshake hs;

	if (reason)
		return reason;
	if ((rxm_conf.wire == RXM_WIRE_COMPATIBLE && !link->secured) ||
	    rxm_handshake_parse(data + RXMF_CM_REQUEST, len - RXMF_CM_REQUEST, &hs))
		return link->secured || asked->compat.swapped ? CHAN_MALFORMED :
		       asked->compat.eager_limit <= rxm_conf.buf_size ? CHAN_OK : CHAN_KIND_BAD;
	hs.addr_len = asked->hs.addr_len;
	memcpy(hs.addr, asked->hs.addr, hs.addr_len);
	asked->hs = hs;
	asked->compat.process = 0;
	return CHAN_OK;
}

static void log_refusal(struct rxm_link *link, const struct fi_info *info, const struct asked *asked,
			enum chan_reason reason)
{
	char text[CHAN_TEXT_MAX] = "an unknown address";

	if (info->dest_addr)
		chan_text(&link->chan, info->dest_addr, info->dest_addrlen, text);
	if (reason == CHAN_VERSION_BAD)
		log_version(link, text, asked->hs.version);
	else
		CHAN_WARN_SPARSE(&link->chan, "refused a connection from %s: %s\n", text,
				 reason == CHAN_ADDR_BAD ? "it claims the address of another host" :
				 reason == CHAN_KIND_BAD ? "its FI_OFI_RXM_BUFFER_SIZE is longer than "
				 "ours: set the same on both sides" : link->secured ?
				 "it speaks the compatible format, which a key or FI_SECURITY excludes" :
				 asked->compat.swapped ?
				 "it is built for processors of the other byte order" :
				 rxm_conf.wire == RXM_WIRE_NATIVE ? "its handshake is malformed, or in "
				 "the compatible format, which FI_OFI_RXM_WIRE excludes" :
				 "its handshake is malformed");
}

/* read_request - decode and check the private data; logs why the peer is refused. */
static enum chan_reason read_request(struct rxm_link *link, const struct fi_info *info,
				     const void *data, size_t len, struct asked *asked)
{
	bool common = rxm_conf.wire != RXM_WIRE_NATIVE &&
		      !rxmf_cm_get_request(data, len, &asked->compat);
	enum chan_reason reason = common ? read_common(link, info, data, len, asked) :
					   read_native(link, info, data, len, asked);

	if (reason)
		log_refusal(link, info, asked, reason);
	return reason;
}

void rxm_on_connreq(struct rxm_link *link, struct fi_info *info, const void *data, size_t len)
{
	enum chan_reason reason = CHAN_BUSY;
	struct asked asked = { .order = 0 };

	if (!link->chan.closing)
		reason = read_request(link, info, data, len, &asked);
	if (!reason)
		reason = request_decide(link, info, &asked);
	if (reason)
		request_refuse(link, info, &asked, reason);
}
