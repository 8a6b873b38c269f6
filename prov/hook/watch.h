/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * watch.h - hooks interpose on the calls of a program; watchers are told of each call.
 *
 * An object that is opened under a hooked fabric keeps its address: its pointers to ops tables
 * are replaced by pointers to copies, in which every function that calls.def names reports to
 * the watchers and then calls the provider's.  So objects can be bound, imported and compared
 * as without a hook, and other functions cost nothing more.
 */
#ifndef HOOK_H
#define HOOK_H

#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOOK_WATCHERS 4		/* per fabric, at most one of each kind */
#define HOOK_TEXT 320

enum hook_kind {
	HOOK_DATA,		/* moves data: msg, tagged, rma, atomic, collective */
	HOOK_POLL,		/* polls for an event, does not block */
	HOOK_WAIT,		/* may sleep */
	HOOK_REG,		/* memory registration */
	HOOK_CTRL,		/* everything else */
};

/* Every hooked call: HOOK_FN_msg_send and so on. */
enum hook_fn {
#define CALL(kind, type, table, slot, ...) HOOK_FN_##table##_##slot,
#define READERR(table, name, at, entry) HOOK_FN_##table##_readerr,
#define FID(kind, slot, name, params) HOOK_FN_fid_##slot,
#include "base/calls.def"
	HOOK_FN_CNT
};

struct hook_set;

/* One call, from entry to return. */
struct hook_call {
	struct hook_set *set;
	struct fid *fid;	/* the object; invalid once the call has returned, if it was a close */
	enum hook_fn fn;
	size_t bytes;		/* of the payload or of the region */
	int64_t ret;		/* what it returned */
	struct fid *opened;	/* the new object, of calls that open one */
	uint64_t mark[HOOK_WATCHERS];	/* written by enter(), read by leave(), one per watcher */
	char text[HOOK_TEXT];	/* its arguments as text, if a watcher wants them */
};

/* A watcher's state for one fabric begins with it; zero when it is made. */
struct hook_state {
	char *fabric;		/* name of the provider */
};

struct hook_watcher {
	struct fi_provider *prov;	/* ofi_hook_..., for the log */
	size_t state_size;
	const char *verb;		/* "traced": what is done with calls and logged; NULL: nothing */
	bool text;			/* wants the arguments */
	/* the fabric is closed: log the results; the caller frees @state; or NULL */
	void (*close)(void *state);
	/* before and after the call; each may be NULL */
	void (*enter)(void *state, struct hook_call *call, uint64_t *mark);
	void (*leave)(void *state, struct hook_call *call, uint64_t mark);
};

/* hook_fabric - the fi_provider.fabric function of a hook: @watcher is told of every call on
 * @attr->fabric and on objects opened under it.
 *
 * @fabric: [out] the same object
 *
 * Threading: any; watchers are called in the threads of the program, concurrently.
 * Errors:    -FI_EINVAL (no fabric in @attr: a hook cannot be opened alone), -FI_ENOMEM,
 *            -FI_ENOSPC (too many watchers).
 */
int hook_fabric(const struct hook_watcher *watcher, struct fi_fabric_attr *attr,
		struct fid_fabric **fabric);

/* hook_getinfo - fi_provider.getinfo of every hook: returns -FI_ENODATA. */
int hook_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		 const struct fi_info *hints, struct fi_info **info);

/* hook_fn_name, hook_fn_kind - "fi_send", HOOK_DATA. */
const char *hook_fn_name(enum hook_fn fn);
enum hook_kind hook_fn_kind(enum hook_fn fn);

/* hook_fn_idle - true when the call was a poll that found nothing. */
bool hook_fn_idle(const struct hook_call *call);

#endif
