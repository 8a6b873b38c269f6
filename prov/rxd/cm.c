/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connected endpoints: fi_connect, fi_listen, fi_accept, fi_reject, fi_shutdown.
 *
 * The connecting peer sends HELLO to the listener; the endpoint that accepts answers from its
 * own address.  A request that was announced does not depend on its listener: it may be
 * accepted by an endpoint of any group, and after the listener is closed.
 */
#include <rdma/fi_errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

#define REMEMBER_NS (60 * CLOCK_NS_PER_S)
#define REFUSALS 3			/* REFUSE packets sent for one rejection */
#define REQUESTS_MAX 65536		/* that a listener remembers */

/* A request that the listener has announced: a retransmitted HELLO is not announced again.  The listener and what
 * the engine holds have a reference each.
 */
struct rxd_request {
	struct list node;		/* on link->requests, oldest first */
	uint64_t cid, epoch;		/* of the connecting peer; in link->request_by by key_of() */
	uint64_t since_ns;
	_Atomic unsigned refs;
	_Atomic bool rejected;		/* or dropped: what repeats the HELLO is refused */
	struct rxd_sec *mark;		/* the listener's, of a protected request: what repeats it; else NULL */
	struct rxd_sec *sec;		/* the keys of one that was rejected */
	uint16_t len;
	uint8_t data[RXD_DATA_MAX];	/* of the rejection */
};

/* What the engine holds of a request that was announced. */
struct req {
	struct rxd_hello hello;
	struct rxd_request *request;
	struct rxd_sec *sec;		/* what its peer has proven, and the keys; NULL: it is not protected */
};

/* ---- the listener -------------------------------------------------------------------- */

static void request_put(struct rxd_request *request)
{
	if (atomic_fetch_sub(&request->refs, 1) != 1)
		return;
	if (request->sec)
		rxd_sec_drop(request->sec);
	free(request);
}

static void req_free(struct req *req)
{
	request_put(req->request);
	if (req->sec)
		rxd_sec_drop(req->sec);
	free(req);
}

/* key_of - by which a request is found; of two with the same key the first is accepted. */
static uint64_t key_of(uint64_t cid, uint64_t epoch)
{
	return cid ^ hmap_hash(epoch);
}

static void request_free(struct rxd_link *link, struct rxd_request *request)
{
	hmap_remove(&link->request_by, key_of(request->cid, request->epoch));
	list_del(&request->node);
	if (request->mark)
		rxd_sec_drop(request->mark);
	request->mark = NULL;
	request_put(request);
}

/* forget_old - drop requests that no HELLO repeats any more; @now 0: all. */
static void forget_old(struct rxd_link *link, uint64_t now)
{
	while (!list_empty(&link->requests)) {
		struct rxd_request *request = container_of(link->requests.next, struct rxd_request,
							   node);

		if (now && now - request->since_ns < REMEMBER_NS)
			return;
		request_free(link, request);
	}
}

void rxd_cm_forget(struct rxd_link *link)
{
	forget_old(link, 0);
}

static struct rxd_request *request_find(struct rxd_link *link, const struct rxd_hello *hello)
{
	struct rxd_request *request = hmap_find(&link->request_by, key_of(hello->cid, hello->epoch));

	return request && request->cid == hello->cid && request->epoch == hello->epoch ? request : NULL;
}

/* request_remember - Returns the request, with a reference for the engine, or NULL. */
static struct rxd_request *request_remember(struct rxd_link *link, const struct rxd_hello *hello)
{
	struct rxd_request *request = NULL;
	int ret = -FI_ENOMEM;

	if (link->request_by.used < REQUESTS_MAX)
		request = calloc(1, sizeof(*request));
	if (request)
		ret = hmap_insert(&link->request_by, key_of(hello->cid, hello->epoch), request);
	if (ret) {
		free(request);
		return NULL;
	}
	atomic_init(&request->refs, 2);
	request->cid = hello->cid;
	request->epoch = hello->epoch;
	request->since_ns = rxd_dg_now();
	list_add_tail(&request->node, &link->requests);
	return request;
}

void rxd_cm_hello(struct rxd_link *link, const struct rxd_pkt *pkt, struct rxd_sec *guest)
{
	const struct rxd_hello *hello = &pkt->hello;
	struct rxd_request *request;
	struct req *req;

	forget_old(link, rxd_dg_now());
	request = request_find(link, hello);
	if (request) {
		if (request->rejected && !guest)
			rxd_refuse_send(link, hello, CHAN_REJECTED, request->data, request->len);
		return;
	}
	req = malloc(sizeof(*req));
	request = req ? request_remember(link, hello) : NULL;
	if (!request) {
		free(req);
		if (!guest)
			rxd_refuse_send(link, hello, CHAN_BUSY, NULL, 0);
		return;
	}
	*req = (struct req) { .hello = *hello, .request = request, .sec = guest };
	if (guest)
		request->mark = rxd_guest_leave(guest, request);
	eng_on_connreq(link->base.base.pep, req, link->addr, link->base.addr_len, hello->addr,
		       hello->addr_len, pkt->data, pkt->len);
}

