/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/providers/fi_log.h>

#include "base/iov.h"
#include "net/io.h"
#include "net/opt.h"
#include "obj/mr.h"

#include "ep.h"

#define RX_FLAGS (FI_COMPLETION | FI_MULTI_RECV | FI_MORE | FI_MSG | FI_RECV)

/* ---- posting --------------------------------------------------------------- */

/* rx_fill - describe and post a receive.  Locked.
 * @dev: @iov is its buffer; NULL: the program's
 */
static inline __attribute__((always_inline)) void
rx_fill(struct udp_ep *ep, struct udp_rx *rx, const struct iovec *iov, size_t cnt, void *context, uint64_t flags,
	struct udp_dev *dev)
{
	rx->context = context;
	rx->want = obj_ep_want_rx_comp(&ep->base, flags);
	rx->kind = flags & FI_MULTI_RECV ? UDP_RX_MULTI : 0;
	if (dev) {
		rx->kind |= UDP_RX_DEVICE;
		rx->dev = dev;
	}
	rx->iov[0].iov_len = sizeof(struct udp_hdr);
	rx->iov_cnt = udp_iov_put(rx->iov, 1, iov, cnt);
	list_add_tail(&rx->node, &ep->posted);
}

static inline __attribute__((always_inline)) ssize_t
rx_post(struct udp_ep *ep, const struct iovec *iov, size_t cnt, void *context, uint64_t flags,
	struct udp_dev *dev)
{
	struct obj_prog *prog = ep->base.prog;
	struct udp_rx *rx;

	if (__builtin_expect(!ep->poller, 0))
		return -FI_EOPBADSTATE;
	if (__builtin_expect(iov_asked(iov, cnt) == SIZE_MAX, 0))
		return -FI_EINVAL;
	lock_get(&prog->lock);
	rx = pool_get(&ep->rx_pool);
	if (!rx) {
		lock_put(&prog->lock);
		return -FI_EAGAIN;
	}
	rx_fill(ep, rx, iov, cnt, context, flags, dev);
	/* While the set of descriptors is in use, a socket without posted receives is not in it. */
	if (__builtin_expect(ep->poller->armed, 0) && !(ep->sock.interest & POLLIN))
		udp_ep_watch(ep);
	lock_put(&prog->lock);
	return 0;
}

static __attribute__((noinline)) ssize_t post_buf(struct obj_ep_handle *h, void *buf, size_t len, void *context)
{
	struct iovec iov = { buf, len };

	return rx_post(udp_ep_of(h->ep), &iov, 1, context, h->rx_op_flags, NULL);
}

/* rx_is_plain - is there nothing to be called for a receive: no lock, no memory, no descriptor?  Only without a lock
 * may the rest be read here.  A buffer in the lower half of the address space does not reach beyond its end.
 */
static inline bool rx_is_plain(const struct udp_ep *ep, const void *buf, size_t len)
{
	return ep->poller && ep->base.prog->lock.kind == LOCK_NONE && !ep->poller->armed && ep->rx_pool.free &&
	       ((uintptr_t) buf | len) <= SIZE_MAX / 2;
}

/* Most receives are plain, and save no registers. */
ssize_t udp_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
		 void *context)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);
	struct udp_ep *ep = udp_ep_of(h->ep);
	struct iovec iov = { buf, len };
	struct lock *lock;

	if (__builtin_expect(!rx_is_plain(ep, buf, len), 0))
		return post_buf(h, buf, len, context);
	lock = &ep->base.prog->lock;
	lock_get(lock);
	rx_fill(ep, pool_get(&ep->rx_pool), &iov, 1, context, h->rx_op_flags, NULL);
	lock_is_none(lock);
	lock_put(lock);
	return 0;
}

ssize_t udp_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
		  fi_addr_t src, void *context)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);

	if (cnt > UDP_IOV_MAX || ((h->rx_op_flags & FI_MULTI_RECV) && cnt != 1))
		return -FI_EINVAL;
	return rx_post(udp_ep_of(h->ep), iov, cnt, context, h->rx_op_flags, NULL);
}

