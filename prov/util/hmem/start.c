/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "hmem/mem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdio.h>
#include <string.h>

#include "base/explain.h"
#include "hmem/kind.h"

#define WHY_MAX 320

static const struct hmem_kind *const kinds[HMEM_KINDS] = {
	[FI_HMEM_CUDA] = &hmem_cuda,
	[FI_HMEM_ROCR] = &hmem_rocr,
	[FI_HMEM_ZE] = &hmem_ze,
	[FI_HMEM_NEURON] = &hmem_neuron,
	[FI_HMEM_SYNAPSEAI] = &hmem_synapse,
};

/* Written once, by start_all(). */
static bool started[HMEM_KINDS];
static char why[HMEM_KINDS][WHY_MAX];
static bool can_copy, p2p_off, gdrcopy;

/* Whose lines these are: the library's, of no provider. */
static struct fi_provider who = { .name = "core" };

/* ---- errors ------------------------------------------------------------------ */

#define FAIL_MAX 128

static pthread_mutex_t fail_lock = PTHREAD_MUTEX_INITIALIZER;
static char fails[FAIL_MAX][160];
static int fail_cnt;

/* note_failure - the number of @text among all that failed so far; the last serves for the rest. */
static int note_failure(const char *text, bool *new_p)
{
	int i;

	for (i = 0; i < fail_cnt; i++)
		if (!strcmp(fails[i], text))
			return i;
	if (fail_cnt == FAIL_MAX)
		return FAIL_MAX - 1;
	snprintf(fails[fail_cnt], sizeof(fails[0]), "%s", text);
	*new_p = true;
	return fail_cnt++;
}

int hmem_fail(const struct hmem_kind *kind, const char *func, uint64_t device, const char *text,
	      long code)
{
	bool is_new = false;
	char line[160];
	int at;

	snprintf(line, sizeof(line), "%s on %s device %llu: %s (%ld)", func, kind->name,
		 (unsigned long long) device, text ? text : "unknown error", code);
	pthread_mutex_lock(&fail_lock);
	at = note_failure(line, &is_new);
	pthread_mutex_unlock(&fail_lock);
	if (is_new)
		FI_WARN(&who, FI_LOG_MR, "device memory: %s\n", line);
	return -(HMEM_ERR_BASE + at);
}

const char *hmem_strerror(int err)
{
	int at = (err < 0 ? -err : err) - HMEM_ERR_BASE;

	return at >= 0 && at < FAIL_MAX && fails[at][0] ? fails[at] : NULL;
}

/* ---- libraries ------------------------------------------------------------------ */

static void *open_first(const char *const *names, char *text, size_t room)
{
	size_t used = 0;
	void *lib;

	for (; *names; names++) {
		lib = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
		if (lib)
			return lib;
		if (used < room)
			used += (size_t) snprintf(text + used, room - used, "%s%s", used ? "; " : "",
						  dlerror());
	}
	return NULL;
}

int hmem_load(const char *const *names, const struct hmem_func *funcs, char *text, size_t room)
{
	void *lib = open_first(names, text, room), *sym;

	if (!lib)
		return -FI_ENOSYS;
	for (; funcs && funcs->name; funcs++) {
		sym = dlsym(lib, funcs->name);
		memcpy(funcs->at, &sym, sizeof(sym));
		if (sym || funcs->optional)
			continue;
		snprintf(text, room, "its library has no function %s: it is older than what this "
			 "one can use", funcs->name);
		return -FI_ENOSYS;
	}
	return 0;
}

/* ---- start ---------------------------------------------------------------------- */

