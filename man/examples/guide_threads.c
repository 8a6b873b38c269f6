/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <pthread.h>

#include "example.h"

#define THREADS 4
#define MESSAGES 200

/* [page */
/* One endpoint and one queue a thread, in a domain of their own: with
 * FI_THREAD_DOMAIN nothing is locked, because no two threads ever meet.
 */
struct lane {
	struct fi_info *info;
	struct fid_fabric *fabric;
	fi_addr_t to;
	char name[FI_NAME_MAX];
	char peer[FI_NAME_MAX];
	pthread_barrier_t *met;
	uint64_t sum;
};

static void *run(void *arg)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_cq_entry entry;
	struct fi_context2 ctx;
	struct lane *lane = arg;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	size_t len = sizeof(lane->name);
	uint64_t in, i;

	MUST(fi_domain(lane->fabric, lane->info, &domain, NULL));
	MUST(fi_cq_open(domain, &cq_attr, &cq, NULL));
	MUST(fi_av_open(domain, &av_attr, &av, NULL));
	MUST(fi_endpoint(domain, lane->info, &ep, NULL));
	MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_ep_bind(ep, &av->fid, 0));
	MUST(fi_enable(ep));
	MUST(fi_getname(&ep->fid, lane->name, &len));
	pthread_barrier_wait(lane->met);	/* all names are there... */
	pthread_barrier_wait(lane->met);	/* ...and dealt out */
	MUST(fi_av_insert(av, lane->peer, 1, &lane->to, 0, NULL));

	for (i = 0; i < MESSAGES; i++) {
		MUST(fi_recv(ep, &in, sizeof(in), NULL, FI_ADDR_UNSPEC, &ctx));
		while (fi_inject(ep, &i, sizeof(i), lane->to) == -FI_EAGAIN)
			fi_cq_read(cq, NULL, 0);
		while (fi_cq_read(cq, &entry, 1) == -FI_EAGAIN)
			;
		lane->sum += in;
	}
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&av->fid));
	MUST(fi_close(&cq->fid));
	MUST(fi_close(&domain->fid));
	return NULL;
}
/* page] */

int main(void)
{
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct lane lane[THREADS] = { 0 };
	pthread_t thread[THREADS];
	pthread_barrier_t met;
	int i, wrong = 0;

	example_need_provider();
	info = example_getinfo("tcp", FI_EP_RDM, FI_MSG);
	info->domain_attr->threading = FI_THREAD_DOMAIN;
	info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
	pthread_barrier_init(&met, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++) {
		lane[i].info = info;
		lane[i].fabric = fabric;
		lane[i].met = &met;
		if (pthread_create(&thread[i], NULL, run, &lane[i]))
			return 1;
	}
	pthread_barrier_wait(&met);
	for (i = 0; i < THREADS; i++)		/* in a ring */
		memcpy(lane[i].peer, lane[(i + 1) % THREADS].name, FI_NAME_MAX);
	pthread_barrier_wait(&met);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		wrong += lane[i].sum != MESSAGES * (MESSAGES - 1) / 2;
	}
	pthread_barrier_destroy(&met);
	MUST(fi_close(&fabric->fid));
	fi_freeinfo(info);
	return wrong;
}
