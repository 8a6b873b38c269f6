/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * match.h - which receive gets which message.
 *
 * A matcher holds two sets: receives that were posted and found no message, and
 * messages that arrived and found no receive.  An arriving message takes the
 * oldest posted receive that accepts it, a posted receive the oldest message
 * that it accepts; so messages of one sender are received in the order of their
 * sending, whatever mixture of exact, masked and directed receives is posted.
 *
 * A receive accepts a message when the tags agree outside of @ignore and @src is
 * MATCH_ANY or the message's source.  Untagged receives use tag 0, ignore 0.
 *
 * Runtimes mask the few bits of a tag in which their protocols mark messages, the same in each
 * receive.  The tables leave out the bits of the first such mask, so that receives with it are found
 * as those without one are; only receives with other masks are compared one after the other.
 *
 * Many programs post one receive at a time: the only one is compared directly, and enters a table when
 * another one is posted behind it.
 *
 * Pure state: no I/O, no clock, no lock; memory only for the hash tables, and a
 * table that cannot grow just gets slower.
 */
#ifndef ENG_MATCH_H
#define ENG_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/list.h"

#define MATCH_ANY UINT64_C(0)
#define MATCH_CHAIN_MAX 2	/* entries a chain, on average, before a table doubles */

/* A posted receive; embedded in the request.  The caller fills in the last three. */
struct match_recv {
	struct list link;	/* matcher's */
	uint64_t seq;		/* matcher's: order of posting */
	uint64_t tag;
	uint64_t ignore;	/* bits set are not compared */
	uint64_t src;		/* MATCH_ANY, or the only source that is accepted */
};

/* A message without a receive.  The caller fills in the last two. */
struct match_msg {
	struct list all;	/* matcher's, in order of arrival */
	struct list by_tag;	/* matcher's */
	struct list by_src;	/* matcher's */
	uint64_t tag;
	uint64_t src;		/* never MATCH_ANY */
};

struct match_tab {
	struct list *heads;
	size_t mask;
};

struct match {
	struct match_recv *only;	/* the only receive that is posted, as long as no table has it */
	struct match_tab posted;	/* receives with ignore 0 or ~@hashed, by tag and source */
	uint64_t seq;
	uint64_t hashed;		/* bits of tags by which the tables are searched: all but those that
					 * the first masked receive ignored */
	uint32_t limit;			/* with more receives the next one is posted by match_post_slow() */
	uint32_t cnt;			/* receives that are posted */
	uint32_t wild_cnt;		/* those in @wild */
	uint32_t directed_cnt;		/* those in @posted with a source */
	size_t msg_cnt;
	/* up to here, in one cache line, lies what a posted receive that is met needs */
	struct list wild;		/* receives with another mask, oldest first */
	struct match_tab by_tag;	/* messages by tag */
	struct match_tab by_src;	/* messages by tag and source */
	struct list all;		/* messages, oldest first */
};

/* match_init - make an empty matcher.  Errors: -FI_ENOMEM. */
int match_init(struct match *m);

/* match_fini - free the tables.  What is still in them belongs to the caller. */
void match_fini(struct match *m);

/* ---- parts of what follows ------------------------------------------------ */

static inline struct list *match_chain(const struct match *m, const struct match_tab *tab,
				       uint64_t tag, uint64_t src)
{
	uint64_t key = (tag & m->hashed) + src * UINT64_C(0x9e3779b97f4a7c15);

	return &tab->heads[hmap_hash(key) & tab->mask];
}

/* match_in_table - are receives with @ignore in the tables? */
static inline bool match_in_table(const struct match *m, uint64_t ignore)
{
	return !ignore || ignore == ~m->hashed;
}

static inline bool match_tags(uint64_t a, uint64_t b, uint64_t ignore)
{
	return a == b || !((a ^ b) & ~ignore);
}

