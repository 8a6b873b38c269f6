/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The life of a channel: every edge, requests of the peer, the end of a connection, parking, and what
 * is reported.  attempt_test.c has the attempts to connect.
 */
#include "channel/test/fake_link.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- requests of the peer ---------------------------------------------------------------------- */

static void the_standing_of_a_channel_decides(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = chan_of(&link->base, peer);
	struct chan_id id = { .epoch = EPOCH, .serial = 5 };
	uint64_t serial;

	assert_int_equal(chan_decide(chan, -1, &id), CHAN_ACCEPT);	/* IDLE */
	link->asks = false;
	fake_get(peer);
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_ACCEPT);	/* the peer cannot know of ours */
	chan->asked = true;
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_REFUSE);
	assert_int_equal(chan_decide(chan, 1, &id), CHAN_ACCEPT);
	id.epoch = link->base.epoch;
	assert_int_equal(chan_decide(chan, 0, &id), CHAN_SELF);
	id.epoch = EPOCH;
	chan_taken(chan);
	assert_int_equal(link->aborts, 1);
	assert_int_equal(fake_poller->connecting, 0);
	fake_up(chan, false, EPOCH, 5, 0);
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_REFUSE);	/* the same once more */
	id.serial = 6;
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_REPLACE);
	chan->failed = true;
	id.serial = 5;
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_REPLACE);
	/* a connection of ours */
	IN_POLL(chan_lost(chan, FI_EIO, false));
	fake_get(peer);
	serial = chan->serial;
	fake_up(chan, true, EPOCH, serial, 0);
	id = (struct chan_id) { .epoch = EPOCH, .serial = 9, .prev = serial - 1 };
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_REFUSE);
	id.prev = serial;
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_REPLACE);
	id.prev = serial - 1;
	id.epoch++;
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_REPLACE);
	fake_link_end(link);
	free(peer);
}

/* The same for requests of a published protocol: a process in place of epoch and serials. */
static void the_standing_decides_about_published_requests(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = chan_of(&link->base, peer);
	struct chan_id id;

	link->asks = false;
	fake_get(peer);
	assert_int_equal(chan_decide_published(chan, 1, 77, &id), CHAN_ACCEPT);
	chan->asked = true;
	assert_int_equal(chan_decide_published(chan, 1, 77, &id), CHAN_REFUSE);
	assert_int_equal(chan_decide_published(chan, 0, 77, &id), CHAN_SELF);
	assert_int_equal(id.serial, chan->serial);
	assert_int_equal(chan_decide_published(chan, -1, 77, &id), CHAN_ACCEPT);
	assert_int_equal(id.epoch, 77);
	assert_int_equal(id.serial, chan->peer_serial + 1);
	chan_taken(chan);
	fake_up(chan, false, id.epoch, id.serial, 0);
	assert_int_equal(chan_decide_published(chan, -1, 77, &id), CHAN_REFUSE);
	assert_int_equal(chan_decide_published(chan, -1, 78, &id), CHAN_REPLACE);
	chan->failed = true;
	assert_int_equal(chan_decide_published(chan, -1, 77, &id), CHAN_REPLACE);
	chan->failed = false;
	fake_link_end(link);
	free(peer);
}

static void a_dead_connection_is_replaced(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = fake_get(peer);
	struct fake_pkt pkt;

	fake_up(chan, true, EPOCH, 1, 0);
	assert_int_equal(fake_send(peer, &pkt), 0);
	fake_found = peer;
	IN_POLL(assert_ptr_equal(chan_replace(chan, "p", 2), chan));
	assert_int_equal(link->closes, 1);
	assert_int_equal(link->close_err, FI_ECONNRESET);
	assert_false(link->close_orderly);
	assert_int_equal(peer->err, FI_ECONNRESET);
	fake_failed(&pkt, 1, FI_ECONNRESET);
	fake_up(chan, false, EPOCH + 1, 1, 0);
	/* the engine may have dropped the peer, and have no memory for another */
	fake_found = NULL;
	IN_POLL(assert_null(chan_replace(chan, "p", 2)));
	assert_int_equal(peer->downs, 2);
	fake_link_end(link);
	free(peer);
}

