/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fabric.h - what every program needs: discovery, attributes, the base object.
 *
 * Start with fi_getinfo(): it answers with a list of fi_info, each an endpoint
 * that can be opened as described.  Every object opened from it begins with a
 * struct fid, and closes with fi_close().
 *
 * Objects carry tables of operations; the calls in these headers are inlines
 * that fetch an operation and jump.  A table states its own size, so a call
 * that came later than the table answers -FI_ENOSYS instead of reading past it.
 *
 * Structs that a program fills (attributes, hints) start out zeroed: zero means
 * "no preference".  They grow only at the end.
 */
#ifndef FABRIC_H
#define FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <rdma/fi_errno.h>

#ifdef FABRIC_DIRECT
/* One provider, compiled in: it ships fi_direct*.h and may replace a set of
 * inlines by defining FABRIC_DIRECT_<SET> in the header of that set. */
#include <rdma/fi_direct.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How the calls of these headers are emitted.  A binding for another language
 * can compile the same text into real functions by defining FI_INLINE first;
 * libfabric-ffi.so is just that.
 */
#ifndef FI_INLINE
#define FI_INLINE static inline
#endif

/* Attribute names that only one compiler knows. */
#if defined(__GNUC__) && !defined(__clang__)
#define EXTERNALLY_VISIBLE externally_visible
#else
#define EXTERNALLY_VISIBLE
#endif

/* Checks the arguments of a call like printf: position of the format, and of
 * the first argument to it. */
#if defined(__GNUC__)
#define FI_FORMAT_PRINTF(string, first) \
	__attribute__((format(printf, string, first)))
#else
#define FI_FORMAT_PRINTF(string, first)
#endif

/* Old fields and calls stay for ever, silently.  To find your uses of them,
 * compile with -DFI_WARN_DEPRECATED. */
#if defined(FI_WARN_DEPRECATED) && defined(__GNUC__)
#define FI_DEPRECATED_FIELD __attribute__((deprecated))
#define FI_DEPRECATED_FUNC __attribute__((deprecated))
#else
#define FI_DEPRECATED_FIELD
#define FI_DEPRECATED_FUNC
#endif

/* ---- versions ---------------------------------------------------------- */

/* The interface that these headers describe; pass
 * FI_VERSION(major, minor) of the one you wrote for to fi_getinfo(). */
#define FI_MAJOR_VERSION	2
#define FI_MINOR_VERSION	7
#define FI_REVISION_VERSION	0

#define FI_VERSION(major, minor)	(((major) << 16) | (minor))
#define FI_MAJOR(version)		((version) >> 16)
#define FI_MINOR(version)		((version) & 0xFFFF)
#define FI_VERSION_GE(v1, v2)		((v1) >= (v2))
#define FI_VERSION_LT(v1, v2)		((v1) < (v2))

/* fi_version - interface version of the library that is loaded, as FI_VERSION(). */
uint32_t fi_version(void);

/* ---- capabilities and operation flags ---------------------------------- */

/* Kinds of transfer (fi_info::caps). */
#define FI_MSG			(1ULL << 1)	/* send and receive */
#define FI_RMA			(1ULL << 2)	/* read and write remote memory */
#define FI_TAGGED		(1ULL << 3)	/* send and receive matched by tag */
#define FI_ATOMIC		(1ULL << 4)	/* atomic updates of remote memory */
#define FI_ATOMICS		FI_ATOMIC
#define FI_MULTICAST		(1ULL << 5)	/* datagrams to a group */
#define FI_COLLECTIVE		(1ULL << 6)	/* collective operations */

/* Direction; also access rights of a registration and what a bind covers. */
#define FI_READ			(1ULL << 8)	/* this side reads remote memory */
#define FI_WRITE		(1ULL << 9)	/* this side writes remote memory */
#define FI_RECV			(1ULL << 10)
#define FI_SEND			(1ULL << 11)
#define FI_TRANSMIT		FI_SEND
#define FI_REMOTE_READ		(1ULL << 12)	/* peers read local memory */
#define FI_REMOTE_WRITE		(1ULL << 13)	/* peers write local memory */

