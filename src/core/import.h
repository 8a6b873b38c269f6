/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* import.h - slots for objects of the program that replace objects of the library.
 *
 * The program owns the object and may free it once it has been removed.  So a slot counts the
 * threads inside the object, and removing the object waits for them.  While an object is
 * imported, its fid.ops is the library's: fi_close() on it removes it and then calls the close
 * that it had before, if any.
 */
#ifndef CORE_IMPORT_H
#define CORE_IMPORT_H

#include <pthread.h>
#include <stdatomic.h>

#include <rdma/fabric.h>

struct core_import {
	_Atomic(struct fid *) fid;	/* the imported object, or NULL */
	atomic_int users;		/* calls in progress */
	struct fi_ops *saved_ops;	/* the object's ops, restored on removal */
	void (*left)(struct fid *fid);	/* called after removal, when no call is in progress; or NULL */
};

#define CORE_IMPORT_INIT { .fid = NULL }

/* core_import_enter - the object, which stays until core_import_leave(), or NULL. */
void *core_import_enter(struct core_import *imp);
void core_import_leave(struct core_import *imp);

/* core_import_set - import @fid, or none (NULL), in place of the previous object.
 * Threading: any.  Waits for calls in progress in the previous object, except when it is itself
 *            called from inside an imported object.
 */
void core_import_set(struct core_import *imp, struct fid *fid);

/* core_import_fork_child - after fork(): discount the calls of threads that the child does not
 * have.
 */
void core_import_fork_child(struct core_import *imp);

extern pthread_mutex_t core_import_lock;

#endif
