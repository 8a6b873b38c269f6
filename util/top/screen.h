/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* screen.h - the terminal: keys one by one, its size, and how it was before. */
#ifndef UTIL_TOP_SCREEN_H
#define UTIL_TOP_SCREEN_H

#include <stddef.h>

#include "view.h"

/* screen_begin - the second screen, without echo; screen_end() or the end of the process gives back the first.
 * Errors: -errno: there is no terminal.
 */
int screen_begin(void);
void screen_end(void);

void screen_size(size_t *height_p, size_t *width_p);

/* screen_key - wait @ms for a key.  A signal that ends programs is KEY_QUIT; KEY_NONE: the time has passed, the
 * size has changed, or the key means nothing.
 */
enum view_key screen_key(int ms);

#endif
