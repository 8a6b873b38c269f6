/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conn.h - links, connections, the endpoints below them, and the poller.
 *
 * Threading: everything under the lock of the progress group.
 */
#ifndef RXM_H
#define RXM_H

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/hmap.h"
#include "base/list.h"
#include "base/timer.h"
#include "engine/api.h"
#include "layer/getinfo.h"
#include "layer/mem.h"
#include "obj/prog.h"

#include "conf.h"
#include "wire.h"

#define RXM_LONGS 8		/* LONG frames of ours that may be open on a connection */
#define RXM_SPARES (RXM_LONGS + 4) /* buffers for messages that take no credit */

struct rxm_conn;
struct rxm_link;
struct rxm_sock;

extern const struct eng_link_ops rxm_link_ops;
extern const struct layer rxm_layer;

/* ---- below ------------------------------------------------------------------------- */

/* A domain below, with what its endpoints share. */
struct rxm_dom {
	struct list node;		/* on poller->doms */
	char *name;			/* of provider and domain */
	unsigned users;
	struct fi_info *info;		/* of the first endpoint */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_eq *eq;
	struct layer_mem mem;		/* its buffers are struct rxm_out */
	size_t inject_max;
	unsigned eq_turn;		/* polls since the event queue was read */
	uint64_t eq_due;		/* the time when it is read in any case */
	struct hmap fids;		/* struct fid of live socks and listeners -> owner */
	struct list zombies;		/* closed socks that a completion may still name */
};

enum rxm_op_kind {
	RXM_OP_RECV,
	RXM_OP_SEND,
	RXM_OP_READ,
};

/* What the context of every operation below points to. */
struct rxm_op {
	enum rxm_op_kind kind;
	struct rxm_sock *sock;
};

/* A posted buffer. */
struct rxm_buf {
	struct rxm_op op;		/* first */
	struct list node;		/* on conn->rxq when it is full, sock->idle when it could not be posted */
	size_t len;			/* of the message in it */
	size_t at;			/* next frame */
	bool spare;			/* it took no credit */
	uint8_t *data;
};

/* A message on its way out. */
struct rxm_out {
	struct layer_buf buf;		/* first; on sock->outs, while it is below */
	struct rxm_op op;
	size_t len;
	uint8_t data[];
};

/* Payload that is being read from the peer. */
struct rxm_read {
	struct rxm_op op;		/* first */
	struct list node;		/* on sock->reads */
	struct list stall_node;		/* on conn->stalled: the rest could not be posted yet */
	void *cookie;			/* for eng_on_placed() */
	uint64_t id;			/* of the LONG */
	bool in_order;			/* the next frame waits for it */
	bool over;			/* reported; only completions are awaited */
	unsigned out;			/* operations below */
	unsigned segs, seg_at;
	size_t iov_cnt, iov_at;
	size_t seg_off, iov_off;
	struct rxm_seg seg[ENG_IOV_MAX];
	struct iovec iov[ENG_IOV_MAX];
	struct fid_mr *mr[ENG_IOV_MAX];	/* where the domain wants them */
};

/* An endpoint below. */
struct rxm_sock {
	struct list node;		/* on dom->zombies */
	struct rxm_dom *dom;
	struct rxm_conn *conn;		/* NULL: closed */
	struct fid_ep *ep;
	uint8_t *mem;			/* of the buffers */
	struct fid_mr *mem_mr;
	struct rxm_buf *bufs;
	struct list idle;
	struct list outs;
	struct list reads;
};

/* dom.c -------------------------------------------------------------------------------- */

struct rxm_poller;

/* rxm_dom_get - the domain of @info below, shared in the group.
 * Errors: those of the provider below, -FI_ENOMEM.
 */
int rxm_dom_get(struct rxm_poller *poller, const struct fi_info *info, struct rxm_dom **dom_p);
void rxm_dom_put(struct rxm_dom *dom);

/* rxm_dom_arm - 0 when the descriptors will tell; -FI_EAGAIN when there is work. */
int rxm_dom_arm(struct rxm_dom *dom);

/* rxm_dom_reap - free what no completion can name any more: the queue was empty. */
void rxm_dom_reap(struct rxm_dom *dom);

/* rxm_sock_open - an endpoint of @info with its buffers, enabled.
 * Errors: those of the provider below, -FI_ENOMEM.
 */
int rxm_sock_open(struct rxm_dom *dom, struct fi_info *info, struct rxm_conn *conn,
		  struct rxm_sock **sock_p);

