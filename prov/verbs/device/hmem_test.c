/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Memory of devices: how it is registered, what is refused and why, which registrations are kept, and
 * what the RDMA device gets of each call.  Over tests/fakegpu, whose memory faults when the CPU
 * touches it.
 */
#include <sys/mman.h>

#include "verbs/test/fake_device.h"

#include "../../../fabtests/common/device.h"
#include "../../../tests/fakegpu/use.h"

#define LEN 300000
#define ADDR UINT64_C(0x7000000010)
#define KEY 0x51u
#define LOCAL (FI_SEND | FI_RECV | FI_READ | FI_WRITE)
#define REMOTE (LOCAL | FI_REMOTE_READ | FI_REMOTE_WRITE)

static const char *const words[] = { "cuda", "rocr", "ze" };

static struct fake f;
static struct fi_info *info;
static struct fid_fabric *plain_fabric, *fabric;
static struct fid_domain *plain_domain, *domain;

/* ---- the RDMA device ------------------------------------------------------------------------ */

static struct {
	bool none;			/* the driver has no such call */
	int err;			/* what it says to a valid descriptor */
	unsigned dmabufs, addrs, open;	/* registrations of either sort; those that are open */
	uint64_t offset, iova;		/* of the last one */
	size_t len;
	int access;
	char head[8];			/* what the dma-buf had there */
	uint32_t lkey;
	bool peer;			/* a module for peer memory is loaded */
} rnic;

static struct ibv_mr *new_mr(uint64_t iova, size_t len, int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	rnic.iova = iova;
	rnic.len = len;
	rnic.access = access;
	rnic.open++;
	mr->lkey = mr->rkey = ++rnic.lkey;
	return mr;
}

static struct ibv_mr *reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t len, uint64_t iova, int fd,
				 int access)
{
	errno = rnic.none ? EOPNOTSUPP : fd < 0 ? EBADF : rnic.err;
	if (errno)
		return NULL;
	assert_int_equal(pread(fd, rnic.head, sizeof(rnic.head), (off_t) offset), sizeof(rnic.head));
	rnic.dmabufs++;
	rnic.offset = offset;
	return new_mr(iova, len, access);
}

static struct ibv_mr *reg_addr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	rnic.addrs++;
	return new_mr((uintptr_t) addr, len, access);
}

static int dereg(struct ibv_mr *mr)
{
	rnic.open--;
	free(mr);
	return 0;
}

static struct ibv_pd *alloc_pd(struct ibv_context *ctx)
{
	return calloc(1, sizeof(struct ibv_pd));
}

static int dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

bool __wrap_vrb_dev_peer_memory(enum fi_hmem_iface iface);
bool __wrap_vrb_dev_peer_memory(enum fi_hmem_iface iface)
{
	return rnic.peer;
}

int __wrap_vrb_dev_context(const char *name, struct ibv_context **ctx_p);
int __wrap_vrb_dev_context(const char *name, struct ibv_context **ctx_p)
{
	*ctx_p = &dev.verbs.context;
	return strcmp(name, "mlx9_0") ? -FI_ENODEV : 0;
}

/* ---- a domain on it ----------------------------------------------------------------------------- */

static struct vrb_domain *vrb(void)
{
	return vrb_domain_of(obj_domain_of(domain));
}

static void domain_fini(struct obj_domain *base)
{
	vrb_hmem_fini(vrb_domain_of(base));
}

static const struct obj_domain_ops domain_ops = {
	.mr_open = vrb_mr_open, .mr_close = vrb_mr_close, .mr_dmabuf = true, .fini = domain_fini,
};

static int domain_init(struct obj_domain *base)
{
	struct vrb_domain *d = vrb_domain_of(base);

	d->ctx = &dev.verbs.context;
	d->attr = dev.domain.attr;
	vrb_hmem_init(d);
	base->ops = &domain_ops;
	return 0;
}

static const struct obj_fabric_ops fabric_ops = {
	.domain_init = domain_init, .domain_size = sizeof(struct vrb_domain),
};

static void open_domain(void)
{
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	f.domain = domain;
}

