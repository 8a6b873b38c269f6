// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * listing.c - what fi_info shows, in /sys/kernel/debug/kofi/info, of the reader's network namespace.
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/rwsem.h>
#include <linux/seq_file.h>

#include "core.h"

static struct dentry *dir;

struct name {
	uint64_t	value;
	const char	*text;
};

static const struct name caps_names[] = {
	{ FI_MSG, "FI_MSG" }, { FI_RMA, "FI_RMA" }, { FI_TAGGED, "FI_TAGGED" }, { FI_ATOMIC, "FI_ATOMIC" },
	{ FI_MULTI_RECV, "FI_MULTI_RECV" },
	{ FI_READ, "FI_READ" }, { FI_WRITE, "FI_WRITE" }, { FI_RECV, "FI_RECV" },
	{ FI_SEND, "FI_SEND" }, { FI_REMOTE_READ, "FI_REMOTE_READ" },
	{ FI_REMOTE_WRITE, "FI_REMOTE_WRITE" }, { FI_LOCAL_COMM, "FI_LOCAL_COMM" },
	{ FI_REMOTE_COMM, "FI_REMOTE_COMM" }, { FI_SOURCE, "FI_SOURCE" },
	{ FI_DIRECTED_RECV, "FI_DIRECTED_RECV" }, { 0, NULL }
};

static const struct name mr_names[] = {
	{ FI_MR_VIRT_ADDR, "FI_MR_VIRT_ADDR" }, { FI_MR_PROV_KEY, "FI_MR_PROV_KEY" },
	{ FI_MR_ENDPOINT, "FI_MR_ENDPOINT" }, { FI_MR_LOCAL, "FI_MR_LOCAL" }, { 0, NULL }
};

static void bits_show(struct seq_file *seq, const char *title, const struct name *names,
		      uint64_t value)
{
	const char *sep = "";

	seq_printf(seq, "    %s: [ ", title);
	for (; names->text; names++) {
		if (!(value & names->value))
			continue;
		seq_printf(seq, "%s%s", sep, names->text);
		sep = ", ";
	}
	seq_puts(seq, " ]\n");
}

static const char *type_name(enum fi_ep_type type)
{
	return type == FI_EP_MSG ? "FI_EP_MSG" : type == FI_EP_RDM ? "FI_EP_RDM" : "FI_EP_DGRAM";
}

static const char *proto_name(uint32_t proto)
{
	switch (proto) {
	case FI_PROTO_RDMA_CM_IB_RC: return "FI_PROTO_RDMA_CM_IB_RC";
	case FI_PROTO_IWARP: return "FI_PROTO_IWARP";
	case FI_PROTO_SOCK_TCP: return "FI_PROTO_SOCK_TCP";
	case FI_PROTO_XNET: return "FI_PROTO_XNET";
	default: return "FI_PROTO_UNSPEC";
	}
}

static void addr_show(struct seq_file *seq, const struct fi_info *info)
{
	if (!info->src_addr)
		return;
	if (info->addr_format == FI_ADDR_STR)
		seq_printf(seq, "    src_addr: %s\n", (char *)info->src_addr);
	else
		seq_printf(seq, "    src_addr: %pISpc\n", info->src_addr);
}

static void offer_show(struct seq_file *seq, const struct fi_info *info)
{
	seq_printf(seq, "provider: %s\n    fabric: %s\n    domain: %s\n    version: %u.%u\n",
		   info->fabric_attr->prov_name, info->fabric_attr->name,
		   info->domain_attr->name, FI_MAJOR(info->fabric_attr->prov_version),
		   FI_MINOR(info->fabric_attr->prov_version));
	seq_printf(seq, "    type: %s\n    protocol: %s\n", type_name(info->ep_attr->type),
		   proto_name(info->ep_attr->protocol));
	addr_show(seq, info);
	bits_show(seq, "caps", caps_names, info->caps);
	bits_show(seq, "mr_mode", mr_names, info->domain_attr->mr_mode);
}

static int info_show(struct seq_file *seq, void *unused)
{
	struct fi_info *list, *info;
	int ret;

	ret = fi_getinfo(fi_version(), NULL, NULL, 0, NULL, &list);
	if (ret)
		return ret == -FI_ENODATA ? 0 : ret;
	for (info = list; info; info = info->next)
		offer_show(seq, info);
	fi_freeinfo(list);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(info);

void core_listing_init(void)
{
	dir = debugfs_create_dir("kofi", NULL);
	debugfs_create_file("info", 0444, dir, NULL, &info_fops);
}

void core_listing_exit(void)
{
	debugfs_remove_recursive(dir);
}
