/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

enum { OPT_BASELINE = 256, OPT_JSON, OPT_LOCAL, OPT_WARMUP };

static const struct option longopts[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "baseline", no_argument, NULL, OPT_BASELINE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "local", no_argument, NULL, OPT_LOCAL },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ NULL, 0, NULL, 0 }
};

static const size_t default_sizes[] = { 64, 256, 1024, 4096, 65536, 1048576 };

void pp_options_usage(void)
{
	fputs("Usage:\n"
	      "  fi_pingpong [OPTION]...              start the server\n"
	      "  fi_pingpong [OPTION]... SERVER       connect to it and measure\n"
	      "  fi_pingpong [OPTION]... --local      both, on this host\n\n"
	      "Sends a message there and back, and prints half the time of a round trip.\n\n"
	      "Options, the same on both sides where they describe the test:\n"
	      "  -B <src_port>   control port of this side (server: 47592, client: any)\n"
	      "  -P <dst_port>   control port of the server (client: 47592)\n"
	      "  -d <domain>     domain: network interface or device\n"
	      "  -f <fabric>     fabric\n"
	      "  -s <address>    this side's address, or a name of it\n"
	      "  -p <provider>   provider, such as tcp or udp\n"
	      "  -e <ep_type>    endpoint type: msg|rdm|dgram (the first of dgram, rdm, msg\n"
	      "                  that the provider has)\n"
	      "  -I <number>     round trips per size (10)\n"
	      "  -S <size>       'all', or sizes such as 8,1k,64k (64,256,1k,4k,64k,1m)\n"
	      "  -c              verify the content of each message\n"
	      "  -m <mode>       transmit mode: msg|tagged (msg)\n"
	      "  -6              use IPv6 addresses\n"
	      "  -v              say what is being done\n"
	      "  -h              this text\n"
	      "  --baseline      measure a bare socket too, in turns with the fabric\n"
	      "  --json          print the results as JSON\n"
	      "  --local         start both sides here, each on a CPU of its own\n"
	      "  --warmup <n>    round trips before the clock starts (10)\n", stdout);
}

static int bad_option(const char *what, const char *value, const char *want)
{
	fprintf(stderr, "fi_pingpong: %s '%s': %s\n", what, value, want);
	return -FI_EINVAL;
}

static int read_number(const char *text, char **end_p, unsigned long max, unsigned long *val_p)
{
	errno = 0;
	*val_p = strtoul(text, end_p, 0);
	return *end_p == text || errno || *text == '-' || *val_p > max ? -FI_EINVAL : 0;
}

static int read_port(const char *text, uint16_t *port_p)
{
	unsigned long val;
	char *end;

	if (read_number(text, &end, 65535, &val) || *end)
		return bad_option("port", text, "a number from 0 to 65535 is wanted");
	*port_p = (uint16_t) val;
	return 0;
}

static int read_count(const char *what, const char *text, unsigned long min, uint32_t *cnt_p)
{
	unsigned long val;
	char *end;

	if (read_number(text, &end, 1000000000, &val) || *end || val < min)
		return bad_option(what, text, "a number up to 1000000000 is wanted");
	*cnt_p = (uint32_t) val;
	return 0;
}

/* 0, 1, 2, 3, 4, 6, 8, 12 ... 6m: each power of two and one and a half of it. */
static void all_sizes(struct pp_options *o)
{
	o->size_cnt = 0;
	o->sizes[o->size_cnt++] = 0;
	o->sizes[o->size_cnt++] = 1;
	for (size_t size = 2; size <= 4 << 20; size *= 2) {
		o->sizes[o->size_cnt++] = size;
		o->sizes[o->size_cnt++] = size + size / 2;
	}
}

static int cmp_size(const void *a, const void *b)
{
	size_t x = *(const size_t *) a, y = *(const size_t *) b;

	return (x > y) - (x < y);
}

static int read_sizes(struct pp_options *o, const char *text)
{
	const char *want = "'all', or bytes such as 8,1k,64k,1m up to 1g are wanted";
	const char *at = text;
	unsigned long val;
	char *end;

	o->strict_sizes = strcmp(text, "all");
	if (!o->strict_sizes) {
		all_sizes(o);
		return 0;
	}
	o->size_cnt = 0;
	do {
		if (o->size_cnt == PP_SIZES_MAX || read_number(at, &end, 1 << 30, &val))
			return bad_option("size", text, want);
		if (*end == 'k' || *end == 'K')
			val <<= 10, end++;
		else if (*end == 'm' || *end == 'M')
			val <<= 20, end++;
		else if (*end == 'g' || *end == 'G')
			val <<= 30, end++;
		if (val > 1 << 30 || (*end && *end != ','))
			return bad_option("size", text, want);
		o->sizes[o->size_cnt++] = val;
		at = end + 1;
	} while (*end);
	qsort(o->sizes, o->size_cnt, sizeof(*o->sizes), cmp_size);
	return 0;
}