static void params_define(void)
{
	static const struct {
		const char *name;
		enum fi_param_type type;
		const char *help;
	} p[] = {
		{ "hmem", FI_PARAM_STRING, "Device interfaces that may be used, separated by semicolons: "
		  "system, cuda, rocr, ze, neuron, synapseai (default: all that start)" },
		{ "hmem_disable_p2p", FI_PARAM_BOOL,
		  "Copy device memory through the host, never transfer it directly (default: no)" },
		{ "hmem_cuda_use_gdrcopy", FI_PARAM_BOOL,
		  "Copy short buffers of CUDA devices by a mapping of libgdrapi (default: yes)" },
		{ "hmem_cuda_enable_async_copy", FI_PARAM_BOOL,
		  "Copy long buffers of CUDA devices asynchronously (default: yes)" },
	};
	size_t i;

	for (i = 0; i < sizeof(p) / sizeof(p[0]); i++)
		fi_param_define(NULL, p[i].name, p[i].type, "%s", p[i].help);
}

void hmem_params(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, params_define);
}

bool hmem_param_bool(const char *name, bool def)
{
	int val = def;

	fi_param_get_bool(NULL, name, &val);
	return val;
}

/* is_listed - does the value of FI_HMEM name @word? */
static bool is_listed(const char *list, const char *word)
{
	size_t len = strlen(word), n;

	for (; *list; list += n + (list[n] != 0)) {
		n = strcspn(list, ";,");
		if (n == len && !strncasecmp(list, word, n))
			return true;
	}
	return false;
}

static void start_one(const struct hmem_kind *kind, const char *list)
{
	char *text = why[kind->iface];

	if (list && !is_listed(list, kind->word)) {
		snprintf(text, WHY_MAX, "FI_HMEM=%s does not name %s", list, kind->word);
		return;
	}
	started[kind->iface] = !kind->start(text, WHY_MAX);
	if (started[kind->iface]) {
		can_copy |= kind->copy != NULL;
		FI_INFO(&who, FI_LOG_CORE, "device memory: %s has started\n", kind->name);
	} else {
		FI_INFO(&who, FI_LOG_CORE, "device memory: %s did not start: %s\n", kind->name, text);
	}
}

static void start_all(void)
{
	char *list = NULL, text[WHY_MAX] = "";
	int i;

	hmem_params();		/* no provider that is in use may have done it */
	fi_param_get_str(NULL, "hmem", &list);
	p2p_off = hmem_param_bool("hmem_disable_p2p", false);
	for (i = 0; i < HMEM_KINDS; i++)
		if (kinds[i])
			start_one(kinds[i], list);
	if (!started[FI_HMEM_CUDA] || !hmem_param_bool("hmem_cuda_use_gdrcopy", true))
		return;
	gdrcopy = !hmem_gdr_start(text, sizeof(text));
	if (!gdrcopy)
		FI_INFO(&who, FI_LOG_CORE, "device memory: no gdrcopy: %s\n", text);
}

bool hmem_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_all);
	return can_copy;
}

bool hmem_has(enum fi_hmem_iface iface)
{
	return iface == FI_HMEM_SYSTEM || ((unsigned) iface < HMEM_KINDS && started[iface]);
}

const char *hmem_why(enum fi_hmem_iface iface)
{
	return (unsigned) iface < HMEM_KINDS ? why[iface] : "there is no such interface";
}

const char *hmem_name(enum fi_hmem_iface iface)
{
	if ((unsigned) iface >= HMEM_KINDS)
		return "unknown";
	return kinds[iface] ? kinds[iface]->name : "system";
}

bool hmem_p2p_disabled(void)
{
	return p2p_off;
}

bool hmem_gdrcopy(void)
{
	return gdrcopy;
}

void hmem_explain(const struct fi_provider *prov)
{
	char wanted[48];
	int i;

	if (!explain_on(prov))
		return;
	for (i = 0; i < HMEM_KINDS; i++) {
		if (!kinds[i] || started[i] || !kinds[i]->copy)
			continue;
		snprintf(wanted, sizeof(wanted), "FI_HMEM (%s)", kinds[i]->name);
		explain_refusal(prov, NULL, NULL, "caps", wanted, why[i]);
	}
}

/* ---- by location ------------------------------------------------------------------ */

