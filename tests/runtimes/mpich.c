/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* MPICH, ch4:ofi: first without hints, then with hints made from the preferred result. */

#include "mpich_hints.h"

#include <string.h>

static void test_first_answer(void **state)
{
	const struct fi_info *best;
	struct fi_info *list;

	best = mpich_first(&list);
	assert_int_equal(best->ep_attr->type, FI_EP_RDM);
	assert_true(best->caps & FI_TAGGED);
	assert_non_null(best->src_addr);
	fi_freeinfo(list);
}

static void test_second_answer(void **state)
{
	static const enum fi_threading level[] = { FI_THREAD_DOMAIN, FI_THREAD_SAFE,
						   FI_THREAD_COMPLETION };
	struct rt_query q = { .version = FI_VERSION(1, 17) };
	const struct fi_info *best;
	struct fi_info *list, *info;

	best = mpich_first(&list);
	for (int i = 0; i < 3; i++) {
		q.hints = mpich_hints(best, level[i]);
		info = rt_all(&q);
		mpich_check(info, q.hints);
		fi_freeinfo(info);
		fi_freeinfo(q.hints);
	}
	fi_freeinfo(list);
}

/* The capability sets of the presets, as far as they are supported. */
static void test_full_set(void **state)
{
	const struct fi_info *best;
	struct fi_info *list;
	struct rt_query q = { .version = FI_VERSION(1, 17) };

	best = mpich_first(&list);
	q.hints = mpich_hints(best, FI_THREAD_DOMAIN);
	q.hints->caps = FI_MSG | FI_MULTI_RECV | FI_TAGGED | FI_DIRECTED_RECV | FI_RMA | FI_READ |
			FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV | FI_ATOMIC;
	fi_freeinfo(list);
	list = rt_all(&q);
	mpich_check(list, q.hints);
	fi_freeinfo(list);
	fi_freeinfo(q.hints);
}

/* A queue for messages and a counter for one-sided operations, on one endpoint. */
static void test_counter_beside_queue(void **state)
{
	struct fi_cntr_attr cntr_attr = { .events = FI_CNTR_EVENTS_COMP,
					  .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct rt_query q = { .version = FI_VERSION(1, 17) };
	struct fi_info *list, *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cntr *cntr;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;

	q.hints = mpich_hints(mpich_first(&list), FI_THREAD_DOMAIN);
	info = rt_all(&q);
	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	assert_int_equal(fi_cntr_open(domain, &cntr_attr, &cntr, NULL), 0);
	assert_int_equal(fi_cq_open(domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_av_open(domain, &av_attr, &av, NULL), 0);
	assert_int_equal(fi_endpoint(domain, info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV | FI_SELECTIVE_COMPLETION), 0);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_READ | FI_WRITE), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_cntr_read(cntr), 0);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&cntr->fid), 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
	fi_freeinfo(list);
	fi_freeinfo(q.hints);
}

static void test_messages(void **state)
{
	static const struct rt_setup setup = {
		.av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED,
		.bind_flags = FI_SEND | FI_RECV | FI_SELECTIVE_COMPLETION,
	};
	struct rt_query q = { .version = FI_VERSION(1, 17) };
	struct fi_info *list;
	struct rt_world w;

	q.hints = mpich_hints(mpich_first(&list), FI_THREAD_DOMAIN);
	rt_open(&w, rt_all(&q), &setup);
	assert_int_equal(w.addr[0], 0);		/* a table counts from 0 */
	assert_int_equal(w.addr[1], 1);
	rt_carry_tagged(&w, 0, 1);
	rt_carry_tagged(&w, 65536, 0x7000007fULL << 20);
	rt_close(&w);
	fi_freeinfo(list);
	fi_freeinfo(q.hints);
}

/* ---- scalable endpoints ----------------------------------------------------------------- */

#define VNIS 2

static const char *const providers[] = { "tcp", "sockets", "shm", "tcp;ofi_rxm", "udp;ofi_rxd" };

struct vni {
	struct fid_ep *tx, *rx;
	struct fid_cq *cq;
	struct fid_cntr *rma;
};

struct mpi {
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_ep *sep;
	struct vni vni[VNIS];
};

/* Each context is opened with the capabilities of the info, whatever its side does of them. */
static void vni_open(struct mpi *m, struct vni *vni, int i, const struct fi_info *info)
{
	struct fi_cntr_attr cntr_attr = { .events = FI_CNTR_EVENTS_COMP };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_tx_attr tx = *info->tx_attr;
	struct fi_rx_attr rx = *info->rx_attr;

	tx.caps = info->caps;
	tx.op_flags = FI_COMPLETION;
	rx.caps = info->caps;
	assert_int_equal(fi_cq_open(m->domain, &cq_attr, &vni->cq, NULL), 0);
	assert_int_equal(fi_cntr_open(m->domain, &cntr_attr, &vni->rma, NULL), 0);
	assert_int_equal(fi_tx_context(m->sep, i, &tx, &vni->tx, NULL), 0);
	assert_int_equal(fi_ep_bind(vni->tx, &vni->cq->fid, FI_SEND | FI_SELECTIVE_COMPLETION), 0);
	assert_int_equal(fi_ep_bind(vni->tx, &vni->rma->fid, FI_WRITE | FI_READ), 0);
	assert_int_equal(fi_rx_context(m->sep, i, &rx, &vni->rx, NULL), 0);
	assert_int_equal(fi_ep_bind(vni->rx, &vni->cq->fid, FI_RECV), 0);
	assert_int_equal(fi_enable(vni->tx), 0);
	assert_int_equal(fi_enable(vni->rx), 0);
}

