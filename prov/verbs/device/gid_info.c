/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The offers of fi_getinfo() at the GIDs of ports, with or without an IP address: datagram
 * endpoints that are named by their queue pair (FI_ADDR_IB_UD), and on InfiniBand connected
 * endpoints (FI_SOCKADDR_IB).
 */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "info/getinfo.h"
#include "net/resolve.h"
#include "verbs/provider.h"
#include "verbs/info.h"
#include "verbs/name.h"
#include "verbs/sa.h"
#include "verbs/ud.h"

union addr {
	struct ib_ud ud;
	struct ib_sa sa;
};

/* What differs between the two kinds. */
struct kind {
	uint32_t format;
	const char *ep_type, *intro, *form;
	size_t len, gid_at;
	const struct fi_info *offer, *lesser;	/* @lesser is offered when @offer is refused; or NULL */
	uint64_t more_caps;		/* capabilities that the offer at IP addresses lacks */
	const char *(*wrong)(const void *addr, size_t len);
	int (*parse)(const char *text, union addr *addr);
	char *(*text)(const void *addr, char *buf);
	/* The local address at this GID of a port, with a port number or 0. */
	void (*name)(const struct vrb_port *port, const struct vrb_gid *gid, uint16_t service,
		     union addr *addr);
	uint16_t (*service)(const union addr *addr);
};

/* The arguments of one fi_getinfo() call, decoded. */
struct query {
	const struct kind *kind;
	const struct fi_info *offer;
	uint32_t version;
	const struct fi_info *hints;
	struct net_list list;
	bool has_src, has_dest;		/* given as address */
	union addr src, dest;
	uint16_t service;		/* local port number, host byte order */
	bool at_ip;			/* only at the port with the IP address: */
	union net_sa ip;
	struct fi_info *head, **tail;
};

/* ---- the two kinds -------------------------------------------------------------- */

static int ud_parse(const char *text, union addr *addr)
{
	return ib_ud_parse(text, &addr->ud);
}

static void ud_name(const struct vrb_port *port, const struct vrb_gid *gid, uint16_t service,
		    union addr *addr)
{
	vrb_ud_name(port, gid, &addr->ud);
	addr->ud.service = htons(service);
}

static uint16_t ud_service(const union addr *addr)
{
	return ntohs(addr->ud.service);
}

static int sa_parse(const char *text, union addr *addr)
{
	return ib_sa_parse(text, &addr->sa);
}

static void sa_name(const struct vrb_port *port, const struct vrb_gid *gid, uint16_t service,
		    union addr *addr)
{
	struct ib_ud ud;

	vrb_ud_name(port, gid, &ud);
	addr->sa = (struct ib_sa) {
		.family = IB_SA_FAMILY, .pkey = ud.pkey,
		.sid = htobe64(IB_SID_TCP | service), .sid_mask = UINT64_MAX,
	};
	memcpy(addr->sa.gid, gid->raw, sizeof(addr->sa.gid));
}

static uint16_t sa_service(const union addr *addr)
{
	return vrb_sa_port((const struct sockaddr *) &addr->sa);
}

static const struct kind kinds[] = {
	[VRB_GID_UD] = {
		FI_ADDR_IB_UD, "FI_EP_DGRAM", "fi_addr_ib_ud://", "[GID]:QPN/QKEY/LID/SL/PKEY",
		sizeof(struct ib_ud), offsetof(struct ib_ud, gid), &vrb_offer_dgram, NULL, FI_SOURCE_ERR,
		ib_ud_wrong, ud_parse, ib_ud_text, ud_name, ud_service,
	},
	[VRB_GID_SA] = {
		FI_SOCKADDR_IB, "FI_EP_MSG", "fi_sockaddr_ib://", "[GID]:PORT/PKEY",
		sizeof(struct ib_sa), offsetof(struct ib_sa, gid), &vrb_offer_msg, &vrb_offer_send, 0,
		ib_sa_wrong, sa_parse, ib_sa_text, sa_name, sa_service,
	},
};

