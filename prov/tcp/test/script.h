/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * script.h - helpers of the link's tests: two endpoints of one process under the fake engine,
 * and an endpoint against a socket that sends what the test wants.
 *
 * Includes cmocka and the fake engine.
 */
#ifndef TCP_SCRIPT_H
#define TCP_SCRIPT_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <fcntl.h>
#include <sys/socket.h>

#include "tcp/common.h"
#include "tcp/frame.h"
#include "tcp/test/fake.h"

/* ---- two endpoints ------------------------------------------------------------------ */

static inline struct eng_peer *peer_at(struct eng_ep *ep, struct eng_ep *other)
{
	union net_sa addr = fake_name(other->link);

	return fake_peer(ep, &addr);
}

static inline void pull_both(struct eng_ep *a, struct eng_ep *b)
{
	fake_pull_some(a);
	fake_pull_some(b);
}

/* sent_before_close - how many packets arrive from an endpoint that closes right after @send_all
 * has sent them.  It is in another process, because close() does not poll other endpoints.
 */
static inline uint64_t sent_before_close(void (*send_all)(struct eng_peer *peer, size_t arg),
					 size_t arg)
{
	/* static: not a leak in the child */
	static struct eng_ep *b;
	struct eng_peer *ba;
	union net_sa to;
	uint64_t got;
	int status;
	pid_t pid;

	b = fake_ep(FI_EP_RDM, 0);
	to = fake_name(b->link);
	pid = fork();
	if (!pid) {
		struct eng_ep *a;

		fake_start();	/* a separate progress group */
		a = fake_ep(FI_EP_RDM, 0);
		send_all(fake_peer(a, &to), arg);
		fake_close(a, 20000);
		_exit(0);
	}
	FAKE_UNTIL(10000, !list_empty(&b->peers));
	ba = container_of(b->peers.next, struct eng_peer, node);
	FAKE_UNTIL(10000, (fake_pull_some(b), ba->down));
	got = ba->rx_cnt;
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	fake_close(b, 0);
	return got;
}

/* ---- an endpoint against a scripted one --------------------------------------------- */

struct script {
	union net_sa addr;		/* of our listener */
	int listener;
	struct tcp_hello hello;		/* what we send */
};

static inline struct script script_open(void)
{
	struct script script = { .addr = fake_loopback(0) };
	socklen_t len = 16;

	script.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(script.listener, &script.addr.sa, len), 0);
	assert_int_equal(listen(script.listener, 5), 0);
	assert_int_equal(getsockname(script.listener, &script.addr.sa, &len), 0);
	script.hello = (struct tcp_hello) {
		.type = TCP_WIRE_HELLO,
		.kind = TCP_WIRE_RDM,
		.epoch = 1,
		.serial = 1,
		.max_payload = 100,
		.addr = script.addr,
	};
	return script;
}

static inline int script_accept(struct script *script)
{
	uint64_t until = clock_deadline(60000);
	int fd;

	do {
		fake_poll();
		fd = accept4(script->listener, NULL, NULL, SOCK_NONBLOCK);
	} while (fd < 0 && clock_ns() < until);
	assert_true(fd >= 0);
	return fd;
}

static inline int script_connect(struct eng_ep *ep)
{
	union net_sa to = fake_name(ep->link);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, &to.sa, 16), 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static inline void script_send(struct script *script, int fd)
{
	uint8_t buf[TCP_WIRE_HELLO_SIZE];

	tcp_hello_pack(&script->hello, buf);
	assert_int_equal(send(fd, buf, sizeof(buf), MSG_NOSIGNAL), sizeof(buf));
}

/* script_answer - answer the HELLO @request at @fd with @type. */
static inline void script_answer(struct script *script, int fd, const struct tcp_hello *request,
				 enum tcp_wire_type type, uint32_t reason)
{
	script->hello.type = type;
	script->hello.reason = reason;
	script->hello.serial = request->serial;
	script_send(script, fd);
}

/* script_recv - receive a handshake packet, or the one that is in a request in the common form; false:
 * the connection ends instead.
 */
static inline bool script_recv(int fd, struct tcp_hello *hello)
{
	uint8_t buf[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX];
	uint64_t until = clock_deadline(60000);
	size_t have = 0, need;
	ssize_t ret;

	for (;;) {
		fake_poll();
		need = have && buf[0] == XNET_CM_VERSION ? xnet_cm_need(buf, have) : tcp_hello_need(buf, have);
		ret = recv(fd, buf + have, need - have, 0);
		if (!ret)
			return false;
		if (ret > 0) {
			have += (size_t) ret;
			if (tcp_hello_parse(buf, have, hello) == TCP_HELLO_OK ||
			    (buf[0] == XNET_CM_VERSION && have == TCP_COMMON_RDM_SIZE &&
			     tcp_hello_parse(buf + TCP_COMMON_RDM_SIZE - TCP_WIRE_HELLO_SIZE,
					     TCP_WIRE_HELLO_SIZE, hello) == TCP_HELLO_OK))
				return true;
		}
		assert_true(clock_ns() < until);
	}
}

/* ---- the frame of a test ------------------------------------------------------------- */

static inline int start(void **state)
{
	fake_start();
	return 0;
}

static inline int stop(void **state)
{
	fake_stop();
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

#endif
