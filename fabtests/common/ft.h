/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * ft.h - the functions that every test program shares.
 *
 * A test states what it needs in a struct ft_test, calls ft_begin(), which returns with both
 * programs running and their fabric objects open, does its work, and ends with ft_end().
 *
 * A call that fails ends the program: the message names the call and its location, and the peer
 * program is notified over the control connection, so that neither side waits for the other
 * indefinitely.  Exit status: 0 passed, 77 skipped with the reason on stdout, anything else
 * failed.
 */
#ifndef FABTESTS_FT_H
#define FABTESTS_FT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>

#define FT_SKIPPED	77
#define FT_MAX_SIZES	64
#define FT_ADDR_MAX	256
#define FT_TAG		0x5eedULL	/* tag of tests that have no tags of their own */
#define FT_COUNT(array)	(sizeof(array) / sizeof((array)[0]))

enum ft_comp { FT_SPIN, FT_SREAD, FT_FD, FT_YIELD };
enum ft_rma { FT_WRITE, FT_READ, FT_WRITEDATA };

/* The options of the command line. */
struct ft_opts {
	const char *prov, *domain, *fabric;	/* -p -d -f */
	uint32_t addr_format;			/* -F; FI_FORMAT_UNSPEC: any */
	const char *src_addr;			/* -s: local address of the endpoints */
	const char *peer;			/* argument: the server; NULL: this is the server */
	const char *port;			/* control port: -B (server), -P (client), -b, -E */
	const char *av_name;			/* -a */
	const char *config;			/* -u: file of combinations (fi_ubertest) */
	enum fi_ep_type ep_type;		/* -e; FI_EP_UNSPEC: as the test prefers */
	enum fi_av_type av_type;		/* -A */
	enum fi_threading threading;		/* --threading */
	enum fi_progress data_progress, control_progress;	/* --data-progress, --control-progress */
	enum ft_comp comp;			/* -c */
	enum ft_rma rma;			/* -o */
	bool counter;				/* -t counter */
	bool tagged;				/* -k tagged */
	bool prefix;				/* -k */
	bool verify;				/* -v; functional tests verify always */
	bool verbose;				/* -v */
	bool machine;				/* -m */
	bool json;				/* --json */
	bool align;				/* -l */
	bool delivery;				/* -U */
	size_t sizes[FT_MAX_SIZES];		/* -S */
	size_t size_cnt;			/* 0: the test's own */
	size_t max_inject;			/* -j */
	int iters, warmup;			/* -I -w; -1: the test's own */
	int window;				/* -W */
	int batch;				/* --batch: entries of a read of a queue */
	bool selective;				/* --selective: few operations ask for an entry */
	int cell_ms;				/* --cell-ms: time of a cell of fi_bench_matrix */
	const char *cells;			/* --cells: names, with commas between; NULL: all */
	int count;				/* -C: clients, endpoints, threads */
	int limit_s;				/* -T */
	const char *device;			/* -D; NULL: the host's memory */
	int device_no;				/* -i */
	int first, last;			/* -y -z: combinations of fi_ubertest; 0: all */
};

/* Wait objects by kind; a queue or counter without one is polled. */
struct ft_waits {
	enum fi_wait_obj eq, cq, cntr;
};

