/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * chan.h - the life of a connection to a peer, once for all links.
 *
 * A channel is what a link keeps for one peer of one endpoint.  This layer decides when to
 * connect, when to try again, which of two simultaneous connects counts, what waits
 * meanwhile, and what is reported when a connection cannot be made or is lost.  The link
 * below (tcp, shm, rxd, rxm, loop) makes connections and moves bytes.
 *
 *	IDLE --start--> CONNECTING --chan_up--> READY --chan_lost--> IDLE
 *	                 |   ^                    |  ^
 *	        refused  |   | timer      idle    |  | next packet
 *	                 v   |                    v  |
 *	          BACKOFF, YIELDED, QUEUED      PARKED
 *
 * A request of the peer makes a channel ACCEPTING or READY from any state; chan_decide()
 * says whether it may.
 *
 * Use: a link's structure begins with struct chan_link, its memory behind each peer with
 * struct chan, its poller with struct chan_poller (poller.h).  Its table of eng_link_ops
 * has chan_peer_get, chan_peer_put, chan_getname as they are, and a send() that falls back
 * to chan_queue() where chan->conn is NULL.
 *
 * Threading: everything here runs under the lock of the endpoint's progress group.
 * Upcalls to the engine come from the poller's poll() and from close() alone; a failure
 * elsewhere is reported by a timer that is due at once.
 */
#ifndef CHAN_CHAN_H
#define CHAN_CHAN_H

#include <rdma/fabric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/timer.h"
#include "channel/handshake.h"
#include "channel/park.h"
#include "channel/simultaneous.h"
#include "engine/link.h"
#include "obj/log.h"

struct chan;
struct chan_check;
struct chan_link;
struct chan_route;
struct chan_paths;
struct chan_poller;
struct fi_provider;
struct inspect_peer;

#define CHAN_TEXT_MAX 256	/* an address for the log, NUL included */
#define CHAN_LOCAL_MAX 2	/* further links of an endpoint, see select.h */

enum chan_state {
	CHAN_IDLE,		/* no connection, none wanted */
	CHAN_QUEUED,		/* on poller->queued: an attempt waits for its turn */
	CHAN_CONNECTING,	/* our attempt is in flight */
	CHAN_YIELDED,		/* our attempt gave way to the peer's, which must arrive */
	CHAN_BACKOFF,		/* our attempt failed: another follows, or the failure is reported */
	CHAN_ACCEPTING,		/* the peer's request is answered; it has to confirm */
	CHAN_READY,		/* chan->conn carries packets */
	CHAN_PARKING,		/* the peer is asked for consent to close an idle connection */
	CHAN_PARKED,		/* an idle connection is closed; the next packet makes another */
};

/* What a link does.  Members that may be NULL say so. */
struct chan_ops {
	/* init - @chan is used for the first time; the link's part of it is zeroed.  May be NULL. */
	void (*init)(struct chan *chan);

	/* connect - make one attempt to reach chan_addr(chan); chan->serial is its number.
	 * The outcome follows by chan_up(), chan_refused() or chan_connect_failed(), from poll().
	 * Sets chan->asked once the peer may have seen our handshake, and chan->timer if the
	 * answer is not waited for without end: ops->timer() is called then.
	 * Errors: -FI_E*: the attempt failed at once, and nothing is left of it.
	 */
	int (*connect)(struct chan *chan);

	/* abort - end an attempt in flight, ours or one of the peer's that is not confirmed,
	 * without an upcall.
	 */
	void (*abort)(struct chan *chan);

	/* close - end the connection of a READY, PARKING or ACCEPTING channel.  Payload that was
	 * promised to the engine is reported with -@err (eng_on_placed); packets that wait are
	 * chan.c's.  @orderly: the engine forgets the peer, so what was sent shall still arrive.
	 */
	void (*close)(struct chan *chan, int err, bool orderly);

	/* finish - the endpoint closes: send what is left.  Returns true when all that was sent
	 * has reached the peer, or never will.
	 */
	bool (*finish)(struct chan *chan);

	/* retry_ms - for how long since the first failure an attempt that failed with @err is
	 * repeated; 0: never; INT_MAX: without end.  May be NULL: conf->retry_ms for errors that pass by themselves.
	 */
	int (*retry_ms)(const struct chan *chan, int err);

	/* idle - has the connection of @chan, which is READY, nothing to send and nothing half received?
	 * @used_p: [out] poller->seq when it was last used
	 * park - send @ctl behind all that was sent; with ASK, chan_park_on_ctl() has the answer.
	 * Returns 0; 1: the peer is this endpoint, and consents; -FI_EAGAIN, -FI_ENOMEM: nothing was sent.
	 * Both NULL: its connections are not parked (park.h).
	 */
	bool (*idle)(const struct chan *chan, uint64_t *used_p);
	int (*park)(struct chan *chan, enum chan_park_ctl ctl);

