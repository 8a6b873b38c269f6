/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * join.c - addresses are exchanged and prove themselves; rails are made, and made again.
 *
 * The side with the smaller epoch makes them, once long payload is sent or comes.  Each side proves itself to the other
 * by a hash under the key that the other has listed: a host that is listed and is not the peer does not have it.  An
 * address that has proven nothing is sent CHAN_RAIL_PROBES packets of 56 bytes, a second apart, or as many in return for
 * ASK.
 */
#include <endian.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "rxd/rails/state.h"

/* ---- hashes ------------------------------------------------------------------------------ */

/* key_of - of the connection with our id @cid: its peer alone gets it. */
static struct siphash_key key_of(const struct rxd_rail_ports *ports, uint64_t cid)
{
	uint64_t from[2] = { cid, 0 };
	struct siphash_key key;

	key.k[0] = siphash(&ports->secret, from, sizeof(from));
	from[1] = 1;
	key.k[1] = siphash(&ports->secret, from, sizeof(from));
	return key;
}

static uint64_t hash_of(const struct siphash_key *key, uint64_t nonce)
{
	nonce = htole64(nonce);
	return siphash(key, &nonce, sizeof(nonce));
}

static uint64_t fresh_nonce(void)
{
	uint64_t nonce;

	do {
		nonce = rxd_dg_random();
	} while (!nonce);
	return nonce;
}

size_t rxd_rails_list(const struct rxd_conn *conn, uint8_t *out)
{
	const struct rxd_rail_ports *ports = rxd_conn_link(conn)->rails;
	struct siphash_key key;

	if (!ports)
		return 0;
	_Static_assert(sizeof(struct rxd_wire_list) <= RXD_DATA_MAX, "it is private data");
	key = key_of(ports, conn->cid);
	return rxd_list_put(&key, ports->at, ports->cnt, out);
}

/* ---- packets ----------------------------------------------------------------------------- */

static void rail_send(struct rxd_rail *rail, int type, uint64_t to_cid, uint64_t nonce, uint64_t hash)
{
	struct rxd_wire_rail body = {
		.cid = rail->conn.cid, .nonce = nonce, .hash = hash, .from = rail->base.ours, .to = rail->base.theirs,
	};
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(body)];
	struct iovec iov = { buf, sizeof(buf) };

	rxd_rail_put(buf, rxd_put_hdr(buf, (enum rxd_type) type, RXD_F_SUM, to_cid, 0), &body);
	rxd_seal(buf, sizeof(buf), NULL, 0);
	rxd_dg_send(rxd_rails_dg(&rail->conn), rail->conn.to, &iov, 1);
}

static void ask_send(struct rxd_rail *rail)
{
	rail_send(rail, RXD_RAIL_ASK, rxd_main_of(&rail->conn)->peer_cid, rail->nonce, 0);
}

/* ---- a rail ------------------------------------------------------------------------------ */

static void log_made(struct rxd_rail *rail)
{
	struct chan *chan = rail->rails->base.chan;
	char text[CHAN_TEXT_MAX];

	CHAN_INFO(chan->link, "%s: a path is made by %s, %u stand\n", chan_peer_text(chan, text),
		  rail->rails->ports->iface[rail->base.ours].iface, rxd_rails_stand(rail->rails) + 1);
}

/* rail_made - the peer has proven that it is there.  A rail carries bytes of the connection's stream and has no stream
 * itself: rxd_conn_reset() leaves its own empty, rxd_rails_limit() puts the connection's limit into its ACKs, and
 * is_paused keeps its packets off the fast path, which delivers in order.
 */
