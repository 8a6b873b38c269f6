/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "shm/tenant.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_endpoint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/process.h"
#include "engine/api.h"
#include "obj/domain.h"
#include "shm/link.h"
#include "shm/seg.h"

static struct shm_tenant *tenant_of(const struct obj_tenant *base)
{
	return container_of(base, struct shm_tenant, base);
}

/* ---- is the peer inside? ------------------------------------------------------------------ */

/* pidfd_ended - has the process of a pidfd ended, all of its threads? */
static bool pidfd_ended(int pidfd)
{
	struct pollfd pfd = { .fd = pidfd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

/* pid_ended - the descriptor of a socket may have been inherited by a child of the peer's, which then keeps it
 * open.
 */
static bool pid_ended(pid_t pid)
{
	int pidfd = pid > 0 ? os_process_open(pid) : -1;
	bool ended;

	if (pidfd < 0)
		return pid > 0 && pidfd == -ESRCH;
	ended = pidfd_ended(pidfd);
	close(pidfd);
	return ended;
}

/* peer_ended - has its process ended?  System calls: ask last. */
static bool peer_ended(const struct shm_tenant *t)
{
	if (t->pidfd >= 0)
		return pidfd_ended(t->pidfd);
	return shm_socket_ended(t->fd) || pid_ended(t->base.pid);
}

static bool uses_place(const struct shm_tenant *t, unsigned i)
{
	return atomic_load(&t->in->tx.inside) == i + 1;
}

/* is_copying - does this process copy a piece for the peer, which may have left the lease already? */
static bool is_copying(const struct shm_tenant *t)
{
	return atomic_load(&t->copying);
}

/* is_pulling - does the peer read what PULLs named? */
static bool is_pulling(const struct shm_tenant *t)
{
	return t->pulled < t->pulled_end && atomic_load(&t->out->rx.pulling);
}

static bool ranges_overlap(uintptr_t from, uintptr_t to, uintptr_t addr, size_t len)
{
	return addr < to && (from <= addr || from - addr < len);
}

/* has_piece - has the peer a piece of @own that it has not copied, among these bytes? */
static bool has_piece(const struct shm_split *split, const struct shm_split_own *own, uintptr_t addr,
		      size_t len)
{
	return shm_split_is_busy(split, own) && ranges_overlap(own->at, own->at + own->len, addr, len);
}

static bool tenant_touches(const struct obj_tenant *base, uintptr_t addr, size_t len)
{
	const struct shm_tenant *t = tenant_of(base);

	return (has_piece(&t->in->split, &t->message, addr, len) ||
		has_piece(&t->out->access, &t->access, addr, len) ||
		(is_pulling(t) && ranges_overlap(t->pulled, t->pulled_end, addr, len))) && !peer_ended(t);
}

static bool is_inside(const struct obj_tenant *base)
{
	const struct shm_tenant *t = tenant_of(base);

	if (is_copying(t))
		return true;
	return ((t->leases && atomic_load(&t->in->tx.inside)) ||
		shm_split_is_busy(&t->in->split, &t->message) ||
		shm_split_is_busy(&t->out->access, &t->access) || is_pulling(t)) && !peer_ended(t);
}

/* ---- leases --------------------------------------------------------------------------------- */

static void take_back(struct shm_tenant *t, unsigned i)
{
	atomic_store(&t->in->leases[i].stamp, 0);
	atomic_store(&t->leases[i].live, false);
}

/* revoke_place - Returns true while the peer uses the lease. */
static bool revoke_place(struct shm_tenant *t, unsigned i)
{
	take_back(t, i);
	return is_copying(t) || (uses_place(t, i) && !peer_ended(t));
}

static bool end_lease(struct obj_tenant *base, uint64_t key)
{
	struct shm_tenant *t = tenant_of(base);
	unsigned i, first = shm_lease_first(key);
	bool inside = false;

	for (i = first; t->leases && i < first + SHM_LEASE_WAYS; i++)
		if (t->leases[i].key == key)
			inside |= revoke_place(t, i);
	return inside;
}

/* find_place - a free place for the lease of @key, or one taken back; SHM_LEASES: none. */
static unsigned find_place(struct shm_tenant *t, uint64_t key)
{
	unsigned i, first = shm_lease_first(key);

	for (i = first; i < first + SHM_LEASE_WAYS; i++)
		if (!t->leases[i].live && !uses_place(t, i) && !is_copying(t))
			return i;
	i = first + t->turn++ % SHM_LEASE_WAYS;
	return revoke_place(t, i) ? SHM_LEASES : i;
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
	unsigned i, first = shm_lease_first(key);

	for (i = first; i < first + SHM_LEASE_WAYS; i++)
		if (tenant->leases[i].key == key && tenant->leases[i].live)
			return true;
	return false;
}

static void tenant_grant(struct obj_tenant *base, const struct obj_lease *lease)
{
	struct shm_tenant *t = tenant_of(base);
	unsigned i;

	if (!t->leases)
		t->leases = calloc(SHM_LEASES, sizeof(*t->leases));
	if (!t->leases || has_lease(t, lease->key))
		return;
	i = find_place(t, lease->key);
	if (i == SHM_LEASES)
		return;
	write_slot(&t->leases[i], lease);
	write_lease(&t->in->leases[i], lease, ++t->stamp);
	atomic_store_explicit(&t->in->rx.leased, 1, memory_order_release);
}

void shm_tenant_grant(struct shm_conn *conn, uint64_t key)
{
	obj_lease_ask(&conn->tenant->base, key);
}

bool shm_tenant_permits(struct shm_conn *conn, bool write, uint64_t addr, size_t len)
{
	const struct shm_tenant *t = conn->tenant;
	unsigned i = atomic_load(&t->in->tx.inside) - 1;
	const struct shm_lease_slot *slot;

	if (!t->leases || i >= SHM_LEASES)
		return false;
	slot = &t->leases[i];
	return atomic_load(&slot->live) && slot->rights & (write ? SHM_LEASE_WRITE : SHM_LEASE_READ) &&
	       addr >= slot->addr && addr - slot->addr <= slot->len && len <= slot->len - (addr - slot->addr);
}

/* ---- from the connection's first packet to the peer's end -------------------------------------- */

static void free_tenant(struct obj_tenant *base)
{
	struct shm_tenant *t = tenant_of(base);

	shm_seg_unmap(t->in);
	if (t->out != t->in)
		shm_seg_unmap(t->out);
	if (t->fd >= 0)
		close(t->fd);
	if (t->pidfd >= 0)
		close(t->pidfd);
	free(t->leases);
	free(t);
}

static const struct obj_tenant_ops ops = {
	.let = tenant_grant,
	.end = end_lease,
	.touches = tenant_touches,
	.inside = is_inside,
	.free = free_tenant,
};

struct shm_tenant *shm_tenant_new(int fd, pid_t pid)
{
	struct shm_tenant *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->base.ops = &ops;
	t->base.pid = pid;
	t->fd = fd;
	t->pidfd = -1;
	return t;
}

void shm_tenant_join(struct shm_conn *conn)
{
	struct shm_tenant *t = conn->tenant;

	t->in = conn->in.seg;
	t->out = conn->out.seg;
	obj_lease_join(&t->base, eng_ep_base(conn->link->base.base.ep),
		       atomic_load_explicit(&t->in->tx.can_write, memory_order_acquire));
}

/* record_pulls - the bounds of all that PULLs named and the peer has not read. */
static void record_pulls(struct shm_tenant *t, const struct shm_conn *conn)
{
	uint64_t used = ~conn->tx.free;
	const struct eng_pkt *pkt;
	uintptr_t from;
	size_t i;

	t->pulled = UINTPTR_MAX;
	for (; used; used &= used - 1) {
		pkt = conn->tx.pulls[__builtin_ctzll(used)];
		for (i = 0; i < pkt->iov_cnt; i++) {
			from = (uintptr_t) pkt->iov[i].iov_base;
			if (from < t->pulled)
				t->pulled = from;
			if (from + pkt->iov[i].iov_len > t->pulled_end)
				t->pulled_end = from + pkt->iov[i].iov_len;
		}
	}
}

void shm_tenant_late(struct shm_conn *conn)
{
	struct shm_tenant *t = conn->tenant;

	lock_get(&t->base.domain->mr_lock);
	t->access = conn->access;
	lock_put(&t->base.domain->mr_lock);
}

void shm_tenant_leave(struct shm_conn *conn)
{
	struct shm_tenant *t = conn->tenant;
	unsigned i;

	if (!t->base.ep)
		return;		/* it has not joined, or has left already */
	lock_get(&t->base.domain->mr_lock);
	t->message = conn->split.own;
	t->access = conn->access;
	record_pulls(t, conn);
	lock_put(&t->base.domain->mr_lock);
	atomic_store(&t->out->tx.gone, 1);
	obj_lease_leave(&t->base);
	for (i = 0; t->leases && i < SHM_LEASES; i++)
		take_back(t, i);
}

void shm_tenant_hang_up(struct shm_conn *conn)
{
	struct obj_domain *domain = conn->tenant->base.domain;
	struct shm_tenant *t = conn->tenant;
	int fd = t->fd;

	if (domain) {
		lock_get(&domain->mr_lock);
		if (fd >= 0 && is_inside(&t->base)) {
			t->pidfd = t->base.pid > 0 ? os_process_open(t->base.pid) : -1;
			if (t->pidfd < 0) {
				shutdown(fd, SHUT_WR);
				fd = -1;	/* kept */
			}
		}
		if (fd >= 0)
			t->fd = -1;
		lock_put(&domain->mr_lock);
	} else {
		t->fd = -1;
	}
	if (fd >= 0)
		close(fd);
}

void shm_tenant_part(struct shm_conn *conn)
{
	struct shm_tenant *t = conn->tenant;

	t->in = conn->in.seg;
	t->out = conn->out.seg;
	obj_lease_part(&t->base);
}
