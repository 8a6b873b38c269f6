/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * link.h - the engine's lower edge.
 *
 * A link carries packets between an endpoint and its peers: reliably, whole,
 * once, and in the order of send() per peer.  It never sees a tag, a completion
 * queue, a counter or a user's context.  A packet is an opaque engine header
 * of at most ENG_HDR_MAX bytes followed by a payload of any length up to
 * attr.max_payload.
 *
 * Threading: every op and every upcall runs with the endpoint's progress group
 * locked (ep->prog->lock).  No op blocks, except close() for its bounded flush.
 * Upcalls happen only from within the poller's poll() and from close(): a link
 * never calls up from inside send(), connect(), pull() and the like.  So the
 * engine may hold its own state half changed across a down call.
 *
 * Two decisions of the design meet here:
 *  - the link holds unexpected payload, the engine holds headers only;
 *  - an endpoint may have several links, and each peer is bound to one of them
 *    (peer->link) when it is first sent to; which one, the channel layer decides
 *    (channel/select.h).  The engine calls peer_get() of the endpoint's own link.
 */
#ifndef ENG_LINK_H
#define ENG_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/line.h"
#include "base/list.h"

struct eng_ep;
struct eng_link;
struct eng_peer;
struct eng_pep;
struct fi_rma_iov;
struct inspect_peer;
struct obj_prog;

#define ENG_HDR_MAX 240		/* bytes of engine header in a packet */
#define ENG_IOV_MAX 8		/* entries in a packet's payload list */

/* ---- outgoing ---------------------------------------------------------- */

enum {
	ENG_PKT_MORE = 1 << 0,	/* another packet follows at once: the link may wait for it, until the next
				 * poll() at most, which begins with what waits so */
	ENG_PKT_INLINE = 1 << 1,/* payload is short and lies in the packet's own memory */
	ENG_PKT_NOTICE = 1 << 2,	/* reports a write that rma() made: later RMA may overtake it */
	ENG_PKT_ONCE = 1 << 3,	/* packet and payload are the caller's again when send() returns, so
				 * that it is sent at once or not at all; attr.once_max bounds it */
};

/* What became of a packet: see send(). */
enum {
	ENG_SEND_KEPT = 0,
	ENG_SEND_SENT = 1,
};

/* One packet to send: header, payload list and flags.  The engine owns the memory and embeds
 * this in its own request; between send() returning ENG_SEND_KEPT and done() the link owns @node
 * and may read header and payload.
 */
struct eng_pkt {
	struct list node;		/* the link's, while it holds the packet */
	uint32_t flags;			/* ENG_PKT_* */
	uint16_t hdr_len;		/* bytes used in hdr */
	uint16_t iov_cnt;
	size_t len;			/* payload bytes, sum over iov */
	size_t sent;			/* link's: bytes of frame already on the wire */
	struct iovec iov[ENG_IOV_MAX];
	/* Exactly once after send() returned ENG_SEND_KEPT.  @status: 0 when the buffers are
	 * free and the bytes are in the care of the reliable transport;
	 * -FI_EOPNOTSUPP: the peer's format does not have such a packet: its operation fails, and
	 * the channel lives; others: -FI_E*, the peer will not get them: it is lost.
	 */
	void (*done)(struct eng_pkt *pkt, int status);
	uint64_t link_priv;		/* for the link, e.g. an end offset in the stream */
	uint8_t hdr[ENG_HDR_MAX];
};

/* ---- incoming ---------------------------------------------------------- */

enum eng_rx_verdict {
	ENG_RX_DONE,	/* engine is finished with the packet; link skips what is left of it */
	ENG_RX_PLACE,	/* link moves the payload into rx->iov, then calls eng_on_placed(rx->cookie) */
	ENG_RX_HELD,	/* engine called hold() for it */
	ENG_RX_LATER,	/* no memory just now: stop reading from this peer, offer it again in a later poll */
	ENG_RX_BAD,	/* malformed: the link ends the connection, and calls eng_on_down */
	ENG_RX_OVER,	/* beyond a limit, which is logged: the same, with FI_EOVERRUN */
};

/* One packet as it arrives.  The header is complete; of the payload @avail
 * bytes are at @data and the rest may still be in flight.
 */
