/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <poll.h>
#include <string.h>

#include "common/ft.h"

static struct fid_eq *open_eq(struct ft *ft, enum fi_wait_obj wait, uint64_t flags, size_t size)
{
	struct fi_eq_attr attr = { .wait_obj = wait, .flags = flags, .size = size };
	struct fid_eq *eq;

	FT_TRY(fi_eq_open(ft->fabric, &attr, &eq, NULL));
	return eq;
}

static void order(struct ft *ft)
{
	struct fid_eq *eq = open_eq(ft, FI_WAIT_NONE, FI_WRITE, 32);
	struct fi_eq_entry in = { .fid = &eq->fid }, out;
	uint32_t event;

	FT_IS(fi_eq_read(eq, &event, &out, sizeof(out), 0), -FI_EAGAIN);
	for (uintptr_t i = 0; i < 200; i++) {
		in.context = (void *) i;
		in.data = i * 3;
		FT_IS(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0), sizeof(in));
	}
	for (uintptr_t i = 0; i < 200; i++) {
		event = ~0u;
		if (i % 2 == 0) {
			FT_IS(fi_eq_read(eq, &event, &out, sizeof(out), FI_PEEK), sizeof(out));
			FT_WANT(out.context == (void *) i, "a peek shows another event than the next");
		}
		FT_IS(fi_eq_read(eq, &event, &out, sizeof(out), 0), sizeof(out));
		FT_WANT(event == FI_NOTIFY && out.context == (void *) i && out.data == i * 3 &&
			out.fid == &eq->fid, "event %zu came changed or out of order", (size_t) i);
	}
	FT_IS(fi_eq_read(eq, &event, &out, sizeof(out), 0), -FI_EAGAIN);
	FT_TRY(fi_close(&eq->fid));
}

static void timed(struct ft *ft)
{
	struct fid_eq *eq = open_eq(ft, FI_WAIT_UNSPEC, FI_WRITE, 0);
	struct fi_eq_entry in = { .fid = &eq->fid, .data = 5 }, out;
	uint64_t start = ft_now_ns();
	uint32_t event;

	FT_IS(fi_eq_sread(eq, &event, &out, sizeof(out), 50, 0), -FI_EAGAIN);
	FT_WANT(ft_now_ns() - start >= 45000000, "fi_eq_sread came back before its time");
	FT_WANT(ft_now_ns() - start < 5000000000, "fi_eq_sread overslept");
	FT_IS(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0), sizeof(in));
	FT_IS(fi_eq_sread(eq, &event, &out, sizeof(out), -1, 0), sizeof(out));
	FT_WANT(out.data == 5, "the event came changed");
	FT_TRY(fi_close(&eq->fid));
}

static void by_fd(struct ft *ft)
{
	struct fid_eq *eq = open_eq(ft, FI_WAIT_FD, FI_WRITE, 0);
	struct fi_eq_entry in = { .fid = &eq->fid }, out;
	struct fid *fids[] = { &eq->fid };
	struct pollfd pfd = { .events = POLLIN };
	uint32_t event;

	FT_TRY(fi_control(&eq->fid, FI_GETWAIT, &pfd.fd));
	FT_TRY(fi_trywait(ft->fabric, fids, 1));
	FT_WANT(!poll(&pfd, 1, 0), "the fd of an empty queue is readable");
	FT_IS(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0), sizeof(in));
	FT_WANT(fi_trywait(ft->fabric, fids, 1) == -FI_EAGAIN || poll(&pfd, 1, 1000) == 1,
		"an event neither stops fi_trywait nor wakes its fd");
	FT_IS(fi_eq_read(eq, &event, &out, sizeof(out), 0), sizeof(out));
	FT_TRY(fi_trywait(ft->fabric, fids, 1));
	FT_WANT(!poll(&pfd, 1, 0), "the fd stays readable over an empty queue");
	FT_TRY(fi_close(&eq->fid));
}

static void refusals(struct ft *ft)
{
	struct fid_eq *eq = open_eq(ft, FI_WAIT_NONE, 0, 0);
	struct fi_eq_entry in = { .fid = &eq->fid }, out;
	struct fi_eq_err_entry err = { 0 };
	uint32_t event;

	FT_WANT(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0) < 0,
		"a queue opened without FI_WRITE was written to");
	FT_IS(fi_eq_readerr(eq, &err, 0), -FI_EAGAIN);
	FT_IS(fi_eq_read(eq, &event, &out, sizeof(out), 0), -FI_EAGAIN);
	FT_TRY(fi_close(&eq->fid));
}

static void small_buffer(struct ft *ft)
{
	struct fid_eq *eq = open_eq(ft, FI_WAIT_NONE, FI_WRITE, 0);
	struct fi_eq_entry in = { .fid = &eq->fid, .data = 9 }, out;
	uint32_t event;

	FT_IS(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0), sizeof(in));
	FT_IS(fi_eq_read(eq, &event, &out, 4, 0), -FI_ETOOSMALL);
	FT_IS(fi_eq_read(eq, &event, &out, sizeof(out), 0), sizeof(out));
	FT_TRY(fi_close(&eq->fid));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: event queues: order, peeking, time limits, descriptors.",
		.local = true,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	order(&ft);
	timed(&ft);
	by_fd(&ft);
	refusals(&ft);
	small_buffer(&ft);
	return ft_end(&ft);
}
