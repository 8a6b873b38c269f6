/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "dg.h"

#include <assert.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/iov.h"
#include "layer/getinfo.h"
#include "dom.h"
#include "conn.h"
#include "net/opt.h"

#define BURST 32			/* completions read at a time */
#define LONG_DGRAM 16384		/* fewer buffers are posted for such */
#define POSTED_LONG 32
#define POSTED 256
#define TRAIN_BUFS 2			/* multi-receive buffers for trains */
#define TRAIN_BUF_SIZE (4u * NET_TRAIN_MAX)
#define ROOM_UNKNOWN (1u << 20)

/* A posted receive: of one datagram, or of many. */
struct rxbuf {
	struct list node;	/* on port->unposted */
	struct port *port;
	uint8_t *data;
	size_t size;
};

struct port {
	struct rxd_dg dg;	/* first */
	struct fid_ep *ep;
	size_t inject_max;
	bool trains;		/* bursts are sent as one (GSO), and arrive in long buffers (GRO) */
	bool ect;		/* datagrams are sent as ECT(0) */
	bool reports_source;	/* completions have the source address */
	struct list unposted;
	struct rxbuf *bufs;
	uint8_t *mem;
	struct fid_mr *mem_mr;	/* NULL where the domain below wants none */
};

uint64_t rxd_dg_now(void)
{
	return clock_ns();
}

void rxd_dg_nap(uint64_t ns)
{
	nanosleep(&(struct timespec) { .tv_nsec = (long) ns }, NULL);
}

uint64_t rxd_dg_random(void)
{
	uint64_t bits;

	while (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
		;
	return bits;
}

static struct port *port_of(struct rxd_dg *dg)
{
	return container_of(dg, struct port, dg);
}

/* ---- opening ------------------------------------------------------------------------- */

static int buf_post(struct rxbuf *buf)
{
	struct port *port = buf->port;
	struct iovec iov = { buf->data, buf->size };
	void *desc = layer_desc(port->mem_mr);
	struct fi_msg msg = {
		.msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.context = buf,
	};

	return (int) fi_recvmsg(port->ep, &msg,
				FI_COMPLETION | (port->trains ? FI_MULTI_RECV : 0));
}

/* A provider below that has no room is asked again by the next poll, see repost_all(). */
static void post_or_keep(struct rxbuf *buf)
{
	if (buf_post(buf))
		list_add_tail(&buf->node, &buf->port->unposted);
}

/* One allocation and one registration for all buffers of an endpoint. */
static int make_buffers(struct port *port)
{
	unsigned cnt = port->dg.dgram_max > LONG_DGRAM ? POSTED_LONG : POSTED, i;
	size_t size = port->dg.dgram_max;
	int ret;

	if (port->trains) {
		cnt = TRAIN_BUFS;
		size = TRAIN_BUF_SIZE;
	}
	port->bufs = calloc(cnt, sizeof(*port->bufs));
	port->mem = malloc(cnt * size);
	if (!port->bufs || !port->mem)
		return -FI_ENOMEM;
	ret = layer_mr_local(&port->dg.dom->base.mem, port->mem, cnt * size, &port->mem_mr);
	for (i = 0; i < cnt && !ret; i++) {
		port->bufs[i].port = port;
		port->bufs[i].data = port->mem + i * size;
		port->bufs[i].size = size;
		list_init(&port->bufs[i].node);
		post_or_keep(&port->bufs[i]);
	}
	return ret;
}

/* Options of the udp provider alone. */
static void ask_for_trains(struct port *port)
{
	size_t least = NET_TRAIN_MAX;
	int on = 1;

	if (!fi_setopt(&port->ep->fid, FI_OPT_ENDPOINT, NET_OPT_TRAINS, &on, sizeof(on)))
		port->trains = !fi_setopt(&port->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
					  &least, sizeof(least));
	port->reports_source = port->trains && !fi_setopt(&port->ep->fid, FI_OPT_ENDPOINT,
							NET_OPT_SOURCE, &on, sizeof(on));
}

static bool set_ecn(struct port *port, int codepoint)
{
	return !fi_setopt(&port->ep->fid, FI_OPT_ENDPOINT, NET_OPT_ECN, &codepoint,
			  sizeof(codepoint));
}

void rxd_dg_mark(struct rxd_dg *dg, bool ect)
{
	struct port *port = port_of(dg);

	if (!dg->has_ecn || port->ect == ect)
		return;
	if (set_ecn(port, ect ? NET_ECN_ECT0 : NET_ECN_NOT))
		port->ect = ect;
}

/* How much the socket below can take in: the window that peers are told depends on it. */
static size_t socket_room(struct fid_ep *ep)
{
	size_t size = 0, len = sizeof(size);

	if (fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_RECV_BUF_SIZE, &size, &len) || !size)
		return ROOM_UNKNOWN;
	return size;
}

