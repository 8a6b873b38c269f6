/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* waker.c - the state of wake.h with its lock and descriptors. */
#include "progress/wake.h"

void obj_waker_init(struct obj_waker *waker, struct obj_wake *wake)
{
	int side;

	waker->wake = wake;
	for (side = 0; side < OBJ_WAKE_SIDES; side++)
		waker->ev[side] = OS_EVENT_NONE;
	pthread_mutex_init(&waker->lock, NULL);
	pthread_cond_init(&waker->left, NULL);
}

void obj_waker_fini(struct obj_waker *waker)
{
	int side;

	for (side = 0; side < OBJ_WAKE_SIDES; side++)
		os_event_close(&waker->ev[side]);
	pthread_cond_destroy(&waker->left);
	pthread_mutex_destroy(&waker->lock);
}

/* open_fd - make the descriptor of @side, if there is none.  Caller holds the lock. */
static int open_fd(struct obj_waker *waker, enum obj_wake_side side)
{
	struct os_event *ev = &waker->ev[side];
	int ret;

	if (ev->fd >= 0)
		return ev->fd;
	ret = os_event_open(ev);
	if (ret)
		return ret;
	if (waker->wake->readable >> side & 1)
		os_event_signal(ev);
	return ev->fd;
}

int obj_waker_fd(struct obj_waker *waker, enum obj_wake_side side)
{
	int ret;

	pthread_mutex_lock(&waker->lock);
	ret = open_fd(waker, side);
	pthread_mutex_unlock(&waker->lock);
	return ret;
}

bool obj_waker_signal(struct obj_waker *waker, bool force)
{
	unsigned side, make = 0;
	bool wake;

	pthread_mutex_lock(&waker->lock);
	wake = force || atomic_load(&waker->wake->armed);
	if (wake)
		make = obj_wake_signal(waker->wake);
	for (side = 0; side < OBJ_WAKE_SIDES; side++)
		if ((make >> side & 1) && waker->ev[side].fd >= 0)
			os_event_signal(&waker->ev[side]);
	pthread_mutex_unlock(&waker->lock);
	return wake;
}

/* waker_drain - before the thread looks: what is written from then on makes the descriptor readable again. */
static void waker_drain(struct obj_waker *waker, enum obj_wake_side side)
{
	if (waker->ev[side].fd >= 0)
		os_event_clear(&waker->ev[side]);
}

int obj_waker_enter(struct obj_waker *waker, unsigned *round)
{
	int ret;

	pthread_mutex_lock(&waker->lock);
	ret = open_fd(waker, OBJ_WAKE_IN);
	if (ret >= 0) {
		while (!obj_wake_may_enter(waker->wake))
			pthread_cond_wait(&waker->left, &waker->lock);
		if (obj_wake_enter(waker->wake, round))
			waker_drain(waker, OBJ_WAKE_IN);
	}
	pthread_mutex_unlock(&waker->lock);
	return ret;
}

bool obj_waker_leave(struct obj_waker *waker, unsigned round)
{
	bool woken;

	pthread_mutex_lock(&waker->lock);
	woken = round != waker->wake->round;
	if (obj_wake_leave(waker->wake, round))
		pthread_cond_broadcast(&waker->left);
	pthread_mutex_unlock(&waker->lock);
	return woken;
}

unsigned obj_waker_show(struct obj_waker *waker)
{
	unsigned round;

	pthread_mutex_lock(&waker->lock);
	if (obj_wake_show(waker->wake))
		waker_drain(waker, OBJ_WAKE_OUT);
	round = waker->wake->round;
	pthread_mutex_unlock(&waker->lock);
	return round;
}

unsigned obj_waker_round(struct obj_waker *waker)
{
	unsigned round;

	pthread_mutex_lock(&waker->lock);
	round = waker->wake->round;
	pthread_mutex_unlock(&waker->lock);
	return round;
}
