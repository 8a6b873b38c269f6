/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/query.h"

#include <assert.h>
#include <endian.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/process.h"
#include "engine/oob.h"
#include "engine/peer.h"
#include "obj/inspect/server.h"

/* Limits of an endpoint. */
#define SLOTS 48			/* answers that are kept, waited for, or sent */
#define ASKED_MAX 8			/* peers that one question goes to */
#define HOPS 8				/* by how many peers it is passed on */
#define OWN_SLOTS 16			/* answers to a question of this process that are waited for */
#define PASSED_SLOTS 8			/* answers that are waited for, to a question that is passed on */
#define TAKEN_S 32			/* questions that are taken in a second */
#define SEEN 32				/* numbers of questions that are remembered */
#define AGAIN_NS (200 * CLOCK_NS_PER_MS)	/* between two questions of this process */
#define PATIENCE_NS (3 * CLOCK_NS_PER_S)	/* for an answer */
#define KEPT_NS (10 * CLOCK_NS_PER_S)	/* after which one is too old to be shown */

enum slot_state {
	SLOT_FREE,
	SLOT_AWAITS,	/* a receive is posted, or being filled */
	SLOT_HAS,	/* an answer is here, for the next look */
	SLOT_SENDS,	/* an answer is being sent */
};

struct query_slot {
	struct eng_oob_req req;		/* first */
	struct eng_query *query;
	enum slot_state state;
	uint64_t num;			/* of the question */
	uint64_t ns;			/* when it was asked, or answered */
	struct eng_peer *asker;		/* who gets the answer, referenced; NULL: this process */
	struct wire_answer answer;
};

struct eng_query {
	struct eng_ep *ep;
	uint64_t asked_ns;		/* when this process asked last; 0: never */
	uint64_t second_ns;		/* when the second began that @taken is of */
	unsigned taken;			/* questions in it */
	unsigned seen_at;
	uint64_t seen[SEEN];
	struct query_slot slots[SLOTS];
};

/* ---- an endpoint without collectives --------------------------------------------------------- */

static struct eng_oob *plain_open(struct eng_ep *ep)
{
	return calloc(1, sizeof(struct eng_oob));
}

static void plain_close(struct eng_oob *oob)
{
	free(oob);
}

static enum eng_oob_action plain_arrived(struct eng_oob *oob, struct eng_peer *peer, uint64_t space,
					 uint64_t key, bool bare)
{
	return ENG_OOB_DROP;		/* an answer that is late */
}

static void plain_lost(struct eng_oob *oob, struct eng_peer *peer, int err)
{
}

static void plain_stop(struct eng_oob *oob)
{
}

const struct eng_oob_user eng_query_oob = {
	.open = plain_open, .close = plain_close, .arrived = plain_arrived, .lost = plain_lost, .stop = plain_stop,
};

/* ---- slots ------------------------------------------------------------------------------------- */

static void slot_free(struct query_slot *slot)
{
	struct eng_peer *asker = slot->asker;

	slot->state = SLOT_FREE;
	slot->asker = NULL;
	if (asker)
		eng_peer_unref(asker);
}

/* slot_expire - give up what has lasted too long. */
static void slot_expire(struct query_slot *slot, uint64_t now)
{
	if (slot->state == SLOT_HAS && now - slot->ns > KEPT_NS)
		slot_free(slot);
	if (slot->state == SLOT_AWAITS && now - slot->ns > PATIENCE_NS && eng_oob_posted(&slot->req) &&
	    eng_oob_cancel(&slot->req))
		slot_free(slot);
}

static struct query_slot *slot_get(struct eng_query *query, enum slot_state state, uint64_t num)
{
	struct query_slot *slot;

	for (slot = query->slots; slot < query->slots + SLOTS; slot++) {
		if (slot->state != SLOT_FREE)
			continue;
		slot->state = state;
		slot->num = num;
		slot->ns = clock_ns();
		return slot;
	}
	return NULL;
}

static struct eng_query *query_of(struct eng_ep *ep)
{
	struct query_slot *slot;
	uint64_t now = clock_ns();

	if (!ep->query) {
		ep->query = calloc(1, sizeof(*ep->query));
		if (ep->query)
			ep->query->ep = ep;
		return ep->query;
	}
	for (slot = ep->query->slots; slot < ep->query->slots + SLOTS; slot++)
		slot_expire(slot, now);
	return ep->query;
}

size_t eng_query_posted(const struct eng_ep *ep)
{
	size_t i, cnt = 0;

	for (i = 0; ep->query && i < SLOTS; i++)
		cnt += ep->query->slots[i].state == SLOT_AWAITS && eng_oob_posted(&ep->query->slots[i].req);
	return cnt;
}

/* ---- answers that come --------------------------------------------------------------------------- */

static bool may_be_asked(const struct eng_peer *peer)
{
	return peer->asks && peer->format != ENG_FORMAT_WHOLE &&
	       !(peer->slow & (ENG_PEER_IDLE | ENG_PEER_CLOSED | ENG_PEER_LOST | ENG_PEER_LOSING));
}

