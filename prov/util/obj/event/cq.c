/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "cq_ring.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/line.h"
#include "hmem/mem.h"
#include "obj/domain.h"
#include "obj/fabric.h"
#include "obj/ops.h"

#define DEFAULT_SIZE 1024
/* A ring starts no larger than this, however many entries were asked for, unless
 * it may not grow.
 */
#define FIRST_SLOTS_MAX 4096

/* ---- reading the ring ----------------------------------------------------- */

static inline void cq_pop(struct obj_cq *cq)
{
	__atomic_store_n(&cq->head, cq->head + 1, __ATOMIC_RELAXED);
}

/* Of this all fields, in each format, are made, whatever their type. */
typedef uintptr_t __attribute__((may_alias)) entry_word;

static inline void move_word(char *to, const void *from, size_t at)
{
	uintptr_t word = __atomic_load_n((const entry_word *) ((const char *) from + at),
					 __ATOMIC_RELAXED);

	memcpy(to + at, &word, sizeof(word));
}

/* Word by word, as it was written: a wider load has to wait until the words behind it
 * have left the store buffer, and the entry of a reply was written a moment ago.
 */
static inline void show_entry(char *buf, const struct fi_cq_tagged_entry *e, size_t size)
{
	if (size > sizeof(struct fi_cq_msg_entry)) {
		if (size == sizeof(struct fi_cq_tagged_entry))
			move_word(buf, e, offsetof(struct fi_cq_tagged_entry, tag));
		move_word(buf, e, offsetof(struct fi_cq_tagged_entry, data));
		move_word(buf, e, offsetof(struct fi_cq_tagged_entry, buf));
	}
	if (size >= sizeof(struct fi_cq_msg_entry)) {
		move_word(buf, e, offsetof(struct fi_cq_tagged_entry, len));
		move_word(buf, e, offsetof(struct fi_cq_tagged_entry, flags));
	}
	move_word(buf, e, offsetof(struct fi_cq_tagged_entry, op_context));
}

/* Copy a format's prefix of up to @count successes; stops before an error. */
static inline ssize_t cq_take(struct obj_cq *cq, char *buf, size_t count, fi_addr_t *src,
			      size_t size)
{
	struct obj_cq_slot *slot;
	size_t i;

	for (i = 0; i < count && cq->head != cq->tail; i++) {
		slot = cq_head(cq);
		if (__builtin_expect(slot->err != NULL, 0))
			break;
		show_entry(buf + i * size, &slot->e, size);
		if (src)
			src[i] = slot->src;
		cq_pop(cq);
	}
	return (ssize_t) i;
}

/* With the size known to the compiler, an entry is a few moves, no call. */
static ssize_t take_any(struct obj_cq *cq, void *buf, size_t count, fi_addr_t *src)
{
	switch (cq->entry_size) {
	case sizeof(struct fi_cq_entry):
		return cq_take(cq, buf, count, src, sizeof(struct fi_cq_entry));
	case sizeof(struct fi_cq_msg_entry):
		return cq_take(cq, buf, count, src, sizeof(struct fi_cq_msg_entry));
	case sizeof(struct fi_cq_data_entry):
		return cq_take(cq, buf, count, src, sizeof(struct fi_cq_data_entry));
	default:
		return cq_take(cq, buf, count, src, sizeof(struct fi_cq_tagged_entry));
	}
}

/* ring_restart - begin an empty ring at its beginning: a queue that never holds much stays in the caches. */
static inline void ring_restart(struct obj_cq *cq)
{
	__atomic_store_n(&cq->head, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&cq->tail, 0, __ATOMIC_RELAXED);
}