static int port_open(struct port *port, struct fi_info *info)
{
	struct rxd_dom *dom = port->dg.dom;
	int ret;

	ret = fi_endpoint(dom->base.domain, info, &port->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(port->ep, &dom->av->fid, 0);
	if (!ret)
		ret = fi_ep_bind(port->ep, &dom->cq->fid, FI_RECV);
	if (!ret)
		ret = fi_ep_bind(port->ep, &dom->tx_cq->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION);
	if (!ret) {
		ask_for_trains(port);
		port->dg.has_ecn = port->trains && rxd_conf.ecn && set_ecn(port, NET_ECN_NOT);
		ret = fi_enable(port->ep);
	}
	if (ret)
		return ret;
	port->dg.dgram_max = info->ep_attr->max_msg_size;
	port->dg.iov_max = info->tx_attr->iov_limit < RXD_DOM_PIECES ?
			   info->tx_attr->iov_limit : RXD_DOM_PIECES;
	port->inject_max = info->tx_attr->inject_size;
	port->dg.room = socket_room(port->ep);
	return make_buffers(port);
}

/* The endpoint first: it may write into the buffers until it is closed. */
static void port_free(struct port *port)
{
	struct rxd_dom *dom = port->dg.dom;

	list_del(&port->dg.node);
	if (port->ep)
		fi_close(&port->ep->fid);
	if (port->mem_mr)
		fi_close(&port->mem_mr->fid);
	if (dom)
		layer_dom_put(&dom->base);
	free(port->bufs);
	free(port->mem);
	free(port);
}

int rxd_dg_open(struct rxd_poller *poller, const struct fi_info *info, void *owner,
		struct rxd_dg **dg_p)
{
	struct fi_info *lower = NULL;
	struct port *port;
	int ret = layer_lower_info(rxd_conf.layer, info, &lower);

	if (ret)
		return ret;
	port = calloc(1, sizeof(*port));
	ret = port ? rxd_dom_get(poller, lower, &port->dg.dom) : -FI_ENOMEM;
	if (!port)
		goto out;
	list_init(&port->dg.node);
	list_init(&port->unposted);
	port->dg.owner = owner;
	if (!ret)
		ret = port_open(port, lower);
	if (ret) {
		port_free(port);
		goto out;
	}
	list_add_tail(&port->dg.node, &port->dg.dom->dgs);
	*dg_p = &port->dg;
out:
	fi_freeinfo(lower);
	return ret;
}

void rxd_dg_bind(struct rxd_dg *dg, const char *name)
{
	fi_setopt(&port_of(dg)->ep->fid, FI_OPT_ENDPOINT, NET_OPT_DEVICE, name, strlen(name) + 1);
}

int rxd_dg_name(struct rxd_dg *dg, void *addr, size_t *len)
{
	return fi_getname(&port_of(dg)->ep->fid, addr, len);
}

int rxd_dg_peer(struct rxd_dg *dg, const void *addr, fi_addr_t *to_p)
{
	return fi_av_insert(dg->dom->av, addr, 1, to_p, 0, NULL) == 1 ? 0 : -FI_EINVAL;
}

void rxd_dg_forget(struct rxd_dg *dg, fi_addr_t to)
{
	fi_av_remove(dg->dom->av, &to, 1, 0);
}

int rxd_dg_addr(struct rxd_dg *dg, fi_addr_t to, void *addr)
{
	size_t room = RXD_ADDR_MAX;

	return fi_av_lookup(dg->dom->av, to, addr, &room);
}

int rxd_dg_source(struct rxd_dg *dg, uint64_t number, void *addr, size_t *len)
{
	struct net_source source = { .number = number };
	size_t size = sizeof(source);
	int ret = fi_getopt(&port_of(dg)->ep->fid, FI_OPT_ENDPOINT, NET_OPT_SOURCE_ADDR, &source,
			    &size);

	_Static_assert(sizeof(source.addr) == RXD_ADDR_MAX, "room for any address");
	if (ret)
		return ret;
	memcpy(addr, source.addr, sizeof(source.addr));
	*len = source.len;
	return 0;
}

/* ---- sending ---------------------------------------------------------------------------- */

/* send_copy - from a buffer of ours, which the completion releases. */
static int send_copy(struct port *port, fi_addr_t to, const struct iovec *iov, size_t cnt,
		     size_t len)
{
	struct rxd_dom *dom = port->dg.dom;
	struct layer_buf *free_buf = layer_buf_get(&dom->base.mem);
	struct rxd_txbuf *buf = container_of(free_buf, struct rxd_txbuf, buf);
	struct iovec one;
	struct fi_msg msg = { .msg_iov = &one, .iov_count = 1, .addr = to, .context = buf };
	int ret;

	if (!free_buf)
		return -FI_EAGAIN;
	buf->dom = dom;
	msg.desc = &buf->buf.desc;
	iov_gather(iov, cnt, 0, buf->data, len);
	one = (struct iovec) { buf->data, len };
	ret = (int) fi_sendmsg(port->ep, &msg, FI_COMPLETION);
	if (ret)
		layer_buf_put(&dom->base.mem, &buf->buf);
	else
		dom->out++;
	return ret;
}

/* What the provider below can inject is free on return; longer datagrams are copied, so that the
 * stream may release the memory while a copy of it is still queued.
 */
void rxd_dg_ask(struct rxd_dg *dg, fi_addr_t to, const void *buf, size_t len)
{
	struct net_ask ask = { .len = len };

	_Static_assert(RXD_ASK_MAX == NET_ASK_MAX && RXD_ADDR_MAX <= sizeof(ask.addr), "they fit");
	memcpy(ask.data, buf, len);
	if (!rxd_dg_addr(dg, to, ask.addr))
		fi_setopt(&port_of(dg)->ep->fid, FI_OPT_ENDPOINT, NET_OPT_ASK, &ask, sizeof(ask));
}

size_t rxd_dg_refused(struct rxd_dg *dg, uint8_t *buf)
{
	struct net_ask answer;
	size_t len = sizeof(answer);

	if (fi_getopt(&port_of(dg)->ep->fid, FI_OPT_ENDPOINT, NET_OPT_ASK, &answer, &len))
		return 0;
	memcpy(buf, answer.data, answer.len);
	return answer.len;
}

int rxd_dg_send(struct rxd_dg *dg, fi_addr_t to, const struct iovec *iov, size_t cnt)
{
	struct port *port = port_of(dg);
	struct fi_msg msg = { .msg_iov = iov, .iov_count = cnt, .addr = to };
	size_t len = cnt == 1 ? iov->iov_len : iov_total(iov, cnt);
	int ret;

	if (__builtin_expect(len > port->inject_max, 0))
		ret = len > dg->dgram_max ? -FI_EMSGSIZE : send_copy(port, to, iov, cnt, len);
	else if (cnt == 1)
		ret = (int) fi_inject(port->ep, iov->iov_base, len, to);
	else
		ret = (int) fi_sendmsg(port->ep, &msg, FI_INJECT);
	dg->blocked = ret == -FI_EAGAIN;
	return ret;
}

/* ---- bursts ----------------------------------------------------------------------------- */

uint8_t *rxd_dg_head(struct rxd_dg *dg)
{
	return dg->dom->heads[dg->dom->cnt];
}

/* The memory of @iov is only borrowed: rxd_dg_flush() comes before it can change. */
bool rxd_dg_add(struct rxd_dg *dg, fi_addr_t to, const struct iovec *iov, size_t cnt)
{
	struct rxd_dom *dom = dg->dom;
	struct rxd_queued *q = &dom->queue[dom->cnt++];

	assert(cnt <= RXD_DOM_PIECES && "the provider below takes no more");
	dom->to = to;
	memcpy(q->iov, iov, cnt * sizeof(*iov));
	q->cnt = cnt;
	return dom->cnt == RXD_DG_BURST;
}

/* flush_each - one by one: each that is sent has been copied. */
static int flush_each(struct rxd_dg *dg, unsigned *sent_p)
{
	struct rxd_dom *dom = dg->dom;
	unsigned i;
	int ret;

	for (i = 0; i < dom->cnt; i++) {
		ret = rxd_dg_send(dg, dom->to, dom->queue[i].iov, dom->queue[i].cnt);
		if (ret == -FI_EAGAIN || ret == -FI_EMSGSIZE)
			break;
		ret = 0;
	}
	*sent_p = i;
	return i < dom->cnt ? ret : 0;
}

/* place_of - the index in the burst of a completion's datagram. */
static unsigned place_of(struct rxd_dom *dom, const void *context)
{
	return (unsigned) ((const struct rxd_queued *) context - dom->queue);
}

/* cancel_rest - cancel what waits in the provider below for room, so that our buffers are free.
 * *sent_p is the first that was not sent.
 */
static int cancel_rest(struct port *port, unsigned from, unsigned *sent_p)
{
	struct rxd_dom *dom = port->dg.dom;
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_msg_entry entry;
	unsigned i, left = dom->cnt;
	int ret = 0;
	ssize_t got;

	for (i = from; i < dom->cnt; i++)
		fi_cancel(&port->ep->fid, &dom->queue[i]);
	for (;;) {
		got = fi_cq_read(dom->tx_cq, &entry, 1);
		if (got == 1)
			continue;
		if (got != -FI_EAVAIL || fi_cq_readerr(dom->tx_cq, &err, 0) != 1)
			break;
		i = place_of(dom, err.op_context);
		if (err.err != FI_ECANCELED && err.err != FI_EMSGSIZE)
			continue;
		if (i < left) {
			left = i;
			ret = err.err == FI_ECANCELED ? -FI_EAGAIN : -FI_EMSGSIZE;
		}
	}
	*sent_p = left;
	return ret;
}

/* The provider below makes one system call of all that came with FI_MORE.  They complete in order,
 * so one completion tells of all.
 */
static int flush_train(struct port *port, unsigned *sent_p)
{
	struct rxd_dom *dom = port->dg.dom;
	struct fi_cq_msg_entry entry;
	struct fi_msg msg = { .addr = dom->to };
	unsigned i, last = dom->cnt - 1;
	int refused, ret = 0;

	for (i = 0; i <= last && !ret; i++) {
		msg.msg_iov = dom->queue[i].iov;
		msg.iov_count = dom->queue[i].cnt;
		msg.context = &dom->queue[i];
		ret = (int) fi_sendmsg(port->ep, &msg, i == last ? FI_COMPLETION : FI_MORE);
	}
	/* when the last completes, all have; otherwise some were refused */
	if (__builtin_expect(!ret && fi_cq_read(dom->tx_cq, &entry, 1) == 1 &&
			     entry.op_context == &dom->queue[last], 1)) {
		*sent_p = dom->cnt;
		return 0;
	}
	refused = ret;
	dom->cnt = ret ? i - 1 : dom->cnt;
	ret = cancel_rest(port, 0, sent_p);
	if (!ret && *sent_p <= last)
		ret = refused == -FI_EMSGSIZE ? refused : -FI_EAGAIN;
	return ret;
}

/* What was not sent is the caller's again: the congestion window counts what has left alone. */
int rxd_dg_flush(struct rxd_dg *dg, unsigned *sent_p)
{
	struct port *port = port_of(dg);
	struct rxd_dom *dom = dg->dom;
	int ret;

	*sent_p = 0;
	if (!dom->cnt)
		return 0;
	if (!port->trains || dom->cnt == 1)
		ret = flush_each(dg, sent_p);
	else
		ret = flush_train(port, sent_p);
	dg->blocked = ret == -FI_EAGAIN;
	dom->cnt = 0;
	return ret;
}

/* ---- receiving ----------------------------------------------------------------------------- */

/* In order, and not beyond the first that is refused: the next poll goes on. */
static void repost_all(struct port *port)
{
	struct list *node;

	while ((node = list_pop(&port->unposted))) {
		if (!buf_post(container_of(node, struct rxbuf, node)))
			continue;
		list_add_head(node, &port->unposted);
		return;
	}
}

static void copy_sent(struct rxd_txbuf *buf)
{
	buf->dom->out--;
	layer_buf_put(&buf->dom->base.mem, &buf->buf);
}

/* A completion with an error: the datagram, if any, is lost. */
static bool take_error(struct rxd_dom *dom)
{
	struct fi_cq_err_entry err = { 0 };
	struct rxbuf *buf;

	if (fi_cq_readerr(dom->cq, &err, 0) != 1)
		return false;
	buf = err.op_context;
	if (!buf->port->trains || err.flags & FI_MULTI_RECV)
		post_or_keep(buf);
	return true;
}

static void take_datagram(struct fi_cq_data_entry *entry, rxd_dg_fn *fn)
{
	struct rxbuf *buf = entry->op_context;
	struct rxd_meta meta = { 0 };

	if (buf->port->dg.has_ecn)
		meta.ecn = (unsigned) entry->data & NET_ECN_MASK;
	if (buf->port->reports_source)
		meta.source = entry->data >> NET_SOURCE_SHIFT;
	if (fn)
		fn(buf->port->dg.owner, entry->buf, entry->len, meta);
	if (!buf->port->trains || entry->flags & FI_MULTI_RECV)
		post_or_keep(buf);
}

/* copies_reap - release the copies whose sends have completed. */
static void copies_reap(struct rxd_dom *dom)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_msg_entry entry;
	ssize_t got;

	for (;;) {
		got = fi_cq_read(dom->tx_cq, &entry, 1);
		if (got == 1)
			copy_sent(entry.op_context);
		else if (got == -FI_EAVAIL && fi_cq_readerr(dom->tx_cq, &err, 0) == 1)
			copy_sent(err.op_context);
		else
			return;
	}
}

