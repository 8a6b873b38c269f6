/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdint.h>

#include "base/list.h"
#include "core/import.h"
#include "core/log.h"
#include "core/monitor.h"

/* One listener for each copy of the cache: a provider in a file of its own has one. */
#define LISTENERS 16

static void monitor_left(struct fid *fid);

static struct core_import slot = { .left = monitor_left };

static struct {
	pthread_mutex_t lock;		/* protects the following members; held during start() and
					 * stop() */
	unsigned listeners;
	bool started;

	_Atomic(ofi_monitor_notify_fn) listener[LISTENERS];
	atomic_int notifying;		/* calls in progress; atomic, no lock: see ofi_monitor_notify_fn */
	atomic_uint life;
} m = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- notifications of the monitor ------------------------------------------------- */

static void notify_all(const void *addr, size_t len)
{
	ofi_monitor_notify_fn listener;
	unsigned i;

	atomic_fetch_add(&m.notifying, 1);
	for (i = 0; i < LISTENERS; i++) {
		listener = atomic_load(&m.listener[i]);
		if (listener)
			listener(addr, len);
	}
	atomic_fetch_sub(&m.notifying, 1);
}

static void monitor_notify(struct fid_mem_monitor *monitor, const void *addr, size_t len)
{
	notify_all(addr, len);
}

static struct fi_ops_mem_notify notify_ops = {
	.size = sizeof(notify_ops),
	.notify = monitor_notify,
};

/* ---- start and stop ------------------------------------------------------------------- */

/* Threading: holds m.lock. */
static int monitor_start(struct fid_mem_monitor *monitor)
{
	int ret = monitor->export_ops->start(monitor);

	m.started = !ret;
	if (ret)
		CORE_WARN("the memory monitor imported by the program failed to start: %s; "
			  "it is not used", fi_strerror(-ret));
	return ret;
}

/* The monitor has been removed and no call of it is in progress.  Its ranges are no longer
 * watched, so the listeners drop everything.
 */
static void monitor_left(struct fid *fid)
{
	struct fid_mem_monitor *monitor = container_of(fid, struct fid_mem_monitor, fid);

	pthread_mutex_lock(&m.lock);
	if (m.started)
		monitor->export_ops->stop(monitor);
	m.started = false;
	pthread_mutex_unlock(&m.lock);
	notify_all(NULL, SIZE_MAX);
}

static bool add_listener(ofi_monitor_notify_fn listener)
{
	ofi_monitor_notify_fn none;
	unsigned i;

	for (i = 0; i < LISTENERS; i++) {
		none = NULL;
		if (atomic_compare_exchange_strong(&m.listener[i], &none, listener))
			return true;
	}
	return false;
}

static void remove_listener(ofi_monitor_notify_fn listener)
{
	ofi_monitor_notify_fn was;
	unsigned i;

	for (i = 0; i < LISTENERS; i++) {
		was = listener;
		if (atomic_compare_exchange_strong(&m.listener[i], &was, NULL))
			break;
	}
	while (atomic_load(&m.notifying))
		sched_yield();
}

static int monitor_listen(ofi_monitor_notify_fn listener)
{
	struct fid_mem_monitor *monitor;
	int ret = -FI_ENOSYS;

	pthread_mutex_lock(&m.lock);
	monitor = core_import_enter(&slot);
	if (monitor) {
		ret = add_listener(listener) ? 0 : -FI_ENOMEM;
		if (!ret && !m.started) {
			ret = monitor_start(monitor);
			if (ret)
				remove_listener(listener);
		}
		m.listeners += !ret;
		core_import_leave(&slot);
	}
	pthread_mutex_unlock(&m.lock);
	return ret;
}

static void monitor_unlisten(ofi_monitor_notify_fn listener)
{
	struct fid_mem_monitor *monitor;

	remove_listener(listener);
	pthread_mutex_lock(&m.lock);
	if (!--m.listeners && m.started) {
		monitor = core_import_enter(&slot);
		if (monitor) {		/* else monitor_left() is about to stop it */
			monitor->export_ops->stop(monitor);
			m.started = false;
			core_import_leave(&slot);
		}
	}
	pthread_mutex_unlock(&m.lock);
}

/* ---- ranges ----------------------------------------------------------------------------- */

/* A new monitor may be imported while a range is being subscribed at the old one.  Then @life_p
 * belongs to neither.
 */
static struct fid_mem_monitor *monitor_enter(unsigned *life_p)
{
	unsigned life = atomic_load(&m.life);
	struct fid_mem_monitor *monitor = core_import_enter(&slot);

	if (monitor && life != atomic_load(&m.life)) {
		core_import_leave(&slot);
		return NULL;
	}
	*life_p = life;
	return monitor;
}

static void monitor_leave(void)
{
	core_import_leave(&slot);
}

struct ofi_monitor_ops core_monitor_ops = {
	.size = sizeof(core_monitor_ops),
	.listen = monitor_listen,
	.unlisten = monitor_unlisten,
	.enter = monitor_enter,
	.leave = monitor_leave,
};

/* ---- import ----------------------------------------------------------------------------- */

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

/* Threading: holds m.lock. */
static int put_in(struct fid_mem_monitor *monitor)
{
	int ret = atomic_load(&slot.fid) || m.started ? -FI_EBUSY : 0;

	if (ret)
		return ret;
	monitor->import_ops = &notify_ops;
	if (m.listeners)
		ret = monitor_start(monitor);
	if (ret)
		return ret;
	atomic_fetch_add(&m.life, 1);
	core_import_set(&slot, &monitor->fid);
	return 0;
}

int core_monitor_import(struct fid_mem_monitor *monitor)
{
	int ret;

	if (!monitor) {
		core_import_set(&slot, NULL);
		return 0;
	}
	ret = monitor_check(monitor);
	if (ret)
		return ret;
	pthread_mutex_lock(&m.lock);
	ret = put_in(monitor);
	pthread_mutex_unlock(&m.lock);
	return ret;
}

void core_monitor_fork_child(void)
{
	pthread_mutex_init(&m.lock, NULL);
	atomic_store(&m.notifying, 0);
	core_import_fork_child(&slot);
}
