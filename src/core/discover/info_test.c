/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_dupinfo() copies everything and fi_freeinfo() frees it all. */

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "base/list.h"
#include "core/test/child_test.h"

static void test_alloc(void **state)
{
	struct fi_info *info = fi_allocinfo();
	const struct fi_domain_attr domain = { 0 };

	assert_non_null(info);
	assert_non_null(info->tx_attr);
	assert_non_null(info->rx_attr);
	assert_non_null(info->ep_attr);
	assert_non_null(info->domain_attr);
	assert_non_null(info->fabric_attr);
	assert_null(info->nic);
	assert_null(info->next);
	assert_memory_equal(info->domain_attr, &domain, sizeof(domain));
	fi_freeinfo(info);
	fi_freeinfo(NULL);
}

static struct fi_info *full_info(void)
{
	struct fi_info *info = fi_allocinfo();

	info->caps = FI_MSG | FI_RMA;
	info->addr_format = FI_SOCKADDR_IN;
	info->src_addr = strdup("source");
	info->src_addrlen = 7;
	info->dest_addr = strdup("destination");
	info->dest_addrlen = 12;
	info->handle = (fid_t) &full_info;
	info->tx_attr->tclass = 3;
	info->rx_attr->size = 17;
	info->ep_attr->auth_key = (uint8_t *) strdup("ep key");
	info->ep_attr->auth_key_size = 7;
	info->domain_attr->name = strdup("eth0");
	info->domain_attr->auth_key = (uint8_t *) strdup("domain key");
	info->domain_attr->auth_key_size = 11;
	info->domain_attr->max_err_cntr_value = 99;
	info->fabric_attr->name = strdup("net");
	info->fabric_attr->prov_name = strdup("tcp");
	info->fabric_attr->api_version = 5;
	return info;
}

static void test_dup(void **state)
{
	struct fi_info *info = full_info(), *dup;

	info->next = info;	/* only one is copied */
	dup = fi_dupinfo(info);
	info->next = NULL;
	assert_non_null(dup);
	assert_null(dup->next);
	assert_int_equal(dup->caps, info->caps);
	assert_ptr_equal(dup->handle, info->handle);
	assert_ptr_not_equal(dup->src_addr, info->src_addr);
	assert_string_equal(dup->src_addr, "source");
	assert_string_equal(dup->dest_addr, "destination");
	assert_int_equal(dup->tx_attr->tclass, 3);
	assert_int_equal(dup->rx_attr->size, 17);
	assert_ptr_not_equal(dup->ep_attr->auth_key, info->ep_attr->auth_key);
	assert_string_equal((char *) dup->ep_attr->auth_key, "ep key");
	assert_string_equal((char *) dup->domain_attr->auth_key, "domain key");
	assert_int_equal(dup->domain_attr->max_err_cntr_value, 99);
	assert_ptr_not_equal(dup->domain_attr->name, info->domain_attr->name);
	assert_string_equal(dup->domain_attr->name, "eth0");
	assert_string_equal(dup->fabric_attr->name, "net");
	assert_string_equal(dup->fabric_attr->prov_name, "tcp");
	assert_int_equal(dup->fabric_attr->api_version, 5);
	fi_freeinfo(info);
	assert_string_equal(dup->fabric_attr->prov_name, "tcp");
	fi_freeinfo(dup);
}

/* Members that the program leaves NULL stay NULL. */
static void test_dup_sparse(void **state)
{
	struct fi_info info = { .caps = FI_MSG }, *dup;

	dup = fi_dupinfo(&info);
	assert_non_null(dup);
	assert_null(dup->tx_attr);
	assert_null(dup->rx_attr);
	assert_null(dup->ep_attr);
	assert_null(dup->domain_attr);
	assert_null(dup->fabric_attr);
	assert_null(dup->nic);
	fi_freeinfo(dup);
}

