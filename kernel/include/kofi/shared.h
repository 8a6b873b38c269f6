/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * shared.h - what the kernel interface and include/rdma have in common.
 *
 * Written by kernel/gen_shared from include/rdma: do not edit.
 */
#ifndef KOFI_SHARED_H
#define KOFI_SHARED_H

#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/uio.h>

struct fi_alias;
struct fi_atomic_attr;
struct fi_av_attr;
struct fi_av_set_attr;
struct fi_cntr_attr;
struct fi_collective_attr;
struct fi_context;
struct fi_context2;
struct fi_cq_attr;
struct fi_cq_data_entry;
struct fi_cq_entry;
struct fi_cq_err_entry;
struct fi_cq_msg_entry;
struct fi_cq_tagged_entry;
struct fi_deferred_work;
struct fi_domain_attr;
struct fi_ep_attr;
struct fi_eq_attr;
struct fi_eq_cm_entry;
struct fi_eq_entry;
struct fi_eq_err_entry;
struct fi_fabric_attr;
struct fi_fid_export;
struct fi_fid_var;
struct fi_info;
struct fi_ioc;
struct fi_mr_map_raw;
struct fi_mr_modify;
struct fi_mr_raw_attr;
struct fi_mr_xpu_desc;
struct fi_msg;
struct fi_msg_atomic;
struct fi_msg_rma;
struct fi_msg_tagged;
struct fi_mutex_cond;
struct fi_ops;
struct fi_ops_atomic;
struct fi_ops_av;
struct fi_ops_cm;
struct fi_ops_cntr;
struct fi_ops_collective;
struct fi_ops_cq;
struct fi_ops_domain;
struct fi_ops_ep;
struct fi_ops_eq;
struct fi_ops_fabric;
struct fi_ops_msg;
struct fi_ops_rma;
struct fi_ops_tagged;
struct fi_poll_attr;
struct fi_rma_ioc;
struct fi_rma_iov;
struct fi_rx_attr;
struct fi_trigger_xpu;
struct fi_tx_attr;
struct fi_wait_attr;
struct fi_xpu_attr;
struct fid;
struct fid_av;
struct fid_av_set;
struct fid_cntr;
struct fid_cq;
struct fid_domain;
struct fid_ep;
struct fid_eq;
struct fid_fabric;
struct fid_mc;
struct fid_mr;
struct fid_nic;
struct fid_pep;
struct fid_poll;
struct fid_stx;
struct fid_wait;
struct fid_xpu_cntr;
struct fid_xpu_cq;
struct fid_xpu_ctx;
struct fid_xpu_ep;

/* ---- rdma/fi_errno.h ---- */

#define FI_ERRNO_OFFSET		256	/* our own numbers start here */
#define FI_SUCCESS		0
#define FI_EPERM		EPERM		/* not permitted */
#define FI_ENOENT		ENOENT		/* no such name */
#define FI_EINTR		EINTR		/* a signal cut the call short */
#define FI_EIO			EIO		/* the transfer failed in the system or the device */
#define FI_E2BIG		E2BIG		/* argument list too long */
#define FI_EBADF		EBADF		/* bad descriptor */
#define FI_EAGAIN		EAGAIN		/* not now: make progress, then retry */
#define FI_EWOULDBLOCK		EWOULDBLOCK	/* the same number as FI_EAGAIN */
#define FI_ENOMEM		ENOMEM		/* out of memory */
#define FI_EACCES		EACCES		/* access rights do not cover the operation */
#define FI_EFAULT		EFAULT		/* bad address */
#define FI_EBUSY		EBUSY		/* still in use: close what depends on it first */
#define FI_ENODEV		ENODEV		/* no such device or interface */
#define FI_EINVAL		EINVAL		/* an argument makes no sense */
#define FI_EMFILE		EMFILE		/* out of descriptors */
#define FI_ENOSPC		ENOSPC		/* out of room on the device */
#define FI_ENOSYS		ENOSYS		/* not implemented by this object */
#define FI_ENOMSG		ENOMSG		/* no message matches */
#define FI_ENODATA		ENODATA		/* nothing fits the hints */
#define FI_EPROTO		EPROTO		/* the peer broke the protocol */
#define FI_EOVERFLOW		EOVERFLOW	/* value does not fit its type */
#define FI_EMSGSIZE		EMSGSIZE	/* longer than the endpoint can send */
#define FI_ENOPROTOOPT		ENOPROTOOPT	/* no such option at this level */
#define FI_EOPNOTSUPP		EOPNOTSUPP	/* known, but not on this object */
#define FI_EADDRINUSE		EADDRINUSE	/* the address is taken */
#define FI_EADDRNOTAVAIL	EADDRNOTAVAIL	/* the address cannot be used here */
#define FI_ENETDOWN		ENETDOWN	/* network is down */
#define FI_ENETUNREACH		ENETUNREACH	/* no route to that network */
#define FI_ECONNABORTED		ECONNABORTED	/* connection aborted locally */
#define FI_ECONNRESET		ECONNRESET	/* connection was lost */
#define FI_ENOBUFS		ENOBUFS		/* out of buffers */
#define FI_EISCONN		EISCONN		/* already connected */
#define FI_ENOTCONN		ENOTCONN	/* not connected */
#define FI_ESHUTDOWN		ESHUTDOWN	/* endpoint was shut down */
#define FI_ETIMEDOUT		ETIMEDOUT	/* timeout */
#define FI_ECONNREFUSED		ECONNREFUSED	/* peer refused the connection */
#define FI_EHOSTDOWN		EHOSTDOWN	/* peer host is down */
#define FI_EHOSTUNREACH		EHOSTUNREACH	/* no route to that host */
#define FI_EALREADY		EALREADY	/* already in progress */
#define FI_EINPROGRESS		EINPROGRESS	/* started, not done yet */
#define FI_EREMOTEIO		EREMOTEIO	/* failed at the peer */
#define FI_ECANCELED		ECANCELED	/* cancelled by fi_cancel or a close */
#define FI_EKEYREJECTED		EKEYREJECTED	/* authorization key refused */
enum {
	FI_EOTHER = FI_ERRNO_OFFSET,	/* unspecified error */
	FI_ETOOSMALL,			/* caller's buffer too small; the size needed is stored */
	FI_EOPBADSTATE,			/* not in the state the call needs */
	FI_EAVAIL,			/* an error entry waits: call the readerr of the queue */
	FI_EBADFLAGS,			/* a flag this call does not take */
	FI_ENOEQ,			/* no event queue bound */
	FI_EDOMAIN,			/* objects of two different domains */
	FI_ENOCQ,			/* no completion queue bound */
	FI_ECRC,			/* checksum did not match */
	FI_ETRUNC,			/* message longer than the posted buffer */
	FI_ENOKEY,			/* no key, or a wrong one */
	FI_ENOAV,			/* no address vector bound */
	FI_EOVERRUN,			/* a queue overflowed and lost entries */
	FI_ENORX,			/* receiver was not ready */
	FI_ENOMR,			/* no memory registration to use */
	FI_EFIREWALLADDR,		/* address lies behind a firewall */
	FI_ERRNO_MAX			/* one past the last */
};


/* ---- rdma/fabric.h ---- */

