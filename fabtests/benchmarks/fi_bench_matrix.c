/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * Every call of the data path, by size and by pattern: a figure for each cell. How completions
 * are taken (-c, -t, --batch, --selective), the threading level and the progress are the
 * command line's and hold for all cells of a run.
 *
 * A cell is measured twice: a short first run tells how many operations fit into --cell-ms.
 */
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "common/ft.h"

#define WINDOW_MAX	64
#define BATCH_MAX	64
#define IOVS		2
#define FIRST_OPS	16
#define LEAST_OPS	24
#define CELL_SHARE	3	/* a run of a cell may take the time limit divided by this */
#define YIELD		256	/* polls that find nothing before another program may run */
#define LOOKS		4096	/* the same before the control connection is looked at */
#define LABEL		64	/* bytes of a cell's name */

static const struct ft_col cols[] = {
	{ "cell", "call pattern bytes", 32, 0 }, { "iters", "iters", 9, 0 },
	{ "usec", "usec", 11, 4 }, { "MBps", "MB/sec", 10, 2 },
};

enum family { MSG, TAGGED, RMA, ATOMIC };
enum pattern { LATENCY, ONE_WAY, BOTH_WAYS };
static const char *const patterns[] = { "latency", "one-way", "both-ways" };

/* The state of the cell that is measured; operations are counted from its start. */
static struct cell {
	struct ft *ft;
	struct ft_ep *e;
	size_t len, window, group;	/* group: every so many operations one is marked */
	enum family family;
	uint64_t posted, done;		/* operations of this side, done ones with their completion */
	uint64_t rx_posted, rx_done;
	uint64_t tx_base, rx_base;	/* of the counters */
	struct fi_context2 tx_ctx[2][WINDOW_MAX], rx_ctx[WINDOW_MAX];
	unsigned ctxs;			/* which of @tx_ctx: those of the last cell may complete in this one */
	uint64_t upto[WINDOW_MAX];	/* operations done when the one of this slot completes */
} cell;

/* ---- one operation ---- */

static struct fi_rma_iov rma_target(void)
{
	struct ft_remote *to = &cell.ft->remote;

	return (struct fi_rma_iov) { .addr = to->addr, .len = cell.len, .key = to->key };
}

/* The buffer of this side; a read goes into the receive buffer. */
static struct ft_buf *local_buf(bool reads)
{
	return reads ? &cell.ft->rx : &cell.ft->tx;
}

static size_t split_buf(struct iovec *iov, void *desc[IOVS], struct ft_buf *b)
{
	size_t first = cell.len / 2, cnt = cell.len > 1 && cell.ft->info->tx_attr->iov_limit > 1 ? 2 : 1;

	iov[0] = (struct iovec) { b->p, cnt == 2 ? first : cell.len };
	iov[1] = (struct iovec) { b->p + first, cell.len - first };
	desc[0] = desc[1] = b->desc;
	return cnt;
}

#define P	cell.ft->tx.p
#define DESC	cell.ft->tx.desc
#define EP	cell.e->ep
#define PEER	cell.e->peer
#define AT	cell.ft->remote.addr, cell.ft->remote.key

static ssize_t do_send(void *ctx) { return fi_send(EP, P, cell.len, DESC, PEER, ctx); }
static ssize_t do_inject(void *ctx) { (void) ctx; return fi_inject(EP, P, cell.len, PEER); }
static ssize_t do_senddata(void *ctx) { return fi_senddata(EP, P, cell.len, DESC, 7, PEER, ctx); }
static ssize_t do_tsend(void *ctx) { return fi_tsend(EP, P, cell.len, DESC, PEER, FT_TAG, ctx); }
static ssize_t do_tinject(void *ctx) { (void) ctx; return fi_tinject(EP, P, cell.len, PEER, FT_TAG); }

static ssize_t do_tsenddata(void *ctx)
{
	return fi_tsenddata(EP, P, cell.len, DESC, 7, PEER, FT_TAG, ctx);
}

static ssize_t do_write(void *ctx) { return fi_write(EP, P, cell.len, DESC, PEER, AT, ctx); }
static ssize_t do_inject_write(void *ctx) { (void) ctx; return fi_inject_write(EP, P, cell.len, PEER, AT); }
static ssize_t do_writedata(void *ctx) { return fi_writedata(EP, P, cell.len, DESC, 7, PEER, AT, ctx); }

