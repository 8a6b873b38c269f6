/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* export.h - marks the exported symbols of the library.
 *
 * All symbols are hidden (-fvisibility=hidden) except those marked CORE_EXPORT, of which
 * libfabric.map exports those that it lists.  CORE_OLD_VERSION binds a function to an older
 * symbol version; static archives have only the current versions, so there it is empty (libtool
 * defines PIC for the shared objects).
 */
#ifndef CORE_EXPORT_H
#define CORE_EXPORT_H

#define CORE_EXPORT	__attribute__((visibility("default"), used))

#ifndef PIC
#define CORE_OLD_VERSION(func, name, node)
#elif defined(__has_attribute) && __has_attribute(symver)
#define CORE_OLD_VERSION(func, name, node)				\
	extern __typeof__(func) func					\
		__attribute__((symver(#name "@" #node)));
#else
#define CORE_OLD_VERSION(func, name, node)				\
	__asm__(".symver " #func ", " #name "@" #node);
#endif

#endif
