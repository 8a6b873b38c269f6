/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dom.h - a domain of the provider below, with what the endpoints in it share.  For dg.c.
 */
#ifndef RXD_DOM_H
#define RXD_DOM_H

#include <rdma/fi_domain.h>

#include "base/list.h"
#include "dg.h"
#include "layer/dom.h"

#define RXD_DOM_PIECES 4		/* of a datagram in a burst */

struct rxd_poller;

/* A domain below, with what its endpoints share. */
struct rxd_dom {
	struct layer_dom base;	/* first; on poller->doms; its buffers are struct rxd_txbuf */
	struct rxd_poller *poller;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_cq *tx_cq;	/* has no wait object */
	unsigned out;		/* struct rxd_txbuf below */
	struct list dgs;
	/* the burst being collected, of one endpoint at a time */
	unsigned cnt;
	fi_addr_t to;
	struct rxd_queued {
		struct iovec iov[RXD_DOM_PIECES];
		size_t cnt;
	} queue[RXD_DG_BURST];
	uint8_t heads[RXD_DG_BURST][RXD_DG_HEAD];
};

/* A send that the provider below does not copy itself. */
struct rxd_txbuf {
	struct layer_buf buf;	/* first */
	struct rxd_dom *dom;
	uint8_t data[];
};

/* rxd_dom_get - the poller's domain of that name, opened on first use.
 *
 * @info: of the endpoint that is to be in it
 * @dom_p: [out] layer_dom_put() gives it back
 * Errors: those of the calls below.
 */
int rxd_dom_get(struct rxd_poller *poller, const struct fi_info *info, struct rxd_dom **dom_p);

#endif
