/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/inspect/shown.h"

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "obj/inspect/server.h"
#include "progress/asked.h"
#include "progress/group.h"

#define NAP_NS 2000000		/* between two tries for the lock; who serves the request wakes the thread */
#define NAP_ALONE_NS 25000000	/* where there is no lock, and the program alone can serve it */
#define LOOK_FULL (OBJ_LOOK_SIZE / 2)	/* bytes that are sent together */
#define PATIENCE_NS 2000000	/* for the program's own progress, before the lock is tried for */
#define LEAST_NS 10000000	/* for an endpoint, where the others have taken all the time */

/* The registry.  A forked child begins with an empty one, since the endpoints in it are its parent's. */
static struct {
	pthread_mutex_t lock;
	struct list all;
	struct list *next;	/* of obj_shown_each(); moves on when that endpoint closes */
	unsigned cnt;
} reg = { .lock = PTHREAD_MUTEX_INITIALIZER };

enum step_state {
	STEP_NONE,
	STEP_ASKED,	/* a thread of the program is to take it */
	STEP_TAKEN,	/* it does */
	STEP_DONE,
};

static sem_t served;	/* the inspecting thread is to look at the request */

/* The one request.  @shown, @look and @more belong to the inspecting thread, but in TAKEN. */
static struct {
	_Atomic enum step_state state;
	struct obj_shown *shown;
	struct obj_look *look;
	bool more;
} request;

/* ---- the registry --------------------------------------------------------------------- */

static void request_serve(struct obj_prog *prog);

static void after_fork(void)
{
	pthread_mutex_init(&reg.lock, NULL);
	list_init(&reg.all);
	reg.next = NULL;
	reg.cnt = 0;
	sem_init(&served, 0, 0);
	atomic_store(&obj_asked, NULL);
	atomic_store(&request.state, STEP_NONE);
	obj_server_forked();
}

static void registry_start(void)
{
	list_init(&reg.all);
	sem_init(&served, 0, 0);
	obj_asked_take = request_serve;
	pthread_atfork(NULL, NULL, after_fork);
}

void obj_shown_add(struct obj_shown *shown)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, registry_start);
	pthread_mutex_lock(&reg.lock);
	list_add_tail(&shown->node, &reg.all);
	reg.cnt++;
	pthread_mutex_unlock(&reg.lock);
	obj_server_start();
}

/* request_withdraw - nothing is asked of @shown any more.  A thread that takes the step has the group's lock, or
 * is the caller.
 */
static void request_withdraw(const struct obj_shown *shown)
{
	enum step_state asked = STEP_ASKED;

	if (request.shown != shown)
		return;
	while (!atomic_compare_exchange_strong(&request.state, &asked, STEP_NONE)) {
		if (asked != STEP_TAKEN)
			break;
		asked = STEP_ASKED;
	}
	atomic_store(&obj_asked, NULL);
	request.shown = NULL;
}

void obj_shown_remove(struct obj_shown *shown)
{
	pthread_mutex_lock(&reg.lock);
	if (reg.next == &shown->node)
		reg.next = shown->node.next;
	request_withdraw(shown);
	list_del(&shown->node);
	reg.cnt--;
	pthread_mutex_unlock(&reg.lock);
}

unsigned obj_shown_count(void)
{
	unsigned cnt;

	pthread_mutex_lock(&reg.lock);
	cnt = reg.cnt;
	pthread_mutex_unlock(&reg.lock);
	return cnt;
}

/* ---- records ---------------------------------------------------------------------------- */

void *obj_look_add(struct obj_look *look, enum inspect_type type, size_t size)
{
	struct inspect_head *head = (struct inspect_head *) (void *) (look->buf + look->len);

	assert(size % 8 == 0 && size <= INSPECT_RECORD_MAX && "records keep their alignment");
	if (look->len + size > sizeof(look->buf))
		return NULL;
	memset(head, 0, size);
	head->len = (uint32_t) size;
	head->type = (uint16_t) type;
	look->len += size;
	look->items++;
	return head;
}

