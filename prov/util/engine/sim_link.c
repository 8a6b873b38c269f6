/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/sim_link.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "engine/wire.h"

/* One packet under way, or held, or being placed. */
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
	bool shut;			/* nothing follows what is in @out */
	bool losing;			/* its end is being told, or is about to be */
	struct list node;		/* on link->chans */
};

/* Two ends; an end that has not shown up yet, or is gone, is NULL. */
struct conn {
	struct list node;
	struct chan *end[2];
	struct sockaddr_in addr[2];
	bool gone[2];			/* the end was there and left */
	bool fin;			/* ends once what is under way has arrived */
	int err;			/* broken */
	struct list to[2];		/* frames */
	uint64_t last[2];		/* arrival of the newest */
	/* connection management */
	bool msg;
	enum { ASKED, SHOWN, ACCEPTED, UP, REFUSED } cm;
	bool told[2];			/* the end has had on_connected */
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

static struct {
	struct sim_conf conf;
	uint64_t rnd;
	uint64_t now;
	struct list links, conns;
	size_t frames;
} sim;

unsigned sim_ops[256];

uint64_t sim_rnd(uint64_t n)
{
	sim.rnd = sim.rnd * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (sim.rnd >> 33) % n;
}

static bool chance(unsigned pct)
{
	return sim_rnd(100) < pct;
}

void sim_start(uint64_t seed, const struct sim_conf *conf)
{
	sim.conf = *conf;
	sim.rnd = seed * 2654435761u + 12345;
	sim.now = 1;
	sim.frames = 0;
	list_init(&sim.links);
	list_init(&sim.conns);
	memset(sim_ops, 0, sizeof(sim_ops));
}

static void frame_free(struct frame *f)
{
	list_del(&f->node);
	free(f->data);
	free(f);
	sim.frames--;
}

static void conn_free(struct conn *c)
{
	struct list *item;
	int i;

	for (i = 0; i < 2; i++)
		while ((item = list_pop(&c->to[i]))) {
			struct frame *f = container_of(item, struct frame, node);

			if (f->held)
				f->lost = f->avail < f->len;
			else
				frame_free(f);
		}
	list_del(&c->node);
	free(c);
}

bool sim_end(void)
{
	struct list *pos, *tmp;

	list_for_each_safe(pos, tmp, &sim.conns) {
		struct conn *c = container_of(pos, struct conn, node);

		if (!c->end[0] && !c->end[1])
			conn_free(c);
	}
	if (sim.frames || !list_empty(&sim.links) || !list_empty(&sim.conns))
		fprintf(stderr, "sim: %zu packets, links %s, connections %s\n", sim.frames,
			list_empty(&sim.links) ? "none" : "left",
			list_empty(&sim.conns) ? "none" : "left");
	return !sim.frames && list_empty(&sim.links) && list_empty(&sim.conns);
}

bool sim_idle(void)
{
	struct list *pos, *p2;

	list_for_each(pos, &sim.conns) {
		struct conn *c = container_of(pos, struct conn, node);

		if (!list_empty(&c->to[0]) || !list_empty(&c->to[1]) || c->fin || c->err)
			return false;
	}
	list_for_each(pos, &sim.links) {
		list_for_each(p2, &container_of(pos, struct sim_link, node)->chans)
			if (!list_empty(&container_of(p2, struct chan, node)->out))
				return false;
	}
	return true;
}

static void copy(void *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
}

static struct sim_link *link_of(struct eng_link *link)
{
	return container_of(link, struct sim_link, link);
}

static struct chan *chan_of(struct eng_peer *peer)
{
	return eng_peer_chan(peer);
}

static struct sim_link *find_link(const struct sockaddr_in *addr)
{
	struct list *pos;