/* Returns a count, or 0 if empty, or -FI_EAVAIL. */
static inline __attribute__((always_inline)) ssize_t read_ring(struct obj_cq *cq, void *buf,
							       size_t count, fi_addr_t *src)
{
	ssize_t ret;

	obj_wait_called(&cq->wait);
	lock_get(&cq->lock);
	ret = take_any(cq, buf, count, src);
	if (cq->head == cq->tail)
		ring_restart(cq);
	if (!ret && __builtin_expect(cq->head != cq->tail || cq->overrun, 0))
		ret = -FI_EAVAIL;
	lock_put(&cq->lock);
	return ret;
}

/* ---- reading ------------------------------------------------------------- */

/* Unlocked: an unlocked ring has one thread that may touch it; other rings are looked
 * at again under the lock.
 */
static inline bool looks_empty(struct obj_cq *cq)
{
	return __atomic_load_n(&cq->tail, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&cq->head, __ATOMIC_RELAXED);
}

/* A program whose queue never runs dry polls, too, now and then: what it sends is
 * collected as a burst only if it polls by itself.  Racing readers lose a count at most.
 */
#define READS_PER_POLL 32

static inline bool poll_is_due(struct obj_cq *cq)
{
	uint8_t reads = (uint8_t) (__atomic_load_n(&cq->reads, __ATOMIC_RELAXED) + 1);

	__atomic_store_n(&cq->reads, reads, __ATOMIC_RELAXED);
	return __builtin_expect(reads % READS_PER_POLL == 0, 0);
}

/* push_out - the entries just read may be the last ones that the program waits for, while
 * what some of them are about has not left yet.
 */
static inline void push_out(struct obj_cq *cq)
{
	if (__builtin_expect(obj_feed_may_stage(&cq->wait.feed), 0) && looks_empty(cq))
		obj_feed_unstage(&cq->wait.feed);
}

/* show_one - the oldest entry, of a queue that no other thread uses; false: an error. */
static inline bool show_one(struct obj_cq *cq, char *buf)
{
	const struct obj_cq_slot *slot = cq_head(cq);

	if (__builtin_expect(slot->err != NULL, 0))
		return false;
	show_entry(buf, &slot->e, cq->entry_size);
	cq_pop(cq);
	return true;
}

/* Many programs read until the queue is empty: the read after one that got less than it asked for
 * finds nothing new, and need not make progress again, if it follows at once.
 */
#define DRY_CYCLES 1000

static inline void note_dry(struct obj_cq *cq, ssize_t got, size_t count)
{
	if (got > 0 && (size_t) got < count)
		__atomic_store_n(&cq->dry_at, clock_cycles(), __ATOMIC_RELAXED);
}

static ssize_t read_and_push(struct obj_cq *cq, void *buf, size_t count, fi_addr_t *src)
{
	ssize_t ret = read_ring(cq, buf, count, src);

	note_dry(cq, ret, count);
	push_out(cq);
	return ret ? ret : -FI_EAGAIN;
}

static __attribute__((noinline)) ssize_t push_and_say(struct obj_cq *cq, ssize_t ret)
{
	push_out(cq);
	return ret;
}

/* no_entry - what to say where there is no entry. */
static inline ssize_t no_entry(const struct obj_cq *cq)
{
	return __atomic_load_n(&cq->overrun, __ATOMIC_RELAXED) ? -FI_EAVAIL : -FI_EAGAIN;
}

static inline bool is_dry(struct obj_cq *cq)
{
	uint64_t at = __atomic_load_n(&cq->dry_at, __ATOMIC_RELAXED);

	if (__builtin_expect(!at, 1))
		return false;
	__atomic_store_n(&cq->dry_at, 0, __ATOMIC_RELAXED);
	return clock_cycles() - at < DRY_CYCLES;
}

/* read_slow - make progress first, whatever lies in the queue. */
static __attribute__((noinline)) ssize_t read_slow(struct obj_cq *cq, void *buf, size_t count,
						   fi_addr_t *src)
{
	if (count && is_dry(cq) && looks_empty(cq))
		return no_entry(cq);
	obj_wait_called(&cq->wait);
	obj_cq_progress(cq);
	if (looks_empty(cq))
		return no_entry(cq);
	if (!count)
		return 0;
	return read_and_push(cq, buf, count, src);
}

