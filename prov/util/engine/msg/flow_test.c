/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The limits of memory that peers use: when XOFF and XON are sent, and what is refused. */
#include "engine/sim/tap.h"

#include "engine/flow.h"

#define SURE (64u << 10)	/* what a peer may use, however low the limits are */

static struct eng_ep *ep;

static int open_low(void **arg)
{
	tap_open(arg);
	ep = eng_of(b);
	return 0;
}

#define LOW(name) cmocka_unit_test_setup_teardown(name, open_low, tap_close)

/* main() asks for less than one message needs. */
static void limits_of_the_environment(void **arg)
{
	assert_int_equal(ep->held_peer_max, 4 * SURE);
	assert_int_equal(ep->held_max, 4 * SURE);
	assert_int_equal(ep->unexp_budget, SURE);
}

static void a_queue_takes_its_size_at_least(void **arg)
{
	assert_int_equal(ep->tx_max, ENG_TX_QUEUE_MAX);
	ep->tx_size = ENG_TX_QUEUE_MAX + 1;
	eng_flow_limits(ep);
	assert_int_equal(ep->tx_max, ENG_TX_QUEUE_MAX + 1);
	assert_int_equal(eng_flow_rx_max(256), ENG_RX_QUEUE_MAX);
	assert_int_equal(eng_flow_rx_max(ENG_RX_QUEUE_MAX + 1), ENG_RX_QUEUE_MAX + 1);
	assert_int_equal(eng_flow_rx_max(SIZE_MAX), UINT32_MAX);
}

static void xoff_beyond_the_share_and_xon_at_a_quarter(void **arg)
{
	eng_flow_held(tap.peer, SURE);
	assert_int_equal(tap.cnt, 0);
	eng_flow_held(tap.peer, 100);
	tap_sent(0, WIRE_XOFF, 0, 0);
	eng_flow_held(tap.peer, 100);		/* asked once */
	assert_int_equal(tap.cnt, 1);
	eng_flow_freed(tap.peer, SURE * 3 / 4);
	assert_int_equal(tap.cnt, 1);
	eng_flow_freed(tap.peer, 200);
	tap_sent(1, WIRE_XON, 0, 0);
	eng_flow_freed(tap.peer, SURE / 4);
	assert_int_equal(tap.cnt, 2);
	assert_int_equal(ep->held, 0);
	assert_int_equal(ep->unexp_peers, 0);
}

/* The share of a peer is smaller the more peers hold messages, and grows when they go. */
static void the_budget_is_shared(void **arg)
{
	eng_flow_held(tap.other, 1);
	assert_int_equal(ep->unexp_peers, 1);
	eng_flow_held(tap.peer, SURE / 2 + 1);
	assert_int_equal(ep->unexp_peers, 2);
	tap_sent(0, WIRE_XOFF, 0, 0);
	assert_ptr_equal(tap.sent[0].to, tap.peer);
	eng_flow_freed(tap.other, 1);
	eng_flow_freed(tap.peer, SURE / 4 + 1);	/* a quarter of the whole budget is left */
	tap_sent(1, WIRE_XON, 0, 0);
	eng_flow_freed(tap.peer, SURE / 4);
}

/* However many peers there are, each may use a 256th part. */
static void no_share_is_too_small(void **arg)
{
	ep->unexp_peers = 100000;
	eng_flow_held(tap.peer, SURE / ENG_UNEXP_PEERS);
	assert_int_equal(tap.cnt, 0);
	eng_flow_held(tap.peer, 1);
	tap_sent(0, WIRE_XOFF, 0, 0);
	eng_flow_freed(tap.peer, SURE / ENG_UNEXP_PEERS + 1);
	ep->unexp_peers = 0;
}

static void xoff_without_memory_is_sent_later(void **arg)
{
	tap_starve(&ep->grp->outs);
	eng_flow_held(tap.peer, SURE + 1);
	assert_int_equal(tap.cnt, 0);
	assert_false(tap.peer->told_xoff);
	tap_feed(&ep->grp->outs);
	eng_flow_held(tap.peer, 1);
	tap_sent(0, WIRE_XOFF, 0, 0);
	eng_flow_freed(tap.peer, SURE + 2);
}

/* A new channel begins without XOFF, in both directions. */
static void a_lost_channel_forgets_both(void **arg)
{
	eng_flow_held(tap.peer, SURE + 1);
	assert_int_equal(tap_words(tap.peer, WIRE_XOFF, 0, 0, 0, 0, 0, 0, 0), ENG_RX_DONE);
	assert_true(tap.peer->slow & ENG_PEER_XOFF);
	eng_flow_reset(tap.peer);
	assert_false(tap.peer->slow & ENG_PEER_XOFF);
	eng_flow_held(tap.peer, 1);
	assert_int_equal(tap.cnt, 2);
	tap_sent(1, WIRE_XOFF, 0, 0);
	eng_flow_freed(tap.peer, SURE + 2);
}

