/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The link under an engine that checks every packet: each comes once, whole and in order. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdbool.h>
#include <string.h>

#include "loop/test/fake.h"
#include "loop/name.h"

/* ep_at - an endpoint of @service; NULL: numbered. */
static struct eng_ep *ep_at(const char *service)
{
	struct eng_ep *ep = calloc(1, sizeof(*ep));
	struct fi_info *info = fi_allocinfo(), *named;
	char name[LOOP_NAME_MAX];

	if (service) {
		CHECK(!loop_name_make(NULL, service, name));
		info->src_addr = strdup(name);
		info->src_addrlen = strlen(name) + 1;
	}
	named = loop_name_own(info);
	ep->info.src_addr = strdup(named->src_addr);
	fi_freeinfo(named);
	fi_freeinfo(info);
	ep->base.info = &ep->info;
	ep->base.type = FI_EP_RDM;
	ep->base.prog = &fake_prog;
	ep->base.prov = &fake_prov;
	list_init(&ep->peers);
	list_init(&ep->held);
	list_add_tail(&ep->node, &fake_eps);
	CHECK(!loop_link_ops.open(ep, NULL, &ep->link));
	return ep;
}

static struct eng_peer *peer_at(struct eng_ep *ep, struct eng_ep *other)
{
	fake_addr addr = { "" };
	size_t len = sizeof(addr);

	CHECK(!other->link->ops->getname(other->link, NULL, &addr, &len));
	CHECK(len == strlen(addr.name) + 1);
	return fake_peer(ep, &addr);
}

static int start(void **state)
{
	fake_start();
	return 0;
}

static int stop(void **state)
{
	fake_stop();
	return 0;
}

static void pull_both(struct eng_ep *a, struct eng_ep *b)
{
	fake_pull_some(a);
	fake_pull_some(b);
}

static size_t some_size(void)
{
	return fake_draw() % (fake_draw() % 4 ? 200 : loop_link_ops.size * 300);
}

static void packets_of_every_size_arrive_in_order(void **state)
{
	struct eng_ep *a = ep_at("a"), *b = ep_at("b");
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);

	for (unsigned i = 0; i < 3000; i++) {
		fake_send(ab, some_size(), 0);
		if (i % 3 == 0)
			fake_send(ba, some_size(), 0);
		if (fake_draw() % 4 == 0) {
			fake_poll();
			pull_both(a, b);
		}
		if (i % 500 == 0)
			a->later = b->later = (unsigned) (fake_draw() % 30);
	}
	a->later = b->later = 0;
	FAKE_UNTIL(20000, (pull_both(a, b), ba->rx_cnt == ab->tx_seq && ab->rx_cnt == ba->tx_seq &&
			   ab->done_cnt == ab->tx_seq && ba->done_cnt == ba->tx_seq));
	assert_int_equal(ab->down + ba->down, 0);
	assert_int_equal(ab->up, 1);
	assert_int_equal(ba->up, 1);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void a_sender_waits_for_a_receiver_that_does_not_poll(void **state)
{
	struct eng_ep *a = ep_at("a"), *b = ep_at("b");
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	unsigned sent = 0;

	fake_send(ab, 8, 0);
	FAKE_UNTIL(2000, ba->rx_cnt == 1 || (pull_both(a, b), false));
	while (fake_send(ab, 8, 0) == 1)
		sent++;
	assert_int_equal(sent, LOOP_WINDOW - 1);
	for (unsigned i = 0; i < 3 * LOOP_WINDOW; i++)
		assert_int_equal(fake_send(ab, 8, 0), 0);
	FAKE_UNTIL(2000, (pull_both(a, b), ba->rx_cnt == ab->tx_seq && ab->done_cnt == ab->tx_seq));
	fake_close(a, 100);
	fake_close(b, 100);
}

static void an_endpoint_sends_to_itself(void **state)
{
	struct eng_ep *a = ep_at(NULL);
	struct eng_peer *self = peer_at(a, a);

	for (unsigned i = 0; i < 500; i++)
		fake_send(self, some_size(), 0);
	FAKE_UNTIL(2000, (fake_pull_some(a), self->rx_cnt == 500 && self->done_cnt == 500));
	assert_int_equal(self->up, 1);
	fake_close(a, 100);
}

static void expect_down(struct eng_ep *a, const char *name, int err)
{
	fake_addr addr = { "" };
	struct eng_peer *peer;

	strcpy(addr.name, name);
	peer = fake_peer(a, &addr);
	assert_int_equal(fake_send(peer, 8, 0), 0);
	assert_int_equal(peer->down, 0);	/* no upcall outside of poll() */
	FAKE_UNTIL(2000, peer->down == 1);
	assert_int_equal(peer->err, err);
	assert_int_equal(peer->lost_cnt, 1);
}

static void addresses_that_no_endpoint_has_fail(void **state)
{
	struct eng_ep *a = ep_at("a");
	char name[LOOP_NAME_MAX];
	uint64_t begin = now_ms();

	expect_down(a, "fi_loop://1:0", FI_EHOSTUNREACH);	/* at once */
	assert_true(now_ms() - begin < 150);
	CHECK(!loop_name_make(NULL, "absent", name));
	expect_down(a, name, FI_ECONNREFUSED);			/* after some attempts */
	assert_true(now_ms() - begin >= 200);
	fake_close(a, 100);
}