ssize_t udp_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	if (flags & ~RX_FLAGS)
		return -FI_EBADFLAGS;
	if (msg->iov_count > UDP_IOV_MAX || ((flags & FI_MULTI_RECV) && msg->iov_count != 1))
		return -FI_EINVAL;
	return rx_post(udp_ep_of(obj_ep_of(fid)), msg->msg_iov, msg->iov_count, msg->context,
		       flags, NULL);
}

/* ---- memory of devices -------------------------------------------------------
 *
 * The CPU may not touch it, so a datagram goes to a buffer of the host, and from there to the
 * device.
 */

struct udp_dev {
	struct iovec iov[UDP_IOV_MAX];	/* the program's */
	struct obj_mr *mrs[UDP_IOV_MAX];
	size_t cnt;
	char buf[];
};

ssize_t udp_dev_recv(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct iovec host = { NULL, 0 };
	struct udp_dev *dev;
	ssize_t ret;

	if (flags & ~RX_FLAGS)
		return -FI_EBADFLAGS;
	if (msg->iov_count > UDP_IOV_MAX || ((flags & FI_MULTI_RECV) && msg->iov_count != 1))
		return -FI_EINVAL;
	host.iov_len = iov_asked(msg->msg_iov, msg->iov_count);
	if (host.iov_len == SIZE_MAX)
		return -FI_EINVAL;
	dev = host.iov_len > SIZE_MAX / 2 ? NULL : malloc(sizeof(*dev) + host.iov_len);
	if (!dev)
		return -FI_EAGAIN;
	memcpy(dev->iov, msg->msg_iov, msg->iov_count * sizeof(*msg->msg_iov));
	obj_mr_name(dev->mrs, msg->desc, msg->iov_count);
	dev->cnt = msg->iov_count;
	host.iov_base = dev->buf;
	ret = rx_post(udp_ep_of(obj_ep_of(fid)), &host, 1, msg->context, flags, dev);
	if (ret)
		free(dev);
	return ret;
}

/* Where in the program's buffer the next datagram of @rx goes. */
static void *dev_at(const struct udp_rx *rx)
{
	const struct udp_dev *dev = rx->dev;

	return iov_at(&dev->iov[0], (size_t) ((char *) rx->iov[1].iov_base - dev->buf));
}

/* dev_take - @len bytes have arrived for @rx.  Errors: the device's. */
static int dev_take(const struct udp_rx *rx, size_t len)
{
	const struct udp_dev *dev = rx->dev;
	struct obj_mr_list list = { dev->iov, dev->mrs, dev->cnt };
	const char *from = rx->iov[1].iov_base;

	return obj_mr_scatter(&list, (size_t) (from - dev->buf), from, len);
}

static inline void *rx_buf(const struct udp_rx *rx)
{
	if (rx->iov_cnt <= 1)
		return NULL;
	return __builtin_expect(rx->kind & UDP_RX_DEVICE, 0) ? dev_at(rx) : rx->iov[1].iov_base;
}

/* ---- completing ------------------------------------------------------------ */

static void rx_free(struct udp_ep *ep, struct udp_rx *rx)
{
	list_del(&rx->node);
	if (__builtin_expect(rx->kind & UDP_RX_DEVICE, 0))
		free(rx->dev);
	pool_put(&ep->rx_pool, rx);
}

/* Takes @len bytes of the buffer of @rx.  Returns the completion flags: FI_MULTI_RECV when a
 * multi-receive buffer is released.  @rx is freed then, and always when it is not a
 * multi-receive buffer.
 */
static inline uint64_t rx_consume(struct udp_ep *ep, struct udp_rx *rx, size_t len)
{
	uint64_t flags = FI_RECV | FI_MSG;

	if (rx->kind & UDP_RX_MULTI) {
		rx->iov[1].iov_base = (char *) rx->iov[1].iov_base + len;
		rx->iov[1].iov_len -= len;
		if (rx->iov[1].iov_len && rx->iov[1].iov_len >= ep->base.min_multi_recv)
			return flags;
		flags |= FI_MULTI_RECV;
	}
	rx_free(ep, rx);
	return flags;
}

/* Writes an error entry for @rx, which is consumed. @err_data with its size, or NULL and 0. */
static void rx_fail(struct udp_ep *ep, struct udp_rx *rx, struct fi_cq_err_entry *e,
		    const void *err_data, size_t size)
{
	e->op_context = rx->context;
	e->buf = rx_buf(rx);
	e->flags |= rx_consume(ep, rx, e->len);
	obj_ep_err_rx(&ep->base, e, err_data, size, OBJ_CNTR_RECV);
}

