/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * check.h - does what a provider offers meet what an application asks for?
 *
 * The rules of fi_getinfo(3), fi_endpoint(3), fi_domain(3) and fi_mr(3) for
 * hints, once, for every provider.  An offer is an fi_info with all of its
 * sub-structures; its fields mean "this much, at most":
 *
 *  caps, tx/rx caps, domain caps, op_flags, msg_order   all that can be had
 *  mode, domain mode, mr_mode                           all that is required
 *  limits (sizes, counts, key and data sizes)           the most that can be had
 *  tx/rx size, tx/rx context counts                     the default; the most is
 *                                                       in struct obj_limits
 *  threading, progress, resource_mgmt                   the default; any other
 *                                                       can be had, see below
 *  av_type FI_AV_UNSPEC                                 both types can be had
 *  type, protocol                                       exactly this
 */
#ifndef OBJ_CHECK_H
#define OBJ_CHECK_H

#include <rdma/fabric.h>

#include "obj/explain.h"

/* What an offer cannot say in an fi_info.  NULL where one is asked for means
 * { .tx_size = offer's, .rx_size = offer's }: nothing beyond the defaults.
 */
struct obj_limits {
	size_t tx_size;			/* largest transmit queue; 0: the offer's value */
	size_t rx_size;
	size_t inject_size;		/* largest; 0: the offer's value */
	uint32_t max_proto_version;	/* highest protocol_version; 0: the offer's */
	bool manual_only;		/* FI_PROGRESS_AUTO is not offered */
};

/* obj_check_info - compare an offer with hints and narrow it.
 *
 * @prov:    for the explain line
 * @offer:   complete fi_info, see above; its addresses and nic are not looked at
 * @limits:  may be NULL
 * @hints:   NULL, or an fi_info any of whose sub-structures may be NULL
 * @version: of the interface that the application was written to
 * @label:   names the candidate in the explain line; may be NULL
 * @info_p:  [out] a copy of @offer, narrowed to what was asked for: next NULL;
 *           NULL to check only
 *
 * The first hint that cannot be met is written by obj_explain().
 * Ownership: the caller frees *info_p with fi_freeinfo().
 * Threading: any thread.
 * Errors:    -FI_ENODATA: a hint is not met; -FI_ENOMEM.
 */
int obj_check_info(const struct fi_provider *prov, const struct fi_info *offer,
		   const struct obj_limits *limits, const struct fi_info *hints,
		   uint32_t version, const struct obj_label *label, struct fi_info **info_p);

/* ---- capabilities ---------------------------------------------------- */

#define OBJ_CAPS_PRIMARY \
	(FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_MULTICAST | FI_NAMED_RX_CTX | \
	 FI_DIRECTED_RECV | FI_VARIABLE_MSG | FI_HMEM | FI_COLLECTIVE | FI_AV_USER_ID | \
	 FI_TAGGED_DIRECTED_RECV | FI_EXACT_DIRECTED_RECV)
#define OBJ_CAPS_MODIFIERS \
	(FI_READ | FI_WRITE | FI_RECV | FI_SEND | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define OBJ_CAPS_SECONDARY \
	(FI_MULTI_RECV | FI_SOURCE | FI_RMA_EVENT | FI_SHARED_AV | FI_TRIGGER | FI_FENCE | \
	 FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SOURCE_ERR | FI_RMA_PMEM | FI_TAGGED_MULTI_RECV)

/* obj_caps_expand - FI_MSG without a direction means both: add the modifiers that
 * @caps implies.  A primary capability with one of its modifiers stays as it is.
 */
uint64_t obj_caps_expand(uint64_t caps);

/* obj_caps_get - what an answer's caps are.
 *
 * @offered: all that the provider has
 * @wanted:  hints->caps; 0 asks for everything
 * @caps_p:  [out] @wanted expanded, and the secondary capabilities that come free
 *
 * Errors: -FI_ENODATA when @wanted has a bit that is not offered.
 */
int obj_caps_get(uint64_t offered, uint64_t wanted, uint64_t *caps_p);

/* obj_caps_tx, obj_caps_rx - the part of an endpoint's caps that concerns one side. */
uint64_t obj_caps_tx(uint64_t caps);
uint64_t obj_caps_rx(uint64_t caps);

/* ---- memory registration modes --------------------------------------- */

#define OBJ_MR_BASIC_BITS (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

/* obj_mr_mode_bits - the mode bits behind an mr_mode, legacy names resolved:
 * FI_MR_BASIC is OBJ_MR_BASIC_BITS, FI_MR_SCALABLE is none.  What a domain that
 * was opened with this mr_mode has to obey.
 */
int obj_mr_mode_bits(int mr_mode);

/* obj_mr_mode_get - what an answer's mr_mode is.
 *
 * @version:  below 1.5 an mr_mode is FI_MR_UNSPEC, FI_MR_BASIC or FI_MR_SCALABLE,
 *            and local registration is the FI_LOCAL_MR bit of @mode
 * @required: bits without which the provider cannot work (0 for software)
 * @hinted:   false when the application gave no domain attributes
 * @wanted:   hints->domain_attr->mr_mode
 * @mode:     hints->mode
 * @out_p:    [out] the answer's mr_mode
 * @mode_p:   [out] FI_LOCAL_MR or 0, to be added to the answer's mode
 *
 * A bit that comes back set is a duty of the application, so a bit that the
 * provider does not need comes back clear, whoever offered it.  The two legacy
 * names come back as they were asked for; FI_MR_UNSPEC below 1.5 gives
 * FI_MR_BASIC, which every such program knows.
 * Errors: -FI_ENODATA: a required bit is not offered.
 */
int obj_mr_mode_get(uint32_t version, int required, bool hinted, int wanted,
		    uint64_t mode, int *out_p, uint64_t *mode_p);

#endif
