/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pipeline PROVIDER cuda [RATE] - bandwidth of messages from device to device, compared with
 * that of the device's copy engine and of the provider with system memory.
 *
 * RATE, in MB/s, is the speed of the copy engine; by default that of memcpy() here, and a quarter
 * of it.  The engine takes no processor (FAKEGPU_DMA), as that of a device, unless PIPELINE_CPU
 * is set.  The three are measured in turn in the same processes; the last figure, the speed with
 * devices divided by the lesser of the other two, is the median of PIPELINE_ROUNDS [9] rounds.
 * PIPELINE_LEAST: exit with 1 if it is less, in percent.  With FAKEGPU=installed RATE is that of the
 * device.
 */
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../fakegpu/use.h"
#include "pair.h"

#define LEN ((size_t) 16 << 20)
#define MESSAGES 8		/* in a measurement, two in flight */
#define ROUNDS_MAX 101

enum { COPY, WIRE, BOTH, KINDS };

static const char *const names[KINDS] = { "copy", "wire", "both" };
static struct fi_context2 ctx[2];
static struct fid_mr *host_mr;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

/* MB/s of @cnt messages since @start. */
static double speed(int cnt, double start)
{
	return cnt * (double) LEN / (now() - start) / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static double median(double *val, int cnt)
{
	qsort(val, (size_t) cnt, sizeof(*val), by_size);
	return val[cnt / 2];
}

static double memcpy_speed(void)
{
	char *a = malloc(LEN), *b = malloc(LEN);
	double val[9], start;
	int i;

	PAIR_TRUE(a && b);
	memset(a, 1, LEN);
	memset(b, 2, LEN);
	for (i = 0; i < 9; i++) {
		start = now();
		memcpy(i % 2 ? a : b, i % 2 ? b : a, LEN);
		val[i] = speed(1, start);
	}
	free(a);
	free(b);
	return median(val, 9);
}

/* ---- measurements ------------------------------------------------------------------------------ */

static void register_host(struct pair *p)
{
	memset(p->host, 3, LEN);
	PAIR_OK(fi_mr_reg(p->domain, p->host, LEN, FI_SEND | FI_RECV, 0, 9, 0, &host_mr, NULL));
}

/* post - message @i, in either process. */
static void post(struct pair *p, int what, int i)
{
	void *buf = what == BOTH ? p->dev : p->host;
	void *desc = fi_mr_desc(what == BOTH ? p->mr : host_mr);
	ssize_t ret;

	do {
		ret = p->child ? fi_tsend(p->ep, buf, LEN, desc, p->peer, 1, &ctx[i % 2]) :
		      fi_trecv(p->ep, buf, LEN, desc, FI_ADDR_UNSPEC, 1, 0, &ctx[i % 2]);
	} while (ret == -FI_EAGAIN && fi_cq_read(p->cq, NULL, 0));
	PAIR_OK(ret);
}

/* The receiver posts before the sender begins, and tells when it has all. */
static double messages(struct pair *p, int what)
{
	struct pair_end end;
	double start;
	char c = 0;
	int i;

	if (!p->child) {
		post(p, what, 0);
		post(p, what, 1);
		pair_put(p, &c, 1);
	} else {
		pair_get(p, &c, 1);
	}
	start = now();
	for (i = 0; i < MESSAGES + (p->child != 0) * 2; i++) {
		if (p->child && i < MESSAGES)
			post(p, what, i);
		if (p->child && i < 2)
			continue;
		pair_wait(p, NULL, &end);	/* in any order */
		PAIR_OK(end.err);
		if (!p->child && i + 2 < MESSAGES)
			post(p, what, i);
	}
	if (!p->child)
		pair_put(p, &c, 1);
	else
		pair_get(p, &c, 1);
	return speed(MESSAGES, start);
}

/* cuda - the function @name of the library, which is loaded. */
#define CUDA(ret_func, name) ({ void *sym_ = fakegpu_call("libcuda.so.1", name); ret_func f_; \
				memcpy(&f_, &sym_, sizeof(f_)); f_; })
typedef int (*call_number)(int *dev, int number);
typedef int (*call_retain)(void **ctx, int dev);
typedef int (*call_at)(void *at);
typedef int (*call_copy)(void *to, uint64_t from, size_t len, void *stream);
typedef int (*call_pin)(void *at, size_t len, unsigned flags);

static bool pinned;

