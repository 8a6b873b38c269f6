/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * net_addr.h - IP socket addresses: compare, hash, text, names.
 *
 * An address is a sockaddr_in or a sockaddr_in6 and nothing else; every
 * function here takes any sockaddr and treats another family as "no address".
 * Threading: all functions may be called from any thread; only
 * net_addr_resolve() may block (name service).
 */
#ifndef NET_ADDR_H
#define NET_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Room for either address; cheaper than sockaddr_storage (28 bytes, not 128). */
union net_sa {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Size that holds every text made here, NUL included. */
#define NET_ADDR_TEXT_MAX 96

/* net_addr_len - bytes of the structure behind @sa: 16, 28, or 0 for a family
 * that is not IP.
 */
static inline size_t net_addr_len(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

static inline uint16_t net_addr_port(const struct sockaddr *sa)
{
	/* sin_port and sin6_port have the same offset */
	return ntohs(((const struct sockaddr_in *) sa)->sin_port);
}

static inline void net_addr_set_port(struct sockaddr *sa, uint16_t port)
{
	((struct sockaddr_in *) sa)->sin_port = htons(port);
}

/* net_addr_format - FI_SOCKADDR_IN, FI_SOCKADDR_IN6 or FI_FORMAT_UNSPEC. */
uint32_t net_addr_format(const struct sockaddr *sa);

/* net_addr_family - the address family that an addr_format of fi_info allows: AF_INET,
 * AF_INET6, AF_UNSPEC when both are allowed (FI_FORMAT_UNSPEC, FI_SOCKADDR, FI_SOCKADDR_IP), or
 * -1 when it is not an IP format.
 */
int net_addr_family(uint32_t format);

/* net_addr_copy - copy an address from the caller's bytes.
 * @addr:  bytes, possibly unaligned
 * @len:   how many of them may be read
 * @out_p: [out] the address; untouched on error
 * Errors: -FI_EINVAL when @addr is NULL, too short for its family, or not IP.
 */
int net_addr_copy(const void *addr, size_t len, union net_sa *out_p);

/* net_addr_any - the wildcard address of @family with port 0. */
void net_addr_any(int family, union net_sa *out_p);

/* net_addr_cmp - a total order: family, host, scope, port.  0 means equal. */
int net_addr_cmp(const struct sockaddr *a, const struct sockaddr *b);

/* net_addr_same_host - like net_addr_cmp() == 0, but the ports may differ. */
bool net_addr_same_host(const struct sockaddr *a, const struct sockaddr *b);

/* net_addr_hash - equal addresses (net_addr_cmp) have equal hashes. */
uint64_t net_addr_hash(const struct sockaddr *sa);

bool net_addr_is_any(const struct sockaddr *sa);
bool net_addr_is_loopback(const struct sockaddr *sa);	/* 127/8, ::1 */
bool net_addr_is_link_local(const struct sockaddr *sa);	/* 169.254/16, fe80::/10 */
bool net_addr_is_multicast(const struct sockaddr *sa);

/* net_addr_wire - the fields of a socket address that have the byte order of a host (family, scope) as
 * they are in packets, little endian; and the reverse, which is the same.
 *
 * @addr: changed in place; of another length than sockaddr_in and sockaddr_in6 it stays as it is
 * @big:  this host is big-endian: NET_ADDR_BIG
 */
#define NET_ADDR_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
void net_addr_wire(void *addr, size_t len, bool big);

/* net_addr_in_prefix - is @sa inside the network of @net with @prefix bits? */
bool net_addr_in_prefix(const struct sockaddr *sa, const struct sockaddr *net, unsigned prefix);

/* net_addr_text - the string form of an address: fi_sockaddr_in://192.0.2.1:5000
 * or fi_sockaddr_in6://[fe80::1%2]:80 (a scope is its interface index).
 *
 * @buf: at least NET_ADDR_TEXT_MAX bytes; always terminated
 *
 * Returns @buf, so that it can stand in a printf argument.
 */
char *net_addr_text(const struct sockaddr *sa, char *buf);

/* net_addr_straddr - fi_av_straddr(3) for IP addresses.
 *
 * @addr: a sockaddr
 * @buf:  where the text goes, cut to fit and terminated; may be NULL if *@len_p is 0
 * @len_p: [in/out] bytes at @buf; bytes that the whole text needs, NUL included
 *
 * Returns @buf.
 */
const char *net_addr_straddr(const void *addr, char *buf, size_t *len_p);

/* net_addr_prefix_text - the network of @sa, "192.0.2.0/24": a fabric's name.
 * @buf as for net_addr_text().
 */
char *net_addr_prefix_text(const struct sockaddr *sa, unsigned prefix, char *buf);

/* net_addr_parse - read the string form that net_addr_text() writes.
 *
 * Also takes fi_sockaddr:// and fi_sockaddr_ip:// (either family), an address
 * without a port (port 0), and a scope by interface name.  Nothing may follow.
 *
 * Errors: -FI_EINVAL, *@out_p untouched.
 */
int net_addr_parse(const char *text, union net_sa *out_p);

/* net_addr_parse_host - a bare literal address ("192.0.2.1", "fe80::1%eth0"); port 0.
 * Errors: -FI_EINVAL, *@out_p untouched.
 */
int net_addr_parse_host(const char *text, union net_sa *out_p);

/* The parts of a string form: fi_sockaddr_in6://[node]:service. */
struct net_uri {
	int family;		/* that the format allows; AF_UNSPEC for any */
	char node[256];		/* "" when there is none */
	char service[64];	/* likewise */
};

/* net_uri_split - split a string form.  Further fields and options (/ and ?) have no meaning
 * for a socket address, so they are refused rather than dropped.
 * Errors: -FI_EINVAL; -FI_ENODATA: the string form of another address format (fi_shm://1).
 */
int net_uri_split(const char *text, struct net_uri *uri);

/* net_addr_parse_port - a decimal port number 0..65535 and nothing else.
 * Errors: -FI_EINVAL.
 */
int net_addr_parse_port(const char *text, uint16_t *port_p);

#endif
