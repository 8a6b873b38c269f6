/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "conf.h"

#include <limits.h>
#include <rdma/fi_errno.h>
#include <stddef.h>
#include <strings.h>

struct rxd_conf rxd_conf = {
	.conn_timeout_ms = 60000,
	.peer_timeout_ms = 60000,
	.keepalive_ms = 20000,
	.local = 1,
	.eager_size = 65536,
	.inject_size = 1256,
	.tx_size = 1024,
	.rx_size = 1024,
	.tolerance = 3,
};

#define FIELD(member) offsetof(struct rxd_conf, member)

static const struct param {
	const char *name;		/* under FI_OFI_RXD_ */
	enum fi_param_type type;
	size_t offset;
	long min, max;			/* of numbers */
	const char *help;
} params[] = {
	{ "CONN_TIMEOUT", FI_PARAM_INT, FIELD(conn_timeout_ms), 1, INT_MAX,
	  "milliseconds until an attempt to reach a peer has failed; a program that makes no "
	  "progress for so long looks dead to who calls it (default: 60000)" },
	{ "PEER_TIMEOUT", FI_PARAM_INT, FIELD(peer_timeout_ms), 1, INT_MAX,
	  "milliseconds that a peer may owe an answer until it is dead; a program that makes no "
	  "progress for so long looks dead to its peers (default: 60000)" },
	{ "KEEPALIVE", FI_PARAM_INT, FIELD(keepalive_ms), 0, INT_MAX,
	  "milliseconds of silence before an idle peer is asked whether it is there; 0: never "
	  "(default: 20000)" },
	{ "LOCAL", FI_PARAM_BOOL, FIELD(local), 0, 1,
	  "RDM endpoints reach those of the same user on the same host through shared memory; "
	  "off: by datagrams, like all others (default: on)" },
	{ "CHECKSUM", FI_PARAM_BOOL, FIELD(checksum), 0, 1,
	  "cover the payload by a CRC-32C of our own, for networks that damage what they carry "
	  "(default: off; headers always are)" },
	{ "ECN", FI_PARAM_BOOL, FIELD(ecn), 0, 1,
	  "packets say that they can be marked by a long queue instead of dropped (RFC 3168), "
	  "where the datagrams below can; checked on each path.  It costs short messages some "
	  "latency (default: off)" },
	{ "WINDOW", FI_PARAM_SIZE_T, FIELD(window), 0, 1L << 30,
	  "bytes that all peers together may have under way to an endpoint; 0: as its socket and "
	  "the path have room (default: 0)" },
	{ "EAGER_SIZE", FI_PARAM_SIZE_T, FIELD(eager_size), 256, 1 << 20,
	  "largest message that is sent before the receiver asks for it, in bytes (default: 65536)" },
	{ "MAX_INJECT", FI_PARAM_SIZE_T, FIELD(inject_size), 8, 4096,
	  "largest message that fi_inject() takes, in bytes (default: 1256, at most 4096)" },
	{ "TX_SIZE", FI_PARAM_SIZE_T, FIELD(tx_size), 1, 1 << 20,
	  "transmit queue entries of an endpoint that asks for no number (default: 1024)" },
	{ "RX_SIZE", FI_PARAM_SIZE_T, FIELD(rx_size), 1, 1 << 20,
	  "receive queue entries of an endpoint that asks for no number (default: 1024)" },
	{ "LOSS_TOLERANCE", FI_PARAM_INT, FIELD(tolerance), 0, 50,
	  "percent of the packets that a path may lose before that is taken for congestion, as "
	  "long as its round trips do not grow; 0: each loss is congestion, as for TCP "
	  "(default: 3)" },
};

static int read_number(const struct param *param, long *value_p)
{
	size_t size = 0;
	int number = 0, ret;

	ret = param->type == FI_PARAM_SIZE_T ?
	      fi_param_get_size_t(rxd_conf.prov, param->name, &size) :
	      param->type == FI_PARAM_BOOL ?
	      fi_param_get_bool(rxd_conf.prov, param->name, &number) :
	      fi_param_get_int(rxd_conf.prov, param->name, &number);
	*value_p = param->type != FI_PARAM_SIZE_T ? number :
		   size > LONG_MAX ? LONG_MAX : (long) size;
	return ret;
}

static void read_param(const struct param *param)
{
	void *field = (char *) &rxd_conf + param->offset;
	long value;
	int ret = read_number(param, &value);

	if (ret == -FI_ENODATA || ret == -FI_ENOENT)
		return;
	if (ret || value < param->min || value > param->max) {
		FI_WARN(rxd_conf.prov, FI_LOG_CORE,
			"parameter %s is ignored, it must be a number from %ld to %ld\n",
			param->name, param->min, param->max);
		return;
	}
	if (param->type == FI_PARAM_SIZE_T)
		*(size_t *) field = (size_t) value;
	else
		*(int *) field = (int) value;
}

static void define_congestion(void)
{
	static const char *const names[] = {
		[RXD_CC_CUBIC] = "cubic", [RXD_CC_NEWRENO] = "newreno", [RXD_CC_BBR] = "bbr",
	};
	char *text;
	int i;

	fi_param_define(rxd_conf.prov, "CONGESTION", FI_PARAM_STRING,
			"congestion control: cubic, bbr, newreno (default: cubic)");
	if (fi_param_get_str(rxd_conf.prov, "CONGESTION", &text) || !text)
		return;
	for (i = 0; i <= RXD_CC_BBR; i++) {
		if (!strcasecmp(text, names[i])) {
			rxd_conf.cc = (enum rxd_cc_kind) i;
			return;
		}
	}
	FI_WARN(rxd_conf.prov, FI_LOG_CORE,
		"parameter CONGESTION is ignored, it must be cubic, bbr or newreno\n");
}

void rxd_conf_define(void)
{
	size_t i;

	for (i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		fi_param_define(rxd_conf.prov, params[i].name, params[i].type, "%s",
				params[i].help);
		read_param(&params[i]);
	}
	define_congestion();
}