int udp_rx_cancel(struct udp_ep *ep, void *context)
{
	struct fi_cq_err_entry e = {
		.err = FI_ECANCELED, .prov_errno = FI_ECANCELED, .src_addr = FI_ADDR_NOTAVAIL,
	};
	struct udp_rx *rx;

	list_for_each_entry(rx, &ep->posted, node) {
		if (rx->context != context)
			continue;
		if (rx->kind & UDP_RX_MULTI)	/* release the whole buffer */
			rx->iov[1].iov_len = 0;
		rx_fail(ep, rx, &e, NULL, 0);
		return 0;
	}
	return -FI_ENOENT;
}

void udp_rx_drop(struct udp_ep *ep)
{
	while (!list_empty(&ep->posted))
		rx_free(ep, container_of(ep->posted.next, struct udp_rx, node));
}

/* ---- receiving ------------------------------------------------------------- */

static size_t rx_room(const struct udp_rx *rx)
{
	return iov_total(&rx->iov[1], rx->iov_cnt - 1);
}

static inline fi_addr_t rx_source(struct udp_ep *ep, const union net_sa *from)
{
	if (!ep->source)
		return FI_ADDR_NOTAVAIL;
	return obj_av_find(ep->base.av, from, net_addr_len(&from->sa));
}

/* Sets ep->rx_meta for the current datagram or train.  @number: the source number of @from, or
 * 0 if not known yet.
 */
static inline void rx_set_meta(struct udp_ep *ep, const union net_sa *from, uint64_t number,
			       unsigned ecn)
{
	ep->rx_meta = ecn;
	if (!ep->report_source)
		return;
	if (!number)
		number = udp_source_number(from);
	udp_source_record(ep->poller, from, number);
	ep->rx_meta |= number << NET_SOURCE_SHIFT;
}

/* The data field of a completion: the sender's, or what NET_OPT_ECN and NET_OPT_SOURCE report. */
static inline uint64_t rx_data(const struct udp_ep *ep, const struct udp_hdr *hdr)
{
	return hdr->flags & UDP_WIRE_DATA ? be64toh(hdr->data) : ep->rx_meta;
}

/* Completes @rx with a datagram of @len bytes; it may be truncated.  On a framed endpoint its header
 * is in @hdr; an invalid datagram is dropped then, and @rx stays posted.
 */
static inline void rx_arrived(struct udp_ep *ep, struct udp_rx *rx, const struct udp_hdr *hdr,
		       const struct msghdr *msg, size_t len)
{
	const union net_sa *from = msg->msg_name;
	struct fi_cq_err_entry e = { 0 };
	uint64_t data = 0, flags = 0;
	enum udp_wire verdict;
	void *buf, *context;
	fi_addr_t src;
	bool want;
	int ret;

	if (ep->framed) {
		verdict = udp_wire_check(hdr, len);
		if (__builtin_expect(verdict != UDP_WIRE_OK, 0)) {
			udp_ep_drop(ep, verdict, from);
			return;
		}
		len -= sizeof(*hdr);
		data = rx_data(ep, hdr);
		flags = hdr->flags & UDP_WIRE_DATA ? FI_REMOTE_CQ_DATA : 0;
	}
	src = rx_source(ep, from);
	if (__builtin_expect(rx->kind & UDP_RX_DEVICE, 0)) {
		ret = dev_take(rx, msg->msg_flags & MSG_TRUNC ? rx_room(rx) : len);
		if (ret) {
			e.err = -hmem_errno(ret);
			e.prov_errno = -ret;
			e.src_addr = src;
			rx_fail(ep, rx, &e, NULL, 0);
			return;
		}
	}
	if (__builtin_expect(msg->msg_flags & MSG_TRUNC, 0)) {
		e.err = e.prov_errno = FI_ETRUNC;
		e.flags = flags;
		e.data = data;
		e.len = rx_room(rx);
		e.olen = len - e.len;
		e.src_addr = src;
		rx_fail(ep, rx, &e, NULL, 0);
		return;
	}
	if (__builtin_expect(ep->source_err && src == FI_ADDR_NOTAVAIL, 0)) {
		e.err = e.prov_errno = FI_EADDRNOTAVAIL;
		e.flags = flags;
		e.data = data;
		e.len = len;
		e.src_addr = src;
		rx_fail(ep, rx, &e, from, net_addr_len(&from->sa));
		return;
	}
	buf = rx_buf(rx);
	context = rx->context;
	want = rx->want;
	flags |= rx_consume(ep, rx, len);
	obj_ep_comp_rx(&ep->base, want, context, flags, len, buf, data, 0, src, OBJ_CNTR_RECV);
}

