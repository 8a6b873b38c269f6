/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Transfers that a device posts (fi_xpu(3)) over endpoints of the provider, on the real libmlx5 with a
 * kernel and a NIC that are fakes.  The device is threads of this process.  It posts to the proxy, or writes
 * the queues of the NIC by itself; the NIC executes what it finds there.  Skips without libmlx5.
 */
#include "mlx5_ends.h"

#include <pthread.h>
#include <rdma/fi_atomic.h>
#include <rdma/providers/fi_log.h>
#include <stdlib.h>

#include "base/clock.h"
#include "xpu/ctx.h"

#define ONE FI_XPU_WORK_ITEM
#define OK(call) assert_int_equal(call, 0)

static struct fid_xpu_ep from, to;
static struct fid_xpu_cq from_cq, to_cq;
static uint64_t desc, key, addr;

/* ---- two ends of devices ------------------------------------------------------------- */

static void export_all(void)
{
	size_t len = sizeof(desc);

	OK(fi_ep_export_xpu(a.ep, 0, &from));
	OK(fi_ep_export_xpu(b.ep, 0, &to));
	OK(fi_cq_export_xpu(a.cq, 0, &from_cq));
	OK(fi_cq_export_xpu(b.cq, 0, &to_cq));
	OK(fi_mr_get_xpu_desc(mr, &desc, &len, FI_XPU, ctx));
	key = fi_mr_key(mr);
	addr = (uintptr_t) b.buf;
}

static int set_up_device(void **state)
{
	info->caps |= FI_XPU | FI_ATOMIC;
	set_up(state);
	export_all();
	assert_int_equal(from.fid.prov_id, by_proxy ? FI_XPU_RING_PROV : FI_XPU_MLX5_PROV);
	assert_int_equal(from_cq.fid.prov_id, from.fid.prov_id);
	return 0;
}

static int tear_down_device(void **state)
{
	info->caps &= ~(FI_XPU | FI_ATOMIC);
	return tear_down(state);
}

static int set_up_proxy(void **state)
{
	by_proxy = true;
	return set_up_device(state);
}

static int tear_down_proxy(void **state)
{
	by_proxy = false;
	return tear_down_device(state);
}

static struct fi_cq_data_entry read_by(const struct fid_xpu_cq *cq)
{
	struct fi_cq_data_entry entry;
	struct fid_xpu_cq copy = *cq;

	assert_int_equal(fi_xpu_cq_sread(&copy, &entry, 1, 1, ONE), 1);
	return entry;
}

static int put(size_t len, void *context)
{
	return fi_xpu_write(&from, a.buf, len, &desc, 0, NULL, addr, key, context, 0, ONE);
}

/* ---- by the proxy --------------------------------------------------------------------- */

/* Once the proxy has posted what was posted to the ring, the NIC executes it. */
static void proxied(const struct fid_xpu_ep *ep, uint64_t records)
{
	const struct fi_xpu_ring_ep *ring = fi_xpu_ring_of(&ep->fid);

	while (fi_xpu_ring_load(ring->head) < records)
		fi_xpu_ring_relax();
	xpu_ctx_enter((struct xpu_ctx *) ctx);		/* not in the middle of a post */
	run_device();
	xpu_ctx_leave((struct xpu_ctx *) ctx);
}

static void by_device(void **state)
{
	uint64_t i;

	for (i = 0; i < 500; i++) {
		memset(a.buf, (int) i, SIZE);
		OK(fi_xpu_recv(&to, b.buf, SIZE, &desc, NULL, &b, 0, ONE));
		proxied(&to, i + 1);
		OK(fi_xpu_send(&from, a.buf, 1 + 60 * i, &desc, i, NULL, &a, FI_REMOTE_CQ_DATA, ONE));
		proxied(&from, 2 * i + 1);
		assert_ptr_equal(read_by(&from_cq).op_context, &a);
		assert_int_equal(read_by(&to_cq).data, i);
		assert_memory_equal(a.buf, b.buf, 1 + 60 * i);
		OK(fi_xpu_write(&from, a.buf, 8, &desc, 0, NULL, addr + 32000, key, &c, 0, ONE));
		proxied(&from, 2 * i + 2);
		assert_ptr_equal(read_by(&from_cq).op_context, &c);
		assert_memory_equal(b.buf + 32000, a.buf, 8);
	}
}

/* ---- by the device itself --------------------------------------------------------------- */