static void a_request_that_is_answered_waits_to_be_confirmed(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan_id id = { .epoch = EPOCH, .serial = 3 };
	struct fake_pkt pkt;
	struct chan *chan;

	fake_found = peer;
	chan = chan_find(&link->base, "p", 2);
	assert_ptr_equal(chan, &peer->chan.base);
	IN_POLL(chan_accepting(chan, &id));
	assert_int_equal(chan->state, CHAN_ACCEPTING);
	assert_null(chan->conn);
	assert_int_equal(peer->ups, 1);
	assert_int_equal(fake_send(peer, &pkt), 0);
	/* a newer request: nothing was lost */
	id.serial = 4;
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_REPLACE);
	IN_POLL(assert_ptr_equal(chan_replace(chan, "p", 2), chan));
	assert_int_equal(link->aborts, 1);
	assert_int_equal(peer->downs, 0);
	IN_POLL(chan_accepting(chan, &id));
	fake_up(chan, false, EPOCH, 4, 0);
	fake_sent(peer, &pkt, 1);
	/* one that is never confirmed */
	IN_POLL(chan_lost(chan, FI_EIO, false));
	IN_POLL(chan_accepting(chan, &id));
	assert_int_equal(fake_send(peer, &pkt), 0);
	IN_POLL(chan_connect_failed(chan, FI_ETIMEDOUT, true));
	fake_poll();
	assert_int_equal(peer->err, FI_ETIMEDOUT);
	fake_failed(&pkt, 1, FI_ETIMEDOUT);
	fake_link_end(link);
	free(peer);
}

/* ---- the end of a connection --------------------------------------------------------------------- */

