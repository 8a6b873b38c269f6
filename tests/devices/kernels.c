/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * kernels PROVIDER KIND [LEN ...] - messages and writes of what a kernel of a CUDA device has
 * computed, which a kernel of the other process reads, while another kernel is running in the
 * default stream of the sender.
 *
 * It needs a device (FAKEGPU=installed): the fakes run no kernels; without one it exits with 77.
 * The running kernel ends after HOLD_S; a transfer that ends no sooner has waited for it, and the
 * test fails.
 */
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"
#include "pair.h"

#define HOLD_S 4.0
#define SKIPPED 77

/* hold: until *flag is set or ns have passed.  fill: word i becomes i * 2654435761 + seed.
 * check: *bad grows by the number of words that are not so.
 */
static const char ptx[] =
	".version 6.4\n.target sm_70\n.address_size 64\n"
	".visible .entry hold(.param .u64 flag, .param .u64 ns)\n{\n"
	"	.reg .pred %p<3>;\n	.reg .b32 %r<2>;\n	.reg .b64 %d<6>;\n"
	"	ld.param.u64 %d1, [flag];\n	ld.param.u64 %d2, [ns];\n"
	"	mov.u64 %d3, %globaltimer;\n	add.u64 %d3, %d3, %d2;\n"
	"again:\n"
	"	ld.volatile.u32 %r1, [%d1];\n	setp.ne.u32 %p1, %r1, 0;\n	@%p1 bra over;\n"
	"	mov.u64 %d4, %globaltimer;\n	setp.lt.u64 %p2, %d4, %d3;\n	@%p2 bra again;\n"
	"over:\n	ret;\n}\n"
	/* %r1 the word, %r2 words, %r3 the stride, %r4 what is wanted, %d1 its address */
#define EACH_WORD \
	"	.reg .pred %p<3>;\n	.reg .b32 %r<9>;\n	.reg .b64 %d<5>;\n" \
	"	ld.param.u32 %r2, [words];\n" \
	"	mov.u32 %r5, %ctaid.x;\n	mov.u32 %r6, %ntid.x;\n	mov.u32 %r7, %tid.x;\n" \
	"	mad.lo.u32 %r1, %r5, %r6, %r7;\n" \
	"	mov.u32 %r5, %nctaid.x;\n	mul.lo.u32 %r3, %r5, %r6;\n" \
	"again:\n	setp.ge.u32 %p1, %r1, %r2;\n	@%p1 bra over;\n" \
	"	ld.param.u64 %d1, [buf];\n	mul.wide.u32 %d2, %r1, 4;\n	add.u64 %d1, %d1, %d2;\n" \
	"	ld.param.u32 %r5, [seed];\n	mad.lo.u32 %r4, %r1, -1640531535, %r5;\n" \
	"	add.u32 %r1, %r1, %r3;\n"
	".visible .entry fill(.param .u64 buf, .param .u32 words, .param .u32 seed)\n{\n"
	EACH_WORD
	"	st.u32 [%d1], %r4;\n	bra again;\nover:\n	ret;\n}\n"
	".visible .entry check(.param .u64 buf, .param .u32 words, .param .u32 seed, .param .u64 bad)\n{\n"
	EACH_WORD
	"	ld.u32 %r5, [%d1];\n	setp.eq.u32 %p2, %r5, %r4;\n	@%p2 bra again;\n"
	"	ld.param.u64 %d3, [bad];\n	atom.add.u32 %r6, [%d3], 1;\n	bra again;\nover:\n	ret;\n}\n";

static struct pair pair, *const p = &pair;
static struct fi_context2 ctx;

/* ---- the driver --------------------------------------------------------------------------- */

