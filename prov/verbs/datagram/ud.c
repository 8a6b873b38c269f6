/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ud.c - names of datagram endpoints by queue pair (FI_ADDR_IB_UD): the GID of a port, the queue
 * pair itself, and address handles of peers.
 */
#include "verbs/ud.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/tclass.h"
#include "verbs/dgram.h"

#define HOPS 64
#define GID_TEXT 64

/* ---- addresses of a port -------------------------------------------------------- */

/* In the order of preference: the address that is reachable from further away comes last. */
enum kind { KIND_LOCAL, KIND_OTHER, KIND_IP4 };

static enum kind kind_of(const uint8_t *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

	if (gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80)
		return KIND_LOCAL;
	return memcmp(gid, mapped, sizeof(mapped)) ? KIND_OTHER : KIND_IP4;
}

/* Returns whether the entry is in use. */
static bool read_gid(const struct vrb_port *port, unsigned i, struct vrb_gid *gid, bool *routed)
{
	char what[32], text[GID_TEXT];

	snprintf(what, sizeof(what), "gids/%u", i);
	if (!vrb_dev_text(port, what, text, sizeof(text)) ||
	    inet_pton(AF_INET6, text, gid->raw) != 1 || ib_gid_wrong(gid->raw))
		return false;
	gid->index = i;
	snprintf(what, sizeof(what), "gid_attrs/types/%u", i);
	*routed = vrb_dev_text(port, what, text, sizeof(text)) && !strcmp(text, "RoCE v2");
	return true;
}

static bool any_kind(const uint8_t *gid, const void *arg)
{
	return true;
}

static bool same_kind(const uint8_t *gid, const void *arg)
{
	return kind_of(gid) == kind_of(arg);
}

static bool same_gid(const uint8_t *gid, const void *arg)
{
	return !memcmp(gid, arg, 16);
}

/* RoCE version 2 is routed and preferred; then the kind decides. */
static int gid_rank(const struct vrb_port *port, const struct vrb_gid *gid, bool routed)
{
	return 1 + (port->infiniband ? 0 : (routed ? 4 : 0) + (int) kind_of(gid->raw));
}

/* The best entry among those that @fits; of equal ones the first. */
static int best_gid(const struct vrb_port *port, bool (*fits)(const uint8_t *gid, const void *arg),
		    const void *arg, struct vrb_gid *gid_p)
{
	struct vrb_gid gid;
	unsigned i, gap = 0;
	int best = 0, r;
	bool routed;

	for (i = 0; gap < VRB_GID_GAP; i++) {
		if (!read_gid(port, i, &gid, &routed)) {
			gap++;
			continue;
		}
		gap = 0;
		r = fits(gid.raw, arg) ? gid_rank(port, &gid, routed) : 0;
		if (fits == any_kind && vrb_conf.gid_idx >= 0 && i != (unsigned) vrb_conf.gid_idx)
			r = 0;
		if (r > best) {
			best = r;
			*gid_p = gid;
		}
	}
	return best ? 0 : -FI_EADDRNOTAVAIL;
}

int vrb_gid_pick(const struct vrb_port *port, const uint8_t *to, struct vrb_gid *gid_p)
{
	/* RoCE packets are IP packets: both ends need addresses of one kind. */
	return best_gid(port, to && !port->infiniband ? same_kind : any_kind, to, gid_p);
}

int vrb_gid_find(const struct vrb_port *port, const uint8_t *gid, struct vrb_gid *gid_p)
{
	return best_gid(port, same_gid, gid, gid_p);
}

static unsigned port_number(const struct vrb_port *port, const char *what, unsigned otherwise)
{
	char text[GID_TEXT];

	return vrb_dev_text(port, what, text, sizeof(text)) ? (unsigned) strtoul(text, NULL, 0) :
							      otherwise;
}

void vrb_ud_name(const struct vrb_port *port, const struct vrb_gid *gid, struct ib_ud *name_p)
{
	*name_p = (struct ib_ud) {
		.qkey = htonl(IB_UD_QKEY),
		.lid = port->infiniband ? htons((uint16_t) port_number(port, "lid", 0)) : 0,
		.pkey = htons((uint16_t) port_number(port, "pkeys/0", IB_PKEY)),
	};
	memcpy(name_p->gid, gid->raw, sizeof(name_p->gid));
}

/* ---- endpoints ------------------------------------------------------------------ */

/* The port of a device that has this GID; any port if it is NULL. */
static int find_port(const char *dev, const uint8_t *gid, struct vrb_ud *ud)
{
	struct vrb_port ports[VRB_PORT_MAX];
	unsigned i, cnt = vrb_dev_ports(ports, VRB_PORT_MAX);

	for (i = 0; i < cnt; i++) {
		if (strcmp(ports[i].dev, dev) || ports[i].iwarp)
			continue;
		if (gid ? vrb_gid_find(&ports[i], gid, &ud->gid) :
			  vrb_gid_pick(&ports[i], NULL, &ud->gid))
			continue;
		ud->port = ports[i];
		return 0;
	}
	return -FI_EADDRNOTAVAIL;
}

