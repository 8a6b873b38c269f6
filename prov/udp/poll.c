/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <rdma/providers/fi_log.h>

#include "ep.h"

static const struct obj_poller_ops poller_ops;

static struct udp_poller *poller_of(struct obj_poller *base)
{
	return container_of(base, struct udp_poller, base);
}

/* ---- the epoll set --------------------------------------------------------- */

/*
 * A socket in an epoll set pays for it with every datagram, so the set is empty
 * until somebody sleeps (arm), or there are too many sockets to try one by one.
 * A program that then polls and polls gets it emptied again.  Should a thread
 * still sleep on it, that one is woken, to arm anew; each time it does so we have
 * more patience.
 */
#define PATIENCE_FIRST 1024u
#define PATIENCE_LAST (1u << 20)

static void watch(struct udp_sock *sock, bool lazy)
{
	struct udp_ep *ep = sock->ep;
	struct epoll_event ev = { .data.ptr = sock };
	int op;

	if (!list_empty(&ep->posted))
		ev.events |= EPOLLIN;
	else if (lazy)
		ev.events |= sock->interest & EPOLLIN;
	if (ep->blocked && sock == &ep->sock)
		ev.events |= EPOLLOUT;
	if (ev.events == sock->interest)
		return;
	op = !sock->interest ? EPOLL_CTL_ADD : ev.events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
	if (epoll_ctl(ep->poller->base.fd, op, sock->fd, &ev))
		FI_WARN(&udp_prov, FI_LOG_EP_CTRL,
			"epoll_ctl: %s: blocking waits on this endpoint may not wake\n",
			strerror(errno));
	sock->interest = ev.events;
}

static void unwatch(struct udp_sock *sock)
{
	if (sock->interest)
		epoll_ctl(sock->ep->poller->base.fd, EPOLL_CTL_DEL, sock->fd, NULL);
	sock->interest = 0;
}

static void watch_all(struct udp_poller *p, bool lazy)
{
	struct list *pos;

	p->watching = true;
	list_for_each(pos, &p->socks)
		watch(container_of(pos, struct udp_sock, node), lazy);
}

static void unwatch_all(struct udp_poller *p)
{
	struct list *pos;

	p->watching = false;
	list_for_each(pos, &p->socks)
		unwatch(container_of(pos, struct udp_sock, node));
	obj_prog_moved(p->base.prog, 0);
}

void udp_ep_watch(struct udp_ep *ep)
{
	unsigned i;

	if (!ep->poller->watching)
		return;
	watch(&ep->sock, true);
	if (ep->hot.fd >= 0)
		watch(&ep->hot, true);
	for (i = 0; i < ep->group_cnt; i++)
		if (ep->groups[i] && ep->groups[i]->sock.fd >= 0)
			watch(&ep->groups[i]->sock, true);
}

/* ---- polling --------------------------------------------------------------- */

static int poll_ready(struct udp_poller *p, unsigned budget)
{
	struct epoll_event ev[UDP_BURST];
	int i, cnt, done = 0;

	cnt = epoll_wait(p->base.fd, ev, UDP_BURST, 0);
	for (i = 0; i < cnt && (unsigned) done < budget; i++)
		done += udp_rx_poll(ev[i].data.ptr, budget - (unsigned) done);
	return done;
}

/* While another socket is busy, a quiet one is asked now and then. */
static bool may_skip(const struct udp_poller *p, const struct udp_sock *sock)
{
	return p->round - p->last < UDP_RECENT && p->round - sock->last > UDP_RECENT &&
	       p->round % UDP_QUIET;
}

static int poll_each(struct udp_poller *p, unsigned budget)
{
	struct udp_sock *sock;
	struct list *pos;
	int got, done = 0;

	p->round++;
	list_for_each(pos, &p->socks) {
		sock = container_of(pos, struct udp_sock, node);
		if (may_skip(p, sock))
			continue;
		got = udp_rx_poll(sock, budget);
		if (got)
			sock->last = p->last = p->round;
		done += got;
	}
	return done;
}

static int poller_poll(struct obj_poller *base, unsigned budget)
{
	struct udp_poller *p = poller_of(base);
	struct list *pos, *tmp;
	int done = 0;

	list_for_each_safe(pos, tmp, &p->senders)
		done += udp_tx_flush(container_of(pos, struct udp_ep, tx_node));
	if (p->sock_cnt > UDP_DIRECT)
		return done + poll_ready(p, budget);
	if (__builtin_expect(p->watching, 0) && ++p->polls >= p->patience)
		unwatch_all(p);
	return done + poll_each(p, budget);
}

static int poller_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct udp_poller *p = poller_of(base);
	struct list *pos;

	list_for_each(pos, &p->senders)
		if (!container_of(pos, struct udp_ep, tx_node)->blocked)
			return -FI_EAGAIN;
	if (!p->watching && p->patience < PATIENCE_LAST)
		p->patience *= 2;
	p->polls = 0;
	p->last = p->round - UDP_RECENT;	/* who wakes asks all of them */
	watch_all(p, false);
	return 0;
}

static void poller_close(struct obj_poller *base)
{
	struct udp_poller *p = poller_of(base);

	close(base->fd);
	free(p);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poller_poll,
	.arm = poller_arm,
	.close = poller_close,
};

static int poller_new(struct obj_prog *prog, struct udp_poller **poller_p)
{
	struct udp_poller *p = calloc(1, sizeof(*p));
	int i, ret;

	if (!p)
		return -FI_ENOMEM;
	p->base.ops = &poller_ops;
	p->base.key = &poller_ops;
	p->patience = PATIENCE_FIRST / 2;
	list_init(&p->socks);
	list_init(&p->senders);
	for (i = 0; i < UDP_BURST; i++)
		p->msg[i].msg_hdr.msg_name = &p->slot[i].from;
	p->base.fd = epoll_create1(EPOLL_CLOEXEC);
	if (p->base.fd < 0) {
		ret = -errno;
		FI_WARN(&udp_prov, FI_LOG_EP_CTRL, "epoll_create1: %s. %s\n", strerror(errno),
			net_sock_advice(ret));
		goto err_free;
	}
	ret = obj_prog_add(prog, &p->base);
	if (ret)
		goto err_close;
	*poller_p = p;
	return 0;

err_close:
	close(p->base.fd);
err_free:
	free(p);
	return ret;
}

void udp_poller_add(struct udp_poller *p, struct udp_sock *sock)
{
	sock->interest = 0;
	sock->burst = 1;
	sock->hits = 0;
	list_add_tail(&sock->node, &p->socks);
	if (++p->sock_cnt > UDP_DIRECT || p->watching)
		watch_all(p, true);
}

void udp_poller_del(struct udp_poller *p, struct udp_sock *sock)
{
	unwatch(sock);
	list_del(&sock->node);
	p->sock_cnt--;
}

int udp_poller_join(struct udp_ep *ep)
{
	struct obj_poller *base = obj_prog_find(ep->base.prog, &poller_ops);
	struct udp_poller *p = NULL;
	int ret;

	if (base) {
		p = poller_of(base);
	} else {
		ret = poller_new(ep->base.prog, &p);
		if (ret)
			return ret;
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
