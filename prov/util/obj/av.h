/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * av.h - the address vector: fi_addr_t is an index into a dense table.
 *
 * FI_AV_MAP and FI_AV_TABLE are one and the same here.  The table is a fixed
 * directory of chunks that never move, so that a reader needs no lock for IPv4.
 *
 * Memory: an IPv4 address takes 8 bytes, and another 4 to 7 once an address's
 * fi_addr_t is asked for (FI_SOURCE), which builds the reverse index.
 */
#ifndef OBJ_AV_H
#define OBJ_AV_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include "base/list.h"
#include "base/lock.h"
#include "obj/ref.h"

struct obj_domain;
struct obj_ep;
struct obj_eq;
struct obj_av_key;
struct obj_av_shared;

/* Largest address of any format, strings with their end included. */
#define OBJ_ADDR_MAX 256

/* Chunk k holds 2^(OBJ_AV_FIRST_BITS + k) entries, chunk 0 as many as all before
 * it would: entry i lies in chunk of the highest set bit of i >> OBJ_AV_FIRST_BITS.
 */
#define OBJ_AV_FIRST_BITS 6
#define OBJ_AV_CHUNKS (32 - OBJ_AV_FIRST_BITS + 1)

/* An IPv4 entry, read and written as one word. */
union obj_av_ip4 {
	uint64_t word;
	struct {
		uint32_t addr;		/* network order */
		uint16_t port;		/* network order */
		uint16_t flags;		/* OBJ_AV_* */
	};
};

/* An entry of any other format. */
struct obj_av_slot {
	uint16_t flags;			/* OBJ_AV_* */
	uint16_t len;			/* bytes of @addr in use; strings count their NUL */
	uint32_t pad;
	_Alignas(8) unsigned char addr[];
};

#define OBJ_AV_LIVE 1			/* the entry is in use */
#define OBJ_AV_DUP 2			/* another entry may have the same address */

struct obj_av {
	struct fid_av fid;		/* first: the program's handle */
	struct obj_domain *domain;
	struct obj_ref domain_ref;
	struct obj_refs refs;		/* endpoints bound to it, sets */
	struct lock lock;		/* guards everything below but @eps */
	uint32_t addr_format;
	uint32_t scope;			/* the link of IPv6 addresses that need one; 0: none known */
	bool ip4;			/* entries are union obj_av_ip4 */
	bool direct;			/* ip4, and not shared: read without a lock */
	uint32_t slot_size;		/* bytes of an entry */
	void *chunks[OBJ_AV_CHUNKS];
	_Atomic uint32_t top;		/* indices below it have been given out */
	uint32_t live;			/* entries in use */
	uint32_t free_cnt;		/* unused ones below top */
	uint32_t free_hint;		/* no unused one lies below this */
	uint32_t *index;		/* reverse: open addressing, index + 1; NULL until needed */
	uint32_t index_size;
	uint32_t index_used;
	uint64_t *user_id;		/* FI_AV_USER_ID: by index; else NULL */
	uint32_t user_id_room;
	int rx_ctx_bits;
	enum fi_av_type type;
	uint64_t flags;
	struct obj_av_shared *shared;	/* named: the table lies in a shared mapping */
	atomic_bool xpu;		/* devices have addresses of it */
	fi_addr_t *numbers;		/* of its entries, for fi_av_attr::map_addr */
	struct obj_eq *eq;		/* FI_EVENT: insertions complete here */
	struct obj_ref eq_ref;
	pthread_mutex_t eps_lock;	/* guards @eps; taken before any prog->lock */
	struct list eps;		/* struct obj_ep by av_node */
	struct obj_av_key *key;		/* its authorization key; NULL: none */
};

/* obj_av_open - fi_av_open().  With FI_PEER the type and the bits for contexts are as the
 * owner in fi_peer_av_context says; it then inserts here what it inserts there.
 * Errors: -FI_EINVAL, -FI_ENOMEM, -FI_ENOSYS, -FI_EACCES; each logged.
 */
int obj_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		struct fid_av **av_p, void *context);

/* obj_av_index - the table index in @fi_addr, or UINT32_MAX if it has bits that
 * mean nothing here.  @rx_p: [out] receive context (fi_rx_addr), 0 without
 */
