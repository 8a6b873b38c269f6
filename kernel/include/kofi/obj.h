/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * obj.h - the objects that every provider shares (kofi_obj.ko): queues, counters, address
 * vectors, registrations, operations and their matching.  A provider moves operations.
 *
 * Contexts: unless a comment says otherwise the functions here may be called in process and
 * softirq context and do not sleep; "may sleep" marks the others.
 */
#ifndef KOFI_OBJ_H
#define KOFI_OBJ_H

#include <linux/hashtable.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <kofi/fi_atomic.h>
#include <kofi/fi_cm.h>
#include <kofi/fi_rma.h>
#include <kofi/fi_tagged.h>
#include <kofi/provider.h>

#define KOFI_IOV_MAX	256	/* pieces of local memory per operation, at most */
#define KOFI_RMA_MAX	4	/* pieces of remote memory per operation, at most */
#define KOFI_ATOMIC_MAX	4096	/* bytes of the elements of one atomic operation, at most */
#define KOFI_ATOMIC_RANGES	8	/* pieces of remote memory of one that a peer sends */

enum kofi_op_type {
	KOFI_SEND,
	KOFI_TSEND,
	KOFI_WRITE,
	KOFI_READ,
	KOFI_ATOMIC,		/* nothing comes back */
	KOFI_FETCH,
	KOFI_COMPARE,
	KOFI_RECV,
	KOFI_TRECV
};

/* ---- payload lists ---- */

/* Pieces of local memory. */
struct kofi_segs {
	bool	is_bvec;		/* selects the member of the union */
	u32	cnt;			/* pieces */
	size_t	len;			/* bytes in all */
	union {
		const struct kvec	*kvec;
		const struct bio_vec	*bvec;
	};
};

/* kofi_segs_iter - an iterator over @len bytes from @off on.
 *
 * @dir: ITER_SOURCE, ITER_DEST
 */
void kofi_segs_iter(const struct kofi_segs *segs, unsigned int dir, size_t off, size_t len,
		    struct iov_iter *iter);

/* kofi_segs_copy - copy @len bytes, which both sides have. */
void kofi_segs_copy(const struct kofi_segs *dst, size_t dst_off, const struct kofi_segs *src,
		    size_t src_off, size_t len);

/* ---- waking readers ---- */

/* How a queue tells that it has something: readers that sleep, and a handler. */
struct kofi_notify {
	wait_queue_head_t	wait;
	struct work_struct	work;
	void			(*call)(struct kofi_notify *notify);	/* or NULL */
};

/* ---- event queue ---- */

struct kofi_eq {
	struct fid_eq		eq;
	struct kofi_fabric_obj	*fabric;
	atomic_t		refs;		/* endpoints bound to it */
	spinlock_t		lock;		/* guards events */
	struct list_head	events;
	struct kofi_notify	notify;
	void			(*handler)(struct fid_eq *eq, void *context);
	uint64_t		flags;		/* of its attributes */
};

/* An event; freed when read. */
struct kofi_event {
	struct list_head	node;
	uint32_t		event;
	int			err;		/* not 0: an error entry, FI_E number */
	int			prov_errno;
	struct fid		*fid;		/* object it is about */
	struct fi_info		*info;		/* FI_CONNREQ */
	size_t			room;		/* bytes of data that fit */
	size_t			len;		/* bytes of data */
	u8			data[];
};

/* kofi_event_alloc - an event with room for @room bytes; kfree() if it is not posted. */
struct kofi_event *kofi_event_alloc(size_t room, gfp_t gfp);

/* kofi_event_data - store what the peer passed along, as much as there is room for. */
void kofi_event_data(struct kofi_event *event, const void *data, size_t len);

/* kofi_eq_post - add @event, which becomes the queue's. */
void kofi_eq_post(struct kofi_eq *eq, struct kofi_event *event);

/* kofi_eq_purge - drop the events of an object that goes away. */
void kofi_eq_purge(struct kofi_eq *eq, const struct fid *fid);

/* ---- completion queue ---- */

