/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Attempts, requests and handshakes, over the fake provider with a virtual clock: refusals,
 * timeouts, versions, addresses, and what a simultaneous connect comes to.
 */
#include "rxm/test/rig.h"

/* ---- attempts -------------------------------------------------------------------------- */

static void packets_wait_for_the_connection(void **state)
{
	struct eng_ep *a = rig_ep(1), *b = rig_ep(2);
	struct eng_peer *ab = rig_peer(a, 2), *ba = rig_peer(b, 1);

	a->verdict = b->verdict = 1 + ENG_RX_DONE;
	assert_int_equal(fake_send(ab, 100, 0), 0);
	assert_int_equal(rig_conn(ab)->chan.state, CHAN_CONNECTING);
	rig_polls(5);
	assert_int_equal(ab->up, 1);
	assert_int_equal(ba->up, 1);
	assert_int_equal(ba->rx_cnt, 1);
	assert_int_equal(ab->done_cnt, 1);
	fake_close(a, 0);
	fake_close(b, 0);
}

static void a_refused_connect_is_repeated_then_reported(void **state)
{
	struct eng_ep *a = rig_ep(1), *b;
	struct eng_peer *ab = rig_peer(a, 2);
	unsigned i;

	fake_send(ab, 100, 0);
	rig_sleep(100);
	assert_int_equal(ab->down, 0);
	assert_int_equal(rig_conn(ab)->chan.state, CHAN_BACKOFF);
	/* a peer that starts late is reached */
	b = rig_ep(2);
	rig_sleep(170);
	assert_int_equal(ab->up, 1);
	assert_int_equal(ab->done_cnt, 1);
	/* one that does not is reported, once */
	fake_send(rig_peer(a, 3), 100, 0);
	rig_sleep(600);
	assert_int_equal(rig_peer(a, 3)->down, 1);
	assert_int_equal(rig_peer(a, 3)->err, FI_ECONNREFUSED);
	assert_int_equal(rig_peer(a, 3)->lost_cnt, 1);
	for (i = 0; i < caught.cnt && !strstr(caught.line[i], "cannot connect to"); i++)
		;
	assert_true(i < caught.cnt);
	assert_non_null(strstr(caught.line[i], "no endpoint of this layer is there"));
	fake_close(a, 0);
	fake_close(b, 0);
}

/* The provider below would report a peer that is not there: this one computes. */
static void an_unanswered_connect_is_waited_for(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *ab = rig_peer(a, 9);
	unsigned i;

	msg_prov_blackhole(9);
	fake_send(ab, 100, 0);
	rig_sleep(3 * rxm_conf.conn_timeout_ms);
	assert_int_equal(ab->down, 0);
	assert_int_equal(rig_conn(ab)->chan.state, CHAN_CONNECTING);
	assert_int_equal(rig_link(a)->chan.poller->connecting, 0);	/* others may connect */
	for (i = 0; i < caught.cnt && !strstr(caught.line[i], "waiting for it"); i++)
		;
	assert_true(i < caught.cnt);
	fake_close(a, 0);
}

/* The provider below gives up earlier than we do. */
static void a_timeout_below_is_repeated_for_a_time(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *ab = rig_peer(a, 9);
	struct rxm_conn *conn = rig_conn(ab);
	int ms;

	msg_prov_blackhole(9);
	fake_send(ab, 100, 0);
	rig_sleep(500);
	for (ms = 0; ms < rxm_conf.conn_timeout_ms; ms += 500) {
		assert_int_equal(ab->down, 0);
		assert_int_equal(conn->chan.state, CHAN_CONNECTING);
		rxm_on_refused(conn->ep, FI_ETIMEDOUT, NULL, 0);
		assert_int_equal(conn->chan.state, CHAN_BACKOFF);
		rig_sleep(500);		/* longer than refused connects are repeated */
	}
	rxm_on_refused(conn->ep, FI_ETIMEDOUT, NULL, 0);
	rig_sleep(1);
	assert_int_equal(ab->down, 1);
	assert_int_equal(ab->err, FI_ETIMEDOUT);
	fake_close(a, 0);
}

