/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * datagrams - a udp endpoint for a peer that is not: datagrams.py, which has sockets.
 *
 *   datagrams PEER_PORT [GROUP]
 *
 * Prints the port of its endpoint, on 127.0.0.1; returns each message to the peer as it came; what
 * follows "group " goes to the multicast group instead, which the endpoint is a member of, on the
 * peer's port; "end" ends.  Written for the headers of 1.17, so that it runs on that library, too.
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#define TIMEOUT_S 30

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_eq *eq;
static struct fid_ep *ep;
static struct fid_mc *group;
static struct fi_context ctx[2];
static char buf[2048];

static void must(const char *what, long ret)
{
	if (!ret)
		return;
	printf("failed: %s: %ld (%s)\n", what, ret, fi_strerror((int) -ret));
	exit(1);
}

static void open_endpoint(int multicast)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	hints->caps = FI_MSG | (multicast ? FI_MULTICAST : 0);
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->fabric_attr->prov_name = strdup("udp");
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL,
				      FI_SOURCE | FI_NUMERICHOST, hints, &info));
	fi_freeinfo(hints);
	if (info->ep_attr->protocol != FI_PROTO_UDP || info->ep_attr->protocol_version)
		must("FI_PROTO_UDP, version 0", -FI_EOTHER);
	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq_attr, &cq, NULL));
	must("fi_eq_open", fi_eq_open(fabric, &eq_attr, &eq, NULL));
	must("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
	must("fi_ep_bind av", fi_ep_bind(ep, &av->fid, 0));
	must("fi_ep_bind cq", fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	must("fi_ep_bind eq", fi_ep_bind(ep, &eq->fid, 0));
	must("fi_enable", fi_enable(ep));
}

static void join(const char *name, int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
	struct fi_eq_entry entry;
	uint32_t event = 0;

	inet_pton(AF_INET, name, &addr.sin_addr);
	must("fi_join", fi_join(ep, &addr, 0, &group, NULL));
	if (fi_eq_sread(eq, &event, &entry, sizeof(entry), TIMEOUT_S * 1000, 0) != sizeof(entry) ||
	    event != FI_JOIN_COMPLETE)
		must("FI_JOIN_COMPLETE", -FI_EOTHER);
}

/* Wait for a completion with @flag; returns the length of what was received. */
static size_t wait_for(uint64_t flag)
{
	struct fi_cq_msg_entry entry;
	time_t start = time(NULL);
	ssize_t n;

	for (;;) {
		n = fi_cq_read(cq, &entry, 1);
		if (n == 1 && entry.flags & flag)
			return entry.len;
		if (n < 0 && n != -FI_EAGAIN)
			must("fi_cq_read", (long) n);
		if (time(NULL) - start > TIMEOUT_S)
			must("a datagram", -FI_ETIMEDOUT);
	}
}

static void serve(fi_addr_t peer)
{
	size_t len;
	int all;

	for (;;) {
		must("fi_recv", fi_recv(ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, &ctx[0]));
		len = wait_for(FI_RECV);
		if (len == 3 && !memcmp(buf, "end", 3))
			return;
		all = group && len > 6 && !memcmp(buf, "group ", 6);
		must("fi_send", all ?
		     fi_send(ep, buf + 6, len - 6, NULL, fi_mc_addr(group), &ctx[1]) :
		     fi_send(ep, buf, len, NULL, peer, &ctx[1]));
		wait_for(FI_SEND);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in name, to = { .sin_family = AF_INET };
	size_t len = sizeof(name);
	fi_addr_t peer;
	int port;

	if (argc < 2)
		must("usage: datagrams PEER_PORT [GROUP]", -FI_EINVAL);
	port = atoi(argv[1]);
	open_endpoint(argc > 2);
	to.sin_port = htons((uint16_t) port);
	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	if (fi_av_insert(av, &to, 1, &peer, 0, NULL) != 1)
		must("fi_av_insert", -FI_EINVAL);
	if (argc > 2)
		join(argv[2], port);
	must("fi_getname", fi_getname(&ep->fid, &name, &len));
	printf("%d\n", ntohs(name.sin_port));
	fflush(stdout);
	serve(peer);
	if (group)
		must("fi_close mc", fi_close(&group->fid));
	must("fi_close ep", fi_close(&ep->fid));
	must("fi_close cq", fi_close(&cq->fid));
	must("fi_close av", fi_close(&av->fid));
	must("fi_close domain", fi_close(&domain->fid));
	must("fi_close eq", fi_close(&eq->fid));
	must("fi_close fabric", fi_close(&fabric->fid));
	fi_freeinfo(info);
	return 0;
}
