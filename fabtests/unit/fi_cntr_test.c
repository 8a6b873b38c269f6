/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

static struct fid_cntr *open_cntr(struct ft *ft, enum fi_wait_obj wait)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = wait };
	struct fid_cntr *c;

	FT_MAY(fi_cntr_open(ft->domain, &attr, &c, NULL));
	return c;
}

/* Counters may be set late: fi_cntr(3) lets set and add take effect in a while. */
static void reaches(struct fid_cntr *c, uint64_t (*read)(struct fid_cntr *), uint64_t want)
{
	uint64_t end = ft_now_ns() + 5000000000, got;

	while ((got = read(c)) != want)
		FT_WANT(ft_now_ns() < end, "the counter stands at %llu, not %llu",
			(unsigned long long) got, (unsigned long long) want);
}

static uint64_t value(struct fid_cntr *c) { return fi_cntr_read(c); }
static uint64_t errors(struct fid_cntr *c) { return fi_cntr_readerr(c); }

static void sums(struct ft *ft)
{
	struct fid_cntr *c = open_cntr(ft, FI_WAIT_NONE);

	reaches(c, value, 0);
	reaches(c, errors, 0);
	FT_TRY(fi_cntr_set(c, 40));
	reaches(c, value, 40);
	FT_TRY(fi_cntr_add(c, 2));
	reaches(c, value, 42);
	reaches(c, errors, 0);
	FT_MAY(fi_cntr_seterr(c, 3));
	FT_MAY(fi_cntr_adderr(c, 4));
	reaches(c, errors, 7);
	reaches(c, value, 42);
	FT_TRY(fi_close(&c->fid));
}

static void waits(struct ft *ft)
{
	struct fid_cntr *c = open_cntr(ft, FI_WAIT_UNSPEC);
	uint64_t start = ft_now_ns();

	FT_TRY(fi_cntr_set(c, 10));
	reaches(c, value, 10);
	FT_TRY(fi_cntr_wait(c, 10, 5000));
	FT_TRY(fi_cntr_wait(c, 3, 5000));
	FT_WANT(ft_now_ns() - start < 4000000000, "fi_cntr_wait waits for what is there");
	start = ft_now_ns();
	FT_IS(fi_cntr_wait(c, 11, 40), -FI_ETIMEDOUT);
	FT_WANT(ft_now_ns() - start >= 35000000, "fi_cntr_wait came back before its time");
	FT_TRY(fi_close(&c->fid));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: counters: set, add, errors, waiting with a limit.",
		.local = true,
	};
	struct fid_cntr *many[100];
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	sums(&ft);
	waits(&ft);
	for (size_t i = 0; i < FT_COUNT(many); i++)
		many[i] = open_cntr(&ft, FI_WAIT_NONE);
	for (size_t i = 0; i < FT_COUNT(many); i++)
		FT_TRY(fi_cntr_set(many[i], i));
	for (size_t i = 0; i < FT_COUNT(many); i++) {
		reaches(many[i], value, i);
		FT_TRY(fi_close(&many[i]->fid));
	}
	return ft_end(&ft);
}
