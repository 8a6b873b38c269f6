/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * kill - a peer that is killed during a transfer.
 *
 *   kill [ROUNDS [KIND [SEED]]]
 *
 * One endpoint is used in all rounds.  In each, another process opens one at a constant
 * address, both keep a window of operations of one kind in flight in both directions, and after
 * a random time the other process is killed.  Then every operation that is still waiting must
 * complete, once, within BOUND_MS; and the next round reaches the next process by the same
 * fi_addr_t. With AddressSanitizer the end of the program looks for leaks.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"

#define BOUND_MS 60000
#define OPS 16			/* in flight in each direction */
#define SMALL 600
#define LONG (3 << 20)
#define MULTI (64 << 10)
#define REDUCED 4000		/* bytes of a reduction */
#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV | FI_MULTI_RECV | \
	      FI_COLLECTIVE)

enum kind { MSG, TAGGED, READ, WRITE, ATOMIC, RENDEZVOUS, MULTI_RECV, COLLECTIVE, KINDS };

static const char *const names[KINDS] = {
	"msg", "tagged", "read", "write", "atomic", "rendezvous", "multi-recv",
	"collective"
};

struct op {
	struct fi_context2 ctx;		/* first */
	bool receives;
	bool pending;
	char *buf;
};

/* The memory that the peer may read and write. */
struct window {
	struct node_name name;
	uint64_t addr, key;
};

static struct node node;
static enum kind kind;
static struct op ops[2 * OPS];
static char *memory;
static struct fid_mr *mr;
static struct window mine, theirs;
static fi_addr_t peer, self;
static struct fid_mc *mc;		/* COLLECTIVE: the group of both endpoints */
static unsigned long good, bad;

static size_t op_len(void)
{
	return kind == RENDEZVOUS || kind == READ || kind == WRITE ? LONG :
	       kind == ATOMIC ? 8 : kind == COLLECTIVE ? REDUCED : SMALL;
}

static bool receives_something(void)
{
	return kind == MSG || kind == TAGGED || kind == RENDEZVOUS || kind == MULTI_RECV;
}

static ssize_t send_one(struct op *op)
{
	size_t len = op_len();

	switch (kind) {
	case TAGGED:
	case RENDEZVOUS:
		return fi_tsend(node.ep, op->buf, len, NULL, peer, 5, op);
	case READ:
		return fi_read(node.ep, op->buf, len, NULL, peer, theirs.addr, theirs.key, op);
	case WRITE:
		return fi_write(node.ep, op->buf, len, NULL, peer, theirs.addr, theirs.key, op);
	case ATOMIC:
		return fi_fetch_atomic(node.ep, op->buf, 1, NULL, op->buf + 8, NULL, peer,
				       theirs.addr, theirs.key, FI_UINT64, FI_SUM, op);
	case COLLECTIVE:
		return fi_allreduce(node.ep, op->buf, len / 8, NULL, op->buf + len, NULL,
				    fi_mc_addr(mc), FI_UINT64, FI_SUM, 0, op);
	default:
		return fi_send(node.ep, op->buf, len, NULL, peer, op);
	}
}

static ssize_t receive_one(struct op *op)
{
	struct iovec iov = { op->buf, MULTI };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = peer, .context = op };

	switch (kind) {
	case TAGGED:
	case RENDEZVOUS:
		return fi_trecv(node.ep, op->buf, op_len(), NULL, peer, 5, 0, op);
	case MULTI_RECV:
		return fi_recvmsg(node.ep, &msg, FI_MULTI_RECV);
	default:
		return fi_recv(node.ep, op->buf, op_len(), NULL, peer, op);
	}
}

/* Post all operations that are not in flight.  A call that is refused is not an operation. */
static void post_all(void)
{
	unsigned i, cnt = receives_something() ? 2 * OPS : OPS;
	ssize_t ret;

	for (i = 0; i < cnt; i++) {
		if (ops[i].pending)
			continue;
		ret = ops[i].receives ? receive_one(&ops[i]) : send_one(&ops[i]);
		CHECK(!ret || ret == -FI_EAGAIN, "%s: %s", names[kind], fi_strerror((int) -ret));
		ops[i].pending = !ret;
	}
}

