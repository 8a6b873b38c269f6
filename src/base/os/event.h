/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * event.h - a descriptor that a thread sleeps on until another one signals it.
 *
 * Linux: an eventfd. POSIX: a pipe.
 *
 * Threading: any.
 */
#ifndef OS_EVENT_H
#define OS_EVENT_H

#include <stdbool.h>

struct os_event {
	int fd;			/* readable while signalled; -1: not open */
	int write_fd;		/* of the pipe; the same as @fd where there is one descriptor */
};

#define OS_EVENT_NONE ((struct os_event) { -1, -1 })

/* os_event_open - not signalled.  Returns 0, or -EMFILE, -ENFILE, -ENOMEM, and then @ev is OS_EVENT_NONE.
 * os_event_close - nothing if it is not open.
 */
int os_event_open(struct os_event *ev);
void os_event_close(struct os_event *ev);

/* os_event_signal - readable until the next os_event_clear(), however often it is signalled before.
 * os_event_clear - Returns whether it was signalled.
 */
void os_event_signal(const struct os_event *ev);
bool os_event_clear(const struct os_event *ev);

#endif
