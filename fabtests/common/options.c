/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* The command line: the options that scripts for such tests use. */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ft.h"

static const char letters[] =
	"p:d:D:f:i:e:M:s:B:P:b::E::C:F:I:w:S:mt:c:vk::j:lW:a:A:o:O:u:T:QUH:Kxq:y:z:h";

enum { OPT_JSON = 256, OPT_THREADING, OPT_DATA_PROGRESS, OPT_CONTROL_PROGRESS, OPT_BATCH,
       OPT_SELECTIVE, OPT_CELL_MS, OPT_CELLS };
static const struct option long_letters[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "threading", required_argument, NULL, OPT_THREADING },
	{ "data-progress", required_argument, NULL, OPT_DATA_PROGRESS },
	{ "control-progress", required_argument, NULL, OPT_CONTROL_PROGRESS },
	{ "batch", required_argument, NULL, OPT_BATCH },
	{ "selective", no_argument, NULL, OPT_SELECTIVE },
	{ "cell-ms", required_argument, NULL, OPT_CELL_MS },
	{ "cells", required_argument, NULL, OPT_CELLS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static void print_usage(const struct ft *ft, FILE *to)
{
	bool local = ft->test->local;

	fprintf(to, "Usage: %s [OPTION]...%s\n%s\n\n", ft->name,
		local ? "" : "           (server)\n       with the server's address as last argument (client)",
		ft->test->about);
	fprintf(to,
		"  -p PROVIDER  -d DOMAIN  -f FABRIC   choose among what fi_info lists\n"
		"  -e msg|rdm|dgram                    endpoint type\n"
		"  -F FORMAT                           address format, such as FI_SOCKADDR_IN6, FI_ADDR_IB_UD\n"
		"  -s ADDRESS                          local address of the endpoints\n");
	if (!local)
		fprintf(to,
		"  -B PORT (server)  -P PORT (client)  control port [9228]; -b=PORT and -E=PORT name it\n"
		"                                      on either side.  -B 0: any free one, printed first\n");
	fprintf(to,
		"  -I N  -w N                          iterations, warm-up iterations\n"
		"  -S SIZE[,SIZE]...|all               message sizes\n"
		"  -c spin|sread|fd|yield              how to wait for completions\n"
		"  -t queue|counter                    what to wait on\n"
		"  -k msg|tagged                       which calls; without an argument: message prefix mode\n"
		"  -a NAME  -A map|table               name and type of the address vector\n"
		"  -o write|read|writedata             RMA operation\n"
		"  -C N                                clients, endpoints, peers or threads\n"
		"  -W N  -j N                          window of a bandwidth test, largest inject size\n"
		"  -v                                  verify the data (functional tests always do)\n"
		"  -l  -U  -m                          page-aligned buffers, delivery complete,\n"
		"                                      one line of key=value pairs per figure\n"
		"  --json                              one JSON object a line per figure\n"
		"  --threading safe|fid|domain|completion|endpoint|unspec   what threads promise; a benchmark\n"
		"                                      of one thread asks for domain, all else for any\n"
		"  --data-progress --control-progress auto|manual|unspec    who makes progress; a benchmark\n"
		"                                      of one thread asks for manual, all else for any\n"
		"  --batch N  --selective  --cell-ms N fi_bench_matrix: entries of a read, few operations with\n"
		"                                      an entry, time of a cell [10]\n"
		"  --cells NAME[,NAME]...              of its cells these only, by the names that it prints\n"
		"  -D cuda|rocr|ze  -i N               buffers in memory of device N [0] of this kind; also\n"
		"                                      cuda-map (cuMemMap), cuda-pool, cuda-managed\n"
		"  -u FILE  -y N  -z N                 combinations of fi_ubertest, the first and last to run\n"
		"  -T SECONDS                          end, failed, after this processor time, or ten times as long [60]\n"
		"Exit status: 0 passed, 77 skipped (the reason is printed), else failed.\n");
}

static __attribute__((noreturn)) void bad_option(const struct ft *ft, const char *fmt, const char *arg)
{
	fprintf(stderr, "%s: ", ft->name);
	fprintf(stderr, fmt, arg);
	fprintf(stderr, "\nTry '%s -h'.\n", ft->name);
	exit(2);
}

static int read_number(const struct ft *ft, const char *arg, int least)
{
	char *end;
	long n = strtol(arg, &end, 0);

	if (end == arg || *end || n < least || n > 1 << 30)
		bad_option(ft, "'%s' is not a number that fits here", arg);
	return (int) n;
}

/* Which of the words, separated by '|', @arg is. */
static int read_word(const struct ft *ft, const char *arg, const char *words)
{
	size_t n = strlen(arg);
	int i = 0;

	for (const char *w = words; w; i++) {
		if (!strncmp(w, arg, n) && (w[n] == '|' || !w[n]) && n)
			return i;
		w = strchr(w, '|');
		w = w ? w + 1 : NULL;
	}
	fprintf(stderr, "%s: '%s' is none of %s\n", ft->name, arg, words);
	exit(2);
}

static void all_sizes(struct ft_opts *o)
{
	o->sizes[o->size_cnt++] = 1;
	for (size_t s = 2; s <= 4u << 20; s *= 2) {
		o->sizes[o->size_cnt++] = s;
		if (s >= 64 && s < 4u << 20)
			o->sizes[o->size_cnt++] = s + s / 2;
	}
}

static void read_sizes(const struct ft *ft, struct ft_opts *o, const char *arg)
{
	char *copy = strdup(arg), *save = NULL;

	o->size_cnt = 0;
	if (!strcmp(arg, "all"))
		all_sizes(o);
	else
		for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
			if (o->size_cnt == FT_MAX_SIZES)
				bad_option(ft, "too many sizes in '%s'", arg);
			o->sizes[o->size_cnt++] = (size_t) read_number(ft, w, 0);
		}
	free(copy);
}

