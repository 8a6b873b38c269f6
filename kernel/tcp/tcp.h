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

/* What a connection tells its owner: a listener until the request is taken, then an endpoint. The calls
 * come from the work item, in process context; ended also from tcp_serve_stop(). */
struct tcp_owner {
	/* Operations wait, and there is no socket: connect (CONN_NEW). */
	int	(*begin)(struct tcp_conn *conn);
	/* The peer's request is in conn->cm. */
	int	(*requested)(struct tcp_conn *conn);
	/* The peer's response is in conn->cm: the owner makes the state CONN_UP. */
	int	(*accepted)(struct tcp_conn *conn);
	/* The peer, or its host, has refused. True: the owner will have it tried again. NULL: false */
	bool	(*refused)(struct tcp_conn *conn);
	/* It has ended in the state @was; its operations have. @err: FI_E number */
	void	(*ended)(struct tcp_conn *conn, enum conn_state was, int err);
};

struct tcp_conn {
	struct kref		ref;
	struct kofi_req		req;		/* MSG: its request, while it is not answered */
	const struct tcp_owner	*owner;		/* is told of it; set after ep */
	struct tcp_ep		*ep;		/* NULL until accepted */
	struct tcp_listener	*listener;	/* while pending there; under lock */
	struct list_head	node;		/* in listener->pending, or ep->conns */
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
	size_t			cm_len;		/* of the private data of our request, in cm until it is sent */
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
	struct kofi_pep		pep;
	struct sockaddr_storage	name;
	struct tcp_listener	listener;
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

static inline struct tcp_ep *tcp_ep_of(struct kofi_ep *ep)
{
	return container_of(ep, struct tcp_ep, ep);
}

/* Words of a frame in the connection's byte order. */
static inline u16 wire_u16(const struct tcp_conn *conn, u16 v)
{
	return conn->swap ? swab16(v) : v;
}

static inline u64 wire_u64(const struct tcp_conn *conn, u64 v)
{
	return conn->swap ? swab64(v) : v;
}

static inline bool tcp_conn_is_rdm(const struct tcp_conn *conn)
{
	return conn->ep && conn->ep->ep.type == FI_EP_RDM;
}

/* Private data of the connection message in conn->cm. */
static inline const void *tcp_cm_data(const struct tcp_conn *conn)
{
	return conn->cm + sizeof(struct wire_cm);
}

static inline size_t tcp_cm_data_len(const struct tcp_conn *conn)
{
	return be16_to_cpu(((const struct wire_cm *)conn->cm)->len);
}

/*
 * Each file calls those above it alone (test/layers); what goes up goes by tcp_owner and
 * tcp_listener::on_request.
 */

/* ---- conn.c ---- */

int tcp_queues_open(void);
void tcp_queues_close(void);
/* tcp_ctl_kick - run @work, which may wait for work items of connections. */
void tcp_ctl_kick(struct work_struct *work);

/* tcp_conn_new - a connection that @serve works for (tcp_serve()), without an owner yet. */
struct tcp_conn *tcp_conn_new(enum conn_state state, work_func_t serve, gfp_t gfp);
void tcp_conn_put(struct tcp_conn *conn);

/* tcp_conn_own - what is told of it from now on. @ep: the endpoint, or NULL */
void tcp_conn_own(struct tcp_conn *conn, const struct tcp_owner *owner, struct tcp_ep *ep);

/* tcp_conn_up - it takes and sends frames from now on; false: its state is not @from. */
bool tcp_conn_up(struct tcp_conn *conn, enum conn_state from);

/* tcp_conn_kick - run the work item. */
void tcp_conn_kick(struct tcp_conn *conn);

/* tcp_conn_end - end it with an error, soon, by the work item. */
void tcp_conn_end(struct tcp_conn *conn, int err);

/* tcp_conn_send - append an operation; -FI_ENOTCONN when it is not up. */
int tcp_conn_send(struct tcp_conn *conn, struct kofi_op *op);

/* ---- op.c ---- */

/* tcp_op_part - a part of an operation is over. */
void tcp_op_part(struct tcp_op *op, int err);
/* tcp_op_lend - a part begins that is over when the network stack has dropped all pages; tcp_op_lent():
 * it has been given all of them. */
void tcp_op_lend(struct tcp_op *op);
void tcp_op_lent(struct tcp_op *op);

/* tcp_answer_add - @answer is sent in its turn, and then freed; -FI_EPROTO: too many wait. */
int tcp_answer_add(struct tcp_conn *conn, struct tcp_answer *answer);
void tcp_answer_part(struct tcp_answer *answer);
void tcp_answer_lend(struct tcp_answer *answer);
void tcp_answer_lent(struct tcp_answer *answer);

/* ---- packet.c: frames that hold a packet; the work item's ---- */

/* tcp_packet_put - the header of an atomic, behind that of its frame. Returns its length. */
size_t tcp_packet_put(struct tcp_conn *conn, struct tcp_op *top, u8 *out);
/* tcp_packet_begin - a header is complete: check it, say where its payload goes. */
int tcp_packet_begin(struct tcp_conn *conn);
/* tcp_packet_end - the payload is complete. @op: rx.op */
int tcp_packet_end(struct tcp_conn *conn, struct kofi_op *op);
void tcp_packet_fail(struct tcp_conn *conn);

/* ---- match.c: a message and its receive; the work item's, but for the last two ---- */

/* tcp_match_begin - a header is complete: the phase becomes RX_PAYLOAD, or RX_WAIT. */
int tcp_match_begin(struct tcp_conn *conn);
/* tcp_match_wait - in RX_WAIT: RX_PAYLOAD if a receive has come. */
int tcp_match_wait(struct tcp_conn *conn);
/* tcp_match_end, tcp_match_fail - the payload is complete, or will not be. @op, @saved: those of rx */
void tcp_match_end(struct tcp_conn *conn, struct kofi_op *op, struct tcp_saved *saved);
void tcp_match_fail(struct tcp_conn *conn, struct kofi_op *op, struct tcp_saved *saved);
/* tcp_match_receive - kofi_ep_ops::rx_match */
void tcp_match_receive(struct kofi_ep *ep, struct kofi_op *op, struct kofi_arrival *arrival);
/* tcp_match_drop - saved messages that no receive will take. */
void tcp_match_drop(struct tcp_ep *ep);

/* ---- tx.c, rx.c: the work item's; more_p: [out] there may be more to do at once ---- */

int tcp_tx_run(struct tcp_conn *conn, bool *more_p);
int tcp_rx_run(struct tcp_conn *conn, bool *more_p);
void tcp_tx_fail(struct tcp_conn *conn, int err);
void tcp_rx_fail(struct tcp_conn *conn, int err);

/* ---- sock.c ---- */

struct socket *tcp_sock_create(struct net *net, const struct sockaddr_storage *addr);
void tcp_sock_limits(struct socket *sock);

/* tcp_sock_attach - @sock becomes the connection's, and what it tells runs the work item. May sleep. */
void tcp_sock_attach(struct tcp_conn *conn, struct socket *sock);

/* tcp_sock_detach - release it; the network stack goes on with it. With @abort what it has not sent
 * is dropped, and the pages with it. */
void tcp_sock_detach(struct tcp_conn *conn, bool abort);

/* tcp_sock_connect - a socket that connects, from @src on. May sleep. */
int tcp_sock_connect(struct tcp_conn *conn, struct net *net, const struct sockaddr_storage *src,
		     const struct sockaddr_storage *dst);

/* ---- handshake.c ---- */

/* tcp_cm_write - send a connection message. A fresh socket has room for so little; the published
 * protocol wants one write. */
int tcp_cm_write(struct tcp_conn *conn, u8 type, const void *data, size_t len);
/* tcp_cm_read - receive the peer's into conn->cm. 0: complete; -FI_EAGAIN: more is to come. */
int tcp_cm_read(struct tcp_conn *conn);

/* ---- serve.c ---- */

/* tcp_serve - the work item of a connection. */
void tcp_serve(struct work_struct *work);
/* tcp_serve_stop - end it now; nothing of it runs afterwards. May sleep. */
void tcp_serve_stop(struct tcp_conn *conn, int err);

/* ---- listen.c ---- */

int tcp_listen(struct tcp_listener *listener, struct net *net, struct sockaddr_storage *name,
	       int (*on_request)(struct tcp_listener *listener, struct tcp_conn *conn));
void tcp_listen_stop(struct tcp_listener *listener);
/* tcp_listener_take - a pending connection becomes the caller's; false: it has gone. */
bool tcp_listener_take(struct tcp_listener *listener, struct tcp_conn *conn);

/* ---- cm.c: connected endpoints ---- */

extern struct fi_ops_cm tcp_cm;
int tcp_passive_ep(struct kofi_fabric_obj *fabric, struct fi_info *info, struct fid_pep **pep_p,
		   void *context);
/* tcp_msg_claim - an endpoint takes the request that @info names. */
int tcp_msg_claim(struct tcp_ep *ep, const struct fi_info *info);

/* ---- rdm.c: unconnected endpoints ---- */

int tcp_rdm_enable(struct tcp_ep *ep);
int tcp_rdm_tx(struct tcp_ep *ep, struct kofi_op *op);
void tcp_rdm_stop(struct tcp_ep *ep);
/* tcp_rdm_reap - tcp_ep::reap */
void tcp_rdm_reap(struct work_struct *work);

#endif /* KOFI_TCP_H */
