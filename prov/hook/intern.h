/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* intern.h - shared by object.c, which replaces the tables, and calls.c, which has the
 * functions in them.
 */
#ifndef HOOK_INTERN_H
#define HOOK_INTERN_H

#include "watch.h"

/* A hooked object; the copies of its tables follow it in memory. */
struct hook_obj {
	struct hook_set *set;
	struct fid *fid;
	void *priv;		/* state of a hook that changes what calls do (fault); else NULL */
	void (*priv_free)(void *priv);
};

/* Precedes each copied table. */
struct hook_table {
	struct hook_obj *obj;
	const void *real;	/* the provider's */
	const void *override;	/* a hook's functions, called in place of the provider's where set */
};

/* One ops table of an object class: where its pointer is, and which functions go into the copy. */
struct hook_shape {
	size_t at;		/* offset of the pointer in the object */
	size_t size;		/* of the table, as declared in our headers */
	const void *hooks;	/* the table of our functions; for NULL slots the provider's function
				 * is used */
};

/* hook_fill_tables - initialize the tables of functions; once, before the first object is
 * hooked.
 */
void hook_fill_tables(void);

/* hook_shapes - the tables of an object class, terminated by an entry without hooks; NULL:
 * objects of this class are not hooked.
 */
const struct hook_shape *hook_shapes(size_t fclass);

/* hook_table_of - the header of the copied table @ops. */
static inline struct hook_table *hook_table_of(const void *ops)
{
	return (struct hook_table *) ops - 1;
}

/* hook_fid_table - the header of the table of close, bind and control. */
struct hook_table *hook_fid_table(struct fid *fid);

/* hook_object - hook a new object under @parent's fabric; no effect on an object that is
 * hooked.
 * Returns its record, or NULL: a class that is not hooked, or no memory (logged).
 */
struct hook_obj *hook_object(struct hook_obj *parent, struct fid *fid);

/* hook_obj_of - the record of a hooked object.
 * hook_obj_at - the same, or NULL for an object that is not hooked.
 */
static inline struct hook_obj *hook_obj_of(struct fid *fid)
{
	return hook_fid_table(fid)->obj;
}
struct hook_obj *hook_obj_at(struct fid *fid);

/* hook_override - functions in @ops replace the provider's in the table whose pointer is at
 * offset @at of the object.  They find the provider's functions in hook_table_of(...)->real,
 * and their state in obj->priv.
 * Threading: before the object is used.
 */
void hook_override(struct hook_obj *obj, size_t at, const void *ops);

/* hook_refresh - copy the tables again: a provider may have changed them on enable. */
void hook_refresh(struct hook_obj *obj);

/* hook_closing - @obj is about to be closed, or (false) its close failed.  While a fabric is
 * being closed, another one may be opened at the same address.
 */
void hook_closing(struct hook_obj *obj, bool closing);

/* hook_closed - @obj was closed; its fid is invalid. */
void hook_closed(struct hook_obj *obj);

/* Entry and return of a call, in this order: hook_enter(), hook_text(), hook_started(), the
 * provider's function, hook_add_text(), hook_leave().  The texts only if hook_wants_text().
 */
void hook_enter(struct hook_call *call, const struct hook_obj *obj, enum hook_fn fn,
		size_t bytes);
bool hook_wants_text(const struct hook_call *call);
void hook_text(struct hook_call *call, const char *fmt, ...) FI_FORMAT_PRINTF(2, 3);

/* hook_add_text - append what the call has stored to the text of its arguments. */
void hook_add_text(struct hook_call *call, const char *fmt, ...) FI_FORMAT_PRINTF(2, 3);
void hook_started(struct hook_call *call);
void hook_leave(struct hook_call *call, int64_t ret);

#endif
