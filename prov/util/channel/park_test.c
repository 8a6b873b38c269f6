/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Which connection is parked, when, and what both sides say about it. */
#include "channel/test/fake_link.h"

#include <errno.h>

#include "channel/park.h"

#define PEERS 3

/* One connection that can be parked. */
struct party {
	struct chan_parkable park;
	struct eng_peer *peer;
	bool busy;
	uint64_t used;
	int answer;			/* of chan_ops.park */
	unsigned asked, consents, denials;
};

static struct party parties[PEERS];
static struct fake_link *link_p;

static struct party *party_of(const struct chan *chan)
{
	unsigned i;

	for (i = 0; &parties[i].peer->chan.base != chan; i++)
		;
	return &parties[i];
}

static bool say_idle(const struct chan *chan, uint64_t *used_p)
{
	*used_p = party_of(chan)->used;
	return !party_of(chan)->busy;
}

static int say_park(struct chan *chan, enum chan_park_ctl ctl)
{
	struct party *party = party_of(chan);

	party->asked += ctl == CHAN_PARK_ASK;
	party->consents += ctl == CHAN_PARK_CONSENT;
	party->denials += ctl == CHAN_PARK_DENY;
	return party->answer;
}

static void close_party(struct chan *chan, int err, bool orderly)
{
	list_del(&party_of(chan)->park.node);	/* as a link does whose connection ends */
	fake_ops.close(chan, err, orderly);
}

/* open_parties - connections that were used in the order of their numbers. */
static void open_parties(void)
{
	static struct chan_ops ops;
	struct chan *chan;
	unsigned i;

	link_p = fake_link("fake");
	ops = fake_ops;
	ops.idle = say_idle;
	ops.park = say_park;
	ops.close = close_party;
	ops.hold_back = chan_park_hold_back;
	ops.timer = chan_park_timer;
	link_p->base.ops = &ops;
	chan_park_init(fake_poller, 10);
	for (i = 0; i < PEERS; i++) {
		parties[i] = (struct party) { .peer = fake_peer(link_p, "p"), .used = 10 + i };
		list_init(&parties[i].park.node);
		chan = fake_get(parties[i].peer);
		fake_up(chan, true, EPOCH, chan->serial, 6);
		chan_park_add(fake_poller, &parties[i].park, chan);
	}
}

static void close_parties(void)
{
	unsigned i;

	fake_link_end(link_p);
	timer_off(&fake_poller->timers, &fake_poller->park.timer);
	timers_leave(&fake_poller->timers);
	for (i = 0; i < PEERS; i++)
		free(parties[i].peer);
}

static enum chan_state state_of(unsigned i)
{
	return parties[i].peer->chan.base.state;
}

/* park_at - what is wanted is done at @ms. */
static void park_at(uint64_t ms)
{
	fake_poll_at(ms * MS);
}

static void the_one_idle_longest_is_asked(void **state)
{
	open_parties();
	assert_true(chan_park_want(fake_poller, 1));
	park_at(1);
	assert_int_equal(parties[0].asked, 0);	/* not at once: a descriptor may be free by then */
	park_at(500);
	assert_int_equal(parties[0].asked, 1);
	assert_int_equal(parties[1].asked + parties[2].asked, 0);
	assert_int_equal(state_of(0), CHAN_PARKING);
	IN_POLL(assert_int_equal(chan_park_on_ctl(&parties[0].park, CHAN_PARK_CONSENT), 0));
	assert_int_equal(state_of(0), CHAN_PARKED);
	assert_int_equal(link_p->closes, 1);
	assert_false(link_p->close_orderly);
	/* the next one; a busy one is passed over, and so is one that packets wait for */
	parties[1].busy = true;
	assert_true(chan_park_want(fake_poller, 1));
	park_at(1000);
	assert_int_equal(parties[1].asked, 0);
	assert_int_equal(parties[2].asked, 1);
	close_parties();
}

static void a_peer_that_denies_is_left_alone_for_a_while(void **state)
{
	open_parties();
	parties[1].busy = parties[2].busy = true;
	chan_park_want(fake_poller, 1);
	park_at(500);
	IN_POLL(assert_int_equal(chan_park_on_ctl(&parties[0].park, CHAN_PARK_DENY), 0));
	assert_int_equal(state_of(0), CHAN_READY);
	chan_park_want(fake_poller, 1);
	park_at(550);
	assert_int_equal(parties[0].asked, 1);
	chan_park_want(fake_poller, 1);
	park_at(700);
	assert_int_equal(parties[0].asked, 2);
	close_parties();
}

static void one_that_is_waited_for_is_parked_only_in_need(void **state)
{
	unsigned i;

	open_parties();
	for (i = 0; i < PEERS; i++)
		parties[i].peer->waits = true;
	chan_park_want(fake_poller, 1);
	park_at(500);
	assert_int_equal(parties[0].asked, 0);
	assert_true(chan_park_must(fake_poller));
	park_at(1000);
	assert_int_equal(parties[0].asked + parties[1].asked, 2);
	assert_int_equal(parties[2].asked, 0);
	close_parties();
}

