/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cq.h - the completion queue: a ring that grows.
 *
 * Each fi_cq_*_entry is a prefix of the tagged one, so a slot holds a tagged
 * entry, and reading any format copies a prefix.  Errors lie in the ring in
 * their order among the successes.
 *
 * With resource management enabled no completion is ever lost: a full ring
 * doubles.  With FI_RM_DISABLED a ring that is full to the asked size
 * goes to the overrun state, as fi_cq(3) describes.
 */
#ifndef OBJ_CQ_H
#define OBJ_CQ_H

#include <stdbool.h>
#include <string.h>
#include <rdma/fi_cq_time.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/providers/fi_peer.h>

#include "base/lock.h"
#include "hmem/mem.h"
#include "obj/ref.h"
#include "obj/waitset.h"

struct obj_domain;

struct obj_cq_err {
	struct fi_cq_err_entry e;	/* err_data points to @data */
	struct obj_cq_err *next;	/* among the spare ones */
	bool spare;			/* it is one of these, when it is not in use */
	_Alignas(8) char data[];	/* an address, most often */
};

struct obj_cq_slot {
	struct fi_cq_tagged_entry e;
	fi_addr_t src;			/* FI_ADDR_NOTAVAIL if not known */
	struct obj_cq_err *err;		/* not NULL: an error; e is then meaningless */
};
_Static_assert(sizeof(uintptr_t) == sizeof(uint64_t), "all fields of an entry are words");
_Static_assert(sizeof(struct obj_cq_slot) == 64, "one cache line");

struct obj_cq {
	struct fid_cq fid;		/* first: the program's handle */
	struct lock lock;		/* guards the ring and wait.wake.armed */
	struct obj_cq_slot *ring;
	size_t mask;			/* slots - 1 */
	size_t head;			/* next to read; counts up while there are entries; stored atomically, */
	size_t tail;			/* next to write; .. so that emptiness shows without the lock */
	size_t entry_size;		/* bytes of a slot that the program's format shows */
	struct fid_peer_cq *peer;	/* FI_PEER: write there instead; else NULL */
	size_t room;			/* slots that may be used before it grows; 0: overrun,
					 * or each entry goes the slow way, because of @times */
	bool fixed;			/* FI_RM_DISABLED: never grows past the asked size */
	bool overrun;			/* lost one, takes no more */
	bool unlocked;			/* one thread at most uses it, and it has not overrun */
	bool direct;			/* completions may go to a reader that waits for them, past the ring */
	uint8_t reads;			/* that found an entry and made no progress */
	uint64_t dry_at;		/* clock_cycles() of a read that got less than it asked for; 0: none */
	size_t sink_room;		/* entries that go to the fi_cq_read() that is making progress; 0: it is no
					 * more, or there is none: see obj_cq_give() */
	uintptr_t sink_thread;		/* lock_thread() of its thread; both are read without a lock */
	struct obj_wait wait;
	/* up to wait.feed.single lies what a completion needs, in three lines */
	struct obj_ref set_ref;		/* FI_WAIT_SET: to the set */
	size_t sink_asked;		/* entries that such a fi_cq_read() asked for, less what an error has closed */
	char *sink;			/* where they go */
	fi_addr_t *sink_src;		/* the same for fi_cq_readfrom(), else NULL */
	_Atomic unsigned signals;	/* calls of fi_cq_signal() */
	_Atomic unsigned signals_taken;	/* of those, how many a blocking read has answered */
	struct fi_cq_time *times;	/* of the entries in the ring; NULL: not asked for */
	size_t timed_room;		/* what @room would be */
	enum fi_cq_wait_cond wait_cond;
	struct obj_cq_err *spares;	/* for errors when there is no memory, which many errors are about */
	void *spare_mem;
	struct obj_cq_err *shown;	/* owns the err_data last handed out, until the next readerr */
	struct obj_domain *domain;
	struct obj_ref domain_ref;
	struct xpu_cq *xpu;		/* a device reads it; else NULL */
	struct obj_refs refs;		/* endpoints bound to it, poll sets */
};

/* obj_cq_used - entries that have not been read.  Threading: takes the queue's lock. */
size_t obj_cq_used(struct obj_cq *cq);

/* obj_cq_open - fi_cq_open().
 * Errors: -FI_EINVAL, -FI_ENOMEM, -FI_EMFILE; each logged with its cause.
 */
int obj_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		struct fid_cq **cq_p, void *context);

/* obj_cq_time - when what this thread writes next was completed, by a device's clock; 0: only
 * the host's is known.  For a queue with times.
 */
extern __thread uint64_t obj_cq_time;

/* The parts of obj_cq_write() that are not fast: all of it, and its end. */
void obj_cq_write_slow(struct obj_cq *cq, void *context, uint64_t flags, size_t len,
		       void *buf, uint64_t data, uint64_t tag, fi_addr_t src);
void obj_cq_wake_and_leave(struct obj_cq *cq);

