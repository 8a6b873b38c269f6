/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ofi_hook_trace: a log line for each call, with its arguments and its result.
 *
 * A call that may block is also logged when it begins: the last line of a program that hangs
 * names the call.  Polls that find nothing are counted, and the count precedes the next line.
 */
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdatomic.h>

#include "base/provider.h"
#include "watch.h"

#define COUNTS 64		/* counters are hashed to this many places */

struct trace {
	struct hook_state base;
	_Atomic uint64_t idle;		/* polls that found nothing since the last line */
	_Atomic uint64_t counts[COUNTS];	/* counter values at the last read */
};

static struct fi_provider trace_prov;

static enum fi_log_subsys subsys_of(const struct hook_call *call)
{
	switch (hook_fn_kind(call->fn)) {
	case HOOK_DATA:
		return FI_LOG_EP_DATA;
	case HOOK_POLL:
	case HOOK_WAIT:
		return FI_LOG_CQ;
	case HOOK_REG:
		return FI_LOG_MR;
	default:
		return FI_LOG_FABRIC;
	}
}

static void say_idle(struct trace *trace)
{
	uint64_t idle = atomic_exchange_explicit(&trace->idle, 0, memory_order_relaxed);

	if (idle)
		FI_TRACE(&trace_prov, FI_LOG_CQ, "%s: %" PRIu64 " calls found nothing\n",
			 trace->base.fabric, idle);
}

static void trace_enter(void *state, struct hook_call *call, uint64_t *mark)
{
	struct trace *trace = state;

	if (hook_fn_kind(call->fn) != HOOK_WAIT)
		return;
	say_idle(trace);
	FI_TRACE(&trace_prov, subsys_of(call), "%s: %s(%s) ...\n", trace->base.fabric,
		 hook_fn_name(call->fn), call->text);
}

/* is_unchanged - true for a read of a counter that returned the same value as before. */
static bool is_unchanged(struct trace *trace, const struct hook_call *call)
{
	size_t place = ((uintptr_t) call->fid / 64 * 2 + call->fn) % COUNTS;

	return (call->fn == HOOK_FN_cntr_read || call->fn == HOOK_FN_cntr_readerr) &&
	       atomic_exchange_explicit(&trace->counts[place], (uint64_t) call->ret,
					memory_order_relaxed) == (uint64_t) call->ret;
}

static void trace_leave(void *state, struct hook_call *call, uint64_t mark)
{
	struct trace *trace = state;
	bool error = call->ret < 0 && call->fn != HOOK_FN_cntr_read &&
		     call->fn != HOOK_FN_cntr_readerr;

	if (hook_fn_kind(call->fn) == HOOK_POLL &&
	    (hook_fn_idle(call) || is_unchanged(trace, call))) {
		atomic_fetch_add_explicit(&trace->idle, 1, memory_order_relaxed);
		return;
	}
	say_idle(trace);
	if (call->opened)
		FI_TRACE(&trace_prov, subsys_of(call), "%s: %s(%s) = %p\n", trace->base.fabric,
			 hook_fn_name(call->fn), call->text, (void *) call->opened);
	else
		FI_TRACE(&trace_prov, subsys_of(call), "%s: %s(%s) = %" PRId64 "%s%s\n",
			 trace->base.fabric, hook_fn_name(call->fn), call->text, call->ret,
			 error ? ", " : "", error ? fi_strerror((int) -call->ret) : "");
}

static const struct hook_watcher watcher = {
	.prov = &trace_prov,
	.state_size = sizeof(struct trace),
	.verb = "traced",
	.text = true,
	.enter = trace_enter,
	.leave = trace_leave,
};

static int trace_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return hook_fabric(&watcher, attr, fabric);
}

static struct fi_provider trace_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "ofi_hook_trace",
	.getinfo = hook_getinfo,
	.fabric = trace_fabric,
};

OFI_PROVIDER_INI(hook_trace)
{
	return &trace_prov;
}