static void default_sizes(struct ft *ft)
{
	static const size_t bench[] = { 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576 };
	static const size_t plain[] = { 1, 64, 1000, 4096, 65536, 300000 };
	const size_t *from = ft->test->bench ? bench : plain;
	size_t cnt = ft->test->bench ? FT_COUNT(bench) : FT_COUNT(plain);

	if (ft->test->sizes[0]) {
		from = ft->test->sizes;
		for (cnt = 0; cnt < FT_COUNT(ft->test->sizes) && from[cnt];)
			cnt++;
	}
	memcpy(ft->opt.sizes, from, cnt * sizeof(*from));
	ft->opt.size_cnt = cnt;
}

/* Scripts contain both -b=9228 and -b9228. */
static const char *port_of(const char *arg)
{
	return arg ? arg + (*arg == '=') : NULL;
}

static enum fi_threading read_threading(const struct ft *ft, const char *arg)
{
	static const enum fi_threading by_word[] = {
		FI_THREAD_SAFE, FI_THREAD_FID, FI_THREAD_DOMAIN, FI_THREAD_COMPLETION,
		FI_THREAD_ENDPOINT, FI_THREAD_UNSPEC,
	};

	return by_word[read_word(ft, arg, "safe|fid|domain|completion|endpoint|unspec")];
}

static enum fi_progress read_progress(const struct ft *ft, const char *arg)
{
	static const enum fi_progress by_word[] = {
		FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL, FI_PROGRESS_UNSPEC,
	};

	return by_word[read_word(ft, arg, "auto|manual|unspec")];
}

/* The library's table decides which formats exist: an older one has fewer. */
#define FORMATS_MAX 64

static uint32_t read_format(const struct ft *ft, const char *arg)
{
	uint32_t f;

	for (f = 0; f < FORMATS_MAX; f++)
		if (!strcasecmp(fi_tostr(&f, FI_TYPE_ADDR_FORMAT), arg))
			return f;
	bad_option(ft, "'%s' is no address format: FI_SOCKADDR_IN, FI_SOCKADDR_IN6, FI_ADDR_STR, "
		   "FI_ADDR_IB_UD and others are", arg);
}

