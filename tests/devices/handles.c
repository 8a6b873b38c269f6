/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * handles PROVIDER KIND [kill] - long writes and reads between memory of a device of two processes
 * of one host, which go by handles.
 *
 * How many copies and opened handles they take; memory that is freed and allocated again between
 * them, on either side; a region that is gone.  With "kill" the second process is killed in the
 * middle of a copy: what waits for it ends with an error, and regions close.
 */
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"
#include "pair.h"

#define LEN 300000
#define ROUNDS 12

enum { NEW, FILL, CHECK, WRITE, READ, COPIES, OPENS, END };

struct region {
	uint64_t key, addr;
};

struct cmd {
	int what;
	unsigned seed;
	struct region to;		/* WRITE, READ */
};

struct answer {
	long ret;
	struct region r;		/* NEW */
};

static struct fi_context2 ctx;
static struct pair pair, *const p = &pair;

/* ---- either process ------------------------------------------------------------------------- */

static char byte_of(unsigned seed, size_t i)
{
	return (char) (seed * 31 + i * 7 + i / 251);
}

static void fill(unsigned seed)
{
	size_t i;

	for (i = 0; i < p->len; i++)
		p->host[i] = byte_of(seed, i);
	PAIR_TRUE(device_put(p->dev, p->host, p->len));
}

static bool holds(unsigned seed)
{
	size_t i;

	PAIR_TRUE(device_get(p->host, p->dev, p->len));
	for (i = 0; i < p->len; i++)
		if (p->host[i] != byte_of(seed, i))
			return false;
	return true;
}

/* renew - another allocation, mostly at the address of the one before. */
static struct region renew(void)
{
	pair_unreg(p);
	device_free(p->dev);
	p->dev = device_alloc(p->len);
	PAIR_TRUE(p->dev);
	PAIR_OK(pair_reg(p));
	return (struct region) { fi_mr_key(p->mr), p->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
				 (uintptr_t) p->dev : 0 };
}

static long post(bool write, struct region to)
{
	void *desc = fi_mr_desc(p->mr);
	long ret;

	do {
		ret = write ? fi_write(p->ep, p->dev, p->len, desc, p->peer, to.addr, to.key, &ctx) :
		      fi_read(p->ep, p->dev, p->len, desc, p->peer, to.addr, to.key, &ctx);
	} while (ret == -FI_EAGAIN && fi_cq_read(p->cq, NULL, 0));
	return ret;
}

/* Copies through the host; CUDA alone tells them from others by their names. */
static long copies(void)
{
	return fakegpu_times(p->lib, "cuMemcpyDtoHAsync") + fakegpu_times(p->lib, "cuMemcpyHtoDAsync");
}

static long opens(void)
{
	return fakegpu_times(p->lib, "cuIpcOpenMemHandle") +
	       fakegpu_times(p->lib, "hsa_amd_ipc_memory_attach") +
	       fakegpu_times(p->lib, "zeMemOpenIpcHandle");
}

/* ---- the second process ----------------------------------------------------------------------- */

static void serve(const struct cmd *c, struct answer *a)
{
	switch (c->what) {
	case NEW:
		a->r = renew();
		break;
	case FILL:
		fill(c->seed);
		break;
	case CHECK:
		a->ret = holds(c->seed);
		break;
	case WRITE:
	case READ:
		a->ret = post(c->what == WRITE, c->to);
		break;
	case COPIES:
		a->ret = copies();
		break;
	case OPENS:
		a->ret = opens();
		break;
	default:
		break;
	}
}

static int second(char **argv)
{
	struct cmd c;

	pair_join(p, argv);
	pair_open(p);
	PAIR_OK(pair_reg(p));
	do {
		struct answer a = { 0 };

		pair_get(p, &c, sizeof(c));
		serve(&c, &a);
		pair_put(p, &a, sizeof(a));
	} while (c.what != END);
	pair_close(p);
	return 0;
}

/* ---- the first process ------------------------------------------------------------------------- */

static struct answer ask(int what, unsigned seed, struct region to)
{
	struct cmd c = { .what = what, .seed = seed, .to = to };
	struct answer a;

	pair_put(p, &c, sizeof(c));
	pair_get(p, &a, sizeof(a));
	return a;
}

static const struct region none;

static int moved(bool write, struct region to)
{
	struct pair_end end;

	PAIR_OK(post(write, to));
	pair_wait(p, &ctx, &end);
	return end.err;
}

/* both_ways - a write and a read, whose data is checked. */
static void both_ways(struct region to, unsigned seed)
{
	fill(seed);
	PAIR_OK(moved(true, to));
	PAIR_TRUE(ask(CHECK, seed, none).ret);
	ask(FILL, seed + 1, none);
	PAIR_OK(moved(false, to));
	PAIR_TRUE(holds(seed + 1));
}

