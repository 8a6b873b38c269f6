/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The simulated network as a link: what the engine calls. */
#include "engine/sim/conn.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/iov.h"

/* ---- sending ---------------------------------------------------------------- */

static void transmit_pkt(struct chan *chan, struct eng_pkt *pkt)
{
	sim_transmit(chan->conn, !chan->side, pkt->hdr, pkt->hdr_len, pkt->iov, pkt->iov_cnt,
		 pkt->len);
}

static int sim_peer_get(struct eng_link *link, struct eng_peer *peer)
{
	struct sim_link *sl = sim_link_of(link);
	struct chan *chan = sim_chan_of(peer);
	const struct sockaddr_in *to = eng_peer_addr(peer);
	struct conn *c;

	if (chan->conn)
		return 0;
	/* The other side may have begun already. */
	list_for_each_entry(c, &sim.conns, node) {
		if (!c->msg && !c->err && !c->fin && !c->end[1] && !c->gone[1] &&
		    c->addr[0].sin_port == to->sin_port &&
		    c->addr[1].sin_port == sl->addr.sin_port) {
			sim_join(c, 1, sl, chan);
			return 0;
		}
	}
	sim_join(sim_conn_new(&sl->addr, to), 0, sl, chan);
	return 0;
}

/* send_once - a packet that is not kept. */
static int send_once(struct chan *chan, struct eng_pkt *pkt)
{
	if (!chan->conn || chan->conn->err || !list_empty(&chan->out) || sim.stalled || chan->unformed ||
	    sim_chance(sim.conf.queue_pct) || sim_chance(sim.conf.once_not_pct))
		return -FI_ENOBUFS;
	if (sim.post_fails) {
		sim.post_fails = false;
		chan->conn->err = FI_ECONNRESET;
		return -FI_ECONNRESET;
	}
	transmit_pkt(chan, pkt);
	return ENG_SEND_SENT;
}

static int sim_send(void *chan_p, struct eng_pkt *pkt)
{
	struct chan *chan = chan_p;

	if (chan->losing) {
		fprintf(stderr, "sim: a packet for a peer whose loss is being reported\n");
		abort();
	}
	if (pkt->flags & ENG_PKT_ONCE)
		return send_once(chan, pkt);
	if (!chan->conn || chan->conn->err)
		return -FI_ECONNRESET;
	if (!list_empty(&chan->out) || sim.stalled || chan->unformed || sim_chance(sim.conf.queue_pct)) {
		list_add_tail(&pkt->node, &chan->out);
		return 0;
	}
	transmit_pkt(chan, pkt);
	return 1;
}

/* One at a time, as the engine has it. */
static uint8_t sim_short[ENG_HDR_MAX];

static void *sim_slot(void *chan_p, size_t len)
{
	struct chan *chan = chan_p;

	if (!chan->conn || chan->conn->err || !list_empty(&chan->out) || sim.stalled || chan->unformed ||
	    sim_chance(sim.conf.queue_pct) || len > sizeof(sim_short))
		return NULL;
	return sim_short;
}

void sim_stall(bool on)
{
	sim.stalled = on;
}

void sim_fail_post(void)
{
	sim.post_fails = true;
}

static int sim_post(void *chan_p, size_t hdr_len, size_t len)
{
	struct iovec iov = { sim_short + hdr_len, len };
	struct chan *chan = chan_p;

	if (sim.post_fails) {
		sim.post_fails = false;
		chan->conn->err = FI_ECONNRESET;
		return -FI_ECONNRESET;
	}
	sim_transmit(chan->conn, !chan->side, sim_short, hdr_len, &iov, 1, len);
	return 1;
}

/* ---- endings ---------------------------------------------------------------- */

static void sim_peer_put(struct eng_link *link, struct eng_peer *peer)
{
	struct chan *chan = sim_chan_of(peer);

	if (chan->conn) {
		chan->conn->fin = true;
		sim_chan_fail(sim_link_of(link), chan, -FI_ECANCELED);
	}
}

/* ---- arriving --------------------------------------------------------------- */

/* More of the payload comes in. */
static void arrive(struct frame *f)
{
	size_t from = f->avail, by = f->len - f->avail;

	if (sim.stalled)
		by = f->shown ? 0 : by / 2;
	else if (by && sim_chance(sim.conf.partial_pct))
		by = sim_rnd(by + 1);
	f->avail += by;
	if (f->placing)
		iov_scatter(f->iov, f->iov_cnt, from, f->data + from, by);
}

