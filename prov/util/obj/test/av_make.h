/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * av_make.h - address vectors without a provider, for their tests.
 */
#ifndef OBJ_TEST_AV_MAKE_H
#define OBJ_TEST_AV_MAKE_H

#include <arpa/inet.h>
#include <rdma/fi_domain.h>
#include <string.h>

#include "base/test/verify.h"
#include "obj/av.h"
#include "obj/domain.h"

static struct fi_provider av_prov = { .name = "test" };
static struct fi_ep_attr endpoints;	/* that the domain was opened with */
static struct fi_domain_attr av_domain_attr;
static struct fi_fabric_attr av_fabric_attr;
static struct fi_info opened_with = {
	.ep_attr = &endpoints, .domain_attr = &av_domain_attr, .fabric_attr = &av_fabric_attr
};

/* As much of a domain as an address vector looks at. */
static inline void make_domain(struct obj_domain *domain, uint32_t format)
{
	memset(domain, 0, sizeof(*domain));
	memset(&endpoints, 0, sizeof(endpoints));
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->prov = &av_prov;
	domain->info = &opened_with;
	domain->addr_format = format;
	domain->obj_lock_kind = LOCK_MUTEX;
	obj_refs_init(&domain->refs);
}

/* open_av - a vector with the table @name; NULL: of this process alone. */
static inline struct fid_av *open_av(struct obj_domain *domain, const char *name, uint64_t flags)
{
	struct fi_av_attr attr = { .name = name, .flags = flags };
	struct fid_av *av;

	assert_int_equal(obj_av_open(&domain->fid, &attr, &av, NULL), 0);
	assert_int_equal(attr.type, FI_AV_TABLE);
	return av;
}

/* in4 - an IPv4 address, in the order of the host. */
static inline struct sockaddr_in in4(uint32_t host, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	sin.sin_addr.s_addr = htonl(host);
	return sin;
}

#endif
