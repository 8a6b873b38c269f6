/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire_check.h - what must hold for any packet that passes the gate; shared by
 * the mutation test and the fuzzer.
 */
#ifndef ENG_WIRE_CHECK_H
#define ENG_WIRE_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "engine/wire.h"

#define WIRE_CHECK(cond) do { if (!(cond)) abort(); } while (0)

/* wire_check - parse a copy that ends exactly at @len, so that a sanitizer sees
 * any byte read beyond it.  Returns 1 if the packet is well formed; aborts when
 * what passed contradicts itself.
 */
static inline int wire_check(const uint8_t *hdr, size_t len, size_t payload)
{
	uint8_t *copy = malloc(len ? len : 1);
	const char *bad;
	struct wire_msg m, p;
	uint8_t again[ENG_HDR_MAX];
	bool plain;
	uint64_t sum = 0;
	unsigned i;

	WIRE_CHECK(copy);
	memcpy(copy, hdr, len);
	memset(&m, 0xa5, sizeof(m));
	bad = wire_parse(copy, len, payload, &m);
	plain = wire_parse_fast(copy, len, payload, &p);
	free(copy);
	/* The short cut agrees with the way round. */
	WIRE_CHECK(!plain || !bad);
	if (plain)
		WIRE_CHECK(m.op == WIRE_EAGER && p.flags == m.flags && p.len == m.len &&
			   p.tag == m.tag && p.data == m.data && !m.ctx);
	else if (!bad && m.op == WIRE_EAGER)
		WIRE_CHECK(m.ctx || (m.flags & WIRE_F_ANSWERED));
	if (bad)
		return 0;
	WIRE_CHECK(wire_put(again, &m) == len && !memcmp(again, hdr, len));
	WIRE_CHECK(m.op > WIRE_NONE && m.op < WIRE_OP_CNT && m.len <= WIRE_LEN_MAX);
	WIRE_CHECK(strcmp(wire_op_name(m.op), "?"));
	switch (m.op) {
	case WIRE_EAGER:
		WIRE_CHECK(m.len == payload);
		break;
	case WIRE_DATA:
		WIRE_CHECK(m.len == payload && m.off + m.len <= WIRE_LEN_MAX);
		break;
	case WIRE_NACK:
		WIRE_CHECK(m.err > 0 && m.err < WIRE_ERR_MAX);
		break;
	case WIRE_READ:
	case WIRE_WRITE:
	case WIRE_ATOMIC:
		WIRE_CHECK(m.rma_cnt >= 1 && m.rma_cnt <= WIRE_RMA_MAX);
		for (i = 0; i < m.rma_cnt; i++) {
			WIRE_CHECK(m.rma[i].len <= WIRE_LEN_MAX - sum);
			sum += m.rma[i].len;
		}
		WIRE_CHECK(m.op == WIRE_ATOMIC || sum == m.len);
		break;
	default:
		WIRE_CHECK(!payload);
	}
	return 1;
}

#endif
