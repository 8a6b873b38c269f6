/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/nic.h"
#include "verbs/provider.h"
#include "verbs/dev.h"

#ifndef CLASS			/* a test has folders of its own */
#define CLASS "/sys/class/infiniband"
#define NET_CLASS "/sys/class/net"
#endif

/* ---- sysfs ---------------------------------------------------------------------- */

#define PATH_LEN (sizeof(CLASS) + 3 * VRB_NAME_MAX)

/* The first line of the file with this path.  Returns whether there is one. */
__attribute__((format(printf, 3, 4)))
static bool read_text(char *buf, size_t len, const char *format, ...)
{
	char path[PATH_LEN];
	va_list args;
	bool ok;
	FILE *f;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fgets(buf, (int) len, f) != NULL;
	fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = 0;
	return ok;
}

bool vrb_dev_text(const struct vrb_port *port, const char *what, char *buf, size_t len)
{
	return read_text(buf, len, CLASS "/%s/ports/%u/%s", port->dev, port->num, what);
}

/* Call @look for each entry of @path that is not hidden, until it returns true. */
static bool each_entry(const char *path, bool (*look)(const char *name, void *arg), void *arg)
{
	DIR *dir = opendir(path);
	struct dirent *de;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (de = readdir(dir)))
		if (de->d_name[0] != '.')
			found = look(de->d_name, arg);
	closedir(dir);
	return found;
}

static bool any_entry(const char *name, void *arg)
{
	return true;
}

bool vrb_dev_any(void)
{
	return each_entry(CLASS, any_entry, NULL);
}

/* ---- ports ---------------------------------------------------------------------- */

/*
 * All ports with their interfaces, as of at most a second ago: each fi_getinfo asks for
 * every interface several times, and an address table has hundreds of files.
 */
#define FRESH_NS 1000000000u

static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vrb_port map[VRB_PORT_MAX];	/* one entry per interface */
static unsigned map_cnt;
static struct vrb_port all[VRB_PORT_MAX];	/* one entry per port */
static unsigned all_cnt;
static uint64_t map_ns;

static void add_iface(const struct vrb_port *port, const char *iface)
{
	unsigned i;

	for (i = 0; i < map_cnt; i++)
		if (!strcmp(map[i].iface, iface))
			return;
	if (map_cnt == VRB_PORT_MAX)
		return;
	map[map_cnt] = *port;
	snprintf(map[map_cnt++].iface, IF_NAMESIZE, "%s", iface);
}

/* RoCE: the interface of each GID of the port. */
static void add_ifaces_by_gid(const struct vrb_port *port)
{
	char iface[IF_NAMESIZE + 1];
	unsigned i, gap = 0;

	for (i = 0; gap < VRB_GID_GAP; i++) {
		if (read_text(iface, sizeof(iface), CLASS "/%s/ports/%u/gid_attrs/ndevs/%u", port->dev,
			      port->num, i)) {
			add_iface(port, iface);
			gap = 0;
		} else {
			gap++;
		}
	}
}

/* Has the interface @name the hardware address @mac? */
struct at_mac {
	const struct vrb_port *port;
	char mac[18];
};

static bool look_mac(const char *name, void *arg)
{
	const struct at_mac *at = arg;
	char text[32];

	if (read_text(text, sizeof(text), NET_CLASS "/%.15s/address", name) && !strcmp(text, at->mac))
		add_iface(at->port, name);
	return false;
}

/* iWARP: the address of a port is the interface's hardware address, by which the kernel
 * finds the device of an address, too; its table names no interface.
 */
static void add_by_mac(const struct vrb_port *port)
{
	char gid[64];
	struct at_mac at = { port, "" };
	unsigned a, b, c;

	if (!vrb_dev_text(port, "gids/0", gid, sizeof(gid)) || sscanf(gid, "%4x:%4x:%4x", &a, &b, &c) != 3 ||
	    !(a | b | c))
		return;
	snprintf(at.mac, sizeof(at.mac), "%02x:%02x:%02x:%02x:%02x:%02x", a >> 8 & 0xff, a & 0xff,
		 b >> 8 & 0xff, b & 0xff, c >> 8 & 0xff, c & 0xff);
	each_entry(NET_CLASS, look_mac, &at);
}

static bool is_iwarp(const char *dev)
{
	char text[32];

	return read_text(text, sizeof(text), CLASS "/%s/node_type", dev) && !strncmp(text, "4:", 2);
}

/* IPoIB: interfaces under the device, with the port's number less one. */
static bool look_ipoib(const char *name, void *arg)
{
	const struct vrb_port *port = arg;
	char text[32];

	if (read_text(text, sizeof(text), CLASS "/%s/device/net/%.15s/dev_port", port->dev, name) &&
	    strtoul(text, NULL, 0) + 1 == port->num)
		add_iface(port, name);
	return false;
}

