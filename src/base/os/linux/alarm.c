/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/os/alarm.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>

#include "base/clock.h"

int os_alarm_open(struct os_alarm *alarm)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	alarm->event.fd = alarm->event.write_fd = fd;
	return fd < 0 ? -errno : 0;
}

void os_alarm_close(struct os_alarm *alarm)
{
	os_event_close(&alarm->event);
}

/* A time of 0 is no time to the kernel, but to stop. */
void os_alarm_set(struct os_alarm *alarm, uint64_t at_ns)
{
	struct itimerspec spec = { 0 };

	if (at_ns != UINT64_MAX) {
		spec.it_value.tv_sec = (time_t) (at_ns / CLOCK_NS_PER_S);
		spec.it_value.tv_nsec = (long) (at_ns % CLOCK_NS_PER_S) + !at_ns;
	}
	timerfd_settime(alarm->event.fd, TFD_TIMER_ABSTIME, &spec, NULL);
}
