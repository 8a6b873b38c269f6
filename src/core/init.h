/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* init.h - what happens once, at the first call into the library.
 *
 * Loading the library does nothing at all: no allocation, no file, no thread.
 * It has no destructor either, and is linked with -z nodelete, so there is
 * nothing to go wrong at exit or at dlclose().
 */
#ifndef CORE_INIT_H
#define CORE_INIT_H

/* core_init - define the library's parameters and get ready for fork().
 *
 * fork() waits until no other thread is changing the core's lists; the child
 * can then open a fabric of its own from the start.
 *
 * Threading: any, cheap after the first time.
 */
void core_init(void);

#endif
