/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <sys/epoll.h>
#include <unistd.h>

#include "common/ft.h"

static void watch(int ep, struct fid_cq *cq)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = cq };
	int fd;

	FT_TRY(fi_control(&cq->fid, FI_GETWAIT, &fd));
	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev))
		ft_fail("epoll_ctl on a queue's descriptor failed");
}

static void wait_both(struct ft *ft, int ep, uint64_t tx, uint64_t rx)
{
	struct fid *fids[] = { &ft->ep.txcq->fid, &ft->ep.rxcq->fid };
	struct fi_cq_tagged_entry entry;
	struct ft_ep *e = &ft->ep;
	uint64_t end = ft_now_ns() + 10000000000ull;
	struct epoll_event ev;

	while (e->tx_done < tx || e->rx_done < rx) {
		int ret = fi_trywait(ft->fabric, fids, 2);

		FT_WANT(!ret || ret == -FI_EAGAIN, "fi_trywait: %s", fi_strerror(-ret));
		if (!ret)
			epoll_wait(ep, &ev, 1, 200);
		if (ft_cq_some(e, e->txcq, &entry, 1, 0) == 1)
			e->tx_done++;
		if (ft_cq_some(e, e->rxcq, &entry, 1, 0) == 1)
			e->rx_done++;
		FT_WANT(ft_now_ns() < end, "epoll was silent for 10 s");
		ft_ctl_look(ft);
	}
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: queues' descriptors in an epoll set.",
		.ep_type = FI_EP_MSG, .fixed_type = true,
		.wait = FI_WAIT_FD, .need_wait = true,
	};
	struct ft_ep *e;
	struct ft ft;
	int ep;

	ft_begin(&ft, &test, argc, argv);
	e = &ft.ep;
	ep = epoll_create1(EPOLL_CLOEXEC);
	watch(ep, e->txcq);
	watch(ep, e->rxcq);
	for (int i = 0; i < ft.opt.iters; i++) {
		ft_rx(e, ft.rx.p, 1000, ft.rx.desc, &e->rx_ctx);
		ft_sync(&ft);
		ft_fill(ft.tx.p, 1000, (uint64_t) i);
		ft_tx(e, ft.tx.p, 1000, ft.tx.desc, &e->tx_ctx);
		wait_both(&ft, ep, e->tx_posted, e->rx_posted);
		ft_verify(ft.rx.p, 1000, (uint64_t) i, "message");
	}
	close(ep);
	return ft_end(&ft);
}
