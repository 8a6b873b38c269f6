/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mem.h - memory of devices: what the CPU may not touch, and how to copy it.
 *
 * One kind of memory is one struct hmem_kind (kind.h): CUDA, ROCr, Level Zero; Neuron and
 * Synapse are known as dma-bufs alone.  The library of a kind is opened the first time that a
 * program asks for FI_HMEM, by every name that it ships under; a machine without it, and a
 * program that does not ask, load nothing.
 *
 * Errors of a device library are negative numbers below -HMEM_ERR_BASE, which name the function,
 * the device and its result: hmem_strerror().  hmem_errno() turns them into FI_E*.
 */
#ifndef HMEM_MEM_H
#define HMEM_MEM_H

#include <rdma/fi_domain.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fi_provider;

#define HMEM_KINDS (FI_HMEM_SYNAPSEAI + 1)
#define HMEM_ERR_BASE 0x40000000

/* Where a registered buffer is.  All zero: system memory. */
struct hmem_loc {
	uint8_t iface;			/* enum fi_hmem_iface */
	bool host;			/* the CPU may access it; copies need no device */
	bool managed;			/* @host, and it moves to the device and back */
	bool dmabuf_only;		/* neither the CPU nor we can copy it */
	bool unshared;			/* no handle of it opens in another process; of CUDA: it has no context */
	uint64_t device;		/* of that interface: number, or fi_hmem_ze_device() */
	void *ctx;			/* of the kind: what a copy needs; lives as long as the process */
	void *map;			/* mapping for short copies (gdrcopy), or NULL */
};

/* A copy in flight. */
struct hmem_event {
	const struct hmem_kind *kind;	/* NULL: complete */
	void *ctx;
	void *handle;			/* of the kind */
};

enum hmem_dir {
	HMEM_TO_HOST,
	HMEM_TO_DEVICE,
	HMEM_ON_DEVICE,			/* @buf is memory of that interface, too: from there */
};

/* hmem_params - define the environment variables, if that has not been done: where a provider
 * is initialised, so that they are listed, and by hmem_start().
 */
void hmem_params(void);

/* hmem_start - start the interfaces that FI_HMEM names, all by default.
 * Returns true if one for copies started.  Threading: any; the work is done once.
 */
bool hmem_start(void);

/* hmem_has - has @iface started?  hmem_why - what it lacks, as text; "" if nothing. */
bool hmem_has(enum fi_hmem_iface iface);
const char *hmem_why(enum fi_hmem_iface iface);

/* hmem_name - "CUDA", "ROCr", ... */
const char *hmem_name(enum fi_hmem_iface iface);

/* hmem_explain - one explain line for each interface that did not start (base/explain.h). */
void hmem_explain(const struct fi_provider *prov);

/* hmem_find - @loc_p of [@addr, @addr + @len), which a program says is memory of @iface.
 *
 * @device: as in fi_mr_attr
 * @flags:  FI_HMEM_DEVICE_ONLY, FI_HMEM_HOST_ALLOC
 * @why_p:  [out] on error, the reason as text
 * Errors:  -FI_EOPNOTSUPP the interface is not there; -FI_EINVAL it is not its memory, or of
 *          another device; those of the device.
 */
int hmem_find(enum fi_hmem_iface iface, uint64_t device, const void *addr, size_t len,
	      uint64_t flags, struct hmem_loc *loc_p, const char **why_p);

/* hmem_forget - @loc_p, of hmem_find(), is not used any more. */
void hmem_forget(struct hmem_loc *loc);

/* hmem_detect - which interface has allocated @addr?  FI_HMEM_SYSTEM if none has. */
enum fi_hmem_iface hmem_detect(const void *addr, uint64_t *device_p);

/* hmem_copy - copy now, between @dev and the host's @buf.  Blocks as long as the copy takes.
 * HMEM_ON_DEVICE is for hmem_copy_start() alone, where @loc is the device's, not the host's.
 * hmem_copy_start - begin to copy; both ends stay until hmem_copy_done() is not 0.
 * Errors: of the device.
 */