#define FI_MAJOR_VERSION	2
#define FI_MINOR_VERSION	7
#define FI_REVISION_VERSION	0
#define FI_VERSION(major, minor)	(((major) << 16) | (minor))
#define FI_MAJOR(version)		((version) >> 16)
#define FI_MINOR(version)		((version) & 0xFFFF)
#define FI_VERSION_GE(v1, v2)		((v1) >= (v2))
#define FI_VERSION_LT(v1, v2)		((v1) < (v2))
#define FI_MSG			(1ULL << 1)	/* send and receive */
#define FI_RMA			(1ULL << 2)	/* read and write remote memory */
#define FI_TAGGED		(1ULL << 3)	/* send and receive matched by tag */
#define FI_ATOMIC		(1ULL << 4)	/* atomic updates of remote memory */
#define FI_ATOMICS		FI_ATOMIC
#define FI_MULTICAST		(1ULL << 5)	/* datagrams to a group */
#define FI_COLLECTIVE		(1ULL << 6)	/* collective operations */
#define FI_READ			(1ULL << 8)	/* this side reads remote memory */
#define FI_WRITE		(1ULL << 9)	/* this side writes remote memory */
#define FI_RECV			(1ULL << 10)
#define FI_SEND			(1ULL << 11)
#define FI_TRANSMIT		FI_SEND
#define FI_REMOTE_READ		(1ULL << 12)	/* peers read local memory */
#define FI_REMOTE_WRITE		(1ULL << 13)	/* peers write local memory */
#define FI_MULTI_RECV		(1ULL << 16)	/* one buffer takes many messages */
#define FI_REMOTE_CQ_DATA	(1ULL << 17)	/* data for the peer's completion */
#define FI_MORE			(1ULL << 18)	/* another call follows at once: may be batched */
#define FI_PEEK			(1ULL << 19)	/* look for a message without receiving it */
#define FI_TRIGGER		(1ULL << 20)	/* starts when a condition is met */
#define FI_FENCE		(1ULL << 21)	/* starts after earlier ones to that peer */
#define FI_COMPLETION		(1ULL << 24)	/* report this one */
#define FI_EVENT		FI_COMPLETION	/* report the end on the event queue */
#define FI_INJECT		(1ULL << 25)	/* buffer is free when the call returns */
#define FI_INJECT_COMPLETE	(1ULL << 26)	/* done: the buffer may be reused */
#define FI_TRANSMIT_COMPLETE	(1ULL << 27)	/* done: no longer depends on this side */
#define FI_DELIVERY_COMPLETE	(1ULL << 28)	/* done: the peer's memory has it */
#define FI_AFFINITY		(1ULL << 29)	/* signaling_vector: processor */
#define FI_COMMIT_COMPLETE	(1ULL << 30)	/* done: persistent at the peer */
#define FI_MATCH_COMPLETE	(1ULL << 31)	/* done: matched a posted receive */
#define FI_RESCAN		(1ULL << 35)	/* fi_getinfo: read the system's state again */
#define FI_PEER_TRANSFER	(1ULL << 36)	/* endpoint is opened as another provider's peer */
#define FI_AV_USER_ID		(1ULL << 41)	/* caller names the sources itself */
#define FI_FIREWALL_ADDR	(1ULL << 42)	/* peer cannot be connected to: it connects to us */
#define FI_PEER			(1ULL << 43)	/* object is opened as another provider's peer */
#define FI_XPU			(1ULL << 44)	/* a device posts transfers and reads completions */
#define FI_TAGGED_DIRECTED_RECV	(1ULL << 45)	/* FI_DIRECTED_RECV, tagged only */
#define FI_TAGGED_MULTI_RECV	(1ULL << 46)	/* FI_MULTI_RECV for tagged receives */
#define FI_HMEM			(1ULL << 47)	/* buffers may be device memory */
#define FI_EXACT_DIRECTED_RECV	(1ULL << 48)	/* every receive names its source */
#define FI_RMA_PMEM		(1ULL << 49)	/* remote memory may be persistent */
#define FI_SOURCE_ERR		(1ULL << 50)	/* unknown source: FI_EADDRNOTAVAIL */
#define FI_LOCAL_COMM		(1ULL << 51)	/* peers on this host */
#define FI_REMOTE_COMM		(1ULL << 52)	/* peers on other hosts */
#define FI_SHARED_AV		(1ULL << 53)	/* address vectors may be shared by processes */
#define FI_PROV_ATTR_ONLY	(1ULL << 54)	/* fi_getinfo: only the provider, no resources */
#define FI_NUMERICHOST		(1ULL << 55)	/* fi_getinfo: node is a number, do not resolve */
#define FI_RMA_EVENT		(1ULL << 56)	/* RMA and atomics count at the target */
#define FI_SOURCE		(1ULL << 57)	/* getinfo: node is ours; caps: name senders */
#define FI_NAMED_RX_CTX		(1ULL << 58)	/* senders may pick one receive context */
#define FI_DIRECTED_RECV	(1ULL << 59)	/* a receive may name its source */
#define FI_CLAIM		(1ULL << 59)	/* keep what the peek found, or receive it */
#define FI_DISCARD		(1ULL << 58)	/* drop what the peek found or claimed */
#define FI_AUTH_KEY		(1ULL << 57)	/* registration names its authorization key */
#define FI_CONTEXT		(1ULL << 59)	/* op context points to a struct fi_context */
#define FI_MSG_PREFIX		(1ULL << 58)	/* leave room before the data for a header */
#define FI_ASYNC_IOV		(1ULL << 57)	/* iov arrays stay valid until completion */
#define FI_RX_CQ_DATA		(1ULL << 56)	/* remote data uses up a posted receive */
#define FI_LOCAL_MR		(1ULL << 55)	/* before 1.5: as FI_MR_LOCAL */
#define FI_CONTEXT2		(1ULL << 52)	/* op context points to a struct fi_context2 */
#define FI_SELECTIVE_COMPLETION	(1ULL << 59)
#define FI_VARIABLE_MSG		0ULL
#define FI_RESTRICTED_COMP	0ULL
#define FI_NOTIFY_FLAGS_ONLY	0ULL
#define FI_EP_SOCK_STREAM	0
#define FI_ORDER_NONE		0ULL
#define FI_ORDER_RAR		(1ULL << 0)
#define FI_ORDER_RAW		(1ULL << 1)
#define FI_ORDER_RAS		(1ULL << 2)
#define FI_ORDER_WAR		(1ULL << 3)
#define FI_ORDER_WAW		(1ULL << 4)
#define FI_ORDER_WAS		(1ULL << 5)
#define FI_ORDER_SAR		(1ULL << 6)
#define FI_ORDER_SAW		(1ULL << 7)
#define FI_ORDER_SAS		(1ULL << 8)
#define FI_ORDER_STRICT		0x1FF		/* completions in order of posting */
#define FI_ORDER_DATA		(1ULL << 16)	/* bytes land in order within a message too */
#define FI_ORDER_RMA_RAR	(1ULL << 32)
#define FI_ORDER_RMA_RAW	(1ULL << 33)
#define FI_ORDER_RMA_WAR	(1ULL << 34)
#define FI_ORDER_RMA_WAW	(1ULL << 35)
#define FI_ORDER_ATOMIC_RAR	(1ULL << 36)
#define FI_ORDER_ATOMIC_RAW	(1ULL << 37)
#define FI_ORDER_ATOMIC_WAR	(1ULL << 38)
#define FI_ORDER_ATOMIC_WAW	(1ULL << 39)
#define FI_MR_UNSPEC		0
#define FI_MR_BASIC		(1 << 0)	/* before 1.5: VIRT_ADDR, ALLOCATED and PROV_KEY */
#define FI_MR_SCALABLE		(1 << 1)	/* before 1.5: none of those three */
#define FI_MR_LOCAL		(1 << 2)	/* local buffers need a descriptor */
#define FI_MR_RAW		(1 << 3)	/* keys are longer than 64 bits */
#define FI_MR_VIRT_ADDR		(1 << 4)	/* peers use our addresses, not offsets */
#define FI_MR_ALLOCATED		(1 << 5)	/* pages must exist when registered */
#define FI_MR_PROV_KEY		(1 << 6)	/* the provider chooses the key */
#define FI_MR_MMU_NOTIFY	(1 << 7)	/* caller reports changed mappings */
#define FI_MR_RMA_EVENT		(1 << 8)	/* say at registration that events are wanted */
#define FI_MR_ENDPOINT		(1 << 9)	/* bind to an endpoint, then enable */
#define FI_MR_HMEM		(1 << 10)	/* device memory must be registered */
#define FI_MR_COLLECTIVE	(1 << 11)	/* buffers of collectives must be registered */
#define FI_MR_XPU_DESC		(1 << 12)	/* calls of a device need a descriptor for it */
typedef uint64_t		fi_addr_t;
typedef struct fid		*fid_t;
#define FI_ADDR_NOTAVAIL	((uint64_t) -1)	/* no address: not inserted, or not known */
#define FI_ADDR_UNSPEC		((uint64_t) -1)	/* any source */
#define FI_KEY_NOTAVAIL		((uint64_t) -1)	/* key is longer than 64 bits: ask for it raw */
#define FI_SHARED_CONTEXT	((size_t) -1)	/* tx/rx_ctx_cnt: use a shared context */
#define FI_AV_AUTH_KEY		((size_t) -1)	/* auth_key_size: keys come from the AV */
enum {
	FI_NAME_MAX = 64		/* longest string address, with its NUL */
};