static inline bool match_accepts(const struct match_recv *recv, uint64_t tag, uint64_t src)
{
	return (recv->src == MATCH_ANY || recv->src == src) && match_tags(recv->tag, tag, recv->ignore);
}

static inline void match_add_exact(struct match *m, struct match_recv *recv)
{
	list_add_tail(&recv->link, match_chain(m, &m->posted, recv->tag, recv->src));
	if (__builtin_expect(recv->src != MATCH_ANY, 0))
		m->directed_cnt++;
}

static inline struct match_recv *match_find_exact(struct match *m, uint64_t tag, uint64_t src)
{
	struct list *head = match_chain(m, &m->posted, tag, src);
	struct match_recv *recv;

	list_for_each_entry(recv, head, link)
		if (recv->src == src && match_tags(recv->tag, tag, recv->ignore))
			return recv;
	return NULL;
}

void match_post_slow(struct match *m, struct match_recv *recv);
struct match_recv *match_find_any(struct match *m, uint64_t tag, uint64_t src);

/* ---- receives --------------------------------------------------------------- */

/* match_post - add @recv behind all others.
 * The caller has seen match_find_msg() return NULL for it.
 * Ownership: the matcher keeps @recv until match_unpost().  Cost: O(1).
 */
static inline void match_post(struct match *m, struct match_recv *recv)
{
	recv->seq = m->seq++;
	if (__builtin_expect(!match_in_table(m, recv->ignore) || m->cnt > m->limit, 0)) {
		match_post_slow(m, recv);
	} else if (!m->cnt) {
		m->only = recv;
		m->limit = 0;
	} else {
		match_add_exact(m, recv);
	}
	m->cnt++;
}

/* match_unpost - take a posted receive away: it was matched, or is cancelled. */
static inline void match_unpost(struct match *m, struct match_recv *recv)
{
	m->cnt--;
	if (recv == m->only) {
		m->only = NULL;
		return;
	}
	list_del(&recv->link);
	if (!match_in_table(m, recv->ignore))
		m->wild_cnt--;
	else if (__builtin_expect(recv->src != MATCH_ANY, 0))
		m->directed_cnt--;
}

/* match_find_recv - the oldest posted receive that accepts a message, or NULL.
 * It stays posted.
 * Cost: O(1) expected, plus the receives with other masks that are older.
 * Source: fi_tagged(3), fi_msg(3).
 */
static inline struct match_recv *match_find_recv(struct match *m, uint64_t tag, uint64_t src)
{
	if (m->only)
		return match_accepts(m->only, tag, src) ? m->only : NULL;
	if (__builtin_expect(m->directed_cnt || m->wild_cnt, 0))
		return match_find_any(m, tag, src);
	return m->cnt ? match_find_exact(m, tag, MATCH_ANY) : NULL;
}

/* match_may_direct - may a receive be posted that accepts one source only? */
static inline bool match_may_direct(const struct match *m)
{
	return m->only || m->directed_cnt || m->wild_cnt;
}

/* ---- messages --------------------------------------------------------------- */

/* match_keep - add a message that found no receive.
 * Ownership: the matcher keeps @msg until match_take().  Cost: O(1).
 */
void match_keep(struct match *m, struct match_msg *msg);

/* match_take - take a message away. */
void match_take(struct match *m, struct match_msg *msg);

/* match_find_msg - the oldest message that a receive would accept, or NULL.
 * It stays.
 * Cost: O(1) expected for ignore 0 or ~@hashed, else the messages that are older.
 */
struct match_msg *match_find_msg(struct match *m, uint64_t tag, uint64_t ignore,
				 uint64_t src);

/* match_each_recv - call @fn for each posted receive, in no special order, until
 * it returns true.  @fn may unpost the receive that it is given.
 * Returns that receive, or NULL.
 */
struct match_recv *match_each_recv(struct match *m,
				   bool (*fn)(struct match_recv *recv, void *arg), void *arg);

#endif
