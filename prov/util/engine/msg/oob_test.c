/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Out-of-band messages: matched by their two words, apart from those of the program. */
#include "engine/oob.h"
#include "engine/sim/tap.h"

#include <rdma/fi_errno.h>

#define SPACE 3
#define KEY 40

struct req {
	struct eng_oob_req base;	/* first */
	unsigned done;
	int status;
	size_t len;
};

static struct eng_oob part;
static unsigned opened, closed, asked, lost_cnt;
static enum eng_oob_action action;
static bool was_bare, refuse_open;

static struct eng_oob *user_open(struct eng_ep *ep)
{
	opened++;
	return refuse_open ? NULL : &part;
}

static void user_close(struct eng_oob *oob)
{
	assert_ptr_equal(oob, &part);
	closed++;
}

static enum eng_oob_action user_arrived(struct eng_oob *oob, struct eng_peer *peer, uint64_t space,
					uint64_t key, bool bare)
{
	assert_int_equal(space, SPACE);
	was_bare = bare;
	asked++;
	return action;
}

static void user_lost(struct eng_oob *oob, struct eng_peer *peer, int err)
{
	lost_cnt++;
}

static void user_stop(struct eng_oob *oob)
{
}

static const struct eng_oob_user user = {
	.open = user_open, .close = user_close, .arrived = user_arrived, .lost = user_lost,
	.stop = user_stop,
};

static void on_done(struct eng_oob_req *base, int status, size_t len)
{
	struct req *req = (struct req *) base;

	req->done++;
	req->status = status;
	req->len = len;
}

static struct req new_req(void)
{
	return (struct req) { .base.done = on_done };
}

static int open_oob(void **arg)
{
	tap_open(arg);
	opened = closed = asked = lost_cnt = 0;
	action = ENG_OOB_KEEP;
	refuse_open = false;
	memset(&part, 0, sizeof(part));
	eng_of(b)->oob_user = &user;
	assert_ptr_equal(eng_oob_get(eng_of(b)), &part);
	return 0;
}

static int close_oob(void **arg)
{
	int ret = tap_close(arg);

	assert_int_equal(closed, 1);
	return ret;
}

/* arrive - a message of that name with @len bytes. */
static enum eng_rx_verdict arrive(uint64_t key, size_t len)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, WIRE_CTX_OOB, 0, len);

	at = wire_put_word(hdr, wire_put_word(hdr, at, SPACE), key);
	return tap_packet(tap.peer, hdr, at, len, len);
}

static int receive(struct req *req, int i, uint64_t key, size_t len)
{
	*req = new_req();
	return eng_oob_recv(&part, &req->base, SPACE, key, in[i], len);
}

static void the_context_is_made_once(void **arg)
{
	assert_int_equal(opened, 1);
	assert_ptr_equal(eng_oob_get(eng_of(b)), &part);
	assert_int_equal(opened, 1);
	assert_ptr_equal(part.ep, eng_of(b));
	/* no user, no context; no memory, none either */
	eng_of(c)->oob_user = NULL;
	assert_null(eng_oob_get(eng_of(c)));
	refuse_open = true;
	eng_of(c)->oob_user = &user;
	assert_null(eng_oob_get(eng_of(c)));
	assert_null(eng_of(c)->oob);
	eng_of(c)->oob_user = NULL;
}

static void a_message_meets_the_receive_of_its_name(void **arg)
{
	struct req one, two;

	assert_int_equal(receive(&one, 0, KEY, 100), 0);
	assert_int_equal(receive(&two, 1, KEY + 1, 100), 0);
	assert_true(eng_oob_posted(&one.base));
	assert_int_equal(arrive(KEY + 1, 50), ENG_RX_DONE);
	assert_int_equal(one.done, 0);
	assert_int_equal(two.done, 1);
	assert_int_equal(two.status, 0);
	assert_int_equal(two.len, 50);
	assert_memory_equal(in[1], out[7], 50);
	assert_false(eng_oob_posted(&two.base));
	assert_int_equal(asked, 0);
	assert_true(eng_oob_cancel(&one.base));
}