static void rail_made(struct rxd_rail *rail, uint64_t peer_cid, uint64_t now)
{
	struct rxd_conn *conn = &rail->conn, *main = rxd_main_of(conn);
	size_t most = rxd_rails_dg(conn)->dgram_max, both = rail->rails->dgram_max;

	rxd_conn_reset(conn);
	conn->rcv_renew = 1;
	conn->is_paused = true;
	conn->peer_cid = peer_cid;
	conn->received_ns = now;
	rxd_mtu_init(&conn->mtu, rxd_conn_least(conn), (uint32_t) (most < both ? most : both));
	conn->chan.conn = conn;
	rail->made = true;
	chan_path_add(&rail->rails->base, rail->base.ours + 1u, conn);
	chan_rail_made(&rail->base, now);
	log_made(rail);
	rxd_tx_ping(conn, now);
	rxd_conn_schedule(conn);
	rxd_conn_schedule(main);
	rxd_conn_rearm(conn, now);
}

void rxd_rail_down(struct rxd_rail *rail, int err)
{
	struct rxd_conn *conn = &rail->conn, *main = rxd_main_of(conn);
	struct chan *chan = rail->rails->base.chan;
	char text[CHAN_TEXT_MAX];

	rxd_tx_new_path(conn);
	rxd_rail_clear(rail);
	chan_rail_failed(&rail->base, rxd_now(rxd_conn_poller(conn)));
	CHAN_WARN_SPARSE(chan->link, "%s: a path is lost by %s (%s), %u stand; what was sent over it goes again\n",
			 chan_peer_text(chan, text), rail->rails->ports->iface[rail->base.ours].iface, fi_strerror(err),
			 rxd_rails_stand(rail->rails));
	rxd_conn_schedule(main);
	if (rail->paired)
		chan_timer_set(&conn->chan, rail->base.due_ns);
}

/* rail_name - it has an id, and a way to the address that it goes to.  Errors: no memory. */
static int rail_name(struct rxd_rail *rail, unsigned theirs)
{
	struct rxd_conn *conn = &rail->conn;
	struct rxd_dg *dg = rxd_rails_dg(conn);
	int ret = conn->cid ? 0 : rxd_conn_take_id(conn);

	if (!ret && conn->to != FI_ADDR_UNSPEC && rail->base.theirs != theirs) {
		rxd_dg_forget(dg, conn->to);
		conn->to = FI_ADDR_UNSPEC;
		rail->base.proven = false;
		rail->base.tries = 0;
	}
	rail->base.theirs = (uint8_t) theirs;
	if (!ret && conn->to == FI_ADDR_UNSPEC)
		ret = rxd_dg_peer(dg, &rail->rails->their[theirs].sa, &conn->to);
	return ret;
}

/* rail_try - the time to make it may have come. */
static void rail_try(struct rxd_rail *rail, uint64_t now)
{
	struct rxd_rails *rails = rail->rails;
	char text[NET_ADDR_TEXT_MAX];

	if (!rail->paired || !rails->wanted || rails->base.chan->link->closing || !chan_rail_due(&rail->base, UINT64_MAX))
		return;
	if (!chan_rail_due(&rail->base, now)) {
		chan_timer_set(&rail->conn.chan, rail->base.due_ns);
		return;
	}
	rails->probes += !rail->base.proven;
	chan_rail_tried(&rail->base, now);
	chan_timer_set(&rail->conn.chan, rail->base.due_ns);
	if (rail_name(rail, rail->base.theirs))
		return;
	if (!rail->nonce)
		rail->nonce = fresh_nonce();
	CHAN_INFO(rails->base.chan->link, "a rail is tried by %s to %s (attempt %u)\n",
		  rails->ports->iface[rail->base.ours].iface, net_addr_text(&rails->their[rail->base.theirs].sa, text),
		  rail->base.tries);
	ask_send(rail);
}

/* rail_timeout - its packets are not acknowledged.  The peer may lack our proof, or have ended the rail. */
static void rail_timeout(struct rxd_rail *rail, uint64_t now)
{
	struct rxd_conn *conn = &rail->conn;

	rxd_tx_timeout(conn, now);
	if (!rxd_conn_alive(conn) || !rail->paired)
		return;
	if (!conn->confirmed)
		rail_send(rail, RXD_RAIL_PROOF, conn->peer_cid, 0, rail->proof);
	else if (conn->mute)
		ask_send(rail);
}

