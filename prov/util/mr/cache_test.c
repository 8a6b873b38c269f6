/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Each mapping contains a number, and a registration records the number that it finds.  A
 * registration is stale when its number differs from the memory's.  All tests run twice: with
 * userfaultfd, where the system permits it, and with an imported monitor, which is called
 * before each change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/providers/fi_prov.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mr/cache.h"
#include "mr/test/unmapping.h"
#include "tests/limit.h"

#define LEN 65536u

static struct fi_provider prov = { .name = "test" };
static struct mr_cache cache;
static unsigned opened, closed, refuse;

struct reg {
	uint64_t number;		/* of the mapping it was made for */
};

/* Other threads map and unmap meanwhile, which the thread sanitizer takes for writes to all of
 * it.
 */
#define BESIDE_OTHERS __attribute__((noinline, no_sanitize("thread")))

BESIDE_OTHERS static uint64_t number_at(const void *p)
{
	return *(const volatile uint64_t *) p;
}

BESIDE_OTHERS static void put_number(void *p, uint64_t number)
{
	*(volatile uint64_t *) p = number;
}

static int reg_open(void *arg, struct mr_entry *entry, void **mr_p)
{
	struct reg *reg;

	if (refuse) {
		refuse--;
		return -FI_ENOMEM;
	}
	reg = malloc(sizeof(*reg));
	reg->number = number_at((void *) entry->addr);
	*mr_p = reg;
	opened++;
	return 0;
}

static void reg_close(void *arg, void *mr)
{
	free(mr);
	closed++;
}

static const struct mr_cache_ops ops = { .open = reg_open, .close = reg_close };

/* ---- an imported monitor ----------------------------------------------------------------- */

static struct {
	struct fid_mem_monitor fid;
	atomic_int running, subscribed;
	_Atomic bool numbers;		/* valid() compares the number in memory */
	bool fail_start, fail_subscribe, tells_at_once;
	unsigned starts;
	struct { _Atomic(const char *) at; _Atomic uint64_t number; } seen[64];
} mon;

static int mon_start(struct fid_mem_monitor *m)
{
	assert_ptr_equal(m, &mon.fid);
	if (mon.fail_start)
		return -FI_EPERM;
	mon.starts++;
	assert_int_equal(atomic_fetch_add(&mon.running, 1), 0);
	return 0;
}

static void mon_stop(struct fid_mem_monitor *m)
{
	assert_int_equal(atomic_fetch_sub(&mon.running, 1), 1);
}

static int mon_subscribe(struct fid_mem_monitor *m, const void *addr, size_t len)
{
	unsigned i = (uintptr_t) addr / LEN % 64;

	assert_int_equal((uintptr_t) addr % 4096 | len % 4096, 0);
	assert_int_equal(atomic_load(&mon.running), 1);
	if (mon.fail_subscribe)
		return -FI_ENOMEM;
	if (mon.tells_at_once)
		m->import_ops->notify(m, addr, 1);
	if (atomic_load(&mon.numbers)) {
		atomic_store(&mon.seen[i].at, addr);
		atomic_store(&mon.seen[i].number, number_at(addr));
	}
	atomic_fetch_add(&mon.subscribed, 1);
	return 0;
}

static void mon_unsubscribe(struct fid_mem_monitor *m, const void *addr, size_t len)
{
	assert_int_equal(atomic_load(&mon.running), 1);
	assert_true(atomic_fetch_sub(&mon.subscribed, 1) > 0);
}

static bool mon_valid(struct fid_mem_monitor *m, const void *addr, size_t len)
{
	unsigned i = (uintptr_t) addr / LEN % 64;

	assert_int_equal(atomic_load(&mon.running), 1);
	return !atomic_load(&mon.numbers) || atomic_load(&mon.seen[i].at) != addr ||
	       atomic_load(&mon.seen[i].number) == number_at(addr);
}

static struct fi_ops_mem_monitor mon_ops = {
	sizeof(mon_ops), mon_start, mon_stop, mon_subscribe, mon_unsubscribe, mon_valid,
};

