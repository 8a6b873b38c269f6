/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connected endpoints: fi_connect, fi_listen, fi_accept, fi_reject, fi_shutdown.
 *
 * The caller says HELLO to the listener; the endpoint that accepts answers from its
 * own address.  A request stands on its own: it may be answered by an endpoint of any
 * group, and after its listener is closed.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

#define REMEMBER_NS (60 * CLOCK_NS_PER_S)
#define REFUSALS 3
#define ASKED_MAX 65536		/* requests that are remembered */

/* What the listener announced; it belongs to the engine. */
struct req {
	struct rxd_hello hello;
};

/* What a listener remembers, so that a call that comes again is not announced again. */
struct rxd_asked {
	struct list node;		/* on link->asked, oldest first */
	uint64_t cid, epoch;
	uint64_t since_ns;
	bool rejected;
	uint16_t len;
	uint8_t data[RXD_DATA_MAX];	/* of the rejection */
};

/* ---- the listener -------------------------------------------------------------------- */

static void refuse(struct rxd_link *link, const struct rxd_hello *hello, enum rxd_reason reason,
		   const void *data, size_t len)
{
	struct rxd_refuse body = { .reason = htole32(reason), .data_len = htole16((uint16_t) len) };
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(body) + RXD_DATA_MAX];
	size_t at = rxd_put_hdr(buf, RXD_REFUSE, RXD_F_SUM, hello->cid, 0);

	memcpy(buf + at, &body, sizeof(body));
	at += sizeof(body);
	if (len)
		memcpy(buf + at, data, len);
	rxd_link_answer(link, hello->addr, buf, at + len);
}

static struct rxd_asked *asked_of(struct list *node)
{
	return container_of(node, struct rxd_asked, node);
}

/* key_of - what a request is found by; two that share one are not both taken. */
static uint64_t key_of(uint64_t cid, uint64_t epoch)
{
	return cid ^ hmap_hash(epoch);
}

static void forget_old(struct rxd_link *link, uint64_t now)
{
	while (!list_empty(&link->asked)) {
		struct rxd_asked *asked = asked_of(link->asked.next);

		if (now && now - asked->since_ns < REMEMBER_NS)
			return;
		list_del(&asked->node);
		hmap_remove(&link->asked_by, key_of(asked->cid, asked->epoch));
		free(asked);
	}
}

void rxd_cm_forget(struct rxd_link *link)
{
	forget_old(link, 0);
	hmap_destroy(&link->asked_by);
}

static struct rxd_asked *find(struct rxd_link *link, const struct rxd_hello *hello)
{
	struct rxd_asked *asked = hmap_find(&link->asked_by, key_of(hello->cid, hello->epoch));

	return asked && asked->cid == hello->cid && asked->epoch == hello->epoch ? asked : NULL;
}

void rxd_cm_hello(struct rxd_link *link, const struct rxd_pkt *pkt)
{
	const struct rxd_hello *hello = &pkt->hello;
	struct rxd_asked *asked;
	struct req *req;

	forget_old(link, rxd_dg_now());
	asked = find(link, hello);
	if (asked) {
		if (asked->rejected)
			refuse(link, hello, RXD_REJECTED, asked->data, asked->len);
		return;
	}
	asked = link->asked_by.used < ASKED_MAX ? calloc(1, sizeof(*asked)) : NULL;
	req = malloc(sizeof(*req));
	if (!asked || !req ||
	    hmap_insert(&link->asked_by, key_of(hello->cid, hello->epoch), asked)) {
		free(asked);
		free(req);
		refuse(link, hello, RXD_BUSY, NULL, 0);
		return;
	}
	asked->cid = hello->cid;
	asked->epoch = hello->epoch;
	asked->since_ns = rxd_dg_now();
	list_add_tail(&asked->node, &link->asked);
	req->hello = *hello;
	eng_on_connreq(link->base.pep, req, link->addr, link->addr_len, hello->addr,
		       hello->addr_len, pkt->data, pkt->len);
}

int rxd_cm_reject(struct eng_link *base, void *req_p, const void *param, size_t paramlen)
{
	struct rxd_link *link = container_of(base, struct rxd_link, base);
	struct req *req = req_p;
	struct rxd_asked *asked = find(link, &req->hello);
	int ret = paramlen > RXD_DATA_MAX ? -FI_EINVAL : 0, i;

	if (!ret && asked) {
		asked->rejected = true;
		asked->len = (uint16_t) paramlen;
		if (paramlen)
			memcpy(asked->data, param, paramlen);
	}
	/* nobody acknowledges it, and a program that said no may not poll its listener again */
	for (i = 0; !ret && i < REFUSALS; i++)
		refuse(link, &req->hello, RXD_REJECTED, param, paramlen);
	free(req);
	return ret;
}

void rxd_cm_req_drop(void *req)
{
	free(req);
}

/* ---- endpoints --------------------------------------------------------------------------- */

int rxd_cm_connect(struct eng_link *base, struct eng_peer *peer, const void *addr,
		   size_t addrlen, const void *param, size_t paramlen)
{
	struct rxd_link *link = container_of(base, struct rxd_link, base);

	if (paramlen > RXD_DATA_MAX || addrlen < link->addr_len)
		return -FI_EINVAL;
	return rxd_call_start(rxd_conn_of(link, peer), addr, param, paramlen);
}

/* The next poll tells the engine; WELCOME is repeated until the caller has it. */
int rxd_cm_accept(struct eng_link *base, struct eng_peer *peer, void *req_p,
		  const void *param, size_t paramlen)
{
	struct rxd_link *link = container_of(base, struct rxd_link, base);
	struct rxd_conn *conn = rxd_conn_of(link, peer);
	struct rxd_hello hello = ((struct req *) req_p)->hello;
	struct rxd_call *call = NULL;
	uint64_t now = rxd_dg_now();
	int ret = -FI_EINVAL;

	free(req_p);
	if (paramlen > RXD_DATA_MAX || hello.addr_len != link->addr_len)
		return ret;
	ret = -FI_ENOMEM;
	call = calloc(1, sizeof(*call));
	if (!call)
		return ret;
	ret = rxd_conn_open(conn, hello.addr);
	if (ret) {
		free(call);
		return ret;
	}
	call->data_len = (uint16_t) paramlen;
	if (paramlen)
		memcpy(call->data, param, paramlen);
	conn->call = call;
	rxd_conn_ready(conn, &hello, now);
	/* until it is confirmed, it owes us a word */
	conn->owed_ns = now;
	conn->announce = true;
	rxd_call_welcome(conn, now);
	rxd_conn_rearm(conn, now);
	return 0;
}

int rxd_cm_shutdown(struct eng_link *base, struct eng_peer *peer)
{
	struct rxd_conn *conn = rxd_conn_of(container_of(base, struct rxd_link, base), peer);

	if (conn->state != RXD_READY)
		return -FI_ENOTCONN;
	rxd_tx_shut(conn);
	return 0;
}

int rxd_cm_getpeer(struct eng_link *base, struct eng_peer *peer, void *addr, size_t *len)
{
	struct rxd_link *link = container_of(base, struct rxd_link, base);
	size_t room = *len;

	*len = link->addr_len;
	if (room && addr)
		memcpy(addr, eng_peer_addr(peer), room < link->addr_len ? room : link->addr_len);
	return room < link->addr_len ? -FI_ETOOSMALL : 0;
}
