/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Queries for the queue pair behind an address: their steps, retries and ends. */
#include <arpa/inet.h>

#include "verbs/name.h"
#include "verbs/test/fake_device.h"

/* What a step of the connection manager reports, in order; the last one stays. */
static enum rdma_cm_event_type addr_script[8], route_script[8], connect_says;
static unsigned acked, ids, channels, addr_at, route_at;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rdma_cm_event queue[16];
static unsigned head, tail;
static struct rdma_event_channel *last_channel;

static void push(struct rdma_cm_id *id, enum rdma_cm_event_type what)
{
	struct rdma_cm_event *event;

	pthread_mutex_lock(&lock);
	event = &queue[tail++ % 16];
	*event = (struct rdma_cm_event) { .id = id, .event = what };
	event->param.ud.qp_num = 0x123;
	event->param.ud.qkey = 0x456;
	event->param.ud.ah_attr.dlid = 9;
	pthread_mutex_unlock(&lock);
	eventfd_write(id->channel->fd, 1);
}

/* next - what the script has next; the resolver's thread asks, too. */
static enum rdma_cm_event_type next(const enum rdma_cm_event_type *script, unsigned *at)
{
	enum rdma_cm_event_type what;

	pthread_mutex_lock(&lock);
	what = script[*at];
	*at += *at < 7;
	pthread_mutex_unlock(&lock);
	return what;
}

static struct rdma_event_channel *event_channel(void)
{
	channels++;
	last_channel = dev_event_channel();
	return last_channel;
}

static void destroy_channel(struct rdma_event_channel *channel)
{
	channels--;
	dev_destroy_event_channel(channel);
}

static int create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id_p, void *context,
		     enum rdma_port_space ps)
{
	struct rdma_cm_id *id = calloc(1, sizeof(*id));

	assert_int_equal(ps, RDMA_PS_UDP);
	id->channel = channel;
	id->context = context;
	*id_p = id;
	ids++;
	return 0;
}

static int destroy_id(struct rdma_cm_id *id)
{
	ids--;
	free(id);
	return 0;
}

static int resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms)
{
	assert_int_equal(net_addr_port(from), 0);	/* the port is the system's choice */
	push(id, next(addr_script, &addr_at));
	return 0;
}

static int resolve_route(struct rdma_cm_id *id, int ms)
{
	push(id, next(route_script, &route_at));
	return 0;
}

static int connect_id(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	push(id, connect_says);
	return 0;
}

static int get_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	eventfd_t none;
	int ret = -1;

	pthread_mutex_lock(&lock);
	if (head != tail && queue[head % 16].id->channel == channel) {
		*event = &queue[head++ % 16];
		ret = 0;
	} else {
		eventfd_read(channel->fd, &none);
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

static int ack(struct rdma_cm_event *event)
{
	acked++;
	return 0;
}

static int set_up(void **state)
{
	unsigned i;

	dev_init();
	vrb_cm.create_event_channel = event_channel;
	vrb_cm.destroy_event_channel = destroy_channel;
	vrb_cm.create_id = create_id;
	vrb_cm.destroy_id = destroy_id;
	vrb_cm.resolve_addr = resolve_addr;
	vrb_cm.resolve_route = resolve_route;
	vrb_cm.connect = connect_id;
	vrb_cm.get_cm_event = get_event;
	vrb_cm.ack_cm_event = ack;
	for (i = 0; i < 8; i++) {
		addr_script[i] = RDMA_CM_EVENT_ADDR_RESOLVED;
		route_script[i] = RDMA_CM_EVENT_ROUTE_RESOLVED;
	}
	connect_says = RDMA_CM_EVENT_ESTABLISHED;
	acked = addr_at = route_at = head = tail = 0;
	return 0;
}

static int tear_down(void **state)
{
	assert_int_equal(ids, 0);
	assert_int_equal(channels, 0);	/* and so the thread has ended */
	assert_int_equal(acked, tail);
	return 0;
}

static int resolve(struct rdma_ud_param *found)
{
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_port = htons(5) };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(6) };

	from.sin_addr.s_addr = htonl(0x0a000001);
	to.sin_addr.s_addr = htonl(0x0a000002);
	return vrb_name_resolve((struct sockaddr *) &from, (struct sockaddr *) &to, found);
}

static void found(void **state)
{
	struct rdma_ud_param found = { .qp_num = 0 };

	assert_int_equal(resolve(&found), 0);
	assert_int_equal(found.qp_num, 0x123);
	assert_int_equal(found.qkey, 0x456);
	assert_int_equal(found.ah_attr.dlid, 9);
	assert_int_equal(tail, 3);	/* address, route, reply */
}

/* Four timeouts of a step are retried, the fifth is the answer. */
static void retried(void **state)
{
	struct rdma_ud_param found;
	unsigned i;

	for (i = 0; i < 2; i++) {
		addr_script[i] = RDMA_CM_EVENT_ADDR_ERROR;
		route_script[i] = RDMA_CM_EVENT_ROUTE_ERROR;
	}
	assert_int_equal(resolve(&found), 0);
	assert_int_equal(tail, 2 + 1 + 2 + 1 + 1);
}

static void given_up(void **state)
{
	struct rdma_ud_param found = { .qp_num = 1 };
	unsigned i;

	for (i = 0; i < 8; i++)
		addr_script[i] = RDMA_CM_EVENT_ADDR_ERROR;
	assert_int_equal(resolve(&found), -FI_EHOSTUNREACH);
	assert_int_equal(tail, 5);
	assert_int_equal(found.qp_num, 1);
}

static void refused(void **state)
{
	struct rdma_ud_param found;

	connect_says = RDMA_CM_EVENT_REJECTED;
	assert_int_equal(resolve(&found), -FI_EHOSTUNREACH);
	connect_says = RDMA_CM_EVENT_UNREACHABLE;
	assert_int_equal(resolve(&found), -FI_EHOSTUNREACH);
}

/* The answer is counted, and wakes who polls the file descriptor. */
static void wakes(void **state)
{
	union vrb_sa sa = { .sa.sa_family = AF_INET };
	unsigned seen = vrb_name_answers();
	int fd = eventfd(0, EFD_CLOEXEC);
	struct rdma_ud_param found;
	struct vrb_query *q;
	struct fi_info info = { .src_addr = &sa, .src_addrlen = sizeof(struct sockaddr_in) };
	struct rdma_cm_id *own;
	struct ibv_ah *ah;
	eventfd_t told;

	assert_int_equal(vrb_name_bind(&info, NULL, &own), 0);
	assert_int_equal(vrb_name_query(NULL, &sa.sa, &sa.sa, fd, &q), 0);
	assert_int_equal(eventfd_read(fd, &told), 0);
	while (vrb_name_answers() == seen)
		vrb_name_wait(seen);
	assert_true(vrb_name_answered(q));
	assert_true(vrb_name_answers() != seen);
	assert_int_equal(vrb_name_end(q, &ah, &found), 0);
	vrb_name_close(own);
	close(fd);
	info.src_addr = NULL;
	assert_int_equal(vrb_name_bind(&info, NULL, &own), -FI_EADDRNOTAVAIL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(found),
		T(retried),
		T(given_up),
		T(refused),
		T(wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