static void import_monitor(void)
{
	memset(&mon, 0, sizeof(mon));
	mon.fid.fid.fclass = FI_CLASS_MEM_MONITOR;
	mon.fid.export_ops = &mon_ops;
	assert_int_equal(fi_import(FI_VERSION(2, 0), "mr_cache", NULL, 0, 0, &mon.fid.fid, NULL),
			 0);
}

/* Closes it; its memory is reused. */
static void close_monitor(void)
{
	assert_int_equal(fi_close(&mon.fid.fid), 0);
	assert_int_equal(atomic_load(&mon.running), 0);
	mon.fid.export_ops = NULL;
}

/* Called before any change of memory that may be watched. */
static void about_to_change(void *p, size_t len)
{
	struct fid_mem_monitor *m = &mon.fid;

	if (m->import_ops)
		m->import_ops->notify(m, p, len);
}

static int set_up(void **state)
{
	opened = closed = refuse = 0;
	unsetenv("FI_MR_CACHE_MONITOR");
	unsetenv("FI_MR_CACHE_MAX_COUNT");
	mr_cache_init(&cache, &ops, NULL, &prov);
	return 0;
}

static int tear_down(void **state)
{
	mr_cache_fini(&cache);
	assert_int_equal(opened, closed);
	return 0;
}

static int set_up_imported(void **state)
{
	import_monitor();
	set_up(state);
	assert_int_equal(cache.by, MR_BY_PROGRAM);
	assert_int_equal(mon.running, 1);
	return 0;
}

static int tear_down_imported(void **state)
{
	int subscribed, running;

	mr_cache_fini(&cache);
	subscribed = mon.subscribed;
	running = mon.running;
	close_monitor();
	memset(&mon, 0, sizeof(mon));
	assert_int_equal(opened, closed);
	assert_int_equal(subscribed, 0);
	assert_int_equal(running, 0);
	return 0;
}

static _Atomic uint64_t numbers;

