/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * kind.h - what a kind of device memory brings.
 *
 * All functions but start() are called after start() has returned 0, from any thread.  Where a
 * slot is NULL the kind cannot do it.
 */
#ifndef HMEM_KIND_H
#define HMEM_KIND_H

#include "hmem/mem.h"

struct hmem_kind {
	enum fi_hmem_iface iface;
	const char *name;
	const char *word;		/* in FI_HMEM */

	/* start - open the library, find devices.  @why: room for the reason of an error. */
	int (*start)(char *why, size_t room);

	/* find - as hmem_find(); fills in loc->host, loc->ctx; loc->device is set. */
	int (*find)(const void *addr, size_t len, struct hmem_loc *loc, const char **why_p);
	bool (*detect)(const void *addr, uint64_t *device_p);

	int (*copy)(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len);
	/* On 0 event->handle is set, or event->kind NULL: complete already. */
	int (*copy_start)(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf,
			  size_t len, struct hmem_event *event);
	int (*copy_done)(struct hmem_event *event);

	int (*pin)(void *buf, size_t len);
	void (*unpin)(void *buf);
	/* both_alloc, both_free - as hmem_both_alloc(); not zeroed. */
	int (*both_alloc)(uint64_t device, size_t len, void **host_p, void **dev_p, const char **why_p);
	void (*both_free)(uint64_t device, void *host);
	int (*range)(const struct hmem_loc *loc, const void *addr, void **base_p, size_t *len_p);
	int (*id)(const struct hmem_loc *loc, const void *addr, uint64_t *id_p);
	int (*ipc_get)(const struct hmem_loc *loc, void *base, char handle[HMEM_IPC_SIZE]);
	int (*ipc_open)(const struct hmem_loc *loc, const char handle[HMEM_IPC_SIZE], size_t len,
			void **base_p);
	int (*ipc_close)(const struct hmem_loc *loc, void *base);
	int (*dmabuf)(const struct hmem_loc *loc, void *addr, size_t len, int *fd_p,
		      uint64_t *off_p);
	bool (*exports)(void);		/* may dma-bufs of it be used? */
};

extern const struct hmem_kind hmem_cuda, hmem_rocr, hmem_ze, hmem_neuron, hmem_synapse;

/* hmem_fail - note that @func of @kind failed on @device, which the library describes by
 * @text.  Returns the number for it, negative; the first of its sort writes a line to the log.
 */
int hmem_fail(const struct hmem_kind *kind, const char *func, uint64_t device, const char *text,
	      long code);

/* struct hmem_func - a function of a library and where to put its address. */
struct hmem_func {
	const char *name;
	void *at;		/* of a function pointer */
	bool optional;
};

/* hmem_load - load the first of @names (up to NULL) that can be loaded, and look up all of @funcs (up
 * to a NULL name; NULL: none) in it.  Errors: -FI_ENOSYS, with @why.
 */
int hmem_load(const char *const *names, const struct hmem_func *funcs, char *why, size_t room);

/* hmem_param_bool - an environment variable of hmem_params(); @def if it is not set. */
bool hmem_param_bool(const char *name, bool def);

/* ---- gdrcopy: CUDA memory mapped for short copies (gdr.c) ----------------------- */

int hmem_gdr_start(char *why, size_t room);
void *hmem_gdr_map(const void *addr, size_t len);
void hmem_gdr_unmap(void *map);
/* Returns 1: copied; 0: not in loc->map. */
int hmem_gdr_copy(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len);

/* hmem_cuda_settle - before the CPU copies: what the program's calls have left in flight (cuda.c). */
void hmem_cuda_settle(const struct hmem_loc *loc);

#endif