struct eng_rx {
	const uint8_t *hdr;
	size_t hdr_len;
	const uint8_t *data;
	size_t avail;		/* bytes at @data, <= len */
	size_t len;		/* whole payload */
	/* Filled in by the engine for ENG_RX_PLACE.  Payload beyond the list's
	 * end is thrown away by the link.  The list is copied by the link.
	 */
	struct iovec iov[ENG_IOV_MAX];
	size_t iov_cnt;
	void *cookie;
};

/* ---- the link ----------------------------------------------------------- */

struct eng_link_attr {
	size_t max_payload;	/* largest payload of one packet */
	size_t eager_limit;	/* largest payload hold() is willing to keep; the
				 * engine sends more only after the receiver asked for it */
	size_t seg_size;	/* the engine cuts long messages into packets of this size */
	size_t addr_len;	/* of a peer's address */
	size_t chan_size;	/* link memory behind a peer, if more than ops->chan_size */
	bool same_host;		/* peers are processes of this host */
	bool stays;		/* payload that is not here when its packet is offered stays in the
				 * sender's memory while it is held; see eng_on_moving() */
	size_t once_max;	/* longest payload with ENG_PKT_ONCE; 0: such packets are not taken */
	size_t rma_min;		/* rma() is better than packets from this size on, even if
				 * the peer makes progress */
};

/* Ops of a link are in four tables.  One that a link does not have is NULL as a whole; no op of a table
 * that it has is NULL, but for slot and post.  @chan is link memory of ops->chan_size bytes behind each peer
 * (eng_peer_chan(peer)), zeroed before the first op on it.
 */

/* ---- payload of unexpected packets ---- */

struct eng_link_held {
	/* hold - keep the payload of the packet that eng_on_packet() is looking
	 * at, including what has not arrived yet.  Only inside eng_on_packet().
	 * Payload that has arrived in whole outlives the channel: what a peer
	 * sent before it went away can still be received.
	 * Returns a token, or NULL when memory is short (verdict: ENG_RX_LATER).
	 */
	void *(*hold)(struct eng_link *link, struct eng_peer *peer, const struct eng_rx *rx);

	/* pull - move a held payload into @iov and give up the token.
	 * @iov: NULL: throw the payload away, whatever of it has not arrived yet, too; returns 1, and
	 *       @cookie is not used
	 * Returns 1: done; 0: the rest is still arriving and lands in @iov
	 * (copied) by itself, then eng_on_placed(cookie, status); -FI_EFAULT: @iov cannot be
	 * written; < 0: lost with its peer.
	 */
	int (*pull)(struct eng_link *link, void *token, const struct iovec *iov,
		    size_t iov_cnt, void *cookie);

	/* unplace - the buffers of a placement that waits for the peer are the program's again:
	 * what still comes of the payload is skipped, then eng_on_placed(@cookie) follows as always.
	 * Returns false where something else than this process may be writing there, or no
	 * placement waits: nothing has changed.
	 */
	bool (*unplace)(struct eng_link *link, struct eng_peer *peer, void *cookie);
};

/* ---- native access to the memory of peers ---- */

enum eng_rma {
	ENG_RMA_READ,
	ENG_RMA_WRITE,
	ENG_RMA_SHORT,	/* a write shorter than attr.rma_min: only if the peer takes no packets for long times */
};

struct eng_link_native {
	/* rma - read or write the peer's memory natively: complete on return, ordered behind
	 * what was sent to the peer, without its progress.
	 * @iov:      local buffers, of @remote->len bytes together
	 * @notify_p: [out] on 1: the peer counts its writes, a packet with ENG_PKT_NOTICE must
	 *            follow
	 * Returns 1: done; 0: not possible, or packets are better; part of the target may have been
	 * written by then; -FI_EAGAIN: possible once the peer has received what was sent
	 * before; more packets would only delay that; -FI_EACCES: the target does not permit it, as
	 * far as is known: it is to say so.
	 */
	int (*rma)(void *chan, enum eng_rma what, const struct iovec *iov, size_t iov_cnt,
		   const struct fi_rma_iov *remote, bool *notify_p);

	/* grant - the target's side of rma: @peer has accessed the region @key by a packet, so
	 * it may have no lease of it (obj/lease.h); give it one, if it could use that.
	 */
	void (*grant)(struct eng_link *link, struct eng_peer *peer, uint64_t key);
};

/* ---- connection requests: FI_EP_MSG endpoints and their listeners ---- */

struct eng_link_cm {
	size_t data_size;	/* private data that fits, bytes */

	int (*listen)(struct eng_link *link, int backlog);

