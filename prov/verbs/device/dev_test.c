/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Ports and their interfaces, read from a copy of sysfs that the test writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLASS "sysfs/infiniband"
#define NET_CLASS "sysfs/net"
#include "dev.c"

static char top[] = "/tmp/dev_testXXXXXX", before[4096];

/* Write a file of sysfs, with the folders above it. */
static void put(const char *path, const char *text)
{
	char name[512], *slash;
	FILE *file;

	snprintf(name, sizeof(name), "sysfs/%s", path);
	for (slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(name, 0700);
		*slash = '/';
	}
	file = fopen(name, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

static int set_up(void **state)
{
	strcpy(top, "/tmp/dev_testXXXXXX");
	map_ns = 0;		/* what was read before is old */
	vrb_conf.device = NULL;
	return getcwd(before, sizeof(before)) && mkdtemp(top) ? chdir(top) : -1;
}

static int tear_down(void **state)
{
	char remove[sizeof(top) + 16];

	snprintf(remove, sizeof(remove), "rm -rf %s", top);
	return chdir(before) ? -1 : system(remove);
}

static void none(void **state)
{
	struct vrb_port port, ports[2];

	assert_false(vrb_dev_any());
	assert_int_equal(vrb_dev_port("eth0", &port), -FI_ENODEV);
	assert_int_equal(vrb_dev_ports(ports, 2), 0);
}

/* The interface of each GID; empty entries of the table are skipped. */
static void roce(void **state)
{
	struct vrb_port port, ports[4];
	char text[32];

	put("infiniband/mlx5_0/ports/1/link_layer", "Ethernet");
	put("infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
	put("infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth1");
	put("infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1", "eth1");
	put("infiniband/mlx5_0/ports/1/gid_attrs/ndevs/5", "eth1.7");
	assert_true(vrb_dev_any());
	assert_int_equal(vrb_dev_port("eth1", &port), 0);
	assert_string_equal(port.dev, "mlx5_0");
	assert_int_equal(port.num, 1);
	assert_false(port.infiniband);
	assert_false(port.iwarp);
	assert_int_equal(vrb_dev_port("eth1.7", &port), 0);
	assert_int_equal(vrb_dev_port("eth2", &port), -FI_ENODEV);
	assert_int_equal(vrb_dev_ports(ports, 4), 1);
	assert_string_equal(ports[0].iface, "eth1");
	assert_true(vrb_dev_text(&port, "state", text, sizeof(text)));
	assert_string_equal(text, "4: ACTIVE");
	assert_false(vrb_dev_text(&port, "rate", text, sizeof(text)));
}

/* IPoIB: the port's number is one more than that of the interface. */
static void infiniband(void **state)
{
	struct vrb_port port, ports[4];

	put("infiniband/ib_0/ports/1/link_layer", "InfiniBand");
	put("infiniband/ib_0/ports/2/link_layer", "InfiniBand");
	put("infiniband/ib_0/device/net/ib1/dev_port", "1");
	assert_int_equal(vrb_dev_port("ib1", &port), 0);
	assert_int_equal(port.num, 2);
	assert_true(port.infiniband);
	assert_int_equal(vrb_dev_ports(ports, 4), 2);
	assert_string_equal(ports[port.num == ports[0].num ? 1 : 0].iface, "");
	assert_int_equal(vrb_dev_ports(ports, 1), 1);
}

/* iWARP: the port's address is the hardware address of the interface. */
static void iwarp(void **state)
{
	struct vrb_port port;

	put("infiniband/siw0/node_type", "4: RNIC");
	put("infiniband/siw0/ports/1/link_layer", "Ethernet");
	put("infiniband/siw0/ports/1/gids/0", "0250:5600:0107:0000:0000:0000:0000:0000");
	put("net/eth3/address", "02:50:56:00:01:07");
	put("net/eth4/address", "02:50:56:00:01:08");
	assert_int_equal(vrb_dev_port("eth3", &port), 0);
	assert_true(port.iwarp);
	assert_string_equal(port.dev, "siw0");
	assert_int_equal(vrb_dev_port("eth4", &port), -FI_ENODEV);
}

/* FI_VERBS_DEVICE_NAME hides the others. */
static void one_device(void **state)
{
	struct vrb_port port, ports[4];

	put("infiniband/a_0/ports/1/gid_attrs/ndevs/0", "eth1");
	put("infiniband/b_0/ports/1/gid_attrs/ndevs/0", "eth2");
	vrb_conf.device = (char *) "b_0";
	assert_int_equal(vrb_dev_ports(ports, 4), 1);
	assert_string_equal(ports[0].dev, "b_0");
	assert_int_equal(vrb_dev_port("eth1", &port), -FI_ENODEV);
	assert_int_equal(vrb_dev_port("eth2", &port), 0);
}

/* What was read counts for a second: fi_getinfo() asks many times. */
static void remembered(void **state)
{
	struct vrb_port port;

	put("infiniband/a_0/ports/1/gid_attrs/ndevs/0", "eth1");
	assert_int_equal(vrb_dev_port("eth1", &port), 0);
	put("infiniband/a_0/ports/1/gid_attrs/ndevs/1", "eth2");
	assert_int_equal(vrb_dev_port("eth2", &port), -FI_ENODEV);
	map_ns -= FRESH_NS;
	assert_int_equal(vrb_dev_port("eth2", &port), 0);
}

static void link_attributes(void **state)
{
	struct vrb_port port = { .dev = "a_0", .num = 1 };
	struct fi_link_attr link = { 0 };
	char *firmware = NULL;

	put("infiniband/a_0/ports/1/rate", "100 Gb/sec (4X EDR)");
	put("infiniband/a_0/ports/1/state", "1: DOWN");
	put("infiniband/a_0/fw_ver", "16.35.2000");
	set_link(&port, &link);
	assert_int_equal(link.speed, 100000000000);
	assert_int_equal(link.state, FI_LINK_DOWN);
	set_text(&firmware, "a_0", "fw_ver");
	assert_string_equal(firmware, "16.35.2000");
	free(firmware);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(none),
		T(roce),
		T(infiniband),
		T(iwarp),
		T(one_device),
		T(remembered),
		T(link_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
