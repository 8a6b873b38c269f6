/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * alarm.h - a descriptor that is readable from a time on.
 *
 * Linux: a timerfd. POSIX: an event that a thread signals, which sleeps until the next alarm of the process.
 *
 * Threading: calls for one alarm do not run at the same time. In a forked child no alarm of the parent fires.
 */
#ifndef OS_ALARM_H
#define OS_ALARM_H

#include <stdint.h>

#include "base/os/event.h"

struct os_alarm {
	struct os_event event;	/* event.fd: the descriptor; -1: not open */
	struct os_alarm *next;	/* POSIX: on the list of all */
	uint64_t at_ns;		/* POSIX: UINT64_MAX: it does not fire */
};

/* os_alarm_open - does not fire.  Errors: -EMFILE, -ENFILE, -ENOMEM, -EAGAIN, and then it is not open.
 * os_alarm_close - nothing if it is not open.
 */
int os_alarm_open(struct os_alarm *alarm);
void os_alarm_close(struct os_alarm *alarm);

/* os_alarm_set - not readable until @at_ns nanoseconds of CLOCK_MONOTONIC, and readable from then on.
 * @at_ns: UINT64_MAX: never
 */
void os_alarm_set(struct os_alarm *alarm, uint64_t at_ns);

#endif
