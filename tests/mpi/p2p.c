/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* p2p - every way to send a message from one rank to another. */

#include "mt.h"

#include <stdlib.h>
#include <string.h>

/* Sizes around the limits that a library is likely to have: injected, eager, rendezvous. */
static const int sizes[] = { 0, 1, 8, 63, 64, 65, 255, 1000, 4095, 4096, 4097, 16384, 65535,
			     65536, 65537, 200000, 1 << 20 };

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*isend_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void expect(const MPI_Status *st, int source, int tag, int len)
{
	int got = -1;

	MPI_Get_count(st, MPI_BYTE, &got);
	mt_check(st->MPI_SOURCE == source && st->MPI_TAG == tag && got == len,
		 "from %d tag %d %d bytes, not from %d tag %d %d bytes", st->MPI_SOURCE,
		 st->MPI_TAG, got, source, tag, len);
}

static int next_rank(void)
{
	return (mt_rank + 1) % mt_size;
}

static int prev_rank(void)
{
	return (mt_rank + mt_size - 1) % mt_size;
}

/* 0 sends to 1 and gets a reply.  A ready send needs a posted receive: the receiver announces
 * it first.
 */
static void one_blocking(send_fn fn, int len, bool ready)
{
	char *buf = mt_alloc((size_t) len);
	MPI_Request req;
	MPI_Status st;

	if (mt_rank == 0) {
		mt_fill(buf, (size_t) len, 3);
		if (ready)
			MPI_Recv(NULL, 0, MPI_BYTE, 1, 9, mt_comm, MPI_STATUS_IGNORE);
		fn(buf, len, MPI_BYTE, 1, 5, mt_comm);
	} else if (mt_rank == 1) {
		MPI_Irecv(buf, len, MPI_BYTE, 0, 5, mt_comm, &req);
		if (ready)
			MPI_Send(NULL, 0, MPI_BYTE, 0, 9, mt_comm);
		MPI_Wait(&req, &st);
		expect(&st, 0, 5, len);
		mt_verify(buf, (size_t) len, 3, "received");
	}
	free(buf);
}

static void attach_buffer(void)
{
	int len = (4 << 20) + 64 * MPI_BSEND_OVERHEAD;

	MPI_Buffer_attach(mt_alloc((size_t) len), len);
}

static void detach_buffer(void)
{
	void *mem;
	int len;

	MPI_Buffer_detach(&mem, &len);
	free(mem);
}

static void blocking_modes(void)
{
	static const struct { send_fn fn; bool ready; } modes[] = {
		{ MPI_Send, false }, { MPI_Ssend, false }, { MPI_Bsend, false }, { MPI_Rsend, true },
	};

	attach_buffer();
	for (int m = 0; m < mt_count(modes); m++)
		for (int s = 0; s < mt_count(sizes); s++)
			one_blocking(modes[m].fn, sizes[s], modes[m].ready);
	detach_buffer();
}

/* All ranks to all, including themselves, with all receives posted first. */
static void one_nonblocking(isend_fn fn, int len)
{
	MPI_Request *req = mt_alloc(sizeof(*req) * 2 * (size_t) mt_size);
	MPI_Status *st = mt_alloc(sizeof(*st) * 2 * (size_t) mt_size);
	char *in = mt_alloc((size_t) len * (size_t) mt_size), *out = mt_alloc((size_t) len);

	mt_fill(out, (size_t) len, (unsigned int) mt_rank);
	for (int i = 0; i < mt_size; i++)
		MPI_Irecv(in + (size_t) i * (size_t) len, len, MPI_BYTE, i, 7, mt_comm, &req[i]);
	MPI_Barrier(mt_comm);		/* for the ready mode */
	for (int i = 0; i < mt_size; i++)
		fn(out, len, MPI_BYTE, i, 7, mt_comm, &req[mt_size + i]);
	MPI_Waitall(2 * mt_size, req, st);
	for (int i = 0; i < mt_size; i++) {
		expect(&st[i], i, 7, len);
		mt_verify(in + (size_t) i * (size_t) len, (size_t) len, (unsigned int) i, "from all");
	}
	free(req);
	free(st);
	free(in);
	free(out);
}

static void nonblocking_modes(void)
{
	static const isend_fn modes[] = { MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend };

	attach_buffer();
	for (int m = 0; m < mt_count(modes); m++)
		for (int s = 0; s < mt_count(sizes); s++) {
			one_nonblocking(modes[m], sizes[s]);
			MPI_Barrier(mt_comm);
		}
	detach_buffer();
}

