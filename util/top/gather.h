/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * gather.h - ask processes of this host what their endpoints do (obj/inspect/record.h).
 *
 * What they answer is checked as a stranger's: lengths, the end of texts, how much it is, how long it takes.
 */
#ifndef UTIL_TOP_GATHER_H
#define UTIL_TOP_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "obj/inspect/record.h"

#define ANSWER_MAX ((size_t) 64 << 20)	/* bytes that one process may answer */

/* The answer of one copy of the library in a process. */
struct answer {
	pid_t pid;
	int rank;		/* of a parallel job, from its environment; -1: none */
	uint8_t *buf;		/* whole records, each of a known length */
	size_t len;
	bool complete;		/* up to INSPECT_END */
	const char *silent;	/* why it was not asked, or has not answered; NULL: it has */
	char command[64];	/* silent: its name */
	char host[64];		/* another one, as it has told a peer (remote.h); "": this one */
};

struct answers {
	struct answer *of;
	size_t cnt;
};

/* answers_gather - ask the processes of this user (root: of all), or those of @pids.
 * Ownership: answers_free() frees.   Errors: -FI_ENOSYS: the kernel lists no sockets.  A process that does
 * not answer has an answer without records, which says so; one that ends meanwhile has none.
 */
int answers_gather(const pid_t *pids, size_t pid_cnt, uint32_t want, struct answers *answers);
void answers_free(struct answers *answers);

/* answers_add - @answer, with its buffer, belongs to @answers, or is freed. */
void answers_add(struct answers *answers, struct answer *answer);

/* record_at - the record at @off as one of @size bytes in @out: what the answer lacks is 0, and what
 * is not to be printed in its texts is a question mark.  Returns its type, or 0: there is none.
 * @next_p: [out] where the next one is
 */
union record {
	struct inspect_head head;
	struct inspect_process process;
	struct inspect_ep ep;
	struct inspect_peer peer;
	struct inspect_path path;
	struct inspect_send send;
	struct inspect_recv recv;
	struct inspect_msg msg;
	struct inspect_remote remote;
	struct inspect_end end;
	uint64_t room[INSPECT_RECORD_MAX / 8];
};

unsigned record_at(const struct answer *answer, size_t off, union record *out, size_t *next_p);

#endif
