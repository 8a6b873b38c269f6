/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "net/inherit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* By descriptor: the inode of the socket, 0 for none.  A number that has become another
 * file's is told by that.
 */
struct table {
	size_t size;
	uint64_t inode[];
};

static struct table *table;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

/* Only what is safe between fork() and exec() of a process with threads. */
static void close_all(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct stat st;
	size_t fd;

	for (fd = 0; table && fd < table->size; fd++) {
		if (!table->inode[fd] || fstat((int) fd, &st) || !S_ISSOCK(st.st_mode) ||
		    st.st_ino != table->inode[fd])
			continue;
		if (null < 0 || dup3(null, (int) fd, O_CLOEXEC) < 0)
			close((int) fd);
	}
	if (null >= 0)
		close(null);
}

static void table_acquire(void)
{
	pthread_mutex_lock(&table_lock);
}

static void table_release(void)
{
	pthread_mutex_unlock(&table_lock);
}

static void in_child(void)
{
	table_release();
	close_all();
}

static void register_once(void)
{
	pthread_atfork(table_acquire, table_release, in_child);
}

/* make_room - for @fd.  Holds the lock. */
static bool make_room(size_t fd)
{
	size_t was = table ? table->size : 0, size = was ? was : 64;
	struct table *new;

	if (fd < was)
		return true;
	while (size <= fd)
		size *= 2;
	new = realloc(table, sizeof(*new) + size * sizeof(new->inode[0]));
	if (!new)
		return false;
	memset(new->inode + was, 0, (size - was) * sizeof(new->inode[0]));
	new->size = size;
	table = new;
	return true;
}

void net_inherit_not(int fd)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct stat st;

	pthread_once(&once, register_once);
	if (fstat(fd, &st))
		return;
	table_acquire();
	if (make_room((size_t) fd))
		table->inode[fd] = st.st_ino;
	table_release();
}