/* open_sink, close_sink - what comes between the two goes straight to @buf, until there is no room or an
 * error comes.  The queue remembers all that is needed afterwards, so that no register has to be kept
 * meanwhile.  close_sink() returns how many came.
 */
static inline void open_sink(struct obj_cq *cq, void *buf, size_t count, fi_addr_t *src)
{
	cq->sink = buf;
	cq->sink_src = src;
	cq->sink_asked = count;
	__atomic_store_n(&cq->sink_thread, lock_thread(), __ATOMIC_RELAXED);
	__atomic_store_n(&cq->sink_room, count, __ATOMIC_RELAXED);
}

static inline size_t close_sink(struct obj_cq *cq)
{
	size_t got = cq->sink_asked - cq->sink_room;

	__atomic_store_n(&cq->sink_room, 0, __ATOMIC_RELAXED);
	return got;
}

/* got_some - @got entries of @count that were asked for have come. */
static inline ssize_t got_some(struct obj_cq *cq, size_t got, size_t count)
{
	note_dry(cq, (ssize_t) got, count);
	return obj_feed_may_stage(&cq->wait.feed) ? push_and_say(cq, (ssize_t) got) :
						    (ssize_t) got;
}

/* read_empty - make progress for a program that reads an empty queue which no other thread uses.
 * @prog: its only group; NULL: it has none, or several
 */
static inline __attribute__((always_inline)) ssize_t read_empty(struct obj_cq *cq, struct obj_prog *prog,
								void *buf, size_t count, fi_addr_t *src)
{
	size_t got;

	if (is_dry(cq) || (prog && obj_prog_still(prog)))
		return no_entry(cq);
	open_sink(cq, buf, count, src);
	if (__builtin_expect(prog != NULL, 1))
		obj_prog_poll_as(prog, true);
	else
		obj_feed_poll_all(&cq->wait.feed);
	got = close_sink(cq);
	if (!got)		/* an error closes the sink */
		return looks_empty(cq) ? no_entry(cq) : -FI_EAVAIL;
	return got_some(cq, got, count);
}

/* read_locked - the same where other threads may use the queue, which has one group.  All that the group
 * completes is written under its lock, which the caller holds: the queue is known to be empty, and only the
 * threads of other providers may write there meanwhile (obj_cq_gives()).
 */
static __attribute__((noinline)) ssize_t read_locked(struct obj_cq *cq, struct obj_prog *prog, void *buf,
						     size_t count, fi_addr_t *src)
{
	size_t got;
	int done;

	obj_prog_note_poll(prog);
	cq->sink_asked = 0;
	if (looks_empty(cq))
		open_sink(cq, buf, count, src);
	done = obj_prog_poll_locked(prog);
	got = close_sink(cq);
	obj_prog_leave(prog, done, false);
	if (got)
		return got_some(cq, got, count);
	return looks_empty(cq) ? no_entry(cq) : read_and_push(cq, buf, count, src);
}

/* read_shared - the group polls unless another thread is at it. */
static inline __attribute__((always_inline)) ssize_t read_shared(struct obj_cq *cq, struct obj_prog *prog,
								 void *buf, size_t count, fi_addr_t *src)
{
	if (is_dry(cq))
		return no_entry(cq);
	if (!lock_try(&prog->lock)) {
		obj_prog_note_poll(prog);
		return looks_empty(cq) ? no_entry(cq) : read_and_push(cq, buf, count, src);
	}
	if (!obj_prog_still(prog))
		return read_locked(cq, prog, buf, count, src);
	lock_put(&prog->lock);
	return no_entry(cq);
}

