/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * peer.h - another endpoint that this one exchanges packets with.
 *
 * Peers are made by the first send to an address, by a receive directed at it,
 * or by one that connects to us.  They are found by fi_addr_t through a two-level
 * table, and by address through a hash; so an address vector entry that is
 * never used costs nothing here, and two entries with one address share a peer.
 *
 * A peer whose channel is down, that nothing refers to and that no fi_addr_t
 * leads to, is freed when the next one is made.
 */
#ifndef ENG_PEER_H
#define ENG_PEER_H

#include <string.h>

#include "engine/ep.h"

/* Reasons why a send may not simply go out; 0 is the fast path. */
enum {
	ENG_PEER_IDLE = 1 << 0,		/* the channel is not started */
	ENG_PEER_XOFF = 1 << 1,		/* it asked for announcements only */
	ENG_PEER_FENCED = 1 << 2,	/* sends wait in @fenced, or would */
	ENG_PEER_CLOSED = 1 << 3,	/* MSG: not connected */
	ENG_PEER_LOST = 1 << 4,		/* idle because its channel was lost */
	ENG_PEER_LOSING = 1 << 5,	/* the link reports its loss: nothing is sent to it */
	ENG_PEER_BARRED = 1 << 6,	/* with FENCED: an operation is to complete before another starts */
};

struct eng_peer {
	struct eng_ep *ep;		/* hub, or a shared receive context */
	struct eng_peer *key;		/* the matcher's key for it: itself, or @src */
	struct eng_link *link;		/* the one it is bound to (eng_peer_bind()); NULL: none (shared context) */
	const struct eng_link_ops *ops;	/* of @link; NULL: no link */
	uint8_t slow;			/* ENG_PEER_* */
	bool releasing : 1;		/* @fenced is being emptied */
	bool told_xoff : 1;		/* we asked it for announcements only */
	uint16_t ctx_known;		/* receive contexts that it has, at least; 0 and 1: nothing is known */
	uint8_t format : 2;		/* enum eng_format of its channel */
	uint8_t asks : 1;		/* its channel's version of packets has questions (query.h) */
	uint16_t addr_len;
	unsigned refs;			/* requests and messages that point here */
	unsigned table_refs;		/* entries of the fi_addr_t table that lead here */
	unsigned tx_cnt;		/* sends that are not complete, for fences */
	fi_addr_t fi_addr;		/* what FI_SOURCE reports; FI_ADDR_NOTAVAIL: not known yet */
	struct eng_peer *src;		/* with a shared receive context: its peer at our address */
	uint64_t unexp_bytes;		/* payload of its unexpected messages */
	uint64_t held;			/* this, its requests, and answers to it; see flow.h */
	unsigned fenced_cnt;		/* of @tx_cnt, in @fenced */
	unsigned msg_cnt;		/* messages in @msgs */
	uint32_t refused;		/* its write whose further pieces are passed over; 0: none */
	uint32_t hash;			/* of its address */
	struct list txs;		/* sends that wait for its answer */
	struct list rxs;		/* receives that wait for its data, or are being filled */
	struct list msgs;		/* its unexpected messages */
	struct list serves;		/* its reads that we answer, in order */
	struct list fenced;		/* sends behind a fence, in order */
	struct list node;		/* on ep->peers */
	struct list idle_node;		/* on ep->idle */
	struct eng_peer *hash_next;	/* same hash of address */
	char *addr;			/* behind the link's memory */
	_Alignas(16) char chan[];	/* the link's */
};

/* eng_peer_new - a peer at @addr that nothing leads to yet.
 * Errors: NULL, no memory.
 */
struct eng_peer *eng_peer_new(struct eng_ep *ep, const void *addr, size_t len);

/* eng_peer_resolve - the slow part of eng_peer_get(). */
struct eng_peer *eng_peer_resolve(struct eng_ep *ep, fi_addr_t fi_addr, int *ret_p);

/* eng_peer_get - the peer behind a fi_addr_t.
 *
 * @ep:    the hub
 * @ret_p: [out] why NULL: -FI_EINVAL no such address, -FI_EAGAIN no memory
 *
 * Cost: three loads for a peer of the first page that exists already, five for others.
 */
static inline struct eng_peer *eng_peer_get(struct eng_ep *ep, fi_addr_t fi_addr, int *ret_p)
{
	uint32_t i = (uint32_t) fi_addr;
	struct eng_peer *peer, **page;

	if (ep->only)
		return ep->only;
	page = i / ENG_PEER_PAGE == 0 ? ep->first :
	       i / ENG_PEER_PAGE < ep->page_cnt ? ep->pages[i / ENG_PEER_PAGE] : NULL;
	if (page) {
		peer = page[i % ENG_PEER_PAGE];
		if (__builtin_expect(peer && fi_addr == i, 1))
			return peer;
	}
	return eng_peer_resolve(ep, fi_addr, ret_p);
}

