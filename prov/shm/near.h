/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * near.h - a link beside another one, to endpoints of its kind on this host.
 *
 * An endpoint with the IP address A has a door that is called A.  Such names belong to
 * a network namespace, as addresses do; so whoever can knock there and has the same
 * user is who would be reached at A, and if nobody is there, A is on another host.
 */
#ifndef SHM_NEAR_H
#define SHM_NEAR_H

#include "link.h"

/* shm_near_open - eng_link_ops.open of shm_near_ops.
 * Errors: -FI_EADDRNOTAVAIL: the endpoint has no address of its own; see also
 * shm_wireup_open().
 */
int shm_near_open(struct eng_ep *ep, struct eng_link **link_p);

#endif