static bool look_port(const char *name, void *arg)
{
	struct vrb_port *port = arg;
	char path[PATH_LEN], text[32] = "";

	port->num = (unsigned) strtoul(name, NULL, 10);
	vrb_dev_text(port, "link_layer", text, sizeof(text));
	port->infiniband = !strcmp(text, "InfiniBand");
	if (all_cnt < VRB_PORT_MAX)
		all[all_cnt++] = *port;
	if (port->infiniband) {
		snprintf(path, sizeof(path), CLASS "/%s/device/net", port->dev);
		each_entry(path, look_ipoib, port);
	} else {
		add_ifaces_by_gid(port);
		if (port->iwarp)
			add_by_mac(port);
	}
	return false;
}

static bool look_dev(const char *name, void *arg)
{
	struct vrb_port port = { 0 };
	char path[PATH_LEN];

	if (vrb_conf.device && strcmp(vrb_conf.device, name))
		return false;
	snprintf(port.dev, sizeof(port.dev), "%.63s", name);
	port.iwarp = is_iwarp(port.dev);
	snprintf(path, sizeof(path), CLASS "/%s/ports", port.dev);
	each_entry(path, look_port, &port);
	return false;
}

static void map_refresh(void)
{
	uint64_t now = clock_ns();

	if (map_ns && now - map_ns < FRESH_NS)
		return;
	map_cnt = all_cnt = 0;
	each_entry(CLASS, look_dev, NULL);
	map_ns = now;
}

int vrb_dev_port(const char *iface, struct vrb_port *port_p)
{
	int ret = -FI_ENODEV;
	unsigned i;

	pthread_mutex_lock(&map_lock);
	map_refresh();
	for (i = 0; ret && i < map_cnt; i++) {
		if (strcmp(map[i].iface, iface))
			continue;
		*port_p = map[i];
		ret = 0;
	}
	pthread_mutex_unlock(&map_lock);
	return ret;
}

static void name_iface(struct vrb_port *port)
{
	unsigned i;

	for (i = 0; i < map_cnt; i++)
		if (!strcmp(map[i].dev, port->dev) && map[i].num == port->num) {
			memcpy(port->iface, map[i].iface, sizeof(port->iface));
			return;
		}
}

unsigned vrb_dev_ports(struct vrb_port *ports, unsigned max)
{
	unsigned i, cnt;

	pthread_mutex_lock(&map_lock);
	map_refresh();
	cnt = all_cnt < max ? all_cnt : max;
	for (i = 0; i < cnt; i++) {
		ports[i] = all[i];
		name_iface(&ports[i]);
	}
	pthread_mutex_unlock(&map_lock);
	return cnt;
}

/* ---- open devices --------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context **devices;	/* of librdmacm, NULL-terminated */
static struct ibv_context *more[VRB_PORT_MAX];	/* unknown to librdmacm, NULL-terminated */

static struct ibv_context *in_list(struct ibv_context **list, const char *dev)
{
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(vrb_ibv.get_device_name(list[i]->device), dev))
			return list[i];
	return NULL;
}

static struct ibv_context *known_context(const char *dev)
{
	struct ibv_context *ctx = in_list(devices, dev);

	return ctx ? ctx : in_list(more, dev);
}

/* Open a device without librdmacm, whose own kernel device may be missing. */
static struct ibv_context *open_device(const char *dev)
{
	struct ibv_device **list = vrb_ibv.get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i, at = 0;

	while (at < VRB_PORT_MAX - 1 && more[at])
		at++;
	for (i = 0; list && list[i] && !more[at]; i++)
		if (!strcmp(vrb_ibv.get_device_name(list[i]), dev))
			more[at] = ctx = vrb_ibv.open_device(list[i]);
	if (list)
		vrb_ibv.free_device_list(list);
	return ctx;
}

/* A device that was added later is found by reading the list again.  The old list is not freed:
 * endpoints may use its contexts.
 */
static struct ibv_context *find_context(const char *dev)
{
	struct ibv_context *ctx = known_context(dev);

	if (ctx)
		return ctx;
	devices = vrb_cm.get_devices(NULL);
	ctx = known_context(dev);
	return ctx ? ctx : open_device(dev);
}

int vrb_dev_context(const char *dev, struct ibv_context **ctx_p)
{
	struct ibv_context *ctx;
	int ret = vrb_lib_open();

	if (ret)
		return ret;
	pthread_mutex_lock(&lock);
	ctx = find_context(dev);
	pthread_mutex_unlock(&lock);
	if (!ctx) {
		VRB_WARN(FI_LOG_DOMAIN, "the RDMA device %s cannot be opened: see that the modules "
			 "ib_uverbs and rdma_ucm are loaded (modprobe -a ib_uverbs rdma_ucm) and that "
			 "you may read and write /dev/infiniband/*\n", dev);
		return -FI_ENODEV;
	}
	*ctx_p = ctx;
	return 0;
}

