/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conn.h - the simulated network's own half: packets, connections, time and chance.
 * link.c and cm.c are what the engine sees of it.
 */
#ifndef ENG_SIM_CONN_H
#define ENG_SIM_CONN_H

#include <netinet/in.h>
#include <string.h>

#include "engine/sim/link.h"

/* One packet in flight, or held, or being placed. */
struct frame {
	struct list node;		/* on conn->to[], or alone */
	uint64_t at;			/* when its header arrives */
	size_t hdr_len, len, avail;
	uint8_t hdr[ENG_HDR_MAX];
	uint8_t *data;
	bool shown;			/* the engine has seen the header */
	bool dropped;			/* the rest is skipped */
	bool held;			/* a token is out */
	bool lost;			/* held, and the rest will never come */
	bool placing;
	struct iovec iov[ENG_IOV_MAX];
	size_t iov_cnt;
	void *cookie;
};

struct chan {
	struct conn *conn;
	int side;
	struct list out;		/* eng_pkt by node */
	bool unformed;			/* its format is not known */
	bool shut;			/* nothing follows what is in @out */
	bool losing;			/* its end is being reported, or is about to be */
	struct list node;		/* on link->chans */
};

/* Two ends; an end that has not shown up yet, or is gone, is NULL. */
struct conn {
	struct list node;
	struct chan *end[2];
	struct sockaddr_in addr[2];
	bool gone[2];			/* the end was there and left */
	bool fin;			/* ends once what is in flight has arrived */
	int err;			/* broken */
	struct list to[2];		/* frames */
	uint64_t last[2];		/* arrival of the newest */
	/* connection management */
	bool msg;
	enum { ASKED, SHOWN, ACCEPTED, UP, REFUSED } cm;
	bool reported[2];		/* the end has had on_connected */
	uint8_t param[2][256];
	size_t param_len[2];
};

struct sim_link {
	struct eng_link link;		/* first */
	struct sockaddr_in addr;
	struct list node;		/* on sim.links */
	struct list chans;
	bool crash;
	bool listening;
	struct sim_poller *poller;
	struct list poll_node;
};

struct sim_poller {
	struct obj_poller poller;
	struct list links;
};

/* The network. */
extern struct sim {
	struct sim_conf conf;
	uint64_t rnd;
	uint64_t now;
	struct list links, conns;
	size_t frames;
	bool post_fails;
	bool stalled;
} sim;

static inline void sim_copy(void *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
}

static inline struct sim_link *sim_link_of(struct eng_link *link)
{
	return container_of(link, struct sim_link, link);
}

static inline struct chan *sim_chan_of(struct eng_peer *peer)
{
	return eng_peer_chan(peer);
}

/* sim_chance - true in @pct of a hundred cases. */
bool sim_chance(unsigned pct);

/* sim_find - the link at an address, or NULL. */
struct sim_link *sim_find(const struct sockaddr_in *addr);

/* sim_conn_new - a connection with no ends yet. */
struct conn *sim_conn_new(const struct sockaddr_in *from, const struct sockaddr_in *to);
void sim_conn_free(struct conn *c);

/* sim_join - @chan of @link is an end of @c from now on. */
void sim_join(struct conn *c, int side, struct sim_link *link, struct chan *chan);

/* sim_transmit - put a packet in flight to the end @to. */
void sim_transmit(struct conn *c, int to, const void *hdr, size_t hdr_len,
		  const struct iovec *iov, size_t cnt, size_t len);
void sim_frame_free(struct frame *f);

/* sim_truncate - lose what is in flight from a random point on. */
void sim_truncate(struct list *to);

/* sim_chan_fail - an end closes: its packets and placements fail. */
void sim_chan_fail(struct sim_link *sl, struct chan *chan, int status);

/* ---- connected endpoints (cm.c) ---------------------------------------------- */

/* sim_cm_poll - returns true while @chan is not connected, or is gone. */
bool sim_cm_poll(struct sim_link *sl, struct chan *chan);

int sim_cm_listen(struct eng_link *link, int backlog);
int sim_cm_connect(struct eng_link *link, struct eng_peer *peer, const void *addr,
		   size_t addrlen, const void *param, size_t paramlen);
int sim_cm_answer(struct eng_link *link, struct eng_peer *peer, void *req,
		  const void *param, size_t paramlen);
int sim_cm_shutdown(struct eng_link *link, struct eng_peer *peer);
int sim_cm_getpeer(struct eng_peer *peer, void *addr, size_t *len);

#endif
