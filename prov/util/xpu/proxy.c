/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The thread of a context, which does for devices what calls of the host would do. */

#include <rdma/fi_errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "xpu/ctx.h"

#define BATCH 32		/* records of an endpoint in a round */
/* A round that finds nothing is followed by another one at once, so many times; then, as many times,
 * by one after a yield; then by one after a sleep, since no device can wake a thread.
 */
#define SPINS 64
#define YIELDS 4000
#define SLEEP_NS 50000
#define STALL_NS CLOCK_NS_PER_S

/* ---- a round ------------------------------------------------------------------ */

/* call_begun - is a call of the device incomplete, and which? */
static bool call_begun(const struct xpu_ep *x, uint64_t *at_p)
{
	if (!x->native.prov_id) {
		*at_p = x->ring.next;
		return xpu_ring_started(&x->ring);
	}
	*at_p = __atomic_load_n(x->native.rung, __ATOMIC_ACQUIRE);
	return (__atomic_load_n(x->native.tail, __ATOMIC_ACQUIRE) & ~FI_XPU_RING_CLOSED) != *at_p;
}

/* watch_stall - a device has reserved the next record and not completed it. */
static void watch_stall(struct xpu_ep *x)
{
	uint64_t now, at;

	if (!call_begun(x, &at)) {
		x->stalled_ns = 0;
		return;
	}
	now = clock_coarse_ns();
	if (!x->stalled_ns || at != x->stalled_at) {
		x->stalled_ns = now;
		x->stalled_at = at;
		x->warned = false;
	}
	if (x->warned || now - x->stalled_ns < STALL_NS)
		return;
	x->warned = true;
	FI_WARN(x->ctx->domain->prov, FI_LOG_EP_DATA, "endpoint %p (context %p): a device has begun "
		"record %llu of the ring %p and not completed it for a second; what was posted behind "
		"it waits\n", (void *) &x->ep->h.fid, x->ep->h.fid.fid.context,
		(unsigned long long) at, x->mem->host);
}

static unsigned ep_drain(struct xpu_ep *x)
{
	unsigned n;

	for (n = 0; n < BATCH; n++) {
		if (!x->pending && !xpu_ring_take(&x->ring, &x->rec)) {
			watch_stall(x);
			return n;
		}
		x->stalled_ns = 0;
		x->warned = false;
		x->pending = true;
		if (!xpu_post(x, &x->rec))
			return n;
		x->pending = false;
	}
	return n;
}

/* Queues and counters of the device drive what feeds them; this endpoint may have none. */
static int ep_drive(struct xpu_ep *x)
{
	struct obj_ep *ep = x->ep;

	if ((ep->tx_cq && ep->tx_cq->xpu) || (ep->rx_cq && ep->rx_cq->xpu))
		return 0;
	return obj_prog_poll(ep->prog);
}

static unsigned one_round(struct xpu_ctx *ctx)
{
	struct xpu_cntr *cntr;
	unsigned n = 0;
	struct xpu_ep *ep;
	struct xpu_cq *cq;

	pthread_mutex_lock(&ctx->lock);
	list_for_each_entry(ep, &ctx->eps, node) {
		if (ep->native.prov_id) {
			watch_stall(ep);
			continue;
		}
		n += ep_drain(ep);
		n += ep_drive(ep) > 0;
	}
	list_for_each_entry(cq, &ctx->cqs, node)
		n += xpu_cq_pass(cq);
	list_for_each_entry(cntr, &ctx->cntrs, node)
		n += xpu_cntr_pass(cntr);
	pthread_mutex_unlock(&ctx->lock);
	return n;
}

/* ---- the thread ---------------------------------------------------------------- */

static void proxy_rest(unsigned idle)
{
	struct timespec nap = { .tv_nsec = SLEEP_NS };

	if (idle < SPINS)
		return;
	if (idle < SPINS + YIELDS)
		sched_yield();
	else
		nanosleep(&nap, NULL);
}

static void *proxy_run(void *arg)
{
	struct xpu_ctx *ctx = arg;
	unsigned idle = 0;

	while (!atomic_load(&ctx->stop)) {
		idle = one_round(ctx) ? 0 : idle + (idle < SPINS + YIELDS);
		/* a mutex that is taken again at once is not given to those that wait */
		while (atomic_load(&ctx->wanted))
			sched_yield();
		proxy_rest(idle);
	}
	return NULL;
}

int xpu_proxy_start(struct xpu_ctx *ctx)
{
	sigset_t all, was;
	int err;

	/* signals are for the program's threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(&ctx->proxy, NULL, proxy_run, ctx);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (!err)
		return 0;
	FI_WARN(ctx->domain->prov, FI_LOG_DOMAIN, "fi_xpu_ctx: no thread for the context: %s\n",
		fi_strerror(err));
	return -FI_EAGAIN;
}

void xpu_proxy_stop(struct xpu_ctx *ctx)
{
	atomic_store(&ctx->stop, true);
	pthread_join(ctx->proxy, NULL);
}
