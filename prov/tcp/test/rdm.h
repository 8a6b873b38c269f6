/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rdm.h - RDM endpoints in the compatible format, as tests with the public API open them: one or two of
 * this library, in a process that has FI_TCP_WIRE.
 *
 * For the programs stream_rdm*_test.c.  Includes cmocka.
 */
#ifndef TCP_TEST_RDM_H
#define TCP_TEST_RDM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test/verify.h"

#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/test/calls.h"

#define BIG (5 << 19)		/* two pieces and a half of a long message */
#define WAIT_MS 10000
#define CNT(array) (sizeof(array) / sizeof((array)[0]))

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;

struct side {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_mr *mr;
	struct sockaddr_in name;
	fi_addr_t peer;
	uint8_t buf[2 * BIG];
};

static struct side one, two;

/* ---- endpoints ---------------------------------------------------------------------- */

static inline void setup_all(void)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SOURCE | FI_DIRECTED_RECV;
	hints->ep_attr->type = FI_EP_RDM;
	/* by calls of this thread alone: that remote accesses are over is not seen by a race detector */
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = strdup("tcp");
	CALL(fi_getinfo(FI_VERSION(1, 20), "127.0.0.1", "0", FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	assert_int_equal(info->ep_attr->protocol, FI_PROTO_XNET);
	assert_int_equal(info->ep_attr->protocol_version, 1);
	CALL(fi_fabric(info->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info, &domain, NULL));
}

static inline void close_all(void)
{
	CALL(fi_close(&domain->fid));
	CALL(fi_close(&fabric->fid));
	fi_freeinfo(info);
}

static inline void open_side(struct side *s)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .size = 1024 };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	size_t len = sizeof(s->name);

	CALL(fi_cq_open(domain, &attr, &s->cq, NULL));
	CALL(fi_av_open(domain, &av, &s->av, NULL));
	CALL(fi_endpoint(domain, info, &s->ep, NULL));
	CALL(fi_ep_bind(s->ep, &s->cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(s->ep, &s->av->fid, 0));
	CALL(fi_enable(s->ep));
	CALL(fi_getname(&s->ep->fid, &s->name, &len));
	CALL(fi_mr_reg(domain, s->buf, sizeof(s->buf), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
		       s == &one ? 1 : 2, 0, &s->mr, NULL));
}

static inline void close_side(struct side *s)
{
	CALL(fi_close(&s->ep->fid));
	CALL(fi_close(&s->mr->fid));
	CALL(fi_close(&s->av->fid));
	CALL(fi_close(&s->cq->fid));
	memset(s, 0, sizeof(*s));
}

static inline void knows(struct side *s, const struct sockaddr_in *addr)
{
	CALL(!(fi_av_insert(s->av, addr, 1, &s->peer, 0, NULL) == 1));
}

static inline void open_pair(void)
{
	open_side(&one);
	open_side(&two);
	knows(&one, &two.name);
	knows(&two, &one.name);
}

static inline void close_pair(void)
{
	close_side(&one);
	close_side(&two);
}

static inline void poll_both(void)
{
	if (one.cq)
		fi_cq_read(one.cq, NULL, 0);
	if (two.cq)
		fi_cq_read(two.cq, NULL, 0);
}

/* The next completion, and who sent what it is for. */
static inline struct fi_cq_tagged_entry done_from(struct side *s, fi_addr_t *from)
{
	uint64_t until = now_ms() + WAIT_MS;
	struct fi_cq_tagged_entry entry;
	struct side *other = s == &one ? &two : &one;
	ssize_t ret;

	do {
		ret = fi_cq_readfrom(s->cq, &entry, 1, from);
		if (ret == -FI_EAGAIN && other->cq)
			fi_cq_read(other->cq, NULL, 0);
	} while (ret == -FI_EAGAIN && now_ms() < until);
	CHECK(ret == 1);
	return entry;
}

static inline struct fi_cq_tagged_entry done(struct side *s)
{
	fi_addr_t from;

	return done_from(s, &from);
}

static inline struct fi_cq_err_entry failed(struct side *s)
{
	uint64_t until = now_ms() + WAIT_MS;
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	while ((ret = fi_cq_read(s->cq, &entry, 1)) == -FI_EAGAIN && now_ms() < until)
		poll_both();
	CHECK(ret == -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(s->cq, &err, 0), 1);
	return err;
}

/* What returns -FI_EAGAIN is called again. */
#define POST(call) do { \
	ssize_t ret_; \
	while ((ret_ = (call)) == -FI_EAGAIN) \
		poll_both(); \
	assert_int_equal(ret_, 0); \
} while (0)

static inline void fill(uint8_t *buf, size_t len, uint8_t seed)
{
	while (len--)
		*buf++ = seed = (uint8_t) (seed * 5 + 17);
}

/* ---- test programs ------------------------------------------------------------------ */

/* run - the tests in a child process that has FI_TCP_WIRE=@wire.  Returns 0 if all pass. */
static inline int run(const char *wire, const struct CMUnitTest *tests, size_t cnt)
{
	pid_t pid = fork();
	int status;

	if (pid) {
		CHECK(waitpid(pid, &status, 0) == pid);
		return !WIFEXITED(status) || WEXITSTATUS(status);
	}
	setenv("FI_TCP_WIRE", wire, 1);
	setenv("FI_TCP_LOCAL", "0", 1);
	setenv("FI_CONN_RETRY", "50", 1);
	setup_all();
	status = _cmocka_run_group_tests(wire, tests, cnt, NULL, NULL);
	if (!status)
		close_all();
	exit(status != 0);
}

#endif
