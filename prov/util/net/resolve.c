/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * resolve.c - from a node and a service to addresses.
 *
 * Numeric addresses are parsed here; the C library's resolver, which may load name service
 * modules and query servers, is called only for names.
 */
#include <errno.h>
#include <netdb.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <stdlib.h>
#include <string.h>

#include "net/resolve.h"

static int lookup_error(int err, const char **why_p)
{
	switch (err) {
	case EAI_MEMORY:
		return -FI_ENOMEM;
	case EAI_NONAME:
		*why_p = "the name service knows no IP address for this name";
		break;
	case EAI_AGAIN:
		*why_p = "no name server answered: see /etc/resolv.conf, or give the address";
		break;
	case EAI_SYSTEM:
		*why_p = fi_strerror(errno);
		break;
	default:
		*why_p = gai_strerror(err);
	}
	return -FI_ENODATA;
}

/* addrs_add - append an address unless it is in the list: getaddrinfo() repeats an address that the
 * hosts file has under two names.
 */
static int addrs_add(struct net_addrs *list, const union net_sa *sa)
{
	union net_sa *bigger;
	size_t i;

	for (i = 0; i < list->cnt; i++)
		if (!net_addr_cmp(&list->addr[i].sa, &sa->sa))
			return 0;
	bigger = realloc(list->addr, (list->cnt + 1) * sizeof(*bigger));
	if (!bigger)
		return -FI_ENOMEM;
	list->addr = bigger;
	list->addr[list->cnt++] = *sa;
	return 0;
}

static int service_port(const char *service, int type, uint16_t *port_p, const char **why_p)
{
	struct addrinfo want = { .ai_family = AF_INET, .ai_socktype = type,
				 .ai_flags = AI_PASSIVE };
	struct addrinfo *found;
	int ret;

	*port_p = 0;
	if (!service || !net_addr_parse_port(service, port_p))
		return 0;
	if (!*service || (*service >= '0' && *service <= '9') || *service == '-')
		return -FI_EINVAL;
	ret = getaddrinfo(NULL, service, &want, &found);
	if (ret == EAI_SERVICE || ret == EAI_NONAME) {
		*why_p = type == SOCK_DGRAM ?
			 "/etc/services has no UDP port for a service of this name" :
			 "/etc/services has no TCP port for a service of this name";
		return -FI_ENODATA;
	}
	if (ret)
		return lookup_error(ret, why_p);
	*port_p = net_addr_port(found->ai_addr);
	freeaddrinfo(found);
	return 0;
}

static int add_any(int family, uint16_t port, struct net_addrs *list)
{
	union net_sa sa;
	int ret = 0;

	if (family != AF_INET6) {
		net_addr_any(AF_INET, &sa);
		net_addr_set_port(&sa.sa, port);
		ret = addrs_add(list, &sa);
	}
	if (!ret && family != AF_INET) {
		net_addr_any(AF_INET6, &sa);
		net_addr_set_port(&sa.sa, port);
		ret = addrs_add(list, &sa);
	}
	return ret;
}

static int add_name(const char *node, int flags, int family, int type, uint16_t port,
		    struct net_addrs *list, const char **why_p)
{
	struct addrinfo want = {
		.ai_family = family,
		.ai_socktype = type,
		.ai_flags = flags & NET_RESOLVE_NUMERIC ? AI_NUMERICHOST : 0,
	};
	struct addrinfo *found, *ai;
	int ret;

	ret = getaddrinfo(node, NULL, &want, &found);
	if (ret == EAI_NONAME && want.ai_flags & AI_NUMERICHOST)
		return -FI_ENODATA;
	if (ret)
		return lookup_error(ret, why_p);
	for (ai = found; ai && !ret; ai = ai->ai_next) {
		union net_sa sa;

		if (net_addr_copy(ai->ai_addr, ai->ai_addrlen, &sa))
			continue;
		net_addr_set_port(&sa.sa, port);
		ret = addrs_add(list, &sa);
	}
	freeaddrinfo(found);
	return ret;
}

/* resolve_literal - @node is an address, bare or in string form. */
static int resolve_literal(const char *node, int family, uint16_t port, struct net_addrs *list)
{
	union net_sa sa;

	if (net_addr_parse_host(node, &sa))
		return -FI_EINVAL;
	if (family != AF_UNSPEC && family != sa.sa.sa_family)
		return -FI_ENODATA;
	net_addr_set_port(&sa.sa, port);
	return addrs_add(list, &sa);
}

static int resolve_name(const char *node, const char *service, int flags, int family, int type,
			struct net_addrs *list, const char **why_p)
{
	uint16_t port;
	int ret;

	ret = service_port(service, type, &port, why_p);
	if (ret)
		return ret;
	if (!node)
		return add_any(family, port, list);
	ret = resolve_literal(node, family, port, list);
	if (ret != -FI_EINVAL)
		return ret;
	return add_name(node, flags, family, type, port, list, why_p);
}

int net_addr_resolve_why(const char *node, const char *service, int flags, int family,
			 int type, struct net_addrs *out_p, const char **why_p)
{
	struct net_addrs list = { 0 };
	struct net_uri uri;
	int ret;

	*why_p = flags & NET_RESOLVE_NUMERIC ?
		 "no such address (FI_NUMERICHOST: names are not looked up)" :
		 "no IP address of the wanted family has this name";
	if (node && strstr(node, "://")) {
		ret = net_uri_split(node, &uri);
		if (ret)
			return ret;
		if (service)
			return -FI_EINVAL;
		if (family != AF_UNSPEC && uri.family != AF_UNSPEC && uri.family != family)
			return -FI_ENODATA;
		node = uri.node[0] ? uri.node : NULL;
		service = uri.service[0] ? uri.service : NULL;
		if (uri.family != AF_UNSPEC)
			family = uri.family;
	}
	ret = resolve_name(node, service, flags, family, type, &list, why_p);
	if (!ret && !list.cnt)
		ret = -FI_ENODATA;
	if (ret) {
		net_addrs_free(&list);
		return ret;
	}
	*out_p = list;
	return 0;
}

int net_addr_resolve(const char *node, const char *service, int flags, int family,
		     int type, struct net_addrs *out_p)
{
	const char *why;

	return net_addr_resolve_why(node, service, flags, family, type, out_p, &why);
}

void net_addrs_free(struct net_addrs *list)
{
	free(list->addr);
	list->addr = NULL;
	list->cnt = 0;
}