static struct fi_xpu_mlx5_ep *queues(const struct fid_xpu_ep *ep)
{
	return fi_xpu_ring_of(&ep->fid);
}

/* The register has the first word of the newest request. */
static void check_doorbell(void)
{
	const struct fi_xpu_mlx5_queue *q = &queues(&from)->sq;

	assert_memory_equal(q->reg, fi_xpu_mlx5_wqe(q, q->tail - 1), sizeof(uint64_t));
}

static void native_messages(void **state)
{
	static const size_t sizes[] = { 0, 1, 8, 31, 32, 33, 64, 256, 4096, SIZE };
	struct fi_cq_data_entry e;
	unsigned k;
	size_t len;

	for (k = 0; k < 3000; k++) {
		len = sizes[k % (sizeof(sizes) / sizeof(sizes[0]))];
		memset(a.buf, (int) k, SIZE);
		memset(b.buf, 0, SIZE);
		OK(fi_xpu_recv(&to, b.buf, SIZE, &desc, NULL, &b, 0, ONE));
		OK(fi_xpu_send(&from, a.buf, len, &desc, k, NULL, &a, k & 1 ? FI_REMOTE_CQ_DATA : 0, ONE));
		check_doorbell();
		run_device();
		e = read_by(&from_cq);
		assert_ptr_equal(e.op_context, &a);
		assert_int_equal(e.flags, FI_SEND | FI_MSG);
		e = read_by(&to_cq);
		assert_ptr_equal(e.op_context, &b);
		assert_int_equal(e.len, len);
		assert_int_equal(e.flags, FI_RECV | FI_MSG | (k & 1 ? FI_REMOTE_CQ_DATA : 0));
		assert_int_equal(e.data, k & 1 ? k : 0);
		assert_memory_equal(a.buf, b.buf, len);
		assert_true(len == SIZE || !b.buf[len]);
	}
	assert_int_equal(fi_xpu_cq_read(&from_cq, &e, 1, ONE), -FI_EAGAIN);
	assert_int_equal(fi_send(a.ep, a.buf, 1, NULL, 0, NULL), -FI_ENOSYS);	/* the host does not */
}

static void native_rma(void **state)
{
	static const size_t sizes[] = { 0, 1, 8, 32, 33, 4096, SIZE };
	struct fi_cq_data_entry e;
	size_t i, len;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		len = sizes[i];
		memset(a.buf, (int) i + 1, SIZE);
		OK(put(len, &c));
		run_device();
		assert_ptr_equal(read_by(&from_cq).op_context, &c);
		assert_memory_equal(a.buf, b.buf, len);
		memset(a.buf, 0, SIZE);
		OK(fi_xpu_read(&from, a.buf, len, &desc, NULL, addr, key, &c, FI_FENCE, ONE));
		run_device();
		e = read_by(&from_cq);
		assert_int_equal(e.flags, FI_READ | FI_RMA);
		assert_memory_equal(a.buf, b.buf, len);
	}
	OK(fi_xpu_recv(&to, b.buf, 8, &desc, NULL, &b, 0, ONE));
	OK(fi_xpu_write(&from, a.buf, 5, &desc, 99, NULL, addr, key, &a, FI_REMOTE_CQ_DATA, ONE));
	run_device();
	e = read_by(&to_cq);
	assert_int_equal(e.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	assert_int_equal(e.data, 99);
	assert_int_equal(e.len, 5);
}

static void native_atomics(void **state)
{
	uint64_t *word = (uint64_t *) (void *) b.buf, *in = (uint64_t *) (void *) a.buf, *was = in + 8, expect = 12;

	*word = 1;
	*in = 7;
	OK(fi_xpu_atomic(&from, in, 1, &desc, NULL, addr, key, FI_UINT64, FI_ATOMIC_WRITE, &a, 0, ONE));
	*in = 5;
	OK(fi_xpu_atomic(&from, in, 1, &desc, NULL, addr, key, FI_UINT64, FI_SUM, &a, 0, ONE));
	OK(fi_xpu_fetch_atomic(&from, in, 1, &desc, was, &desc, NULL, addr, key, FI_UINT64, FI_ATOMIC_READ, &a, 0,
			       ONE));
	run_device();
	read_by(&from_cq);
	assert_int_equal(read_by(&from_cq).flags, FI_WRITE | FI_ATOMIC);
	assert_int_equal(read_by(&from_cq).flags, FI_READ | FI_ATOMIC);
	assert_int_equal(*was, 12);
	*in = 99;
	OK(fi_xpu_compare_atomic(&from, in, 1, &desc, &expect, NULL, was, &desc, NULL, addr, key, FI_INT64, FI_CSWAP,
				 &a, 0, ONE));
	run_device();
	read_by(&from_cq);
	assert_int_equal(*word, 99);
	assert_int_equal(fi_xpu_atomic(&from, in, 1, &desc, NULL, addr, key, FI_UINT32, FI_SUM, &a, 0, ONE),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_xpu_atomic(&from, in, 2, &desc, NULL, addr, key, FI_UINT64, FI_SUM, &a, 0, ONE),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_xpu_atomic(&from, in, 1, &desc, NULL, addr, key, FI_UINT64, FI_MIN, &a, 0, ONE),
			 -FI_EOPNOTSUPP);
}

