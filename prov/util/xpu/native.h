/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * native.h - what a provider calls whose queues a device can use without the proxy.
 *
 * When such an endpoint is enabled, the provider asks xpu_native_may(), makes its queues where
 * xpu_native_map() shows them to the device, and gives the result to xpu_native_set().  The handles of the
 * endpoint and of its queue are then the provider's.  Whatever fails before that leaves the endpoint to the
 * proxy.  When the endpoint closes, what the device may still touch goes to xpu_native_keep().
 *
 * Threading: calls of the host that enable or close the endpoint; all take ctx->lock.
 */
#ifndef XPU_NATIVE_H
#define XPU_NATIVE_H

#include "obj/ep.h"
#include "base/list.h"

#define XPU_NATIVE_KEYS 65536u	/* regions of a context that such an endpoint can name */

/* What the device uses in place of the rings. */
struct xpu_native {
	uint32_t prov_id;		/* of the handles; 0: the endpoint is the proxy's */
	uint64_t ep, cq;		/* what the handles point to, as the device sees it */
	const uint64_t *tail, *rung;	/* calls of the device begun, and given to the hardware */
};

/* What outlives its endpoint, since a device may be using it. */
struct xpu_kept {
	struct list node;
	void (*drop)(struct xpu_kept *kept);	/* the context closes */
};

/* xpu_native_may - may the device use the queues of @ep by itself?  It has one queue, which is its device's, of
 * no other such endpoint and not exported; neither counters nor shared receives; and the device reaches all
 * memory of the process, or the program maps it.
 */
bool xpu_native_may(struct obj_ep *ep);

/* xpu_native_mem - zeroed memory that both sides reach until the context closes.
 * @dev_p: [out] where the device sees it.   Errors: as xpu_ctx_mem().
 */
int xpu_native_mem(struct obj_ep *ep, size_t size, void **host_p, uint64_t *dev_p);

/* xpu_native_map - where the device sees memory of the process.
 * @flags: 0, or FI_XPU_IMPORT_IOMEMORY for a register.   Errors: those of the program's import, logged.
 */
int xpu_native_map(struct obj_ep *ep, void *host, size_t size, uint64_t flags, uint64_t *dev_p);

/* xpu_native_keys - the words of the context's regions as the device reads them: generation << 32, key.
 * @key_of: the key of a region, the same for all calls of a context
 * Errors:  -FI_ENOMEM; as xpu_ctx_mem().
 */
int xpu_native_keys(struct obj_ep *ep, uint32_t (*key_of)(const struct obj_mr *mr), uint64_t *dev_p);

/* xpu_native_ring - the handle of the endpoint's queue as the proxy fills it. */
void xpu_native_ring(struct obj_ep *ep, struct fid_xpu_cq *handle);

/* xpu_native_set - the device uses @native from now on. */
void xpu_native_set(struct obj_ep *ep, const struct xpu_native *native);

void xpu_native_keep(struct obj_ep *ep, struct xpu_kept *kept);

#endif
