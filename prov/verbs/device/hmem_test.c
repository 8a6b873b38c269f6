/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Memory of devices: how it is registered, what is refused and why, and which registrations are kept.
 * data/device_memory_test.c has the calls.
 */
#include <sys/mman.h>

#include "verbs/test/hmem_domain.h"

static const char *const words[] = { "cuda", "rocr", "ze" };

/* ---- registering ----------------------------------------------------------------------------- */

static void as_dmabuf(void **state)
{
	struct fid_mr *mr;
	char *buf;
	int k;

	for (k = 0; k < 3; k++) {
		assert_null(device_open(words[k], 1));
		buf = device_alloc(LEN);
		assert_true(device_put(buf + 4096, "contents", 8));
		mr = reg(buf + 4096, 1000, REMOTE);
		assert_int_equal(rnic.dmabufs, k + 1);
		assert_memory_equal(rnic.head, "contents", 8);
		assert_int_equal(rnic.iova, (uintptr_t) buf + 4096);
		assert_int_equal(rnic.len, 1000);
		assert_true(rnic.access & IBV_ACCESS_REMOTE_WRITE);
		assert_int_equal(fi_mr_key(mr), rnic.lkey);
		assert_ptr_equal(fi_mr_desc(mr), mr);
		CLOSE(mr);
		device_free(buf);
	}
	assert_int_equal(rnic.addrs, 0);
}

/* Where the RDMA device takes no dma-bufs, by its address. */
static void as_peer_memory(void **state)
{
	struct fid_mr *mr;
	char *buf;

	rnic.none = rnic.peer = true;
	assert_null(device_open("cuda", 0));
	buf = device_alloc(LEN);
	mr = reg(buf, LEN, REMOTE);
	assert_int_equal(rnic.addrs, 1);
	assert_int_equal(rnic.iova, (uintptr_t) buf);
	CLOSE(mr);
	device_free(buf);
}

static void refused(int want, const char *text, const char *more)
{
	char *buf = device_alloc(LEN);
	struct fid_mr *mr = NULL;

	assert_int_equal(try_reg(buf, LEN, REMOTE, &mr), want);
	assert_null(mr);
	assert_non_null(strstr(fake_log_last(), text));
	assert_non_null(strstr(fake_log_last(), more));
	device_free(buf);
	assert_int_equal(rnic.open, 0);
}

/* Each way that is not there is named, and nothing is registered by the address of memory that no
 * module of the kernel knows.
 */
static void refusals(void **state)
{
	const char *no_module = "no module of the kernel for peer memory";

	assert_null(device_open("cuda", 1));
	rnic.none = true;
	refused(-FI_EOPNOTSUPP, "ibv_reg_dmabuf_mr: Operation not supported", no_module);
	rnic.none = false;
	rnic.err = ENOMEM;
	refused(-FI_ENOMEM, "ibv_reg_dmabuf_mr: Cannot allocate memory", no_module);
	rnic.err = 0;
	vrb_conf.dmabuf = 0;
	refused(-FI_EOPNOTSUPP, "FI_VERBS_USE_DMABUF is off", no_module);
	vrb_conf.dmabuf = 1;
	vrb_ibv.reg_dmabuf_mr = NULL;
	refused(-FI_EOPNOTSUPP, "libibverbs has no ibv_reg_dmabuf_mr", no_module);
	vrb_ibv.reg_dmabuf_mr = reg_dmabuf;
	fakegpu_plan("libcuda.so.1", "cuMemGetHandleForAddressRange", 1);
	refused(-FI_EIO, "cuMemGetHandleForAddressRange on CUDA device 1: CUDA_ERROR_LAUNCH_FAILED",
		no_module);
	fakegpu_plan("libcuda.so.1", "", 0);
	assert_int_equal(rnic.addrs, 0);
}

/* ---- memory of CUDA of other sorts ------------------------------------------------------------ */

static struct {
	int (*managed)(uint64_t *at, size_t len, unsigned flags);
	int (*drop)(uint64_t at);
	int (*push)(void *ctx);
	int (*pop)(void **ctx);
	int (*retain)(void **ctx, int dev);
	int (*reserve)(uint64_t *at, size_t len, size_t align, uint64_t hint, unsigned long long flags);
	int (*create)(unsigned long long *handle, size_t len, const int *prop, unsigned long long flags);
	int (*map)(uint64_t at, size_t len, size_t off, unsigned long long handle,
		   unsigned long long flags);
	int (*unmap)(uint64_t at, size_t len);
	int (*release)(unsigned long long handle);
} cu;

static void look_up(void *fn, const char *name)
{
	void *sym = fakegpu_call("libcuda.so.1", name);

	assert_non_null(sym);
	memcpy(fn, &sym, sizeof(sym));
}

