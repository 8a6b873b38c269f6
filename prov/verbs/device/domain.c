/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "progress/thread.h"
#include "verbs/dev.h"
#include "verbs/ep.h"
#include "verbs/kind.h"
#include "xpu/api.h"

/* ---- the domain ----------------------------------------------------------------- */

static const char *wc_text(int status)
{
	return vrb_ibv.wc_status_str((enum ibv_wc_status) status);
}

static void domain_fini(struct obj_domain *base)
{
	struct vrb_domain *domain = vrb_domain_of(base);

	domain->kind->domain_close(domain);
	vrb_hmem_fini(domain);
	vrb_ibv.dealloc_pd(domain->pd);
}

static const struct obj_domain_ops domain_ops = {
	.endpoint = vrb_ep_open,
	.srx_ctx = vrb_srx_open,
	.query_atomic = vrb_query_atomic,
	.mr_open = vrb_mr_open,
	.mr_close = vrb_mr_close,
	.mr_dmabuf = true,
	.cq_strerror = wc_text,
	.xpu = &xpu_ops,
	.fini = domain_fini,
};

/* The device makes progress by itself, without a thread.  Connection events have a group of their
 * own, so that the data path is shared by threads only where the program does that.  Endpoints that
 * share queue pairs are the exception: events of one connection change what others post to.  So is a
 * domain with FI_XPU, where a thread of ours posts and polls.
 */
static void choose_locks(struct obj_domain *base)
{
	bool single = (base->attr->threading == FI_THREAD_DOMAIN ||
		       base->attr->threading == FI_THREAD_COMPLETION) &&
		      !vrb_domain_of(base)->kind->shares && !(base->info->caps & FI_XPU);

	base->auto_progress = false;
	base->prog_lock_kind = base->obj_lock_kind = single ? LOCK_NONE : LOCK_MUTEX;
}

static bool query_ex(const struct vrb_domain *domain, struct ibv_device_attr_ex *attr)
{
	struct verbs_context *ex = verbs_get_ctx_op(domain->ctx, query_device_ex);

	memset(attr, 0, sizeof(*attr));
	return ex && !ex->query_device_ex(domain->ctx, NULL, attr, sizeof(*attr));
}

/* On-demand paging is used only if all operations of endpoints support it.  On the direct path,
 * receives in shared queues do not.
 */
static bool may_page(const struct vrb_domain *domain)
{
	const uint32_t rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
			    IBV_ODP_SUPPORT_READ;
	const uint32_t ud = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV;
	bool dgram = domain->base.info->ep_attr->type == FI_EP_DGRAM;
	struct ibv_device_attr_ex attr;

	if (!vrb_conf.odp || domain->direct)
		return false;
	if (!domain->kind->shares && query_ex(domain, &attr) &&
	    (attr.odp_caps.general_caps & IBV_ODP_SUPPORT) &&
	    (dgram ? (attr.odp_caps.per_transport_caps.ud_odp_caps & ud) == ud :
		     (attr.odp_caps.per_transport_caps.rc_odp_caps & rc) == rc))
		return true;
	VRB_WARN(FI_LOG_DOMAIN, "FI_VERBS_USE_ODP: device %s has no on-demand paging for these "
		 "endpoints; regions are pinned\n", domain->base.attr->name);
	return false;
}

/* Only the extended interface has timestamps of completions. */
static uint64_t clock_khz(const struct vrb_domain *domain)
{
	struct ibv_device_attr_ex attr;

	if (vrb_conf_doorbell("post") || !query_ex(domain, &attr) || !attr.completion_timestamp_mask)
		return 0;
	return attr.hca_core_clock;
}

/* The name of a domain is that of its device, and the suffix of its kind. */
static int open_dev(struct vrb_domain *domain, const char *name)
{
	const size_t more = strlen(domain->kind->suffix);
	char dev[VRB_NAME_MAX];
	size_t len = strlen(name);

	if (len > more && !strcmp(name + len - more, domain->kind->suffix))
		len -= more;
	if (len >= sizeof(dev))
		return -FI_ENODEV;
	memcpy(dev, name, len);
	dev[len] = 0;
	return vrb_dev_context(dev, &domain->ctx);
}

static int domain_init(struct obj_domain *base)
{
	struct vrb_domain *domain = vrb_domain_of(base);
	bool own;
	int ret;

	if (!base->attr->name)
		return -FI_EINVAL;
	ret = vrb_kind_of_info(base->info, &domain->kind);
	if (!ret)
		ret = open_dev(domain, base->attr->name);
	if (ret)
		return ret;
	ret = vrb_ibv.query_device(domain->ctx, &domain->attr);
	if (ret)
		return -ret;
	domain->pd = vrb_ibv.alloc_pd(domain->ctx);
	if (!domain->pd)
		return -errno;
	ret = domain->kind->domain_open(domain);
	if (ret) {
		vrb_ibv.dealloc_pd(domain->pd);
		return ret;
	}
	vrb_hmem_init(domain);
	own = vrb_conf_doorbell("direct") && !domain->kind->shares &&
	      (!domain->hmem.on || base->info->caps & FI_XPU) && vrb_mlx5_may(domain->ctx);
	domain->direct = own && !domain->hmem.on;
	domain->native = own && base->info->caps & FI_XPU;
	domain->odp = may_page(domain);
	domain->clock_khz = clock_khz(domain);
	choose_locks(base);
	base->ops = &domain_ops;
	return 0;
}

static void fabric_fini(struct obj_fabric *base)
{
	struct vrb_fabric *fabric = container_of(base, struct vrb_fabric, base);

	if (fabric->autop)
		obj_auto_stop(fabric->autop);
}

static const struct obj_fabric_ops fabric_ops = {
	.fini = fabric_fini,
	.domain_init = domain_init,
	.domain_size = sizeof(struct vrb_domain),
	.passive_ep = vrb_pep_open,
};

int vrb_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	int ret = vrb_dev_any() ? vrb_lib_open() : -FI_ENODEV;

	if (ret)
		return ret;
	return obj_fabric_open(&vrb_prov, &fabric_ops, sizeof(struct vrb_fabric), attr, fabric,
			       context);
}
