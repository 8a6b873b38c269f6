/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* share.c - which path takes what of the stream, which ones are mute, and the end of all of them. */
#include "rxd/rails/state.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SILENT_PROBES 3		/* probe timeouts in a row after which a path may be mute */
#define SILENT_NS (200 * CLOCK_NS_PER_MS)	/* and so long after the first of them */
#define ANSWERS_NS (50 * CLOCK_NS_PER_MS)	/* another path has answered so long after it: the peer makes progress */

struct rxd_dg *rxd_rails_dg(const struct rxd_conn *conn)
{
	if (!rxd_is_rail(conn))
		return rxd_conn_link(conn)->dg;
	return rxd_rails_of(conn)->ports->dg[((const struct rxd_rail *) conn)->base.ours];
}

/* ---- who takes what ---------------------------------------------------------------------- */

/* path_stands - may it carry bytes?  What the peer has not confirmed it would drop. */
static bool path_stands(const struct rxd_conn *path)
{
	return rxd_conn_alive(path) && !path->mute && (path->confirmed || !rxd_is_rail(path));
}

/* best_path - the one that takes what is short: path 0, or the first that stands. */
static struct rxd_conn *best_path(const struct rxd_rails *rails)
{
	struct rxd_conn *conn = rxd_conn_of_chan(rails->base.chan), *path;
	unsigned i;

	for (i = 1; conn->mute && i < rails->base.cnt; i++) {
		path = rails->base.path[i].conn;
		if (path && path_stands(path))
			return path;
	}
	return conn;
}

static uint64_t first_waiting(const struct rxd_conn *conn)
{
	return list_empty(&conn->chan.pending) ? 0 : container_of(conn->chan.pending.next, struct eng_pkt, node)->len;
}

/* is_long - are there so many bytes to be sent that they are shared? */
static bool is_long(const struct rxd_conn *conn)
{
	return conn->end - conn->nxt + first_waiting(conn) >= rxd_conf.rails.min;
}

static bool has_more(const struct rxd_conn *conn)
{
	return conn->retransmit.cnt || conn->nxt != conn->end || !list_empty(&conn->chan.pending);
}

/* has_room - has the peer's socket buffer of @path, which is its part of the window?  What is short may exceed it. */
static bool has_room(const struct rxd_conn *path, const struct rxd_conn *conn)
{
	return path->loss.out_bytes < (conn->limit - conn->una) / rxd_rails_paths(conn);
}

bool rxd_rails_takes(struct rxd_conn *path)
{
	const struct rxd_conn *conn = rxd_main_of(path);
	bool much = conn->retransmit.cnt || is_long(conn);

	if (path == best_path(rxd_rails_of(path)))
		return !much || has_room(path, conn);
	return much && path_stands(path) && has_room(path, conn);
}

void rxd_rails_offer(struct rxd_conn *path)
{
	struct rxd_rails *rails = rxd_rails_of(path);
	struct rxd_conn *conn = rxd_main_of(path), *other;
	unsigned i;

	/* the timer of a rail wakes for pacing only where its @end is beyond its @nxt, which is 0 */
	if (path != conn) {
		path->end = has_more(conn) && rxd_rails_takes(path);
		return;
	}
	if (!has_more(conn))
		return;
	if (!rails->wanted && is_long(conn))
		rxd_rails_want(conn);
	for (i = 1; i < rails->base.cnt; i++) {
		other = rails->base.path[i].conn;
		if (other && path_stands(other) && rxd_rails_takes(other))
			rxd_conn_schedule(other);
	}
}

void rxd_rails_limit(struct rxd_conn *path)
{
	if (rxd_is_rail(path))
		path->rcv_limit = rxd_rx_limit(rxd_main_of(path));
}

void rxd_rails_carried(struct rxd_conn *path, size_t len)
{
	rxd_rails_of(path)->carried[rxd_path_number(path)] += len;
}

