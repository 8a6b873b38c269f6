/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "foreign/rxmf/cm.h"

#include <byteswap.h>
#include <endian.h>
#include <string.h>

/* Each packet has versions of its own: that of the handshake, and those of what follows it. */
#define CM_VERSION 1
#define CM_CTRL_VERSION 4
#define CM_OP_VERSION 3
#define CM_BIG 1
#define CM_LITTLE 2
#define CM_ENDIAN (__BYTE_ORDER == __LITTLE_ENDIAN ? CM_LITTLE : CM_BIG)

/* Host order, which @endian tells. */
struct request {
	uint8_t version;
	uint8_t endian;
	uint8_t ctrl_version;
	uint8_t op_version;
	uint16_t port;
	uint8_t credits;
	uint8_t unused;
	uint32_t eager_limit;
	uint32_t rx_size;
	uint64_t id;		/* process, connection */
};
_Static_assert(sizeof(struct request) == RXMF_CM_REQUEST, "wire layout");

/* It has no versions: a peer that does not speak ours rejects instead. */
struct accept {
	uint64_t id;
	uint32_t rx_size;
	uint8_t credits;
	uint8_t zero[3];
};
_Static_assert(sizeof(struct accept) == RXMF_CM_ACCEPT, "wire layout");

struct reject {
	uint8_t version;
	uint8_t reason;
};
_Static_assert(sizeof(struct reject) == RXMF_CM_REJECT, "wire layout");

/* Up to 1.14 the byte is padding. */
static enum rxmf_cm_credits credits_of(uint8_t byte)
{
	return byte <= RXMF_CM_CREDITS_OFF ? byte : RXMF_CM_CREDITS_UNSAID;
}

/* The process number tells the lives of an endpoint at one address apart. */
size_t rxmf_cm_put_request(uint8_t *out, const struct rxmf_cm_request *request)
{
	struct request wire = {
		.version = CM_VERSION,
		.endian = CM_ENDIAN,
		.ctrl_version = CM_CTRL_VERSION,
		.op_version = CM_OP_VERSION,
		.port = request->port,
		.credits = (uint8_t) request->credits,
		.eager_limit = request->eager_limit,
		.rx_size = request->rx_size,
		.id = (uint64_t) request->process << 32 | request->conn_id,
	};

	memcpy(out, &wire, sizeof(wire));
	return sizeof(wire);
}

size_t rxmf_cm_put_accept(uint8_t *out, const struct rxmf_cm_accept *accept)
{
	struct accept wire = {
		.id = (uint64_t) accept->process << 32 | accept->conn_id,
		.rx_size = accept->rx_size,
		.credits = (uint8_t) accept->credits,
	};

	memcpy(out, &wire, sizeof(wire));
	return sizeof(wire);
}

size_t rxmf_cm_put_reject(uint8_t *out, enum rxmf_cm_reason reason)
{
	struct reject wire = { .version = CM_VERSION, .reason = (uint8_t) reason };

	memcpy(out, &wire, sizeof(wire));
	return sizeof(wire);
}

static void swap_request(struct request *wire)
{
	wire->port = bswap_16(wire->port);
	wire->eager_limit = bswap_32(wire->eager_limit);
	wire->rx_size = bswap_32(wire->rx_size);
	wire->id = bswap_64(wire->id);
}

/* What may follow the request is not looked at here: it is of our own handshake. */
const char *rxmf_cm_get_request(const void *buf, size_t len, struct rxmf_cm_request *out)
{
	struct request wire;

	memset(out, 0, sizeof(*out));
	if (len < sizeof(wire))
		return "its request is too short";
	memcpy(&wire, buf, sizeof(wire));
	if (wire.version != CM_VERSION || wire.ctrl_version != CM_CTRL_VERSION ||
	    wire.op_version != CM_OP_VERSION)
		return "it has another version of the protocol";
	if (wire.endian != CM_BIG && wire.endian != CM_LITTLE)
		return "it has no byte order";
	if (wire.endian != CM_ENDIAN)
		swap_request(&wire);
	if (!(wire.id >> 32) || !wire.port)
		return "it does not say which process and port it is";
	if (wire.eager_limit < RXMF_CM_EAGER_MIN || wire.eager_limit > RXMF_CM_EAGER_MAX)
		return "its eager limit (FI_OFI_RXM_BUFFER_SIZE) is impossible";
	*out = (struct rxmf_cm_request) {
		.swapped = wire.endian != CM_ENDIAN,
		.port = wire.port,
		.credits = credits_of(wire.credits),
		.eager_limit = wire.eager_limit,
		.rx_size = wire.rx_size,
		.process = (uint32_t) (wire.id >> 32),
		.conn_id = (uint32_t) wire.id,
	};
	return NULL;
}

const char *rxmf_cm_get_accept(const void *buf, size_t len, struct rxmf_cm_accept *out)
{
	struct accept wire;

	memset(out, 0, sizeof(*out));
	if (len < sizeof(wire))
		return "its acceptance is too short";
	memcpy(&wire, buf, sizeof(wire));
	if (!(wire.id >> 32))
		return "it does not say which process it is";
	*out = (struct rxmf_cm_accept) {
		.credits = credits_of(wire.credits),
		.rx_size = wire.rx_size,
		.process = (uint32_t) (wire.id >> 32),
		.conn_id = (uint32_t) wire.id,
	};
	return NULL;
}

/* A reject of another protocol, or without data, is one for no stated reason. */
enum rxmf_cm_reason rxmf_cm_get_reject(const void *buf, size_t len)
{
	struct reject wire;

	if (len < sizeof(wire))
		return RXMF_CM_UNSPECIFIED;
	memcpy(&wire, buf, sizeof(wire));
	return wire.version == CM_VERSION && wire.reason <= RXMF_CM_EXISTS ? wire.reason :
									    RXMF_CM_UNSPECIFIED;
}
