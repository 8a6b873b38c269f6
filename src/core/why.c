/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/builtin.h"
#include "core/log.h"
#include "core/why.h"
#include "core/words.h"

#define VALUE_MAX 448

/* One value of the line: bare when it can be, else in quotes. */
static const char *value(char *buf, const char *text)
{
	size_t n = 0;

	if (!text || !*text)
		return "-";
	if (!strpbrk(text, " \"\\\n"))
		return text;
	buf[n++] = '"';
	for (; *text && n < VALUE_MAX - 3; text++) {
		if (*text == '"' || *text == '\\' || *text == '\n')
			buf[n++] = '\\';
		buf[n++] = *text == '\n' ? 'n' : *text;
	}
	buf[n++] = '"';
	buf[n] = '\0';
	return buf;
}

void core_why(const char *provider, const struct fi_info *info, const char *attr,
	      const char *wanted, const char *offered)
{
	char wanted_buf[VALUE_MAX], offered_buf[VALUE_MAX], type_buf[32] = "-";
	char name_buf[VALUE_MAX];
	const char *domain = info && info->domain_attr ? info->domain_attr->name : NULL;

	if (!fi_log_enabled(&core_prov, FI_LOG_INFO, FI_LOG_CORE))
		return;
	if (info && info->ep_attr)
		fi_tostr_r(type_buf, sizeof(type_buf), &info->ep_attr->type,
			   FI_TYPE_EP_TYPE);
	CORE_INFO("explain: provider=%s domain=%s addr=- ep_type=%s attr=%s "
		  "wanted=%s offered=%s", provider && *provider ? provider : "-",
		  value(name_buf, domain), type_buf, attr,
		  value(wanted_buf, wanted), value(offered_buf, offered));
}

/* ---- providers that were not asked --------------------------------------------- */

struct not_asked {
	const struct core_ask *ask;
	const struct core_provs *asked;
	const char *name;	/* looked for */
	bool found;
};

static void ask_name(const struct core_ask *ask, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", ask->core, *ask->core && *ask->layer ? ";" : "",
		 ask->layer);
}

static void why_one(const char *name, void *arg)
{
	const struct not_asked *not = arg;
	char asked_for[2 * FI_NAME_MAX];
	int i;

	for (i = 0; i < not->asked->cnt; i++)
		if (!strcasecmp(not->asked->prov[i]->name, name))
			return;
	ask_name(not->ask, asked_for, sizeof(asked_for));
	if (*asked_for)
		core_why(name, NULL, "fabric_attr->prov_name", asked_for, name);
	else if (!core_words_empty(not->ask->filter))
		core_why(name, NULL, "FI_PROVIDER", not->ask->filter, "left out");
	else if (core_builtin_find(name)->by_name)
		core_why(name, NULL, "fabric_attr->prov_name", NULL, name);
	else
		core_why(name, NULL, "fabric_attr->prov_name", NULL,
			 "a module that cannot be used here");
}

static void name_match(const char *name, void *arg)
{
	struct not_asked *not = arg;

	if (!strcasecmp(name, not->name))
		not->found = true;
}

/* A name that nothing bears: a slip of the pen, or a provider not installed. */
static void why_absent(const char *name, void *arg)
{
	struct not_asked *not = arg;

	not->name = name;
	not->found = false;
	core_registry_each(name_match, not);
	if (!not->found && core_builtin_class(name) != CORE_CLASS_LAYER)
		core_why(name, NULL, "fabric_attr->prov_name", name,
			 "no such provider in this library or its provider path");
}

void core_why_not(const struct core_ask *ask, const struct core_provs *asked)
{
	struct not_asked not = { .ask = ask, .asked = asked };

	if (ask->core_only || !fi_log_enabled(&core_prov, FI_LOG_INFO, FI_LOG_CORE))
		return;
	core_registry_each(why_one, &not);
	core_ask_each_name(ask, why_absent, &not);
}
