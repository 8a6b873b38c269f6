/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "ctrl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#define SILENCE_MS 30000	/* after this time without a frame the peer is declared lost */
#define CONNECT_TRIES 50	/* connect attempts: the server may be started just after the client */
#define CONNECT_PAUSE_MS 100
#define OTHER_ADDR_MAX 512	/* lengths and formats of addresses that other programs may name */
#define OTHER_FORMATS 64

struct frame_head {
	uint32_t type;
	uint32_t len;
};

void pp_ctrl_init(struct pp_ctrl *c)
{
	memset(c, 0, sizeof(*c));
	c->fd = -1;
	c->listen_fd = -1;
}

void pp_ctrl_close(struct pp_ctrl *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->listen_fd >= 0)
		close(c->listen_fd);
	pp_ctrl_init(c);
}

/* ---- connection --------------------------------------------------------- */

static int resolve_host(const struct pp_options *o, const char *host, uint16_t port, int flags,
			struct addrinfo **res_p)
{
	struct addrinfo hints = {
		.ai_family = o->ipv6 ? AF_INET6 : AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = flags,
	};
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, res_p);
	if (!ret)
		return 0;
	fprintf(stderr, "fi_pingpong: server name '%s': %s%s\n", host ? host : "any",
		gai_strerror(ret), o->ipv6 ? "" : " (for an IPv6 address add -6)");
	return -FI_EINVAL;
}

static int say_errno(const char *what)
{
	int err = errno;

	fprintf(stderr, "fi_pingpong: %s: %s\n", what, strerror(err));
	return -err;
}

/* Records both addresses; TCP_NODELAY, because frames are small. */
static int on_connected(struct pp_ctrl *c)
{
	socklen_t len = sizeof(c->local);
	int one = 1;

	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (getsockname(c->fd, (struct sockaddr *) &c->local, &len))
		return say_errno("getsockname");
	c->addrlen = len;
	if (getpeername(c->fd, (struct sockaddr *) &c->peer, &len))
		return say_errno("getpeername");
	return 0;
}

static int bind_port(int fd, const struct addrinfo *ai)
{
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return bind(fd, ai->ai_addr, ai->ai_addrlen) ? -errno : 0;
}

static uint16_t port_of(const struct sockaddr_storage *ss)
{
	return ntohs(ss->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *) ss)->sin6_port :
		     ((const struct sockaddr_in *) ss)->sin_port);
}

int pp_ctrl_listen(struct pp_ctrl *c, const struct pp_options *o, uint16_t *port_p)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct addrinfo *ai;
	int ret;

	ret = resolve_host(o, o->local ? (o->ipv6 ? "::1" : "127.0.0.1") : NULL, o->src_port,
			   AI_PASSIVE, &ai);
	if (ret)
		return ret;
	c->listen_fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
	ret = c->listen_fd < 0 ? -errno : bind_port(c->listen_fd, ai);
	freeaddrinfo(ai);
	if (ret) {
		fprintf(stderr, "fi_pingpong: control port %u: %s%s\n", o->src_port, strerror(-ret),
			ret == -EADDRINUSE ? "; choose another with -B, and -P on the client" : "");
		return ret;
	}
	if (listen(c->listen_fd, 1) || getsockname(c->listen_fd, (struct sockaddr *) &ss, &len))
		return say_errno("listen");
	*port_p = port_of(&ss);
	return 0;
}

int pp_ctrl_accept(struct pp_ctrl *c)
{
	do {
		c->fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	} while (c->fd < 0 && errno == EINTR);
	return c->fd < 0 ? say_errno("accept") : on_connected(c);
}

