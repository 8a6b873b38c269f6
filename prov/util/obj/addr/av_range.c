/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fi_av_insertsvc() and fi_av_insertsym(): addresses from names, and from ranges
 * of nodes and services.
 */
#include <ctype.h>
#include <rdma/providers/fi_log.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ib_addr.h"
#include "base/net_addr.h"
#include "net/resolve.h"
#include "obj/av_user.h"
#include "obj/domain.h"

/* A range of addresses, made one at a time. */
struct range {
	struct obj_av *av;
	int family;
	const char *name;		/* host name up to its number; NULL: by address */
	unsigned long number;		/* that it starts with */
	int width;			/* digits, so that host08 is followed by host09 */
	union net_sa first;		/* start address, port of the first service */
	size_t svccnt;
	union net_sa at;		/* address of the node last resolved */
	size_t node;			/* its number + 1; 0: none yet */
	bool ok;
};

/* socket_type - the ports of a service belong to a protocol: here to that of the endpoints, as for
 * fi_getinfo().
 */
static int socket_type(const struct obj_av *av)
{
	const struct fi_ep_attr *ep = av->domain->info->ep_attr;

	return ep->type == FI_EP_DGRAM || ep->protocol == FI_PROTO_UDP ||
	       ep->protocol == FI_PROTO_RXD ? SOCK_DGRAM : SOCK_STREAM;
}

static int range_resolve(struct obj_av *av, const char *node, const char *service, int family,
			 union net_sa *out)
{
	struct net_addrs list;
	const char *why;
	int ret = net_addr_resolve_why(node, service, 0, family, socket_type(av), &list, &why);

	if (ret) {
		FI_WARN(av->domain->prov, FI_LOG_AV,
			"cannot find the address of node \"%s\", service \"%s\": %s\n",
			node ? node : "(none)", service ? service : "(none)",
			ret == -FI_ENODATA ? why : ret == -FI_EINVAL ? "this is no port or service" :
			fi_strerror(-ret));
		return ret;
	}
	*out = list.addr[0];
	net_addrs_free(&list);
	return 0;
}

/* Add @n to the host part of an address. */
static void add_to_host(union net_sa *sa, size_t n)
{
	unsigned char *p = (unsigned char *) &sa->in6.sin6_addr;
	size_t i, carry = n;

	if (sa->sa.sa_family == AF_INET) {
		sa->in.sin_addr.s_addr = htonl(ntohl(sa->in.sin_addr.s_addr) + (uint32_t) n);
		return;
	}
	for (i = sizeof(sa->in6.sin6_addr); i-- > 0 && carry; ) {
		carry += p[i];
		p[i] = (unsigned char) carry;
		carry >>= 8;
	}
}

static void go_to_node(struct range *r, size_t node)
{
	uint16_t port = net_addr_port(&r->first.sa);
	char name[256];

	r->node = node + 1;
	r->at = r->first;
	r->ok = true;
	if (!r->name) {
		add_to_host(&r->at, node);
	} else if (node) {
		snprintf(name, sizeof(name), "%s%0*lu", r->name, r->width, r->number + node);
		r->ok = !range_resolve(r->av, name, NULL, r->family, &r->at);
		net_addr_set_port(&r->at.sa, port);
	}
}

static const void *next_in_range(struct obj_av *av, void *source, size_t i)
{
	struct range *r = source;
	size_t port = net_addr_port(&r->first.sa) + i % r->svccnt;

	(void) av;
	if (i / r->svccnt + 1 != r->node)
		go_to_node(r, i / r->svccnt);
	if (!r->ok || port > UINT16_MAX)
		return NULL;
	net_addr_set_port(&r->at.sa, (uint16_t) port);
	return &r->at;
}