static void a_shortage_of_endpoints_is_survived(void **state)
{
	struct eng_ep *a = rig_ep(1), *b = rig_ep(2);
	struct eng_peer *ab = rig_peer(a, 2);

	msg_prov.ep_room = 0;
	fake_send(ab, 100, 0);
	rig_sleep(50);
	assert_int_equal(ab->up, 0);
	msg_prov.ep_room = 1;	/* none is left for the accepting side, which says so */
	rig_sleep(50);
	assert_int_equal(ab->up, 0);
	assert_int_equal(ab->down, 0);
	msg_prov.ep_room = -1;
	rig_sleep(200);
	assert_int_equal(ab->up, 1);
	assert_int_equal(ab->done_cnt, 1);
	fake_close(a, 0);
	fake_close(b, 0);
}

/* ---- answers ------------------------------------------------------------------------------ */

/* Returns the peer at port 9, to which a request of @a is in flight. */
static struct eng_peer *connecting(struct eng_ep *a)
{
	struct eng_peer *peer = rig_peer(a, 9);

	msg_prov_blackhole(9);
	fake_send(peer, 100, 0);
	rig_polls(1);
	return peer;
}

static void answer_refusal(enum chan_reason reason)
{
	uint8_t data[sizeof(struct rxm_wire_refusal)];

	assert_true(msg_prov_answer(false, data, rxm_refusal_put(data, reason)));
	rig_polls(3);
}

static void a_version_that_differs_ends_the_attempt(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = connecting(a);
	uint8_t data[sizeof(struct rxm_wire_refusal)];
	char want[64];
	unsigned i;

	rxm_refusal_put(data, CHAN_VERSION_BAD);
	data[offsetof(struct rxm_wire_refusal, version) + 1] += 3;
	assert_true(msg_prov_answer(false, data, sizeof(data)));
	rig_polls(3);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_EPROTO);
	snprintf(want, sizeof(want), "speaks wire version %u.%u ", RXM_VERSION,
		 chan_version_ours(0, 0).engine + 3);
	for (i = 0; i < caught.cnt && !strstr(caught.line[i], want); i++)
		;
	assert_true(i < caught.cnt);
	fake_close(a, 0);
}

static void busy_is_repeated_and_rejection_is_not(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = connecting(a);

	answer_refusal(CHAN_BUSY);
	assert_int_equal(peer->down, 0);
	rig_sleep(20);
	assert_int_equal(rig_conn(peer)->chan.state, CHAN_CONNECTING);
	answer_refusal(CHAN_ADDR_BAD);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_EADDRNOTAVAIL);
	fake_close(a, 0);
}

static void a_malformed_acceptance_ends_the_attempt(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = connecting(a);

	assert_true(msg_prov_answer(true, "what?", 5));
	rig_polls(3);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_EPROTO);
	assert_int_equal(msg_prov.eps, 0);
	fake_close(a, 0);
}

/* A message may overtake the event of the acceptance, also a malformed one: it is looked at when the
 * format of the connection is known.
 */
static void garbage_before_the_acceptance_ends_the_connection(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = connecting(a);
	uint8_t data[RXM_HANDSHAKE_MAX];

	msg_prov_deliver(rig_conn(peer)->ep->fid, "garbage of some bytes", 21);
	rig_polls(3);
	assert_int_equal(peer->down, 0);
	assert_true(msg_prov_answer(true, data, rig_handshake(data, 7, 77,
							      (uint32_t) rig_conn(peer)->chan.serial, 0)));
	rig_polls(3);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_EPROTO);
	assert_int_equal(msg_prov.eps, 0);
	fake_close(a, 0);
}

/* ---- requests ------------------------------------------------------------------------------- */

static void requests_are_accepted_with_a_handshake(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct msg_req *req = rig_request(1, 7, 77, 5, 0);
	struct rxm_handshake hs;

	rig_polls(2);
	assert_true(req->accepted);
	assert_int_equal(rxm_handshake_parse(req->data, req->len, &hs), CHAN_OK);
	assert_int_equal(hs.id.serial, 5);
	assert_int_equal(hs.id.epoch, rig_link(a)->chan.epoch);
	assert_int_equal(hs.addr_len, 0);
	assert_int_equal(rig_conn(rig_peer(a, 7))->chan.state, CHAN_ACCEPTING);
	msg_prov_confirm(req);
	rig_polls(2);
	assert_int_equal(rig_conn(rig_peer(a, 7))->chan.state, CHAN_READY);
	assert_int_equal(rig_peer(a, 7)->up, 1);
	/* the limits of both sides */
	assert_int_equal(rig_conn(rig_peer(a, 7))->buf_size, 4096);
	assert_int_equal(rig_conn(rig_peer(a, 7))->rndv_max, 2);
	assert_int_equal(rig_conn(rig_peer(a, 7))->credits, 4);
	msg_prov_free(req);
	fake_close(a, 0);
}