static void persistent_modes(void)
{
	static const isend_fn modes[] = { MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
					  MPI_Rsend_init };
	static char in[70000], out[70000];
	MPI_Request req[2];
	MPI_Status st[2];

	attach_buffer();
	for (int m = 0; m < mt_count(modes); m++) {
		MPI_Recv_init(in, sizeof(in), MPI_BYTE, prev_rank(), m, mt_comm, &req[0]);
		modes[m](out, sizeof(out), MPI_BYTE, next_rank(), m, mt_comm, &req[1]);
		for (unsigned int round = 0; round < 20; round++) {
			/* Open MPI 4.1 packs a buffered persistent message once, over any
			 * library: its second round has the data of the first.
			 */
			unsigned int seed = modes[m] == MPI_Bsend_init ? 0 : round;

			mt_fill(out, sizeof(out), seed);
			MPI_Start(&req[0]);
			MPI_Barrier(mt_comm);
			MPI_Start(&req[1]);
			MPI_Waitall(2, req, st);
			expect(&st[0], prev_rank(), m, sizeof(in));
			mt_verify(in, sizeof(in), seed, "persistent");
		}
		MPI_Request_free(&req[0]);
		MPI_Request_free(&req[1]);
	}
	MPI_Recv_init(in, 8, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, mt_comm, &req[0]);
	MPI_Send_init(out, 8, MPI_BYTE, next_rank(), 99, mt_comm, &req[1]);
	for (int round = 0; round < 100; round++) {
		MPI_Startall(2, req);
		MPI_Waitall(2, req, st);
		expect(&st[0], prev_rank(), 99, 8);
	}
	MPI_Request_free(&req[0]);
	MPI_Request_free(&req[1]);
	detach_buffer();
}

/* A synchronous send does not complete before its receive is posted. */
static void synchronous(void)
{
	MPI_Request req;
	double start;
	int done = 0;
	char c = 1;

	if (mt_rank == 0) {
		MPI_Issend(&c, 1, MPI_BYTE, 1, 1, mt_comm, &req);
		for (start = MPI_Wtime(); MPI_Wtime() - start < 0.05;)
			MPI_Test(&req, &done, MPI_STATUS_IGNORE);
		mt_check(!done, "a synchronous send is done before its receive is posted");
		MPI_Send(NULL, 0, MPI_BYTE, 1, 2, mt_comm);
		MPI_Wait(&req, MPI_STATUS_IGNORE);
	} else if (mt_rank == 1) {
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, mt_comm, MPI_STATUS_IGNORE);
		MPI_Recv(&c, 1, MPI_BYTE, 0, 1, mt_comm, MPI_STATUS_IGNORE);
	}
}

static void probes(void)
{
	MPI_Message msg;
	MPI_Status st;
	int flag;
	char buf[4097], *big = mt_alloc(1 << 20);

	if (mt_rank == 0) {
		for (int s = 0; s < mt_count(sizes); s++) {
			mt_fill(big, (size_t) sizes[s], (unsigned int) s);
			MPI_Send(big, sizes[s], MPI_BYTE, 1, s, mt_comm);
		}
	} else if (mt_rank == 1) {
		for (int s = 0; s < mt_count(sizes); s++) {
			switch (s % 4) {
			case 0:
				MPI_Probe(0, s, mt_comm, &st);
				break;
			case 1:
				for (flag = 0; !flag;)
					MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mt_comm, &flag, &st);
				break;
			case 2:
				MPI_Mprobe(0, MPI_ANY_TAG, mt_comm, &msg, &st);
				break;
			case 3:
				for (flag = 0; !flag;)
					MPI_Improbe(MPI_ANY_SOURCE, s, mt_comm, &flag, &msg, &st);
				break;
			}
			expect(&st, 0, s, sizes[s]);
			if (s % 4 < 2)
				MPI_Recv(big, sizes[s], MPI_BYTE, 0, s, mt_comm, &st);
			else
				MPI_Mrecv(big, sizes[s], MPI_BYTE, &msg, &st);
			expect(&st, 0, s, sizes[s]);
			mt_verify(big, (size_t) sizes[s], (unsigned int) s, "probed");
		}
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mt_comm, &flag, &st);
		mt_check(!flag, "a message that no rank sent");
		MPI_Improbe(0, 1, mt_comm, &flag, &msg, &st);
		mt_check(!flag && msg == MPI_MESSAGE_NULL, "a matched message that no rank sent");
	}
	MPI_Mprobe(MPI_PROC_NULL, 0, mt_comm, &msg, &st);
	mt_check(msg == MPI_MESSAGE_NO_PROC, "a message from MPI_PROC_NULL");
	MPI_Mrecv(buf, sizeof(buf), MPI_BYTE, &msg, &st);
	expect(&st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
	free(big);
}

