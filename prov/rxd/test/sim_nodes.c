/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "sim_nodes.h"

#include <arpa/inet.h>
#include <rdma/fi_errno.h>

#include "base/iov.h"
#include "obj/test/fake_prog.h"
#include "rxd/secure/state.h"
#include "secure/policy.h"

#define SHORT 128	/* the engine may use a slot for such */

struct head {
	uint64_t life;		/* of the sender's endpoint */
	uint64_t gen;		/* of its connection to the receiver */
	uint64_t seq;
	uint64_t len;
};

struct msg {
	struct eng_pkt pkt;
	struct eng_peer *peer;
	uint8_t data[];
};

struct in {
	struct list node;	/* on ep->held, while it is held and not pulled */
	struct eng_peer *peer;
	struct head head;
	void *token;
	uint8_t *buf;
};

uint64_t nodes_seed, nodes_downs, nodes_delivered, nodes_failed;
int nodes_last_err;
unsigned node_cnt = NODES_FEW;
struct eng_ep *nodes[NODES];
struct fi_provider nodes_prov = { .name = "ofi_rxd" };
const char *nodes_level;
uint8_t nodes_key[32] = { 0xa1, 0x01, 0xfe };
uint64_t nodes_key_bytes;
static uint64_t lives;

static uint8_t pattern[256 + RXD_PAYLOAD_MAX];

/* Of two messages in a row no byte is the same.  They are copied and compared as a whole: a byte at a time they
 * took half of the time of a run, under the thread sanitizer nearly all of it.
 */
const uint8_t *nodes_bytes(uint64_t seq, size_t len)
{
	size_t i;

	CHECK(len <= RXD_PAYLOAD_MAX);
	for (i = sizeof(pattern); !pattern[1] && i--;)
		pattern[i] = (uint8_t) (i * 7 + (i >> 8));
	return pattern + (uint8_t) (seq * 151);
}

/* ---- the engine ------------------------------------------------------------------- */

void *eng_peer_chan(struct eng_peer *peer)
{
	return peer->chan;
}

struct eng_peer *eng_peer_of(void *chan)
{
	return container_of(chan, struct eng_peer, chan);
}

const void *eng_peer_addr(const struct eng_peer *peer)
{
	return &peer->addr;
}

size_t eng_peer_addr_len(const struct eng_peer *peer)
{
	return sizeof(peer->addr);
}

struct eng_peer *eng_peer_find(struct eng_link *link, const void *addr, size_t len)
{
	const struct sockaddr_in *in = addr;

	CHECK(len == sizeof(*in) && ntohs(in->sin_port) >= 1 && ntohs(in->sin_port) <= NODES);
	return &link->ep->peers[ntohs(in->sin_port) - 1];
}

bool eng_peer_waits(const struct eng_peer *peer)
{
	return peer->out != 0;
}

void eng_peer_bind(struct eng_peer *peer, struct eng_link *link)
{
	CHECK(link == peer->ep->link);
}

static void arrived(const struct head *head, const uint8_t *data)
{
	CHECK(!head->len || !memcmp(data, nodes_bytes(head->seq, head->len), head->len));
	nodes_delivered++;
}

static void in_free(struct in *in)
{
	free(in->buf);
	free(in);
}

/* Once, in order; a new life or connection begins with its first message. */
static void check_order(struct eng_peer *peer, const struct head *head)
{
	if (head->life != peer->from_life || head->gen != peer->from_gen) {
		CHECK(head->life > peer->from_life ||
		      (head->life == peer->from_life && head->gen > peer->from_gen));
		peer->from_life = head->life;
		peer->from_gen = head->gen;
		peer->next = 0;
	}
	CHECK(head->seq == peer->next);
	peer->next++;
}

static void pieces(struct eng_rx *rx, uint8_t *buf, size_t len)
{
	size_t cut = len ? snet_rnd(len) : 0;

	rx->iov[0] = (struct iovec) { buf, cut };
	rx->iov[1] = (struct iovec) { buf + cut, len - cut };
	rx->iov_cnt = 2;
}

enum eng_rx_verdict eng_on_packet(struct eng_link *link, struct eng_peer *peer,
				  struct eng_rx *rx)
{
	struct eng_ep *ep = link->ep;
	struct in *in;

