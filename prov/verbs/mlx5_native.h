/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_native.h - connected endpoints whose queues a device (FI_XPU) writes and reads by itself.
 *
 * Such an endpoint has a completion queue of its own at the NIC, which the device reads, and a queue pair that
 * the host never posts to.  What the device needs is laid out in rdma/fi_xpu_mlx5.h.  A device may be in the
 * middle of a call when the endpoint closes: queue pair and queues live until the XPU context closes.
 */
#ifndef VRB_MLX5_NATIVE_H
#define VRB_MLX5_NATIVE_H

#include <stdbool.h>

#include "lib.h"

struct vrb_ep;
struct vrb_native;

/* vrb_native_new - what the endpoint needs before it has a queue pair; NULL: the proxy does it, and where
 * that is not what the program asked for, the log says why.   vrb_native_free - the same before it is started.
 * Threading: no lock, as for vrb_native_start() and vrb_native_keep().
 */
struct vrb_native *vrb_native_new(struct vrb_ep *ep);
void vrb_native_free(struct vrb_native *n);

/* vrb_native_cq - where the completions of its queue pair go. */
struct ibv_cq *vrb_native_cq(const struct vrb_native *n);

/* vrb_native_start - the queue pair is there: show all to the device.
 * Errors: -FI_ENOMEM, and those of the program's import; logged, and the proxy can still do it.
 */
int vrb_native_start(struct vrb_ep *ep);

/* vrb_native_connected - may the device post? */
void vrb_native_connected(struct vrb_ep *ep, bool connected);

/* vrb_native_stop - the endpoint closes: no call of the device succeeds from now on, and the NIC flushes what
 * was posted.  The queue pair is no more the endpoint's.   Threading: both locks.
 * vrb_native_keep - leave it to the context.
 */
void vrb_native_stop(struct vrb_ep *ep);
void vrb_native_keep(struct vrb_ep *ep);

#endif