int hmem_copy(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len);
int hmem_copy_start(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf,
		    size_t len, struct hmem_event *event);

/* hmem_copy_done - 1: complete, 0: in flight, < 0: failed.  It ends @event if not 0. */
int hmem_copy_done(struct hmem_event *event);

/* hmem_pin - lock [@buf, @buf + @len) of the host for fast copies by all that has started. */
void hmem_pin(void *buf, size_t len);
void hmem_unpin(void *buf);

/* hmem_both_alloc - @len bytes of the host, zeroed, from a page on, that kernels of @device use, too,
 * with atomics of both sides: the host at *@host_p, the device at *@dev_p.
 *
 * @why_p:  [out] on error, the reason as text
 * Errors:  -FI_EOPNOTSUPP the interface is not there, or has no such memory; -FI_EINVAL it has no
 *          such device; -FI_ENOMEM; those of the device.
 * hmem_both_free - end it.  No kernel uses it any more.
 */
int hmem_both_alloc(enum fi_hmem_iface iface, uint64_t device, size_t len, void **host_p, void **dev_p,
		    const char **why_p);
void hmem_both_free(enum fi_hmem_iface iface, uint64_t device, void *host);

/* hmem_range - the allocation in which @addr lies.  Errors: -FI_EOPNOTSUPP, the device's. */
int hmem_range(const struct hmem_loc *loc, const void *addr, void **base_p, size_t *len_p);

/* hmem_id - a number of the allocation in which @addr lies: no other one of this process has had
 * it or will have it, also not a later one at the same address.
 * Errors: -FI_EOPNOTSUPP: it has none; the device's.
 */
int hmem_id(const struct hmem_loc *loc, const void *addr, uint64_t *id_p);

#define HMEM_IPC_SIZE 64

/* hmem_ipc_get - a handle by which another process of the host maps the allocation of @base.
 * hmem_ipc_open - map it here.  Errors: -FI_EOPNOTSUPP, the device's.
 */
int hmem_ipc_get(const struct hmem_loc *loc, void *base, char handle[HMEM_IPC_SIZE]);
int hmem_ipc_open(const struct hmem_loc *loc, const char handle[HMEM_IPC_SIZE], size_t len,
		  void **base_p);
int hmem_ipc_close(const struct hmem_loc *loc, void *base);

/* hmem_dmabuf - [@addr, @addr + @len) as a dma-buf: @fd_p is the caller's, the memory begins at
 * @off_p in it.  Errors: -FI_EOPNOTSUPP, the device's.
 */
int hmem_dmabuf(const struct hmem_loc *loc, void *addr, size_t len, int *fd_p, uint64_t *off_p);

/* hmem_exports - may memory of @iface, which has started, be registered as a dma-buf?  False if its
 * library has no call for that, or the environment says so.
 */
bool hmem_exports(enum fi_hmem_iface iface);

/* hmem_p2p_disabled - FI_HMEM_DISABLE_P2P.  hmem_gdrcopy - are copies by mapping in use? */
bool hmem_p2p_disabled(void);
bool hmem_gdrcopy(void);

/* hmem_gdr_limit - the longest copy by a mapping, in either direction.  Called before the first
 * copy.
 */
void hmem_gdr_limit(size_t most);

/* hmem_strerror - an error of a device as text: "cuMemcpyDtoH_v2 on CUDA device 0: ...".
 * @err: positive or negative; NULL: it is none of ours
 */
const char *hmem_strerror(int err);

/* hmem_errno - @err, if it is of a device -FI_EIO, else unchanged. */
static inline int hmem_errno(int err)
{
	return err <= -HMEM_ERR_BASE ? -5 : err >= HMEM_ERR_BASE ? 5 : err;
}

#endif
