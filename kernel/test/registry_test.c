// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * registry_test.c - providers that come and go.
 */
#include <linux/slab.h>

#include "test.h"

static struct fid_fabric fake;

static int fake_close(struct fid *fid)
{
	return 0;
}

static struct fi_ops fake_ops = { .size = sizeof(struct fi_ops), .close = fake_close };

/* As a provider that knows nothing of namespaces is written. */
static int given;	/* lists that were not freed yet */

static int fake_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
			const struct fi_info *hints, struct fi_info **info_p)
{
	*info_p = fi_allocinfo();
	given += !!*info_p;
	return *info_p ? 0 : -FI_ENOMEM;
}

static int fake_freeinfo(struct fi_info *info)
{
	given--;
	fi_freeinfo(info);
	return 0;
}

static int fake_query(const struct kofi_query *query, struct fi_info **list_p)
{
	*list_p = fi_allocinfo();
	return *list_p ? net_eq(query->net, &init_net) ? 0 : -FI_EOTHER : -FI_ENOMEM;
}

static int fake_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p, void *context)
{
	fake.fid.fclass = FI_CLASS_FABRIC;
	fake.fid.ops = &fake_ops;
	*fabric_p = &fake;
	return 0;
}

static const struct kofi_provider good = {
	.size = sizeof(struct kofi_provider), .name = "kofi_test_fake",
	.version = FI_VERSION(3, 1), .owner = THIS_MODULE,
	.getinfo = fake_getinfo, .freeinfo = fake_freeinfo, .fabric = fake_fabric,
};

static void misuse(struct test *t)
{
	struct kofi_provider bad = good, other = good;

	IS(t, kofi_provider_register(FI_VERSION(99, 0), &good), -FI_ENOSYS);
	IS(t, kofi_provider_register(VERSION, NULL), -FI_EINVAL);
	bad.size = 8;
	IS(t, kofi_provider_register(VERSION, &bad), -FI_EINVAL);
	bad = good;
	bad.name = "";
	IS(t, kofi_provider_register(VERSION, &bad), -FI_EINVAL);
	bad = good;
	bad.getinfo = NULL;
	IS(t, kofi_provider_register(VERSION, &bad), -FI_EINVAL);
	bad = good;
	bad.fabric = NULL;
	IS(t, kofi_provider_register(VERSION, &bad), -FI_EINVAL);
	IS(t, kofi_provider_deregister(NULL), -FI_ENOENT);
	IS(t, kofi_provider_deregister(&good), -FI_ENOENT);
	IS(t, kofi_provider_register(VERSION, &good), 0);
	IS(t, kofi_provider_register(VERSION, &good), -FI_EALREADY);
	other.name = "KOFI_TEST_FAKE";
	IS(t, kofi_provider_register(VERSION, &other), -FI_EALREADY);
	IS(t, kofi_provider_deregister(&other), -FI_ENOENT);
	IS(t, kofi_provider_deregister(&good), 0);
	IS(t, kofi_provider_deregister(&good), -FI_ENOENT);
out:
	return;
}

static void in_use(struct test *t)
{
	struct fi_fabric_attr attr = { .prov_name = "kofi_test_fake" };
	struct fid_fabric *fabric, *second;
	int refs = module_refcount(THIS_MODULE);

	IS(t, fi_fabric(&attr, &fabric, NULL), -FI_ENODEV);
	IS(t, kofi_provider_register(VERSION, &good), 0);
	IS(t, fi_fabric(&attr, &fabric, NULL), 0);
	IS(t, module_refcount(THIS_MODULE), refs + 1);
	IS(t, kofi_provider_deregister(&good), -FI_EBUSY);
	IS(t, fi_fabric(&attr, &second, NULL), 0);
	IS(t, fi_close(&second->fid), 0);
	IS(t, kofi_provider_deregister(&good), -FI_EBUSY);
	IS(t, fi_close(&fabric->fid), 0);
	IS(t, kofi_provider_deregister(&good), 0);
	IS(t, module_refcount(THIS_MODULE), refs);
out:
	return;
}

static void cycles(struct test *t)
{
	struct fi_fabric_attr attr = { .prov_name = "kofi_test_fake" };
	struct fid_fabric *fabric;
	struct fi_info *info, hints = { .fabric_attr = &attr, .mode = ~0ULL };
	int i;

	for (i = 0; i < 1000; i++) {
		IS(t, kofi_provider_register(VERSION, &good), 0);
		IS(t, fi_getinfo(VERSION, NULL, NULL, 0, &hints, &info), 0);
		IS(t, strcmp(info->fabric_attr->prov_name, "kofi_test_fake"), 0);
		IS(t, info->fabric_attr->prov_version, FI_VERSION(3, 1));
		IS(t, fi_fabric(info->fabric_attr, &fabric, NULL), 0);
		fi_freeinfo(info);
		IS(t, fi_close(&fabric->fid), 0);
		IS(t, kofi_provider_deregister(&good), 0);
	}
	IS(t, given, 0);
out:
	return;
}