/* One completion, in the most general form. */
struct kofi_comp {
	void		*context;
	uint64_t	flags;
	size_t		len;
	void		*buf;
	uint64_t	data;
	uint64_t	tag;
	fi_addr_t	src_addr;
	size_t		olen;		/* bytes that did not fit */
	int		err;		/* not 0: an error entry, FI_E number */
	int		prov_errno;
};

/* A ring. An operation reserves its entry when it is taken, so that there is always room for
 * its end: reserved + entries <= size. */
struct kofi_cq {
	struct fid_cq		cq;
	struct kofi_domain	*domain;
	atomic_t		refs;		/* endpoints bound to it */
	spinlock_t		lock;		/* guards all below */
	struct kofi_comp	*ring;
	u32			size;		/* entries, a power of two */
	u32			head;		/* first entry */
	u32			cnt;		/* entries */
	u32			reserved;
	bool			signaled;	/* fi_cq_signal() */
	enum fi_cq_format	format;
	struct kofi_notify	notify;
	void			(*handler)(struct fid_cq *cq, void *context);
};

/* kofi_cq_reserve - room for one more entry; false: none. */
bool kofi_cq_reserve(struct kofi_cq *cq);
void kofi_cq_unreserve(struct kofi_cq *cq);

/* kofi_cq_post - add an entry that was reserved. */
void kofi_cq_post(struct kofi_cq *cq, const struct kofi_comp *comp);

/* ---- counter ---- */

struct kofi_cntr {
	struct fid_cntr		cntr;
	struct kofi_domain	*domain;
	atomic_t		refs;
	atomic64_t		value;
	atomic64_t		errors;
	wait_queue_head_t	wait;
};

void kofi_cntr_inc(struct kofi_cntr *cntr, bool error);

/* ---- address vector ---- */

struct kofi_av_entry {
	struct rcu_head	rcu;
	size_t		len;
	u8		addr[];
};

struct kofi_av {
	struct fid_av		av;
	struct kofi_domain	*domain;
	atomic_t		refs;
	struct xarray		entries;	/* kofi_av_entry by fi_addr_t */
};

/* kofi_av_get - copy an address; false: no such entry. */
bool kofi_av_get(struct kofi_av *av, fi_addr_t fi_addr, void *addr, size_t room, size_t *len_p);

/* kofi_av_find - the handle of an address, or FI_ADDR_NOTAVAIL. */
fi_addr_t kofi_av_find(struct kofi_av *av, const void *addr, size_t len);

/* kofi_addr_len - bytes of an address by its content: sockaddr_in, sockaddr_in6, or text;
 * 0: none of these. */
size_t kofi_addr_len(uint32_t format, const void *addr);

/* ---- registration ---- */

struct kofi_mr {
	struct fid_mr		mr;
	struct kofi_domain	*domain;
	struct hlist_node	node;		/* in domain->mrs */
	struct kofi_segs	segs;		/* list is its own */
	uint64_t		base;		/* address of the first byte for peers */
	uint64_t		access;
	gfp_t			gfp;
	struct kofi_ep		*ep;		/* FI_MR_ENDPOINT */
	int			users;		/* under domain->mr_lock: accesses running */
	bool			dead;		/* under domain->mr_lock: close has begun */
	void			*priv;		/* the provider's */
};

/* kofi_mr_get - check a remote access and hold the region for it.
 *
 * @access: FI_REMOTE_READ, FI_REMOTE_WRITE, or both
 * @off_p:  [out] offset in the region
 *
 * Errors: -FI_ENOKEY no such key, out of bounds, or not allowed.
 */
int kofi_mr_get(struct kofi_domain *domain, uint64_t key, uint64_t addr, uint64_t len,
		uint64_t access, struct kofi_mr **mr_p, size_t *off_p);
void kofi_mr_put(struct kofi_mr *mr);

/* ---- fabric and domain ---- */

