/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "obj/inspect/record.h"
#include "obj/inspect/user.h"

#define NETS_MAX 64	/* network namespaces that are entered */

void clean_text(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

char process_state(pid_t pid, char *command, size_t size)
{
	char path[64], line[512], *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long) pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	if (!end || !end[1])
		return 0;
	*end = '\0';
	snprintf(command, size, "%s", line + strcspn(line, "(") + 1);
	clean_text(command, strlen(command) + 1);
	return end[2];
}

/* ---- processes ----------------------------------------------------------------------------- */

static bool is_wanted_user(uid_t uid)
{
	return uid == geteuid() || !geteuid();
}

/* is_process_ours - is there a process @pid that may be asked?  A name in a socket is no proof of it. */
static bool is_process_ours(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%ld", (long) pid);
	return !stat(path, &st) && is_wanted_user(st.st_uid);
}

/* net_of - a number of the network namespace of process @pid; 0: not known. */
static ino_t net_of(const char *pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%.16s/ns/net", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

static bool maps_library(const char *pid)
{
	char path[64], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/maps", pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, "/libfabric") != NULL;
	if (file)
		fclose(file);
	return found;
}

/* ---- one socket ------------------------------------------------------------------------------ */

/* is_stopped - a stopped process is not connected to: connections that it does not accept add up. */
static bool is_stopped(struct finder *finder, pid_t pid)
{
	char command[64], state = is_process_ours(pid) ? process_state(pid, command, sizeof(command)) : 0;

	if (state == 'T')
		finder->on_silent(finder, pid, "it is stopped by a signal");
	else if (state == 't')
		finder->on_silent(finder, pid, "it is stopped by a debugger");
	return state == 'T' || state == 't';
}

/* take_connected - the process at the other end, if it is one that may be asked. */
static void take_connected(struct finder *finder, int fd)
{
	uid_t uid;
	pid_t pid;

	if (inspect_user(fd, &uid, &pid) || !is_wanted_user(uid) || pid <= 0)
		close(fd);
	else
		finder->on_socket(finder, fd, pid);
}

/* connect_name - @hint is the process of the name.  Returns 0 or an errno. */
static int connect_name(struct finder *finder, int fd, const struct sockaddr_un *sun, size_t path_len, pid_t hint)
{
	int err = 0;

	if (connect(fd, (const struct sockaddr *) sun,
		    (socklen_t) (offsetof(struct sockaddr_un, sun_path) + path_len)))
		err = errno;
	if (!err) {
		take_connected(finder, fd);
		return 0;
	}
	close(fd);
	if (err == EAGAIN && is_process_ours(hint))
		finder->on_silent(finder, hint, "its inspection socket takes no connection: it is overloaded, or others "
				  "ask it, too");
	return err;
}

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static pid_t pid_of_name(const char *name)
{
	unsigned long long num;
	int pid, len = 0;

	return sscanf(name, INSPECT_PREFIX "%d.%16llx%n", &pid, &num, &len) == 2 && !name[len] && pid > 0 ? pid : 0;
}

/* try_abstract - @name is the name of a socket in the network namespace of this thread. */
static void try_abstract(struct finder *finder, const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	pid_t pid = pid_of_name(name);
	int fd;

	if (!pid || is_stopped(finder, pid))
		return;
	fd = open_socket();
	if (fd < 0)
		return;
	memcpy(sun.sun_path + 1, name, strlen(name));
	connect_name(finder, fd, &sun, 1 + strlen(name), pid);
}

/* try_path - through a descriptor of the file, whose owner and kind are known: a directory of another user may
 * have a link to any socket in the place of a name.  Returns true: no process has the socket any more.
 */
static bool try_path(struct finder *finder, const char *path, const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	pid_t pid = pid_of_name(name);
	bool refused = false;
	struct stat st;
	int file, fd;

	if (!pid || is_stopped(finder, pid))
		return false;
	file = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (file < 0)
		return false;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/self/fd/%d", file);
	if (!fstat(file, &st) && S_ISSOCK(st.st_mode) && is_wanted_user(st.st_uid)) {
		fd = open_socket();
		if (fd >= 0)
			refused = connect_name(finder, fd, &sun, strlen(sun.sun_path) + 1, pid) == ECONNREFUSED;
	}
	close(file);
	return refused;
}

/* ---- where they are ---------------------------------------------------------------------------- */

static const char *runtime_dir(void)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	return dir && *dir == '/' ? dir : NULL;
}

