/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wildcard.c - a server that gives a port and no node is reached at every address of its host,
 * over each provider, and can answer; and a client on the same host is told why shared memory
 * is not used at an address that the server is not known by.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/runtimes/rt.h"

#define LIMIT_S 60

/* One side: an endpoint with all that it needs. */
struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	char buf[64], name[64];
	size_t name_len;
};

static struct sockaddr_in other;	/* an address of this host that is not loopback, or 0 */

static void find_other(void)
{
	struct ifaddrs *all, *ifa;

	if (getifaddrs(&all))
		return;
	for (ifa = all; ifa && !other.sin_family; ifa = ifa->ifa_next)
		if (ifa->ifa_addr && ifa->ifa_addr->sa_family == AF_INET &&
		    !(ifa->ifa_flags & IFF_LOOPBACK) && ifa->ifa_flags & IFF_UP)
			memcpy(&other, ifa->ifa_addr, sizeof(other));
	freeifaddrs(all);
}

static bool side_open(struct side *s, const char *prov, const char *node, const char *service,
		      uint64_t flags)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_info *hints = rt_hints();
	int ret;

	memset(s, 0, sizeof(*s));
	hints->ep_attr->type = strcmp(prov, "udp") ? FI_EP_RDM : FI_EP_DGRAM;
	hints->caps = FI_MSG;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->fabric_attr->prov_name = strdup(prov);
	ret = fi_getinfo(FI_VERSION(1, 15), node, service, flags, hints, &s->info);
	fi_freeinfo(hints);
	if (ret == -FI_ENODATA)
		return false;
	assert_int_equal(ret, 0);
	assert_int_equal(fi_fabric(s->info->fabric_attr, &s->fabric, NULL), 0);
	assert_int_equal(fi_domain(s->fabric, s->info, &s->domain, NULL), 0);
	assert_int_equal(fi_endpoint(s->domain, s->info, &s->ep, NULL), 0);
	assert_int_equal(fi_cq_open(s->domain, &cq_attr, &s->cq, NULL), 0);
	assert_int_equal(fi_av_open(s->domain, &av_attr, &s->av, NULL), 0);
	assert_int_equal(fi_ep_bind(s->ep, &s->cq->fid, FI_SEND | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(s->ep, &s->av->fid, 0), 0);
	assert_int_equal(fi_enable(s->ep), 0);
	s->name_len = sizeof(s->name);
	assert_int_equal(fi_getname(&s->ep->fid, s->name, &s->name_len), 0);
	assert_int_equal(fi_recv(s->ep, s->buf, sizeof(s->buf), NULL, FI_ADDR_UNSPEC, s->buf), 0);
	return true;
}

static void side_close(struct side *s)
{
	assert_int_equal(fi_close(&s->ep->fid), 0);
	assert_int_equal(fi_close(&s->av->fid), 0);
	assert_int_equal(fi_close(&s->cq->fid), 0);
	assert_int_equal(fi_close(&s->domain->fid), 0);
	assert_int_equal(fi_close(&s->fabric->fid), 0);
	fi_freeinfo(s->info);
}

/* carry - a message from @from to @to, known at @addr. */
static void carry(struct side *from, struct side *to, const void *addr)
{
	struct fi_cq_entry entry;
	time_t end = time(NULL) + LIMIT_S;
	fi_addr_t dest;
	ssize_t ret;

	assert_int_equal(fi_av_insert(from->av, addr, 1, &dest, 0, NULL), 1);
	while ((ret = fi_inject(from->ep, "word", 5, dest)) == -FI_EAGAIN && time(NULL) < end) {
		fi_cq_read(from->cq, &entry, 0);
		fi_cq_read(to->cq, &entry, 0);
	}
	assert_int_equal(ret, 0);
	do {
		fi_cq_read(from->cq, &entry, 0);
		ret = fi_cq_read(to->cq, &entry, 1);
	} while (ret == -FI_EAGAIN && time(NULL) < end);
	assert_int_equal(ret, 1);
	assert_string_equal(to->buf, "word");
	memset(to->buf, 0, sizeof(to->buf));
	assert_int_equal(fi_recv(to->ep, to->buf, sizeof(to->buf), NULL, FI_ADDR_UNSPEC, to->buf), 0);
}

static void meet(const char *prov, struct side *server, const char *node)
{
	struct sockaddr_in name;
	struct side client;
	char service[8];

	memcpy(&name, server->name, sizeof(name));
	snprintf(service, sizeof(service), "%u", ntohs(name.sin_port));
	assert_true(side_open(&client, prov, node, service, 0));
	carry(&client, server, client.info->dest_addr);
	carry(server, &client, client.name);
	side_close(&client);
}

static void reach(const char *prov)
{
	char node[INET_ADDRSTRLEN];
	struct sockaddr_in name;
	struct side server;

	if (!side_open(&server, prov, NULL, "0", FI_SOURCE))
		skip();		/* not built */
	memcpy(&name, server.name, sizeof(name));
	assert_int_not_equal(name.sin_addr.s_addr, htonl(INADDR_ANY));
	assert_int_equal(((struct sockaddr_in *) server.info->src_addr)->sin_addr.s_addr,
			 htonl(INADDR_ANY));
	meet(prov, &server, "127.0.0.1");
	if (other.sin_family)
		meet(prov, &server, inet_ntop(AF_INET, &other.sin_addr, node, sizeof(node)));
	side_close(&server);
}

static void test_udp(void **state)
{
	reach("udp");
}

static void test_tcp(void **state)
{
	reach("tcp");
}

static void test_rxd(void **state)
{
	reach("udp;ofi_rxd");
}

static void test_rxm(void **state)
{
	reach("tcp;ofi_rxm");
}

/* The log level is read once, so this is a process of its own. */
static void test_reason(void **state)
{
	char text[16384];
	struct side server;

	if (!other.sin_family)
		skip();		/* the server is known at the loopback address */
	rt_hush();
	assert_true(side_open(&server, "tcp", NULL, "0", FI_SOURCE));
	meet("tcp", &server, "127.0.0.1");
	side_close(&server);
	rt_said(text, sizeof(text));
	if (!strstr(text, "shared memory has that address"))
		fail_msg("no reason in the log: %s", text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_udp),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_rxd),
		cmocka_unit_test(test_rxm),
		cmocka_unit_test(test_reason),
	};

	setenv("FI_LOG_LEVEL", "info", 1);
	setenv("FI_LOG_SUBSYS", "ep_ctrl", 1);
	find_other();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
