/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * posts PROVIDER KIND - transfers that code of a device posts, from and to memory of the device, with
 * rings that the library makes for it.
 *
 * A thread is the device: it uses handles by the address that they have for the device, and touches
 * no memory of the device, which would fault.  With POSTS_PTX in the environment, the code of
 * posts.cu, a CUDA device runs it, each call made by a block of threads together.  Both processes write
 * to the other's memory and signal it, then send messages, then write and signal without waiting in
 * between: who sees the signal finds what was written before.  First the ways in which a context cannot be
 * opened.  KIND "system": memory of the host, and a thread.  POSTS_SOCKETS: so many connections there are.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"
#include "pair.h"
#include "posts.h"

#define LEN ((size_t) 4 << 20)
#define HALF (LEN / 2)
#define ROUNDS 8
#define THREADS 96		/* of a block: more than one warp */

static struct pair pair, *const p = &pair;
static struct device dev;
static struct fid_xpu_ctx *ctx;
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_cntr *cntr;
static struct fid_mr *word_mr;
/* That the peer counts up; that is added; that the peer writes; what is written and sent; 0; the message. */
static uint64_t words[6];

static void fill(unsigned seed, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		p->host[i] = (char) (seed * 31 + i * 7 + i / 251);
}

/* ---- the device ------------------------------------------------------------------------------ */

struct code {
	int (*run)(struct device *d);
	const char *kernel;
};

static const struct code put_code = { put_and_signal, "put_kernel" };
static const struct code send_code = { send_and_receive, "send_kernel" };
static const struct code expect_code = { expect_message, "expect_kernel" };
static const struct code parts_code = { parts_and_signal, "parts_kernel" };
static const struct code await_code = { await_message, "await_kernel" };
static const struct code rest_code = { take_rest, "rest_kernel" };

static void *run_thread(void *code)
{
	PAIR_OK(((const struct code *) code)->run(&dev));
	return NULL;
}

static void run_on_host(const struct code *code)
{
	pthread_t id;

	PAIR_OK(pthread_create(&id, NULL, run_thread, (void *) (uintptr_t) code));
	pthread_join(id, NULL);
}

static struct {
	int (*DeviceGet)(int *dev, int number);
	int (*PrimaryRetain)(void **own, int dev);
	int (*CtxPush)(void *own);
	int (*ModuleLoadData)(void **module, const void *text);
	int (*ModuleGetFunction)(void **func, void *module, const char *name);
	int (*LaunchKernel)(void *func, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
			    unsigned bz, unsigned shared, void *stream, void **args, void **extra);
	int (*CtxSynchronize)(void);
} cu;

static const struct { const char *name; void *slot; } funcs[] = {
	{ "cuDeviceGet", &cu.DeviceGet }, { "cuDevicePrimaryCtxRetain", &cu.PrimaryRetain },
	{ "cuCtxPushCurrent_v2", &cu.CtxPush }, { "cuModuleLoadData", &cu.ModuleLoadData },
	{ "cuModuleGetFunction", &cu.ModuleGetFunction }, { "cuLaunchKernel", &cu.LaunchKernel },
	{ "cuCtxSynchronize", &cu.CtxSynchronize },
};

static void *module;

