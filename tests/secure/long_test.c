/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Attackers of long messages, of several connections to one peer, and of connections that are made again.
 *
 * A peer reaches the member through a relay, the attacker, over RDM and MSG endpoints of tcp and over tcp;ofi_rxm, at auth
 * and at encrypt.  After an attack the operation ends in an error at both sides, what was altered is not in memory that
 * the peer writes or adds to, the log has the reason, and a bystander's messages go on.
 */
#include "tests/secure/ends.h"

/* ---- tests ---------------------------------------------------------------------------------- */

static struct end *member, *bystander;

static void bystander_goes_on(void)
{
	if (!bystander)
		return;
	assert_int_equal(run(bystander, member, OP_RECV, SHORT), 0);
	assert_int_equal(run(bystander, member, OP_RECV, LONG), 0);
}

/* open_peer - connected to @to through the relay; @cnt_p: [out] records that it has sent. */
static struct end *open_peer(const uint8_t *key, struct end *to, unsigned *cnt_p)
{
	struct end *a = end_open(key, false);

	relay.to = to->name;
	assert_int_equal(end_connect(a, &relay.name), 0);
	assert_int_equal(run(a, to, OP_RECV, SHORT), 0);
	*cnt_p = relay.conns[relay.cnt - 1].flow[0].cnt;
	return a;
}

static const char *text_of(enum way way)
{
	return way == CUT || way == CUT_BETWEEN ? "ended without a sealed end" :
	       way == FLIP_HEAD ? "no sealed record" : "altered, repeated, left out or sealed by another";
}

/* is_alone - no other record follows record @no of @op: a long write of ofi_rxm is announced, and the target reads it. */
static bool is_alone(enum op op, unsigned no)
{
	return op == OP_ADD || op == OP_HELD || (op == OP_WRITE && !no && strcmp(provider, "tcp"));
}

static void each_way(enum op op, unsigned no)
{
	enum way way;
	struct end *a;
	unsigned sent;

	for (way = FLIP_HEAD; way < SPLICE; way++) {
		if ((way == DROP || way == REORDER) && is_alone(op, no))
			continue;
		a = open_peer(job, member, &sent);
		assert_int_equal(attack(a, member, op, way, relay.cnt - 1, sent + no), FI_ECONNRESET);
		if (op == OP_RECV)
			assert_int_equal(member->err, way == CUT || way == CUT_BETWEEN ? FI_ECONNRESET : FI_EPROTO);
		assert_logged(text_of(way));
		end_close(a);
		bystander_goes_on();
		relay_reset();
	}
}

static void receives_are_attacked(void **state)
{
	each_way(OP_RECV, 1);
	each_way(OP_RECV, 20);
}

static void held_messages_are_attacked(void **state)
{
	each_way(OP_HELD, 0);
}

static void writes_are_attacked(void **state)
{
	each_way(OP_WRITE, 0);
	each_way(OP_WRITE, 3);
}

static void atomics_are_attacked(void **state)
{
	each_way(OP_ADD, 0);
}

/* The record of the same number, of another connection of the job, and of another job. */
static void connections_are_spliced(void **state)
{
	struct end *stranger = end_open(other_job, true), *a, *b;
	unsigned sent, first, i;

	for (i = 0; i < 2; i++) {
		relay_reset();
		b = open_peer(i ? other_job : job, i ? stranger : member, &first);
		assert_int_equal(run(b, i ? stranger : member, OP_RECV, LONG), 0);
		a = open_peer(job, member, &sent);
		assert_int_equal(sent, first);
		attack(a, member, OP_RECV, SPLICE, 1, sent + 1);
		assert_int_equal(member->err, FI_EPROTO);
		assert_logged("sealed by another");
		end_close(a);
		end_close(b);
		bystander_goes_on();
	}
	relay_reset();
	end_close(stranger);
}

static unsigned replayed;	/* bytes of the connection before */

/* The member gets what the connecting peer said before, on each connection but the first. */
static void replay_shake(unsigned conn, int dir, const uint8_t *bytes, size_t len)
{
	const struct flow *first = &relay.conns[0].flow[0];

	if (conn == 0 || dir) {
		relay_put(conn, dir, bytes, len);
	} else if (!relay.conns[conn].flow[0].out_pos && !relay.conns[conn].flow[0].out.len && !replayed) {
		replayed = (unsigned) first->came.len;
		relay_put(conn, dir, first->came.at, first->came.len);
	}
}

/* A connection that is made again: its handshake replayed whole, and records of the one before put into it. */
static void reconnections_are_replayed(void **state)
{
	uint64_t until = now_ms() + WAIT_MS;
	unsigned sent;
	struct end *a;

	if (type == FI_EP_MSG)
		return;			/* an endpoint connects once */
	a = open_peer(job, member, &sent);
	relay_end(0);
	log_clear();
	replayed = 0;
	relay.shaking = replay_shake;
	do {				/* the first one says that the connection is lost */
		start(a, member, OP_WRITE, SHORT);
		while (relay.cnt < 2 && !a->err)
			poll_all();
	} while (relay.cnt < 2 && now_ms() < until);
	while (!strstr(logged, "was refused")) {
		CHECK(now_ms() < until && !a->done);
		poll_all();
	}
	assert_true(replayed);
	assert_int_equal(count_written(member), 0);
	relay.shaking = NULL;
	end_close(a);
	relay_reset();
	a = open_peer(job, member, &sent);
	assert_int_equal(run(a, member, OP_RECV, LONG), 0);
	relay_end(0);
	while (run(a, member, OP_WRITE, SHORT))
		CHECK(now_ms() < until);
	attack(a, member, OP_WRITE, SPLICE, relay.cnt - 1, relay.conns[relay.cnt - 1].flow[0].cnt);
	assert_logged("sealed by another");
	end_close(a);
	bystander_goes_on();
	relay_reset();
}

static int begin(void **state)
{
	member = end_open(job, true);
	if (type == FI_EP_RDM) {
		bystander = end_open(job, false);
		CALL(end_connect(bystander, &member->name));
	}
	return 0;
}

static int finish(void **state)
{
	if (bystander)
		end_close(bystander);
	end_close(member);
	return 0;
}

static int one_connection(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receives_are_attacked),
		cmocka_unit_test(held_messages_are_attacked),
		cmocka_unit_test(writes_are_attacked),
		cmocka_unit_test(atomics_are_attacked),
		cmocka_unit_test(connections_are_spliced),
		cmocka_unit_test(reconnections_are_replayed),
	};

	return cmocka_run_group_tests(tests, begin, finish);
}

int main(void)
{
	static const char *const levels[] = { "encrypt", "auth" };
	int failed = 0, i;

	prepare();
	for (i = 0; i < 2; i++) {
		provider = "tcp";
		failed += in_child(one_connection, FI_EP_RDM, levels[i]) + in_child(one_connection, FI_EP_MSG, levels[i]);
		provider = "tcp;ofi_rxm";
		failed += in_child(one_connection, FI_EP_RDM, levels[i]);
	}
	return failed ? 1 : 0;
}
