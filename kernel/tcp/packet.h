/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * packet.h - packets of the library's engine.
 *
 * Written by kernel/gen_shared from prov/util/engine/wire.h: do not edit.
 */
#ifndef KOFI_TCP_PACKET_H
#define KOFI_TCP_PACKET_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define ENG_VERSION 5
#define ENG_OLDEST 4		/* that is spoken, too */
enum eng_op {
	ENG_NONE,
	ENG_EAGER,	/* a message with its payload; id: sender's, if an ACK is wanted */
	ENG_RTS,	/* a message is announced; id: sender's */
	ENG_CTS,	/* send it; id: sender's from the RTS, cts.rx_id: receiver's */
	ENG_DATA,	/* a piece; id: of the request that waits for it */
	ENG_ACK,	/* ENG_F_MATCHED or ENG_F_DELIVERED; id: sender's */
	ENG_NACK,	/* the request cannot be served; id: sender's, nack.err says why */
	ENG_XOFF,	/* announce everything from now on; the receiver's memory is short */
	ENG_XON,	/* no more need to */
	ENG_READ,	/* id: initiator's, names where DATA goes; of 0 bytes: wants an ACK */
	ENG_WRITE,	/* a piece of a write; id: initiator's, for ACK and NACK */
	ENG_ATOMIC,	/* id: initiator's, for DATA, ACK and NACK */
	ENG_SHARE,	/* the payload, memory of a device; id: of the request that waits for it */
	ENG_OP_CNT
};

#define ENG_F_DATA 0x02	/* a completion data word follows */
#define ENG_F_DELIVERED 0x08	/* EAGER, RTS, WRITE, ATOMIC: ACK wanted when in place; ACK: it is */
struct eng_base {
	u8 op;
	u8 flags;
	u16 ctx;		/* receive context that is addressed; 0 without scalable endpoints */
	u32 id;
	u64 len;
} __attribute__((packed));

struct eng_data {
	u64 off;		/* of this piece in the message */
} __attribute__((packed));

struct eng_nack {
	u32 err;		/* positive FI_E* */
	u32 zero;
} __attribute__((packed));

struct eng_rma {
	u64 addr;
	u64 len;		/* bytes; ATOMIC: elements */
	u64 key;
};

struct eng_atomic {
	u8 kind;		/* enum eng_atomic_kind */
	u8 op;		/* enum fi_op */
	u8 type;		/* enum fi_datatype */
	u8 zero[5];
} __attribute__((packed));

enum eng_atomic_kind {
	ENG_AMO_BASE,		/* payload: operands; nothing comes back */
	ENG_AMO_FETCH,		/* payload: operands; the old values come back as DATA */
	ENG_AMO_COMPARE,	/* payload: operands, then as many comparands */
	ENG_AMO_KINDS
};

#define ENG_RMA_MAX 8
static_assert(sizeof(struct eng_base) == 16, "wire layout");
static_assert(sizeof(struct eng_data) == 8, "wire layout");
static_assert(sizeof(struct eng_nack) == 8, "wire layout");
#define ENG_ERR_MAX 1024
#endif /* KOFI_TCP_PACKET_H */
