/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Who uses an object, and what the log says when it is closed too early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>

#include "obj/ref.h"

static struct fi_provider prov = { .name = "test" };
static char lines[16][256];
static unsigned cnt;

/* The library's log is replaced by an array of lines. */
int fi_log_enabled(const struct fi_provider *p, enum fi_log_level level, enum fi_log_subsys subsys)
{
	return 1;
}

int fi_log_ready(const struct fi_provider *p, enum fi_log_level level, enum fi_log_subsys subsys,
		 uint64_t *showtime)
{
	return 1;
}

void fi_log(const struct fi_provider *p, enum fi_log_level level, enum fi_log_subsys subsys,
	    const char *func, int line, const char *fmt, ...)
{
	va_list args;

	assert_true(cnt < 16);
	va_start(args, fmt);
	vsnprintf(lines[cnt++], sizeof(lines[0]), fmt, args);
	va_end(args);
}

static int busy(struct obj_refs *refs, const struct fid *self)
{
	cnt = 0;
	return obj_refs_busy(refs, self, &prov, FI_LOG_CQ);
}

static void test_holders_are_named(void **state)
{
	struct fid cq = { .fclass = FI_CLASS_CQ, .context = (void *) 1 };
	struct fid ep = { .fclass = FI_CLASS_EP, .context = (void *) 0x77 };
	struct obj_ref tx = { 0 }, rx = { 0 };
	struct obj_refs refs;

	obj_refs_init(&refs);
	assert_int_equal(busy(&refs, &cq), 0);
	obj_ref_get(&refs, &tx, &ep);
	obj_ref_get(&refs, &rx, &ep);
	assert_int_equal(busy(&refs, &cq), -FI_EBUSY);
	assert_int_equal(cnt, 2);
	assert_non_null(strstr(lines[0], "cannot close the completion queue"));
	assert_non_null(strstr(lines[0], "used by the endpoint"));
	assert_non_null(strstr(lines[0], "0x77"));
	obj_ref_put(&tx);
	assert_int_equal(busy(&refs, &cq), -FI_EBUSY);
	assert_int_equal(cnt, 1);
	obj_ref_put(&rx);
	assert_int_equal(busy(&refs, &cq), 0);
	assert_int_equal(cnt, 0);
	obj_refs_fini(&refs);
}

/* A reference that was never taken, or is given back already. */
static void test_put_without_get(void **state)
{
	struct fid av = { .fclass = FI_CLASS_AV }, ep = { .fclass = FI_CLASS_EP };
	struct obj_ref ref = { 0 };
	struct obj_refs refs;

	obj_refs_init(&refs);
	obj_ref_put(&ref);
	obj_ref_get(&refs, &ref, &ep);
	obj_ref_put(&ref);
	obj_ref_put(&ref);
	assert_int_equal(busy(&refs, &av), 0);
	obj_refs_fini(&refs);
}

static void test_many_holders_are_counted(void **state)
{
	struct fid domain = { .fclass = FI_CLASS_DOMAIN }, mr = { .fclass = FI_CLASS_MR };
	struct obj_ref ref[20] = { 0 };
	struct obj_refs refs;
	int i;

	obj_refs_init(&refs);
	for (i = 0; i < 20; i++)
		obj_ref_get(&refs, &ref[i], &mr);
	assert_int_equal(busy(&refs, &domain), -FI_EBUSY);
	assert_int_equal(cnt, 9);
	assert_non_null(strstr(lines[8], "by 12 more"));
	for (i = 0; i < 20; i++)
		obj_ref_put(&ref[i]);
	assert_int_equal(busy(&refs, &domain), 0);
	obj_refs_fini(&refs);
}

static void test_names(void **state)
{
	struct fid fid = { .fclass = FI_CLASS_SRX_CTX };

	assert_string_equal(obj_fid_name(&fid), "shared receive context");
	fid.fclass = FI_CLASS_UNSPEC;
	assert_string_equal(obj_fid_name(&fid), "object");
	fid.fclass = 1000;
	assert_string_equal(obj_fid_name(&fid), "object");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holders_are_named),
		cmocka_unit_test(test_put_without_get),
		cmocka_unit_test(test_many_holders_are_counted),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
