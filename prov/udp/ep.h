/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ep.h - datagram endpoints over UDP sockets.
 *
 * Everything below udp_ep is guarded by the lock of the endpoint's progress
 * group, ep->base.prog->lock, from fi_enable() on.  "Locked" says that the
 * caller holds it.
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
#include "obj/prog.h"

#include "wire.h"

#define UDP_IOV_MAX 4		/* pieces of a message; tx and rx iov_limit */
#define UDP_BURST 32		/* most datagrams of one system call */
#define UDP_TRAIN 64		/* most datagrams of one train */
#define UDP_CALL 88		/* of one system call, if they may form trains */
#define UDP_TRAIN_MOST 128	/* of one that arrives: the system may make longer ones */
#define UDP_TRAIN_LEAST 1000	/* bytes of a datagram that may be one of a train */
#define UDP_ALONE 256		/* so many datagrams by themselves: there are no trains */
#define UDP_COPY_MAX 256	/* payloads up to this are copied beside the header where that is cheaper */
#define UDP_DIRECT 4		/* sockets of a poller that are tried one by one; more go through epoll */
#define UDP_HOT 64		/* so many sends in a row to one peer make it hot */
#define UDP_RECENT 64		/* polls after which a socket without a datagram is a quiet one */
#define UDP_QUIET 16		/* so often a quiet one is asked all the same */
#define UDP_SOURCES 64		/* addresses that sent lately, and are remembered */
#define UDP_RCVBUF (4u << 20)	/* asked for; the system cuts it (net.core.rmem_max) */
#define UDP_SNDBUF (1u << 20)

struct udp_ep;

extern struct fi_provider udp_prov;

/* Room for what the system says, or is told, about a message. */
union udp_ctl {
	struct cmsghdr c;
	char room[2 * CMSG_SPACE(sizeof(int))];	/* length and codepoint */
};

/* A socket that a poller watches: an endpoint's own, or that of a group it joined. */
struct udp_sock {
	struct list node;	/* on poller->socks */
	struct udp_ep *ep;
	int fd;			/* -1: none */
	uint32_t interest;	/* EPOLL* as the kernel knows it; 0: not in the epoll set */
	unsigned burst;		/* datagrams to ask for next: follows what came */
	unsigned hits;		/* single datagrams in a row, without a vain poll between */
	unsigned last;		/* poller->round when there last was one */
	size_t length;		/* of the datagram before in this poll; 0: there was none */
	unsigned alone;		/* datagrams in a row that came up by themselves */
	bool whole;		/* the system brings trains up whole */
};

/* A posted receive.  The pieces of the program's buffer stand from iov[1] on. */
struct udp_rx {
	struct list node;	/* on ep->posted, oldest first */
	void *context;
	bool want;		/* a success is reported */
	bool multi;		/* FI_MULTI_RECV: iov[1] is what is left of the buffer */
	unsigned iov_cnt;	/* with iov[0] */
	struct iovec iov[1 + UDP_IOV_MAX];
};

/* A send that waits: for the end of a burst, or for room in the socket. */
struct udp_tx {
	struct list node;	/* on ep->waiting, oldest first */
	void *context;
	size_t len;		/* of the payload */
	bool want;		/* a success is reported */
	socklen_t to_len;
	unsigned iov_cnt;	/* with iov[0], the header */
	union net_sa to;	/* the peer may leave the av before this leaves us */
	struct udp_hdr hdr;
	struct iovec iov[1 + UDP_IOV_MAX];
	char copy[UDP_COPY_MAX];/* payload of an injected message */
};

/* A joined multicast group. */
struct udp_mc {
	struct fid_mc fid;	/* first: the program's handle */
	struct udp_ep *ep;
	struct obj_ref ep_ref;	/* the endpoint stays while this is open */
	struct udp_sock sock;	/* receives what is sent to the group; fd -1: send only */
	unsigned slot;		/* in ep->groups */
	bool send;		/* the endpoint may send to it */
	union net_sa addr;
};

struct udp_ep {
	struct obj_ep base;	/* first */
	struct udp_poller *poller;	/* of the progress group; NULL before fi_enable() */
	struct udp_sock sock;
	union net_sa name;	/* what the socket is bound to */
	unsigned ifindex;	/* of the interface that multicast uses; 0: the system's choice */
	size_t max_msg;		/* longest payload */
	size_t max_inject;
	bool source;		/* FI_SOURCE */
	bool source_err;	/* FI_SOURCE_ERR */
	bool trains;		/* NET_OPT_TRAINS */
	bool trains_fail;	/* the system does not take them */
	bool tells_ecn;		/* NET_OPT_ECN before it was enabled */
	int ecn;		/* codepoint of what leaves */
	bool tells_source;	/* NET_OPT_SOURCE */
	uint64_t seen;		/* of the datagram in hand: codepoint, if @tells_ecn, and source, if that */

	struct list posted;	/* struct udp_rx */
	struct pool rx_pool;	/* of the posted ones: rx_pool.used of them */