/* A receive system call failed.  Returns how many receives have completed: 0 or 1. */
static int rx_error(struct udp_ep *ep, int err)
{
	struct fi_cq_err_entry e = {
		.err = err, .prov_errno = err, .src_addr = FI_ADDR_NOTAVAIL,
	};

	switch (err) {
	case EAGAIN:
	case EINTR:
	case ECONNREFUSED:	/* an ICMP error for an earlier send of the connected socket */
		return 0;
	case EFAULT:
		/* the oldest buffer is not writable; the kernel has dropped the datagram */
		rx_fail(ep, container_of(ep->posted.next, struct udp_rx, node), &e, NULL, 0);
		return 1;
	default:
		/* an error that was pending on the socket; reading it has cleared it */
		FI_WARN_SPARSE(&udp_prov, FI_LOG_EP_DATA, "recvmsg: %s; receiving goes on\n",
			       strerror(err));
		return 0;
	}
}

static inline void rx_prepare(struct udp_poller *p, unsigned i, struct udp_rx *rx, bool framed)
{
	struct msghdr *msg = &p->msg[i].msg_hdr;

	rx->iov[0].iov_base = &p->slot[i].hdr;
	msg->msg_namelen = sizeof(p->slot[i].from);
	msg->msg_iov = rx->iov + !framed;
	msg->msg_iovlen = rx->iov_cnt - !framed;
}

/* A position in a received train.  The datagrams follow each other in the buffer, each behind
 * its header; the first header is in the poller's slot.  Invalid datagrams, and a last one that
 * was truncated, are skipped.
 */
struct train {
	uint8_t *at;		/* next datagram, behind the first header */
	size_t left;		/* bytes from there to the end */
	size_t seg;		/* length of each datagram, header included */
	struct udp_hdr hdr;
};

/* The payload of the next valid message, its header in t->hdr; NULL at the end. */
static uint8_t *train_next(struct udp_ep *ep, struct train *t, const union net_sa *from)
{
	enum udp_wire verdict;
	uint8_t *payload;
	size_t len;

	while (t->left) {
		len = t->seg < t->left ? t->seg : t->left;
		verdict = len < sizeof(t->hdr) ? UDP_WIRE_SHORT : UDP_WIRE_OK;
		payload = t->at + sizeof(t->hdr);
		if (!verdict) {
			memcpy(&t->hdr, t->at, sizeof(t->hdr));
			verdict = udp_wire_check(&t->hdr, len);
		}
		t->at += len;
		t->left -= len;
		if (__builtin_expect(!verdict, 1))
			return payload;
		udp_ep_drop(ep, verdict, from);
	}
	return NULL;
}

static uint8_t *train_first(struct udp_ep *ep, struct train *t, const struct udp_hdr *hdr,
			    const union net_sa *from)
{
	size_t len = t->seg < t->left ? t->seg : t->left;
	enum udp_wire verdict = udp_wire_check(hdr, len);
	uint8_t *payload = t->at + sizeof(*hdr);

	t->at += len;
	t->left -= len;
	t->hdr = *hdr;
	if (__builtin_expect(!verdict, 1))
		return payload;
	udp_ep_drop(ep, verdict, from);
	return train_next(ep, t, from);
}

/* Completes one message of a train.  The last one accounts for the buffer, which may release it. */
static void train_message(struct udp_ep *ep, struct udp_rx *rx, const struct udp_hdr *hdr,
			  uint8_t *payload, bool last, fi_addr_t src)
{
	uint64_t flags = hdr->flags & UDP_WIRE_DATA ? FI_REMOTE_CQ_DATA : 0;
	size_t len = ntohs(hdr->len);
	void *context = rx->context;
	bool want = rx->want;

	if (last)
		flags |= rx_consume(ep, rx, (size_t) (payload + len -
						      (uint8_t *) rx->iov[1].iov_base));
	else
		flags |= FI_RECV | FI_MSG;
	obj_ep_comp_rx(&ep->base, want, context, flags, len, payload, rx_data(ep, hdr), 0, src,
		       OBJ_CNTR_RECV);
}