/* Messages that were matched first stay intact while others overtake them. */
static void mprobe_order(void)
{
	char out[4][20000], in[4][20000];
	MPI_Message msg[4];
	MPI_Request req[4];
	MPI_Status st;

	if (mt_rank == 0) {
		for (int i = 0; i < 4; i++) {
			mt_fill(out[i], sizeof(out[i]), (unsigned int) i);
			MPI_Isend(out[i], sizeof(out[i]), MPI_BYTE, 1, 3, mt_comm, &req[i]);
		}
		/* a send of this length may wait for its receive, which is posted after all
		 * probes
		 */
		MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
	} else if (mt_rank == 1) {
		for (int i = 0; i < 4; i++)
			MPI_Mprobe(0, 3, mt_comm, &msg[i], &st);
		for (int i = 3; i >= 0; i--)
			MPI_Imrecv(in[i], sizeof(in[i]), MPI_BYTE, &msg[i], &req[i]);
		MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
		for (int i = 0; i < 4; i++)
			mt_verify(in[i], sizeof(in[i]), (unsigned int) i, "claimed in reverse");
	}
}

static void cancel(void)
{
	MPI_Request req[3];
	MPI_Status st;
	int flag;
	char in[3], c = 42;

	for (int i = 0; i < 3; i++)
		MPI_Irecv(&in[i], 1, MPI_BYTE, prev_rank(), 20 + i, mt_comm, &req[i]);
	MPI_Cancel(&req[1]);
	MPI_Wait(&req[1], &st);
	MPI_Test_cancelled(&st, &flag);
	mt_check(flag, "a receive was not cancelled");
	MPI_Barrier(mt_comm);
	for (int i = 2; i >= 0; i -= 2)
		MPI_Send(&c, 1, MPI_BYTE, next_rank(), 20 + i, mt_comm);
	MPI_Wait(&req[0], &st);
	MPI_Test_cancelled(&st, &flag);
	mt_check(!flag && in[0] == 42, "the receive before it");
	MPI_Wait(&req[2], &st);
	mt_check(in[2] == 42, "the receive after it");
	/* A message that has arrived is no longer cancelled. */
	MPI_Irecv(&in[0], 1, MPI_BYTE, prev_rank(), 30, mt_comm, &req[0]);
	MPI_Send(&c, 1, MPI_BYTE, next_rank(), 30, mt_comm);
	MPI_Wait(&req[0], &st);
	MPI_Irecv(&in[0], 1, MPI_BYTE, prev_rank(), 31, mt_comm, &req[0]);
	MPI_Cancel(&req[0]);
	MPI_Request_free(&req[0]);
}

static void wildcards(void)
{
	int in, seen = 0, last[64];
	MPI_Status st;

	if (mt_rank) {
		for (int i = 0; i < 100; i++)
			MPI_Send(&i, 1, MPI_INT, 0, mt_rank * 1000 + i % 3, mt_comm);
		return;
	}
	memset(last, 0xff, sizeof(last));
	/* From each rank in the order in which it sent, whatever the tag. */
	for (int n = 0; n < 100 * (mt_size - 1); n++) {
		MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, mt_comm, &st);
		mt_check(st.MPI_TAG == st.MPI_SOURCE * 1000 + in % 3, "tag %d of %d from %d",
			 st.MPI_TAG, in, st.MPI_SOURCE);
		mt_check(in == last[st.MPI_SOURCE] + 1, "%d after %d from rank %d", in,
			 last[st.MPI_SOURCE], st.MPI_SOURCE);
		last[st.MPI_SOURCE] = in;
		seen++;
	}
	mt_check(seen == 100 * (mt_size - 1), "%d messages", seen);
}

