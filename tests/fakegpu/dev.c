/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "dev.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define IPC_MAGIC UINT64_C(0x6670676569706331)

static pthread_mutex_t mem_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dev_mem *mems;

static long env(const char *name, long def)
{
	const char *val = getenv(name);

	return val ? strtol(val, NULL, 0) : def;
}

int dev_count(void)
{
	return (int) env("FAKEGPU_DEVICES", 2);
}

/* ---- failures by plan ---------------------------------------------------------------- */

static pthread_mutex_t plan_lock = PTHREAD_MUTEX_INITIALIZER;
static char plan_call[64];
static unsigned long plan_n, plan_at, plan_hits, calls;
static bool plan_read, plan_once, paused;

/* How often each call was made. */
static struct {
	const char *name;
	unsigned long cnt;
} counts[96];

/* fakegpu_plan - from now on each @n-th @call fails, "*": any; 0: none does. */
DEV_API void fakegpu_plan(const char *call, unsigned long n);
DEV_API void fakegpu_plan(const char *call, unsigned long n)
{
	pthread_mutex_lock(&plan_lock);
	snprintf(plan_call, sizeof(plan_call), "%s", call);
	plan_n = n;
	plan_at = plan_hits = 0;
	plan_once = false;
	plan_read = true;
	pthread_mutex_unlock(&plan_lock);
}

/* fakegpu_once - the @n-th call from now on fails, and no other. */
DEV_API void fakegpu_once(unsigned long n);
DEV_API void fakegpu_once(unsigned long n)
{
	fakegpu_plan("*", n);
	plan_once = true;
}

/* fakegpu_pause - for a while no call fails, nor counts. */
DEV_API void fakegpu_pause(int on);
DEV_API void fakegpu_pause(int on)
{
	pthread_mutex_lock(&plan_lock);
	paused = on;
	pthread_mutex_unlock(&plan_lock);
}

/* fakegpu_count - how often @call was made. */
DEV_API unsigned long fakegpu_count(const char *call);
DEV_API unsigned long fakegpu_count(const char *call)
{
	unsigned long cnt = 0;
	size_t i;

	pthread_mutex_lock(&plan_lock);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]) && counts[i].name; i++)
		if (!strcmp(counts[i].name, call))
			cnt = counts[i].cnt;
	pthread_mutex_unlock(&plan_lock);
	return cnt;
}

/* Caller holds plan_lock. */
static void count(const char *call)
{
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (!counts[i].name || !strcmp(counts[i].name, call)) {
			counts[i].name = call;
			counts[i].cnt++;
			return;
		}
}

/* fakegpu_hits - calls that have failed by plan.  fakegpu_calls - calls in all. */
DEV_API unsigned long fakegpu_hits(void);
DEV_API unsigned long fakegpu_hits(void)
{
	unsigned long n;

	pthread_mutex_lock(&plan_lock);
	n = plan_hits;
	pthread_mutex_unlock(&plan_lock);
	return n;
}

DEV_API unsigned long fakegpu_calls(void);
DEV_API unsigned long fakegpu_calls(void)
{
	unsigned long n;

	pthread_mutex_lock(&plan_lock);
	n = calls;
	pthread_mutex_unlock(&plan_lock);
	return n;
}

/* Caller holds plan_lock. */
static void read_plan(void)
{
	const char *val = getenv("FAKEGPU_FAIL"), *colon = val ? strrchr(val, ':') : NULL;

	plan_read = true;
	if (!colon)
		return;
	snprintf(plan_call, sizeof(plan_call), "%.*s", (int) (colon - val), val);
	plan_n = strtoul(colon + 1, NULL, 0);
}

void dev_note(const char *call)
{
	pthread_mutex_lock(&plan_lock);
	if (!paused)
		count(call);
	pthread_mutex_unlock(&plan_lock);
}

