/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The poller: one per progress group, for all its links; and where their datagrams come in.
 */
#include <rdma/fi_errno.h>
#include <stddef.h>
#include <string.h>

#include "conn.h"
#include "rxd/addresses/wire.h"
#include "rxd/sealed.h"

#define RETRY_BLOCKED_NS (CLOCK_NS_PER_MS / 10)
#define READ_EVERY 64
#define LOOK_POLLS_MAX 1024	/* of OBJ_POLL_BUDGET datagrams */

static struct rxd_poller *poller_of(struct obj_poller *base)
{
	return container_of(base, struct rxd_poller, base.base);
}

static struct rxd_conn *conn_at(struct list *node)
{
	return container_of(node, struct rxd_conn, chan.node);
}

/* ---- input ------------------------------------------------------------------------ */

/* Every packet but DATA. */
static void on_control(struct rxd_link *link, struct rxd_conn *conn, const struct rxd_pkt *pkt,
		       uint64_t source)
{
	if (pkt->type == RXD_HELLO && rxd_on_hello(link, pkt))
		rxd_cm_hello(link, pkt, NULL);
	else if (pkt->type == RXD_PROBE)
		rxd_on_probe(link, pkt);
	/* the others are about a connection; one that is not known gets no answer, which could be
	 * misused
	 */
	else if (!conn || pkt->type == RXD_HELLO)
		return;
	else if (pkt->type == RXD_RETRY)
		rxd_on_retry(conn, pkt);
	else if (pkt->type == RXD_WELCOME)
		rxd_on_welcome(conn, pkt);
	else if (pkt->type == RXD_REFUSE)
		rxd_on_refuse(conn, pkt);
	else if (pkt->type == RXD_RESET)
		rxd_on_reset(conn, pkt);
	else if (pkt->type == RXD_PATH_CHALLENGE)
		rxd_on_path_challenge(conn, pkt);
	else if (pkt->type == RXD_PATH_RESPONSE)
		rxd_on_path_response(conn, pkt, source);
	else if (pkt->type == RXD_RAIL_ASK)
		rxd_on_rail_ask(conn, pkt);
	else if (pkt->type == RXD_RAIL_ANSWER)
		rxd_on_rail_answer(conn, pkt);
	else if (pkt->type == RXD_RAIL_PROOF)
		rxd_on_rail_proof(conn, pkt);
}

/* log_dropped - sparse: any host may send them. */
static void log_dropped(struct rxd_link *link, size_t len, const char *why)
{
	CHAN_WARN_SPARSE(&link->base, "dropped a datagram of %zu bytes: %s\n", len, why);
}

/* Datagrams that are read together have arrived together. */
static uint64_t input_time(struct rxd_poller *poller)
{
	if (!poller->input_ns)
		poller->input_ns = rxd_now(poller);
	return poller->input_ns;
}

/* ---- protected endpoints ------------------------------------------------------------ */

/* on_opened_control - every sealed packet but DATA. */
static void on_opened_control(struct rxd_link *link, struct rxd_sec *sec, const struct rxd_pkt *pkt, uint64_t source)
{
	struct rxd_conn *conn = rxd_sec_conn(sec);

	if (pkt->type == RXD_HELLO && !conn) {
		if (rxd_on_sealed_hello(link, sec, pkt))
			rxd_cm_hello(link, pkt, sec);
	} else if (!conn) {
		return;
	} else if (pkt->type == RXD_HELLO) {
		if (rxd_conn_alive(conn) && conn->peer_cid == pkt->hello.cid)
			rxd_welcome_send(conn, rxd_now(rxd_link_poller(link)));
	} else if (pkt->type == RXD_PROBE) {
		if (rxd_conn_alive(conn))
			rxd_probe_answer(conn);
	} else {
		on_control(link, conn, pkt, source);
	}
}

