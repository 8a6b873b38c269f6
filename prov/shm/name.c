/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "name.h"

#include <rdma/fi_errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/hmap.h"
#include "base/os/process.h"

#define ANY_PREFIX "fi_shm://"
#define SERVICE_PREFIX "fi_ns://"

/* rest_of - what follows the prefix, if there is one. */
static const char *rest_of(const char *name)
{
	const char *at = strstr(name, "://");

	return at ? at + 3 : name;
}

/* A name is a text that ends within SHM_ADDR_MAX bytes, whatever the program says its length is. */
static size_t name_len(const void *addr)
{
	return strnlen(addr, SHM_ADDR_MAX - 1) + 1;
}

/* name_key - the rest of the name, if it is a text of a valid length that ends with it. */
static int name_key(const void *addr, size_t len, char key[SHM_KEY_MAX + 1])
{
	const char *name = addr;

	_Static_assert(SHM_NAME_MAX <= SHM_KEY_MAX, "names fit");
	if (len < 2 || len > SHM_NAME_MAX || memchr(name, 0, len) != name + len - 1 ||
	    !*rest_of(name))
		return -FI_EINVAL;
	strcpy(key, rest_of(name));
	return 0;
}

/* ---- which processes a number of a process means ------------------------------------------ */

/* boot_id - of the running kernel; 0: not known. */
static uint64_t boot_id(void)
{
	char text[64] = "";
	uint64_t id = 0, word;
	size_t i;

	if (os_boot_id(text, sizeof(text)))
		for (i = 0; i < sizeof(text); i += sizeof(word)) {
			memcpy(&word, text + i, sizeof(word));
			id = hmap_hash(id ^ word);
		}
	return id;
}

/* mark_of_process - two processes with the same number have different marks: they are in different pid
 * namespaces, or on different hosts.  So do those that cannot see each other's sockets.
 */
static uint32_t mark_of_process(void)
{
	uint64_t mark = boot_id();

	mark = hmap_hash(mark ^ os_namespace("pid"));
	mark = hmap_hash(mark ^ os_namespace("net"));
	return (uint32_t) (mark >> 32);
}

bool shm_name_is_foreign(const char *name)
{
	unsigned mark;

	return sscanf(name, ANY_PREFIX "%*u.%8x:", &mark) == 1 && mark != mark_of_process();
}

/* ---- names --------------------------------------------------------------------------------- */

/* number_of - where the number begins in "fi_shm://x:user:number", or NULL. */
static const char *number_of(const char *name)
{
	const char *user, *number = strrchr(name, ':');
	char mine[24];

	if (!number || strncmp(name, ANY_PREFIX, strlen(ANY_PREFIX)))
		return NULL;
	snprintf(mine, sizeof(mine), ":%lu:", (unsigned long) geteuid());
	user = number + 1 - strlen(mine);
	return user > rest_of(name) && !strncmp(user, mine, strlen(mine)) ? number + 1 : NULL;
}

/* The user is in it, so that endpoints of two users do not get one name. */
int shm_name_number(const char *src, unsigned number, char name[SHM_NAME_MAX])
{
	int room = SHM_NAME_MAX - (int) sizeof(":4294967295:4294967295");

	if (strlen(src) >= SHM_NAME_MAX)
		return -FI_EINVAL;
	snprintf(name, SHM_NAME_MAX, "%.*s:%u:%u", room, src, geteuid(), number);
	return 0;
}

/* One that fi_getinfo() gave and no program chose: each endpoint of it gets a name of its own. */
bool shm_name_is_any(const char *src)
{
	return !strncmp(src, ANY_PREFIX, strlen(ANY_PREFIX)) && !number_of(src);
}

/* name_own - a name that the program chose is used as it is; a number may be the next one. */
static int name_own(const void *src, size_t src_len, unsigned try, char addr[SHM_ADDR_MAX],
		    size_t *len_p)
{
	const char *number;
	char any[SHM_NAME_MAX];
	int cnt;

	if (!src || !src_len) {
		shm_name_make(NULL, NULL, any);
		cnt = shm_name_number(any, try, addr);
	} else if (try) {
		number = number_of(src);
		if (!number)
			return -FI_ENODATA;
		cnt = snprintf(addr, SHM_NAME_MAX, "%.*s%lu", (int) (number - (const char *) src),
			       (const char *) src, strtoul(number, NULL, 10) + try);
	} else {
		cnt = snprintf(addr, SHM_NAME_MAX, "%.*s", (int) src_len, (const char *) src);
	}
	*len_p = strlen(addr) + 1;
	return cnt < SHM_NAME_MAX ? 0 : -FI_EINVAL;
}

static bool name_same(const void *a, size_t a_len, const void *b, size_t b_len)
{
	return a_len == b_len && !memcmp(a, b, a_len);
}

const struct shm_naming shm_naming = {
	.addr_len = SHM_NAME_MAX,
	.len = name_len,
	.key = name_key,
	.own = name_own,
	.same = name_same,
};

/* is_here - does a node of fi_getinfo() mean this host? */
static bool is_here(const char *node)
{
	static const char *const here[] = { "localhost", "127.0.0.1", "::1" };
	char host[256] = "";
	size_t i;

	for (i = 0; i < sizeof(here) / sizeof(here[0]); i++)
		if (!strcasecmp(node, here[i]))
			return true;
	return !gethostname(host, sizeof(host) - 1) && !strcasecmp(node, host);
}

int shm_name_make(const char *node, const char *service, char name[SHM_NAME_MAX])
{
	int cnt;

	if (node && strstr(node, "://"))
		cnt = snprintf(name, SHM_NAME_MAX, "%s", node);
	else if (service && (!node || is_here(node)))
		cnt = snprintf(name, SHM_NAME_MAX, SERVICE_PREFIX "%s", service);
	else if (service)
		cnt = snprintf(name, SHM_NAME_MAX, SERVICE_PREFIX "%s:%s", node, service);
	else if (node)
		cnt = snprintf(name, SHM_NAME_MAX, ANY_PREFIX "%s", node);
	else
		cnt = snprintf(name, SHM_NAME_MAX, ANY_PREFIX "%ld.%08x", (long) getpid(), mark_of_process());
	return cnt < SHM_NAME_MAX ? 0 : -FI_EINVAL;
}

/* Before the endpoint is enabled: a program may ask for the address and send it to peers. */
struct fi_info *shm_name_own(const struct fi_info *info)
{
	static _Atomic unsigned number;
	struct fi_info *copy = fi_dupinfo(info);
	char any[SHM_NAME_MAX], name[SHM_NAME_MAX];
	const char *src;
	void *addr;

	if (!copy)
		return NULL;
	src = shm_name_hint(copy->src_addr, copy->src_addrlen);
	if (!src)
		shm_name_make(NULL, NULL, any);
	if (src && !shm_name_is_any(src))
		return copy;
	addr = shm_name_number(src ? src : any, atomic_fetch_add(&number, 1), name) ? NULL :
	       strdup(name);
	if (addr) {
		free(copy->src_addr);
		copy->src_addr = addr;
		copy->src_addrlen = strlen(addr) + 1;
	}
	return copy;
}
