/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

struct item {
	struct list node;
	int n;
};

static int nth(struct list *head, int n)
{
	struct item *item;

	list_for_each_entry(item, head, node)
		if (!n--)
			return item->n;
	return -1;
}

/* The length, counted forwards and backwards. */
static int length(struct list *head)
{
	struct list *pos;
	int there = 0, back = 0;

	list_for_each(pos, head)
		there++;
	for (pos = head->prev; pos != head; pos = pos->prev)
		back++;
	assert_int_equal(there, back);
	return there;
}

#define CNT 64

/* Compared with an array of numbers. */
static void test_model(void **state)
{
	struct item items[CNT];
	int model[CNT], cnt = 0, used[CNT] = { 0 }, steps, i, at;
	unsigned seed = 99;
	struct list head, *pos;

	list_init(&head);
	for (i = 0; i < CNT; i++)
		list_init(&items[i].node);
	for (steps = 0; steps < 20000; steps++) {
		i = rand_r(&seed) % CNT;
		items[i].n = i;
		switch (rand_r(&seed) % 4) {
		case 0:
			if (used[i])
				break;
			list_add_head(&items[i].node, &head);
			memmove(model + 1, model, (size_t) cnt++ * sizeof(*model));
			model[0] = i;
			used[i] = 1;
			break;
		case 1:
			if (used[i])
				break;
			list_add_tail(&items[i].node, &head);
			model[cnt++] = i;
			used[i] = 1;
			break;
		case 2:
			/* A second list_del() has no effect. */
			list_del(&items[i].node);
			list_del(&items[i].node);
			for (at = 0; at < cnt && model[at] != i; at++)
				;
			if (at < cnt)
				memmove(model + at, model + at + 1,
					(size_t) (--cnt - at) * sizeof(*model));
			used[i] = 0;
			break;
		default:
			pos = list_pop(&head);
			if (!cnt) {
				assert_null(pos);
				break;
			}
			assert_int_equal(container_of(pos, struct item, node)->n, model[0]);
			used[model[0]] = 0;
			memmove(model, model + 1, (size_t) --cnt * sizeof(*model));
		}
		assert_int_equal(list_empty(&head), !cnt);
		if (steps % 16)
			continue;
		assert_int_equal(length(&head), cnt);
		for (i = 0; i < cnt; i++)
			assert_int_equal(nth(&head, i), model[i]);
	}
}

static void test_splice(void **state)
{
	struct list a, b;
	struct item items[6], *item, *tmp;
	int i;

	list_init(&a);
	list_init(&b);
	list_splice_tail(&a, &b);
	assert_true(list_empty(&b));
	for (i = 0; i < 6; i++) {
		items[i].n = i;
		list_add_tail(&items[i].node, i < 3 ? &a : &b);
	}
	list_splice_tail(&b, &a);
	assert_true(list_empty(&b));
	assert_int_equal(length(&a), 6);
	for (i = 0; i < 6; i++)
		assert_int_equal(nth(&a, i), i);
	/* The body of list_for_each_entry_safe() may delete the current item. */
	list_for_each_entry_safe(item, tmp, &a, node)
		if (item->n % 2)
			list_del(&item->node);
	assert_int_equal(length(&a), 3);
	assert_int_equal(nth(&a, 2), 4);
}

struct aligned {
	_Alignas(64) char data[64];
	struct list node;
};

/* Behind the last item a loop has the address of the head, which is not aligned as an item is. */
static void test_aligned_items(void **state)
{
	struct { _Alignas(64) char pad[8]; struct list head; } at;
	struct list *volatile unknown = &at.head;	/* the compiler knows no head's place */
	struct aligned item, *pos, *tmp;
	struct list *head = unknown;
	int seen = 0;

	list_init(head);
	list_for_each_entry(pos, head, node)
		fail();
	list_for_each_entry_safe(pos, tmp, head, node)
		fail();
	list_add_tail(&item.node, head);
	list_for_each_entry(pos, head, node)
		seen += pos == &item;
	list_for_each_entry_safe(pos, tmp, head, node)
		list_del(&pos->node);
	assert_int_equal(seen, 1);
	assert_true(list_empty(head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_splice),
		cmocka_unit_test(test_aligned_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
