/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* Endpoints, and connecting them to the peer's. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ft.h"

#define PATIENCE_MS	10000
#define SLICE_MS	100

/* ---- opening ---- */

static void bind_cntrs(struct ft *ft, struct ft_ep *e)
{
	uint64_t caps = ft->info->caps;
	uint64_t tx = FI_SEND | (caps & FI_RMA ? FI_READ | FI_WRITE : 0);

	if (caps & FI_ATOMIC)
		tx |= FI_READ | FI_WRITE;
	e->txcntr = e->txcntr ? e->txcntr : ft_cntr_open(ft);
	e->rxcntr = e->rxcntr ? e->rxcntr : ft_cntr_open(ft);
	FT_MAY(fi_ep_bind(e->ep, &e->txcntr->fid, tx));
	FT_MAY(fi_ep_bind(e->ep, &e->rxcntr->fid, FI_RECV));
}

static void bind_cqs(struct ft *ft, struct ft_ep *e)
{
	const struct ft_test *t = ft->test;
	uint64_t more = ft->opt.counter ? FI_SELECTIVE_COMPLETION : 0;

	if (!e->txcq) {
		e->own_cqs = true;
		e->txcq = ft_cq_open(ft);
		e->rxcq = ft->test->one_cq ? e->txcq : ft_cq_open(ft);
	}
	if (e->txcq == e->rxcq && t->tx_bind == t->rx_bind) {
		FT_TRY(fi_ep_bind(e->ep, &e->txcq->fid, FI_TRANSMIT | FI_RECV | t->tx_bind | more));
		return;
	}
	FT_TRY(fi_ep_bind(e->ep, &e->txcq->fid, FI_TRANSMIT | t->tx_bind | more));
	FT_TRY(fi_ep_bind(e->ep, &e->rxcq->fid, FI_RECV | t->rx_bind | more));
}

void ft_ep_open(struct ft *ft, struct ft_ep *e, struct fi_info *info)
{
	ft_at("opening an endpoint");
	e->ft = ft;
	FT_TRY(fi_endpoint(ft->domain, info, &e->ep, e));
	if (info->ep_attr->type == FI_EP_MSG || info->caps & FI_MULTICAST)
		FT_TRY(fi_ep_bind(e->ep, &ft->eq->fid, 0));
	if (info->ep_attr->type != FI_EP_MSG)
		FT_TRY(fi_ep_bind(e->ep, &ft->av->fid, 0));
	bind_cqs(ft, e);
	if (ft->opt.counter || ft->test->cntrs)
		bind_cntrs(ft, e);
}

void ft_ep_close(struct ft_ep *e)
{
	if (!e->ep)
		return;
	FT_TRY(fi_close(&e->ep->fid));
	if (e->own_cqs) {
		FT_TRY(fi_close(&e->txcq->fid));
		if (e->rxcq != e->txcq)
			FT_TRY(fi_close(&e->rxcq->fid));
	}
	if (e->txcntr)
		FT_TRY(fi_close(&e->txcntr->fid));
	if (e->rxcntr)
		FT_TRY(fi_close(&e->rxcntr->fid));
	memset(e, 0, sizeof(*e));
}

/* ---- names ---- */

fi_addr_t ft_av_add(struct ft *ft, const void *addr)
{
	fi_addr_t fi_addr = FI_ADDR_NOTAVAIL;

	FT_IS(fi_av_insert(ft->av, addr, 1, &fi_addr, 0, NULL), 1);
	return fi_addr;
}

void ft_swap_names(struct ft *ft, struct ft_ep *e)
{
	char mine[FT_ADDR_MAX] = "", theirs[FT_ADDR_MAX];
	size_t len = sizeof(mine);

	ft_at("exchanging addresses");
	FT_TRY(fi_getname(&e->ep->fid, mine, &len));
	ft_ctl_swap(ft, mine, theirs, sizeof(mine));
	e->peer = ft_av_add(ft, theirs);
}

/* ---- connections ---- */

