/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * crowd - many endpoints in many processes, all of which send to all concurrently.
 *
 *   crowd [PROCESSES [ENDPOINTS [DESCRIPTORS]]]
 *
 * (8 processes of 4 endpoints each, and then 4 of 8 with 60 descriptors each)
 *
 * Every endpoint sends one message to every endpoint, itself included, and receives as many; so
 * most connections are simultaneous connects.  Prints how long that took, and what a connection
 * costs a process in descriptors and resident memory.  With a limit on descriptors there are
 * several rounds, and idle connections have to be parked.
 */
#include <fcntl.h>
#include <rdma/fi_tagged.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"

#define BOUND_MS 120000
#define PROCS_MAX 256
#define FDS_MAX 65536
#define TIGHT_ROUNDS 3

struct cost {
	uint64_t ms;
	long fds, kib;
};

struct op {
	struct fi_context2 ctx;		/* first */
	uint64_t data;
	bool done;
};

static struct node node;
static unsigned procs, per_proc, all;
static unsigned descriptors;		/* limit for a process; 0: enough for all */
static struct node_name *names;
static fi_addr_t *addrs;
static struct op *tx, *rx;		/* [endpoint of ours * all + peer] */

/* By testing each number: without free descriptors no directory can be read. */
static long count_fds(void)
{
	struct rlimit limit;
	long cnt = 0;
	int fd;

	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	for (fd = 0; (rlim_t) fd < limit.rlim_cur && fd < FDS_MAX; fd++)
		cnt += fcntl(fd, F_GETFD) >= 0;
	return cnt;
}