static void a_lost_connection_fails_what_waits_once(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = fake_get(peer);
	struct fake_pkt pkts[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(fake_send(peer, &pkts[i]), 0);
	fake_up(chan, true, EPOCH, 1, 0);
	IN_POLL(chan_lost(chan, FI_EIO, false));
	assert_int_equal(chan->state, CHAN_IDLE);
	assert_null(chan->conn);
	assert_int_equal(link->closes, 1);
	assert_int_equal(peer->downs, 1);
	assert_int_equal(peer->err, FI_EIO);
	fake_failed(pkts, 4, FI_EIO);
	fake_get(peer);			/* the next one */
	assert_int_equal(chan->state, CHAN_CONNECTING);
	fake_up(chan, true, EPOCH, 2, 0);
	assert_int_equal(peer->ups, 2);
	/* one whose failure the next poll reports takes nothing */
	chan->failed = true;
	chan->err = FI_EIO;
	assert_int_equal(fake_send(peer, &pkts[0]), -FI_EIO);
	IN_POLL(chan_lost(chan, FI_EIO, true));
	assert_false(chan->failed);
	fake_link_end(link);
	fake_failed(pkts, 0, 0);
	free(peer);
}

static void what_is_sent_while_packets_fail_is_not_among_them(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = fake_get(peer);
	struct fake_pkt pkts[2], next;

	/* the channel is lost already: it takes nothing */
	fake_up(chan, true, EPOCH, 1, 0);
	for (int i = 0; i < 3; i++) {
		link->connect_ret = i == 2 ? -FI_EIO : 0;
		fake_get(peer);
		memset(&next, 0, sizeof(next));
		assert_int_equal(fake_send(peer, &pkts[0]), 0);
		pkts[0].next = &next;
		if (i == 0)
			IN_POLL(chan_lost(chan, FI_EIO, false));
		else if (i == 1)
			IN_POLL(chan_connect_failed(chan, FI_EIO, true));
		fake_poll();
		fake_failed(pkts, 1, FI_EIO);
		assert_int_equal(pkts[0].next_ret, -FI_ENOTCONN);
	}
	/* a link that drains a channel which stands */
	link->connect_ret = 0;
	fake_get(peer);
	fake_up(chan, true, EPOCH, 1, 0);
	assert_int_equal(fake_send(peer, &next), 0);
	list_del(&next.pkt.node);
	assert_int_equal(fake_send(peer, &pkts[0]), 0);
	assert_int_equal(fake_send(peer, &pkts[1]), 0);
	pkts[0].next = &next;
	IN_POLL(chan_drain(chan, FI_EIO));
	fake_failed(pkts, 2, FI_EIO);
	assert_int_equal(pkts[0].next_ret, 0);
	fake_sent(peer, &next, 1);
	fake_link_end(link);
	free(peer);
}

static void forgetting_a_peer_ends_each_state(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct chan_id id = { .epoch = EPOCH, .serial = 3 };

	for (enum chan_state to = CHAN_IDLE; to <= CHAN_PARKED; to++) {
		struct eng_peer *peer = fake_peer(link, "p");
		unsigned aborts = link->aborts, closes = link->closes;
		struct chan *chan = chan_of(&link->base, peer);
		struct fake_pkt pkt;
		bool closes_it = to == CHAN_READY || to == CHAN_PARKING || to == CHAN_ACCEPTING;

		if (to == CHAN_QUEUED)
			fake_poller->hold_connects = true;
		if (to == CHAN_ACCEPTING)
			IN_POLL(chan_accepting(chan, &id));
		else if (to != CHAN_IDLE)
			fake_get(peer);
		if (to == CHAN_READY || to == CHAN_PARKING || to == CHAN_PARKED)
			fake_up(chan, true, EPOCH, 1, 0);
		if (to == CHAN_YIELDED)
			IN_POLL(chan_refused(chan, CHAN_SIMULTANEOUS));
		else if (to == CHAN_BACKOFF)
			IN_POLL(chan_refused(chan, CHAN_BUSY));
		else if (to == CHAN_PARKED)
			IN_POLL(chan_parked(chan, 0));
		else if (to == CHAN_PARKING)
			chan_set_state(chan, to);
		assert_int_equal(chan->state, to);
		if (to != CHAN_IDLE && to != CHAN_PARKED)
			assert_int_equal(fake_send(peer, &pkt), 0);
		chan_peer_put(&link->base.base, peer);
		assert_null(chan->link);
		assert_int_equal(chan->state, CHAN_IDLE);
		assert_int_equal(link->aborts, aborts + (to == CHAN_CONNECTING));
		assert_int_equal(link->closes, closes + closes_it);
		assert_true(!closes_it || link->close_orderly);
		if (to != CHAN_IDLE && to != CHAN_PARKED)
			fake_failed(&pkt, 1, FI_ECANCELED);
		assert_int_equal(peer->downs, 0);
		chan_peer_put(&link->base.base, peer);	/* nothing is left */
		fake_poller->hold_connects = false;
		assert_true(list_empty(&link->base.chans));
		assert_true(list_empty(&fake_poller->queued));
		assert_int_equal(fake_poller->timers.cnt, 0);
		assert_int_equal(fake_poller->timers.owners, 0);
		free(peer);
	}
	fake_link_end(link);
}

static void an_endpoint_that_closes_reports_nothing(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p"), *idle = fake_peer(link, "i");
	struct fake_pkt pkts[2];
	uint64_t begin = fake_now;

	chan_of(&link->base, idle);	/* was in use once; fake_poller_close() counts it */
	fake_get(peer);
	assert_int_equal(fake_send(peer, &pkts[0]), 0);
	assert_int_equal(fake_send(peer, &pkts[1]), 0);
	link->unfinished = true;
	IN_POLL(chan_link_end(&link->base, 20));
	assert_true(link->finishes > 1);	/* asked until the time was over */
	assert_in_range(fake_now - begin, 20 * MS, 22 * MS);
	assert_true(link->base.closing);
	assert_int_equal(link->aborts, 1);
	fake_failed(pkts, 2, FI_ECANCELED);
	assert_int_equal(peer->downs, 0);
	assert_true(list_empty(&link->base.chans));
	free(peer);
	free(idle);
}

static void a_failure_while_it_closes_is_no_upcall(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct fake_pkt pkt;

	fake_get(peer);
	assert_int_equal(fake_send(peer, &pkt), 0);
	link->base.closing = true;		/* as chan_link_end() has it while it polls */
	IN_POLL(chan_connect_failed(&peer->chan.base, FI_EIO, true));
	fake_poll();
	fake_failed(&pkt, 1, FI_EIO);
	fake_get(peer);
	fake_up(&peer->chan.base, true, EPOCH, 1, 0);
	IN_POLL(chan_lost(&peer->chan.base, FI_EIO, false));
	assert_int_equal(peer->ups + peer->downs, 0);
	fake_link_end(link);
	free(peer);
}

/* ---- parking ------------------------------------------------------------------------------------- */

static struct chan *parked(struct fake_link *link, struct eng_peer *peer, uint64_t check_ns)
{
	struct chan *chan = fake_get(peer);

	fake_up(chan, true, EPOCH, chan->serial, 6);
	chan_set_state(chan, CHAN_PARKING);
	IN_POLL(chan_parked(chan, check_ns));
	assert_null(chan->conn);
	return chan;
}

static void a_parked_connection_goes_on_with_the_next_packet(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = parked(link, peer, 0);
	struct chan_id id = { .epoch = EPOCH, .serial = 6 };
	struct fake_pkt pkts[2];

	assert_int_equal(chan->state, CHAN_PARKED);
	assert_true(chan->resumes);
	assert_true(chan_continues(chan, &id, true));
	assert_false(chan_continues(chan, &id, false));
	/* a request of before that was overtaken, and one of after */
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_REFUSE);
	id.serial = 7;
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_ACCEPT);
	id = (struct chan_id) { .epoch = EPOCH + 1, .serial = 1 };
	assert_int_equal(chan_decide(chan, -1, &id), CHAN_ACCEPT);
	assert_false(chan_continues(chan, &id, true));
	assert_int_equal(fake_send(peer, &pkts[0]), 0);
	assert_int_equal(chan->state, CHAN_CONNECTING);
	assert_true(chan->resumes);
	assert_int_equal(fake_send(peer, &pkts[1]), 0);
	fake_up(chan, true, EPOCH, chan->serial, 6);
	assert_int_equal(peer->ups, 1);		/* the engine knows */
	assert_false(chan->resumes);
	fake_sent(peer, pkts, 2);
	/* a packet that waited while it was parked starts the next one at once */
	chan_set_state(chan, CHAN_PARKING);
	assert_int_equal(fake_send(peer, &pkts[0]), 0);
	IN_POLL(chan_parked(chan, 0));
	assert_int_equal(chan->state, CHAN_CONNECTING);
	fake_link_end(link);
	fake_failed(pkts, 1, FI_ECANCELED);
	free(peer);
}

