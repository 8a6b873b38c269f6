/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * peer.c - peers of datagram endpoints: resolving them by queries, and finding the source of a
 * datagram among them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "verbs/dgram.h"
#include "verbs/name.h"
#include "verbs/ud.h"

#define DEFER_NS CLOCK_NS_PER_S	/* a deferred datagram waits so long for its source */
#define UNKNOWN_NS CLOCK_NS_PER_S	/* no query about the same unknown source for so long */
#define DEFER_MAX 1024u			/* deferred datagrams of an endpoint */
#define QUERY_MAX 64u			/* queries for the source of one datagram */

/* The poller of queries, one per group: its fd is written when one ends. */
struct vrb_resolver {
	struct obj_poller base;		/* first */
	struct list dgrams;
};

/* A received datagram whose source is not known yet. */
struct deferred {
	struct list node;
	struct vrb_rx rx;
	struct vrb_wc wc;
	struct vrb_qp_addr at;
	uint64_t deadline_ns;
};

/* ---- peers by source ------------------------------------------------------------ */

static uint64_t qp_addr_hash(const struct vrb_qp_addr *at)
{
	return hmap_hash(at->gid[0] ^ hmap_hash(at->gid[1] + ((uint64_t) at->lid << 32 | at->qpn)));
}

static bool qp_addr_equal(const struct vrb_qp_addr *a, const struct vrb_qp_addr *b)
{
	return a->gid[0] == b->gid[0] && a->gid[1] == b->gid[1] && a->lid == b->lid &&
	       a->qpn == b->qpn;
}

/* Peers with the same hash are a chain, the newest first. */
static void source_add(struct vrb_dgram *dg, struct vrb_peer *peer)
{
	uint64_t key = qp_addr_hash(&peer->at);

	peer->in_sources = true;
	peer->next = hmap_remove(&dg->sources, key);
	if (hmap_insert(&dg->sources, key, peer))
		peer->next = NULL;	/* no memory: its datagrams are reported without source */
}

static void source_del(struct vrb_dgram *dg, struct vrb_peer *peer)
{
	uint64_t key = qp_addr_hash(&peer->at);
	struct vrb_peer *head = hmap_remove(&dg->sources, key), **pos;

	for (pos = &head; *pos; pos = &(*pos)->next)
		if (*pos == peer) {
			*pos = peer->next;
			break;
		}
	if (head)
		hmap_insert(&dg->sources, key, head);	/* cannot fail: the slot was freed above */
}

/* The lowest address vector entry with this source, as fi_cq_readfrom() reports it. */
static fi_addr_t source_find(struct vrb_dgram *dg, const struct vrb_qp_addr *at)
{
	struct vrb_peer *peer = hmap_find(&dg->sources, qp_addr_hash(at));
	fi_addr_t addr = FI_ADDR_NOTAVAIL;

	for (; peer; peer = peer->next)
		if (qp_addr_equal(&peer->at, at) && peer->addr < addr)
			addr = peer->addr;
	return addr == FI_ADDR_NOTAVAIL ? addr : obj_av_user_id(dg->ep->base.av, addr);
}

/* ---- queries -------------------------------------------------------------------- */

static void peer_free(struct vrb_dgram *dg, struct vrb_peer *peer)
{
	if (peer->q) {
		list_del(&peer->node);
		vrb_name_end(peer->q, NULL, NULL);
	}
	if (peer->in_sources)
		source_del(dg, peer);
	if (peer->ah)
		vrb_ibv.destroy_ah(peer->ah);
	free(peer);
}

/* A query of an address vector entry is in flight from here on; the poller is active meanwhile. */
static int query_start(struct vrb_dgram *dg, struct vrb_peer *peer)
{
	_Alignas(struct sockaddr_storage) unsigned char to[OBJ_ADDR_MAX];
	struct vrb_ep *ep = dg->ep;
	size_t len = sizeof(to);
	int ret = obj_av_addr(ep->base.av, peer->addr, to, &len);

	if (!ret)
		ret = vrb_name_query(ep->domain->pd, rdma_get_local_addr(ep->cm.id),
				   (struct sockaddr *) to, dg->resolver->base.fd, &peer->q);
	if (ret)
		return ret;
	peer->err = 0;
	list_add_tail(&peer->node, &dg->queries);
	obj_poller_rest(&dg->resolver->base, false);
	return 0;
}

