/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The state machine of a channel: connect on first use, from either side, and again after a
 * loss; retry with exponential backoff; simultaneous connects; parking; reporting.
 */
#include "channel/chan.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/net_addr.h"
#include "channel/route.h"
#include "channel/poller.h"
#include "channel/select.h"
#include "obj/cm.h"

#define BACKOFF_MAX_SHIFT 5	/* 32 times the first pause */
#define NAP_FIRST_NS 20000	/* while a close waits; doubled up to 1 ms */
#define BIT(state) (1u << (state))

/* Anything may become IDLE, and a request of the peer may make a channel ACCEPTING or READY
 * at any time.
 */
static const unsigned edges[] __attribute__((unused)) = {
	[CHAN_IDLE] = BIT(CHAN_QUEUED) | BIT(CHAN_CONNECTING) | BIT(CHAN_BACKOFF),
	[CHAN_QUEUED] = BIT(CHAN_CONNECTING) | BIT(CHAN_BACKOFF),
	[CHAN_CONNECTING] = BIT(CHAN_YIELDED) | BIT(CHAN_BACKOFF),
	[CHAN_YIELDED] = BIT(CHAN_QUEUED) | BIT(CHAN_CONNECTING) | BIT(CHAN_BACKOFF),
	[CHAN_BACKOFF] = BIT(CHAN_QUEUED) | BIT(CHAN_CONNECTING) | BIT(CHAN_BACKOFF),
	[CHAN_ACCEPTING] = BIT(CHAN_BACKOFF),
	[CHAN_READY] = BIT(CHAN_PARKING) | BIT(CHAN_PARKED),
	[CHAN_PARKING] = BIT(CHAN_PARKED),
	[CHAN_PARKED] = BIT(CHAN_QUEUED) | BIT(CHAN_CONNECTING) | BIT(CHAN_BACKOFF),
};

static void chan_attempt(struct chan *chan);

/* ---- links ------------------------------------------------------------------------ */

void chan_link_init(struct chan_link *link, const struct chan_ops *ops,
		    const struct chan_conf *conf, const struct fi_provider *prov)
{
	struct timespec ts;

	link->ops = ops;
	link->conf = *conf;
	link->prov = prov;
	list_init(&link->chans);
	while (!link->epoch)
		if (getrandom(&link->epoch, sizeof(link->epoch), 0) != sizeof(link->epoch))
			link->epoch = clock_ns();
	/* above those of an earlier life of the endpoint: a peer that has not heard of the restart
	 * tells us of the last serial that it knows
	 */
	clock_gettime(CLOCK_REALTIME, &ts);
	link->serial = (uint64_t) ts.tv_sec * CLOCK_NS_PER_S + (uint64_t) ts.tv_nsec;
}

static bool finish_all(struct chan_link *link)
{
	struct chan *chan, *next;
	bool all = true;

	list_for_each_entry_safe(chan, next, &link->chans, link_node)
		all &= link->ops->finish(chan);
	return all;
}

static void link_nap(const struct chan_link *link, uint64_t ns)
{
	if (link->ops->nap)
		link->ops->nap(ns);
	else
		nanosleep(&(struct timespec) { .tv_nsec = (long) ns }, NULL);
}

/* link_linger - poll until all that was sent has arrived; @ms at most, negative: without limit. */
static void link_linger(struct chan_link *link, int ms)
{
	uint64_t deadline = chan_now(link) + (uint64_t) (ms > 0 ? ms : 0) * CLOCK_NS_PER_MS;
	struct obj_poller *poller = &link->poller->base;
	uint64_t nap_ns = NAP_FIRST_NS;

	while (!finish_all(link) && (ms < 0 || chan_now(link) < deadline)) {
		if (poller->ops->poll(poller, OBJ_POLL_BUDGET))
			continue;
		link_nap(link, nap_ns);
		if (nap_ns < CLOCK_NS_PER_MS)
			nap_ns *= 2;
	}
}

void chan_link_end(struct chan_link *link, int linger_ms)
{
	/* what a further link cannot deliver goes to the endpoint's own */
	chan_select_close(link, linger_ms);
	link->closing = true;
	link_linger(link, linger_ms);
	while (!list_empty(&link->chans))
		chan_put(container_of(link->chans.next, struct chan, link_node), FI_ECANCELED);
	for (; link->used; link->used--)	/* those that are IDLE */
		timers_leave(&link->poller->timers);
}

