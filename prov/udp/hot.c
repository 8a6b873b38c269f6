/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The hot peer.  For a socket that is not connected the kernel looks up a route
 * with every send, a tenth of what a small message costs.  So an endpoint that
 * keeps sending to one peer gets a second socket, bound to the same name and
 * connected to that peer.  What the peer sends then arrives there, the rest on
 * the endpoint's own socket as before; both are polled.  Nothing depends on the
 * second socket: a send that fails on it goes by the other.
 */

#include <errno.h>
#include <unistd.h>
#include <rdma/providers/fi_log.h>

#include "ep.h"

static int hot_open(struct udp_ep *ep, const union net_sa *to)
{
	size_t sndbuf = UDP_SNDBUF, rcvbuf = UDP_RCVBUF;
	int fd, ret;

	ret = net_sock_open(to->sa.sa_family, SOCK_DGRAM, &fd);
	if (ret)
		return ret;
	net_sock_buffers(fd, &sndbuf, &rcvbuf);
	udp_mc_only_joined(fd, to->sa.sa_family);
	ep->hot.fd = fd;
	if (ep->trains)
		udp_train_setup(&ep->hot);
	ret = udp_sock_bind_beside(ep, fd, &ep->name);
	if (ret) {
		close(fd);
		ep->hot.fd = -1;
	}
	return ret;
}

void udp_hot_aim(struct udp_ep *ep, fi_addr_t dest, const union net_sa *to, socklen_t to_len)
{
	int ret = 0;

	ep->hot_streak = 0;
	ep->hot_dest = FI_ADDR_UNSPEC;
	if (ep->hot_off || (ep->hot.fd < 0 && ep->poller->sock_cnt >= UDP_DIRECT))
		return;
	if (ep->hot.fd < 0) {
		ret = hot_open(ep, to);
		if (!ret)
			udp_poller_add(ep->poller, &ep->hot);
	}
	if (!ret && connect(ep->hot.fd, &to->sa, to_len))
		ret = -errno;
	if (ret) {
		FI_INFO(&udp_prov, FI_LOG_EP_CTRL, "no second socket for a hot peer: %s\n",
			fi_strerror(-ret));
		ep->hot_off = true;
		return;
	}
	ep->hot_dest = dest;
	ep->hot_addr = *to;
	ep->hot_number = udp_source_number(to);
	ep->hot_pure = false;	/* something of another may have been there before */
}

void udp_hot_close(struct udp_ep *ep)
{
	if (ep->hot.fd < 0)
		return;
	udp_poller_del(ep->poller, &ep->hot);
	close(ep->hot.fd);
	ep->hot.fd = -1;
}
