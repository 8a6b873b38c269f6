/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The two ends of a segment: what is sent is received, and arbitrary bytes do no harm.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/test/ring_check.h"
#include "seg.h"

static uint64_t seed = 88172645463325252;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

struct both {
	struct shm_seg *seg;
	struct shm_out out;
	struct shm_in in;
};

static int make(void **state)
{
	struct both *b = calloc(1, sizeof(*b));
	int fd;

	assert_int_equal(shm_seg_make(&b->seg, &fd), 0);
	close(fd);
	b->out.seg = b->in.seg = b->seg;
	*state = b;
	return 0;
}

static int unmake(void **state)
{
	struct both *b = *state;

	shm_seg_unmap(b->seg);
	free(b);
	return 0;
}

/* put_one - message number @no, of a size that follows from it.  False: no room. */
static size_t size_of(uint64_t no)
{
	uint64_t x = no * UINT64_C(0x9e3779b97f4a7c15);

	return x >> 62 ? x % 100 : x % SHM_PIECE_MAX;
}

/* hdr_of - bytes of the header of message number @no: some do not fit a slot. */
static size_t hdr_of(uint64_t no)
{
	return no % 5 ? 8 : SHM_BODY + 1 + no % 100;
}

/* place - where a packet's header and payload go.  False: no room. */
static bool place(struct both *b, size_t hdr_len, size_t len, unsigned *kind, uint8_t **hdr,
		  uint8_t **payload)
{
	size_t in_data = shm_data_hdr(SHM_DATA, hdr_len);
	uint8_t *body = shm_out_slot(&b->out)->body, *data;

	*hdr = body;
	*payload = body + hdr_len;
	*kind = SHM_SHORT;
	if (hdr_len + len <= SHM_BODY)
		return true;
	*kind = SHM_DATA;
	data = shm_out_data(&b->out, in_data + len, kind);
	*hdr = in_data ? data : body;
	*payload = data + in_data;
	return data != NULL;
}

static bool put_one(struct both *b, uint64_t no)
{
	static uint8_t bytes[SHM_PIECE_MAX];
	size_t len = size_of(no);
	uint8_t *hdr, *payload;
	unsigned kind;

	if (!shm_out_room(&b->out, 2) || !place(b, hdr_of(no), len, &kind, &hdr, &payload))
		return false;
	memset(hdr, (int) no, hdr_of(no));
	memcpy(hdr, &no, sizeof(no));
	memset(bytes, (int) no, len);
	b->out.far = (struct shm_far) { .payloads = SHM_FAR_SAMPLES, .far = no % 2 };
	if (kind == SHM_SHORT)
		memcpy(payload, bytes, len);
	else
		shm_out_copy(&b->out, payload, bytes, len);
	shm_out_publish(&b->out, kind, hdr_of(no), len);
	return true;
}

static bool get_one(struct both *b, uint64_t no)
{
	const uint8_t *hdr, *payload;
	struct shm_item item;
	uint64_t got;
	size_t i;
	int ret = shm_in_peek(&b->in, &item);

	if (!ret)
		return false;
	RING_CHECK(ret > 0);
	hdr = item.data_hdr ? item.data : item.body;
	payload = item.data ? item.data + item.data_hdr : item.body + item.hdr_len;
	memcpy(&got, hdr, sizeof(got));
	RING_CHECK(got == no && item.hdr_len == hdr_of(no) && item.len == size_of(no));
	for (i = sizeof(got); i < item.hdr_len; i++)
		RING_CHECK(hdr[i] == (uint8_t) no);
	for (i = 0; i < item.len; i++)
		RING_CHECK(payload[i] == (uint8_t) no);
	shm_in_take(&b->in, &item);
	if (no % 3 == 0)
		shm_in_release(&b->in);
	return true;
}

static void what_is_sent_is_received(void **state)
{
	struct both *b = *state;
	uint64_t put = 0, got = 0;

	while (got < 20000) {
		while (draw() % 4 && put_one(b, put))
			put++;
		while (draw() % 4 && get_one(b, got))
			got++;
		if (put == got)
			shm_in_release(&b->in);
		/* empty means that everything fits */
		if (put == got && !put_one(b, put))
			fail();
		put = put == got ? put + 1 : put;
	}
	assert_false(b->out.bad);
}

static void *write_all(void *arg)
{
	struct both *b = arg;
	uint64_t no;

	for (no = 0; no < 50000; no++)
		while (!put_one(b, no))
			sched_yield();
	return NULL;
}

/* The two ends in two threads, for the thread sanitizer. */
static void two_threads_agree(void **state)
{
	struct both *b = *state;
	pthread_t thread;
	uint64_t no;

	assert_int_equal(pthread_create(&thread, NULL, write_all, b), 0);
	for (no = 0; no < 50000; no++)
		while (!get_one(b, no)) {
			shm_in_release(&b->in);
			sched_yield();
		}
	pthread_join(thread, NULL);
}

