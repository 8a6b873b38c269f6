/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fake_engine.h - the least engine that a link can be tested with.
 *
 * It sends packets that can be recognised, answers eng_on_packet() with every
 * verdict there is, by a seeded random number, and checks that each packet arrives
 * once, whole and in order, or is reported as lost.  One progress group, no locks.
 *
 * A link's tests include it from a header of their own (prov/LINK/test/fake.h), which
 * defines FAKE_OPS, FAKE_CHAN, FAKE_NAME, FAKE_DATA_MAX, the type fake_addr with
 * fake_addr_is() and fake_addr_set() before, and fake_start() behind it.  Included by one
 * source file of a test program: it defines the upcalls.
 */
#ifndef CHAN_FAKE_ENGINE_H
#define CHAN_FAKE_ENGINE_H

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/iov.h"
#include "engine/api.h"
#include "obj/test/calls.h"

#define FAKE_SHORT_MAX 128	/* payload of what may leave the short way */

struct fake_hdr {
	uint64_t seq;
	uint64_t len;
};

/* A packet being sent. */
struct fake_msg {
	struct eng_pkt pkt;
	struct eng_peer *peer;
	uint8_t data[];
};

/* A packet being received. */
struct fake_rx {
	struct list node;	/* held: on ep->held */
	struct eng_peer *peer;
	struct fake_hdr hdr;
	void *token;
	uint8_t *buf;		/* where it is placed */
	size_t room;		/* of buf; less than the payload for a truncated one */
};

struct eng_peer {
	struct list node;
	struct eng_ep *ep;
	fake_addr addr;
	bool wanted;		/* peer_get was called */
	uint64_t tx_seq;	/* packets sent */
	uint64_t done_cnt;	/* of them: sent or copied */
	uint64_t lost_cnt;	/* of them: done() with an error */
	uint64_t rx_seq;	/* packets begun */
	uint64_t rx_cnt;	/* packets complete */
	size_t moved;		/* bytes, eng_on_moving() */
	int up, down, connected, refused, shut;
	int err;		/* of the last down or refused */
	char data[FAKE_DATA_MAX];	/* private data of connected or refused */
	size_t data_len;
	_Alignas(16) uint8_t chan[sizeof(FAKE_CHAN)];
};

struct eng_ep {
	struct obj_ep base;	/* first */
	struct list node;	/* on fake_eps */
	struct fi_info info;
	struct eng_link *link;
	struct list peers;
	struct list held;
	unsigned holds;		/* on @held, and being pulled */
	unsigned placing;	/* eng_on_placed() outstanding */
	unsigned later;		/* percent of packets that are refused for now */
	bool quiet;		/* do not pull what is held */
	bool blind;		/* payload may be anything */
	bool whole;		/* each packet is wanted, in one buffer */
	unsigned verdict;	/* 1 + enum eng_rx_verdict of each packet; 0: by the dice */
};

struct eng_pep {
	struct obj_pep base;	/* first */
	struct fi_info info;
	struct eng_link *link;
	void *req;
	char data[FAKE_DATA_MAX];
	size_t data_len;
};

static struct obj_prog fake_prog;
/* All that are open.  In a child of the test, which is searched for leaks too, this list keeps
 * those of its parent reachable.
 */
static struct list fake_eps = { &fake_eps, &fake_eps };
static struct fi_provider fake_prov = { .name = FAKE_NAME };
static uint64_t fake_seed = 88172645463325252;
static int fake_done_status;	/* of the last done() */
static int fake_placed_status;	/* of the last eng_on_placed() */

static inline uint64_t fake_draw(void)
{
	fake_seed ^= fake_seed << 13;
	fake_seed ^= fake_seed >> 7;
	fake_seed ^= fake_seed << 17;
	return fake_seed;
}

static inline uint8_t fake_byte(uint64_t seq, size_t i)
{
	return (uint8_t) (seq * 151 + i * 7 + (i >> 8));
}

