/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connections of FI_EP_MSG endpoints: fi_cm(3) call by call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include "base/test/verify.h"

#include "engine/sim/conn.h"
#include "engine/sim/world.h"

#define LISTEN_PORT 7000

static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;
static struct fid_cq *cq;
static struct fid_pep *pep;
static char in[8][8000], out[8000];
static int ctx[8];

static int set_up(void **arg)
{
	struct fi_info *info = sim_info(FI_EP_MSG, LISTEN_PORT);
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_NONE };

	sim_start(3, &sim_ideal);
	assert_int_equal(sim_fabric_open(&fabric), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	assert_int_equal(fi_eq_open(fabric, &eq_attr, &eq, NULL), 0);
	assert_int_equal(fi_cq_open(domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_passive_ep(fabric, info, &pep, &ctx[0]), 0);
	fi_freeinfo(info);
	return 0;
}

static int tear_down(void **arg)
{
	if (pep)
		assert_int_equal(fi_close(&pep->fid), 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	assert_int_equal(fi_close(&eq->fid), 0);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	assert_true(sim_end());
	return 0;
}

static struct fid_ep *new_ep(struct fi_info *info, void *context)
{
	struct fi_info *mine = info ? info : sim_info(FI_EP_MSG, 0);
	struct fid_ep *ep;

	assert_int_equal(fi_endpoint(domain, mine, &ep, context), 0);
	assert_int_equal(fi_ep_bind(ep, &eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	if (!info)
		fi_freeinfo(mine);
	return ep;
}

static void listen_now(void)
{
	assert_int_equal(fi_pep_bind(pep, &eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
}

static struct sockaddr_in dest(uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	sin.sin_addr.s_addr = htonl(0x0a000001);
	return sin;
}

union event {
	struct fi_eq_cm_entry cm;
	char room[512];
};

static size_t next_event(uint32_t want, union event *ev)
{
	uint32_t event = 0;
	ssize_t ret;
	int i;

	for (i = 0; i < 1000; i++) {
		fi_cq_read(cq, NULL, 0);
		ret = fi_eq_read(eq, &event, ev, sizeof(*ev), 0);
		if (ret == -FI_EAGAIN)
			continue;
		assert_true(ret >= (ssize_t) sizeof(ev->cm));
		assert_int_equal(event, want);
		return (size_t) ret - sizeof(ev->cm);
	}
	fail_msg("no event");
	return 0;
}

static void no_event(void)
{
	union event ev;
	uint32_t event;
	int i;

	for (i = 0; i < 100; i++) {
		fi_cq_read(cq, NULL, 0);
		assert_int_equal(fi_eq_read(eq, &event, &ev, sizeof(ev), 0), -FI_EAGAIN);
	}
}

static void next_error(struct fid_ep *ep, int want, const char *data)
{
	struct fi_eq_err_entry err = { 0 };
	char room[256] = "";
	union event ev;
	uint32_t event;
	int i;

	for (i = 0; i < 1000; i++) {
		fi_cq_read(cq, NULL, 0);
		if (fi_eq_read(eq, &event, &ev, sizeof(ev), 0) == -FI_EAVAIL)
			break;
	}
	err.err_data = room;
	err.err_data_size = sizeof(room);
	assert_true(fi_eq_readerr(eq, &err, 0) > 0);
	assert_int_equal(err.err, want);
	assert_ptr_equal(err.fid, &ep->fid);
	assert_int_equal(err.err_data_size, strlen(data));
	assert_memory_equal(err.err_data, data, strlen(data));
}

static void next_comp(struct comp *c)
{
	struct node n = { .cq = cq };
	int i;

	for (i = 0; i < 1000; i++)
		if (node_read(&n, c))
			return;
	fail_msg("no completion");
}

/* Two connected endpoints: [0] called, [1] was called. */
static void connect_pair(struct fid_ep *ep[2])
{
	struct sockaddr_in to = dest(LISTEN_PORT);
	union event ev;
	struct fid_ep *first, *second;

	ep[0] = new_ep(NULL, &ctx[1]);
	assert_int_equal(fi_connect(ep[0], &to, "knock", 5), 0);
	assert_int_equal(next_event(FI_CONNREQ, &ev), 5);
	assert_ptr_equal(ev.cm.fid, &pep->fid);
	assert_memory_equal(ev.cm.data, "knock", 5);
	assert_int_equal(((struct sockaddr_in *) ev.cm.info->src_addr)->sin_port,
			 htons(LISTEN_PORT));
	assert_non_null(ev.cm.info->dest_addr);
	ep[1] = new_ep(ev.cm.info, &ctx[2]);
	fi_freeinfo(ev.cm.info);
	assert_int_equal(fi_accept(ep[1], "come in", 7), 0);
	if (next_event(FI_CONNECTED, &ev) == 7)
		assert_memory_equal(ev.cm.data, "come in", 7);
	first = (struct fid_ep *) ev.cm.fid;
	next_event(FI_CONNECTED, &ev);
	second = (struct fid_ep *) ev.cm.fid;
	assert_true((first == ep[0] && second == ep[1]) || (first == ep[1] && second == ep[0]));
}

static void test_connect_talk_and_part(void **arg)
{
	struct sockaddr_in addr;
	struct fid_ep *ep[2];
	size_t len = sizeof(addr);
	union event ev;
	struct comp c;
	int i;

	listen_now();
	connect_pair(ep);
	assert_int_equal(fi_getpeer(ep[0], &addr, &len), 0);
	assert_int_equal(addr.sin_port, htons(LISTEN_PORT));
	assert_int_equal(fi_connect(ep[0], &addr, NULL, 0), -FI_EISCONN);
	assert_int_equal(fi_recv(ep[1], in[0], 5000, NULL, 0, &ctx[3]), 0);
	pattern_fill(out, 5000, 1);
	assert_int_equal(fi_send(ep[0], out, 5000, NULL, 0, &ctx[4]), 0);
	for (i = 0; i < 2; i++) {
		next_comp(&c);
		assert_int_equal(c.err, 0);
		assert_true(c.src == FI_ADDR_NOTAVAIL);
	}
	assert_true(pattern_ok(in[0], 5000, 1));

	/* One shuts down: what it had sent still arrives, what waits is flushed. */
	assert_int_equal(fi_recv(ep[0], in[1], 10, NULL, 0, &ctx[5]), 0);
	assert_int_equal(fi_inject(ep[0], "bye", 3, 0), 0);
	assert_int_equal(fi_shutdown(ep[0], 0), 0);
	next_comp(&c);
	assert_int_equal(c.err, FI_ECANCELED);
	assert_ptr_equal(c.e.op_context, &ctx[5]);
	next_event(FI_SHUTDOWN, &ev);
	assert_ptr_equal(ev.cm.fid, &ep[0]->fid);
	next_event(FI_SHUTDOWN, &ev);
	assert_ptr_equal(ev.cm.fid, &ep[1]->fid);
	assert_int_equal(fi_recv(ep[1], in[2], 10, NULL, 0, &ctx[6]), 0);
	next_comp(&c);
	assert_int_equal(c.e.len, 3);
	assert_memory_equal(in[2], "bye", 3);
	assert_int_equal(fi_recv(ep[1], in[2], 10, NULL, 0, NULL), -FI_ENOTCONN);
	assert_int_equal(fi_send(ep[1], out, 10, NULL, 0, NULL), -FI_ENOTCONN);
	assert_int_equal(fi_send(ep[0], out, 10, NULL, 0, NULL), -FI_ENOTCONN);
	assert_int_equal(fi_shutdown(ep[0], 0), -FI_ENOTCONN);
	no_event();
	assert_int_equal(fi_close(&ep[0]->fid), 0);
	assert_int_equal(fi_close(&ep[1]->fid), 0);
}

/* A receive belongs to the link until what arrives there is in place. */
static void test_shutdown_in_the_middle_of_a_message(void **arg)
{
	struct fid_ep *ep[2];
	union event ev;
	struct comp c;
	int i;

	sim.conf.seg_size = 300;
	listen_now();
	connect_pair(ep);
	memset(out, 2, sizeof(out));
	memset(in[0], 0, sizeof(in[0]));
	assert_int_equal(fi_recv(ep[1], in[0], sizeof(in[0]), NULL, 0, &ctx[3]), 0);
	assert_int_equal(fi_send(ep[0], out, sizeof(out), NULL, 0, &ctx[4]), 0);
	while (in[0][0] != 2)
		fi_cq_read(cq, NULL, 0);
	sim_stall(true);
	for (i = 0; i < 20; i++)
		fi_cq_read(cq, NULL, 0);
	assert_int_equal(in[0][sizeof(in[0]) - 1], 0);
	assert_int_equal(fi_shutdown(ep[1], 0), 0);
	next_comp(&c);
	assert_ptr_equal(c.e.op_context, &ctx[4]);
	assert_int_equal(fi_cq_read(cq, &c.e, 1), -FI_EAGAIN);
	sim_stall(false);
	next_comp(&c);
	assert_ptr_equal(c.e.op_context, &ctx[3]);
	assert_int_not_equal(c.err, 0);
	memset(in[0], 9, sizeof(in[0]));
	for (i = 0; i < 2; i++)
		next_event(FI_SHUTDOWN, &ev);
	no_event();
	assert_int_equal(fi_close(&ep[0]->fid), 0);
	assert_int_equal(fi_close(&ep[1]->fid), 0);
	for (i = 0; i < (int) sizeof(in[0]); i++)
		assert_int_equal(in[0][i], 9);
}

static void test_death_of_the_other_end(void **arg)
{
	struct fid_ep *ep[2];
	union event ev;
	struct comp c;
	int i;

	listen_now();
	connect_pair(ep);
	assert_int_equal(fi_recv(ep[0], in[0], 10, NULL, 0, &ctx[3]), 0);
	assert_int_equal(fi_send(ep[0], out, 5000, NULL, 0, &ctx[4]), 0);
	assert_int_equal(fi_close(&ep[1]->fid), 0);
	next_event(FI_SHUTDOWN, &ev);
	assert_ptr_equal(ev.cm.fid, &ep[0]->fid);
	for (i = 0; i < 2; i++) {
		next_comp(&c);
		assert_int_equal(c.err, c.e.op_context == &ctx[3] ? FI_ECANCELED : FI_ECONNRESET);
	}
	no_event();
	assert_int_equal(fi_close(&ep[0]->fid), 0);
}

static void test_reject(void **arg)
{
	struct sockaddr_in to = dest(LISTEN_PORT);
	struct fid_ep *ep = new_ep(NULL, &ctx[1]);
	union event ev;

	listen_now();
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_connect(ep, &to, NULL, 0), 0);
	assert_int_equal(fi_connect(ep, &to, NULL, 0), -FI_EALREADY);
	next_event(FI_CONNREQ, &ev);
	assert_int_equal(fi_reject(pep, ev.cm.info->handle, "go away", 7), 0);
	fi_freeinfo(ev.cm.info);
	next_error(ep, FI_ECONNREFUSED, "go away");
	/* It may try again. */
	assert_int_equal(fi_connect(ep, &to, NULL, 0), 0);
	next_event(FI_CONNREQ, &ev);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_reject(pep, ev.cm.info->handle, NULL, 0), 0);
	fi_freeinfo(ev.cm.info);
}

static void test_no_listener(void **arg)
{
	struct sockaddr_in to = dest(LISTEN_PORT);
	struct fid_ep *ep = new_ep(NULL, &ctx[1]);

	assert_int_equal(fi_connect(ep, &to, NULL, 0), 0);
	next_error(ep, FI_ECONNREFUSED, "");
	assert_int_equal(fi_close(&ep->fid), 0);
}

static void test_states_and_limits(void **arg)
{
	struct sockaddr_in to = dest(LISTEN_PORT), addr;
	struct fi_info *info = sim_info(FI_EP_MSG, 0);
	struct fid_ep *ep, *bare;
	size_t len, size = 0;

	assert_int_equal(fi_listen(pep), -FI_ENOEQ);
	ep = new_ep(NULL, NULL);
	len = sizeof(size);
	assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size, &len), 0);
	assert_int_equal(size, 200);
	len = sizeof(size);
	assert_int_equal(fi_getopt(&pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size, &len), 0);
	assert_int_equal(size, 200);
	assert_int_equal(fi_connect(ep, &to, out, 201), -FI_EINVAL);
	assert_int_equal(fi_connect(ep, NULL, NULL, 0), -FI_EINVAL);
	assert_int_equal(fi_send(ep, out, 1, NULL, 0, NULL), -FI_EOPBADSTATE);
	assert_int_equal(fi_accept(ep, NULL, 0), -FI_EOPBADSTATE);
	assert_int_equal(fi_send(ep, out, 1, NULL, 0, NULL), -FI_ENOTCONN);
	len = sizeof(addr);
	assert_int_equal(fi_getpeer(ep, &addr, &len), -FI_ENOTCONN);
	len = 0;
	assert_int_equal(fi_getname(&ep->fid, NULL, &len), -FI_ETOOSMALL);
	assert_int_equal(len, sizeof(addr));
	assert_int_equal(fi_shutdown(ep, 0), -FI_ENOTCONN);
	addr = dest(LISTEN_PORT + 7);
	assert_int_equal(fi_setname(&pep->fid, &addr, 3), -FI_EINVAL);
	assert_int_equal(fi_setname(&pep->fid, &addr, sizeof(addr)), 0);
	len = sizeof(addr);
	memset(&addr, 0, sizeof(addr));
	assert_int_equal(fi_getname(&pep->fid, &addr, &len), 0);
	assert_int_equal(addr.sin_port, htons(LISTEN_PORT + 7));
	addr = dest(LISTEN_PORT);
	assert_int_equal(fi_setname(&pep->fid, &addr, sizeof(addr)), 0);
	listen_now();
	assert_int_equal(fi_setname(&pep->fid, &addr, sizeof(addr)), -FI_EOPBADSTATE);
	assert_int_equal(fi_listen(pep), -FI_EOPBADSTATE);
	len = sizeof(addr);
	assert_int_equal(fi_getname(&pep->fid, &addr, &len), 0);
	assert_int_equal(addr.sin_port, htons(LISTEN_PORT));
	assert_int_equal(fi_close(&ep->fid), 0);

	/* Without an event queue there is no event. */
	assert_int_equal(fi_endpoint(domain, info, &bare, NULL), 0);
	assert_int_equal(fi_ep_bind(bare, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_connect(bare, &to, NULL, 0), -FI_ENOEQ);
	assert_int_equal(fi_close(&bare->fid), 0);
	fi_freeinfo(info);
}

static void test_requests_outlive_their_listener(void **arg)
{
	struct sockaddr_in to = dest(LISTEN_PORT);
	struct fid_ep *ep = new_ep(NULL, &ctx[1]), *other, *late = NULL;
	struct fi_info *info;
	union event ev;

	listen_now();
	assert_int_equal(fi_connect(ep, &to, NULL, 0), 0);
	next_event(FI_CONNREQ, &ev);
	info = ev.cm.info;
	assert_int_equal(fi_close(&pep->fid), 0);
	pep = NULL;
	other = new_ep(info, &ctx[2]);
	/* The request is spoken for. */
	assert_int_equal(fi_endpoint(domain, info, &late, NULL), -FI_EBUSY);
	assert_int_equal(fi_accept(other, NULL, 0), 0);
	fi_freeinfo(info);
	next_event(FI_CONNECTED, &ev);
	next_event(FI_CONNECTED, &ev);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&other->fid), 0);
}

static void test_endpoint_that_never_answers(void **arg)
{
	struct sockaddr_in to = dest(LISTEN_PORT);
	struct fid_ep *ep = new_ep(NULL, &ctx[1]), *other;
	union event ev;

	listen_now();
	assert_int_equal(fi_connect(ep, &to, NULL, 0), 0);
	next_event(FI_CONNREQ, &ev);
	other = new_ep(ev.cm.info, &ctx[2]);
	assert_int_equal(fi_reject(pep, ev.cm.info->handle, NULL, 0), -FI_EOPBADSTATE);
	fi_freeinfo(ev.cm.info);
	assert_int_equal(fi_close(&other->fid), 0);
	next_error(ep, FI_ECONNREFUSED, "");
	assert_int_equal(fi_close(&ep->fid), 0);
}

static void test_request_that_is_not_read(void **arg)
{
	struct sockaddr_in to = dest(LISTEN_PORT);
	struct fid_ep *ep = new_ep(NULL, &ctx[1]);
	int i;

	listen_now();
	assert_int_equal(fi_connect(ep, &to, NULL, 0), 0);
	/* It lies in the queue when its listener closes, and goes with it. */
	for (i = 0; i < 50; i++)
		fi_eq_read(eq, NULL, NULL, 0, FI_PEEK);
	assert_int_equal(fi_close(&pep->fid), 0);
	pep = NULL;
	next_error(ep, FI_ECONNREFUSED, "");
	assert_int_equal(fi_close(&ep->fid), 0);
}

static void test_endpoint_takes_over_a_listeners_address(void **arg)
{
	struct fi_info *info = sim_info(FI_EP_MSG, 0);
	struct sockaddr_in addr;
	size_t len = sizeof(addr);
	struct fid_ep *ep;

	info->handle = &pep->fid;
	assert_int_equal(fi_endpoint(domain, info, &ep, NULL), 0);
	assert_int_equal(fi_getname(&ep->fid, &addr, &len), 0);
	assert_int_equal(addr.sin_port, htons(LISTEN_PORT));
	assert_int_equal(fi_close(&ep->fid), 0);
	fi_freeinfo(info);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_connect_talk_and_part),
		T(test_shutdown_in_the_middle_of_a_message),
		T(test_death_of_the_other_end),
		T(test_reject),
		T(test_no_listener),
		T(test_states_and_limits),
		T(test_requests_outlive_their_listener),
		T(test_endpoint_that_never_answers),
		T(test_request_that_is_not_read),
		T(test_endpoint_takes_over_a_listeners_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
