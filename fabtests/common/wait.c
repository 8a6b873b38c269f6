/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* Waiting for completions, as the command line says, with a timeout. */
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "ft.h"

#define PATIENCE_MS	15000
#define SLICE_MS	100
#define BATCH		16
#define AT_ONCE		64	/* polls of a queue before the clock is read */
#define MS		1000000ULL

void ft_again(struct ft_ep *e, uint64_t *since)
{
	uint64_t now = ft_now_ns();

	if (!*since)
		*since = now;
	if (now - *since > PATIENCE_MS * MS)
		ft_fail("an operation was told to try again for %d s", PATIENCE_MS / 1000);
	if (e->txcq)
		fi_cq_read(e->txcq, NULL, 0);
	if (e->rxcq && e->rxcq != e->txcq)
		fi_cq_read(e->rxcq, NULL, 0);
	if (now - *since > MS) {
		ft_ctl_look(e->ft);
		sched_yield();
	}
}

/* Manual progress is made by reading a queue; read the other one too. */
static void nudge_other(struct ft_ep *e, struct fid_cq *cq)
{
	struct fid_cq *other = cq == e->txcq ? e->rxcq : e->txcq;

	if (other && other != cq)
		fi_cq_read(other, NULL, 0);
}

static ssize_t spin_on_cq(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_tagged_entry *entry,
			  size_t max, uint64_t end)
{
	ssize_t n;

	for (unsigned int i = 1; (n = fi_cq_read(cq, entry, max)) == -FI_EAGAIN; i++) {
		if (i % 16 == 0)
			nudge_other(e, cq);
		if (i % 256)
			continue;
		if (ft_now_ns() >= end)
			break;
		sched_yield();
	}
	return n;
}

static ssize_t sleep_on_fd(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_tagged_entry *entry,
			   size_t max, int ms)
{
	struct fid *fids[] = { &cq->fid };
	struct pollfd pfd = { .events = POLLIN };
	int ret;

	FT_MAY(fi_control(&cq->fid, FI_GETWAIT, &pfd.fd));
	ret = fi_trywait(e->ft->fabric, fids, 1);
	if (!ret)
		poll(&pfd, 1, ms);
	else if (ret != -FI_EAGAIN)
		FT_MAY(ret);
	return fi_cq_read(cq, entry, max);
}

static enum ft_comp wait_method(const struct ft *ft)
{
	const struct ft_waits *w = ft->test->waits;

	if (w)
		return w->cq == FI_WAIT_NONE ? FT_SPIN : w->cq == FI_WAIT_FD ? FT_FD : FT_SREAD;
	return ft->test->need_wait ? FT_SREAD : ft->opt.comp;
}

static bool cntr_sleeps(const struct ft *ft)
{
	return ft->test->waits ? ft->test->waits->cntr != FI_WAIT_NONE : ft->opt.comp != FT_SPIN;
}

static ssize_t one_slice(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_tagged_entry *entry,
			 size_t max, uint64_t end)
{
	uint64_t now = ft_now_ns();
	int ms = now < end ? (int) ((end - now) / MS) : 0;

	if (ms > SLICE_MS)
		ms = SLICE_MS;
	switch (wait_method(e->ft)) {
	case FT_SPIN:
		return spin_on_cq(e, cq, entry, max, now + (uint64_t) ms * MS);
	case FT_FD:
		return sleep_on_fd(e, cq, entry, max, ms);
	default:
		return fi_cq_sread(cq, entry, max, NULL, ms);
	}
}

ssize_t ft_cq_some(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_tagged_entry *entry,
		   size_t max, int ms)
{
	int looks = wait_method(e->ft) == FT_SPIN ? AT_ONCE : 1;
	ssize_t n = -FI_EAGAIN;
	uint64_t end;

	/* Poll a few times without reading the clock: a message may be in flight. */
	while (looks-- && n == -FI_EAGAIN)
		n = fi_cq_read(cq, entry, max);
	if (n == -FI_EAGAIN) {
		end = ft_now_ns() + (uint64_t) ms * MS;
		while ((n = one_slice(e, cq, entry, max, end)) == -FI_EAGAIN && ft_now_ns() < end)
			ft_ctl_look(e->ft);
	}
	if (n == -FI_EAGAIN)
		return 0;
	if (n != -FI_EAVAIL)
		FT_MAY(n);
	return n;
}

static void queue_error(struct fid_cq *cq)
{
	struct fi_cq_err_entry err = { 0 };
	char text[128] = "";

	FT_IS(fi_cq_readerr(cq, &err, 0), 1);
	ft_fail("an operation completed in error: %s (%s)", fi_strerror(err.err),
		fi_cq_strerror(cq, err.prov_errno, err.err_data, text, sizeof(text)));
}

