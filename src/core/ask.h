/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* ask.h - which providers a call is about.
 *
 * A call names a provider or not ("tcp", "tcp;ofi_rxm", "ofi_rxm"), and
 * FI_PROVIDER lets through some and not others.  Both together decide which
 * providers answer, alone or layered, and so which are loaded at all.
 */
#ifndef CORE_ASK_H
#define CORE_ASK_H

#include <stdbool.h>

#include <rdma/fabric.h>

struct core_ask {
	char core[FI_NAME_MAX];		/* core provider asked for, or "" for any */
	char layer[FI_NAME_MAX];	/* layer asked for, or "" */
	const char *exact;		/* only the provider of this name, or NULL */
	const char *filter;		/* FI_PROVIDER, or NULL */
	bool core_only;			/* a layer is asking: no layers, no filter */
	bool attr_only;			/* FI_PROV_ATTR_ONLY: hooks count too */
};

/* core_ask_init - take a call's provider name apart.
 *
 * @prov_name: hints' fabric_attr->prov_name, or NULL; parts in either order
 *
 * Errors: -FI_ENODATA for a name that no provider can have (two layers, two
 *         core providers, too long).
 */
int core_ask_init(struct core_ask *ask, const char *prov_name, uint64_t flags);

/* core_ask_alone - may the core provider @name answer as itself? */
bool core_ask_alone(const struct core_ask *ask, const char *name);

/* core_ask_pair - may @layer answer over @core? */
bool core_ask_pair(const struct core_ask *ask, const char *core, const char *layer);

/* core_ask_needs - is the provider @name of use for this call in any way? */
bool core_ask_needs(const struct core_ask *ask, const char *name);

/* core_ask_each_name - call @fn with each name that the call is limited to. */
void core_ask_each_name(const struct core_ask *ask,
			void (*fn)(const char *name, void *arg), void *arg);

/* core_ask_open - true when only a look at every file there is can tell which
 * providers can answer; false when core_ask_each_name() names them all.
 */
bool core_ask_open(const struct core_ask *ask);

#endif
