/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "echo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define ECHOES 5
#define STREAM_NS (200 * CLOCK_NS_PER_MS)	/* for which a stream sends */
#define STREAM_BYTES 65536	/* that it has in flight at most: the kernel's buffers have room for them */
#define STREAM_PACKET 9000	/* bytes of the longest packet */
#define HEADERS 40		/* of IP at most */

/* An echo request: both versions of ICMP have the same fields, and the kernel fills in the checksum of ICMPv6
 * and of datagram sockets.
 */
struct echo {
	uint8_t type, code;
	uint16_t sum, id, seq;
	uint8_t data[32];
};

static uint16_t echo_checksum(const struct echo *echo)
{
	const uint8_t *at = (const uint8_t *) echo;
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < sizeof(*echo); i += 2)
		sum += (uint32_t) (at[i] << 8 | at[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return htons((uint16_t) ~sum);
}

/* open_socket - one that this user may use: root has raw ones, others those of ping_group_range. */
static int open_socket(const union net_sa *peer, const char *iface)
{
	int family = peer->sa.sa_family, proto = family == AF_INET ? IPPROTO_ICMP : (int) IPPROTO_ICMPV6, err;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, proto);

	if (fd < 0)
		fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, proto);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, iface, (socklen_t) strlen(iface) + 1) ||
	    connect(fd, &peer->sa, (socklen_t) net_addr_len(&peer->sa))) {
		err = errno;
		close(fd);
		return -err;
	}
	return fd;
}

/* is_answer - are these bytes the answer to the @size bytes that begin with @echo?  Raw sockets of IPv4 give the header
 * of IP, too; the id is the kernel's in datagram sockets, so the data is compared.
 */
static bool is_answer(const uint8_t *buf, size_t len, const struct echo *echo, size_t size, int family)
{
	const uint8_t *at = len >= size ? buf + len - size : NULL;

	return at && at[0] == (family == AF_INET ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) &&
	       !memcmp(at + offsetof(struct echo, data), echo->data, sizeof(echo->data));
}

static int await_answer(int fd, const struct echo *echo, int family, uint64_t end_ns)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	uint8_t buf[256];
	ssize_t len;

	for (;;) {
		if (poll(&pfd, 1, clock_ms_left(end_ns, clock_ns())) <= 0)
			return ETIMEDOUT;
		len = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (len < 0 && errno != EAGAIN && errno != EINTR)
			return errno;
		if (len > 0 && is_answer(buf, (size_t) len, echo, sizeof(*echo), family))
			return 0;
	}
}

/* echo_once - @seq tells the answers to requests of this process apart. */
static int echo_once(int fd, int family, uint16_t seq, uint64_t *ns_p)
{
	struct echo echo = {
		.type = family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST,
		.id = htons((uint16_t) getpid()),
		.seq = htons(seq),
	};
	uint64_t begun = clock_ns();
	int err;

	memcpy(echo.data, &begun, sizeof(begun));
	echo.sum = family == AF_INET ? echo_checksum(&echo) : 0;
	if (send(fd, &echo, sizeof(echo), 0) < 0)
		return errno;
	err = await_answer(fd, &echo, family, begun + CLOCK_NS_PER_S);
	*ns_p = clock_ns() - begun;
	return err;
}

int info_echo(const union net_sa *peer, const char *iface, uint64_t *ns_p)
{
	int fd = open_socket(peer, iface), err = 0;
	uint64_t ns = 0, least = UINT64_MAX;
	uint16_t i;

	if (fd < 0)
		return -fd;
	for (i = 0; i < ECHOES && !err; i++) {
		err = echo_once(fd, peer->sa.sa_family, i, &ns);
		if (!err && ns < least)
			least = ns;
	}
	close(fd);
	*ns_p = least;
	return i > 1 ? 0 : err;
}

/* ---- a stream -------------------------------------------------------------------------------- */

/* Echo requests of one size.  The number in flight begins small and grows with each answer, so that a slow link has
 * little to queue.
 */
struct stream {
	int fd, family;
	size_t size;		/* bytes of a request, the header of ICMP included */
	unsigned window, max;	/* requests in flight */
	uint64_t begun_ns, last_ns;	/* the last answer */
	struct info_stream *count;
	struct echo echo;	/* the beginning of each request */
	uint8_t packet[STREAM_PACKET];
};

static void stream_init(struct stream *s, int fd, const union net_sa *peer, uint32_t mtu, struct info_stream *count)
{
	uint32_t packet = mtu < STREAM_PACKET ? mtu : STREAM_PACKET;

	*count = (struct info_stream) { .bytes = 0 };
	*s = (struct stream) { .fd = fd, .family = peer->sa.sa_family, .window = 2, .count = count, .begun_ns = clock_ns() };
	s->size = packet > HEADERS + sizeof(s->echo) ? packet - HEADERS : sizeof(s->echo);
	s->max = (unsigned) (STREAM_BYTES / s->size);
	s->echo.type = s->family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
	s->echo.id = htons((uint16_t) getpid());
	memcpy(s->echo.data, &s->begun_ns, sizeof(s->begun_ns));
	s->echo.sum = s->family == AF_INET ? echo_checksum(&s->echo) : 0;	/* what follows are zeros */
	memcpy(s->packet, &s->echo, sizeof(s->echo));
}

/* stream_send - as much as may be in flight.  Returns 0 or an errno. */
static int stream_send(struct stream *s)
{
	while (s->count->sent - s->count->answered < s->window) {
		if (send(s->fd, s->packet, s->size, MSG_DONTWAIT) < 0)
			return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? 0 : errno;
		s->count->sent++;
	}
	return 0;
}

/* stream_hear - the answers that have come until now.  Returns 0 or an errno. */
static int stream_hear(struct stream *s)
{
	uint8_t buf[STREAM_PACKET + HEADERS];
	ssize_t len;

	while ((len = recv(s->fd, buf, sizeof(buf), MSG_DONTWAIT)) >= 0) {
		if (!is_answer(buf, (size_t) len, &s->echo, s->size, s->family) || s->count->answered == s->count->sent)
			continue;
		s->count->answered++;
		s->count->bytes += s->size;
		s->window += s->window < s->max;
		s->last_ns = clock_ns();
	}
	return errno == EAGAIN || errno == EINTR ? 0 : errno;
}

static int stream_run(struct stream *s)
{
	uint64_t stop_ns = s->begun_ns + STREAM_NS, end_ns = stop_ns + CLOCK_NS_PER_S, now = s->begun_ns;
	struct pollfd pfd = { .fd = s->fd, .events = POLLIN };
	int err = 0;

	while (!err && now < end_ns && (now < stop_ns || s->count->answered < s->count->sent)) {
		if (now < stop_ns)
			err = stream_send(s);
		if (!err && poll(&pfd, 1, clock_ms_left(now < stop_ns ? stop_ns : end_ns, now)) > 0)
			err = stream_hear(s);
		now = clock_ns();
	}
	return err;
}

int info_echo_stream(const union net_sa *peer, const char *iface, uint32_t mtu, struct info_stream *stream_p)
{
	int fd = open_socket(peer, iface), err;
	struct stream s;

	if (fd < 0)
		return -fd;
	stream_init(&s, fd, peer, mtu, stream_p);
	err = stream_run(&s);
	close(fd);
	stream_p->ns = s.last_ns - s.begun_ns;
	return stream_p->answered ? 0 : err ? err : ETIMEDOUT;
}
