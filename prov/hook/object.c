/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Which objects are hooked and which watchers they report to: one set of watchers for a fabric
 * and all objects opened under it.
 */
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "intern.h"

struct hook_set {
	struct list entry;
	struct hook_table *fabric;	/* header of the fabric's copied struct fi_ops */
	struct list kept;		/* records of passive endpoints, whose close is not hooked;
					 * freed with the set */
	unsigned cnt;
	bool text;
	bool closing;			/* the fabric is being closed; its address may be in use again */
	const struct hook_watcher *watcher[HOOK_WATCHERS];
	struct hook_state *state[HOOK_WATCHERS];
};

/* The record of a hooked object, with the copies of its tables. */
struct record {
	struct list kept;
	struct hook_obj obj;
	/* tables follow, each preceded by a hook_table */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list sets = { &sets, &sets };
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

/* ---- tables ---------------------------------------------------------------------------- */

typedef void (*slot_fn)(void);

static size_t slot_count(size_t size)
{
	return (size - sizeof(size_t)) / sizeof(slot_fn);
}

/* A table is its size followed by function pointers. */
static slot_fn *slots_of(const void *ops)
{
	return (slot_fn *) ((char *) ops + sizeof(size_t));
}

/* table_overlay - make @mine a copy of @real, as long as the shorter of both, with the hooks in it. */
static void table_overlay(void *mine, const void *real, const struct hook_shape *shape)
{
	size_t real_size = *(const size_t *) real;
	size_t size = real_size < shape->size ? real_size : shape->size;
	const slot_fn *hooks = slots_of(shape->hooks);
	size_t i;

	memcpy(mine, real, size);
	*(size_t *) mine = size;
	for (i = 0; i < slot_count(size); i++)
		if (slots_of(mine)[i] && hooks[i])
			slots_of(mine)[i] = hooks[i];
}

static const void **pointer_of(struct fid *fid, const struct hook_shape *shape)
{
	return (const void **) ((char *) fid + shape->at);
}

static size_t room_for(const struct hook_shape *shape)
{
	return sizeof(struct hook_table) + shape->size;
}

static struct hook_table *first_table(struct hook_obj *obj)
{
	return (struct hook_table *) (container_of(obj, struct record, obj) + 1);
}

/* provider_table - the provider's table behind @ops.  A new alias of an object starts with the
 * object's pointers, which are to copies.
 */
static const void *provider_table(const void *ops, const struct hook_shape *shape)
{
	size_t size = *(const size_t *) ops;
	const slot_fn *hooks = slots_of(shape->hooks);
	size_t i;

	for (i = 0; i < slot_count(size < shape->size ? size : shape->size); i++)
		if (hooks[i] && slots_of(ops)[i] == hooks[i])
			return hook_table_of(ops)->real;
	return ops;
}

static void copy_tables(struct hook_obj *obj)
{
	const struct hook_shape *shape = hook_shapes(obj->fid->fclass);
	struct hook_table *t = first_table(obj);
	const void **pointer;

	for (; shape->hooks; shape++) {
		pointer = pointer_of(obj->fid, shape);
		if (*pointer && *pointer != t + 1) {
			t->obj = obj;
			t->real = provider_table(*pointer, shape);
			table_overlay(t + 1, t->real, shape);
			*pointer = t + 1;
		}
		t = (struct hook_table *) ((char *) t + room_for(shape));
	}
}

/* ---- objects ----------------------------------------------------------------------------- */

static struct hook_obj *obj_new(struct hook_set *set, struct fid *fid)
{
	const struct hook_shape *shape = hook_shapes(fid->fclass);
	size_t size = sizeof(struct record);
	struct record *record;

	for (; shape->hooks; shape++)
		size += room_for(shape);
	record = calloc(1, size);
	if (!record)
		return NULL;
	record->obj.set = set;
	record->obj.fid = fid;
	list_init(&record->kept);
	copy_tables(&record->obj);
	return &record->obj;
}

/* hook_obj_at - until an alias is hooked itself, its pointers are to the tables of the original
 * object.
 */
struct hook_obj *hook_obj_at(struct fid *fid)
{
	const struct hook_shape *shape = hook_shapes(fid->fclass);
	struct hook_obj *obj;

