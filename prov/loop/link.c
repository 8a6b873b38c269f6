/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link.  From top to bottom: sending, connecting, receiving, polling, opening.
 */
#include "link.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/iov.h"
#include "channel/hold.h"
#include "engine/api.h"
#include "progress/fdset.h"

/* Longest payload that is sent before the receiver asks for it, and a piece of a longer one. */
#define EAGER_LIMIT (16u << 10)
#define SEG_SIZE (64u << 10)

#define RETRY_NS (1 * CLOCK_NS_PER_MS)	/* where memory was short */

struct loop_conf loop_conf = {
	.tx_size = 256,
	.rx_size = 256,
	.retry_ms = 1000,
	.timeout_ms = 15000,
};

static struct loop_link *loop_of(struct chan_link *link)
{
	return (struct loop_link *) link;	/* its first member */
}

static struct loop_chan *lchan_of(struct chan *chan)
{
	return (struct loop_chan *) chan;	/* its first member */
}

static struct loop_msg *msg_new(struct chan *chan, enum loop_kind kind, size_t len)
{
	return loop_msg_new(loop_of(chan->link)->inbox, kind, len);
}

/* ---- sending -------------------------------------------------------------------------- */

/* post_msg - send @msg in the connection or attempt of @chan.  A peer whose inbox is closed has
 * sent LOOP_CLOSE before, so nothing has to be done about it here.
 */
static void post_msg(struct chan *chan, struct loop_msg *msg)
{
	msg->ours = chan->ours;
	msg->serial = chan->serial;
	loop_inbox_post(lchan_of(chan)->to, msg);
}

/* post_packet - Errors: -FI_EAGAIN: no credits, or no memory. */
static int post_packet(struct chan *chan, const struct eng_pkt *pkt)
{
	struct loop_chan *lchan = lchan_of(chan);
	struct loop_msg *msg;

	msg = lchan->credits ? msg_new(chan, LOOP_PACKET, pkt->hdr_len + pkt->len) : NULL;
	if (!msg)
		return -FI_EAGAIN;
	msg->hdr_len = pkt->hdr_len;
	msg->len = pkt->len;
	memcpy(msg->bytes, pkt->hdr, pkt->hdr_len);
	iov_gather(pkt->iov, pkt->iov_cnt, 0, msg->bytes + pkt->hdr_len, pkt->len);
	lchan->credits--;
	post_msg(chan, msg);
	return 0;
}

/* wait_for_room - a LOOP_CREDIT leads to the next attempt, or a timer where memory is short. */
static void wait_for_room(struct chan *chan)
{
	if (lchan_of(chan)->credits)
		chan_timer_set(chan, chan_now(chan->link) + RETRY_NS);
}

/* flush_pending - send what waits, in order; from poll() only, since it calls done(). */
static void flush_pending(struct chan *chan)
{
	struct eng_pkt *pkt;

	while (chan->conn && !list_empty(&chan->pending)) {
		pkt = container_of(chan->pending.next, struct eng_pkt, node);
		if (post_packet(chan, pkt)) {
			wait_for_room(chan);
			return;
		}
		list_del(&pkt->node);
		pkt->done(pkt, 0);
	}
}

/* A packet is sent at once only if none waits, so that order is kept. */
static int send_pkt(void *chan_p, struct eng_pkt *pkt)
{
	struct chan *chan = chan_p;

	if (chan->conn && list_empty(&chan->pending)) {
		if (!post_packet(chan, pkt))
			return ENG_SEND_SENT;
		wait_for_room(chan);
	}
	return chan_queue(chan, pkt);
}

/* ---- connecting: what channel/chan.h asks of a link ------------------------------------ */

/* release_peer - the attempt or connection has ended here: tell the peer. */
static void release_peer(struct chan *chan)
{
	struct loop_chan *lchan = lchan_of(chan);

	post_msg(chan, lchan->bye);
	loop_inbox_put(lchan->to);
	lchan->bye = NULL;
	lchan->to = NULL;
}

