/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <arpa/inet.h>
#include <net/if.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hmap.h"
#include "base/net_addr.h"

static const struct sockaddr_in *as_in4(const struct sockaddr *sa)
{
	return (const struct sockaddr_in *) sa;
}

static const struct sockaddr_in6 *as_in6(const struct sockaddr *sa)
{
	return (const struct sockaddr_in6 *) sa;
}

uint32_t net_addr_format(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return FI_SOCKADDR_IN;
	case AF_INET6:
		return FI_SOCKADDR_IN6;
	default:
		return FI_FORMAT_UNSPEC;
	}
}

int net_addr_family(uint32_t format)
{
	switch (format) {
	case FI_FORMAT_UNSPEC:
	case FI_SOCKADDR:
	case FI_SOCKADDR_IP:
		return AF_UNSPEC;
	case FI_SOCKADDR_IN:
		return AF_INET;
	case FI_SOCKADDR_IN6:
		return AF_INET6;
	default:
		return -1;
	}
}

int net_addr_copy(const void *addr, size_t len, union net_sa *out_p)
{
	union net_sa sa = { .sa.sa_family = AF_UNSPEC };

	if (!addr || len < sizeof(sa_family_t))
		return -FI_EINVAL;
	memcpy(&sa, addr, len < sizeof(sa) ? len : sizeof(sa));
	if (!net_addr_len(&sa.sa) || len < net_addr_len(&sa.sa))
		return -FI_EINVAL;
	memset(out_p, 0, sizeof(*out_p));
	memcpy(out_p, &sa, net_addr_len(&sa.sa));
	return 0;
}

void net_addr_any(int family, union net_sa *out_p)
{
	/* both wildcard addresses are all zero */
	memset(out_p, 0, sizeof(*out_p));
	out_p->sa.sa_family = (sa_family_t) family;
}

/* Compares the addresses without their ports.  Scope 0 differs from every other scope: fe80::1
 * without an interface is not the same peer as fe80::1%2.
 */
static int host_cmp(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return a->sa_family < b->sa_family ? -1 : 1;
	if (a->sa_family == AF_INET)
		return memcmp(&as_in4(a)->sin_addr, &as_in4(b)->sin_addr, sizeof(struct in_addr));
	if (a->sa_family == AF_INET6) {
		int ret = memcmp(&as_in6(a)->sin6_addr, &as_in6(b)->sin6_addr,
				 sizeof(struct in6_addr));

		if (ret)
			return ret;
		if (as_in6(a)->sin6_scope_id != as_in6(b)->sin6_scope_id)
			return as_in6(a)->sin6_scope_id < as_in6(b)->sin6_scope_id ? -1 : 1;
	}
	return 0;
}

int net_addr_cmp(const struct sockaddr *a, const struct sockaddr *b)
{
	int ret = host_cmp(a, b);

	if (ret || !net_addr_len(a))
		return ret;
	return (int) net_addr_port(a) - (int) net_addr_port(b);
}

bool net_addr_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	return !host_cmp(a, b);
}

uint64_t net_addr_hash(const struct sockaddr *sa)
{
	uint64_t w[2];

	if (sa->sa_family == AF_INET)
		return hmap_hash((uint64_t) as_in4(sa)->sin_addr.s_addr << 16 | as_in4(sa)->sin_port);
	if (sa->sa_family != AF_INET6)
		return 0;
	memcpy(w, &as_in6(sa)->sin6_addr, sizeof(w));
	w[1] = hmap_hash(w[1]) ^ ((uint64_t) as_in6(sa)->sin6_scope_id << 16 | as_in6(sa)->sin6_port);
	return hmap_hash(hmap_hash(w[0]) + w[1]);
}

bool net_addr_is_any(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return as_in4(sa)->sin_addr.s_addr == htonl(INADDR_ANY);
	return sa->sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&as_in6(sa)->sin6_addr);
}

bool net_addr_is_loopback(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ntohl(as_in4(sa)->sin_addr.s_addr) >> 24 == 127;
	return sa->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&as_in6(sa)->sin6_addr);
}

bool net_addr_is_link_local(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ntohl(as_in4(sa)->sin_addr.s_addr) >> 16 == 0xa9fe;
	return sa->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_in6(sa)->sin6_addr);
}

bool net_addr_is_multicast(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return IN_MULTICAST(ntohl(as_in4(sa)->sin_addr.s_addr));
	return sa->sa_family == AF_INET6 && IN6_IS_ADDR_MULTICAST(&as_in6(sa)->sin6_addr);
}