/* One that says what there is in a namespace. */
static void queried(struct test *t)
{
	struct fi_fabric_attr attr = { .prov_name = "kofi_test_fake" };
	struct fi_info *info = NULL, hints = { .fabric_attr = &attr, .mode = ~0ULL };
	struct kofi_provider by_query = good;

	by_query.getinfo = NULL;
	by_query.freeinfo = NULL;
	by_query.query = fake_query;
	IS(t, kofi_provider_register(VERSION, &by_query), 0);
	IS(t, kofi_getinfo(&init_net, VERSION, NULL, NULL, 0, &hints, &info), 0);
	IS(t, kofi_provider_deregister(&by_query), 0);
out:
	fi_freeinfo(info);
}

/* Fabrics keep their namespace. */
static void namespaces(struct test *t)
{
	struct fi_fabric_attr attr = { .prov_name = "kofi_test_fake" };
	struct fi_info *info = NULL, hints = { .fabric_attr = &attr, .mode = ~0ULL };
	struct fid_fabric *fabric;

	IS(t, kofi_getinfo(&init_net, VERSION, NULL, NULL, 0, &hints, &info), -FI_ENODATA);
	IS(t, kofi_fabric(&init_net, NULL, &fabric, NULL), -FI_EINVAL);
	IS(t, kofi_fabric(&init_net, &attr, &fabric, NULL), -FI_ENODEV);
	IS(t, kofi_provider_register(VERSION, &good), 0);
	IS(t, kofi_getinfo(&init_net, VERSION, NULL, NULL, 0, &hints, &info), 0);
	IS(t, kofi_fabric(&init_net, info->fabric_attr, &fabric, NULL), 0);
	NEED(t, fabric->net == &init_net && fabric->api_version == VERSION, 0);
	IS(t, kofi_fabric_close(fabric), 0);
	IS(t, kofi_provider_deregister(&good), 0);
out:
	fi_freeinfo(info);
}

static void query(struct test *t)
{
	struct fi_info *info = NULL;

	IS(t, fi_getinfo(FI_VERSION(99, 0), NULL, NULL, 0, NULL, &info), -FI_ENOSYS);
	IS(t, fi_getinfo(VERSION, NULL, NULL, 1ULL << 62, NULL, &info), -FI_EBADFLAGS);
	IS(t, fi_getinfo(VERSION, NULL, NULL, FI_SOURCE, NULL, &info), -FI_EINVAL);
	NEED(t, !info, 0);
	IS(t, fi_version(), FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION));
out:
	return;
}

static void dup(struct test *t)
{
	struct fi_info *info = fi_allocinfo(), *copy = NULL;

	NEED(t, info, 0);
	info->src_addr = kmemdup("abcdefgh", 8, GFP_KERNEL);
	info->src_addrlen = 8;
	info->domain_attr->name = kstrdup("dom", GFP_KERNEL);
	info->fabric_attr->prov_name = kstrdup("prov", GFP_KERNEL);
	info->next = info;
	copy = fi_dupinfo(info);
	info->next = NULL;
	NEED(t, copy && !copy->next, 0);
	NEED(t, copy->src_addr != info->src_addr && !memcmp(copy->src_addr, "abcdefgh", 8), 0);
	NEED(t, copy->domain_attr->name != info->domain_attr->name, 0);
	IS(t, strcmp(copy->domain_attr->name, "dom"), 0);
	NEED(t, !copy->dest_addr && !copy->fabric_attr->name, 0);
out:
	fi_freeinfo(copy);
	fi_freeinfo(info);
	fi_freeinfo(NULL);
}

void test_registry(struct test *t)
{
	test_case(t, "register, deregister: misuse", misuse);
	test_case(t, "a provider in use is not deregistered", in_use);
	test_case(t, "1000 cycles of register, discover, open, close, deregister", cycles);
	test_case(t, "a provider that is asked by namespace", queried);
	test_case(t, "kofi_getinfo, kofi_fabric: a network namespace", namespaces);
	test_case(t, "fi_getinfo: misuse", query);
	test_case(t, "fi_dupinfo, fi_freeinfo", dup);
}
