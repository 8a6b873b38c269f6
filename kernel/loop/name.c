// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * name.c - names of endpoints, by which others find them.
 */
#include "loop.h"

#define PORT_FIRST	49152	/* of numbers that are chosen; as of ports that no service has */

DEFINE_SPINLOCK(loop_lock);
LIST_HEAD(loop_eps);
LIST_HEAD(loop_peps);
static unsigned int port_next = PORT_FIRST;

struct loop_name *loop_name_find(struct list_head *names, struct net *net, const char *text)
{
	struct loop_name *name;

	list_for_each_entry(name, names, node)
		if (net_eq(name->net, net) && !strncmp(name->text, text, FI_NAME_MAX))
			return name;
	return NULL;
}

int loop_name_set(struct loop_name *name, const void *text, size_t len)
{
	unsigned int port;
	char copy[FI_NAME_MAX + 1] = "";

	memcpy(copy, text, min_t(size_t, len, FI_NAME_MAX));
	if (sscanf(copy, LOOP_NAME_FMT, &port) != 1 || strlen(copy) >= FI_NAME_MAX)
		return -FI_EINVAL;
	memcpy(name->text, copy, FI_NAME_MAX);
	return 0;
}

int loop_name_add(struct list_head *names, struct loop_name *name)
{
	int ret = 0;

	spin_lock_bh(&loop_lock);
	if (*name->text && strcmp(name->text, "loop:0")) {
		if (loop_name_find(names, name->net, name->text))
			ret = -FI_EADDRINUSE;
	} else {
		do {
			snprintf(name->text, sizeof(name->text), LOOP_NAME_FMT, port_next++);
		} while (loop_name_find(names, name->net, name->text));
	}
	if (!ret)
		list_add(&name->node, names);
	spin_unlock_bh(&loop_lock);
	return ret;
}

void loop_name_del(struct loop_name *name)
{
	spin_lock_bh(&loop_lock);
	list_del_init(&name->node);
	spin_unlock_bh(&loop_lock);
}
