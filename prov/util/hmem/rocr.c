/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rocr.c - memory of AMD devices, by the HSA runtime (libhsa-runtime64.so.1).
 *
 * A device is an agent; its number is its place among the GPU agents.  A copy names the agents
 * of both its ends and decrements a signal, which becomes negative if it fails.
 */
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hmem/kind.h"

/* Facts of the runtime's interface. */
typedef int hsa_status;
typedef struct { uint64_t handle; } hsa_agent;
typedef struct { uint64_t handle; } hsa_signal;
struct hsa_ptr_info {
	uint32_t size;			/* of this struct, set by the caller */
	int type;			/* HSA_PTR_* */
	void *agent_base;
	void *host_base;
	size_t len;
	void *user;
	hsa_agent owner;
	uint32_t global_flags;
	bool registered;
};

enum {
	HSA_OK = 0,
	HSA_INFO_DEVICE = 17,		/* of an agent: HSA_DEVICE_* */
	HSA_DEVICE_CPU = 0,
	HSA_DEVICE_GPU = 1,
	HSA_PTR_UNKNOWN = 0,
	HSA_PTR_LOCKED = 2,
	HSA_COND_LT = 2,
	HSA_WAIT_ACTIVE = 1,
};

static struct {
	hsa_status (*init)(void);
	hsa_status (*status_string)(hsa_status status, const char **text);
	hsa_status (*iterate_agents)(hsa_status (*fn)(hsa_agent agent, void *arg), void *arg);
	hsa_status (*agent_get_info)(hsa_agent agent, int what, void *val);
	hsa_status (*pointer_info)(const void *addr, struct hsa_ptr_info *info,
				   void *(*alloc)(size_t), uint32_t *cnt, hsa_agent **agents);
	hsa_status (*async_copy)(void *dst, hsa_agent to, const void *src, hsa_agent from, size_t len,
				 uint32_t dep_cnt, const hsa_signal *deps, hsa_signal done);
	hsa_status (*signal_create)(int64_t val, uint32_t cnt, const hsa_agent *users,
				    hsa_signal *signal);
	hsa_status (*signal_destroy)(hsa_signal signal);
	void (*signal_store)(hsa_signal signal, int64_t val);
	int64_t (*signal_load)(hsa_signal signal);
	int64_t (*signal_wait)(hsa_signal signal, int cond, int64_t val, uint64_t timeout, int how);
	hsa_status (*lock)(void *buf, size_t len, hsa_agent *agents, int cnt, void **agent_ptr);
	hsa_status (*unlock)(void *buf);
	hsa_status (*ipc_create)(void *base, size_t len, void *handle);
	hsa_status (*ipc_attach)(const void *handle, size_t len, uint32_t cnt, const hsa_agent *agents,
				 void **base);
	hsa_status (*ipc_detach)(void *base);
	hsa_status (*on_free)(void *base, void (*fn)(void *base, void *arg), void *arg);
	hsa_status (*export_dmabuf)(const void *addr, size_t len, int *fd, uint64_t *off);
} hsa;

static const struct hmem_func funcs[] = {
	{ "hsa_init", &hsa.init, false },
	{ "hsa_status_string", &hsa.status_string, false },
	{ "hsa_iterate_agents", &hsa.iterate_agents, false },
	{ "hsa_agent_get_info", &hsa.agent_get_info, false },
	{ "hsa_amd_pointer_info", &hsa.pointer_info, false },
	{ "hsa_amd_memory_async_copy", &hsa.async_copy, false },
	{ "hsa_signal_create", &hsa.signal_create, false },
	{ "hsa_signal_destroy", &hsa.signal_destroy, false },
	{ "hsa_signal_store_screlease", &hsa.signal_store, false },
	{ "hsa_signal_load_scacquire", &hsa.signal_load, false },
	{ "hsa_signal_wait_scacquire", &hsa.signal_wait, false },
	{ "hsa_amd_memory_lock", &hsa.lock, false },
	{ "hsa_amd_memory_unlock", &hsa.unlock, false },
	{ "hsa_amd_ipc_memory_create", &hsa.ipc_create, false },
	{ "hsa_amd_ipc_memory_attach", &hsa.ipc_attach, false },
	{ "hsa_amd_ipc_memory_detach", &hsa.ipc_detach, false },
	{ "hsa_amd_register_deallocation_callback", &hsa.on_free, true },
	{ "hsa_amd_portable_export_dmabuf", &hsa.export_dmabuf, true },	/* ROCm 5.3 */
	{ NULL, NULL, false },
};