enum {
	FI_FORMAT_UNSPEC,
	FI_SOCKADDR,			/* any sockaddr; sa_family says which */
	FI_SOCKADDR_IN,
	FI_SOCKADDR_IN6,
	FI_SOCKADDR_IB,
	FI_ADDR_PSMX,
	FI_ADDR_GNI,
	FI_ADDR_BGQ,
	FI_ADDR_MLX,
	FI_ADDR_STR,			/* NUL-terminated text, at most FI_NAME_MAX */
	FI_ADDR_PSMX2,
	FI_ADDR_IB_UD,
	FI_ADDR_EFA,
	FI_ADDR_PSMX3,
	FI_ADDR_OPX,
	FI_ADDR_CXI,
	FI_ADDR_UCX,
	FI_SOCKADDR_IP			/* sockaddr_in or sockaddr_in6 */
};

enum fi_av_type {
	FI_AV_UNSPEC,
	FI_AV_MAP,			/* any value; older programs only */
	FI_AV_TABLE			/* the lowest number not in use: 0, 1, 2... */
};

enum fi_progress {
	FI_PROGRESS_UNSPEC,
	FI_PROGRESS_AUTO,		/* a thread of the provider */
	FI_PROGRESS_MANUAL,		/* the program's, by reading queues and counters */
	FI_PROGRESS_CONTROL_UNIFIED	/* manual; data progress drives control too */
};

enum fi_threading {
	FI_THREAD_UNSPEC,
	FI_THREAD_SAFE,			/* no promise */
	FI_THREAD_FID,			/* one thread per object; older programs only */
	FI_THREAD_DOMAIN,		/* one thread per domain */
	FI_THREAD_COMPLETION,		/* one thread per queue and what is bound to it */
	FI_THREAD_ENDPOINT		/* one thread per endpoint; older programs only */
};

enum fi_resource_mgmt {
	FI_RM_UNSPEC,
	FI_RM_DISABLED,
	FI_RM_ENABLED
};

enum fi_ep_type {
	FI_EP_UNSPEC,
	FI_EP_MSG,			/* connected, reliable, in order */
	FI_EP_DGRAM,			/* unconnected, may be lost */
	FI_EP_RDM			/* unconnected, reliable */
};

enum {
	FI_PROTO_UNSPEC,
	FI_PROTO_RDMA_CM_IB_RC,
	FI_PROTO_IWARP,
	FI_PROTO_IB_UD,
	FI_PROTO_PSMX,
	FI_PROTO_UDP,
	FI_PROTO_SOCK_TCP,
	FI_PROTO_MXM,
	FI_PROTO_IWARP_RDM,
	FI_PROTO_IB_RDM,
	FI_PROTO_GNI,
	FI_PROTO_RXM,
	FI_PROTO_RXD,
	FI_PROTO_MLX,
	FI_PROTO_NETWORKDIRECT,
	FI_PROTO_PSMX2,
	FI_PROTO_SHM,
	FI_PROTO_MRAIL,
	FI_PROTO_RSTREAM,
	FI_PROTO_RDMA_CM_IB_XRC,
	FI_PROTO_EFA,
	FI_PROTO_PSMX3,
	FI_PROTO_RXM_TCP,
	FI_PROTO_OPX,
	FI_PROTO_CXI,
	FI_PROTO_XNET,
	FI_PROTO_COLL,
	FI_PROTO_UCX,
	FI_PROTO_SM2,
	FI_PROTO_CXI_RNR,
	FI_PROTO_LPP,
	FI_PROTO_LNX
};

enum {
	FI_TAG_BITS,			/* as the bit pattern says */
	FI_TAG_MPI,			/* see fi_tag_mpi() */
	FI_TAG_CCL,			/* as FI_TAG_MPI, for other collective libraries */
	FI_TAG_MAX_FORMAT = 1 << 16	/* bit patterns are larger than this */
};

enum {
	FI_ATOMIC_OP_LAST = 19
};

enum {
	FI_DATATYPE_LAST = 14
};

enum {
	FI_TC_UNSPEC,
	FI_TC_DSCP = 0x100,		/* | DSCP number, see fi_tc_dscp_set() */
	FI_TC_LABEL = 0x200,		/* the labels below */
	FI_TC_BEST_EFFORT = FI_TC_LABEL,
	FI_TC_LOW_LATENCY,
	FI_TC_DEDICATED_ACCESS,
	FI_TC_BULK_DATA,
	FI_TC_SCAVENGER,
	FI_TC_NETWORK_CTRL
};

struct fi_ioc {
	void	*addr;
	size_t	count;
};

struct fi_tx_attr {
	uint64_t	caps;		/* subset of fi_info::caps used to transmit */
	uint64_t	mode;		/* what the provider asks of the caller */
	uint64_t	op_flags;	/* flags of every call that takes none */
	uint64_t	msg_order;	/* FI_ORDER_ kept towards one peer */
	uint64_t	comp_order;	/* unused, for older programs */
	size_t		inject_size;	/* longest inject, bytes */
	size_t		size;		/* operations that fit in the queue */
	size_t		iov_limit;	/* local buffers per operation */
	size_t		rma_iov_limit;	/* remote buffers per operation */
	uint32_t	tclass;		/* traffic class, FI_TC_ */
};

struct fi_rx_attr {
	uint64_t	caps;		/* subset of fi_info::caps used to receive */
	uint64_t	mode;		/* what the provider asks of the caller */
	uint64_t	op_flags;	/* flags of every call that takes none */
	uint64_t	msg_order;	/* FI_ORDER_ kept from one peer */
	uint64_t	comp_order;	/* unused, for older programs */
	/* unused, for older programs */
	size_t		total_buffered_recv;
	size_t		size;		/* receives that can be posted */
	size_t		iov_limit;	/* buffers per receive */
};

struct fi_ep_attr {
	enum fi_ep_type	type;
	uint32_t	protocol;		/* FI_PROTO_ */
	uint32_t	protocol_version;	/* compared only within one protocol */
	size_t		max_msg_size;		/* longest message, bytes */
	size_t		msg_prefix_size;	/* bytes to leave in front with FI_MSG_PREFIX */
	/* read after write keeps its order up to here, bytes */
	size_t		max_order_raw_size;
	size_t		max_order_war_size;	/* write after read */
	size_t		max_order_waw_size;	/* write after write */
	/* FI_TAG_ or a pattern: bits that alternate end a field */
	uint64_t	mem_tag_format;
	size_t		tx_ctx_cnt;		/* transmit contexts, or FI_SHARED_CONTEXT */
	size_t		rx_ctx_cnt;		/* receive contexts, or FI_SHARED_CONTEXT */
	size_t		auth_key_size;		/* bytes, or FI_AV_AUTH_KEY */
	uint8_t		*auth_key;		/* owned by the fi_info */
	struct fid_xpu_ctx *xpu_ctx;		/* context of the device, with FI_XPU; not owned */
};

