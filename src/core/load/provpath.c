/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/providers/fi_prov.h>

#include "core/env.h"
#include "core/module.h"
#include "core/provpath.h"
#include "core/words.h"

/* State of one walk over the path: the stem to find, or NULL for all. */
struct walk {
	const char *stem;
	core_provpath_fn *fn;
	void *arg;
};

static const char *path_text(void)
{
	const char *text = core_env_get("FI_PROVIDER_PATH");

	return text ? text : "";
}

bool core_provpath_first_wins(void)
{
	return *path_text() == '@';
}

static void walk_file(const struct walk *walk, const char *path)
{
	char stem[FI_NAME_MAX];

	if (walk->stem && (!core_module_stem(path, stem, sizeof(stem)) ||
			   strcmp(stem, walk->stem)))
		return;
	walk->fn(path, true, walk->arg);
}

static void dir_find(const struct walk *walk, const char *dir)
{
	static const char *const prefix[] = { "lib", "" };
	char path[PATH_MAX];
	int i;

	for (i = 0; i < 2; i++) {
		if (snprintf(path, sizeof(path), "%s/%s%s-%s", dir, prefix[i],
			     walk->stem, FI_LIB_SUFFIX) < (int) sizeof(path) &&
		    !access(path, R_OK))
			walk->fn(path, false, walk->arg);
	}
}

static int is_provider(const struct dirent *entry)
{
	char stem[FI_NAME_MAX];

	return core_module_stem(entry->d_name, stem, sizeof(stem));
}

/* Sorted, so that the same files give the same result on every machine. */
static void dir_scan(const struct walk *walk, const char *dir)
{
	struct dirent **entry;
	char path[PATH_MAX];
	int i, cnt;

	cnt = scandir(dir, &entry, is_provider, alphasort);
	if (cnt < 0)
		return;
	for (i = 0; i < cnt; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name) <
		    (int) sizeof(path))
			walk->fn(path, false, walk->arg);
		free(entry[i]);
	}
	free(entry);
}

static void walk_dir(const struct walk *walk, const char *dir)
{
	if (walk->stem)
		dir_find(walk, dir);
	else
		dir_scan(walk, dir);
}

static void walk_path(const struct walk *walk)
{
	const char *rest = path_text(), *word;
	char path[PATH_MAX];
	bool any_dir = false;
	size_t len;

	if (*rest == '@')
		rest++;
	while ((word = core_words_next(&rest, ':', &len))) {
		if (snprintf(path, sizeof(path), "%.*s", (int) len, word) >=
		    (int) sizeof(path))
			continue;
		if (*path == '+') {
			walk_file(walk, path + 1);
		} else {
			any_dir = true;
			walk_dir(walk, path);
		}
	}
	if (!any_dir)
		walk_dir(walk, PROVDLDIR);
}

void core_provpath_find(const char *stem, core_provpath_fn *fn, void *arg)
{
	struct walk walk = { .stem = stem, .fn = fn, .arg = arg };

	/* A program may ask for any name; a '/' would leave the directories of the path. */
	if (!strchr(stem, '/'))
		walk_path(&walk);
}

void core_provpath_scan(bool again, core_provpath_fn *fn, void *arg)
{
	static char *scanned;
	struct walk walk = { .fn = fn, .arg = arg };
	const char *now = path_text();

	if (scanned && !again && !strcmp(scanned, now))
		return;
	free(scanned);
	scanned = strdup(now);
	walk_path(&walk);
}