/* The message that ends the attempt is allocated with it: ending must not lack memory. */
static int send_request(struct chan *chan)
{
	struct loop_chan *lchan = lchan_of(chan);
	struct loop_msg *msg;
	int ret;

	ret = loop_inbox_find(eng_peer_addr(chan_peer(chan)), &lchan->to);
	if (ret)
		return ret;
	msg = msg_new(chan, LOOP_REQUEST, 0);
	lchan->bye = msg_new(chan, LOOP_CLOSE, 0);
	if (!msg || !lchan->bye) {
		ret = -FI_ENOMEM;
		goto free_msgs;
	}
	msg->id = (struct chan_id) {
		.epoch = chan->link->epoch,
		.serial = chan->serial,
		.prev = chan->peer_serial,
	};
	chan->ours = true;
	post_msg(chan, msg);
	chan->asked = true;
	chan_timer_set(chan, chan_now(chan->link) + (uint64_t) loop_conf.timeout_ms * CLOCK_NS_PER_MS);
	return 0;

free_msgs:
	if (msg)
		loop_msg_free(msg);
	if (lchan->bye)
		loop_msg_free(lchan->bye);
	loop_inbox_put(lchan->to);
	lchan->bye = NULL;
	lchan->to = NULL;
	return ret;
}

static void close_conn(struct chan *chan, int err, bool orderly)
{
	release_peer(chan);
}

static bool chan_finish(struct chan *chan)
{
	return list_empty(&chan->pending);	/* what was posted is in the peer's memory */
}

static void on_timer(struct chan *chan, uint64_t now)
{
	char to[CHAN_TEXT_MAX];

	if (chan->state != CHAN_CONNECTING) {
		flush_pending(chan);
		return;
	}
	/* an endpoint that is closed answers, so this one is there: it is waited for */
	chan_overdue(chan);
	CHAN_WARN_SPARSE(chan->link, "%s does not answer: that endpoint makes no progress; does the "
			 "program read its queues? Waiting for it\n", chan_peer_text(chan, to));
}

static const char *chan_advice(const struct chan *chan, int err)
{
	switch (err) {
	case FI_EHOSTUNREACH:
		return "the provider loop reaches the endpoints of its own process alone; use shm "
		       "or tcp for those of another one";
	case FI_ECONNREFUSED:
		return "no endpoint of this process has that address";
	default:
		return NULL;
	}
}

static const char *name_text(const void *addr, size_t len, char buf[CHAN_TEXT_MAX])
{
	memcpy(buf, addr, strnlen(addr, CHAN_TEXT_MAX - 1));
	buf[strnlen(addr, CHAN_TEXT_MAX - 1)] = 0;
	return buf;
}

static const struct chan_ops chan_ops = {
	.connect = send_request,
	.abort = release_peer,
	.close = close_conn,
	.finish = chan_finish,
	.timer = on_timer,
	.advice = chan_advice,
	.text = name_text,
};

/* ---- receiving: handshakes --------------------------------------------------------------- */

static void refuse_request(struct loop_link *link, struct loop_msg *msg, enum chan_reason reason)
{
	struct loop_inbox *to = loop_inbox_get(msg->from);

	loop_inbox_put(msg->from);
	msg->from = loop_inbox_get(link->inbox);
	msg->kind = LOOP_REFUSE;
	msg->ours = false;
	msg->reason = reason;
	loop_inbox_post(to, msg);
	loop_inbox_put(to);
}

/* accept - the request becomes the answer, so no memory can be short. */
static void send_accept(struct chan *chan, struct loop_msg *msg, struct loop_msg *bye)
{
	struct loop_link *link = loop_of(chan->link);
	struct loop_chan *lchan = lchan_of(chan);
	struct chan_id id = msg->id;

	chan_taken(chan);
	lchan->to = msg->from;
	lchan->bye = bye;
	msg->from = loop_inbox_get(link->inbox);
	msg->kind = LOOP_ACCEPT;
	msg->id = (struct chan_id) {
		.epoch = link->base.epoch,
		.serial = id.serial,
		.prev = link->base.serial,
	};
	lchan->credits = LOOP_WINDOW;
	lchan->taken = 0;
	chan_up(chan, lchan->to, &id, false);
	post_msg(chan, msg);
	flush_pending(chan);
}