int chan_getname(struct eng_link *base, struct eng_peer *peer, void *addr, size_t *len)
{
	struct chan_link *link = chan_link_of(base);

	return peer ? obj_cm_copy_name(eng_peer_addr(peer), eng_peer_addr_len(peer), addr, len) :
		      obj_cm_copy_name(link->addr, link->addr_len, addr, len);
}

int chan_setname_none(struct eng_link *base, const void *addr, size_t len)
{
	return -FI_ENOSYS;
}

uint64_t chan_now(const struct chan_link *link)
{
	return chan_poller_now(link->poller);
}

/* ---- texts ------------------------------------------------------------------------- */

const char *chan_text(const struct chan_link *link, const void *addr, size_t len,
		      char buf[CHAN_TEXT_MAX])
{
	struct sockaddr_storage copy = { .ss_family = AF_UNSPEC };	/* aligned, as @addr need not be */
	const struct sockaddr *sa = (const struct sockaddr *) &copy;

	_Static_assert(CHAN_TEXT_MAX >= NET_ADDR_TEXT_MAX, "room for an address");
	if (link->ops->text)
		return link->ops->text(addr, len, buf);
	memcpy(&copy, addr, len < sizeof(copy) ? len : sizeof(copy));
	if (len >= sizeof(sa->sa_family) && net_addr_len(sa) && net_addr_len(sa) <= len)
		return net_addr_text(sa, buf);
	snprintf(buf, CHAN_TEXT_MAX, "an address of %zu bytes", len);
	return buf;
}

const char *chan_peer_text(struct chan *chan, char buf[CHAN_TEXT_MAX])
{
	struct eng_peer *peer = chan_peer(chan);

	return chan_text(chan->link, eng_peer_addr(peer), eng_peer_addr_len(peer), buf);
}

static const char *chan_advice(const struct chan *chan, int err)
{
	const char *text = chan->link->ops->advice ? chan->link->ops->advice(chan, err) : NULL;

	return text ? text : "";
}

static void log_unreachable(struct chan *chan)
{
	struct chan_link *link = chan->link;
	const char *help = chan_advice(chan, chan->err);
	char text[CHAN_TEXT_MAX];

	if (chan->logged || link->closing)
		return;
	chan_peer_text(chan, text);
	if (link->msg)		/* the program gets an event with the error */
		CHAN_INFO(link, "cannot connect to %s: %s%s%s\n", text, fi_strerror(chan->err),
			  *help ? "; " : "", help);
	else
		CHAN_WARN_SPARSE(link, "cannot connect to %s: %s%s%s\n", text,
				 fi_strerror(chan->err), *help ? "; " : "", help);
}

static void log_loss(struct chan *chan, int err, bool clean)
{
	struct chan_link *link = chan->link;
	const char *help = chan_advice(chan, err);
	char text[CHAN_TEXT_MAX];

	if (chan->logged || link->closing)
		return;
	chan_peer_text(chan, text);
	if (clean && !link->msg && eng_peer_waits(chan_peer(chan)))
		CHAN_WARN_SPARSE(link, "%s closed the connection while operations waited for it; "
				 "has that process ended?\n", text);
	else if (clean)
		CHAN_INFO(link, "%s closed the connection\n", text);
	else if (err != FI_EPROTO)	/* the function that found that has logged it */
		CHAN_WARN_SPARSE(link, "lost the connection to %s: %s%s%s\n", text,
				 fi_strerror(err), *help ? "; " : "", help);
}

void chan_log_stall(struct chan *chan, uint64_t ns)
{
	char text[CHAN_TEXT_MAX];

	CHAN_WARN_SPARSE(chan->link, "%s has taken nothing for %u s of what was sent to it: its program "
			 "makes no progress (it computes, is stopped or swapped out, or is deadlocked), or "
			 "it cannot be reached; waiting for it\n", chan_peer_text(chan, text),
			 (unsigned) (ns / CLOCK_NS_PER_S));
}

/* ---- channels ------------------------------------------------------------------------ */

static void timer_fire(struct timer *timer, uint64_t now);

struct chan *chan_of(struct chan_link *link, struct eng_peer *peer)
{
	struct chan *chan = eng_peer_chan(peer);

