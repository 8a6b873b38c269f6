/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Questions about what waits, packet by packet: who is asked, who answers, what is passed on and how often. */
#include "engine/query.h"
#include "engine/sim/tap.h"

#include <endian.h>
#include <rdma/fi_errno.h>

#define NUM 77		/* of a question */

static struct wire_answer answer;	/* of a peer */
static struct obj_look look;

static int open_query(void **arg)
{
	tap_open(arg);
	tap.link->attr.eager_limit = sizeof(answer);
	eng_on_version(tap.peer, WIRE_ASKS);
	eng_on_version(tap.other, WIRE_ASKS);
	answer = (struct wire_answer) { .pid = htole32(4711), .rank = htole32(3), .cnt = htole32(1) };
	strcpy(answer.host, "host");
	strcpy(answer.addr, "there");
	answer.wait[0] = (struct wire_wait) { .tag = htole64(5), .kind = WIRE_WAIT_RECV | WIRE_WAIT_TAGGED };
	return 0;
}

#define QUERY(name) cmocka_unit_test_setup_teardown(name, open_query, tap_close)

/* ask, reply - @peer sends a question, and an answer. */
static void arrive(struct eng_peer *peer, uint64_t num, uint64_t key, const void *data, size_t len)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, WIRE_CTX_OOB, 0, len);

	at = wire_put_word(hdr, wire_put_word(hdr, at, num), key);
	memcpy(out[7], data, len);
	assert_int_equal(tap_packet(peer, hdr, at, len, len), ENG_RX_DONE);
}

static void ask(struct eng_peer *peer, uint64_t num, unsigned hops)
{
	arrive(peer, num, WIRE_Q_ASK | hops, "", 0);
}

static void reply(struct eng_peer *peer, uint64_t num)
{
	arrive(peer, num, WIRE_Q_ANSWER, &answer, sizeof(answer));
}

/* wait_for - the program has a receive of @tag from @peer alone. */
static void wait_for(struct eng_peer *peer, uint64_t tag, int i)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	fi_addr_t from;

	memcpy(&sin, peer->addr, sizeof(sin));
	assert_int_equal(fi_av_insert(b->av, &sin, 1, &from, 0, NULL), 1);
	assert_int_equal(fi_trecv(b->ep, in[i], 100, NULL, from, tag, 0, &ctx[i]), 0);
}

static void stop_waiting(int i)
{
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[i]), 0);
	expect_err(b, &ctx[i], FI_ECANCELED);
}

/* sent - packet @i is an answer (or a question, with @hops) to question @num for @to. */
static const struct wire_answer *sent_answer(unsigned i, struct eng_peer *to, uint64_t num)
{
	assert_true(i < tap.cnt);
	assert_ptr_equal(tap.sent[i].to, to);
	assert_int_equal(tap.sent[i].msg.ctx, WIRE_CTX_OOB);
	assert_int_equal(tap.sent[i].msg.tag, num);
	assert_int_equal(tap.sent[i].msg.data, WIRE_Q_ANSWER);
	assert_int_equal(tap.sent[i].len, sizeof(struct wire_answer));
	return (const struct wire_answer *) (const void *) tap.sent[i].data;
}

static void sent_ask(unsigned i, struct eng_peer *to, uint64_t num, unsigned hops)
{
	assert_true(i < tap.cnt);
	assert_ptr_equal(tap.sent[i].to, to);
	assert_int_equal(tap.sent[i].msg.tag, num);
	assert_int_equal(tap.sent[i].msg.data, WIRE_Q_ASK | hops);
	assert_int_equal(tap.sent[i].len, 0);
}

static void a_question_is_answered_by_what_is_waited_for(void **arg)
{
	const struct wire_answer *got;
	char text[ENG_PEER_TEXT];

	wait_for(tap.other, 0x2a, 0);
	setenv("PMIX_RANK", "8", 1);		/* the environment was read when the endpoint was opened */
	ask(tap.peer, NUM, 0);
	assert_int_equal(tap.cnt, 1);
	got = sent_answer(0, tap.peer, NUM);
	assert_int_equal(le32toh(got->pid), getpid());
	assert_int_equal(le32toh(got->rank), 7);
	assert_int_equal(le32toh(got->cnt), 1);
	assert_int_equal(le64toh(got->wait[0].tag), 0x2a);
	assert_int_equal(got->wait[0].kind, WIRE_WAIT_RECV | WIRE_WAIT_TAGGED);
	assert_string_equal(got->wait[0].addr, eng_peer_text(tap.other, text));
	stop_waiting(0);
	node_none(&w, b);
}

static void a_number_is_taken_once(void **arg)
{
	ask(tap.peer, NUM, 0);
	ask(tap.peer, NUM, 0);
	ask(tap.other, NUM, 0);
	assert_int_equal(tap.cnt, 1);
}

static void questions_of_a_second_are_limited(void **arg)
{
	unsigned i;

	for (i = 1; i <= 60; i++)
		ask(tap.peer, i, 0);
	assert_true(tap.cnt >= 32 && tap.cnt <= 64);	/* a second may have begun meanwhile */
	assert_true(tap.cnt < 60);
}