static void on_sealed(struct rxd_link *link, const uint8_t *buf, size_t len, struct rxd_meta meta)
{
	uint64_t cid, now = input_time(rxd_link_poller(link));
	struct rxd_sec *sec;
	struct rxd_conn *conn;
	struct rxd_pkt pkt;
	const char *why;

	memcpy(&cid, buf + offsetof(struct rxd_hdr, conn), sizeof(cid));
	sec = rxd_sec_find(link, le64toh(cid));
	if (sec && rxd_sec_request(sec))
		rxd_cm_repeated(link, rxd_sec_request(sec));
	buf = sec ? rxd_sec_open(sec, buf, &len, now) : NULL;
	if (!buf)
		return;
	why = rxd_parse_protected(buf, len, true, &pkt);
	conn = rxd_sec_conn(sec);
	if (why)
		log_dropped(link, len, why);
	else if (pkt.type != RXD_DATA)
		on_opened_control(link, sec, &pkt, meta.source);
	else if (conn && rxd_conn_alive(conn))
		rxd_on_data(conn, &pkt, meta, now);
}

/* on_clear - what is in the clear may begin a handshake, or refuse one, or ask about a connection that is not there: it
 * changes no connection, but that a token of RESET ends one.
 */
static void on_clear(struct rxd_link *link, const uint8_t *buf, size_t len)
{
	const char *why, *foreign;
	struct rxd_sec *sec;
	struct rxd_conn *conn;
	struct rxd_pkt pkt;

	why = rxd_parse_protected(buf, len, false, &pkt);
	/* of an endpoint that does not protect: HELLO and REFUSE of other versions are understood */
	foreign = why ? rxd_parse(buf, len, &pkt) : NULL;
	if (foreign) {
		log_dropped(link, len, why);
		return;
	}
	sec = pkt.conn ? rxd_sec_find(link, pkt.conn) : NULL;
	conn = sec ? rxd_sec_conn(sec) : NULL;
	if (pkt.type == RXD_HELLO)
		rxd_on_hello(link, &pkt);
	else if (pkt.type == RXD_PROBE && !why)
		rxd_guard_on_probe(link, &pkt);
	else if (pkt.type == RXD_RESET && !why && conn)
		rxd_on_clear_reset(conn, &pkt);
	else if (pkt.type == RXD_SHAKE && sec && !conn && !rxd_sec_request(sec))
		rxd_guest_on_shake(sec, &pkt);
	else if (pkt.type == RXD_SHAKE && conn)
		rxd_on_shake(conn, &pkt);
	else if (pkt.type == RXD_RETRY && conn)
		rxd_on_retry(conn, &pkt);
	else if (pkt.type == RXD_REFUSE && conn && pkt.reason != CHAN_REJECTED)
		rxd_on_refuse(conn, &pkt);
}

static void on_protected(struct rxd_link *link, const uint8_t *buf, size_t len, struct rxd_meta meta)
{
	if (rxd_sec_is_sealed(buf, len))
		on_sealed(link, buf, len, meta);
	else
		on_clear(link, buf, len);
}

/* ---- all endpoints ------------------------------------------------------------------- */

/* on_datagram - a datagram has arrived: validate it, find its connection, pass it to what handles its type. */
static void on_datagram(void *owner, const uint8_t *buf, size_t len, struct rxd_meta meta)
{
	struct rxd_link *link = owner;
	struct rxd_poller *poller = rxd_link_poller(link);
	_Alignas(8) uint8_t control[RXD_HANDSHAKE_MAX];
	struct rxd_conn *conn;
	struct rxd_pkt pkt;
	const char *why;

	/* a handshake has addresses within; in a train a datagram begins at any byte */
	if (__builtin_expect(len >= sizeof(struct rxd_hdr) && len <= sizeof(control) &&
			     buf[offsetof(struct rxd_hdr, type)] != RXD_DATA, 0))
		buf = memcpy(control, buf, len);
	why = rxd_parse(buf, len, &pkt);

	if (poller->deferred)
		rxd_rx_deferred(poller);
	if (__builtin_expect(why != NULL, 0)) {
		if (link->guard)
			on_protected(link, buf, len, meta);
		else
			log_dropped(link, len, why);
		return;
	}
	/* none of a protected endpoint is found: they are in a table of its own */
	conn = hmap_find(&link->by_cid, pkt.conn);
	if (__builtin_expect(pkt.type != RXD_DATA, 0) && link->guard)
		on_protected(link, buf, len, meta);
	else if (__builtin_expect(pkt.type != RXD_DATA, 0))
		on_control(link, conn, &pkt, meta.source);
	else if (conn && rxd_conn_alive(conn))
		rxd_on_data(conn, &pkt, meta, input_time(poller));
}

