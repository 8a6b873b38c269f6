/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* hsa.c - libhsa-runtime64.so.1.  Agent 1 is the CPU, agents 100 and up are devices. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev.h"

typedef int res;
typedef struct { uint64_t handle; } agent;
typedef struct { uint64_t handle; } sig;

#define API DEV_API res
#define PLAN(name) do { if (dev_fails(name)) return ERROR; } while (0)
#define GPU 100

enum { OK = 0, ERROR = 0x1000, INVALID = 0x1001, NO_MEMORY = 0x1008 };

struct info {
	uint32_t size;
	int type;
	void *agent_base, *host_base;
	size_t len;
	void *user;
	agent owner;
	uint32_t flags;
	bool registered;
};

struct signal {
	int64_t val;
	struct dev_event ev;
	bool copying;
};

API hsa_init(void);
API hsa_init(void)
{
	PLAN("hsa_init");
	return dev_count() > 0 ? OK : ERROR;
}

API hsa_shut_down(void);
API hsa_shut_down(void)
{
	return OK;
}

API hsa_status_string(res status, const char **text);
API hsa_status_string(res status, const char **text)
{
	*text = status == ERROR ? "HSA_STATUS_ERROR: a generic error has occurred" :
		status == INVALID ? "HSA_STATUS_ERROR_INVALID_ARGUMENT" :
		status == NO_MEMORY ? "HSA_STATUS_ERROR_OUT_OF_RESOURCES" :
		status < 0 ? "the copy has failed" : "HSA_STATUS_SUCCESS";
	return OK;
}

API hsa_iterate_agents(res (*fn)(agent a, void *arg), void *arg);
API hsa_iterate_agents(res (*fn)(agent a, void *arg), void *arg)
{
	res ret = fn((agent) { 1 }, arg);
	int i;

	PLAN("hsa_iterate_agents");
	for (i = 0; !ret && i < dev_count(); i++)
		ret = fn((agent) { (uint64_t) (GPU + i) }, arg);
	return ret;
}

API hsa_agent_get_info(agent a, int what, void *val);
API hsa_agent_get_info(agent a, int what, void *val)
{
	PLAN("hsa_agent_get_info");
	if (what != 17)
		return INVALID;
	*(unsigned *) val = a.handle >= GPU;
	return OK;
}

/* The one pool of an agent is known by the agent's number. */
API hsa_amd_agent_iterate_memory_pools(agent a, res (*fn)(agent pool, void *arg), void *arg);
API hsa_amd_agent_iterate_memory_pools(agent a, res (*fn)(agent pool, void *arg), void *arg)
{
	res ret = fn(a, arg);

	return ret == 1 ? OK : ret;	/* 1: HSA_STATUS_INFO_BREAK */
}

/* What is 0 for the segment (0: global), 1 for its flags, 5 whether it allocates. */
API hsa_amd_memory_pool_get_info(agent pool, int what, void *val);
API hsa_amd_memory_pool_get_info(agent pool, int what, void *val)
{
	(void) pool;
	*(unsigned *) val = what == 0 ? 0 : what == 1 ? 4 : 1;
	return OK;
}

API hsa_amd_memory_pool_allocate(agent pool, size_t len, uint32_t flags, void **at);
API hsa_amd_memory_pool_allocate(agent pool, size_t len, uint32_t flags, void **at)
{
	struct dev_mem *mem;

	PLAN("hsa_amd_memory_pool_allocate");
	if (flags)
		return INVALID;
	mem = pool.handle < GPU ? dev_alloc(len, -1, DEV_HOST) :
				  dev_alloc(len, (int) (pool.handle - GPU), DEV_DEVICE);
	*at = mem ? mem->va : NULL;
	return mem ? OK : NO_MEMORY;
}

/* Who wants to know that memory is freed. */
static struct on_free {
	struct on_free *next;
	void *at;
	void (*fn)(void *at, void *arg);
	void *arg;
} *on_frees;

