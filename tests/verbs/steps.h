/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * steps.h - counts the instructions that a running process executes in user space, by
 * stepping it (ptrace): exact, needs no counters of the processor, and works in an
 * emulated machine, where time says nothing.
 *
 * A process that talks with another through a device makes a system call for each message
 * it sends, the doorbell.  After each it is held for a while, in which the other answers:
 * so it never looks in vain for what is not there yet, and what is counted is the work on
 * messages alone.
 */
#ifndef TESTS_VERBS_STEPS_H
#define TESTS_VERBS_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STEPS_TURNS_MAX 1024u

/* In memory of both: what a process that knows of it tells, and is told. */
struct steps_told {
	volatile unsigned messages;	/* that it has sent and had answered */
	volatile unsigned in_vain;	/* how often it looked for what was not there */
	volatile uint64_t executed;	/* [out] while it is stepped, instructions that it has executed,
					 * 1 at first; else 0: for a clock that stands while it is held */
};

struct steps {
	unsigned turns;			/* from doorbell to doorbell */
	unsigned turn[STEPS_TURNS_MAX];	/* instructions of each */
	bool in_vain[STEPS_TURNS_MAX];	/* the answer was late */
	unsigned messages;		/* in all of them, as the process counts */
};

/* steps_spins - true where @pid did not sleep for a second: it is in the loop that is to be
 * counted, and not on its way there, where being stopped may disturb it.
 */
bool steps_spins(pid_t pid);

/* steps_count - count @turns turns of the main thread of @pid, a child of the caller, and
 * hold it @pause_ms after each doorbell.
 *
 * @told: NULL: a turn is one message, and no look is known to be in vain
 *
 * Returns false where it is not in a steady state: it makes system calls from more than
 * one place, or too few; or has ended.  Then it may be asked again.
 * Threading: the thread that is the parent of @pid.
 */
bool steps_count(pid_t pid, unsigned turns, unsigned pause_ms, struct steps_told *told,
		 struct steps *steps);

/* steps_mean - instructions a message, without those turns in which the answer was late
 * after all: it looked in vain, or they are far above the median.  @left_out: [out] how many those were.
 */
double steps_mean(const struct steps *steps, unsigned *left_out);

/* steps_where - print where the instructions of the last count were, by file; with
 * @addresses, by address in the file, too: "FILE OFFSET COUNT".
 */
void steps_where(pid_t pid, const struct steps *steps, bool addresses);

#endif