	/* ask - ask the endpoint at the peer's address whether the connection of @chan, which stands, stands
	 * there, too.  The answer follows by chan_check_answered(); until it has come, or is given up,
	 * check->asking is set.  May be NULL: no request replaces a connection that stands (check.h).
	 */
	int (*ask)(struct chan *chan, struct chan_check *check);

	/* hold_back - an attempt failed with @err for want of something that will be there again:
	 * the channel may wait in the queue instead.  Sets poller->hold_connects, and clears it
	 * when it is there; else the next poll tries again.  May be NULL.
	 */
	bool (*hold_back)(struct chan *chan, int err);

	/* timer - chan->timer is due in a state that is not chan.c's: CONNECTING, ACCEPTING,
	 * READY; or a PARKED channel that nothing waits for.  May be NULL.
	 */
	void (*timer)(struct chan *chan, uint64_t now);

	/* advice - what would help against @err, for the log, behind the error's own text.
	 * Returns NULL or "": nothing is known.  May be NULL.
	 */
	const char *(*advice)(const struct chan *chan, int err);

	/* route - what is known of the route of @chan, which is READY (route.h); @route is zeroed.  May be
	 * NULL.
	 */
	void (*route)(const struct chan *chan, struct chan_route *route);

	/* text - an address of this link's peers, for the log.  May be NULL: socket addresses. */
	const char *(*text)(const void *addr, size_t len, char buf[CHAN_TEXT_MAX]);

	/* nap - sleep for @ns of the poller's clock.  May be NULL: nanosleep(). */
	void (*nap)(uint64_t ns);
};

/* Times, from the link's environment. */
struct chan_conf {
	int retry_ms;			/* how long a refused attempt is repeated */
	int conn_timeout_ms;		/* how long one that has to wait for something is */
	uint64_t backoff_ns;		/* before the second attempt; doubled up to 32 times that */
	uint64_t yield_ns;		/* after which a promised attempt of the peer is asked for again */
	uint64_t parked_check_ns;	/* after which a parked peer that an operation waits for is connected
					 * to, so that its death is noticed; 0: never */
};

/* What every link begins with. */
struct chan_link {
	struct eng_link base;		/* first */
	const struct chan_ops *ops;
	struct chan_conf conf;
	const struct fi_provider *prov;	/* for log lines */
	struct chan_poller *poller;
	const void *addr;		/* our name, as peers know it; addr_len bytes */
	size_t addr_len;
	uint64_t epoch;			/* random, of this endpoint's life; never 0 */
	uint64_t serial;		/* of our last attempt; starts with the time of day in ns */
	bool msg;			/* FI_EP_MSG: the engine connects, once; nothing is repeated */
	bool closing;			/* nothing goes up but done() and eng_on_placed() */
	struct list chans;		/* struct chan by link_node: those that are not IDLE */
	unsigned used;			/* channels in use, the IDLE ones too */
	struct chan_link *main;		/* a further link's: the endpoint's own link; else NULL */
	struct chan_link *local[CHAN_LOCAL_MAX]; /* the own link's: further links, best first */
	unsigned local_cnt;
};

/* What the handshake of a peer says about its library, for texts (route.h). */
struct chan_said {
	uint8_t wire;		/* version of the link's bytes in use; 0: not known */
	uint8_t release[3];	/* major, minor, micro; all 0: not known */
	uint32_t commit;
};

/* What every link's memory behind a peer begins with; zeroed by the engine. */
struct chan {
	void *conn;		/* READY, PARKING: the link's connection; else NULL */
	enum chan_state state : 8;
	bool give_up : 1;	/* BACKOFF: the next poll reports @err */
	bool logged : 1;	/* the log has the cause already */
	bool busy : 1;		/* descriptors are short on either side: be patient */
	bool asked : 1;		/* CONNECTING: the peer may have seen our handshake */
	bool ours : 1;		/* the connection was made by our attempt */
	bool counted : 1;	/* CONNECTING: in poller->connecting */
	bool failed : 1;	/* the connection has failed, and the next poll reports it */
	bool resumes : 1;	/* since PARKED: the next connection goes on where the last ended */
	int16_t err;		/* BACKOFF: why the last attempt failed; positive */
	uint32_t tries : 22;	/* attempts that failed in a row */
	uint32_t knows : 1;	/* @said is valid, and not @first_ns */
	uint32_t beside : 1;	/* the peer is on this host, as its handshake says */
	uint32_t local_err : 8;	/* why no further link reaches the peer (chan_local_err()); 0: none was tried */
	struct chan_link *link;	/* NULL: not in use */
	struct list pending;	/* struct eng_pkt: packets that wait, in order */
	struct list node;	/* QUEUED: on poller->queued; READY: the link's to use */
	struct list link_node;	/* on link->chans */
	struct timer timer;
	union {
		uint64_t first_ns;	/* until READY: when the first of a row of attempts was made */
		struct chan_said said;	/* READY, ACCEPTING, if @knows */
	};
	union {
		uint64_t failed_ns;	/* until READY: when the first of them failed, for which @err is waited
					 * for; valid if tries > 0 */
		struct chan_paths *paths; /* READY: several connections (path.h); NULL: @conn alone */
	};
	uint64_t serial;	/* CONNECTING: of our attempt; READY, ACCEPTING: of the connection's */
	uint64_t peer_epoch;	/* of the last connection */
	uint64_t peer_serial;	/* newest attempt of the peer's that we accepted */
	uint64_t peer_newest;	/* newest attempt that the peer had made by the last connection */
};

