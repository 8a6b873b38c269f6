/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/test/verify.h"

#include "net/sock.h"

static union net_sa loopback(int family)
{
	union net_sa sa;

	assert_int_equal(net_addr_parse_host(family == AF_INET ? "127.0.0.1" : "::1", &sa), 0);
	return sa;
}

static int get_int(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

static void test_open(void **state)
{
	int fd;

	assert_int_equal(net_sock_open(AF_INET, SOCK_STREAM, &fd), 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	fd = -5;
	assert_true(net_sock_open(AF_UNIX, 9999, &fd) < 0);
	assert_int_equal(fd, -5);
	if (net_sock_open(AF_INET6, SOCK_DGRAM, &fd))
		return;		/* IPv6 is disabled */
	assert_int_equal(get_int(fd, IPPROTO_IPV6, IPV6_V6ONLY), 1);
	close(fd);
}

static void test_ports(void **state)
{
	struct net_ports ports = { 7, 8 };

	assert_int_equal(net_ports_set(0, 0, &ports), 0);
	assert_int_equal(ports.low, 0);
	assert_int_equal(net_ports_set(5000, 5010, &ports), 0);
	assert_int_equal(ports.low, 5000);
	assert_int_equal(ports.high, 5010);
	assert_int_equal(net_ports_set(60000, 0, &ports), 0);
	assert_int_equal(ports.high, 65535);
	assert_int_equal(net_ports_set(1, 1, &ports), 0);
	assert_int_equal(net_ports_set(0, 10, &ports), -FI_EINVAL);
	assert_int_equal(net_ports_set(-1, 10, &ports), -FI_EINVAL);
	assert_int_equal(net_ports_set(11, 10, &ports), -FI_EINVAL);
	assert_int_equal(net_ports_set(1, 65536, &ports), -FI_EINVAL);
	assert_int_equal(ports.low, 1);
}

/* free_range - two adjacent ports that are free at the moment. */
static int free_range(struct net_ports *ports, int *fd)
{
	union net_sa sa = loopback(AF_INET);
	int port;

	for (port = 21000; port < 31000; port += 2) {
		assert_int_equal(net_sock_open(AF_INET, SOCK_STREAM, &fd[0]), 0);
		assert_int_equal(net_sock_open(AF_INET, SOCK_STREAM, &fd[1]), 0);
		net_ports_set(port, port + 1, ports);
		if (!net_sock_bind(fd[0], &sa.sa, ports, NULL) &&
		    !net_sock_bind(fd[1], &sa.sa, ports, NULL))
			return 0;
		close(fd[0]);
		close(fd[1]);
	}
	return -1;
}

static void test_bind_in_range(void **state)
{
	union net_sa sa = loopback(AF_INET), a, b;
	struct net_ports ports;
	int fd[3];

	assert_int_equal(free_range(&ports, fd), 0);
	assert_int_equal(net_sock_name(fd[0], &a), 0);
	assert_int_equal(net_sock_name(fd[1], &b), 0);
	assert_in_range(net_addr_port(&a.sa), ports.low, ports.high);
	assert_in_range(net_addr_port(&b.sa), ports.low, ports.high);
	assert_int_not_equal(net_addr_port(&a.sa), net_addr_port(&b.sa));

	/* the range is in use: an error in bounded time, and the socket stays usable */
	assert_int_equal(net_sock_open(AF_INET, SOCK_STREAM, &fd[2]), 0);
	assert_int_equal(net_sock_bind(fd[2], &sa.sa, &ports, NULL), -FI_EADDRINUSE);
	assert_true(strstr(net_sock_advice(-FI_EADDRINUSE), "ss -ltnp") != NULL);
	close(fd[0]);
	assert_int_equal(net_sock_bind(fd[2], &sa.sa, &ports, &b), 0);
	assert_int_equal(net_addr_cmp(&a.sa, &b.sa), 0);
	close(fd[1]);
	close(fd[2]);
}

static void test_bind_without_range(void **state)
{
	union net_sa sa = loopback(AF_INET), bound;
	const struct net_ports none = { 0, 0 };
	int fd, fd2;

	assert_int_equal(net_sock_open(AF_INET, SOCK_DGRAM, &fd), 0);
	assert_int_equal(net_sock_bind(fd, &sa.sa, &none, &bound), 0);
	assert_true(net_addr_port(&bound.sa) > 0);
	assert_true(net_addr_same_host(&bound.sa, &sa.sa));
	/* a port that was asked for is used, in the range or not */
	assert_int_equal(net_sock_open(AF_INET, SOCK_DGRAM, &fd2), 0);
	assert_int_equal(net_sock_bind(fd2, &bound.sa, NULL, NULL), -FI_EADDRINUSE);
	close(fd);
	close(fd2);
}

static void test_bind_to_a_foreign_address(void **state)
{
	union net_sa sa;
	int fd;

	assert_int_equal(net_addr_parse_host("192.0.2.254", &sa), 0);
	assert_int_equal(net_sock_open(AF_INET, SOCK_STREAM, &fd), 0);
	assert_int_equal(net_sock_bind(fd, &sa.sa, NULL, NULL), -FI_EADDRNOTAVAIL);
	close(fd);
}

static void connect_pair(int family, int fd[3], union net_sa *addr)
{
	union net_sa sa = loopback(family);
	int tries;

	assert_int_equal(net_sock_open(family, SOCK_STREAM, &fd[0]), 0);
	assert_int_equal(net_sock_reuse(fd[0]), 0);
	assert_int_equal(net_sock_bind(fd[0], &sa.sa, NULL, addr), 0);
	assert_int_equal(net_sock_listen(fd[0], 0), 0);
	assert_int_equal(net_sock_open(family, SOCK_STREAM, &fd[1]), 0);
	if (connect(fd[1], &addr->sa, (socklen_t) net_addr_len(&addr->sa)))
		assert_int_equal(errno, EINPROGRESS);
	fd[2] = -1;
	for (tries = 0; fd[2] < 0 && tries < 1000; tries++) {
		fd[2] = accept(fd[0], NULL, NULL);
		if (fd[2] < 0)
			usleep(1000);
	}
	assert_true(fd[2] >= 0);
}

static void test_connection(void **state)
{
	const struct net_keepalive ka = { .idle_s = 5, .intvl_s = 2, .probes = 3,
					  .unacked_ms = 9000 };
	size_t snd = 65536, rcv = 0;
	union net_sa addr;
	int fd[3];

	connect_pair(AF_INET, fd, &addr);
	assert_int_equal(net_sock_error(fd[1]), 0);
	assert_int_equal(net_sock_nodelay(fd[1], 1), 0);
	assert_true(get_int(fd[1], IPPROTO_TCP, TCP_NODELAY));
	assert_int_equal(net_sock_nodelay(fd[1], 0), 0);
	assert_false(get_int(fd[1], IPPROTO_TCP, TCP_NODELAY));
	assert_int_equal(net_sock_keepalive(fd[1], &ka), 0);
	assert_true(get_int(fd[1], SOL_SOCKET, SO_KEEPALIVE));
	assert_int_equal(get_int(fd[1], IPPROTO_TCP, TCP_KEEPIDLE), 5);
	assert_int_equal(get_int(fd[1], IPPROTO_TCP, TCP_KEEPINTVL), 2);
	assert_int_equal(get_int(fd[1], IPPROTO_TCP, TCP_KEEPCNT), 3);
	assert_int_equal(get_int(fd[1], IPPROTO_TCP, TCP_USER_TIMEOUT), 9000);
	assert_int_equal(net_sock_delay_acks(fd[1]), 0);
	assert_false(get_int(fd[1], IPPROTO_TCP, TCP_QUICKACK));
	assert_int_equal(net_sock_buffers(fd[1], &snd, &rcv), 0);
	assert_int_equal(snd, 65536);
	assert_true(rcv > 0);
	close(fd[0]);
	close(fd[1]);
	close(fd[2]);
}

/* Linux always has "reno". */
static void test_congestion(void **state)
{
	char name[32] = "";
	socklen_t len = sizeof(name);
	int fd;

	assert_int_equal(net_sock_open(AF_INET, SOCK_STREAM, &fd), 0);
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4)) {
		assert_int_equal(errno, ENOENT);	/* of an emulator that turns the name round as a number */
		close(fd);
		skip();
	}
	assert_int_equal(net_sock_congestion(fd, "no-such-thing"), -ENOENT);
	assert_int_equal(net_sock_congestion(fd, "reno"), 0);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len), 0);
	assert_string_equal(name, "reno");
	close(fd);
}

