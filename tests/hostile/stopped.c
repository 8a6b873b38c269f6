/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stopped - a peer that stops in the middle of a transfer, and goes on later.
 *
 * Meanwhile the program closes what the peer writes to or reads from, and uses the memory
 * for something else.  That must take a bounded time, and then the memory must not change,
 * nor be read with success.
 */
#include "peer.h"

#define LEN ((size_t) 96 << 20)
#define BOUND_MS 6000		/* to close a region or an endpoint */
#define CANCEL_MS 16000		/* until a receive that cannot be cancelled ends */
#define OLD 1
#define NEW 2
#define OTHER 9			/* what the memory has later */
#define NEXT_TAG 5		/* of a message behind a long one */

static struct node node;
static struct target target;
static struct fid_mr *mr;
static volatile unsigned char *mem;
static struct fi_context2 ctx, next_ctx;

/* ---- the peer ------------------------------------------------------------------- */

/* What came of its operation: 0 or an error, and for a read whether it saw later bytes. */
struct outcome {
	int err;
	int saw_other;
};

static void report(void)
{
	struct outcome outcome = { 0 };
	struct fi_cq_tagged_entry entry;
	size_t i;

	do
		CHECK(node_reap(&node, &entry, &outcome.err, 60000), "the operation does not end");
	while (entry.op_context != &ctx);
	for (i = 0; i < LEN; i++)
		outcome.saw_other |= mem[i] == OTHER;
	node_write(STDOUT_FILENO, &outcome, sizeof(outcome));
	for (;;)
		pause();
}

static void run_peer(const char *role)
{
	fi_addr_t to = peer_open(&node, &target);
	long ret;

	mem = malloc(LEN);
	memset((void *) mem, NEW, LEN);
	do {
		ret = !strcmp(role, "read") ?
		      fi_read(node.ep, (void *) mem, LEN, NULL, to, target.addr, target.key, &ctx) :
		      !strcmp(role, "write") ?
		      fi_write(node.ep, (void *) mem, LEN, NULL, to, target.addr, target.key, &ctx) :
		      fi_send(node.ep, (void *) mem, LEN, NULL, to, &ctx);
		fi_cq_read(node.cq, NULL, 0);
	} while (ret == -FI_EAGAIN);
	CHECK(!ret, "%s", fi_strerror((int) -ret));
	while (!strcmp(role, "send") &&
	       (ret = fi_tsend(node.ep, "next", 5, NULL, to, NEXT_TAG, &next_ctx)) == -FI_EAGAIN)
		fi_cq_read(node.cq, NULL, 0);
	CHECK(!ret, "%s", fi_strerror((int) -ret));
	if (!strcmp(role, "read")) {	/* it stops itself when some is here */
		while (mem[0] == NEW)
			fi_cq_read(node.cq, NULL, 0);
		node_write(STDOUT_FILENO, "", 1);
		raise(SIGSTOP);
	}
	report();
}

/* ---- the program ------------------------------------------------------------------ */

static void check_time(const char *what, uint64_t since, int ms)
{
	CHECK(node_now_ms() - since < (uint64_t) ms, "%s took %d ms", what,
	      (int) (node_now_ms() - since));
}

static void use_memory(void)
{
	memset((void *) mem, OTHER, LEN);
}

/* go_on - the peer runs again: what it does next must not reach the memory. */
static void go_on(struct peer *p, bool reads)
{
	struct outcome outcome;
	size_t i;

	CHECK(!kill(p->pid, SIGCONT));
	peer_poll(&node, 1000);
	for (i = 0; i < LEN; i++)
		CHECK(mem[i] == OTHER, "byte %zu has changed to %u", i, mem[i]);
	if (reads) {
		while (!peer_speaks(p->in))
			fi_cq_read(node.cq, NULL, 0);
		node_read(p->in, &outcome, sizeof(outcome));
		CHECK(outcome.err || !outcome.saw_other, "a read succeeded with later bytes");
	}
}