/* read_dry - there is nothing in the queue: no part of read_any(), which is a few moves where there is. */
static __attribute__((noinline)) ssize_t read_dry(struct obj_cq *cq, void *buf, size_t count, fi_addr_t *src)
{
	struct obj_prog *single;

	if (!count || !cq->direct)
		return read_slow(cq, buf, count, src);
	single = atomic_load_explicit(&cq->wait.feed.single, memory_order_acquire);
	if (cq->unlocked)
		return read_empty(cq, single, buf, count, src);
	return single ? read_shared(cq, single, buf, count, src) : read_slow(cq, buf, count, src);
}

static inline __attribute__((always_inline)) ssize_t read_any(struct obj_cq *cq, void *buf,
							      size_t count, fi_addr_t *src)
{
	if (looks_empty(cq))
		return read_dry(cq, buf, count, src);
	/* A count of 0 asks for progress, whatever lies in the queue. */
	if (__builtin_expect(!count || poll_is_due(cq), 0))
		return read_slow(cq, buf, count, src);
	if (count == 1 && !src && cq->unlocked && show_one(cq, buf))
		return obj_feed_may_stage(&cq->wait.feed) ? push_and_say(cq, 1) : 1;
	return read_and_push(cq, buf, count, src);
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src)
{
	return read_any(obj_cq_of(fid), buf, count, src);
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	return read_any(obj_cq_of(fid), buf, count, NULL);
}

/* As cq_read(), with times.  The ring is never bypassed: a queue with them is not unlocked. */
static ssize_t cq_readtime(struct fid_cq *fid, void *buf, size_t count, struct fi_cq_time *time)
{
	struct obj_cq *cq = obj_cq_of(fid);
	ssize_t ret, i;

	obj_wait_called(&cq->wait);
	if (!count || poll_is_due(cq) || looks_empty(cq))
		obj_cq_progress(cq);
	if (!count)
		return looks_empty(cq) ? no_entry(cq) : 0;
	lock_get(&cq->lock);
	ret = take_any(cq, buf, count, NULL);
	for (i = 0; i < ret; i++)
		time[i] = cq->times[(cq->head - (size_t) (ret - i)) & cq->mask];
	if (!ret)
		ret = cq->head != cq->tail ? -FI_EAVAIL : no_entry(cq);
	lock_put(&cq->lock);
	push_out(cq);
	return ret;
}

static struct fi_ops_cq_time time_ops = {
	.size = sizeof(time_ops),
	.read = cq_readtime,
};

/* What is there has been there since now at the latest. */
static int keep_times(struct obj_cq *cq)
{
	size_t i;

	if (cq->times)
		return 0;
	cq->times = calloc(cq->mask + 1, sizeof(*cq->times));
	if (!cq->times)
		return -FI_ENOMEM;
	for (i = cq->head; i != cq->tail; i++)
		cq->times[i & cq->mask] = cq_time_now();
	cq->timed_room = cq->room;
	cq->room = 0;
	cq->unlocked = false;
	cq->direct = false;
	return 0;
}

static int cq_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context)
{
	struct obj_cq *cq = container_of(fid, struct obj_cq, fid.fid);
	int ret;

	if (strcmp(name, FI_CQ_TIME_OPS) || cq->peer)
		return -FI_ENOSYS;
	if (flags)
		return -FI_EBADFLAGS;
	lock_get(&cq->lock);
	ret = keep_times(cq);
	lock_put(&cq->lock);
	if (!ret)
		*ops = &time_ops;
	return ret;
}

/* What a blocking read waits for. */
struct want {
	size_t cnt;			/* entries */
	unsigned signals;		/* fi_cq_signal() calls that it has seen */
};

