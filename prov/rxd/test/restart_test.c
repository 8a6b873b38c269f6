/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * A peer is killed and restarted at its address, then killed and not restarted: each time what
 * was sent to it ends with an error in bounded time, and the next send to the restarted one
 * arrives.  Through the public API, over udp;ofi_rxd on loopback, without a key and with one, which the restarted
 * process has as well.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "side.h"

/* Receives until it is killed. */
static void serve(const char *port, int ready)
{
	struct fi_cq_msg_entry entry;
	struct side s;
	char buf[64];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	side_open(&s, port);
	CHECK(write(ready, "r", 1) == 1);
	for (;;) {
		CHECK(!fi_recv(s.ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, NULL));
		while (fi_cq_sread(s.cq, &entry, 1, NULL, 1000) == -FI_EAGAIN)
			;
	}
}

static pid_t server_start(const char *port)
{
	int ready[2];
	pid_t pid;
	char c;

	CHECK(!pipe(ready));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		serve(port, ready[1]);
	close(ready[1]);
	CHECK(read(ready[0], &c, 1) == 1);
	close(ready[0]);
	return pid;
}

static void server_kill(pid_t pid)
{
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, NULL, 0) == pid);
}

/* One message that is complete when the receiver has it: 0, or the error reported. */
static int deliver(struct side *s, fi_addr_t to, int limit_ms)
{
	struct iovec iov = { "hello", 5 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = to };
	uint64_t end = clock_deadline(limit_ms);
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_msg_entry entry;
	ssize_t ret;

	do {
		ret = fi_sendmsg(s->ep, &msg, FI_DELIVERY_COMPLETE | FI_COMPLETION);
		if (ret)
			fi_cq_read(s->cq, NULL, 0);
	} while (ret == -FI_EAGAIN && clock_ns() < end);
	CHECK(!ret);
	do {
		ret = fi_cq_sread(s->cq, &entry, 1, NULL, 100);
	} while (ret == -FI_EAGAIN && clock_ns() < end);
	if (ret == 1)
		return 0;
	CHECK(ret == -FI_EAVAIL);
	CHECK(fi_cq_readerr(s->cq, &err, 0) == 1);
	return err.err;
}

/* A port that was free a moment ago. */
static void find_port(char *port, size_t len)
{
	struct sockaddr_in in;
	size_t size = sizeof(in);
	struct side s;

	side_open(&s, NULL);
	CHECK(!fi_getname(&s.ep->fid, &in, &size));
	snprintf(port, len, "%u", ntohs(in.sin_port));
	side_close(&s);
}

static void restarts(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	uint64_t began;
	fi_addr_t to;
	struct side s;
	char port[16];
	pid_t pid;
	int i, err;

	find_port(port, sizeof(port));
	pid = server_start(port);
	side_open(&s, NULL);
	inet_pton(AF_INET, "127.0.0.1", &in.sin_addr);
	in.sin_port = htons((uint16_t) atoi(port));
	CHECK(fi_av_insert(s.av, &in, 1, &to, 0, NULL) == 1);
	CHECK(deliver(&s, to, 20000) == 0);
	for (i = 0; i < 3; i++) {
		server_kill(pid);
		pid = server_start(port);
		/* the restarted peer answers with RESET: no timeout */
		CHECK(deliver(&s, to, 20000) == FI_ECONNRESET);
		CHECK(deliver(&s, to, 20000) == 0);
		CHECK(deliver(&s, to, 20000) == 0);
	}
	server_kill(pid);
	began = clock_ns();
	/* the limit of time, or the system's third answer that the port is free: both come after 2 s */
	err = deliver(&s, to, 30000);
	CHECK(err == FI_ETIMEDOUT || err == FI_ECONNRESET);
	CHECK(clock_ns() - began < 10 * CLOCK_NS_PER_S);
	/* no process there: the attempt to connect times out */
	CHECK(deliver(&s, to, 30000) == FI_ETIMEDOUT);
	side_close(&s);
}

/* in_child - @path: of a key; NULL: none */
static void in_child(const char *path)
{
	int status = 1;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		if (path)
			setenv("FI_AUTH_KEY_FILE", path, 1);
		restarts();
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		exit(77);
	CHECK(!status);
}

int main(void)
{
	char path[] = "/tmp/restart_test.XXXXXX", key[32];
	int fd = mkstemp(path);

	setenv("FI_OFI_RXD_LOCAL", "0", 1);	/* datagrams, not shared memory */
	setenv("FI_OFI_RXD_PEER_TIMEOUT", "2000", 1);
	setenv("FI_OFI_RXD_CONN_TIMEOUT", "4000", 1);
	setenv("FI_LOG_LEVEL", "none", 1);
	unsetenv("FI_AUTH_KEY_FILE");
	memset(key, 0x91, sizeof(key));
	CHECK(fd >= 0 && write(fd, key, sizeof(key)) == sizeof(key) && !close(fd));
	in_child(NULL);
#if HAVE_OPENSSL
	in_child(path);
#endif
	unlink(path);
	return 0;
}
