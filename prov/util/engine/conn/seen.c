/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/seen.h"

#include "engine/query.h"
#include "engine/recv.h"
#include "engine/tx.h"

#define HEADS_STEP 512		/* empty chains of a table that take as long as a record */
#define PASSED_STEP 16		/* peers that are passed over, the same */
#define CHAIN_MAX 32		/* receives that are looked at in one chain */

enum part {
	PART_EP,
	PART_PEERS,
	PART_TAGGED,		/* receives */
	PART_MSGS,
	PART_UNEXP,
	PART_REMOTE,		/* what peers have answered, and a question to them */
	PART_END,
};

static void copy_peer(const struct eng_peer *peer, char text[INSPECT_TEXT])
{
	_Static_assert(INSPECT_TEXT >= ENG_PEER_TEXT, "room for an address");
	eng_peer_text(peer, text);
}

/* source_text - the key of the matcher is a peer. */
static void source_text(uint64_t src, char text[INSPECT_TEXT])
{
	if (src != MATCH_ANY)
		copy_peer((const struct eng_peer *) (uintptr_t) src, text);
}

/* ---- the endpoint --------------------------------------------------------------------------- */

void eng_seen_name(struct eng_ep *ep, char text[INSPECT_TEXT])
{
	_Alignas(16) char addr[OBJ_ADDR_MAX];
	struct eng_peer self = { .addr = addr };
	size_t len = sizeof(addr);

	if (!ep->link || ep->link_ops->getname(ep->link, NULL, addr, &len))
		return;
	self.addr_len = (uint16_t) len;
	copy_peer(&self, text);
}

static void count_rxc(const struct eng_ep *ep, struct inspect_ep *rec)
{
	unsigned i;

	for (i = 0; ep->rxc && i < ep->rxc_cnt; i++) {
		rec->tagged += ep->rxc[i].tagged.cnt;
		rec->msgs += ep->rxc[i].msgs.cnt;
		rec->unexp_tagged += ep->rxc[i].tagged.msg_cnt;
		rec->unexp_msgs += ep->rxc[i].msgs.msg_cnt;
	}
}

static const char *driver_text(struct obj_prog *prog)
{
	switch (atomic_load_explicit(&prog->driver, memory_order_relaxed)) {
	case OBJ_DRIVER_SLEEPERS:
		return "sleepers";
	case OBJ_DRIVER_THREAD:
		return "thread";
	default:
		return "program";
	}
}

static const char *threading_text(const struct eng_ep *ep)
{
	switch (ep->base.info->domain_attr->threading) {
	case FI_THREAD_SAFE:
		return "FI_THREAD_SAFE";
	case FI_THREAD_ENDPOINT:
		return "FI_THREAD_ENDPOINT";
	case FI_THREAD_COMPLETION:
		return "FI_THREAD_COMPLETION";
	case FI_THREAD_DOMAIN:
		return "FI_THREAD_DOMAIN";
	default:
		return "FI_THREAD_UNSPEC";
	}
}

/* look_group - who polls the endpoint, and under which rules. */
static void look_group(const struct eng_ep *ep, struct inspect_ep *rec)
{
	struct obj_prog *prog = ep->base.prog;

	rec->polls = atomic_load_explicit(&prog->polls, memory_order_relaxed);
	rec->sleepers = atomic_load_explicit(&prog->sleepers, memory_order_relaxed);
	rec->group = (uintptr_t) prog;
	inspect_text(rec->driver, sizeof(rec->driver), driver_text(prog));
	inspect_text(rec->threading, sizeof(rec->threading), threading_text(ep));
}

static void seek_first_peer(struct eng_ep *ep)
{
	ep->shown.next = list_empty(&ep->peers) ? NULL : container_of(ep->peers.next, struct eng_peer, node);
}

static bool look_ep(struct eng_ep *ep, struct obj_look *look)
{
	struct inspect_ep *rec = obj_look_add(look, INSPECT_EP, sizeof(*rec));

	if (!rec)
		return false;
	rec->id = (uintptr_t) ep;
	inspect_text(rec->provider, sizeof(rec->provider), ep->base.info->fabric_attr->prov_name ?
		 ep->base.info->fabric_attr->prov_name : ep->base.prov->name);
	inspect_text(rec->kind, sizeof(rec->kind), ep->base.type == FI_EP_MSG ? "MSG" : "RDM");
	eng_seen_name(ep, rec->addr);
	count_rxc(ep, rec);
	rec->peers = ep->peer_cnt;
	rec->sends = ep->tx_out;
	rec->held = ep->held;
	rec->asks = eng_query_posted(ep);
	look_group(ep, rec);
	seek_first_peer(ep);
	return true;
}

/* ---- peers ------------------------------------------------------------------------------------- */