static ssize_t do_read(void *ctx)
{
	return fi_read(EP, cell.ft->rx.p, cell.len, cell.ft->rx.desc, PEER, AT, ctx);
}

static ssize_t do_atomic(void *ctx)
{
	return fi_atomic(EP, P, cell.len / 8, DESC, PEER, AT, FI_UINT64, FI_SUM, ctx);
}

static ssize_t do_sendv(void *ctx)
{
	struct iovec iov[IOVS];
	void *desc[IOVS];
	size_t cnt = split_buf(iov, desc, local_buf(false));

	return fi_sendv(EP, iov, desc, cnt, PEER, ctx);
}

static ssize_t sendmsg_flags(size_t len, void *ctx, uint64_t flags)
{
	struct iovec iov = { P, len };
	void *desc = DESC;

	if (cell.family == TAGGED)
		return fi_tsendmsg(EP, &(struct fi_msg_tagged) { .msg_iov = &iov, .desc = &desc, .iov_count = 1,
				   .addr = PEER, .tag = FT_TAG, .context = ctx }, flags);
	return fi_sendmsg(EP, &(struct fi_msg) { .msg_iov = &iov, .desc = &desc, .iov_count = 1,
			  .addr = PEER, .context = ctx }, flags);
}

static ssize_t do_sendmsg(void *ctx) { return sendmsg_flags(cell.len, ctx, FI_COMPLETION); }

static ssize_t rma_flags(bool reads, void *ctx, uint64_t flags)
{
	struct ft_buf *b = local_buf(reads);
	struct iovec iov = { b->p, cell.len };
	struct fi_rma_iov to = rma_target();
	struct fi_msg_rma msg = { .msg_iov = &iov, .desc = &b->desc, .iov_count = 1, .addr = PEER,
				  .rma_iov = &to, .rma_iov_count = 1, .context = ctx };

	return reads ? fi_readmsg(EP, &msg, flags) : fi_writemsg(EP, &msg, flags);
}

static ssize_t atomic_flags(void *ctx, uint64_t flags)
{
	struct fi_ioc ioc = { .addr = P, .count = cell.len / 8 };
	struct fi_rma_ioc to = { cell.ft->remote.addr, cell.len / 8, cell.ft->remote.key };
	void *desc = DESC;

	return fi_atomicmsg(EP, &(struct fi_msg_atomic) { .msg_iov = &ioc, .desc = &desc, .iov_count = 1,
			    .addr = PEER, .rma_iov = &to, .rma_iov_count = 1, .datatype = FI_UINT64,
			    .op = FI_SUM, .context = ctx }, flags);
}

static const struct call {
	const char *name;
	enum family family;
	bool injects;		/* no completion entry, and a limit of its own */
	bool reads;
	ssize_t (*post)(void *ctx);
} calls[] = {
	{ "send", MSG, false, false, do_send },
	{ "sendv", MSG, false, false, do_sendv },
	{ "sendmsg", MSG, false, false, do_sendmsg },
	{ "inject", MSG, true, false, do_inject },
	{ "senddata", MSG, false, false, do_senddata },
	{ "tsend", TAGGED, false, false, do_tsend },
	{ "tinject", TAGGED, true, false, do_tinject },
	{ "tsenddata", TAGGED, false, false, do_tsenddata },
	{ "write", RMA, false, false, do_write },
	{ "writedata", RMA, false, false, do_writedata },
	{ "inject_write", RMA, true, false, do_inject_write },
	{ "read", RMA, false, true, do_read },
	{ "atomic", ATOMIC, false, false, do_atomic },
};

/* With selective completion the last operation of a group asks for an entry, which says that those
 * before it are done, too.
 */
static ssize_t post_marked(const struct call *c, void *ctx)
{
	return c->family == ATOMIC ? atomic_flags(ctx, FI_COMPLETION) :
	       c->family == RMA ? rma_flags(c->reads, ctx, FI_COMPLETION) :
	       sendmsg_flags(cell.len, ctx, FI_COMPLETION);
}

static bool post_one(const struct call *c, uint64_t last)
{
	size_t slot = cell.posted % cell.window;
	void *ctx = &cell.tx_ctx[cell.ctxs][slot];
	bool selective = cell.ft->opt.selective && !c->injects;
	bool marked = selective && (cell.posted + 1 == last || !((cell.posted + 1) % cell.group));
	ssize_t ret = marked ? post_marked(c, ctx) : c->post(ctx);

	if (ret == -FI_EAGAIN)
		return false;
	ft_check(ret, c->name, __FILE__, __LINE__);
	cell.upto[slot] = ++cell.posted;
	if (c->injects && !cell.ft->opt.counter)
		cell.done = cell.posted;
	return true;
}