#define GPU_MAX 64
#define TO_HOST_AT_ONCE 16384	/* copies up to this many bytes are waited for */

static hsa_agent gpus[GPU_MAX], cpu;
static unsigned gpu_cnt;
static bool has_cpu;

/* Signals that are not in use; they are few and stay until the process ends. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hsa_signal spare[64];
static unsigned spare_cnt;

static int rocr_fail(const char *func, uint64_t device, hsa_status status)
{
	const char *text = NULL;

	hsa.status_string(status, &text);
	return hmem_fail(&hmem_rocr, func, device, text, status);
}

static hsa_status add_agent(hsa_agent agent, void *arg)
{
	unsigned type = HSA_DEVICE_CPU;
	hsa_status ret = hsa.agent_get_info(agent, HSA_INFO_DEVICE, &type);

	if (ret)
		return ret;
	if (type == HSA_DEVICE_GPU && gpu_cnt < GPU_MAX)
		gpus[gpu_cnt++] = agent;
	if (type == HSA_DEVICE_CPU && !has_cpu) {
		cpu = agent;
		has_cpu = true;
	}
	return HSA_OK;
}

static int rocr_start(char *why, size_t room)
{
	static const char *const names[] = { "libhsa-runtime64.so.1", "libhsa-runtime64.so", NULL };
	const char *text = NULL;
	hsa_status ret;

	if (hmem_load(names, funcs, why, room))
		return -FI_ENOSYS;
	ret = hsa.init();
	if (!ret)
		ret = hsa.iterate_agents(add_agent, NULL);
	if (ret) {
		hsa.status_string(ret, &text);
		snprintf(why, room, "the runtime does not start: hsa_init or hsa_iterate_agents: %s (%d)",
			 text ? text : "?", ret);
		return -FI_ENODEV;
	}
	if (!gpu_cnt || !has_cpu) {
		snprintf(why, room, "the runtime has started and knows no GPU");
		return -FI_ENODEV;
	}
	return 0;
}

/* ---- where memory is --------------------------------------------------------------- */

static hsa_status info_of(const void *addr, struct hsa_ptr_info *info)
{
	*info = (struct hsa_ptr_info) { .size = sizeof(*info) };
	return hsa.pointer_info(addr, info, NULL, NULL, NULL);
}

static int gpu_of(hsa_agent agent)
{
	unsigned i;

	for (i = 0; i < gpu_cnt; i++)
		if (gpus[i].handle == agent.handle)
			return (int) i;
	return -1;
}

static bool rocr_detect(const void *addr, uint64_t *device_p)
{
	struct hsa_ptr_info info;
	int gpu;

	if (info_of(addr, &info) || info.type == HSA_PTR_UNKNOWN || info.type == HSA_PTR_LOCKED)
		return false;
	gpu = gpu_of(info.owner);
	*device_p = (uint64_t) gpu;
	return gpu >= 0;
}

static int rocr_find(const void *addr, size_t len, struct hmem_loc *loc, const char **why_p)
{
	struct hsa_ptr_info info;
	hsa_status ret = info_of(addr, &info);
	int gpu;

	if (ret) {
		*why_p = "hsa_amd_pointer_info fails";
		return rocr_fail("hsa_amd_pointer_info", loc->device, ret);
	}
	if (info.type == HSA_PTR_UNKNOWN) {
		*why_p = "the HSA runtime does not know this memory: it was freed, or is the host's";
		return -FI_EINVAL;
	}
	if ((uintptr_t) addr - (uintptr_t) info.agent_base > info.len ||
	    len > info.len - ((uintptr_t) addr - (uintptr_t) info.agent_base)) {
		*why_p = "it is longer than its allocation";
		return -FI_EINVAL;
	}
	gpu = info.type == HSA_PTR_LOCKED ? -1 : gpu_of(info.owner);
	loc->host = gpu < 0;
	if (!loc->host && loc->device != (uint64_t) gpu) {
		*why_p = "it is memory of another ROCr device than device.rocr says";
		return -FI_EINVAL;
	}
	loc->ctx = loc->host ? NULL : &gpus[gpu];
	return 0;
}

/* ---- copies ------------------------------------------------------------------------ */

