/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * server.h - the thread that answers on the inspection socket (record.h).
 *
 * It sleeps in accept(), with all signals blocked and a small stack, and serves one connection at a time,
 * each with limits of time.  The socket (listener.h) is closed by exec(), and a forked child does not keep it.
 */
#ifndef OBJ_INSPECT_SERVER_H
#define OBJ_INSPECT_SERVER_H

/* obj_server_start - start it, once in the life of a process, unless FI_INSPECT is 0 or the process has
 * changed its user or group by exec().  Without a thread or a socket the process cannot be looked at, and
 * works.
 */
void obj_server_start(void);

/* obj_server_whom - who may see what the endpoints do: FI_INSPECT.   Threading: any. */
enum obj_inspect {
	OBJ_INSPECT_NONE,	/* 0, or the process has changed its user or group by exec() */
	OBJ_INSPECT_USER,	/* this user, root, and peers that have proven a key */
	OBJ_INSPECT_ALL,	/* "all": peers without one, too */
};
enum obj_inspect obj_server_whom(void);

/* obj_server_rank - of this process in its parallel job (rank.h); -1: none is known.  The environment is read when the
 * first endpoint opens, not later: another thread of the program may change it.   Threading: any.
 */
int obj_server_rank(void);

/* obj_server_forked - in a forked child: it has none. */
void obj_server_forked(void);

#endif