static int peer_new(struct vrb_dgram *dg, fi_addr_t addr, struct vrb_peer **peer_p)
{
	struct vrb_peer *peer = calloc(1, sizeof(*peer));
	int ret;

	if (!peer)
		return -FI_ENOMEM;
	peer->addr = addr;
	ret = hmap_insert(&dg->peers, addr, peer);
	if (ret)
		goto err_free;
	ret = query_start(dg, peer);
	if (ret)
		goto err_remove;
	*peer_p = peer;
	return 0;

err_remove:
	hmap_remove(&dg->peers, addr);
err_free:
	free(peer);
	return ret;
}

/* Take the answer of a query, if it has ended.  Returns whether it has. */
static bool query_done(struct vrb_dgram *dg, struct vrb_peer *peer)
{
	struct rdma_ud_param found;

	if (!vrb_name_answered(peer->q))
		return false;
	peer->err = vrb_name_end(peer->q, &peer->ah, &found);
	peer->q = NULL;
	list_del(&peer->node);
	if (!peer->err && dg->ep->direct)
		peer->err = vrb_mlx5_av(peer->ah, found.qp_num, found.qkey, &peer->av);
	if (peer->err) {
		if (peer->ah)
			vrb_ibv.destroy_ah(peer->ah);
		peer->ah = NULL;
		return true;
	}
	peer->qpn = peer->at.qpn = found.qp_num;
	peer->qkey = found.qkey;
	if (found.ah_attr.is_global)
		memcpy(peer->at.gid, &found.ah_attr.grh.dgid, sizeof(peer->at.gid));
	else
		peer->at.lid = found.ah_attr.dlid;
	if (dg->grhs)
		source_add(dg, peer);
	return true;
}

/* The lock is released while waiting: the address may leave the av meanwhile. */
static struct vrb_peer *query_wait(struct vrb_dgram *dg, fi_addr_t addr)
{
	struct lock *lock = &dg->ep->base.prog->lock;
	struct vrb_peer *peer;
	unsigned seen;

	for (;;) {
		seen = vrb_name_answers();
		peer = hmap_find(&dg->peers, addr);
		if (!peer || !peer->q || query_done(dg, peer))
			return peer;
		lock_put(lock);
		vrb_name_wait(seen);
		lock_get(lock);
	}
}

/* ---- peers that are named by their queue pair ----------------------------------- */

static int ud_addr(struct vrb_dgram *dg, fi_addr_t addr, struct ib_ud *ud)
{
	_Alignas(struct sockaddr_storage) unsigned char bytes[OBJ_ADDR_MAX];
	size_t len = sizeof(bytes);
	int ret = obj_av_addr(dg->ep->base.av, addr, bytes, &len);

	if (!ret)
		memcpy(ud, bytes, sizeof(*ud));
	return ret;
}

/* The peer of an av entry, perhaps without an address handle. */
static int ud_peer(struct vrb_dgram *dg, fi_addr_t addr, const struct ib_ud *ud,
		   struct vrb_peer **peer_p)
{
	struct vrb_peer *peer = hmap_find(&dg->peers, addr);
	int ret;

	*peer_p = peer;
	if (peer)
		return 0;
	peer = calloc(1, sizeof(*peer));
	ret = peer ? hmap_insert(&dg->peers, addr, peer) : -FI_ENOMEM;
	if (ret) {
		free(peer);
		return ret;
	}
	peer->addr = addr;
	peer->qpn = ntohl(ud->qpn);
	peer->qkey = ntohl(ud->qkey);
	vrb_ud_to_qp_addr(dg->ud, ud, &peer->at);
	if (dg->grhs)
		source_add(dg, peer);
	*peer_p = peer;
	return 0;
}

/* Store @ah as the peer's address handle, unless another call has stored one meanwhile. */
static int ud_reached(struct vrb_dgram *dg, fi_addr_t addr, const struct ib_ud *ud,
		      struct ibv_ah *ah, struct vrb_peer **peer_p)
{
	struct ib_ud now;
	int ret = ud_addr(dg, addr, &now);

	if (!ret && memcmp(ud, &now, sizeof(now)))
		ret = -FI_EINVAL;
	if (!ret)
		ret = ud_peer(dg, addr, ud, peer_p);
	if (!ret && !(*peer_p)->ah && dg->ep->direct)
		ret = vrb_mlx5_av(ah, (*peer_p)->qpn, (*peer_p)->qkey, &(*peer_p)->av);
	if (ret || (*peer_p)->ah)
		vrb_ibv.destroy_ah(ah);
	else
		(*peer_p)->ah = ah;
	return ret;
}