static int set_up(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG, .caps = FI_MSG | FI_RMA | FI_ATOMIC };

	dev_init();
	memset(&rnic, 0, sizeof(rnic));
	vrb_conf.dmabuf = 1;
	vrb_ibv.reg_mr = reg_addr;
	vrb_ibv.reg_dmabuf_mr = reg_dmabuf;
	vrb_ibv.dereg_mr = dereg;
	vrb_ibv.alloc_pd = alloc_pd;
	vrb_ibv.dealloc_pd = dealloc_pd;
	fake_open(&f, &want);
	plain_fabric = f.fabric;
	plain_domain = f.domain;
	info = fi_dupinfo(f.info);
	info->caps |= FI_ATOMIC | FI_HMEM;
	info->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
				     FI_MR_HMEM;
	info->tx_attr->size = info->rx_attr->size = 16;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = 4;
	info->tx_attr->inject_size = 100;
	assert_int_equal(obj_fabric_open(&fake_prov, &fabric_ops, sizeof(struct obj_fabric),
					 info->fabric_attr, &fabric, NULL), 0);
	f.fabric = fabric;
	open_domain();
	return 0;
}

static int tear_down(void **state)
{
	if (domain)
		CLOSE(domain);
	CLOSE(fabric);
	fi_freeinfo(info);
	f.fabric = plain_fabric;
	f.domain = plain_domain;
	fake_close(&f);
	assert_int_equal(rnic.open, 0);
	return 0;
}

static int try_reg(void *buf, size_t len, uint64_t access, struct fid_mr **mr_p)
{
	struct iovec iov = { buf, len };
	struct fi_mr_attr attr = { .mr_iov = &iov, .iov_count = 1, .access = access };

	device_attr(&attr);
	fake_log_start();
	return fi_mr_regattr(domain, &attr, 0, mr_p);
}

static struct fid_mr *reg(void *buf, size_t len, uint64_t access)
{
	struct fid_mr *mr;

	assert_int_equal(try_reg(buf, len, access, &mr), 0);
	return mr;
}

static uint32_t lkey(struct fid_mr *mr)
{
	return ((struct vrb_region *) obj_mr_of(mr)->hw)->ibv->lkey;
}

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

/* ---- calls --------------------------------------------------------------------------------- */

static struct fid_cq *cq;
static struct fid_eq *eq;
static struct vrb_ep *ep;
static struct fid_ep *fid;
static char *mem;
static struct fid_mr *mem_mr, *host_mr;
static char host[256];

/* An endpoint, memory of CUDA device 1 with "contents" in it, memory of the host. */
static int set_up_ep(void **state)
{
	struct fi_mr_attr attr = { .mr_iov = &(struct iovec) { host, sizeof(host) }, .iov_count = 1,
				   .access = LOCAL };

	set_up(state);
	cq = fake_cq(&f, FI_CQ_FORMAT_DATA, FI_WAIT_NONE);
	eq = fake_eq(&f, FI_WAIT_NONE);
	ep = dev_ep(&f, info, cq, FI_TRANSMIT | FI_RECV, eq);
	fid = &ep->base.h.fid;
	ep->domain = vrb();
	ep->host_msg = &vrb_msg_ops;
	ep->host_rma = &vrb_rma_ops;
	fid->msg = &vrb_device_msg_ops;
	fid->rma = &vrb_device_rma_ops;
	fid->atomic = &vrb_device_atomic_ops;
	ep->base.caps |= FI_ATOMIC | FI_HMEM;
	dev.max_inline = 128;
	assert_int_equal(obj_ep_enable(&ep->base), 0);
	obj_cm_set_state(&ep->base, OBJ_CM_CONNECTED);
	assert_null(device_open("cuda", 1));
	mem = device_alloc(LEN);
	mem_mr = reg(mem, LEN, REMOTE);
	assert_true(device_put(mem, "contents", 8));
	assert_int_equal(fi_mr_regattr(domain, &attr, 0, &host_mr), 0);
	return 0;
}

static int tear_down_ep(void **state)
{
	CLOSE(mem_mr);
	CLOSE(host_mr);
	device_free(mem);
	dev_ep_close(ep);
	CLOSE(eq);
	CLOSE(cq);
	return tear_down(state);
}