struct fi_domain_attr {
	struct fid_domain	*domain;		/* an open domain to use, or NULL */
	/* interface or device, owned by the fi_info */
	char			*name;
	enum fi_threading	threading;		/* what the caller promises */
	enum fi_progress	control_progress;	/* connections, addresses, registrations */
	__extension__ union {
		enum fi_progress	data_progress;	/* transfers */
		enum fi_progress	progress;	/* both, from 2.0 on */
	};
	enum fi_resource_mgmt	resource_mgmt;
	enum fi_av_type		av_type;
	/* FI_MR_ bits that the caller takes care of */
	int			mr_mode;
	size_t			mr_key_size;		/* bytes of a remote key */
	size_t			cq_data_size;		/* bytes of remote data in a completion */
	/* queues that make good use of the device */
	size_t			cq_cnt;
	/* endpoints that make good use of the device */
	size_t			ep_cnt;
	size_t			tx_ctx_cnt;		/* transmit contexts, likewise */
	size_t			rx_ctx_cnt;		/* receive contexts, likewise */
	size_t			max_ep_tx_ctx;		/* most per scalable endpoint */
	size_t			max_ep_rx_ctx;
	size_t			max_ep_stx_ctx;		/* most endpoints on one shared context */
	size_t			max_ep_srx_ctx;
	/* counters that make good use of the device */
	size_t			cntr_cnt;
	size_t			mr_iov_limit;		/* buffers per registration */
	uint64_t		caps;			/* capabilities of the domain */
	uint64_t		mode;			/* modes of the domain */
	uint8_t			*auth_key;		/* default key, owned by the fi_info */
	size_t			auth_key_size;		/* bytes, or FI_AV_AUTH_KEY */
	size_t			max_err_data;		/* longest err_data, bytes */
	/* registrations that make good use of the device */
	size_t			mr_cnt;
	uint32_t		tclass;			/* default traffic class */
	size_t			max_ep_auth_key;	/* keys per endpoint */
	uint32_t		max_group_id;		/* largest group number */
	uint64_t		max_cntr_value;		/* a counter wraps after this */
	uint64_t		max_err_cntr_value;	/* and its error half after this */
	size_t			max_xpu_ctx_cnt;	/* XPU contexts of the domain, 0: no FI_XPU */
};

struct fi_fabric_attr {
	struct fid_fabric	*fabric;	/* an open fabric to use, or NULL */
	char			*name;		/* network, owned by the fi_info */
	/* provider; layers joined by ';', as in "udp;ofi_rxd" */
	char			*prov_name;
	uint32_t		prov_version;	/* of the provider, not the interface */
	uint32_t		api_version;	/* interface the program asked for */
};

enum fi_bus_type {
	FI_BUS_UNSPEC,
	FI_BUS_UNKNOWN = FI_BUS_UNSPEC,
	FI_BUS_PCI
};

enum fi_link_state {
	FI_LINK_UNKNOWN,
	FI_LINK_DOWN,
	FI_LINK_UP
};

enum {
	FI_CLASS_UNSPEC,
	FI_CLASS_FABRIC,
	FI_CLASS_DOMAIN,
	FI_CLASS_EP,
	FI_CLASS_SEP,
	FI_CLASS_RX_CTX,
	FI_CLASS_SRX_CTX,
	FI_CLASS_TX_CTX,
	FI_CLASS_STX_CTX,
	FI_CLASS_PEP,
	FI_CLASS_INTERFACE,
	FI_CLASS_AV,
	FI_CLASS_MR,
	FI_CLASS_EQ,
	FI_CLASS_CQ,
	FI_CLASS_CNTR,
	FI_CLASS_WAIT,
	FI_CLASS_POLL,
	FI_CLASS_CONNREQ,
	FI_CLASS_MC,
	FI_CLASS_NIC,
	FI_CLASS_AV_SET,
	FI_CLASS_MR_CACHE,
	FI_CLASS_MEM_MONITOR,
	FI_CLASS_PEER_CQ,
	FI_CLASS_PEER_SRX,
	FI_CLASS_LOG,
	FI_CLASS_PEER_AV,
	FI_CLASS_PEER_AV_SET,
	FI_CLASS_PEER_CNTR,
	FI_CLASS_PROFILE,
	FI_CLASS_XPU_CTX
};

enum {
	FI_GETFIDFLAG,		/* uint64_t *: flags of the object */
	FI_SETFIDFLAG,		/* uint64_t * */
	FI_GETOPSFLAG,		/* uint64_t *: FI_TRANSMIT or FI_RECV in, op_flags out */
	FI_SETOPSFLAG,		/* uint64_t *: FI_TRANSMIT or FI_RECV, and the op_flags */
	FI_ALIAS,		/* struct fi_alias * */
	FI_GETWAIT,		/* by wait object: int *fd, struct fi_mutex_cond *, ... */
	FI_ENABLE,		/* NULL */
	FI_BACKLOG,		/* int *: pending connection requests */
	FI_GET_RAW_MR,		/* struct fi_mr_raw_attr * */
	FI_MAP_RAW_MR,		/* struct fi_mr_map_raw * */
	FI_UNMAP_KEY,		/* uint64_t *key */
	FI_QUEUE_WORK,		/* struct fi_deferred_work * */
	FI_CANCEL_WORK,		/* struct fi_deferred_work * */
	FI_FLUSH_WORK,		/* NULL */
	FI_REFRESH,		/* struct fi_mr_modify * */
	FI_DUP,			/* struct fid **: a copy */
	FI_GETWAITOBJ,		/* enum fi_wait_obj * */
	FI_GET_VAL,		/* struct fi_fid_var * */
	FI_SET_VAL,		/* struct fi_fid_var * */
	FI_EXPORT_FID,		/* struct fi_fid_export * */
	FI_GET_FD,		/* int * */
	FI_GET_MR_XPU_DESC	/* struct fi_mr_xpu_desc * */
};

#define FI_CHECK_OP(ops, opstype, op) \
	((ops) && (ops)->size >= offsetof(opstype, op) + sizeof((ops)->op) && \
	 (ops)->op)
struct fi_ops {
	size_t	size;
	/* releases the object; -FI_EBUSY while others depend on it */
	int (*close)(struct fid *fid);
	/* binds another object to this one */
	int (*bind)(struct fid *fid, struct fid *bfid, uint64_t flags);
	int (*control)(struct fid *fid, int command, void *arg);
	/* finds provider-specific calls by name */
	int (*ops_open)(struct fid *fid, const char *name, uint64_t flags,
			void **ops, void *context);
	/* prints the object, at most len bytes with the NUL */
	int (*tostr)(const struct fid *fid, char *buf, size_t len);
	/* passes operations of the caller to the object */
	int (*ops_set)(struct fid *fid, const char *name, uint64_t flags,
			void *ops, void *context);
};

struct fid {
	size_t		fclass;		/* FI_CLASS_ */
	void		*context;	/* the opener's, returned with events */
	struct fi_ops	*ops;
};

struct fi_info {
	struct fi_info		*next;
	uint64_t		caps;		/* what it can do */
	uint64_t		mode;		/* what it asks of the caller */
	uint32_t		addr_format;	/* of the two addresses */
	size_t			src_addrlen;	/* bytes */
	size_t			dest_addrlen;	/* bytes */
	void			*src_addr;	/* ours */
	void			*dest_addr;	/* the peer's, when a node was given */
	/* connection request or passive endpoint, or NULL */
	fid_t			handle;
	struct fi_tx_attr	*tx_attr;
	struct fi_rx_attr	*rx_attr;
	struct fi_ep_attr	*ep_attr;
	struct fi_domain_attr	*domain_attr;
	struct fi_fabric_attr	*fabric_attr;
	struct fid_nic		*nic;		/* the device, or NULL */
};

