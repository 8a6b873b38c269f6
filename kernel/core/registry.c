// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * registry.c - providers, discovery and fabrics: all that kofi.ko does.
 */
#define pr_fmt(fmt) "kofi: " fmt

#include <linux/nsproxy.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

LIST_HEAD(core_providers);
DECLARE_RWSEM(core_lock);

static char *provider = "";
module_param(provider, charp, 0444);
MODULE_PARM_DESC(provider, "providers that fi_getinfo shows: \"tcp,loop\", or all but \"^loop\"");

uint32_t fi_version(void)
{
	return FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
}
EXPORT_SYMBOL_GPL(fi_version);

bool core_name_allowed(const char *name)
{
	const char *word = provider;
	bool exclude = *word == '^', hit = false;
	size_t len;

	if (!*word)
		return true;
	for (word += exclude; *word && !hit; word += len + (word[len] == ',')) {
		len = strcspn(word, ",");
		hit = len == strlen(name) && !strncasecmp(word, name, len);
	}
	return hit != exclude;
}

/* ---- registration ---- */

static struct kofi_registration *reg_find(const char *name)
{
	struct kofi_registration *reg;

	list_for_each_entry(reg, &core_providers, node)
		if (!strcasecmp(reg->prov->name, name))
			return reg;
	return NULL;
}

static int reg_add(const struct kofi_provider *prov)
{
	struct kofi_registration *reg;
	int ret;

	if (reg_find(prov->name))
		return -FI_EALREADY;
	reg = kzalloc(sizeof(*reg), GFP_KERNEL);
	if (!reg)
		return -FI_ENOMEM;
	reg->prov = prov;
	ret = core_sysfs_add(reg);
	if (ret) {
		kfree(reg);
		return ret;
	}
	list_add_tail(&reg->node, &core_providers);
	return 0;
}

int kofi_provider_register(uint32_t version, const struct kofi_provider *prov)
{
	int ret;

	if (FI_VERSION_LT(fi_version(), version))
		return -FI_ENOSYS;
	if (!prov || prov->size < sizeof(*prov) || !prov->name || !*prov->name ||
	    (!prov->getinfo && !prov->query) || !prov->fabric)
		return -FI_EINVAL;
	down_write(&core_lock);
	ret = reg_add(prov);
	up_write(&core_lock);
	trace_kofi_register(prov->name, ret);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_provider_register);

int kofi_provider_deregister(const struct kofi_provider *prov)
{
	struct kofi_registration *reg;
	int ret = 0;

	down_write(&core_lock);
	reg = prov ? reg_find(prov->name) : NULL;
	if (!reg || reg->prov != prov) {
		ret = -FI_ENOENT;
	} else if (atomic_read(&reg->fabrics)) {
		ret = -FI_EBUSY;
	} else {
		list_del(&reg->node);
		core_sysfs_del(reg);
		kfree(reg);
	}
	up_write(&core_lock);
	trace_kofi_deregister(prov ? prov->name : NULL, ret);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_provider_deregister);

/* ---- discovery ---- */

#define FLAGS_KNOWN (FI_NUMERICHOST | FI_PROV_ATTR_ONLY | FI_SOURCE | FI_RESCAN)

static int query_check(const struct kofi_query *query)
{
	if (FI_VERSION_LT(fi_version(), query->version))
		return -FI_ENOSYS;
	if (query->flags & ~FLAGS_KNOWN)
		return -FI_EBADFLAGS;
	if ((query->flags & FI_SOURCE) && !query->node && !query->service)
		return -FI_EINVAL;
	return 0;
}

static bool reg_wanted(const struct kofi_registration *reg, const struct fi_info *hints)
{
	const char *name = hints && hints->fabric_attr ? hints->fabric_attr->prov_name : NULL;

	if (name && *name)
		return !strcasecmp(name, reg->prov->name);
	return core_name_allowed(reg->prov->name);
}

static int label_info(const struct kofi_provider *prov, uint32_t version, struct fi_info *info)
{
	struct fi_fabric_attr *attr = info->fabric_attr;

	kfree(attr->prov_name);
	attr->prov_name = kstrdup(prov->name, GFP_KERNEL);
	if (!attr->prov_name)
		return -FI_ENOMEM;
	attr->prov_version = prov->version;
	attr->api_version = version;
	return 0;
}

/* Copies of what a provider lists, which frees its own. */
static int copy_offers(const struct kofi_provider *prov, struct fi_info *theirs,
		       struct fi_info **list_p)
{
	struct fi_info *list = NULL, **tail = &list, *info;
	int ret = 0;

	for (info = theirs; info && !ret; info = info->next) {
		*tail = fi_dupinfo(info);
		if (*tail)
			tail = &(*tail)->next;
		else
			ret = -FI_ENOMEM;
	}
	if (prov->freeinfo)
		prov->freeinfo(theirs);
	else
		fi_freeinfo(theirs);
	if (ret)
		fi_freeinfo(list);
	else
		*list_p = list;
	return ret;
}

