/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/match.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#define FIRST_HEADS 16
#define MASK_BITS_MAX 8		/* see adopt_mask() */

static struct list *new_heads(size_t cnt)
{
	struct list *heads = malloc(cnt * sizeof(*heads));
	size_t i;

	for (i = 0; heads && i < cnt; i++)
		list_init(&heads[i]);
	return heads;
}

static int tab_init(struct match_tab *tab)
{
	tab->heads = new_heads(FIRST_HEADS);
	tab->mask = FIRST_HEADS - 1;
	return tab->heads ? 0 : -FI_ENOMEM;
}

/* Chains keep their order: entries of equal key stay oldest first. */
static void tab_grow(struct match *m, struct match_tab *tab,
		     struct list *(*chain_of)(const struct match *, const struct match_tab *, struct list *))
{
	struct match_tab new = { .mask = tab->mask * 2 + 1 };
	struct list *item;
	size_t i;

	new.heads = new_heads(new.mask + 1);
	if (!new.heads)
		return;
	for (i = 0; i <= tab->mask; i++)
		while ((item = list_pop(&tab->heads[i])))
			list_add_tail(item, chain_of(m, &new, item));
	free(tab->heads);
	*tab = new;
}

static struct list *recv_chain(const struct match *m, const struct match_tab *tab, struct list *item)
{
	struct match_recv *recv = container_of(item, struct match_recv, link);

	return match_chain(m, tab, recv->tag, recv->src);
}

static struct list *tag_chain(const struct match *m, const struct match_tab *tab, struct list *item)
{
	return match_chain(m, tab, container_of(item, struct match_msg, by_tag)->tag, MATCH_ANY);
}

static struct list *src_chain(const struct match *m, const struct match_tab *tab, struct list *item)
{
	struct match_msg *msg = container_of(item, struct match_msg, by_src);

	return match_chain(m, tab, msg->tag, msg->src);
}

int match_init(struct match *m)
{
	*m = (struct match) { .hashed = UINT64_MAX };
	list_init(&m->wild);
	list_init(&m->all);
	if (!tab_init(&m->posted) && !tab_init(&m->by_tag) && !tab_init(&m->by_src))
		return 0;
	match_fini(m);
	return -FI_ENOMEM;
}

void match_fini(struct match *m)
{
	free(m->posted.heads);
	free(m->by_tag.heads);
	free(m->by_src.heads);
	m->posted.heads = NULL;
	m->by_tag.heads = NULL;
	m->by_src.heads = NULL;
}

static void add_to_tables(struct match *m, struct match_msg *msg)
{
	list_add_tail(&msg->by_tag, tag_chain(m, &m->by_tag, &msg->by_tag));
	list_add_tail(&msg->by_src, src_chain(m, &m->by_src, &msg->by_src));
}

static void take_from_tables(struct match_msg *msg)
{
	list_del(&msg->by_tag);
	list_del(&msg->by_src);
}

/* adopt_mask - let the tables leave out the bits of @mask from now on, if it is the first one and has few:
 * with many, messages of different tags would share a chain.  No receive is posted.
 */
static bool adopt_mask(struct match *m, uint64_t mask)
{
	struct match_msg *msg;

	if (~m->hashed || m->cnt || __builtin_popcountll(mask) > MASK_BITS_MAX)
		return false;
	m->hashed = ~mask;
	list_for_each_entry(msg, &m->all, all)
		take_from_tables(msg);
	list_for_each_entry(msg, &m->all, all)
		add_to_tables(m, msg);
	return true;
}

/* With another mask, behind the only one, or into a table that has to grow first. */
void match_post_slow(struct match *m, struct match_recv *recv)
{
	bool tabled = match_in_table(m, recv->ignore) || adopt_mask(m, recv->ignore);

	if (m->only)
		match_add_exact(m, m->only);
	m->only = NULL;
	if (tabled && m->cnt > MATCH_CHAIN_MAX * m->posted.mask)
		tab_grow(m, &m->posted, recv_chain);
	m->limit = (uint32_t) (MATCH_CHAIN_MAX * m->posted.mask);
	if (tabled) {
		match_add_exact(m, recv);
		return;
	}
	list_add_tail(&recv->link, &m->wild);
	m->wild_cnt++;
}

