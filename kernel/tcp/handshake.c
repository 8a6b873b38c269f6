// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * handshake.c - connection messages: a request and its response, or refusal, before the first frame.
 */
#include <linux/net.h>

#include "tcp.h"

/* The modules speak this version of the engine's packets: they answer no questions (version 5). */
#define ENGINE_SPOKEN 4

/* A fresh socket has room for so little; the published protocol wants one write. */
int tcp_cm_write(struct tcp_conn *conn, u8 type, const void *data, size_t len)
{
	struct wire_cm cm = { .version = WIRE_VERSION, .type = type, .len = cpu_to_be16(len),
			      .mark = type != WIRE_CM_REFUSAL };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec iov[2] = { { &cm, sizeof(cm) }, { (void *)data, len } };
	int ret;

	if (type == WIRE_CM_REQUEST || (type == WIRE_CM_RESPONSE && conn->packets)) {
		memcpy(cm.magic, WIRE_MAGIC, sizeof(cm.magic));
		cm.engine_oldest = ENG_OLDEST;
		cm.engine = ENGINE_SPOKEN;
		cm.packets = 1;
	}
	if (!conn->sock)
		return -FI_ENOTCONN;
	ret = kernel_sendmsg(conn->sock, &msg, iov, len ? 2 : 1, sizeof(cm) + len);
	return ret < 0 ? ret : ret == sizeof(cm) + len ? 0 : -FI_EPROTO;
}

/* Checks what has come of a message before its private data is waited for. */
static int cm_check(const struct tcp_conn *conn)
{
	const struct wire_cm *cm = (const void *)conn->cm;

	if (cm->version != WIRE_VERSION || be16_to_cpu(cm->len) > WIRE_CM_DATA_MAX)
		return -FI_EPROTO;
	if (conn->state == CONN_WAIT_REQUEST)
		return cm->type == WIRE_CM_REQUEST ? 0 : -FI_EPROTO;
	return cm->type == WIRE_CM_RESPONSE || cm->type == WIRE_CM_REFUSAL ? 0 : -FI_EPROTO;
}

/* A peer of this library, or of these modules, that takes our version of packets. */
static bool cm_takes_packets(const struct wire_cm *cm)
{
	return (!memcmp(cm->magic, WIRE_MAGIC, sizeof(cm->magic)) ||
		!memcmp(cm->magic, WIRE_MAGIC_NATIVE, sizeof(cm->magic))) &&
	       cm->packets == 1 && cm->engine >= ENG_OLDEST && cm->engine_oldest <= ENGINE_SPOKEN;
}

int tcp_cm_read(struct tcp_conn *conn)
{
	struct wire_cm *cm = (void *)conn->cm;
	size_t want = sizeof(*cm);
	struct msghdr msg = {};
	struct kvec iov;
	int ret;

	for (;;) {
		if (conn->cm_got >= sizeof(*cm)) {
			ret = cm_check(conn);
			if (ret)
				return ret;
			want = sizeof(*cm) + be16_to_cpu(cm->len);
		}
		if (conn->cm_got == want)
			break;
		iov.iov_base = conn->cm + conn->cm_got;
		iov.iov_len = want - conn->cm_got;
		ret = kernel_recvmsg(conn->sock, &msg, &iov, 1, iov.iov_len,
				     MSG_DONTWAIT | MSG_NOSIGNAL);
		if (ret <= 0)
			return ret ? ret : -FI_ECONNRESET;
		conn->cm_got += ret;
	}
	conn->packets = cm->type != WIRE_CM_REFUSAL && cm_takes_packets(cm);
	conn->swap = cm->mark != 1 && cm->type != WIRE_CM_REFUSAL;
#ifdef __BIG_ENDIAN
	conn->swap = false;	/* big endian is our own */
#endif
	return 0;
}
