/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * name.h - queries for the queue pair behind an address and port of a datagram endpoint: service
 * resolution, by librdmacm.  One thread of the process answers queries of peers and handles the
 * steps of our own.
 */
#ifndef VRB_NAME_H
#define VRB_NAME_H

#include "ep.h"

/* vrb_name_bind - bind an id to the address of @info, for a datagram queue pair of @ep.
 *
 * Ownership: the caller's, until vrb_name_close().  The thread runs while there is one.
 * Errors:    -FI_EADDRNOTAVAIL, -FI_ENOMEM, and those of librdmacm, logged.
 */
int vrb_name_bind(const struct fi_info *info, struct vrb_ep *ep, struct rdma_cm_id **id_p);

/* vrb_name_bind_at - the same at an IP address, for a queue pair that librdmacm does not make. */
int vrb_name_bind_at(const struct sockaddr *sa, struct vrb_ep *ep, struct rdma_cm_id **id_p);

/* vrb_name_serve - answer queries for its address with ep->qp from now on. */
int vrb_name_serve(struct rdma_cm_id *id);

/* vrb_name_close - no query is being answered when it returns. */
void vrb_name_close(struct rdma_cm_id *id);

/* A query in flight; the thread handles its events. */
struct vrb_query;

/* vrb_name_query - query the queue pair at @to.  Does not wait; the caller has bound a name.
 *
 * @from: local address, which names the device
 * @pd:   protection domain for the address handle of the peer; NULL: none is made
 * @wake: eventfd that is written when the query ends, or -1
 * Ownership: *q_p is the caller's, until vrb_name_end().
 * Errors: -FI_ENOMEM, those of librdmacm.
 */
int vrb_name_query(struct ibv_pd *pd, const struct sockaddr *from, const struct sockaddr *to,
		 int wake, struct vrb_query **q_p);

/* vrb_name_resolve - query and wait for the answer; the caller need not have a name.
 * @found: [out] the queue pair, its key, and in ah_attr its port
 * Errors: as vrb_name_query() and vrb_name_end().
 */
int vrb_name_resolve(const struct sockaddr *from, const struct sockaddr *to,
		  struct rdma_ud_param *found);

/* vrb_name_answered - has the query ended: answered, failed, or timed out (ten seconds)? */
bool vrb_name_answered(const struct vrb_query *q);

/* vrb_name_answers - count of ended queries.
 * vrb_name_wait - wait until that count is not @seen; 100 ms at most, so that the caller can look at
 * the deadline.
 */
unsigned vrb_name_answers(void);
void vrb_name_wait(unsigned seen);

/* vrb_name_deadline - when the query times out, by clock_ns(). */
uint64_t vrb_name_deadline(const struct vrb_query *q);

/* vrb_name_end - take the answer of an ended query, or cancel it; @q is freed.
 *
 * @ah_p, @found: [out] address handle (the caller's) and queue pair; NULL: cancel
 * Errors: -FI_EHOSTUNREACH: no answer (logged); those of librdmacm.
 */
int vrb_name_end(struct vrb_query *q, struct ibv_ah **ah_p, struct rdma_ud_param *found);

#endif
