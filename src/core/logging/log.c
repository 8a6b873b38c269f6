/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/env.h"
#include "core/export.h"
#include "core/import.h"
#include "core/log.h"
#include "core/logfile.h"
#include "core/reason.h"
#include "core/words.h"

#define LINE_SIZE 1024

struct fi_provider core_prov = {
	.name = "core",
	.version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
};

static const char *const level_names[] = {
	[FI_LOG_WARN] = "warn",
	[FI_LOG_TRACE] = "trace",
	[FI_LOG_INFO] = "info",
	[FI_LOG_DEBUG] = "debug",
};

static const char *const subsys_names[] = {
	[FI_LOG_CORE] = "core",
	[FI_LOG_FABRIC] = "fabric",
	[FI_LOG_DOMAIN] = "domain",
	[FI_LOG_EP_CTRL] = "ep_ctrl",
	[FI_LOG_EP_DATA] = "ep_data",
	[FI_LOG_AV] = "av",
	[FI_LOG_CQ] = "cq",
	[FI_LOG_EQ] = "eq",
	[FI_LOG_MR] = "mr",
	[FI_LOG_CNTR] = "cntr",
};

#define LEVELS ((int) (sizeof(level_names) / sizeof(level_names[0])))
#define SUBSYSTEMS ((int) (sizeof(subsys_names) / sizeof(subsys_names[0])))

/* The filters, read from the environment at the first line. */
static int level_max = FI_LOG_WARN;
static char *prov_words;
static uint32_t subsys_mask = UINT32_MAX;
static uint64_t interval_ms = 2000;
static pthread_once_t config_once = PTHREAD_ONCE_INIT;

/* The imported logger, and how many threads are inside it. */
static struct core_import logger = CORE_IMPORT_INIT;

static const char *name_of(const char *const *names, int cnt, int value)
{
	return value >= 0 && value < cnt ? names[value] : "?";
}

/* How many bytes at @s are one character that a terminal shows; 0: they are none. */
static size_t shown_bytes(const unsigned char *s)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 :
		     s[0] < 0xf5 ? 4 : 0, i;

	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if (len == 1)
		return s[0] == '\t' || (s[0] >= ' ' && s[0] != 0x7f);
	/* control characters of ISO 6429 in their longer form */
	return len == 2 && s[0] == 0xc2 && s[1] < 0xa0 ? 0 : len;
}

static bool is_clean(const char *msg)
{
	size_t len;

	for (; *msg; msg += len) {
		len = shown_bytes((const unsigned char *) msg);
		if (!len && strcmp(msg, "\n"))
			return false;
		if (!len)
			return true;
	}
	return true;
}

/* @msg without what would change a terminal or begin a line: peers choose some of it.
 * To be freed; NULL: no memory.
 */
static char *clean_copy(const char *msg)
{
	char *out = malloc(4 * strlen(msg) + 1), *at = out;
	size_t len;

	if (!out)
		return NULL;
	for (; *msg && strcmp(msg, "\n"); msg += len ? len : 1) {
		len = shown_bytes((const unsigned char *) msg);
		if (!len)
			at += sprintf(at, "\\x%02x", (unsigned char) *msg);
		memcpy(at, msg, len);
		at += len;
	}
	strcpy(at, msg);
	return out;
}

/* Formats a line with its prefix; *heap_p is to be freed. */
static const char *line_format(char *buf, size_t size, char **heap_p,
			       const char *fmt, va_list args)
{
	va_list again;
	int len;

	*heap_p = NULL;
	va_copy(again, args);
	len = vsnprintf(buf, size, fmt, args);
	if (len >= (int) size && vasprintf(heap_p, fmt, again) < 0)
		*heap_p = NULL;
	va_end(again);
	return *heap_p ? *heap_p : buf;
}

static void line_write(const char *prov, int level, int subsys,
		       const char *func, int line, const char *msg)
{
	char buf[LINE_SIZE], *heap = NULL, *text = buf;
	size_t len = strlen(msg);
	int n;

	while (len && msg[len - 1] == '\n')
		len--;
#define HEAD "libfabric:%d:%lld:%s:%s:%s():%d<%s> %.*s\n", (int) getpid(),	\
		(long long) time(NULL), prov,					\
		name_of(subsys_names, SUBSYSTEMS, subsys), func, line,		\
		name_of(level_names, LEVELS, level), (int) len, msg
	n = snprintf(buf, sizeof(buf), HEAD);
	if (n >= (int) sizeof(buf)) {
		n = asprintf(&heap, HEAD);
		text = heap;
	}
#undef HEAD
	if (n > 0 && text)
		core_logfile_write(text, (size_t) n);
	free(heap);
}