/* What is wrong is refused by the call, and leaves no hole. */
static void native_refusals(void **state)
{
	uint64_t gone = desc, unknown = desc + 1, old = desc + (UINT64_C(1) << 32);
	size_t len = sizeof(desc);

	assert_int_equal(fi_xpu_write(&from, a.buf, 1, &unknown, 0, NULL, addr, key, NULL, 0, ONE), -FI_EINVAL);
	assert_int_equal(fi_xpu_write(&from, a.buf, 1, &old, 0, NULL, addr, key, NULL, 0, ONE), -FI_EINVAL);
	assert_int_equal(fi_xpu_write(&from, a.buf, 1, NULL, 0, NULL, addr, key, NULL, 0, ONE), -FI_EINVAL);
	assert_int_equal(fi_xpu_write(&from, a.buf, 1, &desc, 0, &desc, addr, key, NULL, 0, ONE), -FI_EINVAL);
	assert_int_equal(fi_xpu_write(&from, a.buf, 1, &desc, 0, NULL, addr, key, NULL, FI_INJECT, ONE),
			 -FI_EBADFLAGS);
	assert_int_equal(put((size_t) 1 << 31, NULL), -FI_EMSGSIZE);
	assert_int_equal(fi_xpu_tsend(&from, a.buf, 1, &desc, 0, NULL, 0, NULL, 0, ONE), -FI_ENOSYS);
	assert_int_equal(fi_xpu_recv(&to, b.buf, 1, &desc, NULL, NULL, FI_MULTI_RECV, ONE), -FI_EBADFLAGS);
	assert_int_equal(fi_xpu_write(&from, a.buf, 1, &desc, 0, NULL, addr, key, NULL, 0, FI_XPU_DEVICE),
			 -FI_EOPNOTSUPP);
	/* a region that is closed, also when its place is used again */
	OK(fi_close(&mr->fid));
	assert_int_equal(put(1, NULL), -FI_EINVAL);
	OK(fi_mr_reg(domain, &a, sizeof(a), FI_SEND | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL));
	OK(fi_mr_get_xpu_desc(mr, &desc, &len, FI_XPU, ctx));
	assert_int_equal((uint32_t) desc, (uint32_t) gone);
	assert_int_equal(fi_xpu_write(&from, a.buf, 1, &gone, 0, NULL, addr, key, NULL, 0, ONE), -FI_EINVAL);
	OK(put(1, &a));
	run_device();
	assert_ptr_equal(read_by(&from_cq).op_context, &a);
}

static void native_errors(void **state)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry e;

	OK(put(1, &a));
	OK(fi_xpu_write(&from, a.buf, 9, &desc, 0, NULL, addr, 0x77, &b, 0, ONE));
	run_device();
	assert_int_equal(fi_xpu_cq_sread(&from_cq, &e, 1, 1, ONE), 1);
	assert_int_equal(fi_xpu_cq_read(&from_cq, &e, 1, ONE), -FI_EAVAIL);
	assert_int_equal(fi_xpu_cq_sread(&from_cq, &e, 1, 1, ONE), -FI_EAVAIL);
	assert_int_equal(fi_xpu_cq_readerr(&from_cq, &err, 0, ONE), 1);
	assert_int_equal(err.err, FI_EACCES);
	assert_int_equal(err.prov_errno, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(err.flags, FI_WRITE | FI_RMA);
	assert_int_equal(err.len, 9);
	assert_ptr_equal(err.op_context, &b);
	assert_int_equal(fi_xpu_cq_readerr(&from_cq, &err, 0, ONE), -FI_EAGAIN);
}