static const char *what_text(const struct eng_tx *tx, const struct wire_msg *msg)
{
	switch (tx->cntr) {
	case OBJ_CNTR_READ:
		return "read";
	case OBJ_CNTR_WRITE:
		return "write";
	default:
		return msg->flags & WIRE_F_TAG ? "tagged" : "message";
	}
}

static const char *waits_text(const struct eng_tx *tx)
{
	switch (tx->state) {
	case ENG_TX_FENCED:
		return "operations before a fence";
	case ENG_TX_RTS:
		return "a matching receive";
	case ENG_TX_SHARED:
		return "the peer to copy it";
	case ENG_TX_DATA:
		return "its payload to leave";
	case ENG_TX_ASKED:
		return "the data";
	case ENG_TX_SENT:
		return "an acknowledgement";
	default:
		return "its packets to leave";
	}
}

static void look_send(const struct eng_tx *tx, struct obj_look *look)
{
	struct inspect_send *rec = obj_look_add(look, INSPECT_SEND, sizeof(*rec));
	struct wire_msg msg = { .flags = 0 };

	if (!rec)
		return;
	if (wire_parse(tx->pkt.hdr, tx->pkt.hdr_len, tx->pkt.len, &msg))
		msg = (struct wire_msg) { .flags = 0 };
	inspect_text(rec->what, sizeof(rec->what), what_text(tx, &msg));
	inspect_text(rec->waits, sizeof(rec->waits), waits_text(tx));
	rec->tag = msg.flags & WIRE_F_TAG ? msg.tag : 0;
	rec->len = tx->len;
	rec->id = (uintptr_t) tx;
}

static void look_sends(const struct eng_peer *peer, struct obj_look *look)
{
	const struct eng_tx *tx;
	unsigned cnt = 0;

	list_for_each_entry(tx, &peer->txs, node) {
		if (cnt++ == ENG_SEEN_SENDS)
			break;
		look_send(tx, look);
	}
}

void eng_seen_peer(struct eng_peer *peer, struct inspect_peer *rec, uint32_t want, char *path)
{
	inspect_text(rec->link, sizeof(rec->link), peer->ops ? peer->ops->name : "");
	inspect_text(rec->state, sizeof(rec->state), peer->slow & ENG_PEER_IDLE ? "idle" : "open");
	rec->sends = peer->tx_cnt;
	rec->fenced = peer->fenced_cnt;
	rec->msgs = peer->msg_cnt;
	rec->msg_bytes = peer->unexp_bytes;
	rec->held = peer->held;
	rec->xoff = (peer->slow & ENG_PEER_XOFF ? 1 : 0) | (peer->told_xoff ? 2 : 0);
	if (peer->ops)
		peer->ops->look(peer, rec, want, path);
}

static void look_peer(struct eng_peer *peer, struct obj_look *look)
{
	struct inspect_peer *rec = obj_look_add(look, INSPECT_PEER, sizeof(*rec));
	char text[INSPECT_PATH] = "";
	struct inspect_path *path;

	if (!rec)
		return;
	rec->fi_addr = peer->fi_addr;
	copy_peer(peer, rec->addr);
	eng_seen_peer(peer, rec, look->want, text);
	obj_look_trim(look, rec);
	path = *text ? obj_look_add(look, INSPECT_PATH_TEXT, sizeof(*path)) : NULL;
	if (path)
		memcpy(path->text, text, sizeof(text));
	look_sends(peer, look);
}

static bool is_busy(const struct eng_peer *peer)
{
	return peer->tx_cnt || peer->msg_cnt || peer->held || peer->told_xoff ||
	       peer->slow & (ENG_PEER_XOFF | ENG_PEER_FENCED);
}

/* look_turn - returns false: the step ends before the last peer. */
static bool look_turn(struct eng_ep *ep, struct obj_look *look, bool all, bool busy)
{
	struct eng_peer *peer;
	unsigned passed = 0;
	bool passes;

	while ((peer = ep->shown.next) && (all || look->done < ENG_SEEN_PEERS)) {
		passes = !all && is_busy(peer) != busy;
		if (passes ? !(++passed % PASSED_STEP) && obj_look_passed(look) : obj_look_ends(look))
			return false;
		eng_seen_forget(peer);		/* the next one is the next one */
		if (passes)
			continue;
		look_peer(peer, look);
		look->done++;
	}
	return true;
}

/* look_peers - all; or, where few are wanted, the busy ones, and then others. */
static bool look_peers(struct eng_ep *ep, struct obj_look *look)
{
	bool all = !(look->want & INSPECT_FEW) || ep->peer_cnt <= ENG_SEEN_PEERS;

	if (!look->sub) {
		if (!look_turn(ep, look, all, true))
			return false;
		look->sub = 1;
		if (!all)
			seek_first_peer(ep);
	}
	if (!all && !look_turn(ep, look, false, false))
		return false;
	ep->shown.next = NULL;
	look->sub = look->done = 0;
	return true;
}

