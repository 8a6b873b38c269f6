/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "mr/imported.h"

#include <rdma/fi_errno.h>

/* The core's operations; valid for ever. */
static const struct ofi_monitor_ops *core;

void mr_imported_init(void)
{
	struct fid *fid;
	void *ops;

	if (fi_open(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), "mr_cache", NULL, 0, 0, &fid,
		    NULL))
		return;
	if (!fi_open_ops(fid, OFI_MONITOR_OPS, 0, &ops, NULL))
		core = ops;
	fi_close(fid);
}

int mr_imported_start(ofi_monitor_notify_fn notify)
{
	return core ? core->listen(notify) : -FI_ENOSYS;
}

bool mr_imported_any(void)
{
	unsigned life;

	if (!core->enter(&life))
		return false;
	core->leave();
	return true;
}

void mr_imported_stop(ofi_monitor_notify_fn notify)
{
	core->unlisten(notify);
}

int mr_imported_subscribe(const void *addr, size_t len, unsigned *life_p)
{
	struct fid_mem_monitor *monitor = core->enter(life_p);
	int ret;

	if (!monitor)
		return -FI_ENOSYS;
	ret = monitor->export_ops->subscribe(monitor, addr, len);
	core->leave();
	return ret;
}

/* Enters the monitor of that import; NULL when another one, or none, is imported now. */
static struct fid_mem_monitor *monitor_enter(unsigned life)
{
	unsigned now;
	struct fid_mem_monitor *monitor = core->enter(&now);

	if (!monitor || now == life)
		return monitor;
	core->leave();
	return NULL;
}

void mr_imported_unsubscribe(const void *addr, size_t len, unsigned life)
{
	struct fid_mem_monitor *monitor = monitor_enter(life);

	if (!monitor)
		return;
	monitor->export_ops->unsubscribe(monitor, addr, len);
	core->leave();
}

bool mr_imported_valid(const void *addr, size_t len, unsigned life)
{
	struct fid_mem_monitor *monitor = monitor_enter(life);
	bool valid;

	if (!monitor)
		return false;
	valid = monitor->export_ops->valid(monitor, addr, len);
	core->leave();
	return valid;
}