struct fi_ops_fabric {
	size_t	size;
	int (*domain)(struct fid_fabric *fabric, struct fi_info *info,
			struct fid_domain **domain, void *context);
	int (*passive_ep)(struct fid_fabric *fabric, struct fi_info *info,
			struct fid_pep **pep, void *context);
	int (*eq_open)(struct fid_fabric *fabric, struct fi_eq_attr *attr,
			struct fid_eq **eq, void *context);
	int (*wait_open)(struct fid_fabric *fabric, struct fi_wait_attr *attr,
			struct fid_wait **waitset);
	int (*trywait)(struct fid_fabric *fabric, struct fid **fids, int count);
	int (*domain2)(struct fid_fabric *fabric, struct fi_info *info,
			struct fid_domain **domain, uint64_t flags,
			void *context);
};

enum fi_param_type {
	FI_PARAM_STRING,
	FI_PARAM_INT,
	FI_PARAM_BOOL,
	FI_PARAM_SIZE_T
};

enum fi_type {
	FI_TYPE_INFO,
	FI_TYPE_EP_TYPE,
	FI_TYPE_CAPS,
	FI_TYPE_OP_FLAGS,
	FI_TYPE_ADDR_FORMAT,
	FI_TYPE_TX_ATTR,
	FI_TYPE_RX_ATTR,
	FI_TYPE_EP_ATTR,
	FI_TYPE_DOMAIN_ATTR,
	FI_TYPE_FABRIC_ATTR,
	FI_TYPE_THREADING,
	FI_TYPE_PROGRESS,
	FI_TYPE_PROTOCOL,
	FI_TYPE_MSG_ORDER,
	FI_TYPE_MODE,
	FI_TYPE_AV_TYPE,
	FI_TYPE_ATOMIC_TYPE,
	FI_TYPE_ATOMIC_OP,
	FI_TYPE_VERSION,		/* data not read: the library's version */
	FI_TYPE_EQ_EVENT,
	FI_TYPE_CQ_EVENT_FLAGS,
	FI_TYPE_MR_MODE,
	FI_TYPE_OP_TYPE,
	FI_TYPE_FID,
	FI_TYPE_COLLECTIVE_OP,
	FI_TYPE_HMEM_IFACE,
	FI_TYPE_CQ_FORMAT,
	FI_TYPE_LOG_LEVEL,
	FI_TYPE_LOG_SUBSYS,
	FI_TYPE_AV_ATTR,
	FI_TYPE_CQ_ATTR,
	FI_TYPE_MR_ATTR,
	FI_TYPE_CNTR_ATTR,
	FI_TYPE_CQ_ERR_ENTRY,
	FI_TYPE_CQ_WAIT_COND,
	FI_TYPE_WAIT_OBJ
};


/* ---- rdma/fi_eq.h ---- */

enum fi_wait_obj {
	FI_WAIT_NONE,			/* nothing: it only polls */
	FI_WAIT_UNSPEC,			/* the calls here; provider's choice inside */
	FI_WAIT_SET,			/* a wait set; older programs only */
	FI_WAIT_FD,			/* one descriptor */
	FI_WAIT_MUTEX_COND,		/* mutex and condition; older programs only */
	FI_WAIT_YIELD,			/* the calls here; they yield the processor */
	FI_WAIT_POLLFD			/* a changing set of descriptors */
};

enum {
	FI_NOTIFY,			/* fi_eq_entry */
	FI_CONNREQ,			/* fi_eq_cm_entry; info is the reader's */
	FI_CONNECTED,			/* fi_eq_cm_entry */
	FI_SHUTDOWN,			/* fi_eq_cm_entry */
	FI_MR_COMPLETE,			/* fi_eq_entry */
	FI_AV_COMPLETE,			/* fi_eq_entry; data counts what was inserted */
	FI_JOIN_COMPLETE		/* fi_eq_entry */
};

struct fi_eq_entry {
	fid_t		fid;		/* object it is about */
	void		*context;	/* its opener's, or the operation's */
	uint64_t	data;		/* depends on the event */
};

struct fi_eq_err_entry {
	fid_t		fid;
	void		*context;
	uint64_t	data;
	int		err;		/* FI_E number, positive */
	int		prov_errno;	/* the provider's own, for fi_eq_strerror() */
	void		*err_data;	/* [in] room for detail; [out] the detail */
	/* [in] bytes of room, 0: provider's own buffer; [out] bytes */
	size_t		err_data_size;
};

struct fi_eq_cm_entry {
	fid_t		fid;
	struct fi_info	*info;	/* FI_CONNREQ: to open the endpoint with; reader frees it */
	__extension__ uint8_t data[];	/* private data of the peer */
};

struct fi_ops_eq {
	size_t	size;
	ssize_t (*read)(struct fid_eq *eq, uint32_t *event, void *buf,
			size_t len, uint64_t flags);
	ssize_t (*readerr)(struct fid_eq *eq, struct fi_eq_err_entry *buf,
			uint64_t flags);
	ssize_t (*write)(struct fid_eq *eq, uint32_t event, const void *buf,
			size_t len, uint64_t flags);
	ssize_t (*sread)(struct fid_eq *eq, uint32_t *event, void *buf,
			size_t len, int timeout, uint64_t flags);
	const char *(*strerror)(struct fid_eq *eq, int prov_errno,
			const void *err_data, char *buf, size_t len);
};

struct fid_eq {
	struct fid		fid;
	struct fi_ops_eq	*ops;
};

enum fi_cq_format {
	FI_CQ_FORMAT_UNSPEC,
	FI_CQ_FORMAT_CONTEXT,		/* fi_cq_entry */
	FI_CQ_FORMAT_MSG,		/* fi_cq_msg_entry */
	FI_CQ_FORMAT_DATA,		/* fi_cq_data_entry */
	FI_CQ_FORMAT_TAGGED		/* fi_cq_tagged_entry */
};

struct fi_cq_entry {
	void	*op_context;	/* as passed to the operation */
};

struct fi_cq_msg_entry {
	void		*op_context;
	uint64_t	flags;	/* kind of operation: FI_SEND, FI_RECV, FI_MSG, FI_TAGGED... */
	size_t		len;	/* bytes received */
};

struct fi_cq_data_entry {
	void		*op_context;
	uint64_t	flags;
	size_t		len;
	void		*buf;	/* FI_MULTI_RECV: where the message lies */
	uint64_t	data;	/* the sender's, with FI_REMOTE_CQ_DATA in flags */
};

struct fi_cq_tagged_entry {
	void		*op_context;
	uint64_t	flags;
	size_t		len;
	void		*buf;
	uint64_t	data;
	uint64_t	tag;	/* as sent */
};

struct fi_cq_err_entry {
	void		*op_context;
	uint64_t	flags;
	size_t		len;
	void		*buf;
	uint64_t	data;
	uint64_t	tag;
	size_t		olen;		/* bytes that did not fit */
	int		err;		/* FI_E number, positive */
	int		prov_errno;	/* the provider's own, for fi_cq_strerror() */
	void		*err_data;	/* [in] room for detail; [out] the detail */
	/* [in] bytes of room, 0: provider's own buffer; [out] bytes */
	size_t		err_data_size;
	fi_addr_t	src_addr;	/* FI_SOURCE_ERR: whose operation failed, from 1.20 on */
};

