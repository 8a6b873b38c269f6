/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * msg_prov.h - a provider with connected endpoints and RMA, as far as rxm uses one: in one
 * process, without sockets, and with a virtual clock.
 *
 * It is as strict as the rules of such a provider allow: a message for which no receive
 * buffer is posted aborts the test, and so do private data of more than 55 bytes, and a
 * read outside of what is registered.  A closed endpoint's receives complete with
 * FI_ECANCELED after it is closed, and completions that name it may follow.
 *
 * Test programs define fi_fabric() by including this: dom.c opens this provider.
 */
#ifndef RXM_TEST_MSG_PROV_H
#define RXM_TEST_MSG_PROV_H

#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#define MSG_CM_DATA 55		/* private data, as provider verbs has over IP */
#define MSG_INJECT 32		/* bytes that fi_inject() takes */

/* What the test controls; msg_prov_reset() sets the defaults. */
extern struct msg_prov {
	int ep_room;		/* endpoints that can be opened; < 0: any number */
	int accept_err;		/* of fi_accept(), positive; 0: it works */
	int tx_room;		/* sends and reads that are taken; < 0: any number */
	int rx_room;		/* receives that are taken; < 0: any number */
	bool hold_reads;	/* reads wait for msg_prov_reads() */
	bool hold_cq;		/* fi_cq_read() finds nothing */
	bool hold_eq;		/* fi_eq_read() finds nothing */
	size_t max_msg_size;	/* of an operation */
	/* what has happened */
	unsigned eps, mrs;	/* open */
	unsigned sends;		/* messages */
	unsigned reads;
	unsigned eq_reads;	/* calls of fi_eq_read() */
} msg_prov;

/* A connection request: of an endpoint, or of the test in place of a peer's. */
struct msg_req {
	struct fid fid;		/* info->handle */
	bool tests;		/* made by msg_prov_request() */
	struct msg_ep *from;	/* NULL: the test's, or closed */
	struct msg_ep *to;	/* that was opened with it */
	bool accepted, rejected;
	uint8_t data[MSG_CM_DATA];	/* private data of the answer */
	size_t len;
};

void msg_prov_reset(void);

/* msg_prov_addr - 127.0.0.1 at @port. */
struct sockaddr_in msg_prov_addr(uint16_t port);

/* msg_prov_info - of an endpoint at @port; 0: the next free one.
 * Ownership: the caller's, for fi_freeinfo().
 */
struct fi_info *msg_prov_info(uint16_t port);

/* msg_prov_listens - is there a listener at @port?  Connecting to others is refused. */
bool msg_prov_listens(uint16_t port);

/* msg_prov_blackhole - requests to @port are not answered; 0: to none. */
void msg_prov_blackhole(uint16_t port);

/* msg_prov_request - the test connects to the listener at @port from the address @from.
 * Ownership: the caller's, for msg_prov_free(), when it is answered.
 */
struct msg_req *msg_prov_request(uint16_t port, const struct sockaddr_in *from, const void *data,
				  size_t len);

void msg_prov_free(struct msg_req *req);

/* msg_prov_confirm - the connection of an accepted request is established. */
void msg_prov_confirm(struct msg_req *req);

/* msg_prov_answer - answer the request that an endpoint has made to a blackhole: accept it,
 * or reject it, with private data.  Returns false if there is none.
 */
bool msg_prov_answer(bool accept, const void *data, size_t len);

/* msg_prov_deliver - the peer's end, which is the test's, sends a message to @ep.
 * @ep: of fid_ep of the code under test
 */
void msg_prov_deliver(struct fid_ep *ep, const void *data, size_t len);

/* msg_prov_fail_recv - the next receive of @ep completes with @err. */
void msg_prov_fail_recv(struct fid_ep *ep, int err);

/* msg_prov_last - the last message that was sent by @ep to the test, and its length. */
const uint8_t *msg_prov_last(struct fid_ep *ep, size_t *len_p);

/* msg_prov_shutdown - the peer's end, which is the test's, closes. */
void msg_prov_shutdown(struct fid_ep *ep);

/* msg_prov_reads - let reads that were held complete, with @err. */
void msg_prov_reads(int err);

/* msg_prov_sleep - the virtual clock goes on. */
void msg_prov_sleep(uint64_t ns);

#endif
