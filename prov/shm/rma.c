/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "rma.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>

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

/* first_way - the first of SHM_LEASE_WAYS places where the lease of @key may be. */
static inline unsigned first_way(uint64_t key)
{
	return (unsigned) (key * UINT64_C(0x9e3779b97f4a7c15) >> 60) % (SHM_LEASES / SHM_LEASE_WAYS) *
	       SHM_LEASE_WAYS;
}

/* ---- the target's side ------------------------------------------------------------------ */

static bool is_inside(const struct shm_conn *conn, unsigned i)
{
	return atomic_load(&conn->in.seg->tx.inside) == i + 1;
}

/* copying - does this process copy a piece for the peer, which may have left the lease already? */
static bool copying(const struct shm_conn *conn)
{
	return atomic_load(&conn->tenant.copying);
}

static struct shm_conn *conn_of(struct obj_tenant *base)
{
	return container_of(base, struct shm_conn, tenant.base);
}

/* revoke_place - Returns true while the peer uses the lease. */
static bool revoke_place(struct shm_conn *conn, unsigned i)
{
	atomic_store(&conn->in.seg->leases[i].stamp, 0);
	atomic_store(&conn->tenant.leases[i].live, false);
	return (is_inside(conn, i) && !(conn->src.fd >= 0 && shm_conn_ended(conn))) || copying(conn);
}

static bool revoke(struct obj_tenant *base, uint64_t key)
{
	struct shm_conn *conn = conn_of(base);
	unsigned i, first = first_way(key);
	bool inside = false;

	for (i = first; conn->tenant.leases && i < first + SHM_LEASE_WAYS; i++)
		if (conn->tenant.leases[i].key == key)
			inside |= revoke_place(conn, i);
	return inside;
}

/* find_place - a free place for the lease of @key, or one taken back; SHM_LEASES: none. */
static unsigned find_place(struct shm_conn *conn, uint64_t key)
{
	unsigned i, first = first_way(key);

	for (i = first; i < first + SHM_LEASE_WAYS; i++)
		if (!conn->tenant.leases[i].live && !is_inside(conn, i) && !copying(conn))
			return i;
	i = first + conn->tenant.turn++ % SHM_LEASE_WAYS;
	return revoke_place(conn, i) ? SHM_LEASES : i;
}

static uint32_t rights_of(const struct obj_lease *lease)
{
	uint32_t rights = lease->counted ? SHM_LEASE_COUNTED : 0;

	if (lease->access & FI_REMOTE_READ)
		rights |= SHM_LEASE_READ;
	if (lease->access & FI_REMOTE_WRITE)
		rights |= SHM_LEASE_WRITE;
	return rights;
}

static void write_slot(struct shm_lease_slot *slot, const struct obj_lease *lease)
{
	slot->key = lease->key;
	slot->addr = lease->addr;
	slot->len = lease->len;
	slot->rights = rights_of(lease);
	atomic_store(&slot->live, true);
}

static void write_lease(struct shm_lease *at, const struct obj_lease *lease, uint64_t stamp)
{
	atomic_store_explicit(&at->key, lease->key, memory_order_relaxed);
	atomic_store_explicit(&at->base, lease->base, memory_order_relaxed);
	atomic_store_explicit(&at->len, lease->len, memory_order_relaxed);
	atomic_store_explicit(&at->addr, lease->addr, memory_order_relaxed);
	atomic_store_explicit(&at->rights, rights_of(lease), memory_order_relaxed);
	atomic_store(&at->stamp, stamp);
}

static bool has_lease(const struct shm_tenant *tenant, uint64_t key)
{
	unsigned i, first = first_way(key);

	for (i = first; i < first + SHM_LEASE_WAYS; i++)
		if (tenant->leases[i].key == key && tenant->leases[i].live)
			return true;
	return false;
}

static void grant(struct obj_tenant *base, const struct obj_lease *lease)
{
	struct shm_conn *conn = conn_of(base);
	struct shm_tenant *tenant = &conn->tenant;
	unsigned i;

	if (!tenant->leases)
		tenant->leases = calloc(SHM_LEASES, sizeof(*tenant->leases));
	if (!tenant->leases || has_lease(tenant, lease->key))
		return;
	i = find_place(conn, lease->key);
	if (i == SHM_LEASES)
		return;
	write_slot(&tenant->leases[i], lease);
	write_lease(&conn->in.seg->leases[i], lease, ++tenant->stamp);
	atomic_store_explicit(&conn->in.seg->rx.leased, 1, memory_order_release);
}

void shm_rma_open(struct shm_conn *conn)
{
	if (!atomic_load_explicit(&conn->in.seg->tx.can_write, memory_order_acquire))
		return;
	conn->tenant.base = (struct obj_tenant) { .let = grant, .end = revoke };
	list_init(&conn->tenant.base.node);
	obj_lease_join(&conn->tenant.base, eng_ep_base(conn->link->base.base.ep));
}

