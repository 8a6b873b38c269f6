/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* registry.h - all providers there are, each loaded when it is wanted.
 *
 * A provider file is looked for only by the name that a call or FI_PROVIDER
 * says; when neither limits the names, the directories of FI_PROVIDER_PATH are
 * read, once.  Of two providers of one name the newer is used, whichever the
 * path prefers first.  Whoever uses a provider holds it; a file is unloaded when
 * its last fabric closes.
 */
#ifndef CORE_REGISTRY_H
#define CORE_REGISTRY_H

#include "core/ask.h"
#include "core/module.h"

#define CORE_PROVS_MAX 64

/* Providers that are held for a call, best first. */
struct core_provs {
	int cnt;
	struct core_prov *prov[CORE_PROVS_MAX];
};

/* core_registry_hold - load what @ask needs and hold it.
 *
 * @rescan: read the directories again even if that was done (FI_RESCAN)
 *
 * Threading: any.  Nothing of the registry is locked when it returns, so the
 *            providers may be called, and may call the library.
 */
void core_registry_hold(const struct core_ask *ask, bool rescan,
			struct core_provs *provs);
void core_registry_release(struct core_provs *provs);

/* core_registry_hold_name - hold one provider by its exact name, or NULL. */
struct core_prov *core_registry_hold_name(const char *name);

/* core_prov_put - let go of it; its file is unloaded if that was the last hold
 * and @unload says so (a fabric closed, or failed to open).
 *
 * The caller must not be running code of the provider.
 */
void core_prov_put(struct core_prov *prov, bool unload);

/* core_registry_pin - keep its module loaded for ever: its code is out there. */
void core_registry_pin(struct core_prov *prov);

/* core_registry_each - call @fn with each provider's name known so far. */
void core_registry_each(void (*fn)(const char *name, void *arg), void *arg);

/* core_registry_load_all - load every provider there is (fi_info -e, -l). */
void core_registry_load_all(void);

void core_registry_fork_prepare(void);
void core_registry_fork_parent(void);
void core_registry_fork_child(void);

#endif
