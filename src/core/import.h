/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* import.h - an object of the program's that stands in for one of ours.
 *
 * The program owns the object and may free it once it is out.  So a slot
 * counts who is inside it, and taking the object out waits for them.  While an
 * object is in, its fid.ops is the library's: fi_close() on it takes it out and
 * then calls the close that it had before, if any.
 */
#ifndef CORE_IMPORT_H
#define CORE_IMPORT_H

#include <pthread.h>
#include <stdatomic.h>

#include <rdma/fabric.h>

struct core_import {
	_Atomic(struct fid *) fid;	/* what is in, or NULL */
	atomic_int users;		/* calls under way */
	struct fi_ops *saved_ops;	/* the fid's own, back when it leaves */
	void (*left)(struct fid *fid);	/* it is out, and no call is in it; or NULL */
};

#define CORE_IMPORT_INIT { .fid = NULL }

/* core_import_enter - the object, held until core_import_leave(), or NULL. */
void *core_import_enter(struct core_import *imp);
void core_import_leave(struct core_import *imp);

/* core_import_set - put @fid in, or nothing (NULL), in place of what was.
 *
 * Threading: any.  Waits for calls that are inside the old object, but not when
 *            it is itself called from inside an imported object.
 */
void core_import_set(struct core_import *imp, struct fid *fid);

/* core_import_fork_child - the calls of threads that the child lacks are over. */
void core_import_fork_child(struct core_import *imp);

extern pthread_mutex_t core_import_lock;

#endif
