/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "options.h"

#include <getopt.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "names.h"

enum { OPT_VERSION = 256, OPT_EXPLAIN, OPT_JSON, OPT_PATH, OPT_PROBE };

static const struct option longopts[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "src_addr", required_argument, NULL, 's' },
	{ "node", required_argument, NULL, 'n' },
	{ "port", required_argument, NULL, 'P' },
	{ "caps", required_argument, NULL, 'c' },
	{ "mode", required_argument, NULL, 'm' },
	{ "ep_type", required_argument, NULL, 't' },
	{ "domain", required_argument, NULL, 'd' },
	{ "fabric", required_argument, NULL, 'f' },
	{ "addr_format", required_argument, NULL, 'a' },
	{ "provider", required_argument, NULL, 'p' },
	{ "env", no_argument, NULL, 'e' },
	{ "getenv", required_argument, NULL, 'g' },
	{ "info", required_argument, NULL, 'i' },
	{ "list", no_argument, NULL, 'l' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "explain", no_argument, NULL, OPT_EXPLAIN },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "path", required_argument, NULL, OPT_PATH },
	{ "probe", no_argument, NULL, OPT_PROBE },
	{ NULL, 0, NULL, 0 }
};

void info_options_usage(void)
{
	fputs("Usage: fi_info [OPTION]...\n\n"
	      "Prints the endpoints that this machine offers, best first.\n\n"
	      "Filters:\n"
	      "  -s, --src_addr=ADDR       local name or address\n"
	      "  -n, --node=NAME           name or address to be reached\n"
	      "  -P, --port=PNUM           port or service name\n"
	      "  -c, --caps=CAP1|CAP2..    capabilities, such as FI_MSG|FI_RMA\n"
	      "  -m, --mode=MOD1|MOD2..    modes the program can work with; default: all\n"
	      "  -t, --ep_type=EPTYPE      FI_EP_MSG, FI_EP_DGRAM or FI_EP_RDM\n"
	      "  -d, --domain=DOMAIN       network interface or device\n"
	      "  -f, --fabric=FABRIC       network\n"
	      "  -a, --addr_format=FMT     address format, such as FI_SOCKADDR_IN\n"
	      "  -p, --provider=PROV       provider, such as tcp\n\n"
	      "What to print:\n"
	      "  -v, --verbose             every attribute\n"
	      "  -i, --info=SUBSTR         every attribute, of endpoints whose text has SUBSTR\n"
	      "  -l, --list                the providers\n"
	      "  -e, --env                 the environment variables of the library\n"
	      "  -g, --getenv=SUBSTR       those with SUBSTR in their name\n"
	      "      --explain             what is not offered, and the first reason why\n"
	      "      --path=HOST           which way to a host is taken, and why\n"
	      "      --probe               with --path: an echo and a short stream each way\n"
	      "      --json                any of these but --path as JSON\n"
	      "      --version             versions of the tool and of the library\n"
	      "  -h, --help                this text\n", stdout);
}

/* With any filter there are hints, and hints without modes would exclude candidates. */
static int want_hints(struct info_options *o)
{
	if (o->hints)
		return 0;
	o->hints = fi_allocinfo();
	if (!o->hints)
		return -FI_ENOMEM;
	o->hints->mode = ~0ULL;
	o->hints->domain_attr->mode = ~0ULL;
	o->hints->domain_attr->mr_mode = ~(FI_MR_BASIC | FI_MR_SCALABLE);
	return 0;
}

static int bad_value(const char *what, const char *value, const char *cure)
{
	fprintf(stderr, "error: Unrecognized %s: %s\n%s\n", what, value, cure);
	return -FI_EINVAL;
}

static int set_bits(enum fi_type type, const char *what, const char *list, uint64_t *bits_p,
		    const char *cure)
{
	char bad[80];

	return info_names_bits(type, list, bits_p, bad, sizeof(bad)) ?
	       bad_value(what, bad, cure) : 0;
}

static int set_name(char **slot, const char *name)
{
	free(*slot);
	*slot = strdup(name);
	return *slot ? 0 : -FI_ENOMEM;
}

static int set_filter(struct info_options *o, int opt, const char *arg)
{
	uint32_t val;
	int ret = want_hints(o);

	if (ret)
		return ret;
	switch (opt) {
	case 'c':
		return set_bits(FI_TYPE_CAPS, "capability", arg, &o->hints->caps,
				"Give names such as FI_MSG|FI_TAGGED|FI_RMA|FI_ATOMIC; "
				"fi_getinfo(3) has them all.");
	case 'm':
		return set_bits(FI_TYPE_MODE, "mode", arg, &o->hints->mode,
				"Give names such as FI_CONTEXT|FI_MSG_PREFIX; fi_getinfo(3) has them all.");
	case 't':
		if (info_names_enum(FI_TYPE_EP_TYPE, arg, &val))
			return bad_value("endpoint type", arg,
					 "Give FI_EP_MSG, FI_EP_DGRAM or FI_EP_RDM.");
		o->hints->ep_attr->type = val;
		return 0;
	case 'a':
		if (info_names_enum(FI_TYPE_ADDR_FORMAT, arg, &val))
			return bad_value("address format", arg,
					 "Give FI_SOCKADDR_IN, FI_SOCKADDR_IN6 or FI_ADDR_STR; "
					 "fi_getinfo(3) has them all.");
		o->hints->addr_format = val;
		return 0;
	case 'd':
		return set_name(&o->hints->domain_attr->name, arg);
	case 'f':
		return set_name(&o->hints->fabric_attr->name, arg);
	default:
		return set_name(&o->hints->fabric_attr->prov_name, arg);
	}
}

