/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Attackers of peers with several connections, of connections that were parked or closed, of two connections whose
 * streams change places, and what is in place of a peer that ended; and the sealed end of a stream whose socket is full.
 */
#include "tests/secure/ends.h"

#include <signal.h>

#define FULL_MS 500		/* without a completion: the socket is full */
#define PIECE (16 << 10)
#define TRIES 20

/* ---- several connections to one peer ------------------------------------------------------------ */

/* open_lanes - @a has all of its connections to @b, through the relay. */
static struct end *open_lanes(struct end *b, unsigned cnt)
{
	uint64_t until = now_ms() + WAIT_MS;
	struct end *a = end_open(job, false);

	relay.to = b->name;
	CALL(end_connect(a, &relay.name));
	while (relay.cnt < cnt || relay.conns[cnt - 1].flow[0].cnt < 4) {
		CHECK(now_ms() < until);
		CALL(run(a, b, OP_RECV, LONG));
	}
	return a;
}

/* Any record of a further connection: altered, cut off, left out, repeated, and put into its neighbour. */
static void lanes_are_attacked(void **state)
{
	struct end *member = end_open(job, true), *a;
	enum way way;
	unsigned lane;

	for (lane = 0; lane < 3; lane++)
		for (way = FLIP_HEAD; way <= SPLICE; way++) {
			a = open_lanes(member, 3);
			plan_attack(way, lane, relay.conns[lane].flow[0].cnt + 1, (lane + 1) % 3);
			await_failure(a, member, OP_RECV);
			assert_int_equal(a->err, FI_ECONNRESET);
			if (way == CUT || way == CUT_BETWEEN)
				assert_int_equal(member->err, FI_ECONNRESET);
			else
				assert_int_equal(member->err, FI_EPROTO);
			end_close(a);
			relay_reset();
		}
	end_close(member);
}

static struct {
	int dir;
	unsigned conn;		/* this one and the next */
} exchanged;

/* exchange_record - what comes over one of two connections goes out over the other. */
static void exchange_record(unsigned conn, int dir, unsigned no, const uint8_t *record, size_t len)
{
	if (dir == exchanged.dir && (conn == exchanged.conn || conn == exchanged.conn + 1))
		conn = 2 * exchanged.conn + 1 - conn;
	relay_put(conn, dir, record, len);
}

/* Two lanes of one connection change places. */
static void lanes_are_exchanged(void **state)
{
	struct end *member = end_open(job, true), *a;

	exchanged.dir = 0;
	for (exchanged.conn = 0; exchanged.conn < 2; exchanged.conn++) {
		a = open_lanes(member, 3);
		log_clear();
		relay.tamper = exchange_record;
		await_failure(a, member, OP_WRITE);
		assert_logged("sealed by another");
		assert_true(count_written(member) < LONG);
		end_close(a);
		relay_reset();
	}
	end_close(member);
}

