/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "mlx5_cm.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/list.h"
#include "mlx5_kernel.h"
#include "verbs/sa.h"

struct channel {
	struct rdma_event_channel base;		/* first */
	struct list events;
};

struct id {
	struct rdma_cm_id base;			/* first */
	struct channel *channel;
	struct list node;			/* on the list of listeners */
	unsigned out;				/* events that the caller has not acknowledged */
	/* Of a connection: */
	struct id *peer;			/* while there is one, or is to be */
	uint32_t num;				/* queue pair number of the request */
	bool up;
	struct list call;			/* on the list of connections, once it has a number */
};

struct event {
	struct rdma_cm_event base;		/* first */
	struct list node;
	uint8_t data[256];			/* private, and zeros */
};

/* Bytes of private data that come with these, however few were sent. */
#define CM_REQ_DATA 56
#define CM_REP_DATA 196
#define CM_REJ_DATA 148

static struct ibv_context *device;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t acked = PTHREAD_COND_INITIALIZER;
static struct list listeners = { &listeners, &listeners };
static struct list calls = { &calls, &calls };
static bool held;
static struct list kept = { &kept, &kept };	/* events, while answers are held */
static uint16_t next_port = 20000;

/* ---- events --------------------------------------------------------------------- */

static void deliver(struct event *event)
{
	struct channel *channel = ((struct id *) event->base.id)->channel;

	list_add_tail(&event->node, &channel->events);
	eventfd_write(channel->base.fd, 1);
}

/* One of a connection, with private data of @len bytes that come as @size.  Threading: locked. */
static void put(struct id *id, struct id *listener, enum rdma_cm_event_type what, int status,
		const struct rdma_conn_param *param, size_t len, size_t size)
{
	struct event *event = calloc(1, sizeof(*event));

	event->base.id = &id->base;
	event->base.listen_id = listener ? &listener->base : NULL;
	event->base.event = what;
	event->base.status = status;
	if (param)
		event->base.param.conn = *param;
	if (len)
		memcpy(event->data, param->private_data, len);
	event->base.param.conn.private_data = size ? event->data : NULL;
	event->base.param.conn.private_data_len = (uint8_t) size;
	if (held)
		list_add_tail(&event->node, &kept);
	else
		deliver(event);
}

static int tell(struct rdma_cm_id *id, enum rdma_cm_event_type what,
		const struct rdma_ud_param *ud)
{
	struct event *event = calloc(1, sizeof(*event));

	event->base.id = id;
	event->base.event = what;
	if (ud)
		event->base.param.ud = *ud;
	pthread_mutex_lock(&lock);
	if (held)
		list_add_tail(&event->node, &kept);
	else
		deliver(event);
	pthread_mutex_unlock(&lock);
	return 0;
}

void cm_hold(bool hold)
{
	struct list *pos;

	pthread_mutex_lock(&lock);
	held = hold;
	while (!hold && (pos = list_pop(&kept)))
		deliver(container_of(pos, struct event, node));
	pthread_mutex_unlock(&lock);
}

static int get_event(struct rdma_event_channel *base, struct rdma_cm_event **event_p)
{
	struct channel *channel = (struct channel *) base;
	struct event *event;
	struct list *pos;
	eventfd_t cnt;

	pthread_mutex_lock(&lock);
	pos = list_pop(&channel->events);
	if (pos) {
		event = container_of(pos, struct event, node);
		((struct id *) event->base.id)->out++;
		*event_p = &event->base;
	} else {
		eventfd_read(base->fd, &cnt);
		errno = EAGAIN;
	}
	pthread_mutex_unlock(&lock);
	return pos ? 0 : -1;
}

static int ack_event(struct rdma_cm_event *event)
{
	pthread_mutex_lock(&lock);
	((struct id *) event->id)->out--;
	pthread_cond_broadcast(&acked);
	pthread_mutex_unlock(&lock);
	free(event);
	return 0;
}