/* The handle of a signal travels as a pointer; both have 64 bits. */
static int get_signal(hsa_signal *signal_p, uint64_t device)
{
	hsa_status ret;
	bool had;

	pthread_mutex_lock(&lock);
	had = spare_cnt > 0;
	if (had)
		*signal_p = spare[--spare_cnt];
	pthread_mutex_unlock(&lock);
	if (had) {
		hsa.signal_store(*signal_p, 1);
		return 0;
	}
	ret = hsa.signal_create(1, 0, NULL, signal_p);
	return ret ? rocr_fail("hsa_signal_create", device, ret) : 0;
}

static void put_signal(hsa_signal signal)
{
	bool kept;

	pthread_mutex_lock(&lock);
	kept = spare_cnt < sizeof(spare) / sizeof(spare[0]);
	if (kept)
		spare[spare_cnt++] = signal;
	pthread_mutex_unlock(&lock);
	if (!kept)
		hsa.signal_destroy(signal);
}

static int rocr_copy_begin(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len,
			   hsa_signal *signal_p)
{
	hsa_agent gpu = *(hsa_agent *) loc->ctx;
	hsa_status ret;
	int err = get_signal(signal_p, loc->device);

	if (err)
		return err;
	ret = dir == HMEM_TO_HOST ?
	      hsa.async_copy(buf, cpu, dev, gpu, len, 0, NULL, *signal_p) :
	      hsa.async_copy(dev, gpu, buf, dir == HMEM_ON_DEVICE ? gpu : cpu, len, 0, NULL,
			     *signal_p);
	if (!ret)
		return 0;
	put_signal(*signal_p);
	return rocr_fail("hsa_amd_memory_async_copy", loc->device, ret);
}

static int rocr_copy_end(hsa_signal signal, int64_t val, uint64_t device)
{
	put_signal(signal);
	return val ? rocr_fail("hsa_amd_memory_async_copy (its end)", device, (hsa_status) val) : 0;
}

static int rocr_copy(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len)
{
	hsa_signal signal;
	int64_t val;
	int ret = rocr_copy_begin(dir, loc, dev, buf, len, &signal);

	if (ret)
		return ret;
	do {
		val = hsa.signal_wait(signal, HSA_COND_LT, 1, UINT64_MAX, HSA_WAIT_ACTIVE);
	} while (val > 0);
	return rocr_copy_end(signal, val, loc->device);
}

static int rocr_copy_start(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf,
			   size_t len, struct hmem_event *event)
{
	hsa_signal signal;
	int ret;

	if (dir == HMEM_TO_HOST && len <= TO_HOST_AT_ONCE) {
		event->kind = NULL;
		return rocr_copy(dir, loc, dev, buf, len);
	}
	ret = rocr_copy_begin(dir, loc, dev, buf, len, &signal);
	if (!ret)
		event->handle = (void *) (uintptr_t) signal.handle;
	return ret;
}

static int rocr_copy_done(struct hmem_event *event)
{
	hsa_signal signal = { (uintptr_t) event->handle };
	int64_t val = hsa.signal_load(signal);
	int ret;

	if (val > 0)
		return 0;
	ret = rocr_copy_end(signal, val, (uint64_t) ((hsa_agent *) event->ctx - gpus));
	return ret ? ret : 1;
}

static int rocr_pin(void *buf, size_t len)
{
	void *agent_ptr;
	hsa_status ret = hsa.lock(buf, len, NULL, 0, &agent_ptr);

	return ret ? rocr_fail("hsa_amd_memory_lock", 0, ret) : 0;
}

static void rocr_unpin(void *buf)
{
	hsa.unlock(buf);
}

static int rocr_both_alloc(uint64_t device, size_t len, void **host_p, void **dev_p, const char **why_p)
{
	hsa_status ret;

	*why_p = "there is no ROCr device of that number";
	if (device >= gpu_cnt)
		return -FI_EINVAL;
	*why_p = "no memory";
	if (posix_memalign(host_p, (size_t) sysconf(_SC_PAGESIZE), len))
		return -FI_ENOMEM;
	*why_p = "the runtime does not lock memory of the host for it";
	ret = hsa.lock(*host_p, len, &gpus[device], 1, dev_p);
	if (!ret)
		return 0;
	free(*host_p);
	return rocr_fail("hsa_amd_memory_lock", device, ret);
}

static void rocr_both_free(uint64_t device, void *host)
{
	(void) device;
	hsa.unlock(host);
	free(host);
}

/* ---- sharing ------------------------------------------------------------------------- */

