/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_xpu_ring.h - rings between code of a device and the library: an extension of fi_xpu.h.
 *
 * Programs include fi_xpu_device.h, which uses this.  An endpoint's ring carries records from many
 * device threads to one thread of the library; a queue's ring carries completions back.  A counter
 * is two words.  All of it lies in memory that both sides reach.  Every index counts up for ever
 * and is taken modulo the size of the ring, and the word that makes an element valid is its index
 * plus one, so that an element of an earlier lap is never taken for a new one.
 */
#ifndef FI_XPU_RING_H
#define FI_XPU_RING_H

#include <rdma/fi_errno.h>
#include <rdma/fi_xpu.h>

#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
#include <sched.h>
#include <time.h>
#endif

/* How helpers are emitted: for the device where its compiler distinguishes. */
#if defined(__CUDACC__) || defined(__CUDA__) || defined(__HIP_DEVICE_COMPILE__)
#define FI_XPU_RING_FUNC __attribute__((device)) static inline
#else
#define FI_XPU_RING_FUNC static inline
#endif

/* The provider number of a handle: the low half is the version of what is laid out below, so that
 * code that was compiled for another version does not know the number.
 */
#define FI_XPU_RING_PROV	0x72780001u

/* ---- layout ---------------------------------------------------------------- */

enum fi_xpu_ring_call {
	FI_XPU_RING_SEND,
	FI_XPU_RING_RECV,
	FI_XPU_RING_TSEND,
	FI_XPU_RING_TRECV,
	FI_XPU_RING_READ,
	FI_XPU_RING_WRITE,
	FI_XPU_RING_ATOMIC,
	FI_XPU_RING_FETCH,
	FI_XPU_RING_COMPARE,
	FI_XPU_RING_CALL_CNT
};

/* One call: two cache lines, of which a receive needs the first only. */
struct fi_xpu_ring_record {
	uint64_t valid;		/* index + 1, written last */
	uint32_t call;		/* enum fi_xpu_ring_call */
	uint16_t datatype;	/* enum fi_datatype */
	uint16_t op;		/* enum fi_op */
	uint64_t flags;		/* of the call */
	uint64_t buf;
	uint64_t len;		/* bytes; of an atomic values */
	uint64_t desc;		/* what fi_mr_get_xpu_desc() stored; 0: none */
	uint64_t peer;		/* what fi_av_lookup2() stored; 0: none */
	uint64_t context;
	uint64_t data;		/* for the peer */
	uint64_t addr;		/* remote address, or tag */
	uint64_t key;		/* remote key, or ignored bits of the tag */
	uint64_t result;
	uint64_t result_desc;
	uint64_t compare;
	uint64_t compare_desc;
	uint64_t reserved;
};

/* The index of the next record has this bit once the endpoint is closed. */
#define FI_XPU_RING_CLOSED	(1ULL << 63)

/* What the handle of an endpoint points to; pointers are the device's. */
struct fi_xpu_ring_ep {
	uint64_t *tail;		/* next index: device threads take it by compare and swap */
	uint64_t *head;		/* index of the next record that the library takes */
	struct fi_xpu_ring_record *records;
	uint64_t mask;		/* records - 1 */
};

/* A completion. */
struct fi_xpu_ring_entry {
	uint64_t valid;		/* index + 1, written last */
	uint64_t err;		/* 0: a success */
	uint64_t src;		/* address of the source, or ~0 */
	uint64_t words[13];	/* a struct fi_cq_tagged_entry or fi_cq_err_entry */
};

/* What the handle of a queue points to. */
struct fi_xpu_ring_cq {
	uint64_t *head;		/* index of the next entry: device threads take it by compare and swap */
	struct fi_xpu_ring_entry *entries;
	uint64_t mask;		/* entries - 1 */
	uint64_t entry_size;	/* bytes of an entry as the program reads it */
	uint64_t closed;	/* not 0: nothing more will come */
};

/* What the handle of a counter points to. */
struct fi_xpu_ring_cntr {
	uint64_t value;
	uint64_t err;
	uint64_t closed;	/* not 0: nothing more will be counted */
};

