/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <rdma/fi_errno.h>

#include "base/list.h"
#include "core/openfabric.h"
#include "core/registry.h"

/* A fabric gets a copy of its provider's ops in which only close differs.  The copy is as long
 * as the original, so that slots of a newer provider stay reachable.
 */
struct watch {
	struct list entry;
	struct fid_fabric *fabric;
	struct core_prov *prov;
	struct fi_ops *real;	/* the provider's ops */
	int opens;		/* a provider may return one object twice */
	char *name;
	char *prov_name;
	struct fi_ops ops;	/* last member: may be longer than declared */
};

pthread_mutex_t core_openfabric_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list watches = { &watches, &watches };

static int watch_close(struct fid *fid);

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcasecmp(a, b) : a == b;
}

static void watch_free(struct watch *watch)
{
	free(watch->name);
	free(watch->prov_name);
	free(watch);
}

static struct watch *watch_new(struct fid_fabric *fabric,
			       const struct fi_fabric_attr *attr)
{
	const struct fi_ops *real = fabric->fid.ops;
	size_t size = real->size > sizeof(*real) ? real->size : sizeof(*real);
	struct watch *watch;

	watch = calloc(1, offsetof(struct watch, ops) + size);
	if (!watch)
		return NULL;
	watch->name = attr->name ? strdup(attr->name) : NULL;
	watch->prov_name = strdup(attr->prov_name);
	if ((attr->name && !watch->name) || !watch->prov_name) {
		watch_free(watch);
		return NULL;
	}
	memcpy(&watch->ops, real, real->size);
	watch->ops.close = watch_close;
	watch->real = fabric->fid.ops;
	watch->fabric = fabric;
	watch->opens = 1;
	return watch;
}

static struct watch *watch_of(struct fid *fid)
{
	return container_of(fid->ops, struct watch, ops);
}

bool core_openfabric_has(const struct fid_fabric *fabric)
{
	bool has;

	pthread_mutex_lock(&core_openfabric_lock);
	has = fabric->fid.ops->close == watch_close;
	pthread_mutex_unlock(&core_openfabric_lock);
	return has;
}

int core_openfabric_add(struct fid_fabric *fabric, struct core_prov *prov,
			const struct fi_fabric_attr *attr)
{
	struct watch *watch;

	pthread_mutex_lock(&core_openfabric_lock);
	if (fabric->fid.ops->close == watch_close) {
		watch_of(&fabric->fid)->opens++;
		pthread_mutex_unlock(&core_openfabric_lock);
		return 0;
	}
	watch = watch_new(fabric, attr);
	if (watch) {
		watch->prov = prov;
		fabric->fid.ops = &watch->ops;
		list_add_tail(&watch->entry, &watches);
	}
	pthread_mutex_unlock(&core_openfabric_lock);
	return watch ? 0 : -FI_ENOMEM;
}

/* Unlinked first: while the provider closes the fabric, fi_getinfo() must not return it. */
static int watch_close(struct fid *fid)
{
	struct watch *watch = watch_of(fid);
	struct core_prov *prov = watch->prov;
	struct fi_ops *real = watch->real;
	bool last;
	int ret;

	pthread_mutex_lock(&core_openfabric_lock);
	last = !--watch->opens;
	if (last)
		list_del(&watch->entry);
	pthread_mutex_unlock(&core_openfabric_lock);
	ret = real->close(fid);
	if (ret) {
		pthread_mutex_lock(&core_openfabric_lock);
		watch->opens++;
		if (last)
			list_add_tail(&watch->entry, &watches);
		pthread_mutex_unlock(&core_openfabric_lock);
		return ret;
	}
	if (last)
		watch_free(watch);
	core_prov_put(prov, true);
	return 0;
}

static bool watch_is(const struct watch *watch, const struct fi_fabric_attr *attr)
{
	return same_text(watch->name, attr->name) &&
	       same_text(watch->prov_name, attr->prov_name);
}

struct fid_fabric *core_openfabric_find(const struct fi_fabric_attr *attr)
{
	struct fid_fabric *found = NULL;
	struct watch *watch;

	pthread_mutex_lock(&core_openfabric_lock);
	list_for_each_entry(watch, &watches, entry)
		if (!found && watch_is(watch, attr))
			found = watch->fabric;
	pthread_mutex_unlock(&core_openfabric_lock);
	return found;
}

bool core_openfabric_is(const struct fid_fabric *fabric,
			const struct fi_fabric_attr *attr)
{
	struct watch *watch;
	bool is = false;

	pthread_mutex_lock(&core_openfabric_lock);
	list_for_each_entry(watch, &watches, entry)
		is = is || (watch->fabric == fabric && watch_is(watch, attr));
	pthread_mutex_unlock(&core_openfabric_lock);
	return is;
}
