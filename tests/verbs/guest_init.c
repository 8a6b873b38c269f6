/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * guest_init - the first process of the guest (tests/verbs/guest): it loads the modules of
 * its initial file system, mounts this machine's files over 9p and hands over to the
 * script.  Linked statically, so that the initial file system is this and the modules.
 *
 * Kernel command line: guest.work=DIR  share "work" is mounted there, writable.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULES "/modules"
#define ROOT "/root"
#define P9 "trans=virtio,version=9p2000.L,msize=524288,"

static void die(const char *what)
{
	fprintf(stderr, "guest_init: %s: %s\n", what, strerror(errno));
	sync();
	reboot(RB_POWER_OFF);
	exit(1);
}

static void attach(const char *dev, const char *dir, const char *type, unsigned long flags,
		   const char *data)
{
	if ((mkdir(dir, 0755) && errno != EEXIST) || mount(dev, dir, type, flags, data))
		die(dir);
}

/* Names are numbered in the order of their dependencies. */
static void load_modules(void)
{
	struct dirent **list;
	char path[512];
	int i, fd, cnt = scandir(MODULES, &list, NULL, alphasort);

	for (i = 0; i < cnt; i++) {
		if (list[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), MODULES "/%s", list[i]->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			die(path);
		close(fd);
	}
}

/* The value of guest.work in @line, or NULL. */
static char *work_dir(char *line)
{
	char *word, *save = NULL;

	for (word = strtok_r(line, " \n", &save); word; word = strtok_r(NULL, " \n", &save))
		if (!strncmp(word, "guest.work=", 11))
			return word + 11;
	return NULL;
}

static char *read_line(const char *path, char *buf, int size)
{
	FILE *f = fopen(path, "r");

	if (!f || !fgets(buf, size, f))
		die(path);
	fclose(f);
	return buf;
}

static void mount_files(const char *work)
{
	char dir[600];

	attach("root", "/below", "9p", MS_RDONLY, P9 "cache=loose");
	attach("ram", "/above", "tmpfs", 0, NULL);
	mkdir("/above/files", 0755);
	mkdir("/above/state", 0755);
	attach("over", ROOT, "overlay", 0,
	       "lowerdir=/below,upperdir=/above/files,workdir=/above/state");
	attach("proc", ROOT "/proc", "proc", 0, NULL);
	attach("sys", ROOT "/sys", "sysfs", 0, NULL);
	attach("dev", ROOT "/dev", "devtmpfs", 0, NULL);
	attach("shm", ROOT "/dev/shm", "tmpfs", 0, NULL);
	attach("pts", ROOT "/dev/pts", "devpts", 0, NULL);
	attach("run", ROOT "/run", "tmpfs", 0, NULL);
	attach("guest", ROOT "/run/guest", "9p", 0, P9 "cache=none");
	if (!work)
		return;
	snprintf(dir, sizeof(dir), ROOT "%s", work);
	attach("work", dir, "9p", 0, P9 "cache=mmap");
}

int main(void)
{
	char *argv[] = { "bash", "/run/guest/inside", NULL };
	char *envp[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			 "HOME=/root", NULL };
	char line[4096];

	attach("proc", "/proc", "proc", 0, NULL);
	load_modules();
	mount_files(work_dir(read_line("/proc/cmdline", line, sizeof(line))));
	if (chdir(ROOT) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		die("the new root");
	execve("/bin/bash", argv, envp);
	die("/bin/bash");
}
