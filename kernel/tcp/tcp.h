/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * tcp.h - what the files of kofi_tcp.ko share.
 *
 * A connection is served by one work item, which alone reads and writes its socket: the lists
 * that only it touches need no lock.  Calls append an operation under conn->lock and queue the
 * work.  What is sent without a copy completes when the network stack has dropped the pages.
 */
#ifndef KOFI_TCP_H
#define KOFI_TCP_H

#include <linux/kref.h>
#include <linux/net.h>
#include <linux/socket.h>

#include <kofi/compat.h>
#include <kofi/obj.h>

#include "packet.h"
#include "wire.h"

#define TCP_MSG_MAX	(1UL << 30)
#define TCP_TX_SIZE_MAX	4096
#define TCP_SRX_USERS	1024	/* endpoints of a shared receive context; a figure to be asked for */

enum conn_state {
	CONN_NEW,		/* no socket yet (RDM) */
	CONN_CONNECTING,	/* TCP connects */
	CONN_WAIT_RESPONSE,	/* our request is sent */
	CONN_WAIT_REQUEST,	/* accepted by a listener */
	CONN_REQUESTED,		/* request read; the application decides */
	CONN_UP,
	CONN_DEAD		/* all operations have been completed, or will be by others */
};

/* An operation. It ends when parts is 0. */
struct tcp_op {
	struct kofi_op		op;
	struct ubuf_info	ubuf;		/* references of the network stack */
	atomic_t		parts;		/* sent, pages dropped, answered */
	int			err;		/* the first one */
	u32			id;		/* atomics: of the request */
};

enum tcp_answer_kind {
	ANSWER_READ,
	ANSWER_ACK,
	ANSWER_PACKET		/* of an atomic */
};

/* What is sent in answer to the peer. */
struct tcp_answer {
	struct list_head	node;		/* in conn->answers, until it is sent */
	struct list_head	held;		/* in conn->holds, while it has regions */
	struct tcp_conn		*conn;
	enum tcp_answer_kind	kind;
	u16			flags;		/* READ: of the request */
	u8			ranges;
	size_t			len;		/* payload */
	struct {
		struct kofi_mr	*mr;		/* held */
		size_t		off;
		size_t		len;
	} part[WIRE_RANGES_MAX];
	u8			hdr[sizeof(struct eng_base) + sizeof(u64)];	/* PACKET */
	size_t			hdr_len;
	void			*buf;		/* PACKET: the payload, its own, or NULL */
	struct ubuf_info	ubuf;
	atomic_t		parts;		/* sent, pages dropped */
};

/* A message without a receive: one that is kept in memory, or the frame of a connection that
 * waits. */
struct tcp_arrival {
	struct kofi_arrival	arrival;
	bool			saved;		/* selects the structure it is in */
};

/* A message that had no receive, kept in memory. */
struct tcp_saved {
	struct tcp_arrival	arrival;
	struct tcp_conn		*conn;		/* referenced */
	struct kofi_op		*rx;		/* under ep.lock: waits for the rest */
	bool			complete;	/* under ep.lock */
	bool			failed;		/* under ep.lock: the rest will not come */
	struct kofi_recvd	recvd;
	u8			data[];
};

/* The frame that is being sent. */
struct tcp_tx {
	struct tcp_op		*op;		/* one of these, or neither: nothing is */
	struct tcp_answer	*answer;
	u8			hdr[WIRE_HDR_MAX];
	size_t			hdr_len;
	size_t			hdr_off;	/* sent of it */
	size_t			len;		/* payload */
	size_t			off;		/* sent of it */
	bool			zero_copy;
};

enum rx_phase {
	RX_HDR,			/* the first 16 bytes */
	RX_WORDS,		/* the rest of the header */
	RX_WAIT,		/* for a receive: nothing is read */
	RX_PAYLOAD,
};

/* The frame that is being received. */
struct tcp_rx {
	enum rx_phase		phase;
	union {
		struct wire_hdr	hdr;
		u8		buf[WIRE_HDR_MAX];
	};
	size_t			got;		/* of the header */
	u16			flags;		/* in our byte order, as are all below */
	u64			data;
	u64			tag;
	struct wire_range	range[WIRE_RANGES_MAX];
	size_t			len;		/* payload */
	size_t			off;		/* read of it */
	struct kofi_segs	into;		/* packets: where the payload goes */
	int			err;		/* packets: of the operation that is answered */
	struct tcp_request	*request;	/* packets: of the peer, or NULL */
	/* receive, or read or atomic that is answered; set under conn->lock while the phase is RX_WAIT */
	struct kofi_op		*op;
	struct tcp_saved	*saved;
};

