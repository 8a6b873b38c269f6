// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * av.c - address vectors: a table of addresses.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>

#include "obj.h"

size_t kofi_ip_len(const void *addr)
{
	switch (((const struct sockaddr *)addr)->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}
EXPORT_SYMBOL_GPL(kofi_ip_len);

/* Packed addresses of a table of text have the full length each. */
size_t kofi_addr_len(uint32_t format, const void *addr)
{
	return format == FI_ADDR_STR ? FI_NAME_MAX : kofi_ip_len(addr);
}
EXPORT_SYMBOL_GPL(kofi_addr_len);

/* Compares IP addresses by what identifies a peer; sin_zero and others do not. */
static bool is_same(const struct kofi_av_entry *entry, const void *addr, size_t len)
{
	const struct sockaddr_in6 *a6 = (const void *)entry->addr, *b6 = addr;
	const struct sockaddr_in *a = (const void *)entry->addr, *b = addr;

	if (entry->len != len)
		return false;
	if (len == FI_NAME_MAX)
		return !strncmp(entry->addr, addr, len);
	if (a->sin_family != b->sin_family || a->sin_port != b->sin_port)
		return false;
	if (a->sin_family == AF_INET)
		return a->sin_addr.s_addr == b->sin_addr.s_addr;
	return !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) &&
	       a6->sin6_scope_id == b6->sin6_scope_id;
}

bool kofi_av_get(struct kofi_av *av, fi_addr_t fi_addr, void *addr, size_t room, size_t *len_p)
{
	struct kofi_av_entry *entry;

	rcu_read_lock();
	entry = fi_addr > U32_MAX ? NULL : xa_load(&av->entries, fi_addr);
	if (entry) {
		*len_p = entry->len;
		memcpy(addr, entry->addr, min(room, entry->len));
	}
	rcu_read_unlock();
	return entry;
}
EXPORT_SYMBOL_GPL(kofi_av_get);

fi_addr_t kofi_av_find(struct kofi_av *av, const void *addr, size_t len)
{
	fi_addr_t found = FI_ADDR_NOTAVAIL;
	struct kofi_av_entry *entry;
	unsigned long i;

	rcu_read_lock();
	xa_for_each(&av->entries, i, entry) {
		if (is_same(entry, addr, len)) {
			found = i;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}
EXPORT_SYMBOL_GPL(kofi_av_find);

static int insert_one(struct kofi_av *av, const void *addr, size_t len, u32 *id_p)
{
	struct kofi_av_entry *entry;
	int ret;

	entry = kmalloc(struct_size(entry, addr, len), GFP_KERNEL);
	if (!entry)
		return -FI_ENOMEM;
	entry->len = len;
	memcpy(entry->addr, addr, len);
	ret = xa_alloc(&av->entries, id_p, entry, xa_limit_31b, GFP_KERNEL);
	if (ret)
		kfree(entry);
	return ret;
}

static int av_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *fi_addr,
		     uint64_t flags, void *context)
{
	struct kofi_av *av = container_of(fid, struct kofi_av, av);
	size_t i, len;
	int cnt = 0;
	u32 id;

	if (flags & ~FI_MORE)
		return -FI_EBADFLAGS;
	for (i = 0; i < count; i++, addr += len) {
		len = kofi_addr_len(av->domain->addr_format, addr);
		if (!len)
			return cnt ? cnt : -FI_EINVAL;
		if (insert_one(av, addr, len, &id)) {
			if (fi_addr)
				fi_addr[i] = FI_ADDR_NOTAVAIL;
			continue;
		}
		if (fi_addr)
			fi_addr[i] = id;
		cnt++;
	}
	return cnt;
}

static int av_remove(struct fid_av *fid, fi_addr_t *fi_addr, size_t count, uint64_t flags)
{
	struct kofi_av *av = container_of(fid, struct kofi_av, av);
	struct kofi_av_entry *entry;
	int ret = 0;

	while (count--) {
		entry = fi_addr[count] > U32_MAX ? NULL : xa_erase(&av->entries, fi_addr[count]);
		if (entry)
			kfree_rcu(entry, rcu);
		else
			ret = -FI_EINVAL;
	}
	return ret;
}

static int av_lookup(struct fid_av *fid, fi_addr_t fi_addr, void *addr, size_t *addrlen)
{
	struct kofi_av *av = container_of(fid, struct kofi_av, av);
	size_t len;

	if (!kofi_av_get(av, fi_addr, addr, *addrlen, &len))
		return -FI_EINVAL;
	*addrlen = len;
	return 0;
}

static int av_close(struct fid *fid)
{
	struct kofi_av *av = container_of(fid, struct kofi_av, av.fid);
	struct kofi_av_entry *entry;
	unsigned long i;

	if (atomic_read(&av->refs))
		return -FI_EBUSY;
	xa_for_each(&av->entries, i, entry)
		kfree(entry);
	xa_destroy(&av->entries);
	atomic_dec(&av->domain->refs);
	kfree(av);
	return 0;
}

static struct fi_ops av_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = av_close,
	.bind = obj_no_bind,
	.control = obj_no_control,
};

static struct fi_ops_av av_ops = {
	.size = offsetofend(struct fi_ops_av, lookup),
	.insert = av_insert,
	.remove = av_remove,
	.lookup = av_lookup,
};

int obj_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av_p,
		void *context)
{
	struct kofi_av *av;

	if (attr && (attr->type > FI_AV_TABLE || attr->flags || attr->name || attr->rx_ctx_bits))
		return -FI_EINVAL;
	av = kzalloc(sizeof(*av), GFP_KERNEL);
	if (!av)
		return -FI_ENOMEM;
	av->av.fid.fclass = FI_CLASS_AV;
	av->av.fid.context = context;
	av->av.fid.ops = &av_fid_ops;
	av->av.ops = &av_ops;
	av->domain = container_of(domain, struct kofi_domain, domain);
	xa_init_flags(&av->entries, XA_FLAGS_ALLOC);
	atomic_inc(&av->domain->refs);
	*av_p = &av->av;
	return 0;
}
