/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * getinfo_test.c - whole results on this machine.  Only loopback is assumed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/test/verify.h"

#include "info/test/fake_prov.h"
#include "obj/test/log_catch.h"

static int setup(void **state)
{
	struct fi_info *hints = fi_allocinfo();

	*state = hints;
	return hints ? catch_start() : -1;
}

static int teardown(void **state)
{
	fi_freeinfo(*state);
	catch_stop();
	return 0;
}

static void test_list(void **state)
{
	struct fi_info *info, *i;
	bool loopback = false, msg = false;
	size_t cnt = 0;

	assert_int_equal(fake_getinfo(NULL, NULL, 0, NULL, &info), 0);
	for (i = info; i; i = i->next) {
		cnt++;
		/* templates in their order, each over all addresses */
		assert_false(msg && i->ep_attr->type != FI_EP_MSG);
		msg = i->ep_attr->type == FI_EP_MSG;
		assert_int_equal(net_addr_port(i->src_addr), 0);
		assert_int_equal(i->src_addrlen, net_addr_len(i->src_addr));
		assert_int_equal(i->addr_format, net_addr_format(i->src_addr));
		assert_null(i->dest_addr);
		assert_int_equal(i->dest_addrlen, 0);
		assert_non_null(i->domain_attr->name);
		assert_non_null(strchr(i->fabric_attr->name, '/'));
		assert_string_equal(i->fabric_attr->prov_name, "gitest");
		assert_int_equal(i->fabric_attr->prov_version, FI_VERSION(206, 0));
		assert_int_equal(i->fabric_attr->api_version, FI_VERSION(2, 6));
		assert_non_null(i->nic);
		assert_string_equal(i->nic->device_attr->name, i->domain_attr->name);
		if (net_addr_is_loopback(i->src_addr))
			loopback = true;
	}
	assert_true(msg);
	assert_true(loopback);
	assert_int_equal(cnt % 2, 0);
	fi_freeinfo(info);
}

static void test_same_order_every_time(void **state)
{
	char first[4096];
	struct fi_info *info;
	int i;

	assert_int_equal(fake_getinfo(NULL, NULL, 0, NULL, &info), 0);
	strcpy(first, fake_text(info));
	fi_freeinfo(info);
	for (i = 0; i < 20; i++) {
		assert_int_equal(fake_getinfo(NULL, NULL, 0, NULL, &info), 0);
		assert_string_equal(fake_text(info), first);
		fi_freeinfo(info);
	}
}

static void test_source_port(void **state)
{
	struct fi_info *info, *i;

	assert_int_equal(fake_getinfo(NULL, "5000", FI_SOURCE, NULL, &info), 0);
	for (i = info; i; i = i->next)
		assert_int_equal(net_addr_port(i->src_addr), 5000);
	fi_freeinfo(info);
	assert_int_equal(fake_getinfo("127.0.0.1", "5000", FI_SOURCE | FI_NUMERICHOST, NULL,
				      &info), 0);
	assert_string_equal(fake_text(info), "lo=fi_sockaddr_in://127.0.0.1:5000");
	assert_int_equal(info->caps & FI_REMOTE_COMM, FI_REMOTE_COMM);
	assert_null(info->dest_addr);
	fi_freeinfo(info);
}

static void test_dest(void **state)
{
	struct fi_info *info;
	char text[NET_ADDR_TEXT_MAX];

	assert_int_equal(fake_getinfo("127.0.0.1", "5000", 0, NULL, &info), 0);
	assert_string_equal(fake_text(info), "lo=fi_sockaddr_in://127.0.0.1:0");
	assert_int_equal(info->dest_addrlen, sizeof(struct sockaddr_in));
	assert_string_equal(net_addr_text(info->dest_addr, text),
			    "fi_sockaddr_in://127.0.0.1:5000");
	fi_freeinfo(info);
}

