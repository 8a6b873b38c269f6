/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* FI_ADDR_FORMAT, with providers alpha (FI_SOCKADDR_IN) and beta (FI_ADDR_STR).  The library reads
 * it once, so each value has a process.
 */

#include <rdma/fi_errno.h>

#include "base/provider.h"
#include "core/test/child_test.h"
#include "core/test/listen.h"

#define NOW FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

static char lines[8192];

static void run(const char *value, void (*fn)(void))
{
	if (value)
		setenv("FI_ADDR_FORMAT", value, 1);
	else
		unsetenv("FI_ADDR_FORMAT");
	assert_int_equal(child_run(fn, lines, sizeof(lines)), 0);
}

/* The names of what is offered; the first that is not is NULL. */
static bool offers(uint64_t flags, const char *first, const char *second)
{
	struct fi_info *info = NULL, *i;
	int ret = fi_getinfo(NOW, NULL, NULL, flags, NULL, &info);
	bool ok;

	i = info;
	ok = ret == (first ? 0 : -FI_ENODATA) && !first == !i;
	if (ok && first) {
		ok = !strcmp(i->fabric_attr->prov_name, first) && !second == !i->next &&
		     (!second || !strcmp(i->next->fabric_attr->prov_name, second));
	}
	fi_freeinfo(info);
	return ok;
}

static void both(void)
{
	CHILD_CHECK(offers(0, "alpha", "beta"));
}

static void alpha_alone(void)
{
	CHILD_CHECK(offers(0, "alpha", NULL));
	setenv("FI_ADDR_FORMAT", "FI_ADDR_STR", 1);	/* too late */
	CHILD_CHECK(offers(0, "alpha", NULL));
}

static void beta_alone(void)
{
	CHILD_CHECK(offers(0, "beta", NULL));
	/* a layer that looks below, and a list of providers, are not concerned */
	CHILD_CHECK(offers(OFI_CORE_PROV_ONLY, "alpha", "beta"));
	CHILD_CHECK(offers(FI_PROV_ATTR_ONLY, "alpha", "beta"));
}

static void nothing(void)
{
	CHILD_CHECK(offers(0, NULL, NULL));
	CHILD_CHECK(offers(0, NULL, NULL));
}

static void ask(void)
{
	struct fi_info *info = NULL;

	fi_getinfo(NOW, NULL, NULL, 0, NULL, &info);
	fi_freeinfo(info);
}

static void test_filter(void **state)
{
	run(NULL, both);
	run("", both);
	run("FI_SOCKADDR_IN", alpha_alone);
	run("fi_Addr_str", beta_alone);
}

static void test_nothing_left(void **state)
{
	static const char said[] = "FI_ADDR_FORMAT=FI_ADDR_EFA leaves none of 2 endpoints";
	const char *at;

	run("FI_ADDR_EFA", nothing);
	at = strstr(lines, said);
	assert_non_null(at);
	assert_null(strstr(at + 1, said));	/* once */
}

static void test_wrong_name(void **state)
{
	run("FI_ADDR_GNI", both);
	assert_non_null(strstr(lines, "FI_ADDR_FORMAT=FI_ADDR_GNI is ignored, it must be one of: "
			       "FI_SOCKADDR, FI_SOCKADDR_IN, "));
	assert_non_null(strstr(lines, "FI_ADDR_CXI, FI_ADDR_STR"));
}

static void test_names(void **state)
{
	static const char *const names[] = {
		"FI_SOCKADDR", "FI_SOCKADDR_IN", "FI_SOCKADDR_IN6", "FI_SOCKADDR_IB",
		"FI_ADDR_IB_UD", "FI_ADDR_EFA", "FI_ADDR_PSMX3", "FI_ADDR_OPX", "FI_ADDR_CXI",
		"FI_ADDR_STR",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		run(names[i], ask);
		assert_null(strstr(lines, "is ignored"));
	}
}

static int setup(void **state)
{
	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	setenv("FI_PROVIDER", "alpha,beta", 1);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_filter, setup),
		cmocka_unit_test_setup(test_nothing_left, setup),
		cmocka_unit_test_setup(test_wrong_name, setup),
		cmocka_unit_test_setup(test_names, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