/* ---- receives ----------------------------------------------------------------------------------- */

static void look_recv(const struct match_recv *m, bool tagged, struct obj_look *look)
{
	const struct eng_recv *recv = container_of(m, const struct eng_recv, m);
	struct inspect_recv *rec = obj_look_add(look, INSPECT_RECV, sizeof(*rec));

	if (!rec)
		return;
	rec->tagged = tagged;
	rec->multi = recv->multi;
	rec->tag = m->tag;
	rec->ignore = m->ignore;
	rec->room = recv->room;
	rec->seq = m->seq;
	source_text(m->src, rec->from);
	look->done++;
}

static void look_chain(const struct list *head, bool tagged, struct obj_look *look)
{
	const struct match_recv *m;
	unsigned cnt = 0;

	list_for_each_entry(m, head, link) {
		if (cnt++ == CHAIN_MAX || look->done == ENG_SEEN_RECVS ||
		    look->len + 4 * INSPECT_RECORD_MAX > sizeof(look->buf))
			break;
		look_recv(m, tagged, look);
	}
}

/* look_recvs - look->pos is the chain that is next; 0 is @only and @wild.  A table that grows
 * meanwhile may show a receive twice, or not.
 */
static bool look_recvs(const struct match *m, bool tagged, struct obj_look *look)
{
	size_t chains = m->posted.heads ? m->posted.mask + 1 : 0, i = 0;
	const struct list *head;

	if (!look->pos++) {
		if (m->only)
			look_recv(m->only, tagged, look);
		look_chain(&m->wild, tagged, look);
	}
	for (; m->cnt && look->pos <= chains && look->done < ENG_SEEN_RECVS; look->pos++) {
		head = &m->posted.heads[look->pos - 1];
		if (list_empty(head) ? !(++i % HEADS_STEP) && obj_look_passed(look) : obj_look_ends(look))
			return false;
		look_chain(head, tagged, look);
	}
	look->pos = 0;
	look->done = 0;
	return true;
}

static bool look_all_recvs(const struct eng_ep *ep, bool tagged, struct obj_look *look)
{
	for (; ep->rxc && look->sub < ep->rxc_cnt; look->sub++)
		if (obj_look_ends(look) || !look_recvs(eng_rxc_match(&ep->rxc[look->sub], tagged), tagged, look))
			return false;
	look->sub = 0;
	return true;
}

/* ---- unexpected messages --------------------------------------------------------------------------- */

static void look_msg(const struct match_msg *m, bool tagged, struct obj_look *look)
{
	const struct eng_msg *msg = container_of(m, const struct eng_msg, m);
	struct inspect_msg *rec = obj_look_add(look, INSPECT_MSG, sizeof(*rec));

	if (!rec)
		return;
	rec->tagged = tagged;
	rec->announced = msg->env.rts;
	rec->tag = m->tag;
	rec->len = msg->env.len;
	rec->id = (uintptr_t) msg;
	copy_peer(msg->peer, rec->from);
}

/* look_unexp - the oldest of context look->sub, of which look->pos are done.  Where some are taken meanwhile,
 * later ones may be passed over.
 */
static bool look_unexp(const struct match *m, bool tagged, struct obj_look *look)
{
	const struct match_msg *msg;
	size_t cnt = 0;

	list_for_each_entry(msg, &m->all, all) {
		if (cnt == ENG_SEEN_MSGS)
			break;
		if (cnt++ < look->pos)
			continue;
		if (obj_look_ends(look))
			return false;
		look_msg(msg, tagged, look);
		look->pos++;
	}
	look->pos = 0;
	return true;
}

static bool look_all_unexp(const struct eng_ep *ep, struct obj_look *look)
{
	bool tagged;

	for (; ep->rxc && look->sub < 2 * ep->rxc_cnt; look->sub++) {
		tagged = !(look->sub % 2);
		if (obj_look_ends(look) || !look_unexp(eng_rxc_match(&ep->rxc[look->sub / 2], tagged), tagged, look))
			return false;
	}
	look->sub = 0;
	return true;
}

/* ---- questions ---------------------------------------------------------------------------------------- */

#define WAIT_PEERS 256		/* that are looked at */
#define WAIT_CHAINS 1024

static void add_wait(struct eng_wait *waits, size_t max, size_t *cnt, const struct eng_wait *wait)
{
	if (*cnt < max)
		waits[(*cnt)++] = *wait;
}

