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

void core_reason_begin(struct core_reason *reason, const char *subject)
{
	reason->subject = subject;
	reason->rank = 0;
	reason->warned = false;
	reason->outer = collecting;
	collecting = reason;
}

void core_reason_end(struct core_reason *reason)
{
	collecting = reason->outer;
}

bool core_reason_wants(enum fi_log_level level, enum fi_log_subsys subsys)
{
	return level == FI_LOG_INFO && subsys == FI_LOG_CORE && collecting;
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

/* A provider that was not asked says nothing about the one that was; and a filter that names none
 * has a warning already.
 */
static bool is_other(const struct core_reason *reason, const struct explain_line *line)
{
	return !strcmp(line->attr, "FI_PROVIDER") ||
	       (!strcmp(line->attr, "fabric_attr->prov_name") &&
		(!reason->subject || strcasecmp(line->provider, line->wanted)));
}

static int rank_of(const struct core_reason *reason, const struct explain_line *line)
{
	int rank;

	if (is_other(reason, line))
		return 0;
	if (strcmp(line->ep_type, "-"))
		rank = is_choice(line->attr) ? RANK_CHOICE : RANK_CANDIDATE;
	else
		rank = reason->any ? RANK_CHOICE : RANK_PROVIDER;	/* each machine lacks some providers */
	if (rank == RANK_PROVIDER || !reason->subject ||
	    !strcasecmp(line->provider, reason->subject))
		rank += RANKS;
	return rank;
}

/* A further candidate that the same hint leaves out. */
static void merge(struct explain_line *line, const struct explain_line *other)
{
	size_t len = strlen(line->offered), more = strlen(other->offered);

	if (strcmp(line->attr, other->attr) || strcmp(line->wanted, other->wanted) ||
	    strstr(line->offered, other->offered) || len + more + 3 > sizeof(line->offered))
		return;
	memcpy(line->offered + len, ", ", 2);
	memcpy(line->offered + len + 2, other->offered, more + 1);
}

void core_reason_add(enum fi_log_level level, const char *msg)
{
	struct core_reason *reason = collecting;
	struct explain_line line;
	int rank;

	if (!reason)
		return;
	if (level == FI_LOG_WARN)
		reason->warned = true;
	if (level != FI_LOG_INFO || explain_parse(msg, &line))
		return;
	rank = rank_of(reason, &line);
	if (rank > reason->rank) {
		reason->rank = rank;
		reason->line = line;
	} else if (rank && rank == reason->rank) {
		merge(&reason->line, &line);
	}
}

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

void core_reason_log(const struct core_reason *reason, enum fi_log_level level, const char *who)
{
	const struct explain_line *line = &reason->line;
	char text[EXPLAIN_LINE_MAX];

	if (!reason->rank || reason->warned)
		return;
	snprintf(text, sizeof(text), "%s: %s: asked for %s, found: %s", who, line->attr,
		 line->wanted, line->offered);
	if (first_time(text))
		FI_LOG(&core_prov, level, FI_LOG_CORE, "fi_getinfo: %s\n", text);
}
