/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "inbox.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "name.h"

/* All open inboxes of the process. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list all = { &all, &all };

static void hold_all(void)
{
	pthread_mutex_lock(&all_lock);
}

static void drop_all(void)
{
	pthread_mutex_unlock(&all_lock);
}

/* A child of fork() must not inherit the lock as held by a thread that it does not have. */
__attribute__((constructor))
static void survive_fork(void)
{
	pthread_atfork(hold_all, drop_all, drop_all);
}

/* With all_lock. */
static struct loop_inbox *inbox_lookup(const char *name)
{
	struct loop_inbox *inbox;

	list_for_each_entry(inbox, &all, node)
		if (!strcmp(inbox->name, name))
			return inbox;
	return NULL;
}

/* The name is taken last: once it can be found, other threads post to it. */
int loop_inbox_new(const char *name, struct loop_inbox **inbox_p)
{
	struct loop_inbox *inbox;
	int ret;

	if (!loop_name_here(name))
		return -FI_EADDRNOTAVAIL;
	inbox = calloc(1, sizeof(*inbox));
	if (!inbox)
		return -FI_ENOMEM;
	strncpy(inbox->name, name, sizeof(inbox->name) - 1);
	atomic_init(&inbox->refs, 1);
	pthread_mutex_init(&inbox->lock, NULL);
	list_init(&inbox->node);
	list_init(&inbox->msgs);
	inbox->open = true;
	ret = os_event_open(&inbox->event);
	if (ret) {
		loop_inbox_put(inbox);
		return ret;
	}
	hold_all();
	if (inbox_lookup(inbox->name))
		ret = -FI_EADDRINUSE;
	else
		list_add_tail(&inbox->node, &all);
	drop_all();
	if (ret) {
		os_event_close(&inbox->event);
		loop_inbox_put(inbox);
		return ret;
	}
	*inbox_p = inbox;
	return 0;
}

int loop_inbox_find(const char *name, struct loop_inbox **inbox_p)
{
	struct loop_inbox *inbox;

	if (!loop_name_here(name))
		return -FI_EHOSTUNREACH;
	hold_all();
	inbox = inbox_lookup(name);
	if (inbox)
		loop_inbox_get(inbox);
	drop_all();
	if (!inbox)
		return -FI_ECONNREFUSED;
	*inbox_p = inbox;
	return 0;
}

/* Each message and each connection holds a reference: memory outlives the endpoint that closes. */
struct loop_inbox *loop_inbox_get(struct loop_inbox *inbox)
{
	atomic_fetch_add_explicit(&inbox->refs, 1, memory_order_relaxed);
	return inbox;
}

void loop_inbox_put(struct loop_inbox *inbox)
{
	if (atomic_fetch_sub_explicit(&inbox->refs, 1, memory_order_acq_rel) > 1)
		return;
	pthread_mutex_destroy(&inbox->lock);
	free(inbox);
}

int loop_inbox_post(struct loop_inbox *inbox, struct loop_msg *msg)
{
	bool open;

	pthread_mutex_lock(&inbox->lock);
	open = inbox->open;
	if (open && list_empty(&inbox->msgs))
		os_event_signal(&inbox->event);
	if (open)
		list_add_tail(&msg->node, &inbox->msgs);
	pthread_mutex_unlock(&inbox->lock);
	if (!open)
		loop_msg_free(msg);
	return open ? 0 : -FI_ECONNRESET;
}

/* All at once, so that the lock is not held while they are processed. */
void loop_inbox_take(struct loop_inbox *inbox, struct list *msgs)
{
	pthread_mutex_lock(&inbox->lock);
	if (!list_empty(&inbox->msgs))
		os_event_clear(&inbox->event);
	list_splice_tail(&inbox->msgs, msgs);
	pthread_mutex_unlock(&inbox->lock);
}

/* First no connection can be found any more, then no message can be posted: what is in the list
 * after that is all there will be.
 */
void loop_inbox_close(struct loop_inbox *inbox, struct list *msgs)
{
	hold_all();
	list_del(&inbox->node);
	drop_all();
	pthread_mutex_lock(&inbox->lock);
	inbox->open = false;
	list_splice_tail(&inbox->msgs, msgs);
	os_event_close(&inbox->event);
	pthread_mutex_unlock(&inbox->lock);
}

struct loop_msg *loop_msg_new(struct loop_inbox *from, enum loop_kind kind, size_t len)
{
	struct loop_msg *msg = malloc(sizeof(*msg) + len);

	if (!msg)
		return NULL;
	memset(msg, 0, sizeof(*msg));
	msg->from = loop_inbox_get(from);
	msg->kind = kind;
	return msg;
}

void loop_msg_free(struct loop_msg *msg)
{
	loop_inbox_put(msg->from);
	free(msg);
}
