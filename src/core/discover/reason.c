/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/log.h"
#include "core/reason.h"

/* Texts that were logged; when there are more, none is logged any more. */
#define LOGGED_MAX 64

/* What the thread collects for, or NULL. */
static _Thread_local struct core_reason *collecting;

/* The provider that the thread calls is loaded, and writes lines. */
static _Thread_local bool by_lines;

void core_reason_begin(struct core_reason *reason, const char *subject)
{
	reason->subject = subject;
	reason->rank = 0;
	reason->warned = false;
	reason->offered_cnt = 0;
	reason->outer = collecting;
	collecting = reason;
}

void core_reason_end(struct core_reason *reason)
{
	collecting = reason->outer;
}

bool core_reason_wants(enum fi_log_level level, enum fi_log_subsys subsys)
{
	return by_lines && level == FI_LOG_INFO && subsys == FI_LOG_CORE && collecting;
}

bool core_reason_lines(bool on)
{
	bool before = by_lines;

	by_lines = on;
	return before;
}

/* ---- which line says most ------------------------------------------------------ */

enum {
	RANK_CHOICE = 1,	/* the program selects other candidates */
	RANK_CANDIDATE,		/* one that was selected lacks something */
	RANK_PROVIDER,		/* the provider has no candidate at all */
	RANKS,			/* those of the subject are above all others */
};

static bool is_choice(const char *attr)
{
	static const char *const choices[] = {
		"ep_attr->type", "ep_attr->protocol", "domain_attr->name", "fabric_attr->name",
		"addr_format", "src_addr",
	};
	size_t i;

	for (i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (!strcmp(attr, choices[i]))
			return true;
	return false;
}

static bool is_text(const struct explain_value *value, const char *text)
{
	return value->kind == EXPLAIN_TEXT && value->text && !strcasecmp(value->text, text);
}

static const char *who_of(const struct explain_refusal *refusal)
{
	return refusal->prov && refusal->prov->name ? refusal->prov->name : "-";
}

/* A provider that was not asked says nothing about the one that was; and a filter that names none
 * has a warning already.
 */
static bool is_other(const struct core_reason *reason, const struct explain_refusal *refusal)
{
	return !strcmp(refusal->attr, "FI_PROVIDER") ||
	       (!strcmp(refusal->attr, "fabric_attr->prov_name") &&
		(!reason->subject || !is_text(&refusal->wanted, who_of(refusal))));
}

static int rank_of(const struct core_reason *reason, const struct explain_refusal *refusal)
{
	bool candidate = refusal->ep_type.kind != EXPLAIN_TEXT || refusal->ep_type.text;
	int rank;

	if (is_other(reason, refusal))
		return 0;
	if (candidate)
		rank = is_choice(refusal->attr) ? RANK_CHOICE : RANK_CANDIDATE;
	else
		rank = reason->any ? RANK_CHOICE : RANK_PROVIDER;	/* each machine lacks some providers */
	if (rank == RANK_PROVIDER || !reason->subject ||
	    !strcasecmp(who_of(refusal), reason->subject))
		rank += RANKS;
	return rank;
}

static bool same_value(const struct explain_value *a, const struct explain_value *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == EXPLAIN_TEXT)
		return !strcmp(a->text ? a->text : "-", b->text ? b->text : "-");
	return a->number == b->number && a->type == b->type;
}

/* keep_value - @value, whose text is copied into @text. */
static struct explain_value keep_value(const struct explain_value *value, char *text)
{
	struct explain_value kept = *value;

	if (kept.kind == EXPLAIN_TEXT) {
		snprintf(text, EXPLAIN_VALUE_MAX, "%s",
			 value->text && *value->text ? value->text : "-");
		kept.text = text;
	}
	return kept;
}

static void offered_add(struct core_reason *reason, const struct explain_value *offered)
{
	int i;

	for (i = 0; i < reason->offered_cnt; i++)
		if (same_value(&reason->offered[i], offered))
			return;
	if (i < CORE_REASON_VALUES)
		reason->offered[reason->offered_cnt++] = keep_value(offered, reason->texts[1 + i]);
}

