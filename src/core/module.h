/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* module.h - where providers come from: the library itself, or a file.
 *
 * A module is known by a stem (the tcp of libtcp-fi.so) before it is loaded,
 * and by the providers it offers afterwards.  Those are remembered when it is
 * unloaded, so that it is loaded again only for a program that wants them.
 *
 * Threading: all of this is the registry's, under its lock.
 */
#ifndef CORE_MODULE_H
#define CORE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/providers/fi_prov.h>

#include "base/list.h"

#define CORE_MODULE_PROVS 2

enum core_module_state {
	CORE_MODULE_KNOWN,	/* not loaded now */
	CORE_MODULE_LOADED,
	CORE_MODULE_REFUSED,	/* cannot be used; said why in the log */
};

struct core_module;

/* One provider of a module. */
struct core_prov {
	struct core_module *module;
	struct fi_provider *fi;	/* NULL while the module is not loaded */
	uint32_t version;	/* its fi->version, to choose between two */
	char name[FI_NAME_MAX];	/* empty: this slot offers nothing */
};

struct core_module {
	struct list entry;	/* registry's list, in order of discovery */
	enum core_module_state state;
	char *path;		/* file, or NULL when built in */
	const char *stem;	/* for built in ones the provider's name */
	void *dl;		/* dlopen() handle */
	struct fi_provider *(*ini[CORE_MODULE_PROVS])(void);	/* built in */
	bool preferred;		/* FI_PROVIDER_PATH named this very file */
	int users;		/* fabrics and calls that keep it loaded */
	bool unload_wanted;	/* a fabric closed: unload when users is 0 */
	struct core_prov prov[CORE_MODULE_PROVS];
};

/* core_module_new_file - note a file; it is not opened yet.  NULL: no memory. */
struct core_module *core_module_new_file(const char *path, bool preferred);

/* core_module_new_builtin - note the built in provider of entry point @ini. */
struct core_module *core_module_new_builtin(const char *name,
					    struct fi_provider *(*ini)(void));

/* core_module_load - have the module's providers at hand.
 *
 * Errors: -FI_ENODEV when the module cannot be used; it is then refused for
 *         good, and the log says why.
 */
int core_module_load(struct core_module *module);

/* core_module_unload - let go of a file's code when nobody uses it any more.
 *
 * Calls the cleanup of its providers first.  Nothing happens to a built in
 * module or to one in use.
 */
void core_module_unload(struct core_module *module);

/* core_module_free - forget a module that is not loaded. */
void core_module_free(struct core_module *module);

/* core_module_stem - a file's stem from its path; false: no provider's file. */
bool core_module_stem(const char *path, char *buf, size_t size);

#endif
