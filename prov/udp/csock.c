/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The connected socket.  For a socket that is not connected the kernel looks up a route with
 * every send, which is a tenth of the cost of a small message.  So an endpoint that keeps
 * sending to one peer gets a second socket, bound to the same address and connected to that
 * peer.  Datagrams of that peer then arrive there, all others on the endpoint's first socket as
 * before; both are polled.  The second socket is an optimization only: when a send on it fails,
 * the first socket is used.
 */

#include <errno.h>
#include <unistd.h>
#include <rdma/providers/fi_log.h>

#include "ep.h"

static int csock_open(struct udp_ep *ep, const union net_sa *to)
{
	size_t sndbuf = UDP_SNDBUF, rcvbuf = UDP_RCVBUF;
	int fd, ret;

	ret = net_sock_open(to->sa.sa_family, SOCK_DGRAM, &fd);
	if (ret)
		return ret;
	net_sock_buffers(fd, &sndbuf, &rcvbuf);
	udp_sock_class(ep, fd);
	udp_mc_only_joined(fd, to->sa.sa_family);
	ep->csock.fd = fd;
	if (ep->trains)
		udp_train_setup(&ep->csock);
	ret = udp_sock_bind_shared(ep, fd, &ep->bound);
	if (ret) {
		close(fd);
		ep->csock.fd = -1;
	}
	return ret;
}

/* csock_connect - to another peer than before, perhaps.  The first connect() of a socket that is bound to the
 * wildcard gives it the local address from which that peer is reached.  It keeps that address for the next peer
 * unless it is disconnected, which leaves the port and an address that bind() was given.
 */
static int csock_connect(int fd, const union net_sa *to, socklen_t to_len)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(fd, &none, sizeof(none)) || connect(fd, &to->sa, to_len) ? -errno : 0;
}

void udp_csock_connect(struct udp_ep *ep, fi_addr_t dest, const union net_sa *to, socklen_t to_len)
{
	int ret = 0;

	ep->last_dest_cnt = 0;
	ep->csock_dest = FI_ADDR_UNSPEC;
	/* Not worth it when its socket would exceed what is polled one by one (UDP_SCAN_MAX):
	 * then each poll would need a look at the set.
	 */
	if (ep->csock_failed || (ep->csock.fd < 0 && ep->poller->sock_cnt >= UDP_SCAN_MAX))
		return;
	if (ep->csock.fd < 0) {
		ret = csock_open(ep, to);
		if (!ret)
			udp_poller_add(ep->poller, &ep->csock);
	}
	if (!ret)
		ret = csock_connect(ep->csock.fd, to, to_len);
	if (ret) {
		FI_INFO(&udp_prov, FI_LOG_EP_CTRL, "no connected socket: %s\n",
			fi_strerror(-ret));
		ep->csock_failed = true;
		return;
	}
	ep->csock_dest = dest;
	ep->csock_addr = *to;
	ep->csock_number = udp_source_number(to);
	ep->csock_exclusive = false;	/* datagrams of other peers may be in the socket already */
}

void udp_csock_close(struct udp_ep *ep)
{
	if (ep->csock.fd < 0)
		return;
	udp_poller_del(ep->poller, &ep->csock);
	close(ep->csock.fd);
	ep->csock.fd = -1;
}
