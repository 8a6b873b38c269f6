/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_cancel(): which receive it takes back, and how one that is being filled ends. */
#include "engine/sim/tap.h"

#include <time.h>

#include "engine/recv.h"

#define TAG 5

static time_t passed_s;		/* seconds that the test lets pass at once */

int __real_clock_gettime(clockid_t id, struct timespec *ts);
/* Visible, since the runtimes of sanitizers call the function, too. */
__attribute__((visibility("default")))
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	int ret = __real_clock_gettime(id, ts);

	ts->tv_sec += passed_s;
	return ret;
}

static int cancel(int i)
{
	return (int) fi_cancel(&b->ep->fid, &ctx[i]);
}

static void post(int i, int context)
{
	assert_int_equal(fi_trecv(b->ep, in[i], 500, NULL, FI_ADDR_UNSPEC, TAG, 0, &ctx[context]), 0);
}

/* arriving - a message of 400 bytes has matched the receive in in[@i]; its rest is in flight. */
static void *arriving(int i)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_word(hdr, wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG, 0, 0, 400), TAG);

	assert_int_equal(tap_packet(tap.peer, hdr, at, 10, 400), ENG_RX_PLACE);
	assert_ptr_equal(tap.rx.iov[0].iov_base, in[i]);
	return tap.rx.cookie;
}

static struct eng_recv *filled(void)
{
	assert_false(list_empty(&tap.peer->rxs));
	return container_of(tap.peer->rxs.next, struct eng_recv, node);
}