API hsa_amd_register_deallocation_callback(void *at, void (*fn)(void *at, void *arg), void *arg);
API hsa_amd_register_deallocation_callback(void *at, void (*fn)(void *at, void *arg), void *arg)
{
	struct dev_mem *mem = dev_find(at);
	struct on_free *f;

	PLAN("hsa_amd_register_deallocation_callback");
	if (!mem || mem->va != at)
		return INVALID;
	f = malloc(sizeof(*f));
	*f = (struct on_free) { on_frees, at, fn, arg };
	on_frees = f;
	return OK;
}

static void tell_freed(void *at)
{
	struct on_free **f = &on_frees, *gone;

	while ((gone = *f)) {
		if (gone->at != at) {
			f = &gone->next;
			continue;
		}
		*f = gone->next;
		gone->fn(at, gone->arg);
		free(gone);
	}
}

API hsa_amd_memory_pool_free(void *at);
API hsa_amd_memory_pool_free(void *at)
{
	struct dev_mem *mem = dev_find(at);

	if (!mem || mem->va != at || mem->imported)
		return INVALID;
	dev_drain();
	tell_freed(mem->va);
	dev_free(mem);
	return OK;
}

API hsa_memory_copy(void *dst, const void *src, size_t len);
API hsa_memory_copy(void *dst, const void *src, size_t len)
{
	PLAN("hsa_memory_copy");
	return dev_copy(dst, src, len) ? OK : ERROR;
}

API hsa_amd_memory_fill(void *dst, uint32_t val, size_t cnt);
API hsa_amd_memory_fill(void *dst, uint32_t val, size_t cnt)
{
	return dev_set(dst, (int) (val & 0xff), cnt * sizeof(val)) ? OK : INVALID;
}

API hsa_amd_pointer_info(const void *at, struct info *info, void *(*alloc)(size_t), uint32_t *cnt,
			 agent **agents);
API hsa_amd_pointer_info(const void *at, struct info *info, void *(*alloc)(size_t), uint32_t *cnt,
			 agent **agents)
{
	struct dev_mem *mem = dev_find(at);
	uint32_t size = info->size;

	(void) alloc;
	(void) cnt;
	(void) agents;
	PLAN("hsa_amd_pointer_info");
	if (size < sizeof(*info))
		return INVALID;
	*info = (struct info) { .size = size };
	if (!mem)
		return OK;
	info->type = mem->imported ? 4 : 1;
	info->agent_base = mem->va;
	info->len = mem->len;
	info->owner.handle = mem->type == DEV_HOST ? 1 : (uint64_t) (GPU + mem->device);
	return OK;
}

/* ---- signals and copies ---------------------------------------------------------------- */

static struct signal *of(sig s)
{
	return (void *) (uintptr_t) s.handle;
}

API hsa_signal_create(int64_t val, uint32_t cnt, const agent *users, sig *out);
API hsa_signal_create(int64_t val, uint32_t cnt, const agent *users, sig *out)
{
	struct signal *s;

	(void) cnt;
	(void) users;
	PLAN("hsa_signal_create");
	s = calloc(1, sizeof(*s));
	s->val = val;
	out->handle = (uintptr_t) s;
	return OK;
}

API hsa_signal_destroy(sig s);
API hsa_signal_destroy(sig s)
{
	free(of(s));
	return OK;
}

DEV_API void hsa_signal_store_screlease(sig s, int64_t val);
DEV_API void hsa_signal_store_screlease(sig s, int64_t val)
{
	of(s)->val = val;
	of(s)->copying = false;
}

/* A copy that fails by plan does so at its end, as an engine reports it. */
static int64_t load(struct signal *s)
{
	int state;

	if (!s->copying)
		return s->val;
	state = dev_event_state(&s->ev);
	if (!state)
		return s->val;
	s->copying = false;
	s->val = state < 0 || dev_fails("copy end") ? -1 : s->val - 1;
	return s->val;
}

DEV_API int64_t hsa_signal_load_scacquire(sig s);
DEV_API int64_t hsa_signal_load_scacquire(sig s)
{
	return load(of(s));
}