/* The description and requirements of a test program. */
struct ft_test {
	const char *about;		/* one line for the usage text */
	enum fi_ep_type ep_type;	/* endpoint type unless -e says another */
	bool fixed_type;		/* the test works with that type only */
	uint64_t caps;			/* fi_info caps; 0: FI_MSG, or FI_TAGGED with -k tagged */
	uint64_t mode;			/* further fi_info mode bits that it supports */
	uint64_t rx_flags, tx_flags;	/* op_flags of the endpoint */
	uint64_t tx_bind, rx_bind;	/* more fi_ep_bind flags for the two queues */
	size_t cq_data_size;		/* domain_attr.cq_data_size that it requires */
	size_t buf_size;		/* smallest buffer that it requires */
	bool local;			/* one program; no peer and no control connection */
	bool bench;			/* measures: verify only with -v, sizes of benchmarks */
	bool threads;			/* a benchmark of several threads, or of other threading */
	bool cntrs;			/* counters beside the queues, whatever -t says */
	bool one_cq;			/* transmit and receive completions in one queue */
	bool no_link;			/* ft_begin opens the domain and leaves endpoints to the test */
	bool no_open;			/* ft_begin stops before it opens anything */
	enum fi_wait_obj wait;		/* wait object of queues, or FI_WAIT_NONE: as -c says */
	bool need_wait;			/* .wait is the subject of the test */
	const struct ft_waits *waits;	/* of all objects, whatever -c says, or NULL */
	bool client_rules;		/* the client controls the server: options may differ */
	int iters;			/* iterations unless -I says another; 0: 100 */
	size_t sizes[8];		/* sizes unless -S says others, up to a 0; none: the usual */
	void (*tune)(struct fi_info *hints);	/* final changes to the hints, or NULL */
};

struct ft_buf {
	char *p;
	size_t len;
	struct fid_mr *mr;	/* NULL where the provider asks for none */
	void *desc;
	uint64_t key;		/* as the peer names it, with addr */
	uint64_t addr;
};

/* An endpoint with its queues, counters and its one peer. */
struct ft_ep {
	struct ft *ft;
	struct fid_ep *ep;
	struct fid_cq *txcq, *rxcq;	/* the same with ft_test.one_cq */
	struct fid_cntr *txcntr, *rxcntr;
	fi_addr_t peer;
	uint64_t tx_done, rx_done;	/* completions taken */
	uint64_t tx_posted, rx_posted;
	bool own_cqs;			/* closed with the endpoint */
	struct fi_context2 tx_ctx, rx_ctx;
};

struct ft_remote {		/* where the peer's buffer is */
	uint64_t addr, key, len;
};

struct ft {
	const struct ft_test *test;
	struct ft_opts opt;
	const char *name;		/* of the program */
	bool server;
	int ctl;			/* control connection, or -1 */
	struct sockaddr_storage here, there;	/* its two ends */
	struct fi_info *hints, *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_pep *pep;		/* server of MSG endpoints */
	struct fid_domain *domain;
	struct fid_av *av;
	struct ft_ep ep;		/* the endpoint of tests that have one */
	struct ft_buf tx, rx;
	struct ft_remote remote;	/* the peer's rx, after ft_swap_keys() */
	size_t prefix_len;
};

/* ---- ending (report.c) ---- */

/* ft_fail - print the reason, notify the peer, exit 1. */
void ft_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* ft_skip - print why this cannot run here, notify the peer, exit 77. */
void ft_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* ft_check - end the program unless @ret >= 0; returns @ret. */
ssize_t ft_check(ssize_t ret, const char *what, const char *file, int line);
/* ft_check_is - end the program unless @ret is @want. */
void ft_check_is(ssize_t ret, ssize_t want, const char *what, const char *file, int line);
/* ft_may - as ft_check, but skip where @ret says that the feature is not supported. */
ssize_t ft_may(ssize_t ret, const char *what);
/* ft_at - record the current location, for the watchdog's message. */
void ft_at(const char *where);
/* ft_case - describe the current case, for the message of a failure; NULL: none. */
void ft_case(const char *text);
/* ft_watch - end the program, with the recorded location, after @seconds of processor time or ten times as many. */
void ft_watch(int seconds);
/* ft_now_ns - a clock that only goes forward. */
uint64_t ft_now_ns(void);

#define FT_TRY(call)		ft_check((call), #call, __FILE__, __LINE__)
#define FT_IS(call, want)	ft_check_is((call), (want), #call, __FILE__, __LINE__)
#define FT_MAY(call)		ft_may((call), #call)
#define FT_WANT(cond, ...) \
	do { if (!(cond)) { ft_place(__FILE__, __LINE__); ft_fail(__VA_ARGS__); } } while (0)