/* rxm_sock_close - nothing of it moves any more; its memory goes when no completion
 * can name it.
 */
void rxm_sock_close(struct rxm_sock *sock);

/* rxm_on_sent - the message has left. */
void rxm_on_sent(struct rxm_out *out);

/* rxm_sock_post - give a buffer back to the provider below.  True when it took it. */
bool rxm_sock_post(struct rxm_sock *sock, struct rxm_buf *buf);

/* ---- the poller ------------------------------------------------------------------------ */

struct rxm_poller {
	struct obj_poller base;		/* first; its fd is an epoll set of the queues below */
	struct list doms;
	uint64_t seq;			/* number of this poll; sends compare it to see a burst */
	uint64_t app_polls;
	bool app_active;		/* the last poll was the application's own */
	bool polling;
	bool blocked;			/* the last attempt to flush met a full queue below */
	struct list dirty;		/* connections with something to send */
	struct list failed;		/* connections whose end must be reported */
	struct list paused;		/* connections with a frame that must be offered again */
	struct list stalled;		/* struct rxm_read to be gone on with */
	struct timers timers;
};

int rxm_poller_get(struct obj_prog *prog, struct rxm_poller **poller_p);

/* rxm_poller_once - read the queues below once.  Returns how much there was. */
int rxm_poller_once(struct rxm_poller *poller, unsigned budget);

/* rxm_poller_flush - send what waits. */
void rxm_poller_flush(struct rxm_poller *poller);

/* ---- links ------------------------------------------------------------------------------- */

struct rxm_link {
	struct eng_link base;		/* first */
	struct rxm_poller *poller;
	struct rxm_dom *dom;
	struct fi_info *info;		/* of the listener below; its address is ours */
	struct fid_pep *pep;
	uint8_t addr[RXM_ADDR_MAX];
	size_t addr_len;
	uint64_t epoch;			/* random, of this endpoint's life */
	bool closing;
	struct list conns;		/* that are not idle */
	struct rxm_conn *offering;	/* whose frame the engine is looking at */
	const struct rxm_item *offered;
};

/* ---- connections --------------------------------------------------------------------------- */

enum rxm_state {
	RXM_IDLE,
	RXM_CALLING,		/* fi_connect() is under way */
	RXM_WAITING,		/* before the next call; or the end of a call that failed */
	RXM_AWAITING,		/* our call crossed the peer's, which is to come */
	RXM_TAKING,		/* fi_accept() is under way */
	RXM_READY,
	RXM_FAILED,		/* lost; the next poll reports it */
};

/* A packet that the peer reads from our memory. */
struct rxm_lent {
	uint64_t id;		/* 0: free */
	struct eng_pkt *pkt;
	struct fid_mr *mr[ENG_IOV_MAX];
};

/* Payload that the engine keeps. */
struct rxm_hold {
	struct list node;	/* on conn->holds: a LONG that nobody has read */
	struct rxm_conn *conn;	/* NULL: it is in @data, or lost */
	int err;		/* lost: positive */
	uint64_t id;
	unsigned segs;
	struct rxm_seg seg[ENG_IOV_MAX];
	size_t len;		/* of @data */
	uint8_t data[];
};

/* What a link keeps for each peer; zeroed by the engine. */
struct rxm_conn {
	enum rxm_state state;
	int err;			/* WAITING, FAILED: positive */
	bool give_up;			/* WAITING: report it */
	bool told;			/* the log has it */
	bool was_call;			/* FAILED: it never stood */
	bool bye;			/* the peer has said that it closes */
	bool said_bye;
	bool ended;			/* the endpoint below is at its end; what arrived is still offered */
	bool ours;			/* we called */
	bool is_paused;			/* the engine has no memory for the next frame */
	bool placing;			/* the next frame waits for a read */
	unsigned tries;
	struct rxm_link *link;		/* NULL: never used yet */
	struct rxm_sock *sock;
	struct rxm_sock *loop;		/* the other end, when the peer is ourselves */
	struct list node;		/* on link->conns */
	struct list state_node;		/* on poller->failed or paused */
	struct list dirty_node;		/* on poller->dirty */
	struct timer timer;
	uint64_t first_ns;		/* of the first call */
	uint64_t peer_epoch;