static void test_refused(void **state)
{
	union net_sa addr;
	int fd[3], fd2, tries, err = 0;

	connect_pair(AF_INET, fd, &addr);
	close(fd[0]);
	close(fd[1]);
	close(fd[2]);
	assert_int_equal(net_sock_open(AF_INET, SOCK_STREAM, &fd2), 0);
	if (connect(fd2, &addr.sa, (socklen_t) net_addr_len(&addr.sa)) && errno != EINPROGRESS)
		err = -errno;
	for (tries = 0; !err && tries < 1000; tries++) {
		err = net_sock_error(fd2);
		usleep(1000);
	}
	assert_int_equal(err, -FI_ECONNREFUSED);
	assert_true(net_sock_advice(err)[0] != '\0');
	close(fd2);
}

static void test_bad_descriptor(void **state)
{
	union net_sa sa = loopback(AF_INET);

	assert_int_equal(net_sock_name(-1, &sa), -FI_EBADF);
	assert_int_equal(net_sock_error(-1), -FI_EBADF);
	assert_int_equal(net_sock_bind(-1, &sa.sa, NULL, NULL), -FI_EBADF);
	assert_int_equal(net_sock_listen(-1, 5), -FI_EBADF);
}

static void test_source(void **state)
{
	union net_sa dest = loopback(AF_INET), source;

	assert_int_equal(net_sock_source(&dest.sa, &source), 0);
	assert_int_equal(net_addr_cmp(&source.sa, &dest.sa), 0);	/* port 0 */
	dest.sa.sa_family = AF_UNIX;
	assert_int_equal(net_sock_source(&dest.sa, &source), -FI_EINVAL);
}

static void test_advice(void **state)
{
	assert_string_equal(net_sock_advice(0), "");
	assert_string_equal(net_sock_advice(-EINTR), "");
	assert_string_equal(net_sock_advice(EMFILE), net_sock_advice(-EMFILE));
	assert_non_null(strstr(net_sock_advice(EMFILE), "ulimit -n"));
	assert_non_null(strstr(net_sock_advice(EINVAL), "link-local"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_bind_in_range),
		cmocka_unit_test(test_bind_without_range),
		cmocka_unit_test(test_bind_to_a_foreign_address),
		cmocka_unit_test(test_connection),
		cmocka_unit_test(test_congestion),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bad_descriptor),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
