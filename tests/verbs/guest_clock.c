// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * guest_clock.c - prints the rate of this machine's time stamp counter in kHz, for the kernel that tests/verbs/guest
 * boots; nothing where there is no such counter.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>

#define TRIES		50
#define PERIOD_US	100000

struct moment {
	uint64_t	ticks;
	int64_t		ns;
};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Both clocks at one time: of several readings the one that took least, so that none that was interrupted. */
static struct moment moment_read(void)
{
	struct moment best = { 0, 0 };
	int64_t least = INT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		int64_t before = now_ns();
		uint64_t ticks = __rdtsc();
		int64_t after = now_ns();

		if (after - before < least) {
			least = after - before;
			best = (struct moment){ ticks, before + (after - before) / 2 };
		}
	}
	return best;
}

int main(void)
{
	struct moment from = moment_read(), to;

	usleep(PERIOD_US);
	to = moment_read();
	printf("%.0f\n", (double)(to.ticks - from.ticks) * 1e6 / (double)(to.ns - from.ns));
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
