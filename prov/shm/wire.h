/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - what two processes share: the handshake, and the layout of a segment.
 *
 * Both sides run on one machine, so numbers have its byte order.
 *
 * A segment is the memory of one direction.  The receiver makes it, so that it lies
 * where the receiver runs, and hands the descriptor to the sender.  The sender writes
 * slots and data, the receiver writes struct shm_ctl_rx.
 *
 * A slot is one cache line.  Its first word is written last:
 *
 *   bits  0..15  lap: 1 in the first turn through the ring, then 2, and so on
 *   bits 16..23  kind, SHM_SKIP
 *   bits 24..31  hdr_len
 *   bits 32..63  len
 *
 *   kind    body of the slot              data ring             hdr_len  len
 *   SHORT   header, payload               -                     header   payload
 *   DATA    header                        payload               header   payload
 *   FIRST   u64 whole payload, header     first piece           header   piece
 *   MORE    -                             next piece            0        piece
 *   PULL    struct shm_pull_hdr, ranges,  the same, if it does  header   payload
 *           header, if that fits          not fit the slot
 *   DONE    up to SHM_DONE_MAX ids        -                     0        how many
 *   STALL   -                             -                     0        0
 *   FLUSH   -                             -                     0        0
 *   SHARE   -                             -                     0        0
 *
 * The header of a DATA or FIRST that does not fit the body is in the data ring, before the payload.
 *
 * Data follows the data of the slot before, at the next multiple of a line; with SHM_SKIP,
 * at the beginning of the data ring.  It never wraps.  PULL leaves
 * the payload where it is; the receiver reads it from the sender's memory and answers
 * DONE.  STALL: the sender waits for room, and is to be woken when the receiver has
 * taken this slot.  FLUSH: the sender is about to close, so the receiver is to read now
 * the payload of PULLs that no receive has matched yet.  SHARE: the sender writes or reads
 * a region of the receiver's, and the receiver may copy a part of it; see split.h.
 */
#ifndef SHM_WIRE_H
#define SHM_WIRE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/handshake.h"
#include "engine/link.h"

#define SHM_LINE 64
#define SHM_SLOTS 256			/* a power of two */
#define SHM_BODY (SHM_LINE - 8)		/* bytes of a slot behind its word */
#define SHM_DATA_SIZE (128u << 10)	/* of the data ring; a power of two */
#define SHM_PIECE_MAX (32u << 10)	/* payload of one slot in the data ring */
#define SHM_PULLS 64			/* PULL packets without a DONE, at most */
#define SHM_DONE_MAX (SHM_BODY / 4)	/* ids in one DONE */
#define SHM_PAYLOAD_MAX (1u << 30)	/* of one packet */
#define SHM_PAGE 4096
#define SHM_LEASES 64			/* of one connection and direction */
#define SHM_LEASE_WAYS 4		/* places where the lease of a key may be */

enum shm_kind {
	SHM_NONE,
	SHM_SHORT,
	SHM_DATA,
	SHM_FIRST,
	SHM_MORE,
	SHM_PULL,
	SHM_DONE,
	SHM_STALL,
	SHM_FLUSH,
	SHM_SHARE,
	SHM_KINDS
};

#define SHM_SKIP 0x80		/* in the kind's byte */

/* Values of shm_ctl_rx.asleep that are no sleep: flags of a receiver that polls, and that it has closed.
 * SHM_RINGS: it looks at this ring when its bell rings.  SHM_FENCES: it will not make the sender's
 * barrier when it goes to sleep, so the sender makes one after it has published and reads this again.
 */
#define SHM_RINGS 1
#define SHM_FENCES 2
#define SHM_AWAKE (SHM_RINGS | SHM_FENCES)
#define SHM_CLOSED UINT32_MAX

#define SHM_BELLS (16u << 10)		/* of one receiver */

struct shm_slot {
	_Atomic uint64_t word;
	uint8_t body[SHM_BODY];
};