void obj_look_trim(struct obj_look *look, void *rec)
{
	struct inspect_head *head = rec;
	const uint64_t *words = rec;
	size_t cnt = head->len / 8;

	while (cnt > 1 && !words[cnt - 1])
		cnt--;
	look->len -= head->len - 8 * cnt;
	head->len = (uint32_t) (8 * cnt);
}

bool obj_look_ends(const struct obj_look *look)
{
	return look->items >= OBJ_LOOK_ITEMS || look->len + 4 * INSPECT_RECORD_MAX > sizeof(look->buf) ||
	       clock_ns() >= look->end_ns;
}

bool obj_look_passed(struct obj_look *look)
{
	look->items++;
	return obj_look_ends(look);
}

/* step_note - what the step has cost, where it is asked for. */
static void step_note(struct obj_look *look, uint64_t ns)
{
	unsigned items = look->items;
	struct inspect_step *rec;

	rec = look->want & INSPECT_STEPS ? obj_look_add(look, INSPECT_STEP, sizeof(*rec)) : NULL;
	if (!rec)
		return;
	rec->ns = ns;
	rec->items = items;
}

/* shown_step - returns how long it has lasted, in processor time. */
static uint64_t shown_step(struct obj_shown *shown, struct obj_look *look, bool *more_p)
{
	uint64_t begin = clock_thread_ns(), ns;

	look->items = 0;
	look->end_ns = clock_ns() + OBJ_LOOK_STEP_NS;
	*more_p = shown->step(shown, look);
	ns = clock_thread_ns() - begin;
	look->steps++;
	look->long_steps += ns > OBJ_LOOK_LONG_NS;
	if (look->longest_ns < ns)
		look->longest_ns = ns;
	step_note(look, ns);
	return ns;
}

/* request_show - reads of completions are to look at the request: they do not poll in vain. */
static void request_show(struct obj_prog *prog)
{
	atomic_store_explicit(&prog->staged, true, memory_order_relaxed);
}

/* ---- the program's side ------------------------------------------------------------------ */

static void request_serve(struct obj_prog *prog)
{
	enum step_state asked = STEP_ASKED;
	size_t len;

	if (!atomic_compare_exchange_strong(&request.state, &asked, STEP_TAKEN))
		return;
	if (request.shown->prog != prog) {	/* another request has taken its place meanwhile */
		atomic_store(&request.state, STEP_ASKED);
		return;
	}
	len = request.look->len;
	request.look->served_ns += shown_step(request.shown, request.look, &request.more);
	if (request.more && request.look->len > len && request.look->len < LOOK_FULL) {
		request_show(prog);
		atomic_store(&request.state, STEP_ASKED);	/* the next poll goes on */
		return;
	}
	atomic_store(&obj_asked, NULL);
	atomic_store(&request.state, STEP_DONE);
	sem_post(&served);
}

/* ---- the inspecting thread's side --------------------------------------------------------- */

/* What one turn of the inspecting thread has come to. */
enum outcome {
	OUT_WAIT,	/* not yet */
	OUT_MORE,	/* a step was taken, and there is more */
	OUT_ALL,	/* the last one was */
	OUT_GONE,	/* the endpoint has closed */
};

static void request_ask(struct obj_shown *shown, struct obj_look *look)
{
	request.shown = shown;
	request.look = look;
	atomic_store(&request.state, STEP_ASKED);
	atomic_store(&obj_asked, shown->prog);
}

static enum outcome request_took(bool more)
{
	atomic_store(&obj_asked, NULL);
	atomic_store(&request.state, STEP_NONE);
	return more ? OUT_MORE : OUT_ALL;
}

/* take_locked - the program is busy elsewhere: take the step here, if the group has a lock. */
static enum outcome take_locked(struct obj_shown *shown, struct obj_look *look)
{
	enum step_state asked = STEP_ASKED;
	bool more;

	if (shown->prog->lock.kind == LOCK_NONE || !lock_try(&shown->prog->lock))
		return OUT_WAIT;
	if (!atomic_compare_exchange_strong(&request.state, &asked, STEP_NONE)) {
		lock_put(&shown->prog->lock);
		return OUT_WAIT;	/* it was served meanwhile: the next turn sees it */
	}
	shown_step(shown, look, &more);
	lock_put(&shown->prog->lock);
	return request_took(more);
}