struct tcp_conn {
	struct kref		ref;
	struct fid		fid;		/* handle of a request */
	struct tcp_ep		*ep;		/* NULL until accepted */
	struct tcp_listener	*listener;	/* while pending there */
	struct list_head	node;		/* in listener->pending, or ep->conns */
	bool			announced;	/* in listener: the application has its handle */
	struct sockaddr_storage	addr;		/* the peer's, once TCP has connected */
	struct socket		*sock;
	struct work_struct	io;
	struct timer_list	timer;		/* end of a phase of connecting */
	fi_addr_t		peer;		/* RDM: whose messages these are */
	u32			pid;		/* RDM: the peer's number, 0: not known yet */
	u8			retries;	/* RDM: connects that were refused */
	bool			swap;		/* frames are big endian */
	bool			packets;	/* the peer takes frames that hold packets */
	void			(*old_data_ready)(struct sock *sk);
	void			(*old_write_space)(struct sock *sk);
	void			(*old_state_change)(struct sock *sk);

	spinlock_t		lock;		/* guards the next four */
	enum conn_state		state;
	struct list_head	txq;		/* operations to send */
	struct list_head	holds;		/* tcp_answer::held */
	int			end;		/* FI_E number: to be ended with it */

	/* the work item's own */
	struct tcp_tx		tx;
	struct tcp_rx		rx;
	u8			seq;
	struct list_head	answers;
	u32			answer_cnt;
	struct list_head	ack_wait;	/* operations that are acknowledged in order */
	struct list_head	read_wait;	/* reads that are answered in order */
	struct list_head	amo_wait;	/* atomics that are answered by number */
	u32			packet_id;	/* the last one */
	struct tcp_arrival	arrival;	/* of the frame that waits */
	atomic_t		saved_cnt;
	size_t			cm_got;		/* of the connection message */
	size_t			cm_len;		/* of ours, to send */
	u8			cm[sizeof(struct wire_cm) + WIRE_CM_DATA_MAX];
};

/* A socket that listens, for a passive or an RDM endpoint. */
struct tcp_listener {
	struct socket		*sock;
	struct work_struct	work;
	void			(*old_data_ready)(struct sock *sk);
	spinlock_t		lock;		/* guards the next three */
	struct list_head	pending;	/* connections that belong to nothing else */
	unsigned int		pending_cnt;
	bool			closed;
	/* A request is complete, in conn->cm; process context. 0: conn is taken care of;
	 * else it is dropped. */
	int			(*on_request)(struct tcp_listener *listener, struct tcp_conn *conn);
};

struct tcp_pep {
	struct fid_pep		pep;
	struct kofi_fabric_obj	*fabric;
	struct kofi_eq		*eq;
	struct fi_info		*info;
	struct sockaddr_storage	name;
	struct tcp_listener	listener;
	bool			listening;
};

struct tcp_ep {
	struct kofi_ep		ep;
	struct sockaddr_storage	name;		/* own address; family 0: any */
	spinlock_t		lock;		/* guards conn, conns, peers, dead */
	struct tcp_conn		*conn;		/* MSG: the connection, or NULL */
	struct list_head	conns;		/* all of them */
	struct xarray		peers;		/* RDM: connection by fi_addr_t */
	struct work_struct	reap;		/* RDM: frees the dead */
	struct tcp_listener	listener;	/* RDM */
	u32			pid;		/* RDM: our number */
	bool			stopped;
};

extern struct workqueue_struct *tcp_wq;		/* connections */
extern struct workqueue_struct *tcp_ctl_wq;	/* what waits for work of connections */
extern const struct kofi_obj_ops tcp_obj_ops;
extern struct fi_ops_cm tcp_cm;

static inline struct tcp_ep *tcp_ep_of(struct kofi_ep *ep)
{
	return container_of(ep, struct tcp_ep, ep);
}

/* Words of a frame in the connection's byte order. */
static inline u16 wire16(const struct tcp_conn *conn, u16 v)
{
	return conn->swap ? swab16(v) : v;
}

static inline u64 wire64(const struct tcp_conn *conn, u64 v)
{
	return conn->swap ? swab64(v) : v;
}

/* ---- conn.c ---- */