static void mpi_open(struct mpi *m, const struct fi_info *info)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE, .rx_ctx_bits = 1 };
	char name[] = "FI_NAMED_AV_0\n";
	struct fi_av_attr named = { .type = FI_AV_TABLE, .name = name, .flags = FI_READ,
				    .rx_ctx_bits = 1 };
	char log[256];
	int i;

	assert_int_equal(fi_fabric(info->fabric_attr, &m->fabric, NULL), 0);
	assert_int_equal(fi_domain(m->fabric, (struct fi_info *) info, &m->domain, NULL), 0);
	/* first a shared vector: that there is none is not worth a line of the log */
	rt_hush();
	assert_int_not_equal(fi_av_open(m->domain, &named, &m->av, NULL), 0);
	rt_said(log, sizeof(log));
	assert_string_equal(log, "");
	assert_int_equal(fi_av_open(m->domain, &av_attr, &m->av, NULL), 0);
	assert_int_equal(fi_scalable_ep(m->domain, (struct fi_info *) info, &m->sep, NULL), 0);
	assert_int_equal(fi_scalable_ep_bind(m->sep, &m->av->fid, 0), 0);
	for (i = 0; i < VNIS; i++)
		vni_open(m, &m->vni[i], i, info);
	assert_int_equal(fi_enable(m->sep), 0);
}

static void mpi_close(struct mpi *m)
{
	int i;

	for (i = 0; i < VNIS; i++) {
		assert_int_equal(fi_close(&m->vni[i].tx->fid), 0);
		assert_int_equal(fi_close(&m->vni[i].rx->fid), 0);
		assert_int_equal(fi_close(&m->vni[i].cq->fid), 0);
		assert_int_equal(fi_close(&m->vni[i].rma->fid), 0);
	}
	assert_int_equal(fi_close(&m->sep->fid), 0);
	assert_int_equal(fi_close(&m->av->fid), 0);
	assert_int_equal(fi_close(&m->domain->fid), 0);
	assert_int_equal(fi_close(&m->fabric->fid), 0);
}

static void await(struct mpi *m, int i, void *context)
{
	struct fi_cq_tagged_entry e;
	ssize_t ret = -FI_EAGAIN;
	int left;

	for (left = 100000000; ret == -FI_EAGAIN && left--;) {
		ret = fi_cq_read(m->vni[i].cq, &e, 1);
		fi_cq_read(m->vni[!i].cq, NULL, 0);
	}
	assert_int_equal(ret, 1);
	assert_ptr_equal(e.op_context, context);
}

/* Each communicator's messages go to the receive context of its number. */
static void mpi_talk(struct mpi *m)
{
	char name[256], out[VNIS][64], in[VNIS][64];
	struct fi_context2 send[VNIS], recv[VNIS];
	size_t len = sizeof(name);
	fi_addr_t self;
	ssize_t ret;
	int i;

	assert_int_equal(fi_getname(&m->sep->fid, name, &len), 0);
	assert_int_equal(fi_av_insert(m->av, name, 1, &self, 0, NULL), 1);
	for (i = 0; i < VNIS; i++) {
		memset(out[i], 'a' + i, sizeof(out[i]));
		assert_int_equal(fi_trecv(m->vni[i].rx, in[i], sizeof(in[i]), NULL, FI_ADDR_UNSPEC, 5, 0,
					  &recv[i]), 0);
	}
	for (i = VNIS - 1; i >= 0; i--) {
		struct fi_msg_tagged msg = {
			.msg_iov = &(struct iovec) { out[i], sizeof(out[i]) }, .iov_count = 1,
			.addr = fi_rx_addr(self, i, 1), .tag = 5, .context = &send[i],
		};

		while ((ret = fi_tsendmsg(m->vni[i].tx, &msg, 0)) == -FI_EAGAIN)
			fi_cq_read(m->vni[i].cq, NULL, 0);
		assert_int_equal(ret, 0);
		await(m, i, &recv[i]);
		assert_memory_equal(in[i], out[i], sizeof(in[i]));
	}
}

static void test_scalable_endpoints(void **state)
{
	struct fi_info *hints, *info;
	struct mpi m;
	size_t i;

	for (i = 0; i < sizeof(providers) / sizeof(*providers); i++) {
		hints = rt_hints();
		hints->mode = FI_CONTEXT | FI_CONTEXT2;
		hints->caps = FI_MSG | FI_MULTI_RECV | FI_TAGGED | FI_DIRECTED_RECV | FI_RMA | FI_ATOMIC |
			      FI_NAMED_RX_CTX;
		hints->ep_attr->type = FI_EP_RDM;
		hints->ep_attr->tx_ctx_cnt = hints->ep_attr->rx_ctx_cnt = VNIS;
		hints->domain_attr->av_type = FI_AV_TABLE;
		hints->fabric_attr->prov_name = strdup(providers[i]);
		if (fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info)) {
			print_message("no %s here\n", providers[i]);
		} else {
			assert_true(info->caps & FI_NAMED_RX_CTX);
			mpi_open(&m, info);
			mpi_talk(&m);
			mpi_close(&m);
			fi_freeinfo(info);
		}
		fi_freeinfo(hints);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_answer),
		cmocka_unit_test(test_second_answer),
		cmocka_unit_test(test_full_set),
		cmocka_unit_test(test_counter_beside_queue),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_scalable_endpoints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