/* Receives select by tag from a queue of unexpected messages. */
static void unexpected(void)
{
	int in, cnt = 500;
	MPI_Status st;

	if (mt_rank == 0) {
		for (int i = 0; i < cnt; i++)
			MPI_Send(&i, 1, MPI_INT, 1, i, mt_comm);
		MPI_Send(NULL, 0, MPI_INT, 1, 10000, mt_comm);
	} else if (mt_rank == 1) {
		MPI_Recv(NULL, 0, MPI_INT, 0, 10000, mt_comm, &st);
		for (int i = cnt - 1; i >= 0; i--) {
			MPI_Recv(&in, 1, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, i, mt_comm, &st);
			mt_check(in == i, "%d under tag %d", in, i);
		}
	}
}

/* Tags one by one, and the smallest and largest tag. */
static void tag_limits(void)
{
	int *ub, flag, in;
	MPI_Status st;

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &flag);
	mt_check(flag && *ub >= 32767, "MPI_TAG_UB");
	MPI_Sendrecv(&mt_rank, 1, MPI_INT, next_rank(), *ub, &in, 1, MPI_INT, prev_rank(), *ub,
		     mt_comm, &st);
	mt_check(in == prev_rank() && st.MPI_TAG == *ub, "tag %d came as %d", *ub, st.MPI_TAG);
}

static void sendrecv(void)
{
	int cnt = 300000, *out = mt_alloc(sizeof(*out) * (size_t) cnt);
	int *in = mt_alloc(sizeof(*in) * (size_t) cnt);
	MPI_Status st;

	for (int i = 0; i < cnt; i++)
		out[i] = mt_rank * cnt + i;
	MPI_Sendrecv(out, cnt, MPI_INT, next_rank(), 1, in, cnt, MPI_INT, prev_rank(), 1, mt_comm, &st);
	for (int i = 0; i < cnt; i++)
		if (!mt_check(in[i] == prev_rank() * cnt + i, "element %d is %d", i, in[i]))
			break;
	MPI_Sendrecv_replace(out, cnt, MPI_INT, next_rank(), 2, prev_rank(), 2, mt_comm, &st);
	for (int i = 0; i < cnt; i++)
		if (!mt_check(out[i] == prev_rank() * cnt + i, "replaced element %d is %d", i, out[i]))
			break;
	MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1, mt_comm, &st);
	expect(&st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
	free(out);
	free(in);
}

/* A third rank after the other sends to 0 in an order that 0 dictates. */
static void wait_forms(void)
{
	enum { CNT = 16 };
	int in[CNT], idx[CNT], n, at, flag, done = 0;
	MPI_Request req[CNT];
	MPI_Status st[CNT];

	for (int form = 0; form < 6; form++) {
		if (mt_rank == 1) {
			for (int i = 0; i < CNT; i++)
				MPI_Send(&i, 1, MPI_INT, 0, (i * 7) % CNT, mt_comm);
			MPI_Recv(NULL, 0, MPI_INT, 0, 100, mt_comm, MPI_STATUS_IGNORE);
			continue;
		}
		if (mt_rank)
			continue;
		for (int i = 0; i < CNT; i++) {
			in[i] = -1;
			MPI_Irecv(&in[i], 1, MPI_INT, 1, i, mt_comm, &req[i]);
		}
		for (done = 0; done < CNT;) {
			n = 0;
			flag = 0;
			switch (form) {
			case 0:
				MPI_Waitany(CNT, req, &at, st);
				n = at != MPI_UNDEFINED;
				break;
			case 1:
				MPI_Testany(CNT, req, &at, &flag, st);
				n = flag && at != MPI_UNDEFINED;
				break;
			case 2:
				MPI_Waitsome(CNT, req, &n, idx, st);
				break;
			case 3:
				MPI_Testsome(CNT, req, &n, idx, st);
				break;
			case 4:
				MPI_Waitall(CNT, req, st);
				n = CNT;
				break;
			case 5:
				MPI_Testall(CNT, req, &flag, st);
				n = flag ? CNT : 0;
				break;
			}
			done += n > 0 ? n : 0;
		}
		mt_check(done == CNT, "form %d: %d requests", form, done);
		for (int i = 0; i < CNT; i++) {
			mt_check(req[i] == MPI_REQUEST_NULL, "form %d: request %d stands", form, i);
			mt_check(in[i] >= 0 && (in[i] * 7) % CNT == i, "form %d: tag %d carried %d",
				 form, i, in[i]);
		}
		MPI_Send(NULL, 0, MPI_INT, 1, 100, mt_comm);
	}
}

