/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic long next, failed;
static long fail_first, fail_cnt;
static atomic_bool armed;
static bool traced;
static _Thread_local bool spared __attribute__((tls_model("initial-exec")));	/* what the thread allocates now */

/* What dlsym() itself allocates, before the C library's functions are known. */
static _Alignas(16) char early[4096];
static size_t early_used;

/* In place of the C library's for the library, too, whatever the default of this build. */
#define VISIBLE __attribute__((visibility("default"))) UNTOLD
/* Called before the thread sanitizer is ready. */
#define UNTOLD __attribute__((no_sanitize("thread")))
#define OWN_FRAMES 3	/* write_stack(), must_fail(), malloc() */

#define REAL(type, name, ...)								\
	static type (*real)(__VA_ARGS__);						\
	if (!real)									\
		real = (type (*)(__VA_ARGS__)) (uintptr_t) dlsym(RTLD_NEXT, name)

void alloc_arm(long first, long cnt)
{
	void *stack[1];

	if (traced)
		backtrace(stack, 1);	/* loads what it needs, which allocates */
	fail_first = first;
	fail_cnt = cnt;
	atomic_store(&next, 0);
	atomic_store(&failed, 0);
	atomic_store(&armed, true);
}

long alloc_disarm(void)
{
	atomic_store(&armed, false);
	return atomic_load(&next);
}

long alloc_failed(void)
{
	return atomic_load(&failed);
}

void alloc_trace(void)
{
	traced = true;
}

static __attribute__((noinline)) void write_stack(void)
{
	static const char line[] = "an allocation fails at:\n";
	void *stack[24];
	int cnt;

	spared = true;
	cnt = backtrace(stack, 24);
	if (write(STDERR_FILENO, line, sizeof(line) - 1) > 0)
		backtrace_symbols_fd(stack + OWN_FRAMES, cnt - OWN_FRAMES, STDERR_FILENO);
	spared = false;
}

/* must_fail - is this allocation one that fails? */
static __attribute__((noinline)) UNTOLD bool must_fail(void)
{
	long number;

	if (!atomic_load_explicit(&armed, memory_order_relaxed) || spared)
		return false;
	number = atomic_fetch_add(&next, 1);
	if (fail_first < 0 || number < fail_first || number >= fail_first + fail_cnt)
		return false;
	atomic_fetch_add(&failed, 1);
	if (traced)
		write_stack();
	errno = ENOMEM;
	return true;
}

static UNTOLD void *take_early(size_t size)
{
	char *mem = early + early_used;

	size = (size + 15) & ~(size_t) 15;
	if (size > sizeof(early) - early_used)
		return NULL;
	early_used += size;
	return mem;
}

static UNTOLD bool is_early(const void *mem)
{
	return (uintptr_t) mem >= (uintptr_t) early && (uintptr_t) mem < (uintptr_t) early + sizeof(early);
}

VISIBLE void *malloc(size_t size)
{
	REAL(void *, "malloc", size_t);
	return must_fail() ? NULL : real(size);
}

/* dlsym() calls it. */
VISIBLE void *calloc(size_t cnt, size_t size)
{
	static bool asks;
	static void *(*real)(size_t, size_t);

	if (!real) {
		if (asks)
			return take_early(cnt * size);
		asks = true;
		real = (void *(*)(size_t, size_t)) (uintptr_t) dlsym(RTLD_NEXT, "calloc");
	}
	return must_fail() ? NULL : real(cnt, size);
}

VISIBLE void *realloc(void *mem, size_t size)
{
	REAL(void *, "realloc", void *, size_t);
	return must_fail() ? NULL : real(mem, size);
}

/* dlsym() frees the text of an error before: that memory stays. */
VISIBLE void free(void *mem)
{
	static bool asks;
	static void (*real)(void *);

	if (!real) {
		if (asks)
			return;
		asks = true;
		real = (void (*)(void *)) (uintptr_t) dlsym(RTLD_NEXT, "free");
	}
	if (!is_early(mem))
		real(mem);
}

VISIBLE void *aligned_alloc(size_t align, size_t size)
{
	REAL(void *, "aligned_alloc", size_t, size_t);
	return must_fail() ? NULL : real(align, size);
}

VISIBLE int posix_memalign(void **mem_p, size_t align, size_t size)
{
	REAL(int, "posix_memalign", void **, size_t, size_t);
	return must_fail() ? ENOMEM : real(mem_p, align, size);
}

VISIBLE void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
	return must_fail() ? MAP_FAILED : real(addr, len, prot, flags, fd, off);
}

/* Sanitizers call it in each new thread, and end the program where it fails. */
VISIBLE int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
	int ret;
	REAL(int, "pthread_getattr_np", pthread_t, pthread_attr_t *);

	spared = true;
	ret = real(thread, attr);
	spared = false;
	return ret;
}
