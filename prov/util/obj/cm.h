/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.h - connection management of an active endpoint: its name, and for FI_EP_MSG the
 * one connection that it can have.
 *
 * fi_cm(3) is implemented here once: the checks of each call, the states, the limits of
 * private data, and the events on the event queue.  A transport fills in struct obj_cm_ops
 * and reports what its connection manager says; pep.h has the passive side.
 *
 *   IDLE --- fi_connect(), fi_accept() ---> CONNECTING --- obj_cm_connected() ---> CONNECTED
 *    ^                                        |    |                                   |
 *    +---------- obj_cm_refused(IDLE) --------+    +--- obj_cm_refused(SHUT) ---> SHUT <-+
 *
 * Locking: all of it is guarded by the group that obj_cm_prog() names.
 */
#ifndef OBJ_CM_H
#define OBJ_CM_H

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

struct fi_provider;
struct obj_ep;
struct obj_pep;
struct obj_pep_ops;
struct obj_prog;

enum obj_cm_state {
	OBJ_CM_IDLE,			/* not connected, and may be */
	OBJ_CM_CONNECTING,		/* fi_connect() or fi_accept() waits for the outcome */
	OBJ_CM_CONNECTED,		/* a datagram endpoint: from enable on */
	OBJ_CM_SHUT,			/* the connection has ended; there is no second one */
};

/* A connection request, from its FI_CONNREQ event until it is answered.  It stands on its
 * own: it may be answered after its listener is closed.
 */
struct obj_connreq {
	struct fid fid;			/* first: what info->handle points to */
	const struct obj_pep_ops *ops;	/* of the passive endpoint that announced it */
	const void *transport;		/* see struct obj_cm */
	struct obj_ep *ep;		/* the endpoint that will answer it, or NULL */
	void *req;			/* the transport's */
	unsigned process;		/* in which it came: see obj_inherited() */
};

/* What a transport does for a connection.  Caller of each: obj, after the checks of
 * fi_cm(3), with the connection's group locked.  None may block for long.
 */
struct obj_cm_ops {
	/* getname - where peers reach the endpoint, enabled or not.
	 * @len_p: [in, out] room, then the true length
	 * Threading: before enable perhaps without a lock.  Errors: -FI_ETOOSMALL,
	 *            -FI_EOPBADSTATE: it has no name yet.
	 */
	int (*getname)(struct obj_ep *ep, void *addr, size_t *len_p);

	/* setname - NULL: -FI_ENOSYS.  Threading: as getname. */
	int (*setname)(struct obj_ep *ep, const void *addr, size_t len);

	/* getpeer - the other end of the connection, in OBJ_CM_CONNECTED. */
	int (*getpeer)(struct obj_ep *ep, void *addr, size_t *len_p);

	/* connect - request a connection to @addr, with private data.  The endpoint is in
	 * OBJ_CM_CONNECTING; on error it returns to OBJ_CM_IDLE.  The outcome comes by
	 * obj_cm_connected() or obj_cm_refused().
	 * Ownership: @addr and @param are the caller's; copy what is needed longer.
	 */
	int (*connect)(struct obj_ep *ep, const void *addr, const void *param, size_t len);

	/* accept - answer @req.  Otherwise as connect.
	 * Ownership: @req is the transport's again, whatever is returned.
	 */
	int (*accept)(struct obj_ep *ep, void *req, const void *param, size_t len);

	/* shutdown - end the connection: the transport sets OBJ_CM_SHUT once nothing more
	 * may be posted; obj raises the event.
	 */
	int (*shutdown)(struct obj_ep *ep);

	/* take_pep - the endpoint takes over the address of @pep, which does not listen;
	 * the passive endpoint is of no more use.  The group of @pep is locked, too.
	 */
	int (*take_pep)(struct obj_ep *ep, struct obj_pep *pep);

	/* take_req - the endpoint will answer @req.  NULL: nothing to do, nothing to refuse.
	 * Errors: -FI_EINVAL: it cannot (logged).
	 */
	int (*take_req)(struct obj_ep *ep, void *req);

	/* changed - the state is @state from now on.  May be NULL. */
	void (*changed)(struct obj_ep *ep, enum obj_cm_state state);
};