/* A message that is too long is an error of the receive only. */
static void truncation(void)
{
	static const int lens[] = { 9, 5000, 300000 };
	char *out = mt_alloc(300000), in[8];
	MPI_Comm comm;
	MPI_Status st;
	int ret, class = 0;

	MPI_Comm_dup(mt_comm, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	for (int posted = 0; posted < 2; posted++)
		for (int i = 0; i < mt_count(lens); i++) {
			if (!posted)
				MPI_Barrier(comm);
			if (mt_rank == 0) {
				if (posted)
					MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, comm, &st);
				MPI_Send(out, lens[i], MPI_BYTE, 1, 1, comm);
				MPI_Send(out, 8, MPI_BYTE, 1, 3, comm);
			} else if (mt_rank == 1) {
				MPI_Request req;

				if (!posted)
					MPI_Probe(0, 1, comm, &st);
				MPI_Irecv(in, 8, MPI_BYTE, 0, 1, comm, &req);
				if (posted)
					MPI_Send(NULL, 0, MPI_BYTE, 0, 2, comm);
				ret = MPI_Wait(&req, &st);
				MPI_Error_class(ret, &class);
				mt_check(class == MPI_ERR_TRUNCATE, "%d bytes into 8: error class %d",
					 lens[i], class);
				ret = MPI_Recv(in, 8, MPI_BYTE, 0, 3, comm, &st);
				mt_check(!ret, "the receive after it");
			}
		}
	MPI_Comm_free(&comm);
	free(out);
}

static void large(void)
{
	for (int len = 5 << 20; len <= 64 << 20; len += 59 << 20) {
		char *in = mt_alloc((size_t) len), *out = mt_alloc((size_t) len);
		MPI_Request req[2];

		if (mt_rank < 2) {
			mt_fill(out, (size_t) len, (unsigned int) mt_rank);
			MPI_Irecv(in, len, MPI_BYTE, !mt_rank, 1, mt_comm, &req[0]);
			MPI_Isend(out, len, MPI_BYTE, !mt_rank, 1, mt_comm, &req[1]);
			MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
			mt_verify(in, (size_t) len, !mt_rank, "both ways");
		}
		free(in);
		free(out);
	}
}

/* Many concurrent messages in both directions, of all sizes, received in another order. */
static void crowd(void)
{
	enum { CNT = 100 };
	MPI_Request req[2 * CNT];
	char *in[CNT], *out[CNT];
	int len[CNT];

	for (int i = 0; i < CNT; i++) {
		len[i] = sizes[(i * 5) % mt_count(sizes)] / (i % 4 + 1);
		in[i] = mt_alloc((size_t) len[i]);
		out[i] = mt_alloc((size_t) len[i]);
		mt_fill(out[i], (size_t) len[i], (unsigned int) (i + mt_rank));
		MPI_Isend(out[i], len[i], MPI_BYTE, next_rank(), i, mt_comm, &req[CNT + i]);
	}
	for (int i = CNT - 1; i >= 0; i--)
		MPI_Irecv(in[i], len[i], MPI_BYTE, prev_rank(), i, mt_comm, &req[i]);
	MPI_Waitall(2 * CNT, req, MPI_STATUSES_IGNORE);
	for (int i = 0; i < CNT; i++) {
		mt_verify(in[i], (size_t) len[i], (unsigned int) (i + prev_rank()), "one of many");
		free(in[i]);
		free(out[i]);
	}
}

static const struct mt_case cases[] = {
	{ "standard, synchronous, buffered and ready sends", blocking_modes, 2 },
	{ "nonblocking sends of the four modes, all to all", nonblocking_modes, 2 },
	{ "persistent requests of the four modes", persistent_modes, 2 },
	{ "a synchronous send waits for its receive", synchronous, 2 },
	{ "probe, iprobe, mprobe, improbe", probes, 2 },
	{ "matched messages received in reverse", mprobe_order, 2 },
	{ "cancelled receives", cancel, 2 },
	{ "any source, any tag, in order", wildcards, 2 },
	{ "500 unexpected messages taken from the end", unexpected, 2 },
	{ "the largest tag", tag_limits, 2 },
	{ "sendrecv and sendrecv_replace", sendrecv, 2 },
	{ "wait and test for one, some and all", wait_forms, 2 },
	{ "messages longer than the receive", truncation, 2 },
	{ "5 and 64 MiB both ways", large, 2 },
	{ "100 messages of all sizes at once", crowd, 2 },
};

int main(int argc, char **argv)
{
	return mt_main(argc, argv, MPI_THREAD_SINGLE, cases, mt_count(cases));
}
