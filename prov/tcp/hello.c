/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The codec of handshake packets.  Every field of a received packet is checked here, once,
 * before any other function uses it.
 */
#include <endian.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "hello.h"

/* Ports and addresses are in network order in both forms. */
void tcp_addr_pack(const union net_sa *sa, struct tcp_wire_addr *out)
{
	switch (sa->sa.sa_family) {
	case AF_INET:
		out->family = 4;
		out->port = sa->in.sin_port;
		memcpy(out->ip, &sa->in.sin_addr, 4);
		break;
	case AF_INET6:
		out->family = 6;
		out->port = sa->in6.sin6_port;
		memcpy(out->ip, &sa->in6.sin6_addr, 16);
		break;
	default:
		break;
	}
}

int tcp_addr_unpack(const struct tcp_wire_addr *in, union net_sa *sa_p)
{
	memset(sa_p, 0, sizeof(*sa_p));
	switch (in->family) {
	case 0:
		return 0;
	case 4:
		sa_p->in.sin_family = AF_INET;
		sa_p->in.sin_port = in->port;
		memcpy(&sa_p->in.sin_addr, in->ip, 4);
		return 0;
	case 6:
		sa_p->in6.sin6_family = AF_INET6;
		sa_p->in6.sin6_port = in->port;
		memcpy(&sa_p->in6.sin6_addr, in->ip, 16);
		return 0;
	default:
		return -FI_EINVAL;
	}
}

/* The structure is zeroed first: bytes that this version does not use are 0 on the wire. */
void tcp_hello_pack(const struct tcp_hello *hello, uint8_t *out)
{
	struct chan_version ours = chan_version_ours(TCP_WIRE_VERSION, TCP_WIRE_OLDEST);
	struct tcp_wire_hello w = {
		.magic = TCP_WIRE_MAGIC,
		.type = (uint8_t) hello->type,
		.kind = (uint8_t) hello->kind,
		.features = hello->features,
		.lanes = hello->lanes,
		.lane = hello->lane,
		.engine = (uint8_t) ours.engine,
		.engine_oldest = (uint8_t) ours.engine_oldest,
		.version = (uint8_t) ours.link,
		.oldest = (uint8_t) ours.link_oldest,
		.release = { ours.release.major, ours.release.minor, ours.release.micro },
		.commit = htobe32(ours.release.commit),
		.size = htobe16(TCP_WIRE_HELLO_SIZE),
		.data_len = htobe16(hello->data_len),
		.reason = htobe32(hello->reason),
		.epoch = htobe64(hello->epoch),
		.serial = htobe64(hello->serial),
		.prev = htobe64(hello->prev),
		.max_payload = htobe64(hello->max_payload),
	};

	tcp_addr_pack(&hello->addr, &w.addr);
	w.addr.host = htobe32(hello->host);
	if (hello->type == TCP_WIRE_REFUSE && hello->reason == CHAN_INSECURE)
		w.addr.host = w.commit = 0;	/* in the clear, to a peer without the key */
	memcpy(out, &w, sizeof(w));
}

/* Until the stable part has arrived, the length of the data behind is unknown. */
size_t tcp_hello_need(const uint8_t *buf, size_t have)
{
	uint16_t data_len;

	if (have < TCP_WIRE_STABLE)
		return TCP_WIRE_HELLO_SIZE;
	memcpy(&data_len, buf + offsetof(struct tcp_wire_hello, data_len), sizeof(data_len));
	data_len = be16toh(data_len);
	return TCP_WIRE_HELLO_SIZE + (data_len < TCP_WIRE_DATA_MAX ? data_len : TCP_WIRE_DATA_MAX);
}

/* check_fields - a REFUSE has a reason and nothing else does; a REFUSE need not know our kind. */
static enum tcp_hello_verdict check_fields(const struct tcp_wire_hello *w)
{
	if (be16toh(w->size) != TCP_WIRE_HELLO_SIZE ||
	    be16toh(w->data_len) > TCP_WIRE_DATA_MAX ||
	    w->type < TCP_WIRE_HELLO || w->type > TCP_WIRE_CHECK ||
	    (w->type == TCP_WIRE_REFUSE) != (be32toh(w->reason) != CHAN_OK))
		return TCP_HELLO_BAD;
	if (w->type != TCP_WIRE_REFUSE &&
	    ((w->kind != TCP_WIRE_RDM && w->kind != TCP_WIRE_MSG) || !be64toh(w->max_payload)))
		return TCP_HELLO_BAD;
	return TCP_HELLO_OK;
}

