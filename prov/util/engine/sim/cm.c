/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Connecting, accepting and refusing on the simulated network. */
#include "engine/sim/conn.h"

static void report_connected(struct sim_link *sl, struct chan *chan)
{
	struct conn *c = chan->conn;

	if (c->reported[chan->side])
		return;
	c->reported[chan->side] = true;
	eng_on_connected(&sl->link, eng_peer_of(chan), c->param[1],
			 chan->side ? 0 : c->param_len[1]);
}

/* Returns true when the channel is gone. */
static bool cm_refused(struct sim_link *sl, struct chan *chan)
{
	struct conn *c = chan->conn;
	struct eng_peer *peer = eng_peer_of(chan);
	uint8_t param[256];
	size_t len = c->param_len[1];

	memcpy(param, c->param[1], len);
	sim_chan_fail(sl, chan, -FI_ECONNREFUSED);
	eng_on_refused(&sl->link, peer, FI_ECONNREFUSED, param, len);
	return true;
}

bool sim_cm_poll(struct sim_link *sl, struct chan *chan)
{
	struct conn *c = chan->conn;
	struct sim_link *to;

	switch (c->cm) {
	case ASKED:
		to = sim_find(&c->addr[1]);
		return to && to->listening ? true : cm_refused(sl, chan);
	case REFUSED:
		return cm_refused(sl, chan);
	case ACCEPTED:
	case UP:
		report_connected(sl, chan);
		c->cm = UP;
		return false;
	default:
		return true;
	}
}

int sim_cm_listen(struct eng_link *link, int backlog)
{
	sim_link_of(link)->listening = true;
	return 0;
}

int sim_cm_connect(struct eng_link *link, struct eng_peer *peer, const void *addr,
		   size_t addrlen, const void *param, size_t paramlen)
{
	struct sim_link *sl = sim_link_of(link);
	struct conn *c = sim_conn_new(&sl->addr, addr);

	c->msg = true;
	c->cm = ASKED;
	sim_copy(c->param[0], param, paramlen);
	c->param_len[0] = paramlen;
	sim_join(c, 0, sl, sim_chan_of(peer));
	return 0;
}

static void answer_yes(struct conn *c, struct eng_link *link, struct eng_peer *peer, const void *param,
		       size_t paramlen)
{
	sim_copy(c->param[1], param, paramlen);
	c->param_len[1] = paramlen;
	c->cm = ACCEPTED;
	sim_join(c, 1, sim_link_of(link), sim_chan_of(peer));
}

static void answer_no(struct conn *c, const void *param, size_t paramlen)
{
	sim_copy(c->param[1], param, paramlen);
	c->param_len[1] = paramlen;
	c->cm = REFUSED;
	c->gone[1] = true;
	if (!c->end[0])
		sim_conn_free(c);
}

int sim_cm_answer(struct eng_link *link, struct eng_peer *peer, void *req, const void *param,
		  size_t paramlen)
{
	if (peer)
		answer_yes(req, link, peer, param, paramlen);
	else
		answer_no(req, param, paramlen);
	return 0;
}

int sim_cm_shutdown(struct eng_link *link, struct eng_peer *peer)
{
	struct chan *chan = sim_chan_of(peer);

	if (!chan->conn)
		return -FI_ENOTCONN;
	chan->shut = true;
	return 0;
}

int sim_cm_getpeer(struct eng_peer *peer, void *addr, size_t *len)
{
	struct chan *chan = sim_chan_of(peer);
	size_t room = *len;

	*len = sizeof(struct sockaddr_in);
	sim_copy(addr, &chan->conn->addr[!chan->side], room < *len ? room : *len);
	return room < *len ? -FI_ETOOSMALL : 0;
}
