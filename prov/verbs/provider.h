/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * provider.h - limits, logging and settings of the provider.
 */
#ifndef VRB_H
#define VRB_H

#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <stdbool.h>
#include <string.h>

#include "lib.h"

#define VRB_IOV_MAX 16		/* scatter/gather entries of one request */
#define VRB_BUNCH_MAX 64	/* completions polled at a time */
#define VRB_CM_DATA 56		/* private data of a connection request */
#define VRB_VENDOR_RXE 0xffffffu	/* soft-RoCE; its library needs workarounds */

#define VRB_WARN(sys, ...) FI_WARN(&vrb_prov, sys, __VA_ARGS__)
#define VRB_INFO(sys, ...) FI_INFO(&vrb_prov, sys, __VA_ARGS__)

/* The environment, read when the provider starts (fi_verbs(7)). */
struct vrb_conf {
	int tx_size, rx_size;	/* queue entries */
	int tx_iov, rx_iov;	/* entries of an iov */
	int inline_size;	/* bytes of the longest injected message */
	int min_rnr_timer;	/* code of the InfiniBand specification */
	int gid_idx;		/* -1: the best */
	int bunch;		/* completions polled at a time */
	int odp;		/* FI_VERBS_USE_ODP */
	int dmabuf;		/* FI_VERBS_USE_DMABUF */
	int prefer_xrc;
	char *xrcd_file;	/* FI_VERBS_XRCD_FILENAME */
	int fork_unsafe;	/* FI_FORK_UNSAFE */
	char *device;		/* FI_VERBS_DEVICE_NAME, or NULL */
	char *doorbell;		/* FI_VERBS_DOORBELL: direct, extended, post; NULL: the best
				 * of libibverbs */
};

extern struct fi_provider vrb_prov;
extern struct vrb_conf vrb_conf;

/* vrb_conf_doorbell - is FI_VERBS_DOORBELL set to @way? */
static inline bool vrb_conf_doorbell(const char *way)
{
	return vrb_conf.doorbell && !strcmp(vrb_conf.doorbell, way);
}

/* vrb_getinfo - the getinfo call of struct fi_provider. */
int vrb_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);

/* vrb_info_init - once, when the provider starts: defaults into the offers. */
void vrb_info_init(void);

/* vrb_fabric - the fabric call of struct fi_provider. */
int vrb_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);

#endif
