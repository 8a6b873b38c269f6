/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The handshake, from both sides.  Each side reads exactly one handshake packet and no byte
 * of the frames behind it; a packet is shorter than any socket buffer.
 *
 * Timeouts: TCP has conn_timeout_ms to connect, and the connecting peer as long again to send
 * HELLO.  The answer of an RDM endpoint has no timeout: the system there accepts the
 * connection, but the answer comes from the program's progress, and it may compute for
 * minutes or be stopped.  Keepalive finds out whether that host lives.  A MSG endpoint's
 * answer must arrive within conn_timeout_ms: its program waits in fi_connect().
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/host.h"
#include "common.h"
#include "foreign/xnet/cm.h"
#include "link.h"

#define ANSWER_OVERDUE_NS (1 * CLOCK_NS_PER_S)	/* then a connect no longer counts as one in flight */

static int send_handshake(struct tcp_conn *conn)
{
	struct tcp_handshake *handshake = conn->handshake;
	struct iovec iov = { handshake->out, handshake->out_len };
	ssize_t ret;

	ret = conn->sec ? tcp_sec_send(conn, &iov, 1) :
	      send(conn->src.fd, handshake->out, handshake->out_len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (ret < 0)
		return -errno;
	tcp_conn_sent(conn);
	return (size_t) ret == handshake->out_len && !tcp_sec_pending(conn) ? 0 : -FI_ENOBUFS;
}

/* in_length - of the message that is arriving, as far as is known.  Frames may be right behind an
 * answer, and no byte of them is read.
 */
static size_t in_length(const struct tcp_conn *conn)
{
	const struct tcp_handshake *handshake = conn->handshake;

	if (conn->sec)
		return sizeof(handshake->in);
	if (!handshake->have && conn->ours)
		return XNET_CM_SIZE;
	return tcp_common_came(conn) ? xnet_cm_need(handshake->in, handshake->have) :
				       tcp_hello_need(handshake->in, handshake->have);
}

static const void *private_data(const struct tcp_conn *conn)
{
	return conn->handshake->in + (tcp_common_came(conn) ? XNET_CM_SIZE : TCP_WIRE_HELLO_SIZE);
}

bool tcp_conn_data_fits(const struct tcp_conn *conn, size_t len)
{
	char text[NET_ADDR_TEXT_MAX];

	if (!conn->stream || len <= XNET_CM_DATA_MAX)
		return len <= TCP_WIRE_DATA_MAX;
	TCP_WARN(&tcp_conf, "%s has another implementation, which takes %d bytes of private data: "
		 "%zu are too many\n", net_addr_text(&conn->peer.sa, text), XNET_CM_DATA_MAX, len);
	return false;
}

/* ---- handshake packets ------------------------------------------------------------ */

static void write_handshake(struct tcp_conn *conn, struct tcp_hello *hello, const void *data)
{
	struct tcp_link *link = conn->link;

	conn->max_payload = TCP_PAYLOAD_MAX;
	hello->kind = link->kind;
	if (link->kind == TCP_WIRE_RDM) {
		hello->features |= TCP_WIRE_CAN_PARK;
		hello->lanes = (uint8_t) link->conf->lanes;
		if ((link->conf->recover || link->rails) && !link->sec)
			hello->features |= TCP_WIRE_RECOVERS;
		if (link->rails)
			hello->features |= TCP_WIRE_RAILS | TCP_WIRE_WIDE;
	}
	hello->epoch = link->base.epoch;
	hello->max_payload = TCP_PAYLOAD_MAX;
	hello->addr = link->name;
	hello->host = chan_host_mark();
	if (tcp_common_wanted(conn, hello)) {
		tcp_common_write(conn, hello, data);
		return;
	}
	tcp_hello_pack(hello, conn->handshake->out);
	if (hello->data_len)
		memcpy(conn->handshake->out + TCP_WIRE_HELLO_SIZE, data, hello->data_len);
	conn->handshake->out_len = TCP_WIRE_HELLO_SIZE + hello->data_len;
}

static uint64_t connect_timeout_ns(const struct tcp_conn *conn)
{
	return (uint64_t) conn->link->conf->conn_timeout_ms * CLOCK_NS_PER_MS;
}

static void log_handshake(struct tcp_conn *conn, const char *what)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "%s %s\n", net_addr_text(&conn->peer.sa, text), what);
}

