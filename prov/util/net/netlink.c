/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * netlink.c - interfaces and addresses by two netlink dumps.
 *
 * Source: rtnetlink(7), netlink(7).
 */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/read.h"

#define DUMP_BUF 32768		/* the longest message of a dump */
#define ATTEMPTS 4		/* while the kernel says that its tables changed under a dump */

/* Attributes by their type, up to the highest that is used here. */
#define ATTRS (IFLA_LINKINFO + 1)
_Static_assert((int) ATTRS > (int) IFA_FLAGS && (int) ATTRS > (int) IFLA_INFO_KIND, "all that are used");

struct attrs {
	const struct rtattr *by_type[ATTRS];
};

struct request {
	struct nlmsghdr hdr;
	union {
		struct {
			struct ifinfomsg msg;
			struct rtattr attr;
			uint32_t mask;
		} link;
		struct ifaddrmsg addr;
	};
};

/* ---- attributes ---------------------------------------------------------- */

static size_t attr_len(const struct rtattr *attr)
{
	return attr->rta_len - sizeof(*attr);
}

static const void *attr_data(const struct rtattr *attr)
{
	return attr + 1;
}

/* attrs_read - the attributes in @len bytes; those that do not fit there are left out. */
static void attrs_read(struct attrs *attrs, const void *bytes, size_t len)
{
	const char *at = bytes;
	struct rtattr head;
	size_t step;

	memset(attrs, 0, sizeof(*attrs));
	for (; len >= sizeof(head); at += step, len -= step) {
		memcpy(&head, at, sizeof(head));
		if (head.rta_len < sizeof(head) || head.rta_len > len)
			return;
		head.rta_type &= NLA_TYPE_MASK;
		if (head.rta_type < ATTRS)
			attrs->by_type[head.rta_type] = (const void *) at;
		step = RTA_ALIGN((size_t) head.rta_len);
		if (step > len)
			return;
	}
}

static uint32_t attr_u32(const struct attrs *attrs, int type, uint32_t unless)
{
	const struct rtattr *attr = attrs->by_type[type];
	uint32_t value = unless;

	if (attr && attr_len(attr) >= sizeof(value))
		memcpy(&value, attr_data(attr), sizeof(value));
	return value;
}

static void attr_text(const struct attrs *attrs, int type, char *buf, size_t size)
{
	const struct rtattr *attr = attrs->by_type[type];
	size_t len = attr ? strnlen(attr_data(attr), attr_len(attr)) : 0;

	if (len >= size)
		len = size - 1;
	if (len)
		memcpy(buf, attr_data(attr), len);
	buf[len] = '\0';
}

/* ---- messages ------------------------------------------------------------ */