static void rail_fire(struct timer *timer, uint64_t now)
{
	struct chan *chan = container_of(timer, struct chan, timer);
	struct rxd_conn *conn = rxd_conn_of_chan(chan);
	struct rxd_rail *rail = rxd_rail_of(conn);

	if (rail->made && (!rxd_conn_alive(conn) || rxd_dead_due(conn) <= now))
		rxd_rail_down(rail, rxd_conn_alive(conn) ? FI_ETIMEDOUT : chan->err);
	if (!rxd_conn_alive(conn)) {
		rail_try(rail, now);
		return;
	}
	if (rxd_rails_heard(conn, now))
		rxd_conn_schedule(conn);
	if (rxd_keepalive_due(conn) <= now)
		rxd_tx_ping(conn, now);
	if (conn->ack_cnt || conn->nxt != conn->end || conn->no_memory)
		rxd_conn_schedule(conn);
	if (rxd_tx_due(conn, now) <= now)
		rail_timeout(rail, now);
	if (!conn->loss.out_cnt)
		rxd_loss_idle(&conn->loss);
	rxd_conn_rearm(conn, now);
}

/* ---- what arrives ------------------------------------------------------------------------- */

/* rail_asked - the rail of @ask; NULL: there can be none. */
static struct rxd_rail *rail_asked(struct rxd_conn *conn, const struct rxd_wire_rail *ask)
{
	struct rxd_rails *rails;

	if (!rxd_conn_alive(conn) || !conn->chan.paths || rxd_is_rail(conn))
		return NULL;
	rails = rxd_rails_of(conn);
	if (rails->makes || ask->to >= rails->cnt || ask->from >= rails->their_cnt ||
	    !rails->their[ask->from].sa.sa_family)
		return NULL;
	return &rails->rail[ask->to];
}

void rxd_on_rail_ask(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	uint64_t now = rxd_now(rxd_conn_poller(conn));
	struct rxd_wire_rail ask;
	struct rxd_rail *rail;

	if (rxd_rail_take(pkt->data, pkt->len, &ask))
		return;
	rail = rail_asked(conn, &ask);
	if (!rail)
		return;
	if (rail->made && (rail->conn.peer_cid != ask.cid || rail->base.theirs != ask.from))
		rxd_rail_down(rail, FI_ECONNRESET);	/* the peer has ended it */
	if (rail_name(rail, ask.from) || (!rail->base.proven && rail->base.tries >= CHAN_RAIL_PROBES))
		return;
	chan_rail_tried(&rail->base, now);
	rail->conn.peer_cid = ask.cid;
	if (!rail->nonce)
		rail->nonce = fresh_nonce();
	rail_send(rail, RXD_RAIL_ANSWER, ask.cid, rail->nonce, hash_of(&rail->rails->theirs, ask.nonce));
}

static void log_unproven(const struct rxd_rail *rail)
{
	char text[NET_ADDR_TEXT_MAX];

	CHAN_WARN_SPARSE(rail->rails->base.chan->link, "%s does not prove that it is the peer: no rail goes there\n",
			 net_addr_text(&rail->rails->their[rail->base.theirs].sa, text));
}

/* rail_proven - does @body prove that the peer is at the other end of @conn? */
static bool rail_proven(struct rxd_conn *conn, const struct rxd_pkt *pkt, bool paired, struct rxd_wire_rail *body)
{
	struct rxd_rail *rail = rxd_rail_of(conn);

	if (!rxd_is_rail(conn) || rail->paired != paired || !rail->nonce || rxd_rail_take(pkt->data, pkt->len, body))
		return false;
	if (body->hash == hash_of(&rail->rails->ours, rail->nonce))
		return true;
	log_unproven(rail);
	return false;
}

void rxd_on_rail_answer(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	uint64_t now = rxd_now(rxd_conn_poller(conn));
	struct rxd_rail *rail = rxd_rail_of(conn);
	struct rxd_wire_rail answer;

	if (!rail_proven(conn, pkt, true, &answer))
		return;
	if (rail->made && conn->peer_cid != answer.cid) {
		rxd_rail_down(rail, FI_ECONNRESET);
		return;
	}
	rail->proof = hash_of(&rail->rails->theirs, answer.nonce);
	rail_send(rail, RXD_RAIL_PROOF, answer.cid, 0, rail->proof);
	if (!rail->made)
		rail_made(rail, answer.cid, now);
}

