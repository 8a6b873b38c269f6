/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Rendezvous of the peer are read as a whole, however the segments on both sides are cut
 * and whatever the provider below takes at a time, and each is reported once.
 */
#include "engine/wire.h"
#include "rxm/compat.h"
#include "foreign/rxmf/cm.h"
#include "rxm/test/rig.h"

#define PEER 7

/* The fake engine cuts both lists by its dice, gives too little room now and then, and
 * verifies what it gets.
 */
static void any_two_lists_fit(void **state)
{
	struct eng_peer *ab, *ba;
	struct eng_ep *a, *b;
	uint64_t i;

	msg_prov.max_msg_size = 7000;
	rig_pair(&a, &b, &ab, &ba);
	for (i = 0; i < 300; i++) {
		assert_true(fake_send(ab, 16384 + fake_draw() % 40000, 0) >= 0);
		msg_prov.tx_room = 1 + (int) (fake_draw() % 9);
		rig_polls(2);
		fake_pull_some(b);
	}
	msg_prov.tx_room = -1;
	for (i = 0; i < 2000 && ba->rx_cnt < 300; i++) {
		rig_polls(1);
		fake_pull_some(b);
	}
	rig_polls(5);
	assert_int_equal(ba->rx_cnt, 300);
	assert_int_equal(ab->done_cnt, 300);
	assert_int_equal(ab->down + ba->down, 0);
	assert_int_equal(msg_prov.mrs, 0);
	fake_close(a, 0);
	fake_close(b, 0);
}

/* offer - a rendezvous of 20000 bytes for which the engine has a buffer, and a packet
 * behind it.
 */
static uint8_t *offer(struct eng_ep *a, struct rxm_ep *ep, struct fid_mr **mr_p)
{
	uint8_t *data = rig_memory(ep, 0, 20000, mr_p);
	struct rig_msg msg = rig_msg(0, 0);

	a->verdict = 1 + ENG_RX_PLACE;
	a->whole = true;
	rig_rndv(&msg, 0, data, 20000, *mr_p);
	rig_eager(&msg, 1, 10);
	rig_deliver(ep, &msg);
	return data;
}

static void it_is_complete_with_the_last_piece(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct fid_mr *mr;
	uint8_t *data;
	unsigned before;

	ep->dom->base.info->ep_attr->max_msg_size = 6000;
	msg_prov.hold_reads = true;
	msg_prov.tx_room = 2;
	data = offer(a, ep, &mr);
	rig_polls(3);
	assert_int_equal(msg_prov.reads, 2);
	before = msg_prov.sends;
	/* the first two pieces are complete, two are not posted */
	msg_prov_reads(0);
	rig_polls(3);
	assert_int_equal(a->placing, 1);
	assert_int_equal(peer->rx_cnt, 0);
	assert_int_equal(msg_prov.sends, before);
	msg_prov.tx_room = -1;
	rig_polls(2);
	assert_int_equal(peer->rx_cnt, 0);
	msg_prov_reads(0);
	rig_polls(2);
	/* and the packet behind it, in order */
	assert_int_equal(peer->rx_cnt, 2);
	assert_int_equal(msg_prov.sends, before + 1);
	assert_int_equal(rig_sent(ep).item[0].id, 100);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

static void a_read_that_fails_ends_the_connection(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct fid_mr *mr;
	uint8_t *data;

	ep->dom->base.info->ep_attr->max_msg_size = 6000;
	msg_prov.hold_reads = true;
	data = offer(a, ep, &mr);
	rig_polls(2);
	assert_int_equal(msg_prov.reads, 4);
	msg_prov_reads(FI_EIO);		/* four errors */
	rig_polls(3);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_EIO);
	assert_int_equal(a->placing, 0);
	assert_int_equal(peer->rx_cnt, 0);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

/* The engine's buffer must not be written to when it has been told that it is free. */
static void reads_end_with_their_connection(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct fid_mr *mr;
	uint8_t *data;

	ep->dom->base.info->ep_attr->max_msg_size = 6000;
	msg_prov.hold_reads = true;
	msg_prov.tx_room = 3;		/* and one that is not posted */
	data = offer(a, ep, &mr);
	rig_polls(2);
	msg_prov_shutdown(ep->fid);
	rig_polls(3);
	assert_int_equal(peer->down, 1);
	assert_int_equal(a->placing, 0);
	msg_prov_reads(0);
	rig_polls(2);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

/* A receive of no bytes at all: there is nothing to read, yet it is reported. */
static void an_empty_list_is_complete(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rxm_conn *conn = rig_conn(rig_peer(a, PEER));
	struct wire_rma seg = { 0x1000, 100, 1 };
	struct fake_rx *rx = calloc(1, sizeof(*rx));
	struct iovec iov = { NULL, 0 };

	rx->peer = rig_peer(a, PEER);
	a->placing++;
	assert_int_equal(rxm_read_start(conn, 55, &seg, 1, &iov, 1, rx, true), 0);
	assert_int_equal(a->placing, 1);	/* no upcall from here */
	rig_polls(1);
	assert_int_equal(a->placing, 0);
	assert_int_equal(msg_prov.reads, 0);
	assert_false(conn->reading);
	assert_int_equal(rig_sent(ep).item[0].id, 55);
	fake_close(a, 0);
}

/* compat_established - a connection in the compatible format, which the test has made. */
static struct rxm_conn *compat_established(struct eng_ep *ep)
{
	struct rxmf_cm_request request = {
		.port = PEER, .credits = RXMF_CM_CREDITS_OFF, .eager_limit = RXMF_CM_EAGER_LIMIT,
		.process = 77, .conn_id = 3,
	};
	struct sockaddr_in addr = msg_prov_addr(50000);
	uint8_t data[RXMF_CM_REQUEST];
	struct msg_req *req = msg_prov_request(1, &addr, data, rxmf_cm_put_request(data, &request));

	rig_polls(2);
	assert_true(req->accepted);
	msg_prov_confirm(req);
	rig_polls(2);
	msg_prov_free(req);
	assert_non_null(rig_conn(rig_peer(ep, PEER))->compat);
	return rig_conn(rig_peer(ep, PEER));
}

static unsigned writes_done;

static void write_done(struct eng_pkt *pkt, int status)
{
	assert_true(status < 0);
	writes_done++;
}

/* The link owns the packet, or the engine does, and not both: it ends once. */
static void a_write_that_is_refused_ends_once(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_conn *conn = compat_established(a);
	uint64_t word = 1;
	struct eng_pkt pkt = {
		.len = sizeof(word), .iov_cnt = 1, .iov = { { &word, sizeof(word) } }, .done = write_done,
	};
	size_t len = wire_put_base(pkt.hdr, WIRE_WRITE, WIRE_F_LAST | WIRE_F_DELIVERED, 0, 5, sizeof(word));

	pkt.hdr_len = (uint16_t) wire_put_rma(pkt.hdr, len, 0x1000, sizeof(word), 1);
	writes_done = 0;
	assert_int_equal(rxm_tx_send(conn, &pkt), 0);	/* done() follows */
	assert_true(conn->chan.failed);
	rig_polls(2);
	assert_int_equal(writes_done, 1);
	fake_close(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(any_two_lists_fit),
		RIG_TEST(it_is_complete_with_the_last_piece),
		RIG_TEST(a_read_that_fails_ends_the_connection),
		RIG_TEST(reads_end_with_their_connection),
		RIG_TEST(an_empty_list_is_complete),
		RIG_TEST(a_write_that_is_refused_ends_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