static bool take_one(int ms)
{
	struct fi_cq_tagged_entry e;
	struct op *op;
	int err;

	if (!node_reap(&node, &e, &err, ms))
		return false;
	op = e.op_context;
	CHECK(op >= ops && op < ops + 2 * OPS, "a completion without an operation");
	CHECK(op->pending, "operation %d (%s) completes twice", (int) (op - ops),
	      op->receives ? "receive" : "send");
	if (!err && op->receives)
		CHECK(e.len == op_len(), "%zu bytes arrived, not %zu", e.len, op_len());
	op->pending = kind == MULTI_RECV && op->receives && !(e.flags & FI_MULTI_RECV);
	if (err)
		bad++;
	else
		good++;
	return true;
}

static unsigned pending(void)
{
	unsigned i, cnt = 0;

	for (i = 0; i < 2 * OPS; i++)
		cnt += ops[i].pending;
	return cnt;
}

static void set_up(const char *kind_name, int port)
{
	size_t room;
	unsigned i;

	for (kind = 0; kind < KINDS - 1 && strcmp(names[kind], kind_name); kind++)
		;
	node_open(&node, "127.0.0.1", port, 1, CAPS, FI_PROGRESS_AUTO);
	room = kind == MULTI_RECV ? MULTI : kind == COLLECTIVE ? 2 * REDUCED : op_len() + 8;
	for (i = 0; i < 2 * OPS; i++) {
		ops[i].receives = i >= OPS;
		ops[i].buf = calloc(1, room);
		CHECK(ops[i].buf);
	}
	memory = calloc(1, LONG);
	CALL(fi_mr_reg(node.domain, memory, LONG, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr,
		       NULL));
	mine.name = node_name(&node, 0);
	mine.key = fi_mr_key(mr);
	mine.addr = node.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) memory : 0;
}

/* The event that ends a join: 0 or its positive error. */
static int join_outcome(void)
{
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_entry entry;
	uint32_t event;
	ssize_t ret = fi_eq_sread(node.eq, &event, &entry, sizeof(entry), BOUND_MS, 0);

	if (ret == -FI_EAVAIL) {
		CHECK(fi_eq_readerr(node.eq, &err, 0) > 0);
		return err.err;
	}
	CHECK(ret == sizeof(entry), "no group within %d ms: %s", BOUND_MS, fi_strerror((int) -ret));
	CHECK(event == FI_JOIN_COMPLETE);
	return 0;
}

/* Joins a group of both endpoints, in the same order on both sides.  A side that was idle when
 * the previous process was killed may detect that only now; then this join fails, on both
 * sides.
 */
static void join(fi_addr_t first, fi_addr_t second)
{
	struct fi_av_set_attr attr = { .start_addr = FI_ADDR_NOTAVAIL,
				       .end_addr = FI_ADDR_NOTAVAIL };
	uint64_t end = node_now_ms() + BOUND_MS;
	struct fid_av_set *set;
	int err;

	if (kind != COLLECTIVE)
		return;
	CALL(fi_av_set(node.av, &attr, &set, NULL));
	CALL(fi_av_set_insert(set, first));
	CALL(fi_av_set_insert(set, second));
	do {
		CALL(fi_join_collective(node.ep, FI_ADDR_NOTAVAIL, set, 0, &mc, NULL));
		err = join_outcome();
		if (err)
			CALL(fi_close(&mc->fid));
		CHECK(!err || node_now_ms() < end, "joining: %s", fi_strerror(err));
	} while (err);
	CALL(fi_close(&set->fid));
}

static void leave(void)
{
	if (kind == COLLECTIVE)
		CALL(fi_close(&mc->fid));
}

/* exchange - post what is not in flight, and take a completion.  A join may meet messages of the one before,
 * which the kill has interrupted, and end on this side alone: then its first operation fails, and this side
 * joins again (prov/util/coll/README.md).
 * @good_before: operations that had succeeded before the other process was started
 */
