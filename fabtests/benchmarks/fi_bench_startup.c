/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/ft.h"

/*
 * The run time of a whole process that proceeds to one of these stages and exits: this program
 * runs itself repeatedly.  It is compared with an empty process (true).
 */
static const char *const stages[] = { "nothing", "getinfo", "fabric", "domain", "endpoint" };
static const char stage_var[] = "FI_BENCH_STAGE";

static const struct ft_col cols[] = {
	{ "stage", "as far as", 9, 0 }, { "runs", "runs", 5, 0 }, { "p50", "usec p50", 10, 1 },
	{ "p99", "p99", 10, 1 }, { "bare", "empty p50", 10, 1 }, { "ratio", "ratio", 6, 2 },
};

static void open_endpoint(struct ft *ft)
{
	if (ft->info->ep_attr->type != FI_EP_MSG)
		ft_ep_open(ft, &ft->ep, ft->info);
	else	/* the further stages need a connection */
		FT_TRY(fi_endpoint(ft->domain, ft->info, &ft->ep.ep, NULL));
	if (ft->info->ep_attr->type != FI_EP_MSG)
		FT_TRY(fi_enable(ft->ep.ep));
}

/* The measured process exits without closing anything. */
static void run_stage(struct ft *ft, const char *stage)
{
	ft->hints = ft_hints(ft);
	ft_getinfo(ft);
	if (!strcmp(stage, stages[1]))
		_exit(0);
	if (!strcmp(stage, stages[2])) {
		FT_TRY(fi_fabric(ft->info->fabric_attr, &ft->fabric, ft));
		_exit(0);
	}
	ft_open_domain(ft);
	if (!strcmp(stage, stages[4]))
		open_endpoint(ft);
	_exit(0);
}

static uint32_t time_process(const char *path, char **argv)
{
	uint64_t start = ft_now_ns();
	int status, err;
	pid_t pid;

	err = posix_spawnp(&pid, path, NULL, NULL, argv, environ);
	FT_WANT(!err, "%s: %s", path, strerror(err));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);	/* the child has printed the
									 * reason */
	return (uint32_t) (ft_now_ns() - start);
}

/* The file of this program; under valgrind its link in /proc is another's. */
static const char *self_path(void)
{
	static char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	FT_WANT(len > 0, "/proc/self/exe: %s", strerror(errno));
	return path;
}

/* Alternates with the empty process, so that both run under the same conditions. */
static void stage_row(const struct ft *ft, const char *stage, char **argv)
{
	static char *nothing[] = { "true", NULL };
	int cnt = ft->opt.iters;
	uint32_t *mine = calloc((size_t) cnt, sizeof(*mine));
	uint32_t *bare = calloc((size_t) cnt, sizeof(*bare));
	struct ft_spread m, b;

	setenv(stage_var, stage, 1);
	for (int i = -2; i < cnt; i++) {	/* the first ones fill the caches */
		uint32_t x = time_process(self_path(), argv), y = time_process("true", nothing);

		if (i >= 0) {
			mine[i] = x;
			bare[i] = y;
		}
	}
	m = ft_spread(mine, cnt);
	b = ft_spread(bare, cnt);
	ft_table_row(ft, cols, FT_COUNT(cols), stage,
		     (double[]) { cnt, m.p50_us, m.p99_us, b.p50_us, ft_ratio(m.p50_us, b.p50_us) });
	free(mine);
	free(bare);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: what a program pays before its first transfer, process by process.",
		.local = true, .bench = true, .iters = 30,
	};
	const char *stage = getenv(stage_var);
	struct ft ft;

	if (stage && !strcmp(stage, stages[0]))
		return 0;
	ft_meet(&ft, &test, argc, argv);
	if (stage)
		run_stage(&ft, stage);
	ft.hints = ft_hints(&ft);
	ft_getinfo(&ft);
	ft_table_head(&ft, cols, FT_COUNT(cols), "an empty process");
	for (size_t i = 0; i < FT_COUNT(stages); i++)
		stage_row(&ft, stages[i], argv);
	unsetenv(stage_var);
	return ft_end(&ft);
}
