/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Greeting.  Both sides read exactly the greeting and no byte more, and each is
 * shorter than any socket buffer.
 *
 * TCP has conn_timeout_ms to connect, and a caller as long to say HELLO.  The answer
 * of an RDM endpoint may take longer: the system there accepts the connection, but
 * only its program answers, which may compute for minutes without making progress,
 * or be stopped.  Whether that host still lives is for the connection to find out.
 * A connected endpoint's program waits for fi_connect() itself, within the time.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"

#define LEAVE_NS (1 * CLOCK_NS_PER_S)	/* a refused caller has this long to hang up */
#define PATIENT_NS (1 * CLOCK_NS_PER_S)	/* after that a call is no longer one of the few under way */

static int send_greeting(struct tcp_conn *conn)
{
	struct tcp_greet *greet = conn->greet;
	ssize_t ret = send(conn->src.fd, greet->out, greet->out_len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (ret < 0)
		return -errno;
	tcp_guard_sent(conn);
	return (size_t) ret == greet->out_len ? 0 : -FI_ENOBUFS;
}

bool tcp_conn_ended(const struct tcp_conn *conn)
{
	struct pollfd pfd = { .fd = conn->src.fd, .events = POLLRDHUP };

	return poll(&pfd, 1, 0) > 0;
}

static void write_greeting(struct tcp_conn *conn, struct tcp_hello *hello, const void *data)
{
	struct tcp_link *link = conn->link;

	hello->kind = link->kind;
	if (link->kind == TCP_WIRE_RDM) {
		hello->features |= TCP_WIRE_CAN_PARK;
		hello->lanes = (uint8_t) link->conf->lanes;
	}
	hello->epoch = link->base.epoch;
	hello->max_payload = TCP_PAYLOAD_MAX;
	hello->addr = link->name;
	conn->max_payload = TCP_PAYLOAD_MAX;
	tcp_hello_pack(hello, conn->greet->out);
	if (hello->data_len)
		memcpy(conn->greet->out + TCP_WIRE_HELLO_SIZE, data, hello->data_len);
	conn->greet->out_len = TCP_WIRE_HELLO_SIZE + hello->data_len;
}

static uint64_t time_to_connect(const struct tcp_conn *conn)
{
	return (uint64_t) conn->link->conf->conn_timeout_ms * CLOCK_NS_PER_MS;
}

static void log_lost_greeting(struct tcp_conn *conn, const char *what)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "%s %s\n", net_addr_text(&conn->peer.sa, text), what);
}

static void log_version(struct tcp_conn *conn, struct chan_version theirs, const char *what)
{
	struct chan_version ours = chan_version_ours(TCP_WIRE_VERSION);
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "%s %sspeaks version %u.%u of this library's tcp protocol, "
			"ours is %u.%u: use the same libfabric release on both sides\n",
			net_addr_text(&conn->peer.sa, text), what, theirs.link, theirs.engine,
			ours.link, ours.engine);
}

/* ---- calling ------------------------------------------------------------------- */

/* bind_source - call from the endpoint's own address: it is how the other side
 * knows that the address we give is ours.
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
		net_addr_set_port(&from.sa, 0);	/* that one is the listener's */
	return net_sock_bind(fd, &from.sa, NULL, NULL);
}

static int set_options(const struct tcp_link *link, int fd)
{
	struct net_keepalive keepalive = link->conf->keepalive;
	int ret = net_sock_nodelay(fd, link->conf->nodelay);

	keepalive.unacked_ms = 0;	/* that limit is ours to keep: guard.c */
	if (!ret && link->conf->keepalive_on)
		ret = net_sock_keepalive(fd, &keepalive);
	return ret;
}

/* ease_local - a connection within one host meets no congestion.  What the system
 * uses against it elsewhere may pace every packet, or model the path on every
 * acknowledgement; the simplest one does least.
 */
static void ease_local(int fd, const union net_sa *local, const union net_sa *peer)
{
	if (net_addr_same_host(&local->sa, &peer->sa))
		net_sock_congestion(fd, "reno");	/* or, if that is forbidden, as it is */
}