/* What a provider does of a fabric's objects; all may sleep. */
struct kofi_obj_ops {
	/* the provider's part of a domain (domain->priv), or NULL */
	int (*domain)(struct kofi_domain *domain, struct fi_info *info);
	void (*domain_close)(struct kofi_domain *domain);
	int (*endpoint)(struct kofi_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
			void *context);
	int (*passive_ep)(struct kofi_fabric_obj *fabric, struct fi_info *info,
			  struct fid_pep **pep_p, void *context);
	/* the provider's part of a registration (mr->priv, mr->mr.key), or NULL */
	int (*mr_reg)(struct kofi_mr *mr);
	int (*mr_enable)(struct kofi_mr *mr);
	void (*mr_close)(struct kofi_mr *mr);
	bool srx;	/* endpoints take receives of shared contexts (kofi_ep_ops::rx is NULL) */
	/* ends what still accesses a region that is dead, or NULL */
	void (*mr_revoke)(struct kofi_mr *mr);
	/* bytes of the elements of an atomic operation, at most, 0: there is none such;
	 * NULL: all with KOFI_ATOMIC_MAX. Does not sleep. */
	size_t (*atomic_limit)(const struct kofi_domain *domain, enum kofi_op_type type,
			       unsigned int datatype, unsigned int op);
};

struct kofi_fabric_obj {
	struct fid_fabric		fabric;
	atomic_t			refs;	/* domains, event queues, passive endpoints */
	const struct kofi_obj_ops	*ops;
	spinlock_t			req_lock;
	struct list_head		reqs;	/* kofi_req::node, of all listeners; under req_lock */
};

struct kofi_domain {
	struct fid_domain	domain;
	struct kofi_fabric_obj	*fabric;
	atomic_t		refs;		/* what was opened from it */
	uint32_t		addr_format;
	int			mr_mode;
	uint64_t		cq_data_mask;	/* bits of remote data that travel */
	spinlock_t		mr_lock;	/* guards mrs */
	wait_queue_head_t	mr_wait;	/* for users of a dead region */
	DECLARE_HASHTABLE(mrs, 6);
	struct mutex		ep_lock;	/* guards eps */
	struct list_head	eps;		/* kofi_ep::domain_node */
	void			*priv;		/* the provider's */
};

/* kofi_obj_fabric - the whole of a provider's fabric call. May sleep. */
int kofi_obj_fabric(const struct kofi_obj_ops *ops, struct fi_fabric_attr *attr,
		    struct fid_fabric **fabric_p, void *context);

static inline struct net *kofi_domain_net(const struct kofi_domain *domain)
{
	return domain->fabric->fabric.net;
}

/* ---- operations ---- */

/* One operation, from the call that it came by to its completion. */
struct kofi_op {
	struct list_head	node;		/* free list, or a list of the provider's */
	struct kofi_ep		*ep;
	enum kofi_op_type	type;
	uint64_t		flags;		/* of the call, FI_COMPLETION if it reports */
	void			*context;
	fi_addr_t		addr;		/* peer */
	uint64_t		tag;
	uint64_t		ignore;
	uint64_t		data;		/* FI_REMOTE_CQ_DATA */
	struct kofi_segs	segs;		/* list lies in store; atomics: operands */
	struct kofi_segs	compare;	/* KOFI_COMPARE: operands to compare with */
	struct kofi_segs	result;		/* KOFI_FETCH, KOFI_COMPARE: for the old values */
	struct kofi_op		*multi;		/* receive: the buffer that it is a part of, or NULL */
	u32			parts;		/* buffer, under ep->lock: parts that have not ended */
	size_t			used;		/* buffer, likewise: bytes given to parts */
	bool			retired;	/* buffer, likewise: not posted any more */
	int			end_err;	/* buffer, likewise: it is cancelled */
	u8			datatype;	/* atomics: enum fi_datatype */
	u8			amo;		/* atomics: enum fi_op */
	u32			rma_cnt;
	struct fi_rma_iov	rma[KOFI_RMA_MAX];
	void			*store;		/* room for the list, or for injected bytes */
};

/* The operations of one direction of an endpoint. */
struct kofi_pool {
	spinlock_t		lock;		/* guards free, busy */
	struct list_head	free;
	u32			busy;		/* taken and not yet returned */
	wait_queue_head_t	idle;		/* busy has become 0 */
	void			*mem;
	size_t			cnt;
	size_t			stride;		/* bytes of mem per operation */
	size_t			store_size;
};

/* A message that has come and found no receive. */
struct kofi_arrival {
	struct list_head	node;		/* in ep->arrivals */
	bool			tagged;
	fi_addr_t		src;
	uint64_t		tag;
	size_t			len;		/* of the message */
};