/* send_that_waits - for a receive there; NULL: none of the oldest does.  Answers to questions do not count. */
static const struct eng_tx *send_that_waits(const struct eng_peer *peer, struct wire_msg *msg)
{
	const struct eng_tx *tx;
	unsigned cnt = 0;

	list_for_each_entry(tx, &peer->txs, node) {
		if (cnt++ == ENG_SEEN_SENDS)
			break;
		if (tx->state == ENG_TX_RTS && !wire_parse(tx->pkt.hdr, tx->pkt.hdr_len, tx->pkt.len, msg) &&
		    !(msg->ctx == WIRE_CTX_OOB && eng_query_of(msg->data)))
			return tx;
	}
	return NULL;
}

static void sends_wait(struct eng_ep *ep, struct eng_wait *waits, size_t max, size_t *cnt)
{
	const struct eng_tx *tx;
	struct eng_peer *peer;
	struct wire_msg msg;
	unsigned peers = 0;

	list_for_each_entry(peer, &ep->peers, node) {
		if (peers++ == WAIT_PEERS || *cnt == max)
			break;
		tx = send_that_waits(peer, &msg);
		if (!tx)
			continue;
		add_wait(waits, max, cnt, &(struct eng_wait) {
			.peer = peer, .tag = msg.flags & WIRE_F_TAG ? msg.tag : 0, .len = tx->len, .id = (uintptr_t) tx,
			.kind = WIRE_WAIT_SEND | (msg.flags & WIRE_F_TAG ? WIRE_WAIT_TAGGED : 0),
		});
	}
}

static void recv_waits(const struct match_recv *m, bool tagged, bool directed, struct eng_wait *waits, size_t max,
		       size_t *cnt)
{
	if ((m->src != MATCH_ANY) == directed)
		add_wait(waits, max, cnt, &(struct eng_wait) {
			.peer = directed ? (struct eng_peer *) (uintptr_t) m->src : NULL, .tag = m->tag,
			.len = container_of(m, const struct eng_recv, m)->room, .id = m->seq,
			.kind = WIRE_WAIT_RECV | (tagged ? WIRE_WAIT_TAGGED : 0),
		});
}

static void chain_waits(const struct list *head, bool tagged, bool directed, struct eng_wait *waits, size_t max,
			size_t *cnt)
{
	const struct match_recv *m;
	unsigned seen = 0;

	list_for_each_entry(m, head, link) {
		if (seen++ == CHAIN_MAX)
			break;
		recv_waits(m, tagged, directed, waits, max, cnt);
	}
}

static void match_waits(const struct match *m, bool tagged, bool directed, struct eng_wait *waits, size_t max,
			size_t *cnt)
{
	size_t chains = m->posted.heads && m->cnt ? m->posted.mask + 1 : 0, i;

	if (m->only)
		recv_waits(m->only, tagged, directed, waits, max, cnt);
	chain_waits(&m->wild, tagged, directed, waits, max, cnt);
	for (i = 0; i < chains && i < WAIT_CHAINS && *cnt < max; i++)
		chain_waits(&m->posted.heads[i], tagged, directed, waits, max, cnt);
}

size_t eng_seen_waits(struct eng_ep *ep, struct eng_wait *waits, size_t max)
{
	size_t cnt = 0;
	unsigned i;

	sends_wait(ep, waits, max, &cnt);
	for (i = 0; ep->rxc && i < 4 * ep->rxc_cnt; i++)
		match_waits(eng_rxc_match(&ep->rxc[i / 2 % ep->rxc_cnt], !(i % 2)), !(i % 2),
			    i < 2 * ep->rxc_cnt, waits, max, &cnt);
	return cnt;
}

static bool look_remote(struct eng_ep *ep, struct obj_look *look)
{
	if (!(look->want & INSPECT_QUERY))
		return true;
	if (!eng_query_look(ep, look))
		return false;
	eng_query_ask(ep);
	return true;
}

/* ---- steps ------------------------------------------------------------------------------------------- */

static bool look_part(struct eng_ep *ep, struct obj_look *look)
{
	switch (look->part) {
	case PART_EP:
		return look_ep(ep, look);
	case PART_PEERS:
		return look_peers(ep, look);
	case PART_TAGGED:
		return look_all_recvs(ep, true, look);
	case PART_MSGS:
		return look_all_recvs(ep, false, look);
	case PART_UNEXP:
		return look_all_unexp(ep, look);
	default:
		return look_remote(ep, look);
	}
}

static bool look_step(struct obj_shown *shown, struct obj_look *look)
{
	struct eng_ep *ep = container_of(shown, struct eng_ep, shown);

	while (look->part != PART_END) {
		if (!look_part(ep, look))
			return true;
		look->part++;
		if (obj_look_ends(look))
			break;
	}
	return look->part != PART_END;
}

void eng_seen_add(struct eng_ep *ep)
{
	ep->shown.prog = ep->base.prog;
	ep->shown.step = look_step;
	ep->shown.next = NULL;
	obj_shown_add(&ep->shown);
}
