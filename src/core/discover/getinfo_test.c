/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The results of fi_getinfo() for hints and provider names, with the loadable providers of
 * test/: alpha and beta in one file, gamma, and the layer ofi_over.
 */

#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>

#include "base/provider.h"
#include "core/test/child_test.h"
#include "core/test/listen.h"

#define NOW FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

static const char all_of_ours[] = "alpha,beta,gamma,ofi_over";

static int setup(void **state)
{
	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	setenv("FI_PROVIDER", "alpha,beta,gamma", 1);
	on_getinfo = NULL;
	return 0;
}

/* Names of a result, joined with blanks. */
static const char *names(const struct fi_info *info)
{
	static char text[512];
	size_t n = 0;

	*text = '\0';
	for (; info; info = info->next)
		n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%s",
				       n ? " " : "", info->fabric_attr->prov_name);
	return text;
}

static void expect(const char *filter, const char *name, int ret, const char *want)
{
	struct fi_info *hints = NULL, *info = (void *) 1;

	setenv("FI_PROVIDER", filter, 1);
	if (name) {
		hints = fi_allocinfo();
		hints->fabric_attr->prov_name = strdup(name);
	}
	assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, hints, &info), ret);
	assert_string_equal(names(info), want);
	fi_freeinfo(info);
	if (hints)
		fi_freeinfo(hints);
}

/* ---- order and names ------------------------------------------------------------ */

static void test_names(void **state)
{
	/* gamma supports interface 1.9 only, so a program for the current interface does not
	 * get it
	 */
	expect("alpha,beta,gamma", NULL, 0, "alpha beta");
	expect("alpha,beta;ofi_over", NULL, 0, "alpha alpha;ofi_over beta;ofi_over");
	expect("alpha", NULL, 0, "alpha");
	expect("alpha;ofi_over", NULL, 0, "alpha;ofi_over");
	expect("alpha,beta", "beta", 0, "beta");
	expect("alpha,beta", "ofi_over;alpha", 0, "alpha;ofi_over");
	expect("alpha,beta", "ofi_over", 0, "alpha;ofi_over beta;ofi_over");
	expect("alpha,beta", "ALPHA", 0, "alpha");
	expect("^nosuch", "alpha", 0, "alpha");
	expect("alpha", "beta", -FI_ENODATA, "");
	expect("alpha", "nosuch", -FI_ENODATA, "");
	expect("alpha", "alpha;beta", -FI_ENODATA, "");
	expect("^ofi_over,ofi_rxm,ofi_rxd", "alpha", 0, "alpha");
}

static void test_same_order_each_time(void **state)
{
	struct fi_info *info;
	char first[512];
	int i;

	assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, NULL, &info), 0);
	snprintf(first, sizeof(first), "%s", names(info));
	fi_freeinfo(info);
	for (i = 0; i < 20; i++) {
		assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, NULL, &info), 0);
		assert_string_equal(names(info), first);
		fi_freeinfo(info);
	}
}

static void test_filled_in(void **state)
{
	struct fi_info *info;
	uint32_t version = FI_VERSION(1, 8);

	setenv("FI_PROVIDER", "alpha;ofi_over,gamma", 1);
	assert_int_equal(fi_getinfo(version, NULL, NULL, 0, NULL, &info), 0);
	assert_string_equal(names(info), "alpha;ofi_over gamma gamma;ofi_over");
	assert_int_equal(info->fabric_attr->api_version, version);
	assert_int_equal(info->fabric_attr->prov_version, FI_VERSION(1, 0));
	assert_null(info->fabric_attr->fabric);
	fi_freeinfo(info);
}

/* ---- arguments -------------------------------------------------------------------- */

static void test_arguments(void **state)
{
	struct fi_info *info = (void *) 1;

	assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, NULL, NULL), -FI_EINVAL);
	assert_int_equal(fi_getinfo(NOW + 1, NULL, NULL, 0, NULL, &info), -FI_ENOSYS);
	assert_null(info);
	assert_int_equal(fi_getinfo(FI_VERSION(3, 0), NULL, NULL, 0, NULL, &info),
			 -FI_ENOSYS);
	assert_int_equal(fi_getinfo(NOW, NULL, NULL, FI_SOURCE, NULL, &info),
			 -FI_EINVAL);
	assert_int_equal(fi_getinfo(NOW, NULL, NULL, FI_COMPLETION, NULL, &info),
			 -FI_EBADFLAGS);
	assert_int_equal(fi_getinfo(FI_VERSION(0, 0), NULL, NULL, 0, NULL, &info), 0);
	fi_freeinfo(info);
	assert_int_equal(fi_getinfo(NOW, NULL, "7", FI_SOURCE, NULL, &info), 0);
	fi_freeinfo(info);
}