static void test_address_in_string_form(void **state)
{
	struct fi_info *info;

	assert_int_equal(fake_getinfo("fi_sockaddr_in://127.0.0.1:5000", NULL, FI_SOURCE, NULL,
				      &info), 0);
	assert_string_equal(fake_text(info), "lo=fi_sockaddr_in://127.0.0.1:5000");
	fi_freeinfo(info);
	assert_int_equal(fake_getinfo("fi_sockaddr_in://127.0.0.1:5000", "6", FI_SOURCE, NULL,
				      &info), -FI_EINVAL);
}

static void test_hints_restrict(void **state)
{
	struct fi_info *hints = *state, *info, *i;

	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->name = strdup("lo");
	hints->addr_format = FI_SOCKADDR_IN;
	assert_int_equal(fake_getinfo(NULL, NULL, 0, hints, &info), 0);
	for (i = info; i; i = i->next) {
		assert_int_equal(i->ep_attr->type, FI_EP_MSG);
		assert_string_equal(i->domain_attr->name, "lo");
		assert_int_equal(i->addr_format, FI_SOCKADDR_IN);
		/* requested by name, so it has FI_REMOTE_COMM */
		assert_int_equal(i->caps & FI_REMOTE_COMM, FI_REMOTE_COMM);
	}
	fi_freeinfo(info);
}

static void test_hints_addresses(void **state)
{
	struct fi_info *hints = *state, *info;
	union net_sa *sa = calloc(1, sizeof(*sa));

	net_addr_parse("fi_sockaddr_in://127.0.0.1:77", sa);
	hints->src_addr = sa;
	hints->src_addrlen = sizeof(struct sockaddr_in);
	assert_int_equal(fake_getinfo(NULL, NULL, 0, hints, &info), 0);
	assert_string_equal(fake_text(info), "lo=fi_sockaddr_in://127.0.0.1:77");
	fi_freeinfo(info);
	/* ignored with FI_SOURCE */
	assert_int_equal(fake_getinfo("127.0.0.1", "78", FI_SOURCE, hints, &info), 0);
	assert_string_equal(fake_text(info), "lo=fi_sockaddr_in://127.0.0.1:78");
	fi_freeinfo(info);
}

static void test_nic_hint(void **state)
{
	struct fi_device_attr dev = { .name = (char *) "lo" };
	struct fid_nic nic = { .device_attr = NULL };	/* as one runtime passes it */
	struct fi_info *hints = *state, *info, *i;

	hints->nic = &nic;
	assert_int_equal(fake_getinfo(NULL, NULL, 0, hints, &info), 0);
	fi_freeinfo(info);
	nic.device_attr = &dev;
	assert_int_equal(fake_getinfo(NULL, NULL, 0, hints, &info), 0);
	for (i = info; i; i = i->next)
		assert_string_equal(i->domain_attr->name, "lo");
	fi_freeinfo(info);
	dev.name = (char *) "no-such-nic";
	assert_int_equal(fake_getinfo(NULL, NULL, 0, hints, &info), -FI_ENODATA);
	assert_non_null(catch_find("attr=nic->device_attr->name wanted=no-such-nic offered=lo"));
	hints->nic = NULL;
}

/* An empty result: one line for each template and candidate, with the reason. */
static void test_explained(void **state)
{
	struct fi_info *hints = *state, *info = (void *) 8;
	struct explain_line ex;
	size_t i, rdm = 0, msg = 0;

	hints->caps = FI_MSG | FI_ATOMIC;
	assert_int_equal(fake_getinfo("127.0.0.1", NULL, FI_SOURCE, hints, &info), -FI_ENODATA);
	assert_ptr_equal(info, (void *) 8);
	for (i = 0; i < caught.cnt; i++) {
		if (explain_parse(caught.line[i], &ex))
			continue;
		assert_string_equal(ex.provider, "gitest");
		assert_string_equal(ex.domain, "lo");
		assert_string_equal(ex.addr, "fi_sockaddr_in://127.0.0.1:0");
		assert_string_equal(ex.attr, "caps");
		assert_non_null(strstr(ex.wanted, "FI_ATOMIC"));
		assert_null(strstr(ex.wanted, "FI_MSG"));
		assert_non_null(strstr(ex.offered, "FI_MSG"));
		rdm += !strcmp(ex.ep_type, "FI_EP_RDM");
		msg += !strcmp(ex.ep_type, "FI_EP_MSG");
	}
	assert_int_equal(rdm, 1);
	assert_int_equal(msg, 1);
}