static void set_option(struct ft *ft, int c, int argc, char **argv)
{
	static const enum fi_ep_type types[] = { FI_EP_MSG, FI_EP_RDM, FI_EP_DGRAM };
	struct ft_opts *o = &ft->opt;

	switch (c) {
	case 'p': o->prov = optarg; break;
	case 'd': o->domain = optarg; break;
	case 'f': o->fabric = optarg; break;
	case 'e': o->ep_type = types[read_word(ft, optarg, "msg|rdm|dgram")]; break;
	case 's': o->src_addr = optarg; break;
	case 'B': case 'P': o->port = optarg; break;
	case 'b': case 'E': o->port = optarg ? port_of(optarg) : o->port; break;
	case 'C': o->count = read_number(ft, optarg, 1); break;
	case 'I': o->iters = read_number(ft, optarg, 1); break;
	case 'w': o->warmup = read_number(ft, optarg, 0); break;
	case 'S': read_sizes(ft, o, optarg); break;
	case 'm': o->machine = true; break;
	case OPT_JSON: o->json = true; break;
	case OPT_THREADING: o->threading = read_threading(ft, optarg); break;
	case OPT_DATA_PROGRESS: o->data_progress = read_progress(ft, optarg); break;
	case OPT_CONTROL_PROGRESS: o->control_progress = read_progress(ft, optarg); break;
	case OPT_BATCH: o->batch = read_number(ft, optarg, 1); break;
	case OPT_SELECTIVE: o->selective = true; break;
	case OPT_CELL_MS: o->cell_ms = read_number(ft, optarg, 1); break;
	case OPT_CELLS: o->cells = optarg; break;
	case 't': o->counter = read_word(ft, optarg, "queue|counter|cq|cntr") & 1; break;
	case 'c': o->comp = (enum ft_comp) read_word(ft, optarg, "spin|sread|fd|yield"); break;
	case 'v': o->verify = o->verbose = true; break;
	case 'k':
		if (!optarg && optind < argc &&
		    (!strcmp(argv[optind], "msg") || !strcmp(argv[optind], "tagged")))
			optarg = argv[optind++];
		if (optarg)
			o->tagged = read_word(ft, optarg, "msg|tagged");
		else
			o->prefix = true;
		break;
	case 'j': o->max_inject = (size_t) read_number(ft, optarg, 0); break;
	case 'l': o->align = true; break;
	case 'W': o->window = read_number(ft, optarg, 1); break;
	case 'a': o->av_name = optarg; break;
	case 'A': o->av_type = read_word(ft, optarg, "map|table") ? FI_AV_TABLE : FI_AV_MAP; break;
	case 'o': o->rma = (enum ft_rma) read_word(ft, optarg, "write|read|writedata"); break;
	case 'u': o->config = optarg; break;
	case 'q': o->port = optarg; break;
	case 'y': o->first = read_number(ft, optarg, 1); break;
	case 'z': o->last = read_number(ft, optarg, 1); break;
	case 'T': o->limit_s = read_number(ft, optarg, 1); break;
	case 'U': o->delivery = true; break;
	case 'h': print_usage(ft, stdout); exit(0);
	case 'D': o->device = strcmp(optarg, "system") ? optarg : NULL; break;
	case 'i': o->device_no = read_number(ft, optarg, 0); break;
	case 'H': case 'K':
		ft_skip("-%c is about fork support, which these tests lack", c);
	case 'F': o->addr_format = read_format(ft, optarg); break;
	case 'M': case 'O': case 'Q': case 'x': break;	/* accepted and ignored */
	default:
		fprintf(stderr, "Try '%s -h'.\n", ft->name);
		exit(2);
	}
}

void ft_parse(struct ft *ft, int argc, char **argv)
{
	struct ft_opts *o = &ft->opt;
	int c;

	ft->name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	if (!strncmp(ft->name, "lt-", 3))
		ft->name += 3;		/* libtool gives programs of the build tree this prefix */
	*o = (struct ft_opts) { .iters = -1, .warmup = -1, .window = 64, .limit_s = 60,
				.max_inject = SIZE_MAX, .batch = 1, .cell_ms = 10 };
	if (ft->test->bench && !ft->test->threads) {
		o->threading = FI_THREAD_DOMAIN;
		o->data_progress = o->control_progress = FI_PROGRESS_MANUAL;
	}
	while ((c = getopt_long(argc, argv, letters, long_letters, NULL)) != -1)
		set_option(ft, c, argc, argv);
	if (optind < argc && !ft->test->local)
		o->peer = argv[optind++];
	if (optind < argc && !ft->test->local)
		bad_option(ft, "'%s' is one argument too many", argv[optind]);
	if (!o->port || !*o->port)
		o->port = "9228";
	if (!o->size_cnt)
		default_sizes(ft);
	if (o->iters < 0)
		o->iters = ft->test->iters ? ft->test->iters : ft->test->bench ? 1000 : 100;
	if (o->warmup < 0)
		o->warmup = 10;
	if (!ft->test->bench)
		o->verify = true;
	if (ft->test->fixed_type && o->ep_type && o->ep_type != ft->test->ep_type)
		ft_skip("this test is about another endpoint type than -e says");
	if (!o->ep_type)
		o->ep_type = ft->test->ep_type ? ft->test->ep_type : FI_EP_RDM;
	ft->server = !o->peer;
}
