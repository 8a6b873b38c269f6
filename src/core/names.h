/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* names.h - the names of values and of bits, as fi_tostr() prints them. */
#ifndef CORE_NAMES_H
#define CORE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>

#include "core/text.h"

/* core_name_of - name of a value of an enumerated type; "Unknown" if it has none. */
const char *core_name_of(enum fi_type type, uint32_t value);

/* core_names_of - append the names of the bits of @value, comma separated.
 * Bits without a name are appended as one hexadecimal number.
 */
void core_names_of(struct core_text *text, enum fi_type type, uint64_t value);

/* core_names_kind - 1 when values of this type are sets of bits, 0 when enumerated, -1 for
 * other types.
 */
int core_names_kind(enum fi_type type);

/* core_names_bytes - size of a variable of the type, one of the above. */
size_t core_names_bytes(enum fi_type type);

/* Types that fi_tostr() does not print. */
const char *core_name_rm(enum fi_resource_mgmt rm);
const char *core_name_link_state(enum fi_link_state state);
const char *core_name_bus(enum fi_bus_type bus);

#endif