static bool cq_ready(struct obj_wait *wait, const void *arg)
{
	struct obj_cq *cq = container_of(wait, struct obj_cq, wait);
	const struct want *want = arg;
	bool ready;

	if (want && atomic_load(&cq->signals) != want->signals)
		return true;
	lock_get(&cq->lock);
	ready = cq_used(cq) >= (want ? want->cnt : 1) || cq->overrun ||
		(cq_used(cq) && cq_head(cq)->err);
	lock_put(&cq->lock);
	return ready;
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src,
			    const void *cond, int timeout)
{
	struct obj_cq *cq = obj_cq_of(fid);
	struct want want = { 1, atomic_load(&cq->signals_taken) };
	uint64_t deadline;
	ssize_t ret;

	if (!obj_wait_can_block(&cq->wait))
		return obj_wait_cannot(&cq->wait, cq->domain->prov, FI_LOG_CQ, "fi_cq_sread");
	obj_wait_called(&cq->wait);
	if (cq->wait_cond == FI_CQ_COND_THRESHOLD && (uintptr_t) cond > 1)
		want.cnt = (uintptr_t) cond;
	deadline = clock_deadline(timeout);
	for (;;) {
		if (want.cnt == 1 || cq_ready(&cq->wait, &want)) {
			ret = cq_readfrom(fid, buf, count, src);
			if (ret != -FI_EAGAIN)
				return ret;
		}
		if (atomic_load(&cq->signals) != want.signals) {
			atomic_store(&cq->signals_taken, atomic_load(&cq->signals));
			return -FI_EAGAIN;
		}
		ret = obj_wait_sleep(&cq->wait, deadline, cq_ready, &want);
		if (ret)
			break;
	}
	if (ret != -FI_ETIMEDOUT && ret != -FI_EINTR)
		return ret;
	/* fi_cq(3): both end in -FI_EAGAIN, unless something came at the last moment. */
	return cq_readfrom(fid, buf, count, src);
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond,
			int timeout)
{
	return cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

/* fi_cq_err_entry grew at its end: an older program has room for less. */
static size_t err_entry_size(uint32_t api_version)
{
	if (FI_VERSION_LT(api_version, FI_VERSION(1, 5)))
		return offsetof(struct fi_cq_err_entry, err_data_size);
	if (FI_VERSION_LT(api_version, FI_VERSION(1, 20)))
		return offsetof(struct fi_cq_err_entry, src_addr);
	return sizeof(struct fi_cq_err_entry);
}

/* Hand out @err.  Where its data goes: into the program's buffer, if it gave one
 * (1.5 and later); else it stays ours until the next call.
 */
static void cq_show_err(struct obj_cq *cq, struct obj_cq_err *err, struct fi_cq_err_entry *buf)
{
	uint32_t api = cq->domain->api_version;
	struct fi_cq_err_entry out = err->e;

	if (!FI_VERSION_LT(api, FI_VERSION(1, 5)) && buf->err_data && buf->err_data_size) {
		if (out.err_data_size > buf->err_data_size)
			out.err_data_size = buf->err_data_size;
		if (out.err_data_size)
			memcpy(buf->err_data, out.err_data, out.err_data_size);
		out.err_data = buf->err_data;
	}
	memcpy(buf, &out, err_entry_size(api));
	cq_err_put(cq, cq->shown);
	cq->shown = err;
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf, uint64_t flags)
{
	struct obj_cq *cq = obj_cq_of(fid);
	struct obj_cq_err *err;
	ssize_t ret = -FI_EAGAIN;

	obj_wait_called(&cq->wait);
	lock_get(&cq->lock);
	if (cq->head != cq->tail) {
		err = cq_head(cq)->err;
		if (err) {
			cq_pop(cq);
			cq_show_err(cq, err, buf);
			ret = 1;
		}
	} else if (cq->overrun) {
		memset(buf, 0, err_entry_size(cq->domain->api_version));
		buf->err = FI_EOVERRUN;
		ret = 1;
	}
	lock_put(&cq->lock);
	return ret;
}

static int cq_signal(struct fid_cq *fid)
{
	struct obj_cq *cq = obj_cq_of(fid);

	if (cq->wait.type == FI_WAIT_NONE)
		return -FI_ENOSYS;
	atomic_fetch_add(&cq->signals, 1);
	obj_wait_force(&cq->wait);
	return 0;
}

static const char *cq_strerror(struct fid_cq *fid, int prov_errno, const void *err_data,
			       char *buf, size_t len)
{
	const struct obj_domain_ops *ops = obj_cq_of(fid)->domain->ops;
	const char *text = hmem_strerror(prov_errno);

	if (!text)
		text = ops && ops->cq_strerror ? ops->cq_strerror(prov_errno) : fi_strerror(prov_errno);

	if (!buf || !len)
		return text;
	snprintf(buf, len, "%s", text);
	return buf;
}

/* A peer's queue has no ring: its owner only drives it. */
static ssize_t cq_peer_read(struct fid_cq *fid, void *buf, size_t count)
{
	if (count)
		return -FI_ENOSYS;
	obj_cq_progress(obj_cq_of(fid));
	return 0;
}

/* ---- opening and closing ------------------------------------------------- */

static int cq_control(struct fid *fid, int cmd, void *arg)
{
	return obj_wait_control(&container_of(fid, struct obj_cq, fid.fid)->wait, cmd, arg);
}

static void cq_free(struct obj_cq *cq)
{
	for (; cq->head != cq->tail; cq->head++)
		cq_err_put(cq, cq_head(cq)->err);
	cq_err_put(cq, cq->shown);
	cq_errs_fini(cq);
	free(cq->times);
	free(cq->ring);
	lock_destroy(&cq->lock);
	obj_refs_fini(&cq->refs);
	free(cq);
}

static int cq_close(struct fid *fid)
{
	struct obj_cq *cq = container_of(fid, struct obj_cq, fid.fid);
	int ret;

	if (obj_inherited(&cq->refs))
		return 0;
	ret = obj_refs_busy(&cq->refs, fid, cq->domain->prov, FI_LOG_CQ);
	if (ret)
		return ret;
	obj_wait_close(&cq->wait, &cq->set_ref);
	obj_ref_put(&cq->domain_ref);
	cq_free(cq);
	return 0;
}

static struct fi_ops cq_fi_ops = {
	.close = cq_close,
	.control = cq_control,
	.ops_open = cq_ops_open,
};
OBJ_OPS_TABLE(cq_fi_ops, fid)

static struct fi_ops_cq cq_ops = {
	.read = cq_read,
	.readfrom = cq_readfrom,
	.readerr = cq_readerr,
	.sread = cq_sread,
	.sreadfrom = cq_sreadfrom,
	.signal = cq_signal,
	.strerror = cq_strerror,
};
OBJ_OPS_TABLE(cq_ops, cq)

static struct fi_ops_cq cq_peer_ops = {
	.read = cq_peer_read,
	.strerror = cq_strerror,
};
OBJ_OPS_TABLE(cq_peer_ops, cq)

static size_t format_size(enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_UNSPEC:
	case FI_CQ_FORMAT_CONTEXT:
		return sizeof(struct fi_cq_entry);
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	case FI_CQ_FORMAT_TAGGED:
		return sizeof(struct fi_cq_tagged_entry);
	default:
		return 0;
	}
}

