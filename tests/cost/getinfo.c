/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * getinfo - fi_getinfo() in a function of its own, so that callgrind can count it.
 *
 *   getinfo [PROVIDER [COUNT]]
 *
 * One call, without hints or with hints that name PROVIDER only: it loads what is loaded once.
 * Then COUNT further calls, which are those to count.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

NOINLINE int count_getinfo(const struct fi_info *hints, struct fi_info **info_p);
int count_getinfo(const struct fi_info *hints, struct fi_info **info_p)
{
	return fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, hints,
			  info_p);
}

static int ask(const struct fi_info *hints)
{
	struct fi_info *info;
	int ret;

	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, hints,
			 &info);
	if (!ret)
		fi_freeinfo(info);
	return ret;
}

static int ask_counted(const struct fi_info *hints)
{
	struct fi_info *info;
	int ret;

	ret = count_getinfo(hints, &info);
	if (!ret)
		fi_freeinfo(info);
	return ret;
}

int main(int argc, char **argv)
{
	int ret, count = argc > 2 ? atoi(argv[2]) : 0;
	struct fi_info *hints = NULL;

	if (argc > 1) {
		hints = fi_allocinfo();
		if (!hints)
			return 1;
		hints->fabric_attr->prov_name = strdup(argv[1]);
	}
	ret = ask(hints);
	for (; count > 0 && !ret; count--)
		ret = ask_counted(hints);
	if (ret)
		fprintf(stderr, "getinfo: %s\n", fi_strerror(-ret));
	if (hints)
		fi_freeinfo(hints);
	return ret != 0;
}