static void an_unconfirmed_request_is_waited_for(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct msg_req *req = rig_request(1, 7, 77, 1, 0);

	rig_polls(2);
	fake_send(rig_peer(a, 7), 100, 0);
	rig_sleep(3 * rxm_conf.conn_timeout_ms);
	assert_int_equal(rig_peer(a, 7)->down, 0);
	msg_prov_confirm(req);
	rig_polls(2);
	assert_int_equal(rig_conn(rig_peer(a, 7))->chan.state, CHAN_READY);
	msg_prov_free(req);
	fake_close(a, 0);
}

static void refused_with(uint8_t *data, size_t len, uint32_t from_host, enum chan_reason reason)
{
	struct sockaddr_in from = msg_prov_addr(50000);
	struct msg_req *req;

	from.sin_addr.s_addr = htonl(from_host);
	req = msg_prov_request(1, &from, data, len);
	rig_polls(2);
	assert_int_equal(rig_refusal(req), reason);
	msg_prov_free(req);
}

static void bad_requests_are_refused(void **state)
{
	struct eng_ep *a = rig_ep(1);
	uint8_t data[RXM_HANDSHAKE_MAX];
	size_t len = rig_handshake(data, 7, 77, 1, 0);
	char want[32];

	refused_with(data, len - 1, INADDR_LOOPBACK, CHAN_MALFORMED);
	refused_with(data, len, 0x0a000001, CHAN_ADDR_BAD);
	assert_non_null(strstr(caught.line[caught.cnt - 1], "address of another host"));
	data[offsetof(struct rxm_wire_handshake, version) + 1]++;
	data[offsetof(struct rxm_wire_handshake, older)] = 0;
	refused_with(data, len, INADDR_LOOPBACK, CHAN_VERSION_BAD);
	snprintf(want, sizeof(want), "version %u.%u", RXM_VERSION, chan_version_ours(0, 0).engine + 1);
	assert_non_null(strstr(caught.line[caught.cnt - 1], want));
	snprintf(want, sizeof(want), " with %u.%u ", RXM_VERSION, chan_version_ours(0, 0).engine);
	assert_non_null(strstr(caught.line[caught.cnt - 1], want));
	assert_int_equal(msg_prov.eps, 0);
	fake_close(a, 0);
}

/* A peer that listens at a wildcard address is known by the one that it connects from. */
static void a_wildcard_is_settled(void **state)
{
	struct sockaddr_in own = msg_prov_addr(7), from = msg_prov_addr(50000);
	struct rxm_handshake hs = {
		.id = { .epoch = 77, .serial = 1 }, .buf_size = 4096, .credits = 4, .rndvs = 2,
		.addr_len = sizeof(own),
	};
	struct eng_ep *a = rig_ep(1);
	uint8_t data[RXM_HANDSHAKE_MAX];
	struct msg_req *req;

	own.sin_addr.s_addr = INADDR_ANY;
	memcpy(hs.addr, &own, sizeof(own));
	req = msg_prov_request(1, &from, data, rxm_handshake_put(data, &hs));
	rig_polls(2);
	assert_true(req->accepted);
	assert_int_equal(rig_conn(rig_peer(a, 7))->chan.state, CHAN_ACCEPTING);
	fake_close(a, 0);
	msg_prov_free(req);
}

static void a_failed_accept_is_refused_as_busy(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct msg_req *req;

	msg_prov.ep_room = 0;
	req = rig_request(1, 7, 77, 1, 0);
	rig_polls(2);
	assert_int_equal(rig_refusal(req), CHAN_BUSY);
	msg_prov_free(req);
	/* once there is an endpoint the request is its own, and ends with it */
	msg_prov.ep_room = -1;
	msg_prov.accept_err = FI_ENOMEM;
	req = rig_request(1, 7, 77, 2, 0);
	rig_polls(2);
	assert_true(req->rejected);
	assert_int_equal(req->len, 0);
	msg_prov_free(req);
	assert_int_equal(rig_conn(rig_peer(a, 7))->chan.state, CHAN_IDLE);
	assert_int_equal(msg_prov.eps, 0);
	fake_close(a, 0);
}

/* ---- simultaneous connects -------------------------------------------------------------------- */

