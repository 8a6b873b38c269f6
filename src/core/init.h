/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* init.h - initialization, at the first call into the library.
 *
 * Loading the library has no effect: no allocation, no file, no thread.  It has no destructor
 * and is linked with -z nodelete, so exit and dlclose() have nothing to undo.
 */
#ifndef CORE_INIT_H
#define CORE_INIT_H

/* core_init - define the library's parameters and prepare for fork().
 *
 * fork() waits until no other thread is changing the core's lists, so the child can open a
 * fabric at once.
 * Threading: any; cheap after the first call.
 */
void core_init(void);

#endif
