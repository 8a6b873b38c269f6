/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * find.h - the inspection sockets of this host (obj/inspect/record.h), and whose they are.
 *
 * Sockets in XDG_RUNTIME_DIR are found in every network namespace, abstract ones in this one; root enters the
 * others.  A name says nothing that is relied on: process and user come from the kernel.
 */
#ifndef UTIL_TOP_FIND_H
#define UTIL_TOP_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct finder {
	/* on_socket - @fd is connected to the inspection socket of @pid; the callee closes it.
	 * on_silent - @pid has one, or may have one, that cannot be asked.
	 */
	void (*on_socket)(struct finder *finder, int fd, pid_t pid);
	void (*on_silent)(struct finder *finder, pid_t pid, const char *why);
};

/* find_sockets - call both for the processes of this user (root: of all), each as often as it has sockets.
 * Errors: -FI_ENOSYS: the kernel lists no sockets.
 */
int find_sockets(struct finder *finder);

/* process_state - of process @pid as a letter, with its name; 0: there is none. */
char process_state(pid_t pid, char *command, size_t size);

/* clean_text - make the text in @size bytes one that can be printed. */
void clean_text(char *text, size_t size);

#endif
