/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * What is done with an open combination: each size once with every byte
 * verified (unit), or a figure per size (latency, bandwidth).  Operations on
 * remote memory go from the client to the server's buffer.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "uber.h"

#define PATIENCE_NS	15000000000ULL

static bool is_message(const struct uber *u)
{
	return u->c.v[KEY_CLASS] == CLASS_MSG || u->c.v[KEY_CLASS] == CLASS_TAGGED;
}

/* ---- waiting, by queue or counter or both ---- */

static void drain_cq(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry entry[8];

	while (fi_cq_read(cq, entry, FT_COUNT(entry)) > 0)
		;
}

/* All but the last @but transmit operations are complete, as far as they say so. */
static void wait_tx(struct uber *u, uint64_t but)
{
	struct ft_ep *e = &u->ft.ep;

	if (u->c.v[KEY_COMP] != COMP_CNTR && e->tx_posted > but)
		ft_wait_tx(e, e->tx_posted - but);
	if (u->c.v[KEY_COMP] != COMP_QUEUE && u->tx_ops > but)
		ft_cntr_reach(e, e->txcntr, u->tx_ops - but);
	if (u->c.v[KEY_COMP] == COMP_CNTR)
		drain_cq(e->txcq);
}

static void check_entry(struct uber *u, const struct fi_cq_tagged_entry *entry, size_t len)
{
	uint64_t kind = u->c.v[KEY_CLASS] == CLASS_TAGGED ? FI_TAGGED : FI_MSG;

	FT_WANT(entry->flags & FI_RECV && entry->flags & kind, "a receive completed with flags %#llx",
		(unsigned long long) entry->flags);
	FT_WANT(entry->len == len, "%zu bytes came, not %zu", entry->len, len);
	FT_WANT(!(entry->flags & FI_REMOTE_CQ_DATA) == !uber_with_data(&u->c),
		"data came where none was sent, or the other way round");
	FT_WANT(!uber_with_data(&u->c) || entry->data == UBER_DATA, "the data came as %#llx",
		(unsigned long long) entry->data);
	FT_WANT(kind != FI_TAGGED || entry->tag == FT_TAG, "the tag came as %#llx",
		(unsigned long long) entry->tag);
}

/* One more receive is complete. */
static void wait_rx(struct uber *u, size_t len, uint64_t nth)
{
	struct ft_ep *e = &u->ft.ep;
	struct fi_cq_tagged_entry entry;

	if (u->c.v[KEY_COMP] != COMP_CNTR && uber_rx_shows(&u->c)) {
		ft_cq_take(e, e->rxcq, &entry);
		check_entry(u, &entry, len);
	}
	if (u->c.v[KEY_COMP] != COMP_QUEUE)
		ft_cntr_reach(e, e->rxcntr, nth);
	if (u->c.v[KEY_COMP] == COMP_CNTR)
		drain_cq(e->rxcq);
}

/* ---- unit: messages ---- */

static void one_message(struct uber *u, bool sender, size_t len, uint64_t seed)
{
	struct ft *ft = &u->ft;

	if (!sender) {
		memset(ft->rx.p, 0, len);
		uber_post_rx(u, len, u->ctx);
	}
	ft_sync(ft);
	if (sender) {
		ft_fill(ft->tx.p, len, seed);
		uber_post(u, len, u->ctx);
		if (uber_injects(u->c.v[KEY_FUNC]))
			memset(ft->tx.p, 0xa5, len);
		wait_tx(u, 0);
	} else {
		wait_rx(u, len, u->rx_ops);
		ft_verify(ft->rx.p, len, seed, "message");
	}
	ft_sync(ft);
}

/* ---- unit: the server's memory ---- */