static int lanes(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(lanes_are_attacked), cmocka_unit_test(lanes_are_exchanged) };

	setenv("FI_TCP_LANES", "3", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- connections that were parked ---------------------------------------------------------------- */

/* park - others talk until the relay's newest connection has been closed by consent. */
static void park(struct end *const *others, struct end *b)
{
	uint64_t until = now_ms() + WAIT_MS;
	unsigned i;

	for (i = 0; relay.conns[relay.cnt - 1].fd[0] >= 0; i++) {
		CHECK(now_ms() < until);
		CALL(run(others[i % 3], b, OP_RECV, SHORT));
	}
}

/* What a connection carried before it was parked is of no use in the one that is opened in its place. */
static void parked_connections_are_spliced(void **state)
{
	struct end *member = end_open(job, true), *others[3], *a = end_open(job, false);
	unsigned i;

	for (i = 0; i < 3; i++) {
		others[i] = end_open(job, false);
		CALL(end_connect(others[i], &member->name));
	}
	relay.to = member->name;
	CALL(end_connect(a, &relay.name));
	CALL(run(a, member, OP_WRITE, LONG));
	park(others, member);
	assert_null(strstr(logged, "without a sealed end"));
	/*
	 * The member may connect to @a at the same time, to report room.  Since @a knows it by the relay's address, these
	 * are two peers to @a, and it keeps both connections where the member keeps one.
	 */
	for (i = 0; i < TRIES && run(a, member, OP_WRITE, LONG); i++)
		printf("# both sides connected at once\n");
	assert_true(relay.cnt > 1);
	park(others, member);
	attack(a, member, OP_WRITE, SPLICE, relay.cnt, 1);
	assert_logged("sealed by another");
	for (i = 0; i < TRIES && run(a, member, OP_WRITE, LONG); i++)
		;
	assert_true(i < TRIES);
	for (i = 0; i < 3; i++) {
		CALL(run(others[i], member, OP_RECV, SHORT));
		end_close(others[i]);
	}
	end_close(a);
	end_close(member);
}

static int parked(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(parked_connections_are_spliced) };

	setenv("FI_TCP_MAX_CONNS", "4", 1);	/* of both ends */
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- two connections at a time, and one after another ------------------------------------------------ */

/* open_pair - a peer that has a connection to a member of its own, through the relay. */
static void open_pair(struct end **a_p, struct end **b_p)
{
	*b_p = end_open(job, true);
	*a_p = end_open(job, false);
	relay.to = (*b_p)->name;
	CALL(end_connect(*a_p, &relay.name));
	CALL(run(*a_p, *b_p, OP_RECV, SHORT));
}

/* await_errors - the operations of both end in errors. */
static void await_errors(struct end *const *a)
{
	uint64_t until = now_ms() + WAIT_MS;

	while (!a[0]->err || !a[1]->err) {
		CHECK(now_ms() < until);
		CHECK(!a[0]->done && !a[1]->done);
		poll_all();
	}
}

/* Two streams whose records have the same numbers change places, in either direction: nothing is written by what the
 * peers send, and nothing is taken for an answer by what they get.  The third goes on.
 */
static void streams_are_exchanged(void **state)
{
	struct end *a[3], *b[3];
	unsigned i;

	exchanged.conn = 0;
	for (exchanged.dir = 0; exchanged.dir < 2; exchanged.dir++) {
		for (i = 0; i < 3; i++)
			open_pair(&a[i], &b[i]);
		assert_int_equal(relay.conns[0].flow[exchanged.dir].cnt, relay.conns[1].flow[exchanged.dir].cnt);
		log_clear();
		relay.tamper = exchange_record;
		for (i = 0; i < 2; i++)
			start(a[i], b[i], OP_WRITE, LONG);
		await_errors(a);
		assert_logged("sealed by another");
		for (i = 0; i < 2 && !exchanged.dir; i++)
			assert_int_equal(count_written(b[i]), 0);
		CALL(run(a[2], b[2], OP_WRITE, LONG));
		CALL(run(a[2], b[2], OP_RECV, LONG));
		for (i = 0; i < 3; i++) {
			end_close(a[i]);
			end_close(b[i]);
		}
		relay_reset();
	}
}

/* open_again - the next connection to @b, when that before has ended; @cnt messages come through. */
static struct end *open_again(struct end *b, unsigned cnt)
{
	uint64_t until = now_ms() + WAIT_MS;
	unsigned last = relay.cnt - 1;
	struct end *a;

	while (relay.cnt && !relay.conns[last].flow[0].ended) {
		CHECK(now_ms() < until);
		poll_all();
	}
	a = end_open(job, false);
	CALL(end_connect(a, &relay.name));
	while (cnt--)
		CALL(run(a, b, OP_RECV, LONG));
	return a;
}

/* last_kind - of the last record of @flow. */
static enum sec_record last_kind(const struct flow *flow)
{
	return flow->came.at[flow->at[flow->cnt - 1] + 3];
}

/* What a connection carried that was closed in order is of no use in the next: neither a record of the same number, nor
 * its sealed end.
 */
static void closed_connections_are_spliced(void **state)
{
	struct end *member = end_open(job, true), *a;
	bool end;
	int i;

	for (i = 0; i < 2; i++) {
		end = i;
		relay.to = member->name;
		end_close(open_again(member, end ? 1 : 3));
		a = open_again(member, end ? 3 : 1);
		assert_int_equal(relay.cnt, 2);
		assert_int_equal(relay.conns[1].flow[0].cnt >= relay.conns[0].flow[0].cnt, end);
		assert_int_equal(last_kind(&relay.conns[0].flow[0]), SEC_RECORD_END);
		attack(a, member, OP_WRITE, SPLICE, 1, relay.conns[1].flow[0].cnt);
		assert_logged("sealed by another");
		end_close(a);
		relay_reset();
		end_close(open_again(member, 1));
		relay_reset();
	}
	end_close(member);
}

/* Endpoints of type MSG have one connection each, which is not parked, whatever is set for RDM endpoints. */
static void one_connection_stays(void **state)
{
	struct end *a[3], *b[3];
	unsigned i, round;

	if (type != FI_EP_MSG)
		return;
	for (i = 0; i < 3; i++)
		open_pair(&a[i], &b[i]);
	for (round = 0; round < 4; round++)
		for (i = 0; i < 3; i++) {
			CALL(run(a[i], b[i], OP_RECV, LONG));
			assert_true(relay.conns[i].fd[0] >= 0);
		}
	assert_int_equal(relay.cnt, 3);
	for (i = 0; i < 3; i++) {
		end_close(a[i]);
		end_close(b[i]);
	}
	relay_reset();
}

static int pairs(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_are_exchanged),
		cmocka_unit_test(closed_connections_are_spliced),
		cmocka_unit_test(one_connection_stays),
	};

	if (type == FI_EP_MSG) {
		setenv("FI_TCP_LANES", "3", 1);
		setenv("FI_TCP_MAX_CONNS", "2", 1);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- another process in place of a peer ------------------------------------------------------------ */

/* start_member - a process that receives at @port with @key, until it is killed. */
static pid_t start_member(const uint8_t *key, const char *port)
{
	int ready[2];
	struct end *e;
	pid_t pid;
	char byte;

	CALL(pipe(ready));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		snprintf(service, sizeof(service), "%s", port);
		polled_cnt = 0;
		e = end_open(key, true);
		CHECK(write(ready[1], "", 1) == 1);
		for (;; e->done = 0) {
			post_long_recv(e, SHORT);
			while (!e->done)
				end_poll(e);
		}
	}
	close(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	return pid;
}

static void kill_member(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

/* say - one message.  Returns 0, or the error. */
static int say(struct end *a)
{
	uint64_t until = now_ms() + WAIT_MS;
	ssize_t ret;

	a->done = 0;
	a->err = 0;
	while ((ret = fi_tsend(a->ep, source, SHORT, NULL, a->to, 1, NULL)) == -FI_EAGAIN)
		poll_all();
	CALL(ret);
	while (!a->done && !a->err) {
		CHECK(now_ms() < until);
		poll_all();
	}
	return a->err;
}

/* say_again - until the first message that is not lost with the connection before.  Returns as say(). */
static int say_again(struct end *a)
{
	int i, err = FI_ECONNRESET;

	for (i = 0; i < TRIES && (err == FI_ECONNRESET || err == FI_ECONNREFUSED); i++)
		err = say(a);
	return err;
}

/* A peer that is started again at its address has the key, or nothing reaches it. */
static void a_peer_is_started_again(void **state)
{
	static const uint8_t *const keys[] = { job, job, other_job, job };
	struct sockaddr_in name;
	struct end *a, *probe;
	char port[8];
	pid_t pid;
	size_t i;

	probe = end_open(job, true);		/* a port that is free */
	name = probe->name;
	end_close(probe);
	snprintf(port, sizeof(port), "%d", ntohs(name.sin_port));
	a = end_open(job, false);
	CALL(end_connect(a, &name));
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		pid = start_member(keys[i], port);
		log_clear();
		assert_int_equal(say_again(a), keys[i] == job ? 0 : FI_EACCES);
		if (keys[i] != job)
			assert_logged("does not have our key");
		kill_member(pid);
	}
	end_close(a);
}

/* ---- the sealed end of a full socket ---------------------------------------------------------------- */

/* fill - send one message, then until the socket takes no more; tell how many were completed, each time, and close. */
static void fill(const struct sockaddr_in *name, int tell)
{
	struct iovec iov = { source, PIECE };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .tag = 1 };
	unsigned done = 1;
	struct end *a;
	uint64_t quiet;

	polled_cnt = 0;
	a = end_open(job, false);
	CALL(end_connect(a, name));
	CALL(say(a));
	CHECK(write(tell, &done, sizeof(done)) == sizeof(done));
	msg.addr = a->to;
	for (quiet = now_ms() + FULL_MS; now_ms() < quiet; done = a->done) {
		fi_tsendmsg(a->ep, &msg, FI_TRANSMIT_COMPLETE | FI_COMPLETION);
		end_poll(a);
		if (a->done != done)
			quiet = now_ms() + FULL_MS;
	}
	done--;				/* say()'s */
	CHECK(!a->err && write(tell, &done, sizeof(done)) == sizeof(done));
	end_close(a);
	_exit(0);		/* what it has of its parent is not its own */
}

