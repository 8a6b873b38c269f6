/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "rma.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "base/clock.h"
#include "engine/api.h"
#include "link.h"
#include "cma.h"

/* A packet may still be sent behind so many slots that the target has not taken, and a packet to a
 * target that was slow behind so many bytes.
 */
#define BEHIND_MAX 16
#define BLOCKS_NS CLOCK_NS_PER_S	/* a program that has slept within this time may do so again */
#define BEHIND_BYTES (16u << 10)

struct target {
	uint64_t addr;
	bool counted;
};

/* lease_permits - does the lease permit the access?  The same checks as the target's of a packet. */
static bool lease_permits(struct shm_lease *lease, bool write, const struct fi_rma_iov *remote,
			  struct target *target)
{
	uint64_t base = atomic_load_explicit(&lease->base, memory_order_relaxed);
	uint64_t len = atomic_load_explicit(&lease->len, memory_order_relaxed);
	uint32_t rights = atomic_load_explicit(&lease->rights, memory_order_relaxed);
	uint64_t at = remote->addr - base;

	if (atomic_load_explicit(&lease->key, memory_order_relaxed) != remote->key ||
	    !(rights & (write ? SHM_LEASE_WRITE : SHM_LEASE_READ)))
		return false;
	/* differences only: no sum here can wrap */
	if (remote->addr < base || at > len || remote->len > len - at)
		return false;
	target->addr = atomic_load_explicit(&lease->addr, memory_order_relaxed) + at;
	target->counted = rights & SHM_LEASE_COUNTED;
	return true;
}

/* lease_enter - start to use a lease.  Returns 1 if it permits the access: lease_leave() must follow; 0: it is of
 * another region; -FI_EACCES: it does not permit it.
 */
static int lease_enter(struct shm_seg *seg, unsigned i, bool write, const struct fi_rma_iov *remote,
		       struct target *target)
{
	struct shm_lease *lease = &seg->leases[i];
	bool stands;

	if (!atomic_load_explicit(&lease->stamp, memory_order_relaxed) ||
	    atomic_load_explicit(&lease->key, memory_order_relaxed) != remote->key)
		return 0;
	atomic_store(&seg->tx.inside, i + 1);
	stands = atomic_load(&lease->stamp);
	if (stands && lease_permits(lease, write, remote, target))
		return 1;
	atomic_store_explicit(&seg->tx.inside, 0, memory_order_release);
	return stands ? -FI_EACCES : 0;
}

static void lease_leave(struct shm_seg *seg)
{
	atomic_store_explicit(&seg->tx.inside, 0, memory_order_release);
}

/* rma_copy - Returns 1: done; 0: failed, to be repeated by packets; -FI_EFAULT: one of the buffers is not there, or may
 * not be accessed so, which packets do not mend.
 */
static int rma_copy(struct shm_conn *conn, bool write, const struct iovec *iov, size_t iov_cnt,
		    uint64_t addr, size_t len)
{
	struct iovec there = { (void *) (uintptr_t) addr, len };
	int ret;

	if (iov_cnt == 1 && shm_split_access_wanted(conn, write, len))
		return shm_split_access(conn, write, iov->iov_base, addr, len);
	ret = shm_cma_copy(conn->pid, write, iov, iov_cnt, &there, 1, len);
	if (__builtin_expect(!ret, 1))
		return 1;
	if (ret == -FI_EPERM)
		conn->can_write = false;	/* the kernel has revoked it */
	return ret == -FI_EFAULT ? ret : 0;
}

static bool leases_usable(struct shm_conn *conn)
{
	return atomic_load_explicit(&conn->out.seg->rx.leased, memory_order_acquire) &&
	       shm_conn_can_write(conn);
}

static bool is_slow(const struct shm_out *out)
{
	return out->slow && clock_coarse_ns() < out->slow_until;
}

/* wants_packets - a receiver that was slow gets a few packets: if it takes them soon, it gets more.
 * A program whose write is refused meanwhile (-FI_EAGAIN) repeats it.
 */
static bool wants_packets(struct shm_conn *conn)
{
	struct shm_out *out = &conn->out;

	if (out->pos != out->seen_pos)
		shm_out_look(out);
	if (out->pos - out->seen_pos > BEHIND_MAX || out->bytes - out->seen_bytes > BEHIND_BYTES ||
	    !list_empty(&conn->chan->base.pending)) {
		shm_out_waits(out, clock_ns());
		return false;
	}
	shm_out_moves(out, clock_ns());
	return !is_slow(out);
}

/* may_block - does the program wait in blocking calls?  One whose write is refused would wait for a
 * completion that does not come.
 */
static bool may_block(const struct shm_poller *poller)
{
	return poller->slept_ns && clock_coarse_ns() - poller->slept_ns < BLOCKS_NS;
}

/* may_access - Returns 1: no packet must be taken by the target before; 0: a few, or the write has to
 * become a packet that waits; -FI_EAGAIN: many, or a slow target has had no room for more and not
 * taken all of them yet.
 */
static int may_access(struct shm_conn *conn)
{
	bool pending = !list_empty(&conn->chan->base.pending);
	struct shm_out *out = &conn->out;

	if (!pending && shm_out_is_clear(out)) {
		out->draining = false;
		return 1;
	}
	if ((pending || out->draining || out->bytes - out->seen_bytes > BEHIND_BYTES) && out->slow &&
	    (is_slow(out) || !wants_packets(conn)))
		out->draining = true;
	else if (out->pos - out->seen_pos <= BEHIND_MAX)
		return 0;
	return may_block(conn->poller) ? 0 : -FI_EAGAIN;
}

/* is_absent - does the receiver take packets so rarely that even a short write is better made here? */
static bool is_absent(struct shm_conn *conn)
{
	return conn->out.slow && (is_slow(&conn->out) || !wants_packets(conn));
}

int shm_rma(void *chan, enum eng_rma what, const struct iovec *iov, size_t iov_cnt,
	      const struct fi_rma_iov *remote, bool *notify_p)
{
	struct shm_conn *conn = ((struct chan *) chan)->conn;
	unsigned i, first = shm_lease_first(remote->key);
	bool write = what != ENG_RMA_READ;
	struct target target;
	int ret, refused = 0;

	if (!conn || (what == ENG_RMA_SHORT && __builtin_expect(!is_absent(conn), 1)) || !leases_usable(conn))
		return 0;
	for (i = first; i < first + SHM_LEASE_WAYS; i++) {
		ret = lease_enter(conn->out.seg, i, write, remote, &target);
		if (ret <= 0) {
			refused |= ret;
			continue;
		}
		ret = may_access(conn);
		if (ret > 0)
			ret = rma_copy(conn, write, iov, iov_cnt, target.addr, remote->len);
		if (ret > 0)
			shm_poller_works(conn->poller);
		lease_leave(conn->out.seg);
		*notify_p = target.counted;
		return ret;
	}
	return refused;
}
