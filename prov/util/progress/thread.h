/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * thread.h - the progress thread of a domain with automatic progress.
 *
 * The thread gives way: while the program itself polls a group or sleeps in a
 * blocking call on it, the thread leaves that group alone, because two threads
 * at one socket only slow each other down.  It looks again after OBJ_TICK_MS, takes over when there was no poll
 * meanwhile, and sleeps without a timer when nothing moves.
 *
 * A forked child has no progress thread, and nothing here touches the parent's.
 */
#ifndef PROGRESS_THREAD_H
#define PROGRESS_THREAD_H

struct obj_auto;
struct obj_prog;
struct fi_provider;

/* obj_auto_start - make the thread.  @name: of the domain, for the log.  Errors: -FI_ENOMEM, -FI_EMFILE, -FI_EAGAIN. */
int obj_auto_start(const struct fi_provider *prov, const char *name, struct obj_auto **auto_p);

/* obj_auto_stop - end the thread and free.  All groups have been forgotten. */
void obj_auto_stop(struct obj_auto *autop);

/* obj_auto_watch - drive @prog from now on; nothing if it is driven already.
 * Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int obj_auto_watch(struct obj_auto *autop, struct obj_prog *prog);

/* obj_auto_forget - stop driving @prog; on return the thread does not touch it. */
void obj_auto_forget(struct obj_prog *prog);

/* obj_auto_kick - have the thread look at its groups again. */
void obj_auto_kick(struct obj_prog *prog);

#endif
