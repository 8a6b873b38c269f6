/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Attackers of protected connections.
 *
 * A member has an endpoint; another one connects to it through a proxy, which is the attacker on the path: it
 * has every byte, and alters, leaves out, repeats or redirects what it wants.  Attackers off the path have a raw
 * socket.  After each attack the member's buffer is as it was, or has the whole message, and a bystander's
 * connection to the member goes on.
 *
 * FI_TCP_FIREWALL_ADDR lets the proxy have an address of its own; that a connection is refused which was led
 * elsewhere is shown in a process without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/test/calls.h"
#include "secure/channel.h"

#define SIZE 64			/* of a message */
#define FLIGHT 8192		/* bytes of a connection in one direction */
#define QUIET_MS 60		/* after an attack nothing comes any more */
#define WAIT_MS 20000
#define STRANGERS 1000
#define TLS_HEAD 5

/* ---- the log ------------------------------------------------------------------ */

static char logged[1 << 18];
static size_t logged_len;

static int log_enabled(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		       uint64_t flags)
{
	return level <= FI_LOG_INFO;
}

static int log_ready(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		     uint64_t flags, uint64_t *showtime)
{
	return level <= FI_LOG_INFO;
}

static void log_line(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		     const char *func, int line, const char *msg)
{
	size_t len = strlen(msg);

	if (logged_len + len < sizeof(logged)) {
		memcpy(logged + logged_len, msg, len + 1);
		logged_len += len;
	}
}

static int log_close(struct fid *fid)
{
	return 0;
}

static struct fi_ops log_fi_ops = { .size = sizeof(struct fi_ops), .close = log_close };
static struct fi_ops_log log_ops = {
	.size = sizeof(struct fi_ops_log), .enabled = log_enabled, .ready = log_ready, .log = log_line,
};
static struct fid_logging log_fid = {
	.fid = { .fclass = FI_CLASS_LOG, .ops = &log_fi_ops }, .ops = &log_ops,
};

static void assert_logged(const char *text)
{
	if (!strstr(logged, text))
		fail_msg("no line has \"%s\", but:\n%s", text, logged);
}

/* ---- endpoints ------------------------------------------------------------------- */

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct sockaddr_in name;
	uint8_t buf[SIZE];
	int err;		/* of the last operation that failed */
};

static struct side member, bystander;
static uint8_t job_key[32], other_key[32], message[SIZE];

static struct fi_info *get_info(const uint8_t *key)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	CHECK(hints);
	hints->caps = FI_TAGGED;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->data_progress = hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = strdup("tcp");
	if (key) {
		hints->ep_attr->auth_key = malloc(sizeof(job_key));
		memcpy(hints->ep_attr->auth_key, key, sizeof(job_key));
		hints->ep_attr->auth_key_size = sizeof(job_key);
	}
	CALL(fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", "0", FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	return info;
}