static void set_place(struct frame *f, const struct iovec *iov, size_t cnt, void *cookie)
{
	f->placing = true;
	memcpy(f->iov, iov, cnt * sizeof(*iov));
	f->iov_cnt = cnt;
	f->cookie = cookie;
	iov_scatter(iov, cnt, 0, f->data, f->avail);
}

static struct frame *shown_now;

static void *sim_hold(struct eng_link *link, struct eng_peer *peer, const struct eng_rx *rx)
{
	if (sim_chance(sim.conf.nohold_pct))
		return NULL;
	shown_now->held = true;
	return shown_now;
}

static void throw_away(struct frame *f)
{
	f->dropped = true;
	if (f->lost || f->avail == f->len)
		sim_frame_free(f);
}

static int sim_pull(struct eng_link *link, void *token, const struct iovec *iov, size_t cnt,
		    void *cookie)
{
	struct frame *f = token;

	assert(f->held && "a token is used once");
	f->held = false;
	if (!iov) {
		throw_away(f);
		return 1;
	}
	if (f->lost) {
		sim_frame_free(f);
		return -FI_ECONNRESET;
	}
	set_place(f, iov, cnt, cookie);
	if (f->avail < f->len)
		return 0;
	sim_frame_free(f);
	return 1;
}

/* show_short - what came in one piece, the way of a link with slots. */
static bool show_short(struct chan *chan, const struct frame *f)
{
	uint8_t body[ENG_HDR_MAX];

	if (f->avail < f->len || f->hdr_len + f->len > sizeof(body))
		return false;
	memcpy(body, f->hdr, f->hdr_len);
	memcpy(body + f->hdr_len, f->data, f->len);
	return eng_on_fast(chan, body, f->hdr_len, f->len) >= ENG_FAST_DONE;
}

/* Show a header to the engine.  Returns false when the queue has to wait. */
static bool show(struct sim_link *sl, struct chan *chan, struct frame *f)
{
	struct conn *c = chan->conn;
	struct eng_rx rx = {
		.hdr = f->hdr, .hdr_len = f->hdr_len, .data = f->data,
		.avail = f->avail, .len = f->len,
	};

	if (show_short(chan, f)) {
		f->shown = true;
		f->dropped = true;
		return true;
	}
	shown_now = f;
	switch (eng_on_packet(&sl->link, eng_peer_of(chan), &rx)) {
	case ENG_RX_DONE:
		f->shown = true;
		f->dropped = true;
		return true;
	case ENG_RX_PLACE:
		f->shown = true;
		set_place(f, rx.iov, rx.iov_cnt, rx.cookie);
		return true;
	case ENG_RX_HELD:
		assert(f->held && "held means hold() was called");
		f->shown = true;
		return true;
	case ENG_RX_LATER:
		f->held = false;
		return false;
	case ENG_RX_OVER:
		c->err = FI_EOVERRUN;
		return false;
	case ENG_RX_BAD:
	default:
		c->err = FI_EIO;
		return false;
	}
}

/* Returns packets that were finished. */
static int deliver(struct sim_link *sl, struct chan *chan)
{
	struct conn *c = chan->conn;
	struct list *to = &c->to[chan->side];
	int done = 0, budget = 8;

	while (budget-- && !list_empty(to)) {
		struct frame *f = container_of(to->next, struct frame, node);

		if (f->at > sim.now)
			break;
		arrive(f);
		if (!f->shown && !show(sl, chan, f))
			break;
		if (f->avail < f->len)
			break;
		done++;
		list_del(&f->node);
		if (f->held)
			continue;
		if (f->placing) {
			void *cookie = f->cookie;

			sim_frame_free(f);
			eng_on_placed(&sl->link, cookie, 0);
		} else {
			sim_frame_free(f);
		}
	}
	return done;
}

/* deliver_last - what arrives while the link lingers. */
static void deliver_last(struct sim_link *sl)
{
	struct chan *chan, *tmp;

	list_for_each_entry_safe(chan, tmp, &sl->chans, node)
		if (!chan->conn->err)
			deliver(sl, chan);
}