static void test_foreign_source_is_explained(void **state)
{
	struct fi_info *info;

	assert_int_equal(fake_getinfo("198.51.100.77", "1", FI_SOURCE, NULL, &info), -FI_ENODATA);
	assert_non_null(catch_find("attr=src_addr wanted=fi_sockaddr_in://198.51.100.77:1"));
	assert_non_null(catch_find("127.0.0.1"));	/* the available addresses */
}

static void test_iface_parameter(void **state)
{
	struct fi_info *info, *i;

	setenv("FI_GITEST_IFACE", "lo", 1);
	assert_int_equal(fake_getinfo(NULL, NULL, 0, NULL, &info), 0);
	for (i = info; i; i = i->next) {
		assert_string_equal(i->domain_attr->name, "lo");
		assert_int_equal(i->caps & FI_REMOTE_COMM, FI_REMOTE_COMM);
	}
	fi_freeinfo(info);

	setenv("FI_GITEST_IFACE", "eth99", 1);
	assert_int_equal(fake_getinfo(NULL, NULL, 0, NULL, &info), -FI_ENODATA);
	assert_true(caught.cnt >= 1);
	assert_non_null(catch_find("'eth99'"));
	assert_non_null(strstr(catch_find("'eth99'"), "lo (up, 127.0.0.1)"));

	setenv("FI_GITEST_IFACE", "", 1);
	assert_int_equal(fake_getinfo(NULL, NULL, 0, NULL, &info), 0);
	fi_freeinfo(info);
	unsetenv("FI_GITEST_IFACE");
}

static void test_port_parameters(void **state)
{
	struct net_ports ports;

	assert_int_equal(info_params_ports(&fake_prov, &ports), 0);
	assert_int_equal(ports.low, 0);
	setenv("FI_GITEST_PORT_LOW_RANGE", "6000", 1);
	assert_int_equal(info_params_ports(&fake_prov, &ports), 0);
	assert_int_equal(ports.low, 6000);
	assert_int_equal(ports.high, 65535);
	setenv("FI_GITEST_PORT_HIGH_RANGE", "5000", 1);
	catch_clear();
	assert_int_equal(info_params_ports(&fake_prov, &ports), -FI_EINVAL);
	assert_int_equal(ports.low, 0);
	assert_non_null(catch_find("FI_GITEST_PORT_LOW_RANGE=6000"));
	unsetenv("FI_GITEST_PORT_LOW_RANGE");
	unsetenv("FI_GITEST_PORT_HIGH_RANGE");
}

static void narrow(struct fi_info *offered, const struct net_iface *iface)
{
	offered->ep_attr->max_msg_size = iface->mtu - 28u;
}

static void test_adjust(void **state)
{
	struct fi_info *info, *i;

	fake.adjust = narrow;
	assert_int_equal(fake_getinfo(NULL, NULL, 0, NULL, &info), 0);
	for (i = info; i; i = i->next)
		assert_int_equal(i->ep_attr->max_msg_size, i->nic->link_attr->mtu - 28);
	fake.adjust = NULL;
	fi_freeinfo(info);
	assert_int_equal(fake_rdm_ep.max_msg_size, SIZE_MAX);	/* the template is not modified */
}

static void test_bad_service(void **state)
{
	struct fi_info *info;

	assert_int_equal(fake_getinfo(NULL, "70000", FI_SOURCE, NULL, &info), -FI_EINVAL);
	assert_non_null(catch_find("service '70000'"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_list), T(test_same_order_every_time), T(test_source_port), T(test_dest),
		T(test_address_in_string_form), T(test_hints_restrict), T(test_hints_addresses),
		T(test_nic_hint), T(test_explained), T(test_foreign_source_is_explained),
		T(test_iface_parameter), T(test_port_parameters), T(test_adjust),
		T(test_bad_service),
	};

	if (info_params_define(&fake_prov, INFO_PARAM_IFACE | INFO_PARAM_PORTS))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
