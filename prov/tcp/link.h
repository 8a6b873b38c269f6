/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * link.h - what a link does for its endpoint: listen, connect, check; struct tcp_link is in types.h.
 */
#ifndef TCP_LINK_H
#define TCP_LINK_H

#include "channel/chan.h"
#include "channel/check.h"
#include "channel/hold.h"
#include "types.h"

extern const struct eng_link_ops tcp_link_ops;

extern const struct chan_ops tcp_chan_ops;

/* tcp_route_said - what @hello, the peer's, says for the texts of channel/route.h.
 * tcp_route - chan_ops.route.
 */
void tcp_route_said(struct tcp_chan *chan, const struct tcp_hello *hello);
void tcp_route(const struct chan *base, struct chan_route *path);

/* ---- listener (listen.c) ----------------------------------------------- */

/* tcp_listener_bind - bind a socket to link->addr (port 0: one is chosen), which is the
 * bound address afterwards; link->name is what peers are told.
 * Errors: -FI_EADDRINUSE, -FI_EADDRNOTAVAIL, -FI_EMFILE, ...; logged.
 */
int tcp_listener_bind(struct tcp_link *link);

/* tcp_listener_start - listen, and accept from poll().
 * Errors: -FI_ENOMEM, of listen() or fdset_add(); logged.
 */
int tcp_listener_start(struct tcp_link *link, int backlog);

/* tcp_listener_accept - what waits at the socket of @at, as connections of @link. */
void tcp_listener_accept(struct tcp_link *link, struct chan_listener *at);

/* tcp_listener_close - stop to listen.  Accepted connections stay. */
void tcp_listener_close(struct tcp_link *link);

/* ---- RDM endpoints (connect.c) --------------------------------------------- */

extern const struct tcp_wireup tcp_rdm_wireup;

/* tcp_connect - chan_ops.connect. */
int tcp_connect(struct chan *chan);

/* tcp_connect_lost - tcp_wireup.lost of a connection with a channel, RDM or MSG. */
void tcp_connect_lost(struct tcp_conn *conn);

/* ---- requests of an endpoint that has a connection (check.c) --------------------- */

/* tcp_check_ask - chan_ops.ask. */
int tcp_check_ask(struct chan *base, struct chan_check *check);

/* tcp_check_answer - answer the CHECK @hello of @chan's peer. */
void tcp_check_answer(struct tcp_conn *conn, const struct tcp_chan *chan,
		      const struct tcp_hello *hello);

/* ---- connected endpoints (cm.c) ----------------------------------------- */

extern const struct tcp_wireup tcp_msg_wireup;
extern const struct tcp_wireup tcp_pep_wireup;

int tcp_cm_connect(struct eng_link *link, struct eng_peer *peer, const void *addr,
		   size_t addrlen, const void *param, size_t paramlen);
int tcp_cm_answer(struct eng_link *link, struct eng_peer *peer, void *req,
		  const void *param, size_t paramlen);
int tcp_cm_shutdown(struct eng_link *link, struct eng_peer *peer);
int tcp_cm_getpeer(struct eng_peer *peer, void *addr, size_t *len);

#endif
