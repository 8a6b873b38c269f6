/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * gone PROVIDER TYPE LOCAL PEER COMMAND - what becomes of operations when the other end, or
 * the device, goes away in the middle.
 *
 * TYPE is msg, dgram or rdm. A child opens an endpoint at PEER, and the parent, at LOCAL,
 * sends to it and reads from it (msg, rdm). Then the parent kills the child (COMMAND
 * "kill"), or runs COMMAND. Every operation must end, once.
 */
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ends.h"

#define LEN 2000u		/* of a message: a datagram carries it */
#define READ_LEN 65536u
#define OPS 4096u		/* posted in all */
#define BEFORE 200u		/* that succeed before the end */
#define RECVS 64u

struct op {
	struct fi_context2 context;	/* first */
	unsigned ended, failed;
};

static struct op ops[OPS];
static unsigned posted, ended, failed;

static void post_recv(void *context)
{
	ends_must("fi_recv", fi_recv(ends.ep, ends.mem, LEN, ends.desc, FI_ADDR_UNSPEC, context));
}

/* ---- the child --------------------------------------------------------------------------- */

static void receive_for_ever(void)
{
	static struct fi_context2 context[RECVS];
	struct fi_cq_msg_entry entry;
	unsigned i;
	ssize_t got;

	for (i = 0; i < RECVS; i++)
		post_recv(&context[i]);
	for (;;) {
		got = fi_cq_read(ends.rx_cq, &entry, 1);
		if (got == 1)
			post_recv(entry.op_context);
		else if (got != -FI_EAGAIN)
			exit(0);	/* the parent, or the device, has gone */
	}
}

static void child(int out)
{
	struct hello hello;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ends_offer(READ_LEN, &hello);
	if (write(out, &hello, sizeof(hello)) != sizeof(hello))
		exit(1);
	ends_answer();
	receive_for_ever();
}

/* ---- the parent --------------------------------------------------------------------------- */

static struct hello hello;

static void take_completions(void)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_msg_entry entry;
	struct op *op;
	ssize_t got;

	do {
		got = fi_cq_read(ends.tx_cq, &entry, 1);
		if (got == -FI_EAVAIL)
			ends_must("fi_cq_readerr", fi_cq_readerr(ends.tx_cq, &err, 0));
		else if (got != 1)
			break;
		op = got == 1 ? entry.op_context : err.op_context;
		if (op->ended++)
			ends_die("an operation ended twice", -FI_EALREADY);
		op->failed = got != 1;
		failed += op->failed;
		ended++;
	} while (got);
}

/* Returns an error that says that no more can be posted. */
static long post_one(void)
{
	struct op *op = &ops[posted];
	long ret;

	if (!ends.dgram && posted % 4 == 3)
		ret = fi_read(ends.ep, ends.mem, READ_LEN, ends.desc, ends.dest, hello.addr, hello.key, op);
	else
		ret = fi_send(ends.ep, ends.mem, LEN, ends.desc, ends.dest, op);
	posted += !ret;
	return ret;
}

static void post_until(unsigned want_ended, unsigned want_failed)
{
	time_t end = time(NULL) + ENDS_WAIT_S;
	long ret = 0;

	while ((ended < want_ended || failed < want_failed) && posted < OPS &&
	       (!ret || ret == -FI_EAGAIN)) {
		ret = post_one();
		take_completions();
		if (time(NULL) > end)
			ends_die("nothing happens", -FI_ETIMEDOUT);
	}
}

static void wait_for_all(void)
{
	time_t end = time(NULL) + ENDS_WAIT_S;

	while (ended < posted) {
		take_completions();
		if (time(NULL) <= end)
			continue;
		fprintf(stderr, "%u of %u operations ended\n", ended, posted);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int pipes[2];
	bool kills;
	pid_t pid;

	if (argc != 6)
		return 2;
	kills = !strcmp(argv[5], "kill");
	if (pipe(pipes))
		return 1;
	pid = fork();
	if (!pid) {
		ends_find(ends_hints(argv[1], argv[2]), argv[4]);
		child(pipes[1]);
	}
	ends_find(ends_hints(argv[1], argv[2]), argv[3]);
	if (read(pipes[0], &hello, sizeof(hello)) != sizeof(hello))
		return 1;
	ends_reach(READ_LEN, &hello);
	post_until(BEFORE, 0);
	if (failed)
		ends_die("an operation failed before its time", -FI_EIO);
	if (kills)
		kill(pid, SIGKILL);
	else if (system(argv[5]))
		return 1;
	if (ends.dgram && kills)
		post_until(ended + BEFORE, 0);
	else
		post_until(0, 1);
	wait_for_all();
	ends_close();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("%u operations ended, %u with an error\n", ended, failed);
	return 0;
}
