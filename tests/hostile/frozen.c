/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * frozen - a connected peer is stopped, and then one short message is sent to it, whose send completes.
 *
 * The program is told by one line of the log, after some ten seconds, whether it polls or sleeps in a blocking call;
 * the message arrives when the peer goes on.  Over TCP sockets the kernel has the message, so it is a read
 * that has no answer there.
 */
#include "peer.h"

#define WAIT_MS 13000
#define SOCKETS_MS 21000		/* tcp looks at its sockets every 3.75 s */
#define TAG 7

static const struct way {
	const char *prov, *name;
	bool far;		/* no shared memory between processes of one host */
	bool sleeps;
	bool reads;
} ways[] = {
	{ "tcp", "shared memory, polling", false, false, false },
	{ "tcp", "shared memory, blocking", false, true, false },
	{ "tcp", "sockets, a read, blocking", true, true, true },
	{ "tcp", "sockets, a read, polling", true, false, true },
	{ "shm", "polling", false, false, false },
	{ "shm", "blocking", false, true, false },
	{ "udp;ofi_rxd", "shared memory, blocking", false, true, false },
	{ "udp;ofi_rxd", "datagrams, polling", true, false, false },
	{ "udp;ofi_rxd", "datagrams, blocking", true, true, false },
	{ "tcp;ofi_rxm", "shared memory, blocking", false, true, false },
};
#define WAYS (sizeof(ways) / sizeof(*ways))

static struct node node;
static struct target target;
static struct fi_context2 send_ctx, recv_ctx, read_ctx;
static char mem[64], text[1 << 16];

/* ---- the peer ------------------------------------------------------------------- */

static void await(const void *context)
{
	struct fi_cq_tagged_entry entry;
	int err;

	do {
		CHECK(node_reap(&node, &entry, &err, 60000), "nothing completes");
		CHECK(!err, "%s", fi_strerror(err));
	} while (entry.op_context != context);
}

static void post(const void *buf, size_t len, fi_addr_t to)
{
	ssize_t ret;

	while ((ret = fi_tsend(node.ep, buf, len, NULL, to, TAG, &send_ctx)) == -FI_EAGAIN)
		fi_cq_read(node.cq, NULL, 0);
	CHECK(!ret, "%s", fi_strerror((int) -ret));
}

/* run_peer - it answers each message, and says where it is. */
static void run_peer(void)
{
	fi_addr_t to = peer_open(&node, &target);
	struct target own;
	char in[8];

	peer_region(&node, mem, sizeof(mem), &own);
	node_write(STDOUT_FILENO, &own, sizeof(own));
	for (;;) {
		CALL(fi_trecv(node.ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, TAG, 0, &recv_ctx));
		await(&recv_ctx);
		post(in, sizeof(in), to);
		await(&send_ctx);
	}
}

/* ---- the program ------------------------------------------------------------------ */

static void wait_long(bool sleeps, int ms)
{
	struct fi_cq_tagged_entry entry;
	uint64_t end = node_now_ms() + (uint64_t) ms;
	ssize_t ret;

	do {
		ret = sleeps ? fi_cq_sread(node.cq, &entry, 1, NULL, ms) : fi_cq_read(node.cq, &entry, 1);
		CHECK(ret == -FI_EAGAIN || ret == -FI_EINTR, "something completes");
		if (!sleeps)
			usleep(5000);
	} while (node_now_ms() < end);
}

/* times_named - how often the log in @fd names the peer. */
static int times_named(int fd)
{
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
	const char *at = text;
	int cnt = 0;

	text[len > 0 ? len : 0] = 0;
	while ((at = strstr(at, "has taken nothing for 1"))) {
		at++;
		cnt++;
	}
	return cnt;
}

static void run_way(const struct way *way)
{
	char path[] = "/tmp/frozen_XXXXXX", out[8] = "frozen", in[8];
	int real = dup(STDERR_FILENO), log = mkstemp(path), cnt;
	struct target there;
	struct fid_mr *mr;
	struct peer p;
	fi_addr_t to;

	if (way->far)
		node_stay_far(1);
	CHECK(real >= 0 && log >= 0 && !unlink(path));
	node_open(&node, "127.0.0.1", 0, 1, CAPS, FI_PROGRESS_MANUAL);
	mr = peer_region(&node, mem, sizeof(mem), &target);
	p = peer_start("peer", &target);
	node_read(p.in, &there, sizeof(there));
	to = node_insert(&node, &there.name);
	CALL(fi_trecv(node.ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, TAG, 0, &recv_ctx));
	post(out, sizeof(out), to);
	await(&recv_ctx);
	peer_poll(&node, 500);		/* the connection has nothing left to say */
	CALL(fi_trecv(node.ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, TAG, 0, &recv_ctx));
	CHECK(!kill(p.pid, SIGSTOP));
	CHECK(dup2(log, STDERR_FILENO) >= 0);
	post(out, sizeof(out), to);
	if (way->reads)
		CALL(fi_read(node.ep, out, sizeof(out), NULL, to, there.addr, there.key, &read_ctx));
	await(&send_ctx);
	wait_long(way->sleeps, way->reads ? SOCKETS_MS : WAIT_MS);
	CHECK(dup2(real, STDERR_FILENO) >= 0);
	cnt = times_named(log);
	CHECK(cnt == 1, "%s: named %d times", way->name, cnt);
	CHECK(!kill(p.pid, SIGCONT));
	if (way->reads)
		await(&read_ctx);
	await(&recv_ctx);
	peer_end(&p);
	CALL(fi_close(&mr->fid));
	node_close(&node);
}

int main(int argc, char **argv)
{
	const char *prov = getenv("TEST_PROVIDER");
	int status, bad = 0;
	unsigned i;

	if (argc > 1) {
		run_peer();
		return 0;
	}
	/* at once: they wait for most of their time */
	for (i = 0; i < WAYS; i++) {
		if (strcmp(ways[i].prov, prov ? prov : "tcp"))
			continue;
		if (!fork()) {
			run_way(&ways[i]);
			exit(0);
		}
	}
	while (wait(&status) > 0)
		bad |= status != 0;
	return bad;
}
