/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* cuts.h - packets of random lengths both ways, over a connection whose paths are cut meanwhile. */
#ifndef TCP_TEST_CUTS_H
#define TCP_TEST_CUTS_H

#include "tcp/test/script.h"

static struct tcp_conn *conn_of(struct eng_peer *peer)
{
	return ((struct chan *) eng_peer_chan(peer))->conn;
}

/* all_here - all packets have arrived and are done. */
static bool all_here(struct eng_peer *ab, struct eng_peer *ba)
{
	pull_both(ab->ep, ba->ep);
	return ba->rx_cnt == ab->tx_seq && ab->rx_cnt == ba->tx_seq &&
	       ab->done_cnt == ab->tx_seq && ba->done_cnt == ba->tx_seq;
}

/* cut_socket - reset it, or end one direction of it, or both. */
static void cut_socket(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	if (fake_draw() % 4)
		connect(fd, &none, sizeof(none));
	else
		shutdown(fd, fake_draw() % 2 ? SHUT_RD : SHUT_RDWR);
}

static void send_some(struct eng_peer *ab, struct eng_peer *ba, size_t cnt)
{
	for (; cnt; cnt--) {
		fake_send(fake_draw() % 3 ? ab : ba,
			  fake_draw() % 2 ? fake_draw() % 3000 : fake_draw() % (TCP_PAYLOAD_MAX + 1),
			  fake_draw() % 4 ? 0 : ENG_PKT_MORE);
		if (fake_draw() % 6 == 0) {
			fake_poll();
			pull_both(ab->ep, ba->ep);
		}
	}
}

/* cut_rounds - packets, a cut by @cut at either side, and packets, so many times. */
static void cut_rounds(struct eng_peer *ab, struct eng_peer *ba, void (*cut)(struct tcp_conn *conn), unsigned long rounds)
{
	for (; rounds; rounds--) {
		ab->ep->later = ba->ep->later = (unsigned) (fake_draw() % 10);
		send_some(ab, ba, fake_draw() % 12);
		cut(conn_of(fake_draw() % 2 ? ab : ba));
		send_some(ab, ba, fake_draw() % 12);
		ab->ep->later = ba->ep->later = 0;
		if (fake_draw() % 3 == 0)
			FAKE_UNTIL(20000, all_here(ab, ba));
		assert_int_equal(ab->down + ba->down, 0);
	}
	FAKE_UNTIL(30000, all_here(ab, ba));
	assert_int_equal(ab->down + ba->down + ab->lost_cnt + ba->lost_cnt, 0);
}

#endif
