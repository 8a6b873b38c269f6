/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * vrb_name.h - which queue pair stands behind an address and port of a datagram endpoint:
 * service resolution, by librdmacm.
 */
#ifndef VRB_NAME_H
#define VRB_NAME_H

#include "vrb_ep.h"

/* vrb_name_bind - an id at the address of @info, for a datagram queue pair of @ep.
 *
 * Ownership: the caller's, for vrb_name_close().  While there is one, a thread runs.
 * Errors:    -FI_EADDRNOTAVAIL, -FI_ENOMEM, and those of librdmacm, logged.
 */
int vrb_name_bind(const struct fi_info *info, struct vrb_ep *ep, struct rdma_cm_id **id_p);

/* vrb_name_serve - from now on questions about its address are answered with ep->qp. */
int vrb_name_serve(struct rdma_cm_id *id);

/* vrb_name_close - no question is being answered when it returns. */
void vrb_name_close(struct rdma_cm_id *id);

/* vrb_name_ask - who is at @to?  Waits for the answer, ten seconds at most.
 *
 * @from:  where to ask from: it names the device
 * Errors: -FI_EHOSTUNREACH: nobody, or no way there (logged); those of librdmacm.
 */
int vrb_name_ask(const struct sockaddr *from, const struct sockaddr *to,
		 struct rdma_ud_param *found);

#endif
