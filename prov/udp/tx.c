/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending.  A send is one system call and is complete when that returns, because the kernel has
 * copied the payload.  A send is queued only behind queued ones, in a burst (FI_MORE), or when
 * the socket is full.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "net/io.h"
#include "obj/mr.h"

#include "ep.h"

#define TX_FLAGS (FI_COMPLETION | FI_INJECT | FI_MORE | FI_REMOTE_CQ_DATA | FI_MULTICAST | \
		  FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_FENCE | FI_MSG | FI_SEND)

/* The arguments of a send call. */
struct op {
	const struct iovec *iov;
	size_t cnt;
	size_t len;
	uint64_t data;
	fi_addr_t dest;
	void *context;
	uint64_t flags;
	bool want;		/* write a completion on success */
};

/* An address in any format of the AV. */
union dest {
	union net_sa sa;
	char room[OBJ_ADDR_MAX];
};

/* Finds the address of a destination: a multicast group's, or a peer's from the AV. */
static inline int tx_dest(struct udp_ep *ep, const struct op *op, union dest *to, size_t *len)
{
	if (__builtin_expect(udp_mc_is(op->dest), 0))
		return udp_mc_dest(ep, op->dest, to, len);
	if (__builtin_expect(!!(op->flags & FI_MULTICAST), 0))
		return -FI_EINVAL;
	return obj_av_addr(ep->base.av, op->dest, to, len);
}

/* Write the completion of a send, if @want, and count it. */
static inline void tx_done(struct udp_ep *ep, bool want, void *context, size_t len)
{
	obj_ep_comp_tx(&ep->base, want, context, FI_SEND | FI_MSG, len, OBJ_CNTR_SEND);
}

/* The socket or the system temporarily has no room. */
static bool is_full(int ret)
{
	return ret == -EAGAIN || ret == -ENOBUFS || ret == -ENOMEM;
}

/* ---- sending immediately --------------------------------------------------- */

/* Fill in the header of a message. */
static inline void tx_hdr(const struct op *op, struct udp_hdr *hdr)
{
	udp_wire_fill(hdr, op->len, op->flags & FI_REMOTE_CQ_DATA ? UDP_WIRE_DATA : 0, op->data);
}

/* The payload alone.  Processes with plain datagrams mostly have no other thread: the C library's
 * wrappers cost less then.
 */
static ssize_t send_plain(int fd, const struct op *op, const union net_sa *to, socklen_t to_len)
{
	struct msghdr msg = {
		.msg_name = (void *) to,
		.msg_namelen = to_len,
		.msg_iov = (struct iovec *) op->iov,
		.msg_iovlen = op->cnt,
	};

	if (__builtin_expect(op->cnt == 1, 1))
		return sendto(fd, op->iov->iov_base, op->len, 0, (const struct sockaddr *) to, to_len);
	return sendmsg(fd, &msg, 0);
}

/* A short message is copied behind its header: cheaper than passing the kernel a scatter list. */
static inline ssize_t send_short(int fd, const struct op *op, const union net_sa *to,
				 socklen_t to_len)
{
	struct {
		struct udp_hdr hdr;
		char payload[UDP_COPY_MAX];
	} pkt;

	tx_hdr(op, &pkt.hdr);
	if (__builtin_expect(op->cnt == 1 && op->len, 1))
		memcpy(pkt.payload, op->iov->iov_base, op->len);
	else
		iov_gather(op->iov, op->cnt, 0, pkt.payload, op->len);
	return net_io_send(fd, &pkt, sizeof(pkt.hdr) + op->len, 0, (const struct sockaddr *) to,
		      to_len);
}

/* The payload is gathered by the kernel. */
static ssize_t send_long(int fd, const struct op *op, const union net_sa *to, socklen_t to_len)
{
	struct udp_hdr hdr;
	struct iovec iov[1 + UDP_IOV_MAX] = { { &hdr, sizeof(hdr) } };
	struct msghdr msg = {
		.msg_name = (void *) to,
		.msg_namelen = to_len,
		.msg_iov = iov,
		.msg_iovlen = udp_iov_put(iov, 1, op->iov, op->cnt),
	};

	tx_hdr(op, &hdr);
	return net_io_sendmsg(fd, &msg, 0);
}

/* On success the operation is complete, because the kernel has copied the payload. */
static inline int send_by(struct udp_ep *ep, int fd, const struct op *op,
			  const union net_sa *to, socklen_t to_len)
{
	ssize_t ret = op->len < ep->copy_below ? send_short(fd, op, to, to_len) :
		      ep->framed ? send_long(fd, op, to, to_len) : send_plain(fd, op, to, to_len);

	if (__builtin_expect(ret < 0, 0))
		return -errno;
	tx_done(ep, op->want, op->context, op->len);
	return 0;
}