static uint8_t *gid_in(const struct query *q, union addr *addr)
{
	return (uint8_t *) addr + q->kind->gid_at;
}

/* ---- ports and IP addresses ----------------------------------------------------- */

/* The GID of an IP address on RoCE. */
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

static bool is_behind(const struct net_list *list, const struct net_ifaddr *addr,
		      const struct vrb_port *port)
{
	struct vrb_port behind;

	return !vrb_dev_port(net_list_iface(list, addr)->name, &behind) &&
	       !strcmp(behind.dev, port->dev) && behind.num == port->num;
}

/* An address of an interface of the port: @sa, or any if that is NULL. */
static const struct net_ifaddr *ip_of(const struct net_list *list, const struct vrb_port *port,
				      const struct sockaddr *sa)
{
	size_t i;

	for (i = 0; i < list->addr_cnt; i++)
		if ((!sa || net_addr_same_host(&list->addr[i].addr.sa, sa)) &&
		    is_behind(list, &list->addr[i], port))
			return &list->addr[i];
	return NULL;
}

static const struct net_ifaddr *ip_of_gid(const struct net_list *list, const struct vrb_port *port,
					  const uint8_t *gid)
{
	uint8_t own[16];
	size_t i;

	for (i = 0; i < list->addr_cnt; i++) {
		gid_of(&list->addr[i].addr.sa, own);
		if (!memcmp(own, gid, sizeof(own)) && is_behind(list, &list->addr[i], port))
			return &list->addr[i];
	}
	return NULL;
}

int vrb_gid_ip(const struct vrb_port *port, const uint8_t *gid, union net_sa *sa_p)
{
	const struct net_ifaddr *ip;
	struct net_list list;
	int ret = net_list_recent(&list);

	if (ret)
		return ret;
	ip = port->infiniband ? ip_of(&list, port, NULL) : ip_of_gid(&list, port, gid);
	if (ip)
		*sa_p = ip->addr;
	net_list_free(&list);
	return ip ? 0 : -FI_EADDRNOTAVAIL;
}

/* ---- the call's addresses ------------------------------------------------------- */

static int query_refuse(const struct query *q, const char *attr, const char *wanted, const char *offered)
{
	explain_refusal(&vrb_prov, NULL, q->kind->ep_type, attr, wanted, offered);
	return -FI_ENODATA;
}

/* Of a local address only the GID matters; that of a peer is complete. */
static int take_addr(struct query *q, const char *text, const union addr *addr, bool own)
{
	union addr *to = own ? &q->src : &q->dest;
	const char *why;

	*to = *addr;
	why = own ? ib_gid_wrong(gid_in(q, to)) : q->kind->wrong(to, q->kind->len);
	if (why)
		return query_refuse(q, own ? "src_addr" : "dest_addr", text, why);
	*(own ? &q->has_src : &q->has_dest) = true;
	if (own)
		q->service = q->kind->service(to);
	return 0;
}

static int read_hint(struct query *q, const void *addr, size_t len, bool own)
{
	union addr copy;

	if (!addr || !len || (own ? q->has_src : q->has_dest))
		return 0;
	if (len < q->kind->len)
		return query_refuse(q, own ? "src_addr" : "dest_addr", "too few bytes", q->kind->intro);
	memcpy(&copy, addr, q->kind->len);
	return take_addr(q, "that of the hints", &copy, own);
}

/* The node is a local IP address: use the port behind it. */
static int read_own(const char *node, const char *service, uint64_t flags, struct query *q)
{
	struct net_addrs addrs;
	int ret = net_addr_resolve(node, service, flags & FI_NUMERICHOST ? NET_RESOLVE_NUMERIC : 0,
				   AF_UNSPEC, SOCK_DGRAM, &addrs);

	if (ret)
		return ret == -FI_ENODATA ? query_refuse(q, "src_addr", node, "no such address") : ret;
	q->ip = addrs.addr[0];
	q->at_ip = !net_addr_is_any(&q->ip.sa);
	q->service = net_addr_port(&q->ip.sa);
	net_addrs_free(&addrs);
	return 0;
}