static void the_lower_address_counts(void **state)
{
	struct eng_ep *a = rig_ep(1), *b = rig_ep(2);
	struct eng_peer *ab = rig_peer(a, 2), *ba = rig_peer(b, 1);

	a->verdict = b->verdict = 1 + ENG_RX_DONE;
	fake_send(ba, 100, 0);
	fake_send(ab, 100, 0);
	rig_polls(8);
	assert_true(rig_conn(ab)->chan.ours);
	assert_false(rig_conn(ba)->chan.ours);
	assert_int_equal(ab->up, 1);
	assert_int_equal(ba->up, 1);
	assert_int_equal(ab->down + ba->down, 0);
	assert_int_equal(ab->rx_cnt, 1);
	assert_int_equal(ba->rx_cnt, 1);
	assert_int_equal(msg_prov.eps, 2);
	fake_close(a, 0);
	fake_close(b, 0);
}

static void simultaneous_connects_in_any_order(void **state)
{
	struct eng_ep *ep[2];
	int round, i, at[2];

	for (round = 0; round < 64; round++) {
		ep[0] = rig_ep(1);
		ep[1] = rig_ep(2);
		at[0] = round & 7;
		at[1] = round >> 3;
		for (i = 0; i < 2; i++)
			ep[i]->verdict = 1 + ENG_RX_DONE;
		for (i = 0; i < 12; i++) {
			if (i == at[0])
				fake_send(rig_peer(ep[0], 2), 100, 0);
			if (i == at[1])
				fake_send(rig_peer(ep[1], 1), 100, 0);
			rig_polls(1);
		}
		for (i = 0; i < 2; i++)
			fake_send(rig_peer(ep[i], 2 - i), 100, 0);
		rig_sleep(20);
		for (i = 0; i < 2; i++) {
			assert_int_equal(rig_peer(ep[i], 2 - i)->up, 1);
			assert_int_equal(rig_peer(ep[i], 2 - i)->down, 0);
		}
		assert_int_equal(msg_prov.eps, 2);
		fake_close(ep[0], 0);
		fake_close(ep[1], 0);
	}
}

/* Our request gave way; the peer's own does not arrive.  It lives while it answers: there is no limit. */
static void a_request_that_gave_way_is_made_again(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = connecting(a);
	int i;

	for (i = 0; i < 150; i++) {
		assert_int_equal(rig_conn(peer)->chan.state, CHAN_CONNECTING);
		assert_int_equal(peer->down, 0);
		answer_refusal(CHAN_SIMULTANEOUS);
		assert_int_equal(rig_conn(peer)->chan.state, CHAN_YIELDED);
		rig_sleep(490);
		assert_int_equal(rig_conn(peer)->chan.state, CHAN_YIELDED);
		rig_sleep(20);
	}
	assert_int_equal(rig_conn(peer)->chan.state, CHAN_CONNECTING);
	assert_int_equal(peer->down, 0);
	fake_close(a, 0);
}

/* A request that was sent before its sender accepted ours arrives late. */
static void a_late_request_is_refused(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = connecting(a);
	uint64_t serial = rig_conn(peer)->chan.serial;
	uint8_t data[RXM_HANDSHAKE_MAX];
	struct msg_req *req;

	assert_true(msg_prov_answer(true, data, rig_handshake(data, 9, 77, (uint32_t) serial, 3)));
	rig_polls(3);
	assert_int_equal(rig_conn(peer)->chan.state, CHAN_READY);
	req = rig_request(1, 9, 77, 3, (uint32_t) serial - 1);
	rig_polls(2);
	assert_int_equal(rig_refusal(req), CHAN_SIMULTANEOUS);
	msg_prov_free(req);
	assert_int_equal(peer->down, 0);
	/* one that was sent since says that the connection is lost there, which proves nothing */
	req = rig_request(1, 9, 77, 4, (uint32_t) serial);
	rig_polls(2);
	assert_int_equal(rig_refusal(req), CHAN_NOT_YET);
	msg_prov_free(req);
	assert_int_equal(peer->down, 0);
	msg_prov_shutdown(rig_conn(peer)->ep->fid);
	req = rig_request(1, 9, 77, 5, (uint32_t) serial);
	rig_polls(4);
	assert_true(req->accepted);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_ECONNRESET);
	msg_prov_free(req);
	fake_close(a, 0);
}

