/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * near - two processes of one host, and everything that may prevent shared memory between them.
 *
 *   near [ROUNDS [CASE]]
 *
 * In each case one side, or both, is restricted; then the two exchange messages of all lengths,
 * with one side connecting or both simultaneously, and read and write each other's memory.  All
 * must arrive, once and in order, and the log of both sides must name the path.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"

#define MESSAGES 40
#define LEN_MAX (300 << 10)
#define BOUND_MS 60000
#define STRANGER 12345		/* a user that need not exist */

enum side { NEITHER = 0, A = 1, B = 2, BOTH = 3 };

struct shape {
	const char *name;
	void (*apply)(void);
	unsigned sides[4];	/* numbers of the restricted sides, up to a 0 */
	bool near;		/* shared memory is used nevertheless */
	bool root;		/* needs privileges */
	const char *says;	/* in the log of one side */
};

/* ---- restrictions ------------------------------------------------------------------- */

static void no_restriction(void)
{
}

static void no_wish(void)
{
	node_stay_far(1);
}

static void no_reads(void)
{
	node_forbid(SYS_process_vm_readv, EPERM);
}

static void no_segment(void)
{
	node_forbid(SYS_memfd_create, ENOMEM);
}

/* The memory of the peer is refused: its seals cannot be read. */
static void no_seals(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_GET_SEALS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	node_filter(code, sizeof(code) / sizeof(code[0]));
}

static void small_dev_shm(void)
{
	CHECK(!unshare(CLONE_NEWNS));
	CHECK(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mount("none", "/dev/shm", "tmpfs", 0, "size=1m"));
}

static void user_namespace(void)
{
	int fd;

	CHECK(!unshare(CLONE_NEWUSER));
	fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, "7 0 1", 5) == 5);
	close(fd);
	CHECK(geteuid() == 7);
}

static void other_user(void)
{
	CHECK(!setresgid(STRANGER, STRANGER, STRANGER));
	CHECK(!setresuid(STRANGER, STRANGER, STRANGER));
}

static const struct shape shapes[] = {
	{ "unrestricted", no_restriction, { BOTH }, true, false, NULL },
	{ "turned off", no_wish, { A, B, BOTH }, false, false, NULL },
	{ "reads forbidden", no_reads, { A, B, BOTH }, true, false, "cannot be read" },
	{ "no memory to share", no_segment, { A, B, BOTH }, false, false, "is on this host, but" },
	{ "no segment to be had", no_seals, { A, B, BOTH }, false, false, "is on this host, but" },
	{ "small /dev/shm", small_dev_shm, { BOTH }, true, true, NULL },
	{ "user namespaces", user_namespace, { A, B, BOTH }, true, true, NULL },
	{ "other users", other_user, { A, B }, false, true, "another user" },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* ---- one of the two processes ------------------------------------------------------------ */

struct window {
	struct node_name name;
	uint64_t addr, key;
};

static struct node node;
static char *tx[MESSAGES], *rx[MESSAGES], *memory, *copy;
static struct window mine, theirs;
static unsigned sent, received;

static size_t length(unsigned side, unsigned i)
{
	static const size_t lens[] = { 8, 0, 56, 4000, 9000, 70000, 200, LEN_MAX };

	return lens[(i + side) % 8] + (lens[(i + side) % 8] == LEN_MAX ? 0 : i);
}

static char byte_of(unsigned side, unsigned i, size_t at)
{
	return (char) (side * 89 + i * 31 + at * 7 + (at >> 9));
}

static void take(void)
{
	struct fi_cq_tagged_entry e;
	int err;

	if (!node_reap(&node, &e, &err, 0))
		return;
	CHECK(!err, "an operation failed: %s", fi_strerror(err));
	if (e.flags & FI_RECV)
		received++;
	else
		sent++;
}

static void until(const unsigned *cnt, unsigned want)
{
	uint64_t end = node_now_ms() + BOUND_MS;

	while (*cnt < want) {
		take();
		CHECK(node_now_ms() < end, "%u messages sent, %u received", sent, received);
	}
}

static void set_up(unsigned side)
{
	struct fid_mr *mr;
	size_t at;
	unsigned i;

	node_open(&node, "127.0.0.1", 0, 1, FI_MSG | FI_RMA | FI_DIRECTED_RECV, FI_PROGRESS_AUTO);
	memory = calloc(1, LEN_MAX);
	copy = malloc(LEN_MAX);
	for (i = 0; i < MESSAGES; i++) {
		rx[i] = calloc(1, LEN_MAX + MESSAGES);
		tx[i] = malloc(LEN_MAX + MESSAGES);
		for (at = 0; at < length(side, i); at++)
			tx[i][at] = byte_of(side, i, at);
	}
	CALL(fi_mr_reg(node.domain, memory, LEN_MAX, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr,
		       NULL));
	mine.name = node_name(&node, 0);
	mine.key = fi_mr_key(mr);
	mine.addr = node.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) memory : 0;
}

