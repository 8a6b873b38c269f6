/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Sandia OpenSHMEM: one-sided only, hints without receive attributes. */

#include "rt.h"

#include <fnmatch.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>

enum mr_kind { SCALABLE, BASIC };

static struct fi_info *hints(enum mr_kind kind, enum fi_progress progress)
{
	struct fi_info *h = rt_hints();

	free(h->rx_attr);
	h->rx_attr = NULL;
	h->caps = FI_RMA | FI_ATOMIC | (kind == SCALABLE ? FI_RMA_EVENT : 0);
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	h->tx_attr->inject_size = 16;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->data_progress = progress;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = kind == BASIC ?
		FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY : 0;
	h->domain_attr->mr_key_size = 1;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	return h;
}

static void check_answer(const struct fi_info *info, const struct fi_info *asked)
{
	assert_int_equal(info->domain_attr->mr_mode & ~asked->domain_attr->mr_mode, 0);
	assert_true(info->tx_attr->inject_size >= 16);
	assert_true(info->ep_attr->max_msg_size > 0);
	assert_true(info->domain_attr->mr_key_size >= 1);
	/* the user chooses fabric and domain by pattern */
	assert_int_equal(fnmatch("*", info->fabric_attr->name, 0), 0);
	assert_int_equal(fnmatch("*", info->domain_attr->name, 0), 0);
}

static void ask(struct fi_info *(*how)(const struct rt_query *), enum mr_kind kind,
		enum fi_progress progress)
{
	struct rt_query q = { .version = FI_VERSION(1, 5), .hints = hints(kind, progress) };
	struct fi_info *info = how(&q);

