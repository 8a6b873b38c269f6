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
 *  mode, tx/rx mode, domain mode, mr_mode               all that is required
 *  max_..., iov limits, key and data sizes              the most that can be had
 *  cq_cnt, ep_cnt and the other optimal counts          the default; more can be had
 *  tx/rx size, inject_size                              the default; the most is in
 *                                                       struct info_limits
 *  tx_ctx_cnt, rx_ctx_cnt of the endpoint               the default; the most is
 *                                                       domain max_ep_..., shared
 *                                                       ones if max_ep_s..._ctx > 0
 *  threading, progress, resource_mgmt                   the default; any other
 *                                                       can be had (but manual_only)
 *  av_type FI_AV_UNSPEC                                 both types can be had
 *  type, protocol, addr_format                          exactly this
 *  protocol_version                                     the highest
 *  fabric and domain name                               exactly this; NULL: not compared
 *  tclass                                               any that is documented
 *
 * and an answer (fi_getinfo(3): "greater than or equal to the requested"):
 *
 *  caps          what was asked for, expanded, with what comes free (below);
 *                everything offered if nothing was asked for
 *  op_flags      what was asked for: nothing is switched on unasked
 *  threading, progress, resource_mgmt, av_type, tclass, queue sizes, context counts:
 *                echoed; the offer's where nothing was asked for.  Programs
 *                compare them for equality (MPICH with threading)
 *  control_progress  as data_progress, where it was not asked for: a program that polls for
 *                its transfers polls for its connections, and the thread that would make
 *                them progress would need locks that FI_THREAD_DOMAIN promises to do without
 *  msg_order     what was asked for; all that is offered if nothing was
 *  mode bits     only those required
 *  everything else: the offer's
 */
#ifndef INFO_CHECK_H
#define INFO_CHECK_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdbool.h>

#include "base/explain.h"

/* Limits of an offer that fi_info cannot express.  NULL, or a member that is 0: the offer's
 * value is the limit.
 */
struct info_limits {
	size_t tx_size;			/* largest transmit queue */
	size_t rx_size;			/* largest receive queue */
	size_t inject_size;		/* largest that may be requested */
	size_t auth_key_size;		/* largest; 0: no authorization keys */
	size_t xpu_ctx_cnt;		/* of a domain, for hints with FI_XPU; 0: no FI_XPU */
	bool manual_only;		/* FI_PROGRESS_AUTO is not available */
	bool secures;			/* connections can be protected (secure/policy.h); else it is not
					 * offered where a level above none is asked for */
	bool keys_alone;		/* they are by keys, and not by certificates */
	bool hmem;			/* FI_HMEM, with FI_MR_HMEM, once a device interface has started */
	/* hmem_at - may @offer have it?  Called for hints that ask for it; it starts the interfaces.
	 * NULL: any that copies suffices.   @why_p: [out] the reason; unchanged: none has started
	 */
	bool (*hmem_at)(const struct fi_info *offer, const char **why_p);
};

/* info_check - compare an offer with hints and narrow it.
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
 * The first hint that cannot be met is written by explain_refusal().
 * Ownership: the caller frees *info_p with fi_freeinfo().
 * Threading: any thread.
 * Errors:    -FI_ENODATA: a hint is not met; -FI_ENOMEM.
 */
int info_check(const struct fi_provider *prov, const struct fi_info *offer,
		   const struct info_limits *limits, const struct fi_info *hints,
		   uint32_t version, const struct explain_label *label, struct fi_info **info_p);

/* ---- capabilities ---------------------------------------------------- */

/* Which side of an endpoint a capability concerns. */
#define INFO_CAPS_TX \
	(FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_READ | FI_WRITE | FI_SEND | FI_HMEM | \
	 FI_TRIGGER | FI_FENCE | FI_MULTICAST | FI_RMA_PMEM | FI_NAMED_RX_CTX | FI_COLLECTIVE)
