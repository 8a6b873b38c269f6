/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fake_link.h - an engine and links without any wire, under a virtual clock: the test plays
 * the peer.  Each upcall is checked to come from poll() or close() alone.
 * Included by one test program at a time: it defines the upcalls.
 */
#ifndef CHANNEL_TEST_FAKE_LINK_H
#define CHANNEL_TEST_FAKE_LINK_H

#include <rdma/fi_errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "channel/chan.h"
#include "channel/poller.h"
#include "channel/select.h"
#include "progress/group.h"

#define MS CLOCK_NS_PER_MS
#define ADDR_LEN 8
#define EPOCH 77		/* the peer's */

struct fake_chan {
	struct chan base;	/* first */
	bool ready;		/* init() was called */
	int conn;		/* chan_up() gets its address */
};

struct fake_link {
	struct chan_link base;	/* first */
	char addr[ADDR_LEN];
	struct eng_link_ops ops;
	int connect_ret;	/* of the next attempts */
	bool asks;		/* an attempt is seen by the peer at once */
	bool missing;		/* hold_back: what attempts need is missing */
	bool unfinished;	/* finish() says no */
	uint64_t answer_ns;	/* connect() sets the timer so much ahead; 0: no timer */
	unsigned connects, aborts, closes, finishes, timers;
	int close_err;
	bool close_orderly;
	struct fake_link *next;	/* on fake_links */
};

struct eng_peer {
	struct eng_link *link;
	char addr[ADDR_LEN];
	bool waits;
	unsigned ups, downs, refused, shutdowns;
	const void *data;	/* of the last refusal */
	size_t data_len;
	int err;
	struct fake_chan chan;
};

struct fake_pkt {
	struct eng_pkt pkt;
	unsigned done;
	int status;
	unsigned turn;		/* in the order of done() */
	struct eng_peer *peer;
	struct fake_pkt *next;	/* done() tries to send it */
	int next_ret;
};

static struct obj_prog *fake_prog;
static struct fake_link *fake_links;	/* all of the test, which frees them at its end */
static struct chan_poller *fake_poller;
static struct eng_peer *fake_found;	/* by eng_peer_find() */
static uint64_t fake_now;
static bool fake_may_call;		/* inside of poll() or close() */
static unsigned fake_turn;
static struct fi_provider fake_prov = { .name = "fake" };

/* ---- upcalls --------------------------------------------------------------------------- */

void *eng_peer_chan(struct eng_peer *peer)
{
	return &peer->chan;
}

struct eng_peer *eng_peer_of(void *chan)
{
	return container_of((struct fake_chan *) chan, struct eng_peer, chan);
}

const void *eng_peer_addr(const struct eng_peer *peer)
{
	return peer->addr;
}

size_t eng_peer_addr_len(const struct eng_peer *peer)
{
	return sizeof(peer->addr);
}

bool eng_peer_waits(const struct eng_peer *peer)
{
	return peer->waits;
}

struct eng_peer *eng_peer_find(struct eng_link *link, const void *addr, size_t len)
{
	return fake_found;
}

void eng_peer_bind(struct eng_peer *peer, struct eng_link *link)
{
	if (peer->link == link)
		return;
	peer->link->ops->peer_put(peer->link, peer);
	memset(&peer->chan, 0, sizeof(peer->chan));
	peer->link = link;
}

void eng_on_up(struct eng_link *link, struct eng_peer *peer)
{
	assert_true(fake_may_call);
	assert_false(chan_link_of(link)->closing);
	assert_ptr_equal(peer->link, link);
	peer->ups++;
}

void eng_on_version(struct eng_peer *peer, unsigned version)
{
}

void eng_on_down(struct eng_link *link, struct eng_peer *peer, int err)
{
	assert_true(fake_may_call);
	assert_false(chan_link_of(link)->closing);
	assert_true(err > 0);
	assert_true(!peer->chan.base.link || list_empty(&peer->chan.base.pending));	/* all done() */
	assert_int_equal(peer->chan.base.state, CHAN_IDLE);
	peer->downs++;
	peer->err = err;
}

void eng_on_refused(struct eng_link *link, struct eng_peer *peer, int err, const void *param,
		    size_t paramlen)
{
	assert_true(fake_may_call);
	assert_true(chan_link_of(link)->msg);
	peer->refused++;
	peer->err = err;
	peer->data = param;
	peer->data_len = paramlen;
}

/* Nothing is received here. */
void eng_on_placed(struct eng_link *link, void *cookie, int status)
{
	fail();
}

void eng_on_shutdown(struct eng_link *link, struct eng_peer *peer)
{
	assert_true(fake_may_call);
	assert_true(chan_link_of(link)->msg);
	peer->shutdowns++;
}

