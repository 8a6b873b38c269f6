/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Messages from and to a peer in the compatible format: eager, in segments, and by rendezvous. */
#include "rxm/compat/test/peer.h"

#include <sys/mman.h>

static void eager_in(void **state)
{
	struct fi_cq_tagged_entry entry;
	char in[2][8] = { "" };

	they_connect();
	OK(fi_recv(us.ep, in[0], 8, NULL, FI_ADDR_UNSPEC, in[0]));
	OK(fi_trecv(us.ep, in[1], 8, NULL, us.peer, 0xaabb, 0, in[1]));
	they_send(TAGGED, (const uint8_t *) "efgh", 4);
	entry = completion();
	assert_ptr_equal(entry.op_context, in[1]);
	assert_int_equal(entry.flags & (FI_TAGGED | FI_REMOTE_CQ_DATA), FI_TAGGED | FI_REMOTE_CQ_DATA);
	assert_int_equal(entry.tag, 0xaabb);
	assert_int_equal(entry.data, 0x1122334455667788);
	they_send(EAGER, (const uint8_t *) "abcd", 4);
	entry = completion();
	assert_ptr_equal(entry.op_context, in[0]);
	assert_int_equal(entry.flags & (FI_MSG | FI_REMOTE_CQ_DATA), FI_MSG);
	assert_memory_equal(in[0], "abcd", 4);
	assert_memory_equal(in[1], "efgh", 4);
}

/* Pieces of two messages and a whole one between them: received in the order in which they began,
 * expected or not.
 */
static void segments_in(void **state)
{
	uint8_t *a = malloc(40000), *b = malloc(40000), in[8];
	struct fi_cq_tagged_entry entry;
	struct fi_context2 c[3];

	they_connect();
	fill(peer.memory, 80000, 0);
	OK(fi_trecv(us.ep, a, 40000, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, &c[0]));
	they_send(FIRST(FIVE), peer.memory, 16384);
	they_send(FIRST(ONE), peer.memory + 40000, 16384);
	they_send(TAGGED, (const uint8_t *) "late", 4);
	they_send(SECOND(ONE), peer.memory + 56384, 16384);
	they_send(SECOND(FIVE), peer.memory + 16384, 16384);
	they_send(THIRD(ONE), peer.memory + 72768, 7232);
	none();
	they_send(THIRD(FIVE), peer.memory + 32768, 7232);
	entry = completion();
	assert_ptr_equal(entry.op_context, &c[0]);
	assert_int_equal(entry.len, 40000);
	check(a, 0, 40000, 0);
	OK(fi_trecv(us.ep, b, 40000, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, &c[1]));
	entry = completion();
	assert_ptr_equal(entry.op_context, &c[1]);
	check(b, 40000, 40000, 0);
	OK(fi_trecv(us.ep, in, 8, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, &c[2]));
	entry = completion();
	assert_memory_equal(in, "late", 4);
	free(a);
	free(b);
}