static void a_peer_that_forgot_a_parked_connection_is_lost(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = parked(link, peer, 0);
	struct fake_pkt pkt;

	assert_int_equal(fake_send(peer, &pkt), 0);
	IN_POLL(chan_forget(chan));
	assert_int_equal(link->aborts, 1);
	assert_int_equal(peer->err, FI_ECONNRESET);
	fake_failed(&pkt, 1, FI_ECONNRESET);
	assert_false(chan->resumes);
	/* one that cannot be reached */
	chan = parked(link, peer, 0);
	link->connect_ret = -FI_EHOSTUNREACH;
	assert_int_equal(fake_send(peer, &pkt), 0);
	fake_poll();
	assert_int_equal(peer->err, FI_EHOSTUNREACH);
	fake_failed(&pkt, 1, FI_EHOSTUNREACH);
	fake_link_end(link);
	free(peer);
}

static void a_parked_peer_is_looked_after_while_something_waits_for_it(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = parked(link, peer, 30 * MS);
	struct chan_ops ops = fake_ops;

	fake_poll_at(30 * MS - 1);
	assert_int_equal(link->timers, 0);
	fake_poll_at(30 * MS);
	assert_int_equal(link->timers, 1);	/* nothing waits: the link's business */
	assert_int_equal(chan->state, CHAN_PARKED);
	peer->waits = true;
	chan_timer_set(chan, fake_now + 30 * MS);
	fake_poll_at(60 * MS);
	assert_int_equal(chan->state, CHAN_CONNECTING);
	/* a link need not have timers */
	fake_up(chan, true, EPOCH, chan->serial, 0);
	ops.timer = NULL;
	link->base.ops = &ops;
	peer->waits = false;
	IN_POLL(chan_parked(chan, 30 * MS));
	fake_poll_at(90 * MS);
	assert_int_equal(chan->state, CHAN_PARKED);
	fake_link_end(link);
	free(peer);
}

