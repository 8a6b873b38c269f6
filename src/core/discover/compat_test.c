/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The calls of older programs, by their symbol versions, with structs of the sizes that those
 * programs have.
 *
 * Hints end at the end of a page that is followed by an inaccessible one, so that a read past
 * the end stops the test.
 */

#include <dlfcn.h>
#include <sys/mman.h>

#include <rdma/fi_errno.h>

#include "core/test/child_test.h"
#include "core/compat.h"
#include "core/test/listen.h"

/* The rows of the table: struct, its size, field, offset, size. */
#define ROW(name, total, field, offset, size)				\
	_Static_assert(sizeof(struct name) == (total) &&		\
		       offsetof(struct name, field) == (offset) &&	\
		       sizeof(((struct name *) 0)->field) == (size),	\
		       #name "." #field);
#include "src/core/compat_rows.inc"
#undef ROW

/* A struct of the program, directly before an inaccessible page. */
static void *edge(const void *from, size_t size)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
	return memcpy(map + page - size, from, size);
}

#define EDGE(var)	(var = edge(&(__typeof__(*var)) { 0 }, sizeof(*var)))

static void *old_call(const char *name, const char *node)
{
	void *sym = NULL;

#ifdef __GLIBC__
	sym = dlvsym(RTLD_DEFAULT, name, node);
#else
	skip();		/* the C library finds the newest version alone */
#endif
	if (!sym)
		print_message("%s@%s is not there\n", name, node);
	assert_non_null(sym);
	return sym;
}

/* ---- what the provider received ------------------------------------------------- */

static struct fi_info *seen;
static uint32_t seen_version;

static void see(const struct testprov_call *call)
{
	fi_freeinfo(seen);
	seen = call->hints ? fi_dupinfo(call->hints) : NULL;
	seen_version = call->version;
}

static int setup(void **state)
{
	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	setenv("FI_PROVIDER", "^ofi_over,ofi_rxm,ofi_rxd,beta,gamma,tcp,udp,shm,verbs", 1);
	on_getinfo = see;
	return 0;
}

static int teardown(void **state)
{
	fi_freeinfo(seen);
	seen = NULL;
	return 0;
}

/* ---- a round trip through each version ---------------------------------------------- */

#define FILL_COMMON(hints)						\
	do {								\
		(hints)->caps = FI_MSG;					\
		(hints)->src_addr = edge("source", 7);			\
		(hints)->src_addrlen = 7;				\
		(hints)->tx_attr->rma_iov_limit = 11;			\
		(hints)->rx_attr->iov_limit = 12;			\
		(hints)->ep_attr->rx_ctx_cnt = 13;			\
		(hints)->domain_attr->max_ep_srx_ctx = 14;		\
		(hints)->domain_attr->name = "some domain";		\
		(hints)->fabric_attr->prov_name = "alpha";		\
		(hints)->fabric_attr->prov_version = 15;		\
	} while (0)

static void saw_common(void)
{
	assert_non_null(seen);
	assert_true(seen->caps == FI_MSG);
	assert_string_equal(seen->src_addr, "source");
	assert_int_equal(seen->tx_attr->rma_iov_limit, 11);
	assert_int_equal(seen->rx_attr->iov_limit, 12);
	assert_int_equal(seen->ep_attr->rx_ctx_cnt, 13);
	assert_int_equal(seen->domain_attr->max_ep_srx_ctx, 14);
	assert_string_equal(seen->domain_attr->name, "some domain");
	assert_int_equal(seen->fabric_attr->prov_version, 15);
	assert_null(seen->ep_attr->xpu_ctx);
	assert_int_equal(seen->domain_attr->max_xpu_ctx_cnt, 0);
}

/* Fields that the older struct lacks have their default value. */
static void saw_nothing_else(int has_tclass, size_t max_ep_auth_key, uint32_t group)
{
	assert_int_equal(seen->tx_attr->tclass, has_tclass ? 21 : 0);
	assert_int_equal(seen->domain_attr->tclass, has_tclass ? 22 : 0);
	assert_int_equal(seen->domain_attr->max_ep_auth_key, max_ep_auth_key);
	assert_int_equal(seen->domain_attr->max_group_id, group);
	assert_true(seen->domain_attr->max_cntr_value == 0);
	assert_null(seen->nic);
}