	list_for_each(pos, &sim.links)
		if (container_of(pos, struct sim_link, node)->addr.sin_port == addr->sin_port)
			return container_of(pos, struct sim_link, node);
	return NULL;
}

static struct conn *new_conn(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
	struct conn *c = calloc(1, sizeof(*c));

	c->addr[0] = *from;
	c->addr[1] = *to;
	list_init(&c->to[0]);
	list_init(&c->to[1]);
	list_add_tail(&c->node, &sim.conns);
	return c;
}

static void join(struct conn *c, int side, struct sim_link *link, struct chan *chan)
{
	c->end[side] = chan;
	chan->conn = c;
	chan->side = side;
	chan->shut = false;
	list_init(&chan->out);
	list_add_tail(&chan->node, &link->chans);
}

/* ---- sending ---------------------------------------------------------------- */

static void transmit(struct conn *c, int to, const void *hdr, size_t hdr_len,
		     const struct iovec *iov, size_t cnt, size_t len)
{
	struct frame *f = calloc(1, sizeof(*f));
	size_t done;

	sim.frames++;
	memcpy(f->hdr, hdr, hdr_len);
	f->hdr_len = hdr_len;
	f->len = len;
	f->data = malloc(len ? len : 1);
	done = iov_gather(iov, cnt, 0, f->data, len);
	if (done != len) {	/* with NDEBUG too */
		fprintf(stderr, "sim: a packet of %zu bytes has a list of %zu\n", len, done);
		abort();
	}
	f->at = sim.now + sim_rnd(sim.conf.delay + 1);
	if (f->at < c->last[to])
		f->at = c->last[to];
	c->last[to] = f->at;
	list_add_tail(&f->node, &c->to[to]);
	sim_ops[f->hdr[0]]++;
}

static void transmit_pkt(struct chan *chan, struct eng_pkt *pkt)
{
	transmit(chan->conn, !chan->side, pkt->hdr, pkt->hdr_len, pkt->iov, pkt->iov_cnt,
		 pkt->len);
}

static int sim_peer_get(struct eng_link *link, struct eng_peer *peer)
{
	struct sim_link *sl = link_of(link);
	struct chan *chan = chan_of(peer);
	const struct sockaddr_in *to = eng_peer_addr(peer);
	struct list *pos;

	if (chan->conn)
		return 0;
	/* The other side may have begun already. */
	list_for_each(pos, &sim.conns) {
		struct conn *c = container_of(pos, struct conn, node);

		if (!c->msg && !c->err && !c->fin && !c->end[1] && !c->gone[1] &&
		    c->addr[0].sin_port == to->sin_port &&
		    c->addr[1].sin_port == sl->addr.sin_port) {
			join(c, 1, sl, chan);
			return 0;
		}
	}
	join(new_conn(&sl->addr, to), 0, sl, chan);
	return 0;
}

static int sim_send(struct eng_link *link, struct eng_peer *peer, struct eng_pkt *pkt)
{
	struct chan *chan = chan_of(peer);

	if (chan->losing) {
		fprintf(stderr, "sim: a packet for a peer whose loss is being told\n");
		abort();
	}
	if (!chan->conn || chan->conn->err)
		return -FI_ECONNRESET;
	if (!list_empty(&chan->out) || chance(sim.conf.queue_pct)) {
		list_add_tail(&pkt->node, &chan->out);
		return 0;
	}
	transmit_pkt(chan, pkt);
	return 1;
}

/* One at a time, as the engine has it. */
static uint8_t sim_short[ENG_HDR_MAX];

static void *sim_slot(struct eng_link *link, struct eng_peer *peer, size_t len)
{
	struct chan *chan = chan_of(peer);

	if (!chan->conn || chan->conn->err || !list_empty(&chan->out) ||
	    chance(sim.conf.queue_pct) || len > sizeof(sim_short))
		return NULL;
	return sim_short;
}

static void sim_post(struct eng_link *link, struct eng_peer *peer, size_t hdr_len, size_t len)
{
	struct iovec iov = { sim_short + hdr_len, len };
	struct chan *chan = chan_of(peer);

	transmit(chan->conn, !chan->side, sim_short, hdr_len, &iov, 1, len);
}

/* ---- endings ---------------------------------------------------------------- */

/* Lose what is under way from a random point on. */
static void truncate_queue(struct list *to)
{
	struct list *pos, *tmp;

	list_for_each_safe(pos, tmp, to) {
		struct frame *f = container_of(pos, struct frame, node);

		if (f->shown || sim_rnd(4))
			continue;
		while (pos != to) {
			tmp = pos->next;
			f = container_of(pos, struct frame, node);
			if (!f->shown)
				frame_free(f);
			pos = tmp;
		}
		return;
	}
}

bool sim_break(uint16_t a, uint16_t b)
{
	struct list *pos;

	list_for_each(pos, &sim.conns) {
		struct conn *c = container_of(pos, struct conn, node);
		uint16_t p0 = ntohs(c->addr[0].sin_port), p1 = ntohs(c->addr[1].sin_port);

		if (c->err || c->fin || !((p0 == a && p1 == b) || (p0 == b && p1 == a)))
			continue;
		truncate_queue(&c->to[0]);
		truncate_queue(&c->to[1]);
		c->err = FI_ECONNRESET;
		return true;
	}
	return false;
}

void sim_crash(uint16_t port)
{
	struct sockaddr_in addr = { .sin_port = htons(port) };

	find_link(&addr)->crash = true;
}

/* Packets and placements of an end that goes. */
static void fail_chan(struct sim_link *sl, struct chan *chan, int status)
{
	struct conn *c = chan->conn;
	struct list *item;

	chan->conn = NULL;
	chan->losing = true;
	while ((item = list_pop(&chan->out))) {
		struct eng_pkt *pkt = container_of(item, struct eng_pkt, node);

		pkt->done(pkt, status);
	}
	while ((item = list_pop(&c->to[chan->side]))) {
		struct frame *f = container_of(item, struct frame, node);
		void *cookie = f->placing ? f->cookie : NULL;

		if (f->held) {
			f->lost = f->avail < f->len;
			continue;
		}
		frame_free(f);
		if (cookie)
			eng_on_placed(&sl->link, cookie, status);
	}
	chan->losing = false;
	c->end[chan->side] = NULL;
	c->gone[chan->side] = true;
	list_del(&chan->node);
	/* What was sent waits for an end that has not shown up yet. */
	if (!c->end[!chan->side] &&
	    (c->gone[!chan->side] || c->err || !find_link(&c->addr[!chan->side])))
		conn_free(c);
}

static void sim_peer_put(struct eng_link *link, struct eng_peer *peer)
{
	struct chan *chan = chan_of(peer);

	if (chan->conn) {
		chan->conn->fin = true;
		fail_chan(link_of(link), chan, -FI_ECANCELED);
	}
}

static void sim_close(struct eng_link *link, int linger_ms)
{
	struct sim_link *sl = link_of(link);

	while (!list_empty(&sl->chans)) {
		struct chan *chan = container_of(sl->chans.next, struct chan, node);
		struct conn *c = chan->conn;
		struct list *item;

		if (sl->crash && !c->err) {
			truncate_queue(&c->to[!chan->side]);
		} else {
			while (!c->err && (item = list_pop(&chan->out))) {
				struct eng_pkt *pkt = container_of(item, struct eng_pkt, node);

				transmit_pkt(chan, pkt);
				pkt->done(pkt, 0);
			}
		}
		c->fin = true;
		fail_chan(sl, chan, -FI_ECANCELED);
	}
	list_del(&sl->node);
	list_del(&sl->poll_node);
	free(sl);
}

/* ---- arriving --------------------------------------------------------------- */

/* More of the payload comes in. */
static void arrive(struct frame *f)
{
	size_t from = f->avail, by = f->len - f->avail;

	if (by && chance(sim.conf.partial_pct))
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
	if (chance(sim.conf.nohold_pct))
		return NULL;
	shown_now->held = true;
	return shown_now;
}

static int sim_pull(struct eng_link *link, void *token, const struct iovec *iov, size_t cnt,
		    void *cookie)
{
	struct frame *f = token;

	assert(f->held && "a token is used once");
	f->held = false;
	if (f->lost) {
		frame_free(f);
		return -FI_ECONNRESET;
	}
	set_place(f, iov, cnt, cookie);
	if (f->avail < f->len)
		return 0;
	frame_free(f);
	return 1;
}

static void sim_drop(struct eng_link *link, void *token)
{
	struct frame *f = token;

	assert(f->held && "a token is used once");
	f->held = false;
	f->dropped = true;
	if (f->lost || f->avail == f->len)
		frame_free(f);
}

/* Show a header to the engine.  Returns false when the queue has to wait. */
static bool show(struct sim_link *sl, struct chan *chan, struct frame *f)
{
	struct conn *c = chan->conn;
	struct eng_rx rx = {
		.hdr = f->hdr, .hdr_len = f->hdr_len, .data = f->data,
		.avail = f->avail, .len = f->len,
	};

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

			frame_free(f);
			eng_on_placed(&sl->link, cookie, 0);
		} else {
			frame_free(f);
		}
	}
	return done;
}

