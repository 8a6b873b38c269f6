/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "info/choose.h"

static void want_refuse(struct info_refusal *why, const char *attr, const char *wanted,
			const char *offered)
{
	why->attr = attr;
	snprintf(why->wanted, sizeof(why->wanted), "%s", wanted);
	snprintf(why->offered, sizeof(why->offered), "%s", offered);
}

bool info_name_is_own(const char *node, const char *own)
{
	size_t n = strcspn(node, "."), o = strcspn(own, ".");

	if (!n || n != o || strncasecmp(node, own, n))
		return false;
	/* host.a.org is not host.b.org, but a name without a domain matches either */
	return !node[n] || !own[o] || !strcasecmp(node, own);
}

static bool is_own_name(const char *node)
{
	char own[256];

	if (gethostname(own, sizeof(own)))
		return false;
	own[sizeof(own) - 1] = '\0';
	return info_name_is_own(node, own);
}

static int list_one(const union net_sa *sa, struct net_addrs *list)
{
	list->addr = malloc(sizeof(*list->addr));
	if (!list->addr)
		return -FI_ENOMEM;
	list->addr[0] = *sa;
	list->cnt = 1;
	return 0;
}

/* is_hosts_alias - Debian's hosts file maps the host's name to 127.0.1.1, others to 127.0.0.1.
 * Such a name means "this host", not "loopback", whose name is localhost.
 */
static bool is_hosts_alias(const char *node, const struct net_addrs *list)
{
	union net_sa lo;
	bool odd = false;
	size_t i;

	net_addr_any(AF_INET, &lo);
	lo.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; i < list->cnt; i++) {
		const struct sockaddr *sa = &list->addr[i].sa;

		if (!net_addr_is_loopback(sa))
			return false;
		odd |= sa->sa_family == AF_INET && !net_addr_same_host(sa, &lo.sa);
	}
	return odd || (is_own_name(node) && !info_name_is_own(node, "localhost"));
}

static bool is_literal(const char *node)
{
	union net_sa sa;

	return strstr(node, "://") || !net_addr_parse_host(node, &sa);
}

static void set_src(struct info_want *want, struct net_addrs *list)
{
	want->src_port = net_addr_port(&list->addr[0].sa);
	want->any_src = want->wild = net_addr_is_any(&list->addr[0].sa);
	if (!want->any_src) {
		want->src = *list;
		return;
	}
	want->family = list->cnt == 1 ? list->addr[0].sa.sa_family : AF_UNSPEC;
	net_addrs_free(list);
}

/* src_from_node - FI_SOURCE: node and service are local. */
static int src_from_node(const char *node, const char *service, int flags, int family,
			 int type, struct info_want *want, const char **reason_p)
{
	struct net_addrs list;
	int ret;

	if (node && !is_literal(node) && !(flags & NET_RESOLVE_NUMERIC)) {
		ret = net_addr_resolve_why(node, service, flags, family, type, &list, reason_p);
		if (!ret && !is_hosts_alias(node, &list)) {
			set_src(want, &list);
			want->own_name = is_own_name(node);
			return 0;
		}
		if (ret && !is_own_name(node))
			return ret;
		if (!ret)
			net_addrs_free(&list);
		node = NULL;	/* this host, by any of its addresses */
	}
	ret = net_addr_resolve_why(node, service, flags, family, type, &list, reason_p);
	if (!ret)
		set_src(want, &list);
	return ret;
}

/* read_hint - an address in hints; its length may be less than a sockaddr_storage. */
static int read_hint(uint32_t format, const void *addr, size_t len, struct net_addrs *list)
{
	char text[NET_ADDR_TEXT_MAX];
	union net_sa sa;

	if (format == FI_ADDR_STR) {
		snprintf(text, sizeof(text), "%.*s", (int) (len < sizeof(text) ? len :
			 sizeof(text)), (const char *) addr);
		if (net_addr_parse(text, &sa))
			return -FI_ENODATA;
	} else if (net_addr_copy(addr, len, &sa)) {
		return -FI_ENODATA;
	}
	return list_one(&sa, list);
}

static int read_src_hint(const struct fi_info *hints, struct info_want *want,
			 struct info_refusal *why)
{
	struct net_addrs list;
	int ret;

	want->any_src = true;
	if (!hints || !hints->src_addr || !hints->src_addrlen)
		return 0;
	ret = read_hint(hints->addr_format, hints->src_addr, hints->src_addrlen, &list);
	if (!ret)
		set_src(want, &list);
	else if (ret == -FI_ENODATA)
		want_refuse(why, "src_addr", "not an IP address", "FI_SOCKADDR_IN or FI_SOCKADDR_IN6");
	return ret;
}

static int read_dest_hint(const struct fi_info *hints, struct info_want *want,
			  struct info_refusal *why)
{
	int ret;

	if (!hints || !hints->dest_addr || !hints->dest_addrlen)
		return 0;
	ret = read_hint(hints->addr_format, hints->dest_addr, hints->dest_addrlen, &want->dest);
	want->has_dest = !ret;
	if (ret == -FI_ENODATA)
		want_refuse(why, "dest_addr", "not an IP address",
			    "FI_SOCKADDR_IN or FI_SOCKADDR_IN6");
	return ret;
}

/* loopback_dest - a service without a node is on this host. */
static int loopback_dest(const char *service, int family, int type, struct net_addrs *list,
			 const char **reason_p)
{
	size_t i;
	int ret;

	ret = net_addr_resolve_why(NULL, service, 0, family, type, list, reason_p);
	for (i = 0; !ret && i < list->cnt; i++) {
		union net_sa *sa = &list->addr[i];

		if (sa->sa.sa_family == AF_INET)
			sa->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		else
			sa->in6.sin6_addr = in6addr_loopback;
	}
	return ret;
}

static int read_node(const char *node, const char *service, uint64_t flags, int family,
		     int type, struct info_want *want, struct info_refusal *why)
{
	int numeric = flags & FI_NUMERICHOST ? NET_RESOLVE_NUMERIC : 0;
	const char *reason = "";
	int ret;

	if (flags & FI_SOURCE) {
		ret = src_from_node(node, service, numeric, family, type, want, &reason);
	} else {
		ret = node ? net_addr_resolve_why(node, service, numeric, family, type,
						  &want->dest, &reason) :
			     loopback_dest(service, family, type, &want->dest, &reason);
		want->has_dest = !ret;
	}
	if (ret == -FI_ENODATA)
		want_refuse(why, flags & FI_SOURCE ? "src_addr" : "dest_addr",
			    node ? node : service ? service : "-", reason);
	return ret;
}

int info_want_read(const char *node, const char *service, uint64_t flags,
		  const struct fi_info *hints, int type, struct info_want *want_p,
		  struct info_refusal *why_p)
{
	int family = hints ? net_addr_family(hints->addr_format) : AF_UNSPEC;
	struct info_want want = { .any_src = true };
	int ret = 0;

	if (family < 0)
		family = AF_UNSPEC;	/* FI_ADDR_STR and others: the check of the hints decides */
	if (!(flags & FI_SOURCE))
		ret = read_src_hint(hints, &want, why_p);
	if (!ret && (flags & FI_SOURCE || !(node || service)))
		ret = read_dest_hint(hints, &want, why_p);
	if (!ret && (node || service))
		ret = read_node(node, service, flags, family, type, &want, why_p);
	if (ret) {
		info_want_free(&want);
		return ret;
	}
	*want_p = want;
	return 0;
}

void info_want_free(struct info_want *want)
{
	net_addrs_free(&want->src);
	net_addrs_free(&want->dest);
}
