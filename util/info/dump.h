/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_DUMP_H
#define INFO_DUMP_H

/* fi_info as JSON.  Keys are the names of the struct fields. */

#include <rdma/fabric.h>

#include "../json.h"

/* info_dump_infos - "infos": each fi_info of @list whose text has @substr. */
void info_dump_infos(struct json *j, const struct fi_info *list, const char *substr);

/* info_dump_providers - "providers": name and version of each of @list. */
void info_dump_providers(struct json *j, const struct fi_info *list);

/* info_dump_params - "params": each variable whose name has @substr. */
void info_dump_params(struct json *j, const struct fi_param *params, int cnt,
		      const char *substr);

/* info_dump_error - "error": number and text of a failed call. */
void info_dump_error(struct json *j, int err);

#endif
