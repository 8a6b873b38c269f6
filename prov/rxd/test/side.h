/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * side.h - an endpoint over udp;ofi_rxd on loopback, by the public API; for tests.
 */
#ifndef RXD_SIDE_H
#define RXD_SIDE_H

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int side_stderr = 2;	/* where failures are told */

#define CHECK(cond)								\
	do {									\
		if (!(cond)) {							\
			dprintf(side_stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);						\
		}								\
	} while (0)

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
};

static inline void side_open(struct side *s, const char *port)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_info *hints = fi_allocinfo();
	int ret;

	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup("udp;ofi_rxd");
	ret = fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", port, FI_SOURCE, hints, &s->info);
	fi_freeinfo(hints);
	if (ret == -FI_ENODATA)
		exit(77);
	CHECK(!ret);
	CHECK(!fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	CHECK(!fi_domain(s->fabric, s->info, &s->domain, NULL));
	CHECK(!fi_cq_open(s->domain, &cq_attr, &s->cq, NULL));
	CHECK(!fi_av_open(s->domain, &av_attr, &s->av, NULL));
	CHECK(!fi_endpoint(s->domain, s->info, &s->ep, NULL));
	CHECK(!fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	CHECK(!fi_ep_bind(s->ep, &s->av->fid, 0));
	CHECK(!fi_enable(s->ep));
}

static inline void side_close(struct side *s)
{
	CHECK(!fi_close(&s->ep->fid));
	CHECK(!fi_close(&s->av->fid));
	CHECK(!fi_close(&s->cq->fid));
	CHECK(!fi_close(&s->domain->fid));
	CHECK(!fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}

#endif
