/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"

#include <string.h>

#include "obj/ops.h"

/* Every slot of every table of defaults is there. */
static void check_full(const void *table, size_t size)
{
	void *const *slot = table;
	size_t i;

	assert_int_equal(*(const size_t *) table, size);
	for (i = 1; i < size / sizeof(void *); i++)
		assert_non_null(slot[i]);
}

#define FULL(member) check_full(&obj_ops_defaults.member, sizeof(obj_ops_defaults.member))

static void test_full(void **state)
{
	FULL(fid);
	FULL(fabric);
	FULL(domain);
	FULL(mr);
	FULL(av);
	FULL(av_set);
	FULL(cq);
	FULL(cntr);
	FULL(eq);
	FULL(wait);
	FULL(poll);
	FULL(ep);
	FULL(cm);
	FULL(msg);
	FULL(tagged);
	FULL(rma);
	FULL(atomic);
	FULL(collective);
	FULL(xpu_ctx);
}

static int own_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return 77;
}

/* What a provider has stays, the rest says no. */
static void test_fill(void **state)
{
	struct fi_ops_cm cm = { .getname = own_getname };
	struct fid_ep ep = { .fid.fclass = FI_CLASS_EP, .cm = &cm };
	size_t count, len = 0;

	obj_ops_fill_ep(&ep);
	assert_int_equal(fi_getname(&ep.fid, NULL, &len), 77);
	assert_int_equal(fi_connect(&ep, NULL, NULL, 0), -FI_ENOSYS);
	assert_int_equal(fi_send(&ep, NULL, 0, NULL, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_tsend(&ep, NULL, 0, NULL, 0, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_read(&ep, NULL, 0, NULL, 0, 0, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_atomic(&ep, NULL, 0, NULL, 0, 0, 0, FI_INT8, FI_SUM, NULL), -FI_ENOSYS);
	assert_int_equal(fi_atomicvalid(&ep, FI_INT8, FI_SUM, &count), -FI_EOPNOTSUPP);
	assert_int_equal(fi_barrier(&ep, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_cancel(&ep.fid, NULL), -FI_ENOSYS);
	assert_int_equal(fi_setopt(&ep.fid, FI_OPT_ENDPOINT, 12345, &len, sizeof(len)),
			 -FI_ENOPROTOOPT);
	assert_int_equal(fi_getopt(&ep.fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &count, &len),
			 -FI_ENOPROTOOPT);
	assert_int_equal(fi_close(&ep.fid), -FI_ENOSYS);
	assert_int_equal(cm.size, sizeof(cm));
}

/* An error would look like a value, and a text is always there. */
static void test_other_answers(void **state)
{
	struct fid_cntr cntr = { .ops = (struct fi_ops_cntr *) &obj_ops_defaults.cntr };
	struct fid_cq cq = { .ops = (struct fi_ops_cq *) &obj_ops_defaults.cq };
	char text[8] = "x";
	size_t len = sizeof(text);

	assert_int_equal(fi_cntr_read(&cntr), 0);
	assert_int_equal(fi_cntr_readerr(&cntr), 0);
	assert_int_equal(fi_cntr_add(&cntr, 1), -FI_ENOSYS);
	assert_int_equal(fi_cq_read(&cq, NULL, 1), -FI_ENOSYS);
	assert_int_equal(fi_cq_readerr(&cq, NULL, 0), -FI_ENOSYS);
	assert_string_equal(fi_cq_strerror(&cq, 1, NULL, NULL, 0), "unknown error");
	assert_ptr_equal(obj_ops_defaults.av.straddr(NULL, NULL, text, &len), text);
	assert_string_equal(text, "");
	assert_int_equal(len, 1);
}

/* Filling again changes nothing: the table may lie in memory that is only read. */
static void test_fill_twice(void **state)
{
	struct fi_ops_msg once = { 0 }, twice;

	OBJ_OPS_FILL(&once, msg);
	twice = once;
	OBJ_OPS_FILL(&twice, msg);
	assert_memory_equal(&once, &twice, sizeof(once));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_other_answers),
		cmocka_unit_test(test_fill_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