/* FI_AV_AUTH_KEY is not a size. */
static void test_dup_av_auth_key(void **state)
{
	struct fi_domain_attr domain = { .auth_key_size = FI_AV_AUTH_KEY };
	struct fi_info info = { .domain_attr = &domain }, *dup;

	domain.auth_key = (uint8_t *) "x";
	dup = fi_dupinfo(&info);
	assert_non_null(dup);
	assert_true(dup->domain_attr->auth_key_size == FI_AV_AUTH_KEY);
	assert_null(dup->domain_attr->auth_key);
	fi_freeinfo(dup);
}

/* ---- NIC ---------------------------------------------------------------------- */

static void test_dup_nic(void **state)
{
	struct fi_device_attr device = { .name = "mlx5_0", .driver = "mlx5" };
	struct fi_bus_attr bus = { .bus_type = FI_BUS_PCI, .attr.pci.bus_id = 7 };
	struct fi_link_attr link = { .address = "aa:bb", .mtu = 9000 };
	struct fid_nic nic = {
		.fid.fclass = FI_CLASS_NIC,
		.device_attr = &device,
		.bus_attr = &bus,
		.link_attr = &link,
	};
	struct fi_info info = { .nic = &nic }, *dup, *again;

	dup = fi_dupinfo(&info);
	assert_non_null(dup);
	assert_non_null(dup->nic);
	assert_int_equal(dup->nic->fid.fclass, FI_CLASS_NIC);
	again = fi_dupinfo(dup);
	fi_freeinfo(dup);
	assert_string_equal(again->nic->device_attr->name, "mlx5_0");
	assert_string_equal(again->nic->device_attr->driver, "mlx5");
	assert_null(again->nic->device_attr->firmware);
	assert_int_equal(again->nic->bus_attr->attr.pci.bus_id, 7);
	assert_string_equal(again->nic->link_attr->address, "aa:bb");
	assert_int_equal(again->nic->link_attr->mtu, 9000);
	assert_null(again->nic->link_attr->network_type);
	fi_freeinfo(again);
}

/* A zeroed NIC in hints asks for nothing. */
static void test_dup_empty_nic(void **state)
{
	struct fid_nic nic = { 0 };
	struct fi_info info = { .nic = &nic }, *dup = fi_dupinfo(&info);

	assert_non_null(dup->nic);
	assert_null(dup->nic->device_attr);
	fi_freeinfo(dup);
}

static int owner_dups, owner_closes;

static int owner_close(struct fid *fid)
{
	owner_closes++;
	free(container_of(fid, struct fid_nic, fid));
	return 0;
}

static int owner_control(struct fid *fid, int command, void *arg)
{
	struct fid_nic **dup_p = arg;

	if (command != FI_DUP)
		return -FI_ENOSYS;
	owner_dups++;
	*dup_p = malloc(sizeof(**dup_p));
	memcpy(*dup_p, fid, sizeof(**dup_p));
	return 0;
}

static struct fi_ops owner_ops = {
	.size = sizeof(owner_ops),
	.close = owner_close,
	.control = owner_control,
};

/* Only the provider can copy its prov_attr. */
static void test_dup_nic_by_owner(void **state)
{
	struct fid_nic nic = {
		.fid = { .fclass = FI_CLASS_NIC, .ops = &owner_ops },
		.prov_attr = &nic,
	};
	struct fi_info info = { .nic = &nic }, *dup = fi_dupinfo(&info);

	assert_non_null(dup);
	assert_int_equal(owner_dups, 1);
	assert_ptr_equal(dup->nic->prov_attr, &nic);
	fi_freeinfo(dup);
	assert_int_equal(owner_closes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc),
		cmocka_unit_test(test_dup),
		cmocka_unit_test(test_dup_sparse),
		cmocka_unit_test(test_dup_av_auth_key),
		cmocka_unit_test(test_dup_nic),
		cmocka_unit_test(test_dup_empty_nic),
		cmocka_unit_test(test_dup_nic_by_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
