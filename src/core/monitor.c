/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>

#include "core/monitor.h"

struct core_import core_monitor = CORE_IMPORT_INIT;
void (*core_monitor_notified)(const void *addr, size_t len);

static void notify(struct fid_mem_monitor *monitor, const void *addr, size_t len)
{
	void (*told)(const void *addr, size_t len);

	told = __atomic_load_n(&core_monitor_notified, __ATOMIC_ACQUIRE);
	if (told)
		told(addr, len);
}

static struct fi_ops_mem_notify notify_ops = {
	.size = sizeof(notify_ops),
	.notify = notify,
};

static int monitor_check(const struct fid_mem_monitor *monitor)
{
	const struct fi_ops_mem_monitor *ops = monitor->export_ops;

	if (monitor->fid.fclass != FI_CLASS_MEM_MONITOR || !ops)
		return -FI_EINVAL;
	if (!FI_CHECK_OP(ops, struct fi_ops_mem_monitor, start) ||
	    !FI_CHECK_OP(ops, struct fi_ops_mem_monitor, stop) ||
	    !FI_CHECK_OP(ops, struct fi_ops_mem_monitor, subscribe) ||
	    !FI_CHECK_OP(ops, struct fi_ops_mem_monitor, unsubscribe) ||
	    !FI_CHECK_OP(ops, struct fi_ops_mem_monitor, valid))
		return -FI_ENOSYS;
	return 0;
}

int core_monitor_import(struct fid_mem_monitor *monitor)
{
	int ret;

	if (!monitor) {
		core_import_set(&core_monitor, NULL);
		return 0;
	}
	ret = monitor_check(monitor);
	if (ret)
		return ret;
	if (atomic_load(&core_monitor.fid))
		return -FI_EBUSY;
	monitor->import_ops = &notify_ops;
	core_import_set(&core_monitor, &monitor->fid);
	return 0;
}
