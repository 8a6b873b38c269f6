/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * libfabric-ffi exports a twin of every inline, and each twin does what its inline does: the
 * rows of tests/abi/slots.tsv run through the loaded library.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/test/verify.h"

#include <rdma/fabric.h>

static void *lib;

/* The address of an exported function; fails the test when it is missing. */
static void *twin(const char *name)
{
	void *sym = dlsym(lib, name);

	if (!sym)
		fail_msg("libfabric-ffi has no %s", name);
	return sym;
}

/* All headers come before the macros below, which catch only calls. */
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_profile.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_xpu_device.h>

#define TWIN(name) ((__typeof__(&name)) (uintptr_t) twin(#name))

#include "tests/abi/abi_names.inc"
#include "../../tests/abi/abi_calls.h"

static int open_lib(void **state)
{
	const char *top = getenv("top_builddir");
	char path[4096];

	(void) state;
	snprintf(path, sizeof(path), "%s/src/ffi/.libs/libfabric-ffi.so.1",
		 top ? top : ".");
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		print_error("%s\n", dlerror());
	return !lib;
}

static int close_lib(void **state)
{
	(void) state;
	return dlclose(lib);
}

static void every_inline_is_exported(void **state)
{
	size_t i, count = sizeof(inline_names) / sizeof(inline_names[0]);
	int missing = 0;

	(void) state;
	for (i = 0; i < count; i++) {
		if (dlsym(lib, inline_names[i]))
			continue;
		print_error("libfabric-ffi has no %s\n", inline_names[i]);
		missing++;
	}
	assert_int_equal(missing, 0);
	assert_true(count > 0);
	print_message("%zu functions\n", count);
}

static void arithmetic(void **state)
{
	(void) state;
	assert_int_equal(fi_tc_dscp_get(fi_tc_dscp_set(0x2e)), 0x2e);
	assert_true(fi_rx_addr(5, 3, 8) == (3ULL << 56 | 5));
}

/* A twin that calls a function of the library. */
static void hints_can_be_allocated(void **state)
{
	struct fi_info *info = fi_allocinfo();

	(void) state;
	assert_non_null(info);
	assert_non_null(info->ep_attr);
	fi_freeinfo(info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_inline_is_exported),
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(hints_can_be_allocated),
	};

	return !!(abi_calls_run(open_lib, close_lib) +
		  cmocka_run_group_tests(tests, open_lib, close_lib));
}