/* The program's receives take no such message, and it reads no completion of one. */
static void the_program_sees_none_of_it(void **arg)
{
	struct req req;

	assert_int_equal(fi_trecv(b->ep, in[0], 100, NULL, FI_ADDR_UNSPEC, 0, ~UINT64_C(0), &ctx[0]), 0);
	assert_int_equal(arrive(KEY, 50), ENG_RX_HELD);
	assert_int_equal(asked, 1);
	assert_int_equal(receive(&req, 1, KEY, 100), 0);
	assert_int_equal(req.done, 1);
	assert_int_equal(req.len, 50);
	node_none(&w, b);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[0]), 0);
	expect_err(b, &ctx[0], FI_ECANCELED);
}

static void messages_of_a_name_keep_their_order(void **arg)
{
	struct req one, two;

	assert_int_equal(arrive(KEY, 10), ENG_RX_HELD);
	assert_int_equal(arrive(KEY, 20), ENG_RX_HELD);
	assert_int_equal(receive(&one, 0, KEY, 100), 0);
	assert_int_equal(receive(&two, 1, KEY, 100), 0);
	assert_int_equal(one.len, 10);
	assert_int_equal(two.len, 20);
}

static void too_little_room_is_an_error(void **arg)
{
	struct req req;

	assert_int_equal(receive(&req, 0, KEY, 30), 0);
	assert_int_equal(arrive(KEY, 31), ENG_RX_DONE);
	assert_int_equal(req.status, -FI_ETRUNC);
	assert_int_equal(req.len, 31);
	assert_int_equal(in[0][30], 0);
}

static void the_user_decides_about_unexpected_messages(void **arg)
{
	struct req req;

	action = ENG_OOB_DROP;
	assert_int_equal(arrive(KEY, 10), ENG_RX_DONE);
	assert_int_equal(tap.held, 0);
	assert_false(was_bare);
	action = ENG_OOB_LATER;
	assert_int_equal(arrive(KEY, 10), ENG_RX_LATER);
	action = ENG_OOB_KEEP;
	assert_int_equal(arrive(KEY, 0), ENG_RX_DONE);
	assert_true(was_bare);
	assert_int_equal(asked, 3);
	assert_int_equal(receive(&req, 0, KEY, 100), 0);
	assert_int_equal(req.done, 1);			/* the one that was kept */
	assert_int_equal(req.len, 0);
}

static void drop_all(struct eng_oob *oob, struct eng_peer *peer, uint64_t space, uint64_t key,
		     void *msg, void *arg)
{
	unsigned *seen = arg;

	assert_int_equal(key, KEY + (*seen)++);
	assert_ptr_equal(peer, tap.peer);
	assert_true(eng_oob_drop(msg));
}

static void kept_messages_can_be_dropped(void **arg)
{
	unsigned seen = 0;

	assert_int_equal(arrive(KEY, 10), ENG_RX_HELD);
	assert_int_equal(arrive(KEY + 1, 10), ENG_RX_HELD);
	eng_oob_each(&part, drop_all, &seen);
	assert_int_equal(seen, 2);
	assert_int_equal(tap.drops, 2);
	eng_oob_each(&part, drop_all, &seen);
	assert_int_equal(seen, 2);
}

/* A dropped announcement is answered by a CTS for no bytes, which completes its send. */
static void a_dropped_announcement_is_answered(void **arg)
{
	struct pool *outs = &eng_of(b)->grp->outs;
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, WIRE_RTS, WIRE_F_TAG | WIRE_F_DATA, WIRE_CTX_OOB, 9, 5000);

	at = wire_put_word(hdr, wire_put_word(hdr, at, SPACE), KEY);
	action = ENG_OOB_DROP;
	tap_starve(outs);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 0, 0), ENG_RX_LATER);
	tap_feed(outs);
	assert_int_equal(asked, 0);		/* not before the answer is certain */
	assert_int_equal(tap_packet(tap.peer, hdr, at, 0, 0), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 1);
	tap_sent(0, WIRE_CTS, 9, 0);
	assert_int_equal(outs->used, 0);
}