/* ---- output --------------------------------------------------------------------------- */

/* Round robin: a quantum of each, until all have sent what they may. */
static void push_waiting(struct rxd_poller *poller, uint64_t now)
{
	struct rxd_conn *conn;
	struct list again;

	list_init(&again);
	while ((conn = list_pop_entry(&poller->base.dirty, struct rxd_conn, dirty_node))) {
		if (!rxd_conn_alive(conn))
			continue;
		if (rxd_tx_push(conn, now) && rxd_conn_alive(conn))
			list_add_tail(&conn->dirty_node, rxd_conn_dg(conn)->blocked ? &again :
				      &poller->base.dirty);
		if (rxd_conn_alive(conn))
			rxd_conn_rearm(conn, now);
	}
	list_splice_tail(&again, &poller->base.dirty);
	if (list_empty(&poller->base.dirty))
		obj_prog_unstaged(poller->base.base.prog);
}

/* ---- polling ------------------------------------------------------------------------ */

/* Those that still have no memory put themselves on the list again, behind all others. */
static int resume_paused(struct rxd_poller *poller, uint64_t now)
{
	struct list again, *node;
	int done = 0;

	list_init(&again);
	list_splice_tail(&poller->base.paused, &again);
	while ((node = list_pop(&again)))
		done += rxd_rx_resume(conn_at(node), now);
	return done;
}

/* report_failed - what a peer has closed in good order waits for what others have sent: report_ends(). */
static int report_failed(struct list *node)
{
	struct rxd_conn *conn = conn_at(node);

	if (conn->clean_end && rxd_conn_link(conn)->base.msg) {
		list_add_tail(&conn->chan.node, &rxd_conn_poller(conn)->ended);
		return 0;
	}
	rxd_conn_lost(conn);
	return 1;
}

/* read_due - without a connection only handshakes are expected, for which the queues need not
 * be read in each poll where other pollers have busy peers.
 */
static bool read_due(struct rxd_poller *poller)
{
	if (!poller->base.timers.cnt && list_empty(&poller->ended) && poller->until_read-- &&
	    obj_prog_others_active(&poller->base.base))
		return false;
	poller->until_read = READ_EVERY;
	return true;
}

/* ---- what has arrived counts before time does ----------------------------------------- */

/* look_on - a poll of a look has read @read datagrams.  It was the last one if the provider below had nothing,
 * asked before the poll to leave no socket out (@asked), or if the queue is never empty: no socket holds as many
 * datagrams as these polls read.
 */
static void look_on(struct rxd_poller *poller, bool asked, int read)
{
	if ((!asked || read) && ++poller->look_polls < LOOK_POLLS_MAX)
		return;
	poller->looked_ns = poller->look_ns;
	poller->look_ns = 0;
}

/* fire_timers - those that may send do not wait for the end of a queue that is never empty.  Those that
 * end something ask rxd_has_looked().
 */
static int fire_timers(struct rxd_poller *poller, uint64_t now)
{
	struct chan_poller *chans = &poller->base;

	chan_poller_woken(chans);
	return timers_next(&chans->timers) <= now ? timers_fire(&chans->timers, now) : 0;
}

/* ---- ends -------------------------------------------------------------------------------- */

static int report_end(struct list *node)
{
	rxd_conn_lost(conn_at(node));
	return 1;
}

/* report_ends - of the connections that their peers have closed, once all sockets were read and had nothing
 * (@none).  The provider below does not read an idle socket in each poll, unless it is asked to before.  So what
 * other peers had sent by then is with the engine: a program that waits for it gets it before the receives that
 * the end of a connection aborts.
 */
