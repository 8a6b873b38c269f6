/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Connections over librdmacm: events of the connection manager, private data, requests. */
#include <arpa/inet.h>

#include "verbs/cm.h"
#include "verbs/test/fake_device.h"

static struct fake f;
static struct fi_info *info;
static struct fid_cq *cq;
static struct fid_eq *eq;
static struct fid_pep *pep;
static struct vrb_ep *ep;
static struct obj_prog *prog;
static struct rdma_cm_id caller;
static struct sockaddr_in here = { .sin_family = AF_INET }, there = { .sin_family = AF_INET };

static int set_up(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG, .caps = FI_MSG };

	dev_init();
	memset(&caller, 0, sizeof(caller));
	fake_open(&f, &want);
	fake_log_start();
	here.sin_addr.s_addr = htonl(1);
	here.sin_port = there.sin_port = htons(7);
	there.sin_addr.s_addr = htonl(2);
	info = fi_dupinfo(f.info);
	info->tx_attr->size = info->rx_attr->size = 8;
	info->src_addr = malloc(sizeof(here));
	memcpy(info->src_addr, &here, sizeof(here));
	info->src_addrlen = sizeof(here);
	cq = fake_cq(&f, FI_CQ_FORMAT_MSG, FI_WAIT_NONE);
	eq = fake_eq(&f, FI_WAIT_NONE);
	assert_int_equal(vrb_cm_open(obj_fabric_of(f.fabric), &prog), 0);
	ep = dev_ep(&f, info, cq, FI_TRANSMIT | FI_RECV, eq);
	ep->base.cm.prog = prog;
	return 0;
}

static int tear_down(void **state)
{
	dev_ep_close(ep);
	if (pep)
		CLOSE(pep);
	pep = NULL;
	CLOSE(eq);
	CLOSE(cq);
	obj_prog_put(prog);
	fi_freeinfo(info);
	fake_close(&f);
	return 0;
}

/* The next events that librdmacm has; they are handled when the group is polled. */
static struct rdma_cm_event *says(enum rdma_cm_event_type what)
{
	struct rdma_cm_event *event = &dev.events[dev.event_cnt++];

	*event = (struct rdma_cm_event) { .id = &dev.id, .event = what };
	return event;
}

static void handle(void)
{
	dev.id.context = &ep->cm;
	lock_get(&prog->lock);
	obj_prog_poll_locked(prog);
	lock_put(&prog->lock);
	assert_int_equal(dev.event_at, dev.event_cnt);
}

static void connect_now(void)
{
	says(RDMA_CM_EVENT_ADDR_RESOLVED);
	says(RDMA_CM_EVENT_ROUTE_RESOLVED);
	dev.id.context = &ep->cm;
	assert_int_equal(fi_connect(&ep->base.h.fid, &there, "knock", 5), 0);
}

union event {
	struct fi_eq_cm_entry cm;
	char room[256];
};

static size_t next_event(uint32_t want, union event *ev)
{
	uint32_t event;
	ssize_t ret = fi_eq_read(eq, &event, ev, sizeof(*ev), 0);

	assert_true(ret >= (ssize_t) sizeof(ev->cm));
	assert_int_equal(event, want);
	return (size_t) ret - sizeof(ev->cm);
}

static struct fi_eq_err_entry next_error(void)
{
	struct fi_eq_err_entry err = { 0 };
	union event ev;
	uint32_t event;

	assert_int_equal(fi_eq_read(eq, &event, &ev, sizeof(ev), 0), -FI_EAVAIL);
	assert_true(fi_eq_readerr(eq, &err, 0) > 0);
	return err;
}

static void no_event(void)
{
	union event ev;
	uint32_t event;

	assert_int_equal(fi_eq_read(eq, &event, &ev, sizeof(ev), 0), -FI_EAGAIN);
}

static enum obj_cm_state state_now(void)
{
	return obj_cm_state(&ep->base);
}

