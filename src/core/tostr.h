/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* tostr.h - the text forms of structs, indented by four blanks for each level.
 *
 * A NULL struct prints as "name: (null)".  What does not fit is cut, see text.h.  The layout is
 * part of the interface: programs and tests read what fi_tostr() prints.
 */
#ifndef CORE_TOSTR_H
#define CORE_TOSTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include "core/text.h"	/* where the text goes */

/* tostr_info.c: what fi_getinfo() returns.  @depth: levels of indentation; @version: of the
 * interface that @attr is for, later members are neither read nor printed
 */
void core_tostr_info(struct core_text *text, const struct fi_info *info);
void core_tostr_tx(struct core_text *text, int depth, const struct fi_tx_attr *attr);
void core_tostr_rx(struct core_text *text, int depth, const struct fi_rx_attr *attr);
void core_tostr_ep(struct core_text *text, int depth, const struct fi_ep_attr *attr,
		   uint32_t version);
void core_tostr_domain(struct core_text *text, int depth,
		       const struct fi_domain_attr *attr, uint32_t version);
void core_tostr_fabric(struct core_text *text, int depth,
		       const struct fi_fabric_attr *attr);
void core_tostr_nic(struct core_text *text, int depth, const struct fid_nic *nic);

/* tostr_addr.c: an address as a URL; "(null)" when there is none */
void core_tostr_addr(struct core_text *text, uint32_t format, const void *addr,
		     size_t len);

/* tostr_obj.c: the attributes of objects; @fid may be of any class */
void core_tostr_fid(struct core_text *text, const struct fid *fid);
void core_tostr_av(struct core_text *text, const struct fi_av_attr *attr);
void core_tostr_cq(struct core_text *text, const struct fi_cq_attr *attr);
void core_tostr_cntr(struct core_text *text, const struct fi_cntr_attr *attr);
void core_tostr_mr(struct core_text *text, const struct fi_mr_attr *attr);
void core_tostr_cq_err(struct core_text *text, const struct fi_cq_err_entry *entry);

/* A line "key: NAME", or "key: [ NAME, NAME ]" for a type of bits. */
void core_tostr_named(struct core_text *text, int depth, const char *key,
		      enum fi_type type, uint64_t value);

#endif
