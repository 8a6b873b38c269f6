/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "example.h"

#define RANKS 6
#define ROUNDS 20

/* [page */
#define POOL 16			/* receives, however many the peers are */
#define WINDOW 8		/* sends in flight at once */

struct rank {
	int me, cnt;		/* of all processes */
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fi_context2 rx_ctx[POOL], tx_ctx[WINDOW], *idle[WINDOW];
	uint64_t in[POOL], sum;
	int received, idle_cnt;
};

/* Any source will do: who sends is in the message, or in its tag or remote data. */
static void post(struct rank *r, struct fi_context2 *ctx)
{
	MUST(fi_recv(r->ep, &r->in[ctx - r->rx_ctx], sizeof(r->in[0]), NULL, FI_ADDR_UNSPEC, ctx));
}

static void finished(struct rank *r, struct fi_context2 *ctx, uint64_t flags)
{
	if (!(flags & FI_RECV)) {
		r->idle[r->idle_cnt++] = ctx;
		return;
	}
	r->sum += r->in[ctx - r->rx_ctx];
	r->received++;
	post(r, ctx);		/* a buffer that has been read goes back at once */
}

/* Sleep until something is finished, and take all of it in one call. */
static void progress(struct rank *r)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_msg_entry entry[POOL];
	ssize_t n = fi_cq_sread(r->cq, entry, POOL, NULL, 10);

	if (n == -FI_EAVAIL && fi_cq_readerr(r->cq, &err, 0) == 1)
		n = -err.err;	/* a peer that is gone, for example */
	if (n == -FI_EAGAIN)
		return;
	MUST(n);
	while (n--)
		finished(r, entry[n].op_context, entry[n].flags);
}

/* To each of the others, the next one first, so that not all begin with rank 0.
 * The names were inserted in the order of ranks: a rank is an address.
 */
static void send_round(struct rank *r, const uint64_t *value)
{
	ssize_t ret;
	int i;

	for (i = 1; i < r->cnt; i++) {
		fi_addr_t to = (fi_addr_t) ((r->me + i) % r->cnt);

		while (!r->idle_cnt)
			progress(r);
		while ((ret = fi_send(r->ep, value, sizeof(*value), NULL, to,
				      r->idle[r->idle_cnt - 1])) == -FI_EAGAIN)
			progress(r);
		MUST(ret);
		r->idle_cnt--;
	}
}

static void all_to_all(struct rank *r, const uint64_t *value, int rounds)
{
	int i;

	for (i = 0; i < WINDOW; i++)
		r->idle[r->idle_cnt++] = &r->tx_ctx[i];
	for (i = 0; i < POOL; i++)
		post(r, &r->rx_ctx[i]);
	for (i = 0; i < rounds; i++)
		send_round(r, value);
	while (r->idle_cnt < WINDOW || r->received < rounds * (r->cnt - 1))
		progress(r);
}
/* page] */

/* How the processes of the example meet; elsewhere a launcher does this. */
struct launcher {
	pthread_barrier_t met;
	char names[RANKS * FI_NAME_MAX];	/* one behind the other */
};

static void join_ranks(struct launcher *l, struct rank *r, struct fid_av *av)
{
	char name[FI_NAME_MAX];
	size_t len = sizeof(name);

	MUST(fi_getname(&r->ep->fid, name, &len));
	memcpy(l->names + (size_t) r->me * len, name, len);
	pthread_barrier_wait(&l->met);
	MUST(fi_av_insert(av, l->names, RANKS, NULL, 0, NULL));
}

/* The whole life of one process; 0 when it got from each what it should have. */
static int run(struct launcher *l, int me)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE, .count = RANKS };
	struct fi_info *info = example_getinfo("tcp", FI_EP_RDM, FI_MSG);
	struct rank r = { .me = me, .cnt = RANKS };
	const uint64_t value = (uint64_t) me + 1;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;

	alarm(600);		/* if one of the others is lost */
	MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
	MUST(fi_domain(fabric, info, &domain, NULL));
	MUST(fi_cq_open(domain, &cq_attr, &r.cq, NULL));
	MUST(fi_av_open(domain, &av_attr, &av, NULL));
	MUST(fi_endpoint(domain, info, &r.ep, NULL));
	MUST(fi_ep_bind(r.ep, &av->fid, 0));
	MUST(fi_ep_bind(r.ep, &r.cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(r.ep));
	join_ranks(l, &r, av);
	all_to_all(&r, &value, ROUNDS);
	pthread_barrier_wait(&l->met);
	MUST(fi_close(&r.ep->fid));
	MUST(fi_close(&av->fid));
	MUST(fi_close(&r.cq->fid));
	MUST(fi_close(&domain->fid));
	MUST(fi_close(&fabric->fid));
	fi_freeinfo(info);
	return r.sum != ROUNDS * (RANKS * (RANKS + 1) / 2 - value);
}

int main(void)
{
	struct launcher *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t attr;
	int me, status, wrong = 0;

	if (l == MAP_FAILED)
		return 1;
	fi_freeinfo(example_getinfo("tcp", FI_EP_RDM, FI_MSG));		/* skips without */
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&l->met, &attr, RANKS);
	for (me = 0; me < RANKS; me++)
		if (!fork())
			exit(run(l, me));
	while (wait(&status) > 0)
		wrong += status != 0;
	return wrong != 0;
}