/* probed - was the last message to the peer an empty one? */
static bool probed(struct eng_peer *peer)
{
	size_t len = 0;
	const uint8_t *msg = msg_prov_last(rig_conn(peer)->ep->fid, &len);

	return msg && len == sizeof(struct rxm_head);
}

/* Not before the end of the connection is known: any process of that host can send them. */
static void newer_requests_and_restarted_peers_replace(void **state)
{
	static const struct {
		uint64_t epoch;
		uint32_t serial;
		bool replaces;
	} cases[] = {
		{ 77, UINT32_MAX - 1, false },	/* overtaken by the one that is established */
		{ 77, UINT32_MAX, false },
		{ 77, 1, true },		/* 0 is skipped: the next one */
		{ 78, 1, true },		/* another life */
	};
	struct msg_req *first, *req;
	struct eng_peer *peer;
	struct eng_ep *a;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		a = rig_ep(1);
		first = rig_request(1, 9, 77, UINT32_MAX, 0);
		rig_polls(2);
		msg_prov_confirm(first);
		rig_polls(2);
		peer = rig_peer(a, 9);
		assert_int_equal(rig_conn(peer)->chan.state, CHAN_READY);
		req = rig_request(1, 9, cases[i].epoch, cases[i].serial, 0);
		rig_polls(2);
		assert_int_equal(rig_refusal(req), cases[i].replaces ? CHAN_NOT_YET : CHAN_SIMULTANEOUS);
		assert_int_equal(peer->down, 0);
		/* the connection was probed: an empty message */
		assert_true(!cases[i].replaces || probed(peer));
		msg_prov_free(req);
		msg_prov_shutdown(rig_conn(peer)->ep->fid);
		rig_polls(2);
		assert_int_equal(peer->down, 1);
		req = rig_request(1, 9, cases[i].epoch, cases[i].serial, 0);
		rig_polls(2);
		assert_int_equal(req->accepted, true);
		fake_close(a, 0);
		msg_prov_free(req);
		msg_prov_free(first);
	}
}

static void serials_on_the_wire_are_never_0(void **state)
{
	struct eng_ep *a = rig_ep(1);

	rig_link(a)->chan.serial = UINT32_MAX;
	connecting(a);
	assert_int_equal(rig_link(a)->chan.serial, (UINT64_C(1) << 32) + 1);
	fake_close(a, 0);
}

/* ---- the endpoint itself ------------------------------------------------------------------------ */

static void an_endpoint_connects_to_itself(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *self = rig_peer(a, 1);
	struct msg_req *req;

	a->whole = true;
	fake_send(self, 100, 0);
	fake_send(self, 100000, 0);
	rig_polls(10);
	assert_int_equal(self->up, 1);
	assert_int_equal(self->rx_cnt, 2);
	assert_int_equal(self->done_cnt, 2);
	assert_int_equal(msg_prov.eps, 2);
	/* the request of an attempt that has ended */
	req = rig_request(1, 1, rig_link(a)->chan.epoch, 99, 0);
	rig_polls(2);
	assert_int_equal(rig_refusal(req), CHAN_NO_USE);
	msg_prov_free(req);
	assert_int_equal(self->down, 0);
	fake_close(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(packets_wait_for_the_connection),
		RIG_TEST(a_refused_connect_is_repeated_then_reported),
		RIG_TEST(an_unanswered_connect_is_waited_for),
		RIG_TEST(a_timeout_below_is_repeated_for_a_time),
		RIG_TEST(a_shortage_of_endpoints_is_survived),
		RIG_TEST(a_version_that_differs_ends_the_attempt),
		RIG_TEST(busy_is_repeated_and_rejection_is_not),
		RIG_TEST(a_malformed_acceptance_ends_the_attempt),
		RIG_TEST(garbage_before_the_acceptance_ends_the_connection),
		RIG_TEST(requests_are_accepted_with_a_handshake),
		RIG_TEST(an_unconfirmed_request_is_waited_for),
		RIG_TEST(bad_requests_are_refused),
		RIG_TEST(a_wildcard_is_settled),
		RIG_TEST(a_failed_accept_is_refused_as_busy),
		RIG_TEST(the_lower_address_counts),
		RIG_TEST(simultaneous_connects_in_any_order),
		RIG_TEST(a_request_that_gave_way_is_made_again),
		RIG_TEST(a_late_request_is_refused),
		RIG_TEST(newer_requests_and_restarted_peers_replace),
		RIG_TEST(serials_on_the_wire_are_never_0),
		RIG_TEST(an_endpoint_connects_to_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
