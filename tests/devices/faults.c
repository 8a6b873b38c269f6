/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * faults PROVIDER KIND - every call of a device fails once, in either process.
 *
 * A scenario registers a region, sends short, long and unexpected messages, writes, reads, and
 * does an atomic operation.  It runs once to count the calls of the device in each process, then
 * once for each of these calls, which fails.  Each operation must end once: with a success and
 * its data, or with an error.  If the failing process completed an operation with an error, the
 * error names the call and the device.  After each run the scenario works.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"
#include "pair.h"

#define LEN 300000

/* ---- what the second process is asked to do -------------------------------------------------- */

enum { REG, UNREG, RECV, CANCEL, FINISH, FILL, CHECK, FAIL, PAUSE, COUNT, END };

struct cmd {
	int what;
	unsigned n;			/* FAIL: which call; PAUSE: on; FILL, CHECK: the seed */
	size_t len;
};

struct answer {
	long ret;
	uint64_t key, addr;
	struct pair_end end;
};

static struct fi_context2 ctx[2];

static char byte_of(unsigned seed, size_t i)
{
	return (char) (seed * 31 + i * 7 + i / 251);
}

static void pause_plan(const struct pair *p, bool on)
{
	fakegpu_tell(p->lib, "fakegpu_pause", on);
}

static void fill(struct pair *p, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p->host[i] = byte_of(seed, i);
	pause_plan(p, true);
	PAIR_TRUE(device_put(p->dev, p->host, len));
	pause_plan(p, false);
}

static bool holds(struct pair *p, size_t len, unsigned seed)
{
	size_t i;

	pause_plan(p, true);
	PAIR_TRUE(device_get(p->host, p->dev, len));
	pause_plan(p, false);
	for (i = 0; i < len; i++)
		if (p->host[i] != byte_of(seed, i))
			return false;
	return true;
}

/* reg - a new allocation each time, which the other process does not know yet. */
static int reg(struct pair *p)
{
	pause_plan(p, true);
	device_free(p->dev);
	p->dev = device_alloc(p->len);
	PAIR_TRUE(p->dev);
	pause_plan(p, false);
	return pair_reg(p);
}

static void do_reg(struct pair *p, struct answer *a)
{
	a->ret = reg(p);
	if (a->ret)
		return;
	a->key = fi_mr_key(p->mr);
	a->addr = p->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) p->dev : 0;
}

static void serve(struct pair *p, const struct cmd *c, struct answer *a)
{
	switch (c->what) {
	case REG:
		do_reg(p, a);
		break;
	case UNREG:
		pair_unreg(p);
		break;
	case RECV:
		a->ret = fi_trecv(p->ep, p->dev, p->len, fi_mr_desc(p->mr), FI_ADDR_UNSPEC, 5, 0,
				  &ctx[1]);
		break;
	case CANCEL:
		PAIR_OK(fi_cancel(&p->ep->fid, &ctx[1]));
		pair_wait(p, &ctx[1], &a->end);
		PAIR_TRUE(a->end.err == FI_ECANCELED);
		break;
	case FINISH:
		pair_wait(p, &ctx[1], &a->end);
		break;
	case FILL:
		fill(p, c->len, c->n);
		break;
	case CHECK:
		a->ret = holds(p, c->len, c->n);
		break;
	case FAIL:
		fakegpu_tell(p->lib, "fakegpu_once", c->n);
		break;
	case PAUSE:
		pause_plan(p, c->n);
		break;
	default:
		break;
	}
	a->key = c->what == COUNT ? (uint64_t) fakegpu_number(p->lib, "fakegpu_calls") : a->key;
	if (c->what == UNREG)
		pair_idle(p);
}

static int second(char **argv)
{
	struct pair p;
	struct cmd c;

	pair_join(&p, argv);
	pair_open(&p);
	do {
		struct answer a = { 0 };

		pair_get(&p, &c, sizeof(c));
		serve(&p, &c, &a);
		pair_put(&p, &a, sizeof(a));
	} while (c.what != END);
	pair_close(&p);
	return 0;
}

/* ---- the first process ------------------------------------------------------------------------ */

static struct pair pair, *const p = &pair;
static unsigned seed;
static bool planned, planned_there;	/* a call fails: in this process, in the other one */
static unsigned errors;

static struct answer ask(int what, unsigned n, size_t len)
{
	struct cmd c = { .what = what, .n = n, .len = len };
	struct answer a;

	pair_put(p, &c, sizeof(c));
	pair_get(p, &a, sizeof(a));
	return a;
}

/* An error says what failed, where the process that completes is the one whose call failed. */
static void judge(const struct pair_end *end, bool here)
{
	if (!end->err)
		return;
	errors++;
	PAIR_TRUE(planned || planned_there);
	PAIR_TRUE(end->err == FI_EIO);
	if (here && !strstr(end->text, " device 1"))
		pair_die(end->text, 0);
}

/* refused - a call returned @ret: only where a device failed within it. */
static bool refused(long ret)
{
	if (!ret)
		return false;
	errors++;
	PAIR_TRUE(ret == -FI_EIO && planned);
	return true;
}

/* again - @call, which may have to wait for room. */
#define AGAIN(call) ({ long r_; while ((r_ = (long) (call)) == -FI_EAGAIN) fi_cq_read(p->cq, NULL, 0); r_; })