/* farthest - of 10000 packets to a receiver which is always @behind packets behind: the last place in the
 * data ring.
 */
static size_t farthest(struct both *b, size_t behind)
{
	size_t far = 0, i;
	struct shm_item item;
	uint8_t *to;

	for (i = 0; i < 10000; i++) {
		unsigned kind = SHM_DATA;

		to = shm_out_data(&b->out, 512, &kind);
		assert_non_null(to);
		if ((size_t) (to - b->seg->data) > far)
			far = (size_t) (to - b->seg->data);
		shm_out_publish(&b->out, kind, 8, 512);
		if (i < behind)
			continue;
		assert_int_equal(shm_in_peek(&b->in, &item), 1);
		shm_in_take(&b->in, &item);
		shm_in_release(&b->in);
		assert_true(shm_out_room(&b->out, 2));
	}
	assert_false(b->out.bad);
	return far;
}

/* A stream goes through the whole ring, single packets stay at its beginning. */
static void a_stream_uses_the_whole_ring(void **state)
{
	assert_true(farthest(*state, 4) > SHM_DATA_SIZE / 2);
}

static void single_packets_reuse_the_beginning(void **state)
{
	assert_int_equal(farthest(*state, 0), 0);
}

/* What was used once is used again, up to SHM_DATA_NEAR: pages that are there, but not in the caches, cost less
 * than a look at the receiver for each packet.
 */
static void single_packets_after_a_burst_use_what_it_has_used(void **state)
{
	struct both *b = *state;
	struct shm_item item;

	assert_true(farthest(b, 20) > SHM_DATA_SIZE / 2);
	while (shm_in_peek(&b->in, &item) == 1)
		shm_in_take(&b->in, &item);
	shm_in_release(&b->in);
	farthest(b, 0);
	assert_in_range(farthest(b, 0), SHM_DATA_NEAR - 512, SHM_DATA_NEAR + SHM_LOOK_BYTES);
}

/* ---- how payload is copied: the rule alone, with made-up times ---------------------------------- */

/* streamed - of SHM_FAR_EVERY payloads of 4 KiB, how many go past the caches?  A plain copy takes @ns. */
static unsigned streamed(struct shm_far *far, uint64_t ns)
{
	unsigned i, cnt = 0;

	for (i = 0; i < SHM_FAR_EVERY; i++)
		if (shm_far_due(far))
			shm_far_sample(far, 4096, i == 1 ? 100 * ns : ns);	/* one is interrupted */
		else
			cnt += far->far;
	return cnt;
}

static void payload_for_a_far_processor_goes_past_the_caches(void **state)
{
	const uint64_t near_ns = 4096 / SHM_LINE * SHM_FAR_LINE_NS, far_ns = near_ns + 4096 / SHM_LINE;
	struct shm_far far = { 0 };

	assert_int_equal(streamed(&far, near_ns), 0);
	assert_int_equal(streamed(&far, far_ns), SHM_FAR_EVERY - SHM_FAR_SAMPLES);
	assert_int_equal(streamed(&far, near_ns), 0);	/* it has moved */
	shm_far_sample(&far, 4096, UINT64_MAX / SHM_LINE);	/* a time without bound */
}

/* ---- receivers that take packets late: rules alone, with made-up times -------------------------- */

static void a_receiver_is_slow_when_packets_waited_long(void **state)
{
	struct shm_out out = { 0 };

	shm_out_moves(&out, 1000);	/* nothing waited */
	assert_false(out.slow);
	shm_out_waits(&out, 1000);
	shm_out_waits(&out, 5000);	/* the first one counts */
	shm_out_moves(&out, 1000 + SHM_SLOW_NS);
	assert_true(out.slow);
	assert_int_equal(out.slow_until, 1000 + SHM_SLOW_NS + SHM_SLOW_FOR_NS);
	assert_int_equal(out.wait_ns, 0);
	shm_out_waits(&out, 1);
	shm_out_moves(&out, SHM_SLOW_NS);	/* it takes them soon */
	assert_false(out.slow);
}

/* The number of a lap has 16 bits. */
static void lap_numbers_wrap(void **state)
{
	struct both *b = *state;
	struct shm_item item;
	uint64_t i;

	b->out.pos = b->in.pos = b->out.seen_pos = UINT64_C(65530) * SHM_SLOTS;
	for (i = 0; i < 20 * SHM_SLOTS; i++) {
		assert_int_equal(shm_in_peek(&b->in, &item), 0);
		shm_out_publish(&b->out, SHM_SHORT, 0, 0);
		assert_int_equal(shm_in_peek(&b->in, &item), 1);
		shm_in_take(&b->in, &item);
	}
}

static void impossible_counters_are_detected(void **state)
{
	struct both *b = *state;

	shm_out_publish(&b->out, SHM_SHORT, 0, 0);
	atomic_store(&b->seg->rx.slots_done, 2);
	shm_out_look(&b->out);
	assert_true(b->out.bad);
	assert_int_equal(b->out.seen_pos, 0);
}

