/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ref.h - who holds whom, so that an early fi_close() can say why not.
 *
 * A holder embeds one struct obj_ref for each object that it uses.  The object
 * that is used embeds one struct obj_refs.  Closing an object that is in use
 * gives -FI_EBUSY and logs each holder by class and context.
 */
#ifndef OBJ_REF_H
#define OBJ_REF_H

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <stdbool.h>

#include "base/list.h"

struct obj_refs {
	unsigned process;	/* obj_process when the object was opened */
	pthread_mutex_t lock;	/* guards @holders; never held across a call */
	struct list holders;	/* struct obj_ref */
};

struct obj_ref {
	struct list node;
	struct obj_refs *refs;	/* NULL: holds nothing */
	const struct fid *holder;
};

/* obj_process - how many forks lie between the process that loaded the library and this one. */
extern unsigned obj_process;

/* obj_opened_before_fork - obj_inherited() of an object without references, or of one that a child may open on
 * what it inherited.
 *
 * @process: obj_process when it was opened
 * Threading: any.
 * Errors:    none
 */
static inline bool obj_opened_before_fork(unsigned process)
{
	return process != obj_process;
}

/* obj_inherited - was the object opened before a fork, by a parent of this process?
 *
 * The object is then the parent's: its sockets are closed here, its shared memory is not mapped, its
 * locks may be held by a thread that this process does not have, and what it shares with the parent (epoll
 * sets, locks on files, registrations) must stay as it is.  So fi_close() leaves it alone and returns 0;
 * its memory lives as long as the process.
 *
 * Threading: any.
 * Errors:    none
 */
static inline bool obj_inherited(const struct obj_refs *refs)
{
	return obj_opened_before_fork(refs->process);
}

void obj_refs_init(struct obj_refs *refs);
void obj_refs_fini(struct obj_refs *refs);

/* obj_ref_get - @holder now uses the object of @refs.  @ref must hold nothing. */
void obj_ref_get(struct obj_refs *refs, struct obj_ref *ref, const struct fid *holder);

/* obj_ref_put - end that; does nothing when @ref holds nothing. */
void obj_ref_put(struct obj_ref *ref);

/* obj_refs_busy - may the object be closed?
 *
 * @self: the object, for the log
 *
 * Returns 0 when it is unused, else -FI_EBUSY after a warning that names the
 * holders ("cq 0x.. (context 0x..) is still used by endpoint 0x.. (context ..)").
 */
int obj_refs_busy(struct obj_refs *refs, const struct fid *self,
		  const struct fi_provider *prov, enum fi_log_subsys subsys);

/* obj_fid_name - "endpoint", "completion queue", ... for a fid class. */
const char *obj_fid_name(const struct fid *fid);

#endif
