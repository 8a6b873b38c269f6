/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <dirent.h>
#include <unistd.h>

#include "common/ft.h"

/*
 * What a connected peer costs: resident bytes and open descriptors of this process. The first
 * peer is not counted, because one-time costs come with it.  A bare socket has a page to
 * receive into and one descriptor; kernel memory is not measured.
 */
static const struct ft_col cols[] = {
	{ "peers", "peers", 6, 0 }, { "bytes_peer", "bytes/peer", 10, 0 },
	{ "fds_peer", "fds/peer", 8, 2 }, { "bare", "bare bytes", 10, 0 },
	{ "bare_fds", "bare fds", 8, 2 }, { "ratio", "ratio", 7, 2 },
};

struct load {
	double bytes, fds;
};

static struct load load_now(void)
{
	long long pages = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	struct load l = { 0 };
	DIR *d;

	if (!f || fscanf(f, "%lld %lld", &pages, &resident) != 2)
		ft_skip("there is no /proc/self/statm to read");
	fclose(f);
	d = opendir("/proc/self/fd");
	while (d && readdir(d))
		l.fds++;
	if (d)
		closedir(d);
	l.bytes = (double) resident * (double) sysconf(_SC_PAGESIZE);
	return l;
}

/* Called before and after: the second time it is the difference. */
static void load_look(void *arg)
{
	struct load *l = arg, n = load_now();

	l->bytes = n.bytes - l->bytes;
	l->fds = n.fds - l->fds;
}

static void memory_step(struct ft *ft, struct ft_crowd *c, int from, int to)
{
	struct load mine = { 0 }, bare = { 0 };
	int cnt = to - from;

	load_look(&mine);
	for (int i = from; i < to; i++)
		ft_crowd_hello(ft, c, i);
	ft_sync(ft);
	load_look(&mine);
	ft_floor_hold(ft, cnt, load_look, &bare);
	if (!ft->server)
		ft_table_row_n(ft, cols, FT_COUNT(cols), (size_t) cnt,
			       (double[]) { mine.bytes / cnt, mine.fds / cnt, bare.bytes / cnt,
					    bare.fds / cnt, ft_ratio(mine.bytes, bare.bytes) });
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: resident bytes and descriptors per peer (-C, 64 of them).",
		.ep_type = FI_EP_RDM, .fixed_type = true, .bench = true, .no_link = true,
	};
	struct ft_crowd c;
	struct ft ft;
	int cnt;

	ft_begin(&ft, &test, argc, argv);
	cnt = ft.opt.count ? ft.opt.count : 64;
	ft_crowd_open(&ft, &c, cnt + 1);
	ft_crowd_hello(&ft, &c, 0);
	ft_table_head(&ft, cols, FT_COUNT(cols), "as many bare TCP sockets");
	for (int from = 1, to, some = 4; from <= cnt; from = to, some *= 4) {
		to = from + some < cnt + 1 ? from + some : cnt + 1;
		ft_at("speaking to one peer after the other");
		memory_step(&ft, &c, from, to);
	}
	ft_crowd_close(&c);
	return ft_end(&ft);
}
