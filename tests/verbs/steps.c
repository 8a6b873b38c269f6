/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "steps.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES 65536u		/* more than a loop has; a power of 2 */
#define STEPS_A_TURN 200000u	/* more, and it is not in its loop yet */

/* An address that was executed. */
struct place {
	uint64_t pc;		/* 0: none */
	uint32_t cnt;
	bool call;		/* a system call */
	bool repeats;		/* counts once, however often it steps */
};

static struct place places[PLACES];

#if defined(__x86_64__)

static uint64_t pc_of(pid_t pid)
{
	errno = 0;
	return (uint64_t) ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rip), 0);
}

static void look_at(pid_t pid, struct place *p)
{
	uint64_t word = (uint64_t) ptrace(PTRACE_PEEKTEXT, pid, p->pc, 0);
	unsigned char *byte = (unsigned char *) &word;
	unsigned at = 1;

	p->call = byte[0] == 0x0f && byte[1] == 0x05;
	if (byte[0] != 0xf2 && byte[0] != 0xf3)
		return;
	if ((byte[at] & 0xf0) == 0x40)
		at++;
	p->repeats = (byte[at] >= 0xa4 && byte[at] <= 0xa7) || (byte[at] >= 0xaa && byte[at] <= 0xaf);
}

#elif defined(__aarch64__)

#include <elf.h>
#include <sys/uio.h>

static uint64_t pc_of(pid_t pid)
{
	struct user_regs_struct regs = { 0 };
	struct iovec iov = { &regs, sizeof(regs) };

	errno = 0;
	ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov);
	return regs.pc;
}

static void look_at(pid_t pid, struct place *p)
{
	p->call = (uint32_t) ptrace(PTRACE_PEEKTEXT, pid, p->pc, 0) == 0xd4000001u;
}

#else
#error "which instruction is a system call?"
#endif

static struct place *place_of(pid_t pid, uint64_t pc)
{
	uint64_t i = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 48;
	struct place *p;
	unsigned tries;

	for (tries = 0; tries < PLACES; tries++) {
		p = &places[(i + tries) & (PLACES - 1)];
		if (p->pc == pc)
			return p;
		if (p->pc)
			continue;
		p->pc = pc;
		look_at(pid, p);
		return p;
	}
	fprintf(stderr, "steps: more than %u addresses\n", PLACES);
	exit(1);
}

/* Up to and with the next system call.  Returns its place; NULL: there is none, or no process. */
static struct place *one_turn(pid_t pid, volatile uint64_t *executed, unsigned *cnt_p)
{
	struct place *p, *last = NULL;
	unsigned cnt = 0;
	uint64_t pc;
	int status;

	while (cnt < STEPS_A_TURN) {
		pc = pc_of(pid);
		if (errno)
			return NULL;
		p = place_of(pid, pc);
		if (p != last || !p->repeats) {
			cnt++;
			p->cnt++;
			(*executed)++;
		}
		last = p;
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) || waitpid(pid, &status, __WALL) != pid ||
		    !WIFSTOPPED(status))
			return NULL;
		if (p->call) {
			*cnt_p = cnt;
			return p;
		}
	}
	return NULL;
}

/* How often it gave the processor up; -1: it is no more. */
static long sleeps(pid_t pid)
{
	char path[64], line[256];
	long cnt = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int) pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &cnt) == 1)
			break;
	if (f)
		fclose(f);
	return cnt;
}

bool steps_spins(pid_t pid)
{
	long before = sleeps(pid);

	sleep(1);
	return before > 0 && sleeps(pid) == before;
}

bool steps_count(pid_t pid, unsigned turns, unsigned pause_ms, struct steps_told *told,
		 struct steps *steps)
{
	struct steps_told nobody = { 0 };
	unsigned i, cnt = 0, before = 0, in_vain = 0;
	bool one_each = !told;
	struct place *p;
	uint64_t door = 0;
	int status;

	if (turns > STEPS_TURNS_MAX || ptrace(PTRACE_ATTACH, pid, 0, 0) ||
	    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return false;
	told = told ? told : &nobody;
	told->executed = 1;
	/* the first turns are not whole, or find more than one answer */
	for (i = 0; i < turns + 3; i++) {
		if (i == 3) {
			memset(places, 0, sizeof(places));
			before = told->messages;
		}
		in_vain = told->in_vain;
		p = one_turn(pid, &told->executed, &cnt);
		if (!p)
			break;
		if (i > 3 && p->pc != door)
			break;
		door = p->pc;
		if (i >= 3) {
			steps->turn[i - 3] = cnt;
			steps->in_vain[i - 3] = told->in_vain != in_vain;
		}
		usleep(pause_ms * 1000);
	}
	steps->turns = turns;
	steps->messages = one_each ? turns : told->messages - before;
	told->executed = 0;
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return i == turns + 3;
}

static int by_value(const void *a, const void *b)
{
	unsigned x = *(const unsigned *) a, y = *(const unsigned *) b;

	return (x > y) - (x < y);
}

double steps_mean(const struct steps *steps, unsigned *left_out)
{
	unsigned sorted[STEPS_TURNS_MAX], i, median, cnt = 0;
	double sum = 0;

	for (i = 0; i < steps->turns; i++)
		if (!steps->in_vain[i])
			sorted[cnt++] = steps->turn[i];
	if (!cnt) {			/* it has to look twice: that is its work, too */
		cnt = steps->turns;
		memcpy(sorted, steps->turn, cnt * sizeof(*sorted));
	}
	qsort(sorted, cnt, sizeof(*sorted), by_value);
	median = sorted[cnt / 2];
	for (i = 0; i < cnt && sorted[i] <= 2 * median; i++)
		sum += sorted[i];
	*left_out = steps->turns - i;
	return sum / i * steps->turns / steps->messages;
}

static void one_file(const char *name, uint64_t from, uint64_t to, uint64_t offset, unsigned messages,
		     bool addresses)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < PLACES; i++) {
		if (!places[i].cnt || places[i].pc < from || places[i].pc >= to)
			continue;
		sum += places[i].cnt;
		if (addresses)
			printf("%s 0x%llx %u\n", name,
			       (unsigned long long) (places[i].pc - from + offset), places[i].cnt);
	}
	if (sum)
		printf("  %8.1f a message in %s\n", (double) sum / messages, name);
}

void steps_where(pid_t pid, const struct steps *steps, bool addresses)
{
	char path[64], line[1024], name[512];
	unsigned long long from, to, offset;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int) pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		name[0] = '\0';
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %511s", &from, &to, &offset, name) >= 3)
			one_file(strrchr(name, '/') ? strrchr(name, '/') + 1 : name, from, to, offset,
				 steps->messages, addresses);
	}
	if (maps)
		fclose(maps);
}
