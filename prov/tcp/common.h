/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * common.h - handshake packets in the common form: connection messages that other implementations
 * understand, too.
 *
 * A request of ours has a mark that others ignore: that of a MSG endpoint in the header
 * (foreign/xnet/cm.h), that of an RDM endpoint is a whole HELLO behind its private data (foreign/xnet/rdm.h).  A
 * peer that knows the mark answers with a native packet, and the connection is native.  A request
 * without it, or an answer in the common form, makes the connection compatible: conn->stream is
 * set.
 */
#ifndef TCP_COMMON_H
#define TCP_COMMON_H

#include "foreign/xnet/cm.h"
#include "foreign/xnet/rdm.h"
#include "conn.h"

/* A request of an RDM endpoint of this library. */
#define TCP_COMMON_RDM_SIZE (XNET_CM_SIZE + XNET_RDM_SIZE + TCP_WIRE_HELLO_SIZE)

/* tcp_common_wanted - is @hello to be sent in the common form? */
bool tcp_common_wanted(const struct tcp_conn *conn, const struct tcp_hello *hello);

/* tcp_common_write - fill in conn->handshake->out.
 * @hello: complete, as for a native packet
 */
void tcp_common_write(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data);

/* tcp_common_came - is what has arrived on @conn in the common form? */
bool tcp_common_came(const struct tcp_conn *conn);

/* tcp_common_parse - validate what has arrived, as tcp_hello_parse(), and decide the format of the
 * connection.  A peer of another implementation has epoch 0, but where it is accepted or accepts:
 * then it is the process of an RDM endpoint.
 */
enum tcp_hello_verdict tcp_common_parse(struct tcp_conn *conn, struct tcp_hello *hello_p);

#endif