	/* connect - reach a listener at @addr with private data @param.
	 * Outcome through eng_on_connected() or eng_on_refused().
	 */
	int (*connect)(struct eng_link *link, struct eng_peer *peer, const void *addr,
		       size_t addrlen, const void *param, size_t paramlen);

	/* answer - accept or reject the request that eng_on_connreq() announced as @req, with private data.
	 * @req is used up, whatever is returned.
	 * @peer: accept: @req becomes its channel, and eng_on_connected() follows;
	 *        NULL: reject
	 * @link: of @peer's endpoint; of a rejection: the listener's, or NULL: the peer is told nothing.  With
	 *        NULL it is called without a lock, and perhaps after close() of the listener's link: a request
	 *        that was announced stands on its own.
	 */
	int (*answer)(struct eng_link *link, struct eng_peer *peer, void *req, const void *param,
		      size_t paramlen);

	/* shutdown - no more sends; the peer is notified behind what was sent. */
	int (*shutdown)(struct eng_link *link, struct eng_peer *peer);
};

/* ---- transport, and the other tables ---- */

struct eng_link_ops {
	size_t size;
	const char *name;	/* for log lines and fi_info: "tcp", "shm", ... */
	size_t chan_size;

	/* open - make the link of an endpoint or of a passive one: one of @ep and @pep is NULL.
	 * An endpoint's: called at fi_enable, once ep->prog is known; binds an address unless
	 * the endpoint is connected; registers or joins the group's poller.
	 * A passive endpoint's: only if there is ops->cm; binds.  @pep carries its fi_info and its
	 * group (pep->prog).
	 * Errors: -FI_EADDRINUSE, -FI_EADDRNOTAVAIL, -FI_EMFILE, -FI_ENOMEM.
	 */
	int (*open)(struct eng_ep *ep, struct eng_pep *pep, struct eng_link **link_p);

	/* close - end the link.
	 * Pushes out what send() took for at most @linger_ms, then calls done()
	 * with -FI_ECANCELED for what is left and eng_on_placed() likewise.
	 * No upcall afterwards.
	 */
	void (*close)(struct eng_link *link, int linger_ms);

	/* getname - the address at which peers reach this link, or that of @peer.
	 * @peer: NULL: of the link; else only if there is ops->cm
	 * @len: [in, out] room, then true length (may exceed the room: then
	 * -FI_ETOOSMALL and as much as fits is copied).
	 * setname - Errors: -FI_ENOSYS: it has the name that it was opened with, another link may be
	 * opened with the new one.
	 */
	int (*getname)(struct eng_link *link, struct eng_peer *peer, void *addr, size_t *len);
	int (*setname)(struct eng_link *link, const void *addr, size_t len);

	/* peer_get - the engine is about to send to @peer.
	 * Starts whatever it takes to reach eng_peer_addr(peer); send() works
	 * at once, packets wait.  Called again after eng_on_down().  Also called
	 * for a channel that the peer opened, unless eng_on_up() came first:
	 * then there is nothing to do.
	 */
	int (*peer_get)(struct eng_link *link, struct eng_peer *peer);

	/* peer_put - the engine forgets @peer; chan memory goes away.
	 * Held packets get done(-FI_ECANCELED) before it returns (the one
	 * exception to "no upcall from a down call").
	 */
	void (*peer_put)(struct eng_link *link, struct eng_peer *peer);

	/* look - what the link knows of the channel to @peer, for a program that inspects this one.
	 * @rec:  state and queued are the link's to fill in
	 * @want: enum inspect_want; with INSPECT_PATHS @path, INSPECT_PATH bytes, "" at first, gets a text
	 */
	void (*look)(struct eng_peer *peer, struct inspect_peer *rec, uint32_t want, char *path);

	/* send - hand over one packet: the one way into a link for messages.
	 * @chan: eng_peer_chan(peer)
	 * Returns ENG_SEND_SENT: sent or copied, @pkt and its buffers are the caller's again,
	 *                   done() will not be called;
	 *         ENG_SEND_KEPT: @pkt->node is in the link's queue, done() follows.  A packet that
	 *                   waits costs the link no memory;
	 *         -FI_EAGAIN: nothing has changed.  With ENG_PKT_ONCE: there is no room, but the
	 *                   receiver takes packets, so that there will be some within
	 *                   microseconds.  Else only outside of poll(), when the peer is found to
	 *                   have closed in good order since the last poll: the next one calls
	 *                   eng_on_down(), and then the packet may be sent over a new channel;
	 *         -FI_ENOBUFS: nothing has changed, the packet can be sent only if it may be kept
	 *                   (ENG_PKT_ONCE);
	 *         others:   -FI_E*, the peer is gone (eng_on_down follows or has been).
	 * It begins a cache line, so that the ops of short messages, which follow, are in one.
	 */
	_Alignas(LINE_SIZE) int (*send)(void *chan, struct eng_pkt *pkt);

