/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connected endpoints: fi_connect, fi_listen, fi_accept, fi_reject, fi_shutdown.
 *
 * A connection in REQUESTED belongs to no link and no poller: the program may accept or reject
 * it at any time, with an endpoint of any progress group, and after the passive endpoint has
 * closed.
 */
#include <rdma/fi_errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "obj/cm.h"
#include "link.h"

/* ---- the connecting endpoint -------------------------------------------------------- */

int tcp_cm_connect(struct eng_link *base, struct eng_peer *peer, const void *addr,
		   size_t addrlen, const void *param, size_t paramlen)
{
	struct tcp_link *link = container_of(base, struct tcp_link, base.base);
	struct tcp_chan *chan = tcp_chan_of(chan_of(&link->base, peer));
	struct tcp_hello hello = { .type = TCP_WIRE_HELLO, .data_len = (uint16_t) paramlen };
	union net_sa to;
	int ret;

	if (!chan)
		return -FI_ENOMEM;
	if (paramlen > TCP_WIRE_DATA_MAX)
		return -FI_EINVAL;
	ret = net_addr_copy(addr, addrlen, &to);
	if (ret)
		return ret;
	hello.serial = ++link->base.serial;
	ret = tcp_conn_connect(link, &tcp_msg_wireup, chan, NULL, &to.sa, &hello, param, &chan->attempt);
	if (!ret)
		chan_set_state(&chan->base, CHAN_CONNECTING);
	return ret;
}

static void cm_on_welcome(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_chan *chan = conn->chan;

	chan->attempt = NULL;
	conn->src.event = tcp_event;
	tcp_stream_begin(conn);
	tcp_stream_up(conn);
	tcp_route_said(chan, hello);
	chan_up(&chan->base, conn, &(struct chan_id) { .epoch = hello->epoch }, true);
	eng_on_connected(&conn->link->base.base, chan_peer(&chan->base), data, hello->data_len);
	if (conn->state == TCP_CONN_READY)
		tcp_tx_pump(conn);
}

/* Private data of a fi_reject() is passed up; the library's text is for the log only. */
static void cm_on_refused(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_chan *chan = conn->chan;
	char text[CHAN_TEXT_MAX];

	CHAN_INFO(&conn->link->base, "%s refused our connection: %s\n",
		  chan_peer_text(&chan->base, text), chan_reason_text(hello->reason));
	chan->attempt = NULL;
	if (hello->reason == CHAN_REJECTED)
		chan_rejected(&chan->base, data, hello->data_len);
	else
		chan_connect_failed(&chan->base, chan_reason_errno(hello->reason), true);
	tcp_conn_close(conn);
}

const struct tcp_wireup tcp_msg_wireup = {
	.welcome = cm_on_welcome,
	.refused = cm_on_refused,
	.lost = tcp_connect_lost,
};

/* ---- the passive endpoint -------------------------------------------------------------------- */

static void cm_on_hello(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_link *link = conn->link;
	union net_sa dest;

	if (net_sock_name(conn->src.fd, &dest))
		dest = link->name;
	conn->serial = hello->serial;
	tcp_conn_set_state(conn, TCP_CONN_REQUESTED);
	tcp_conn_detach(conn);
	eng_on_connreq(link->base.base.pep, conn, &dest, net_addr_len(&dest.sa), &conn->peer,
		       net_addr_len(&conn->peer.sa), data, hello->data_len);
}

const struct tcp_wireup tcp_pep_wireup = {
	.hello = cm_on_hello,
	.lost = tcp_conn_close,
};

/* ---- accept and reject ------------------------------------------------------------------- */

/* cm_accepted - the poll after fi_accept(): report FI_CONNECTED, and wait for input. */
static void cm_accepted(struct timer *timer, uint64_t now)
{
	struct tcp_conn *conn = container_of(timer, struct tcp_conn, timer);
	int ret;

	eng_on_connected(&conn->link->base.base, chan_peer(&conn->chan->base), NULL, 0);
	if (conn->state != TCP_CONN_READY)
		return;
	ret = tcp_conn_watch(conn);
	if (ret)
		tcp_conn_fail(conn, -ret, false);
	else
		tcp_tx_pump(conn);
}

/* drop_request - by any thread, and the listener may be gone. */
static void drop_request(struct tcp_conn *conn)
{
	close(conn->src.fd);
	tcp_conn_free(conn);
}

static int accept_request(struct eng_link *base, struct eng_peer *peer, void *req, const void *param,
			  size_t paramlen)
{
	struct tcp_link *link = container_of(base, struct tcp_link, base.base);
	struct tcp_chan *chan = tcp_chan_of(chan_of(&link->base, peer));
	struct tcp_conn *conn = req;
	int ret;

	if (!chan || !tcp_conn_data_fits(req, paramlen)) {
		drop_request(conn);
		return chan ? -FI_EINVAL : -FI_ENOMEM;
	}
	if (!tcp_sec_may_take(link, conn)) {
		drop_request(conn);
		return -FI_EACCES;
	}
	ret = tcp_conn_attach(conn, link);
	if (ret)
		return ret;
	conn->wireup = &tcp_msg_wireup;
	ret = tcp_conn_peer_closed(conn) ? -FI_ECONNABORTED :
	      tcp_conn_welcome(conn, conn->serial, 0, param, paramlen);
	if (ret) {
		tcp_conn_close(conn);
		return ret;
	}
	conn->chan = chan;
	conn->src.event = tcp_event;
	tcp_stream_begin(conn);
	tcp_stream_up(conn);
	chan_up(&chan->base, conn, &(struct chan_id) { .epoch = 0 }, false);
	conn->timer.fire = cm_accepted;
	chan_poller_timer(&conn->poller->base, &conn->timer, 0);
	return 0;
}

static int reject_request(struct eng_link *base, void *req, const void *param, size_t paramlen)
{
	struct tcp_conn *conn = req;
	bool fits = tcp_conn_data_fits(conn, paramlen);
	int ret;

	if (!base || !fits) {
		drop_request(conn);
		return fits ? 0 : -FI_EINVAL;
	}
	ret = tcp_conn_attach(conn, container_of(base, struct tcp_link, base.base));
	if (!ret)
		tcp_conn_refuse(conn, CHAN_REJECTED, param ? param : "", paramlen);
	return ret;
}

int tcp_cm_answer(struct eng_link *base, struct eng_peer *peer, void *req, const void *param,
		  size_t paramlen)
{
	return peer ? accept_request(base, peer, req, param, paramlen) :
		      reject_request(base, req, param, paramlen);
}

/* ---- an established connection --------------------------------------------------------- */

int tcp_cm_shutdown(struct eng_link *base, struct eng_peer *peer)
{
	struct tcp_conn *conn = ((struct chan *) eng_peer_chan(peer))->conn;

	if (!conn || conn->state != TCP_CONN_READY)
		return -FI_ENOTCONN;
	conn->tx.shut = true;
	tcp_tx_flush(conn);
	return 0;
}

int tcp_cm_getpeer(struct eng_peer *peer, void *addr, size_t *len)
{
	struct tcp_conn *conn = ((struct chan *) eng_peer_chan(peer))->conn;

	return conn ? obj_cm_copy_name(&conn->peer, net_addr_len(&conn->peer.sa), addr, len) :
		      -FI_ENOTCONN;
}
