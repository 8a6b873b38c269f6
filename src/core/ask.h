/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* ask.h - which providers a call of fi_getinfo() asks.
 *
 * The hints may name a provider ("tcp", "tcp;ofi_rxm", "ofi_rxm"), and FI_PROVIDER includes
 * some providers and excludes others.  Both together decide which providers are asked, alone or
 * layered, and therefore which are loaded.
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
	bool core_only;			/* the caller is a layered provider: no layers, no filter */
	bool attr_only;			/* FI_PROV_ATTR_ONLY: hooks are listed too */
};

/* core_ask_init - split the provider name of a call.
 * @prov_name: hints' fabric_attr->prov_name, or NULL; parts in either order
 * Errors: -FI_ENODATA for a name that no provider can have (two layers, two core providers, too
 *         long).
 */
int core_ask_init(struct core_ask *ask, const char *prov_name, uint64_t flags);

/* core_ask_alone - true when the core provider @name may answer without a layer. */
bool core_ask_alone(const struct core_ask *ask, const char *name);

/* core_ask_pair - true when @layer may answer over @core. */
bool core_ask_pair(const struct core_ask *ask, const char *core, const char *layer);

/* core_ask_says_layer - true when the call, or a filter that includes, names @layer. */
bool core_ask_says_layer(const struct core_ask *ask, const char *layer);

/* core_ask_needs - true when the provider @name can contribute to the result of this call. */
bool core_ask_needs(const struct core_ask *ask, const char *name);

/* core_ask_each_name - call @fn with each name that the call is limited to. */
void core_ask_each_name(const struct core_ask *ask,
			void (*fn)(const char *name, void *arg), void *arg);

/* core_ask_open - true when the providers cannot be named in advance, so that every provider
 * file has to be looked at; false when core_ask_each_name() names them all.
 */
bool core_ask_open(const struct core_ask *ask);

#endif
