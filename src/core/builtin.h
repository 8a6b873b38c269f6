/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* builtin.h - the providers inside the library, and how names rank.
 *
 * The order of the table is the order of fi_getinfo()'s answers.
 */
#ifndef CORE_BUILTIN_H
#define CORE_BUILTIN_H

#include <rdma/providers/fi_prov.h>
#include <stdbool.h>

enum core_class {
	CORE_CLASS_CORE,	/* reaches a wire or memory by itself */
	CORE_CLASS_LAYER,	/* works over another: ofi_rxm, ofi_rxd */
	CORE_CLASS_HOOK,	/* stands in between: ofi_hook_trace */
};

struct core_builtin {
	const char *name;
	struct fi_provider *(*ini)(void);	/* NULL: not in this build */
	int rank;		/* small first */
	bool by_name;		/* offered to those only who say its name */
	const char *stem[2];	/* files it may come in, beside its own name */
};

/* core_builtin_at - entry @i of the table, NULL behind the last. */
const struct core_builtin *core_builtin_at(int i);

/* core_builtin_find - the table's entry for a name, or one for strangers. */
const struct core_builtin *core_builtin_find(const char *name);

/* core_builtin_is_nic - does a provider of that name stand for devices? */
bool core_builtin_is_nic(const char *name);

/* core_builtin_class - what kind of provider bears such a name. */
enum core_class core_builtin_class(const char *name);

#endif