/* How one operation behaves. */
#define FI_MULTI_RECV		(1ULL << 16)	/* one buffer takes many messages */
#define FI_REMOTE_CQ_DATA	(1ULL << 17)	/* data for the peer's completion */
#define FI_MORE			(1ULL << 18)	/* another call follows at once: may be batched */
#define FI_PEEK			(1ULL << 19)	/* look for a message without receiving it */
#define FI_TRIGGER		(1ULL << 20)	/* starts when a condition is met */
#define FI_FENCE		(1ULL << 21)	/* starts after earlier ones to that peer */

/* When an operation counts as complete, and whether it reports that. */
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

/* Flags of one call only; they share bits with the capabilities above. */
#define FI_CLAIM		(1ULL << 59)	/* keep what the peek found, or receive it */
#define FI_DISCARD		(1ULL << 58)	/* drop what the peek found or claimed */
#define FI_AUTH_KEY		(1ULL << 57)	/* registration names its authorization key */

/* Modes (fi_info::mode): what the provider asks of the caller. */
#define FI_CONTEXT		(1ULL << 59)	/* op context points to a struct fi_context */
#define FI_MSG_PREFIX		(1ULL << 58)	/* leave room before the data for a header */
#define FI_ASYNC_IOV		(1ULL << 57)	/* iov arrays stay valid until completion */
#define FI_RX_CQ_DATA		(1ULL << 56)	/* remote data uses up a posted receive */
#define FI_LOCAL_MR		(1ULL << 55)	/* before 1.5: as FI_MR_LOCAL */
#define FI_CONTEXT2		(1ULL << 52)	/* op context points to a struct fi_context2 */

/* Bind to a queue: only operations with FI_COMPLETION report. */
#define FI_SELECTIVE_COMPLETION	(1ULL << 59)

/* Names that older programs still compile with; nothing is done for them. */
#define FI_VARIABLE_MSG		0ULL
#define FI_RESTRICTED_COMP	0ULL
#define FI_NOTIFY_FLAGS_ONLY	0ULL
#define FI_EP_SOCK_STREAM	0

/* ---- orders (msg_order) ------------------------------------------------ */

/*
 * X after Y: operations to one peer of kind X take effect after earlier ones
 * of kind Y.  R read, W write, S send.  The RMA_ and ATOMIC_ forms limit the
 * promise to that kind of R and W.
 */
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

/* ---- memory registration modes (fi_domain_attr::mr_mode) ---------------- */

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

/* ---- addresses ---------------------------------------------------------- */

/* A peer, as an entry of an address vector. */
typedef uint64_t		fi_addr_t;
/* Any object. */
typedef struct fid		*fid_t;

#define FI_ADDR_NOTAVAIL	((uint64_t) -1)	/* no address: not inserted, or not known */
#define FI_ADDR_UNSPEC		((uint64_t) -1)	/* any source */
#define FI_KEY_NOTAVAIL		((uint64_t) -1)	/* key is longer than 64 bits: ask for it raw */
#define FI_SHARED_CONTEXT	((size_t) -1)	/* tx/rx_ctx_cnt: use a shared context */
#define FI_AV_AUTH_KEY		((size_t) -1)	/* auth_key_size: keys come from the AV */

enum {
	FI_NAME_MAX = 64		/* longest string address, with its NUL */
};

/* Address formats (fi_info::addr_format). */
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

/* How an address vector numbers its entries. */
enum fi_av_type {
	FI_AV_UNSPEC,
	FI_AV_MAP,			/* any value; older programs only */
	FI_AV_TABLE			/* the lowest number not in use: 0, 1, 2... */
};

/* ---- behaviour of a domain ---------------------------------------------- */

/* Which thread makes progress. */
enum fi_progress {
	FI_PROGRESS_UNSPEC,
	FI_PROGRESS_AUTO,		/* a thread of the provider */
	FI_PROGRESS_MANUAL,		/* the program's, by reading queues and counters */
	FI_PROGRESS_CONTROL_UNIFIED	/* manual; data progress drives control too */
};

/* Which calls the program promises not to make concurrently. */
enum fi_threading {
	FI_THREAD_UNSPEC,
	FI_THREAD_SAFE,			/* no promise */
	FI_THREAD_FID,			/* one thread per object; older programs only */
	FI_THREAD_DOMAIN,		/* one thread per domain */
	FI_THREAD_COMPLETION,		/* one thread per queue and what is bound to it */
	FI_THREAD_ENDPOINT		/* one thread per endpoint; older programs only */
};

/* Whether the provider protects its queues against overruns. */
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

