/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * av_shared.h - an address vector that processes share by name.
 *
 * The table lies in a file of the shared memory file system, named for the user
 * and the vector.  Each process that has it open holds a shared lock on the
 * file, which the kernel drops when the process dies: the last process to
 * close the file removes it, and the first to open it initialises it, so that what a
 * killed program left does not disturb a later one.
 */
#ifndef OBJ_AV_SHARED_H
#define OBJ_AV_SHARED_H

#include "obj/av.h"

/* Most entries of a shared table; the space is reserved, not used. */
#define AV_SHARED_MAX (UINT32_C(1) << 22)
/* Fewest numbers at fi_av_attr::map_addr; else as many as fi_av_attr::count says. */
#define AV_NUMBERS_MIN 4096u

/* av_shared_open - map the table @name; creates it unless @flags has FI_READ.
 *
 * @av: addr_format, slot_size and rx_ctx_bits are set, its lock works
 *
 * Errors: -FI_ENOENT read-only and no process has it open; -FI_EINVAL the name is no
 * file name, or the vector there holds another address format; -FI_EACCES,
 * -FI_ENOMEM, -FI_EMFILE.  All are logged.
 */
int av_shared_open(struct obj_av *av, const char *name, uint64_t flags);
void av_shared_close(struct obj_av *av);

/* av_shared_enter, av_shared_leave - around each use of a shared table, within
 * av->lock: bring the counts in, and take them back.  Nothing if not shared.
 *
 * @write: the table will change; refused with -FI_EACCES when opened read-only
 */
int av_shared_enter(struct obj_av *av, bool write);
void av_shared_leave(struct obj_av *av, bool write);

/* av_shared_room - make room for entry @i in the file.  Errors: -FI_ENOSPC. */
int av_shared_room(struct obj_av *av, uint32_t i);

#endif
