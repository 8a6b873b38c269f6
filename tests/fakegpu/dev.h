/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dev.h - the devices behind the fake libraries.
 *
 * An allocation is a memfd mapped twice: where the program sees it nothing may be read or
 * written, so that a stray access of the CPU faults at once; the copies of the fakes use the
 * other mapping.  Freed memory is unmapped.
 *
 * Environment:
 *	FAKEGPU_DEVICES=n	how many devices there are (2); 0: the library does not start
 *	FAKEGPU_SEED=n		of the delays (1)
 *	FAKEGPU_DELAY_US=n	an asynchronous copy ends up to so much later (200)
 *	FAKEGPU_RATE=n		speed of the copy engine, MB/s; 0: as fast as memcpy (0)
 *	FAKEGPU_SYNC=1		a call that starts a copy returns when the copy is done
 *	FAKEGPU_DMA=1		copies take the time that FAKEGPU_RATE says and no processor, for
 *				measurements: their bytes are not moved
 *	FAKEGPU_FAIL=call:n	each n-th call of that name fails; "*:n" counts all
 */
#ifndef FAKEGPU_DEV_H
#define FAKEGPU_DEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEV_API __attribute__((visibility("default")))
#define DEV_PAGE 65536

enum dev_type {
	DEV_DEVICE,		/* only the device may access it */
	DEV_MANAGED,		/* the CPU may, too */
	DEV_HOST,		/* of the host, allocated by the library */
};

struct dev_mem {
	struct dev_mem *next;
	char *va;		/* as the program sees it */
	char *alias;		/* that may be accessed */
	size_t len;
	int fd;
	uint64_t id;		/* of this allocation and no other */
	int device;
	enum dev_type type;
	bool imported;		/* an opened IPC handle */
	bool vmm;		/* mapped by cuMemMap: no IPC */
	bool pool;		/* of a pool: the same */
};

/* What passes between processes; 64 bytes at most. */
struct dev_ipc {
	uint64_t magic;
	int32_t pid, fd, device, pad;
	uint64_t ino, len;
};

/* An asynchronous copy or a mark in a stream. */
struct dev_event {
	int state;		/* 0 in flight, 1 complete, < 0 failed */
	uint64_t due;		/* FAKEGPU_DMA: when it completes, in ns; else 0 */
};

/* dev_count - devices that there are. */
int dev_count(void);

/* dev_fails - is it the turn of @call to fail?  Counts it. */
bool dev_fails(const char *call);

/* dev_note - count @call, which cannot fail. */
void dev_note(const char *call);

/* dev_reserve - addresses, on a page of the device.  NULL: none. */
char *dev_reserve(size_t len);
struct dev_mem *dev_alloc(size_t len, int device, enum dev_type type);
/* dev_map - the same at @va, of the memory @fd. */
struct dev_mem *dev_map(char *va, size_t len, int fd, int device);
void dev_free(struct dev_mem *mem);
/* dev_find - the memory at @addr, or NULL. */
struct dev_mem *dev_find(const void *addr);

/* dev_copy - between any two kinds of memory.  False: freed or unmapped memory of a device. */
bool dev_copy(void *dst, const void *src, size_t len);
/* dev_set - fill. */
bool dev_set(void *dst, int val, size_t len);

/* dev_copy_start - by the copy engine, in the order of the calls; @event becomes complete, or
 * not 0 and not 1 if memory was freed meanwhile.  With @len 0 it marks the end of the others.
 */
void dev_copy_start(void *dst, const void *src, size_t len, struct dev_event *event);
int dev_event_state(struct dev_event *event);
void dev_event_wait(struct dev_event *event);
/* dev_drain - wait for the engine. */
void dev_drain(void);

bool dev_ipc_get(const void *base, struct dev_ipc *ipc);
struct dev_mem *dev_ipc_open(const struct dev_ipc *ipc);

#endif