/* Neighbour discovery may take long: the lock is released. */
static int ud_resolve(struct vrb_dgram *dg, fi_addr_t addr, struct vrb_peer **peer_p)
{
	struct lock *lock = &dg->ep->base.prog->lock;
	struct ibv_ah *ah;
	struct ib_ud ud;
	int ret = ud_addr(dg, addr, &ud);

	if (ret)
		return ret;
	lock_put(lock);
	ret = vrb_ud_ah(dg->ep, dg->ud, &ud, &ah);
	lock_get(lock);
	return ret ? ret : ud_reached(dg, addr, &ud, ah, peer_p);
}

/* The source among all entries of the av, which is read again when it has grown. */
static fi_addr_t ud_source(struct vrb_dgram *dg, const struct vrb_qp_addr *at)
{
	uint32_t i, top = atomic_load_explicit(&dg->ep->base.av->top, memory_order_acquire);
	struct vrb_peer *peer;
	struct ib_ud ud;

	if (dg->ud->indexed)
		return FI_ADDR_NOTAVAIL;
	dg->ud->indexed = true;
	for (i = 0; i < top; i++)
		if (!hmap_find(&dg->peers, i) && !ud_addr(dg, i, &ud) &&
		    ud_peer(dg, i, &ud, &peer))
			dg->ud->indexed = false;	/* no memory: read it again next time */
	return source_find(dg, at);
}

void vrb_dgram_inserted(struct obj_ep *base)
{
	struct vrb_dgram *dg = container_of(base, struct vrb_ep, base)->dgram;

	if (dg->ud)
		dg->ud->indexed = false;
}

int vrb_dgram_resolve(struct vrb_ep *ep, fi_addr_t addr, struct vrb_peer **peer_p)
{
	struct vrb_dgram *dg = ep->dgram;
	struct vrb_peer *peer = *peer_p;
	int ret = ep->qp ? 0 : -FI_EOPBADSTATE;

	if (!ret && dg->ud)
		return ud_resolve(dg, addr, peer_p);
	if (!ret && !peer)
		ret = peer_new(dg, addr, &peer);
	if (ret)
		return ret;
	peer = query_wait(dg, addr);
	if (!peer)
		return -FI_EINVAL;
	*peer_p = peer;
	if (peer->ah)
		return 0;
	ret = peer->err;
	hmap_remove(&dg->peers, addr);
	free(peer);
	return ret;
}

void vrb_dgram_removed(struct obj_ep *base, fi_addr_t addr)
{
	struct vrb_dgram *dg = container_of(base, struct vrb_ep, base)->dgram;
	struct vrb_peer *peer = hmap_remove(&dg->peers, addr);

	dg->last_addr = FI_ADDR_UNSPEC;
	dg->last = NULL;
	if (peer)
		peer_free(dg, peer);
}

/* ---- sources -------------------------------------------------------------------- */

