/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * thread.h - threads of the library.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

#define THREAD_STACK_SMALL 65536	/* bytes */

/* thread_start_as - start a thread in which all signals are blocked: they are the program's.
 * @attr: NULL: as usual
 * Errors: -FI_EAGAIN, and others of pthread_create(), negated.
 */
static inline int thread_start_as(pthread_t *thread_p, const pthread_attr_t *attr, void *(*run)(void *arg),
				  void *arg)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread_p, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

static inline int thread_start(pthread_t *thread_p, void *(*run)(void *arg), void *arg)
{
	return thread_start_as(thread_p, NULL, run, arg);
}

/* thread_start_small - the same with a stack of 64 KiB, for a thread that mostly sleeps. */
static inline int thread_start_small(pthread_t *thread_p, void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attr;
	int ret;

	pthread_attr_init(&attr);
	ret = pthread_attr_setstacksize(&attr, THREAD_STACK_SMALL);
	ret = thread_start_as(thread_p, ret ? NULL : &attr, run, arg);
	pthread_attr_destroy(&attr);
	return ret;
}

#endif
