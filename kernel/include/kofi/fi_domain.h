/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_domain.h - domains, address vectors and memory registrations, for kernel clients.
 */
#ifndef KOFI_FI_DOMAIN_H
#define KOFI_FI_DOMAIN_H

#include <linux/scatterlist.h>

#include <kofi/fi_eq.h>

struct fi_mr_attr {
	union {
		const struct kvec	*mr_iov;	/* iov_count pieces */
		const struct bio_vec	*mr_bvec;	/* the same, with FI_BVEC */
		struct scatterlist	*mr_sgl;	/* iov_count entries, with FI_SGLIST */
	};
	size_t		iov_count;
	/* FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE */
	uint64_t	access;
	uint64_t	offset;		/* address of the first byte for peers */
	uint64_t	requested_key;	/* unless FI_MR_PROV_KEY */
	void		*context;
	gfp_t		gfp;		/* for its memory; 0: GFP_KERNEL */
};

/* Registration. The list is copied, the memory is not: it must stay until the close. */
struct fi_ops_mr {
	size_t	size;
	int (*regattr)(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
		       struct fid_mr **mr);
};

struct fid_domain {
	struct fid		fid;
	struct fi_ops_domain	*ops;
	struct fi_ops_mr	*mr;
};

/* fi_domain - open the domain that info->domain_attr names. */
static inline int fi_domain(struct fid_fabric *fabric, struct fi_info *info,
			    struct fid_domain **domain_p, void *context)
{
	return fabric->ops->domain(fabric, info, domain_p, context);
}

/* fi_eq_open - open an event queue; events of connections and listeners go there. */
static inline int fi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
			     struct fid_eq **eq_p, void *context)
{
	return fabric->ops->eq_open(fabric, attr, eq_p, context);
}

/* fi_cq_open - open a completion queue. */
static inline int fi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
			     struct fid_cq **cq_p, void *context)
{
	return domain->ops->cq_open(domain, attr, cq_p, context);
}

/* fi_cntr_open - open a counter. */
static inline int fi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
			       struct fid_cntr **cntr_p, void *context)
{
	return domain->ops->cntr_open(domain, attr, cntr_p, context);
}

/* fi_av_open - open an address vector (FI_AV_TABLE). */
static inline int fi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
			     struct fid_av **av_p, void *context)
{
	return domain->ops->av_open(domain, attr, av_p, context);
}

/* fi_av_insert - add @count addresses; returns how many were added.
 *
 * @addr:    packed addresses in the endpoint's format
 * @fi_addr: [out] one handle per address, FI_ADDR_NOTAVAIL for one that was not added; or NULL
 */
static inline int fi_av_insert(struct fid_av *av, const void *addr, size_t count,
			       fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	return av->ops->insert(av, addr, count, fi_addr, flags, context);
}

static inline int fi_av_remove(struct fid_av *av, fi_addr_t *fi_addr, size_t count,
			       uint64_t flags)
{
	return av->ops->remove(av, fi_addr, count, flags);
}

static inline int fi_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr, size_t *addrlen)
{
	return av->ops->lookup(av, fi_addr, addr, addrlen);
}

/* fi_mr_regattr - register memory: a kvec list, a page list (FI_BVEC) or a scatterlist
 * (FI_SGLIST).
 *
 * Ownership: the memory must stay valid until fi_close(&mr->fid) returns; after that no peer
 *            reaches it any more.
 * Threading: process context, may sleep.
 * Errors:    -FI_ENOKEY the key is taken; -FI_EINVAL; -FI_ENOMEM.
 */
static inline int fi_mr_regattr(struct fid_domain *domain, const struct fi_mr_attr *attr,
				uint64_t flags, struct fid_mr **mr_p)
{
	return domain->mr->regattr(&domain->fid, attr, flags, mr_p);
}

/* fi_mr_regv - register a kvec list. */
static inline int fi_mr_regv(struct fid_domain *domain, const struct kvec *iov, size_t count,
			     uint64_t access, uint64_t offset, uint64_t requested_key,
			     uint64_t flags, struct fid_mr **mr_p, void *context)
{
	struct fi_mr_attr attr = {
		.mr_iov = iov, .iov_count = count, .access = access, .offset = offset,
		.requested_key = requested_key, .context = context,
	};

	return fi_mr_regattr(domain, &attr, flags, mr_p);
}

/* fi_mr_reg - register one buffer: kmalloc, vmalloc or page memory of the kernel. */
static inline int fi_mr_reg(struct fid_domain *domain, const void *buf, size_t len,
			    uint64_t access, uint64_t offset, uint64_t requested_key,
			    uint64_t flags, struct fid_mr **mr_p, void *context)
{
	struct kvec iov = { .iov_base = (void *)buf, .iov_len = len };

	return fi_mr_regv(domain, &iov, 1, access, offset, requested_key, flags, mr_p, context);
}

/* fi_mr_bind, fi_mr_enable - with FI_MR_ENDPOINT: the endpoint whose peer may use it. */
static inline int fi_mr_bind(struct fid_mr *mr, struct fid *bfid, uint64_t flags)
{
	return mr->fid.ops->bind(&mr->fid, bfid, flags);
}

static inline int fi_mr_enable(struct fid_mr *mr)
{
	return fi_control(&mr->fid, FI_ENABLE, NULL);
}

static inline uint64_t fi_mr_key(struct fid_mr *mr)
{
	return mr->key;
}

static inline void *fi_mr_desc(struct fid_mr *mr)
{
	return mr->mem_desc;
}

#endif /* KOFI_FI_DOMAIN_H */
