/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* intern.h - between object.c, which turns tables, and calls.c, which is in them. */
#ifndef HOOK_INTERN_H
#define HOOK_INTERN_H

#include "watch.h"

/* An object that is hooked; its tables lie behind it. */
struct hook_obj {
	struct hook_set *set;
	struct fid *fid;
	void *own;		/* of a hook that changes what calls do; else NULL */
	void (*own_free)(void *own);
};

/* Stands before each copied table. */
struct hook_table {
	struct hook_obj *obj;
	const void *real;	/* the provider's */
	const void *instead;	/* a hook's: slots in it are called in the provider's place */
};

/* Which pointer of an object goes to which table, and what is put into the copy. */
struct hook_shape {
	size_t at;		/* offset of the pointer in the object */
	size_t size;		/* of the table, as we know it */
	const void *hooks;	/* a table with our functions; NULL slots stay the provider's */
};

/* hook_fill_tables - before the first object is hooked. */
void hook_fill_tables(void);

/* hook_shapes - of an object's class, ended by one without hooks; NULL: not hooked. */
const struct hook_shape *hook_shapes(size_t fclass);

/* hook_table_of - what stands before the table in which a call was found. */
static inline struct hook_table *hook_table_of(const void *ops)
{
	return (struct hook_table *) ops - 1;
}

/* hook_fid_table - the same for the table of close, bind and control. */
struct hook_table *hook_fid_table(struct fid *fid);

/* hook_object - hook a new object under @parent's fabric; one that is hooked stays as it is.
 * Returns it, or NULL: of no class that is hooked; or no memory, then the log says so.
 */
struct hook_obj *hook_object(struct hook_obj *parent, struct fid *fid);

/* hook_obj_of - what stands behind an object that is hooked.
 * hook_obj_at - the same, or NULL for one that is not.
 */
static inline struct hook_obj *hook_obj_of(struct fid *fid)
{
	return hook_fid_table(fid)->obj;
}
struct hook_obj *hook_obj_at(struct fid *fid);

/* hook_instead - functions of @ops are called in place of the provider's, by the pointer
 * to a table at offset @at of the object.  They find the provider's in
 * hook_table_of(...)->real, and what is theirs in obj->own.
 * Threading: before the object is used.
 */
void hook_instead(struct hook_obj *obj, size_t at, const void *ops);

/* hook_again - a provider may have changed tables of @obj's while it was enabled. */
void hook_again(struct hook_obj *obj);

/* hook_closing - @obj is about to be closed, or (false) could not be.  While a fabric is
 * closed, another may be opened at its address.
 */
void hook_closing(struct hook_obj *obj, bool closing);

/* hook_gone - @obj was closed; its fid is no more. */
void hook_gone(struct hook_obj *obj);

/* A call's two ends.  hook_text() belongs between enter and start,
 * hook_more() before leave, both if hook_wants_text(). */
void hook_enter(struct hook_call *call, const struct hook_obj *obj, enum hook_fn fn,
		size_t bytes);
bool hook_wants_text(const struct hook_call *call);
void hook_text(struct hook_call *call, const char *fmt, ...) FI_FORMAT_PRINTF(2, 3);

/* hook_more - what the call has stored, behind its arguments. */
void hook_more(struct hook_call *call, const char *fmt, ...) FI_FORMAT_PRINTF(2, 3);
void hook_start(struct hook_call *call);
void hook_leave(struct hook_call *call, int64_t ret);

#endif
