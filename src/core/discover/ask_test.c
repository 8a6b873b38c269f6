/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Which providers are candidates, for each provider name in hints and each FI_PROVIDER. */

#include <rdma/fi_errno.h>

#include "base/provider.h"
#include "core/ask.h"
#include "core/builtin.h"
#include "core/test/child_test.h"

/* All known providers, in a fixed order. */
static const char *const cores[] = { "verbs", "tcp", "udp", "sockets", "psm3" };
static const char *const layers[] = { "ofi_rxm", "ofi_rxd" };

/* The candidates, joined with blanks. */
static void answers(const struct core_ask *ask, char *out, size_t size)
{
	size_t i, j, n = 0;

	*out = '\0';
	for (i = 0; i < 5; i++)
		if (core_ask_alone(ask, cores[i]))
			n += (size_t) snprintf(out + n, size - n, "%s ", cores[i]);
	for (i = 0; i < 5; i++)
		for (j = 0; j < 2; j++)
			if (core_ask_pair(ask, cores[i], layers[j]))
				n += (size_t) snprintf(out + n, size - n, "%s+%s ",
						       cores[i], layers[j] + 4);
}

static void expect(const char *filter, const char *name, uint64_t flags,
		   const char *want)
{
	struct core_ask ask;
	char have[512];

	if (filter)
		setenv("FI_PROVIDER", filter, 1);
	else
		unsetenv("FI_PROVIDER");
	assert_int_equal(core_ask_init(&ask, name, flags), 0);
	answers(&ask, have, sizeof(have));
	if (strcmp(have, want))
		print_message("FI_PROVIDER=%s name=%s\n", filter ? filter : "-",
			      name ? name : "-");
	assert_string_equal(have, want);
}

/* No pair over sockets unless both are named. */
#define ALL_PAIRS "verbs+rxm verbs+rxd tcp+rxm tcp+rxd udp+rxm udp+rxd psm3+rxm psm3+rxd "

static void test_names(void **state)
{
	expect(NULL, NULL, 0, "verbs tcp udp sockets psm3 " ALL_PAIRS);
	expect(NULL, "", 0, "verbs tcp udp sockets psm3 " ALL_PAIRS);
	expect(NULL, "tcp", 0, "tcp tcp+rxm tcp+rxd ");
	expect(NULL, "TCP", 0, "tcp tcp+rxm tcp+rxd ");
	expect(NULL, "tcp;ofi_rxm", 0, "tcp+rxm ");
	expect(NULL, "ofi_rxm;tcp", 0, "tcp+rxm ");
	expect(NULL, "ofi_rxd", 0, "verbs+rxd tcp+rxd udp+rxd psm3+rxd ");
	expect(NULL, "sockets", 0, "sockets ");
	expect(NULL, "sockets;ofi_rxd", 0, "sockets+rxd ");
	expect(NULL, "nosuch", 0, "");
}

/* Names of providers that join others: what is below them. */
static void test_joined(void **state)
{
	static const char *const names[] = { "lnx", "ofi_lnx", "mrail", "OFI_MRAIL" };
	char pair[64];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		expect(NULL, names[i], 0, "verbs tcp udp sockets psm3 " ALL_PAIRS);
		expect(names[i], NULL, 0, "verbs tcp udp sockets psm3 " ALL_PAIRS);
		snprintf(pair, sizeof(pair), "tcp;%s", names[i]);
		expect(NULL, pair, 0, "tcp tcp+rxm tcp+rxd ");
		expect(pair, NULL, 0, "tcp tcp+rxm tcp+rxd ");
	}
	expect("^ofi_mrail", NULL, 0, "verbs tcp udp sockets psm3 " ALL_PAIRS);
	expect("^ofi_mrail,tcp", "udp", 0, "udp udp+rxm udp+rxd ");
}

static void test_include(void **state)
{
	expect("tcp", NULL, 0, "tcp tcp+rxm tcp+rxd ");
	expect("tcp,udp", NULL, 0, "tcp udp tcp+rxm tcp+rxd udp+rxm udp+rxd ");
	expect("udp;ofi_rxd", NULL, 0, "udp+rxd ");
	expect("ofi_rxd;udp", NULL, 0, "udp+rxd ");
	expect("udp;ofi_rxd,tcp;ofi_rxm", NULL, 0, "tcp+rxm udp+rxd ");
	expect("ofi_rxm", NULL, 0, "verbs+rxm tcp+rxm udp+rxm psm3+rxm ");
	expect("sockets", NULL, 0, "sockets ");
	expect("tcp,sockets", NULL, 0, "tcp sockets tcp+rxm tcp+rxd ");
	expect("nosuch", NULL, 0, "");
}

