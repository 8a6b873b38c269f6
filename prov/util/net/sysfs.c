/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/read.h"

#define SYSFS_PATH_MAX 128

static char *path_of(const char *iface, const char *file, char *path)
{
	snprintf(path, SYSFS_PATH_MAX, "/sys/class/net/%s/%s", iface, file);
	return path;
}

int net_sysfs_text(const char *iface, const char *file, char *buf, size_t len)
{
	char path[SYSFS_PATH_MAX];
	ssize_t n;
	int fd, err;

	buf[0] = '\0';
	fd = open(path_of(iface, file, path), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, len - 1);
	err = errno;
	close(fd);
	if (n < 0)
		return -err;	/* a driver without the value returns EINVAL here */
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return (int) n;
}

uint64_t net_sysfs_speed(const char *iface)
{
	char text[24];
	long mbit;

	if (net_sysfs_text(iface, "speed", text, sizeof(text)) <= 0)
		return 0;
	mbit = strtol(text, NULL, 10);
	/* -1, or the same as an unsigned 32-bit number: unknown */
	return mbit > 0 && mbit < UINT32_MAX ? (uint64_t) mbit * 1000000 : 0;
}

static int read_link(const char *path, char *buf, size_t len)
{
	ssize_t n;

	n = readlink(path, buf, len - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return 0;
}

int net_sysfs_path(const char *iface, char *buf, size_t len)
{
	char path[SYSFS_PATH_MAX];

	snprintf(path, sizeof(path), "/sys/class/net/%s", iface);
	return read_link(path, buf, len);
}

int net_sysfs_link(const char *iface, const char *file, char *buf, size_t len)
{
	char path[SYSFS_PATH_MAX], target[512];
	const char *name;
	int ret;

	buf[0] = '\0';
	ret = read_link(path_of(iface, file, path), target, sizeof(target));
	if (ret)
		return ret;
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (strlen(name) >= len)
		return -ENAMETOOLONG;
	strcpy(buf, name);
	return 0;
}

static bool has_file(const char *iface, const char *file)
{
	char path[SYSFS_PATH_MAX];

	return !access(path_of(iface, file, path), F_OK);
}

/* link_kind - DEVTYPE is the kind that netlink reports, where sysfs has one. */
static void link_kind(struct net_iface *iface)
{
	char text[256], *type;

	if (has_file(iface->name, "tun_flags")) {
		strcpy(iface->link_kind, "tun");
	} else if (net_sysfs_text(iface->name, "uevent", text, sizeof(text)) > 0) {
		type = strstr(text, "DEVTYPE=");
		if (!type || !strncmp(type + 8, "wlan", 4) || !strncmp(type + 8, "wwan", 4))
			return;
		snprintf(iface->link_kind, sizeof(iface->link_kind), "%.*s",
			 (int) strcspn(type + 8, "\n"), type + 8);
	}
}

/* is_virtual - true when the interface is on no bus: then it is not a device, though sysfs may
 * not say what it is (veth, dummy).
 */
static bool is_virtual(const char *name)
{
	char path[512];

	return !net_sysfs_path(name, path, sizeof(path)) && strstr(path, "/virtual/");
}

enum net_kind net_sysfs_kind(struct net_iface *iface)
{
	enum net_kind kind;

	link_kind(iface);
	kind = net_kind_of(iface, has_file(iface->name, "device"));
	if (kind == NET_KIND_DEVICE && !iface->link_kind[0] && is_virtual(iface->name))
		return NET_KIND_VIRTUAL;
	return kind;
}
