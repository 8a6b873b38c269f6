/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/peer.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/oob.h"
#include "engine/flow.h"
#include "engine/query.h"
#include "engine/recv.h"
#include "engine/seen.h"
#include "engine/serve.h"
#include "engine/tx.h"
#include "base/net_addr.h"

/* What the first packet or event of a channel that works ends. */
#define GONE (ENG_PEER_IDLE | ENG_PEER_LOST | ENG_PEER_LOSING)

/* ---- what a link asks ------------------------------------------------------- */
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
	return peer->addr;
}

size_t eng_peer_addr_len(const struct eng_peer *peer)
{
	return peer->addr_len;
}

bool eng_peer_waits(const struct eng_peer *peer)
{
	return peer->refs > peer->msg_cnt;
}

/* ---- finding ---------------------------------------------------------------- */

/* An address that is no sockaddr is text. */
const char *eng_peer_text(const struct eng_peer *peer, char *buf)
{
	const struct sockaddr *sa = (const void *) peer->addr;

	_Static_assert(ENG_PEER_TEXT >= NET_ADDR_TEXT_MAX, "room for an address");
	if (peer->addr_len >= sizeof(sa->sa_family) && net_addr_len(sa) &&
	    net_addr_len(sa) <= peer->addr_len)
		return net_addr_text(sa, buf);
	snprintf(buf, ENG_PEER_TEXT, "%.*s", (int) peer->addr_len, peer->addr);
	return buf;
}