static bool is_later(uint64_t bytes)
{
	return eng_flow_admit(tap.peer, 0, bytes) == ENG_RX_LATER;
}

static void the_hard_limit_of_a_peer(void **arg)
{
	assert_false(is_later(4 * SURE));
	assert_true(is_later(4 * SURE + 1));
	eng_flow_charge(tap.peer, 3 * SURE);
	assert_false(is_later(SURE));
	assert_true(is_later(SURE + 1));
	eng_flow_release(tap.peer, 3 * SURE);
	assert_false(is_later(SURE + 1));
}

/* What others use counts, but each peer may always use a little. */
static void the_hard_limit_of_all(void **arg)
{
	eng_flow_charge(tap.other, 4 * SURE);
	assert_false(is_later(SURE));
	assert_true(is_later(SURE + 1));
	eng_flow_release(tap.other, 4 * SURE);
}

/* What a receive, a peek or an operation waits for may stand behind what is too much. */
static void what_is_waited_for_may_stand_behind(void **arg)
{
	eng_flow_charge(tap.peer, 4 * SURE);
	assert_true(is_later(1));
	ep->rxc->posted++;
	assert_false(is_later(4 * SURE));
	assert_true(is_later(4 * SURE + 1));
	ep->rxc->posted--;
	assert_true(is_later(1));
	ep->rxc->sought = true;
	assert_false(is_later(1));	/* one message for each peek */
	assert_true(is_later(1));
	tap.peer->tx_cnt++;
	assert_false(is_later(1));
	tap.peer->tx_cnt--;
	eng_flow_release(tap.peer, 4 * SURE);
}

/* Requests may stand before it, too, and have their limit for themselves. */
static void requests_go_on_beside_payload(void **arg)
{
	eng_flow_held(tap.peer, 5 * SURE);
	assert_false(eng_flow_refuse(tap.peer, SURE));
	assert_true(eng_flow_refuse(tap.peer, SURE + 1));
	tap.peer->tx_cnt++;
	assert_false(eng_flow_refuse(tap.peer, 4 * SURE));
	assert_true(eng_flow_refuse(tap.peer, 4 * SURE + 1));
	tap.peer->tx_cnt--;
	eng_flow_freed(tap.peer, 5 * SURE);
}

static void the_limit_for_headers(void **arg)
{
	assert_int_equal(ep->heads_max, 8 * SURE);
	tap.peer->msg_cnt = 8 * SURE / ENG_HEAD_COST - 1;
	assert_int_equal(eng_flow_admit(tap.peer, 1, 0), ENG_RX_DONE);
	/* nothing is stuck behind it: no reason to lose the connection */
	assert_int_equal(eng_flow_admit(tap.peer, 2, 0), ENG_RX_LATER);
	ep->rxc->posted++;
	assert_int_equal(eng_flow_admit(tap.peer, 2, 0), ENG_RX_OVER);
	assert_int_equal(eng_flow_admit(tap.peer, 0, 101), ENG_RX_DONE);
	ep->rxc->posted--;
	tap.peer->msg_cnt = 0;
}

/* Payload that stayed with its sender counts from when it moves here. */
static void payload_that_moves_is_charged(void **arg)
{
	assert_true(eng_on_moving(tap.peer, SURE));
	assert_int_equal(tap.peer->held, SURE);
	assert_false(eng_on_moving(tap.peer, 3 * SURE + 1));
	assert_int_equal(tap.peer->held, SURE);
	eng_on_moved(tap.peer, SURE);
	assert_int_equal(tap.peer->held, 0);
	assert_int_equal(ep->unexp_peers, 0);
}

/* A queue that the program reads takes more; an endpoint without one refuses nothing. */
static void the_limit_of_a_queue(void **arg)
{
	struct obj_ep none = { .rx_cq = NULL };

	assert_false(eng_flow_cq_refuse(tap.peer, &ep->base));
	assert_false(eng_flow_cq_refuse(tap.peer, &none));
}

int main(void)
{
	struct fi_param *params;
	int cnt;
	const struct CMUnitTest tests[] = {
		LOW(limits_of_the_environment),
		LOW(a_queue_takes_its_size_at_least),
		LOW(xoff_beyond_the_share_and_xon_at_a_quarter),
		LOW(the_budget_is_shared),
		LOW(no_share_is_too_small),
		LOW(xoff_without_memory_is_sent_later),
		LOW(a_lost_channel_forgets_both),
		LOW(the_hard_limit_of_a_peer),
		LOW(the_hard_limit_of_all),
		LOW(what_is_waited_for_may_stand_behind),
		LOW(requests_go_on_beside_payload),
		LOW(the_limit_for_headers),
		LOW(payload_that_moves_is_charged),
		LOW(the_limit_of_a_queue),
	};

	setenv("FI_UNEXP_PEER_MAX", "100", 1);
	setenv("FI_UNEXP_MAX", "100", 1);
	setenv("FI_UNEXP_HEADER_MAX", "524288", 1);
	if (!fi_getparams(&params, &cnt))	/* the core defines them */
		fi_freeparams(params);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
