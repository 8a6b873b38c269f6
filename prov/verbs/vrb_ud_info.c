/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What is offered to those who call datagram endpoints by their queue pair: each port, with or
 * without an IP address.
 */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/net_addr.h"
#include "net/net_getinfo.h"
#include "vrb.h"
#include "vrb_info.h"
#include "vrb_ud.h"

/* One call. */
struct query {
	uint32_t version;
	const struct fi_info *hints;
	struct net_list list;
	bool has_src, has_dest, any_gid;
	struct ib_ud src, dest;
	struct fi_info *head, **tail;
};

/* ---- the call's addresses ------------------------------------------------------------------ */

static int refuse(const char *attr, const char *wanted, const char *offered)
{
	obj_explain(&vrb_prov, NULL, "FI_EP_DGRAM", attr, wanted, offered);
	return -FI_ENODATA;
}

static int read_hint(const char *attr, const void *addr, size_t len, bool peer, bool *has_p,
		     struct ib_ud *ud)
{
	const char *why = NULL;

	if (!addr || !len || *has_p)
		return 0;
	if (len >= sizeof(*ud)) {
		memcpy(ud, addr, sizeof(*ud));
		why = peer ? ib_ud_wrong(ud, sizeof(*ud)) : ib_gid_wrong(ud->gid);
	}
	if (len < sizeof(*ud) || why)
		return refuse(attr, why ? why : "it is shorter than 32 bytes", "FI_ADDR_IB_UD");
	*has_p = true;
	return 0;
}

/* The GID by which RoCE knows an IP address. */
static void gid_of(const struct sockaddr *sa, uint8_t *gid)
{
	if (sa->sa_family == AF_INET6) {
		memcpy(gid, &((const struct sockaddr_in6 *) sa)->sin6_addr, 16);
		return;
	}
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, &((const struct sockaddr_in *) sa)->sin_addr, 4);
}

/* A node of ours: the port with that address. */
static int read_own(const char *node, const char *service, uint64_t flags, struct query *q)
{
	struct net_addrs addrs;
	int ret = net_addr_resolve(node, service, flags & FI_NUMERICHOST ? NET_RESOLVE_NUMERIC : 0,
				   AF_UNSPEC, SOCK_DGRAM, &addrs);

	if (ret)
		return ret == -FI_ENODATA ? refuse("src_addr", node, "no such address") : ret;
	q->any_gid = net_addr_is_any(&addrs.addr[0].sa);
	gid_of(&addrs.addr[0].sa, q->src.gid);
	q->src.service = htons(net_addr_port(&addrs.addr[0].sa));
	q->has_src = true;
	net_addrs_free(&addrs);
	return 0;
}

static int read_node(const char *node, const char *service, uint64_t flags, struct query *q)
{
	struct ib_ud *ud = flags & FI_SOURCE ? &q->src : &q->dest;
	int ret = node ? ib_ud_parse(node, ud) : -FI_ENODATA;

	if (!ret && service)
		ret = -FI_EINVAL;
	if (ret == -FI_EINVAL) {
		VRB_WARN(FI_LOG_CORE, "'%s' is no address in string form, or goes with a service: "
			 "fi_addr_ib_ud://[GID]:QPN/QKEY/LID/SL/PKEY is, alone\n", node);
		return ret;
	}
	if (!ret) {
		const char *why = flags & FI_SOURCE ? ib_gid_wrong(ud->gid) :
						      ib_ud_wrong(ud, sizeof(*ud));

		if (why)
			return refuse(flags & FI_SOURCE ? "src_addr" : "dest_addr", node, why);
		*(flags & FI_SOURCE ? &q->has_src : &q->has_dest) = true;
		return 0;
	}
	if (flags & FI_SOURCE)
		return read_own(node, service, flags, q);
	return refuse("dest_addr", node ? node : "-", "an address by queue pair, which fi_getname() "
		      "of the peer has: its text (fi_addr_ib_ud://[GID]:QPN) or dest_addr");
}

static int read_addrs(const char *node, const char *service, uint64_t flags, struct query *q)
{
	const struct fi_info *hints = q->hints;
	int ret = node || service ? read_node(node, service, flags, q) : 0;

	if (!ret && hints && hints->addr_format == FI_ADDR_IB_UD) {
		ret = read_hint("src_addr", hints->src_addr, hints->src_addrlen, false, &q->has_src,
				&q->src);
		if (!ret)
			ret = read_hint("dest_addr", hints->dest_addr, hints->dest_addrlen, true,
					&q->has_dest, &q->dest);
	}
	return ret;
}

/* ---- ports ---------------------------------------------------------------------------------- */

/* An address of an interface that goes with the port; NULL: none. */
static const struct net_ifaddr *ip_of(const struct net_list *list, const struct vrb_port *port,
				      const uint8_t *gid)
{
	struct vrb_port behind;
	uint8_t own[16];
	size_t i;

	for (i = 0; i < list->addr_cnt; i++) {
		gid_of(&list->addr[i].addr.sa, own);
		if ((gid && memcmp(own, gid, sizeof(own))) ||
		    vrb_dev_port(net_list_iface(list, &list->addr[i])->name, &behind))
			continue;
		if (!strcmp(behind.dev, port->dev) && behind.num == port->num)
			return &list->addr[i];
	}
	return NULL;
}

static const struct net_iface *iface_of(const struct net_list *list, const struct vrb_port *port)
{
	size_t i;

	for (i = 0; i < list->iface_cnt; i++)
		if (port->iface[0] && !strcmp(list->iface[i].name, port->iface))
			return &list->iface[i];
	return NULL;
}

