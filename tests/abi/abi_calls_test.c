/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * Every inline reaches its operation with its arguments in place, and the ones that look an
 * operation up handle a table that is too short, has a NULL slot, or is missing.  Inlines that
 * do more than a jump are tested one by one below the rows.
 */
#include <string.h>

#include "abi_calls.h"

/* ---- calls that go through fi_control ------------------------------------ */

static int seen_command;
static const struct fid *seen_fid;
static union {
	struct fi_alias alias;
	struct fi_fid_var var;
	struct fi_mr_raw_attr raw;
	struct fi_mr_map_raw map;
	struct fi_mr_modify modify;
	struct fi_fid_export exp;
	struct fi_mr_xpu_desc xpu;
	uint64_t key;
} seen;

static int take_control(struct fid *fid, int command, void *arg)
{
	static const size_t size[] = {
		[FI_ALIAS] = sizeof(seen.alias),
		[FI_GET_VAL] = sizeof(seen.var),
		[FI_SET_VAL] = sizeof(seen.var),
		[FI_GET_RAW_MR] = sizeof(seen.raw),
		[FI_MAP_RAW_MR] = sizeof(seen.map),
		[FI_UNMAP_KEY] = sizeof(seen.key),
		[FI_REFRESH] = sizeof(seen.modify),
		[FI_EXPORT_FID] = sizeof(seen.exp),
		[FI_GET_FD] = 0,
		[FI_GET_MR_XPU_DESC] = sizeof(seen.xpu),
	};

	seen_fid = fid;
	seen_command = command;
	if (arg)
		memcpy(&seen, arg, size[command]);
	if (command == FI_ALIAS)
		*seen.alias.fid = &the_ep.fid;
	return 5;
}

static struct fi_ops control_ops = {
	.size = sizeof(struct fi_ops),
	.control = take_control,
};

static void control_calls_wrap_their_arguments(void **state)
{
	struct fid fid = {.ops = &control_ops};
	struct fid *other = NULL;
	int val;

	(void) state;
	assert_int_equal(fi_alias(&fid, &other, 7), 5);
	assert_int_equal(seen_command, FI_ALIAS);
	assert_ptr_equal(seen.alias.fid, &other);
	assert_int_equal(seen.alias.flags, 7);

	assert_int_equal(fi_get_val(&fid, 11, &val), 5);
	assert_int_equal(seen_command, FI_GET_VAL);
	assert_int_equal(seen.var.name, 11);
	assert_ptr_equal(seen.var.val, &val);

	assert_int_equal(fi_set_val(&fid, 12, &val), 5);
	assert_int_equal(seen_command, FI_SET_VAL);
	assert_int_equal(seen.var.name, 12);

	assert_int_equal(fi_export_fid(&fid, 9, &other, &val), 5);
	assert_int_equal(seen_command, FI_EXPORT_FID);
	assert_ptr_equal(seen.exp.fid, &other);
	assert_int_equal(seen.exp.flags, 9);
	assert_ptr_equal(seen.exp.context, &val);
}

static void registration_calls_wrap_their_arguments(void **state)
{
	struct fid_mr mr = {.fid.ops = &control_ops, .mem_desc = &mr, .key = 77};
	struct fid_domain domain = {.fid.ops = &control_ops};
	struct fid_xpu_ctx ctx;
	struct iovec iov = {.iov_base = &mr, .iov_len = 3};
	uint64_t base = 0, key = 0;
	uint8_t raw[4];
	size_t size = sizeof(raw);

	(void) state;
	assert_ptr_equal(fi_mr_desc(&mr), &mr);
	assert_int_equal(fi_mr_key(&mr), 77);

	assert_int_equal(fi_mr_enable(&mr), 5);
	assert_int_equal(seen_command, FI_ENABLE);
	assert_ptr_equal(seen_fid, &mr.fid);

	assert_int_equal(fi_mr_raw_attr(&mr, &base, raw, &size, 1), 5);
	assert_int_equal(seen_command, FI_GET_RAW_MR);
	assert_ptr_equal(seen.raw.base_addr, &base);
	assert_ptr_equal(seen.raw.raw_key, raw);
	assert_ptr_equal(seen.raw.key_size, &size);
	assert_int_equal(seen.raw.flags, 1);

	assert_int_equal(fi_mr_map_raw(&domain, 8, raw, 4, &key, 2), 5);
	assert_int_equal(seen_command, FI_MAP_RAW_MR);
	assert_ptr_equal(seen_fid, &domain.fid);
	assert_int_equal(seen.map.base_addr, 8);
	assert_ptr_equal(seen.map.raw_key, raw);
	assert_int_equal(seen.map.key_size, 4);
	assert_ptr_equal(seen.map.key, &key);
	assert_int_equal(seen.map.flags, 2);

	assert_int_equal(fi_mr_unmap_key(&domain, 99), 5);
	assert_int_equal(seen_command, FI_UNMAP_KEY);
	assert_int_equal(seen.key, 99);

	assert_int_equal(fi_mr_get_xpu_desc(&mr, raw, &size, FI_XPU, &ctx), 5);
	assert_int_equal(seen_command, FI_GET_MR_XPU_DESC);
	assert_ptr_equal(seen_fid, &mr.fid);
	assert_ptr_equal(seen.xpu.buf, raw);
	assert_ptr_equal(seen.xpu.len, &size);
	assert_true(seen.xpu.flags == FI_XPU);
	assert_ptr_equal(seen.xpu.ctx, &ctx);

	assert_int_equal(fi_mr_refresh(&mr, &iov, 1, 4), 5);
	assert_int_equal(seen_command, FI_REFRESH);
	assert_int_equal(seen.modify.flags, 4);
	assert_ptr_equal(seen.modify.attr.mr_iov, &iov);
	assert_int_equal(seen.modify.attr.iov_count, 1);
	assert_int_equal(seen.modify.attr.access, 0);
}

