/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <sched.h>
#include <stddef.h>

#include "core/import.h"

pthread_mutex_t core_import_lock = PTHREAD_MUTEX_INITIALIZER;

/* The slots that hold an object, so that its close finds the slot.  One for each kind of object
 * that can be imported.
 */
#define SLOTS 4
static struct core_import *slots[SLOTS];

/* Depth of this thread's calls into imported objects, of any slot. */
static _Thread_local int depth;

static int import_close(struct fid *fid);

static int no_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

static int no_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

static struct fi_ops import_ops = {
	.size = offsetof(struct fi_ops, ops_open),
	.close = import_close,
	.bind = no_bind,
	.control = no_control,
};

void *core_import_enter(struct core_import *imp)
{
	struct fid *fid;

	if (!atomic_load_explicit(&imp->fid, memory_order_relaxed))
		return NULL;
	atomic_fetch_add(&imp->users, 1);
	fid = atomic_load(&imp->fid);
	if (!fid)
		atomic_fetch_sub(&imp->users, 1);
	else
		depth++;
	return fid;
}

void core_import_leave(struct core_import *imp)
{
	depth--;
	atomic_fetch_sub(&imp->users, 1);
}

static void slot_note(struct core_import *imp)
{
	int i;

	for (i = 0; i < SLOTS && slots[i] != imp; i++) {
		if (!slots[i]) {
			slots[i] = imp;
			return;
		}
	}
}

/* Replaces the object under the lock; returns the ops of the old one in *ops_p. */
static struct fid *slot_swap(struct core_import *imp, struct fid *fid,
			     struct fi_ops **ops_p)
{
	struct fid *old = atomic_load(&imp->fid);

	*ops_p = imp->saved_ops;
	if (fid == old)
		return NULL;
	if (fid) {
		imp->saved_ops = fid->ops;
		fid->ops = &import_ops;
		slot_note(imp);
	}
	atomic_store(&imp->fid, fid);
	return old;
}

void core_import_set(struct core_import *imp, struct fid *fid)
{
	struct fi_ops *ops;
	struct fid *old;

	pthread_mutex_lock(&core_import_lock);
	old = slot_swap(imp, fid, &ops);
	pthread_mutex_unlock(&core_import_lock);
	if (!old)
		return;
	while (!depth && atomic_load(&imp->users))
		sched_yield();
	if (imp->left)
		imp->left(old);
	old->ops = ops;
}

static int import_close(struct fid *fid)
{
	struct core_import *imp = NULL;
	int i;

	pthread_mutex_lock(&core_import_lock);
	for (i = 0; i < SLOTS && slots[i]; i++)
		if (atomic_load(&slots[i]->fid) == fid)
			imp = slots[i];
	pthread_mutex_unlock(&core_import_lock);
	if (imp)
		core_import_set(imp, NULL);
	return fid->ops != &import_ops && FI_CHECK_OP(fid->ops, struct fi_ops, close) ?
	       fid->ops->close(fid) : 0;
}

void core_import_fork_child(struct core_import *imp)
{
	atomic_store(&imp->users, depth);
}
