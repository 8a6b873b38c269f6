// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * domain.c - fabrics and domains.
 */
#include <linux/slab.h>

#include "obj.h"

static int domain_close(struct fid *fid)
{
	struct kofi_domain *domain = container_of(fid, struct kofi_domain, domain.fid);

	if (atomic_read(&domain->refs))
		return -FI_EBUSY;
	if (domain->fabric->ops->domain_close)
		domain->fabric->ops->domain_close(domain);
	atomic_dec(&domain->fabric->refs);
	kfree(domain);
	return 0;
}

static int domain_endpoint(struct fid_domain *fid, struct fi_info *info, struct fid_ep **ep_p,
			   void *context)
{
	struct kofi_domain *domain = container_of(fid, struct kofi_domain, domain);

	might_sleep();
	if (!info || !info->ep_attr || !info->tx_attr || !info->rx_attr)
		return -FI_EINVAL;
	return domain->fabric->ops->endpoint(domain, info, ep_p, context);
}

static struct fi_ops domain_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = domain_close,
	.bind = obj_no_bind,
	.control = obj_no_control,
};

static struct fi_ops_domain domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = obj_av_open,
	.cq_open = obj_cq_open,
	.endpoint = domain_endpoint,
	.cntr_open = obj_cntr_open,
	.query_atomic = obj_query_atomic,
	.srx_ctx = obj_srx_open,
};

static struct fi_ops_mr domain_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.regattr = obj_mr_regattr,
};

static int fabric_domain(struct fid_fabric *fid, struct fi_info *info,
			 struct fid_domain **domain_p, void *context)
{
	struct kofi_fabric_obj *fabric = container_of(fid, struct kofi_fabric_obj, fabric);
	struct kofi_domain *domain;
	int ret;

	might_sleep();
	if (!info || !info->domain_attr)
		return -FI_EINVAL;
	domain = kzalloc(sizeof(*domain), GFP_KERNEL);
	if (!domain)
		return -FI_ENOMEM;
	domain->domain.fid.fclass = FI_CLASS_DOMAIN;
	domain->domain.fid.context = context;
	domain->domain.fid.ops = &domain_fid_ops;
	domain->domain.ops = &domain_ops;
	domain->domain.mr = &domain_mr_ops;
	domain->fabric = fabric;
	domain->addr_format = info->addr_format;
	domain->mr_mode = info->domain_attr->mr_mode;
	domain->cq_data_mask = info->domain_attr->cq_data_size >= 8 ? U64_MAX :
			       (1ULL << 8 * info->domain_attr->cq_data_size) - 1;
	spin_lock_init(&domain->mr_lock);
	init_waitqueue_head(&domain->mr_wait);
	hash_init(domain->mrs);
	mutex_init(&domain->ep_lock);
	INIT_LIST_HEAD(&domain->eps);
	ret = fabric->ops->domain ? fabric->ops->domain(domain, info) : 0;
	if (ret) {
		kfree(domain);
		return ret;
	}
	atomic_inc(&fabric->refs);
	*domain_p = &domain->domain;
	return 0;
}

static int fabric_passive_ep(struct fid_fabric *fid, struct fi_info *info,
			     struct fid_pep **pep_p, void *context)
{
	struct kofi_fabric_obj *fabric = container_of(fid, struct kofi_fabric_obj, fabric);

	might_sleep();
	if (!info || !info->ep_attr || info->ep_attr->type != FI_EP_MSG)
		return -FI_EINVAL;
	return fabric->ops->passive_ep(fabric, info, pep_p, context);
}

static int fabric_close(struct fid *fid)
{
	struct kofi_fabric_obj *fabric = container_of(fid, struct kofi_fabric_obj, fabric.fid);

	if (atomic_read(&fabric->refs))
		return -FI_EBUSY;
	kfree(fabric);
	return 0;
}

static struct fi_ops fabric_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = fabric_close,
	.bind = obj_no_bind,
	.control = obj_no_control,
};

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = fabric_domain,
	.passive_ep = fabric_passive_ep,
	.eq_open = obj_eq_open,
};

int kofi_obj_fabric(const struct kofi_obj_ops *ops, struct fi_fabric_attr *attr,
		    struct fid_fabric **fabric_p, void *context)
{
	struct kofi_fabric_obj *fabric = kzalloc(sizeof(*fabric), GFP_KERNEL);

	if (!fabric)
		return -FI_ENOMEM;
	fabric->fabric.fid.fclass = FI_CLASS_FABRIC;
	fabric->fabric.fid.context = context;
	fabric->fabric.fid.ops = &fabric_fid_ops;
	fabric->fabric.ops = &fabric_ops;
	fabric->ops = ops;
	spin_lock_init(&fabric->req_lock);
	INIT_LIST_HEAD(&fabric->reqs);
	*fabric_p = &fabric->fabric;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_obj_fabric);
