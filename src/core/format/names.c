/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_trigger.h>
#include <rdma/providers/fi_log.h>

#include "core/names.h"

struct name {
	uint64_t value;
	const char *text;
};

#define NAME(x)		{ (uint64_t) (x), #x }

/* Sorted by bit, lowest first, which is the order of printing; FI_XPU, a later one, is the last. */

static const struct name ep_type[] = {
	NAME(FI_EP_UNSPEC),
	NAME(FI_EP_MSG),
	NAME(FI_EP_DGRAM),
	NAME(FI_EP_RDM),
};

static const struct name threading[] = {
	NAME(FI_THREAD_UNSPEC),
	NAME(FI_THREAD_SAFE),
	NAME(FI_THREAD_DOMAIN),
	NAME(FI_THREAD_COMPLETION),
};

static const struct name progress[] = {
	NAME(FI_PROGRESS_UNSPEC),
	NAME(FI_PROGRESS_AUTO),
	NAME(FI_PROGRESS_MANUAL),
	NAME(FI_PROGRESS_CONTROL_UNIFIED),
};

static const struct name av_type[] = {
	NAME(FI_AV_UNSPEC),
	NAME(FI_AV_MAP),
	NAME(FI_AV_TABLE),
};

static const struct name atomic_type[] = {
	NAME(FI_INT8),
	NAME(FI_UINT8),
	NAME(FI_INT16),
	NAME(FI_UINT16),
	NAME(FI_INT32),
	NAME(FI_UINT32),
	NAME(FI_INT64),
	NAME(FI_UINT64),
	NAME(FI_FLOAT),
	NAME(FI_DOUBLE),
	NAME(FI_FLOAT_COMPLEX),
	NAME(FI_DOUBLE_COMPLEX),
	NAME(FI_LONG_DOUBLE),
	NAME(FI_LONG_DOUBLE_COMPLEX),
	NAME(FI_INT128),
	NAME(FI_UINT128),
};

static const struct name atomic_op[] = {
	NAME(FI_MIN),
	NAME(FI_MAX),
	NAME(FI_SUM),
	NAME(FI_PROD),
	NAME(FI_LOR),
	NAME(FI_LAND),
	NAME(FI_BOR),
	NAME(FI_BAND),
	NAME(FI_LXOR),
	NAME(FI_BXOR),
	NAME(FI_ATOMIC_READ),
	NAME(FI_ATOMIC_WRITE),
	NAME(FI_CSWAP),
	NAME(FI_CSWAP_NE),
	NAME(FI_CSWAP_LE),
	NAME(FI_CSWAP_LT),
	NAME(FI_CSWAP_GE),
	NAME(FI_CSWAP_GT),
	NAME(FI_MSWAP),
};

static const struct name collective_op[] = {
	NAME(FI_BARRIER),
	NAME(FI_BROADCAST),
	NAME(FI_ALLTOALL),
	NAME(FI_ALLREDUCE),
	NAME(FI_ALLGATHER),
	NAME(FI_REDUCE_SCATTER),
	NAME(FI_REDUCE),
	NAME(FI_SCATTER),
	NAME(FI_GATHER),
};

static const struct name hmem_iface[] = {
	NAME(FI_HMEM_SYSTEM),
	NAME(FI_HMEM_CUDA),
	NAME(FI_HMEM_ROCR),
	NAME(FI_HMEM_ZE),
	NAME(FI_HMEM_NEURON),
	NAME(FI_HMEM_SYNAPSEAI),
};

static const struct name cq_format[] = {
	NAME(FI_CQ_FORMAT_UNSPEC),
	NAME(FI_CQ_FORMAT_CONTEXT),
	NAME(FI_CQ_FORMAT_MSG),
	NAME(FI_CQ_FORMAT_DATA),
	NAME(FI_CQ_FORMAT_TAGGED),
};

static const struct name log_level[] = {
	{ FI_LOG_WARN, "warn" },
	{ FI_LOG_TRACE, "trace" },
	{ FI_LOG_INFO, "info" },
	{ FI_LOG_DEBUG, "debug" },
};

