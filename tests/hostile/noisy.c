/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * noisy - a peer whose every request is refused, so that it could fill the log, of a
 * program whose standard error is a pipe that nobody reads.
 *
 * The program goes on, and writes few lines.
 */
#include <fcntl.h>

#include "../limit.h"
#include "peer.h"

#define REFUSED 2000
#define INTERVAL_MS 2000	/* FI_LOG_INTERVAL */
#define LINES_MAX 12		/* in it: ten, and how many were left out */

static struct node node;
static struct target target;
static struct fi_context2 ctx;
static char mem[4096];

static void run_peer(void)
{
	fi_addr_t to = peer_open(&node, &target);
	struct fi_cq_tagged_entry entry;
	int err, i;

	for (i = 0; i < REFUSED; i++) {
		while (fi_read(node.ep, mem, 8, NULL, to, target.addr, target.key + 5, &ctx) ==
		       -FI_EAGAIN)
			fi_cq_read(node.cq, NULL, 0);
		CHECK(node_reap(&node, &entry, &err, 20000), "no answer");
		CHECK(err == FI_ENOKEY, "%s", fi_strerror(err));
	}
	node_write(STDOUT_FILENO, "", 1);
	pause();
}

/* fill - the pipe has room for nothing more. */
static void fill(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	CHECK(!fcntl(fd, F_SETFL, flags | O_NONBLOCK));
	while (write(fd, "x", 1) == 1)
		;
	CHECK(!fcntl(fd, F_SETFL, flags));
}

static void serve(struct peer *p)
{
	char byte;

	while (!peer_speaks(p->in))
		fi_cq_read(node.cq, NULL, 0);
	node_read(p->in, &byte, 1);
}

static int lines(int fd)
{
	static char text[1 << 20];
	ssize_t len;
	int cnt = 0;

	CHECK(!fcntl(fd, F_SETFL, O_NONBLOCK));
	while ((len = read(fd, text, sizeof(text))) > 0)
		while (len--)
			cnt += text[len] == '\n';
	return cnt;
}

int main(int argc, char **argv)
{
	struct fid_mr *mr;
	struct peer p[2];
	int log[2], own, cnt, most;
	uint64_t since;

	node_stay_far(0);
	if (argc > 1)
		run_peer();
	limit_time(200, NULL);
	node_open(&node, "127.0.0.1", 0, 1, CAPS, FI_PROGRESS_MANUAL);
	mr = peer_region(&node, mem, sizeof(mem), &target);
	p[0] = peer_start("peer", &target);
	p[1] = peer_start("peer", &target);
	own = dup(STDERR_FILENO);
	CHECK(!pipe(log));
	CHECK(dup2(log[1], STDERR_FILENO) == STDERR_FILENO);
	since = node_now_ms();
	serve(&p[0]);
	most = LINES_MAX * (2 + (int) (node_now_ms() - since) / INTERVAL_MS);
	cnt = lines(log[0]);
	fill(log[1]);
	serve(&p[1]);
	CHECK(dup2(own, STDERR_FILENO) == STDERR_FILENO);
	CHECK(cnt && cnt <= most, "%d lines; %d may come", cnt, most);
	peer_end(&p[0]);
	peer_end(&p[1]);
	CALL(fi_close(&mr->fid));
	node_close(&node);
	return 0;
}