int tcp_conn_dial(struct tcp_link *link, const struct tcp_wireup *wireup,
		  struct tcp_chan *chan, const struct sockaddr *addr,
		  const struct tcp_hello *hello, const void *data, struct tcp_conn **conn_p)
{
	struct tcp_hello say = *hello;
	struct tcp_conn *conn;
	int fd, ret;

	ret = net_sock_open(addr->sa_family, SOCK_STREAM, &fd);
	if (ret)
		return ret;
	if (link->kind == TCP_WIRE_RDM && tcp_park_reserved(fd) &&
	    (hello->lane || tcp_park_want(link->poller, 1)))
		ret = -FI_EMFILE;	/* what is left is for callers, until there is more */
	if (!ret)
		ret = set_options(link, fd);
	if (!ret)
		ret = bind_source(link, fd);
	if (!ret && connect(fd, addr, (socklen_t) net_addr_len(addr)) && errno != EINPROGRESS)
		ret = -errno;
	if (!ret)
		ret = tcp_conn_new(link, wireup, fd, TCP_CONN_DIALING, &conn);
	if (ret) {
		close(fd);
		return ret;
	}
	net_addr_copy(addr, net_addr_len(addr), &conn->peer);
	conn->chan = chan;
	conn->serial = say.serial;
	write_greeting(conn, &say, data);
	ret = tcp_src_want(conn->poller, &conn->src, EPOLLOUT);
	if (ret) {
		tcp_conn_close(conn);
		return ret;
	}
	chan_poller_timer(&conn->poller->base, &conn->timer, conn->since_ns + time_to_connect(conn));
	*conn_p = conn;
	return 0;
}

/* is_echo - when nobody listens at a port of the ephemeral range, the system may
 * pick that very port for the caller, and TCP then connects the socket to itself.
 */
static bool is_echo(const struct tcp_conn *conn, const union net_sa *local)
{
	return !net_addr_cmp(&local->sa, &conn->peer.sa);
}

/* await_answer - a connected endpoint's call has what is left of its time, or the
 * whole of it when this process comes to look only now.
 */
static void await_answer(struct tcp_conn *conn)
{
	uint64_t now = clock_ns(), due = conn->since_ns + time_to_connect(conn);

	if (conn->wireup->kind == TCP_WIRE_RDM)
		due = now + (PATIENT_NS < time_to_connect(conn) ? PATIENT_NS : time_to_connect(conn));
	else if (due <= now)
		due = now + time_to_connect(conn);
	chan_poller_timer(&conn->poller->base, &conn->timer, due);
}

/* wait_on - whoever is there has not answered for long.  Its connection lives, so it
 * will; meanwhile others may be called.
 */
static void wait_on(struct tcp_conn *conn)
{
	if (!conn->patient) {
		conn->patient = true;
		if (conn->chan)
			chan_patient(&conn->chan->base);
		chan_poller_timer(&conn->poller->base, &conn->timer, clock_ns() + time_to_connect(conn));
	} else {
		log_lost_greeting(conn, "has taken our connection but does not answer: its "
				  "program makes no progress (it computes, or is stopped); "
				  "waiting for it");
	}
}

/* on_connected - the TCP connection stands: say HELLO. */
static void on_connected(struct tcp_conn *conn)
{
	int ret = net_sock_error(conn->src.fd);
	union net_sa local;

	if (!ret)
		ret = net_sock_name(conn->src.fd, &local);
	if (!ret && is_echo(conn, &local))
		ret = -FI_ECONNREFUSED;
	if (!ret) {
		ease_local(conn->src.fd, &local, &conn->peer);
		tcp_conn_set_state(conn, TCP_CONN_GREETING);
		if (conn->chan)
			conn->chan->base.asked = true;
		await_answer(conn);
		ret = send_greeting(conn);
	}
	if (!ret)
		ret = tcp_src_want(conn->poller, &conn->src, EPOLLIN);
	if (ret)
		tcp_conn_fail(conn, -ret, false);
}

