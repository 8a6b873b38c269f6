/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * close - objects are closed in any order, during transfers.
 *
 *   close [ROUNDS [SEED]]
 *
 * Each round opens nodes in this process, has them exchange messages, long messages, reads and
 * writes, and closes all objects in a random order while these are in flight.  An object in use
 * returns -FI_EBUSY and is closed later; no other error is allowed, and no call may block for
 * long.  Then endpoints are opened, send once and are closed, as fast as possible.
 */
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <string.h>
#include <unistd.h>

#include "node.h"

#define NODES 3
#define EPS 3
#define ALL (NODES * EPS)
#define OPS 60
#define LONG (1 << 20)
#define BOUND_MS 60000
#define CYCLES 100

struct op {
	struct fi_context2 ctx;		/* first */
	char *buf;
};

static struct node nodes[NODES];
static struct fid_mr *mrs[NODES];
static char *memory[NODES];
static fi_addr_t addrs[NODES][ALL];
static struct op ops[OPS];

static void open_round(enum fi_progress progress)
{
	struct node_name name;
	unsigned i, j;

	for (i = 0; i < NODES; i++) {
		node_open(&nodes[i], "127.0.0.1", 0, EPS, FI_MSG | FI_TAGGED | FI_RMA, progress);
		CALL(fi_mr_reg(nodes[i].domain, memory[i], LONG, FI_REMOTE_READ | FI_REMOTE_WRITE,
			       0, i + 1, 0, &mrs[i], NULL));
	}
	for (i = 0; i < NODES; i++)
		for (j = 0; j < ALL; j++) {
			name = node_name(&nodes[j / EPS], j % EPS);
			addrs[i][j] = node_insert(&nodes[i], &name);
		}
}

static void post_one(struct op *op, size_t most)
{
	unsigned from = (unsigned) rand() % ALL, to = (unsigned) rand() % ALL;
	struct node *n = &nodes[from / EPS], *target = &nodes[to / EPS];
	uint64_t at = target->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
		      (uintptr_t) memory[to / EPS] : 0, key = fi_mr_key(mrs[to / EPS]);
	fi_addr_t addr = addrs[from / EPS][to];
	size_t len = rand() % 2 ? 100 : most;
	struct fid_ep *ep = n->eps[from % EPS];

	switch (rand() % 4) {
	case 0:		/* or refused for want of room: both are allowed here */
		fi_trecv(ep, op->buf, LONG, NULL, FI_ADDR_UNSPEC, 1, 0, op);
		break;
	case 1:
		fi_read(ep, op->buf, len, NULL, addr, at, key, op);
		break;
	case 2:
		fi_write(ep, op->buf, len, NULL, addr, at, key, op);
		break;
	default:
		fi_tsend(ep, op->buf, len, NULL, addr, 1, op);
	}
}

static void progress_some(unsigned times)
{
	struct fi_cq_tagged_entry e;
	int err;

	while (times--)
		node_reap(&nodes[(unsigned) rand() % NODES], &e, &err, 0);
}

/* A region that a peer reads may be closed: the peer gets an error, not this side. */
static void close_all(void)
{
	struct fid *fids[NODES * (EPS + 5)];
	unsigned i, j, cnt = 0, busy = 0;
	uint64_t end = node_now_ms() + BOUND_MS;
	int ret;

	for (i = 0; i < NODES; i++) {
		for (j = 0; j < EPS; j++)
			fids[cnt++] = &nodes[i].eps[j]->fid;
		fids[cnt++] = &nodes[i].cq->fid;
		fids[cnt++] = &nodes[i].av->fid;
		fids[cnt++] = &mrs[i]->fid;
		fids[cnt++] = &nodes[i].domain->fid;
		fids[cnt++] = &nodes[i].fabric->fid;
	}
	while (cnt) {
		i = (unsigned) rand() % cnt;
		ret = fi_close(fids[i]);
		CHECK(!ret || ret == -FI_EBUSY, "fi_close: %s", fi_strerror(-ret));
		CHECK(node_now_ms() < end, "closing takes too long");
		busy += ret != 0;
		if (!ret)
			fids[i] = fids[--cnt];
	}
	CHECK(busy, "not one object was in use");
	for (i = 0; i < NODES; i++) {
		fi_freeinfo(nodes[i].info);
		free(nodes[i].eps);
	}
}

/* With manual progress no thread acknowledges while this one closes an endpoint, which waits up
 * to two seconds for what it has sent: so there must be a connection, and the data must fit
 * into the sockets.
 */
static void rounds(int cnt)
{
	uint64_t start = node_now_ms(), took, worst = 0;
	bool manual;
	int i, k;

	for (k = 0; k < cnt; k++) {
		manual = k % 2;
		open_round(manual ? FI_PROGRESS_MANUAL : FI_PROGRESS_AUTO);
		for (i = 0; i < OPS; i++) {
			post_one(&ops[i], manual ? 8000 : LONG);
			if (k % 3)
				progress_some((unsigned) rand() % 4);
		}
		progress_some((manual ? 3000 : 0) + (unsigned) rand() % 300);
		took = node_now_ms();
		close_all();
		took = node_now_ms() - took;
		worst = took > worst ? took : worst;
	}
	printf("%d rounds of %d endpoints in %.1f s; closing took %llu ms at most\n", cnt, ALL,
	       (double) (node_now_ms() - start) / 1e3, (unsigned long long) worst);
}

/* Open, send once, close. */
static void come_and_go(void)
{
	struct fi_context2 ctx[2];
	struct fi_cq_tagged_entry e;
	struct node_name name;
	struct node host, guest;
	uint64_t start;
	int err, i, got;
	char word = 1;

	node_open(&host, "127.0.0.1", 0, 1, FI_MSG, FI_PROGRESS_AUTO);
	name = node_name(&host, 0);
	start = node_now_ms();
	for (i = 0; i < CYCLES; i++) {
		CALL(fi_recv(host.ep, &word, 1, NULL, FI_ADDR_UNSPEC, &ctx[0]));
		node_open(&guest, "127.0.0.1", 0, 1, FI_MSG, FI_PROGRESS_MANUAL);
		CALL(fi_send(guest.ep, &word, 1, NULL, node_insert(&guest, &name), &ctx[1]));
		for (got = 0; !got;) {
			got = node_reap(&host, &e, &err, 0);
			node_reap(&guest, &e, &err, 0);
			CHECK(node_now_ms() - start < BOUND_MS, "guest %d is not heard", i);
		}
		CHECK(!err && e.op_context == &ctx[0]);
		node_close(&guest);
	}
	printf("%d endpoints came, spoke and went in %llu ms\n", CYCLES,
	       (unsigned long long) (node_now_ms() - start));
	node_close(&host);
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 2 ? (unsigned) atoi(argv[2]) : (unsigned) getpid();
	int i;

	node_stay_far(0);
	setenv("FI_LOG_LEVEL", "none", 0);	/* -FI_EBUSY is expected here */
	printf("seed %u\n", seed);
	fflush(stdout);
	srand(seed);
	for (i = 0; i < NODES; i++)
		memory[i] = calloc(1, LONG);
	for (i = 0; i < OPS; i++)
		ops[i].buf = calloc(1, LONG);
	rounds(argc > 1 ? atoi(argv[1]) : 12);
	come_and_go();
	for (i = 0; i < NODES; i++)
		free(memory[i]);
	for (i = 0; i < OPS; i++)
		free(ops[i].buf);
	return 0;
}
