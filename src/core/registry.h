/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* registry.h - all known providers, each loaded on demand.
 *
 * A provider file is looked for only under the names that a call or FI_PROVIDER gives; when
 * neither limits the names, the directories of FI_PROVIDER_PATH are read, once.  Of two
 * providers with one name the newer is used, wherever it was found.  A user of a provider holds
 * it; a file is unloaded when its last fabric closes.
 */
#ifndef CORE_REGISTRY_H
#define CORE_REGISTRY_H

#include "core/ask.h"
#include "core/module.h"

#define CORE_PROVS_MAX 64

/* The providers held for a call, in order of rank. */
struct core_provs {
	int cnt;
	struct core_prov *prov[CORE_PROVS_MAX];
};

/* core_registry_hold - load and hold the providers that @ask needs.
 * @rescan: read the directories again even if that was done (FI_RESCAN)
 * Threading: any.  No lock of the registry is held on return, so the providers may be called,
 *            and may call the library.
 */
void core_registry_hold(const struct core_ask *ask, bool rescan,
			struct core_provs *provs);
void core_registry_release(struct core_provs *provs);

/* core_registry_hold_name - hold one provider by its exact name, or NULL. */
struct core_prov *core_registry_hold_name(const char *name);

/* core_prov_put - release a hold; unloads the file if it was the last one and @unload is set (a
 * fabric closed, or failed to open).
 * The caller must not be running code of the provider.
 */
void core_prov_put(struct core_prov *prov, bool unload);

/* core_registry_pin - keep its module loaded permanently: objects of the program point to its
 * code.
 */
void core_registry_pin(struct core_prov *prov);

/* core_registry_each - call @fn with the name of each provider known so far. */
void core_registry_each(void (*fn)(const char *name, void *arg), void *arg);

/* core_registry_load_all - load every provider (fi_info -e, -l). */
void core_registry_load_all(void);

void core_registry_fork_prepare(void);
void core_registry_fork_parent(void);
void core_registry_fork_child(void);

#endif