/* The port of the route to @to, else the first port with an address of its family. */
static int begin_at(const struct net_list *list, const struct sockaddr *to, union net_sa *from,
		    struct vrb_port *port)
{
	const struct net_ifaddr *ip = NULL;
	size_t i;

	if (!net_sock_source(to, from))
		ip = net_list_find(list, &from->sa);
	if (ip && !vrb_dev_port(net_list_iface(list, ip)->name, port) && !port->iwarp)
		return 0;
	for (i = 0; i < list->addr_cnt; i++) {
		ip = &list->addr[i];
		if (ip->addr.sa.sa_family != to->sa_family ||
		    vrb_dev_port(net_list_iface(list, ip)->name, port) || port->iwarp)
			continue;
		*from = ip->addr;
		return 0;
	}
	return -FI_ENODATA;
}

/* Query the queue pair behind an IP address and port; ten seconds at most. */
static int ask_peer(const struct sockaddr *to, struct query *q)
{
	struct rdma_ud_param found;
	char text[NET_ADDR_TEXT_MAX];
	struct vrb_port port;
	struct vrb_gid gid;
	union net_sa from;
	union addr addr;

	net_addr_text(to, text);
	if (begin_at(&q->list, to, &from, &port) || vrb_gid_pick(&port, NULL, &gid))
		return query_refuse(q, "dest_addr", text, "no port of this host has an IP address to query from");
	if (vrb_name_resolve(&from.sa, to, &found))
		return query_refuse(q, "dest_addr", text, "no answer from a datagram endpoint");
	if (found.ah_attr.is_global)
		memcpy(gid.raw, &found.ah_attr.grh.dgid, sizeof(gid.raw));
	else		/* within the InfiniBand subnet, where the LID names the port */
		memset(gid.raw + 8, 0, 8);
	vrb_ud_name(&port, &gid, &addr.ud);
	addr.ud.qpn = htonl(found.qp_num);
	addr.ud.qkey = htonl(found.qkey);
	addr.ud.lid = htons(found.ah_attr.dlid);
	addr.ud.sl = found.ah_attr.sl;
	return take_addr(q, text, &addr, false);
}

static int read_peer(const char *node, const char *service, uint64_t flags, struct query *q)
{
	struct net_addrs addrs;
	int ret;

	if (q->kind->format != FI_ADDR_IB_UD || !node || !service)
		return query_refuse(q, "dest_addr", node ? node : "-", "an address of this format, which "
				    "fi_getname() of the peer has: as text, or as dest_addr");
	ret = net_addr_resolve(node, service, flags & FI_NUMERICHOST ? NET_RESOLVE_NUMERIC : 0,
			       AF_UNSPEC, SOCK_DGRAM, &addrs);
	if (ret)
		return ret == -FI_ENODATA ? query_refuse(q, "dest_addr", node, "no such address") : ret;
	ret = ask_peer(&addrs.addr[0].sa, q);
	net_addrs_free(&addrs);
	return ret;
}

static int read_node(const char *node, const char *service, uint64_t flags, struct query *q)
{
	bool own = flags & FI_SOURCE;
	union addr addr;
	int ret = node ? q->kind->parse(node, &addr) : -FI_ENODATA;

	if (!ret && service)
		ret = -FI_EINVAL;
	if (ret == -FI_EINVAL) {
		VRB_WARN(FI_LOG_CORE, "'%s' is not an address in string form, or was given with a "
			 "service; expected: %s%s without a service\n", node, q->kind->intro,
			 q->kind->form);
		return ret;
	}
	if (!ret)
		return take_addr(q, node, &addr, own);
	return own ? read_own(node, service, flags, q) : read_peer(node, service, flags, q);
}

static int read_addrs(const char *node, const char *service, uint64_t flags, struct query *q)
{
	const struct fi_info *hints = q->hints;
	int ret = node || service ? read_node(node, service, flags, q) : 0;

	if (!ret && hints && hints->addr_format == q->kind->format) {
		if (!(flags & FI_SOURCE))
			ret = read_hint(q, hints->src_addr, hints->src_addrlen, true);
		if (!ret)
			ret = read_hint(q, hints->dest_addr, hints->dest_addrlen, false);
	}
	return ret;
}

