/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "print.h"

#include <stdio.h>
#include <string.h>

static const char *text_or_null(const char *s)
{
	return s ? s : "(null)";
}

static void print_version(const struct fi_fabric_attr *attr)
{
	printf("    version: %u.%u\n", FI_MAJOR(attr->prov_version), FI_MINOR(attr->prov_version));
}

void info_print_short(const struct fi_info *list)
{
	for (const struct fi_info *info = list; info; info = info->next) {
		printf("provider: %s\n", text_or_null(info->fabric_attr->prov_name));
		printf("    fabric: %s\n", text_or_null(info->fabric_attr->name));
		printf("    domain: %s\n", text_or_null(info->domain_attr->name));
		print_version(info->fabric_attr);
		printf("    type: %s\n", fi_tostr(&info->ep_attr->type, FI_TYPE_EP_TYPE));
		printf("    protocol: %s\n", fi_tostr(&info->ep_attr->protocol, FI_TYPE_PROTOCOL));
	}
}

void info_print_verbose(const struct fi_info *list, const char *substr)
{
	for (const struct fi_info *info = list; info; info = info->next) {
		const char *form = fi_tostr(info, FI_TYPE_INFO);

		if (!substr || strstr(form, substr))
			printf("---\n%s", form);
	}
}

void info_print_providers(const struct fi_info *list)
{
	for (const struct fi_info *info = list; info; info = info->next) {
		printf("%s:\n", text_or_null(info->fabric_attr->prov_name));
		print_version(info->fabric_attr);
	}
}

const char *info_print_param_type(enum fi_param_type type)
{
	switch (type) {
	case FI_PARAM_STRING:
		return "String";
	case FI_PARAM_INT:
		return "Integer";
	case FI_PARAM_BOOL:
		return "Boolean (0/1, on/off, true/false, yes/no)";
	case FI_PARAM_SIZE_T:
		return "size_t";
	}
	return "Unknown";
}

int info_print_param_match(const struct fi_param *param, const char *substr)
{
	return !substr || strcasestr(param->name, substr);
}

void info_print_env(const struct fi_param *params, int cnt, const char *substr)
{
	const char *quote;

	for (int i = 0; i < cnt; i++) {
		if (!info_print_param_match(&params[i], substr))
			continue;
		printf("# %s: %s\n", params[i].name, info_print_param_type(params[i].type));
		printf("# %s\n", text_or_null(params[i].help_string));
		if (params[i].value) {
			quote = strpbrk(params[i].value, " \t") ? "\"" : "";
			printf("%s=%s%s%s\n", params[i].name, quote, params[i].value, quote);
		}
		putchar('\n');
	}
}

static const char *find_value(const struct fi_param *params, int cnt, const char *name)
{
	for (int i = 0; i < cnt; i++)
		if (!strcmp(params[i].name, name))
			return params[i].value;
	return NULL;
}

void info_print_security(const struct fi_param *params, int cnt)
{
	static const char *const keys[] = { "FI_AUTH_KEY_FILE", "FI_TLS_CERT" };
	const char *level = find_value(params, cnt, "FI_SECURITY"), *key = NULL;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]) && !key; i++)
		if (find_value(params, cnt, keys[i]))
			key = keys[i];
	if (level && !strcmp(level, "none"))
		printf("# connections: none (FI_SECURITY=none; fi_security(7))\n");
	else if (level || key)
		printf("# connections: %s (%s; fi_security(7))\n", level ? level : "encrypt",
		       key ? key : "FI_SECURITY without a key: no endpoint can be opened without an auth_key");
}
