/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* XPU contexts over every software provider; the device is threads of this process. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_xpu_device.h>
#include <rdma/providers/fi_log.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MUST(call) assert_int_equal((call), 0)
#define ONE FI_XPU_WORK_ITEM
#define SIZE 100000
#define KEY 42

static const char *prov_name;

/* One endpoint that talks to itself, and all that a device needs. */
struct set {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_xpu_ctx *ctx;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_cntr *cntr;		/* of writes; NULL without RMA */
	struct fid_ep *ep;
	struct fid_mr *mr;		/* of @mem */
	fi_addr_t self;
	/* what the device has */
	struct fid_xpu_ep xep;
	struct fid_xpu_cq xcq;
	struct fid_xpu_cntr xcntr;
	uint64_t peer, desc;
	char mem[SIZE], buf[SIZE];
};

static struct fi_info *get_info(uint64_t caps)
{
	bool host = !strcmp(prov_name, "shm") || !strcmp(prov_name, "loop");
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = caps;
	hints->fabric_attr->prov_name = strdup(prov_name);
	hints->ep_attr->type = strcmp(prov_name, "udp") ? FI_EP_RDM : FI_EP_DGRAM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	fi_getinfo(FI_VERSION(2, 7), host ? NULL : "127.0.0.1", NULL, host ? 0 : FI_SOURCE, hints,
		   &info);
	fi_freeinfo(hints);
	return info;
}

static void open_queues(struct set *s)
{
	struct fi_cq_attr cq = { .size = 64, .format = FI_CQ_FORMAT_TAGGED, .flags = FI_XPU,
				 .xpu_ctx = s->ctx };
	struct fi_cntr_attr cntr = { .flags = FI_XPU, .xpu_ctx = s->ctx };
	struct fi_av_attr av = { .type = FI_AV_TABLE };

	MUST(fi_cq_open(s->domain, &cq, &s->cq, NULL));
	MUST(fi_cntr_open(s->domain, &cntr, &s->cntr, NULL));
	MUST(fi_av_open(s->domain, &av, &s->av, NULL));
	MUST(fi_cq_export_xpu(s->cq, 0, &s->xcq));
	MUST(fi_cntr_export_xpu(s->cntr, 0, &s->xcntr));
}

static void open_ep(struct set *s)
{
	char name[FI_NAME_MAX];
	size_t len = sizeof(name);
	bool rma = s->info->caps & FI_RMA;

	s->info->ep_attr->xpu_ctx = s->ctx;
	MUST(fi_endpoint2(s->domain, s->info, &s->ep, FI_XPU, NULL));
	MUST(fi_ep_bind(s->ep, &s->av->fid, 0));
	MUST(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_ep_bind(s->ep, &s->cntr->fid, rma ? FI_WRITE : FI_SEND));
	assert_int_equal(fi_ep_export_xpu(s->ep, 0, &s->xep), -FI_EINVAL);
	MUST(fi_enable(s->ep));
	MUST(fi_ep_export_xpu(s->ep, 0, &s->xep));
	MUST(fi_getname(&s->ep->fid, name, &len));
	assert_int_equal(fi_av_insert(s->av, name, 1, &s->self, 0, NULL), 1);
	len = sizeof(s->peer);
	MUST(fi_av_lookup2(s->av, s->self, &s->peer, &len, FI_XPU, s->ctx));
}

static struct set *set_open(uint64_t caps)
{
	struct fi_xpu_attr attr = { .iface = FI_HMEM_SYSTEM };
	struct fi_info *info = get_info(caps | FI_XPU);
	size_t len = sizeof(uint64_t);
	struct set *s;

