/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* When a peer is asked whether a connection stands, what it answers, and what the answers do. */
#include "channel/test/fake_link.h"

#include "channel/check.h"

static unsigned asked;
static int ask_ret;

static int ask(struct chan *chan, struct chan_check *check)
{
	asked++;
	if (!ask_ret)
		check->asking = chan;
	return ask_ret;
}

static struct chan *open_chan(struct fake_link *link, struct eng_peer *peer)
{
	static struct chan_ops ops;
	struct chan *chan = fake_get(peer);

	ops = fake_ops;
	ops.ask = ask;
	link->base.ops = &ops;
	asked = 0;
	ask_ret = 0;
	fake_up(chan, true, EPOCH, chan->serial, 6);
	return chan;
}

static void a_peer_is_asked_once_a_second(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = open_chan(link, peer);
	struct chan_check check = { .asking = NULL };

	chan_check_start(chan, &check);
	assert_int_equal(asked, 1);
	chan_check_start(chan, &check);		/* the question is in flight */
	check.asking = NULL;
	chan_check_start(chan, &check);		/* too early */
	assert_int_equal(asked, 1);
	fake_now += 1000 * MS;
	ask_ret = -FI_EMFILE;
	chan_check_start(chan, &check);
	assert_int_equal(asked, 2);
	assert_null(check.asking);
	assert_int_equal(chan->state, CHAN_READY);
	fake_link_end(link);
	free(peer);
}

static void an_answer_counts_for_the_connection_it_is_about(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = open_chan(link, peer);

	IN_POLL(chan_check_answered(chan, chan->serial, EPOCH, true));
	assert_int_equal(chan->state, CHAN_READY);
	IN_POLL(chan_check_answered(chan, chan->serial + 1, EPOCH, false));
	assert_int_equal(chan->state, CHAN_READY);
	IN_POLL(chan_check_answered(chan, chan->serial, EPOCH, false));
	assert_int_equal(peer->err, FI_ECONNRESET);
	/* another endpoint has the address now */
	chan = open_chan(link, peer);
	IN_POLL(chan_check_answered(chan, chan->serial, EPOCH + 1, true));
	assert_int_equal(peer->downs, 2);
	/* nothing stands */
	IN_POLL(chan_check_answered(&peer->chan.base, chan->serial, EPOCH, false));
	assert_int_equal(peer->downs, 2);
	fake_link_end(link);
	free(peer);
}

static void a_connection_is_held_while_it_is_made_stands_or_is_parked(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = fake_get(peer);

	assert_true(chan_check_holds(chan, EPOCH, chan->serial));	/* CONNECTING: the answer is in flight */
	assert_false(chan_check_holds(chan, EPOCH, chan->serial + 1));
	fake_up(chan, true, EPOCH, chan->serial, 6);
	assert_true(chan_check_stands(chan));
	assert_true(chan_check_holds(chan, EPOCH, chan->serial));
	assert_false(chan_check_holds(chan, EPOCH + 1, chan->serial));
	chan->failed = true;		/* the next poll reports it */
	assert_false(chan_check_stands(chan));
	assert_false(chan_check_holds(chan, EPOCH, chan->serial));
	chan->failed = false;
	chan_set_state(chan, CHAN_PARKING);
	assert_true(chan_check_stands(chan));
	IN_POLL(chan_parked(chan, 0));
	assert_false(chan_check_stands(chan));
	assert_true(chan_check_holds(chan, EPOCH, chan->serial));
	fake_link_end(link);
	free(peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_peer_is_asked_once_a_second),
		TEST(an_answer_counts_for_the_connection_it_is_about),
		TEST(a_connection_is_held_while_it_is_made_stands_or_is_parked),
	};

	return cmocka_run_group_tests_name("chan_check", tests, NULL, NULL);
}