static const struct name log_subsys[] = {
	{ FI_LOG_CORE, "core" },
	{ FI_LOG_FABRIC, "fabric" },
	{ FI_LOG_DOMAIN, "domain" },
	{ FI_LOG_EP_CTRL, "ep_ctrl" },
	{ FI_LOG_EP_DATA, "ep_data" },
	{ FI_LOG_AV, "av" },
	{ FI_LOG_CQ, "cq" },
	{ FI_LOG_EQ, "eq" },
	{ FI_LOG_MR, "mr" },
	{ FI_LOG_CNTR, "cntr" },
};

static const struct name cq_wait_cond[] = {
	NAME(FI_CQ_COND_NONE),
	NAME(FI_CQ_COND_THRESHOLD),
};

static const struct name wait_obj[] = {
	NAME(FI_WAIT_NONE),
	NAME(FI_WAIT_UNSPEC),
	NAME(FI_WAIT_SET),
	NAME(FI_WAIT_FD),
	NAME(FI_WAIT_MUTEX_COND),
	NAME(FI_WAIT_YIELD),
	NAME(FI_WAIT_POLLFD),
};

static const struct name addr_format[] = {
	NAME(FI_ADDR_OPX),
	NAME(FI_FORMAT_UNSPEC),
	NAME(FI_SOCKADDR),
	NAME(FI_SOCKADDR_IN),
	NAME(FI_SOCKADDR_IN6),
	NAME(FI_SOCKADDR_IB),
	NAME(FI_ADDR_MLX),
	NAME(FI_ADDR_STR),
	NAME(FI_ADDR_PSMX2),
	NAME(FI_ADDR_IB_UD),
	NAME(FI_ADDR_EFA),
	NAME(FI_ADDR_PSMX3),
	NAME(FI_ADDR_CXI),
	NAME(FI_ADDR_UCX),
	NAME(FI_SOCKADDR_IP),
};

static const struct name protocol[] = {
	NAME(FI_PROTO_RDMA_CM_IB_XRC),
	NAME(FI_PROTO_NETWORKDIRECT),
	NAME(FI_PROTO_UNSPEC),
	NAME(FI_PROTO_RDMA_CM_IB_RC),
	NAME(FI_PROTO_IWARP),
	NAME(FI_PROTO_IB_UD),
	NAME(FI_PROTO_UDP),
	NAME(FI_PROTO_SOCK_TCP),
	NAME(FI_PROTO_IWARP_RDM),
	NAME(FI_PROTO_IB_RDM),
	NAME(FI_PROTO_RXM),
	NAME(FI_PROTO_RXD),
	NAME(FI_PROTO_MLX),
	NAME(FI_PROTO_PSMX2),
	NAME(FI_PROTO_SHM),
	NAME(FI_PROTO_EFA),
	NAME(FI_PROTO_PSMX3),
	NAME(FI_PROTO_RXM_TCP),
	NAME(FI_PROTO_OPX),
	NAME(FI_PROTO_CXI),
	NAME(FI_PROTO_XNET),
	NAME(FI_PROTO_UCX),
	NAME(FI_PROTO_SM2),
	NAME(FI_PROTO_CXI_RNR),
	NAME(FI_PROTO_LPP),
	NAME(FI_PROTO_LNX),
};

static const struct name eq_event[] = {
	NAME(FI_NOTIFY),
	NAME(FI_CONNREQ),
	NAME(FI_CONNECTED),
	NAME(FI_SHUTDOWN),
	NAME(FI_MR_COMPLETE),
	NAME(FI_AV_COMPLETE),
	NAME(FI_JOIN_COMPLETE),
};

static const struct name op_type[] = {
	NAME(FI_OP_RECV),
	NAME(FI_OP_SEND),
	NAME(FI_OP_TRECV),
	NAME(FI_OP_TSEND),
	NAME(FI_OP_READ),
	NAME(FI_OP_WRITE),
	NAME(FI_OP_ATOMIC),
	NAME(FI_OP_FETCH_ATOMIC),
	NAME(FI_OP_COMPARE_ATOMIC),
	NAME(FI_OP_CNTR_SET),
	NAME(FI_OP_CNTR_ADD),
};