void shm_rma_grant(struct shm_conn *conn, uint64_t key)
{
	obj_lease_ask(&conn->tenant.base, key);
}

bool shm_rma_leased(struct shm_conn *conn, bool write, uint64_t addr, size_t len)
{
	unsigned i = atomic_load(&conn->in.seg->tx.inside) - 1;
	const struct shm_lease_slot *slot;

	if (!conn->tenant.leases || i >= SHM_LEASES)
		return false;
	slot = &conn->tenant.leases[i];
	return atomic_load(&slot->live) && slot->rights & (write ? SHM_LEASE_WRITE : SHM_LEASE_READ) &&
	       addr >= slot->addr && addr - slot->addr <= slot->len && len <= slot->len - (addr - slot->addr);
}

void shm_rma_close(struct shm_conn *conn)
{
	uint64_t until = 0;
	unsigned i;

	obj_lease_leave(&conn->tenant.base);
	for (i = 0; conn->tenant.leases && i < SHM_LEASES; i++)
		while (revoke_place(conn, i) && shm_conn_wait(conn, &until))
			;
	free(conn->tenant.leases);
	conn->tenant.leases = NULL;
}

/* ---- the initiator's side ----------------------------------------------------------------- */

struct target {
	uint64_t addr;
	bool counted;
};

/* permits - does the lease permit the access?  The same checks as the target's of a packet. */
static bool permits(struct shm_lease *lease, bool write, const struct fi_rma_iov *remote,
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

/* enter - start to use a lease.  Returns true if it permits the access: leave() must follow. */
static bool enter(struct shm_seg *seg, unsigned i, bool write, const struct fi_rma_iov *remote,
		  struct target *target)
{
	struct shm_lease *lease = &seg->leases[i];

	if (!atomic_load_explicit(&lease->stamp, memory_order_relaxed) ||
	    atomic_load_explicit(&lease->key, memory_order_relaxed) != remote->key)
		return false;
	atomic_store(&seg->tx.inside, i + 1);
	if (atomic_load(&lease->stamp) && permits(lease, write, remote, target))
		return true;
	atomic_store_explicit(&seg->tx.inside, 0, memory_order_release);
	return false;
}

static void leave(struct shm_seg *seg)
{
	atomic_store_explicit(&seg->tx.inside, 0, memory_order_release);
}

/* copy - Returns 1: done; 0: failed. */
static int copy(struct shm_conn *conn, bool write, const struct iovec *iov, size_t iov_cnt,
		uint64_t addr, size_t len)
{
	struct iovec there = { (void *) (uintptr_t) addr, len };
	int ret;

	if (iov_cnt == 1 && shm_split_access_wanted(conn, write, len))
		return shm_split_access(conn, write, iov->iov_base, addr, len);
	ret = shm_cma_copy(conn->pid, write, iov, iov_cnt, &there, 1, len);
	if (ret == -FI_EPERM)
		conn->can_write = false;	/* the kernel has revoked it */
	return !ret;
}

static bool usable(struct shm_conn *conn)
{
	return conn && atomic_load_explicit(&conn->out.seg->rx.leased, memory_order_acquire) &&
	       shm_conn_can_write(conn);
}

static bool is_slow(const struct shm_out *out)
{
	return out->slow_ms && clock_coarse_ns() < out->slow_until;
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
	if ((pending || out->draining || out->bytes - out->seen_bytes > BEHIND_BYTES) && out->slow_ms &&
	    (is_slow(out) || !wants_packets(conn)))
		out->draining = true;
	else if (out->pos - out->seen_pos <= BEHIND_MAX)
		return 0;
	return may_block(conn->poller) ? 0 : -FI_EAGAIN;
}

bool shm_rma_wanted(void *chan)
{
	struct shm_conn *conn = ((struct chan *) chan)->conn;

	if (__builtin_expect(!conn || !conn->out.slow_ms, 1))
		return false;
	return is_slow(&conn->out) || !wants_packets(conn);
}

int shm_rma(void *chan, bool write, const struct iovec *iov, size_t iov_cnt,
	      const struct fi_rma_iov *remote, bool *notify_p)
{
	struct shm_conn *conn = ((struct chan *) chan)->conn;
	unsigned i, first = first_way(remote->key);
	struct target target;
	int ret;

	if (!usable(conn))
		return 0;
	for (i = first; i < first + SHM_LEASE_WAYS; i++) {
		if (!enter(conn->out.seg, i, write, remote, &target))
			continue;
		ret = may_access(conn);
		if (ret > 0)
			ret = copy(conn, write, iov, iov_cnt, target.addr, remote->len);
		if (ret > 0)
			shm_poller_worked(conn->poller);
		leave(conn->out.seg);
		*notify_p = target.counted;
		return ret;
	}
	return 0;
}
