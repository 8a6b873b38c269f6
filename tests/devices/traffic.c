/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * traffic PROVIDER KIND [LEAST] - a long message from device to device, whose copies are slow, and
 * round trips of 8 bytes of the host's memory between the same endpoints meanwhile.
 *
 * Prints how many there were while the long one was in flight.  LEAST [0]: exit with 1 if there
 * were fewer.  The copy engine does 2 MB/s; were a copy waited for, there would be two or three.
 */
#include <rdma/fi_tagged.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"
#include "pair.h"

#define LEN ((size_t) 2 << 20)

enum { LONG = 1, PING, PONG };

static struct pair pair, *const p = &pair;
static struct fi_context2 long_ctx, send_ctx, recv_ctx;
static struct fid_mr *host_mr;
static uint64_t word[2];		/* that is sent, that is received */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

static void fill(void)
{
	size_t i;

	for (i = 0; i < p->len; i++)
		p->host[i] = (char) (i * 7 + i / 251);
}

static void open_all(void)
{
	pair_open(p);
	PAIR_OK(pair_reg(p));
	PAIR_OK(fi_mr_reg(p->domain, word, sizeof(word), FI_SEND | FI_RECV, 0, 9, 0, &host_mr, NULL));
	fill();
}

static void close_all(void)
{
	PAIR_OK(fi_close(&host_mr->fid));
	pair_close(p);
}

static void post_recv(uint64_t tag)
{
	PAIR_OK(fi_trecv(p->ep, &word[1], 8, fi_mr_desc(host_mr), FI_ADDR_UNSPEC, tag, 0, &recv_ctx));
}

static void post_send(uint64_t tag, uint64_t val)
{
	long ret;

	word[0] = val;
	do
		ret = fi_tsend(p->ep, &word[0], 8, fi_mr_desc(host_mr), p->peer, tag, &send_ctx);
	while (ret == -FI_EAGAIN && fi_cq_read(p->cq, NULL, 0));
	PAIR_OK(ret);
}

/* next - the context of the next completion. */
static void *next(void)
{
	struct fi_cq_tagged_entry e;
	double end = now() + 60;
	ssize_t ret;

	while ((ret = fi_cq_read(p->cq, &e, 1)) == -FI_EAGAIN) {
		PAIR_TRUE(now() < end);
		sched_yield();
	}
	PAIR_TRUE(ret == 1);
	return e.op_context;
}

/* The second process answers until it is sent a 0, and has the long message then. */
static int second(char **argv)
{
	bool have = false, more = true;
	size_t i;

	pair_join(p, argv);
	open_all();
	PAIR_OK(fi_trecv(p->ep, p->dev, p->len, fi_mr_desc(p->mr), FI_ADDR_UNSPEC, LONG, 0, &long_ctx));
	post_recv(PING);
	pair_put(p, "", 1);
	while (more || !have) {
		void *context = next();

		have |= context == &long_ctx;
		if (context != &recv_ctx)
			continue;
		more = word[1] != 0;
		if (more)
			post_recv(PING);
		post_send(PONG, have);
	}
	memset(p->host, 0, p->len);
	PAIR_TRUE(device_get(p->host, p->dev, p->len));
	for (i = 0; i < p->len; i++)
		PAIR_TRUE(p->host[i] == (char) (i * 7 + i / 251));
	pair_put(p, "", 1);
	close_all();
	return 0;
}

/* round_trip - returns true once both ends have completed the long message. */
static bool round_trip(bool *sent)
{
	bool sending = true, waiting = true;

	post_recv(PONG);
	post_send(PING, 1);
	while (sending || waiting) {
		void *context = next();

		*sent |= context == &long_ctx;
		sending &= context != &send_ctx;
		waiting &= context != &recv_ctx;
	}
	return *sent && word[1];
}

int main(int argc, char **argv)
{
	double start, before, longest = 0, all;
	bool sent = false, over = false;
	unsigned cnt = 0, least = argc == 4 ? (unsigned) atoi(argv[3]) : 0;
	char c;

	setenv("FAKEGPU_RATE", "2", 1);
	fakegpu_use(argv);
	if (argc == 5)
		return second(argv);
	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: %s PROVIDER cuda|rocr|ze [LEAST]\n", argv[0]);
		return 2;
	}
	pair_start(p, argv[1], argv[2], LEN);
	open_all();
	PAIR_TRUE(device_put(p->dev, p->host, p->len));
	pair_get(p, &c, 1);
	start = now();
	PAIR_OK(fi_tsend(p->ep, p->dev, p->len, fi_mr_desc(p->mr), p->peer, LONG, &long_ctx));
	for (; !over; cnt++) {
		before = now();
		over = round_trip(&sent);
		if (now() - before > longest)
			longest = now() - before;
	}
	all = now() - start;
	post_recv(PONG);
	post_send(PING, 0);
	next();
	next();
	pair_get(p, &c, 1);
	close_all();
	pair_stop(p);
	printf("%s %s: %u round trips while a message was copied for %.2f s, the longest took %.3f s\n",
	       argv[1], argv[2], cnt, all, longest);
	return cnt < least;
}
