/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Peeks: what they find and report, and what claiming and discarding leaves. */
#include "engine/sim/tap.h"

#include "engine/recv.h"

#define TAG 5

/* arrive - an unexpected message of @len bytes with @tag. */
static void arrive(struct eng_peer *peer, uint64_t tag, size_t len)
{
	enum eng_rx_verdict verdict = tap_tagged(peer, WIRE_EAGER, 0, 0, tag, len);

	assert_int_equal(verdict, len ? ENG_RX_HELD : ENG_RX_DONE);
}

/* peek - with ctx[@i]; @ignore: bits of the tag that may differ */
static ssize_t peek(int i, uint64_t tag, uint64_t ignore, uint64_t flags)
{
	struct iovec iov;
	struct fi_msg_tagged msg = tagged_in(&iov, i, tag);

	msg.ignore = ignore;
	return fi_trecvmsg(b->ep, &msg, flags);
}

static void found(int i, uint64_t tag, size_t len)
{
	struct comp comp;

	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, 0);
	assert_ptr_equal(comp.e.op_context, &ctx[i]);
	assert_int_equal(comp.e.tag, tag);
	assert_int_equal(comp.e.len, len);
	assert_int_equal(comp.e.flags, FI_RECV | FI_TAGGED);
	assert_null(comp.e.buf);
}

static void nothing_is_reported_with_the_tag(void **arg)
{
	struct comp comp;

	arrive(tap.peer, TAG + 1, 10);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ENOMSG);
	assert_ptr_equal(comp.e.op_context, &ctx[0]);
	assert_int_equal(comp.e.tag, TAG);
	assert_int_equal(eng_of(b)->rxc->posted, 0);	/* it was no receive */
}

/* The oldest that matches, and it stays. */
static void a_peek_changes_nothing(void **arg)
{
	arrive(tap.peer, TAG + 1, 10);
	arrive(tap.other, TAG, 20);
	arrive(tap.peer, TAG, 30);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK), 0);
	found(0, TAG, 20);
	assert_int_equal(peek(1, TAG, 3, FI_PEEK), 0);	/* 4 to 7 */
	found(1, TAG + 1, 10);
	assert_int_equal(peek(2, TAG, 0, FI_PEEK), 0);
	found(2, TAG, 20);
	assert_int_equal(tap.held, 3);
	assert_int_equal(fi_trecv(b->ep, in[3], 100, NULL, FI_ADDR_UNSPEC, TAG, 0, &ctx[3]), 0);
	expect(b, &ctx[3], FI_RECV | FI_TAGGED, 20);
}

static void data_is_reported(void **arg)
{
	struct comp comp;

	assert_int_equal(tap_words(tap.peer, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, 0, 8, 8, 2, TAG, 77),
			 ENG_RX_HELD);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK), 0);
	node_wait(&w, b, &comp);
	assert_true(comp.e.flags == (FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA));
	assert_int_equal(comp.e.data, 77);
}

static void a_discarded_message_is_gone(void **arg)
{
	arrive(tap.peer, TAG, 20);
	arrive(tap.peer, TAG, 30);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK | FI_DISCARD), 0);
	found(0, TAG, 20);
	assert_int_equal(tap.drops, 1);
	assert_int_equal(tap.held, 1);
	assert_int_equal(peek(1, TAG, 0, FI_PEEK | FI_DISCARD), 0);
	found(1, TAG, 30);
	assert_int_equal(tap.peer->held, 0);
	assert_int_equal(peek(2, TAG, 0, FI_PEEK | FI_DISCARD), 0);
	expect_err(b, &ctx[2], FI_ENOMSG);
}

/* A claimed message is for that context alone: no receive and no other peek finds it. */
static void a_claimed_message_waits_for_its_context(void **arg)
{
	arrive(tap.peer, TAG, 20);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK | FI_CLAIM), 0);
	found(0, TAG, 20);
	assert_int_equal(peek(1, TAG, 0, FI_PEEK), 0);
	expect_err(b, &ctx[1], FI_ENOMSG);
	assert_int_equal(fi_trecv(b->ep, in[2], 100, NULL, FI_ADDR_UNSPEC, TAG, 0, &ctx[2]), 0);
	node_none(&w, b);
	assert_int_equal(peek(1, TAG, 0, FI_CLAIM), -FI_EINVAL);	/* not its context */
	assert_int_equal(peek(0, TAG, 0, FI_CLAIM), 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 20);
	assert_true(pattern_ok(in[0], 20, 7));
	assert_int_equal(peek(0, TAG, 0, FI_CLAIM), -FI_EINVAL);	/* once */
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[2]), 0);
	expect_err(b, &ctx[2], FI_ECANCELED);
}

static void a_claimed_message_can_be_discarded(void **arg)
{
	arrive(tap.peer, TAG, 20);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK | FI_CLAIM), 0);
	found(0, TAG, 20);
	assert_int_equal(peek(1, TAG, 0, FI_CLAIM | FI_DISCARD), -FI_EINVAL);
	assert_int_equal(tap.drops, 0);
	assert_int_equal(peek(0, TAG, 0, FI_CLAIM | FI_DISCARD), 0);
	found(0, TAG, 20);
	assert_int_equal(tap.drops, 1);
	assert_int_equal(tap.peer->held, 0);
}

/* Its sender waits for an answer: without memory for that it stays, and nothing is reported. */
static void an_announced_message_is_answered_when_it_is_discarded(void **arg)
{
	struct pool *outs = &eng_of(b)->grp->outs;

	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 9, TAG, 5000), ENG_RX_DONE);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK), 0);
	found(0, TAG, 5000);
	tap_starve(outs);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK | FI_DISCARD), -FI_EAGAIN);
	tap_feed(outs);
	node_none(&w, b);
	assert_int_equal(tap.cnt, 0);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK | FI_DISCARD), 0);
	found(0, TAG, 5000);
	assert_int_equal(tap.cnt, 1);
	tap_sent(0, WIRE_CTS, 9, 0);
}

static void discarding_alone_is_no_operation(void **arg)
{
	arrive(tap.peer, TAG, 20);
	assert_int_equal(peek(0, TAG, 0, FI_DISCARD), -FI_EBADFLAGS);
	assert_int_equal(tap.held, 1);
	node_none(&w, b);
}

/* With selective completion a peek that finds something reports where it was asked for. */
static void selective_completion_applies(void **arg)
{
	struct comp comp;

	node_close(&w, 1);
	b->bind_flags = FI_SELECTIVE_COMPLETION;
	node_open(&w, 1);
	assert_int_equal(fi_tinject(a->ep, "x", 1, 1, TAG), 0);
	world_settle(&w);
	assert_int_equal(peek(0, TAG, 0, FI_PEEK), 0);
	node_none(&w, b);
	assert_int_equal(peek(1, TAG, 0, FI_PEEK | FI_COMPLETION), 0);
	found(1, TAG, 1);
	assert_int_equal(peek(2, TAG + 1, 0, FI_PEEK), 0);	/* failures are always reported */
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ENOMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TAP(nothing_is_reported_with_the_tag),
		TAP(a_peek_changes_nothing),
		TAP(data_is_reported),
		TAP(a_discarded_message_is_gone),
		TAP(a_claimed_message_waits_for_its_context),
		TAP(a_claimed_message_can_be_discarded),
		TAP(an_announced_message_is_answered_when_it_is_discarded),
		TAP(discarding_alone_is_no_operation),
		T(selective_completion_applies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
