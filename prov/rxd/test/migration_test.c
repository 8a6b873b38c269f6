/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The address of a peer changes during transfers: messages arrive in both directions, by the
 * same fi_addr_t, and the log has the old and the new address.  Through the public API, over
 * udp;ofi_rxd on loopback.  The test replaces the sockets of the peer by others, which has the
 * effect of an address translator that assigns another port, or of a host that moves.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/clock.h"
#include "side.h"

#define LEN 2000000
#define MOVES 6
#define ROUNDS 10		/* messages each way between two of them */
#define WARM 300
#define LIMIT_MS 60000

struct peer {
	struct side side;
	struct sockaddr_in name;
	fi_addr_t to;
	unsigned sent, got;	/* completions */
	char *in, *out;
};

static void peer_open(struct peer *p)
{
	size_t len = sizeof(p->name);

	side_open(&p->side, NULL);
	CHECK(!fi_getname(&p->side.ep->fid, &p->name, &len));
	p->in = malloc(LEN);
	p->out = malloc(LEN);
}

static void peer_close(struct peer *p)
{
	side_close(&p->side);
	free(p->in);
	free(p->out);
}

static void poll_one(struct peer *p)
{
	struct fi_cq_msg_entry entry;
	ssize_t ret = fi_cq_read(p->side.cq, &entry, 1);

	CHECK(ret == 1 || ret == -FI_EAGAIN);
	if (ret == 1 && entry.flags & FI_RECV)
		p->got++;
	else if (ret == 1)
		p->sent++;
}

static void post(struct peer *p, unsigned number, size_t len)
{
	memset(p->out, (int) number, len);
	CHECK(!fi_recv(p->side.ep, p->in, len, NULL, FI_ADDR_UNSPEC, NULL));
	CHECK(!fi_send(p->side.ep, p->out, len, NULL, p->to, NULL));
}

static bool is_whole(const char *in, unsigned number, size_t len)
{
	return in[0] == (char) number && !memcmp(in, in + 1, len - 1);
}

/* ---- another address ------------------------------------------------------------- */

static int socket_at(const struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	CHECK(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	CHECK(!bind(fd, (const struct sockaddr *) at, sizeof(*at)));
	return fd;
}

/* Put a socket at @to in the place of each one at @from. */
static unsigned move_sockets(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
	struct sockaddr_in at, peer;
	unsigned cnt = 0;
	socklen_t len;
	int fd, new;

	for (fd = 0; fd < 256; fd++) {
		len = sizeof(at);
		if (getsockname(fd, (struct sockaddr *) &at, &len) || at.sin_family != AF_INET ||
		    at.sin_port != from->sin_port)
			continue;
		new = socket_at(to);
		len = sizeof(peer);
		if (!getpeername(fd, (struct sockaddr *) &peer, &len))
			CHECK(!connect(new, (struct sockaddr *) &peer, len));
		CHECK(dup2(new, fd) == fd);
		close(new);
		cnt++;
	}
	return cnt;
}

/* A free port at another address of this host. */
static struct sockaddr_in elsewhere(unsigned n)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int fd;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK + n % 3);
	fd = socket_at(&at);
	CHECK(!getsockname(fd, (struct sockaddr *) &at, &len));
	close(fd);
	return at;
}

/* ---- the log ------------------------------------------------------------------------ */

static FILE *log_file;

static void catch_log(void)
{
	log_file = tmpfile();
	CHECK(log_file);
	side_stderr = dup(2);
	dup2(fileno(log_file), 2);
}

static bool log_has(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
	char line[1024], want[256], was[INET_ADDRSTRLEN], is[INET_ADDRSTRLEN];
	bool found = false;

	inet_ntop(AF_INET, &from->sin_addr, was, sizeof(was));
	inet_ntop(AF_INET, &to->sin_addr, is, sizeof(is));
	snprintf(want, sizeof(want),
		 "has changed from fi_sockaddr_in://%s:%u to fi_sockaddr_in://%s:%u", was,
		 ntohs(from->sin_port), is, ntohs(to->sin_port));
	rewind(log_file);
	while (!found && fgets(line, sizeof(line), log_file))
		found = strstr(line, want);
	fseek(log_file, 0, SEEK_END);
	return found;
}

/* A message in each direction, during which the address of side 1 may change. */
static void exchange(struct peer *p, unsigned number, size_t len,
		     const struct sockaddr_in *from, const struct sockaddr_in *to)
{
	uint64_t end = clock_deadline(LIMIT_MS);
	unsigned i, polls = 0;

	for (i = 0; i < 2; i++)
		post(&p[i], number + i, len);
	while (p[0].got + p[1].got + p[0].sent + p[1].sent < 4) {
		poll_one(&p[0]);
		poll_one(&p[1]);
		if (to && ++polls == 10)
			CHECK(move_sockets(from, to));
		CHECK(clock_ns() <= end && "the connection goes on");
	}
	if (to && polls < 10)	/* complete before the change: it affects the next messages */
		CHECK(move_sockets(from, to));
	for (i = 0; i < 2; i++) {
		CHECK(is_whole(p[i].in, number + !i, len));
		p[i].got = p[i].sent = 0;
	}
}

int main(void)
{
	struct sockaddr_in at, to;
	struct peer p[2];
	unsigned i, n;

	memset(p, 0, sizeof(p));
	setenv("FI_OFI_RXD_LOCAL", "0", 1);	/* datagrams, not shared memory */
	setenv("FI_OFI_RXD_PEER_TIMEOUT", "15000", 1);	/* an idle peer sends after half a second */
	setenv("FI_LOG_LEVEL", "info", 1);
	setenv("FI_LOG_PROV", "ofi_rxd", 1);
	catch_log();
	peer_open(&p[0]);
	peer_open(&p[1]);
	for (i = 0; i < 2; i++)
		CHECK(fi_av_insert(p[i].side.av, &p[!i].name, 1, &p[i].to, 0, NULL) == 1);
	/* after so many short messages each side has all its sockets (udp, hot.c) */
	for (i = 0; i < WARM; i++)
		exchange(p, i, 1, NULL, NULL);
	at = p[1].name;
	for (n = 0; n < MOVES; n++) {
		for (i = 0; i < ROUNDS; i++)
			exchange(p, 2 * i, LEN, NULL, NULL);
		to = elsewhere(n + 1);
		exchange(p, n, LEN, &at, &to);
		exchange(p, n + 1, LEN, NULL, NULL);
		CHECK(log_has(&at, &to));
		at = to;
	}
	dup2(side_stderr, 2);
	peer_close(&p[1]);
	peer_close(&p[0]);
	return 0;
}
