/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Transfers that a device posts (fi_xpu(3)) over endpoints of the provider, on the real libmlx5 with a
 * kernel and a NIC that are fakes.  The device is this thread.  Skips without libmlx5.
 */
#include "mlx5_ends.h"

#include <stdlib.h>

#include "xpu/ctx.h"

/* ---- a device posts -------------------------------------------------------------- */

static int set_up_device(void **state)
{
	info->caps |= FI_XPU;
	return set_up(state);
}

static int tear_down_device(void **state)
{
	info->caps &= ~FI_XPU;
	return tear_down(state);
}

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

static struct fi_cq_data_entry read_by(struct end *e)
{
	struct fi_cq_data_entry entry;
	struct fid_xpu_cq cq;

	assert_int_equal(fi_cq_export_xpu(e->cq, 0, &cq), 0);
	assert_int_equal(fi_xpu_cq_sread(&cq, &entry, 1, 1, FI_XPU_WORK_ITEM), 1);
	return entry;
}

static void by_device(void **state)
{
	uint64_t desc, addr = (uintptr_t) b.buf, key = fi_mr_key(mr), i;
	struct fid_xpu_ep from, to;
	size_t len = sizeof(desc);

	assert_int_equal(fi_mr_get_xpu_desc(mr, &desc, &len, FI_XPU, ctx), 0);
	assert_int_equal(fi_ep_export_xpu(a.ep, 0, &from), 0);
	assert_int_equal(fi_ep_export_xpu(b.ep, 0, &to), 0);
	for (i = 0; i < 500; i++) {
		memset(a.buf, (int) i, SIZE);
		assert_int_equal(fi_xpu_recv(&to, b.buf, SIZE, &desc, NULL, &b, 0, FI_XPU_WORK_ITEM), 0);
		proxied(&to, i + 1);
		assert_int_equal(fi_xpu_send(&from, a.buf, 1 + 60 * i, &desc, i, NULL, &a, FI_REMOTE_CQ_DATA,
					     FI_XPU_WORK_ITEM), 0);
		proxied(&from, 2 * i + 1);
		assert_ptr_equal(read_by(&a).op_context, &a);
		assert_int_equal(read_by(&b).data, i);
		assert_memory_equal(a.buf, b.buf, 1 + 60 * i);
		assert_int_equal(fi_xpu_write(&from, a.buf, 8, &desc, 0, NULL, addr + 32000, key, &c, 0,
					      FI_XPU_WORK_ITEM), 0);
		proxied(&from, 2 * i + 2);
		assert_ptr_equal(read_by(&a).op_context, &c);
		assert_memory_equal(b.buf + 32000, a.buf, 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_device, set_up_device, tear_down_device),
	};
	int ret;

	setenv("FI_VERBS_DOORBELL", "direct", 1);
	ret = start(FI_THREAD_DOMAIN);
	if (!ret)
		ret = cmocka_run_group_tests(tests, NULL, NULL);
	kernel_halt();
	return ret;
}