static const struct name caps[] = {
	NAME(FI_MSG),
	NAME(FI_RMA),
	NAME(FI_TAGGED),
	NAME(FI_ATOMIC),
	NAME(FI_MULTICAST),
	NAME(FI_COLLECTIVE),
	NAME(FI_READ),
	NAME(FI_WRITE),
	NAME(FI_RECV),
	NAME(FI_SEND),
	NAME(FI_REMOTE_READ),
	NAME(FI_REMOTE_WRITE),
	NAME(FI_MULTI_RECV),
	NAME(FI_REMOTE_CQ_DATA),
	NAME(FI_TRIGGER),
	NAME(FI_FENCE),
	NAME(FI_AV_USER_ID),
	NAME(FI_PEER),
	NAME(FI_HMEM),
	NAME(FI_RMA_PMEM),
	NAME(FI_SOURCE_ERR),
	NAME(FI_LOCAL_COMM),
	NAME(FI_REMOTE_COMM),
	NAME(FI_SHARED_AV),
	NAME(FI_RMA_EVENT),
	NAME(FI_SOURCE),
	NAME(FI_NAMED_RX_CTX),
	NAME(FI_DIRECTED_RECV),
	NAME(FI_XPU),
};

static const struct name op_flags[] = {
	NAME(FI_MULTICAST),
	NAME(FI_MULTI_RECV),
	NAME(FI_REMOTE_CQ_DATA),
	NAME(FI_MORE),
	NAME(FI_PEEK),
	NAME(FI_TRIGGER),
	NAME(FI_FENCE),
	NAME(FI_COMPLETION),
	NAME(FI_INJECT),
	NAME(FI_INJECT_COMPLETE),
	NAME(FI_TRANSMIT_COMPLETE),
	NAME(FI_DELIVERY_COMPLETE),
	NAME(FI_AFFINITY),
	NAME(FI_MATCH_COMPLETE),
	NAME(FI_DISCARD),
	NAME(FI_CLAIM),
};

static const struct name msg_order[] = {
	NAME(FI_ORDER_RAR),
	NAME(FI_ORDER_RAW),
	NAME(FI_ORDER_RAS),
	NAME(FI_ORDER_WAR),
	NAME(FI_ORDER_WAW),
	NAME(FI_ORDER_WAS),
	NAME(FI_ORDER_SAR),
	NAME(FI_ORDER_SAW),
	NAME(FI_ORDER_SAS),
	NAME(FI_ORDER_RMA_RAR),
	NAME(FI_ORDER_RMA_RAW),
	NAME(FI_ORDER_RMA_WAR),
	NAME(FI_ORDER_RMA_WAW),
	NAME(FI_ORDER_ATOMIC_RAR),
	NAME(FI_ORDER_ATOMIC_RAW),
	NAME(FI_ORDER_ATOMIC_WAR),
	NAME(FI_ORDER_ATOMIC_WAW),
};

static const struct name mode[] = {
	NAME(FI_CONTEXT2),
	NAME(FI_LOCAL_MR),
	NAME(FI_RX_CQ_DATA),
	NAME(FI_ASYNC_IOV),
	NAME(FI_MSG_PREFIX),
	NAME(FI_CONTEXT),
};

static const struct name mr_mode[] = {
	NAME(FI_MR_BASIC),
	NAME(FI_MR_SCALABLE),
	NAME(FI_MR_LOCAL),
	NAME(FI_MR_RAW),
	NAME(FI_MR_VIRT_ADDR),
	NAME(FI_MR_ALLOCATED),
	NAME(FI_MR_PROV_KEY),
	NAME(FI_MR_MMU_NOTIFY),
	NAME(FI_MR_RMA_EVENT),
	NAME(FI_MR_ENDPOINT),
	NAME(FI_MR_HMEM),
	NAME(FI_MR_COLLECTIVE),
	NAME(FI_MR_XPU_DESC),
};

static const struct name cq_event_flags[] = {
	NAME(FI_MSG),
	NAME(FI_RMA),
	NAME(FI_TAGGED),
	NAME(FI_ATOMIC),
	NAME(FI_READ),
	NAME(FI_WRITE),
	NAME(FI_RECV),
	NAME(FI_SEND),
	NAME(FI_REMOTE_READ),
	NAME(FI_REMOTE_WRITE),
	NAME(FI_MULTI_RECV),
	NAME(FI_REMOTE_CQ_DATA),
	NAME(FI_MORE),
	NAME(FI_CLAIM),
};

struct names {
	const struct name *vec;
	size_t cnt;
	int bits;		/* 1: a set of bits, 0: an enumeration */
	size_t bytes;		/* size of a variable of the type */
};

