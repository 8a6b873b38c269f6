/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_trigger.h - operations that start when a condition is met.
 *
 * Either pass FI_TRIGGER with a struct fi_triggered_context as the context, or
 * queue a struct fi_deferred_work on the domain by FI_QUEUE_WORK.
 */
#ifndef FI_TRIGGER_H
#define FI_TRIGGER_H

#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef FABRIC_DIRECT
#include <rdma/fi_direct_trigger.h>
#endif

#ifndef FABRIC_DIRECT_TRIGGER

enum fi_trigger_event {
	FI_TRIGGER_THRESHOLD,		/* a counter has reached a value */
	FI_TRIGGER_XPU			/* a device writes variables */
};

/* What FI_QUEUE_WORK does when it starts. */
enum fi_op_type {
	FI_OP_RECV,		/* fi_recvmsg() */
	FI_OP_SEND,		/* fi_sendmsg() */
	FI_OP_TRECV,		/* fi_trecvmsg() */
	FI_OP_TSEND,		/* fi_tsendmsg() */
	FI_OP_READ,		/* fi_readmsg() */
	FI_OP_WRITE,		/* fi_writemsg() */
	FI_OP_ATOMIC,		/* fi_atomicmsg() */
	FI_OP_FETCH_ATOMIC,	/* fi_fetch_atomicmsg() */
	FI_OP_COMPARE_ATOMIC,	/* fi_compare_atomicmsg() */
	FI_OP_CNTR_SET,		/* fi_cntr_set() */
	FI_OP_CNTR_ADD		/* fi_cntr_add() */
};

#endif /* FABRIC_DIRECT_TRIGGER */

/* ---- conditions ---------------------------------------------------------- */

struct fi_trigger_threshold {
	struct fid_cntr	*cntr;		/* of the same domain */
	size_t		threshold;	/* starts once the counter is this large */
};

/* A variable that the device writes, and the value to write. */
struct fi_trigger_var {
	enum fi_datatype	datatype;
	int			count;	/* values */
	void			*addr;	/* where */
	union {
		uint8_t		val8;
		uint16_t	val16;
		uint32_t	val32;
		uint64_t	val64;
		uint8_t		*data;		/* count is above one */
	} value;				/* member by datatype */
};

/* FI_TRIGGER_XPU: the program asks for the variables, and has its device write them. */
struct fi_trigger_xpu {
	int			count;	/* variables */
	enum fi_hmem_iface	iface;	/* kind of device */
	union {
		uint64_t	reserved;
		int		cuda;
		int		ze;		/* fi_hmem_ze_device() */
	} device;				/* member by iface */
	struct fi_trigger_var	*var;	/* [out] the variables */
};

/* Context of an operation with FI_TRIGGER; its size is that of fi_context. */
struct fi_triggered_context {
	enum fi_trigger_event		event_type;	/* selects the member of trigger */
	union {
		struct fi_trigger_threshold	threshold;
		struct fi_trigger_xpu		xpu;
		void				*internal[3];	/* the provider's */
	} trigger;
};

/* The same with FI_CONTEXT2. */
struct fi_triggered_context2 {
	enum fi_trigger_event		event_type;
	union {
		struct fi_trigger_threshold	threshold;
		struct fi_trigger_xpu		xpu;
		void				*internal[7];
	} trigger;
};

/* ---- deferred work ------------------------------------------------------- */

/*
 * The arguments of the call that is made. They, and all that they point to, stay as they are
 * until the work has completed; flags are those of the call.
 */

/* FI_OP_RECV, FI_OP_SEND */
struct fi_op_msg {
	struct fid_ep	*ep;
	struct fi_msg	msg;
	uint64_t	flags;
};

/* FI_OP_TRECV, FI_OP_TSEND */
struct fi_op_tagged {
	struct fid_ep		*ep;
	struct fi_msg_tagged	msg;
	uint64_t		flags;
};

/* FI_OP_READ, FI_OP_WRITE */
struct fi_op_rma {
	struct fid_ep		*ep;
	struct fi_msg_rma	msg;
	uint64_t		flags;
};

/* FI_OP_ATOMIC */
struct fi_op_atomic {
	struct fid_ep		*ep;
	struct fi_msg_atomic	msg;
	uint64_t		flags;
};

/* FI_OP_FETCH_ATOMIC: fetch is where the old values go */
struct fi_op_fetch_atomic {
	struct fid_ep		*ep;
	struct fi_msg_atomic	msg;
	struct fi_msg_fetch	fetch;
	uint64_t		flags;
};

/* FI_OP_COMPARE_ATOMIC: the old values, and what they are compared with */
struct fi_op_compare_atomic {
	struct fid_ep		*ep;
	struct fi_msg_atomic	msg;
	struct fi_msg_fetch	fetch;
	struct fi_msg_compare	compare;
	uint64_t		flags;
};

/* FI_OP_CNTR_SET, FI_OP_CNTR_ADD */
struct fi_op_cntr {
	struct fid_cntr	*cntr;	/* that is changed */
	uint64_t	value;	/* its new value, or what is added */
};

/* The provider's from FI_QUEUE_WORK until it has completed or was cancelled. */
struct fi_deferred_work {
	struct fi_context2		context;		/* the provider's */
	/* starts once triggering_cntr is this large */
	uint64_t			threshold;
	struct fid_cntr			*triggering_cntr;
	struct fid_cntr			*completion_cntr;	/* counts the end, or NULL */
	enum fi_op_type			op_type;		/* selects the member of op */
	union {
		struct fi_op_msg		*msg;
		struct fi_op_tagged		*tagged;
		struct fi_op_rma		*rma;
		struct fi_op_atomic		*atomic;
		struct fi_op_fetch_atomic	*fetch_atomic;
		struct fi_op_compare_atomic	*compare_atomic;
		struct fi_op_cntr		*cntr;
	} op;
};

#ifdef __cplusplus
}
#endif

#endif /* FI_TRIGGER_H */