	CHECK(rx->hdr_len == sizeof(struct head) && rx->avail <= rx->len);
	if (snet_rnd(100) < ep->later)
		return ENG_RX_LATER;
	in = calloc(1, sizeof(*in));
	memcpy(&in->head, rx->hdr, sizeof(in->head));
	in->peer = peer;
	CHECK(in->head.len == rx->len);
	check_order(peer, &in->head);
	if (rx->avail == rx->len && snet_rnd(2)) {
		arrived(&in->head, rx->data);
		in_free(in);
		return ENG_RX_DONE;
	}
	if (snet_rnd(2)) {
		in->token = link->ops->held.hold(link, peer, rx);
		list_add_tail(&in->node, &ep->held);
		return ENG_RX_HELD;
	}
	in->buf = malloc(rx->len + 1);
	pieces(rx, in->buf, rx->len);
	rx->cookie = in;
	ep->placing++;
	return ENG_RX_PLACE;
}

/* Some of those that have arrived in whole are delivered at once. */
enum eng_fast eng_on_fast(void *chan, const uint8_t *hdr, size_t hdr_len, size_t len)
{
	struct eng_peer *peer = eng_peer_of(chan);
	struct head head;

	if (hdr_len != sizeof(head) || !snet_rnd(3) || snet_rnd(100) < peer->ep->later)
		return ENG_FAST_NONE;
	memcpy(&head, hdr, sizeof(head));
	CHECK(head.len == len);
	check_order(peer, &head);
	arrived(&head, hdr + hdr_len);
	return ENG_FAST_DONE;
}

void eng_on_placed(struct eng_link *link, void *cookie, int status)
{
	struct in *in = cookie;

	link->ep->placing--;
	if (!status)
		arrived(&in->head, in->buf);
	in_free(in);
}

static void pull_some(struct eng_ep *ep)
{
	struct list todo;
	struct eng_rx rx;
	struct in *in;
	int ret;

	list_init(&todo);
	list_splice_tail(&ep->held, &todo);
	while ((in = list_pop_entry(&todo, struct in, node))) {
		if (snet_rnd(3)) {
			list_add_tail(&in->node, &ep->held);
			continue;
		}
		if (!snet_rnd(10)) {
			ep->link->ops->held.pull(ep->link, in->token, NULL, 0, NULL);
			nodes_delivered++;
			in_free(in);
			continue;
		}
		in->buf = malloc(in->head.len + 1);
		pieces(&rx, in->buf, in->head.len);
		ret = ep->link->ops->held.pull(ep->link, in->token, rx.iov, rx.iov_cnt, in);
		if (!ret) {
			ep->placing++;
			continue;
		}
		if (ret > 0)
			arrived(&in->head, in->buf);
		in_free(in);
	}
}

void eng_on_version(struct eng_peer *peer, unsigned version)
{
}

void eng_on_up(struct eng_link *link, struct eng_peer *peer)
{
	peer->started = true;
}

void eng_on_down(struct eng_link *link, struct eng_peer *peer, int err)
{
	CHECK(err > 0);
	CHECK(!peer->out);	/* all packets came back before */
	peer->started = false;
	peer->gen++;
	peer->sent = 0;
	nodes_last_err = err;
	nodes_downs++;
}

void eng_on_connreq(struct eng_pep *pep, void *req, const void *src, size_t srclen,
		    const void *dest, size_t destlen, const void *param, size_t paramlen)
{
	CHECK(srclen == sizeof(struct sockaddr_in) && destlen == srclen);
	pep->req = req;
	pep->req_cnt++;
	pep->cm_len = paramlen;
	memcpy(pep->cm_data, param, paramlen);
}

static void keep_data(struct eng_ep *ep, const void *param, size_t paramlen)
{
	ep->cm_len = paramlen;
	if (paramlen)
		memcpy(ep->cm_data, param, paramlen);
}

void eng_on_connected(struct eng_link *link, struct eng_peer *peer, const void *param,
		      size_t paramlen)
{
	CHECK(!peer->started);
	peer->started = true;
	link->ep->connected++;
	keep_data(link->ep, param, paramlen);
}

void eng_on_refused(struct eng_link *link, struct eng_peer *peer, int err, const void *param,
		    size_t paramlen)
{
	CHECK(!peer->started && !peer->out);
	link->ep->refused++;
	link->ep->refused_err = err;
	keep_data(link->ep, param, paramlen);
}

