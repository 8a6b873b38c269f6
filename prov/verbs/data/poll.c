/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poll.c - the poller of a group.  It reads the completions of all its endpoints from one queue,
 * retires their requests, and writes completions and errors for the program.  How a queue is read
 * is chosen when it is made (vrb_cq.run).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "verbs/dgram.h"
#include "verbs/done.h"
#include "verbs/kind.h"

#define CQ_FIRST 256u
#define ACK_BATCH 1024u
#define DIRECT_SHARE 4u		/* endpoints per queue of the direct path, which cannot grow */

static const struct obj_poller_ops poller_ops;

static struct vrb_poller *poller_of(struct obj_poller *base)
{
	return container_of(base, struct vrb_poller, base);
}

/* ---- errors --------------------------------------------------------------------- */

int vrb_wc_error(enum ibv_wc_status status, bool recv)
{
	switch (status) {
	case IBV_WC_WR_FLUSH_ERR:
		return FI_ECANCELED;
	case IBV_WC_LOC_LEN_ERR:
		return recv ? FI_ETRUNC : FI_EMSGSIZE;
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
	case IBV_WC_REM_ACCESS_ERR:
		return FI_EACCES;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
		return FI_EREMOTEIO;
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RESP_TIMEOUT_ERR:
		return FI_EHOSTUNREACH;
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return FI_ENORX;
	default:
		return FI_EIO;
	}
}

static struct fi_cq_err_entry err_entry(const struct vrb_wc *wc, void *context, uint64_t flags)
{
	bool recv = wc->wr_id & VRB_WR_RECV;

	return (struct fi_cq_err_entry) {
		.op_context = context,
		.flags = flags,
		.err = vrb_wc_error(wc->status, recv),
		.prov_errno = (int) wc->status,
		.src_addr = FI_ADDR_NOTAVAIL,
	};
}

void vrb_wc_warn(const struct vrb_ep *ep, const struct vrb_wc *wc, const char *outcome)
{
	VRB_WARN(FI_LOG_EP_DATA, "endpoint %p (context %p): the device reports: %s (status %d, "
		 "vendor code 0x%x); %s\n", (void *) ep, ep->base.h.fid.fid.context,
		 vrb_ibv.wc_status_str(wc->status), wc->status, wc->vendor_err, outcome);
}

/* The first failure ends the connection on both sides: the queue pair is in the error state.  It is
 * logged; requests that are flushed after it are not.
 */
static void ep_fail(struct vrb_ep *ep, const struct vrb_wc *wc)
{
	if (ep->failed || ep->domain->kind->shares)
		return;
	if (ep->dgram) {
		vrb_dgram_revive(ep, wc);
		return;
	}
	ep->failed = true;
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	vrb_wc_warn(ep, wc, "the connection ends");
	vrb_cm.disconnect(ep->cm.id);
}

/* ---- completions ---------------------------------------------------------------- */

void vrb_tx_done_slow(const struct vrb_tx *tx)
{
	struct obj_ep *ep = &tx->ep->base;

	if (tx->ep->domain->kind->shares)
		tx->ep->domain->kind->sent(tx);
	if (!tx->ep->closing)
		obj_ep_comp_tx(ep, tx->want, tx->context, tx->flags, tx->len, tx->cntr);
}

void vrb_tx_failed(const struct vrb_tx *tx, const struct vrb_wc *wc)
{
	struct fi_cq_err_entry e = err_entry(wc, tx->context, tx->flags);
	struct vrb_ep *ep = tx->ep;

	ep->tx_head = tx->at + 1;
	e.len = tx->len;
	if (ep->domain->kind->shares)
		ep->domain->kind->failed(tx, wc);
	if (ep->closing)
		return;
	ep_fail(ep, wc);
	if (tx->flags)
		obj_ep_err_tx(&ep->base, &e, NULL, 0, tx->cntr);
}

static inline void on_tx(const struct vrb_wc *wc)
{
	const struct vrb_tx *tx = (const struct vrb_tx *) (uintptr_t) wc->wr_id;

	if (__builtin_expect(wc->status == IBV_WC_SUCCESS, 1))
		vrb_tx_done(tx);
	else
		vrb_tx_failed(tx, wc);
}

/* Flushed receives are reported, too: each posted buffer is given back once. */
static void rx_failed(struct vrb_ep *ep, const struct vrb_rx *rx, const struct vrb_wc *wc)
{
	struct fi_cq_err_entry e = err_entry(wc, rx->context, FI_RECV | FI_MSG);

	if (ep->closing)
		return;
	e.buf = rx->buf;
	ep_fail(ep, wc);
	obj_ep_err_rx(&ep->base, &e, NULL, 0, OBJ_CNTR_RECV);
}