static void connects(void **state)
{
	struct rdma_cm_event *event;
	union event ev;

	connect_now();
	assert_int_equal(dev.connects, 1);	/* without a read of the event queue */
	assert_memory_equal(dev.data, "\5knock", 6);
	assert_int_equal(dev.data_len, 6);
	assert_int_equal(state_now(), OBJ_CM_CONNECTING);
	assert_int_equal(fi_connect(&ep->base.h.fid, &there, NULL, 0), -FI_EALREADY);
	event = says(RDMA_CM_EVENT_ESTABLISHED);
	event->param.conn.private_data = "\3yes\0\0";
	event->param.conn.private_data_len = 6;
	handle();
	assert_int_equal(next_event(FI_CONNECTED, &ev), 3);
	assert_memory_equal(ev.cm.data, "yes", 3);
	assert_int_equal(state_now(), OBJ_CM_CONNECTED);
	says(RDMA_CM_EVENT_DISCONNECTED);
	handle();
	next_event(FI_SHUTDOWN, &ev);
	assert_int_equal(dev.disconnects, 1);
	/* Events of a connection that has ended change nothing. */
	says(RDMA_CM_EVENT_DISCONNECTED);
	says(RDMA_CM_EVENT_ROUTE_RESOLVED);
	says(RDMA_CM_EVENT_ESTABLISHED);
	says(RDMA_CM_EVENT_UNREACHABLE);
	handle();
	no_event();
	assert_int_equal(state_now(), OBJ_CM_SHUT);
	assert_int_equal(dev.connects, 1);
}

static void refusals(void **state)
{
	struct rdma_cm_event *event;
	struct fi_eq_err_entry err;

	connect_now();
	event = says(RDMA_CM_EVENT_REJECTED);
	event->status = 28;
	event->param.conn.private_data = "\4busy\0";
	event->param.conn.private_data_len = 6;
	handle();
	err = next_error();
	assert_int_equal(err.err, FI_ECONNREFUSED);
	assert_int_equal(err.prov_errno, 28);
	assert_int_equal(err.err_data_size, 4);
	assert_memory_equal(err.err_data, "busy", 4);
	assert_int_equal(state_now(), OBJ_CM_SHUT);
}

static void lookups_are_retried(void **state)
{
	struct fi_eq_err_entry err;
	unsigned i;

	dev.id.context = &ep->cm;
	for (i = 0; i < 4; i++)
		says(RDMA_CM_EVENT_ADDR_ERROR)->status = -ETIMEDOUT;
	says(RDMA_CM_EVENT_ADDR_RESOLVED);
	for (i = 0; i < 5; i++)
		says(RDMA_CM_EVENT_ROUTE_ERROR)->status = -ETIMEDOUT;
	assert_int_equal(fi_connect(&ep->base.h.fid, &there, NULL, 0), 0);
	assert_int_equal(dev.resolves, 5);
	assert_int_equal(dev.routes, 5);
	err = next_error();
	assert_int_equal(err.err, FI_ETIMEDOUT);
	assert_int_equal(dev.connects, 0);
}

static void private_data_limits(void **state)
{
	uint8_t data[VRB_CM_DATA + 1] = { 1 };
	size_t size = 0, len = sizeof(size);

	assert_int_equal(obj_ep_getopt(&ep->base.h.fid.fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size,
				       &len), 0);
	assert_int_equal(size, 55);
	assert_int_equal(fi_connect(&ep->base.h.fid, &there, data, 56), -FI_EINVAL);
	assert_int_equal(dev.resolves, 0);
}

