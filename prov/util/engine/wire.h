/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - every packet of the engine, and the one gate they pass.
 *
 * A packet is a header followed by a payload; the link carries both and says
 * how long each is.  All numbers are little endian and of fixed width.  Each
 * header begins with struct wire_base, 16 bytes; optional words follow in the
 * order in which they are listed below, then the fixed part of the operation.
 *
 *   op      words           fixed part          payload
 *   EAGER   [tag] [data]    -                   the message, base.len bytes
 *   RTS     [tag] [data]    -                   none; base.len is what is announced
 *   CTS     -               struct wire_cts     none; base.len is what is wanted
 *   DATA    -               struct wire_data    base.len bytes
 *   ACK     -               -                   none
 *   NACK    -               struct wire_nack    none
 *   SHARE   -               struct wire_share   none; base.len is what is to be copied
 *   XOFF    -               -                   none
 *   XON     -               -                   none
 *   READ    -               n wire_rma          none; base.len bytes are asked for
 *   WRITE   [data] [total]  n wire_rma          base.len bytes; announced: none, and one wire_rma
 *   ATOMIC  [data]          wire_atomic, n rma  operands
 *
 * An id names a request of the side that made it up; the other side returns it
 * and can do nothing else with it.  See ids.h.
 */
#ifndef ENG_WIRE_H
#define ENG_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/link.h"

/* Links exchange both when they connect.  tests/wire has the rule for a change. */
#define WIRE_VERSION 5
#define WIRE_OLDEST 4		/* that is spoken, too */

enum wire_op {
	WIRE_NONE,
	WIRE_EAGER,	/* a message with its payload; id: sender's, if an ACK is wanted */
	WIRE_RTS,	/* a message is announced; id: sender's */
	WIRE_CTS,	/* send it; id: sender's from the RTS, cts.rx_id: receiver's */
	WIRE_DATA,	/* a piece; id: of the request that waits for it */
	WIRE_ACK,	/* WIRE_F_MATCHED or WIRE_F_DELIVERED; id: sender's */
	WIRE_NACK,	/* the request cannot be served; id: sender's, nack.err says why */
	WIRE_XOFF,	/* announce everything from now on; the receiver's memory is short */
	WIRE_XON,	/* no more need to */
	WIRE_READ,	/* id: initiator's, names where DATA goes; of 0 bytes: wants an ACK */
	WIRE_WRITE,	/* a piece of a write; id: initiator's, for ACK and NACK */
	WIRE_ATOMIC,	/* id: initiator's, for DATA, ACK and NACK */
	WIRE_SHARE,	/* the payload, memory of a device; id: of the request that waits for it */
	WIRE_OP_CNT
};

/* base.ctx: the library's own receive context (oob.h); messages for it carry both words */
#define WIRE_CTX_OOB 0xffff

/* Questions (query.h), from WIRE_ASKS on: messages for that context whose tag is the question's number and whose
 * data word is one of these; the lowest byte of a question's says by how many peers it may be passed on.
 */
#define WIRE_ASKS 5
#define WIRE_Q_ASK UINT64_C(0x60000000)		/* no payload */
#define WIRE_Q_ANSWER UINT64_C(0x70000000)	/* struct wire_answer; a later version may have more behind it */

/* base.flags */
#define WIRE_F_TAG 0x01		/* a tag word follows; a message without is untagged */
#define WIRE_F_DATA 0x02	/* a completion data word follows */
#define WIRE_F_MATCHED 0x04	/* EAGER, RTS: ACK wanted when matched; ACK: it is */
#define WIRE_F_DELIVERED 0x08	/* EAGER, RTS, WRITE, ATOMIC: ACK wanted when in place; ACK: it is */
#define WIRE_F_LAST 0x10	/* WRITE: last piece; lists all ranges, those done with length 0 */
#define WIRE_F_ARRIVED 0x10	/* EAGER: ACK wanted when it has come, matched or not; ACK: it has */
#define WIRE_F_TOTAL 0x20	/* WRITE: last piece, which is not all; a word with the whole length follows */
#define WIRE_F_SHARE 0x40	/* RTS, announced WRITE: the payload is memory of a device that the
				 * receiver may open; CTS: it will; ACK: it has copied it;
				 * READ: the initiator would open the target's */