enum fi_cq_wait_cond {
	FI_CQ_COND_NONE,		/* any completion */
	FI_CQ_COND_THRESHOLD		/* so many; cond points to a size_t */
};

struct fi_ops_cq {
	size_t	size;
	ssize_t (*read)(struct fid_cq *cq, void *buf, size_t count);
	ssize_t (*readfrom)(struct fid_cq *cq, void *buf, size_t count,
			fi_addr_t *src_addr);
	ssize_t (*readerr)(struct fid_cq *cq, struct fi_cq_err_entry *buf,
			uint64_t flags);
	ssize_t (*sread)(struct fid_cq *cq, void *buf, size_t count,
			const void *cond, int timeout);
	ssize_t (*sreadfrom)(struct fid_cq *cq, void *buf, size_t count,
			fi_addr_t *src_addr, const void *cond, int timeout);
	int (*signal)(struct fid_cq *cq);
	const char *(*strerror)(struct fid_cq *cq, int prov_errno,
			const void *err_data, char *buf, size_t len);
	int (*export_xpu)(struct fid_cq *cq, uint64_t flags,
			struct fid_xpu_cq *xpu_cq);
};

struct fid_cq {
	struct fid		fid;
	struct fi_ops_cq	*ops;
};

enum fi_cntr_events {
	FI_CNTR_EVENTS_COMP,		/* operations */
	FI_CNTR_EVENTS_BYTES		/* bytes moved */
};

struct fi_ops_cntr {
	size_t	size;
	uint64_t (*read)(struct fid_cntr *cntr);
	uint64_t (*readerr)(struct fid_cntr *cntr);
	int (*add)(struct fid_cntr *cntr, uint64_t value);
	int (*set)(struct fid_cntr *cntr, uint64_t value);
	int (*wait)(struct fid_cntr *cntr, uint64_t threshold, int timeout);
	int (*adderr)(struct fid_cntr *cntr, uint64_t value);
	int (*seterr)(struct fid_cntr *cntr, uint64_t value);
	int (*export_xpu)(struct fid_cntr *cntr, uint64_t flags,
			struct fid_xpu_cntr *xpu_cntr);
};

struct fid_cntr {
	struct fid		fid;
	struct fi_ops_cntr	*ops;
};


/* ---- rdma/fi_domain.h ---- */

#define FI_SYMMETRIC		(1ULL << 59)	/* every host has the same endpoints, in sequence */
#define FI_SYNC_ERR		(1ULL << 58)	/* context is int *: one error per address */
#define FI_UNIVERSE		(1ULL << 57)	/* an AV set starts out with all of the AV */
#define FI_BARRIER_SET		(1ULL << 40)
#define FI_BROADCAST_SET	(1ULL << 41)
#define FI_ALLTOALL_SET		(1ULL << 42)
#define FI_ALLREDUCE_SET	(1ULL << 43)
#define FI_ALLGATHER_SET	(1ULL << 44)
#define FI_REDUCE_SCATTER_SET	(1ULL << 45)
#define FI_REDUCE_SET		(1ULL << 46)
#define FI_SCATTER_SET		(1ULL << 47)
#define FI_GATHER_SET		(1ULL << 48)
struct fi_av_attr {
	enum fi_av_type	type;
	int		rx_ctx_bits;	/* bits of fi_addr_t kept for fi_rx_addr() */
	size_t		count;		/* addresses expected */
	size_t		ep_per_node;	/* endpoints per host expected, 0: not known */
	const char	*name;		/* of a shared one, or NULL */
	void		*map_addr;	/* [out] base of a shared one */
	uint64_t	flags;		/* FI_READ: share read-only; FI_EVENT, FI_SYMMETRIC */
};

struct fi_ops_av {
	size_t	size;
	int (*insert)(struct fid_av *av, const void *addr, size_t count,
			fi_addr_t *fi_addr, uint64_t flags, void *context);
	int (*insertsvc)(struct fid_av *av, const char *node,
			const char *service, fi_addr_t *fi_addr, uint64_t flags,
			void *context);
	int (*insertsym)(struct fid_av *av, const char *node, size_t nodecnt,
			const char *service, size_t svccnt, fi_addr_t *fi_addr,
			uint64_t flags, void *context);
	int (*remove)(struct fid_av *av, fi_addr_t *fi_addr, size_t count,
			uint64_t flags);
	int (*lookup)(struct fid_av *av, fi_addr_t fi_addr, void *addr,
			size_t *addrlen);
	const char *(*straddr)(struct fid_av *av, const void *addr, char *buf,
			size_t *len);
	int (*av_set)(struct fid_av *av, struct fi_av_set_attr *attr,
			struct fid_av_set **av_set, void *context);
	int (*insert_auth_key)(struct fid_av *av, const void *auth_key,
			size_t auth_key_size, fi_addr_t *fi_addr,
			uint64_t flags);
	int (*lookup_auth_key)(struct fid_av *av, fi_addr_t addr,
			void *auth_key, size_t *auth_key_size);
	int (*set_user_id)(struct fid_av *av, fi_addr_t fi_addr,
			fi_addr_t user_id, uint64_t flags);
	int (*lookup2)(struct fid_av *av, fi_addr_t fi_addr, void *buf,
			size_t *len, uint64_t flags, struct fid_xpu_ctx *ctx);
};

struct fid_av {
	struct fid		fid;
	struct fi_ops_av	*ops;
};

#define FI_MR_DMABUF		(1ULL << 40)	/* attr names a dmabuf, not addresses */
#define FI_MR_SINGLE_USE	(1ULL << 41)	/* valid for one remote access */
#define FI_HMEM_HOST_ALLOC	(1ULL << 45)	/* device memory that the host can access */
#define FI_HMEM_DEVICE_ONLY	(1ULL << 46)	/* device memory that it cannot access */
struct fid_mr {
	struct fid	fid;
	void		*mem_desc;	/* local descriptor, for the desc arguments */
	uint64_t	key;		/* remote key */
};

enum fi_hmem_iface {
	FI_HMEM_SYSTEM,			/* ordinary memory */
	FI_HMEM_CUDA,
	FI_HMEM_ROCR,
	FI_HMEM_ZE,
	FI_HMEM_NEURON,
	FI_HMEM_SYNAPSEAI
};

#define FI_COLLECTIVE_OFFSET	256	/* codes for collectives only start here */
enum fi_datatype {
	FI_INT8,
	FI_UINT8,
	FI_INT16,
	FI_UINT16,
	FI_INT32,
	FI_UINT32,
	FI_INT64,
	FI_UINT64,
	FI_FLOAT,
	FI_DOUBLE,
	FI_FLOAT_COMPLEX,
	FI_DOUBLE_COMPLEX,
	FI_LONG_DOUBLE,
	FI_LONG_DOUBLE_COMPLEX,
	FI_INT128,
	FI_UINT128,
	FI_FLOAT16,
	FI_BFLOAT16,
	FI_FLOAT8_E4M3,
	FI_FLOAT8_E5M2,

	FI_VOID = FI_COLLECTIVE_OFFSET
};

enum fi_op {
	FI_MIN,
	FI_MAX,
	FI_SUM,
	FI_PROD,
	FI_LOR,
	FI_LAND,
	FI_BOR,
	FI_BAND,
	FI_LXOR,
	FI_BXOR,
	FI_ATOMIC_READ,
	FI_ATOMIC_WRITE,
	FI_CSWAP,			/* t = o if c == t */
	FI_CSWAP_NE,			/* t = o if c != t */
	FI_CSWAP_LE,			/* t = o if c <= t */
	FI_CSWAP_LT,			/* t = o if c < t */
	FI_CSWAP_GE,			/* t = o if c >= t */
	FI_CSWAP_GT,			/* t = o if c > t */
	FI_MSWAP,			/* t = (o & c) | (t & ~c) */
	FI_DIFF,			/* t = t - o */

