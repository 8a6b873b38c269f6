/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * interop rdmacm|fabric LOCAL [PEER] - one end of a conversation between a program on
 * librdmacm and one on this library: messages, data with them, remote memory, atomics,
 * each checked, in both directions.  Without PEER it listens.  With INTEROP_NO_SUM in the environment
 * of both, without atomics.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interop.h"

/* What an end tells of its memory. */
struct place {
	uint64_t addr, sum;
	uint32_t key, mark;
};

static const size_t sizes[] = { 1, 8, 64, 300, 4096, 30000, MSG_MAX };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const struct end_ops *end;
static struct memory *mem;

static uint8_t pattern(size_t i, unsigned seed)
{
	return (uint8_t) (i * 7 + i / 251 + seed);
}

static void fill(uint8_t *buf, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = pattern(i, seed);
}

/* @buf is at @from in what was filled. */
static int check(const uint8_t *buf, size_t from, size_t len, unsigned seed, const char *what)
{
	size_t i;

	for (i = from; i < from + len; i++)
		if (buf[i - from] != pattern(i, seed)) {
			fprintf(stderr, "%s of %zu bytes: byte %zu is wrong\n", what, len, i);
			return -1;
		}
	return 0;
}

/* Every other message carries data. */
static int say(size_t len, unsigned seed)
{
	uint32_t imm = 0x1000 + seed;

	fill(mem->out, len, seed);
	return end->send(len, seed % 2 ? &imm : NULL);
}

static int hear(size_t want, unsigned seed)
{
	bool has_imm;
	uint32_t imm;
	unsigned at;
	size_t len;

	if (end->recv(&at, &len, &has_imm, &imm))
		return -1;
	if (len != want || has_imm != seed % 2 || (has_imm && imm != 0x1000 + seed)) {
		fprintf(stderr, "message %u: %zu bytes in place of %zu, data %d 0x%x\n", seed, len,
			want, has_imm, has_imm ? imm : 0);
		return -1;
	}
	return check(mem->in[at], 0, len, seed, "a message") || end->post(at);
}

static int messages(bool first)
{
	unsigned i;
	int ret = 0;

	for (i = 0; i < SIZES && !ret; i++)
		ret = first ? say(sizes[i], i) || hear(sizes[i], i + 100) :
			      hear(sizes[i], i) || say(sizes[i], i + 100);
	return ret;
}

/* The one whose memory is used says where it is, and looks at it when told. */
static int lend(void)
{
	struct place place = {
		.addr = (uintptr_t) mem->open, .sum = (uintptr_t) &mem->sum, .key = end->key(),
		.mark = 0x706c6163,
	};

	fill(mem->open, MSG_MAX, 40);
	mem->sum = 5;
	memcpy(mem->out, &place, sizeof(place));
	if (end->send(sizeof(place), NULL) || hear(8, 60))
		return -1;
	if (check(mem->open, 0, MSG_MAX / 2, 50, "a write") ||
	    check(mem->open + MSG_MAX / 2, MSG_MAX / 2, MSG_MAX / 2, 40, "memory behind a write"))
		return -1;
	if (mem->sum != (getenv("INTEROP_NO_SUM") ? 5 : 47)) {
		fprintf(stderr, "the sum is %" PRIu64 "\n", mem->sum);
		return -1;
	}
	return 0;
}

static int use(void)
{
	struct place place;
	uint32_t imm;
	bool has_imm;
	unsigned at;
	size_t len;

	if (end->recv(&at, &len, &has_imm, &imm) || len != sizeof(place))
		return -1;
	memcpy(&place, mem->in[at], sizeof(place));
	memset(mem->out, 0, MSG_MAX);
	if (end->read(place.addr, place.key, MSG_MAX) ||
	    check(mem->out, 0, MSG_MAX, 40, "a read"))
		return -1;
	fill(mem->out, MSG_MAX / 2, 50);
	if (end->write(place.addr, place.key, MSG_MAX / 2))
		return -1;
	if (getenv("INTEROP_NO_SUM"))
		return say(8, 60);
	if (end->add(place.sum, place.key, 42))
		return -1;
	if (mem->old != 5) {
		fprintf(stderr, "the sum was %" PRIu64 "\n", mem->old);
		return -1;
	}
	return say(8, 60);
}

int main(int argc, char **argv)
{
	const char *peer = argc > 3 ? argv[3] : NULL;

	if (argc < 3)
		return 2;
	end = strcmp(argv[1], "fabric") ? &end_rdmacm : &end_fabric;
	mem = aligned_alloc(4096, (sizeof(*mem) + 4095) / 4096 * 4096);
	if (!mem || end->open(mem, argv[2], peer) || messages(peer) ||
	    (peer ? use() || lend() : lend() || use()) || end->close(peer))
		return 1;
	free(mem);
	printf("%s: %s: all as it should be\n", argv[1], peer ? "calls" : "is called");
	return 0;
}
