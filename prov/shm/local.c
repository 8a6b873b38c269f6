/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link beside another one, for endpoints with IP addresses: it reaches those of the same
 * kind on this host.
 *
 * An endpoint with the address A listens on a socket with the key A.  Such names belong to a
 * network namespace, as addresses do; so a process of the same user that listens there is
 * the one that would be reached at A, and if there is none, A is on another host.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/net_addr.h"
#include "engine/api.h"
#include "link.h"

static size_t local_len(const void *addr)
{
	return net_addr_len(addr);
}

static int local_key(const void *addr, size_t len, char key[SHM_KEY_MAX + 1])
{
	char text[NET_ADDR_TEXT_MAX];
	union net_sa sa;

	if (net_addr_copy(addr, len, &sa) || net_addr_is_any(&sa.sa) || !net_addr_port(&sa.sa))
		return -FI_EINVAL;
	net_addr_text(&sa.sa, text);
	if (strlen(text) > SHM_KEY_MAX)
		return -FI_EINVAL;
	strcpy(key, text);
	return 0;
}

/* local_own - the endpoint's address, and no other. */
static int local_own(const void *src, size_t src_len, unsigned try, char addr[SHM_ADDR_MAX],
		    size_t *len_p)
{
	union net_sa sa;

	_Static_assert(sizeof(sa) <= SHM_ADDR_MAX, "addresses fit");
	if (try)
		return -FI_ENODATA;
	if (net_addr_copy(src, src_len, &sa))
		return -FI_EINVAL;
	*len_p = net_addr_len(&sa.sa);
	memcpy(addr, &sa, *len_p);
	return 0;
}

static bool local_same(const void *a, size_t a_len, const void *b, size_t b_len)
{
	union net_sa x, y;

	return !net_addr_copy(a, a_len, &x) && !net_addr_copy(b, b_len, &y) &&
	       !net_addr_cmp(&x.sa, &y.sa);
}

const struct shm_naming shm_local_naming = {
	.addr_len = sizeof(union net_sa),
	.len = local_len,
	.key = local_key,
	.own = local_own,
	.same = local_same,
};

/* Files in a directory could be of several network namespaces, so there are none. */
int shm_local_open(struct eng_ep *ep, struct chan_link *main, struct chan_link **link_p)
{
	struct shm_scope scope = { eng_ep_base(ep)->prov->name, NULL };
	struct shm_link *link;
	union net_sa name;
	size_t len = sizeof(name);
	int ret;

	ret = main->base.ops->getname(&main->base, NULL, &name, &len);
	if (ret)
		return ret;
	if (!net_addr_len(&name.sa) || net_addr_is_any(&name.sa))
		return -FI_EADDRNOTAVAIL;
	shm_conf_use();
	ret = shm_link_make(ep, &shm_local_ops, &shm_local_naming, scope, &name, len, &link);
	if (ret)
		return ret;
	link->local = true;
	*link_p = &link->base;
	return 0;
}