	if (!info)
		skip();
	s = calloc(1, sizeof(*s));
	assert_non_null(s);
	s->info = info;
	assert_true(s->info->caps & FI_XPU);
	assert_true(s->info->domain_attr->max_xpu_ctx_cnt > 0);
	MUST(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	MUST(fi_domain(s->fabric, s->info, &s->domain, NULL));
	MUST(fi_xpu_ctx(s->domain, &attr, &s->ctx, NULL));
	open_queues(s);
	MUST(fi_mr_reg(s->domain, s->mem, SIZE, caps & FI_RMA ?
		       FI_REMOTE_WRITE | FI_REMOTE_READ | FI_WRITE | FI_READ : FI_SEND | FI_RECV, 0,
		       KEY, 0, &s->mr, NULL));
	MUST(fi_mr_get_xpu_desc(s->mr, &s->desc, &len, FI_XPU, s->ctx));
	open_ep(s);
	return s;
}

static void set_close(struct set *s)
{
	if (s->ep)
		MUST(fi_close(&s->ep->fid));
	if (s->mr)
		MUST(fi_close(&s->mr->fid));
	MUST(fi_close(&s->cq->fid));
	MUST(fi_close(&s->cntr->fid));
	MUST(fi_close(&s->av->fid));
	MUST(fi_close(&s->ctx->fid));
	MUST(fi_close(&s->domain->fid));
	MUST(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
	free(s);
}

/* Where byte @off of the region lies for a peer. */
static uint64_t at(struct set *s, size_t off)
{
	return (s->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) s->mem : 0) + off;
}

static void fill(char *buf, size_t len, int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (char) (i * 7 + (size_t) seed);
}

/* The next completion is a success. */
static struct fi_cq_tagged_entry good(struct set *s)
{
	struct fi_cq_tagged_entry entry = { 0 };

	assert_int_equal(fi_xpu_cq_sread(&s->xcq, &entry, 1, 1, ONE), 1);
	return entry;
}

/* The next completion is an error. */
static struct fi_cq_err_entry bad(struct set *s)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };

	assert_int_equal(fi_xpu_cq_sread(&s->xcq, &entry, 1, 1, ONE), -FI_EAVAIL);
	assert_int_equal(fi_xpu_cq_readerr(&s->xcq, &err, 0, ONE), 1);
	return err;
}

static int put(struct set *s, size_t len, void *context)
{
	return fi_xpu_write(&s->xep, s->buf, len, &s->desc, 0, &s->peer, at(s, 0),
			    fi_mr_key(s->mr), context, 0, ONE);
}

/* ---- transfers ------------------------------------------------------------------ */

static void write_and_count(void **state)
{
	struct set *s = set_open(FI_RMA);
	size_t len;
	uint64_t n = 0;

	(void) state;
	for (len = 1; len <= SIZE; len = len * 10) {
		fill(s->buf, len, (int) len);
		MUST(put(s, len, &len));
		fi_xpu_cntr_wait(&s->xcntr, ++n, -1, ONE);
		assert_int_equal(fi_xpu_cntr_read(&s->xcntr, ONE), n);
		assert_ptr_equal(good(s).op_context, &len);
		/* delivered where the library says complete, unless flags say otherwise */
		MUST(fi_xpu_read(&s->xep, s->buf, len, NULL, &s->peer, at(s, 0), fi_mr_key(s->mr),
				 NULL, 0, ONE));
		good(s);
		assert_memory_equal(s->buf, s->mem, len);
	}
	fi_xpu_cntr_add(&s->xcntr, 100, ONE);
	assert_int_equal(fi_xpu_cntr_read(&s->xcntr, ONE), n + 100);
	fi_xpu_cntr_set(&s->xcntr, 5, ONE);
	fi_xpu_cntr_adderr(&s->xcntr, 2, ONE);
	assert_int_equal(fi_xpu_cntr_read(&s->xcntr, ONE), 5);
	assert_int_equal(fi_xpu_cntr_readerr(&s->xcntr, ONE), 2);
	set_close(s);
}

static void messages(void **state)
{
	struct set *s = set_open(FI_MSG);
	size_t len, max = strcmp(prov_name, "udp") ? SIZE : 1000;
	struct fi_cq_tagged_entry a, b;

	(void) state;
	for (len = 1; len <= max; len *= 10) {
		fill(s->buf, len, (int) len);
		MUST(fi_xpu_recv(&s->xep, s->mem, SIZE, &s->desc, NULL, s->mem, 0, ONE));
		MUST(fi_xpu_send(&s->xep, s->buf, len, NULL, 0, &s->peer, s->buf, 0, ONE));
		a = good(s);
		b = good(s);
		if (a.op_context == s->mem)
			assert_int_equal(a.len, len);
		else
			assert_int_equal(b.len, len);
		assert_memory_equal(s->buf, s->mem, len);
	}
	set_close(s);
}