	if (chan->link)
		return chan;
	if (timers_join(&link->poller->timers))
		return NULL;
	link->used++;
	chan->link = link;
	chan->timer.fire = timer_fire;
	list_init(&chan->pending);
	list_init(&chan->node);
	list_init(&chan->link_node);
	if (link->ops->init)
		link->ops->init(chan);
	return chan;
}

static void count_connecting(struct chan *chan, bool connecting)
{
	struct chan_poller *poller = chan->link->poller;

	if (connecting && !chan->counted)
		poller->connecting++;
	else if (!connecting && chan->counted)
		poller->connecting--;
	chan->counted = connecting;
}

static void chan_enter_state(struct chan *chan, enum chan_state state)
{
	assert((state == CHAN_IDLE || state == CHAN_READY || state == CHAN_ACCEPTING ||
		edges[chan->state] & BIT(state)) && "a channel changes along its edges");
	if (chan->state == CHAN_QUEUED)
		list_del(&chan->node);
	if (chan->state == CHAN_IDLE && state != CHAN_IDLE)
		list_add_tail(&chan->link_node, &chan->link->chans);
	if (state == CHAN_IDLE)
		list_del(&chan->link_node);
	if (state == CHAN_IDLE || state == CHAN_READY)
		chan->resumes = false;
	if (state != CHAN_CONNECTING)
		chan->asked = false;
	count_connecting(chan, state == CHAN_CONNECTING);
	chan->state = state;
}

void chan_set_state(struct chan *chan, enum chan_state state)
{
	chan_enter_state(chan, state);
	timer_off(&chan->link->poller->timers, &chan->timer);
}

void chan_timer_set(struct chan *chan, uint64_t due_ns)
{
	chan_poller_timer(chan->link->poller, &chan->timer, due_ns);
}

int chan_queue(struct chan *chan, struct eng_pkt *pkt)
{
	if (chan->state == CHAN_IDLE)
		return -FI_ENOTCONN;
	if (chan->failed)
		return -chan->err;
	pkt->sent = 0;
	list_add_tail(&pkt->node, &chan->pending);
	if (chan->state == CHAN_PARKED)
		chan_start(chan);
	return 0;
}

void chan_drain(struct chan *chan, int err)
{
	struct eng_pkt *pkt;
	struct list gone;

	/* what the engine sends meanwhile waits for the next connection */
	list_init(&gone);
	list_splice_tail(&chan->pending, &gone);
	while ((pkt = list_pop_entry(&gone, struct eng_pkt, node)))
		pkt->done(pkt, -err);
}

/* chan_disconnect - the link closes what it has for @chan; IDLE. */
static void chan_disconnect(struct chan *chan, int err, bool orderly)
{
	enum chan_state was = chan->state;

	chan_set_state(chan, CHAN_IDLE);
	if (was == CHAN_READY || was == CHAN_PARKING || was == CHAN_ACCEPTING)
		chan->link->ops->close(chan, err, orderly);
	else if (was == CHAN_CONNECTING)
		chan->link->ops->abort(chan);
	chan->conn = NULL;
	chan->failed = false;
}

void chan_put(struct chan *chan, int err)
{
	struct timers *timers = &chan->link->poller->timers;

	chan_disconnect(chan, err, true);
	chan_drain(chan, err);
	timers_leave(timers);
	chan->link->used--;
	chan->link = NULL;
}

void chan_peer_put(struct eng_link *base, struct eng_peer *peer)
{
	struct chan *chan = eng_peer_chan(peer);

	if (chan->link)
		chan_put(chan, FI_ECANCELED);
}

/* ---- connecting ------------------------------------------------------------------------ */

/* error_passes - is this an error that may pass by itself?  Ports in TIME_WAIT come back, a peer
 * that is being restarted listens again, descriptors are closed.
 */
static bool error_passes(int err)
{
	switch (err) {
	case FI_ECONNREFUSED:
	case FI_ECONNRESET:
	case FI_EADDRNOTAVAIL:
	case FI_EAGAIN:
	case FI_EMFILE:
	case EPIPE:
	case ENFILE:
	case ENOBUFS:
		return true;
	default:
		return false;
	}
}

static int retry_ms(const struct chan *chan, int err)
{
	const struct chan_link *link = chan->link;

	if (link->ops->retry_ms)
		return link->ops->retry_ms(chan, err);
	if (!error_passes(err))
		return 0;
	return chan->busy && link->conf.conn_timeout_ms > link->conf.retry_ms ?
	       link->conf.conn_timeout_ms : link->conf.retry_ms;
}

