/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * getinfo.h - what a provider offers that runs the engine over another provider's
 * endpoints: one fi_info for each of the lower one's that will do.
 */
#ifndef LAYER_H
#define LAYER_H

#include <rdma/fi_endpoint.h>
#include <rdma/providers/fi_prov.h>

struct layer {
	struct fi_provider *prov;	/* the layer, for reasons in the log */
	enum fi_ep_type below;		/* endpoints that it runs over */
	uint64_t below_caps;		/* and what they must be able to do */
	const enum fi_ep_type *types;	/* endpoints that it offers */
	unsigned type_cnt;
	uint32_t protocol;		/* FI_PROTO_* */
	uint32_t protocol_version;
	size_t min_msg_size;		/* of an endpoint below */
	size_t addr_max;		/* bytes of its address */
	/* defaults that a person may have set */
	const size_t *inject_size, *tx_size, *rx_size;
};

/* layer_getinfo - the getinfo call of the layer.
 *
 * @hints: never NULL; its fabric_attr->prov_name is "core;layer"
 *
 * Ownership: *@info_p is the caller's, for fi_freeinfo().
 * Errors:    -FI_ENODATA when nothing below will do, with reasons in the log;
 *            -FI_ENOMEM, and what the provider below answers.
 */
int layer_getinfo(const struct layer *layer, uint32_t version, const char *node,
		  const char *service, uint64_t flags, const struct fi_info *hints,
		  struct fi_info **info_p);

/* layer_lower_info - ask the provider below for the endpoint of @info's: at its
 * address or on its interface, for one thread at a time and manual progress.
 *
 * Errors: those of fi_getinfo(); a line in the log says what was looked for.
 */
int layer_lower_info(const struct layer *layer, const struct fi_info *info,
		     struct fi_info **lower_p);

#endif