/* ---- memory that both sides reach -------------------------------------------- */

#if defined(__CUDA_ARCH__)

FI_XPU_RING_FUNC uint64_t fi_xpu_ring_load(const uint64_t *p)
{
	uint64_t v;

	__asm__ volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
	return v;
}

FI_XPU_RING_FUNC void fi_xpu_ring_store(uint64_t *p, uint64_t v)
{
	__asm__ volatile("st.release.sys.u64 [%0], %1;" : : "l"(p), "l"(v) : "memory");
}

FI_XPU_RING_FUNC int fi_xpu_ring_swap(uint64_t *p, uint64_t *old, uint64_t v)
{
	uint64_t was;

	__asm__ volatile("atom.acq_rel.sys.cas.b64 %0, [%1], %2, %3;"
			 : "=l"(was) : "l"(p), "l"(*old), "l"(v) : "memory");
	if (was == *old)
		return 1;
	*old = was;
	return 0;
}

FI_XPU_RING_FUNC void fi_xpu_ring_add(uint64_t *p, uint64_t v)
{
	__asm__ volatile("red.release.sys.add.u64 [%0], %1;" : : "l"(p), "l"(v) : "memory");
}

FI_XPU_RING_FUNC uint64_t fi_xpu_ring_ms(void)
{
	uint64_t ns;

	__asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns / 1000000;
}

FI_XPU_RING_FUNC void fi_xpu_ring_relax(void)
{
	__asm__ volatile("nanosleep.u32 100;");
}

#else

FI_XPU_RING_FUNC uint64_t fi_xpu_ring_load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