/* @key: NULL: it has none */
static void open_side(struct side *s, const char *level, const uint8_t *key)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	size_t len = sizeof(s->name);

	memset(s, 0, sizeof(*s));
	setenv("FI_SECURITY", level, 1);
	s->info = get_info(key);
	CALL(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	CALL(fi_domain(s->fabric, s->info, &s->domain, NULL));
	CALL(fi_cq_open(s->domain, &cq, &s->cq, NULL));
	CALL(fi_av_open(s->domain, &av, &s->av, NULL));
	CALL(fi_endpoint(s->domain, s->info, &s->ep, NULL));
	CALL(fi_ep_bind(s->ep, &s->cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(s->ep, &s->av->fid, 0));
	CALL(fi_enable(s->ep));
	CALL(fi_getname(&s->ep->fid, &s->name, &len));
}

static void close_side(struct side *s)
{
	CALL(fi_close(&s->ep->fid));
	CALL(fi_close(&s->av->fid));
	CALL(fi_close(&s->cq->fid));
	CALL(fi_close(&s->domain->fid));
	CALL(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}

static fi_addr_t knows(struct side *s, const struct sockaddr_in *addr)
{
	fi_addr_t to;

	CHECK(fi_av_insert(s->av, addr, 1, &to, 0, NULL) == 1);
	return to;
}

/* poll_side - 1: a completion; -1: an error, in s->err. */
static int poll_side(struct side *s)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	ssize_t ret = fi_cq_read(s->cq, &entry, 1);

	if (ret != -FI_EAVAIL)
		return ret == 1;
	CHECK(fi_cq_readerr(s->cq, &err, 0) == 1);
	s->err = err.err;
	return -1;
}

static void post_recv(struct side *s)
{
	memset(s->buf, 0, sizeof(s->buf));
	CALL(fi_trecv(s->ep, s->buf, sizeof(s->buf), NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
}

static void post_send(struct side *s, fi_addr_t to)
{
	ssize_t ret;

	while ((ret = fi_tsend(s->ep, message, sizeof(message), NULL, to, 1, NULL)) == -FI_EAGAIN)
		poll_side(s);
	CALL(ret);
}

/* ---- the proxy --------------------------------------------------------------------- */

enum way {
	PASS,
	FLIP,		/* the bit @bit of the byte @at of direction @dir */
	CUT,		/* end both streams in good order after @at bytes of @dir */
	DROP,		/* the record @at of @dir, counted from the end of the handshake */
	TWICE,		/* it again */
	SWAP,		/* it behind the next one */
	REFLECT,	/* what comes in @dir goes back */
	SPLICE,		/* in its place the record @at of the connection before */
};

struct attack {
	enum way way;
	int dir;		/* 0: what the connecting peer sends; 1: what it gets */
	size_t at;
	int bit;
};

static struct {
	int listener, fd[2];		/* the connecting peer, the member; -1: none */
	struct sockaddr_in name;
	struct attack attack;		/* of the next connection; then PASS */
	struct attack now;		/* of this one */
	bool broken;			/* the attack was made */
	uint64_t broken_ms;
	unsigned conns;
	size_t len[2], sent[2];		/* bytes that came, and of them those handed on */
	size_t records[2];		/* sealed ones that were handed on */
	uint8_t bytes[2][FLIGHT];
	size_t last_len[2];		/* of the connection before */
	uint8_t last[2][FLIGHT];
	uint8_t held[FLIGHT];		/* SWAP */
	size_t held_len;
} proxy = { .fd = { -1, -1 } };

static int listen_at(struct sockaddr_in *name)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*name);

	*name = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	CHECK(fd >= 0);
	CALL(bind(fd, (struct sockaddr *) name, sizeof(*name)));
	CALL(listen(fd, 16));
	CALL(getsockname(fd, (struct sockaddr *) name, &len));
	return fd;
}

static int connect_to(const struct sockaddr_in *name)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	CALL(connect(fd, (const struct sockaddr *) name, sizeof(*name)));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
	return fd;
}

static void proxy_end(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (proxy.fd[i] >= 0)
			close(proxy.fd[i]);
		proxy.fd[i] = -1;
	}
}

static void proxy_accept(void)
{
	struct pollfd pfd = { proxy.listener, POLLIN, 0 };

	if (proxy.fd[0] >= 0 || poll(&pfd, 1, 0) <= 0)
		return;
	memcpy(proxy.last, proxy.bytes, sizeof(proxy.last));
	memcpy(proxy.last_len, proxy.len, sizeof(proxy.len));
	memset(proxy.len, 0, sizeof(proxy.len));
	memset(proxy.sent, 0, sizeof(proxy.sent));
	memset(proxy.records, 0, sizeof(proxy.records));
	proxy.held_len = 0;
	proxy.fd[0] = accept(proxy.listener, NULL, NULL);
	CHECK(proxy.fd[0] >= 0);
	proxy.fd[1] = connect_to(&member.name);
	proxy.now = proxy.attack;
	proxy.attack = (struct attack) { PASS, 0, 0, 0 };
	proxy.conns++;
}

static void proxy_broke(void)
{
	proxy.broken = true;
	proxy.broken_ms = now_ms();
}