#define WIRE_F_ANNOUNCED 0x80	/* WRITE: without its payload, for which the target sends a CTS */

/* EAGER: with one of them the sender waits for an answer, and base.id names what for */
#define WIRE_F_ANSWERED (WIRE_F_MATCHED | WIRE_F_DELIVERED | WIRE_F_ARRIVED)

struct wire_base {
	uint8_t op;
	uint8_t flags;
	uint16_t ctx;		/* receive context that is addressed; 0 without scalable endpoints */
	uint32_t id;
	uint64_t len;
} __attribute__((packed));

struct wire_cts {
	uint32_t rx_id;		/* what DATA is to carry as its id */
	uint32_t zero;
} __attribute__((packed));

struct wire_data {
	uint64_t off;		/* of this piece in the message */
} __attribute__((packed));

struct wire_nack {
	uint32_t err;		/* positive FI_E* */
	uint32_t zero;
} __attribute__((packed));

struct wire_rma {
	uint64_t addr;
	uint64_t len;		/* bytes; ATOMIC: elements */
	uint64_t key;
};

struct wire_atomic {
	uint8_t kind;		/* enum wire_atomic_kind */
	uint8_t op;		/* enum fi_op */
	uint8_t type;		/* enum fi_datatype */
	uint8_t zero[5];
} __attribute__((packed));

/* An allocation of a device and the payload in it (hmem/share.h). */
struct wire_share {
	uint32_t tx_id;		/* for the answer: ACK, NACK, or CTS: send it as DATA */
	uint32_t iface;		/* enum fi_hmem_iface */
	uint64_t proc;
	uint64_t id;
	uint64_t base;
	uint64_t alloc;		/* bytes of the allocation */
	uint64_t off;		/* of the payload in it */
	char handle[64];
} __attribute__((packed));

/* What a process waits for.  Texts end with NUL. */
enum wire_wait_kind {
	WIRE_WAIT_RECV = 1,	/* a message of the peer at @addr; "": of any */
	WIRE_WAIT_SEND = 2,	/* that peer's receive for a message */
	WIRE_WAIT_TAGGED = 4,	/* with one of these: @tag is valid */
};

struct wire_wait {
	uint64_t tag;
	uint64_t len;
	uint64_t id;		/* of the operation; a later one may have the same */
	uint8_t kind;		/* enum wire_wait_kind */
	uint8_t zero[7];
	char addr[128];
};

#define WIRE_WAITS_MAX 4

struct wire_answer {
	uint32_t pid;
	uint32_t rank;		/* of a parallel job; UINT32_MAX: none */
	uint32_t cnt;		/* waits that follow */
	uint32_t more;		/* .. that do not */
	char host[64];
	char command[32];
	char addr[128];		/* of the endpoint */
	struct wire_wait wait[WIRE_WAITS_MAX];
};

enum wire_atomic_kind {
	WIRE_AMO_BASE,		/* payload: operands; nothing comes back */
	WIRE_AMO_FETCH,		/* payload: operands; the old values come back as DATA */
	WIRE_AMO_COMPARE,	/* payload: operands, then as many comparands */
	WIRE_AMO_KINDS
};

#define WIRE_RMA_MAX 8

_Static_assert(sizeof(struct wire_base) == 16, "wire layout");
_Static_assert(sizeof(struct wire_cts) == 8, "wire layout");
_Static_assert(sizeof(struct wire_data) == 8, "wire layout");
_Static_assert(sizeof(struct wire_nack) == 8, "wire layout");
_Static_assert(sizeof(struct wire_share) == 112, "wire layout");
_Static_assert(sizeof(struct wire_rma) == 24, "wire layout");
_Static_assert(sizeof(struct wire_wait) == 160, "wire layout");
_Static_assert(sizeof(struct wire_answer) == 880, "wire layout");
_Static_assert(sizeof(struct wire_atomic) == 8, "wire layout");
_Static_assert(sizeof(struct wire_base) + 16 + sizeof(struct wire_atomic) +
	       WIRE_RMA_MAX * sizeof(struct wire_rma) <= ENG_HDR_MAX,
	       "the longest header fits a packet");

