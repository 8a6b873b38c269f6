/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "common/ft.h"

static int ask(struct ft *ft, const struct fi_info *hints, const char *node, const char *service,
	       uint64_t flags, struct fi_info **info)
{
	*info = NULL;
	return fi_getinfo(ft_api(), node, service, flags, hints, info);
}

/* What every answer must hold, whatever was asked. */
static void sane(const struct fi_info *i)
{
	FT_WANT(i->ep_attr && i->domain_attr && i->fabric_attr && i->tx_attr && i->rx_attr,
		"an answer lacks attributes");
	FT_WANT(i->fabric_attr->prov_name && *i->fabric_attr->prov_name, "a provider has no name");
	FT_WANT(i->fabric_attr->name && i->domain_attr->name, "a fabric or domain has no name");
	FT_WANT(i->caps, "an answer has no capabilities");
	FT_WANT(!i->src_addr == !i->src_addrlen, "a source address and its length disagree");
	FT_WANT(!i->dest_addr == !i->dest_addrlen, "a destination address and its length disagree");
}

static void null_hints(struct ft *ft)
{
	struct fi_info *info;
	int cnt = 0;

	FT_TRY(ask(ft, NULL, NULL, NULL, 0, &info));
	for (struct fi_info *i = info; i; i = i->next, cnt++)
		sane(i);
	FT_WANT(cnt, "no hints, no answers");
	fi_freeinfo(info);
}

static void zero_hints(struct ft *ft)
{
	struct fi_info hints = { 0 }, *info;

	FT_TRY(ask(ft, &hints, NULL, NULL, 0, &info));
	sane(info);
	fi_freeinfo(info);
}

static void own_hints(struct ft *ft)
{
	struct fi_info *info;

	FT_TRY(ask(ft, ft->hints, NULL, NULL, 0, &info));
	for (struct fi_info *i = info; i; i = i->next) {
		sane(i);
		FT_WANT(i->ep_attr->type == ft->hints->ep_attr->type, "another endpoint type came");
		FT_WANT((i->caps & ft->hints->caps) == ft->hints->caps, "asked-for caps are missing");
		FT_WANT(!(i->mode & ~ft->hints->mode), "a mode came that was not offered");
	}
	fi_freeinfo(info);
}

/* An answer used as hints is answered again. */
static void answer_as_hints(struct ft *ft)
{
	struct fi_info *info, *again, *copy;

	FT_TRY(ask(ft, ft->hints, NULL, NULL, 0, &info));
	copy = fi_dupinfo(info);
	FT_WANT(copy && !copy->next, "fi_dupinfo copies one entry");
	FT_TRY(ask(ft, copy, NULL, NULL, 0, &again));
	FT_WANT(!strcmp(again->domain_attr->name, info->domain_attr->name) &&
		!strcmp(again->fabric_attr->prov_name, info->fabric_attr->prov_name),
		"its own answer as hints leads elsewhere");
	fi_freeinfo(again);
	fi_freeinfo(copy);
	fi_freeinfo(info);
}

static bool ip(const struct fi_info *i)
{
	return i->addr_format == FI_SOCKADDR || i->addr_format == FI_SOCKADDR_IN;
}

static void node_and_service(struct ft *ft)
{
	const char *node = ft->opt.src_addr ? ft->opt.src_addr : "127.0.0.1";
	struct fi_info *info;
	struct sockaddr_in *sin;
	struct in_addr want;

	FT_TRY(ask(ft, ft->hints, NULL, NULL, 0, &info));
	if (!ip(info) || inet_pton(AF_INET, node, &want) != 1) {
		printf("# addresses are not IP: node and service left out\n");
		fi_freeinfo(info);
		return;
	}
	fi_freeinfo(info);
	FT_TRY(ask(ft, ft->hints, node, "4711", FI_NUMERICHOST, &info));
	FT_WANT(info->dest_addr, "a node without FI_SOURCE is the destination");
	sin = info->dest_addr;
	FT_WANT(sin->sin_family == AF_INET && ntohs(sin->sin_port) == 4711 &&
		sin->sin_addr.s_addr == want.s_addr, "node and service are not dest_addr");
	fi_freeinfo(info);
	FT_TRY(ask(ft, ft->hints, node, "4711", FI_SOURCE | FI_NUMERICHOST, &info));
	FT_WANT(info->src_addr, "a node with FI_SOURCE is the source");
	sin = info->src_addr;
	FT_WANT(sin->sin_family == AF_INET && ntohs(sin->sin_port) == 4711 &&
		sin->sin_addr.s_addr == want.s_addr, "node and service are not src_addr");
	fi_freeinfo(info);
}

static void refusals(struct ft *ft)
{
	struct fi_info *info, *h = fi_dupinfo(ft->hints);

	FT_IS(ask(ft, ft->hints, "not an address", NULL, FI_NUMERICHOST, &info), -FI_ENODATA);
	free(h->fabric_attr->prov_name);
	h->fabric_attr->prov_name = strdup("no_such_provider");
	FT_IS(ask(ft, h, NULL, NULL, 0, &info), -FI_ENODATA);
	fi_freeinfo(h);
	h = fi_dupinfo(ft->hints);
	free(h->domain_attr->name);
	h->domain_attr->name = strdup("no_such_domain");
	FT_IS(ask(ft, h, NULL, NULL, 0, &info), -FI_ENODATA);
	free(h->domain_attr->name);
	h->domain_attr->name = NULL;
	h->ep_attr->max_msg_size = SIZE_MAX;
	FT_IS(ask(ft, h, NULL, NULL, 0, &info), -FI_ENODATA);
	h->ep_attr->max_msg_size = 0;
	h->tx_attr->inject_size = SIZE_MAX;
	FT_IS(ask(ft, h, NULL, NULL, 0, &info), -FI_ENODATA);
	fi_freeinfo(h);
	FT_IS(fi_getinfo(FI_VERSION(99, 0), NULL, NULL, 0, NULL, &info), -FI_ENOSYS);
}

static void attr_only(struct ft *ft)
{
	struct fi_info *info;

	FT_TRY(ask(ft, NULL, NULL, NULL, FI_PROV_ATTR_ONLY, &info));
	FT_WANT(info->fabric_attr && info->fabric_attr->prov_name, "FI_PROV_ATTR_ONLY returns no provider name");
	fi_freeinfo(info);
}

static void steady(struct ft *ft)
{
	struct fi_info *a, *b;

	FT_TRY(ask(ft, ft->hints, NULL, NULL, 0, &a));
	FT_TRY(ask(ft, ft->hints, NULL, NULL, 0, &b));
	for (struct fi_info *i = a, *j = b; i || j; i = i->next, j = j->next) {
		FT_WANT(i && j, "two calls gave a different number of answers");
		FT_WANT(!strcmp(i->domain_attr->name, j->domain_attr->name),
			"two calls gave another order");
	}
	fi_freeinfo(a);
	fi_freeinfo(b);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: what fi_getinfo answers to hints, nodes and flags.",
		.local = true, .no_open = true,
	};
	struct fi_info *info;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (ask(&ft, ft.hints, NULL, NULL, 0, &info) == -FI_ENODATA)
		ft_skip("%s has no such endpoint", ft.opt.prov ? ft.opt.prov : "no provider");
	fi_freeinfo(info);
	null_hints(&ft);
	zero_hints(&ft);
	own_hints(&ft);
	answer_as_hints(&ft);
	node_and_service(&ft);
	refusals(&ft);
	attr_only(&ft);
	steady(&ft);
	return ft_end(&ft);
}