#define VALUES(vec)	{ vec, sizeof(vec) / sizeof(vec[0]), 0, sizeof(uint32_t) }
#define BITS(vec)	{ vec, sizeof(vec) / sizeof(vec[0]), 1, sizeof(uint64_t) }

static const struct names names[] = {
	[FI_TYPE_EP_TYPE] = VALUES(ep_type),
	[FI_TYPE_THREADING] = VALUES(threading),
	[FI_TYPE_PROGRESS] = VALUES(progress),
	[FI_TYPE_AV_TYPE] = VALUES(av_type),
	[FI_TYPE_ATOMIC_TYPE] = VALUES(atomic_type),
	[FI_TYPE_ATOMIC_OP] = VALUES(atomic_op),
	[FI_TYPE_COLLECTIVE_OP] = VALUES(collective_op),
	[FI_TYPE_HMEM_IFACE] = VALUES(hmem_iface),
	[FI_TYPE_CQ_FORMAT] = VALUES(cq_format),
	[FI_TYPE_LOG_LEVEL] = VALUES(log_level),
	[FI_TYPE_LOG_SUBSYS] = VALUES(log_subsys),
	[FI_TYPE_CQ_WAIT_COND] = VALUES(cq_wait_cond),
	[FI_TYPE_WAIT_OBJ] = VALUES(wait_obj),
	[FI_TYPE_ADDR_FORMAT] = VALUES(addr_format),
	[FI_TYPE_PROTOCOL] = VALUES(protocol),
	[FI_TYPE_EQ_EVENT] = VALUES(eq_event),
	[FI_TYPE_OP_TYPE] = VALUES(op_type),
	[FI_TYPE_CAPS] = BITS(caps),
	[FI_TYPE_OP_FLAGS] = BITS(op_flags),
	[FI_TYPE_MSG_ORDER] = BITS(msg_order),
	[FI_TYPE_MODE] = BITS(mode),
	[FI_TYPE_MR_MODE] = { mr_mode, sizeof(mr_mode) / sizeof(mr_mode[0]), 1,
			      sizeof(int) },
	[FI_TYPE_CQ_EVENT_FLAGS] = BITS(cq_event_flags),
};

static const struct names *names_find(enum fi_type type)
{
	if ((size_t) type >= sizeof(names) / sizeof(names[0]) || !names[type].vec)
		return NULL;
	return &names[type];
}

int core_names_kind(enum fi_type type)
{
	const struct names *list = names_find(type);

	return list ? list->bits : -1;
}

size_t core_names_bytes(enum fi_type type)
{
	const struct names *list = names_find(type);

	return list ? list->bytes : 0;
}

const char *core_name_of(enum fi_type type, uint32_t value)
{
	const struct names *list = names_find(type);
	size_t i;

	for (i = 0; list && i < list->cnt; i++)
		if (list->vec[i].value == value)
			return list->vec[i].text;
	return "Unknown";
}

void core_names_of(struct core_text *text, enum fi_type type, uint64_t value)
{
	const struct names *list = names_find(type);
	const char *comma = "";
	size_t i;

	for (i = 0; list && i < list->cnt; i++) {
		if (!(value & list->vec[i].value))
			continue;
		core_text_add(text, "%s%s", comma, list->vec[i].text);
		value &= ~list->vec[i].value;
		comma = ", ";
	}
	if (value)
		core_text_add(text, "%s0x%llx", comma, (unsigned long long) value);
}

const char *core_name_rm(enum fi_resource_mgmt rm)
{
	static const char *const text[] = {
		"FI_RM_UNSPEC", "FI_RM_DISABLED", "FI_RM_ENABLED"
	};

	return (unsigned int) rm < 3 ? text[rm] : "Unknown";
}

const char *core_name_link_state(enum fi_link_state state)
{
	static const char *const text[] = {
		"FI_LINK_UNKNOWN", "FI_LINK_DOWN", "FI_LINK_UP"
	};

	return (unsigned int) state < 3 ? text[state] : "Unknown";
}

const char *core_name_bus(enum fi_bus_type bus)
{
	switch (bus) {
	case FI_BUS_PCI:
		return "FI_BUS_PCI";
	case FI_BUS_UNSPEC:
		return "FI_BUS_UNSPEC";
	default:
		return "Unknown";
	}
}