void eng_on_shutdown(struct eng_link *link, struct eng_peer *peer)
{
	CHECK(!peer->out);
	peer->started = false;
	link->ep->shut++;
}

/* ---- nodes --------------------------------------------------------------------------- */

static struct sockaddr_in address(unsigned i)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	in.sin_addr.s_addr = htonl(0x0a000001);
	in.sin_port = htons((uint16_t) PORT(i));
	return in;
}

bool nodes_can_protect(void)
{
	const char *why;

	if (sec_shake_ready(&why))
		return true;
	printf("without protection: %s\n", why);
	return false;
}

/* new_policy - as nodes_level and nodes_key say. */
static struct sec_policy *new_policy(void)
{
	struct sec_source source = { .ep_key = nodes_key, .ep_key_len = sizeof(nodes_key) };
	struct sec_policy *policy = NULL;
	char why[SEC_WHY_MAX];

	if (!nodes_level)
		return NULL;
	CHECK(!sec_policy_open(&source, &policy, why) && policy);
	policy->level = strcmp(nodes_level, "auth") ? SEC_ENCRYPT : SEC_AUTH;	/* a program's is read once */
	return policy;
}

static void open_node(unsigned no, enum fi_ep_type type)
{
	struct eng_ep *ep = calloc(1, sizeof(*ep));
	unsigned i;

	nodes[no] = ep;
	ep->life = ++lives;
	ep->addr = address(no);
	ep->info.src_addr = &ep->addr;
	ep->info.src_addrlen = sizeof(ep->addr);
	ep->base.info = &ep->info;
	ep->base.type = type;
	ep->base.prog = &ep->prog;
	ep->base.sec = new_policy();
	ep->base.prov = &nodes_prov;
	ep->later = snet_rnd(4) ? 0 : 10;
	list_init(&ep->prog.pollers);
	list_init(&ep->held);
	for (i = 0; i < NODES; i++) {
		ep->peers[i].ep = ep;
		ep->peers[i].addr = address(i);
	}
	CHECK(!rxd_link_ops.open(ep, NULL, &ep->link));
	if (nodes_level && nodes_key_bytes)
		snet_link(PORT(no))->guard->key_bytes = nodes_key_bytes;
}

void node_open(unsigned no)
{
	open_node(no, FI_EP_RDM);
}

void node_open_msg(unsigned no)
{
	open_node(no, FI_EP_MSG);
}

struct eng_pep *node_listen(unsigned no)
{
	struct eng_pep *pep = calloc(1, sizeof(*pep));

	pep->addr = address(no);
	pep->info.src_addr = &pep->addr;
	pep->info.src_addrlen = sizeof(pep->addr);
	pep->base.info = &pep->info;
	pep->base.prog = &pep->prog;
	pep->base.sec = new_policy();
	list_init(&pep->prog.pollers);
	CHECK(!rxd_link_ops.open(NULL, pep, &pep->link));
	CHECK(!rxd_link_ops.cm->listen(pep->link, 1));
	return pep;
}

static struct obj_poller *poller_of(struct obj_prog *prog)
{
	return container_of(prog->pollers.next, struct obj_poller, node);
}

void node_unlisten(struct eng_pep *pep)
{
	struct obj_poller *poller = poller_of(&pep->prog);

	rxd_link_ops.close(pep->link, 0);
	poller->ops->close(poller);
	sec_policy_close(pep->base.sec);
	free(pep);
}

int nodes_poll_group(struct obj_prog *prog)
{
	struct obj_poller *poller = poller_of(prog);

	atomic_fetch_add(&prog->polls, 1);
	return poller->ops->poll(poller, OBJ_POLL_BUDGET);
}

int node_poll(struct eng_ep *ep)
{
	return nodes_poll_group(&ep->prog);
}

static uint64_t node_due(struct eng_ep *ep)
{
	struct obj_poller *poller = poller_of(&ep->prog);
	uint64_t due = UINT64_MAX;

	return poller->ops->arm(poller, &due) ? snet_now : due;
}