#define ROUND_TRIP(ver, newest, node, tx, ep, domain, fabric, fill, check)		\
	static void test_##ver(void **state)					\
	{									\
		int (*getinfo)(uint32_t, const char *, const char *, uint64_t,	\
			       const struct fi_info_##ver *,			\
			       struct fi_info_##ver **) =			\
			old_call("fi_getinfo", node);				\
		struct fi_info_##ver *(*dupinfo)(const struct fi_info_##ver *) = \
			old_call("fi_dupinfo", node);				\
		void (*freeinfo)(struct fi_info_##ver *) =			\
			old_call("fi_freeinfo", node);				\
		struct fi_info_##ver *hints, *info = NULL, *dup;		\
										\
		EDGE(hints);							\
		EDGE(hints->tx_attr);						\
		EDGE(hints->rx_attr);						\
		EDGE(hints->ep_attr);						\
		EDGE(hints->domain_attr);					\
		EDGE(hints->fabric_attr);					\
		FILL_COMMON(hints);						\
		fill;								\
		assert_int_equal(getinfo(FI_VERSION(1, 0), NULL, NULL, 0, hints, \
					 &info), 0);				\
		saw_common();							\
		check;								\
		assert_string_equal(info->fabric_attr->prov_name, "alpha");	\
		assert_string_equal(info->domain_attr->name, "alpha");		\
		assert_int_equal(info->ep_attr->type, FI_EP_RDM);		\
		assert_int_equal(info->domain_attr->mr_mode, FI_MR_BASIC);	\
		freeinfo(info);							\
										\
		dup = dupinfo(hints);						\
		assert_non_null(dup);						\
		assert_string_equal(dup->src_addr, "source");			\
		assert_int_equal(dup->tx_attr->rma_iov_limit, 11);		\
		assert_int_equal(dup->domain_attr->max_ep_srx_ctx, 14);		\
		assert_string_equal(dup->fabric_attr->prov_name, "alpha");	\
		freeinfo(dup);							\
		dup = dupinfo(NULL);						\
		assert_non_null(dup->domain_attr);				\
		freeinfo(dup);							\
		freeinfo(NULL);							\
										\
		info = (void *) 1;						\
		hints->fabric_attr->prov_name = "nosuch";			\
		assert_int_equal(getinfo(FI_VERSION(1, 0), NULL, NULL, 0, hints, \
					 &info), -FI_ENODATA);			\
		assert_null(info);						\
		assert_int_equal(getinfo(0, NULL, NULL, 0, NULL, &info), 0);	\
		freeinfo(info);							\
		assert_int_equal(getinfo(fi_version(), NULL, NULL, 0, NULL,	\
					 &info), 0);				\
		assert_int_equal(seen_version, newest);				\
		freeinfo(info);							\
		assert_int_equal(getinfo(fi_version() + 1, NULL, NULL, 0, NULL,	\
					 &info), -FI_ENOSYS);			\
	}

ROUND_TRIP(1_0, FI_VERSION(1, 4), "FABRIC_1.0", fi_tx_attr_1_0, fi_ep_attr_1_0, fi_domain_attr_1_0,
	   fi_fabric_attr_1_0, , saw_nothing_else(0, 0, 0))

ROUND_TRIP(1_1, FI_VERSION(1, 6), "FABRIC_1.1", fi_tx_attr_1_0, fi_ep_attr_1_9, fi_domain_attr_1_1,
	   fi_fabric_attr,
	   { hints->ep_attr->auth_key = edge("key", 4);
	     hints->ep_attr->auth_key_size = 4;
	     hints->domain_attr->mr_cnt = 16;
	     hints->fabric_attr->api_version = 17; },
	   { saw_nothing_else(0, 0, 0);
	     assert_string_equal((char *) seen->ep_attr->auth_key, "key");
	     assert_int_equal(seen->domain_attr->mr_cnt, 16);
	     assert_int_equal(seen->fabric_attr->api_version, 17); })

ROUND_TRIP(1_2, FI_VERSION(1, 8), "FABRIC_1.2", fi_tx_attr_1_0, fi_ep_attr_1_9, fi_domain_attr_1_1,
	   fi_fabric_attr, hints->domain_attr->mr_cnt = 16,
	   { saw_nothing_else(0, 0, 0);
	     assert_int_equal(seen->domain_attr->mr_cnt, 16);
	     assert_non_null(info->nic); })

ROUND_TRIP(1_3, FI_VERSION(1, 19), "FABRIC_1.3", fi_tx_attr, fi_ep_attr_1_9, fi_domain_attr_1_3,
	   fi_fabric_attr,
	   { hints->tx_attr->tclass = 21; hints->domain_attr->tclass = 22; },
	   { saw_nothing_else(1, 0, 0); assert_non_null(info->nic); })

ROUND_TRIP(1_7, FI_VERSION(1, 22), "FABRIC_1.7", fi_tx_attr, fi_ep_attr_1_9, fi_domain_attr_1_7,
	   fi_fabric_attr,
	   { hints->tx_attr->tclass = 21; hints->domain_attr->tclass = 22;
	     hints->domain_attr->max_ep_auth_key = 23; },
	   saw_nothing_else(1, 23, 0))

ROUND_TRIP(1_8, FI_VERSION(2, 4), "FABRIC_1.8", fi_tx_attr, fi_ep_attr_1_9, fi_domain_attr_1_8,
	   fi_fabric_attr,
	   { hints->tx_attr->tclass = 21; hints->domain_attr->tclass = 22;
	     hints->domain_attr->max_ep_auth_key = 23;
	     hints->domain_attr->max_group_id = 24; },
	   saw_nothing_else(1, 23, 24))

ROUND_TRIP(1_9, FI_VERSION(2, 6), "FABRIC_1.9", fi_tx_attr, fi_ep_attr_1_9, fi_domain_attr_1_9,
	   fi_fabric_attr,
	   { hints->tx_attr->tclass = 21; hints->domain_attr->tclass = 22;
	     hints->ep_attr->auth_key = edge("key", 4);
	     hints->ep_attr->auth_key_size = 4;
	     hints->domain_attr->max_ep_auth_key = 23;
	     hints->domain_attr->max_group_id = 24;
	     hints->domain_attr->max_err_cntr_value = 25; },
	   { assert_int_equal(seen->domain_attr->max_err_cntr_value, 25);
	     assert_string_equal((char *) seen->ep_attr->auth_key, "key"); })

/* ---- the padding behind prov_version is not read as api_version ------------------------ */

static void test_padding(void **state)
{
	int (*getinfo)(uint32_t, const char *, const char *, uint64_t,
		       const struct fi_info_1_0 *, struct fi_info_1_0 **) =
		old_call("fi_getinfo", "FABRIC_1.0");
	void (*freeinfo)(struct fi_info_1_0 *) = old_call("fi_freeinfo", "FABRIC_1.0");
	struct fi_fabric_attr_1_0 fabric;
	struct fi_info_1_0 hints = { .fabric_attr = &fabric }, *info;

	memset(&fabric, 0xff, sizeof(fabric));
	fabric.fabric = NULL;
	fabric.name = NULL;
	fabric.prov_name = "alpha";
	assert_int_equal(getinfo(0, NULL, NULL, 0, &hints, &info), 0);
	assert_int_equal(seen->fabric_attr->api_version, 0);
	freeinfo(info);
}

static void test_fabric(void **state)
{
	int (*fabric_1_0)(struct fi_fabric_attr_1_0 *, struct fid_fabric **, void *) =
		old_call("fi_fabric", "FABRIC_1.0");
	int (*fabric_1_1)(struct fi_fabric_attr *, struct fid_fabric **, void *) =
		old_call("fi_fabric", "FABRIC_1.1");
	struct fi_fabric_attr now = { .prov_name = "alpha", .api_version = 7 };
	struct fi_fabric_attr_1_0 *old;
	struct fid_fabric *fabric;

	EDGE(old);
	old->prov_name = "alpha";
	old->name = "testnet";
	assert_int_equal(fabric_1_0(old, &fabric, NULL), 0);
	assert_int_equal(fabric->api_version, FI_VERSION(1, 0));
	assert_int_equal(fi_close(&fabric->fid), 0);
	assert_int_equal(fabric_1_0(NULL, &fabric, NULL), -FI_EINVAL);
	assert_int_equal(fabric_1_1(&now, &fabric, NULL), 0);
	assert_int_equal(fabric->api_version, 7);
	assert_int_equal(fi_close(&fabric->fid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_1_0, setup, teardown),
		cmocka_unit_test_setup_teardown(test_1_1, setup, teardown),
		cmocka_unit_test_setup_teardown(test_1_2, setup, teardown),
		cmocka_unit_test_setup_teardown(test_1_3, setup, teardown),
		cmocka_unit_test_setup_teardown(test_1_7, setup, teardown),
		cmocka_unit_test_setup_teardown(test_1_8, setup, teardown),
		cmocka_unit_test_setup_teardown(test_1_9, setup, teardown),
		cmocka_unit_test_setup_teardown(test_padding, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fabric, setup, teardown),
	};

	setenv("FI_LOG_LEVEL", "none", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
