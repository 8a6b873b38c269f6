/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * inherit.h - sockets that a forked child does not keep.
 *
 * A connection ends when its last descriptor closes.  A child that has a copy, though it
 * never uses it, would keep the connections of its parent open when that dies, and peers
 * would wait for a process that is gone.  So the child's copies are closed in fork().
 * Descriptors that programs are given across exec() need nothing: all have O_CLOEXEC.
 */
#ifndef NET_INHERIT_H
#define NET_INHERIT_H

/* net_inherit_not - child processes do not inherit the socket @fd.  In the child the
 * number refers to /dev/null, so that closing it there has no effect.  Nothing has to be undone
 * when @fd is closed.  No effect when there is no memory for the record.
 * Threading: any.
 */
void net_inherit_not(int fd);

#endif
