/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * inbox.h - work for a group from threads that do not hold its lock.
 *
 * A counter that reaches a threshold moves under whatever lock its group has, and
 * another provider calls under its own; what that starts belongs to another group.
 * So it is only noted here, and done by the group's next poll, in order.
 */
#ifndef ENG_INBOX_H
#define ENG_INBOX_H

#include <stdatomic.h>

#include "engine/grp.h"

struct eng_inbox;

/* eng_inbox_get - the inbox of @grp, made on first use.
 * Threading: takes prog->lock.  Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int eng_inbox_get(struct eng_grp *grp, struct eng_inbox **inbox_p);

/* eng_inbox_post - have @work->run() called by a poll, with prog->lock held; while it
 * returns -FI_EAGAIN it is called again, and what was posted later waits.
 *
 * @posted_p: set when it is in; nothing of the caller's is touched after that
 *
 * Ownership: the inbox keeps @work until it has run or is taken back.
 * Threading: any; takes no lock but the inbox's own.
 */
void eng_inbox_post(struct eng_inbox *inbox, struct eng_work *work, _Atomic bool *posted_p);

/* eng_inbox_take - take back what was posted and has not run.
 * Threading: caller holds prog->lock.
 */
void eng_inbox_take(struct eng_inbox *inbox, struct eng_work *work);

#endif
