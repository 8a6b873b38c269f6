/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * types.h - what an endpoint has: its link, its listener, and a channel for each peer.
 */
#ifndef TCP_TYPES_H
#define TCP_TYPES_H

#include <net/if.h>

#include "channel/chan.h"
#include "channel/check.h"
#include "conn.h"

/* The listening socket of an RDM endpoint or of a passive endpoint. */
struct tcp_listener {
	struct chan_listener base;	/* src.fd -1: no socket */
	unsigned half_open;			/* connections in TCP_CONN_HALF_OPEN */
	unsigned refused_cnt;		/* of @refused */
	struct list refused;		/* struct tcp_conn by state_node, in order of age: CLOSING from HALF_OPEN */
	uint64_t no_fd_ns;		/* since when no descriptor is free for them; 0: one is */
};

struct tcp_rails;

struct tcp_link {
	struct chan_link base;		/* first */
	const struct tcp_conf *conf;
	struct tcp_poller *poller;
	enum tcp_wire_kind kind;
	uint32_t tclass;		/* of what its sockets send */
	struct sec_policy *sec;		/* how connections are protected; NULL: not at all */
	bool tags;			/* NET_PROTO_TCP_TAGS (net/opt.h) */
	union net_sa addr;		/* bound address; family AF_UNSPEC: none */
	union net_sa name;		/* the same as peers know it: never the wildcard */
	char iface[IF_NAMESIZE];	/* the domain's, at which a wildcard address is named */
	struct list conns;		/* struct tcp_conn by node: all, in any state */
	struct tcp_listener listener;
	struct tcp_rails *rails;	/* further interfaces (recover.h); NULL: the endpoint uses one */
};

/* What a link keeps for each peer; zeroed by the engine. */
struct tcp_chan {
	struct chan base;	/* first; its conn is a struct tcp_conn */
	struct tcp_conn *attempt;	/* CONNECTING: the connection being made */
	struct tcp_conn *loop;	/* the accepting end, where an endpoint connects to itself */
	struct chan_check check;	/* READY: of the connection */
};

static inline struct tcp_chan *tcp_chan_of(struct chan *chan)
{
	return (struct tcp_chan *) chan;	/* its first member */
}

static inline struct tcp_link *tcp_link_of(struct chan_link *link)
{
	return (struct tcp_link *) link;	/* its first member */
}

static inline struct tcp_conn *tcp_chan_conn(const struct tcp_chan *chan)
{
	return chan->base.conn;
}

#endif