/* A masked receive that accepts the message and is older than @than.  The list is in the order of
 * posting, so the first that accepts is the oldest of the masked ones.
 */
static struct match_recv *find_wild(struct match *m, uint64_t tag, uint64_t src,
				    struct match_recv *than)
{
	struct match_recv *recv;

	list_for_each_entry(recv, &m->wild, link) {
		if (than && recv->seq > than->seq)
			break;
		if (match_accepts(recv, tag, src))
			return recv;
	}
	return than;
}

/* Up to three candidates: exact for any source, exact for this source, masked.  The oldest of
 * them is the one that was posted first.
 */
struct match_recv *match_find_any(struct match *m, uint64_t tag, uint64_t src)
{
	struct match_recv *best = NULL, *directed;

	if (m->cnt - m->wild_cnt > m->directed_cnt)
		best = match_find_exact(m, tag, MATCH_ANY);
	if (m->directed_cnt) {
		directed = match_find_exact(m, tag, src);
		if (directed && (!best || directed->seq < best->seq))
			best = directed;
	}
	return m->wild_cnt ? find_wild(m, tag, src, best) : best;
}

/* A message is on three lists: all, for masks and peeks; by tag, for receives from any source;
 * by tag and source, for directed ones.  Each is in the order of arrival.
 */
void match_keep(struct match *m, struct match_msg *msg)
{
	if (m->msg_cnt > MATCH_CHAIN_MAX * m->by_tag.mask) {
		tab_grow(m, &m->by_tag, tag_chain);
		tab_grow(m, &m->by_src, src_chain);
	}
	list_add_tail(&msg->all, &m->all);
	add_to_tables(m, msg);
	m->msg_cnt++;
}

/* list_del() finds the neighbours by itself, so this is O(1) on all three lists. */
void match_take(struct match *m, struct match_msg *msg)
{
	list_del(&msg->all);
	take_from_tables(msg);
	m->msg_cnt--;
}

/* No table helps where some bits of the tag are ignored. */
static struct match_msg *find_masked(struct match *m, uint64_t tag, uint64_t ignore,
				     uint64_t src)
{
	struct match_msg *msg;

	list_for_each_entry(msg, &m->all, all) {
		if (match_tags(msg->tag, tag, ignore) && (src == MATCH_ANY || src == msg->src))
			return msg;
	}
	return NULL;
}

/* The chains hold other tags and sources with the same hash, too: each entry is compared. */
struct match_msg *match_find_msg(struct match *m, uint64_t tag, uint64_t ignore,
				 uint64_t src)
{
	struct match_msg *msg;

	if (!m->msg_cnt)
		return NULL;
	if (!match_in_table(m, ignore))
		return find_masked(m, tag, ignore, src);
	if (src == MATCH_ANY) {
		list_for_each_entry(msg, match_chain(m, &m->by_tag, tag, src), by_tag)
			if (match_tags(msg->tag, tag, ignore))
				return msg;
		return NULL;
	}
	list_for_each_entry(msg, match_chain(m, &m->by_src, tag, src), by_src)
		if (msg->src == src && match_tags(msg->tag, tag, ignore))
			return msg;
	return NULL;
}

static struct match_recv *each_in(struct list *head,
				  bool (*fn)(struct match_recv *recv, void *arg), void *arg)
{
	struct match_recv *recv, *tmp;

	list_for_each_entry_safe(recv, tmp, head, link)
		if (fn(recv, arg))
			return recv;
	return NULL;
}

struct match_recv *match_each_recv(struct match *m,
				   bool (*fn)(struct match_recv *recv, void *arg), void *arg)
{
	struct match_recv *only = m->only, *recv = each_in(&m->wild, fn, arg);
	size_t i;

	if (only)
		return fn(only, arg) ? only : NULL;
	for (i = 0; !recv && i <= m->posted.mask; i++)
		recv = each_in(&m->posted.heads[i], fn, arg);
	return recv;
}