/* ---- the link --------------------------------------------------------------------------- */

static struct fake_link *fake_of(const struct chan *chan)
{
	return (struct fake_link *) chan->link;
}

static void fake_init(struct chan *chan)
{
	struct fake_chan *fake = (struct fake_chan *) chan;

	assert_false(fake->ready);
	fake->ready = true;
}

static int fake_connect(struct chan *chan)
{
	struct fake_link *link = fake_of(chan);

	link->connects++;
	assert_int_equal(chan->serial, link->base.serial);
	assert_null(chan->conn);
	if (link->connect_ret)
		return link->connect_ret;
	chan->asked = link->asks;
	if (link->answer_ns)
		chan_timer_set(chan, fake_now + link->answer_ns);
	return 0;
}

static void fake_abort(struct chan *chan)
{
	fake_of(chan)->aborts++;
}

static void fake_close(struct chan *chan, int err, bool orderly)
{
	struct fake_link *link = fake_of(chan);

	link->closes++;
	link->close_err = err;
	link->close_orderly = orderly;
}

static bool fake_finish(struct chan *chan)
{
	fake_of(chan)->finishes++;
	return !fake_of(chan)->unfinished;
}

static bool fake_hold_back(struct chan *chan, int err)
{
	struct fake_link *link = fake_of(chan);

	if (link->missing)
		link->base.poller->hold_connects = true;
	return link->missing;
}

static void fake_timer(struct chan *chan, uint64_t now)
{
	fake_of(chan)->timers++;
	assert_int_equal(now, fake_now);
	if (chan->state == CHAN_CONNECTING)
		chan_connect_failed(chan, FI_ETIMEDOUT, true);
}

static const char *fake_text(const void *addr, size_t len, char buf[CHAN_TEXT_MAX])
{
	memcpy(buf, addr, ADDR_LEN);
	return buf;
}

static uint64_t fake_clock(void)
{
	return fake_now;
}

static void fake_nap(uint64_t ns)
{
	fake_now += ns;
}

static struct chan_ops fake_ops = {
	.init = fake_init,
	.connect = fake_connect,
	.abort = fake_abort,
	.close = fake_close,
	.finish = fake_finish,
	.hold_back = fake_hold_back,
	.timer = fake_timer,
	.text = fake_text,
	.nap = fake_nap,
};

static const struct chan_conf fake_conf = {
	.retry_ms = 100,
	.conn_timeout_ms = 1000,
	.backoff_ns = 1 * MS,
	.yield_ns = 50 * MS,
};

static void fake_link_close(struct eng_link *base, int linger_ms)
{
	chan_link_end(chan_link_of(base), linger_ms);
}

static int fake_link_send(void *chan, struct eng_pkt *pkt)
{
	return chan_queue(chan, pkt);
}

static inline struct fake_link *fake_link(const char *name)
{
	struct fake_link *link = calloc(1, sizeof(*link));

	chan_link_init(&link->base, &fake_ops, &fake_conf, &fake_prov);
	link->ops = (struct eng_link_ops) {
		.size = sizeof(link->ops),
		.name = name,
		.chan_size = sizeof(struct fake_chan),
		.close = fake_link_close,
		.peer_get = chan_peer_get,
		.peer_put = chan_peer_put,
		.send = fake_link_send,
		.getname = chan_getname,
		.setname = chan_setname_none,
		.look = chan_look,
	};
	strcpy(link->addr, "self");
	link->base.addr = link->addr;
	link->base.addr_len = 5;
	link->base.base.ops = &link->ops;
	link->base.base.prog = fake_prog;
	link->base.base.attr = (struct eng_link_attr) {
		.max_payload = 1000, .eager_limit = 500, .seg_size = 800, .addr_len = ADDR_LEN,
	};
	link->base.poller = fake_poller;
	link->asks = true;
	link->next = fake_links;
	fake_links = link;
	return link;
}

static inline struct eng_peer *fake_peer(struct fake_link *link, const char *addr)
{
	struct eng_peer *peer = calloc(1, sizeof(*peer));

	peer->link = &link->base.base;
	strcpy(peer->addr, addr);
	return peer;
}

/* ---- the poller ---------------------------------------------------------------------------- */

/* What a look finds: a test puts it there, as if it had arrived. */
static void (*fake_arrived)(void);
static bool fake_more;			/* a look leaves something */
static unsigned fake_looks;

static bool fake_look(struct chan_poller *poller, int *done_p)
{
	fake_looks++;
	if (fake_arrived)
		fake_arrived();
	return !fake_more;
}

