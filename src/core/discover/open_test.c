/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_open() and what can be imported. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>

#include "core/test/child_test.h"

static const uint32_t version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
static struct fi_provider tcp = { .name = "tcp" };

static void test_open(void **state)
{
	struct fid *fid;
	int attr = 0;

	assert_int_equal(fi_open(version, "nosuch", NULL, 0, 0, &fid, NULL), -FI_ENOSYS);
	assert_int_equal(fi_open(FI_VERSION(99, 0), "mr_cache", NULL, 0, 0, &fid, NULL),
			 -FI_ENOSYS);
	assert_int_equal(fi_open(version, "mr_cache", &attr, sizeof(attr), 0, &fid, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_open(version, "mr_cache", NULL, 0, 1, &fid, NULL),
			 -FI_EBADFLAGS);
	assert_int_equal(fi_open(version, "mr_cache", NULL, 0, 0, &fid, &attr), 0);
	assert_int_equal(fid->fclass, FI_CLASS_MR_CACHE);
	assert_ptr_equal(fid->context, &attr);
	assert_int_equal(fi_control(fid, FI_ENABLE, NULL), -FI_ENOSYS);
	assert_int_equal(fi_close(fid), 0);
	assert_int_equal(fi_open(version, "logging", NULL, 0, 0, &fid, NULL), 0);
	assert_int_equal(fid->fclass, FI_CLASS_LOG);
	assert_int_equal(fi_close(fid), 0);
}

/* ---- memory monitor ----------------------------------------------------------- */

static int mon_start(struct fid_mem_monitor *mon)
{
	return 0;
}

static void mon_stop(struct fid_mem_monitor *mon)
{
}

static int mon_subscribe(struct fid_mem_monitor *mon, const void *addr, size_t len)
{
	return 0;
}

static void mon_unsubscribe(struct fid_mem_monitor *mon, const void *addr, size_t len)
{
}

static bool mon_valid(struct fid_mem_monitor *mon, const void *addr, size_t len)
{
	return true;
}

static struct fi_ops_mem_monitor mon_ops = {
	.size = sizeof(mon_ops),
	.start = mon_start,
	.stop = mon_stop,
	.subscribe = mon_subscribe,
	.unsubscribe = mon_unsubscribe,
	.valid = mon_valid,
};

static void test_monitor(void **state)
{
	struct fi_ops_mem_monitor lame_ops = mon_ops;
	struct fid_mem_monitor mon = { .export_ops = &mon_ops };
	struct fid_mem_monitor other = {
		.fid.fclass = FI_CLASS_MEM_MONITOR, .export_ops = &mon_ops,
	};
	struct fid *cache;

	assert_int_equal(fi_open(version, "mr_cache", NULL, 0, 0, &cache, NULL), 0);
	assert_int_equal(fi_import_fid(cache, &mon.fid, 0), -FI_EINVAL);
	mon.fid.fclass = FI_CLASS_MEM_MONITOR;
	lame_ops.subscribe = NULL;
	mon.export_ops = &lame_ops;
	assert_int_equal(fi_import_fid(cache, &mon.fid, 0), -FI_ENOSYS);
	mon.export_ops = &mon_ops;
	assert_int_equal(fi_import_fid(cache, &mon.fid, 1), -FI_EBADFLAGS);
	assert_null(mon.import_ops);

	assert_int_equal(fi_import_fid(cache, &mon.fid, 0), 0);
	assert_non_null(mon.import_ops);
	assert_true(mon.import_ops->size >= sizeof(struct fi_ops_mem_notify));
	mon.import_ops->notify(&mon, &mon, sizeof(mon));
	assert_int_equal(fi_import_fid(cache, &other.fid, 0), -FI_EBUSY);

	/* The handle may be closed first: the monitor stays until it is closed itself. */
	assert_int_equal(fi_close(cache), 0);
	assert_int_equal(fi_close(&mon.fid), 0);
	assert_null(mon.fid.ops);
	assert_int_equal(fi_import(version, "mr_cache", NULL, 0, 0, &other.fid, NULL), 0);
	assert_int_equal(fi_close(&other.fid), 0);
}

/* ---- logger --------------------------------------------------------------------- */

static atomic_int asked, said;
static char last[256];
static uint64_t last_flags;

static int log_enabled(const struct fi_provider *prov, enum fi_log_level level,
		       enum fi_log_subsys subsys, uint64_t flags)
{
	atomic_fetch_add(&asked, 1);
	last_flags = flags;
	return level <= FI_LOG_INFO;
}

static int log_ready(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys, uint64_t flags, uint64_t *showtime)
{
	return 0;
}

static void log_line(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys, const char *func, int line,
		     const char *msg)
{
	atomic_fetch_add(&said, 1);
	snprintf(last, sizeof(last), "%s:%d:%s", prov ? prov->name : "-", (int) level,
		 msg);
}

static struct fi_ops_log log_ops = {
	.size = sizeof(log_ops),
	.enabled = log_enabled,
	.ready = log_ready,
	.log = log_line,
};

static int user_closed;

static int user_close(struct fid *fid)
{
	user_closed++;
	return 0;
}

static struct fi_ops user_ops = { .size = sizeof(user_ops), .close = user_close };

/* The level is warn, and the program's logger gets the info line nevertheless. */
static void logger(void)
{
	struct fid_logging log = { .fid.fclass = FI_CLASS_LOG, .ops = &log_ops };
	struct fid_logging second = log;
	struct fid *handle;

	setenv("FI_LOG_PROV", "udp", 1);
	CHILD_CHECK(fi_import_log(version, 0, &log) == 0);
	FI_INFO(&tcp, FI_LOG_CORE, "to the %s", "program");
	CHILD_CHECK(asked == 1 && said == 1);
	CHILD_CHECK(!strcmp(last, "tcp:2:to the program"));
	CHILD_CHECK(last_flags == FI_LOG_PROV_FILTERED);
	FI_LOG(&tcp, FI_LOG_DEBUG, FI_LOG_CORE, "not wanted");
	CHILD_CHECK(asked == 2 && said == 1);
	FI_WARN_SPARSE(&tcp, FI_LOG_CORE, "not ready");
	CHILD_CHECK(said == 1);

	/* The last import is used; its close restores the library's log. */
	second.fid.ops = &user_ops;
	CHILD_CHECK(fi_import_log(version, 0, &second) == 0);
	CHILD_CHECK(!log.fid.ops);
	CHILD_CHECK(fi_close(&second.fid) == 0);
	CHILD_CHECK(user_closed == 1 && second.fid.ops == &user_ops);
	FI_WARN(&tcp, FI_LOG_CORE, "hidden by FI_LOG_PROV");
	CHILD_CHECK(said == 1);

	/* Importing NULL restores it too. */
	CHILD_CHECK(fi_import_log(version, 0, &log) == 0);
	CHILD_CHECK(fi_open(version, "logging", NULL, 0, 0, &handle, NULL) == 0);
	CHILD_CHECK(fi_import_fid(handle, NULL, 0) == 0);
	CHILD_CHECK(fi_close(handle) == 0);
	FI_WARN(NULL, FI_LOG_CORE, "to stderr");
	CHILD_CHECK(said == 1);
	log.fid.fclass = FI_CLASS_AV;
	CHILD_CHECK(fi_import_log(version, 0, &log) == -FI_EINVAL);
}

static void test_logger(void **state)
{
	char out[1024];

	assert_int_equal(child_run(logger, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "to stderr"));
	assert_null(strstr(out, "hidden"));
}

/* An operation that the program leaves NULL is done by the library. */
static void half_logger(void)
{
	struct fi_ops_log half = { .size = sizeof(half), .log = log_line };
	struct fid_logging log = { .fid.fclass = FI_CLASS_LOG, .ops = &half };

	CHILD_CHECK(fi_import_log(version, 0, &log) == 0);
	FI_INFO(&tcp, FI_LOG_CORE, "below the level");
	CHILD_CHECK(said == 0);
	FI_WARN(&tcp, FI_LOG_CORE, "a warning");
	CHILD_CHECK(said == 1);
	half.size = offsetof(struct fi_ops_log, log);
	FI_WARN(&tcp, FI_LOG_CORE, "to stderr");
	CHILD_CHECK(said == 1);
	fi_close(&log.fid);
}

static void test_half_logger(void **state)
{
	char out[1024];

	assert_int_equal(child_run(half_logger, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "to stderr"));
}

/* ---- threads write while loggers are imported and closed ----------------------------- */

#define WRITERS 3
#define ROUNDS 2000

static atomic_bool over;

static int busy_enabled(const struct fi_provider *prov, enum fi_log_level level,
			enum fi_log_subsys subsys, uint64_t flags)
{
	return 1;
}

static void busy_line(const struct fi_provider *prov, enum fi_log_level level,
		      enum fi_log_subsys subsys, const char *func, int line,
		      const char *msg)
{
	atomic_fetch_add(&said, 1);
}

static struct fi_ops_log busy_ops = {
	.size = sizeof(busy_ops),
	.enabled = busy_enabled,
	.ready = log_ready,
	.log = busy_line,
};

static void *writer(void *arg)
{
	while (!atomic_load(&over))
		FI_INFO(&tcp, FI_LOG_CORE, "%s", "line");
	return NULL;
}

/* Each logger's memory is poisoned once it is closed: no thread may still use it. */
static void loggers_come_and_go(void)
{
	pthread_t thread[WRITERS];
	struct fid_logging *log;
	int i;

	setenv("FI_LOG_LEVEL", "none", 1);
	for (i = 0; i < WRITERS; i++)
		CHILD_CHECK(!pthread_create(&thread[i], NULL, writer, NULL));
	for (i = 0; i < ROUNDS; i++) {
		log = calloc(1, sizeof(*log));
		CHILD_CHECK(log);
		log->fid.fclass = FI_CLASS_LOG;
		log->ops = &busy_ops;
		CHILD_CHECK(fi_import_log(version, 0, log) == 0);
		CHILD_CHECK(fi_close(&log->fid) == 0);
		memset(log, 0x5a, sizeof(*log));
		free(log);
	}
	atomic_store(&over, true);
	for (i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
}

static void test_loggers_come_and_go(void **state)
{
	char out[1024];

	assert_int_equal(child_run(loggers_come_and_go, out, sizeof(out)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logger),
		cmocka_unit_test(test_half_logger),
		cmocka_unit_test(test_loggers_come_and_go),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_monitor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