static void a_request_is_answered_by_what_the_connection_does(void **state)
{
	open_parties();
	IN_POLL(assert_int_equal(chan_park_on_ctl(&parties[0].park, CHAN_PARK_ASK), 0));
	assert_int_equal(parties[0].consents, 1);
	assert_int_equal(state_of(0), CHAN_PARKED);
	assert_true(link_p->close_orderly);	/* the consent still arrives */
	parties[1].busy = true;
	IN_POLL(assert_int_equal(chan_park_on_ctl(&parties[1].park, CHAN_PARK_ASK), 0));
	assert_int_equal(parties[1].denials, 1);
	assert_int_equal(state_of(1), CHAN_READY);
	parties[1].answer = -FI_ENOMEM;
	IN_POLL(assert_int_equal(chan_park_on_ctl(&parties[1].park, CHAN_PARK_ASK), -FI_ENOMEM));
	/* simultaneous requests are consent */
	chan_park_want(fake_poller, 1);
	park_at(500);
	assert_int_equal(state_of(2), CHAN_PARKING);
	IN_POLL(assert_int_equal(chan_park_on_ctl(&parties[2].park, CHAN_PARK_ASK), 0));
	assert_int_equal(parties[2].consents + parties[2].denials, 0);
	assert_int_equal(state_of(2), CHAN_PARKED);
	close_parties();
}

static void answers_without_a_question_are_invalid(void **state)
{
	open_parties();
	assert_int_equal(chan_park_on_ctl(&parties[0].park, CHAN_PARK_CONSENT), -FI_EPROTO);
	assert_int_equal(chan_park_on_ctl(&parties[0].park, CHAN_PARK_DENY), -FI_EPROTO);
	list_del(&parties[0].park.node);	/* its peer cannot park */
	assert_int_equal(chan_park_on_ctl(&parties[0].park, CHAN_PARK_ASK), -FI_EPROTO);
	assert_int_equal(state_of(0), CHAN_READY);
	close_parties();
}

static void an_endpoint_consents_to_itself(void **state)
{
	open_parties();
	parties[0].answer = 1;
	chan_park_want(fake_poller, 1);
	park_at(500);
	assert_int_equal(state_of(0), CHAN_PARKED);
	close_parties();
}

static void what_cannot_be_sent_changes_nothing(void **state)
{
	open_parties();
	parties[0].answer = -FI_EAGAIN;
	chan_park_want(fake_poller, 1);
	park_at(500);
	assert_int_equal(parties[0].asked, 1);
	assert_int_equal(state_of(0), CHAN_READY);
	close_parties();
}

/* An attempt without a descriptor is in the queue until one is there. */
static void an_attempt_waits_for_a_descriptor(void **state)
{
	struct eng_peer *peer;
	struct chan *chan;

	open_parties();
	peer = fake_peer(link_p, "q");
	link_p->connect_ret = -FI_EMFILE;
	chan = fake_get(peer);
	assert_int_equal(chan->state, CHAN_QUEUED);
	assert_true(fake_poller->hold_connects);
	link_p->connect_ret = 0;
	park_at(1);
	assert_int_equal(chan->state, CHAN_QUEUED);
	park_at(500);		/* two are asked, and the attempt is made again */
	assert_int_equal(parties[0].asked + parties[1].asked, 2);
	assert_false(fake_poller->hold_connects);
	assert_int_equal(chan->state, CHAN_CONNECTING);
	assert_false(chan_park_hold_back(chan, FI_ECONNREFUSED));
	close_parties();
	free(peer);
}

static void the_number_of_a_descriptor_tells_how_many_are_left(void **state)
{
	struct rlimit was, limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	limit = was;
	limit.rlim_cur = 256;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(chan_park_fd_limit(), 256);
	assert_false(chan_park_reserved(223));
	assert_true(chan_park_reserved(224));	/* an eighth */
	assert_false(chan_park_last(253));
	assert_true(chan_park_last(254));
	limit.rlim_cur = 8;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_false(chan_park_reserved(5));
	assert_true(chan_park_reserved(6));
	assert_false(chan_park_last(7));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

static void connections_of_the_process_are_counted(void **state)
{
	open_parties();
	assert_false(chan_park_full(0));
	assert_false(chan_park_full(1));
	chan_park_opened(fake_poller, 3, 1);
	assert_true(chan_park_full(1));
	assert_int_equal(fake_poller->park.want, 0);
	chan_park_opened(fake_poller, 4, 1);	/* one more than may be */
	assert_int_equal(fake_poller->park.want, 1);
	chan_park_closed(fake_poller);
	chan_park_closed(fake_poller);
	assert_false(chan_park_full(1));
	close_parties();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_one_idle_longest_is_asked),
		TEST(a_peer_that_denies_is_left_alone_for_a_while),
		TEST(one_that_is_waited_for_is_parked_only_in_need),
		TEST(a_request_is_answered_by_what_the_connection_does),
		TEST(answers_without_a_question_are_invalid),
		TEST(an_endpoint_consents_to_itself),
		TEST(what_cannot_be_sent_changes_nothing),
		TEST(an_attempt_waits_for_a_descriptor),
		cmocka_unit_test(the_number_of_a_descriptor_tells_how_many_are_left),
		TEST(connections_of_the_process_are_counted),
	};

	return cmocka_run_group_tests_name("chan_park", tests, NULL, NULL);
}
