/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The choice among an endpoint's own link and further ones, which the test opens. */
#include "channel/test/fake_link.h"

/* What the further links of the test do. */
static struct {
	int open_ret;		/* of "second" */
	int get_ret;		/* peer_get(): the peer is known not to be there */
	unsigned prepared;
	struct fake_link *first, *second;
	struct chan_link *mains[2];
} locals;

static int local_get(struct eng_link *base, struct eng_peer *peer)
{
	struct chan *chan;

	if (locals.get_ret)
		return locals.get_ret;
	chan = chan_of(chan_link_of(base), peer);
	if (chan->state == CHAN_IDLE)
		chan_start(chan);
	return 0;
}

static struct fake_link *local_link(const char *name, size_t chan_size)
{
	struct fake_link *link = fake_link(name);

	link->ops.peer_get = local_get;
	link->ops.chan_size = chan_size;
	link->base.base.attr = (struct eng_link_attr) {
		.max_payload = 6000, .seg_size = 5000, .eager_limit = 700, .addr_len = ADDR_LEN,
	};
	return link;
}

static int open_first(struct eng_ep *ep, struct chan_link *main, struct chan_link **link_p)
{
	locals.first = local_link("first", sizeof(struct fake_chan));
	locals.mains[0] = main;
	*link_p = &locals.first->base;
	return 0;
}

static int open_second(struct eng_ep *ep, struct chan_link *main, struct chan_link **link_p)
{
	if (locals.open_ret)
		return locals.open_ret;
	locals.second = local_link("second", sizeof(struct fake_chan) + 100);
	locals.mains[1] = main;
	*link_p = &locals.second->base;
	return 0;
}

static void prepare(void)
{
	locals.prepared++;
}

/* Registered in the wrong order, and one that never works. */
static int open_never(struct eng_ep *ep, struct chan_link *main, struct chan_link **link_p)
{
	return -FI_ENOSYS;
}

static struct chan_local never = { "never", 0, NULL, open_never, NULL };
static struct chan_local second = { "second", 20, prepare, open_second, NULL };
static struct chan_local first = { "first", 10, NULL, open_first, NULL };

static struct fake_link *main_link;

static int setup(void **state)
{
	static bool registered;

	fake_setup(state);
	if (!registered) {
		chan_local_register(&second);
		chan_local_register(&never);
		chan_local_register(&first);
	}
	registered = true;
	memset(&locals, 0, sizeof(locals));
	main_link = fake_link("main");
	chan_select_open(NULL, &main_link->base);
	return 0;
}

static int teardown(void **state)
{
	fake_link_end(main_link);
	assert_int_equal(main_link->base.local_cnt, 0);
	return fake_teardown(state);
}

static struct eng_peer *peer_new(void)
{
	return fake_peer(main_link, "p");
}

static void further_links_are_opened_best_first(void **state)
{
	struct chan_link *main = &main_link->base;

	assert_int_equal(main->local_cnt, 2);
	assert_ptr_equal(main->local[0], &locals.first->base);
	assert_ptr_equal(main->local[1], &locals.second->base);
	assert_ptr_equal(locals.mains[0], main);
	assert_ptr_equal(locals.first->base.main, main);
	assert_null(main->main);
	/* room for the largest, and no packet that the own link does not take */
	assert_int_equal(main->base.attr.chan_size, sizeof(struct fake_chan) + 100);
	assert_int_equal(locals.first->base.base.attr.seg_size, 800);
	assert_int_equal(locals.first->base.base.attr.eager_limit, 500);
	chan_local_prepare();
	assert_int_equal(locals.prepared, 1);
}

static void one_that_cannot_be_opened_is_done_without(void **state)
{
	struct fake_link *other = fake_link("main");

	locals.open_ret = -FI_ENOSYS;
	chan_select_open(NULL, &other->base);
	assert_int_equal(other->base.local_cnt, 1);
	assert_int_equal(other->base.base.attr.chan_size, sizeof(struct fake_chan));
	fake_link_end(other);
}

