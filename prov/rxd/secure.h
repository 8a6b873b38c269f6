/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * secure.h - protected connections: the keys of each, the handshake that they come from, and datagrams that are
 * sealed with them.  Layouts: rxd/sealed.h.
 *
 *	connecting peer                     accepting peer
 *	  HELLO, no cookie       ------->
 *	                         <-------   RETRY: a cookie.  No state is kept
 *	  HELLO, ClientHello     ------->   a guest
 *	  the key is proven      <-------   SHAKE: ServerHello to Finished
 *	  SHAKE: Finished        ------->   the key is proven
 *	  HELLO, sealed          ------->   ready: the guest becomes a connection
 *	  ready                  <-------   WELCOME, sealed
 *
 * A guest is the handshake of a peer that has proven its address alone: it touches no connection.  Its bytes are
 * retransmitted when the connecting peer repeats its own, which has the timer.
 *
 * link->guard is NULL where nothing is protected.  The ids of protected connections are in its table, and not in
 * link->by_cid: so no datagram in the clear finds one.
 *
 * Threading: as conn.h.
 */
#ifndef RXD_SECURE_H
#define RXD_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "secure/level.h"

struct rxd_conn;
struct rxd_hello;
struct rxd_link;
struct rxd_pkt;
struct rxd_sec;
struct sec_policy;

/* rxd_guard_open - the connections of @link, whose datagram endpoint is open, are protected as @policy says, which
 * lives as long.  Nothing where it is NULL.   Errors: -FI_ENOMEM.
 * rxd_guard_close - all connections are closed; guests are dropped.
 */
int rxd_guard_open(struct rxd_link *link, struct sec_policy *policy);
void rxd_guard_close(struct rxd_link *link);

/* rxd_guard_tag - bytes behind each packet. */
size_t rxd_guard_tag(const struct rxd_link *link);

/* rxd_guard_text - how connections are protected, for the log; "": not at all. */
const char *rxd_guard_text(const struct rxd_link *link);

/* seal.c --------------------------------------------------------------------------------- */

/* rxd_sec_find - what is kept for our id @cid, or NULL.  rxd_sec_of - of @conn. */
struct rxd_sec *rxd_sec_find(const struct rxd_link *link, uint64_t cid);
struct rxd_sec *rxd_sec_of(const struct rxd_conn *conn);

/* rxd_sec_conn - its connection, or attempt; NULL: a guest. */
struct rxd_conn *rxd_sec_conn(const struct rxd_sec *sec);

/* rxd_sec_is_open - the peer has proven the key. */
bool rxd_sec_is_open(const struct rxd_sec *sec);

/* rxd_sec_cover - seal a packet, whose header is first in @iov, which becomes the sealed one.  What it was gathered
 * from is the caller's again.   @first: the first packet of a burst
 * Returns true when there is no room for another one in this burst.  *@cnt_p is 0 when it could not be sealed: the
 * connection has failed.
 */
bool rxd_sec_cover(struct rxd_conn *conn, struct iovec *iov, size_t *cnt_p, bool first);

/* rxd_guard_mark - the packet at @buf, in the clear, is of a protected endpoint. */
void rxd_guard_mark(uint8_t *buf);

/* rxd_sec_reply - seal a packet without a number, and send it to @addr from @link. */
void rxd_sec_reply(struct rxd_sec *sec, struct rxd_link *link, const void *addr, const uint8_t *buf, size_t len);

/* rxd_sec_is_sealed - is it a sealed datagram of a protected endpoint, as its header says? */
bool rxd_sec_is_sealed(const uint8_t *buf, size_t len);

/* rxd_sec_open - open a sealed datagram.
 *
 * @len_p: [in,out]
 * Returns the plain packet, valid until the next is opened; NULL: it is not the peer's, was altered, or has come
 * before.
 */
const uint8_t *rxd_sec_open(struct rxd_sec *sec, const uint8_t *buf, size_t *len_p, uint64_t now);

/* secure/reset.c -------------------------------------------------------------------------- */

/* rxd_guard_on_probe - a PROBE in the clear: a peer asks about a connection that this endpoint may have had before it was
 * restarted.  One that it has is not spoken of; for others the answer has a token.
 */