static void forward(int to, const uint8_t *buf, size_t len)
{
	if (proxy.fd[to] >= 0 && send(proxy.fd[to], buf, len, MSG_NOSIGNAL) < 0)
		proxy_end();
}

/* record_at - length of the record that begins at @at of what came in @dir; 0: it is not whole.
 * @sealed_p: [out] it is not one of TLS
 */
static size_t record_at(const uint8_t *bytes, size_t have, size_t at, bool *sealed_p)
{
	const uint8_t *head = bytes + at;
	size_t left = have - at, need;

	*sealed_p = left >= TLS_HEAD && !(head[0] >= 20 && head[0] <= 23 && head[1] == 3);
	if (left < TLS_HEAD)
		return 0;
	need = *sealed_p ? sec_channel_need(head, left) : TLS_HEAD + (size_t) (head[3] << 8 | head[4]);
	return need <= left ? need : 0;
}

/* last_record - the sealed record @no of the connection before. */
static const uint8_t *last_record(int dir, size_t no, size_t *len_p)
{
	size_t at, len;
	bool sealed;

	for (at = 0; (len = record_at(proxy.last[dir], proxy.last_len[dir], at, &sealed)); at += len) {
		if (!sealed || no--)
			continue;
		*len_p = len;
		return proxy.last[dir] + at;
	}
	return NULL;
}

/* on_record - hand on a sealed record, in the attacker's way. */
static void on_record(int dir, const uint8_t *record, size_t len)
{
	bool chosen = dir == proxy.now.dir && proxy.records[dir]++ == proxy.now.at && proxy.now.way >= DROP;
	size_t other_len = 0;
	const uint8_t *other;

	if (chosen)
		proxy_broke();
	if (chosen && proxy.now.way == SPLICE) {
		other = last_record(dir, proxy.now.at, &other_len);
		CHECK(other);
		forward(!dir, other, other_len);
		return;
	}
	if (chosen && proxy.now.way == SWAP) {
		memcpy(proxy.held, record, len);
		proxy.held_len = len;
		return;
	}
	if (!chosen || proxy.now.way != DROP)
		forward(!dir, record, len);
	if (chosen && proxy.now.way == TWICE)
		forward(!dir, record, len);
	if (proxy.held_len && dir == proxy.now.dir && !chosen) {
		forward(!dir, proxy.held, proxy.held_len);
		proxy.held_len = 0;
	}
}

static void by_records(int dir)
{
	uint8_t *bytes = proxy.bytes[dir];
	size_t len;
	bool sealed;

	while ((len = record_at(bytes, proxy.len[dir], proxy.sent[dir], &sealed))) {
		if (sealed)
			on_record(dir, bytes + proxy.sent[dir], len);
		else
			forward(!dir, bytes + proxy.sent[dir], len);
		proxy.sent[dir] += len;
	}
}

static void by_bytes(int dir)
{
	size_t from = proxy.sent[dir], len = proxy.len[dir] - from, at = proxy.now.at;
	bool hit = proxy.now.dir == dir && proxy.now.way != PASS && at >= from && at < from + len;
	uint8_t copy[FLIGHT];

	memcpy(copy, proxy.bytes[dir] + from, len);
	proxy.sent[dir] += len;
	if (hit)
		proxy_broke();
	if (hit && proxy.now.way == FLIP)
		copy[at - from] ^= (uint8_t) (1 << proxy.now.bit);
	if (proxy.now.way == REFLECT && dir == proxy.now.dir) {
		forward(dir, copy, len);
		return;
	}
	forward(!dir, copy, hit && proxy.now.way == CUT ? at - from : len);
	if (hit && proxy.now.way == CUT)
		proxy_end();
}

static void proxy_read(int dir)
{
	uint8_t *room = proxy.bytes[dir] + proxy.len[dir];
	ssize_t ret = recv(proxy.fd[dir], room, FLIGHT - proxy.len[dir], MSG_DONTWAIT);

	if (ret < 0 && errno == EAGAIN)
		return;
	if (ret <= 0) {
		proxy_end();
		return;
	}
	proxy.len[dir] += (size_t) ret;
	if (proxy.now.way >= DROP && proxy.now.way != REFLECT)
		by_records(dir);
	else
		by_bytes(dir);
}