/* A mapping with a distinct number. */
static void *map_at(void *at, size_t len)
{
	char *p = mmap(at, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
	uint64_t number = atomic_fetch_add(&numbers, 1) + 1;
	size_t i;

	assert_ptr_not_equal(p, MAP_FAILED);
	for (i = 0; i < len; i += 4096)
		put_number(p + i, number);
	return p;
}

static struct mr_entry *get(void *p, size_t len)
{
	struct mr_entry *entry;

	assert_int_equal(mr_cache_get(&cache, p, len, &entry), 0);
	assert_true(entry->len >= len && entry->addr == (uintptr_t) p);
	assert_int_equal(((struct reg *) entry->mr)->number, number_at(p));
	return entry;
}

static void use(void *p, size_t len)
{
	mr_cache_put(get(p, len));
}

#define NEED_WATCH() do { if (!cache.by) skip(); } while (0)

static void kept(void **state)
{
	char *p = map_at(NULL, LEN);
	struct mr_entry *a, *b;
	unsigned i;

	NEED_WATCH();
	for (i = 0; i < 100; i++)
		use(p, LEN);
	assert_int_equal(opened, 1);
	use(p, 100);		/* a prefix of it */
	assert_int_equal(opened, 1);
	a = get(p, LEN);
	b = get(p, LEN);
	assert_ptr_equal(a, b);
	mr_cache_put(a);
	mr_cache_put(b);
	use(p + 4096, 100);
	assert_int_equal(opened, 2);
	assert_int_equal(closed, 0);
	munmap(p, LEN);
}

/* A longer registration at the same address replaces it; users of the old one keep it. */
static void longer(void **state)
{
	char *p = map_at(NULL, LEN);
	struct mr_entry *old;

	NEED_WATCH();
	old = get(p, 5000);
	use(p, LEN);
	assert_int_equal(opened, 2);
	assert_int_equal(closed, 0);
	mr_cache_put(old);
	assert_int_equal(closed, 1);
	use(p, 5000);
	assert_int_equal(opened, 2);
	munmap(p, LEN);
}

/* Each of these changes puts other memory at the same address. */
static void change(unsigned how, char *p)
{
	char *q;

	about_to_change(p, LEN);
	switch (how) {
	case 0:
		munmap(p, LEN);
		map_at(p, LEN);
		break;
	case 1:
		map_at(p, LEN);		/* mapped over, in one call */
		break;
	case 2:
		q = mremap(p, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED,
			   mmap(NULL, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		assert_ptr_not_equal(q, MAP_FAILED);
		munmap(q, LEN);
		map_at(p, LEN);
		break;
	case 3:
		madvise(p, LEN, MADV_DONTNEED);
		put_number(p, atomic_fetch_add(&numbers, 1) + 1);
		break;
	default:
		munmap(p + LEN - 4096, 4096);			/* only its end */
		map_at(p, LEN);
		break;
	}
}

static void never_stale(void **state)
{
	char *p = map_at(NULL, LEN);
	struct mr_entry *in_use;
	unsigned i;

	NEED_WATCH();
	for (i = 0; i < 2000; i++) {
		use(p, LEN);
		use(p, LEN);
		assert_int_equal(opened, i + 1);
		in_use = i % 3 ? NULL : get(p, LEN);
		change(i % 5, p);
		if (in_use && i % 2)
			mr_cache_put(in_use);
		use(p, LEN);		/* get() detects that it is not the old one */
		assert_int_equal(opened, i + 2);
		if (in_use && !(i % 2))
			mr_cache_put(in_use);
		assert_true(opened - closed <= 1);
	}
	munmap(p, LEN);
}

/* Registrations of unmapped memory are freed at the next call, which unpins the pages; the
 * kernel's event may arrive a little later.
 */
static void let_go(void **state)
{
	char *p = map_at(NULL, LEN), *q = map_at(NULL, LEN);
	unsigned tries = cache.by == MR_BY_PROGRAM ? 1 : 10000;

	NEED_WATCH();
	use(p, LEN);
	use(p + 8192, 100);
	about_to_change(p, LEN);
	munmap(p, LEN);
	while (closed < 2 && tries--)
		use(q, LEN);
	assert_int_equal(closed, 2);
	munmap(q, LEN);
}

static void limits(void **state)
{
	char *p = map_at(NULL, 64 * LEN);
	unsigned i;

	NEED_WATCH();
	cache.max_cnt = 10;
	for (i = 0; i < 64; i++)
		use(p + (size_t) i * LEN, LEN);
	assert_int_equal(opened - closed, 10);
	cache.max_size = 3 * LEN;
	use(p, LEN);
	assert_int_equal(opened - closed, 3);
	use(p + (size_t) 63 * LEN, LEN);	/* the newest ones stay */
	assert_int_equal(opened, 65);
	refuse = 2;				/* the device is full: unused ones are freed */
	use(p + (size_t) 10 * LEN, LEN);
	assert_int_equal(opened, 66);
	assert_int_equal(cache.idle_cnt, 2);
	refuse = 100;
	struct mr_entry *entry;
	assert_int_equal(mr_cache_get(&cache, p, LEN * 2, &entry), -FI_ENOMEM);
	assert_int_equal(opened, closed);
	munmap(p, 64 * LEN);
}

static void disabled(void **state)
{
	char *p = map_at(NULL, LEN);

	mr_cache_fini(&cache);
	setenv("FI_MR_CACHE_MONITOR", "disabled", 1);
	mr_cache_init(&cache, &ops, NULL, &prov);
	assert_int_equal(cache.by, MR_BY_NONE);
	use(p, LEN);
	use(p, LEN);
	assert_int_equal(closed, 2);
	mr_cache_fini(&cache);
	unsetenv("FI_MR_CACHE_MONITOR");
	setenv("FI_MR_CACHE_MAX_COUNT", "0", 1);
	mr_cache_init(&cache, &ops, NULL, &prov);
	assert_int_equal(cache.by, MR_BY_NONE);
	use(p, LEN);
	assert_int_equal(closed, 3);
	munmap(p, LEN);
}

/* ---- the program's monitor -------------------------------------------------------------------- */

/* A change of any byte of a page affects that page, and no other. */
static void told_of_bytes(void **state)
{
	char *p = map_at(NULL, 2 * LEN);

	use(p + 5000, 100);
	about_to_change(p + 4096, 1);
	use(p + 5000, 100);
	assert_int_equal(opened, 2);
	about_to_change(p + 8192, LEN);
	about_to_change(p, 4096);
	about_to_change(p + 5000, 0);
	use(p + 5000, 100);
	assert_int_equal(opened, 2);
	about_to_change(p + 4095, 2);
	use(p + 5000, 100);
	about_to_change(NULL, SIZE_MAX);
	use(p + 5000, 100);
	assert_int_equal(opened, 4);
	munmap(p, 2 * LEN);
}

/* A monitor that only implements valid() and never notifies. */
static void asked_when_used(void **state)
{
	char *p = map_at(NULL, LEN);
	struct fi_ops_mem_notify *quiet = mon.fid.import_ops;
	unsigned i;

	atomic_store(&mon.numbers, true);
	mon.fid.import_ops = NULL;
	for (i = 0; i < 500; i++) {
		use(p, LEN);
		use(p, LEN);
		assert_int_equal(opened, i + 1);
		change(i % 5, p);
	}
	mon.fid.import_ops = quiet;
	munmap(p, LEN);
}

/* A range that the monitor refuses, or reports as changed at once, is not cached. */
static void not_taken(void **state)
{
	char *p = map_at(NULL, LEN);

	mon.fail_subscribe = true;
	use(p, LEN);
	use(p, LEN);
	assert_int_equal(opened, 2);
	assert_int_equal(closed, 2);
	mon.fail_subscribe = false;
	mon.tells_at_once = true;
	use(p, LEN);
	use(p, LEN);
	assert_int_equal(opened, 4);
	assert_int_equal(closed, 4);
	munmap(p, LEN);
}

/* The monitor is closed while registrations are cached and in use: they are dropped, and
 * nothing is cached until another monitor is imported.
 */
static void monitor_goes(void **state)
{
	char *p = map_at(NULL, LEN), *q = map_at(NULL, LEN);
	struct mr_entry *in_use = get(p, LEN);

	use(q, LEN);
	close_monitor();
	use(q, LEN);
	use(p, LEN);
	assert_int_equal(opened, 4);
	assert_int_equal(closed, 3);
	import_monitor();
	assert_int_equal(mon.running, 1);
	use(q, LEN);
	use(q, LEN);
	assert_int_equal(opened, 5);
	mr_cache_put(in_use);
	assert_int_equal(closed, 4);
	assert_int_equal(mon.subscribed, 1);
	close_monitor();
	mon.fail_start = true;
	mon.fid.export_ops = &mon_ops;
	assert_int_equal(fi_import(FI_VERSION(2, 0), "mr_cache", NULL, 0, 0, &mon.fid.fid, NULL),
			 -FI_EPERM);
	import_monitor();
	munmap(p, LEN);
	munmap(q, LEN);
}

/* The monitor is started once for all caches; the environment can select the kernel, or none. */
static void who_watches(void **state)
{
	struct mr_cache second, third;

	mr_cache_init(&second, &ops, NULL, &prov);
	assert_int_equal(second.by, MR_BY_PROGRAM);
	assert_int_equal(mon.starts, 1);
	mr_cache_fini(&cache);
	assert_int_equal(mon.running, 1);
	mr_cache_fini(&second);
	assert_int_equal(mon.running, 0);
	setenv("FI_MR_CACHE_MONITOR", "userfaultfd", 1);
	mr_cache_init(&third, &ops, NULL, &prov);
	assert_int_not_equal(third.by, MR_BY_PROGRAM);
	mr_cache_fini(&third);
	setenv("FI_MR_CACHE_MONITOR", "disabled", 1);
	mr_cache_init(&third, &ops, NULL, &prov);
	assert_int_equal(third.by, MR_BY_NONE);
	mr_cache_fini(&third);
	unsetenv("FI_MR_CACHE_MONITOR");
	mon.fail_start = true;
	mr_cache_init(&third, &ops, NULL, &prov);
	assert_int_not_equal(third.by, MR_BY_PROGRAM);
	mr_cache_fini(&third);
	assert_int_equal(mon.starts, 1);
	mon.fail_start = false;
	mr_cache_init(&cache, &ops, NULL, &prov);
	assert_int_equal(cache.by, MR_BY_PROGRAM);
}

/* ---- other threads change memory ------------------------------------------------------------ */

static _Atomic bool stop;

/* Without a gap into which another thread's mapping could come. */
static void change_whole(unsigned how, char *p)
{
	change(how % 2 ? 1 : 3, p);
}

static void *changer(void *arg)
{
	char *noise = arg;
	unsigned i;

	for (i = 0; !atomic_load(&stop); i++)
		change_whole(i, noise + (size_t) (i % 4) * LEN);
	return NULL;
}

/* Two threads keep changing watched memory while it is looked up. */
static void beside(void **state)
{
	char *p = map_at(NULL, 16 * LEN), *noise = map_at(NULL, 4 * LEN);
	struct mr_entry *entry;
	pthread_t thread[2];
	unsigned i;

	NEED_WATCH();
	atomic_store(&stop, false);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, changer, noise), 0);
	for (i = 0; i < 3000; i++) {
		assert_int_equal(mr_cache_get(&cache, noise + (size_t) (i % 4) * LEN, LEN, &entry), 0);
		use(p + (size_t) (i % 16) * LEN, LEN);
		if (!(i % 7))
			change_whole(i, p + (size_t) (i % 16) * LEN);
		use(p + (size_t) (i % 16) * LEN, LEN);
		mr_cache_put(entry);
	}
	atomic_store(&stop, true);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	munmap(p, 16 * LEN);
	munmap(noise, 4 * LEN);
}

/* Another thread notifies and changes memory during lookups, which must return a registration
 * of what is there afterwards.
 */
static pthread_barrier_t turn;

static void *change_one(void *arg)
{
	unsigned i;

	for (i = 0; i < 2000; i++) {
		pthread_barrier_wait(&turn);
		change_whole(i, arg);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

static void in_the_middle(void **state)
{
	char *p = map_at(NULL, LEN);
	struct mr_entry *entry;
	pthread_t thread;
	unsigned i, k;

	atomic_store(&mon.numbers, true);
	assert_int_equal(pthread_barrier_init(&turn, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, change_one, p), 0);
	for (i = 0; i < 2000; i++) {
		pthread_barrier_wait(&turn);
		for (k = 0; k < i % 4; k++) {
			assert_int_equal(mr_cache_get(&cache, p, LEN, &entry), 0);
			mr_cache_put(entry);
		}
		pthread_barrier_wait(&turn);
		use(p, LEN);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&turn);
	munmap(p, LEN);
}

static void *come_and_go(void *arg)
{
	while (!atomic_load(&stop)) {
		close_monitor();
		atomic_store(&mon.subscribed, 0);
		mon.fid.export_ops = &mon_ops;
		assert_int_equal(fi_import(FI_VERSION(2, 0), "mr_cache", NULL, 0, 0,
					   &mon.fid.fid, NULL), 0);
	}
	return NULL;
}

/* Lookups while the monitor is imported and closed: no call reaches a closed one. */
static void comes_and_goes(void **state)
{
	char *p = map_at(NULL, 4 * LEN);
	pthread_t thread;
	unsigned i;

	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, come_and_go, NULL), 0);
	for (i = 0; i < 20000; i++)
		use(p + (size_t) (i % 4) * LEN, LEN);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	munmap(p, 4 * LEN);
}

/* After fork() the child does not wait for a thread that it does not have. */
static void child(void **state)
{
	char *p = map_at(NULL, LEN);
	int status;
	pid_t pid;

	NEED_WATCH();
	use(p, LEN);
	pid = fork();
	if (!pid) {
		limit_time(20, NULL);
		change(0, p);
		use(p, LEN);
		munmap(p, LEN);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	use(p, LEN);
	assert_int_equal(opened, 1);
	munmap(p, LEN);
}

#define IMPORTED(name)									\
	{ #name " (imported)", name, set_up_imported, tear_down_imported, NULL }

/* ---- an allocator that unmaps at each free --------------------------------------------------- */

#define FREES 500		/* buffers of each thread */
#define FREERS 4

static pthread_mutex_t owner = PTHREAD_MUTEX_INITIALIZER;

static void *register_and_free(void *arg)
{
	struct mr_entry *in_use;
	size_t i, len;
	char *buf;

	for (i = 0; i < FREES; i++) {
		len = 8 + i * 977 % LEN;
		buf = malloc(len);
		put_number(buf, atomic_fetch_add(&numbers, 1) + 1);
		pthread_mutex_lock(&owner);
		use(buf, len);
		in_use = get(buf, len);
		if (i % 2)
			mr_cache_put(in_use);
		pthread_mutex_unlock(&owner);
		free(buf);
		if (i % 2)
			continue;
		pthread_mutex_lock(&owner);
		mr_cache_put(in_use);
		pthread_mutex_unlock(&owner);
	}
	return NULL;
}

/* The cache frees under its owner's lock while other threads do, and each free unmaps, which is an event. */
static void freed_by_unmapping(void **state)
{
	pthread_t thread[FREERS];
	unsigned i;

	NEED_WATCH();
	cache.max_cnt = 3;
	if (!unmapping_begin(about_to_change))
		skip();
	for (i = 0; i < FREERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, register_and_free, NULL), 0);
	for (i = 0; i < FREERS; i++)
		pthread_join(thread[i], NULL);
	unmapping_end();
	assert_true(opened >= FREERS * FREES);
}

/* ---- memory that is not watched ------------------------------------------------------------- */

/* The allocation at each of two addresses, as a device numbers them; 0: freed. */
static uint64_t alloc_ids[2];

static int owned_open(void *arg, struct mr_entry *entry, void **mr_p)
{
	struct reg *reg = malloc(sizeof(*reg));

	reg->number = alloc_ids[entry->addr - 1];
	*mr_p = reg;
	opened++;
	return 0;
}

static bool owned_gone(void *arg, const struct mr_entry *entry)
{
	return ((struct reg *) entry->mr)->number != alloc_ids[entry->addr - 1];
}

/* A registration of another allocation at the same address is never returned, and is closed at the
 * next registration, or when its last user has gone.
 */
static void owned(void **state)
{
	static const struct mr_cache_ops owned_ops = { owned_open, reg_close, owned_gone };
	struct mr_entry *one, *two;

	opened = closed = 0;
	alloc_ids[0] = 10;
	alloc_ids[1] = 20;
	mr_cache_init(&cache, &owned_ops, NULL, NULL);
	assert_int_equal(mr_cache_get(&cache, (void *) 1, 64, &one), 0);
	mr_cache_put(one);
	assert_int_equal(mr_cache_get(&cache, (void *) 1, 64, &two), 0);
	assert_ptr_equal(one, two);
	assert_int_equal(opened, 1);
	alloc_ids[0] = 11;	/* freed and allocated again while it is in use */
	assert_int_equal(mr_cache_get(&cache, (void *) 1, 64, &one), 0);
	assert_ptr_not_equal(one, two);
	assert_int_equal(opened, 2);
	mr_cache_put(two);
	assert_int_equal(closed, 1);
	mr_cache_put(one);
	assert_int_equal(closed, 1);
	alloc_ids[0] = 0;
	assert_int_equal(mr_cache_get(&cache, (void *) 2, 64, &two), 0);
	assert_int_equal(closed, 2);
	mr_cache_put(two);
	mr_cache_fini(&cache);
	assert_int_equal(opened, 3);
	assert_int_equal(closed, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(longer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(never_stale, set_up, tear_down),
		cmocka_unit_test_setup_teardown(let_go, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(disabled, set_up, tear_down),
		cmocka_unit_test_setup_teardown(beside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(freed_by_unmapping, set_up, tear_down),
		cmocka_unit_test_setup_teardown(child, set_up, tear_down),
		cmocka_unit_test(owned),
		IMPORTED(kept), IMPORTED(longer), IMPORTED(never_stale), IMPORTED(let_go),
		IMPORTED(limits), IMPORTED(beside), IMPORTED(freed_by_unmapping), IMPORTED(child), IMPORTED(told_of_bytes),
		IMPORTED(asked_when_used), IMPORTED(not_taken), IMPORTED(monitor_goes),
		IMPORTED(who_watches), IMPORTED(in_the_middle), IMPORTED(comes_and_goes),
	};

	mr_cache_params();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
