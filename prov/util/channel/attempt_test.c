/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Attempts to connect: their times, what ends them, refusals, and how many are made at a time. */
#include "channel/test/fake_link.h"

/* ---- connecting ------------------------------------------------------------------------- */

static void packets_wait_for_the_connection(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct fake_pkt pkts[3];
	struct chan *chan = &peer->chan.base;
	uint64_t serial = link->base.serial;

	assert_int_equal(fake_send(peer, &pkts[0]), -FI_ENOTCONN);	/* before peer_get() */
	fake_get(peer);
	assert_true(peer->chan.ready);
	assert_int_equal(chan->state, CHAN_CONNECTING);
	assert_int_equal(chan->serial, serial + 1);
	fake_get(peer);			/* nothing is to be done */
	assert_int_equal(link->connects, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fake_send(peer, &pkts[i]), 0);
	fake_up(chan, true, EPOCH, chan->serial, 4);
	assert_int_equal(chan->state, CHAN_READY);
	assert_ptr_equal(chan->conn, &peer->chan.conn);
	assert_true(chan->ours);
	assert_int_equal(chan->peer_epoch, EPOCH);
	assert_int_equal(chan->peer_newest, 4);
	assert_int_equal(chan->peer_serial, 0);
	assert_int_equal(peer->ups, 1);
	fake_sent(peer, pkts, 3);
	assert_int_equal(fake_poller->connecting, 0);
	fake_link_end(link);
	assert_int_equal(link->closes, 1);
	free(peer);
}

static void attempts_are_repeated_after_doubled_pauses(void **state)
{
	static const unsigned at_ms[] = { 0, 1, 3, 7, 15, 31, 63, 95, 127 };
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct fake_pkt pkts[2];
	struct chan *chan;
	unsigned i;

	link->connect_ret = -FI_ECONNREFUSED;
	chan = fake_get(peer);
	assert_int_equal(fake_send(peer, &pkts[0]), 0);
	assert_int_equal(fake_send(peer, &pkts[1]), 0);
	for (i = 1; i < sizeof(at_ms) / sizeof(at_ms[0]); i++) {
		assert_int_equal(link->connects, i);
		assert_int_equal(peer->downs, 0);
		assert_int_equal(chan->state, CHAN_BACKOFF);
		assert_false(chan->give_up);
		fake_poll_at(at_ms[i] * MS - 1);
		assert_int_equal(link->connects, i);
		fake_poll_at(at_ms[i] * MS);
		assert_int_equal(link->connects, i + 1);
	}
	/* conf.retry_ms has passed since the first failure */
	assert_int_equal(peer->downs, 1);
	assert_int_equal(peer->err, FI_ECONNREFUSED);
	assert_int_equal(chan->state, CHAN_IDLE);
	fake_failed(pkts, 2, FI_ECONNREFUSED);
	fake_poll_at(10000 * MS);
	assert_int_equal(link->connects, i);
	/* the next row begins again */
	fake_get(peer);
	assert_int_equal(chan->tries, 1);
	assert_false(chan->give_up);
	fake_link_end(link);
	free(peer);
}

/* A program that polls once in many seconds learns of all of them by one poll. */
static void the_last_attempts_are_reported_by_the_poll_that_makes_them(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer[20];
	struct fake_pkt pkt[20];
	int i;

	link->connect_ret = -FI_ECONNREFUSED;
	for (i = 0; i < 20; i++) {
		peer[i] = fake_peer(link, "p");
		fake_get(peer[i]);
		assert_int_equal(fake_send(peer[i], &pkt[i]), 0);
	}
	fake_poll_at(27 * CLOCK_NS_PER_S);
	for (i = 0; i < 20; i++) {
		assert_int_equal(peer[i]->downs, 1);
		fake_failed(&pkt[i], 1, FI_ECONNREFUSED);
	}
	fake_link_end(link);
	for (i = 0; i < 20; i++)
		free(peer[i]);
}