	FI_NOOP = FI_COLLECTIVE_OFFSET
};

enum fi_collective_op {
	FI_BARRIER,
	FI_BROADCAST,
	FI_ALLTOALL,
	FI_ALLREDUCE,
	FI_ALLGATHER,
	FI_REDUCE_SCATTER,
	FI_REDUCE,
	FI_SCATTER,
	FI_GATHER
};

#define FI_REG_MR		(1ULL << 59)
struct fi_ops_domain {
	size_t	size;
	int (*av_open)(struct fid_domain *domain, struct fi_av_attr *attr,
			struct fid_av **av, void *context);
	int (*cq_open)(struct fid_domain *domain, struct fi_cq_attr *attr,
			struct fid_cq **cq, void *context);
	int (*endpoint)(struct fid_domain *domain, struct fi_info *info,
			struct fid_ep **ep, void *context);
	int (*scalable_ep)(struct fid_domain *domain, struct fi_info *info,
			struct fid_ep **sep, void *context);
	int (*cntr_open)(struct fid_domain *domain, struct fi_cntr_attr *attr,
			struct fid_cntr **cntr, void *context);
	int (*poll_open)(struct fid_domain *domain, struct fi_poll_attr *attr,
			struct fid_poll **pollset);
	int (*stx_ctx)(struct fid_domain *domain, struct fi_tx_attr *attr,
			struct fid_stx **stx, void *context);
	int (*srx_ctx)(struct fid_domain *domain, struct fi_rx_attr *attr,
			struct fid_ep **rx_ep, void *context);
	int (*query_atomic)(struct fid_domain *domain,
			enum fi_datatype datatype, enum fi_op op,
			struct fi_atomic_attr *attr, uint64_t flags);
	int (*query_collective)(struct fid_domain *domain,
			enum fi_collective_op coll,
			struct fi_collective_attr *attr, uint64_t flags);
	int (*endpoint2)(struct fid_domain *domain, struct fi_info *info,
			struct fid_ep **ep, uint64_t flags, void *context);
	int (*xpu_ctx)(struct fid_domain *domain, struct fi_xpu_attr *attr,
			struct fid_xpu_ctx **ctx, void *context);
};


/* ---- rdma/fi_endpoint.h ---- */

enum {
	FI_OPT_ENDPOINT
};

enum {
	FI_OPT_MIN_MULTI_RECV,		/* size_t: a multi-receive buffer with less room left is
					 * released */
	FI_OPT_CM_DATA_SIZE,		/* size_t: longest data of fi_connect(), read only */
	FI_OPT_BUFFERED_MIN,		/* size_t: not used */
	FI_OPT_BUFFERED_LIMIT,		/* size_t: not used */
	FI_OPT_SEND_BUF_SIZE,		/* size_t: bytes of the transport's send buffer */
	FI_OPT_RECV_BUF_SIZE,		/* size_t: bytes of its receive buffer */
	FI_OPT_TX_SIZE,			/* size_t: operations in the transmit queue */
	FI_OPT_RX_SIZE,			/* size_t: receives in the receive queue */
	FI_OPT_FI_HMEM_P2P,		/* int: FI_HMEM_P2P_ */
	FI_OPT_XPU_TRIGGER,		/* struct fi_trigger_xpu, read only */
	FI_OPT_CUDA_API_PERMITTED,	/* bool: the provider may call CUDA */
	FI_OPT_SHARED_MEMORY_PERMITTED,	/* bool: peers on this host may be reached by shared memory */
	FI_OPT_MAX_MSG_SIZE,		/* size_t: longest message */
	FI_OPT_MAX_TAGGED_SIZE,		/* size_t: longest tagged message */
	FI_OPT_MAX_RMA_SIZE,		/* size_t: longest read or write */
	FI_OPT_MAX_ATOMIC_SIZE,		/* size_t: longest atomic */
	FI_OPT_INJECT_MSG_SIZE,		/* size_t: longest fi_inject() */
	FI_OPT_INJECT_TAGGED_SIZE,	/* size_t: longest fi_tinject() */
	FI_OPT_INJECT_RMA_SIZE,		/* size_t: longest fi_inject_write() */
	FI_OPT_INJECT_ATOMIC_SIZE,	/* size_t: longest fi_inject_atomic() */
	FI_OPT_FIREWALL_ADDR		/* bool: peers cannot connect to this endpoint: it connects
					 * to them */
};

enum {
	FI_HMEM_P2P_ENABLED,		/* where it works */
	FI_HMEM_P2P_REQUIRED,		/* or fail */
	FI_HMEM_P2P_PREFERRED,		/* even where a copy would be quicker */
	FI_HMEM_P2P_DISABLED		/* always copy */
};

struct fi_ops_ep {
	size_t	size;
	ssize_t (*cancel)(fid_t fid, void *context);
	int (*getopt)(fid_t fid, int level, int optname, void *optval,
			size_t *optlen);
	int (*setopt)(fid_t fid, int level, int optname, const void *optval,
			size_t optlen);
	int (*tx_ctx)(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
			struct fid_ep **tx_ep, void *context);
	int (*rx_ctx)(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
			struct fid_ep **rx_ep, void *context);
	ssize_t (*rx_size_left)(struct fid_ep *ep);
	ssize_t (*tx_size_left)(struct fid_ep *ep);
	int (*export_xpu)(struct fid_ep *ep, uint64_t flags,
			struct fid_xpu_ep *xpu_ep);
};

struct fi_ops_msg {
	size_t	size;
	ssize_t (*recv)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context);
	ssize_t (*recvv)(struct fid_ep *ep, const struct kvec *iov,
			void **desc, size_t count, fi_addr_t src_addr,
			void *context);
	ssize_t (*recvmsg)(struct fid_ep *ep, const struct fi_msg *msg,
			uint64_t flags);
	ssize_t (*send)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, void *context);
	ssize_t (*sendv)(struct fid_ep *ep, const struct kvec *iov,
			void **desc, size_t count, fi_addr_t dest_addr,
			void *context);
	ssize_t (*sendmsg)(struct fid_ep *ep, const struct fi_msg *msg,
			uint64_t flags);
	ssize_t (*inject)(struct fid_ep *ep, const void *buf, size_t len,
			fi_addr_t dest_addr);
	ssize_t (*senddata)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, uint64_t data, fi_addr_t dest_addr,
			void *context);
	ssize_t (*injectdata)(struct fid_ep *ep, const void *buf, size_t len,
			uint64_t data, fi_addr_t dest_addr);
};

struct fid_ep {
	struct fid			fid;
	struct fi_ops_ep		*ops;
	struct fi_ops_cm		*cm;
	struct fi_ops_msg		*msg;
	struct fi_ops_rma		*rma;
	struct fi_ops_tagged		*tagged;
	struct fi_ops_atomic		*atomic;
	struct fi_ops_collective	*collective;
};

struct fid_pep {
	struct fid		fid;
	struct fi_ops_ep	*ops;
	struct fi_ops_cm	*cm;
};


/* ---- rdma/fi_rma.h ---- */

struct fi_rma_iov {
	uint64_t	addr;	/* as above */
	size_t		len;	/* bytes */
	uint64_t	key;	/* fi_mr_key() of the peer's region */
};

struct fi_rma_ioc {
	uint64_t	addr;	/* as above */
	size_t		count;	/* values, not bytes */
	uint64_t	key;	/* fi_mr_key() of the peer's region */
};

