/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * thread.h - threads of the library.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* thread_start - start a thread in which all signals are blocked: they are the program's.
 * Errors: -FI_EAGAIN, and others of pthread_create(), negated.
 */
static inline int thread_start(pthread_t *thread_p, void *(*run)(void *arg), void *arg)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread_p, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

#endif
