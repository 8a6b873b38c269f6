/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * tenant.h - what the peer of a connection may still touch in this process's memory (obj/lease.h).
 *
 *   a lease                      tx.inside of our segment says which one it uses
 *   a piece of a split copy      the words of struct shm_split say whether it has copied it
 *   payload that PULLs named     rx.pulling of its segment says that it reads; after tx.gone, which this
 *                                side sets when it closes, it begins to read nothing
 *
 * For each of them one side writes its word, then reads the other's, so that one of them sees the other,
 * and neither makes a system call for it.  A peer whose process has ended is out, whatever its words say.
 *
 * The tenant is allocated with the connection, so that closing needs no memory.  When the connection
 * is freed, the segments are the tenant's, until the peer is out.
 */
#ifndef SHM_TENANT_H
#define SHM_TENANT_H

#include "obj/lease.h"
#include "split.h"
#include "wire.h"

struct shm_conn;

/* What we remember of a lease in our segment, where the peer could change it. */
struct shm_lease_slot {
	_Atomic bool live;		/* granted to the peer, and not revoked */
	uint64_t key;			/* valid after it was revoked, too: the peer may still use it */
	uint64_t addr;			/* of the first byte in this process; the same */
	uint64_t len;
	uint32_t rights;		/* SHM_LEASE_* */
};

/* Guarded by domain->mr_lock, once it has joined. */
struct shm_tenant {
	struct obj_tenant base;		/* first */
	struct shm_seg *in;		/* ours */
	struct shm_seg *out;		/* the peer's; the same one in a connection to the endpoint itself */
	int fd;				/* the socket, by which the end of its process is seen; -1: closed */
	int pidfd;			/* the same, once the socket is closed; -1: none */
	uint64_t stamp;			/* of the newest lease */
	unsigned turn;			/* place to reuse when all are in use */
	struct shm_lease_slot *_Atomic leases;	/* SHM_LEASES, as in our segment; NULL: none yet */
	_Atomic bool copying;		/* a piece of the peer's access is being copied here; any thread reads it */
	struct shm_split_own access;	/* the copy of an access that this side began, once it is late: shm_tenant_late() */
	/* set by shm_tenant_leave(): */
	struct shm_split_own message;	/* the copy into a receive's buffer */
	uintptr_t pulled;		/* what PULLs named lies from here */
	uintptr_t pulled_end;		/* the end of what they named */
};

/* shm_tenant_new - NULL: no memory.
 * Ownership: the connection's, until shm_tenant_part().
 */
struct shm_tenant *shm_tenant_new(int fd, pid_t pid);

/* shm_tenant_join - @conn is READY: the peer gets leases, if it can use them. */
void shm_tenant_join(struct shm_conn *conn);

/* shm_tenant_grant - give the peer a lease of the region @key, unless it has one. */
void shm_tenant_grant(struct shm_conn *conn, uint64_t key);

/* shm_tenant_permits - has the peer a lease in use that permits to write, or read, @len bytes at @addr of this
 * process's memory?  Called while tenant->copying is set: none is taken back meanwhile.
 */
bool shm_tenant_permits(struct shm_conn *conn, bool write, uint64_t addr, size_t len);

/* shm_tenant_late - the operation goes on without the piece of conn->access that the peer is late with, and may end
 * before it does: what it touches is recorded; or, if conn->access is not open, no longer.
 */
void shm_tenant_late(struct shm_conn *conn);

/* shm_tenant_leave - @conn closes, none of its operations has ended yet: the peer gets into nothing new, and what
 * it is in is recorded.  Does not wait.  Nothing if it has left already.
 */
void shm_tenant_leave(struct shm_conn *conn);

/* shm_tenant_hang_up - close the socket; where nothing else would show the end of a peer that is inside, it
 * stays open for reading until the peer is out.  The peer sees that we have closed in any case.
 */
void shm_tenant_hang_up(struct shm_conn *conn);

/* shm_tenant_part - @conn is freed.  Unmaps both segments, now or when the peer is out. */
void shm_tenant_part(struct shm_conn *conn);

/* ---- the peer's side of PULLs ---------------------------------------------------------- */

/* shm_pull_enter - this process is about to read what a PULL named.  False: its sender has closed.
 * On true shm_pull_leave() must follow.
 */
static inline bool shm_pull_enter(struct shm_seg *in)
{
	atomic_store(&in->rx.pulling, 1);
	if (!atomic_load(&in->tx.gone))
		return true;
	atomic_store_explicit(&in->rx.pulling, 0, memory_order_release);
	return false;
}

static inline void shm_pull_leave(struct shm_seg *in)
{
	atomic_store_explicit(&in->rx.pulling, 0, memory_order_release);
}

#endif