/* As over IP: the network that the address is in. */
static char *fabric_name(const struct net_list *list, const struct vrb_port *port,
			 const struct vrb_gid *gid)
{
	const struct net_ifaddr *ip = ip_of(list, port, gid->raw);
	char text[NET_ADDR_TEXT_MAX];
	union net_sa sa;

	if (ip)
		return strdup(net_addr_prefix_text(&ip->addr.sa, ip->prefix, text));
	net_addr_any(AF_INET6, &sa);
	memcpy(&sa.in6.sin6_addr, gid->raw, sizeof(gid->raw));
	return strdup(net_addr_prefix_text(&sa.sa, 64, text));
}

static int set_addr(void **addr_p, size_t *len_p, const struct ib_ud *ud)
{
	*addr_p = malloc(sizeof(*ud));
	if (!*addr_p)
		return -FI_ENOMEM;
	memcpy(*addr_p, ud, sizeof(*ud));
	*len_p = sizeof(*ud);
	return 0;
}

static struct fi_info *offer_new(struct query *q, const struct vrb_port *port,
				 const struct vrb_gid *gid)
{
	struct fi_info *offer = fi_dupinfo(&vrb_offer_dgram);
	struct ib_ud name;

	if (!offer)
		return NULL;
	vrb_info_narrow(offer, port);
	vrb_ud_name(port, gid, &name);
	if (q->has_src)
		name.service = q->src.service;
	offer->caps |= FI_SOURCE_ERR;
	offer->rx_attr->caps |= FI_SOURCE_ERR;
	offer->domain_attr->max_err_data = sizeof(name);
	offer->addr_format = FI_ADDR_IB_UD;
	offer->domain_attr->name = strdup(port->dev);
	offer->fabric_attr->name = fabric_name(&q->list, port, gid);
	if (!offer->domain_attr->name || !offer->fabric_attr->name ||
	    set_addr(&offer->src_addr, &offer->src_addrlen, &name) ||
	    (q->has_dest && set_addr(&offer->dest_addr, &offer->dest_addrlen, &q->dest))) {
		fi_freeinfo(offer);
		return NULL;
	}
	return offer;
}

static int try_port(struct query *q, const struct vrb_port *port, const struct vrb_gid *gid)
{
	struct fi_info *offer = offer_new(q, port, gid), *info;
	struct obj_label label = { .domain = port->dev };
	char text[IB_ADDR_TEXT_MAX];
	int ret;

	if (!offer)
		return -FI_ENOMEM;
	label.addr = ib_ud_text(offer->src_addr, text);
	ret = obj_check_info(&vrb_prov, offer, &vrb_limits, q->hints, q->version, &label, &info);
	fi_freeinfo(offer);
	if (ret)
		return ret == -FI_ENODATA ? 0 : ret;
	ret = vrb_dev_port_nic(port, iface_of(&q->list, port), &info->nic);
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	*q->tail = info;
	q->tail = &info->next;
	return 0;
}

/* The address that the port is to be called by, if it may be this one. */
static bool fits(const struct query *q, const struct vrb_port *port, struct vrb_gid *gid_p)
{
	if (port->iwarp)
		return false;
	if (q->has_src && !q->any_gid)
		return !vrb_gid_find(port, q->src.gid, gid_p);
	return !vrb_gid_pick(port, q->has_dest ? q->dest.gid : NULL, gid_p);
}

/* Why connections are not offered there as well. */
static void explain_msg(const struct query *q, const struct vrb_port *port)
{
	const struct fi_ep_attr *ep = q->hints ? q->hints->ep_attr : NULL;
	struct obj_label label = { .domain = port->dev };

	if (!port->infiniband && (!ep || ep->type == FI_EP_UNSPEC || ep->type == FI_EP_MSG))
		obj_explain(&vrb_prov, &label, "FI_EP_MSG", "src_addr", "an IP address",
			    "no IP address at this port, and connections over Ethernet need one: "
			    "give its interface one, or use FI_EP_DGRAM");
}

static int try_ports(struct query *q, bool all)
{
	struct vrb_port ports[VRB_PORT_MAX];
	unsigned i, cnt = vrb_dev_ports(ports, VRB_PORT_MAX);
	struct vrb_gid gid;
	int ret = 0;

	for (i = 0; !ret && i < cnt; i++) {
		if (!all && ip_of(&q->list, &ports[i], NULL))
			continue;
		if (!all)
			explain_msg(q, &ports[i]);
		if (fits(q, &ports[i], &gid))
			ret = try_port(q, &ports[i], &gid);
	}
	if (!ret && !q->head && all)
		return refuse("src_addr", "FI_ADDR_IB_UD", "no port with that address and datagrams");
	return ret;
}

/* Is the call about addresses of another kind? */
static bool about_others(const char *node, const char *service, const struct fi_info *hints)
{
	return node || service ||
	       (hints && (hints->addr_format || hints->src_addr || hints->dest_addr));
}

int vrb_ud_getinfo(bool all, uint32_t version, const char *node, const char *service,
		   uint64_t flags, const struct fi_info *hints, struct fi_info **info_p)
{
	struct query q = { .version = version, .hints = hints };
	int ret;

	if (!all && about_others(node, service, hints))
		return -FI_ENODATA;
	q.tail = &q.head;
	ret = read_addrs(node, service, flags, &q);
	if (!ret)
		ret = net_list_recent(&q.list);
	if (ret)
		return ret;
	ret = try_ports(&q, all);
	net_list_free(&q.list);
	if (!ret && !q.head)
		ret = -FI_ENODATA;
	if (ret)
		fi_freeinfo(q.head);
	else
		*info_p = q.head;
	return ret;
}