/* Counts consecutive sends to one peer, so that the peer gets the connected socket. */
static inline int send_now(struct udp_ep *ep, const struct op *op, const union net_sa *to,
			   socklen_t to_len)
{
	if (op->dest != ep->last_dest) {
		ep->last_dest = op->dest;
		ep->last_dest_cnt = 0;
	} else if (__builtin_expect(++ep->last_dest_cnt == UDP_CONNECT_AFTER, 0) &&
		   !udp_mc_is(op->dest)) {
		udp_csock_connect(ep, op->dest, to, to_len);
	}
	return send_by(ep, ep->sock.fd, op, to, to_len);
}

/* ---- the queue ------------------------------------------------------------- */

/* An injected message is copied into the queue entry, so a longer one cannot be queued. */
static bool tx_keepable(const struct op *op)
{
	return !(op->flags & FI_INJECT) || op->len <= UDP_COPY_MAX;
}

/* Queues a send.  The poller flushes the endpoints on poller->senders. */
static int tx_keep(struct udp_ep *ep, const struct op *op, const union net_sa *to,
		   socklen_t to_len)
{
	struct udp_tx *tx = pool_get(&ep->tx_pool);
	unsigned at = 0;

	if (!tx)
		return -FI_EAGAIN;
	tx->context = op->context;
	tx->len = op->len;
	tx->want = op->want;
	tx->to_len = to_len;
	tx->to = *to;
	if (ep->framed) {
		tx_hdr(op, &tx->hdr);
		tx->iov[at++] = (struct iovec) { &tx->hdr, sizeof(tx->hdr) };
	}
	if (op->flags & FI_INJECT) {
		iov_gather(op->iov, op->cnt, 0, tx->copy, op->len);
		tx->iov[at++] = (struct iovec) { tx->copy, op->len };
		tx->iov_cnt = at;
	} else {
		tx->iov_cnt = udp_iov_put(tx->iov, at, op->iov, op->cnt);
	}
	list_add_tail(&tx->node, &ep->waiting);
	if (list_empty(&ep->tx_node))
		list_add_tail(&ep->tx_node, &ep->poller->senders);
	return 0;
}

static struct udp_tx *tx_first(struct udp_ep *ep)
{
	return container_of(ep->waiting.next, struct udp_tx, node);
}

static void tx_free(struct udp_ep *ep, struct udp_tx *tx)
{
	list_del(&tx->node);
	pool_put(&ep->tx_pool, tx);
	if (list_empty(&ep->waiting))
		list_del(&ep->tx_node);
}

/* Remove a queued send and report @err for it. */
static void tx_fail(struct udp_ep *ep, struct udp_tx *tx, int err)
{
	struct fi_cq_err_entry e = {
		.op_context = tx->context,
		.flags = FI_SEND | FI_MSG,
		.len = tx->len,
		.err = err,
		.prov_errno = err,
		.src_addr = FI_ADDR_NOTAVAIL,
	};

	tx_free(ep, tx);
	obj_ep_err_tx(&ep->base, &e, NULL, 0, OBJ_CNTR_SEND);
}

static void tx_set_blocked(struct udp_ep *ep, bool blocked)
{
	if (ep->blocked == blocked)
		return;
	ep->blocked = blocked;
	udp_ep_watch(ep);
}

/* True for errors that mean that the system does not accept a train. */
static bool is_refused(int err)
{
	return err == EINVAL || err == EIO || err == EMSGSIZE || err == EOPNOTSUPP;
}

/* The first @cnt queued sends have left: complete them in order. */
static void tx_complete(struct udp_ep *ep, unsigned cnt)
{
	struct udp_tx *tx;

	while (cnt--) {
		tx = tx_first(ep);
		tx_done(ep, tx->want, tx->context, tx->len);
		tx_free(ep, tx);
	}
}

/* Sends as many queued datagrams as one system call takes.  Returns how many left, or a
 * negative error that concerns the first one.
 */
static int send_burst(struct udp_ep *ep)
{
	struct iovec iov[UDP_SEND_MAX * (1 + UDP_IOV_MAX)];
	struct mmsghdr msg[UDP_SEND_MAX];
	unsigned most = ep->trains ? UDP_SEND_MAX : UDP_BURST;
	unsigned train[UDP_SEND_MAX], cnt = 0, all = 0, used = 0, i;
	union udp_ctl ctl[UDP_SEND_MAX];
	struct list *pos = ep->waiting.next;
	int ret;

	while (pos != &ep->waiting && all < most) {
		train[cnt] = udp_train_fill(ep, pos, most - all, &msg[cnt].msg_hdr, iov + used,
					    &ctl[cnt]);
		used += (unsigned) msg[cnt].msg_hdr.msg_iovlen;
		for (i = 0; i < train[cnt]; i++)
			pos = pos->next;
		all += train[cnt++];
	}
	ret = sendmmsg(ep->sock.fd, msg, cnt, 0);
	if (ret < 0)
		ret = train[0] > 1 && is_refused(errno) ? udp_train_fallback(ep, tx_first(ep)) : -errno;
	else
		/* A message of sendmmsg may be a train: count the sends in those that left. */
		for (i = 0, all = (unsigned) ret, ret = 0; i < all; i++)
			ret += (int) train[i];
	if (ret > 0)
		tx_complete(ep, (unsigned) ret);
	return ret;
}

