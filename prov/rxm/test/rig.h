/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rig.h - what the tests of the link share: endpoints under the fake engine, over the fake
 * provider with connected endpoints, with a virtual clock.
 *
 * For cmocka: includes it, and the fake engine.
 */
#ifndef RXM_TEST_RIG_H
#define RXM_TEST_RIG_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>

#include "base/net_addr.h"
#include "rxm/conn.h"
#include "rxm/test/msg_prov.h"

typedef struct sockaddr_in fake_addr;

static bool fake_addr_is(const fake_addr *a, const void *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void fake_addr_set(fake_addr *a, const void *b)
{
	memcpy(a, b, sizeof(*a));
}

#define FAKE_OPS rxm_link_ops
#define FAKE_CHAN struct rxm_conn
#define FAKE_NAME "ofi_rxm"
#define FAKE_DATA_MAX MSG_CM_DATA
#include "channel/test/fake_engine.h"
#include "obj/test/log_catch.h"

#define MS CLOCK_NS_PER_MS

/* ---- what link.c wants of its surroundings ---------------------------------------------- */

const struct layer rxm_layer;

int layer_lower_info(const struct layer *layer, const struct fi_info *info, struct fi_info **lower_p)
{
	const struct sockaddr_in *addr = info->src_addr;

	*lower_p = msg_prov_info(ntohs(addr->sin_port));
	return 0;
}

int layer_region_mode(const struct fi_info *lower)
{
	return 0;
}

/* ---- endpoints ---------------------------------------------------------------------------- */

static void fake_start(void)
{
	msg_prov_reset();
	list_init(&fake_prog.pollers);
	rxm_conf.prov = &fake_prov;
	rxm_conf.buf_size = 16384;
	rxm_conf.credits = 4;
	rxm_conf.conn_timeout_ms = 2000;
	rxm_conf.conn_retry_ms = 200;
}

/* rig_ep - an endpoint that listens at @port. */
static inline struct eng_ep *rig_ep(uint16_t port)
{
	struct sockaddr_in addr = msg_prov_addr(port);
	struct eng_ep *ep = calloc(1, sizeof(*ep));

	ep->info.src_addr = malloc(sizeof(addr));
	memcpy(ep->info.src_addr, &addr, sizeof(addr));
	ep->info.src_addrlen = sizeof(addr);
	ep->base.info = &ep->info;
	ep->base.type = FI_EP_RDM;
	ep->base.prog = &fake_prog;
	ep->base.prov = &fake_prov;
	list_init(&ep->peers);
	list_init(&ep->held);
	list_add_tail(&ep->node, &fake_eps);
	CHECK(!rxm_link_ops.open(ep, NULL, &ep->link));
	return ep;
}

/* rig_peer - the peer of @ep at @port. */
static inline struct eng_peer *rig_peer(struct eng_ep *ep, uint16_t port)
{
	struct sockaddr_in addr = msg_prov_addr(port);

	return fake_peer(ep, &addr);
}

static inline struct rxm_conn *rig_conn(struct eng_peer *peer)
{
	return eng_peer_chan(peer);
}

static inline struct rxm_link *rig_link(struct eng_ep *ep)
{
	return rxm_link_of(chan_link_of(ep->link));
}

/* rig_sleep - @ms of the virtual clock, with a poll every 1 ms. */
static inline void rig_sleep(int ms)
{
	while (ms--) {
		msg_prov_sleep(MS);
		fake_poll();
	}
}

/* rig_polls - @cnt polls that read the event queue: it is read every 1 ms at least. */
static inline void rig_polls(int cnt)
{
	rig_sleep(cnt);
}

/* rig_pair - two connected endpoints; *ab_p is how the first one sees the second. */
static inline void rig_pair(struct eng_ep **a_p, struct eng_ep **b_p, struct eng_peer **ab_p,
			    struct eng_peer **ba_p)
{
	*a_p = rig_ep(1);
	*b_p = rig_ep(2);
	*ab_p = rig_peer(*a_p, 2);
	*ba_p = rig_peer(*b_p, 1);
	CHECK(!rxm_link_ops.peer_get((*a_p)->link, *ab_p));
	(*ab_p)->wanted = true;
	rig_polls(4);
	CHECK((*ab_p)->up == 1 && (*ba_p)->up == 1);
}

/* ---- the test in place of a peer ------------------------------------------------------------- */

/* rig_handshake - of an endpoint at @port, written at @out.  Returns the length. */
static inline size_t rig_handshake(uint8_t *out, uint16_t port, uint64_t epoch, uint32_t serial,
				   uint32_t prev)
{
	struct sockaddr_in addr = msg_prov_addr(port);
	struct rxm_handshake hs = {
		.id = { .epoch = epoch, .serial = serial, .prev = prev },
		.buf_size = 4096, .credits = 4, .rndvs = 2, .addr_len = sizeof(addr),
	};

	memcpy(hs.addr, &addr, sizeof(addr));
	return rxm_handshake_put(out, &hs);
}

/* rig_request - the test connects to port @to as the endpoint at port @from. */
static inline struct msg_req *rig_request(uint16_t to, uint16_t from, uint64_t epoch,
					   uint32_t serial, uint32_t prev)
{
	struct sockaddr_in addr = msg_prov_addr(50000);
	uint8_t data[RXM_HANDSHAKE_MAX];

	return msg_prov_request(to, &addr, data, rig_handshake(data, from, epoch, serial, prev));
}

/* rig_refusal - the reason in the answer to a request. */
static inline enum chan_reason rig_refusal(const struct msg_req *req)
{
	struct chan_version version;

	assert_true(req->rejected);
	return rxm_refusal_parse(req->data, req->len, &version);
}

/* rig_established - a connection that the test has made as the endpoint at port @from.
 * Returns the endpoint below.
 */
static inline struct rxm_ep *rig_established(struct eng_ep *ep, uint16_t from)
{
	struct msg_req *req = rig_request(1, from, 77, 1, 0);

	rig_polls(2);
	assert_true(req->accepted);
	msg_prov_confirm(req);
	rig_polls(2);
	msg_prov_free(req);
	assert_int_equal(rig_conn(rig_peer(ep, from))->chan.state, CHAN_READY);
	return rig_conn(rig_peer(ep, from))->ep;
}

/* ---- messages of the test ------------------------------------------------------------------------ */

struct rig_msg {
	uint8_t data[8192];
	size_t len;
};

static inline struct rig_msg rig_msg(unsigned flags, unsigned credits)
{
	struct rig_msg msg = { .len = sizeof(struct rxm_head) };

	rxm_put_head(msg.data, flags, credits);
	return msg;
}

/* rig_pkt - packet number @seq, as the fake engine expects it. */
static inline struct eng_pkt rig_pkt(uint64_t seq, void *data, size_t len)
{
	struct fake_hdr hdr = { .seq = seq, .len = len };
	struct eng_pkt pkt = {
		.hdr_len = sizeof(hdr), .len = len, .iov_cnt = 1, .iov = { { data, len } },
	};

	memcpy(pkt.hdr, &hdr, sizeof(hdr));
	return pkt;
}

static inline void rig_eager(struct rig_msg *msg, uint64_t seq, size_t len)
{
	uint8_t data[4096];
	struct eng_pkt pkt;
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = fake_byte(seq, i);
	pkt = rig_pkt(seq, data, len);
	msg->len = rxm_put_eager(msg->data, msg->len, &pkt);
}

/* rig_rndv - a rendezvous with id 100 + @seq, whose payload is at @data; @mr: of it. */
static inline void rig_rndv(struct rig_msg *msg, uint64_t seq, void *data, size_t len,
			    struct fid_mr *mr)
{
	struct wire_rma seg = { (uintptr_t) data, len, fi_mr_key(mr) };
	struct eng_pkt pkt = rig_pkt(seq, data, len);

	msg->len = rxm_put_rndv(msg->data, msg->len, &pkt, 100 + seq, &seg, 1);
}

static inline void rig_done(struct rig_msg *msg, uint64_t id)
{
	msg->len = rxm_put_done(msg->data, msg->len, id);
}

static inline void rig_deliver(struct rxm_ep *ep, const struct rig_msg *msg)
{
	msg_prov_deliver(ep->fid, msg->data, msg->len);
}

/* rig_memory - @len bytes as the fake engine expects them in packet @seq, registered. */
static inline uint8_t *rig_memory(struct rxm_ep *ep, uint64_t seq, size_t len, struct fid_mr **mr_p)
{
	uint8_t *data = malloc(len);
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = fake_byte(seq, i);
	assert_int_equal(fi_mr_reg(ep->dom->base.domain, data, len, FI_REMOTE_READ, 0, 0, 0, mr_p, NULL), 0);
	return data;
}

/* The last message that an endpoint has sent to the test. */
struct rig_sent {
	struct rxm_head head;
	unsigned cnt;
	struct rxm_item item[32];
};

static inline struct rig_sent rig_sent(struct rxm_ep *ep)
{
	size_t len, at = sizeof(struct rxm_head);
	const uint8_t *data = msg_prov_last(ep->fid, &len);
	struct rig_sent sent = { .cnt = 0 };

	assert_non_null(data);
	assert_null(rxm_parse(data, len, &sent.head));
	while (at < len)
		at = rxm_next(data, at, &sent.item[sent.cnt++]);
	return sent;
}

/* ---- fixtures ------------------------------------------------------------------------------------ */

static int rig_setup(void **state)
{
	fake_start();
	catch_start();
	return 0;
}

/* Everything is closed by now: nothing may be left. */
static int rig_teardown(void **state)
{
	fake_stop();
	catch_stop();
	assert_int_equal(msg_prov.eps, 0);
	assert_int_equal(msg_prov.mrs, 0);
	return 0;
}

#define RIG_TEST(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

#endif
