/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The fabric of a provider over the engine: whatever is opened under it is the
 * engine's, over the provider's link.
 */
#include "engine/api.h"
#include "obj/domain.h"
#include "obj/fabric.h"
#include "obj/mr.h"
#include "xpu/api.h"

struct eng_fabric {
	struct obj_fabric base;		/* first */
	const struct eng_link_ops *link;
	const struct eng_domain_ops *domain;
};

static const struct eng_link_ops *link_below(struct obj_fabric *fabric)
{
	return container_of(fabric, struct eng_fabric, base)->link;
}

static const struct eng_domain_ops *domain_below(struct obj_fabric *fabric)
{
	return container_of(fabric, struct eng_fabric, base)->domain;
}

/* An endpoint of either kind, named by the provider if that gives names. */
static int open_ep(struct fid_domain *domain, struct fi_info *info, uint64_t flags,
		   struct fid_ep **ep, void *context, bool scalable)
{
	struct obj_fabric *fabric = obj_domain_of(domain)->fabric;
	const struct eng_link_ops *link = link_below(fabric);
	const struct eng_domain_ops *ops = domain_below(fabric);
	struct fi_info *named = NULL;
	int ret;

	if (info && ops->named) {
		info = named = ops->named(info);
		if (!named)
			return -FI_ENOMEM;
	}
	ret = scalable ? eng_sep_open(domain, info, link, ep, context) :
			 eng_ep_open(domain, info, link, flags, ep, context);
	if (named)
		fi_freeinfo(named);
	return ret;
}

static int new_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
			uint64_t flags, void *context)
{
	return open_ep(domain, info, flags, ep, context, false);
}

static int scalable_ep(struct fid_domain *domain, struct fi_info *info, struct fid_ep **sep,
		       void *context)
{
	return open_ep(domain, info, 0, sep, context, true);
}

/* ---- collectives ------------------------------------------------------------------- */

static const struct eng_coll_ops *coll_ops;

void eng_coll_register(const struct eng_coll_ops *ops)
{
	coll_ops = ops;
}

void eng_coll_attach(struct eng_ep *ep)
{
	if (coll_ops)
		coll_ops->attach(ep);
}

static int query_collective(struct fid_domain *domain, enum fi_collective_op coll,
			    struct fi_collective_attr *attr, uint64_t flags)
{
	return coll_ops ? coll_ops->query(domain, coll, attr, flags) : -FI_ENOSYS;
}

/* ---- regions ----------------------------------------------------------------------- */

static int mr_expose(struct obj_mr *mr, uint64_t *key_p)
{
	const struct eng_domain_ops *ops = domain_below(mr->domain->fabric);

	return ops->mr_expose ? ops->mr_expose(mr, key_p) : 0;
}

static int mr_conceal(struct obj_mr *mr)
{
	return domain_below(mr->domain->fabric)->mr_conceal(mr);
}

static void domain_fini(struct obj_domain *domain)
{
	const struct eng_domain_ops *ops = domain_below(domain->fabric);

	if (ops->fini)
		ops->fini(domain);
}

/* ---- opening ----------------------------------------------------------------------- */

static const struct obj_domain_ops domain_ops = {
	.endpoint = new_endpoint,
	.scalable_ep = scalable_ep,
	.stx_ctx = obj_stx_open,
	.srx_ctx = eng_srx_open,
	.control = eng_domain_control,
	.query_atomic = eng_query_atomic,
	.query_collective = query_collective,
	.mr_expose = mr_expose,
	.mr_conceal = mr_conceal,
	.xpu = &xpu_ops,
	.fini = domain_fini,
};

static int domain_init(struct obj_domain *domain)
{
	domain->ops = &domain_ops;
	return 0;
}

static int passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		      void *context)
{
	return eng_pep_open(fabric, info, link_below(obj_fabric_of(fabric)), pep, context);
}

static bool fabric_protects(const struct obj_fabric *base, const struct fi_info *info)
{
	const struct eng_fabric *fabric = (const struct eng_fabric *) base;	/* its first member */

	return !fabric->domain->protects || fabric->domain->protects(info);
}

static const struct obj_fabric_ops fabric_ops = {
	.domain_init = domain_init,
	.passive_ep = passive_ep,
	.protects = fabric_protects,
};

int eng_fabric_open(const struct fi_provider *prov, const struct eng_link_ops *link,
		    const struct eng_domain_ops *domain, const struct fi_fabric_attr *attr,
		    struct fid_fabric **fabric_p, void *context)
{
	static const struct eng_domain_ops none;
	struct eng_fabric *fabric;
	int ret = obj_fabric_open(prov, &fabric_ops, sizeof(*fabric), attr, fabric_p, context);

	if (ret)
		return ret;
	fabric = container_of(obj_fabric_of(*fabric_p), struct eng_fabric, base);
	fabric->link = link;
	fabric->base.secures = link->secures;
	fabric->domain = domain ? domain : &none;
	return 0;
}
