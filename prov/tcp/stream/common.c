/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "tcp/common.h"

#include <string.h>

#include "tcp/link.h"

/* ---- sending ----------------------------------------------------------------------- */

/* is_self - an endpoint connects to itself: no other implementation reads that. */
static bool is_self(const struct tcp_conn *conn)
{
	return !net_addr_cmp(&conn->peer.sa, &conn->link->name.sa);
}

/* A request is in the common form, unless the peer is known to be one of this library, or the private
 * data are too long.  An answer is in the form of the connection.
 */
bool tcp_common_wanted(const struct tcp_conn *conn, const struct tcp_hello *hello)
{
	if (hello->type != TCP_WIRE_HELLO)
		return conn->stream != NULL;
	if (conn->link->conf->wire == TCP_FORMAT_NATIVE || conn->sec)
		return false;
	return conn->link->kind == TCP_WIRE_MSG ? hello->data_len <= XNET_CM_DATA_MAX :
						  !hello->lane && !is_self(conn);
}

static uint32_t process_id(const struct tcp_link *link)
{
	uint32_t id = (uint32_t) link->base.epoch;	/* random, of this endpoint's life */

	return id ? id : 1;
}

/* write_rdm - the private data of an RDM endpoint.  Returns the length. */
static uint16_t write_rdm(const struct tcp_conn *conn, const struct tcp_hello *hello, bool marked,
			  uint8_t *out)
{
	struct xnet_rdm rdm = {
		.version = XNET_RDM_VERSION,
		.port = net_addr_port(&conn->link->name.sa),
		.process = process_id(conn->link),
	};

	if (hello->type != TCP_WIRE_HELLO)
		rdm = xnet_rdm_answer(&conn->handshake->rdm, rdm.process);
	xnet_rdm_put(&rdm, out);
	if (!marked)
		return XNET_RDM_SIZE;
	tcp_hello_pack(hello, out + XNET_RDM_SIZE);
	return XNET_RDM_SIZE + TCP_WIRE_HELLO_SIZE;
}

static enum xnet_cm_type type_of(const struct tcp_hello *hello)
{
	return hello->type == TCP_WIRE_HELLO ? XNET_CM_REQUEST :
	       hello->type == TCP_WIRE_WELCOME ? XNET_CM_RESPONSE : XNET_CM_REFUSAL;
}

/* Of MSG endpoints only a program's private data are sent: they have no place for the library's
 * reasons.
 */
void tcp_common_write(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_handshake *handshake = conn->handshake;
	bool rdm = conn->link->kind == TCP_WIRE_RDM;
	bool marked = hello->type == TCP_WIRE_HELLO && conn->link->conf->wire == TCP_FORMAT_AUTO;
	struct xnet_cm_msg msg = {
		.type = type_of(hello),
		.marked = marked && !rdm,
		.packets = hello->type == TCP_WIRE_HELLO ? conn->link->conf->wire == TCP_FORMAT_AUTO :
			   hello->type == TCP_WIRE_WELCOME && tcp_stream_has_packets(conn),
		.version = chan_version_ours(TCP_WIRE_VERSION, TCP_WIRE_OLDEST),
		.serial = hello->serial,
	};

	if (rdm) {
		msg.data_len = write_rdm(conn, hello, marked, handshake->out + XNET_CM_SIZE);
	} else if (hello->data_len && (hello->reason == CHAN_OK || hello->reason == CHAN_REJECTED)) {
		msg.data_len = hello->data_len;
		memcpy(handshake->out + XNET_CM_SIZE, data, msg.data_len);
	}
	xnet_cm_put(&msg, handshake->out);
	handshake->out_len = XNET_CM_SIZE + msg.data_len;
}

/* ---- receiving --------------------------------------------------------------------- */

bool tcp_common_came(const struct tcp_conn *conn)
{
	return conn->handshake->have && conn->handshake->in[0] == XNET_CM_VERSION;
}

/* has_mark - is it a request of a MSG endpoint of this library, which speaks a version of ours? */
static bool has_mark(const struct tcp_conn *conn, const struct xnet_cm_msg *msg)
{
	struct chan_version ours = chan_version_ours(TCP_WIRE_VERSION, TCP_WIRE_OLDEST);

	return msg->marked && conn->link->conf->wire != TCP_FORMAT_COMPATIBLE &&
	       chan_version_agree(&ours, &msg->version, NULL);
}

