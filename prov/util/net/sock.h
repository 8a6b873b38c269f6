/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sock.h - sockets: open, bind within a port range, options.
 *
 * Every function returns 0 or the negative errno of the call that failed; the descriptor stays
 * with its owner.  None blocks and none logs, because only the caller knows what the socket is
 * for; net_sock_advice() has the advice for the log text.
 */
#ifndef NET_SOCK_H
#define NET_SOCK_H

#include "base/net_addr.h"

/* The ports to use when none is asked for; both 0: the kernel chooses. */
struct net_ports {
	uint16_t low;
	uint16_t high;		/* inclusive */
};

/* When a peer is declared lost; see tcp(7).  0 keeps the system's value. */
struct net_keepalive {
	unsigned idle_s;	/* idle time before the first probe */
	unsigned intvl_s;	/* between probes */
	unsigned probes;	/* unanswered probes before the peer is declared lost */
	unsigned unacked_ms;	/* time that sent data may stay unacknowledged */
};

/* net_ports_set - check and set a port range.
 *
 * @low, @high: both 0 for no range; else 1 <= low <= high <= 65535; @high 0 means 65535
 *
 * Errors: -FI_EINVAL, *@ports_p untouched.
 */
int net_ports_set(int low, int high, struct net_ports *ports_p);

/* net_sock_open - a non-blocking socket that is closed on exec.
 *
 * @family: AF_INET or AF_INET6 (then with IPV6_V6ONLY, so that both can be bound)
 * @type:   SOCK_STREAM or SOCK_DGRAM
 * @fd_p:   [out] the caller closes it
 */
int net_sock_open(int family, int type, int *fd_p);

/* net_sock_bind - bind to @addr; port 0 takes one from @ports.
 *
 * @ports:   may be NULL; tried from a random start, each port once
 * @bound_p: [out] the address bound; may be NULL
 *
 * Errors: -FI_EADDRINUSE when the port, or the whole range, is taken.
 */
int net_sock_bind(int fd, const struct sockaddr *addr, const struct net_ports *ports,
		  union net_sa *bound_p);

/* net_sock_listen - listen; @backlog <= 0: as long as the system allows (net.core.somaxconn). */
int net_sock_listen(int fd, int backlog);

/* net_sock_name - the local address. */
int net_sock_name(int fd, union net_sa *out_p);

/* net_sock_error - read and clear the pending error, for example the result of a connect: 0 or
 * negative.
 */
int net_sock_error(int fd);

int net_sock_reuse(int fd);		/* SO_REUSEADDR, for listeners */
int net_sock_nodelay(int fd, int on);
int net_sock_keepalive(int fd, const struct net_keepalive *ka);

/* net_sock_congestion - set the congestion control algorithm; see tcp(7). */
int net_sock_congestion(int fd, const char *name);

/* net_sock_delay_acks - acknowledge every second segment, as where data goes both ways, rather than each
 * that is read.  The system returns to the latter when none follows in time.
 */
int net_sock_delay_acks(int fd);

/* net_sock_buffers - request send and receive buffers of this many bytes; 0 keeps the system's
 * choice.  The system may grant less (net.core.{w,r}mem_max); the granted sizes are returned in
 * *@send_p and *@recv_p.
 */
int net_sock_buffers(int fd, size_t *send_p, size_t *recv_p);

/* net_sock_source - the local address from which the system would send to @dest.  Uses a UDP
 * connect, which sends nothing.
 *
 * Errors: -FI_ENETUNREACH and others when there is no route.
 */
int net_sock_source(const struct sockaddr *dest, union net_sa *source_p);

/* net_sock_advice - what a user can do about a socket error: one sentence, or "" when
 * fi_strerror() says enough.
 *
 * @err: a negative or positive errno
 */
const char *net_sock_advice(int err);

#endif
