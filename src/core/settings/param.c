/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "base/list.h"
#include "core/env.h"
#include "core/export.h"
#include "core/init.h"
#include "core/log.h"
#include "core/param.h"
#include "core/registry.h"

#define ENV_NAME_MAX 128

struct param {
	struct list entry;
	enum fi_param_type type;
	char *help;
	char name[];		/* FI_..., upper case */
};

pthread_mutex_t core_param_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list params = { &params, &params };

/* env_append - @text behind the first @len bytes of @buf; anything but a letter or digit turns into '_'.
 * Returns the new length, or ENV_NAME_MAX if it does not fit.
 */
static size_t env_append(char *buf, size_t len, const char *text)
{
	for (; *text && len < ENV_NAME_MAX; text++)
		buf[len++] = isalnum((unsigned char) *text) ? (char) toupper((unsigned char) *text) : '_';
	return len;
}

/* env_name - FI_<PROVIDER>_<NAME>.  Each query of the interfaces asks for some: no printf. */
static int env_name(char *buf, const struct fi_provider *prov, const char *name)
{
	size_t len = env_append(buf, 0, "FI_");

	if (prov && prov != &core_prov)
		len = env_append(buf, env_append(buf, len, prov->name), "_");
	len = env_append(buf, len, name);
	if (len >= ENV_NAME_MAX)
		return -FI_EINVAL;
	buf[len] = '\0';
	return 0;
}

static struct param *param_find(const char *name)
{
	struct param *param;

	list_for_each_entry(param, &params, entry)
		if (!strcmp(param->name, name))
			return param;
	return NULL;
}

/* Takes ownership of @help on success. */
static int param_store(const char *name, enum fi_param_type type, char *help)
{
	struct param *param;

	pthread_mutex_lock(&core_param_lock);
	param = param_find(name);
	if (!param) {
		param = calloc(1, sizeof(*param) + strlen(name) + 1);
		if (!param) {
			pthread_mutex_unlock(&core_param_lock);
			return -FI_ENOMEM;
		}
		strcpy(param->name, name);
		list_add_tail(&param->entry, &params);
	}
	free(param->help);
	param->help = help;
	param->type = type;
	pthread_mutex_unlock(&core_param_lock);
	return 0;
}

CORE_EXPORT
int fi_param_define(const struct fi_provider *provider, const char *param_name,
		    enum fi_param_type type, const char *help_string_fmt, ...)
{
	char name[ENV_NAME_MAX], *help;
	va_list args;
	int ret;

	if (!param_name || !*param_name || !help_string_fmt || !*help_string_fmt ||
	    (unsigned int) type > FI_PARAM_SIZE_T)
		return -FI_EINVAL;
	ret = env_name(name, provider, param_name);
	if (ret)
		return ret;
	va_start(args, help_string_fmt);
	ret = vasprintf(&help, help_string_fmt, args);
	va_end(args);
	if (ret < 0)
		return -FI_ENOMEM;
	ret = param_store(name, type, help);
	if (ret)
		free(help);
	return ret;
}

/* ---- values -------------------------------------------------------------- */

static int parse_int(const char *text, int *value)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 0);
	if (end == text || *end || errno || n < INT_MIN || n > INT_MAX)
		return -FI_EINVAL;
	*value = (int) n;
	return 0;
}

static int parse_bool(const char *text, int *value)
{
	int n = core_env_parse_bool(text);

	if (n < 0)
		return -FI_EINVAL;
	*value = n;
	return 0;
}

static int suffix_shift(const char *suffix)
{
	static const char units[] = "kmgt";
	const char *unit;

	if (!*suffix)
		return 0;
	unit = strchr(units, tolower((unsigned char) *suffix));
	return unit && !suffix[1] ? 10 * (int) (unit - units + 1) : -1;
}

/* -1 is accepted as "no limit". */
static int parse_size(const char *text, size_t *value)
{
	unsigned long long n;
	char *end;
	int shift;

	if (!strcmp(text, "-1")) {
		*value = SIZE_MAX;
		return 0;
	}
	errno = 0;
	n = strtoull(text, &end, 0);
	shift = suffix_shift(end);
	if (end == text || errno || shift < 0 || strchr(text, '-') ||
	    n > SIZE_MAX >> shift)
		return -FI_EINVAL;
	*value = (size_t) n << shift;
	return 0;
}

static int param_parse(enum fi_param_type type, const char *text, void *value)
{
	switch (type) {
	case FI_PARAM_STRING:
		*(const char **) value = text;
		return 0;
	case FI_PARAM_INT:
		return parse_int(text, value);
	case FI_PARAM_BOOL:
		return parse_bool(text, value);
	case FI_PARAM_SIZE_T:
		return parse_size(text, value);
	}
	return -FI_EINVAL;
}

static const char *type_wants(enum fi_param_type type)
{
	switch (type) {
	case FI_PARAM_INT:
		return "a whole number";
	case FI_PARAM_BOOL:
		return "0, 1, no, yes, false, true, off or on";
	case FI_PARAM_SIZE_T:
		return "a number of at least 0 (k, m, g and t multiply), or -1 for no limit";
	default:
		return "text";
	}
}

CORE_EXPORT
int fi_param_get(struct fi_provider *provider, const char *param_name, void *value)
{
	char name[ENV_NAME_MAX];
	enum fi_param_type type = FI_PARAM_STRING;
	struct param *param;
	const char *text;
	int ret;

	if (!param_name || !value)
		return -FI_EINVAL;
	ret = env_name(name, provider, param_name);
	if (ret)
		return ret;
	pthread_mutex_lock(&core_param_lock);
	param = param_find(name);
	if (param)
		type = param->type;
	pthread_mutex_unlock(&core_param_lock);
	if (!param)
		return -FI_ENOENT;
	text = core_env_get(name);
	if (!text)
		return -FI_ENODATA;
	ret = param_parse(type, text, value);
	if (ret)
		FI_WARN(provider ? provider : &core_prov, FI_LOG_CORE,
			"%s=\"%s\" cannot be used: it has to be %s; the default is used",
			name, text, type_wants(type));
	else
		FI_INFO(provider ? provider : &core_prov, FI_LOG_CORE,
			"%s=%s", name, text);
	return ret;
}