/* Protocols; endpoints with the same protocol can exchange messages. */
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

/* Layout of tags (fi_ep_attr::mem_tag_format). */
enum {
	FI_TAG_BITS,			/* as the bit pattern says */
	FI_TAG_MPI,			/* see fi_tag_mpi() */
	FI_TAG_CCL,			/* as FI_TAG_MPI, for other collective libraries */
	FI_TAG_MAX_FORMAT = 1 << 16	/* bit patterns are larger than this */
};

/* Sizes of two older tables; see enum fi_op and enum fi_datatype. */
enum {
	FI_ATOMIC_OP_LAST = 19
};

enum {
	FI_DATATYPE_LAST = 14
};

/* Traffic classes (tclass). */
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

/* Traffic class for a DSCP number of the IP header. */
FI_INLINE uint32_t fi_tc_dscp_set(uint8_t dscp)
{
	return FI_TC_DSCP | (uint32_t) dscp;
}

/* DSCP number of a traffic class; 0 when it is not one. */
FI_INLINE uint8_t fi_tc_dscp_get(uint32_t tclass)
{
	return (tclass & FI_TC_DSCP) ? (uint8_t) tclass : 0;
}

/* ---- attributes --------------------------------------------------------- */

struct fid_xpu_ctx;

/* An array of @count values, size per value by datatype (atomics). */
struct fi_ioc {
	void	*addr;
	size_t	count;
};

/* Transmit side of an endpoint. */
struct fi_tx_attr {
	uint64_t	caps;		/* subset of fi_info::caps used to transmit */
	uint64_t	mode;		/* what the provider asks of the caller */
	uint64_t	op_flags;	/* flags of every call that takes none */
	uint64_t	msg_order;	/* FI_ORDER_ kept towards one peer */
	uint64_t	comp_order FI_DEPRECATED_FIELD;	/* unused, for older programs */
	size_t		inject_size;	/* longest inject, bytes */
	size_t		size;		/* operations that fit in the queue */
	size_t		iov_limit;	/* local buffers per operation */
	size_t		rma_iov_limit;	/* remote buffers per operation */
	uint32_t	tclass;		/* traffic class, FI_TC_ */
};

/* Receive side of an endpoint. */
struct fi_rx_attr {
	uint64_t	caps;		/* subset of fi_info::caps used to receive */
	uint64_t	mode;		/* what the provider asks of the caller */
	uint64_t	op_flags;	/* flags of every call that takes none */
	uint64_t	msg_order;	/* FI_ORDER_ kept from one peer */
	uint64_t	comp_order FI_DEPRECATED_FIELD;	/* unused, for older programs */
	/* unused, for older programs */
	size_t		total_buffered_recv FI_DEPRECATED_FIELD;
	size_t		size;		/* receives that can be posted */
	size_t		iov_limit;	/* buffers per receive */
};

/* Endpoint as a whole. */
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

/* Domain: the limits and rules that its objects share. */
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

/* Fabric: the network and its provider. */
struct fi_fabric_attr {
	struct fid_fabric	*fabric;	/* an open fabric to use, or NULL */
	char			*name;		/* network, owned by the fi_info */
	/* provider; layers joined by ';', as in "udp;ofi_rxd" */
	char			*prov_name;
	uint32_t		prov_version;	/* of the provider, not the interface */
	uint32_t		api_version;	/* interface the program asked for */
};

/* ---- the device behind an endpoint (fi_info::nic) ----------------------- */

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

/* Texts belong to the fid_nic; NULL where not known. */
struct fi_device_attr {
	char	*name;
	char	*device_id;
	char	*device_version;
	char	*vendor_id;
	char	*driver;	/* kernel driver */
	char	*firmware;
};

struct fi_pci_attr {
	uint16_t	domain_id;
	uint8_t		bus_id;
	uint8_t		device_id;
	uint8_t		function_id;
};

struct fi_bus_attr {
	enum fi_bus_type	bus_type;	/* selects the member of attr */
	union {
		struct fi_pci_attr	pci;
	} attr;
};

struct fi_link_attr {
	char			*address;	/* link address as text */
	size_t			mtu;		/* bytes */
	size_t			speed;		/* bits per second */
	enum fi_link_state	state;
	char			*network_type;	/* "Ethernet", "InfiniBand"... */
};

/* ---- the base object ---------------------------------------------------- */

