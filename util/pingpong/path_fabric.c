/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "path.h"

#include <stdbool.h>
#include <stdlib.h>

#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#define TAG 0x5050ULL
#define LOOK_EVERY 256	/* polls: an injected send has no completion, but it may have an error */

struct fabric_path {
	struct pp_path path;
	struct pp_fabric *f;
	bool tagged;
	bool tx_busy;			/* a send has not completed */
	bool arrived;			/* a message is in rx */
	size_t arrived_len;
	size_t inject_size;
	unsigned unread;		/* polls since the transmit queue was read */
	struct fi_context2 tx_ctx;
	struct fi_context2 rx_ctx;
};

static struct fabric_path *fabric_of(struct pp_path *path)
{
	return (struct fabric_path *) path;
}

static int cq_failed(struct fabric_path *p, struct fid_cq *cq, const char *what)
{
	struct fi_cq_err_entry err = { 0 };
	char text[128];
	ssize_t n = fi_cq_readerr(cq, &err, 0);

	if (n < 0) {
		pp_ctrl_fail(p->path.ctrl, "%s: fi_cq_readerr: %s", what, fi_strerror((int) -n));
		return (int) n;
	}
	pp_ctrl_fail(p->path.ctrl, "%s failed: %s (%s)", what, fi_strerror(err.err),
		     fi_cq_strerror(cq, err.prov_errno, err.err_data, text, sizeof(text)));
	return -err.err;
}

/* Reads one queue: 1 and the entry, 0, or an error that was reported. */
static int cq_look(struct fabric_path *p, struct fid_cq *cq, struct fi_cq_msg_entry *entry,
		   const char *what)
{
	ssize_t n = fi_cq_read(cq, entry, 1);

	if (n == 1)
		return 1;
	if (n == -FI_EAGAIN || !n)
		return 0;
	if (n == -FI_EAVAIL)
		return cq_failed(p, cq, what);
	pp_ctrl_fail(p->path.ctrl, "fi_cq_read: %s", fi_strerror((int) -n));
	return (int) n;
}

static int cq_progress(struct fabric_path *p)
{
	struct fi_cq_msg_entry entry;
	int ret;

	ret = cq_look(p, p->f->rxcq, &entry, "receive");
	if (ret > 0) {
		p->arrived = true;
		p->arrived_len = entry.len;
	}
	if (ret < 0 || (!p->tx_busy && ++p->unread < LOOK_EVERY))
		return ret;
	p->unread = 0;
	ret = cq_look(p, p->f->txcq, &entry, "send");
	if (ret > 0)
		p->tx_busy = false;
	return ret;
}

static int fabric_poll(struct pp_path *path, size_t len)
{
	struct fabric_path *p = fabric_of(path);
	int ret = cq_progress(p);

	if (ret < 0)
		return ret;
	if (!p->arrived || p->tx_busy)
		return 0;
	p->arrived = false;
	if (p->arrived_len == len)
		return 1;
	pp_ctrl_fail(path->ctrl, "a message of %zu bytes arrived with %zu", len, p->arrived_len);
	return -FI_EMSGSIZE;
}

static int fabric_progress(struct pp_path *path)
{
	return cq_progress(fabric_of(path));
}

static ssize_t post_send(struct fabric_path *p, size_t len)
{
	struct pp_fabric *f = p->f;

	if (len <= p->inject_size)
		return p->tagged ? fi_tinject(f->ep, f->tx_buf, len, f->peer, TAG) :
				   fi_inject(f->ep, f->tx_buf, len, f->peer);
	if (p->tagged) {
		struct iovec iov = { f->tx_buf, len };
		struct fi_msg_tagged msg = { .msg_iov = &iov, .desc = &f->desc, .iov_count = 1,
					     .addr = f->peer, .tag = TAG, .context = &p->tx_ctx };
		return fi_tsendmsg(f->ep, &msg, FI_COMPLETION);
	} else {
		struct iovec iov = { f->tx_buf, len };
		struct fi_msg msg = { .msg_iov = &iov, .desc = &f->desc, .iov_count = 1,
				      .addr = f->peer, .context = &p->tx_ctx };
		return fi_sendmsg(f->ep, &msg, FI_COMPLETION);
	}
}

/* Repeats a send that returns -FI_EAGAIN, with progress in between. */
static int fabric_send(struct pp_path *path, size_t len)
{
	struct fabric_path *p = fabric_of(path);
	ssize_t ret;
	int moved;

	while ((ret = post_send(p, len)) == -FI_EAGAIN) {
		moved = cq_progress(p);
		if (moved >= 0)
			moved = pp_ctrl_peek(path->ctrl);
		if (moved < 0)
			return moved;
	}
	if (ret) {
		pp_ctrl_fail(path->ctrl, "sending %zu bytes: %s", len, fi_strerror((int) -ret));
		return (int) ret;
	}
	p->tx_busy = len > p->inject_size;
	return 0;
}

static int fabric_rearm(struct pp_path *path)
{
	struct fabric_path *p = fabric_of(path);
	struct pp_fabric *f = p->f;
	ssize_t ret;

	do {
		ret = p->tagged ? fi_trecv(f->ep, f->rx_buf, f->buf_len, f->desc, FI_ADDR_UNSPEC,
					   TAG, 0, &p->rx_ctx) :
				  fi_recv(f->ep, f->rx_buf, f->buf_len, f->desc, FI_ADDR_UNSPEC,
					  &p->rx_ctx);
	} while (ret == -FI_EAGAIN && cq_progress(p) >= 0);
	if (ret)
		pp_ctrl_fail(path->ctrl, "posting a receive: %s", fi_strerror((int) -ret));
	return (int) ret;
}

static void fabric_close(struct pp_path *path)
{
	free(path);
}

static const struct pp_path_ops fabric_ops = {
	.send = fabric_send,
	.poll = fabric_poll,
	.progress = fabric_progress,
	.rearm = fabric_rearm,
	.close = fabric_close,
};

int pp_path_fabric(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f,
		   struct pp_path **path_p)
{
	struct fabric_path *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return -FI_ENOMEM;
	p->path.ops = &fabric_ops;
	p->path.ctrl = ctrl;
	p->path.tx = f->tx_buf;
	p->path.rx = f->rx_buf;
	p->f = f;
	p->tagged = o->tagged;
	p->inject_size = f->info->tx_attr->inject_size;
	ret = fabric_rearm(&p->path);
	if (ret)
		free(p);
	else
		*path_p = &p->path;
	return ret;
}