/* ---- upcalls ------------------------------------------------------------------- */

void eng_peer_bind(struct eng_peer *peer, struct eng_link *link)
{
}

void *eng_peer_chan(struct eng_peer *peer)
{
	return peer->chan;
}

struct eng_peer *eng_peer_of(void *chan)
{
	return container_of(chan, struct eng_peer, chan);
}

const void *eng_peer_addr(const struct eng_peer *peer)
{
	return &peer->addr;
}

size_t eng_peer_addr_len(const struct eng_peer *peer)
{
	return sizeof(peer->addr);
}

/* eng_peer_asks - as the test says. */
static bool fake_asks;
bool eng_peer_asks(const struct eng_peer *peer);
bool eng_peer_asks(const struct eng_peer *peer)
{
	return fake_asks;
}

bool eng_peer_waits(const struct eng_peer *peer)
{
	return peer->done_cnt < peer->tx_seq;
}

static struct eng_peer *fake_peer(struct eng_ep *ep, const void *addr)
{
	struct eng_peer *peer;

	list_for_each_entry(peer, &ep->peers, node)
		if (addr && fake_addr_is(&peer->addr, addr))
			return peer;
	peer = calloc(1, sizeof(*peer));
	peer->ep = ep;
	if (addr)
		fake_addr_set(&peer->addr, addr);
	list_add_tail(&peer->node, &ep->peers);
	return peer;
}

struct eng_peer *eng_peer_find(struct eng_link *link, const void *addr, size_t len)
{
	return fake_peer(link->ep, addr);
}

static void fake_verify(const struct fake_rx *rx)
{
	size_t i;

	for (i = 0; i < rx->room && i < rx->hdr.len && !rx->peer->ep->blind; i++)
		CHECK(rx->buf[i] == fake_byte(rx->hdr.seq, i));
	rx->peer->rx_cnt++;
}

static void fake_rx_free(struct fake_rx *rx)
{
	free(rx->buf);
	free(rx);
}

/* fake_room - a buffer cut into a few pieces; sometimes shorter than the payload. */
static size_t fake_room(struct fake_rx *rx, struct iovec *iov)
{
	bool whole = rx->peer->ep->whole;
	size_t cnt = whole ? 1 : 1 + fake_draw() % ENG_IOV_MAX, i, at = 0, part;

	rx->room = whole || fake_draw() % 8 ? rx->hdr.len : fake_draw() % (rx->hdr.len + 1);
	rx->buf = calloc(1, rx->room + 1);	/* valgrind does not see what a peer writes there */
	for (i = 0; i < cnt; i++) {
		part = i + 1 == cnt ? rx->room - at : (rx->room - at) / (1 + fake_draw() % 3);
		if (i + 1 < cnt && fake_draw() % 4 == 0)
			part = 0;
		iov[i] = (struct iovec) { rx->buf + at, part };
		at += part;
	}
	return cnt;
}

static enum eng_rx_verdict fake_verdict(struct eng_ep *ep)
{
	static const enum eng_rx_verdict dice[] = {
		ENG_RX_DONE, ENG_RX_HELD, ENG_RX_PLACE, ENG_RX_PLACE,
	};

	if (ep->verdict)
		return ep->verdict - 1;
	return ep->whole ? ENG_RX_PLACE : dice[fake_draw() % 4];
}

enum eng_rx_verdict eng_on_packet(struct eng_link *link, struct eng_peer *peer,
				  struct eng_rx *in)
{
	struct eng_ep *ep = link->ep;
	struct fake_hdr hdr;
	struct fake_rx *rx;