	/* slot, post - send one short packet at once, or not at all, without a struct eng_pkt.
	 * NULL, both: the link needs one.
	 * slot() hands out the memory that the peer reads, or that a system call will send, for @len
	 * bytes of header and payload together; NULL: nothing has changed, use send().  Unless post()
	 * follows at once, nothing is sent.  post() returns 1, or < 0 as send() does.
	 * There are two since the engine then writes the header once, from registers, where it is read; a
	 * single function would be given it in memory, or as words that each link sorts by their number.
	 */
	void *(*slot)(void *chan, size_t len);
	int (*post)(void *chan, size_t hdr_len, size_t len);

	struct eng_link_held held;
	const struct eng_link_native *native;	/* NULL: none */
	const struct eng_link_cm *cm;	/* NULL: FI_EP_MSG is not offered */
	bool secures;			/* it protects connections as obj_ep.sec and obj_pep.sec ask */
};

/* What every link begins with. */
struct eng_link {
	const struct eng_link_ops *ops;
	struct eng_ep *ep;		/* NULL for a listener */
	struct eng_pep *pep;		/* NULL for an endpoint */
	struct obj_prog *prog;
	struct eng_link_attr attr;	/* filled in by open(); the engine may lower its limits */
};

/* eng_link_limit - a link with @attr is given no packet that is longer than @most admits. */
static inline void eng_link_limit(struct eng_link_attr *attr, const struct eng_link_attr *most)
{
	size_t seg = most->seg_size ? most->seg_size : most->max_payload;

	if (!attr->seg_size || attr->seg_size > seg)
		attr->seg_size = seg;
	if (attr->seg_size > most->max_payload)
		attr->seg_size = most->max_payload;
	if (attr->eager_limit > most->eager_limit)
		attr->eager_limit = most->eager_limit;
	if (attr->eager_limit > most->max_payload)
		attr->eager_limit = most->max_payload;
	if (attr->once_max > attr->seg_size)
		attr->once_max = attr->seg_size;
}

/* ---- upcalls: what a link reports to the engine ------------------------------ */

/* eng_peer_chan - the link's memory behind @peer. */
void *eng_peer_chan(struct eng_peer *peer);
/* eng_peer_of - inverse of eng_peer_chan. */
struct eng_peer *eng_peer_of(void *chan);
/* eng_peer_addr - where @peer is.  eng_peer_addr_len - the bytes of that: at most link->attr.addr_len, fewer for IPv4
 * where IPv6 fits, and for a name that is not the longest.
 */
const void *eng_peer_addr(const struct eng_peer *peer);
size_t eng_peer_addr_len(const struct eng_peer *peer);
/* eng_peer_waits - would the loss of @peer end an operation with an error?
 * Unexpected messages that it sent do not count.
 */
bool eng_peer_waits(const struct eng_peer *peer);

/* eng_peer_asks - was something sent to @peer that its library answers, whatever its program does besides making
 * progress, and the answer is not here: a read, an atomic with a result, a write that is acknowledged?
 */
bool eng_peer_asks(const struct eng_peer *peer);

/* eng_peer_find - the peer at @addr, made if there is none: for a request of a peer to
 * connect, or its first datagram.  Connectionless endpoints only.   Errors: NULL, no memory.
 */
struct eng_peer *eng_peer_find(struct eng_link *link, const void *addr, size_t len);

/* eng_peer_bind - @peer is reached over @link from now on: the link that it was bound to
 * has peer_put() called, and the channel's memory is zeroed.  Nothing where it is bound to
 * @link already.
 */
void eng_peer_bind(struct eng_peer *peer, struct eng_link *link);

/* eng_on_packet - a packet of @peer is here; see enum eng_rx_verdict.
 * The next packet of the peer is not offered before the payload of this one is in
 * place (ENG_RX_PLACE, after eng_on_placed()), is held, or has been skipped.
 */
enum eng_rx_verdict eng_on_packet(struct eng_link *link, struct eng_peer *peer,
				  struct eng_rx *rx);