/* ---- channels and ids ----------------------------------------------------------- */

static struct rdma_event_channel *create_channel(void)
{
	struct channel *channel = calloc(1, sizeof(*channel));

	list_init(&channel->events);
	channel->base.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return &channel->base;
}

static void destroy_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

static int create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id_p, void *context,
		     enum rdma_port_space ps)
{
	struct id *id = calloc(1, sizeof(*id));

	id->base.context = context;
	id->base.ps = ps;
	id->channel = (struct channel *) channel;
	list_init(&id->node);
	list_init(&id->call);
	*id_p = &id->base;
	return 0;
}

/* Its connection ends, and the peer hears of it.  Threading: locked. */
static void part(struct id *id, enum rdma_cm_event_type what)
{
	struct id *peer = id->peer;

	list_del(&id->call);
	id->peer = NULL;
	id->up = false;
	if (!peer)
		return;
	list_del(&peer->call);
	peer->peer = NULL;
	put(peer, NULL, peer->up ? RDMA_CM_EVENT_DISCONNECTED : what, 28, NULL, 0, CM_REJ_DATA);
	peer->up = false;
}

static void purge(struct list *events, const struct id *id)
{
	struct event *event, *next;

	list_for_each_entry_safe(event, next, events, node) {
		if (event->base.listen_id == &id->base) {
			part((struct id *) event->base.id, RDMA_CM_EVENT_REJECTED);
			free(event->base.id);
		}
		if (event->base.id == &id->base || event->base.listen_id == &id->base) {
			list_del(&event->node);
			free(event);
		}
	}
}

static int destroy_id(struct rdma_cm_id *base)
{
	struct id *id = (struct id *) base;

	pthread_mutex_lock(&lock);
	part(id, RDMA_CM_EVENT_REJECTED);
	list_del(&id->node);
	purge(&kept, id);
	purge(&id->channel->events, id);
	while (id->out)
		pthread_cond_wait(&acked, &lock);
	pthread_mutex_unlock(&lock);
	free(id);
	return 0;
}

static int bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct sockaddr *src = &id->route.addr.src_addr;

	memcpy(&id->route.addr.src_storage, addr, vrb_sa_len(addr));
	if (!vrb_sa_port(src))
		vrb_sa_set_port(src, next_port++);
	id->verbs = device;
	id->port_num = 1;
	return 0;
}

static uint16_t get_src_port(struct rdma_cm_id *id)
{
	return htons(vrb_sa_port(&id->route.addr.src_addr));
}

static int create_qp(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct verbs_context *verbs = verbs_get_ctx_op(device, create_qp_ex);
	struct ibv_qp_attr state = { .qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC, .qkey = CM_QKEY };
	int mask = attr->qp_type == IBV_QPT_UD ? IBV_QP_STATE | IBV_QP_QKEY :
						 IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;

	id->qp = verbs ? verbs->create_qp_ex(device, attr) : NULL;
	if (!id->qp)
		return -1;
	for (state.qp_state = IBV_QPS_INIT; state.qp_state <= IBV_QPS_RTS; state.qp_state++)
		vrb_ibv.modify_qp(id->qp, &state, mask);
	return 0;
}

static void destroy_qp(struct rdma_cm_id *id)
{
	struct ibv_qp *qp = id->qp;

	pthread_mutex_lock(&lock);
	id->qp = NULL;
	pthread_mutex_unlock(&lock);
	vrb_ibv.destroy_qp(qp);
}

static struct ibv_context **get_devices(int *cnt)
{
	static struct ibv_context *list[2];

	list[0] = device;
	return list;
}

/* ---- names ---------------------------------------------------------------------- */

static int listen_at(struct rdma_cm_id *base, int backlog)
{
	struct id *id = (struct id *) base;

	pthread_mutex_lock(&lock);
	list_add_tail(&id->node, &listeners);
	pthread_mutex_unlock(&lock);
	return 0;
}