static void the_best_link_that_may_reach_the_peer_is_tried(void **state)
{
	struct eng_peer *peer = peer_new();
	struct chan *chan = fake_get(peer);

	assert_ptr_equal(peer->link, &locals.first->base.base);
	assert_int_equal(chan->state, CHAN_CONNECTING);
	assert_int_equal(locals.first->connects, 1);
	assert_int_equal(main_link->connects, 0);
	fake_up(chan, true, EPOCH, chan->serial, 0);
	chan_peer_get(&main_link->base.base, peer);	/* nothing to be done */
	assert_int_equal(main_link->connects + locals.first->connects, 1);
	/* the binding is lost with the connection, and the next choice is a new one */
	IN_POLL(chan_lost(chan, FI_EIO, false));
	locals.get_ret = -FI_EHOSTUNREACH;
	chan_peer_get(&main_link->base.base, peer);
	assert_ptr_equal(peer->link, &main_link->base.base);
	assert_int_equal(main_link->connects, 1);
	locals.get_ret = 0;
	IN_POLL(chan_connect_failed(chan, FI_EIO, true));
	fake_poll();
	assert_int_equal(peer->err, FI_EIO);
	chan_peer_get(&main_link->base.base, peer);
	assert_ptr_equal(peer->link, &locals.first->base.base);
	chan_peer_put(peer->link, peer);
	free(peer);
}

static void a_peer_that_is_not_reached_gets_the_own_link_with_its_packets(void **state)
{
	struct eng_peer *peer = peer_new();
	struct chan *chan = fake_get(peer);
	struct fake_pkt pkts[3];

	for (int i = 0; i < 3; i++)
		assert_int_equal(fake_send(peer, &pkts[i]), 0);
	IN_POLL(chan_refused(chan, CHAN_NO_USE));
	fake_poll();
	assert_ptr_equal(peer->link, &main_link->base.base);
	assert_ptr_equal(chan->link, &main_link->base);
	assert_int_equal(chan->state, CHAN_CONNECTING);
	assert_int_equal(peer->downs, 0);
	assert_true(list_empty(&locals.first->base.chans));
	fake_up(chan, true, EPOCH, chan->serial, 0);
	fake_sent(peer, pkts, 3);
	IN_POLL(chan_lost(chan, FI_EIO, false));
	free(peer);
}

static void what_the_own_link_cannot_take_over_fails(void **state)
{
	struct eng_peer *peer = peer_new();
	struct chan *chan = fake_get(peer);
	struct fake_pkt pkts[2];

	main_link->connect_ret = -FI_EHOSTUNREACH;
	for (int i = 0; i < 2; i++)
		assert_int_equal(fake_send(peer, &pkts[i]), 0);
	IN_POLL(chan_connect_failed(chan, FI_ECONNREFUSED, true));
	fake_poll();
	assert_int_equal(peer->downs, 0);
	fake_poll();
	assert_int_equal(peer->downs, 1);
	assert_int_equal(peer->err, FI_EHOSTUNREACH);
	fake_failed(pkts, 2, FI_EHOSTUNREACH);
	free(peer);
}

int __real_timers_join(struct timers *timers);
int __wrap_timers_join(struct timers *timers);

static bool no_memory;

int __wrap_timers_join(struct timers *timers)
{
	return no_memory ? -FI_ENOMEM : __real_timers_join(timers);
}

