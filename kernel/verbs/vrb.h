/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * vrb.h - what the files of kofi_verbs.ko share.
 *
 * A connected endpoint is a queue pair of kind RC with a completion queue, polled by ib_core
 * in a work item, and an id of rdma_cm.  On the wire it adds one byte to the private data of
 * rdma_cm, their length, as the published protocol of the verbs provider does.
 */
#ifndef KOFI_VRB_H
#define KOFI_VRB_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <kofi/compat.h>
#include <kofi/obj.h>

#define VRB_SGE_MAX	16	/* pieces per operation */
#define VRB_CM_DATA_MAX	55	/* private data of the application */
#define VRB_INJECT	64

/* What is behind the context of an id. */
enum vrb_kind {
	VRB_PEP,
	VRB_REQ,
	VRB_EP
};

struct vrb_cm {
	enum vrb_kind		kind;
	struct rdma_cm_id	*id;
};

enum vrb_state {
	VRB_IDLE,
	VRB_CONNECTING,
	VRB_ACCEPTING,
	VRB_UP,
	VRB_ENDED
};

struct vrb_domain {
	struct kofi_domain	*domain;
	struct ib_device	*device;	/* referenced: it stays until the close */
	struct ib_pd		*pd;
	u32			port;
	bool			iwarp;
	struct ib_event_handler	handler;
	struct delayed_work	port_down;	/* pending while the port is down */
};

/* An operation and what it takes to post it. */
struct vrb_op {
	struct kofi_op		op;
	struct ib_cqe		cqe;
	int			posted;		/* the function that sets it to 0 completes the operation */
	u32			sge_cnt;
	struct ib_sge		sge[VRB_SGE_MAX];
	void			*bounce;	/* sends: memory of the device's for injected bytes */
};

struct vrb_ep {
	struct kofi_ep		ep;
	struct vrb_cm		cm;
	struct vrb_domain	*domain;
	enum vrb_state		state;		/* under ep.lock */
	struct mutex		end_lock;	/* held while the connection is ended */
	struct work_struct	flush;		/* after the end */
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	u8			*bounce;	/* of all sends */
	size_t			tx_size;
	size_t			rx_size;
	struct sockaddr_storage	src;
	u8			data[VRB_CM_DATA_MAX + 1];	/* to be sent with a connect */
	size_t			data_len;
	struct mutex		mr_lock;	/* guards mrs */
	struct list_head	mrs;		/* enabled before there was a connection */
};

struct vrb_pep {
	struct kofi_pep		pep;
	struct vrb_cm		cm;
	struct sockaddr_storage	name;
	struct kofi_event	*ended;		/* to come when its device goes, or NULL */
};

/* A request that waits for its answer. */
struct vrb_req {
	struct kofi_req		req;
	struct vrb_cm		cm;
	bool			gone;		/* under the id's handler lock */
};

/* The device's part of a registration. */
struct vrb_mr {
	struct ib_mr		*mr;
	struct sg_table		sgt;
	struct ib_device	*device;
	struct ib_reg_wr	wr;
	struct ib_cqe		cqe;
	struct list_head	node;		/* in vrb_ep::mrs */
	struct vrb_ep		*ep;		/* while it is there */
	struct completion	done;		/* of the registration */
	int			status;
};

extern struct workqueue_struct *vrb_wq;
extern struct fi_ops_cm vrb_cm_ops;
extern const struct kofi_ep_ops vrb_ep_ops;

static inline struct vrb_ep *vrb_ep_of(struct kofi_ep *ep)
{
	return container_of(ep, struct vrb_ep, ep);
}

/* cm.c */
int vrb_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
int vrb_passive_ep(struct kofi_fabric_obj *fabric, struct fi_info *info, struct fid_pep **pep_p,
		   void *context);
/* vrb_claim - an endpoint takes the request that @info names. */
int vrb_claim(struct vrb_ep *ep, const struct fi_info *info);
/* vrb_end - the connection has ended: what is outstanding is flushed. May sleep. */
void vrb_end(struct vrb_ep *ep, int err, const void *data, size_t len);

/* ep.c */
int vrb_endpoint(struct kofi_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		 void *context);
/* vrb_atomic_limit - fetch-and-add, compare-and-swap, of one element of 64 bits. */
size_t vrb_atomic_limit(const struct kofi_domain *domain, enum kofi_op_type type,
			unsigned int datatype, unsigned int op);

/* mr.c */
int vrb_mr_reg(struct kofi_mr *mr);
int vrb_mr_enable(struct kofi_mr *mr);
void vrb_mr_close(struct kofi_mr *mr);
/* vrb_mr_connected - register what was enabled before. */
void vrb_mr_connected(struct vrb_ep *ep);
/* vrb_mr_flush - the queue pair completes nothing more: registrations that wait, fail. */
void vrb_mr_flush(struct vrb_ep *ep);

#endif /* KOFI_VRB_H */