/* For errors found while the filters are being read. */
__attribute__((format(printf, 1, 2)))
static void config_warn(const char *fmt, ...)
{
	char buf[LINE_SIZE];
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf, sizeof(buf), fmt, args);
	va_end(args);
	line_write("core", FI_LOG_WARN, FI_LOG_CORE, "fi_log", __LINE__, buf);
}

/* Words that other versions of the library take.  Errors are warnings here. */
static const struct {
	const char *word;
	int level;
} level_words[] = {
	{ "none", -1 }, { "off", -1 },
	{ "error", FI_LOG_WARN }, { "warning", FI_LOG_WARN },
};

/* level_number - a level by its number: of enum fi_log_level, all lines above the last, none
 * below the first.
 */
static bool level_number(const char *word, int *level_p)
{
	char *end;
	long n = strtol(word, &end, 10);

	if (end == word || *end)
		return false;
	*level_p = n < 0 ? -1 : n >= LEVELS ? LEVELS - 1 : (int) n;
	return true;
}

static bool level_parse(const char *word, int *level_p)
{
	size_t len = strlen(word);
	int i;

	for (i = 0; i < LEVELS; i++) {
		if (core_word_is(word, len, level_names[i])) {
			*level_p = i;
			return true;
		}
	}
	for (i = 0; i < (int) (sizeof(level_words) / sizeof(level_words[0])); i++) {
		if (core_word_is(word, len, level_words[i].word)) {
			*level_p = level_words[i].level;
			return true;
		}
	}
	return level_number(word, level_p);
}

static void config_level(void)
{
	const char *word = core_env_get("FI_LOG_LEVEL");

	if (word && *word && !level_parse(word, &level_max))
		config_warn("FI_LOG_LEVEL=%s is not a level: use none, warn, trace, "
			    "info or debug; warn is used", word);
}

static void config_subsys_word(const char *words)
{
	const char *word, *body;
	size_t len;
	int i;

	core_words_exclude(words, &body);
	while ((word = core_words_next(&body, ',', &len))) {
		for (i = 0; i < SUBSYSTEMS; i++)
			if (core_word_is(word, len, subsys_names[i]))
				break;
		if (i == SUBSYSTEMS)
			config_warn("FI_LOG_SUBSYS: unknown subsystem %.*s; "
				    "known: core, fabric, domain, ep_ctrl, ep_data, "
				    "av, cq, eq, mr, cntr", (int) len, word);
	}
}

static void config_subsys(void)
{
	const char *words = core_env_get("FI_LOG_SUBSYS");
	int i;

	if (core_words_empty(words))
		return;
	config_subsys_word(words);
	subsys_mask = 0;
	for (i = 0; i < SUBSYSTEMS; i++)
		if (core_words_allow(words, subsys_names[i]))
			subsys_mask |= 1u << i;
}

static void config_interval(void)
{
	const char *text = core_env_get("FI_LOG_INTERVAL");
	char *end;
	long ms;

	if (!text || !*text)
		return;
	ms = strtol(text, &end, 0);
	if (*end || ms < 0)
		config_warn("FI_LOG_INTERVAL=%s is not a number of milliseconds; "
			    "%llu is used", text, (unsigned long long) interval_ms);
	else
		interval_ms = (uint64_t) ms;
}

/* A copy: the program may change its environment. */
static void config_prov(void)
{
	const char *words = core_env_get("FI_LOG_PROV");

	if (!core_words_empty(words))
		prov_words = strdup(words);
}

static void config_read(void)
{
	char why[LINE_SIZE];

	if (!core_logfile_open(why, sizeof(why)))
		config_warn("%s", why);
	config_level();
	config_subsys();
	config_interval();
	config_prov();
}

/* A layered name (tcp;ofi_rxm) passes when one of its parts does. */
static bool prov_allowed(const struct fi_provider *prov)
{
	const char *rest, *word;
	char part[FI_NAME_MAX];
	bool exclude;
	size_t len;

	if (!prov_words || !prov || !prov->name)
		return true;
	exclude = core_words_exclude(prov_words, &rest);
	rest = prov->name;
	while ((word = core_words_next(&rest, ';', &len))) {
		snprintf(part, sizeof(part), "%.*s", (int) len, word);
		if (core_words_allow(prov_words, part) != exclude)
			return !exclude;
	}
	return exclude;
}