/* The copy engine alone; of a real device, from memory that it knows, as what the provider copies to. */
static double copies(struct pair *p)
{
	call_copy copy = CUDA(call_copy, "cuMemcpyDtoHAsync_v2");
	double start, val;
	void *own;
	int i, dev;

	PAIR_OK(CUDA(call_number, "cuDeviceGet")(&dev, fakegpu_device()));
	PAIR_OK(CUDA(call_retain, "cuDevicePrimaryCtxRetain")(&own, dev));
	PAIR_OK(CUDA(call_at, "cuCtxPushCurrent_v2")(own));
	if (fakegpu_not() && !pinned)
		PAIR_OK(CUDA(call_pin, "cuMemHostRegister_v2")(p->host, LEN, 1));
	pinned = true;
	start = now();
	for (i = 0; i < MESSAGES; i++)
		PAIR_OK(copy(p->host, (uintptr_t) p->dev, LEN, NULL));
	PAIR_OK(CUDA(call_at, "cuStreamSynchronize")(NULL));
	val = speed(MESSAGES, start);
	PAIR_OK(CUDA(call_at, "cuCtxPopCurrent_v2")(&own));
	return val;
}

static int rounds(void)
{
	const char *val = getenv("PIPELINE_ROUNDS");
	int cnt = val ? atoi(val) : 9;

	return cnt < 1 ? 1 : cnt > ROUNDS_MAX ? ROUNDS_MAX : cnt;
}

static int second(char **argv)
{
	struct pair p;
	int i;

	pair_join(&p, argv);
	pair_open(&p);
	PAIR_OK(pair_reg(&p));
	register_host(&p);
	for (i = 0; i < 2 * (rounds() + 1); i++)
		messages(&p, i % 2 ? BOTH : WIRE);
	PAIR_OK(fi_close(&host_mr->fid));
	pair_close(&p);
	return 0;
}

/* measure - print a line; returns the ratio in percent. */
static double measure(const char *prov, const char *kind, double rate)
{
	double val[KINDS][ROUNDS_MAX], ratio[ROUNDS_MAX], less;
	struct pair p;
	char num[24];
	int i, k;

	pinned = false;
	snprintf(num, sizeof(num), "%.0f", rate);
	setenv("FAKEGPU_RATE", num, 1);
	pair_start(&p, prov, kind, LEN);
	pair_open(&p);
	PAIR_OK(pair_reg(&p));
	register_host(&p);
	/* the first round makes connections and buffers, and does not count */
	for (i = -1; i < rounds(); i++) {
		k = i < 0 ? 0 : i;
		val[COPY][k] = copies(&p);
		val[WIRE][k] = messages(&p, WIRE);
		val[BOTH][k] = messages(&p, BOTH);
		less = val[COPY][k] < val[WIRE][k] ? val[COPY][k] : val[WIRE][k];
		ratio[k] = val[BOTH][k] / less;
	}
	PAIR_OK(fi_close(&host_mr->fid));
	pair_close(&p);
	pair_stop(&p);
	printf("%s:", prov);
	for (k = 0; k < KINDS; k++)
		printf(" %s %.0f", names[k], median(val[k], rounds()));
	less = 100 * median(ratio, rounds());
	printf(" MB/s; %.2f of the lesser\n", less / 100);
	fflush(stdout);
	return less;
}

/* one - in a process of its own: a fake reads its speed once. */
static int one(const char *prov, const char *kind, double rate)
{
	const char *least = getenv("PIPELINE_LEAST");

	return measure(prov, kind, rate) < (least ? atof(least) : 0);
}

int main(int argc, char **argv)
{
	char num[24], *again[] = { argv[0], argv[1], argv[2], num, NULL };
	double fast;
	int i, bad = 0;

	setenv("FAKEGPU_DELAY_US", "0", 1);
	setenv("FAKEGPU_DMA", getenv("PIPELINE_CPU") ? "0" : "1", 1);
	fakegpu_use(argv);
	if (argc == 5 && strchr(argv[1], '-') == NULL && atoi(argv[1]) > 0)
		return second(argv);
	if (argc == 4)
		return one(argv[1], argv[2], atof(argv[3]));
	if (argc != 3) {
		fprintf(stderr, "usage: %s PROVIDER cuda [RATE]\n", argv[0]);
		return 2;
	}
	if (fakegpu_not())
		return one(argv[1], argv[2], 0);
	fast = memcpy_speed();
	for (i = 1; i <= 4; i *= 4) {
		int status;
		pid_t pid = fork();

		snprintf(num, sizeof(num), "%.0f", fast / i);
		if (!pid) {
			execv("/proc/self/exe", again);
			_exit(99);
		}
		PAIR_TRUE(waitpid(pid, &status, 0) == pid);
		bad |= status != 0;
	}
	return bad;
}
