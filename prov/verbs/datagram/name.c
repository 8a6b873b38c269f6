/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * name.c - queries for the queue pair behind an address and port.  librdmacm resolves address and
 * route, sends the query as a connection request of the UDP port space, and the reply carries
 * queue pair and key.  A thread handles the events of both directions.
 */
#include "verbs/name.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "verbs/cm.h"

#define STEP_MS 2000		/* timeout of one lookup of address or route */
#define TRIES 5			/* lookups time out under load and are retried */
#define ANSWER_MS 10000		/* timeout of a query */
#define RECHECK_MS 100		/* a waiting thread looks at the deadline so often */

struct vrb_query {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	union net_sa from, to;
	int wake;
	unsigned tries;
	uint64_t deadline_ns;
	/* Written by the thread until @answered is set: */
	atomic_bool answered;
	struct rdma_ud_param found;
	struct ibv_ah *ah;
	int err;
};

static void on_query_event(struct rdma_cm_event *event);

/* ---- the thread, and answers to peers ------------------------------------------- */

/* The thread and its channels exist while there are names. */
static struct {
	pthread_mutex_t lock;		/* guards what follows */
	unsigned users;
	struct rdma_event_channel *channel, *queries;
	int stop;			/* eventfd */
	pthread_t thread;
} names = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The device is being removed: flush the queue pair. */
static void on_name_removal(struct vrb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	VRB_WARN(FI_LOG_EP_CTRL, "device %s is being removed: datagram endpoint %p can send no more\n",
		 ep->base.domain->attr->name, (void *) ep);
	obj_cm_shut(&ep->base);
	vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_STATE);
}

/* A query of a peer is answered with our queue pair.  The id of an event is not destroyed before the
 * event is acknowledged, so the endpoint exists.
 */
static void on_name_event(struct rdma_cm_event *event)
{
	struct rdma_cm_id *requester = NULL;
	struct vrb_ep *ep = event->listen_id ? event->listen_id->context : event->id->context;
	struct rdma_conn_param param = { 0 };

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		requester = event->id;
		param.qp_num = ep->qp->qp_num;
		vrb_cm.accept(requester, &param);
	} else if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		on_name_removal(ep);
	}
	vrb_cm.ack_cm_event(event);
	if (requester)
		vrb_cm.destroy_id(requester);
}

static void *name_thread(void *arg)
{
	struct pollfd fds[] = {
		{ .fd = names.channel->fd, .events = POLLIN },
		{ .fd = names.queries->fd, .events = POLLIN },
		{ .fd = names.stop, .events = POLLIN },
	};
	struct rdma_cm_event *event;

	while (poll(fds, 3, -1) >= 0 || errno == EINTR) {
		if (fds[2].revents)
			break;
		while (!vrb_cm.get_cm_event(names.channel, &event))
			on_name_event(event);
		while (!vrb_cm.get_cm_event(names.queries, &event))
			on_query_event(event);
	}
	return NULL;
}

static struct rdma_event_channel *channel_new(void)
{
	struct rdma_event_channel *channel = vrb_cm.create_event_channel();

	if (channel)
		fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	else
		VRB_WARN(FI_LOG_EP_CTRL, "cannot create a channel for datagram endpoints' names: %s\n",
			 fi_strerror(errno));
	return channel;
}

static void names_end(void)
{
	if (names.stop >= 0)
		close(names.stop);
	if (names.queries)
		vrb_cm.destroy_event_channel(names.queries);
	vrb_cm.destroy_event_channel(names.channel);
}

