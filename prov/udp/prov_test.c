/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * prov_test.c - what the provider offers, and the environment variables that restrict it. The
 * environment is read once per process, so each case runs in a child.
 */

#include "udp/test/world.h"

#include <sys/wait.h>
#include <unistd.h>

static struct fi_info *ask_for(const struct fi_info *hints)
{
	struct fi_info *info = NULL;

	return fi_getinfo(FI_VERSION(2, 6), NULL, NULL, 0, hints, &info) ? NULL : info;
}

static struct fi_info *ask(const char *node, uint64_t caps, int format)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = caps;
	hints->addr_format = (uint32_t) format;
	hints->fabric_attr->prov_name = strdup("udp");
	hints->ep_attr->type = FI_EP_DGRAM;
	if (fi_getinfo(FI_VERSION(2, 6), node, NULL, node ? FI_SOURCE : 0, hints, &info))
		info = NULL;
	fi_freeinfo(hints);
	return info;
}

#define ROW_CAPS (FI_MSG | FI_MULTICAST | FI_RECV | FI_SEND | FI_LOCAL_COMM | FI_SOURCE)

/* At least the attributes that programs expect of a provider with this name. */
static void offers(void **state)
{
	struct fi_info *list = ask(NULL, 0, FI_FORMAT_UNSPEC), *i;
	bool lo = false;

	assert_non_null(list);
	for (i = list; i; i = i->next) {
		assert_string_equal(i->fabric_attr->prov_name, "udp");
		assert_int_equal(i->ep_attr->type, FI_EP_DGRAM);
		assert_int_equal(i->ep_attr->protocol, FI_PROTO_UDP);
		assert_int_equal(i->ep_attr->protocol_version, 0);
		assert_int_equal(i->caps & ROW_CAPS, ROW_CAPS);
		assert_int_equal(i->tx_attr->caps, FI_MSG | FI_MULTICAST | FI_SEND);
		assert_int_equal(i->rx_attr->caps & (FI_MSG | FI_RECV | FI_SOURCE),
				 FI_MSG | FI_RECV | FI_SOURCE);
		assert_int_equal(i->mode, 0);
		assert_int_equal(i->domain_attr->mr_mode, 0);
		assert_int_equal(i->domain_attr->cq_data_size, 0);
		assert_int_equal(i->domain_attr->resource_mgmt, FI_RM_ENABLED);
		assert_int_equal(i->ep_attr->max_msg_size, 1472);
		assert_int_equal(i->tx_attr->inject_size, i->ep_attr->max_msg_size);
		assert_true(i->tx_attr->size >= 1024 && i->rx_attr->size >= 1024);
		assert_true(i->tx_attr->iov_limit >= 4 && i->rx_attr->iov_limit >= 4);
		assert_non_null(i->src_addr);
		if (!strcmp(i->domain_attr->name, "lo"))
			lo = true;
	}
	assert_true(lo);
	fi_freeinfo(list);
}

/* The header is for those who ask for it, and has a protocol of its own. */
static void framed_on_request(void **state)
{
	struct fi_info *hints = fi_allocinfo(), *list, *i;
	int by;

	hints->fabric_attr->prov_name = strdup("udp");
	hints->domain_attr->name = strdup("lo");
	hints->ep_attr->type = FI_EP_DGRAM;
	for (by = 0; by < 2; by++) {
		hints->ep_attr->protocol = by ? NET_PROTO_UDP_FRAMED : FI_PROTO_UNSPEC;
		hints->domain_attr->cq_data_size = by ? 0 : 4;
		list = ask_for(hints);
		assert_non_null(list);
		for (i = list; i; i = i->next) {
			assert_int_equal(i->ep_attr->protocol, NET_PROTO_UDP_FRAMED);
			assert_int_equal(i->ep_attr->protocol_version, 1);
			assert_int_equal(i->domain_attr->cq_data_size, 8);
			assert_int_equal(i->ep_attr->max_msg_size,
					 i->addr_format == FI_SOCKADDR_IN ? 65491 : 65472);
		}
		fi_freeinfo(list);
	}
	hints->ep_attr->protocol = FI_PROTO_UDP;
	hints->domain_attr->cq_data_size = 1;
	assert_null(ask_for(hints));	/* plain datagrams carry no data */
	hints->domain_attr->cq_data_size = 0;
	hints->ep_attr->max_msg_size = 1473;
	list = ask_for(hints);
	assert_non_null(list);
	for (i = list; i; i = i->next) {
		assert_int_equal(i->ep_attr->protocol, FI_PROTO_UDP);
		assert_int_equal(i->ep_attr->max_msg_size,
				 i->addr_format == FI_SOCKADDR_IN ? 65507 : 65488);
	}
	fi_freeinfo(list);
	fi_freeinfo(hints);
}

/* Run @body in a process with @env=@value; it must exit with 0. */
static void in_child(const char *env, const char *value, int (*body)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setenv(env, value, 1);
		_exit(body());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int only_lo(void)
{
	struct fi_info *list = ask(NULL, 0, FI_FORMAT_UNSPEC), *i;

	for (i = list; i; i = i->next)
		if (strcmp(i->domain_attr->name, "lo"))
			return 1;
	i = list;
	fi_freeinfo(list);
	return !i;
}

static int nothing(void)
{
	return ask(NULL, 0, FI_FORMAT_UNSPEC) != NULL;
}

static void interface(void **state)
{
	in_child("FI_UDP_IFACE", "lo", only_lo);
	in_child("FI_UDP_IFACE", "no-such-one", nothing);
}

/* Two ports: two endpoints get one each, the third gets an error. */
static int two_ports(void)
{
	struct fi_info *info = ask("127.0.0.1", FI_MSG, FI_SOCKADDR_IN);
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct sockaddr_in name;
	struct fid_ep *ep[3];
	size_t len, i;
	int ret = 0;

	if (!info || fi_fabric(info->fabric_attr, &fabric, NULL) ||
	    fi_domain(fabric, info, &domain, NULL))
		return 1;
	for (i = 0; i < 3; i++) {
		ret = fi_endpoint(domain, info, &ep[i], NULL);
		if (ret)
			break;
		len = sizeof(name);
		if (fi_getname(&ep[i]->fid, &name, &len) || ntohs(name.sin_port) / 2 != 47811 / 2)
			return 2;
	}
	if (i != 2 || ret != -FI_EADDRINUSE)
		return 3;
	while (i--)
		fi_close(&ep[i]->fid);
	fi_close(&domain->fid);
	fi_close(&fabric->fid);
	fi_freeinfo(info);
	return 0;
}

static void ports(void **state)
{
	setenv("FI_UDP_PORT_LOW_RANGE", "47810", 1);
	in_child("FI_UDP_PORT_HIGH_RANGE", "47811", two_ports);
	unsetenv("FI_UDP_PORT_LOW_RANGE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interface),
		cmocka_unit_test(ports),
		cmocka_unit_test(offers),
		cmocka_unit_test(framed_on_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
