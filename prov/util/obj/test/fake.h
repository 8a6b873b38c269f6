/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fake.h - a provider for tests: endpoints whose network is an eventfd.
 *
 * fake_deliver() is the wire: it makes the endpoint's fd readable, and a poll
 * turns what was delivered into receive completions.  Nothing else moves.
 */
#ifndef OBJ_FAKE_H
#define OBJ_FAKE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>

#include "obj/ep.h"
#include "obj/fabric.h"
#include "obj/pep.h"

struct fake_ep {
	struct obj_ep base;
	struct list node;		/* on the poller's list */
	int fd;				/* eventfd: how many messages wait */
	uint64_t next;			/* number of the next message, its context and tag */
	uint64_t fails;			/* number of one that is an error; 0: none */
	uint64_t timer_ns;		/* a message comes by itself then; UINT64_MAX: none */
	unsigned enabled;		/* calls of enable */
	unsigned rebound;		/* calls of rebound */
	fi_addr_t removed;		/* last av_removed() */
	int enable_ret;			/* what enable answers */
};

struct fake {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
};

/* What a test asks for; zero is FI_EP_RDM, FI_THREAD_SAFE, manual progress. */
struct fake_want {
	enum fi_ep_type type;
	enum fi_threading threading;
	enum fi_progress progress;
	enum fi_resource_mgmt rm;
	uint32_t api;
	uint64_t caps;
};

extern struct fi_provider fake_prov;
extern _Atomic unsigned fake_polls;	/* of all pollers */
extern void (*fake_in_poll)(void);	/* called at the beginning of each poll; NULL: nothing is */

void fake_open(struct fake *f, const struct fake_want *want);
void fake_close(struct fake *f);

struct fid_cq *fake_cq(struct fake *f, enum fi_cq_format format, enum fi_wait_obj wait);
struct fid_cntr *fake_cntr(struct fake *f, enum fi_wait_obj wait);
struct fid_eq *fake_eq(struct fake *f, enum fi_wait_obj wait);
struct fid_av *fake_av(struct fake *f);

/* An endpoint that is bound to these (NULL: not) and enabled. */
struct fid_ep *fake_ep_up(struct fake *f, struct fid_cq *tx, struct fid_cq *rx,
			  struct fid_av *av);
struct fid_ep *fake_ep_open(struct fake *f);
struct fake_ep *fake_ep_of(struct fid_ep *ep);

void fake_deliver(struct fid_ep *ep, uint64_t cnt);
void fake_timer(struct fid_ep *ep, uint64_t deadline_ns);

/* CPU time of this process in ns, all threads; and is @ns little for what took @ms
 * of it or less?  Always true under valgrind, whose own time counts.
 */
uint64_t fake_cpu_ns(void);
bool fake_cpu_little(uint64_t ns, unsigned ms);
bool fake_slow(void);

/* The last warning that was logged, since fake_log_start(). */
void fake_log_start(void);
const char *fake_log_last(void);

#define CLOSE(obj) assert_int_equal(fi_close(&(obj)->fid), 0)

#endif
