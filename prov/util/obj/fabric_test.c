/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The structs of programs for older interfaces, each directly before an inaccessible page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/test/verify.h"
#include "obj/fabric.h"

/* Sizes of the structs in the headers of an interface. */
static const struct {
	uint32_t version;
	size_t info, tx, ep, domain;
} headers[] = {
	{ FI_VERSION(1, 0), 112, 72, 80, 120 },
	{ FI_VERSION(1, 4), 112, 72, 80, 120 },
	{ FI_VERSION(1, 5), 112, 72, 96, 184 },
	{ FI_VERSION(1, 6), 112, 72, 96, 184 },
	{ FI_VERSION(1, 7), 120, 72, 96, 184 },
	{ FI_VERSION(1, 8), 120, 72, 96, 184 },
	{ FI_VERSION(1, 9), 120, 80, 96, 192 },
	{ FI_VERSION(1, 19), 120, 80, 96, 192 },
	{ FI_VERSION(1, 20), 120, 80, 96, 200 },
	{ FI_VERSION(2, 0), 120, 80, 96, 208 },
	{ FI_VERSION(2, 4), 120, 80, 96, 208 },
	{ FI_VERSION(2, 5), 120, 80, 96, 224 },
	{ FI_VERSION(2, 6), 120, 80, 96, 224 },
	{ 0, 120, 80, 96, 224 },
};

/* A struct of @size bytes, all of them 1. */
static void *edge(size_t size)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
	return memset(map + page - size, 1, size);
}

/* is_copy - has @copy, of @now bytes, all @size bytes, and zero behind them? */
static bool is_copy(const void *copy, size_t size, size_t now)
{
	const char *at = copy;
	size_t i;

	for (i = 0; i < now; i++)
		if (at[i] != (i < size))
			return false;
	return true;
}

static void structs_of_older_headers(void **state)
{
	struct obj_fabric fabric = { 0 };
	struct fi_info *info, *whole;
	struct obj_info_room room;
	size_t i;

	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		fabric.api_version = headers[i].version;
		info = edge(headers[i].info);
		info->tx_attr = edge(headers[i].tx);
		info->ep_attr = edge(headers[i].ep);
		info->domain_attr = edge(headers[i].domain);
		whole = obj_info_whole(&fabric, info, &room);
		assert_true(!whole->nic == (headers[i].info < sizeof(*whole)));
		assert_int_equal(whole->caps, info->caps);
		assert_true(is_copy(whole->tx_attr, headers[i].tx, sizeof(*whole->tx_attr)));
		assert_true(is_copy(whole->ep_attr, headers[i].ep, sizeof(*whole->ep_attr)));
		assert_true(is_copy(whole->domain_attr, headers[i].domain,
				    sizeof(*whole->domain_attr)));
	}
}

static void structs_of_today(void **state)
{
	struct obj_fabric fabric = { .api_version = FI_VERSION(2, 7) };
	struct obj_info_room room;
	struct fi_info info = { 0 };

	assert_ptr_equal(obj_info_whole(&fabric, &info, &room), &info);
	fabric.api_version = FI_VERSION(1, 0);
	assert_null(obj_info_whole(&fabric, NULL, &room));
	assert_null(obj_info_whole(&fabric, &info, &room)->ep_attr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structs_of_older_headers),
		cmocka_unit_test(structs_of_today),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
