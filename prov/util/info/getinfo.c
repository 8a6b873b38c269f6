/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdlib.h>

#include "info/choose.h"
#include "info/getinfo.h"
#include "net/nic.h"

/* State of one call. */
struct query {
	const struct info_prov *np;
	uint32_t version;
	const struct fi_info *hints;
	struct net_list list;
	struct info_want want;
	struct info_cand *cand;
	size_t cand_cnt;
	char iface_var[64];		/* FI_<PROV>_IFACE */
	struct fid_nic **nic;		/* per interface; read on first use */
	struct fi_info *head, **tail;
};

/* A template combined with an interface and an address, on the stack; info_check() makes the
 * copy that is returned.
 */
struct offer {
	struct fi_info info;
	struct fi_ep_attr ep;
	struct fi_tx_attr tx;
	struct fi_rx_attr rx;
	struct fi_domain_attr domain;
	struct fi_fabric_attr fabric;
	char fabric_name[NET_ADDR_TEXT_MAX];
	union net_sa src;
};

static void offer_copy(struct offer *offer, const struct fi_info *tmpl)
{
	offer->info = *tmpl;
	offer->ep = *tmpl->ep_attr;
	offer->tx = *tmpl->tx_attr;
	offer->rx = *tmpl->rx_attr;
	offer->domain = *tmpl->domain_attr;
	offer->fabric = *tmpl->fabric_attr;
	offer->info.ep_attr = &offer->ep;
	offer->info.tx_attr = &offer->tx;
	offer->info.rx_attr = &offer->rx;
	offer->info.domain_attr = &offer->domain;
	offer->info.fabric_attr = &offer->fabric;
	offer->info.nic = NULL;
	offer->info.next = NULL;
}

static void offer_make(struct offer *offer, const struct query *q, const struct fi_info *tmpl,
		       struct info_cand *cand)
{
	const struct net_iface *iface = net_list_iface(&q->list, cand->addr);
	const struct fi_provider *prov = q->np->prov;

	offer_copy(offer, tmpl);
	offer->domain.name = (char *) iface->name;
	offer->fabric.name = net_addr_prefix_text(&cand->addr->addr.sa, cand->addr->prefix,
						  offer->fabric_name);
	if (!offer->fabric.prov_name)
		offer->fabric.prov_name = (char *) prov->name;
	if (!offer->fabric.prov_version)
		offer->fabric.prov_version = prov->version;
	offer->info.addr_format = net_addr_format(&cand->src.sa);
	offer->info.src_addr = &cand->src;
	if (q->np->concrete && net_addr_is_any(&cand->src.sa)) {
		offer->src = cand->addr->addr;
		net_addr_set_port(&offer->src.sa, net_addr_port(&cand->src.sa));
		offer->info.src_addr = &offer->src;
	}
	offer->info.src_addrlen = net_addr_len(&cand->src.sa);
	if (cand->has_dest) {
		offer->info.dest_addr = &cand->dest;
		offer->info.dest_addrlen = net_addr_len(&cand->dest.sa);
	}
	if (cand->local_only)
		offer->info.caps &= ~FI_REMOTE_COMM;
	if (q->np->adjust)
		q->np->adjust(&offer->info, iface);
}

/* nic_for - a copy of the nic for each info; read from the system once per interface. */
static int nic_for(struct query *q, const struct info_cand *cand, struct fid_nic **nic_p)
{
	struct fid_nic **first = &q->nic[cand->addr->iface];
	int ret = 0;

	if (!*first)
		ret = (q->np->nic ? q->np->nic : net_nic_create)(net_list_iface(&q->list, cand->addr),
								 first);
	return ret ? ret : fi_control(&(*first)->fid, FI_DUP, nic_p);
}

/* try_one - append the candidate if the hints allow it. */
static int try_one(struct query *q, size_t no, struct info_cand *cand)
{
	const struct info_prov *np = q->np;
	char text[NET_ADDR_TEXT_MAX] = "";
	struct explain_label label;
	struct fi_info *info;
	struct offer offer;
	int ret;

	offer_make(&offer, q, np->tmpl[no], cand);
	if (explain_logged(np->prov))
		net_addr_text(&cand->src.sa, text);
	label.domain = offer.domain.name;
	label.addr = text;
	ret = info_check(np->prov, &offer.info, np->limits, q->hints,
			     q->version, &label, &info);
	if (ret)
		return ret == -FI_ENODATA ? 0 : ret;
	ret = nic_for(q, cand, &info->nic);
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	*q->tail = info;
	q->tail = &info->next;
	return 0;
}

