/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "base/module/calls.h"
#include "core/log.h"
#include "core/module.h"

/* Older providers use an older fi_provider or older objects. */
#define OLDEST_FI_VERSION FI_VERSION(1, 3)

/* A refused file is not tried again.  An unloaded one is known, and loaded on demand. */
__attribute__((unused)) static const unsigned edges[] = {
	[CORE_MODULE_KNOWN] = 1u << CORE_MODULE_LOADED | 1u << CORE_MODULE_REFUSED,
	[CORE_MODULE_LOADED] = 1u << CORE_MODULE_KNOWN,
	[CORE_MODULE_REFUSED] = 0,
};

static void set_state(struct core_module *module, enum core_module_state state)
{
	assert(edges[module->state] & 1u << state && "a module is loaded once until it is unloaded");
	module->state = state;
}

/* "lib" in front is optional; the rest must be as provider files are named. */
bool core_module_stem(const char *path, char *buf, size_t size)
{
	const char *name = strrchr(path, '/');
	size_t len, tail = strlen("-" FI_LIB_SUFFIX);

	name = name ? name + 1 : path;
	len = strlen(name);
	if (len <= tail || strcmp(name + len - tail, "-" FI_LIB_SUFFIX))
		return false;
	len -= tail;
	if (len > 3 && !strncmp(name, "lib", 3)) {
		name += 3;
		len -= 3;
	}
	if (len >= size)
		return false;
	memcpy(buf, name, len);
	buf[len] = '\0';
	return true;
}

/* The caller's list is joined later: until then the node is on none. */
static struct core_module *module_new(const char *stem)
{
	struct core_module *module;
	char *copy;

	module = calloc(1, sizeof(*module));
	copy = strdup(stem);
	if (!module || !copy) {
		free(module);
		free(copy);
		return NULL;
	}
	module->stem = copy;
	list_init(&module->entry);
	return module;
}

struct core_module *core_module_new_file(const char *path, bool preferred)
{
	struct core_module *module;
	char stem[FI_NAME_MAX];

	if (!core_module_stem(path, stem, sizeof(stem)))
		snprintf(stem, sizeof(stem), "?");
	module = module_new(stem);
	if (!module)
		return NULL;
	module->preferred = preferred;
	module->path = strdup(path);
	if (!module->path) {
		core_module_free(module);
		return NULL;
	}
	return module;
}

struct core_module *core_module_new_builtin(const char *name,
					    struct fi_provider *(*ini)(void))
{
	struct core_module *module = module_new(name);

	if (module)
		module->ini[0] = ini;
	return module;
}

void core_module_free(struct core_module *module)
{
	free((void *) module->stem);
	free(module->path);
	free(module);
}

/* The reason why a provider cannot be used, or NULL. */
static const char *prov_fault(const struct fi_provider *fi, char *buf, size_t size)
{
	if (!fi->name || !*fi->name)
		return "its name is empty";
	if (strlen(fi->name) >= FI_NAME_MAX || strpbrk(fi->name, ";,^: "))
		return "its name is too long or has one of \";,^: \" in it";
	if (!fi->getinfo || !fi->fabric)
		return "it lacks getinfo or fabric";
	if (FI_MAJOR(fi->fi_version) == FI_MAJOR_VERSION ?
	    FI_MINOR(fi->fi_version) > FI_MINOR_VERSION :
	    FI_MAJOR(fi->fi_version) > FI_MAJOR_VERSION) {
		snprintf(buf, size, "it was written for interface %u.%u and this library has %d.%d: "
			 "install a newer library or an older provider",
			 FI_MAJOR(fi->fi_version), FI_MINOR(fi->fi_version),
			 FI_MAJOR_VERSION, FI_MINOR_VERSION);
		return buf;
	}
	if (FI_VERSION_LT(fi->fi_version, OLDEST_FI_VERSION)) {
		snprintf(buf, size, "it was written for interface %u.%u and this library takes "
			 "providers for 1.3 and later: build it again",
			 FI_MAJOR(fi->fi_version), FI_MINOR(fi->fi_version));
		return buf;
	}
	return NULL;
}

static const char *module_name(const struct core_module *module)
{
	return module->path ? module->path : module->stem;
}