static void listen_now(void)
{
	assert_int_equal(vrb_pep_open(f.fabric, info, &pep, NULL), 0);
	assert_int_equal(fi_pep_bind(pep, &eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
}

/* Another address before fi_listen(): a new id, since an id is bound once. */
static void renames_a_listener(void **state)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	unsigned created, destroyed;

	assert_int_equal(vrb_pep_open(f.fabric, info, &pep, NULL), 0);
	created = dev.created_ids;
	destroyed = dev.destroyed_ids;
	assert_int_equal(fi_setname(&pep->fid, &name, 3), -FI_EINVAL);
	assert_int_equal(dev.created_ids, created);
	name.sin_port = htons(4711);
	assert_int_equal(fi_setname(&pep->fid, &name, sizeof(name)), 0);
	assert_int_equal(dev.created_ids, created + 1);
	assert_int_equal(dev.destroyed_ids, destroyed + 1);
	assert_memory_equal(obj_pep_of(pep)->info->src_addr, &name, sizeof(name));
	assert_int_equal(fi_pep_bind(pep, &eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
	assert_int_equal(fi_setname(&pep->fid, &name, sizeof(name)), -FI_EOPBADSTATE);
}

static struct fi_info *request(const char *data)
{
	struct rdma_cm_event event = { .id = &caller, .event = RDMA_CM_EVENT_CONNECT_REQUEST };
	uint8_t sent[VRB_CM_DATA] = { 0 };
	union event ev;

	memcpy(&caller.route.addr.src_addr, &here, sizeof(here));
	memcpy(&caller.route.addr.dst_addr, &there, sizeof(there));
	caller.verbs = &dev.verbs.context;
	vrb_private_put(sent, data, strlen(data));
	event.param.conn.private_data = sent;
	event.param.conn.private_data_len = sizeof(sent);
	event.param.conn.responder_resources = 3;
	event.param.conn.initiator_depth = 200;
	lock_get(&prog->lock);
	assert_int_equal(vrb_pep_on_request(container_of(pep, struct vrb_pep, base.fid), &event), 0);
	lock_put(&prog->lock);
	assert_int_equal(next_event(FI_CONNREQ, &ev), strlen(data));
	assert_memory_equal(ev.cm.data, data, strlen(data));
	assert_memory_equal(ev.cm.info->dest_addr, &there, sizeof(there));
	assert_memory_equal(ev.cm.info->src_addr, &here, sizeof(here));
	return ev.cm.info;
}

static void requests(void **state)
{
	struct fi_info *asked;

	listen_now();
	asked = request("hi");
	assert_int_equal(fi_reject(pep, asked->handle, "no", 2), 0);
	assert_int_equal(dev.data_len, 3);
	assert_memory_equal(dev.data, "\2no", 3);
	assert_int_equal(dev.destroyed_ids, 1);
	fi_freeinfo(asked);
	asked = request("hi");
	assert_int_equal(fi_close(asked->handle), 0);
	assert_int_equal(dev.rejects, 2);
	assert_int_equal(dev.destroyed_ids, 2);
	fi_freeinfo(asked);
	/* An endpoint has the id from when it is opened, and refuses when it closes. */
	asked = request("hi");
	assert_int_equal(obj_cm_take(&ep->base, asked->handle), 0);
	assert_ptr_equal(ep->cm.id, &caller);
	assert_ptr_equal(caller.context, &ep->cm);
	fi_freeinfo(asked);
	lock_get(&prog->lock);
	vrb_cm_close(ep);
	lock_put(&prog->lock);
	assert_int_equal(dev.rejects, 3);
	assert_int_equal(dev.destroyed_ids, 3);
}

static void accepts(void **state)
{
	struct fi_info *asked;
	union event ev;

	listen_now();
	asked = request("hi");
	assert_int_equal(obj_cm_take(&ep->base, asked->handle), 0);
	fi_freeinfo(asked);
	assert_int_equal(fi_accept(&ep->base.h.fid, "come in", 7), 0);
	assert_int_equal(dev.accepts, 1);
	assert_int_equal(dev.data_len, 8);
	assert_memory_equal(dev.data, "\7come in", 8);
	assert_int_equal(state_now(), OBJ_CM_CONNECTING);
	says(RDMA_CM_EVENT_ESTABLISHED);
	handle();
	assert_int_equal(next_event(FI_CONNECTED, &ev), 0);
	assert_int_equal(ep->base.cm.req, NULL);
	assert_int_equal(fi_shutdown(&ep->base.h.fid, 0), 0);
	assert_int_equal(dev.disconnects, 1);
	assert_int_equal(state_now(), OBJ_CM_SHUT);
	assert_int_equal(next_event(FI_SHUTDOWN, &ev), 0);
	says(RDMA_CM_EVENT_DISCONNECTED);	/* the peer's answer is no second end */
	handle();
	no_event();
}

static uint8_t octet;
static int octets;

static int set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t len)
{
	assert_ptr_equal(id, &dev.id);
	assert_int_equal(level, RDMA_OPTION_ID);
	assert_int_equal(name, RDMA_OPTION_ID_TOS);
	assert_int_equal(len, 1);
	octet = *(uint8_t *) value;
	octets++;
	return 0;
}

/* The traffic class of the info, or of its domain, is the connection's. */
static void traffic_class(void **state)
{
	vrb_cm.set_option = set_option;
	vrb_cm_set_class(&dev.id, info);
	assert_int_equal(octets, 0);
	info->domain_attr->tclass = FI_TC_BULK_DATA;
	vrb_cm_set_class(&dev.id, info);
	assert_int_equal(octets, 1);
	assert_int_equal(octet, 10 << 2);
	info->tx_attr->tclass = FI_TC_DSCP | 46;
	vrb_cm_set_class(&dev.id, info);
	assert_int_equal(octets, 2);
	assert_int_equal(octet, 46 << 2);
	vrb_cm.set_option = NULL;
	vrb_cm_set_class(&dev.id, info);
	assert_int_equal(octets, 2);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(connects),
		T(refusals),
		T(lookups_are_retried),
		T(private_data_limits),
		T(requests),
		T(accepts),
		T(renames_a_listener),
		T(traffic_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