static int alias_control(struct fid *fid, int command, void *arg)
{
	(void) fid;
	assert_int_equal(command, FI_ALIAS);
	*((struct fi_alias *) arg)->fid = &the_ep.fid;
	return 0;
}

static void endpoint_controls(void **state)
{
	struct fi_ops ok_ops = {.size = sizeof(ok_ops), .control = alias_control};
	struct fi_ops none = {.size = sizeof(none)};
	struct fid_ep ep = {.fid.ops = &control_ops};
	struct fid_ep *alias = NULL;

	(void) state;
	assert_int_equal(fi_enable(&ep), 5);
	assert_int_equal(seen_command, FI_ENABLE);
	assert_ptr_equal(seen_fid, &ep.fid);

	assert_int_equal(fi_ep_alias(&ep, &alias, 0), 5);
	assert_null(alias);		/* an error leaves the output alone */
	ep.fid.ops = &ok_ops;
	assert_int_equal(fi_ep_alias(&ep, &alias, 0), 0);
	assert_ptr_equal(alias, &the_ep);
	ep.fid.ops = &none;
	assert_int_equal(fi_enable(&ep), -FI_ENOSYS);
}

/* ---- arithmetic ---------------------------------------------------------- */

static void numbers_are_packed(void **state)
{
	struct fid_mc mc = {.fi_addr = 42};

	(void) state;
	assert_int_equal(fi_tc_dscp_set(0x2e), 0x12e);
	assert_int_equal(fi_tc_dscp_get(fi_tc_dscp_set(0x2e)), 0x2e);
	assert_int_equal(fi_tc_dscp_get(FI_TC_LOW_LATENCY), 0);
	assert_int_equal(fi_hmem_ze_device(1, 2), 0x10002);
	assert_true(fi_rx_addr(5, 3, 8) == (3ULL << 56 | 5));
	assert_true(fi_group_addr(5, 3) == (3ULL << 32 | 5));
	assert_true(fi_group_addr(FI_ADDR_UNSPEC, 3) == (3ULL << 32 | 0xffffffff));
	assert_true(fi_group_addr(fi_group_addr(5, 4), 3) == (3ULL << 32 | 5));
	assert_true(fi_tag_mpi(-1, 2) == 0x2ffffffffULL);
	assert_true((fi_tag_mpi(-1, 0xff) & ~FI_MPI_IGNORE_TAG) == FI_MPI_IGNORE_PAYLOAD);
	assert_int_equal(fi_mc_addr(&mc), 42);
}

/* ---- groups -------------------------------------------------------------- */

static int take_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		     struct fid_mc **mc, void *context)
{
	const struct fi_collective_addr *coll = addr;

	(void) ep;
	(void) mc;
	(void) context;
	assert_ptr_equal(coll->set, &the_av_set);
	assert_int_equal(coll->coll_addr, 6);
	assert_true(flags == (FI_COLLECTIVE | 1));
	return 8;
}

static void collective_join(void **state)
{
	struct fi_ops_cm cm = {.size = sizeof(cm), .join = take_join};
	struct fid_ep ep = {.cm = &cm};

	(void) state;
	assert_int_equal(fi_join_collective(&ep, 6, &the_av_set, 1, NULL, NULL), 8);
	cm.size = offsetof(struct fi_ops_cm, join);
	assert_int_equal(fi_join_collective(&ep, 6, &the_av_set, 1, NULL, NULL),
			 -FI_ENOSYS);
}