static void send_all(unsigned side, fi_addr_t peer)
{
	ssize_t ret;
	unsigned i;

	for (i = 0; i < MESSAGES; i++) {
		while ((ret = fi_send(node.ep, tx[i], length(side, i), NULL, peer, tx[i])) ==
		       -FI_EAGAIN)
			take();
		CALL(ret);
	}
}

static void check_all(unsigned side)
{
	size_t at;
	unsigned i;

	for (i = 0; i < MESSAGES; i++)
		for (at = 0; at < length(!side, i); at++)
			CHECK(rx[i][at] == byte_of(!side, i, at), "message %u, byte %zu", i, at);
}

static void there_and_back(unsigned side, fi_addr_t peer)
{
	size_t at;
	ssize_t ret;

	for (at = 0; at < LEN_MAX; at++)
		copy[at] = byte_of(side, 99, at);
	/* a peer that is behind with its packets: later */
	while ((ret = fi_write(node.ep, copy, LEN_MAX, NULL, peer, theirs.addr, theirs.key, NULL)) ==
	       -FI_EAGAIN)
		take();
	CALL(ret);
	until(&sent, MESSAGES + 1);
	memset(copy, 0, LEN_MAX);
	while ((ret = fi_read(node.ep, copy, LEN_MAX, NULL, peer, theirs.addr, theirs.key, NULL)) ==
	       -FI_EAGAIN)
		take();
	CALL(ret);
	until(&sent, MESSAGES + 2);
	for (at = 0; at < LEN_MAX; at++)
		CHECK(copy[at] == byte_of(side, 99, at), "remote memory, byte %zu", at);
}

/* near side SHAPE SIDE RESTRICTED FIRST LOG */
static int one_side(char **argv)
{
	const struct shape *shape = &shapes[atoi(argv[2])];
	unsigned side = (unsigned) atoi(argv[3]), restricted = (unsigned) atoi(argv[4]);
	unsigned first = (unsigned) atoi(argv[5]), i;
	fi_addr_t peer;
	char go;

	CHECK(dup2(atoi(argv[6]), 2) == 2);
	if (restricted & 1u << side)
		shape->apply();
	set_up(side);
	node_write(1, &mine, sizeof(mine));
	node_read(0, &theirs, sizeof(theirs));
	peer = node_insert(&node, &theirs.name);
	for (i = 0; i < MESSAGES; i++)
		CALL(fi_recv(node.ep, rx[i], LEN_MAX + MESSAGES, NULL, peer, rx[i]));
	node_write(1, "", 1);
	node_read(0, &go, 1);
	if (!(first & 1u << side))
		until(&received, 1);
	send_all(side, peer);
	until(&sent, MESSAGES);
	until(&received, MESSAGES);
	check_all(side);
	there_and_back(side, peer);
	node_write(1, "", 1);
	node_read(0, &go, 1);	/* the peer may still need this process */
	_exit(0);
}

/* ---- the leader ------------------------------------------------------------------------- */

/* Providers, and how their log names their network path. */
static const struct {
	const char *name, *far;
} provs[] = {
	{ "tcp", "is reached over tcp" },
	{ "udp;ofi_rxd", "is reached over ofi_rxd" },
	{ "tcp;ofi_rxm", "is reached over ofi_rxm" },
};

static const char *prov, *far;

static char *log_text(int fd)
{
	off_t len = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t) len + 1);

	CHECK(text && pread(fd, text, (size_t) len, 0) == len);
	return text;
}

