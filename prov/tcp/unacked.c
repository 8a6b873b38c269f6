/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Peers that do not acknowledge what was sent are declared lost; peers with a closed receive
 * window are busy, not lost.
 *
 * TCP_USER_TIMEOUT does not tell a host that does not answer from one whose program leaves its
 * receive buffer full because it computes for a minute or is stopped: the latter acknowledges
 * every probe of the closed window.  So the limit is kept here.  Connections on which bytes
 * were sent are checked at intervals until all is acknowledged.  A peer counts as silent since
 * its last acknowledgement, but not since before the system began to retransmit or to probe:
 * until then there may have been nothing to acknowledge.
 *
 * Of long segments that are not acknowledged the size is logged early: a path that drops packets by
 * size lets the handshake pass.
 *
 * A peer whose program takes nothing is named in the log, where that can be known: its window stays closed, or it
 * owes an answer that its library gives by itself (eng_peer_asks()).  Short messages that stand in the buffer of its
 * socket are acknowledged by its system, whether its program takes them or not.
 *
 * A window that has been closed for long is probed every two minutes at most; a lost peer is
 * found there when two probes in a row were not answered.
 */
#include <errno.h>
#include <linux/tcp.h>		/* has more of struct tcp_info than netinet/tcp.h */
#include <linux/sockios.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/ioctl.h>

enum { SOCKET_INFO = TCP_INFO };	/* conf.h defines a TCP_INFO that logs */
#undef TCP_INFO

#include "link.h"

#define SILENCE_NS (3 * CLOCK_NS_PER_S)	/* after which the size of segments is logged */
#define PROBES_LOST 2		/* a single probe may be lost, and systems do not answer each */

/* bound_ns - the limit less two intervals, by which a loss may be found late. */
static uint64_t bound_ns(const struct tcp_poller *poller)
{
	uint64_t limit = poller->conf->keepalive.unacked_ms * CLOCK_NS_PER_MS;
	uint64_t late = 2 * tcp_conn_ack_every_ns(poller->conf);

	return limit > 2 * late ? limit - late : limit / 2;
}

/* is_unacked - are there bytes that the peer's system has not acknowledged? */
static bool is_unacked(const struct tcp_info *info)
{
	return info->tcpi_unacked || info->tcpi_notsent_bytes;
}

/* owes_answer - does the peer of a connection that carries a channel owe us an answer? */
static bool owes_answer(const struct tcp_conn *conn)
{
	return conn->state == TCP_CONN_READY && conn->chan && eng_peer_asks(chan_peer(&conn->chan->base));
}

/* ask_unacked - is there something that the peer has not acknowledged, or answered?  Not asked in CLOSING. */
static bool ask_unacked(struct tcp_conn *conn, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return conn->state != TCP_CONN_CLOSING &&
	       !getsockopt(conn->src.fd, IPPROTO_TCP, SOCKET_INFO, info, &len) &&
	       (is_unacked(info) || owes_answer(conn));
}

/* silent_for - since when the peer has acknowledged nothing, in ns before @now. */
static uint64_t silent_for(struct tcp_conn *conn, const struct tcp_info *info, uint64_t now)
{
	uint64_t silence = info->tcpi_last_ack_recv * CLOCK_NS_PER_MS;
	uint64_t heard = silence < now ? now - silence : 0;
	uint64_t known = now - tcp_conn_ack_every_ns(conn->poller->conf);

	if (!info->tcpi_retransmits && info->tcpi_probes < PROBES_LOST) {
		conn->silent_ns = 0;
		return 0;
	}
	if (!conn->silent_ns)
		conn->silent_ns = known;
	if (conn->silent_ns < heard)
		conn->silent_ns = heard;
	return now - conn->silent_ns;
}

/* log_size - of the segments that are not acknowledged, where they are as long as they may be. */
static void log_size(struct tcp_conn *conn, const struct tcp_info *info, uint64_t silence)
{
	char text[NET_ADDR_TEXT_MAX];
	int out = 0;

	if (conn->silence_logged || !info->tcpi_retransmits || silence < SILENCE_NS ||
	    ioctl(conn->src.fd, SIOCOUTQ, &out) || out < (int) info->tcpi_snd_mss)
		return;
	conn->silence_logged = true;
	TCP_WARN_SPARSE(conn->link->conf, "%s has acknowledged nothing for %u s: %d bytes, in segments of "
			"%u bytes, path MTU %u. If short messages arrive, the path drops packets by size: "
			"compare the MTUs along it, or set net.ipv4.tcp_mtu_probing=1\n",
			net_addr_text(&conn->peer.sa, text), (unsigned) (silence / CLOCK_NS_PER_S), out,
			info->tcpi_snd_mss, info->tcpi_pmtu);
}

/* check_stall - bytes wait for the peer, which has acknowledged none for CHAN_STALL_NS; or an answer, and it has
 * sent nothing.
 */
static void check_stall(struct tcp_conn *conn, const struct tcp_info *info, uint64_t now)
{
	const struct tcp_conn *first = conn->first ? conn->first : conn;
	uint64_t taken = is_unacked(info) ? info->tcpi_bytes_acked : info->tcpi_bytes_received;

	if (!conn->taken_ns || conn->taken != taken) {
		conn->taken = taken;
		conn->taken_ns = now;
		conn->stall_logged = false;
	}
	if (conn->stall_logged || conn->silence_logged || now - conn->taken_ns < CHAN_STALL_NS ||
	    conn->state != TCP_CONN_READY || !first->chan)
		return;
	conn->stall_logged = true;
	chan_log_stall(&first->chan->base, now - conn->taken_ns);
}

void tcp_unacked_check(struct tcp_poller *poller, uint64_t now)
{
	uint64_t limit = bound_ns(poller);
	struct list again;
	struct tcp_conn *conn;
	struct tcp_info info;
	uint64_t silence;

	list_init(&again);
	list_splice_tail(&poller->unacked, &again);
	while ((conn = list_pop_entry(&again, struct tcp_conn, unacked_node))) {
		if (!ask_unacked(conn, &info))
			continue;
		list_add_tail(&conn->unacked_node, &poller->unacked);
		silence = silent_for(conn, &info, now);
		log_size(conn, &info, silence);
		check_stall(conn, &info, now);
		if (silence >= limit)
			tcp_conn_fail(conn, FI_ETIMEDOUT, false);
	}
	poller->unacked_due_ns = list_empty(&poller->unacked) ? UINT64_MAX :
			       now + tcp_conn_ack_every_ns(poller->conf);
}
