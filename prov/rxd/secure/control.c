/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Packets without a number: to a peer, and to an address. */
#include "rxd/secure.h"
#include "rxd/secure/state.h"

/* control_sealed - in the clear while the key is not proven. */
static void control_sealed(struct rxd_conn *conn, uint8_t *buf, size_t len)
{
	struct iovec iov = { buf, len };
	size_t cnt = 1;

	if (rxd_sec_of(conn)->open) {
		rxd_sec_cover(conn, &iov, &cnt, true);
	} else {
		rxd_guard_mark(buf);
		rxd_seal(buf, len, NULL, 0);
	}
	if (cnt)
		rxd_dg_send(rxd_conn_link(conn)->dg, conn->to, &iov, 1);
}

void rxd_conn_control(struct rxd_conn *conn, uint8_t *buf, size_t len)
{
	struct iovec iov = { buf, len };

	if (rxd_conn_link(conn)->guard) {
		control_sealed(conn, buf, len);
		return;
	}
	rxd_seal(buf, len, NULL, 0);
	rxd_dg_send(rxd_conn_link(conn)->dg, conn->to, &iov, 1);
}

/* To an address that need not be a peer's, so nothing of it is kept. */
void rxd_link_reply(struct rxd_link *link, const void *addr, uint8_t *buf, size_t len)
{
	struct iovec iov = { buf, len };
	fi_addr_t to;

	if (rxd_dg_peer(link->dg, addr, &to))
		return;
	if (link->guard)
		rxd_guard_mark(buf);
	rxd_seal(buf, len, NULL, 0);
	rxd_dg_send(link->dg, to, &iov, 1);
	rxd_dg_forget(link->dg, to);
}