/* refuse_sealed - of a protected request. */
static void refuse_sealed(struct rxd_link *link, const struct rxd_request *request)
{
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(struct rxd_refuse) + RXD_DATA_MAX];
	size_t at = rxd_put_hdr(buf, RXD_REFUSE, RXD_F_SUM, request->cid, 0);

	at = rxd_put_refuse(buf, at, CHAN_REJECTED, request->data, request->len);
	rxd_sec_reply(request->sec, link, rxd_sec_addr(request->sec), buf, at);
}

void rxd_cm_repeated(struct rxd_link *link, const struct rxd_request *request)
{
	if (request->rejected && request->sec)
		refuse_sealed(link, request);
}

/* A request may be dropped by any thread, after its listener: what repeats the HELLO is refused then. */
static int reject_request(struct eng_link *base, void *req_p, const void *param, size_t paramlen)
{
	struct req *req = req_p;
	struct rxd_request *request = req->request;
	int ret = paramlen > RXD_DATA_MAX ? -FI_EINVAL : 0, i;

	if (!ret) {
		request->len = (uint16_t) paramlen;
		if (paramlen)
			memcpy(request->data, param, paramlen);
		request->sec = req->sec;
		req->sec = NULL;
	}
	/* REFUSE is not acknowledged, and the program may never poll its listener again */
	for (i = 0; base && !ret && i < REFUSALS; i++)
		if (request->sec)
			refuse_sealed(rxd_link_of(chan_link_of(base)), request);
		else
			rxd_refuse_send(rxd_link_of(chan_link_of(base)), &req->hello, CHAN_REJECTED, param, paramlen);
	if (!ret)
		request->rejected = true;	/* the keys are the listener's now */
	req_free(req);
	return ret;
}

/* ---- endpoints --------------------------------------------------------------------------- */

static struct rxd_conn *conn_of(struct eng_link *base, struct eng_peer *peer)
{
	struct chan *chan = chan_of(chan_link_of(base), peer);

	return chan ? rxd_conn_of_chan(chan) : NULL;
}

int rxd_cm_connect(struct eng_link *base, struct eng_peer *peer, const void *addr,
		   size_t addrlen, const void *param, size_t paramlen)
{
	struct rxd_conn *conn;
	int ret;

	if (paramlen > RXD_DATA_MAX || addrlen < chan_link_of(base)->addr_len)
		return -FI_EINVAL;
	conn = conn_of(base, peer);
	ret = conn ? rxd_handshake_data(conn, param, paramlen) : -FI_ENOMEM;
	return ret ? ret : chan_try(&conn->chan);
}

static int may_accept(struct eng_link *base, const struct req *req, size_t paramlen)
{
	struct rxd_link *link = rxd_link_of(chan_link_of(base));

	if (paramlen > RXD_DATA_MAX || req->hello.addr_len != link->base.addr_len)
		return -FI_EINVAL;
	return rxd_sec_may_take(link, req->sec) ? 0 : -FI_EACCES;
}

/* take_request - @conn is the connection that was asked for, with the keys of the request. */
static int take_request(struct rxd_conn *conn, struct req *req)
{
	int ret;

	if (!req->sec)
		return rxd_conn_accept(conn, req->hello.addr);
	ret = rxd_conn_adopt(conn, req->sec, req->hello.addr);
	if (!ret)
		req->sec = NULL;
	return ret;
}

/* The engine is told by the next poll.  WELCOME is retransmitted until it is confirmed. */
static int accept_request(struct eng_link *base, struct eng_peer *peer, void *req_p, const void *param,
			  size_t paramlen)
{
	struct req *req = req_p;
	struct rxd_hello hello = req->hello;
	struct rxd_conn *conn;
	uint64_t now = rxd_now(rxd_link_poller(rxd_link_of(chan_link_of(base))));
	int ret = may_accept(base, req, paramlen);

	conn = ret ? NULL : conn_of(base, peer);
	if (!ret)
		ret = conn ? take_request(conn, req) : -FI_ENOMEM;
	req_free(req);
	if (!ret)
		ret = rxd_handshake_data(conn, param, paramlen);
	if (ret) {
		if (conn)
			rxd_conn_release(conn, FI_ECANCELED);
		return ret;
	}
	rxd_conn_ready(conn, &hello, now);
	conn->unanswered_ns = now;
	conn->report_up = true;
	rxd_welcome_send(conn, now);
	rxd_conn_rearm(conn, now);
	return 0;
}

int rxd_cm_answer(struct eng_link *base, struct eng_peer *peer, void *req, const void *param,
		  size_t paramlen)
{
	return peer ? accept_request(base, peer, req, param, paramlen) :
		      reject_request(base, req, param, paramlen);
}

int rxd_cm_shutdown(struct eng_link *base, struct eng_peer *peer)
{
	struct rxd_conn *conn = eng_peer_chan(peer);

	if (!rxd_conn_alive(conn))
		return -FI_ENOTCONN;
	rxd_tx_shut(conn);
	return 0;
}