static struct chan_version version_of(const struct tcp_wire_hello *w)
{
	struct chan_version theirs = {
		.link = w->version,
		.engine = w->engine,
		.link_oldest = w->oldest,
		.engine_oldest = w->engine_oldest,
		.release = { w->release[0], w->release[1], w->release[2], 0, be32toh(w->commit) },
	};

	chan_version_first(&theirs, TCP_WIRE_RANGED);
	return theirs;
}

/* In the order in which fields can be trusted: the magic number byte by byte, so that another
 * protocol is found out with its first byte; the versions, which keep their place; then the rest.
 */
enum tcp_hello_verdict tcp_hello_parse(const uint8_t *buf, size_t have,
				       struct tcp_hello *hello_p)
{
	size_t known = have < TCP_WIRE_MAGIC_LEN ? have : TCP_WIRE_MAGIC_LEN;
	struct chan_version ours = chan_version_ours(TCP_WIRE_VERSION, TCP_WIRE_OLDEST);
	struct tcp_wire_hello w = { .type = 0 };
	struct tcp_hello h = { .type = 0 };

	if (memcmp(buf, TCP_WIRE_MAGIC, known))
		return TCP_HELLO_FOREIGN;
	if (have < TCP_WIRE_STABLE)
		return TCP_HELLO_MORE;
	memcpy(&w, buf, have < sizeof(w) ? have : sizeof(w));
	h.type = w.type;
	h.kind = w.kind;
	h.reason = be32toh(w.reason);
	h.version = version_of(&w);
	if (!chan_version_agree(&ours, &h.version, NULL)) {
		*hello_p = h;
		return TCP_HELLO_VERSION;
	}
	if (have < sizeof(w))
		return TCP_HELLO_MORE;
	if (check_fields(&w) != TCP_HELLO_OK || tcp_addr_unpack(&w.addr, &h.addr))
		return TCP_HELLO_BAD;
	h.data_len = be16toh(w.data_len);
	h.features = w.features;
	h.lanes = w.lanes;
	h.lane = w.lane;
	if (have < sizeof(w) + h.data_len)
		return TCP_HELLO_MORE;
	h.epoch = be64toh(w.epoch);
	h.serial = be64toh(w.serial);
	h.prev = be64toh(w.prev);
	h.max_payload = be64toh(w.max_payload);
	h.host = be32toh(w.addr.host);
	*hello_p = h;
	return TCP_HELLO_OK;
}

static bool text_begins(const uint8_t *buf, size_t have, const char *text)
{
	size_t len = strlen(text);

	return have >= len && !memcmp(buf, text, len);
}

static bool is_http(const uint8_t *buf, size_t have)
{
	static const char *const methods[] = {
		"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "CONNECT ", "PRI * HTTP",
	};
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (text_begins(buf, have, methods[i]))
			return true;
	return false;
}

static bool is_text(const uint8_t *buf, size_t have)
{
	size_t i;

	for (i = 0; i < have; i++)
		if ((buf[i] < ' ' || buf[i] > '~') && buf[i] != '\r' && buf[i] != '\n' &&
		    buf[i] != '\t')
			return false;
	return true;
}

/* For the log alone: nothing is decided by it. */
const char *tcp_hello_identify(const uint8_t *buf, size_t have)
{
	if (!have)
		return "a program that sent nothing";
	if (is_http(buf, have))
		return "an HTTP client";
	if (text_begins(buf, have, "SSH-"))
		return "an SSH client";
	if (have >= 2 && buf[0] == 0x16 && buf[1] == 0x03)
		return "a TLS client";
	if (have >= 2 && buf[0] == 3 && !buf[1])
		return "another implementation of this provider, which FI_TCP_WIRE excludes";
	if (is_text(buf, have))
		return "a program that sends text";
	return "a program with another binary protocol (another fabric library, perhaps)";
}

const char *tcp_hello_http_answer(const uint8_t *buf, size_t have, size_t *len_p)
{
	static const char http[] =
		"HTTP/1.1 400 Bad Request\r\n"
		"Content-Type: text/plain\r\n"
		"Connection: close\r\n"
		"\r\n"
		"This port belongs to a libfabric tcp endpoint, not to a web server.\n";

	if (!is_http(buf, have))
		return NULL;
	*len_p = sizeof(http) - 1;
	return http;
}
