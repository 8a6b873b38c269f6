/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_info - list the endpoints that this machine offers. */

#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "dump.h"
#include "explain.h"
#include "options.h"
#include "path.h"
#include "print.h"

/* Results of the queries, independent of the output format. */
struct answer {
	int ret;			/* of fi_getinfo or fi_getparams */
	struct fi_info *infos;
	struct fi_param *params;
	int param_cnt;
};

/* An older library refuses a version newer than its own. */
static uint32_t api_version(void)
{
	uint32_t ours = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

	return FI_VERSION_LT(fi_version(), ours) ? fi_version() : ours;
}

static int show_version(const struct info_options *o)
{
	const char *lib = fi_tostr("", FI_TYPE_VERSION);
	struct json j;
	char api[24];

	snprintf(api, sizeof(api), "%u.%u", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
	if (!o->json) {
		printf("fi_info: %s\nlibfabric: %s\nlibfabric api: %s\n", PACKAGE_VERSION, lib, api);
		return 0;
	}
	json_start(&j, stdout);
	json_object(&j, NULL);
	json_str(&j, "fi_info", PACKAGE_VERSION);
	json_str(&j, "libfabric", lib);
	json_str(&j, "api", api);
	json_end(&j);
	return 0;
}

/* Providers define their variables when they are loaded; a query without hints loads all of
 * them.
 */
static void ask_info(const struct info_options *o, struct answer *a)
{
	if (o->task == INFO_ENV) {
		if (!fi_getinfo(api_version(), NULL, NULL, 0, NULL, &a->infos))
			fi_freeinfo(a->infos);
		a->infos = NULL;
		a->ret = fi_getparams(&a->params, &a->param_cnt);
		return;
	}
	a->ret = fi_getinfo(api_version(), o->node, o->service, o->flags, o->hints, &a->infos);
}

static void print_text(const struct info_options *o, const struct answer *a)
{
	if (o->task == INFO_ENV)
		info_print_env(a->params, a->param_cnt, o->substr);
	else if (o->verbose)
		info_print_verbose(a->infos, o->substr);
	else if (o->list)
		info_print_providers(a->infos);
	else
		info_print_short(a->infos);
}

static void print_json(const struct info_options *o, const struct answer *a,
		       const struct info_explain *ex)
{
	struct json j;

	json_start(&j, stdout);
	json_object(&j, NULL);
	if (a->ret)
		info_dump_error(&j, a->ret);
	if (o->task == INFO_ENV)
		info_dump_params(&j, a->params, a->param_cnt, o->substr);
	else if (o->list && !o->verbose)
		info_dump_providers(&j, a->infos);
	else
		info_dump_infos(&j, a->infos, o->substr);
	if (o->explain)
		info_explain_dump(ex, &j);
	json_end(&j);
}

/* Reports a provider name that does not exist. */
static bool says_unknown(const struct info_options *o)
{
	struct info_explain ex = { 0 };
	bool unknown;

	if (o->hints)
		info_explain_providers(&ex, api_version(), o->hints->fabric_attr->prov_name);
	unknown = ex.unknown != NULL;
	if (unknown)
		fprintf(stderr, "There is no provider '%s': fi_info -l lists the known ones.\n",
			ex.unknown);
	info_explain_free(&ex);
	return unknown;
}

/* print_security - where -v or --explain shows more than what is offered. */
static void print_security(const struct info_options *o)
{
	struct fi_param *params;
	int cnt;

	if (o->task == INFO_ENV || o->json || (!o->verbose && !o->explain) || fi_getparams(&params, &cnt))
		return;
	info_print_security(params, cnt);
	fi_freeparams(params);
}

static void print_failure(const struct info_options *o, int ret)
{
	fprintf(stderr, "%s: %d (%s)\n", o->task == INFO_ENV ? "fi_getparams" : "fi_getinfo",
		ret, fi_strerror(-ret));
	if (ret == -FI_ENODATA && !o->explain && !says_unknown(o))
		fprintf(stderr, "Nothing on this machine meets these options; "
			"add --explain to see why.\n");
}

static int run_task(const struct info_options *o)
{
	struct info_explain ex = { 0 };
	struct answer a = { 0 };
	int ret = 0;

	if (o->hints && o->hints->ep_attr->type != FI_EP_UNSPEC)
		snprintf(ex.ep_type, sizeof(ex.ep_type), "%s",
			 fi_tostr(&o->hints->ep_attr->type, FI_TYPE_EP_TYPE));
	if (o->explain)
		ret = info_explain_start(&ex);
	if (ret)
		fprintf(stderr, "fi_info: this library (%s) has no log import, so fi_info "
			"cannot explain: %s\n", fi_tostr("", FI_TYPE_VERSION), fi_strerror(-ret));
	ask_info(o, &a);
	if (o->explain)
		info_explain_providers(&ex, api_version(),
				       o->hints ? o->hints->fabric_attr->prov_name : NULL);
	if (a.ret)
		print_failure(o, a.ret);
	if (o->json)
		print_json(o, &a, &ex);
	else if (!a.ret)
		print_text(o, &a);
	if (o->explain && !o->json && !ret)
		info_explain_print(&ex, stdout);
	print_security(o);
	fi_freeinfo(a.infos);
	if (a.params)
		fi_freeparams(a.params);
	info_explain_free(&ex);
	return a.ret;
}

int main(int argc, char **argv)
{
	struct info_options o;
	int ret = info_options_parse(argc, argv, &o);

	if (!ret && o.task == INFO_USAGE)
		info_options_usage();
	else if (!ret)
		ret = o.task == INFO_VERSION ? show_version(&o) :
		      o.task == INFO_PATH ? info_path(&o, api_version()) : run_task(&o);
	if (fflush(stdout) || ferror(stdout)) {
		perror("fi_info: writing the output");
		ret = ret ? ret : -FI_EIO;
	}
	info_options_free(&o);
	if (o.task == INFO_USAGE)
		return EXIT_FAILURE;
	return ret < 0 ? -ret : ret;
}
