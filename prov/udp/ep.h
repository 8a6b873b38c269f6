/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ep.h - datagram endpoints over UDP sockets.
 *
 * From fi_enable() on, the lock of the endpoint's progress group, ep->base.prog->lock, protects
 * all state of a udp_ep.  "Locked" says that the caller holds it.
 */
#ifndef UDP_H
#define UDP_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/list.h"
#include "base/pool.h"
#include "base/net_addr.h"
#include "net/opt.h"
#include "net/sock.h"
#include "obj/ep.h"
#include "obj/ops.h"
#include "progress/group.h"

#include "wire.h"

#define UDP_IOV_MAX 4		/* entries of a message's scatter list; tx and rx iov_limit */
#define UDP_BURST 32		/* datagrams per system call */
#define UDP_TRAIN 64		/* datagrams per train sent */
#define UDP_SEND_MAX 88		/* datagrams per system call when they may form trains */
#define UDP_TRAIN_RX_MAX 128	/* datagrams per train received: the system may make longer ones */
#define UDP_TRAIN_DGRAM_MIN 1000	/* datagrams shorter than this do not start trains */
#define UDP_TRAIN_IDLE 256		/* after so many single datagrams, train reception is
					 * switched off */
#define UDP_COPY_MAX 256	/* payloads up to this are copied behind the header, which is cheaper
				 * than a scatter list */
#define UDP_SCAN_MAX 4		/* up to so many sockets are polled one by one; more go through the set of descriptors */
#define UDP_CONNECT_AFTER 64		/* consecutive sends to one peer after which a connected
					 * socket is made */
#define UDP_OTHERS_EVERY 8	/* polls of the socket that had the last datagram until the others are polled */
#define UDP_SOURCES 64		/* entries of the cache of recent source addresses */
#define UDP_RCVBUF (4u << 20)	/* requested size; the system limits it (net.core.rmem_max) */
#define UDP_SNDBUF (1u << 20)

struct udp_ep;

extern struct fi_provider udp_prov;

/* Room for the control messages of one sendmsg or recvmsg. */
union udp_ctl {
	struct cmsghdr c;
	char room[2 * CMSG_SPACE(sizeof(int))];	/* segment length and ECN codepoint */
};

/* A socket that a poller polls: of an endpoint, its connected socket, or of a multicast group. */
struct udp_sock {
	struct list node;	/* on poller->socks */
	struct udp_ep *ep;
	int fd;			/* -1: none */
	uint32_t interest;	/* POLL* that are asked for; 0: not in the set of descriptors */
	unsigned burst;		/* datagrams to ask for in the next call: next_burst() */
	size_t length;		/* of the previous datagram in this poll; 0: none */
	unsigned singles;		/* datagrams in a row that were not part of a train */
	bool gro;		/* UDP_GRO is on: a train is received by one call */
};

enum {
	UDP_RX_MULTI = 1 << 0,	/* FI_MULTI_RECV: iov[1] is the free rest of the buffer */
	UDP_RX_DEVICE = 1 << 1,	/* iov[1] is the host's, instead of memory of a device */
};

struct udp_dev;

/* A posted receive.  The program's scatter list starts at iov[1]; iov[0] is for the header, and not
 * in use on a plain endpoint.
 */
struct udp_rx {
	struct list node;	/* on ep->posted, oldest first */
	void *context;
	bool want;		/* write a completion on success */
	uint8_t kind;		/* UDP_RX_* */
	unsigned iov_cnt;	/* iov[0] included */
	struct iovec iov[1 + UDP_IOV_MAX];
	struct udp_dev *dev;	/* UDP_RX_DEVICE */
};

/* A queued send: waits for the end of a burst, or until the socket has room. */
struct udp_tx {
	struct list node;	/* on ep->waiting, oldest first */
	void *context;
	size_t len;		/* of the payload */
	bool want;		/* write a completion on success */
	socklen_t to_len;
	unsigned iov_cnt;
	union net_sa to;	/* copied: the peer may be removed from the AV before the send leaves */
	struct udp_hdr hdr;	/* framed: iov[0] */
	struct iovec iov[1 + UDP_IOV_MAX];
	char copy[UDP_COPY_MAX];/* payload of an injected message */
};

/* A joined multicast group. */
struct udp_mc {
	struct fid_mc fid;	/* first: the program's handle */
	struct udp_ep *ep;
	struct obj_ref ep_ref;	/* keeps the endpoint open */
	struct udp_sock sock;	/* receives the group's datagrams; fd -1: send only */
	unsigned slot;		/* in ep->groups */
	bool send;		/* the endpoint may send to it */
	union net_sa addr;
};