bool dev_fails(const char *call)
{
	bool fails = false;

	pthread_mutex_lock(&plan_lock);
	if (!plan_read)
		read_plan();
	if (paused)
		goto out;
	calls++;
	count(call);
	if (plan_n && (!strcmp(plan_call, "*") || !strcmp(plan_call, call)))
		fails = ++plan_at % plan_n == 0 && !(plan_once && plan_hits);
	plan_hits += fails;
out:
	pthread_mutex_unlock(&plan_lock);
	return fails;
}

/* ---- memory ---------------------------------------------------------------------------- */

static void add(struct dev_mem *mem)
{
	static uint64_t last_id;

	pthread_mutex_lock(&mem_lock);
	mem->id = ++last_id;
	mem->next = mems;
	mems = mem;
	pthread_mutex_unlock(&mem_lock);
}

/* A page more than needed, so that the start can be put on a page of the device. */
char *dev_reserve(size_t len)
{
	char *at = mmap(NULL, len + DEV_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t start;

	if (at == MAP_FAILED)
		return NULL;
	start = ((uintptr_t) at + DEV_PAGE - 1) & ~(uintptr_t) (DEV_PAGE - 1);
	if (start > (uintptr_t) at)
		munmap(at, start - (uintptr_t) at);
	munmap((char *) start + len, DEV_PAGE - (start - (uintptr_t) at));
	return (char *) start;
}

static struct dev_mem *map(char *va, size_t len, int fd, int device, enum dev_type type)
{
	int prot = type == DEV_DEVICE ? PROT_NONE : PROT_READ | PROT_WRITE;
	struct dev_mem *mem = calloc(1, sizeof(*mem));

	if (!mem)
		return NULL;
	*mem = (struct dev_mem) { .va = va, .len = len, .fd = fd, .device = device, .type = type };
	mem->alias = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem->alias == MAP_FAILED ||
	    mmap(va, len, prot, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
		free(mem);
		return NULL;
	}
	add(mem);
	return mem;
}

struct dev_mem *dev_alloc(size_t len, int device, enum dev_type type)
{
	size_t whole = (len + DEV_PAGE - 1) & ~(size_t) (DEV_PAGE - 1);
	int fd = memfd_create("fakegpu", MFD_CLOEXEC);
	struct dev_mem *mem = NULL;
	char *va;

	if (fd < 0)
		return NULL;
	va = !len || ftruncate(fd, (off_t) whole) ? NULL : dev_reserve(whole);
	if (va)
		mem = map(va, whole, fd, device, type);
	if (!mem)
		close(fd);
	return mem;
}

struct dev_mem *dev_map(char *va, size_t len, int fd, int device)
{
	struct dev_mem *mem = map(va, len, dup(fd), device, DEV_DEVICE);

	if (mem)
		mem->vmm = true;
	return mem;
}

void dev_free(struct dev_mem *mem)
{
	struct dev_mem **at;

	pthread_mutex_lock(&mem_lock);
	for (at = &mems; *at != mem; at = &(*at)->next)
		;
	*at = mem->next;
	pthread_mutex_unlock(&mem_lock);
	munmap(mem->alias, mem->len);
	if (mem->vmm)	/* the range stays reserved */
		mmap(mem->va, mem->len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	else
		munmap(mem->va, mem->len);
	close(mem->fd);
	free(mem);
}

/* Caller holds mem_lock. */
static struct dev_mem *find(const void *addr)
{
	struct dev_mem *mem;

	for (mem = mems; mem; mem = mem->next)
		if ((uintptr_t) addr - (uintptr_t) mem->va < mem->len)
			return mem;
	return NULL;
}

struct dev_mem *dev_find(const void *addr)
{
	struct dev_mem *mem;

	pthread_mutex_lock(&mem_lock);
	mem = find(addr);
	pthread_mutex_unlock(&mem_lock);
	return mem;
}

/* part - how much of @len bytes at @addr is in one piece, and where it may be accessed.
 * Caller holds mem_lock.
 */
static char *part(const void *addr, size_t *len)
{
	struct dev_mem *mem = find(addr);
	size_t off;

	if (!mem)
		return (char *) addr;
	off = (size_t) ((const char *) addr - mem->va);
	if (*len > mem->len - off)
		*len = mem->len - off;
	return mem->alias + off;
}

static bool on_device(const void *addr)
{
	return dev_find(addr) != NULL;
}

/* Memory of the host is trusted to be there: if it is not, the copy faults. */
bool dev_copy(void *dst, const void *src, size_t len)
{
	bool to = on_device(dst), from = on_device(src), ok = true;
	char *d = dst, *at;
	const char *s = src;
	size_t n;

	while (len && ok) {
		pthread_mutex_lock(&mem_lock);
		n = len;
		at = part(d, &n);
		s = part(src, &n);
		ok = (!to || at != d || find(d)) && (!from || s != src || find(src));
		if (ok)
			memcpy(at, s, n);
		pthread_mutex_unlock(&mem_lock);
		d += n;
		src = (const char *) src + n;
		len -= n;
	}
	return ok;
}

bool dev_set(void *dst, int val, size_t len)
{
	char *d = dst, *at;
	size_t n;

	for (; len; len -= n, d += n) {
		if (!on_device(d))
			return false;
		pthread_mutex_lock(&mem_lock);
		n = len;
		at = part(d, &n);
		memset(at, val, n);
		pthread_mutex_unlock(&mem_lock);
	}
	return true;
}

/* ---- the copy engine: one thread, in order ------------------------------------------------ */

struct job {
	struct job *next;
	void *dst;
	const void *src;
	size_t len;
	bool to, from;		/* ends that were of a device when it was queued */
	struct dev_event *event;
};

static pthread_mutex_t job_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t job_cond = PTHREAD_COND_INITIALIZER, done_cond = PTHREAD_COND_INITIALIZER;
static struct job *first, **last = &first;
static unsigned in_flight;
static pid_t engine_pid;
static unsigned rng;

static void pause_ns(uint64_t ns)
{
	struct timespec ts = { (time_t) (ns / 1000000000), (long) (ns % 1000000000) };

	nanosleep(&ts, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}

/* What the engine takes for @len bytes, if memcpy is faster. */
static void keep_pace(uint64_t start, size_t len)
{
	static long rate = -1, delay = -1;
	uint64_t due = start, now;

	if (rate < 0) {
		rate = env("FAKEGPU_RATE", 0);
		delay = env("FAKEGPU_DELAY_US", 200);
		rng = (unsigned) env("FAKEGPU_SEED", 1);
	}
	if (rate)
		due += len * 1000 / (uint64_t) rate;
	else if (delay && len)
		due += (uint64_t) rand_r(&rng) % (uint64_t) delay * 1000;
	now = now_ns();
	if (due > now + 60000)
		pause_ns(due - now - 60000);
	while (now_ns() < due)
		;
}

static void do_job(struct job *job)
{
	uint64_t start = now_ns();
	bool ok = (!job->to || on_device(job->dst)) && (!job->from || on_device(job->src)) &&
		  dev_copy(job->dst, job->src, job->len);

	keep_pace(start, job->len);
	pthread_mutex_lock(&job_lock);
	job->event->state = ok ? 1 : -1;
	in_flight--;
	pthread_cond_broadcast(&done_cond);
	pthread_mutex_unlock(&job_lock);
	free(job);
}

static void *engine(void *arg)
{
	struct job *job;

	(void) arg;
	for (;;) {
		pthread_mutex_lock(&job_lock);
		while (!first)
			pthread_cond_wait(&job_cond, &job_lock);
		job = first;
		first = job->next;
		if (!first)
			last = &first;
		pthread_mutex_unlock(&job_lock);
		do_job(job);
	}
	return NULL;
}

/* Caller holds job_lock.  A forked child has no engine of its parent's. */
static void start_engine(void)
{
	pthread_t thread;

	if (engine_pid == getpid())
		return;
	engine_pid = getpid();
	if (pthread_create(&thread, NULL, engine, NULL))
		abort();
	pthread_detach(thread);
}

/* ---- an engine that takes no processor (FAKEGPU_DMA) ----------------------------------------- */

static uint64_t free_at;	/* when it has done all that it was given */

static long dma_rate(void)
{
	static long rate = -1;

	if (rate < 0)
		rate = env("FAKEGPU_DMA", 0) ? env("FAKEGPU_RATE", 0) : 0;
	return rate;
}

static void dma_start(size_t len, struct dev_event *event)
{
	uint64_t now = now_ns();

	pthread_mutex_lock(&job_lock);
	if (free_at < now)
		free_at = now;
	free_at += len * 1000 / (uint64_t) dma_rate();
	event->due = free_at;
	event->state = 0;
	pthread_mutex_unlock(&job_lock);
}

static void dma_wait(uint64_t due)
{
	uint64_t now;

	while ((now = now_ns()) < due)
		pause_ns(due - now);
}

void dev_copy_start(void *dst, const void *src, size_t len, struct dev_event *event)
{
	struct job *job;

	if (dma_rate()) {
		dma_start(len, event);
		return;
	}
	job = calloc(1, sizeof(*job));
	if (!job)
		abort();
	*job = (struct job) { .dst = dst, .src = src, .len = len, .event = event,
			      .to = len && on_device(dst), .from = len && on_device(src) };
	pthread_mutex_lock(&job_lock);
	start_engine();
	event->state = 0;
	event->due = 0;
	*last = job;
	last = &job->next;
	in_flight++;
	pthread_cond_signal(&job_cond);
	pthread_mutex_unlock(&job_lock);
	if (env("FAKEGPU_SYNC", 0))
		dev_event_wait(event);
}

int dev_event_state(struct dev_event *event)
{
	int state;

	pthread_mutex_lock(&job_lock);
	if (event->due && !event->state && now_ns() >= event->due)
		event->state = 1;
	state = event->state;
	pthread_mutex_unlock(&job_lock);
	return state;
}

void dev_event_wait(struct dev_event *event)
{
	if (event->due) {
		dma_wait(event->due);
		event->state = 1;
		return;
	}
	pthread_mutex_lock(&job_lock);
	while (!event->state)
		pthread_cond_wait(&done_cond, &job_lock);
	pthread_mutex_unlock(&job_lock);
}

void dev_drain(void)
{
	dma_wait(free_at);
	pthread_mutex_lock(&job_lock);
	while (in_flight)
		pthread_cond_wait(&done_cond, &job_lock);
	pthread_mutex_unlock(&job_lock);
}

/* ---- between processes ---------------------------------------------------------------------- */

static uint64_t ino_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

bool dev_ipc_get(const void *base, struct dev_ipc *ipc)
{
	struct dev_mem *mem = dev_find(base);

	if (!mem || mem->va != base || mem->imported || mem->vmm || mem->pool ||
	    mem->type != DEV_DEVICE)
		return false;
	*ipc = (struct dev_ipc) { .magic = IPC_MAGIC, .pid = getpid(), .fd = mem->fd,
				  .device = mem->device, .ino = ino_of(mem->fd), .len = mem->len };
	return true;
}

struct dev_mem *dev_ipc_open(const struct dev_ipc *ipc)
{
	struct dev_mem *mem = NULL;
	char path[64], *va;
	int fd;

	if (ipc->magic != IPC_MAGIC || ipc->pid == getpid())
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", ipc->pid, ipc->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	va = ino_of(fd) == ipc->ino ? dev_reserve(ipc->len) : NULL;
	if (va)
		mem = map(va, ipc->len, fd, ipc->device, DEV_DEVICE);
	if (!mem) {
		close(fd);
		return NULL;
	}
	mem->imported = true;
	return mem;
}