/* Nothing goes through the host, and each process opens the other's memory once. */
static void count(struct region to)
{
	long here = copies(), there = ask(COPIES, 0, none).ret;
	unsigned i;

	for (i = 0; i < ROUNDS; i++)
		both_ways(to, 10 * i + 1);
	here = copies() - here;
	there = ask(COPIES, 0, none).ret - there;
	if (fakegpu_not()) {	/* a driver does not count its calls */
		printf("%d writes and reads of %d bytes: done\n", ROUNDS, LEN);
		return;
	}
	PAIR_TRUE(!here && !there);
	PAIR_TRUE(opens() == 1 && ask(OPENS, 0, none).ret == 1);
	printf("%d writes and reads of %d bytes: %s, a handle opened in each process\n", ROUNDS, LEN,
	       strcmp(p->kind, "cuda") ? "done" : "no copy through the host");
}

/* What was opened is not used for what lies at its address now. */
static void reuse(void)
{
	struct region to = ask(NEW, 0, none).r;
	uintptr_t was = (uintptr_t) p->dev;
	long here = opens(), there = ask(OPENS, 0, none).ret;
	unsigned i, same = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (i % 2) {
			renew();
			same += (uintptr_t) p->dev == was;
		} else {
			to = ask(NEW, 0, none).r;
		}
		both_ways(to, 10 * i + 3);
	}
	here = opens() - here;
	there = ask(OPENS, 0, none).ret - there;
	if (fakegpu_not()) {
		printf("%d allocations replaced, %u of ours at the address of the one before\n", ROUNDS, same);
		return;
	}
	PAIR_TRUE(here == ROUNDS / 2 && there == ROUNDS / 2);
	printf("%d allocations replaced, %u of ours at the address of the one before: %ld and %ld handles "
	       "opened\n", ROUNDS, same, here, there);
}

/* What is refused holds up nothing. */
static void gone(void)
{
	struct region was = ask(NEW, 0, none).r, is;

	was.key += 1000;
	is = ask(NEW, 0, none).r;
	PAIR_TRUE(moved(true, was) == FI_ENOKEY);
	PAIR_TRUE(moved(false, was) == FI_ENOKEY);
	both_ways(is, 77);
	printf("a key without a region: refused\n");
}

static void work(const char *prov, const char *kind)
{
	pair_start(p, prov, kind, LEN);
	pair_open(p);
	PAIR_OK(pair_reg(p));
	count(ask(NEW, 0, none).r);
	reuse();
	gone();
	pair_idle(p);
	ask(END, 0, none);
	pair_close(p);
	pair_stop(p);
}

/* ---- the second process is killed --------------------------------------------------------------- */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

/* progress - for some ms. */
static void progress(int ms)
{
	double end = now() + ms / 1e3;

	while (now() < end)
		fi_cq_read(p->cq, NULL, 0);
}

/* The copy takes ten times as long as the process has to live. */
static void kill_it(void)
{
	int status;

	progress(20);
	PAIR_OK(kill(p->child, SIGKILL));
	PAIR_TRUE(waitpid(p->child, &status, 0) == p->child);
}

/* Ours ends once; a read may have been copied nevertheless. */
static void kill_target(bool write)
{
	struct region to = ask(NEW, 0, none).r;
	struct pair_end end;

	fill(5);
	ask(FILL, 6, none);
	PAIR_OK(post(write, to));
	kill_it();
	pair_wait(p, &ctx, &end);
	PAIR_TRUE(end.err || (!write && holds(6)));
	progress(300);
	pair_idle(p);
	printf("the target of a %s is killed: %s\n", write ? "write" : "read",
	       end.err ? fi_strerror(end.err) : "complete");
}

/* What the other one does is no operation of ours; our region closes. */
static void kill_initiator(bool write)
{
	struct region here = renew();
	double start;

	PAIR_OK(ask(write ? WRITE : READ, 0, here).ret);
	kill_it();
	start = now();
	pair_unreg(p);
	PAIR_TRUE(now() - start < 10);
	progress(300);
	pair_idle(p);
	printf("the initiator of a %s is killed: the region closes\n", write ? "write" : "read");
}

static void deaths(const char *prov, const char *kind)
{
	int i;

	for (i = 0; i < 4; i++) {
		pair_start(p, prov, kind, LEN);
		pair_open(p);
		PAIR_OK(pair_reg(p));
		ask(NEW, 0, none);
		if (i < 2)
			kill_target(i % 2);
		else
			kill_initiator(i % 2);
		pair_close(p);
		close(p->sock);
	}
}

int main(int argc, char **argv)
{
	bool kill = argc == 4 && !strcmp(argv[3], "kill");

	if (kill)
		setenv("FAKEGPU_RATE", "1", 1);		/* MB/s: a copy takes 300 ms */
	setenv("FAKEGPU_DELAY_US", "5", 0);
	fakegpu_use(argv);
	if (argc == 5)
		return second(argv);
	if (argc != 3 && !kill) {
		fprintf(stderr, "usage: %s PROVIDER cuda|rocr|ze [kill]\n", argv[0]);
		return 2;
	}
	if (kill)
		deaths(argv[1], argv[2]);
	else
		work(argv[1], argv[2]);
	return 0;
}