DEV_API int64_t hsa_signal_wait_scacquire(sig s, int cond, int64_t val, uint64_t timeout, int how);
DEV_API int64_t hsa_signal_wait_scacquire(sig s, int cond, int64_t val, uint64_t timeout, int how)
{
	(void) cond;
	(void) val;
	(void) timeout;
	(void) how;
	dev_note("hsa_signal_wait_scacquire");
	if (of(s)->copying)
		dev_event_wait(&of(s)->ev);
	return load(of(s));
}

API hsa_amd_memory_async_copy(void *dst, agent to, const void *src, agent from, size_t len,
			      uint32_t dep_cnt, const sig *deps, sig done);
API hsa_amd_memory_async_copy(void *dst, agent to, const void *src, agent from, size_t len,
			      uint32_t dep_cnt, const sig *deps, sig done)
{
	(void) deps;
	PLAN("hsa_amd_memory_async_copy");
	if (dep_cnt || !to.handle || !from.handle || (to.handle >= GPU && !dev_find(dst)) ||
	    (from.handle >= GPU && !dev_find(src)))
		return INVALID;
	of(done)->copying = true;
	dev_copy_start(dst, src, len, &of(done)->ev);
	return OK;
}

API hsa_amd_memory_lock(void *buf, size_t len, agent *agents, int cnt, void **at);
API hsa_amd_memory_lock(void *buf, size_t len, agent *agents, int cnt, void **at)
{
	(void) agents;
	(void) cnt;
	PLAN("hsa_amd_memory_lock");
	*at = buf;
	return buf && len ? OK : INVALID;
}

API hsa_amd_memory_unlock(void *buf);
API hsa_amd_memory_unlock(void *buf)
{
	return buf ? OK : INVALID;
}

/* ---- sharing -------------------------------------------------------------------------------- */

/* 32 bytes: number of the process and of its descriptor, device, length, inode. */
struct ipc {
	int32_t pid, fd, device, pad;
	uint64_t ino, len;
};

API hsa_amd_ipc_memory_create(void *base, size_t len, struct ipc *out);
API hsa_amd_ipc_memory_create(void *base, size_t len, struct ipc *out)
{
	struct dev_ipc ipc;

	PLAN("hsa_amd_ipc_memory_create");
	if (!len || !dev_ipc_get(base, &ipc))
		return INVALID;
	*out = (struct ipc) { ipc.pid, ipc.fd, ipc.device, (int32_t) ipc.magic, ipc.ino, ipc.len };
	return OK;
}

API hsa_amd_ipc_memory_attach(const struct ipc *in, size_t len, uint32_t cnt, const agent *agents,
			      void **base);
API hsa_amd_ipc_memory_attach(const struct ipc *in, size_t len, uint32_t cnt, const agent *agents,
			      void **base)
{
	struct dev_ipc ipc = { .magic = UINT64_C(0x6670676569706331), .pid = in->pid, .fd = in->fd,
			       .device = in->device, .ino = in->ino, .len = in->len };
	struct dev_mem *mem;

	(void) cnt;
	(void) agents;
	PLAN("hsa_amd_ipc_memory_attach");
	mem = len <= in->len ? dev_ipc_open(&ipc) : NULL;
	*base = mem ? mem->va : NULL;
	return mem ? OK : INVALID;
}

API hsa_amd_ipc_memory_detach(void *base);
API hsa_amd_ipc_memory_detach(void *base)
{
	struct dev_mem *mem = dev_find(base);

	if (!mem || !mem->imported)
		return INVALID;
	dev_drain();
	dev_free(mem);
	return OK;
}

API hsa_amd_portable_export_dmabuf(const void *at, size_t len, int *fd, uint64_t *off);
API hsa_amd_portable_export_dmabuf(const void *at, size_t len, int *fd, uint64_t *off)
{
	struct dev_mem *mem = dev_find(at);

	PLAN("hsa_amd_portable_export_dmabuf");
	if (!mem || mem->type != DEV_DEVICE)
		return INVALID;
	*off = (uint64_t) ((const char *) at - mem->va);
	*fd = len <= mem->len - *off ? dup(mem->fd) : -1;
	return *fd < 0 ? INVALID : OK;
}