static int names_start(void)
{
	int ret;

	names.channel = channel_new();
	if (!names.channel)
		return cm_errno();
	names.queries = channel_new();
	names.stop = eventfd(0, EFD_CLOEXEC);
	ret = names.stop < 0 || !names.queries ? cm_errno() :
	      thread_start(&names.thread, name_thread, NULL);
	if (ret)
		names_end();
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
		names_end();
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

int vrb_name_bind_at(const struct sockaddr *sa, struct vrb_ep *ep, struct rdma_cm_id **id_p)
{
	struct fi_info at = { .src_addr = (void *) sa, .src_addrlen = net_addr_len(sa) };

	return vrb_name_bind(&at, ep, id_p);
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

/* ---- waiting -------------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	unsigned answers;
} replies = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

unsigned vrb_name_answers(void)
{
	unsigned answers;

	pthread_mutex_lock(&replies.lock);
	answers = replies.answers;
	pthread_mutex_unlock(&replies.lock);
	return answers;
}

void vrb_name_wait(unsigned seen)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += RECHECK_MS * (long) CLOCK_NS_PER_MS;
	ts.tv_sec += ts.tv_nsec / (long) CLOCK_NS_PER_S;
	ts.tv_nsec %= (long) CLOCK_NS_PER_S;
	pthread_mutex_lock(&replies.lock);
	if (replies.answers == seen)
		pthread_cond_timedwait(&replies.more, &replies.lock, &ts);
	pthread_mutex_unlock(&replies.lock);
}

/* ---- queries -------------------------------------------------------------------- */

static int resolve_addr(struct vrb_query *q)
{
	return vrb_cm.resolve_addr(q->id, &q->from.sa, &q->to.sa, STEP_MS) ? cm_errno() : 0;
}

static int resolve_route(struct vrb_query *q)
{
	return vrb_cm.resolve_route(q->id, STEP_MS) ? cm_errno() : 0;
}

static int send_query(struct vrb_query *q)
{
	struct rdma_conn_param param = { 0 };

	return vrb_cm.connect(q->id, &param) ? cm_errno() : 0;
}

/* Making the address handle may wait for neighbour discovery: it is done in this thread. */
static int take_reply(struct vrb_query *q, const struct rdma_ud_param *found)
{
	q->found = *found;
	if (!q->pd)
		return 1;
	q->ah = vrb_ibv.create_ah(q->pd, &q->found.ah_attr);
	return q->ah ? 1 : cm_errno();
}

/* Each event starts the next step: address, route, query, reply.  Returns 1: answered; 0: in flight;
 * or an error.
 */
static int query_step(struct vrb_query *q, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return resolve_route(q);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return send_query(q);
	case RDMA_CM_EVENT_ADDR_ERROR:
		return ++q->tries < TRIES ? resolve_addr(q) : -FI_EHOSTUNREACH;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return ++q->tries < TRIES ? resolve_route(q) : -FI_EHOSTUNREACH;
	case RDMA_CM_EVENT_ESTABLISHED:
		return take_reply(q, &event->param.ud);
	default:
		return -FI_EHOSTUNREACH;
	}
}

/* The id, and so the query, is not destroyed before the event is acknowledged. */
static void on_query_event(struct rdma_cm_event *event)
{
	struct vrb_query *q = event->id->context;
	int ret = q->answered ? 0 : query_step(q, event);

	if (ret) {
		q->err = ret < 0 ? ret : 0;
		atomic_store(&q->answered, true);
		if (q->wake >= 0)
			eventfd_write(q->wake, 1);
		pthread_mutex_lock(&replies.lock);
		replies.answers++;
		pthread_cond_broadcast(&replies.more);
		pthread_mutex_unlock(&replies.lock);
	}
	vrb_cm.ack_cm_event(event);
}

int vrb_name_query(struct ibv_pd *pd, const struct sockaddr *from, const struct sockaddr *to,
		 int wake, struct vrb_query **q_p)
{
	struct vrb_query *q = calloc(1, sizeof(*q));
	int ret = q ? 0 : -FI_ENOMEM;

	if (!ret)
		ret = net_addr_copy(from, net_addr_len(from), &q->from);
	if (!ret)
		ret = net_addr_copy(to, net_addr_len(to), &q->to);
	if (ret)
		goto err;
	net_addr_set_port(&q->from.sa, 0);
	q->pd = pd;
	q->wake = wake;
	q->deadline_ns = clock_ns() + ANSWER_MS * (uint64_t) CLOCK_NS_PER_MS;
	if (vrb_cm.create_id(names.queries, &q->id, q, RDMA_PS_UDP)) {
		ret = cm_errno();
		goto err;
	}
	ret = resolve_addr(q);
	if (!ret) {
		*q_p = q;
		return 0;
	}
	vrb_cm.destroy_id(q->id);
err:
	free(q);
	return ret;
}

bool vrb_name_answered(const struct vrb_query *q)
{
	return atomic_load(&q->answered) || clock_ns() >= q->deadline_ns;
}

uint64_t vrb_name_deadline(const struct vrb_query *q)
{
	return q->deadline_ns;
}

int vrb_name_end(struct vrb_query *q, struct ibv_ah **ah_p, struct rdma_ud_param *found)
{
	char text[NET_ADDR_TEXT_MAX];
	int ret;

	vrb_cm.destroy_id(q->id);
	ret = atomic_load(&q->answered) ? q->err : -FI_EHOSTUNREACH;
	if (!ah_p) {
		if (q->ah)
			vrb_ibv.destroy_ah(q->ah);
	} else if (ret) {
		VRB_WARN(FI_LOG_EP_DATA, "no answer from a datagram endpoint at %s: %s. See that its "
			 "program runs and has enabled it\n", net_addr_text(&q->to.sa, text),
			 fi_strerror(-ret));
	} else {
		*ah_p = q->ah;
		*found = q->found;
	}
	free(q);
	return ret;
}

int vrb_name_resolve(const struct sockaddr *from, const struct sockaddr *to,
		  struct rdma_ud_param *found)
{
	struct vrb_query *q;
	struct ibv_ah *none;
	unsigned seen;
	int ret = names_get();

	if (ret)
		return ret;
	ret = vrb_name_query(NULL, from, to, -1, &q);
	if (!ret) {
		for (seen = vrb_name_answers(); !vrb_name_answered(q); seen = vrb_name_answers())
			vrb_name_wait(seen);
		ret = vrb_name_end(q, &none, found);
	}
	names_put();
	return ret;
}