/* Lengths at their bounds, and one beyond. */
static void lengths_have_bounds(void **state)
{
	static const struct {
		unsigned kind;
		size_t hdr_len, len, cnt;	/* @cnt: ranges of a PULL */
		int ret;
	} cases[] = {
		{ SHM_SHORT, 16, SHM_BODY - 16, 0, 1 }, { SHM_SHORT, 16, SHM_BODY - 15, 0, -1 },
		{ SHM_DATA, 16, SHM_PIECE_MAX, 0, 1 }, { SHM_DATA, 16, SHM_PIECE_MAX + 1, 0, -1 },
		{ SHM_MORE, 0, SHM_PIECE_MAX, 0, 1 }, { SHM_MORE, 0, SHM_PIECE_MAX + 1, 0, -1 },
		{ SHM_PULL, 16, 100, ENG_IOV_MAX, 1 }, { SHM_PULL, 16, 100, ENG_IOV_MAX + 1, -1 },
		{ SHM_PULL, 16, 100, 0, -1 }, { SHM_PULL, 16, 100, 255, -1 }, { SHM_PULL, 16, 100, UINT32_MAX, -1 },
	};
	struct both *b = *state;
	struct shm_item item;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct shm_pull_hdr pull = { .cnt = (uint32_t) cases[i].cnt };

		memcpy(shm_out_slot(&b->out)->body, &pull, sizeof(pull));
		shm_out_publish(&b->out, cases[i].kind, cases[i].hdr_len, cases[i].len);
		assert_int_equal(shm_in_peek(&b->in, &item), cases[i].ret);
		b->in.pos++;
	}
}

static void arbitrary_slots_are_rejected_or_harmless(void **state)
{
	static uint8_t bytes[SHM_LINE * 300];
	unsigned round;
	size_t i, size;

	for (round = 0; round < 20000; round++) {
		size = draw() % 20 ? draw() % (SHM_LINE * 8) : draw() % sizeof(bytes);
		for (i = 0; i < size; i++)
			bytes[i] = (uint8_t) draw();
		for (i = 0; i + SHM_LINE <= size; i += SHM_LINE) {
			bytes[i + 2] = (uint8_t) (draw() % SHM_KINDS | (draw() % 8 ? 0 : SHM_SKIP));
			bytes[i + 3] = (uint8_t) (draw() % 64);
			bytes[i + 5] = (uint8_t) (draw() % 130);
			bytes[i + 6] = draw() % 16 == 0;
			bytes[i + 7] = 0;
			memset(bytes + i + 12, 0, 4);
			bytes[i + 12] = (uint8_t) (draw() % 10);
		}
		ring_check_input(bytes, size);
	}
}

/* Pages are on the NUMA node of the process that made the segment, whichever writes them first. */
static void a_segment_is_on_the_node_of_its_receiver(void **state)
{
	unsigned long nodes[16] = { 0 };
	struct shm_seg *mine, *theirs;
	int fd, mode = -1;
	size_t i;

	assert_int_equal(shm_seg_make(&mine, &fd), 0);
	assert_int_equal(shm_seg_map(fd, &theirs), 0);
	close(fd);
	memset(theirs->data, 1, sizeof(theirs->data));
	assert_int_equal(mine->data[sizeof(mine->data) - 1], 1);
	if (!syscall(SYS_get_mempolicy, &mode, nodes, 8 * sizeof(nodes), theirs, MPOL_F_ADDR) &&
	    mode == MPOL_PREFERRED) {	/* else the kernel does not let us have a say */
		for (i = 0; i < 16 && !nodes[i]; i++)
			;
		assert_true(i < 16);
		assert_int_equal(nodes[i] & (nodes[i] - 1), 0);
	}
	shm_seg_unmap(theirs);
	shm_seg_unmap(mine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_sent_is_received, make, unmake),
		cmocka_unit_test_setup_teardown(two_threads_agree, make, unmake),
		cmocka_unit_test_setup_teardown(a_stream_uses_the_whole_ring, make, unmake),
		cmocka_unit_test_setup_teardown(single_packets_after_a_burst_use_what_it_has_used,
						make, unmake),
		cmocka_unit_test_setup_teardown(single_packets_reuse_the_beginning, make, unmake),
		cmocka_unit_test(payload_for_a_far_processor_goes_past_the_caches),
		cmocka_unit_test(a_receiver_is_slow_when_packets_waited_long),
		cmocka_unit_test_setup_teardown(lap_numbers_wrap, make, unmake),
		cmocka_unit_test_setup_teardown(impossible_counters_are_detected, make, unmake),
		cmocka_unit_test_setup_teardown(lengths_have_bounds, make, unmake),
		cmocka_unit_test(arbitrary_slots_are_rejected_or_harmless),
		cmocka_unit_test(a_segment_is_on_the_node_of_its_receiver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