/* What eng_on_fast() has done. */
enum eng_fast {
	ENG_FAST_NONE,		/* nothing: use eng_on_packet() */
	ENG_FAST_UNEXPECTED,	/* the same; it is a message that no posted receive matches yet, and
				 * cheaper to receive if the link leaves it for a later poll */
	ENG_FAST_DONE,		/* the packet is finished with */
	ENG_FAST_LAST,		/* the same, and no receive is posted for another message */
};

/* eng_on_fast - eng_on_packet() for a packet that is a few bytes, header and payload in one
 * piece.  Optional.
 */
enum eng_fast eng_on_fast(void *chan, const uint8_t *hdr, size_t hdr_len, size_t len);

/* eng_on_written - a peer has written @len bytes to a region, natively and with completion data,
 * which the program is to see.
 * @peer: NULL: not known which
 */
void eng_on_written(struct eng_link *link, struct eng_peer *peer, uint64_t len, uint64_t data);

/* eng_on_placed - the payload that was promised to @cookie is in place, or
 * will never be (@status -FI_E*): its sender is lost; or, with -FI_EFAULT, it has come and its
 * destination cannot be written: the operation fails, and the channel goes on.
 */
void eng_on_placed(struct eng_link *link, void *cookie, int status);

/* eng_is_receive - is @cookie, of a placement that waits, that of a posted receive?  If its payload proves to be
 * altered, it ends in an error, with an undefined buffer.  What else waits for payload - a write, a read, an atomic -
 * must not be touched by bytes that are not proven.
 */
bool eng_is_receive(const void *cookie);

/* eng_on_up - the channel works (connectionless endpoints; optional). */
void eng_on_up(struct eng_link *link, struct eng_peer *peer);

/* eng_on_moving - @len bytes of held payload that stayed with @peer are to be moved into our memory,
 * though no receive wants them.  Returns false: not now.  After true eng_on_moved() says when that
 * memory is free again.
 */
bool eng_on_moving(struct eng_peer *peer, size_t len);
void eng_on_moved(struct eng_peer *peer, size_t len);

/* How the packets of a channel travel. */
enum eng_format {
	ENG_FORMAT_NATIVE,	/* within the limits of attr, which say whether a message can be announced */
	ENG_FORMAT_ANNOUNCES,	/* the same; a message can be announced whatever its length is */
	ENG_FORMAT_WHOLE,	/* each message, write and range of a read is one packet, whatever its length is:
				 * none is announced or cut */
};

/* eng_on_format - the channel works, and its packets travel in @format.  Optional: else in
 * ENG_FORMAT_NATIVE.
 * @pending: packets for @peer that the link holds and has sent nothing of.  They become those of the
 *           format: messages beyond what may be sent unasked are announced, or announcements
 *           and pieces are made whole
 */
void eng_on_format(struct eng_peer *peer, enum eng_format format, struct list *pending);

/* eng_on_version - the channel works, and both sides speak this version of the engine's packets (wire.h), in
 * ENG_FORMAT_NATIVE.  Optional: else it is the oldest.
 */
void eng_on_version(struct eng_peer *peer, unsigned version);

/* eng_on_down - @peer is lost: @err is a positive FI_E* that names the cause.
 * All packets held for it have had done() and all placements eng_on_placed()
 * before, and since the first of these that had an error the engine has sent
 * nothing to it: the channel may be undone meanwhile.  The engine completes
 * everything that waits for the peer.  The channel is as before its first peer_get.
 */
void eng_on_down(struct eng_link *link, struct eng_peer *peer, int err);

/* eng_on_connreq - a connection request for a listener.
 * @req:  link's handle for answer(); the engine owns it now
 * @dest: address of the connecting peer, @src: our address that it connects to
 */
void eng_on_connreq(struct eng_pep *pep, void *req, const void *src, size_t srclen,
		    const void *dest, size_t destlen, const void *param, size_t paramlen);
void eng_on_connected(struct eng_link *link, struct eng_peer *peer,
		      const void *param, size_t paramlen);
/* eng_on_refused - connect() failed; @err positive FI_E* (FI_ECONNREFUSED,
 * FI_ETIMEDOUT, FI_EHOSTUNREACH ...), @param the private data of a reject.
 */
void eng_on_refused(struct eng_link *link, struct eng_peer *peer, int err,
		    const void *param, size_t paramlen);
/* eng_on_shutdown - the peer closed in good order; FI_SHUTDOWN on the EQ. */
void eng_on_shutdown(struct eng_link *link, struct eng_peer *peer);

#endif
