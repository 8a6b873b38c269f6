/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ring_check.h - read a ring that holds arbitrary bytes; shared by the unit test and the
 * fuzzer.
 */
#ifndef SHM_RING_CHECK_H
#define SHM_RING_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "shm/ring.h"

#define RING_CHECK(cond)			\
	do {					\
		if (!(cond))			\
			abort();		\
	} while (0)

/* ring_check_item - an accepted item lies within the segment and its limits. */
static void ring_check_item(const struct shm_seg *seg, const struct shm_item *item)
{
	size_t have = item->kind == SHM_SHORT ? item->hdr_len + item->len : item->data_hdr + item->len;

	RING_CHECK(item->kind > SHM_NONE && item->kind < SHM_KINDS);
	RING_CHECK(item->used % SHM_LINE == 0 && item->used <= 2 * SHM_DATA_SIZE);
	if (item->kind == SHM_SHORT)
		RING_CHECK(have <= SHM_BODY);
	if (!item->data)
		return;
	RING_CHECK(item->hdr_len <= ENG_HDR_MAX);
	RING_CHECK(!item->data_hdr || item->data_hdr == item->hdr_len);
	RING_CHECK(item->kind == SHM_PULL || item->data_hdr ||
		   shm_body_hdr(item->kind) + item->hdr_len <= SHM_BODY);
	RING_CHECK(item->data >= seg->data && item->data < seg->data + SHM_DATA_SIZE);
	if (item->kind == SHM_PULL)
		have = SHM_PULL_MAX - sizeof(struct shm_pull_hdr);
	if (item->kind != SHM_PULL)
		RING_CHECK(item->data + have <= seg->data + SHM_DATA_SIZE);
}

/* ring_check_input - @data are bytes of slots, 64 each: a number of the slot's place to
 * spoil, or a word that looks right.
 */
static void ring_check_input(const uint8_t *data, size_t size)
{
	static struct shm_seg seg;
	struct shm_in in = { .seg = &seg };
	struct shm_out out = { .seg = &seg };
	struct shm_item item;
	unsigned kind = SHM_DATA;
	uint64_t word;
	size_t at;

	memset(&seg, 0, offsetof(struct shm_seg, data));
	for (at = 0; at + SHM_LINE <= size; at += SHM_LINE) {
		memcpy(&word, data + at, sizeof(word));
		word = (word & ~UINT64_C(0xffff)) | (uint16_t) (in.pos / SHM_SLOTS + 1);
		memcpy(seg.slots[in.pos % SHM_SLOTS].body, data + at + 8, SHM_BODY);
		atomic_store_explicit(&seg.slots[in.pos % SHM_SLOTS].word, word,
				      memory_order_relaxed);
		if (shm_in_peek(&in, &item) <= 0)
			break;
		ring_check_item(&seg, &item);
		shm_in_take(&in, &item);
	}
	/* the other end: arbitrary counters of the receiver */
	if (size >= 16) {
		memcpy(&word, data, sizeof(word));
		atomic_store_explicit(&seg.rx.slots_done, word, memory_order_relaxed);
		memcpy(&word, data + 8, sizeof(word));
		atomic_store_explicit(&seg.rx.bytes_done, word, memory_order_relaxed);
	}
	for (at = 0; at < size && at < 600 && shm_out_room(&out, 2); at++) {
		uint8_t *place = shm_out_data(&out, 1 + data[at] * 100u, &kind);

		if (!place)
			break;
		RING_CHECK(place >= seg.data && place + 1 + data[at] * 100u <= seg.data + SHM_DATA_SIZE);
		shm_out_publish(&out, kind, 0, 1);
	}
}

#endif
