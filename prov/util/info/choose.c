/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info/choose.h"

/* State of one selection. */
struct choice {
	const struct net_list *list;
	const struct info_want *want;
	bool pointed;		/* the caller named the interface or the address */
	bool wild;		/* offer the wildcard address */
	/* per family (0: IPv4): the destination, and the local address of the route to it */
	const union net_sa *dest[2];
	union net_sa start[2];
	struct info_cand *cand;
	size_t cnt;
};

static int family_no(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET6;
}

/* same_host - a link-local address without an interface matches on any. */
static bool same_host(const struct sockaddr *have, const struct sockaddr *asked)
{
	union net_sa sa;

	if (net_addr_same_host(have, asked))
		return true;
	if (asked->sa_family != AF_INET6 || have->sa_family != AF_INET6 ||
	    !net_addr_is_link_local(asked) || ((const struct sockaddr_in6 *) asked)->sin6_scope_id)
		return false;
	memcpy(&sa, have, sizeof(sa.in6));
	sa.in6.sin6_scope_id = 0;
	return net_addr_same_host(&sa.sa, asked);
}

static bool is_local(const struct net_list *list, const struct sockaddr *sa)
{
	size_t i;

	if (net_addr_is_loopback(sa))
		return true;
	for (i = 0; i < list->addr_cnt; i++)
		if (same_host(&list->addr[i].addr.sa, sa))
			return true;
	return false;
}

/* find_dests - the first destination of each family that has a route. */
static int find_dests(struct choice *ch, info_route_fn route)
{
	const struct net_addrs *dest = &ch->want->dest;
	int ret = -FI_ENODATA, err, no;
	size_t i;

	for (i = 0; i < dest->cnt; i++) {
		no = family_no(&dest->addr[i].sa);
		if (ch->dest[no])
			continue;
		err = route(&dest->addr[i].sa, &ch->start[no]);
		if (err) {
			ret = ret ? err : 0;
			continue;
		}
		ch->dest[no] = &dest->addr[i];
		ret = 0;
	}
	return ret;
}

/* leads_there - true when this address can be the source of traffic to the destination. */
static bool leads_there(const struct choice *ch, const struct net_ifaddr *addr)
{
	const struct net_iface *iface = net_list_iface(ch->list, addr);
	const union net_sa *dest = ch->dest[family_no(&addr->addr.sa)];

	if (!ch->want->has_dest)
		return true;
	if (!dest || !iface->up)
		return false;
	if (net_addr_is_loopback(&dest->sa))
		return iface->kind == NET_KIND_LOOPBACK;
	if (net_addr_is_link_local(&dest->sa) && dest->in6.sin6_scope_id &&
	    dest->sa.sa_family == AF_INET6)
		return iface->index == dest->in6.sin6_scope_id;
	return !net_addr_is_loopback(&addr->addr.sa) || is_local(ch->list, &dest->sa);
}

static void add_cand(struct choice *ch, const struct net_ifaddr *addr, const struct sockaddr *src)
{
	struct info_cand *cand = &ch->cand[ch->cnt++];
	int no = family_no(&addr->addr.sa);

	memset(cand, 0, sizeof(*cand));
	cand->addr = addr;
	memcpy(&cand->src, src, net_addr_len(src));
	if (cand->src.sa.sa_family == AF_INET6)	/* the scope was not given */
		cand->src.in6.sin6_scope_id = addr->addr.in6.sin6_scope_id;
	net_addr_set_port(&cand->src.sa, ch->want->src_port);
	cand->has_dest = ch->want->has_dest;
	if (cand->has_dest)
		cand->dest = *ch->dest[no];
}

/* add_any - a candidate for "any local address": this address; or the wildcard address, once
 * for each interface and family.  For a loopback address the wildcard would accept more than
 * loopback traffic.
 */
static void add_any(struct choice *ch, const struct net_ifaddr *addr)
{
	const struct sockaddr *sa = &addr->addr.sa;
	union net_sa any;
	size_t i;

	if (ch->want->family != AF_UNSPEC && ch->want->family != sa->sa_family)
		return;
	if (!ch->wild || net_addr_is_loopback(sa)) {
		add_cand(ch, addr, sa);
		return;
	}
	for (i = 0; i < ch->cnt; i++)
		if (ch->cand[i].addr->iface == addr->iface &&
		    ch->cand[i].src.sa.sa_family == sa->sa_family)
			return;
	net_addr_any(sa->sa_family, &any);
	add_cand(ch, addr, &any.sa);
	if (sa->sa_family == AF_INET6)
		ch->cand[ch->cnt - 1].src.in6.sin6_scope_id = 0;
}