static void tagged(void **state)
{
	struct set *s = set_open(FI_TAGGED | FI_SOURCE);
	struct fi_cq_tagged_entry entry;
	uint64_t src = 0;
	int i, received = 0;

	(void) state;
	fill(s->buf, 100, 3);
	MUST(fi_xpu_trecv(&s->xep, s->mem, 100, NULL, NULL, 0x10, 0xf, s->mem, 0, ONE));
	MUST(fi_xpu_trecv(&s->xep, s->mem + 100, 100, NULL, &s->peer, 0x20, 0, s->mem + 100, 0, ONE));
	MUST(fi_xpu_tsend(&s->xep, s->buf, 50, NULL, 77, &s->peer, 0x20, s->buf,
			  FI_REMOTE_CQ_DATA, ONE));
	MUST(fi_xpu_tsend(&s->xep, s->buf, 60, NULL, 0, &s->peer, 0x13, s->buf, 0, ONE));
	for (i = 0; i < 4; i++) {
		assert_int_equal(fi_xpu_cq_sreadfrom(&s->xcq, &entry, 1, &src, 1, ONE), 1);
		if (entry.op_context == s->buf)
			continue;
		received++;
		assert_int_equal(src, s->peer);
		assert_int_equal(entry.len, entry.op_context == s->mem ? 60 : 50);
		assert_int_equal(entry.tag, entry.op_context == s->mem ? 0x13 : 0x20);
		if (entry.op_context != s->mem)
			assert_int_equal(entry.data, 77);
	}
	assert_int_equal(received, 2);
	assert_memory_equal(s->mem, s->buf, 60);
	assert_memory_equal(s->mem + 100, s->buf, 50);
	set_close(s);
}

static void atomics(void **state)
{
	struct set *s = set_open(FI_RMA | FI_ATOMIC);
	uint64_t *word = (uint64_t *) (void *) s->mem, one = 5, was = 0, expect = 12, next = 99;

	(void) state;
	*word = 7;
	MUST(fi_xpu_atomic(&s->xep, &one, 1, NULL, &s->peer, at(s, 0), fi_mr_key(s->mr), FI_UINT64,
			   FI_SUM, NULL, FI_DELIVERY_COMPLETE, ONE));
	good(s);
	MUST(fi_xpu_fetch_atomic(&s->xep, &one, 1, NULL, &was, NULL, &s->peer, at(s, 0),
				 fi_mr_key(s->mr), FI_UINT64, FI_ATOMIC_READ, NULL, 0, ONE));
	good(s);
	assert_int_equal(was, 12);
	MUST(fi_xpu_compare_atomic(&s->xep, &next, 1, NULL, &expect, NULL, &was, NULL, &s->peer,
				   at(s, 0), fi_mr_key(s->mr), FI_UINT64, FI_CSWAP, NULL, 0, ONE));
	good(s);
	assert_int_equal(was, 12);
	assert_int_equal(*word, 99);
	set_close(s);
}

/* ---- what is wrong is an error completion ---------------------------------------- */

static void expect_err(struct set *s, int ret, int err)
{
	MUST(ret);
	assert_int_equal(bad(s).err, err);
}

static void wrong_records(void **state)
{
	struct set *s = set_open(FI_RMA | FI_ATOMIC | FI_MSG);
	uint64_t unknown = s->peer + 1, old = s->peer + (UINT64_C(1) << 32), none = 0;
	uint64_t one = 1, key = fi_mr_key(s->mr);

	(void) state;
	expect_err(s, fi_xpu_write(&s->xep, s->buf, 1, NULL, 0, &unknown, at(s, 0), key, NULL, 0, ONE),
		   FI_EINVAL);
	expect_err(s, fi_xpu_write(&s->xep, s->buf, 1, NULL, 0, &old, at(s, 0), key, NULL, 0, ONE),
		   FI_EINVAL);
	expect_err(s, fi_xpu_send(&s->xep, s->buf, 1, NULL, 0, &none, NULL, 0, ONE), FI_EINVAL);
	expect_err(s, fi_xpu_send(&s->xep, s->buf, 1, &unknown, 0, &s->peer, NULL, 0, ONE), FI_EINVAL);
	expect_err(s, fi_xpu_write(&s->xep, s->buf, 1, NULL, 0, &s->peer, at(s, 0), key, NULL,
				   FI_INJECT, ONE), FI_EBADFLAGS);
	expect_err(s, fi_xpu_atomic(&s->xep, &one, 1, NULL, &s->peer, at(s, 0), key, 9999, FI_SUM,
				    NULL, 0, ONE), FI_EINVAL);
	assert_true(fi_xpu_cntr_readerr(&s->xcntr, ONE) >= 1);
	MUST(put(s, 10, NULL));
	good(s);
	set_close(s);
}

