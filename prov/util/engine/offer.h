/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * offer.h - what a provider over the engine offers at most: the fi_info that its
 * getinfo call holds against a program's hints.
 */
#ifndef ENG_OFFER_H
#define ENG_OFFER_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "info/check.h"

/* An fi_info with all it points to; info.next is not used. */
struct eng_offer {
	struct fi_info info;
	struct fi_tx_attr tx;
	struct fi_rx_attr rx;
	struct fi_ep_attr ep;
	struct fi_domain_attr domain;
	struct fi_fabric_attr fabric;
};

/* What differs between providers. */
struct eng_offer_of {
	enum fi_ep_type type;		/* FI_EP_MSG or FI_EP_RDM */
	uint32_t protocol;		/* FI_PROTO_* */
	uint32_t protocol_version;
	uint64_t reach;			/* FI_LOCAL_COMM, FI_REMOTE_COMM */
	enum fi_progress progress;	/* of data and control, where the hints name none: what
					 * programs know from other providers of that name */
	size_t inject_size, tx_size, rx_size;	/* where the hints name none */
};

/* eng_offer_fill - all that the engine brings to endpoints of that type, over any link.
 *
 * @offer: not freed; what @offer->info points to lies in it, so it must not be moved.
 *         Names and addresses are left NULL for the provider to set.
 */
void eng_offer_fill(struct eng_offer *offer, const struct eng_offer_of *of);

/* The most that a program may ask for: tx_attr->size, rx_attr->size, inject_size. */
extern const struct info_limits eng_offer_limits;

#endif
