/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Trains: datagrams of one length, only the last may be shorter, that go through the
 * system as one.  The system takes them apart where the network begins, or leaves
 * them together as far as the other socket when that is on this host.  On the wire
 * nothing shows.
 */

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <rdma/providers/fi_log.h>

#include "net/net_opt.h"
#include "udp.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* What one message may have: the system says so. */
#define TRAIN_BYTES (65535 - 40 - 8)

static int set_int(int fd, int level, int opt, int value)
{
	return setsockopt(fd, level, opt, &value, sizeof(value)) ? -errno : 0;
}

void udp_train_setup(struct udp_ep *ep, int fd)
{
	int ret, family = ep->name.sa.sa_family;

	ret = family == AF_INET6 ?
	      set_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) :
	      set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	if (ret)
		FI_INFO(&udp_prov, FI_LOG_EP_CTRL, "datagrams may be fragmented: %s\n",
			fi_strerror(-ret));
	ret = set_int(fd, SOL_UDP, UDP_GRO, 1);
	if (ret)
		FI_INFO(&udp_prov, FI_LOG_EP_CTRL, "datagrams arrive one by one: %s\n",
			fi_strerror(-ret));
}

/* ---- sending ----------------------------------------------------------------- */

static struct udp_tx *tx_at(struct list *pos)
{
	return container_of(pos, struct udp_tx, node);
}

static size_t size_of(const struct udp_tx *tx)
{
	return sizeof(tx->hdr) + tx->len;
}

static void put_segment(struct msghdr *msg, union udp_ctl *ctl, size_t seg)
{
	struct cmsghdr *c = &ctl->c;

	memset(ctl, 0, CMSG_SPACE(sizeof(uint16_t)));	/* what pads it leaves, too */
	c->cmsg_level = SOL_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(uint16_t));
	*(uint16_t *) CMSG_DATA(c) = (uint16_t) seg;
	msg->msg_control = ctl;
	msg->msg_controllen = CMSG_SPACE(sizeof(uint16_t));
}

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
	} while (cnt < most && size_of(tx) <= seg && bytes + size_of(tx) <= TRAIN_BYTES &&
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

int udp_train_alone(struct udp_ep *ep, struct udp_tx *tx)
{
	struct msghdr msg = {
		.msg_name = &tx->to,
		.msg_namelen = tx->to_len,
		.msg_iov = tx->iov,
		.msg_iovlen = tx->iov_cnt,
	};

	if (sendmsg(ep->sock.fd, &msg, 0) < 0)
		return -errno;
	/* what is true of one is not true of many: not on this system */
	FI_INFO(&udp_prov, FI_LOG_EP_CTRL, "the system does not take bursts as one\n");
	ep->trains_fail = true;
	return 1;
}

/* ---- receiving --------------------------------------------------------------- */

size_t udp_train_segment(const struct msghdr *msg, size_t len)
{
	struct cmsghdr *c;
	int seg;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR((struct msghdr *) msg, c)) {
		if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO)
			continue;
		memcpy(&seg, CMSG_DATA(c), sizeof(seg));
		return seg > 0 && (size_t) seg < len ? (size_t) seg : len;
	}
	return len;
}