static void on_request(struct loop_link *link, struct loop_msg *msg)
{
	size_t len = strlen(msg->from->name) + 1;
	struct chan *chan = chan_find(&link->base, msg->from->name, len);
	struct loop_msg *bye = loop_msg_new(link->inbox, LOOP_CLOSE, 0);
	int order = strcmp(link->inbox->name, msg->from->name);
	enum chan_verdict verdict = chan && bye ? chan_decide(chan, order, &msg->id) : CHAN_REFUSE;

	if (verdict == CHAN_REPLACE)
		chan = chan_replace(chan, msg->from->name, len);
	if (!chan || !bye) {
		refuse_request(link, msg, CHAN_BUSY);
	} else if (verdict == CHAN_REFUSE) {
		refuse_request(link, msg, CHAN_SIMULTANEOUS);
	} else if (verdict == CHAN_SELF) {	/* what is sent arrives here */
		msg->kind = LOOP_ACCEPT;
		loop_inbox_post(link->inbox, msg);
	} else {
		send_accept(chan, msg, bye);
		bye = NULL;
	}
	if (bye)
		loop_msg_free(bye);
}

static void on_answer(struct chan *chan, const struct loop_msg *msg)
{
	struct loop_chan *lchan = lchan_of(chan);

	if (msg->kind == LOOP_ACCEPT) {
		lchan->credits = LOOP_WINDOW;
		lchan->taken = 0;
		chan_up(chan, lchan->to, &msg->id, true);
		flush_pending(chan);
		return;
	}
	release_peer(chan);
	if (msg->kind == LOOP_CLOSE)	/* the endpoint was closed before it answered */
		chan_connect_failed(chan, FI_ECONNREFUSED, false);
	else
		chan_refused(chan, msg->reason);
}

/* ---- receiving: connections ----------------------------------------------------------------- */

/* give_credits - the message of a packet that was taken goes back as a LOOP_CREDIT. */
static void give_credits(struct chan *chan, struct loop_msg *msg)
{
	struct loop_chan *lchan = lchan_of(chan);

	if (!chan->conn || ++lchan->taken < LOOP_CREDITS) {
		loop_msg_free(msg);
		return;
	}
	lchan->taken = 0;
	loop_inbox_put(msg->from);
	msg->from = loop_inbox_get(loop_of(chan->link)->inbox);
	msg->kind = LOOP_CREDIT;
	post_msg(chan, msg);
}

/* on_packet - Returns false if the engine has no memory for it now. */
static bool on_packet(struct chan *chan, struct loop_msg *msg)
{
	struct eng_link *base = &chan->link->base;
	struct eng_rx rx = {
		.hdr = msg->bytes,
		.hdr_len = msg->hdr_len,
		.data = msg->bytes + msg->hdr_len,
		.avail = msg->len,
		.len = msg->len,
	};

	switch (chan->link->closing ? ENG_RX_DONE : eng_on_packet(base, chan_peer(chan), &rx)) {
	case ENG_RX_LATER:
		lchan_of(chan)->later_seq = chan->link->poller->seq;
		return false;
	case ENG_RX_PLACE:
		iov_scatter(rx.iov, rx.iov_cnt, 0, rx.data, rx.len);
		eng_on_placed(base, rx.cookie, 0);
		break;
	case ENG_RX_BAD:
		chan_lost(chan, FI_EPROTO, false);
		break;
	case ENG_RX_OVER:
		chan_lost(chan, FI_EOVERRUN, false);
		break;
	default:
		break;
	}
	give_credits(chan, msg);
	return true;
}

/* msg_belongs - does @msg belong to what stands?  What was sent in a connection or an attempt
 * that has ended is passed over.
 */
