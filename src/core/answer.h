/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* answer.h - completing lists of fi_info before a program sees them. */
#ifndef CORE_ANSWER_H
#define CORE_ANSWER_H

#include <stdbool.h>

#include <rdma/fabric.h>

#include "core/module.h"
#include "core/mrmode.h"

/* Which provider the list comes from, and which interface the program uses. */
struct core_answer {
	struct core_prov *prov;
	const char *name;		/* provider name that programs see: "udp;ofi_rxd" */
	uint32_t version;		/* interface version that the program asked for */
	enum core_mrmode mrmode;
	const struct fi_info *hints;	/* the program's hints, or NULL */
};

/* core_answer_finish - complete a provider's list.
 * Fills in names and versions, the open fabric, and the registration mode in the form that the
 * program uses; removes what the program cannot use, and logs why.
 * Ownership: removed entries are freed; the rest is returned.
 * Errors:    -FI_ENOMEM; the whole list is then freed and *list_p NULL.
 */
int core_answer_finish(const struct core_answer *answer, struct fi_info **list_p);

/* core_answer_provider - the single fi_info of a provider for FI_PROV_ATTR_ONLY. */
struct fi_info *core_answer_provider(const struct core_answer *answer);

/* ---- addrformat.c: FI_ADDR_FORMAT offers endpoints of one address format only ---- */

/* core_addrformat_init - read FI_ADDR_FORMAT; a name that is none is warned of, and ignored.
 * Threading: once, before any call of fi_getinfo() looks for providers.
 */
void core_addrformat_init(void);

/* core_addrformat_filter - remove the results that have another address format.
 * @list_p: [in,out] results in their final order
 * Returns true when something was removed; each removal is explained, and that nothing is left
 * is warned of.
 * Ownership: removed entries are freed.
 * Threading: any.
 * Errors:    none.
 */
bool core_addrformat_filter(struct fi_info **list_p);

#endif