/* Each datagram is processed before its buffer is posted again: what is kept of it is copied. */
static unsigned dom_poll(struct rxd_dom *dom, unsigned budget, rxd_dg_fn *fn)
{
	struct fi_cq_data_entry entry[BURST];
	struct rxd_dg *dg;
	unsigned done = 0;
	ssize_t i, got;
	bool failed;

	if (dom->out)
		copies_reap(dom);
	do {
		if (done)
			dom->poller->input_ns = 0;
		got = fi_cq_read(dom->cq, entry, BURST);
		failed = got == -FI_EAVAIL && take_error(dom);
		for (i = 0; i < got; i++) {
			if (i + 1 < got)
				__builtin_prefetch(entry[i + 1].buf);
			take_datagram(&entry[i], fn);
		}
		/* an entry of an error is one that was read: there may be others behind it */
		done += got > 0 ? (unsigned) got : failed;
	} while ((got == BURST || failed) && done < budget);
	list_for_each_entry(dg, &dom->dgs, node)
		if (!list_empty(&port_of(dg)->unposted))
			repost_all(port_of(dg));
	return done;
}

int rxd_dg_poll(struct rxd_poller *poller, unsigned budget, rxd_dg_fn *fn)
{
	struct rxd_dom *dom;
	unsigned done = 0;

	list_for_each_entry(dom, &poller->doms, base.node)
		done += dom_poll(dom, budget, fn);
	return (int) done;
}

/* What arrives for other endpoints meanwhile is lost, and retransmitted. */
void rxd_dg_close(struct rxd_dg *dg)
{
	while (dom_poll(dg->dom, UINT32_MAX, NULL))
		;
	port_free(port_of(dg));
}

/* The queue of receives alone: a send that completes wakes no one, its buffer is reaped by a poll. */
int rxd_dg_arm(struct rxd_poller *poller)
{
	struct rxd_dom *dom;
	struct fid *fid;
	int ret = 0;

	list_for_each_entry(dom, &poller->doms, base.node) {
		fid = &dom->cq->fid;
		if (!ret)
			ret = fi_trywait(dom->base.fabric, &fid, 1);
	}
	return ret;
}
