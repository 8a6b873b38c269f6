/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ep.h - the engine's endpoint and its receive context.
 *
 * Everything here is guarded by ep->base.prog->lock once the endpoint is enabled.
 */
#ifndef ENG_EP_H
#define ENG_EP_H

#include "base/line.h"
#include "base/hmap.h"
#include "engine/api.h"
#include "engine/grp.h"
#include "engine/match.h"
#include "obj/inspect/shown.h"
#include "obj/log.h"
#include "obj/pep.h"

struct eng_oob;
struct eng_oob_user;
struct eng_query;
struct eng_inbox;
struct eng_peer;
struct eng_recv;

/* How long fi_close() sends what is already reported complete. */
#define ENG_LINGER_MS 2000

/* How long a message may stand still that arrives in a receive the program has tried to cancel. */
#define ENG_CANCEL_MS 5000

/* An endpoint's memory for unexpected messages is this part of what one peer may use at most
 * (FI_UNEXP_PEER_MAX): a peer that is alone may use all of it, one among many never less than one of so
 * many parts.
 */
#define ENG_UNEXP_PART 4
#define ENG_UNEXP_PEERS 256

/* What may wait to be sent to a peer without its asking for it is this part of what a peer may send: it
 * has to be well below what a receiver takes.
 */
#define ENG_AHEAD_PART 8

/* Bytes of injected payload that the link keeps copies of for a peer before the calls return -FI_EAGAIN:
 * twice what a ring of shared memory holds.
 */
#define ENG_KEPT ((size_t) 256 << 10)

/* Beyond so much of a peer, or of all, nothing more is taken in. */
#define ENG_HELD_PEER (UINT64_C(256) << 20)
#define ENG_HELD_ALL (ENG_HELD_PEER * 4)

/* What one peer's headers may take, each counted as what it takes at most, with a short payload: ten
 * million of them.
 */
#define ENG_HEAD_COST 400
#define ENG_HEADS_PEER (UINT64_C(10000000) * ENG_HEAD_COST)

/* Operations in a queue.  Programs post more than tx_attr->size and rx_attr->size before they let anything
 * complete, and then wait for a peer that does the same: the sizes are a guarantee, and -FI_EAGAIN means
 * that memory is short.
 */
#define ENG_TX_QUEUE_MAX ((size_t) 1 << 20)
#define ENG_RX_QUEUE_MAX (ENG_TX_QUEUE_MAX * 4)

/* From here on a write waits for the target's answer, so that its completion says whether it was refused: fi_rma(3).
 * A round trip is a small part of its time from here on, and shm writes such payload by itself (RMA_MIN).  The limit
 * is one for all links: which of them a peer is reached over is not the program's choice.
 */
#define ENG_RMA_LONG (32u << 10)

#define ENG_PEER_PAGE 512

/* The connection of an FI_EP_MSG endpoint has a state of its own: obj_cm_state(). */
enum eng_ep_state {
	ENG_EP_OPEN,		/* not enabled */
	ENG_EP_READY,		/* enabled */
	ENG_EP_CLOSED,		/* in fi_close(): completions are dropped */
};

/* A receive context: what is posted and what came unasked. */
struct eng_rxc {
	_Alignas(LINE_SIZE) struct match tagged;
	size_t posted;			/* receives in the two matchers */
	size_t max;			/* most of them */
	_Alignas(LINE_SIZE) struct match msgs;	/* untagged */
	struct list claimed;		/* struct eng_msg by m.all: found by a peek, kept for its claimer */
	struct fid_peer_srx *owner;	/* FI_PEER: another provider matches, see imported.h; or NULL */
	size_t size;			/* so many are guaranteed */
	bool sought;			/* a peek has found nothing, see flow.h */
	bool by_data;			/* messages are distinguished by their data word, not their source */
};

/* A standard endpoint, a scalable one, a context of it, or a shared receive context:
 * base.h.fid.fid.fclass says which.
 *
 *                     hub           rxc                    posts
 *   EP                itself        own, or the SRX's      both
 *   SEP               itself        own, one a context     nothing: its contexts do
 *   TX_CTX, RX_CTX    the SEP       one of the SEP's       sends; receives
 *   SRX_CTX           itself        own                    receives; it has no link
 */
