/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * reach.h - remote writes and reads that the target has no part in.
 *
 * We write in our segment where our regions are, for a peer that has proved that it can
 * write our memory anyway: a lease of each (obj/lease.h).  There are places for some; a
 * peer that uses another one by packet gets its lease then.  The peer checks each access
 * itself and copies, by process_vm_writev() and its like.  While it does so it says in
 * the segment that it is inside that lease.  We end a lease by setting its stamp to 0, and
 * have it back when the peer is not inside: each side writes its own word first and then
 * looks at the other's, so that they cannot miss each other, and neither makes a system
 * call for it.
 *
 * A write may overtake nothing that was sent before it; so one goes this way only when
 * the peer has taken all of that, news of earlier ones apart.  A few may go behind it as
 * packets, so that a program need not wait; many would only keep it from ever being so.
 */
#ifndef SHM_REACH_H
#define SHM_REACH_H

#include "conn.h"

struct fi_rma_iov;

/* shm_reach_begin - @conn is READY: let the peer have leases, if it can use them. */
void shm_reach_begin(struct shm_conn *conn);

/* shm_reach_ask - let it have the region @key, unless it has. */
void shm_reach_ask(struct shm_conn *conn, uint64_t key);

/* shm_reach_end - @conn closes: the peer is out when this returns, or gone. */
void shm_reach_end(struct shm_conn *conn);

/* shm_reach - eng_link_ops.rma. */
int shm_reach(void *chan, bool write, const struct iovec *iov, size_t iov_cnt,
	      const struct fi_rma_iov *remote, bool *told_p);

#endif
