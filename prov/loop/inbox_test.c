/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Inboxes: order, references, closing, the descriptor, and senders in several threads. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "name.h"

static struct loop_inbox *open_inbox(const char *service)
{
	struct loop_inbox *inbox = NULL;
	char name[LOOP_NAME_MAX];

	assert_int_equal(loop_name_make(NULL, service, name), 0);
	assert_int_equal(loop_inbox_new(name, &inbox), 0);
	return inbox;
}

static unsigned close_inbox(struct loop_inbox *inbox)
{
	struct list rest, *item;
	unsigned cnt = 0;

	list_init(&rest);
	loop_inbox_close(inbox, &rest);
	for (; (item = list_pop(&rest)); cnt++)
		loop_msg_free(container_of(item, struct loop_msg, node));
	loop_inbox_put(inbox);
	return cnt;
}

static int post(struct loop_inbox *to, struct loop_inbox *from, uint64_t serial)
{
	struct loop_msg *msg = loop_msg_new(from, LOOP_PACKET, 0);

	assert_non_null(msg);
	msg->serial = serial;
	return loop_inbox_post(to, msg);
}

static bool readable(const struct loop_inbox *inbox)
{
	struct pollfd fd = { .fd = inbox->event.fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void messages_keep_their_order_and_show_in_the_descriptor(void **state)
{
	struct loop_inbox *a = open_inbox("a"), *b = open_inbox("b");
	struct list msgs, *item;
	uint64_t next = 0;

	list_init(&msgs);
	assert_false(readable(b));
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(post(b, a, i), 0);
	assert_true(readable(b));
	assert_false(readable(a));
	loop_inbox_take(b, &msgs);
	assert_false(readable(b));
	assert_int_equal(post(b, a, 5), 0);
	assert_true(readable(b));
	loop_inbox_take(b, &msgs);
	loop_inbox_take(b, &msgs);	/* nothing is there */
	while ((item = list_pop(&msgs))) {
		assert_int_equal(container_of(item, struct loop_msg, node)->serial, next++);
		assert_ptr_equal(container_of(item, struct loop_msg, node)->from, a);
		loop_msg_free(container_of(item, struct loop_msg, node));
	}
	assert_int_equal(next, 6);
	assert_int_equal(close_inbox(a), 0);
	assert_int_equal(close_inbox(b), 0);
}

static void a_closed_inbox_takes_nothing_and_frees_its_name(void **state)
{
	struct loop_inbox *a = open_inbox("a"), *b = open_inbox("b"), *found = NULL;
	char name[LOOP_NAME_MAX];

	strcpy(name, b->name);
	assert_int_equal(loop_inbox_new(name, &found), -FI_EADDRINUSE);
	assert_int_equal(loop_inbox_find(name, &found), 0);
	assert_ptr_equal(found, b);
	assert_int_equal(post(b, a, 0), 0);
	assert_int_equal(close_inbox(b), 1);
	assert_int_equal(post(found, a, 1), -FI_ECONNRESET);
	loop_inbox_put(found);
	assert_int_equal(loop_inbox_find(name, &found), -FI_ECONNREFUSED);
	assert_int_equal(close_inbox(open_inbox("b")), 0);
	assert_int_equal(close_inbox(a), 0);
}

static void a_name_of_another_process_is_told_apart(void **state)
{
	struct loop_inbox *found = NULL;
	char name[LOOP_NAME_MAX];

	snprintf(name, sizeof(name), "fi_loop://%ld:0", (long) getpid() + 1);
	assert_int_equal(loop_inbox_find(name, &found), -FI_EHOSTUNREACH);
	assert_int_equal(loop_inbox_new(name, &found), -FI_EADDRNOTAVAIL);
	/* whose number begins with ours */
	snprintf(name, sizeof(name), "fi_loop://%ld1:0", (long) getpid());
	assert_int_equal(loop_inbox_find(name, &found), -FI_EHOSTUNREACH);
	snprintf(name, sizeof(name), "fi_loop://%ld:0", (long) getpid());
	assert_int_equal(loop_inbox_find(name, &found), -FI_ECONNREFUSED);
}

static void names_are_made_of_nodes_and_services(void **state)
{
	char name[LOOP_NAME_MAX], pid[LOOP_NAME_MAX], service[LOOP_NAME_MAX];
	struct fi_info *info = fi_allocinfo(), *one, *two;

	snprintf(pid, sizeof(pid), "fi_loop://%ld", (long) getpid());
	assert_int_equal(loop_name_make(NULL, NULL, name), 0);
	assert_string_equal(name, pid);
	assert_false(loop_name_here(name));	/* any endpoint is none */
	assert_int_equal(loop_name_make("localhost", "7", name), 0);
	assert_string_equal(name + strlen(pid), "/7");
	assert_true(loop_name_here(name));
	assert_int_equal(loop_name_make("fi_loop://1:2", "7", name), 0);
	assert_string_equal(name, "fi_loop://1:2");
	assert_int_equal(loop_name_make("192.0.2.1", NULL, name), -FI_ENODATA);
	memset(service, 'x', sizeof(service));
	service[sizeof(service) - 1] = 0;
	assert_int_equal(loop_name_make(NULL, service, name), -FI_EINVAL);

	/* each endpoint of an info without a service has a name of its own */
	info->src_addr = strdup(pid);
	info->src_addrlen = strlen(pid) + 1;
	one = loop_name_own(info);
	two = loop_name_own(info);
	assert_true(loop_name_here(one->src_addr));
	assert_string_not_equal(one->src_addr, two->src_addr);
	fi_freeinfo(two);
	two = loop_name_own(one);
	assert_string_equal(one->src_addr, two->src_addr);
	fi_freeinfo(one);
	fi_freeinfo(two);
	fi_freeinfo(info);
}

#define SENDERS 4
#define EACH 20000

struct sender {
	pthread_t thread;
	struct loop_inbox *to, *from;
};

static void *send_all(void *arg)
{
	struct sender *sender = arg;

	for (uint64_t i = 0; i < EACH; i++)
		if (post(sender->to, sender->from, i))
			abort();
	return NULL;
}

static void senders_in_several_threads_keep_their_own_order(void **state)
{
	struct loop_inbox *to = open_inbox("to");
	struct sender senders[SENDERS];
	uint64_t next[SENDERS] = { 0 };
	unsigned got = 0, i;
	struct loop_msg *msg;
	struct list msgs, *item;
	char service[8];

	list_init(&msgs);
	for (i = 0; i < SENDERS; i++) {
		snprintf(service, sizeof(service), "%u", i);
		senders[i].to = to;
		senders[i].from = open_inbox(service);
		assert_int_equal(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
	}
	while (got < SENDERS * EACH) {
		struct pollfd fd = { .fd = to->event.fd, .events = POLLIN };

		assert_int_equal(poll(&fd, 1, 20000), 1);	/* no wake-up is lost */
		loop_inbox_take(to, &msgs);
		for (; (item = list_pop(&msgs)); got++) {
			msg = container_of(item, struct loop_msg, node);
			for (i = 0; senders[i].from != msg->from; i++)
				;
			assert_int_equal(msg->serial, next[i]++);
			loop_msg_free(msg);
		}
	}
	for (i = 0; i < SENDERS; i++) {
		pthread_join(senders[i].thread, NULL);
		close_inbox(senders[i].from);
	}
	assert_int_equal(close_inbox(to), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_keep_their_order_and_show_in_the_descriptor),
		cmocka_unit_test(a_closed_inbox_takes_nothing_and_frees_its_name),
		cmocka_unit_test(a_name_of_another_process_is_told_apart),
		cmocka_unit_test(names_are_made_of_nodes_and_services),
		cmocka_unit_test(senders_in_several_threads_keep_their_own_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
