/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.h - the private data of connections in the compatible format: request, acceptance, rejection.
 *
 * Bytes behind them are ignored by other implementations; they may be a mark by which two of this
 * library recognize each other.
 */
#ifndef FOREIGN_RXMF_CM_H
#define FOREIGN_RXMF_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RXMF_CM_REQUEST 24	/* bytes */
#define RXMF_CM_ACCEPT 16
#define RXMF_CM_REJECT 2

#define RXMF_CM_EAGER_LIMIT 16384u	/* of every peer that did not change it */
#define RXMF_CM_EAGER_MIN 64u
#define RXMF_CM_EAGER_MAX (1u << 24)

/* Does a peer count the receive buffers of the other? */
enum rxmf_cm_credits {
	RXMF_CM_CREDITS_UNSAID,
	RXMF_CM_CREDITS_ON,
	RXMF_CM_CREDITS_OFF,
};

enum rxmf_cm_reason {
	RXMF_CM_UNSPECIFIED,
	RXMF_CM_REFUSED,
	RXMF_CM_EXISTS,		/* the peers are connected already, or connecting */
};

struct rxmf_cm_request {
	uint16_t port;		/* on which the connecting peer listens; host order */
	enum rxmf_cm_credits credits;
	uint32_t eager_limit;
	uint32_t rx_size;
	uint32_t process;	/* not 0; another one is another life of the peer */
	uint32_t conn_id;	/* what packets to the connecting peer carry */
	bool swapped;		/* [out] the sender has the other byte order, as its packets would */
};

struct rxmf_cm_accept {
	enum rxmf_cm_credits credits;
	uint32_t rx_size;
	uint32_t process;
	uint32_t conn_id;
};

size_t rxmf_cm_put_request(uint8_t *out, const struct rxmf_cm_request *request);
size_t rxmf_cm_put_accept(uint8_t *out, const struct rxmf_cm_accept *accept);
size_t rxmf_cm_put_reject(uint8_t *out, enum rxmf_cm_reason reason);

/* rxmf_cm_get_request, rxmf_cm_get_accept - validate and decode @len bytes of private data.
 * Return NULL, or what is wrong.
 */
const char *rxmf_cm_get_request(const void *buf, size_t len, struct rxmf_cm_request *out);
const char *rxmf_cm_get_accept(const void *buf, size_t len, struct rxmf_cm_accept *out);

/* rxmf_cm_get_reject - RXMF_CM_UNSPECIFIED where @buf has no reason. */
enum rxmf_cm_reason rxmf_cm_get_reject(const void *buf, size_t len);

#endif