static void load_kernels(const char *path)
{
	static char text[1 << 20];
	FILE *f = fopen(path, "r");
	void *own, *sym;
	size_t i;
	int number;

	PAIR_TRUE(f && fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	for (i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++) {
		sym = fakegpu_call("libcuda.so.1", funcs[i].name);
		PAIR_TRUE(sym);
		memcpy(funcs[i].slot, &sym, sizeof(sym));
	}
	PAIR_OK(cu.DeviceGet(&number, fakegpu_device()));
	PAIR_OK(cu.PrimaryRetain(&own, number));
	PAIR_OK(cu.CtxPush(own));
	PAIR_OK(cu.ModuleLoadData(&module, text));
}

static void run_on_device(const struct code *code)
{
	char *at = device_alloc(sizeof(dev) + sizeof(int)), *at_ret = at + sizeof(dev);
	void *func, *args[] = { &at, &at_ret };
	int ret = -1;

	PAIR_TRUE(at && device_put(at, &dev, sizeof(dev)) && device_put(at_ret, &ret, sizeof(ret)));
	PAIR_OK(cu.ModuleGetFunction(&func, module, code->kernel));
	PAIR_OK(cu.LaunchKernel(func, 1, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL));
	PAIR_OK(cu.CtxSynchronize());
	PAIR_TRUE(device_get(&ret, at_ret, sizeof(ret)));
	PAIR_OK(ret);
	PAIR_TRUE(device_get(&dev, at, sizeof(dev)));
	device_free(at);
}

static void run_code(const struct code *code)
{
	if (module)
		run_on_device(code);
	else
		run_on_host(code);
}

/* ---- the host -------------------------------------------------------------------------------- */

static long open_ctx(enum fi_hmem_iface iface, uint64_t number)
{
	struct fi_xpu_attr attr = { .iface = iface, .device = number };

	return fi_xpu_ctx(p->domain, &attr, &ctx, NULL);
}

/* What the device is called in the attributes of its memory. */
static uint64_t number_of(const struct fi_mr_attr *attr)
{
	switch (attr->iface) {
	case FI_HMEM_CUDA:
		return (uint64_t) attr->device.cuda;
	case FI_HMEM_ZE:
		return (uint64_t) attr->device.ze;
	default:
		return attr->device.reserved;
	}
}

static void refused(enum fi_hmem_iface iface)
{
	const char *first = iface == FI_HMEM_CUDA ? "cuMemHostAlloc" :
			    iface == FI_HMEM_ZE ? "zeMemAllocHost" : "hsa_amd_memory_lock";

	PAIR_TRUE(open_ctx(iface, 99) == -FI_EINVAL);
	PAIR_TRUE(open_ctx(FI_HMEM_NEURON, 0) == -FI_ENOSYS);
	fakegpu_plan(p->lib, first, 1);
	PAIR_TRUE(open_ctx(iface, 1) == -FI_EIO);
	fakegpu_plan(p->lib, first, 0);
}

static void open_objects(void)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .flags = FI_XPU, .xpu_ctx = ctx };
	struct fi_cntr_attr cntr_attr = { .flags = FI_XPU, .xpu_ctx = ctx };

	PAIR_OK(fi_cq_open(p->domain, &cq_attr, &cq, NULL));
	PAIR_OK(fi_cntr_open(p->domain, &cntr_attr, &cntr, NULL));
	p->info->ep_attr->xpu_ctx = ctx;
	PAIR_OK(fi_endpoint2(p->domain, p->info, &ep, FI_XPU, NULL));
	PAIR_OK(fi_ep_bind(ep, &p->av->fid, 0));
	PAIR_OK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	PAIR_OK(fi_ep_bind(ep, &cntr->fid, FI_REMOTE_WRITE));
	PAIR_OK(fi_enable(ep));
	PAIR_OK(fi_ep_export_xpu(ep, 0, &dev.ep));
	PAIR_OK(fi_cq_export_xpu(cq, 0, &dev.cq));
	PAIR_OK(fi_cntr_export_xpu(cntr, 0, &dev.cntr));
}

static void describe(struct fid_mr *mr, const void *at, uint64_t *addr, uint64_t *key, uint64_t *desc)
{
	size_t size = sizeof(*desc);

	*addr = p->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) at : 0;
	*key = fi_mr_key(mr);
	PAIR_OK(fi_mr_get_xpu_desc(mr, desc, &size, FI_XPU, ctx));
}

/* Names and regions of the two endpoints of devices. */
static void meet(void)
{
	struct { char name[256]; uint64_t where[4]; } all = { { 0 }, { 0 } };
	size_t size = sizeof(all.name);
	fi_addr_t peer;

	PAIR_OK(fi_mr_reg(p->domain, words, sizeof(words), FI_SEND | FI_RECV | FI_WRITE | FI_REMOTE_WRITE, 0, 9, 0, &word_mr,
			  NULL));
	describe(p->mr, p->dev, &all.where[0], &all.where[1], &dev.desc);
	describe(word_mr, words, &all.where[2], &all.where[3], &dev.one_desc);
	PAIR_OK(fi_getname(&ep->fid, all.name, &size));
	pair_put(p, &all, sizeof(all));
	pair_get(p, &all, sizeof(all));
	PAIR_TRUE(fi_av_insert(p->av, all.name, 1, &peer, 0, NULL) == 1);
	size = sizeof(dev.peer);
	PAIR_OK(fi_av_lookup2(p->av, peer, &dev.peer, &size, FI_XPU, ctx));
	dev.addr = all.where[0];
	dev.key = all.where[1];
	dev.word_addr = all.where[2];
	dev.word_key = all.where[3];
}

static void open_all(void)
{
	struct fi_mr_attr attr = { .iov_count = 0 };

	p->caps = FI_XPU | FI_RMA_EVENT;
	pair_open(p);
	PAIR_OK(pair_reg(p));
	device_attr(&attr);
	if (attr.iface != FI_HMEM_SYSTEM)
		refused(attr.iface);
	PAIR_OK(open_ctx(attr.iface, number_of(&attr)));
	open_objects();
	meet();
	words[1] = 1;
	dev.mem = p->dev;
	dev.half = HALF;
	dev.one = &words[1];
	dev.scope = getenv("POSTS_PTX") ? FI_XPU_WORK_GROUP : FI_XPU_WORK_ITEM;
	if (getenv("POSTS_PTX"))
		load_kernels(getenv("POSTS_PTX"));
}