static void check_logs(const struct shape *shape, const int logs[2])
{
	const char *want = shape->near ? "is reached over shm" : far;
	char *text[2] = { log_text(logs[0]), log_text(logs[1]) };
	int i;

	for (i = 0; i < 2; i++)
		CHECK(strstr(text[i], want), "%s: not in the log of %c: %s\n%s", shape->name,
		      'A' + i, want, text[i]);
	for (i = 0; i < 2 && shape->near; i++)
		CHECK(!strstr(text[i], far), "%s: in the log of %c: %s", shape->name, 'A' + i, far);
	CHECK(!shape->says || strstr(text[0], shape->says) || strstr(text[1], shape->says),
	      "%s: in no log: %s\n%s\n%s", shape->name, shape->says, text[0], text[1]);
	free(text[0]);
	free(text[1]);
}

static void show(const int logs[2])
{
	char *text;
	int i;

	for (i = 0; i < 2; i++) {
		text = log_text(logs[i]);
		fprintf(stderr, "---- %c\n%s", 'A' + i, text);
		free(text);
	}
}

static void meet(unsigned shape, unsigned restricted, unsigned first)
{
	struct window window[2];
	char text[5][16], byte;
	int in[2], out[2], logs[2], i, status;
	bool good = true;
	pid_t pids[2];

	for (i = 0; i < 2; i++) {
		const char *argv[] = { "near", "side", text[0], text[1], text[2], text[3], text[4],
				       NULL };

		logs[i] = memfd_create("log", 0);
		CHECK(logs[i] >= 0);
		snprintf(text[0], 16, "%u", shape);
		snprintf(text[1], 16, "%d", i);
		snprintf(text[2], 16, "%u", restricted);
		snprintf(text[3], 16, "%u", first);
		snprintf(text[4], 16, "%d", logs[i]);
		pids[i] = node_spawn(argv, &in[i], &out[i]);
	}
	for (i = 0; i < 2; i++)
		good &= read(in[i], &window[i], sizeof(*window)) == sizeof(*window);
	for (i = 0; i < 2 && good; i++)
		node_write(out[!i], &window[i], sizeof(*window));
	for (i = 0; i < 2; i++)
		good &= read(in[i], &byte, 1) == 1;
	for (i = 0; i < 2 && good; i++)
		node_write(out[i], "", 1);
	for (i = 0; i < 2; i++)
		good &= read(in[i], &byte, 1) == 1;
	for (i = 0; i < 2 && good; i++)
		node_write(out[i], "", 1);
	for (i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
		CHECK(waitpid(pids[i], &status, 0) == pids[i]);
		good &= !status;
	}
	if (!good)
		show(logs);
	CHECK(good, "%s: %s, restricted %u, first %u", prov, shapes[shape].name, restricted, first);
	check_logs(&shapes[shape], logs);
	close(logs[0]);
	close(logs[1]);
}

static void run(unsigned i, int rounds)
{
	unsigned k, first;
	int round, cnt = 0;

	if (shapes[i].root && geteuid()) {
		printf("%s, %s: left out, it takes the superuser\n", prov, shapes[i].name);
		return;
	}
	for (k = 0; k < 4 && shapes[i].sides[k]; k++)
		for (first = rounds > 1 || !strcmp(prov, "tcp") ? A : BOTH; first <= BOTH; first += 2)
			for (round = 0; round < rounds; round++, cnt++)
				meet(i, shapes[i].sides[k], first);
	printf("%s, %s: %d pairs\n", prov, shapes[i].name, cnt);
	fflush(stdout);
}

/* A container may forbid some of these to its root user, too. */
static bool allowed(void (*apply)(void))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		fclose(stderr);
		apply();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return !status;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	unsigned i, p;

	if (argc == 7)
		return one_side(argv);
	signal(SIGPIPE, SIG_IGN);
	setenv("FI_LOG_LEVEL", "info", 1);
	for (p = 0; p < sizeof(provs) / sizeof(provs[0]); p++) {
		prov = provs[p].name;
		far = provs[p].far;
		setenv("TEST_PROVIDER", prov, 1);
		for (i = 0; i < SHAPES; i++) {
			if (argc > 2 && strcmp(argv[2], shapes[i].name))
				continue;
			if (allowed(shapes[i].apply))
				run(i, rounds);
			else
				printf("%s, %s: left out, it is not allowed here\n", prov,
				       shapes[i].name);
		}
	}
	return 0;
}
