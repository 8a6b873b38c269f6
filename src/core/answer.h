/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* answer.h - completing a provider's list of fi_info before a program sees it. */
#ifndef CORE_ANSWER_H
#define CORE_ANSWER_H

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

#endif
