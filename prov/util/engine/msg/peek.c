/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * peek.c - look for a message without receiving it, keep it, or drop it.
 */
#include "engine/recv.h"

static void peek_report(const struct eng_recv *model, const struct eng_msg *msg)
{
	/* What lies in a shared context came by way of one of its endpoints. */
	struct eng_ep *ep = msg->peer->ep->srx ? msg->peer->ep : model->ep;
	uint64_t flags = model->cq_flags;
	bool want = obj_ep_want_rx_comp(&ep->base, model->asked ? FI_COMPLETION : 0);

	if (msg->env.flags & WIRE_F_DATA)
		flags |= FI_REMOTE_CQ_DATA;
	obj_ep_comp_rx(&ep->base, want, model->context, flags, msg->env.len,
		       NULL, msg->env.data, msg->env.tag,
		       ep->source ? eng_peer_fi_addr(msg->peer) : FI_ADDR_NOTAVAIL,
		       OBJ_CNTR_NONE);
}

static void report_none(const struct eng_recv *model)
{
	struct fi_cq_err_entry entry = obj_cq_err(model->context, model->cq_flags, FI_ENOMSG);

	entry.tag = model->m.tag;

	obj_ep_err_rx(&eng_srx_reporter(model->ep)->base, &entry, NULL, 0, OBJ_CNTR_NONE);
}

static struct match_msg *peek_find(struct eng_recv *model, struct match *m)
{
	struct match_msg *msg = match_find_msg(m, model->m.tag, model->m.ignore, model->m.src);

	if (msg)
		return msg;
	/* It may have arrived in all but name, or stand behind others. */
	model->rxc->sought = true;
	obj_prog_poll_locked(model->ep->base.prog);
	return match_find_msg(m, model->m.tag, model->m.ignore, model->m.src);
}

int eng_peek(struct eng_recv *model, struct match *m, uint64_t flags)
{
	struct match_msg *found = NULL;
	struct eng_msg *msg;
	int ret;

	if (flags & FI_PEEK) {
		found = peek_find(model, m);
		msg = found ? container_of(found, struct eng_msg, m) : NULL;
	} else {
		if (!(flags & FI_CLAIM))
			return -FI_EBADFLAGS;
		msg = eng_unexp_claimed(model->rxc, model->context);
		if (!msg)
			return -FI_EINVAL;
	}
	if (!msg) {
		report_none(model);
		return 0;
	}
	if (flags & FI_DISCARD) {
		struct eng_msg shown = *msg;

		ret = eng_unexp_discard(msg);
		if (!ret)
			peek_report(model, &shown);
		return ret;
	}
	peek_report(model, msg);
	if (flags & FI_CLAIM)
		eng_unexp_claim(msg, model->context);
	return 0;
}
