/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "since.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

/* An operation, a message, or a peer.  The place of an operation in the memory of its process may serve a
 * later one: then the tag, or the length, is most often another.
 */
struct seen {
	uint64_t key[6];	/* process, endpoint, type, place, tag, length */
	uint64_t val[4];	/* since when, or what a connection has moved */
};

static int cmp_seen(const void *a, const void *b)
{
	return memcmp(((const struct seen *) a)->key, ((const struct seen *) b)->key,
		      sizeof(((const struct seen *) a)->key));
}

/* hash_text - FNV-1a. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (*text)
		hash = (hash ^ (unsigned char) *text++) * UINT64_C(0x100000001b3);
	return hash;
}

/* key_of - returns the place of the record's age or rates, or 0: it has none. */
static size_t key_of(const union record *r, struct seen *seen)
{
	seen->key[2] = r->head.type;
	switch (r->head.type) {
	case INSPECT_PEER:
		seen->key[3] = r->peer.fi_addr;
		seen->key[4] = hash_text(r->peer.addr);
		seen->key[5] = hash_text(r->peer.link);
		return offsetof(struct inspect_peer, per_s);
	case INSPECT_SEND:
		seen->key[3] = r->send.id;
		seen->key[4] = r->send.tag;
		seen->key[5] = r->send.len;
		return offsetof(struct inspect_send, age_ns);
	case INSPECT_RECV:
		seen->key[3] = r->recv.seq;
		seen->key[4] = r->recv.tag;
		seen->key[5] = r->recv.room;
		return offsetof(struct inspect_recv, age_ns);
	case INSPECT_MSG:
		seen->key[3] = r->msg.id;
		seen->key[4] = r->msg.tag;
		seen->key[5] = r->msg.len;
		return offsetof(struct inspect_msg, age_ns);
	default:
		return 0;
	}
}

static const struct seen *find_old(const struct since *since, const struct seen *seen)
{
	return since->cnt ? bsearch(seen, since->of, since->cnt, sizeof(*seen), cmp_seen) : NULL;
}

/* rates_of - of a connection; one that stands since less time begins at 0. */
static void rates_of(const struct seen *old, const struct seen *seen, uint64_t ns, uint64_t per_s[4])
{
	int i;

	for (i = 0; i < 4; i++)
		per_s[i] = old && ns && seen->val[i] >= old->val[i] ?
			   (uint64_t) ((double) (seen->val[i] - old->val[i]) * 1e9 / (double) ns) : 0;
}

/* update_record - @at is the record in the answer, @field the place in it that is filled in. */
static void update_record(const struct since *since, const union record *r, uint8_t *at, size_t field,
			  struct seen *seen, uint64_t ns)
{
	const struct seen *old = find_old(since, seen);
	uint64_t vals[4];

	if (r->head.type == INSPECT_PEER) {
		seen->val[0] = r->peer.sent_bytes;
		seen->val[1] = r->peer.got_bytes;
		seen->val[2] = r->peer.sent_packets;
		seen->val[3] = r->peer.got_packets;
		rates_of(old, seen, ns - since->ns, vals);
		memcpy(at + field, vals, sizeof(vals));
	} else {
		seen->val[0] = old ? old->val[0] : ns;
		vals[0] = ns - seen->val[0];
		memcpy(at + field, vals, sizeof(vals[0]));
	}
}

/* update_answer - @next has room for one entry a record. */
static void update_answer(const struct since *since, struct answer *answer, struct since *next)
{
	struct seen seen = { .key = { (uint64_t) answer->pid ^ (*answer->host ? hash_text(answer->host) : 0) } };
	size_t off = 0, at = 0, field;
	union record r;

	for (; record_at(answer, off, &r, &off); at = off) {
		if (r.head.type == INSPECT_EP)
			seen.key[1] = r.ep.id;
		field = key_of(&r, &seen);
		if (!field || field + (r.head.type == INSPECT_PEER ? 4 : 1) * sizeof(uint64_t) > r.head.len)
			continue;
		update_record(since, &r, answer->buf + at, field, &seen, next->ns);
		next->of[next->cnt++] = seen;
	}
}

static size_t count_records(const struct answers *answers)
{
	size_t i, off, cnt = 0;
	union record r;

	for (i = 0; i < answers->cnt; i++)
		for (off = 0; record_at(&answers->of[i], off, &r, &off); )
			cnt++;
	return cnt;
}

void since_update(struct since *since, struct answers *answers, uint64_t ns)
{
	struct since next = { calloc(count_records(answers) + 1, sizeof(*next.of)), 0, ns };
	size_t i;

	if (!next.of)
		return;
	for (i = 0; i < answers->cnt; i++)
		update_answer(since, &answers->of[i], &next);
	qsort(next.of, next.cnt, sizeof(*next.of), cmp_seen);
	since_free(since);
	*since = next;
}

const char *since_text(uint64_t age_ns, char buf[32])
{
	*buf = '\0';
	if (age_ns >= NS_PER_S)
		snprintf(buf, 32, ", at least %" PRIu64 " s", age_ns / NS_PER_S);
	else if (age_ns)
		snprintf(buf, 32, ", at least %" PRIu64 " ms", age_ns / 1000000);
	return buf;
}

void since_free(struct since *since)
{
	free(since->of);
	*since = (struct since) { NULL, 0, 0 };
}
