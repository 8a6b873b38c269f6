/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* builtin.h - the built-in providers, and how provider names rank.
 *
 * The order of the table is the order of fi_getinfo()'s results.
 */
#ifndef CORE_BUILTIN_H
#define CORE_BUILTIN_H

#include <rdma/providers/fi_prov.h>
#include <stdbool.h>

enum core_class {
	CORE_CLASS_CORE,	/* moves data itself: tcp, shm */
	CORE_CLASS_LAYER,	/* works over another: ofi_rxm, ofi_rxd */
	CORE_CLASS_HOOK,	/* interposes on another: ofi_hook_trace */
};

struct core_builtin {
	const char *name;
	struct fi_provider *(*ini)(void);	/* entry point; NULL: not in this build */
	int rank;		/* lower ranks come first */
	bool by_name;		/* offered only when the program names it */
	bool any_host;		/* works wherever there is a network: a warning says why it does not */
	bool pairs_by_name;	/* so are the pairs in which it is the core provider */
	/* Bits of enum fi_ep_type: what endpoints a core provider has; 0: any */
	unsigned types;
	unsigned below;		/* what endpoints a layer can run over; 0: any */
	const char *stem[2];	/* further stems of files that may contain it */
};

/* core_builtin_at - entry @i of the table, or NULL past its end. */
const struct core_builtin *core_builtin_at(int i);

/* core_builtin_find - the entry of a name, or a default entry for a name not in the table. */
const struct core_builtin *core_builtin_find(const char *name);

/* core_builtin_is_nic - true when providers of that name represent devices. */
bool core_builtin_is_nic(const char *name);

/* core_builtin_serves - may @layer find endpoints of the type that it needs in @core? */
bool core_builtin_serves(const char *core, const char *layer);

/* core_builtin_class - core provider, layer or hook, derived from the name. */
enum core_class core_builtin_class(const char *name);

#endif
