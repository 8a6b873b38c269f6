/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ofi_hook_perf: the average cost of each data path call, measured by a counter of the
 * processor (FI_PERF_CNTR), or in nanoseconds where there is none.  The table is logged when
 * the fabric is closed.
 *
 * A counter belongs to a thread: each thread opens one at its first call.  It counts user-mode
 * instructions only.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/provider.h"
#include "watch.h"

struct cost {
	_Atomic uint64_t calls, sum;
	_Atomic uint64_t idle, idle_sum;	/* polls that found nothing */
};

struct perf {
	struct hook_state base;
	struct cost fn[HOOK_FN_CNT];
};

static struct fi_provider perf_prov;

/* ---- the counter ------------------------------------------------------------------------- */

static const struct unit {
	const char *name;
	uint64_t config;
} units[] = {
	{ "cpu_instr", PERF_COUNT_HW_INSTRUCTIONS },	/* the default */
	{ "cpu_cycles", PERF_COUNT_HW_CPU_CYCLES },
};

static const struct unit *unit;		/* NULL: nanoseconds */
static pthread_key_t key;		/* value: 1 + the thread's descriptor */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int counter_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = unit->config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int) syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void counter_close(void *held)
{
	close((int) ((intptr_t) held - 1));
}

static const struct unit *unit_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcasecmp(units[i].name, name))
			return &units[i];
	FI_WARN(&perf_prov, FI_LOG_FABRIC, "FI_PERF_CNTR=%s is unknown: use cpu_instr or "
		"cpu_cycles; cpu_instr is used\n", name);
	return &units[0];
}

/* Decided once: if the first thread gets no counter, no thread will. */
static void unit_choose(void)
{
	char *name = NULL;
	int fd;

	fi_param_get_str(NULL, "perf_cntr", &name);
	unit = name && *name ? unit_find(name) : &units[0];
	fd = pthread_key_create(&key, counter_close) ? -1 : counter_open();
	if (fd >= 0) {
		close(fd);
		return;
	}
	FI_TRACE(&perf_prov, FI_LOG_FABRIC, "no counter %s here (%s): time is measured "
		 "instead\n", unit->name, strerror(errno));
	unit = NULL;
}

static uint64_t perf_now(void)
{
	uint64_t value = 0;
	intptr_t held;

	if (!unit)
		return clock_ns();
	held = (intptr_t) pthread_getspecific(key);
	if (!held) {
		held = (intptr_t) counter_open() + 1;
		pthread_setspecific(key, (void *) held);
	}
	if (held && read((int) (held - 1), &value, sizeof(value)) != sizeof(value))
		return 0;
	return value;
}

/* ---- the watcher ------------------------------------------------------------------------- */

static double perf_mean(uint64_t sum, uint64_t calls)
{
	return calls ? (double) sum / (double) calls : 0;
}

static void perf_close(void *state)
{
	struct perf *perf = state;
	const struct cost *cost;
	int i;

	FI_TRACE(&perf_prov, FI_LOG_FABRIC, "%s: %-22s %12s %12s   and when nothing was there: "
		 "%12s %12s\n", perf->base.fabric, "call", "calls", unit ? unit->name : "ns", "calls",
		 unit ? unit->name : "ns");
	for (i = 0; i < HOOK_FN_CNT; i++) {
		cost = &perf->fn[i];
		if (cost->calls || cost->idle)
			FI_TRACE(&perf_prov, FI_LOG_FABRIC, "%s: %-22s %12" PRIu64 " %12.1f"
				 "                             %12" PRIu64 " %12.1f\n",
				 perf->base.fabric, hook_fn_name((enum hook_fn) i), cost->calls,
				 perf_mean(cost->sum, cost->calls), cost->idle,
				 perf_mean(cost->idle_sum, cost->idle));
	}
}

static bool is_measured(const struct hook_call *call)
{
	return hook_fn_kind(call->fn) == HOOK_DATA || hook_fn_kind(call->fn) == HOOK_POLL;
}

static void perf_enter(void *state, struct hook_call *call, uint64_t *mark)
{
	if (is_measured(call))
		*mark = perf_now();
}

static void perf_leave(void *state, struct hook_call *call, uint64_t mark)
{
	struct cost *cost = &((struct perf *) state)->fn[call->fn];
	bool idle = hook_fn_idle(call);
	uint64_t took;

	if (!is_measured(call))
		return;
	took = perf_now() - mark;
	atomic_fetch_add_explicit(idle ? &cost->idle : &cost->calls, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(idle ? &cost->idle_sum : &cost->sum, took,
				  memory_order_relaxed);
}

static const struct hook_watcher watcher = {
	.prov = &perf_prov,
	.state_size = sizeof(struct perf),
	.verb = "measured",
	.close = perf_close,
	.enter = perf_enter,
	.leave = perf_leave,
};

static int perf_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	pthread_once(&once, unit_choose);
	return hook_fabric(&watcher, attr, fabric);
}

static struct fi_provider perf_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "ofi_hook_perf",
	.getinfo = hook_getinfo,
	.fabric = perf_fabric,
};

OFI_PROVIDER_INI(hook_perf)
{
	fi_param_define(NULL, "perf_cntr", FI_PARAM_STRING,
			"What ofi_hook_perf counts: cpu_instr or cpu_cycles (default: cpu_instr)");
	return &perf_prov;
}
