/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The engine's simulated network (engine/sim/link.h) by this provider's link over simulated
 * datagrams: the same tests, where datagrams are lost, duplicated, reordered and corrupted, the
 * path MTU becomes smaller, and one direction may be interrupted for seconds.
 *
 * Simulated time advances with each rxd_dg_poll(), mostly to the next event.
 */
#include <netinet/in.h>
#include <rdma/fi_errno.h>
#include <stdio.h>

#include "engine/peer.h"
#include "engine/sim/link.h"
#include "sim_net.h"

#define PORTS 24		/* that the tests use, from 1 */
#define BASE 999		/* their first is 1000 */
#define PATIENCE_MS 3600000	/* no peer is declared lost by a timeout alone */
#define CUT_MAX_NS (8 * CLOCK_NS_PER_S)

/* What fi_rxd(7) says of a peer that is idle. */
_Static_assert(sizeof(struct eng_peer) + sizeof(struct rxd_conn) + sizeof(struct sockaddr_in6) <=
	       1040, "an idle peer costs 1 KiB");

static struct fi_provider fake_prov = { .name = "ofi_rxd" };
static uint64_t state;
static bool rough;

const struct eng_link_ops *const sim_transport = &rxd_link_ops;

uint64_t sim_rnd(uint64_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % n;
}

/* ---- the network ------------------------------------------------------------------ */

static void some_trouble(struct snet_conf *conf)
{
	static const double losses[] = { 0, 0.01, 0.05, 0.15, 0.3 };
	static const uint32_t dgrams[] = { 1456, 8956, 65491 };

	conf->dgram_max = dgrams[snet_rnd(3)];
	conf->loss = losses[snet_rnd(5)];
	conf->burst = snet_rnd(3) ? 0 : 1 + (double) snet_rnd(4);
	conf->dup = snet_rnd(3) ? 0 : 0.1;
	conf->corrupt = snet_rnd(3) ? 0 : 0.02;
	conf->delay_ns = UINT64_C(10000) << snet_rnd(12);	/* 10 us to 20 ms */
	conf->jitter_ns = snet_rnd(2) ? 0 : snet_rnd(conf->delay_ns * 2) + 1;
	conf->mtu = snet_rnd(3) ? 0 : 1100 + (uint32_t) snet_rnd(8000);
	if (!snet_rnd(4)) {
		conf->rate = UINT64_C(1000000) << snet_rnd(7);
		conf->queue = 20000 + snet_rnd(200000);
		conf->mark = snet_rnd(20000);
	}
	conf->marks = (enum snet_marks) snet_rnd(SNET_MARKS_CNT);
}

static void mishap(void)
{
	if (!snet_rnd(1000))
		snet_conf.mtu = snet_rnd(2) ? 0 : 1100 + (uint32_t) snet_rnd(3000);
	if (!snet_rnd(2000))
		snet_cut(1 + (unsigned) snet_rnd(4), 1 + (unsigned) snet_rnd(4),
			 snet_now + snet_rnd(CUT_MAX_NS));
}

static void tick(struct rxd_poller *poller)
{
	uint64_t next = snet_next();

	chan_poller_sleep(&poller->base, &next);
	if (next > snet_now && next != UINT64_MAX && snet_rnd(4))
		snet_now = next;
	else
		snet_now += 1 + snet_rnd(20000);
	if (rough)
		mishap();
}

void sim_start(uint64_t seed, const struct sim_conf *conf)
{
	struct snet_conf good = { .dgram_max = 1456, .delay_ns = 10000 };

	state = seed * 2654435761u + 12345;
	rough = conf->queue_pct > 0;
	snet_start(seed, &good);
	if (rough)
		some_trouble(&snet_conf);
	snet_base = BASE;
	snet_before_look = tick;
	rxd_conf.prov = &fake_prov;
	rxd_conf.local = 0;
	rxd_conf.eager_size = conf->eager_limit;
	rxd_conf.checksum = snet_conf.corrupt > 0 || snet_rnd(2);
	rxd_conf.conn_timeout_ms = rxd_conf.peer_timeout_ms = PATIENCE_MS;
}

bool sim_end(void)
{
	unsigned no;

	for (no = 1; no <= PORTS; no++) {
		if (!snet_link(no))
			continue;
		fprintf(stderr, "sim: a link is left\n");
		return false;
	}
	return true;
}

/* ---- connections ------------------------------------------------------------------- */

/* is_idle - no packet or timer will change anything at this end. */
static bool is_idle(const struct rxd_conn *conn)
{
	return rxd_conn_alive(conn) && rxd_tx_idle(conn) && !conn->is_paused &&
	       !conn->report_up && list_empty(&conn->reordered);
}

bool sim_idle(void)
{
	struct rxd_link *link;
	struct rxd_conn *conn;
	unsigned no;

	for (no = 1; no <= PORTS; no++) {
		link = snet_link(no);
		if (!link)
			continue;
		if (!list_empty(&link->base.poller->failed))
			return false;
		list_for_each_entry(conn, &link->base.chans, chan.link_node)
			if (!is_idle(conn))
				return false;
	}
	return true;
}

/* The end at port @a of a connection with port @b: a peer's name is its address. */
static struct rxd_conn *find(unsigned a, unsigned b)
{
	struct rxd_link *link = snet_link(a);
	struct rxd_conn *conn;

	if (!link)
		return NULL;
	list_for_each_entry(conn, &link->base.chans, chan.link_node)
		if (conn->to == b && rxd_conn_alive(conn))
			return conn;
	return NULL;
}

/* One end knows it now, the other after its next probe. */
bool sim_break(uint16_t a, uint16_t b)
{
	struct rxd_conn *conn = find(a - BASE, b - BASE);

	if (!conn)
		return false;
	rxd_conn_fail(conn, FI_ECONNRESET, false);
	return true;
}

/* No datagram from it arrives from now on, until rxd_dg_open() at the port. */
void sim_crash(uint16_t port)
{
	struct rxd_link *link = snet_link(port - BASE);
	struct rxd_conn *conn;
	unsigned no;

	for (no = 1; no <= PORTS; no++)
		snet_cut(port - BASE, no, UINT64_MAX);
	list_for_each_entry(conn, &link->base.chans, chan.link_node)
		if (conn->chan.state == CHAN_CONNECTING)
			rxd_attempt_fail(conn, FI_ECONNRESET);
		else
			rxd_conn_fail(conn, FI_ECONNRESET, false);
}
