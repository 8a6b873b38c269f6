/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/serve.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/iov.h"
#include "engine/dev.h"
#include "engine/flow.h"

/* Memory for a request, and for its answer. */
#define SERVE_COST (sizeof(struct eng_serve) + sizeof(struct eng_out))

/*
 * A request of a peer is checked in whole before a byte of it is moved: all ranges are entered
 * (obj_mr_enter), which pins the regions.  What completes at once needs no struct eng_serve;
 * one is made for payload that is still in flight and for reads.  A pinned region cannot be
 * closed: eng_serve_revoke() stops what pins it, and cuts a peer off that does not move.
 *
 * All memory for the answer is taken first, too.  Without it the packet stays with the link
 * (ENG_RX_LATER) and is offered again, unchanged.
 */
#define READS_GOING_MAX 16	/* reads of one peer whose payload is with the link */
#define COPIED_MAX 65536	/* bytes of payload that a link copies into buffers of its own, at most */
#define SHORT_MAX 512	/* bytes of a write that are copied under the lock of the regions */

/* ---- common ----------------------------------------------------------------- */

struct eng_serve *eng_serve_get(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_serve *sv = pool_get(&peer->ep->grp->serves);

	if (!sv)
		return NULL;
	sv->peer = peer;
	sv->msg = *msg;
	sv->ctl = NULL;
	sv->amo = NULL;
	sv->bounce = NULL;
	sv->uses.cnt = 0;
	sv->sink.dev = NULL;
	list_init(&sv->live);
	sv->shared = false;
	sv->name = (struct eng_name) { .peer = peer, .kind = ENG_NAME_SERVE };
	sv->sink.name = (struct eng_name) { .peer = peer, .kind = ENG_NAME_SINK };
	list_init(&sv->node);
	eng_peer_ref(peer);
	eng_flow_charge(peer, SERVE_COST);
	return sv;
}

void eng_serve_touch(struct eng_serve *sv, const struct eng_uses *uses)
{
	sv->uses = *uses;
	sv->mark = SIZE_MAX;
	if (uses->cnt)
		list_add_tail(&sv->live, &sv->peer->ep->grp->serving);
}

void eng_serve_untouch(struct eng_serve *sv)
{
	eng_uses_leave(&sv->uses);
	list_del(&sv->live);
}

void eng_serve_put(struct eng_serve *sv)
{
	struct eng_peer *peer = sv->peer;
	struct eng_grp *grp = peer->ep->grp;

	if (sv->ctl)
		eng_ctl_put(sv->ctl);
	if (sv->amo)
		pool_put(&grp->amos, sv->amo);
	if (sv->sink.dev)
		eng_dev_put(sv->sink.dev);
	eng_name_drop(grp, &sv->name);
	eng_name_drop(grp, &sv->sink.name);
	free(sv->bounce);
	eng_serve_untouch(sv);
	list_del(&sv->node);
	pool_put(&grp->serves, sv);
	eng_flow_release(peer, SERVE_COST);
	eng_peer_unref(peer);
}

static void log_refusal(struct eng_peer *peer, const struct wire_msg *msg, int err)
{
	char text[ENG_PEER_TEXT];

	ENG_WARN(peer->ep, "%s: %s of remote key 0x%llx at 0x%llx, %llu bytes, is refused: %s\n",
		 eng_peer_text(peer, text), wire_op_name(msg->op),
		 (unsigned long long) msg->rma[0].key, (unsigned long long) msg->rma[0].addr,
		 (unsigned long long) msg->len, hmem_strerror(err) ? hmem_strerror(err) :
		 fi_strerror(-err));
}

/* The peer gets a NACK with the cause; its connection lives on. */
enum eng_rx_verdict eng_serve_refuse(struct eng_peer *peer, const struct wire_msg *msg, int err)
{
	struct eng_out *ctl = eng_ctl_get(peer->ep->grp);

	if (!ctl)
		return ENG_RX_LATER;
	eng_serve_failed(peer, msg, err, ctl);
	return ENG_RX_DONE;
}

void eng_serve_failed(struct eng_peer *peer, const struct wire_msg *msg, int err,
		      struct eng_out *ctl)
{
	if (!ctl)
		ctl = eng_ctl_get(peer->ep->grp);
	log_refusal(peer, msg, err);
	if (ctl)
		eng_ctl_send(ctl, peer, WIRE_NACK, 0, msg->id, 0, (uint32_t) -hmem_errno(err));
}

