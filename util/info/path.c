/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "path.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "echo.h"
#include "net/iface.h"
#include "net/resolve.h"
#include "routes.h"

#define PORT 9		/* of connected datagram sockets that send nothing */

/* What is asked, and what is known of this host. */
struct question {
	union net_sa peer;
	struct net_list list;
	union net_sa source;	/* that the kernel's route takes; family 0: there is none */
	int err;		/* why there is none */
	bool probe;
};

/* kernel_route - the source address that the kernel takes for packets to @peer.  Returns 0 or an errno. */
static int kernel_route(const union net_sa *peer, union net_sa *source)
{
	int fd = socket(peer->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;
	socklen_t len = sizeof(*source);
	union net_sa to = *peer;

	if (fd < 0)
		return errno;
	net_addr_set_port(&to.sa, PORT);
	if (connect(fd, &to.sa, (socklen_t) net_addr_len(&to.sa)) || getsockname(fd, &source->sa, &len))
		err = errno;
	close(fd);
	return err;
}

static bool has_route(const union net_sa *peer, const struct net_iface *iface)
{
	FILE *file = fopen(peer->sa.sa_family == AF_INET ? "/proc/net/route" : "/proc/net/ipv6_route", "re");
	bool has = info_routes_has(file, peer, iface->name);

	if (file)
		fclose(file);
	return has;
}

/* host_text - an address without its port.  @buf: NI_MAXHOST bytes. */
static const char *host_text(const union net_sa *sa, char *buf)
{
	return getnameinfo(&sa->sa, (socklen_t) net_addr_len(&sa->sa), buf, NI_MAXHOST, NULL, 0,
			   NI_NUMERICHOST) ? "?" : buf;
}

/* is_here - is the host that is asked for this one? */
static bool is_here(const struct question *q)
{
	return net_addr_is_loopback(&q->peer.sa) || net_list_find(&q->list, &q->peer.sa);
}

/* ---- interfaces ------------------------------------------------------------------------------- */

static const char *kind_text(const struct net_iface *iface)
{
	static const char *const texts[] = {
		[NET_KIND_DEVICE] = "a device", [NET_KIND_VIRTUAL] = "virtual",
		[NET_KIND_PTP] = "point to point or VPN", [NET_KIND_BRIDGE] = "of a bridge",
		[NET_KIND_LOOPBACK] = "the loopback",
	};

	return texts[iface->kind];
}

static void print_speed(const struct net_iface *iface)
{
	if (iface->kind == NET_KIND_LOOPBACK)
		return;
	if (!iface->speed)
		printf(", speed not known");
	else if (iface->speed % 1000000000)
		printf(", %" PRIu64 " Mbit/s", iface->speed / 1000000);
	else
		printf(", %" PRIu64 " Gbit/s", iface->speed / 1000000000);
}

static void print_stream(const struct question *q, const struct net_iface *iface)
{
	struct info_stream stream;
	int err = info_echo_stream(&q->peer, iface->name, iface->mtu, &stream);

	if (err) {
		printf(", no stream of them: %s", strerror(err));
		return;
	}
	printf(", a stream of them carries at least %.2f Mbit/s", (double) stream.bytes * 8000 / (double) (stream.ns + 1));
	if (stream.answered < stream.sent)
		printf(" (%u of %u lost)", stream.sent - stream.answered, stream.sent);
}

static void print_probe(const struct question *q, const struct net_iface *iface)
{
	uint64_t ns = 0;
	int err = info_echo(&q->peer, iface->name, &ns);

	if (!err) {
		printf("; an echo takes %.1f us", (double) ns / 1000);
		print_stream(q, iface);
	} else if (err == ETIMEDOUT) {
		printf("; no echo within a second");
	} else {
		printf("; no echo can be sent: %s", strerror(err));
	}
}

/* print_reach - can the host be reached by @iface? */
static void print_reach(const struct question *q, const struct net_ifaddr *addr, const struct net_iface *iface)
{
	bool taken = net_addr_same_host(&q->source.sa, &addr->addr.sa), has = taken || has_route(&q->peer, iface);

	printf(": %s", taken ? "the kernel's route to it" : has ? "has a route to it" : "has no route to it");
	if (has && q->probe && !is_here(q) && iface->kind != NET_KIND_LOOPBACK)
		print_probe(q, iface);
}

static void print_ifaddr(const struct question *q, const struct net_ifaddr *addr)
{
	const struct net_iface *iface = net_list_iface(&q->list, addr);
	char text[NI_MAXHOST];

	printf("  %s %s/%u: %s, %s", iface->name, host_text(&addr->addr, text), addr->prefix,
	       kind_text(iface), iface->up ? "up" : "down");
	print_speed(iface);
	printf(", MTU %" PRIu32, iface->mtu);
	if (net_addr_is_link_local(&addr->addr.sa))
		printf(", a link-local address");
	if (addr->deprecated)
		printf(", deprecated");
	if (addr->addr.sa.sa_family != q->peer.sa.sa_family)
		printf(": of another family of addresses");
	else
		print_reach(q, addr, iface);
	printf("\n");
}

static void print_interfaces(const struct question *q)
{
	size_t i;

	printf("interfaces, in the order in which they are preferred where nothing names one:\n");
	for (i = 0; i < q->list.addr_cnt; i++)
		print_ifaddr(q, &q->list.addr[i]);
	for (i = 0; i < q->list.iface_cnt; i++)
		if (!q->list.iface[i].up)
			printf("  %s is down, or has no carrier\n", q->list.iface[i].name);
}

/* ---- the route ----------------------------------------------------------------------------------- */

static const struct net_iface *route_iface(const struct question *q)
{
	const struct net_ifaddr *addr = q->err ? NULL : net_list_find(&q->list, &q->source.sa);

	return addr ? net_list_iface(&q->list, addr) : NULL;
}

static void print_route(const struct question *q)
{
	const struct net_iface *iface = route_iface(q);
	char text[NI_MAXHOST];

	if (q->err)
		printf("the kernel has no route to it: %s\n", strerror(q->err));
	else
		printf("the kernel's route: from %s%s%s\n", host_text(&q->source, text),
		       iface ? " by " : "", iface ? iface->name : "");
}

/* print_faster - is there a faster way than the kernel's? */
static void print_faster(const struct question *q)
{
	const struct net_iface *taken = route_iface(q), *iface;
	size_t i;

	if (!taken || is_here(q))
		return;
	for (i = 0; i < q->list.iface_cnt; i++) {
		iface = &q->list.iface[i];
		if (iface->up && iface->speed > taken->speed && taken->speed &&
		    has_route(&q->peer, iface))
			printf("warning: %s is faster than %s and has a route to it, too: FI_TCP_IFACE=%s, or "
			       "a source address, has it taken\n", iface->name, taken->name, iface->name);
	}
}

/* ---- what is offered ------------------------------------------------------------------------------- */

static const char *iface_of(const struct question *q, const struct fi_info *info)
{
	const struct net_ifaddr *addr;
	union net_sa sa;

	if (!info->src_addr || net_addr_copy(info->src_addr, info->src_addrlen, &sa))
		return "";
	addr = net_list_find(&q->list, &sa.sa);
	return addr ? net_list_iface(&q->list, addr)->name : "";
}

/* is_new - no entry before it has the same provider, domain and type. */
static bool is_new(const struct fi_info *first, const struct fi_info *info)
{
	for (; first != info; first = first->next)
		if (!strcmp(first->fabric_attr->prov_name, info->fabric_attr->prov_name) &&
		    !strcmp(first->domain_attr->name, info->domain_attr->name) &&
		    first->ep_attr->type == info->ep_attr->type)
			return false;
	return true;
}

static void print_offer(const struct question *q, const struct fi_info *info)
{
	char text[NI_MAXHOST];
	const char *iface = iface_of(q, info);
	union net_sa sa;

	printf("  %s %s, domain %s", info->fabric_attr->prov_name,
	       fi_tostr(&info->ep_attr->type, FI_TYPE_EP_TYPE), info->domain_attr->name);
	if (info->src_addr && !net_addr_copy(info->src_addr, info->src_addrlen, &sa))
		printf(", from %s", host_text(&sa, text));
	printf("%s%s\n", *iface ? " by " : "", iface);
}

static int print_offers(const struct question *q, const struct info_options *o, uint32_t version)
{
	struct fi_info *infos, *info;
	int ret = fi_getinfo(version, o->node, o->service ? o->service : "9", 0, o->hints, &infos);

	if (ret) {
		printf("nothing is offered for it: %s (--explain has the reasons)\n", fi_strerror(-ret));
		return ret;
	}
	printf("offered for it, the first is chosen where a program names none:\n");
	for (info = infos; info; info = info->next)
		if (is_new(infos, info))
			print_offer(q, info);
	fi_freeinfo(infos);
	if (is_here(q))
		printf("it is this host: endpoints of processes of one user, in one container, go on by shared "
		       "memory (fi_top -p shows the path of each)\n");
	return 0;
}

static int begin_question(struct question *q, const struct info_options *o)
{
	struct net_addrs addrs;
	int ret = net_addr_resolve(o->node, NULL, 0, AF_UNSPEC, SOCK_STREAM, &addrs);

	if (ret) {
		fprintf(stderr, "fi_info: no IP address for '%s': %s\n", o->node, fi_strerror(-ret));
		return ret;
	}
	q->peer = addrs.addr[0];
	net_addrs_free(&addrs);
	ret = net_list_read(&q->list);
	if (ret)
		fprintf(stderr, "fi_info: interfaces cannot be listed: %s\n", fi_strerror(-ret));
	q->err = kernel_route(&q->peer, &q->source);
	if (q->err)
		net_addr_any(q->peer.sa.sa_family, &q->source);
	return ret;
}

int info_path(const struct info_options *o, uint32_t version)
{
	struct question q = { .probe = o->probe };
	char text[NI_MAXHOST];
	int ret = begin_question(&q, o);

	if (ret)
		return ret;
	host_text(&q.peer, text);
	printf("to %s%s%s:\n", o->node, strcmp(o->node, text) ? ", " : "", strcmp(o->node, text) ? text : "");
	print_route(&q);
	print_interfaces(&q);
	print_faster(&q);
	ret = print_offers(&q, o, version);
	net_list_free(&q.list);
	return ret;
}
