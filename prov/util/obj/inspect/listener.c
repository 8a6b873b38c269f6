/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/inspect/listener.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/os/process.h"
#include "net/inherit.h"
#include "obj/inspect/record.h"

#define BACKLOG 64

static char in_dir[sizeof(((struct sockaddr_un *) NULL)->sun_path)];	/* the name to remove; "": none */

static void __attribute__((destructor)) remove_name(void)
{
	if (*in_dir)
		unlink(in_dir);
	*in_dir = '\0';
}

void obj_listener_forked(void)
{
	*in_dir = '\0';
}

/* runtime_dir - the directory of the user that others cannot write to, or NULL. */
static const char *runtime_dir(void)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	return dir && *dir == '/' && !stat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH)) ? dir : NULL;
}

/* remove_stale - the name @path of process @pid, if that has ended, and no other holds the socket. */
static void remove_stale(const char *path, int pid)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	if (os_process_lives(pid) || strlen(path) >= sizeof(sun.sun_path))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	strcpy(sun.sun_path, path);
	if (connect(fd, (struct sockaddr *) &sun, sizeof(sun)) && errno == ECONNREFUSED)
		unlink(path);
	close(fd);
}

static void remove_all_stale(const char *dir)
{
	char path[sizeof(in_dir)];
	struct dirent *entry;
	DIR *all = opendir(dir);
	int pid;

	while (all && (entry = readdir(all)))
		if (sscanf(entry->d_name, INSPECT_PREFIX "%d.", &pid) == 1 && pid > 0 &&
		    (size_t) snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) < sizeof(path))
			remove_stale(path, pid);
	if (all)
		closedir(all);
}

static bool bind_in_dir(int fd, const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	const char *dir = runtime_dir();
	int len;

	if (!dir)
		return false;
	remove_all_stale(dir);
	len = snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", dir, name);
	if ((size_t) len >= sizeof(sun.sun_path) || bind(fd, (struct sockaddr *) &sun, sizeof(sun)))
		return false;
	strcpy(in_dir, sun.sun_path);
	chmod(in_dir, S_IRUSR | S_IWUSR);
	return true;
}

static bool bind_abstract(int fd, const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	strcpy(sun.sun_path + 1, name);
	return !bind(fd, (struct sockaddr *) &sun,
		     (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)));
}

int obj_listener_open(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;
	char name[INSPECT_NAME_SIZE];
	uint64_t num;

	if (fd < 0)
		return -errno;
	if (getrandom(&num, sizeof(num), GRND_NONBLOCK) != sizeof(num))
		num = (uintptr_t) &num;
	snprintf(name, sizeof(name), INSPECT_NAME, (int) getpid(), num);
	if ((!bind_in_dir(fd, name) && !bind_abstract(fd, name)) || listen(fd, BACKLOG)) {
		err = errno;
		remove_name();
		close(fd);
		return -err;
	}
	net_inherit_not(fd);
	return fd;
}
