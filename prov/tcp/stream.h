/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stream.h - a READY connection in the compatible format: packets of the engine become frames,
 * and frames become packets.
 *
 *   engine           frame                 engine at the other side
 *   EAGER            message, tagged       EAGER; or RTS if it is long, then CTS and DATA
 *   READ             read request          READ
 *   DATA (of a read) read response         DATA
 *   WRITE            write                 WRITE
 *   ACK              acknowledgement       ACK
 *
 * The engine must not announce its own messages, nor cut them: tcp_stream_up() sets the link's
 * limits so.  Packets of the engine that no frame can carry are refused with -FI_EOPNOTSUPP.
 *
 * A message that is longer than FI_TCP_MAX_RX_SIZE is announced to the engine, and until the
 * engine asks for it nothing more is read from the connection, as the protocol has it.
 */
#ifndef TCP_STREAM_H
#define TCP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eng_pkt;
struct tcp_conn;
struct tcp_stream;

/* tcp_stream_new - @conn is in the compatible format from now on.
 * @swapped: its peer has the other byte order
 * Errors: -FI_ENOMEM.
 */
int tcp_stream_new(struct tcp_conn *conn, bool swapped);
void tcp_stream_free(struct tcp_stream *stream);

/* tcp_stream_up - @conn, in either format, is READY: set the limits of its link, and log the format. */
void tcp_stream_up(struct tcp_conn *conn);

/* tcp_stream_send - tcp_tx_send() for such a connection. */
int tcp_stream_send(struct tcp_conn *conn, struct eng_pkt *pkt);

/* tcp_stream_parse - offer the frames in @buf, from @pos to @end, to the engine. */
void tcp_stream_parse(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end);

#endif
