/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The listener of an RDM endpoint or of a passive one.  The number of half-open connections is
 * bounded, in proportion to the descriptors of the process (half_open_max()).  Where another peer
 * needs a place or a descriptor, the oldest one that has sent nothing for SILENT_NS is closed, or
 * one that stays half-open for HALF_OPEN_NS.  The last descriptors are the program's.  Where connections
 * are protected, an address whose connections without a proof of the key are more than its share loses the
 * oldest of them, one that is silent if there is any, if that has had its time, or half of all places are taken.
 *
 * A connection that was refused lives on until its peer has read why, while there is room among the half-open ones:
 * peers that keep theirs open take no descriptor from others.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "info/params.h"
#include "net/inherit.h"
#include "net/name.h"
#include "link.h"

#define HALF_OPEN_MAX 1024
#define HALF_OPEN_MIN 4
#define SOURCE_SHARE 4			/* a quarter of them are of one address, at most */
#define ACCEPT_MAX 64			/* per event */
#define HALF_OPEN_NS (1 * CLOCK_NS_PER_S)
#define SILENT_NS (100 * CLOCK_NS_PER_MS)
#define FD_WAIT_NS (500 * CLOCK_NS_PER_MS)	/* time for idle connections to be parked */

static const struct tcp_wireup *wireup_of(const struct tcp_link *link)
{
	return link->kind == TCP_WIRE_RDM ? &tcp_rdm_wireup : &tcp_pep_wireup;
}

/* half_open_max - a quarter of the descriptors of the process, HALF_OPEN_MAX at most. */
static unsigned half_open_max(void)
{
	rlim_t most = chan_park_fd_limit() / 4;

	return most > HALF_OPEN_MAX ? HALF_OPEN_MAX : most < HALF_OPEN_MIN ? HALF_OPEN_MIN : (unsigned) most;
}

