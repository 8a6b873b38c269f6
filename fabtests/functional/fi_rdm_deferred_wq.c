/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

/* Sends queued at the domain start when their counter reaches its threshold, and increment
 * another counter on completion.
 */
#define WORKS	4

static struct fi_deferred_work work[WORKS];
static struct fi_op_msg op[WORKS];
static struct iovec iov[WORKS];

static void queue_all(struct ft *ft, struct ft_ep *e, struct fid_cntr *start, struct fid_cntr *done)
{
	for (int i = 0; i < WORKS; i++) {
		iov[i] = (struct iovec) { ft->tx.p + 256 * i, 256 };
		op[i] = (struct fi_op_msg) { .ep = e->ep, .msg = { .msg_iov = &iov[i], .iov_count = 1,
			.desc = &ft->tx.desc, .addr = e->peer, .context = &work[i] } };
		work[i].triggering_cntr = start;
		work[i].threshold = (uint64_t) i + 1;
		work[i].completion_cntr = done;
		work[i].op_type = FI_OP_SEND;
		work[i].op.msg = &op[i];
		FT_MAY(fi_control(&ft->domain->fid, FI_QUEUE_WORK, &work[i]));
	}
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: deferred work (FI_QUEUE_WORK).",
		.ep_type = FI_EP_RDM, .fixed_type = true, .caps = FI_MSG | FI_TRIGGER,
	};
	struct fid_cntr *start, *done;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	start = ft_cntr_open(&ft);
	done = ft_cntr_open(&ft);
	for (int i = 0; i < WORKS; i++)
		ft_fill(ft.tx.p + 256 * i, 256, (uint64_t) i);
	if (!ft.server)
		queue_all(&ft, &ft.ep, start, done);
	for (int i = 0; i < WORKS; i++) {
		if (ft.server)
			ft_rx(&ft.ep, ft.rx.p, 256, ft.rx.desc, &ft.ep.rx_ctx);
		ft_sync(&ft);
		if (!ft.server) {
			FT_TRY(fi_cntr_add(start, 1));
			ft_cntr_reach(&ft.ep, done, (uint64_t) i + 1);
		} else {
			ft_wait_rx(&ft.ep, ft.ep.rx_posted);
			ft_verify(ft.rx.p, 256, (uint64_t) i, "deferred message");
		}
	}
	ft_sync(&ft);
	FT_TRY(fi_close(&start->fid));
	FT_TRY(fi_close(&done->fid));
	return ft_end(&ft);
}