static struct {
	int (*DeviceGet)(int *dev, int number);
	int (*PrimaryRetain)(void **own, int dev);
	int (*CtxPush)(void *own);
	int (*ModuleLoadData)(void **module, const void *text);
	int (*ModuleGetFunction)(void **func, void *module, const char *name);
	int (*LaunchKernel)(void *func, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
			    unsigned bz, unsigned shared, void *stream, void **args, void **extra);
	int (*StreamCreate)(void **stream, unsigned flags);
	int (*StreamSynchronize)(void *stream);
	int (*StreamQuery)(void *stream);
	int (*MemHostAlloc)(void **at, size_t len, unsigned flags);
} cu;

static const struct { const char *name; void *slot; } funcs[] = {
	{ "cuDeviceGet", &cu.DeviceGet }, { "cuDevicePrimaryCtxRetain", &cu.PrimaryRetain },
	{ "cuCtxPushCurrent_v2", &cu.CtxPush }, { "cuModuleLoadData", &cu.ModuleLoadData },
	{ "cuModuleGetFunction", &cu.ModuleGetFunction }, { "cuLaunchKernel", &cu.LaunchKernel },
	{ "cuStreamCreate", &cu.StreamCreate }, { "cuStreamSynchronize", &cu.StreamSynchronize },
	{ "cuStreamQuery", &cu.StreamQuery }, { "cuMemHostAlloc", &cu.MemHostAlloc },
};

static void *hold_func, *fill_func, *check_func;
static void *stream;			/* in which fill and check run, beside the default one */
static volatile unsigned *words;	/* of the host, which kernels see: the flag, the errors */

static bool driver_open(void)
{
	void *own, *module, *at, *sym;
	size_t i;
	int dev;

	for (i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++) {
		sym = fakegpu_call("libcuda.so.1", funcs[i].name);
		if (!sym)
			return false;
		memcpy(funcs[i].slot, &sym, sizeof(sym));
	}
	PAIR_OK(cu.DeviceGet(&dev, fakegpu_device()));
	PAIR_OK(cu.PrimaryRetain(&own, dev));
	PAIR_OK(cu.CtxPush(own));
	PAIR_OK(cu.ModuleLoadData(&module, ptx));
	PAIR_OK(cu.ModuleGetFunction(&hold_func, module, "hold"));
	PAIR_OK(cu.ModuleGetFunction(&fill_func, module, "fill"));
	PAIR_OK(cu.ModuleGetFunction(&check_func, module, "check"));
	PAIR_OK(cu.StreamCreate(&stream, 1));
	PAIR_OK(cu.MemHostAlloc(&at, 4096, 0));
	words = at;
	words[0] = words[1] = 0;
	return true;
}

static void launch(void *func, unsigned blocks, void **args, void *in)
{
	PAIR_OK(cu.LaunchKernel(func, blocks, 1, 1, blocks > 1 ? 256 : 1, 1, 1, 0, in, args, NULL));
}

static void hold(void)
{
	uint64_t flag = (uintptr_t) &words[0], ns = (uint64_t) (HOLD_S * 1e9);
	void *args[] = { &flag, &ns };

	words[0] = 0;
	launch(hold_func, 1, args, NULL);
}

static void compute(unsigned seed)
{
	uint64_t at = (uintptr_t) p->dev;
	unsigned cnt = (unsigned) (p->len / 4);
	void *args[] = { &at, &cnt, &seed };

	launch(fill_func, 64, args, stream);
	PAIR_OK(cu.StreamSynchronize(stream));
}

static void verify(unsigned seed)
{
	uint64_t at = (uintptr_t) p->dev, bad = (uintptr_t) &words[1];
	unsigned cnt = (unsigned) (p->len / 4);
	void *args[] = { &at, &cnt, &seed, &bad };

	words[1] = 0;
	launch(check_func, 64, args, stream);
	PAIR_OK(cu.StreamSynchronize(stream));
	if (words[1])
		fprintf(stderr, "%u of %u words are wrong\n", words[1], cnt);
	PAIR_TRUE(!words[1]);
}

/* ---- both processes ------------------------------------------------------------------------- */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