static uint32_t hash_bytes(const uint8_t *addr, size_t len)
{
	uint64_t hash = len, word;
	size_t n;

	for (; len; addr += n, len -= n) {
		word = 0;
		n = len < sizeof(word) ? len : sizeof(word);
		memcpy(&word, addr, n);
		hash = hmap_hash(hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
	}
	return (uint32_t) (hash >> 32);
}

static struct eng_peer *peer_lookup(struct eng_ep *ep, uint32_t hash, const void *addr, size_t len)
{
	struct eng_peer *peer = hmap_find(&ep->by_addr, hash);

	while (peer && (peer->addr_len != len || memcmp(peer->addr, addr, len)))
		peer = peer->hash_next;
	return peer;
}

/* Peers with one hash form a chain behind the first of them. */
static int link_hash(struct eng_peer *peer)
{
	struct eng_peer *first = hmap_find(&peer->ep->by_addr, peer->hash);

	if (!first)
		return hmap_insert(&peer->ep->by_addr, peer->hash, peer);
	peer->hash_next = first->hash_next;
	first->hash_next = peer;
	return 0;
}

static void unlink_hash(struct eng_peer *peer)
{
	struct eng_peer *first = hmap_find(&peer->ep->by_addr, peer->hash);

	if (first != peer) {
		while (first->hash_next != peer)
			first = first->hash_next;
		first->hash_next = peer->hash_next;
		return;
	}
	hmap_remove(&peer->ep->by_addr, peer->hash);
	/* The slot that was just emptied takes the next of the chain. */
	if (peer->hash_next)
		hmap_insert(&peer->ep->by_addr, peer->hash, peer->hash_next);
}

/* Requests hold references (refs), and so do entries of the table by fi_addr_t (table_refs);
 * without either and without a channel a peer goes to ep->idle, from which peers_reap() frees it.
 */
static void peer_free(struct eng_peer *peer)
{
	if (peer->src)
		eng_peer_unref(peer->src);
	assert(!peer->refs && list_empty(&peer->txs) && list_empty(&peer->rxs) &&
	       list_empty(&peer->msgs) && list_empty(&peer->serves) && "nothing refers to a peer that goes");
	eng_seen_forget(peer);
	list_del(&peer->node);
	peer->ep->peer_cnt--;
	list_del(&peer->idle_node);
	free(peer);
}

/* Free what became idle since the last time; not at once, because the link may
 * still be working on the channel when it reports it down.
 */
static void peers_reap(struct eng_ep *ep)
{
	struct eng_peer *peer;

	while ((peer = list_pop_entry(&ep->idle, struct eng_peer, idle_node))) {
		if (peer->refs || peer->table_refs || !(peer->slow & ENG_PEER_IDLE))
			continue;
		unlink_hash(peer);
		if (peer->link)
			peer->ops->peer_put(peer->link, peer);
		peer_free(peer);
	}
}

static struct eng_peer *find_or_make(struct eng_ep *ep, const void *addr, size_t len);

/* Who it is to the matcher. */
static bool set_key(struct eng_peer *peer)
{
	struct eng_ep *ep = peer->ep;

	peer->key = peer;
	if (!ep->srx || ep->base.type == FI_EP_MSG)
		return true;
	peer->src = find_or_make(ep->srx, peer->addr, peer->addr_len);
	if (!peer->src)
		return false;
	eng_peer_ref(peer->src);
	peer->key = peer->src;
	return true;
}

/* chan_size - link memory behind a peer, whichever link it is bound to. */
static size_t chan_size(const struct eng_ep *ep)
{
	if (!ep->link)
		return 0;	/* a shared context */
	return ep->link->attr.chan_size > ep->link->ops->chan_size ? ep->link->attr.chan_size :
								     ep->link->ops->chan_size;
}

void eng_peer_bind(struct eng_peer *peer, struct eng_link *link)
{
	if (peer->link == link)
		return;
	peer->ops->peer_put(peer->link, peer);
	memset(peer->chan, 0, chan_size(peer->ep));
	peer->link = link;
	peer->ops = link->ops;
}

/* One allocation: the peer, the link's channel, the address. */
struct eng_peer *eng_peer_new(struct eng_ep *ep, const void *addr, size_t len)
{
	size_t chan = (chan_size(ep) + 15) & ~(size_t) 15;
	struct eng_peer *peer = line_alloc(sizeof(*peer) + chan + len);

	if (!peer)
		return NULL;
	peer->ep = ep;
	peer->link = ep->link;
	peer->ops = ep->link ? ep->link->ops : NULL;
	peer->slow = ENG_PEER_IDLE;
	peer->fi_addr = FI_ADDR_NOTAVAIL;
	peer->addr = peer->chan + chan;
	peer->addr_len = (uint16_t) len;
	if (len)
		memcpy(peer->addr, addr, len);
	if (!set_key(peer)) {
		free(peer);
		return NULL;
	}
	list_init(&peer->txs);
	list_init(&peer->rxs);
	list_init(&peer->msgs);
	list_init(&peer->serves);
	list_init(&peer->fenced);
	list_init(&peer->idle_node);
	list_add_tail(&peer->node, &ep->peers);
	ep->peer_cnt++;
	return peer;
}

static struct eng_peer *find_or_make(struct eng_ep *ep, const void *addr, size_t len)
{
	uint32_t hash = hash_bytes(addr, len);
	struct eng_peer *peer = peer_lookup(ep, hash, addr, len);

	if (peer)
		return peer;
	peers_reap(ep);
	peer = eng_peer_new(ep, addr, len);
	if (!peer)
		return NULL;
	peer->hash = hash;
	if (!link_hash(peer))
		return peer;
	peer_free(peer);
	return NULL;
}

struct eng_peer *eng_peer_find(struct eng_link *link, const void *addr, size_t len)
{
	return find_or_make(link->ep, addr, len);
}

/* Pages are made where an entry is used, so an entry of the address vector costs nothing here
 * before.
 */
static struct eng_peer **table_slot(struct eng_ep *ep, uint32_t i, bool make)
{
	size_t page = i / ENG_PEER_PAGE, cnt;
	struct eng_peer ***pages;

	if (page >= ep->page_cnt) {
		if (!make)
			return NULL;
		cnt = page + 1 > ep->page_cnt * 2 ? page + 1 : ep->page_cnt * 2;
		pages = realloc(ep->pages, cnt * sizeof(*pages));
		if (!pages)
			return NULL;
		memset(pages + ep->page_cnt, 0, (cnt - ep->page_cnt) * sizeof(*pages));
		ep->pages = pages;
		ep->page_cnt = cnt;
	}
	if (!ep->pages[page] && make)
		ep->pages[page] = calloc(ENG_PEER_PAGE, sizeof(**ep->pages));
	ep->first = ep->pages[0];
	return ep->pages[page] ? &ep->pages[page][i % ENG_PEER_PAGE] : NULL;
}

struct eng_peer *eng_peer_resolve(struct eng_ep *ep, fi_addr_t fi_addr, int *ret_p)
{
	_Alignas(16) char addr[OBJ_ADDR_MAX];
	struct eng_peer **slot, *peer;
	unsigned rx;
	uint32_t i;
	size_t len;

	*ret_p = -FI_EINVAL;
	if (!ep->base.av)
		return NULL;
	i = obj_av_index(ep->base.av, fi_addr, &rx);
	if (obj_av_addr(ep->base.av, i, addr, &len))
		return NULL;
	*ret_p = -FI_EAGAIN;
	slot = table_slot(ep, i, true);
	if (!slot)
		return NULL;
	if (!*slot) {
		peer = find_or_make(ep, addr, len);
		if (!peer)
			return NULL;
		peer->table_refs++;
		*slot = peer;
	}
	*ret_p = 0;
	return *slot;
}

/* ---- channels --------------------------------------------------------------- */

/* The link connects; packets may be sent at once and wait there. */
int eng_peer_start(struct eng_peer *peer)
{
	int ret;

	if (!(peer->slow & ENG_PEER_IDLE))
		return 0;
	ret = peer->ep->link->ops->peer_get(peer->ep->link, peer);
	if (!ret)
		peer->slow &= ~GONE;
	return ret;
}

fi_addr_t eng_peer_find_fi_addr(struct eng_peer *peer)
{
	if (peer->ep->base.av && peer->addr_len)
		peer->fi_addr = obj_av_find(peer->ep->base.av, peer->addr, peer->addr_len);
	return peer->fi_addr;
}

static void may_go(struct eng_peer *peer)
{
	if (!peer->refs && !peer->table_refs && (peer->slow & ENG_PEER_IDLE) &&
	    peer != peer->ep->only && list_empty(&peer->idle_node))
		list_add_tail(&peer->idle_node, &peer->ep->idle);
}

void eng_peer_unref(struct eng_peer *peer)
{
	assert(peer->refs && "a request lets go of its peer once");
	if (!--peer->refs)
		may_go(peer);
}

/* fi_av_remove(): the entry can still be read.  An open channel stays; the
 * fi_addr_t of its messages is looked up again.
 */
void eng_peer_removed(struct obj_ep *base, fi_addr_t fi_addr)
{
	struct eng_ep *ep = (struct eng_ep *) base;
	_Alignas(16) char addr[OBJ_ADDR_MAX];
	struct eng_peer **slot, *peer;
	size_t len;

	slot = table_slot(ep, (uint32_t) fi_addr, false);
	if (slot && *slot) {
		peer = *slot;
		*slot = NULL;
		peer->table_refs--;
	} else {
		if (obj_av_addr(base->av, fi_addr, addr, &len))
			return;
		peer = peer_lookup(ep, hash_bytes((uint8_t *) addr, len), addr, len);
		if (!peer)
			return;
	}
	peer->fi_addr = FI_ADDR_NOTAVAIL;
	may_go(peer);
}

/* Everything that waits for the peer ends with @err: what it asked us for, our requests,
 * receives.
 */
void eng_peer_fail(struct eng_peer *peer, int err)
{
	eng_peer_ref(peer);
	peer->refused = 0;
	eng_serve_fail_all(peer);
	eng_tx_fail_all(peer, err);
	eng_recv_fail_all(peer, err);
	if (peer->ep->oob)
		peer->ep->oob_user->lost(peer->ep->oob, peer, err);
	eng_query_lost(peer->ep, peer);
	eng_peer_unref(peer);
}

/* We end the connection: the link forgets the channel before anything completes, so that it
 * touches no buffer of the program's any more.
 */
void eng_peer_cut(struct eng_peer *peer, int err)
{
	eng_peer_ref(peer);
	peer->ops->peer_put(peer->link, peer);
	memset(peer->chan, 0, peer->ops->chan_size);
	eng_flow_reset(peer);
	peer->slow &= ~ENG_PEER_LOSING;
	peer->format = ENG_FORMAT_NATIVE;
	peer->asks = 0;
	if (peer == peer->ep->only) {
		eng_cm_lost(peer->ep, err);
	} else {
		peer->slow |= ENG_PEER_IDLE;
		eng_peer_fail(peer, err);
	}
	eng_peer_unref(peer);
}

/* The link has ended the connection.  A later send connects again; an FI_EP_MSG endpoint shuts
 * down.
 */
void eng_on_down(struct eng_link *link, struct eng_peer *peer, int err)
{
	struct eng_ep *ep = peer->ep;
	char text[ENG_PEER_TEXT];

	ENG_INFO(ep, "%s: connection lost: %s\n", eng_peer_text(peer, text), fi_strerror(err));
	eng_flow_reset(peer);
	peer->slow &= ~ENG_PEER_LOSING;
	peer->format = ENG_FORMAT_NATIVE;
	peer->asks = 0;
	if (peer == ep->only) {
		eng_cm_lost(ep, err);
		return;
	}
	peer->slow |= ENG_PEER_IDLE | ENG_PEER_LOST;
	eng_peer_fail(peer, err);
}

void eng_on_up(struct eng_link *link, struct eng_peer *peer)
{
	char text[ENG_PEER_TEXT];

	PROBE3(connect, peer->ep, peer->fi_addr, link->ops->name);
	ENG_INFO(peer->ep, "%s is reached over %s\n", eng_peer_text(peer, text), link->ops->name);
	peer->slow &= ~GONE;
}

void eng_on_version(struct eng_peer *peer, unsigned version)
{
	peer->asks = version >= WIRE_ASKS;
}

bool eng_peer_last_channel(struct eng_peer *peer)
{
	struct eng_ep *srx = peer->ep->srx, *user;
	struct eng_peer *other;

	if (!peer->src)
		return true;
	list_for_each_entry(user, &srx->users, srx_node) {
		other = peer_lookup(user, peer->hash, peer->addr, peer->addr_len);
		if (other && other != peer && !(other->slow & ENG_PEER_IDLE))
			return false;
	}
	return true;
}

static void free_table(struct eng_ep *ep)
{
	size_t i;

	for (i = 0; i < ep->page_cnt; i++)
		free(ep->pages[i]);
	free(ep->pages);
	ep->pages = NULL;
	ep->first = NULL;
	ep->page_cnt = 0;
}

void eng_peer_forget_table(struct eng_ep *ep)
{
	struct eng_peer *peer;

	free_table(ep);
	list_for_each_entry(peer, &ep->peers, node) {
		peer->table_refs = 0;
		peer->fi_addr = FI_ADDR_NOTAVAIL;
		may_go(peer);
	}
}

void eng_peer_free_all(struct eng_ep *ep)
{
	struct eng_peer *peer, *tmp;

	hmap_destroy(&ep->by_addr);
	list_for_each_entry_safe(peer, tmp, &ep->peers, node)
		peer_free(peer);
	free_table(ep);
	ep->only = NULL;
}