enum kofi_cntr_kind {
	KOFI_CNTR_SEND,
	KOFI_CNTR_RECV,
	KOFI_CNTR_READ,
	KOFI_CNTR_WRITE,
	KOFI_CNTR_REMOTE_READ,
	KOFI_CNTR_REMOTE_WRITE,
	KOFI_CNTR_CNT
};

/* The provider's side of an endpoint. */
struct kofi_ep_ops {
	size_t	tx_op_size;	/* of the provider's operation, which begins with a kofi_op */
	size_t	rx_op_size;

	/* Takes a send, write, read or atomic; on an error nothing has changed and @op stays the
	 * caller's. Does not sleep; called without locks. */
	int (*tx)(struct kofi_ep *ep, struct kofi_op *op);

	/* Takes a receive. NULL: the endpoint matches by itself, see kofi_rx_arrive(). */
	int (*rx)(struct kofi_ep *ep, struct kofi_op *op);

	/* A receive was posted that @arrival had waited for; both are the provider's. Does not
	 * sleep; called without locks. */
	void (*rx_match)(struct kofi_ep *ep, struct kofi_op *op, struct kofi_arrival *arrival);

	/* Makes it ready (fi_enable). May sleep. */
	int (*enable)(struct kofi_ep *ep);

	/* Begins the close: nothing new arrives, and each transmit operation of the provider's
	 * and each receive that it holds is completed, now or soon. May sleep. */
	void (*stop)(struct kofi_ep *ep);

	/* All operations have ended: frees the endpoint. May sleep. */
	void (*free)(struct kofi_ep *ep);
};

struct kofi_ep {
	struct fid_ep			ep;
	const struct kofi_ep_ops	*ops;
	struct kofi_domain		*domain;
	struct list_head		domain_node;
	enum fi_ep_type			type;
	uint64_t			caps;
	uint64_t			tx_op_flags;	/* of calls that take no flags */
	uint64_t			rx_op_flags;
	bool				tx_selective;
	bool				rx_selective;
	bool				enabled;
	bool				closing;	/* no call is taken any more */
	bool				down;		/* no receive is: the connection has ended */
	size_t				inject_size;
	size_t				max_msg_size;
	size_t				tx_iov_limit;
	size_t				rx_iov_limit;
	size_t				rma_iov_limit;
	struct kofi_eq			*eq;
	struct kofi_cq			*tx_cq;
	struct kofi_cq			*rx_cq;
	struct kofi_av			*av;
	struct kofi_cntr		*cntr[KOFI_CNTR_CNT];
	struct kofi_pool		tx_pool;
	struct kofi_pool		rx_pool;
	spinlock_t			lock;		/* guards posted, arrivals, closing */
	struct list_head		posted[2];	/* receives: untagged, tagged */
	struct list_head		arrivals[2];	/* kofi_arrival, likewise */
	struct kofi_ep			*srx;		/* shared receive context, or NULL */
	struct list_head		srx_node;	/* among its users */
	struct delayed_work		rematch;	/* no operation was free for a message */
	size_t				min_multi;	/* FI_OPT_MIN_MULTI_RECV */
	struct kofi_event		*connected;	/* MSG: events to come, or NULL */
	struct kofi_event		*ended;
};

/* kofi_ep_init - fill in an endpoint that the provider has allocated, zeroed. May sleep.
 *
 * @cm: its connection calls, or NULL
 *
 * Ownership: on success kofi_ep_ops::free is called in the end; on an error the caller frees.
 */
int kofi_ep_init(struct kofi_ep *ep, struct kofi_domain *domain, const struct fi_info *info,
		 const struct kofi_ep_ops *ops, struct fi_ops_cm *cm, void *context);

/* kofi_ep_events - set aside the events of a connection that begins, the first one with room
 * for @room bytes of private data. May sleep. */
int kofi_ep_events(struct kofi_ep *ep, size_t room);

/* kofi_ep_connected - the connection is there, or with @err not: tell the application, once. */
void kofi_ep_connected(struct kofi_ep *ep, int err, const void *data, size_t len);

/* kofi_ep_ended - a connection that was there has ended: tell the application, once. */
void kofi_ep_ended(struct kofi_ep *ep);

