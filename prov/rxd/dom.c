/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "dom.h"

#include "conn.h"

static struct rxd_dom *dom_of(struct layer_dom *base)
{
	return container_of(base, struct rxd_dom, base);
}

static void close_queues(struct layer_dom *base)
{
	struct rxd_dom *dom = dom_of(base);

	if (dom->cq)
		fi_close(&dom->cq->fid);
	if (dom->tx_cq)
		fi_close(&dom->tx_cq->fid);
	if (dom->av)
		fi_close(&dom->av->fid);
}

static int open_queues(struct layer_dom *base, void *owner, size_t *size_p)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct fi_cq_attr tx_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct rxd_dom *dom = dom_of(base);
	int ret;

	dom->poller = owner;
	list_init(&dom->dgs);
	*size_p = sizeof(struct rxd_txbuf) + base->info->ep_attr->max_msg_size;
	ret = fi_av_open(base->domain, &av_attr, &dom->av, NULL);
	if (!ret)
		ret = fi_cq_open(base->domain, &cq_attr, &dom->cq, NULL);
	if (!ret)
		ret = fi_cq_open(base->domain, &tx_attr, &dom->tx_cq, NULL);
	return ret ? ret : layer_dom_watch(dom->poller->base.base.fd, &dom->cq->fid);
}

static const struct layer_dom_ops dom_ops = {
	.size = sizeof(struct rxd_dom),
	.open = open_queues,
	.close = close_queues,
};

int rxd_dom_get(struct rxd_poller *poller, const struct fi_info *info, struct rxd_dom **dom_p)
{
	struct layer_dom *base;
	int ret = layer_dom_get(&poller->doms, info, NULL, &dom_ops, poller, &base);

	if (!ret)
		*dom_p = dom_of(base);
	return ret;
}