static void exchange(fi_addr_t first, fi_addr_t second, unsigned long good_before)
{
	unsigned long bad_before = bad;
	uint64_t end;

	post_all();
	take_one(0);
	if (kind != COLLECTIVE || good != good_before || bad == bad_before)
		return;
	for (end = node_now_ms() + BOUND_MS; pending(); take_one(100))
		CHECK(node_now_ms() < end, "%u operations of a group that failed never complete", pending());
	if (good != good_before)
		return;
	leave();
	join(first, second);
}

static void tear_down(void)
{
	unsigned i;

	CALL(fi_close(&mr->fid));
	node_close(&node);
	for (i = 0; i < 2 * OPS; i++)
		free(ops[i].buf);
	free(memory);
}

/* ---- the process that is killed ------------------------------------------------------ */

static __attribute__((noreturn)) void victim(const char *kind_name, int port)
{
	set_up(kind_name, port);
	node_write(1, &mine, sizeof(mine));
	node_read(0, &theirs, sizeof(theirs));
	peer = node_insert(&node, &theirs.name);
	self = node_insert(&node, &mine.name);
	join(peer, self);
	for (;;)
		exchange(peer, self, 0);
}

/* ---- the surviving process -------------------------------------------------------------- */

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000000 + (uint64_t) ts.tv_nsec / 1000;
}

/* Until a message has arrived, so that both are connected; then for a random time. */
static void run_traffic(unsigned while_us)
{
	unsigned long before = good;
	uint64_t end = node_now_ms() + BOUND_MS, stop;

	while (good == before) {
		exchange(self, peer, before);
		CHECK(node_now_ms() < end, "%s: the new process is not reached", names[kind]);
	}
	stop = now_us() + while_us;
	while (now_us() < stop) {
		post_all();
		take_one(0);
	}
}

static uint64_t settle(void)
{
	uint64_t start = node_now_ms();

	while (pending()) {
		take_one(100);
		CHECK(node_now_ms() - start < BOUND_MS, "%s: %u operations never complete",
		      names[kind], pending());
	}
	CHECK(!take_one(0));
	return node_now_ms() - start;
}

static uint64_t one_round(int port)
{
	char text[16];
	const char *const argv[] = { "kill", "victim", names[kind], text, NULL };
	struct window window;
	int in, out, status;
	uint64_t took;
	pid_t pid;

	snprintf(text, sizeof(text), "%d", port);
	pid = node_spawn(argv, &in, &out);
	node_read(in, &window, sizeof(window));
	CHECK(!port || node_port(&window.name) == port);
	theirs = window;
	if (peer == FI_ADDR_UNSPEC) {
		peer = node_insert(&node, &theirs.name);
		self = node_insert(&node, &mine.name);
	}
	node_write(out, &mine, sizeof(mine));
	join(self, peer);
	run_traffic((unsigned) (rand() % 8000));
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the other one failed");
	took = settle();
	leave();
	close(in);
	close(out);
	return took;
}

static void run_kind(int rounds)
{
	const struct node_name any = { 0 };
	uint64_t took, worst = 0;
	int i, port = node_port(&any);

	good = bad = 0;
	peer = FI_ADDR_UNSPEC;
	for (i = 0; i < rounds; i++) {
		took = one_round(port);
		port = node_port(&theirs.name);
		if (took > worst)
			worst = took;
	}
	printf("%-10s %d peers killed: %lu operations succeeded, %lu failed, all within %llu ms\n",
	       names[kind], rounds, good, bad, (unsigned long long) worst);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : "all";
	unsigned seed = argc > 3 ? (unsigned) atoi(argv[3]) : (unsigned) getpid();
	int rounds = argc > 1 ? atoi(argv[1]) : 4, i;

	if (argc == 4 && !strcmp(argv[1], "victim"))
		victim(argv[2], atoi(argv[3]));
	signal(SIGPIPE, SIG_IGN);
	node_stay_far(0);
	setenv("FI_CONN_RETRY", "50", 0);
	setenv("FI_LOG_LEVEL", "none", 0);	/* lost peers are expected here */
	printf("seed %u\n", seed);
	srand(seed);
	for (i = 0; i < KINDS; i++) {
		if (strcmp(only, "all") && strcmp(only, names[i]))
			continue;
		set_up(names[i], 0);
		run_kind(rounds);
		tear_down();
	}
	return 0;
}
