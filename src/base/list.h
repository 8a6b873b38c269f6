/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * list.h - intrusive lists.
 *
 * struct list is a ring with a head; an element that is on no list points to itself, so
 * list_del() may be called on it again.
 *
 * Threading: no locking here; the owner of the list provides the lock.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A head, or an element within what it links. */
struct list {
	struct list *next;	/* of a head: the first */
	struct list *prev;	/* of a head: the last */
};

/* container_of - the structure of @type whose @member is at @ptr. */
#define container_of(ptr, type, member) \
	((type *) ((char *) (ptr) - offsetof(type, member)))

/* list_init - an empty list, or an element that is on none. */
static inline void list_init(struct list *head)
{
	head->next = head;
	head->prev = head;
}

/* list_empty - of a head: is the list empty?  Of an element: is it on no list? */
static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

/* list_add - put @item, which is on no list, behind @after. */
static inline void list_add(struct list *item, struct list *after)
{
	item->next = after->next;
	item->prev = after;
	after->next->prev = item;
	after->next = item;
}

/* list_add_head, list_add_tail - put @item before or behind all others. */
static inline void list_add_head(struct list *item, struct list *head)
{
	list_add(item, head);
}

static inline void list_add_tail(struct list *item, struct list *head)
{
	list_add(item, head->prev);
}

/* list_del - unlink @item; it is then on no list and may be added or deleted again. */
static inline void list_del(struct list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	list_init(item);
}

/* list_pop - unlink and return the first item, which is then on no list; NULL when the list is
 * empty.
 */
static inline struct list *list_pop(struct list *head)
{
	struct list *item = head->next;

	if (item == head)
		return NULL;
	list_del(item);
	return item;
}

/* list_splice_tail - move all items of @from behind the last item of @head.
 * Cost: none of the items is touched but the first and the last.
 */
static inline void list_splice_tail(struct list *from, struct list *head)
{
	if (list_empty(from))
		return;
	from->next->prev = head->prev;
	head->prev->next = from->next;
	from->prev->next = head;
	head->prev = from->prev;
	list_init(from);
}

/* @pos runs over the elements; the body may add behind it, and delete none. */
#define list_for_each(pos, head) \
	for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

/* list_for_each_safe - the same; the body may delete @pos, and no other item of the list. */
#define list_for_each_safe(pos, tmp, head) \
	for ((pos) = (head)->next, (tmp) = (pos)->next; (pos) != (head); \
	     (pos) = (tmp), (tmp) = (pos)->next)

#endif