/* A datagram is longer than its buffer: the rest is in the discard buffer. */
static void rx_cut(struct vrb_ep *ep, const struct vrb_rx *rx, const struct vrb_wc *wc)
{
	struct fi_cq_err_entry e = err_entry(wc, rx->context, FI_RECV | FI_MSG);

	e.err = FI_ETRUNC;
	e.len = rx->room;
	e.olen = wc->len - rx->grh_len - rx->room;
	e.buf = rx->buf;
	e.data = wc->has_imm ? wc->imm : 0;
	obj_ep_err_rx(&ep->base, &e, NULL, 0, OBJ_CNTR_RECV);
}

static inline void rx_done(struct vrb_ep *ep, const struct vrb_rx *rx, const struct vrb_wc *wc)
{
	uint64_t flags = FI_RECV | FI_MSG, data = 0;
	enum obj_ep_cntr cntr = OBJ_CNTR_RECV;

	if (__builtin_expect(rx->grh_len && ep->dgram->grhs, 0)) {
		vrb_dgram_received(ep, rx, wc);
		return;
	}
	if (wc->has_imm) {
		flags |= FI_REMOTE_CQ_DATA;
		data = wc->imm;
		if (wc->write) {
			flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
			cntr = OBJ_CNTR_REMOTE_WRITE;
		}
	}
	obj_ep_comp_rx(&ep->base, rx->want, rx->context, flags, wc->len - rx->grh_len, rx->buf, data,
		       0, FI_ADDR_NOTAVAIL, cntr);
}

/* A shared receive is reported by the endpoint that it arrived for, where that has a queue pair of its
 * own, else by any endpoint of the context.  The slot is released before the completion is written, which may post again.
 */
static inline void on_rx(struct vrb_poller *p, const struct vrb_wc *wc)
{
	struct vrb_rx *rx = (struct vrb_rx *) (uintptr_t) (wc->wr_id & ~VRB_WR_RECV);
	struct vrb_ep *owner = rx->ep, *ep = owner;
	struct vrb_rx copy = *rx;

	if (owner->srq) {
		ep = p->domain->kind->shares ? p->domain->kind->receiver(owner) :
					       hmap_find(&p->eps, wc->qp_num);
		pool_put(&owner->rx_pool, rx);
		if (!ep)
			return;
		copy.want = obj_ep_want_rx_comp(&ep->base, copy.want ? FI_COMPLETION : 0);
	} else {
		owner->rx_head++;
	}
	if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0))
		rx_failed(ep, &copy, wc);
	else if (ep->closing)
		return;
	else if (__builtin_expect(wc->len - copy.grh_len > copy.room, 0))
		rx_cut(ep, &copy, wc);
	else
		rx_done(ep, &copy, wc);
}

static inline void on_any(struct vrb_poller *p, const struct vrb_wc *wc)
{
	if (wc->wr_id & VRB_WR_RECV)
		on_rx(p, wc);
	else
		on_tx(wc);
}

void vrb_wc_handle(struct vrb_poller *p, const struct vrb_wc *wc)
{
	on_any(p, wc);
}

static __attribute__((noinline)) void on_wc_slow(struct vrb_poller *p, const struct ibv_wc *ibv)
{
	struct vrb_wc wc;

	vrb_wc_read(ibv, &wc);
	on_any(p, &wc);
}

static inline void on_wc(struct vrb_poller *p, const struct ibv_wc *wc)
{
	const uint64_t wr_id = wc->wr_id;

	if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0))
		on_wc_slow(p, wc);
	else if (!(wr_id & VRB_WR_RECV))
		vrb_tx_done(vrb_tx_of(wr_id));
	else if (vrb_rx_of(wr_id)->ep->fast_comp && !(wc->wc_flags & IBV_WC_WITH_IMM))
		vrb_rx_done_fast(vrb_rx_of(wr_id), wc->byte_len);
	else
		on_wc_slow(p, wc);
}

/* One call of ibv_poll_cq(); the caller polls again for more. */
static int run_poll(struct vrb_poller *p, struct vrb_cq *cq, unsigned budget)
{
	struct ibv_wc wc[VRB_BUNCH_MAX], *at = wc;
	int cnt = ibv_poll_cq(cq->cq, vrb_conf.bunch, wc);
	const struct ibv_wc *end = wc + cnt;

	if (cnt <= 0)
		return 0;
	do
		on_wc(p, at++);
	while (at != end);
	return cnt;
}