/* The last request: one entry of the device's memory, which the CPU has not read. */
static const struct dev_post *direct(enum ibv_wr_opcode opcode, size_t len)
{
	const struct dev_post *p = &dev.posted[dev.posted_cnt - 1];

	assert_int_equal(p->wr.opcode, opcode);
	assert_int_equal(p->wr.num_sge, 1);
	assert_false(p->wr.send_flags & IBV_SEND_INLINE);
	assert_int_equal(p->sge[0].addr, (uintptr_t) mem);
	assert_int_equal(p->sge[0].length, len);
	assert_int_equal(p->sge[0].lkey, lkey(mem_mr));
	return p;
}

/* The last request: what was "contents" is in registered memory of the endpoint. */
static void staged(enum ibv_wr_opcode opcode)
{
	const struct dev_post *p = &dev.posted[dev.posted_cnt - 1];

	assert_int_equal(p->wr.opcode, opcode);
	assert_int_equal(p->sge[0].lkey, ep->scratch_mr->lkey);
	assert_memory_equal((void *) (uintptr_t) p->sge[0].addr, "contents", 8);
}

static void messages(void **state)
{
	struct iovec iov[2] = { { host, 20 }, { mem, 50 } };
	void *desc[2] = { fi_mr_desc(host_mr), fi_mr_desc(mem_mr) };
	struct fi_msg msg = { .msg_iov = &iov[1], .desc = &desc[1], .iov_count = 1, .data = 9 };
	const struct dev_post *p;

	assert_int_equal(fi_send(fid, mem, 8, desc[1], 0, NULL), 0);
	direct(IBV_WR_SEND, 8);
	assert_int_equal(fi_senddata(fid, mem, 8, desc[1], 7, 0, NULL), 0);
	assert_int_equal(be32toh(direct(IBV_WR_SEND_WITH_IMM, 8)->wr.imm_data), 7);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_REMOTE_CQ_DATA), 0);
	assert_int_equal(be32toh(direct(IBV_WR_SEND_WITH_IMM, 50)->wr.imm_data), 9);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), 0);
	staged(IBV_WR_SEND);
	/* a list of both kinds */
	assert_int_equal(fi_sendv(fid, iov, desc, 2, 0, NULL), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_int_equal(p->wr.num_sge, 2);
	assert_false(p->wr.send_flags & IBV_SEND_INLINE);
	assert_int_equal(p->sge[0].lkey, lkey(host_mr));
	assert_int_equal(p->sge[1].lkey, lkey(mem_mr));
	/* memory of the host is inline as ever */
	assert_int_equal(fi_send(fid, host, 8, desc[0], 0, NULL), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_true(p->wr.send_flags & IBV_SEND_INLINE);
	assert_int_equal(fi_inject(fid, host, 8, 0), 0);
	assert_int_equal(fi_recv(fid, mem, LEN, desc[1], 0, NULL), 0);
	assert_int_equal(fi_recvv(fid, iov, desc, 2, 0, NULL), 0);
	assert_int_equal(fi_recvmsg(fid, &msg, 0), 0);
	assert_int_equal(dev.recv_cnt, 3);
}

static void remote_memory(void **state)
{
	struct iovec iov = { mem, 30 };
	void *desc = fi_mr_desc(mem_mr);
	struct fi_rma_iov rma = { ADDR, 30, KEY };
	struct fi_msg_rma msg = { .msg_iov = &iov, .desc = &desc, .iov_count = 1, .rma_iov = &rma,
				  .rma_iov_count = 1, .data = 3 };

	assert_int_equal(fi_write(fid, mem, 8, desc, 0, ADDR, KEY, NULL), 0);
	assert_int_equal(direct(IBV_WR_RDMA_WRITE, 8)->wr.wr.rdma.remote_addr, ADDR);
	assert_int_equal(fi_writev(fid, &iov, &desc, 1, 0, ADDR, KEY, NULL), 0);
	direct(IBV_WR_RDMA_WRITE, 30);
	assert_int_equal(fi_writedata(fid, mem, 8, desc, 5, 0, ADDR, KEY, NULL), 0);
	direct(IBV_WR_RDMA_WRITE_WITH_IMM, 8);
	assert_int_equal(fi_writemsg(fid, &msg, FI_REMOTE_CQ_DATA), 0);
	assert_int_equal(direct(IBV_WR_RDMA_WRITE_WITH_IMM, 30)->wr.wr.rdma.rkey, KEY);
	assert_int_equal(fi_writemsg(fid, &msg, FI_INJECT), 0);
	staged(IBV_WR_RDMA_WRITE);
	assert_int_equal(fi_read(fid, mem, 8, desc, 0, ADDR, KEY, NULL), 0);
	direct(IBV_WR_RDMA_READ, 8);
	assert_int_equal(fi_readv(fid, &iov, &desc, 1, 0, ADDR, KEY, NULL), 0);
	direct(IBV_WR_RDMA_READ, 30);
	assert_int_equal(fi_readmsg(fid, &msg, 0), 0);
	direct(IBV_WR_RDMA_READ, 30);
	assert_int_equal(fi_inject_write(fid, host, 8, 0, ADDR, KEY), 0);
}

/* Operands are copied in the call; the result is written by the RDMA device. */
static void atomics(void **state)
{
	uint64_t vals[2] = { 5, 6 };
	void *desc = fi_mr_desc(mem_mr);
	struct fi_ioc ioc = { mem, 1 }, compare = { mem + 8, 1 }, result = { mem + 64, 1 };
	struct fi_rma_ioc rma = { ADDR, 1, KEY };
	struct fi_msg_atomic msg = { .msg_iov = &ioc, .desc = &desc, .iov_count = 1, .rma_iov = &rma,
				     .rma_iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM };
	const struct dev_post *p;

	assert_true(device_put(mem, vals, sizeof(vals)));
	assert_int_equal(fi_fetch_atomic(fid, mem, 1, desc, mem + 64, desc, 0, ADDR, KEY, FI_UINT64,
					 FI_SUM, NULL), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_int_equal(p->wr.opcode, IBV_WR_ATOMIC_FETCH_AND_ADD);
	assert_int_equal(p->wr.wr.atomic.compare_add, 5);
	assert_int_equal(p->sge[0].addr, (uintptr_t) mem + 64);
	assert_int_equal(p->sge[0].lkey, lkey(mem_mr));
	assert_int_equal(fi_compare_atomic(fid, mem, 1, desc, mem + 8, desc, mem + 64, desc, 0, ADDR, KEY,
					   FI_UINT64, FI_CSWAP, NULL), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_int_equal(p->wr.wr.atomic.compare_add, 6);
	assert_int_equal(p->wr.wr.atomic.swap, 5);
	assert_int_equal(fi_atomic(fid, mem, 1, desc, 0, ADDR, KEY, FI_UINT64, FI_SUM, NULL), 0);
	assert_int_equal(dev.posted[dev.posted_cnt - 1].wr.wr.atomic.compare_add, 5);
	assert_int_equal(fi_atomicmsg(fid, &msg, 0), 0);
	assert_int_equal(fi_fetch_atomicmsg(fid, &msg, &result, &desc, 1, 0), 0);
	msg.op = FI_CSWAP;
	assert_int_equal(fi_compare_atomicmsg(fid, &msg, &compare, &desc, 1, &result, &desc, 1, 0), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_int_equal(p->wr.wr.atomic.compare_add, 6);
	assert_int_equal(p->wr.wr.atomic.swap, 5);
	assert_int_equal(fi_atomicv(fid, &ioc, &desc, 1, 0, ADDR, KEY, FI_UINT64, FI_SUM, NULL), 0);
	assert_int_equal(fi_fetch_atomicv(fid, &ioc, &desc, 1, &result, &desc, 1, 0, ADDR, KEY, FI_UINT64,
					  FI_SUM, NULL), 0);
	assert_int_equal(fi_compare_atomicv(fid, &ioc, &desc, 1, &compare, &desc, 1, &result, &desc, 1, 0,
					    ADDR, KEY, FI_UINT64, FI_CSWAP, NULL), 0);
	assert_int_equal(fi_atomic(fid, mem, 2, desc, 0, ADDR, KEY, FI_UINT64, FI_SUM, NULL),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomicvalid(fid, FI_UINT64, FI_SUM, &(size_t) { 0 }), 0);
}

/* A device that fails ends the call with its error; the next one goes. */
static void failing_copy(void **state)
{
	void *desc = fi_mr_desc(mem_mr);
	struct fi_msg msg = { .msg_iov = &(struct iovec) { mem + 4096, 60 }, .desc = &desc,
			      .iov_count = 1 };

	hmem_forget(&obj_mr_of(mem_mr)->loc);	/* no copy by the mapping */
	fakegpu_plan("libcuda.so.1", "cuMemcpyDtoHAsync", 1);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), -FI_EIO);
	fakegpu_plan("libcuda.so.1", "", 0);
	assert_int_equal(dev.posted_cnt, 0);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), 0);
}