static bool msg_belongs(const struct chan *chan, const struct loop_msg *msg)
{
	bool self = msg->from == loop_of(chan->link)->inbox;

	return (chan->state == CHAN_CONNECTING || chan->conn) && msg->serial == chan->serial &&
	       (msg->ours != chan->ours || self);
}

/* handle_msg - Returns false if @msg must be handled in a later poll.  Ownership: @msg is gone
 * otherwise.
 */
static bool handle_msg(struct loop_link *link, struct loop_msg *msg)
{
	struct chan *chan;

	if (msg->kind == LOOP_REQUEST && link->base.closing)
		return false;	/* close_inbox() answers it */
	if (msg->kind == LOOP_REQUEST) {
		on_request(link, msg);
		return true;
	}
	chan = chan_find(&link->base, msg->from->name, strlen(msg->from->name) + 1);
	if (!chan || !msg_belongs(chan, msg)) {
		loop_msg_free(msg);
		return true;
	}
	if (lchan_of(chan)->later_seq == link->base.poller->seq)
		return false;	/* behind one that waits */
	if (chan->state == CHAN_CONNECTING) {
		on_answer(chan, msg);
	} else if (msg->kind == LOOP_PACKET) {
		return on_packet(chan, msg);
	} else if (msg->kind == LOOP_CREDIT) {
		lchan_of(chan)->credits += LOOP_CREDITS;
		flush_pending(chan);
	} else if (msg->kind == LOOP_CLOSE) {
		chan_lost(chan, FI_ECONNRESET, true);
	}
	loop_msg_free(msg);
	return true;
}

/* ---- polling ---------------------------------------------------------------------------------- */

static int receive_msgs(struct loop_link *link, int budget)
{
	struct loop_msg *msg, *next;
	int done = 0;

	loop_inbox_take(link->inbox, &link->rx);
	list_for_each_entry_safe(msg, next, &link->rx, node) {
		if (done == budget) {
			((struct loop_poller *) link->base.poller)->more = true;
			break;
		}
		list_del(&msg->node);
		if (handle_msg(link, msg))
			done++;
		else
			list_add(&msg->node, next->node.prev);
	}
	return done;
}

/* receive_all - from the inboxes of all endpoints. */
static int receive_all(struct loop_poller *poller, int budget)
{
	struct loop_link *link;
	int done = 0;

	poller->more = false;
	list_for_each_entry(link, &poller->links, node)
		done += receive_msgs(link, budget);
	return done;
}

/* look_all - at all that has arrived, for a timer that is due. */
static bool look_all(struct chan_poller *base, int *done_p)
{
	struct loop_poller *poller = (struct loop_poller *) base;

	*done_p += receive_all(poller, OBJ_POLL_BUDGET);
	return !poller->more;
}

static int poll_all(struct obj_poller *base, unsigned budget)
{
	struct loop_poller *poller = (struct loop_poller *) base;
	int done = 0;

	chan_poller_begin(&poller->base);
	if (poller->base.timers.cnt)
		done = chan_poller_timers(&poller->base, look_all);
	done += receive_all(poller, (int) budget);
	poller->base.polling = false;
	return done;
}

/* poller_arm - the inboxes' descriptors show what is in them; the rest is done here. */
static int poller_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct loop_poller *poller = (struct loop_poller *) base;
	uint64_t due = UINT64_MAX, soon = clock_ns() + RETRY_NS;
	struct loop_link *link;

	if (poller->more)
		return -FI_EAGAIN;
	chan_poller_sleep(&poller->base, &due);
	list_for_each_entry(link, &poller->links, node)
		if (!list_empty(&link->rx) && soon < due)
			due = soon;
	if (due < *deadline_ns)
		*deadline_ns = due;
	return 0;
}

static void poller_close(struct obj_poller *base)
{
	chan_poller_free(&((struct loop_poller *) base)->base);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poll_all,
	.arm = poller_arm,
	.close = poller_close,
};

/* ---- opening ------------------------------------------------------------------------------------- */