/* kofi_ep_fini - undo kofi_ep_init() of an endpoint that was never returned. May sleep. */
void kofi_ep_fini(struct kofi_ep *ep);

/* kofi_rx_match - take the posted receive that a message matches, or NULL. */
struct kofi_op *kofi_rx_match(struct kofi_ep *ep, const struct kofi_arrival *arrival);

/* kofi_rx_arrive - the same; without one, @arrival waits until kofi_ep_ops::rx_match.
 *
 * Ownership: with NULL returned @arrival is the endpoint's until rx_match or
 *            kofi_arrival_cancel().
 * Errors:    ERR_PTR(-FI_ESHUTDOWN) the endpoint closes, or is down.
 */
struct kofi_op *kofi_rx_arrive(struct kofi_ep *ep, struct kofi_arrival *arrival);

/* kofi_arrival_cancel - take an arrival back; false: rx_match has it. */
bool kofi_arrival_cancel(struct kofi_ep *ep, struct kofi_arrival *arrival);

/* kofi_rx_repost - put a receive back at the head of the posted ones; a part of a buffer is dropped. */
void kofi_rx_repost(struct kofi_ep *ep, struct kofi_op *op);

/* kofi_ep_down - a connection has ended: complete all posted receives with an error, and take
 * no more. */
void kofi_ep_down(struct kofi_ep *ep, int err);

/* kofi_pool_op - the operation number @i of a pool, taken or free; NULL behind the last one. */
static inline struct kofi_op *kofi_pool_op(const struct kofi_pool *pool, size_t i)
{
	return i < pool->cnt ? pool->mem + i * pool->stride : NULL;
}

/* kofi_tx_done - a send, write, read or atomic has ended; @op is void afterwards.
 *
 * @err: FI_E number, positive, or 0
 */
void kofi_tx_done(struct kofi_op *op, int err);

/* What the completion of a receive says. */
struct kofi_recvd {
	size_t		len;		/* of the message */
	uint64_t	flags;		/* FI_REMOTE_CQ_DATA */
	uint64_t	data;
	uint64_t	tag;
	fi_addr_t	src;
};

/* kofi_rx_done - a receive has ended; FI_ETRUNC is found here. @op is void afterwards. */
void kofi_rx_done(struct kofi_op *op, int err, const struct kofi_recvd *recvd);

/* kofi_remote_done - a peer has accessed a region of the domain.
 *
 * @flags: FI_RMA or FI_ATOMIC, FI_REMOTE_WRITE, FI_REMOTE_READ; FI_REMOTE_CQ_DATA: with @data, which
 *         needs an entry of the receive queue
 *
 * Errors: -FI_EOVERRUN there is none.
 */
int kofi_remote_done(struct kofi_ep *ep, uint64_t flags, size_t len, uint64_t data);

/* ---- atomic operations ---- */

/* kofi_atomic_size - bytes of an element; 0: no such operation. The numbers may be a peer's. */
size_t kofi_atomic_size(enum kofi_op_type type, unsigned int datatype, unsigned int op);

/* One at its target. */
struct kofi_atomic {
	enum kofi_op_type	type;		/* KOFI_ATOMIC and the two behind it */
	u8			datatype;	/* kofi_atomic_size() has passed these */
	u8			op;
	uint64_t		flags;		/* FI_REMOTE_CQ_DATA: with data */
	uint64_t		data;
	u32			rma_cnt;	/* at most KOFI_ATOMIC_RANGES */
	const struct fi_rma_iov	*rma;		/* lengths in bytes, whole elements */
	const struct kofi_segs	*operand;	/* these three have as many bytes as rma, or none: */
	const struct kofi_segs	*compare;	/* ... then they may be NULL, and are not used */
	const struct kofi_segs	*result;	/* NULL: old values are not wanted */
};

/* kofi_atomic_serve - do it to regions of the domain of @ep, or nothing of it.
 *
 * Errors: -FI_ENOKEY a range is not allowed; -FI_EOVERRUN as kofi_remote_done(): it was done.
 */
int kofi_atomic_serve(struct kofi_ep *ep, const struct kofi_atomic *atomic);