/* Returns false for the slow path, with nothing changed. */
static inline __attribute__((always_inline)) bool on_ext(struct ibv_cq_ex *cqx)
{
	const uint64_t wr_id = cqx->wr_id;

	if (__builtin_expect(cqx->status != IBV_WC_SUCCESS, 0))
		return false;
	if (!(wr_id & VRB_WR_RECV)) {
		vrb_tx_done(vrb_tx_of(wr_id));
		return true;
	}
	if (!vrb_rx_of(wr_id)->ep->fast_comp || (ibv_wc_read_wc_flags(cqx) & IBV_WC_WITH_IMM))
		return false;
	vrb_rx_done_fast(vrb_rx_of(wr_id), ibv_wc_read_byte_len(cqx));
	return true;
}

/* The completion is handled after ibv_end_poll(): it may lead to other calls on the queue. */
static __attribute__((noinline)) void on_ext_slow(struct vrb_poller *p, struct ibv_cq_ex *cqx)
{
	struct vrb_wc wc;

	vrb_ext_read(cqx, &wc);
	ibv_end_poll(cqx);
	on_any(p, &wc);
}

/* run_poll() by the extended interface. */
static int run_ext(struct vrb_poller *p, struct vrb_cq *cq, unsigned budget)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *cqx = cq->cqx;
	unsigned done = 0;
	bool fast_comp;

	for (; done < budget && !ibv_start_poll(cqx, &attr); on_ext_slow(p, cqx)) {
		do {
			fast_comp = on_ext(cqx);
			done++;
		} while (fast_comp && done < budget && !ibv_next_poll(cqx));
		if (__builtin_expect(fast_comp, 1)) {
			ibv_end_poll(cqx);
			break;
		}
	}
	return (int) done;
}

/* run_ext() with timestamps. */
static int run_timed(struct vrb_poller *p, struct vrb_cq *cq, unsigned budget)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *cqx = cq->cqx;
	unsigned done = 0;
	uint64_t ticks;
	struct vrb_wc wc;

	for (; done < budget && !ibv_start_poll(cqx, &attr); done++) {
		ticks = ibv_wc_read_completion_ts(cqx);
		vrb_ext_read(cqx, &wc);
		ibv_end_poll(cqx);
		obj_cq_time = (uint64_t) ((unsigned __int128) ticks * CLOCK_NS_PER_MS /
					  p->domain->clock_khz);
		on_any(p, &wc);
	}
	obj_cq_time = 0;
	return (int) done;
}

/* For soft-RoCE, where ibv_next_poll() is not used: one entry per call, as looking for a second one
 * costs as much as another call.
 */
static int run_single(struct vrb_poller *p, struct vrb_cq *cq, unsigned budget)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *cqx = cq->cqx;

	if (ibv_start_poll(cqx, &attr))
		return 0;
	if (__builtin_expect(on_ext(cqx), 1))
		ibv_end_poll(cqx);
	else
		on_ext_slow(p, cqx);
	return 1;
}

static __attribute__((noinline)) int run_all(struct vrb_poller *p, unsigned budget)
{
	struct vrb_cq *cq;
	int done = 0;

	for (cq = p->cqs; cq; cq = cq->next)
		done += cq->run(p, cq, budget);
	return done;
}

/* Almost all groups have one queue: a tail call. */
static int poller_poll(struct obj_poller *base, unsigned budget)
{
	struct vrb_poller *p = poller_of(base);
	struct vrb_cq *cq = p->cqs;

	if (__builtin_expect(cq && !cq->next, 1))
		return cq->run(p, cq, budget);
	return run_all(p, budget);
}

int vrb_poller_run(struct vrb_poller *p, unsigned budget)
{
	return run_all(p, budget);
}

/* ---- sleep ---------------------------------------------------------------------- */

/* Events of the channel are acknowledged in batches: acknowledging takes a mutex. */
static void take_events(struct vrb_poller *p)
{
	struct ibv_cq *ibv;
	struct vrb_cq *cq;
	void *context;

	while (!vrb_ibv.get_cq_event(p->channel, &ibv, &context)) {
		cq = context;
		cq->events_all++;
		if (++cq->events >= ACK_BATCH) {
			vrb_ibv.ack_cq_events(cq->cq, cq->events);
			cq->events = 0;
		}
	}
}

/* The device raises an event for completions after arming; those before it are polled now. */
static int poller_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct vrb_poller *p = poller_of(base);
	struct vrb_cq *cq;

	take_events(p);
	for (cq = p->cqs; cq; cq = cq->next)
		if (cq->ops->arm(cq))
			return -FI_EAGAIN;
	return vrb_poller_run(p, OBJ_POLL_BUDGET) ? -FI_EAGAIN : 0;
}

/* ---- life ----------------------------------------------------------------------- */

static void cq_close(struct vrb_cq *cq)
{
	if (cq->events)
		vrb_ibv.ack_cq_events(cq->cq, cq->events);
	cq->ops->close(cq);
}