/* Until the server's buffer is @want: an operation may complete before that. */
static void await_bytes(struct uber *u, bool (*done)(struct uber *u, const void *want, size_t len),
			const void *want, size_t len)
{
	uint64_t end = ft_now_ns() + PATIENCE_NS;

	ft_at("waiting for bytes to arrive in the server's buffer");
	while (!done(u, want, len)) {
		for (int i = 0; i < 64; i++) {
			fi_cq_read(u->ft.ep.txcq, NULL, 0);
			fi_cq_read(u->ft.ep.rxcq, NULL, 0);
		}
		ft_ctl_look(&u->ft);
		FT_WANT(ft_now_ns() < end, "the operation's effect did not reach the server's memory");
		sched_yield();
	}
}

/* Between memory that the client reads and changes by itself, which it is told over the
 * control connection, and memory of this program alone: an order that no thread sanitizer
 * sees, which is to look away here.
 */
static __attribute__((noinline, no_sanitize("thread"))) void copy_shared(void *to, const void *from,
								     size_t len)
{
	typedef uint64_t __attribute__((may_alias)) word;
	volatile word *to8 = to;
	const volatile word *from8 = from;
	volatile char *to1 = to;
	const volatile char *from1 = from;

	__sync_synchronize();
	for (size_t i = 0; i < len / 8; i++)
		to8[i] = from8[i];
	for (size_t i = len / 8 * 8; i < len; i++)
		to1[i] = from1[i];
}

static void expose_bytes(struct uber *u, const void *from, size_t len)
{
	copy_shared(u->ft.rx.p, from, len);
}

/* What the client has made of it so far; the caller frees it. */
static void *seen_bytes(struct uber *u, size_t len)
{
	void *copy = malloc(len ? len : 1);

	if (!copy)
		ft_fail("out of memory for %zu bytes", len);
	copy_shared(copy, u->ft.rx.p, len);
	return copy;
}

static bool same_bytes(struct uber *u, const void *want, size_t len)
{
	void *now = seen_bytes(u, len);
	bool same = !memcmp(now, want, len);

	free(now);
	return same;
}

static bool same_cells(struct uber *u, const void *want, size_t len)
{
	enum fi_datatype type = u->c.v[KEY_DATATYPE];
	void *now = seen_bytes(u, len);
	bool same = uber_same(type, now, want, len / uber_size(type));

	free(now);
	return same;
}

/* The entry that data from the client makes; some providers take a receive for it. */
static void expect_data(struct uber *u)
{
	struct ft_ep *e = &u->ft.ep;

	if (u->ft.info->mode & FI_RX_CQ_DATA)
		FT_POST(e, fi_recv(e->ep, NULL, 0, NULL, FI_ADDR_UNSPEC, &e->rx_ctx));
}

static void take_data(struct uber *u)
{
	struct fi_cq_tagged_entry entry;

	ft_cq_take(&u->ft.ep, u->ft.ep.rxcq, &entry);
	FT_WANT(entry.flags & FI_REMOTE_CQ_DATA, "a write with data completed with flags %#llx",
		(unsigned long long) entry.flags);
	FT_WANT(entry.data == UBER_DATA, "the data came as %#llx", (unsigned long long) entry.data);
}

static void serve_write(struct uber *u, size_t len, uint64_t seed)
{
	bool data = uber_with_data(&u->c);
	char *want = calloc(1, len);

	if (!want)
		ft_fail("out of memory for %zu bytes", len);
	expose_bytes(u, want, len);
	ft_fill(want, len, seed);
	if (data)
		expect_data(u);
	ft_sync(&u->ft);
	if (data)
		take_data(u);
	await_bytes(u, same_bytes, want, len);
	free(want);
}

static void do_write(struct uber *u, size_t len, uint64_t seed)
{
	ft_fill(u->ft.tx.p, len, seed);
	ft_sync(&u->ft);
	uber_post(u, len, u->ctx);
	wait_tx(u, 0);
}

