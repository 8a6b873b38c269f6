/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Who does not acknowledge, is dead; who takes nothing, is busy.
 *
 * The system's own limit (TCP_USER_TIMEOUT) makes no difference between a host that is
 * silent and one whose program leaves its buffers full, because it computes for a
 * minute, or is stopped: there every probe of the closed window is answered.  So the
 * limit is kept here.  Connections on which something was sent are looked at every
 * now and then, until all is acknowledged.  One has been mute since its last
 * acknowledgement, but no longer than we know that the system repeats itself: before,
 * there may have been nothing to acknowledge.
 *
 * Behind a window that has been closed for long the system asks every two minutes at
 * most; a death is noticed there when it has asked twice in vain.
 */
#include <errno.h>
#include <linux/tcp.h>		/* has more of struct tcp_info than netinet/tcp.h */
#include <rdma/fi_errno.h>
#include <string.h>

enum { SOCKET_INFO = TCP_INFO };	/* conf.h has a TCP_INFO that logs */
#undef TCP_INFO

#include "link.h"

#define LOOKS 8			/* within the time that a peer may be mute */
#define INTERVAL_MIN_MS 10u
#define PROBES_LOST 2		/* a single one may have been, and systems do not answer each */

static uint64_t limit_ns(const struct tcp_poller *poller)
{
	return poller->conf->keepalive.unacked_ms * CLOCK_NS_PER_MS;
}

static uint64_t interval_ns(const struct tcp_poller *poller)
{
	uint64_t least = INTERVAL_MIN_MS * CLOCK_NS_PER_MS, ns = limit_ns(poller) / LOOKS;

	return ns > least ? ns : least;
}

/* patience_ns - of the limit, what is left when a death is seen two looks late. */
static uint64_t patience_ns(const struct tcp_poller *poller)
{
	uint64_t limit = limit_ns(poller), late = 2 * interval_ns(poller);

	return limit > 2 * late ? limit - late : limit / 2;
}

void tcp_guard_add(struct tcp_conn *conn)
{
	struct tcp_poller *poller = conn->poller;

	if (!poller->conf->keepalive_on || !poller->conf->keepalive.unacked_ms)
		return;
	conn->mute_ns = 0;
	list_add_tail(&conn->guard_node, &poller->guarded);
	if (poller->guard_due_ns != UINT64_MAX)
		return;
	poller->guard_due_ns = clock_coarse_ns() + interval_ns(poller);
	obj_prog_moved(poller->base.base.prog, poller->guard_due_ns);
}

/* look - all is acknowledged, or nobody cares any more: false. */
static bool look(struct tcp_conn *conn, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return conn->state != TCP_CONN_LEAVING &&
	       !getsockopt(conn->src.fd, IPPROTO_TCP, SOCKET_INFO, info, &len) &&
	       (info->tcpi_unacked || info->tcpi_notsent_bytes);
}

/* mute_for - how long the other side has answered nothing, as far as we know. */
static uint64_t mute_for(struct tcp_conn *conn, const struct tcp_info *info, uint64_t now)
{
	uint64_t silence = info->tcpi_last_ack_recv * CLOCK_NS_PER_MS;
	uint64_t heard = silence < now ? now - silence : 0;
	uint64_t known = now - interval_ns(conn->poller);

	if (!info->tcpi_retransmits && info->tcpi_probes < PROBES_LOST) {
		conn->mute_ns = 0;
		return 0;
	}
	if (!conn->mute_ns)
		conn->mute_ns = known;
	if (conn->mute_ns < heard)
		conn->mute_ns = heard;
	return now - conn->mute_ns;
}

void tcp_guard_look(struct tcp_poller *poller, uint64_t now)
{
	uint64_t limit = patience_ns(poller);
	struct list again;
	struct tcp_conn *conn;
	struct tcp_info info;
	struct list *item;

	list_init(&again);
	list_splice_tail(&poller->guarded, &again);
	while ((item = list_pop(&again))) {
		conn = container_of(item, struct tcp_conn, guard_node);
		if (!look(conn, &info))
			continue;
		list_add_tail(&conn->guard_node, &poller->guarded);
		if (mute_for(conn, &info, now) >= limit)
			tcp_conn_fail(conn, FI_ETIMEDOUT, false);
	}
	poller->guard_due_ns = list_empty(&poller->guarded) ? UINT64_MAX :
			       now + interval_ns(poller);
}
