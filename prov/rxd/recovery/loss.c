/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "loss.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#define FIRST_ROOM 16
#define PKT_THRESHOLD 3		/* later packets that arrived, on a path without reordering */
#define REO_MOST 64		/* quarters of the minimal RTT */
#define PROBES_SHIFT_MAX 10
#define WAIT_MAX_NS UINT64_C(1000000000)

static struct rxd_sent *sent_at(const struct rxd_loss *loss, uint64_t pn)
{
	return &loss->ring[pn & loss->mask];
}

void rxd_loss_init(struct rxd_loss *loss)
{
	*loss = (struct rxd_loss) { .reo_steps = 1 };
}

void rxd_loss_fini(struct rxd_loss *loss)
{
	free(loss->ring);
	rxd_loss_init(loss);
}

/* Numbers are masked to places, so a bigger ring has each packet in another place. */
int rxd_loss_room(struct rxd_loss *loss)
{
	uint32_t size = loss->ring ? loss->mask + 1 : 0, bigger;
	struct rxd_sent *ring;
	uint64_t pn;

	if (loss->next - loss->base < size)
		return 0;
	bigger = size ? 2 * size : FIRST_ROOM;
	ring = malloc(bigger * sizeof(*ring));
	if (!ring)
		return -FI_ENOMEM;
	for (pn = loss->base; pn < loss->next; pn++)
		ring[pn & (bigger - 1)] = *sent_at(loss, pn);
	free(loss->ring);
	loss->ring = ring;
	loss->mask = bigger - 1;
	return 0;
}

/* Padded packets are not congestion controlled: that a path MTU probe is lost is expected. */
static void sent_account(struct rxd_loss *loss, const struct rxd_sent *sent, int sign)
{
	loss->out_cnt += (uint32_t) sign;
	if (!sent->pad)
		loss->out_bytes += (uint64_t) sign * sent->size;
}

/* A packet is declared lost once; an ACK may come for it all the same, and ends either state. */
static void sent_set_state(struct rxd_sent *sent, enum rxd_sent_state state)
{
	assert((sent->state == RXD_SENT_OUT || (sent->state == RXD_SENT_LOST && state == RXD_SENT_GONE)) &&
	       state != RXD_SENT_OUT && "a packet is acknowledged once");
	sent->state = state;
}

void rxd_loss_on_sent(struct rxd_loss *loss, const struct rxd_sent *sent)
{
	assert(loss->ring && loss->next - loss->base <= loss->mask && "room was made");
	*sent_at(loss, loss->next) = *sent;
	sent_at(loss, loss->next)->state = RXD_SENT_OUT;
	sent_account(loss, sent, 1);
	loss->last_ns = sent->sent_ns;
	loss->ack_now = sent->ack_now;
	loss->next++;
}

/* The ring begins with the oldest packet that an ACK can still name. */
static void ring_trim(struct rxd_loss *loss)
{
	while (loss->base < loss->next && sent_at(loss, loss->base)->state == RXD_SENT_GONE)
		loss->base++;
}

uint64_t rxd_loss_sent_ns(const struct rxd_loss *loss, uint64_t pn)
{
	if (pn < loss->base || pn >= loss->next || sent_at(loss, pn)->state != RXD_SENT_OUT || sent_at(loss, pn)->waited)
		return 0;
	return sent_at(loss, pn)->sent_ns;
}

/* A packet that is acknowledged after later ones was reordered; one that had been declared lost
 * shows that the time threshold was too short (RFC 8985, section 6.2: reo_wnd_mult).
 */
static void on_one(struct rxd_loss *loss, uint64_t pn, const struct rxd_loss_ops *ops, void *arg)
{
	struct rxd_sent *sent = sent_at(loss, pn);

	switch (sent->state) {
	case RXD_SENT_OUT:
		if (pn + 1 < loss->largest)
			loss->reordered = true;
		sent_set_state(sent, RXD_SENT_GONE);
		sent_account(loss, sent, -1);
		ops->acked(arg, sent, pn);
		break;
	case RXD_SENT_LOST:
		sent_set_state(sent, RXD_SENT_GONE);
		loss->reordered = true;
		if (loss->reo_steps < REO_MOST)
			loss->reo_steps++;
		ops->spurious(arg, sent, pn);
		break;
	default:
		break;		/* acknowledged before: ACKs repeat their ranges */
	}
}

bool rxd_loss_on_ack(struct rxd_loss *loss, uint64_t lo, uint64_t hi,
		     const struct rxd_loss_ops *ops, void *arg)
{
	uint64_t pn;

	if (hi > loss->next)
		return false;
	for (pn = lo > loss->base ? lo : loss->base; pn < hi; pn++)
		on_one(loss, pn, ops, arg);
	if (hi > loss->largest)
		loss->largest = hi;
	ring_trim(loss);
	return true;
}

/* loss_delay - the age at which a packet is declared lost when a later one has arrived: an RTT
 * and a reordering window, which is a quarter of the minimal RTT for each step, at least an
 * eighth of the RTT (RFC 9002, section 6.1.2), and never longer than the smoothed RTT.
 */
