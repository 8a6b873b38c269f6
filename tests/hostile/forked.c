/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * forked - a peer is killed, and a child of it that does nothing lives on.
 *
 * Sends to the dead one, and receives from it, must end in a bounded time all the same.
 */
#include "../limit.h"
#include "peer.h"

#define LEN ((size_t) 8 << 20)
#define CNT 4
#define BOUND_MS 20000

static struct node node;
static struct target target;
static struct fi_context2 ctx[CNT + 1];

/* The peer sends its name, forks, and tells the child's number. */
static void run_peer(void)
{
	fi_addr_t to = peer_open(&node, &target);
	struct fi_cq_tagged_entry entry;
	struct node_name mine;
	pid_t child;
	int err;

	mine = node_name(&node, 0);
	while (fi_tsend(node.ep, &mine, sizeof(mine), NULL, to, 1, &ctx[0]) == -FI_EAGAIN)
		fi_cq_read(node.cq, NULL, 0);
	CHECK(node_reap(&node, &entry, &err, 10000) && !err);
	/* both directions have been used */
	CALL(fi_trecv(node.ep, malloc(8), 8, NULL, FI_ADDR_UNSPEC, 3, 0, &ctx[0]));
	CHECK(node_reap(&node, &entry, &err, 10000) && !err);
	child = fork();
	if (!child) {
		limit_time(2 * BOUND_MS / 1000, NULL);
		for (;;)
			pause();
	}
	node_write(STDOUT_FILENO, &child, sizeof(child));
	for (;;)
		fi_cq_read(node.cq, NULL, 0);
}

static void await(int cnt, const char *what)
{
	uint64_t since = node_now_ms();
	struct fi_cq_tagged_entry entry;
	int err;

	while (cnt--) {
		CHECK(node_reap(&node, &entry, &err, BOUND_MS), "%s: %d do not end", what, cnt + 1);
		CHECK(err, "%s succeeded", what);
	}
	CHECK(node_now_ms() - since < BOUND_MS);
}

int main(int argc, char **argv)
{
	char *buf = calloc(1, LEN);
	struct fi_cq_tagged_entry entry;
	struct node_name name;
	struct peer p;
	fi_addr_t to;
	pid_t child;
	int i, err;

	node_stay_far(0);
	setenv("FI_OFI_RXD_PEER_TIMEOUT", "5000", 0);
	if (argc > 1)
		run_peer();
	node_open(&node, "127.0.0.1", 0, 1, CAPS | FI_SOURCE | FI_DIRECTED_RECV, FI_PROGRESS_MANUAL);
	target.name = node_name(&node, 0);
	p = peer_start("peer", &target);
	CALL(fi_trecv(node.ep, &name, sizeof(name), NULL, FI_ADDR_UNSPEC, 1, 0, &ctx[0]));
	CHECK(node_reap(&node, &entry, &err, 10000) && !err);
	to = node_insert(&node, &name);
	CALL(fi_tsend(node.ep, "hi", 2, NULL, to, 3, &ctx[0]));
	CHECK(node_reap(&node, &entry, &err, 10000) && !err);
	while (!peer_speaks(p.in))
		fi_cq_read(node.cq, NULL, 0);
	node_read(p.in, &child, sizeof(child));
	CALL(fi_trecv(node.ep, buf, LEN, NULL, to, 4, 0, &ctx[CNT]));
	for (i = 0; i < CNT; i++)
		CALL(fi_tsend(node.ep, buf, LEN, NULL, to, 2, &ctx[i]));
	peer_end(&p);
	await(CNT + 1, "operations with a dead peer");
	CHECK(!kill(child, 0), "the child lives");
	kill(child, SIGKILL);
	node_close(&node);
	free(buf);
	return 0;
}