/* What the flags of a registration say of memory that its interface may know better. */
static int check_flags(const struct hmem_loc *loc, uint64_t flags, const char **why_p)
{
	if ((flags & FI_HMEM_HOST_ALLOC) && !loc->host) {
		*why_p = "FI_HMEM_HOST_ALLOC, but the CPU cannot access this memory";
		return -FI_EINVAL;
	}
	if ((flags & FI_HMEM_DEVICE_ONLY) && loc->host) {
		*why_p = "FI_HMEM_DEVICE_ONLY, but this memory is the host's";
		return -FI_EINVAL;
	}
	return 0;
}

int hmem_find(enum fi_hmem_iface iface, uint64_t device, const void *addr, size_t len,
	      uint64_t flags, struct hmem_loc *loc, const char **why_p)
{
	int ret;

	*loc = (struct hmem_loc) { .iface = (uint8_t) iface, .device = device };
	if (iface == FI_HMEM_SYSTEM) {
		loc->device = 0;
		return 0;
	}
	hmem_start();
	if (!hmem_has(iface)) {
		*why_p = hmem_why(iface);
		return -FI_EOPNOTSUPP;
	}
	ret = kinds[iface]->find(addr, len, loc, why_p);
	if (!ret)
		ret = check_flags(loc, flags, why_p);
	if (!ret && gdrcopy && iface == FI_HMEM_CUDA && !loc->host)
		loc->map = hmem_gdr_map(addr, len);
	return ret;
}

void hmem_forget(struct hmem_loc *loc)
{
	if (loc->map)
		hmem_gdr_unmap(loc->map);
	loc->map = NULL;
}

enum fi_hmem_iface hmem_detect(const void *addr, uint64_t *device_p)
{
	int i;

	for (i = 0; i < HMEM_KINDS; i++)
		if (started[i] && kinds[i]->detect && kinds[i]->detect(addr, device_p))
			return (enum fi_hmem_iface) i;
	*device_p = 0;
	return FI_HMEM_SYSTEM;
}

static void copy_host(enum hmem_dir dir, void *dev, void *buf, size_t len)
{
	if (dir == HMEM_TO_HOST)
		memcpy(buf, dev, len);
	else
		memcpy(dev, buf, len);
}

/* copy_direct - done without the device: system memory, or a mapping of it. */
static bool copy_direct(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len)
{
	if (!len)
		return true;
	if (loc->iface == FI_HMEM_SYSTEM || loc->host) {
		copy_host(dir, dev, buf, len);
		return true;
	}
	return false;
}

int hmem_copy(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len)
{
	if (copy_direct(dir, loc, dev, buf, len))
		return 0;
	if (loc->map && hmem_gdr_copy(dir, loc, dev, buf, len))
		return 0;
	if (!kinds[loc->iface]->copy)
		return -FI_EOPNOTSUPP;
	return kinds[loc->iface]->copy(dir, loc, dev, buf, len);
}

int hmem_copy_start(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf,
		    size_t len, struct hmem_event *event)
{
	const struct hmem_kind *kind = kinds[loc->iface];
	int ret;

	event->kind = NULL;
	if (copy_direct(dir, loc, dev, buf, len))
		return 0;
	if (!kind->copy)
		return -FI_EOPNOTSUPP;
	if (!kind->copy_start)
		return dir == HMEM_ON_DEVICE ? -FI_EOPNOTSUPP : hmem_copy(dir, loc, dev, buf, len);
	event->kind = kind;
	event->ctx = loc->ctx;
	ret = kind->copy_start(dir, loc, dev, buf, len, event);
	if (ret)
		event->kind = NULL;
	return ret;
}

int hmem_copy_done(struct hmem_event *event)
{
	int ret;

	if (!event->kind)
		return 1;
	ret = event->kind->copy_done(event);
	if (ret)
		event->kind = NULL;
	return ret;
}