/* The name of a peer or a region that is gone is refused, also when its place is used again. */
static void names_end(void **state)
{
	struct set *s = set_open(FI_RMA);
	uint64_t key, peer = s->peer, desc = s->desc;
	char name[FI_NAME_MAX];
	size_t len = sizeof(name);

	(void) state;
	MUST(fi_close(&s->mr->fid));
	MUST(fi_mr_reg(s->domain, s->mem, SIZE, FI_REMOTE_WRITE | FI_WRITE, 0, KEY, 0, &s->mr, NULL));
	key = fi_mr_key(s->mr);
	expect_err(s, fi_xpu_write(&s->xep, s->buf, 1, &desc, 0, &peer, at(s, 0), key, NULL, 0, ONE),
		   FI_EINVAL);
	len = sizeof(s->desc);
	MUST(fi_mr_get_xpu_desc(s->mr, &s->desc, &len, FI_XPU, s->ctx));
	assert_int_not_equal(s->desc, desc);
	MUST(fi_av_remove(s->av, &s->self, 1, 0));
	expect_err(s, put(s, 1, NULL), FI_EINVAL);
	len = sizeof(name);
	MUST(fi_getname(&s->ep->fid, name, &len));
	assert_int_equal(fi_av_insert(s->av, name, 1, &s->self, 0, NULL), 1);
	len = sizeof(s->peer);
	MUST(fi_av_lookup2(s->av, s->self, &s->peer, &len, FI_XPU, s->ctx));
	expect_err(s, fi_xpu_write(&s->xep, s->buf, 1, NULL, 0, &peer, at(s, 0), key, NULL, 0, ONE),
		   FI_EINVAL);
	MUST(put(s, 1, NULL));
	good(s);
	set_close(s);
}

/* ---- calls of the host ------------------------------------------------------------- */

/* A queue of another context is not bound. */
static void other_context(struct set *s)
{
	struct fi_xpu_attr attr = { .iface = FI_HMEM_SYSTEM };
	struct fi_cq_attr cq_attr = { .flags = FI_XPU };
	struct fid_xpu_ctx *ctx;
	struct fid_cq *cq;
	struct fid_ep *ep;

	MUST(fi_xpu_ctx(s->domain, &attr, &ctx, NULL));
	cq_attr.xpu_ctx = ctx;
	MUST(fi_cq_open(s->domain, &cq_attr, &cq, NULL));
	s->info->ep_attr->xpu_ctx = s->ctx;
	MUST(fi_endpoint2(s->domain, s->info, &ep, FI_XPU, NULL));
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), -FI_EINVAL);
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&cq->fid));
	MUST(fi_close(&ctx->fid));
}

