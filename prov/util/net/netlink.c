/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * netlink.c - interfaces and addresses by two netlink dumps.
 *
 * The messages are parsed directly, without the caches of libnl-route: one pass, no object per
 * attribute, and no further library to load.
 */
#include "config.h"

#include <rdma/fi_errno.h>

#include "net/read.h"

#ifndef HAVE_LIBNL

int net_read_netlink(struct net_list *list)
{
	return -FI_ENOSYS;
}

#else

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <string.h>

/* The longest message of a dump. */
#define DUMP_BUF 32768

/* A dump in progress; err keeps the first failure inside a callback. */
struct dump {
	struct net_list *list;
	int err;
};

/* nl_errno - libnl's error numbers, those that a dump can return, as FI_E*. */
static int nl_errno(int err)
{
	switch (-err) {
	case NLE_SUCCESS:
		return 0;
	case NLE_NOMEM:
		return -FI_ENOMEM;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -FI_EACCES;
	case NLE_DUMP_INTR:
		return -FI_EINTR;
	default:
		return -FI_EIO;
	}
}


static int on_link(struct nl_msg *msg, void *arg)
{
	struct dump *dump = arg;
	const struct ifinfomsg *ifi = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct net_iface *iface;
	int len;

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(nlmsg_hdr(msg), sizeof(*ifi), tb, IFLA_MAX, NULL) < 0 ||
	    !tb[IFLA_IFNAME])
		return NL_OK;
	iface = net_list_add_iface(dump->list);
	if (!iface) {
		dump->err = -FI_ENOMEM;
		return NL_STOP;
	}
	nla_strlcpy(iface->name, tb[IFLA_IFNAME], sizeof(iface->name));
	iface->index = (unsigned) ifi->ifi_index;
	iface->flags = ifi->ifi_flags;
	iface->arp_type = ifi->ifi_type;
	iface->up = (ifi->ifi_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
	if (tb[IFLA_MTU])
		iface->mtu = nla_get_u32(tb[IFLA_MTU]);
	if (tb[IFLA_MASTER])
		iface->master = nla_get_u32(tb[IFLA_MASTER]);
	if (tb[IFLA_ADDRESS]) {
		len = nla_memcpy(iface->mac, tb[IFLA_ADDRESS], sizeof(iface->mac));
		iface->mac_len = (uint8_t) len;
	}
	if (tb[IFLA_LINKINFO] &&
	    nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) >= 0 &&
	    info[IFLA_INFO_KIND])
		nla_strlcpy(iface->link_kind, info[IFLA_INFO_KIND], sizeof(iface->link_kind));
	iface->kind = net_kind_of(iface, false);
	return NL_OK;
}

/* iface_pos - the position of the interface with this index; the count if it is not in the list
 * (it appeared between the two dumps).
 */
static size_t iface_pos(const struct net_list *list, uint32_t index)
{
	size_t i;

	for (i = 0; i < list->iface_cnt; i++)
		if (list->iface[i].index == index)
			break;
	return i;
}

static int fill_addr(union net_sa *sa, int family, const struct nlattr *attr, uint32_t index)
{
	net_addr_any(family, sa);
	if (family == AF_INET && nla_len(attr) == sizeof(sa->in.sin_addr)) {
		memcpy(&sa->in.sin_addr, nla_data(attr), sizeof(sa->in.sin_addr));
		return 0;
	}
	if (family != AF_INET6 || nla_len(attr) != sizeof(sa->in6.sin6_addr))
		return -FI_EINVAL;
	memcpy(&sa->in6.sin6_addr, nla_data(attr), sizeof(sa->in6.sin6_addr));
	if (net_addr_is_link_local(&sa->sa))
		sa->in6.sin6_scope_id = index;
	return 0;
}

static int on_addr(struct nl_msg *msg, void *arg)
{
	struct dump *dump = arg;
	const struct ifaddrmsg *ifa = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *tb[IFA_MAX + 1], *host;
	struct net_ifaddr *addr;
	union net_sa sa;
	uint32_t flags;
	size_t pos;

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWADDR ||
	    nlmsg_parse(nlmsg_hdr(msg), sizeof(*ifa), tb, IFA_MAX, NULL) < 0)
		return NL_OK;
	/* on a point-to-point link IFA_ADDRESS is the peer's address */
	host = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	flags = tb[IFA_FLAGS] ? nla_get_u32(tb[IFA_FLAGS]) : ifa->ifa_flags;
	pos = iface_pos(dump->list, ifa->ifa_index);
	if (!host || pos == dump->list->iface_cnt ||
	    fill_addr(&sa, ifa->ifa_family, host, ifa->ifa_index))
		return NL_OK;
	/* duplicate address detection failed or has not ended: bind() would fail */
	if (flags & IFA_F_DADFAILED || (flags & IFA_F_TENTATIVE && !(flags & IFA_F_OPTIMISTIC)))
		return NL_OK;
	addr = net_list_add_addr(dump->list);
	if (!addr) {
		dump->err = -FI_ENOMEM;
		return NL_STOP;
	}
	addr->addr = sa;
	addr->prefix = ifa->ifa_prefixlen;
	addr->iface = (uint32_t) pos;
	addr->deprecated = flags & IFA_F_DEPRECATED;
	/* for IPv4 the same bit says "secondary" */
	addr->temporary = ifa->ifa_family == AF_INET6 && flags & IFA_F_TEMPORARY;
	return NL_OK;
}

static int run(struct nl_sock *sock, struct nl_msg *msg, nl_recvmsg_msg_cb_t cb,
	       struct dump *dump)
{
	int ret;

	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, cb, dump);
	ret = nl_send_auto(sock, msg);
	if (ret >= 0)
		ret = nl_recvmsgs_default(sock);
	return dump->err ? dump->err : nl_errno(ret < 0 ? ret : 0);
}

static int dump_links(struct nl_sock *sock, struct dump *dump)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	struct nl_msg *msg;
	int ret = -FI_ENOMEM;

	msg = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP);
	if (!msg)
		return -FI_ENOMEM;
	/* omit traffic counters, which are most of a link message and are not used */
	if (!nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) &&
	    !nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS))
		ret = run(sock, msg, on_link, dump);
	nlmsg_free(msg);
	return ret;
}

static int dump_addrs(struct nl_sock *sock, struct dump *dump)
{
	struct ifaddrmsg ifa = { .ifa_family = AF_UNSPEC };
	struct nl_msg *msg;
	int ret = -FI_ENOMEM;

	msg = nlmsg_alloc_simple(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP);
	if (!msg)
		return -FI_ENOMEM;
	if (!nlmsg_append(msg, &ifa, sizeof(ifa), NLMSG_ALIGNTO))
		ret = run(sock, msg, on_addr, dump);
	nlmsg_free(msg);
	return ret;
}

int net_read_netlink(struct net_list *list)
{
	struct dump dump = { .list = list };
	struct nl_sock *sock;
	int ret;

	sock = nl_socket_alloc();
	if (!sock)
		return -FI_ENOMEM;
	/* the kernel fills the buffer that it is given; peeking at each message first would
	 * double the number of system calls
	 */
	nl_socket_disable_msg_peek(sock);
	ret = nl_errno(nl_socket_set_msg_buf_size(sock, DUMP_BUF));
	if (!ret)
		ret = nl_errno(nl_connect(sock, NETLINK_ROUTE));
	if (!ret)
		ret = dump_links(sock, &dump);
	if (!ret)
		ret = dump_addrs(sock, &dump);
	nl_socket_free(sock);
	return ret;
}

#endif
