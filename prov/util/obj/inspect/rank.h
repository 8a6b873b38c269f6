/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* rank.h - the rank of a process in its parallel job, as launchers say it in the environment. */
#ifndef OBJ_INSPECT_RANK_H
#define OBJ_INSPECT_RANK_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* inspect_rank_of - of "NAME=VALUE"; -1: it says none. */
static inline int inspect_rank_of(const char *env)
{
	static const char *const names[] = { "PMIX_RANK=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "SLURM_PROCID=" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(env, names[i], strlen(names[i])))
			return atoi(env + strlen(names[i]));
	return -1;
}

#endif