/* A host name that counts up ends in a number: "node07" is "node" and 7. */
static int split_name(struct range *r, const char *node, size_t nodecnt, char *stem, size_t size)
{
	size_t len = strlen(node), at = len;
	union net_sa literal;

	if (!net_addr_parse_host(node, &literal) || nodecnt == 1)
		return 0;
	while (at && isdigit((unsigned char) node[at - 1]))
		at--;
	if (at == len || at >= size) {
		FI_WARN(r->av->domain->prov, FI_LOG_AV,
			"%zu nodes from \"%s\" on: the name must end in the number of the first\n",
			nodecnt, node);
		return -FI_EINVAL;
	}
	memcpy(stem, node, at);
	stem[at] = '\0';
	r->name = stem;
	r->number = strtoul(node + at, NULL, 10);
	r->width = (int) (len - at);
	return 0;
}

static int insert_range(struct obj_av *av, const char *node, size_t nodecnt, const char *service,
			size_t svccnt, fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	struct range r = { .av = av, .svccnt = svccnt, .family = net_addr_family(av->addr_format) };
	char stem[256];
	int ret;

	if (r.family < 0) {
		FI_WARN(av->domain->prov, FI_LOG_AV,
			"names can be inserted only where addresses are IP addresses; elsewhere "
			"give fi_av_insertsvc() an address as text, and no service\n");
		return -FI_ENOSYS;
	}
	ret = split_name(&r, node, nodecnt, stem, sizeof(stem));
	if (!ret)
		ret = range_resolve(av, node, service, r.family, &r.first);
	if (ret)
		return ret;
	return obj_av_insert_from(av, next_in_range, &r, nodecnt * svccnt, fi_addr, flags, context);
}

/* An address of InfiniBand has a text, and no name. */
static const void *next_parsed(struct obj_av *av, void *source, size_t i)
{
	return source;
}

static int insert_text(struct obj_av *av, const char *text, fi_addr_t *fi_addr, uint64_t flags,
		       void *context)
{
	union {
		struct ib_ud ud;
		struct ib_sa sa;
	} addr;
	int ret = av->addr_format == FI_ADDR_IB_UD ? ib_ud_parse(text, &addr.ud) :
						     ib_sa_parse(text, &addr.sa);

	if (!ret)
		return obj_av_insert_from(av, next_parsed, &addr, 1, fi_addr, flags, context);
	FI_WARN(av->domain->prov, FI_LOG_AV, "fi_av_insertsvc: '%s' is no address here: %s\n", text,
		av->addr_format == FI_ADDR_IB_UD ? "fi_addr_ib_ud://[GID]:QPN/QKEY/LID/SL/PKEY is" :
						   "fi_sockaddr_ib://[GID]:PORT/PKEY is");
	return ret;
}

static bool has_text_only(const struct obj_av *av)
{
	return av->addr_format == FI_ADDR_IB_UD || av->addr_format == FI_SOCKADDR_IB;
}

int obj_av_insertsvc(struct fid_av *fid, const char *node, const char *service,
		     fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	struct obj_av *av = obj_av_of(fid);
	bool uri = node && strstr(node, "://");

	if (!node || (uri ? service != NULL : service == NULL)) {
		FI_WARN(av->domain->prov, FI_LOG_AV,
			"fi_av_insertsvc: give a node and a service, or a string address and no service\n");
		return -FI_EINVAL;
	}
	if (uri && has_text_only(av))
		return insert_text(av, node, fi_addr, flags, context);
	return insert_range(av, node, 1, service, 1, fi_addr, flags, context);
}

int obj_av_insertsym(struct fid_av *fid, const char *node, size_t nodecnt, const char *service,
		     size_t svccnt, fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	struct obj_av *av = obj_av_of(fid);

	if (!node || !service || !nodecnt || !svccnt || nodecnt > SIZE_MAX / svccnt ||
	    nodecnt * svccnt > INT32_MAX) {
		FI_WARN(av->domain->prov, FI_LOG_AV,
			"fi_av_insertsym: give a node, a service, and counts of at least 1\n");
		return -FI_EINVAL;
	}
	return insert_range(av, node, nodecnt, service, svccnt, fi_addr, flags, context);
}