/* proxy_poll - an attack that only delays ends with the connection. */
static void proxy_poll(void)
{
	int dir;

	proxy_accept();
	for (dir = 0; dir < 2; dir++)
		if (proxy.fd[dir] >= 0)
			proxy_read(dir);
	if (proxy.broken && proxy.fd[0] >= 0 && proxy.now.way != PASS && now_ms() > proxy.broken_ms + QUIET_MS / 2)
		proxy_end();
}

/* ---- one attempt -------------------------------------------------------------------- */

static void check_buffer(bool came)
{
	static const uint8_t empty[SIZE];

	CHECK(!memcmp(member.buf, came ? message : empty, SIZE));
}

/* attempt - @s sends one message to @to.  Returns whether it came to the member, whose buffer has all of it, or
 * nothing.  What is not altered comes in any case, perhaps over a further connection.
 */
static bool attempt(struct side *s, const struct sockaddr_in *to)
{
	uint64_t until = now_ms() + WAIT_MS;
	bool came = false, over = false;
	int ret;

	proxy.broken = false;
	post_send(s, knows(s, to));
	while (!came && !over && now_ms() < until) {
		proxy_poll();
		ret = poll_side(s);
		came = poll_side(&member) > 0;
		if (!came)
			check_buffer(false);
		over = ret < 0 || (proxy.broken && now_ms() > proxy.broken_ms + QUIET_MS && proxy.fd[0] < 0);
	}
	CHECK(came || over);
	check_buffer(came);
	if (came)
		post_recv(&member);
	return came;
}

static void bystander_goes_on(void)
{
	proxy.attack = (struct attack) { PASS, 0, 0, 0 };
	CHECK(attempt(&bystander, &member.name));
}

/* attack - a new endpoint connects through the proxy.  Returns whether its message came. */
static bool attack(enum way way, int dir, size_t at, int bit)
{
	struct side s;
	bool came;

	logged_len = 0;
	*logged = '\0';
	proxy_end();
	proxy.conns = 0;
	proxy.attack = (struct attack) { way, dir, at, bit };
	open_side(&s, getenv("LEVEL"), job_key);
	came = attempt(&s, &proxy.name);
	close_side(&s);
	proxy_end();
	return came;
}

/* ---- the table: at either level ------------------------------------------------------- */

/* What was sent is on the wire at auth, and is not at encrypt. */
static void a_capture(void **state)
{
	bool seen;

	assert_true(attack(PASS, 0, 0, 0));
	seen = memmem(proxy.bytes[0], proxy.len[0], message, SIZE) != NULL;
	assert_int_equal(seen, !strcmp(getenv("LEVEL"), "auth"));
	assert_null(memmem(proxy.bytes[0], proxy.len[0], job_key, 16));
	assert_null(memmem(proxy.bytes[1], proxy.len[1], job_key, 16));
}

/* Each byte of both directions, a bit of it: handshake, HELLO, WELCOME, frames, the end. */
static void bits_are_flipped(void **state)
{
	size_t len[2], at;
	int dir;

	assert_true(attack(PASS, 0, 0, 0));
	memcpy(len, proxy.len, sizeof(len));
	assert_true(len[0] > 400 && len[1] > 300);
	for (dir = 0; dir < 2; dir++)
		for (at = 0; at < len[dir]; at++)
			attack(FLIP, dir, at, (int) (at % 8));
	bystander_goes_on();
}

static void streams_are_cut(void **state)
{
	size_t len[2], at;
	int dir;

	assert_true(attack(PASS, 0, 0, 0));
	memcpy(len, proxy.len, sizeof(len));
	for (dir = 0; dir < 2; dir++)
		for (at = 0; at < len[dir]; at += 7)
			attack(CUT, dir, at, 0);
	bystander_goes_on();
}