int vrb_ud_open(struct vrb_ep *ep, struct vrb_ud **ud_p)
{
	const struct obj_domain *domain = ep->base.domain;
	const struct fi_info *info = ep->base.info->src_addr ? ep->base.info : domain->info;
	struct ib_ud asked = { .qpn = 0 };
	char text[IB_ADDR_TEXT_MAX];
	struct vrb_ud *ud;
	bool given;

	*ud_p = NULL;
	if (domain->addr_format != FI_ADDR_IB_UD)
		return 0;
	ud = calloc(1, sizeof(*ud));
	if (!ud)
		return -FI_ENOMEM;
	given = info->src_addr && info->src_addrlen >= sizeof(asked);
	if (given)
		memcpy(&asked, info->src_addr, sizeof(asked));
	if (find_port(domain->attr->name, given ? asked.gid : NULL, ud)) {
		VRB_WARN(FI_LOG_EP_CTRL, "no port of device %s has the address %s\n",
			 domain->attr->name, given ? ib_ud_text(&asked, text) : "(none)");
		free(ud);
		return -FI_EADDRNOTAVAIL;
	}
	vrb_ud_name(&ud->port, &ud->gid, &ud->name);
	ud->name.service = asked.service;
	ud->name.sl = asked.sl & 15;
	if (given && asked.qkey)
		ud->name.qkey = asked.qkey;
	ud->source_err = ep->base.caps & FI_SOURCE_ERR;
	*ud_p = ud;
	return 0;
}

/* INIT, RTR, RTS: the order of the InfiniBand specification (10.3.1). */
static int ud_to_rts(struct vrb_ep *ep, const struct vrb_ud *ud, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = (uint8_t) ud->port.num,
		.qkey = ntohl(ud->name.qkey),
	};
	int ret = vrb_ibv.modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						      IBV_QP_QKEY);

	attr.qp_state = IBV_QPS_RTR;
	if (!ret)
		ret = vrb_ibv.modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!ret)
		ret = vrb_ibv.modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return ret;
}

int vrb_ud_qp(struct vrb_ep *ep, struct vrb_ud *ud, struct ibv_qp_init_attr_ex *attr,
	      struct ibv_qp **qp_p)
{
	struct ibv_port_attr port = { .lid = 0 };
	struct ibv_qp *qp;
	int ret = vrb_qp_create(ep, attr, &qp);

	if (ret)
		return ret;
	ret = ud_to_rts(ep, ud, qp);
	if (ret) {
		vrb_ibv.destroy_qp(qp);
		return ret;
	}
	/* The exported function fills in the old part of the structure. */
	if (ud->port.infiniband && !vrb_ibv.query_port(ep->domain->ctx, (uint8_t) ud->port.num,
							(void *) &port))
		ud->name.lid = htons(port.lid);
	ud->name.qpn = htonl(qp->qp_num);
	*qp_p = qp;
	return 0;
}

/* ---- peers ---------------------------------------------------------------------- */

/* Within an InfiniBand subnet packets need the LID only. */
static bool is_global(const struct vrb_ud *ud, const struct ib_ud *to)
{
	return !ud->port.infiniband || !to->lid || memcmp(ud->gid.raw, to->gid, 8);
}

/* The index of our own GID if it is of the peer's kind, else of another GID of the port. */
static int source_gid(const struct vrb_ud *ud, const struct ib_ud *to, unsigned *index_p)
{
	struct vrb_gid gid = ud->gid;
	int ret = 0;

	if (!ud->port.infiniband && !same_kind(ud->gid.raw, to->gid))
		ret = vrb_gid_pick(&ud->port, to->gid, &gid);
	*index_p = gid.index;
	return ret;
}

int vrb_ud_ah(struct vrb_ep *ep, const struct vrb_ud *ud, const struct ib_ud *to,
	       struct ibv_ah **ah_p)
{
	struct ibv_ah_attr attr = {
		.dlid = ntohs(to->lid), .sl = to->sl, .port_num = (uint8_t) ud->port.num,
		.is_global = is_global(ud, to),
	};
	char text[IB_ADDR_TEXT_MAX];
	const char *why = NULL;
	unsigned index;

	if ((ntohs(to->pkey) ^ ntohs(ud->name.pkey)) & 0x7fff)
		why = "it is in another partition";
	else if (attr.is_global && source_gid(ud, to, &index))
		why = "this port has no GID of its kind (IPv4, link-local or other)";
	if (why) {
		VRB_WARN(FI_LOG_EP_DATA, "cannot reach %s: %s\n", ib_ud_text(to, text), why);
		return -FI_EHOSTUNREACH;
	}
	if (attr.is_global) {
		memcpy(&attr.grh.dgid, to->gid, sizeof(attr.grh.dgid));
		attr.grh.sgid_index = (uint8_t) index;
		attr.grh.hop_limit = HOPS;
		attr.grh.traffic_class = net_tclass_octet(net_tclass_of(ep->base.info));
	}
	errno = 0;
	*ah_p = vrb_ibv.create_ah(ep->domain->pd, &attr);
	if (*ah_p)
		return 0;
	VRB_WARN(FI_LOG_EP_DATA, "cannot reach %s: the device reports %s\n", ib_ud_text(to, text),
		 fi_strerror(errno));
	return errno ? -errno : -FI_EHOSTUNREACH;
}

void vrb_ud_to_qp_addr(const struct vrb_ud *ud, const struct ib_ud *addr, struct vrb_qp_addr *at_p)
{
	*at_p = (struct vrb_qp_addr) { .qpn = ntohl(addr->qpn) };
	if (is_global(ud, addr))
		memcpy(at_p->gid, addr->gid, sizeof(at_p->gid));
	else
		at_p->lid = ntohs(addr->lid);
}

void vrb_ud_from_qp_addr(const struct vrb_ud *ud, const struct vrb_qp_addr *at, struct ib_ud *addr_p)
{
	*addr_p = (struct ib_ud) {
		.qpn = htonl(at->qpn), .qkey = ud->name.qkey, .lid = htons(at->lid),
		.pkey = ud->name.pkey,
	};
	if (at->lid)		/* within the subnet, where the LID names the port */
		memcpy(addr_p->gid, ud->gid.raw, 8);
	else
		memcpy(addr_p->gid, at->gid, sizeof(addr_p->gid));
}
