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

/* list_pop_entry - the same, for a list that links structures of @type by their @member. */
#define list_pop_entry(head, type, member)						\
	({										\
		struct list *popped_ = list_pop(head);					\
		popped_ ? container_of(popped_, type, member) : NULL;			\
	})

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

/* list_node_of - the @member of @item, by its offset alone: behind the last item of a list, @item is
 * no structure, and not aligned as one.
 */
#define list_node_of(item, member) \
	((struct list *) ((char *) (item) + offsetof(__typeof__(*(item)), member)))

/* list_for_each_entry - @item, a pointer to a structure, runs over those whose @member is on the
 * list; the body may add behind it, and delete none.
 */
#define list_for_each_entry(item, head, member)						\
	for ((item) = container_of((head)->next, __typeof__(*(item)), member);		\
	     list_node_of(item, member) != (head);					\
	     (item) = container_of((item)->member.next, __typeof__(*(item)), member))

/* list_for_each_entry_safe - the same; the body may delete @item, and no other of the list.
 * @tmp: a pointer of the same type
 */
#define list_for_each_entry_safe(item, tmp, head, member)				\
	for ((item) = container_of((head)->next, __typeof__(*(item)), member),		\
	     (tmp) = container_of(list_node_of(item, member)->next, __typeof__(*(item)), member); \
	     list_node_of(item, member) != (head);					\
	     (item) = (tmp),								\
	     (tmp) = container_of(list_node_of(item, member)->next, __typeof__(*(item)), member))

/* list_for_each - @pos runs over the nodes themselves, for a list whose items have no common type. */
#define list_for_each(pos, head) \
	for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

#endif