static void without_memory_it_fails_with_that(void **state)
{
	struct eng_peer *peer = peer_new();
	struct chan *chan = fake_get(peer);
	struct fake_pkt pkts[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(fake_send(peer, &pkts[i]), 0);
	IN_POLL(chan_connect_failed(chan, FI_ECONNREFUSED, true));
	no_memory = true;
	fake_poll();
	no_memory = false;
	assert_int_equal(peer->downs, 1);
	assert_int_equal(peer->err, FI_ENOMEM);
	fake_failed(pkts, 2, FI_ENOMEM);
	assert_null(chan->link);

	/* the same where the peer's request is the reason */
	fake_get(peer);
	assert_int_equal(fake_send(peer, &pkts[0]), 0);
	fake_found = peer;
	no_memory = true;
	IN_POLL(assert_null(chan_find(&main_link->base, "p", 2)));
	no_memory = false;
	assert_int_equal(peer->downs, 2);
	fake_failed(pkts, 1, FI_ENOMEM);
	assert_ptr_equal(peer->link, &main_link->base.base);
	free(peer);
}

static void a_request_binds_a_peer_that_has_no_binding(void **state)
{
	struct chan_link *links[] = { &main_link->base, &locals.first->base, &locals.second->base };
	struct eng_peer *peer;

	for (int i = 0; i < 3; i++) {
		peer = peer_new();
		fake_found = peer;
		assert_ptr_equal(chan_find(links[i], "p", 2), &peer->chan);
		assert_ptr_equal(peer->link, &links[i]->base);
		assert_ptr_equal(peer->chan.base.link, links[i]);
		fake_up(&peer->chan.base, false, EPOCH, 1, 0);
		/* the next request of the same peer */
		assert_ptr_equal(chan_find(links[i], "p", 2), &peer->chan);
		chan_peer_put(&links[i]->base, peer);
		free(peer);
	}
}

static void a_request_over_a_further_link_comes_too_late(void **state)
{
	struct eng_peer *peer = peer_new();

	locals.get_ret = -FI_EHOSTUNREACH;
	fake_get(peer);
	assert_ptr_equal(peer->link, &main_link->base.base);
	fake_found = peer;
	assert_null(chan_find(&locals.first->base, "p", 2));
	assert_ptr_equal(peer->link, &main_link->base.base);
	assert_int_equal(peer->chan.base.state, CHAN_CONNECTING);
	chan_peer_put(peer->link, peer);
	/* and over one further link while it is bound to another */
	locals.get_ret = 0;
	fake_get(peer);
	assert_ptr_equal(peer->link, &locals.first->base.base);
	assert_null(chan_find(&locals.second->base, "p", 2));
	chan_peer_put(peer->link, peer);
	free(peer);
}

static void a_request_over_the_own_link_wins_until_there_is_a_connection(void **state)
{
	struct eng_peer *peer = peer_new();
	struct chan *chan = fake_get(peer);
	struct chan_id id = { .epoch = EPOCH, .serial = 1 };
	struct fake_pkt pkts[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(fake_send(peer, &pkts[i]), 0);
	fake_found = peer;
	assert_ptr_equal(chan_find(&main_link->base, "p", 2), chan);
	assert_int_equal(locals.first->aborts, 1);
	assert_ptr_equal(peer->link, &main_link->base.base);
	assert_int_equal(chan_decide(chan, 1, &id), CHAN_ACCEPT);
	chan_taken(chan);
	fake_up(chan, false, EPOCH, 1, 0);
	fake_sent(peer, pkts, 2);
	IN_POLL(chan_lost(chan, FI_EIO, false));
	/* over the further link there is one */
	fake_get(peer);
	assert_ptr_equal(peer->link, &locals.first->base.base);
	fake_up(chan, true, EPOCH, chan->serial, 0);
	assert_null(chan_find(&main_link->base, "p", 2));
	assert_ptr_equal(peer->link, &locals.first->base.base);
	assert_int_equal(chan->state, CHAN_READY);
	IN_POLL(chan_lost(chan, FI_EIO, false));
	free(peer);
}

static void all_links_close_with_the_endpoint(void **state)
{
	struct eng_peer *peer = peer_new();
	struct fake_pkt pkt;

	fake_get(peer);
	assert_int_equal(fake_send(peer, &pkt), 0);
	fake_link_end(main_link);
	assert_true(locals.first->base.closing && locals.second->base.closing);
	fake_failed(&pkt, 1, FI_ECANCELED);
	assert_int_equal(peer->downs, 0);
	free(peer);
}

#define SELECT(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SELECT(further_links_are_opened_best_first),
		SELECT(one_that_cannot_be_opened_is_done_without),
		SELECT(the_best_link_that_may_reach_the_peer_is_tried),
		SELECT(a_peer_that_is_not_reached_gets_the_own_link_with_its_packets),
		SELECT(what_the_own_link_cannot_take_over_fails),
		SELECT(without_memory_it_fails_with_that),
		SELECT(a_request_binds_a_peer_that_has_no_binding),
		SELECT(a_request_over_a_further_link_comes_too_late),
		SELECT(a_request_over_the_own_link_wins_until_there_is_a_connection),
		SELECT(all_links_close_with_the_endpoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
