/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

#define PART	4096
#define LEAST	256

static size_t len_of(int i)
{
	return 1 + (size_t) (i * 37) % LEAST;
}

static void post(struct ft *ft, struct ft_ep *e, int half, struct fi_context2 *ctx)
{
	struct iovec iov = { ft->rx.p + half * PART, PART };
	struct fi_msg msg = { .msg_iov = &iov, .desc = &ft->rx.desc, .iov_count = 1,
			      .addr = FI_ADDR_UNSPEC, .context = &ctx[half] };

	FT_POST(e, fi_recvmsg(e->ep, &msg, FI_MULTI_RECV));
}

/* Each message is behind the one before; the last of a buffer has FI_MULTI_RECV. */
static void serve(struct ft *ft, struct ft_ep *e)
{
	struct fi_context2 ctx[2];
	size_t used[2] = { 0 };
	int released = 0;

	post(ft, e, 0, ctx);
	post(ft, e, 1, ctx);
	ft_sync(ft);
	for (int got = 0; got < ft->opt.iters;) {
		struct fi_cq_tagged_entry entry;
		int half;

		ft_cq_take(e, e->rxcq, &entry);
		half = entry.op_context == &ctx[1];
		FT_WANT(half || entry.op_context == &ctx[0], "a completion of no buffer");
		if (entry.flags & FI_RECV && (entry.len || !(entry.flags & FI_MULTI_RECV))) {
			char *want = ft->rx.p + half * PART + used[half];

			FT_WANT(entry.len == len_of(got), "message %d has %zu bytes, not %zu", got,
				entry.len, len_of(got));
			FT_WANT((char *) entry.buf >= want, "message %d lies over the one before", got);
			FT_WANT((char *) entry.buf + entry.len <= ft->rx.p + (half + 1) * PART,
				"message %d lies past its buffer", got);
			ft_verify(entry.buf, entry.len, (uint64_t) got, "message");
			used[half] = (size_t) ((char *) entry.buf - ft->rx.p) - (size_t) half * PART + entry.len;
			got++;
		}
		if (entry.flags & FI_MULTI_RECV) {
			released++;
			used[half] = 0;
			post(ft, e, half, ctx);
		}
	}
	FT_WANT(released >= 2, "buffers were released %d times for %d messages", released, ft->opt.iters);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: many messages into one buffer (FI_MULTI_RECV).",
		.ep_type = FI_EP_RDM, .caps = FI_MSG | FI_MULTI_RECV, .buf_size = 2 * PART, .iters = 500,
	};
	size_t least = LEAST;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	FT_TRY(fi_setopt(&ft.ep.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof(least)));
	if (ft.server) {
		serve(&ft, &ft.ep);
		return ft_end(&ft);
	}
	ft_sync(&ft);
	for (int i = 0; i < ft.opt.iters; i++) {
		ft_fill(ft.tx.p, len_of(i), (uint64_t) i);
		ft_send(&ft.ep, len_of(i));
	}
	return ft_end(&ft);
}