struct tcp_conn *tcp_conn_new(enum conn_state state, gfp_t gfp);
void tcp_conn_put(struct tcp_conn *conn);

/* tcp_conn_attach - serve @sock from now on; it becomes the connection's. May sleep. */
void tcp_conn_attach(struct tcp_conn *conn, struct socket *sock);

/* tcp_conn_connect - a socket that connects, from @src on. May sleep. */
int tcp_conn_connect(struct tcp_conn *conn, struct net *net, const struct sockaddr_storage *src,
		     const struct sockaddr_storage *dst);

/* tcp_conn_kick - run the work item. */
void tcp_conn_kick(struct tcp_conn *conn);

/* tcp_conn_end - end it with an error, soon, by the work item. */
void tcp_conn_end(struct tcp_conn *conn, int err);

/* tcp_conn_stop - end it now; nothing of it runs afterwards. May sleep. */
void tcp_conn_stop(struct tcp_conn *conn, int err);

/* tcp_conn_send - append an operation; -FI_ENOTCONN when it is not up. */
int tcp_conn_send(struct tcp_conn *conn, struct kofi_op *op);

/* tcp_cm_write - send a connection message of ours. */
int tcp_cm_write(struct tcp_conn *conn, u8 type, const void *data, size_t len);

struct socket *tcp_sock_create(struct net *net, const struct sockaddr_storage *addr);
void tcp_sock_limits(struct socket *sock);

/* ---- tx.c, rx.c: the work item's; more_p: [out] there may be more to do at once ---- */

int tcp_tx_run(struct tcp_conn *conn, bool *more_p);
int tcp_rx_run(struct tcp_conn *conn, bool *more_p);
void tcp_tx_fail(struct tcp_conn *conn, int err);
void tcp_rx_fail(struct tcp_conn *conn, int err);
/* tcp_op_part - a part of an operation is over. */
void tcp_op_part(struct tcp_op *op, int err);
int tcp_answer_add(struct tcp_conn *conn, struct tcp_answer *answer);
void tcp_rx_match(struct kofi_ep *ep, struct kofi_op *op, struct kofi_arrival *arrival);
/* tcp_saved_drop - saved messages that no receive will take. */
void tcp_saved_drop(struct tcp_ep *ep);

/* ---- packet.c: frames that hold a packet; the work item's ---- */

/* tcp_packet_put - the header of an atomic, behind that of its frame. Returns its length. */
size_t tcp_packet_put(struct tcp_conn *conn, struct tcp_op *top, u8 *out);
/* tcp_packet_begin - a header is complete: check it, say where its payload goes. */
int tcp_packet_begin(struct tcp_conn *conn);
/* tcp_packet_end - the payload is complete. @op: rx.op */
int tcp_packet_end(struct tcp_conn *conn, struct kofi_op *op);
void tcp_packet_fail(struct tcp_conn *conn);

/* ---- listen.c ---- */

int tcp_listen(struct tcp_listener *listener, struct net *net, struct sockaddr_storage *name,
	       int (*on_request)(struct tcp_listener *listener, struct tcp_conn *conn));
void tcp_listen_stop(struct tcp_listener *listener);
/* tcp_listener_take - a pending connection becomes the caller's; false: it has gone. */
bool tcp_listener_take(struct tcp_listener *listener, struct tcp_conn *conn);

/* ---- cm.c, rdm.c: what the work item tells an endpoint; process context ---- */

void tcp_msg_ended(struct tcp_conn *conn, bool was_up, int err, const void *data, size_t len);
int tcp_passive_ep(struct kofi_fabric_obj *fabric, struct fi_info *info, struct fid_pep **pep_p,
		   void *context);
/* tcp_msg_claim - an endpoint takes the request that @info names. */
int tcp_msg_claim(struct tcp_ep *ep, const struct fi_info *info);

int tcp_rdm_enable(struct tcp_ep *ep);
int tcp_rdm_tx(struct tcp_ep *ep, struct kofi_op *op);
int tcp_rdm_begin(struct tcp_conn *conn);
void tcp_rdm_ended(struct tcp_conn *conn, int err);
void tcp_rdm_stop(struct tcp_ep *ep);
void tcp_rdm_reap(struct work_struct *work);
void tcp_rdm_request(struct tcp_conn *conn, struct wire_rdm *out);
/* tcp_rdm_refused - true: the connection will try again. */
bool tcp_rdm_refused(struct tcp_conn *conn);

#endif /* KOFI_TCP_H */