static void an_endpoint_that_is_opened_late_is_found(void **state)
{
	struct eng_ep *a = ep_at("a"), *b = ep_at("b");
	struct eng_peer *ab = peer_at(a, b), *ba;
	uint64_t until = now_ms() + 50;

	fake_close(b, 0);
	fake_send(ab, 8, 0);
	FAKE_UNTIL(2000, now_ms() >= until);
	b = ep_at("b");
	ba = peer_at(b, a);
	FAKE_UNTIL(2000, (pull_both(a, b), ba->rx_cnt == 1));
	assert_int_equal(ab->down, 0);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void a_request_to_an_endpoint_that_closes_is_answered(void **state)
{
	struct eng_ep *a = ep_at("a"), *b = ep_at("b");
	struct eng_peer *ab = peer_at(a, b);

	fake_send(ab, 8, 0);	/* the request is in the inbox of b, which does not look */
	fake_close(b, 0);
	FAKE_UNTIL(1500, ab->down == 1);
	assert_int_equal(ab->err, FI_ECONNREFUSED);
	fake_close(a, 100);
}

static void a_peer_that_closes_is_lost_and_a_new_one_found(void **state)
{
	struct eng_ep *a = ep_at("a"), *b = ep_at("b");
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);

	for (unsigned round = 0; round < 5; round++) {
		fake_send(round & 1 ? ba : ab, 8, 0);
		FAKE_UNTIL(2000, (pull_both(a, b), ab->rx_cnt + ba->rx_cnt == 1));
		ab->rx_cnt = 0;
		fake_close(b, 100);
		FAKE_UNTIL(2000, ab->down == (int) round + 1);
		b = ep_at("b");
		ba = peer_at(b, a);
	}
	fake_close(a, 100);
	fake_close(b, 100);
}

/* Both forget each other at any time, and what follows is a connection that works. */
static void forgetting_peers_at_any_time_does_not_confuse_them(void **state)
{
	struct eng_ep *a = ep_at("a"), *b = ep_at("b");
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a), *peer;
	uint64_t seq;

	a->blind = b->blind = true;
	for (unsigned i = 0; i < 2000; i++) {
		peer = fake_draw() % 2 ? ab : ba;
		if (fake_draw() % 4)
			fake_send(peer, 8, 0);
		for (seq = fake_draw() % 4; seq; seq--)
			fake_poll();
		pull_both(a, b);
		if (fake_draw() % 3)
			continue;
		peer = fake_draw() % 2 ? ab : ba;
		loop_link_ops.peer_put(peer->ep->link, peer);
		peer->wanted = false;
		peer->tx_seq = peer->rx_seq = 0;
	}
	/* with nothing in flight that is not for the connection that stands */
	loop_link_ops.peer_put(a->link, ab);
	loop_link_ops.peer_put(b->link, ba);
	for (unsigned i = 0; i < 10; i++)
		fake_poll();
	pull_both(a, b);
	ab->wanted = ba->wanted = false;
	ab->tx_seq = ab->rx_seq = ab->rx_cnt = ba->tx_seq = ba->rx_seq = ba->rx_cnt = 0;
	fake_send(ab, 8, 0);
	fake_send(ba, 8, 0);
	FAKE_UNTIL(2000, (pull_both(a, b), ab->rx_cnt == 1 && ba->rx_cnt == 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

static void what_was_sent_before_closing_arrives(void **state)
{
	struct eng_ep *a = ep_at("a"), *b = ep_at("b");
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);

	b->whole = true;
	for (unsigned i = 0; i < 5 * LOOP_WINDOW; i++)
		fake_send(ab, 100, 0);
	fake_close(a, 2000);
	FAKE_UNTIL(2000, ba->down == 1);
	assert_int_equal(ba->rx_cnt, 5 * LOOP_WINDOW);
	fake_close(b, 100);
}

/* An endpoint that does not poll is there: one that closes answers. */
static void an_endpoint_that_does_not_poll_is_waited_for(void **state)
{
	struct eng_ep *a = ep_at("a");
	struct loop_inbox *busy;
	struct list msgs;
	struct loop_msg *msg;
	fake_addr addr = { "" };
	struct eng_peer *peer;
	uint64_t until;

	loop_conf.timeout_ms = 20;
	CHECK(!loop_name_make(NULL, "busy", addr.name));
	assert_int_equal(loop_inbox_new(addr.name, &busy), 0);
	peer = fake_peer(a, &addr);
	fake_send(peer, 8, 0);
	for (until = clock_deadline(100); clock_ns() < until;)
		fake_poll();
	assert_int_equal(peer->down, 0);
	assert_int_equal(peer->lost_cnt, 0);
	fake_close(a, 0);
	list_init(&msgs);
	loop_inbox_close(busy, &msgs);
	while ((msg = list_pop_entry(&msgs, struct loop_msg, node)))
		loop_msg_free(msg);
	loop_inbox_put(busy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_of_every_size_arrive_in_order),
		TEST(a_sender_waits_for_a_receiver_that_does_not_poll),
		TEST(an_endpoint_sends_to_itself),
		TEST(addresses_that_no_endpoint_has_fail),
		TEST(an_endpoint_that_is_opened_late_is_found),
		TEST(a_request_to_an_endpoint_that_closes_is_answered),
		TEST(a_peer_that_closes_is_lost_and_a_new_one_found),
		TEST(forgetting_peers_at_any_time_does_not_confuse_them),
		TEST(what_was_sent_before_closing_arrives),
		TEST(an_endpoint_that_does_not_poll_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