static int rocr_range(const struct hmem_loc *loc, const void *addr, void **base_p, size_t *len_p)
{
	struct hsa_ptr_info info;
	hsa_status ret = info_of(addr, &info);

	if (ret)
		return rocr_fail("hsa_amd_pointer_info", loc->device, ret);
	if (info.type == HSA_PTR_UNKNOWN)
		return -FI_EINVAL;
	*base_p = info.agent_base;
	*len_p = info.len;
	return 0;
}

/* Allocations with a number, from the first query until the runtime says that they are freed. */
struct numbered {
	struct numbered *next;
	void *base;
	uint64_t id;
};
static struct numbered *numbered;	/* guarded by @lock */
static uint64_t last_id;

static void on_freed(void *base, void *arg)
{
	struct numbered **at, *n = arg;

	pthread_mutex_lock(&lock);
	for (at = &numbered; *at && *at != n; at = &(*at)->next)
		;
	if (*at)
		*at = n->next;
	pthread_mutex_unlock(&lock);
	free(n);
}

/* The number of @base, or 0. */
static uint64_t number_of(const void *base)
{
	struct numbered *n;
	uint64_t id;

	pthread_mutex_lock(&lock);
	for (n = numbered; n && n->base != base; n = n->next)
		;
	id = n ? n->id : 0;
	pthread_mutex_unlock(&lock);
	return id;
}

static int give_number(const struct hmem_loc *loc, void *base, uint64_t *id_p)
{
	struct numbered *n = calloc(1, sizeof(*n));
	hsa_status ret;

	if (!n)
		return -FI_ENOMEM;
	ret = hsa.on_free(base, on_freed, n);
	if (ret) {
		free(n);
		return rocr_fail("hsa_amd_register_deallocation_callback", loc->device, ret);
	}
	n->base = base;
	pthread_mutex_lock(&lock);
	*id_p = n->id = ++last_id;
	n->next = numbered;
	numbered = n;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* The runtime numbers nothing by itself; it tells when an allocation is freed. */
static int rocr_id(const struct hmem_loc *loc, const void *addr, uint64_t *id_p)
{
	size_t len;
	void *base = NULL;
	int ret = hsa.on_free ? rocr_range(loc, addr, &base, &len) : -FI_EOPNOTSUPP;

	if (ret)
		return ret;
	*id_p = number_of(base);
	return *id_p ? 0 : give_number(loc, base, id_p);
}

static int rocr_ipc_get(const struct hmem_loc *loc, void *base, char handle[HMEM_IPC_SIZE])
{
	struct hsa_ptr_info info;
	hsa_status ret = info_of(base, &info);

	if (!ret)
		ret = hsa.ipc_create(base, info.len, handle);
	return ret ? rocr_fail("hsa_amd_ipc_memory_create", loc->device, ret) : 0;
}

static int rocr_ipc_open(const struct hmem_loc *loc, const char handle[HMEM_IPC_SIZE], size_t len,
			 void **base_p)
{
	hsa_status ret = hsa.ipc_attach(handle, len, 1, loc->ctx, base_p);

	return ret ? rocr_fail("hsa_amd_ipc_memory_attach", loc->device, ret) : 0;
}

static int rocr_ipc_close(const struct hmem_loc *loc, void *base)
{
	hsa_status ret = hsa.ipc_detach(base);

	return ret ? rocr_fail("hsa_amd_ipc_memory_detach", loc->device, ret) : 0;
}

static bool rocr_exports(void)
{
	return hsa.export_dmabuf;
}

static int rocr_dmabuf(const struct hmem_loc *loc, void *addr, size_t len, int *fd_p, uint64_t *off_p)
{
	hsa_status ret;

	if (!rocr_exports())
		return -FI_EOPNOTSUPP;
	ret = hsa.export_dmabuf(addr, len, fd_p, off_p);
	return ret ? rocr_fail("hsa_amd_portable_export_dmabuf", loc->device, ret) : 0;
}

const struct hmem_kind hmem_rocr = {
	.iface = FI_HMEM_ROCR, .name = "ROCr", .word = "rocr",
	.start = rocr_start, .find = rocr_find, .detect = rocr_detect,
	.copy = rocr_copy, .copy_start = rocr_copy_start, .copy_done = rocr_copy_done,
	.pin = rocr_pin, .unpin = rocr_unpin, .both_alloc = rocr_both_alloc, .both_free = rocr_both_free,
	.range = rocr_range, .id = rocr_id,
	.ipc_get = rocr_ipc_get, .ipc_open = rocr_ipc_open, .ipc_close = rocr_ipc_close,
	.dmabuf = rocr_dmabuf, .exports = rocr_exports,
};
