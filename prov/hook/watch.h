/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * watch.h - what stands between a program and its objects, and lets watchers see
 * each call.
 *
 * An object that is opened under a hooked fabric keeps its address: its pointers to
 * tables of functions are turned to copies, in which every function that calls.def
 * names reports to the watchers and calls on.  So objects can be bound, imported and
 * compared as without a hook, and what is not hooked costs nothing more.
 */
#ifndef HOOK_H
#define HOOK_H

#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOOK_WATCHERS 4		/* of one fabric, each of another kind */
#define HOOK_TEXT 320

enum hook_kind {
	HOOK_DATA,		/* moves data: msg, tagged, rma, atomic, collective */
	HOOK_POLL,		/* looks for an event, and comes back at once */
	HOOK_WAIT,		/* may sleep */
	HOOK_REG,		/* memory registration */
	HOOK_CTRL,		/* everything else */
};

/* Every call there is; HOOK_FN_msg_send. */
enum hook_fn {
#define CALL(kind, type, table, slot, ...) HOOK_FN_##table##_##slot,
#define OPEN(kind, type, table, slot, ...) HOOK_FN_##table##_##slot,
#define READERR(table, name, at, entry) HOOK_FN_##table##_readerr,
#define FID(kind, slot, name) HOOK_FN_fid_##slot,
#include "calls.def"
#undef CALL
#undef OPEN
#undef READERR
#undef FID
	HOOK_FN_CNT
};

struct hook_set;

/* One call, from entry to return. */
struct hook_call {
	struct hook_set *set;
	struct fid *fid;	/* the object; not to be followed after the return */
	enum hook_fn fn;
	size_t bytes;		/* that it is about: of payload, or of a region */
	int64_t ret;		/* what it returned */
	struct fid *opened;	/* the new object, of calls that open one */
	uint64_t mark[HOOK_WATCHERS];	/* a watcher's own */
	char text[HOOK_TEXT];	/* its arguments, for watchers that want them */
};

struct hook_watcher {
	struct fi_provider *prov;	/* ofi_hook_..., for the log */
	bool text;			/* wants the arguments */
	/* -> its state for one fabric; NULL: no memory */
	void *(*open)(const char *fabric);
	/* the fabric is closed; frees @state */
	void (*close)(void *state);
	/* both or neither */
	void (*enter)(void *state, struct hook_call *call, uint64_t *mark);
	void (*leave)(void *state, struct hook_call *call, uint64_t mark);
};

/* hook_fabric - the fi_provider.fabric call of a hook: @watcher sees all that is done
 * with @attr->fabric and what is opened under it.
 *
 * @fabric: [out] the same object
 *
 * Threading: any; watchers are called from any thread, also at once.
 * Errors:    -FI_EINVAL (no fabric in @attr: a hook has none of its own), -FI_ENOMEM,
 *            -FI_ENOSPC (too many watchers).
 */
int hook_fabric(const struct hook_watcher *watcher, struct fi_fabric_attr *attr,
		struct fid_fabric **fabric);

/* hook_getinfo - of every hook: a hook offers nothing by itself.  -FI_ENODATA. */
int hook_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		 const struct fi_info *hints, struct fi_info **info);

/* hook_fn_name, hook_fn_kind - "fi_send", HOOK_DATA. */
const char *hook_fn_name(enum hook_fn fn);
enum hook_kind hook_fn_kind(enum hook_fn fn);

/* hook_fn_nothing - did the call only find that there is nothing yet? */
bool hook_fn_nothing(const struct hook_call *call);

#endif