/* say_busy - tell the peer at @fd that there is no place for its connection. */
static void say_busy(struct tcp_link *link, int fd)
{
	struct tcp_hello hello = {
		.type = TCP_WIRE_REFUSE,
		.kind = link->kind,
		.reason = CHAN_BUSY,
		.features = link->kind == TCP_WIRE_RDM ? TCP_WIRE_CAN_PARK : 0,
	};
	uint8_t buf[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX];

	if (link->sec)
		return;		/* it would be in the clear */
	while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	tcp_hello_pack(&hello, buf);
	send(fd, buf, TCP_WIRE_HELLO_SIZE, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* refuse_fd - there is no descriptor for the connection @fd, which is closed. */
static void refuse_fd(struct tcp_link *link, int fd)
{
	TCP_WARN_SPARSE(link->conf, "cannot accept a connection: %s%s%s\n", TCP_WHY(FI_EMFILE));
	say_busy(link, fd);
	close(fd);
}

/* is_silent - has the peer sent nothing at all? */
static bool is_silent(const struct tcp_conn *conn)
{
	char byte;

	if (conn->sec && (tcp_sec_is_speaking(conn) || tcp_sec_is_open(conn)))
		return false;
	return !conn->handshake->have && recv(conn->src.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

/* evict_half_open - close the oldest half-open connection that is @age_ns old.
 * @silent: only one that has sent nothing
 * @young_p: [out] on false: one is not old enough
 */
static bool evict_half_open(struct tcp_link *link, bool silent, uint64_t age_ns, bool *young_p)
{
	uint64_t now = chan_poller_now(&link->poller->base);
	struct tcp_conn *conn;

	*young_p = false;
	list_for_each_entry(conn, &link->conns, node) {	/* in order of age */
		if (conn->state != TCP_CONN_HALF_OPEN || (silent && !is_silent(conn)))
			continue;
		*young_p = now - conn->since_ns < age_ns;
		if (*young_p)
			return false;
		say_busy(link, conn->src.fd);
		tcp_conn_close(conn);
		return true;
	}
	return false;
}

/* half_open_room - among the half-open connections. */
static bool half_open_room(struct tcp_link *link)
{
	bool young;

	return link->listener.half_open < half_open_max() || evict_half_open(link, true, SILENT_NS, &young) ||
	       evict_half_open(link, false, HALF_OPEN_NS, &young);
}

/* drop_refused - the oldest of those that were refused has had its time.  False: there is none. */
static bool drop_refused(struct tcp_link *link)
{
	struct list *refused = &link->listener.refused;

	if (list_empty(refused))
		return false;
	tcp_conn_close(container_of(refused->next, struct tcp_conn, state_node));
	return true;
}

/* bound_refused - half-open ones count, since they may be refused all at once. */
static void bound_refused(struct tcp_link *link)
{
	struct tcp_listener *listener = &link->listener;

	if (listener->refused_cnt && listener->refused_cnt + listener->half_open >= half_open_max())
		drop_refused(link);
}

/* is_unproven - is it a half-open connection from @from that has not proven the key? */
static bool is_unproven(const struct tcp_conn *conn, const struct sockaddr *from)
{
	return conn->state == TCP_CONN_HALF_OPEN && net_addr_same_host(&conn->peer.sa, from) &&
	       !(conn->sec && tcp_sec_is_open(conn));
}

/* bound_source - one more from @from, which may have its share of the half-open connections.  Members at one address
 * that connect at once may have more, while there is room and they are young.
 */
static void bound_source(struct tcp_link *link, const struct sockaddr *from)
{
	unsigned most = half_open_max() / SOURCE_SHARE, cnt = 0;
	struct tcp_conn *conn, *oldest = NULL, *silent = NULL;
	uint64_t age_ns;

	if (!link->sec || link->listener.half_open < most)
		return;
	list_for_each_entry(conn, &link->conns, node) {	/* in order of age */
		if (!is_unproven(conn, from))
			continue;
		if (!oldest)
			oldest = conn;
		if (!silent && is_silent(conn))
			silent = conn;
		cnt++;
	}
	if (cnt < most || !oldest)
		return;
	age_ns = chan_poller_now(&link->poller->base) - (silent ? silent : oldest)->since_ns;
	if (link->listener.half_open >= half_open_max() / 2 || age_ns >= (silent ? SILENT_NS : HALF_OPEN_NS))
		tcp_conn_close(silent ? silent : oldest);
}

/* refuse_without_fd - no descriptor is left: accept with the spare one and refuse, or the
 * connection would stay in the backlog and the listener readable for ever.
 */
static void refuse_without_fd(struct tcp_link *link, struct chan_listener *at)
{
	struct tcp_poller *poller = link->poller;
	int fd;

	if (poller->spare_fd < 0) {
		chan_listener_pause(at);
		return;
	}
	close(poller->spare_fd);
	fd = accept4(at->src.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		refuse_fd(link, fd);
	poller->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* fd_expected - no descriptor is left, but idle connections are being parked: peers may wait in
 * the backlog, for FD_WAIT_NS.
 */
static bool fd_expected(struct tcp_link *link)
{
	struct tcp_listener *listener = &link->listener;
	uint64_t now = clock_ns();

	if (!chan_park_must(&link->poller->base))
		return false;
	if (!listener->no_fd_ns)
		listener->no_fd_ns = now;
	return now - listener->no_fd_ns < FD_WAIT_NS;
}

/* without_fd - the process has no descriptor for the connection that waits.  Returns whether to
 * accept again.
 */
static bool without_fd(struct tcp_link *link, struct chan_listener *at)
{
	bool young;

	if (drop_refused(link) || evict_half_open(link, true, SILENT_NS, &young))
		return true;
	if (young || fd_expected(link)) {
		chan_listener_pause(at);
		return false;
	}
	refuse_without_fd(link, at);
	return at->src.events != 0;
}

/* leave_for_program - @fd is one of the last descriptors: close one that was refused, or is silent, instead, or
 * refuse this one.  Returns false if @fd has been closed.
 */
static bool leave_for_program(struct tcp_link *link, int fd)
{
	bool young;

	if (!chan_park_last(fd) || drop_refused(link) || evict_half_open(link, true, SILENT_NS, &young))
		return true;
	chan_park_must(&link->poller->base);
	refuse_fd(link, fd);
	return false;
}

static bool accept_one(struct tcp_link *link, struct chan_listener *at)
{
	union net_sa from = { 0 };
	socklen_t len = sizeof(from);
	int fd;

	bound_refused(link);
	if (!half_open_room(link)) {
		chan_listener_pause(at);
		return false;
	}
	fd = accept4(at->src.fd, &from.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		if (!leave_for_program(link, fd))
			return true;
		net_inherit_not(fd);
		link->listener.no_fd_ns = 0;
		bound_source(link, &from.sa);
		tcp_conn_accept(link, wireup_of(link), fd, &from.sa);
		return true;
	}
	switch (errno) {
	case EMFILE:
	case ENFILE:
		return without_fd(link, at);
	case ENOBUFS:
	case ENOMEM:
		chan_listener_pause(at);
		return false;
	case EAGAIN:
		return false;
	default:
		return true;		/* that peer has closed already */
	}
}

void tcp_listener_accept(struct tcp_link *link, struct chan_listener *at)
{
	int i;

	for (i = 0; i < ACCEPT_MAX && accept_one(link, at); i++)
		;
}

static void on_connections(struct chan_src *src, uint32_t events)
{
	struct tcp_link *link = container_of(src, struct tcp_link, listener.base.src);

	tcp_listener_accept(link, &link->listener.base);
}

static int log_failure(const struct tcp_link *link, const char *what, int ret)
{
	char text[NET_ADDR_TEXT_MAX], ports[128];

	TCP_WARN(link->conf, "cannot %s %s: %s%s%s%s\n", what,
		 net_addr_text(&link->addr.sa, text), TCP_WHY(-ret),
		 info_params_ports_advice(link->conf->prov, -ret, ports, sizeof(ports)));
	return ret;
}

int tcp_listener_bind(struct tcp_link *link)
{
	int fd, ret;

	ret = net_sock_open(link->addr.sa.sa_family, SOCK_STREAM, &fd);
	if (ret)
		return log_failure(link, "make a socket to listen at", ret);
	ret = net_sock_reuse(fd);
	if (!ret)
		ret = net_sock_bind(fd, &link->addr.sa, &link->conf->ports, &link->addr);
	if (ret) {
		close(fd);
		return log_failure(link, "bind to", ret);
	}
	link->listener.base.src.fd = fd;
	/* peers know the endpoint by one address, whichever of the host's they connect to */
	if (net_name(&link->addr.sa, link->iface[0] ? link->iface : NULL, &link->name))
		link->name = link->addr;
	return 0;
}

int tcp_listener_start(struct tcp_link *link, int backlog)
{
	struct chan_listener *listener = &link->listener.base;
	int ret = net_sock_listen(listener->src.fd, backlog);

	if (!ret)
		ret = chan_listener_start(listener, &link->poller->base, on_connections);
	return ret ? log_failure(link, "listen at", ret) : 0;
}

void tcp_listener_close(struct tcp_link *link)
{
	struct chan_listener *listener = &link->listener.base;

	if (listener->src.fd < 0)
		return;
	chan_listener_stop(listener);
	close(listener->src.fd);
	listener->src.fd = -1;
}
