/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Multicast groups.  The datagrams of a group arrive on a separate socket that is bound to the
 * group's address: so a group has a port, several endpoints of a host can join it, and closing
 * the socket leaves it.  Sends use the endpoint's socket, so their source is the endpoint's
 * address.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/providers/fi_log.h>

#include "ep.h"

/* ---- addresses of groups --------------------------------------------------- */

/* The slot in the low half, a sequence number above it: a reused slot has a new address. */
static fi_addr_t mc_name(struct udp_ep *ep, unsigned slot)
{
	return UDP_MC_BIT | (uint64_t) (ep->group_seq++ & 0x3fffffff) << 32 | slot;
}

static int mc_enter(struct udp_ep *ep, struct udp_mc *mc)
{
	struct udp_mc **groups;
	unsigned i;

	for (i = 0; i < ep->group_cnt; i++)
		if (!ep->groups[i])
			break;
	if (i == ep->group_cnt) {
		groups = realloc(ep->groups, (i + 1) * sizeof(*groups));
		if (!groups)
			return -FI_ENOMEM;
		ep->groups = groups;
		ep->group_cnt++;
	}
	ep->groups[i] = mc;
	mc->slot = i;
	mc->fid.fi_addr = mc_name(ep, i);
	return 0;
}

int udp_mc_dest(struct udp_ep *ep, fi_addr_t addr, void *to, size_t *len)
{
	uint32_t slot = (uint32_t) addr;
	struct udp_mc *mc = slot < ep->group_cnt ? ep->groups[slot] : NULL;

	if (!mc || mc->fid.fi_addr != addr || !mc->send)
		return -FI_EINVAL;
	*len = net_addr_len(&mc->addr.sa);
	memcpy(to, &mc->addr, *len);
	return 0;
}

/* ---- the sockets of groups ------------------------------------------------- */

/* Joins the group on the endpoint's interface; with index 0 the system chooses one. */
static int mc_member(struct udp_mc *mc, int fd)
{
	struct ip_mreqn v4 = { .imr_ifindex = (int) mc->ep->ifindex };
	struct ipv6_mreq v6 = { .ipv6mr_interface = mc->ep->ifindex };

	if (mc->addr.sa.sa_family == AF_INET) {
		v4.imr_multiaddr = mc->addr.in.sin_addr;
		return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &v4, sizeof(v4)) ? -errno : 0;
	}
	v6.ipv6mr_multiaddr = mc->addr.in6.sin6_addr;
	return setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &v6, sizeof(v6)) ? -errno : 0;
}

/* The endpoint's own socket may be bound to the same port, so the bind allows sharing. */
static int mc_listen(struct udp_mc *mc)
{
	size_t none = 0, rcvbuf = UDP_RCVBUF;
	int fd, ret;

	ret = net_sock_open(mc->addr.sa.sa_family, SOCK_DGRAM, &fd);
	if (ret)
		return ret;
	net_sock_buffers(fd, &none, &rcvbuf);
	udp_mc_only_joined(fd, mc->addr.sa.sa_family);
	ret = udp_sock_bind_shared(mc->ep, fd, &mc->addr);
	if (!ret)
		ret = mc_member(mc, fd);
	if (ret) {
		close(fd);
		return ret;
	}
	mc->sock.fd = fd;
	return 0;
}

void udp_mc_only_joined(int fd, int family)
{
	int off = 0;

	if (family == AF_INET)
		setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof(off));
	else
		setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, &off, sizeof(off));
}

void udp_mc_set_iface(int fd, int family, unsigned ifindex)
{
	struct ip_mreqn v4 = { .imr_ifindex = (int) ifindex };

	if (family == AF_INET)
		setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &v4, sizeof(v4));
	else
		setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &ifindex, sizeof(ifindex));
}

/* ---- joining and leaving --------------------------------------------------- */

/* The socket is closed outside the lock: once removed from the poller, it has no users. */
static int mc_close(struct fid *fid)
{
	struct udp_mc *mc = container_of(fid, struct udp_mc, fid.fid);
	struct udp_ep *ep = mc->ep;

	if (obj_inherited(&ep->base.refs))
		return 0;
	lock_get(&ep->base.prog->lock);
	ep->groups[mc->slot] = NULL;
	if (mc->sock.fd >= 0)
		udp_poller_del(ep->poller, &mc->sock);
	lock_put(&ep->base.prog->lock);
	if (mc->sock.fd >= 0)
		close(mc->sock.fd);
	if (ep->base.eq)
		obj_eq_purge(ep->base.eq, fid);
	obj_ref_put(&mc->ep_ref);
	free(mc);
	return 0;
}

