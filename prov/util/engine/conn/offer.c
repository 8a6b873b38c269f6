/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* offer.h: the engine's side of an fi_info. */
#include "engine/offer.h"

#include "base/provider.h"
#include "engine/api.h"
#include "xpu/api.h"

#define OBJECTS_MAX 65536	/* no limit of ours; programs size their tables by it */
#define QUEUE_MAX 65536		/* entries of a queue that is asked for */

const struct info_limits eng_offer_limits = {
	.tx_size = QUEUE_MAX,
	.rx_size = QUEUE_MAX,
	.inject_size = ENG_INJECT_MAX,
	.hmem = true,
	.xpu_ctx_cnt = XPU_CTX_MAX,
};

static void fill_queues(struct eng_offer *offer, const struct eng_offer_of *of, uint64_t tx_caps,
			uint64_t rx_caps)
{
	offer->tx = (struct fi_tx_attr) {
		.caps = tx_caps,
		.op_flags = ENG_TX_OP_FLAGS,
		.msg_order = ENG_MSG_ORDER,
		.inject_size = of->inject_size,
		.size = of->tx_size,
		.iov_limit = ENG_IOV_LIMIT,
		.rma_iov_limit = ENG_RMA_IOV_LIMIT,
	};
	offer->rx = (struct fi_rx_attr) {
		.caps = rx_caps,
		.op_flags = ENG_RX_OP_FLAGS,
		.msg_order = ENG_MSG_ORDER,
		.size = of->rx_size,
		.iov_limit = ENG_IOV_LIMIT,
	};
}

static void fill_ep(struct eng_offer *offer, const struct eng_offer_of *of)
{
	offer->ep = (struct fi_ep_attr) {
		.type = of->type,
		.protocol = of->protocol,
		.protocol_version = of->protocol_version,
		.max_msg_size = ENG_MAX_MSG_SIZE,
		.max_order_raw_size = ENG_MAX_ORDER_RAW_SIZE,
		.max_order_war_size = ENG_MAX_ORDER_WAR_SIZE,
		.max_order_waw_size = ENG_MAX_ORDER_WAW_SIZE,
		.mem_tag_format = ENG_MEM_TAG_FORMAT,
		.tx_ctx_cnt = 1,
		.rx_ctx_cnt = 1,
	};
}

/* The domain is thread-safe at most; every kind of progress can be had. */
static void fill_domain(struct eng_offer *offer, const struct eng_offer_of *of, uint64_t caps,
			size_t ctx_max)
{
	offer->domain = (struct fi_domain_attr) {
		.caps = caps,
		.threading = FI_THREAD_SAFE,
		.control_progress = of->progress,
		.data_progress = of->progress,
		.resource_mgmt = FI_RM_ENABLED,
		.av_type = FI_AV_UNSPEC,
		.mr_key_size = 8,
		.mr_iov_limit = ENG_IOV_LIMIT,
		.cq_data_size = ENG_CQ_DATA_SIZE,
		.cq_cnt = OBJECTS_MAX,
		.ep_cnt = OBJECTS_MAX,
		.tx_ctx_cnt = OBJECTS_MAX,
		.rx_ctx_cnt = OBJECTS_MAX,
		.cntr_cnt = OBJECTS_MAX,
		.max_ep_tx_ctx = ctx_max,
		.max_ep_rx_ctx = ctx_max,
		.max_ep_stx_ctx = OBJECTS_MAX,
		.max_ep_srx_ctx = OBJECTS_MAX,
		.max_cntr_value = UINT64_MAX,
		.max_err_cntr_value = UINT64_MAX,
	};
}

void eng_offer_fill(struct eng_offer *offer, const struct eng_offer_of *of)
{
	/* A connected endpoint has one context each way, and no group to be a member of. */
	bool rdm = of->type == FI_EP_RDM;
	uint64_t tx_caps = ENG_TX_CAPS | (rdm ? FI_NAMED_RX_CTX | FI_COLLECTIVE : 0);
	uint64_t rx_caps = ENG_RX_CAPS | (rdm ? FI_COLLECTIVE : 0);
	/* Only endpoints with an address vector can share one, or name its entries. */
	uint64_t domain_caps = of->reach | FI_PEER | (rdm ? FI_SHARED_AV | FI_AV_USER_ID : 0);

	fill_queues(offer, of, tx_caps, rx_caps);
	fill_ep(offer, of);
	fill_domain(offer, of, domain_caps, rdm ? ENG_CTX_MAX : 1);
	offer->fabric = (struct fi_fabric_attr) { .prov_version = OFI_PROV_VERSION };
	offer->info = (struct fi_info) {
		.caps = tx_caps | rx_caps | domain_caps,
		.tx_attr = &offer->tx,
		.rx_attr = &offer->rx,
		.ep_attr = &offer->ep,
		.domain_attr = &offer->domain,
		.fabric_attr = &offer->fabric,
	};
}
