/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * lib.h - libibverbs and librdmacm, opened when the first device is found.
 *
 * libfabric is not linked with them: a program on a host without RDMA devices loads neither, and
 * runs where they are not installed.  Inline functions of their headers call through tables of
 * the objects; exported functions are called as vrb_ibv.NAME and vrb_cm.NAME.
 */
#ifndef VRB_LIB_H
#define VRB_LIB_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#define VRB_IBV_CALLS(X)							\
	X(alloc_pd) X(dealloc_pd) X(query_device) X(query_gid)	X(query_port)		\
	X(reg_mr) X(dereg_mr)							\
	X(create_comp_channel) X(destroy_comp_channel)				\
	X(create_cq) X(resize_cq) X(destroy_cq) X(get_cq_event) X(ack_cq_events) \
	X(create_srq) X(destroy_srq)						\
	X(create_qp) X(modify_qp) X(destroy_qp) X(qp_to_qp_ex)			\
	X(create_ah) X(destroy_ah)						\
	X(get_async_event) X(ack_async_event)					\
	X(wc_status_str) X(event_type_str) X(get_device_name) X(fork_init) \
	X(get_device_list) X(free_device_list) X(open_device)

#define VRB_CM_CALLS(X)								\
	X(create_event_channel) X(destroy_event_channel)			\
	X(create_id) X(destroy_id) X(bind_addr) X(resolve_addr) X(resolve_route) \
	X(create_qp_ex) X(destroy_qp) X(connect) X(listen) X(accept) X(reject)	\
	X(disconnect) X(get_cm_event) X(ack_cm_event)				\
	X(get_devices) X(free_devices) X(event_str)				\
	X(get_src_port) X(get_dst_port)

#define VRB_MEMBER(name) __typeof__(&ibv_##name) name;
struct vrb_ibv {
	VRB_IBV_CALLS(VRB_MEMBER)
	/* Not in every version: NULL where it is missing. */
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t len,
					uint64_t iova, int fd, int access);
	int (*is_fork_initialized)(void);	/* enum ibv_fork_status */
	int (*cmd_destroy_qp)(struct ibv_qp *qp);	/* destroys the kernel object only */
};
#undef VRB_MEMBER

#define VRB_MEMBER(name) __typeof__(&rdma_##name) name;
struct vrb_cm_lib {
	VRB_CM_CALLS(VRB_MEMBER)
	/* Not in every version.  The first two are for queue pairs that do not belong to an id. */
	int (*init_qp_attr)(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask);
	int (*establish)(struct rdma_cm_id *id);
	int (*set_option)(struct rdma_cm_id *id, int level, int name, void *value, size_t len);
};
#undef VRB_MEMBER

extern struct vrb_ibv vrb_ibv;
extern struct vrb_cm_lib vrb_cm;

/* vrb_lib_open - open both libraries; once, and they stay.
 *
 * Threading: any thread.
 * Errors:    -FI_ENOSYS: a library or a function is missing; logged once, with
 *            the name of what is missing and the package that has it.
 */
int vrb_lib_open(void);

/* vrb_lib_fork_safe - protect registered memory from copy-on-write after fork().  libibverbs
 * excludes it from children, unless the kernel copies it for them or FI_FORK_UNSAFE is set.
 * Part of vrb_lib_open(), before any region is registered.
 *
 * Returns whether forking is safe; otherwise the reason is logged, or was asked for.
 */
bool vrb_lib_fork_safe(void);

#endif
