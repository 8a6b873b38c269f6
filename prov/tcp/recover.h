/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * recover.h - connections that survive the loss of their sockets (FI_RECOVER=1 on both sides).
 *
 * conn->rec is NULL where a connection does not recover: then the functions that may be called say so.  A
 * connection that does has no socket of its own any more (conn->src.fd is -1): its bytes, frames as always, are
 * one stream in records (wire.h) over 1 to TCP_LANES_MAX paths, each a socket, by the rules of
 * channel/recover.h.  The connection stays READY while paths are lost and made; it is lost when the peer's
 * endpoint no longer knows it, or when no path stands for as long as a peer may be silent.
 *
 * With FI_RAILS on both sides, each path is a connection by another interface: a rail.
 *
 *	rails.c   the interfaces of an endpoint, each with a socket that listens
 *	proof.c   rails: addresses are exchanged, and each proves that the peer is there
 *	stream.c  what tx.c and read.c give and take: bytes of the stream
 *	path.c    a path: records into its socket and out of it
 *	join.c    paths are made, watched and lost
 *	watch.c   which stand, and when to look at them
 *
 * Threading: as conn.h.
 */
#ifndef TCP_RECOVER_H
#define TCP_RECOVER_H

#include <rdma/fabric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct tcp_chan;
struct tcp_conn;
struct tcp_hello;
struct tcp_link;
struct tcp_poller;
struct tcp_recover;

/* tcp_recover_begin - @conn, READY and not used yet, recovers if both sides said so in their handshakes: @hello is
 * the peer's.  Its socket becomes the first path.
 * Errors: -FI_ENOMEM.
 */
int tcp_recover_begin(struct tcp_conn *conn, const struct tcp_chan *chan, const struct tcp_hello *hello);

/* tcp_recover_join - @conn, HALF_OPEN, requests to be a further path of @chan's connection, which recovers:
 * accept or refuse it.
 */
void tcp_recover_join(struct tcp_conn *conn, struct tcp_chan *chan, const struct tcp_hello *hello);

/* tcp_recover_fd - the socket of a path that stands; -1: none does.  tcp_recover_paths - how many stand. */
int tcp_recover_fd(const struct tcp_conn *conn);
unsigned tcp_recover_paths(const struct tcp_conn *conn);

/* ---- rails ------------------------------------------------------------------ */

/* tcp_rails_open - an RDM endpoint listens at its further interfaces, where FI_RAILS says so and there are several.
 * What cannot be had is logged.   tcp_rails_close - no more.
 */
void tcp_rails_open(struct tcp_link *link);
void tcp_rails_close(struct tcp_link *link);

/* tcp_rails_joins - is @hello, of @conn, HALF_OPEN, that of a further path by another interface?  Then it is answered.
 * @data: hello->data_len bytes
 */
bool tcp_rails_joins(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data);

/* tcp_rails_text - for the line of the route: each interface, and which share of what the peer's kernel has of this side it
 * has carried since it was made, or that it is not in use.  Nothing for a connection without rails.
 */
#define TCP_RAILS_TEXT (8 * (16 + 14))
void tcp_rails_text(const struct tcp_conn *conn, char *buf, size_t size);

/* tcp_recover_path_fd - the socket of path @i; -1: it does not stand. */
int tcp_recover_path_fd(const struct tcp_conn *conn, unsigned i);

/* ---- the stream ------------------------------------------------------------- */

/* tcp_recover_send - keep bytes of @iov and send them.  Returns how many: as many as the peer's window takes.  When it
 * takes more, tcp_tx_pump() is called if conn->tx.blocked.
 */
ssize_t tcp_recover_send(struct tcp_conn *conn, const struct iovec *iov, size_t cnt);

/* tcp_recover_send_staged - the same for the @len bytes of @buf.  TCP_RECORD_SIZE bytes in front of them may be written. */
size_t tcp_recover_send_staged(struct tcp_conn *conn, uint8_t *buf, size_t len);

/* tcp_recover_end - the stream ends behind what was sent. */
void tcp_recover_end(struct tcp_conn *conn);

/* tcp_recover_done - has the peer, or its kernel, all that was sent? */
bool tcp_recover_done(const struct tcp_conn *conn);

/* tcp_recover_take - copy the next bytes that have arrived to @buf, at most @most.  Returns how many. */
size_t tcp_recover_take(struct tcp_conn *conn, void *buf, size_t most);

/* tcp_recover_taken - the reader has used what it took: the connection ends here, if the peer has ended it. */
void tcp_recover_taken(struct tcp_conn *conn);

/* tcp_recover_read - read the path that takes short messages, without asking the set.  Returns the number of reads that
 * found something.
 */
int tcp_recover_read(struct tcp_conn *conn);

/* tcp_recover_look - poller->watched: look at their paths in the next poll. */
void tcp_recover_look(struct tcp_poller *poller);

/* tcp_recover_has_input - are there some, or is the end of the stream reached?  Also where @conn does not recover. */
bool tcp_recover_has_input(const struct tcp_conn *conn);

#endif