/* Records behind the handshake: left out, repeated, reordered, of another connection. */
static void records_are_moved(void **state)
{
	static const enum way ways[] = { DROP, TWICE, SWAP, SPLICE };
	size_t i, at;
	int dir;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		for (dir = 0; dir < 2; dir++)
			for (at = 0; at < (dir ? 1 : 2); at++) {
				assert_true(attack(PASS, 0, 0, 0));
				attack(ways[i], dir, at, 0);
				if (ways[i] == SPLICE && dir == 0)
					assert_logged("sealed by another");
			}
	bystander_goes_on();
}

static void bytes_are_reflected(void **state)
{
	attack(REFLECT, 0, 0, 0);
	bystander_goes_on();
}

/* The whole of what a member said, again: from a raw socket. */
static void a_connection_is_replayed(void **state)
{
	uint64_t until;
	uint8_t byte;
	int fd;

	assert_true(attack(PASS, 0, 0, 0));
	fd = connect_to(&member.name);
	assert_int_equal(send(fd, proxy.bytes[0], proxy.len[0], MSG_NOSIGNAL), proxy.len[0]);
	until = now_ms() + 5 * QUIET_MS;
	while (now_ms() < until) {
		assert_true(poll_side(&member) <= 0);
		check_buffer(false);
		recv(fd, &byte, 1, MSG_DONTWAIT);
	}
	close(fd);
	assert_logged("was refused");
	bystander_goes_on();
}

/* Keys and levels that are not the member's: the message never comes, and both logs say why. */
static void others_are_refused(void **state)
{
	const char *level = getenv("LEVEL"), *lower = strcmp(level, "auth") ? "auth" : "encrypt";
	const struct {
		const char *level;
		const uint8_t *key;
		const char *text[2];
	} cases[] = {
		{ level, other_key, { "does not have our key", "is none of ours" } },
		{ lower, job_key, { "does not have our key", "another level of FI_SECURITY" } },
		{ "none", NULL, { "its connections are protected and ours are not", "does not protect connections" } },
	};
	struct side s;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		logged_len = 0;
		open_side(&s, cases[i].level, cases[i].key);
		assert_false(attempt(&s, &member.name));
		assert_int_equal(s.err, FI_EACCES);
		assert_logged(cases[i].text[0]);
		assert_logged(cases[i].text[1]);
		close_side(&s);
		bystander_goes_on();
	}
}

/* A member does not talk with an endpoint that has no key. */
static void a_plain_member_is_not_used(void **state)
{
	struct side plain, s;
	uint64_t until = now_ms() + WAIT_MS;
	int ret = 0;

	logged_len = 0;
	open_side(&plain, "none", NULL);
	open_side(&s, getenv("LEVEL"), job_key);
	post_recv(&plain);
	post_send(&s, knows(&s, &plain.name));
	while (!ret && now_ms() < until) {
		ret = poll_side(&s);
		assert_true(poll_side(&plain) <= 0);
	}
	assert_int_equal(ret, -1);
	assert_null(memmem(plain.buf, SIZE, message, 1));
	assert_logged("a TLS client");
	close_side(&s);
	close_side(&plain);
}

/* Off the path: bytes of other protocols, and of nothing at all. */
static void strangers_speak(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} said[] = {
		{ "GET / HTTP/1.1\r\n\r\n", 18 },
		{ "\x16\x03\x01\x40\x01", 5 },				/* longer than a handshake */
		{ "\x16\x03\x03\x00\x05hello", 10 },
		{ "\x17\x03\x03\x00\x10" "0123456789abcdef", 21 },	/* data before the handshake */
		{ "\x15\x03\x03\x00\x02\x02\x28", 7 },			/* an alert */
		{ "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", 10 },	/* a published format */
		{ "", 0 },
	};
	uint64_t until;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		fd = connect_to(&member.name);
		assert_int_equal(send(fd, said[i].bytes, said[i].len, MSG_NOSIGNAL), said[i].len);
		for (until = now_ms() + QUIET_MS; now_ms() < until;)
			assert_true(poll_side(&member) <= 0);
		check_buffer(false);
		close(fd);
		bystander_goes_on();
	}
}