/* Read from the peer's memory when it is wanted; the peer is told once. */
static void rendezvous_in(void **state)
{
	struct fi_cq_tagged_entry entry;
	uint8_t *in = malloc(BIG);
	unsigned expected;

	they_connect();
	fill(peer.memory, BIG, 1);
	for (expected = 0; expected < 2; expected++) {
		memset(in, 0, BIG);
		if (expected)
			OK(fi_trecv(us.ep, in, BIG, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		announce();
		if (!expected) {
			none();
			OK(fi_trecv(us.ep, in, BIG, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		}
		they_get(READ_DONE, 0);
		entry = completion();
		assert_int_equal(entry.len, BIG);
		check(in, 0, BIG, 1);
	}
	/* too long for the receive: cut, reported, and the peer is told all the same */
	OK(fi_trecv(us.ep, in, 1000, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
	announce();
	they_get(READ_DONE, 0);
	assert_int_equal(failed_completion(), FI_ETRUNC);
	free(in);
}

static void eager_out(void **state)
{
	const uint8_t *got;

	they_connect();
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	got = they_get(EAGER, 4);
	assert_memory_equal(got, "abcd", 4);
	completion();
	OK(fi_tsenddata(us.ep, "efgh", 4, NULL, 0x1122334455667788, us.peer, 0xaabb, NULL));
	got = they_get(TAGGED, 4);
	assert_memory_equal(got, "efgh", 4);
	completion();
	OK(fi_inject(us.ep, "ijkl", 4, us.peer));
	got = they_get(EAGER, 4);
	assert_memory_equal(got, "ijkl", 4);
}

/* What a rendezvous could not list; all else that is long is one, over tcp. */
static void segments_out(void **state)
{
	uint8_t *out = malloc(40000);
	struct iovec iov[5];
	int i;

	they_connect();
	fill(out, 40000, 2);
	for (i = 0; i < 5; i++)
		iov[i] = (struct iovec) { out + i * 8000, 8000 };
	OK(fi_tsendv(us.ep, iov, NULL, 5, us.peer, 0xaabb, NULL));
	check(they_get(FIRST(ONE), 16384), 0, 16384, 2);
	check(they_get(SECOND(ONE), 16384), 16384, 16384, 2);
	check(they_get(THIRD(ONE), 7232), 32768, 7232, 2);
	completion();
	free(out);
}

/* The peer reads @len bytes as the announcement says, and says that it has. */
static void they_read(const uint8_t *list, size_t len, unsigned seed)
{
	uint64_t addr, size, key;

	memcpy(&addr, list, 8);
	memcpy(&size, list + 8, 8);
	memcpy(&key, list + 16, 8);
	assert_int_equal(size, len);
	assert_int_equal(list[96], 1);
	memset(peer.memory, 0, len);
	OK(fi_read(peer.ep, peer.memory, len, fi_mr_desc(peer.mr), 0, addr, key, &ctx[BUFS]));
	their_completion();
	check(peer.memory, 0, len, seed);
}

static void rendezvous_out(void **state)
{
	uint8_t *out = malloc(BIG);
	struct iovec iov = { out, 100 };
	struct fi_msg_tagged msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = us.peer, .tag = 0xaabb,
	};

	they_connect();
	fill(out, BIG, 3);
	OK(fi_tsend(us.ep, out, BIG, NULL, us.peer, 0xaabb, NULL));
	they_read(they_get("0402000000000000" NONE ONE NONE "0200010000000000"
			   "0000100000000000" NONE TAG, 104), BIG, 3);
	none();
	they_send("0403000000000000" NONE ONE NONE NONE NONE NONE NONE, NULL, 0);
	completion();
	/* a short one whose end has to be known */
	OK(fi_tsendmsg(us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	they_read(they_get("0402000000000000" NONE "0200000000000000" NONE "0200010000000000"
			   "6400000000000000" NONE TAG, 104), 100, 3);
	none();
	they_send("0403000000000000" NONE "0200000000000000" NONE NONE NONE NONE NONE, NULL, 0);
	completion();
	/* nothing tells that it was matched */
	OK(fi_tsendmsg(us.ep, &msg, FI_COMPLETION | FI_MATCH_COMPLETE));
	assert_int_equal(failed_completion(), FI_EOPNOTSUPP);
	/* and the connection lives on */
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_get(EAGER, 4);
	completion();
	free(out);
}

/* The engine does not announce it, so it is one rendezvous, however long it is. */
static void more_than_a_gigabyte_out(void **state)
{
	size_t len = ((size_t) 1 << 30) + 1;
	void *much = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(much, MAP_FAILED);
	they_connect();
	OK(fi_tsend(us.ep, much, len, NULL, us.peer, 0xaabb, NULL));
	they_get("0402000000000000" NONE ONE NONE "0200010000000000 0100004000000000" NONE TAG, 104);
	they_send("0403000000000000" NONE ONE NONE NONE NONE NONE NONE, NULL, 0);
	completion();
	munmap(much, len);
}

/* Any number of rendezvous that the peer has no use for yet; what follows them passes. */
static void many_rendezvous_out(void **state)
{
	static struct fi_context2 c[40];
	char head[512], id[20];
	uint64_t i;
	uint8_t *out = malloc(BIG);

	they_connect();
	for (i = 0; i < 40; i++)
		OK(fi_tsend(us.ep, out, BIG, NULL, us.peer, 0xaabb, &c[i]));
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, &c[0]));
	for (i = 0; i < 40; i++) {
		hex_word(id, i + 1);
		snprintf(head, sizeof(head), "0402000000000000" NONE "%s" NONE
			 "0200010000000000 0000100000000000" NONE TAG, id);
		they_get(head, 104);
	}
	they_get(EAGER, 4);
	completion();
	for (i = 40; i > 0; i--) {
		hex_word(id, i);
		snprintf(head, sizeof(head), "0403000000000000" NONE "%s" NONE NONE NONE NONE NONE, id);
		they_send(head, NULL, 0);
		assert_ptr_equal(completion().op_context, &c[i - 1]);
	}
	free(out);
}

#define MEMORY_END "0100000000000000"

/* A peer that is set to write its rendezvous asks for ours to be written, too. */
static void rendezvous_out_written(void **state)
{
	uint64_t addr = peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) peer.memory : 0;
	static const char *const done = "0408000000000000" NONE ONE NONE "0200000000000000" NONE NONE NONE;
	uint8_t *out = malloc(BIG);
	char text[1024];

	they_connect();
	fill(out, BIG, 6);
	memset(peer.memory, 0, BIG);
	OK(fi_tsend(us.ep, out, BIG, NULL, us.peer, 0xaabb, NULL));
	they_get("0402000000000000" NONE ONE NONE "0200010000000000 0000100000000000" NONE TAG, 104);
	with_list(text, "0407000000000000" NONE ONE NONE "0200000000000000" NONE NONE NONE, addr, 100000,
		  fi_mr_key(peer.mr));
	they_send(strcat(text, MEMORY_END), NULL, 0);
	they_get(done, 0);
	check(peer.memory, 0, 100000, 6);
	assert_int_equal(peer.memory[100000] | peer.memory[100001], 0);
	completion();
	free(out);
}

/* The rendezvous of the peer that it writes: into the receive, cut or not, expected or not. */
static void rendezvous_in_written(void **state)
{
	struct fi_cq_tagged_entry entry;
	uint8_t *in = malloc(BIG);
	const uint8_t *list;
	uint64_t word[3];
	unsigned i;

	they_connect();
	fill(peer.memory, BIG, 7);
	for (i = 0; i < 3; i++) {
		size_t len = i == 2 ? 1000 : BIG;

		memset(in, 0, BIG);
		if (i)
			OK(fi_trecv(us.ep, in, len, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		announce();
		if (!i) {
			none();
			OK(fi_trecv(us.ep, in, len, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		}
		list = they_get("0407000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE, 104);
		memcpy(word, list, sizeof(word));
		assert_int_equal(word[1], len);
		assert_int_equal(list[96], 1);
		none();
		OK(fi_write(peer.ep, peer.memory, len, fi_mr_desc(peer.mr), 0, word[0], word[2], &ctx[BUFS]));
		their_completion();
		they_send("0408000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE, NULL, 0);
		if (i == 2) {
			assert_int_equal(failed_completion(), FI_ETRUNC);
		} else {
			entry = completion();
			assert_int_equal(entry.len, BIG);
		}
		check(in, 0, len, 7);
	}
	free(in);
}

/* One that fills a list of six buffers. */
static void rendezvous_in_pieces(void **state)
{
	uint8_t *in = malloc(BIG);
	struct iovec iov[6];
	const uint8_t *list;
	uint64_t word[3];
	size_t i, step = BIG / 8;

	they_connect();
	fill(peer.memory, BIG, 8);
	for (i = 0; i < 6; i++)
		iov[i] = (struct iovec) { in + i * step, i == 5 ? 3 * step : step };
	OK(fi_trecvv(us.ep, iov, NULL, 6, FI_ADDR_UNSPEC, 0xaabb, 0, in));
	announce();
	list = they_get("0407000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE, 104);
	memcpy(word, list, sizeof(word));
	assert_int_equal(word[1], BIG);
	OK(fi_write(peer.ep, peer.memory, BIG, fi_mr_desc(peer.mr), 0, word[0], word[2], &ctx[BUFS]));
	their_completion();
	they_send("0408000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE, NULL, 0);
	assert_int_equal(completion().len, BIG);
	check(in, 0, BIG, 8);
	free(in);
}

#define FLOOD 2200			/* messages, of three segments: more than the connection keeps */

/* The peer posts a piece, if there is one that may go.  @sent_p: how many the socket took. */
static void flood(unsigned *piece_p, unsigned *sent_p)
{
	static const char *const head[] = { FIRST(FIVE), SECOND(FIVE), THIRD(FIVE) };
	static const size_t len[] = { 16384, 16384, 7232 };
	static uint8_t out[3][ROOM];
	struct fi_cq_msg_entry entry;
	unsigned i = *piece_p % 3;

	while (fi_cq_read(peer.cq, &entry, 1) == 1)
		*sent_p += !!(entry.flags & FI_SEND);
	if (*piece_p < 3)
		fill(out[i] + hex_bytes(head[i], out[i]), len[i], 20 + i);
	memcpy(out[i] + 8, &peer.index, sizeof(peer.index));
	if (*piece_p < 3 * FLOOD && !fi_send(peer.ep, out[i], 64 + len[i], NULL, 0, &ctx[BUFS]))
		++*piece_p;
}

/* Segments wait with the peer when the memory for them is used up, and nothing is lost. */
static void segments_wait(void **state)
{
	uint8_t *in = calloc(1, 40000);
	unsigned piece = 0, sent = 0, i, stuck;
	time_t until;

	they_connect();
	for (i = 0; i < 40000; i++) {
		flood(&piece, &sent);
		fi_cq_read(us.cq, NULL, 0);
	}
	/* all of them would be there by now */
	for (stuck = sent, i = 0; i < 2000; i++) {
		flood(&piece, &sent);
		fi_cq_read(us.cq, NULL, 0);
	}
	assert_in_range(stuck, 1000, 3 * FLOOD - 1);
	assert_int_equal(sent, stuck);
	for (i = 0; i < FLOOD; i++) {
		memset(in, 0, 40000);
		OK(fi_trecv(us.ep, in, 40000, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		for (until = deadline(); fi_cq_read(us.cq, &(struct fi_cq_tagged_entry) { 0 }, 1) != 1;) {
			flood(&piece, &sent);
			assert_true(time(NULL) < until);
		}
		check(in, 0, 16384, 20);
		check(in + 16384, 0, 16384, 21);
		check(in + 32768, 0, 7232, 22);
	}
	free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(eager_in), T(segments_in), T(rendezvous_in), T(eager_out), T(segments_out),
		T(rendezvous_out), T(more_than_a_gigabyte_out), T(many_rendezvous_out), T(rendezvous_out_written),
	};
	const struct CMUnitTest written[] = {
		T(rendezvous_in_written), T(rendezvous_in_pieces), T(rendezvous_out),
		T(rendezvous_out_written), T(eager_in), T(segments_in),
	};
	const struct CMUnitTest crowded[] = { T(segments_wait) };
	int failed = apart("FI_OFI_RXM_USE_RNDV_WRITE", "1", written, sizeof(written) / sizeof(written[0]));

	/* room for the announcements of all pieces, too */
	failed += apart("FI_UNEXP_PEER_MAX", "1048576", crowded, 1);
	return cmocka_run_group_tests(tests, NULL, NULL) + failed != 0;
}