static int range_enter(struct eng_peer *peer, const struct wire_msg *msg, const struct wire_rma *r,
		       uint64_t len, uint64_t access, struct iovec *iov, size_t *cnt_p,
		       struct obj_mr_use *use)
{
	return obj_mr_enter(peer->ep->base.domain, &eng_ep_rx(peer->ep, msg->ctx)->base, r->key,
			    r->addr, len, access, iov, cnt_p, use);
}

/* All ranges may be accessed; how many pieces of memory are they?
 * @uses: [out] on 0 the caller leaves them
 */
static int ranges_enter(struct eng_peer *peer, const struct wire_msg *msg, uint64_t access,
			struct iovec *iov, size_t room, size_t *cnt_p, struct eng_uses *uses)
{
	struct iovec part[OBJ_MR_IOV_MAX];
	size_t i, j, cnt;
	int ret;

	*cnt_p = 0;
	uses->cnt = 0;
	for (i = 0; i < msg->rma_cnt; i++) {
		ret = range_enter(peer, msg, &msg->rma[i], msg->rma[i].len, access, part, &cnt,
				  &uses->use[i]);
		if (ret) {
			eng_uses_leave(uses);
			return ret;
		}
		uses->cnt++;
		for (j = 0; j < cnt; j++, ++*cnt_p)
			if (*cnt_p < room)
				iov[*cnt_p] = part[j];
	}
	return 0;
}

/* serve_grant - let the peer make its next access natively, without our progress. */
static void serve_grant(struct eng_peer *peer, const struct wire_msg *msg)
{
	const struct eng_link_ops *ops = peer->ops;

	if (ops->native && msg->rma_cnt == 1 && msg->len)
		ops->native->grant(peer->link, peer, msg->rma[0].key);
}

/* count_remote - one operation moves a counter once, even if it is bound for both. */
static void count_remote(struct obj_ep *ep, uint64_t access, uint64_t len)
{
	struct obj_cntr *write = access & FI_REMOTE_WRITE ? ep->cntrs[OBJ_CNTR_REMOTE_WRITE] : NULL;
	struct obj_cntr *read = access & FI_REMOTE_READ ? ep->cntrs[OBJ_CNTR_REMOTE_READ] : NULL;

	if (write)
		obj_cntr_inc(write, len);
	if (read && read != write)
		obj_cntr_inc(read, len);
}

void eng_serve_events(struct eng_peer *peer, const struct wire_msg *msg, uint64_t access,
		      uint64_t op_flag, uint64_t len)
{
	struct obj_ep *base = &eng_ep_rx(peer->ep, msg->ctx)->base;
	struct iovec iov[OBJ_MR_IOV_MAX];
	struct obj_mr_use use;
	size_t i, cnt;

	/* A counter is looked up when it is bumped: its region may have gone. */
	for (i = 0; i < msg->rma_cnt && (access & FI_REMOTE_WRITE); i++) {
		if (!obj_mr_counts(base->domain, msg->rma[i].key) ||
		    range_enter(peer, msg, &msg->rma[i], 0, FI_REMOTE_WRITE, iov, &cnt, &use))
			continue;
		if (use.mr->cntr)
			obj_cntr_inc(use.mr->cntr, len);
		obj_mr_leave(&use);
	}
	if (msg->flags & WIRE_F_DATA)
		obj_ep_comp_rx(base, base->rx_cq != NULL, NULL,
			       op_flag | access | FI_REMOTE_CQ_DATA, len, NULL, msg->data, 0,
			       peer->ep->source ? eng_peer_fi_addr(peer) : FI_ADDR_NOTAVAIL,
			       OBJ_CNTR_NONE);
	count_remote(base, access, len);
}

void eng_on_written(struct eng_link *link, struct eng_peer *peer, uint64_t len, uint64_t data)
{
	struct obj_ep *base = &eng_ep_rx(link->ep, 0)->base;
	bool source = peer && peer->ep->source;

	obj_ep_comp_rx(base, base->rx_cq != NULL, NULL,
		       FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, len, NULL, data, 0,
		       source ? eng_peer_fi_addr(peer) : FI_ADDR_NOTAVAIL, OBJ_CNTR_NONE);
	obj_ep_count(base, OBJ_CNTR_REMOTE_WRITE, len);
}

