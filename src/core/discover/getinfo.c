/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "base/explain.h"
#include "base/provider.h"
#include "core/answer.h"
#include "core/ask.h"
#include "core/builtin.h"
#include "core/export.h"
#include "core/getinfo.h"
#include "core/info.h"
#include "core/init.h"
#include "core/log.h"
#include "core/mrmode.h"
#include "core/param.h"
#include "core/reason.h"
#include "core/registry.h"
#include "core/why.h"
#include "core/words.h"

#define FLAGS_KNOWN (FI_NUMERICHOST | FI_PROV_ATTR_ONLY | FI_SOURCE |	\
		     FI_RESCAN | OFI_CORE_PROV_ONLY)

/* Every registration mode bit that a provider may require. */
#define MR_MODE_ALL (FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR |		\
		     FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_MMU_NOTIFY |	\
		     FI_MR_RMA_EVENT | FI_MR_ENDPOINT | FI_MR_HMEM |		\
		     FI_MR_COLLECTIVE | FI_MR_XPU_DESC)

/* One call of fi_getinfo(), passed from provider to provider. */
struct query {
	uint32_t version;
	const char *node;
	const char *service;
	uint64_t flags;
	const struct fi_info *hints;	/* the program's */
	enum core_mrmode mrmode;
	struct core_ask ask;
	struct core_provs provs;
	struct fi_info *head;		/* results so far */
	struct fi_info **tail;
	bool none_here;			/* some provider returned -FI_ENODATA */
	int error;			/* first other error */
};

static int args_check(uint32_t version, const char *node, const char *service,
		      uint64_t flags)
{
	if (FI_VERSION_LT(fi_version(), version)) {
		CORE_WARN("the program asks for interface %u.%u, this library has %d.%d: "
			  "install a newer library", FI_MAJOR(version), FI_MINOR(version),
			  FI_MAJOR_VERSION, FI_MINOR_VERSION);
		return -FI_ENOSYS;
	}
	if (flags & ~FLAGS_KNOWN) {
		CORE_WARN("fi_getinfo: flags 0x%llx are unknown",
			  (unsigned long long) (flags & ~FLAGS_KNOWN));
		return -FI_EBADFLAGS;
	}
	if ((flags & FI_SOURCE) && !node && !service) {
		CORE_WARN("fi_getinfo: FI_SOURCE needs a node or a service, and both are NULL");
		return -FI_EINVAL;
	}
	return 0;
}

/* ---- hints for one provider --------------------------------------------------- */

/* A layer gets its core provider's name through hints, even when the program gave none.  These
 * hints exclude nothing, like NULL.
 */
static struct fi_info *hints_wide(void)
{
	struct fi_info *hints = calloc(1, sizeof(*hints));

	if (!hints)
		return NULL;
	hints->mode = ~0ULL;
	hints->domain_attr = calloc(1, sizeof(*hints->domain_attr));
	if (!hints->domain_attr) {
		free(hints);
		return NULL;
	}
	hints->domain_attr->mode = ~0ULL;
	hints->domain_attr->mr_mode = MR_MODE_ALL;
	return hints;
}

/* The program's hints with the provider's exact name and the mode bits only. */
static int hints_make(const struct query *query, const char *name,
		      struct fi_info **hints_p)
{
	struct fi_info *hints;

	hints = query->hints ? core_info_dup(query->hints, &core_layout_now) :
			       hints_wide();
	if (!hints)
		return -FI_ENOMEM;
	core_mrmode_hints(query->mrmode, hints);
	if (!hints->fabric_attr)
		hints->fabric_attr = calloc(1, sizeof(*hints->fabric_attr));
	if (!hints->fabric_attr)
		goto nomem;
	free(hints->fabric_attr->prov_name);
	hints->fabric_attr->prov_name = strdup(name);
	if (!hints->fabric_attr->prov_name)
		goto nomem;
	*hints_p = hints;
	return 0;
nomem:
	core_info_free(hints, &core_layout_now);
	return -FI_ENOMEM;
}

/* ---- one provider ------------------------------------------------------------- */

static void answers_add(struct query *query, struct fi_info *list)
{
	*query->tail = list;
	while (*query->tail)
		query->tail = &(*query->tail)->next;
}

static bool prov_speaks(const struct query *query, const struct core_prov *prov,
			const char *name)
{
	char want[32], have[32];

	if (!FI_VERSION_LT(prov->fi->fi_version, query->version))
		return true;
	snprintf(want, sizeof(want), "%u.%u", FI_MAJOR(query->version),
		 FI_MINOR(query->version));
	snprintf(have, sizeof(have), "%u.%u", FI_MAJOR(prov->fi->fi_version),
		 FI_MINOR(prov->fi->fi_version));
	core_why(name, NULL, "version", want, have);
	return false;
}

