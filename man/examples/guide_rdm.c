/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* A ping-pong between two processes over reliable unconnected endpoints, whole. */
/* [page */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 1000
#define MUST(call) must((call), #call)

static long must(long ret, const char *call)
{
	if (ret >= 0)
		return ret;
	fprintf(stderr, "%s: %s\n", call, fi_strerror((int) -ret));
	exit(ret == -FI_ENODATA ? 77 : 1);	/* 77: not offered on this machine */
}

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t peer;
};

/* Say what is needed, and take the first answer: the best one comes first. */
static struct fi_info *ask(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	int ret;

	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_TAGGED | FI_DIRECTED_RECV;	/* a receive may name its source */
	hints->mode = FI_CONTEXT | FI_CONTEXT2;	/* what this program can live with */
	hints->fabric_attr->prov_name = strdup("tcp");
	ret = fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", NULL, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	MUST(ret);
	return info;
}

static void side_open(struct side *s)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };

	s->info = ask();
	MUST(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	MUST(fi_domain(s->fabric, s->info, &s->domain, NULL));
	MUST(fi_av_open(s->domain, &av_attr, &s->av, NULL));
	MUST(fi_cq_open(s->domain, &cq_attr, &s->cq, NULL));
	MUST(fi_endpoint(s->domain, s->info, &s->ep, NULL));
	MUST(fi_ep_bind(s->ep, &s->av->fid, 0));
	MUST(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(s->ep));
}

/* The two names travel by other means: here a pair of pipes, elsewhere a launcher,
 * a file, or a socket.
 */
static void swap_names(struct side *s, int in, int out)
{
	char mine[FI_NAME_MAX] = { 0 }, theirs[FI_NAME_MAX];
	size_t len = sizeof(mine);

	MUST(fi_getname(&s->ep->fid, mine, &len));
	if (write(out, mine, sizeof(mine)) != sizeof(mine) ||
	    read(in, theirs, sizeof(theirs)) != sizeof(theirs))
		must(-FI_EIO, "swap of names");
	if (MUST(fi_av_insert(s->av, theirs, 1, &s->peer, 0, NULL)) != 1)
		must(-FI_EINVAL, "fi_av_insert");
}

/* Reading the queue also moves transfers along. */
static void wait_for(struct side *s, void *context)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	do {
		ret = fi_cq_read(s->cq, &entry, 1);
		if (ret == -FI_EAVAIL && fi_cq_readerr(s->cq, &err, 0) == 1)
			must(-err.err, "transfer");
	} while (ret == -FI_EAGAIN || (ret == 1 && entry.op_context != context));
	MUST(ret);
}

static void ping_pong(struct side *s, int first)
{
	struct fi_context2 ctx;		/* the provider's until the receive is complete */
	char out[64] = "ping", in[64];
	ssize_t ret;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		MUST(fi_trecv(s->ep, in, sizeof(in), NULL, s->peer, 7, 0, &ctx));
		if (!first)
			wait_for(s, &ctx);
		/* no completion: the buffer is free at once */
		while ((ret = fi_tinject(s->ep, out, sizeof(out), s->peer, 7)) == -FI_EAGAIN)
			fi_cq_read(s->cq, NULL, 0);
		MUST(ret);
		if (first)
			wait_for(s, &ctx);
	}
}

/* The other way round: what is used by something is closed after it. */
static void side_close(struct side *s)
{
	MUST(fi_close(&s->ep->fid));
	MUST(fi_close(&s->cq->fid));
	MUST(fi_close(&s->av->fid));
	MUST(fi_close(&s->domain->fid));
	MUST(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}

int main(void)
{
	int there[2], back[2], child, status = 0;
	struct side s = { 0 };

	if (pipe(there) || pipe(back))
		return 1;
	child = fork();		/* before anything is opened */
	side_open(&s);
	swap_names(&s, child ? back[0] : there[0], child ? there[1] : back[1]);
	ping_pong(&s, child != 0);
	side_close(&s);
	if (child)
		waitpid(child, &status, 0);
	return status != 0;
}
/* page] */
