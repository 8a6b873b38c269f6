/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "info/rails.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/providers/fi_log.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/memory.h"

/* ---- the environment ------------------------------------------------------------------- */

static void rails_define(void)
{
	fi_param_define(NULL, "rails", FI_PARAM_STRING, "Interfaces that a connectionless endpoint of tcp or udp;ofi_rxd "
			"uses at the same time, where the program names none and both sides set it: auto, or a number up to "
			"8; of tcp it includes FI_RECOVER (default: 1)");
	fi_param_define(NULL, "rail_min", FI_PARAM_SIZE_T, "Bytes that wait to be sent before others than the best "
			"interface take some (default: 65536)");
	fi_param_define(NULL, "rails_ifaces", FI_PARAM_STRING, "The interfaces that FI_RAILS uses, with commas, the best "
			"first; ^ in front means all but these (default: all but bridges and tunnels, the fastest "
			"first)");
}

/* FI_RAILS is a number, or "auto". */
void info_rails_read(const struct fi_provider *prov, struct info_rails *conf)
{
	char *text = NULL, *end = NULL, *ifaces = NULL;
	long most;

	rails_define();
	if (fi_param_get_str(NULL, "rails", &text) || !text)
		return;
	most = strcmp(text, "auto") ? strtol(text, &end, 10) : NET_RAILS_MAX;
	if (strcmp(text, "auto") && (end == text || *end || most < 1 || most > NET_RAILS_MAX))
		FI_WARN(prov, FI_LOG_EP_CTRL, "FI_RAILS=%s: it may be auto or 1 to %d; 1 is used\n", text, NET_RAILS_MAX);
	else
		conf->most = (int) most;
	fi_param_get_size_t(NULL, "rail_min", &conf->min);
	if (!fi_param_get_str(NULL, "rails_ifaces", &ifaces))
		conf->ifaces = ifaces;
}

/* ---- the program ----------------------------------------------------------------------- */

static atomic_bool named;	/* the program has named an interface, or a source address */

static bool names_domain(const struct fi_info *hints)
{
	return hints && hints->domain_attr && hints->domain_attr->name;
}

static bool names_source(const struct fi_info *hints)
{
	union net_sa sa;

	return hints && hints->src_addr && hints->src_addrlen &&
	       (net_addr_copy(hints->src_addr, hints->src_addrlen, &sa) || !net_addr_is_any(&sa.sa));
}

void info_rails_note(const char *node, uint64_t flags, const struct fi_info *hints)
{
	if ((node && flags & FI_SOURCE) || names_domain(hints) || names_source(hints))
		atomic_store(&named, true);
}

bool info_rails_named(void)
{
	return atomic_load(&named);
}

/* ---- the choice ------------------------------------------------------------------------ */

static void log_unfit(const struct fi_provider *prov, const struct net_list *list, const struct net_rail_rule *rule)
{
	const char *why;
	size_t i;

	for (i = 0; i < list->iface_cnt; i++) {
		why = net_rail_unfit(&list->iface[i], rule);
		if (why)
			FI_INFO(prov, FI_LOG_EP_CTRL, "%s is no rail: %s\n", list->iface[i].name, why);
	}
}

unsigned info_rails_choose(const struct fi_provider *prov, const struct info_rails *conf, int family,
			   struct net_rail *rail)
{
	bool except = conf->ifaces && *conf->ifaces == '^';
	struct net_rail_rule rule = {
		.family = family,
		.only = except ? NULL : conf->ifaces,
		.except = except ? conf->ifaces + 1 : NULL,
	};
	struct net_list list;
	unsigned cnt;

	if (net_list_recent(&list))
		return 0;
	log_unfit(prov, &list, &rule);
	cnt = net_rails_choose(&list, &rule, net_place_read, os_memory_node(), rail);
	net_list_free(&list);
	return cnt < (unsigned) conf->most ? cnt : (unsigned) conf->most;
}
