/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_top - what the endpoints of running programs do, and what they wait for. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fold.h"
#include "remote.h"
#include "screen.h"
#include "show.h"
#include "since.h"
#include "view.h"

#define PIDS_MAX 1024
#define REMOTE_LOOKS 4		/* for what peers answer */
#define REMOTE_US 250000	/* between them */

static const char usage[] =
	"Usage:\n"
	"  fi_top [OPTION]... [PID]...\n"
	"\n"
	"Shows the endpoints of the processes of this user (root: of all users), their peers, what waits, and\n"
	"for what.\n"
	"\n"
	"  --once         show it once, and end; without a terminal the default\n"
	"  --json         the same as JSON, once\n"
	"  --metrics      the numbers as OpenMetrics text, once\n"
	"  --dot          what waits for what as a graph for dot(1), once\n"
	"  -p, --paths    the path to each peer, too\n"
	"  -d SECONDS     between two looks (1); what is shown once is then compared with a look before it\n"
	"  -w, --width COLUMNS  fold longer lines of what is shown once (20 to 1000; else none is)\n"
	"  -h, --help     this text\n"
	"  --version      the release\n";

struct options {
	bool once;		/* as text */
	void (*form)(const struct answers *answers, FILE *out);	/* another one, once; NULL: text */
	uint32_t want;
	unsigned seconds;	/* 0: not said */
	size_t width;		/* of the text; 0: as long as its lines are */
	pid_t pids[PIDS_MAX];
	size_t pid_cnt;
};

static int parse_width(struct options *o, const char *text)
{
	char *end;
	long width = strtol(text, &end, 10);

	if (*end || width < FOLD_WIDTH_MIN || width > FOLD_WIDTH_MAX)
		return 1;
	o->width = (size_t) width;
	return -1;
}

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

/* parse_option - returns -1, or the status to exit with. */
static int parse_option(struct options *o, int c)
{
	switch (c) {
	case 'o':
		o->once = true;
		return -1;
	case 'j':
		o->form = show_json;
		return -1;
	case 'm':
		o->form = show_metrics;
		return -1;
	case 'D':
		o->form = show_dot;
		return -1;
	case 'p':
		o->want |= INSPECT_PATHS;
		return -1;
	case 'd':
		o->seconds = atoi(optarg) > 0 ? (unsigned) atoi(optarg) : 0;
		return o->seconds ? -1 : 1;
	case 'w':
		return parse_width(o, optarg);
	case 'h':
		fputs(usage, stdout);
		return 0;
	case 'V':
		printf("fi_top %s\n", PACKAGE_VERSION);
		return 0;
	default:
		return 1;
	}
}

/* parse_options - returns -1, or the status to exit with. */
static int parse_options(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "once", no_argument, NULL, 'o' }, { "json", no_argument, NULL, 'j' },
		{ "metrics", no_argument, NULL, 'm' }, { "dot", no_argument, NULL, 'D' },
		{ "paths", no_argument, NULL, 'p' }, { "width", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 },
	};
	int c, ret = -1;

	while (ret < 0 && (c = getopt_long(argc, argv, "pd:w:h", longs, NULL)) != -1)
		ret = parse_option(o, c);
	if (ret < 0 && parse_pids(o, argc, argv))
		ret = 1;
	if (ret > 0)
		fputs(usage, stderr);
	return ret;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

static int gather_answers(const struct options *o, struct since *since, struct answers *answers)
{
	if (answers_gather(o->pids, o->pid_cnt, o->want, answers)) {
		fprintf(stderr, "fi_top: /proc/net/unix cannot be read\n");
		return 1;
	}
	remote_add(answers);
	since_update(since, answers, now_ns());
	return 0;
}

/* gather_beyond - where one waits for a process that is not among the answers, have its peers asked, too: the
 * processes of this host show in the next look what has come back.
 */
static int gather_beyond(struct options *o, struct since *since, struct answers *answers)
{
	int ret = gather_answers(o, since, answers), i;

	for (i = 0; !ret && i < REMOTE_LOOKS && waits_beyond(answers) && (i < 2 || remote_asked(answers)); i++) {
		answers_free(answers);
		o->want |= INSPECT_QUERY;
		if (i)
			usleep(REMOTE_US);
		ret = gather_answers(o, since, answers);
	}
	return ret;
}

static void write_text(const struct options *o, const struct answers *answers)
{
	char *text = NULL;
	size_t len;
	FILE *out = o->width ? open_memstream(&text, &len) : NULL;

	show_waits(answers, out ? out : stdout);
	show_text(answers, out ? out : stdout);
	if (!out)
		return;
	fclose(out);
	if (text)
		fold_text(text, o->width, stdout);
	free(text);
}

static int look_all(struct options *o, struct since *since)
{
	struct answers answers;

	if (gather_beyond(o, since, &answers))
		return 1;
	if (o->form)
		o->form(&answers, stdout);
	else
		write_text(o, &answers);
	answers_free(&answers);
	return fflush(stdout) ? 1 : 0;
}

/* look_once - after another look, where the time between the two was given. */
static int look_once(struct options *o, struct since *since)
{
	struct answers answers;

	if (!o->seconds)
		return look_all(o, since);
	if (gather_answers(o, since, &answers))
		return 1;
	answers_free(&answers);
	sleep(o->seconds);
	return look_all(o, since);
}

/* look_live - a look each so many seconds, or when a key says so, until one ends it. */
static int look_live(struct options *o, struct since *since)
{
	struct view view = { .sort = SORT_NAME };
	uint64_t every = (o->seconds ? o->seconds : 1) * UINT64_C(1000000000), next = 0, now;
	struct answers answers = { NULL, 0 };
	enum view_key key = KEY_NONE;
	size_t height, width;

	o->want |= INSPECT_FEW;
	while (key != KEY_QUIT) {
		now = now_ns();
		if (!answers.of || key == KEY_PATHS || (!view.paused && now >= next)) {
			answers_free(&answers);
			if (gather_answers(o, since, &answers))
				return 1;
			o->want &= ~(uint32_t) INSPECT_QUERY;
			o->want |= waits_beyond(&answers) ? INSPECT_QUERY : 0;
			next = now + every;
		}
		view_fill(&view, &answers);
		screen_size(&height, &width);
		view_draw(&view, &answers, height, width, stdout);
		now = now_ns();
		key = screen_key(now < next ? (int) ((next - now) / 1000000) + 1 : view.paused ? 1000 : 0);
		if (key == KEY_PATHS)
			o->want ^= INSPECT_PATHS;
		view_move(&view, key);
	}
	answers_free(&answers);
	view_free(&view);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { .want = INSPECT_TRAFFIC };
	struct since since = { .cnt = 0 };
	int ret = parse_options(&o, argc, argv);

	if (ret >= 0)
		return ret;
	if (o.once || o.form || !isatty(STDOUT_FILENO) || screen_begin()) {
		ret = look_once(&o, &since);
	} else {
		ret = look_live(&o, &since);
		screen_end();
	}
	since_free(&since);
	return ret;
}