static int prov_call(const struct query *query, struct core_prov *prov,
		     const char *name, bool layer, struct fi_info **list_p)
{
	struct fi_info *hints = NULL;
	bool lines;
	int ret;

	if (query->hints || layer) {
		ret = hints_make(query, name, &hints);
		if (ret)
			return ret;
	}
	lines = core_reason_lines(prov->module->path != NULL);
	ret = prov->fi->getinfo(query->version, query->node, query->service,
				query->flags & ~OFI_CORE_PROV_ONLY, hints, list_p);
	core_reason_lines(lines);
	if (hints)
		core_info_free(hints, &core_layout_now);
	return ret;
}

/* Asks @prov under the name @name, and appends its results. */
static void prov_ask(struct query *query, struct core_prov *prov,
		     const char *name, bool layer)
{
	struct core_answer answer = {
		.prov = prov,
		.name = name,
		.version = query->version,
		.mrmode = query->mrmode,
		.hints = query->hints,
	};
	struct fi_info *list = NULL;
	int ret;

	if (!prov_speaks(query, prov, name))
		return;
	ret = prov_call(query, prov, name, layer, &list);
	if (!ret)
		ret = core_answer_finish(&answer, &list);
	if (ret) {
		CORE_INFO("getinfo of provider %s failed: %s", name, fi_strerror(ret));
		if (ret == -FI_ENODATA)
			query->none_here = true;
		else if (!query->error)
			query->error = ret;
		return;
	}
	answers_add(query, list);
}

/* ---- all of them --------------------------------------------------------------- */

/* is_vain - @core has no endpoints that @layer could run over.  A layer that is named is asked even
 * so, for the reason; and each refusal that is logged has its line.
 */
static bool is_vain(const struct query *query, const char *core, const struct core_prov *layer)
{
	return !core_builtin_serves(core, layer->name) &&
	       !core_ask_says_layer(&query->ask, layer->name) && !explain_logged(layer->fi);
}

static void ask_pair(struct query *query, const char *core, struct core_prov *layer)
{
	char name[2 * FI_NAME_MAX];

	if (!core_ask_pair(&query->ask, core, layer->name) || is_vain(query, core, layer))
		return;
	snprintf(name, sizeof(name), "%s;%s", core, layer->name);
	prov_ask(query, layer, name, true);
}

static bool is_class(const struct core_prov *prov, enum core_class class)
{
	return core_builtin_class(prov->name) == class;
}

static bool is_nic(const struct core_prov *prov)
{
	return core_builtin_is_nic(prov->name);
}

/* Every layer over one core provider. */
static void ask_layers(struct query *query, const struct core_prov *core)
{
	int i;

	for (i = 0; i < query->provs.cnt; i++)
		if (is_class(query->provs.prov[i], CORE_CLASS_LAYER))
			ask_pair(query, core->name, query->provs.prov[i]);
}

/* NIC providers come first, each followed by the layers over it; then the other core providers,
 * and behind all of them their layers, layer by layer.  provs is sorted so already.
 */
static void ask_all(struct query *query)
{
	const struct core_provs *provs = &query->provs;
	struct core_prov *prov;
	int i, j;

	for (i = 0; i < provs->cnt; i++) {
		prov = provs->prov[i];
		if (!is_class(prov, CORE_CLASS_CORE)) {
			for (j = 0; j < provs->cnt && is_class(prov, CORE_CLASS_LAYER); j++)
				if (is_class(provs->prov[j], CORE_CLASS_CORE) &&
				    !is_nic(provs->prov[j]))
					ask_pair(query, provs->prov[j]->name, prov);
			continue;
		}
		if (core_ask_alone(&query->ask, prov->name))
			prov_ask(query, prov, prov->name, false);
		if (is_nic(prov))
			ask_layers(query, prov);
	}
}

/* FI_PROV_ATTR_ONLY: one info for each provider, without calling it. */
static void list_all(struct query *query)
{
	struct core_answer answer = { .version = query->version };
	struct fi_info *info;
	int i;

	for (i = 0; i < query->provs.cnt; i++) {
		answer.prov = query->provs.prov[i];
		answer.name = answer.prov->name;
		info = core_answer_provider(&answer);
		if (!info)
			query->error = -FI_ENOMEM;
		else
			answers_add(query, info);
	}
}

/* ---- what is missing, as a warning -------------------------------------------------- */

/* is_local_only - every result is for this host alone, and the program has not asked for that. */
static bool is_local_only(const struct query *query)
{
	const struct fi_info *info;

	if (query->ask.core_only || query->ask.attr_only ||
	    (query->hints && (query->hints->caps & FI_LOCAL_COMM)))
		return false;
	for (info = query->head; info; info = info->next)
		if (info->caps & FI_REMOTE_COMM)
			return false;
	return true;
}

/* warn_local_only - a provider for any network was asked and has nothing: ask it again, for the
 * reason.
 */