static struct fi_ops mc_fi_ops = {
	.close = mc_close,
};
OBJ_OPS_TABLE(mc_fi_ops, fid)

/* Without flags, a group is joined for all that the endpoint can do. */
static int mc_set_use(struct udp_mc *mc, uint64_t flags)
{
	uint64_t can = mc->ep->base.caps & (FI_SEND | FI_RECV);
	uint64_t use = flags ? flags : can;

	if (flags & ~(FI_SEND | FI_RECV))
		return -FI_EBADFLAGS;
	if (use & ~can)
		return -FI_EINVAL;
	mc->send = use & FI_SEND;
	return use & FI_RECV ? mc_listen(mc) : 0;
}

static int mc_set_addr(struct udp_mc *mc, const struct sockaddr *addr)
{
	const struct sockaddr *name = &mc->ep->name.sa;

	if (!addr || addr->sa_family != name->sa_family || !net_addr_is_multicast(addr))
		return -FI_EINVAL;
	net_addr_copy(addr, net_addr_len(addr), &mc->addr);
	if (!net_addr_port(&mc->addr.sa))
		net_addr_set_port(&mc->addr.sa, net_addr_port(name));
	/* a link-local group needs the interface */
	if (addr->sa_family == AF_INET6 && !mc->addr.in6.sin6_scope_id)
		mc->addr.in6.sin6_scope_id = mc->ep->ifindex;
	return 0;
}

static void mc_warn(struct udp_mc *mc, const void *addr, int err)
{
	char text[NET_ADDR_TEXT_MAX];

	if (!net_addr_len(&mc->addr.sa)) {
		FI_WARN(&udp_prov, FI_LOG_EP_CTRL,
			"fi_join: %s is not a multicast address of the endpoint's family (%s)\n",
			addr ? "this" : "NULL",
			mc->ep->name.sa.sa_family == AF_INET ? "IPv4: 224.0.0.0 to 239.255.255.255" :
							      "IPv6: ff00::/8");
		return;
	}
	FI_WARN(&udp_prov, FI_LOG_EP_CTRL, "fi_join: cannot join %s on interface %s: %s. %s\n",
		net_addr_text(&mc->addr.sa, text), mc->ep->base.info->domain_attr->name,
		fi_strerror(-err), net_sock_advice(err));
}

static int mc_report(struct udp_mc *mc, void *context)
{
	struct fi_eq_entry entry = {
		.fid = &mc->fid.fid,
		.context = context,
		.data = mc->fid.fi_addr,
	};

	if (!mc->ep->base.eq)
		return 0;
	return obj_eq_write(mc->ep->base.eq, FI_JOIN_COMPLETE, &entry, sizeof(entry));
}

int udp_mc_join(struct fid_ep *fid, const void *addr, uint64_t flags, struct fid_mc **mc_p,
		void *context)
{
	struct udp_ep *ep = udp_ep_of(obj_ep_of(fid));
	struct udp_mc *mc;
	int ret;

	if (!ep->poller)
		return -FI_EOPBADSTATE;
	mc = calloc(1, sizeof(*mc));
	if (!mc)
		return -FI_ENOMEM;
	mc->ep = mc->sock.ep = ep;
	mc->sock.fd = -1;
	obj_fid_init(&mc->fid.fid, FI_CLASS_MC, context, &mc_fi_ops);
	ret = mc_set_addr(mc, addr);
	if (!ret)
		ret = mc_set_use(mc, flags);
	if (ret) {
		mc_warn(mc, addr, ret);
		goto err_free;
	}
	lock_get(&ep->base.prog->lock);
	ret = mc_enter(ep, mc);
	if (!ret && mc->sock.fd >= 0)
		udp_poller_add(ep->poller, &mc->sock);
	lock_put(&ep->base.prog->lock);
	if (ret)
		goto err_close;
	obj_ref_get(&ep->base.refs, &mc->ep_ref, &mc->fid.fid);
	ret = mc_report(mc, context);
	if (ret) {
		mc_close(&mc->fid.fid);
		return ret;
	}
	*mc_p = &mc->fid;
	return 0;

err_close:
	if (mc->sock.fd >= 0)
		close(mc->sock.fd);
err_free:
	free(mc);
	return ret;
}
