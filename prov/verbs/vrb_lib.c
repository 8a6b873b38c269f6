/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <dlfcn.h>
#include <pthread.h>
#include <rdma/fi_errno.h>

#include "vrb.h"

struct vrb_ibv vrb_ibv;
struct vrb_cm_lib vrb_cm;

static int result;

static void *open_one(const char *name, const char *package)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		VRB_WARN(FI_LOG_CORE, "this host has RDMA devices, but %s cannot be loaded (%s): "
			 "install the package %s\n", name, dlerror(), package);
	return lib;
}

static int find(void *lib, const char *name, void *call_p)
{
	*(void **) call_p = dlsym(lib, name);
	if (*(void **) call_p)
		return 0;
	VRB_WARN(FI_LOG_CORE, "the installed RDMA libraries have no function %s: they are older "
		 "than what this provider can use; upgrade rdma-core\n", name);
	return -FI_ENOSYS;
}

static void open_all(void)
{
	void *ibv = open_one("libibverbs.so.1", "libibverbs1");
	void *cm = ibv ? open_one("librdmacm.so.1", "librdmacm1") : NULL;

	result = cm ? 0 : -FI_ENOSYS;
	if (result)
		return;
#define FIND(name) if (!result) result = find(ibv, "ibv_" #name, &vrb_ibv.name);
	VRB_IBV_CALLS(FIND)
#undef FIND
	*(void **) &vrb_ibv.reg_dmabuf_mr = dlsym(ibv, "ibv_reg_dmabuf_mr");
#define FIND(name) if (!result) result = find(cm, "rdma_" #name, &vrb_cm.name);
	VRB_CM_CALLS(FIND)
#undef FIND
}

int vrb_lib_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_all);
	return result;
}