/* Longest message that can be announced; FI_E* errors pass as numbers below
 * WIRE_ERR_MAX.
 */
#define WIRE_LEN_MAX INT64_MAX
#define WIRE_ERR_MAX 1024

/* A packet that has passed the gate, in host order.  The published formats of prov/util/foreign have it, too,
 * as what their packets mean.
 */
struct wire_msg {
	enum wire_op op;
	uint8_t flags;
	uint16_t ctx;
	uint32_t id;
	uint64_t len;
	uint64_t tag;		/* 0 without WIRE_F_TAG */
	uint64_t data;		/* 0 without WIRE_F_DATA */
	uint64_t off;		/* DATA */
	uint64_t total;		/* last WRITE: bytes of the whole operation */
	uint32_t rx_id;		/* CTS */
	uint32_t err;		/* NACK */
	struct wire_atomic amo;	/* ATOMIC */
	struct wire_share share;	/* SHARE: host order */
	uint16_t rma_cnt;	/* READ, WRITE, ATOMIC: 1 .. WIRE_RMA_MAX */
	struct wire_rma rma[WIRE_RMA_MAX];	/* host order; not filled for other ops */
};

/* wire_parse - check one packet and take it apart.
 *
 * @hdr, @hdr_len: the engine's header as it came, any alignment
 * @payload:       length of the payload that the link announces with it
 * @out:           [out] valid only on NULL; members of other ops are undefined
 *
 * Returns NULL when the packet is well formed, else what is wrong with it, for
 * the log.  What it checks is form: lengths that agree, flags and words that
 * belong to the operation, sums that do not overflow.  Whether an id or key
 * exists is checked where it is looked up.
 * Ownership: reads @hdr only.  Threading: any.  Errors: none.
 */
const char *wire_parse(const uint8_t *hdr, size_t hdr_len, size_t payload,
		       struct wire_msg *out);

static inline unsigned wire_fast_words(unsigned flags)
{
	return (flags & 1u) + (flags >> 1 & 1u);	/* WIRE_F_TAG, WIRE_F_DATA */
}

/* wire_fast_len - length of an EAGER's header, by WIRE_F_TAG and WIRE_F_DATA of @flags. */
static inline size_t wire_fast_len(unsigned flags)
{
	return sizeof(struct wire_base) + 8 * wire_fast_words(flags);
}

/* wire_parse_fast - the same for the commonest packet alone: an EAGER message of
 * receive context 0 that wants no answer.
 *
 * Returns true if it is one and well formed; then op is not set in @out, the rest
 * is as wire_parse() has it.  False says nothing: ask wire_parse().
 */
static inline bool wire_parse_fast(const uint8_t *hdr, size_t hdr_len, size_t payload,
				   struct wire_msg *out)
{
	const struct wire_base *base = (const struct wire_base *) hdr;
	uint64_t word[2] = { 0, 0 };
	unsigned words;		/* tag, data */
	uint32_t what;

	if (hdr_len >= wire_fast_len(WIRE_F_TAG) && le64toh(base->len) == payload && payload <= WIRE_LEN_MAX) {
		__builtin_memcpy(&what, hdr, sizeof(what));
		__builtin_memcpy(&word[0], hdr + sizeof(*base), sizeof(*word));
		out->len = payload;
		out->tag = le64toh(word[0]);
		/* with a tag alone, or with data, as most are */
		if (hdr_len == wire_fast_len(WIRE_F_TAG) && what == htole32(WIRE_EAGER | WIRE_F_TAG << 8)) {
			out->flags = WIRE_F_TAG;
			out->data = 0;
			return true;
		}
		if (hdr_len == wire_fast_len(WIRE_F_TAG | WIRE_F_DATA) &&
		    what == htole32(WIRE_EAGER | (WIRE_F_TAG | WIRE_F_DATA) << 8)) {
			__builtin_memcpy(&word[1], hdr + sizeof(*base) + sizeof(*word), sizeof(*word));
			out->flags = WIRE_F_TAG | WIRE_F_DATA;
			out->data = le64toh(word[1]);
			return true;
		}
	}
	if (hdr_len < sizeof(*base) || base->op != WIRE_EAGER ||
	    (base->flags & ~(WIRE_F_TAG | WIRE_F_DATA)) || base->ctx)
		return false;
	words = wire_fast_words(base->flags);
	if (hdr_len != wire_fast_len(base->flags) ||
	    le64toh(base->len) != payload || payload > WIRE_LEN_MAX)
		return false;
	if (words)
		__builtin_memcpy(&word[0], hdr + sizeof(*base), sizeof(*word));
	if (words > 1)
		__builtin_memcpy(&word[1], hdr + sizeof(*base) + sizeof(*word), sizeof(*word));
	out->flags = base->flags;
	out->len = payload;
	out->tag = base->flags & WIRE_F_TAG ? le64toh(word[0]) : 0;
	out->data = base->flags & WIRE_F_DATA ? le64toh(word[words - 1]) : 0;
	return true;
}

