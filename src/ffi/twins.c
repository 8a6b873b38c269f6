/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * twins.c - exported twins of the inlines, for languages that cannot include C headers.
 *
 * The text is that of the headers: they are compiled once more with FI_INLINE defined so that
 * each inline becomes an exported function.
 */
#define FI_INLINE __attribute__((visibility("default")))

/* The headers define these functions here instead of inlining them; a prototype cannot precede
 * the definition.
 */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_profile.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>
#include <rdma/fi_xpu.h>
#include <rdma/fi_xpu_device.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_peer.h>
#include <rdma/providers/fi_prov.h>