/* ---- listing ------------------------------------------------------------- */

/* The name is written last: an entry without a name ends the vector. */
static int param_export(struct fi_param *out, const struct param *param)
{
	const char *value = core_env_get(param->name);
	char *name = strdup(param->name);

	out->type = param->type;
	out->help_string = strdup(param->help);
	out->value = value ? strdup(value) : NULL;
	if (!name || !out->help_string || (value && !out->value)) {
		free(name);
		free((void *) out->help_string);
		free((void *) out->value);
		return -FI_ENOMEM;
	}
	out->name = name;
	return 0;
}

static int params_export(struct fi_param **params_p, int *count)
{
	struct fi_param *vec;
	struct param *param;
	size_t n = 0;
	int ret = 0;

	list_for_each_entry(param, &params, entry)
		n++;
	/* fi_freeparams() finds the end by the empty entry. */
	vec = calloc(n + 1, sizeof(*vec));
	if (!vec)
		return -FI_ENOMEM;
	n = 0;
	list_for_each_entry(param, &params, entry)
		if (!ret)
			ret = param_export(&vec[n++], param);
	if (ret) {
		fi_freeparams(vec);
		return ret;
	}
	*params_p = vec;
	*count = (int) n;
	return 0;
}

/* ---- misspelt names -------------------------------------------------------- */

#define TYPOS_MAX 2	/* letters that differ, are missing or too many */

/* typo_count - how many letters have to be changed, inserted or left out between @a and @b; more
 * than TYPOS_MAX counts as one more.
 */
static int typo_count(const char *a, const char *b, int budget)
{
	int best, other;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (!*a && !*b)
		return 0;
	if (!budget)
		return 1;
	best = *a && *b ? typo_count(a + 1, b + 1, budget - 1) : budget;
	other = *a ? typo_count(a + 1, b, budget - 1) : budget;
	best = other < best ? other : best;
	other = *b ? typo_count(a, b + 1, budget - 1) : budget;
	return 1 + (other < best ? other : best);
}

/* Up to the second underscore: the provider, or the group; of FI_OFI_RXM_ the third.  Variables of one
 * provider often differ from those of another, which may not have been loaded, in no more than its
 * name.
 */
static size_t prefix_len(const char *name)
{
	const char *start = name + (strncmp(name, "FI_OFI_", 7) ? 3 : 7), *end = strchr(start, '_');

	return (size_t) ((end ? end + 1 : start) - name);
}

/* similar_name - if @name is no parameter but close to one, copy the closest one's name to @buf. */
static bool similar_name(const char *name, char *buf)
{
	int best = TYPOS_MAX + 1, typos;
	size_t len = prefix_len(name);
	struct list *item;

	pthread_mutex_lock(&core_param_lock);
	item = param_find(name) ? &params : params.next;
	for (; item != &params; item = item->next) {
		const struct param *param = container_of(item, struct param, entry);

		if (strncmp(param->name, name, len))
			continue;
		typos = typo_count(param->name + len, name + len, TYPOS_MAX);
		if (typos >= best)
			continue;
		best = typos;
		snprintf(buf, ENV_NAME_MAX, "%s", param->name);
	}
	pthread_mutex_unlock(&core_param_lock);
	return best <= TYPOS_MAX;
}

/* check_name - @where: "", or the line of the configuration file that sets it. */
static void check_name(const char *where, const char *name)
{
	const char *instead = core_param_removed(name);
	char known[ENV_NAME_MAX];

	if (instead)
		CORE_WARN("%s%s is not a variable of this library, or no longer, and has no effect: %s\n", where, name,
			  instead);
	else if (strlen(name) < ENV_NAME_MAX && similar_name(name, known))
		CORE_WARN("%s%s is not a variable of this library and has no effect: did you mean %s?\n", where,
			  name, known);
}

/* check_line - one of the configuration file. */
static void check_line(const char *file, unsigned line, const char *name)
{
	char where[PATH_MAX + 16];

	snprintf(where, sizeof(where), "%s:%u: ", file, line);
	if (name)
		check_name(where, name);
	else
		CORE_WARN("%sthe line has no effect: it has to be a comment (#) or FI_NAME = value\n", where);
}

static void check_env(void)
{
	char name[ENV_NAME_MAX];
	char **var;

	core_env_each_line(check_line);

	for (var = environ; var && *var; var++) {
		size_t len = strcspn(*var, "=");

		if (strncmp(*var, "FI_", 3) || len >= sizeof(name))
			continue;
		memcpy(name, *var, len);
		name[len] = '\0';
		check_name("", name);
	}
}

void core_param_check_env(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, check_env);
}

CORE_EXPORT
int fi_getparams(struct fi_param **params_p, int *count)
{
	int ret;

	if (!params_p || !count)
		return -FI_EINVAL;
	core_init();
	core_registry_load_all();
	pthread_mutex_lock(&core_param_lock);
	ret = params_export(params_p, count);
	pthread_mutex_unlock(&core_param_lock);
	return ret;
}

CORE_EXPORT
void fi_freeparams(struct fi_param *params_vec)
{
	struct fi_param *param;

	if (!params_vec)
		return;
	for (param = params_vec; param->name; param++) {
		free((void *) param->name);
		free((void *) param->help_string);
		free((void *) param->value);
	}
	free(params_vec);
}
