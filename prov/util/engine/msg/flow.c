/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/flow.h"

#include <pthread.h>
#include <rdma/providers/fi_prov.h>

#include "engine/ctl.h"
#include "engine/oob.h"
#include "engine/query.h"
#include "obj/cq.h"

/* What a peer may always use, however much the others do. */
#define SURE (UINT64_C(64) << 10)

/* Completions in a queue, beyond which a peer cannot cause more. */
#define CQ_DEEP ((size_t) 1 << 20)

/* ---- limits ----------------------------------------------------------------- */

static struct limits {
	size_t peer, all, heads;
} limits = { ENG_HELD_PEER, ENG_HELD_ALL, ENG_HEADS_PEER };

static void read_limits(void)
{
	fi_param_get_size_t(NULL, "unexp_peer_max", &limits.peer);
	fi_param_get_size_t(NULL, "unexp_max", &limits.all);
	fi_param_get_size_t(NULL, "unexp_header_max", &limits.heads);
	/* one message at least */
	if (limits.peer < 4 * SURE)
		limits.peer = 4 * SURE;
	if (limits.all < limits.peer)
		limits.all = limits.peer;
	if (limits.heads < 4 * SURE)
		limits.heads = 4 * SURE;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

void eng_flow_limits(struct eng_ep *ep)
{
	pthread_once(&once, read_limits);
	ep->unexp_budget = limits.peer / ENG_UNEXP_PART;
	ep->held_peer_max = limits.peer;
	ep->held_max = limits.all;
	ep->heads_max = limits.heads;
	ep->ahead = limits.peer / ENG_AHEAD_PART;
	ep->tx_max = ENG_TX_QUEUE_MAX < ep->tx_size ? ep->tx_size : ENG_TX_QUEUE_MAX;
}

size_t eng_flow_rx_max(size_t size)
{
	if (size < ENG_RX_QUEUE_MAX)
		size = ENG_RX_QUEUE_MAX;
	return size < UINT32_MAX ? size : UINT32_MAX;	/* the matchers' counters have 32 bits */
}

/* program_awaits - does the program wait for something that may stand behind what @peer has sent: a posted
 * receive, an operation to @peer?  A peek that has found nothing counts for one message.
 */
static bool program_awaits(struct eng_peer *peer)
{
	struct eng_ep *ep = peer->ep;
	bool sought = false;
	unsigned i;

	for (i = 0; i < ep->rxc_cnt; i++) {
		if (ep->rxc[i].posted || ep->rxc[i].owner)
			return true;
		sought |= ep->rxc[i].sought;
		ep->rxc[i].sought = false;
	}
	return sought || peer->tx_cnt || !list_empty(&peer->rxs) || (ep->oob && ep->oob->rxc.posted > eng_query_posted(ep));
}

static void log_later(struct eng_peer *peer)
{
	struct eng_ep *ep = peer->ep;
	char text[ENG_PEER_TEXT];

	FI_WARN_SPARSE(ep->base.prov, FI_LOG_EP_DATA, "%s: what it sent and the program has not "
		       "received takes %llu KiB, that of all peers %llu KiB: no more is read from it "
		       "until some is received, or a receive is posted (FI_UNEXP_PEER_MAX, "
		       "FI_UNEXP_MAX; then FI_UNEXP_HEADER_MAX)\n",
		       eng_peer_text(peer, text), (unsigned long long) peer->held >> 10,
		       (unsigned long long) ep->held >> 10);
}

static bool is_within(const struct eng_peer *peer, uint64_t bytes)
{
	const struct eng_ep *ep = peer->ep;

	return peer->held + bytes <= SURE ||
	       (peer->held + bytes <= ep->held_peer_max && ep->held + bytes <= ep->held_max);
}

/* Nothing that is waited for can be stuck behind it, or the connection ends. */
static enum eng_rx_verdict too_many_heads(struct eng_peer *peer)
{
	const struct fi_provider *prov = peer->ep->base.prov;
	char text[ENG_PEER_TEXT];

	if (program_awaits(peer)) {
		FI_WARN_SPARSE(prov, FI_LOG_EP_CTRL, "%s: the program has not received %u messages that it "
			       "sent or announced, and waits for another: its connection is ended; a program "
			       "that leaves so many unreceived needs a larger FI_UNEXP_HEADER_MAX\n",
			       eng_peer_text(peer, text), peer->msg_cnt);
		return ENG_RX_OVER;
	}
	FI_WARN_SPARSE(prov, FI_LOG_EP_CTRL, "%s: the program has not received %u messages that it sent or "
		       "announced: no more is read from it until some are received, and its connection ends if "
		       "a receive waits for others; a program that leaves so many unreceived needs a larger "
		       "FI_UNEXP_HEADER_MAX\n", eng_peer_text(peer, text), peer->msg_cnt);
	return ENG_RX_LATER;
}

enum eng_rx_verdict eng_flow_admit(struct eng_peer *peer, unsigned heads, uint64_t bytes)
{
	struct eng_ep *ep = peer->ep;

	if (heads && ((uint64_t) peer->msg_cnt + heads) * ENG_HEAD_COST > ep->heads_max)
		return too_many_heads(peer);
	if (!bytes || is_within(peer, bytes) ||
	    (peer->held + bytes <= ep->heads_max && program_awaits(peer)))
		return ENG_RX_DONE;
	log_later(peer);
	return ENG_RX_LATER;
}

/* Requests go on beside payload that is more than usual, since what is waited for may stand behind them;
 * those that wait for others to be served have the limit for themselves then.
 */
bool eng_flow_refuse(struct eng_peer *peer, uint64_t bytes)
{
	uint64_t requests = peer->held - peer->unexp_bytes + bytes;

	if (is_within(peer, bytes) || requests <= SURE ||
	    (requests <= peer->ep->held_peer_max && program_awaits(peer)))
		return false;
	log_later(peer);
	return true;
}

bool eng_flow_cq_refuse(struct eng_peer *peer, struct obj_ep *base)
{
	char text[ENG_PEER_TEXT];

	if (!base->rx_cq || obj_cq_used(base->rx_cq) < CQ_DEEP)
		return false;
	FI_WARN_SPARSE(base->prov, FI_LOG_EP_DATA, "%s: no more is read from it until the program "
		       "reads its completion queue, which has %zu entries\n",
		       eng_peer_text(peer, text), CQ_DEEP);
	return true;
}

/* ---- XOFF and XON ------------------------------------------------------------ */

/* peer_budget - the budget by the number of peers that hold something: a single one may use all of it. */
static uint64_t peer_budget(const struct eng_ep *ep)
{
	uint64_t bytes = ep->unexp_budget / (ep->unexp_peers ? ep->unexp_peers : 1);
	uint64_t floor = ep->unexp_budget / ENG_UNEXP_PEERS;

	return bytes < floor ? floor : bytes;
}

/* Without memory for the control packet the next packet of the peer tries again. */
static void send_flow(struct eng_peer *peer, enum wire_op op)
{
	struct eng_out *ctl = eng_ctl_get(peer->ep->grp);

	if (!ctl)
		return;
	peer->told_xoff = op == WIRE_XOFF;
	eng_ctl_send(ctl, peer, op, 0, 0, 0, 0);
}

void eng_flow_held(struct eng_peer *peer, uint64_t bytes)
{
	struct eng_ep *ep = peer->ep;

	if (!bytes)
		return;
	eng_flow_charge(peer, bytes);
	if (!peer->unexp_bytes)
		ep->unexp_peers++;
	peer->unexp_bytes += bytes;
	if (!peer->told_xoff && peer->unexp_bytes > peer_budget(ep))
		send_flow(peer, WIRE_XOFF);
}

void eng_flow_freed(struct eng_peer *peer, uint64_t bytes)
{
	struct eng_ep *ep = peer->ep;

	if (!bytes)
		return;
	eng_flow_release(peer, bytes);
	peer->unexp_bytes -= bytes;
	if (peer->told_xoff && peer->unexp_bytes <= peer_budget(ep) / 4)
		send_flow(peer, WIRE_XON);
	if (!peer->unexp_bytes)
		ep->unexp_peers--;
}

bool eng_on_moving(struct eng_peer *peer, size_t len)
{
	if (eng_flow_admit(peer, 0, len) != ENG_RX_DONE)
		return false;
	eng_flow_held(peer, len);
	return true;
}

void eng_on_moved(struct eng_peer *peer, size_t len)
{
	eng_flow_freed(peer, len);
}

void eng_flow_reset(struct eng_peer *peer)
{
	peer->told_xoff = false;
	peer->slow &= ~ENG_PEER_XOFF;
}