static int join_poller(struct loop_link *link)
{
	struct loop_poller *poller;
	int ret;

	ret = chan_poller_get(link->base.base.prog, &poller_ops, sizeof(*poller), link->base.prov,
			      &link->base.poller);
	if (ret < 0)
		return ret;
	poller = (struct loop_poller *) link->base.poller;
	if (ret)
		list_init(&poller->links);
	ret = fdset_add(poller->base.base.fd, link->inbox->event.fd, POLLIN, NULL);
	if (ret)
		return ret;
	list_add_tail(&link->node, &poller->links);
	return 0;
}

/* close_inbox - requests that were not answered are, and the name is free. */
static void close_inbox(struct loop_link *link)
{
	struct loop_inbox *to;
	struct loop_msg *msg;

	loop_inbox_close(link->inbox, &link->rx);
	while ((msg = list_pop_entry(&link->rx, struct loop_msg, node))) {
		if (msg->kind != LOOP_REQUEST || msg->from == link->inbox) {
			loop_msg_free(msg);
			continue;
		}
		to = msg->from;
		msg->from = loop_inbox_get(link->inbox);
		msg->kind = LOOP_CLOSE;
		msg->ours = false;
		loop_inbox_post(to, msg);
		loop_inbox_put(to);
	}
	loop_inbox_put(link->inbox);
}

static int link_open(struct eng_ep *ep, struct eng_pep *pep, struct eng_link **link_p)
{
	struct loop_link *link = calloc(1, sizeof(*link));
	struct obj_ep *base = eng_ep_base(ep);
	struct chan_conf conf = {
		.retry_ms = loop_conf.retry_ms,
		.conn_timeout_ms = loop_conf.timeout_ms,
		.backoff_ns = 1 * CLOCK_NS_PER_MS,
		.yield_ns = 100 * CLOCK_NS_PER_MS,
	};
	int ret;

	if (!link)
		return -FI_ENOMEM;
	chan_link_init(&link->base, &chan_ops, &conf, base->prov);
	list_init(&link->rx);
	link->base.base.ops = &loop_link_ops;
	link->base.base.ep = ep;
	link->base.base.prog = base->prog;
	link->base.base.attr = (struct eng_link_attr) {
		.max_payload = SEG_SIZE,
		.eager_limit = EAGER_LIMIT,
		.seg_size = SEG_SIZE,
		.addr_len = LOOP_NAME_MAX,
		.same_host = true,
	};
	ret = loop_inbox_new(base->info->src_addr, &link->inbox);
	if (ret) {
		CHAN_WARN(&link->base, "the endpoint cannot be called %s: %s\n",
			  (const char *) base->info->src_addr, fi_strerror(-ret));
		goto free_link;
	}
	link->base.addr = link->inbox->name;
	link->base.addr_len = strlen(link->inbox->name) + 1;
	ret = join_poller(link);
	if (ret)
		goto close_inbox;
	*link_p = &link->base.base;
	return 0;

close_inbox:
	close_inbox(link);
free_link:
	free(link);
	return ret;
}

static void link_close(struct eng_link *base, int linger_ms)
{
	struct loop_link *link = loop_of(chan_link_of(base));

	chan_link_end(&link->base, linger_ms);
	fdset_remove(link->base.poller->base.fd, link->inbox->event.fd);
	list_del(&link->node);
	close_inbox(link);
	free(link);
}

static void *link_hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	return chan_hold_new(&chan_link_of(base)->poller->holds, sizeof(struct chan_hold), rx, false,
			     NULL);
}

const struct eng_link_ops loop_link_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "loop",
	.chan_size = sizeof(struct loop_chan),
	.open = link_open,
	.close = link_close,
	.getname = chan_getname,
	.setname = chan_setname_none,
	.look = chan_look,
	.peer_get = chan_peer_get,
	.peer_put = chan_peer_put,
	.send = send_pkt,
	.held = { .hold = link_hold, .pull = chan_pull, .unplace = chan_unplace_none },
};