/* log_wait - an attempt that is repeated without end has failed for as long as connecting may take. */
static void log_wait(struct chan *chan, uint64_t now)
{
	const struct chan_link *link = chan->link;
	const char *help = chan_advice(chan, chan->err);
	char text[CHAN_TEXT_MAX];

	if (chan->logged || now < chan->failed_ns + (uint64_t) link->conf.conn_timeout_ms * CLOCK_NS_PER_MS)
		return;
	chan->logged = true;
	CHAN_WARN_SPARSE(link, "cannot connect to %s yet: %s%s%s; waiting for it\n", chan_peer_text(chan, text),
			 fi_strerror(chan->err), *help ? "; " : "", help);
}

void chan_connect_failed(struct chan *chan, int err, bool final)
{
	uint64_t now = chan_now(chan->link);
	unsigned shift;

	/* what was waited for without end leaves the next error its time, and its line in the log */
	if (chan->tries && err != chan->err && retry_ms(chan, chan->err) == INT_MAX) {
		chan->tries = 0;
		chan->logged = false;
	}
	if (!chan->tries)
		chan->failed_ns = now;
	chan->err = (int16_t) err;
	chan->logged |= err == FI_EPROTO;	/* the function that found that has logged it */
	chan->give_up = final || chan->link->msg || now >= chan->failed_ns +
			(uint64_t) retry_ms(chan, err) * CLOCK_NS_PER_MS;
	if (!chan->give_up && retry_ms(chan, err) == INT_MAX)
		log_wait(chan, now);
	shift = chan->tries < BACKOFF_MAX_SHIFT ? chan->tries : BACKOFF_MAX_SHIFT;
	chan->tries++;
	chan_set_state(chan, CHAN_BACKOFF);
	chan_timer_set(chan, chan->give_up ? 0 : now + (chan->link->conf.backoff_ns << shift));
}

static void wait_turn(struct chan *chan)
{
	if (chan->state != CHAN_QUEUED)
		chan_set_state(chan, CHAN_QUEUED);
	list_del(&chan->node);
	list_add_tail(&chan->node, &chan->link->poller->queued);
	chan_poller_kick(chan->link->poller);
}

/* held_back - the attempt waits for what is missing, for as long as connecting may take. */
static bool held_back(struct chan *chan, int err)
{
	struct chan_link *link = chan->link;
	uint64_t limit = (uint64_t) link->conf.conn_timeout_ms * CLOCK_NS_PER_MS;

	if (!link->ops->hold_back || !link->ops->hold_back(chan, err))
		return false;
	if (!chan->tries++)
		chan->failed_ns = chan_now(link);
	else if (chan_now(link) - chan->failed_ns > limit)
		return false;
	wait_turn(chan);
	return true;
}

/* attempts_begin - a row of attempts. */
static void attempts_begin(struct chan *chan)
{
	chan->first_ns = chan_now(chan->link);
	chan->knows = false;
	chan->tries = 0;
	chan->logged = false;
	chan->busy = false;
}

static int connect_once(struct chan *chan)
{
	int ret;

	chan->serial = ++chan->link->serial;
	chan->asked = false;
	timer_off(&chan->link->poller->timers, &chan->timer);
	ret = chan->link->ops->connect(chan);
	if (!ret && chan->state != CHAN_READY && chan->state != CHAN_CONNECTING)
		chan_enter_state(chan, CHAN_CONNECTING);	/* with the timer that connect() has set */
	return ret;
}

int chan_try(struct chan *chan)
{
	attempts_begin(chan);
	return connect_once(chan);
}

static void chan_attempt(struct chan *chan)
{
	struct chan_poller *poller = chan->link->poller;
	int ret;

	if (poller->hold_connects ||
	    (poller->connecting_max && poller->connecting >= poller->connecting_max)) {
		wait_turn(chan);
		return;
	}
	ret = connect_once(chan);
	if (ret && !held_back(chan, -ret))
		chan_connect_failed(chan, -ret, false);
}

void chan_poller_next(struct chan_poller *poller)
{
	struct list *last = poller->queued.prev, *item = NULL;

	/* one that has to wait again is behind the last */
	while (item != last && chan_poller_connects(poller)) {
		item = poller->queued.next;
		chan_attempt(container_of(item, struct chan, node));
	}
}

void chan_start(struct chan *chan)
{
	attempts_begin(chan);
	chan_attempt(chan);
}