/* find_in_dir - names that ended processes have left are removed. */
static void find_in_dir(struct finder *finder, const char *dir)
{
	struct dirent *entry;
	DIR *all = opendir(dir);
	char path[512];
	struct stat st;

	while (all && (entry = readdir(all))) {
		if (!pid_of_name(entry->d_name) ||
		    (size_t) snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) >= sizeof(path))
			continue;
		if (try_path(finder, path, entry->d_name) && !lstat(path, &st) && st.st_uid == geteuid())
			unlink(path);
	}
	if (all)
		closedir(all);
}

/* is_in_dir - does @path name @name in the directory @dir? */
static bool is_in_dir(const char *path, const char *name, const char *dir)
{
	size_t len = (size_t) (name - path) - 1;

	return dir && strlen(dir) == len && !memcmp(dir, path, len);
}

/* find_in_list - the sockets of a network namespace, of which @list is the kernel's list.  Those in our own
 * directory are found there.
 */
static int find_in_list(struct finder *finder, const char *list)
{
	const char *dir = runtime_dir();
	char line[512], *at, *name;
	FILE *file = fopen(list, "re");

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		name = strstr(line, INSPECT_PREFIX);
		if (!name || name == line)
			continue;
		at = strpbrk(line, "@/");
		if (at && *at == '@' && at + 1 == name)
			try_abstract(finder, name);
		else if (at && *at == '/' && name[-1] == '/' && !is_in_dir(at, name, dir))
			try_path(finder, at, name);
	}
	if (file)
		fclose(file);
	return file ? 0 : -FI_ENOSYS;
}

/* find_in_net - in the network namespace of @pid: a socket stays in the one of its thread at its creation.
 * Returns false: it is not to be entered.
 */
static bool find_in_net(struct finder *finder, const char *pid, int own)
{
	char path[64];
	int other;

	snprintf(path, sizeof(path), "/proc/%.16s/ns/net", pid);
	other = open(path, O_RDONLY | O_CLOEXEC);
	if (other < 0 || setns(other, CLONE_NEWNET)) {
		if (other >= 0)
			close(other);
		return false;
	}
	close(other);
	snprintf(path, sizeof(path), "/proc/%.16s/net/unix", pid);
	find_in_list(finder, path);
	if (setns(own, CLONE_NEWNET))
		abort();	/* what follows would be about another namespace */
	return true;
}

struct nets {
	ino_t known[NETS_MAX];	/* where sockets were looked for; the first is ours */
	size_t cnt;
	int own;		/* ours */
};

static bool is_net_known(struct finder *finder, struct nets *nets, const char *pid, ino_t net)
{
	size_t i;

	for (i = 0; i < nets->cnt; i++)
		if (nets->known[i] == net)
			return true;
	if (nets->cnt == NETS_MAX || nets->own < 0 || !find_in_net(finder, pid, nets->own))
		return false;
	nets->known[nets->cnt++] = net;
	return true;
}

/* find_elsewhere - processes in other network namespaces. */
static void find_elsewhere(struct finder *finder)
{
	struct nets nets = { .known = { net_of("self") }, .cnt = 1 };
	DIR *all = opendir("/proc");
	struct dirent *entry;
	ino_t net;

	nets.own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	while (all && (entry = readdir(all))) {
		if (*entry->d_name < '1' || *entry->d_name > '9' || !is_process_ours((pid_t) atol(entry->d_name)))
			continue;
		net = net_of(entry->d_name);
		if (net && !is_net_known(finder, &nets, entry->d_name, net) && maps_library(entry->d_name))
			finder->on_silent(finder, (pid_t) atol(entry->d_name), "it is in another network namespace: "
					  "run fi_top there, as nsenter(1) does");
	}
	if (all)
		closedir(all);
	if (nets.own >= 0)
		close(nets.own);
}

int find_sockets(struct finder *finder)
{
	const char *dir = runtime_dir();
	int ret;

	if (dir)
		find_in_dir(finder, dir);
	ret = find_in_list(finder, "/proc/self/net/unix");
	find_elsewhere(finder);
	return dir ? 0 : ret;
}