static uint64_t be64_at(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool is_ip4(const unsigned char *ip)
{
	uint32_t sum = 0;
	unsigned i;

	if (ip[0] != 0x45)
		return false;
	for (i = 0; i < 20; i += 2)
		sum += (uint32_t) ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* The header is a GRH, or on RoCE an IP header: IPv4 in the last 20 bytes, with arbitrary bytes
 * before it.
 */
static void source_of(const unsigned char *head, const struct vrb_wc *wc, struct vrb_qp_addr *at)
{
	unsigned char gid[16] = { [10] = 0xff, 0xff };

	*at = (struct vrb_qp_addr) { .qpn = wc->src_qp };
	if (!wc->has_grh) {
		at->lid = wc->slid;
		return;
	}
	if (head[0] >> 4 != 6 || is_ip4(head + 20))
		memcpy(gid + 12, head + 20 + 12, 4);
	else
		memcpy(gid, head + 8, sizeof(gid));
	at->gid[0] = be64_at(gid);
	at->gid[1] = be64_at(gid + 8);
}

static void complete_recv(struct vrb_ep *ep, const struct vrb_rx *rx, const struct vrb_wc *wc,
			  fi_addr_t from)
{
	obj_ep_comp_rx(&ep->base, rx->want, rx->context,
		       FI_RECV | FI_MSG | (wc->has_imm ? FI_REMOTE_CQ_DATA : 0),
		       wc->len - rx->grh_len, rx->buf, wc->has_imm ? wc->imm : 0, 0, from,
		       OBJ_CNTR_RECV);
}

/* FI_SOURCE_ERR: report an address to which the program can answer. */
static void complete_unknown(struct vrb_ep *ep, const struct vrb_rx *rx, const struct vrb_wc *wc,
			      const struct vrb_qp_addr *at)
{
	struct fi_cq_err_entry e = {
		.op_context = rx->context, .flags = FI_RECV | FI_MSG, .len = wc->len - rx->grh_len,
		.buf = rx->buf, .err = FI_EADDRNOTAVAIL, .prov_errno = FI_EADDRNOTAVAIL,
		.src_addr = FI_ADDR_NOTAVAIL,
	};
	struct ib_ud ud;

	if (wc->has_imm) {
		e.flags |= FI_REMOTE_CQ_DATA;
		e.data = wc->imm;
	}
	vrb_ud_from_qp_addr(ep->dgram->ud, at, &ud);
	obj_ep_err_rx(&ep->base, &e, &ud, sizeof(ud), OBJ_CNTR_RECV);
}

static void ud_received(struct vrb_ep *ep, const struct vrb_rx *rx, const struct vrb_wc *wc,
			const struct vrb_qp_addr *at, fi_addr_t from)
{
	if (__builtin_expect(from == FI_ADDR_NOTAVAIL, 0))
		from = ud_source(ep->dgram, at);
	if (from == FI_ADDR_NOTAVAIL && ep->dgram->ud->source_err)
		complete_unknown(ep, rx, wc, at);
	else
		complete_recv(ep, rx, wc, from);
}

static bool is_unknown(const struct vrb_dgram *dg, const struct vrb_qp_addr *at)
{
	unsigned i;

	for (i = 0; i < VRB_UNKNOWN_MAX; i++)
		if (dg->unknown[i].until_ns && qp_addr_equal(&dg->unknown[i].at, at))
			return clock_ns() < dg->unknown[i].until_ns;
	return false;
}

/* For a while no query is sent for this source: it is in no address vector. */
static void add_unknown(struct vrb_dgram *dg, const struct vrb_qp_addr *at)
{
	unsigned i = dg->unknown_next++ % VRB_UNKNOWN_MAX;

	dg->unknown[i].at = *at;
	dg->unknown[i].until_ns = clock_ns() + UNKNOWN_NS;
}

/* May the sender at @at have the address @sa?  Its GID is that of an IPv4 address only if it has
 * this one.
 */
static bool may_match(const struct sockaddr *sa, const struct vrb_qp_addr *at)
{
	static const unsigned char mapped[12] = { [10] = 0xff, 0xff };
	const unsigned char *gid = (const unsigned char *) at->gid;
	bool ip4 = !memcmp(gid, mapped, sizeof(mapped));

	if (sa->sa_family == AF_INET)
		return !ip4 || !memcmp(gid + 12, &((const struct sockaddr_in *) sa)->sin_addr, 4);
	return !ip4;
}

/* Query all entries of the av that may be the source and are not resolved.  Returns whether a query
 * is in flight.
 */
static bool query_candidates(struct vrb_dgram *dg, const struct vrb_qp_addr *at)
{
	_Alignas(struct sockaddr_storage) unsigned char sa[OBJ_ADDR_MAX];
	struct obj_av *av = dg->ep->base.av;
	uint32_t i, top = atomic_load_explicit(&av->top, memory_order_acquire);
	struct vrb_peer *peer;
	unsigned queries = 0;
	size_t len;

	for (i = 0; i < top && queries < QUERY_MAX; i++) {
		len = sizeof(sa);
		if (obj_av_addr(av, i, sa, &len) || !may_match((struct sockaddr *) sa, at))
			continue;
		peer = hmap_find(&dg->peers, i);
		if (peer && peer->ah)
			continue;
		queries += (peer && peer->q) || !(peer ? query_start(dg, peer) : peer_new(dg, i, &peer));
	}
	return queries;
}

/* Returns false, to report the datagram without source, when too many wait. */
static bool defer_recv(struct vrb_dgram *dg, const struct vrb_rx *rx, const struct vrb_wc *wc,
		       const struct vrb_qp_addr *at)
{
	struct deferred *p = dg->deferred_cnt < DEFER_MAX ? malloc(sizeof(*p)) : NULL;

	if (!p)
		return false;
	p->rx = *rx;
	p->wc = *wc;
	p->at = *at;
	p->deadline_ns = clock_ns() + DEFER_NS;
	list_add_tail(&p->node, &dg->deferred);
	dg->deferred_cnt++;
	return true;
}

void vrb_dgram_received(struct vrb_ep *ep, const struct vrb_rx *rx, const struct vrb_wc *wc)
{
	struct vrb_dgram *dg = ep->dgram;
	struct vrb_qp_addr at;
	fi_addr_t from;

	source_of((unsigned char *) dg->grhs + (size_t) ((ep->rx_head - 1) & ep->rx_mask) * VRB_GRH,
		 wc, &at);
	from = source_find(dg, &at);
	if (dg->ud) {
		ud_received(ep, rx, wc, &at, from);
		return;
	}
	if (__builtin_expect(from == FI_ADDR_NOTAVAIL, 0) && !is_unknown(dg, &at) &&
	    query_candidates(dg, &at) && defer_recv(dg, rx, wc, &at))
		return;
	complete_recv(ep, rx, wc, from);
}

/* Complete deferred datagrams whose source is known now, or never will be. */
static int retry_deferred(struct vrb_dgram *dg)
{
	struct deferred *p, *next;
	fi_addr_t from;
	int done = 0;

	list_for_each_entry_safe(p, next, &dg->deferred, node) {
		from = source_find(dg, &p->at);
		if (from == FI_ADDR_NOTAVAIL) {
			if (!list_empty(&dg->queries) && clock_ns() < p->deadline_ns)
				continue;
			add_unknown(dg, &p->at);
		}
		list_del(&p->node);
		dg->deferred_cnt--;
		complete_recv(dg->ep, &p->rx, &p->wc, from);
		free(p);
		done++;
	}
	return done;
}

/* ---- progress ------------------------------------------------------------------- */

static struct vrb_resolver *resolver_of(struct obj_poller *base)
{
	return container_of(base, struct vrb_resolver, base);
}

static int queries_progress(struct vrb_dgram *dg)
{
	struct vrb_peer *peer, *next;
	int done = 0;

	list_for_each_entry_safe(peer, next, &dg->queries, node)
		done += query_done(dg, peer);
	return list_empty(&dg->deferred) ? done : done + retry_deferred(dg);
}

static int resolver_poll(struct obj_poller *base, unsigned budget)
{
	struct vrb_resolver *resolver = resolver_of(base);
	struct vrb_dgram *dg;
	bool idle = true;
	int done = 0;

	list_for_each_entry(dg, &resolver->dgrams, node) {
		done += queries_progress(dg);
		idle = idle && list_empty(&dg->queries) && list_empty(&dg->deferred);
	}
	obj_poller_rest(base, idle);
	return done;
}

/* Both lists are in the order of their deadlines. */
static int resolver_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct vrb_resolver *resolver = resolver_of(base);
	struct vrb_peer *peer;
	struct vrb_dgram *dg;
	eventfd_t cnt;

	eventfd_read(base->fd, &cnt);
	list_for_each_entry(dg, &resolver->dgrams, node) {
		list_for_each_entry(peer, &dg->queries, node) {
			if (vrb_name_answered(peer->q))
				return -FI_EAGAIN;
			clock_earlier(deadline_ns, vrb_name_deadline(peer->q));
		}
		if (!list_empty(&dg->deferred))
			clock_earlier(deadline_ns, container_of(dg->deferred.next, struct deferred,
								node)->deadline_ns);
	}
	return 0;
}

static void resolver_close(struct obj_poller *base)
{
	close(base->fd);
	free(resolver_of(base));
}

static const struct obj_poller_ops resolver_ops = {
	.poll = resolver_poll,
	.arm = resolver_arm,
	.close = resolver_close,
};

static int resolver_new(struct obj_prog *prog, struct vrb_resolver **resolver_p)
{
	struct vrb_resolver *resolver = calloc(1, sizeof(*resolver));
	int ret;

	if (!resolver)
		return -FI_ENOMEM;
	resolver->base.ops = &resolver_ops;
	resolver->base.key = &resolver_ops;
	resolver->base.idle = true;
	list_init(&resolver->dgrams);
	resolver->base.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (resolver->base.fd < 0) {
		ret = -errno;
		free(resolver);
		return ret;
	}
	obj_prog_add(prog, &resolver->base);
	*resolver_p = resolver;
	return 0;
}

int vrb_peers_open(struct vrb_dgram *dg)
{
	struct obj_prog *prog = dg->ep->base.prog;
	struct obj_poller *base = obj_prog_find(prog, &resolver_ops);
	struct vrb_resolver *resolver = base ? resolver_of(base) : NULL;
	int ret = resolver ? 0 : resolver_new(prog, &resolver);

	if (ret)
		return ret;
	dg->resolver = resolver;
	list_add_tail(&dg->node, &resolver->dgrams);
	return 0;
}

void vrb_peers_close(struct vrb_dgram *dg)
{
	struct list *pos;
	size_t i;

	for (i = 0; dg->peers.used && i <= dg->peers.mask; i++)
		if (dg->peers.slots[i].val)
			peer_free(dg, dg->peers.slots[i].val);
	hmap_destroy(&dg->peers);
	hmap_destroy(&dg->sources);
	while ((pos = list_pop(&dg->deferred)))
		free(container_of(pos, struct deferred, node));
	if (dg->resolver)
		list_del(&dg->node);
	dg->resolver = NULL;
}