/* Leaves @blocked set when the socket is full; the poller then waits for POLLOUT. */
int udp_tx_flush(struct udp_ep *ep)
{
	int ret, done = 0;

	while (!list_empty(&ep->waiting)) {
		ret = send_burst(ep);
		if (is_full(ret)) {
			tx_set_blocked(ep, true);
			return done;
		}
		if (ret < 0) {
			/* An error concerns the first queued send only: report it, and go on. */
			tx_fail(ep, tx_first(ep), -ret);
			ret = 1;
		}
		done += ret;
	}
	tx_set_blocked(ep, false);
	return done;
}

int udp_tx_cancel(struct udp_ep *ep, void *context)
{
	struct udp_tx *tx;

	list_for_each_entry(tx, &ep->waiting, node) {
		if (tx->context != context)
			continue;
		tx_fail(ep, tx, FI_ECANCELED);
		if (list_empty(&ep->waiting))
			tx_set_blocked(ep, false);
		return 0;
	}
	return -FI_ENOENT;
}

/* ---- the calls ------------------------------------------------------------- */

/* A send that has to be queued: others wait before it, or it has FI_MORE. */
static int tx_queue(struct udp_ep *ep, const struct op *op, const union net_sa *to,
		    socklen_t to_len)
{
	int ret;

	/* It cannot be copied into the queue, so everything before it must leave first. */
	if (!tx_keepable(op)) {
		if (!ep->blocked)
			udp_tx_flush(ep);
		return list_empty(&ep->waiting) ? send_now(ep, op, to, to_len) : -FI_EAGAIN;
	}
	ret = tx_keep(ep, op, to, to_len);
	if (ret || ep->blocked)
		return ret;
	/* End of a burst, or as much as one system call takes: send.  Otherwise the next poll
	 * sends it; without trains, a thread that is about to block is told that there is work.
	 */
	if (!(op->flags & FI_MORE) || ep->tx_pool.used >= (ep->trains ? UDP_SEND_MAX : UDP_BURST))
		udp_tx_flush(ep);
	else if (!ep->trains)
		obj_prog_moved(ep->base.prog, 0);
	return 0;
}

/* Order of attempts: the connected socket, the queue if it is not empty or FI_MORE is set, then
 * the first socket; the queue again when that one is full.
 */
static inline int tx_start(struct udp_ep *ep, const struct op *op)
{
	socklen_t to_len;
	union dest to;
	size_t len;
	int ret;

	if (op->dest == ep->csock_dest && !(op->flags & (FI_MORE | FI_MULTICAST)) &&
	    list_empty(&ep->waiting) && !send_by(ep, ep->csock.fd, op, NULL, 0))
		return 0;
	ret = tx_dest(ep, op, &to, &len);
	if (__builtin_expect(ret, 0))
		return ret;
	to_len = (socklen_t) len;
	if (__builtin_expect((op->flags & FI_MORE) || !list_empty(&ep->waiting), 0)) {
		ret = tx_queue(ep, op, &to.sa, to_len);
	} else {
		ret = send_now(ep, op, &to.sa, to_len);
		if (__builtin_expect(ret == -EAGAIN, 0) && tx_keepable(op)) {
			ret = tx_keep(ep, op, &to.sa, to_len);
			if (!ret)
				tx_set_blocked(ep, true);
		}
	}
	return is_full(ret) ? -FI_EAGAIN : ret;
}

static __attribute__((noinline, cold)) ssize_t tx_too_long(const struct op *op)
{
	return iov_asked(op->iov, op->cnt) == SIZE_MAX ? -FI_EINVAL : -FI_EMSGSIZE;
}

/* Check what holds for all send calls, and send under the lock. */
static inline ssize_t tx_post(struct udp_ep *ep, const struct op *op)
{
	struct obj_prog *prog = ep->base.prog;
	int ret;

	if (__builtin_expect(!ep->poller, 0))
		return -FI_EOPBADSTATE;
	if (__builtin_expect(op->len > (op->flags & FI_INJECT ? ep->max_inject : ep->max_msg), 0))
		return tx_too_long(op);
	lock_get(&prog->lock);
	ret = tx_start(ep, op);
	lock_put(&prog->lock);
	return ret;
}

