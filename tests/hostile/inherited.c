/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * inherited - a child of the program closes all objects that it inherited over fork().
 *
 * Its calls return 0, and it may open objects of its own.  The program and its peer, which send each other
 * messages all the time, notice nothing; with a progress thread, and without.
 */
#include "../limit.h"
#include "peer.h"

#define LEN 40000
#define BOUND_MS 20000

enum { NAME = 1, THERE, BACK, OWN };	/* tags */

static struct node node;
static struct target target;
static struct fi_context2 ctx[2];
static char out[LEN], in[LEN];

static void reap(struct node *n, int cnt)
{
	struct fi_cq_tagged_entry entry;
	int err;

	while (cnt--)
		CHECK(node_reap(n, &entry, &err, BOUND_MS) && !err, "an operation does not end, or fails: %d", err);
}

static void send_to(struct node *n, fi_addr_t to, const void *buf, size_t len, uint64_t tag)
{
	ssize_t ret;

	while ((ret = fi_tsend(n->ep, buf, len, NULL, to, tag, &ctx[0])) == -FI_EAGAIN)
		fi_cq_read(n->cq, NULL, 0);
	CALL(ret);
}

/* The peer sends its name, then each message back. */
static void run_peer(void)
{
	fi_addr_t to = peer_open(&node, &target);
	struct node_name mine = node_name(&node, 0);
	struct fi_cq_tagged_entry entry;
	int err;

	send_to(&node, to, &mine, sizeof(mine), NAME);
	reap(&node, 1);
	for (;;) {
		CALL(fi_trecv(node.ep, in, LEN, NULL, FI_ADDR_UNSPEC, THERE, 0, &ctx[1]));
		while (!node_reap(&node, &entry, &err, BOUND_MS))
			;
		CHECK(!err);
		send_to(&node, to, in, LEN, BACK);
		reap(&node, 1);
	}
}

static void exchange(fi_addr_t to, int round)
{
	int i;

	for (i = 0; i < LEN; i++)
		out[i] = (char) (i + round);
	memset(in, 0, LEN);
	CALL(fi_trecv(node.ep, in, LEN, NULL, FI_ADDR_UNSPEC, BACK, 0, &ctx[1]));
	send_to(&node, to, out, LEN, THERE);
	reap(&node, 2);
	CHECK(!memcmp(in, out, LEN), "a message has changed");
}

/* talk_to_itself - over an endpoint of its own. */
static void talk_to_itself(enum fi_progress progress)
{
	static struct node own;
	struct node_name name;
	char text[8] = "";

	node_open(&own, "127.0.0.1", 0, 1, CAPS, progress);
	name = node_name(&own, 0);
	CALL(fi_trecv(own.ep, text, sizeof(text), NULL, FI_ADDR_UNSPEC, OWN, 0, &ctx[1]));
	send_to(&own, node_insert(&own, &name), "own", 4, OWN);
	reap(&own, 2);
	CHECK(!strcmp(text, "own"));
	node_close(&own);
}

static void run_child(struct fid_mr *mr, enum fi_progress progress, int opens)
{
	limit_time(3 * BOUND_MS / 1000, NULL);
	CALL(fi_close(&mr->fid));
	node_close(&node);
	if (opens)
		talk_to_itself(progress);
	exit(0);
}

/* play - Is @opens set, the child opens objects of its own; ThreadSanitizer starts no threads there. */
static void play(enum fi_progress progress, int opens)
{
	static char region[4096];
	struct node_name name;
	struct fid_mr *mr;
	int status, round = 0;
	struct peer p;
	fi_addr_t to;
	pid_t child;

	node_open(&node, "127.0.0.1", 0, 1, CAPS, progress);
	mr = peer_region(&node, region, sizeof(region), &target);
	p = peer_start("peer", &target);
	CALL(fi_trecv(node.ep, &name, sizeof(name), NULL, FI_ADDR_UNSPEC, NAME, 0, &ctx[0]));
	reap(&node, 1);
	to = node_insert(&node, &name);
	exchange(to, round++);
	child = fork();
	if (!child)
		run_child(mr, progress, opens);
	while (!waitpid(child, &status, WNOHANG))
		exchange(to, round++);
	CHECK(!status, "the child ends with %x", status);
	exchange(to, round);
	peer_end(&p);
	CALL(fi_close(&mr->fid));
	node_close(&node);
}

int main(int argc, char **argv)
{
#if defined(__SANITIZE_THREAD__)
	int opens = 0;
#else
	int opens = 1;
#endif

	if (argc > 1)
		run_peer();
	play(FI_PROGRESS_MANUAL, opens);
	play(FI_PROGRESS_AUTO, opens);
	return 0;
}