static int try_all(struct query *q)
{
	size_t no, i;
	int ret = 0;

	q->nic = calloc(q->list.iface_cnt ? q->list.iface_cnt : 1, sizeof(*q->nic));
	if (!q->nic)
		return -FI_ENOMEM;
	for (no = 0; no < q->np->tmpl_cnt && !ret; no++)
		for (i = 0; i < q->cand_cnt && !ret; i++)
			ret = try_one(q, no, &q->cand[i]);
	for (i = 0; i < q->list.iface_cnt; i++)
		if (q->nic[i])
			fi_close(&q->nic[i]->fid);
	free(q->nic);
	return ret;
}

/* restrict_list - apply FI_<PROV>_IFACE.  An unknown name gives an empty result, not a
 * different interface; the log line lists the known names, once for the layers over it, too.
 */
static int restrict_list(struct query *q, const char *name)
{
	char names[512];

	if (!name)
		return 0;
	info_params_iface_var(q->np->prov, q->iface_var, sizeof(q->iface_var));
	if (!net_list_restrict(&q->list, name, q->iface_var))
		return 0;
	net_list_names(&q->list, names, sizeof(names));
	FI_WARN_SPARSE(q->np->prov, FI_LOG_CORE,
		       "no usable interface is called '%s' (%s): this host has %s\n", name,
		       q->iface_var, names);
	explain_refusal(q->np->prov, NULL, NULL, q->iface_var, name, names);
	return -FI_ENODATA;
}

/* is_pointed - true when the caller asked for one interface by name. */
static bool is_pointed(const struct fi_info *hints, const char *param)
{
	return param || (hints && hints->domain_attr && hints->domain_attr->name);
}

/* keep_own - remove the addresses of interfaces without a device of the provider. */
static int keep_own(struct query *q)
{
	struct net_list *list = &q->list;
	size_t i, kept = 0;

	for (i = 0; i < list->addr_cnt; i++)
		if (q->np->has(net_list_iface(list, &list->addr[i])))
			list->addr[kept++] = list->addr[i];
	list->addr_cnt = kept;
	if (kept)
		return 0;
	explain_refusal(q->np->prov, NULL, NULL, "device", "an interface with an address and a device",
		    "none");
	return -FI_ENODATA;
}

static int choose_cands(struct query *q)
{
	const char *param = info_params_iface(q->np->prov);
	struct info_refusal why;
	int ret;

	ret = net_list_recent(&q->list);
	if (ret) {
		FI_WARN(q->np->prov, FI_LOG_CORE, "cannot list the network interfaces: %s\n",
			fi_strerror(-ret));
		return ret;
	}
	ret = q->np->has ? keep_own(q) : 0;
	if (!ret)
		ret = restrict_list(q, param);
	if (ret)
		return ret;
	ret = info_choose(&q->list, &q->want, is_pointed(q->hints, param), net_sock_source,
			 &q->cand, &q->cand_cnt, &why);
	if (ret == -FI_ENODATA)
		explain_refusal(q->np->prov, NULL, NULL, why.attr, why.wanted, why.offered);
	return ret;
}

/* read_want - malformed arguments are errors; a name that is not resolved and an address that is
 * not available give an empty result with a reason.
 */
static int read_want(struct query *q, const char *node, const char *service, uint64_t flags)
{
	const struct info_prov *np = q->np;
	struct info_refusal why;
	int ret;

	ret = info_want_read(node, service, flags, q->hints, np->socktype, &q->want, &why);
	switch (ret) {
	case -FI_ENODATA:
		explain_refusal(np->prov, NULL, NULL, why.attr, why.wanted, why.offered);
		break;
	case -FI_EINVAL:
		FI_WARN(np->prov, FI_LOG_CORE,
			"cannot make an address of node '%s' and service '%s': the service is a "
			"port from 0 to 65535 or a name in /etc/services, and none where the "
			"node is an address in string form (fi_sockaddr_in://192.0.2.1:5000)\n",
			node ? node : "", service ? service : "");
		break;
	}
	return ret;
}

int info_getinfo(const struct info_prov *np, uint32_t version, const char *node,
		const char *service, uint64_t flags, const struct fi_info *hints,
		struct fi_info **info_p)
{
	struct query q = { .np = np, .version = version, .hints = hints };
	int ret;

	q.tail = &q.head;
	ret = read_want(&q, node, service, flags);
	if (ret)
		return ret;
	ret = choose_cands(&q);
	if (!ret)
		ret = try_all(&q);
	if (!ret && !q.head)
		ret = -FI_ENODATA;
	if (ret)
		fi_freeinfo(q.head);
	else
		*info_p = q.head;
	free(q.cand);
	info_want_free(&q.want);
	net_list_free(&q.list);
	return ret;
}