/* ---- links ------------------------------------------------------------------------ */

/* chan_link_init - fill in @link (zeroed): a random epoch unless it has one, empty lists.
 * base.ops, base.attr, addr and poller are the caller's to set.
 */
void chan_link_init(struct chan_link *link, const struct chan_ops *ops,
		    const struct chan_conf *conf, const struct fi_provider *prov);

/* chan_link_end - the first half of a link's close(): further links are closed, what was
 * sent is given @linger_ms by the link's clock to arrive, all channels become IDLE.
 */
void chan_link_end(struct chan_link *link, int linger_ms);

/* chan_getname - eng_link_ops.getname: link->addr, or the address by which the engine knows the peer. */
int chan_getname(struct eng_link *base, struct eng_peer *peer, void *addr, size_t *len);

/* chan_setname_none - eng_link_ops.setname of a link that keeps its name as long as it is open: -FI_ENOSYS.
 */
int chan_setname_none(struct eng_link *base, const void *addr, size_t len);

static inline struct chan_link *chan_link_of(struct eng_link *base)
{
	return (struct chan_link *) base;	/* its first member */
}

/* chan_now - chan_poller_now() of the link's poller: time without polls does not count. */
uint64_t chan_now(const struct chan_link *link);

/* chan_text - an address for the log.  Returns @buf. */
const char *chan_text(const struct chan_link *link, const void *addr, size_t len,
		      char buf[CHAN_TEXT_MAX]);

/* chan_peer_text - the same for the peer of @chan. */
const char *chan_peer_text(struct chan *chan, char buf[CHAN_TEXT_MAX]);

/* ---- channels ----------------------------------------------------------------------- */

static inline struct eng_peer *chan_peer(struct chan *chan)
{
	return eng_peer_of(chan);
}

/* chan_local_err - a further link does not reach the peer: @err, positive; 0: none was tried. */
#define CHAN_LOCAL_ERR_MAX 255
static inline void chan_local_err(struct chan *chan, int err)
{
	chan->local_err = err < CHAN_LOCAL_ERR_MAX ? (uint8_t) err : CHAN_LOCAL_ERR_MAX;
}

/* chan_of - the channel of @link behind @peer, prepared on first use.  NULL: no memory. */
struct chan *chan_of(struct chan_link *link, struct eng_peer *peer);

/* chan_set_state - the only place where the state changes; asserts that the edge is legal.
 * Sets the timer off.  Leaving IDLE puts the channel on link->chans.
 */
void chan_set_state(struct chan *chan, enum chan_state state);

/* chan_timer_set - fire at @due_ns (0: in the next poll); replaces what was set. */
void chan_timer_set(struct chan *chan, uint64_t due_ns);

/* chan_look - eng_link_ops.look (route.c). */
void chan_look(struct eng_peer *peer, struct inspect_peer *rec, uint32_t want, char *path);

/* chan_peer_get, chan_peer_put - eng_link_ops; see select.h for the choice of the link. */
int chan_peer_get(struct eng_link *base, struct eng_peer *peer);
void chan_peer_put(struct eng_link *base, struct eng_peer *peer);

/* chan_start - connect an IDLE or PARKED channel: the first of a row of attempts.
 * Never calls up: what fails is reported by the next poll.
 */
void chan_start(struct chan *chan);

/* chan_try - the first attempt, which is not repeated.  Errors: of ops->connect; the channel
 * is as before.
 */
int chan_try(struct chan *chan);

/* chan_queue - send() of a channel without a connection: @pkt waits for the next one.
 * Returns 0; -FI_ENOTCONN in IDLE; -FI_E* of a connection whose failure is not reported yet.
 */
int chan_queue(struct chan *chan, struct eng_pkt *pkt);

