/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "explain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>

static bool row_known(const struct info_explain *ex, const struct explain_line *row)
{
	for (size_t i = 0; i < ex->cnt; i++) {
		const struct explain_line *old = &ex->rows[i];

		if (!strcmp(old->provider, row->provider) && !strcmp(old->domain, row->domain) &&
		    !strcmp(old->addr, row->addr) && !strcmp(old->ep_type, row->ep_type) &&
		    !strcmp(old->attr, row->attr) && !strcmp(old->wanted, row->wanted) &&
		    !strcmp(old->offered, row->offered))
			return true;
	}
	return false;
}

/* A layered provider queries the endpoints that it builds on; their refusals of other endpoint
 * types do not answer the user's query.
 */
static bool asked_by_layer(const struct info_explain *ex, const struct explain_line *row)
{
	return !strcmp(row->attr, "ep_attr->type") && strcmp(row->wanted, ex->ep_type);
}

int info_explain_add(struct info_explain *ex, const char *line)
{
	struct explain_line row, *rows;
	int ret = explain_parse(line, &row);

	if (ret || row_known(ex, &row) || asked_by_layer(ex, &row))
		return ret;
	rows = realloc(ex->rows, (ex->cnt + 1) * sizeof(*rows));
	if (!rows) {
		ex->lost++;
		return -FI_ENOMEM;
	}
	rows[ex->cnt++] = row;
	ex->rows = rows;
	return 0;
}

/* ---- the log ---------------------------------------------------------- */

static int log_enabled(const struct fi_provider *prov, enum fi_log_level level,
		       enum fi_log_subsys subsys, uint64_t flags)
{
	return level <= FI_LOG_INFO;
}

static int log_ready(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys, uint64_t flags, uint64_t *showtime)
{
	return log_enabled(prov, level, subsys, flags);
}

static struct fid_logging sink;

static void log_line(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys, const char *func, int line, const char *msg)
{
	size_t len = strlen(msg);

	if (!info_explain_add(sink.fid.context, msg) || level > FI_LOG_WARN)
		return;
	fprintf(stderr, "warning: %s: %s%s", prov ? prov->name : "core", msg,
		len && msg[len - 1] == '\n' ? "" : "\n");
}

static int sink_close(struct fid *fid)
{
	return 0;
}

int info_explain_start(struct info_explain *ex)
{
	static struct fi_ops fid_ops = { .size = sizeof(fid_ops), .close = sink_close };
	static struct fi_ops_log log_ops = {
		.size = sizeof(log_ops),
		.enabled = log_enabled,
		.ready = log_ready,
		.log = log_line,
	};

	sink.fid.fclass = FI_CLASS_LOG;
	sink.fid.context = ex;
	sink.fid.ops = &fid_ops;
	sink.ops = &log_ops;
	return fi_import_log(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), 0, &sink);
}

/* ---- excluded by FI_PROVIDER ------------------------------------------- */

static struct fi_info *list_providers(uint32_t version)
{
	struct fi_info *list;

	return fi_getinfo(version, NULL, NULL, FI_PROV_ATTR_ONLY, NULL, &list) ? NULL : list;
}

static bool is_listed(const struct fi_info *list, const char *name)
{
	for (; list; list = list->next)
		if (!strcasecmp(list->fabric_attr->prov_name, name))
			return true;
	return false;
}

/* A name may have two parts, "udp;ofi_rxd", and each must be in the list. */
static void find_unknown(struct info_explain *ex, const struct fi_info *list, const char *wanted)
{
	char *copy = strdup(wanted ? wanted : ""), *save, *part;

	if (!copy)
		return;
	for (part = strtok_r(copy, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
		if (*part != '^' && !is_listed(list, part)) {
			ex->unknown = strdup(part);
			break;
		}
	}
	free(copy);
}

static void add_filtered(struct info_explain *ex, const char *name)
{
	char **names = realloc(ex->filtered, (ex->filtered_cnt + 1) * sizeof(*names));

	if (!names)
		return;
	ex->filtered = names;
	names[ex->filtered_cnt] = strdup(name);
	ex->filtered_cnt += !!names[ex->filtered_cnt];
}

void info_explain_providers(struct info_explain *ex, uint32_t version, const char *wanted)
{
	const char *filter = getenv("FI_PROVIDER");
	struct fi_info *allowed = list_providers(version), *all, *info;

	if (filter && *filter)
		ex->filter = strdup(filter);
	unsetenv("FI_PROVIDER");
	all = list_providers(version);
	for (info = all; info; info = info->next)
		if (!is_listed(allowed, info->fabric_attr->prov_name))
			add_filtered(ex, info->fabric_attr->prov_name);
	find_unknown(ex, all, wanted);
	fi_freeinfo(allowed);
	fi_freeinfo(all);
}

/* ---- output ------------------------------------------------------------ */

static bool first_of_provider(const struct info_explain *ex, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(ex->rows[i].provider, ex->rows[at].provider))
			return false;
	return true;
}