static void a_send_is_one_packet_to_the_other_context(void **arg)
{
	struct req req = new_req();

	tap.answer = 0;
	assert_int_equal(eng_oob_send(&part, tap.peer, &req.base, SPACE, KEY, out[7], 300), 0);
	assert_int_equal(tap.cnt, 1);
	tap_sent(0, WIRE_EAGER, 0, 300);
	assert_int_equal(tap.sent[0].msg.ctx, WIRE_CTX_OOB);
	assert_int_equal(tap.sent[0].msg.tag, SPACE);
	assert_int_equal(tap.sent[0].msg.data, KEY);
	assert_memory_equal(tap.sent[0].data, out[7], 300);
	assert_int_equal(req.done, 0);
	assert_false(eng_oob_cancel(&req.base));	/* the link has the payload */
	tap_done(0, 0);
	assert_int_equal(req.done, 1);
	assert_int_equal(req.status, 0);
	assert_null(req.base.tx);
	node_none(&w, b);
}

static void a_lost_send_is_reported(void **arg)
{
	struct req req = new_req();

	tap.answer = 0;
	assert_int_equal(eng_oob_send(&part, tap.peer, &req.base, SPACE, KEY, out[7], 300), 0);
	tap_done(0, -FI_ECONNRESET);
	assert_int_equal(req.done, 1);
	assert_int_equal(req.status, -FI_ECONNRESET);
	node_none(&w, b);
}

/* A long message is announced; one whose result is no longer wanted refuses the CTS. */
static void an_announced_send_can_be_cancelled(void **arg)
{
	size_t len = tap.peer->link->attr.eager_limit + 1;
	char *large = calloc(1, len);
	struct req req = new_req();

	assert_int_equal(eng_oob_send(&part, tap.peer, &req.base, SPACE, KEY, large, len), 0);
	assert_int_equal(tap.sent[0].msg.op, WIRE_RTS);
	assert_int_equal(tap.sent[0].len, 0);
	assert_true(eng_oob_cancel(&req.base));
	free(large);			/* the buffer is free */
	assert_int_equal(tap_words(tap.peer, WIRE_CTS, 0, tap.sent[0].msg.id, len, 0, 1, 77, 0), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 2);
	tap_sent(1, WIRE_NACK, 77, 0);
	assert_int_equal(tap.sent[1].msg.err, FI_ECANCELED);
	assert_int_equal(req.done, 0);
	assert_int_equal(eng_of(b)->grp->txs.used, 0);
}

static void a_cancelled_receive_takes_nothing(void **arg)
{
	struct req req;

	assert_int_equal(receive(&req, 0, KEY, 100), 0);
	assert_true(eng_oob_cancel(&req.base));
	assert_false(eng_oob_cancel(&req.base));
	assert_int_equal(arrive(KEY, 10), ENG_RX_HELD);
	assert_int_equal(req.done, 0);
	assert_int_equal(part.rxc.posted, 0);
}

static void a_notification_needs_no_request(void **arg)
{
	struct pool *outs = &eng_of(b)->grp->outs;

	tap_starve(outs);
	assert_int_equal(eng_oob_notify(tap.peer, SPACE, KEY), -FI_EAGAIN);
	tap_feed(outs);
	assert_int_equal(eng_oob_notify(tap.peer, SPACE, KEY), 0);
	assert_int_equal(tap.cnt, 1);
	tap_sent(0, WIRE_EAGER, 0, 0);
	assert_int_equal(tap.sent[0].msg.data, KEY);
	assert_int_equal(outs->used, 0);		/* taken at once: it is back in its pool */
}

#define OOB(name) cmocka_unit_test_setup_teardown(name, open_oob, close_oob)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OOB(the_context_is_made_once),
		OOB(a_message_meets_the_receive_of_its_name),
		OOB(the_program_sees_none_of_it),
		OOB(messages_of_a_name_keep_their_order),
		OOB(too_little_room_is_an_error),
		OOB(the_user_decides_about_unexpected_messages),
		OOB(kept_messages_can_be_dropped),
		OOB(a_dropped_announcement_is_answered),
		OOB(a_send_is_one_packet_to_the_other_context),
		OOB(a_lost_send_is_reported),
		OOB(an_announced_send_can_be_cancelled),
		OOB(a_cancelled_receive_takes_nothing),
		OOB(a_notification_needs_no_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
