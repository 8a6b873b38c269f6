/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/env.h"

#ifndef CONF_FILE
#define CONF_FILE SYSCONFDIR "/libfabric/libfabric.conf"
#endif

struct conf_entry {
	struct conf_entry *next;
	unsigned line;
	char *name;	/* NULL: the line does not set a variable */
	char *value;
};

static struct conf_entry *conf;
static bool prefer_conf;
static pthread_once_t conf_once = PTHREAD_ONCE_INIT;

static char *text_trim(char *s)
{
	char *end;

	while (isspace((unsigned char) *s))
		s++;
	for (end = s + strlen(s); end > s && isspace((unsigned char) end[-1]);)
		*--end = '\0';
	return s;
}

static void entry_free(struct conf_entry *entry)
{
	free(entry->name);
	free(entry->value);
	free(entry);
}

/* conf_add_line - keep what line number @no sets, or that it sets nothing. */
static void conf_add_line(char *line, unsigned no)
{
	char *name = text_trim(line), *eq = strchr(line, '=');
	struct conf_entry *entry;
	bool broken;

	if (!*name || *name == '#')
		return;
	if (eq) {
		*eq = '\0';
		name = text_trim(name);
	}
	broken = !eq || strncmp(name, "FI_", 3) || strpbrk(name, " \t");
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return;
	entry->line = no;
	if (!broken) {
		entry->name = strdup(name);
		entry->value = strdup(text_trim(eq + 1));
		if (!entry->name || !entry->value) {
			entry_free(entry);
			return;
		}
	}
	entry->next = conf;
	conf = entry;
}

static const char *conf_get(const char *name)
{
	struct conf_entry *entry;

	for (entry = conf; entry; entry = entry->next)
		if (entry->name && !strcmp(entry->name, name))
			return entry->value;
	return NULL;
}

static void conf_load(void)
{
	const char *prefer;
	char *line = NULL;
	unsigned no = 0;
	size_t size = 0;
	FILE *file;

	file = fopen(CONF_FILE, "re");
	if (!file)
		return;
	while (getline(&line, &size, file) > 0)
		conf_add_line(line, ++no);
	free(line);
	fclose(file);
	prefer = secure_getenv("FI_PREFER_SYSCONFIG");
	if (!prefer)
		prefer = conf_get("FI_PREFER_SYSCONFIG");
	prefer_conf = prefer && core_env_parse_bool(prefer) == 1;
}

const char *core_env_get(const char *name)
{
	const char *value;

	pthread_once(&conf_once, conf_load);
	value = prefer_conf ? conf_get(name) : secure_getenv(name);
	if (value)
		return value;
	return prefer_conf ? secure_getenv(name) : conf_get(name);
}

void core_env_each_line(void (*each)(const char *file, unsigned line, const char *name))
{
	struct conf_entry *entry;

	pthread_once(&conf_once, conf_load);
	for (entry = conf; entry; entry = entry->next)
		each(CONF_FILE, entry->line, entry->name);
}

int core_env_parse_bool(const char *word)
{
	static const char *const no[] = { "0", "no", "false", "off", "n", "f" };
	static const char *const yes[] = { "1", "yes", "true", "on", "y", "t" };
	size_t i;

	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		if (!strcasecmp(word, no[i]))
			return 0;
		if (!strcasecmp(word, yes[i]))
			return 1;
	}
	return -1;
}
