/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_PRINT_H
#define INFO_PRINT_H

/* The text forms of fi_info.  Scripts parse them, so they do not change. */

#include <rdma/fabric.h>

/* info_print_short - provider, fabric, domain, version, type and protocol of each. */
void info_print_short(const struct fi_info *list);

/* info_print_verbose - fi_tostr() of each whose text has @substr (NULL: of all). */
void info_print_verbose(const struct fi_info *list, const char *substr);

/* info_print_providers - name and version of each. */
void info_print_providers(const struct fi_info *list);

/* info_print_env - type, help and value of each variable whose name has @substr,
 * in any case (NULL: of all).
 */
void info_print_env(const struct fi_param *params, int cnt, const char *substr);

/* info_print_security - the level of FI_SECURITY and what it comes from, where variables ask for one. */
void info_print_security(const struct fi_param *params, int cnt);

/* info_print_param_type, info_print_param_match - shared with the JSON form. */
const char *info_print_param_type(enum fi_param_type type);
int info_print_param_match(const struct fi_param *param, const char *substr);

#endif