/* ---- writes ----------------------------------------------------------------- */

void eng_serve_written(struct eng_peer *peer, const struct wire_msg *msg, struct eng_out *ack)
{
	if (!(msg->flags & WIRE_F_LAST))
		return;
	eng_serve_events(peer, msg, FI_REMOTE_WRITE, FI_RMA, msg->total);
	if (ack)
		eng_ctl_send(ack, peer, WIRE_ACK, WIRE_F_DELIVERED, msg->id, 0, 0);
}

/* A piece is here, but its region has gone: the others are passed over. */
static void give_up(struct eng_peer *peer, const struct wire_msg *msg, int err,
		    struct eng_out *ctl)
{
	eng_serve_failed(peer, msg, err, ctl);
	if (!(msg->flags & WIRE_F_LAST))
		peer->refused = msg->id;
}

bool eng_serve_on_device(const struct eng_uses *uses)
{
	unsigned i;

	for (i = 0; i < uses->cnt; i++)
		if (uses->use[i].mr->loc.iface != FI_HMEM_SYSTEM)
			return true;
	return false;
}

static int region_put(struct obj_mr *mr, const struct iovec *iov, size_t cnt, const uint8_t *data,
		      size_t len)
{
	struct obj_mr *mrs[OBJ_MR_IOV_MAX];

	if (mr->loc.iface == FI_HMEM_SYSTEM) {
		iov_scatter(iov, cnt, 0, data, len);
		return 0;
	}
	eng_dev_name_all(mrs, mr, cnt);
	return obj_mr_scatter(&(struct obj_mr_list) { iov, mrs, cnt }, 0, data, len);
}

/* Copy a payload that is here in whole, range by range.  Errors: a region has gone, the
 * device's.
 */
static int serve_scatter(struct eng_peer *peer, const struct wire_msg *msg, const uint8_t *data)
{
	struct iovec iov[OBJ_MR_IOV_MAX];
	struct obj_mr_use use;
	size_t i, cnt;
	int ret;

	for (i = 0; i < msg->rma_cnt; i++) {
		const struct wire_rma *r = &msg->rma[i];

		ret = range_enter(peer, msg, r, r->len, FI_REMOTE_WRITE, iov, &cnt, &use);
		if (ret)
			return ret;
		ret = region_put(use.mr, iov, cnt, data, r->len);
		obj_mr_leave(&use);
		if (ret)
			return ret;
		data += r->len;
	}
	return 0;
}

/* The link has placed the payload.  One that went to a bounce buffer, because its ranges have
 * too many pieces, is copied now; its regions were not pinned meanwhile and may have gone.
 */
static void on_write_sunk(struct eng_sink *sink, int status)
{
	struct eng_serve *sv = container_of(sink, struct eng_serve, sink);
	int ret = 0;

	if (!status) {
		if (sv->bounce)
			ret = serve_scatter(sv->peer, &sv->msg, sv->bounce);
		eng_serve_untouch(sv);
		if (ret)
			give_up(sv->peer, &sv->msg, ret, sv->ctl);
		else
			eng_serve_written(sv->peer, &sv->msg, sv->ctl);
		sv->ctl = NULL;
	} else if (status == -FI_EFAULT) {
		eng_serve_untouch(sv);
		give_up(sv->peer, &sv->msg, status, sv->ctl);
		sv->ctl = NULL;
	}
	eng_serve_put(sv);
}

/* The rest of the payload is still in flight. */
static enum eng_rx_verdict place_write(struct eng_peer *peer, struct eng_rx *rx,
				       const struct wire_msg *msg, size_t cnt,
				       struct eng_uses *uses, struct eng_out *ack)
{
	struct eng_serve *sv = eng_serve_get(peer, msg);

	if (!sv)
		return ENG_RX_LATER;
	rx->iov_cnt = cnt;
	if (cnt > ENG_IOV_MAX || eng_serve_on_device(uses)) {
		sv->bounce = malloc(rx->len);
		if (!sv->bounce) {
			eng_serve_put(sv);
			return ENG_RX_LATER;
		}
		rx->iov[0] = (struct iovec) { sv->bounce, rx->len };
		rx->iov_cnt = 1;
	} else {
		eng_serve_touch(sv, uses);
		uses->cnt = 0;
	}
	sv->ctl = ack;
	sv->sink.done = on_write_sunk;
	eng_sink_expect(&sv->sink);
	rx->cookie = &sv->sink;
	return ENG_RX_PLACE;
}

