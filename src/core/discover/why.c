/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdio.h>
#include <strings.h>

#include "core/builtin.h"
#include "core/log.h"
#include "core/text.h"
#include "core/why.h"
#include "core/words.h"
#include "base/explain.h"

/* Logged in the name of the provider, so that FI_LOG_PROV applies to it. */
void core_why(const char *provider, const struct fi_info *info, const char *attr,
	      const char *wanted, const char *offered)
{
	struct fi_provider who = { .name = provider };
	struct explain_label label = { 0 };
	struct explain_refusal refusal = {
		.prov = &who, .label = &label, .attr = attr, .wanted.text = wanted,
		.offered.text = offered,
	};

	if (info && info->domain_attr)
		label.domain = info->domain_attr->name;
	if (info && info->ep_attr)
		refusal.ep_type = EXPLAIN_VALUE_NAMES(FI_TYPE_EP_TYPE, info->ep_attr->type);
	explain_refuse(&refusal);
}

/* ---- providers that were not asked --------------------------------------------- */

struct not_asked {
	const struct core_ask *ask;
	const struct core_provs *asked;
	const char *name;	/* name looked for */
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

/* No provider has this name: it is misspelt, or the provider is not installed.  Layers are
 * looked for with every core provider, whether it was asked or not.
 */
static void why_absent(const char *name, void *arg)
{
	struct not_asked *not = arg;

	not->name = name;
	not->found = false;
	core_registry_each(name_match, not);
	if (!not->found && (core_builtin_class(name) != CORE_CLASS_LAYER ||
			    !strcasecmp(name, not->ask->layer)))
		core_why(name, NULL, "fabric_attr->prov_name", name,
			 "no such provider in this library or in FI_PROVIDER_PATH");
}

static void name_append(const char *name, void *arg)
{
	struct core_text *text = arg;

	core_text_add(text, " %s", name);
}

/* When FI_PROVIDER matches no provider, every program of the user finds nothing, and few
 * programs report why.  So this is a warning.
 */
static void warn_filter(const struct core_ask *ask)
{
	const char *body;
	struct core_text text;
	char buf[512];

	if (core_words_empty(ask->filter) || core_words_exclude(ask->filter, &body))
		return;
	core_text_init(&text, buf, sizeof(buf));
	core_registry_each(name_append, &text);
	FI_WARN_ONCE(&core_prov, FI_LOG_CORE, "FI_PROVIDER=%s matches no provider; "
		     "available are:%s", ask->filter, *buf ? buf : " none");
}

/* A layer is asked for every name, because it may serve it. */
static bool any_core(const struct core_provs *asked)
{
	int i;

	for (i = 0; i < asked->cnt; i++)
		if (core_builtin_class(asked->prov[i]->name) == CORE_CLASS_CORE)
			return true;
	return false;
}

void core_why_not(const struct core_ask *ask, const struct core_provs *asked)
{
	struct not_asked not = { .ask = ask, .asked = asked };

	if (ask->core_only)
		return;
	core_registry_each(why_one, &not);
	core_ask_each_name(ask, why_absent, &not);
	if (!any_core(asked) && !*ask->core && !*ask->layer)
		warn_filter(ask);
}