static void a_question_is_passed_on_and_its_answers_come_back(void **arg)
{
	wait_for(tap.other, 0x2a, 0);
	ask(tap.peer, NUM, 2);
	assert_int_equal(tap.cnt, 2);
	sent_answer(0, tap.peer, NUM);
	sent_ask(1, tap.other, NUM, 1);
	reply(tap.other, NUM);
	reply(tap.other, NUM);			/* of one behind it */
	assert_int_equal(tap.cnt, 4);
	assert_memory_equal(sent_answer(2, tap.peer, NUM), &answer, sizeof(answer));
	sent_answer(3, tap.peer, NUM);
	reply(tap.other, NUM + 1);		/* no peer has asked that */
	assert_int_equal(tap.cnt, 4);
	stop_waiting(0);
}

static void who_asks_is_not_asked(void **arg)
{
	wait_for(tap.peer, 0x2a, 0);
	ask(tap.peer, NUM, 2);
	assert_int_equal(tap.cnt, 1);
	stop_waiting(0);
}

static void a_version_without_questions_is_not_asked(void **arg)
{
	eng_on_version(tap.other, WIRE_ASKS - 1);
	wait_for(tap.other, 0x2a, 0);
	ask(tap.peer, NUM, 2);
	eng_query_ask(eng_of(b));
	assert_int_equal(tap.cnt, 1);
	stop_waiting(0);
}

static void our_own_question_and_a_look_at_its_answers(void **arg)
{
	struct inspect_remote *rec = (struct inspect_remote *) (void *) look.buf;
	uint64_t num;

	wait_for(tap.other, 0x2a, 0);
	eng_query_ask(eng_of(b));
	assert_int_equal(tap.cnt, 1);
	num = tap.sent[0].msg.tag;
	sent_ask(0, tap.other, num, tap.sent[0].msg.data & 0xff);
	assert_true(eng_query_posted(eng_of(b)) > 0);
	eng_query_ask(eng_of(b));		/* a moment ago */
	assert_int_equal(tap.cnt, 1);
	ask(tap.peer, num, 2);			/* it has come round */
	assert_int_equal(tap.cnt, 1);
	reply(tap.other, num);
	reply(tap.other, num);			/* the same endpoint again is shown once */
	look.len = look.pos = 0;
	look.end_ns = UINT64_MAX;
	assert_true(eng_query_look(eng_of(b), &look));
	assert_int_equal(look.len, sizeof(*rec));
	assert_int_equal(rec->head.type, INSPECT_REMOTE);
	assert_int_equal(rec->pid, 4711);
	assert_int_equal(rec->rank, 3);
	assert_int_equal(rec->cnt, 1);
	assert_int_equal(rec->wait[0].tag, 5);
	assert_string_equal(rec->host, "host");
	stop_waiting(0);
}

/* An answer may be hostile: a count that is too large, texts without an end, too few bytes, too many. */
static void an_answer_is_a_strangers(void **arg)
{
	struct inspect_remote *rec = (struct inspect_remote *) (void *) look.buf;
	char longer[sizeof(answer) + 8] = "";
	uint64_t num;

	wait_for(tap.other, 0x2a, 0);
	eng_query_ask(eng_of(b));
	num = tap.sent[0].msg.tag;
	arrive(tap.other, num, WIRE_Q_ANSWER, longer, sizeof(answer) - 1);
	look.len = look.pos = 0;
	look.end_ns = UINT64_MAX;
	assert_true(eng_query_look(eng_of(b), &look));
	assert_int_equal(look.len, 0);
	memset(&answer, 0xff, sizeof(answer));
	reply(tap.other, num);
	assert_true(eng_query_look(eng_of(b), &look));
	assert_int_equal(look.len, sizeof(*rec));
	assert_int_equal(rec->cnt, WIRE_WAITS_MAX);
	arrive(tap.other, num, WIRE_Q_ANSWER, longer, sizeof(longer));	/* of a later version */
	look.len = look.pos = 0;
	assert_true(eng_query_look(eng_of(b), &look));
	assert_int_equal(look.len, 2 * sizeof(*rec));
	stop_waiting(0);
}

/* The one who asked is lost while its question is passed on; then the endpoint closes with receives posted. */
static void a_lost_asker_gets_nothing(void **arg)
{
	wait_for(tap.other, 0x2a, 0);
	ask(tap.peer, NUM, 2);
	assert_int_equal(tap.cnt, 2);
	eng_on_down(tap.link, tap.peer, FI_ECONNRESET);
	assert_int_equal(eng_query_posted(eng_of(b)), 0);
	reply(tap.other, NUM);
	assert_int_equal(tap.cnt, 2);
	assert_int_equal(tap.peer->refs, 0);
	eng_query_ask(eng_of(b));
	assert_true(eng_query_posted(eng_of(b)) > 0);
	stop_waiting(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		QUERY(a_question_is_answered_by_what_is_waited_for),
		QUERY(a_number_is_taken_once),
		QUERY(questions_of_a_second_are_limited),
		QUERY(a_question_is_passed_on_and_its_answers_come_back),
		QUERY(who_asks_is_not_asked),
		QUERY(a_version_without_questions_is_not_asked),
		QUERY(our_own_question_and_a_look_at_its_answers),
		QUERY(an_answer_is_a_strangers),
		QUERY(a_lost_asker_gets_nothing),
	};

	setenv("FI_INSPECT", "all", 1);
	setenv("PMIX_RANK", "7", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
