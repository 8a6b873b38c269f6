/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <sys/wait.h>
#include <unistd.h>

#include "example.h"

/* [page */
/* The vector NAME of this host: the one that creates it fills it, the others open it
 * to read, and a peer has the same number in all of them.
 */
static struct fid_av *shared_av(struct fid_domain *domain, char *name, int create)
{
	struct fi_av_attr attr = {
		.type = FI_AV_TABLE,
		.name = name,
		.flags = create ? 0 : FI_READ,
	};
	struct fid_av *av;

	MUST(fi_av_open(domain, &attr, &av, NULL));
	return av;
}

static struct fid_ep *open_endpoint(struct fid_domain *domain, struct fi_info *info,
				    struct fid_av *av, struct fid_cq *cq)
{
	struct fid_ep *ep;

	MUST(fi_endpoint(domain, info, &ep, NULL));
	MUST(fi_ep_bind(ep, &av->fid, 0));
	MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(ep));
	return ep;
}

/* Inserts itself, tells the others by @go that the vector is full, and hears from one. */
static void first_process(struct fid_domain *domain, struct fi_info *info, struct fid_cq *cq,
			  char *av_name, int go)
{
	struct fid_av *av = shared_av(domain, av_name, 1);
	struct fid_ep *ep = open_endpoint(domain, info, av, cq);
	struct fi_cq_tagged_entry entry;
	char name[FI_NAME_MAX], text[16];
	size_t len = sizeof(name);
	struct fi_context2 ctx;
	fi_addr_t self;

	MUST(fi_getname(&ep->fid, name, &len));
	MUST(fi_av_insert(av, name, 1, &self, 0, NULL));	/* 0, the first of the table */
	MUST(fi_recv(ep, text, sizeof(text), NULL, FI_ADDR_UNSPEC, &ctx));
	if (write(go, "", 1) != 1)
		exit(1);
	example_wait(cq, &entry);
	printf("%s\n", text);
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&av->fid));
}

/* Needs no address: entry 0 has been inserted already. */
static void other_process(struct fid_domain *domain, struct fi_info *info, struct fid_cq *cq,
			  char *av_name)
{
	struct fid_av *av = shared_av(domain, av_name, 0);
	struct fid_ep *ep = open_endpoint(domain, info, av, cq);
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx;

	MUST(fi_send(ep, "hello, first", 13, NULL, 0, &ctx));
	example_wait(cq, &entry);
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&av->fid));
}
/* page] */

int main(void)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	char av_name[64], byte;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	int go[2], status = 0;
	pid_t child;

	/* A child opens all of its own, so it is made before anything is open. */
	snprintf(av_name, sizeof(av_name), "guide_av-%ld", (long) getpid());
	if (pipe(go))
		return 1;
	child = fork();
	if (child < 0)
		return 1;
	if (!child) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			return 0;		/* the first process has given up */
	}
	info = example_getinfo("tcp", FI_EP_RDM, FI_MSG);
	MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
	MUST(fi_domain(fabric, info, &domain, NULL));
	MUST(fi_cq_open(domain, &attr, &cq, NULL));
	if (child) {
		first_process(domain, info, cq, av_name, go[1]);
		if (waitpid(child, &status, 0) != child)
			return 1;
	} else {
		other_process(domain, info, cq, av_name);
	}
	MUST(fi_close(&cq->fid));
	MUST(fi_close(&domain->fid));
	MUST(fi_close(&fabric->fid));
	fi_freeinfo(info);
	return status != 0;
}