static void log_version(struct tcp_conn *conn, struct chan_version theirs, const char *what)
{
	struct chan_version ours = chan_version_ours(TCP_WIRE_VERSION, TCP_WIRE_OLDEST);
	char peer[NET_ADDR_TEXT_MAX], text[CHAN_VERSION_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "%s %s: %s\n", net_addr_text(&conn->peer.sa, peer), what,
			chan_version_text(&ours, &theirs, text));
}

static void handshake_on_event(struct chan_src *src, uint32_t events);
static void on_timeout(struct timer *timer, uint64_t now);

/* start_waiting - wait for the connection, or for HELLO.  On an error @conn is closed. */
static int start_waiting(struct tcp_conn *conn, uint32_t events)
{
	int ret;

	conn->src.event = handshake_on_event;
	conn->timer.fire = on_timeout;
	ret = chan_src_want(&conn->poller->base, &conn->src, events);
	if (ret)
		tcp_conn_close(conn);
	else
		chan_poller_timer(&conn->poller->base, &conn->timer,
				  conn->since_ns + connect_timeout_ns(conn));
	return ret;
}

/* ---- connecting ---------------------------------------------------------------- */

/* bind_source - connect from the endpoint's address: the accepting peer compares it with the
 * address in HELLO.
 */
static int bind_source(struct tcp_link *link, int fd)
{
	union net_sa from = link->name;

	if (!net_addr_len(&from.sa) || net_addr_is_any(&from.sa))
		return 0;
#ifdef IP_BIND_ADDRESS_NO_PORT
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int) { 1 }, sizeof(int));
#endif
	if (link->kind == TCP_WIRE_RDM)
		net_addr_set_port(&from.sa, 0);	/* the port is the listener's */
	return net_sock_bind(fd, &from.sa, NULL, NULL);
}

static int set_options(const struct tcp_link *link, int fd)
{
	struct net_keepalive keepalive = link->conf->keepalive;
	int ret = net_sock_nodelay(fd, link->conf->nodelay);

	keepalive.unacked_ms = 0;	/* unacked.c keeps that limit */
	if (!ret && link->conf->keepalive_on)
		ret = net_sock_keepalive(fd, &keepalive);
	tcp_conn_set_class(link, fd);
	return ret;
}

/* tune_same_host - a connection within one host meets no congestion.  The system's default
 * congestion control may pace every packet or model the path on every acknowledgement; Reno
 * does the least work.
 */
static void tune_same_host(struct tcp_conn *conn, const union net_sa *local)
{
	conn->same_host = net_addr_same_host(&local->sa, &conn->peer.sa);
	if (conn->same_host)
		net_sock_congestion(conn->src.fd, "reno");	/* on an error the default stays */
}

int tcp_conn_connect(struct tcp_link *link, const struct tcp_wireup *wireup,
		  struct tcp_chan *chan, const struct net_rail *from, const struct sockaddr *addr,
		  const struct tcp_hello *hello, const void *data, struct tcp_conn **conn_p)
{
	struct tcp_hello out = *hello;
	struct tcp_conn *conn;
	int fd, ret;

	ret = net_sock_open(addr->sa_family, SOCK_STREAM, &fd);
	if (ret)
		return ret;
	if (link->kind == TCP_WIRE_RDM && chan_park_reserved(fd) &&
	    (hello->lane || chan_park_want(&link->poller->base, 1)))
		ret = -FI_EMFILE;	/* the last descriptors are for connecting peers */
	if (!ret)
		ret = set_options(link, fd);
	if (!ret)
		ret = from ? net_rail_bind(from, fd, NULL, NULL) : bind_source(link, fd);
	if (!ret && connect(fd, addr, (socklen_t) net_addr_len(addr)) && errno != EINPROGRESS)
		ret = -errno;
	if (!ret)
		ret = tcp_conn_new(link, wireup, fd, TCP_CONN_CONNECTING, &conn);
	if (ret) {
		close(fd);
		return ret;
	}
	net_addr_copy(addr, net_addr_len(addr), &conn->peer);
	conn->chan = chan;
	conn->serial = out.serial;
	ret = tcp_sec_new(conn);
	if (ret) {
		tcp_conn_close(conn);
		return ret;
	}
	write_handshake(conn, &out, data);
	ret = start_waiting(conn, POLLOUT);
	if (!ret)
		*conn_p = conn;
	return ret;
}

