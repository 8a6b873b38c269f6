/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * idle - a process that waits in fi_cq_sread() uses no processor time, with manual and
 * automatic progress, connected or not.
 */
#include <string.h>
#include <sys/resource.h>

#include "node.h"

#define WAIT_MS 600
#define ALLOWED_US 6000		/* of a thousand times 600: one per cent */

static uint64_t used_us(void)
{
	struct rusage use;

	CHECK(!getrusage(RUSAGE_SELF, &use));
	return (uint64_t) (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
	       (uint64_t) (use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void wait_in_vain(struct node *n, const char *what)
{
	struct fi_cq_tagged_entry entry;
	uint64_t start = node_now_ms(), used = used_us();
	ssize_t ret = fi_cq_sread(n->cq, &entry, 1, NULL, WAIT_MS);

	used = used_us() - used;
	CHECK(ret == -FI_EAGAIN, "fi_cq_sread: %zd", ret);
	CHECK(node_now_ms() - start >= WAIT_MS - 1);
	printf("%-44s %llu us of processor time in %d ms\n", what, (unsigned long long) used,
	       WAIT_MS);
	CHECK(used <= ALLOWED_US);
}

static void carry(struct node *from, struct node *to, fi_addr_t addr)
{
	struct fi_context2 ctx[2];
	struct fi_cq_tagged_entry e;
	int err, got = 0, sent = 0;
	char data[64] = "";

	CALL(fi_recv(to->ep, data, sizeof(data), NULL, FI_ADDR_UNSPEC, &ctx[0]));
	CALL(fi_send(from->ep, data, sizeof(data), NULL, addr, &ctx[1]));
	while (!got || !sent) {
		got += node_reap(to, &e, &err, 0);
		sent += node_reap(from, &e, &err, 0);
	}
}

static void run(enum fi_progress progress, const char *mode)
{
	struct node_name name;
	struct node n[2];
	char text[64];
	fi_addr_t addr;
	int i;

	for (i = 0; i < 2; i++)
		node_open(&n[i], "127.0.0.1", 0, 1, FI_MSG, progress);
	snprintf(text, sizeof(text), "%s progress, not connected:", mode);
	wait_in_vain(&n[0], text);
	name = node_name(&n[1], 0);
	addr = node_insert(&n[0], &name);
	/* often enough for the connection to be polled directly */
	for (i = 0; i < 1000; i++)
		carry(&n[0], &n[1], addr);
	snprintf(text, sizeof(text), "%s progress, after 1000 messages:", mode);
	wait_in_vain(&n[1], text);
	wait_in_vain(&n[0], text);
	for (i = 0; i < 2; i++)
		node_close(&n[i]);
}

int main(void)
{
	node_stay_far(0);
	run(FI_PROGRESS_AUTO, "automatic");
	run(FI_PROGRESS_MANUAL, "manual");
	return 0;
}