/* Full, then as many as were read can be posted; and indices beyond 32 bits. */
static void native_full(void **state)
{
	struct fi_xpu_mlx5_queue *q = &queues(&from)->sq;
	uint64_t n = 0, i, start = (UINT64_C(1) << 32) - 8;

	q->tail = q->done = q->rung = start;
	a.model.eaten = (uint32_t) start;
	a.model.dbrec[1] = htobe32((uint32_t) start & 0xffff);
	while (!put(8, &n))
		n++;
	assert_int_equal(n, q->room);
	assert_int_equal(put(8, &n), -FI_EAGAIN);
	run_device();
	for (i = 0; i < 3; i++)
		read_by(&from_cq);
	for (i = 0; i < 3; i++)
		OK(put(8, &n));
	assert_int_equal(put(8, &n), -FI_EAGAIN);
	run_device();
	for (i = 0; i < n; i++)
		read_by(&from_cq);
	for (i = 0; i < 70000; i++) {
		OK(put(8, &n));
		run_device();
		read_by(&from_cq);
	}
	assert_int_equal(q->tail, start + n + 3 + 70000);
}

/* ---- threads ------------------------------------------------------------------------------ */

#define THREADS 8
#define EACH 2000

static atomic_uint went, seen;
static atomic_bool halt;

static void *post_many(void *arg)
{
	int i, ret;

	for (i = 0; i < EACH; i++) {
		while ((ret = put(16, arg)) == -FI_EAGAIN)
			fi_xpu_ring_relax();
		if (ret)
			return arg;
	}
	return NULL;
}

static void *read_many(void *arg)
{
	struct fi_cq_data_entry e[4];
	int64_t n;

	while (atomic_load(&seen) < THREADS * EACH) {
		n = fi_xpu_cq_read(&from_cq, e, 4, ONE);
		if (n > 0)
			atomic_fetch_add(&seen, (unsigned) n);
		else if (n != -FI_EAGAIN)
			return arg;
		else
			fi_xpu_ring_relax();
	}
	return NULL;
}

static void *run_nic(void *arg)
{
	struct model_wqe x;

	while (!atomic_load(&halt))
		if (model_step(&a.model, &b.model, &x))
			atomic_fetch_add(&went, 1);
		else
			fi_xpu_ring_relax();
	return NULL;
}

static void join_all(pthread_t *ids, unsigned cnt)
{
	void *failed;

	while (cnt--) {
		pthread_join(ids[cnt], &failed);
		assert_null(failed);
	}
}

static void native_threads(void **state)
{
	pthread_t ids[THREADS + 2], nic;
	unsigned i;

	atomic_store(&went, 0);
	atomic_store(&seen, 0);
	atomic_store(&halt, false);
	OK(pthread_create(&nic, NULL, run_nic, NULL));
	for (i = 0; i < THREADS + 2; i++)
		OK(pthread_create(&ids[i], NULL, i < THREADS ? post_many : read_many, &a));
	join_all(ids, THREADS + 2);
	atomic_store(&halt, true);
	join_all(&nic, 1);
	assert_null(model_fault);
	assert_int_equal(atomic_load(&went), THREADS * EACH);
	assert_int_equal(atomic_load(&seen), THREADS * EACH);
}

static void *post_until_closed(void *arg)
{
	int ret;

	while ((ret = put(16, arg)) != -FI_ECANCELED) {
		if (ret && ret != -FI_EAGAIN)
			return arg;
		fi_xpu_ring_relax();
	}
	return NULL;
}

/* An endpoint closes under posting threads, which learn of it, and its memory stays. */
static void native_close_under(void **state)
{
	pthread_t ids[THREADS], nic;
	struct fid_xpu_ep again;
	unsigned i;

	atomic_store(&halt, false);
	atomic_store(&went, 0);
	OK(pthread_create(&nic, NULL, run_nic, NULL));
	for (i = 0; i < THREADS; i++)
		OK(pthread_create(&ids[i], NULL, post_until_closed, &a));
	while (atomic_load(&went) < 50)
		fi_xpu_ring_relax();
	assert_int_equal(fi_close(&ctx->fid), -FI_EBUSY);
	close_ep(&a);
	join_all(ids, THREADS);
	atomic_store(&halt, true);
	join_all(&nic, 1);
	assert_int_equal(put(1, NULL), -FI_ECANCELED);
	open_ep(&a);		/* its queue is another endpoint's no more: the proxy serves this one */
	OK(fi_ep_export_xpu(a.ep, 0, &again));
	assert_int_equal(again.fid.prov_id, FI_XPU_RING_PROV);
}