static inline void obj_cq_put(char *entry, size_t at, uintptr_t word)
{
	memcpy(entry + at, &word, sizeof(word));
}

/* obj_cq_gives - is this thread just reading the queue, which was empty?  Other threads, which cannot but
 * write by a provider of their own then, use the ring.
 */
static inline bool obj_cq_gives(struct obj_cq *cq)
{
	return __atomic_load_n(&cq->sink_room, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&cq->sink_thread, __ATOMIC_RELAXED) == lock_thread();
}

/* obj_cq_give - hand a success to the program that is just reading an empty queue: the
 * ring would be written and read again.
 */
static inline __attribute__((always_inline)) void
obj_cq_give(struct obj_cq *cq, void *context, uint64_t flags, size_t len, void *buf,
	    uint64_t data, uint64_t tag, fi_addr_t src)
{
	const size_t size = cq->entry_size;
	char *to = cq->sink;

	cq->sink = to + size;
	__atomic_store_n(&cq->sink_room, cq->sink_room - 1, __ATOMIC_RELAXED);
	/* word by word: what is gathered on the stack first would have to settle there */
	if (size > sizeof(struct fi_cq_msg_entry)) {
		if (size == sizeof(struct fi_cq_tagged_entry))
			obj_cq_put(to, offsetof(struct fi_cq_tagged_entry, tag), tag);
		obj_cq_put(to, offsetof(struct fi_cq_tagged_entry, data), data);
		obj_cq_put(to, offsetof(struct fi_cq_tagged_entry, buf), (uintptr_t) buf);
	}
	if (size >= sizeof(struct fi_cq_msg_entry)) {
		obj_cq_put(to, offsetof(struct fi_cq_tagged_entry, len), len);
		obj_cq_put(to, offsetof(struct fi_cq_tagged_entry, flags), flags);
	}
	obj_cq_put(to, 0, (uintptr_t) context);
	if (__builtin_expect(cq->sink_src != NULL, 0))
		*cq->sink_src++ = src;
}

/* obj_cq_write - add a success.
 *
 * @len, @buf, @data, @tag: as the entry's fields; 0 where they mean nothing
 * @src: fi_addr_t of the sender for FI_SOURCE, else FI_ADDR_NOTAVAIL
 *
 * Threading: takes cq->lock; the caller may hold prog->lock.
 * Errors:    none; a CQ that cannot grow for want of memory goes to overrun,
 *            which the program sees and the log says.
 * Cost:      one cache line written.
 */
static inline __attribute__((always_inline)) void
obj_cq_write(struct obj_cq *cq, void *context, uint64_t flags, size_t len, void *buf,
	     uint64_t data, uint64_t tag, fi_addr_t src)
{
	struct obj_cq_slot *slot;

	if (obj_cq_gives(cq)) {
		obj_cq_give(cq, context, flags, len, buf, data, tag, src);
		return;
	}
	/* Calls come last: no register has to be saved across them. */
	if (__builtin_expect(cq->peer || !lock_try(&cq->lock), 0)) {
		obj_cq_write_slow(cq, context, flags, len, buf, data, tag, src);
		return;
	}
	if (__builtin_expect(cq->tail - cq->head >= cq->room, 0)) {
		lock_put(&cq->lock);
		obj_cq_write_slow(cq, context, flags, len, buf, data, tag, src);
		return;
	}
	slot = &cq->ring[cq->tail & cq->mask];
	slot->e.op_context = context;
	slot->e.flags = flags;
	slot->e.len = len;
	slot->e.buf = buf;
	slot->e.data = data;
	slot->e.tag = tag;
	slot->src = src;
	slot->err = NULL;
	__atomic_store_n(&cq->tail, cq->tail + 1, __ATOMIC_RELAXED);
	if (__builtin_expect(atomic_load(&cq->wait.wake.armed), 0))
		obj_cq_wake_and_leave(cq);
	else
		lock_put(&cq->lock);
}

/* obj_cq_err - an entry for an operation that failed with @err (positive), of no known source. */
static inline struct fi_cq_err_entry obj_cq_err(void *context, uint64_t flags, int err)
{
	return (struct fi_cq_err_entry) {
		.op_context = context, .flags = flags, .err = hmem_errno(err),
		.prov_errno = err,
		.src_addr = FI_ADDR_NOTAVAIL,
	};
}

/* obj_cq_write_err - add an error, behind what is there.
 *
 * @entry:    its err_data fields are ignored
 * @err_data: copied; NULL with @size 0 for none
 *
 * Threading: as obj_cq_write().
 */
void obj_cq_write_err(struct obj_cq *cq, const struct fi_cq_err_entry *entry,
		      const void *err_data, size_t size);

/* obj_cq_progress - what fi_cq_read(cq, NULL, 0) does: drive all groups once. */
static inline void obj_cq_progress(struct obj_cq *cq)
{
	obj_feed_poll(&cq->wait.feed);
}

static inline struct obj_cq *obj_cq_of(struct fid_cq *fid)
{
	return container_of(fid, struct obj_cq, fid);
}

#endif