void rxd_guard_on_probe(struct rxd_link *link, const struct rxd_pkt *pkt);

/* rxd_sec_is_reset - is @pkt, a RESET in the clear, the word of a holder of the key at the peer's address that it does not
 * have the connection?
 */
bool rxd_sec_is_reset(struct rxd_sec *sec, const struct rxd_pkt *pkt);

/* rxd_sec_named - where the peer of @conn is, as its HELLO or WELCOME says.  Nothing where it is not protected. */
void rxd_sec_named(struct rxd_conn *conn, const void *name);

/* secure/shake.c -------------------------------------------------------------------------- */

/* rxd_sec_connect - an id for the attempt @conn, and the beginning of a handshake with the peer at @addr.  What it had
 * is dropped.   Errors: -FI_ENOMEM.
 */
int rxd_sec_connect(struct rxd_conn *conn, const void *addr);

/* rxd_sec_drop - nothing of its keys stays in memory. */
void rxd_sec_drop(struct rxd_sec *sec);

/* rxd_sec_release - drop what @conn has. */
void rxd_sec_release(struct rxd_conn *conn);

/* rxd_sec_first - bytes of the handshake for a HELLO, whose answer says the peer's id.  Returns how many. */
size_t rxd_sec_first(const struct rxd_sec *sec, const uint8_t **bytes_p);

/* rxd_sec_knows_peer - the peer has answered: its id is known. */
bool rxd_sec_knows_peer(const struct rxd_sec *sec);

/* rxd_sec_speak - send the bytes of the handshake that the peer has not, or that its bytes have come. */
void rxd_sec_speak(struct rxd_sec *sec);

enum rxd_took {
	RXD_TOOK_NOTHING,	/* what had come before, or comes too early, or is of another handshake */
	RXD_TOOK_SOME,
	RXD_TOOK_LAST,		/* the peer has proven the key */
	RXD_TOOK_BAD,		/* it has not; the answer has been sent, and the log has the reason */
};

/* rxd_sec_take - take the bytes of the handshake in SHAKE, or HELLO. */
enum rxd_took rxd_sec_take(struct rxd_sec *sec, const struct rxd_pkt *pkt);

/* rxd_guest_on_hello - a HELLO in the clear, whose cookie is good.  rxd_guest_on_shake - SHAKE for a guest. */
void rxd_guest_on_hello(struct rxd_link *link, const struct rxd_pkt *pkt);
void rxd_guest_on_shake(struct rxd_sec *sec, const struct rxd_pkt *pkt);

/* rxd_guest_is - does @hello, which was sealed, say what the HELLO in the clear said? */
bool rxd_guest_is(const struct rxd_sec *sec, const struct rxd_hello *hello);

/* rxd_guest_leave - it is no guest any more, and has no link: it is @request's.  rxd_sec_drop() or rxd_sec_adopt()
 * follows.   Returns what stays with the link under its id, by which rxd_sec_request() finds the request; NULL: no memory.
 */
struct rxd_request;
struct rxd_sec *rxd_guest_leave(struct rxd_sec *sec, struct rxd_request *request);
struct rxd_request *rxd_sec_request(const struct rxd_sec *sec);

/* rxd_sec_addr - where its peer is, as its cookie has proven. */
const void *rxd_sec_addr(const struct rxd_sec *sec);

/* rxd_sec_adopt - it is the connection @conn from now on, whose id is its; what @conn had is dropped.
 * Errors: -FI_ENOMEM; it is as before.
 */
int rxd_sec_adopt(struct rxd_sec *sec, struct rxd_conn *conn);

/* rxd_sec_join - @conn is an attempt of this endpoint to connect to itself, @guest the other end.  Returns its id. */
uint64_t rxd_sec_join(struct rxd_sec *guest, struct rxd_conn *conn);

/* rxd_sec_may_take - has the peer of @sec (NULL: it is not protected) proven what @link asks for?  Else the log says
 * why not.
 */
bool rxd_sec_may_take(const struct rxd_link *link, const struct rxd_sec *sec);

#endif
