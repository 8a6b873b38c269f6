/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "foreign/xnet/cm.h"

#include <endian.h>
#include <string.h>

/* Bytes that other implementations ignore in a request, by which two of ours recognize each other. */
#define MAGIC "\xfa" "bri"
#define MAGIC_PACKETS "\xfa" "brp"	/* the same, of the compatible format alone */

/* As on the wire. */
struct head {
	uint8_t version;
	uint8_t type;
	uint16_t data_len;
	struct {
		uint8_t magic[4];
		uint8_t link_oldest, link;
		uint8_t engine_oldest, engine;
		uint8_t packets;
		uint8_t zero[3];
		uint64_t serial;
	} __attribute__((packed)) mark;
	uint64_t order;
} __attribute__((packed));

_Static_assert(sizeof(struct head) == XNET_CM_SIZE, "wire layout");
_Static_assert(offsetof(struct head, mark) == 4 && offsetof(struct head, order) == 24, "wire layout");

void xnet_cm_put(const struct xnet_cm_msg *msg, uint8_t out[XNET_CM_SIZE])
{
	struct head head = {
		.version = XNET_CM_VERSION,
		.type = (uint8_t) msg->type,
		.data_len = htobe16(msg->data_len),
		.order = msg->type != XNET_CM_REFUSAL,
	};

	if (msg->marked || msg->packets) {
		memcpy(head.mark.magic, msg->marked ? MAGIC : MAGIC_PACKETS, sizeof(head.mark.magic));
		head.mark.engine = (uint8_t) msg->version.engine;
		head.mark.engine_oldest = (uint8_t) msg->version.engine_oldest;
		head.mark.packets = msg->packets;
	}
	if (msg->marked) {
		head.mark.link = (uint8_t) msg->version.link;
		head.mark.link_oldest = (uint8_t) msg->version.link_oldest;
		head.mark.serial = htobe64(msg->serial);
	}
	memcpy(out, &head, sizeof(head));
}

/* A length beyond the maximum is refused when the packet is read: until then it is cut. */
size_t xnet_cm_need(const uint8_t *buf, size_t have)
{
	size_t len;

	if (have < XNET_CM_SIZE)
		return XNET_CM_SIZE;
	len = (size_t) buf[2] << 8 | buf[3];
	return XNET_CM_SIZE + (len < XNET_CM_DATA_MAX ? len : XNET_CM_DATA_MAX);
}

static bool known_type(uint8_t type)
{
	return type == XNET_CM_REQUEST || type == XNET_CM_RESPONSE || type == XNET_CM_REFUSAL;
}

static bool has_magic(const struct head *head, const char *magic)
{
	return !memcmp(head->mark.magic, magic, sizeof(head->mark.magic));
}

/* The first byte alone decides whether it can be this protocol: so it is checked first.  The mark
 * counts in a request alone, whose sender does not know yet what the peer speaks.
 */
enum xnet_cm_verdict xnet_cm_get(const uint8_t *buf, size_t have, struct xnet_cm_msg *msg_p)
{
	struct head head;

	if (have && buf[0] != XNET_CM_VERSION)
		return XNET_CM_BAD;
	if (have < sizeof(head))
		return XNET_CM_MORE;
	memcpy(&head, buf, sizeof(head));
	if (!known_type(head.type) || be16toh(head.data_len) > XNET_CM_DATA_MAX)
		return XNET_CM_BAD;
	if (have < xnet_cm_need(buf, have))
		return XNET_CM_MORE;
	*msg_p = (struct xnet_cm_msg) {
		.type = head.type,
		.data_len = be16toh(head.data_len),
		.swapped = head.type != XNET_CM_REFUSAL && head.order != 1,
		.marked = head.type == XNET_CM_REQUEST && has_magic(&head, MAGIC),
	};
	msg_p->packets = head.type != XNET_CM_REFUSAL && head.mark.packets == 1 &&
			 (msg_p->marked || has_magic(&head, MAGIC_PACKETS));
	if (msg_p->marked || msg_p->packets) {
		/* the first ones said no oldest: 0 is none that we speak alone */
		msg_p->version.engine = head.mark.engine;
		msg_p->version.engine_oldest = head.mark.engine_oldest ? head.mark.engine_oldest :
									 head.mark.engine;
	}
	if (msg_p->marked) {
		msg_p->version.link = head.mark.link;
		msg_p->version.link_oldest = head.mark.link_oldest ? head.mark.link_oldest :
								     head.mark.link;
		msg_p->serial = be64toh(head.mark.serial);
	}
	return XNET_CM_OK;
}