static int resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int ms)
{
	memcpy(&id->route.addr.dst_storage, dst, vrb_sa_len(dst));
	return tell(id, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

static int resolve_route(struct rdma_cm_id *id, int ms)
{
	return tell(id, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

/* The queue pair's number, or 0. */
static uint32_t who_listens(const struct sockaddr *at)
{
	uint32_t qpn = 0;
	struct id *id;

	pthread_mutex_lock(&lock);
	list_for_each_entry(id, &listeners, node)
		if (id->base.qp && !memcmp(&id->base.route.addr.src_addr, at, net_addr_len(at)))
			qpn = id->base.qp->qp_num;
	pthread_mutex_unlock(&lock);
	return qpn;
}

/* ---- connections ---------------------------------------------------------------- */

static struct id *who_answers(const struct sockaddr *at)
{
	struct id *id;

	list_for_each_entry(id, &listeners, node)
		if (id->base.ps == RDMA_PS_TCP &&
		    !memcmp(&id->base.route.addr.src_addr, at, net_addr_len(at)))
			return id;
	return NULL;
}

static bool is_stale(uint32_t num)
{
	struct id *id;

	list_for_each_entry(id, &calls, call)
		if (id->num == num)
			return true;
	return false;
}

static void takes(struct id *id, const struct rdma_conn_param *param)
{
	id->num = id->base.qp ? id->base.qp->qp_num : param->qp_num;
	list_add_tail(&id->call, &calls);
}

/* As the kernel does it: the number of a queue pair is in one connection at a time. */
static int call(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
	struct id *id = (struct id *) base, *child, *listener;
	struct rdma_conn_param said = *param;

	pthread_mutex_lock(&lock);
	listener = who_answers(&base->route.addr.dst_addr);
	if (!listener || is_stale(param->qp_num)) {
		put(id, NULL, RDMA_CM_EVENT_REJECTED, listener ? 10 : 8, NULL, 0, 0);
		pthread_mutex_unlock(&lock);
		return 0;
	}
	takes(id, param);
	child = calloc(1, sizeof(*child));
	*child = (struct id) { .base = { .context = listener->base.context, .ps = RDMA_PS_TCP,
					 .verbs = device, .port_num = 1 },
			       .channel = listener->channel, .peer = id };
	list_init(&child->node);
	list_init(&child->call);
	child->base.route.addr.src_storage = base->route.addr.dst_storage;
	child->base.route.addr.dst_storage = base->route.addr.src_storage;
	id->peer = child;
	said.qp_num = id->num;
	put(child, listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, &said, param->private_data_len,
	    CM_REQ_DATA);
	pthread_mutex_unlock(&lock);
	return 0;
}

static int accept_call(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
	struct id *id = (struct id *) base;
	struct rdma_conn_param said = *param;

	pthread_mutex_lock(&lock);
	if (id->peer) {
		takes(id, param);
		said.qp_num = id->num;
		put(id->peer, NULL, id->peer->base.qp ? RDMA_CM_EVENT_ESTABLISHED :
		    RDMA_CM_EVENT_CONNECT_RESPONSE, 0, &said, param->private_data_len, CM_REP_DATA);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static int establish(struct rdma_cm_id *base)
{
	struct id *id = (struct id *) base;
	int ret = id->peer ? 0 : -1;

	pthread_mutex_lock(&lock);
	if (id->peer) {
		id->up = id->peer->up = true;
		put(id->peer, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0, 0);
	}
	pthread_mutex_unlock(&lock);
	errno = ENOTCONN;
	return ret;
}

static int reject(struct rdma_cm_id *base, const void *data, uint8_t len)
{
	struct id *id = (struct id *) base, *peer = id->peer;
	struct rdma_conn_param said = { .private_data = data };

	pthread_mutex_lock(&lock);
	if (peer) {
		put(peer, NULL, RDMA_CM_EVENT_REJECTED, 28, &said, len, CM_REJ_DATA);
		list_del(&peer->call);
		peer->peer = NULL;
	}
	list_del(&id->call);
	id->peer = NULL;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Both ends get the event. */
static int disconnect(struct rdma_cm_id *base)
{
	struct id *id = (struct id *) base;

	pthread_mutex_lock(&lock);
	if (id->peer) {
		if (id->up)
			put(id, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0, 0);
		part(id, RDMA_CM_EVENT_REJECTED);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

/* The attributes that the kernel returns for a reliable connection; it does not know of XRC. */
static int init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	switch (attr->qp_state) {
	case IBV_QPS_INIT:
		*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
		attr->port_num = 1;
		break;
	case IBV_QPS_RTR:
		*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		attr->ah_attr = (struct ibv_ah_attr) { .is_global = 1, .port_num = 1 };
		attr->path_mtu = IBV_MTU_1024;
		break;
	default:
		*mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
		break;
	}
	return 0;
}

static uint16_t get_dst_port(struct rdma_cm_id *id)
{
	return htons(net_addr_port(&id->route.addr.dst_addr));
}

static int ask(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct sockaddr *to = &id->route.addr.dst_addr;
	struct rdma_ud_param ud = {
		.qkey = CM_QKEY,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh.hop_limit = 64 },
	};

	if (id->ps == RDMA_PS_TCP)
		return call(id, param);
	ud.qp_num = who_listens(to);
	if (!ud.qp_num)
		return tell(id, RDMA_CM_EVENT_UNREACHABLE, NULL);
	memset(ud.ah_attr.grh.dgid.raw + 10, 0xff, 2);
	memcpy(ud.ah_attr.grh.dgid.raw + 12, &((struct sockaddr_in *) to)->sin_addr, 4);
	return tell(id, RDMA_CM_EVENT_ESTABLISHED, &ud);
}

static void replace(void)
{
	vrb_cm.create_event_channel = create_channel;
	vrb_cm.destroy_event_channel = destroy_channel;
	vrb_cm.create_id = create_id;
	vrb_cm.destroy_id = destroy_id;
	vrb_cm.bind_addr = bind_addr;
	vrb_cm.get_src_port = get_src_port;
	vrb_cm.create_qp_ex = create_qp;
	vrb_cm.destroy_qp = destroy_qp;
	vrb_cm.disconnect = disconnect;
	vrb_cm.accept = accept_call;
	vrb_cm.reject = reject;
	vrb_cm.establish = establish;
	vrb_cm.init_qp_attr = init_qp_attr;
	vrb_cm.get_dst_port = get_dst_port;
	vrb_cm.get_cm_event = get_event;
	vrb_cm.ack_cm_event = ack_event;
	vrb_cm.get_devices = get_devices;
	vrb_cm.listen = listen_at;
	vrb_cm.resolve_addr = resolve_addr;
	vrb_cm.resolve_route = resolve_route;
	vrb_cm.connect = ask;
}

/* ---- the device ----------------------------------------------------------------- */

bool cm_boot(void)
{
	struct ibv_device **(*list)(int *) = NULL;
	struct ibv_context *(*open_dev)(struct ibv_device *) = NULL;
	void (*free_list)(struct ibv_device **) = NULL;
	void *lib = dlopen("libibverbs.so.1", RTLD_NOW);
	struct ibv_device **devs;
	int cnt = 0;

	if (!lib || !dlopen("libmlx5.so.1", RTLD_NOW) || kernel_boot() || vrb_lib_open())
		return false;
	*(void **) &list = dlsym(lib, "ibv_get_device_list");
	*(void **) &open_dev = dlsym(lib, "ibv_open_device");
	*(void **) &free_list = dlsym(lib, "ibv_free_device_list");
	devs = list(&cnt);
	device = cnt ? open_dev(devs[0]) : NULL;
	if (devs)
		free_list(devs);
	if (device)
		replace();
	return device != NULL;
}
