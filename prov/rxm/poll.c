/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The poller: one per progress group, for all its links.  Each poll reads the completion
 * queues below and now and then the event queues, then continues what waits: messages to
 * be sent, RDMA, frames that the engine had no memory for, failures to be reported.
 */
#include <rdma/fi_errno.h>

#include "conn.h"

/* An event queue is read at this distance at most: each read may be a system call. */
#define EQ_POLLS 32u			/* polls */
#define EQ_NS CLOCK_NS_PER_MS		/* time, for a program that polls rarely */
#define RETRY_NS (CLOCK_NS_PER_MS / 10)	/* a full queue below is tried again */

static struct rxm_poller *poller_of(struct obj_poller *base)
{
	return container_of(base, struct rxm_poller, chan.base);
}

/* ---- completions below ----------------------------------------------------------------- */

static void op_complete(struct rxm_op *op, size_t len, int err)
{
	struct rxm_ep *ep = op->ep;

	switch (op->kind) {
	case RXMF_OP_RECV:
		if (!err)
			rxm_on_message(container_of(op, struct rxm_rx_buf, op), len);
		break;
	case RXMF_OP_SEND:
		rxm_ep_sent(container_of(op, struct rxm_tx_buf, op));
		break;
	case RXMF_OP_RMA:
		rxm_on_rma(op, err);
		return;
	}
	if (err && ep->conn && err != FI_ECANCELED)
		rxm_conn_fail(ep->conn, err);
}

/* region_written - a peer has written to a region of the program, with data.  Where that takes a receive buffer
 * the buffer says who it is.
 */
static void region_written(struct rxm_dom *dom, const struct fi_cq_data_entry *entry)
{
	struct rxm_op *op = entry->op_context;
	struct rxm_conn *conn = op ? op->ep->conn : NULL;
	struct rxm_link *link;

	if (conn && !conn->chan.failed)
		rxm_on_written(container_of(op, struct rxm_rx_buf, op), entry->len, entry->data);
	if (op || list_empty(&dom->links))
		return;
	link = container_of(dom->links.next, struct rxm_link, dom_node);
	eng_on_written(&link->chan.base, NULL, entry->len, entry->data);
}

/* complete_error - read one error entry.  Returns false if there is none. */
static bool complete_error(struct rxm_dom *dom)
{
	struct fi_cq_err_entry err = { 0 };

	if (fi_cq_readerr(dom->cq, &err, 0) != 1)
		return false;
	if (err.op_context)
		op_complete(err.op_context, 0, err.err ? err.err : FI_EIO);
	return true;
}

static unsigned read_cq(struct rxm_dom *dom, unsigned budget)
{
	struct fi_cq_data_entry entry[OBJ_POLL_BUDGET];
	unsigned done = 0;
	ssize_t got, i;

	do {
		got = fi_cq_read(dom->cq, entry, OBJ_POLL_BUDGET);
		if (got == -FI_EAVAIL)
			got = complete_error(dom) ? 0 : -FI_EAGAIN;
		for (i = 0; i < got; i++)
			if (__builtin_expect(entry[i].flags & FI_REMOTE_WRITE, 0))
				region_written(dom, &entry[i]);
			else
				op_complete(entry[i].op_context, entry[i].len, 0);
		done += got > 0 ? (unsigned) got : !got;
	} while (got >= 0 && done < budget);
	if (got < 0)
		rxm_dom_reap(dom);
	return done;
}

/* ---- events below ------------------------------------------------------------------------ */

/* An event, with as much private data as one can have. */
union event {
	struct fi_eq_cm_entry cm;
	char room[sizeof(struct fi_eq_cm_entry) + 512];
};

static void on_error(struct rxm_dom *dom)
{
	char data[512];
	struct fi_eq_err_entry err = { .err_data = data, .err_data_size = sizeof(data) };
	struct rxm_ep *ep;

	if (fi_eq_readerr(dom->eq, &err, 0) < 0)
		return;
	ep = hmap_find(&dom->fids, (uintptr_t) err.fid);
	if (ep && ep->conn)
		rxm_on_refused(ep, err.err, err.err_data, err.err_data_size);
}