/* chan_drain - done(-@err) for every packet that waits.  From poll() and close() only. */
void chan_drain(struct chan *chan, int err);

/* chan_put - end everything with the peer; what waits gets done(-@err).
 * The channel is IDLE afterwards, and not in use (chan->link is NULL).
 */
void chan_put(struct chan *chan, int err);

/* ---- what a link tells, from poll() ---------------------------------------------------- */

/* chan_connect_failed - our attempt failed with @err (positive), and nothing is left of it.
 * @final: it would fail again.  Otherwise it is repeated after a pause, for as long as
 * ops->retry_ms() says; then the failure is reported.  That of a MSG endpoint never is
 * repeated, and is reported as a refusal without private data.
 */
void chan_connect_failed(struct chan *chan, int err, bool final);

/* chan_overdue - the peer's answer is late, and has no timeout: our attempt no longer counts as
 * one of those that may be in flight at a time.
 */
void chan_overdue(struct chan *chan);

/* chan_refused - the peer refused our attempt, which the link has ended. */
void chan_refused(struct chan *chan, enum chan_reason reason);

/* chan_rejected - the program there has rejected the attempt of this MSG endpoint, which the
 * link has ended; @data is its private data.
 */
void chan_rejected(struct chan *chan, const void *data, size_t len);

/* chan_accepting - the link has answered the peer's request, which the peer must confirm
 * before there is a connection.  @id: what the request said.
 */
void chan_accepting(struct chan *chan, const struct chan_id *id);

/* chan_up - @conn carries the channel from now on: READY, and the engine is told.
 * @id:   what the peer's handshake said
 * @ours: our attempt; else the peer's
 * The link then sends what waits in chan->pending.
 */
void chan_up(struct chan *chan, void *conn, const struct chan_id *id, bool ours);

/* chan_log_stall - what was sent waits for the peer for @ns by now: a warning, which the link gives once
 * for each such stall, after CHAN_STALL_NS.
 */
#define CHAN_STALL_NS (10 * CLOCK_NS_PER_S)
void chan_log_stall(struct chan *chan, uint64_t ns);

/* chan_lost - the connection has ended with @err (positive): ops->close(), then all that
 * waited for the peer ends with it.  Logs why, unless chan->logged.
 * @clean: the peer closed it in good order; of a MSG endpoint that is a shutdown
 */
void chan_lost(struct chan *chan, int err, bool clean);

/* ---- requests of peers, from poll() ------------------------------------------------------ */

/* chan_find - the channel for a request of the peer at @addr, which arrived over @link.
 * NULL: no memory, or the peer is reached over another link: refuse it with CHAN_BUSY.
 */
struct chan *chan_find(struct chan_link *link, const void *addr, size_t len);

/* chan_decide - what to do about a request with handshake @id (simultaneous.h).
 * @addr: the peer's, in the byte order by which both sides compare
 */
enum chan_verdict chan_decide(const struct chan *chan, int order, const struct chan_id *id);

/* chan_decide_published - the same for a request in a published protocol (chan_judge_published()).
 * @id: [out] what it stands for: chan_accepting(), chan_up() take it; epoch is @process, and
 *      the serials of the peer's requests are counted here
 */
enum chan_verdict chan_decide_published(const struct chan *chan, int order, uint32_t process,
					struct chan_id *id);

/* chan_replace - CHAN_REPLACE: the connection that stands is dead.  Returns the channel for
 * the request, since the engine may have dropped the peer; NULL as chan_find().
 */
struct chan *chan_replace(struct chan *chan, const void *addr, size_t len);

/* chan_taken - CHAN_ACCEPT: our own attempt, if there is one, is ended silently. */
void chan_taken(struct chan *chan);

/* ---- parking ------------------------------------------------------------------------------- */

/* chan_parked - both sides have closed an idle connection; the link frees it.  Packets that
 * wait start the next one.
 * @check_ns: 0, or after how long a peer that an operation waits for is connected to, so that
 *            its death is noticed
 */
void chan_parked(struct chan *chan, uint64_t check_ns);

/* chan_continues - does the request or answer @id go on where the parked connection ended?
 * @resumes: its sender says that it does
 */
static inline bool chan_continues(const struct chan *chan, const struct chan_id *id, bool resumes)
{
	return resumes && id->epoch == chan->peer_epoch;
}

/* chan_forget - the peer does not know the parked connection: it was restarted, or has lost
 * us.  All that waited for it ends with FI_ECONNRESET.
 */
void chan_forget(struct chan *chan);

#define CHAN_WARN(link, ...) OBJ_WARN((link)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)
#define CHAN_WARN_SPARSE(link, ...) FI_WARN_SPARSE((link)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)
#define CHAN_INFO(link, ...) OBJ_INFO((link)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)

#endif