static void cm_tell(struct sim_link *sl, struct chan *chan)
{
	struct conn *c = chan->conn;

	if (c->told[chan->side])
		return;
	c->told[chan->side] = true;
	eng_on_connected(&sl->link, eng_peer_of(chan), c->param[1],
			 chan->side ? 0 : c->param_len[1]);
}

/* Returns true when the channel is gone. */
static bool cm_refused(struct sim_link *sl, struct chan *chan)
{
	struct conn *c = chan->conn;
	struct eng_peer *peer = eng_peer_of(chan);
	uint8_t param[256];
	size_t len = c->param_len[1];

	memcpy(param, c->param[1], len);
	fail_chan(sl, chan, -FI_ECONNREFUSED);
	eng_on_refused(&sl->link, peer, FI_ECONNREFUSED, param, len);
	return true;
}

static bool poll_cm(struct sim_link *sl, struct chan *chan)
{
	struct conn *c = chan->conn;
	struct sim_link *to;

	switch (c->cm) {
	case ASKED:
		to = find_link(&c->addr[1]);
		return to && to->listening ? true : cm_refused(sl, chan);
	case REFUSED:
		return cm_refused(sl, chan);
	case ACCEPTED:
	case UP:
		cm_tell(sl, chan);
		c->cm = UP;
		return false;
	default:
		return true;
	}
}

