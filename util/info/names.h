/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_NAMES_H
#define INFO_NAMES_H

/*
 * Names of bits and enumerators, both ways.  The library's own fi_tostr() is
 * the only table, so the tool always speaks the names of the library it runs on.
 */

#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>

/* info_names_bits - read "FI_MSG|FI_RMA".
 *
 * @type:   FI_TYPE_CAPS, FI_TYPE_MODE: what the names are
 * @list:   names with '|' between them, in any case; empty ones do not count
 * @bits_p: [out] their bits, or-ed
 * @bad, @len: [out] the first name that is none, terminated
 *
 * Errors: -FI_EINVAL.
 */
int info_names_bits(enum fi_type type, const char *list, uint64_t *bits_p,
		    char *bad, size_t len);

/* info_names_enum - read one enumerator, FI_TYPE_EP_TYPE or FI_TYPE_ADDR_FORMAT.
 * Errors: -FI_EINVAL.
 */
int info_names_enum(enum fi_type type, const char *name, uint32_t *val_p);

/* info_names_each - call @fn for the name of each bit of @bits, lowest first.
 * Bits without a name come as "0x...".
 */
void info_names_each(enum fi_type type, uint64_t bits,
		     void (*fn)(const char *name, void *arg), void *arg);

#endif