/* standing - how many of the strangers' connections the member has not closed. */
static unsigned standing(const int *fd)
{
	unsigned cnt = 0;
	char bytes[FLIGHT];
	ssize_t ret;
	size_t i;

	for (i = 0; i < STRANGERS; i++) {
		while ((ret = recv(fd[i], bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
			;
		cnt += ret < 0 && errno == EAGAIN;
	}
	return cnt;
}

/* source_limit - half of the half-open connections, which are a quarter of the descriptors or 1024. */
static unsigned source_limit(void)
{
	struct rlimit limit;

	CALL(getrlimit(RLIMIT_NOFILE, &limit));
	return (limit.rlim_cur / 4 < 1024 ? (unsigned) limit.rlim_cur / 4 : 1024) / 2;
}

/* Many that connect and say nothing, or begin a handshake and say no more, keep no member out; those of one
 * address have no more than half of the places.
 */
static void strangers_crowd(void **state)
{
	static int fd[STRANGERS];
	uint8_t begun[600];
	size_t i, len;

	assert_true(attack(PASS, 0, 0, 0));
	len = TLS_HEAD + (size_t) (proxy.bytes[0][3] << 8 | proxy.bytes[0][4]);
	assert_true(len <= sizeof(begun));
	memcpy(begun, proxy.bytes[0], len);
	for (i = 0; i < STRANGERS; i++) {
		fd[i] = connect_to(&member.name);
		if (i % 2)
			assert_true(send(fd[i], begun, len, MSG_NOSIGNAL) > 0 || errno == ECONNRESET || errno == EPIPE);
		poll_side(&member);
	}
	assert_true(attack(PASS, 0, 0, 0));
	bystander_goes_on();
	assert_true(standing(fd) <= source_limit());
	for (i = 0; i < STRANGERS; i++)
		close(fd[i]);
}

/* A connection that was led to another holder of the key is refused. */
static void a_connection_is_led_elsewhere(void **state)
{
	struct side s;

	logged_len = 0;
	proxy.attack = (struct attack) { PASS, 0, 0, 0 };
	open_side(&s, getenv("LEVEL"), job_key);
	assert_false(attempt(&s, &proxy.name));
	assert_int_equal(s.err, FI_EACCES);
	assert_logged("means another address");
	close_side(&s);
	proxy_end();
	bystander_goes_on();
}

/* ---- processes ------------------------------------------------------------------------ */

static int begin(void **state)
{
	const char *level = getenv("LEVEL");
	size_t i;

	for (i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t) (0x41 + i);
	memset(job_key, 0xa1, sizeof(job_key));
	memset(other_key, 0xb2, sizeof(other_key));
	proxy.listener = listen_at(&proxy.name);
	CALL(fi_import_log(FI_VERSION(2, 0), 0, &log_fid));
	open_side(&member, level, job_key);
	open_side(&bystander, level, job_key);
	post_recv(&member);
	bystander_goes_on();
	return 0;
}

static int end(void **state)
{
	close_side(&bystander);
	close_side(&member);
	close(proxy.listener);
	return 0;
}

static int on_path(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_capture),
		cmocka_unit_test(bits_are_flipped),
		cmocka_unit_test(streams_are_cut),
		cmocka_unit_test(records_are_moved),
		cmocka_unit_test(bytes_are_reflected),
		cmocka_unit_test(a_connection_is_replayed),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(a_plain_member_is_not_used),
		cmocka_unit_test(strangers_speak),
		cmocka_unit_test(strangers_crowd),
	};

	setenv("FI_TCP_FIREWALL_ADDR", "1", 1);
	return cmocka_run_group_tests(tests, begin, end);
}

static int led(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_is_led_elsewhere),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

/* in_child - the library reads some variables once. */
static int in_child(int (*run)(void), const char *level)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		printf("# %s\n", level);
		setenv("LEVEL", level, 1);
		exit(run() ? 1 : 0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	setenv("FI_LOG_INTERVAL", "1", 1);
	unsetenv("FI_AUTH_KEY_FILE");
	return in_child(on_path, "encrypt") + in_child(on_path, "auth") + in_child(led, "encrypt") +
	       in_child(led, "auth") ? 1 : 0;
}