#define INFO_CAPS_RX \
	(FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_REMOTE_READ | FI_REMOTE_WRITE | \
	 FI_RECV | FI_HMEM | FI_TRIGGER | FI_RMA_PMEM | FI_DIRECTED_RECV | FI_VARIABLE_MSG | \
	 FI_MULTI_RECV | FI_SOURCE | FI_RMA_EVENT | FI_SOURCE_ERR | FI_COLLECTIVE | \
	 FI_TAGGED_DIRECTED_RECV | FI_TAGGED_MULTI_RECV | FI_EXACT_DIRECTED_RECV)

/* Secondary capabilities that cost nothing when unused and expose nothing to a peer: a result
 * has them, if offered, whether requested or not.  FI_SOURCE is not one of them: with it every
 * receive completion looks up an address.
 */
#define INFO_CAPS_FREE (FI_LOCAL_COMM | FI_REMOTE_COMM | FI_MULTI_RECV)

/* Capabilities that a result has only if they are requested: FI_SOURCE_ERR turns successful receives into
 * errors, the others name interfaces that only a program for them uses.
 */
#define INFO_CAPS_ASKED (FI_SOURCE_ERR | FI_AV_USER_ID | FI_PEER)

/* info_caps_expand - FI_MSG without a direction means both: add the modifiers that @caps
 * implies.  A primary capability with one of its modifiers stays as it is.
 */
uint64_t info_caps_expand(uint64_t caps);

/* info_caps_get - the caps of a result.
 *
 * @offered: all capabilities of the provider
 * @wanted:  hints->caps; 0 asks for everything but INFO_CAPS_ASKED
 * @caps_p:  [out] @wanted expanded, plus the secondary capabilities that cost nothing
 *
 * Errors: -FI_ENODATA when @wanted has a bit that is not offered.
 */
int info_caps_get(uint64_t offered, uint64_t wanted, uint64_t *caps_p);

/* info_caps_tx, info_caps_rx - the part of an endpoint's caps that concerns one side;
 * @caps expanded.  An endpoint that only receives has no FI_MSG in its tx caps.  Every other
 * capability of the endpoint is in the caps of its side, also one that has no effect without
 * a direction: programs compare the caps of the sides with those of the endpoint.
 */
uint64_t info_caps_tx(uint64_t caps);
uint64_t info_caps_rx(uint64_t caps);

/* ---- memory registration modes --------------------------------------- */

#define INFO_MR_BASIC_BITS (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

/* info_mr_mode_bits - the mode bits of an mr_mode, legacy values resolved: FI_MR_BASIC is
 * INFO_MR_BASIC_BITS, FI_MR_SCALABLE is none.  A domain opened with @mr_mode follows these.
 */
int info_mr_mode_bits(int mr_mode);

/* info_mr_mode_need - the bits in @required that matter to an endpoint with @caps: remote
 * access bits need FI_RMA or FI_ATOMIC, FI_MR_HMEM needs FI_HMEM and FI_MR_RMA_EVENT needs
 * FI_RMA_EVENT.
 */
int info_mr_mode_need(int required, uint64_t caps);

/* info_mr_mode_get - the mr_mode of a result.
 *
 * @need:   bits that the provider requires (0 for software)
 * @wanted: hints->domain_attr->mr_mode: the bits that the program supports
 * @out_p:  [out] the result's mr_mode
 *
 * A bit in the result is an obligation of the program, so a bit that the provider does not
 * require is clear, whatever the program supports: software gives 0, which means that the
 * program chooses keys and addresses are offsets.  A program that supports FI_MR_VIRT_ADDR and
 * others reads the result (fi_mr(3)); one that does not passes FI_MR_BASIC or FI_MR_SCALABLE
 * and gets the same value back.  The core converts these two values, and FI_LOCAL_MR, to bits
 * before it calls a provider; they are handled here for infos that a program passes when it
 * opens an object.
 *
 * Errors: -FI_ENODATA: a required bit is not supported, or a legacy value is combined with
 *         bits.
 */
int info_mr_mode_get(int need, int wanted, int *out_p);

#endif