	CHECK(in->avail <= in->len);
	if (in->hdr_len != sizeof(hdr))
		return ENG_RX_BAD;
	memcpy(&hdr, in->hdr, sizeof(hdr));
	if (hdr.len != in->len || hdr.seq != peer->rx_seq)
		return ENG_RX_BAD;
	if (fake_draw() % 100 < ep->later || ep->verdict == 1 + ENG_RX_LATER)
		return ENG_RX_LATER;
	if (ep->verdict == 1 + ENG_RX_BAD)
		return ENG_RX_BAD;
	rx = calloc(1, sizeof(*rx));
	rx->peer = peer;
	rx->hdr = hdr;
	peer->rx_seq++;
	switch (fake_verdict(ep)) {
	case ENG_RX_DONE:
		if (in->avail == in->len) {
			rx->room = in->len;
			rx->buf = malloc(in->len + 1);
			memcpy(rx->buf, in->data, in->len);
			fake_verify(rx);
		} else {
			peer->rx_cnt++;		/* it is not wanted */
		}
		fake_rx_free(rx);
		return ENG_RX_DONE;
	case ENG_RX_HELD:
		rx->token = link->ops->held.hold(link, peer, in);
		CHECK(rx->token);
		list_add_tail(&rx->node, &ep->held);
		ep->holds++;
		return ENG_RX_HELD;
	default:
		in->iov_cnt = fake_room(rx, in->iov);
		in->cookie = rx;
		ep->placing++;
		return ENG_RX_PLACE;
	}
}

enum eng_fast eng_on_fast(void *chan, const uint8_t *hdr_p, size_t hdr_len, size_t len)
{
	struct eng_peer *peer = eng_peer_of(chan);
	struct fake_hdr hdr;
	size_t i;

	if (fake_draw() % 2 || hdr_len != sizeof(hdr))
		return fake_draw() % 2 ? ENG_FAST_NONE : ENG_FAST_UNEXPECTED;
	memcpy(&hdr, hdr_p, sizeof(hdr));
	if (hdr.len != len || hdr.seq != peer->rx_seq)
		return ENG_FAST_NONE;
	for (i = 0; i < len && !peer->ep->blind; i++)
		CHECK(hdr_p[hdr_len + i] == fake_byte(hdr.seq, i));
	peer->rx_seq++;
	peer->rx_cnt++;
	return fake_draw() % 2 ? ENG_FAST_DONE : ENG_FAST_LAST;
}

void eng_on_placed(struct eng_link *link, void *cookie, int status)
{
	struct fake_rx *rx = cookie;

	fake_placed_status = status;
	CHECK(link->ep->placing--);
	if (!status)
		fake_verify(rx);
	fake_rx_free(rx);
}

/* Protected payload goes either way. */
bool eng_is_receive(const void *cookie)
{
	return fake_draw() % 2;
}

void eng_on_up(struct eng_link *link, struct eng_peer *peer)
{
	peer->up++;
}

void eng_on_version(struct eng_peer *peer, unsigned version)
{
}

void eng_on_format(struct eng_peer *peer, enum eng_format format, struct list *pending)
{
}

bool eng_on_moving(struct eng_peer *peer, size_t len)
{
	peer->moved += len;
	return true;
}

void eng_on_moved(struct eng_peer *peer, size_t len)
{
	CHECK(peer->moved >= len);
	peer->moved -= len;
}

void eng_on_written(struct eng_link *link, struct eng_peer *peer, uint64_t len, uint64_t data)
{
}

void eng_on_down(struct eng_link *link, struct eng_peer *peer, int err)
{
	CHECK(err > 0);
	peer->down++;
	peer->err = err;
	peer->wanted = false;
	peer->rx_seq = 0;
	peer->tx_seq = 0;
}

void eng_on_connreq(struct eng_pep *pep, void *req, const void *src, size_t srclen,
		    const void *dest, size_t destlen, const void *param, size_t paramlen)
{
	CHECK(!pep->req);
	CHECK(srclen == 16 && destlen == 16);
	pep->req = req;
	memcpy(pep->data, param, paramlen);
	pep->data_len = paramlen;
}

