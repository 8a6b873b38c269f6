/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* answer.h - what becomes of a provider's answer before a program sees it. */
#ifndef CORE_ANSWER_H
#define CORE_ANSWER_H

#include <rdma/fabric.h>

#include "core/module.h"
#include "core/mrmode.h"

/* Where an answer comes from, and how the program speaks. */
struct core_answer {
	struct core_prov *prov;
	const char *name;		/* what programs call it: "udp;ofi_rxd" */
	uint32_t version;		/* interface that the program asked for */
	enum core_mrmode mrmode;
	const struct fi_info *hints;	/* the program's own, or NULL */
};

/* core_answer_finish - complete a provider's list.
 *
 * Fills in the names and versions, the open fabric, and the program's words for
 * registration modes; takes out what the program cannot use, saying why.
 *
 * Ownership: of what is taken out is freed; the rest is returned.
 * Errors:    -FI_ENOMEM; the whole list is then freed and *list_p NULL.
 */
int core_answer_finish(const struct core_answer *answer, struct fi_info **list_p);

/* core_answer_provider - the one info that FI_PROV_ATTR_ONLY asks for. */
struct fi_info *core_answer_provider(const struct core_answer *answer);

#endif