/* wire_is_fast - does this look like such a packet?  Nothing else of it has been checked. */
static inline bool wire_is_fast(const uint8_t *hdr, size_t hdr_len)
{
	uint32_t what = 0;

	if (hdr_len >= sizeof(what))
		__builtin_memcpy(&what, hdr, sizeof(what));
	return (what & ~htole32((WIRE_F_TAG | WIRE_F_DATA) << 8)) == htole32(WIRE_EAGER);
}

/* wire_put - the reverse of wire_parse(): write the header of @msg, at most ENG_HDR_MAX bytes.
 * Members of other operations are not looked at.
 * Returns its length.
 */
size_t wire_put(uint8_t *hdr, const struct wire_msg *msg);

/* wire_op_name - "EAGER", ...; "?" for what is none. */
const char *wire_op_name(unsigned op);

/* ---- writing headers ------------------------------------------------------ */

/* wire_put_base - the first 16 bytes.  Returns the length so far. */
static inline size_t wire_put_base(uint8_t *hdr, enum wire_op op, uint8_t flags,
				   uint16_t ctx, uint32_t id, uint64_t len)
{
	/* op, flags, ctx, id, as one word: it is soon read again as one */
	uint64_t word = htole64(op | (uint64_t) flags << 8 | (uint64_t) ctx << 16 |
				(uint64_t) id << 32);

	len = htole64(len);
	__builtin_memcpy(hdr, &word, sizeof(word));
	__builtin_memcpy(hdr + sizeof(word), &len, sizeof(len));
	return sizeof(struct wire_base);
}

/* wire_put_id - the id of a header that has none yet. */
static inline void wire_put_id(uint8_t *hdr, uint32_t id)
{
	id = htole32(id);
	__builtin_memcpy(hdr + offsetof(struct wire_base, id), &id, sizeof(id));
}

/* wire_put_word - append a tag, data or offset word at @at.  Returns the new length. */
static inline size_t wire_put_word(uint8_t *hdr, size_t at, uint64_t word)
{
	word = htole64(word);
	__builtin_memcpy(hdr + at, &word, sizeof(word));
	return at + sizeof(word);
}

/* wire_put_pair - append the two 32-bit fields of a CTS or NACK. */
static inline size_t wire_put_pair(uint8_t *hdr, size_t at, uint32_t first)
{
	return wire_put_word(hdr, at, first);
}

/* wire_put_share - append an allocation. */
static inline size_t wire_put_share(uint8_t *hdr, size_t at, const struct wire_share *share)
{
	struct wire_share wire = {
		.tx_id = htole32(share->tx_id), .iface = htole32(share->iface),
		.proc = htole64(share->proc), .id = htole64(share->id),
		.base = htole64(share->base), .alloc = htole64(share->alloc),
		.off = htole64(share->off),
	};

	__builtin_memcpy(wire.handle, share->handle, sizeof(wire.handle));
	__builtin_memcpy(hdr + at, &wire, sizeof(wire));
	return at + sizeof(wire);
}

/* wire_put_rma - append one remote range. */
static inline size_t wire_put_rma(uint8_t *hdr, size_t at, uint64_t addr,
				  uint64_t len, uint64_t key)
{
	at = wire_put_word(hdr, at, addr);
	at = wire_put_word(hdr, at, len);
	return wire_put_word(hdr, at, key);
}

#endif
