/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Intel MPI: the queries of MPICH, selected by the documented environment. */

#include "mpich_hints.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define PORT_LOW 23400
#define PORT_HIGH 23499

static void test_interface_of_the_environment(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 17) };
	struct fi_info *list, *info;

	q.hints = mpich_hints(mpich_first(&list), FI_THREAD_SAFE);
	for (info = list; info; info = info->next) {
		assert_memory_equal(info->fabric_attr->prov_name, "tcp", 3);	/* or layered over it */
		assert_string_equal(info->domain_attr->name, "lo");
	}
	info = rt_all(&q);
	mpich_check(info, q.hints);
	assert_string_equal(info->domain_attr->name, "lo");
	fi_freeinfo(info);
	fi_freeinfo(list);
	fi_freeinfo(q.hints);
}

static void test_ports_of_the_environment(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_query q = { .version = FI_VERSION(1, 17) };
	struct sockaddr_storage ss;
	struct fi_info *list;
	struct rt_world w;
	size_t len;
	uint16_t port;

	q.hints = mpich_hints(mpich_first(&list), FI_THREAD_SAFE);
	rt_open(&w, rt_all(&q), &setup);
	for (int i = 0; i < 2; i++) {
		len = sizeof(ss);
		assert_int_equal(fi_getname(&w.ep[i]->fid, &ss, &len), 0);
		port = ntohs(ss.ss_family == AF_INET6 ? ((struct sockaddr_in6 *) &ss)->sin6_port :
			     ((struct sockaddr_in *) &ss)->sin_port);
		assert_in_range(port, PORT_LOW, PORT_HIGH);
	}
	rt_carry_tagged(&w, 1000, 1);
	rt_close(&w);
	fi_freeinfo(list);
	fi_freeinfo(q.hints);
}

/* Each variable in its guide can be looked up (fi_info -e). */
static void test_variables_are_listed(void **state)
{
	static const char *const name[] = { "FI_PROVIDER", "FI_PROVIDER_PATH", "FI_TCP_IFACE",
					    "FI_TCP_PORT_LOW_RANGE", "FI_TCP_PORT_HIGH_RANGE" };
	struct fi_param *params;
	int cnt, found = 0;

	assert_int_equal(fi_getparams(&params, &cnt), 0);
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		for (int k = 0; k < cnt; k++)
			found += !strcmp(params[k].name, name[i]);
	assert_int_equal(found, sizeof(name) / sizeof(*name));
	fi_freeparams(params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interface_of_the_environment),
		cmocka_unit_test(test_ports_of_the_environment),
		cmocka_unit_test(test_variables_are_listed),
	};

	setenv("FI_PROVIDER", "tcp", 1);
	setenv("FI_TCP_IFACE", "lo", 1);
	setenv("FI_TCP_PORT_LOW_RANGE", "23400", 1);
	setenv("FI_TCP_PORT_HIGH_RANGE", "23499", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