/* A write of which a piece was refused: the others are passed over. */
static bool pass_over(struct eng_peer *peer, const struct wire_msg *msg)
{
	if (!peer->refused || peer->refused != msg->id)
		return false;
	if (msg->flags & WIRE_F_LAST)
		peer->refused = 0;
	return true;
}

/* The write may be done: here and now, or as its payload comes in. */
static enum eng_rx_verdict take_write(struct eng_peer *peer, struct eng_rx *rx,
				      const struct wire_msg *msg, size_t cnt,
				      struct eng_uses *uses)
{
	struct eng_out *ack = NULL;
	enum eng_rx_verdict verdict;
	int ret = 0;

	if (msg->flags & WIRE_F_DELIVERED) {
		ack = eng_ctl_get(peer->ep->grp);
		if (!ack)
			return ENG_RX_LATER;
	}
	if (rx->avail < rx->len) {
		verdict = place_write(peer, rx, msg, cnt, uses, ack);
		if (verdict == ENG_RX_LATER && ack)
			eng_ctl_put(ack);
		return verdict;
	}
	if (cnt <= ENG_IOV_MAX && !eng_serve_on_device(uses))
		iov_scatter(rx->iov, cnt, 0, rx->data, rx->len);
	else
		ret = serve_scatter(peer, msg, rx->data);
	if (ret)
		give_up(peer, msg, ret, ack);
	else
		eng_serve_written(peer, msg, ack);
	return ENG_RX_DONE;
}

/* write_short - a write whose payload is here, to one place, without an answer.  False: it is done in
 * the usual way.
 */
static bool write_short(struct eng_peer *peer, const struct eng_rx *rx, const struct wire_msg *msg)
{
	if (rx->len > SHORT_MAX || rx->avail < rx->len || msg->rma_cnt != 1 ||
	    msg->rma[0].len != rx->len || msg->flags & (WIRE_F_DELIVERED | WIRE_F_ANNOUNCED) ||
	    !obj_mr_put(peer->ep->base.domain, &eng_ep_rx(peer->ep, msg->ctx)->base, msg->rma[0].key,
			msg->rma[0].addr, rx->data, rx->len))
		return false;
	serve_grant(peer, msg);
	eng_serve_written(peer, msg, NULL);
	return true;
}

enum eng_rx_verdict eng_serve_write(struct eng_peer *peer, struct eng_rx *rx,
				    const struct wire_msg *msg, const char **why_p)
{
	enum eng_rx_verdict verdict;
	struct eng_uses uses;
	size_t cnt;
	int ret;

	*why_p = NULL;
	if (pass_over(peer, msg) || write_short(peer, rx, msg))
		return ENG_RX_DONE;
	ret = ranges_enter(peer, msg, FI_REMOTE_WRITE, rx->iov, ENG_IOV_MAX, &cnt, &uses);
	if (ret) {
		verdict = eng_serve_refuse(peer, msg, ret);
		if (verdict == ENG_RX_DONE && !(msg->flags & WIRE_F_LAST))
			peer->refused = msg->id;
		return verdict;
	}
	serve_grant(peer, msg);
	verdict = __builtin_expect(msg->flags & WIRE_F_ANNOUNCED, 0) ?
		  eng_serve_announced(peer, rx, msg, cnt, &uses) :
		  take_write(peer, rx, msg, cnt, &uses);
	eng_uses_leave(&uses);
	return verdict;
}

/* ---- reads ------------------------------------------------------------------ */

/* All ranges are sent (err 0), or one is refused: the peer gets a NACK instead of the rest. */
static void read_end(struct eng_serve *sv)
{
	struct eng_peer *peer = sv->peer;

	if (!sv->err)
		eng_serve_events(peer, &sv->msg, FI_REMOTE_READ, FI_RMA, sv->msg.len);
	else if (sv->ctl)
		eng_ctl_send(sv->ctl, peer, WIRE_NACK, 0, sv->msg.id, 0,
			     (uint32_t) -hmem_errno(sv->err));
	if (sv->err)
		sv->ctl = NULL;
	eng_serve_put(sv);
}

