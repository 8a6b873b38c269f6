/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connections with a peer in the compatible format: which peer connects, requests that are refused,
 * packets that no peer may send, and peers that are lost.
 */
#include "rxm/compat/test/peer.h"

#include <rdma/fi_atomic.h>

/* The endpoint connects, with a request that another implementation understands. */
static void we_connect(void **state)
{
	char in[8];

	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_accept();
	they_get(EAGER, 4);
	completion();
	OK(fi_recv(us.ep, in, 8, NULL, FI_ADDR_UNSPEC, in));
	they_send(EAGER, (const uint8_t *) "efgh", 4);
	completion();
	assert_memory_equal(in, "efgh", 4);
}

/* A peer that connects itself rejects ours with the reason 2; what waits goes the other way. */
static void both_connect(void **state)
{
	union event ev;

	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	event_of(FI_CONNREQ, &ev);
	OK(fi_reject(peer.pep, ev.cm.info->handle, "\1\2", 2));
	fi_freeinfo(ev.cm.info);
	they_connect();
	they_get(EAGER, 4);
	completion();
}

/* refused - the request of peer.ep is, with @reason behind the format's version; closes it. */
static void refused(char reason)
{
	struct fi_eq_err_entry err = { 0 };
	time_t until = deadline();
	union event ev;
	uint32_t event;
	char why[8];

	while (fi_eq_read(peer.eq, &event, &ev, sizeof(ev), 0) != -FI_EAVAIL)
		progress(until);
	err.err_data = why;
	err.err_data_size = sizeof(why);
	assert_true(fi_eq_readerr(peer.eq, &err, 0) > 0);
	assert_int_equal(err.err_data_size, 2);
	assert_int_equal(why[0], 1);
	assert_int_equal(why[1], reason);
	OK(fi_close(&peer.ep->fid));
}

/* A second request of the same process is refused, with the reason 2; one of another process replaces
 * the connection once that has ended, and not before: any process of that host could send it.
 */
static void second_request(void **state)
{
	struct fid_ep *first;
	uint8_t data[64];
	union event ev;

	they_connect();
	first = peer.ep;
	make_endpoint(peer.info);
	OK(fi_connect(peer.ep, &us.name, data, request(data)));
	refused(2);

	make_endpoint(peer.info);
	request(data);
	data[20]++;
	OK(fi_connect(peer.ep, &us.name, data, 24));
	refused(1);

	OK(fi_close(&first->fid));
	none();
	make_endpoint(peer.info);
	OK(fi_connect(peer.ep, &us.name, data, 24));
	event_of(FI_CONNECTED, &ev);
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_get(EAGER, 4);
	completion();
}

/* What no peer may send ends its connection alone; the next one works. */
static void bad_packets(void **state)
{
	static const char *const bad[] = {
		"05",								/* no header */
		"0500000000000000" NONE NONE NONE "0200000000000000" NONE NONE NONE,	/* version */
		"0409000000000000" NONE NONE NONE "0200000000000000" NONE NONE NONE,	/* type */
		EAGER,								/* without its payload */
		READ_DONE,							/* of nothing */
		SECOND(FIVE),							/* of nothing */
		"0408000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE,	/* write done */
		"0405000000000000" NONE FIVE NONE "0200060000000000 0800000000000000" NONE
		"0702000000000000 0000000000000000",				/* response to nothing */
	};
	union event ev;
	char in[8];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		they_connect();
		they_send(bad[i], NULL, 0);
		event_of(FI_SHUTDOWN, &ev);
		hang_up();
	}
	they_connect();
	OK(fi_recv(us.ep, in, 8, NULL, FI_ADDR_UNSPEC, in));
	they_send(EAGER, (const uint8_t *) "efgh", 4);
	completion();
}