static void what_does_not_pass_is_reported_by_the_next_poll(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct fake_pkt pkt;

	link->connect_ret = -FI_EHOSTUNREACH;
	fake_get(peer);		/* no upcall from here: eng_on_down() checks it */
	assert_int_equal(fake_send(peer, &pkt), 0);
	fake_poll();
	assert_int_equal(peer->downs, 1);
	assert_int_equal(peer->err, FI_EHOSTUNREACH);
	fake_failed(&pkt, 1, FI_EHOSTUNREACH);
	assert_int_equal(link->connects, 1);
	fake_link_end(link);
	free(peer);
}

static int retry_for_10(const struct chan *chan, int err)
{
	return err == FI_EHOSTUNREACH ? 10 : 0;
}

static void the_link_says_how_long_an_error_is_worth_an_attempt(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan_ops ops = fake_ops;

	ops.retry_ms = retry_for_10;
	link->base.ops = &ops;
	link->connect_ret = -FI_EHOSTUNREACH;
	fake_get(peer);
	for (unsigned ms = 1; ms < 20; ms++)
		fake_poll_at(ms * MS);
	assert_int_equal(link->connects, 5);	/* at 0, 1, 3, 7, 15 */
	assert_int_equal(peer->downs, 1);
	link->connect_ret = -FI_ECONNREFUSED;
	fake_get(peer);
	fake_poll();
	assert_int_equal(peer->downs, 2);
	assert_int_equal(link->connects, 6);
	fake_link_end(link);
	free(peer);
}

static void the_time_counts_from_the_first_failure(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = fake_get(peer);

	fake_poll_at(5000 * MS);		/* the attempt takes long */
	IN_POLL(chan_connect_failed(chan, FI_ECONNRESET, false));
	assert_false(chan->give_up);
	fake_poll_at(5001 * MS);
	assert_int_equal(link->connects, 2);
	IN_POLL(chan_connect_failed(chan, FI_ECONNRESET, true));
	fake_poll();
	assert_int_equal(peer->err, FI_ECONNRESET);
	/* a channel that is busy is given the longer time */
	chan = fake_get(peer);
	chan->busy = true;
	IN_POLL(chan_connect_failed(chan, FI_EMFILE, false));
	fake_poll_at(5500 * MS);
	IN_POLL(chan_connect_failed(chan, FI_EMFILE, false));
	assert_false(chan->give_up);
	fake_poll_at(6100 * MS);
	IN_POLL(chan_connect_failed(chan, FI_EMFILE, false));
	assert_true(chan->give_up);
	fake_link_end(link);
	free(peer);
}

static void the_timer_of_an_attempt_is_the_links(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");

	link->answer_ns = 20 * MS;
	fake_get(peer);
	fake_poll_at(20 * MS - 1);
	assert_int_equal(link->timers, 0);
	fake_poll_at(20 * MS);
	assert_int_equal(link->timers, 1);
	fake_poll();
	assert_int_equal(peer->err, FI_ETIMEDOUT);
	/* and it is off when the attempt is over */
	fake_get(peer);
	fake_up(&peer->chan.base, true, EPOCH, 1, 0);
	fake_poll_at(1000 * MS);
	assert_int_equal(link->timers, 1);
	fake_link_end(link);
	free(peer);
}