/* ---- completions ---- */

static void take_entry(const struct fi_cq_tagged_entry *entry)
{
	struct fi_context2 *tx_ctx = cell.tx_ctx[cell.ctxs];
	char *ctx = entry->op_context;

	if (ctx >= (char *) cell.rx_ctx && ctx < (char *) (cell.rx_ctx + WINDOW_MAX)) {
		cell.rx_done++;
	} else if (ctx >= (char *) tx_ctx && ctx < (char *) (tx_ctx + WINDOW_MAX)) {
		uint64_t upto = cell.upto[(struct fi_context2 *) ctx - tx_ctx];

		/* Completions of one endpoint may overtake each other; each counts once. */
		cell.done = cell.ft->opt.selective ? (upto > cell.done ? upto : cell.done) : cell.done + 1;
	}
}

static void fail_on_error(struct fid_cq *cq)
{
	struct fi_cq_err_entry err = { 0 };

	FT_IS(fi_cq_readerr(cq, &err, 0), 1);
	ft_fail("an operation completed in error: %s", fi_strerror(err.err));
}

static ssize_t sleep_on_fd(struct fid_cq *cq, struct fi_cq_tagged_entry *entry)
{
	struct fid *fids[] = { &cq->fid };
	struct pollfd pfd = { .events = POLLIN };

	if (!fi_trywait(cell.ft->fabric, fids, 1)) {
		FT_TRY(fi_control(&cq->fid, FI_GETWAIT, &pfd.fd));
		poll(&pfd, 1, 100);
	}
	return fi_cq_read(cq, entry, 1);
}

static ssize_t read_queue(struct fi_cq_tagged_entry *entry)
{
	struct fid_cq *cq = cell.e->txcq;
	const struct ft_opts *o = &cell.ft->opt;
	ssize_t n = fi_cq_read(cq, entry, (size_t) o->batch);

	if (n != -FI_EAGAIN || o->comp == FT_SPIN || o->counter)
		return n;
	return o->comp == FT_FD ? sleep_on_fd(cq, entry) : fi_cq_sread(cq, entry, 1, NULL, 100);
}

/* Takes what has completed; counters are read, and the queue for what comes to it all the same. */
static void poll_once(void)
{
	struct fi_cq_tagged_entry entry[BATCH_MAX];
	static unsigned int fruitless;
	ssize_t n = -FI_EAGAIN;

	if (cell.ft->opt.counter) {
		uint64_t was = cell.done + cell.rx_done;

		cell.done = fi_cntr_read(cell.e->txcntr) - cell.tx_base;
		cell.rx_done = fi_cntr_read(cell.e->rxcntr) - cell.rx_base;
		if (fi_cntr_readerr(cell.e->txcntr) + fi_cntr_readerr(cell.e->rxcntr))
			ft_fail("a counter of errors has counted");
		if (cell.done + cell.rx_done != was)
			return;
	}
	if (!cell.ft->opt.counter || fruitless % 16 == 0)
		n = read_queue(entry);
	if (n == -FI_EAVAIL)
		fail_on_error(cell.e->txcq);
	if (n == -FI_EAGAIN && ++fruitless % YIELD == 0)
		sched_yield();
	if (n == -FI_EAGAIN && fruitless % LOOKS == 0)
		ft_ctl_look(cell.ft);
	if (n != -FI_EAGAIN)
		FT_TRY(n);
	for (ssize_t i = 0; i < n && !cell.ft->opt.counter; i++)
		take_entry(&entry[i]);
}

/* ---- patterns ---- */

static void post_receives(uint64_t in)
{
	struct ft_buf *b = &cell.ft->rx;

	while (cell.rx_posted < in && cell.rx_posted - cell.rx_done < cell.window) {
		void *ctx = &cell.rx_ctx[cell.rx_posted % cell.window];
		ssize_t ret = cell.family == TAGGED ?
			fi_trecv(EP, b->p, b->len, b->desc, FI_ADDR_UNSPEC, FT_TAG, 0, ctx) :
			fi_recv(EP, b->p, b->len, b->desc, FI_ADDR_UNSPEC, ctx);

		if (ret == -FI_EAGAIN)
			return;
		FT_TRY(ret);
		cell.rx_posted++;
	}
}