static int fake_poll_fn(struct obj_poller *base, unsigned budget)
{
	bool was = fake_may_call;
	int done;

	fake_may_call = true;
	chan_poller_begin(fake_poller);
	done = chan_poller_timers(fake_poller, fake_look);
	chan_poller_next(fake_poller);
	fake_poller->polling = false;
	fake_may_call = was;
	return done;
}

static int fake_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	return 0;
}

static void fake_poller_close(struct obj_poller *base)
{
	assert_int_equal(fake_poller->timers.owners, 0);	/* each channel has left */
	assert_int_equal(fake_poller->connecting, 0);
	chan_poller_free(fake_poller);
	fake_poller = NULL;
}

static const struct obj_poller_ops fake_poller_ops = {
	.poll = fake_poll_fn,
	.arm = fake_arm,
	.close = fake_poller_close,
};

static inline int fake_poll(void)
{
	return fake_poll_fn(&fake_poller->base, OBJ_POLL_BUDGET);
}

/* fake_poll_at - at @ns since the begin of the test, until when a thread sleeps on the descriptors. */
static inline int fake_poll_at(uint64_t ns)
{
	uint64_t due = UINT64_MAX;

	chan_poller_sleep(fake_poller, &due);
	fake_now = 1000000 * MS + ns;
	return fake_poll();
}

/* In a poll: for what a link tells. */
#define IN_POLL(call)				\
	do {					\
		fake_may_call = true;		\
		call;				\
		fake_may_call = false;		\
	} while (0)

static int fake_setup(void **state)
{
	fake_now = 1000000 * MS;
	fake_found = NULL;
	fake_turn = 0;
	fake_arrived = NULL;
	fake_more = false;
	fake_looks = 0;
	assert_int_equal(obj_prog_new(NULL, LOCK_NONE, &fake_prog), 0);
	assert_int_equal(chan_poller_get(fake_prog, &fake_poller_ops, sizeof(*fake_poller), &fake_prov,
					 &fake_poller), 1);
	chan_poller_clock(fake_poller, fake_clock);
	return 0;
}

static int fake_teardown(void **state)
{
	struct fake_link *link;

	obj_prog_put(fake_prog);
	assert_null(fake_poller);
	while ((link = fake_links)) {
		fake_links = link->next;
		free(link);
	}
	return 0;
}

/* A test with a progress group and its poller. */
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)

static inline void fake_link_end(struct fake_link *link)
{
	IN_POLL(chan_link_end(&link->base, 0));
	assert_true(list_empty(&link->base.chans));
}

/* ---- packets -------------------------------------------------------------------------------- */

static void fake_done(struct eng_pkt *pkt, int status)
{
	struct fake_pkt *fake = container_of(pkt, struct fake_pkt, pkt);

	fake->done++;
	fake->status = status;
	fake->turn = ++fake_turn;
	if (fake->next)
		fake->next_ret = chan_queue(&fake->peer->chan.base, &fake->next->pkt);
}

static inline int fake_send(struct eng_peer *peer, struct fake_pkt *fake)
{
	memset(fake, 0, sizeof(*fake));
	fake->pkt.done = fake_done;
	fake->pkt.sent = 7;
	fake->peer = peer;
	return chan_queue(&peer->chan.base, &fake->pkt);
}

/* fake_failed - the packets were done once each, in order, with -@err. */
static inline void fake_failed(const struct fake_pkt *pkts, unsigned cnt, int err)
{
	for (unsigned i = 0; i < cnt; i++) {
		assert_int_equal(pkts[i].done, 1);
		assert_int_equal(pkts[i].status, -err);
		assert_int_equal(pkts[i].turn, pkts[0].turn + i);
	}
}

/* fake_sent - what a link does with what waits: the packets are @pkts, in order. */
static inline void fake_sent(struct eng_peer *peer, const struct fake_pkt *pkts, unsigned cnt)
{
	struct list *item;

	for (unsigned i = 0; i < cnt; i++) {
		item = list_pop(&peer->chan.base.pending);
		assert_ptr_equal(item, &pkts[i].pkt.node);
		assert_int_equal(pkts[i].pkt.sent, 0);
		assert_int_equal(pkts[i].done, 0);
	}
	assert_true(list_empty(&peer->chan.base.pending));
}

static inline struct chan *fake_get(struct eng_peer *peer)
{
	assert_int_equal(peer->link->ops->peer_get(peer->link, peer), 0);
	return &peer->chan.base;
}

static inline void fake_up(struct chan *chan, bool ours, uint64_t epoch, uint64_t serial, uint64_t prev)
{
	struct chan_id id = { .epoch = epoch, .serial = serial, .prev = prev };

	IN_POLL(chan_up(chan, &((struct fake_chan *) chan)->conn, &id, ours));
}

#endif
