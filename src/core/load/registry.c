/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "base/list.h"
#include "core/builtin.h"
#include "core/log.h"
#include "core/provpath.h"
#include "core/registry.h"

/* Recursive: a provider that is being loaded or cleaned up may close a fabric.  Modules are
 * never freed, so a held core_prov stays valid without the lock.
 */
static pthread_mutex_t lock;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static struct list modules = { &modules, &modules };
static bool builtins_noted;

static void lock_make(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void registry_lock(void)
{
	pthread_once(&lock_once, lock_make);
	pthread_mutex_lock(&lock);
}

static void registry_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

#define for_each_module(module)							\
	for (module = container_of(modules.next, struct core_module, entry);	\
	     &module->entry != &modules;					\
	     module = container_of(module->entry.next, struct core_module, entry))

/* ---- choosing between providers of one name --------------------------------- */

/* True when @a is preferred to @b.  Both have one name; @a was found first. */
static bool prov_wins(const struct core_prov *a, const struct core_prov *b)
{
	if (a->module->preferred != b->module->preferred)
		return a->module->preferred;
	if (a->module->preferred || core_provpath_first_wins())
		return true;
	return a->version >= b->version;
}

static struct core_prov *prov_usable(struct core_module *module, int i)
{
	struct core_prov *prov = &module->prov[i];

	return *prov->name && module->state != CORE_MODULE_REFUSED ? prov : NULL;
}

/* The provider that programs get for @name, among the modules known so far. */
static struct core_prov *prov_winner(const char *name)
{
	struct core_module *module;
	struct core_prov *prov, *best = NULL;
	int i;

	for_each_module(module) {
		for (i = 0; i < CORE_MODULE_PROVS; i++) {
			prov = prov_usable(module, i);
			if (prov && !strcasecmp(prov->name, name) &&
			    (!best || !prov_wins(best, prov)))
				best = prov;
		}
	}
	return best;
}

/* ---- finding modules -------------------------------------------------------- */

static void builtins_note(void)
{
	const struct core_builtin *entry;
	struct core_module *module;
	int i;

	if (builtins_noted)
		return;
	builtins_noted = true;
	for (i = 0; (entry = core_builtin_at(i)); i++) {
		if (!entry->ini)
			continue;
		module = core_module_new_builtin(entry->name, entry->ini);
		if (module)
			list_add_tail(&module->entry, &modules);
	}
}

/* core_provpath's callback for each file.  Files precede the built-in providers: of equal
 * versions the file is used.
 */
static void file_note(const char *path, bool preferred, void *arg)
{
	struct core_module *module;
	struct list *before = &modules;

	for_each_module(module) {
		if (module->path && !strcmp(module->path, path))
			return;
		if (!module->path && before == &modules)
			before = &module->entry;
	}
	module = core_module_new_file(path, preferred);
	if (module)
		list_add_tail(&module->entry, before);
}

static void name_look_for(const char *name, void *arg)
{
	const struct core_builtin *entry = core_builtin_find(name);
	int i;

	core_provpath_find(name, file_note, NULL);
	for (i = 0; i < 2; i++)
		if (entry->stem[i])
			core_provpath_find(entry->stem[i], file_note, NULL);
}

static void files_look_for(const struct core_ask *ask, bool rescan)
{
	if (core_ask_open(ask))
		core_provpath_scan(rescan, file_note, NULL);
	else
		core_ask_each_name(ask, name_look_for, NULL);
}

/* ---- loading ----------------------------------------------------------------- */

/* For a module that was loaded before, its known providers decide; for one that was never
 * loaded, its stem, which may be the stem of a table entry.
 */
static bool module_needed(const struct core_module *module,
			  const struct core_ask *ask)
{
	const struct core_builtin *entry;
	const struct core_prov *prov;
	bool known = false;
	int i, j;

	for (i = 0; i < CORE_MODULE_PROVS; i++) {
		prov = &module->prov[i];
		if (!*prov->name)
			continue;
		known = true;
		if (core_ask_needs(ask, prov->name) &&
		    prov_winner(prov->name) == prov)
			return true;
	}
	if (known)
		return false;
	if (core_ask_needs(ask, module->stem))
		return true;
	for (i = 0; (entry = core_builtin_at(i)); i++)
		for (j = 0; j < 2 && entry->stem[j]; j++)
			if (!strcmp(entry->stem[j], module->stem) &&
			    core_ask_needs(ask, entry->name))
				return true;
	return false;
}

static void modules_load(const struct core_ask *ask)
{
	struct core_module *module;

	for_each_module(module)
		if (module_needed(module, ask))
			core_module_load(module);
}

/* ---- holding ------------------------------------------------------------------ */

static void provs_insert(struct core_provs *provs, struct core_prov *prov)
{
	int rank = core_builtin_find(prov->name)->rank;
	int at = provs->cnt;

	if (at == CORE_PROVS_MAX)
		return;
	for (; at && core_builtin_find(provs->prov[at - 1]->name)->rank > rank; at--)
		provs->prov[at] = provs->prov[at - 1];
	provs->prov[at] = prov;
	provs->cnt++;
	prov->module->users++;
}

/* The providers that @ask needs, that are loaded, and that are preferred for their name. */
static void provs_collect(const struct core_ask *ask, struct core_provs *provs)
{
	struct core_module *module;
	struct core_prov *prov;
	int i;

	for_each_module(module) {
		for (i = 0; i < CORE_MODULE_PROVS; i++) {
			prov = prov_usable(module, i);
			if (prov && prov->fi && core_ask_needs(ask, prov->name) &&
			    prov_winner(prov->name) == prov)
				provs_insert(provs, prov);
		}
	}
}

void core_registry_hold(const struct core_ask *ask, bool rescan,
			struct core_provs *provs)
{
	provs->cnt = 0;
	registry_lock();
	builtins_note();
	files_look_for(ask, rescan);
	modules_load(ask);
	provs_collect(ask, provs);
	registry_unlock();
}

static void prov_drop(struct core_prov *prov)
{
	struct core_module *module = prov->module;

	module->users--;
	if (!module->users && module->unload_wanted)
		core_module_unload(module);
}

void core_registry_release(struct core_provs *provs)
{
	int i;

	registry_lock();
	for (i = 0; i < provs->cnt; i++)
		prov_drop(provs->prov[i]);
	provs->cnt = 0;
	registry_unlock();
}

struct core_prov *core_registry_hold_name(const char *name)
{
	struct core_ask ask = { .exact = name };
	struct core_provs provs = { 0 };
	struct core_prov *prov = NULL;

	registry_lock();
	builtins_note();
	name_look_for(name, NULL);
	modules_load(&ask);
	provs_collect(&ask, &provs);
	if (provs.cnt) {
		prov = provs.prov[0];
		prov->module->unload_wanted = false;
	}
	registry_unlock();
	return prov;
}

void core_prov_put(struct core_prov *prov, bool unload)
{
	registry_lock();
	if (unload)
		prov->module->unload_wanted = true;
	prov_drop(prov);
	registry_unlock();
}

void core_registry_pin(struct core_prov *prov)
{
	registry_lock();
	prov->module->users++;
	registry_unlock();
}

/* A module that was never loaded is known by its stem. */
void core_registry_each(void (*fn)(const char *name, void *arg), void *arg)
{
	struct core_module *module;
	int i;

	registry_lock();
	for_each_module(module) {
		if (!*module->prov[0].name)
			fn(module->stem, arg);
		for (i = 0; i < CORE_MODULE_PROVS; i++)
			if (*module->prov[i].name)
				fn(module->prov[i].name, arg);
	}
	registry_unlock();
}

void core_registry_load_all(void)
{
	struct core_ask ask;
	struct core_provs provs;

	core_ask_init(&ask, NULL, FI_PROV_ATTR_ONLY);
	core_registry_hold(&ask, false, &provs);
	core_registry_release(&provs);
}

void core_registry_fork_prepare(void)
{
	registry_lock();
}

void core_registry_fork_parent(void)
{
	registry_unlock();
}

/* The child's thread is not the owner recorded in the lock.  Unlocking has no effect then, but
 * keeps the accounting of lock checkers right.
 */
void core_registry_fork_child(void)
{
	registry_unlock();
	lock_make();
}