struct eng_ep {
	struct obj_ep base;		/* first */
	struct eng_grp *grp;		/* from enable on */
	int tx_ret, rx_ret;		/* why nothing can be sent, or received, by it; 0: it can */
	struct eng_link *link;		/* from enable on */
	struct eng_peer ***pages;	/* peers by fi_addr: page_cnt pages of ENG_PEER_PAGE */
	struct eng_rxc *rxc;		/* @rxc_cnt receive contexts, by their number on the wire */
	unsigned rxc_cnt;
	bool fast_rx;			/* received messages may take the fast path */
	bool directed;			/* FI_DIRECTED_RECV */
	bool source;			/* FI_SOURCE */
	bool source_err;		/* FI_SOURCE_ERR */
	size_t tx_out;			/* requests that are not complete */
	size_t tx_size;			/* so many are guaranteed; beyond, each makes progress first */
	size_t fast_end;		/* messages shorter than this may take the fast path; 0: none */
	struct eng_peer *only;		/* FI_EP_MSG: the one peer that there is, once enabled */
	struct eng_peer **first;	/* pages[0], or NULL */
	struct eng_ep *hub;		/* who has the link and the peers */
	/* up to here lies what short messages need; @rxc to @hub share a cache line */
	size_t page_cnt;
	enum eng_ep_state state;
	const struct eng_link_ops *link_ops;

	/* sending */
	size_t tx_max;			/* most requests */
	size_t ahead;			/* bytes that may wait for a peer before it asks */
	size_t unpolled;		/* bytes of payload sent unasked since it was last seen to that XOFF
					 * is noticed */
	size_t inject_size;
	size_t max_msg_size;
	size_t rma_long;		/* ENG_RMA_LONG, or more than max_msg_size */
	unsigned rx_bits;		/* hub: of the av, in an fi_addr_t; most have none */
	size_t inject_out;		/* hub: injected messages that only we have a copy of */
	bool spins;			/* the program polls: its queues have no wait objects */
	bool beyond;			/* the call in progress found tx_size requests */
	bool retries;			/* an inject has returned -FI_EAGAIN, eng_tx_refuses() */

	/* receiving */
	struct eng_rxc *own;		/* to be freed with us, or NULL */

	/* the library's own messages (oob.h) */
	const struct eng_oob_user *oob_user;	/* who else has them; NULL: a shared receive context's */
	struct eng_oob *oob;	/* NULL until the first */
	struct eng_query *query;	/* questions about what waits (query.h); NULL until the first */

	/* peers */
	struct hmap by_addr;		/* hash of the address -> chain of peers */
	struct list peers;		/* all, peer_cnt of them */
	size_t peer_cnt;
	struct list idle;		/* peers that may go when memory is wanted */
	uint64_t unexp_budget;		/* see flow.h */
	uint64_t held_peer_max, held_max;	/* hard limits, for one peer and for all */
	uint64_t heads_max;		/* the same for headers of one peer */
	uint64_t held;			/* sum of all peers' */
	size_t unexp_peers;		/* peers that hold unexpected messages */

	/* shared receive contexts */
	struct eng_ep *srx;		/* the one that we use, or NULL */
	struct list srx_node;		/* on its @users */
	struct list users;		/* SRX: enabled endpoints that use it */
	struct eng_inbox *inbox;	/* SRX with FI_PEER: where its owner calls */
	struct list imported;		/* SRX with FI_PEER: struct eng_imported, at the owner's */

	/* scalable endpoints */
	struct eng_ep **tx_ctx, **rx_ctx;	/* SEP: by index; NULL: not open */
	size_t rx_busy;			/* receives that are being filled */
	struct obj_shown shown;		/* hub: to be looked at, see seen.h */
};

static inline struct eng_ep *eng_ep_of(struct fid_ep *fid)
{
	return (struct eng_ep *) obj_ep_of(fid);
}

static inline struct eng_ep *eng_ep_of_fid(struct fid *fid)
{
	return eng_ep_of(container_of(fid, struct fid_ep, fid));
}

/* eng_ep_enabled - has it been?  Threading: any; ep->state needs the lock. */
static inline bool eng_ep_enabled(const struct eng_ep *ep)
{
	return ep->grp != NULL;
}

/* eng_ep_set_state - the only way to change ep->state; asserts that it may. */
void eng_ep_set_state(struct eng_ep *ep, enum eng_ep_state state);