static int on_link(struct net_list *list, const void *payload, size_t len)
{
	const struct ifinfomsg *ifi = payload;
	const struct rtattr *mac;
	struct net_iface *iface;
	struct attrs attrs, info;

	if (len < sizeof(*ifi))
		return 0;
	attrs_read(&attrs, ifi + 1, len - sizeof(*ifi));
	if (!attrs.by_type[IFLA_IFNAME])
		return 0;
	iface = net_list_add_iface(list);
	if (!iface)
		return -FI_ENOMEM;
	attr_text(&attrs, IFLA_IFNAME, iface->name, sizeof(iface->name));
	iface->index = (unsigned) ifi->ifi_index;
	iface->flags = ifi->ifi_flags;
	iface->arp_type = ifi->ifi_type;
	iface->up = (ifi->ifi_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
	iface->mtu = attr_u32(&attrs, IFLA_MTU, 0);
	iface->master = attr_u32(&attrs, IFLA_MASTER, 0);
	mac = attrs.by_type[IFLA_ADDRESS];
	if (mac) {
		iface->mac_len = (uint8_t) (attr_len(mac) < sizeof(iface->mac) ? attr_len(mac) :
									 sizeof(iface->mac));
		memcpy(iface->mac, attr_data(mac), iface->mac_len);
	}
	if (attrs.by_type[IFLA_LINKINFO]) {
		attrs_read(&info, attr_data(attrs.by_type[IFLA_LINKINFO]),
			   attr_len(attrs.by_type[IFLA_LINKINFO]));
		attr_text(&info, IFLA_INFO_KIND, iface->link_kind, sizeof(iface->link_kind));
	}
	iface->kind = net_kind_of(iface, false);
	return 0;
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

static int addr_fill(union net_sa *sa, int family, const struct rtattr *attr, uint32_t index)
{
	net_addr_any(family, sa);
	if (family == AF_INET && attr_len(attr) == sizeof(sa->in.sin_addr)) {
		memcpy(&sa->in.sin_addr, attr_data(attr), sizeof(sa->in.sin_addr));
		return 0;
	}
	if (family != AF_INET6 || attr_len(attr) != sizeof(sa->in6.sin6_addr))
		return -FI_EINVAL;
	memcpy(&sa->in6.sin6_addr, attr_data(attr), sizeof(sa->in6.sin6_addr));
	if (net_addr_is_link_local(&sa->sa))
		sa->in6.sin6_scope_id = index;
	return 0;
}

static int on_addr(struct net_list *list, const void *payload, size_t len)
{
	const struct ifaddrmsg *ifa = payload;
	const struct rtattr *host;
	struct net_ifaddr *addr;
	struct attrs attrs;
	union net_sa sa;
	uint32_t flags;
	size_t pos;

	if (len < sizeof(*ifa))
		return 0;
	attrs_read(&attrs, ifa + 1, len - sizeof(*ifa));
	/* on a point-to-point link IFA_ADDRESS is the peer's address */
	host = attrs.by_type[attrs.by_type[IFA_LOCAL] ? IFA_LOCAL : IFA_ADDRESS];
	flags = attr_u32(&attrs, IFA_FLAGS, ifa->ifa_flags);
	pos = iface_pos(list, ifa->ifa_index);
	if (!host || pos == list->iface_cnt ||
	    addr_fill(&sa, ifa->ifa_family, host, ifa->ifa_index))
		return 0;
	/* duplicate address detection failed or has not ended: bind() would fail */
	if (flags & IFA_F_DADFAILED || (flags & IFA_F_TENTATIVE && !(flags & IFA_F_OPTIMISTIC)))
		return 0;
	addr = net_list_add_addr(list);
	if (!addr)
		return -FI_ENOMEM;
	addr->addr = sa;
	addr->prefix = ifa->ifa_prefixlen;
	addr->iface = (uint32_t) pos;
	addr->deprecated = flags & IFA_F_DEPRECATED;
	/* for IPv4 the same bit says "secondary" */
	addr->temporary = ifa->ifa_family == AF_INET6 && flags & IFA_F_TEMPORARY;
	return 0;
}

/* ---- dumps --------------------------------------------------------------- */

/* A dump in progress. */
struct dump {
	struct net_list *list;
	int (*on)(struct net_list *list, const void *payload, size_t len);
	uint16_t type;		/* of the messages for @on */
	bool ended;
	bool changed;		/* the kernel's table, meanwhile */
};

static int on_message(struct dump *dump, const struct nlmsghdr *hdr)
{
	const void *payload = (const char *) hdr + NLMSG_HDRLEN;
	size_t len = hdr->nlmsg_len - NLMSG_HDRLEN;
	int err = 0;

	if (hdr->nlmsg_flags & NLM_F_DUMP_INTR)
		dump->changed = true;
	switch (hdr->nlmsg_type) {
	case NLMSG_ERROR:
	case NLMSG_DONE:
		dump->ended = true;
		if (len >= sizeof(err))
			memcpy(&err, payload, sizeof(err));
		return err;
	default:
		return hdr->nlmsg_type == dump->type ? dump->on(dump->list, payload, len) : 0;
	}
}

static int on_packet(struct dump *dump, const char *buf, size_t len)
{
	const struct nlmsghdr *hdr;
	size_t step;
	int ret = 0;

	for (; !ret && !dump->ended && len >= NLMSG_HDRLEN; buf += step, len -= step) {
		hdr = (const void *) buf;
		if (hdr->nlmsg_len < NLMSG_HDRLEN || hdr->nlmsg_len > len)
			return -FI_EIO;
		ret = on_message(dump, hdr);
		step = NLMSG_ALIGN((size_t) hdr->nlmsg_len);
		if (step > len)
			step = len;
	}
	return ret;
}

/* packet_read - the bytes of the next packet from the kernel; others may send packets, too. */
static ssize_t packet_read(int fd, char *buf, size_t size)
{
	struct sockaddr_nl from;
	socklen_t from_len;
	ssize_t len;

	do {
		from_len = sizeof(from);
		len = recvfrom(fd, buf, size, MSG_TRUNC, (struct sockaddr *) &from, &from_len);
	} while (len < 0 ? errno == EINTR : from_len == sizeof(from) && from.nl_pid);
	if (len < 0)
		return -errno;
	return (size_t) len > size ? -FI_EIO : len;
}

static int dump_run(int fd, struct dump *dump, struct request *request, size_t len)
{
	_Alignas(struct nlmsghdr) char buf[DUMP_BUF];
	ssize_t got;
	int ret = 0;

	request->hdr.nlmsg_len = (uint32_t) len;
	request->hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	if (send(fd, request, len, 0) < 0)
		return -errno;
	while (!ret && !dump->ended) {
		got = packet_read(fd, buf, sizeof(buf));
		ret = got < 0 ? (int) got : on_packet(dump, buf, (size_t) got);
	}
	return ret;
}

static int links_dump(int fd, struct net_list *list, bool *changed_p)
{
	struct dump dump = { .list = list, .on = on_link, .type = RTM_NEWLINK };
	struct request request = {
		.hdr.nlmsg_type = RTM_GETLINK,
		.link = {
			/* without traffic counters, which are most of a link message */
			.attr = { sizeof(struct rtattr) + sizeof(uint32_t), IFLA_EXT_MASK },
			.mask = RTEXT_FILTER_SKIP_STATS,
		},
	};
	int ret = dump_run(fd, &dump, &request, sizeof(request.hdr) + sizeof(request.link));

	*changed_p |= dump.changed;
	return ret;
}

static int addrs_dump(int fd, struct net_list *list, bool *changed_p)
{
	struct dump dump = { .list = list, .on = on_addr, .type = RTM_NEWADDR };
	struct request request = { .hdr.nlmsg_type = RTM_GETADDR };
	int ret = dump_run(fd, &dump, &request, sizeof(request.hdr) + sizeof(request.addr));

	*changed_p |= dump.changed;
	return ret;
}

int net_read_netlink(struct net_list *list)
{
	bool changed;
	int fd, ret, left = ATTEMPTS;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return -errno;
	do {
		changed = false;
		net_list_free(list);
		ret = links_dump(fd, list, &changed);
		if (!ret)
			ret = addrs_dump(fd, list, &changed);
	} while (!ret && changed && --left);
	close(fd);
	return ret;
}