/* add_matching - the requested source addresses that this entry has.  All of 127/8 is on the
 * loopback interface, though only 127.0.0.1 is listed.
 */
static void add_matching(struct choice *ch, const struct net_ifaddr *addr)
{
	const struct net_addrs *src = &ch->want->src;
	size_t i;

	for (i = 0; i < src->cnt; i++) {
		const struct sockaddr *sa = &src->addr[i].sa;

		if (same_host(&addr->addr.sa, sa) ||
		    (sa->sa_family == AF_INET && net_addr_is_loopback(sa) &&
		     net_addr_is_loopback(&addr->addr.sa) &&
		     addr->addr.sa.sa_family == AF_INET)) {
			add_cand(ch, addr, sa);
			return;
		}
	}
}

static void fill_cands(struct choice *ch, bool any_src)
{
	const struct net_ifaddr *addr;
	size_t i;

	for (i = 0; i < ch->list->addr_cnt; i++) {
		addr = &ch->list->addr[i];
		if (!leads_there(ch, addr))
			continue;
		if (any_src)
			add_any(ch, addr);
		else
			add_matching(ch, addr);
	}
}

/* start_first - move the candidate with the source address of the route to the front; of two
 * families the better ranked one comes first.
 */
static void start_first(struct choice *ch)
{
	size_t i, to = 0;

	if (!ch->want->has_dest)
		return;
	for (i = 0; i < ch->cnt; i++) {
		struct info_cand cand = ch->cand[i];

		if (!net_addr_same_host(&cand.addr->addr.sa,
					&ch->start[family_no(&cand.src.sa)].sa))
			continue;
		memmove(&ch->cand[to + 1], &ch->cand[to], (i - to) * sizeof(cand));
		ch->cand[to++] = cand;
	}
}

/* mark_local - an address of a network on the loopback interface leads to other hosts. */
static void mark_local(struct choice *ch)
{
	bool real = false;
	size_t i;

	for (i = 0; i < ch->list->addr_cnt; i++) {
		const struct net_ifaddr *addr = &ch->list->addr[i];

		real |= net_list_iface(ch->list, addr)->up && !net_addr_is_loopback(&addr->addr.sa);
	}
	for (i = 0; i < ch->cnt; i++)
		ch->cand[i].local_only = real && !ch->pointed &&
			net_addr_is_loopback(&ch->cand[i].addr->addr.sa);
}

static int no_route(const struct choice *ch, int err, struct info_refusal *why)
{
	why->attr = "dest_addr";
	net_addr_text(&ch->want->dest.addr[0].sa, why->wanted);
	snprintf(why->offered, sizeof(why->offered), "no route (%s)", strerror(-err));
	return -FI_ENODATA;
}

static int no_candidate(const struct choice *ch, struct info_refusal *why)
{
	if (!ch->want->any_src) {
		why->attr = "src_addr";
		net_addr_text(&ch->want->src.addr[0].sa, why->wanted);
	} else if (ch->want->has_dest) {
		why->attr = "dest_addr";
		net_addr_text(&ch->want->dest.addr[0].sa, why->wanted);
	} else {
		why->attr = "src_addr";
		strcpy(why->wanted, "any");
	}
	net_list_names(ch->list, why->offered, sizeof(why->offered));
	return -FI_ENODATA;
}

int info_choose(const struct net_list *list, const struct info_want *want, bool pointed,
	       info_route_fn route, struct info_cand **cand_p, size_t *cnt_p,
	       struct info_refusal *why_p)
{
	struct choice ch = { .list = list, .want = want,
			     .pointed = pointed || !want->any_src || want->has_dest,
			     .wild = want->wild && !pointed && !want->has_dest };
	int ret;

	if (want->has_dest) {
		ret = find_dests(&ch, route);
		if (ret)
			return no_route(&ch, ret, why_p);
	}
	ch.cand = malloc((list->addr_cnt ? list->addr_cnt : 1) * sizeof(*ch.cand));
	if (!ch.cand)
		return -FI_ENOMEM;
	fill_cands(&ch, want->any_src);
	/* the host's name resolved to an address that it does not have */
	ch.wild |= want->own_name && !pointed && !want->has_dest;
	if (!ch.cnt && want->own_name)
		fill_cands(&ch, true);
	if (!ch.cnt) {
		free(ch.cand);
		return no_candidate(&ch, why_p);
	}
	start_first(&ch);
	mark_local(&ch);
	*cand_p = ch.cand;
	*cnt_p = ch.cnt;
	return 0;
}