/* The name and version are copied: they are needed while the file is not loaded. */
static bool prov_take(struct core_module *module, int i, struct fi_provider *fi)
{
	struct core_prov *prov = &module->prov[i];
	const char *fault;
	char buf[256];

	if (!fi) {
		CORE_INFO("%s has no provider for this machine", module_name(module));
		return false;
	}
	fault = prov_fault(fi, buf, sizeof(buf));
	if (fault) {
		CORE_WARN("provider %s of %s is refused: %s",
			  fi->name ? fi->name : "?", module_name(module), fault);
		return false;
	}
	prov->module = module;
	prov->fi = fi;
	prov->version = fi->version;
	snprintf(prov->name, sizeof(prov->name), "%s", fi->name);
	CORE_INFO("provider %s %u.%u %s%s", prov->name, FI_MAJOR(fi->version),
		  FI_MINOR(fi->version), module->path ? "loaded from " : "built in",
		  module->path ? module->path : "");
	return true;
}

static const struct base_calls calls = {
	.size = sizeof(calls),
	.getinfo = fi_getinfo,
	.freeinfo = fi_freeinfo,
	.dupinfo = fi_dupinfo,
	.fabric = fi_fabric,
	.open = fi_open,
	.strerror = fi_strerror,
	.tostr_r = fi_tostr_r,
	.log_enabled = fi_log_enabled,
	.log_ready = fi_log_ready,
	.log = fi_log,
	.param_define = fi_param_define,
	.param_get = fi_param_get,
};

static void hand_calls(const struct core_module *module)
{
	base_calls_take_fn *take;

	*(void **) &take = dlsym(module->dl, BASE_CALLS_TAKE);
	if (take)
		take(&calls);
}

/* RTLD_LOCAL: two provider files may define the same symbols.  RTLD_NOW: one that lacks a symbol is
 * refused here, and does not end the program at a later call.
 */
static int module_file_open(struct core_module *module)
{
	static const char *const entry[CORE_MODULE_PROVS] = {
		"fi_prov_ini", "fi_prov_ini2"
	};
	int i;

	dlerror();
	module->dl = dlopen(module->path, RTLD_NOW | RTLD_LOCAL);
	if (!module->dl) {
		CORE_WARN("provider file %s cannot be loaded: %s", module->path,
			  dlerror());
		return -FI_ENODEV;
	}
	for (i = 0; i < CORE_MODULE_PROVS; i++)
		*(void **) &module->ini[i] = dlsym(module->dl, entry[i]);
	if (!module->ini[0]) {
		CORE_WARN("provider file %s has no fi_prov_ini(): it is not a provider",
			  module->path);
		return -FI_ENODEV;
	}
	hand_calls(module);
	return 0;
}

/* Its providers lie in the file: no pointer into it may be left. */
static void file_close(struct core_module *module)
{
	int i;

	if (!module->path)
		return;
	for (i = 0; i < CORE_MODULE_PROVS; i++) {
		module->prov[i].fi = NULL;
		module->ini[i] = NULL;
	}
	if (module->dl)
		dlclose(module->dl);
	module->dl = NULL;
}

/* A file with one usable provider is loaded, even if it offers another that is refused. */
int core_module_load(struct core_module *module)
{
	int i, found = 0;

	if (module->state == CORE_MODULE_LOADED)
		return 0;
	if (module->state == CORE_MODULE_REFUSED)
		return -FI_ENODEV;
	if (module->path && module_file_open(module))
		goto refuse;
	for (i = 0; i < CORE_MODULE_PROVS; i++)
		if (module->ini[i] && prov_take(module, i, module->ini[i]()))
			found++;
	if (!found)
		goto refuse;
	set_state(module, CORE_MODULE_LOADED);
	return 0;
refuse:
	file_close(module);
	set_state(module, CORE_MODULE_REFUSED);
	return -FI_ENODEV;
}

/* The state changes before cleanup() is called, which must not find the module usable. */
void core_module_unload(struct core_module *module)
{
	int i;

	if (!module->path || module->users || module->state != CORE_MODULE_LOADED)
		return;
	CORE_INFO("unloading %s: its last fabric is closed", module->path);
	set_state(module, CORE_MODULE_KNOWN);
	module->unload_wanted = false;
	for (i = 0; i < CORE_MODULE_PROVS; i++)
		if (module->prov[i].fi && module->prov[i].fi->cleanup)
			module->prov[i].fi->cleanup();
	file_close(module);
}
