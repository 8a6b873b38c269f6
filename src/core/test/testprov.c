/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* A loadable provider for the tests of the core.  Compiled several times:
 *
 *   TESTPROV_NAME        its name
 *   TESTPROV_SECOND      name of a second provider, or not defined
 *   TESTPROV_VERSION     its version
 *   TESTPROV_INTERFACE   the interface it was "written for"
 *   TESTPROV_TAG         a number that tells the files apart
 *   TESTPROV_OWN         built as those of this tree are (base/module/calls.h), else as others are
 */

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "base/list.h"
#include "base/provider.h"
#include "core/test/testprov.h"

#ifndef TESTPROV_INTERFACE
#define TESTPROV_INTERFACE FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)
#endif

static void tell(enum testprov_event event, const struct testprov_call *call)
{
	static const struct testprov_call none = {
		.prov = TESTPROV_NAME,
		.tag = TESTPROV_TAG,
	};
	testprov_tell_fn *fn;

	*(void **) &fn = dlsym(RTLD_DEFAULT, "testprov_tell");
	if (fn)
		fn(event, call ? call : &none);
}

__attribute__((constructor))
static void loaded(void)
{
	tell(TESTPROV_LOAD, NULL);
}

__attribute__((destructor))
static void unloaded(void)
{
	tell(TESTPROV_UNLOAD, NULL);
}

static int fabric_close(struct fid *fid)
{
	struct fid_fabric *fabric = container_of(fid, struct fid_fabric, fid);

	if (fid->context && !strcmp(fid->context, TESTPROV_STICKY))
		return -FI_EBUSY;
	tell(TESTPROV_CLOSE, NULL);
	free(fabric);
	return 0;
}

static struct fi_ops fabric_ops = {
	.size = sizeof(fabric_ops),
	.close = fabric_close,
};

static int fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
		       void *context)
{
	struct fid_fabric *fabric = calloc(1, sizeof(*fabric));

	if (!fabric)
		return -FI_ENOMEM;
	tell(TESTPROV_FABRIC, NULL);
	fabric->fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.context = context;
	fabric->fid.ops = &fabric_ops;
	*fabric_p = fabric;
	return 0;
}

static int nic_close(struct fid *fid)
{
	free(fid);
	return 0;
}

static struct fi_ops nic_ops = {
	.size = sizeof(nic_ops),
	.close = nic_close,
};

/* A NIC whose close is code of this file, as in a real provider. */
static struct fid_nic *nic_make(void)
{
	struct fid_nic *nic = calloc(1, sizeof(*nic));

	if (nic) {
		nic->fid.fclass = FI_CLASS_NIC;
		nic->fid.ops = &nic_ops;
	}
	return nic;
}

/* Answers every query but FI_EP_DGRAM.  Service "42" makes it require FI_MR_ENDPOINT. */
static int answer(const char *name, uint32_t version, const char *node,
		  const char *service, uint64_t flags, const struct fi_info *hints,
		  struct fi_info **info_p)
{
	struct testprov_call call = {
		.prov = name, .tag = TESTPROV_TAG, .version = version, .node = node,
		.service = service, .flags = flags, .hints = hints,
	};
	struct fi_info *info;

	tell(TESTPROV_GETINFO, &call);
	if (hints && hints->ep_attr && hints->ep_attr->type == FI_EP_DGRAM)
		return -FI_ENODATA;
	info = fi_allocinfo();
	if (!info)
		return -FI_ENOMEM;
	info->fabric_attr->name = strdup("testnet");
	info->domain_attr->name = strdup(name);
	info->ep_attr->type = FI_EP_RDM;
	info->addr_format = strcmp(name, "beta") ? FI_SOCKADDR_IN : FI_ADDR_STR;
	info->domain_attr->mr_mode = service && !strcmp(service, "42") ?
				     FI_MR_ENDPOINT : 0;
	info->nic = nic_make();
	*info_p = info;
	return 0;
}

static void cleanup(void)
{
	tell(TESTPROV_CLEANUP, NULL);
}

static int first_getinfo(uint32_t version, const char *node, const char *service,
			 uint64_t flags, const struct fi_info *hints,
			 struct fi_info **info_p)
{
	return answer(TESTPROV_NAME, version, node, service, flags, hints, info_p);
}

static struct fi_provider first = {
	.name = TESTPROV_NAME,
	.version = TESTPROV_VERSION,
	.fi_version = TESTPROV_INTERFACE,
	.getinfo = first_getinfo,
	.fabric = fabric_open,
	.cleanup = cleanup,
};

#ifdef TESTPROV_OWN
OFI_PROVIDER_INI(testprov)
#else
FI_EXT_INI
#endif
{
	fi_param_define(&first, "speed", FI_PARAM_INT, "Nothing in particular");
	return &first;
}

#ifdef TESTPROV_SECOND
static int second_getinfo(uint32_t version, const char *node, const char *service,
			  uint64_t flags, const struct fi_info *hints,
			  struct fi_info **info_p)
{
	return answer(TESTPROV_SECOND, version, node, service, flags, hints, info_p);
}

static struct fi_provider second = {
	.name = TESTPROV_SECOND,
	.version = TESTPROV_VERSION,
	.fi_version = TESTPROV_INTERFACE,
	.getinfo = second_getinfo,
	.fabric = fabric_open,
	.cleanup = cleanup,
};

__attribute__((visibility("default")))
struct fi_provider *fi_prov_ini2(void)
{
	return &second;
}
#endif
