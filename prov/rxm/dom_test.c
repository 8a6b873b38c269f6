/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Domains below are shared, and the memory of a closed endpoint lives as long as a
 * completion may name it: no longer, and (with a sanitizer) no less.
 */
#include "rxm/test/rig.h"

#define PEER 7

static void links_of_a_group_share_a_domain(void **state)
{
	struct eng_ep *a = rig_ep(1), *b = rig_ep(2);
	struct rxm_dom *dom = rig_link(a)->dom;

	assert_ptr_equal(dom, rig_link(b)->dom);
	assert_int_equal(dom->base.users, 2);
	fake_close(a, 0);
	assert_int_equal(dom->base.users, 1);
	fake_close(b, 0);
}

static void each_name_has_its_domain(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_dom *dom = rig_link(a)->dom, *other;
	struct fi_info *info = msg_prov_info(0);
	struct rxm_poller *poller = container_of(rig_link(a)->chan.poller, struct rxm_poller, chan);

	free(info->domain_attr->name);
	info->domain_attr->name = strdup("another");
	assert_int_equal(rxm_dom_get(poller, info, NULL, &other), 0);
	assert_ptr_not_equal(dom, other);
	layer_dom_put(&other->base);
	fi_freeinfo(info);
	fake_close(a, 0);
}

/* Completions of a closed endpoint's receives, sends and reads are read after it. */
static void memory_outlives_its_endpoint(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rxm_dom *dom = ep->dom;
	struct rig_msg msg = rig_msg(0, 0);
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 1000, &mr);
	unsigned i;

	a->verdict = 1 + ENG_RX_PLACE;
	a->whole = true;
	msg_prov.hold_reads = true;
	rig_rndv(&msg, 0, data, 1000, mr);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_int_equal(msg_prov.reads, 1);
	msg_prov.hold_cq = true;
	fake_send(rig_peer(a, PEER), 100, 0);
	assert_false(list_empty(&ep->sends));
	msg = rig_msg(0, 0);
	rig_eager(&msg, 1, 10);
	rig_deliver(ep, &msg);
	rxm_conn_fail(rig_conn(rig_peer(a, PEER)), FI_EIO);
	fake_poll();
	assert_int_equal(msg_prov.eps, 0);
	/* the queue below was empty, as far as it shows: this was only the first look */
	msg_prov.hold_cq = false;
	for (i = 0; i < 3; i++)
		fake_poll();
	assert_true(list_empty(&dom->closed));
	assert_int_equal(rig_peer(a, PEER)->down, 1);
	assert_int_equal(rig_peer(a, PEER)->rx_cnt, 0);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

/* It is freed by a poll, and nothing else would cause one. */
static void memory_is_freed_before_sleeping(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rxm_dom *dom = ep->dom;

	assert_int_equal(rxm_dom_arm(dom), 0);
	rxm_link_ops.peer_put(a->link, rig_peer(a, PEER));
	assert_false(list_empty(&dom->closed));
	msg_prov.hold_cq = true;	/* the queues below have no work */
	assert_int_equal(rxm_dom_arm(dom), -FI_EAGAIN);
	msg_prov.hold_cq = false;
	rig_polls(1);
	assert_true(list_empty(&dom->closed));
	assert_int_equal(rxm_dom_arm(dom), 0);
	fake_close(a, 0);
}

/* An open that fails half way leaves nothing, and takes the handle of a request with it. */
static void a_failed_open_leaves_nothing(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct msg_req *req = rig_request(1, PEER, 77, 1, 0);
	struct fi_info *info = fi_dupinfo(rig_link(a)->info);
	struct rxm_ep *ep = NULL;

	msg_prov.hold_eq = true;
	info->handle = &req->fid;
	msg_prov.ep_room = 0;
	assert_int_equal(rxm_ep_open(rig_link(a)->dom, info, NULL, &ep), -FI_EMFILE);
	assert_ptr_equal(info->handle, &req->fid);
	msg_prov.ep_room = -1;
	msg_prov.rx_room = 5;
	assert_int_equal(rxm_ep_open(rig_link(a)->dom, info, NULL, &ep), -FI_EAGAIN);
	assert_null(info->handle);
	assert_true(req->rejected);
	assert_null(ep);
	assert_int_equal(msg_prov.eps, 0);
	msg_prov.rx_room = -1;
	fi_freeinfo(info);
	fake_close(a, 0);
	msg_prov_free(req);
}

/* Each credit has a buffer, and so has each control message that may be unread. */
static void buffers_are_posted_for_all_credits(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rig_msg msg;
	uint64_t i;

	a->verdict = 1 + ENG_RX_LATER;
	for (i = 0; i < rxm_conf.credits; i++) {
		msg = rig_msg(0, 0);
		rig_eager(&msg, i, 1000);
		rig_deliver(ep, &msg);
	}
	msg = rig_msg(RXM_F_CTRL, 0);
	for (i = 0; i < RXM_CTRL_BUFS; i++)
		rig_deliver(ep, &msg);
	rig_polls(2);
	assert_int_equal(rig_peer(a, PEER)->down, 0);
	fake_close(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(links_of_a_group_share_a_domain),
		RIG_TEST(each_name_has_its_domain),
		RIG_TEST(memory_outlives_its_endpoint),
		RIG_TEST(memory_is_freed_before_sleeping),
		RIG_TEST(a_failed_open_leaves_nothing),
		RIG_TEST(buffers_are_posted_for_all_credits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