static int poll_chan(struct sim_link *sl, struct chan *chan)
{
	struct eng_peer *peer = eng_peer_of(chan);
	struct conn *c = chan->conn;
	int done = 0, err;

	if (c->msg && poll_cm(sl, chan))
		return 1;
	if (!c->end[!chan->side] && !c->gone[!chan->side] && !find_link(&c->addr[!chan->side]))
		c->err = FI_ECONNREFUSED;
	while (!c->err && !list_empty(&chan->out) && !chance(30)) {
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
	fail_chan(sl, chan, -err);
	if (err == FI_ESHUTDOWN)
		eng_on_shutdown(&sl->link, peer);
	eng_on_down(&sl->link, peer, err);
	return done + 1;
}

/* Somebody has begun a connection to us. */
static void greet(struct sim_link *sl)
{
	struct list *pos, *tmp;

	list_for_each_safe(pos, tmp, &sim.conns) {
		struct conn *c = container_of(pos, struct conn, node);
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
		if (!peer || chan_of(peer)->conn)
			continue;
		join(c, 1, sl, chan_of(peer));
		eng_on_up(&sl->link, peer);
	}
}

static int poller_poll(struct obj_poller *poller, unsigned budget)
{
	struct sim_poller *sp = container_of(poller, struct sim_poller, poller);
	struct list *pos, *tmp, *cpos;
	int done = 0;

	sim.now++;
	list_for_each_safe(pos, tmp, &sp->links) {
		struct sim_link *sl = container_of(pos, struct sim_link, poll_node);
		struct list todo;

		greet(sl);
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
		if (obj_prog_add(prog, &sp->poller)) {
			free(sp);
			return -FI_ENOMEM;
		}
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
	if (find_link(&sl->addr)) {
		free(sl);
		return -FI_EADDRINUSE;
	}
	list_init(&sl->chans);
	sl->link.attr = (struct eng_link_attr) {
		.max_payload = (size_t) 1 << 30,
		.eager_limit = sim.conf.eager_limit,
		.seg_size = sim.conf.seg_size,
		.addr_len = sizeof(struct sockaddr_in),
	};
	if (join_poller(prog, sl)) {
		free(sl);
		return -FI_ENOMEM;
	}
	list_add_tail(&sl->node, &sim.links);
	*link_p = &sl->link;
	return 0;
}

static int sim_open(struct eng_ep *ep, struct eng_link **link_p)
{
	struct obj_ep *base = eng_ep_base(ep);

	return open_any(base->prog, base->info, base->type == FI_EP_RDM, link_p);
}

static int sim_pep_open(struct eng_pep *pep, struct eng_link **link_p)
{
	return open_any(eng_pep_base(pep)->prog, eng_pep_base(pep)->info, true, link_p);
}

static void sim_pep_close(struct eng_link *link)
{
	sim_close(link, 0);
}

static int sim_getname(struct eng_link *link, void *addr, size_t *len)
{
	size_t room = *len;

	*len = sizeof(struct sockaddr_in);
	copy(addr, &link_of(link)->addr, room < *len ? room : *len);
	return room < *len ? -FI_ETOOSMALL : 0;
}

static int sim_listen(struct eng_link *link, int backlog)
{
	link_of(link)->listening = true;
	return 0;
}

static int sim_connect(struct eng_link *link, struct eng_peer *peer, const void *addr,
		       size_t addrlen, const void *param, size_t paramlen)
{
	struct sim_link *sl = link_of(link);
	struct conn *c = new_conn(&sl->addr, addr);

	c->msg = true;
	c->cm = ASKED;
	copy(c->param[0], param, paramlen);
	c->param_len[0] = paramlen;
	join(c, 0, sl, chan_of(peer));
	return 0;
}

static int sim_accept(struct eng_link *link, struct eng_peer *peer, void *req,
		      const void *param, size_t paramlen)
{
	struct conn *c = req;

	copy(c->param[1], param, paramlen);
	c->param_len[1] = paramlen;
	c->cm = ACCEPTED;
	join(c, 1, link_of(link), chan_of(peer));
	return 0;
}

static void answer_no(struct conn *c, const void *param, size_t paramlen)
{
	copy(c->param[1], param, paramlen);
	c->param_len[1] = paramlen;
	c->cm = REFUSED;
	c->gone[1] = true;
	if (!c->end[0])
		conn_free(c);
}

static int sim_reject(struct eng_link *link, void *req, const void *param, size_t paramlen)
{
	answer_no(req, param, paramlen);
	return 0;
}

static void sim_req_drop(void *req)
{
	answer_no(req, NULL, 0);
}

static int sim_shutdown(struct eng_link *link, struct eng_peer *peer)
{
	struct chan *chan = chan_of(peer);

	if (!chan->conn)
		return -FI_ENOTCONN;
	chan->shut = true;
	return 0;
}

static int sim_getpeer(struct eng_link *link, struct eng_peer *peer, void *addr, size_t *len)
{
	struct chan *chan = chan_of(peer);
	size_t room = *len;

	*len = sizeof(struct sockaddr_in);
	copy(addr, &chan->conn->addr[!chan->side], room < *len ? room : *len);
	return room < *len ? -FI_ETOOSMALL : 0;
}

void sim_inject_packet(uint16_t from, uint16_t to, const void *hdr, size_t hdr_len,
		       const void *data, size_t len)
{
	struct iovec iov = { (void *) data, len };
	struct list *pos;

	list_for_each(pos, &sim.conns) {
		struct conn *c = container_of(pos, struct conn, node);
		int i;

		for (i = 0; i < 2; i++)
			if (ntohs(c->addr[i].sin_port) == to &&
			    ntohs(c->addr[!i].sin_port) == from && c->end[i]) {
				transmit(c, i, hdr, hdr_len, &iov, 1, len);
				return;
			}
	}
	assert(!"the two are connected");
}

static const struct eng_link_ops link_ops = {
	.size = sizeof(link_ops),
	.name = "sim",
	.chan_size = sizeof(struct chan),
	.open = sim_open,
	.close = sim_close,
	.getname = sim_getname,
	.peer_get = sim_peer_get,
	.peer_put = sim_peer_put,
	.slot = sim_slot,
	.post = sim_post,
	.send = sim_send,
	.hold = sim_hold,
	.pull = sim_pull,
	.drop = sim_drop,
	.pep_open = sim_pep_open,
	.pep_close = sim_pep_close,
	.listen = sim_listen,
	.connect = sim_connect,
	.accept = sim_accept,
	.reject = sim_reject,
	.req_drop = sim_req_drop,
	.shutdown = sim_shutdown,
	.getpeer = sim_getpeer,
	.cm_data_size = 200,
};

const struct eng_link_ops *const sim_transport = &link_ops;