struct udp_ep {
	struct obj_ep base;	/* first */
	struct udp_poller *poller;	/* of the progress group; NULL before fi_enable() */
	struct udp_sock sock;
	union net_sa name;	/* by which peers reach it: never the wildcard */
	unsigned ifindex;	/* interface for multicast; 0: chosen by the system */
	size_t max_msg;		/* longest payload */
	size_t max_inject;
	size_t copy_below;	/* shorter payloads are copied behind the header; 0: no header */
	bool framed;		/* datagrams have a header: NET_PROTO_UDP_FRAMED */
	bool source;		/* FI_SOURCE */
	bool source_err;	/* FI_SOURCE_ERR */
	bool trains;		/* NET_OPT_TRAINS */
	bool trains_fail;	/* the system refused a train; send single datagrams */
	bool report_ecn;		/* NET_OPT_ECN was set before fi_enable(): report codepoints */
	int ecn;		/* codepoint of datagrams sent */
	bool report_source;	/* NET_OPT_SOURCE: report source numbers */
	uint64_t rx_meta;		/* of the current datagram, for the completion's data field:
					 * codepoint if @report_ecn, source number if @report_source */

	struct list posted;	/* struct udp_rx */
	struct pool rx_pool;	/* rx_pool.used is the number of posted receives */

	struct list waiting;	/* struct udp_tx */
	struct pool tx_pool;	/* tx_pool.used is the number of queued sends */
	struct list tx_node;	/* on poller->senders while @waiting is not empty */
	bool blocked;		/* the socket is full; POLLOUT reports when it has room */

	struct udp_sock csock;	/* connected to the peer csock_dest; fd -1: none */
	union net_sa csock_addr;	/* the address of that peer */
	uint64_t csock_number;	/* its udp_source_number() */
	bool csock_exclusive;		/* every datagram in the socket is from that peer */
	fi_addr_t csock_dest;	/* FI_ADDR_UNSPEC: not connected */
	fi_addr_t last_dest;	/* destination of the most recent sends */
	unsigned last_dest_cnt;	/* how many of them there were in a row */
	bool csock_failed;		/* connecting failed once; do not try again */

	int ask_fd;		/* the socket of NET_OPT_ASK; -1: none yet */
	struct udp_mc **groups;	/* by slot; NULL: free */
	unsigned group_cnt;	/* slots */
	uint32_t group_seq;	/* so that the address of a new group differs from that of an old one */

	union net_sa bound;	/* what the socket is bound to */

	uint64_t dropped[UDP_WIRE_CNT];	/* framed: received datagrams that were not messages, by
					 * reason */
};

/* Where a receive puts the source address, and the header of a framed datagram. */
struct udp_slot {
	struct udp_hdr hdr;
	union net_sa from;
};

/* NET_OPT_SOURCE: the address that has a number. */
struct udp_source {
	uint64_t number;	/* 0: none */
	union net_sa addr;
};

/* One per progress group: polls the sockets of all its endpoints. */
struct udp_poller {
	struct obj_poller base;	/* first; its fd is a set of the sockets */
	struct list socks;	/* struct udp_sock */
	unsigned sock_cnt;
	unsigned round;		/* polls while @heard is set */
	struct udp_sock *heard;	/* the one that had the last datagram; NULL: none since the last sleep */
	bool armed;		/* the sockets are in the set */
	struct list senders;	/* struct udp_ep with sends that wait */
	/* Arguments of the receive system calls, prepared once. */
	struct mmsghdr msg[UDP_BURST];
	struct udp_slot slot[UDP_BURST];
	struct udp_source source[UDP_SOURCES];	/* indexed by number; a newer address replaces an
						 * older one */
	union udp_ctl ctl;	/* for the first message, of an endpoint with trains */
};

/* Copy the program's list to @dst[@at]; @src may be NULL if @cnt is 0.  Returns the entries in use. */
static inline unsigned udp_iov_put(struct iovec *dst, unsigned at, const struct iovec *src,
				   size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		dst[at + i] = src[i];
	return at + (unsigned) cnt;
}

static inline struct udp_ep *udp_ep_of(struct obj_ep *ep)
{
	return container_of(ep, struct udp_ep, base);
}

/* ---- ep.c ------------------------------------------------------------------ */