/* "eth0, 192.0.2.2, FI_EP_RDM", without the parts that do not apply. */
static void print_candidate(const struct explain_line *row, FILE *out)
{
	const char *part[] = { row->domain, row->addr, row->ep_type };
	const char *comma = "";

	fputs("    ", out);
	for (size_t i = 0; i < 3; i++) {
		if (!strcmp(part[i], "-"))
			continue;
		fprintf(out, "%s%s", comma, part[i]);
		comma = ", ";
	}
	fprintf(out, "%s:\n", *comma ? "" : "any");
}

static void print_row(const struct explain_line *row, FILE *out)
{
	print_candidate(row, out);
	fprintf(out, "        hint:    %s\n", row->attr);
	fprintf(out, "        wanted:  %s\n", strcmp(row->wanted, "-") ? row->wanted : "(none)");
	fprintf(out, "        offered: %s\n", row->offered);
}

void info_explain_print(const struct info_explain *ex, FILE *out)
{
	/* Refusals because of the name are left out: they are expected. */
	for (size_t i = 0; i < ex->cnt && !ex->unknown; i++) {
		if (!first_of_provider(ex, i))
			continue;
		fprintf(out, "not offered: %s\n", ex->rows[i].provider);
		for (size_t k = i; k < ex->cnt; k++)
			if (!strcmp(ex->rows[k].provider, ex->rows[i].provider))
				print_row(&ex->rows[k], out);
	}
	for (size_t i = 0; i < ex->filtered_cnt; i++)
		fprintf(out, "not asked: %s (FI_PROVIDER=%s leaves it out)\n",
			ex->filtered[i], ex->filter);
	if (ex->unknown)
		fprintf(out, "no such provider: %s (fi_info -l lists them)\n", ex->unknown);
	else if (!ex->cnt && !ex->filtered_cnt)
		fprintf(out, "no provider gave a reason to leave anything out\n");
	if (ex->lost)
		fprintf(out, "%d more reasons did not fit into memory\n", ex->lost);
}

static void dump_value(struct json *j, const char *key, const char *val)
{
	json_str(j, key, strcmp(val, "-") ? val : NULL);
}

void info_explain_dump(const struct info_explain *ex, struct json *j)
{
	json_array(j, "refused");
	for (size_t i = 0; i < ex->cnt; i++) {
		json_object(j, NULL);
		dump_value(j, "provider", ex->rows[i].provider);
		dump_value(j, "domain", ex->rows[i].domain);
		dump_value(j, "addr", ex->rows[i].addr);
		dump_value(j, "ep_type", ex->rows[i].ep_type);
		dump_value(j, "hint", ex->rows[i].attr);
		dump_value(j, "wanted", ex->rows[i].wanted);
		dump_value(j, "offered", ex->rows[i].offered);
		json_end(j);
	}
	json_end(j);
	json_str(j, "FI_PROVIDER", ex->filter);
	json_str(j, "unknown_provider", ex->unknown);
	json_array(j, "filtered");
	for (size_t i = 0; i < ex->filtered_cnt; i++)
		json_str(j, NULL, ex->filtered[i]);
	json_end(j);
}

void info_explain_free(struct info_explain *ex)
{
	for (size_t i = 0; i < ex->filtered_cnt; i++)
		free(ex->filtered[i]);
	free(ex->filtered);
	free(ex->filter);
	free(ex->unknown);
	free(ex->rows);
	memset(ex, 0, sizeof(*ex));
}