void chan_overdue(struct chan *chan)
{
	count_connecting(chan, false);
}

void chan_refused(struct chan *chan, enum chan_reason reason)
{
	struct chan_link *link = chan->link;
	char text[CHAN_TEXT_MAX];

	if (reason == CHAN_NOT_YET || reason == CHAN_SIMULTANEOUS)
		chan->tries = 0;
	if (reason == CHAN_NOT_YET) {
		chan_connect_failed(chan, FI_EAGAIN, false);
	} else if (reason == CHAN_SIMULTANEOUS) {
		chan_set_state(chan, CHAN_YIELDED);
		chan_timer_set(chan, chan_now(link) + link->conf.yield_ns);
	} else {
		if (!link->main)	/* else another link remains */
			CHAN_WARN_SPARSE(link, "%s refused our connection: %s\n",
					 chan_peer_text(chan, text), chan_reason_text(reason));
		chan->logged = true;
		chan_connect_failed(chan, chan_reason_errno(reason), reason != CHAN_BUSY);
	}
}

/* chan_unreachable - the last attempt has failed: what waits for the peer ends with @err. */
static void chan_unreachable(struct chan *chan, int err, const void *data, size_t len)
{
	struct chan_link *link = chan->link;
	struct eng_peer *peer = chan_peer(chan);

	chan_set_state(chan, CHAN_IDLE);
	chan_drain(chan, err);
	if (link->closing)
		return;
	if (link->msg)
		eng_on_refused(&link->base, peer, err, data, len);
	else
		eng_on_down(&link->base, peer, err);
}

static void report_unreachable(struct chan *chan)
{
	if (chan->link->main && chan_select_elsewhere(chan, chan->err))
		return;
	log_unreachable(chan);
	chan_unreachable(chan, chan->err, NULL, 0);
}

void chan_rejected(struct chan *chan, const void *data, size_t len)
{
	chan_unreachable(chan, FI_ECONNREFUSED, data, len);
}

/* attempt_repeat - one more attempt, from poll().  If it was the last one, what waits ends now: the next poll may be
 * late.
 */
static void attempt_repeat(struct chan *chan)
{
	chan_attempt(chan);
	if (chan->state == CHAN_BACKOFF && chan->give_up)
		report_unreachable(chan);
}

static void timer_fire(struct timer *timer, uint64_t now)
{
	struct chan *chan = container_of(timer, struct chan, timer);

	switch (chan->state) {
	case CHAN_BACKOFF:
		if (chan->give_up)
			report_unreachable(chan);
		else
			attempt_repeat(chan);
		break;
	case CHAN_YIELDED:
		/* The peer's own attempt, which was to replace ours, did not arrive.  Its process may have ended
		 * meanwhile: connect again, and if it is only slow, it refuses once more, however often.
		 */
		attempt_repeat(chan);
		break;
	case CHAN_PARKED:	/* an operation waits for the peer: does it live? */
		if (eng_peer_waits(chan_peer(chan))) {
			chan_start(chan);
			break;
		}
		/* fall through */
	default:
		if (chan->link->ops->timer)
			chan->link->ops->timer(chan, now);
		break;
	}
}

/* ---- a connection stands, and ends -------------------------------------------------------- */

void chan_accepting(struct chan *chan, const struct chan_id *id)
{
	chan->serial = id->serial;
	chan->ours = false;
	chan->peer_epoch = id->epoch;
	chan->peer_serial = id->serial;
	if (chan->state == CHAN_IDLE)
		attempts_begin(chan);
	chan_set_state(chan, CHAN_ACCEPTING);
	/* the engine may send from now on */
	eng_on_up(&chan->link->base, chan_peer(chan));
}

static void log_route(struct chan *chan)
{
	char peer[CHAN_TEXT_MAX];

	if (fi_log_enabled(chan->link->prov, FI_LOG_WARN, FI_LOG_EP_CTRL))
		chan_route_log(chan, chan_peer_text(chan, peer));
}

void chan_up(struct chan *chan, void *conn, const struct chan_id *id, bool ours)
{
	bool known = chan->resumes || chan->state == CHAN_ACCEPTING;
	struct chan_link *link = chan->link;

	chan->conn = conn;
	chan->paths = NULL;
	chan->ours = ours;
	chan->failed = false;
	chan->logged = false;
	chan->peer_epoch = id->epoch;
	if (ours) {
		chan->peer_newest = id->prev;
	} else {
		chan->serial = id->serial;
		chan->peer_serial = id->serial;
		chan->peer_newest = id->serial;
	}
	chan_set_state(chan, CHAN_READY);
	log_route(chan);
	if (!known && !link->msg && !link->closing)
		eng_on_up(&link->base, chan_peer(chan));
}

