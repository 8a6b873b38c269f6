/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * loadable - a provider file calls the library that loaded it, not the other one of the process.
 *
 *   loadable LIBRARY PARAMETER
 *
 * LIBRARY is loaded as a plug-in does, RTLD_LOCAL, in a process that has another one (LD_PRELOAD); it loads
 * the provider file of FI_PROVIDER_PATH, which defines PARAMETER. Status 0: LIBRARY has it, and the other one
 * has not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int getinfo_fn(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **);
typedef int getparams_fn(struct fi_param **, int *);

static void *find_symbol(void *lib, const char *name)
{
	void *sym = dlsym(lib, name);

	if (!sym) {
		printf("%s: %s\n", name, dlerror());
		exit(1);
	}
	return sym;
}

static bool has_parameter(void *lib, const char *name)
{
	getparams_fn *getparams;
	struct fi_param *params;
	bool found = false;
	int i, cnt;

	*(void **) &getparams = find_symbol(lib, "fi_getparams");
	if (getparams(&params, &cnt))
		return false;
	for (i = 0; i < cnt; i++)
		found |= !strcmp(params[i].name, name);
	return found;
}

int main(int argc, char **argv)
{
	getinfo_fn *getinfo;
	struct fi_info *info;
	void *lib = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	bool ours, theirs;

	if (!lib) {
		printf("%s\n", argc == 3 ? dlerror() : "usage: loadable LIBRARY PARAMETER");
		return 1;
	}
	if (find_symbol(lib, "fi_getinfo") == find_symbol(RTLD_DEFAULT, "fi_getinfo")) {
		printf("there is no other library in this process\n");
		return 1;
	}
	*(void **) &getinfo = find_symbol(lib, "fi_getinfo");
	if (getinfo(FI_VERSION(1, 9), NULL, NULL, 0, NULL, &info)) {
		printf("no endpoint\n");
		return 1;
	}
	ours = has_parameter(lib, argv[2]);
	theirs = has_parameter(RTLD_DEFAULT, argv[2]);
	printf("%s is defined%s%s%s\n", argv[2], ours ? " in the library that has loaded the file" : "",
	       theirs ? " in the other one" : "", ours || theirs ? "" : " nowhere");
	return !ours || theirs;
}
