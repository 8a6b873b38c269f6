/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* waits.h - what tests of wait objects and of wait sets share. */
#ifndef OBJ_TEST_WAITS_H
#define OBJ_TEST_WAITS_H

#include "obj/test/fake.h"

#include <poll.h>
#include <unistd.h>

#include "progress/fdset.h"

static inline int readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	fdset_settle(fd);
	return poll(&pfd, 1, ms);
}

static inline int cq_fd(struct fid_cq *which)
{
	int fd = -1;

	assert_int_equal(fi_control(&which->fid, FI_GETWAIT, &fd), 0);
	assert_true(fd >= 0);
	return fd;
}

static inline void *deliver_later(void *arg)
{
	usleep(20000);
	fake_deliver(arg, 1);
	return NULL;
}

#endif
