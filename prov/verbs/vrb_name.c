/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "vrb_name.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "vrb_cm.h"

#define STEP_MS 2000		/* address, route: so long a try may take */
#define TRIES 5			/* under load they time out, and work the next time */
#define ANSWER_MS 10000

/* ---- answering ------------------------------------------------------------------------ */

/* The thread and its channel, while there are endpoints. */
static struct {
	pthread_mutex_t lock;		/* guards what follows */
	unsigned users;
	struct rdma_event_channel *channel;
	int stop;			/* eventfd */
	pthread_t thread;
} names = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The device goes: what is posted comes back. */
static void on_removal(struct vrb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	VRB_WARN(FI_LOG_EP_CTRL, "device %s is being removed: datagram endpoint %p is at its end\n",
		 ep->base.domain->attr->name, (void *) ep);
	atomic_store(&ep->state, VRB_EP_SHUT);
	vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_STATE);
}

/* Until an event is acknowledged, the id that it came to is not destroyed. */
static void on_event(struct rdma_cm_event *event)
{
	struct rdma_cm_id *asks = NULL;
	struct vrb_ep *ep = event->listen_id ? event->listen_id->context : event->id->context;
	struct rdma_conn_param param = { 0 };

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		asks = event->id;
		param.qp_num = ep->qp->qp_num;
		vrb_cm.accept(asks, &param);
	} else if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		on_removal(ep);
	}
	vrb_cm.ack_cm_event(event);
	if (asks)
		vrb_cm.destroy_id(asks);
}

static void *answer(void *arg)
{
	struct pollfd fds[] = {
		{ .fd = names.channel->fd, .events = POLLIN },
		{ .fd = names.stop, .events = POLLIN },
	};
	struct rdma_cm_event *event;

	while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
		if (fds[1].revents)
			break;
		while (!vrb_cm.get_cm_event(names.channel, &event))
			on_event(event);
	}
	return NULL;
}

static struct rdma_event_channel *channel_new(void)
{
	struct rdma_event_channel *channel = vrb_cm.create_event_channel();

	if (channel)
		fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	else
		VRB_WARN(FI_LOG_EP_CTRL, "no channel for the names of datagram endpoints: %s\n",
			 fi_strerror(errno));
	return channel;
}

/* No signal of the program's is delivered to the thread. */
static int thread_new(void)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&names.thread, NULL, answer, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

static int names_start(void)
{
	int ret;

	names.channel = channel_new();
	if (!names.channel)
		return cm_errno();
	names.stop = eventfd(0, EFD_CLOEXEC);
	ret = names.stop < 0 ? -errno : thread_new();
	if (!ret)
		return 0;
	if (names.stop >= 0)
		close(names.stop);
	vrb_cm.destroy_event_channel(names.channel);
	return ret;
}

static int names_get(void)
{
	int ret;

	pthread_mutex_lock(&names.lock);
	ret = names.users ? 0 : names_start();
	names.users += !ret;
	pthread_mutex_unlock(&names.lock);
	return ret;
}

static void names_put(void)
{
	pthread_mutex_lock(&names.lock);
	if (!--names.users) {
		eventfd_write(names.stop, 1);
		pthread_join(names.thread, NULL);
		close(names.stop);
		vrb_cm.destroy_event_channel(names.channel);
	}
	pthread_mutex_unlock(&names.lock);
}

int vrb_name_bind(const struct fi_info *info, struct vrb_ep *ep, struct rdma_cm_id **id_p)
{
	int ret = info->src_addr ? names_get() : -FI_EADDRNOTAVAIL;

	if (ret)
		return ret;
	ret = vrb_cm_bind_id(names.channel, info, ep, RDMA_PS_UDP, id_p);
	if (ret)
		names_put();
	return ret;
}

int vrb_name_serve(struct rdma_cm_id *id)
{
	return vrb_cm.listen(id, 0) ? cm_errno() : 0;
}

void vrb_name_close(struct rdma_cm_id *id)
{
	vrb_cm.destroy_id(id);
	names_put();
}

/* ---- asking ------------------------------------------------------------------------------ */

/* Waits for the next event of @channel.  NULL: too late. */
static struct rdma_cm_event *next_event(struct rdma_event_channel *channel, uint64_t deadline)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	uint64_t now;

	while (vrb_cm.get_cm_event(channel, &event)) {
		now = clock_ns();
		if (now >= deadline)
			return NULL;
		poll(&pfd, 1, (int) ((deadline - now) / CLOCK_NS_PER_MS) + 1);
	}
	return event;
}

/* One question on its way: each event leads to the next step. */
struct question {
	struct rdma_cm_id *id;
	struct sockaddr *from, *to;
	struct rdma_ud_param *found;
	unsigned tries;
};

static int look_for_address(struct question *q)
{
	return vrb_cm.resolve_addr(q->id, q->from, q->to, STEP_MS) ? cm_errno() : 0;
}

static int look_for_route(struct question *q)
{
	return vrb_cm.resolve_route(q->id, STEP_MS) ? cm_errno() : 0;
}

static int put_question(struct question *q)
{
	struct rdma_conn_param param = { 0 };

	return vrb_cm.connect(q->id, &param) ? cm_errno() : 0;
}

/* Returns 1: answered; 0: go on; or an error. */
static int heed(struct question *q, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return look_for_route(q);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return put_question(q);
	case RDMA_CM_EVENT_ADDR_ERROR:
		return ++q->tries < TRIES ? look_for_address(q) : -FI_EHOSTUNREACH;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return ++q->tries < TRIES ? look_for_route(q) : -FI_EHOSTUNREACH;
	case RDMA_CM_EVENT_ESTABLISHED:
		*q->found = event->param.ud;
		return 1;
	default:
		return -FI_EHOSTUNREACH;
	}
}

static int converse(struct question *q, struct rdma_event_channel *channel)
{
	uint64_t deadline = clock_ns() + ANSWER_MS * (uint64_t) CLOCK_NS_PER_MS;
	int ret = look_for_address(q);
	struct rdma_cm_event *event;

	while (!ret) {
		event = next_event(channel, deadline);
		if (!event)
			return -FI_EHOSTUNREACH;
		ret = heed(q, event);
		vrb_cm.ack_cm_event(event);
	}
	return ret > 0 ? 0 : ret;
}

int vrb_name_ask(const struct sockaddr *from, const struct sockaddr *to,
		 struct rdma_ud_param *found)
{
	struct rdma_event_channel *channel = channel_new();
	char text[NET_ADDR_TEXT_MAX];
	union net_sa src, dest;
	struct question q = { .from = &src.sa, .to = &dest.sa, .found = found };
	int ret;

	if (!channel)
		return cm_errno();
	ret = net_addr_copy(from, net_addr_len(from), &src);
	if (!ret)
		ret = net_addr_copy(to, net_addr_len(to), &dest);
	if (!ret && vrb_cm.create_id(channel, &q.id, NULL, RDMA_PS_UDP))
		ret = cm_errno();
	if (ret)
		goto out;
	net_addr_set_port(&src.sa, 0);
	ret = converse(&q, channel);
	if (ret)
		VRB_WARN(FI_LOG_EP_DATA, "no datagram endpoint answers at %s: %s. See that its "
			 "program runs and has enabled it\n", net_addr_text(to, text),
			 fi_strerror(-ret));
	vrb_cm.destroy_id(q.id);
out:
	vrb_cm.destroy_event_channel(channel);
	return ret;
}