/* is_self_connect - where no socket listens at a port of the ephemeral range, the system may
 * choose that port as the source port, and TCP then connects the socket to itself.
 */
static bool is_self_connect(const struct tcp_conn *conn, const union net_sa *local)
{
	return !net_addr_cmp(&local->sa, &conn->peer.sa);
}

/* start_answer_timer - the time until the answer is overdue. */
static void start_answer_timer(struct tcp_conn *conn)
{
	uint64_t limit = connect_timeout_ns(conn);

	chan_poller_timer(&conn->poller->base, &conn->timer,
			  chan_poller_now(&conn->poller->base) + (ANSWER_OVERDUE_NS < limit ? ANSWER_OVERDUE_NS : limit));
}

/* on_answer_overdue - a peer has not answered for long: it makes no progress, or a program has not
 * decided about a connection request.  Its connection lives, so it is waited for, as long as the
 * program here is willing to.  It no longer counts as a connect in flight, so that others can be
 * started.
 */
static void on_answer_overdue(struct tcp_conn *conn)
{
	if (!conn->overdue) {
		conn->overdue = true;
		if (conn->chan)
			chan_overdue(&conn->chan->base);
		chan_poller_timer(&conn->poller->base, &conn->timer,
				  chan_poller_now(&conn->poller->base) + connect_timeout_ns(conn));
	} else if (conn->wireup->impatient) {
		tcp_conn_fail(conn, FI_ETIMEDOUT, false);
	} else {
		log_handshake(conn, conn->link->kind == TCP_WIRE_RDM ?
			      "has accepted the connection but does not answer: its "
			      "program makes no progress (it computes, or is stopped); "
			      "waiting for it" :
			      "has the connection request, and its program has neither accepted nor "
			      "rejected it; waiting for it");
	}
}

/* on_connected - the TCP connection is established: send HELLO. */
static void on_connected(struct tcp_conn *conn)
{
	int ret = net_sock_error(conn->src.fd);
	union net_sa local;

	if (!ret)
		ret = net_sock_name(conn->src.fd, &local);
	if (!ret && is_self_connect(conn, &local))
		ret = -FI_ECONNREFUSED;
	if (!ret) {
		tune_same_host(conn, &local);
		tcp_conn_set_state(conn, TCP_CONN_HELLO_SENT);
		if (conn->chan)
			conn->chan->base.asked = true;
		start_answer_timer(conn);
		ret = conn->sec ? tcp_sec_begin(conn) : send_handshake(conn);
	}
	if (!ret)
		ret = chan_src_want(&conn->poller->base, &conn->src, TCP_CONN_IN);
	if (ret)
		tcp_conn_fail(conn, -ret, false);
}

static void handshake_welcome(struct tcp_conn *conn, const struct tcp_hello *hello)
{
	struct tcp_handshake *handshake = conn->handshake;
	const void *data = private_data(conn);

	conn->handshake = NULL;		/* the callback still reads its data */
	timer_off(&conn->poller->base.timers, &conn->timer);
	tcp_conn_set_state(conn, TCP_CONN_READY);
	conn->wireup->welcome(conn, hello, data);
	free(handshake);
}

static void handshake_answer(struct tcp_conn *conn, enum tcp_hello_verdict verdict,
			     const struct tcp_hello *hello)
{
	const void *data = private_data(conn);

	if (verdict == TCP_HELLO_OK && hello->type == TCP_WIRE_WELCOME &&
	    hello->kind == conn->link->kind && hello->serial == conn->serial) {
		handshake_welcome(conn, hello);
	} else if (verdict == TCP_HELLO_OK && hello->type == TCP_WIRE_REFUSE) {
		if (hello->reason == CHAN_ADDR_BAD)
			tcp_sec_log_refusal(conn);
		conn->wireup->refused(conn, hello, data);
	} else if (verdict == TCP_HELLO_VERSION) {
		log_version(conn, hello->version, "refused, or answered in another version");
		tcp_conn_fail(conn, FI_EPROTO, false);
	} else {
		log_handshake(conn, "did not answer as a libfabric tcp endpoint does: is it "
			      "the right address?");
		tcp_conn_fail(conn, FI_EPROTO, false);
	}
}