	struct list waiting;	/* struct udp_tx */
	struct pool tx_pool;	/* of the waiting ones: tx_pool.used of them */
	struct list tx_node;	/* on poller->senders while anything waits */
	bool blocked;		/* the socket was full: EPOLLOUT says when it is not */

	struct udp_sock hot;	/* connected to the peer at hot_dest; fd -1: none */
	union net_sa hot_addr;	/* where that is ... */
	uint64_t hot_number;	/* ... as udp_source_number() has it */
	bool hot_pure;		/* all that waits there came from it */
	fi_addr_t hot_dest;	/* FI_ADDR_UNSPEC: none */
	fi_addr_t hot_next;	/* where the last sends went ... */
	unsigned hot_streak;	/* ... and how many of them */
	bool hot_off;		/* it did not work once; do without */

	struct udp_mc **groups;	/* by slot; NULL: free */
	unsigned group_cnt;	/* slots */
	uint32_t group_seq;	/* makes addresses of groups differ over time */

	uint64_t dropped[UDP_WIRE_CNT];	/* datagrams that were not messages, by reason */
};

/* Where a receive leaves what is not payload. */
struct udp_slot {
	struct udp_hdr hdr;
	union net_sa from;
};

/* NET_OPT_SOURCE: an address by its number. */
struct udp_source {
	uint64_t number;	/* 0: none */
	union net_sa addr;
};

/* One per progress group: polls the sockets of all its endpoints. */
struct udp_poller {
	struct obj_poller base;	/* first; its fd is an epoll set of the sockets */
	struct list socks;	/* struct udp_sock */
	unsigned sock_cnt;
	unsigned round;		/* counts polls */
	unsigned last;		/* the round in which a socket last had a datagram */
	bool watching;		/* the sockets are in the epoll set */
	unsigned polls;		/* since somebody was last about to sleep */
	unsigned patience;	/* so many of them empty the set */
	struct list senders;	/* struct udp_ep with sends that wait */
	/* What one system call is given, and where it leaves names and headers. */
	struct mmsghdr msg[UDP_BURST];
	struct udp_slot slot[UDP_BURST];
	struct udp_source source[UDP_SOURCES];	/* by number; who came last is there */
	union udp_ctl ctl;	/* of the first, for an endpoint with trains */
};

/* A program's list behind the entry of the header; it may be NULL if @cnt is 0. */
static inline unsigned udp_iov_behind(struct iovec *dst, const struct iovec *src, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		dst[1 + i] = src[i];
	return 1 + (unsigned) cnt;
}

static inline struct udp_ep *udp_ep_of(struct obj_ep *ep)
{
	return container_of(ep, struct udp_ep, base);
}

/* ---- ep.c ------------------------------------------------------------------ */

/* udp_ep_open - obj_domain_ops.endpoint: open, and bind the socket to
 * info->src_addr, so that the name is known at once.
 *
 * Errors: those of obj_ep_init(), socket(2) and bind(2), logged with a cure.
 */
int udp_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		uint64_t flags, void *context);

/* udp_ep_init_ops - complete the static ops tables; once, before any endpoint. */
void udp_ep_init_ops(void);

/* udp_ep_drop - count, and now and then log, a datagram that is no message.
 * @from: its source        Threading: locked.
 */
void udp_ep_drop(struct udp_ep *ep, enum udp_wire verdict, const union net_sa *from);

/* udp_sock_bind_beside - bind @fd to an address that the endpoint's own socket may
 * hold already.  Threading: any; nobody else may change the sockets' options.
 */
int udp_sock_bind_beside(struct udp_ep *ep, int fd, const union net_sa *name);

/* ---- poll.c ---------------------------------------------------------------- */

/* udp_poller_join - find or make the group's poller and give it @ep's socket.
 * Threading: locked.  Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int udp_poller_join(struct udp_ep *ep);

/* udp_poller_leave - the poller forgets @ep.  Threading: locked. */
void udp_poller_leave(struct udp_ep *ep);

/* udp_poller_add, udp_poller_del - one socket more or less.  Threading: locked.
 * The owner closes sock->fd.
 */
void udp_poller_add(struct udp_poller *poller, struct udp_sock *sock);
void udp_poller_del(struct udp_poller *poller, struct udp_sock *sock);

/* udp_ep_watch - posted receives or blocked sends have changed: have the epoll
 * set tell what a poll of @ep would find.  Cheap while nobody looks at the set.
 * Threading: locked.
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
 * Returns how many datagrams were taken from @sock: at most @budget, and none
 * while no receive is posted.   Threading: locked.
 */
int udp_rx_poll(struct udp_sock *sock, unsigned budget);

/* udp_rx_cancel - fi_cancel(): the oldest receive with @context ends as
 * FI_ECANCELED.  Returns 0, or -FI_ENOENT.  Threading: locked.
 */
int udp_rx_cancel(struct udp_ep *ep, void *context);

/* ---- tx.c ------------------------------------------------------------------ */

ssize_t udp_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
		 fi_addr_t dest, void *context);
ssize_t udp_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
		  fi_addr_t dest, void *context);
