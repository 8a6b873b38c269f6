/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Peers: how they are found, what keeps them, and what their loss ends. */
#include "engine/sim/tap.h"

#include "engine/recv.h"

static struct eng_peer *by_addr(fi_addr_t fi_addr)
{
	int ret = 1;
	struct eng_peer *peer = eng_peer_get(eng_of(b), fi_addr, &ret);

	assert_true(peer || ret < 0);
	return peer;
}

static fi_addr_t insert(uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	fi_addr_t fi_addr;

	sin.sin_addr.s_addr = htonl(SIM_HOST);
	assert_int_equal(fi_av_insert(b->av, &sin, 1, &fi_addr, 0, NULL), 1);
	return fi_addr;
}

/* The peer at @port, without making one: the memory of one that is gone may be another's. */
static bool known(uint16_t port)
{
	struct eng_peer *peer;

	list_for_each_entry(peer, &eng_of(b)->peers, node) {
		const struct sockaddr_in *sin = eng_peer_addr(peer);

		if (sin->sin_port == htons(port))
			return true;
	}
	return false;
}

/* An address is one peer, whichever way it is named. */
static void one_peer_for_an_address(void **arg)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(2000) };
	fi_addr_t fi_addr = insert(2000);

	sin.sin_addr.s_addr = htonl(SIM_HOST);
	assert_ptr_equal(by_addr(fi_addr), tap.peer);
	assert_ptr_equal(by_addr(fi_addr), tap.peer);		/* out of the table */
	assert_int_equal(tap.peer->table_refs, 1);
	assert_ptr_equal(eng_peer_find(tap.link, &sin, sizeof(sin)), tap.peer);
	assert_true(tap.peer != tap.other);
	assert_int_equal(eng_peer_fi_addr(tap.peer), fi_addr);
	assert_int_equal(eng_peer_fi_addr(tap.other), FI_ADDR_NOTAVAIL);
	assert_ptr_equal(eng_peer_of(eng_peer_chan(tap.peer)), tap.peer);
	assert_memory_equal(eng_peer_addr(tap.peer), &sin, sizeof(sin));
	assert_int_equal(eng_peer_addr_len(tap.peer), sizeof(sin));
}

static void addresses_that_there_are_not(void **arg)
{
	int ret = 0;

	assert_null(eng_peer_get(eng_of(b), 1000, &ret));
	assert_int_equal(ret, -FI_EINVAL);
	assert_null(eng_peer_get(eng_of(b), FI_ADDR_UNSPEC, &ret));
	assert_int_equal(ret, -FI_EINVAL);
}

/* Entries on many pages of the table, each a peer of its own. */
static void many_entries(void **arg)
{
	struct eng_peer *peer;
	fi_addr_t fi_addr = 0;
	int i;

	for (i = 0; i < 3 * ENG_PEER_PAGE; i++)
		fi_addr = insert((uint16_t) (3000 + i));
	peer = by_addr(fi_addr);
	assert_int_equal(((const struct sockaddr_in *) eng_peer_addr(peer))->sin_port,
			 htons(3000 + 3 * ENG_PEER_PAGE - 1));
	assert_ptr_equal(by_addr(fi_addr), peer);
	assert_true(by_addr(fi_addr - ENG_PEER_PAGE) != peer);
}

/* A peer without channel, reference and entry goes when the next one is made, not before. */
static void an_idle_peer_goes_with_the_next_one(void **arg)
{
	fi_addr_t fi_addr = insert(4000);

	assert_true(by_addr(fi_addr)->slow & ENG_PEER_IDLE);
	assert_int_equal(fi_av_remove(b->av, &fi_addr, 1, 0), 0);
	assert_true(known(4000));
	by_addr(insert(4001));
	assert_false(known(4000));
	assert_int_equal(tap.puts, 1);
}

static void what_keeps_a_peer(void **arg)
{
	fi_addr_t fi_addr = insert(4000);
	struct eng_peer *peer = by_addr(fi_addr);

	eng_peer_ref(peer);
	assert_int_equal(fi_av_remove(b->av, &fi_addr, 1, 0), 0);
	tap_peer(4001);
	assert_true(known(4000));		/* a request */
	assert_int_equal(eng_peer_start(peer), 0);
	eng_peer_unref(peer);
	tap_peer(4002);
	assert_true(known(4000));		/* its channel */
	eng_on_down(tap.link, peer, FI_ECONNRESET);
	tap_peer(4003);
	assert_false(known(4000));
}

static void a_channel_is_started_once(void **arg)
{
	struct eng_peer *peer = by_addr(insert(4000));

	assert_int_equal(eng_peer_start(peer), 0);
	assert_int_equal(eng_peer_start(peer), 0);
	assert_int_equal(tap.gets, 1);
	eng_peer_probe(peer);				/* it was never lost */
	assert_int_equal(tap.gets, 1);
	eng_on_down(tap.link, peer, FI_ECONNREFUSED);
	assert_int_equal(peer->slow, ENG_PEER_IDLE | ENG_PEER_LOST);
	eng_peer_probe(peer);
	assert_int_equal(tap.gets, 2);
	assert_int_equal(peer->slow, 0);
}

