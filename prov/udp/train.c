/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Trains: datagrams to one peer, all of one length except the last, which may be shorter, that
 * pass the system as one message (UDP_SEGMENT, UDP_GRO).  The system splits a train at the
 * network device, or delivers it as one when the receiver is on the same host.  The datagrams
 * on the wire are the same as without trains.
 */

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <rdma/providers/fi_log.h>

#include "net/opt.h"
#include "net/tclass.h"
#include "ep.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* The longest message for UDP_SEGMENT, all datagrams together. */
#define TRAIN_BYTES (65535 - 40 - 8)

static int set_int(int fd, int level, int opt, int value)
{
	return setsockopt(fd, level, opt, &value, sizeof(value)) ? -errno : 0;
}

/* Sets the codepoint of sent datagrams, and asks for the codepoint of received ones. */
static int ecn_setup(const struct udp_ep *ep, int fd)
{
	bool six = ep->name.sa.sa_family == AF_INET6;
	int level = six ? IPPROTO_IPV6 : IPPROTO_IP;
	int ret = set_int(fd, level, six ? IPV6_RECVTCLASS : IP_RECVTOS, ep->report_ecn);

	return ret ? ret : set_int(fd, level, six ? IPV6_TCLASS : IP_TOS,
				   net_tclass_octet(ep->base.info->tx_attr->tclass) | ep->ecn);
}

void udp_train_gro(struct udp_sock *sock, bool gro)
{
	int ret = set_int(sock->fd, SOL_UDP, UDP_GRO, gro);

	sock->gro = gro;
	sock->singles = 0;
	if (ret)
		FI_INFO(&udp_prov, FI_LOG_EP_CTRL, "cannot switch UDP_GRO: %s\n",
			fi_strerror(-ret));
}

/* Path MTU discovery in PROBE mode never fragments and does not limit the size to a cached path
 * MTU.  With ECN reporting, UDP_GRO is switched on from the start.
 */
void udp_train_setup(struct udp_sock *sock)
{
	struct udp_ep *ep = sock->ep;
	int ret, fd = sock->fd;

	sock->gro = false;
	ret = ep->name.sa.sa_family == AF_INET6 ?
	      set_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) :
	      set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	if (ret)
		FI_INFO(&udp_prov, FI_LOG_EP_CTRL, "datagrams may be fragmented: %s\n",
			fi_strerror(-ret));
	if (ep->report_ecn) {
		udp_train_gro(sock, true);
		ecn_setup(ep, fd);
	}
}

int udp_train_ecn(struct udp_ep *ep, int codepoint)
{
	int ret;

	ep->ecn = codepoint;
	if (!ep->sock.gro)
		udp_train_gro(&ep->sock, true);
	ret = ecn_setup(ep, ep->sock.fd);
	if (!ret && ep->csock.fd >= 0)
		ret = ecn_setup(ep, ep->csock.fd);
	return ret;
}

/* ---- sending ----------------------------------------------------------------- */

static struct udp_tx *tx_at(struct list *pos)
{
	return container_of(pos, struct udp_tx, node);
}

/* Endpoints with trains are framed. */
static size_t size_of(const struct udp_tx *tx)
{
	return sizeof(tx->hdr) + tx->len;
}

static void put_segment(struct msghdr *msg, union udp_ctl *ctl, size_t seg)
{
	struct cmsghdr *c = &ctl->c;

	memset(ctl, 0, CMSG_SPACE(sizeof(uint16_t)));	/* clears the padding, too */
	c->cmsg_level = SOL_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(uint16_t));
	*(uint16_t *) CMSG_DATA(c) = (uint16_t) seg;
	msg->msg_control = ctl;
	msg->msg_controllen = CMSG_SPACE(sizeof(uint16_t));
}

/* A shorter datagram ends a train; a longer one, or one to another peer, starts a new one. */
unsigned udp_train_fill(struct udp_ep *ep, struct list *pos, unsigned most, struct msghdr *msg,
			struct iovec *iov, union udp_ctl *ctl)
{
	const struct udp_tx *first = tx_at(pos), *tx = first;
	size_t seg = size_of(first), bytes = 0;
	unsigned cnt = 0, iov_cnt = 0;

	do {
		memcpy(iov + iov_cnt, tx->iov, tx->iov_cnt * sizeof(*iov));
		iov_cnt += tx->iov_cnt;
		bytes += size_of(tx);
		cnt++;
		pos = pos->next;
		if (!ep->trains || ep->trains_fail || size_of(tx) < seg || pos == &ep->waiting)
			break;
		tx = tx_at(pos);
	} while (cnt < most && cnt < UDP_TRAIN && size_of(tx) <= seg &&
		 bytes + size_of(tx) <= TRAIN_BYTES &&
		 tx->to_len == first->to_len && !memcmp(&tx->to, &first->to, tx->to_len));
	*msg = (struct msghdr) {
		.msg_name = (void *) &first->to,
		.msg_namelen = first->to_len,
		.msg_iov = iov,
		.msg_iovlen = iov_cnt,
	};
	if (cnt > 1)
		put_segment(msg, ctl, seg);
	return cnt;
}

int udp_train_fallback(struct udp_ep *ep, struct udp_tx *tx)
{
	struct msghdr msg = {
		.msg_name = &tx->to,
		.msg_namelen = tx->to_len,
		.msg_iov = tx->iov,
		.msg_iovlen = tx->iov_cnt,
	};

	if (sendmsg(ep->sock.fd, &msg, 0) < 0)
		return -errno;
	/* a single datagram succeeds, so it was the train that failed */
	FI_INFO(&udp_prov, FI_LOG_EP_CTRL, "UDP_SEGMENT does not work here; "
		"bursts leave as single datagrams\n");
	ep->trains_fail = true;
	return 1;
}

/* ---- receiving --------------------------------------------------------------- */

/* The control message is a byte for IPv4 and an int for IPv6. */
static unsigned ecn_of(const struct cmsghdr *c)
{
	int class;

	if (c->cmsg_level == IPPROTO_IP)
		return *CMSG_DATA(c) & NET_ECN_MASK;
	memcpy(&class, CMSG_DATA(c), sizeof(class));
	return (unsigned) class & NET_ECN_MASK;
}

size_t udp_train_segment(const struct msghdr *msg, size_t len, unsigned *ecn_p)
{
	struct cmsghdr *c;
	size_t all = len;
	int seg;

	*ecn_p = NET_ECN_NOT;
	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR((struct msghdr *) msg, c)) {
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
			memcpy(&seg, CMSG_DATA(c), sizeof(seg));
			len = seg > 0 && (size_t) seg < all ? (size_t) seg : all;
		} else if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) ||
			   (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS)) {
			*ecn_p = ecn_of(c);
		}
	}
	return len;
}