static void test_exclude(void **state)
{
	expect("^tcp", NULL, 0, "verbs udp sockets psm3 verbs+rxm verbs+rxd udp+rxm udp+rxd psm3+rxm psm3+rxd ");
	expect("^ofi_rxm,ofi_rxd", NULL, 0, "verbs tcp udp sockets psm3 ");
	expect("^udp;ofi_rxd", NULL, 0,
	       "verbs tcp udp sockets psm3 verbs+rxm verbs+rxd tcp+rxm tcp+rxd udp+rxm psm3+rxm psm3+rxd ");
	/* what is left is sockets, of which no pair is offered unless it is named */
	expect("^verbs,psm3,tcp,udp", NULL, 0, "sockets ");
}

static void test_both(void **state)
{
	expect("tcp", "udp", 0, "");
	expect("tcp", "tcp;ofi_rxm", 0, "tcp+rxm ");
	expect("udp;ofi_rxd", "udp", 0, "udp+rxd ");
	expect("^tcp", "tcp", 0, "");
	expect("^ofi_rxd", "udp", 0, "udp udp+rxm ");
	expect("tcp;ofi_rxm", "ofi_rxm", 0, "tcp+rxm ");
}

/* The calls of a layer ignore the filter, which its layered name has passed already. */
static void test_core_only(void **state)
{
	expect("udp;ofi_rxd", "udp", OFI_CORE_PROV_ONLY, "udp ");
	expect("^udp", "udp", OFI_CORE_PROV_ONLY, "udp ");
	expect(NULL, NULL, OFI_CORE_PROV_ONLY, "verbs tcp udp sockets psm3 ");
}

static void test_wrong(void **state)
{
	struct core_ask ask;
	char longest[300];

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(core_ask_init(&ask, "tcp;udp", 0), -FI_ENODATA);
	assert_int_equal(core_ask_init(&ask, "ofi_rxm;ofi_rxd", 0), -FI_ENODATA);
	assert_int_equal(core_ask_init(&ask, longest, 0), -FI_ENODATA);
	longest[100] = '\0';
	assert_int_equal(core_ask_init(&ask, longest, 0), -FI_ENODATA);
}

/* Which providers have to be loaded, and whether directories must be read for it. */
static void test_needs(void **state)
{
	struct core_ask ask;

	unsetenv("FI_PROVIDER");
	core_ask_init(&ask, "tcp", 0);
	assert_true(core_ask_needs(&ask, "tcp"));
	assert_false(core_ask_needs(&ask, "verbs"));
	assert_true(core_ask_needs(&ask, "ofi_rxm"));
	assert_false(core_ask_needs(&ask, "ofi_hook_trace"));
	assert_false(core_ask_open(&ask));

	core_ask_init(&ask, "tcp;ofi_rxm", 0);
	assert_true(core_ask_needs(&ask, "tcp"));
	assert_false(core_ask_needs(&ask, "ofi_rxd"));

	core_ask_init(&ask, "ofi_rxm", 0);
	assert_true(core_ask_needs(&ask, "verbs"));
	assert_true(core_ask_open(&ask));

	setenv("FI_PROVIDER", "tcp,udp;ofi_rxd", 1);
	core_ask_init(&ask, NULL, 0);
	assert_true(core_ask_needs(&ask, "udp"));
	assert_true(core_ask_needs(&ask, "ofi_rxd"));
	assert_false(core_ask_needs(&ask, "verbs"));
	assert_false(core_ask_needs(&ask, "sockets"));
	assert_false(core_ask_open(&ask));

	setenv("FI_PROVIDER", "udp;ofi_rxd", 1);
	core_ask_init(&ask, NULL, 0);
	assert_false(core_ask_needs(&ask, "ofi_rxm"));
	assert_false(core_ask_needs(&ask, "tcp"));

	setenv("FI_PROVIDER", "^verbs", 1);
	core_ask_init(&ask, NULL, 0);
	assert_false(core_ask_needs(&ask, "verbs"));
	assert_true(core_ask_open(&ask));

	core_ask_init(&ask, NULL, FI_PROV_ATTR_ONLY);
	assert_true(core_ask_needs(&ask, "sockets"));
	assert_true(core_ask_needs(&ask, "ofi_hook_trace"));
	assert_false(core_ask_needs(&ask, "verbs"));
	unsetenv("FI_PROVIDER");
}

/* A layer is asked only where it can have endpoints below; of a provider that is not in the table
 * nothing is known.
 */
static void test_serves(void **state)
{
	assert_true(core_builtin_serves("tcp", "ofi_rxm"));
	assert_false(core_builtin_serves("tcp", "ofi_rxd"));
	assert_true(core_builtin_serves("udp", "ofi_rxd"));
	assert_false(core_builtin_serves("udp", "ofi_rxm"));
	assert_false(core_builtin_serves("shm", "ofi_rxm"));
	assert_true(core_builtin_serves("verbs", "ofi_rxm"));
	assert_true(core_builtin_serves("verbs", "ofi_rxd"));
	assert_true(core_builtin_serves("stranger", "ofi_rxd"));
	assert_true(core_builtin_serves("tcp", "ofi_stranger"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_include),
		cmocka_unit_test(test_exclude),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_core_only),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_serves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
