/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * getinfo.h - discovery for a provider that runs the engine over another provider's endpoints:
 * one fi_info for each suitable one of the lower provider.
 */
#ifndef LAYER_H
#define LAYER_H

#include <rdma/fi_endpoint.h>
#include <rdma/providers/fi_prov.h>
#include <stdbool.h>

struct info_limits;

struct layer {
	struct fi_provider *prov;	/* the layer, for log lines */
	enum fi_ep_type below;		/* type of the endpoints below */
	uint64_t below_caps;		/* capabilities that they must have */
	const enum fi_ep_type *types;	/* types of the endpoints offered */
	unsigned type_cnt;
	uint32_t protocol;		/* FI_PROTO_* */
	uint32_t protocol_version;
	size_t min_msg_size;		/* required of an endpoint below */
	size_t addr_max;		/* maximum length of its address */
	bool regions;			/* regions are registered below, too: with its keys and addresses,
					 * for programs that can have those */
	const struct info_limits *limits;	/* of offers; NULL: eng_offer_limits */
	bool keys_below;		/* the endpoints below protect what the layer sends: they are given its keys,
					 * and one that cannot is not offered */
	const char *seals_over;		/* the provider below over which the layer protects what it sends by itself: nothing is
					 * asked of its endpoints.  Others are given the keys, as with @keys_below.  NULL: none */
	/* Optional: adds to the hints for the provider below, whose name is in @hints. */
	void (*ask)(struct fi_info *hints);
	/* Optional: adjusts an answer of that provider to how its endpoints are used here. */
	void (*adopt)(struct fi_info *lower);
	/* defaults that users may have set */
	const size_t *inject_size, *tx_size, *rx_size;
};

/* layer_getinfo - the getinfo function of the layer.
 *
 * @hints: never NULL; its fabric_attr->prov_name is "core;layer"
 *
 * Ownership: the caller frees *@info_p with fi_freeinfo().
 * Errors:    -FI_ENODATA when no endpoint below is suitable, with reasons in the log;
 *            -FI_ENOMEM, and the errors of the provider below.
 */
int layer_getinfo(const struct layer *layer, uint32_t version, const char *node,
		  const char *service, uint64_t flags, const struct fi_info *hints,
		  struct fi_info **info_p);

/* layer_region_mode - the bits of mr_mode that keys and addresses of @lower's regions depend on. */
int layer_region_mode(const struct fi_info *lower);

/* layer_lower_info - ask the provider below for the endpoint for @info: at its address or on
 * its interface, for one thread at a time and manual progress.
 *
 * Errors: those of fi_getinfo(); a log line says what was requested.
 */
int layer_lower_info(const struct layer *layer, const struct fi_info *info,
		     struct fi_info **lower_p);

#endif
