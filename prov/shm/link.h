/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * link.h - an endpoint's link: its listening socket, its connections, its channels.
 *
 * The link knows addresses as bytes only.  What they look like, which socket an address
 * leads to, and which address an endpoint gets is defined by struct shm_naming: name.c
 * has that of the shm provider, local.c that of endpoints with IP addresses.
 */
#ifndef SHM_LINK_H
#define SHM_LINK_H

#include "channel/chan.h"
#include "conf.h"
#include "conn.h"
#include "listen.h"

extern const struct eng_link_ops shm_link_ops;

struct sec_policy;

struct shm_naming {
	size_t addr_len;	/* bytes of an address in the engine's tables */
	/* len - bytes in use of an address that the engine gave us. */
	size_t (*len)(const void *addr);
	/* key - of the socket behind an address, which may come from an untrusted peer.
	 * Errors: -FI_EINVAL.
	 */
	int (*key)(const void *addr, size_t len, char key[SHM_KEY_MAX + 1]);
	/* own - the @try-th address that an endpoint opened from @src may have; -FI_ENODATA:
	 * there are no more.  Called until one is free.
	 */
	int (*own)(const void *src, size_t src_len, unsigned try, char addr[SHM_ADDR_MAX],
		   size_t *len_p);
	/* same - do two addresses lead to one endpoint? */
	bool (*same)(const void *a, size_t a_len, const void *b, size_t b_len);
};

struct shm_link {
	struct chan_link base;		/* first */
	const struct shm_naming *naming;
	struct shm_scope scope;		/* of our key and our peers' */
	struct sec_policy *sec;		/* the endpoint's: how peers prove its key; NULL: not at all */
	bool local;			/* beside the endpoint's own link: channel/select.h */
	struct chan_listener listener;
	char key[SHM_KEY_MAX + 1];	/* our listening socket's */
	char addr[SHM_ADDR_MAX];	/* ours; base.addr_len bytes */
	struct list conns;		/* every connection */
	uint64_t give_up_ns;		/* closing: when the wait for accesses of peers ends; 0: none waits */
};

/* What the link keeps behind each peer. */
struct shm_chan {
	struct chan base;		/* first */
	struct shm_conn *pending_conn;	/* CONNECTING, ACCEPTING: the connection in handshake */
};

static inline struct shm_chan *shm_chan_of(struct chan *chan)
{
	return (struct shm_chan *) chan;	/* its first member */
}

static inline struct shm_link *shm_link_of(struct chan_link *link)
{
	return (struct shm_link *) link;	/* its first member */
}

static inline struct shm_poller *shm_link_poller(const struct shm_link *link)
{
	return (struct shm_poller *) link->base.poller;	/* its first member */
}

/* shm_link_make - the link of @ep, whose address is made of @src.
 * @ops:   channel operations of this kind of link
 * Errors: see shm_connect_open(); -FI_ENOMEM.
 */
int shm_link_make(struct eng_ep *ep, const struct chan_ops *ops, const struct shm_naming *naming,
		  struct shm_scope scope, const void *src, size_t src_len,
		  struct shm_link **link_p);

/* shm_local_ops - channel operations of a link beside another one (local.c). */
extern const struct chan_ops shm_local_ops;

/* shm_local_open - a link of @ep beside @main, with the address of that (local.c).
 * Errors: -FI_EADDRNOTAVAIL: @main has no address; see also shm_connect_open().
 */
int shm_local_open(struct eng_ep *ep, struct chan_link *main, struct chan_link **link_p);

/* shm_local_naming - addresses are struct sockaddr_in and sockaddr_in6 (local.c). */
extern const struct shm_naming shm_local_naming;

/* ---- connecting (connect.c) -------------------------------------------------------- */

/* shm_connect - chan_ops.connect. */
int shm_connect(struct chan *chan);

/* shm_connect_abort, shm_connect_close, shm_connect_advice - chan_ops. */
void shm_connect_abort(struct chan *chan);
void shm_connect_close(struct chan *chan, int err, bool orderly);
const char *shm_connect_advice(const struct chan *chan, int err);

/* shm_route - chan_ops.route.
 * shm_path_unreadable - why the memory of process @pid cannot be read, as a clause; 0: a process that has
 * no number here.  Makes system calls.
 */
void shm_route(const struct chan *base, struct chan_route *path);
const char *shm_path_unreadable(pid_t pid);

/* shm_connect_timer - the next step of a connection's handshake is overdue. */
void shm_connect_timer(struct timer *timer, uint64_t now);

/* shm_connect_event - input on the socket of a connection before READY. */
void shm_connect_event(struct shm_conn *conn);

/* shm_connect_failed - @conn is FAILED: report it and close it.  From poll() only. */
void shm_connect_failed(struct shm_conn *conn);

/* shm_connect_open - choose the endpoint's address, and listen.
 * Errors: see shm_listen_open(); -FI_ENOMEM; logged.
 */
int shm_connect_open(struct shm_link *link, const void *src, size_t src_len);
void shm_connect_end(struct shm_link *link);

#endif
