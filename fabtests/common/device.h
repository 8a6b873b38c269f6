/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * device.h - memory of a device for a program of the suite: allocated, filled and read by the
 * libraries of the device alone, which are opened at run time.
 */
#ifndef FT_DEVICE_H
#define FT_DEVICE_H

#include <rdma/fi_domain.h>
#include <stdbool.h>
#include <stddef.h>

/* device_open - use device @number of @kind: "cuda", "rocr", "ze", or "system" (malloc);
 * "cuda-map": memory of several handles (cuMemMap), "cuda-pool": of a pool (cuMemAllocAsync),
 * "cuda-managed": managed memory.
 * Returns NULL, or why not.
 */
const char *device_open(const char *kind, int number);

/* Of what device_open() has opened. */
enum fi_hmem_iface device_iface(void);
/* device_name - the @attr fields that name the device. */
void device_attr(struct fi_mr_attr *attr);

void *device_alloc(size_t len);
/* device_holds - is @at in memory of device_alloc() that the CPU may not use? */
bool device_holds(const void *at);
void device_free(void *at);
/* device_put - from the host; device_get - to the host.  False: the device fails. */
bool device_put(void *to, const void *from, size_t len);
bool device_get(void *to, const void *from, size_t len);

#endif