static int offers_of(const struct kofi_provider *prov, const struct kofi_query *query,
		     struct fi_info **list_p)
{
	struct fi_info *theirs = NULL;
	int ret;

	if (prov->query)
		return prov->query(query, list_p);
	ret = prov->getinfo(query->version, query->node, query->service, query->flags,
			    query->hints, &theirs);
	return ret ? ret : copy_offers(prov, theirs, list_p);
}

/* Appends what fits of one provider's offers. */
static int reg_ask(const struct kofi_registration *reg, const struct kofi_query *query,
		   struct fi_info ***tail)
{
	struct fi_info *list = NULL, *info;
	int ret;

	if (query->flags & FI_PROV_ATTR_ONLY) {
		list = fi_allocinfo();
		ret = list ? 0 : -FI_ENOMEM;
	} else {
		ret = offers_of(reg->prov, query, &list);
	}
	trace_kofi_getinfo(reg->prov->name, ret);
	if (ret)
		return ret == -FI_ENODATA ? 0 : ret;
	while (list) {
		info = list;
		list = info->next;
		info->next = NULL;
		ret = query->flags & FI_PROV_ATTR_ONLY ? 0 :
		      core_hints_check(reg->prov, query->version, info, query->hints);
		if (!ret) {
			ret = label_info(reg->prov, query->version, info);
			if (!ret) {
				**tail = info;
				*tail = &info->next;
				continue;
			}
		}
		fi_freeinfo(info);
		if (ret != -FI_ENODATA) {
			fi_freeinfo(list);
			return ret;
		}
	}
	return 0;
}

int kofi_getinfo(struct net *net, uint32_t version, const char *node, const char *service,
		 uint64_t flags, const struct fi_info *hints, struct fi_info **info_p)
{
	struct kofi_query query = {
		.net = net, .version = version, .node = node, .service = service,
		.flags = flags, .hints = hints,
	};
	struct fi_info *head = NULL, **tail = &head;
	struct kofi_registration *reg;
	int ret;

	might_sleep();
	ret = query_check(&query);
	if (ret)
		return ret;
	down_read(&core_lock);
	list_for_each_entry(reg, &core_providers, node) {
		if (!reg_wanted(reg, hints))
			continue;
		ret = reg_ask(reg, &query, &tail);
		if (ret)
			break;
	}
	up_read(&core_lock);
	if (!ret && !head)
		ret = -FI_ENODATA;
	if (ret) {
		fi_freeinfo(head);
		return ret;
	}
	*info_p = head;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_getinfo);

/* A kernel thread that outlived its parent's namespaces has those of the boot. */
static struct net *net_current(void)
{
	return current->nsproxy ? current->nsproxy->net_ns : &init_net;
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
	       const struct fi_info *hints, struct fi_info **info_p)
{
	return kofi_getinfo(net_current(), version, node, service, flags, hints, info_p);
}
EXPORT_SYMBOL_GPL(fi_getinfo);

/* ---- fabrics ---- */

static struct kofi_registration *reg_pin(const char *name)
{
	struct kofi_registration *reg;

	down_read(&core_lock);
	reg = name ? reg_find(name) : NULL;
	if (reg && !try_module_get(reg->prov->owner))
		reg = NULL;
	if (reg)
		atomic_inc(&reg->fabrics);
	up_read(&core_lock);
	return reg;
}

static void reg_unpin(struct kofi_registration *reg)
{
	struct module *owner = reg->prov->owner;

	/* With a count of 0 @reg may be freed at once; module_put() keeps the module until then. */
	atomic_dec(&reg->fabrics);
	module_put(owner);
}

int kofi_fabric(struct net *net, struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
		void *context)
{
	struct kofi_registration *reg;
	struct fid_fabric *fabric;
	int ret;

	might_sleep();
	if (!attr)
		return -FI_EINVAL;
	reg = reg_pin(attr->prov_name);
	if (!reg)
		return -FI_ENODEV;
	ret = reg->prov->fabric(attr, &fabric, context);
	trace_kofi_fabric_open(reg->prov->name, ret);
	if (ret) {
		reg_unpin(reg);
		return ret;
	}
	fabric->net = get_net(net);
	fabric->reg = reg;
	fabric->api_version = attr->api_version;
	*fabric_p = fabric;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_fabric);

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p, void *context)
{
	return kofi_fabric(net_current(), attr, fabric_p, context);
}
EXPORT_SYMBOL_GPL(fi_fabric);

int kofi_fabric_close(struct fid_fabric *fabric)
{
	struct kofi_registration *reg = fabric->reg;
	struct net *net = fabric->net;
	int ret;

	might_sleep();
	ret = fabric->fid.ops->close(&fabric->fid);
	trace_kofi_fabric_close(reg->prov->name, ret);
	if (ret)
		return ret;
	put_net(net);
	reg_unpin(reg);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_fabric_close);
