/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <netinet/tcp.h>
#include <rdma/fi_errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "net/inherit.h"
#include "net/sock.h"

static int set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

int net_ports_set(int low, int high, struct net_ports *ports_p)
{
	if (!low && !high) {
		ports_p->low = 0;
		ports_p->high = 0;
		return 0;
	}
	if (!high)
		high = UINT16_MAX;
	if (low < 1 || high > UINT16_MAX || low > high)
		return -FI_EINVAL;
	ports_p->low = (uint16_t) low;
	ports_p->high = (uint16_t) high;
	return 0;
}

int net_sock_open(int family, int type, int *fd_p)
{
	int fd, ret;

	fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	net_inherit_not(fd);
	if (family == AF_INET6) {
		ret = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		if (ret) {
			close(fd);
			return ret;
		}
	}
	*fd_p = fd;
	return 0;
}

static int bind_to(int fd, const struct sockaddr *addr)
{
	return bind(fd, addr, (socklen_t) net_addr_len(addr)) ? -errno : 0;
}

/* bind_range - try the ports from a random start, so that processes that start together do not
 * all try the same ports in the same order.
 */
static int bind_range(int fd, union net_sa *sa, const struct net_ports *ports)
{
	uint32_t cnt = (uint32_t) ports->high - ports->low + 1;
	uint32_t start, i;
	int ret = -FI_EADDRINUSE;

	if (getrandom(&start, sizeof(start), GRND_NONBLOCK) != sizeof(start))
		start = (uint32_t) getpid();
	for (i = 0; i < cnt && ret == -FI_EADDRINUSE; i++) {
		net_addr_set_port(&sa->sa, (uint16_t) (ports->low + (start % cnt + i) % cnt));
		ret = bind_to(fd, &sa->sa);
	}
	return ret;
}

int net_sock_bind(int fd, const struct sockaddr *addr, const struct net_ports *ports,
		  union net_sa *bound_p)
{
	union net_sa sa;
	int ret;

	ret = net_addr_copy(addr, net_addr_len(addr), &sa);
	if (ret)
		return ret;
	if (!net_addr_port(addr) && ports && ports->low)
		ret = bind_range(fd, &sa, ports);
	else
		ret = bind_to(fd, &sa.sa);
	if (ret || !bound_p)
		return ret;
	return net_sock_name(fd, bound_p);
}

int net_sock_listen(int fd, int backlog)
{
	/* the kernel reduces a longer backlog to net.core.somaxconn without an error */
	return listen(fd, backlog > 0 ? backlog : INT32_MAX) ? -errno : 0;
}

int net_sock_name(int fd, union net_sa *out_p)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *) &ss, &len))
		return -errno;
	return net_addr_copy(&ss, len, out_p);
}

int net_sock_error(int fd)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	return -err;
}

int net_sock_reuse(int fd)
{
	return set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
}

int net_sock_nodelay(int fd, int on)
{
	return set_option(fd, IPPROTO_TCP, TCP_NODELAY, !!on);
}

int net_sock_keepalive(int fd, const struct net_keepalive *ka)
{
	const struct { int name; unsigned value; } opt[] = {
		{ TCP_KEEPIDLE, ka->idle_s },
		{ TCP_KEEPINTVL, ka->intvl_s },
		{ TCP_KEEPCNT, ka->probes },
		{ TCP_USER_TIMEOUT, ka->unacked_ms },
	};
	size_t i;
	int ret;

	ret = set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	for (i = 0; !ret && i < sizeof(opt) / sizeof(opt[0]); i++)
		if (opt[i].value)
			ret = set_option(fd, IPPROTO_TCP, opt[i].name, (int) opt[i].value);
	return ret;
}

int net_sock_congestion(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t) strlen(name)) ?
	       -errno : 0;
}

int net_sock_delay_acks(int fd)
{
	return set_option(fd, IPPROTO_TCP, TCP_QUICKACK, 0);
}

/* set_buffer - the kernel doubles the requested size for its bookkeeping and reports the double;
 * the result is halved.
 */
static int set_buffer(int fd, int name, size_t *size_p)
{
	int size = *size_p > INT32_MAX ? INT32_MAX : (int) *size_p;
	socklen_t len = sizeof(size);

	if (size && setsockopt(fd, SOL_SOCKET, name, &size, len))
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, name, &size, &len))
		return -errno;
	*size_p = (size_t) size / 2;
	return 0;
}

int net_sock_buffers(int fd, size_t *send_p, size_t *recv_p)
{
	int ret = set_buffer(fd, SO_SNDBUF, send_p);

	return ret ? ret : set_buffer(fd, SO_RCVBUF, recv_p);
}

int net_sock_source(const struct sockaddr *dest, union net_sa *source_p)
{
	union net_sa sa;
	int fd, ret;

	ret = net_addr_copy(dest, net_addr_len(dest), &sa);
	if (ret)
		return ret;
	if (!net_addr_port(&sa.sa))
		net_addr_set_port(&sa.sa, 9);	/* discard: any port but 0 */
	ret = net_sock_open(sa.sa.sa_family, SOCK_DGRAM, &fd);
	if (ret)
		return ret;
	ret = connect(fd, &sa.sa, (socklen_t) net_addr_len(&sa.sa)) ? -errno : 0;
	if (!ret)
		ret = net_sock_name(fd, source_p);
	close(fd);
	if (!ret)
		net_addr_set_port(&source_p->sa, 0);
	return ret;
}

const char *net_sock_advice(int err)
{
	switch (err < 0 ? -err : err) {
	case EADDRINUSE:
		return "another socket has the port: choose another service, or see who holds it "
		       "with 'ss -ltnp'";
	case EADDRNOTAVAIL:
		return "the address is not on this host any more, or every local port is "
		       "in use: see 'ip addr' and net.ipv4.ip_local_port_range";
	case EACCES:
		return "ports below 1024 need privileges (CAP_NET_BIND_SERVICE); a firewall "
		       "or a security module may forbid the rest";
	case EMFILE:
		return "this process has too many open files: raise 'ulimit -n'";
	case ENFILE:
		return "the system has too many open files: raise fs.file-max";
	case EINVAL:
		return "a link-local address (fe80::) is reached from its interface "
		       "only: append %INTERFACE to it";
	case ENETUNREACH:
		return "no route leads to that network: see 'ip route get ADDRESS'";
	case EHOSTUNREACH:
		return "the host does not answer, or a router or firewall refuses: try "
		       "'ping ADDRESS'";
	case ENETDOWN:
		return "the interface is down: see 'ip link'";
	case ECONNREFUSED:
		return "no process listens at that address and port: is the peer running, and "
		       "on this interface?";
	case ETIMEDOUT:
		return "no reply before the timeout: is the peer up, and does a firewall drop the port?";
	case EAFNOSUPPORT:
		return "this host has that address family switched off";
	case ENOBUFS:
	case ENOMEM:
		return "this process has no memory left (ulimit -v, the limit of its cgroup), or the "
		       "kernel is short of socket memory: see net.core.wmem_max and net.ipv4.tcp_mem";
	default:
		return "";
	}
}