static unsigned rx_train(struct udp_ep *ep, struct udp_rx *rx, const struct msghdr *msg,
			 size_t len, size_t seg)
{
	const union net_sa *from = msg->msg_name;
	struct udp_slot *slot = container_of(from, struct udp_slot, from);
	size_t room = rx_room(rx) + sizeof(slot->hdr);
	fi_addr_t src = rx_source(ep, from);
	uint8_t *payload, *next;
	struct train t = { .seg = seg };
	struct udp_hdr hdr;
	unsigned got = 0;

	if (len > room)		/* drop the incomplete last datagram */
		len = room / seg * seg;
	/* t.at is where the first header would be, directly before its payload */
	t.at = (uint8_t *) rx->iov[1].iov_base - sizeof(slot->hdr);
	t.left = len;
	payload = train_first(ep, &t, &slot->hdr, from);
	while (payload) {
		hdr = t.hdr;
		next = train_next(ep, &t, from);
		train_message(ep, rx, &hdr, payload, !next, src);
		payload = next;
		got++;
	}
	return got ? got : 1;
}

/* The length of the datagrams of a train, from the header of the first one. */
static size_t train_seg(const uint8_t *buf, size_t len)
{
	struct udp_hdr hdr;
	size_t seg;

	if (len < sizeof(hdr))
		return len;
	memcpy(&hdr, buf, sizeof(hdr));
	seg = sizeof(hdr) + ntohs(hdr.len);
	return seg < len && udp_wire_check(&hdr, seg) == UDP_WIRE_OK ? seg : len;
}

/* Switches UDP_GRO on when two datagrams of one length arrive in one poll, and off after
 * UDP_TRAIN_IDLE single datagrams.
 */
static inline void rx_expect(struct udp_sock *sock, size_t len, unsigned got)
{
	if (!sock->gro) {
		if (__builtin_expect(len == sock->length && len >= UDP_TRAIN_DGRAM_MIN, 0))
			udp_train_gro(sock, true);
		sock->length = len;
	} else if (got > 1) {
		sock->singles = 0;
	} else if (__builtin_expect(++sock->singles == UDP_TRAIN_IDLE, 0)) {
		udp_train_gro(sock, false);
	}
}

/* No datagram.  An empty connected socket has no more datagrams of other peers. */
static inline int rx_none(struct udp_sock *sock)
{
	int err = errno;

	if (__builtin_expect(err != EAGAIN, 0))
		return rx_error(sock->ep, err);
	if (sock == &sock->ep->csock)
		sock->ep->csock_exclusive = true;
	return 0;
}

/* Fast path with trains: one recvfrom() into the multi-receive buffer.  No control messages are
 * needed, because the segment length follows from the first header.  Headers stay in the buffer
 * between the payloads.
 */
static int rx_in_place(struct udp_sock *sock, struct udp_rx *rx)
{
	struct udp_ep *ep = sock->ep;
	bool csock = sock == &ep->csock && ep->csock_exclusive;
	union net_sa *from = csock ? &ep->csock_addr : &ep->poller->slot[0].from;
	socklen_t from_len = sizeof(*from);
	struct train t = { .at = rx->iov[1].iov_base };
	uint8_t *payload, *next;
	struct udp_hdr hdr;
	unsigned got = 0;
	fi_addr_t src;
	ssize_t len;

	/* The datagrams of a connected socket are all from its peer, so no address is needed. */
	len = net_io_recv(sock->fd, t.at, rx->iov[1].iov_len, 0, csock ? NULL : &from->sa,
			  csock ? NULL : &from_len);
	if (len < 0)
		return rx_none(sock);
	t.left = (size_t) len;
	t.seg = train_seg(t.at, t.left);
	src = rx_source(ep, from);
	rx_set_meta(ep, from, csock ? ep->csock_number : 0, NET_ECN_NOT);
	payload = train_next(ep, &t, from);
	while (payload) {
		hdr = t.hdr;
		next = ++got < UDP_TRAIN_RX_MAX ? train_next(ep, &t, from) : NULL;
		train_message(ep, rx, &hdr, payload, !next, src);
		payload = next;
	}
	rx_expect(sock, (size_t) len, got);
	return got ? (int) got : 1;
}