ssize_t udp_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags);
ssize_t udp_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest);
ssize_t udp_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
		     uint64_t data, fi_addr_t dest, void *context);
ssize_t udp_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
		       fi_addr_t dest);

/* udp_tx_flush - send what waits, in order, UDP_CALL datagrams to a system call,
 * until the socket is full.
 *
 * Returns how many operations ended, well or not.   Threading: locked.
 */
int udp_tx_flush(struct udp_ep *ep);

/* udp_tx_cancel - as udp_rx_cancel(), for a send that still waits. */
int udp_tx_cancel(struct udp_ep *ep, void *context);

/* ---- train.c --------------------------------------------------------------- */

/* udp_train_setup - no fragments on the socket. */
void udp_train_setup(struct udp_sock *sock);

/* udp_train_whole - trains come up whole from @sock from now on, or one by one.
 * To a socket that takes them whole a datagram by itself costs a tenth more.
 * Threading: locked.
 */
void udp_train_whole(struct udp_sock *sock, bool whole);

/* udp_train_fill - make a message of the waiting send at @pos and of those behind it
 * that may travel with it.
 *
 * @most: sends
 * @iov:  [out] room for @most sends of 1 + UDP_IOV_MAX pieces
 * @ctl:  [out] lives as long as @msg
 * Returns how many sends it has: 1 without NET_OPT_TRAINS.   Threading: locked.
 */
unsigned udp_train_fill(struct udp_ep *ep, struct list *pos, unsigned most, struct msghdr *msg,
			struct iovec *iov, union udp_ctl *ctl);

/* udp_train_alone - a train was refused: send its first datagram by itself, and
 * no more trains if that works.   Returns 1, or the error.
 */
int udp_train_alone(struct udp_ep *ep, struct udp_tx *tx);

/* udp_train_ecn - NET_OPT_ECN: datagrams leave as @codepoint from all sockets of @ep.
 * Threading: locked, once enabled.   Errors: those of the system.
 */
int udp_train_ecn(struct udp_ep *ep, int codepoint);

/* udp_train_segment - of how many bytes are the datagrams in @msg of @len bytes?
 * @ecn_p: [out] their codepoint, if the system told it
 */
size_t udp_train_segment(const struct msghdr *msg, size_t len, unsigned *ecn_p);

/* ---- source.c -------------------------------------------------------------- */

/* udp_source_number - of an address: never 0, 62 bits.  Pure. */
static inline uint64_t udp_source_number(const union net_sa *addr)
{
	uint64_t number = net_addr_hash(&addr->sa) >> NET_SOURCE_SHIFT;

	return number ? number : 1;
}

/* udp_source_find - NET_OPT_SOURCE_ADDR.   Errors: -FI_ENOENT.   Threading: locked. */
int udp_source_find(struct udp_poller *poller, struct net_source *source);

/* udp_source_note - remember @from by its number.   Threading: locked. */
static inline void udp_source_note(struct udp_poller *poller, const union net_sa *from,
				   uint64_t number)
{
	struct udp_source *source = &poller->source[number % UDP_SOURCES];

	if (__builtin_expect(source->number != number, 0)) {
		source->number = number;
		source->addr = *from;
	}
}

/* ---- hot.c ----------------------------------------------------------------- */

/* udp_hot_aim - connect the second socket to the peer that sends keep going to.
 * @dest, @to: its address       Threading: locked.
 */
void udp_hot_aim(struct udp_ep *ep, fi_addr_t dest, const union net_sa *to, socklen_t to_len);

/* udp_hot_close - Threading: locked. */
void udp_hot_close(struct udp_ep *ep);

/* ---- mc.c ------------------------------------------------------------------ */

/* An address that fi_join() gave: bits 63..62 are 01, which no index of an av is. */
#define UDP_MC_BIT (UINT64_C(1) << 62)

static inline bool udp_mc_is(fi_addr_t addr)
{
	return addr >> 62 == 1;
}

/* udp_mc_join - fi_join(); see fi_udp(7).
 *
 * Errors: -FI_EINVAL no multicast address of the endpoint's family; -FI_EBADFLAGS;
 *         -FI_EOPBADSTATE not enabled; -FI_ENODEV and others from the system, logged.
 */
int udp_mc_join(struct fid_ep *fid, const void *addr, uint64_t flags, struct fid_mc **mc_p,
		void *context);

/* udp_mc_init_ops - complete the static ops tables; once, before any endpoint. */
void udp_mc_init_ops(void);

/* udp_mc_only_joined - @fd gets what is sent to the groups that it joined itself,
 * not, as is the system's default, to those of every process on the host.
 */
void udp_mc_only_joined(int fd, int family);

/* udp_mc_leave_by - multicast from @fd leaves by this interface. */
void udp_mc_leave_by(int fd, int family, unsigned ifindex);

/* udp_mc_dest - where a message to the group goes.
 *
 * @to, @len: [out] its address
 * Errors: -FI_EINVAL no such group (any more), or joined to receive only.
 * Threading: locked.
 */
int udp_mc_dest(struct udp_ep *ep, fi_addr_t addr, void *to, size_t *len);

#endif
