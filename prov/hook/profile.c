/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ofi_hook_profile: for each call how often it was made, for how many bytes, in which sizes,
 * and how often it returned -FI_EAGAIN.  The table is logged when the fabric is closed.
 */
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/provider.h"
#include "watch.h"

/* Upper bounds of the size classes; the last class has none. */
static const size_t size_end[] = { 64, 512, 1024, 4096, 65536, 262144, 1048576, 4194304 };

#define CLASSES (sizeof(size_end) / sizeof(size_end[0]) + 1)

struct count {
	_Atomic uint64_t calls;
	_Atomic uint64_t later;		/* -FI_EAGAIN, or nothing found */
	_Atomic uint64_t failed;
	_Atomic uint64_t bytes;		/* of calls that succeeded */
	_Atomic uint64_t sizes[CLASSES];
};

struct profile {
	struct hook_state base;
	struct count fn[HOOK_FN_CNT];
};

static struct fi_provider profile_prov;

static void count_add(_Atomic uint64_t *to, uint64_t value)
{
	atomic_fetch_add_explicit(to, value, memory_order_relaxed);
}

static void say_sizes(const struct count *count, char *text, size_t len)
{
	size_t i, at = 0;

	text[0] = '\0';
	for (i = 0; i < CLASSES; i++) {
		if (!count->sizes[i])
			continue;
		if (i < CLASSES - 1)
			at += (size_t) snprintf(text + at, len - at, " <=%zu:%" PRIu64, size_end[i],
						count->sizes[i]);
		else
			at += (size_t) snprintf(text + at, len - at, " >%zu:%" PRIu64,
						size_end[i - 1], count->sizes[i]);
	}
}

static void profile_close(void *state)
{
	struct profile *profile = state;
	const struct count *count;
	char sizes[CLASSES * 32];
	int i;

	FI_TRACE(&profile_prov, FI_LOG_FABRIC, "%s: %-22s %12s %12s %8s %16s  sizes\n",
		 profile->base.fabric, "call", "calls", "later", "failed", "bytes");
	for (i = 0; i < HOOK_FN_CNT; i++) {
		count = &profile->fn[i];
		if (!count->calls)
			continue;
		say_sizes(count, sizes, sizeof(sizes));
		FI_TRACE(&profile_prov, FI_LOG_FABRIC, "%s: %-22s %12" PRIu64 " %12" PRIu64
			 " %8" PRIu64 " %16" PRIu64 " %s\n", profile->base.fabric,
			 hook_fn_name((enum hook_fn) i), count->calls, count->later,
			 count->failed, count->bytes, sizes);
	}
}

static size_t size_class(size_t bytes)
{
	size_t i = 0;

	while (i < CLASSES - 1 && bytes > size_end[i])
		i++;
	return i;
}

static void profile_leave(void *state, struct hook_call *call, uint64_t mark)
{
	struct count *count = &((struct profile *) state)->fn[call->fn];
	enum hook_kind kind = hook_fn_kind(call->fn);

	count_add(&count->calls, 1);
	if (hook_fn_idle(call)) {
		count_add(&count->later, 1);
	} else if (call->ret < 0) {
		count_add(&count->failed, 1);
	} else if (kind == HOOK_DATA || kind == HOOK_REG) {
		count_add(&count->bytes, call->bytes);
		count_add(&count->sizes[size_class(call->bytes)], 1);
	}
}

static const struct hook_watcher watcher = {
	.prov = &profile_prov,
	.state_size = sizeof(struct profile),
	.verb = "counted",
	.close = profile_close,
	.leave = profile_leave,
};

static int profile_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
			  void *context)
{
	return hook_fabric(&watcher, attr, fabric);
}

static struct fi_provider profile_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "ofi_hook_profile",
	.getinfo = hook_getinfo,
	.fabric = profile_fabric,
};

OFI_PROVIDER_INI(hook_profile)
{
	return &profile_prov;
}