static uint64_t loss_delay(const struct rxd_loss *loss, const struct rxd_rtt *rtt)
{
	uint64_t trip = rtt->smooth > rtt->latest ? rtt->smooth : rtt->latest;
	uint64_t more = rtt->min / 4 * loss->reo_steps;

	if (more > rtt->smooth)
		more = rtt->smooth;
	if (more < trip / 8)
		more = trip / 8;
	return trip + more;
}

/* The packet is remembered, since its ACK may arrive after all. */
static void declare_lost(struct rxd_loss *loss, uint64_t pn, const struct rxd_loss_ops *ops, void *arg)
{
	struct rxd_sent *sent = sent_at(loss, pn);

	sent_set_state(sent, RXD_SENT_LOST);
	sent_account(loss, sent, -1);
	ops->lost(arg, sent, pn);
}

/* ring_forget - packets declared lost long ago are not acknowledged any more. */
static void ring_forget(struct rxd_loss *loss, uint64_t now, uint64_t age)
{
	struct rxd_sent *sent;

	while (loss->base < loss->next) {
		sent = sent_at(loss, loss->base);
		if (sent->state == RXD_SENT_OUT ||
		    (sent->state == RXD_SENT_LOST && now < sent->sent_ns + age))
			break;
		loss->base++;
	}
}

/* Only packets before the highest one acknowledged are looked at: later ones may be in flight. */
void rxd_loss_detect(struct rxd_loss *loss, uint64_t now, const struct rxd_rtt *rtt,
		     const struct rxd_loss_ops *ops, void *arg)
{
	uint64_t wait = loss_delay(loss, rtt), pn;
	struct rxd_sent *sent;

	loss->lost_at_ns = 0;
	for (pn = loss->base; pn + 1 < loss->largest; pn++) {
		sent = sent_at(loss, pn);
		if (sent->state != RXD_SENT_OUT)
			continue;
		if (now >= sent->sent_ns + wait ||
		    (!loss->reordered && pn + PKT_THRESHOLD < loss->largest)) {
			declare_lost(loss, pn, ops, arg);
		} else {
			/* those after it were sent later */
			loss->lost_at_ns = sent->sent_ns + wait;
			break;
		}
	}
	ring_forget(loss, now, 4 * wait + 4 * RXD_RTT_GRAIN_NS);
}

void rxd_loss_all(struct rxd_loss *loss, const struct rxd_loss_ops *ops, void *arg)
{
	uint64_t pn;

	loss->lost_at_ns = 0;
	for (pn = loss->base; pn < loss->next; pn++)
		if (sent_at(loss, pn)->state == RXD_SENT_OUT)
			declare_lost(loss, pn, ops, arg);
}

const struct rxd_sent *rxd_loss_unsent(struct rxd_loss *loss, uint64_t pn)
{
	struct rxd_sent *sent;

	if (pn < loss->base || pn >= loss->next || sent_at(loss, pn)->state != RXD_SENT_OUT)
		return NULL;
	sent = sent_at(loss, pn);
	sent_set_state(sent, RXD_SENT_LOST);
	sent_account(loss, sent, -1);
	return sent;
}

uint64_t rxd_loss_probe_timeout(const struct rxd_loss *loss, const struct rxd_rtt *rtt,
		       uint64_t peer_delay_ns)
{
	unsigned probes = loss->probes ? loss->probes - 1u : 0;	/* no backoff before the second */
	unsigned shift = probes < PROBES_SHIFT_MAX ? probes : PROBES_SHIFT_MAX;
	uint64_t once = rxd_rtt_probe_after(rtt, loss->ack_now ? 0 : peer_delay_ns);
	uint64_t most = once > WAIT_MAX_NS ? once : WAIT_MAX_NS;

	return once << shift < most ? once << shift : most;
}

/* A probe is due only if no packet can be declared lost by its age. */
uint64_t rxd_loss_due(const struct rxd_loss *loss, const struct rxd_rtt *rtt,
		      uint64_t peer_delay_ns, bool *probe_p)
{
	*probe_p = false;
	if (!loss->out_cnt)
		return 0;
	if (loss->lost_at_ns)
		return loss->lost_at_ns;
	*probe_p = true;
	return loss->last_ns + rxd_loss_probe_timeout(loss, rtt, peer_delay_ns);
}

uint32_t rxd_loss_beside(const struct rxd_loss *loss, uint64_t pn)
{
	const struct rxd_sent *before;

	if (pn <= loss->base || pn >= loss->next)
		return 0;
	before = sent_at(loss, pn - 1);
	return before->state == RXD_SENT_OUT && !before->waited && before->sent_ns == sent_at(loss, pn)->sent_ns ?
	       before->size : 0;
}

void rxd_loss_waited(struct rxd_loss *loss)
{
	uint64_t pn;

	for (pn = loss->base; pn < loss->next; pn++)
		sent_at(loss, pn)->waited = true;
}

/* Packet numbers continue: they are never used again. */
void rxd_loss_idle(struct rxd_loss *loss)
{
	if (loss->out_cnt)
		return;
	free(loss->ring);
	loss->ring = NULL;
	loss->mask = 0;
	loss->base = loss->next;
}