static void fake_note(struct eng_peer *peer, const void *param, size_t paramlen)
{
	if (paramlen)
		memcpy(peer->data, param, paramlen);
	peer->data_len = paramlen;
}

void eng_on_connected(struct eng_link *link, struct eng_peer *peer, const void *param,
		      size_t paramlen)
{
	peer->connected++;
	fake_note(peer, param, paramlen);
}

void eng_on_refused(struct eng_link *link, struct eng_peer *peer, int err, const void *param,
		    size_t paramlen)
{
	peer->refused++;
	peer->err = err;
	fake_note(peer, param, paramlen);
}

void eng_on_shutdown(struct eng_link *link, struct eng_peer *peer)
{
	peer->shut++;
}

/* ---- the group ------------------------------------------------------------------- */

#ifndef FAKE_WITH_OBJ
#include "obj/test/fake_prog.h"
#endif

static inline int fake_poll(void)
{
	struct obj_poller *poller = container_of(fake_prog.pollers.next, struct obj_poller, node);

	atomic_fetch_add(&fake_prog.polls, 1);
	return poller->ops->poll(poller, OBJ_POLL_BUDGET);
}

static void fake_start(void);

static inline void fake_stop(void)
{
	struct obj_poller *poller;

	while ((poller = list_pop_entry(&fake_prog.pollers, struct obj_poller, node)))
		poller->ops->close(poller);
}

/* ---- endpoints --------------------------------------------------------------------- */

static inline void fake_drop_held(struct eng_ep *ep)
{
	struct fake_rx *rx;

	while ((rx = list_pop_entry(&ep->held, struct fake_rx, node))) {
		ep->link->ops->held.pull(ep->link, rx->token, NULL, 0, NULL);
		ep->holds--;
		fake_rx_free(rx);
	}
}

static inline void fake_close(struct eng_ep *ep, int linger_ms)
{
	struct eng_peer *peer;

	fake_drop_held(ep);
	ep->link->ops->close(ep->link, linger_ms);
	CHECK(!ep->placing);
	while ((peer = list_pop_entry(&ep->peers, struct eng_peer, node))) {
		CHECK(peer->done_cnt + peer->lost_cnt >= peer->tx_seq);
		free(peer);
	}
	list_del(&ep->node);
	free(ep->info.src_addr);
	free(ep);
}

/* ---- traffic ------------------------------------------------------------------------ */

static void fake_done(struct eng_pkt *pkt, int status)
{
	struct fake_msg *msg = container_of(pkt, struct fake_msg, pkt);

	fake_done_status = status;
	if (status)
		msg->peer->lost_cnt++;
	else
		msg->peer->done_cnt++;
	free(msg);
}

/* fake_once - one packet that is not kept; returns as send(). */
static inline int fake_once(struct eng_peer *peer, size_t len)
{
	const struct eng_link *link = peer->ep->link;
	struct fake_hdr hdr = { .seq = peer->tx_seq, .len = len };
	struct eng_pkt *pkt = calloc(1, sizeof(*pkt));
	uint8_t *data = malloc(len + 1);
	int ret = -FI_ENOBUFS;
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = fake_byte(hdr.seq, i);
	memcpy(pkt->hdr, &hdr, sizeof(hdr));
	pkt->hdr_len = sizeof(hdr);
	pkt->flags = ENG_PKT_ONCE;
	pkt->len = len;
	pkt->iov[0] = (struct iovec) { data, len };
	pkt->iov_cnt = 1;
	if (link->attr.once_max && len <= link->attr.once_max)
		ret = link->ops->send(peer->chan, pkt);
	memset(data, 0xee, len);	/* it is ours again */
	memset(pkt, 0xee, sizeof(*pkt));
	free(pkt);
	free(data);
	if (ret == -FI_EAGAIN || ret == -FI_ENOBUFS)
		return ret;
	if (ret < 0) {
		peer->lost_cnt++;
	} else {
		peer->tx_seq++;
		peer->done_cnt++;
	}
	return ret;
}

