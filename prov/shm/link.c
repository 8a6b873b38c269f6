/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link: what the engine calls.
 */
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "engine/api.h"
#include "engine/near.h"
#include "name.h"
#include "near.h"
#include "reach.h"

/* Longest payload that goes before it is asked for, and a piece of a longer one. */
#define EAGER_LIMIT (64u << 10)
#define SEG_SIZE (1u << 20)

/* A write from here on is copied by its caller: shorter ones are cheaper by packet. */
#define REACH_MIN 4096

static struct shm_link *link_of(struct eng_link *base)
{
	return container_of(base, struct shm_link, base);
}

static uint64_t random_epoch(void)
{
	uint64_t epoch = 0;

	while (!epoch)
		if (getrandom(&epoch, sizeof(epoch), 0) != sizeof(epoch))
			epoch = clock_ns();
	return epoch;
}

/* A process with one thread joins at once, any other when all processors have passed a
 * quiet moment: some 10 ms.
 */
static void join_once(void)
{
	shm_conf.barrier = shm_barrier_join();
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, join_once);
}

int shm_link_make(struct eng_ep *ep, const struct shm_naming *naming, struct shm_place place,
		  const void *src, size_t src_len, struct shm_link **link_p)
{
	struct obj_ep *base = eng_ep_base(ep);
	struct shm_link *link = calloc(1, sizeof(*link));
	int ret;

	if (!link)
		return -FI_ENOMEM;
	prepare();
	link->naming = naming;
	link->place = place;
	link->prov = base->prov;
	link->epoch = random_epoch();
	list_init(&link->conns);
	list_init(&link->chans);
	link->base.ops = &shm_link_ops;
	link->base.ep = ep;
	link->base.prog = base->prog;
	link->base.attr = (struct eng_link_attr) {
		.max_payload = SHM_PAYLOAD_MAX,
		.eager_limit = EAGER_LIMIT,
		.seg_size = SEG_SIZE,
		.addr_len = SHM_NAME_MAX,
		.rma_min = REACH_MIN,
	};
	ret = shm_poller_get(base->prog, &link->poller);
	if (!ret)
		ret = shm_wireup_open(link, src, src_len);
	if (ret) {
		free(link);
		return ret;
	}
	*link_p = link;
	return 0;
}

static int link_open(struct eng_ep *ep, struct eng_link **link_p)
{
	const struct fi_info *info = eng_ep_base(ep)->info;
	struct shm_place place = { eng_ep_base(ep)->prov->name, shm_conf.dir };
	struct shm_link *link;
	int ret;

	ret = shm_link_make(ep, &shm_naming, place, info->src_addr, info->src_addrlen, &link);
	if (!ret)
		*link_p = &link->base;
	return ret;
}

/* finish - Returns true when all that was sent is where the peers do not need us. */
static bool finish(void *arg)
{
	struct shm_link *link = arg;
	struct shm_chan *chan;
	struct list *pos;
	bool all = true;

	list_for_each(pos, &link->chans) {
		chan = container_of(pos, struct shm_chan, link_node);
		all &= list_empty(&chan->txq);
		if (!chan->conn || !~chan->conn->tx.free)
			continue;
		all = false;
		if (list_empty(&chan->txq) && chan->conn->state == SHM_CONN_READY)
			shm_tx_flush(chan->conn);
	}
	return all;
}

static void link_close(struct eng_link *base, int linger_ms)
{
	struct shm_link *link = link_of(base);
	struct list *pos, *next;

	link->closing = true;
	list_for_each(pos, &link->conns)
		container_of(pos, struct shm_conn, node)->plain = false;
	obj_poller_drain(&link->poller->base, finish, link, linger_ms);
	list_for_each_safe(pos, next, &link->chans)
		shm_chan_put(container_of(pos, struct shm_chan, link_node));
	while (!list_empty(&link->conns))
		shm_conn_close(container_of(link->conns.next, struct shm_conn, node), FI_ECANCELED);
	shm_wireup_close(link);
	free(link);
}

/* ---- names --------------------------------------------------------------------------------- */

