/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stress - all ranks to all, messages of mixed sizes, one thread or several.
 *
 * Both sides compute the content of each message from its position: nothing is exchanged for
 * that.
 */

#include "mt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BURST = 24 };

/* The traffic of a thread: a separate communicator. */
struct lane {
	MPI_Comm comm;
	unsigned int seed;
	int rounds;
	pthread_t thread;
};

/* A hash of a number. */
static unsigned int mix(unsigned int x)
{
	x = (x ^ (x >> 16)) * 0x7feb352d;
	x = (x ^ (x >> 15)) * 0x846ca68b;
	return x ^ (x >> 16);
}

static unsigned int message(const struct lane *lane, int round, int from, int to, int k)
{
	return mix(mix(mix(lane->seed + (unsigned int) round * 31) + (unsigned int) from * 101 +
		       (unsigned int) to) + (unsigned int) k);
}

/* Mostly small, seldom large, as in programs. */
static int length(unsigned int m)
{
	unsigned int class = m % 100, any = m >> 8;

	if (class < 60)
		return (int) (any % 300);
	if (class < 85)
		return (int) (any % 9000);
	if (class < 97)
		return (int) (any % 140000);
	return (int) (any % 1500000);
}

struct batch {
	MPI_Request req[2 * BURST];
	char *buf[2 * BURST];
	unsigned int seed[2 * BURST];
	int len[2 * BURST];
	int cnt;
};

static char *add(struct batch *b, unsigned int m)
{
	b->len[b->cnt] = length(m);
	b->seed[b->cnt] = m;
	b->buf[b->cnt] = mt_alloc((size_t) b->len[b->cnt]);
	return b->buf[b->cnt];
}

static void finish(struct batch *b, int received)
{
	MPI_Waitall(b->cnt, b->req, MPI_STATUSES_IGNORE);
	for (int i = 0; i < b->cnt; i++) {
		if (i < received)
			mt_verify(b->buf[i], (size_t) b->len[i], b->seed[i], "message");
		free(b->buf[i]);
	}
	b->cnt = 0;
}

/* One round with one partner in each direction: the receives before or after the sends. */
static void exchange(const struct lane *lane, int round, int to, int from, bool late)
{
	struct batch in = { .cnt = 0 }, out = { .cnt = 0 };

	for (int pass = 0; pass < 2; pass++)
		for (int k = 0; k < BURST; k++) {
			bool send = pass != late;
			unsigned int m;

			if (send) {
				m = message(lane, round, mt_rank, to, k);
				mt_fill(add(&out, m), (size_t) length(m), m);
				(m % 7 ? MPI_Isend : MPI_Issend)(out.buf[out.cnt], length(m), MPI_BYTE, to, k % 5,
								 lane->comm, &out.req[out.cnt]);
				out.cnt++;
			} else {
				m = message(lane, round, from, mt_rank, k);
				MPI_Irecv(add(&in, m), length(m), MPI_BYTE, from, k % 5, lane->comm,
					  &in.req[in.cnt]);
				in.cnt++;
			}
		}
	finish(&in, in.cnt);
	finish(&out, 0);
}

static void *run_lane(void *arg)
{
	struct lane *lane = arg;
	int sum;

	for (int round = 0; round < lane->rounds; round++) {
		int by = 1 + (int) (mix(lane->seed + (unsigned int) round) % (unsigned int) mt_size);

		exchange(lane, round, (mt_rank + by) % mt_size, (mt_rank + mt_size - by % mt_size) % mt_size,
			 round % 2);
		if (round % 5 == 4) {
			MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, lane->comm);
			mt_check(sum == round * mt_size, "allreduce of round %d", round);
		}
	}
	return NULL;
}

static void one_thread(void)
{
	const char *seed = getenv("MT_SEED");
	struct lane lane = { .comm = mt_comm, .seed = seed ? (unsigned int) atoi(seed) * 31 : 5, .rounds = 25 };

	run_lane(&lane);
}

static void threads(void)
{
	struct lane lanes[THREADS];

	for (int t = 0; t < THREADS; t++) {
		lanes[t] = (struct lane) { .seed = (unsigned int) t * 977 + 1, .rounds = 8 };
		MPI_Comm_dup(mt_comm, &lanes[t].comm);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_create(&lanes[t].thread, NULL, run_lane, &lanes[t]);
	for (int t = 0; t < THREADS; t++)
		pthread_join(lanes[t].thread, NULL);
	for (int t = 0; t < THREADS; t++)
		MPI_Comm_free(&lanes[t].comm);
}

/* Threads that share a communicator and select their messages by tag. */
static void *ping(void *arg)
{
	int tag = (int) (intptr_t) arg, next = (mt_rank + 1) % mt_size;
	int prev = (mt_rank + mt_size - 1) % mt_size, in;

	for (int i = 0; i < 100; i++) {
		MPI_Request req;
		int out = tag * 1000 + i;

		MPI_Isend(&out, 1, MPI_INT, next, tag, mt_comm, &req);
		MPI_Recv(&in, 1, MPI_INT, prev, tag, mt_comm, MPI_STATUS_IGNORE);
		mt_check(in == out, "tag %d brought %d, not %d", tag, in, out);
		MPI_Wait(&req, MPI_STATUS_IGNORE);
	}
	return NULL;
}

static void shared_comm(void)
{
	pthread_t thread[THREADS];

	for (int t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, ping, (void *) (intptr_t) (t + 1));
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
}

/* All send to one that receives from any rank. */
static void flood(void)
{
	enum { CNT = 100 };
	char *buf = mt_alloc(2000000);
	struct lane lane = { .seed = 99 };
	MPI_Status st;
	int *seen = mt_alloc(sizeof(int) * (size_t) mt_size), got;

	memset(seen, 0, sizeof(int) * (size_t) mt_size);
	for (int k = 0; mt_rank && k < CNT; k++) {
		unsigned int m = message(&lane, 0, mt_rank, 0, k);

		mt_fill(buf, (size_t) length(m), m);
		MPI_Send(buf, length(m), MPI_BYTE, 0, 1, mt_comm);
	}
	for (int n = 0; !mt_rank && n < CNT * (mt_size - 1); n++) {
		unsigned int m;

		MPI_Recv(buf, 2000000, MPI_BYTE, MPI_ANY_SOURCE, 1, mt_comm, &st);
		m = message(&lane, 0, st.MPI_SOURCE, 0, seen[st.MPI_SOURCE]++);
		MPI_Get_count(&st, MPI_BYTE, &got);
		mt_check(got == length(m), "%d bytes, not %d", got, length(m));
		mt_verify(buf, (size_t) got, m, "flood");
	}
	free(seen);
	free(buf);
}

static const struct mt_case single[] = {
	{ "mixed sizes", one_thread, 1 },
	{ "flood of one rank", flood, 2 },
};

static const struct mt_case several[] = {
	{ "mixed sizes, four threads", threads, 1 },
	{ "four threads on one communicator", shared_comm, 1 },
	{ "mixed sizes, one thread of MPI_THREAD_MULTIPLE", one_thread, 1 },
};

/* "threads" first: MPI_THREAD_MULTIPLE. */
int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "threads"))
		return mt_main(argc - 1, argv + 1, MPI_THREAD_MULTIPLE, several, mt_count(several));
	return mt_main(argc, argv, MPI_THREAD_SINGLE, single, mt_count(single));
}