/* ---- accepting ------------------------------------------------------------------ */

int tcp_conn_accept(struct tcp_link *link, const struct tcp_wireup *wireup, int fd,
		    const struct sockaddr *from)
{
	struct tcp_conn *conn;
	union net_sa local;
	int ret;

	ret = set_options(link, fd);
	if (!ret)
		ret = net_sock_name(fd, &local);
	if (!ret)
		ret = tcp_conn_new(link, wireup, fd, TCP_CONN_HALF_OPEN, &conn);
	if (ret) {
		close(fd);
		return ret;
	}
	net_addr_copy(from, net_addr_len(from), &conn->peer);
	tune_same_host(conn, &local);
	ret = tcp_sec_new(conn);
	if (!ret)
		return start_waiting(conn, TCP_CONN_IN);
	tcp_conn_close(conn);
	return ret;
}

int tcp_conn_welcome(struct tcp_conn *conn, uint64_t serial, uint8_t features, const void *data,
		     size_t len)
{
	struct tcp_hello hello = {
		.type = TCP_WIRE_WELCOME,
		.serial = serial,
		.prev = conn->link->base.serial,
		.features = features,
		.data_len = (uint16_t) len,
	};
	int ret;

	write_handshake(conn, &hello, data);
	ret = send_handshake(conn);
	if (ret)
		return ret;
	conn->serial = serial;
	timer_off(&conn->poller->base.timers, &conn->timer);
	tcp_conn_set_state(conn, TCP_CONN_READY);
	return 0;
}

void tcp_conn_refuse(struct tcp_conn *conn, uint32_t reason, const void *data, size_t len)
{
	struct tcp_hello hello = { .type = TCP_WIRE_REFUSE, .reason = reason };

	if (!data) {
		data = chan_reason_text(reason);
		len = strlen(data);
	}
	hello.data_len = (uint16_t) (len < TCP_WIRE_DATA_MAX ? len : TCP_WIRE_DATA_MAX);
	write_handshake(conn, &hello, data);
	send_handshake(conn);
	if (conn->sec)
		tcp_sec_leave(conn);
	tcp_conn_half_close(conn);
}

/* on_foreign - a program with another protocol: log it, once, and close.  It gets no answer in a format
 * that is not its own, which has made such programs crash.
 */
