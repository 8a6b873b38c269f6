/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef TESTS_RT_H
#define TESTS_RT_H

/*
 * rt.h - shared by the tests of the runtimes.
 *
 * Each program queries endpoints as one runtime does and checks the result as that runtime
 * does.  Where it names a provider whose device this machine lacks (table in rt.c), the case is
 * skipped with the reason, and the same query, with tcp in place of that provider, must still
 * succeed.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_xpu.h>

/* ---- fi_getinfo -------------------------------------------------------------- */

struct rt_query {
	uint32_t version;
	const char *node;
	const char *service;
	uint64_t flags;
	struct fi_info *hints;		/* the caller's */
};

/* rt_hints - empty hints with every sub-structure; free with fi_freeinfo(). */
struct fi_info *rt_hints(void);

/* rt_all - the result of the query; never NULL.
 * Skips the test where only a device is missing, and fails it otherwise.
 */
struct fi_info *rt_all(const struct rt_query *q);

/* rt_now - the result of the query, with tcp in place of a provider whose device is missing. */
struct fi_info *rt_now(const struct rt_query *q);

/* rt_lacking - what @hints need that a machine may lack.
 * @text, @len: [out] as text; empty when nothing is missing
 * Returns a copy of @hints for tcp instead, for fi_freeinfo().
 */
struct fi_info *rt_lacking(const struct fi_info *hints, char *text, size_t len);

/* rt_none - the query must say -FI_ENODATA. */
void rt_none(const struct rt_query *q);

/* rt_skip - skip the running test with a reason. */
void rt_skip(const char *why) __attribute__((noreturn));

/* rt_hush, rt_said - what goes to stderr between the two, as text. */
void rt_hush(void);
void rt_said(char *text, size_t size);

/* ---- transfers ------------------------------------------------------------------- */

#define RT_SHARED_RX 1u
#define RT_SHARED_TX 2u
#define RT_REGIONS 8

struct rt_setup {
	enum fi_av_type av_type;
	enum fi_cq_format cq_format;
	size_t cq_size;
	enum fi_wait_obj wait_obj;
	uint64_t bind_flags;		/* of the queue; 0: FI_TRANSMIT | FI_RECV */
	uint64_t cntr_flags;		/* of a counter; 0: no counter */
	bool xpu;			/* a device posts; counters are the device's */
	bool xpu_cq;			/* .. and reads the queues */
	unsigned shared;		/* RT_SHARED_*: what both endpoints have one of */
};

/* Two endpoints of one domain that can reach each other, each with a queue. */
struct rt_world {
	struct fi_info *info;		/* freed by rt_close() */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;		/* of MSG endpoints, which are connected, and for FI_COLLECTIVE */
	struct fid_av *av;		/* of the others */
	struct fid_ep *ep[2];		/* a test that closes one sets it to NULL */
	struct fid_cq *cq[2];
	struct fid_cntr *cntr[2];	/* NULL without cntr_flags */
	struct fid_ep *srx;		/* with RT_SHARED_RX */
	struct fid_stx *stx;		/* with RT_SHARED_TX */
	struct fid_xpu_ctx *xpu;	/* of threads of this process, with rt_setup.xpu */
	struct rt_region {
		const void *buf;
		size_t len;
		uint64_t access;
		struct fid_mr *mr;
	} regions[RT_REGIONS];		/* what rt_desc() registered */
	fi_addr_t addr[2];		/* of each endpoint; 0 with MSG */
};

void rt_open(struct rt_world *w, struct fi_info *info, const struct rt_setup *s);
void rt_close(struct rt_world *w);

/* rt_desc - the descriptor for a buffer in a data transfer call: NULL, or that of a region that
 * rt_close() closes.
 */
void *rt_desc(struct rt_world *w, const void *buf, size_t len, uint64_t access);

/* rt_wait - the next completion of endpoint @i; fails the test after ten seconds.
 * Makes progress on both endpoints meanwhile.
 */
struct fi_cq_tagged_entry rt_wait(struct rt_world *w, int i);

/* rt_event - the next connection event, which must be @want; its info. */
struct fi_info *rt_event(struct rt_world *w, uint32_t want);

/* rt_do - an expression of type ssize_t, repeated while it returns -FI_EAGAIN. */
#define rt_do(w, call) do { \
		ssize_t rt_ret_; \
		int rt_left_ = 10000000; \
		while ((rt_ret_ = (call)) == -FI_EAGAIN && rt_left_--) \
			rt_push(w); \
		assert_int_equal(rt_ret_, 0); \
	} while (0)

/* rt_push - make progress on both endpoints. */
void rt_push(struct rt_world *w);

/* rt_carry, rt_carry_tagged - a message of @len bytes from 0 to 1, verified. */
void rt_carry(struct rt_world *w, size_t len);
void rt_carry_tagged(struct rt_world *w, size_t len, uint64_t tag);

/* rt_each_link - the tests of each link in a process of its own, whose environment chooses the link.
 * @name: of link 0, 1, ...; NULL after the last.  An argument of the program chooses one.
 * @run:  the tests over it, 0 if they have passed
 * Returns 0, or 1 if a link has failed.
 */
int rt_each_link(int argc, char **argv, const char *(*name)(size_t link), int (*run)(size_t link));

#endif