static void load_cuda(void)
{
	assert_null(device_open("cuda", 0));
	look_up(&cu.managed, "cuMemAllocManaged");
	look_up(&cu.drop, "cuMemFree_v2");
	look_up(&cu.push, "cuCtxPushCurrent_v2");
	look_up(&cu.pop, "cuCtxPopCurrent_v2");
	look_up(&cu.retain, "cuDevicePrimaryCtxRetain");
	look_up(&cu.reserve, "cuMemAddressReserve");
	look_up(&cu.create, "cuMemCreate");
	look_up(&cu.map, "cuMemMap");
	look_up(&cu.unmap, "cuMemUnmap");
	look_up(&cu.release, "cuMemRelease");
}

static void managed_memory(void **state)
{
	struct fid_mr *mr;
	uint64_t at;
	void *ctx;

	load_cuda();
	assert_int_equal(cu.retain(&ctx, 0), 0);
	cu.push(ctx);
	assert_int_equal(cu.managed(&at, 4096, 1), 0);
	cu.pop(&ctx);
	assert_int_equal(try_reg((void *) (uintptr_t) at, 4096, LOCAL, &mr), -FI_EOPNOTSUPP);
	assert_non_null(strstr(fake_log_last(), "managed memory"));
	cu.drop(at);
}

/* Memory that is mapped by cuMemMap: registered where the driver exports it, and never kept, as other
 * memory may be mapped there; several mappings that are no dma-buf together are refused.
 */
static void mapped_memory(void **state)
{
	int prop[8] = { 1, 0, 1, 0 };
	unsigned long long handle[2];
	struct fid_mr *mr;
	uint64_t at;
	int i;

	load_cuda();
	assert_int_equal(cu.reserve(&at, 131072, 0, 0, 0), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(cu.create(&handle[i], 65536, prop, 0), 0);
		assert_int_equal(cu.map(at + (uint64_t) i * 65536, 65536, 0, handle[i], 0), 0);
	}
	for (i = 0; i < 2; i++) {
		mr = reg((void *) (uintptr_t) at, 65536, LOCAL);
		CLOSE(mr);
		assert_int_equal(rnic.open, 0);
	}
	assert_int_equal(rnic.dmabufs, 2);
	assert_int_equal(try_reg((void *) (uintptr_t) at, 131072, LOCAL, &mr), -FI_EIO);
	assert_non_null(strstr(fake_log_last(), "cuMemGetHandleForAddressRange on CUDA device 0: "
			       "CUDA_ERROR_NOT_SUPPORTED"));
	rnic.peer = true;
	mr = reg((void *) (uintptr_t) at, 131072, LOCAL);
	assert_int_equal(rnic.addrs, 1);
	CLOSE(mr);
	assert_int_equal(cu.unmap(at, 131072), 0);
	for (i = 0; i < 2; i++)
		cu.release(handle[i]);
}

/* ---- dma-bufs of programs ------------------------------------------------------------------------ */

/* A dma-buf of the program needs no library; what cannot be copied is not injected. */
static void own_dmabuf(void **state)
{
	int fd = memfd_create("dmabuf", 0);
	struct fi_mr_dmabuf buf = { .fd = fd, .offset = 4096, .len = 8192 };
	struct fi_mr_attr attr = { .dmabuf = &buf, .iov_count = 1, .access = REMOTE };
	struct fid_mr *mr;

	assert_int_equal(pwrite(fd, "contents", 8, 4096), 8);
	attr.iface = FI_HMEM_NEURON;	/* its library is not there */
	assert_int_equal(fi_mr_regattr(domain, &attr, FI_MR_DMABUF, &mr), 0);
	assert_int_equal(rnic.dmabufs, 1);
	assert_int_equal(rnic.offset, 4096);
	assert_int_equal(rnic.len, 8192);
	assert_int_equal(rnic.iova, 4096);
	assert_memory_equal(rnic.head, "contents", 8);
	assert_true(obj_mr_of(mr)->loc.dmabuf_only);
	assert_true(vrb_by_device(obj_mr_of(mr)));
	CLOSE(mr);
	attr.iface = FI_HMEM_SYSTEM;
	assert_int_equal(fi_mr_regattr(domain, &attr, FI_MR_DMABUF, &mr), 0);
	assert_true(vrb_by_device(obj_mr_of(mr)));
	CLOSE(mr);
	close(fd);
}

/* ---- registrations that are kept ------------------------------------------------------------- */

/* @again: another allocation at the address of @buf, which is freed. */
static bool again_at(char *buf)
{
	char *other;

	device_free(buf);
	other = device_alloc(LEN);
	if (other == buf)
		return true;
	device_free(other);
	return false;
}

