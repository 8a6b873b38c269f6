/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "verbs/async.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "progress/fdset.h"
#include "verbs/provider.h"

#define BATCH 8

static const struct obj_poller_ops async_ops;

static const char *name_of(const struct ibv_context *ctx)
{
	return vrb_ibv.get_device_name(ctx->device);
}

static void on_port(const struct ibv_context *ctx, const struct ibv_async_event *event)
{
	const char *what = event->event_type == IBV_EVENT_PORT_ERR ?
		"is down: operations in flight wait, and fail if it stays down. See the cable, the "
		"switch, and \"rdma link\"" : "is up again";

	VRB_WARN(FI_LOG_FABRIC, "port %d of device %s %s\n", event->element.port_num, name_of(ctx),
		 what);
}

static void on_async_event(const struct ibv_context *ctx, const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_PORT_ACTIVE:
		on_port(ctx, event);
		break;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_SRQ_ERR:
		VRB_WARN(FI_LOG_FABRIC, "device %s reports: %s\n", name_of(ctx),
			 vrb_ibv.event_type_str(event->event_type));
		break;
	default:
		VRB_INFO(FI_LOG_FABRIC, "device %s reports: %s\n", name_of(ctx),
			 vrb_ibv.event_type_str(event->event_type));
		break;
	}
}

/* The descriptor of a removed device stays readable for ever: stop polling it. */
static int async_take_events(struct obj_poller *poller, struct ibv_context *ctx)
{
	struct ibv_async_event event;
	int done = 0;

	errno = 0;
	while (!vrb_ibv.get_async_event(ctx, &event)) {
		on_async_event(ctx, &event);
		vrb_ibv.ack_async_event(&event);
		done++;
	}
	if (errno != EAGAIN && errno != EINTR) {
		VRB_INFO(FI_LOG_FABRIC, "events of device %s are no longer read: %s\n", name_of(ctx),
			 fi_strerror(errno));
		fdset_remove(poller->fd, ctx->async_fd);
	}
	return done;
}

static int async_poll(struct obj_poller *poller, unsigned budget)
{
	struct fdset_event ready[BATCH];
	int i, done = 0, cnt = fdset_look(poller->fd, ready, BATCH);

	for (i = 0; i < cnt; i++)
		done += async_take_events(poller, ready[i].ptr);
	return done;
}

/* The set is level-triggered: an unread event wakes a thread by itself. */
static int async_arm(struct obj_poller *poller, uint64_t *deadline_ns)
{
	return 0;
}

static void async_close(struct obj_poller *poller)
{
	fdset_close(poller->fd);
	free(poller);
}

/* One poller per device and group; its fd is that of the device's asynchronous events. */
static const struct obj_poller_ops async_ops = {
	.poll = async_poll,
	.arm = async_arm,
	.close = async_close,
};

/* The descriptor is the context's, which all domains of the device share; it may be in the set of
 * another group as well, and either reads the event.
 */
int vrb_async_watch(struct obj_prog *prog, struct ibv_context *ctx)
{
	struct obj_poller *poller;
	int ret = obj_prog_share(prog, &async_ops, sizeof(*poller), &vrb_prov, &poller);

	if (ret < 0)
		return ret;
	fcntl(ctx->async_fd, F_SETFL, fcntl(ctx->async_fd, F_GETFL) | O_NONBLOCK);
	ret = fdset_add(poller->fd, ctx->async_fd, POLLIN, ctx);
	return ret == -EEXIST ? 0 : ret;
}
