/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * use.h - a program over the fakes of devices; with FAKEGPU=installed in the environment, over the
 * libraries that are installed and the first CUDA device.
 */
#ifndef FAKEGPU_USE_H
#define FAKEGPU_USE_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* fakegpu_use - first of all in main(): start again where the loader finds the fakes. */
static inline void fakegpu_use(char **argv)
{
	const char *had = getenv("LD_LIBRARY_PATH");
	char path[4096];

	if (getenv("FAKEGPU"))
		return;
	snprintf(path, sizeof(path), "%s%s%s", FAKEGPU_DIR, had ? ":" : "", had ? had : "");
	setenv("LD_LIBRARY_PATH", path, 1);
	setenv("FAKEGPU", "1", 1);
	execv("/proc/self/exe", argv);
	perror("execv");
	exit(99);
}

/* fakegpu_not - are the installed libraries used? */
static inline bool fakegpu_not(void)
{
	const char *val = getenv("FAKEGPU");

	return val && !strcmp(val, "installed");
}

/* fakegpu_device - the number of the device to use: of the fakes the second, since a mistake for 0
 * shows there.
 */
static inline int fakegpu_device(void)
{
	return fakegpu_not() ? 0 : 1;
}

/* fakegpu_call - a function of the fake @lib, which is loaded; NULL: it is not. */
static inline void *fakegpu_call(const char *lib, const char *name)
{
	void *handle = dlopen(lib, RTLD_NOW | RTLD_NOLOAD);

	return handle ? dlsym(handle, name) : NULL;
}

/* fakegpu_plan - each @n-th @call of @lib fails from now on. */
static inline void fakegpu_plan(const char *lib, const char *call, unsigned long n)
{
	void *sym = fakegpu_call(lib, "fakegpu_plan");
	void (*plan)(const char *call, unsigned long n);

	memcpy(&plan, &sym, sizeof(sym));
	if (plan)
		plan(call, n);
}

/* fakegpu_tell - the function @name of the fake @lib, which takes a number. */
static inline void fakegpu_tell(const char *lib, const char *name, unsigned long n)
{
	void *sym = fakegpu_call(lib, name);
	void (*tell)(unsigned long n);

	memcpy(&tell, &sym, sizeof(sym));
	if (tell)
		tell(n);
}

/* fakegpu_times - how often @call of @lib was made. */
static inline long fakegpu_times(const char *lib, const char *call)
{
	void *sym = fakegpu_call(lib, "fakegpu_count");
	unsigned long (*count)(const char *call);

	memcpy(&count, &sym, sizeof(sym));
	return count ? (long) count(call) : -1;
}

/* fakegpu_number - what the fake @lib says by @name: a count. */
static inline long fakegpu_number(const char *lib, const char *name)
{
	void *sym = fakegpu_call(lib, name);
	unsigned long (*get)(void);

	memcpy(&get, &sym, sizeof(sym));
	return get ? (long) get() : -1;
}

#endif