/* What the options say, and what they exclude. */
static void options(void **state)
{
	void *desc = fi_mr_desc(mem_mr);
	struct fi_msg msg = { .msg_iov = &(struct iovec) { mem, 60 }, .desc = &desc, .iov_count = 1 };
	static const struct { int p2p, ret; } t[] = {
		{ FI_HMEM_P2P_ENABLED, 0 }, { FI_HMEM_P2P_REQUIRED, 0 }, { FI_HMEM_P2P_PREFERRED, 0 },
		{ FI_HMEM_P2P_DISABLED, -FI_EOPNOTSUPP }, { 99, -FI_EINVAL },
	};
	bool no = false;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(obj_ep_setopt(&fid->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &t[i].p2p,
					       sizeof(int)), t[i].ret);
	assert_int_equal(obj_ep_setopt(&fid->fid, FI_OPT_ENDPOINT, FI_OPT_CUDA_API_PERMITTED, &no,
				       sizeof(no)), 0);
	assert_int_equal(fi_send(fid, mem, 60, desc, 0, NULL), 0);
	direct(IBV_WR_SEND, 60);
	fake_log_start();
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), -FI_EOPNOTSUPP);
	assert_non_null(strstr(fake_log_last(), "FI_OPT_CUDA_API_PERMITTED"));
	assert_int_equal(fi_atomic(fid, mem, 1, desc, 0, ADDR, KEY, FI_UINT64, FI_SUM, NULL),
			 -FI_EOPNOTSUPP);
	assert_int_equal(obj_ep_setopt(&fid->fid, FI_OPT_ENDPOINT, FI_OPT_XPU_TRIGGER, &no, sizeof(no)),
			 -FI_ENOPROTOOPT);
}