/* ---- what a provider receives ------------------------------------------------------- */

static struct testprov_call seen;
static struct fi_info *seen_hints;

static void see(const struct testprov_call *call)
{
	seen = *call;
	fi_freeinfo(seen_hints);
	seen_hints = call->hints ? fi_dupinfo(call->hints) : NULL;
}

static void ask_alpha(uint32_t version, const struct fi_info *hints)
{
	struct fi_info *info;

	setenv("FI_PROVIDER", "^ofi_over,ofi_rxm,ofi_rxd,beta,gamma,tcp,udp,shm,verbs", 1);
	on_getinfo = see;
	assert_int_equal(fi_getinfo(version, "host", "7", FI_NUMERICHOST | FI_SOURCE,
				    hints, &info), 0);
	on_getinfo = NULL;
	assert_string_equal(names(info), "alpha");
	fi_freeinfo(info);
	assert_string_equal(seen.prov, "alpha");
	assert_string_equal(seen.node, "host");
	assert_string_equal(seen.service, "7");
	assert_true(seen.flags == (FI_NUMERICHOST | FI_SOURCE));
	assert_int_equal(seen.version, version);
}

static void test_hints_null(void **state)
{
	ask_alpha(NOW, NULL);
	assert_null(seen_hints);
}

static void test_hints_sparse(void **state)
{
	struct fi_info hints = { .caps = FI_MSG };

	ask_alpha(NOW, &hints);
	assert_non_null(seen_hints);
	assert_true(seen_hints->caps == FI_MSG);
	assert_null(seen_hints->tx_attr);
	assert_null(seen_hints->domain_attr);
	assert_string_equal(seen_hints->fabric_attr->prov_name, "alpha");
}

static void test_hints_zeroed(void **state)
{
	struct fi_tx_attr tx = { 0 };
	struct fi_rx_attr rx = { 0 };
	struct fi_ep_attr ep = { 0 };
	struct fi_domain_attr domain = { 0 };
	struct fi_fabric_attr fabric = { 0 };
	struct fid_nic nic = { 0 };
	struct fi_info hints = {
		.tx_attr = &tx, .rx_attr = &rx, .ep_attr = &ep,
		.domain_attr = &domain, .fabric_attr = &fabric, .nic = &nic,
	};

	ask_alpha(NOW, &hints);
	assert_non_null(seen_hints->tx_attr);
	assert_null(seen_hints->domain_attr->name);
	assert_int_equal(seen_hints->domain_attr->mr_mode, 0);
	assert_null(fabric.prov_name);
	assert_null(nic.fid.ops);
}

/* A layer is given its core provider also when the program passes no hints, and its hints then
 * exclude nothing.
 */
static void test_layer_without_hints(void **state)
{
	struct fi_info *info;

	setenv("FI_PROVIDER", "beta;ofi_over", 1);
	on_getinfo = see;
	assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, NULL, &info), 0);
	fi_freeinfo(info);
	assert_string_equal(seen.prov, "ofi_over");
	assert_string_equal(seen_hints->fabric_attr->prov_name, "beta;ofi_over");
	assert_true((seen_hints->mode & (FI_CONTEXT | FI_RX_CQ_DATA)) ==
		    (FI_CONTEXT | FI_RX_CQ_DATA));
	assert_int_equal(seen_hints->domain_attr->mr_mode &
			 (FI_MR_BASIC | FI_MR_SCALABLE), 0);
	assert_true(seen_hints->domain_attr->mr_mode & FI_MR_LOCAL);
	assert_int_equal(seen_hints->caps, 0);
}

