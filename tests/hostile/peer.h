/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * peer.h - a process and the ones it starts as its peers.
 *
 * A peer is this program again with the name of a role as its argument; it knows the
 * address and the region of its parent.  Manual progress: who does nothing is stopped.
 */
#ifndef HOSTILE_PEER_H
#define HOSTILE_PEER_H

#include <poll.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tcp/node.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RMA)

/* Where the parent is, and what may be read and written there. */
struct target {
	struct node_name name;
	uint64_t addr, key;
};

struct peer {
	pid_t pid;
	int in, out;		/* its standard output and input */
};

/* peer_start - run this program as @role; it gets @target. */
static inline struct peer peer_start(const char *role, const struct target *target)
{
	const char *const argv[] = { "peer", role, NULL };
	struct peer p;

	p.pid = node_spawn(argv, &p.in, &p.out);
	node_write(p.out, target, sizeof(*target));
	return p;
}

static inline void peer_end(struct peer *p)
{
	CHECK(!kill(p->pid, SIGKILL) && waitpid(p->pid, NULL, 0) == p->pid);
	close(p->in);
	close(p->out);
}

/* peer_open - in a peer: an endpoint, and the address of its parent. */
static inline fi_addr_t peer_open(struct node *n, struct target *target)
{
	node_read(STDIN_FILENO, target, sizeof(*target));
	node_open(n, "127.0.0.1", 0, 1, CAPS, FI_PROGRESS_MANUAL);
	return node_insert(n, &target->name);
}

/* peer_region - @len bytes that peers may read and write. */
static inline struct fid_mr *peer_region(struct node *n, void *mem, size_t len, struct target *target)
{
	struct fid_mr *mr;

	CALL(fi_mr_reg(n->domain, mem, len, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL));
	target->name = node_name(n, 0);
	target->key = fi_mr_key(mr);
	target->addr = n->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) mem : 0;
	return mr;
}

/* peer_resident - bytes of this process that lie in memory. */
static inline size_t peer_resident(void)
{
	unsigned long size, pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file && fscanf(file, "%lu %lu", &size, &pages) == 2);
	fclose(file);
	return pages * (size_t) sysconf(_SC_PAGESIZE);
}

/* peer_speaks - does the peer say something? */
static inline bool peer_speaks(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* peer_poll - make progress for @ms and read nothing. */
static inline void peer_poll(struct node *n, int ms)
{
	uint64_t end = node_now_ms() + (uint64_t) ms;

	do
		fi_cq_read(n->cq, NULL, 0);
	while (node_now_ms() < end);
}

#endif
