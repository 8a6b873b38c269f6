/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/log.h"

static bool take_one(_Atomic unsigned *more)
{
	unsigned was = atomic_load(more);

	while (was)
		if (atomic_compare_exchange_weak(more, &was, was - 1))
			return true;
	return false;
}

bool obj_log_take(const struct fi_provider *prov, enum fi_log_level level,
		  enum fi_log_subsys subsys, struct obj_log_site *site, unsigned *left_p)
{
	*left_p = 0;
	if (!fi_log_enabled(prov, level, subsys))
		return false;
	if (fi_log_ready(prov, level, subsys, &site->showtime)) {
		atomic_store(&site->more, (level == FI_LOG_WARN ? OBJ_LOG_WARNINGS :
					   OBJ_LOG_OTHERS) - 1);
		*left_p = atomic_exchange(&site->left, 0);
		return true;
	}
	if (take_one(&site->more))
		return true;
	atomic_fetch_add(&site->left, 1);
	return false;
}
