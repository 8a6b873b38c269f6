/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sealed.h - in place of a key: the endpoint belongs to a layer (ofi_rxd) that seals what it sends by itself, so
 * nothing is asked of this one.  It is text, which no key is, and not a bit of fi_info.mode: programs set all of
 * those.
 */
#ifndef BASE_SEALED_H
#define BASE_SEALED_H

#define SEALED_ABOVE "sealed by the layer above"

#endif
