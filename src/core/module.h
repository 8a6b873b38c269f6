/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* module.h - modules: the files that contain providers, and the library itself.
 *
 * Before a module is loaded it is known by its stem (the tcp of libtcp-fi.so), afterwards by
 * the providers that it offers.  Those are remembered when it is unloaded, so that it is loaded
 * again only for a program that needs one of them.
 *
 * Threading: caller holds the registry's lock.
 */
#ifndef CORE_MODULE_H
#define CORE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/providers/fi_prov.h>

#include "base/list.h"

#define CORE_MODULE_PROVS 2

enum core_module_state {
	CORE_MODULE_KNOWN,	/* not loaded */
	CORE_MODULE_LOADED,
	CORE_MODULE_REFUSED,	/* cannot be used; the reason was logged */
};

struct core_module;

/* One provider of a module. */
struct core_prov {
	struct core_module *module;
	struct fi_provider *fi;	/* NULL while the module is not loaded */
	uint32_t version;	/* its fi->version, compared when two have one name */
	char name[FI_NAME_MAX];	/* empty: this slot has no provider */
};

struct core_module {
	struct list entry;	/* registry's list, in order of discovery */
	enum core_module_state state;
	char *path;		/* file name, or NULL when built in */
	const char *stem;	/* for built-in ones the provider's name */
	void *dl;		/* dlopen() handle */
	struct fi_provider *(*ini[CORE_MODULE_PROVS])(void);	/* built in */
	bool preferred;		/* FI_PROVIDER_PATH names this file */
	int users;		/* fabrics and calls in progress that keep it loaded */
	bool unload_wanted;	/* a fabric closed: unload when users is 0 */
	struct core_prov prov[CORE_MODULE_PROVS];
};

/* core_module_new_file - a module for a file, which is not opened yet.  NULL: no memory. */
struct core_module *core_module_new_file(const char *path, bool preferred);

/* core_module_new_builtin - a module for the built-in provider with entry point @ini. */
struct core_module *core_module_new_builtin(const char *name,
					    struct fi_provider *(*ini)(void));

/* core_module_load - load the module and get its providers.
 * Errors: -FI_ENODEV when the module cannot be used; it is then refused permanently, and the
 *         log says why.
 */
int core_module_load(struct core_module *module);

/* core_module_unload - unload a file that has no users.
 * Calls the cleanup of its providers first.  No effect on a built-in module or on one in use.
 */
void core_module_unload(struct core_module *module);

/* core_module_free - free a module that is not loaded. */
void core_module_free(struct core_module *module);

/* core_module_stem - the stem in a path; false: not the name of a provider file. */
bool core_module_stem(const char *path, char *buf, size_t size);

#endif
