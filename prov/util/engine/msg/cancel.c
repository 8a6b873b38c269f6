/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cancel.c - fi_cancel.
 *
 * A posted receive completes with FI_ECANCELED.  One that a message is arriving in cannot
 * be taken back without losing the message, so the call returns -FI_ENOENT and the receive
 * completes with its message; but in bounded time: where the sender does not move meanwhile, the
 * receive ends with FI_ECANCELED, and the rest of its message is skipped when it comes.  Only where
 * the buffers cannot be taken back is the sender cut off.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "engine/recv.h"
#include "engine/trig.h"

/* Supervises a receive that the program would have cancelled; ends with it. */
struct eng_watch {
	struct eng_work work;
	struct eng_recv *recv;
	uint64_t due_ns;	/* when it must have moved */
	size_t got;		/* where it was */
	uint8_t pieces;
};

static bool has_moved(struct eng_watch *watch)
{
	struct eng_sink *sink = &watch->recv->sink;
	bool moved = watch->got != sink->got || watch->pieces != sink->pieces;

	watch->got = sink->got;
	watch->pieces = sink->pieces;
	return moved;
}

static int watch_run(struct eng_work *work)
{
	struct eng_watch *watch = container_of(work, struct eng_watch, work);
	struct eng_peer *peer = watch->recv->sink.name.peer;
	char text[ENG_PEER_TEXT];

	if (clock_ns() < watch->due_ns)
		return -FI_EAGAIN;
	if (has_moved(watch)) {
		watch->due_ns = clock_deadline(ENG_CANCEL_MS);
		return -FI_EAGAIN;
	}
	if (eng_recv_skip(watch->recv, FI_ECANCELED))	/* frees the watch */
		return 0;
	ENG_WARN(peer->ep, "%s: a receive was cancelled while a message arrived in it, and the peer "
		 "does not go on; the connection is given up\n", eng_peer_text(peer, text));
	eng_peer_cut(peer, FI_ECONNABORTED);	/* frees the watch */
	return 0;
}

/* Without memory for it fi_cancel() has to be called again. */
static void watch_start(struct eng_recv *recv)
{
	struct eng_watch *watch;

	if (recv->watch)
		return;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return;
	list_init(&watch->work.node);
	watch->work.run = watch_run;
	watch->recv = recv;
	watch->due_ns = clock_deadline(ENG_CANCEL_MS);
	has_moved(watch);
	recv->watch = watch;
	eng_grp_defer(recv->ep->grp, &watch->work);
}

void eng_recv_unwatch(struct eng_recv *recv)
{
	list_del(&recv->watch->work.node);
	free(recv->watch);
	recv->watch = NULL;
}

/* Messages of peers of @hub that arrive in receives with @context. */
static void watch_hub(struct eng_ep *hub, const struct eng_rxc *rxc, const void *context)
{
	struct eng_peer *peer;
	struct eng_recv *recv;

	list_for_each_entry(peer, &hub->peers, node)
		list_for_each_entry(recv, &peer->rxs, node)
			if (recv->rxc == rxc && recv->context == context)
				watch_start(recv);
}

static void watch_all(struct eng_ep *ep, const void *context)
{
	struct eng_ep *user;

	watch_hub(ep->hub, ep->rxc, context);
	list_for_each_entry(user, &ep->users, srx_node)
		watch_hub(user, ep->rxc, context);
}

struct wanted {
	void *context;
	struct eng_ep *ep;
	struct eng_recv *oldest;
};

static bool note_wanted(struct match_recv *m, void *arg)
{
	struct eng_recv *recv = container_of(m, struct eng_recv, m);
	struct wanted *w = arg;

	if (recv->context == w->context && recv->ep == w->ep &&
	    (!w->oldest || m->seq < w->oldest->m.seq))
		w->oldest = recv;
	return false;
}

ssize_t eng_recv_cancel(fid_t fid, void *context)
{
	struct eng_ep *ep = eng_ep_of_fid(fid);
	struct wanted w = { context, ep, NULL };
	bool found;

	if (!eng_ep_enabled(ep))
		return -FI_ENOENT;
	lock_get(&ep->base.prog->lock);
	if (ep->rxc)
		match_each_recv(&ep->rxc->msgs, note_wanted, &w);
	if (ep->rxc && !w.oldest)
		match_each_recv(&ep->rxc->tagged, note_wanted, &w);
	found = w.oldest != NULL;
	if (ep->rxc && (!found || w.oldest->multi))
		watch_all(ep, context);
	if (found)
		eng_recv_abort(w.oldest, FI_ECANCELED);
	else if (ep->base.caps & FI_TRIGGER)
		found = eng_trig_cancel(ep, context);
	lock_put(&ep->base.prog->lock);
	return found ? 0 : -FI_ENOENT;
}
