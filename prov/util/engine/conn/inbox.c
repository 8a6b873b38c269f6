/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/inbox.h"

#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/os/event.h"

/* How often what had to wait is tried again. */
#define RETRY_NS CLOCK_NS_PER_MS

static const char inbox_key;

struct eng_inbox {
	struct obj_poller poller;	/* fd: of @event */
	struct os_event event;
	pthread_mutex_t lock;		/* guards @posted */
	struct list posted;		/* struct eng_work, oldest first */
	struct list todo;		/* being run, or to be tried again; under prog->lock */
	_Atomic bool signaled;		/* something is in @posted, and the fd is readable */
	bool running;			/* a run() has called poll() */
};

static struct eng_inbox *inbox_of(struct obj_poller *poller)
{
	return container_of(poller, struct eng_inbox, poller);
}

/* The flag goes down first: who posts from now on raises it, and the fd, again. */
static void inbox_collect(struct eng_inbox *inbox)
{
	atomic_store(&inbox->signaled, false);
	os_event_clear(&inbox->event);
	pthread_mutex_lock(&inbox->lock);
	list_splice_tail(&inbox->posted, &inbox->todo);
	pthread_mutex_unlock(&inbox->lock);
}

static int inbox_poll(struct obj_poller *poller, unsigned budget)
{
	struct eng_inbox *inbox = inbox_of(poller);
	struct eng_work *work;
	int done = 0;

	if (inbox->running)
		return 0;
	if (atomic_load_explicit(&inbox->signaled, memory_order_relaxed))
		inbox_collect(inbox);
	inbox->running = true;
	while (budget-- && (work = list_pop_entry(&inbox->todo, struct eng_work, node))) {
		list_init(&work->node);
		if (work->run(work) == -FI_EAGAIN) {
			list_add(&work->node, &inbox->todo);
			break;
		}
		done++;
	}
	inbox->running = false;
	return done;
}

static int inbox_arm(struct obj_poller *poller, uint64_t *deadline_ns)
{
	struct eng_inbox *inbox = inbox_of(poller);
	uint64_t then;

	if (atomic_load(&inbox->signaled))
		return -FI_EAGAIN;
	if (list_empty(&inbox->todo))
		return 0;
	then = clock_ns() + RETRY_NS;
	if (then < *deadline_ns)
		*deadline_ns = then;
	return 0;
}

static void inbox_close(struct obj_poller *poller)
{
	struct eng_inbox *inbox = inbox_of(poller);

	os_event_close(&inbox->event);
	pthread_mutex_destroy(&inbox->lock);
	free(inbox);
}

static const struct obj_poller_ops inbox_ops = {
	.poll = inbox_poll,
	.arm = inbox_arm,
	.close = inbox_close,
};

/* Caller holds prog->lock. */
static int inbox_make(struct obj_prog *prog, struct eng_inbox **inbox_p)
{
	struct eng_inbox *inbox = calloc(1, sizeof(*inbox));
	int ret;

	if (!inbox)
		return -FI_ENOMEM;
	inbox->poller.ops = &inbox_ops;
	inbox->poller.key = &inbox_key;
	ret = os_event_open(&inbox->event);
	if (ret) {
		free(inbox);
		return ret;
	}
	inbox->poller.fd = inbox->event.fd;
	pthread_mutex_init(&inbox->lock, NULL);
	list_init(&inbox->posted);
	list_init(&inbox->todo);
	obj_prog_add(prog, &inbox->poller);
	*inbox_p = inbox;
	return 0;
}

int eng_inbox_get(struct eng_grp *grp, struct eng_inbox **inbox_p)
{
	struct obj_prog *prog = grp->poller.prog;
	struct obj_poller *poller;
	int ret = 0;

	lock_get(&prog->lock);
	poller = obj_prog_find(prog, &inbox_key);
	if (poller)
		*inbox_p = inbox_of(poller);
	else
		ret = inbox_make(prog, inbox_p);
	lock_put(&prog->lock);
	return ret;
}

void eng_inbox_post(struct eng_inbox *inbox, struct eng_work *work, _Atomic bool *posted_p)
{
	/* All under the lock: once it is released the inbox may be gone. */
	pthread_mutex_lock(&inbox->lock);
	list_add_tail(&work->node, &inbox->posted);
	atomic_store(posted_p, true);
	if (!atomic_exchange(&inbox->signaled, true))
		os_event_signal(&inbox->event);
	pthread_mutex_unlock(&inbox->lock);
}

void eng_inbox_take(struct eng_inbox *inbox, struct eng_work *work)
{
	pthread_mutex_lock(&inbox->lock);
	list_del(&work->node);
	list_init(&work->node);
	pthread_mutex_unlock(&inbox->lock);
}