/* ---- calls of a device ----------------------------------------------------- */

/* A number that the header does not know: of another library, or of a later one. */
static void unknown_provider(void **state)
{
	struct fid_xpu fid = {.prov_id = 12345, .prov_ctx = 1};
	struct fid_xpu_ep ep = {fid};
	struct fid_xpu_cq cq = {fid};
	struct fid_xpu_cntr cntr = {fid};
	int s = FI_XPU_WORK_ITEM;

	(void) state;
	assert_int_equal(fi_xpu_send(&ep, NULL, 0, NULL, 0, NULL, NULL, 0, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_recv(&ep, NULL, 0, NULL, NULL, NULL, 0, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_tsend(&ep, NULL, 0, NULL, 0, NULL, 0, NULL, 0, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_trecv(&ep, NULL, 0, NULL, NULL, 0, 0, NULL, 0, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_read(&ep, NULL, 0, NULL, NULL, 0, 0, NULL, 0, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_write(&ep, NULL, 0, NULL, 0, NULL, 0, 0, NULL, 0, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_atomic(&ep, NULL, 0, NULL, NULL, 0, 0, FI_UINT64, FI_SUM, NULL, 0,
				       s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_fetch_atomic(&ep, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, FI_UINT64,
					     FI_SUM, NULL, 0, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_compare_atomic(&ep, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0,
					       0, FI_UINT64, FI_CSWAP, NULL, 0, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cq_read(&cq, NULL, 1, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cq_readfrom(&cq, NULL, 1, NULL, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cq_readerr(&cq, NULL, 0, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cq_sread(&cq, NULL, 1, 1, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cq_sreadfrom(&cq, NULL, 1, NULL, 1, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cntr_read(&cntr, s), 0);
	assert_int_equal(fi_xpu_cntr_readerr(&cntr, s), 0);
	assert_int_equal(fi_xpu_cntr_add(&cntr, 1, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cntr_adderr(&cntr, 1, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cntr_set(&cntr, 1, s), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cntr_seterr(&cntr, 1, s), -FI_ENOSYS);
	fi_xpu_cntr_wait(&cntr, 1, -1, s);
}

/* ---- profiles ------------------------------------------------------------ */

static ssize_t take_read_var(struct fid_profile *prof, uint32_t id, void *data,
			     size_t *size)
{
	(void) prof;
	assert_int_equal(id, 3);
	assert_int_equal(*size, sizeof(uint64_t));
	*(uint64_t *) data = 10;
	return 8;
}

static int closed;

static int take_close(struct fid *fid)
{
	(void) fid;
	closed++;
	return 0;
}

static int take_ops_open(struct fid *fid, const char *name, uint64_t flags,
			 void **ops, void *context)
{
	(void) fid;
	(void) context;
	assert_non_null(name);
	if (flags)
		return -FI_EBADFLAGS;
	*ops = &the_profile;
	return 0;
}

static void profile_calls(void **state)
{
	struct fi_ops fid_ops = {.size = sizeof(fid_ops), .close = take_close,
				 .ops_open = take_ops_open};
	struct fi_profile_ops ops = {.size = sizeof(ops), .read_var = take_read_var};
	struct fid_profile prof = {.fid.ops = &fid_ops, .ops = &ops};
	struct fid_profile *opened = NULL;
	uint64_t data = 0;

	(void) state;
	assert_int_equal(fi_profile_read_u64(&prof, 3, &data), 8);
	assert_int_equal(data, 10);
	ops.read_var = NULL;
	assert_int_equal(fi_profile_read_u64(&prof, 3, &data), -FI_ENOSYS);

	assert_int_equal(fi_profile_open(&prof.fid, 1, &opened, NULL), -FI_EBADFLAGS);
	assert_null(opened);
	assert_int_equal(fi_profile_open(&prof.fid, 0, &opened, NULL), 0);
	assert_ptr_equal(opened, &the_profile);
	assert_int_equal(fi_profile_close(&prof), 0);
	assert_int_equal(closed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_calls_wrap_their_arguments),
		cmocka_unit_test(registration_calls_wrap_their_arguments),
		cmocka_unit_test(endpoint_controls),
		cmocka_unit_test(numbers_are_packed),
		cmocka_unit_test(collective_join),
		cmocka_unit_test(unknown_provider),
		cmocka_unit_test(profile_calls),
	};

	return !!(abi_calls_run(NULL, NULL) +
		  cmocka_run_group_tests(tests, NULL, NULL));
}