/* Between the first failure and eng_on_down() the link is given nothing. */
static void nothing_is_sent_while_it_is_being_lost(void **arg)
{
	struct eng_pkt pkt = { .len = 0 };

	pkt.hdr_len = (uint16_t) wire_put_base(pkt.hdr, WIRE_XON, 0, 0, 0, 0);
	assert_int_equal(eng_peer_send(tap.peer, &pkt), 1);
	eng_peer_losing(tap.peer, -FI_ECONNRESET);
	assert_int_equal(eng_peer_send(tap.peer, &pkt), -FI_ECONNRESET);
	assert_int_equal(tap.cnt, 1);
	eng_on_down(tap.link, tap.peer, FI_ECONNRESET);
	assert_int_equal(eng_peer_start(tap.peer), 0);
	assert_int_equal(eng_peer_send(tap.peer, &pkt), 1);
}

/* Everything that waits for a lost peer ends, and nothing that waits for another. */
static void what_a_loss_ends(void **arg)
{
	fi_addr_t lost = insert(2000), other = insert(2001);

	assert_int_equal(fi_trecv(b->ep, in[0], 8, NULL, lost, 1, 0, &ctx[0]), 0);
	assert_int_equal(fi_trecv(b->ep, in[1], 8, NULL, other, 1, 0, &ctx[1]), 0);
	assert_int_equal(fi_trecv(b->ep, in[2], 8, NULL, FI_ADDR_UNSPEC, 2, 0, &ctx[2]), 0);
	assert_true(eng_peer_waits(tap.peer));
	tap.peer->slow |= ENG_PEER_XOFF;
	eng_on_down(tap.link, tap.peer, FI_ECONNRESET);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	node_none(&w, b);
	assert_int_equal(tap.peer->slow, ENG_PEER_IDLE | ENG_PEER_LOST);
	assert_false(eng_peer_waits(tap.peer));
	assert_int_equal(tap_tagged(tap.other, WIRE_EAGER, 0, 0, 1, 8), ENG_RX_DONE);
	expect(b, &ctx[1], FI_RECV | FI_TAGGED, 8);
}

/* Unexpected messages are no reason to report a loss. */
static void what_does_not_wait(void **arg)
{
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, 1, 8), ENG_RX_HELD);
	assert_int_equal(tap.peer->refs, 1);
	assert_false(eng_peer_waits(tap.peer));
	eng_unexp_drop_peer(tap.peer);
}

/* We end the connection: the link forgets the channel before anything completes. */
static void a_peer_that_is_cut_off(void **arg)
{
	fi_addr_t fi_addr = insert(2000);

	assert_int_equal(fi_trecv(b->ep, in[0], 8, NULL, fi_addr, 1, 0, &ctx[0]), 0);
	eng_peer_cut(tap.peer, FI_ECONNABORTED);
	assert_int_equal(tap.puts, 1);
	assert_int_equal(tap.peer->slow, ENG_PEER_IDLE);
	expect_err(b, &ctx[0], FI_ECONNABORTED);
	assert_int_equal(eng_peer_start(tap.peer), 0);
	assert_int_equal(tap.peer->slow, 0);
}

/* A removed entry is not reported as a source any more; the channel stays. */
static void a_removed_entry(void **arg)
{
	fi_addr_t fi_addr = insert(2000);

	assert_int_equal(eng_peer_fi_addr(tap.peer), fi_addr);	/* no send has used it */
	assert_int_equal(fi_av_remove(b->av, &fi_addr, 1, 0), 0);
	assert_int_equal(eng_peer_fi_addr(tap.peer), FI_ADDR_NOTAVAIL);
	assert_int_equal(tap.peer->slow, 0);
	tap_peer(4000);
	assert_true(known(2000));
}

static void another_link(void **arg)
{
	struct eng_link twin = *tap.link;
	struct eng_link_ops ops = *tap.link->ops;
	uint8_t *chan = eng_peer_chan(tap.peer);

	twin.ops = &ops;
	chan[0] = 1;
	eng_peer_bind(tap.peer, tap.link);		/* it is bound to this one already */
	assert_int_equal(tap.puts, 0);
	assert_int_equal(chan[0], 1);
	eng_peer_bind(tap.peer, &twin);
	assert_int_equal(tap.puts, 1);
	assert_int_equal(chan[0], 0);
	assert_ptr_equal(tap.peer->link, &twin);
	assert_ptr_equal(tap.peer->ops, &ops);
	eng_peer_bind(tap.peer, tap.link);
	assert_ptr_equal(tap.peer->ops, tap.link->ops);
}

static void the_address_as_text(void **arg)
{
	char buf[ENG_PEER_TEXT];

	assert_non_null(strstr(eng_peer_text(tap.peer, buf), "10.0.0.1:2000"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TAP(one_peer_for_an_address),
		TAP(addresses_that_there_are_not),
		TAP(many_entries),
		TAP(an_idle_peer_goes_with_the_next_one),
		TAP(what_keeps_a_peer),
		TAP(a_channel_is_started_once),
		TAP(nothing_is_sent_while_it_is_being_lost),
		TAP(what_a_loss_ends),
		TAP(what_does_not_wait),
		TAP(a_peer_that_is_cut_off),
		TAP(a_removed_entry),
		TAP(another_link),
		TAP(the_address_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
