/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

#define LEN	300

static void peek(struct ft *ft, struct ft_ep *e, uint64_t tag, uint64_t flags, void *ctx)
{
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = tag, .context = ctx };

	FT_POST(e, fi_trecvmsg(e->ep, &msg, FI_PEEK | flags));
	e->rx_posted++;
}

static void finds_nothing(struct ft *ft, struct ft_ep *e, uint64_t tag)
{
	struct fi_cq_err_entry err = { 0 };

	peek(ft, e, tag, 0, &e->rx_ctx);
	ft_cq_take_err(e, e->rxcq, &err);
	FT_WANT(err.err == FI_ENOMSG, "a peek for nothing says %s", fi_strerror(err.err));
	FT_WANT(err.op_context == &e->rx_ctx, "a peek's error has another context");
}

/* The message may be in flight: repeat for a while. */
static void finds(struct ft *ft, struct ft_ep *e, uint64_t tag, uint64_t flags, void *ctx)
{
	uint64_t end = ft_now_ns() + 10000000000ull;
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };

	for (;;) {
		ssize_t n;

		peek(ft, e, tag, flags, ctx);
		n = ft_cq_some(e, e->rxcq, &entry, 1, 10000);
		if (n == 1)
			break;
		FT_WANT(n == -FI_EAVAIL, "a peek does not complete");
		FT_IS(fi_cq_readerr(e->rxcq, &err, 0), 1);
		FT_WANT(err.err == FI_ENOMSG, "a peek says %s", fi_strerror(err.err));
		FT_WANT(ft_now_ns() < end, "a peek never finds tag %#llx", (unsigned long long) tag);
	}
	FT_WANT(entry.tag == tag, "a peek found tag %#llx", (unsigned long long) entry.tag);
	FT_WANT(entry.len == LEN, "a peek tells a length of %zu, not %d", entry.len, LEN);
}

static void take(struct ft *ft, struct ft_ep *e, uint64_t tag)
{
	struct fi_cq_tagged_entry entry;

	FT_POST(e, fi_trecv(e->ep, ft->rx.p, LEN, ft->rx.desc, FI_ADDR_UNSPEC, tag, 0, &e->rx_ctx));
	ft_cq_take(e, e->rxcq, &entry);
	FT_WANT(entry.tag == tag, "tag %#llx came", (unsigned long long) entry.tag);
	ft_verify(ft->rx.p, LEN, tag, "message");
}

static void claim(struct ft *ft, struct ft_ep *e, uint64_t tag)
{
	struct iovec iov = { ft->rx.p, LEN };
	struct fi_context2 ctx;
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .desc = &ft->rx.desc,
				     .addr = FI_ADDR_UNSPEC, .tag = tag, .context = &ctx };
	struct fi_cq_tagged_entry entry;

	finds(ft, e, tag, FI_CLAIM, &ctx);
	finds_nothing(ft, e, tag);	/* a claimed message is found by no other peek */
	FT_POST(e, fi_trecvmsg(e->ep, &msg, FI_CLAIM));
	ft_cq_take(e, e->rxcq, &entry);
	ft_verify(ft->rx.p, LEN, tag, "claimed message");
}

static void discard(struct ft *ft, struct ft_ep *e, uint64_t tag)
{
	finds(ft, e, tag, FI_DISCARD, &e->rx_ctx);
	finds_nothing(ft, e, tag);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: FI_PEEK, FI_CLAIM and FI_DISCARD of tagged messages.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .caps = FI_TAGGED,
	};
	struct ft_ep *e;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	e = &ft.ep;
	if (ft.server) {
		finds_nothing(&ft, e, 0x77);
		ft_sync(&ft);
		finds(&ft, e, 0x12, 0, &e->rx_ctx);
		finds(&ft, e, 0x12, 0, &e->rx_ctx);	/* a peek does not remove the message */
		finds_nothing(&ft, e, 0x77);
		claim(&ft, e, 0x13);
		discard(&ft, e, 0x14);
		take(&ft, e, 0x15);
		take(&ft, e, 0x12);
		return ft_end(&ft);
	}
	ft_sync(&ft);
	for (uint64_t tag = 0x12; tag <= 0x15; tag++) {
		ft_fill(ft.tx.p, LEN, tag);
		FT_POST(e, fi_tsend(e->ep, ft.tx.p, LEN, ft.tx.desc, e->peer, tag, &e->tx_ctx));
		ft_wait_tx(e, ++e->tx_posted);
	}
	return ft_end(&ft);
}
