/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * route.h - which way a connection takes, and why no faster one, as text.
 *
 * One line is logged at FI_LOG_INFO each time that a connection stands.  Where the route is
 * surprising, one warning in the life of the process says so, too.
 *
 * Threading: as chan.h.
 */
#ifndef CHAN_ROUTE_H
#define CHAN_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/handshake.h"

struct chan;

#define CHAN_WAY_MAX 256	/* NUL included */
#define CHAN_WHY_MAX 256
#define CHAN_ROUTE_TEXT_MAX 1024

/* What may surprise: each is warned of once. */
enum chan_surprise {
	CHAN_EXPECTED,
	CHAN_SOCKETS,		/* a peer on the same host is reached by sockets */
	CHAN_COPIES,		/* the memory of a peer on the same host cannot be read */
	CHAN_SLOW,		/* another host is reached by an interface that is not the fastest */
	CHAN_SURPRISES
};

/* What a connection has moved since it stands, headers included; 0: the link does not count it. */
struct chan_traffic {
	uint64_t sent_bytes, got_bytes;
	uint64_t sent_packets, got_packets;
	uint64_t resent_bytes;
	uint64_t rtt_ns;	/* smoothed round trip */
};

/* What a link knows of the route of a connection, which stands. */
struct chan_route {
	char way[CHAN_WAY_MAX];	/* "TCP from 10.0.0.1:40000 to 10.0.0.2:50000 by eth0" */
	char why[CHAN_WHY_MAX];	/* why no faster one, as a clause; "": there is none */
	const char *format;	/* of its packets; NULL: native */
	bool same_host;		/* the peer is reached at an address of this host */
	enum chan_surprise surprise;
	struct chan_traffic traffic;
};

/* chan_route_said - the handshake of the peer says who it is.
 * @ours, @theirs: versions of the link and the engine
 * @host:          chan_host_mark() of the peer; 0: not known
 */
void chan_route_said(struct chan *chan, struct chan_version ours, const struct chan_version *theirs,
		    uint32_t host);

/* chan_route_same_host - is the address of the peer, an IP address, one of the endpoint's own host? */
bool chan_route_same_host(const struct chan *chan);

/* chan_route_avoids - why a route by sockets to a peer on the same host is not one by shared
 * memory, and whether that is surprising; for a link whose endpoints may have a further one.
 * @path: same_host is set; nothing happens for a peer on another host
 */
void chan_route_avoids(const struct chan *chan, struct chan_route *path);

/* chan_route_slow - the same for a peer on another host, reached by the interface @iface.  It looks at the
 * interfaces once, and again where a connection has another one than that before.
 */
void chan_route_slow(const char *iface, int family, struct chan_route *path);

/* chan_route_text - what is known of the route of a connection that stands, in @path, and as text.
 * @buf: CHAN_ROUTE_TEXT_MAX bytes.  Returns @buf.
 */
const char *chan_route_text(struct chan *chan, struct chan_route *path, char *buf);

/* chan_route_log - a connection stands: say by which route.   @peer: to whom, for the log */
void chan_route_log(struct chan *chan, const char *peer);

#endif
