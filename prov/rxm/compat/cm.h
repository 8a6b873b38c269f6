/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.h - the private data of connections in the compatible format: request, acceptance, rejection.
 *
 * Bytes behind them are ignored by other implementations; they may be a mark by which two of this
 * library recognize each other.
 */
#ifndef RXM_COMPAT_CM_H
#define RXM_COMPAT_CM_H

#include <stddef.h>
#include <stdint.h>

#define RXM_CM_REQUEST 24	/* bytes */
#define RXM_CM_ACCEPT 16
#define RXM_CM_REJECT 2

#define RXM_CM_EAGER_LIMIT 16384u	/* of every peer that did not change it */
#define RXM_CM_EAGER_MIN 64u
#define RXM_CM_EAGER_MAX (1u << 24)

/* Does a peer count the receive buffers of the other? */
enum rxm_cm_credits {
	RXM_CM_CREDITS_UNSAID,
	RXM_CM_CREDITS_ON,
	RXM_CM_CREDITS_OFF,
};

enum rxm_cm_reason {
	RXM_CM_UNSPECIFIED,
	RXM_CM_REFUSED,
	RXM_CM_EXISTS,		/* the peers are connected already, or connecting */
};

struct rxm_cm_request {
	uint16_t port;		/* on which the connecting peer listens; host order */
	enum rxm_cm_credits credits;
	uint32_t eager_limit;
	uint32_t rx_size;
	uint32_t process;	/* not 0; another one is another life of the peer */
	uint32_t conn_id;	/* what packets to the connecting peer carry */
};

struct rxm_cm_accept {
	enum rxm_cm_credits credits;
	uint32_t rx_size;
	uint32_t process;
	uint32_t conn_id;
};

size_t rxm_cm_put_request(uint8_t *out, const struct rxm_cm_request *request);
size_t rxm_cm_put_accept(uint8_t *out, const struct rxm_cm_accept *accept);
size_t rxm_cm_put_reject(uint8_t *out, enum rxm_cm_reason reason);

/* rxm_cm_get_request, rxm_cm_get_accept - validate and decode @len bytes of private data.
 * Return NULL, or what is wrong.
 */
const char *rxm_cm_get_request(const void *buf, size_t len, struct rxm_cm_request *out);
const char *rxm_cm_get_accept(const void *buf, size_t len, struct rxm_cm_accept *out);

/* rxm_cm_get_reject - RXM_CM_UNSPECIFIED where @buf has no reason. */
enum rxm_cm_reason rxm_cm_get_reject(const void *buf, size_t len);

#endif