static inline int rx_one(struct udp_sock *sock)
{
	struct udp_ep *ep = sock->ep;
	struct udp_poller *p = ep->poller;
	struct udp_rx *rx = container_of(ep->posted.next, struct udp_rx, node);
	struct msghdr *msg = &p->msg[0].msg_hdr;
	unsigned ecn;
	ssize_t len;
	size_t seg;

	if (ep->trains && (rx->kind & UDP_RX_MULTI) && !ep->report_ecn && rx->iov[1].iov_len >= NET_TRAIN_MAX)
		return rx_in_place(sock, rx);
	rx_prepare(p, 0, rx, ep->framed);
	if (ep->trains) {
		msg->msg_control = &p->ctl;
		msg->msg_controllen = sizeof(p->ctl);
	}
	len = recvmsg(sock->fd, msg, MSG_TRUNC);
	if (len < 0) {
		msg->msg_controllen = 0;
		msg->msg_control = NULL;
		return rx_error(ep, errno);
	}
	if (__builtin_expect(ep->trains, 0)) {
		seg = udp_train_segment(msg, (size_t) len, &ecn);
		rx_set_meta(ep, msg->msg_name, 0, ecn);
		msg->msg_control = NULL;
		msg->msg_controllen = 0;
		if (seg < (size_t) len && (rx->kind & UDP_RX_MULTI))
			return (int) rx_train(ep, rx, msg, (size_t) len, seg);
	}
	rx_arrived(ep, rx, &p->slot[0].hdr, &p->msg[0].msg_hdr, (size_t) len);
	return 1;
}

/* Receives up to @want datagrams by one call, each into a separate posted receive. */
static int rx_many(struct udp_sock *sock, unsigned want)
{
	struct udp_ep *ep = sock->ep;
	struct udp_poller *p = ep->poller;
	struct udp_rx *rx[UDP_BURST];
	struct list *pos;
	unsigned i = 0;
	int got;

	for (pos = ep->posted.next; pos != &ep->posted && i < want; pos = pos->next, i++) {
		rx[i] = container_of(pos, struct udp_rx, node);
		if (rx[i]->kind & UDP_RX_MULTI)
			break;
		rx_prepare(p, i, rx[i], ep->framed);
	}
	got = recvmmsg(sock->fd, p->msg, i, MSG_TRUNC, NULL);
	if (got < 0)
		return rx_error(ep, errno);
	for (i = 0; i < (unsigned) got; i++)
		rx_arrived(ep, rx[i], &p->slot[i].hdr, &p->msg[i].msg_hdr, p->msg[i].msg_len);
	return got;
}

/* A multi-receive buffer takes one datagram per call: the position of the next one depends on
 * the length of this one.
 */
static int rx_multi(struct udp_sock *sock, unsigned want)
{
	unsigned got = 0;
	int one;

	sock->length = 0;
	while (got < want && !list_empty(&sock->ep->posted)) {
		one = rx_one(sock);
		if (one <= 0)
			break;
		got += (unsigned) one;
	}
	return (int) got;
}

/* next_burst - how many datagrams the next poll asks for, after one that asked for @want and got @got.  While datagrams
 * arrive one at a time, one call per datagram is cheapest: asking for more costs a second attempt that finds nothing.
 */
static unsigned next_burst(unsigned want, unsigned got)
{
	if (got < want)
		return got ? got : 1;
	return want < UDP_BURST / 2 ? 2 * want : UDP_BURST;
}

int udp_rx_poll(struct udp_sock *sock, unsigned budget)
{
	struct list *posted = &sock->ep->posted;
	unsigned want = sock->burst < budget ? sock->burst : budget;
	int got;

	if (list_empty(posted))
		return 0;
	if (container_of(posted->next, struct udp_rx, node)->kind & UDP_RX_MULTI)
		got = rx_multi(sock, want);
	else if (want == 1 || posted->next == posted->prev)
		got = rx_one(sock);
	else
		got = rx_many(sock, want);
	sock->burst = next_burst(want, (unsigned) got);
	return got;
}