static ssize_t some_or_fail(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_tagged_entry *entry,
			    size_t max)
{
	ssize_t n = ft_cq_some(e, cq, entry, max, PATIENCE_MS);

	if (n == -FI_EAVAIL)
		queue_error(cq);
	if (!n)
		ft_fail("no %s completion within %d s (%llu of %llu done)",
			cq == e->rxcq ? "receive" : "transmit", PATIENCE_MS / 1000,
			(unsigned long long) (cq == e->rxcq ? e->rx_done : e->tx_done),
			(unsigned long long) (cq == e->rxcq ? e->rx_posted : e->tx_posted));
	return n;
}

static void count_entry(struct ft_ep *e, struct fid_cq *cq, const struct fi_cq_tagged_entry *entry)
{
	bool rx = e->txcq == e->rxcq ? entry->flags & FI_RECV : cq == e->rxcq;

	if (rx)
		e->rx_done++;
	else
		e->tx_done++;
}

void ft_cq_take(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_tagged_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	some_or_fail(e, cq, entry, 1);
	count_entry(e, cq, entry);
}

void ft_cq_take_err(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_err_entry *err)
{
	struct fi_cq_tagged_entry entry;
	ssize_t n = ft_cq_some(e, cq, &entry, 1, PATIENCE_MS);

	FT_WANT(n != 1, "an operation succeeded that had to fail");
	FT_WANT(n == -FI_EAVAIL, "an operation that had to fail did not complete");
	memset(err, 0, sizeof(*err));
	FT_IS(fi_cq_readerr(cq, err, 0), 1);
	count_entry(e, cq, (struct fi_cq_tagged_entry *) &(struct fi_cq_tagged_entry) { .flags = err->flags });
}

void ft_cq_quiet(struct ft_ep *e, struct fid_cq *cq, int ms)
{
	struct fi_cq_tagged_entry entry;
	ssize_t n = ft_cq_some(e, cq, &entry, 1, ms);

	if (n == -FI_EAVAIL)
		queue_error(cq);
	FT_WANT(!n, "an unexpected completion (flags %#llx, len %zu)",
		(unsigned long long) entry.flags, entry.len);
}

static void wait_cq(struct ft_ep *e, struct fid_cq *cq, const uint64_t *done, uint64_t total)
{
	struct fi_cq_tagged_entry entry[BATCH];

	while (*done < total) {
		size_t max = total - *done < BATCH ? total - *done : BATCH;
		ssize_t n = some_or_fail(e, cq, entry, max);

		for (ssize_t i = 0; i < n; i++)
			count_entry(e, cq, &entry[i]);
	}
}

void ft_cntr_reach(struct ft_ep *e, struct fid_cntr *cntr, uint64_t value)
{
	uint64_t end = ft_now_ns() + PATIENCE_MS * MS;
	bool sleeps = cntr_sleeps(e->ft);
	int ret;

	for (unsigned int i = 1; fi_cntr_read(cntr) < value; i++) {
		if (sleeps) {
			ret = fi_cntr_wait(cntr, value, SLICE_MS);
			FT_WANT(!ret || ret == -FI_ETIMEDOUT || ret == -FI_EAGAIN || ret == -FI_EAVAIL,
				"fi_cntr_wait: %s", fi_strerror(-ret));
		} else {
			nudge_other(e, NULL);
		}
		if (i % 256 && !sleeps)
			continue;
		FT_WANT(!fi_cntr_readerr(cntr), "the counter counts %llu errors",
			(unsigned long long) fi_cntr_readerr(cntr));
		FT_WANT(ft_now_ns() < end, "a counter stands at %llu, not %llu, after %d s",
			(unsigned long long) fi_cntr_read(cntr), (unsigned long long) value,
			PATIENCE_MS / 1000);
		ft_ctl_look(e->ft);
		sched_yield();
	}
}

void ft_wait_tx(struct ft_ep *e, uint64_t total)
{
	if (!e->ft->opt.counter) {
		wait_cq(e, e->txcq, &e->tx_done, total);
		return;
	}
	ft_cntr_reach(e, e->txcntr, total);
	e->tx_done = total;
}

void ft_wait_rx(struct ft_ep *e, uint64_t total)
{
	if (!e->ft->opt.counter) {
		wait_cq(e, e->rxcq, &e->rx_done, total);
		return;
	}
	ft_cntr_reach(e, e->rxcntr, total);
	e->rx_done = total;
}