/* fake_not_kept - the same, but 0 where nothing has changed. */
static inline int fake_not_kept(struct eng_peer *peer, size_t len)
{
	int ret = fake_once(peer, len);

	return ret == -FI_EAGAIN || ret == -FI_ENOBUFS ? 0 : ret;
}

/* fake_post - one short packet the short way, where there is one; returns as post(), or 0. */
static inline int fake_post(struct eng_peer *peer, size_t len)
{
	const struct eng_link_ops *ops = peer->ep->link->ops;
	struct fake_hdr hdr = { .seq = peer->tx_seq, .len = len };
	uint8_t *slot = ops->slot ? ops->slot(peer->chan, sizeof(hdr) + len) : NULL;
	size_t i;
	int ret;

	if (!slot)
		return fake_not_kept(peer, len);
	memcpy(slot, &hdr, sizeof(hdr));
	for (i = 0; i < len; i++)
		slot[sizeof(hdr) + i] = fake_byte(hdr.seq, i);
	ret = ops->post(peer->chan, sizeof(hdr), len);
	CHECK(ret == 1 || ret < 0);
	if (ret < 0) {
		peer->lost_cnt++;
		return ret;
	}
	peer->tx_seq++;
	peer->done_cnt++;
	return ret;
}

/* fake_send - one packet of @len bytes; returns what send() or post() did. */
static inline int fake_send(struct eng_peer *peer, size_t len, uint32_t flags)
{
	struct eng_link *link = peer->ep->link;
	struct fake_msg *msg = malloc(sizeof(*msg) + len);
	struct fake_hdr hdr = { .seq = peer->tx_seq, .len = len };
	size_t i, at = 0, cnt = len ? 1 + fake_draw() % 3 : 0;
	int ret;

	if (!peer->wanted) {
		peer->wanted = true;
		CHECK(!link->ops->peer_get(link, peer));
	}
	ret = len <= FAKE_SHORT_MAX && !flags && fake_draw() % 2 ? fake_post(peer, len) : 0;
	if (ret) {
		free(msg);
		return ret;
	}
	memset(&msg->pkt, 0, sizeof(msg->pkt));
	msg->peer = peer;
	msg->pkt.flags = flags;
	msg->pkt.hdr_len = sizeof(hdr);
	memcpy(msg->pkt.hdr, &hdr, sizeof(hdr));
	msg->pkt.len = len;
	msg->pkt.done = fake_done;
	for (i = 0; i < len; i++)
		msg->data[i] = fake_byte(hdr.seq, i);
	for (i = 0; i < cnt; i++) {
		size_t part = i + 1 == cnt ? len - at : (len - at) / 2;

		msg->pkt.iov[i] = (struct iovec) { msg->data + at, part };
		at += part;
	}
	msg->pkt.iov_cnt = (uint16_t) cnt;
	peer->tx_seq++;
	ret = link->ops->send(peer->chan, &msg->pkt);
	if (ret > 0)
		peer->done_cnt++;
	if (ret < 0) {
		peer->tx_seq--;
		peer->lost_cnt++;
	}
	if (ret)
		free(msg);
	return ret;
}

/* fake_pull_some - move what is held to its place, or throw it away. */
static inline void fake_pull_some(struct eng_ep *ep)
{
	struct iovec iov[ENG_IOV_MAX];
	struct fake_rx *rx;
	size_t cnt;
	int ret;

	while (!ep->quiet && (rx = list_pop_entry(&ep->held, struct fake_rx, node))) {
		ep->holds--;
		if (fake_draw() % 4 == 0) {
			ep->link->ops->held.pull(ep->link, rx->token, NULL, 0, NULL);
			rx->peer->rx_cnt++;
			fake_rx_free(rx);
			continue;
		}
		cnt = fake_room(rx, iov);
		ep->placing++;
		ret = ep->link->ops->held.pull(ep->link, rx->token, iov, cnt, rx);
		if (!ret)
			continue;	/* eng_on_placed() follows */
		ep->placing--;
		if (ret > 0)
			fake_verify(rx);
		fake_rx_free(rx);
	}
}

