/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Memory of a layer over a real domain, of tcp, treated as if it required local registration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <string.h>
#include <sys/mman.h>

#include "layer/mem.h"

#define LEN 65536u

static struct fi_provider prov = { .name = "test" };
static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct layer_mem mem;

static int set_up(void **state)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	hints->fabric_attr->prov_name = strdup("tcp");
	hints->ep_attr->type = FI_EP_MSG;
	ret = fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", NULL, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	if (ret)
		return ret;
	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	info->domain_attr->mr_mode |= FI_MR_LOCAL;
	layer_mem_init(&mem, domain, info, 4096);
	layer_mem_keep(&mem, &prov);
	return 0;
}

static int tear_down(void **state)
{
	layer_mem_fini(&mem);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
	return 0;
}

static void *map_at(void *at)
{
	void *p = mmap(at, LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	memset(p, 1, LEN);
	return p;
}

static uint64_t key_of(void *p, size_t len)
{
	struct fid_mr *mr;
	uint64_t addr, key;

	assert_int_equal(layer_mr_remote(&mem, p, len, &mr, &addr, &key), 0);
	layer_mr_done(mr);
	return key;
}

/* A buffer that is sent again has the same key; other memory at its address has another. */
static void keeps(void **state)
{
	char *p = map_at(NULL);
	uint64_t key = key_of(p, LEN), next;
	struct fid_mr *a, *b;
	unsigned i;

	if (!mem.remotes.by)
		skip();
	for (i = 0; i < 100; i++) {
		assert_int_equal(key_of(p, LEN), key);
		assert_int_equal(munmap(p, LEN), 0);
		assert_ptr_equal(map_at(p), p);
		next = key_of(p, LEN);
		assert_int_not_equal(next, key);
		key = next;
	}
	/* Buffers that the peer reads and buffers that are read into are registered separately. */
	assert_int_equal(layer_mr_into(&mem, p, LEN, &a), 0);
	assert_int_equal(layer_mr_into(&mem, p, LEN, &b), 0);
	assert_ptr_equal(a, b);
	assert_int_not_equal(fi_mr_key(a), key);
	layer_mr_done(a);
	layer_mr_done(b);
	munmap(p, LEN);
}

/* Regions for local use are not cached. */
static void own(void **state)
{
	struct layer_buf *buf = layer_buf_get(&mem);
	char *p = map_at(NULL);
	struct fid_mr *mr;

	assert_non_null(buf->desc);
	list_init(&buf->node);
	layer_buf_put(&mem, buf);
	assert_int_equal(layer_mr_local(&mem, p, LEN, &mr), 0);
	assert_null(mr->fid.context);
	assert_int_equal(fi_close(&mr->fid), 0);
	munmap(p, LEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keeps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(own, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
