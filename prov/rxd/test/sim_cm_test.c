/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * MSG endpoints in simulated time, over lossy networks: each request is announced once and
 * answered once, with its private data, and a shutdown follows what was sent before.
 *
 *	sim_cm_test [first seed [how many]]
 */
#include <rdma/fi_errno.h>

#include "sim_nodes.h"

#define LISTENER 2
#define MANY 3000			/* requests that the listener remembers */

static struct eng_pep *listener;

/* ---- the network -------------------------------------------------------------------- */

static void step(void)
{
	uint64_t next;

	nodes_turn();
	if (listener)
		nodes_poll_group(&listener->prog);
	next = nodes_soonest();
	snet_now = next < UINT64_MAX ? next : snet_now + CLOCK_NS_PER_MS;
}

/* wait_for - until @cond, for at most @ms. */
#define wait_for(cond, ms)							\
	do {									\
		uint64_t end_ = snet_now + (uint64_t) (ms) * CLOCK_NS_PER_MS;	\
		while (!(cond) && snet_now < end_)				\
			step();							\
	} while (0)

static void begin(uint64_t number, double loss)
{
	struct snet_conf conf = { .dgram_max = 1456, .delay_ns = 50000 };

	nodes_seed = number;
	nodes_downs = 0;
	node_cnt = 2;
	snet_start(number, &conf);
	snet_conf.loss = loss;
	snet_conf.dup = loss;
	node_open_msg(0);
	node_open_msg(1);
	nodes[0]->later = nodes[1]->later = 0;
	listener = node_listen(LISTENER);
}

static void end(void)
{
	if (listener)
		node_unlisten(listener);
	listener = NULL;
	node_close(0);
	node_close(1);
}

/* ---- requests ------------------------------------------------------------------------- */

static struct eng_peer *peer_of(unsigned no)
{
	return &nodes[no]->peers[no == 0 ? LISTENER : 0];
}

static void request(unsigned no, const char *data)
{
	struct eng_peer *peer = peer_of(no);

	CHECK(!rxd_link_ops.cm->connect(nodes[no]->link, peer, &peer->addr, sizeof(peer->addr), data,
				    strlen(data)));
}

static void *announced(const char *data)
{
	unsigned was = listener->req_cnt;

	wait_for(listener->req_cnt != was, 30000);
	CHECK(listener->req_cnt == was + 1 && listener->cm_len == strlen(data));
	CHECK(!memcmp(listener->cm_data, data, strlen(data)));
	return listener->req;
}

static bool answered_with(const char *data)
{
	return nodes[0]->cm_len == strlen(data) && !memcmp(nodes[0]->cm_data, data, strlen(data));
}

static void talk(unsigned cnt)
{
	struct eng_peer *there = peer_of(0), *here = peer_of(1);
	unsigned i;

	for (i = 0; i < cnt; i++) {
		node_send(nodes[0], there, snet_rnd(5000));
		node_send(nodes[1], here, snet_rnd(5000));
	}
	wait_for(there->next == cnt && here->next == cnt && !there->out && !here->out, 60000);
	CHECK(there->next == cnt && here->next == cnt);
}

static void accept_one(uint64_t number)
{
	begin(number, number % 2 ? 0.2 : 0);
	request(0, "connect to me");
	CHECK(!rxd_link_ops.cm->answer(nodes[1]->link, peer_of(1), announced("connect to me"),
				   "welcome", 7));
	wait_for(nodes[0]->connected && nodes[1]->connected, 30000);
	CHECK(nodes[0]->connected == 1 && nodes[1]->connected == 1 && answered_with("welcome"));
	talk(10);
	node_send(nodes[0], peer_of(0), 3000);
	CHECK(!rxd_link_ops.cm->shutdown(nodes[0]->link, peer_of(0)));
	wait_for(nodes[1]->shut, 60000);
	CHECK(nodes[1]->shut == 1 && peer_of(1)->next == 11 && !nodes_downs);
	CHECK(listener->req_cnt == 1);
	end();
}