/* One attempt at each address of the server. */
static int connect_once(struct pp_ctrl *c, const struct pp_options *o, const struct addrinfo *list)
{
	struct addrinfo *own;
	int ret = -FI_EINVAL;

	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next) {
		c->fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
		if (c->fd < 0)
			return -errno;
		ret = 0;
		if (o->src_port && !resolve_host(o, NULL, o->src_port, AI_PASSIVE, &own)) {
			ret = bind_port(c->fd, own);
			freeaddrinfo(own);
		}
		if (!ret && connect(c->fd, ai->ai_addr, ai->ai_addrlen))
			ret = -errno;
		if (!ret)
			return 0;
		close(c->fd);
		c->fd = -1;
	}
	return ret;
}

int pp_ctrl_connect(struct pp_ctrl *c, const struct pp_options *o)
{
	const struct timespec pause = { 0, CONNECT_PAUSE_MS * 1000000L };
	struct addrinfo *list;
	int ret, tries;

	ret = resolve_host(o, o->host, o->dst_port, 0, &list);
	if (ret)
		return ret;
	for (tries = 0; tries < CONNECT_TRIES; tries++) {
		ret = connect_once(c, o, list);
		if (ret != -ECONNREFUSED)
			break;
		nanosleep(&pause, NULL);
	}
	freeaddrinfo(list);
	if (!ret)
		return on_connected(c);
	fprintf(stderr, "fi_pingpong: server %s, control port %u: %s%s\n", o->host, o->dst_port,
		strerror(-ret), ret == -ECONNREFUSED ?
		"; start fi_pingpong there first, with -B if the port is another" : "");
	return ret;
}

/* ---- frames ------------------------------------------------------------- */

static int peer_gone(struct pp_ctrl *c, const char *why)
{
	if (!c->failed && !c->met)
		fprintf(stderr, "fi_pingpong: the other side closed the control connection without a "
			"word that this one knows (%s): it is another program, or the fi_pingpong of "
			"another libfabric; use the same one on both sides\n", why);
	else if (!c->failed)
		fprintf(stderr, "fi_pingpong: the other side is gone: %s\n", why);
	c->failed = true;
	return -FI_ECONNABORTED;
}

static int put_bytes(struct pp_ctrl *c, const void *buf, size_t len)
{
	const char *at = buf;
	ssize_t n;

	while (len) {
		n = send(c->fd, at, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return peer_gone(c, strerror(errno));
		at += n;
		len -= n;
	}
	return 0;
}

static int get_bytes(struct pp_ctrl *c, void *buf, size_t len)
{
	struct pollfd pfd = { .fd = c->fd, .events = POLLIN };
	char *at = buf;
	ssize_t n;

	while (len) {
		n = poll(&pfd, 1, SILENCE_MS);
		if (!n) {
			fprintf(stderr, "fi_pingpong: the other side has said nothing for %d s\n",
				SILENCE_MS / 1000);
			c->failed = true;
			return -FI_ETIMEDOUT;
		}
		n = n < 0 ? n : recv(c->fd, at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return peer_gone(c, n ? strerror(errno) : "connection closed");
		at += n;
		len -= n;
	}
	return 0;
}

int pp_ctrl_send(struct pp_ctrl *c, enum pp_frame type, const void *buf, size_t len)
{
	struct frame_head head = { htonl(type), htonl((uint32_t) len) };
	int ret = put_bytes(c, &head, sizeof(head));

	return ret ? ret : put_bytes(c, buf, len);
}

/* Prints the reason that the peer gave in PP_FAIL. */
static int peer_failed(struct pp_ctrl *c, size_t len)
{
	char why[PP_FRAME_MAX + 1];

	c->met = true;
	if (get_bytes(c, why, len))
		return -FI_ECONNABORTED;
	why[len] = 0;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char) why[i] < ' ')
			why[i] = ' ';
	if (!c->failed)
		fprintf(stderr, "fi_pingpong: the other side gave up: %s\n", why);
	c->failed = true;
	return -FI_ECONNABORTED;
}

/* Other implementations of libfabric have a fi_pingpong whose server begins with the length of its
 * address, in network order, and the address format, in host order; its client waits for that.
 */
