/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * read.h - the ways to read the interfaces from the kernel.
 *
 * Each appends raw entries to a list, with iface->kind classified from the interface alone.
 * net_list_read() uses netlink, and ioctl in a process that may not; with --enable-portable, getifaddrs().
 */
#ifndef NET_READ_H
#define NET_READ_H

#include "net/iface.h"

/* net_read_netlink - two dumps over one netlink socket, into @list in place of what it has.
 * Errors: -FI_ENOMEM; the kernel's errno.
 */
int net_read_netlink(struct net_list *list);

/* net_read_ioctl - IPv4 only; needs no netlink socket. */
int net_read_ioctl(struct net_list *list);

/* net_route_has - is there a route to @dest by the interface @index, which is not the default route?  By netlink;
 * without it routes are not known, and the answer is no.
 */
bool net_route_has(unsigned index, const struct sockaddr *dest);

/* net_read_ifaddrs - where there is no netlink. */
int net_read_ifaddrs(struct net_list *list);

/* net_mask_prefix - the number of leading ones of a netmask; NULL: 0. */
uint8_t net_mask_prefix(const struct sockaddr *mask);

/* net_sysfs_kind - fill in iface->link_kind as far as sysfs has it, and classify. */
enum net_kind net_sysfs_kind(struct net_iface *iface);

/* net_sysfs_text - read /sys/class/net/@iface/@file without its newline.
 * Returns the length, or a negative errno; always terminated.
 */
int net_sysfs_text(const char *iface, const char *file, char *buf, size_t len);

/* net_sysfs_speed - the link rate in bits per second, 0 when unknown. */
uint64_t net_sysfs_speed(const char *iface);

/* net_sysfs_link - the last component of the target of the link @file. */
int net_sysfs_link(const char *iface, const char *file, char *buf, size_t len);

/* net_sysfs_path - the path of @iface in the device tree, as the sysfs link has it. */
int net_sysfs_path(const char *iface, char *buf, size_t len);

#endif