/* ---- memory of other devices ----------------------------------------------------- */

bool vrb_dev_peer_memory(enum fi_hmem_iface iface)
{
	static const struct {
		enum fi_hmem_iface iface;
		const char *path;
	} modules[] = {
		{ FI_HMEM_CUDA, "/sys/module/nvidia_peermem" },
		{ FI_HMEM_CUDA, "/sys/module/nv_peer_mem" },
		{ FI_HMEM_ROCR, "/sys/kernel/mm/memory_peers/amdkfd" },
	};
	size_t i;

	for (i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (modules[i].iface == iface && !access(modules[i].path, F_OK))
			return true;
	return false;
}

/* ---- the nic -------------------------------------------------------------------- */

static void set_text(char **text_p, const char *dev, const char *what)
{
	char text[VRB_NAME_MAX];

	if (!*text_p && read_text(text, sizeof(text), CLASS "/%s/%s", dev, what))
		*text_p = strdup(text);
}

/* Link speed: "100 Gb/sec (4X EDR)". */
static void set_link(const struct vrb_port *port, struct fi_link_attr *link)
{
	char text[VRB_NAME_MAX];

	if (vrb_dev_text(port, "rate", text, sizeof(text)))
		link->speed = (size_t) (strtod(text, NULL) * 1e9);
	if (vrb_dev_text(port, "state", text, sizeof(text)))
		link->state = strstr(text, "ACTIVE") ? FI_LINK_UP : FI_LINK_DOWN;
}

static struct ibv_device_attr *query_attr(const char *dev, struct ibv_device_attr *attr)
{
	struct ibv_context *ctx;

	if (vrb_dev_context(dev, &ctx) || vrb_ibv.query_device(ctx, attr))
		return NULL;
	return attr;
}

/* The bus address of a device without a network interface. */
static void set_bus(const struct vrb_port *port, struct fi_bus_attr *bus)
{
	char link[sizeof(CLASS) + VRB_NAME_MAX + 16], path[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), CLASS "/%s/device", port->dev);
	len = readlink(link, path, sizeof(path) - sizeof("/net/"));
	if (len <= 0)
		return;
	strcpy(path + len, "/net/");
	if (!net_nic_pci(path, &bus->attr.pci))
		bus->bus_type = FI_BUS_PCI;
}

/* fi_dupinfo() copies are freed by the library, so each string is allocated separately. */
int vrb_dev_port_nic(const struct vrb_port *port, const struct net_iface *iface,
		     struct fid_nic **nic_p)
{
	struct net_iface none = { .name = "" };
	struct fi_device_attr device = { 0 };
	struct fi_link_attr link = { 0 };
	struct ibv_device_attr attr;
	struct fid_nic *net, nic;
	struct fi_info info = { .nic = &nic }, *copy;
	char id[16] = "", vendor[16] = "";
	int ret = net_nic_create(iface ? iface : &none, &net);

	if (ret)
		return ret;
	if (!iface)
		set_bus(port, net->bus_attr);
	nic = (struct fid_nic) {
		.fid.fclass = FI_CLASS_NIC,
		.device_attr = &device,
		.bus_attr = net->bus_attr,
		.link_attr = &link,
	};
	device = *net->device_attr;
	device.name = (char *) port->dev;
	device.firmware = NULL;
	link = *net->link_attr;
	link.network_type = (char *) (port->infiniband ? "InfiniBand" : "Ethernet");
	set_link(port, &link);
	if (!device.device_id && query_attr(port->dev, &attr)) {
		snprintf(id, sizeof(id), "0x%04x", attr.vendor_part_id);
		snprintf(vendor, sizeof(vendor), "0x%04x", attr.vendor_id);
		device.device_id = id;
		device.vendor_id = vendor;
	}
	set_text(&device.firmware, port->dev, "fw_ver");
	copy = fi_dupinfo(&info);
	free(device.firmware);
	fi_close(&net->fid);
	if (!copy)
		return -FI_ENOMEM;
	*nic_p = copy->nic;
	copy->nic = NULL;
	fi_freeinfo(copy);
	return 0;
}

int vrb_dev_nic(const struct net_iface *iface, struct fid_nic **nic_p)
{
	struct vrb_port port;
	int ret = vrb_dev_port(iface->name, &port);

	return ret ? ret : vrb_dev_port_nic(&port, iface, nic_p);
}