/* ---- MSG, names, memory ------------------------------------------------------------------------------ */

static void a_connected_endpoint_is_left_to_the_program(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = chan_of(&link->base, peer);

	link->base.msg = true;
	fake_get(peer);			/* fi_connect() does it */
	assert_int_equal(link->connects, 0);
	assert_int_equal(chan_try(chan), 0);
	fake_up(chan, true, EPOCH, 1, 0);
	assert_int_equal(peer->ups, 0);	/* eng_on_connected() is the link's */
	IN_POLL(chan_lost(chan, FI_ECONNRESET, true));
	assert_int_equal(peer->shutdowns, 1);
	/* nothing is repeated */
	assert_int_equal(chan_try(chan), 0);
	IN_POLL(chan_connect_failed(chan, FI_ECONNREFUSED, false));
	fake_poll();
	assert_int_equal(peer->refused, 1);
	assert_int_equal(peer->err, FI_ECONNREFUSED);
	/* the program there has rejected it */
	assert_int_equal(chan_try(chan), 0);
	IN_POLL(chan_rejected(chan, "no", 2));
	assert_int_equal(peer->refused, 2);
	assert_int_equal(peer->err, FI_ECONNREFUSED);
	assert_int_equal(peer->data_len, 2);
	assert_memory_equal(peer->data, "no", 2);
	assert_int_equal(chan_try(chan), 0);
	fake_up(chan, true, EPOCH, 4, 0);
	IN_POLL(chan_lost(chan, FI_EIO, false));
	assert_int_equal(peer->downs, 1);
	fake_link_end(link);
	free(peer);
}

static void the_name_is_told_as_far_as_there_is_room(void **state)
{
	struct fake_link *link = fake_link("fake");
	char name[8] = "";
	size_t len = sizeof(name);

	assert_int_equal(chan_getname(&link->base.base, NULL, name, &len), 0);
	assert_int_equal(len, 5);
	assert_string_equal(name, "self");
	memset(name, 'x', sizeof(name));
	len = 2;
	assert_int_equal(chan_getname(&link->base.base, NULL, name, &len), -FI_ETOOSMALL);
	assert_int_equal(len, 5);
	assert_memory_equal(name, "sexx", 4);
	len = 0;
	assert_int_equal(chan_getname(&link->base.base, NULL, NULL, &len), -FI_ETOOSMALL);
	assert_int_equal(len, 5);
	fake_link_end(link);
}