	/* sending */
	struct list pending;		/* struct eng_pkt that found no room */
	struct rxm_out *out;		/* being filled; its credit is not taken yet */
	struct rxm_out *spare;		/* needs no credit; waits for room below */
	unsigned freed_cnt;
	unsigned borrowed;		/* LONGs of the peer that are not freed */
	uint64_t freed[RXM_LONGS];	/* those that it is to be told of */
	unsigned credits;		/* messages that the peer has buffers for */
	unsigned owed;			/* buffers posted again, that the peer does not know of */
	unsigned buf_size;		/* of the peer's */
	unsigned longs;			/* that the peer stands */
	uint64_t burst_seq;		/* poll in which the last message was sent */
	uint64_t last_id;
	unsigned lent_cnt;
	struct rxm_lent *lent;		/* RXM_LONGS of them, from the first on */

	/* receiving */
	struct list rxq;		/* struct rxm_buf, full */
	struct list holds;
};

/* conn.c */
struct rxm_conn *rxm_conn_of(struct rxm_link *link, struct eng_peer *peer);

static inline struct eng_peer *rxm_conn_peer(struct rxm_conn *conn)
{
	return eng_peer_of(conn);
}

void rxm_conn_set_state(struct rxm_conn *conn, enum rxm_state state);

/* rxm_conn_fail - it is lost; reported by the next poll.  @err: positive */
void rxm_conn_fail(struct rxm_conn *conn, int err);

/* rxm_conn_lost - report what rxm_conn_fail() noted.  From poll() only. */
void rxm_conn_lost(struct rxm_conn *conn);

/* rxm_conn_put - the end without a report: everything that waits gets @err.
 * From poll(), close() and peer_put() only.
 */
void rxm_conn_put(struct rxm_conn *conn, int err);

/* rxm_conn_drop_socks - close what is below; the state stays. */
void rxm_conn_drop_socks(struct rxm_conn *conn);

/* rxm_conn_touch - it has something to send: before the poll ends, or at the next. */
void rxm_conn_touch(struct rxm_conn *conn);

/* rxm_conn_text - the peer's address for the log, in @buf of RXM_TEXT bytes. */
#define RXM_TEXT 128
const char *rxm_conn_text(struct rxm_conn *conn, char *buf);
const char *rxm_addr_text(const void *addr, size_t len, char *buf);

/* call.c - how a connection comes about */
int rxm_call(struct rxm_conn *conn);
void rxm_call_timer(struct rxm_conn *conn, uint64_t now);
/* rxm_call_ended - it comes to nothing for now; from poll() or a timer it will be known. */
void rxm_call_ended(struct rxm_conn *conn, int err, bool final);
/* What the event queue below says. */
void rxm_on_connreq(struct rxm_link *link, struct fi_info *info, const void *data, size_t len);
void rxm_on_connected(struct rxm_sock *sock, const void *data, size_t len);
void rxm_on_refused(struct rxm_sock *sock, int err, const void *data, size_t len);
void rxm_on_ended(struct rxm_sock *sock);

/* tx.c */
int rxm_tx_send(struct rxm_conn *conn, struct eng_pkt *pkt);
/* rxm_tx_push - send what may leave.  True when the queue below is full. */
bool rxm_tx_push(struct rxm_conn *conn);
void rxm_tx_free(struct rxm_conn *conn, uint64_t id);	/* a LONG of the peer's is done with */
/* rxm_tx_returned - the peer has done with LONG @id.  0, or -FI_EPROTO. */
int rxm_tx_returned(struct rxm_conn *conn, uint64_t id);
/* rxm_tx_bye - queue the last message. */
void rxm_tx_bye(struct rxm_conn *conn);
bool rxm_tx_idle(const struct rxm_conn *conn);
void rxm_tx_drop(struct rxm_conn *conn, int err);

/* rx.c */
void rxm_on_message(struct rxm_buf *buf, size_t len);
/* rxm_rx_run - offer the frames that are here. */
void rxm_rx_run(struct rxm_conn *conn);
void rxm_on_read(struct rxm_read *read, int err);
/* rxm_read_go - post what is left.  False: the queue below is full. */
bool rxm_read_go(struct rxm_read *read);
void *rxm_rx_hold(struct rxm_link *link, const struct eng_rx *rx);
int rxm_rx_pull(struct rxm_hold *hold, const struct iovec *iov, size_t iov_cnt, void *cookie);
void rxm_rx_release(struct rxm_hold *hold);
/* rxm_rx_drop - all that was to come is lost; the socks were just closed, or NULL. */
void rxm_rx_drop(struct rxm_conn *conn, struct rxm_sock *sock, struct rxm_sock *loop, int err);

#endif