/* ---- offers --------------------------------------------------------------------- */

static const struct net_iface *iface_of(const struct net_list *list, const struct vrb_port *port)
{
	size_t i;

	for (i = 0; i < list->iface_cnt; i++)
		if (port->iface[0] && !strcmp(list->iface[i].name, port->iface))
			return &list->iface[i];
	return NULL;
}

/* The fabric is named after the network prefix, as over IP. */
static char *fabric_name(const struct net_list *list, const struct vrb_port *port,
			 const struct vrb_gid *gid)
{
	const struct net_ifaddr *ip = ip_of_gid(list, port, gid->raw);
	char text[NET_ADDR_TEXT_MAX];
	union net_sa sa;

	if (ip)
		return strdup(net_addr_prefix_text(&ip->addr.sa, ip->prefix, text));
	net_addr_any(AF_INET6, &sa);
	memcpy(&sa.in6.sin6_addr, gid->raw, sizeof(gid->raw));
	return strdup(net_addr_prefix_text(&sa.sa, 64, text));
}

static int set_addr(const struct query *q, void **addr_p, size_t *len_p, const union addr *addr)
{
	*addr_p = malloc(q->kind->len);
	if (!*addr_p)
		return -FI_ENOMEM;
	memcpy(*addr_p, addr, q->kind->len);
	*len_p = q->kind->len;
	return 0;
}

static struct fi_info *offer_new(struct query *q, const struct vrb_port *port,
				 const struct vrb_gid *gid)
{
	struct fi_info *offer = fi_dupinfo(q->offer);
	union addr name;

	if (!offer)
		return NULL;
	vrb_info_narrow(offer, port);
	q->kind->name(port, gid, q->service, &name);
	offer->caps |= q->kind->more_caps;
	offer->rx_attr->caps |= q->kind->more_caps;
	if (q->kind->more_caps)
		offer->domain_attr->max_err_data = q->kind->len;
	offer->addr_format = q->kind->format;
	offer->domain_attr->name = strdup(port->dev);
	offer->fabric_attr->name = fabric_name(&q->list, port, gid);
	if (!offer->domain_attr->name || !offer->fabric_attr->name ||
	    set_addr(q, &offer->src_addr, &offer->src_addrlen, &name) ||
	    (q->has_dest && set_addr(q, &offer->dest_addr, &offer->dest_addrlen, &q->dest))) {
		fi_freeinfo(offer);
		return NULL;
	}
	return offer;
}