/* A host that may not lock more memory still copies, only slower. */
void hmem_pin(void *buf, size_t len)
{
	int i;

	for (i = 0; i < HMEM_KINDS; i++)
		if (started[i] && kinds[i]->pin && kinds[i]->pin(buf, len))
			FI_INFO(&who, FI_LOG_MR, "device memory: %s does not lock a bounce buffer of "
				"%zu bytes; copies are slower\n", kinds[i]->name, len);
}

void hmem_unpin(void *buf)
{
	int i;

	for (i = 0; i < HMEM_KINDS; i++)
		if (started[i] && kinds[i]->unpin)
			kinds[i]->unpin(buf);
}

/* ---- memory of both sides -------------------------------------------------------- */

int hmem_both_alloc(enum fi_hmem_iface iface, uint64_t device, size_t len, void **host_p, void **dev_p,
		    const char **why_p)
{
	int ret;

	hmem_start();
	if ((unsigned) iface >= HMEM_KINDS || !started[iface]) {
		*why_p = hmem_why(iface);
		return -FI_EOPNOTSUPP;
	}
	*why_p = "its library has no memory of the host that a device uses";
	if (!kinds[iface]->both_alloc)
		return -FI_EOPNOTSUPP;
	ret = kinds[iface]->both_alloc(device, len, host_p, dev_p, why_p);
	if (!ret)
		memset(*host_p, 0, len);
	return ret;
}

void hmem_both_free(enum fi_hmem_iface iface, uint64_t device, void *host)
{
	kinds[iface]->both_free(device, host);
}

/* ---- sharing ---------------------------------------------------------------------- */

static const struct hmem_kind *device_kind(const struct hmem_loc *loc)
{
	return loc->iface == FI_HMEM_SYSTEM || loc->host ? NULL : kinds[loc->iface];
}

int hmem_range(const struct hmem_loc *loc, const void *addr, void **base_p, size_t *len_p)
{
	const struct hmem_kind *kind = device_kind(loc);

	return kind && kind->range ? kind->range(loc, addr, base_p, len_p) : -FI_EOPNOTSUPP;
}

int hmem_id(const struct hmem_loc *loc, const void *addr, uint64_t *id_p)
{
	const struct hmem_kind *kind = device_kind(loc);

	return kind && kind->id ? kind->id(loc, addr, id_p) : -FI_EOPNOTSUPP;
}

int hmem_ipc_get(const struct hmem_loc *loc, void *base, char handle[HMEM_IPC_SIZE])
{
	const struct hmem_kind *kind = device_kind(loc);

	memset(handle, 0, HMEM_IPC_SIZE);
	return kind && kind->ipc_get ? kind->ipc_get(loc, base, handle) : -FI_EOPNOTSUPP;
}

int hmem_ipc_open(const struct hmem_loc *loc, const char handle[HMEM_IPC_SIZE], size_t len,
		  void **base_p)
{
	const struct hmem_kind *kind = device_kind(loc);

	return kind && kind->ipc_open ? kind->ipc_open(loc, handle, len, base_p) : -FI_EOPNOTSUPP;
}

int hmem_ipc_close(const struct hmem_loc *loc, void *base)
{
	const struct hmem_kind *kind = device_kind(loc);

	return kind && kind->ipc_close ? kind->ipc_close(loc, base) : -FI_EOPNOTSUPP;
}

bool hmem_exports(enum fi_hmem_iface iface)
{
	return !p2p_off && (unsigned) iface < HMEM_KINDS && started[iface] && kinds[iface]->exports &&
	       kinds[iface]->exports();
}

int hmem_dmabuf(const struct hmem_loc *loc, void *addr, size_t len, int *fd_p, uint64_t *off_p)
{
	const struct hmem_kind *kind = device_kind(loc);

	if (p2p_off || !kind || !kind->dmabuf)
		return -FI_EOPNOTSUPP;
	return kind->dmabuf(loc, addr, len, fd_p, off_p);
}