	if (!shape || shape->at != offsetof(struct fid, ops) ||
	    provider_table(fid->ops, shape) == fid->ops)
		return NULL;
	obj = hook_table_of(fid->ops)->obj;
	return obj->fid == fid ? obj : NULL;
}

struct hook_obj *hook_object(struct hook_obj *parent, struct fid *fid)
{
	struct hook_set *set = parent->set;
	struct hook_obj *obj;

	if (!hook_shapes(fid->fclass))
		return NULL;
	obj = hook_obj_at(fid);
	if (obj)
		return obj;
	obj = obj_new(set, fid);
	if (!obj) {
		FI_WARN(set->watcher[0]->prov, FI_LOG_FABRIC, "no memory to hook a new object: "
			"its calls are not reported\n");
		return NULL;
	}
	if (fid->fclass != FI_CLASS_PEP)
		return obj;
	pthread_mutex_lock(&lock);
	list_add_tail(&container_of(obj, struct record, obj)->kept, &set->kept);
	pthread_mutex_unlock(&lock);
	return obj;
}

void hook_override(struct hook_obj *obj, size_t at, const void *ops)
{
	const struct hook_shape *shape = hook_shapes(obj->fid->fclass);
	struct hook_table *t = first_table(obj);

	for (; shape->at != at; shape++)
		t = (struct hook_table *) ((char *) t + room_for(shape));
	t->override = ops;
}

void hook_refresh(struct hook_obj *obj)
{
	if (obj->fid->fclass != FI_CLASS_FABRIC)
		copy_tables(obj);
}

static void state_free(struct hook_state *state)
{
	if (state)
		free(state->fabric);
	free(state);
}

/* state_new - NULL: no memory. */
static struct hook_state *state_new(const struct hook_watcher *watcher, const char *fabric)
{
	struct hook_state *state = calloc(1, watcher->state_size);

	if (state)
		state->fabric = strdup(fabric);
	if (!state || !state->fabric) {
		state_free(state);
		return NULL;
	}
	if (watcher->verb && !fi_log_enabled(watcher->prov, FI_LOG_TRACE, FI_LOG_FABRIC))
		FI_WARN(watcher->prov, FI_LOG_FABRIC, "calls are %s, but not logged: set "
			"FI_LOG_LEVEL=trace\n", watcher->verb);
	return state;
}

static void set_free(struct hook_set *set)
{
	struct record *record;
	unsigned i;

	for (i = 0; i < set->cnt; i++) {
		if (set->watcher[i]->close)
			set->watcher[i]->close(set->state[i]);
		state_free(set->state[i]);
	}
	while (!list_empty(&set->kept)) {
		record = container_of(set->kept.next, struct record, kept);
		list_del(&record->kept);
		free(record);
	}
	free(set);
}

void hook_closed(struct hook_obj *obj)
{
	struct hook_set *set = obj->set;
	bool last = set->fabric && set->fabric->obj == obj;

	if (last) {
		pthread_mutex_lock(&lock);
		list_del(&set->entry);
		pthread_mutex_unlock(&lock);
		set_free(set);
	}
	if (obj->priv_free)
		obj->priv_free(obj->priv);
	free(container_of(obj, struct record, obj));
}

/* ---- fabrics ----------------------------------------------------------------------------- */

/* set_find - the set of the fabric at @fid; of two at one address, the one that is not being closed. */
static struct hook_set *set_find(const struct fid *fid)
{
	struct hook_set *set, *closing = NULL;

	list_for_each_entry(set, &sets, entry) {
		if (set->fabric->obj->fid != fid)
			continue;
		if (!set->closing)
			return set;
		closing = set;
	}
	return closing;
}

void hook_closing(struct hook_obj *obj, bool closing)
{
	struct hook_set *set = obj->set;

	if (!set->fabric || set->fabric->obj != obj)
		return;
	pthread_mutex_lock(&lock);
	set->closing = closing;
	pthread_mutex_unlock(&lock);
}

struct hook_table *hook_fid_table(struct fid *fid)
{
	struct hook_set *set;