/* A call without a flags argument: the endpoint's default flags, and @extra. */
static inline ssize_t tx_default(struct fid_ep *fid, const struct iovec *iov, size_t cnt, size_t len,
				 uint64_t data, fi_addr_t dest, void *context, uint64_t extra)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);
	struct op op = {
		.iov = iov,
		.cnt = cnt,
		.len = len,
		.data = data,
		.dest = dest,
		.context = context,
		.flags = (h->tx_op_flags & ~FI_REMOTE_CQ_DATA) | extra,
		.want = obj_ep_want_tx_comp(h->ep, h->tx_op_flags),
	};

	return tx_post(udp_ep_of(h->ep), &op);
}

/* An injected message generates no completion; it is counted only. */
static inline ssize_t tx_inject(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
				fi_addr_t dest, uint64_t extra)
{
	struct iovec iov = { (void *) buf, len };
	struct op op = {
		.iov = &iov,
		.cnt = 1,
		.len = len,
		.data = data,
		.dest = dest,
		.flags = FI_INJECT | extra,
	};

	return tx_post(udp_ep_of(obj_ep_of(fid)), &op);
}

ssize_t udp_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
		 fi_addr_t dest, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return tx_default(fid, &iov, 1, len, 0, dest, context, 0);
}

ssize_t udp_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
		  fi_addr_t dest, void *context)
{
	if (cnt > UDP_IOV_MAX)
		return -FI_EINVAL;
	return tx_default(fid, iov, cnt, iov_asked(iov, cnt), 0, dest, context, 0);
}

ssize_t udp_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
		     uint64_t data, fi_addr_t dest, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return tx_default(fid, &iov, 1, len, data, dest, context, FI_REMOTE_CQ_DATA);
}

ssize_t udp_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest)
{
	return tx_inject(fid, buf, len, 0, dest, 0);
}

ssize_t udp_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
		       fi_addr_t dest)
{
	return tx_inject(fid, buf, len, data, dest, FI_REMOTE_CQ_DATA);
}

/* It is copied to the host, and then is what an inject is. */
ssize_t udp_dev_send(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct udp_ep *ep = udp_ep_of(obj_ep_of(fid));
	struct obj_mr *mrs[UDP_IOV_MAX];
	struct obj_mr_list list = { msg->msg_iov, mrs, msg->iov_count };
	struct iovec host;
	struct op op = {
		.iov = &host, .cnt = 1,
		.data = flags & FI_REMOTE_CQ_DATA ? msg->data : 0,
		.dest = msg->addr,
		.context = msg->context,
		.flags = flags | FI_INJECT,
		.want = obj_ep_want_tx_comp(&ep->base, flags),
	};
	int ret;

	if (flags & ~TX_FLAGS || (flags & FI_REMOTE_CQ_DATA && !ep->framed))
		return -FI_EBADFLAGS;
	if (msg->iov_count > UDP_IOV_MAX)
		return -FI_EINVAL;
	if (!ep->poller)
		return -FI_EOPBADSTATE;
	op.len = iov_asked(msg->msg_iov, msg->iov_count);
	if (op.len > ep->max_msg)
		return op.len == SIZE_MAX ? -FI_EINVAL : -FI_EMSGSIZE;
	host = (struct iovec) { malloc(op.len + !op.len), op.len };
	if (!host.iov_base)
		return -FI_EAGAIN;
	obj_mr_name(mrs, msg->desc, msg->iov_count);
	ret = hmem_errno(obj_mr_gather(&list, 0, host.iov_base, op.len));
	if (!ret) {
		lock_get(&ep->base.prog->lock);
		ret = tx_start(ep, &op);
		lock_put(&ep->base.prog->lock);
	}
	free(host.iov_base);
	return ret;
}

ssize_t udp_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct obj_ep *ep = obj_ep_of(fid);
	struct op op = {
		.iov = msg->msg_iov,
		.cnt = msg->iov_count,
		.data = flags & FI_REMOTE_CQ_DATA ? msg->data : 0,
		.dest = msg->addr,
		.context = msg->context,
		.flags = flags,
		.want = obj_ep_want_tx_comp(ep, flags),
	};

	if (flags & ~TX_FLAGS || (flags & FI_REMOTE_CQ_DATA && !udp_ep_of(ep)->framed))
		return -FI_EBADFLAGS;
	if (op.cnt > UDP_IOV_MAX)
		return -FI_EINVAL;
	op.len = iov_asked(op.iov, op.cnt);
	return tx_post(udp_ep_of(ep), &op);
}