FI_XPU_RING_FUNC void fi_xpu_ring_store(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/* Returns 0, with the value that is there in *old, if that was another one. */
FI_XPU_RING_FUNC int fi_xpu_ring_swap(uint64_t *p, uint64_t *old, uint64_t v)
{
	return __atomic_compare_exchange_n(p, old, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

FI_XPU_RING_FUNC void fi_xpu_ring_add(uint64_t *p, uint64_t v)
{
	__atomic_fetch_add(p, v, __ATOMIC_RELEASE);
}

#if defined(__HIP_DEVICE_COMPILE__)

FI_XPU_RING_FUNC uint64_t fi_xpu_ring_ms(void)
{
	return __builtin_readcyclecounter() / 100000;	/* 100 MHz */
}

FI_XPU_RING_FUNC void fi_xpu_ring_relax(void)
{
}

#elif defined(CLOCK_MONOTONIC)

FI_XPU_RING_FUNC uint64_t fi_xpu_ring_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000 + (uint64_t) ts.tv_nsec / 1000000;
}

FI_XPU_RING_FUNC void fi_xpu_ring_relax(void)
{
	sched_yield();
}

#else

FI_XPU_RING_FUNC uint64_t fi_xpu_ring_ms(void)
{
	return (uint64_t) time(NULL) * 1000;
}

FI_XPU_RING_FUNC void fi_xpu_ring_relax(void)
{
	sched_yield();
}

#endif
#endif

/* ---- threads that make a call together ------------------------------------------ */

/* One thread of the scope, the leader, makes the call, after all have arrived, so that what they
 * wrote is there before it; then each has the leader's result, and what the leader read.  All
 * threads of the scope call, in converged code.  A device as a whole has no leader: its work
 * groups cannot wait for each other.
 *
 * Threads of a host know no groups: one of a group makes the call, and the others do not.
 * FI_XPU_RING_GROUPS: the program defines the two functions itself, for a device that is unknown
 * here.
 */
#if !defined(FI_XPU_RING_GROUPS)
#if defined(__CUDA_ARCH__)

FI_XPU_RING_FUNC uint32_t fi_xpu_ring_thread(uint32_t *count)
{
	uint32_t x, y, z, nx, ny, nz;

	__asm__ volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
	__asm__ volatile("mov.u32 %0, %%tid.y;" : "=r"(y));
	__asm__ volatile("mov.u32 %0, %%tid.z;" : "=r"(z));
	__asm__ volatile("mov.u32 %0, %%ntid.x;" : "=r"(nx));
	__asm__ volatile("mov.u32 %0, %%ntid.y;" : "=r"(ny));
	__asm__ volatile("mov.u32 %0, %%ntid.z;" : "=r"(nz));
	*count = nx * ny * nz;
	return x + nx * (y + ny * z);
}

/* The lanes of this warp: the last one of a block may have fewer than 32. */
FI_XPU_RING_FUNC uint32_t fi_xpu_ring_lanes(uint32_t thread, uint32_t count)
{
	uint32_t left = count - (thread & ~31u);

	return left < 32 ? (1u << left) - 1 : ~0u;
}

FI_XPU_RING_FUNC int fi_xpu_ring_enter(int scope)
{
	uint32_t count, thread;

	if (scope == FI_XPU_WORK_ITEM)
		return 1;
	thread = fi_xpu_ring_thread(&count);
	if (scope == FI_XPU_SUBGROUP) {
		__asm__ volatile("bar.warp.sync %0;" : : "r"(fi_xpu_ring_lanes(thread, count))
				 : "memory");
		return (thread & 31) == 0;
	}
	__asm__ volatile("bar.sync 0;" : : : "memory");
	return thread == 0;
}

FI_XPU_RING_FUNC int64_t fi_xpu_ring_leave(int scope, int64_t ret)
{
	__attribute__((shared)) static int64_t result;
	uint32_t count, thread, lanes, low = (uint32_t) ret, high = (uint32_t) (ret >> 32);

	if (scope == FI_XPU_WORK_ITEM)
		return ret;
	thread = fi_xpu_ring_thread(&count);
	if (scope == FI_XPU_SUBGROUP) {
		lanes = fi_xpu_ring_lanes(thread, count);
		__asm__ volatile("shfl.sync.idx.b32 %0, %0, 0, 31, %1;" : "+r"(low) : "r"(lanes)
				 : "memory");
		__asm__ volatile("shfl.sync.idx.b32 %0, %0, 0, 31, %1;" : "+r"(high) : "r"(lanes)
				 : "memory");
		__asm__ volatile("bar.warp.sync %0;" : : "r"(lanes) : "memory");
		return (int64_t) ((uint64_t) high << 32 | low);
	}
	if (thread == 0)
		result = ret;
	__asm__ volatile("bar.sync 0;" : : : "memory");
	ret = result;
	/* not before all have read it is it another call's */
	__asm__ volatile("bar.sync 0;" : : : "memory");
	return ret;
}

#elif defined(__HIP_DEVICE_COMPILE__)

FI_XPU_RING_FUNC uint32_t fi_xpu_ring_thread(void)
{
	uint32_t nx = __builtin_amdgcn_workgroup_size_x(), ny = __builtin_amdgcn_workgroup_size_y();

	return __builtin_amdgcn_workitem_id_x() +
	       nx * (__builtin_amdgcn_workitem_id_y() + ny * __builtin_amdgcn_workitem_id_z());
}

/* Order and wait for the threads of the work group. */
FI_XPU_RING_FUNC void fi_xpu_ring_barrier(void)
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* Lanes of a wavefront go in step; its first one leads. */
FI_XPU_RING_FUNC int fi_xpu_ring_enter(int scope)
{
	if (scope == FI_XPU_WORK_ITEM)
		return 1;
	if (scope == FI_XPU_SUBGROUP) {
		__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
		return (uint32_t) __builtin_amdgcn_readfirstlane((int) fi_xpu_ring_thread()) ==
		       fi_xpu_ring_thread();
	}
	fi_xpu_ring_barrier();
	return fi_xpu_ring_thread() == 0;
}

FI_XPU_RING_FUNC int64_t fi_xpu_ring_leave(int scope, int64_t ret)
{
	__attribute__((shared)) static int64_t result;

	if (scope == FI_XPU_WORK_ITEM)
		return ret;
	if (scope == FI_XPU_SUBGROUP) {
		uint32_t low = (uint32_t) __builtin_amdgcn_readfirstlane((int) ret);
		uint32_t high = (uint32_t) __builtin_amdgcn_readfirstlane((int) (ret >> 32));

		__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
		return (int64_t) ((uint64_t) high << 32 | low);
	}
	if (fi_xpu_ring_thread() == 0)
		result = ret;
	fi_xpu_ring_barrier();
	ret = result;
	fi_xpu_ring_barrier();
	return ret;
}

#else

FI_XPU_RING_FUNC int fi_xpu_ring_enter(int scope)
{
	(void) scope;
	return 1;
}

FI_XPU_RING_FUNC int64_t fi_xpu_ring_leave(int scope, int64_t ret)
{
	(void) scope;
	return ret;
}

#endif
#endif

/* The leader evaluates call, for all threads of the scope: a value of a call. */
#define FI_XPU_RING_ONCE(scope, ret, call) \
	do { \
		if ((scope) < FI_XPU_WORK_ITEM || (scope) >= FI_XPU_DEVICE) { \
			ret = -FI_EOPNOTSUPP; \
			break; \
		} \
		ret = 0; \
		if (fi_xpu_ring_enter(scope)) \
			ret = (call); \
		ret = fi_xpu_ring_leave(scope, ret); \
	} while (0)

/* ---- calls of the device ------------------------------------------------------ */

/* The 8 bytes behind a pointer of the program, or 0. */
FI_XPU_RING_FUNC uint64_t fi_xpu_ring_raw(const void *p)
{
	uint64_t v = 0;

	if (p)
		__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

/* The object behind a handle. */
FI_XPU_RING_FUNC void *fi_xpu_ring_of(const struct fid_xpu *fid)
{
	return (void *) (uintptr_t) fid->prov_ctx;
}

/* Reserve a record: -FI_EAGAIN the ring is full, -FI_ECANCELED the endpoint is closed. */
FI_XPU_RING_FUNC int fi_xpu_ring_reserve(const struct fi_xpu_ring_ep *ring, uint64_t *at)
{
	uint64_t tail = fi_xpu_ring_load(ring->tail), now;

	for (;;) {
		if (tail & FI_XPU_RING_CLOSED)
			return -FI_ECANCELED;
		if (tail - fi_xpu_ring_load(ring->head) > ring->mask) {
			/* full, unless the index is an old one */
			now = fi_xpu_ring_load(ring->tail);
			if (now == tail)
				return -FI_EAGAIN;
			tail = now;
		} else if (fi_xpu_ring_swap(ring->tail, &tail, tail + 1)) {
			*at = tail;
			return 0;
		}
	}
}

FI_XPU_RING_FUNC int fi_xpu_ring_put(const struct fid_xpu_ep *ep,
		const struct fi_xpu_ring_record *from, int words)
{
	const struct fi_xpu_ring_ep *ring =
		(const struct fi_xpu_ring_ep *) fi_xpu_ring_of(&ep->fid);
	struct fi_xpu_ring_record *to;
	uint64_t at = 0;
	int ret = fi_xpu_ring_reserve(ring, &at);

	if (ret)
		return ret;
	to = &ring->records[at & ring->mask];
	__builtin_memcpy((char *) to + sizeof(to->valid),
			 (const char *) from + sizeof(to->valid),
			 (words == 8 ? 7 : 15) * sizeof(to->valid));
	fi_xpu_ring_store(&to->valid, at + 1);
	return 0;
}

/* Post the record from, of which words - 1 words count. */
FI_XPU_RING_FUNC int fi_xpu_ring_post(const struct fid_xpu_ep *ep,
		const struct fi_xpu_ring_record *from, int words, int scope)
{
	int64_t ret;

	FI_XPU_RING_ONCE(scope, ret, fi_xpu_ring_put(ep, from, words));
	return (int) ret;
}

/* What all calls have; the second half of the record is zero. */
FI_XPU_RING_FUNC void fi_xpu_ring_fill(struct fi_xpu_ring_record *rec, uint32_t call,
		const void *buf, uint64_t len, const void *desc, const void *peer,
		const void *context, uint64_t flags)
{
	rec->call = call;
	rec->datatype = 0;
	rec->op = 0;
	rec->flags = flags;
	rec->buf = (uintptr_t) buf;
	rec->len = len;
	rec->desc = fi_xpu_ring_raw(desc);
	rec->peer = fi_xpu_ring_raw(peer);
	rec->context = (uintptr_t) context;
	rec->data = 0;
	rec->addr = 0;
	rec->key = 0;
	rec->result = 0;
	rec->result_desc = 0;
	rec->compare = 0;
	rec->compare_desc = 0;
	rec->reserved = 0;
}

/* Copy size bytes, word by word, out of an entry that may be overwritten meanwhile. */
FI_XPU_RING_FUNC void fi_xpu_ring_copy(void *to, const uint64_t *from, uint64_t size)
{
	uint64_t i, word;

	for (i = 0; i < size / sizeof(word); i++) {
#if defined(__CUDA_ARCH__)
		word = ((const volatile uint64_t *) from)[i];
#else
		word = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
#endif
		__builtin_memcpy((char *) to + i * sizeof(word), &word, sizeof(word));
	}
}

/* How many entries from index at on, up to count, are there and are successes; with one error
 * first, -FI_EAVAIL, with nothing, -FI_EAGAIN.
 */
FI_XPU_RING_FUNC int64_t fi_xpu_ring_ready(const struct fi_xpu_ring_cq *ring, uint64_t at,
		uint64_t count)
{
	const struct fi_xpu_ring_entry *entry;
	uint64_t i, err;

	for (i = 0; i < count && i <= ring->mask; i++) {
		entry = &ring->entries[(at + i) & ring->mask];
		if (fi_xpu_ring_load(&entry->valid) != at + i + 1)
			break;
		fi_xpu_ring_copy(&err, &entry->err, sizeof(err));
		if (err)
			return i ? (int64_t) i : -FI_EAVAIL;
	}
	if (i)
		return (int64_t) i;
	return fi_xpu_ring_load(&ring->closed) ? -FI_ECANCELED : -FI_EAGAIN;
}

/* Read up to count entries, and into src their sources if that is not NULL. */
FI_XPU_RING_FUNC int64_t fi_xpu_ring_read(const struct fid_xpu_cq *cq, void *buf, uint64_t count,
		void *src)
{
	struct fi_xpu_ring_cq *ring = (struct fi_xpu_ring_cq *) fi_xpu_ring_of(&cq->fid);
	const struct fi_xpu_ring_entry *entry;
	uint64_t at = fi_xpu_ring_load(ring->head), i;
	int64_t n;

	do {
		n = count ? fi_xpu_ring_ready(ring, at, count) : 0;
		if (n <= 0) {
			/* the index may be an old one, whose entry is overwritten */
			if (n == 0 || fi_xpu_ring_load(ring->head) == at)
				return n;
			at = fi_xpu_ring_load(ring->head);
			continue;
		}
		for (i = 0; i < (uint64_t) n; i++) {
			entry = &ring->entries[(at + i) & ring->mask];
			fi_xpu_ring_copy((char *) buf + i * ring->entry_size, entry->words,
					 ring->entry_size);
			if (src)
				fi_xpu_ring_copy((char *) src + i * sizeof(at), &entry->src,
						 sizeof(at));
		}
		if (fi_xpu_ring_swap(ring->head, &at, at + (uint64_t) n))
			return n;
	} while (1);
}

/* Read the error entry that is first, a struct fi_cq_err_entry. */
FI_XPU_RING_FUNC int64_t fi_xpu_ring_readerr(const struct fid_xpu_cq *cq, void *buf, uint64_t size)
{
	struct fi_xpu_ring_cq *ring = (struct fi_xpu_ring_cq *) fi_xpu_ring_of(&cq->fid);
	uint64_t at = fi_xpu_ring_load(ring->head), was;

	do {
		was = at;
		if (fi_xpu_ring_ready(ring, at, 1) != -FI_EAVAIL) {
			at = fi_xpu_ring_load(ring->head);
			if (at == was)
				return -FI_EAGAIN;
			continue;
		}
		fi_xpu_ring_copy(buf, ring->entries[at & ring->mask].words, size);
		if (fi_xpu_ring_swap(ring->head, &at, at + 1))
			return 1;
	} while (1);
}

/* Poll until threshold entries are there, an error, or the queue is closed; then read. */
FI_XPU_RING_FUNC int64_t fi_xpu_ring_sread(const struct fid_xpu_cq *cq, void *buf, uint64_t count,
		void *src, uint64_t threshold)
{
	const struct fi_xpu_ring_cq *ring =
		(const struct fi_xpu_ring_cq *) fi_xpu_ring_of(&cq->fid);
	uint64_t want = threshold < count ? threshold : count;
	int64_t n;

	if (want > ring->mask + 1)
		want = ring->mask + 1;
	for (;;) {
		n = fi_xpu_ring_ready(ring, fi_xpu_ring_load(ring->head), want ? want : 1);
		if (n != -FI_EAGAIN && (n < 0 || (uint64_t) n >= want ||
					fi_xpu_ring_load(&ring->closed))) {
			n = fi_xpu_ring_read(cq, buf, count, src);
			if (n != -FI_EAGAIN)
				return n;
		}
		/* an error behind successes is first once those are read */
		if (n > 0) {
			int64_t next = fi_xpu_ring_ready(ring,
				fi_xpu_ring_load(ring->head) + (uint64_t) n, 1);

			if (next == -FI_EAVAIL)
				return fi_xpu_ring_read(cq, buf, count, src);
		}
		fi_xpu_ring_relax();
	}
}

FI_XPU_RING_FUNC struct fi_xpu_ring_cntr *fi_xpu_ring_cntr_of(const struct fid_xpu_cntr *cntr)
{
	return (struct fi_xpu_ring_cntr *) fi_xpu_ring_of(&cntr->fid);
}

/* Poll until the counter is at least threshold, an operation fails, it is closed, or time is up. */
FI_XPU_RING_FUNC void fi_xpu_ring_wait(const struct fid_xpu_cntr *cntr, uint64_t threshold,
		int timeout)
{
	const struct fi_xpu_ring_cntr *ring = fi_xpu_ring_cntr_of(cntr);
	uint64_t end = timeout > 0 ? fi_xpu_ring_ms() + (uint64_t) timeout : 0;
	uint64_t err = fi_xpu_ring_load(&ring->err);

	while (fi_xpu_ring_load(&ring->value) < threshold &&
	       fi_xpu_ring_load(&ring->err) == err && !fi_xpu_ring_load(&ring->closed)) {
		if (!timeout || (end && fi_xpu_ring_ms() >= end))
			return;
		fi_xpu_ring_relax();
	}
}

/* The value of a counter, one for all threads of the scope: what they do next is one branch. */
FI_XPU_RING_FUNC uint64_t fi_xpu_ring_count(const uint64_t *p, int scope)
{
	int64_t ret;

	if (scope == FI_XPU_DEVICE)
		return fi_xpu_ring_load(p);
	FI_XPU_RING_ONCE(scope, ret, (int64_t) fi_xpu_ring_load(p));
	return (uint64_t) ret;
}

FI_XPU_RING_FUNC int fi_xpu_ring_add_once(uint64_t *p, uint64_t value, int scope)
{
	int64_t ret;

	FI_XPU_RING_ONCE(scope, ret, (fi_xpu_ring_add(p, value), 0));
	return (int) ret;
}

FI_XPU_RING_FUNC int fi_xpu_ring_store_once(uint64_t *p, uint64_t value, int scope)
{
	int64_t ret;

	FI_XPU_RING_ONCE(scope, ret, (fi_xpu_ring_store(p, value), 0));
	return (int) ret;
}

FI_XPU_RING_FUNC void fi_xpu_ring_wait_once(const struct fid_xpu_cntr *cntr, uint64_t threshold,
		int timeout, int scope)
{
	int64_t ret;

	/* waiting changes nothing: threads of a whole device may each do it */
	FI_XPU_RING_ONCE(scope == FI_XPU_DEVICE ? FI_XPU_WORK_ITEM : scope, ret,
			 (fi_xpu_ring_wait(cntr, threshold, timeout), 0));
	(void) ret;
}

#endif /* FI_XPU_RING_H */
