/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * The calls of interface 2.7 on the objects of every provider, with and without hooks: none
 * reaches an empty slot, each returns what its page says where a provider serves no devices; and
 * structs of a program for 2.6, which end where that interface ends, are not read further.
 *
 * Programs may have been compiled with headers that check neither the size of a table nor the
 * slot, so slots are called directly too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/test/verify.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_xpu_device.h>

#define LENGTH(array)	(sizeof(array) / sizeof(array[0]))

/* The first bytes of a struct, in front of a page without access. */
static void *edge(const void *from, size_t size)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
	return memcpy(map + page - size, from, size);
}

#define EDGE_BEFORE(type, member, ...)	\
	((struct type *) edge(&(struct type) __VA_ARGS__, offsetof(struct type, member)))

static struct fi_info *hints_make(const char *prov, enum fi_ep_type type)
{
	struct fi_info *hints = fi_allocinfo();

	assert_non_null(hints);
	hints->fabric_attr->prov_name = strdup(prov);
	hints->ep_attr->type = type;
	hints->mode = ~0ULL;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_XPU_DESC;
	return hints;
}

static void check_info(struct fi_info *hints)
{
	struct fi_info *list, *info;

	if (fi_getinfo(FI_VERSION(2, 7), NULL, NULL, 0, hints, &list))
		return;
	for (info = list; info; info = info->next) {
		assert_null(info->ep_attr->xpu_ctx);
		assert_int_equal(info->domain_attr->max_xpu_ctx_cnt, 0);
		assert_int_equal(info->domain_attr->mr_mode & FI_MR_XPU_DESC, 0);
		assert_true(!(info->caps & FI_XPU));
	}
	fi_freeinfo(list);
	hints->caps = FI_MSG | FI_XPU;
	if (!fi_getinfo(FI_VERSION(2, 7), NULL, NULL, 0, hints, &list)) {
		for (info = list; info; info = info->next) {
			assert_null(info->ep_attr->xpu_ctx);
			assert_true(info->caps & FI_XPU);
			assert_true(info->domain_attr->max_xpu_ctx_cnt > 0);
		}
		fi_freeinfo(list);
	}
	/* without the capability there are no contexts */
	hints->caps = 0;
	hints->domain_attr->max_xpu_ctx_cnt = 1;
	assert_int_equal(fi_getinfo(FI_VERSION(2, 7), NULL, NULL, 0, hints, &list), -FI_ENODATA);
	hints->domain_attr->max_xpu_ctx_cnt = 0;
}

/* ---- objects ------------------------------------------------------------------- */

static void check_domain(struct fid_domain *domain)
{
	struct fi_xpu_attr attr = { .iface = FI_HMEM_SYSTEM };
	struct fid_xpu_ctx *ctx = NULL;

	assert_true(domain->ops->size >= sizeof(*domain->ops));
	assert_int_equal(fi_xpu_ctx(domain, &attr, &ctx, NULL), -FI_ENOSYS);
	assert_int_equal(domain->ops->xpu_ctx(domain, &attr, &ctx, NULL), -FI_ENOSYS);
	assert_null(ctx);
}

static void check_ep_table(struct fi_ops_ep *ops, void *ep)
{
	struct fid_xpu_ep handle;

	assert_true(ops->size >= sizeof(*ops));
	assert_int_equal(ops->export_xpu(ep, 0, &handle), -FI_ENOSYS);
}

static void check_cq(struct fid_domain *domain)
{
	struct fi_cq_attr with = { .flags = FI_XPU, .xpu_ctx = (void *) &with };
	struct fid_xpu_cq handle;
	struct fid_cq *cq;

	assert_int_equal(fi_cq_open(domain, &with, &cq, NULL), -FI_ENOSYS);
	with.xpu_ctx = NULL;
	assert_int_equal(fi_cq_open(domain, &with, &cq, NULL), -FI_ENOSYS);
	assert_int_equal(fi_cq_open(domain, EDGE_BEFORE(fi_cq_attr, xpu_ctx, {0}), &cq, NULL), 0);
	assert_true(cq->ops->size >= sizeof(*cq->ops));
	assert_int_equal(fi_cq_export_xpu(cq, 0, &handle), -FI_ENOSYS);
	assert_int_equal(cq->ops->export_xpu(cq, 0, &handle), -FI_ENOSYS);
	assert_int_equal(fi_close(&cq->fid), 0);
}