static inline uint32_t obj_av_index(const struct obj_av *av, fi_addr_t fi_addr, unsigned *rx_p)
{
	*rx_p = 0;
	if (av->rx_ctx_bits) {
		*rx_p = (unsigned) (fi_addr >> (64 - av->rx_ctx_bits));
		fi_addr = fi_addr << av->rx_ctx_bits >> av->rx_ctx_bits;
	}
	return fi_addr < UINT32_MAX ? (uint32_t) fi_addr : UINT32_MAX;
}

/* obj_av_slot - where entry @i lies; only for an index below av->top. */
static inline void *obj_av_slot(const struct obj_av *av, uint32_t i, uint32_t size)
{
	uint32_t first = 1u << OBJ_AV_FIRST_BITS, k, base;

	if (i < first)
		return (char *) av->chunks[0] + (size_t) i * size;
	k = (uint32_t) (31 - __builtin_clz(i));
	base = 1u << k;
	return (char *) av->chunks[k - OBJ_AV_FIRST_BITS + 1] + (size_t) (i - base) * size;
}

/* The part of obj_av_addr() for other formats and shared tables; takes av->lock. */
int obj_av_addr_slow(struct obj_av *av, uint32_t i, void *addr, size_t *len);

/* obj_av_addr - the address of a peer, for sending to it.
 *
 * @addr: [out] room for OBJ_ADDR_MAX bytes, aligned as a struct sockaddr
 * @len:  [out] its length
 *
 * Returns 0, or -FI_EINVAL for an address that is not in the table.
 * Threading: any; takes no lock for IPv4.  Cost: two loads for IPv4.
 */
static inline int obj_av_addr(struct obj_av *av, fi_addr_t fi_addr, void *addr, size_t *len)
{
	uint32_t i = (uint32_t) fi_addr;
	struct sockaddr_in *sin = addr;
	union obj_av_ip4 e;

	if (!av->direct)
		return obj_av_addr_slow(av, i, addr, len);
	if (__builtin_expect(i >= atomic_load_explicit(&av->top, memory_order_acquire), 0))
		return -FI_EINVAL;
	e.word = __atomic_load_n(&((union obj_av_ip4 *) obj_av_slot(av, i, sizeof(e)))->word,
				 __ATOMIC_ACQUIRE);
	if (__builtin_expect(!(e.flags & OBJ_AV_LIVE), 0))
		return -FI_EINVAL;
	sin->sin_family = AF_INET;
	sin->sin_port = e.port;
	sin->sin_addr.s_addr = e.addr;
	memset(sin->sin_zero, 0, sizeof(sin->sin_zero));
	*len = sizeof(*sin);
	return 0;
}

/* obj_av_find - fi_addr_t of an address, as FI_SOURCE reports it.
 *
 * Returns the lowest entry in use that holds @addr (its user id, if the av was
 * opened with FI_AV_USER_ID), or FI_ADDR_NOTAVAIL.
 * Threading: takes av->lock.  Cost: O(1) expected; the first call builds an index.
 */
fi_addr_t obj_av_find(struct obj_av *av, const void *addr, size_t len);

/* obj_av_user_id - what completions report for entry @fi_addr: its user id, or
 * itself.  Threading: takes av->lock only with FI_AV_USER_ID.
 */
fi_addr_t obj_av_user_id(struct obj_av *av, fi_addr_t fi_addr);

static inline struct obj_av *obj_av_of(struct fid_av *fid)
{
	return container_of(fid, struct obj_av, fid);
}

/* ---- address vector sets (collectives) ----------------------------------- */

struct obj_av_set {
	struct fid_av_set fid;		/* first: the program's handle */
	struct obj_av *av;
	struct obj_ref av_ref;
	struct obj_refs refs;		/* collective groups */
	struct lock lock;		/* guards what follows */
	fi_addr_t *addrs;		/* members in order of insertion, no duplicates */
	size_t cnt;
	unsigned room;
	uint64_t flags;
	size_t comm_key_size;
	uint8_t *comm_key;
	fi_addr_t coll_addr;		/* what fi_av_set_addr() gives */
};

/* obj_av_set_open - fi_av_set().  Errors: -FI_EINVAL, -FI_ENOMEM. */
int obj_av_set_open(struct fid_av *av, struct fi_av_set_attr *attr,
		    struct fid_av_set **set_p, void *context);

static inline struct obj_av_set *obj_av_set_of(struct fid_av_set *fid)
{
	return container_of(fid, struct obj_av_set, fid);
}

#endif