/* The layer's query reaches the core provider although FI_PROVIDER excludes it. */
static void test_core_only(void **state)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	setenv("FI_PROVIDER", "beta;ofi_over", 1);
	hints->fabric_attr->prov_name = strdup("beta");
	on_getinfo = see;
	assert_int_equal(fi_getinfo(NOW, NULL, NULL, OFI_CORE_PROV_ONLY, hints, &info), 0);
	assert_string_equal(names(info), "beta");
	assert_string_equal(seen.prov, "beta");
	assert_true(seen.flags == 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

/* ---- registration modes of old programs ---------------------------------------------- */

#define BASIC_BITS (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

static void mr_case(uint32_t version, int asked, uint64_t mode, int given, int answered)
{
	struct fi_domain_attr domain = { .mr_mode = asked };
	struct fi_info hints = { .mode = mode, .domain_attr = &domain }, *info;

	setenv("FI_PROVIDER", "^ofi_over,ofi_rxm,ofi_rxd,beta,gamma,tcp,udp,shm,verbs", 1);
	on_getinfo = see;
	assert_int_equal(fi_getinfo(version, NULL, NULL, 0, &hints, &info), 0);
	assert_string_equal(seen.prov, "alpha");
	assert_int_equal(seen_hints->domain_attr->mr_mode, given);
	assert_int_equal(info->domain_attr->mr_mode, answered);
	assert_int_equal(domain.mr_mode, asked);
	fi_freeinfo(info);
}

static void test_mr_modes(void **state)
{
	uint32_t old = FI_VERSION(1, 4);

	mr_case(old, FI_MR_UNSPEC, 0, BASIC_BITS, FI_MR_BASIC);
	mr_case(FI_VERSION(1, 0), FI_MR_UNSPEC, 0, BASIC_BITS, FI_MR_BASIC);
	mr_case(old, FI_MR_UNSPEC, FI_LOCAL_MR, BASIC_BITS | FI_MR_LOCAL, FI_MR_BASIC);
	mr_case(old, FI_MR_BASIC, 0, BASIC_BITS, FI_MR_BASIC);
	mr_case(old, FI_MR_SCALABLE, 0, 0, FI_MR_SCALABLE);
	mr_case(old, FI_MR_SCALABLE, FI_LOCAL_MR, FI_MR_LOCAL, FI_MR_SCALABLE);
	mr_case(NOW, FI_MR_BASIC, 0, BASIC_BITS, FI_MR_BASIC);
	mr_case(NOW, FI_MR_SCALABLE, 0, 0, FI_MR_SCALABLE);
	mr_case(NOW, 0, FI_LOCAL_MR, 0, 0);
	mr_case(FI_VERSION(1, 5), 0, 0, 0, 0);
	mr_case(NOW, FI_MR_LOCAL | FI_MR_VIRT_ADDR, 0, FI_MR_LOCAL | FI_MR_VIRT_ADDR, 0);
}

static void test_mr_null_hints(void **state)
{
	struct fi_info *info;

	setenv("FI_PROVIDER", "alpha", 1);
	assert_int_equal(fi_getinfo(FI_VERSION(1, 4), NULL, NULL, 0, NULL, &info), 0);
	assert_int_equal(info->domain_attr->mr_mode, FI_MR_BASIC);
	assert_true(!(info->mode & FI_LOCAL_MR));
	fi_freeinfo(info);
}

/* An old program has no value for FI_MR_ENDPOINT, so it does not get such a result. */
static void test_mr_unspeakable(void **state)
{
	struct fi_info *info;

	setenv("FI_PROVIDER", "alpha", 1);
	assert_int_equal(fi_getinfo(FI_VERSION(1, 4), NULL, "42", 0, NULL, &info),
			 -FI_ENODATA);
	assert_null(info);
	assert_int_equal(fi_getinfo(NOW, NULL, "42", 0, NULL, &info), 0);
	assert_int_equal(info->domain_attr->mr_mode, FI_MR_ENDPOINT);
	fi_freeinfo(info);
}

static void test_mr_mixed(void **state)
{
	struct fi_domain_attr domain = { .mr_mode = FI_MR_BASIC | FI_MR_LOCAL };
	struct fi_info hints = { .domain_attr = &domain }, *info;

	assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, &hints, &info), -FI_ENODATA);
}

/* ---- FI_PROV_ATTR_ONLY ----------------------------------------------------------------- */

static void test_attr_only(void **state)
{
	struct fi_info *info;

	setenv("FI_PROVIDER", all_of_ours, 1);
	on_getinfo = see;
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(fi_getinfo(NOW, NULL, NULL, FI_PROV_ATTR_ONLY, NULL, &info), 0);
	assert_string_equal(names(info), "alpha beta gamma ofi_over");
	assert_null(seen.prov);
	assert_int_equal(info->caps, 0);
	assert_null(info->fabric_attr->name);
	assert_int_equal(info->fabric_attr->prov_version, FI_VERSION(1, 0));
	fi_freeinfo(info);
}

/* ---- an open fabric --------------------------------------------------------------------- */

