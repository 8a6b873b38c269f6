/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * xpu.h - an endpoint whose transfers code of a device posts, beside the endpoint of the test: a
 * domain, a region and queues of its own.  The device is threads of this process
 * (FI_HMEM_SYSTEM), which use the functions of rdma/fi_xpu_device.h and no call of the host.
 *
 * Headers before 2.7 have none of it.
 */
#ifndef FT_XPU_H
#define FT_XPU_H

#include "ft.h"

#ifndef FI_XPU
/* ft_xpu_none - main() of a program that needs this. */
int ft_xpu_none(const struct ft_test *test, int argc, char **argv);
#else
#include <rdma/fi_xpu_device.h>

/* What the device has. */
struct ft_xpu_device {
	struct fid_xpu_ep ep;
	struct fid_xpu_cq cq;		/* of sends, receives and all others */
	struct fid_xpu_cntr cntr;	/* of writes and atomics */
	uint64_t peer;			/* of fi_av_lookup2() */
	uint64_t desc;			/* of the region; not 0 where descriptors are needed */
	char *mem;			/* the region, of this side */
	struct ft_remote remote;	/* the region of the peer */
};

struct ft_xpu {
	struct ft *ft;
	struct fi_info *info;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_xpu_ctx *ctx;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_ep *ep;
	struct fid_mr *mr;
	struct ft_xpu_device dev;
};

/* ft_xpu_open - open all, with a region of @len bytes, and join it to the peer's; skips where the
 * provider serves no device.
 */
void ft_xpu_open(struct ft *ft, struct ft_xpu *x, size_t len);
void ft_xpu_close(struct ft_xpu *x);
/* ft_xpu_run - @code runs as the device: in @threads threads at once, until all have returned. */
void ft_xpu_run(struct ft_xpu *x, int threads, void (*code)(struct ft_xpu_device *d, int thread));

/* ---- for code of the device ---- */

/* Posts @call until the ring has room. */
#define FT_XPU_POST(call) \
	do { \
		int ft_xpu_ret_; \
		while ((ft_xpu_ret_ = (call)) == -FI_EAGAIN) \
			fi_xpu_ring_relax(); \
		ft_check_is(ft_xpu_ret_, 0, #call, __FILE__, __LINE__); \
	} while (0)

/* ft_xpu_take - the next @cnt entries of the queue of the device, which must be successes. */
void ft_xpu_take(struct ft_xpu_device *d, struct fi_cq_tagged_entry *entry, uint64_t cnt);

#endif
#endif