void rxd_on_rail_proof(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	struct rxd_wire_rail proof;

	if (rail_proven(conn, pkt, false, &proof) && !rxd_rail_of(conn)->made && conn->peer_cid == proof.cid)
		rail_made(rxd_rail_of(conn), proof.cid, rxd_now(rxd_conn_poller(conn)));
}

/* ---- a connection ------------------------------------------------------------------------- */

static bool rail_reaches(void *arg, unsigned our, unsigned their)
{
	const struct rxd_rails *rails = arg;
	const struct sockaddr *sa = &rails->their[their].sa;

	return sa->sa_family && rxd_dg_reaches(&rails->ports->iface[our], sa);
}

static void pair_rails(struct rxd_rails *rails)
{
	struct chan_rail found[CHAN_RAILS_MAX];
	char text[NET_ADDR_TEXT_MAX];
	unsigned cnt, i;

	cnt = chan_rails_pair(rails->cnt, rails->their_cnt, rail_reaches, rails, found);
	for (i = 0; i < cnt; i++) {
		rails->rail[found[i].ours].base.theirs = found[i].theirs;
		rails->rail[found[i].ours].paired = true;
		CHAN_INFO(rails->base.chan->link, "a rail may go by %s to %s\n", rails->ports->iface[found[i].ours].iface,
			  net_addr_text(&rails->their[found[i].theirs].sa, text));
	}
}

static void rail_init(struct rxd_rails *rails, unsigned i)
{
	struct rxd_rail *rail = &rails->rail[i];
	struct chan *chan = &rail->conn.chan;

	rail->rails = rails;
	rail->base.ours = (uint8_t) i;
	chan->link = rails->base.chan->link;
	chan->state = CHAN_READY;
	chan->timer.fire = rail_fire;
	list_init(&chan->pending);
	list_init(&chan->node);
	list_init(&chan->link_node);
	rxd_conn_init(chan);
	chan->paths = &rails->base;
}

/* rails_new - NULL: no memory. */
static struct rxd_rails *rails_new(struct rxd_conn *conn, unsigned cnt)
{
	struct timers *timers = &conn->chan.link->poller->timers;
	struct rxd_rails *rails = calloc(1, sizeof(*rails) + cnt * sizeof(rails->rail[0]));
	unsigned i;

	for (i = 0; rails && i < cnt; i++) {
		if (!timers_join(timers))
			continue;
		while (i--)
			timers_leave(timers);
		free(rails);
		return NULL;
	}
	return rails;
}

void rxd_rails_begin(struct rxd_conn *conn, const uint8_t *data, size_t len)
{
	struct rxd_rail_ports *ports = rxd_conn_link(conn)->rails;
	union net_sa their[CHAN_RAILS_MAX];
	struct siphash_key theirs;
	struct rxd_rails *rails;
	unsigned i;
	int cnt;

	if (!ports || conn->chan.peer_epoch == conn->chan.link->epoch)
		return;
	rxd_rails_free(ports);
	cnt = rxd_list_take(data, len, &theirs, their);
	rails = cnt > 0 ? rails_new(conn, ports->cnt) : NULL;
	if (!rails)
		return;
	chan_paths_init(&rails->base, &conn->chan, ports->cnt + 1);
	rails->ports = ports;
	rails->dgram_max = conn->mtu.most;	/* nothing was sent yet that a system could have refused */
	rails->cnt = ports->cnt;
	rails->ours = key_of(ports, conn->cid);
	rails->theirs = theirs;
	rails->their_cnt = (unsigned) cnt;
	memcpy(rails->their, their, rails->their_cnt * sizeof(their[0]));
	rails->makes = conn->chan.link->epoch < conn->chan.peer_epoch;
	list_init(&rails->node);
	for (i = 0; i < rails->cnt; i++)
		rail_init(rails, i);
	if (rails->makes)
		pair_rails(rails);
}