static void on_welcome(struct tcp_conn *conn, const struct tcp_hello *hello)
{
	struct tcp_greet *greet = conn->greet;

	conn->greet = NULL;		/* its data is still being read */
	timer_off(&conn->poller->base.timers, &conn->timer);
	tcp_conn_set_state(conn, TCP_CONN_READY);
	conn->wireup->welcome(conn, hello, greet->in + TCP_WIRE_HELLO_SIZE);
	free(greet);
}

static void on_answer(struct tcp_conn *conn, enum tcp_hello_verdict verdict,
		      const struct tcp_hello *hello)
{
	const void *data = conn->greet->in + TCP_WIRE_HELLO_SIZE;

	if (verdict == TCP_HELLO_OK && hello->type == TCP_WIRE_WELCOME &&
	    hello->kind == conn->wireup->kind && hello->serial == conn->serial) {
		on_welcome(conn, hello);
	} else if (verdict == TCP_HELLO_OK && hello->type == TCP_WIRE_REFUSE) {
		conn->wireup->refused(conn, hello, data);
	} else if (verdict == TCP_HELLO_VERSION) {
		log_version(conn, hello->version, "");
		tcp_conn_fail(conn, FI_EPROTO, false);
	} else {
		log_lost_greeting(conn, "did not answer as a libfabric tcp endpoint does: is it "
				  "the right address?");
		tcp_conn_fail(conn, FI_EPROTO, false);
	}
}

/* ---- being called --------------------------------------------------------------- */

int tcp_conn_answer(struct tcp_link *link, const struct tcp_wireup *wireup, int fd,
		    const struct sockaddr *from)
{
	struct tcp_conn *conn;
	union net_sa local;
	int ret;

	ret = set_options(link, fd);
	if (!ret)
		ret = net_sock_name(fd, &local);
	if (!ret)
		ret = tcp_conn_new(link, wireup, fd, TCP_CONN_ASKED, &conn);
	if (ret) {
		close(fd);
		return ret;
	}
	net_addr_copy(from, net_addr_len(from), &conn->peer);
	ease_local(fd, &local, &conn->peer);
	ret = tcp_src_want(conn->poller, &conn->src, EPOLLIN);
	if (ret) {
		tcp_conn_close(conn);
		return ret;
	}
	chan_poller_timer(&conn->poller->base, &conn->timer, conn->since_ns + time_to_connect(conn));
	return 0;
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

	write_greeting(conn, &hello, data);
	ret = send_greeting(conn);
	if (ret)
		return ret;
	conn->serial = serial;
	timer_off(&conn->poller->base.timers, &conn->timer);
	tcp_conn_set_state(conn, TCP_CONN_READY);
	return 0;
}

void tcp_conn_leave(struct tcp_conn *conn)
{
	tcp_conn_set_state(conn, TCP_CONN_LEAVING);
	conn->chan = NULL;
	shutdown(conn->src.fd, SHUT_WR);
	tcp_src_want(conn->poller, &conn->src, EPOLLIN);
	chan_poller_timer(&conn->poller->base, &conn->timer, clock_ns() + LEAVE_NS);
}

void tcp_conn_refuse(struct tcp_conn *conn, uint32_t reason, const void *data, size_t len)
{
	struct tcp_hello hello = { .type = TCP_WIRE_REFUSE, .reason = reason };

	if (!data) {
		data = chan_reason_text(reason);
		len = strlen(data);
	}
	hello.data_len = (uint16_t) (len < TCP_WIRE_DATA_MAX ? len : TCP_WIRE_DATA_MAX);
	write_greeting(conn, &hello, data);
	send_greeting(conn);
	tcp_conn_leave(conn);
}