/* ---- passive endpoints ---- */

/* A connection request, from its announcement to its answer. */
struct kofi_req {
	struct fid		fid;		/* the handle */
	struct list_head	node;		/* in fabric->reqs */
	struct kofi_pep		*pep;		/* valid while it is there */
};

/* The provider's side of one. All but leave may sleep. */
struct kofi_pep_ops {
	int (*listen)(struct kofi_pep *pep);
	/* Begins the close: no request is posted after it. */
	void (*stop)(struct kofi_pep *pep);
	/* A request that was taken from the listener is refused, and freed. */
	void (*refuse)(struct kofi_req *req);
	void (*free)(struct kofi_pep *pep);
	/* A request that is posted leaves the provider's own list; false: it has gone from there.
	 * Under a lock. NULL: there is no such list. */
	bool (*leave)(struct kofi_pep *pep, struct kofi_req *req);
};

struct kofi_pep {
	struct fid_pep			pep;
	const struct kofi_pep_ops	*ops;
	struct kofi_fabric_obj		*fabric;
	struct kofi_eq			*eq;
	struct fi_info			*info;		/* without the address of a peer */
	bool				listening;
	bool				closing;	/* under fabric->req_lock; so is the next one */
	u32				req_cnt;
};

/* kofi_pep_init - fill in a passive endpoint that the provider has allocated, zeroed. May sleep.
 *
 * Ownership: on success kofi_pep_ops::free is called in the end; on an error the caller frees.
 */
int kofi_pep_init(struct kofi_pep *pep, struct kofi_fabric_obj *fabric, const struct fi_info *info,
		  const struct kofi_pep_ops *ops, struct fi_ops_cm *cm, void *context);

/* kofi_pep_listen - fi_ops_cm::listen of all of them. */
int kofi_pep_listen(struct fid_pep *fid);

/* kofi_pep_info - what an endpoint for a request is opened with, by the IP address of the peer. May
 * sleep. NULL: no memory. */
struct fi_info *kofi_pep_info(const struct kofi_pep *pep, const void *peer);

/* kofi_req_post - announce a request, with what the peer passed along.
 *
 * Ownership: @req is the listener's until it is taken, @info the event queue's; on an error both
 *            stay the caller's.
 * Errors:    -FI_ECONNREFUSED the listener closes, or has too many that are not answered;
 *            -FI_ENOMEM.
 */
int kofi_req_post(struct kofi_pep *pep, struct kofi_req *req, struct fi_info *info,
		  const void *data, size_t len, gfp_t gfp);

/* kofi_pep_take - the request of @pep that @handle names becomes the caller's; NULL: there is none.
 * Nothing of @handle is read. */
struct kofi_req *kofi_pep_take(struct kofi_pep *pep, const struct fid *handle);

/* kofi_ep_take - likewise for an endpoint that is opened with @info; without a handle *req_p is NULL.
 *
 * Errors: -FI_EINVAL the handle is that of no request, or of one that was answered.
 */
int kofi_ep_take(struct kofi_ep *ep, const struct fi_info *info, struct kofi_req **req_p);

/* ---- names over IP ---- */

/* kofi_ip_getinfo - the offers of a provider on IP interfaces, one per address.
 *
 * @template: an offer; addresses, names and addr_format are filled in
 * @filter:   tells whether an interface will do, and may change the offer; or NULL
 *
 * Ownership: appended to *list_p. May sleep.
 * Errors:    -FI_ENODATA none; -FI_EINVAL an address that does not parse; -FI_ENOMEM.
 */
int kofi_ip_getinfo(const struct kofi_query *query, const struct fi_info *template,
		    bool (*filter)(struct net *net, const char *ifname,
				   const struct sockaddr *addr, struct fi_info *offer),
		    struct fi_info **list_p);

/* kofi_ip_len - bytes of a sockaddr_in or sockaddr_in6; 0 when it is neither. */
size_t kofi_ip_len(const void *addr);

/* kofi_name_copy - the shape of fi_getname(): as much as fits, -FI_ETOOSMALL when not all. */
int kofi_name_copy(void *addr, size_t *addrlen, const void *name, size_t len);

#endif /* KOFI_OBJ_H */
