/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * example.h - what the programs in the manual pages have in common.
 *
 * Each of them runs by itself, over a loopback address of one process, and
 * exits with 0 when everything went as the page says, or with 77 when no
 * provider of this build has what it needs.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stop with a message unless @call succeeds. */
#define MUST(call) example_must((call), #call, __FILE__, __LINE__)

static inline ssize_t example_must(ssize_t ret, const char *call, const char *file, int line)
{
	if (ret < 0) {
		fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, fi_strerror((int) -ret));
		exit(1);
	}
	return ret;
}

/* Every program that needs any endpoint at all begins with this. */
static inline void example_need_provider(void)
{
	struct fi_info *info;

	if (fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, NULL, &info)) {
		printf("skipped: no provider in this build\n");
		exit(77);
	}
	fi_freeinfo(info);
}

/* Ask for endpoints of @prov and @type at the loopback address. */
static inline struct fi_info *example_getinfo(const char *prov, enum fi_ep_type type,
					      uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	int ret;

	hints->fabric_attr->prov_name = strdup(prov);
	hints->ep_attr->type = type;
	hints->caps = caps;
	hints->mode = FI_CONTEXT;
	ret = fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", NULL, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	if (ret == -FI_ENODATA) {
		printf("skipped: provider %s does not offer what is shown here\n", prov);
		exit(77);
	}
	MUST(ret);
	return info;
}

/* Take the next completion, which has to be a success; it may take a while on a busy machine. */
static inline void example_wait(struct fid_cq *cq, struct fi_cq_tagged_entry *entry)
{
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	do {
		ret = fi_cq_sread(cq, entry, 1, NULL, 30000);
	} while (ret == -FI_EINTR);
	if (ret == -FI_EAVAIL && fi_cq_readerr(cq, &err, 0) == 1)
		ret = -err.err;
	MUST(ret);
}

/* Everything that one reliable, connectionless endpoint needs. */
struct example {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t self;			/* its own address, in its own vector */
};

/* Open an endpoint of @prov and @type that can talk to itself.
 * @eq_p: [out] an event queue that is bound to it, made as @eq_attr says; or NULL
 */
static inline void example_open_with(struct example *e, const char *prov, enum fi_ep_type type,
				     uint64_t caps, struct fi_eq_attr *eq_attr,
				     struct fid_eq **eq_p)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	char name[FI_NAME_MAX];
	size_t len = sizeof(name);

	memset(e, 0, sizeof(*e));
	e->info = example_getinfo(prov, type, caps);
	MUST(fi_fabric(e->info->fabric_attr, &e->fabric, NULL));
	MUST(fi_domain(e->fabric, e->info, &e->domain, NULL));
	MUST(fi_av_open(e->domain, &av_attr, &e->av, NULL));
	MUST(fi_cq_open(e->domain, &cq_attr, &e->cq, NULL));
	MUST(fi_endpoint(e->domain, e->info, &e->ep, NULL));
	MUST(fi_ep_bind(e->ep, &e->av->fid, 0));
	MUST(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV));
	if (eq_p) {
		MUST(fi_eq_open(e->fabric, eq_attr, eq_p, NULL));
		MUST(fi_ep_bind(e->ep, &(*eq_p)->fid, 0));
	}
	MUST(fi_enable(e->ep));
	MUST(fi_getname(&e->ep->fid, name, &len));
	MUST(fi_av_insert(e->av, name, 1, &e->self, 0, NULL));
}

static inline void example_open(struct example *e, const char *prov, enum fi_ep_type type,
				uint64_t caps)
{
	example_open_with(e, prov, type, caps, NULL, NULL);
}

/* Close all of it; the endpoint only if the program has not done so. */
static inline void example_close(struct example *e)
{
	if (e->ep)
		MUST(fi_close(&e->ep->fid));
	MUST(fi_close(&e->cq->fid));
	MUST(fi_close(&e->av->fid));
	MUST(fi_close(&e->domain->fid));
	MUST(fi_close(&e->fabric->fid));
	fi_freeinfo(e->info);
}

#endif