static void message(size_t len, bool unexpected)
{
	struct pair_end mine, theirs;
	long ret;
	int i;

	fill(p, len, ++seed);
	if (!unexpected)
		PAIR_OK(ask(RECV, 0, 0).ret);
	ret = AGAIN(fi_tsend(p->ep, p->dev, len, fi_mr_desc(p->mr), p->peer, 5, &ctx[0]));
	if (refused(ret)) {
		if (!unexpected)
			ask(CANCEL, 0, 0);
		return;
	}
	if (unexpected) {
		for (i = 0; i < 200; i++)
			ret = fi_cq_read(p->cq, NULL, 0);
		PAIR_OK(ask(RECV, 0, 0).ret);
	}
	/* both ends make progress: the answer comes when the other one's is complete */
	theirs = ask(FINISH, 0, 0).end;
	pair_wait(p, &ctx[0], &mine);
	judge(&mine, planned);
	judge(&theirs, planned_there);
	if (!theirs.err)
		PAIR_TRUE(ask(CHECK, seed, len).ret);
}

static void wait_rma(struct pair_end *end)
{
	pair_wait(p, &ctx[0], end);
	judge(end, false);
	if (end->err && planned && !strstr(end->text, " device 1"))
		pair_die(end->text, 0);
}

static void rma(size_t len, uint64_t key, uint64_t addr)
{
	struct iovec iov = { p->dev, len };
	void *desc = fi_mr_desc(p->mr);
	struct fi_rma_iov remote = { .addr = addr, .len = len, .key = key };
	struct fi_msg_rma msg = { .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = p->peer,
				  .rma_iov = &remote, .rma_iov_count = 1, .context = &ctx[0] };
	struct pair_end end;

	fill(p, len, ++seed);
	if (!refused(AGAIN(fi_writemsg(p->ep, &msg, FI_DELIVERY_COMPLETE)))) {
		wait_rma(&end);
		if (!end.err)
			PAIR_TRUE(ask(CHECK, seed, len).ret);
	}
	ask(FILL, ++seed, len);
	if (refused(AGAIN(fi_read(p->ep, p->dev, len, desc, p->peer, addr, key, &ctx[0]))))
		return;
	wait_rma(&end);
	if (!end.err)
		PAIR_TRUE(holds(p, len, seed));
}

static void atomic_add(uint64_t key, uint64_t addr)
{
	void *desc = fi_mr_desc(p->mr);
	struct pair_end end;

	if (!refused(AGAIN(fi_fetch_atomic(p->ep, p->dev, 4, desc, p->dev + 4096, desc, p->peer, addr, key,
					   FI_UINT64, FI_SUM, &ctx[0]))))
		wait_rma(&end);
}

static void scenario(void)
{
	struct answer there = ask(REG, 0, 0);
	long here = reg(p);

	if (there.ret) {
		PAIR_TRUE(there.ret == -FI_EIO && planned_there);
		errors++;
	}
	if (!refused(here) && !there.ret) {
		message(3000, false);
		message(3000, true);
		message(LEN, false);
		message(LEN, true);
		rma(5000, there.key, there.addr);
		rma(LEN, there.key, there.addr);
		atomic_add(there.key, there.addr);
	}
	pair_idle(p);
	pair_unreg(p);
	ask(UNREG, 0, 0);
}

static void plan(bool here, unsigned n)
{
	planned = here && n;
	planned_there = !here && n;
	if (here)
		fakegpu_tell(p->lib, "fakegpu_once", n);
	else
		ask(FAIL, n, 0);
}

/* side - each call of one process fails in turn, every @step-th; returns how many there are. */
static unsigned side(bool here, unsigned step)
{
	unsigned long before = here ? (unsigned long) fakegpu_number(p->lib, "fakegpu_calls") :
			       ask(COUNT, 0, 0).key;
	unsigned cnt, n;

	scenario();
	cnt = (unsigned) ((here ? (unsigned long) fakegpu_number(p->lib, "fakegpu_calls") :
			   ask(COUNT, 0, 0).key) - before);
	for (n = 1; n <= cnt; n += step) {
		plan(here, n);
		scenario();
		plan(here, 0);
	}
	scenario();
	return cnt;
}

/* Of this process, which sends: requests for handles. */
static unsigned handle_calls(void)
{
	return (unsigned) (fakegpu_times(p->lib, "cuIpcGetMemHandle") +
			   fakegpu_times(p->lib, "hsa_amd_ipc_memory_create") +
			   fakegpu_times(p->lib, "zeMemGetIpcHandle"));
}

int main(int argc, char **argv)
{
	unsigned here, there, handles, step = getenv("FAULT_STEP") ? (unsigned) atoi(getenv("FAULT_STEP")) : 1;

	setenv("FAKEGPU_DELAY_US", "5", 0);
	fakegpu_use(argv);
	if (argc == 5)
		return second(argv);
	if (argc != 3) {
		fprintf(stderr, "usage: %s PROVIDER cuda|gdr|rocr|ze\n", argv[0]);
		return 2;
	}
	pair_start(p, argv[1], argv[2], LEN);
	pair_open(p);
	scenario();		/* first uses: connections, contexts, buffers */
	here = side(true, step);
	there = side(false, step);
	handles = handle_calls();
	ask(END, 0, 0);
	pair_close(p);
	pair_stop(p);
	printf("%s %s: %u and %u calls of the device, each %u. failed once, %u operations ended with an "
	       "error; %u of the calls were for handles\n", argv[1], argv[2], here, there, step, errors,
	       handles);
	return 0;
}