static void on_event(struct rxm_dom *dom, uint32_t event, union event *ev, size_t len)
{
	void *owner = hmap_find(&dom->fids, (uintptr_t) ev->cm.fid);
	size_t size = len > sizeof(ev->cm) ? len - sizeof(ev->cm) : 0;

	if (event == FI_CONNREQ) {
		if (owner)
			rxm_on_connreq(owner, ev->cm.info, ev->cm.data, size);
		fi_freeinfo(ev->cm.info);
		return;
	}
	if (!owner)
		return;		/* closed since */
	if (event == FI_CONNECTED) {
		rxm_on_connected(owner, ev->cm.data, size);
	} else if (event == FI_SHUTDOWN) {
		/* what the peer sent before it closed comes first */
		while (read_cq(dom, UINT32_MAX))
			;
		if (hmap_find(&dom->fids, (uintptr_t) ev->cm.fid) == owner)
			rxm_on_ended(owner);
	}
}

static unsigned read_eq(struct rxm_dom *dom)
{
	union event ev;
	unsigned done = 0;
	uint32_t event;
	ssize_t len;

	do {
		len = fi_eq_read(dom->eq, &event, &ev, sizeof(ev), 0);
		if (len == -FI_EAVAIL)
			on_error(dom);
		else if (len >= (ssize_t) sizeof(ev.cm))
			on_event(dom, event, &ev, (size_t) len);
		done += len >= 0 || len == -FI_EAVAIL;
	} while (len >= 0 || len == -FI_EAVAIL);
	return done;
}

/* eq_is_due - events are awaited while a timer is set (a connection is being made); else the
 * queue is read when poller_arm() was told of an event, or now and then.
 */
static bool eq_is_due(const struct rxm_poller *poller, struct rxm_dom *dom)
{
	uint64_t now = clock_coarse_ns();

	if (++dom->eq_polls < EQ_POLLS && now < dom->eq_due_ns &&
	    timers_next(&poller->chan.timers) == UINT64_MAX)
		return false;
	dom->eq_polls = 0;
	dom->eq_due_ns = now + EQ_NS;
	return true;
}