static int link_getname(struct eng_link *base, void *addr, size_t *len)
{
	struct shm_link *link = link_of(base);
	size_t room = *len;

	*len = link->addr_len;
	if (room)
		memcpy(addr, link->addr, room < *len ? room : *len);
	return room < *len ? -FI_ETOOSMALL : 0;
}

static int link_setname(struct eng_link *base, const void *addr, size_t len)
{
	struct shm_link *link = link_of(base), was = *link;
	char text[SHM_TEXT_MAX];
	int ret;

	if (len >= SHM_ADDR_MAX)
		return -FI_EINVAL;
	if (!list_empty(&link->conns))
		return -FI_EBUSY;
	memset(link->addr, 0, sizeof(link->addr));
	memcpy(link->addr, addr, len);
	link->addr_len = link->naming->len(link->addr);
	ret = link->naming->key(link->addr, link->addr_len, link->key);
	if (!ret)
		ret = shm_door_open(&link->place, link->key);
	if (ret < 0) {
		SHM_WARN(link, "the endpoint cannot be called %s: %s\n",
			 link->naming->text(link->addr, link->addr_len, text), fi_strerror(-ret));
		memcpy(link->addr, was.addr, sizeof(was.addr));
		memcpy(link->key, was.key, sizeof(was.key));
		link->addr_len = was.addr_len;
		return ret;
	}
	shm_src_ignore(link->poller, &link->door);
	shm_door_close(link->door.fd, &link->place, was.key);
	link->door.fd = ret;
	return shm_src_watch(link->poller, &link->door);
}

/* ---- peers and packets ----------------------------------------------------------------------- */

static int peer_get(struct eng_link *base, struct eng_peer *peer)
{
	struct shm_link *link = link_of(base);

	return shm_wireup_get(link, shm_chan_of(link, peer));
}

static void peer_put(struct eng_link *base, struct eng_peer *peer)
{
	struct shm_chan *chan = eng_peer_chan(peer);

	if (chan->link)
		shm_chan_put(chan);
}

static int yield(struct eng_link *base, struct eng_peer *peer, struct list *pkts)
{
	struct shm_chan *chan = eng_peer_chan(peer);

	if (chan->state == SHM_CHAN_READY)
		return -FI_EISCONN;
	if (chan->link) {
		list_splice_tail(&chan->txq, pkts);
		shm_chan_put(chan);
	}
	return 0;
}

static int send_pkt(struct eng_link *base, struct eng_peer *peer, struct eng_pkt *pkt)
{
	struct shm_chan *chan = eng_peer_chan(peer);

	if (__builtin_expect(chan->conn != NULL, 1))
		return shm_tx_send(chan->conn, pkt);
	if (chan->state == SHM_CHAN_IDLE)
		return -FI_ENOTCONN;
	pkt->sent = 0;
	shm_tx_queue(chan, pkt);
	return 0;
}

static void *hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	return shm_rx_hold(link_of(base)->poller, rx);
}

static int pull(struct eng_link *base, void *token, const struct iovec *iov, size_t iov_cnt,
		void *cookie)
{
	return shm_rx_pull(token, iov, iov_cnt, cookie);
}

static void drop(struct eng_link *base, void *token)
{
	shm_rx_release(token);
}

static void grant(struct eng_link *base, struct eng_peer *peer, uint64_t key)
{
	struct shm_chan *chan = eng_peer_chan(peer);

	if (chan->conn)
		shm_reach_ask(chan->conn, key);
}

#define OPS							\
	.size = sizeof(struct eng_link_ops),			\
	.name = "shm",						\
	.chan_size = sizeof(struct shm_chan),			\
	.prepare = prepare,					\
	.close = link_close,					\
	.getname = link_getname,				\
	.peer_get = peer_get,					\
	.peer_put = peer_put,					\
	.slot = shm_tx_slot,					\
	.post = shm_tx_post,					\
	.send = send_pkt,					\
	.grant = grant,						\
	.rma = shm_reach,					\
	.hold = hold,						\
	.pull = pull,						\
	.drop = drop

const struct eng_link_ops shm_link_ops = {
	OPS,
	.named = shm_name_own,
	.open = link_open,
	.setname = link_setname,
};

const struct eng_link_ops shm_near_ops = {
	OPS,
	.open = shm_near_open,
	.yield = yield,
};