/* Until @out operations of this side and @in messages of the peer are done. */
static void run_stream(const struct call *c, uint64_t out, uint64_t in, size_t window)
{
	cell.group = window > 1 ? window / 2 : 1;
	while (cell.done < out || cell.rx_done < in) {
		post_receives(in);
		if (cell.posted >= out || cell.posted - cell.done >= window || !post_one(c, out))
			poll_once();
	}
}

/* Both sides: a message each way, after which everything before it has arrived. Waiting for it
 * makes the progress that the peer's RMA needs.
 */
static void meet_peer(void)
{
	static const struct call last = { "the last message", MSG, false, false, do_sendmsg };
	enum family family = cell.family;
	size_t len = cell.len;

	if (family != TAGGED)
		cell.family = MSG;
	cell.len = 0;
	run_stream(&last, cell.posted + 1, cell.rx_posted + 1, 1);
	cell.len = len;
	cell.family = family;
}

static void run_pingpong(const struct call *c, uint64_t ops)
{
	bool first = !cell.ft->server;

	cell.group = cell.window > 1 ? cell.window / 2 : 1;
	for (uint64_t i = 1; i <= ops; i++) {
		post_receives(i < ops ? i + 1 : ops);
		while (!first && cell.rx_done < i)
			poll_once();
		while (cell.posted - cell.done >= cell.window || !post_one(c, ops))
			poll_once();
		while (first && cell.rx_done < i)
			poll_once();
	}
	run_stream(c, ops, ops, cell.window);
}

static void start_cell(const struct call *c, size_t len)
{
	cell.family = c->family;
	cell.len = len;
	cell.posted = cell.done = cell.rx_posted = cell.rx_done = 0;
	cell.ctxs = !cell.ctxs;
	if (cell.ft->opt.counter) {
		cell.tx_base = fi_cntr_read(cell.e->txcntr);
		cell.rx_base = fi_cntr_read(cell.e->rxcntr);
	}
}

/* Microseconds of one operation: half a round trip of messages, the time to completion of RMA, or
 * a stream's time by the operations of one side.
 */
static double run_pattern(const struct call *c, enum pattern pattern, size_t len, uint64_t ops)
{
	bool messages = c->family == MSG || c->family == TAGGED;
	bool mine = pattern == BOTH_WAYS || !cell.ft->server, echoes = messages && pattern == LATENCY;
	uint64_t in = messages && (pattern == BOTH_WAYS || cell.ft->server) ? ops : 0;
	uint64_t start;

	ft_at(c->name);
	ft_watch(cell.ft->opt.limit_s / CELL_SHARE + 1);
	start_cell(c, len);
	post_receives(echoes ? 1 : in);		/* some devices drop what finds no receive */
	ft_sync(cell.ft);
	start = ft_now_ns();
	if (echoes) {
		run_pingpong(c, ops);
		return (double) (ft_now_ns() - start) / 2e3 / (double) ops;
	}
	run_stream(c, mine ? ops : 0, in, pattern == LATENCY ? 1 : cell.window);
	if (pattern == LATENCY) {
		start = ft_now_ns() - start;
		meet_peer();
		return (double) start / 1e3 / (double) ops;
	}
	meet_peer();
	return (double) (ft_now_ns() - start) / 1e3 / (double) ops;
}

static uint64_t agree_ops(double us)
{
	uint64_t ops = (uint64_t) (cell.ft->opt.cell_ms * 1e3 / (us > 0.01 ? us : 0.01));

	if (ops < LEAST_OPS)
		ops = LEAST_OPS;
	if (cell.ft->server)
		ft_ctl_recv(cell.ft, &ops, sizeof(ops));
	else
		ft_ctl_send(cell.ft, &ops, sizeof(ops));
	return ops;
}

static void name_cell(char label[LABEL], const struct call *c, enum pattern pattern, size_t len)
{
	snprintf(label, LABEL, "%s %s %zu", c->name, patterns[pattern], len);
}

static void measure_cell(const struct call *c, enum pattern pattern, size_t len)
{
	char label[LABEL];
	uint64_t ops = agree_ops(run_pattern(c, pattern, len, FIRST_OPS));
	double us = run_pattern(c, pattern, len, ops);

	name_cell(label, c, pattern, len);
	if (!cell.ft->server)
		ft_table_row(cell.ft, cols, FT_COUNT(cols), label,
			     (double[]) { (double) ops, us, (double) len / us });
}

/* ---- which cells ---- */