/* Written by the receiver, read by the sender. */
struct shm_ctl_rx {
	_Alignas(SHM_LINE) _Atomic uint64_t slots_done;	/* slots that may be used again */
	_Atomic uint64_t bytes_done;			/* of the data ring, skipped ones included */
	_Atomic uint32_t pulling;			/* it reads payload that a PULL named */
	_Alignas(SHM_LINE) _Atomic uint32_t asleep;	/* it polls: flags of SHM_AWAKE; else wake it, once per value */
	_Atomic uint32_t can_read;			/* it can read the sender's memory */
	_Atomic uint32_t leased;			/* there is or was something in leases */
};

/* Written by the sender, read by the receiver. */
struct shm_ctl_tx {
	_Alignas(SHM_LINE) _Atomic uint32_t gone;	/* the buffers that PULLs named are no longer valid */
	_Atomic uint32_t can_write;			/* it can access the receiver's memory */
	_Alignas(SHM_LINE) _Atomic uint32_t inside;	/* index of the lease in use, plus 1 */
};

enum {
	SHM_LEASE_READ = 1 << 0,
	SHM_LEASE_WRITE = 1 << 1,
	SHM_LEASE_COUNTED = 1 << 2,	/* each write needs a notice: it is counted */
};

/* A region of the receiver's that the sender may access without the receiver's progress;
 * see rma.h.  Written by the receiver.
 */
struct shm_lease {
	_Alignas(SHM_LINE) _Atomic uint64_t stamp;	/* 0: no lease */
	_Atomic uint64_t key;
	_Atomic uint64_t base;		/* address of its first byte in RMA calls */
	_Atomic uint64_t len;
	_Atomic uint64_t addr;		/* of the first byte in the receiver's memory */
	_Atomic uint32_t rights;	/* SHM_LEASE_* */
};

/* shm_lease_first - the first of SHM_LEASE_WAYS places where the lease of @key may be. */
static inline unsigned shm_lease_first(uint64_t key)
{
	return (unsigned) (key * UINT64_C(0x9e3779b97f4a7c15) >> 60) % (SHM_LEASES / SHM_LEASE_WAYS) *
	       SHM_LEASE_WAYS;
}

/* A copy that both processes make; see split.h.  Its owner is the one that copies from the front. */
struct shm_split {
	/* written by the owner; the other one takes pieces in word */
	_Alignas(SHM_LINE) _Atomic uint64_t word;	/* number; pieces taken: front, back */
	_Atomic uint64_t addr;		/* of a message: the owner's buffer; of an access: the other one's */
	_Atomic uint64_t len;
	_Atomic uint32_t id;		/* of the PULL whose payload it is; of an access: 1 for a write, 0 for a read */
	_Atomic uint64_t owner_addr;	/* of an access: the owner's buffer */
	/* written by the other one */
	_Atomic uint64_t done;		/* number, pieces copied from the back */
};
_Static_assert(sizeof(struct shm_split) == SHM_LINE, "a split copy is one line");

struct shm_seg {
	struct shm_ctl_rx rx;
	struct shm_ctl_tx tx;
	struct shm_split split;		/* the receiver's, of a message */
	struct shm_split access;	/* the sender's, of a write or a read */
	_Alignas(SHM_LINE) struct shm_slot slots[SHM_SLOTS];
	_Alignas(SHM_LINE) uint8_t data[SHM_DATA_SIZE];
	/* a separate page, which most connections never touch */
	_Alignas(SHM_PAGE) struct shm_lease leases[SHM_LEASES];
};

/* By which a receiver that polls learns which of its rings to look at, if it has many: a byte for each,
 * which the sender sets after it has published, and the receiver clears before it looks.
 */
union shm_bells {
	_Atomic uint8_t bell[SHM_BELLS];
	_Atomic uint64_t group[SHM_BELLS / 8];
};