/* udp_ep_open - obj_domain_ops.endpoint: open an endpoint and bind its socket to
 * info->src_addr, so that fi_getname() works before fi_enable().
 *
 * Errors: those of obj_ep_init(), socket(2) and bind(2), logged with advice.
 */
int udp_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		uint64_t flags, void *context);

/* udp_ep_drop - count, and at a limited rate log, a datagram that is not a message.
 * @from: its source        Threading: locked.
 */
void udp_ep_drop(struct udp_ep *ep, enum udp_wire verdict, const union net_sa *from);

/* udp_sock_bind_shared - bind @fd to an address to which the endpoint's own socket may be bound
 * already.  Threading: any; no other thread may change options of the sockets.
 */
int udp_sock_bind_shared(struct udp_ep *ep, int fd, const union net_sa *name);

/* udp_sock_class - give a socket of @ep its traffic class; before udp_train_setup(), which adds
 * the ECN codepoint.
 */
void udp_sock_class(const struct udp_ep *ep, int fd);

/* ---- poll.c ---------------------------------------------------------------- */

/* udp_poller_join - find or make the group's poller and add @ep's socket.
 * Threading: locked.  Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int udp_poller_join(struct udp_ep *ep);

/* udp_poller_leave - remove @ep's socket from the poller.  Threading: locked. */
void udp_poller_leave(struct udp_ep *ep);

/* udp_poller_add, udp_poller_del - add or remove a socket.
 * Ownership: the owner closes sock->fd.  Threading: locked.
 */
void udp_poller_add(struct udp_poller *poller, struct udp_sock *sock);
void udp_poller_del(struct udp_poller *poller, struct udp_sock *sock);

/* udp_ep_watch - posted receives or blocked sends have changed: update the set, so that
 * its descriptor is readable only when a poll of @ep would do something.
 * Threading: locked.  Cost: one branch while the set is empty.
 */
void udp_ep_watch(struct udp_ep *ep);

/* ---- rx.c ------------------------------------------------------------------ */

ssize_t udp_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
		 void *context);
ssize_t udp_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
		  fi_addr_t src, void *context);
ssize_t udp_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags);

/* udp_rx_poll - receive into the posted buffers.
 *
 * Returns how many datagrams were taken from @sock: at most @budget, and none while no receive
 * is posted.
 * Threading: locked.
 */
int udp_rx_poll(struct udp_sock *sock, unsigned budget);

/* udp_rx_cancel - fi_cancel(): complete the oldest receive with @context as FI_ECANCELED.
 * Errors: -FI_ENOENT.  Threading: locked.
 */
int udp_rx_cancel(struct udp_ep *ep, void *context);

/* ---- tx.c ------------------------------------------------------------------ */

ssize_t udp_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
		 fi_addr_t dest, void *context);
ssize_t udp_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
		  fi_addr_t dest, void *context);
ssize_t udp_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags);

/* udp_dev_send, udp_dev_recv - the same with memory of a device in the list; data as FI_MSG's. */
ssize_t udp_dev_send(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags);
ssize_t udp_dev_recv(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags);
/* udp_dev_set_ops - the calls of an endpoint with FI_HMEM (dev.c). */
void udp_dev_set_ops(struct udp_ep *ep);

/* udp_rx_drop - the endpoint closes: forget what is posted.  Locked. */
void udp_rx_drop(struct udp_ep *ep);
ssize_t udp_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest);
ssize_t udp_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
		     uint64_t data, fi_addr_t dest, void *context);
ssize_t udp_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
		       fi_addr_t dest);

/* udp_tx_flush - send the queued datagrams in order, UDP_SEND_MAX per system call, until the
 * socket is full.
 *
 * Returns how many operations completed, with success or error.   Threading: locked.
 */
int udp_tx_flush(struct udp_ep *ep);

/* udp_tx_cancel - the same for a queued send. */
int udp_tx_cancel(struct udp_ep *ep, void *context);

/* ---- train.c --------------------------------------------------------------- */

/* udp_train_setup - set the socket options for trains; IP fragmentation is switched off. */
void udp_train_setup(struct udp_sock *sock);

/* udp_train_gro - switch UDP_GRO of @sock: a train is received by one call, or by one per
 * datagram.  With UDP_GRO a single datagram costs about a tenth more.
 * Threading: locked.
 */
void udp_train_gro(struct udp_sock *sock, bool gro);

