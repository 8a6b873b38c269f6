/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hmem_domain.h - a domain with FI_HMEM on the fake device, whose registrations the test sees, over
 * tests/fakegpu, whose memory faults when the CPU touches it.
 *
 * For cmocka: includes it, and the fake device.  Programs are linked with --wrap of vrb_dev_peer_memory
 * and vrb_dev_context, and their main() begins with fakegpu_use().
 */
#ifndef VRB_HMEM_DOMAIN_H
#define VRB_HMEM_DOMAIN_H

#include "verbs/test/fake_device.h"

#include "../../../fabtests/common/device.h"
#include "../../../tests/fakegpu/use.h"

#define LEN 300000
#define LOCAL (FI_SEND | FI_RECV | FI_READ | FI_WRITE)
#define REMOTE (LOCAL | FI_REMOTE_READ | FI_REMOTE_WRITE)

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

static inline struct ibv_mr *new_mr(uint64_t iova, size_t len, int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	rnic.iova = iova;
	rnic.len = len;
	rnic.access = access;
	rnic.open++;
	mr->lkey = mr->rkey = ++rnic.lkey;
	return mr;
}

static inline struct ibv_mr *reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t len, uint64_t iova,
					int fd, int access)
{
	errno = rnic.none ? EOPNOTSUPP : fd < 0 ? EBADF : rnic.err;
	if (errno)
		return NULL;
	assert_int_equal(pread(fd, rnic.head, sizeof(rnic.head), (off_t) offset), sizeof(rnic.head));
	rnic.dmabufs++;
	rnic.offset = offset;
	return new_mr(iova, len, access);
}

static inline struct ibv_mr *reg_addr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	rnic.addrs++;
	return new_mr((uintptr_t) addr, len, access);
}

static inline int dereg(struct ibv_mr *mr)
{
	rnic.open--;
	free(mr);
	return 0;
}

static inline struct ibv_pd *alloc_pd(struct ibv_context *ctx)
{
	return calloc(1, sizeof(struct ibv_pd));
}

static inline int dealloc_pd(struct ibv_pd *pd)
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

static inline void domain_fini(struct obj_domain *base)
{
	vrb_hmem_fini(vrb_domain_of(base));
}

static const struct obj_domain_ops domain_ops = {
	.mr_open = vrb_mr_open, .mr_close = vrb_mr_close, .mr_dmabuf = true, .fini = domain_fini,
};

static inline int domain_init(struct obj_domain *base)
{
	struct vrb_domain *d = vrb_domain_of(base);

	d->ctx = &dev.verbs.context;
	d->kind = &vrb_rc_kind;
	d->attr = dev.domain.attr;
	vrb_hmem_init(d);
	base->ops = &domain_ops;
	return 0;
}

static const struct obj_fabric_ops fabric_ops = {
	.domain_init = domain_init, .domain_size = sizeof(struct vrb_domain),
};

static inline void open_domain(void)
{
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	f.domain = domain;
}

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
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

static inline int try_reg(void *buf, size_t len, uint64_t access, struct fid_mr **mr_p)
{
	struct iovec iov = { buf, len };
	struct fi_mr_attr attr = { .mr_iov = &iov, .iov_count = 1, .access = access };

	device_attr(&attr);
	fake_log_start();
	return fi_mr_regattr(domain, &attr, 0, mr_p);
}

static inline struct fid_mr *reg(void *buf, size_t len, uint64_t access)
{
	struct fid_mr *mr;

	assert_int_equal(try_reg(buf, len, access, &mr), 0);
	return mr;
}

static inline uint32_t lkey(struct fid_mr *mr)
{
	return ((struct vrb_region *) obj_mr_of(mr)->hw)->ibv->lkey;
}

#endif
