/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_profile(3) of an endpoint and of its peer, after messages of which some have no receive. */
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_profile.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x) do { if (!(x)) { printf("not ok - %s:%d: %s\n", __FILE__, __LINE__, #x); exit(1); } } while (0)

static struct fid_domain *domain;

struct end {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	fi_addr_t peer;
};

static void open_domain(struct fi_info **info_p)
{
	struct fi_info *hints = fi_allocinfo();
	struct fid_fabric *fabric;

	hints->fabric_attr->prov_name = strdup("tcp");
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_TAGGED;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	CHECK(!fi_getinfo(FI_VERSION(1, 20), "127.0.0.1", NULL, FI_SOURCE, hints, info_p));
	fi_freeinfo(hints);
	CHECK(!fi_fabric((*info_p)->fabric_attr, &fabric, NULL));
	CHECK(!fi_domain(fabric, *info_p, &domain, NULL));
}

static void open_end(struct fi_info *info, struct end *end)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fid_profile *profile;

	CHECK(!fi_endpoint(domain, info, &end->ep, NULL));
	CHECK(!fi_cq_open(domain, &cq_attr, &end->cq, NULL));
	CHECK(!fi_av_open(domain, &av_attr, &end->av, NULL));
	CHECK(!fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV));
	CHECK(!fi_ep_bind(end->ep, &end->av->fid, 0));
	CHECK(fi_profile_open(&end->ep->fid, 0, &profile, NULL) == -FI_EOPBADSTATE);
	CHECK(!fi_enable(end->ep));
}

static void introduce(struct end *one, struct end *two)
{
	_Alignas(16) char name[256];
	size_t len = sizeof(name);

	CHECK(!fi_getname(&two->ep->fid, name, &len));
	CHECK(fi_av_insert(one->av, name, 1, &one->peer, 0, NULL) == 1);
}

static struct fid_profile *profile_of(struct end *end, uint64_t flags)
{
	struct fid_profile *profile;

	CHECK(!fi_profile_open(&end->ep->fid, flags, &profile, &end->peer));
	return profile;
}

/* value_of - by its name; UINT64_MAX: there is none. */
static uint64_t value_of(struct fid_profile *profile, const char *name)
{
	struct fi_profile_desc desc[32];
	uint64_t value = UINT64_MAX;
	size_t cnt = 32, i;

	CHECK(!fi_profile_query_vars(profile, desc, &cnt) && cnt <= 32);
	for (i = 0; i < cnt; i++)
		if (!strcmp(desc[i].name, name))
			CHECK(!fi_profile_read_u64(profile, desc[i].id, &value) && desc[i].size == 8 && *desc[i].desc);
	return value;
}

static void poll_both(struct end *one, struct end *two)
{
	struct fi_cq_tagged_entry entry;

	fi_cq_read(one->cq, &entry, 1);
	fi_cq_read(two->cq, &entry, 1);
}

int main(void)
{
	static char buf[64];
	struct fid_profile *ep, *peer, *sender;
	struct end one = { 0 }, two = { 0 };
	struct fi_info *info;
	uint64_t value;
	int i;

	open_domain(&info);
	open_end(info, &one);
	open_end(info, &two);
	introduce(&one, &two);
	introduce(&two, &one);
	ep = profile_of(&two, 0);
	peer = profile_of(&two, FI_PROFILE_PEER);
	sender = profile_of(&one, FI_PROFILE_PEER);
	CHECK(value_of(ep, "unexp_msg_cnt") == 0 && value_of(ep, "connection_cnt") == 0);
	fi_profile_start_reads(peer, 0);
	for (i = 0; i < 3; i++)
		while (fi_tsend(one.ep, buf, sizeof(buf), NULL, one.peer, 7, NULL))
			poll_both(&one, &two);
	while (value_of(ep, "unexp_msg_cnt") < 3)
		poll_both(&one, &two);
	CHECK(value_of(peer, "unexp_msg_cnt") == 0);	/* of the moment before */
	fi_profile_end_reads(peer, 0);
	CHECK(value_of(peer, "unexp_msg_cnt") == 3 && value_of(peer, "unexp_bytes") <= 3 * sizeof(buf));
	CHECK(value_of(ep, "connection_cnt") == 1 && value_of(ep, "msg_queue_cnt") == 0);
	CHECK(value_of(peer, "connection_cnt") == UINT64_MAX && value_of(peer, "msg_queue_cnt") == UINT64_MAX);
	CHECK(value_of(sender, "sent_packets") >= 3 || value_of(sender, "sent_bytes") >= 3 * sizeof(buf));
	CHECK(!fi_trecv(two.ep, buf, sizeof(buf), NULL, two.peer, 7, 0, NULL));
	CHECK(!fi_trecv(two.ep, buf, sizeof(buf), NULL, two.peer, 8, 0, NULL));
	CHECK(value_of(ep, "unexp_msg_cnt") == 2 && value_of(ep, "msg_queue_cnt") == 1);
	CHECK(fi_profile_read_u64(ep, 12345, &value) == -FI_EINVAL);
	CHECK(!fi_profile_close(sender) && !fi_profile_close(peer) && !fi_profile_close(ep));
	printf("ok 1 - values of an endpoint and of a peer\n1..1\n");
	return 0;
}