/* eng_peer_start - open the channel if it is not open.  Errors: those of link->peer_get. */
int eng_peer_start(struct eng_peer *peer);

/* eng_peer_probe - a receive waits for @peer alone: find out whether a peer that was
 * lost is back.  If it is not, eng_on_down() ends the receive.  A peer that was never
 * connected is not tried: it may not have started yet.
 */
static inline void eng_peer_probe(struct eng_peer *peer)
{
	if (__builtin_expect(peer->slow & ENG_PEER_LOST, 0))
		eng_peer_start(peer);
}

/* eng_peer_find_fi_addr - the slow part of eng_peer_fi_addr(). */
fi_addr_t eng_peer_find_fi_addr(struct eng_peer *peer);

/* eng_peer_fi_addr - what completions report for @peer, or FI_ADDR_NOTAVAIL. */
static inline fi_addr_t eng_peer_fi_addr(struct eng_peer *peer)
{
	return peer->fi_addr != FI_ADDR_NOTAVAIL ? peer->fi_addr : eng_peer_find_fi_addr(peer);
}

/* eng_peer_key - what the matcher knows @peer as. */
static inline uint64_t eng_peer_key(const struct eng_peer *peer)
{
	return (uintptr_t) peer->key;
}

/* eng_peer_unref - one request less; the peer may become idle. */
void eng_peer_unref(struct eng_peer *peer);

static inline void eng_peer_ref(struct eng_peer *peer)
{
	peer->refs++;
}

/* eng_peer_cut - give up the channel to @peer, and fail everything that waits for it
 * with @err (positive).  The next send opens a new one; a connected endpoint is
 * disconnected.  Outside of poll().
 */
void eng_peer_cut(struct eng_peer *peer, int err);

/* eng_peer_losing - a packet or a placement failed with @status, so eng_on_down() is about to follow, unless
 * the peer's format does not have the packet.  Until then the channel may be half undone, and what the failure starts, such as the
 * next write behind a fence, is not sent to it.
 */
static inline void eng_peer_losing(struct eng_peer *peer, int status)
{
	if (status != -FI_EOPNOTSUPP)
		peer->slow |= ENG_PEER_LOSING;
}

/* eng_peer_send - hand a packet to the link that the peer is bound to; see link->send. */
static inline int eng_peer_send(struct eng_peer *peer, struct eng_pkt *pkt)
{
	if (__builtin_expect(peer->slow & ENG_PEER_LOSING, 0))
		return -FI_ECONNRESET;
	return peer->ops->send(peer->chan, pkt);
}

/* eng_peer_is_whole - do packets to @peer go whole, whatever their length is? */
static inline bool eng_peer_is_whole(const struct eng_peer *peer)
{
	return peer->format == ENG_FORMAT_WHOLE;
}

/* eng_peer_seg - the longest packet that a long payload is cut into. */
static inline size_t eng_peer_seg(const struct eng_peer *peer)
{
	return eng_peer_is_whole(peer) ? SIZE_MAX : peer->link->attr.seg_size;
}

/* eng_peer_takes_once - does the link send packets with @len bytes of payload that it must not keep? */
static inline bool eng_peer_takes_once(const struct eng_peer *peer, size_t len)
{
	size_t most = peer->link->attr.once_max;

	return most && len <= most;
}

/* eng_peer_send_once - send a packet of which only the header is filled in, without ever keeping it: see
 * ENG_PKT_ONCE.  Only if eng_peer_takes_once(), and @peer is not slow.
 */
static inline int eng_peer_send_once(struct eng_peer *peer, struct eng_pkt *pkt,
				     const struct iovec *iov, size_t cnt, size_t len)
{
	pkt->flags = ENG_PKT_ONCE;
	pkt->len = len;
	pkt->iov_cnt = (uint16_t) cnt;
	memcpy(pkt->iov, iov, cnt * sizeof(*iov));
	return peer->ops->send(peer->chan, pkt);
}

/* eng_peer_fail - complete everything that waits for @peer with @err (positive). */
void eng_peer_fail(struct eng_peer *peer, int err);

/* eng_peer_removed - obj_ep_ops.av_removed of every engine endpoint. */
void eng_peer_removed(struct obj_ep *base, fi_addr_t fi_addr);

/* eng_peer_forget_table - no fi_addr_t leads to any of @ep's peers any more. */
void eng_peer_forget_table(struct eng_ep *ep);

/* eng_peer_last_channel - no other endpoint of a shared receive context has a channel to
 * where @peer was.
 */
bool eng_peer_last_channel(struct eng_peer *peer);

/* eng_peer_free_all - the endpoint closes; the link is gone already. */
void eng_peer_free_all(struct eng_ep *ep);

/* eng_peer_text - the peer's address for a log line, in @buf. */
#define ENG_PEER_TEXT 128
const char *eng_peer_text(const struct eng_peer *peer, char *buf);

#endif