static int cq_check_attr(struct obj_domain *domain, const struct fi_cq_attr *attr)
{
	const char *what = NULL;

	if (attr->flags & ~(FI_AFFINITY | FI_PEER))
		what = "flags other than FI_AFFINITY and FI_PEER";
	else if (!format_size(attr->format))
		what = "an unknown format";
	else if (!obj_wait_kind_of(attr->wait_obj, false))
		what = "an unknown wait object";
	else if (attr->wait_obj == FI_WAIT_SET && !attr->wait_set)
		what = "FI_WAIT_SET without a wait set";
	else if (attr->wait_obj != FI_WAIT_NONE && attr->wait_cond > FI_CQ_COND_THRESHOLD)
		what = "an unknown wait condition";
	else if ((attr->flags & FI_AFFINITY) && attr->signaling_vector < 0)
		what = "FI_AFFINITY with a negative signaling_vector";
	if (!what)
		return 0;
	FI_WARN(domain->prov, FI_LOG_CQ, "fi_cq_open: the attributes have %s\n", what);
	return -FI_EINVAL;
}

static int make_ring(struct obj_cq *cq, size_t asked)
{
	size_t slots = 16, want = asked ? asked : DEFAULT_SIZE;

	cq->fixed = cq->domain->attr->resource_mgmt == FI_RM_DISABLED;
	if (want > FIRST_SLOTS_MAX && !cq->fixed)
		want = FIRST_SLOTS_MAX;
	if (want > SIZE_MAX / sizeof(*cq->ring) / 2)
		return -FI_ENOMEM;
	while (slots < want)
		slots *= 2;
	cq->ring = aligned_alloc(sizeof(*cq->ring), slots * sizeof(*cq->ring));
	if (!cq->ring)
		return -FI_ENOMEM;
	cq->mask = slots - 1;
	cq->room = cq->fixed ? want : slots;
	return 0;
}

