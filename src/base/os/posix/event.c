/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/os/event.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* prepare_fd - as an eventfd is opened: neither inherited by programs nor blocking. */
static int prepare_fd(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC) || fcntl(fd, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

int os_event_open(struct os_event *ev)
{
	int fds[2], ret;

	*ev = OS_EVENT_NONE;
	if (pipe(fds))
		return -errno;
	*ev = (struct os_event) { .fd = fds[0], .write_fd = fds[1] };
	ret = prepare_fd(fds[0]);
	if (!ret)
		ret = prepare_fd(fds[1]);
	if (ret)
		os_event_close(ev);
	return ret;
}

void os_event_close(struct os_event *ev)
{
	if (ev->fd >= 0) {
		close(ev->fd);
		close(ev->write_fd);
	}
	*ev = OS_EVENT_NONE;
}

void os_event_signal(const struct os_event *ev)
{
	char byte = 0;

	while (write(ev->write_fd, &byte, 1) < 0 && errno == EINTR)
		;	/* a full pipe is readable */
}

bool os_event_clear(const struct os_event *ev)
{
	bool was = false;
	char bytes[64];
	ssize_t ret;

	do {
		ret = read(ev->fd, bytes, sizeof(bytes));
		was |= ret > 0;
	} while (ret == (ssize_t) sizeof(bytes) || (ret < 0 && errno == EINTR));
	return was;
}