static void do_read(struct uber *u, size_t len, uint64_t seed)
{
	memset(u->ft.tx.p, 0, len);
	ft_sync(&u->ft);
	uber_post(u, len, u->ctx);
	wait_tx(u, 0);
	ft_verify(u->ft.tx.p, len, seed, "read");
}

static void one_rma(struct uber *u, size_t len, uint64_t seed)
{
	bool reads = u->c.v[KEY_FUNC] >= FUNC_READ;

	if (!u->ft.server)
		(reads ? do_read : do_write)(u, len, seed);
	else if (!reads)
		serve_write(u, len, seed);
	else {
		ft_fill(u->ft.tx.p, len, seed);
		expose_bytes(u, u->ft.tx.p, len);
		ft_sync(&u->ft);
	}
	ft_sync(&u->ft);
}

static void one_atomic(struct uber *u, size_t len, uint64_t seed)
{
	enum fi_datatype type = u->c.v[KEY_DATATYPE];
	size_t cnt = len / uber_size(type);
	unsigned int s = (unsigned int) seed;
	char *p = u->ft.tx.p, *was = calloc(1, len), *want = malloc(len);

	if (!was || !want)
		ft_fail("out of memory for %zu bytes", len);
	uber_set(type, was, cnt, s);
	uber_set(type, want, cnt, s);
	uber_set(type, p, cnt, s + 1);
	uber_set(type, p + 2 * len, cnt, s + 2);
	uber_calc(type, u->c.v[KEY_OP], want, p, p + 2 * len, cnt);
	if (u->ft.server)
		expose_bytes(u, was, len);
	ft_sync(&u->ft);
	if (u->ft.server) {
		await_bytes(u, same_cells, want, len);
	} else {
		uber_post(u, len, u->ctx);
		wait_tx(u, 0);
		FT_WANT(u->c.v[KEY_FUNC] < FUNC_FETCH || uber_same(type, p + len, was, cnt),
			"the values handed back are not those that the cells held");
	}
	ft_sync(&u->ft);
	free(was);
	free(want);
}

static void unit_step(struct uber *u, size_t len)
{
	ft_at("in a combination's unit test");
	for (uint64_t i = 0; i < (uint64_t) u->c.iters; i++) {
		if (is_message(u))
			one_message(u, (i % 2) == u->ft.server, len, len + i);
		else if (u->c.v[KEY_CLASS] == CLASS_RMA)
			one_rma(u, len, len + i);
		else
			one_atomic(u, len, len + i);
	}
}

/* ---- figures ---- */

static void ping_message(struct uber *u, size_t len)
{
	if (!u->ft.server) {
		uber_post_rx(u, len, &u->ctx[1]);
		uber_post(u, len, u->ctx);
		wait_tx(u, 0);
		wait_rx(u, len, u->rx_ops);
		return;
	}
	wait_rx(u, len, u->rx_ops);
	uber_post_rx(u, len, &u->ctx[1]);
	uber_post(u, len, u->ctx);
	wait_tx(u, 0);
}

static void say_figure(const struct uber *u, size_t len, double total_us, double xfers, const char *what)
{
	if (!u->ft.server)
		printf("    %-8zu bytes  %10.2f usec/%s  %10.2f MB/s\n", len, total_us / xfers, what,
		       (double) len * xfers / total_us);
}

static void latency_step(struct uber *u, size_t len)
{
	bool both = is_message(u);
	uint64_t start;

	ft_at("in a combination's latency run");
	if (both && u->ft.server)
		uber_post_rx(u, len, &u->ctx[1]);
	ft_sync(&u->ft);
	start = ft_now_ns();
	for (int i = 0; i < u->c.iters; i++) {
		if (both) {
			ping_message(u, len);
		} else if (!u->ft.server) {
			uber_post(u, len, u->ctx);
			wait_tx(u, 0);
		}
	}
	say_figure(u, len, (double) (ft_now_ns() - start) / 1000.0, u->c.iters * (both ? 2.0 : 1.0),
		   both ? "xfer" : "op");
	if (both && u->ft.server) {	/* the receive that no ping will meet */
		ft_sync(&u->ft);
		wait_rx(u, len, u->rx_ops);
	} else if (both) {
		ft_sync(&u->ft);
		uber_post(u, len, u->ctx);
		wait_tx(u, 0);
	} else if (u->ft.server) {
		ft_serve(&u->ft);
	}
	ft_sync(&u->ft);
}