static void event_error(struct ft *ft)
{
	struct fi_eq_err_entry err = { 0 };
	char text[128] = "";

	FT_TRY(fi_eq_readerr(ft->eq, &err, 0));
	ft_fail("event queue: %s (%s)", fi_strerror(err.err),
		fi_eq_strerror(ft->eq, err.prov_errno, err.err_data, text, sizeof(text)));
}

/* Without a wait object an event queue is polled. */
static ssize_t next_event(struct ft *ft, uint32_t *event, void *entry, size_t len)
{
	uint64_t end = ft_now_ns() + SLICE_MS * 1000000ULL;
	ssize_t n;

	if (!ft->test->waits || ft->test->waits->eq != FI_WAIT_NONE)
		return fi_eq_sread(ft->eq, event, entry, len, SLICE_MS, 0);
	while ((n = fi_eq_read(ft->eq, event, entry, len, 0)) == -FI_EAGAIN && ft_now_ns() < end)
		sched_yield();
	return n;
}

size_t ft_event(struct ft *ft, uint32_t want, struct fi_eq_cm_entry *entry, size_t len)
{
	uint32_t event = 0;
	ssize_t n = -FI_EAGAIN;

	for (int ms = 0; n == -FI_EAGAIN && ms < PATIENCE_MS; ms += SLICE_MS) {
		n = next_event(ft, &event, entry, len);
		if (n == -FI_EAGAIN)
			ft_ctl_look(ft);
	}
	if (n == -FI_EAVAIL)
		event_error(ft);
	if (n == -FI_EAGAIN)
		ft_fail("no %s event within %d s", fi_tostr(&want, FI_TYPE_EQ_EVENT),
			PATIENCE_MS / 1000);
	FT_TRY(n);
	FT_WANT(event == want, "event %u came where %s was due", event,
		fi_tostr(&want, FI_TYPE_EQ_EVENT));
	return (size_t) n;
}

void ft_listen(struct ft *ft)
{
	char addr[FT_ADDR_MAX] = "";
	size_t len = sizeof(addr);

	if (!ft->pep) {
		FT_TRY(fi_passive_ep(ft->fabric, ft->info, &ft->pep, ft));
		FT_TRY(fi_pep_bind(ft->pep, &ft->eq->fid, 0));
		FT_TRY(fi_listen(ft->pep));
	}
	FT_TRY(fi_getname(&ft->pep->fid, addr, &len));
	ft_ctl_send(ft, addr, sizeof(addr));
}

void ft_dial(struct ft *ft, void *addr)
{
	ft_ctl_recv(ft, addr, FT_ADDR_MAX);
}

static void accept_one(struct ft *ft, struct ft_ep *e)
{
	struct fi_eq_cm_entry entry;

	ft_listen(ft);
	ft_at("waiting for a connection request");
	ft_event(ft, FI_CONNREQ, &entry, sizeof(entry));
	FT_WANT(entry.fid == &ft->pep->fid, "FI_CONNREQ names another object than the listener");
	FT_WANT(entry.info, "FI_CONNREQ carries no fi_info");
	ft_ep_open(ft, e, entry.info);
	FT_TRY(fi_enable(e->ep));
	FT_TRY(fi_accept(e->ep, NULL, 0));
	fi_freeinfo(entry.info);
}

static void connect_one(struct ft *ft, struct ft_ep *e)
{
	char addr[FT_ADDR_MAX];

	ft_dial(ft, addr);
	ft_ep_open(ft, e, ft->info);
	FT_TRY(fi_enable(e->ep));
	FT_TRY(fi_connect(e->ep, addr, NULL, 0));
}

void ft_link(struct ft *ft, struct ft_ep *e)
{
	struct fi_eq_cm_entry entry;

	if (ft->info->ep_attr->type != FI_EP_MSG) {
		ft_ep_open(ft, e, ft->info);
		FT_TRY(fi_enable(e->ep));
		ft_swap_names(ft, e);
		return;
	}
	if (ft->server)
		accept_one(ft, e);
	else
		connect_one(ft, e);
	ft_at("waiting for the connection");
	ft_event(ft, FI_CONNECTED, &entry, sizeof(entry));
	FT_WANT(entry.fid == &e->ep->fid, "FI_CONNECTED names another endpoint");
}
