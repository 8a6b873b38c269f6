/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "conf.h"

#include <limits.h>
#include <stddef.h>

#include "info/params.h"

struct rxd_conf rxd_conf = {
	.conn_timeout_ms = 60000,
	.peer_timeout_ms = 600000,
	.local = 1,
	.eager_size = 65536,
	.inject_size = 1256,
	.tx_size = 1024,
	.rx_size = 1024,
	.tolerance = 3,
	.rails = INFO_RAILS_DEFAULT,
};

#define FIELD(member) offsetof(struct rxd_conf, member)

static const char *const congestion[] = {
	[RXD_CC_CUBIC] = "cubic", [RXD_CC_BBR] = "bbr", NULL,
};

static const struct info_param params[] = {
	{ "CONN_TIMEOUT", FI_PARAM_INT, FIELD(conn_timeout_ms), 1, INT_MAX, NULL,
	  "milliseconds until an attempt to connect to a peer that has not answered at all fails; a "
	  "program that makes no progress for so long is unreachable for such peers (default: 60000)" },
	{ "PEER_TIMEOUT", FI_PARAM_INT, FIELD(peer_timeout_ms), 1, INT_MAX, NULL,
	  "milliseconds without an answer after which a connected peer is declared lost; a program that "
	  "makes no progress for so long is lost to its peers; an idle one is probed after a thirtieth of it "
	  "(default: 600000)" },
	{ "LOCAL", FI_PARAM_BOOL, FIELD(local), 0, 1, NULL,
	  "RDM endpoints reach those of the same user on the same host through shared memory; "
	  "off: by datagrams, like all others (default: on)" },
	{ "CHECKSUM", FI_PARAM_BOOL, FIELD(checksum), 0, 1, NULL,
	  "cover the payload by a CRC-32C, for networks that corrupt datagrams "
	  "(default: off; headers always are covered)" },
	{ "ECN", FI_PARAM_BOOL, FIELD(ecn), 0, 1, NULL,
	  "use explicit congestion notification (RFC 3168) where the datagram provider can: routers "
	  "mark packets instead of dropping them; validated on each path.  It costs short messages "
	  "some latency (default: off)" },
	{ "LOSS_TOLERANCE", FI_PARAM_INT, FIELD(tolerance), 0, 50, NULL,
	  "percent of the packets that may be lost before loss counts as congestion, as long as "
	  "round-trip times do not grow; 0: each loss is congestion, as in TCP (default: 3)" },
	{ "CONGESTION", FI_PARAM_STRING, FIELD(cc), 0, 0, congestion,
	  "congestion control: cubic, bbr (default: cubic)" },
};

void rxd_conf_define(void)
{
	info_params_read(rxd_conf.prov, params, sizeof(params) / sizeof(params[0]), &rxd_conf);
	info_rails_read(rxd_conf.prov, &rxd_conf.rails);
}
