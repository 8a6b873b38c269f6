/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/providers/fi_log.h>

#include "ep.h"
#include "progress/fdset.h"

static const struct obj_poller_ops poller_ops;

static struct udp_poller *poller_of(struct obj_poller *base)
{
	return container_of(base, struct udp_poller, base);
}

/* ---- the set of descriptors --------------------------------------------------------- */

/*
 * A socket in a set of descriptors makes each datagram more expensive, by a fiftieth of a round trip.  So the
 * set is empty until a thread blocks for the first time (arm), or there are too many sockets to poll one by one.
 */

/* Puts @sock into the set with the events that a poll could handle.  @lazy: leave POLLIN
 * set although no receive is posted, to save a system call.
 */
static void sock_watch(struct udp_sock *sock, bool lazy)
{
	struct udp_ep *ep = sock->ep;
	int set = ep->poller->base.fd, ret = 0;
	uint32_t events = 0;

	if (!list_empty(&ep->posted))
		events |= POLLIN;
	else if (lazy)
		events |= sock->interest & POLLIN;
	if (ep->blocked && sock == &ep->sock)
		events |= POLLOUT;
	if (events == sock->interest)
		return;
	if (!events)
		fdset_remove(set, sock->fd);
	else
		ret = sock->interest ? fdset_change(set, sock->fd, events, sock) :
				       fdset_add(set, sock->fd, events, sock);
	if (ret)
		FI_WARN(&udp_prov, FI_LOG_EP_CTRL,
			"cannot watch a socket: %s: blocking waits on this endpoint may not wake\n",
			strerror(-ret));
	sock->interest = events;
}

static void sock_unwatch(struct udp_sock *sock)
{
	if (sock->interest)
		fdset_remove(sock->ep->poller->base.fd, sock->fd);
	sock->interest = 0;
}

static void watch_all(struct udp_poller *p, bool lazy)
{
	struct udp_sock *sock;

	p->armed = true;
	list_for_each_entry(sock, &p->socks, node)
		sock_watch(sock, lazy);
}

void udp_ep_watch(struct udp_ep *ep)
{
	unsigned i;

	if (!ep->poller->armed)
		return;
	sock_watch(&ep->sock, true);
	if (ep->csock.fd >= 0)
		sock_watch(&ep->csock, true);
	for (i = 0; i < ep->group_cnt; i++)
		if (ep->groups[i] && ep->groups[i]->sock.fd >= 0)
			sock_watch(&ep->groups[i]->sock, true);
}

/* ---- polling --------------------------------------------------------------- */

/* Many sockets: poll those that the set reports. */
static int poll_ready(struct udp_poller *p, unsigned budget)
{
	struct fdset_event ev[UDP_BURST];
	int i, cnt, done = 0;

	cnt = fdset_look(p->base.fd, ev, UDP_BURST);
	for (i = 0; i < cnt && (unsigned) done < budget; i++)
		done += udp_rx_poll(ev[i].ptr, budget - (unsigned) done);
	return done;
}

/* Few sockets: poll each, without the set; while the one that had a datagram last is in use, in every
 * UDP_OTHERS_EVERY-th poll only.
 */
static int poll_each(struct udp_poller *p, unsigned budget)
{
	struct udp_sock *sock;
	int got, done;

	done = p->heard ? udp_rx_poll(p->heard, budget) : 0;
	if (p->heard && ++p->round % UDP_OTHERS_EVERY)
		return done;
	list_for_each_entry(sock, &p->socks, node) {
		if (sock == p->heard)
			continue;
		got = udp_rx_poll(sock, budget);
		if (got)
			p->heard = sock;
		done += got;
	}
	return done;
}

/* Flush queued sends, then receive. */
static int poller_poll(struct obj_poller *base, unsigned budget)
{
	struct udp_poller *p = poller_of(base);
	struct udp_ep *ep, *tmp;
	int done = 0;

	list_for_each_entry_safe(ep, tmp, &p->senders, tx_node)
		done += udp_tx_flush(ep);
	if (p->sock_cnt > UDP_SCAN_MAX)
		return done + poll_ready(p, budget);
	return done + poll_each(p, budget);
}

/* The poller goes to sleep: fail if queued sends could leave now, otherwise put all sockets
 * into the set.
 */
static int poller_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct udp_poller *p = poller_of(base);
	struct udp_ep *ep;

	list_for_each_entry(ep, &p->senders, tx_node)
		if (!ep->blocked)
			return -FI_EAGAIN;
	p->heard = NULL;	/* after the wake-up all sockets are polled */
	watch_all(p, false);
	return 0;
}

static void poller_close(struct obj_poller *base)
{
	struct udp_poller *p = poller_of(base);

	fdset_close(base->fd);
	free(p);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poller_poll,
	.arm = poller_arm,
	.close = poller_close,
};

void udp_poller_add(struct udp_poller *p, struct udp_sock *sock)
{
	sock->interest = 0;
	sock->burst = 1;
	list_add_tail(&sock->node, &p->socks);
	if (++p->sock_cnt > UDP_SCAN_MAX || p->armed)
		watch_all(p, true);
}

void udp_poller_del(struct udp_poller *p, struct udp_sock *sock)
{
	sock_unwatch(sock);
	list_del(&sock->node);
	p->sock_cnt--;
	if (p->heard == sock)
		p->heard = NULL;
}

int udp_poller_join(struct udp_ep *ep)
{
	struct udp_poller *p;
	struct obj_poller *base;
	int i, ret = obj_prog_share(ep->base.prog, &poller_ops, sizeof(*p), &udp_prov, &base);

	if (ret < 0)
		return ret;
	p = poller_of(base);
	if (ret) {
		list_init(&p->socks);
		list_init(&p->senders);
		for (i = 0; i < UDP_BURST; i++)
			p->msg[i].msg_hdr.msg_name = &p->slot[i].from;
	}
	ep->poller = p;
	udp_poller_add(p, &ep->sock);
	return 0;
}

void udp_poller_leave(struct udp_ep *ep)
{
	list_del(&ep->tx_node);
	udp_poller_del(ep->poller, &ep->sock);
	ep->poller = NULL;
}