/* In each struct obj_ep; all zero for one that has neither name nor connection. */
struct obj_cm {
	const struct obj_cm_ops *ops;	/* NULL: the provider does it all itself */
	const void *transport;		/* requests and addresses come from passive endpoints with
					 * the same one only */
	size_t data_size;		/* bytes of private data that fit; FI_OPT_CM_DATA_SIZE */
	struct obj_prog *prog;		/* group of the connection; NULL: ep->prog, once enabled */
	_Atomic int state;		/* enum obj_cm_state; written by obj_cm_set_state() alone */
	struct obj_connreq *req;	/* what fi_accept() will answer, or NULL */
};

/* The calls of FI_EP_MSG endpoints; of others, which have a name but no peer. */
extern struct fi_ops_cm obj_cm_msg_ops, obj_cm_rdm_ops;

/* obj_cm_set_state - the only way to change a state; asserts that the edge is legal.
 * Threading: the connection's group is locked.
 */
void obj_cm_set_state(struct obj_ep *ep, enum obj_cm_state state);

/* obj_cm_shut - enter OBJ_CM_SHUT, from whatever state.  Returns that state. */
enum obj_cm_state obj_cm_shut(struct obj_ep *ep);

/* obj_cm_take - what fi_endpoint() finds in info->handle: the endpoint will answer this
 * request, or takes over the address of this passive endpoint.
 *
 * Ownership: on 0 the request is the endpoint's until it is answered or dropped.
 * Threading: without a lock.
 * Errors: -FI_EINVAL: neither, or of another transport; -FI_EBUSY: another endpoint has the
 *         request, or the passive endpoint listens or has given its address away.
 */
int obj_cm_take(struct obj_ep *ep, struct fid *handle);

/* obj_cm_drop - the endpoint closes: a request that it did not answer is refused. */
void obj_cm_drop(struct obj_ep *ep);

/* obj_cm_connected - the connection is established: OBJ_CM_CONNECTED and FI_CONNECTED.
 * @data: the peer's private data, @len bytes
 */
void obj_cm_connected(struct obj_ep *ep, const void *data, size_t len);

/* obj_cm_refused - there will be no connection: an error event, which names @err (FI_E*, a
 * positive number), @prov_errno and the private data of a reject.
 *
 * @state: OBJ_CM_IDLE: the endpoint may connect again; OBJ_CM_SHUT: it may not.  A
 *         connection that is shut already is left as it is, and nothing is reported.
 */
void obj_cm_refused(struct obj_ep *ep, enum obj_cm_state state, int err, int prov_errno,
		    const void *data, size_t len);

/* obj_cm_ended - the peer has closed or is lost, or the program has called fi_shutdown():
 * FI_SHUTDOWN, once for each connection.  In OBJ_CM_SHUT.
 */
void obj_cm_ended(struct obj_ep *ep);

/* obj_cm_copy_name - hand out an address as fi_getname(3) does.
 * @len_p: [in, out] room, then the true length.  Errors: -FI_ETOOSMALL.
 */
static inline int obj_cm_copy_name(const void *name, size_t name_len, void *addr, size_t *len_p)
{
	size_t room = *len_p;

	*len_p = name_len;
	if (addr && room)
		memcpy(addr, name, room < name_len ? room : name_len);
	return room < name_len ? -FI_ETOOSMALL : 0;
}

/* obj_cm_info_name - the same of info->src_addr.  Errors: -FI_EOPBADSTATE: there is none. */
int obj_cm_info_name(const struct fi_info *info, void *addr, size_t *len_p);

/* obj_cm_set_addr - replace an address of an fi_info by a copy of @addr.  Errors: -FI_ENOMEM. */
int obj_cm_set_addr(void **addr_p, size_t *len_p, const void *addr, size_t len);

/* obj_cm_rename - replace info->src_addr by a copy of @addr.  Errors: -FI_ENOMEM, -FI_EINVAL. */
int obj_cm_rename(struct fi_info *info, const void *addr, size_t len);

/* obj_cm_check_data - may these be private data of a transport that carries @room bytes?
 * Errors: -FI_EINVAL (logged).
 */
int obj_cm_check_data(const struct fi_provider *prov, const void *data, size_t len, size_t room);

#endif