static void kept(void **state)
{
	struct fid_mr *one, *two;
	char *buf;
	int k;

	for (k = 0; k < 3; k++) {
		assert_null(device_open(words[k], 0));
		buf = device_alloc(LEN);
		rnic.dmabufs = 0;
		one = reg(buf + 100, 1000, LOCAL);
		assert_int_equal(rnic.access, IBV_ACCESS_LOCAL_WRITE);
		assert_int_equal(rnic.iova, (uintptr_t) buf);	/* the whole allocation */
		assert_true(rnic.len >= LEN);
		two = reg(buf + 5000, 70000, LOCAL);
		assert_int_equal(lkey(one), lkey(two));
		CLOSE(one);
		CLOSE(two);
		one = reg(buf, LEN, LOCAL);
		assert_int_equal(rnic.dmabufs, 1);
		/* peers that know a key must not outlive it */
		two = reg(buf, LEN, REMOTE);
		assert_int_equal(rnic.dmabufs, 2);
		assert_int_not_equal(lkey(one), lkey(two));
		CLOSE(two);
		CLOSE(one);
		/* at the same address, and another allocation */
		assert_true(again_at(buf));
		assert_true(device_put(buf, "renewed.", 8));
		one = reg(buf, LEN, LOCAL);
		assert_int_equal(rnic.dmabufs, 3);
		assert_memory_equal(rnic.head, "renewed.", 8);
		assert_int_equal(rnic.open, 1);		/* the old one is closed */
		CLOSE(one);
		CLOSE(domain);
		assert_int_equal(rnic.open, 0);
		open_domain();
		device_free(buf);
	}
}

/* FI_MR_CUDA_CACHE_MONITOR_ENABLED and its like. */
static void kept_by_environment(void **state)
{
	static const char *const names[] = { "FI_MR_CUDA_CACHE_MONITOR_ENABLED",
		"FI_MR_ROCR_CACHE_MONITOR_ENABLED", "FI_MR_ZE_CACHE_MONITOR_ENABLED" };
	struct fid_mr *mr;
	char *buf;
	int k, i;

	for (k = 0; k < 3; k++) {
		setenv(names[k], "0", 1);
		assert_null(device_open(words[k], 0));
		buf = device_alloc(LEN);
		rnic.dmabufs = 0;
		for (i = 0; i < 2; i++) {
			mr = reg(buf, LEN, LOCAL);
			CLOSE(mr);
		}
		assert_int_equal(rnic.dmabufs, 2);
		assert_int_equal(rnic.open, 0);
		device_free(buf);
		unsetenv(names[k]);
	}
}

/* If the whole allocation cannot be registered, the range alone. */
static void range_alone(void **state)
{
	struct fid_mr *mr;
	char *buf;

	assert_null(device_open("rocr", 0));
	buf = device_alloc(LEN);
	fakegpu_plan("libhsa-runtime64.so.1", "hsa_amd_register_deallocation_callback", 1);
	mr = reg(buf + 100, 1000, LOCAL);
	assert_int_equal(rnic.iova, (uintptr_t) buf + 100);
	assert_int_equal(rnic.len, 1000);
	CLOSE(mr);
	assert_int_equal(rnic.open, 0);
	fakegpu_plan("libhsa-runtime64.so.1", "", 0);
	device_free(buf);
}

/* ---- offers ---------------------------------------------------------------------------------- */

static void offers(void **state)
{
	struct fi_domain_attr attr = { .name = (char *) "mlx9_0" };
	struct fi_ep_attr ep_attr = { .protocol = FI_PROTO_RDMA_CM_IB_RC };
	struct fi_info offer = { .domain_attr = &attr, .ep_attr = &ep_attr };
	const char *why = NULL;

	assert_true(vrb_hmem_at(&offer, &why));
	rnic.none = true;
	assert_false(vrb_hmem_at(&offer, &why));
	assert_non_null(strstr(why, "no dma-bufs"));
	rnic.peer = true;
	assert_true(vrb_hmem_at(&offer, &why));
	rnic.none = rnic.peer = false;
	vrb_conf.dmabuf = 0;
	assert_false(vrb_hmem_at(&offer, &why));
	vrb_conf.dmabuf = 1;
	if (vrb_kind_of(FI_PROTO_RDMA_CM_IB_XRC)) {
		ep_attr.protocol = FI_PROTO_RDMA_CM_IB_XRC;
		assert_false(vrb_hmem_at(&offer, &why));
		assert_non_null(strstr(why, "XRC"));
		ep_attr.protocol = FI_PROTO_RDMA_CM_IB_RC;
	}
	attr.name = (char *) "mlx9_7";
	assert_false(vrb_hmem_at(&offer, &why));
	assert_non_null(strstr(why, "cannot be opened"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(as_dmabuf),
		T(as_peer_memory),
		T(refusals),
		T(managed_memory),
		T(mapped_memory),
		T(own_dmabuf),
		T(kept),
		T(kept_by_environment),
		T(range_alone),
		T(offers),
	};

	fakegpu_use(argv);
	mr_cache_params();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