static void poller_close(struct obj_poller *base)
{
	struct vrb_poller *p = poller_of(base);
	struct vrb_cq *cq, *next;

	take_events(p);
	for (cq = p->cqs; cq; cq = next) {
		next = cq->next;
		cq_close(cq);
	}
	vrb_mlx5_group_fini(&p->mlx5);
	vrb_ibv.destroy_comp_channel(p->channel);
	hmap_destroy(&p->eps);
	hmap_destroy(&p->inis);
	free(p);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poller_poll,
	.arm = poller_arm,
	.close = poller_close,
};

/* The channel is not blocking: its fd wakes a thread that sleeps. */
static int poller_new(struct vrb_domain *domain, struct obj_prog *prog, struct vrb_poller **p_p)
{
	struct vrb_poller *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return -FI_ENOMEM;
	p->base.ops = &poller_ops;
	p->base.key = &poller_ops;
	p->domain = domain;
	hmap_init(&p->eps);
	hmap_init(&p->inis);
	p->channel = vrb_ibv.create_comp_channel(domain->ctx);
	if (!p->channel) {
		ret = -errno;
		goto err_free;
	}
	p->base.fd = p->channel->fd;
	fcntl(p->base.fd, F_SETFL, fcntl(p->base.fd, F_GETFL) | O_NONBLOCK);
	obj_prog_add(prog, &p->base);
	*p_p = p;
	return 0;
err_free:
	free(p);
	return ret;
}

/* Is there room for @entries more, perhaps after growing the queue? */
static bool make_room(struct vrb_domain *domain, struct vrb_cq *cq, unsigned entries)
{
	unsigned need = cq->used + entries, size = (unsigned) cq->cq->cqe;

	if (need <= size)
		return true;
	if (vrb_mlx5_is_direct(cq))
		return false;	/* growing would move its memory */
	while (size < need)
		size *= 2;
	if (size > (unsigned) domain->attr.max_cqe)
		size = (unsigned) domain->attr.max_cqe;
	return size >= need && !vrb_ibv.resize_cq(cq->cq, (int) size);
}

/* A new queue goes in front of the list: later endpoints use it. */
static int cq_new(struct vrb_poller *p, unsigned entries, bool direct, bool timed,
		  struct vrb_cq **cq_p)
{
	unsigned size = entries > CQ_FIRST ? entries : CQ_FIRST;
	struct vrb_cq *cq;
	int ret;

	if (direct)
		ret = vrb_mlx5_cq_new(p->domain->ctx, p->channel, size * DIRECT_SHARE, &cq);
	else
		ret = vrb_cq_new(p->domain->ctx, p->channel, size,
				 p->domain->attr.vendor_id == VRB_VENDOR_RXE, timed, &cq);
	if (ret) {
		VRB_WARN(FI_LOG_CQ, "cannot create a completion queue of %u entries: %s\n", size,
			 fi_strerror(-ret));
		return ret;
	}
	cq->run = direct ? vrb_mlx5_run : cq->timed ? run_timed : !cq->cqx ? run_poll :
		  cq->single ? run_single : run_ext;
	cq->next = p->cqs;
	p->cqs = cq;
	*cq_p = cq;
	return 0;
}

static bool has_times(const struct obj_cq *cq)
{
	return cq && cq->times;
}

bool vrb_poller_times(const struct vrb_ep *ep)
{
	return ep->domain->clock_khz && (has_times(ep->base.tx_cq) || has_times(ep->base.rx_cq));
}

int vrb_poller_room(struct vrb_poller *p, const struct vrb_ep *ep, unsigned entries,
		    struct vrb_cq **cq_p)
{
	bool timed = vrb_poller_times(ep);
	struct vrb_cq *cq;
	int ret = 0;

	for (cq = p->cqs; cq; cq = cq->next)
		if (vrb_mlx5_is_direct(cq) == ep->direct && cq->timed == timed &&
		    make_room(p->domain, cq, entries))
			break;
	if (!cq)
		ret = cq_new(p, entries, ep->direct, timed, &cq);
	if (ret)
		return ret;
	cq->used += entries;
	*cq_p = cq;
	return 0;
}

int vrb_poller_join(struct vrb_ep *ep, unsigned entries)
{
	struct obj_poller *base = obj_prog_find(ep->base.prog, &poller_ops);
	struct vrb_poller *p = base ? poller_of(base) : NULL;
	int ret = 0;

	if (!p)
		ret = poller_new(ep->domain, ep->base.prog, &p);
	if (!ret)
		ret = vrb_poller_room(p, ep, entries, &ep->cq);
	if (!ret)
		ep->poller = p;
	return ret;
}

/* The queue is emptied, so that no entry refers to the endpoint any more. */
void vrb_poller_leave(struct vrb_ep *ep, unsigned entries)
{
	while (vrb_poller_run(ep->poller, INT_MAX))
		;
	ep->cq->used -= entries;
	ep->poller = NULL;
}