static atomic_uint warned;

static int log_enabled(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		       uint64_t flags)
{
	return level <= FI_LOG_WARN;
}

static int log_ready(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		     uint64_t flags, uint64_t *showtime)
{
	return log_enabled(prov, level, subsys, flags);
}

static void log_line(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		     const char *func, int line, const char *msg)
{
	if (strstr(msg, "has begun record 0 of the ring"))
		atomic_fetch_add(&warned, 1);
}

static int log_close(struct fid *fid)
{
	return 0;
}

static struct fi_ops log_fid_ops = { .size = sizeof(log_fid_ops), .close = log_close };
static struct fi_ops_log log_ops = {
	.size = sizeof(log_ops), .enabled = log_enabled, .ready = log_ready, .log = log_line,
};
static struct fid_logging log_fid = {
	.fid = { .fclass = FI_CLASS_LOG, .ops = &log_fid_ops }, .ops = &log_ops,
};

/* What stands behind a call that is never completed waits, and ends when the endpoint closes. */
static void native_stopped(void **state)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry e;
	uint64_t at, end = clock_ns() + 60 * CLOCK_NS_PER_S;
	struct model_wqe x;

	OK(fi_xpu_mlx5_reserve(&queues(&from)->sq, &at));
	OK(put(1, &end));
	assert_false(model_step(&a.model, &b.model, &x));
	while (!atomic_load(&warned) && clock_ns() < end)
		fi_xpu_ring_relax();
	assert_int_equal(atomic_load(&warned), 1);
	close_ep(&a);
	assert_int_equal(fi_xpu_cq_sread(&from_cq, &e, 1, 1, ONE), -FI_EAVAIL);
	assert_int_equal(fi_xpu_cq_readerr(&from_cq, &err, 0, ONE), 1);
	assert_int_equal(err.err, FI_ECANCELED);
	assert_ptr_equal(err.op_context, &end);
	open_ep(&a);
}

/* ---- what the program maps ----------------------------------------------------------------- */

static unsigned maps, registers;
static bool refuse;

static int import(uint64_t device, void *host, uint64_t size, uint64_t flags, void **dev)
{
	assert_true(flags & FI_XPU_IMPORT_DEVICEMAP);
	assert_int_equal((uintptr_t) host % 4096, 0);
	assert_int_equal(size % 4096, 0);
	maps++;
	registers += !!(flags & FI_XPU_IMPORT_IOMEMORY);
	if (refuse && (flags & FI_XPU_IMPORT_IOMEMORY))
		return -FI_EOPNOTSUPP;
	*dev = host;
	return 0;
}

static struct fi_xpu_ops callbacks = { .size = sizeof(callbacks), .import = import };

static void native_mapped(void **state)
{
	xpu_callbacks = &callbacks;
	maps = registers = 0;
	refuse = false;
	set_up_device(state);
	assert_true(registers >= 1 && maps > registers);
	OK(put(8, &a));
	run_device();
	read_by(&from_cq);
	tear_down_device(state);
	/* registers cannot be mapped: the proxy posts */
	refuse = true;
	info->caps |= FI_XPU | FI_ATOMIC;
	set_up(state);
	export_all();
	assert_int_equal(from.fid.prov_id, FI_XPU_RING_PROV);
	assert_int_equal(from_cq.fid.prov_id, FI_XPU_RING_PROV);
	OK(put(8, &a));
	proxied(&from, 1);
	assert_ptr_equal(read_by(&from_cq).op_context, &a);
	tear_down_device(state);
	xpu_callbacks = NULL;
}

#define NATIVE(test) cmocka_unit_test_setup_teardown(test, set_up_device, tear_down_device)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_device, set_up_proxy, tear_down_proxy),
		NATIVE(native_messages),
		NATIVE(native_rma),
		NATIVE(native_atomics),
		NATIVE(native_refusals),
		NATIVE(native_errors),
		NATIVE(native_full),
		NATIVE(native_threads),
		NATIVE(native_close_under),
		NATIVE(native_stopped),
		cmocka_unit_test(native_mapped),
	};
	int ret;

	setenv("FI_VERBS_DOORBELL", "direct", 1);
	ret = start(FI_THREAD_DOMAIN);
	if (!ret)
		ret = fi_import_log(fi_version(), 0, &log_fid);
	if (!ret)
		ret = cmocka_run_group_tests(tests, NULL, NULL);
	kernel_halt();
	return ret;
}