static void on_sent(struct eng_oob_req *req, int status, size_t len)
{
	slot_free((struct query_slot *) req);
}

/* slot_send - the answer of @slot goes to @peer; the slot is freed when it has gone, or at once. */
static void slot_send(struct query_slot *slot, struct eng_peer *peer)
{
	slot->state = SLOT_SENDS;
	slot->req = (struct eng_oob_req) { .done = on_sent };
	if (!may_be_asked(peer) ||
	    eng_oob_send(slot->query->ep->oob, peer, &slot->req, slot->num, WIRE_Q_ANSWER, &slot->answer,
			 sizeof(slot->answer)))
		slot_free(slot);
}

/* drop_older - an endpoint is shown as it has answered last. */
static void drop_older(struct eng_query *query, const struct query_slot *kept)
{
	struct query_slot *slot;

	for (slot = query->slots; slot < query->slots + SLOTS; slot++)
		if (slot != kept && slot->state == SLOT_HAS && slot->answer.pid == kept->answer.pid &&
		    !memcmp(slot->answer.host, kept->answer.host, sizeof(slot->answer.host)) &&
		    !memcmp(slot->answer.addr, kept->answer.addr, sizeof(slot->answer.addr)))
			slot_free(slot);
}

/* on_answer - one of a later version may be longer. */
static void on_answer(struct eng_oob_req *req, int status, size_t len)
{
	struct query_slot *slot = (struct query_slot *) req;

	if ((status && status != -FI_ETRUNC) || len < sizeof(slot->answer)) {
		slot_free(slot);
	} else if (slot->asker) {
		slot_send(slot, slot->asker);
	} else {
		slot->state = SLOT_HAS;
		slot->ns = clock_ns();
		drop_older(slot->query, slot);
	}
}

/* await_answers - post @cnt receives for answers to question @num. */
static void await_answers(struct eng_query *query, uint64_t num, size_t cnt, struct eng_peer *asker)
{
	struct query_slot *slot;

	while (cnt-- && (slot = slot_get(query, SLOT_AWAITS, num))) {
		slot->query = query;
		slot->req = (struct eng_oob_req) { .done = on_answer };
		slot->asker = asker;
		if (asker)
			eng_peer_ref(asker);
		if (eng_oob_recv(query->ep->oob, &slot->req, num, WIRE_Q_ANSWER, &slot->answer,
				 sizeof(slot->answer))) {
			slot_free(slot);
			break;
		}
	}
}

/* ---- questions ------------------------------------------------------------------------------------- */

static bool was_seen(const struct eng_query *query, uint64_t num)
{
	unsigned i;

	for (i = 0; i < SEEN; i++)
		if (query->seen[i] == num)
			return true;
	return false;
}

/* ask_peers - those that this process waits for, but @asker, if it is one of them. */
static void ask_peers(struct eng_query *query, uint64_t num, unsigned hops, struct eng_peer *asker)
{
	struct eng_wait waits[ENG_WAITS_MAX];
	struct eng_peer *asked[ASKED_MAX];
	size_t cnt = eng_seen_waits(query->ep, waits, ENG_WAITS_MAX), asked_cnt = 0, i, at;

	for (i = 0; i < cnt && asked_cnt < ASKED_MAX; i++) {
		if (!waits[i].peer || waits[i].peer == asker || !may_be_asked(waits[i].peer))
			continue;
		for (at = 0; at < asked_cnt && asked[at] != waits[i].peer; at++)
			;
		if (at == asked_cnt)
			asked[asked_cnt++] = waits[i].peer;
	}
	if (!asked_cnt)
		return;
	await_answers(query, num, asker ? PASSED_SLOTS : OWN_SLOTS, asker);
	for (i = 0; i < asked_cnt; i++)
		eng_oob_notify(asked[i], num, WIRE_Q_ASK | hops);
}

void eng_query_ask(struct eng_ep *ep)
{
	struct eng_query *query = ep->link && ep->state == ENG_EP_READY ? query_of(ep) : NULL;
	uint64_t now = clock_ns(), num;

	if (!query || now - query->asked_ns < AGAIN_NS || !eng_oob_get(ep) ||
	    getrandom(&num, sizeof(num), GRND_NONBLOCK) != sizeof(num))
		return;
	query->asked_ns = now;
	query->seen[query->seen_at++ % SEEN] = num;
	ask_peers(query, num, HOPS, NULL);
}

static bool may_answer(const struct eng_ep *ep)
{
	enum obj_inspect whom = obj_server_whom();

	return whom == OBJ_INSPECT_ALL || (whom == OBJ_INSPECT_USER && ep->base.sec);
}

/* take_question - it is new, and not one too many in this second. */
static bool take_question(struct eng_query *query, uint64_t num)
{
	uint64_t now = clock_ns();

	if (was_seen(query, num))
		return false;
	if (now - query->second_ns >= CLOCK_NS_PER_S) {
		query->second_ns = now;
		query->taken = 0;
	}
	if (query->taken >= TAKEN_S)
		return false;
	query->taken++;
	query->seen[query->seen_at++ % SEEN] = num;
	return true;
}