/* One window after the other, each awaited: datagrams in excess would be dropped. */
static void flow_messages(struct uber *u, size_t len)
{
	for (int done = 0, n; done < u->c.iters; done += n) {
		uint64_t first = u->rx_ops;

		n = u->c.iters - done < u->c.window ? u->c.iters - done : u->c.window;
		for (int i = 0; i < n && u->ft.server; i++)
			uber_post_rx(u, len, &u->ctx[i]);
		ft_sync(&u->ft);
		for (int i = 0; i < n; i++) {
			if (u->ft.server)
				wait_rx(u, len, first + (uint64_t) i + 1);
			else
				uber_post(u, len, &u->ctx[i]);
		}
		if (!u->ft.server)
			wait_tx(u, 0);
	}
}

static void flow_memory(struct uber *u, size_t len)
{
	if (u->ft.server)
		return;
	for (int i = 0; i < u->c.iters; i++) {
		if (i >= u->c.window)
			wait_tx(u, (uint64_t) u->c.window - 1);
		uber_post(u, len, &u->ctx[i % u->c.window]);
	}
	wait_tx(u, 0);
}

static void bandwidth_step(struct uber *u, size_t len)
{
	uint64_t start;

	ft_at("in a combination's bandwidth run");
	ft_sync(&u->ft);
	start = ft_now_ns();
	if (is_message(u))
		flow_messages(u, len);
	else
		flow_memory(u, len);
	if (u->ft.server && !is_message(u))
		ft_serve(&u->ft);
	ft_sync(&u->ft);
	say_figure(u, len, (double) (ft_now_ns() - start) / 1000.0, u->c.iters, "xfer");
}

/* ---- sizes ---- */

/* What the call can move of @want bytes at both sides; 0: nothing. */
static size_t possible_len(struct uber *u, size_t want)
{
	struct fi_info *info = u->ft.info;
	size_t most = info->ep_attr->max_msg_size, cells = 0, size;
	struct fid_ep *ep = u->ft.ep.ep;
	enum uber_func func = u->c.v[KEY_FUNC];

	if (uber_injects(func) && info->tx_attr->inject_size < most)
		most = info->tx_attr->inject_size;
	if (u->c.v[KEY_CLASS] == CLASS_ATOMIC) {
		enum fi_datatype type = u->c.v[KEY_DATATYPE];
		enum fi_op op = u->c.v[KEY_OP];
		int ret = func < FUNC_FETCH ? fi_atomicvalid(ep, type, op, &cells) :
			  func < FUNC_COMPARE ? fi_fetch_atomicvalid(ep, type, op, &cells) :
			  fi_compare_atomicvalid(ep, type, op, &cells);

		FT_TRY(ret);
		size = uber_size(type);
		if (cells * size < most)
			most = cells * size;
		most = most / size * size;
		want = want < size ? size : want / size * size;
	}
	return ft_agree(&u->ft, want <= most ? want : 0);
}

void uber_run(struct uber *u)
{
	size_t len, done = 0;

	for (uint32_t i = 0; i < u->c.size_cnt; i++) {
		len = possible_len(u, u->c.sizes[i]);
		if (!len)
			continue;
		if (u->c.v[KEY_TYPE] == TYPE_UNIT)
			unit_step(u, len);
		else if (u->c.v[KEY_TYPE] == TYPE_LATENCY)
			latency_step(u, len);
		else
			bandwidth_step(u, len);
		done++;
	}
	FT_WANT(done, "no size of the test is one that this call can move");
}
