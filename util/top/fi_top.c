/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_top - what the endpoints of running programs do, and what they wait for. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "show.h"

#define PIDS_MAX 256

static const char usage[] =
	"Usage:\n"
	"  fi_top [OPTION]... [PID]...\n"
	"\n"
	"Shows the endpoints of the processes of this user (root: of all users), their peers, what waits, and\n"
	"for what.\n"
	"\n"
	"  --once         show it once, and end; without a terminal the default\n"
	"  --json         the same as JSON, once\n"
	"  -p, --paths    the path to each peer, too\n"
	"  -d SECONDS     between two looks (1)\n"
	"  -h, --help     this text\n"
	"  --version      the release\n";

struct options {
	bool once, json;
	uint32_t want;
	unsigned seconds;
	pid_t pids[PIDS_MAX];
	size_t pid_cnt;
};

static int parse_pids(struct options *o, int argc, char **argv)
{
	char *end;
	int i;

	for (i = optind; i < argc; i++) {
		if (o->pid_cnt == PIDS_MAX)
			return -1;
		o->pids[o->pid_cnt++] = (pid_t) strtol(argv[i], &end, 10);
		if (*end || end == argv[i])
			return -1;
	}
	return 0;
}

/* parse - returns -1, or the status to exit with. */
static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "once", no_argument, NULL, 'o' }, { "json", no_argument, NULL, 'j' },
		{ "paths", no_argument, NULL, 'p' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "pd:h", longs, NULL)) != -1) {
		if (c == 'o') {
			o->once = true;
		} else if (c == 'j') {
			o->json = true;
		} else if (c == 'p') {
			o->want |= INSPECT_PATHS;
		} else if (c == 'd' && atoi(optarg) > 0) {
			o->seconds = (unsigned) atoi(optarg);
		} else if (c == 'h') {
			fputs(usage, stdout);
			return 0;
		} else if (c == 'V') {
			printf("fi_top %s\n", PACKAGE_VERSION);
			return 0;
		} else {
			fputs(usage, stderr);
			return 1;
		}
	}
	if (!parse_pids(o, argc, argv))
		return -1;
	fputs(usage, stderr);
	return 1;
}

static int look(const struct options *o)
{
	struct answers answers;
	int ret = answers_gather(o->pids, o->pid_cnt, o->want, &answers);

	if (ret) {
		fprintf(stderr, "fi_top: /proc/net/unix cannot be read\n");
		return 1;
	}
	if (o->json) {
		show_json(&answers, stdout);
	} else {
		show_waits(&answers, stdout);
		show_text(&answers, stdout);
	}
	answers_free(&answers);
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct options o = { .seconds = 1 };
	int ret = parse(&o, argc, argv);

	if (ret >= 0)
		return ret;
	if (o.once || o.json || !isatty(STDOUT_FILENO))
		return look(&o);
	do {
		fputs("\033[H\033[2J", stdout);
		ret = look(&o);
		sleep(o.seconds);
	} while (!ret);
	return ret;
}
