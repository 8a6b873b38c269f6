/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * limit.h - how long a program of the tests may take.
 *
 * A machine with other work makes every program take long, so the limit is one of the
 * processor time that the process uses. What sleeps for ever uses none: ten times as many
 * seconds are the end in any case. tests/within is the same for a command of a script.
 */
#ifndef TESTS_LIMIT_H
#define TESTS_LIMIT_H

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

/* limit_time - from here on this process may use @seconds of processor time; 0: no limit any more.
 *
 * @ended: called in a signal handler when they are over: async-signal-safe calls only; NULL ends the
 *         process by a signal. fork() leaves the limit with the parent; a later call replaces it.
 */
static inline void limit_time(unsigned int seconds, void (*ended)(int))
{
	struct itimerval used = { .it_value = { .tv_sec = (time_t) seconds } };
	struct sigaction action = { .sa_handler = ended ? ended : SIG_DFL };

	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_PROF, &used, NULL);
	alarm(10 * seconds);
}

#endif
