/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "ctrl.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_peek, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_reason_travels, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_other_programs, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_too_long_for_the_reader, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_gone, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_listen_accept_connect, open_pair, close_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
