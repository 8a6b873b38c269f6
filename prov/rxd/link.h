/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * link.h - what the rest of the library knows of this directory's link.
 */
#ifndef RXD_LINK_H
#define RXD_LINK_H

#include "conn.h"

extern const struct eng_link_ops rxd_link_ops;

#endif