static void warn_local_only(const struct query *query)
{
	struct core_reason reason = { .any = false };
	struct fi_info *list = NULL;
	char who[2 * FI_NAME_MAX];
	int i;

	for (i = 0; i < query->provs.cnt; i++) {
		struct core_prov *prov = query->provs.prov[i];

		if (!core_builtin_find(prov->name)->any_host ||
		    !core_ask_alone(&query->ask, prov->name))
			continue;
		core_reason_begin(&reason, prov->name);
		if (!prov_call(query, prov, prov->name, false, &list))
			core_info_free(list, &core_layout_now);
		core_reason_end(&reason);
		snprintf(who, sizeof(who), "only endpoints within this host are left, none of "
			 "provider %s", prov->name);
		if (!core_reason_is_choice(&reason))
			core_reason_log(&reason, FI_LOG_WARN, who);
	}
}

/* explain_level - at which level the reason for an empty answer is logged, if it is: a warning where the
 * program, or FI_PROVIDER, names a provider.  Without a name programs probe, so it is less.
 * @buf: [out] what was asked for
 */
static enum fi_log_level explain_level(const char *prov_name, const struct core_ask *ask, char *buf,
				       size_t size)
{
	const char *body;

	if (prov_name && *prov_name)
		snprintf(buf, size, "nothing of provider %s", prov_name);
	else if (!core_words_empty(ask->filter) && !core_words_exclude(ask->filter, &body))
		snprintf(buf, size, "nothing of FI_PROVIDER=%s", ask->filter);
	else {
		snprintf(buf, size, "nothing of any provider");
		return FI_LOG_INFO;
	}
	return FI_LOG_WARN;
}

static int query_run(struct query *query)
{
	core_registry_hold(&query->ask, !!(query->flags & FI_RESCAN), &query->provs);
	core_param_check_env();
	if (query->ask.attr_only)
		list_all(query);
	else
		ask_all(query);
	if (!query->ask.core_only && !query->ask.attr_only && core_addrformat_filter(&query->head))
		query->none_here = true;
	if (!query->head)
		core_why_not(&query->ask, &query->provs);
	else if (is_local_only(query))
		warn_local_only(query);
	core_registry_release(&query->provs);
	if (query->head)
		return 0;
	return query->error && !query->none_here ? query->error : -FI_ENODATA;
}

static const char *hints_prov_name(const struct fi_info *hints)
{
	return hints && hints->fabric_attr ? hints->fabric_attr->prov_name : NULL;
}

/* query_answer - @query.ask is initialized; @ret: with what result. */
static int query_answer(struct query *query, int ret)
{
	const struct fi_info *hints = query->hints;

	if (ret) {
		core_why(hints_prov_name(hints), NULL, "fabric_attr->prov_name",
			 hints_prov_name(hints), "a provider, a layer, or one of each");
		return ret;
	}
	if (query->mrmode == CORE_MRMODE_WRONG) {
		core_why("core", NULL, "domain_attr->mr_mode",
			 fi_tostr(&hints->domain_attr->mr_mode, FI_TYPE_MR_MODE),
			 "FI_MR_BASIC or FI_MR_SCALABLE alone, or mode bits");
		return -FI_ENODATA;
	}
	return query_run(query);
}

/* query_explained - the same; one line says why there is nothing. */
static int query_explained(struct query *query, int ret)
{
	const struct core_ask *ask = &query->ask;
	const char *name = hints_prov_name(query->hints);
	struct core_reason reason;
	char who[2 * FI_NAME_MAX];
	enum fi_log_level level = explain_level(name, ask, who, sizeof(who));

	if (ask->core_only || ask->attr_only || !fi_log_enabled(&core_prov, level, FI_LOG_CORE))
		return query_answer(query, ret);
	reason.any = level == FI_LOG_INFO;
	core_reason_begin(&reason, *ask->layer ? ask->layer : *ask->core ? ask->core : name);
	ret = query_answer(query, ret);
	core_reason_end(&reason);
	if (ret == -FI_ENODATA)
		core_reason_log(&reason, level, who);
	return ret;
}

int core_getinfo(uint32_t version, const char *node, const char *service,
		 uint64_t flags, const struct fi_info *hints,
		 struct fi_info **info_p)
{
	struct query query = {
		.version = version,
		.node = node,
		.service = service,
		.flags = flags,
		.hints = hints,
	};
	int ret;

	if (!info_p)
		return -FI_EINVAL;
	*info_p = NULL;
	core_init();
	ret = args_check(version, node, service, flags);
	if (ret)
		return ret;
	query.tail = &query.head;
	if (!(flags & OFI_CORE_PROV_ONLY))
		query.mrmode = core_mrmode_of(version, hints);
	ret = core_ask_init(&query.ask, hints_prov_name(hints), flags);
	ret = query_explained(&query, ret);
	*info_p = query.head;
	return ret;
}

CORE_EXPORT
int fi_getinfo(uint32_t version, const char *node, const char *service,
	       uint64_t flags, const struct fi_info *hints, struct fi_info **info)
{
	return core_getinfo(version, node, service, flags, hints, info);
}
