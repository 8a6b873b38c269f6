/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hosts - two hosts with a cable between them: network namespaces and a veth pair, which are
 * removed with the processes in them.
 *
 * Messages flow in both directions all the time.  The cable is unplugged for a moment: no
 * error.  It is unplugged for longer than FI_TCP_USER_TIMEOUT: every operation completes, once,
 * with an error.  It is plugged in again: the same addresses are reached again. Skipped where
 * namespaces are not permitted or there is no ip(8).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/fi_tagged.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"

#define LEN (200 << 10)
#define OPS 6			/* in each direction */
#define UNACKED_MS "1200"
#define LOST_MS 10000		/* limit for the completion of an operation */
#define BACK_MS 20000		/* limit for reaching a peer again */

static const char *const ips[2] = { "10.77.0.1", "10.77.0.2" };

struct op {
	struct fi_context2 ctx;	/* first */
	bool receives, pending;
	uint64_t *buf;
};

struct count {
	unsigned long received, failed, pending;
};

static struct node node;
static struct op ops[2 * OPS];
static struct count count;
static fi_addr_t peer;

static void run(const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	CHECK(!system(line), "%s", line);
}

/* ---- traffic ------------------------------------------------------------------------- */

static void fill(uint64_t *buf)
{
	static uint64_t seed;
	size_t i;

	seed += 0x1000003;
	for (i = 0; i < LEN / 8; i++)
		buf[i] = seed + i;
}

static void verify(const uint64_t *buf)
{
	size_t i;

	for (i = 1; i < LEN / 8; i++)
		CHECK(buf[i] == buf[0] + i, "a message is damaged at byte %zu", 8 * i);
}

static void post_all(void)
{
	ssize_t ret;
	int i;

	for (i = 0; i < 2 * OPS; i++) {
		if (ops[i].pending)
			continue;
		if (!ops[i].receives)
			fill(ops[i].buf);
		ret = ops[i].receives ?
		      fi_trecv(node.ep, ops[i].buf, LEN, NULL, peer, 1, 0, &ops[i]) :
		      fi_tsend(node.ep, ops[i].buf, LEN, NULL, peer, 1, &ops[i]);
		CHECK(!ret || ret == -FI_EAGAIN, "%s", fi_strerror((int) -ret));
		ops[i].pending = !ret;
		count.pending += !ret;
	}
}

static void take_one(void)
{
	struct fi_cq_tagged_entry e;
	struct op *op;
	int err;

	if (!node_reap(&node, &e, &err, 0))
		return;
	op = e.op_context;
	CHECK(op->pending, "an operation completes twice");
	op->pending = false;
	count.pending--;
	if (err) {
		count.failed++;
	} else if (op->receives) {
		CHECK(e.len == LEN);
		verify(op->buf);
		count.received++;
	}
}

static void prepare(int host, int in, int out)
{
	struct node_name mine, theirs;
	int i;

	setenv("FI_TCP_USER_TIMEOUT", UNACKED_MS, 1);
	setenv("FI_LOG_LEVEL", "none", 0);
	node_open(&node, ips[host], 0, 1, FI_TAGGED | FI_DIRECTED_RECV, FI_PROGRESS_AUTO);
	CHECK(!strcmp(node.info->domain_attr->name, "cable"), "%s", node.info->domain_attr->name);
	mine = node_name(&node, 0);
	node_write(out, &mine, sizeof(mine));
	node_read(in, &theirs, sizeof(theirs));
	peer = node_insert(&node, &theirs);
	for (i = 0; i < 2 * OPS; i++) {
		ops[i].receives = i < OPS;
		ops[i].buf = malloc(LEN);
		CHECK(ops[i].buf);
	}
}

static void tidy(void)
{
	int i;

	node_close(&node);
	for (i = 0; i < 2 * OPS; i++)
		free(ops[i].buf);
}

/* ---- the other host: executes commands from the pipe ------------------------------------ */

