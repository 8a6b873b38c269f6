/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <dlfcn.h>
#include <pthread.h>
#include <rdma/fi_errno.h>

#include "verbs/provider.h"

struct vrb_ibv vrb_ibv;
struct vrb_cm_lib vrb_cm;

/* enum ibv_fork_status, which an older libibverbs has no name for. */
#define VRB_FORK_UNNEEDED 2

static int result;

static void *load_lib(const char *name, const char *package)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		VRB_WARN(FI_LOG_CORE, "this host has RDMA devices, but %s cannot be loaded (%s): "
			 "install the package %s\n", name, dlerror(), package);
	return lib;
}

static int find_symbol(void *lib, const char *name, void *call_p)
{
	*(void **) call_p = dlsym(lib, name);
	if (*(void **) call_p)
		return 0;
	VRB_WARN(FI_LOG_CORE, "the installed RDMA libraries have no function %s: they are older "
		 "than what this provider can use; upgrade rdma-core\n", name);
	return -FI_ENOSYS;
}

/* The first store into a page that a parent shares with its child may give the parent a copy of
 * the page, while the device keeps using the original.
 */
bool vrb_lib_fork_safe(void)
{
	int ret;

	if (vrb_ibv.is_fork_initialized && vrb_ibv.is_fork_initialized() == VRB_FORK_UNNEEDED)
		return true;
	if (vrb_conf.fork_unsafe)
		return false;
	ret = vrb_ibv.fork_init();
	if (!ret)
		return true;
	VRB_WARN(FI_LOG_CORE, "memory of RDMA devices is not safe from fork(): ibv_fork_init says "
		 "%s. Something registered memory before; set RDMAV_FORK_SAFE=1 in the environment, "
		 "or FI_FORK_UNSAFE=1 if the program starts no children\n", fi_strerror(ret));
	return false;
}

static void open_all(void)
{
	void *ibv = load_lib("libibverbs.so.1", "libibverbs1");
	void *cm = ibv ? load_lib("librdmacm.so.1", "librdmacm1") : NULL;

	result = cm ? 0 : -FI_ENOSYS;
	if (result)
		return;
#define FIND(name) if (!result) result = find_symbol(ibv, "ibv_" #name, &vrb_ibv.name);
	VRB_IBV_CALLS(FIND)
#undef FIND
	*(void **) &vrb_ibv.reg_dmabuf_mr = dlsym(ibv, "ibv_reg_dmabuf_mr");
	*(void **) &vrb_ibv.is_fork_initialized = dlsym(ibv, "ibv_is_fork_initialized");
	*(void **) &vrb_ibv.cmd_destroy_qp = dlsym(ibv, "ibv_cmd_destroy_qp");
#define FIND(name) if (!result) result = find_symbol(cm, "rdma_" #name, &vrb_cm.name);
	VRB_CM_CALLS(FIND)
#undef FIND
	*(void **) &vrb_cm.init_qp_attr = dlsym(cm, "rdma_init_qp_attr");
	*(void **) &vrb_cm.establish = dlsym(cm, "rdma_establish");
	*(void **) &vrb_cm.set_option = dlsym(cm, "rdma_set_option");
	if (!result)
		vrb_lib_fork_safe();
}

int vrb_lib_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_all);
	return result;
}
