/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <net/if_arp.h>
#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/test/verify.h"

#include "net/test/list_make.h"
#include "net/nic.h"

static void test_pci(void **state)
{
	static const struct { const char *path; int ret; struct fi_pci_attr pci; } row[] = {
		{ "../../devices/pci0000:00/0000:00:1f.6/net/eno1", 0, { 0, 0, 0x1f, 6 } },
		{ "../../devices/pci0000:16/0000:16:02.0/0000:18:00.1/net/ens1f1", 0,
		  { 0, 0x18, 0, 1 } },
		{ "../../devices/pci1000:00/1000:5e:00.0/net/ib0", 0, { 0x1000, 0x5e, 0, 0 } },
		{ "../../devices/pci0000:00/0000:00:03.0/virtio2/net/eth0", 0, { 0, 0, 3, 0 } },
		{ "../../devices/pci0000:5d/0000:5e:00.0/mlx5_core.sf.2/net/p0s8", 0,
		  { 0, 0x5e, 0, 0 } },
		{ "../../devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0/net/enx0", -FI_ENOENT,
		  { 0, 0, 0, 0 } },
		{ "../../devices/virtual/net/lo", -FI_ENOENT, { 0, 0, 0, 0 } },
		{ "0000:00:03.0", -FI_ENOENT, { 0, 0, 0, 0 } },
		{ "/net/", -FI_ENOENT, { 0, 0, 0, 0 } },
		{ "", -FI_ENOENT, { 0, 0, 0, 0 } },
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct fi_pci_attr pci = { 0, 0, 0, 0 };

		assert_int_equal(net_nic_pci(row[i].path, &pci), row[i].ret);
		assert_int_equal(pci.domain_id, row[i].pci.domain_id);
		assert_int_equal(pci.bus_id, row[i].pci.bus_id);
		assert_int_equal(pci.device_id, row[i].pci.device_id);
		assert_int_equal(pci.function_id, row[i].pci.function_id);
	}
}

/* check - the attributes of the interface of the next test. */
static void check(const struct fid_nic *nic)
{
	assert_int_equal(nic->fid.fclass, FI_CLASS_NIC);
	assert_string_equal(nic->device_attr->name, "nosuchif0");
	assert_null(nic->device_attr->driver);
	assert_null(nic->device_attr->firmware);
	assert_int_equal(nic->bus_attr->bus_type, FI_BUS_UNSPEC);
	assert_string_equal(nic->link_attr->address, "02:00:5e:10:00:ff");
	assert_int_equal(nic->link_attr->mtu, 9000);
	assert_int_equal(nic->link_attr->speed, 25000000000);
	assert_int_equal(nic->link_attr->state, FI_LINK_UP);
	assert_string_equal(nic->link_attr->network_type, "Ethernet");
	assert_null(nic->prov_attr);
}

static void test_create_and_dup(void **state)
{
	static const uint8_t mac[] = { 2, 0, 0x5e, 0x10, 0, 0xff };
	struct net_list list = { 0 };
	struct net_iface *iface = make_iface(&list, "nosuchif0", "", UP);
	struct fid_nic *nic, *dup;

	iface->mtu = 9000;
	iface->speed = UINT64_C(25000000000);
	iface->arp_type = ARPHRD_ETHER;
	iface->mac_len = sizeof(mac);
	memcpy(iface->mac, mac, sizeof(mac));
	assert_int_equal(net_nic_create(iface, &nic), 0);
	net_list_free(&list);	/* the nic does not depend on the list */
	check(nic);
	assert_int_equal(fi_control(&nic->fid, FI_DUP, &dup), 0);
	assert_int_equal(fi_control(&nic->fid, FI_ENABLE, NULL), -FI_ENOSYS);
	assert_int_equal(fi_close(&nic->fid), 0);
	check(dup);
	assert_int_equal(fi_close(&dup->fid), 0);
}

static void test_loopback(void **state)
{
	struct net_list list = { 0 };
	struct net_iface *iface = make_iface(&list, "lo", "", IFF_LOOPBACK);
	struct fid_nic *nic;

	iface->arp_type = ARPHRD_LOOPBACK;
	assert_int_equal(net_nic_create(iface, &nic), 0);
	assert_int_equal(nic->link_attr->state, FI_LINK_DOWN);
	assert_null(nic->link_attr->address);
	assert_string_equal(nic->link_attr->network_type, "loopback");
	assert_int_equal(nic->bus_attr->bus_type, FI_BUS_UNSPEC);
	fi_close(&nic->fid);
	net_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pci),
		cmocka_unit_test(test_create_and_dup),
		cmocka_unit_test(test_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
