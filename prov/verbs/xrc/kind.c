/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * kind.c - XRC as a kind of connected endpoints (kind.h): all that leaves this folder.
 */
#include "verbs/xrc/share.h"

static int domain_open(struct vrb_domain *domain)
{
	return vrb_xrcd_get(domain->base.fabric, domain->ctx, &domain->xrcd);
}

static void domain_close(struct vrb_domain *domain)
{
	vrb_xrcd_put(domain->xrcd);
}

static size_t put_reject(uint8_t *out, const void *data, size_t len)
{
	struct vrb_handshake no = { .kind = VRB_HANDSHAKE_REJECT };

	return vrb_handshake_put(out, &no, data, len);
}

/* What is no handshake was not written by the program. */
static const void *reject_data(const void *data, size_t *len_p)
{
	struct vrb_handshake hs;

	if (!vrb_handshake_parse(data, *len_p, &hs)) {
		*len_p = 0;
		return NULL;
	}
	*len_p -= VRB_HANDSHAKE_SIZE;
	return (const char *) data + VRB_HANDSHAKE_SIZE;
}

extern const struct vrb_kind vrb_xrc_kind;

const struct vrb_kind vrb_xrc_kind = {
	.name = "XRC",
	.suffix = "-xrc",
	.data_max = VRB_CM_DATA - VRB_HANDSHAKE_SIZE,
	.shares = true,
	.supported = vrb_xrc_supported,
	.domain_open = domain_open,
	.domain_close = domain_close,
	.open = vrb_xrc_new,
	.free = vrb_xrc_free,
	.start = vrb_xrc_start,
	.leave = vrb_xrc_leave,
	.srq_open = vrb_xrc_srq_open,
	.srq_close = vrb_xrc_srq_close,
	.receiver = vrb_xrc_receiver,
	.sent = vrb_xrc_sent,
	.failed = vrb_xrc_failed,
	.connect = vrb_xrc_connect,
	.accept = vrb_xrc_accept,
	.request = vrb_xrc_request,
	.request_free = vrb_xrc_request_free,
	.put_reject = put_reject,
	.reject_data = reject_data,
	.on_response = vrb_xrc_on_response,
	.on_established = vrb_xrc_on_established,
	.on_rejected = vrb_xrc_on_rejected,
	.on_removal = vrb_xrc_on_removal,
	.event_done = vrb_xrc_event_done,
	.shut = vrb_xrc_shut,
};
