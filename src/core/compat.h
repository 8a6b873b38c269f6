/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* compat.h - the public structs as older releases had them.
 *
 * A program binds to the symbol version of its headers: FABRIC_1.0, 1.1, 1.2, 1.3, 1.7, 1.8 and
 * 1.9 have a layout each, which never changes.  The structs here are complete, field by field;
 * where a release changed nothing, the earlier struct is used again.  Every field has the
 * offset that it has today (asserted below), so src/core/discover/info.c needs sizes only.
 */
#ifndef CORE_COMPAT_H
#define CORE_COMPAT_H

#include <rdma/fabric.h>

#define fi_tx_attr_1_0_fields	\
	uint64_t caps;		\
	uint64_t mode;		\
	uint64_t op_flags;	\
	uint64_t msg_order;	\
	uint64_t comp_order;	\
	size_t inject_size;	\
	size_t size;		\
	size_t iov_limit;	\
	size_t rma_iov_limit;

#define fi_ep_attr_1_0_fields		\
	enum fi_ep_type type;		\
	uint32_t protocol;		\
	uint32_t protocol_version;	\
	size_t max_msg_size;		\
	size_t msg_prefix_size;		\
	size_t max_order_raw_size;	\
	size_t max_order_war_size;	\
	size_t max_order_waw_size;	\
	uint64_t mem_tag_format;	\
	size_t tx_ctx_cnt;		\
	size_t rx_ctx_cnt;

#define fi_ep_attr_1_9_fields	\
	fi_ep_attr_1_0_fields	\
	size_t auth_key_size;	\
	uint8_t *auth_key;

#define fi_fabric_attr_1_0_fields	\
	struct fid_fabric *fabric;	\
	char *name;			\
	char *prov_name;		\
	uint32_t prov_version;

#define fi_domain_attr_1_0_fields		\
	struct fid_domain *domain;		\
	char *name;				\
	enum fi_threading threading;		\
	enum fi_progress control_progress;	\
	__extension__ union {			\
		enum fi_progress data_progress;	\
		enum fi_progress progress;	\
	};					\
	enum fi_resource_mgmt resource_mgmt;	\
	enum fi_av_type av_type;		\
	int mr_mode;				\
	size_t mr_key_size;			\
	size_t cq_data_size;			\
	size_t cq_cnt;				\
	size_t ep_cnt;				\
	size_t tx_ctx_cnt;			\
	size_t rx_ctx_cnt;			\
	size_t max_ep_tx_ctx;			\
	size_t max_ep_rx_ctx;			\
	size_t max_ep_stx_ctx;			\
	size_t max_ep_srx_ctx;

#define fi_domain_attr_1_1_fields	\
	fi_domain_attr_1_0_fields	\
	size_t cntr_cnt;		\
	size_t mr_iov_limit;		\
	uint64_t caps;			\
	uint64_t mode;			\
	uint8_t *auth_key;		\
	size_t auth_key_size;		\
	size_t max_err_data;		\
	size_t mr_cnt;

#define fi_domain_attr_1_3_fields	\
	fi_domain_attr_1_1_fields	\
	uint32_t tclass;

#define fi_domain_attr_1_7_fields	\
	fi_domain_attr_1_3_fields	\
	size_t max_ep_auth_key;

#define fi_domain_attr_1_8_fields	\
	fi_domain_attr_1_7_fields	\
	uint32_t max_group_id;

#define fi_domain_attr_1_9_fields	\
	fi_domain_attr_1_8_fields	\
	uint64_t max_cntr_value;	\
	uint64_t max_err_cntr_value;

#define fi_info_1_0_fields(tx, ep, domain, fabric)	\
	struct fi_info *next;				\
	uint64_t caps;					\
	uint64_t mode;					\
	uint32_t addr_format;				\
	size_t src_addrlen;				\
	size_t dest_addrlen;				\
	void *src_addr;					\
	void *dest_addr;				\
	fid_t handle;					\
	struct tx *tx_attr;				\
	struct fi_rx_attr *rx_attr;			\
	struct ep *ep_attr;				\
	struct domain *domain_attr;			\
	struct fabric *fabric_attr;

struct fi_tx_attr_1_0 { fi_tx_attr_1_0_fields };
struct fi_ep_attr_1_0 { fi_ep_attr_1_0_fields };
struct fi_ep_attr_1_9 { fi_ep_attr_1_9_fields };
struct fi_fabric_attr_1_0 { fi_fabric_attr_1_0_fields };
struct fi_domain_attr_1_0 { fi_domain_attr_1_0_fields };
struct fi_domain_attr_1_1 { fi_domain_attr_1_1_fields };
struct fi_domain_attr_1_3 { fi_domain_attr_1_3_fields };
struct fi_domain_attr_1_7 { fi_domain_attr_1_7_fields };
struct fi_domain_attr_1_8 { fi_domain_attr_1_8_fields };
struct fi_domain_attr_1_9 { fi_domain_attr_1_9_fields };

struct fi_info_1_0 {
	fi_info_1_0_fields(fi_tx_attr_1_0, fi_ep_attr_1_0, fi_domain_attr_1_0,
			   fi_fabric_attr_1_0)
};

struct fi_info_1_1 {
	fi_info_1_0_fields(fi_tx_attr_1_0, fi_ep_attr_1_9, fi_domain_attr_1_1,
			   fi_fabric_attr)
};

struct fi_info_1_2 {
	fi_info_1_0_fields(fi_tx_attr_1_0, fi_ep_attr_1_9, fi_domain_attr_1_1,
			   fi_fabric_attr)
	struct fid_nic *nic;
};

struct fi_info_1_3 {
	fi_info_1_0_fields(fi_tx_attr, fi_ep_attr_1_9, fi_domain_attr_1_3,
			   fi_fabric_attr)
	struct fid_nic *nic;
};

struct fi_info_1_7 {
	fi_info_1_0_fields(fi_tx_attr, fi_ep_attr_1_9, fi_domain_attr_1_7,
			   fi_fabric_attr)
	struct fid_nic *nic;
};

struct fi_info_1_8 {
	fi_info_1_0_fields(fi_tx_attr, fi_ep_attr_1_9, fi_domain_attr_1_8,
			   fi_fabric_attr)
	struct fid_nic *nic;
};

struct fi_info_1_9 {
	fi_info_1_0_fields(fi_tx_attr, fi_ep_attr_1_9, fi_domain_attr_1_9,
			   fi_fabric_attr)
	struct fid_nic *nic;
};

#endif
