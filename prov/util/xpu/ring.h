/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ring.h - the library's side of the rings of rdma/fi_xpu_ring.h.  Pure: no locks, no clock.
 *
 * What lies in a ring is memory that a device may change at any time.  A record is copied out once,
 * and of an index that a device writes no more is used than is possible.
 */
#ifndef XPU_RING_H
#define XPU_RING_H

#include <rdma/fi_xpu_ring.h>
#include <stdbool.h>
#include <stddef.h>

/* Records of an endpoint, taken by one thread. */
struct xpu_ring {
	struct fi_xpu_ring_ep *shown;	/* what the handle points to */
	uint64_t *tail, *head;
	const struct fi_xpu_ring_record *records;
	uint64_t mask;
	uint64_t next;			/* index of the record to take */
};

/* xpu_ring_bytes - of memory for @records, a power of two. */
size_t xpu_ring_bytes(size_t records);

/* xpu_ring_init - lay a ring out.
 *
 * @host, @dev: the same memory, zeroed, as the library and as the device see it
 * @start:      the first index
 */
void xpu_ring_init(struct xpu_ring *ring, void *host, uint64_t dev, size_t records,
		   uint64_t start);

/* xpu_ring_take - copy the next record out and free its place; false: it is not complete. */
bool xpu_ring_take(struct xpu_ring *ring, struct fi_xpu_ring_record *rec);

/* xpu_ring_started - is there a record that is reserved and not taken?  After xpu_ring_take() has
 * said false, such a record is not complete yet.
 */
bool xpu_ring_started(const struct xpu_ring *ring);

/* xpu_ring_skip - pass over a record that is never completed. */
void xpu_ring_skip(struct xpu_ring *ring);

/* xpu_ring_close - no record is reserved from now on. */
void xpu_ring_close(struct xpu_ring *ring);

/* Completions for a device, written by one thread. */
struct xpu_out {
	struct fi_xpu_ring_cq *shown;	/* what the handle points to */
	uint64_t *head;
	struct fi_xpu_ring_entry *entries;
	uint64_t mask;
	uint64_t next;			/* index of the entry to write */
};

size_t xpu_out_bytes(size_t entries);
void xpu_out_init(struct xpu_out *out, void *host, uint64_t dev, size_t entries,
		  size_t entry_size, uint64_t start);

/* xpu_out_room - entries that can be written now. */
size_t xpu_out_room(const struct xpu_out *out);

/* xpu_out_put - write an entry; xpu_out_room() is not 0.
 *
 * @err:         it is an error entry
 * @src:         address of the source as the device passes it, or UINT64_MAX
 * @entry, @len: a multiple of 8 bytes
 */
void xpu_out_put(struct xpu_out *out, bool err, uint64_t src, const void *entry, size_t len);

#endif