struct fi_ops_rma {
	size_t	size;	/* of this structure, where it was compiled */
	/* one local piece; v: several; msg: several on both sides, with flags */
	ssize_t (*read)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t addr, uint64_t key,
			void *context);
	ssize_t (*readv)(struct fid_ep *ep, const struct kvec *iov,
			void **desc, size_t count, fi_addr_t src_addr,
			uint64_t addr, uint64_t key, void *context);
	ssize_t (*readmsg)(struct fid_ep *ep, const struct fi_msg_rma *msg,
			uint64_t flags);
	/* the same forms */
	ssize_t (*write)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, uint64_t addr,
			uint64_t key, void *context);
	ssize_t (*writev)(struct fid_ep *ep, const struct kvec *iov,
			void **desc, size_t count, fi_addr_t dest_addr,
			uint64_t addr, uint64_t key, void *context);
	ssize_t (*writemsg)(struct fid_ep *ep, const struct fi_msg_rma *msg,
			uint64_t flags);
	/* buf is copied, and there is no completion */
	ssize_t (*inject)(struct fid_ep *ep, const void *buf, size_t len,
			fi_addr_t dest_addr, uint64_t addr, uint64_t key);
	/* the peer gets a completion with data, of cq_data_size bytes at most */
	ssize_t (*writedata)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, uint64_t data, fi_addr_t dest_addr,
			uint64_t addr, uint64_t key, void *context);
	/* both */
	ssize_t (*injectdata)(struct fid_ep *ep, const void *buf, size_t len,
			uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			uint64_t key);
};


/* ---- rdma/fi_cm.h ---- */

struct fi_ops_cm {
	size_t	size;	/* of this structure, where it was compiled */
	/* fid: an endpoint or a passive endpoint, for these two */
	int (*setname)(fid_t fid, void *addr, size_t addrlen);
	int (*getname)(fid_t fid, void *addr, size_t *addrlen);
	/* from FI_CONNECTED on */
	int (*getpeer)(struct fid_ep *ep, void *addr, size_t *addrlen);
	/* an endpoint of type FI_EP_MSG, enabled by the call if need be */
	int (*connect)(struct fid_ep *ep, const void *addr, const void *param,
			size_t paramlen);
	int (*listen)(struct fid_pep *pep);
	/* an endpoint that was opened with the fi_info of a request */
	int (*accept)(struct fid_ep *ep, const void *param, size_t paramlen);
	int (*reject)(struct fid_pep *pep, fid_t handle, const void *param,
			size_t paramlen);
	/* flags: 0 */
	int (*shutdown)(struct fid_ep *ep, uint64_t flags);
	int (*join)(struct fid_ep *ep, const void *addr, uint64_t flags,
			struct fid_mc **mc, void *context);
};


/* ---- rdma/fi_atomic.h ---- */

#define FI_FETCH_ATOMIC		(1ULL << 58)
#define FI_COMPARE_ATOMIC	(1ULL << 59)
struct fi_atomic_attr {
	size_t	count;	/* most values in one operation */
	size_t	size;	/* bytes of one value */
};

struct fi_msg_atomic {
	const struct fi_ioc	*msg_iov;	/* operands */
	void			**desc;		/* one descriptor per piece, or NULL */
	size_t			iov_count;
	fi_addr_t		addr;		/* peer; ignored when connected */
	const struct fi_rma_ioc	*rma_iov;	/* targets, as many values in all */
	size_t			rma_iov_count;
	enum fi_datatype	datatype;
	enum fi_op		op;
	void			*context;	/* comes back in the completion */
	/* for the peer's completion, with FI_REMOTE_CQ_DATA */
	uint64_t		data;
};

struct fi_ops_atomic {
	size_t	size;
	ssize_t (*write)(struct fid_ep *ep, const void *buf, size_t count,
			void *desc, fi_addr_t dest_addr, uint64_t addr,
			uint64_t key, enum fi_datatype datatype, enum fi_op op,
			void *context);
	ssize_t (*writev)(struct fid_ep *ep, const struct fi_ioc *iov,
			void **desc, size_t count, fi_addr_t dest_addr,
			uint64_t addr, uint64_t key, enum fi_datatype datatype,
			enum fi_op op, void *context);
	ssize_t (*writemsg)(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			uint64_t flags);
	ssize_t (*inject)(struct fid_ep *ep, const void *buf, size_t count,
			fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			enum fi_datatype datatype, enum fi_op op);
	ssize_t (*readwrite)(struct fid_ep *ep, const void *buf, size_t count,
			void *desc, void *result, void *result_desc,
			fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			enum fi_datatype datatype, enum fi_op op,
			void *context);
	ssize_t (*readwritev)(struct fid_ep *ep, const struct fi_ioc *iov,
			void **desc, size_t count, struct fi_ioc *resultv,
			void **result_desc, size_t result_count,
			fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			enum fi_datatype datatype, enum fi_op op,
			void *context);
	ssize_t (*readwritemsg)(struct fid_ep *ep,
			const struct fi_msg_atomic *msg, struct fi_ioc *resultv,
			void **result_desc, size_t result_count,
			uint64_t flags);
	ssize_t (*compwrite)(struct fid_ep *ep, const void *buf, size_t count,
			void *desc, const void *compare, void *compare_desc,
			void *result, void *result_desc, fi_addr_t dest_addr,
			uint64_t addr, uint64_t key, enum fi_datatype datatype,
			enum fi_op op, void *context);
	ssize_t (*compwritev)(struct fid_ep *ep, const struct fi_ioc *iov,
			void **desc, size_t count,
			const struct fi_ioc *comparev, void **compare_desc,
			size_t compare_count, struct fi_ioc *resultv,
			void **result_desc, size_t result_count,
			fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			enum fi_datatype datatype, enum fi_op op,
			void *context);
	ssize_t (*compwritemsg)(struct fid_ep *ep,
			const struct fi_msg_atomic *msg,
			const struct fi_ioc *comparev, void **compare_desc,
			size_t compare_count, struct fi_ioc *resultv,
			void **result_desc, size_t result_count,
			uint64_t flags);
	int (*writevalid)(struct fid_ep *ep, enum fi_datatype datatype,
			enum fi_op op, size_t *count);
	int (*readwritevalid)(struct fid_ep *ep, enum fi_datatype datatype,
			enum fi_op op, size_t *count);
	int (*compwritevalid)(struct fid_ep *ep, enum fi_datatype datatype,
			enum fi_op op, size_t *count);
};


/* ---- rdma/fi_tagged.h ---- */

#define FI_MPI_IGNORE_TAG	((uint64_t) 0xFFFFFFFF)
#define FI_MPI_IGNORE_PAYLOAD	((uint64_t) 0xFF << 32)
struct fi_ops_tagged {
	size_t	size;	/* of this structure, where it was compiled */
	/* one piece; v: several; msg: several, with flags */
	ssize_t (*recv)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
			void *context);
	ssize_t (*recvv)(struct fid_ep *ep, const struct kvec *iov,
			void **desc, size_t count, fi_addr_t src_addr,
			uint64_t tag, uint64_t ignore, void *context);
	ssize_t (*recvmsg)(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			uint64_t flags);
	/* the same forms */
	ssize_t (*send)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, uint64_t tag,
			void *context);
	ssize_t (*sendv)(struct fid_ep *ep, const struct kvec *iov,
			void **desc, size_t count, fi_addr_t dest_addr,
			uint64_t tag, void *context);
	ssize_t (*sendmsg)(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			uint64_t flags);
	/* buf is copied, and there is no completion */
	ssize_t (*inject)(struct fid_ep *ep, const void *buf, size_t len,
			fi_addr_t dest_addr, uint64_t tag);
	/* data is in the peer's completion, cq_data_size bytes of it at most */
	ssize_t (*senddata)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, uint64_t data, fi_addr_t dest_addr,
			uint64_t tag, void *context);
	/* both */
	ssize_t (*injectdata)(struct fid_ep *ep, const void *buf, size_t len,
			uint64_t data, fi_addr_t dest_addr, uint64_t tag);
};

#endif /* KOFI_SHARED_H */