/* host_bytes - the host part and its size; NULL when the family is not IP. */
static const uint8_t *host_bytes(const struct sockaddr *sa, size_t *len_p)
{
	switch (sa->sa_family) {
	case AF_INET:
		*len_p = 4;
		return (const uint8_t *) &as_in4(sa)->sin_addr;
	case AF_INET6:
		*len_p = 16;
		return as_in6(sa)->sin6_addr.s6_addr;
	default:
		return NULL;
	}
}

void net_addr_wire(void *addr, size_t len, bool big)
{
	struct sockaddr_in6 *in6 = addr;
	uint16_t family;
	uint32_t scope;

	if (!big || (len != sizeof(struct sockaddr_in) && len != sizeof(*in6)))
		return;
	memcpy(&family, addr, sizeof(family));
	family = __builtin_bswap16(family);
	memcpy(addr, &family, sizeof(family));
	if (len != sizeof(*in6))
		return;
	memcpy(&scope, &in6->sin6_scope_id, sizeof(scope));
	scope = __builtin_bswap32(scope);
	memcpy(&in6->sin6_scope_id, &scope, sizeof(scope));
}

bool net_addr_in_prefix(const struct sockaddr *sa, const struct sockaddr *net, unsigned prefix)
{
	const uint8_t *a, *b;
	size_t len;
	unsigned rest;

	if (sa->sa_family != net->sa_family)
		return false;
	a = host_bytes(sa, &len);
	b = host_bytes(net, &len);
	if (!a)
		return false;
	if (prefix > len * 8)
		prefix = (unsigned) len * 8;
	if (memcmp(a, b, prefix / 8))
		return false;
	rest = prefix % 8;
	return !rest || a[prefix / 8] >> (8 - rest) == b[prefix / 8] >> (8 - rest);
}

/* put_decimal - Returns the end of what was written. */
static char *put_decimal(char *out, unsigned n)
{
	char digits[10];
	unsigned cnt = 0;

	do
		digits[cnt++] = (char) ('0' + n % 10);
	while (n /= 10);
	while (cnt)
		*out++ = digits[--cnt];
	return out;
}

/* in4_text - without printf(), which takes ten times as many instructions: a look at a program writes the address
 * of each peer.
 */
static void in4_text(const struct sockaddr_in *in, char *buf)
{
	static const char scheme[] = "fi_sockaddr_in://";
	const uint8_t *host = (const uint8_t *) &in->sin_addr;
	char *at = buf + sizeof(scheme) - 1;
	unsigned i;

	memcpy(buf, scheme, sizeof(scheme) - 1);
	for (i = 0; i < 4; i++) {
		at = put_decimal(at, host[i]);
		*at++ = i < 3 ? '.' : ':';
	}
	*put_decimal(at, ntohs(in->sin_port)) = '\0';
}

char *net_addr_text(const struct sockaddr *sa, char *buf)
{
	char host[INET6_ADDRSTRLEN] = "";
	char scope[16] = "";

	switch (sa->sa_family) {
	case AF_INET:
		in4_text(as_in4(sa), buf);
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &as_in6(sa)->sin6_addr, host, sizeof(host));
		if (as_in6(sa)->sin6_scope_id)
			snprintf(scope, sizeof(scope), "%%%u", as_in6(sa)->sin6_scope_id);
		snprintf(buf, NET_ADDR_TEXT_MAX, "fi_sockaddr_in6://[%s%s]:%u", host, scope,
			 net_addr_port(sa));
		break;
	default:
		snprintf(buf, NET_ADDR_TEXT_MAX, "(address family %d)", sa->sa_family);
	}
	return buf;
}

const char *net_addr_straddr(const void *addr, char *buf, size_t *len_p)
{
	char text[NET_ADDR_TEXT_MAX];
	size_t need = strlen(net_addr_text(addr, text)) + 1;

	if (buf && *len_p)
		snprintf(buf, *len_p, "%s", text);
	*len_p = need;
	return buf;
}