void ft_place(const char *file, int line);

/* Posts @call until it is no longer told to try again. */
#define FT_POST(e, call) \
	do { \
		ssize_t ft_ret_; \
		uint64_t ft_since_ = 0; \
		while ((ft_ret_ = (call)) == -FI_EAGAIN) \
			ft_again((e), &ft_since_); \
		ft_check(ft_ret_, #call, __FILE__, __LINE__); \
	} while (0)
/* ft_again - let a full endpoint make progress; fails the test when it never does. */
void ft_again(struct ft_ep *e, uint64_t *since);

/* ---- beginning and end (fabric.c) ---- */

/* ft_begin - parse, meet the peer, choose a provider, open, connect. */
void ft_begin(struct ft *ft, const struct ft_test *test, int argc, char **argv);
/* ft_end - meet the peer, close everything (each close must succeed); returns 0. */
int ft_end(struct ft *ft);
/* ft_meet - the part of ft_begin before any fabric object: options and control connection. */
void ft_meet(struct ft *ft, const struct ft_test *test, int argc, char **argv);
/* ft_open - the part after: endpoint, buffers, keys, on an open domain. */
void ft_open(struct ft *ft);
/* ft_shut - close what ft_open and ft_open_domain opened, and free hints and info. */
void ft_shut(struct ft *ft);
/* ft_hints - hints of this test and its command line; the caller frees them. */
struct fi_info *ft_hints(struct ft *ft);
/* ft_api - the interface version that this program was built for. */
uint32_t ft_api(void);
/* ft_find - fill ft->info from ft->hints; returns what fi_getinfo does. */
int ft_find(struct ft *ft);
/* ft_getinfo - the same; skips when nothing fits. */
void ft_getinfo(struct ft *ft);
/* ft_open_domain - fabric, event queue and domain of ft->info, and its table. */
void ft_open_domain(struct ft *ft);
/* ft_buf_open - memory of @len bytes, registered where needed or @access is given. */
void ft_buf_open(struct ft *ft, struct ft_buf *buf, size_t len, uint64_t access);
void ft_buf_close(struct ft_buf *buf);
/* ft_swap_keys - both sides learn where the other's rx buffer is. */
void ft_swap_keys(struct ft *ft);
/* ft_cq_attr, ft_cq_open - a queue as the command line wants it. */
struct fi_cq_attr ft_cq_attr(const struct ft *ft);
struct fid_cq *ft_cq_open(struct ft *ft);
struct fid_cntr *ft_cntr_open(struct ft *ft);

/* ---- endpoints (link.c) ---- */

/* ft_ep_open - endpoint of @info with queues, bound; not enabled.
 * Queues that are set in @e already are used as they are.
 */
void ft_ep_open(struct ft *ft, struct ft_ep *e, struct fi_info *info);
void ft_ep_close(struct ft_ep *e);
/* ft_link - open @e and join it to the peer's, whatever its type; both sides call it. */
void ft_link(struct ft *ft, struct ft_ep *e);
/* ft_swap_names - exchange addresses of enabled endpoints and insert the peer's. */
void ft_swap_names(struct ft *ft, struct ft_ep *e);
/* ft_av_add - insert one address, which must succeed. */
fi_addr_t ft_av_add(struct ft *ft, const void *addr);
/* ft_listen - passive endpoint whose address the other side gets by ft_ctl. */
void ft_listen(struct ft *ft);
/* ft_event - wait for @event; returns bytes read into @entry (@len with private data). */
size_t ft_event(struct ft *ft, uint32_t event, struct fi_eq_cm_entry *entry, size_t len);
/* ft_dial - client: address of the server's passive endpoint into @addr. */
void ft_dial(struct ft *ft, void *addr);

/* ---- control connection (control.c) ---- */

void ft_ctl_open(struct ft *ft);
void ft_ctl_close(struct ft *ft);
void ft_ctl_send(struct ft *ft, const void *buf, size_t len);
/* ft_ctl_recv - the next message, which must be of @len bytes at most; returns its length. */
size_t ft_ctl_recv(struct ft *ft, void *buf, size_t len);
/* ft_ctl_swap - send @mine and receive as much into @theirs. */
void ft_ctl_swap(struct ft *ft, const void *mine, void *theirs, size_t len);
/* ft_agree - the smaller of the two sides' limits, which may be of two libraries. */
size_t ft_agree(struct ft *ft, size_t mine);
/* ft_sync - returns when both sides have called it. */
void ft_sync(struct ft *ft);
/* ft_serve - make progress until a message of the peer arrives. */
void ft_serve(struct ft *ft);
/* ft_ctl_look - end the program if the peer has failed, skipped or ended. */
void ft_ctl_look(struct ft *ft);
/* ft_ctl_last_word - report.c: send this side's result to the peer. */
void ft_ctl_last_word(char kind, const char *text);
/* ft_ctl_numeric - numeric host of one end of the control connection. */
void ft_ctl_numeric(const struct sockaddr_storage *sa, char *host, size_t len);

/* ---- completions (wait.c) ---- */

/* ft_cq_some - up to @max entries, waiting up to @ms the way -c says.
 * Returns their number; 0 after @ms; -FI_EAVAIL when an error entry is next.
 */
ssize_t ft_cq_some(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_tagged_entry *entry,
		   size_t max, int ms);
/* ft_cq_take - the next entry; an error, or a timeout, fails the test. */
void ft_cq_take(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_tagged_entry *entry);
/* ft_cq_take_err - the next entry, which must be an error. */
void ft_cq_take_err(struct ft_ep *e, struct fid_cq *cq, struct fi_cq_err_entry *err);
/* ft_cq_quiet - fails unless nothing completes for @ms. */
void ft_cq_quiet(struct ft_ep *e, struct fid_cq *cq, int ms);
/* ft_wait_tx, ft_wait_rx - until @total operations of @e have completed. */
void ft_wait_tx(struct ft_ep *e, uint64_t total);
void ft_wait_rx(struct ft_ep *e, uint64_t total);
/* ft_cntr_reach - until @cntr is at least @value. */
void ft_cntr_reach(struct ft_ep *e, struct fid_cntr *cntr, uint64_t value);

/* ---- moving data (xfer.c) ---- */

/* ft_tx, ft_rx - post one operation of the command line's kind. */
void ft_tx(struct ft_ep *e, const void *p, size_t len, void *desc, void *ctx);
void ft_rx(struct ft_ep *e, void *p, size_t len, void *desc, void *ctx);
/* ft_send, ft_recv - the same with the test's buffers, and wait for completion. */
void ft_send(struct ft_ep *e, size_t len);
void ft_recv(struct ft_ep *e, size_t len);
/* ft_host - where the CPU may use a buffer of @len bytes instead of @p: @p itself, unless it is
 * memory of a device; then memory of the host that is kept to the end, and is not its copy.
 */
void *ft_host(void *p, size_t len);
/* ft_put, ft_get - memcpy() to and from the test's buffers, which may be a device's. */
void ft_put(void *to, const void *from, size_t len);
void ft_get(void *to, const void *from, size_t len);
/* ft_fill, ft_verify - bytes that @seed, a message's number, makes unlike others'. */
void ft_fill(void *p, size_t len, uint64_t seed);
void ft_verify(const void *p, size_t len, uint64_t seed, const char *what);
/* ft_pingpong - @iters round trips of @len bytes, verified where wanted.
 * @ns_p: NULL, or @iters durations.
 */
void ft_pingpong(struct ft_ep *e, size_t len, int iters, uint32_t *ns_p);
/* ft_pingpong_all - over the command line's sizes and iterations. */
void ft_pingpong_all(struct ft *ft, struct ft_ep *e);
/* ft_size_ok - whether messages of this size can be sent. */
bool ft_size_ok(const struct ft *ft, size_t len);

/* ---- figures: bench.c ---- */

enum ft_kind { FT_LATENCY, FT_STREAM, FT_RATE };	/* us, MB/s, messages a second */

struct ft_figure {		/* of one size */
	size_t len;
	int iters;
	double total_s;		/* of all iterations */
	double xfers;		/* transfers in that time */
	double p50_us, p99_us;	/* half round trips; 0 where not taken */
	double bare;		/* the same quantity over a bare socket, in the kind's unit */
};

/* ft_bench_pingpong - latency over all sizes. */
void ft_bench_pingpong(struct ft *ft);
/* ft_bench_stream - messages one way, a window in flight, over all sizes. */
void ft_bench_stream(struct ft *ft, enum ft_kind kind);
/* ft_bench_run - over all sizes, @step does the work of one and fills its figure. */
void ft_bench_run(struct ft *ft, enum ft_kind kind,
		  void (*step)(struct ft *ft, struct ft_ep *e, struct ft_figure *fig));
void ft_bench_percentiles(struct ft_figure *fig, uint32_t *ns, int cnt);

/* ---- figures: the table (table.c) ---- */

struct ft_col {			/* the first one holds the row's label */
	const char *key;	/* with -m and --json */
	const char *head;
	int width, digits;
};

/* ft_table_head - who is measured, @beside what, and the heads; not with -m or --json,
 * nor on the server, which prints no rows.
 */
void ft_table_head(const struct ft *ft, const struct ft_col *cols, size_t cnt, const char *beside);
/* ft_table_row - @values are of the columns after the first; NAN: not taken. */
void ft_table_row(const struct ft *ft, const struct ft_col *cols, size_t cnt, const char *label,
		  const double *values);
void ft_table_row_n(const struct ft *ft, const struct ft_col *cols, size_t cnt, size_t label,
		    const double *values);
/* ft_ratio - @mine to @bare; NAN where one of them was not taken. */
double ft_ratio(double mine, double bare);

struct ft_spread {
	double sum_us, p50_us, p99_us;
};

/* ft_spread - of @cnt durations, which it sorts. */
struct ft_spread ft_spread(uint32_t *ns, int cnt);

/* ---- figures: the bare socket beside them (floor.c) ---- */

/* ft_floor_open - a bare socket between the two programs, of the kind that
 * the provider stands on; ft_floor_name() says which.
 */
void ft_floor_open(struct ft *ft, bool stream);
void ft_floor_close(void);
const char *ft_floor_name(void);
double ft_floor_pingpong(struct ft *ft, size_t len, int iters);
double ft_floor_bw(struct ft *ft, size_t len, int iters);
/* ft_floor_many - messages a second over @cnt sockets in turn; opens and closes them. */
double ft_floor_many(struct ft *ft, int cnt, size_t len, int iters);
/* ft_floor_connect - @cnt times: connect, one byte there and back, close; client: durations. */
void ft_floor_connect(struct ft *ft, int cnt, uint32_t *ns);
/* ft_floor_hold - sockets to @cnt peers, each with a page to receive into; @look in between. */
void ft_floor_hold(struct ft *ft, int cnt, void (*look)(void *arg), void *arg);

/* ---- one endpoint with many peers (crowd.c) ---- */

struct ft_crowd {
	int cnt;
	struct ft_ep **e;	/* server: its endpoints, of which the first is ft->ep */
	char (*names)[FT_ADDR_MAX];	/* client: of those */
	fi_addr_t *addr;	/* client: FI_ADDR_UNSPEC until it is inserted */
};

/* ft_crowd_open - @cnt endpoints on the server, with one set of queues, and ft->ep on the client. */
void ft_crowd_open(struct ft *ft, struct ft_crowd *c, int cnt);
void ft_crowd_close(struct ft_crowd *c);
/* ft_crowd_hello - client and the server's endpoint @i: a message there and one back. */
void ft_crowd_hello(struct ft *ft, struct ft_crowd *c, int i);

/* ---- command line (options.c) ---- */
void ft_parse(struct ft *ft, int argc, char **argv);

#endif