void rxd_rails_want(struct rxd_conn *path)
{
	struct rxd_rails *rails = rxd_rails_of(path);
	unsigned i;

	if (rails->wanted)
		return;
	rails->wanted = true;
	for (i = 0; rails->makes && i < rails->cnt; i++)
		if (rails->rail[i].paired)
			chan_timer_set(&rails->rail[i].conn.chan, 0);
}

/* ---- mute paths --------------------------------------------------------------------------- */

unsigned rxd_rails_stand(const struct rxd_rails *rails)
{
	unsigned cnt = 0, i;

	for (i = 0; i < rails->base.cnt; i++)
		cnt += rails->base.path[i].conn && path_stands(rails->base.path[i].conn);
	return cnt;
}

unsigned rxd_rails_paths(const struct rxd_conn *path)
{
	unsigned cnt = rxd_rails_stand(rxd_rails_of(path));

	return cnt ? cnt : 1;
}

static const struct net_rail *rail_of(const struct rxd_conn *path)
{
	const struct rxd_rail_ports *ports = rxd_rails_of(path)->ports;

	return rxd_is_rail(path) ? &ports->iface[rxd_path_number(path) - 1] : &ports->own;
}

static const char *iface_of(const struct rxd_conn *path)
{
	return rail_of(path)->iface;
}

/* is_down - by the evidence of this host.  Then no answer is waited for, if another path stands. */
static bool is_down(const struct rxd_conn *path)
{
	return rail_of(path)->addr.sa.sa_family && rxd_rails_stand(rxd_rails_of(path)) > 1 && !rxd_dg_up(rail_of(path));
}

/* another_answers - since @since, which is long enough after @path had no answer. */
static bool another_answers(const struct rxd_conn *path, uint64_t since)
{
	const struct rxd_rails *rails = rxd_rails_of(path);
	const struct rxd_conn *other;
	unsigned i;

	for (i = 0; i < rails->base.cnt; i++) {
		other = rails->base.path[i].conn;
		if (other && other != path && path_stands(other) && other->received_ns >= since)
			return true;
	}
	return false;
}

/* is_silent - it is so since @since, and another path is not. */
static bool is_silent(const struct rxd_conn *path, uint64_t since, uint64_t now)
{
	return path->loss.probes >= SILENT_PROBES && now >= since + SILENT_NS &&
	       another_answers(path, since + ANSWERS_NS);
}

bool rxd_rails_silent(struct rxd_conn *path, uint64_t now)
{
	struct rxd_rails *rails = rxd_rails_of(path);
	uint64_t *since = &rails->silent_ns[rxd_path_number(path)];
	struct chan *chan = rails->base.chan;
	char text[CHAN_TEXT_MAX];
	bool down;

	if (path->loss.probes <= 1)
		*since = now;
	if (path->mute || !path_stands(path))
		return false;
	down = is_down(path);
	if (!down && !is_silent(path, *since, now))
		return false;
	path->mute = true;
	CHAN_WARN_SPARSE(chan->link, "%s: a path is lost by %s (%s), %u stand; what was sent over it goes again\n",
			 chan_peer_text(chan, text), iface_of(path), down ? fi_strerror(FI_ENETDOWN) : "no answer", rxd_rails_stand(rails));
	rxd_conn_schedule(rxd_main_of(path));
	return true;
}

bool rxd_rails_heard(struct rxd_conn *path, uint64_t now)
{
	struct rxd_rails *rails = rxd_rails_of(path);
	char text[CHAN_TEXT_MAX];

	if (!path->mute || path->loss.probes || path->received_ns < rails->silent_ns[rxd_path_number(path)])
		return false;
	path->mute = false;
	rxd_rtt_init(&path->rtt);	/* what is in flight may have waited for the interface, or for ARP, a second */
	rxd_loss_waited(&path->loss);
	CHAN_INFO(rails->base.chan->link, "%s: a path is made by %s, %u stand\n", chan_peer_text(rails->base.chan, text),
		  iface_of(path), rxd_rails_stand(rails));
	if (rxd_is_rail(path))
		rxd_conn_schedule(rxd_main_of(path));
	return true;
}

