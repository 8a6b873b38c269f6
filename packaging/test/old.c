/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * old.c - a program of the distribution's headers: it prints the interface that it was compiled for and
 * that of the library that it runs on, and sends itself a message through an endpoint.
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) do { \
	int ret_ = (int) (call); \
	if (ret_) { \
		fprintf(stderr, "%s: %s\n", #call, fi_strerror(-ret_)); \
		exit(1); \
	} \
} while (0)

/* A library that connects first says -FI_EAGAIN until it has, and moves in reads of the queue. */
static void say(struct fid_ep *ep, struct fid_cq *cq, const void *buf, size_t len, fi_addr_t to)
{
	ssize_t ret;

	while ((ret = fi_send(ep, buf, len, NULL, to, NULL)) == -FI_EAGAIN)
		(void) fi_cq_read(cq, NULL, 0);
	TRY(ret);
}

static void reap(struct fid_cq *cq)
{
	struct fi_cq_entry entry;
	ssize_t ret;

	do {
		ret = fi_cq_read(cq, &entry, 1);
	} while (ret == -FI_EAGAIN);
	if (ret != 1) {
		fprintf(stderr, "fi_cq_read: %s\n", fi_strerror((int) -ret));
		exit(1);
	}
}

int main(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av_attr = { .type = FI_AV_MAP };
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	char name[256], out[16] = "a message", in[16] = "";
	size_t len = sizeof(name);
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	fi_addr_t self;

	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup("tcp");
	hints->addr_format = FI_SOCKADDR_IN;
	TRY(fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), "127.0.0.1", NULL, FI_SOURCE, hints, &info));
	TRY(fi_fabric(info->fabric_attr, &fabric, NULL));
	TRY(fi_domain(fabric, info, &domain, NULL));
	TRY(fi_endpoint(domain, info, &ep, NULL));
	TRY(fi_cq_open(domain, &cq_attr, &cq, NULL));
	TRY(fi_av_open(domain, &av_attr, &av, NULL));
	TRY(fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV));
	TRY(fi_ep_bind(ep, &av->fid, 0));
	TRY(fi_enable(ep));
	TRY(fi_getname(&ep->fid, name, &len));
	if (fi_av_insert(av, name, 1, &self, 0, NULL) != 1)
		return 1;
	TRY(fi_recv(ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	say(ep, cq, out, sizeof(out), self);
	reap(cq);
	reap(cq);
	if (strcmp(in, out))
		return 1;
	printf("interface %d.%d, library %u.%u\n", FI_MAJOR_VERSION, FI_MINOR_VERSION,
	       FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
	TRY(fi_close(&ep->fid));
	TRY(fi_close(&av->fid));
	TRY(fi_close(&cq->fid));
	TRY(fi_close(&domain->fid));
	TRY(fi_close(&fabric->fid));
	fi_freeinfo(info);
	fi_freeinfo(hints);
	return 0;
}
