/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "ctrl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/test/verify.h"

#include <rdma/fi_errno.h>

static struct pp_ctrl a, b;

static int open_pair(void **state)
{
	int fd[2];

	pp_ctrl_init(&a);
	pp_ctrl_init(&b);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		return -1;
	a.fd = fd[0];
	b.fd = fd[1];
	return 0;
}

static int close_pair(void **state)
{
	pp_ctrl_close(&a);
	pp_ctrl_close(&b);
	return 0;
}

static void test_frames(void **state)
{
	char buf[16];
	size_t len = sizeof(buf);

	assert_int_equal(pp_ctrl_send(&a, PP_ADDR, "where", 5), 0);
	assert_int_equal(pp_ctrl_recv(&b, PP_ADDR, buf, &len), 0);
	assert_int_equal(len, 5);
	assert_memory_equal(buf, "where", 5);
}

static void test_peek(void **state)
{
	assert_int_equal(pp_ctrl_peek(&b), 0);
	assert_int_equal(pp_ctrl_send(&a, PP_STEP, NULL, 0), 0);
	assert_int_equal(pp_ctrl_peek(&b), PP_STEP);
	assert_int_equal(pp_ctrl_peek(&b), PP_STEP);
	assert_int_equal(pp_ctrl_step(&b, NULL, NULL), 0);
	assert_int_equal(pp_ctrl_peek(&b), 0);
}

static void test_reason_travels(void **state)
{
	size_t len = 0;

	pp_ctrl_fail(&a, "out of %s", "luck");
	assert_true(a.failed);
	assert_int_equal(pp_ctrl_peek(&b), -FI_ECONNABORTED);
	assert_true(b.failed);
	pp_ctrl_fail(&b, "a consequence, which is not sent back");
	pp_ctrl_close(&b);
	assert_int_equal(pp_ctrl_recv(&a, PP_STEP, NULL, &len), -FI_ECONNABORTED);
}

static void test_other_programs(void **state)
{
	char buf[16];
	size_t len = sizeof(buf);

	assert_int_equal(write(a.fd, "GET / HTTP/1.1\r\n\r\n", 18), 18);
	assert_int_equal(pp_ctrl_recv(&b, PP_HELLO, buf, &len), -FI_EPROTO);
}

static void test_too_long_for_the_reader(void **state)
{
	char buf[4];
	size_t len = sizeof(buf);

	assert_int_equal(pp_ctrl_send(&a, PP_ADDR, "longer", 6), 0);
	assert_int_equal(pp_ctrl_recv(&b, PP_ADDR, buf, &len), -FI_EPROTO);
}

static void test_gone(void **state)
{
	char buf[16];
	size_t len = sizeof(buf);

	pp_ctrl_close(&a);
	assert_int_equal(pp_ctrl_peek(&b), -FI_ECONNABORTED);
	assert_int_equal(pp_ctrl_recv(&b, PP_ADDR, buf, &len), -FI_ECONNABORTED);
	assert_int_equal(pp_ctrl_send(&b, PP_ADDR, "x", 1), -FI_ECONNABORTED);
}

static void test_listen_accept_connect(void **state)
{
	struct pp_options o = { .local = true };
	const struct sockaddr_in *sin = (void *) &b.peer;
	uint16_t port;

	close_pair(state);
	assert_int_equal(pp_ctrl_listen(&a, &o, &port), 0);
	assert_int_not_equal(port, 0);
	o.host = "127.0.0.1";
	o.dst_port = port;
	assert_int_equal(pp_ctrl_connect(&b, &o), 0);
	assert_int_equal(pp_ctrl_accept(&a), 0);
	assert_int_equal(ntohs(sin->sin_port), port);
	assert_int_equal(pp_ctrl_send(&a, PP_STEP, NULL, 0), 0);
	assert_int_equal(pp_ctrl_step(&b, NULL, NULL), 0);
}

/* ---- what the two sides are: the second one is played by its bytes ------------------------- */