static void refusal_take(const struct explain_refusal *refusal)
{
	struct core_reason *reason = collecting;
	int rank = rank_of(reason, refusal);

	if (rank > reason->rank) {
		reason->rank = rank;
		snprintf(reason->attr, sizeof(reason->attr), "%s", refusal->attr);
		reason->wanted = keep_value(&refusal->wanted, reason->texts[0]);
		reason->offered_cnt = 0;
		offered_add(reason, &refusal->offered);
	} else if (rank && rank == reason->rank && !strcmp(reason->attr, refusal->attr) &&
		   same_value(&reason->wanted, &refusal->wanted)) {
		offered_add(reason, &refusal->offered);	/* the same hint leaves out a further one */
	}
}

/* A line of a loaded provider: "-" is a value that there is not. */
static void line_take(const struct explain_line *line)
{
	struct fi_provider prov = { .name = line->provider };
	struct explain_refusal refusal = {
		.prov = &prov, .attr = line->attr,
		.ep_type.text = strcmp(line->ep_type, "-") ? line->ep_type : NULL,
		.wanted.text = line->wanted, .offered.text = line->offered,
	};

	refusal_take(&refusal);
}

void core_reason_add(enum fi_log_level level, const char *msg)
{
	struct explain_line line;

	if (!collecting)
		return;
	if (level == FI_LOG_WARN)
		collecting->warned = true;
	if (level == FI_LOG_INFO && by_lines && !explain_parse(msg, &line))
		line_take(&line);
}

static bool is_collecting(void)
{
	return collecting != NULL;
}

static bool is_logged(const struct fi_provider *prov)
{
	return core_log_passes(prov, FI_LOG_INFO, FI_LOG_CORE);
}

const struct explain_taker core_reason_taker = {
	.wants = is_collecting,
	.take = refusal_take,
	.is_logged = is_logged,
};

bool core_reason_is_choice(const struct core_reason *reason)
{
	return reason->rank % RANKS == RANK_CHOICE;
}

/* ---- the warning ----------------------------------------------------------------- */

/* first_time - FNV-1a of the text, remembered. */
static bool first_time(const char *text)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static uint64_t logged[LOGGED_MAX];
	static int cnt;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int i;

	for (; *text; text++)
		hash = (hash ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
	pthread_mutex_lock(&lock);
	for (i = 0; i < cnt && logged[i] != hash; i++)
		;
	if (i == cnt && cnt < LOGGED_MAX)
		logged[cnt++] = hash;
	else
		i = -1;
	pthread_mutex_unlock(&lock);
	return i >= 0;
}

/* offered_text - the offered values, each once, as many as there is room for. */
static void offered_text(const struct core_reason *reason, char *text, size_t size)
{
	char buf[EXPLAIN_VALUE_MAX];
	size_t len = 0, more;
	const char *one;
	int i;

	for (i = 0; i < reason->offered_cnt; i++) {
		one = explain_value_text(&reason->offered[i], buf, sizeof(buf));
		more = strlen(one);
		if (i && (strstr(text, one) || len + more + 3 > size))
			continue;
		len += (size_t) snprintf(text + len, size - len, "%s%s", i ? ", " : "", one);
	}
}

void core_reason_log(const struct core_reason *reason, enum fi_log_level level, const char *who)
{
	char text[EXPLAIN_LINE_MAX], wanted[EXPLAIN_VALUE_MAX], offered[EXPLAIN_VALUE_MAX];

	if (!reason->rank || reason->warned)
		return;
	offered_text(reason, offered, sizeof(offered));
	snprintf(text, sizeof(text), "%s: %s: asked for %s, found: %s", who, reason->attr,
		 explain_value_text(&reason->wanted, wanted, sizeof(wanted)), offered);
	if (first_time(text))
		FI_LOG(&core_prov, level, FI_LOG_CORE, "fi_getinfo: %s\n", text);
}