static void host_calls(void **state)
{
	struct fi_xpu_attr cuda = { .iface = FI_HMEM_CUDA }, attr = { .device = 1 };
	struct set *s = set_open(FI_RMA);
	struct fi_xpu_ctx_attr query;
	struct fid_xpu_ctx *ctx;
	struct fid_ep *ep;
	uint64_t raw;
	size_t len = 4;

	(void) state;
	MUST(fi_xpu_ctx_query(s->ctx, &query));
	assert_int_equal(query.caps, FI_XPU_CAP_EP | FI_XPU_CAP_CQ | FI_XPU_CAP_CNTR);
	assert_int_equal(query.av_addr_size, sizeof(raw));
	assert_int_equal(fi_xpu_ctx(s->domain, &cuda, &ctx, NULL), -FI_ENOSYS);
	assert_int_equal(fi_xpu_ctx(s->domain, &attr, &ctx, NULL), -FI_EINVAL);
	assert_int_equal(fi_close(&s->ctx->fid), -FI_EBUSY);
	assert_int_equal(fi_av_lookup2(s->av, s->self, &raw, &len, FI_XPU, s->ctx), -FI_ETOOSMALL);
	assert_int_equal(len, sizeof(raw));
	assert_int_equal(fi_av_lookup2(s->av, s->self, &raw, &len, FI_XPU, NULL), -FI_EINVAL);
	assert_int_equal(fi_av_lookup2(s->av, 99, &raw, &len, FI_XPU, s->ctx), -FI_EINVAL);
	len = 0;
	assert_int_equal(fi_mr_get_xpu_desc(s->mr, NULL, &len, FI_XPU, s->ctx), -FI_ETOOSMALL);
	assert_int_equal(fi_cq_read(s->cq, &raw, 1), -FI_ENOSYS);
	s->info->ep_attr->xpu_ctx = NULL;
	assert_int_equal(fi_endpoint2(s->domain, s->info, &ep, FI_XPU, NULL), -FI_EINVAL);
	assert_int_equal(fi_ep_export_xpu(s->ep, 1, &s->xep), -FI_EINVAL);
	other_context(s);
	set_close(s);
}

/* ---- many threads, close --------------------------------------------------------------- */

#define THREADS 8
#define EACH 300

static void *put_many(void *arg)
{
	struct set *s = arg;
	int i, ret;

	for (i = 0; i < EACH; i++) {
		while ((ret = put(s, 16, NULL)) == -FI_EAGAIN)
			fi_xpu_ring_relax();
		if (ret)
			return s;
	}
	return NULL;
}

static void threads_post(void **state)
{
	struct set *s = set_open(FI_RMA);
	struct fi_cq_tagged_entry entries[8];
	pthread_t threads[THREADS];
	int64_t left = THREADS * EACH, n;
	void *failed;
	int i;

	(void) state;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, put_many, s), 0);
	while (left) {
		n = fi_xpu_cq_sread(&s->xcq, entries, 8, 1, ONE);
		assert_true(n > 0);
		left -= n;
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	fi_xpu_cntr_wait(&s->xcntr, THREADS * EACH, -1, ONE);
	assert_int_equal(fi_xpu_cntr_read(&s->xcntr, ONE), THREADS * EACH);
	set_close(s);
}

static void *put_until_closed(void *arg)
{
	struct set *s = arg;
	int ret;

	for (;;) {
		ret = fi_xpu_write(&s->xep, s->buf, 16, NULL, 0, &s->peer, at(s, 0), KEY, NULL, 0, ONE);
		if (ret == -FI_ECANCELED)
			return NULL;
		if (ret && ret != -FI_EAGAIN)
			return s;
		fi_xpu_ring_relax();
	}
}

/* A context in use does not close; an endpoint that closes under posting threads tells them. */
static void close_under(void **state)
{
	struct set *s = set_open(FI_RMA);
	pthread_t threads[THREADS];
	void *failed;
	int i;

	(void) state;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, put_until_closed, s), 0);
	fi_xpu_cntr_wait(&s->xcntr, 100, 1000, ONE);
	assert_int_equal(fi_close(&s->ctx->fid), -FI_EBUSY);
	MUST(fi_close(&s->ep->fid));
	s->ep = NULL;
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_int_equal(put(s, 1, NULL), -FI_ECANCELED);
	set_close(s);
}

/* ---- a device that stops in the middle of a record ---------------------------------------- */

static atomic_int warned;

static int log_enabled(const struct fi_provider *prov, enum fi_log_level level,
		       enum fi_log_subsys subsys, uint64_t flags)
{
	(void) prov;
	(void) subsys;
	(void) flags;
	return level <= FI_LOG_WARN;
}

static void log_line(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys, const char *func, int line, const char *msg)
{
	(void) prov;
	(void) level;
	(void) subsys;
	(void) func;
	(void) line;
	if (strstr(msg, "has begun record 0 of the ring"))
		atomic_fetch_add(&warned, 1);
}