/* Before the ranges of a PULL. */
struct shm_pull_hdr {
	uint32_t id;		/* returned in DONE */
	uint32_t cnt;		/* ranges, 1 .. ENG_IOV_MAX; their lengths add up to len */
};

struct shm_range {
	uint64_t addr;
	uint64_t len;
};

/* Bytes before the header of a PULL with @cnt ranges, and the longest PULL. */
#define SHM_PULL_SIZE(cnt) (sizeof(struct shm_pull_hdr) + (cnt) * sizeof(struct shm_range))
#define SHM_PULL_MAX (SHM_PULL_SIZE(ENG_IOV_MAX) + ENG_HDR_MAX)

_Static_assert(sizeof(struct shm_slot) == SHM_LINE, "a slot is one line");
_Static_assert(sizeof(struct shm_lease) == SHM_LINE, "a lease is one line");
_Static_assert(sizeof(struct shm_ctl_rx) == 2 * SHM_LINE, "two lines: counters, and flags");
_Static_assert(SHM_PULL_MAX <= SHM_PIECE_MAX && ENG_HDR_MAX + SHM_PIECE_MAX <= SHM_DATA_SIZE / 2,
	       "whatever fits half a ring fits an empty one, wherever it begins");

/* ---- slot words ---------------------------------------------------------------------- */

/* shm_turn - the low bits of the word of slot number @pos, counted from the first ever. */
static inline uint16_t shm_turn(uint64_t pos)
{
	return (uint16_t) (pos / SHM_SLOTS + 1);
}

static inline uint64_t shm_word(uint64_t pos, unsigned kind, size_t hdr_len, size_t len)
{
	return shm_turn(pos) | (uint64_t) kind << 16 |
	       (uint64_t) hdr_len << 24 | (uint64_t) len << 32;
}

/* shm_word_is - does @word belong to slot number @pos? */
static inline int shm_word_is(uint64_t word, uint64_t pos)
{
	return (uint16_t) word == shm_turn(pos);
}

/* ---- handshakes ---------------------------------------------------------------------- */

#define SHM_MAGIC 0x6d685330u	/* "0Shm" */
#define SHM_VERSION 11
#define SHM_OLDEST SHM_VERSION	/* others are refused: both processes run on one host */
#define SHM_RANGED 10		/* the first whose handshake says the oldest, and the release */
#define SHM_ADDR_MAX 240	/* address of an endpoint */

enum shm_handshake_type {
	SHM_REQUEST = 1,	/* the connecting side's; with its segment and bells */
	SHM_ACCEPT,		/* with the accepting side's */
	SHM_REFUSE,		/* @reason says why; neither */
};

/* One message on the socket; see handshake.h.  The first SHM_HANDSHAKE_STABLE bytes are the same
 * in all versions, from SHM_RANGED on all before @type.
 */
struct shm_handshake {
	uint32_t magic;
	struct chan_version version;
	uint32_t type;
	uint32_t reason;	/* REFUSE: enum chan_reason */
	uint32_t seg_size;	/* sizeof(struct shm_seg) */
	uint32_t barrier;	/* 1: the sender's process takes part in expedited barriers */
	uint32_t zero;
	struct chan_id id;
	uint64_t probe_addr;	/* where the sender has @probe in its memory */
	uint64_t probe;
	uint16_t addr_len;	/* the sender's own address */
	uint16_t to_len;	/* REQUEST: the address that is connected to */
	uint32_t bell;		/* the peer's among the bells that come with it, plus 1; 0: none come */
	char addr[SHM_ADDR_MAX];
	char to[SHM_ADDR_MAX];
};

/* Magic number, and newest version of link and engine: of these every version has the place. */
#define SHM_HANDSHAKE_STABLE 8
_Static_assert(offsetof(struct shm_handshake, version.link_oldest) == SHM_HANDSHAKE_STABLE, "no holes");
_Static_assert(sizeof(struct shm_handshake) == 88 + 2 * SHM_ADDR_MAX, "no holes");

#endif