/* receive_one - of @len bytes, which are right. */
static void receive_one(struct end *e, size_t len)
{
	uint64_t until = now_ms() + WAIT_MS;

	e->done = 0;
	post_long_recv(e, len);
	while (!e->done) {
		CHECK(now_ms() < until && !e->err);
		end_poll(e);
	}
	assert_memory_equal(e->buf, source, len);
}

/* What was completed arrives before the sealed end, and neither side hangs. */
static void a_full_socket_ends_in_order(void **state)
{
	struct end *member = end_open(job, true);
	unsigned done = 0, came;
	uint64_t until;
	int tell[2];
	pid_t pid;

	CALL(pipe(tell));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		fill(&member->name, tell[1]);
	log_clear();
	receive_one(member, SHORT);
	fcntl(tell[0], F_SETFL, O_NONBLOCK);
	for (until = now_ms() + WAIT_MS; read(tell[0], &done, sizeof(done)) < 0; end_poll(member))
		CHECK(now_ms() < until);
	fcntl(tell[0], F_SETFL, 0);
	CHECK(read(tell[0], &done, sizeof(done)) == sizeof(done));	/* it computes until the sender closes */
	printf("# %u messages of %u bytes\n", done, PIECE);
	assert_true(done > 0);
	for (came = 0; came < done; came++)
		receive_one(member, PIECE);
	for (until = now_ms() + WAIT_MS; !waitpid(pid, NULL, WNOHANG); end_poll(member))
		CHECK(now_ms() < until);
	for (until = now_ms() + FULL_MS; now_ms() < until;)
		end_poll(member);
	assert_null(strstr(logged, "without a sealed end"));
	end_close(member);
}

static int ends(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_is_started_again),
		cmocka_unit_test(a_full_socket_ends_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

static int again(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_peer_is_started_again) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	static const char *const levels[] = { "encrypt", "auth" };
	int failed = 0, i;

	prepare();
	for (i = 0; i < 2; i++) {
		provider = "tcp";
		failed += in_child(lanes, FI_EP_RDM, levels[i]) + in_child(parked, FI_EP_RDM, levels[i]) +
			  in_child(ends, FI_EP_RDM, levels[i]);
		failed += in_child(pairs, FI_EP_RDM, levels[i]) + in_child(pairs, FI_EP_MSG, levels[i]);
		provider = "tcp;ofi_rxm";
		failed += in_child(pairs, FI_EP_RDM, levels[i]) + in_child(again, FI_EP_RDM, levels[i]);
	}
	return failed ? 1 : 0;
}