	check_answer(info, q.hints);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void test_scalable(void **state)
{
	ask(rt_all, SCALABLE, FI_PROGRESS_AUTO);
}

static void test_basic(void **state)
{
	ask(rt_all, BASIC, FI_PROGRESS_AUTO);
}

static void test_manual_progress(void **state)
{
	ask(rt_all, BASIC, FI_PROGRESS_MANUAL);
}

static void test_what_there_is(void **state)
{
	ask(rt_now, SCALABLE, FI_PROGRESS_AUTO);
	ask(rt_now, BASIC, FI_PROGRESS_AUTO);
	ask(rt_now, BASIC, FI_PROGRESS_MANUAL);
}

/* Two counters and a queue on one endpoint. */
static void test_objects(void **state)
{
	struct fi_cntr_attr cntr_attr = { .events = FI_CNTR_EVENTS_COMP,
					  .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct rt_query q = { .version = FI_VERSION(1, 5),
			      .hints = hints(SCALABLE, FI_PROGRESS_AUTO) };
	struct fi_info *info = rt_now(&q);
	struct fid_cntr *put, *get;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;

	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	assert_int_equal(fi_av_open(domain, &av_attr, &av, NULL), 0);
	assert_int_equal(fi_cntr_open(domain, &cntr_attr, &put, NULL), 0);
	assert_int_equal(fi_cntr_open(domain, &cntr_attr, &get, NULL), 0);
	assert_int_equal(fi_cq_open(domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_endpoint(domain, info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &put->fid, FI_WRITE), 0);
	assert_int_equal(fi_ep_bind(ep, &get->fid, FI_READ), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid,
				    FI_SELECTIVE_COMPLETION | FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_cntr_wait(put, 0, 0), 0);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&put->fid), 0);
	assert_int_equal(fi_close(&get->fid), 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

/* ---- one endpoint for both roles ------------------------------------------------------ */

static const char *const providers[] = { "tcp", "sockets", "shm", "tcp;ofi_rxm", "udp;ofi_rxd" };

struct pe {
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_cntr *put, *get, *target;
	struct fid_stx *stx;
	struct fid_mr *mr;
	struct fid_ep *ep;
	fi_addr_t self;
	uint64_t heap[64];
};

#define KEY 1

/* As a target the endpoint is enabled with a queue and an address vector alone. */
static void pe_open_target(struct pe *pe, struct fi_info *info)
{
	struct fi_cntr_attr cntr_attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	char name[256];
	size_t len = sizeof(name);

	memset(pe, 0, sizeof(*pe));
	assert_int_equal(fi_fabric(info->fabric_attr, &pe->fabric, NULL), 0);
	assert_int_equal(fi_domain(pe->fabric, info, &pe->domain, NULL), 0);
	assert_int_equal(fi_av_open(pe->domain, &av_attr, &pe->av, NULL), 0);
	assert_int_equal(fi_cq_open(pe->domain, &cq_attr, &pe->cq, NULL), 0);
	assert_int_equal(fi_cntr_open(pe->domain, &cntr_attr, &pe->put, NULL), 0);
	assert_int_equal(fi_cntr_open(pe->domain, &cntr_attr, &pe->get, NULL), 0);
	assert_int_equal(fi_cntr_open(pe->domain, &cntr_attr, &pe->target, NULL), 0);
	assert_int_equal(fi_stx_context(pe->domain, NULL, &pe->stx, NULL), 0);
	assert_int_equal(fi_endpoint(pe->domain, info, &pe->ep, NULL), 0);
	assert_int_equal(fi_ep_bind(pe->ep, &pe->av->fid, 0), 0);
	assert_int_equal(fi_ep_bind(pe->ep, &pe->cq->fid,
				    FI_SELECTIVE_COMPLETION | FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(pe->ep, &pe->target->fid, FI_REMOTE_WRITE), 0);
	assert_int_equal(fi_enable(pe->ep), 0);
	assert_int_equal(fi_mr_reg(pe->domain, pe->heap, sizeof(pe->heap),
				   FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0, &pe->mr, NULL), 0);
	assert_int_equal(fi_getname(&pe->ep->fid, name, &len), 0);
	assert_int_equal(fi_av_insert(pe->av, name, 1, &pe->self, 0, NULL), 1);
}

/* What it needs as an initiator is bound afterwards, and it is enabled again. */
static void pe_open_initiator(struct pe *pe)
{
	assert_int_equal(fi_ep_bind(pe->ep, &pe->stx->fid, 0), 0);
	assert_int_equal(fi_ep_bind(pe->ep, &pe->put->fid, FI_WRITE), 0);
	assert_int_equal(fi_ep_bind(pe->ep, &pe->get->fid, FI_READ), 0);
	assert_int_equal(fi_enable(pe->ep), 0);
}

static void pe_close(struct pe *pe)
{
	/* its order: the shared transmit context goes before the endpoint that uses it */
	struct fid *all[] = { &pe->stx->fid, &pe->ep->fid, &pe->mr->fid, &pe->put->fid, &pe->get->fid,
			      &pe->target->fid, &pe->cq->fid, &pe->av->fid, &pe->domain->fid,
			      &pe->fabric->fid };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		assert_int_equal(fi_close(all[i]), 0);
}

/* put, get, and the compare and swap of a lock, whose holder waits for the target's counter. */
static void pe_talk(struct pe *pe)
{
	uint64_t val = 7, seen = 0, expected = 7, lock = 9, old = 0;

	assert_int_equal(fi_write(pe->ep, &val, sizeof(val), NULL, pe->self, 0, KEY, NULL), 0);
	assert_int_equal(fi_cntr_wait(pe->put, 1, 10000), 0);
	assert_int_equal(fi_read(pe->ep, &seen, sizeof(seen), NULL, pe->self, 0, KEY, NULL), 0);
	assert_int_equal(fi_cntr_wait(pe->get, 1, 10000), 0);
	assert_int_equal(seen, 7);
	assert_int_equal(fi_compare_atomic(pe->ep, &lock, 1, NULL, &expected, NULL, &old, NULL, pe->self,
					   0, KEY, FI_UINT64, FI_CSWAP, NULL), 0);
	assert_int_equal(fi_cntr_wait(pe->get, 2, 10000), 0);
	assert_int_equal(old, 7);
	assert_int_equal(pe->heap[0], 9);
	assert_int_equal(fi_cntr_wait(pe->target, 2, 10000), 0);
}

static void test_one_endpoint(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 5) };
	struct fi_info *info;
	struct pe pe;
	size_t i;

	for (i = 0; i < sizeof(providers) / sizeof(*providers); i++) {
		q.hints = hints(SCALABLE, FI_PROGRESS_AUTO);
		q.hints->fabric_attr->prov_name = strdup(providers[i]);
		if (fi_getinfo(q.version, NULL, NULL, 0, q.hints, &info)) {
			print_message("no %s here\n", providers[i]);
			fi_freeinfo(q.hints);
			continue;
		}
		pe_open_target(&pe, info);
		pe_open_initiator(&pe);
		pe_talk(&pe);
		pe_close(&pe);
		fi_freeinfo(info);
		fi_freeinfo(q.hints);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalable),
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_manual_progress),
		cmocka_unit_test(test_what_there_is),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_one_endpoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