/* request_outcome - under the lock of the registry: has the request been served? */
static enum outcome request_outcome(struct obj_shown *shown, struct obj_look *look, bool patient)
{
	enum outcome out = OUT_WAIT;

	pthread_mutex_lock(&reg.lock);
	if (request.shown != shown)
		out = OUT_GONE;
	else if (atomic_load(&request.state) == STEP_DONE)
		out = request_took(request.more);
	else if (!patient)
		out = take_locked(shown, look);
	if (out == OUT_WAIT)
		request_show(shown->prog);
	pthread_mutex_unlock(&reg.lock);
	return out;
}

static void give_up(struct obj_shown *shown)
{
	pthread_mutex_lock(&reg.lock);
	request_withdraw(shown);
	atomic_store(&request.state, STEP_NONE);
	request.shown = NULL;
	pthread_mutex_unlock(&reg.lock);
}

static void wait_served(uint64_t ns)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);	/* the clock of sem_timedwait() */
	end.tv_nsec += (long) ns;
	end.tv_sec += end.tv_nsec / (long) CLOCK_NS_PER_S;
	end.tv_nsec %= (long) CLOCK_NS_PER_S;
	sem_timedwait(&served, &end);
}

/* one_step - until a step is taken, or @end_ns. */
static enum outcome one_step(struct obj_shown *shown, struct obj_look *look, uint64_t *patient_ns,
			     uint64_t end_ns)
{
	uint64_t nap = NAP_NS;
	enum outcome out;

	pthread_mutex_lock(&reg.lock);
	if (request.shown == shown) {	/* else it has closed */
		request_ask(shown, look);
		nap = shown->prog->lock.kind == LOCK_NONE ? NAP_ALONE_NS : NAP_NS;
	}
	pthread_mutex_unlock(&reg.lock);
	for (;;) {
		out = request_outcome(shown, look, clock_ns() < *patient_ns);
		if (out != OUT_WAIT || clock_ns() >= end_ns)
			break;
		wait_served(nap);
	}
	return out;
}

/* look_at - all steps of one endpoint.  Returns false: @send has ended it. */
static bool look_at(struct obj_shown *shown, struct obj_look *look, uint64_t end_ns,
		    bool (*send)(void *arg, struct obj_look *look), void *arg)
{
	uint64_t now = clock_ns(), patient_ns = now + PATIENCE_NS;
	enum outcome out;
	bool goes_on = true;
	size_t before;

	if (end_ns < now + LEAST_NS)
		end_ns = now + LEAST_NS;
	look->part = 0;
	look->pos = look->sub = look->done = look->len = 0;
	do {
		before = look->len;
		out = one_step(shown, look, &patient_ns, end_ns);
		if (out == OUT_MORE && look->len > before && look->len < LOOK_FULL)
			continue;
		if (out == OUT_WAIT) {
			give_up(shown);
			obj_look_add(look, INSPECT_LATE, sizeof(struct inspect_head));
		}
		goes_on = out == OUT_GONE || send(arg, look);
		look->len = 0;
	} while (out == OUT_MORE && goes_on);
	if (out == OUT_MORE)
		give_up(shown);
	return goes_on;
}

void obj_shown_each(struct obj_look *look, uint64_t wait_ns,
		    bool (*send)(void *arg, struct obj_look *look), void *arg)
{
	uint64_t end_ns = clock_ns() + wait_ns;
	struct obj_shown *shown;
	bool goes_on = true;

	pthread_mutex_lock(&reg.lock);
	reg.next = reg.all.next;
	while (goes_on && reg.next != &reg.all) {
		shown = container_of(reg.next, struct obj_shown, node);
		reg.next = reg.next->next;
		request.shown = shown;
		pthread_mutex_unlock(&reg.lock);
		goes_on = look_at(shown, look, end_ns, send, arg);
		pthread_mutex_lock(&reg.lock);
	}
	reg.next = NULL;
	request.shown = NULL;
	pthread_mutex_unlock(&reg.lock);
}