/* A peer inside of our memory without our help cannot be put out; it is waited for. */
static void close_region(struct peer *p)
{
	uint64_t since = node_now_ms();
	int ret = fi_close(&mr->fid);

	if (ret == -FI_EBUSY) {
		check_time("fi_close", since, 2 * BOUND_MS);
		CHECK(!kill(p->pid, SIGCONT));
		since = node_now_ms();
		ret = fi_close(&mr->fid);
	}
	CALL(ret);
	check_time("fi_close", since, BOUND_MS);
}

static void begin(const char *role, struct peer *p)
{
	char byte;

	node_open(&node, "127.0.0.1", 0, 1, CAPS, FI_PROGRESS_MANUAL);
	memset((void *) mem, OLD, LEN);
	mr = peer_region(&node, (void *) mem, LEN, &target);
	*p = peer_start(role, &target);
	if (!strcmp(role, "read")) {
		while (!peer_speaks(p->in))
			fi_cq_read(node.cq, NULL, 0);
		node_read(p->in, &byte, 1);
		return;
	}
	if (!strcmp(role, "send"))
		CALL(fi_recv(node.ep, (void *) mem, LEN, NULL, FI_ADDR_UNSPEC, &ctx));
	while (mem[0] == OLD)
		fi_cq_read(node.cq, NULL, 0);
	CHECK(!kill(p->pid, SIGSTOP));
}

static void a_region_that_is_written(void)
{
	struct peer p;

	begin("write", &p);
	close_region(&p);
	use_memory();
	go_on(&p, false);
	peer_end(&p);
	node_close(&node);
}

static void a_region_that_is_read(void)
{
	struct peer p;

	begin("read", &p);
	close_region(&p);
	use_memory();
	go_on(&p, true);
	peer_end(&p);
	node_close(&node);
}

static void an_endpoint_that_is_written(void)
{
	struct peer p;
	uint64_t since;

	begin("write", &p);
	since = node_now_ms();
	CALL(fi_close(&node.ep->fid));
	check_time("fi_close", since, 2 * BOUND_MS);
	node.ep_cnt = 0;
	use_memory();
	go_on(&p, false);
	CALL(fi_close(&mr->fid));
	peer_end(&p);
	node_close(&node);
}

/* Where the provider can take the buffer back, this receive alone ends: others of the peer's messages
 * arrive when it goes on.
 */
static void a_receive_that_is_filled(void)
{
	const char *provider = getenv("TEST_PROVIDER");
	bool alone = !provider || !strstr(provider, "ofi_rxm");
	struct fi_cq_tagged_entry entry;
	uint64_t since;
	struct peer p;
	char next[8];
	int err, ret;

	begin("send", &p);
	ret = (int) fi_cancel(&node.ep->fid, &ctx);
	CHECK(ret == -FI_ENOENT || !ret);
	since = node_now_ms();
	CHECK(node_reap(&node, &entry, &err, CANCEL_MS), "the receive does not end");
	check_time("fi_cancel", since, CANCEL_MS);
	CHECK(entry.op_context == &ctx);
	use_memory();
	go_on(&p, false);
	if (alone) {
		CHECK(err == FI_ECANCELED, "the receive ends with %d", err);
		CALL(fi_trecv(node.ep, next, sizeof(next), NULL, FI_ADDR_UNSPEC, NEXT_TAG, 0, &next_ctx));
		CHECK(node_reap(&node, &entry, &err, CANCEL_MS) && !err, "the next message does not arrive: %d",
		      err);
		CHECK(entry.op_context == &next_ctx && !strcmp(next, "next"));
	}
	CALL(fi_close(&mr->fid));
	peer_end(&p);
	node_close(&node);
}

int main(int argc, char **argv)
{
	node_stay_far(0);
	/* A process that has begun to copy into another one cannot be put out of it, and one
	 * that is stopped there is waited for longer (prov/shm/share.h).
	 */
	setenv("FI_SHM_SHARE_SIZE", "1073741824", 0);
	signal(SIGPIPE, SIG_IGN);
	if (argc > 1)
		run_peer(argv[1]);
	mem = malloc(LEN);
	CHECK(mem);
	a_region_that_is_written();
	a_region_that_is_read();
	an_endpoint_that_is_written();
	a_receive_that_is_filled();
	free((void *) mem);
	return 0;
}