static int own_enabled(const struct fi_provider *prov, int level, int subsys)
{
	return level <= level_max && subsys >= 0 && subsys < 32 &&
	       (subsys_mask & (1u << subsys)) && prov_allowed(prov);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000 + (uint64_t) ts.tv_nsec / 1000000;
}

/* When several threads call at once, only one gets true. */
static int own_ready(uint64_t *showtime)
{
	uint64_t now = now_ms();
	uint64_t then = __atomic_load_n(showtime, __ATOMIC_RELAXED);

	return now >= then &&
	       __atomic_compare_exchange_n(showtime, &then, now + interval_ms, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static uint64_t import_flags(const struct fi_provider *prov)
{
	return prov_allowed(prov) ? 0 : FI_LOG_PROV_FILTERED;
}

bool core_log_passes(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys)
{
	struct fid_logging *log;
	int ret;

	pthread_once(&config_once, config_read);
	log = core_import_enter(&logger);
	if (!log)
		return own_enabled(prov, (int) level, (int) subsys);
	if (FI_CHECK_OP(log->ops, struct fi_ops_log, enabled))
		ret = log->ops->enabled(prov, level, subsys, import_flags(prov));
	else
		ret = own_enabled(prov, (int) level, (int) subsys);
	core_import_leave(&logger);
	return ret != 0;
}

CORE_EXPORT
int fi_log_enabled(const struct fi_provider *prov, enum fi_log_level level,
		   enum fi_log_subsys subsys)
{
	return core_reason_wants(level, subsys) || core_log_passes(prov, level, subsys);
}

CORE_EXPORT
int fi_log_ready(const struct fi_provider *prov, enum fi_log_level level,
		 enum fi_log_subsys subsys, uint64_t *showtime)
{
	struct fid_logging *log;
	int ret;

	pthread_once(&config_once, config_read);
	log = core_import_enter(&logger);
	if (!log)
		return own_enabled(prov, (int) level, (int) subsys) &&
		       own_ready(showtime);
	if (FI_CHECK_OP(log->ops, struct fi_ops_log, ready))
		ret = log->ops->ready(prov, level, subsys, import_flags(prov),
				      showtime);
	else
		ret = own_enabled(prov, (int) level, (int) subsys) &&
		      own_ready(showtime);
	core_import_leave(&logger);
	return ret;
}

/* line_pass - send a line to where the log goes. */
static void line_pass(const struct fi_provider *prov, enum fi_log_level level,
		      enum fi_log_subsys subsys, const char *func, int line, const char *msg)
{
	struct fid_logging *log;
	char *clean = NULL;

	if (!is_clean(msg)) {
		clean = clean_copy(msg);
		msg = clean ? clean : "a line is left out: out of memory\n";
	}
	log = core_import_enter(&logger);
	if (log && FI_CHECK_OP(log->ops, struct fi_ops_log, log))
		log->ops->log(prov, level, subsys, func, line, msg);
	else
		line_write(prov && prov->name ? prov->name : "core", (int) level,
			   (int) subsys, func, line, msg);
	if (log)
		core_import_leave(&logger);
	free(clean);
}

CORE_EXPORT __attribute__((format(printf, 6, 7)))
void fi_log(const struct fi_provider *prov, enum fi_log_level level,
	    enum fi_log_subsys subsys, const char *func, int line,
	    const char *fmt, ...)
{
	char buf[LINE_SIZE], *heap;
	const char *msg;
	va_list args;

	pthread_once(&config_once, config_read);
	va_start(args, fmt);
	msg = line_format(buf, sizeof(buf), &heap, fmt, args);
	va_end(args);
	core_reason_add(level, msg);
	if (!core_reason_wants(level, subsys) || core_log_passes(prov, level, subsys))
		line_pass(prov, level, subsys, func, line, msg);
	free(heap);
}

int core_log_import(struct fid_logging *log)
{
	if (log && (log->fid.fclass != FI_CLASS_LOG || !log->ops))
		return -FI_EINVAL;
	core_import_set(&logger, log ? &log->fid : NULL);
	return 0;
}

void core_log_fork_child(void)
{
	core_import_fork_child(&logger);
}