/* has_hello - is it a request of an RDM endpoint of this library, which has our version?
 * @hello_p: [out] if so
 */
static bool has_hello(const struct tcp_conn *conn, const struct xnet_cm_msg *msg,
		      struct tcp_hello *hello_p)
{
	const uint8_t *data = conn->handshake->in + XNET_CM_SIZE;

	return msg->type == XNET_CM_REQUEST && conn->link->conf->wire != TCP_FORMAT_COMPATIBLE &&
	       msg->data_len == XNET_RDM_SIZE + TCP_WIRE_HELLO_SIZE &&
	       tcp_hello_parse(data + XNET_RDM_SIZE, TCP_WIRE_HELLO_SIZE, hello_p) == TCP_HELLO_OK;
}

/* takes_packets - may frames hold packets of the engine? */
static bool takes_packets(const struct tcp_conn *conn, const struct xnet_cm_msg *msg)
{
	struct chan_version ours = chan_version_ours(TCP_WIRE_VERSION, TCP_WIRE_OLDEST);

	return msg->packets && conn->link->conf->wire == TCP_FORMAT_AUTO &&
	       msg->version.engine >= ours.engine_oldest && msg->version.engine_oldest <= ours.engine;
}

static struct tcp_hello hello_of(const struct tcp_conn *conn, const struct xnet_cm_msg *msg)
{
	return (struct tcp_hello) {
		.type = msg->type == XNET_CM_REQUEST ? TCP_WIRE_HELLO :
			msg->type == XNET_CM_RESPONSE ? TCP_WIRE_WELCOME : TCP_WIRE_REFUSE,
		.kind = TCP_WIRE_MSG,
		.data_len = msg->data_len,
		.serial = msg->marked ? msg->serial : conn->serial,
		.max_payload = TCP_PAYLOAD_MAX,
	};
}

/* read_rdm - the peer is an RDM endpoint: where it listens, and which process it is.
 * Returns whether tagged messages may be announced.
 */
static bool read_rdm(struct tcp_conn *conn, const struct xnet_cm_msg *msg, struct tcp_hello *hello)
{
	struct xnet_rdm *rdm = &conn->handshake->rdm, answer;

	if (conn->link->kind != TCP_WIRE_RDM ||
	    !xnet_rdm_get(conn->handshake->in + XNET_CM_SIZE, msg->data_len, rdm))
		return false;
	hello->kind = TCP_WIRE_RDM;
	hello->epoch = rdm->process;
	hello->data_len = 0;
	net_addr_any(conn->peer.sa.sa_family, &hello->addr);
	net_addr_set_port(&hello->addr.sa, rdm->port);
	answer = msg->type == XNET_CM_REQUEST ? xnet_rdm_answer(rdm, rdm->process) : *rdm;
	return xnet_rdm_agrees(&answer);
}

enum tcp_hello_verdict tcp_common_parse(struct tcp_conn *conn, struct tcp_hello *hello_p)
{
	struct tcp_handshake *handshake = conn->handshake;
	enum xnet_cm_verdict verdict;
	struct xnet_cm_msg msg;
	bool announces;

	verdict = xnet_cm_get(handshake->in, handshake->have, &msg);
	if (verdict == XNET_CM_MORE)
		return TCP_HELLO_MORE;
	if (verdict != XNET_CM_OK || handshake->have > XNET_CM_SIZE + (size_t) msg.data_len)
		return TCP_HELLO_BAD;
	if (has_hello(conn, &msg, hello_p))
		return TCP_HELLO_OK;
	*hello_p = hello_of(conn, &msg);
	if (has_mark(conn, &msg))
		return TCP_HELLO_OK;
	if (conn->link->conf->wire == TCP_FORMAT_NATIVE)
		return TCP_HELLO_FOREIGN;
	if (msg.type == XNET_CM_REFUSAL) {
		hello_p->reason = conn->link->kind == TCP_WIRE_RDM ? CHAN_SIMULTANEOUS : CHAN_REJECTED;
		return TCP_HELLO_OK;
	}
	announces = read_rdm(conn, &msg, hello_p);
	if (tcp_stream_new(conn, msg.swapped, announces))
		return TCP_HELLO_BAD;
	if (takes_packets(conn, &msg))
		tcp_stream_packets(conn);
	return TCP_HELLO_OK;
}