/* Kinds of object (fid::fclass). */
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

/* Commands of fi_control(), with the argument each takes. */
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

struct fi_eq_attr;
struct fi_wait_attr;
struct fid_domain;
struct fid_ep;
struct fid_eq;
struct fid_fabric;
struct fid_nic;
struct fid_pep;
struct fid_wait;
struct fi_info;

/*
 * True when the table behind @ops is there, is long enough to hold @op of
 * @opstype, and has it filled in.
 */
#define FI_CHECK_OP(ops, opstype, op) \
	((ops) && (ops)->size >= offsetof(opstype, op) + sizeof((ops)->op) && \
	 (ops)->op)

/* Every table begins with its size in bytes, as its owner was compiled. */
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

/* First member of every object. */
struct fid {
	size_t		fclass;		/* FI_CLASS_ */
	void		*context;	/* the opener's, returned with events */
	struct fi_ops	*ops;
};

/* One description of an endpoint; a list. Freed whole by fi_freeinfo(). */
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

struct fid_fabric {
	struct fid		fid;
	struct fi_ops_fabric	*ops;
	uint32_t		api_version;	/* interface that the opener asked for */
};

struct fid_nic {
	struct fid		fid;
	struct fi_device_attr	*device_attr;	/* each may be NULL */
	struct fi_bus_attr	*bus_attr;
	struct fi_link_attr	*link_attr;
	void			*prov_attr;	/* the provider's own */
};

/* ---- arguments of fi_control -------------------------------------------- */

struct fi_alias {
	struct fid	**fid;	/* [out] the second object */
	uint64_t	flags;	/* FI_TRANSMIT or FI_RECV with the op_flags it defaults to */
};

struct fi_fid_var {
	int	name;	/* which value */
	void	*val;	/* where it is */
};

struct fi_mr_raw_attr {
	uint64_t	flags;
	uint64_t	*base_addr;	/* [out] address that peers use */
	uint8_t		*raw_key;	/* [out] room for the key */
	size_t		*key_size;	/* [in,out] bytes */
};

struct fi_mr_map_raw {
	uint64_t	flags;
	uint64_t	base_addr;	/* from the owner of the memory */
	uint8_t		*raw_key;
	size_t		key_size;	/* bytes */
	uint64_t	*key;		/* [out] 64-bit key to use in calls */
};

/* ---- environment variables ---------------------------------------------- */

enum fi_param_type {
	FI_PARAM_STRING,
	FI_PARAM_INT,
	FI_PARAM_BOOL,
	FI_PARAM_SIZE_T
};

struct fi_param {
	const char		*name;	/* of the variable */
	enum fi_param_type	type;
	const char		*help_string;
	const char		*value;	/* as set, or NULL */
};

/* ---- room for the provider ---------------------------------------------- */

/* With FI_CONTEXT, the context of an operation points to one of these; it is
 * the provider's until the operation completes. */
struct fi_context {
	void	*internal[4];
};

struct fi_context2 {
	void	*internal[8];
};

/* Context of a completion that belongs to a shared receive. */
struct fi_recv_context {
	struct fid_ep	*ep;		/* endpoint it came in on */
	void		*context;	/* the one posted */
};

/* ---- discovery ---------------------------------------------------------- */

/* fi_getinfo - the endpoints that can be opened, in order of preference.
 * @version: interface the program was written for, FI_VERSION()
 * @node:    peer (or, with FI_SOURCE, local) host or address, or NULL
 * @service: port or service, or NULL
 * @flags:   FI_NUMERICHOST, FI_SOURCE, FI_PROV_ATTR_ONLY, FI_RESCAN
 * @hints:   required attributes, or NULL for everything
 * @info:    [out] list
 *
 * Ownership: the caller frees the list with fi_freeinfo().  @hints is copied.
 * Threading: any thread; may block to resolve a name or look at devices.
 * Errors:    -FI_ENODATA no endpoint matches; -FI_ENOSYS @version is newer than the library's.
 */
int fi_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints,
		struct fi_info **info);

/* fi_freeinfo - free a list with all it points to; NULL is fine. */
void fi_freeinfo(struct fi_info *info);

/* fi_dupinfo - deep copy of one entry, not of the list behind it.
 *
 * Ownership: caller frees the copy by fi_freeinfo().
 * Errors:    NULL when out of memory; NULL in gives an empty one.
 */
