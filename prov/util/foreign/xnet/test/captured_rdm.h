/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * captured_rdm.h - what the connecting process of release 2.6 has sent in a few conversations, and
 * which answer it went on with.  Payload that is not listed is 0.  Frames that its program waited for
 * but the protocol does not are left out, and so are those of the accepting program.
 */
#ifndef FOREIGN_XNET_CAPTURED_RDM_H
#define FOREIGN_XNET_CAPTURED_RDM_H

#include <stdbool.h>
#include <stddef.h>

struct captured_turn {
	const char *hex;	/* NULL: the end */
	size_t size;		/* with payload */
	bool receive, tagged;	/* a message, for which a receive is posted */
	bool event;		/* a write with completion data */
	size_t len;		/* of the completion */
	const char *answer;	/* "": none */
};

#define CAPTURED_ACK "0300000002001000 1000000000000000"
#define CAPTURED_KEY 0xc0de	/* of the region that is read and written, from offset 4 on or 0x444 */

static const struct captured_rdm {
	const char *name;
	struct captured_turn turn[12];
} captured_rdm[] = {
	{ "completion data", {
		{ "030000000000100020000000000000000200b1d37f0000010000000000000000", 32, true, .len = 16, .answer = "" },
		{ "03000100000018000004000000000000efcdab89674523010200b1d37f000001", 1024, true, .len = 1000, .answer = "" },
	} },
	{ "delivery complete", {
		{ "0301040000001800280000000000000000000000000000000200ac9b7f0000010000000000000000", 40, true, true,
		  .len = 16, .answer = CAPTURED_ACK },
		{ "030104000000180018000000000000000100000000000000", 24, true, true, .answer = CAPTURED_ACK },
		{ "03010000000018001c0000000000000002000000000000000200ac9b", 28, true, true, .len = 4, .answer = "" },
		{ "03010000000018001c0000000000000003000000000000000200ac9b", 28, true, true, .len = 4, .answer = "" },
		{ "03010400000018001c0000000000000004000000000000000200ac9b", 28, true, true, .len = 4,
		  .answer = CAPTURED_ACK },
	} },
	{ "tagged, 100000 bytes", {
		{ "0301000000001800280000000000000000000000000000000200a4b97f0000010000000000000000", 40, true, true,
		  .len = 16, .answer = "" },
		{ "030104000000180018000000000000000100000000000000", 24, true, true, .answer = CAPTURED_ACK },
		{ "0301000000001800b88601000000000002000000000000000200a4b97f000001", 100024, true, true,
		  .len = 100000, .answer = "" },
		{ "0301000000001800b88601000000000003000000000000000200a4b97f000001", 100024, true, true,
		  .len = 100000, .answer = "" },
		{ "03010400000018001c0000000000000004000000000000000200a4b9", 28, true, true, .len = 4,
		  .answer = CAPTURED_ACK },
	} },
	{ "tagged, 4 bytes", {
		{ "030100000000180028000000000000000000000000000000020084317f0000010000000000000000", 40, true, true,
		  .len = 16, .answer = "" },
		{ "030104000000180018000000000000000100000000000000", 24, true, true, .answer = CAPTURED_ACK },
		{ "03010000000018001c00000000000000020000000000000002008431", 28, true, true, .len = 4, .answer = "" },
		{ "03010000000018001c00000000000000030000000000000002008431", 28, true, true, .len = 4, .answer = "" },
		{ "03010400000018001c00000000000000040000000000000002008431", 28, true, true, .len = 4,
		  .answer = CAPTURED_ACK },
	} },
	{ "write", {
		{ "030000000000100020000000000000000200a2cb7f0000010000000000000000", 32, true, .len = 16, .answer = "" },
		{ "0300000000001000280000000000000000000000000000003c00060007000000dec0000000000000", 40, true,
		  .len = 24, .answer = "" },
		{ "03000400000010001000000000000000", 16, true, .answer = CAPTURED_ACK },
		{ "03000400000010001000000000000000", 16, true, .answer = CAPTURED_ACK },
		{ "0304000000012800380000000000000004000000000000001000000000000000dec0000000000000000000003c0006"
		  "0007000000dec00000", 56, .answer = "" },
		{ "0304000000012800380000000000000004000000000000001000000000000000dec0000000000000000000003c0006"
		  "0007000000dec00000", 56, .answer = "" },
		{ "0300040000011000140000000000000000000000", 20, true, .len = 4, .answer = CAPTURED_ACK },
	} },
	/* of MSG endpoints, whose frames are the same */
	{ "write with completion data", {
		{ "0300000000001000280000000000000000000000000000000000000000000000dec0000000000000", 40, true,
		  .len = 24, .answer = "" },
		{ "03000400000010001000000000000000", 16, true, .answer = CAPTURED_ACK },
		{ "03040100000130004000000000000000efcdab896745230104000000000000001000000000000000dec00000000000"
		  "00000000000000000000000000dec00000", 64, .event = true, .len = 16, .answer = "" },
		{ "03040100000130004000000000000000efcdab896745230104000000000000001000000000000000dec00000000000"
		  "00000000000000000000000000dec00000", 64, .event = true, .len = 16, .answer = "" },
		{ "0300040000011000140000000000000000000000", 20, true, .len = 4, .answer = CAPTURED_ACK },
	} },
	{ "read", {
		{ "0300000000001000280000000000000000000000000000001a1a1a1a1a1a1a1adec0000000000000", 40, true,
		  .len = 24, .answer = "" },
		{ "03000400000010001000000000000000", 16, true, .answer = CAPTURED_ACK },
		{ "0302000000012800280000000000000044040000000000001000000000000000dec0000000000000", 40,
		  .answer = "03030000000110002000000000000000 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a" },
		{ "0302000000012800280000000000000044040000000000001000000000000000dec0000000000000", 40,
		  .answer = "03030000000110002000000000000000 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a" },
		{ "0300040000011000140000000000000000000000", 20, true, .len = 4, .answer = CAPTURED_ACK },
	} },
};

#endif