bool rxd_rails_live(struct rxd_conn *conn, uint64_t now)
{
	const struct rxd_rails *rails = rxd_rails_of(conn);
	const struct rxd_conn *other;
	unsigned i;

	for (i = 1; i < rails->base.cnt; i++) {
		other = rails->base.path[i].conn;
		if (other && rxd_conn_alive(other) && other->received_ns > conn->received_ns) {
			conn->received_ns = other->received_ns;
			conn->unanswered_ns = other->received_ns;
		}
	}
	return rxd_dead_due(conn) > now;
}

/* ---- the end ------------------------------------------------------------------------------ */

bool rxd_rails_say_all(struct rxd_conn *conn)
{
	const struct rxd_rails *rails = rxd_rails_of(conn);
	struct rxd_conn *other;
	bool said = true;
	unsigned i;

	for (i = 1; i < rails->base.cnt; i++) {
		other = rails->base.path[i].conn;
		if (!other || !path_stands(other) || !other->ack_cnt)
			continue;
		other->ack_now = true;
		rxd_conn_schedule(other);
		said = false;
	}
	return said;
}

void rxd_rail_clear(struct rxd_rail *rail)
{
	struct rxd_conn *conn = &rail->conn;
	struct rxd_link *link = rxd_conn_link(conn);

	conn->chan.conn = NULL;
	conn->mute = false;
	timer_off(&link->base.poller->timers, &conn->chan.timer);
	list_del(&conn->dirty_node);
	if (conn->cid)
		hmap_remove(&link->by_cid, conn->cid);
	if (conn->to != FI_ADDR_UNSPEC)
		rxd_dg_forget(rxd_rails_dg(conn), conn->to);
	conn->to = FI_ADDR_UNSPEC;
	conn->cid = conn->peer_cid = 0;
	conn->source = 0;
	rxd_ranges_fini(&conn->pns);
	rxd_loss_fini(&conn->loss);
	chan_path_remove(&rail->rails->base, conn);
	rail->made = false;
	rail->nonce = rail->proof = 0;
}

void rxd_rails_end(struct rxd_conn *conn)
{
	struct rxd_rails *rails = rxd_rails_of(conn);
	unsigned i;

	for (i = 0; i < rails->cnt; i++) {
		rxd_rail_clear(&rails->rail[i]);
		timers_leave(&conn->chan.link->poller->timers);
	}
	conn->chan.paths = NULL;
	conn->mute = false;
	list_add_tail(&rails->node, &rails->ports->gone);
}

/* What is called for a packet of a rail may be what ends it, so its memory stays until no such call is in progress. */
void rxd_rails_free(struct rxd_rail_ports *ports)
{
	struct rxd_rails *rails;

	while ((rails = list_pop_entry(&ports->gone, struct rxd_rails, node)))
		free(rails);
}

void rxd_rails_text(const struct rxd_conn *conn, char *buf, size_t size)
{
	const struct rxd_rails *rails = rxd_rails_of(conn);
	const struct rxd_conn *path;
	uint64_t sum = 0;
	unsigned i;
	size_t len;

	*buf = '\0';
	for (i = 0; rails && i < rails->base.cnt; i++)
		sum += rails->carried[i];
	for (i = 0; rails && i < rails->base.cnt; i++) {
		path = rails->base.path[i].conn;
		len = strlen(buf);
		if (path && path_stands(path))
			snprintf(buf + len, size - len, "%s%s %u %%", len ? ", " : "", iface_of(path),
				 sum ? (unsigned) (rails->carried[i] * 100 / sum) : 0);
		else
			snprintf(buf + len, size - len, "%s%s not in use", len ? ", " : "",
				 i ? rails->ports->iface[i - 1].iface : rails->ports->own.iface);
	}
}