/* udp_train_fill - make one message of the queued send at @pos and of those behind it that can
 * be in the same train.
 *
 * @most: upper limit for the number of sends
 * @iov:  [out] room for @most sends of 1 + UDP_IOV_MAX entries
 * @ctl:  [out] lives as long as @msg
 * Returns the number of sends in the message: 1 without NET_OPT_TRAINS.   Threading: locked.
 */
unsigned udp_train_fill(struct udp_ep *ep, struct list *pos, unsigned most, struct msghdr *msg,
			struct iovec *iov, union udp_ctl *ctl);

/* udp_train_fallback - the system refused a train: send its first datagram alone, and if that
 * succeeds send no more trains.
 * Returns 1, or the error.
 */
int udp_train_fallback(struct udp_ep *ep, struct udp_tx *tx);

/* udp_train_ecn - NET_OPT_ECN: set the codepoint of datagrams sent from all sockets of @ep.
 * Threading: locked, once enabled.   Errors: those of the system.
 */
int udp_train_ecn(struct udp_ep *ep, int codepoint);

/* udp_train_segment - the length of the datagrams of a train of @len bytes received in @msg.
 * @ecn_p: [out] their codepoint, if the system reported it
 */
size_t udp_train_segment(const struct msghdr *msg, size_t len, unsigned *ecn_p);

/* ---- source.c -------------------------------------------------------------- */

/* udp_source_number - the number of an address: never 0, 62 bits.  Pure. */
static inline uint64_t udp_source_number(const union net_sa *addr)
{
	uint64_t number = net_addr_hash(&addr->sa) >> NET_SOURCE_SHIFT;

	return number ? number : 1;
}

/* udp_source_find - NET_OPT_SOURCE_ADDR: the address that has a number.
 * Errors: -FI_ENOENT: not in the cache.   Threading: locked.
 */
int udp_source_find(struct udp_poller *poller, struct net_source *source);

/* udp_source_record - put @from into the cache.   Threading: locked. */
static inline void udp_source_record(struct udp_poller *poller, const union net_sa *from,
				     uint64_t number)
{
	struct udp_source *source = &poller->source[number % UDP_SOURCES];

	if (__builtin_expect(source->number != number, 0)) {
		source->number = number;
		source->addr = *from;
	}
}

/* ---- csock.c --------------------------------------------------------------- */

/* udp_csock_connect - connect the second socket to the peer that recent sends went to.
 * @dest, @to: its address       Threading: locked.
 */
void udp_csock_connect(struct udp_ep *ep, fi_addr_t dest, const union net_sa *to, socklen_t to_len);

/* udp_ask, udp_asked - NET_OPT_ASK: a question, the next answer (-FI_EAGAIN: none).  udp_ask_close - no
 * more of them.   Threading: locked.
 */
int udp_ask(struct udp_ep *ep, const struct net_ask *ask);
int udp_asked(struct udp_ep *ep, struct net_ask *answer);
void udp_ask_close(struct udp_ep *ep);

/* udp_csock_close - close the connected socket, if there is one.   Threading: locked. */
void udp_csock_close(struct udp_ep *ep);

/* ---- mc.c ------------------------------------------------------------------ */

/* An address returned by fi_join(): bits 63..62 are 01, which no AV index has. */
#define UDP_MC_BIT (UINT64_C(1) << 62)

static inline bool udp_mc_is(fi_addr_t addr)
{
	return addr >> 62 == 1;
}

/* udp_mc_join - fi_join(); see fi_udp(7).
 *
 * Errors: -FI_EINVAL not a multicast address of the endpoint's family; -FI_EBADFLAGS;
 *         -FI_EOPBADSTATE not enabled; -FI_ENODEV and others from the system, logged.
 */
int udp_mc_join(struct fid_ep *fid, const void *addr, uint64_t flags, struct fid_mc **mc_p,
		void *context);

/* udp_mc_only_joined - @fd receives only from groups that it has joined.  The system's default
 * is every group that any process of the host has joined.
 */
void udp_mc_only_joined(int fd, int family);

/* udp_mc_set_iface - send multicast from @fd by this interface. */
void udp_mc_set_iface(int fd, int family, unsigned ifindex);

/* udp_mc_dest - the destination of a message to a group.
 *
 * @to, @len: [out] its address
 * Errors: -FI_EINVAL not a group of this endpoint (any more), or joined to receive only.
 * Threading: locked.
 */
int udp_mc_dest(struct udp_ep *ep, fi_addr_t addr, void *to, size_t *len);

#endif