static int read_queues(struct rxm_poller *poller, unsigned budget)
{
	struct rxm_dom *dom;
	unsigned done = 0;

	list_for_each_entry(dom, &poller->doms, base.node) {
		done += read_cq(dom, budget);
		if (eq_is_due(poller, dom))
			done += read_eq(dom);
	}
	return (int) done;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int push_conn(struct list *item)
{
	struct rxm_conn *conn = container_of(item, struct rxm_conn, dirty_node);
	struct rxm_poller *poller = rxm_conn_poller(conn);

	if (!conn->chan.conn)
		return 0;
	if (rxm_tx_push(conn)) {
		poller->blocked = true;
		rxm_conn_dirty(conn);
	} else if (!poller->chan.polling && rxm_tx_waits(conn)) {
		rxm_conn_dirty(conn);	/* packets that wait are sent by poll() */
	}
	return 0;
}

static void push_waiting(struct rxm_poller *poller)
{
	poller->blocked = false;
	chan_poller_drain(&poller->chan.dirty, push_conn);
	if (list_empty(&poller->chan.dirty))
		obj_prog_unstaged(poller->chan.base.prog);
}

static int resume_conn(struct list *item)
{
	rxm_rx_run(container_of(item, struct rxm_conn, work_node));
	return 1;
}

static int report_conn(struct list *item)
{
	rxm_conn_report(container_of(item, struct rxm_conn, work_node));
	return 1;
}

static bool has_chores(const struct rxm_poller *poller)
{
	return poller->chan.timers.cnt || !list_empty(&poller->chan.dirty) ||
	       !list_empty(&poller->rmas) || !list_empty(&poller->chan.paused) ||
	       !list_empty(&poller->chan.failed);
}

/* look_all - at all that has arrived, for a timer that is due.  The provider below may leave a part for
 * its next poll: it says so when it is asked whether a thread may sleep.
 */
static bool look_all(struct chan_poller *base, int *done_p)
{
	struct rxm_poller *poller = container_of(base, struct rxm_poller, chan);
	struct rxm_dom *dom;
	bool all = true;
	int done;

	list_for_each_entry(dom, &poller->doms, base.node)
		all &= !rxm_dom_arm(dom);
	done = read_queues(poller, OBJ_POLL_BUDGET);
	*done_p += done;
	return all && !done;
}

/* do_chores - what does not begin with a completion or an event. */
static int do_chores(struct rxm_poller *poller)
{
	int done = 0;

	if (poller->chan.timers.cnt)
		done += chan_poller_timers(&poller->chan, look_all);
	done += chan_poller_drain(&poller->rmas, rxm_rma_continue);
	if (chan_poller_resumes(&poller->chan))
		done += chan_poller_drain(&poller->chan.paused, resume_conn);
	done += chan_poller_drain(&poller->chan.failed, report_conn);
	push_waiting(poller);
	poller->chan.chores = has_chores(poller);
	return done;
}

/* push_out - what this poll has sent, and the provider below has collected: the program may have been told of
 * it, and make no other poll.
 */
static __attribute__((noinline)) int push_out(struct rxm_poller *poller, unsigned budget)
{
	struct rxm_dom *dom;
	bool stages = false;
	int done;

	poller->posted = false;
	if (list_empty(&poller->chan.dirty))
		obj_prog_unstaged(poller->chan.base.prog);
	list_for_each_entry(dom, &poller->doms, base.node)
		stages |= rxm_dom_stages(dom);
	if (!stages)
		return 0;
	done = read_queues(poller, budget);
	if (poller->posted)
		obj_prog_staged(poller->chan.base.prog);
	return done;
}

static int poll_all(struct obj_poller *base, unsigned budget)
{
	struct rxm_poller *poller = poller_of(base);
	int done;

	chan_poller_begin(&poller->chan);
	if (!list_empty(&poller->chan.dirty))
		push_waiting(poller);
	done = read_queues(poller, budget);
	if (poller->chan.chores)
		done += do_chores(poller);
	if (__builtin_expect(poller->stall_due_ns != UINT64_MAX, 0) && clock_coarse_ns() >= poller->stall_due_ns)
		rxm_tx_stalls(poller);
	if (poller->posted)
		done += push_out(poller, budget);
	poller->chan.polling = false;
	return done;
}

static int poller_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct rxm_poller *poller = poller_of(base);
	bool dirty = !list_empty(&poller->chan.dirty);
	uint64_t now = clock_ns();
	struct rxm_dom *dom;

	if (!list_empty(&poller->chan.failed) || (dirty && !poller->blocked))
		return -FI_EAGAIN;
	list_for_each_entry(dom, &poller->doms, base.node)
		if (rxm_dom_arm(dom))
			return -FI_EAGAIN;
	chan_poller_sleep(&poller->chan, deadline_ns);
	chan_poller_arm_paused(&poller->chan, now, deadline_ns);
	clock_earlier(deadline_ns, poller->stall_due_ns);
	if (dirty || !list_empty(&poller->rmas))
		clock_earlier(deadline_ns, now + RETRY_NS);
	return 0;
}

static void close_poller(struct obj_poller *base)
{
	chan_poller_free(&poller_of(base)->chan);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poll_all,
	.arm = poller_arm,
	.close = close_poller,
};

int rxm_poller_get(struct obj_prog *prog, struct rxm_poller **poller_p)
{
	struct chan_poller *chan;
	int ret = chan_poller_get(prog, &poller_ops, sizeof(struct rxm_poller), rxm_conf.prov, &chan);

	if (ret < 0)
		return ret;
	*poller_p = container_of(chan, struct rxm_poller, chan);
	if (ret) {
		list_init(&(*poller_p)->doms);
		list_init(&(*poller_p)->rmas);
		list_init(&(*poller_p)->starved);
		(*poller_p)->stall_due_ns = UINT64_MAX;
	}
	return 0;
}
