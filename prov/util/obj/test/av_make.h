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

static struct fi_provider prov = { .name = "test" };

/* As much of a domain as an address vector looks at. */
static inline void make_domain(struct obj_domain *domain, uint32_t format)
{
	memset(domain, 0, sizeof(*domain));
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->prov = &prov;
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