static int try_port(struct query *q, const struct vrb_port *port, const struct vrb_gid *gid)
{
	struct fi_info *offer = offer_new(q, port, gid), *info;
	struct explain_label label = { .domain = port->dev };
	char text[IB_ADDR_TEXT_MAX];
	int ret;

	if (!offer)
		return -FI_ENOMEM;
	label.addr = q->kind->text(offer->src_addr, text);
	ret = info_check(&vrb_prov, offer, &vrb_limits, q->hints, q->version, &label, &info);
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

/* The local address to offer at this port, if it matches the call. */
static bool port_fits(struct query *q, const struct vrb_port *port, struct vrb_gid *gid_p)
{
	uint8_t gid[16];

	if (port->iwarp || (q->kind->format == FI_SOCKADDR_IB && !port->infiniband))
		return false;
	if (q->has_src)
		return !vrb_gid_find(port, gid_in(q, &q->src), gid_p);
	if (q->at_ip && !port->infiniband) {
		gid_of(&q->ip.sa, gid);
		return !vrb_gid_find(port, gid, gid_p);
	}
	if (q->at_ip && !ip_of(&q->list, port, &q->ip.sa))
		return false;
	return !vrb_gid_pick(port, q->has_dest ? gid_in(q, &q->dest) : NULL, gid_p);
}

/* Log why connected endpoints are not offered there. */
static void explain_msg(const struct query *q, const struct vrb_port *port)
{
	const struct fi_ep_attr *ep = q->hints ? q->hints->ep_attr : NULL;
	struct explain_label label = { .domain = port->dev };

	if (q->kind->format == FI_SOCKADDR_IB && !port->infiniband &&
	    (!ep || ep->type == FI_EP_UNSPEC || ep->type == FI_EP_MSG))
		explain_refusal(&vrb_prov, &label, "FI_EP_MSG", "src_addr", "an IP address",
			    "no IP address at this port, and connections over Ethernet need one: "
			    "give its interface one, or use FI_EP_DGRAM");
}

/* A port that is down is offered only if its device is named. */
static bool is_usable(const struct query *q, const struct vrb_port *port)
{
	struct explain_label label = { .domain = port->dev };
	char text[32];

	if ((q->hints && q->hints->domain_attr && q->hints->domain_attr->name) ||
	    !vrb_dev_text(port, "state", text, sizeof(text)) || strstr(text, "ACTIVE"))
		return true;
	explain_refusal(&vrb_prov, &label, q->kind->ep_type, "domain_attr->name", "-",
		    "this device by its name: the port has no IP address, and is down");
	return false;
}

static int try_ports(struct query *q, const struct fi_info *offer, bool all)
{
	struct vrb_port ports[VRB_PORT_MAX];
	unsigned i, cnt = vrb_dev_ports(ports, VRB_PORT_MAX);
	struct vrb_gid gid;
	int ret = 0;

	q->offer = offer;
	for (i = 0; !ret && i < cnt; i++) {
		if (!all && (ip_of(&q->list, &ports[i], NULL) || !is_usable(q, &ports[i])))
			continue;
		if (!all && offer == q->kind->offer)
			explain_msg(q, &ports[i]);
		if (port_fits(q, &ports[i], &gid))
			ret = try_port(q, &ports[i], &gid);
	}
	if (!ret && !q->head && all)
		return query_refuse(q, "src_addr", q->kind->intro, q->kind->format == FI_SOCKADDR_IB ?
				    "no InfiniBand port with that address" :
				    "no port with that address and datagrams");
	return ret;
}

/* Does the call ask for addresses of another kind? */
static bool about_others(const struct kind *kind, const char *node, const char *service,
			 const struct fi_info *hints)
{
	uint32_t format = hints ? hints->addr_format : FI_FORMAT_UNSPEC;

	return node || service || (hints && (hints->src_addr || hints->dest_addr)) ||
	       !(format == FI_FORMAT_UNSPEC ||
		 (format == FI_SOCKADDR && kind->format == FI_SOCKADDR_IB));
}

bool vrb_gid_wanted(enum vrb_gid_kind which, const char *node, const struct fi_info *hints)
{
	const struct kind *kind = &kinds[which];

	return (hints && hints->addr_format == kind->format) ||
	       (node && !strncmp(node, kind->intro, strlen(kind->intro)));
}

int vrb_gid_getinfo(enum vrb_gid_kind which, bool all, uint32_t version, const char *node,
		    const char *service, uint64_t flags, const struct fi_info *hints,
		    struct fi_info **info_p)
{
	struct query q = { .kind = &kinds[which], .version = version, .hints = hints };
	int ret;

	if (!all && about_others(q.kind, node, service, hints))
		return -FI_ENODATA;
	q.tail = &q.head;
	ret = net_list_recent(&q.list);
	if (ret)
		return ret;
	ret = read_addrs(node, service, flags, &q);
	if (!ret)
		ret = try_ports(&q, q.kind->offer, all);
	if ((!ret || ret == -FI_ENODATA) && !q.head && hints && q.kind->lesser && q.offer)
		ret = try_ports(&q, q.kind->lesser, all);
	net_list_free(&q.list);
	if (!ret && !q.head)
		ret = -FI_ENODATA;
	if (ret)
		fi_freeinfo(q.head);
	else
		*info_p = q.head;
	return ret;
}