/* Messages before tagged messages, and of each the oldest. */
static void the_oldest_with_the_context_is_taken_back(void **arg)
{
	struct comp comp;
	int i;

	for (i = 0; i < 2; i++)
		assert_int_equal(fi_trecv(b->ep, in[i], 8, NULL, FI_ADDR_UNSPEC, 10 + (uint64_t) i, 0, &ctx[0]),
				 0);
	assert_int_equal(fi_recv(b->ep, in[3], 8, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_recv(b->ep, in[2], 8, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(cancel(0), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	assert_int_equal(comp.e.flags & (FI_MSG | FI_TAGGED), FI_MSG);
	for (i = 0; i < 2; i++) {
		assert_int_equal(cancel(0), 0);
		node_wait(&w, b, &comp);
		assert_int_equal(comp.err, FI_ECANCELED);
		assert_int_equal(comp.e.tag, 10 + i);
	}
	assert_int_equal(cancel(0), -FI_ENOENT);
	assert_int_equal(eng_of(b)->rxc->posted, 1);	/* that of another context */
}

/* Whatever the order in which the matcher keeps them. */
static void among_many_tags_the_oldest_is_taken_back(void **arg)
{
	struct comp comp;
	int i;

	for (i = 0; i < 40; i++)
		assert_int_equal(fi_trecv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, 1000 - 23 * (uint64_t) i,
					  i % 3 ? 0 : 1, &ctx[0]), 0);
	for (i = 0; i < 40; i++) {
		assert_int_equal(cancel(0), 0);
		node_wait(&w, b, &comp);
		assert_int_equal(comp.e.tag, 1000 - 23 * i);
	}
}

static void before_enable_there_is_nothing_to_cancel(void **arg)
{
	struct fi_info *info = fi_dupinfo(eng_of(b)->base.info);
	struct fid_ep *ep;

	assert_int_equal(fi_endpoint(w.domain, info, &ep, NULL), 0);
	assert_int_equal(fi_cancel(&ep->fid, NULL), -FI_ENOENT);
	fi_close(&ep->fid);
	fi_freeinfo(info);
}

/* Its message is not lost: the call finds nothing, and the receive completes. */
static void one_that_is_being_filled_completes(void **arg)
{
	struct eng_watch *watch;
	void *cookie;

	post(0, 0);
	cookie = arriving(0);
	assert_int_equal(cancel(0), -FI_ENOENT);
	watch = filled()->watch;
	assert_non_null(watch);
	assert_int_equal(cancel(0), -FI_ENOENT);	/* one watch is enough */
	assert_ptr_equal(filled()->watch, watch);
	node_none(&w, b);
	eng_on_placed(tap.link, cookie, 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 400);
	passed_s += 2 * ENG_CANCEL_MS / 1000;
	node_none(&w, b);				/* the watch ended with it */
	assert_false(tap.peer->slow & ENG_PEER_LOST);
}

/* Another receive with that context is posted: it is taken back, and the other watched. */
static void one_that_is_posted_comes_first(void **arg)
{
	void *cookie;

	post(0, 0);
	cookie = arriving(0);
	post(1, 0);
	assert_int_equal(cancel(0), 0);
	assert_null(filled()->watch);
	expect_err(b, &ctx[0], FI_ECANCELED);
	eng_on_placed(tap.link, cookie, 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 400);
}

static void receives_of_another_context_are_not_watched(void **arg)
{
	void *cookie;

	post(0, 0);
	cookie = arriving(0);
	assert_int_equal(cancel(1), -FI_ENOENT);
	assert_null(filled()->watch);
	passed_s += 2 * ENG_CANCEL_MS / 1000;
	node_none(&w, b);
	eng_on_placed(tap.link, cookie, 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 400);
}

static void *unplaced;

static bool unplace(struct eng_link *link, struct eng_peer *peer, void *cookie)
{
	assert_ptr_equal(peer, tap.peer);
	unplaced = cookie;
	return true;
}

/* The receive alone ends; what comes later belongs to no receive, also if its context is used again. */
static void a_sender_that_does_not_move_loses_the_receive_only(void **arg)
{
	void *cookie;

	tap.ops.held.unplace = unplace;
	post(0, 0);
	cookie = arriving(0);
	assert_int_equal(cancel(0), -FI_ENOENT);
	passed_s += ENG_CANCEL_MS / 1000 + 1;
	expect_err(b, &ctx[0], FI_ECANCELED);
	assert_ptr_equal(unplaced, cookie);
	assert_int_equal(eng_of(b)->rx_busy, 0);
	assert_int_equal(cancel(0), -FI_ENOENT);
	passed_s += 2 * ENG_CANCEL_MS / 1000;
	node_none(&w, b);
	eng_on_placed(tap.link, cookie, 0);
	node_none(&w, b);
	assert_true(list_empty(&tap.peer->rxs));
	assert_int_equal(tap.puts, 0);
	assert_false(tap.peer->slow & ENG_PEER_LOST);
}

/* pulled - a message of 400 bytes is announced, and asked for.  Returns the id that its DATA names. */
static uint32_t pulled(uint8_t flags)
{
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, flags, 3, TAG, 400), ENG_RX_DONE);
	assert_int_equal(tap.sent[tap.cnt - 1].msg.op, WIRE_CTS);
	return tap.sent[tap.cnt - 1].msg.rx_id;
}

/* Without the link's help, since it moves nothing just now; the sender's operation ends as usual. */
static void announced_payload_that_stops_coming_is_skipped(void **arg)
{
	char was[500];
	uint32_t id;

	post(0, 0);
	id = pulled(WIRE_F_DELIVERED);
	assert_int_equal(tap_words(tap.peer, WIRE_DATA, 0, id, 100, 100, 1, 0, 0), ENG_RX_DONE);
	assert_int_equal(cancel(0), -FI_ENOENT);
	passed_s += ENG_CANCEL_MS / 1000 + 1;
	expect_err(b, &ctx[0], FI_ECANCELED);
	assert_int_equal(tap.puts, 0);
	memcpy(was, in[0], sizeof(was));
	assert_int_equal(tap_words(tap.peer, WIRE_DATA, 0, id, 300, 300, 1, 100, 0), ENG_RX_DONE);
	assert_memory_equal(was, in[0], sizeof(was));
	assert_int_equal(tap.sent[tap.cnt - 1].msg.op, WIRE_ACK);
	assert_true(list_empty(&tap.peer->rxs));
	node_none(&w, b);
}

static void a_peer_that_is_lost_takes_what_was_skipped_along(void **arg)
{
	post(0, 0);
	pulled(0);
	assert_int_equal(cancel(0), -FI_ENOENT);
	passed_s += ENG_CANCEL_MS / 1000 + 1;
	expect_err(b, &ctx[0], FI_ECANCELED);
	eng_on_down(tap.link, tap.peer, FI_ECONNRESET);
	assert_true(list_empty(&tap.peer->rxs));
	node_none(&w, b);
}

/* A sender that moves has as much time again; one that does not is cut off where the buffers cannot be
 * taken back.
 */
static void a_sender_that_does_not_move_is_cut_off(void **arg)
{
	post(0, 0);
	tap.placing = arriving(0);
	assert_int_equal(cancel(0), -FI_ENOENT);
	passed_s += ENG_CANCEL_MS / 1000 - 1;
	node_none(&w, b);
	filled()->sink.got += 100;
	passed_s += 2;
	node_none(&w, b);
	passed_s += ENG_CANCEL_MS / 1000 - 1;
	node_none(&w, b);
	assert_int_equal(tap.puts, 0);
	passed_s += 2;
	expect_err(b, &ctx[0], FI_ECANCELED);		/* as the link has ended the placement */
	assert_int_equal(tap.puts, 1);
	assert_true(list_empty(&tap.peer->rxs));
	assert_false(tap.other->slow & ENG_PEER_LOST);
}

static void a_lost_message_ends_its_watch(void **arg)
{
	void *cookie;

	post(0, 0);
	cookie = arriving(0);
	assert_int_equal(cancel(0), -FI_ENOENT);
	eng_on_placed(tap.link, cookie, -FI_ECONNRESET);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	passed_s += 2 * ENG_CANCEL_MS / 1000;
	node_none(&w, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_oldest_with_the_context_is_taken_back),
		T(among_many_tags_the_oldest_is_taken_back),
		T(before_enable_there_is_nothing_to_cancel),
		TAP(one_that_is_being_filled_completes),
		TAP(one_that_is_posted_comes_first),
		TAP(receives_of_another_context_are_not_watched),
		TAP(a_sender_that_does_not_move_loses_the_receive_only),
		TAP(announced_payload_that_stops_coming_is_skipped),
		TAP(a_peer_that_is_lost_takes_what_was_skipped_along),
		TAP(a_sender_that_does_not_move_is_cut_off),
		TAP(a_lost_message_ends_its_watch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