struct fi_info *fi_dupinfo(const struct fi_info *info);

/* An empty fi_info with its attributes, to fill in as hints. */
FI_INLINE struct fi_info *fi_allocinfo(void)
{
	return fi_dupinfo(NULL);
}

/* ---- opening and closing ------------------------------------------------ */

/* fi_fabric - open the network that a fi_info names.
 *
 * @attr:    fabric_attr of a returned fi_info
 * @fabric:  [out] fabric
 * @context: returned with its events
 *
 * Ownership: caller closes @fabric after all opened from it.
 * Errors:    -FI_ENODEV no such provider; else what the provider says.
 */
int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		void *context);

/* fi_fabric2 - the same from the whole fi_info, with @flags. */
int fi_fabric2(struct fi_info *info, struct fid_fabric **fabric,
		uint64_t flags, void *context);

/* fi_open - open an object of the library itself by its well-known name.
 *
 * @version:  interface the program was written for
 * @name:     "mr_cache", "logging"...
 * @attr:     depends on @name, @attr_len bytes
 * @fid:      [out] object
 *
 * Errors:    -FI_ENOSYS no object of that name here.
 */
int fi_open(uint32_t version, const char *name, void *attr, size_t attr_len,
		uint64_t flags, struct fid **fid, void *context);

/* Release an object; what was opened from it must be closed first. */
FI_INLINE int fi_close(struct fid *fid)
{
	return fid->ops->close(fid);
}

/* Send a command to an object: see the FI_GETFIDFLAG enum. */
FI_INLINE int fi_control(struct fid *fid, int command, void *arg)
{
	if (!FI_CHECK_OP(fid->ops, struct fi_ops, control))
		return -FI_ENOSYS;
	return fid->ops->control(fid, command, arg);
}

/* A second handle on an object, with other default flags. */
FI_INLINE int fi_alias(struct fid *fid, struct fid **alias_fid, uint64_t flags)
{
	struct fi_alias alias;

	alias.fid = alias_fid;
	alias.flags = flags;
	return fi_control(fid, FI_ALIAS, &alias);
}

/* Read a value by its name; @val points to where it goes. */
FI_INLINE int fi_get_val(struct fid *fid, int name, void *val)
{
	struct fi_fid_var var;

	var.name = name;
	var.val = val;
	return fi_control(fid, FI_GET_VAL, &var);
}

/* Change a value by its name. */
FI_INLINE int fi_set_val(struct fid *fid, int name, void *val)
{
	struct fi_fid_var var;

	var.name = name;
	var.val = val;
	return fi_control(fid, FI_SET_VAL, &var);
}

/* Provider-specific calls by name; the struct behind @ops is the provider's. */
FI_INLINE int fi_open_ops(struct fid *fid, const char *name, uint64_t flags,
		void **ops, void *context)
{
	if (!FI_CHECK_OP(fid->ops, struct fi_ops, ops_open))
		return -FI_ENOSYS;
	return fid->ops->ops_open(fid, name, flags, ops, context);
}

/* Give the object calls of the program's own, by name. */
FI_INLINE int fi_set_ops(struct fid *fid, const char *name, uint64_t flags,
		void *ops, void *context)
{
	if (!FI_CHECK_OP(fid->ops, struct fi_ops, ops_set))
		return -FI_ENOSYS;
	return fid->ops->ops_set(fid, name, flags, ops, context);
}

/* ---- text --------------------------------------------------------------- */

/* What the data pointer of fi_tostr() points to. */
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

/* fi_tostr - print a value or struct.
 *
 * Ownership: text belongs to the library; the next call overwrites it.
 * Threading: not for two threads at once; use fi_tostr_r() there.
 */
char *fi_tostr(const void *data, enum fi_type datatype);

/* fi_tostr_r - print into @buf, at most @len bytes with the NUL; returns @buf. */
char *fi_tostr_r(char *buf, size_t len, const void *data,
		enum fi_type datatype);

/* fi_getparams - the environment variables that the library knows.
 *
 * @params: [out] array   @count: [out] its length
 *
 * Ownership: caller frees by fi_freeparams().
 */
int fi_getparams(struct fi_param **params, int *count);

/* fi_freeparams - free what fi_getparams() returned. */
void fi_freeparams(struct fi_param *params);

#ifdef __cplusplus
}
#endif

#endif /* FABRIC_H */
