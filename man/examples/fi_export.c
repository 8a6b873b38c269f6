/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static int start(struct fid_mem_monitor *monitor)
{
	(void) monitor;
	return 0;
}

static void stop(struct fid_mem_monitor *monitor)
{
	(void) monitor;
}

static int subscribe(struct fid_mem_monitor *monitor, const void *addr, size_t len)
{
	(void) monitor, (void) addr, (void) len;
	return 0;		/* we tell of every change anyhow */
}

static void unsubscribe(struct fid_mem_monitor *monitor, const void *addr, size_t len)
{
	(void) monitor, (void) addr, (void) len;
}

static bool valid(struct fid_mem_monitor *monitor, const void *addr, size_t len)
{
	(void) monitor, (void) addr, (void) len;
	return true;		/* what changed was told */
}

static struct fi_ops_mem_monitor ops = {
	.size = sizeof(ops),
	.start = start,
	.stop = stop,
	.subscribe = subscribe,
	.unsubscribe = unsubscribe,
	.valid = valid,
};

static struct fid_mem_monitor monitor = {
	.fid.fclass = FI_CLASS_MEM_MONITOR,
	.export_ops = &ops,
};

static void give_back(void *addr, size_t len)
{
	monitor.import_ops->notify(&monitor, addr, len);
	free(addr);
}
/* page] */

int main(void)
{
	MUST(fi_import(FI_VERSION(2, 0), "mr_cache", NULL, 0, 0, &monitor.fid, NULL));
	if (fi_import(FI_VERSION(2, 0), "mr_cache", NULL, 0, 0, &monitor.fid, NULL) != -FI_EBUSY)
		return 1;
	give_back(malloc(64), 64);
	MUST(fi_close(&monitor.fid));
	return 0;
}