static void close_all(void)
{
	struct fid *order[] = { &ep->fid, &cq->fid, &cntr->fid, &word_mr->fid };
	size_t i;

	pair_put(p, "", 1);
	pair_get(p, p->host, 1);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		PAIR_OK(fi_close(order[i]));
	pair_unreg(p);
	PAIR_OK(fi_close(&ctx->fid));
	pair_close(p);
}

/* Both do the same: what comes from the peer is what this side has filled. */
static void run_round(const struct code *code, size_t bytes)
{
	char *back = malloc(HALF);

	dev.round++;
	dev.len = bytes;
	fill((unsigned) dev.round, bytes);
	PAIR_TRUE(back && device_put(p->dev, p->host, bytes));
	run_code(code);
	PAIR_TRUE(device_get(back, p->dev + HALF, bytes));
	PAIR_TRUE(!memcmp(back, p->host, bytes));
	free(back);
	/* the peer's next round overwrites what this side has just compared */
	pair_put(p, "", 1);
	pair_get(p, p->host, 1);
}

static void run_all(void)
{
	static const size_t sizes[] = { 8, 4096, 70000, 300000 }, cnt = sizeof(sizes) / sizeof(sizes[0]);
	size_t i;

	for (i = 0; i < cnt * ROUNDS; i++)
		run_round(&put_code, sizes[i / ROUNDS]);
	PAIR_TRUE(__atomic_load_n(&words[0], __ATOMIC_ACQUIRE) == cnt * ROUNDS);
	for (i = 0; i < cnt * ROUNDS; i++)
		run_round(&send_code, sizes[i / ROUNDS]);
}

/* ---- order ------------------------------------------------------------------------------------ */

static uint64_t word(unsigned i)
{
	return __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
}

static void await_signal(uint64_t count)
{
	if (dev.signal == SIGNAL_MESSAGE)
		run_code(&await_code);
	else
		while (dev.signal == SIGNAL_WRITE ? word(WORD_WRITTEN) != dev.round : word(0) != count)
			sched_yield();
}

/* Both fill, both post, both find what the signal says to be there, at once. */
static void ordered_round(int signal, size_t bytes, uint64_t count)
{
	char *back = malloc(HALF);

	dev.round++;
	dev.len = bytes;
	dev.signal = signal;
	dev.taken = 0;
	__atomic_store_n(&words[1 + WORD_ROUND], dev.round, __ATOMIC_RELEASE);
	fill((unsigned) dev.round, bytes);
	PAIR_TRUE(back && device_put(p->dev, p->host, bytes));
	if (signal == SIGNAL_MESSAGE)
		run_code(&expect_code);
	pair_put(p, "", 1);
	pair_get(p, back, 1);
	run_code(&parts_code);
	await_signal(count);
	PAIR_TRUE(device_get(back, p->dev + HALF, bytes));
	PAIR_TRUE(!memcmp(back, p->host, bytes));
	run_code(&rest_code);
	free(back);
	pair_put(p, "", 1);
	pair_get(p, p->host, 1);
}

static void run_ordered(void)
{
	static const size_t sizes[] = { 32, 4096, 70000, 400000, HALF };
	const struct fi_ep_attr *attr = p->info->ep_attr;
	uint64_t count = word(0);
	unsigned i;
	int signal;

	PAIR_TRUE(p->info->tx_attr->msg_order & FI_ORDER_SAW && attr->max_order_waw_size >= attr->max_msg_size);
	for (signal = 0; signal < SIGNAL_CNT; signal++)
		for (i = 0; i < ROUNDS * sizeof(sizes) / sizeof(sizes[0]); i++) {
			count += signal == SIGNAL_ATOMIC;
			ordered_round(signal, sizes[i / ROUNDS], count);
		}
}

/* As many connections as the environment wants. */
static void count_sockets(void)
{
	int want = getenv("POSTS_SOCKETS") ? atoi(getenv("POSTS_SOCKETS")) : 0, fd, cnt = 0;
	struct sockaddr_storage name;
	socklen_t len;

	for (fd = 0; fd < 1024; fd++) {
		len = sizeof(name);
		cnt += !getpeername(fd, (struct sockaddr *) &name, &len) && name.ss_family == AF_INET;
	}
	PAIR_TRUE(cnt >= want);
}

int main(int argc, char **argv)
{
	fakegpu_use(argv);
	if (argc == 5)
		pair_join(p, argv);
	else if (argc == 3)
		pair_start(p, argv[1], argv[2], LEN);
	else
		return 2;
	open_all();
	run_all();
	run_ordered();
	count_sockets();
	close_all();
	if (argc == 3) {
		pair_stop(p);
		printf("%s, %s: what a device posted came\n", p->prov, p->kind);
	}
	return 0;
}
