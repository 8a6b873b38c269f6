/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pair_test.c - two processes.  A datagram may be lost, so a request without a reply is
 * repeated; losses are rare over loopback, and the test counts them.
 */

#include "udp/test/world.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct pair {
	struct world w;
	fi_addr_t peer;
	pid_t child;
	int line;	/* a socket to the other process */
};

static void meet(struct pair *p)
{
	struct sockaddr_in6 other;
	size_t len = p->w.end[0].name_len;

	assert_int_equal(write(p->line, &p->w.end[0].name, len), len);
	assert_int_equal(read(p->line, &other, len), len);
	assert_int_equal(fi_av_insert(p->w.end[0].av, &other, 1, &p->peer, 0, NULL), 1);
}

/* Echo messages until an empty one arrives, or none for a long time. */
static void echo(struct pair *p)
{
	size_t max = p->w.info->ep_attr->max_msg_size;
	struct fi_cq_data_entry e;
	struct end *end = &p->w.end[0];
	uint64_t idle = ms_now();
	char *buf = malloc(max);

	OK(fi_recv(end->ep, buf, max, NULL, FI_ADDR_UNSPEC, NULL));
	while (ms_now() < idle + 10000) {
		if (fi_cq_sread(end->cq, &e, 1, NULL, 100) != 1 || !(e.flags & FI_RECV))
			continue;
		if (!e.len)
			break;
		OK(fi_injectdata(end->ep, buf, e.len, e.data, p->peer));
		OK(fi_recv(end->ep, buf, max, NULL, FI_ADDR_UNSPEC, NULL));
		idle = ms_now();
	}
	free(buf);
}

static void start(struct pair *p, const struct conf *c)
{
	int line[2];

	memset(p, 0, sizeof(*p));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, line), 0);
	fflush(NULL);
	p->child = fork();
	assert_true(p->child >= 0);
	p->line = line[!p->child];
	close(line[!!p->child]);
	world_open(&p->w, c);
	meet(p);
	if (p->child)
		return;
	echo(p);
	world_close(&p->w);
	close(p->line);
	_exit(0);
}

static void stop(struct pair *p)
{
	int status, i;

	for (i = 0; i < 100 && waitpid(p->child, &status, WNOHANG) == 0; i++) {
		OK(fi_inject(p->w.end[0].ep, NULL, 0, p->peer));
		usleep(20000);
	}
	assert_true(i < 100);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	world_close(&p->w);
	close(p->line);
}

/* One request and its reply; repeated if either was lost.  Returns the losses. */
static unsigned ask(struct pair *p, char *out, char *in, size_t len, uint64_t no)
{
	size_t max = p->w.info->ep_attr->max_msg_size;
	struct end *end = &p->w.end[0];
	struct fi_cq_data_entry e;
	unsigned lost = 0;

	OK(fi_recv(end->ep, in, max, NULL, FI_ADDR_UNSPEC, in));
	OK(fi_injectdata(end->ep, out, len, no, p->peer));
	while (lost < 20) {
		if (fi_cq_sread(end->cq, &e, 1, NULL, 500) != 1) {
			lost++;
			OK(fi_injectdata(end->ep, out, len, no, p->peer));
		} else if (e.data == no) {
			assert_int_equal(e.len, len);
			return lost;
		} else {
			OK(fi_recv(end->ep, in, max, NULL, FI_ADDR_UNSPEC, in));
		}
	}
	fail_msg("no reply");
	return lost;
}

static void pingpong(int family)
{
	struct conf c = { .family = family, .framed = true, .ends = 1, .wait = FI_WAIT_FD };
	char *out, *in;
	struct pair p;
	unsigned i, lost = 0;
	size_t max, len;

	start(&p, &c);
	max = p.w.info->ep_attr->max_msg_size;
	out = malloc(max);
	in = malloc(max);
	for (i = 0; i < 2000; i++) {
		len = i < 1000 ? 1 + i % 64 : 1 + (size_t) i * i * 31 % max;
		pattern(out, len, i);
		lost += ask(&p, out, in, len, i);
		check_pattern(in, len, i);
	}
	assert_in_range(lost, 0, 5);
	free(out);
	free(in);
	stop(&p);
}

static void pingpong_v4(void **state)
{
	pingpong(AF_INET);
}

static void pingpong_v6(void **state)
{
	pingpong(AF_INET6);
}

/* The other process is killed; this one continues with a new process at its address. */
static void peer_killed(void **state)
{
	struct conf c = { .framed = true, .ends = 1, .wait = FI_WAIT_FD };
	struct pair p, q;
	char out[8] = "x", *in;
	int i;

	start(&p, &c);
	in = malloc(p.w.info->ep_attr->max_msg_size);
	ask(&p, out, in, 1, 1);
	kill(p.child, SIGKILL);
	waitpid(p.child, NULL, 0);
	for (i = 0; i < 100; i++)
		OK(fi_inject(p.w.end[0].ep, out, 1, p.peer));
	start(&q, &c);
	ask(&q, out, in, 1, 2);
	stop(&q);
	free(in);
	world_close(&p.w);
	close(p.line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pingpong_v4),
		cmocka_unit_test(pingpong_v6),
		cmocka_unit_test(peer_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
