/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * listener.h - the inspection socket: where it lies (record.h), and what removes it.
 *
 * A socket in a directory has a name there that outlives a process that is killed, or calls exec().  The next
 * process of the user that opens one removes names of ended processes, and so does fi_top.
 */
#ifndef OBJ_INSPECT_LISTENER_H
#define OBJ_INSPECT_LISTENER_H

/* obj_listener_open - a socket that listens; its name goes with a regular end of the process.
 * Errors: -errno.   Threading: once in the life of a process.
 */
int obj_listener_open(void);

/* obj_listener_forked - in a forked child: the name is the parent's. */
void obj_listener_forked(void);

#endif