static void a_first_attempt_that_fails_leaves_the_channel_as_it_was(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = chan_of(&link->base, peer);

	link->connect_ret = -FI_ECONNREFUSED;
	assert_int_equal(chan_try(chan), -FI_ECONNREFUSED);
	assert_int_equal(chan->state, CHAN_IDLE);
	fake_poll_at(100 * MS);
	assert_int_equal(link->connects, 1);
	assert_int_equal(peer->downs, 0);
	link->connect_ret = 0;
	assert_int_equal(chan_try(chan), 0);
	assert_int_equal(chan->state, CHAN_CONNECTING);
	fake_link_end(link);
	assert_int_equal(link->aborts, 1);
	free(peer);
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void a_refusal_is_final_or_not_by_its_reason(void **state)
{
	static const enum chan_reason final[] = { CHAN_OK, CHAN_REJECTED, CHAN_VERSION_BAD,
		CHAN_KIND_BAD, CHAN_MALFORMED, CHAN_ADDR_BAD, CHAN_NO_USE };
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan;
	unsigned i;

	for (i = 0; i < sizeof(final) / sizeof(final[0]); i++) {
		chan = fake_get(peer);
		IN_POLL(chan_refused(chan, final[i]));
		assert_int_equal(peer->downs, i);
		fake_poll();
		assert_int_equal(peer->downs, i + 1);
		assert_int_equal(peer->err, chan_reason_errno(final[i]));
		assert_int_equal(link->connects, i + 1);
	}
	/* this one passes */
	chan = fake_get(peer);
	IN_POLL(chan_refused(chan, CHAN_BUSY));
	assert_int_equal(chan->state, CHAN_BACKOFF);
	assert_false(chan->give_up);
	fake_poll_at(1 * MS);
	assert_int_equal(chan->state, CHAN_CONNECTING);
	/* and this one for as long as it is so */
	for (i = 0; i < 1000; i++) {
		IN_POLL(chan_refused(chan, CHAN_NOT_YET));
		assert_int_equal(chan->state, CHAN_BACKOFF);
		fake_poll_at((i + 2) * MS);	/* each after the first pause */
		assert_int_equal(chan->state, CHAN_CONNECTING);
	}
	fake_link_end(link);
	free(peer);
}

static void a_yielded_attempt_waits_for_the_peers(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = fake_get(peer);
	struct fake_pkt pkt;
	struct chan_id id = { .epoch = EPOCH, .serial = 9 };

	assert_int_equal(fake_send(peer, &pkt), 0);
	IN_POLL(chan_refused(chan, CHAN_SIMULTANEOUS));
	assert_int_equal(chan->state, CHAN_YIELDED);
	/* it does not count against the peer's */
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_ACCEPT);
	chan_taken(chan);
	assert_int_equal(link->aborts, 0);
	fake_up(chan, false, EPOCH, 9, 0);
	assert_false(chan->ours);
	assert_int_equal(chan->serial, 9);
	assert_int_equal(chan->peer_serial, 9);
	assert_int_equal(chan->peer_newest, 9);
	fake_sent(peer, &pkt, 1);
	fake_poll_at(1000 * MS);
	assert_int_equal(link->connects, 1);
	fake_link_end(link);
	free(peer);
}

static void a_peer_whose_attempt_does_not_arrive_is_asked_again(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = fake_get(peer);
	struct fake_pkt pkt;
	unsigned ms;

	assert_int_equal(fake_send(peer, &pkt), 0);
	/* it lives, and is waited for without end */
	for (ms = 50; ms < 5000; ms += 50) {
		IN_POLL(chan_refused(chan, CHAN_SIMULTANEOUS));
		fake_poll_at(ms * MS - 1);
		assert_int_equal(chan->state, CHAN_YIELDED);
		fake_poll_at(ms * MS);
		assert_int_equal(chan->state, CHAN_CONNECTING);
	}
	fake_link_end(link);
	free(peer);
}

/* ---- how many attempts ---------------------------------------------------------------------- */

static void a_few_attempts_are_made_at_a_time(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peers[5];
	unsigned i;

	fake_poller->connecting_max = 2;
	for (i = 0; i < 5; i++) {
		peers[i] = fake_peer(link, "p");
		fake_get(peers[i]);
		assert_int_equal(peers[i]->chan.base.state, i < 2 ? CHAN_CONNECTING : CHAN_QUEUED);
	}
	assert_false(chan_poller_connects(fake_poller));
	fake_poll();
	assert_int_equal(link->connects, 2);
	fake_up(&peers[0]->chan.base, true, EPOCH, 1, 0);
	assert_true(chan_poller_connects(fake_poller));
	fake_poll();
	assert_int_equal(peers[2]->chan.base.state, CHAN_CONNECTING);	/* in their order */
	assert_int_equal(peers[3]->chan.base.state, CHAN_QUEUED);
	chan_overdue(&peers[1]->chan.base);	/* does not count any more */
	fake_poll();
	assert_int_equal(peers[3]->chan.base.state, CHAN_CONNECTING);
	IN_POLL(chan_connect_failed(&peers[1]->chan.base, FI_EIO, true));
	assert_int_equal(fake_poller->connecting, 2);
	chan_peer_put(&link->base.base, peers[4]);	/* the queue lets go of it */
	assert_true(list_empty(&fake_poller->queued));
	/* a peer's request needs no turn */
	IN_POLL(chan_connect_failed(&peers[2]->chan.base, FI_EIO, true));
	fake_poll();
	fake_get(peers[1]);
	fake_get(peers[2]);
	assert_int_equal(peers[2]->chan.base.state, CHAN_QUEUED);
	chan_taken(&peers[2]->chan.base);
	fake_up(&peers[2]->chan.base, false, EPOCH, 1, 0);
	assert_true(list_empty(&fake_poller->queued));
	fake_link_end(link);
	for (i = 0; i < 5; i++)
		free(peers[i]);
}