static int other_host(void)
{
	struct pollfd pfd = { .fd = 0, .events = POLLIN };
	bool active = true;
	char command = 0;

	CHECK(!unshare(CLONE_NEWNET));
	node_write(1, "", 1);
	node_read(0, &command, 1);	/* the cable has been plugged in */
	run("ip link set lo up && ip addr add %s/24 dev cable && ip link set cable up", ips[1]);
	prepare(1, 0, 1);
	while (command != 'q') {
		if (active)
			post_all();
		take_one();
		if (poll(&pfd, 1, 0) <= 0)
			continue;
		node_read(0, &command, 1);
		if (command == 'c')
			node_write(1, &count, sizeof(count));
		else if (command == '0' || command == '1')
			active = command == '1';
	}
	tidy();
	return 0;
}

/* ---- this host --------------------------------------------------------------------------- */

static int in, out;

static void tell(char command)
{
	node_write(out, &command, 1);
}

static struct count other_count(void)
{
	struct count c;

	tell('c');
	node_read(in, &c, sizeof(c));
	return c;
}

static void traffic(uint64_t ms)
{
	uint64_t end = node_now_ms() + ms;

	while (node_now_ms() < end) {
		post_all();
		take_one();
	}
}

/* Both hosts receive some further messages. */
static void must_flow(const char *when, uint64_t bound_ms)
{
	struct count was = count, other = other_count();
	uint64_t start = node_now_ms();

	while (count.received < was.received + 10 || other_count().received < other.received + 10) {
		traffic(10);
		CHECK(node_now_ms() - start < bound_ms, "%s: nothing arrives", when);
	}
	printf("%s: messages flow both ways after %llu ms\n", when,
	       (unsigned long long) (node_now_ms() - start));
}

static void no_failures(const char *when)
{
	struct count other = other_count();

	CHECK(!count.failed && !other.failed, "%s: %lu and %lu operations failed", when,
	      count.failed, other.failed);
}

static void all_end(void)
{
	uint64_t start = node_now_ms();
	struct count other;

	tell('0');
	do {
		take_one();
		other = other_count();
		CHECK(node_now_ms() - start < LOST_MS, "%lu and %lu operations do not end",
		      count.pending, other.pending);
	} while (count.pending || other.pending);
	CHECK(count.failed && other.failed, "%lu and %lu failed", count.failed, other.failed);
	printf("cable out: all ended after %llu ms, %lu and %lu with an error\n",
	       (unsigned long long) (node_now_ms() - start), count.failed, other.failed);
	tell('1');
}

/* map_root - become root in a new user namespace. */
static bool map_root(uid_t uid, gid_t gid)
{
	const char *const files[] = { "setgroups", "uid_map", "gid_map" };
	char text[3][32], path[64];
	int i, fd;

	snprintf(text[0], 32, "deny");
	snprintf(text[1], 32, "0 %u 1", uid);
	snprintf(text[2], 32, "0 %u 1", gid);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/proc/self/%s", files[i]);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, text[i], strlen(text[i])) < 0)
			return false;
		close(fd);
	}
	return true;
}

static bool own_network(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	if (!unshare(CLONE_NEWNET))
		return true;
	return !unshare(CLONE_NEWUSER | CLONE_NEWNET) && map_root(uid, gid);
}

int main(int argc, char **argv)
{
	const char *const again[] = { argv[0], "other", NULL };
	int status;
	pid_t pid;
	char ok;

	if (argc > 1)
		return other_host();
	if (system("ip link show >/dev/null 2>&1") || !own_network() ||
	    system("ip link add cable type veth peer name probe 2>/dev/null")) {
		printf("SKIP: network namespaces with veth pairs need ip(8) and permission\n");
		return SKIPPED;
	}
	run("ip link del cable");
	signal(SIGPIPE, SIG_IGN);
	pid = node_spawn(again, &in, &out);
	node_read(in, &ok, 1);
	run("ip link add cable type veth peer name cable netns %d && ip link set lo up && "
	    "ip addr add %s/24 dev cable && ip link set cable up", (int) pid, ips[0]);
	tell('i');
	prepare(0, in, out);

	must_flow("two hosts", BACK_MS);
	run("ip link set cable down");
	traffic(250);
	run("ip link set cable up");
	must_flow("cable out for a moment", BACK_MS);
	no_failures("cable out for a moment");
	run("ip link set cable down");
	traffic(200);		/* receive what had arrived before */
	all_end();
	run("ip link set cable up");
	must_flow("cable in again", BACK_MS);

	tell('q');
	tidy();
	CHECK(waitpid(pid, &status, 0) == pid && !status, "the other host: %#x", status);
	return 0;
}
