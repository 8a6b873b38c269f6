/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rma.h - remote writes and reads that need no progress of the target: the initiator's side.
 *
 * The target (tenant.h) writes leases (obj/lease.h) into its segment: where its regions are, and what
 * may be done with them.  Only a peer that has proved that it can write the target's memory
 * anyway is given leases.  The table is small; a peer that accesses a region without a lease
 * by packet is given one then.  The initiator checks each access itself and copies by
 * process_vm_writev() or process_vm_readv().
 *
 * While it copies, its half of the segment says which lease is in use.  The target takes a
 * lease back by setting its stamp to 0, then waits until the lease is not in use.  Each side
 * writes its own word first and then reads the other's, so one of them always sees the
 * other, and neither makes a system call for it.
 *
 * A native write must not overtake packets sent before it, so it is made only when the
 * target has taken all of those, write notices excepted.  With a few before it, the write
 * becomes a packet, so that the program need not wait; behind many packets it is refused
 * with -FI_EAGAIN, since more packets would only keep the queue from draining.  A program that
 * has blocked lately is not refused: it would block again, for a completion that does not come.
 */
#ifndef SHM_RMA_H
#define SHM_RMA_H

#include "conn.h"

struct fi_rma_iov;

/* shm_rma - eng_link_native.rma. */
int shm_rma(void *chan, enum eng_rma what, const struct iovec *iov, size_t iov_cnt,
	    const struct fi_rma_iov *remote, bool *notify_p);


#endif