static const struct pp_options some = { .ep_type = FI_EP_RDM, .iters = 20, .warmup = 5,
					.provider = "tcp", .sizes = { 8, 64 }, .size_cnt = 2 };

static char said[4096];

/* pp_ctrl_hello() of @a, with its stderr in said[]; the other side sends these bytes. */
static int bytes_with(const char *bytes, size_t len)
{
	int out = dup(STDERR_FILENO), fd[2], ret;
	ssize_t got;

	if (len)
		assert_int_equal(write(b.fd, bytes, len), len);
	assert_int_equal(pipe(fd), 0);
	dup2(fd[1], STDERR_FILENO);
	close(fd[1]);
	ret = pp_ctrl_hello(&a, &some);
	dup2(out, STDERR_FILENO);
	close(out);
	got = read(fd[0], said, sizeof(said) - 1);
	close(fd[0]);
	said[got > 0 ? got : 0] = '\0';
	return ret;
}

/* The same; they are @len bytes of @frame, as one frame. */
static int hello_with(const char *frame, size_t len)
{
	assert_int_equal(pp_ctrl_send(&b, PP_HELLO, frame, len), 0);
	return bytes_with(NULL, 0);
}

/* @text, zero, @side */
static int hello_as(const char *text, const char *side)
{
	char frame[PP_FRAME_MAX];

	strcpy(frame, text);
	strcpy(frame + strlen(text) + 1, side);
	return hello_with(frame, strlen(text) + 1 + strlen(side));
}

/* The same; they are the length of an address in network order, its format in host order, and its bytes. */
static int address_with(uint32_t addr_len, uint32_t format, const char *addr, size_t len)
{
	char bytes[64];

	addr_len = htonl(addr_len);
	memcpy(bytes, &addr_len, sizeof(addr_len));
	memcpy(bytes + sizeof(addr_len), &format, sizeof(format));
	memcpy(bytes + sizeof(addr_len) + sizeof(format), addr, len);
	return bytes_with(bytes, sizeof(addr_len) + sizeof(format) + len);
}

static void wants(const char *text)
{
	if (!strstr(said, text))
		fail_msg("wanted \"%s\" in: %s", text, said);
}

/* What hello_with() is told by the fi_pingpong of another libfabric: its server begins with an
 * address, its client waits for one and closes.
 */
static void test_other_pingpong(void **state)
{
	static const char inet[] = { 2, 0, 0x97, 7, 127, 0, 0, 1 }, text[] = "fi_shm://12421:0:0";

	assert_int_equal(address_with(16, FI_SOCKADDR_IN, inet, sizeof(inet)), -FI_EPROTO);
	wants("the fi_pingpong of another libfabric");
	close_pair(state);
	open_pair(state);
	assert_int_equal(address_with(19, FI_ADDR_STR, text, sizeof(text)), -FI_EPROTO);
	wants("the fi_pingpong of another libfabric");
	close_pair(state);
	open_pair(state);
	assert_int_equal(bytes_with("SSH-2.0-x\r\n", 11), -FI_EPROTO);
	wants("not this version of fi_pingpong");
	close_pair(state);
	open_pair(state);
	pp_ctrl_close(&b);
	assert_int_equal(bytes_with(NULL, 0), -FI_ECONNABORTED);
	wants("or the fi_pingpong of another libfabric");
}

static void test_same_sides(void **state)
{
	char text[256], side[64], release[32];

	assert_int_equal(sscanf(fi_tostr("", FI_TYPE_VERSION), "%31s", release), 1);
	pp_options_text(&some, text, sizeof(text));
	snprintf(side, sizeof(side), "version=%s mtu=1500", release);
	assert_int_equal(hello_as(text, side), 0);
	assert_string_equal(said, "");
	assert_string_equal(a.other.version, release);
	assert_int_equal(a.other.mtu, 1500);
}