/* The peer ends in the middle of everything: each operation ends once. */
static void peer_gone(void **state)
{
	uint8_t *in = malloc(BIG), *out = malloc(BIG);

	they_connect();
	fill(out, BIG, 4);
	OK(fi_trecv(us.ep, in, 40000, NULL, us.peer, 0xaabb, 0, in));
	OK(fi_tsend(us.ep, out, BIG, NULL, us.peer, 0xaabb, NULL));
	they_get("0402000000000000" NONE ONE NONE "0200010000000000 0000100000000000" NONE TAG, 104);
	they_send(FIRST(FIVE), out, 16384);
	announce();
	hang_up();
	assert_int_equal(failed_completion(), FI_ECONNRESET);	/* the send */
	none();
	/* a message that did not arrive in whole is none */
	OK(fi_cancel(&us.ep->fid, in));
	assert_int_equal(failed_completion(), FI_ECANCELED);
	free(in);
	free(out);
}

static void forget_events(void)
{
	struct fi_eq_err_entry err;
	union event ev;
	uint32_t event;
	ssize_t n;

	do {
		n = fi_eq_read(peer.eq, &event, &ev, sizeof(ev), 0);
		if (n == -FI_EAVAIL) {
			memset(&err, 0, sizeof(err));
			fi_eq_readerr(peer.eq, &err, 0);
		}
	} while (n != -FI_EAGAIN);
}

/* Any bytes end at most their own connection. */
static void any_bytes(void **state)
{
	static const char *const base[] = {
		EAGER "61626364", TAGGED "61626364", FIRST(FIVE), SECOND(FIVE),
		RNDV UNUSED NONE NONE NONE ONE, READ_DONE, RESPONSE("07", LEN("08"), "0702000000000000") NONE,
		ATOMIC_HEAD("07", LEN("68"), "0702010000000000") ONE ONE FIVE UNUSED ONE,
		"0406000000000000" NONE NONE ONE NONE NONE NONE NONE,
		"0407000000000000" NONE FIVE NONE NONE NONE NONE NONE ONE ONE ONE UNUSED ONE,
		"0408000000000000" NONE FIVE NONE NONE NONE NONE NONE,
	};
	static uint8_t out[ROOM];
	unsigned seed = 18, round, i, flips, ended = 0;
	uint32_t event;
	union event ev;
	char in[8];
	time_t until = time(NULL) + 2 * PATIENCE_S;

	they_connect();
	for (round = 0; round < 120; round++) {
		size_t len = hex_bytes(base[rand_r(&seed) % (sizeof(base) / sizeof(base[0]))], out);

		memcpy(out + 8, &peer.index, sizeof(peer.index));
		flips = rand_r(&seed) % 4;
		for (i = 0; i < flips; i++)
			out[rand_r(&seed) % len] = (uint8_t) (rand_r(&seed) >> 8);
		if (!(rand_r(&seed) % 8))
			len = rand_r(&seed) % (len + 1);
		while (fi_inject(peer.ep, out, len, 0) == -FI_EAGAIN)
			progress(until);
		for (i = 0; i < 5; i++)
			progress(until);
		if (fi_eq_read(peer.eq, &event, &ev, sizeof(ev), 0) != -FI_EAGAIN) {
			hang_up();
			forget_events();
			they_connect();
			ended++;
		}
	}
	assert_in_range(ended, 20, 115);
	hang_up();
	for (i = 0; i < 20; i++) {	/* until it is known */
		usleep(1000);
		progress(until);
	}
	they_connect();
	OK(fi_trecv(us.ep, in, 8, NULL, FI_ADDR_UNSPEC, 0x77, 0, in));
	they_send("0400000000000000" NONE NONE NONE "0200010000000000 0400000000000000" NONE
		  "7700000000000000", (const uint8_t *) "efgh", 4);
	completion();
	assert_memory_equal(in, "efgh", 4);
}

static void idle(unsigned ms)
{
	time_t until = deadline();

	while (ms--) {
		usleep(1000);
		progress(until);
	}
}

