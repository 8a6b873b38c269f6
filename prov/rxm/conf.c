/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "conf.h"

#include <limits.h>
#include <stddef.h>

#include "info/params.h"
#include "mr/cache.h"
#include "wire.h"

struct rxm_conf rxm_conf = {
	.buf_size = 16384,
	.credits = 16,
	.conn_timeout_ms = 60000,
	.conn_retry_ms = INFO_CONN_RETRY_MS,
	.local = 1,
	.inject_size = 4096,
	.tx_size = 2048,
	.rx_size = 2048,
};

static const char *const wire_words[] = {
	[RXM_WIRE_AUTO] = "auto", [RXM_WIRE_NATIVE] = "native",
	[RXM_WIRE_COMPATIBLE] = "compatible", NULL
};

#define FIELD(member) offsetof(struct rxm_conf, member)

static const struct info_param params[] = {
	{ "BUFFER_SIZE", FI_PARAM_SIZE_T, FIELD(buf_size), RXM_BUF_MIN, RXM_BUF_MAX, NULL,
	  "bytes of a receive buffer; a longer message is read from the sender's memory; peers of "
	  "other implementations must have the same (default: 16384)" },
	{ "MSG_RX_SIZE", FI_PARAM_SIZE_T, FIELD(credits), 2, 4096, NULL,
	  "receive buffers posted for each connected peer (default: 16)" },
	{ "LOCAL", FI_PARAM_BOOL, FIELD(local), 0, 1, NULL,
	  "RDM endpoints reach those of the same user on the same host through shared memory; "
	  "off: over connections below, like all others (default: on)" },
	{ "WIRE", FI_PARAM_STRING, FIELD(wire), 0, 0, wire_words,
	  "wire format of connections: native, for peers that run this library; compatible, for those "
	  "of other implementations; auto: the one that the peer has (default: auto)" },
	{ "USE_RNDV_WRITE", FI_PARAM_BOOL, FIELD(rndv_write), 0, 1, NULL,
	  "in the compatible format, long messages are written by the sender, and not read by the "
	  "receiver; must be the same on both sides (default: off)" },
	{ "TX_SIZE", FI_PARAM_SIZE_T, FIELD(tx_size), 1, 1 << 20, NULL,
	  "transmit queue entries of an endpoint that asks for no number (default: 2048)" },
	{ "RX_SIZE", FI_PARAM_SIZE_T, FIELD(rx_size), 1, 1 << 20, NULL,
	  "receive queue entries of an endpoint that asks for no number (default: 2048)" },
};

void rxm_conf_define(void)
{
	mr_cache_params();
	info_params_read(rxm_conf.prov, params, sizeof(params) / sizeof(params[0]), &rxm_conf);
	info_params_conn_retry(rxm_conf.prov, &rxm_conf.conn_retry_ms);
	if (rxm_conf.inject_size > rxm_conf.buf_size / 2)
		rxm_conf.inject_size = rxm_conf.buf_size / 2;
}
