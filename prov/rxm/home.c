/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Regions of the program in the domain below: peers of other implementations reach them by its keys
 * and addresses, without the engine.  That domain belongs to the program's domain, and is shared by
 * its groups.
 */
#include <pthread.h>
#include <rdma/fi_errno.h>

#include "conn.h"
#include "obj/domain.h"
#include "obj/mr.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* guards domain->below of all domains */

static int open_home(struct obj_domain *domain, struct layer_home **home_p)
{
	struct fi_info *lower;
	int ret = layer_lower_info(&rxm_layer, domain->info, &lower);

	if (ret)
		return ret;
	/* each group has its own endpoints and queues */
	if (domain->attr->threading != FI_THREAD_DOMAIN)
		lower->domain_attr->threading = FI_THREAD_COMPLETION;
	ret = layer_home_open(lower, home_p);
	fi_freeinfo(lower);
	return ret;
}

int rxm_home_get(struct obj_domain *domain, struct layer_home **home_p)
{
	struct layer_home *home;
	int ret = 0;

	pthread_mutex_lock(&lock);
	home = domain->below;
	if (!home)
		ret = open_home(domain, &home);
	if (!ret)
		*home_p = domain->below = home;
	pthread_mutex_unlock(&lock);
	return ret;
}

void rxm_domain_fini(struct obj_domain *domain)
{
	if (domain->below)
		layer_home_close(domain->below);
	domain->below = NULL;
}

/* ---- regions ----------------------------------------------------------------------------- */

/* same_names - are regions of @domain named as those below are? */
static bool same_names(const struct obj_domain *domain, const struct layer_home *home)
{
	static const uint32_t bits = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;

	return (domain->mr_mode & bits) == ((uint32_t) layer_region_mode(home->info) & bits);
}

/* A region that the domain below does not take is reached through the engine alone, and so is
 * one of a device: the domain below is opened without FI_HMEM.
 */
int rxm_mr_expose(struct obj_mr *mr, uint64_t *key_p)
{
	struct fi_mr_attr attr = {
		.mr_iov = mr->iov, .iov_count = mr->iov_cnt, .access = mr->access,
		.requested_key = *key_p,
	};
	struct layer_home *home;
	struct fid_mr *below;
	int ret;

	if (mr->loc.iface != FI_HMEM_SYSTEM)
		return 0;
	ret = rxm_home_get(mr->domain, &home);
	if (ret)
		return ret;
	if (!mr->len || !same_names(mr->domain, home))
		return 0;
	ret = fi_mr_regattr(home->domain, &attr, 0, &below);
	if (ret) {
		FI_WARN(rxm_conf.prov, FI_LOG_MR, "a region of %llu bytes cannot be registered below: "
			"peers of other implementations do not reach it: %s\n",
			(unsigned long long) mr->len, fi_strerror(-ret));
		return 0;
	}
	mr->below = below;
	*key_p = fi_mr_key(below);
	return 0;
}

int rxm_mr_conceal(struct obj_mr *mr)
{
	struct fid_mr *below = mr->below;
	int ret = fi_close(&below->fid);

	if (!ret)
		mr->below = NULL;
	return ret;
}
