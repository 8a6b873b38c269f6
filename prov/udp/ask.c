/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * NET_OPT_ASK: is there a socket at a peer's address?  The question has a socket of its own, which
 * is asked for its errors alone (IP_RECVERR): on the endpoint's socket such errors would end calls
 * that have nothing to do with them, and wake threads that sleep on it.
 */

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <unistd.h>
#include <linux/errqueue.h>

#include "ep.h"

#define DISCARD_MAX 16		/* no peer answers to that socket, but any may send there */

/* open_asker - at the address from which the endpoint sends. */
static int open_asker(struct udp_ep *ep)
{
	int family = ep->name.sa.sa_family, on = 1, fd, ret;
	union net_sa from = ep->name;

	ret = net_sock_open(family, SOCK_DGRAM, &fd);
	if (ret)
		return ret;
	net_addr_set_port(&from.sa, 0);
	ret = family == AF_INET6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on)) :
				   setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
	ret = ret ? -errno : net_sock_bind(fd, &from.sa, NULL, NULL);
	if (ret)
		close(fd);
	else
		ep->ask_fd = fd;
	return ret;
}

int udp_ask(struct udp_ep *ep, const struct net_ask *ask)
{
	const struct sockaddr *to = (const struct sockaddr *) (const void *) ask->addr;
	struct udp_hdr hdr;
	struct iovec iov[] = { { &hdr, sizeof(hdr) }, { (void *) ask->data, ask->len } };
	struct msghdr msg = { .msg_name = (void *) to, .msg_namelen = (socklen_t) net_addr_len(to),
			      .msg_iov = iov, .msg_iovlen = 2 };
	int ret = 0;

	if (!ep->framed || ask->len > sizeof(ask->data) || to->sa_family != ep->name.sa.sa_family)
		return -FI_EINVAL;
	if (ep->ask_fd < 0)
		ret = open_asker(ep);
	if (ret)
		return ret;
	udp_wire_fill(&hdr, ask->len, 0, 0);
	/* the first call may return the error of an earlier question */
	if (sendmsg(ep->ask_fd, &msg, MSG_DONTWAIT) < 0 && sendmsg(ep->ask_fd, &msg, MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

/* is_unreachable - is it an answer of the system at the address, that there is no such socket? */
static bool is_unreachable(const struct sock_extended_err *err)
{
	if (err->ee_origin == SO_EE_ORIGIN_ICMP)
		return err->ee_type == ICMP_DEST_UNREACH && err->ee_code == ICMP_PORT_UNREACH;
	return err->ee_origin == SO_EE_ORIGIN_ICMP6 && err->ee_type == ICMP6_DST_UNREACH &&
	       err->ee_code == ICMP6_DST_UNREACH_NOPORT;
}

static const struct sock_extended_err *error_of(struct msghdr *msg)
{
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg))
		if ((cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_RECVERR) ||
		    (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_RECVERR))
			return (const struct sock_extended_err *) (const void *) CMSG_DATA(cmsg);
	return NULL;
}

/* take_error - the next one on the socket.  Returns 1: it is an answer; 0: another one; or -FI_EAGAIN. */
static int take_error(struct udp_ep *ep, struct net_ask *answer)
{
	union {
		struct cmsghdr align;
		char room[256];
	} ctl;
	struct udp_hdr hdr;
	struct iovec iov[] = { { &hdr, sizeof(hdr) }, { answer->data, sizeof(answer->data) } };
	struct msghdr msg = { .msg_name = answer->addr, .msg_namelen = sizeof(answer->addr),
			      .msg_iov = iov, .msg_iovlen = 2,
			      .msg_control = &ctl, .msg_controllen = sizeof(ctl) };
	const struct sock_extended_err *err;
	ssize_t got = recvmsg(ep->ask_fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT);

	if (got < 0)
		return -FI_EAGAIN;
	err = error_of(&msg);
	if (!err || !is_unreachable(err) || got < (ssize_t) sizeof(hdr))
		return 0;
	answer->len = (size_t) got - sizeof(hdr);
	return 1;
}

int udp_asked(struct udp_ep *ep, struct net_ask *answer)
{
	char byte;
	int i, ret;

	if (ep->ask_fd < 0)
		return -FI_EAGAIN;
	for (i = 0; i < DISCARD_MAX && recv(ep->ask_fd, &byte, 1, MSG_DONTWAIT) >= 0; i++)
		;
	do
		ret = take_error(ep, answer);
	while (!ret);
	return ret < 0 ? ret : 0;
}

void udp_ask_close(struct udp_ep *ep)
{
	if (ep->ask_fd >= 0)
		close(ep->ask_fd);
	ep->ask_fd = -1;
}