/* Builds of one release, of different commits, are no difference that is printed. */
static void test_other_build(void **state)
{
	char text[256], side[96], release[32];

	assert_int_equal(sscanf(fi_tostr("", FI_TYPE_VERSION), "%31s", release), 1);
	pp_options_text(&some, text, sizeof(text));
	snprintf(side, sizeof(side), "version=%s (commit 0123456789ab) mtu=1500", release);
	assert_int_equal(hello_as(text, side), 0);
	assert_string_equal(said, "");
	assert_string_equal(a.other.version, release);
	assert_int_equal(a.other.mtu, 1500);
}

static void test_other_version(void **state)
{
	char text[256];

	pp_options_text(&some, text, sizeof(text));
	assert_int_equal(hello_as(text, "version=99.1.2 mtu=9000"), 0);
	wants("different versions: ");
	wants(", 99.1.2 on the other");
	assert_string_equal(a.other.version, "99.1.2");
}

static void test_other_mtu(void **state)
{
	struct pp_options o = { .local = true, .host = "127.0.0.1" };
	char text[256], side[64], wanted[96];
	uint16_t port;
	int mtu = 0;
	socklen_t len = sizeof(mtu);

	close_pair(state);
	assert_int_equal(pp_ctrl_listen(&a, &o, &port), 0);
	o.dst_port = port;
	assert_int_equal(pp_ctrl_connect(&b, &o), 0);
	assert_int_equal(pp_ctrl_accept(&a), 0);
	if (getsockopt(a.fd, IPPROTO_IP, IP_MTU, &mtu, &len)) {
		assert_int_equal(errno, ENOPROTOOPT);	/* of an emulator */
		skip();
	}
	pp_options_text(&some, text, sizeof(text));
	snprintf(side, sizeof(side), "version=%s mtu=1280", fi_tostr("", FI_TYPE_VERSION));
	assert_int_equal(hello_as(text, side), 0);
	snprintf(wanted, sizeof(wanted), "different MTUs: %d on this side, 1280 on the other", mtu);
	wants(wanted);
}

/* An older one sends the options alone; and it compares what precedes the zero byte. */
static void test_older(void **state)
{
	char text[256], frame[PP_FRAME_MAX];
	size_t len = sizeof(frame), largest = 99;

	pp_options_text(&some, text, sizeof(text));
	assert_int_equal(hello_with(text, strlen(text)), 0);
	wants("the other side is an older fi_pingpong");
	assert_int_equal(pp_ctrl_recv(&b, PP_HELLO, frame, &len), 0);
	frame[len] = '\0';
	assert_string_equal(frame, text);
	/* and is not asked what it does not know */
	assert_int_equal(pp_ctrl_largest(&a, &largest), 0);
	assert_int_equal(largest, 99);
	assert_int_equal(pp_ctrl_peek(&b), 0);
}

static void test_other_options(void **state)
{
	struct pp_options o = some;
	char text[256];

	o.iters = 50;
	o.size_cnt = 1;
	pp_options_text(&o, text, sizeof(text));
	assert_int_equal(hello_as(text, "version=x mtu=0"), -FI_EINVAL);
	wants("different tests\n  only this side: -I 20 -S 8,64\n  only other side: -I 50 -S 8\n");
}

static void test_largest(void **state)
{
	size_t largest = 4096;

	strcpy(a.other.version, "x");
	assert_int_equal(pp_ctrl_send(&b, PP_LARGEST, "1472", 4), 0);
	assert_int_equal(pp_ctrl_largest(&a, &largest), 0);
	assert_int_equal(largest, 1472);
	assert_int_equal(pp_ctrl_send(&b, PP_LARGEST, "x", 1), 0);
	assert_int_equal(pp_ctrl_largest(&a, &largest), -FI_EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_peek, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_reason_travels, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_other_programs, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_too_long_for_the_reader, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_gone, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_other_pingpong, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_same_sides, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_other_build, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_other_version, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_other_mtu, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_older, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_other_options, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_largest, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_listen_accept_connect, open_pair, close_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