/* eng_rxc_init - an empty receive context.  Errors: -FI_ENOMEM. */
int eng_rxc_init(struct eng_rxc *rxc, size_t size);
void eng_rxc_fini(struct eng_rxc *rxc);

/* eng_ep_own_rxc - give @ep @cnt empty receive contexts of its own.  Errors: -FI_ENOMEM. */
int eng_ep_own_rxc(struct eng_ep *ep, unsigned cnt, size_t size);
void eng_ep_fini_rxc(struct eng_ep *ep);

/* eng_ep_new - what all classes of endpoint have.
 * @ops:  stays the caller's
 * @link: NULL for a shared receive context
 * Errors: those of obj_ep_init().
 */
int eng_ep_new(size_t fclass, struct fid_domain *domain, const struct fi_info *info,
	       const struct obj_ep_ops *ops, const struct eng_link_ops *link, void *context,
	       struct eng_ep **ep_p);

/* eng_ep_free - undo eng_ep_new() and what came after it; the link is closed. */
void eng_ep_free(struct eng_ep *ep);

/* eng_ep_set_tables - the calls that base.caps allow.  fid->fid.ops is the caller's. */
void eng_ep_set_tables(struct eng_ep *ep);

/* eng_ep_set_fast - the hub has its link: which messages of @ep may take the fast path? */
void eng_ep_set_fast(struct eng_ep *ep);

/* eng_ep_start_hub - open the link.  Caller does not hold the lock.
 * Errors: the link's, -FI_ENOMEM.
 */
int eng_ep_start_hub(struct eng_ep *ep);

/* Of an endpoint with a link, standard or scalable; of a standard one or a context. */
extern struct fi_ops eng_ep_fid_ops;
extern struct fi_ops_ep eng_ep_ops;

/* eng_ep_ctx - the receive context that @dest names; 0 without such names. */
static inline uint16_t eng_ep_ctx(const struct eng_ep *ep, fi_addr_t dest)
{
	unsigned bits = ep->hub->rx_bits;

	return bits && dest != FI_ADDR_UNSPEC ? (uint16_t) (dest >> (64 - bits)) : 0;
}

/* eng_ep_rx - whose events an operation of a peer on context @ctx of @hub raises. */
static inline struct eng_ep *eng_ep_rx(struct eng_ep *hub, unsigned ctx)
{
	struct eng_ep *ep = hub->rx_ctx && ctx < hub->rxc_cnt ? hub->rx_ctx[ctx] : NULL;

	return ep && eng_ep_enabled(ep) ? ep : hub;
}

/* ---- shared receive contexts (srx.c) ----------------------------------------- */

/* eng_srx_join, eng_srx_leave - @ep is enabled with base.srx, or closes.
 * Without the lock.  Errors: -FI_EINVAL the others use another address vector.
 */
int eng_srx_join(struct eng_ep *ep);
void eng_srx_leave(struct eng_ep *ep);

/* eng_srx_reporter - whose queue reports what no endpoint in particular received:
 * @ep itself, for a shared context that has no queue one of its endpoints.
 */
struct eng_ep *eng_srx_reporter(struct eng_ep *ep);

/* The tables of an endpoint; each in the file of its noun. */
extern struct fi_ops_msg eng_send_msg_ops;
extern struct fi_ops_tagged eng_send_tagged_ops;
extern struct fi_ops_rma eng_rma_ops;
extern struct fi_ops_atomic eng_amo_ops;

/* ---- connections (cm.c) ----------------------------------------------------- */

/* eng_cm_lost - the channel of an MSG endpoint is gone, for the reason @err. */
void eng_cm_lost(struct eng_ep *ep, int err);

/* What obj/cm.h calls for all classes of endpoint that have a name. */
extern const struct obj_cm_ops eng_cm_ops;

/* eng_pep_give - @pep gives up its address: it becomes info->src_addr (pep.c).
 * Threading: pep->prog is locked.  Errors: -FI_ENOMEM, those of the link.
 */
int eng_pep_give(struct obj_pep *pep, struct fi_info *info);

#define ENG_WARN(ep, ...) OBJ_WARN((ep)->base.prov, FI_LOG_EP_CTRL, __VA_ARGS__)
#define ENG_INFO(ep, ...) OBJ_INFO((ep)->base.prov, FI_LOG_EP_CTRL, __VA_ARGS__)

#endif
