/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "mr/test/unmapping.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifdef MR_UNMAPPING

#define PAGE 4096u
#define MAPPED 0x6d61707065642121u

/* At the end of the page before such memory. */
struct map_head {
	uint64_t magic, len;
};

static _Atomic bool unmaps;
static void (*about_to_unmap)(void *p, size_t len);

void *__real_malloc(size_t len);
void *__real_realloc(void *p, size_t len);
void *__real_calloc(size_t cnt, size_t len);
void __real_free(void *p);

/* Visible, for the linker takes calls of libraries that name no version (musl has none) for calls of these. */
#pragma GCC visibility push(default)
void *__wrap_malloc(size_t len);
void *__wrap_realloc(void *p, size_t len);
void *__wrap_calloc(size_t cnt, size_t len);
void __wrap_free(void *p);
#pragma GCC visibility pop

/* The length of memory that was mapped for it, or 0: before other memory are words of its allocator. */
__attribute__((noinline, no_sanitize("address", "thread")))
static size_t mapped_len(const void *p)
{
	const volatile struct map_head *head = (const struct map_head *) p - 1;

	return (uintptr_t) p % PAGE == 0 && head->magic == MAPPED ? head->len : 0;
}

void *__wrap_malloc(size_t len)
{
	struct map_head *head;
	char *p;

	if (!atomic_load(&unmaps))
		return __real_malloc(len);
	p = mmap(NULL, len + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	head = (struct map_head *) (p + PAGE) - 1;
	*head = (struct map_head) { MAPPED, len + PAGE };
	return p + PAGE;
}

void *__wrap_calloc(size_t cnt, size_t len)
{
	return atomic_load(&unmaps) ? __wrap_malloc(cnt * len) : __real_calloc(cnt, len);
}

void __wrap_free(void *p)
{
	size_t len = p ? mapped_len(p) : 0;

	if (!len) {
		__real_free(p);
		return;
	}
	about_to_unmap((char *) p - PAGE, len);
	munmap((char *) p - PAGE, len);
}

void *__wrap_realloc(void *p, size_t len)
{
	size_t old = p ? mapped_len(p) : 0;
	void *to;

	if (!old && (p || !atomic_load(&unmaps)))
		return __real_realloc(p, len);
	to = __wrap_malloc(len);
	if (to && old) {
		memcpy(to, p, old - PAGE < len ? old - PAGE : len);
		__wrap_free(p);
	}
	return to;
}

bool unmapping_begin(void (*before)(void *p, size_t len))
{
	about_to_unmap = before;
	atomic_store(&unmaps, true);
	return true;
}

void unmapping_end(void)
{
	atomic_store(&unmaps, false);
}

#else

bool unmapping_begin(void (*before)(void *p, size_t len))
{
	return false;
}

void unmapping_end(void)
{
}

#endif