static int read_ep_type(const char *text, enum fi_ep_type *type_p)
{
	static const enum fi_ep_type types[] = { FI_EP_DGRAM, FI_EP_MSG, FI_EP_RDM };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!strcmp(text, pp_options_ep_name(types[i]))) {
			*type_p = types[i];
			return 0;
		}
	}
	return bad_option("endpoint type", text, "msg, rdm or dgram is wanted");
}

static int read_mode(const char *text, bool *tagged_p)
{
	*tagged_p = !strcmp(text, "tagged");
	return *tagged_p || !strcmp(text, "msg") ? 0 :
	       bad_option("transmit mode", text, "msg or tagged is wanted");
}

static int take_option(struct pp_options *o, int opt, const char *arg)
{
	switch (opt) {
	case 'B':
		return read_port(arg, &o->src_port);
	case 'P':
		return read_port(arg, &o->dst_port);
	case 'd':
		o->domain = arg;
		return 0;
	case 'f':
		o->fabric = arg;
		return 0;
	case 's':
		o->source = arg;
		return 0;
	case 'p':
		o->provider = arg;
		return 0;
	case 'e':
		return read_ep_type(arg, &o->ep_type);
	case 'I':
		return read_count("iterations", arg, 1, &o->iters);
	case 'S':
		return read_sizes(o, arg);
	case 'm':
		return read_mode(arg, &o->tagged);
	case 'c':
		o->check = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case '6':
		o->ipv6 = true;
		return 0;
	case 'h':
		o->help = true;
		return 0;
	case OPT_BASELINE:
		o->baseline = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_LOCAL:
		o->local = true;
		return 0;
	case OPT_WARMUP:
		return read_count("warm-up", arg, 0, &o->warmup);
	default:
		fputs("Try 'fi_pingpong -h'.\n", stderr);
		return -FI_EINVAL;
	}
}

static int check_together(const struct pp_options *o)
{
	if (o->local && o->role == PP_CLIENT)
		return bad_option("server", o->host, "--local starts its own server; leave the name out");
	if (o->tagged && o->ep_type == FI_EP_DGRAM)
		return bad_option("transmit mode", "tagged",
				  "datagrams have no tags; use -e rdm or -e msg");
	return 0;
}

int pp_options_parse(int argc, char **argv, struct pp_options *o_p)
{
	int opt, ret;

	memset(o_p, 0, sizeof(*o_p));
	o_p->dst_port = PP_DEFAULT_PORT;
	o_p->iters = 10;
	o_p->warmup = 10;
	memcpy(o_p->sizes, default_sizes, sizeof(default_sizes));
	o_p->size_cnt = sizeof(default_sizes) / sizeof(*default_sizes);
	bool port_given = false;

	while ((opt = getopt_long(argc, argv, "B:P:d:f:s:p:e:I:S:cm:v6h", longopts, NULL)) >= 0) {
		port_given |= opt == 'B';
		ret = take_option(o_p, opt, optarg);
		if (ret)
			return ret;
	}
	if (optind < argc) {
		o_p->role = PP_CLIENT;
		o_p->host = argv[optind];
	} else if (!port_given && !o_p->local) {
		o_p->src_port = PP_DEFAULT_PORT;
	}
	if (optind + 1 < argc)
		return bad_option("argument", argv[optind + 1], "one server at most");
	return check_together(o_p);
}

const char *pp_options_ep_name(enum fi_ep_type type)
{
	return type == FI_EP_MSG ? "msg" : type == FI_EP_RDM ? "rdm" : "dgram";
}

void pp_options_text(const struct pp_options *o, char *buf, size_t len)
{
	int at = snprintf(buf, len, "-e %s -m %s -I %u --warmup %u%s%s%s%s -S ",
			  pp_options_ep_name(o->ep_type), o->tagged ? "tagged" : "msg",
			  o->iters, o->warmup, o->check ? " -c" : "",
			  o->baseline ? " --baseline" : "", o->provider ? " -p " : "",
			  o->provider ? o->provider : "");

	for (int i = 0; i < o->size_cnt && at < (int) len; i++)
		at += snprintf(buf + at, len - at, "%s%zu", i ? "," : "", o->sizes[i]);
}
