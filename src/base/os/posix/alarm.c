/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The thread runs while an alarm is open. It sleeps in poll(), so alarms are up to a millisecond late. */
#include "base/os/alarm.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"

struct ringer {
	pthread_t thread;
	struct os_event kick;	/* look again */
	bool stop;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* guards what follows, and all alarms */
static struct os_alarm *alarms;
static struct ringer *ringer;

static void hold_alarms(void)
{
	pthread_mutex_lock(&lock);
}

static void drop_alarms(void)
{
	pthread_mutex_unlock(&lock);
}

/* The child has no thread: it starts one with its first alarm. */
static void forget_alarms(void)
{
	alarms = NULL;
	ringer = NULL;
	drop_alarms();
}

__attribute__((constructor))
static void alarms_survive_fork(void)
{
	pthread_atfork(hold_alarms, drop_alarms, forget_alarms);
}

/* ring_due - signal those whose time has come.  Returns the time of the next one.  Caller holds the lock. */
static uint64_t ring_due(uint64_t now)
{
	uint64_t next = UINT64_MAX;
	struct os_alarm *alarm;

	for (alarm = alarms; alarm; alarm = alarm->next) {
		if (alarm->at_ns <= now) {
			alarm->at_ns = UINT64_MAX;
			os_event_signal(&alarm->event);
		} else if (alarm->at_ns < next) {
			next = alarm->at_ns;
		}
	}
	return next;
}

static void *ringer_run(void *arg)
{
	struct ringer *r = arg;
	struct pollfd kick = { .fd = r->kick.fd, .events = POLLIN };
	uint64_t next, now;

	pthread_mutex_lock(&lock);
	while (!r->stop) {
		os_event_clear(&r->kick);
		now = clock_ns();
		next = ring_due(now);
		pthread_mutex_unlock(&lock);
		poll(&kick, 1, clock_ms_left(next, now));
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* ringer_thread - with all signals blocked, which are for the threads of the program. */
static int ringer_thread(struct ringer *r)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&r->thread, NULL, ringer_run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

/* ringer_start - if there is none.  Caller holds the lock. */
static int ringer_start(void)
{
	struct ringer *r;
	int ret;

	if (ringer)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	ret = os_event_open(&r->kick);
	if (!ret)
		ret = ringer_thread(r);
	if (ret) {
		os_event_close(&r->kick);
		free(r);
		return ret;
	}
	ringer = r;
	return 0;
}

int os_alarm_open(struct os_alarm *alarm)
{
	int ret = os_event_open(&alarm->event);

	if (ret)
		return ret;
	alarm->at_ns = UINT64_MAX;
	pthread_mutex_lock(&lock);
	ret = ringer_start();
	if (!ret) {
		alarm->next = alarms;
		alarms = alarm;
	}
	pthread_mutex_unlock(&lock);
	if (ret)
		os_event_close(&alarm->event);
	return ret;
}

/* alarm_forget - nothing for one of the parent of a forked child.  Caller holds the lock. */
static void alarm_forget(const struct os_alarm *alarm)
{
	struct os_alarm **at;

	for (at = &alarms; *at; at = &(*at)->next)
		if (*at == alarm) {
			*at = alarm->next;
			return;
		}
}

void os_alarm_close(struct os_alarm *alarm)
{
	struct ringer *ended = NULL;

	if (alarm->event.fd < 0)
		return;
	pthread_mutex_lock(&lock);
	alarm_forget(alarm);
	os_event_close(&alarm->event);
	if (ringer && !alarms) {
		ended = ringer;
		ended->stop = true;
		os_event_signal(&ended->kick);
		ringer = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (!ended)
		return;
	pthread_join(ended->thread, NULL);
	os_event_close(&ended->kick);
	free(ended);
}

void os_alarm_set(struct os_alarm *alarm, uint64_t at_ns)
{
	pthread_mutex_lock(&lock);
	os_event_clear(&alarm->event);
	alarm->at_ns = at_ns;
	if (at_ns <= clock_ns())
		ring_due(at_ns);
	else if (ringer && at_ns != UINT64_MAX)
		os_event_signal(&ringer->kick);
	pthread_mutex_unlock(&lock);
}