void eng_serve_range_done(struct eng_serve *sv, int status)
{
	struct eng_peer *peer = sv->peer;

	eng_serve_untouch(sv);
	sv->going = false;
	sv->done += sv->pump.want;
	sv->range++;
	if (status <= -HMEM_ERR_BASE && !sv->err) {
		sv->err = status;
		log_refusal(peer, &sv->msg, status);
	} else if (status && !sv->err) {
		/* The peer is gone: no answer. */
		sv->err = status;
		if (sv->ctl)
			eng_ctl_put(sv->ctl);
		sv->ctl = NULL;
	}
	if (!sv->running)
		eng_serve_next(peer);
}

/* A range is with the peer, or its connection is lost, or its region closes. */
static void on_range_pumped(struct eng_pump *pump, int status)
{
	eng_serve_range_done(container_of(pump, struct eng_serve, pump), status);
}

/* begin_range - of a read.  False: there is none, or it is refused. */
static bool begin_range(struct eng_serve *sv)
{
	struct eng_uses uses = { .cnt = 1 };
	const struct wire_rma *r;
	size_t cnt;

	while (!sv->err && sv->range < sv->msg.rma_cnt && !sv->msg.rma[sv->range].len)
		sv->range++;
	if (sv->err || sv->range == sv->msg.rma_cnt)
		return false;
	r = &sv->msg.rma[sv->range];
	sv->err = range_enter(sv->peer, &sv->msg, r, r->len, FI_REMOTE_READ, sv->iov, &cnt,
			      &uses.use[0]);
	if (sv->err)
		return false;
	eng_serve_touch(sv, &uses);
	sv->pump.peer = sv->peer;
	sv->pump.grp = sv->peer->ep->grp;
	sv->pump.iov = sv->iov;
	sv->pump.iov_cnt = (uint16_t) cnt;
	sv->pump.rx_id = sv->msg.id;
	sv->pump.base = sv->done;
	sv->pump.want = r->len;
	sv->pump.mrs = NULL;
	if (__builtin_expect(eng_serve_on_device(&uses), 0)) {
		eng_dev_name_all(sv->mrs, uses.use[0].mr, cnt);
		sv->pump.mrs = sv->mrs;
	}
	sv->pump.done = on_range_pumped;
	sv->going = true;
	if (__builtin_expect(sv->msg.flags & WIRE_F_SHARE, 0) && eng_serve_share(sv))
		return true;
	sv->running = true;
	eng_pump_start(&sv->pump);
	sv->running = false;
	return true;
}

/* is_out - is all of the payload with the link? */
static bool is_out(const struct eng_serve *sv)
{
	return !sv->running && !sv->shared && !sv->err && sv->range + 1 == sv->msg.rma_cnt &&
	       sv->pump.off == sv->pump.want;
}

/* may_copy - a link may copy the payload at once, where it takes longer payload from memory later. */
static bool may_copy(const struct eng_serve *sv)
{
	return sv->msg.len <= COPIED_MAX;
}

/* next_read - the read that may go on now: the first one that waits, if those before it are out and
 * not too many.  One whose payload may be copied waits for the end of those whose payload is not: it
 * would return what is older.  NULL: none.
 */
static struct eng_serve *next_read(const struct eng_peer *peer)
{
	struct eng_serve *sv;
	unsigned going = 0;
	bool later = false;

	list_for_each_entry(sv, &peer->serves, node) {
		if (!sv->going)
			return sv->running || (later && may_copy(sv)) ? NULL : sv;
		if (!is_out(sv) || ++going == READS_GOING_MAX)
			return NULL;
		later |= !may_copy(sv);
	}
	return NULL;
}

void eng_serve_next(struct eng_peer *peer)
{
	struct eng_serve *sv;

	while ((sv = next_read(peer)))
		if (!begin_range(sv))
			read_end(sv);
}

/* Reads of a peer begin in the order of their arrival; one that waits pins no region and is checked
 * again when it begins.
 */
