/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "xpu/ring.h"

#include <rdma/fi_eq.h>
#include <string.h>

_Static_assert(sizeof(struct fi_xpu_ring_record) == 128, "a record is two cache lines");
_Static_assert(sizeof(struct fi_xpu_ring_entry) == 128, "an entry is two cache lines");
_Static_assert(sizeof(struct fi_cq_err_entry) <=
	       sizeof(((struct fi_xpu_ring_entry *) 0)->words), "an error entry fits");

/* What threads of different sides write lies in lines of its own. */
#define AT_TAIL 64
#define AT_HEAD 128
#define AT_SLOTS 256

/* ---- records ------------------------------------------------------------- */

size_t xpu_ring_bytes(size_t records)
{
	return AT_SLOTS + records * sizeof(struct fi_xpu_ring_record);
}

void xpu_ring_init(struct xpu_ring *ring, void *host, uint64_t dev, size_t records, uint64_t start)
{
	char *at = host;

	ring->shown = host;
	ring->tail = (uint64_t *) (void *) (at + AT_TAIL);
	ring->head = (uint64_t *) (void *) (at + AT_HEAD);
	ring->records = (const struct fi_xpu_ring_record *) (void *) (at + AT_SLOTS);
	ring->mask = records - 1;
	ring->next = start;
	*ring->tail = start;
	*ring->head = start;
	ring->shown->tail = (uint64_t *) (uintptr_t) (dev + AT_TAIL);
	ring->shown->head = (uint64_t *) (uintptr_t) (dev + AT_HEAD);
	ring->shown->records = (struct fi_xpu_ring_record *) (uintptr_t) (dev + AT_SLOTS);
	ring->shown->mask = ring->mask;
}

static void ring_step(struct xpu_ring *ring)
{
	ring->next++;
	__atomic_store_n(ring->head, ring->next, __ATOMIC_RELEASE);
}

bool xpu_ring_take(struct xpu_ring *ring, struct fi_xpu_ring_record *rec)
{
	const struct fi_xpu_ring_record *from = &ring->records[ring->next & ring->mask];

	if (__atomic_load_n(&from->valid, __ATOMIC_ACQUIRE) != ring->next + 1)
		return false;
	fi_xpu_ring_copy(rec, &from->valid, sizeof(*rec));
	ring_step(ring);
	return true;
}

bool xpu_ring_started(const struct xpu_ring *ring)
{
	uint64_t tail = __atomic_load_n(ring->tail, __ATOMIC_ACQUIRE) & ~FI_XPU_RING_CLOSED;

	/* more than fit were not reserved by the calls of fi_xpu_device.h */
	return tail - ring->next - 1 <= ring->mask;
}

void xpu_ring_skip(struct xpu_ring *ring)
{
	ring_step(ring);
}

void xpu_ring_close(struct xpu_ring *ring)
{
	__atomic_fetch_or(ring->tail, FI_XPU_RING_CLOSED, __ATOMIC_ACQ_REL);
}

/* ---- completions ---------------------------------------------------------- */

size_t xpu_out_bytes(size_t entries)
{
	return AT_SLOTS + entries * sizeof(struct fi_xpu_ring_entry);
}

void xpu_out_init(struct xpu_out *out, void *host, uint64_t dev, size_t entries,
		  size_t entry_size, uint64_t start)
{
	char *at = host;

	out->shown = host;
	out->head = (uint64_t *) (void *) (at + AT_HEAD);
	out->entries = (struct fi_xpu_ring_entry *) (void *) (at + AT_SLOTS);
	out->mask = entries - 1;
	out->next = start;
	*out->head = start;
	out->shown->head = (uint64_t *) (uintptr_t) (dev + AT_HEAD);
	out->shown->entries = (struct fi_xpu_ring_entry *) (uintptr_t) (dev + AT_SLOTS);
	out->shown->mask = out->mask;
	out->shown->entry_size = entry_size;
}

size_t xpu_out_room(const struct xpu_out *out)
{
	uint64_t used = out->next - __atomic_load_n(out->head, __ATOMIC_ACQUIRE);

	/* an index that a device cannot have reached leaves no room */
	return used > out->mask ? 0 : (size_t) (out->mask + 1 - used);
}

void xpu_out_put(struct xpu_out *out, bool err, uint64_t src, const void *entry, size_t len)
{
	struct fi_xpu_ring_entry *to = &out->entries[out->next & out->mask];
	uint64_t word;
	size_t i;

	/* A reader of the entry that was here may still copy it, before its swap tells it that it is
	 * too late.
	 */
	for (i = 0; i < len / sizeof(word); i++) {
		memcpy(&word, (const char *) entry + i * sizeof(word), sizeof(word));
		__atomic_store_n(&to->words[i], word, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&to->err, err, __ATOMIC_RELAXED);
	__atomic_store_n(&to->src, src, __ATOMIC_RELAXED);
	__atomic_store_n(&to->valid, ++out->next, __ATOMIC_RELEASE);
}
