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
 *   ATOMIC           packet                ATOMIC; between peers of this library alone, and so are
 *   DATA, ACK, NACK  packet                ... its answers
 *
 *   RTS, DATA        announcement, data    another implementation alone sends these
 *   CTS              clear to send
 *
 * A frame is a whole message: the engine neither announces nor cuts (ENG_FORMAT_WHOLE).
 *
 * What no frame can carry is refused with -FI_EOPNOTSUPP; an RDM endpoint reports that by the next
 * poll.
 *
 * On a MSG endpoint a message that is longer than is kept without a receive for it is announced to the
 * engine, and until the engine asks for it nothing more is read from the connection.
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
 * @swapped:   its peer has the other byte order
 * @announces: its peer may announce tagged messages
 * Errors: -FI_ENOMEM.
 */
int tcp_stream_new(struct tcp_conn *conn, bool swapped, bool announces);

/* tcp_stream_packets - the peer takes frames that hold packets: atomics can be sent. */
void tcp_stream_packets(struct tcp_conn *conn);
bool tcp_stream_has_packets(const struct tcp_conn *conn);

/* tcp_stream_begin - @conn, in either format, is about to become READY for its channel: tell the engine
 * the format, and take the packets that wait there.
 */
void tcp_stream_begin(struct tcp_conn *conn);

/* tcp_stream_up - it is: log the format; send those packets.  From poll() or, on MSG endpoints,
 * fi_accept().
 */
void tcp_stream_up(struct tcp_conn *conn);

/* tcp_stream_idle - no packet waits.  True in the native format. */
bool tcp_stream_idle(const struct tcp_conn *conn);

/* tcp_stream_send - eng_link_ops.send for such a connection. */
int tcp_stream_send(struct tcp_conn *conn, struct eng_pkt *pkt);

/* tcp_stream_parse - offer the frames in @buf, from @pos to @end, to the engine. */
void tcp_stream_parse(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end);

/* tcp_stream_taken - the payload that was being received is complete. */
void tcp_stream_taken(struct tcp_conn *conn);

#endif