/* chan_ended - all that waited for the peer ends with @err. */
static void chan_ended(struct chan *chan, int err, bool clean)
{
	struct eng_peer *peer = chan_peer(chan);
	struct chan_link *link = chan->link;

	chan_disconnect(chan, err, false);
	chan_drain(chan, err);
	if (link->closing)
		return;
	if (link->msg && clean)
		eng_on_shutdown(&link->base, peer);
	else
		eng_on_down(&link->base, peer, err);
}

void chan_lost(struct chan *chan, int err, bool clean)
{
	log_loss(chan, err, clean);
	chan_ended(chan, err, clean);
}

/* ---- requests of peers ---------------------------------------------------------------------- */

struct chan *chan_find(struct chan_link *link, const void *addr, size_t len)
{
	struct eng_peer *peer = eng_peer_find(&link->base, addr, len);

	return peer && chan_select_claim(link, peer) ? chan_of(link, peer) : NULL;
}

static struct chan_standing standing_of(const struct chan *chan, int order)
{
	struct chan_standing standing = {
		.have = CHAN_HAVE_NOTHING,
		.order = order,
		.self_epoch = chan->link->epoch,
		.peer_epoch = chan->peer_epoch,
		.serial = chan->serial,
	};

	if (chan->state == CHAN_READY || chan->state == CHAN_PARKING ||
	    chan->state == CHAN_ACCEPTING)
		standing.have = chan->ours ? CHAN_HAVE_OURS : CHAN_HAVE_THEIRS;
	else if (chan->state == CHAN_CONNECTING && chan->asked)
		standing.have = CHAN_HAVE_ATTEMPT;
	return standing;
}

enum chan_verdict chan_decide(const struct chan *chan, int order, const struct chan_id *id)
{
	struct chan_standing standing = standing_of(chan, order);
	enum chan_verdict verdict;

	if (chan->failed)
		return CHAN_REPLACE;
	verdict = chan_judge(&standing, id);
	/* a request that was simultaneous with the connection that is parked by now */
	if (verdict == CHAN_ACCEPT && chan->resumes && id->epoch == chan->peer_epoch &&
	    id->serial <= chan->peer_newest)
		return CHAN_REFUSE;
	return verdict;
}

enum chan_verdict chan_decide_published(const struct chan *chan, int order, uint32_t process,
					struct chan_id *id)
{
	struct chan_standing standing = standing_of(chan, order);
	enum chan_verdict verdict = chan->failed ? CHAN_REPLACE :
				    chan_judge_published(&standing, process);

	*id = (struct chan_id) {
		.epoch = process,
		/* of this endpoint itself: its own */
		.serial = verdict == CHAN_SELF ? chan->serial : chan->peer_serial + 1,
	};
	return verdict;
}

struct chan *chan_replace(struct chan *chan, const void *addr, size_t len)
{
	struct chan_link *link = chan->link;

	if (chan->state == CHAN_ACCEPTING) {	/* never confirmed, so nothing is lost */
		chan_taken(chan);
		return chan;
	}
	chan_ended(chan, FI_ECONNRESET, false);
	return chan_find(link, addr, len);
}

void chan_taken(struct chan *chan)
{
	if (chan->state == CHAN_CONNECTING || chan->state == CHAN_ACCEPTING)
		chan->link->ops->abort(chan);
	count_connecting(chan, false);
}

/* ---- parking ----------------------------------------------------------------------------------- */

void chan_parked(struct chan *chan, uint64_t check_ns)
{
	struct chan_link *link = chan->link;
	char text[CHAN_TEXT_MAX];

	CHAN_INFO(link, "the idle connection to %s is closed until it is needed\n",
		  chan_peer_text(chan, text));
	chan->conn = NULL;
	chan_set_state(chan, CHAN_PARKED);
	chan->resumes = true;
	if (!list_empty(&chan->pending))
		chan_start(chan);
	else if (check_ns)
		chan_timer_set(chan, chan_now(link) + check_ns);
}

void chan_forget(struct chan *chan)
{
	chan_ended(chan, FI_ECONNRESET, false);
}
