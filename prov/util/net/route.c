/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * route.c - one question to the kernel: by which route would an interface send to an address?
 *
 * Source: rtnetlink(7).  RTM_F_FIB_MATCH asks for the entry of the table, where there is one: without it, a route
 * by a given interface is made up for addresses that no entry leads to.
 */
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/read.h"

#ifndef RTM_F_FIB_MATCH
#define RTM_F_FIB_MATCH 0x2000
#endif

struct question {
	struct nlmsghdr hdr;
	struct rtmsg msg;
	uint8_t attrs[64];
};

static void attr_add(struct question *ask, unsigned short type, const void *data, size_t len)
{
	struct rtattr *attr = (struct rtattr *) ((char *) ask + NLMSG_ALIGN(ask->hdr.nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = (unsigned short) RTA_LENGTH(len);
	memcpy(RTA_DATA(attr), data, len);
	ask->hdr.nlmsg_len = (uint32_t) (NLMSG_ALIGN(ask->hdr.nlmsg_len) + RTA_ALIGN(attr->rta_len));
}

static void question_make(struct question *ask, unsigned index, const struct sockaddr *dest)
{
	const union net_sa *sa = (const union net_sa *) dest;
	bool v4 = dest->sa_family == AF_INET;
	uint32_t oif = index;

	*ask = (struct question) {
		.hdr = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)), .nlmsg_type = RTM_GETROUTE,
			 .nlmsg_flags = NLM_F_REQUEST },
		.msg = { .rtm_family = (unsigned char) dest->sa_family, .rtm_dst_len = v4 ? 32 : 128,
			 .rtm_flags = RTM_F_FIB_MATCH },
	};
	if (v4)
		attr_add(ask, RTA_DST, &sa->in.sin_addr, sizeof(sa->in.sin_addr));
	else
		attr_add(ask, RTA_DST, &sa->in6.sin6_addr, sizeof(sa->in6.sin6_addr));
	attr_add(ask, RTA_OIF, &oif, sizeof(oif));
}

bool net_route_has(unsigned index, const struct sockaddr *dest)
{
	_Alignas(struct nlmsghdr) char buf[4096];
	const struct nlmsghdr *hdr = (const struct nlmsghdr *) buf;
	const struct rtmsg *msg;
	struct question ask;
	ssize_t got = -1;
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return false;
	question_make(&ask, index, dest);
	if (send(fd, &ask, ask.hdr.nlmsg_len, 0) >= 0)
		got = recv(fd, buf, sizeof(buf), 0);
	close(fd);
	if (got < (ssize_t) NLMSG_LENGTH(sizeof(*msg)) || hdr->nlmsg_type != RTM_NEWROUTE)
		return false;
	msg = NLMSG_DATA(hdr);
	return msg->rtm_type == RTN_UNICAST && msg->rtm_dst_len > 0;
}