static int make_cq(struct obj_domain *domain, const struct fi_cq_attr *attr,
		   struct obj_cq **cq_p)
{
	struct obj_cq *cq = line_alloc(sizeof(*cq));
	int ret;

	if (!cq)
		return -FI_ENOMEM;
	obj_fid_init(&cq->fid.fid, FI_CLASS_CQ, NULL, &cq_fi_ops);
	cq->fid.ops = &cq_ops;
	cq->domain = domain;
	cq->entry_size = format_size(attr->format);
	cq->wait_cond = attr->wait_cond;
	obj_refs_init(&cq->refs);
	cq->unlocked = domain->obj_lock_kind == LOCK_NONE;
	cq->direct = true;
	ret = lock_init(&cq->lock, domain->obj_lock_kind);
	if (ret)
		goto err_lock;
	ret = make_ring(cq, attr->size);
	if (ret)
		goto err_ring;
	ret = cq_errs_init(cq);
	if (ret)
		goto err_errs;
	*cq_p = cq;
	return 0;

err_errs:
	free(cq->ring);
err_ring:
	lock_destroy(&cq->lock);
err_lock:
	obj_refs_fini(&cq->refs);
	free(cq);
	return ret;
}

int obj_cq_open(struct fid_domain *domain_fid, struct fi_cq_attr *attr,
		struct fid_cq **cq_p, void *context)
{
	static const struct fi_cq_attr plain = { 0 };
	struct obj_domain *domain = obj_domain_of(domain_fid);
	const struct fi_peer_cq_context *peer = context;
	struct obj_cq *cq;
	int ret;

	if (!attr)
		attr = (struct fi_cq_attr *) &plain;
	/* attr may end before xpu_ctx: without FI_XPU nothing may read it */
	if (attr->flags & FI_XPU)
		return domain->xpu ? domain->xpu->cq(domain, attr, cq_p, context) :
				     obj_domain_no_xpu(domain, "fi_cq_open");
	ret = cq_check_attr(domain, attr);
	if (ret)
		return ret;
	ret = make_cq(domain, attr, &cq);
	if (ret)
		return ret;
	ret = obj_wait_open(&cq->wait, attr->wait_obj, attr->wait_set, &cq->set_ref, &cq->fid.fid, cq_ready);
	if (ret) {
		cq_free(cq);
		return ret;
	}
	if (attr->flags & FI_PEER) {
		if (!peer || !peer->cq) {
			obj_wait_close(&cq->wait, &cq->set_ref);
			cq_free(cq);
			return -FI_EINVAL;
		}
		cq->peer = peer->cq;
		cq->fid.ops = &cq_peer_ops;
	} else {
		cq->fid.fid.context = context;
	}
	obj_ref_get(&domain->refs, &cq->domain_ref, &cq->fid.fid);
	*cq_p = &cq->fid;
	return 0;
}