	if (fid->fclass != FI_CLASS_FABRIC)
		return hook_table_of(fid->ops);
	/* The core has replaced the fabric's struct fi_ops, so the set is found by the address. */
	pthread_mutex_lock(&lock);
	set = set_find(fid);
	pthread_mutex_unlock(&lock);
	return set->fabric;
}

static struct hook_set *set_new(struct fid_fabric *fabric)
{
	struct hook_set *set = calloc(1, sizeof(*set));
	struct hook_obj *obj = set ? obj_new(set, &fabric->fid) : NULL;

	if (!obj) {
		free(set);
		return NULL;
	}
	list_init(&set->kept);
	set->fabric = first_table(obj);
	list_add_tail(&set->entry, &sets);
	return set;
}

static int add_watcher(struct hook_set *set, const struct hook_watcher *watcher, const char *name)
{
	unsigned i;

	for (i = 0; i < set->cnt; i++)
		if (set->watcher[i] == watcher)
			return 0;	/* a provider may return one fabric twice */
	if (set->cnt == HOOK_WATCHERS)
		return -FI_ENOSPC;
	set->state[set->cnt] = state_new(watcher, name);
	if (!set->state[set->cnt])
		return -FI_ENOMEM;
	set->watcher[set->cnt++] = watcher;
	set->text |= watcher->text;
	return 0;
}

int hook_fabric(const struct hook_watcher *watcher, struct fi_fabric_attr *attr,
		struct fid_fabric **fabric)
{
	struct hook_set *set;
	int ret = -FI_ENOMEM;

	if (!attr || !attr->fabric) {
		FI_WARN(watcher->prov, FI_LOG_FABRIC, "a hook cannot be opened as a provider: name it "
			"in FI_HOOK, and open another provider's\n");
		return -FI_EINVAL;
	}
	pthread_once(&tables_once, hook_fill_tables);
	pthread_mutex_lock(&lock);
	set = set_find(&attr->fabric->fid);
	if (!set || set->closing)
		set = set_new(attr->fabric);
	if (set)
		ret = add_watcher(set, watcher, attr->prov_name);
	pthread_mutex_unlock(&lock);
	*fabric = attr->fabric;
	return ret;
}

int hook_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		 const struct fi_info *hints, struct fi_info **info)
{
	return -FI_ENODATA;
}

/* ---- calls ------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum hook_kind kind;
} fns[] = {
#define CALL(kind, type, table, slot, name, ...) { name, HOOK_##kind },
#define READERR(table, name, at, entry) { name, HOOK_POLL },
#define FID(kind, slot, name, params) { name, HOOK_##kind },
#include "base/calls.def"
};

const char *hook_fn_name(enum hook_fn fn)
{
	return fns[fn].name;
}

enum hook_kind hook_fn_kind(enum hook_fn fn)
{
	return fns[fn].kind;
}

bool hook_fn_idle(const struct hook_call *call)
{
	return call->ret == -FI_EAGAIN || (call->fn == HOOK_FN_poll_poll && !call->ret);
}

void hook_enter(struct hook_call *call, const struct hook_obj *obj, enum hook_fn fn,
		size_t bytes)
{
	call->set = obj->set;
	call->fid = obj->fid;
	call->fn = fn;
	call->bytes = bytes;
	call->opened = NULL;
	call->text[0] = '\0';
}

bool hook_wants_text(const struct hook_call *call)
{
	return call->set->text;
}

void hook_text(struct hook_call *call, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(call->text, sizeof(call->text), fmt, ap);
	va_end(ap);
}

void hook_add_text(struct hook_call *call, const char *fmt, ...)
{
	size_t len = strlen(call->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(call->text + len, sizeof(call->text) - len, fmt, ap);
	va_end(ap);
}

void hook_started(struct hook_call *call)
{
	struct hook_set *set = call->set;
	unsigned i;

	for (i = 0; i < set->cnt; i++)
		if (set->watcher[i]->enter)
			set->watcher[i]->enter(set->state[i], call, &call->mark[i]);
}

/* In reverse order, so that one watcher does not measure the time of another. */
void hook_leave(struct hook_call *call, int64_t ret)
{
	struct hook_set *set = call->set;
	unsigned i = set->cnt;

	call->ret = ret;
	while (i--)
		if (set->watcher[i]->leave)
			set->watcher[i]->leave(set->state[i], call, call->mark[i]);
}