static void test_open_fabric(void **state)
{
	struct fi_info *info, *hints;
	struct fid_fabric *fabric;

	setenv("FI_PROVIDER", "alpha,beta", 1);
	assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, NULL, &info), 0);
	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fabric->api_version, NOW);
	fi_freeinfo(info);

	assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, NULL, &info), 0);
	assert_string_equal(info->fabric_attr->prov_name, "alpha");
	assert_ptr_equal(info->fabric_attr->fabric, fabric);
	assert_null(info->next->fabric_attr->fabric);
	fi_freeinfo(info);

	hints = fi_allocinfo();
	hints->fabric_attr->fabric = fabric;
	assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, hints, &info), 0);
	assert_string_equal(names(info), "alpha");
	fi_freeinfo(info);
	assert_int_equal(fi_close(&fabric->fid), 0);
	assert_int_equal(fi_getinfo(NOW, NULL, NULL, 0, hints, &info), -FI_ENODATA);
	fi_freeinfo(hints);
}

/* A NIC description stays usable after the provider has been unloaded. */
static void test_nic_outlives_provider(void **state)
{
	struct fid_fabric *fabric;
	struct fi_info *info;

	setenv("FI_PROVIDER", "gamma", 1);
	assert_int_equal(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, NULL, &info), 0);
	assert_non_null(info->nic);
	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	assert_int_equal(loaded(2), 0);
	fi_freeinfo(info);
}

/* ---- reasons for an empty result ----------------------------------------------------------- */

static char lines[8192];

static int take_all(const struct fi_provider *prov, enum fi_log_level level,
		    enum fi_log_subsys subsys, uint64_t flags)
{
	return 1;
}

static int take_ready(const struct fi_provider *prov, enum fi_log_level level,
		      enum fi_log_subsys subsys, uint64_t flags, uint64_t *showtime)
{
	return 1;
}

static void take_line(const struct fi_provider *prov, enum fi_log_level level,
		      enum fi_log_subsys subsys, const char *func, int line,
		      const char *msg)
{
	size_t len = strlen(lines);

	snprintf(lines + len, sizeof(lines) - len, "%s\n", msg);
}

static void explain(const char *filter, uint32_t version, struct fi_info *hints)
{
	struct fi_ops_log ops = {
		.size = sizeof(ops), .enabled = take_all, .ready = take_ready,
		.log = take_line,
	};
	struct fid_logging log = { .fid.fclass = FI_CLASS_LOG, .ops = &ops };
	struct fi_info *info;

	*lines = '\0';
	setenv("FI_PROVIDER", filter, 1);
	assert_int_equal(fi_import_log(NOW, 0, &log), 0);
	assert_int_equal(fi_getinfo(version, NULL, NULL, 0, hints, &info), -FI_ENODATA);
	assert_int_equal(fi_close(&log.fid), 0);
}

static void said(const char *text)
{
	if (!strstr(lines, text))
		print_message("%s", lines);
	assert_non_null(strstr(lines, text));
}

static void test_why(void **state)
{
	struct fi_info *hints = fi_allocinfo();

	explain("gamma", NOW, NULL);
	said("explain: provider=gamma domain=- addr=- ep_type=- attr=version wanted=2.7 offered=1.9");
	explain("nosuch", NOW, NULL);
	said("explain: provider=nosuch domain=- addr=- ep_type=- attr=fabric_attr->prov_name wanted=nosuch");
	hints->fabric_attr->prov_name = strdup("beta");
	explain("alpha", NOW, hints);
	said("explain: provider=beta domain=- addr=- ep_type=- attr=");
	hints->ep_attr->type = FI_EP_DGRAM;
	explain("beta", NOW, hints);
	said("getinfo of provider beta failed");
	fi_freeinfo(hints);
}

static int teardown(void **state)
{
	fi_freeinfo(seen_hints);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_names, setup),
		cmocka_unit_test_setup(test_same_order_each_time, setup),
		cmocka_unit_test_setup(test_filled_in, setup),
		cmocka_unit_test_setup(test_arguments, setup),
		cmocka_unit_test_setup(test_hints_null, setup),
		cmocka_unit_test_setup(test_hints_sparse, setup),
		cmocka_unit_test_setup(test_hints_zeroed, setup),
		cmocka_unit_test_setup(test_layer_without_hints, setup),
		cmocka_unit_test_setup(test_core_only, setup),
		cmocka_unit_test_setup(test_mr_modes, setup),
		cmocka_unit_test_setup(test_mr_null_hints, setup),
		cmocka_unit_test_setup(test_mr_unspeakable, setup),
		cmocka_unit_test_setup(test_mr_mixed, setup),
		cmocka_unit_test_setup(test_attr_only, setup),
		cmocka_unit_test_setup(test_open_fabric, setup),
		cmocka_unit_test_setup(test_nic_outlives_provider, setup),
		cmocka_unit_test_setup(test_why, setup),
	};

	setenv("FI_LOG_LEVEL", "none", 0);
	return cmocka_run_group_tests(tests, NULL, teardown);
}