static bool is_other_pingpong(const struct frame_head *head)
{
	uint32_t len = ntohl(head->type), format;

	memcpy(&format, &head->len, sizeof(format));
	return len && len <= OTHER_ADDR_MAX && format < OTHER_FORMATS;
}

static int say_foreign(struct pp_ctrl *c, const struct frame_head *head)
{
	fprintf(stderr, "fi_pingpong: what answers on the control port is %s; use the same one on "
		"both sides\n", head && is_other_pingpong(head) ?
		"the fi_pingpong of another libfabric, which this one cannot measure with" :
		"not this version of fi_pingpong");
	c->failed = true;
	return -FI_EPROTO;
}

int pp_ctrl_recv(struct pp_ctrl *c, enum pp_frame type, void *buf, size_t *len_p)
{
	struct frame_head head;
	size_t len;
	int ret = get_bytes(c, &head, sizeof(head));

	if (ret)
		return ret;
	len = ntohl(head.len);
	if (len > PP_FRAME_MAX)
		return say_foreign(c, &head);
	if (ntohl(head.type) == PP_FAIL)
		return peer_failed(c, len);
	if (ntohl(head.type) != type || len > *len_p)
		return say_foreign(c, &head);
	*len_p = len;
	c->met = true;
	return get_bytes(c, buf, len);
}

/* ---- the start: what the two sides are ------------------------------------ */

/* The version is the release alone, which the library's text begins with: two builds of one release
 * are the same.
 */
static struct pp_side this_side(const struct pp_ctrl *c)
{
	struct pp_side side = { .mtu = 0 };
	bool v6 = c->local.ss_family == AF_INET6;
	socklen_t len = sizeof(int);
	int mtu = 0;

	sscanf(fi_tostr("", FI_TYPE_VERSION), "%31s", side.version);
	if (!getsockopt(c->fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU, &mtu, &len) &&
	    mtu > 0)
		side.mtu = (unsigned) mtu;
	return side;
}

/* Prints the options of @text that @other lacks. */
static void print_only(const char *side, const char *text, const char *other)
{
	const char *next;
	char item[PP_FRAME_MAX];

	fprintf(stderr, "  only %s side:", side);
	for (; *text; text = next) {
		next = strstr(text + 1, " -");
		if (!next)
			next = text + strlen(text);
		/* a blank, the option, and the blank behind it */
		snprintf(item, sizeof(item), "%.*s%s", (int) (next - text), text, *next ? " " : "");
		if (strlen(item) > 1 && !strstr(other, item))
			fprintf(stderr, "%.*s", (int) strlen(item) - 1, item);
	}
	fprintf(stderr, "\n");
}

/* The options as pp_options_text() writes them, each with a blank before and behind it. */
static void print_different_tests(const char *mine, const char *theirs)
{
	char a[PP_FRAME_MAX + 3], b[PP_FRAME_MAX + 3];

	snprintf(a, sizeof(a), " %s ", mine);
	snprintf(b, sizeof(b), " %s ", theirs);
	fprintf(stderr, "fi_pingpong: the two sides were given different tests\n");
	print_only("this", a, b);
	print_only("other", b, a);
}

static void print_different_sides(const struct pp_side *mine, const struct pp_side *other)
{
	if (!*other->version)
		fprintf(stderr, "fi_pingpong: the other side is an older fi_pingpong; this one is of "
			"version %s, path MTU %u\n", mine->version, mine->mtu);
	else if (strcmp(mine->version, other->version))
		fprintf(stderr, "fi_pingpong: different versions: %s on this side, %s on the other\n",
			mine->version, other->version);
	if (mine->mtu && other->mtu && mine->mtu != other->mtu)
		fprintf(stderr, "fi_pingpong: different MTUs: %u on this side, %u on the other; long "
			"packets may be lost\n", mine->mtu, other->mtu);
}

