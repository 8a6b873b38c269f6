/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * secure.h - protected connections: TLS 1.3 before the handshake packets, then sealed records.
 *
 * conn->sec is NULL where nothing is protected; the functions that may be called then say so.  A protected connection
 * begins with a handshake of secure/handshake.h, of which each record is read by itself, so that no byte behind
 * it is taken.  From then on handshake packets and frames travel as the plain bytes of secure/channel.h, and
 * tx.c gives tcp_sec_send() what it would give the socket, and read.c takes with tcp_sec_take() what it would read.
 * The keys are freed with the connection, by a struct tcp_conn_end.
 *
 * Threading: as conn.h.
 */
#ifndef TCP_SECURE_H
#define TCP_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "secure/level.h"

union net_sa;
struct sec_policy;
struct tcp_conn;
struct tcp_link;
struct tcp_sec;

/* tcp_sec_new - @conn, whose peer address is known, is protected as its link asks; nothing where that does not.
 * Errors: -FI_ENOMEM.
 */
int tcp_sec_new(struct tcp_conn *conn);

/* tcp_sec_level - of @conn; SEC_NONE where it is not protected.  tcp_sec_text - the same, for the log. */
enum sec_level tcp_sec_level(const struct tcp_conn *conn);
const char *tcp_sec_text(const struct tcp_conn *conn);

/* tcp_sec_may_take - may an endpoint of @link take over @conn, a request?  Both have one level, and the key that
 * the peer has proven is one of the endpoint's.  Logged.
 */
bool tcp_sec_may_take(const struct tcp_link *link, const struct tcp_conn *conn);

/* tcp_sec_is_claim_true - may the peer of @conn, a request, be where its HELLO says: does its certificate have that
 * address?  For a MSG endpoint it is the address that it connects from.  True without certificates.  Logged.
 * tcp_sec_log_refusal - the same at the other side, which was refused for its address.
 */
bool tcp_sec_is_claim_true(struct tcp_conn *conn, const union net_sa *said);
void tcp_sec_log_refusal(struct tcp_conn *conn);

/* ---- the handshake -------------------------------------------------------- */

/* tcp_sec_begin - @conn is connected: send what begins the handshake.
 * Errors: negative errno.
 */
int tcp_sec_begin(struct tcp_conn *conn);

/* tcp_sec_is_open - has the peer proven the key? */
bool tcp_sec_is_open(const struct tcp_conn *conn);

/* tcp_sec_is_speaking - has the peer begun a handshake, by a whole record, that is not proven yet?  Also where nothing is protected. */
bool tcp_sec_is_speaking(const struct tcp_conn *conn);

/* tcp_sec_shake - there is input: go on.  True when the peer has proven the key just now.  Else more input is
 * waited for, or the connection has failed, or is closing.
 */
bool tcp_sec_shake(struct tcp_conn *conn);

/* tcp_sec_is_plain - has a request in the clear come?  It is to be refused in its own form.
 * tcp_sec_drop - for that @conn is protected no more.  Returns the byte that was read of it.
 */
bool tcp_sec_is_plain(const struct tcp_conn *conn);
uint8_t tcp_sec_drop(struct tcp_conn *conn);

/* tcp_sec_recv - one handshake packet, as recv() would: -1 with errno, 0 at the end of the stream. */
ssize_t tcp_sec_recv(struct tcp_conn *conn, uint8_t *buf, size_t size);

/* ---- sending -------------------------------------------------------------- */

/* tcp_sec_send - seal as many bytes of @iov as the socket takes, or a few more, which are kept.
 * Returns how many, or -1 with errno.
 */
ssize_t tcp_sec_send(struct tcp_conn *conn, const struct iovec *iov, size_t cnt);

/* tcp_sec_pending - are sealed bytes kept, that the socket has not taken?  Also where nothing is protected. */
bool tcp_sec_pending(const struct tcp_conn *conn);

/* tcp_sec_push - send them.  False: the socket is full, or the connection has failed. */
bool tcp_sec_push(struct tcp_conn *conn);

/* tcp_sec_end - seal the end of the stream.  False: it waits, as tcp_sec_push(). */
bool tcp_sec_end(struct tcp_conn *conn);

/* tcp_sec_leave - seal the end of the stream as far as the socket takes it now: @conn is about to close. */
void tcp_sec_leave(struct tcp_conn *conn);

/* ---- receiving ------------------------------------------------------------- */

enum tcp_sec_took {
	TCP_SEC_MORE,		/* more is to be read from the socket */
	TCP_SEC_TAKEN,
	TCP_SEC_NO_RECORD,	/* the bytes are no sealed record */
	TCP_SEC_ALTERED,	/* altered, repeated, left out, or sealed by another */
};

/* tcp_sec_take - open the next record: into @place as far as there is room, then into @buf.
 * @place: may be undefined where the record does not open, at encrypt
 * @buf: room for SEC_RECORD_MAX bytes; *len_p: [out] how many there are, in both
 */
enum tcp_sec_took tcp_sec_take(struct tcp_conn *conn, const struct iovec *place, size_t place_cnt, uint8_t *buf,
			       size_t *len_p);

/* tcp_sec_more - read from the socket; of a further lane no byte behind its part, which ends with a record.
 * @asked_p: [out] bytes that it was asked for.   Returns as recv().
 */
ssize_t tcp_sec_more(struct tcp_conn *conn, size_t *asked_p);

/* tcp_sec_ended - has the sealed end of the stream come? */
bool tcp_sec_ended(const struct tcp_conn *conn);

/* tcp_sec_has_input - are bytes kept that were read from the socket?  Also where nothing is protected. */
bool tcp_sec_has_input(const struct tcp_conn *conn);

#endif