/* fake_spent_ns - processor time of this process, which polls while it waits. */
static inline uint64_t fake_spent_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t) ts.tv_sec * CLOCK_NS_PER_S + (uint64_t) ts.tv_nsec;
}

/* FAKE_UNTIL - poll until @cond holds; fails after four times the @ms of polling that it takes at most. */
#define FAKE_UNTIL(ms, cond)							\
	do {									\
		uint64_t until_ = fake_spent_ns() + 4 * (ms) * CLOCK_NS_PER_MS;	\
		while (!(cond)) {						\
			fake_poll();						\
			CHECK(fake_spent_ns() < until_ && #cond);		\
		}								\
	} while (0)

/* fake_simultaneous - two new endpoints of @make connect to each other, @rounds times, the
 * second more or less soon after the first; each comes up once, and nothing is lost.
 */
static inline void fake_simultaneous(struct eng_ep *(*make)(fake_addr *name), int rounds)
{
	while (rounds--) {
		fake_addr a_name = { 0 }, b_name = { 0 };
		struct eng_ep *a = make(&a_name), *b = make(&b_name);
		struct eng_peer *ab = fake_peer(a, &b_name), *ba = fake_peer(b, &a_name);
		size_t i;

		for (i = 0; i < 4; i++)
			fake_send(ab, 10 + i, 0);
		for (i = fake_draw() % 4; i; i--)
			fake_poll();
		for (i = 0; i < 4; i++)
			fake_send(ba, 3000 * i, 0);
		FAKE_UNTIL(5000, (fake_pull_some(a), fake_pull_some(b),
				  ba->rx_cnt == 4 && ab->rx_cnt == 4));
		for (i = 0; i < 20; i++)
			fake_poll();
		CHECK(ab->up == 1 && ba->up == 1 && !ab->down && !ba->down);
		fake_close(a, 100);
		fake_close(b, 100);
	}
}

/* fake_call_rounds - one of the two processes; @in and @out are pipes to the other. */
static inline void fake_call_rounds(struct eng_ep *(*make)(fake_addr *name), int in, int out,
				    int rounds)
{
	struct eng_peer *peer;
	struct eng_ep *ep;
	fake_addr other;
	char byte;

	while (rounds--) {
		memset(&other, 0, sizeof(other));
		ep = make(&other);
		CHECK(write(out, &other, sizeof(other)) == sizeof(other));
		CHECK(read(in, &other, sizeof(other)) == sizeof(other));
		peer = fake_peer(ep, &other);
		fake_send(peer, 100, 0);
		fake_send(peer, 100000, 0);
		FAKE_UNTIL(5000, (fake_pull_some(ep), peer->rx_cnt == 2 && peer->done_cnt == 2));
		CHECK(peer->up == 1 && !peer->down);
		CHECK(write(out, "x", 1) == 1);
		CHECK(read(in, &byte, 1) == 1);
		CHECK(!peer->down);
		fake_close(ep, 1000);
	}
}

/* fake_two_processes - new endpoints of @make connect to each other, @rounds times; two
 * processes, so that both connects are in flight at the same time.
 */
static inline void fake_two_processes(struct eng_ep *(*make)(fake_addr *name), int rounds)
{
	int to[2], from[2], status;
	pid_t pid;

	CHECK(!pipe(to) && !pipe(from));
	pid = fork();
	if (!pid) {
		fake_start();
		fake_call_rounds(make, to[0], from[1], rounds);
		_exit(0);
	}
	fake_call_rounds(make, from[0], to[1], rounds);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	close(to[0]);
	close(to[1]);
	close(from[0]);
	close(from[1]);
}

#endif
