/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <rdma/fi_errno.h>

#include "base/provider.h"
#include "core/ask.h"
#include "core/builtin.h"
#include "core/env.h"
#include "core/log.h"
#include "core/words.h"

/* The parts of a word of FI_PROVIDER or of a provider name: core provider, layer, or both. */
struct parts {
	char core[FI_NAME_MAX];
	char layer[FI_NAME_MAX];
};

/* What providers of this name are for, peers by shared memory or by a network and several interfaces at once, is done
 * below all others here: a request for one is a request for any.
 */
static bool part_is_below(const char *part)
{
	static const char *const names[] = { "lnx", "ofi_lnx", "mrail", "ofi_mrail" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(part, names[i]))
			return true;
	return false;
}

/* Splits a name into its parts; -FI_ENODATA when it cannot be a provider's name. */
static int parts_read(struct parts *parts, const char *name, size_t name_len)
{
	char copy[2 * FI_NAME_MAX];
	const char *rest = copy, *word;
	char part[FI_NAME_MAX], *slot;
	size_t len;

	parts->core[0] = parts->layer[0] = '\0';
	if (name_len >= sizeof(copy))
		return -FI_ENODATA;
	snprintf(copy, sizeof(copy), "%.*s", (int) name_len, name);
	while ((word = core_words_next(&rest, ';', &len))) {
		if (len >= sizeof(part))
			return -FI_ENODATA;
		snprintf(part, sizeof(part), "%.*s", (int) len, word);
		if (part_is_below(part)) {
			CORE_INFO("%s: what it is for is done below every provider here: see fi_rails(7)\n", part);
			continue;
		}
		slot = core_builtin_class(part) == CORE_CLASS_CORE ? parts->core :
								     parts->layer;
		if (*slot)
			return -FI_ENODATA;
		memcpy(slot, part, len + 1);
	}
	return 0;
}

int core_ask_init(struct core_ask *ask, const char *prov_name, uint64_t flags)
{
	struct parts parts;
	int ret;

	memset(ask, 0, sizeof(*ask));
	ask->core_only = !!(flags & OFI_CORE_PROV_ONLY);
	ask->attr_only = !!(flags & FI_PROV_ATTR_ONLY);
	ask->filter = ask->core_only ? NULL : core_env_get("FI_PROVIDER");
	if (!prov_name || !*prov_name)
		return 0;
	ret = parts_read(&parts, prov_name, strlen(prov_name));
	if (ret)
		return ret;
	memcpy(ask->core, parts.core, sizeof(ask->core));
	memcpy(ask->layer, parts.layer, sizeof(ask->layer));
	return 0;
}

/* ---- FI_PROVIDER ---------------------------------------------------------- */

/* The filter is applied to a core provider alone (no layer), to a layer over any core provider
 * (no core), or to a pair.
 */
static bool part_is(const char *have, const char *want)
{
	return !strcasecmp(have, want);
}

/* True when the word of the filter names @core without a layer. */
static bool word_hits_alone(const struct parts *word, const char *core)
{
	return !*word->layer && part_is(word->core, core);
}

/* "tcp" and "ofi_rxm" both match tcp;ofi_rxm. */
static bool word_hits_pair(const struct parts *word, const char *core,
			   const char *layer)
{
	return (!*word->core || part_is(word->core, core)) &&
	       (!*word->layer || part_is(word->layer, layer));
}

/* True when the filter includes it.  @layer NULL asks about @core alone. */
static bool filter_allows(const struct core_ask *ask, const char *core,
			  const char *layer)
{
	const char *body, *word;
	struct parts parts;
	bool exclude, hit = false;
	size_t len;

	if (ask->core_only || core_words_empty(ask->filter))
		return true;
	exclude = core_words_exclude(ask->filter, &body);
	while (!hit && (word = core_words_next(&body, ',', &len))) {
		if (parts_read(&parts, word, len))
			continue;
		if (!*parts.core && !*parts.layer)
			hit = !exclude;
		else
			hit = layer ? word_hits_pair(&parts, core, layer) :
			      word_hits_alone(&parts, core);
	}
	return hit != exclude;
}

/* True when the hints or the filter contain exactly this name. */
static bool is_said(const struct core_ask *ask, const char *name)
{
	const char *body, *word;
	size_t len;

	if (part_is(ask->core, name))
		return true;
	if (ask->core_only || core_words_exclude(ask->filter, &body))
		return false;
	while ((word = core_words_next(&body, ',', &len)))
		if (core_word_is(word, len, name))
			return true;
	return false;
}

/* ---- candidates ------------------------------------------------------------ */

bool core_ask_alone(const struct core_ask *ask, const char *name)
{
	if (*ask->layer || (*ask->core && !part_is(ask->core, name)))
		return false;
	if (core_builtin_find(name)->by_name && !is_said(ask, name))
		return false;
	return filter_allows(ask, name, NULL);
}

bool core_ask_pair(const struct core_ask *ask, const char *core, const char *layer)
{
	if (ask->core_only || (*ask->core && !part_is(ask->core, core)) ||
	    (*ask->layer && !part_is(ask->layer, layer)))
		return false;
	if (core_builtin_find(core)->pairs_by_name && !(*ask->core && *ask->layer))
		return false;
	return filter_allows(ask, core, layer);
}