static void sim_close(struct eng_link *link, int linger_ms)
{
	struct sim_link *sl = sim_link_of(link);

	if (linger_ms && !sl->crash)
		deliver_last(sl);
	while (!list_empty(&sl->chans)) {
		struct chan *chan = container_of(sl->chans.next, struct chan, node);
		struct conn *c = chan->conn;
		struct eng_pkt *pkt;

		if (sl->crash && !c->err) {
			sim_truncate(&c->to[!chan->side]);
		} else {
			while (!c->err && (pkt = list_pop_entry(&chan->out, struct eng_pkt, node))) {
				transmit_pkt(chan, pkt);
				pkt->done(pkt, 0);
			}
		}
		c->fin = true;
		sim_chan_fail(sl, chan, -FI_ECANCELED);
	}
	list_del(&sl->node);
	list_del(&sl->poll_node);
	free(sl);
}

static int poll_chan(struct sim_link *sl, struct chan *chan)
{
	struct eng_peer *peer = eng_peer_of(chan);
	struct conn *c = chan->conn;
	int done = 0, err;

	if (c->msg && sim_cm_poll(sl, chan))
		return 1;
	if (!c->end[!chan->side] && !c->gone[!chan->side] && !sim_find(&c->addr[!chan->side]))
		c->err = FI_ECONNREFUSED;
	if (chan->unformed && !c->err) {
		chan->unformed = false;
		eng_on_format(peer, ENG_FORMAT_WHOLE, &chan->out);
	}
	while (!c->err && !sim.stalled && !list_empty(&chan->out) && !sim_chance(30)) {
		struct eng_pkt *pkt = container_of(chan->out.next, struct eng_pkt, node);

		list_del(&pkt->node);
		transmit_pkt(chan, pkt);
		pkt->done(pkt, 0);
		done++;
	}
	if (chan->shut && list_empty(&chan->out))
		c->fin = true;
	if (!c->err)
		done += deliver(sl, chan);
	err = c->err;
	if (!err && c->fin && list_empty(&c->to[chan->side]))
		err = c->msg ? FI_ESHUTDOWN : FI_ECONNRESET;
	if (!err)
		return done;
	sim_chan_fail(sl, chan, -err);
	if (err == FI_ESHUTDOWN)
		eng_on_shutdown(&sl->link, peer);
	eng_on_down(&sl->link, peer, err);
	return done + 1;
}

/* A peer has begun a connection to us. */
static void accept_new(struct sim_link *sl)
{
	struct conn *c, *tmp;

	list_for_each_entry_safe(c, tmp, &sim.conns, node) {
		struct eng_peer *peer;

		if (c->end[1] || c->gone[1] || c->err || c->addr[1].sin_port != sl->addr.sin_port)
			continue;
		if (c->msg) {
			if (c->cm == ASKED && sl->listening) {
				c->cm = SHOWN;
				eng_on_connreq(sl->link.pep, c, &sl->addr, sizeof(sl->addr),
					       &c->addr[0], sizeof(c->addr[0]), c->param[0],
					       c->param_len[0]);
			}
			continue;
		}
		peer = eng_peer_find(&sl->link, &c->addr[0], sizeof(c->addr[0]));
		if (!peer || sim_chan_of(peer)->conn)
			continue;
		sim_join(c, 1, sl, sim_chan_of(peer));
		eng_on_up(&sl->link, peer);
	}
}

static int poller_poll(struct obj_poller *poller, unsigned budget)
{
	struct sim_poller *sp = container_of(poller, struct sim_poller, poller);
	struct sim_link *sl, *tmp;
	struct list *cpos;
	int done = 0;

	sim.now++;
	list_for_each_entry_safe(sl, tmp, &sp->links, poll_node) {
		struct list todo;

		accept_new(sl);
		list_init(&todo);
		list_splice_tail(&sl->chans, &todo);
		while ((cpos = list_pop(&todo))) {
			list_add_tail(cpos, &sl->chans);
			done += poll_chan(sl, container_of(cpos, struct chan, node));
		}
	}
	return done;
}

static int poller_arm(struct obj_poller *poller, uint64_t *deadline_ns)
{
	return sim_idle() ? 0 : -FI_EAGAIN;
}