enum eng_rx_verdict eng_serve_read(struct eng_peer *peer, const struct wire_msg *msg,
				   const char **why_p)
{
	struct eng_out *ctl;
	struct eng_serve *sv;
	struct eng_uses uses;
	size_t cnt;
	int ret;

	*why_p = NULL;
	ret = ranges_enter(peer, msg, FI_REMOTE_READ, NULL, 0, &cnt, &uses);
	if (ret)
		return eng_serve_refuse(peer, msg, ret);
	eng_uses_leave(&uses);	/* until the requests before it are served */
	serve_grant(peer, msg);
	ctl = eng_ctl_get(peer->ep->grp);
	if (!ctl)
		return ENG_RX_LATER;
	if (!msg->len) {
		eng_serve_events(peer, msg, FI_REMOTE_READ, FI_RMA, 0);
		eng_ctl_send(ctl, peer, WIRE_ACK, WIRE_F_DELIVERED, msg->id, 0, 0);
		return ENG_RX_DONE;
	}
	sv = eng_serve_get(peer, msg);
	if (!sv) {
		eng_ctl_put(ctl);
		return ENG_RX_LATER;
	}
	sv->ctl = ctl;
	sv->done = 0;
	sv->range = 0;
	sv->err = 0;
	sv->going = false;
	sv->running = false;
	list_add_tail(&sv->node, &peer->serves);
	eng_serve_next(peer);
	return ENG_RX_DONE;
}

void eng_serve_fail_all(struct eng_peer *peer)
{
	struct eng_serve *sv, *tmp;

	eng_serve_fail_announced(peer);
	list_for_each_entry_safe(sv, tmp, &peer->serves, node)
		if (!sv->going)
			eng_serve_put(sv);
	list_for_each_entry_safe(sv, tmp, &peer->serves, node) {
		if (sv->shared)
			eng_serve_unshare(sv);
		else
			eng_pump_stop(&sv->pump, -FI_ECONNRESET);
	}
}

/* ---- regions that close ----------------------------------------------------- */

static bool serve_touches(const struct eng_serve *sv, const struct obj_mr *mr, unsigned phases)
{
	unsigned i;

	for (i = 0; i < sv->uses.cnt; i++)
		if (sv->uses.use[i].mr == mr && phases & 1u << sv->uses.use[i].phase)
			return true;
	return false;
}

static bool is_read(const struct eng_serve *sv)
{
	return sv->msg.op == WIRE_READ;
}

/* How far it is: a number that grows when something moves. */
static size_t serve_position(const struct eng_serve *sv)
{
	if (sv->sink.name.id)
		return sv->sink.got;
	return is_read(sv) && !sv->shared ? sv->pump.off + ENG_PUMP_PIECES - sv->pump.pieces : 0;
}

/* One that has not moved since it was marked, or NULL. */
static struct eng_serve *serve_stuck(struct eng_grp *grp, const struct obj_mr *mr, unsigned phases)
{
	struct eng_serve *sv;

	list_for_each_entry(sv, &grp->serving, live)
		if (serve_touches(sv, mr, phases) && sv->mark == serve_position(sv) &&
		    !(sv->peer->slow & (ENG_PEER_IDLE | ENG_PEER_CLOSED)))
			return sv;
	return NULL;
}

static void serve_cut(struct eng_serve *sv)
{
	struct eng_peer *peer = sv->peer;
	char text[ENG_PEER_TEXT];

	ENG_WARN(peer->ep, "%s: a region closes or changes while this peer's %s keeps it busy and "
		 "does not move; the connection is given up\n", eng_peer_text(peer, text),
		 wire_op_name(sv->msg.op));
	eng_peer_cut(peer, FI_ECONNABORTED);
}

void eng_serve_revoke(struct eng_grp *grp, const struct obj_mr *mr, unsigned phases,
		      enum obj_revoke how)
{
	struct eng_serve *sv, *next;

	while (how == OBJ_REVOKE_CUT && (sv = serve_stuck(grp, mr, phases)))
		serve_cut(sv);
	list_for_each_entry_safe(sv, next, &grp->serving, live) {
		if (!serve_touches(sv, mr, phases))
			continue;
		sv->mark = serve_position(sv);
		if (how != OBJ_REVOKE_STOP || !is_read(sv) || sv->shared)
			continue;
		sv->err = -FI_ENOKEY;
		eng_pump_stop(&sv->pump, -FI_ENOKEY);
	}
}
