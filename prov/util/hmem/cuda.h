/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cuda.h - what cuda.c, which finds and shares memory of CUDA devices, and cuda_copy.c, which copies it,
 * have in common.
 */
#ifndef HMEM_CUDA_H
#define HMEM_CUDA_H

#include <pthread.h>
#include <stdatomic.h>

#include "hmem/kind.h"

/* Facts of the driver's interface. */
typedef int cu_result;
typedef uint64_t cu_ptr;
struct cu_ipc {
	char reserved[64];
};

enum {
	CU_OK = 0,
	CU_INVALID_VALUE = 1,
	CU_NO_DEVICE = 100,
	CU_INVALID_CONTEXT = 201,
	CU_NOT_FOUND = 500,
	CU_NOT_READY = 600,
	CU_HOST_ALREADY_REGISTERED = 712,

	CU_POINTER_CONTEXT = 1,
	CU_POINTER_MEMORY_TYPE = 2,
	CU_POINTER_SYNC_MEMOPS = 6,
	CU_POINTER_BUFFER_ID = 7,
	CU_POINTER_IS_MANAGED = 8,
	CU_POINTER_DEVICE_ORDINAL = 9,

	CU_MEMORY_DEVICE = 2,

	CU_STREAM_LEGACY = 1,		/* the default stream, as a handle */
	CU_CAPTURE_RELAXED = 2,
	CU_STREAM_NON_BLOCKING = 1,
	CU_EVENT_DISABLE_TIMING = 2,
	CU_HOST_PORTABLE = 1,
	CU_HOST_DEVICEMAP = 2,
	CU_IPC_LAZY_PEER_ACCESS = 1,
	CU_RANGE_DMA_BUF = 1,
};

/* The functions of the driver, by their names there without the version. */
struct cuda_calls {
	cu_result (*Init)(unsigned flags);
	cu_result (*DeviceGetCount)(int *cnt);
	cu_result (*DeviceGet)(int *dev, int ordinal);
	cu_result (*PrimaryRetain)(void **ctx, int dev);
	cu_result (*CtxPush)(void *ctx);
	cu_result (*CtxPop)(void **ctx);
	cu_result (*MemcpyHtoDAsync)(cu_ptr dst, const void *src, size_t len, void *stream);
	cu_result (*MemcpyDtoHAsync)(void *dst, cu_ptr src, size_t len, void *stream);
	cu_result (*MemcpyAsync)(cu_ptr dst, cu_ptr src, size_t len, void *stream);
	cu_result (*StreamCreate)(void **stream, unsigned flags);
	cu_result (*EventCreate)(void **event, unsigned flags);
	cu_result (*EventRecord)(void *event, void *stream);
	cu_result (*EventQuery)(void *event);
	cu_result (*EventDestroy)(void *event);
	cu_result (*StreamQuery)(void *stream);
	cu_result (*StreamSynchronize)(void *stream);
	cu_result (*MemHostRegister)(void *buf, size_t len, unsigned flags);
	cu_result (*MemHostUnregister)(void *buf);
	cu_result (*MemHostAlloc)(void **buf, size_t len, unsigned flags);
	cu_result (*MemHostGetDevicePointer)(cu_ptr *dev, void *buf, unsigned flags);
	cu_result (*MemFreeHost)(void *buf);
	cu_result (*PointerGetAttribute)(void *val, int attr, cu_ptr ptr);
	cu_result (*PointerSetAttribute)(const void *val, int attr, cu_ptr ptr);
	cu_result (*MemGetAddressRange)(cu_ptr *base, size_t *len, cu_ptr ptr);
	cu_result (*IpcGetMemHandle)(struct cu_ipc *handle, cu_ptr base);
	cu_result (*IpcOpenMemHandle)(cu_ptr *base, struct cu_ipc handle, unsigned flags);
	cu_result (*IpcCloseMemHandle)(cu_ptr base);
	cu_result (*GetErrorName)(cu_result code, const char **text);
	cu_result (*ThreadExchangeStreamCaptureMode)(int *mode);
	cu_result (*StreamIsCapturing)(void *stream, int *status);
	cu_result (*MemGetHandleForAddressRange)(void *handle, cu_ptr addr, size_t len, int type,
						 unsigned long long flags);
};
extern struct cuda_calls cu;

/* A context that has memory of ours, with a stream for each direction.  They stay until the
 * process ends: a thread may use one while another region closes.
 */
struct cuda_place {
	struct cuda_place *next;
	void *ctx;
	uint64_t device;
	void *stream[2];
	pthread_mutex_t lock;		/* guards @events */
	void *events[64];		/* that are not in use */
	unsigned event_cnt;
	bool async;			/* long copies are not waited for */
	atomic_bool kernel;		/* hmem_cuda_settle() has waited for the default stream in vain */
	_Atomic uint64_t patience;	/* how long it waits next time */
	pthread_mutex_t bounce_lock;	/* guards @bounce */
	void *bounce;			/* pinned, for short copies; or NULL */
};

/* cuda_fail - as hmem_fail(). */
int cuda_fail(const char *func, uint64_t device, cu_result code);

/* cuda_enter - into @ctx, until cuda_leave(), by this thread.  Errors: of the device. */
int cuda_enter(void *ctx, uint64_t device);
void cuda_leave(void);

/* cuda_relax - this thread's calls are to be no part of a graph that a thread of the program captures, until
 * cuda_restore(): as between cuda_enter() and cuda_leave().
 */
void cuda_relax(void);
void cuda_restore(void);

/* cuda_copy_init - the fields of a new place that copies need.  Its context has been entered. */
void cuda_copy_init(struct cuda_place *place);

/* Of struct hmem_kind. */
int cuda_copy(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len);
int cuda_copy_start(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len,
		    struct hmem_event *event);
int cuda_copy_done(struct hmem_event *event);

#endif