static int log_ready(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys, uint64_t flags, uint64_t *showtime)
{
	(void) showtime;
	return log_enabled(prov, level, subsys, flags);
}

static int log_close(struct fid *fid)
{
	(void) fid;
	return 0;
}

static struct fi_ops log_fid_ops = { .size = sizeof(log_fid_ops), .close = log_close };
static struct fi_ops_log log_ops = {
	.size = sizeof(log_ops), .enabled = log_enabled, .ready = log_ready, .log = log_line,
};
static struct fid_logging log_fid = { .fid.ops = &log_fid_ops, .ops = &log_ops };

/* beside - a second endpoint and its ring; the queue is that of the first. */
static struct fid_ep *beside(struct set *s, struct fid_xpu_ep *xep)
{
	struct fid_ep *ep;

	MUST(fi_endpoint2(s->domain, s->info, &ep, FI_XPU, NULL));
	MUST(fi_ep_bind(ep, &s->av->fid, 0));
	MUST(fi_ep_bind(ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(ep));
	MUST(fi_ep_export_xpu(ep, 0, xep));
	return ep;
}

/* What stands behind the record waits, and the ring takes as many as it has places; other rings go on. */
static void stopped_device(void **state)
{
	struct set *s = set_open(FI_RMA);
	struct fi_cq_err_entry err;
	struct fid_xpu_ep other;
	struct fid_ep *ep = beside(s, &other);
	uint64_t at_index, end, cnt, i;

	(void) state;
	atomic_store(&warned, 0);
	MUST(fi_xpu_ring_reserve(fi_xpu_ring_of(&s->xep.fid), &at_index));
	for (cnt = 0; !(i = (uint64_t) put(s, 1, &s->buf[cnt])); cnt++)
		;
	assert_int_equal((int) i, -FI_EAGAIN);
	assert_int_equal(cnt, ((const struct fi_xpu_ring_ep *) fi_xpu_ring_of(&s->xep.fid))->mask);
	end = clock_ns() + 60 * CLOCK_NS_PER_S;
	while (!atomic_load(&warned) && clock_ns() < end)
		fi_xpu_ring_relax();
	assert_int_equal(atomic_load(&warned), 1);
	assert_int_equal(fi_xpu_cntr_read(&s->xcntr, ONE), 0);
	MUST(fi_xpu_write(&other, s->buf, 1, &s->desc, 0, &s->peer, at(s, 0), fi_mr_key(s->mr), &other, 0, ONE));
	assert_ptr_equal(good(s).op_context, &other);
	MUST(fi_close(&s->ep->fid));
	s->ep = NULL;
	for (i = 0; i < cnt; i++) {
		err = bad(s);
		assert_int_equal(err.err, FI_ECANCELED);
		assert_ptr_equal(err.op_context, &s->buf[i]);
	}
	MUST(fi_close(&ep->fid));
	set_close(s);
}

int main(void)
{
	static const char *const provs[] = {
		"tcp", "shm", "loop", "udp;ofi_rxd", "tcp;ofi_rxm", "sockets", "udp",
	};
	const struct CMUnitTest all[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(write_and_count),
		cmocka_unit_test(tagged),
		cmocka_unit_test(atomics),
		cmocka_unit_test(wrong_records),
		cmocka_unit_test(names_end),
		cmocka_unit_test(host_calls),
		cmocka_unit_test(threads_post),
		cmocka_unit_test(close_under),
		cmocka_unit_test(stopped_device),
	};
	int failed = 0;
	size_t i, cnt;

	log_fid.fid.fclass = FI_CLASS_LOG;
	if (fi_import_log(fi_version(), 0, &log_fid))
		return 1;
	for (i = 0; i < sizeof(provs) / sizeof(provs[0]); i++) {
		prov_name = provs[i];
		print_message("# %s\n", prov_name);
		/* udp has messages only: the first test */
		cnt = strcmp(prov_name, "udp") ? sizeof(all) / sizeof(all[0]) : 1;
		failed += _cmocka_run_group_tests(prov_name, all, cnt, NULL, NULL);
	}
	return failed;
}