/* As if its process was killed: no packet is sent. */
void node_close(unsigned no)
{
	struct eng_ep *ep = nodes[no];
	struct obj_poller *poller = poller_of(&ep->prog);
	struct in *in;

	while ((in = list_pop_entry(&ep->held, struct in, node))) {
		ep->link->ops->held.pull(ep->link, in->token, NULL, 0, NULL);
		in_free(in);
	}
	ep->link->ops->close(ep->link, 0);
	CHECK(!ep->placing);
	for (unsigned i = 0; i < node_cnt; i++)
		CHECK(!ep->peers[i].out);
	poller->ops->close(poller);
	sec_policy_close(ep->base.sec);
	free(ep);
	nodes[no] = NULL;
}

static void on_done(struct eng_pkt *pkt, int status)
{
	struct msg *msg = container_of(pkt, struct msg, pkt);

	msg->peer->out--;
	nodes_failed += status != 0;
	free(msg);
}

/* send_short - the engine's fast path for short messages.  Returns false when the link does not
 * accept the message there.
 */
static bool send_short(struct eng_ep *ep, struct eng_peer *peer, size_t len)
{
	struct head head = { ep->life, peer->gen, peer->sent, len };
	uint8_t *slot;

	slot = ep->link->ops->slot(peer->chan, sizeof(head) + len);
	if (!slot)
		return false;
	memcpy(slot, &head, sizeof(head));
	memcpy(slot + sizeof(head), nodes_bytes(head.seq, len), len);
	CHECK(ep->link->ops->post(peer->chan, sizeof(head), len) == 1);
	peer->sent++;
	return true;
}

void node_send(struct eng_ep *ep, struct eng_peer *peer, size_t len)
{
	struct head head = { ep->life, peer->gen, peer->sent, len };
	struct msg *msg;
	int ret;

	if (!peer->started) {
		CHECK(!ep->link->ops->peer_get(ep->link, peer));
		peer->started = true;
	}
	if (len <= SHORT && snet_rnd(4) && send_short(ep, peer, len))
		return;
	msg = malloc(sizeof(*msg) + len);
	memset(&msg->pkt, 0, sizeof(msg->pkt));
	msg->peer = peer;
	msg->pkt.hdr_len = sizeof(head);
	memcpy(msg->pkt.hdr, &head, sizeof(head));
	msg->pkt.len = len;
	msg->pkt.flags = snet_rnd(2) ? ENG_PKT_MORE : 0;
	msg->pkt.done = on_done;
	memcpy(msg->data, nodes_bytes(head.seq, len), len);
	msg->pkt.iov[0] = (struct iovec) { msg->data, len / 3 };
	msg->pkt.iov[1] = (struct iovec) { msg->data + len / 3, len - len / 3 };
	msg->pkt.iov_cnt = len ? 2 : 0;
	ret = ep->link->ops->send(peer->chan, &msg->pkt);
	if (ret >= 0)
		peer->sent++;
	if (!ret)
		peer->out++;
	else
		free(msg);
}

/* ---- runs ------------------------------------------------------------------------------ */

uint64_t nodes_soonest(void)
{
	uint64_t next = snet_next(), due;
	unsigned i;

	for (i = 0; i < node_cnt; i++) {
		due = node_due(nodes[i]);
		if (due < next)
			next = due;
	}
	return next > snet_now ? next : snet_now;
}

void nodes_turn(void)
{
	unsigned i;

	for (i = 0; i < node_cnt; i++) {
		node_poll(nodes[i]);
		if (!list_empty(&nodes[i]->held))
			pull_some(nodes[i]);
	}
}

size_t nodes_length(void)
{
	switch (snet_rnd(8)) {
	case 0:
		return 0;
	case 1:
	case 2:
	case 3:
		return snet_rnd(64);
	case 4:
	case 5:
		return snet_rnd(3000);
	case 6:
		return snet_rnd(20000);
	default:
		return snet_rnd(150000);
	}
}

bool nodes_got_all(unsigned i, unsigned j)
{
	struct eng_peer *to = &nodes[i]->peers[j], *from = &nodes[j]->peers[i];

	return !to->sent || (from->from_life == nodes[i]->life && from->from_gen == to->gen &&
			     from->next == to->sent);
}

/* Is anything in flight to a peer that has not been reported lost? */
bool nodes_all_there(void)
{
	unsigned i, j;

	for (i = 0; i < node_cnt; i++) {
		if (!list_empty(&nodes[i]->held) || nodes[i]->placing)
			return false;
		for (j = 0; j < node_cnt; j++)
			if (nodes[i]->peers[j].out || !nodes_got_all(i, j))
				return false;
	}
	return true;
}