/* True when the core provider @name can be the lower part of a candidate pair. */
static bool core_of_pair(const struct core_ask *ask, const char *name)
{
	static const char any_layer[] = "ofi_?";
	const char *body, *word;
	struct parts parts;
	size_t len;

	if (core_ask_pair(ask, name, *ask->layer ? ask->layer : any_layer))
		return true;
	if (ask->core_only || (*ask->core && !part_is(ask->core, name)) ||
	    core_words_exclude(ask->filter, &body))
		return false;
	while ((word = core_words_next(&body, ',', &len)))
		if (!parts_read(&parts, word, len) && *parts.layer &&
		    core_ask_pair(ask, name, parts.layer))
			return true;
	return false;
}

/* True when @name is a part of a word of the filter. */
static bool filter_says(const struct core_ask *ask, const char *name)
{
	const char *body, *word;
	struct parts parts;
	size_t len;

	core_words_exclude(ask->filter, &body);
	while ((word = core_words_next(&body, ',', &len)))
		if (!parts_read(&parts, word, len) &&
		    (part_is(parts.core, name) || part_is(parts.layer, name)))
			return true;
	return false;
}

bool core_ask_says_layer(const struct core_ask *ask, const char *layer)
{
	const char *body;

	return part_is(ask->layer, layer) ||
	       (!core_words_exclude(ask->filter, &body) && filter_says(ask, layer));
}

/* True when @layer can be the upper part of a candidate pair.  A layer that is not in the table
 * counts only where its file is looked for, loaded or not, so that the same query always gives
 * the same result.
 */
static bool layer_of_pair(const struct core_ask *ask, const char *layer)
{
	static const char any_core[] = "?";
	const char *body, *word;
	struct parts parts;
	size_t len;

	if (!core_ask_open(ask) && !core_builtin_find(layer)->name &&
	    !core_ask_says_layer(ask, layer))
		return false;
	if (core_ask_pair(ask, *ask->core ? ask->core : any_core, layer))
		return true;
	if (ask->core_only || *ask->core ||
	    core_words_exclude(ask->filter, &body))
		return false;
	while ((word = core_words_next(&body, ',', &len)))
		if (!parts_read(&parts, word, len) && *parts.core &&
		    core_ask_pair(ask, parts.core, layer))
			return true;
	return false;
}

/* In a list of providers (FI_PROV_ATTR_ONLY) each name is tested separately. */
static bool is_listed(const struct core_ask *ask, const char *name)
{
	const char *body;

	if ((*ask->core || *ask->layer) && !part_is(ask->core, name) &&
	    !part_is(ask->layer, name))
		return false;
	if (core_words_empty(ask->filter))
		return true;
	return core_words_exclude(ask->filter, &body) ?
	       core_words_allow(ask->filter, name) : filter_says(ask, name);
}

bool core_ask_needs(const struct core_ask *ask, const char *name)
{
	if (ask->exact)
		return part_is(ask->exact, name);
	if (ask->attr_only)
		return is_listed(ask, name);
	switch (core_builtin_class(name)) {
	case CORE_CLASS_CORE:
		return core_ask_alone(ask, name) || core_of_pair(ask, name);
	case CORE_CLASS_LAYER:
		return layer_of_pair(ask, name);
	case CORE_CLASS_HOOK:
		break;
	}
	return false;
}

/* ---- which files to look for ----------------------------------------------- */

static bool filter_names_layer_only(const struct core_ask *ask)
{
	const char *body, *word;
	struct parts parts;
	size_t len;

	core_words_exclude(ask->filter, &body);
	while ((word = core_words_next(&body, ',', &len)))
		if (!parts_read(&parts, word, len) && !*parts.core)
			return true;
	return false;
}

bool core_ask_open(const struct core_ask *ask)
{
	const char *body;

	if (*ask->core)
		return false;
	if (ask->core_only || core_words_empty(ask->filter) ||
	    core_words_exclude(ask->filter, &body))
		return true;
	return filter_names_layer_only(ask);
}

static void each_layer(const struct core_ask *ask,
		       void (*fn)(const char *name, void *arg), void *arg)
{
	const struct core_builtin *entry;
	int i;

	if (*ask->layer) {
		fn(ask->layer, arg);
		return;
	}
	for (i = 0; (entry = core_builtin_at(i)); i++)
		if (core_builtin_class(entry->name) == CORE_CLASS_LAYER &&
		    core_ask_needs(ask, entry->name))
			fn(entry->name, arg);
}

void core_ask_each_name(const struct core_ask *ask,
			void (*fn)(const char *name, void *arg), void *arg)
{
	const char *body, *word;
	struct parts parts;
	size_t len;

	if (!ask->core_only)
		each_layer(ask, fn, arg);
	if (*ask->core) {
		fn(ask->core, arg);
		return;
	}
	if (ask->core_only || core_words_exclude(ask->filter, &body))
		return;
	while ((word = core_words_next(&body, ',', &len))) {
		if (parts_read(&parts, word, len))
			continue;
		if (*parts.core)
			fn(parts.core, arg);
		if (*parts.layer)
			fn(parts.layer, arg);
	}
}
