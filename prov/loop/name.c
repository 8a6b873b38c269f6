/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "name.h"

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "fi_loop://"

static int put_prefix(char name[LOOP_NAME_MAX])
{
	return snprintf(name, LOOP_NAME_MAX, PREFIX "%ld", (long) getpid());
}

static bool is_this_host(const char *node)
{
	char host[256] = "";

	return !strcmp(node, "localhost") || !strcmp(node, "127.0.0.1") || !strcmp(node, "::1") ||
	       (!gethostname(host, sizeof(host) - 1) && !strcmp(node, host));
}

/* A node that is a name already is taken as it is, whichever process it belongs to. */
int loop_name_make(const char *node, const char *service, char name[LOOP_NAME_MAX])
{
	int cnt;

	if (node && strstr(node, "://")) {
		cnt = snprintf(name, LOOP_NAME_MAX, "%s", node);
	} else {
		if (node && !is_this_host(node))
			return -FI_ENODATA;
		cnt = put_prefix(name);
		if (service)
			cnt += snprintf(name + cnt, LOOP_NAME_MAX - (size_t) cnt, "/%s", service);
	}
	return cnt < LOOP_NAME_MAX ? 0 : -FI_EINVAL;
}

/* The process number is in the name, so a name of another process is known as such. */
bool loop_name_here(const char *name)
{
	char here[LOOP_NAME_MAX];
	size_t len = (size_t) put_prefix(here);

	return !strncmp(name, here, len) && (name[len] == '/' || name[len] == ':');
}

const char *loop_name_hint(const void *addr, size_t len)
{
	return addr && len && len <= LOOP_NAME_MAX && memchr(addr, 0, len) && *(const char *) addr ?
	       addr : NULL;
}

struct fi_info *loop_name_own(const struct fi_info *info)
{
	static _Atomic unsigned number;
	const char *src = loop_name_hint(info->src_addr, info->src_addrlen);
	struct fi_info *copy = fi_dupinfo(info);
	char name[LOOP_NAME_MAX];
	int len = put_prefix(name);

	if (!copy || (src && strcmp(src, name)))
		return copy;
	snprintf(name + len, sizeof(name) - (size_t) len, ":%u", atomic_fetch_add(&number, 1));
	free(copy->src_addr);
	copy->src_addr = strdup(name);
	copy->src_addrlen = strlen(name) + 1;
	if (copy->src_addr)
		return copy;
	fi_freeinfo(copy);
	return NULL;
}