static void lives_of_an_endpoint_differ(void **state)
{
	struct fake_link *one = fake_link("fake"), *two = fake_link("fake");

	assert_true(one->base.epoch && two->base.epoch);
	assert_int_not_equal(one->base.epoch, two->base.epoch);
	/* simultaneous_test.c shows why */
	assert_true(one->base.serial && two->base.serial > one->base.serial);
	fake_link_end(one);
	fake_link_end(two);
}

static bool no_memory;

int __real_timers_join(struct timers *timers);
int __wrap_timers_join(struct timers *timers);

int __wrap_timers_join(struct timers *timers)
{
	return no_memory ? -FI_ENOMEM : __real_timers_join(timers);
}

static void a_shortage_of_memory_changes_nothing(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");

	no_memory = true;
	assert_int_equal(chan_peer_get(&link->base.base, peer), -FI_ENOMEM);
	assert_null(peer->chan.base.link);
	assert_null(chan_of(&link->base, peer));
	fake_found = peer;
	assert_null(chan_find(&link->base, "p", 2));
	no_memory = false;
	fake_found = NULL;
	assert_null(chan_find(&link->base, "p", 2));
	fake_get(peer);
	assert_int_equal(peer->chan.base.state, CHAN_CONNECTING);
	fake_link_end(link);
	free(peer);
}

/* ---- edges ------------------------------------------------------------------------------------------- */

#ifndef NDEBUG
/* From each state (row) the states that may follow: q, c, y, b, a, r, p, d for QUEUED, CONNECTING,
 * YIELDED, BACKOFF, ACCEPTING, READY, PARKING, PARKED; IDLE always.
 */
static const char letters[] = "iqcybarpd";
static const char *const may_follow[] = {
	[CHAN_IDLE] = "iqcbar",
	[CHAN_QUEUED] = "icbar",
	[CHAN_CONNECTING] = "iybar",
	[CHAN_YIELDED] = "iqcbar",
	[CHAN_BACKOFF] = "iqcbar",
	[CHAN_ACCEPTING] = "ibar",
	[CHAN_READY] = "iarpd",
	[CHAN_PARKING] = "iard",
	[CHAN_PARKED] = "iqcbar",
};

/* aborts - does the change end a process? */
static bool aborts(struct chan *chan, enum chan_state from, enum chan_state to)
{
	struct rlimit no_core = { 0, 0 };
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		fclose(stderr);
		signal(SIGABRT, SIG_DFL);
		chan->state = from;
		chan_set_state(chan, to);
		_exit(chan->state != to);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status))
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
#endif

static void other_edges_assert(void **state)
{
#ifdef NDEBUG
	skip();
#else
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = chan_of(&link->base, peer);

	for (enum chan_state from = CHAN_IDLE; from <= CHAN_PARKED; from++)
		for (enum chan_state to = CHAN_IDLE; to <= CHAN_PARKED; to++)
			if (aborts(chan, from, to) == !!strchr(may_follow[from], letters[to]))
				fail_msg("state %d to %d", from, to);
	fake_link_end(link);
	free(peer);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_standing_of_a_channel_decides),
		TEST(the_standing_decides_about_published_requests),
		TEST(a_dead_connection_is_replaced),
		TEST(a_request_that_is_answered_waits_to_be_confirmed),
		TEST(a_lost_connection_fails_what_waits_once),
		TEST(what_is_sent_while_packets_fail_is_not_among_them),
		TEST(forgetting_a_peer_ends_each_state),
		TEST(an_endpoint_that_closes_reports_nothing),
		TEST(a_failure_while_it_closes_is_no_upcall),
		TEST(a_parked_connection_goes_on_with_the_next_packet),
		TEST(a_peer_that_forgot_a_parked_connection_is_lost),
		TEST(a_parked_peer_is_looked_after_while_something_waits_for_it),
		TEST(a_connected_endpoint_is_left_to_the_program),
		TEST(the_name_is_told_as_far_as_there_is_room),
		TEST(lives_of_an_endpoint_differ),
		TEST(a_shortage_of_memory_changes_nothing),
		TEST(other_edges_assert),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