/* With both addresses given, the node is the destination, so the source goes into the hints. */
static int set_source(struct info_options *o, const char *src)
{
	struct addrinfo *res;
	int ret;

	if (!o->node) {
		o->node = src;
		o->flags |= FI_SOURCE;
		return 0;
	}
	ret = want_hints(o);
	if (ret)
		return ret;
	ret = getaddrinfo(src, NULL, NULL, &res);
	if (ret) {
		fprintf(stderr, "error: source address '%s': %s\n", src, gai_strerror(ret));
		return -FI_EINVAL;
	}
	o->hints->src_addr = malloc(res->ai_addrlen);
	if (o->hints->src_addr) {
		memcpy(o->hints->src_addr, res->ai_addr, res->ai_addrlen);
		o->hints->src_addrlen = res->ai_addrlen;
	}
	freeaddrinfo(res);
	return o->hints->src_addr ? 0 : -FI_ENOMEM;
}

/* Checked here, so that the error is one line and not one from each provider. */
static int set_port(struct info_options *o, const char *arg)
{
	bool number = strspn(arg, "0123456789") == strlen(arg);

	if (number ? !*arg || strtoul(arg, NULL, 10) > 65535 : !getservbyname(arg, NULL)) {
		fprintf(stderr, "error: no such port: %s\n"
			"Give a number from 0 to 65535, or a name of /etc/services.\n", arg);
		return -FI_EINVAL;
	}
	o->service = arg;
	return 0;
}

/* A name that is not an IP address may be of another address format, so this is not an error,
 * but the user should know why few candidates are left.
 */
static void look_up(const char *node)
{
	struct addrinfo *res = NULL;
	int ret;

	if (!node || strstr(node, "://"))
		return;
	ret = getaddrinfo(node, NULL, NULL, &res);
	if (ret)
		fprintf(stderr, "fi_info: no IP address for '%s': %s; only providers "
			"with other address formats remain\n", node, gai_strerror(ret));
	else
		freeaddrinfo(res);
}

static int take_option(struct info_options *o, int opt, char *arg, const char **src_p)
{
	switch (opt) {
	case 's':
		*src_p = arg;
		return 0;
	case 'n':
		o->node = arg;
		return 0;
	case 'P':
		return set_port(o, arg);
	case 'e':
		o->task = INFO_ENV;
		return 0;
	case 'g':
		o->task = INFO_ENV;
		o->substr = arg;
		return 0;
	case 'i':
		o->verbose = true;
		o->substr = arg;
		return 0;
	case 'l':
		o->list = true;
		o->flags |= FI_PROV_ATTR_ONLY;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case OPT_VERSION:
		o->task = INFO_VERSION;
		return 0;
	case OPT_EXPLAIN:
		o->explain = true;
		return 0;
	case OPT_PATH:
		o->task = INFO_PATH;
		o->node = arg;
		return 0;
	case OPT_PROBE:
		o->probe = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case 'h':
	case '?':
		o->task = INFO_USAGE;
		return 0;
	default:
		return set_filter(o, opt, arg);
	}
}

int info_options_parse(int argc, char **argv, struct info_options *o_p)
{
	const char *src = NULL;
	int opt, ret;

	memset(o_p, 0, sizeof(*o_p));
	while (o_p->task != INFO_USAGE) {
		opt = getopt_long(argc, argv, "hs:n:P:c:m:t:d:f:a:p:eg:i:lv", longopts, NULL);
		if (opt < 0)
			break;
		ret = take_option(o_p, opt, optarg, &src);
		if (ret)
			return ret;
	}
	if (optind < argc && o_p->task != INFO_USAGE)
		fprintf(stderr, "fi_info: '%s' has no option and is ignored; a provider "
			"is -p %s, a host -n %s\n", argv[optind], argv[optind], argv[optind]);
	ret = src ? set_source(o_p, src) : 0;
	if (!ret && o_p->task == INFO_QUERY && !o_p->list)
		look_up(o_p->node);
	return ret;
}

void info_options_free(struct info_options *o)
{
	if (o->hints)
		fi_freeinfo(o->hints);
	o->hints = NULL;
}
