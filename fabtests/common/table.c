/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* The table of results: as text, as key=value, or as JSON. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ft.h"

#define GAP	2

void ft_table_head(const struct ft *ft, const struct ft_col *cols, size_t cnt, const char *beside)
{
	if (ft->opt.machine || ft->opt.json || (ft->server && !ft->test->local))
		return;
	printf("# %s, %s, %s; beside it %s in the same run\n", ft->info->fabric_attr->prov_name,
	       ft->info->domain_attr->name, fi_tostr(&ft->info->ep_attr->type, FI_TYPE_EP_TYPE),
	       beside);
	printf("%-*s", cols[0].width, cols[0].head);
	for (size_t i = 1; i < cnt; i++)
		printf("%*s", cols[i].width + GAP, cols[i].head);
	putchar('\n');
}

static void row_plain(const struct ft_col *cols, size_t cnt, const char *label, const double *values)
{
	printf("%-*s", cols[0].width, label);
	for (size_t i = 1; i < cnt; i++)
		if (isnan(values[i - 1]))
			printf("%*s", cols[i].width + GAP, "-");
		else
			printf("%*.*f", cols[i].width + GAP, cols[i].digits, values[i - 1]);
}

static void row_pairs(const struct ft_col *cols, size_t cnt, const char *label, const double *values)
{
	printf("%s=%s", cols[0].key, label);
	for (size_t i = 1; i < cnt; i++)
		if (!isnan(values[i - 1]))
			printf(" %s=%.*f", cols[i].key, cols[i].digits ? 3 : 0, values[i - 1]);
}

/* The library that the calls go to: a measurement of the wrong one looks like any other. */
static const char *library_path(void)
{
	Dl_info info;

	return dladdr((void *) (uintptr_t) fi_fabric, &info) && info.dli_fname ? info.dli_fname : "?";
}

/* A name of a provider or of a row needs no escapes, and a path with a quote is not expected. */
static void row_json(const struct ft *ft, const struct ft_col *cols, size_t cnt, const char *label,
		     const double *values)
{
	bool number = strspn(label, "0123456789") == strlen(label);
	const char *quote = number ? "" : "\"";

	printf("{\"program\": \"%s\", \"library\": \"%s\", \"version\": \"%u.%u\", "
	       "\"provider\": \"%s\", \"type\": \"%s\", \"%s\": %s%s%s", ft->name, library_path(),
	       FI_MAJOR(fi_version()), FI_MINOR(fi_version()), ft->info->fabric_attr->prov_name,
	       fi_tostr(&ft->info->ep_attr->type, FI_TYPE_EP_TYPE), cols[0].key, quote, label, quote);
	for (size_t i = 1; i < cnt; i++)
		if (isnan(values[i - 1]))
			printf(", \"%s\": null", cols[i].key);
		else
			printf(", \"%s\": %.*f", cols[i].key, cols[i].digits ? 4 : 0, values[i - 1]);
	putchar('}');
}

void ft_table_row(const struct ft *ft, const struct ft_col *cols, size_t cnt, const char *label,
		  const double *values)
{
	if (ft->opt.json)
		row_json(ft, cols, cnt, label, values);
	else if (ft->opt.machine)
		row_pairs(cols, cnt, label, values);
	else
		row_plain(cols, cnt, label, values);
	putchar('\n');
	fflush(stdout);
}

void ft_table_row_n(const struct ft *ft, const struct ft_col *cols, size_t cnt, size_t label,
		    const double *values)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", label);
	ft_table_row(ft, cols, cnt, text, values);
}

double ft_ratio(double mine, double bare)
{
	return bare > 0 && mine > 0 ? mine / bare : NAN;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

struct ft_spread ft_spread(uint32_t *ns, int cnt)
{
	struct ft_spread s = { 0 };

	if (cnt <= 0)
		return s;
	for (int i = 0; i < cnt; i++)
		s.sum_us += ns[i] / 1000.0;
	qsort(ns, (size_t) cnt, sizeof(*ns), by_value);
	s.p50_us = ns[cnt / 2] / 1000.0;
	s.p99_us = ns[cnt * 99 / 100] / 1000.0;
	return s;
}