/* Operations of every kind, of which two are receives with @c[0] and @c[1].  Returns how many. */
static int start_operations(uint8_t *out, uint8_t *in, struct fi_context2 *c)
{
	uint64_t addr = peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) peer.memory : 0;
	static uint64_t operand = 1, old;
	uint64_t key = fi_mr_key(peer.mr);

	OK(fi_trecv(us.ep, in, BIG, NULL, us.peer, 0xaabb, 0, &c[0]));
	OK(fi_trecv(us.ep, in, 40000, NULL, us.peer, 0xaabb, 0, &c[1]));
	OK(fi_send(us.ep, out, 4, NULL, us.peer, &c[2]));
	OK(fi_send(us.ep, out, 40000, NULL, us.peer, &c[3]));
	OK(fi_send(us.ep, out, BIG, NULL, us.peer, &c[4]));
	OK(fi_write(us.ep, out, 5000, NULL, us.peer, addr, key, &c[5]));
	OK(fi_write(us.ep, out, BIG, NULL, us.peer, addr, key, &c[6]));
	OK(fi_read(us.ep, in, BIG, NULL, us.peer, addr, key, &c[7]));
	OK(fi_atomic(us.ep, &operand, 1, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM, &c[8]));
	OK(fi_fetch_atomic(us.ep, &operand, 1, NULL, &old, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM,
			   &c[9]));
	return 10;
}

static void step(unsigned what)
{
	char text[1024];

	switch (what) {
	case 0:
		announce();
		break;
	case 1:
		they_send(FIRST(FIVE), peer.memory, 16384);
		break;
	case 2:
		they_send(SECOND(FIVE), peer.memory + 16384, 16384);
		break;
	case 3:
		they_send(EAGER, (const uint8_t *) "abcd", 4);
		break;
	case 4:
		with_list(text, ATOMIC_HEAD("06", LEN("68"), "0702010000000000"), 24, 1, 7);
		they_send(text, (const uint8_t *) "abcdefgh", 8);
		break;
	default:
		idle(what / 5);
	}
}

/* The peer is killed anywhere in the middle of everything: each operation ends once.  PEER_KILLS is how
 * often; a kill takes long, since the close of its endpoint waits for this thread.
 */
static void killed_anywhere(void **state)
{
	uint8_t *out = calloc(1, BIG), *in = malloc(BIG);
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err;
	struct fi_context2 c[10];
	const char *kills = getenv("PEER_KILLS");
	unsigned seed = 7, round, rounds = kills ? (unsigned) atoi(kills) : 15, steps, segments;
	time_t until;
	ssize_t n;
	int left;

	for (round = 0; round < rounds; round++) {
		peer.life++;
		they_connect();
		idle(2);
		left = start_operations(out, in, c);
		segments = 1;
		for (steps = (unsigned) rand_r(&seed) % 8; steps; steps--) {
			unsigned what = (unsigned) rand_r(&seed) % 20;

			/* the pieces of a message in their order */
			step(what == 1 || what == 2 ? (segments < 3 ? segments++ : 3) : what);
		}
		hang_up();
		idle(5);
		/* those that met no message */
		fi_cancel(&us.ep->fid, &c[0]);
		fi_cancel(&us.ep->fid, &c[1]);
		for (until = deadline(); left > 0; progress(until)) {
			memset(&err, 0, sizeof(err));
			n = fi_cq_read(us.cq, &entry, 1);
			if (n == -FI_EAVAIL && fi_cq_readerr(us.cq, &err, 0) == 1)
				n = 1;
			left -= n == 1;
		}
		none();
		forget_events();
	}
	free(out);
	free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(we_connect), T(both_connect), T(second_request), T(bad_packets), T(any_bytes),
		T(peer_gone), T(killed_anywhere),
	};
	const struct CMUnitTest written[] = { T(any_bytes) };
	int failed = apart("FI_OFI_RXM_USE_RNDV_WRITE", "1", written, 1);

	return cmocka_run_group_tests(tests, NULL, NULL) + failed != 0;
}