static int report_ends(struct rxd_poller *poller, bool none)
{
	if ((!poller->ends_asked || !none) && ++poller->ends_held < CHAN_LOOKS_MAX) {
		poller->ends_asked = !rxd_dg_arm(poller);
		return 0;
	}
	poller->ends_asked = false;
	poller->ends_held = 0;
	return chan_poller_drain(&poller->ended, report_end);
}

/* In this order: ACKs that arrive make room in the windows, timers may retransmit, and both send
 * with the flush behind them.  Ends of connections come last, since their upcalls may open and close
 * connections.
 */
static int poll_all(struct obj_poller *base, unsigned budget)
{
	struct rxd_poller *poller = poller_of(base);
	struct chan_poller *chans = &poller->base;
	int done = 0, read = 0;
	bool asked = false;
	uint64_t now;

	chan_poller_begin(chans);
	poller->input_ns = 0;
	if (poller->deferred)
		rxd_rx_deferred(poller);
	if (!list_empty(&chans->dirty))
		push_waiting(poller, rxd_now(poller));
	if (__builtin_expect(poller->look_ns != 0, 0))
		asked = !rxd_dg_arm(poller);
	if (poller->look_ns || read_due(poller))
		done += read = rxd_dg_poll(poller, budget, on_datagram);
	if (__builtin_expect(poller->look_ns != 0, 0))
		look_on(poller, asked, read);
	now = poller->input_ns;
	if (chans->timers.cnt) {
		now = now ? now : rxd_now(poller);
		done += fire_timers(poller, now);
	}
	if (chan_poller_resumes(chans))
		done += resume_paused(poller, now);
	if (!list_empty(&chans->dirty))
		push_waiting(poller, now ? now : rxd_now(poller));
	if (!list_empty(&poller->ended))
		done += report_ends(poller, !read);
	if (!list_empty(&chans->failed))
		done += chan_poller_drain(&chans->failed, report_failed);
	chans->polling = false;
	return done;
}

/* Sleep only if nothing can be done now; what waits for memory or for room below has no descriptor,
 * so it is tried again by the clock.
 */
static int poller_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct rxd_poller *poller = poller_of(base);
	struct chan_poller *chans = &poller->base;
	struct rxd_conn *conn;

	poller->until_read = 0;
	poller->armed_seq = chans->seq;
	if (poller->deferred || !list_empty(&chans->failed) || !list_empty(&poller->ended))
		return -FI_EAGAIN;
	list_for_each_entry(conn, &chans->dirty, dirty_node)
		if (!rxd_conn_dg(conn)->blocked)
			return -FI_EAGAIN;
	if (rxd_dg_arm(poller))
		return -FI_EAGAIN;
	chan_poller_sleep(chans, deadline_ns);
	if (!list_empty(&chans->dirty))
		clock_earlier(deadline_ns, rxd_dg_now() + RETRY_BLOCKED_NS);
	chan_poller_arm_paused(chans, rxd_dg_now(), deadline_ns);
	return 0;
}

static void close_poller(struct obj_poller *base)
{
	struct rxd_poller *poller = poller_of(base);

	pool_destroy(&poller->chunks);
	pool_destroy(&poller->items);
	pool_destroy(&poller->bodies);
	chan_poller_free(&poller->base);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poll_all,
	.arm = poller_arm,
	.close = close_poller,
};

int rxd_poller_get(struct obj_prog *prog, struct rxd_poller **poller_p)
{
	struct rxd_poller *poller;
	struct chan_poller *base;
	int ret = chan_poller_get(prog, &poller_ops, sizeof(*poller), rxd_conf.prov, &base);

	if (ret < 0)
		return ret;
	poller = container_of(base, struct rxd_poller, base);
	*poller_p = poller;
	if (!ret)
		return 0;
	chan_poller_clock(base, rxd_dg_now);
	list_init(&poller->doms);
	list_init(&poller->ended);
	pool_init(&poller->chunks, sizeof(struct rxd_item) + RXD_CHUNK, 8, 0);
	pool_init(&poller->items, sizeof(struct rxd_item), 64, 0);
	pool_init(&poller->bodies, sizeof(struct rxd_body), 16, 0);
	return 0;
}
