/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_NAMES_H
#define INFO_NAMES_H

/*
 * Names of bits and enumerators, in both directions.  fi_tostr() of the library is the only
 * table, so the tool uses the names of the library that it runs on.
 */

#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>

/* info_names_bits - parse "FI_MSG|FI_RMA".
 *
 * @type:   FI_TYPE_CAPS, FI_TYPE_MODE: the set of names
 * @list:   names with '|' between them, in any case; empty names are ignored
 * @bits_p: [out] their bits, or-ed
 * @bad, @len: [out] the first unknown name, terminated
 * Errors: -FI_EINVAL.
 */
int info_names_bits(enum fi_type type, const char *list, uint64_t *bits_p,
		    char *bad, size_t len);

/* info_names_enum - parse one enumerator, FI_TYPE_EP_TYPE or FI_TYPE_ADDR_FORMAT.
 * Errors: -FI_EINVAL.
 */
int info_names_enum(enum fi_type type, const char *name, uint32_t *val_p);

/* info_names_each - call @fn with the name of each bit of @bits, lowest first.
 * Bits without a name are passed as "0x...".
 */
void info_names_each(enum fi_type type, uint64_t bits,
		     void (*fn)(const char *name, void *arg), void *arg);

#endif
