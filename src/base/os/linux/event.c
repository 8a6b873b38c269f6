/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/os/event.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int os_event_open(struct os_event *ev)
{
	ev->fd = ev->write_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return ev->fd < 0 ? -errno : 0;
}

void os_event_close(struct os_event *ev)
{
	if (ev->fd >= 0)
		close(ev->fd);
	*ev = OS_EVENT_NONE;
}

void os_event_signal(const struct os_event *ev)
{
	eventfd_write(ev->fd, 1);
}

bool os_event_clear(const struct os_event *ev)
{
	eventfd_t cnt;

	return !eventfd_read(ev->fd, &cnt);
}