char *net_addr_prefix_text(const struct sockaddr *sa, unsigned prefix, char *buf)
{
	char host[INET6_ADDRSTRLEN];
	uint8_t net[16] = { 0 };
	const uint8_t *bytes;
	size_t len = 0;

	bytes = host_bytes(sa, &len);
	if (!bytes) {
		buf[0] = '\0';
		return buf;
	}
	if (prefix > len * 8)
		prefix = (unsigned) len * 8;
	memcpy(net, bytes, prefix / 8);
	if (prefix % 8)
		net[prefix / 8] = bytes[prefix / 8] & (uint8_t) (0xff << (8 - prefix % 8));
	inet_ntop(sa->sa_family, net, host, sizeof(host));
	snprintf(buf, NET_ADDR_TEXT_MAX, "%s/%u", host, prefix);
	return buf;
}

int net_addr_parse_port(const char *text, uint16_t *port_p)
{
	uint32_t port = 0;
	const char *s;

	for (s = text; *s >= '0' && *s <= '9'; s++) {
		port = port * 10 + (uint32_t) (*s - '0');
		if (port > UINT16_MAX)
			return -FI_EINVAL;
	}
	if (s == text || *s)
		return -FI_EINVAL;
	*port_p = (uint16_t) port;
	return 0;
}

/* Parses a scope, an interface by number or name; 0 when it is neither. */
static uint32_t parse_scope(const char *text)
{
	unsigned long id;
	char *end;

	if (*text < '0' || *text > '9')
		return if_nametoindex(text);
	id = strtoul(text, &end, 10);
	return *end || id > UINT32_MAX ? 0 : (uint32_t) id;
}

int net_addr_parse_host(const char *text, union net_sa *out_p)
{
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
	union net_sa sa;
	char *scope;

	net_addr_any(AF_INET, &sa);
	if (inet_pton(AF_INET, text, &sa.in.sin_addr) == 1) {
		*out_p = sa;
		return 0;
	}
	if (strlen(text) >= sizeof(host))
		return -FI_EINVAL;
	strcpy(host, text);
	scope = strchr(host, '%');
	if (scope)
		*scope++ = '\0';
	net_addr_any(AF_INET6, &sa);
	if (inet_pton(AF_INET6, host, &sa.in6.sin6_addr) != 1)
		return -FI_EINVAL;
	if (scope) {
		sa.in6.sin6_scope_id = parse_scope(scope);
		if (!sa.in6.sin6_scope_id)
			return -FI_EINVAL;
	}
	*out_p = sa;
	return 0;
}

static int uri_family(const char *text, const char **rest_p)
{
	static const struct {
		const char *intro;
		int family;
	} form[] = {
		{ "fi_sockaddr_in://", AF_INET },
		{ "fi_sockaddr_in6://", AF_INET6 },
		{ "fi_sockaddr://", AF_UNSPEC },
		{ "fi_sockaddr_ip://", AF_UNSPEC },
	};
	size_t i;

	for (i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		size_t len = strlen(form[i].intro);

		if (!strncmp(text, form[i].intro, len)) {
			*rest_p = text + len;
			return form[i].family;
		}
	}
	return -1;
}

static int uri_part(const char *s, size_t n, char *dst, size_t len)
{
	if (n >= len)
		return -FI_EINVAL;
	memcpy(dst, s, n);
	dst[n] = '\0';
	return 0;
}

int net_uri_split(const char *text, struct net_uri *uri)
{
	const char *s, *end;

	uri->family = uri_family(text, &s);
	if (uri->family < 0)
		return -FI_ENODATA;
	if (strpbrk(s, "/?"))
		return -FI_EINVAL;
	if (*s == '[') {
		s++;
		end = strchr(s, ']');
		if (!end || end == s || uri->family == AF_INET)
			return -FI_EINVAL;
	} else {
		end = s + strcspn(s, ":");
	}
	if (uri_part(s, (size_t) (end - s), uri->node, sizeof(uri->node)))
		return -FI_EINVAL;
	s = end + (*end == ']');
	if (*s && *s++ != ':')
		return -FI_EINVAL;
	return uri_part(s, strlen(s), uri->service, sizeof(uri->service));
}

int net_addr_parse(const char *text, union net_sa *out_p)
{
	struct net_uri uri;
	union net_sa sa;
	uint16_t port = 0;

	if (net_uri_split(text, &uri) || net_addr_parse_host(uri.node, &sa))
		return -FI_EINVAL;
	if (uri.family != AF_UNSPEC && uri.family != sa.sa.sa_family)
		return -FI_EINVAL;
	if (uri.service[0] && net_addr_parse_port(uri.service, &port))
		return -FI_EINVAL;
	net_addr_set_port(&sa.sa, port);
	*out_p = sa;
	return 0;
}