/* Memory that is a dma-buf alone is sent, and not injected. */
static void dmabuf_calls(void **state)
{
	int fd = memfd_create("dmabuf", 0);
	struct fi_mr_dmabuf buf = { .fd = fd, .len = 8192, .base_addr = mem };
	struct fi_mr_attr attr = { .dmabuf = &buf, .iov_count = 1, .access = LOCAL };
	struct fid_mr *mr;
	struct fi_msg msg = { .msg_iov = &(struct iovec) { mem, 60 }, .iov_count = 1 };
	void *desc;

	assert_int_equal(pwrite(fd, "contents", 8, 0), 8);
	attr.iface = FI_HMEM_SYNAPSEAI;
	assert_int_equal(fi_mr_regattr(domain, &attr, FI_MR_DMABUF, &mr), 0);
	desc = fi_mr_desc(mr);
	msg.desc = &desc;
	assert_int_equal(fi_send(fid, mem, 60, desc, 0, NULL), 0);
	assert_false(dev.posted[dev.posted_cnt - 1].wr.send_flags & IBV_SEND_INLINE);
	fake_log_start();
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), -FI_EOPNOTSUPP);
	assert_non_null(strstr(fake_log_last(), "dma-buf alone"));
	CLOSE(mr);
	close(fd);
}

/* ---- offers ---------------------------------------------------------------------------------- */

static void offers(void **state)
{
	struct fi_domain_attr attr = { .name = (char *) "mlx9_0" };
	struct fi_info offer = { .domain_attr = &attr };
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
	attr.name = (char *) "mlx9_0-xrc";
	assert_false(vrb_hmem_at(&offer, &why));
	assert_non_null(strstr(why, "XRC"));
	attr.name = (char *) "mlx9_7";
	assert_false(vrb_hmem_at(&offer, &why));
	assert_non_null(strstr(why, "cannot be opened"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define CALLS(name) cmocka_unit_test_setup_teardown(name, set_up_ep, tear_down_ep)

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
		CALLS(messages),
		CALLS(remote_memory),
		CALLS(atomics),
		CALLS(failing_copy),
		CALLS(options),
		CALLS(dmabuf_calls),
		T(offers),
	};

	fakegpu_use(argv);
	mr_cache_params();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