static void check_cntr(struct fid_domain *domain)
{
	struct fi_cntr_attr with = { .flags = FI_XPU, .xpu_ctx = (void *) &with };
	struct fid_xpu_cntr handle;
	struct fid_cntr *cntr;

	assert_int_equal(fi_cntr_open(domain, &with, &cntr, NULL), -FI_ENOSYS);
	with.xpu_ctx = NULL;
	assert_int_equal(fi_cntr_open(domain, &with, &cntr, NULL), -FI_ENOSYS);
	assert_int_equal(fi_cntr_open(domain, EDGE_BEFORE(fi_cntr_attr, xpu_ctx, {0}), &cntr, NULL),
			 0);
	assert_true(cntr->ops->size >= sizeof(*cntr->ops));
	assert_int_equal(fi_cntr_export_xpu(cntr, 0, &handle), -FI_ENOSYS);
	assert_int_equal(cntr->ops->export_xpu(cntr, 0, &handle), -FI_ENOSYS);
	assert_int_equal(fi_close(&cntr->fid), 0);
}

/* fi_av_lookup2() with flags 0 is fi_av_lookup(), also where the buffer is short. */
static void check_lookup(struct fid_av *av, fi_addr_t addr)
{
	struct fid_xpu_ctx ctx;
	char one[256], two[256];
	size_t lens[] = { 0, 2, sizeof(one) }, i, len, len2;

	for (i = 0; i < LENGTH(lens); i++) {
		memset(one, 'x', sizeof(one));
		memset(two, 'x', sizeof(two));
		len = len2 = lens[i];
		assert_int_equal(fi_av_lookup(av, addr, one, &len), 0);
		assert_int_equal(fi_av_lookup2(av, addr, two, &len2, 0, NULL), 0);
		assert_int_equal(len, len2);
		assert_memory_equal(one, two, sizeof(one));
	}
	assert_int_equal(fi_av_lookup2(av, addr + 7, two, &len2, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_av_lookup2(av, addr, two, &len2, 0, &ctx), -FI_EINVAL);
	assert_int_equal(fi_av_lookup2(av, addr, two, &len2, FI_XPU, NULL), -FI_ENOSYS);
	assert_int_equal(fi_av_lookup2(av, addr, two, &len2, FI_XPU, &ctx), -FI_ENOSYS);
	assert_int_equal(fi_av_lookup2(av, addr, two, &len2, FI_MORE, NULL), -FI_ENOSYS);
	assert_int_equal(av->ops->lookup2(av, addr, two, &len2, FI_XPU, NULL), -FI_ENOSYS);
}

static void check_mr(struct fid_domain *domain)
{
	static char buf[64];
	struct fid_mr *mr;
	char desc[64];
	size_t len = sizeof(desc);

	assert_int_equal(fi_mr_reg(domain, buf, sizeof(buf), FI_SEND, 0, 7, 0, &mr, NULL), 0);
	assert_int_equal(fi_mr_get_xpu_desc(mr, desc, &len, FI_XPU, NULL), -FI_ENOSYS);
	assert_int_equal(fi_mr_get_xpu_desc(mr, desc, &len, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_close(&mr->fid), 0);
}

/* An endpoint with a name in an address vector, before and after it is enabled. */
static void check_ep(struct fid_domain *domain, struct fi_info *info)
{
	struct fid_xpu_ep handle;
	struct fi_av_attr av_attr = { 0 };
	struct fi_cq_attr cq_attr = { 0 };
	char name[256];
	size_t len = sizeof(name);
	struct fid_ep *ep, *other;
	struct fid_av *av;
	struct fid_cq *cq;
	fi_addr_t addr;

	assert_int_equal(fi_endpoint2(domain, info, &other, FI_XPU, NULL), -FI_ENOSYS);
	info->ep_attr->xpu_ctx = (void *) info;
	assert_int_equal(fi_endpoint2(domain, info, &other, FI_XPU, NULL), -FI_ENOSYS);
	assert_int_equal(fi_endpoint2(domain, info, &other, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_endpoint(domain, info, &other, NULL), -FI_EINVAL);
	info->ep_attr->xpu_ctx = NULL;
	assert_int_equal(fi_endpoint(domain, info, &ep, NULL), 0);
	assert_int_equal(fi_ep_export_xpu(ep, 0, &handle), -FI_ENOSYS);
	check_ep_table(ep->ops, ep);
	if (info->ep_attr->type != FI_EP_MSG) {
		assert_int_equal(fi_cq_open(domain, &cq_attr, &cq, NULL), 0);
		assert_int_equal(fi_av_open(domain, &av_attr, &av, NULL), 0);
		assert_true(av->ops->size >= sizeof(*av->ops));
		assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
		assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
		assert_int_equal(fi_enable(ep), 0);
		assert_int_equal(fi_ep_export_xpu(ep, 0, &handle), -FI_ENOSYS);
		check_ep_table(ep->ops, ep);
		assert_int_equal(fi_getname(&ep->fid, name, &len), 0);
		assert_int_equal(fi_av_insert(av, name, 1, &addr, 0, NULL), 1);
		check_lookup(av, addr);
	}
	assert_int_equal(fi_close(&ep->fid), 0);
	if (info->ep_attr->type != FI_EP_MSG) {
		assert_int_equal(fi_close(&av->fid), 0);
		assert_int_equal(fi_close(&cq->fid), 0);
	}
}

/* Everything else that has a table of endpoints. */
static void check_shared(struct fid_fabric *fabric, struct fid_domain *domain, struct fi_info *info)
{
	struct fid_pep *pep;
	struct fid_stx *stx;
	struct fid_ep *ep;

	if (!fi_srx_context(domain, info->rx_attr, &ep, NULL)) {
		check_ep_table(ep->ops, ep);
		assert_int_equal(fi_close(&ep->fid), 0);
	}
	if (!fi_stx_context(domain, info->tx_attr, &stx, NULL)) {
		check_ep_table(stx->ops, stx);
		assert_int_equal(fi_close(&stx->fid), 0);
	}
	if (!fi_scalable_ep(domain, info, &ep, NULL)) {
		check_ep_table(ep->ops, ep);
		assert_int_equal(fi_close(&ep->fid), 0);
	}
	if (info->ep_attr->type == FI_EP_MSG) {
		assert_int_equal(fi_passive_ep(fabric, info, &pep, NULL), 0);
		check_ep_table(pep->ops, pep);
		assert_int_equal(fi_close(&pep->fid), 0);
	}
}

static void check_objects(struct fi_info *info)
{
	struct fid_fabric *fabric;
	struct fid_domain *domain;

	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	check_domain(domain);
	check_cq(domain);
	check_cntr(domain);
	check_mr(domain);
	check_ep(domain, info);
	check_shared(fabric, domain, info);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
}

/* A program for 2.6 opens what it was offered, with attributes in memory of its own. */
static void check_short(struct fi_info *info)
{
	struct fi_ep_attr *ep_attr = info->ep_attr;
	struct fi_domain_attr *domain_attr = info->domain_attr;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_pep *pep;
	struct fid_ep *ep;

	info->ep_attr = edge(ep_attr, offsetof(struct fi_ep_attr, xpu_ctx));
	info->domain_attr = edge(domain_attr, offsetof(struct fi_domain_attr, max_xpu_ctx_cnt));
	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	assert_int_equal(fi_endpoint(domain, info, &ep, NULL), 0);
	assert_int_equal(fi_close(&ep->fid), 0);
	if (!fi_scalable_ep(domain, info, &ep, NULL))
		assert_int_equal(fi_close(&ep->fid), 0);
	if (!fi_passive_ep(fabric, info, &pep, NULL))
		assert_int_equal(fi_close(&pep->fid), 0);
	assert_null(strstr(fi_tostr(info, FI_TYPE_INFO), "xpu"));
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	info->ep_attr = ep_attr;
	info->domain_attr = domain_attr;
}

/* ---- providers ------------------------------------------------------------------- */

static const char *const providers[] = {
	"udp", "tcp", "sockets", "shm", "loop", "verbs", "udp;ofi_rxd", "tcp;ofi_rxm", "verbs;ofi_rxm",
	"verbs;ofi_rxd",
};

static unsigned run_each(uint32_t version, void (*fn)(struct fi_info *))
{
	unsigned found = 0, type;
	struct fi_info *hints, *info;
	size_t i;

	for (i = 0; i < LENGTH(providers); i++) {
		for (type = FI_EP_MSG; type <= FI_EP_RDM; type++) {
			hints = hints_make(providers[i], (enum fi_ep_type) type);
			if (!fi_getinfo(version, NULL, NULL, 0, hints, &info)) {
				fn(info);
				fi_freeinfo(info);
				found++;
			}
			check_info(hints);
			fi_freeinfo(hints);
		}
	}
	return found;
}

static void test_calls(void **state)
{
	assert_true(run_each(FI_VERSION(2, 7), check_objects) > 0);
}

static void test_short_structs(void **state)
{
	assert_true(run_each(FI_VERSION(2, 6), check_short) > 0);
}

static int hook(void **state)
{
	return setenv("FI_HOOK", "ofi_hook_trace;ofi_hook_perf;ofi_hook_profile;ofi_hook_fault", 1);
}

static int unhook(void **state)
{
	return unsetenv("FI_HOOK");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_short_structs),
		cmocka_unit_test_setup_teardown(test_calls, hook, unhook),
		cmocka_unit_test_setup_teardown(test_short_structs, hook, unhook),
	};

	setenv("FI_LOG_LEVEL", "none", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