static void on_foreign(struct tcp_conn *conn)
{
	const struct tcp_handshake *handshake = conn->handshake;
	char text[NET_ADDR_TEXT_MAX];
	const char *answer;
	size_t len;

	TCP_WARN_SPARSE(conn->link->conf,
			"refused a connection from %s: it is %s, not a native libfabric tcp endpoint\n",
			net_addr_text(&conn->peer.sa, text),
			tcp_hello_identify(handshake->in, handshake->have));
	answer = tcp_hello_http_answer(handshake->in, handshake->have, &len);
	if (answer)
		send(conn->src.fd, answer, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	tcp_conn_half_close(conn);
}

static bool is_request(const struct tcp_conn *conn, const struct tcp_hello *hello)
{
	return hello->type == TCP_WIRE_HELLO ||
	       (hello->type == TCP_WIRE_CHECK && conn->link->kind == TCP_WIRE_RDM);
}

static void on_request(struct tcp_conn *conn, enum tcp_hello_verdict verdict,
		    const struct tcp_hello *hello)
{
	if (verdict == TCP_HELLO_FOREIGN) {
		on_foreign(conn);
	} else if (verdict == TCP_HELLO_VERSION) {
		log_version(conn, hello->version, "was refused");
		tcp_conn_refuse(conn, CHAN_VERSION_BAD, NULL, 0);
	} else if (verdict == TCP_HELLO_BAD || !is_request(conn, hello)) {
		log_handshake(conn, "was refused: its handshake has impossible fields");
		tcp_conn_refuse(conn, CHAN_MALFORMED, NULL, 0);
	} else if (hello->kind != conn->link->kind) {
		log_handshake(conn, "was refused: its endpoint is of another type (RDM, MSG) than this one");
		tcp_conn_refuse(conn, CHAN_KIND_BAD, NULL, 0);
	} else if (!tcp_sec_is_claim_true(conn, &hello->addr)) {
		tcp_conn_refuse(conn, CHAN_ADDR_BAD, NULL, 0);
	} else {
		conn->wireup->hello(conn, hello, private_data(conn));
	}
}

/* ---- both ------------------------------------------------------------------------- */

static ssize_t read_some(struct tcp_conn *conn)
{
	struct tcp_handshake *handshake = conn->handshake;
	size_t room = in_length(conn) - handshake->have;

	return conn->sec ? tcp_sec_recv(conn, handshake->in + handshake->have, room) :
	       recv(conn->src.fd, handshake->in + handshake->have, room, MSG_DONTWAIT);
}

static void read_handshake(struct tcp_conn *conn)
{
	struct tcp_handshake *handshake = conn->handshake;
	enum tcp_hello_verdict verdict;
	struct tcp_hello hello = { 0 };
	ssize_t ret;

	do {
		ret = read_some(conn);
		if (ret < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (ret <= 0) {
			tcp_conn_fail(conn, ret ? errno : FI_ECONNRESET, false);
			return;
		}
		handshake->have += (size_t) ret;
		verdict = tcp_common_came(conn) ? tcp_common_parse(conn, &hello) :
			  tcp_hello_parse(handshake->in, handshake->have, &hello);
	} while (verdict == TCP_HELLO_MORE);
	if (conn->ours)
		handshake_answer(conn, verdict, &hello);
	else
		on_request(conn, verdict, &hello);
}

static void on_plain_hello(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	tcp_conn_refuse(conn, CHAN_INSECURE, NULL, 0);
}

/* What a request that is not protected meets: it is read, so that it is refused in its own form. */
static const struct tcp_wireup plain_wireup = {
	.hello = on_plain_hello,
	.lost = tcp_conn_close,
};

static void read_as_plain(struct tcp_conn *conn)
{
	conn->handshake->in[0] = tcp_sec_drop(conn);
	conn->handshake->have = 1;
	conn->wireup = &plain_wireup;
	read_handshake(conn);
}

/* on_shake - input before the peer has proven the key. */
static void on_shake(struct tcp_conn *conn)
{
	int ret;

	if (!tcp_sec_shake(conn)) {
		if (tcp_sec_is_plain(conn))
			read_as_plain(conn);
		return;
	}
	ret = conn->ours ? send_handshake(conn) : 0;
	if (ret)
		tcp_conn_fail(conn, -ret, false);
	else
		read_handshake(conn);
}

static void handshake_on_event(struct chan_src *src, uint32_t events)
{
	struct tcp_conn *conn = container_of(src, struct tcp_conn, src);

	tcp_conn_note_end(conn, events);
	if (conn->state == TCP_CONN_CONNECTING)
		on_connected(conn);
	else if (conn->state != TCP_CONN_HELLO_SENT && conn->state != TCP_CONN_HALF_OPEN)
		return;
	else if (conn->sec && !tcp_sec_is_open(conn))
		on_shake(conn);
	else
		read_handshake(conn);
}

/* check_socket - handle what arrived in time, although this process polls only now. */
static void check_socket(struct tcp_conn *conn)
{
	struct pollfd pfd = {
		.fd = conn->src.fd,
		.events = conn->state == TCP_CONN_CONNECTING ? POLLOUT : POLLIN,
	};

	if (poll(&pfd, 1, 0) > 0)
		handshake_on_event(&conn->src, (uint32_t) pfd.revents);
}

static void on_timeout(struct timer *timer, uint64_t now)
{
	struct tcp_conn *conn = container_of(timer, struct tcp_conn, timer);
	enum tcp_conn_state state = conn->state;

	check_socket(conn);
	if (conn->state != state)
		return;
	if (state == TCP_CONN_HELLO_SENT)
		on_answer_overdue(conn);
	else if (state == TCP_CONN_HALF_OPEN && tcp_sec_is_speaking(conn))
		start_answer_timer(conn);	/* its program may compute; it stays until its place is needed */
	else
		tcp_conn_fail(conn, FI_ETIMEDOUT, false);
}
