/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * name.h - names of endpoints, FI_ADDR_STR.
 *
 * A name is "prefix://rest" or "rest" alone, at most 239 characters; the rest is the key of
 * the listening socket.  "fi_shm://x" in a fi_info stands for any endpoint of x: one that is
 * opened from it is called "fi_shm://x:user:number".  Any other prefix is a whole
 * name.  fi_getinfo() makes "fi_ns://" names of a service, with or without a node, and
 * "fi_shm://" ones of a node, or of the process id and a mark of the namespaces in which it is one.
 */
#ifndef SHM_NAME_H
#define SHM_NAME_H

#include "link.h"

/* Longest name, with the terminating 0. */
#define SHM_NAME_MAX SHM_ADDR_MAX

extern const struct shm_naming shm_naming;

/* shm_name_make - the name that fi_getinfo() gives for a node and a service, either of
 * which may be NULL.  A node that means this host is left out beside a service: a
 * server that gives a service alone is then found.
 * Errors: -FI_EINVAL: too long.
 */
int shm_name_make(const char *node, const char *service, char name[SHM_NAME_MAX]);

/* shm_name_is_any - does @src stand for any endpoint, so that one needs a number? */
bool shm_name_is_any(const char *src);

/* shm_name_is_foreign - was @name made by a process of other namespaces, or of another host?
 * Threading: any.
 * Errors:    none; false for names that have no mark
 */
bool shm_name_is_foreign(const char *name);

/* shm_name_number - the @number-th endpoint's name; @src is cut where the two are too long.
 * Errors: -FI_EINVAL: @src alone is.
 */
int shm_name_number(const char *src, unsigned number, char name[SHM_NAME_MAX]);

/* shm_name_hint - a name that the program put into its hints, or NULL. */
static inline const char *shm_name_hint(const void *addr, size_t len)
{
	return addr && len && memchr(addr, 0, len) && *(const char *) addr ? addr : NULL;
}

/* shm_name_own - eng_domain_ops.named. */
struct fi_info *shm_name_own(const struct fi_info *info);

#endif