/* on_stranger - whoever it is, tell it and tell the log, once. */
static void on_stranger(struct tcp_conn *conn)
{
	const struct tcp_greet *greet = conn->greet;
	char text[NET_ADDR_TEXT_MAX];
	const char *rebuff;
	size_t len;

	TCP_WARN_SPARSE(conn->link->conf,
			"refused a connection from %s: it is %s, not a libfabric tcp endpoint\n",
			net_addr_text(&conn->peer.sa, text),
			tcp_hello_stranger(greet->in, greet->have));
	rebuff = tcp_hello_rebuff(greet->in, greet->have, &len);
	if (!rebuff) {
		tcp_conn_refuse(conn, CHAN_MALFORMED, NULL, 0);
		return;
	}
	send(conn->src.fd, rebuff, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	tcp_conn_leave(conn);
}

static void on_call(struct tcp_conn *conn, enum tcp_hello_verdict verdict,
		    const struct tcp_hello *hello)
{
	if (verdict == TCP_HELLO_STRANGER) {
		on_stranger(conn);
	} else if (verdict == TCP_HELLO_VERSION) {
		log_version(conn, hello->version, "was refused: it ");
		tcp_conn_refuse(conn, CHAN_VERSION_BAD, NULL, 0);
	} else if (verdict == TCP_HELLO_BAD || hello->type != TCP_WIRE_HELLO) {
		log_lost_greeting(conn, "was refused: its greeting has impossible fields");
		tcp_conn_refuse(conn, CHAN_MALFORMED, NULL, 0);
	} else if (hello->kind != conn->wireup->kind) {
		log_lost_greeting(conn, "was refused: its endpoint is of another type than ours");
		tcp_conn_refuse(conn, CHAN_KIND_BAD, NULL, 0);
	} else {
		conn->wireup->hello(conn, hello, conn->greet->in + TCP_WIRE_HELLO_SIZE);
	}
}

/* ---- both ------------------------------------------------------------------------- */

static void read_greeting(struct tcp_conn *conn)
{
	struct tcp_greet *greet = conn->greet;
	enum tcp_hello_verdict verdict;
	struct tcp_hello hello = { 0 };
	ssize_t ret;

	do {
		ret = recv(conn->src.fd, greet->in + greet->have,
			   tcp_hello_need(greet->in, greet->have) - greet->have, MSG_DONTWAIT);
		if (ret < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (ret <= 0) {
			tcp_conn_fail(conn, ret ? errno : FI_ECONNRESET, false);
			return;
		}
		greet->have += (size_t) ret;
		verdict = tcp_hello_parse(greet->in, greet->have, &hello);
	} while (verdict == TCP_HELLO_MORE);
	if (conn->ours)
		on_answer(conn, verdict, &hello);
	else
		on_call(conn, verdict, &hello);
}

/* wait_hangup - throw away what comes until the other side has ended its stream. */
static void wait_hangup(struct tcp_conn *conn)
{
	uint8_t bin[4096];
	ssize_t ret = recv(conn->src.fd, bin, sizeof(bin), MSG_DONTWAIT);

	if (!ret || (ret < 0 && errno != EAGAIN && errno != EINTR))
		tcp_conn_close(conn);
}

/* look_again - what happened while this process did not poll happened in time. */
static void look_again(struct tcp_conn *conn)
{
	struct pollfd pfd = {
		.fd = conn->src.fd,
		.events = conn->state == TCP_CONN_DIALING ? POLLOUT : POLLIN,
	};

	if (poll(&pfd, 1, 0) > 0)
		tcp_conn_greet_event(conn, (uint32_t) pfd.revents);
}

void tcp_conn_greet_late(struct tcp_conn *conn)
{
	enum tcp_conn_state state = conn->state;

	look_again(conn);
	if (conn->state != state)
		return;
	if (state == TCP_CONN_GREETING && conn->wireup->kind == TCP_WIRE_RDM)
		wait_on(conn);
	else
		tcp_conn_fail(conn, FI_ETIMEDOUT, false);
}

void tcp_conn_greet_event(struct tcp_conn *conn, uint32_t events)
{
	switch (conn->state) {
	case TCP_CONN_DIALING:
		on_connected(conn);
		break;
	case TCP_CONN_GREETING:
	case TCP_CONN_ASKED:
		read_greeting(conn);
		break;
	case TCP_CONN_LEAVING:
		wait_hangup(conn);
		break;
	default:
		break;
	}
}