enum { SEND, SEND_AGAIN, WRITE, WRITE_AGAIN, STEPS };

struct region {
	uint64_t key, addr;
};

/* The first message of an endpoint also makes what it needs of the device. */
static int second(char **argv)
{
	struct region r;
	struct pair_end end;
	unsigned step;
	char c;

	pair_join(p, argv);
	pair_open(p);
	PAIR_TRUE(driver_open());
	PAIR_OK(pair_reg(p));
	r.key = fi_mr_key(p->mr);
	r.addr = p->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) p->dev : 0;
	pair_put(p, &r, sizeof(r));
	for (step = 0; step < STEPS; step++) {
		compute(99);
		if (step < WRITE)
			PAIR_OK(fi_trecv(p->ep, p->dev, p->len, fi_mr_desc(p->mr), FI_ADDR_UNSPEC, 1, 0, &ctx));
		pair_put(p, "", 1);
		if (step < WRITE) {
			pair_wait(p, &ctx, &end);
			PAIR_OK(end.err);
		}
		pair_get(p, &c, 1);
		verify(step + 1);
		pair_put(p, "", 1);
	}
	pair_close(p);
	return 0;
}

static void post(unsigned step, const struct region *to)
{
	struct iovec iov = { p->dev, p->len };
	void *desc = fi_mr_desc(p->mr);
	struct fi_rma_iov remote = { .addr = to->addr, .len = p->len, .key = to->key };
	struct fi_msg_rma msg = { .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = p->peer,
				  .rma_iov = &remote, .rma_iov_count = 1, .context = &ctx };
	long ret;

	do {
		ret = step < WRITE ? fi_tsend(p->ep, p->dev, p->len, desc, p->peer, 1, &ctx) :
		      fi_writemsg(p->ep, &msg, FI_DELIVERY_COMPLETE);
	} while (ret == -FI_EAGAIN && fi_cq_read(p->cq, NULL, 0));
	PAIR_OK(ret);
}

static void one_length(const char *prov, const char *kind, size_t len)
{
	double took[STEPS], start;
	struct pair_end end;
	struct region to;
	unsigned step;
	char c;

	pair_start(p, prov, kind, len);
	pair_open(p);
	if (!driver_open())
		exit(SKIPPED);
	PAIR_OK(pair_reg(p));
	pair_get(p, &to, sizeof(to));
	for (step = 0; step < STEPS; step++) {
		pair_get(p, &c, 1);
		hold();
		compute(step + 1);
		start = now();
		post(step, &to);
		pair_wait(p, &ctx, &end);
		took[step] = now() - start;
		PAIR_OK(end.err);
		PAIR_TRUE(cu.StreamQuery(NULL) == 600);	/* the kernel is still running */
		words[0] = 1;
		PAIR_OK(cu.StreamSynchronize(NULL));
		pair_put(p, "", 1);
		pair_get(p, &c, 1);
	}
	pair_close(p);
	pair_stop(p);
	printf("%s %s %zu: send %.0f, again %.0f, write %.0f, again %.0f us beside a running kernel\n", prov,
	       kind, len, took[0] * 1e6, took[1] * 1e6, took[2] * 1e6, took[3] * 1e6);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const size_t lens[] = { 100, 5000, 300000, 16 << 20 };
	size_t i;

	fakegpu_use(argv);
	if (argc == 5 && atoi(argv[1]) > 0)
		return second(argv);
	if (argc < 3) {
		fprintf(stderr, "usage: %s PROVIDER cuda|cuda-map|cuda-pool|cuda-managed [LEN ...]\n", argv[0]);
		return 2;
	}
	if (!fakegpu_not())
		return SKIPPED;
	if (argc > 3) {
		for (i = 3; i < (size_t) argc; i++)
			one_length(argv[1], argv[2], strtoul(argv[i], NULL, 0));
		return 0;
	}
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		one_length(argv[1], argv[2], lens[i]);
	return 0;
}
