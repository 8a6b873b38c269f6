/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * busy - a peer that makes no progress for longer than the connect timeout is reached once it
 * does.
 *
 *   busy [STOP_MS]
 *
 * Two processes; the connect timeout is TIMEOUT_MS.  The first one sends to the other while
 * that is stopped, while it computes under manual progress, when it has connected to the first
 * one and computes then, and with more data than the system's buffers hold, so that nothing can
 * be sent any more.
 */
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"

#define TIMEOUT_MS "100"
#define UNACKED_MS "400"
#define BOUND_MS 60000
#define BULK_CNT 200
#define BULK_LEN 60000

enum { STOPPED, COMPUTES, CALLED_AND_COMPUTES, FULL, CASES };

static const char *const names[CASES] = {
	"stopped", "computing", "computing after a call of its own", "full",
};

static unsigned idle_ms = 1500;

/* An operation of each direction: both must complete without an error. */
struct talk {
	struct fi_context2 ctx[2];
	char in[64], out[64];
	unsigned left;
};

static struct fi_context2 bulk_ctx[BULK_CNT];
static char bulk[BULK_LEN];

static void begin(struct talk *talk, struct node *n, fi_addr_t addr)
{
	memset(talk, 0, sizeof(*talk));
	talk->left = 2;
	strcpy(talk->out, "hello");
	CALL(fi_recv(n->ep, talk->in, sizeof(talk->in), NULL, FI_ADDR_UNSPEC, &talk->ctx[0]));
	CALL(fi_send(n->ep, talk->out, sizeof(talk->out), NULL, addr, &talk->ctx[1]));
}

/* Many messages of one direction. */
static void begin_bulk(struct talk *talk, struct node *n, fi_addr_t addr, bool sends)
{
	int i;

	for (i = 0; i < BULK_CNT; i++) {
		if (sends)
			CALL(fi_send(n->ep, bulk, BULK_LEN, NULL, addr, &bulk_ctx[i]));
		else
			CALL(fi_recv(n->ep, bulk, BULK_LEN, NULL, addr, &bulk_ctx[i]));
	}
	talk->left += BULK_CNT;
}

/* drive - make progress until both are done, or for @ms. */
static void drive(struct talk *talk, struct node *n, unsigned ms)
{
	uint64_t end = node_now_ms() + ms;
	struct fi_cq_tagged_entry e;
	int err;

	while (talk->left && node_now_ms() < end) {
		if (!node_reap(n, &e, &err, 0))
			continue;
		CHECK(!err, "an operation failed: %s", fi_strerror(err));
		talk->left--;
	}
}

static void finish(struct talk *talk, struct node *n)
{
	drive(talk, n, BOUND_MS);
	CHECK(!talk->left, "%u operations are left", talk->left);
	CHECK(!strcmp(talk->in, "hello"));
}

/* The other process: computes until it gets a command. */
static int other(int which)
{
	struct node_name name;
	struct talk talk;
	struct node n;
	fi_addr_t addr;
	char go;

	node_open(&n, "127.0.0.1", 0, 1, FI_MSG, FI_PROGRESS_MANUAL);
	name = node_name(&n, 0);
	node_write(1, &name, sizeof(name));
	node_read(0, &name, sizeof(name));
	addr = node_insert(&n, &name);
	if (which >= CALLED_AND_COMPUTES)
		begin(&talk, &n, addr);
	if (which == FULL)
		finish(&talk, &n);
	node_write(1, "", 1);
	node_read(0, &go, 1);
	if (which != CALLED_AND_COMPUTES)
		begin(&talk, &n, addr);
	if (which == FULL)
		begin_bulk(&talk, &n, addr, false);
	finish(&talk, &n);
	node_write(1, "", 1);
	node_read(0, &go, 1);
	node_close(&n);
	return 0;
}

static void run(const char *self, int which)
{
	char text[16], byte;
	const char *argv[] = { self, "other", text, NULL };
	struct node_name name, mine;
	struct talk talk;
	struct node n;
	int in, out, status;
	fi_addr_t addr;
	pid_t pid;

	snprintf(text, sizeof(text), "%d", which);
	pid = node_spawn(argv, &in, &out);
	node_open(&n, "127.0.0.1", 0, 1, FI_MSG, FI_PROGRESS_MANUAL);
	mine = node_name(&n, 0);
	node_read(in, &name, sizeof(name));
	node_write(out, &mine, sizeof(mine));
	addr = node_insert(&n, &name);
	if (which == FULL) {		/* buffers are filled over an open connection */
		begin(&talk, &n, addr);
		finish(&talk, &n);
	}
	node_read(in, &byte, 1);
	if (which == STOPPED) {
		CHECK(!kill(pid, SIGSTOP));
		CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	}
	begin(&talk, &n, addr);
	if (which == FULL)
		begin_bulk(&talk, &n, addr, true);
	drive(&talk, &n, idle_ms);
	CHECK(talk.left, "it answers while it should be %s", names[which]);
	if (which == STOPPED)
		CHECK(!kill(pid, SIGCONT));
	node_write(out, "", 1);
	finish(&talk, &n);
	node_read(in, &byte, 1);
	node_write(out, "", 1);
	CHECK(waitpid(pid, &status, 0) == pid && !status, "it ended with status %#x", status);
	node_close(&n);
	printf("a peer that is %s is reached\n", names[which]);
}

int main(int argc, char **argv)
{
	int i;

	setenv("FI_TCP_LOCAL", "0", 0);	/* over TCP, unless the environment says otherwise */
	setenv("FI_TCP_CONN_TIMEOUT", TIMEOUT_MS, 0);
	setenv("FI_TCP_USER_TIMEOUT", UNACKED_MS, 0);
	if (argc > 2)
		return other(atoi(argv[2]));
	if (argc > 1)
		idle_ms = (unsigned) atoi(argv[1]);
	for (i = 0; i < CASES; i++)
		run(argv[0], i);
	return 0;
}