/* All REFUSE packets of the rejection are lost: the retransmitted HELLO gets another one. */
static void reject_one(uint64_t number)
{
	void *req;

	begin(number, number % 2 ? 0.2 : 0);
	request(0, "me, too");
	req = announced("me, too");
	snet_cut(PORT(LISTENER), PORT(0), snet_now + CLOCK_NS_PER_MS);
	CHECK(!rxd_link_ops.cm->answer(listener->link, NULL, req, "not you", 7));
	wait_for(nodes[0]->refused, 30000);
	CHECK(nodes[0]->refused == 1 && nodes[0]->refused_err == FI_ECONNREFUSED);
	CHECK(answered_with("not you") && listener->req_cnt == 1 && !nodes_downs);
	end();
}

/* The endpoint that was refused can connect again. */
static void reject_then_accept(void)
{
	begin(7, 0);
	request(0, "a");
	CHECK(!rxd_link_ops.cm->answer(listener->link, NULL, announced("a"), NULL, 0));
	wait_for(nodes[0]->refused, 30000);
	request(0, "b");
	CHECK(!rxd_link_ops.cm->answer(nodes[1]->link, peer_of(1), announced("b"), NULL, 0));
	wait_for(nodes[0]->connected && nodes[1]->connected, 30000);
	talk(3);
	end();
}

static void no_listener(void)
{
	int ms = rxd_conf.conn_timeout_ms;

	rxd_conf.conn_timeout_ms = 4000;
	begin(8, 0);
	node_unlisten(listener);
	listener = NULL;
	snet_cut(PORT(0), PORT(LISTENER), UINT64_MAX);
	request(0, "");
	wait_for(nodes[0]->refused, 5000);
	CHECK(nodes[0]->refused == 1 && nodes[0]->refused_err == FI_ETIMEDOUT && !nodes_downs);
	end();
	rxd_conf.conn_timeout_ms = ms;
}

/* A MSG endpoint is no listener, so it refuses; so does an RDM endpoint. */
static void wrong_kind(bool rdm)
{
	begin(9, 0);
	if (rdm) {
		node_close(1);
		node_open(1);
	}
	nodes[0]->peers[LISTENER].addr = nodes[1]->addr;
	request(0, "");
	wait_for(nodes[0]->refused, 5000);
	CHECK(nodes[0]->refused == 1 && nodes[0]->refused_err == FI_ECONNREFUSED && !nodes_downs);
	end();
}

/* Requests that nothing answers are remembered for a while, found by their id, and forgotten. */
static void many_requests(void)
{
	struct rxd_link *link;
	unsigned i, cnt = 0;
	struct list *pos;

	begin(10, 0);
	link = snet_link(PORT(LISTENER));
	for (i = 0; i < MANY; i++) {
		request(0, "x");
		rxd_link_ops.cm->answer(NULL, NULL, announced("x"), NULL, 0);
		rxd_link_ops.peer_put(nodes[0]->link, peer_of(0));
	}
	list_for_each(pos, &link->requests)
		cnt++;
	CHECK(cnt == MANY && link->request_by.used == MANY);
	snet_now += 61 * CLOCK_NS_PER_S;
	request(0, "x");
	rxd_link_ops.cm->answer(NULL, NULL, announced("x"), NULL, 0);
	CHECK(link->request_by.used == 1 && link->requests.next->next == &link->requests);
	end();
}

static void run_all(const char *level, uint64_t first, uint64_t cnt)
{
	uint64_t i;

	nodes_level = level;
	reject_then_accept();
	no_listener();
	wrong_kind(true);
	wrong_kind(false);
	if (!level)
		many_requests();
	for (i = first; i < first + cnt; i++) {
		accept_one(i);
		reject_one(i);
	}
	printf("%llu networks, %s\n", (unsigned long long) cnt, level ? level : "not protected");
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t cnt = argc > 2 ? strtoull(argv[2], NULL, 0) : 100;

	rxd_conf.prov = &nodes_prov;
	rxd_conf.local = 0;
	run_all(NULL, first, cnt);
	if (nodes_can_protect())
		run_all("encrypt", first, cnt);
	return 0;
}