static void poller_close(struct obj_poller *poller)
{
	free(container_of(poller, struct sim_poller, poller));
}

static const struct obj_poller_ops poller_ops = {
	.poll = poller_poll,
	.arm = poller_arm,
	.close = poller_close,
};

/* ---- opening ---------------------------------------------------------------- */

static int join_poller(struct obj_prog *prog, struct sim_link *sl)
{
	static const char key;
	struct obj_poller *poller = obj_prog_find(prog, &key);
	struct sim_poller *sp;

	if (!poller) {
		sp = calloc(1, sizeof(*sp));
		sp->poller.ops = &poller_ops;
		sp->poller.key = &key;
		sp->poller.fd = -1;
		list_init(&sp->links);
		obj_prog_add(prog, &sp->poller);
		poller = &sp->poller;
	}
	sl->poller = container_of(poller, struct sim_poller, poller);
	list_add_tail(&sl->poll_node, &sl->poller->links);
	return 0;
}

static int open_any(struct obj_prog *prog, const struct fi_info *info, bool bind,
		    struct eng_link **link_p)
{
	static uint16_t spare = 50000;
	struct sim_link *sl = calloc(1, sizeof(*sl));

	if (info->src_addr && bind)
		memcpy(&sl->addr, info->src_addr, sizeof(sl->addr));
	sl->addr.sin_family = AF_INET;
	sl->addr.sin_addr.s_addr = htonl(SIM_HOST);
	if (!sl->addr.sin_port)
		sl->addr.sin_port = htons(spare++);
	if (sim_find(&sl->addr)) {
		free(sl);
		return -FI_EADDRINUSE;
	}
	list_init(&sl->chans);
	sl->link.attr = (struct eng_link_attr) {
		.max_payload = (size_t) 1 << 30,
		.eager_limit = sim.conf.eager_limit,
		.seg_size = sim.conf.seg_size,
		.addr_len = sizeof(struct sockaddr_in),
		.once_max = (size_t) 1 << 30,
		.same_host = sim.conf.same_host,
	};
	if (join_poller(prog, sl)) {
		free(sl);
		return -FI_ENOMEM;
	}
	list_add_tail(&sl->node, &sim.links);
	*link_p = &sl->link;
	return 0;
}

static int sim_open(struct eng_ep *ep, struct eng_pep *pep, struct eng_link **link_p)
{
	if (pep)
		return open_any(eng_pep_base(pep)->prog, eng_pep_base(pep)->info, true, link_p);
	return open_any(eng_ep_base(ep)->prog, eng_ep_base(ep)->info, eng_ep_base(ep)->type == FI_EP_RDM, link_p);
}

static int sim_getname(struct eng_link *link, struct eng_peer *peer, void *addr, size_t *len)
{
	size_t room = *len;

	if (peer)
		return sim_cm_getpeer(peer, addr, len);
	*len = sizeof(struct sockaddr_in);
	sim_copy(addr, &sim_link_of(link)->addr, room < *len ? room : *len);
	return room < *len ? -FI_ETOOSMALL : 0;
}

static int sim_setname(struct eng_link *link, const void *addr, size_t len)
{
	return -FI_ENOSYS;
}

static void sim_look(struct eng_peer *peer, struct inspect_peer *rec, uint32_t want, char *path)
{
}

static bool sim_unplace(struct eng_link *link, struct eng_peer *peer, void *cookie)
{
	return false;
}

static const struct eng_link_cm cm_ops = {
	.data_size = 200,
	.listen = sim_cm_listen,
	.connect = sim_cm_connect,
	.answer = sim_cm_answer,
	.shutdown = sim_cm_shutdown,
};

static const struct eng_link_ops link_ops = {
	.size = sizeof(link_ops),
	.name = "sim",
	.chan_size = sizeof(struct chan),
	.open = sim_open,
	.close = sim_close,
	.getname = sim_getname,
	.setname = sim_setname,
	.look = sim_look,
	.peer_get = sim_peer_get,
	.peer_put = sim_peer_put,
	.slot = sim_slot,
	.post = sim_post,
	.send = sim_send,
	.held = { .hold = sim_hold, .pull = sim_pull, .unplace = sim_unplace },
	.cm = &cm_ops,
};

const struct eng_link_ops *const sim_transport = &link_ops;