/* Is @label one of the cells that --cells names? */
static bool cell_wanted(const char *cells, const char *label)
{
	size_t len = strlen(label), word;

	for (; cells && *cells; cells += word + (cells[word] == ',')) {
		word = strcspn(cells, ",");
		if (word == len && !strncmp(cells, label, len))
			return true;
	}
	return !cells;
}

static bool has_cell(const struct ft *ft, const struct call *c, enum pattern pattern, size_t len)
{
	static const uint64_t caps[] = { FI_MSG, FI_TAGGED, FI_RMA, FI_ATOMIC };
	bool dgram = ft->info->ep_attr->type == FI_EP_DGRAM;
	char label[LABEL];
	size_t most = 0;

	name_cell(label, c, pattern, len);
	if (!cell_wanted(ft->opt.cells, label))
		return false;
	if (!(ft->info->caps & caps[c->family]) || !len || len > ft->info->ep_attr->max_msg_size)
		return false;
	/* an inject has no desc: its payload is the host's */
	if (c->injects && (ft->opt.device || len > ft->info->tx_attr->inject_size))
		return false;
	if (strstr(c->name, "data") && !ft->info->domain_attr->cq_data_size)
		return false;
	if (c->family == RMA && strstr(c->name, "data") && ft->info->rx_attr->mode & FI_RX_CQ_DATA)
		return false;		/* would need receives for RMA */
	if (dgram && pattern != LATENCY)	/* a stream of datagrams that may be dropped is no figure */
		return false;
	if (c->family != ATOMIC)
		return true;
	return !fi_atomicvalid(ft->ep.ep, FI_UINT64, FI_SUM, &most) && len % 8 == 0 && len / 8 <= most;
}

static void measure_cells(struct ft *ft)
{
	bool any = false;

	for (size_t i = 0; i < FT_COUNT(calls); i++)
		for (enum pattern p = LATENCY; p <= BOTH_WAYS; p++)
			for (size_t s = 0; s < ft->opt.size_cnt; s++)
				if (ft_agree(ft, has_cell(ft, &calls[i], p, ft->opt.sizes[s]))) {
					measure_cell(&calls[i], p, ft->opt.sizes[s]);
					any = true;
				}
	if (ft->opt.cells && !any)
		ft_skip("no cell is called '%s' with these sizes (-S) and this endpoint (-e, and what the "
			"provider offers); a run without --cells prints the names", ft->opt.cells);
}

/* The richest endpoint that the provider has. */
static void find_endpoint(struct ft *ft, struct ft_test *test)
{
	static const uint64_t caps[] = {
		FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC, FI_MSG | FI_TAGGED | FI_RMA, FI_MSG | FI_TAGGED,
		FI_MSG | FI_RMA, FI_MSG,
	};
	int ret = -FI_ENODATA;

	for (size_t i = 0; i < FT_COUNT(caps) && ret == -FI_ENODATA; i++) {
		test->caps = caps[i];
		fi_freeinfo(ft->hints);
		ft->hints = ft_hints(ft);
		ret = ft_find(ft);
	}
	if (ret)
		ft_getinfo(ft);		/* skips, with the reason */
}

int main(int argc, char **argv)
{
	static struct ft_test test = {
		.about = "Benchmark: every call, by pattern and size, in one run.",
		.bench = true, .one_cq = true,
		.sizes = { 8, 64, 512, 4096, 16384, 65536, 262144, 1048576 },
	};
	struct ft ft;
	size_t window;

	ft_meet(&ft, &test, argc, argv);
	if (ft.opt.prefix || ft.opt.batch > BATCH_MAX)
		ft_skip("--batch is %d at most, and -k msg_prefix has no cells", BATCH_MAX);
	find_endpoint(&ft, &test);
	test.tx_bind = ft.opt.selective ? FI_SELECTIVE_COMPLETION : 0;
	ft_open_domain(&ft);
	ft_open(&ft);
	cell.ft = &ft;
	cell.e = &ft.ep;
	window = (size_t) ft.opt.window < WINDOW_MAX ? (size_t) ft.opt.window : WINDOW_MAX;
	window = ft.info->tx_attr->size < window ? ft.info->tx_attr->size : window;
	window = ft.info->rx_attr->size < window ? ft.info->rx_attr->size : window;
	cell.window = ft_agree(&ft, window ? window : 1);
	ft_table_head(&ft, cols, FT_COUNT(cols), "nothing");
	measure_cells(&ft);
	ft_watch(ft.opt.limit_s);
	return ft_end(&ft);
}
