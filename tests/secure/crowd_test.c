/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Strangers without a key that reach the port of a member with few descriptors, and keep their connections open,
 * whatever they said: others still talk with the member, and who has begun to prove the key is not sent away for one
 * who says nothing.
 */
#include "tests/secure/ends.h"

#include <fcntl.h>
#include <signal.h>

#define FILES 256		/* descriptors of the member: 64 connections may be half open */
#define STRANGERS 600
#define SOURCES 16		/* addresses of theirs */
#define MEMBERS 8
#define SLOW_MS 300
#define IN_BACKLOG 60		/* of a passive endpoint */

static int stranger[STRANGERS];

/* ---- the member, in a process of its own ----------------------------------------------------- */

static void be_member(int tell)
{
	struct rlimit limit = { FILES, FILES };
	struct end *e;

	polled_cnt = 0;
	CALL(setrlimit(RLIMIT_NOFILE, &limit));
	e = end_open(job, true);
	CHECK(write(tell, &e->name, sizeof(e->name)) == sizeof(e->name));
	while (type == FI_EP_MSG)
		end_poll(e);
	for (;; e->done = 0) {
		post_long_recv(e, SHORT);
		while (!e->done)
			end_poll(e);
	}
}

static pid_t start_member(struct sockaddr_in *name)
{
	int tell[2];
	pid_t pid;

	CALL(pipe(tell));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		be_member(tell[1]);
	CHECK(read(tell[0], name, sizeof(*name)) == sizeof(*name));
	close(tell[0]);
	close(tell[1]);
	return pid;
}

static void end_member(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

/* ---- strangers ---------------------------------------------------------------------------------- */

static void strangers_come(const struct sockaddr_in *to, unsigned cnt, unsigned sources, const char *said, size_t len)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	unsigned i;

	for (i = 0; i < cnt; i++) {
		from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + i % sources);
		stranger[i] = socket(AF_INET, SOCK_STREAM, 0);
		CHECK(stranger[i] >= 0);
		setsockopt(stranger[i], IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int) { 1 }, sizeof(int));
		CALL(bind(stranger[i], (struct sockaddr *) &from, sizeof(from)));
		CALL(connect(stranger[i], (const struct sockaddr *) to, sizeof(*to)));
		if (len)
			send(stranger[i], said, len, MSG_NOSIGNAL);
	}
}

static void strangers_go(unsigned cnt)
{
	while (cnt)
		close(stranger[--cnt]);
}

/* ---- tests ------------------------------------------------------------------------------------- */

/* meet - connect; and over RDM endpoints, which do so when they send, a message arrives. */
static void meet(struct end *a, const struct sockaddr_in *name)
{
	if (end_connect(a, name) || type == FI_EP_MSG)
		return;
	start(a, a, OP_HELD, SHORT);
	while (!a->done && !a->err)
		poll_all();
}

static void strangers_stay(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} said[] = {
		{ "", 0 },
		{ "\x16", 1 },
		{ "\x01GET / HTTP", 11 },			/* refused as another protocol */
		{ "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03", 10 },	/* refused by TLS */
	};
	struct sockaddr_in name;
	struct end *a;
	size_t i, k;
	pid_t pid;

	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		pid = start_member(&name);
		strangers_come(&name, STRANGERS, SOURCES, said[i].bytes, said[i].len);
		for (k = 0; k < MEMBERS; k++) {
			a = end_open(job, false);
			meet(a, &name);
			if (a->err)
				fail_msg("said %zu, member %zu: %s", i, k, fi_strerror(a->err));
			end_close(a);
		}
		strangers_go(STRANGERS);
		end_member(pid);
	}
}

/* A client computes in the middle of the handshake while strangers of its host connect.  It is a MSG endpoint, for
 * which nothing connects again.
 */
static void one_that_has_begun_stays(void **state)
{
	struct sockaddr_in name;
	uint64_t until;
	struct end *a;
	pid_t pid;

	if (type != FI_EP_MSG)
		skip();
	pid = start_member(&name);
	a = end_open(job, false);
	kill(pid, SIGSTOP);
	CALL(fi_connect(a->ep, &name, NULL, 0));
	for (until = now_ms() + SLOW_MS; now_ms() < until;)
		end_poll(a);
	strangers_come(&name, IN_BACKLOG, 1, "", 0);
	kill(pid, SIGCONT);
	poll(NULL, 0, SLOW_MS);
	for (until = now_ms() + WAIT_MS; !a->connected && !a->err && now_ms() < until;)
		end_poll(a);
	assert_int_equal(a->err, 0);
	assert_true(a->connected);
	strangers_go(IN_BACKLOG);
	end_close(a);
	end_member(pid);
}

static int crowds(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers_stay),
		cmocka_unit_test(one_that_has_begun_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	struct rlimit limit;

	CALL(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = limit.rlim_max;
	CALL(setrlimit(RLIMIT_NOFILE, &limit));
	if (limit.rlim_cur < 2 * STRANGERS)
		return 77;
	prepare();
	unsetenv("FI_TCP_FIREWALL_ADDR");
	return in_child(crowds, FI_EP_RDM, "encrypt") + in_child(crowds, FI_EP_MSG, "encrypt") ? 1 : 0;
}
