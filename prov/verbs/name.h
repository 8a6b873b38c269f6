/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * name.h - which queue pair stands behind an address and port of a datagram endpoint:
 * service resolution, by librdmacm.
 */
#ifndef VRB_NAME_H
#define VRB_NAME_H

#include "ep.h"

/* vrb_name_bind - an id at the address of @info, for a datagram queue pair of @ep.
 *
 * Ownership: the caller's, for vrb_name_close().  While there is one, a thread runs.
 * Errors:    -FI_EADDRNOTAVAIL, -FI_ENOMEM, and those of librdmacm, logged.
 */
int vrb_name_bind(const struct fi_info *info, struct vrb_ep *ep, struct rdma_cm_id **id_p);

/* vrb_name_bind_at - the same at an address of IP, for a queue pair that is made without it. */
int vrb_name_bind_at(const struct sockaddr *sa, struct vrb_ep *ep, struct rdma_cm_id **id_p);

/* vrb_name_serve - from now on questions about its address are answered with ep->qp. */
int vrb_name_serve(struct rdma_cm_id *id);

/* vrb_name_close - no question is being answered when it returns. */
void vrb_name_close(struct rdma_cm_id *id);

/* A question on its way; the thread sees to it. */
struct vrb_query;

/* vrb_name_query - who is at @to?  Does not wait; only while the caller has a name itself.
 *
 * @from: where to ask from: it names the device
 * @pd:   what the way there is for; NULL: none is wanted
 * @wake: eventfd that is written when there is an answer, or -1
 * Ownership: the caller's, until vrb_name_end().
 * Errors: -FI_ENOMEM, those of librdmacm.
 */
int vrb_name_query(struct ibv_pd *pd, const struct sockaddr *from, const struct sockaddr *to,
		 int wake, struct vrb_query **q_p);

/* vrb_name_resolve - ask and wait; at any time.
 * @found: [out] the queue pair, its key, and in ah_attr its port
 * Errors: as vrb_name_query() and vrb_name_end().
 */
int vrb_name_resolve(const struct sockaddr *from, const struct sockaddr *to,
		  struct rdma_ud_param *found);

/* vrb_name_answered - is there an answer, or will there be none?  Ten seconds at most. */
bool vrb_name_answered(const struct vrb_query *q);

/* vrb_name_answers, vrb_name_wait - wait until there were more answers, of any questions, than
 * @seen; a moment at most, so that somebody looks at the clock.
 */
unsigned vrb_name_answers(void);
void vrb_name_wait(unsigned seen);

/* vrb_name_deadline - when it is answered at the latest, by clock_ns(). */
uint64_t vrb_name_deadline(const struct vrb_query *q);

/* vrb_name_end - the answer, or what there is of it; @q is freed.
 *
 * @ah_p, @found: [out] the way there, the caller's; NULL: he does not want to know
 * Errors: -FI_EHOSTUNREACH: nobody, or no way there (logged); those of librdmacm.
 */
int vrb_name_end(struct vrb_query *q, struct ibv_ah **ah_p, struct rdma_ud_param *found);

#endif