/* What follows the zero byte of the frame; an older process has none. */
static void read_side(const char *frame, size_t len, struct pp_side *side_p)
{
	size_t text = strlen(frame) + 1;
	const char *mtu;

	memset(side_p, 0, sizeof(*side_p));
	if (text >= len || sscanf(frame + text, "version=%31s", side_p->version) != 1)
		return;
	/* some releases wrote the commit between the two */
	mtu = strstr(frame + text, " mtu=");
	if (mtu)
		sscanf(mtu, " mtu=%u", &side_p->mtu);
}

int pp_ctrl_hello(struct pp_ctrl *c, const struct pp_options *o)
{
	struct pp_side side = this_side(c);
	char mine[PP_FRAME_MAX], theirs[PP_FRAME_MAX + 1];
	size_t len = PP_FRAME_MAX, at;
	int ret;

	pp_options_text(o, mine, sizeof(mine) - 128);
	at = strlen(mine) + 1;
	at += (size_t) snprintf(mine + at, sizeof(mine) - at, "version=%s mtu=%u", side.version,
				side.mtu);
	ret = pp_ctrl_send(c, PP_HELLO, mine, at);
	if (!ret)
		ret = pp_ctrl_recv(c, PP_HELLO, theirs, &len);
	if (ret)
		return ret;
	theirs[len] = 0;
	read_side(theirs, len, &c->other);
	print_different_sides(&side, &c->other);
	if (!strcmp(mine, theirs))
		return 0;
	print_different_tests(mine, theirs);
	c->failed = true;
	return -FI_EINVAL;
}

int pp_ctrl_largest(struct pp_ctrl *c, size_t *len_p)
{
	char text[24];
	size_t len = sizeof(text) - 1, theirs;
	int ret;

	if (!*c->other.version)
		return 0;
	snprintf(text, sizeof(text), "%zu", *len_p);
	ret = pp_ctrl_send(c, PP_LARGEST, text, strlen(text));
	if (!ret)
		ret = pp_ctrl_recv(c, PP_LARGEST, text, &len);
	if (ret)
		return ret;
	text[len] = 0;
	if (sscanf(text, "%zu", &theirs) != 1)
		return say_foreign(c, NULL);
	if (theirs != *len_p)
		fprintf(stderr, "fi_pingpong: different sizes: messages have at most %zu bytes on this "
			"side, %zu on the other\n", *len_p, theirs);
	if (theirs < *len_p)
		*len_p = theirs;
	return 0;
}

int pp_ctrl_peek(struct pp_ctrl *c)
{
	struct frame_head head;
	ssize_t n = recv(c->fd, &head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	uint32_t type;
	size_t len = 0;

	if (!n)
		return peer_gone(c, "connection closed");
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return peer_gone(c, strerror(errno));
	if (n != sizeof(head))
		return 0;
	type = ntohl(head.type);
	if (type == PP_ADDR || type == PP_STEP || type == PP_LARGEST)
		return (int) type;
	return pp_ctrl_recv(c, PP_STEP, NULL, &len);
}

int pp_ctrl_step(struct pp_ctrl *c, int (*idle)(void *arg), void *arg)
{
	time_t end = time(NULL) + SILENCE_MS / 1000;
	size_t len = 0;
	int ret = pp_ctrl_send(c, PP_STEP, NULL, 0);

	while (!ret && idle && time(NULL) < end) {
		ret = pp_ctrl_peek(c);
		if (ret)
			break;
		ret = idle(arg);
	}
	return ret < 0 ? ret : pp_ctrl_recv(c, PP_STEP, NULL, &len);
}

void pp_ctrl_fail(struct pp_ctrl *c, const char *fmt, ...)
{
	char why[1024];
	va_list args;

	if (c->failed)
		return;
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	fprintf(stderr, "fi_pingpong: %s\n", why);
	if (c->fd >= 0)
		pp_ctrl_send(c, PP_FAIL, why, strlen(why));
	c->failed = true;
}
