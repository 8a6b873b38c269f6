/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ring - processes that wait for each other in a ring, to be looked at.
 *
 *   ring PROVIDER PROCESSES [threads]
 *
 * Rank N receives tag 0x100 + N from rank N + 1, which never sends it; and has sent to rank N + 1 a message
 * of tag 0x200 + N, which nothing receives.  "threads": endpoints with a lock, and processes that
 * sleep outside of the library; else without one, and they poll.  The first process writes the pids in a
 * line when all wait, and ends, with all others, when its input ends.
 */
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define RANKS_MAX 16
#define NAME_MAX_LEN 256

#define CHECK(x) do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); exit(1); } } while (0)

/* What the processes share. */
static struct {
	char name[RANKS_MAX][NAME_MAX_LEN];
	size_t len[RANKS_MAX];
	_Atomic int named, waiting;
} *shared;

static struct fi_info *find(const char *provider, bool threads)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	CHECK(hints);
	hints->fabric_attr->prov_name = strdup(provider);
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_TAGGED | FI_DIRECTED_RECV;
	hints->domain_attr->threading = threads ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	CHECK(!fi_getinfo(FI_VERSION(1, 20), strcmp(provider, "shm") ? "127.0.0.1" : NULL, NULL,
			  strcmp(provider, "shm") ? FI_SOURCE : 0, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static struct fid_cq *cq;

static struct fid_ep *open_ep(struct fi_info *info, struct fid_av **av)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;

	CHECK(!fi_fabric(info->fabric_attr, &fabric, NULL));
	CHECK(!fi_domain(fabric, info, &domain, NULL));
	CHECK(!fi_endpoint(domain, info, &ep, NULL));
	CHECK(!fi_cq_open(domain, &cq_attr, &cq, NULL));
	CHECK(!fi_av_open(domain, &av_attr, av, NULL));
	CHECK(!fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	CHECK(!fi_ep_bind(ep, &(*av)->fid, 0));
	CHECK(!fi_enable(ep));
	return ep;
}

static void progress(void)
{
	struct fi_cq_tagged_entry entry;

	fi_cq_read(cq, &entry, 1);
}

static void be_rank(const char *provider, int rank, int cnt, bool threads)
{
	struct fid_av *av;
	struct fid_ep *ep = open_ep(find(provider, threads), &av);
	static char in[64], out[] = "message";
	int next = (rank + 1) % cnt, i;
	fi_addr_t to;

	shared->len[rank] = NAME_MAX_LEN;
	CHECK(!fi_getname(&ep->fid, shared->name[rank], &shared->len[rank]));
	shared->named++;
	while (shared->named < cnt)
		usleep(1000);
	CHECK(fi_av_insert(av, shared->name[next], 1, &to, 0, NULL) == 1);
	CHECK(!fi_trecv(ep, in, sizeof(in), NULL, to, (uint64_t) (0x100 + rank), 0, NULL));
	while (fi_tsend(ep, out, sizeof(out), NULL, to, (uint64_t) (0x200 + rank), NULL))
		progress();
	for (i = 0; i < 500; i++) {	/* until the messages have come */
		progress();
		usleep(1000);
	}
	shared->waiting++;
	for (;;) {
		if (threads)
			pause();
		else
			progress();
	}
}

int main(int argc, char **argv)
{
	int cnt = argc > 2 ? atoi(argv[2]) : 0, i;
	pid_t pid[RANKS_MAX];
	char rank[16];

	CHECK(cnt > 1 && cnt <= RANKS_MAX);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	for (i = 0; i < cnt; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			snprintf(rank, sizeof(rank), "%d", i);
			setenv("PMIX_RANK", rank, 1);
			be_rank(argv[1], i, cnt, argc > 3);
		}
	}
	while (shared->waiting < cnt)
		usleep(10000);
	for (i = 0; i < cnt; i++)
		printf("%d%c", (int) pid[i], i + 1 < cnt ? ' ' : '\n');
	fflush(stdout);
	while (getchar() != EOF)
		;
	for (i = 0; i < cnt; i++)
		kill(pid[i], SIGKILL);
	return 0;
}