static void attempts_wait_for_what_is_missing(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p"), *other = fake_peer(link, "o");
	struct chan *chan;

	link->connect_ret = -FI_EMFILE;
	link->missing = true;
	chan = fake_get(peer);
	assert_int_equal(chan->state, CHAN_QUEUED);
	fake_get(other);		/* not even tried */
	assert_int_equal(link->connects, 1);
	fake_poll_at(10 * MS);
	assert_int_equal(link->connects, 1);
	fake_poller->hold_connects = false;	/* something is there, but not enough */
	fake_poll_at(20 * MS);
	assert_int_equal(link->connects, 2);
	assert_int_equal(chan->state, CHAN_QUEUED);
	link->connect_ret = 0;
	fake_poller->hold_connects = false;
	fake_poll_at(30 * MS);
	assert_int_equal(chan->state, CHAN_CONNECTING);
	assert_int_equal(other->chan.base.state, CHAN_CONNECTING);
	/* for as long as connecting may take, since the first failure */
	IN_POLL(chan_connect_failed(&other->chan.base, FI_EIO, true));
	fake_poll();
	link->connect_ret = -FI_EMFILE;
	fake_get(other);
	fake_poll_at(1030 * MS);
	fake_poller->hold_connects = false;
	fake_poll();
	assert_int_equal(other->chan.base.state, CHAN_QUEUED);
	fake_poll_at(1031 * MS);
	fake_poller->hold_connects = false;
	fake_poll();
	assert_int_equal(other->chan.base.state, CHAN_BACKOFF);
	fake_poll();
	fake_poll();
	assert_int_equal(other->err, FI_EMFILE);
	fake_link_end(link);
	free(peer);
	free(other);
}

/* A link that says "later" without holding attempts back is asked again by the next poll. */
static bool later(struct chan *chan, int err)
{
	return true;
}

static void one_poll_tries_each_attempt_once(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p"), *other = fake_peer(link, "o");
	struct chan_ops ops = fake_ops;

	ops.hold_back = later;
	link->base.ops = &ops;
	link->connect_ret = -FI_EMFILE;
	fake_get(peer);
	fake_get(other);
	assert_int_equal(link->connects, 2);
	fake_poll();
	assert_int_equal(link->connects, 4);
	fake_link_end(link);
	free(peer);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_wait_for_the_connection),
		TEST(attempts_are_repeated_after_doubled_pauses),
		TEST(the_last_attempts_are_reported_by_the_poll_that_makes_them),
		TEST(what_does_not_pass_is_reported_by_the_next_poll),
		TEST(the_link_says_how_long_an_error_is_worth_an_attempt),
		TEST(the_time_counts_from_the_first_failure),
		TEST(the_timer_of_an_attempt_is_the_links),
		TEST(a_first_attempt_that_fails_leaves_the_channel_as_it_was),
		TEST(a_refusal_is_final_or_not_by_its_reason),
		TEST(a_yielded_attempt_waits_for_the_peers),
		TEST(a_peer_whose_attempt_does_not_arrive_is_asked_again),
		TEST(a_few_attempts_are_made_at_a_time),
		TEST(attempts_wait_for_what_is_missing),
		TEST(one_poll_tries_each_attempt_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