static void fill_wait(const struct eng_wait *wait, struct wire_wait *out)
{
	out->tag = htole64(wait->tag);
	out->len = htole64(wait->len);
	out->id = htole64(wait->id);
	out->kind = wait->kind;
	if (wait->peer)
		eng_peer_text(wait->peer, out->addr);
}

static void fill_answer(struct eng_ep *ep, struct wire_answer *answer)
{
	struct eng_wait waits[ENG_WAITS_MAX];
	size_t cnt = eng_seen_waits(ep, waits, ENG_WAITS_MAX), i;

	_Static_assert(sizeof(answer->addr) >= ENG_PEER_TEXT, "room for an address");
	*answer = (struct wire_answer) { .pid = htole32((uint32_t) getpid()) };
	answer->rank = htole32((uint32_t) obj_server_rank());
	if (gethostname(answer->host, sizeof(answer->host) - 1))
		*answer->host = '\0';
	os_process_command(answer->command, sizeof(answer->command));
	eng_seen_name(ep, answer->addr);
	for (i = 0; i < cnt && i < WIRE_WAITS_MAX; i++)
		fill_wait(&waits[i], &answer->wait[i]);
	answer->cnt = htole32((uint32_t) i);
	answer->more = htole32((uint32_t) (cnt - i));
}

void eng_query_on_ask(struct eng_peer *peer, uint64_t num, unsigned hops)
{
	struct eng_ep *ep = peer->ep;
	struct eng_query *query = ep->link && ep->state == ENG_EP_READY && may_answer(ep) ? query_of(ep) : NULL;
	struct query_slot *slot;

	if (!query || !take_question(query, num) || !eng_oob_get(ep))
		return;
	slot = slot_get(query, SLOT_SENDS, num);
	if (!slot)
		return;
	slot->query = query;
	fill_answer(ep, &slot->answer);
	slot_send(slot, peer);
	if (hops)
		ask_peers(query, num, hops <= HOPS ? hops - 1 : HOPS - 1, peer);
}

/* ---- looks ---------------------------------------------------------------------------------------------- */

static void look_answer(const struct query_slot *slot, struct inspect_remote *rec)
{
	const struct wire_answer *answer = &slot->answer;
	unsigned i;

	rec->age_ns = clock_ns() - slot->ns;
	rec->pid = (int32_t) le32toh(answer->pid);
	rec->rank = (int32_t) le32toh(answer->rank);
	rec->cnt = le32toh(answer->cnt) < WIRE_WAITS_MAX ? le32toh(answer->cnt) : WIRE_WAITS_MAX;
	rec->more = le32toh(answer->more);
	memcpy(rec->host, answer->host, sizeof(rec->host));
	memcpy(rec->command, answer->command, sizeof(rec->command));
	memcpy(rec->addr, answer->addr, sizeof(rec->addr));
	for (i = 0; i < rec->cnt; i++) {
		rec->wait[i].tag = le64toh(answer->wait[i].tag);
		rec->wait[i].len = le64toh(answer->wait[i].len);
		rec->wait[i].id = le64toh(answer->wait[i].id);
		rec->wait[i].kind = answer->wait[i].kind;
		memcpy(rec->wait[i].addr, answer->wait[i].addr, sizeof(rec->wait[i].addr));
	}
}

bool eng_query_look(struct eng_ep *ep, struct obj_look *look)
{
	struct inspect_remote *rec;

	for (; ep->query && look->pos < SLOTS; look->pos++) {
		if (ep->query->slots[look->pos].state != SLOT_HAS)
			continue;
		rec = obj_look_ends(look) ? NULL : obj_look_add(look, INSPECT_REMOTE, sizeof(*rec));
		if (!rec)
			return false;
		look_answer(&ep->query->slots[look->pos], rec);
	}
	look->pos = 0;
	return true;
}

/* ---- ends ------------------------------------------------------------------------------------------------- */

void eng_query_lost(struct eng_ep *ep, struct eng_peer *peer)
{
	struct query_slot *slot;
	size_t i;

	for (i = 0; ep->query && i < SLOTS; i++) {
		slot = &ep->query->slots[i];
		if (slot->state == SLOT_AWAITS && slot->asker == peer && eng_oob_posted(&slot->req) &&
		    eng_oob_cancel(&slot->req))
			slot_free(slot);
	}
}

void eng_query_stop(struct eng_ep *ep)
{
	struct query_slot *slot;
	size_t i;

	for (i = 0; ep->query && i < SLOTS; i++) {
		slot = &ep->query->slots[i];
		if (slot->state == SLOT_HAS || (slot->state == SLOT_AWAITS && eng_oob_cancel(&slot->req)))
			slot_free(slot);
	}
}

void eng_query_free(struct eng_ep *ep)
{
	size_t i;

	for (i = 0; ep->query && i < SLOTS; i++)
		assert((ep->query->slots[i].state == SLOT_FREE || ep->query->slots[i].state == SLOT_HAS) &&
		       "every request has come back");
	free(ep->query);
	ep->query = NULL;
}