/* A file that was opened while there were descriptors, for the same reason. */
static long resident_kib(void)
{
	static int fd = -1;
	char text[100] = "";
	long size, pages;

	if (fd < 0)
		fd = open("/proc/self/statm", O_RDONLY);
	CHECK(fd >= 0 && pread(fd, text, sizeof(text) - 1, 0) > 0);
	CHECK(sscanf(text, "%ld %ld", &size, &pages) == 2);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static uint64_t token(unsigned from, unsigned to)
{
	return (uint64_t) from << 32 | to;
}

static void take(unsigned *left)
{
	struct fi_cq_tagged_entry e;
	struct op *op;
	int err;

	if (!node_reap(&node, &e, &err, 0))
		return;
	CHECK(!err, "an operation failed: %s", fi_strerror(err));
	op = e.op_context;
	CHECK(!op->done, "an operation completes twice");
	op->done = true;
	--*left;
}

/* All receives, then all sends, each endpoint beginning with another peer. */
static void talk(unsigned first)
{
	unsigned i, j, k, left = 2 * per_proc * all;
	uint64_t end = node_now_ms() + BOUND_MS;
	struct op *op;
	ssize_t ret;

	for (i = 0; i < per_proc; i++)
		for (j = 0; j < all; j++) {
			op = &rx[i * all + j];
			CALL(fi_trecv(node.eps[i], &op->data, 8, NULL, addrs[j],
				      token(j, first + i), 0, op));
		}
	for (k = 0; k < per_proc * all; k++) {
		i = k % per_proc;
		j = (k / per_proc + first + i) % all;
		op = &tx[i * all + j];
		op->data = token(first + i, j);
		while ((ret = fi_tsend(node.eps[i], &op->data, 8, NULL, addrs[j], op->data,
				       op)) == -FI_EAGAIN)
			take(&left);
		CALL(ret);
	}
	while (left) {
		take(&left);
		CHECK(node_now_ms() < end, "%u operations are left", left);
	}
	for (i = 0; i < per_proc; i++)
		for (j = 0; j < all; j++)
			CHECK(rx[i * all + j].data == token(j, first + i));
}

/* The directions of all operations at once need room in the queues. */
static void open_all(void)
{
	unsigned i;

	node_open(&node, "127.0.0.1", 0, per_proc, FI_MSG | FI_TAGGED | FI_DIRECTED_RECV,
		  FI_PROGRESS_AUTO);
	for (i = 0; i < per_proc; i++)
		names[i] = node_name(&node, i);
}

static void set_limit(unsigned cnt)
{
	struct rlimit lim = { cnt, cnt };

	CHECK(!setrlimit(RLIMIT_NOFILE, &lim));
}

static int member(unsigned rank)
{
	struct cost cost = { 0 };
	unsigned round;
	uint64_t start;
	unsigned i;
	char go;

	resident_kib();		/* opens its file */
	if (descriptors) {
		/* on a busy machine it may take long until a descriptor is free */
		setenv("FI_TCP_CONN_TIMEOUT", "60000", 0);
		set_limit(descriptors);
	}
	open_all();
	node_write(1, names, per_proc * sizeof(*names));
	node_read(0, names, all * sizeof(*names));
	for (i = 0; i < all; i++)
		addrs[i] = node_insert(&node, &names[i]);
	cost.kib = -resident_kib();
	cost.fds = -count_fds();
	start = node_now_ms();
	for (round = 0; round < (descriptors ? TIGHT_ROUNDS : 1); round++) {
		memset(tx, 0, (size_t) per_proc * all * sizeof(*tx));
		memset(rx, 0, (size_t) per_proc * all * sizeof(*rx));
		talk(rank * per_proc);
	}
	cost.ms = node_now_ms() - start;
	cost.fds += count_fds();
	cost.kib += resident_kib();
	node_write(1, &cost, sizeof(cost));
	node_read(0, &go, 1);	/* other processes may still need this one */
	node_close(&node);
	return 0;
}

static void lead(const char *self)
{
	static int in[PROCS_MAX], out[PROCS_MAX];
	static pid_t pids[PROCS_MAX];
	uint64_t start = node_now_ms(), slowest = 0;
	struct cost cost, sum = { 0 };
	char text[4][16];
	unsigned i;
	int status;

	snprintf(text[0], 16, "%u", procs);
	snprintf(text[1], 16, "%u", per_proc);
	snprintf(text[2], 16, "%u", descriptors);
	for (i = 0; i < procs; i++) {
		const char *argv[] = { self, text[0], text[1], text[2], text[3],
					       NULL };

		snprintf(text[3], 16, "%u", i);
		pids[i] = node_spawn(argv, &in[i], &out[i]);
	}
	for (i = 0; i < procs; i++)
		node_read(in[i], names + i * per_proc, per_proc * sizeof(*names));
	for (i = 0; i < procs; i++)
		node_write(out[i], names, all * sizeof(*names));
	for (i = 0; i < procs; i++) {
		node_read(in[i], &cost, sizeof(cost));
		slowest = cost.ms > slowest ? cost.ms : slowest;
		sum.fds += cost.fds;
		sum.kib += cost.kib;
	}
	for (i = 0; i < procs; i++)
		node_write(out[i], "", 1);
	for (i = 0; i < procs; i++) {
		CHECK(waitpid(pids[i], &status, 0) == pids[i]);
		CHECK(!status, "process %u ended with status %#x", i, status);
	}
	printf("%u processes, %u endpoints, all to all: %.1f s, %.1f s with starting and closing; "
	       "for each peer of an endpoint %.2f descriptors and %.1f KiB\n", procs, all,
	       (double) slowest / 1e3, (double) (node_now_ms() - start) / 1e3,
	       (double) sum.fds / all / all, (double) sum.kib / all / all);
}

/* A connection takes a descriptor on each side, and there is one for each pair. */
static void raise_limit(void)
{
	struct rlimit lim;

	CHECK(!getrlimit(RLIMIT_NOFILE, &lim));
	lim.rlim_cur = lim.rlim_max;
	CHECK(!setrlimit(RLIMIT_NOFILE, &lim));
	if (lim.rlim_max < (rlim_t) per_proc * all + 100) {
		printf("SKIP: %u descriptors are needed, the limit (ulimit -Hn) is %llu\n",
		       per_proc * all + 100, (unsigned long long) lim.rlim_max);
		exit(SKIPPED);
	}
}

static void size(unsigned processes, unsigned endpoints, unsigned fds)
{
	procs = processes;
	per_proc = endpoints;
	descriptors = fds;
	all = procs * per_proc;
	CHECK(procs && per_proc && procs <= PROCS_MAX);
	if (!descriptors)
		raise_limit();
	names = calloc(all, sizeof(*names));
	addrs = calloc(all, sizeof(*addrs));
	tx = calloc((size_t) per_proc * all, sizeof(*tx));
	rx = calloc((size_t) per_proc * all, sizeof(*rx));
	CHECK(names && addrs && tx && rx);
}

static void forget(void)
{
	free(names);
	free(addrs);
	free(tx);
	free(rx);
}

int main(int argc, char **argv)
{
	node_stay_far(0);
	if (argc > 1)
		size((unsigned) atoi(argv[1]), argc > 2 ? (unsigned) atoi(argv[2]) : 4,
		     argc > 3 ? (unsigned) atoi(argv[3]) : 0);
	else
		size(8, 4, 0);
	if (argc > 4)
		return member((unsigned) atoi(argv[4]));
	lead(argv[0]);
	if (argc == 1) {
		forget();
		size(4, 8, 60);
		lead(argv[0]);
	}
	return 0;
}
